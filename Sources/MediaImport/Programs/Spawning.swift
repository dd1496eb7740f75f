internal import CSystem
internal import Glibc

/// Starts programs; the Swift face of `psys_spawn` and `psys_spawn_confined`, and the only one.
package enum Spawning {
  /// Starts a program with default signals; none of our descriptors reaches it but those that are given to it.
  /// - Parameters:
  ///   - executable: its path.
  ///   - words: its arguments from the zeroth on, bytes without a zero.
  ///   - environment: its variables, `NAME=value`.
  ///   - directory: where it runs; nil for where we do.
  ///   - descriptors: what becomes its descriptors 0, 1 and so on; none may be below the one that it becomes.
  ///   - leadsGroup: whether it leads a process group of its own.
  /// - Returns: its number, and 0 or the errno of the failure.
  package static func start(
    _ executable: String, _ words: [[UInt8]], environment: [[UInt8]], directory: String? = nil, descriptors: [Int32],
    leadsGroup: Bool = false
  ) -> (child: Int32, code: Int32) {
    var child: Int32 = 0
    let code = withCStrings(words) { argv in
      withCStrings(environment) { envp in
        psys_spawn(
          &child, executable, argv, envp, directory, descriptors, Int32(descriptors.count), leadsGroup ? 1 : 0)
      }
    }
    return (child, code)
  }

  /// Starts a program in a confinement; otherwise as ``start(_:_:environment:directory:descriptors:leadsGroup:)``.
  static func start(
    _ executable: String, _ words: [[UInt8]], environment: [[UInt8]], descriptors: [Int32],
    confinement: UnsafePointer<psys_confinement>
  ) -> (child: Int32, code: Int32) {
    var child: Int32 = 0
    let code = withCStrings(words) { argv in
      withCStrings(environment) { envp in
        psys_spawn_confined(&child, executable, argv, envp, descriptors, Int32(descriptors.count), confinement)
      }
    }
    return (child, code)
  }

  /// Calls `body` with a null-terminated array of C strings.
  private static func withCStrings<Result>(
    _ words: [[UInt8]], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    let strings = words.map { word in
      (word + [0]).withUnsafeBytes { bytes in bytes.bindMemory(to: CChar.self).baseAddress.map { strdup($0) } ?? nil }
    }
    defer { for string in strings { free(string) } }
    return (strings + [nil]).withUnsafeBufferPointer { pointer in
      guard let start = pointer.baseAddress else { preconditionFailure("The array ends with a null.") }
      return body(start)
    }
  }
}
