import EventLog
import LMDB

// What was otherwise at an earlier moment.
//
// Problem. A library as of a moment must answer every fetch as it would have then. The projections hold the state of
// now, and copies of every earlier state would cost a library each.
//
// An event says what it replaced, so the state of a moment is the state of now with the later events taken back. Most
// objects were not touched since, and those that came since are known by their number alone: a number is the sequence
// of the event that created the object, so what has a larger one than the moment was not there.
//
//     sequence   0 ────────── moment ───────────────────────── head
//     objects    numbers up to the moment  │  came since: passed over without being looked at
//                     │
//                     ├── touched since    rows and places in a `Past`
//                     └── all others       the projections, as they are now
//
// So state of the moment = projections of now, cut at the number, with `Past` laid over them. A fetch of the whole
// library needs all of `Past`, which is read once for a moment and kept; what concerns one object or one container is
// found by the history of that object and reads nothing else (LibraryStore+Past.swift).
//
// Invariant: `Past` holds every object up to the moment whose row or place the later events changed, in the state of
// the moment, and may hold others; it holds no object that came later.
//
// Refused: taking a fetched result back by the delta of everything since, as a change of permission does
// (AccessChange.swift). It answers alike, but brings all that was created since into memory to throw it away, which is
// most of a log.

/// What was otherwise, at a moment, among the objects that were there.
struct Past: Sendable {
  /// The last event of the moment.
  private(set) var sequence: UInt64
  /// The rows of assets that have changed since; nil for one that was not there.
  var assets: [ObjectNumber: AssetRow?] = [:]
  /// The assets whose files or words may have been others.
  var details: Set<ObjectNumber> = []
  /// The rows of collections that have changed since.
  var collections: [ObjectNumber: CollectionRow?] = [:]
  /// The rows of clients that have changed since.
  var clients: [ObjectNumber: ClientRow?] = [:]
  /// The places of members that have changed since; nil where there was none.
  var places: [Delta.Member: OrderKey?] = [:]

  init(at sequence: UInt64) { self.sequence = sequence }

  /// Whether an object with a number can have been there.
  func reaches(_ number: ObjectNumber) -> Bool { number.isReached(by: sequence) }

  /// The asset with an identifier that is there no more.
  /// - Complexity: O(k) in the changed assets.
  func asset(named identifier: LocalIdentifier) -> ObjectNumber? {
    assets.values.first { $0?.identifier == identifier }??.number
  }

  /// Lays an earlier state over this one.
  /// - Complexity: O(k) in the objects of the earlier one.
  mutating func overlay(_ earlier: Past) {
    sequence = earlier.sequence
    assets.merge(earlier.assets) { $1 }
    details.formUnion(earlier.details)
    collections.merge(earlier.collections) { $1 }
    clients.merge(earlier.clients) { $1 }
    places.merge(earlier.places) { $1 }
  }
}

extension ObjectNumber {
  /// Whether an object of the number can be there after an event. The library's own smart albums, which no event
  /// brought, always are.
  func isReached(by sequence: UInt64) -> Bool { self <= sequence || self >= SmartAlbumQuery.firstBuiltIn }
}

/// Takes events back, the newest first.
struct PastReader {
  private let core: StoreCore
  private(set) var past: Past
  /// The state that is gone back from, where it is not the one that the transaction sees.
  private let start: Past?

  /// How many events are decoded at a time.
  private static let pieceCount: UInt64 = 4096

  /// Begins with the state that a transaction sees, or with another one that is laid over it.
  init(_ core: StoreCore, to sequence: UInt64, from start: Past? = nil) {
    (self.core, self.start) = (core, start)
    past = Past(at: sequence)
  }

  /// Takes a stretch of the log back, whose end is the state that was reached and which begins after the moment.
  /// - Complexity: O(e + k log n) for e events and k objects touched.
  mutating func goBack(over sequences: Range<UInt64>, in t: borrowing StoreReading) throws {
    var upper = sequences.upperBound
    while upper > sequences.lowerBound {
      let lower = max(sequences.lowerBound, upper < Self.pieceCount ? 0 : upper - Self.pieceCount)
      var events: [Event] = []
      var count: UInt64 = 0
      try core.log.read(after: lower - 1, limit: Int(upper - lower), in: t) { record in
        count += 1
        // What an import brings was not there: its creation need not even be decoded.
        if record.type != "asset.created" { events.append(try core.projections.event(record, in: t)) }
        return .proceed
      }
      guard count == upper - lower else {
        throw LibraryError(.corrupted, "The log lacks events between \(lower) and \(upper); run `verify`.")
      }
      for event in events.reversed() { try takeBack(event, t) }
      upper = lower
    }
  }

  /// Goes back over a stretch of the log by what a snapshot kept of it.
  /// - Complexity: O(m) for its entries of objects that were there.
  mutating func goBack(
    over stretch: Stretch, _ snapshots: SnapshotStore.Opened, _ t: borrowing ReadTransaction
  ) throws {
    let limit = past.sequence
    for kind in SnapshotStore.Kind.allCases {
      try snapshots.forEachEntry(kind, of: stretch, t) { key, value in
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
    case .asset: past.assets.updateValue(try wasThere ? AssetRow(number: number, bytes: value) : nil, forKey: number)
    case .details: past.details.insert(number)
    case .collection:
      let bytes = value.withUnsafeBytes { Array($0) }
      past.collections.updateValue(try wasThere ? CollectionRow(number: number, encoded: bytes) : nil, forKey: number)
    case .client:
      let bytes = value.withUnsafeBytes { Array($0) }
      past.clients.updateValue(try wasThere ? ClientRow(number: number, encoded: bytes) : nil, forKey: number)
    case .place:
      guard key.byteCount == 16, value.byteCount == (wasThere ? 8 : 0) else { throw SnapshotStore.Opened.corruption }
      note(try key.place(at: 8), in: number, wasThere ? try value.orderKey(at: 0) : nil)
    }
  }

  // MARK: One event

  private mutating func takeBack(_ event: Event, _ t: borrowing StoreReading) throws {
    do {
      switch event {
      case .assetCreated(let existence), .assetPurged(let existence): try takeBack(event, existence, t)
      case .assetsEdited(let edited): try takeBack(edited, t)
      case .collectionCreated(let existence), .collectionErased(let existence):
        try collection(existence.row.number, event.inverse, t)
        try collection(existence.row.parent, event.inverse, t)
        var isThereAgain = false
        if case .collectionErased = event { isThereAgain = true }
        note(existence.row.number, in: existence.row.parent, isThereAgain ? existence.key : nil)
      case .collectionEdited(let edited): try collection(edited.number, event.inverse, t)
      case .arranged(let arranged): try takeBack(arranged, t)
      case .clientRegistered(let row), .clientErased(let row): try client(row.number, event.inverse, t)
      case .clientEdited(let edited): try client(edited.number, event.inverse, t)
      case .pickRecorded(let row), .pickErased(let row): try client(row.client, event.inverse, t)
      case .libraryCreated, .libraryForked, .historyShortened, .assetErased, .nothingChanged: break
      }
    } catch let mismatch as RowMismatch {
      throw core.projections.corruption("the \(mismatch.field) of object \(mismatch.number)")
    }
  }

  private mutating func takeBack(
    _ event: Event, _ existence: AssetExistence, _ t: borrowing StoreReading
  ) throws {
    let (number, inverse) = (existence.row.number, event.inverse)
    if past.reaches(number) {
      var row = try asset(number, t)
      try apply(inverse, toAsset: number, &row)
      past.assets.updateValue(row, forKey: number)
      past.details.insert(number)
    }
    var isThereAgain = false
    if case .assetPurged = event { isThereAgain = true }
    for place in existence.places {
      // A container of assets is an album or a selection; a pick has no row.
      try collection(place.container, inverse, t)
      try client(place.container, inverse, t)
      note(number, in: place.container, isThereAgain ? place.key : nil)
    }
  }

  private mutating func takeBack(_ edited: AssetsEdited, _ t: borrowing StoreReading) throws {
    for edit in edited.edits.reversed() where past.reaches(edit.number) {
      guard var row = try asset(edit.number, t) else { throw RowMismatch(number: edit.number, field: "existence") }
      try edit.inverse.apply(to: &row)
      past.assets.updateValue(row, forKey: edit.number)
      if edit.changesDetails { past.details.insert(edit.number) }
    }
    try takeBack(edited.shifts, t)
  }

  private mutating func takeBack(_ shifts: [CountShift], _ t: borrowing StoreReading) throws {
    for shift in shifts where past.reaches(shift.album) {
      guard var row = try collection(shift.album, t) else { throw RowMismatch(number: shift.album, field: "existence") }
      try shift.inverse.apply(to: &row)
      past.collections.updateValue(row, forKey: shift.album)
    }
  }

  private mutating func takeBack(_ arranged: Arranged, _ t: borrowing StoreReading) throws {
    var own = arranged
    own.shifts = []
    let inverse = Event.arranged(own.inverse)
    switch arranged.verb {
    case .granted, .withdrawn: try client(arranged.container, inverse, t)
    case .picked: break
    case .inserted, .removed, .moved, .replaced, .spread:
      try collection(arranged.container, inverse, t)
      if try core.someRow(ofCollection: arranged.container, t)?.kind == .folder {
        for place in arranged.places where (place.old == nil) != (place.new == nil) {
          try collection(place.child, inverse, t)
        }
      }
    }
    try takeBack(arranged.shifts, t)
    for place in arranged.places.reversed() { note(place.child, in: arranged.container, place.old) }
  }

  // MARK: One object

  private mutating func note(_ child: ObjectNumber, in container: ObjectNumber, _ key: OrderKey?) {
    guard past.reaches(child), past.reaches(container) else { return }
    past.places.updateValue(key, forKey: Delta.Member(container: container, child: child))
  }

  private func asset(_ number: ObjectNumber, _ t: borrowing StoreReading) throws -> AssetRow? {
    if let known = past.assets[number] ?? start?.assets[number] { return known }
    return try core.projections.asset(number, in: t)
  }

  private func collection(_ number: ObjectNumber, _ t: borrowing StoreReading) throws -> CollectionRow? {
    if let known = past.collections[number] ?? start?.collections[number] { return known }
    return try core.projections.collection(number, in: t)
  }

  /// Carries an inverse out on a collection, if the number is that of one.
  private mutating func collection(
    _ number: ObjectNumber, _ inverse: Event, _ t: borrowing StoreReading
  ) throws {
    guard past.reaches(number) else { return }
    var row = try collection(number, t)
    if row == nil, !inverse.brings(number) { return }
    try apply(inverse, toCollection: number, &row)
    past.collections.updateValue(row, forKey: number)
  }

  private func client(_ number: ObjectNumber, _ t: borrowing StoreReading) throws -> ClientRow? {
    if let known = past.clients[number] ?? start?.clients[number] { return known }
    return try core.projections.client(number, in: t)
  }

  /// Carries an inverse out on a client, if the number is that of one.
  private mutating func client(_ number: ObjectNumber, _ inverse: Event, _ t: borrowing StoreReading) throws {
    guard past.reaches(number) else { return }
    var row = try client(number, t)
    if row == nil, !inverse.brings(number) { return }
    try apply(inverse, toClient: number, &row)
    past.clients.updateValue(row, forKey: number)
  }
}

extension Event {
  /// Whether the event brings a collection or a client with a number into being.
  fileprivate func brings(_ number: ObjectNumber) -> Bool {
    switch self {
    case .collectionCreated(let existence): existence.row.number == number
    case .clientRegistered(let row): row.number == number
    default: false
    }
  }
}

extension StoreCore {
  /// A row of a collection, of now or of its making, for what never changes: what it is, and who made it. Nil where the
  /// number is that of something else.
  func someRow(ofCollection number: ObjectNumber, _ t: borrowing StoreReading) throws -> CollectionRow? {
    if let row = try projections.collection(number, in: t) { return row }
    guard let record = try log.event(at: number, in: t), record.type == "collection.created",
      case .collectionCreated(let existence) = try Event(record)
    else { return nil }
    return existence.row
  }
}
