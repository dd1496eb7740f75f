import EventLog
import LMDB
import PhotoLedger

// How the events of one commit become three sets of objects: what came into view, what changed there, what left it.
//
//     events ──▶ SelectionView: is the asset selected? ──▶ TrashView: is it out of the trash? ──▶ ChangeTally
//                (limited clients)                         (readers without the trash)
//
// An asset is visible if both views include it. Each event moves an asset into view, out of it, or changes it there;
// what happens to an invisible asset is not counted. The tally reduces the steps of a commit to its first and last
// state.
//
// Both views are as of the event that is read. Going forward, each event says what it changed; the state at the first
// mention of an asset is worked out back from now: from the next event that took it into or out of the selection or the
// trash, which says what it replaced.
//
// Invariant: inserted = visible after − visible before, deleted = visible before − visible after, and updated holds
// only what is visible before and after the commit. SimulationTests/Chronicle compares this with a naive model.

/// What the events of one commit did to each object.
struct ChangeTally {
  private var inserted: Set<ObjectNumber> = []
  private var updated: Set<ObjectNumber> = []
  private var deleted: Set<ObjectNumber> = []

  mutating func insert(_ number: ObjectNumber) {
    if deleted.remove(number) == nil { inserted.insert(number) } else { updated.insert(number) }
  }

  mutating func update(_ number: ObjectNumber) { updated.insert(number) }

  mutating func delete(_ number: ObjectNumber) { deleted.insert(number) }

  mutating func forgetUpdates(where isMeant: (ObjectNumber) throws -> Bool) rethrows {
    updated = try updated.filter { try !isMeant($0) }
  }

  /// Counts the effects of an event for a reader with full access.
  mutating func count(_ event: Event, _ trash: inout TrashView, _ t: borrowing StoreReading) throws {
    switch event {
    case .assetCreated(let existence): if trash.showsCreated(existence) { insert(existence.row.number) }
    case .assetPurged(let existence): if trash.showedPurged(existence) { delete(existence.row.number) }
    case .collectionEdited(let edited) where edited.isForCreatorAlone: break
    case .collectionCreated, .collectionEdited: countCollection(event)
    case .arranged(let arranged):
      if arranged.verb.isAboutAccess || arranged.verb == .rekeyed { return }
      if arranged.container != rootFolder { update(arranged.container) }
    case .assetsEdited(let edited):
      for edit in edited.edits { count(edit, try trash.passes(edit, t)) }
      for shift in edited.shifts where shift.by != 0 { update(shift.album) }
    case .libraryCreated, .collectionErased, .nothingChanged, .clientRegistered, .clientErased, .clientEdited,
      .pickRecorded, .pickErased, .historyShortened, .assetErased, .libraryForked:
      break
    }
  }

  /// Counts an edit of an asset that is visible before or after it.
  mutating func count(_ edit: AssetEdit, _ isShown: (before: Bool, after: Bool)) {
    switch isShown {
    case (true, true): update(edit.number)
    case (true, false): delete(edit.number)
    case (false, true): insert(edit.number)
    case (false, false): break
    }
  }

  mutating func countCollection(_ event: Event) {
    switch event {
    case .collectionCreated(let existence): insert(existence.row.number)
    case .collectionEdited(let edited):
      guard let replaced = edited.deletedDate else { return update(edited.number) }
      if replaced.new != nil { delete(edited.number) } else { insert(edited.number) }
    case .libraryCreated, .assetCreated, .assetPurged, .assetsEdited, .collectionErased, .arranged,
      .clientRegistered, .clientErased, .clientEdited, .pickRecorded, .pickErased, .historyShortened, .assetErased,
      .libraryForked, .nothingChanged:
      break
    }
  }

  func details(
    _ name: (ObjectNumber) throws -> ObjectNames.Name?
  ) rethrows -> [ObjectType: PersistentChange.Details] {
    var details: [ObjectType: PersistentChange.Details] = [:]
    func put(_ number: ObjectNumber, _ path: WritableKeyPath<PersistentChange.Details, Set<String>>) throws {
      guard let name = try name(number), let type = name.type else { return }
      details[type, default: .init()][keyPath: path].insert(name.spelling)
    }
    let gone = inserted.intersection(deleted)
    for number in inserted.subtracting(gone) { try put(number, \.insertedLocalIdentifiers) }
    for number in deleted.subtracting(gone) { try put(number, \.deletedLocalIdentifiers) }
    for number in updated.subtracting(inserted).subtracting(deleted) { try put(number, \.updatedLocalIdentifiers) }
    return details
  }
}

/// What a limited client sees, event by event from some state on.
struct SelectionView {
  private let client: ObjectNumber
  private let projections: Projections
  /// Whether an asset is in the selection, if that differs from now.
  private var selected: [ObjectNumber: Bool] = [:]

  /// The selection as of an event.
  init(of client: ObjectNumber, asOf sequence: UInt64, _ core: StoreCore, _ t: borrowing StoreReading) throws {
    self.client = client
    projections = core.projections
    for later in try core.projections.history(of: client, after: sequence, in: t).reversed() {
      guard let record = try core.log.event(at: later, in: t), record.content != nil else { continue }
      try Event(record).forEachPlacement { place in
        if place.container == client { selected[place.child] = place.old != nil }
      }
    }
  }

  private func isSelected(_ asset: ObjectNumber, _ t: borrowing StoreReading) throws -> Bool {
    try selected[asset] ?? (projections.key(of: asset, in: client, t) != nil)
  }

  private func isOwn(_ collection: ObjectNumber, _ t: borrowing StoreReading) throws -> Bool {
    try projections.collection(collection, in: t)?.creator == client
  }

  /// Counts what an event does to what the client sees.
  mutating func count(
    _ event: Event, in tally: inout ChangeTally, _ trash: inout TrashView, _ t: borrowing StoreReading
  ) throws {
    switch event {
    case .assetPurged(let existence) where try isSelected(existence.row.number, t):
      if trash.showedPurged(existence) { tally.delete(existence.row.number) }
      selected[existence.row.number] = false
    case .assetCreated(let existence) where existence.places.contains { $0.container == client }:
      if trash.showsCreated(existence) { tally.insert(existence.row.number) }
      selected[existence.row.number] = true
    case .assetsEdited(let edited):
      for edit in edited.edits where try !edit.isOfStackAlone && isSelected(edit.number, t) {
        tally.count(edit, try trash.passes(edit, t))
      }
      try count(edited.shifts, in: &tally, t)
    case .collectionCreated(let existence) where existence.row.creator == client: tally.countCollection(event)
    case .collectionEdited(let edited) where try !edited.isHiddenFromCreator && isOwn(edited.number, t):
      tally.countCollection(event)
    case .arranged(let arranged) where arranged.container == client:
      for place in arranged.places {
        selected[place.child] = place.new != nil
        let isShown = try trash.shows(place.child, t)
        // Changes while it is not selected are not visible here.
        if place.new == nil { trash.forget(place.child) }
        guard isShown else { continue }
        if place.new != nil { tally.insert(place.child) } else { tally.delete(place.child) }
      }
      try count(arranged.shifts, in: &tally, t)
    case .arranged(let arranged) where arranged.creatorDate != nil:
      if try isOwn(arranged.container, t) { tally.update(arranged.container) }
    case .libraryCreated, .assetCreated, .assetPurged, .collectionCreated, .collectionErased, .collectionEdited,
      .arranged, .clientRegistered, .clientErased, .clientEdited, .pickRecorded, .pickErased, .historyShortened,
      .assetErased, .libraryForked, .nothingChanged:
      break
    }
  }

  private func count(
    _ shifts: [CountShift], in tally: inout ChangeTally, _ t: borrowing StoreReading
  ) throws {
    for shift in shifts where shift.byCreator != 0 {
      if try isOwn(shift.album, t) { tally.update(shift.album) }
    }
  }
}

/// Which assets are hidden from a reader by the trash, event by event.
///
/// Where the reader is shown the trash, it hides none, and nothing is read.
struct TrashView {
  private let core: StoreCore
  private let isShown: Bool
  /// Whether an asset lies in the trash, as of the event that is read.
  private var trashed: [ObjectNumber: Bool] = [:]
  /// The event that is read.
  private var sequence: UInt64 = 1

  init(_ core: StoreCore, isShown: Bool) { (self.core, self.isShown) = (core, isShown) }

  /// Advances to an event.
  mutating func begin(_ sequence: UInt64) { self.sequence = sequence }

  /// Drops the cached state of an asset, or of all: events that are not read may change it.
  mutating func forget(_ asset: ObjectNumber) { trashed[asset] = nil }
  mutating func forget() { trashed = [:] }

  /// Whether an asset is out of the trash, as far as the reader cares.
  mutating func shows(_ asset: ObjectNumber, _ t: borrowing StoreReading) throws -> Bool {
    if isShown { return true }
    if let known = trashed[asset] { return !known }
    let found = try core.isTrashed(asset, after: sequence - 1, t)
    trashed[asset] = found
    return !found
  }

  /// Whether an asset is out of the trash before and after an edit of it.
  mutating func passes(_ edit: AssetEdit, _ t: borrowing StoreReading) throws -> (before: Bool, after: Bool) {
    guard !isShown else { return (true, true) }
    guard let change = edit.trashChange else {
      let isSeen = try shows(edit.number, t)
      return (isSeen, isSeen)
    }
    trashed[edit.number] = change.new != .null
    return (change.old == .null, change.new == .null)
  }

  /// Whether a created asset, or one that an undo brought back, is out of the trash.
  mutating func showsCreated(_ existence: AssetExistence) -> Bool {
    trashed[existence.row.number] = existence.row.isTrashed
    return isShown || !existence.row.isTrashed
  }

  /// Whether a purged asset was out of the trash before.
  mutating func showedPurged(_ existence: AssetExistence) -> Bool {
    forget(existence.row.number)
    return isShown || !existence.row.isTrashed
  }
}

extension AssetEdit {
  fileprivate var trashChange: AssetChange? { changes.first { $0.field == .trashedDate } }
}

extension StoreCore {
  /// Whether an asset lay in the trash after an event; false where it was not there.
  /// - Complexity: O(log n), and one read for each later event that touched the asset, up to the first that says so.
  fileprivate func isTrashed(
    _ asset: ObjectNumber, after sequence: UInt64, _ t: borrowing StoreReading
  ) throws -> Bool {
    for later in try projections.history(of: asset, after: sequence, in: t) {
      guard let record = try log.event(at: later, in: t), record.content != nil else { continue }
      switch try Event(record) {
      case .assetsEdited(let edited):
        guard let change = edited.edits.first(where: { $0.number == asset })?.trashChange else { continue }
        return change.old != .null
      case .assetPurged(let existence) where existence.row.number == asset: return existence.row.isTrashed
      case .assetCreated(let existence) where existence.row.number == asset: return false
      default: continue
      }
    }
    return try projections.asset(asset, in: t)?.isTrashed ?? false
  }
}
