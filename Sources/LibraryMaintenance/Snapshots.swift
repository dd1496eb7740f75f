public import PhotoLedger
import EventLog
import LMDB

// Making snapshots: the missing log ranges of SnapshotStore.swift, the newest first.
//
// Problem. A range holds rows as they were before it, and the store has only the current ones. So they are reached by
// going back from the head, and no commit may wait for that.
//
//     log        │  a  │  b  │  c  │  d  │ tail │ head          a and b exist, c and d are missing
//     read                   ◀──c── ◀──d── ◀─tail─              each event once
//     state                  the overlay before d, then that before c, which starts from it
//     written    entries of d ─▶ entries of c ─▶ ranges c and d ─▶ joins: c + d, then a + b + c + d
//
// Invariant: a range is listed only when all its entries are written, and the listed ranges of the lowest level have no
// gap. Entries without a range are what a stopped process left; they are removed before those of the range are written.
// Each transaction checks that spacing and withdrawn events are still those that it began with.
//
// Rejected: the oldest range first. Each would need its own way back from the head, which reads the log once a range.

/// How far a library's snapshots reach.
public struct SnapshotSummary: Sendable, Hashable {
  /// How many events lie between two snapshots, or a few more: a commit is not divided.
  public let spacing: Int
  /// How many snapshots there are.
  public let count: Int
  /// The last event that they cover; later ones are reverted one by one.
  public let lastSequence: UInt64
  /// The bytes of their files.
  public let byteCount: Int
}

extension PhotoLibrary {
  /// How many events lie between two snapshots unless it is said otherwise.
  ///
  /// Events after the last snapshot are reverted one by one, and an event may have edited 256 assets.
  public static let defaultSnapshotSpacing = 1024

  /// How many events can lie between two snapshots: no log has more than the last of them.
  package static let snapshotSpacings = 1...Int(EventLog.largestSequence)

  /// Makes the snapshots that are missing up to now, which shorten the way back to earlier moments.
  ///
  /// They never affect an answer, and no commit waits for them: call it after an import, or once a night.
  /// - Parameters:
  ///   - spacing: the number of events between two, 1 or more. Nil: unchanged, or ``defaultSnapshotSpacing``. A new
  ///     value drops the existing ones.
  ///   - progress: the progress handler; return `false` to cancel, which keeps the existing ones.
  /// - Returns: their extent.
  /// - Throws: ``LibraryError``: `.accessUserDenied` for any client but the owner, `.malformedRequest` for a spacing
  ///   below 1 or above 2⁶², `.userCancelled` if `progress` returns `false`, `.notEnoughSpace`, `.storage`.
  /// - Complexity: O(e + k log k) for e events since the last one and k objects that they touched; memory O(k).
  @discardableResult
  public func makeSnapshots(
    spacing: Int? = nil, progress: (TaskProgress) -> Bool = { _ in true }
  ) throws -> SnapshotSummary {
    try checkIsNow("make snapshots")
    try checkIsOwner("make snapshots")
    if let spacing, !Self.snapshotSpacings.contains(spacing) {
      let range = "\(Self.snapshotSpacings.lowerBound) to \(Self.snapshotSpacings.upperBound) events"
      throw LibraryError(.malformedRequest, "Snapshots need a spacing of \(range); got \(spacing).")
    }
    let snapshots = try store.snapshots
    return try snapshots.whileMaking {
      do {
        do {
          return try makeSnapshots(in: snapshots, spacing: spacing, progress)
        } catch  where snapshots.isLoss(error) {
          try snapshots.drop()
          return try makeSnapshots(in: snapshots, spacing: spacing, progress)
        }
      } catch {
        throw LibraryError(error)
      }
    }
  }

  private func makeSnapshots(
    in snapshots: SnapshotStore, spacing: Int?, _ progress: (TaskProgress) -> Bool
  ) throws -> SnapshotSummary {
    guard let opened = try snapshots.opened(creating: true) else { throw SnapshotStore.Opened.corruption }
    try SnapshotMaker(core: store.core, opened: opened).make(spacing: spacing.map(UInt64.init), progress)
    return try summary(of: opened)
  }

  /// How far the snapshots reach; nil if there are none.
  /// - Throws: ``LibraryError`` `.accessUserDenied` for any client but the owner, `.corrupted` if their files cannot be
  ///   read, which concerns nothing else; what the store throws.
  /// - Complexity: O(log n).
  public func snapshots() throws -> SnapshotSummary? {
    try checkIsOwner("read the snapshots")
    let snapshots = try store.snapshots
    do {
      guard let opened = try snapshots.opened() else { return nil }
      return try summary(of: opened)
    } catch {
      throw snapshots.isLoss(error) ? SnapshotStore.Opened.corruption : LibraryError(error)
    }
  }

  /// Removes all snapshots; nothing but the short way back to earlier moments is lost.
  /// - Throws: ``LibraryError`` `.accessUserDenied` for any client but the owner; `.storage`.
  public func dropSnapshots() throws {
    try checkIsOwner("drop the snapshots")
    let snapshots = try store.snapshots
    try snapshots.whileMaking {
      do { try snapshots.drop() } catch { throw LibraryError(error) }
    }
  }

  /// Removes snapshots that were made while other events were erased or quarantined, as before an erasure that was then
  /// cut short, and those that cannot be read.
  package func dropOutdatedSnapshots() throws {
    let made = try store.snapshots.reading { opened, t in try opened.withdrawn(t) } ?? nil
    let withdrawn = try store.reading { t in try WithdrawnEvents(of: store.core, t) }
    if made != withdrawn { try dropSnapshots() }
  }

  private func summary(of opened: SnapshotStore.Opened) throws -> SnapshotSummary {
    let pages = try opened.environment.statistics()
    return try opened.environment.read { t in
      let count = try opened.count(t)
      return SnapshotSummary(
        spacing: Int(clamping: try opened.spacing(t) ?? UInt64(Self.defaultSnapshotSpacing)),
        count: Int(clamping: count), lastSequence: try count == 0 ? 0 : opened.range(0, count - 1, t)?.end ?? 0,
        byteCount: pages.usedPages * pages.pageSize)
    }
  }
}

extension LibraryStore {
  fileprivate var snapshots: SnapshotStore {
    get throws {
      guard let snapshots = core.snapshots else {
        throw LibraryError(.internalError, "The library was opened without a folder for snapshots.")
      }
      return snapshots
    }
  }
}

/// Makes the missing ranges, the newest first, so that the log is read backwards once.
private struct SnapshotMaker {
  let core: StoreCore
  let opened: SnapshotStore.Opened

  func make(spacing wanted: UInt64?, _ progress: (TaskProgress) -> Bool) throws {
    let known = try opened.environment.read { s in try opened.spacing(s) }
    let spacing = wanted ?? known ?? UInt64(PhotoLibrary.defaultSnapshotSpacing)
    try core.environment.read { t in
      let made = Made(spacing: spacing, withdrawn: try WithdrawnEvents(of: core, t))
      try forgetOthers(made, t)
      let (last, count) = try opened.environment.read { s in
        let count = try opened.count(s)
        return (try count == 0 ? nil : opened.range(0, count - 1, s), count)
      }
      let missing = try places(after: last, count, spacing, t)
      try writeStates(of: missing, made, t, progress)
      try write(made) { w in for range in missing { try put(range, &w) } }
      try join(made, progress)
    }
  }

  /// The common properties of all ranges.
  private struct Made {
    var spacing: UInt64
    var withdrawn: WithdrawnEvents
  }

  /// Drops ranges of another spacing, and those of another history.
  private func forgetOthers(_ made: Made, _ t: borrowing StoreReading) throws {
    let isGood = try opened.environment.read { s in
      guard try opened.spacing(s) == made.spacing, try opened.withdrawn(s) == made.withdrawn else { return false }
      let count = try opened.count(s)
      guard count > 0 else { return true }
      guard let last = try opened.range(0, count - 1, s), let event = try core.log.event(at: last.end, in: t) else {
        return false
      }
      return event.chain == last.chain
    }
    if isGood { return }
    try opened.environment.write { w in try opened.begin(spacing: made.spacing, withdrawn: made.withdrawn, &w) }
  }

  /// Writes, unless another process has begun to make snapshots of another spacing, or after an erasure or a rebuild.
  private func write(_ made: Made, _ body: (inout WriteTransaction) throws -> Void) throws {
    try opened.environment.write { w in
      guard try opened.spacing(w) == made.spacing, try opened.withdrawn(w) == made.withdrawn else {
        throw LibraryError(
          .operationInterrupted,
          "Another process makes snapshots with another spacing, or of a later state; try again when it has ended.")
      }
      try body(&w)
    }
  }

  /// The ranges of the lowest level that follow the last one.
  private func places(
    after last: LogRange?, _ count: UInt64, _ spacing: UInt64, _ t: borrowing StoreReading
  ) throws -> [LogRange] {
    var found: [LogRange] = []
    var next = LogRange(level: 0, index: count)
    next.start = last?.end ?? 0
    var commit = last?.commit ?? 0
    while true {
      // In pieces: a log can have a million commits.
      let commits = try core.log.commits(after: commit, limit: 4096, in: t)
      guard let end = commits.last else { return found }
      commit = end.number
      for commit in commits where commit.lastSequence - next.start >= spacing {
        (next.end, next.commit, next.chain) = (commit.lastSequence, commit.number, commit.chain)
        found.append(next)
        next.index += 1
        next.start = next.end
      }
    }
  }

  /// Goes back over the ranges and stores what each of them changed.
  private func writeStates(
    of ranges: [LogRange], _ made: Made, _ t: borrowing StoreReading, _ progress: (TaskProgress) -> Bool
  ) throws {
    guard let last = ranges.last else { return }
    let head = try core.log.head(t).sequence
    var tail = Rewind(core, to: last.end, from: nil)
    try tail.goBack(over: (last.end + 1)..<(head + 1), in: t)
    var state = tail.overlay
    for (done, range) in ranges.reversed().enumerated() {
      guard progress(TaskProgress(phase: "snapshots", done: UInt64(done), total: UInt64(ranges.count))) else {
        throw LibraryError(.userCancelled, "Making snapshots was stopped; the existing ones are kept.")
      }
      let overlay = try overlay(before: range, from: state, t)
      try write(made) { w in
        // A making that was stopped may have left some.
        try removeEntries(of: range, &w)
        try put(overlay, of: range, &w)
      }
      state.merge(overlay)
    }
  }

  /// What a range changed, in the state before it.
  private func overlay(before range: LogRange, from state: StateOverlay, _ t: borrowing StoreReading) throws
    -> StateOverlay
  {
    var reader = Rewind(core, to: range.start, from: state)
    try reader.goBack(over: (range.start + 1)..<(range.end + 1), in: t)
    return reader.overlay
  }

  // MARK: Joining

  /// Joins ranges in pairs, level by level, where both exist.
  private func join(_ made: Made, _ progress: (TaskProgress) -> Bool) throws {
    var level: UInt64 = 0
    var count = try opened.environment.read { s in try opened.count(s) }
    while count >= 2 {
      level += 1
      count /= 2
      for index in 0..<count {
        let halves = try opened.environment.read { s -> (earlier: LogRange, later: LogRange)? in
          guard try opened.range(level, index, s) == nil, let earlier = try opened.range(level - 1, 2 * index, s),
            let later = try opened.range(level - 1, 2 * index + 1, s)
          else { return nil }
          return (earlier, later)
        }
        guard let halves else { continue }
        guard progress(TaskProgress(phase: "snapshots", done: 0, total: nil)) else {
          throw LibraryError(.userCancelled, "Making snapshots was stopped; those already made are kept.")
        }
        try join(halves.earlier, halves.later, made)
      }
    }
  }

  private func join(_ earlier: LogRange, _ later: LogRange, _ made: Made) throws {
    var joined = later
    (joined.level, joined.index, joined.start) = (later.level + 1, later.index / 2, earlier.start)
    let whole = joined
    try write(made) { w in
      try removeEntries(of: whole, &w)
      try opened.environment.read { s in
        // The earlier state of an object lays itself over the later one.
        for half in [later, earlier] {
          for kind in SnapshotStore.Kind.allCases {
            try opened.forEachEntry(kind, of: half, s) { key, value in
              let isThere =
                try key.number(at: 0) <= whole.start && (kind != .place || key.number(at: 8) <= whole.start)
              if isThere { try put(value, kind, key, of: whole, &w) }
              return .proceed
            }
          }
        }
      }
      try put(whole, &w)
    }
  }

  // MARK: Writing

  private func put(_ range: LogRange, _ w: inout WriteTransaction) throws {
    let key = pairKey(range.level, range.index)
    let words: [UInt64] = [range.start.bigEndian, range.end.bigEndian, range.commit.bigEndian]
    let value = words.withUnsafeBytes { Array($0) } + range.chain.bytes
    try w.put(key.span.bytes, value.span.bytes, in: opened.ranges)
  }

  private func removeEntries(of range: LogRange, _ w: inout WriteTransaction) throws {
    let prefix = pairKey(range.level, range.index)
    try w.delete(prefix: prefix.span.bytes, in: opened.states)
  }

  private func put(
    _ value: RawSpan, _ kind: SnapshotStore.Kind, _ rest: RawSpan, of range: LogRange, _ w: inout WriteTransaction
  ) throws {
    let head = [range.level, range.index, kind.rawValue].map(\.bigEndian)
    let key = head.withUnsafeBytes { Array($0) } + rest.withUnsafeBytes { Array($0) }
    try w.put(key.span.bytes, value, in: opened.states)
  }

  private func put(_ overlay: StateOverlay, of range: LogRange, _ w: inout WriteTransaction) throws {
    func put(_ kind: SnapshotStore.Kind, _ words: [UInt64], _ value: [UInt8]) throws {
      let rest = words.map(\.bigEndian)
      try self.put(value.span.bytes, kind, rest.span.bytes, of: range, &w)
    }
    // In the order of the keys.
    for (number, row) in overlay.assets.sorted(by: { $0.key < $1.key }) {
      try put(.asset, [number], row.map(\.storedBytes) ?? [])
    }
    for number in overlay.details.sorted() { try put(.details, [number], []) }
    for (number, row) in overlay.collections.sorted(by: { $0.key < $1.key }) {
      try put(.collection, [number], row?.encoded() ?? [])
    }
    for (number, row) in overlay.clients.sorted(by: { $0.key < $1.key }) {
      try put(.client, [number], row?.encoded() ?? [])
    }
    for (member, key) in overlay.places.sorted(by: {
      ($0.key.container, $0.key.child) < ($1.key.container, $1.key.child)
    }) {
      let value = key.map { key in withUnsafeBytes(of: key.rawValue.bigEndian) { Array($0) } }
      try put(.place, [member.container, member.child], value ?? [])
    }
  }
}

extension AssetRow {
  /// The bytes of the row as a store holds them.
  fileprivate var storedBytes: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: byteCount)
    bytes.withUnsafeMutableBytes { buffer in
      var span = buffer.mutableBytes
      write(into: &span)
    }
    return bytes
  }
}
