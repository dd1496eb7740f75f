import Foundation
import LMDB

// The plan for albums and folders, and their members. A created collection is deleted, and its members keep their
// positions; a deleted one is restored the same way. No live collection is in a deleted folder; one that is to be
// deleted may return to it.

/// The deleted collections that come back.
private typealias Returning = [ObjectNumber: (edit: CollectionEdited, change: UndoChange)]

/// A property of a collection, which is the same as another one if the same bytes are kept of both.
private struct StoredValue: Equatable, Sendable {
  let value: LogValue

  init(_ value: LogValue) { self.value = value }

  static func == (one: StoredValue, other: StoredValue) -> Bool {
    guard case .text(let text) = one.value, case .text(let otherText) = other.value else {
      return one.value == other.value
    }
    return text.utf8.elementsEqual(otherText.utf8)
  }
}

extension UndoJudge {
  mutating func judgeCollections<T: TransactionReading & ~Copyable>(_ t: borrowing T) throws {
    var returning: Returning = [:]
    let nets = composition.collections.sorted { $0.key < $1.key }
    for (number, net) in nets {
      guard let row = try projections.collection(number, in: t) else { continue }
      if net.creation != nil {
        try judgeCreation(of: row, net, t)
        continue
      }
      judgeProperties(net, of: row)
      judgeCover(net, of: row)
      if let edit = judgeDeletion(net, of: row) { returning[number] = edit }
    }
    try judgeContents(t)
    for (number, net) in nets where net.creation == nil {
      try judgePlace(net, of: number, returning, t)
    }
    try settle(&returning, t)
  }

  private func subject(_ row: CollectionRow) -> UndoChange.Subject { .collection(row.identifier, row.objectKind) }

  /// Judges the properties that have no rule of their own.
  private mutating func judgeProperties(_ net: UndoComposition.CollectionNet, of row: CollectionRow) {
    let own = subject(row)
    for property in CollectionProperty.edited where property.log.undoing == .alone {
      var edited = CollectionEdited(number: row.number)
      property.log.revert(net.edits, row, &edited)
      guard let current = property.log.values(edited)?.old else { continue }
      let values = property.log.values(net.edits).map { Net(old: StoredValue($0.old), new: StoredValue($0.new)) }
      let base = judged(values, StoredValue(current)) { base in
        UndoChange(.property, own, property.name.description, from: current, to: base.value)
      }
      if base != nil { plan.collectionEdits.append(edited) }
    }
  }

  /// A cover that was chosen since is kept where the commits left none: mostly they only took the asset out. The
  /// creator's own cover is reverted with the album's, and reported where it alone is.
  private mutating func judgeCover(_ net: UndoComposition.CollectionNet, of row: CollectionRow) {
    let own = subject(row)
    var entry = UndoPlan.CoverReturn(number: row.number)
    if let creators = net.edits.creatorCover, !creators.isNothing, row.creatorCover == creators.given {
      entry.creatorsCover = creators.inverse
    }
    if net.edits.cover?.given != .some(nil) || row.cover == nil {
      let cover = judged(net.edits.cover, row.cover) { value in
        let change = UndoChange(.property, own, "cover", from: .asset(row.cover), to: .asset(value))
        entry.change = change
        return change
      }
      entry.cover = cover.map { Replacement(old: row.cover, new: $0) }
    }
    if entry.cover == nil, let creators = entry.creatorsCover {
      let change = UndoChange(.property, own, "creatorCover", from: .asset(creators.old), to: .asset(creators.new))
      entry.change = change
      plan.report.changes.append(change)
    }
    if entry.cover != nil || entry.creatorsCover != nil { plan.covers.append(entry) }
  }

  // MARK: Creation and deletion

  private mutating func judgeCreation<T: TransactionReading & ~Copyable>(
    of row: CollectionRow, _ net: UndoComposition.CollectionNet, _ t: borrowing T
  ) throws {
    guard row.deletedDate == nil else {
      plan.report.alreadyCount += 1
      return
    }
    let change = UndoChange(.creation, subject(row), "existence", from: .bool(true), to: .bool(false))
    if let difference = try differenceSinceCreation(of: row, net, t) {
      guard overrides(change, .changedSince, "\(difference) since \(subject(row).phrase) was created.") else { return }
    }
    plan.delete(row.number, at: nil)
    plan.report.changes.append(change)
  }

  private mutating func differenceSinceCreation<T: TransactionReading & ~Copyable>(
    of row: CollectionRow, _ net: UndoComposition.CollectionNet, _ t: borrowing T
  ) throws -> String? {
    let title: String? = net.edits.title.map(\.given) ?? net.creation?.title
    if row.title.map({ Array($0.utf8) }) != title.map({ Array($0.utf8) }) { return "It was renamed" }
    let parent = net.place.map { $0.given?.container } ?? net.creation?.parent
    if row.parent != parent { return "It was moved" }
    if try !strangers(in: row, t).isEmpty { return "Members were added to it" }
    return try laterFollower(of: row, t).map { "The selection of the client '\($0)' was made to follow it" }
  }

  /// The name of a client whose selection others than the chosen commits have made follow an album: the selection
  /// would be empty without it. A client that was denied access, such as that of a withdrawn share link, sees nothing
  /// anyway, unless the undo gives it access again.
  private func laterFollower<T: TransactionReading & ~Copyable>(
    of row: CollectionRow, _ t: borrowing T
  ) throws -> String? {
    for client in try projections.followers(of: row.number, in: t) {
      let net = composition.clients[client]
      if let album = net?.followedAlbum, !album.isNothing, album.given == row.number { continue }
      let follower = try projections.client(client, in: t)
      let restored = net?.statuses[.readWrite]?.base ?? .denied
      if follower?.readWrite.status == .denied, restored == .denied { continue }
      return follower?.name ?? ""
    }
    return nil
  }

  /// The members that others than the chosen commits have put in.
  private func strangers<T: TransactionReading & ~Copyable>(
    in row: CollectionRow, _ t: borrowing T
  ) throws -> [ObjectNumber] {
    var found: [ObjectNumber] = []
    try projections.forEachMember(of: row.number, in: t) { _, child in
      if row.kind == .folder {
        let isLive = try projections.collection(child, in: t)?.deletedDate == nil
        if isLive, !wasPut(child, into: row.number) { found.append(child) }
      } else if composition.places[ContainerMember(container: row.number, child: child)]?.given == nil {
        found.append(child)
      }
      return true
    }
    return found
  }

  /// Whether the chosen commits have put a collection into a folder: they created it, or moved it from elsewhere.
  private func wasPut(_ child: ObjectNumber, into folder: ObjectNumber) -> Bool {
    guard let net = composition.collections[child], net.place?.given?.container == folder else { return false }
    return net.creation != nil || net.place?.base?.container != folder
  }

  /// A deleted collection comes back; one that was brought back is deleted again.
  private mutating func judgeDeletion(
    _ net: UndoComposition.CollectionNet, of row: CollectionRow
  ) -> (edit: CollectionEdited, change: UndoChange)? {
    guard let deletion = net.edits.deletedDate, !deletion.isNothing else { return nil }
    let change = deletionChange(of: row, to: deletion.base)
    switch verdict(deletion, row.deletedDate) {
    case .already:
      plan.report.alreadyCount += 1
      return nil
    case .stands: break
    case .changed:
      // A collection that was deleted again needs no change.
      if (deletion.base == nil) == (row.deletedDate == nil) {
        plan.report.alreadyCount += 1
        return nil
      }
      guard overrides(change, .changedSince) else { return nil }
    }
    if let date = deletion.base {
      plan.delete(row.number, at: date)
      plan.report.changes.append(change)
      return nil
    }
    var edited = CollectionEdited(number: row.number)
    edited.deletedDate = Replacement(old: row.deletedDate, new: nil)
    return (edited, change)
  }

  private func deletionChange(of row: CollectionRow, to date: Date?) -> UndoChange {
    UndoChange(
      date == nil ? .restoration : .trash, subject(row), "deletedDate", from: .optional(row.deletedDate),
      to: .optional(date))
  }

  /// A restored folder is deleted again only by force if something is in it that would not be deleted with it.
  private mutating func judgeContents<T: TransactionReading & ~Copyable>(_ t: borrowing T) throws {
    var folders: [(change: UndoChange, number: ObjectNumber, strangers: [ObjectNumber])] = []
    for (number, date) in plan.deletions where composition.collections[number]?.creation == nil {
      guard let row = try projections.collection(number, in: t), row.kind == .folder else { continue }
      folders.append((deletionChange(of: row, to: date), number, try strangers(in: row, t)))
    }
    var kept: Set<UndoChange> = []
    var isSettled = false
    while !isSettled {
      isSettled = true
      let filled = folders.filter { $0.strangers.contains { !plan.deletes($0) } }
      folders.removeAll { $0.strangers.contains { !plan.deletes($0) } }
      for folder in filled {
        let name = folder.change.subject.spelling
        let sentence = "The folder \(name) now contains items that would not be deleted with it."
        if overrides(folder.change, .changedSince, sentence) { continue }
        // So a folder around it is not deleted either.
        plan.keep(folder.number)
        kept.insert(folder.change)
        isSettled = false
      }
    }
    if !kept.isEmpty { plan.report.changes.removeAll { kept.contains($0) } }
  }

  /// Restores deleted collections, unless their folder stays deleted, and leaves out the moves that cannot be made.
  private mutating func settle<T: TransactionReading & ~Copyable>(
    _ returning: inout Returning, _ t: borrowing T
  ) throws {
    var homeless: Set<ObjectNumber> = []
    // A move that is dropped leaves its collection where it is: that may close a loop with another move. A loop that is
    // dropped may leave a restored collection in a deleted folder.
    repeat {
      try dropLoops(t)
      try settleHomeless(&returning, &homeless, t)
    } while try dropHomelessMoves(returning, t)
    for (_, entry) in returning.sorted(by: { $0.key < $1.key }) {
      plan.collectionEdits.append(entry.edit)
      plan.report.changes.append(entry.change)
    }
    var coming: [ObjectNumber: [UndoPlan.Placement]] = [:]
    for move in plan.folderMoves.all {
      if let place = move.place { coming[place.container, default: []].append(move.placement) }
    }
    for (folder, placements) in coming {
      for placement in try separated(placements, in: folder, t) {
        plan.folderMoves.setKey(placement.key, of: placement.child)
      }
    }
  }

  /// Leaves collections deleted whose folder stays deleted, or moves them to the end of the top level.
  private mutating func settleHomeless<T: TransactionReading & ~Copyable>(
    _ returning: inout Returning, _ homeless: inout Set<ObjectNumber>, _ t: borrowing T
  ) throws {
    var isSettled = false
    while !isSettled {
      isSettled = true
      for number in returning.keys.sorted() where !homeless.contains(number) {
        guard let home = try plannedParent(of: number, t), try !isLive(home, returning, t) else { continue }
        isSettled = false
        homeless.insert(number)
        guard let entry = returning[number] else { continue }
        let sentence = "The folder of \(entry.change.subject.phrase) is deleted."
        if overrides(entry.change, .homeGone, sentence) {
          plan.folderMoves.append(UndoPlan.FolderMove(child: number, place: nil))
        } else {
          returning[number] = nil
        }
      }
    }
  }

  private func isLive<T: TransactionReading & ~Copyable>(
    _ folder: ObjectNumber, _ returning: Returning, _ t: borrowing T
  ) throws -> Bool {
    if plan.deletes(folder) { return false }
    return try returning[folder] != nil || projections.collection(folder, in: t)?.deletedDate == nil
  }

  // MARK: Places of collections

  /// The folder of a collection when the plan is executed; nil for the root and for collections moved to its end.
  private func plannedParent<T: TransactionReading & ~Copyable>(
    of number: ObjectNumber, _ t: borrowing T
  ) throws -> ObjectNumber? {
    if let move = plan.folderMoves[number] { return move.place?.container }
    guard let parent = try projections.collection(number, in: t)?.parent, parent != 0 else { return nil }
    return parent
  }

  private mutating func judgePlace<T: TransactionReading & ~Copyable>(
    _ net: UndoComposition.CollectionNet, of number: ObjectNumber, _ returning: Returning, _ t: borrowing T
  ) throws {
    guard let place = net.place, let base = place.base, let given = place.given, base != given,
      let row = try projections.collection(number, in: t),
      let currentKey = try projections.key(of: number, in: row.parent, t)
    else { return }
    let current = ContainerPlace(container: row.parent, key: currentKey)
    let key = try composition.rekeyings.map(base, after: place.found, in: t)
    let target = ContainerPlace(container: base.container, key: key)
    guard current != target else {
      plan.report.alreadyCount += 1
      return
    }
    let home = try home(of: base.container, t)
    let change = UndoChange(
      .membership, subject(row), in: home, "parent", from: .text(try self.home(of: row.parent, t).spelling),
      to: .text(home.spelling))
    let start = plan.report.conflicts.count
    if try composition.rekeyings.follow(given, of: number, after: place.last, in: t) != current {
      guard overrides(change, .changedSince) else { return }
    }
    guard try plan.deletes(number) || isLive(base.container, returning, t) else {
      plan.report.removeForced(from: start) { $0 == change }
      _ = overrides(
        change, .homeGone, isForcible: false, "The former folder of \(subject(row).phrase) is deleted.")
      return
    }
    plan.folderMoves.append(UndoPlan.FolderMove(child: number, place: target, former: base.key))
    plan.report.changes.append(change)
  }

  /// Takes the moves out of the plan that would put a folder into itself (FO-05).
  private mutating func dropLoops<T: TransactionReading & ~Copyable>(_ t: borrowing T) throws {
    var dropped: Set<UndoChange.Subject> = []
    for move in plan.folderMoves.all {
      var ancestor = move.place?.container
      var seen: Set<ObjectNumber> = []
      while let folder = ancestor, folder != move.child, seen.insert(folder).inserted {
        ancestor = try plannedParent(of: folder, t)
      }
      guard ancestor == move.child, let row = try projections.collection(move.child, in: t) else { continue }
      plan.folderMoves.remove(move.child)
      dropped.insert(subject(row))
    }
    skipMoves(of: dropped) { "The former folder of \($0.phrase) is now inside it." }
  }

  /// Takes the moves out of the plan that would put a collection into a folder that stays deleted.
  /// - Returns: whether there were any.
  private mutating func dropHomelessMoves<T: TransactionReading & ~Copyable>(
    _ returning: Returning, _ t: borrowing T
  ) throws -> Bool {
    var dropped: Set<UndoChange.Subject> = []
    for move in plan.folderMoves.all {
      guard let home = move.place?.container, !plan.deletes(move.child), try !isLive(home, returning, t),
        let row = try projections.collection(move.child, in: t)
      else { continue }
      plan.folderMoves.remove(move.child)
      dropped.insert(subject(row))
    }
    skipMoves(of: dropped) { "The former folder of \($0.phrase) is deleted." }
    return !dropped.isEmpty
  }

  /// Reports dropped moves as conflicts, and no longer as changes.
  private mutating func skipMoves(
    of dropped: Set<UndoChange.Subject>, _ sentence: (UndoChange.Subject) -> String
  ) {
    if dropped.isEmpty { return }
    let isDropped = { (change: UndoChange) in change.property == "parent" && dropped.contains(change.subject) }
    let changes = plan.report.changes.filter(isDropped)
    plan.report.changes.removeAll(where: isDropped)
    plan.report.removeForced(where: isDropped)
    for change in changes { _ = overrides(change, .homeGone, isForcible: false, sentence(change.subject)) }
  }

  // MARK: Places of assets

  /// The name of a container.
  private mutating func home<T: TransactionReading & ~Copyable>(
    of container: ObjectNumber, _ t: borrowing T
  ) throws -> UndoChange.Subject {
    if let known = homes[container] { return known }
    var found = UndoChange.Subject.library
    if let row = try projections.collection(container, in: t) {
      found = subject(row)
    } else if let number = try projections.pick(container, in: t)?.client ?? Optional(container),
      let row = try projections.client(number, in: t)
    {
      found = .client(row.name)
    }
    homes[container] = found
    return found
  }

  mutating func judgePlaces<T: TransactionReading & ~Copyable>(_ t: borrowing T) throws {
    let returned = Dictionary(uniqueKeysWithValues: plan.returns.map { ($0.row.number, $0.row.identifier) })
    let removed = Set(plan.removals)
    for (member, net) in composition.judgedPlaces where !removed.contains(member.child) {
      let identifier = try returned[member.child] ?? projections.asset(member.child, in: t)?.identifier
      // A selection that follows an album goes with the album's members.
      if try isWhole(member.container, t) { continue }
      // The restoration of a purged asset was decided, and reported, with the asset. What the chosen commits created
      // and is gone has no place to return to.
      if identifier == nil, let exists = composition.assets[member.child]?.exists, !exists.base || !exists.given {
        continue
      }
      try judge(net, of: member, identifier, t)
    }
    for (container, placements) in plan.placements {
      plan.placements[container] = try separated(placements, in: container, t)
    }
  }

  /// Gives each of several members of one container a key of its own.
  ///
  /// Rekeyings may have put former keys together. They are moved apart in the order that they had, up to a key that a
  /// member has: those that want this one are all put before that member.
  private func separated<T: TransactionReading & ~Copyable>(
    _ placements: [UndoPlan.Placement], in container: ObjectNumber, _ t: borrowing T
  ) throws -> [UndoPlan.Placement] {
    var placements = placements
    let order = placements.indices.sorted { placements[$0].rank < placements[$1].rank }
    var last: OrderKey?
    for index in order {
      guard var key = placements[index].key else { continue }
      if let last, key <= last {
        let isFree = try projections.member(at: last, of: container, in: t) == nil
        key = isFree ? OrderKey(rawValue: last.rawValue + 1) : last
        placements[index].key = key
      }
      last = key
    }
    return placements
  }

  private mutating func judge<T: TransactionReading & ~Copyable>(
    _ net: UndoComposition.PlaceNet<OrderKey>, of member: ContainerMember, _ identifier: LocalIdentifier?,
    _ t: borrowing T
  ) throws {
    let current = try projections.key(of: member.child, in: member.container, t)
    let target = try net.base.map {
      try composition.rekeyings.map(ContainerPlace(container: member.container, key: $0), after: net.found, in: t)
    }
    let given = try net.given.map {
      let place = ContainerPlace(container: member.container, key: $0)
      return try composition.rekeyings.follow(place, of: member.child, after: net.last, in: t).key
    }
    guard current != target else {
      plan.report.alreadyCount += 1
      return
    }
    let home = try home(of: member.container, t)
    let kind: UndoChange.Kind = if case .client = home { .permission } else { .membership }
    let subject = identifier.map { UndoChange.Subject.asset($0) } ?? .library
    let change = UndoChange(kind, subject, in: home, "orderKey", from: .key(current), to: .key(target))
    guard identifier != nil else {
      _ = overrides(
        change, .goneSince, isForcible: false, "A member of \(home.phrase) has been removed since.")
      return
    }
    // A following that others began has made the whole selection, also what it left as it was.
    if current != given || composition.isResettled(member.container) {
      let sentence = "The position of \(subject.phrase) in \(home.phrase) was changed since."
      guard overrides(change, .changedSince, sentence) else { return }
    }
    let placement = UndoPlan.Placement(child: member.child, key: target, former: net.base)
    plan.placements[member.container, default: []].append(placement)
    let comesWithAsset = composition.assets[member.child]?.exists?.given == false && current == nil
    if !comesWithAsset { plan.report.changes.append(change) }
  }
}

extension LogValue {
  fileprivate static func key(_ key: OrderKey?) -> LogValue {
    key.map { .text(String($0.rawValue, radix: 16)) } ?? .null
  }
}
