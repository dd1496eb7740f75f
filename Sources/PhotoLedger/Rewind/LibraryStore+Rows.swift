import EventLog
import LMDB

// One object as of an event: the current row with the later events of that object reverted.

extension LibraryStore {
  /// The row of an asset as of an event.
  package func assetRow(
    _ number: ObjectNumber, at sequence: UInt64, _ t: borrowing StoreReading
  ) throws -> AssetRow? {
    try earlier(earlierAssets, of: number, at: sequence, t) {
      try core.projections.asset(number, in: t)
    } apply: { event, row in
      try PhotoLedger.apply(event, toAsset: number, &row)
    }
  }

  /// The details of an asset as they were after an event.
  package func assetDetails(
    _ number: ObjectNumber, at sequence: UInt64, _ t: borrowing StoreReading
  ) throws -> AssetDetails? {
    try earlier(earlierDetails, of: number, at: sequence, t) {
      try core.projections.details(number, in: t)
    } apply: { event, details in
      try PhotoLedger.apply(event, toAsset: number, &details)
    }
  }

  /// A part of an asset as of an event.
  /// - Parameters:
  ///   - now: reads it as it is now.
  ///   - apply: applies an event to it.
  private func earlier<Value>(
    _ states: EarlierStates<Value>, of number: ObjectNumber, at sequence: UInt64, _ t: borrowing StoreReading,
    now: () throws -> Value?, apply: (Event, inout Value?) throws -> Void
  ) throws -> Value? {
    guard number.isReached(by: sequence) else { return nil }
    return try earlierState(states, of: number, at: sequence, t) {
      var value = try now()
      let count = try goBack(number, to: sequence, t) { event in try apply(event, &value) }
      return (value, count)
    } apply: { event, value in
      try apply(event, &value)
    }
  }

  /// The row of a collection as of an event.
  package func collectionRow(
    _ number: ObjectNumber, at sequence: UInt64, _ t: borrowing StoreReading
  ) throws -> CollectionRow? {
    guard number.isReached(by: sequence) else { return nil }
    // The number may be an asset's, whose history has nothing to say here.
    guard try sequence == Self.now || core.someRow(ofCollection: number, t) != nil else { return nil }
    return try earlierState(earlierCollections, of: number, at: sequence, t) {
      let known = try snapshot(.collection, of: number, at: sequence, t) { bytes in
        try CollectionRow(number: number, encoded: bytes)
      }
      var row = try known.map(\.row) ?? core.projections.collection(number, in: t)
      let count = try goBack(number, from: known?.sequence ?? Self.now, to: sequence, t) { event in
        try apply(event, toCollection: number, &row)
      }
      return (row, count)
    } apply: { event, row in
      try PhotoLedger.apply(event, toCollection: number, &row)
    }
  }

  /// The row of a client as of an event.
  package func clientRow(
    _ number: ObjectNumber, at sequence: UInt64, _ t: borrowing StoreReading
  ) throws -> ClientRow? {
    guard number.isReached(by: sequence) else { return nil }
    let known = try snapshot(.client, of: number, at: sequence, t) { try ClientRow(number: number, encoded: $0) }
    var row = try known.map(\.row) ?? core.projections.client(number, in: t)
    try goBack(number, from: known?.sequence ?? Self.now, to: sequence, t) { event in
      try apply(event, toClient: number, &row)
    }
    return row
  }

  /// Commits as a client may know them: for one without full access, those that touched its view, and of
  /// others' commits no more than when they were.
  func commits(_ commits: [CommitSummary], asSeenBy client: String) throws -> [CommitSummary] {
    if client == PhotoLibrary.owner { return commits }
    return try reading { t in
      try core.commits(commits, asSeenBy: client, try core.projections.permission(of: client, in: t), t)
    }
  }

  /// The order key of a child in a container as of an event.
  package func place(
    of child: ObjectNumber, in container: ObjectNumber, at sequence: UInt64, _ t: borrowing StoreReading
  ) throws -> OrderKey? {
    var key = try core.projections.key(of: child, in: container, t)
    try goBack(child, to: sequence, t) { event in
      if event.ended == child { return key = nil }
      event.forEachPlacement { if $0.child == child, $0.container == container { key = $0.new } }
    }
    return key
  }

  /// Gives the inverses of the events that touched an object after a sequence, up to another, the newest first.
  /// - Returns: how many there were.
  @discardableResult
  func goBack(
    _ number: ObjectNumber, from last: UInt64 = LibraryStore.now, to sequence: UInt64, _ t: borrowing StoreReading,
    _ undo: (Event) throws -> Void
  ) throws -> Int {
    if sequence == Self.now { return 0 }
    let later = try core.projections.history(of: number, after: sequence, through: last, in: t)
    try forEachEvent(of: number, later.reversed(), t) { event in try undo(event.inverse) }
    return later.count
  }
}
