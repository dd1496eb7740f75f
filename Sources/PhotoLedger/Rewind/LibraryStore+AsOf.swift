package import EventLog
import LMDB

// Reading as of a moment.
//
// Each function here has the answer of a projection's function at a moment, and of the projection itself where there is
// no moment. What concerns one object or container goes back over the history of that one; what concerns all of them
// lays the moment's `StateOverlay` over the projections (StateOverlay.swift).

extension StoreCore {
  /// What was otherwise after an event than in the state that a transaction sees.
  /// - Complexity: O(e + k log n) for e events up to the next snapshot and since the last one, or since if there is
  ///   none, and k touched objects.
  func overlay(at sequence: UInt64, _ t: borrowing StoreReading) throws -> StateOverlay {
    let head = try log.head(t).sequence
    let overlay = try snapshots?.reading { opened, s -> StateOverlay? in
      let way = try opened.way(from: sequence, to: head, self, s, t)
      guard let first = way.first, let last = way.last else { return nil }
      var reader = Rewind(self, to: sequence)
      try reader.goBack(over: (last.end + 1)..<(head + 1), in: t)
      for range in way.reversed() { try reader.goBack(over: range, opened, s) }
      try reader.goBack(over: (sequence + 1)..<(first.start + 1), in: t)
      return reader.overlay
    }
    if let overlay = overlay ?? nil { return overlay }
    var reader = Rewind(self, to: sequence)
    try reader.goBack(over: (sequence + 1)..<(head + 1), in: t)
    return reader.overlay
  }
}

extension LibraryStore {
  // MARK: The log

  /// The end of the log at that state.
  package func head(at moment: Moment?, _ t: borrowing StoreReading) throws -> EventLog.Head {
    guard let moment else { return try core.log.head(t) }
    guard moment.sequence > 0 else { return .empty }
    let last = try core.log.recordedEvent(at: moment.sequence, in: t)
    return EventLog.Head(sequence: moment.sequence, commit: moment.commit, chain: last.chain)
  }

  /// The first commit that was available to clients; 0 if the history had never been shortened.
  /// - Complexity: O(log n), and one read for each later event that touched the top level.
  package func firstAvailableCommit(at moment: Moment?, _ t: borrowing StoreReading) throws -> UInt64 {
    var first = try core.projections.firstAvailableCommit(in: t)
    try goBack(rootFolder, to: moment?.sequence ?? Self.now, t) { inverse in
      if case .historyShortened(let kept) = inverse { first = kept.new }
    }
    return first
  }

  // MARK: One object

  /// The number and kind of the object with an identifier; nil if it was created after the moment.
  /// - Complexity: O(log n); for an identifier that no object has now, one read for each later event that touched an
  ///   asset that had it.
  package func object(
    _ identifier: LocalIdentifier, at moment: Moment?, _ t: borrowing StoreReading
  ) throws -> (number: ObjectNumber, isAsset: Bool)? {
    let found = try core.projections.object(identifier, in: t)
    guard let moment else { return found }
    if let found { return found.number.isReached(by: moment.sequence) ? found : nil }
    var purged: [ObjectNumber] = []
    try core.projections.forEachTombstone(identifier, in: t) { purged.append($0) }
    // Of several assets that had it, one after another, at most one was there; the last more likely than the others.
    for number in purged.reversed() where try assetRow(number, at: moment.sequence, t) != nil { return (number, true) }
    return nil
  }

  /// Whether an access showed an asset after an event, hidden and trashed ones included.
  /// - Complexity: O(log n), and one read for each later event that touched the asset; no look-up with full access.
  package func shows(
    _ asset: ObjectNumber, to access: Access, at sequence: UInt64, _ t: borrowing StoreReading
  ) throws -> Bool {
    try access.showsAsset { client in try place(of: asset, in: client, at: sequence, t) }
  }

  /// Every place that a child had.
  /// - Complexity: O(log n), and one read for each later event that touched the child.
  func places(
    of child: ObjectNumber, at sequence: UInt64, _ t: borrowing StoreReading
  ) throws -> [ObjectNumber: OrderKey] {
    var places: [ObjectNumber: OrderKey] = [:]
    for place in try core.projections.places(of: child, in: t) { places[place.container] = place.key }
    try goBack(child, to: sequence, t) { inverse in
      if inverse.ended == child { return places = [:] }
      inverse.forEachPlacement { if $0.child == child { places[$0.container] = $0.new } }
    }
    return places
  }

  // MARK: One container

  /// The members that a container had, in their order.
  /// - Complexity: O(m log m) for m members then and now, and one read for each later event that touched the container.
  package func members(
    of container: ObjectNumber, at sequence: UInt64, _ t: borrowing StoreReading
  ) throws -> [(key: OrderKey, number: ObjectNumber)] {
    var changed: [ObjectNumber: OrderKey?] = [:]
    func note(_ inverse: Event) {
      if let ended = inverse.ended { changed.updateValue(nil, forKey: ended) }
      inverse.forEachPlacement { if $0.container == container { changed.updateValue($0.new, forKey: $0.child) } }
    }
    let isDone = try withSnapshots(of: container, at: sequence, t) { opened, s, way in
      try goBack(container, to: way[way.count - 1].end, t, note)
      for range in way.reversed() {
        try opened.forEachEntry(.place, of: range, container: container, s) { key, value in
          let place = value.byteCount == 8 ? try value.orderKey(at: 0) : nil
          changed.updateValue(place, forKey: try key.place(at: 8))
          return .proceed
        }
      }
      try goBack(container, from: way[0].start, to: sequence, t, note)
      return true
    }
    if isDone != true { try goBack(container, to: sequence, t, note) }
    var members: [(key: OrderKey, number: ObjectNumber)] = []
    try core.projections.forEachMember(of: container, in: t) { key, number in
      if changed[number] == nil, number.isReached(by: sequence) { members.append((key, number)) }
      return true
    }
    if changed.isEmpty { return members }
    for (number, key) in changed { if let key, number.isReached(by: sequence) { members.append((key, number)) } }
    return members.sorted { $0.key < $1.key }
  }

  // MARK: Snapshots

  /// How many later events an object may have before it is looked for in snapshots.
  private static let historyLimit = 64

  /// Reads the snapshots between a moment and now for an object that much happened to; nil if that is not so, or if
  /// there are none.
  private func withSnapshots<R>(
    of number: ObjectNumber, at sequence: UInt64, _ t: borrowing StoreReading,
    _ body: (SnapshotStore.Opened, borrowing ReadTransaction, [LogRange]) throws -> R?
  ) throws -> R? {
    guard sequence != Self.now, let snapshots = core.snapshots else { return nil }
    let later = try core.projections.history(of: number, after: sequence, most: Self.historyLimit + 1, in: t)
    guard later.count > Self.historyLimit else { return nil }
    let head = try core.log.head(t).sequence
    return try snapshots.reading { opened, s in
      let way = try opened.way(from: sequence, to: head, core, s, t)
      return way.isEmpty ? nil : try body(opened, s, way)
    } ?? nil
  }

  /// The row of an object at the first snapshot after a moment that contains it, and its position in the log.
  /// - Returns: nil if no snapshot is needed; a row of nil for an object that did not exist.
  func snapshot<Row>(
    _ kind: SnapshotStore.Kind, of number: ObjectNumber, at sequence: UInt64, _ t: borrowing StoreReading,
    _ decode: ([UInt8]) throws -> Row
  ) throws -> (row: Row?, sequence: UInt64)? {
    try withSnapshots(of: number, at: sequence, t) { opened, s, way in
      for range in way {
        guard let entry = try opened.entry(kind, number, of: range, s) else { continue }
        return (entry.isEmpty ? nil : try decode(entry), range.start)
      }
      return nil
    }
  }

  // MARK: All objects

  /// What was otherwise at a moment; nothing now.
  private func overlay(at moment: Moment?, _ t: borrowing StoreReading) throws -> StateOverlay {
    try moment?.overlay(core, t) ?? StateOverlay(at: Self.now)
  }

  /// Iterates over the rows of all assets at a moment, in place or from the overlay; in no order.
  /// - Complexity: O(n) in the assets that existed.
  package func forEachAsset(
    at moment: Moment?, _ t: borrowing StoreReading, unchanged: (AssetView) -> Void, changed: (AssetRow) -> Void
  ) throws {
    let overlay = try overlay(at: moment, t)
    try t.forEach(in: core.projections.assets, from: 0) { number, bytes in
      guard number <= overlay.sequence else { return .stop }
      if overlay.assets[number] == nil {
        try bytes.withUnsafeBytes { unchanged(try AssetView(number: number, bytes: $0)) }
      }
      return .proceed
    }
    for case let row? in overlay.assets.values { changed(row) }
  }

  /// Gives the row of every collection of a moment, the deleted ones and the root included; in no order.
  /// - Complexity: O(n) in collections.
  package func forEachCollection(
    at moment: Moment?, _ t: borrowing StoreReading, _ body: (CollectionRow) -> Void
  ) throws {
    let overlay = try overlay(at: moment, t)
    try t.forEach(in: core.projections.collections, from: 0) { number, bytes in
      if overlay.collections[number] == nil, overlay.reaches(number) {
        body(try CollectionRow(number: number, encoded: bytes.withUnsafeBytes { Array($0) }))
      }
      return .proceed
    }
    for case let row? in overlay.collections.values { body(row) }
  }

  /// Gives the files and words of every asset of a moment, in no order.
  /// - Complexity: O(n) in the assets that were there.
  package func forEachDetails(at moment: Moment?, _ t: borrowing StoreReading, _ body: (AssetDetails) -> Void) throws {
    let overlay = try overlay(at: moment, t)
    try t.forEach(in: core.projections.details, from: 0) { number, bytes in
      guard number <= overlay.sequence else { return .stop }
      if !overlay.details.contains(number) {
        body(try AssetDetails(encoded: bytes.withUnsafeBytes { Array($0) }))
      }
      return .proceed
    }
    for number in overlay.details {
      if let details = try assetDetails(number, at: overlay.sequence, t) { body(details) }
    }
  }

  /// Gives the row of every client of a moment, in the order of their registration.
  /// - Complexity: O(n) in clients, and one read for each later event that touched one of them.
  package func forEachClient(at moment: Moment?, _ t: borrowing StoreReading, _ body: (ClientRow) throws -> Void) throws
  {
    var rows: [ClientRow] = []
    try t.forEach(in: core.projections.clients, from: 0) { number, bytes in
      rows.append(try ClientRow(number: number, encoded: bytes.withUnsafeBytes { Array($0) }))
      return .proceed
    }
    for row in rows {
      if let then = try moment.map({ try clientRow(row.number, at: $0.sequence, t) }) ?? row { try body(then) }
    }
  }

  /// The assets of a moment whose details satisfy a condition, oldest first.
  /// - Parameters:
  ///   - found: the ones of now.
  ///   - fits: the condition that finds them.
  func assets(
    _ found: [ObjectNumber], at moment: Moment?, _ t: borrowing StoreReading, where fits: (AssetDetails) -> Bool
  ) throws -> [ObjectNumber] {
    guard let moment else { return found }
    let overlay = try moment.overlay(core, t)
    let others = try overlay.details.filter { try assetDetails($0, at: moment.sequence, t).map(fits) ?? false }
    return (found.filter { overlay.reaches($0) && !overlay.details.contains($0) } + others).sorted()
  }

  /// The assets with a resource of the given content, oldest first.
  func assets(
    withContent sha256: [UInt8], at moment: Moment?, _ t: borrowing StoreReading
  ) throws -> [ObjectNumber] {
    try assets(try core.projections.assets(withContent: sha256, in: t), at: moment, t) { details in
      details.resources.contains { $0.sha256 == sha256 }
    }
  }

  /// The assets with a resource whose SHA-1 is recorded, oldest first.
  func assets(
    withSHA1 sha1: [UInt8], at moment: Moment?, _ t: borrowing StoreReading
  ) throws -> [ObjectNumber] {
    try assets(try core.projections.assets(withSHA1: sha1, in: t), at: moment, t) { details in
      details.resources.contains { $0.sha1 == sha1 }
    }
  }

  /// The assets with a resource that has a content identifier, oldest first.
  func assets(
    withContentIdentifier text: String, at moment: Moment?, _ t: borrowing StoreReading
  ) throws -> [ObjectNumber] {
    try assets(try core.projections.assets(withContentIdentifier: text, in: t), at: moment, t) { details in
      details.resources.contains { $0.contentIdentifier?.exact == text.exact }
    }
  }

  /// The assets that came with an identifier of another library, oldest first.
  func assets(
    withOrigin origin: String, at moment: Moment?, _ t: borrowing StoreReading
  ) throws -> [ObjectNumber] {
    try assets(try core.projections.assets(withOrigin: origin, in: t), at: moment, t) { details in
      details.origin.flatMap { CloudIdentifier(archivalStringValue: $0) }?.record == origin
    }
  }
}
