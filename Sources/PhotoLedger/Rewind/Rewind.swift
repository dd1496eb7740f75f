import EventLog
import LMDB

// The one way back.
//
// Problem. Three readers need rows as they were: a follower, before and after each commit; an as-of view, at its
// moment; and a value that is pinned to a commit, its own object alone. All of them start from the rows of now and
// revert events, the newest first.
//
//     log        … e17 │ e18 e19 │ e20 │ e21 e22 │ head
//     rows       ←────  ←─────── ←──── ←──────── rows of the projections
//
//     reader                    events                      what it keeps
//     DeltaReader               a range of commits          rows of assets and collections on both sides of each commit
//     Moment, SnapshotMaker     a range of the log          rows where the walk ends: a `StateOverlay`
//     LibraryStore.goBack       one object's history        one row, or the members of one container
//
// `Event.forEachChange` describes what an event does to rows. `Rewind` applies it, reverted, to the objects that it has
// met: each is loaded from the store by the newest event that touches it, since until there its row is that of now.
// `goBack` applies it to a single row, so it holds no others and reads no other object's events.
//
// Invariant: `overlay` holds every object up to the end of the walk whose row or place the reverted events changed, in
// the state before the last reverted event. What a reader does not want (`Rewind.Kinds`) is neither loaded nor held, so
// that damage to it is met only by readers that use it.
//
// Rejected: composing edits in this walk as well (EditComposition.swift). They compose forward, without any row, on the
// cores that decode them, and are reverted once; a walk loads each row first and reverts each edit of it.
// Rejected: one walk over all events for one object's row. Its history has an index, and is mostly a few events.

/// Reverts events, the newest first, and holds the rows that they changed as they were before.
package struct Rewind {
  /// What is held beside the rows of assets and collections.
  struct Kinds: OptionSet {
    let rawValue: UInt8

    /// The rows of clients.
    static let clients = Kinds(rawValue: 1 << 0)
    /// The places of members.
    static let places = Kinds(rawValue: 1 << 1)
    /// Which assets had other files or words.
    static let details = Kinds(rawValue: 1 << 2)
    static let all: Kinds = [.clients, .places, .details]
  }

  private let core: StoreCore
  private let kinds: Kinds
  package private(set) var overlay: StateOverlay
  /// The state to go back from, if it is not the one that the transaction sees.
  private let start: StateOverlay?

  /// How many events are decoded at a time.
  private static let pieceCount: UInt64 = 4096

  /// Begins with the state that a transaction sees, or with another one that is laid over it.
  init(_ core: StoreCore, to sequence: UInt64, from start: StateOverlay? = nil, holding kinds: Kinds = .all) {
    (self.core, self.start, self.kinds) = (core, start, kinds)
    overlay = StateOverlay(at: sequence)
  }

  /// The same, holding everything.
  package init(_ core: StoreCore, to sequence: UInt64, from start: StateOverlay?) {
    self.init(core, to: sequence, from: start, holding: .all)
  }

  /// Reverts a log range, whose end is the current state of the reader and which starts after the moment.
  /// - Complexity: O(e + k log n) for e events and k objects touched.
  package mutating func goBack(over sequences: Range<UInt64>, in t: borrowing StoreReading) throws {
    var upper = sequences.upperBound
    while upper > sequences.lowerBound {
      let lower = max(sequences.lowerBound, upper < Self.pieceCount ? 0 : upper - Self.pieceCount)
      var events: [Event] = []
      var count: UInt64 = 0
      try core.log.read(after: lower - 1, limit: Int(upper - lower), in: t) { record in
        count += 1
        // What an import brings was not there: its creation need not even be decoded.
        if !record.isCreation { events.append(try core.projections.event(record, in: t)) }
        return .proceed
      }
      guard count == upper - lower else {
        throw LibraryError(.corrupted, "The log lacks events between \(lower) and \(upper); run `verify`.")
      }
      while let event = events.popLast() { try revert(event, t) }
      upper = lower
    }
  }

  /// Reverts a log range by its snapshot.
  /// - Complexity: O(m) for its entries of objects that existed.
  mutating func goBack(
    over range: LogRange, _ snapshots: SnapshotStore.Opened, _ t: borrowing ReadTransaction
  ) throws {
    let limit = overlay.sequence
    for kind in SnapshotStore.Kind.allCases {
      try snapshots.forEachEntry(kind, of: range, t) { key, value in
        let number = try key.place(at: 0)
        // Objects come in ascending order.
        guard number <= limit else { return .stop }
        try take(kind, number, key, value)
        return .proceed
      }
    }
  }

  private mutating func take(
    _ kind: SnapshotStore.Kind, _ number: ObjectNumber, _ key: RawSpan, _ value: RawSpan
  ) throws {
    let wasThere = value.byteCount > 0
    switch kind {
    case .asset: overlay.assets.updateValue(try wasThere ? AssetRow(number: number, bytes: value) : nil, forKey: number)
    case .details: overlay.details.insert(number)
    case .collection:
      let bytes = value.withUnsafeBytes { Array($0) }
      let row = try wasThere ? CollectionRow(number: number, encoded: bytes) : nil
      overlay.collections.updateValue(row, forKey: number)
    case .client:
      let bytes = value.withUnsafeBytes { Array($0) }
      overlay.clients.updateValue(try wasThere ? ClientRow(number: number, encoded: bytes) : nil, forKey: number)
    case .place:
      guard key.byteCount == 16, value.byteCount == (wasThere ? 8 : 0) else { throw SnapshotStore.Opened.corruption }
      note(try key.place(at: 8), in: number, wasThere ? try value.orderKey(at: 0) : nil)
    }
  }

  // MARK: One event

  /// Reverts one event.
  /// - Parameters:
  ///   - asset: gets each asset whose row the event changed, with the row after the event; so does `collection`.
  ///   - details: gets each asset whose files or words the event changed, with those after it and before.
  /// - Complexity: O(k log n) for k objects touched.
  mutating func revert(
    _ event: Event, _ t: borrowing StoreReading, asset: (ObjectNumber, AssetRow?) throws -> Void = { _, _ in },
    details: (ObjectNumber, AssetDetails?, AssetDetails?) throws -> Void = { _, _, _ in },
    collection: (ObjectNumber, CollectionRow?) throws -> Void = { _, _ in }
  ) throws {
    // For assets, which are the many: a method that the closures called would be called on a copy of all that is held.
    let (projections, start) = (core.projections, start)
    do {
      try event.forEachChange(isReverted: true) { number, change in
        guard overlay.reaches(number) else { return }
        let known = overlay.assets[number] ?? start?.assets[number]
        var row = if let known { known } else { try projections.asset(number, in: t) }
        try asset(number, row)
        try change(&row)
        overlay.assets.updateValue(row, forKey: number)
      } details: { number, later, earlier in
        guard overlay.reaches(number) else { return }
        if kinds.contains(.details) { overlay.details.insert(number) }
        try details(number, later, earlier)
      } collection: { number, change in
        guard overlay.reaches(number) else { return }
        let later = try self.collection(number, t)
        var row = later
        try change(&row)
        // The number can be that of a selection or a pick.
        guard later != nil || row != nil else { return }
        try collection(number, later)
        overlay.collections.updateValue(row, forKey: number)
      } client: { number, change in
        guard kinds.contains(.clients), overlay.reaches(number) else { return }
        let later = try client(number, t)
        var row = later
        try change(&row)
        if later != nil || row != nil { overlay.clients.updateValue(row, forKey: number) }
      } isFolder: { container in
        try isFolder(container, t)
      } place: { place in
        note(place.child, in: place.container, place.new)
      }
    } catch let mismatch as RowMismatch {
      throw mismatch.corruption
    }
  }

  private mutating func note(_ child: ObjectNumber, in container: ObjectNumber, _ key: OrderKey?) {
    guard kinds.contains(.places), overlay.reaches(child), overlay.reaches(container) else { return }
    overlay.places.updateValue(key, forKey: ContainerMember(container: container, child: child))
  }

  // MARK: One object

  /// Holds the row of an asset that no reverted event touched.
  mutating func hold(_ row: AssetRow) { overlay.assets.updateValue(row, forKey: row.number) }

  /// Holds the row of an asset where the walk stands, also if no event changes it.
  mutating func hold(asset number: ObjectNumber, _ t: borrowing StoreReading) throws -> AssetRow? {
    if let known = overlay.assets[number] { return known }
    let row = try asset(number, t)
    overlay.assets.updateValue(row, forKey: number)
    return row
  }

  /// The same for a collection.
  mutating func hold(collection number: ObjectNumber, _ t: borrowing StoreReading) throws -> CollectionRow? {
    if let known = overlay.collections[number] { return known }
    let row = try collection(number, t)
    overlay.collections.updateValue(row, forKey: number)
    return row
  }

  private func asset(_ number: ObjectNumber, _ t: borrowing StoreReading) throws -> AssetRow? {
    if let known = overlay.assets[number] ?? start?.assets[number] { return known }
    return try core.projections.asset(number, in: t)
  }

  private func collection(_ number: ObjectNumber, _ t: borrowing StoreReading) throws -> CollectionRow? {
    if let known = overlay.collections[number] ?? start?.collections[number] { return known }
    return try core.projections.collection(number, in: t)
  }

  private func client(_ number: ObjectNumber, _ t: borrowing StoreReading) throws -> ClientRow? {
    if let known = overlay.clients[number] ?? start?.clients[number] { return known }
    return try core.projections.client(number, in: t)
  }

  /// Whether a container holds collections.
  private func isFolder(_ container: ObjectNumber, _ t: borrowing StoreReading) throws -> Bool {
    try (overlay.collections[container] ?? core.someRow(ofCollection: container, t))?.kind == .folder
  }
}

extension StoreCore {
  /// A row of a collection, current or at its creation, for its immutable properties: its kind and its creator. Nil if
  /// the number is not that of a collection.
  func someRow(ofCollection number: ObjectNumber, _ t: borrowing StoreReading) throws -> CollectionRow? {
    if let row = try projections.collection(number, in: t) { return row }
    guard let record = try log.event(at: number, in: t), record.type == "collection.created",
      case .collectionCreated(let existence) = try Event(record)
    else { return nil }
    return existence.row
  }
}
