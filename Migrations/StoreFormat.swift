import EventLog
public import LMDB

// The format of a store, and the steps from one to the next.
//
// A store carries the number of its format beside the log. A program opens stores of its own format; an older store is
// brought up by the steps between (there are none yet: the first format is 1), a newer one is refused, since a program
// that does not know a format cannot know what it would break. Steps are frozen when they are published: they import
// the log and LMDB, never the domain, so that today's types cannot rewrite yesterday's bytes. Projections take no part:
// they are dropped and rebuilt.

/// A store whose format this program cannot handle.
public struct StoreFormatError: Error, Sendable, CustomStringConvertible {
  /// The format of the store; nil if it has none.
  public let found: UInt64?
  /// What is wrong and what to do.
  public let description: String
  /// Whether a newer program wrote the store.
  public var isNewer: Bool { found.map { $0 > StoreFormat.current } ?? false }
}

/// The number of a store's format.
public struct StoreFormat: Sendable {
  /// The format that this program reads and writes.
  public static let current: UInt64 = 1

  private static let name = "store.meta"
  private static let key = Array("format".utf8)
  private let database: Database

  /// Opens the place of the number in a store, making it if it is missing.
  /// - Throws: `LMDBError`.
  public init(in environment: Environment) throws(LMDBError) {
    database = try environment.database(Self.name)
  }

  /// Notes the current format, in the transaction that begins the library.
  /// - Throws: `LMDBError`.
  public func note(in t: inout WriteTransaction) throws(LMDBError) {
    let bytes = (0..<8).map { UInt8(truncatingIfNeeded: Self.current >> (56 - 8 * $0)) }
    try t.put(Self.key, bytes, in: database)
  }

  /// Checks that a store has the current format.
  /// - Parameters:
  ///   - environment: the store.
  ///   - path: where it lies, for the sentence of the error.
  /// - Throws: ``StoreFormatError`` if it has another; `LMDBError`.
  public static func check(_ environment: Environment, of path: String) throws {
    guard try environment.databaseNames().contains(name), let found = try stored(in: environment) else {
      throw StoreFormatError(
        found: nil, description: "\(path) holds no finished library; make one there with `init`, or pass another path.")
    }
    guard found != current else { return }
    let advice = found > current ? "open it with a newer PhotoLedger" : "no step leads from there to this program's"
    throw StoreFormatError(
      found: found, description: "The library at \(path) has format \(found), this program knows \(current); \(advice)."
    )
  }

  private static func stored(in environment: Environment) throws -> UInt64? {
    let meta = try environment.database(name)
    let bytes = try environment.read { t in try t.bytes(for: key, in: meta) }
    guard let bytes, bytes.count == 8 else { return nil }
    return bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
  }
}
