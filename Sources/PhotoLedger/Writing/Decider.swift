import EventLog
import Foundation
import LMDB

// From requests to events.
//
// A decider handles one block inside the writer's transaction: each request is checked against the state after the
// block's earlier requests and becomes events, and each event is appended and applied at once, so that the next request
// sees it. The decision depends only on the state, the request, and the commit's date and randomness, which are passed
// in. An invalid request throws, and the whole transaction is aborted: nothing of the block remains (CB-06).
//
// The permission of the block's client is looked up first. Objects that it cannot see appear not to exist: the same
// error as for an identifier that never existed (AU-01).
//
//   Decider.swift               the block, identifiers, recording events
//   Decider+Assets.swift        creation, edits, trash
//   Decider+Merging.swift       merging duplicates
//   Decider+Erasing.swift       erasing assets from the log
//   Decider+Editing.swift       edits of content
//   Decider+Bursts.swift        the representative of a burst
//   Decider+Stacks.swift        stacks
//   Decider+Collections.swift   albums and folders themselves
//   Decider+Members.swift       their members and their order
//   ShownMembers.swift          members by position, for a block that counts many
//   Decider+Nesting.swift       how deep folders stand in each other
//   Decider+Clients.swift       clients, permissions, selections, picks
//   Decider+Following.swift     selections that follow an album
//   Decider+Covers.swift        covers of albums
//   Decider+Relocating.swift    paths of referenced files
//   Decider+Undo.swift          undoing commits

/// Handles one change block in a write transaction.
struct Decider: ~Copyable {
  let core: StoreCore
  let projections: Projections
  let log: EventLog
  /// The mark of the library, which results that are passed in must bear.
  let library: UInt64
  let resources: ResourceStore
  let date: Date
  /// The client.
  let client: String
  /// What the client may do, as the block began.
  let permission: Permission
  /// Whether assets that were in the trash before the block do not exist for it.
  private let hidesTrash: Bool
  /// What the block has moved to the trash, if it hides what was there before.
  private var trashed: Set<ObjectNumber> = []
  var appender: EventAppender
  let makeSalt: () -> Salt
  /// The identifiers of the objects that the block created.
  private(set) var created: [String] = []
  /// The contents whose files nothing needs once the block is durable.
  var orphans: [[UInt8]] = []
  /// What the block has listed to find members by position.
  var shownMembers = ShownMembers()
  /// The rekeyings of containers since an undo was planned, whose keys are of before them; nil in other blocks.
  var rekeyings: [ObjectNumber: [Rekeyings.Rekeying]]?

  init(
    core: StoreCore, resources: ResourceStore, date: Date, client: String, permission: Permission, hidesTrash: Bool,
    appender: consuming EventAppender
  ) {
    self.core = core
    self.client = client
    self.permission = permission
    self.hidesTrash = hidesTrash
    projections = core.projections
    log = core.log
    library = core.mark
    makeSalt = core.libraryEnvironment.salt
    self.resources = resources
    self.date = date
    self.appender = appender
  }

  mutating func handle(_ request: ChangeRequest, _ t: inout WriteTransaction) throws {
    try checkPermission(for: request)
    switch request {
    case .client(let name, let change): try handle(change, of: name, &t)
    case .createAsset(let creation, let identifier): try create(creation, as: identifier, &t)
    case .editAssets(let identifiers, let changes): try edit(identifiers, changes, &t)
    case .addResources(let drafts, let identifier, let changes, let types):
      try add(drafts, to: identifier, changes, retyping: types, &t)
    case .relocate(let relocation, let identifier): try relocate(relocation, of: identifier, &t)
    case .trashAssets(let identifiers): try setTrashed(date, identifiers, &t)
    case .restoreAssets(let identifiers): try setTrashed(nil, identifiers, &t)
    case .purgeAssets(let identifiers): try purge(identifiers, &t)
    case .mergeAssets(let identifiers, let keeper): try merge(identifiers, into: keeper, &t)
    case .stackAssets(let identifiers, let top): try stack(identifiers, under: top, &t)
    case .unstackAssets(let identifiers): try unstack(identifiers, &t)
    case .eraseAssets(let numbers): try erase(numbers, &t)
    case .createCollection(let kind, let title, let query, let identifier):
      try create(kind, title, query, as: identifier, &t)
    case .editContent(let identifier, let edit): try editContent(of: identifier, edit, &t)
    case .revertContent(let identifier, let choice): try revertContent(of: identifier, to: choice, &t)
    case .setRepresentative(let identifier): try setRepresentative(identifier, &t)
    case .shortenHistory(let commit): try shortenHistory(to: commit, &t)
    case .undo(let order): try undo(order, &t)
    case .setTitle(let title, let identifier): try setTitle(title, of: identifier, &t)
    case .setCover(let asset, let album): try setCover(asset, of: album, &t)
    case .deleteCollections(let identifiers): try delete(identifiers, &t)
    case .insert(let members, let container, let index): try insert(members, container, at: index, &t)
    case .remove(let members, let container): try remove(members, container, &t)
    case .removeAt(let indexes, let container): try remove(at: indexes, container, &t)
    case .replaceAt(let indexes, let container, let members): try replace(at: indexes, container, with: members, &t)
    case .moveAt(let indexes, let container, let destination): try move(at: indexes, container, to: destination, &t)
    }
  }

  // MARK: Recording

  /// The sequence of the next event: the number of an object that it creates.
  var nextNumber: ObjectNumber { appender.nextSequence }

  /// Appends an event and applies it.
  /// - Parameter rows: those of edited assets, as they were read and changed; nil: they are read again.
  mutating func record(
    _ event: Event, knowing rows: [Projections.EditedRow]? = nil, _ t: inout WriteTransaction
  ) throws {
    let (payload, details) = event.encoded()
    let sequence = try appender.append(
      type: event.type, version: event.version, payload: payload, salt: makeSalt(), in: &t)
    try projections.apply(
      event, knowing: rows, encoded: details.map { payload[$0] }, sequence: sequence, commit: appender.commit, in: &t)
    try keepShownMembers(after: event, t)
    try followAlbums(after: event, &t)
    try settleCovers(after: event, &t)
  }

  /// Ends the commit.
  consuming func finish(_ t: inout WriteTransaction) throws -> Commit {
    try appender.finish(in: &t)
  }

  mutating func noteCreated(_ identifier: LocalIdentifier, _ kind: ObjectKind) {
    created.append(identifier.spelled(as: kind))
  }

  mutating func noteTrashed(_ row: AssetRow) { if hidesTrash { trashed.insert(row.number) } }

  // MARK: Finding objects

  /// - Parameter orTrashed: whether the request may name an asset in the trash, though it does not exist for the block.
  func asset(
    _ identifier: LocalIdentifier, orTrashed: Bool = false, _ t: borrowing WriteTransaction
  ) throws -> AssetRow {
    guard let object = try visibleObject(identifier, t) else { throw unknown(identifier, "asset") }
    guard object.isAsset, let row = try projections.asset(object.number, in: t) else {
      throw LibraryError(
        .changeNotSupported, "The object \(identifier.uuidString) is not an asset; the request needs one.")
    }
    guard !hidesTrash || orTrashed || row.trashedDate == nil || trashed.contains(row.number) else {
      throw unknown(identifier, "asset")
    }
    return row
  }

  func collection(_ identifier: LocalIdentifier, _ t: borrowing WriteTransaction) throws -> CollectionRow {
    guard let object = try visibleObject(identifier, t) else { throw unknown(identifier, "album or folder") }
    guard !object.isAsset, let row = try projections.collection(object.number, in: t) else {
      throw LibraryError(
        .changeNotSupported, "The object \(identifier.uuidString) is an asset; the request needs an album or folder.")
    }
    guard row.deletedDate == nil else { throw unknown(identifier, "album or folder") }
    return row
  }

  /// The object with an identifier, if the client may know of it.
  func visibleObject(
    _ identifier: LocalIdentifier, _ t: borrowing WriteTransaction
  ) throws -> (number: ObjectNumber, isAsset: Bool)? {
    guard let object = try projections.object(identifier, in: t) else { return nil }
    if permission.access == .full { return object }
    return try projections.shows(object.number, isAsset: object.isAsset, to: permission.access, in: t) ? object : nil
  }

  func unknown(_ identifier: LocalIdentifier, _ what: String) -> LibraryError {
    LibraryError(
      .identifierNotFound,
      "The library has no \(what) with the identifier \(identifier.uuidString); it may have been deleted.")
  }

  /// The identifier must be free: a placeholder is drawn at random, or comes from outside.
  func checkIsFree(_ identifier: LocalIdentifier, _ t: borrowing WriteTransaction) throws {
    guard try projections.object(identifier, in: t) == nil else {
      throw LibraryError(
        .changeNotSupported, "The identifier \(identifier.uuidString) is in use; omit it for a new object.")
    }
  }
}
