package import EventLog
import Foundation
import Glibc
package import LMDB
import Synchronization

// Snapshots: the state at fixed places of the log, of what was touched after them.
//
// Problem. Computing an as-of view reads the events since. At a million events that takes seconds, and full copies of
// the state at regular intervals would each cost a library.
//
// A log range is a run of whole commits with at least `spacing` events. The objects that it changed, in the
// state before it, are all that is needed to go back over it: for each existing object that it touched, one row or
// membership. Ranges are joined in pairs, and those again, so that going back over many reads a few:
//
//     log       │···a···│···b···│···c···│···d···│···e···│··· tail ···│ head
//     level 0   │   a   │   b   │   c   │   d   │   e   │
//     level 1   │  a + b        │  c + d        │
//     level 2   │  a + b + c + d                │
//
//     moment in b:  events of the tail, e, c + d, events of b after the moment
//
// A join keeps an object's older state and omits objects that did not exist before the earlier half. So a moment costs
// the events of at most one range and of the tail, and each object in between is read at most once a level: O(spacing
// + k log(n / spacing)) for k objects touched since, however often each was.
//
// Invariant: the entries of a joined range are exactly the objects up to its beginning that its events touched, in
// the state of its beginning, and no others. The last covered event is recorded with its chain value, which identifies
// all events before it: ranges of another history are not used. The number of erased payloads and the quarantined
// events are recorded, too, and ranges are used only while both are the same: an interrupted erasure may have left
// rows with what was erased, and an event that changed nothing while it was quarantined has no rows in its range.
//
// They are stored in a separate LMDB store beside the library's, are made on request and never by a commit, and can be
// dropped at any time: no answer depends on them. Unreadable files (truncated by a full disk, damaged) are treated as
// absent: as-of views read the log instead, making snapshots starts again, dropping them does not read them. Erasing
// payloads from the log must drop them, since they hold rows.
//
// Rejected: full copies of the projections (n rows each, nearly all unchanged); an unjoined list of ranges (an
// object that is edited daily would be read once for each); making them in the commit's transaction (a commit must cost
// what it changed).
//
//   database    key                                                    value
//   stretches   level (8) index (8)                                    start (8) end (8) end's commit (8) chain (32)
//   states      level (8) index (8) kind (8) object (8)                row, or nothing: it did not exist
//               level (8) index (8) 5 container (8) child (8)          order key (8), or nothing
//   settings    "spacing", "format"                                    spacing (8), format of the entries (8)
//               "erased"                                               how many payloads had been erased (8)
//               "aside"                                                the quarantined events (8 each), ascending

/// Where the snapshots of a library lie.
package final class SnapshotStore: Sendable {
  /// The subject of an entry; the numbers are used in keys.
  package enum Kind: UInt64, CaseIterable {
    case asset = 1
    /// Files or words of an asset were touched; says no more than that.
    case details = 2
    case collection = 3
    case client = 4
    case place = 5
  }

  /// The open files.
  package struct Opened: Sendable {
    package let environment: LMDB.Environment
    package let ranges: Database
    package let states: Database
    let settings: Database
    /// Which file it is: another process may have dropped the snapshots, and made them anew.
    fileprivate let file: FileName
  }

  /// What tells a file from others of its name.
  fileprivate struct FileName: Equatable {
    let device: UInt64
    let number: UInt64

    init(_ status: stat) { (device, number) = (UInt64(status.st_dev), UInt64(status.st_ino)) }
  }

  private static let name = "snapshots"
  private let folder: LibraryFolder
  /// Guarded by its lock; nil until first used.
  private let state = Mutex<Opened?>(nil)
  /// Held while snapshots are made or dropped by this process.
  private let making = Mutex(())

  init(in folder: LibraryFolder) { self.folder = folder }

  /// The file that lies there now; nil if there is none.
  private var file: FileName? { folder.status(of: Self.name + "/data.mdb").map(FileName.init) }

  /// The open files; nil if there are none and none are to be made.
  package func opened(creating: Bool = false) throws -> Opened? {
    try state.withLock { state in
      if let state, state.file == file { return state }
      // Readers of the former file continue, and it is closed when they have ended.
      state = nil
      let known = file
      guard creating || known != nil else { return nil }
      var options = LMDB.Environment.Options()
      options.maxDatabases = 8
      options.createsStore = creating
      let environment = try folder.withPath { [options] library in
        try LMDB.Environment.open(path: "\(library)/\(Self.name)", options: options)
      }
      // One that takes the place of a known file while this one is opened is met by the next call.
      guard let file = known ?? file else { throw Opened.corruption }
      let opened = Opened(
        environment: environment, ranges: try environment.database("stretches"),
        states: try environment.database("states"), settings: try environment.database("settings"), file: file)
      state = opened
      return opened
    }
  }

  /// Makes or drops snapshots: one thread of the process at a time.
  package func whileMaking<R>(_ body: () throws -> R) throws -> R { try making.withLock { _ in try body() } }

  /// Removes the files, whatever they hold.
  package func drop() throws {
    do { try opened()?.environment.close() } catch  where isLoss(error) {}
    state.withLock { $0 = nil }
    guard folder.status(of: Self.name) != nil else { return }
    try folder.withPath { library in try FileManager.default.removeItem(atPath: "\(library)/\(Self.name)") }
  }

  /// Reads the snapshots; nil if there are none that can be read.
  /// - Parameter body: may be cut short by broken files, so what it has done until then must not count.
  package func reading<R>(_ body: (Opened, borrowing ReadTransaction) throws -> R) throws -> R? {
    do {
      guard let opened = try opened() else { return nil }
      return try opened.environment.read { t in try body(opened, t) }
    } catch  where isLoss(error) {
      state.withLock { $0 = nil }
      return nil
    }
  }

  /// Whether an error means that the snapshots are missing or broken; any other is reported.
  ///
  /// An error of the library's own store occurs again when continuing without snapshots.
  package func isLoss(_ error: any Error) -> Bool {
    switch error {
    case let error as LMDBError:
      error.path.map { $0.hasSuffix("/\(Self.name)") } ?? false && Self.losses.contains(error.code)
    case let error as LibraryError: error.code == .corrupted
    default: false
    }
  }

  private static let losses: Set<LMDBError.Code> = [
    .closed, .fileReplaced, .noStore, .invalidFile, .versionMismatch, .corrupted, .incompatibleDatabase,
    .transactionFailed,
  ]
}

/// A run of commits, or several joined, as a place of the log.
package struct LogRange: Equatable, Sendable {
  package var level: UInt64
  package var index: UInt64
  /// The last event before it.
  package var start: UInt64 = 0
  /// Its own last event, and the commit that ends with it.
  package var end: UInt64 = 0
  package var commit: UInt64 = 0
  /// The chain up to the end.
  package var chain = SHA256Digest.zero

  package init(level: UInt64, index: UInt64) { (self.level, self.index) = (level, index) }
}

/// The events that say less than when they were appended, or nothing, at a state of a store.
package struct WithdrawnEvents: Equatable, Sendable {
  /// How many payloads were erased; each erasure erases some.
  let erasedCount: UInt64
  /// The quarantined events, ascending.
  let quarantined: [UInt64]

  /// Those of a store.
  /// - Complexity: O(q) for q quarantined events.
  package init(of core: StoreCore, _ t: borrowing StoreReading) throws {
    erasedCount = UInt64(try t.count(of: core.log.redactions.database))
    quarantined = try core.projections.quarantined(in: t).map(\.sequence)
  }

  fileprivate init(erasedCount: UInt64, quarantined: [UInt64]) {
    (self.erasedCount, self.quarantined) = (erasedCount, quarantined)
  }
}

extension SnapshotStore.Opened {
  private static let spacingName = Array("spacing".utf8)
  private static let formatName = Array("format".utf8)
  /// Raised whenever the encoding of a row, an entry or the settings changes: older snapshots are then rebuilt.
  private static let format: UInt64 = 3
  private static let erasedName = Array("erased".utf8)
  private static let quarantinedName = Array("aside".utf8)

  /// The spacing that was chosen, also for ranges that a program of another format made; nil where nothing was made.
  package func spacing(_ t: borrowing some TransactionReading & ~Copyable) throws -> UInt64? {
    guard let spacing = try t.value(for: Self.spacingName.span.bytes, in: settings) else { return nil }
    return try spacing.place(at: 0)
  }

  /// The withdrawn events of the library when the first of them was made; nil where nothing was made, or by a program
  /// that wrote other rows.
  package func withdrawn(_ t: borrowing some TransactionReading & ~Copyable) throws -> WithdrawnEvents? {
    guard let format = try t.value(for: Self.formatName.span.bytes, in: settings),
      try format.number(at: 0) == Self.format, let count = try t.value(for: Self.erasedName.span.bytes, in: settings),
      let bytes = try t.bytes(for: Self.quarantinedName.span.bytes, in: settings)
    else { return nil }
    let quarantined = try stride(from: 0, to: bytes.count, by: 8).map { try bytes.span.bytes.number(at: $0) }
    return WithdrawnEvents(erasedCount: try count.number(at: 0), quarantined: quarantined)
  }

  /// Drops everything, and chooses a spacing.
  package func begin(spacing: UInt64, withdrawn: WithdrawnEvents, _ w: inout WriteTransaction) throws {
    for database in [ranges, states, settings] { try w.clear(database) }
    for (name, values) in [
      (Self.spacingName, [spacing]), (Self.formatName, [Self.format]), (Self.erasedName, [withdrawn.erasedCount]),
      (Self.quarantinedName, withdrawn.quarantined),
    ] {
      let words = values.map(\.bigEndian)
      try w.put(name.span.bytes, words.span.bytes, in: settings)
    }
  }

  /// A range; nil if it does not exist.
  package func range(
    _ level: UInt64, _ index: UInt64, _ t: borrowing some TransactionReading & ~Copyable
  ) throws -> LogRange? {
    let key = pairKey(level, index)
    guard let value = try t.value(for: key.span.bytes, in: ranges) else { return nil }
    guard value.byteCount == 56 else { throw Self.corruption }
    var range = LogRange(level: level, index: index)
    (range.start, range.end) = (try value.place(at: 0), try value.place(at: 8))
    range.commit = try value.place(at: 16)
    range.chain = SHA256Digest(value.extracting(24...))
    guard range.start < range.end, range.commit <= range.end else { throw Self.corruption }
    return range
  }

  package static let corruption = LibraryError(
    .corrupted, "The snapshots cannot be read; remove them with `snapshots drop`, and make them again.")

  /// The number of ranges of the lowest level.
  package func count(_ t: borrowing some TransactionReading & ~Copyable) throws -> UInt64 {
    var count: UInt64 = 0
    let prefix: InlineArray<1, UInt64> = [0]
    try t.forEach(in: ranges, prefix: prefix.span.bytes, reverse: true) { key, _ in
      count = try key.place(at: 8) + 1
      return .stop
    }
    return count
  }

  /// The ranges from the first boundary at or after a moment to the last at or before a head, newest last; empty if
  /// there are none, or if they are of another history or were made while other events were erased or quarantined.
  /// - Complexity: O(log² s) in ranges.
  func way(
    from sequence: UInt64, to head: UInt64, _ core: StoreCore, _ t: borrowing ReadTransaction,
    _ store: borrowing StoreReading
  ) throws -> [LogRange] {
    guard try withdrawn(t) == WithdrawnEvents(of: core, store) else { return [] }
    let count = try count(t)
    let last = try prefixCount(count, t) { $0.end <= head }
    let first = try prefixCount(last, t) { $0.start < sequence }
    guard first < last, let end = try range(0, last - 1, t), let event = try core.log.event(at: end.end, in: store),
      event.chain == end.chain
    else { return [] }
    var way: [LogRange] = []
    var index = first
    while index < last {
      var level: UInt64 = 0
      while (index >> level) & 1 == 0, index + (2 << level) <= last { level += 1 }
      guard let found = try range(level, index >> level, t) else { return [] }
      way.append(found)
      index += 1 << level
    }
    return way
  }

  /// The number of leading ranges that satisfy a condition, which holds for a prefix of them.
  private func prefixCount(
    _ count: UInt64, _ t: borrowing ReadTransaction, where holds: (LogRange) -> Bool
  ) throws -> UInt64 {
    var (low, high) = (UInt64(0), count)
    while low < high {
      let middle = low + (high - low) / 2
      guard let found = try range(0, middle, t) else { return 0 }
      if holds(found) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Iterates over the entries of a kind of a range, in key order: the rest of the key, and the value.
  package func forEachEntry(
    _ kind: SnapshotStore.Kind, of range: LogRange, container: ObjectNumber? = nil,
    _ t: borrowing some TransactionReading & ~Copyable, _ body: (RawSpan, RawSpan) throws -> Continuation
  ) throws {
    let words = [range.level, range.index, kind.rawValue] + (container.map { [$0] } ?? [])
    let prefix = words.map(\.bigEndian)
    try t.forEach(in: states, prefix: prefix.span.bytes) { key, value in try body(key.extracting(24...), value) }
  }

  /// The value of an entry; nil if the range has no such entry.
  func entry(
    _ kind: SnapshotStore.Kind, _ object: ObjectNumber, of range: LogRange, _ t: borrowing ReadTransaction
  ) throws -> [UInt8]? {
    let key: InlineArray<4, UInt64> = [
      range.level.bigEndian, range.index.bigEndian, kind.rawValue.bigEndian, object.bigEndian,
    ]
    return try t.bytes(for: key.span.bytes, in: states)
  }
}
