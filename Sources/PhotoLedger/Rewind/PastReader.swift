import EventLog
import LMDB

// Takes events back from the state of now to that of a moment (Past.swift).

/// Takes events back, the newest first.
struct PastReader {
  private let core: StoreCore
  private(set) var past: Past
  /// The state to go back from, if it is not the one that the transaction sees.
  private let start: Past?

  /// How many events are decoded at a time.
  private static let pieceCount: UInt64 = 4096

  /// Begins with the state that a transaction sees, or with another one that is laid over it.
  init(_ core: StoreCore, to sequence: UInt64, from start: Past? = nil) {
    (self.core, self.start) = (core, start)
    past = Past(at: sequence)
  }

  /// Reverts a log range, whose end is the current state of the reader and which starts after the moment.
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

  /// Reverts a log range by its snapshot.
  /// - Complexity: O(m) for its entries of objects that existed.
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
    past.places.updateValue(key, forKey: ContainerMember(container: container, child: child))
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
