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
        throw RowMismatch(number: number, field: "\(change.field)")
      }
    }
  }

  /// Carries the edit out on the details.
  func apply(to details: inout AssetDetails) throws(RowMismatch) {
    guard let resources else { return }
    guard details.resources == resources.old else { throw RowMismatch(number: number, field: "resources") }
    details.resources = resources.new
  }

  /// Whether the edit concerns the files of the asset.
  var changesDetails: Bool { resources != nil }
}

extension CollectionEdited {
  /// Carries the edit out on a row.
  func apply(to row: inout CollectionRow) throws(RowMismatch) {
    try replace(&row.title, title, "title")
    try replace(&row.modificationDate, modificationDate, "modificationDate")
    try replace(&row.deletedDate, deletedDate, "deletedDate")
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
  /// Carries out on the container's row what the new places mean for it.
  func apply(toContainer row: inout CollectionRow) throws(RowMismatch) {
    guard row.modificationDate == modificationDate.old else {
      throw RowMismatch(number: container, field: "modificationDate")
    }
    row.modificationDate = modificationDate.new
    row.assetCount += countShift
    for place in places { row.memberCount += (place.new == nil ? 0 : 1) - (place.old == nil ? 0 : 1) }
    guard row.assetCount >= 0, row.assetCount <= row.memberCount else {
      throw RowMismatch(number: container, field: "assetCount")
    }
  }

  /// Carries out on a child collection's row what its new place means for it.
  func apply(_ place: Place, toChild row: inout CollectionRow) throws(RowMismatch) {
    guard (row.parent == container) == (place.old != nil) else {
      throw RowMismatch(number: place.child, field: "parent")
    }
    row.parent = place.new == nil ? 0 : container
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
      try edit { (row) throws(RowMismatch) in row.assetCount += shift.by }
    }
  case .arranged(let arranged):
    if arranged.container == number {
      try edit { (row) throws(RowMismatch) in try arranged.apply(toContainer: &row) }
    }
    if let place = arranged.places.first(where: { $0.child == number }) {
      try edit { (row) throws(RowMismatch) in try arranged.apply(place, toChild: &row) }
    }
  default: break
  }
}

// MARK: - Fields

extension AssetRow {
  /// The value of a field, as an event holds it.
  package subscript(field: AssetField) -> FieldValue {
    switch field {
    case .isFavorite: .bool(flags.contains(.favorite))
    case .isHidden: .bool(flags.contains(.hidden))
    case .creationDate: .date(creationDate)
    case .localCreationDate: .date(localCreationDate)
    case .timeZoneOffset: timeZoneOffset.map { .integer(Int64($0)) } ?? .null
    case .location: location.map { .place($0) } ?? .null
    case .modificationDate: .date(modificationDate)
    case .trashedDate: .date(trashedDate)
    case .mediaSubtypes: .integer(Int64(mediaSubtypes.rawValue))
    case .playbackStyle: .integer(Int64(playbackStyle.rawValue))
    case .duration: .double(duration)
    case .pixelWidth: .integer(Int64(pixelWidth))
    case .pixelHeight: .integer(Int64(pixelHeight))
    case .mediaType: .integer(Int64(mediaType.rawValue))
    }
  }

  /// Sets a field to a value that an event holds; false if the value is of the wrong kind or out of range.
  mutating func set(_ field: AssetField, _ value: FieldValue) -> Bool {
    switch (field, value) {
    case (.isFavorite, .bool(let on)): if on { flags.insert(.favorite) } else { flags.remove(.favorite) }
    case (.isHidden, .bool(let on)): if on { flags.insert(.hidden) } else { flags.remove(.hidden) }
    case (.creationDate, .double(let seconds)): creationDate = Date(timeIntervalSinceReferenceDate: seconds)
    case (.creationDate, .null): creationDate = nil
    case (.localCreationDate, .double(let seconds)): localCreationDate = Date(timeIntervalSinceReferenceDate: seconds)
    case (.localCreationDate, .null): localCreationDate = nil
    case (.timeZoneOffset, .integer(let seconds)): timeZoneOffset = Int32(truncatingIfNeeded: seconds)
    case (.timeZoneOffset, .null): timeZoneOffset = nil
    case (.location, .place(let place)): location = place
    case (.location, .null): location = nil
    case (.modificationDate, .double(let seconds)): modificationDate = Date(timeIntervalSinceReferenceDate: seconds)
    case (.modificationDate, .null): modificationDate = nil
    case (.trashedDate, .double(let seconds)): trashedDate = Date(timeIntervalSinceReferenceDate: seconds)
    case (.trashedDate, .null): trashedDate = nil
    case (.mediaSubtypes, .integer(let bits)): mediaSubtypes = MediaSubtypes(rawValue: UInt32(truncatingIfNeeded: bits))
    case (.playbackStyle, .integer(let style)):
      guard let style = PlaybackStyle(rawValue: Int(style)) else { return false }
      playbackStyle = style
    case (.duration, .double(let seconds)): duration = seconds
    case (.pixelWidth, .integer(let pixels)): pixelWidth = UInt32(truncatingIfNeeded: pixels)
    case (.pixelHeight, .integer(let pixels)): pixelHeight = UInt32(truncatingIfNeeded: pixels)
    case (.mediaType, .integer(let type)):
      guard let type = MediaType(rawValue: Int(type)) else { return false }
      mediaType = type
    default: return false
    }
    return true
  }
}
