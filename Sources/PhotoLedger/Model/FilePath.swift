// A path as the kernel has it: bytes.
//
// A file name on Linux is any sequence of bytes but `/` and NUL. A Swift String cannot hold one that is not UTF-8
// without changing it, and compares `é` written in two ways as equal, though they are two files. So paths stay bytes
// from the walk of an import to the library; text is made only for people to read.

import Glibc

/// A file path, as the bytes the kernel has for it.
public struct FilePath: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The bytes, without a terminating NUL.
  public let bytes: [UInt8]

  /// Creates a path from text.
  public init(_ text: String) {
    self.bytes = Array(text.utf8)
  }

  /// Creates a path from the bytes the kernel gave.
  public init(bytes: some Sequence<UInt8>) {
    self.bytes = Array(bytes)
  }

  /// The same without a copy.
  package init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// The same of a part of another path.
  package init(bytes: ArraySlice<UInt8>) {
    self.bytes = Array(bytes)
  }

  /// Whether the bytes are the same.
  public static func == (left: FilePath, right: FilePath) -> Bool {
    left.bytes.withUnsafeBytes { left in
      right.bytes.withUnsafeBytes { right in
        guard left.count == right.count else { return false }
        guard let first = left.baseAddress, let second = right.baseAddress else { return true }
        return first == second || memcmp(first, second, left.count) == 0
      }
    }
  }

  /// Hashes the bytes as a whole; the standard library hashes an array byte after byte.
  public func hash(into hasher: inout Hasher) {
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
  }

  /// The path as text; bytes that are not UTF-8 are shown as U+FFFD.
  public var description: String { String(decoding: bytes, as: UTF8.self) }

  /// Byte order, as `memcmp` has it.
  public static func < (left: FilePath, right: FilePath) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }

  /// The last component, as text.
  public var name: String { String(decoding: nameBytes, as: UTF8.self) }

  package var nameBytes: ArraySlice<UInt8> {
    guard let slash = bytes.lastIndex(of: Self.slash) else { return bytes[...] }
    return bytes[(slash + 1)...]
  }

  /// Everything before the last component, without the slash between.
  package var folderBytes: ArraySlice<UInt8> {
    guard let slash = bytes.lastIndex(of: Self.slash) else { return bytes[..<0] }
    return bytes[..<slash]
  }

  /// The path without its file name extension: what a RAW file and its JPEG have in common.
  package var stemBytes: ArraySlice<UInt8> {
    let name = nameBytes
    guard let dot = name.lastIndex(of: Self.dot), dot > name.startIndex else { return bytes[...] }
    return bytes[..<dot]
  }

  /// The file name extension in lower case without its dot; empty when there is none or it is not ASCII.
  package var pathExtension: String {
    let name = nameBytes
    guard let dot = name.lastIndex(of: Self.dot), dot > name.startIndex else { return "" }
    let ending = name[(dot + 1)...]
    guard ending.count <= 16, ending.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return "" }
    return String(decoding: ending, as: UTF8.self).lowercased()
  }

  package var isAbsolute: Bool { bytes.first == Self.slash }

  /// The path of what a folder has under a name; made with one allocation.
  package func appending(_ component: [UInt8]) -> FilePath {
    var joined: [UInt8] = []
    joined.reserveCapacity(bytes.count + 1 + component.count)
    joined.append(contentsOf: bytes)
    if let last = joined.last, last != Self.slash { joined.append(Self.slash) }
    joined.append(contentsOf: component)
    return FilePath(bytes: joined)
  }

  package func withCString<Result>(_ body: (UnsafePointer<CChar>) throws -> Result) rethrows -> Result {
    try withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { text in
      guard let start = text.baseAddress else { preconditionFailure("A terminated path has at least one byte.") }
      bytes.withUnsafeBytes { bytes in
        guard let first = bytes.baseAddress else { return }
        UnsafeMutableRawPointer(start).copyMemory(from: first, byteCount: bytes.count)
      }
      start[bytes.count] = 0
      return try body(start)
    }
  }

  package static let slash = UInt8(ascii: "/")
  package static let dot = UInt8(ascii: ".")
}
