import EventLog
import Foundation
import LMDB
import Synchronization

// Undoing commits.
//
// The plan (UndoPlan.swift) lists the changes; here they become events, by the functions of every other request. So
// counts, dates and client revisions follow the current rules, not those at the time of the undone commits. An undo is
// a commit like any other: it can be observed, logged and undone.
//
//   1  clients         statuses, words
//   2 collections those to restore, properties
//   3  returns         purged assets, with the places whose keys are free
//   4  properties      of assets; then into the trash and out of it
//   5  places          of collections in folders, of assets in albums and selections
//   6  removals        created assets: into the trash, so that counts follow, and out of the library
//   7  deletions       created collections; what others put into such a folder goes to the top level
//   8  covers          of albums, where the asset is shown by now
//   9  bursts          each has one representative; stacks have their top, and more than one asset
//
// What is taken out keeps its files: they are not orphans of the block. So undoing this commit brings everything back.

/// The parameters of an undo.
package struct UndoOrder: Sendable {
  let composition: UndoComposition
  let policy: UndoConflictPolicy
  /// The report of a first plan, for the confirmation handler; nil if there is none.
  var preview: UndoReport?
  /// Receives what the undo will do before anything is recorded; an error rejects the undo.
  var accept: @Sendable (UndoReport) throws -> Void = { _ in }
  let outcome = UndoOutcome()
}

/// Where the writer leaves what it did.
final class UndoOutcome: Sendable {
  private let report = Mutex(UndoReport())
  private let rejection = Mutex<(any Error)?>(nil)

  var value: UndoReport {
    get { report.withLock { $0 } }
    set { report.withLock { $0 = newValue } }
  }

  /// The caller's own error, which the writer passes on as one of the library's.
  var rejected: (any Error)? { rejection.withLock { $0 } }

  /// Has the caller accept what an undo will do.
  func accept(_ report: UndoReport, by accept: (UndoReport) throws -> Void) throws {
    do { try accept(report) } catch {
      rejection.withLock { $0 = error }
      throw error
    }
  }
}

extension Decider {
  /// Undoes the current effect of the chosen commits.
  /// - Throws: ``LibraryError`` `.conflict` if a value was changed since and the policy is `refuse`; `.limitExceeded`
  ///   if the undo does not fit into one commit.
  mutating func undo(_ order: UndoOrder, _ t: inout WriteTransaction) throws {
    do {
      try execute(order, &t)
    } catch let error as EventLogError where error.code == .tooLarge && error.sequence == nil {
      // Not a single event that is too large: that error names the event.
      throw LibraryError(
        .limitExceeded,
        """
        The undo does not fit into one commit, which has at most \(log.limits.commitEvents) events and \
        \(log.limits.commitBytes >> 20) MiB; nothing was undone. Undo the commits by ranges, the latest first: `log` \
        prints their tokens (with --cause those of a cause), and `undo` takes a range with --from and --to.
        """)
    }
  }

  private mutating func execute(_ order: UndoOrder, _ t: inout WriteTransaction) throws {
    var judge = UndoJudge(
      order.composition, order.policy, projections: projections, resources: resources, mark: library)
    let plan = try judge.judge(t)
    if let refusal = plan.report.refusal { throw refusal }
    try order.outcome.accept(plan.report, by: order.accept)
    order.outcome.value = plan.report
    if plan.isEmpty { return }
    rekeyings = [:]
    for edited in plan.clientEdits { try record(.clientEdited(edited), &t) }
    try bringBack(plan.collectionEdits, &t)
    let placed = try bringBack(plan.returns, plan.placements, &t)
    try record(plan.assetEdits, &t)
    try hang(plan.folderMoves.all, &t)
    for (container, placements) in plan.placements.sorted(by: { $0.key < $1.key }) {
      try place(placements.filter { !placed.contains(.init(container: container, child: $0.child)) }, in: container, &t)
    }
    try takeOut(plan.removals, &t)
    try delete(plan.deletions, &t)
    try giveBack(plan.covers, order.outcome, &t)
    for burst in plan.bursts.sorted(by: { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }) {
      try settleBurst(burst.text, representedBy: plan.representatives[burst], &t)
    }
    for stack in plan.stacks.sorted(by: { ($0.high, $0.low) < ($1.high, $1.low) }) { try settleStack(stack, &t) }
    if let firstAvailable = plan.firstAvailable { try record(.historyShortened(firstAvailable), &t) }
  }

  // MARK: Collections

  /// Puts covers back; where the asset is not shown in the album now, the present cover stays and the report says so.
  private mutating func giveBack(
    _ covers: [UndoPlan.CoverReturn], _ outcome: UndoOutcome, _ t: inout WriteTransaction
  ) throws {
    for entry in covers {
      guard try !restoreCovers(entry.cover, entry.creatorsCover, of: entry.number, &t), let change = entry.change else {
        continue
      }
      let reason =
        entry.cover == nil
        ? "because its creator cannot see that asset in the album" : "because the album does not show that asset"
      var report = outcome.value
      report.changes.removeAll { $0 == change }
      report.removeForced { $0 == change }
      report.kept.append("The previous cover of \(change.subject.phrase) was not restored, \(reason).")
      outcome.value = report
    }
  }

  private mutating func bringBack(_ edits: [CollectionEdited], _ t: inout WriteTransaction) throws {
    for edit in edits {
      var edited = edit
      guard let row = try projections.collection(edit.number, in: t) else {
        throw projections.corruption("collection \(edit.number)")
      }
      if edited.deletedDate == nil {
        edited.modificationDate = modification(after: row.modificationDate)
        if row.creator != 0 { edited.creatorDate = modification(after: row.creatorDate) }
      }
      try record(.collectionEdited(edited), &t)
    }
  }

  /// Puts collections where they hung.
  /// - Throws: as ``checkNesting(of:in:former:_:)``, by the state after all moves: one may depend on another.
  private mutating func hang(_ moves: [UndoPlan.FolderMove], _ t: inout WriteTransaction) throws {
    var formerLevels: [Int] = []
    for move in moves { formerLevels.append(try levels(above: move.child, t)) }
    // As members of albums: first those whose keys are free, then the others in the order of the keys.
    var waiting: [UndoPlan.FolderMove] = []
    for move in moves {
      guard let place = move.place else { continue }
      if try projections.member(at: place.key, of: place.container, in: t) == nil {
        try hang(move, &t)
      } else {
        waiting.append(move)
      }
    }
    for move in waiting.sorted(by: { $0.placement.rank < $1.placement.rank }) { try hang(move, &t) }
    for move in moves where move.place == nil { try hang(move, &t) }
    for (move, former) in zip(moves, formerLevels) {
      if let place = move.place { try checkNesting(of: move.child, in: place.container, former: former, t) }
    }
  }

  /// Puts a collection where it hung, or at the end of the top level.
  private mutating func hang(_ move: UndoPlan.FolderMove, _ t: inout WriteTransaction) throws {
    guard let parent = try projections.collection(move.child, in: t)?.parent,
      let old = try projections.key(of: move.child, in: parent, t)
    else { throw projections.corruption("the place of collection \(move.child)") }
    let home = move.place?.container ?? rootFolder
    if parent != home { try arrange(parent, .removed, [.init(child: move.child, old: old, new: nil)], &t) }
    let wanted: OrderKey
    if let place = move.place {
      wanted = try freeKey(at: place.key, in: home, for: move.child, &t)
    } else {
      wanted = try makeRoom(in: home, before: nil, count: 1, &t)[0]
    }
    // Making room may have moved it.
    let current = parent == home ? try projections.key(of: move.child, in: home, t) : nil
    guard current != wanted else { return }
    let place = Arranged.Place(child: move.child, old: current, new: wanted)
    try arrange(home, current == nil ? .inserted : .moved, [place], &t)
  }

  /// Deletes collections; what others have put into a folder goes to the end of the top level.
  private mutating func delete(
    _ deletions: [(number: ObjectNumber, date: Date?)], _ t: inout WriteTransaction
  ) throws {
    let going = Set(deletions.map(\.number))
    for (number, deletedDate) in deletions {
      guard let row = try projections.collection(number, in: t) else {
        throw projections.corruption("collection \(number)")
      }
      if row.kind == .folder {
        var staying: [ObjectNumber] = []
        try projections.forEachMember(of: number, in: t) { _, child in
          let isLive = try projections.collection(child, in: t)?.deletedDate == nil
          if isLive, !going.contains(child) { staying.append(child) }
          return true
        }
        for child in staying { try hang(UndoPlan.FolderMove(child: child, place: nil), &t) }
      }
      guard row.deletedDate == nil else { continue }
      var edited = CollectionEdited(number: number)
      edited.deletedDate = Replacement(old: nil, new: deletedDate ?? date)
      try record(.collectionEdited(edited), &t)
    }
  }

  // MARK: Assets

  /// Restores purged assets, with the positions whose keys are free.
  /// - Returns: those places.
  private mutating func bringBack(
    _ returns: [AssetExistence], _ placements: [ObjectNumber: [UndoPlan.Placement]], _ t: inout WriteTransaction
  ) throws -> Set<ContainerMember> {
    guard !returns.isEmpty else { return [] }
    var wanted: [ObjectNumber: [ContainerPlace]] = [:]
    for (container, placements) in placements {
      for placement in placements {
        guard let key = placement.key else { continue }
        wanted[placement.child, default: []].append(ContainerPlace(container: container, key: key))
      }
    }
    var placed: Set<ContainerMember> = []
    for var existence in returns {
      let number = existence.row.number
      let places = (wanted[number] ?? []).sorted { $0.container < $1.container }
      existence.places = try places.filter { try projections.member(at: $0.key, of: $0.container, in: t) == nil }
      for place in existence.places { placed.insert(.init(container: place.container, child: number)) }
      try record(.assetCreated(existence), &t)
    }
    return placed
  }

  /// Records the properties, then what goes into the trash, then what comes out of it.
  private mutating func record(_ edits: [(row: AssetRow, edit: AssetEdit)], _ t: inout WriteTransaction) throws {
    var edited: [(row: AssetRow, edit: AssetEdit)] = []
    var trashed: [(row: AssetRow, edit: AssetEdit)] = []
    var restored: [(row: AssetRow, edit: AssetEdit)] = []
    for (row, edit) in edits {
      var (properties, after) = (edit, row)
      properties.changes.removeAll { $0.field == .trashedDate }
      if !properties.changes.isEmpty || properties.details != nil {
        // A change of the stack alone leaves the modification date as it is.
        if !properties.isOfStackAlone { noteModification(of: row, in: &properties) }
        for change in properties.changes { _ = after.set(change.field, change.new) }
        edited.append((row, properties))
      }
      guard let change = edit.changes.first(where: { $0.field == .trashedDate }) else { continue }
      let trash = AssetEdit(number: edit.number, changes: [change])
      if change.new == .null { restored.append((after, trash)) } else { trashed.append((after, trash)) }
    }
    try record(edited, .edited, &t)
    try record(trashed, .trashed, &t)
    try record(restored, .restored, &t)
  }

  /// Takes created assets out; their files stay.
  private mutating func takeOut(_ removals: [ObjectNumber], _ t: inout WriteTransaction) throws {
    let shown = try removals.compactMap { number in
      try projections.asset(number, in: t).flatMap { $0.trashedDate == nil ? $0 : nil }
    }
    let change = AssetChange(field: .trashedDate, old: .null, new: .date(date))
    try record(shown.map { ($0, AssetEdit(number: $0.number, changes: [change])) }, .trashed, &t)
    for number in removals {
      guard let row = try projections.asset(number, in: t) else { throw projections.corruption("asset \(number)") }
      var existence = AssetExistence(row: row, details: try details(of: row, t))
      existence.places = try projections.places(of: number, in: t)
      existence.isByUndo = true
      try record(.assetPurged(existence), &t)
    }
  }

  private mutating func settleBurst(
    _ burst: String, representedBy wanted: ObjectNumber?, _ t: inout WriteTransaction
  ) throws {
    let members = try projections.assets(ofBurst: burst, in: t)
    let standing = try members.filter { try projections.asset($0, in: t)?.flags.contains(.representsBurst) ?? false }
    guard standing.count != 1 else { return }
    try setRepresentative(wanted ?? standing.first ?? members.first, among: members, &t)
  }

  // MARK: Places

  /// Gives members of an album or a selection their places back.
  private mutating func place(
    _ placements: [UndoPlan.Placement], in container: ObjectNumber, _ t: inout WriteTransaction
  ) throws {
    var leaving: [Arranged.Place] = []
    var coming: [Arranged.Place] = []
    for placement in placements {
      let old = try projections.key(of: placement.child, in: container, t)
      guard old != placement.key else { continue }
      let place = Arranged.Place(child: placement.child, old: old, new: placement.key)
      if placement.key == nil { leaving.append(place) } else { coming.append(place) }
    }
    if let client = try projections.client(container, in: t) {
      try arrange(client, .withdrawn, leaving, &t)
      return try arrange(client, .granted, coming, &t)
    }
    guard try projections.collection(container, in: t) != nil else { return }
    try arrange(container, .removed, leaving, &t)
    let waiting = try waiting(of: coming, in: container, t)
    let prompt = coming.filter { !waiting.contains($0.child) }
    try arrange(container, .moved, prompt.filter { $0.old != nil }, &t)
    try arrange(container, .inserted, prompt.filter { $0.old == nil }, &t)
    // In the order of their keys: each comes before the holder of its key, and behind those with smaller keys.
    let late = placements.filter { waiting.contains($0.child) }
    for placement in late.sorted(by: { $0.rank < $1.rank }) { try squeeze(placement, in: container, &t) }
  }

  /// The members whose keys are taken by one that stays, by another of them, or by one that has to wait itself.
  private func waiting(
    of coming: [Arranged.Place], in container: ObjectNumber, _ t: borrowing WriteTransaction
  ) throws -> Set<ObjectNumber> {
    let going = Set(coming.map(\.child))
    var taken: Set<OrderKey> = []
    var waiting: Set<ObjectNumber> = []
    // By the member that holds the key, the one that wants it.
    var wanting: [ObjectNumber: ObjectNumber] = [:]
    for place in coming {
      guard let key = place.new else { continue }
      let holder = try projections.member(at: key, of: container, in: t)
      if !taken.insert(key).inserted || holder.map({ !going.contains($0) }) ?? false { waiting.insert(place.child) }
      if let holder { wanting[holder] = place.child }
    }
    var frontier = Array(waiting)
    while let holder = frontier.popLast() {
      if let next = wanting[holder], waiting.insert(next).inserted { frontier.append(next) }
    }
    return waiting
  }

  /// Puts a member where its key is taken: before the one that has it.
  private mutating func squeeze(
    _ placement: UndoPlan.Placement, in container: ObjectNumber, _ t: inout WriteTransaction
  ) throws {
    guard let key = placement.key else { return }
    let wanted = try freeKey(at: key, in: container, for: placement.child, &t)
    let current = try projections.key(of: placement.child, in: container, t)
    guard current != wanted else { return }
    let verb: Arranged.Verb = current == nil ? .inserted : .moved
    try arrange(container, verb, [.init(child: placement.child, old: current, new: wanted)], &t)
  }

  /// A key of the plan, or if another member holds it one directly before that.
  private mutating func freeKey(
    at planned: OrderKey, in container: ObjectNumber, for child: ObjectNumber, _ t: inout WriteTransaction
  ) throws -> OrderKey {
    // Making room for an earlier one may have rekeyed the members around it.
    let moved = (rekeyings?[container] ?? []).reduce(planned.rawValue) { $1.map($0) }
    let key = OrderKey(rawValue: moved)
    guard let holder = try projections.member(at: key, of: container, in: t), holder != child else { return key }
    return try makeRoom(in: container, before: holder, count: 1, &t)[0]
  }
}
