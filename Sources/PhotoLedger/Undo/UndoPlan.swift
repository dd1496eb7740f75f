import EventLog
import Foundation
import LMDB

// The plan of an undo, for the current state.
//
// The composition has, for each property, its value without the chosen commits (`base`) and the value that they set
// (`given`). The plan compares them with the current value:
//
//     it is `base`          nothing is to be done
//     it is `given`         it stands, and goes back to `base`
//     something else        it was changed since: a conflict
//
// A conflict rejects the whole undo, is skipped or is overwritten, as the caller chose. Conflicts that cannot be forced
// (a purged asset, a folder inside itself) are skipped even then, and reported.
//
// Planning only reads, so a dry run is just this. The plan that the writer makes in its own transaction decides: a
// commit in between is a conflict then, like any other.
//
//   UndoPlan.swift              the plan, values and conflicts, clients and the history
//   UndoPlan+Assets.swift       properties of assets, their creation and purge
//   UndoPlan+Collections.swift  albums and folders, and their members

/// The changes of an undo.
struct UndoPlan {
  /// A member that is given a place, or taken out.
  struct Placement {
    var child: ObjectNumber
    /// The place that it had, among the keys of now; nil: it goes.
    var key: OrderKey?
    /// The key of that place in the log: the order of those that rekeyings have given one key.
    var former: OrderKey?

    /// The order in which members are put into a container.
    var rank: (UInt64, UInt64, ObjectNumber) { (key?.rawValue ?? 0, former?.rawValue ?? 0, child) }
  }

  /// A collection that goes back to where it hung.
  struct FolderMove {
    var child: ObjectNumber
    /// Nil: to the end of the top level.
    var place: ContainerPlace?
    /// As that of a ``Placement``.
    var former: OrderKey?

    var placement: Placement { Placement(child: child, key: place?.key, former: former) }
  }

  /// Moves of collections, at most one of each, in the order in which they were planned.
  struct FolderMoves {
    /// Nil where a move was removed.
    private var moves: [FolderMove?] = []
    private var indexes: [ObjectNumber: Int] = [:]

    var all: [FolderMove] { moves.compactMap(\.self) }

    /// The move of a collection.
    subscript(child: ObjectNumber) -> FolderMove? { indexes[child].flatMap { moves[$0] } }

    /// Changes the key of a planned move.
    mutating func setKey(_ key: OrderKey?, of child: ObjectNumber) {
      if let key, let index = indexes[child] { moves[index]?.place?.key = key }
    }

    /// Adds a move, in place of another one of the same collection.
    mutating func append(_ move: FolderMove) {
      remove(move.child)
      indexes[move.child] = moves.count
      moves.append(move)
    }

    mutating func remove(_ child: ObjectNumber) {
      if let index = indexes.removeValue(forKey: child) { moves[index] = nil }
    }
  }

  /// A cover that an album is given back.
  struct CoverReturn {
    var number: ObjectNumber
    /// Nil: only the creator's cover is put back.
    var cover: Replacement<LocalIdentifier?>?
    /// The creator's own cover; nil: the commits did not change it, or it was chosen again since.
    var creatorsCover: Replacement<LocalIdentifier?>?
    var change: UndoChange?
  }

  var report = UndoReport()
  var clientEdits: [ClientEdited] = []
  var firstAvailable: Replacement<UInt64>?
  /// Properties of collections, and collections that come back.
  var collectionEdits: [CollectionEdited] = []
  /// Covers of albums that are put back at the end, where the asset is shown then.
  var covers: [CoverReturn] = []
  /// Collections to delete, with their deletion dates; nil: now.
  private(set) var deletions: [(number: ObjectNumber, date: Date?)] = []
  private var deleted: Set<ObjectNumber> = []
  var folderMoves = FolderMoves()
  /// Purged assets that come back, as they were.
  var returns: [AssetExistence] = []
  var assetEdits: [(row: AssetRow, edit: AssetEdit)] = []
  /// By container: an album, a selection, or a pick of an asset that comes back.
  var placements: [ObjectNumber: [Placement]] = [:]
  /// Created assets that go.
  var removals: [ObjectNumber] = []
  /// The bursts that lose or get a member, or another representative.
  var bursts: Set<ExactText> = []
  /// The assets that represent these bursts afterwards, where the undo restores one or other commits chose one since.
  var representatives: [ExactText: ObjectNumber] = [:]
  /// The stacks that lose or get a member.
  var stacks: Set<LocalIdentifier> = []

  /// Whether there is nothing to change.
  var isEmpty: Bool { report.changes.isEmpty }

  /// Plans the deletion of a collection.
  mutating func delete(_ number: ObjectNumber, at date: Date?) {
    deletions.append((number, date))
    deleted.insert(number)
  }

  /// Takes the deletion of a collection out of the plan.
  mutating func keep(_ number: ObjectNumber) {
    deletions.removeAll { $0.number == number }
    deleted.remove(number)
  }

  /// Whether a collection is to be deleted.
  func deletes(_ number: ObjectNumber) -> Bool { deleted.contains(number) }
}

/// Judges what of chosen commits still stands.
struct UndoJudge {
  var composition: UndoComposition
  let policy: UndoConflictPolicy
  let projections: Projections
  let resources: ResourceStore
  let mark: UInt64
  var plan = UndoPlan()
  /// The subjects of containers that were looked up.
  var homes: [ObjectNumber: UndoChange.Subject] = [:]
  /// What becomes of the albums that clients follow.
  private var follows: [ObjectNumber: Replacement<ObjectNumber?>] = [:]
  /// The clients whose selection stays as it is, since another commit has changed what it follows.
  private var keptSelections: Set<ObjectNumber> = []

  /// - Parameter mark: the mark of the library, for its tokens.
  init(
    _ composition: UndoComposition, _ policy: UndoConflictPolicy, projections: Projections, resources: ResourceStore,
    mark: UInt64
  ) {
    self.composition = composition
    self.policy = policy
    self.resources = resources
    self.projections = projections
    self.mark = mark
  }

  /// Judges everything as a transaction sees it.
  /// - Complexity: O(k log n) for k properties of the composition and of the containers' events since it was made.
  mutating func judge<T: TransactionReading & ~Copyable>(_ t: borrowing T) throws -> UndoPlan {
    composition.rekeyings.head = try composition.rekeyings.log.head(t).sequence
    try composition.readSelections(in: t)
    // Commits from before a fork are named as in the library that it was made from.
    let forks = try projections.forks(in: t)
    plan.report.commits = composition.commits.map { commit in
      Token(library: forks.reduce(mark) { commit > $1.commit ? $0 : $0 ^ $1.mark }, commit: commit)
    }
    try judgeAssets(t)
    try judgeCollections(t)
    try judgeFollowing(t)
    try judgePlaces(t)
    try judgeClients(t)
    try judgeHistory(t)
    return plan
  }

  // MARK: Values

  enum Verdict { case stands, already, changed }

  func verdict<Value>(_ net: Net<Value>, _ current: Value) -> Verdict {
    current == net.base ? .already : current == net.given ? .stands : .changed
  }

  /// Plans one property; its new value, or nil if it is kept.
  mutating func judged<Value>(
    _ net: Net<Value>?, _ current: Value, _ change: (Value) -> UndoChange
  ) -> Value? {
    guard let net, !net.isNothing else { return nil }
    switch verdict(net, current) {
    case .already:
      plan.report.alreadyCount += 1
      return nil
    case .stands: break
    case .changed: guard overrides(change(net.base), .changedSince) else { return nil }
    }
    plan.report.changes.append(change(net.base))
    return net.base
  }

  /// Records a conflict, and returns whether to revert anyway.
  mutating func overrides(
    _ change: UndoChange, _ reason: UndoConflict.Reason, isForcible: Bool = true, _ sentence: String? = nil
  ) -> Bool {
    let outcome: UndoConflict.Outcome =
      switch policy {
      case .refuse: .refused
      case .force where isForcible: .forced
      case .force, .skip: .skipped
      }
    let words = sentence ?? "'\(change.property)' of \(change.subject.phrase) was changed since."
    plan.report.conflicts.append(
      UndoConflict(change: change, reason: reason, outcome: outcome, sentence: words, isForcible: isForcible))
    return outcome == .forced
  }

  // MARK: Clients and the history

  /// Plans which albums the selections of clients follow: before the memberships, since such a selection has no
  /// memberships of its own to restore.
  private mutating func judgeFollowing<T: TransactionReading & ~Copyable>(_ t: borrowing T) throws {
    for (number, net) in composition.clients.sorted(by: { $0.key < $1.key }) {
      guard net.followedAlbum != nil, let row = try projections.client(number, in: t) else { continue }
      let (from, base) = (
        try name(ofAlbum: row.followedAlbum, t), try name(ofAlbum: net.followedAlbum?.base ?? nil, t)
      )
      let album = judged(net.followedAlbum, row.followedAlbum) { _ in
        UndoChange(.permission, .client(row.name), "followedAlbum", from: from, to: base)
      }
      if let album {
        follows[number] = Replacement(old: row.followedAlbum, new: album)
      } else if let followed = net.followedAlbum, verdict(followed, row.followedAlbum) == .changed {
        keptSelections.insert(number)
      }
    }
  }

  private func name<T: TransactionReading & ~Copyable>(
    ofAlbum number: ObjectNumber?, _ t: borrowing T
  ) throws -> LogValue {
    guard let number, let row = try projections.collection(number, in: t) else { return .null }
    return .text(row.identifier.spelled(as: .album))
  }

  /// Whether the members of a container are not judged one by one: those of a selection that is an album once the undo
  /// is done, or that stays as it is.
  func isWhole<T: TransactionReading & ~Copyable>(_ client: ObjectNumber, _ t: borrowing T) throws -> Bool {
    if keptSelections.contains(client) { return true }
    if let planned = follows[client] { return planned.new != nil }
    return try projections.client(client, in: t)?.followedAlbum != nil
  }

  private mutating func judgeClients<T: TransactionReading & ~Copyable>(_ t: borrowing T) throws {
    for (number, net) in composition.clients.sorted(by: { $0.key < $1.key }) {
      guard let row = try projections.client(number, in: t) else { continue }
      let subject = UndoChange.Subject.client(row.name)
      var edited = ClientEdited(number: number)
      for level in AccessLevel.allCases {
        let (status, words) = (row[level].status, row[level].usageDescription)
        let newStatus = judged(net.statuses[level], status) { value in
          UndoChange(.permission, subject, "\(level)", from: .text("\(status)"), to: .text("\(value)"))
        }
        if let newStatus { edited.statuses[level] = Replacement(old: status, new: newStatus) }
        let newWords = judged(net.usageDescriptions[level], words) { value in
          UndoChange(.permission, subject, "\(level)UsageDescription", from: .words(words), to: .words(value))
        }
        if let newWords { edited.usageDescriptions[level] = Replacement(old: words, new: newWords) }
      }
      let prevents = row.preventsLimitedAlert
      let newPrevents = judged(net.preventsLimitedAlert, prevents) { value in
        UndoChange(
          .permission, subject, "preventsAutomaticLimitedAccessAlert", from: .bool(prevents), to: .bool(value))
      }
      if let newPrevents { edited.preventsLimitedAlert = Replacement(old: prevents, new: newPrevents) }
      edited.followedAlbum = follows[number]
      if edited != ClientEdited(number: number) { plan.clientEdits.append(edited) }
    }
    for row in composition.registered {
      plan.report.kept.append("The client '\(row.name)' remains registered.")
    }
    if composition.erasedCount > 0 {
      plan.report.kept.append("Erased assets remain erased: \(composition.erasedCount).")
    }
    // In the order of the first pick of each client.
    var pickers: Set<ObjectNumber> = []
    for pick in composition.picks where pickers.insert(pick.client).inserted {
      let name = try projections.client(pick.client, in: t)?.name ?? ""
      plan.report.kept.append(
        "Picked assets remain accessible to '\(name)', which may have copied them.")
    }
  }

  private mutating func judgeHistory<T: TransactionReading & ~Copyable>(_ t: borrowing T) throws {
    let first = try projections.firstAvailableCommit(in: t)
    let restored = judged(composition.firstAvailable, first) { value in
      UndoChange(
        .history, .library, "firstCommit", from: .integer(Int64(clamping: first)), to: .integer(Int64(clamping: value)))
    }
    if let restored { plan.firstAvailable = Replacement(old: first, new: restored) }
  }
}
