internal import CSystem

/// The SHA-256 of a file's bytes: its identity in the library.
public struct ContentDigest: Hashable, Sendable, Comparable, CustomStringConvertible {
  private let words: (UInt64, UInt64, UInt64, UInt64)

  /// Creates a digest from its 32 bytes.
  public init(bytes: some Collection<UInt8>) {
    precondition(bytes.count == 32, "A SHA-256 digest has 32 bytes, not \(bytes.count).")
    var iterator = bytes.makeIterator()
    func word() -> UInt64 {
      (0..<8).reduce(UInt64(0)) { value, _ in value << 8 | UInt64(iterator.next() ?? 0) }
    }
    words = (word(), word(), word(), word())
  }

  /// The 32 bytes, most significant first.
  public var bytes: [UInt8] {
    [words.0, words.1, words.2, words.3].flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) }
    }
  }

  /// The digest as 64 lower-case hexadecimal digits.
  public var description: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// Whether two contents have the same digest.
  public static func == (left: ContentDigest, right: ContentDigest) -> Bool { left.words == right.words }

  /// The order of the bytes.
  public static func < (left: ContentDigest, right: ContentDigest) -> Bool { left.words < right.words }

  /// Hashes the first word, which is as good as random.
  public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

/// A SHA-256 computation under way.
struct ContentHasher {
  private var context = psys_sha256()

  init() { psys_sha256_init(&context) }

  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    psys_sha256_update(&context, bytes.baseAddress, bytes.count)
  }

  mutating func finish() -> ContentDigest {
    var digest = [UInt8](repeating: 0, count: 32)
    psys_sha256_final(&context, &digest)
    return ContentDigest(bytes: digest)
  }
}

/// What a file held when it was read to its end: digest, size, and the stamp that says which state of it that was.
struct FileContent: Sendable, Equatable {
  let digest: ContentDigest
  let stamp: FileStamp

  var byteCount: Int64 { stamp.byteCount }

  /// Reads a file to its end.
  /// - Throws: `vanished`, `unreadable`, or `changedWhileRead` when its size or times differ at the end.
  /// - Complexity: O(bytes), in a fixed buffer.
  init(of path: ImportPath) throws(ImportError) {
    let file = try SourceFile(path)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: copyBufferByteCount, alignment: 64)
    defer { buffer.deallocate() }
    var hasher = ContentHasher()
    var total: Int64 = 0
    while true {
      let count = try file.read(into: buffer)
      if count == 0 { break }
      hasher.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      total += Int64(count)
      guard total <= file.stamp.byteCount else { throw SourceFile.changed(path) }
    }
    try file.checkUnchanged(bytesRead: total)
    digest = hasher.finish()
    stamp = file.stamp
  }
}

/// The size of the buffer that bytes pass through: large enough that system calls cost nothing beside hashing.
let copyBufferByteCount = 1 << 20
