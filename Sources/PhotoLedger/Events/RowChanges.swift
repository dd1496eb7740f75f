import Foundation

// What an event does to a row, as pure functions.
//
// The same few lines serve the projections (forward, in the write transaction), a value that is pinned to an earlier
// commit, and change details (both backward): there is no second description of an event's meaning that could disagree
// with the first. Each function checks that the row holds the old value that the event names; if not, log and
// projection have parted, and the caller reports `.corrupted`.
//
// `Event.forEachChange` says which rows an event changes, for every reader of the log, forward and back, and for the
// projections, which have a switch besides for the indexes and stored orders that they keep (Projections+Apply.swift).

/// An event and a row that disagree about the value before the event.
struct RowMismatch: Error {
  var number: ObjectNumber
  var field: String

  /// The error of a reader of the log that met it.
  var corruption: LibraryError {
    LibraryError(
      .corrupted,
      "The log and the store disagree about the \(field) of object \(number); run `verify`, then `rebuild`.")
  }
}

extension AssetEdit {
  /// Applies the edit to a row.
  func apply(to row: inout AssetRow) throws(RowMismatch) {
    for change in changes {
      guard row[change.field] == change.old, row.set(change.field, change.new) else {
        throw RowMismatch(number: number, field: change.field.name)
      }
    }
  }
}

extension CollectionEdited {
  /// Applies the edit to a row.
  func apply(to row: inout CollectionRow) throws(RowMismatch) {
    for property in CollectionProperty.edited where !property.log.apply(self, &row) {
      throw RowMismatch(number: number, field: property.name.description)
    }
  }
}

extension Arranged {
  /// Applies the new memberships to the container's row.
  func apply(toContainer row: inout CollectionRow) throws(RowMismatch) {
    try replace(&row.modificationDate, modificationDate, "modificationDate", of: container)
    try replace(&row.creatorDate, creatorDate, "creatorDate", of: container)
    try shift(&row.memberCount, by: places.reduce(0) { $0 + $1.memberShift }, "memberCount", of: container)
    try CountShift(album: container, by: countShift, byCreator: creatorShift).apply(to: &row)
    guard row.assetCount >= 0, row.assetCount <= row.memberCount else {
      throw RowMismatch(number: container, field: "assetCount")
    }
  }

  /// Applies the new members of a selection to the client's row.
  func apply(toClient row: inout ClientRow) throws(RowMismatch) {
    try shift(&row.selectionCount, by: places.reduce(0) { $0 + $1.memberShift }, "selectionCount", of: container)
  }

  /// Applies the new membership of a child collection to its row.
  func apply(_ place: Place, toChild row: inout CollectionRow) throws(RowMismatch) {
    guard (row.parent == container) == (place.old != nil) else {
      throw RowMismatch(number: place.child, field: "parent")
    }
    row.parent = place.new == nil ? 0 : container
  }
}

extension CountShift {
  /// Applies the shift to the album's row.
  func apply(to row: inout CollectionRow) throws(RowMismatch) {
    row.assetCount += by
    row.creatorCount += byCreator
    // The creator sees no stacks, so it may be shown a member that the owner is not.
    guard row.assetCount >= 0, row.creatorCount >= 0, row.creatorCount <= row.memberCount else {
      throw RowMismatch(number: album, field: "assetCount")
    }
  }
}

extension ClientEdited {
  /// Applies the edit to a row.
  func apply(to row: inout ClientRow) throws(RowMismatch) {
    for (level, status) in statuses { try replace(&row[level].status, status, "status", of: number) }
    for (level, words) in usageDescriptions {
      try replace(&row[level].usageDescription, words, "usageDescription", of: number)
    }
    try replace(&row.followedAlbum, followedAlbum, "followedAlbum", of: number)
    try replace(&row.preventsLimitedAlert, preventsLimitedAlert, "preventsAutomaticLimitedAccessAlert", of: number)
  }
}

extension Arranged.Place {
  /// How many members more the container has by it.
  fileprivate var memberShift: Int { (new == nil ? 0 : 1) - (old == nil ? 0 : 1) }
}

/// Shifts a count of the row of an object, which no event makes negative.
private func shift(
  _ value: inout Int, by change: Int, _ field: String, of number: ObjectNumber
) throws(RowMismatch) {
  value += change
  guard value >= 0 else { throw RowMismatch(number: number, field: field) }
}

/// Replaces a value of the row of an object, if the event replaces it.
private func replace<Value>(
  _ value: inout Value, _ replacement: Replacement<Value>?, _ field: String, of number: ObjectNumber
) throws(RowMismatch) {
  guard let replacement else { return }
  guard value == replacement.old else { throw RowMismatch(number: number, field: field) }
  value = replacement.new
}

extension Event {
  /// Gives each row that the event changes, with the function that changes it, and each place.
  ///
  /// This is the one description of what an event does to rows. A caller that keeps the rows of many objects and one
  /// that wants a single row pass different closures; the kinds of rows that a caller leaves out are not its concern.
  /// - Parameters:
  ///   - isReverted: whether the event is reverted instead of applied.
  ///   - asset: gets the number of an asset and its change; so do `collection` and `client`. Where members are counted,
  ///     a container is given to both of these, since it can be an album, a selection or a pick, which has no row.
  ///   - details: gets the files and words of an asset before and after; nil where the asset does not exist.
  ///   - isFolder: whether a container holds collections; only then do the rows of its members name it.
  ///   - place: gets each place that is given, taken or changed, after the rows.
  /// - Complexity: O(k) for k rows and places.
  func forEachChange(
    isReverted: Bool = false,
    asset: (ObjectNumber, (inout AssetRow?) throws -> Void) throws -> Void = { _, _ in },
    details: (ObjectNumber, _ old: AssetDetails?, _ new: AssetDetails?) throws -> Void = { _, _, _ in },
    collection: (ObjectNumber, (inout CollectionRow?) throws -> Void) throws -> Void = { _, _ in },
    client: (ObjectNumber, (inout ClientRow?) throws -> Void) throws -> Void = { _, _ in },
    isFolder: (ObjectNumber) throws -> Bool = { _ in true },
    place: (Placement) throws -> Void = { _ in }
  ) throws {
    func countMembers(_ change: Int, in places: [ContainerPlace]) throws {
      for place in places { try place.count(change, collection: collection, client: client) }
    }
    func countShown(_ shifts: [CountShift]) throws {
      for shift in shifts { try collection(shift.album) { try edit(&$0, shift.album) { try shift.apply(to: &$0) } } }
    }
    // Before the inverse of the event is made, which most callers would not use: an event can list many edits, and only
    // those of rows that the caller has are inverted.
    if case .assetsEdited(let edited) = self {
      for index in edited.edits.indices {
        let one = edited.edits[isReverted ? edited.edits.count - 1 - index : index]
        try asset(one.number) { row in
          try edit(&row, one.number) { try (isReverted ? one.inverse : one).apply(to: &$0) }
        }
        guard let words = isReverted ? one.details?.inverse : one.details else { continue }
        try details(one.number, words.old, words.new)
      }
      return try countShown(isReverted ? edited.shifts.map(\.inverse) : edited.shifts)
    }
    let event = isReverted ? inverse : self
    switch event {
    case .assetCreated(let existence):
      let number = existence.row.number
      try asset(number) { $0 = existence.row }
      try details(number, nil, existence.details)
      try countMembers(1, in: existence.places)
    case .assetPurged(let existence):
      let number = existence.row.number
      try asset(number) { $0 = nil }
      try details(number, existence.details, nil)
      try countMembers(-1, in: existence.places)
    case .collectionCreated(let existence):
      try collection(existence.row.number) { $0 = existence.row }
      try collection(existence.row.parent) { try edit(&$0, existence.row.parent) { $0.memberCount += 1 } }
    case .collectionErased(let existence):
      try collection(existence.row.number) { $0 = nil }
      let parent = existence.row.parent
      try collection(parent) { try edit(&$0, parent) { try shift(&$0.memberCount, by: -1, "memberCount", of: parent) } }
    case .collectionEdited(let edited):
      try collection(edited.number) { try edit(&$0, edited.number) { try edited.apply(to: &$0) } }
    case .arranged(let arranged):
      try countShown(arranged.shifts)
      try arranged.forEachChange(collection: collection, client: client, isFolder: isFolder)
    case .clientRegistered(let row): try client(row.number) { $0 = row }
    case .clientErased(let row): try client(row.number) { $0 = nil }
    case .clientEdited(let edited):
      try client(edited.number) { try edit(&$0, edited.number) { try edited.apply(to: &$0) } }
    case .pickRecorded(let pick): try client(pick.client) { try edit(&$0, pick.client) { $0.pickCount += 1 } }
    case .pickErased(let pick):
      let number = pick.client
      try client(number) { try edit(&$0, number) { try shift(&$0.pickCount, by: -1, "pickCount", of: number) } }
    case .assetsEdited, .libraryCreated, .libraryForked, .historyShortened, .assetErased, .nothingChanged: break
    }
    try event.forEachPlacement(place)
  }
}

extension ContainerPlace {
  /// Gives the row of the container, of whichever kind it is, with a change of the number of its members.
  fileprivate func count(
    _ change: Int,
    collection: (ObjectNumber, (inout CollectionRow?) throws -> Void) throws -> Void,
    client: (ObjectNumber, (inout ClientRow?) throws -> Void) throws -> Void
  ) throws {
    try collection(container) { row in
      if row == nil { return }
      try edit(&row, container) { try shift(&$0.memberCount, by: change, "memberCount", of: container) }
    }
    try client(container) { row in
      if row == nil { return }
      try edit(&row, container) { try shift(&$0.selectionCount, by: change, "selectionCount", of: container) }
    }
  }
}

extension Arranged {
  /// Gives the rows of the container and of the members that enter or leave a folder; a shift changes no member's row.
  fileprivate func forEachChange(
    collection: (ObjectNumber, (inout CollectionRow?) throws -> Void) throws -> Void,
    client: (ObjectNumber, (inout ClientRow?) throws -> Void) throws -> Void,
    isFolder: (ObjectNumber) throws -> Bool
  ) throws {
    switch verb {
    case .granted, .withdrawn: try client(container) { try edit(&$0, container) { try apply(toClient: &$0) } }
    case .picked: break
    case .inserted, .removed, .moved, .replaced, .rekeyed:
      try collection(container) { try edit(&$0, container) { try apply(toContainer: &$0) } }
      guard try isFolder(container) else { break }
      for place in places where (place.old == nil) != (place.new == nil) {
        try collection(place.child) { try edit(&$0, place.child) { try apply(place, toChild: &$0) } }
      }
    }
  }
}

/// Changes a row, which must be there.
private func edit<Row>(_ row: inout Row?, _ number: ObjectNumber, _ body: (inout Row) throws -> Void) throws {
  guard var edited = row else { throw RowMismatch(number: number, field: "existence") }
  try body(&edited)
  row = edited
}

/// Changes a row that may come or go by it, and must be there before or after.
private func change<Row>(_ row: inout Row?, _ number: ObjectNumber, _ body: (inout Row?) throws -> Void) throws {
  let wasThere = row != nil
  try body(&row)
  // A change that counts members passes over a row that is missing: its number can be that of a container of another
  // kind. Here the kind is known.
  guard wasThere || row != nil else { throw RowMismatch(number: number, field: "existence") }
}

/// Applies one event to the row of one client, which may come or go by it.
func apply(_ event: Event, toClient number: ObjectNumber, _ row: inout ClientRow?) throws {
  try event.forEachChange(client: { if $0 == number { try change(&row, number, $1) } })
}

/// Applies one event to the row of one asset, which may come or go by it.
func apply(_ event: Event, toAsset number: ObjectNumber, _ row: inout AssetRow?) throws {
  try event.forEachChange(asset: { if $0 == number { try $1(&row) } })
}

/// Applies one event to the details of one asset.
func apply(_ event: Event, toAsset number: ObjectNumber, _ details: inout AssetDetails?) throws {
  try event.forEachChange(details: { if $0 == number { try replace(&details, of: number, from: $1, to: $2) } })
}

/// Gives an asset other details; those that an edit replaces must be there.
func replace(
  _ details: inout AssetDetails?, of number: ObjectNumber, from old: AssetDetails?, to new: AssetDetails?
) throws {
  if old != nil, new != nil, details != old {
    throw RowMismatch(number: number, field: details == nil ? "existence" : "details")
  }
  details = new
}

/// Applies one event to the row of one collection, which may come or go by it.
func apply(_ event: Event, toCollection number: ObjectNumber, _ row: inout CollectionRow?) throws {
  try event.forEachChange(collection: { if $0 == number { try change(&row, number, $1) } })
}
