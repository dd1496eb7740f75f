package import EventLog
package import Foundation
import LMDB
import StoreMigrations
import Synchronization

// The engine behind a library: one per opened directory, shared by every client's view of it.
//
//   LIBRARY/
//     store/data.mdb, lock.mdb    LMDB: the log and the projections
//     store/changes               the named pipe that wakes other processes
//     resources/                  the bytes of photos and videos, by the SHA-256 of their content
//     imports/                    what became of each file of each import, one text file a run
//     uploads/                    the upload jobs of clients (`UploadJobStore.swift`)
//
// StoreCore holds what both threads need (the writer, and the observation that follows the log); LibraryStore adds the
// threads themselves and reading as of a commit.

/// A transaction that reads a store.
typealias StoreReading = ReadTransaction

/// The parts of a store that the writer and the readers share.
struct StoreCore: Sendable {
  let environment: LMDB.Environment
  let log: EventLog
  let projections: Projections
  let surroundings: LibraryEnvironment
  let identifier: LocalIdentifier
  /// What shortens the way back to an earlier moment; nil for a store that is no library's own.
  var snapshots: SnapshotStore?
  /// Where the library began to be another one than that which it was forked from, oldest first; none for most.
  var forks: [ForkPoint] = []

  /// What results of this library, and tokens of its views, bear, so that those of another are not taken for its own.
  var mark: UInt64 { mark(of: .max) }

  /// What the token of a commit bears: that of the library in which the commit was made.
  func mark(of commit: UInt64) -> UInt64 {
    forks.reduce(identifier.high ^ identifier.low) { mark, fork in commit > fork.commit ? mark ^ fork.mark : mark }
  }

  func token(_ commit: UInt64) -> Token { Token(library: mark(of: commit), commit: commit) }

  /// The state of a commit as a client may name it: by the commit if it sees everything, by its sighting if not.
  /// - Complexity: O(log² n).
  func token<T: TransactionReading & ~Copyable>(_ commit: UInt64, for client: String, _ t: borrowing T) throws -> Token
  {
    try token(commit, for: client, by: try projections.permission(of: client, in: t), t)
  }

  /// The same by a permission that the client had.
  func token<T: TransactionReading & ~Copyable>(
    _ commit: UInt64, for client: String, by permission: Permission, _ t: borrowing T
  ) throws -> Token {
    guard permission.access != .full else { return token(commit) }
    let ordinal = try permission.client.map { try projections.sightingCount(of: $0, through: commit, in: t) } ?? 0
    return Token(library: mark, view: Token.view(of: client), position: ordinal)
  }

  /// Commits as a client with a permission may know them.
  func commits<T: TransactionReading & ~Copyable>(
    _ commits: [CommitSummary], asSeenBy client: String, _ permission: Permission, _ t: borrowing T
  ) throws -> [CommitSummary] {
    guard permission.access != .full else { return commits }
    guard let number = permission.client, let first = commits.first, let last = commits.last else { return [] }
    let seen = try projections.sightings(of: number, after: first.number - 1, through: last.number, in: t)
    let ordinals = Dictionary(seen.map { ($0.commit, $0.ordinal) }) { first, _ in first }
    return commits.compactMap { commit in ordinals[commit.number].map { commit.redacted(for: client, as: $0) } }
  }

  /// The identifiers of the objects that a commit created, in its order.
  func created<T: TransactionReading & ~Copyable>(by commit: Commit, _ t: borrowing T) throws -> [String] {
    var created: [String] = []
    try log.read(after: commit.firstSequence - 1, limit: Int(commit.eventCount), in: t) { record in
      switch try projections.event(record, in: t) {
      case .assetCreated(let existence) where !existence.isByUndo:
        created.append(existence.row.identifier.spelled(as: .asset))
      case .collectionCreated(let existence):
        created.append(existence.row.identifier.spelled(as: existence.row.objectKind))
      default: break
      }
      return .proceed
    }
    return created
  }
}

extension StoreCore {
  /// The receipt of a commit, for whoever asks again under its key.
  func receipt<T: TransactionReading & ~Copyable>(ofRepeated commit: Commit, _ t: borrowing T) throws -> CommitReceipt {
    CommitReceipt(
      token: try token(commit.number, for: commit.information.client, t), created: try created(by: commit, t),
      isRepetition: true)
  }
}

extension Event {
  /// Reads the event of a record; where its payload was erased, what stands for it.
  package init(_ record: borrowing StoredEvent) throws {
    guard let payload = record.content else {
      throw LibraryError(
        .corrupted,
        """
        The payload of event \(record.sequence) was erased, and nothing that stands for it is found; \
        run `verify`, then `rebuild`.
        """)
    }
    try self.init(type: record.type, version: record.contentVersion, sequence: record.sequence, payload: payload)
  }
}

extension CommitSummary {
  package init(_ commit: Commit) {
    let information = commit.information
    self.init(
      number: commit.number, date: Date(microseconds: information.time), client: information.client,
      process: information.process, cause: information.cause.isEmpty ? nil : information.cause, key: information.key,
      causation: information.causation,
      firstSequence: commit.firstSequence, eventCount: Int(commit.eventCount))
  }
}

/// An opened library directory.
package final class LibraryStore: Sendable {
  package let url: URL
  /// The directory itself.
  package var folder: LibraryFolder { resources.folder }
  let core: StoreCore
  /// The Merkle tree over the log, for proofs.
  let tree: LogTree
  package let resources: ResourceStore
  let signal: ChangeSignal
  let observation: Observation
  let availability: Availability
  private let writer: Writer
  /// Where completion handlers are called: one at a time, and never on the writer's thread.
  let completions = DispatchQueue(label: "photoledger.completions")
  /// Who is asked when a client has to be decided about.
  let prompting = Prompting()
  /// The picking sessions that are open.
  let picking = PickingSessions()
  /// What makes other representations of picked items (PK-07).
  let converter = Mutex<(any RepresentationConverter)?>(nil)
  /// What tells what the bytes of new files are (CB-06).
  let probing = MediaProbing()
  private let (pastAssets, pastDetails) = (PastStates<AssetRow>(), PastStates<AssetDetails>())
  private let pastCollections = PastStates<CollectionRow>()
  #if DEBUG
    /// How many events were gone over to come to earlier states of objects; for tests.
    let eventsCrossed = Atomic(0)
  #endif
  /// The upload jobs of clients, and who works on them.
  let uploads: Uploads
  /// Who may refuse a block before it is carried out (CB-12).
  let confirmation = Mutex<(any ChangeConfirmation)?>(nil)

  init(url: URL, core: StoreCore, resources: ResourceStore, signal: ChangeSignal) {
    self.url = url
    self.core = core
    tree = LogTree(of: core.log)
    self.resources = resources
    self.signal = signal
    uploads = Uploads(library: url)
    let availability = Availability()
    self.availability = availability
    observation = Observation(core: core, signal: signal, availability: availability)
    writer = Writer(
      core: core, resources: resources,
      aftermath: Writer.Aftermath(
        publish: { signal.notify() }, discard: { core.discard($0, from: resources) },
        giveUp: { availability.end($0) }))
  }

  deinit { close() }

  /// Carries out what is queued, ends the threads and gives the observers their end.
  package func close() {
    picking.cancelAll()
    uploads.close()
    writer.close()
    observation.close()
    availability.end(LibraryError(.closed, "The library was closed; open it again."))
  }

  /// The clock, chance and the name of the process that the library was opened with.
  package var surroundings: LibraryEnvironment { core.surroundings }

  func token(_ commit: UInt64) -> Token { core.token(commit) }

  /// The commit that a client's token names.
  ///
  /// A token of a sighting stays good when the client comes to see everything. One of a commit is good for a client
  /// that does not see everything only up to the last commit that it saw while it did, so that nobody finds out how
  /// many there are by trying.
  /// - Throws: ``LibraryError`` `.invalidToken` for a token of another library or client, or of a state that is not
  ///   there yet; `.accessUserDenied` or `.accessRestricted` for a client that sees nothing.
  /// - Parameter moment: where it is looked from: by the permission of then, and to no later state; nil: now.
  func commit(
    of token: Token, for client: String, at moment: Moment? = nil, _ t: borrowing StoreReading
  ) throws -> UInt64 {
    guard token.library == (token.view == nil ? core.mark(of: token.position) : core.mark) else {
      throw LibraryError(.invalidToken, "The token \(token) belongs to another library.")
    }
    let permission = try permission(of: client, at: moment, t)
    if permission.access == .none { throw permission.refusal(client, "read the history") }
    return try commit(of: token, for: client, permission, at: moment, t)
  }

  /// The same for a client that need not be allowed to read: what it was given by picking is named by a token, too.
  func commit(
    of token: Token, for client: String, _ permission: Permission, at moment: Moment? = nil,
    _ t: borrowing StoreReading
  ) throws -> UInt64 {
    let place = moment == nil ? "this library has not reached" : "was not there yet at the moment that is looked at"
    let unreached = LibraryError(.invalidToken, "The token \(token) names a state that \(place).")
    guard let view = token.view else {
      let limit =
        permission.access == .full
        ? try head(at: moment, t).commit : try lastFullCommit(permission, through: moment?.sequence ?? Self.now, t)
      guard token.position <= limit else { throw unreached }
      return token.position
    }
    guard view == Token.view(of: client), let number = permission.client else {
      throw LibraryError(.invalidToken, "The token \(token) belongs to another client.")
    }
    if token.position == 0 { return 0 }
    guard let commit = try core.projections.commit(ofSighting: token.position, of: number, in: t),
      try commit <= head(at: moment, t).commit
    else { throw unreached }
    return commit
  }

  /// The last commit at which a client saw everything, up to an event; 0 if it never did.
  private func lastFullCommit(
    _ permission: Permission, through last: UInt64, _ t: borrowing StoreReading
  ) throws -> UInt64 {
    guard let client = permission.client else { return 0 }
    for sequence in try core.projections.history(of: client, in: t).reversed() where sequence <= last {
      guard let record = try core.log.event(at: sequence, in: t) else { continue }
      if record.type == "client.edited", case .clientEdited(let edited) = try Event(record),
        edited.statuses[.readWrite]?.old == .authorized
      {
        return record.commit - 1
      }
    }
    return 0
  }

  func reading<R>(_ body: (borrowing StoreReading) throws -> R) throws -> R {
    do {
      return try core.environment.read(body)
    } catch {
      let reported = LibraryError(error)
      if error is LMDBError, reported.code == .corrupted { availability.end(reported) }
      throw reported
    }
  }

  /// Queues a block whose resources have been stored.
  func enqueue(_ job: Writer.Job) { writer.enqueue(job) }

  func vanished(_ number: ObjectNumber) -> LibraryError {
    LibraryError(.corrupted, "A result names object \(number), which the store does not hold; run `verify`.")
  }

  // MARK: As of an event

  /// Stands for the last event, whichever it is: nothing has to be taken back.
  static let now = UInt64.max

  /// The row of an asset as it was after an event.
  func assetRow(
    _ number: ObjectNumber, at sequence: UInt64, _ t: borrowing StoreReading
  ) throws -> AssetRow? {
    guard number.isReached(by: sequence) else { return nil }
    return try past(pastAssets, of: number, at: sequence, t) {
      var row = try core.projections.asset(number, in: t)
      let count = try goBack(number, to: sequence, t) { event in try apply(event, toAsset: number, &row) }
      return (row, count)
    } apply: { event, row in
      try PhotoLedger.apply(event, toAsset: number, &row)
    }
  }

  /// The details of an asset as they were after an event.
  func assetDetails(
    _ number: ObjectNumber, at sequence: UInt64, _ t: borrowing StoreReading
  ) throws -> AssetDetails? {
    guard number.isReached(by: sequence) else { return nil }
    return try past(pastDetails, of: number, at: sequence, t) {
      var details = try core.projections.details(number, in: t)
      let count = try goBack(number, to: sequence, t) { event in try apply(event, toAsset: number, &details) }
      return (details, count)
    } apply: { event, details in
      try PhotoLedger.apply(event, toAsset: number, &details)
    }
  }

  /// The row of a collection as it was after an event.
  func collectionRow(
    _ number: ObjectNumber, at sequence: UInt64, _ t: borrowing StoreReading
  ) throws -> CollectionRow? {
    guard number.isReached(by: sequence) else { return nil }
    // The number may be an asset's, whose history has nothing to say here.
    guard try sequence == Self.now || core.someRow(ofCollection: number, t) != nil else { return nil }
    return try past(pastCollections, of: number, at: sequence, t) {
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

  /// The row of a client as it was after an event.
  func clientRow(
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

  /// Commits as a client may know them: for one that does not see everything, those that touched its view, and of
  /// others' commits no more than when they were.
  func commits(_ commits: [CommitSummary], asSeenBy client: String) throws -> [CommitSummary] {
    if client == PhotoLibrary.owner { return commits }
    return try reading { t in
      try core.commits(commits, asSeenBy: client, try core.projections.permission(of: client, in: t), t)
    }
  }

  /// The place of a child in a container as it was after an event.
  func place(
    of child: ObjectNumber, in container: ObjectNumber, at sequence: UInt64, _ t: borrowing StoreReading
  ) throws -> OrderKey? {
    var key = try core.projections.key(of: child, in: container, t)
    try goBack(child, to: sequence, t) { event in
      switch event {
      case .arranged(let arranged) where arranged.container == container:
        if let place = arranged.places.first(where: { $0.child == child }) { key = place.new }
      case .assetCreated(let existence) where existence.row.number == child:
        if let place = existence.places.first(where: { $0.container == container }) { key = place.key }
      case .assetPurged(let existence) where existence.row.number == child: key = nil
      case .collectionErased(let existence) where existence.row.number == child: key = nil
      case .collectionCreated(let existence) where existence.row.number == child && existence.row.parent == container:
        key = existence.key
      default: break
      }
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

extension LibraryError {
  /// Any error as one of the library's.
  package init(_ error: any Error) {
    switch error {
    case let error as LibraryError: self = error
    case let error as UnreadableEvent: self = error.failure
    case let error as LMDBError: self.init(error)
    case let error as EventLogError:
      if let storage = error.storage {
        self.init(storage)
      } else {
        self.init(Self.codes[error.code] ?? .internalError, error.description)
      }
    case let error as StoreFormatError:
      self.init(error.isNewer ? .newerThanProgram : .notALibrary, error.description)
    case let error as CocoaError:
      self.init(error.code == .fileWriteOutOfSpace ? .notEnoughSpace : .storage, error.localizedDescription)
    default: self.init(.internalError, "\(error)")
    }
  }

  private init(_ error: LMDBError) {
    // Whoever takes an unknown outcome for a full disk makes room and does the same thing twice.
    let code: Code =
      switch error.code {
      case _ where error.outcomeUnknown: .outcomeUnknown
      case .diskFull: .notEnoughSpace
      case .corrupted, .invalidFile: .corrupted
      case .closed: .closed
      default: .storage
      }
    self.init(code, error.description)
  }

  private static let codes: [EventLogError.Code: Code] = [
    .conflict: .conflict, .keyUsed: .conflict, .tooLarge: .limitExceeded, .invalidField: .malformedRequest,
    .corrupted: .corrupted, .newerThanProgram: .newerThanProgram,
  ]
}
