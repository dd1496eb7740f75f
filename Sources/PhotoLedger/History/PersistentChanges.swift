import EventLog
import Foundation
import LMDB

// What changed since a token: identifiers by kind of object and of change, commit by commit.
//
// Change details follow a result that somebody holds; this follows nothing. A backup client that was away for a month
// reads it from the log, which never forgets, so a token does not expire until the history itself is compacted
// (PH-06): the owner may shorten what is told, the log itself keeps it. The sets come from the events alone: no row is
// read, and the cost is that of the events passed.
//
// A client that does not see everything is told of its sightings (Sightings.swift), and of each what it saw: a grant is
// an insertion and a withdrawal a deletion, and what happens outside its selection does not happen. Whether an asset
// was in the selection at a commit long ago is worked out like every earlier state: from the selection of now, with the
// grants since taken back. A commit that changed how the client sees the library cannot be told object by object
// (PH-07): all that it sees came or went, so it reads all anew.
//
// Within one commit the three sets of a kind are disjoint (PH-03): what came and went leaves no trace, what came and
// was changed is inserted, what was changed and went is deleted. Trash and hiding are updates (PH-04); a purge is the
// deletion (PH-05, our decision). A membership change updates the album, whose count of assets it changes (CD-22).

/// The kinds of object that history tells apart (PHObjectType, photokit a.2).
public enum ObjectType: Int, Sendable, Hashable, CaseIterable, Codable {
  /// An asset.
  case asset = 1
  /// An album.
  case assetCollection = 2
  /// A folder.
  case collectionList = 3
}

/// One commit of the history (PHPersistentChange).
public struct PersistentChange: Sendable, Hashable {
  /// The identifiers of one kind of object that a commit concerned; the sets are disjoint (PH-03).
  public struct Details: Sendable, Hashable {
    /// Objects that came into being, or into view.
    public internal(set) var insertedLocalIdentifiers: Set<String> = []
    /// Objects that a property of which was changed; trashed, restored, hidden and shown ones among them (PH-04).
    public internal(set) var updatedLocalIdentifiers: Set<String> = []
    /// Objects that are gone: purged assets, deleted albums and folders (PH-05), and what was withdrawn from view.
    public internal(set) var deletedLocalIdentifiers: Set<String> = []

    /// Whether the commit concerned no object of the kind.
    public var isEmpty: Bool {
      insertedLocalIdentifiers.isEmpty && updatedLocalIdentifiers.isEmpty && deletedLocalIdentifiers.isEmpty
    }
  }

  /// The state after this commit: reading since it goes on with the next one (PH-02, PH-10).
  public let changeToken: Token
  /// Who, when and why.
  public let commit: CommitSummary
  /// Nil where what the commit did cannot be told object by object (PH-07).
  private let details: [ObjectType: Details]?

  init(changeToken: Token, commit: CommitSummary, details: [ObjectType: Details]?) {
    self.changeToken = changeToken
    self.commit = commit
    self.details = details
  }

  /// What the commit did to the objects of a kind.
  /// - Throws: ``LibraryError`` `.persistentChangeDetailsUnavailable` if some of it was erased from the log, or if the
  ///   commit changed how the client sees the library (PH-07).
  public func changeDetails(for type: ObjectType) throws -> Details {
    guard let details else {
      throw LibraryError(
        .persistentChangeDetailsUnavailable,
        """
        What the commit of \(changeToken) did cannot be told in detail, since some of it was erased or the client's \
        access was changed; read all anew.
        """)
    }
    return details[type] ?? Details()
  }
}

extension PhotoLibrary {
  /// Every commit after the state of a token, oldest first (PHPhotoLibrary.fetchPersistentChanges(since:), PH-02).
  ///
  /// A client that does not see everything is told of the commits that touched what it sees.
  /// - Parameters:
  ///   - token: a state of this library, from `currentToken` or from an earlier change.
  ///   - limit: the most commits that are returned; go on with the last one's token.
  /// - Throws: ``LibraryError``: `.invalidToken` for a token of another library or client, `.tokenExpired` if the
  ///   history that is told begins later (PH-06), `.accessUserDenied` for a client that may not read (AU-10),
  ///   `.storage`.
  /// - Complexity: O(k log n) for k objects that the commits concerned, and for the grants since the token.
  public func fetchPersistentChanges(since token: Token, limit: Int = 1000) throws -> [PersistentChange] {
    precondition(limit > 0, "A limit of persistent changes is at least 1.")
    try askIfNeeded()
    return try store.reading { t in
      let start = try store.commit(of: token, for: client, at: moment, t)
      let permission = try permission(t)
      try checkIsTold(start, token, permission, t)
      switch permission.access {
      case .none: throw permission.refusal(client, "read the history")
      case .full: return try changes(after: start, limit, asSeenBy: permission.client, t)
      case .limited(let number): return try changes(after: start, limit, seenBy: number, t)
      }
    }
  }

  /// Lets the history that is told begin with the state of a token; older tokens are expired from then on (PH-06).
  ///
  /// The log keeps everything, and so do results that are held.
  /// - Throws: ``LibraryError`` `.accessUserDenied` for any client but the owner, `.invalidToken`; what the store
  ///   throws.
  public func shortenHistory(to token: Token) throws {
    try checkIsNow("shorten the history")
    try checkIsOwner("shorten the history")
    let commit = try store.reading { t in try store.commit(of: token, for: client, t) }
    _ = try store.perform([.shortenHistory(to: commit + 1)], cause: "history shortened")
  }

  private func checkIsTold(
    _ commit: UInt64, _ token: Token, _ permission: Permission, _ t: borrowing StoreReading
  ) throws {
    let first = try store.firstToldCommit(at: moment, t)
    guard commit + 1 < first else { return }
    // Commits that the client never saw are no loss to it.
    if permission.access != .full, let number = permission.client {
      let lost = try store.core.projections.sightings(of: number, after: commit, through: first - 1, most: 1, in: t)
      if lost.isEmpty { return }
    }
    throw LibraryError(
      .tokenExpired, "The history that is told begins after the state of \(token); read the library anew.")
  }

  /// The events of a commit, if what they did to a client's view can be told object by object.
  private func tellableEvents(
    of commit: Commit, to client: ObjectNumber?, _ t: borrowing StoreReading
  ) throws -> [Event]? {
    guard let events = try store.core.eventsUnlessErased(commit.sequences, t)?.map(\.event) else { return nil }
    let hasNewAccess = events.contains { event in
      guard case .clientEdited(let edited) = event, edited.number == client else { return false }
      return edited.statuses[.readWrite] != nil
    }
    return hasNewAccess ? nil : events
  }

  /// Whether an object is a collection that was deleted before a commit: what it holds goes on changing unseen.
  private func wasDeleted(_ number: ObjectNumber, before commit: Commit, _ t: borrowing StoreReading) throws -> Bool {
    guard try store.collectionRow(number, at: sequence, t)?.deletedDate != nil else { return false }
    return try store.collectionRow(number, at: commit.firstSequence - 1, t)?.deletedDate != nil
  }

  private func changes(
    after start: UInt64, _ limit: Int, asSeenBy number: ObjectNumber?, _ t: borrowing StoreReading
  ) throws -> [PersistentChange] {
    let core = store.core
    var names = ObjectNames(of: store)
    let most = min(UInt64(limit), try store.head(at: moment, t).commit - start)
    return try core.log.commits(after: start, limit: Int(most), in: t).map { commit in
      let details = try tellableEvents(of: commit, to: number, t).map { events in
        var tally = ChangeTally()
        for event in events { tally.count(event) }
        try tally.forgetUpdates { try wasDeleted($0, before: commit, t) }
        return try tally.details { try names.name(of: $0, t) }
      }
      return PersistentChange(
        changeToken: core.token(commit.number), commit: CommitSummary(commit), details: details)
    }
  }

  private func changes(
    after start: UInt64, _ limit: Int, seenBy number: ObjectNumber, _ t: borrowing StoreReading
  ) throws -> [PersistentChange] {
    let core = store.core
    let head = try store.head(at: moment, t).commit
    var names = ObjectNames(of: store)
    var view = try SelectionView(of: number, asOf: start == 0 ? 0 : store.sequence(ofCommit: start, t), core, t)
    return try core.projections.sightings(of: number, after: start, through: head, most: limit, in: t).map { seen in
      guard let commit = try core.log.commit(seen.commit, in: t) else {
        throw LibraryError(.corrupted, "The log has no row for commit \(seen.commit); run `verify`.")
      }
      let details = try tellableEvents(of: commit, to: number, t).map { events in
        var tally = ChangeTally()
        for event in events { try view.count(event, in: &tally, t) }
        try tally.forgetUpdates { try wasDeleted($0, before: commit, t) }
        return try tally.details { try names.name(of: $0, t) }
      }
      // Grants that came while the client was not limited are no sightings of its own.
      if details == nil { view = try SelectionView(of: number, asOf: commit.lastSequence, core, t) }
      return PersistentChange(
        changeToken: Token(library: core.mark, view: Token.view(of: client), position: seen.ordinal),
        commit: CommitSummary(commit).redacted(for: client, as: seen.ordinal), details: details)
    }
  }
}

/// What the events of one commit did to each object.
private struct ChangeTally {
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

  mutating func count(_ event: Event) {
    switch event {
    case .assetCreated(let existence): insert(existence.row.number)
    case .assetPurged(let existence): delete(existence.row.number)
    case .collectionCreated, .collectionEdited: countCollection(event)
    case .arranged(let arranged):
      if arranged.verb.isAboutAccess || arranged.verb == .spread { return }
      if arranged.container != rootFolder { update(arranged.container) }
    case .assetsEdited(let edited):
      for edit in edited.edits { update(edit.number) }
      for shift in edited.shifts where shift.by != 0 { update(shift.album) }
    case .libraryCreated, .collectionErased, .nothingChanged, .clientRegistered, .clientErased, .clientEdited,
      .pickRecorded, .pickErased, .historyShortened, .assetErased, .libraryForked:
      break
    }
  }

  mutating func countCollection(_ event: Event) {
    switch event {
    case .collectionCreated(let existence): insert(existence.row.number)
    case .collectionEdited(let edited):
      guard let replaced = edited.deletedDate else { return update(edited.number) }
      if replaced.new != nil { delete(edited.number) } else { insert(edited.number) }
    default: break
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
private struct SelectionView {
  private let client: ObjectNumber
  private let projections: Projections
  /// Whether an asset is in the selection, where that is not as it is now.
  private var selected: [ObjectNumber: Bool] = [:]

  /// The selection as it was after an event.
  init(of client: ObjectNumber, asOf sequence: UInt64, _ core: StoreCore, _ t: borrowing StoreReading) throws {
    self.client = client
    projections = core.projections
    for later in try core.projections.history(of: client, after: sequence, in: t).reversed() {
      guard let record = try core.log.event(at: later, in: t), record.content != nil else { continue }
      switch try Event(record) {
      case .arranged(let arranged) where arranged.container == client:
        for place in arranged.places { selected[place.child] = place.old != nil }
      case .assetPurged(let existence): selected[existence.row.number] = true
      case .assetCreated(let existence): selected[existence.row.number] = false
      default: break
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
  mutating func count(_ event: Event, in tally: inout ChangeTally, _ t: borrowing StoreReading) throws {
    switch event {
    case .assetPurged(let existence) where try isSelected(existence.row.number, t):
      tally.delete(existence.row.number)
      selected[existence.row.number] = false
    case .assetCreated(let existence) where existence.places.contains { $0.container == client }:
      tally.insert(existence.row.number)
      selected[existence.row.number] = true
    case .assetsEdited(let edited):
      for edit in edited.edits where try isSelected(edit.number, t) { tally.update(edit.number) }
      try count(edited.shifts, in: &tally, t)
    case .collectionCreated(let existence) where existence.row.creator == client: tally.countCollection(event)
    case .collectionEdited(let edited) where try isOwn(edited.number, t): tally.countCollection(event)
    case .arranged(let arranged) where arranged.container == client:
      for place in arranged.places {
        selected[place.child] = place.new != nil
        if place.new != nil { tally.insert(place.child) } else { tally.delete(place.child) }
      }
      try count(arranged.shifts, in: &tally, t)
    case .arranged(let arranged) where arranged.creatorDate != nil:
      if try isOwn(arranged.container, t) { tally.update(arranged.container) }
    default: break
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
