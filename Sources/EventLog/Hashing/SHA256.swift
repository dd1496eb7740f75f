package import CSystem

/// A SHA-256 digest (FIPS 180-4): 32 bytes, held in place.
public struct SHA256Digest: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The number of bytes.
  public static let byteCount = 32
  /// Thirty-two zero bytes: the chain before the first event.
  public static let zero = SHA256Digest(words: [0, 0, 0, 0])

  private let words: (UInt64, UInt64, UInt64, UInt64)  // the bytes in memory order

  private init(words: InlineArray<4, UInt64>) { self.words = (words[0], words[1], words[2], words[3]) }

  /// The digest with these bytes, of which there must be 32.
  public init(_ bytes: RawSpan) {
    precondition(bytes.byteCount == Self.byteCount, "A SHA-256 digest has 32 bytes.")
    words = (
      bytes.unsafeLoadUnaligned(as: UInt64.self), bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self),
      bytes.unsafeLoadUnaligned(fromByteOffset: 16, as: UInt64.self),
      bytes.unsafeLoadUnaligned(fromByteOffset: 24, as: UInt64.self)
    )
  }

  /// The digest that 64 hexadecimal digits spell; nil for any other text.
  public init?(hexadecimal text: some StringProtocol) {
    guard text.utf8.count == 2 * Self.byteCount, let bytes = HexadecimalDigits.bytes(spelledBy: text.utf8) else {
      return nil
    }
    self.init(bytes.span.bytes)
  }

  fileprivate init(filling fill: (UnsafeMutablePointer<UInt8>) -> Void) {
    var words: InlineArray<4, UInt64> = [0, 0, 0, 0]
    var span = words.mutableSpan
    span.withUnsafeMutableBytes { bytes in
      bytes.withMemoryRebound(to: UInt8.self) { bytes in
        if let start = bytes.baseAddress { fill(start) }
      }
    }
    self.init(words: words)
  }

  /// Runs `body` with the 32 bytes.
  public func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try Swift.withUnsafeBytes(of: words, body)
  }

  /// The 32 bytes.
  public var bytes: [UInt8] { withUnsafeBytes { [UInt8]($0) } }

  /// The 64 hexadecimal digits, lower case.
  public var description: String { withUnsafeBytes { HexadecimalDigits.text($0) } }

  /// Whether the digests have the same bytes.
  public static func == (a: Self, b: Self) -> Bool { a.words == b.words }

  /// The order of the bytes.
  public static func < (a: Self, b: Self) -> Bool {
    a.withUnsafeBytes { a in b.withUnsafeBytes { b in a.lexicographicallyPrecedes(b) } }
  }

  /// Feeds the first bytes, which are as good as random.
  public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

/// A SHA-256 computation that takes its input in pieces.
public struct SHA256: Sendable {
  private var context = psys_sha256()

  /// A computation that has taken nothing yet.
  public init() { psys_sha256_init(&context) }

  /// A computation that keeps to portable instructions: the reference for tests.
  package init(portable: Void) { psys_sha256_init_portable(&context) }

  /// Takes `bytes` in.
  public mutating func update(_ bytes: RawSpan) {
    bytes.withUnsafeBytes { psys_sha256_update(&context, $0.baseAddress, $0.count) }
  }

  /// Takes `bytes` in.
  public mutating func update(_ bytes: UnsafeRawBufferPointer) {
    psys_sha256_update(&context, bytes.baseAddress, bytes.count)
  }

  /// Takes `bytes` in, and a SHA-1 does.
  package mutating func update(_ bytes: UnsafeRawBufferPointer, with sha1: inout psys_sha1) {
    psys_both_update(&context, &sha1, bytes.baseAddress, bytes.count)
  }

  /// Takes `bytes` in.
  public mutating func update(_ bytes: [UInt8]) { update(bytes.span.bytes) }

  /// Takes one byte in.
  public mutating func update(_ byte: UInt8) {
    withUnsafeBytes(of: byte) { psys_sha256_update(&context, $0.baseAddress, 1) }
  }

  /// The digest of everything taken in so far.
  public func digest() -> SHA256Digest {
    var copy = context
    return SHA256Digest { psys_sha256_final(&copy, $0) }
  }

  /// The digest of `bytes`.
  public static func digest(of bytes: RawSpan) -> SHA256Digest {
    SHA256Digest { digest in bytes.withUnsafeBytes { psys_sha256_digest($0.baseAddress, $0.count, digest) } }
  }

  /// The digest of `bytes`.
  public static func digest(of bytes: [UInt8]) -> SHA256Digest { digest(of: bytes.span.bytes) }

  /// The digest of three pieces after one another, each of which may be empty.
  static func digest(
    of first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, _ third: UnsafeRawBufferPointer
  ) -> SHA256Digest {
    SHA256Digest {
      psys_sha256_pieces(
        first.baseAddress, first.count, second.baseAddress, second.count, third.baseAddress, third.count, $0)
    }
  }
}
