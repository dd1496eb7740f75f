import Foundation

/// What the kernel states of a process.
package enum ProcessStatus {
  /// A size in bytes, such as `VmHWM:`, the most memory that the process ever held, mapped pages included.
  /// - Returns: nil if it is not stated, as of a process that has ended.
  package static func bytes(_ field: String, of process: String = "self") throws -> Int? {
    let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    for line in status.split(separator: "\n") where line.hasPrefix(field) {
      if let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) }) {
        return kilobytes << 10
      }
    }
    return nil
  }
}
