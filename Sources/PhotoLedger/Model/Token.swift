import EventLog
public import Foundation

/// Names a state of one library; opaque, archivable and comparable (PHPersistentChangeToken, PH-01).
///
/// A client without full access gets tokens of its own view: they count client revisions, and reveal nothing about
/// other commits (ClientRevisions.swift). They are valid for that client alone.
public struct Token: Hashable, Sendable, CustomStringConvertible {
  /// A mark of the library, so that a token of another one is not taken for one of this.
  package let library: UInt64
  /// A mark of the client whose view the token counts in; nil if it counts commits.
  package let view: UInt64?
  /// The number of a commit, or of a client revision.
  package let position: UInt64

  package init(library: UInt64, commit: UInt64) { self.init(library: library, view: nil, position: commit) }

  package init(library: UInt64, view: UInt64?, position: UInt64) {
    (self.library, self.view, self.position) = (library, view, position)
  }

  /// The mark of a client.
  package static func view(of client: String) -> UInt64 {
    SHA256.digest(of: Array(client.utf8)).bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self).bigEndian }
  }

  /// Parses the text form of a token.
  /// - Throws: ``LibraryError`` `.invalidToken` if it is invalid.
  public init(_ text: some StringProtocol) throws {
    guard let token = Token(bytes: text.utf8) else {
      throw LibraryError(
        .invalidToken, "'\(text.prefix(80))' is not a valid token; pass one from this library, unaltered.")
    }
    self = token
  }

  /// The token that bytes spell; nil if they spell none.
  private init?(bytes: some Sequence<UInt8>) {
    var bytes = bytes.makeIterator()
    let (letter, version) = (bytes.next(), bytes.next())
    guard letter == UInt8(ascii: "t") || letter == UInt8(ascii: "v"), version == UInt8(ascii: "1"),
      bytes.next() == UInt8(ascii: "-"), let library = Self.mark(&bytes)
    else { return nil }
    var view: UInt64?
    if letter == UInt8(ascii: "v") {
      view = Self.mark(&bytes)
      if view == nil { return nil }
    }
    guard let position = Self.number(&bytes, base: 36, 1...13, until: nil) else { return nil }
    self.init(library: library, view: view, position: position)
  }

  /// A mark, and the hyphen after it.
  private static func mark(_ bytes: inout some IteratorProtocol<UInt8>) -> UInt64? {
    number(&bytes, base: 16, 16...16, until: UInt8(ascii: "-"))
  }

  /// A number in so many digits of a base; nil if there are others, or too many or too few of them, or it is too large.
  private static func number(
    _ bytes: inout some IteratorProtocol<UInt8>, base: UInt64, _ lengths: ClosedRange<Int>, until end: UInt8?
  ) -> UInt64? {
    var (number, length) = (UInt64(0), 0)
    while let byte = bytes.next() {
      if byte == end { break }
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit = byte - UInt8(ascii: "A") + 10
      case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = byte - UInt8(ascii: "a") + 10
      default: return nil
      }
      let (shifted, isTooLarge) = number.multipliedReportingOverflow(by: base)
      let (sum, overflows) = shifted.addingReportingOverflow(UInt64(digit))
      guard digit < base, length < lengths.upperBound, !isTooLarge, !overflows else { return nil }
      (number, length) = (sum, length + 1)
    }
    return length >= lengths.lowerBound ? number : nil
  }

  /// The spelling: letters, digits and hyphens.
  public var description: String {
    var bytes = JSONBytes(capacity: 64)
    spell(into: &bytes)
    return bytes.text()
  }

  /// Writes the spelling.
  package func spell(into bytes: inout JSONBytes) {
    bytes.raw((view == nil ? "t1-" : "v1-") as StaticString)
    bytes.hexadecimal(library)
    if let view {
      bytes.raw("-")
      bytes.hexadecimal(view)
    }
    bytes.raw("-")
    bytes.raw(String(position, radix: 36))
  }

  /// Whether both count in the same order, so that one comes before the other.
  public func isComparable(to other: Token) -> Bool { library == other.library && view == other.view }
}

extension Token: Comparable {
  /// Whether the state comes before another; tokens of different libraries or views are ordered by those (PH-01).
  public static func < (one: Token, other: Token) -> Bool {
    (one.library, one.view ?? 0, one.position) < (other.library, other.view ?? 0, other.position)
  }
}

extension Token: Codable {
  /// Decodes the text form from a single value.
  /// - Throws: ``LibraryError`` `.invalidToken` if it is invalid; the decoder's errors.
  public init(from decoder: any Decoder) throws {
    try self.init(decoder.singleValueContainer().decode(String.self))
  }

  /// Writes the spelling as a single value.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

/// Who, when and why of one commit.
public struct CommitSummary: Sendable, Hashable {
  /// The place of the commit in the order of all, from 1.
  package let number: UInt64
  /// When it was made.
  public let date: Date
  /// The client that made it; empty if the reader may not know it.
  public let client: String
  /// The process that executed it.
  public let process: String
  /// The reason: an import, a scan, a request; nil if not given.
  public let cause: String?
  /// The idempotency key that the caller gave.
  public let key: String?
  /// What led to it, machine-readable: for an undo the commits that it reverts, parsed by `undone`; otherwise nil.
  public let causation: String?
  package let firstSequence: UInt64
  package let eventCount: Int

  /// What a client without full access may know of a commit.
  package func redacted(for client: String, as ordinal: UInt64) -> CommitSummary {
    let isOwn = self.client.exact == client.exact
    return CommitSummary(
      number: ordinal, date: date, client: isOwn ? client : "", process: isOwn ? process : "",
      cause: isOwn ? cause : nil, key: isOwn ? key : nil, causation: nil, firstSequence: 0, eventCount: 0)
  }
}

/// What became of a change block.
public struct CommitReceipt: Sendable, Hashable {
  /// The state that includes the block's changes; the current state if the block changed nothing.
  public let token: Token
  /// The identifiers of the objects that the block created, in its order.
  public let created: [String]
  /// Whether the block had already been executed under the same idempotency key.
  public let isRepetition: Bool
}
