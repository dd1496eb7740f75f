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
}

/// The number of a store's format.
public enum StoreFormat {
  /// The format that this program reads and writes.
  public static let current: UInt64 = 1

  private static let database = "store.meta"
  private static let key = Array("format".utf8)

  /// Notes the current format in a new store.
  /// - Throws: `LMDBError`.
  public static func create(_ environment: Environment) throws {
    let meta = try environment.database(database)
    try environment.write { t in try t.put(key, bigEndian(current), in: meta) }
  }

  /// Checks that the store has the current format.
  /// - Throws: ``StoreFormatError`` if it has another; `LMDBError`.
  public static func check(_ environment: Environment) throws {
    guard try environment.databaseNames().contains(database) else {
      throw StoreFormatError(found: nil, description: "The store has no format number; it is no store of PhotoLedger.")
    }
    let meta = try environment.database(database)
    let stored = try environment.read { t in try t.bytes(for: key, in: meta) }
    guard let stored, stored.count == 8 else {
      throw StoreFormatError(found: nil, description: "The store has no format number; it is no store of PhotoLedger.")
    }
    let found = stored.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard found == current else {
      throw StoreFormatError(
        found: found,
        description: """
          The store has format \(found), and this program knows formats up to \(current); \
          open it with a newer PhotoLedger.
          """)
    }
  }

  private static func bigEndian(_ number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
  }
}
