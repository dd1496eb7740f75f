import EventLog
public import LMDB

// The format of a store, and the steps from one to the next.
//
//     format 1   as the first published libraries had it
//        │       projections are made anew: they gain `departed` and `aside`, and lose what is left of earlier layouts
//     format 2
//        │       gains the table `redactions`, and events that erase assets and begin forks
//     format 3
//        │       projections are made anew: they gain `words` and the orders of audio and unknown media
//     format 4
//        │       gains versions 3 and 4 of the events that hold files: what files say about an asset, and stacks; and
//        │       covers of albums
//     format 5
//        │       projections are made anew: they gain the orders of what was added, is in the trash, or is withheld
//     format 6
//        │       projections are made anew: they gain the files that an undo can bring back
//     format 7   as this program reads and writes it
//
// A store carries the number of its format beside the log. A program opens stores of its own format; an older store is
// migrated by the steps between, all of them in one transaction, which also writes the new number: so an interrupted
// step has no effect, and the next open starts it again. A newer store is rejected, since a program cannot know what it
// would break in an unknown format. Steps are frozen when they are published: they import the log and LMDB, never the
// domain, so that current types cannot reinterpret old bytes. Steps only name the effect on projections: these are
// never migrated, but dropped and rebuilt from the log by the domain.
//
// The number is raised by a change of a database, and by a new type or version of event that programs of this format do
// not know: then those reject the store when they open it, rather than at an event later.

/// A store whose format this program cannot handle.
public struct StoreFormatError: Error, Sendable, CustomStringConvertible {
  /// The format of the store; nil if it does not state one.
  public let found: UInt64?
  /// What is wrong and what to do.
  public let description: String
  /// Whether a newer program wrote the store.
  public var isNewer: Bool { found.map { $0 > StoreFormat.current } ?? false }

  /// The error of a store whose library was not finished.
  /// - Parameter path: where the library was to lie.
  public static func unfinished(_ path: String) -> StoreFormatError {
    StoreFormatError(
      found: nil, description: "\(path) holds no finished library; make one there with `init`, or pass another path.")
  }
}

/// What leads from one format of a store to the next.
public struct StoreStep: Sendable, Hashable {
  /// What has to be done.
  public enum Work: Sendable, Hashable {
    /// The projections are dropped and made again from the log.
    case remakesProjections
    /// Tables that the format adds are made, empty.
    case makesTables
  }

  /// The format that the step begins with.
  public let from: UInt64
  /// What has to be done.
  public let work: Work
  /// What changes, as a sentence.
  public let summary: String

  /// Every step that was ever published, in their order; none is ever changed.
  public static let published: [StoreStep] = [
    StoreStep(
      from: 1, work: .remakesProjections,
      summary: """
        Objects that are gone are found by their identifier, and events that cannot be read may be quarantined.
        """),
    StoreStep(from: 2, work: .makesTables, summary: "Assets may be erased from the log, and libraries forked."),
    StoreStep(
      from: 3, work: .remakesProjections,
      summary: """
        Assets are found by words; fetches of images begin without reading the library, since the rarer media types \
        have stored orders.
        """),
    StoreStep(
      from: 4, work: .makesTables, summary: "Assets keep what their files say about them, and albums their covers."),
    StoreStep(
      from: 5, work: .remakesProjections,
      summary: """
        Fetches by the date of addition, of the trash and by limited clients begin without reading the library, since \
        they have stored orders.
        """),
    StoreStep(
      from: 6, work: .remakesProjections,
      summary: "The files that only earlier states name are known, and stay while an undo can bring them back."),
  ]
}

/// The number of a store's format.
public struct StoreFormat: Sendable {
  /// The format that this program reads and writes.
  public static let current: UInt64 = 7

  /// The name of the table that holds the number.
  public static let name = "store.meta"
  private static let key = Array("format".utf8)
  private let database: Database

  /// Opens the place of the number in a store.
  /// - Parameter creates: whether it is made if it is missing.
  /// - Throws: `LMDBError`, `.notFound` if it is missing and not made.
  public init(in environment: Environment, creates: Bool = true) throws(LMDBError) {
    database = try environment.database(Self.name, create: creates)
  }

  /// Records the current format, in the transaction that creates the library or that ends a step.
  /// - Throws: `LMDBError`.
  public func note(in t: inout WriteTransaction) throws(LMDBError) {
    let bytes = (0..<8).map { UInt8(truncatingIfNeeded: Self.current >> (56 - 8 * $0)) }
    try t.put(Self.key, bytes, in: database)
  }

  /// Records the first format, before missing tables of projections are recreated empty: the next open of a store of
  /// that format fills them from the log, even if this process ends.
  /// - Throws: ``StoreFormatError`` if a newer program has migrated the store meanwhile; `LMDBError`.
  public func noteMissingProjections(in t: inout WriteTransaction) throws {
    try checkIsKnown(t)
    try t.put(Self.key, [0, 0, 0, 0, 0, 0, 0, 1], in: database)
  }

  /// The number that a transaction sees; nil if there is none.
  /// - Throws: `LMDBError`.
  public func stored(_ t: borrowing some TransactionReading & ~Copyable) throws(LMDBError) -> UInt64? {
    let bytes = try t.bytes(for: Self.key, in: database)
    guard let bytes, bytes.count == 8 else { return nil }
    return bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
  }

  /// Checks that no newer program has migrated the store since it was opened: what this program writes would lack the
  /// rows that the newer format adds. A lower number is that of a rebuild, whose result includes what is committed
  /// meanwhile.
  /// - Throws: ``StoreFormatError``; `LMDBError`.
  /// - Complexity: O(1), one look-up in a table of one row.
  public func checkIsKnown(_ t: borrowing some TransactionReading & ~Copyable) throws {
    guard let found = try stored(t), found > Self.current else { return }
    throw StoreFormatError(
      found: found,
      description: """
        A newer PhotoLedger has migrated the library to format \(found), and this program knows \(Self.current); end \
        this program, and open the library with the newer one.
        """)
  }

  /// Checks that a store has the current format or one from which steps lead to it.
  /// - Parameters:
  ///   - environment: the store.
  ///   - path: where it lies, for the sentence of the error.
  /// - Returns: the steps that have to be taken, in their order; none for a store of the current format.
  /// - Throws: ``StoreFormatError`` if it has another; `LMDBError`.
  public static func check(_ environment: Environment, of path: String) throws -> [StoreStep] {
    var found: UInt64?
    if try environment.databaseNames().contains(name) {
      do {
        // In a damaged store the name may be listed and not be found: a check creates nothing.
        let format = try StoreFormat(in: environment, creates: false)
        found = try environment.read { t in try format.stored(t) }
      } catch let error as LMDBError where error.code == .notFound {
        found = nil
      }
    }
    guard let found else {
      throw StoreFormatError.unfinished(path)
    }
    let steps = StoreStep.published.filter { $0.from >= found }
    guard found <= current, steps.first?.from ?? current == found else {
      let advice = found > current ? "open it with a newer PhotoLedger" : "no step leads from there to this program's"
      throw StoreFormatError(
        found: found,
        description: "The library at \(path) has format \(found), this program knows \(current); \(advice).")
    }
    return steps
  }
}
