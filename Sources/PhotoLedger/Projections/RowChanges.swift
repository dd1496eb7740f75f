import Foundation

// What an event does to a row, as pure functions.
//
// The same few lines serve the projections (forward, in the write transaction), a value that is pinned to an earlier
// commit, and change details (both backward, with `Event.inverse`): there is no second description of an event's
// meaning that could disagree with the first. Each function checks that the row holds the old value that the event
// names; if not, log and projection have parted, and the caller reports `.corrupted`.

/// An event and a row that disagree about the value before the event.
struct RowMismatch: Error {
  var number: ObjectNumber
  var field: String
}

extension AssetEdit {
  /// Carries the edit out on a row.
  func apply(to row: inout AssetRow) throws(RowMismatch) {
    for change in changes {
      guard row[change.field] == change.old, row.set(change.field, change.new) else {
        throw RowMismatch(number: number, field: change.field.name)
      }
    }
  }

  /// Carries the edit out on the details.
  func apply(to details: inout AssetDetails) throws(RowMismatch) {
    guard let replaced = self.details else { return }
    guard details == replaced.old else { throw RowMismatch(number: number, field: "details") }
    details = replaced.new
  }
}

extension CollectionEdited {
  /// Carries the edit out on a row.
  func apply(to row: inout CollectionRow) throws(RowMismatch) {
    try replace(&row.title, title, "title")
    try replace(&row.modificationDate, modificationDate, "modificationDate")
    try replace(&row.deletedDate, deletedDate, "deletedDate")
    try replace(&row.creatorDate, creatorDate, "creatorDate")
    try replace(&row.cover, cover, "cover")
    try replace(&row.creatorCover, creatorCover, "creatorCover")
  }

  private func replace<Value>(
    _ value: inout Value, _ replacement: Replacement<Value>?, _ field: String
  ) throws(RowMismatch) {
    guard let replacement else { return }
    guard value == replacement.old else { throw RowMismatch(number: number, field: field) }
    value = replacement.new
  }
}

extension Arranged {
  /// Applies the new memberships to the container's row.
  func apply(toContainer row: inout CollectionRow) throws(RowMismatch) {
    if let modificationDate {
      guard row.modificationDate == modificationDate.old else {
        throw RowMismatch(number: container, field: "modificationDate")
      }
      row.modificationDate = modificationDate.new
    }
    if let creatorDate {
      guard row.creatorDate == creatorDate.old else { throw RowMismatch(number: container, field: "creatorDate") }
      row.creatorDate = creatorDate.new
    }
    try CountShift(album: container, by: countShift, byCreator: creatorShift).apply(to: &row)
    for place in places { row.memberCount += (place.new == nil ? 0 : 1) - (place.old == nil ? 0 : 1) }
    guard row.assetCount >= 0, row.assetCount <= row.memberCount else {
      throw RowMismatch(number: container, field: "assetCount")
    }
  }

  /// Applies the new members of a selection to the client's row.
  func apply(toClient row: inout ClientRow) {
    for place in places { row.selectionCount += (place.new == nil ? 0 : 1) - (place.old == nil ? 0 : 1) }
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
  /// Carries the shift out on the album's row.
  func apply(to row: inout CollectionRow) throws(RowMismatch) {
    row.assetCount += by
    row.creatorCount += byCreator
    guard row.assetCount >= 0, row.creatorCount >= 0, row.creatorCount <= row.assetCount else {
      throw RowMismatch(number: album, field: "assetCount")
    }
  }
}

extension ClientEdited {
  /// Carries the edit out on a row.
  func apply(to row: inout ClientRow) throws(RowMismatch) {
    for (level, status) in statuses {
      guard row[level].status == status.old else { throw RowMismatch(number: number, field: "status") }
      row[level].status = status.new
    }
    for (level, words) in usageDescriptions {
      guard row[level].usageDescription == words.old else {
        throw RowMismatch(number: number, field: "usageDescription")
      }
      row[level].usageDescription = words.new
    }
    if let followedAlbum {
      guard row.followedAlbum == followedAlbum.old else { throw RowMismatch(number: number, field: "followedAlbum") }
      row.followedAlbum = followedAlbum.new
    }
    guard let preventsLimitedAlert else { return }
    guard row.preventsLimitedAlert == preventsLimitedAlert.old else {
      throw RowMismatch(number: number, field: "preventsAutomaticLimitedAccessAlert")
    }
    row.preventsLimitedAlert = preventsLimitedAlert.new
  }
}

/// Carries one event out on the row of one client, which may come or go by it.
func apply(_ event: Event, toClient number: ObjectNumber, _ row: inout ClientRow?) throws(RowMismatch) {
  func edit(_ body: (inout ClientRow) throws(RowMismatch) -> Void) throws(RowMismatch) {
    guard var edited = row else { throw RowMismatch(number: number, field: "existence") }
    try body(&edited)
    row = edited
  }
  switch event {
  case .clientRegistered(let registered) where registered.number == number: row = registered
  case .clientErased(let erased) where erased.number == number: row = nil
  case .clientEdited(let edited) where edited.number == number:
    try edit { (row) throws(RowMismatch) in try edited.apply(to: &row) }
  case .pickRecorded(let pick) where pick.client == number:
    try edit { (row) throws(RowMismatch) in row.pickCount += 1 }
  case .pickErased(let pick) where pick.client == number:
    try edit { (row) throws(RowMismatch) in row.pickCount -= 1 }
  case .arranged(let arranged) where arranged.container == number:
    try edit { (row) throws(RowMismatch) in arranged.apply(toClient: &row) }
  case .assetPurged(let existence) where existence.places.contains { $0.container == number }:
    try edit { (row) throws(RowMismatch) in row.selectionCount -= 1 }
  case .assetCreated(let existence) where existence.places.contains { $0.container == number }:
    try edit { (row) throws(RowMismatch) in row.selectionCount += 1 }
  default: break
  }
}

/// Carries one event out on the row of one asset, which may come or go by it.
func apply(_ event: Event, toAsset number: ObjectNumber, _ row: inout AssetRow?) throws(RowMismatch) {
  switch event {
  case .assetCreated(let existence) where existence.row.number == number: row = existence.row
  case .assetPurged(let existence) where existence.row.number == number: row = nil
  case .assetsEdited(let edited):
    for edit in edited.edits where edit.number == number {
      guard var edited = row else { throw RowMismatch(number: number, field: "existence") }
      try edit.apply(to: &edited)
      row = edited
    }
  default: break
  }
}

/// Carries one event out on the details of one asset.
func apply(_ event: Event, toAsset number: ObjectNumber, _ details: inout AssetDetails?) throws(RowMismatch) {
  switch event {
  case .assetCreated(let existence) where existence.row.number == number: details = existence.details
  case .assetPurged(let existence) where existence.row.number == number: details = nil
  case .assetsEdited(let edited):
    for edit in edited.edits where edit.number == number && edit.changesDetails {
      guard var edited = details else { throw RowMismatch(number: number, field: "existence") }
      try edit.apply(to: &edited)
      details = edited
    }
  default: break
  }
}

/// Carries one event out on the row of one collection, which may come or go by it.
func apply(_ event: Event, toCollection number: ObjectNumber, _ row: inout CollectionRow?) throws(RowMismatch) {
  func edit(_ body: (inout CollectionRow) throws(RowMismatch) -> Void) throws(RowMismatch) {
    guard var edited = row else { throw RowMismatch(number: number, field: "existence") }
    try body(&edited)
    row = edited
  }
  switch event {
  case .collectionCreated(let existence) where existence.row.number == number: row = existence.row
  case .collectionErased(let existence) where existence.row.number == number: row = nil
  case .collectionCreated(let existence) where existence.row.parent == number:
    try edit { (row) throws(RowMismatch) in row.memberCount += 1 }
  case .collectionErased(let existence) where existence.row.parent == number:
    try edit { (row) throws(RowMismatch) in row.memberCount -= 1 }
  case .assetPurged(let existence) where existence.places.contains { $0.container == number }:
    try edit { (row) throws(RowMismatch) in row.memberCount -= 1 }
  case .assetCreated(let existence) where existence.places.contains { $0.container == number }:
    try edit { (row) throws(RowMismatch) in row.memberCount += 1 }
  case .collectionEdited(let edited) where edited.number == number:
    try edit { (row) throws(RowMismatch) in try edited.apply(to: &row) }
  case .assetsEdited(let edited):
    for shift in edited.shifts where shift.album == number {
      try edit { (row) throws(RowMismatch) in try shift.apply(to: &row) }
    }
  case .arranged(let arranged):
    for shift in arranged.shifts where shift.album == number {
      try edit { (row) throws(RowMismatch) in try shift.apply(to: &row) }
    }
    if arranged.container == number {
      try edit { (row) throws(RowMismatch) in try arranged.apply(toContainer: &row) }
    }
    if let place = arranged.places.first(where: { $0.child == number }) {
      try edit { (row) throws(RowMismatch) in try arranged.apply(place, toChild: &row) }
    }
  default: break
  }
}
