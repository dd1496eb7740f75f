public import Foundation

/// Names a commit of one library; opaque, archivable and comparable (PHPersistentChangeToken, PH-01).
public struct Token: Hashable, Sendable, CustomStringConvertible {
  /// A mark of the library, so that a token of another one is not taken for one of this.
  package let library: UInt64
  package let commit: UInt64

  package init(library: UInt64, commit: UInt64) {
    self.library = library
    self.commit = commit
  }

  /// Reads the spelling of a token.
  /// - Throws: ``LibraryError`` `.invalidToken` if it is none.
  public init(_ text: some StringProtocol) throws {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == "t1", parts[1].utf8.count == 16, let library = UInt64(parts[1], radix: 16),
      (1...13).contains(parts[2].utf8.count), let commit = UInt64(parts[2], radix: 36)
    else {
      throw LibraryError(
        .invalidToken, "'\(text.prefix(80))' is no token; pass one that this library gave, unaltered.")
    }
    self.init(library: library, commit: commit)
  }

  /// The spelling: letters, digits and hyphens.
  public var description: String {
    let mark = String(library, radix: 16)
    return "t1-\(String(repeating: "0", count: 16 - mark.count))\(mark)-\(String(commit, radix: 36))"
  }
}

extension Token: Codable {
  /// Reads the spelling from a single value.
  /// - Throws: ``LibraryError`` `.invalidToken` if it is none; what the decoder throws.
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
  /// The client that asked for it.
  public let client: String
  /// The process that carried it out.
  public let process: String
  /// Why it was made: an import, a scan, a request; nil if nobody said.
  public let cause: String?
  /// The idempotency key that the caller gave.
  public let key: String?
  package let firstSequence: UInt64
  package let eventCount: Int
}

/// What became of a change block.
public struct CommitReceipt: Sendable, Hashable {
  /// The state that holds the block's changes; the state as it was if the block changed nothing.
  public let token: Token
  /// The identifiers of the objects that the block created, in its order.
  public let created: [String]
  /// Whether the block had been carried out before under the same idempotency key.
  public let isRepetition: Bool
}
