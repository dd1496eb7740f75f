import CountedTree
import EventLog
import Foundation
import LMDB

// The members of albums and folders, and their order (AL-01 … AL-06, FO-01 … FO-05).
//
// Every request is reduced to members and an anchor: "these, directly before that one" or "at the end". An index is
// converted to an anchor through the list that the caller sees: the result that it passed in, or the current visible
// content. Members that are not shown (hidden, trashed, deleted) keep their positions and are never counted; a member
// inserted before a shown member is directly before it, one added at the end is after all of them.

/// A container with the number of its row.
private struct Contents {
  var row: CollectionRow
  /// How many members there are, shown or not.
  var memberCount: Int
  var basis: ResultCore?
  var access: Access
  var expectation = ContentExpectation()
  var holdsAssets: Bool { row.kind == .album }
  /// How many members the caller sees: in the result that it passed in, or in an album; nil where that takes a count.
  var shownCount: Int? { basis?.shown.count ?? (holdsAssets ? row.assetCount : nil) }
  var name: String { row.title.map { "'\($0)'" } ?? "the top level" }
}

extension Decider {
  // MARK: Requests

  mutating func insert(
    _ identifiers: [LocalIdentifier], _ container: ChangeRequest.Container, at index: Int?, _ t: inout WriteTransaction
  ) throws {
    let contents = try contents(container, t)
    var anchor: ObjectNumber?
    if let index {
      anchor = try self.anchor(at: index, in: contents, leaving: [], t)
      try checkNext(anchor, at: index, askedAs: index, in: contents, t)
    }
    let children = try distinct(identifiers).map { try child($0, of: contents, t) }
      .filter { try projections.key(of: $0, in: contents.row.number, t) == nil }
    guard !children.isEmpty else { return }
    if !contents.holdsAssets { try takeOutOfParents(children, goingTo: contents, &t) }
    let keys = try makeRoom(in: contents.row.number, before: anchor, count: children.count, &t)
    try arrange(contents.row.number, .inserted, zip(children, keys).map { .init(child: $0, old: nil, new: $1) }, &t)
  }

  /// Puts assets that are in no album yet at the end of one, which may be deleted.
  mutating func append(_ assets: [ObjectNumber], to album: ObjectNumber, _ t: inout WriteTransaction) throws {
    let keys = try makeRoom(in: album, before: nil, count: assets.count, &t)
    try arrange(album, .inserted, zip(assets, keys).map { .init(child: $0, old: nil, new: $1) }, &t)
  }

  mutating func remove(
    _ identifiers: [LocalIdentifier], _ container: ChangeRequest.Container, _ t: inout WriteTransaction
  ) throws {
    let contents = try contents(container, t)
    try remove(try distinct(identifiers).map { try child($0, of: contents, t) }, from: contents, &t)
  }

  mutating func remove(
    at indexes: [Int], _ container: ChangeRequest.Container, _ t: inout WriteTransaction
  ) throws {
    let contents = try contents(container, t)
    try remove(try members(at: indexes, in: contents, t), from: contents, &t)
  }

  mutating func replace(
    at indexes: [Int], _ container: ChangeRequest.Container, with identifiers: [LocalIdentifier],
    _ t: inout WriteTransaction
  ) throws {
    let contents = try contents(container, t)
    let newcomers = try identifiers.map { try child($0, of: contents, t) }
    guard newcomers.count == indexes.count, Set(newcomers).count == newcomers.count,
      Set(indexes).count == indexes.count
    else {
      throw LibraryError(
        .changeNotSupported,
        """
        Replacing in \(contents.name) needs as many different members as different indexes; \
        got \(Set(newcomers).count) for \(Set(indexes).count).
        """)
    }
    // Each index has the newcomer that is passed with it, in whatever order they come.
    let pairs = zip(indexes, newcomers).sorted { $0.0 < $1.0 }
    // A member of the passed result that has been taken out meanwhile leaves no place to fill.
    let slots = try zip(members(at: pairs.map(\.0), in: contents, t), pairs.map(\.1)).compactMap { outgoing, newcomer in
      try place(of: outgoing, in: contents, t).map { (outgoing, newcomer, $0) }
    }
    let staying = Set(slots.map(\.1))
    if !contents.holdsAssets { try takeOutOfParents(slots.map(\.1), goingTo: contents, &t) }
    var places: [Arranged.Place] = []
    for (outgoing, newcomer, key) in slots {
      if !staying.contains(outgoing) { places.append(.init(child: outgoing, old: key, new: nil)) }
      let old = try projections.key(of: newcomer, in: contents.row.number, t)
      if old != key { places.append(.init(child: newcomer, old: old, new: key)) }
    }
    let leaving = places.filter { $0.new == nil }.map(\.child)
    try arrange(contents.row.number, .replaced, places, &t)
    try settle(leaving, from: contents, &t)
  }

  mutating func move(
    at indexes: [Int], _ container: ChangeRequest.Container, to destination: Int, _ t: inout WriteTransaction
  ) throws {
    let contents = try contents(container, t)
    let indexes = Array(Set(indexes)).sorted()
    let moved = try members(at: indexes, in: contents, t)
    // The destination counts without the moved members (AL-03); with them, it lies as much further as stand before it.
    var index = destination
    // No place lies beyond the largest number there is.
    for moved in indexes where moved <= index && index < .max { index += 1 }
    if let shown = contents.shownCount, !indexes.isEmpty, destination < 0 || index > shown {
      throw outOfRange(destination, contents, count: shown)
    }
    let isInPlace = indexes.last.map { $0 - indexes[0] + 1 == indexes.count && index == $0 + 1 } ?? true
    if isInPlace && contents.expectation.next == nil { return }
    let anchor = try anchor(at: index, askedAs: destination, in: contents, leaving: Set(moved), t)
    try checkNext(anchor, at: index, askedAs: destination, in: contents, t)
    if isInPlace { return }
    let present = try moved.compactMap { child in
      try place(of: child, in: contents, t) == nil ? nil : child
    }
    guard !present.isEmpty else { return }
    let keys = try makeRoom(in: contents.row.number, before: anchor, count: present.count, &t)
    let places = try zip(present, keys).map { child, key in
      Arranged.Place(child: child, old: try projections.key(of: child, in: contents.row.number, t), new: key)
    }
    try arrange(contents.row.number, .moved, places, &t)
  }

  // MARK: Containers and members

  private func contents(
    _ container: ChangeRequest.Container, _ t: borrowing WriteTransaction
  ) throws -> Contents {
    let row = try container.identifier.map { try collection($0, t) } ?? projections.collection(rootFolder, in: t)
    guard let row else { throw projections.corruption("its root folder") }
    guard row.kind != .smartAlbum else {
      throw LibraryError(
        .changeNotSupported,
        "The content of the smart album '\(row.title ?? "")' follows from its query and cannot be edited.")
    }
    let contents = Contents(
      row: row.seen(by: permission.access), memberCount: row.memberCount, basis: try container.basis?.get(),
      access: permission.access, expectation: container.expectation)
    if let basis = contents.basis {
      guard basis.library == library, basis.plan.query.scope == .members(of: row.number),
        basis.plan.query.access == permission.access
      else {
        throw LibraryError(
          .changeNotSupported, "The result passed in is not a fetch of \(contents.name); pass one that is."
        )
      }
    }
    return contents
  }

  /// The number of an object that may be in a container (FO-02, FO-05).
  private func child(
    _ identifier: LocalIdentifier, of contents: Contents, _ t: borrowing WriteTransaction
  ) throws -> ObjectNumber {
    if contents.holdsAssets { return try asset(identifier, t).number }
    let row = try editable(identifier, t)
    var ancestor = contents.row.number
    var steps = try t.count(of: projections.collections)
    while ancestor != rootFolder, ancestor != 0 {
      guard steps > 0 else { throw projections.corruption("the folders above collection \(contents.row.number)") }
      steps -= 1
      guard ancestor != row.number else {
        throw LibraryError(
          .changeNotSupported,
          "The folder '\(row.title ?? "")' cannot be put into \(contents.name): it would contain itself.")
      }
      ancestor = try projections.collection(ancestor, in: t)?.parent ?? 0
    }
    return row.number
  }

  private func isShown(_ child: ObjectNumber, in contents: Contents, _ t: borrowing WriteTransaction) throws -> Bool {
    let isAllShown = contents.row.assetCount == contents.row.memberCount && contents.access == .full
    if contents.holdsAssets, isAllShown { return true }
    return try isShown(child, isAsset: contents.holdsAssets, t)
  }

  /// Whether the client sees an object where it is a member.
  private func isShown(_ child: ObjectNumber, isAsset: Bool, _ t: borrowing WriteTransaction) throws -> Bool {
    let access = permission.access
    guard isAsset else {
      return try projections.collection(child, in: t).map { $0.deletedDate == nil && access.shows($0) } ?? false
    }
    guard try projections.shows(child, to: access, in: t), let row = try projections.asset(child, in: t)
    else { return false }
    return row.isVisible(to: access)
  }

  /// The order key of a member that the client can see; nil if it is not a member, or not visible.
  private func place(
    of child: ObjectNumber, in contents: Contents, _ t: borrowing WriteTransaction
  ) throws -> OrderKey? {
    if contents.access != .full {
      guard try projections.shows(child, isAsset: contents.holdsAssets, to: contents.access, in: t) else { return nil }
    }
    return try projections.key(of: child, in: contents.row.number, t)
  }

  /// The members at positions of the list that the caller sees, in the order of the positions.
  private mutating func members(
    at indexes: [Int], in contents: Contents, _ t: borrowing WriteTransaction
  ) throws -> [ObjectNumber] {
    let indexes = Array(Set(indexes)).sorted()
    guard let last = indexes.last else { return [] }
    guard indexes[0] >= 0 else { throw outOfRange(indexes[0], contents, count: nil) }
    if let shown = contents.shownCount, last >= shown { throw outOfRange(last, contents, count: shown) }
    if let basis = contents.basis {
      let found = indexes.map(basis.number(at:))
      try check(found, at: indexes, in: contents, t)
      return found
    }
    let (found, count) = try shownMembers(at: indexes, of: contents, t)
    guard found.count == indexes.count else { throw outOfRange(last, contents, count: count) }
    try check(found, at: indexes, in: contents, t)
    return found
  }

  /// The member before which to insert at an index; nil at the end.
  /// - Parameter asked: the index as passed by the caller, for messages; nil: the same.
  private mutating func anchor(
    at index: Int, askedAs asked: Int? = nil, in contents: Contents, leaving: Set<ObjectNumber>,
    _ t: borrowing WriteTransaction
  ) throws -> ObjectNumber? {
    guard index >= 0 else { throw outOfRange(asked ?? index, contents, count: nil) }
    if let shown = contents.shownCount, index > shown { throw outOfRange(asked ?? index, contents, count: shown) }
    if let basis = contents.basis {
      // What stood there may have been taken out meanwhile: the next one that is still here takes its part (AL-05).
      for position in (basis.shown.lowerBound + index)..<basis.order.count {
        let child = basis.order.number(at: position)
        if !leaving.contains(child), try place(of: child, in: contents, t) != nil { return child }
      }
      return nil
    }
    if contents.holdsAssets, index == contents.row.assetCount { return nil }
    let (found, count) = try shownMembers(at: [index], of: contents, t)
    guard !found.isEmpty || index == count else { throw outOfRange(asked ?? index, contents, count: count) }
    return found.first
  }

  /// The members at positions of the current content, as the client sees it.
  /// - Parameter indexes: ascending, at least one.
  /// - Returns: the members, in the order of the positions, as far as there are any; and if some are missing, how many
  ///   members are shown.
  private mutating func shownMembers(
    at indexes: [Int], of contents: Contents, _ t: borrowing WriteTransaction
  ) throws -> (found: [ObjectNumber], count: Int) {
    let container = contents.row.number
    if shownMembers.isWorthListing(container, memberCount: contents.memberCount) {
      let members = try members(of: container, t) { try isShown($0, in: contents, t) }
      shownMembers.list(members, of: container, holdingAssets: contents.holdsAssets)
    }
    if let list = shownMembers[container] {
      return (indexes.prefix { $0 < list.members.count }.map { list.members[$0].number }, list.members.count)
    }
    // From the end that is nearer: most often what was added last is taken out or moved.
    let (count, last) = (contents.row.assetCount, indexes[indexes.count - 1])
    let isFromEnd = contents.holdsAssets && last < count && count - indexes[0] <= last
    let wanted = isFromEnd ? indexes.reversed().map { count - 1 - $0 } : indexes
    var found: [ObjectNumber] = []
    var (position, steps) = (0, 0)
    try projections.forEachMember(of: container, backward: isFromEnd, in: t) { _, child in
      steps += 1
      guard try isShown(child, in: contents, t) else { return true }
      if wanted[found.count] == position { found.append(child) }
      position += 1
      return found.count < wanted.count
    }
    shownMembers.noteWalk(of: container, steps: steps)
    if isFromEnd { found.reverse() }
    return (found, position)
  }

  /// The members of a container for which a condition holds, in their order.
  private func members(
    of container: ObjectNumber, _ t: borrowing WriteTransaction, where isWanted: (ObjectNumber) throws -> Bool
  ) throws -> CountedTree<NarrowKey> {
    var keys: [NarrowKey] = []
    try projections.forEachMember(of: container, in: t) { key, child in
      if try isWanted(child) { keys.append(NarrowKey(word: key.rawValue, number: child)) }
      return true
    }
    return CountedTree(sorted: keys)
  }

  /// Keeps the lists of shown members in step after an event.
  /// - Complexity: O(1) without lists; otherwise O(k log n) for the k places of the objects that the event touched.
  mutating func keepShownMembers(after event: Event, _ t: borrowing WriteTransaction) throws {
    guard !shownMembers.isEmpty else { return }
    switch event {
    case .arranged(let arranged) where arranged.verb.isAboutAccess:
      // A selection decides what its client sees of its members in albums.
      for place in arranged.places { try judgeAgain(place.child, t) }
    case .arranged, .assetCreated, .assetPurged, .collectionCreated, .collectionErased:
      try event.forEachPlacement { placement in
        guard let holdsAssets = shownMembers[placement.container]?.holdsAssets else { return }
        if let old = placement.old { shownMembers.remove(placement.child, at: old, from: placement.container) }
        guard let new = placement.new, try isShown(placement.child, isAsset: holdsAssets, t) else { return }
        shownMembers.insert(placement.child, at: new, in: placement.container)
      }
    case .assetsEdited(let edited):
      for edit in edited.edits { try judgeAgain(edit.number, t) }
    case .collectionEdited(let edited):
      if edited.deletedDate != nil { try judgeAgain(edited.number, t) }
    case .nothingChanged: break
    case .libraryCreated, .libraryForked, .assetErased, .clientRegistered, .clientErased, .clientEdited, .pickRecorded,
      .pickErased, .historyShortened:
      shownMembers.forget()
    }
    #if DEBUG
      try checkShownMembers(t)
    #endif
  }

  #if DEBUG
    /// Compares short lists with the members in the store.
    private func checkShownMembers(_ t: borrowing WriteTransaction) throws {
      for (container, list) in shownMembers.shortLists {
        let stored = try members(of: container, t) { try isShown($0, isAsset: list.holdsAssets, t) }
        precondition(
          list.members.elementsEqual(stored), "The listed members of container \(container) are those that it shows.")
      }
    }
  #endif

  /// Looks at an object anew in the listed containers where it is a member.
  private mutating func judgeAgain(_ child: ObjectNumber, _ t: borrowing WriteTransaction) throws {
    for place in try projections.places(of: child, in: t) {
      guard let holdsAssets = shownMembers[place.container]?.holdsAssets else { continue }
      shownMembers.remove(child, at: place.key, from: place.container)
      guard try isShown(child, isAsset: holdsAssets, t) else { continue }
      shownMembers.insert(child, at: place.key, in: place.container)
    }
  }

  private func outOfRange(_ index: Int, _ contents: Contents, count: Int?) -> LibraryError {
    let bound = count.map { "; it shows \($0) members" } ?? ""
    // Others may have taken members out since the indexes were counted.
    let code: LibraryError.Code = contents.expectation.isEmpty ? .changeNotSupported : .conflict
    return LibraryError(code, "There is no position \(index) in \(contents.name)\(bound).")
  }

  // MARK: Expectations

  /// - Throws: ``LibraryError`` `.conflict` if an index names another member than the caller expects.
  private func check(
    _ found: [ObjectNumber], at indexes: [Int], in contents: Contents, _ t: borrowing WriteTransaction
  ) throws {
    guard !contents.expectation.members.isEmpty else { return }
    for (index, child) in zip(indexes, found) {
      guard let expected = contents.expectation.members[index] else { continue }
      let identifier = try identifier(of: child, in: contents, t)
      guard identifier == expected else { throw differs(identifier, expected.uuidString, at: index, contents) }
    }
  }

  /// - Parameters:
  ///   - anchor: the member before which others are put; nil at the end.
  ///   - asked: the index as passed by the caller, for messages.
  /// - Throws: ``LibraryError`` `.conflict` if it is another one than the caller expects.
  private func checkNext(
    _ anchor: ObjectNumber?, at index: Int, askedAs asked: Int, in contents: Contents,
    _ t: borrowing WriteTransaction
  ) throws {
    guard let next = contents.expectation.next else { return }
    // An index of a passed result names the member that stood there, not the one that has taken its place since.
    let child = contents.basis.map { index < $0.shown.count ? $0.number(at: index) : nil } ?? anchor
    let found = try child.flatMap { try identifier(of: $0, in: contents, t) }
    switch next {
    case .member(let expected) where found != expected: throw differs(found, expected.uuidString, at: asked, contents)
    case .end where found != nil: throw differs(found, "the end", at: asked, contents)
    case .member, .end: break
    }
  }

  private func identifier(
    of child: ObjectNumber, in contents: Contents, _ t: borrowing WriteTransaction
  ) throws -> LocalIdentifier? {
    contents.holdsAssets
      ? try projections.asset(child, in: t)?.identifier : try projections.collection(child, in: t)?.identifier
  }

  private func differs(
    _ found: LocalIdentifier?, _ expected: String, at index: Int, _ contents: Contents
  ) -> LibraryError {
    return LibraryError(
      .conflict,
      """
      At position \(index) in \(contents.name) is \(found?.uuidString ?? "the end"), where \(expected) was expected; \
      read the content again, and count anew.
      """)
  }

  // MARK: Taking out

  private mutating func remove(
    _ children: [ObjectNumber], from contents: Contents, _ t: inout WriteTransaction
  ) throws {
    let places = try children.compactMap { child in
      try place(of: child, in: contents, t).map { Arranged.Place(child: child, old: $0, new: nil) }
    }
    guard !places.isEmpty else { return }
    if contents.row.number == rootFolder {
      throw LibraryError(
        .changeNotSupported, "A collection cannot be removed from the top level; delete it, or move it to a folder.")
    }
    try arrange(contents.row.number, .removed, places, &t)
    try settle(places.map(\.child), from: contents, &t)
  }

  /// Takes children that a client cannot see out of a folder that it deletes.
  mutating func takeOut(_ children: [ObjectNumber], of folder: CollectionRow, _ t: inout WriteTransaction) throws {
    guard !children.isEmpty else { return }
    try remove(
      children, from: Contents(row: folder, memberCount: folder.memberCount, basis: nil, access: .full), &t)
  }

  /// Collections that were taken out of a folder go to the end of the top level (FO-01).
  private mutating func settle(
    _ children: [ObjectNumber], from contents: Contents, _ t: inout WriteTransaction
  ) throws {
    guard !contents.holdsAssets, !children.isEmpty else { return }
    let keys = try makeRoom(in: rootFolder, before: nil, count: children.count, &t)
    try arrange(rootFolder, .inserted, zip(children, keys).map { .init(child: $0, old: nil, new: $1) }, &t)
  }

  /// A collection has one parent: adding it to a folder removes it from the other (FO-01).
  /// - Throws: as ``checkNesting(of:in:former:_:)``.
  private mutating func takeOutOfParents(
    _ children: [ObjectNumber], goingTo contents: Contents, _ t: inout WriteTransaction
  ) throws {
    for child in children where try projections.key(of: child, in: contents.row.number, t) == nil {
      try checkNesting(of: child, in: contents.row.number, t)
    }
    for child in children {
      for place in try projections.places(of: child, in: t) where place.container != contents.row.number {
        try arrange(place.container, .removed, [.init(child: child, old: place.key, new: nil)], &t)
      }
    }
  }

  // MARK: Recording

  mutating func arrange(
    _ container: ObjectNumber, _ verb: Arranged.Verb, _ places: [Arranged.Place], _ t: inout WriteTransaction
  ) throws {
    for run in places.inRuns(of: Event.objectLimit) {
      guard let row = try projections.collection(container, in: t) else {
        throw projections.corruption("collection \(container)")
      }
      var arranged = Arranged(verb: verb, container: container, places: Array(run))
      if row.kind == .album {
        for place in run where (place.old == nil) != (place.new == nil) {
          guard let asset = try projections.asset(place.child, in: t) else { continue }
          let shift = place.old == nil ? 1 : -1
          if asset.isVisible { arranged.countShift += shift }
          if asset.isVisibleInSelections, try isSelected(place.child, byCreatorOf: row, t) {
            arranged.creatorShift += shift
          }
        }
      }
      // Rekeying is not a change by a client, so it does not change the dates.
      if verb != .rekeyed {
        arranged.modificationDate = modification(after: row.modificationDate)
        if try isSeen(run, in: row, t) { arranged.creatorDate = modification(after: row.creatorDate) }
      }
      try record(.arranged(arranged), &t)
    }
  }

  func isSelected(
    _ asset: ObjectNumber, byCreatorOf row: CollectionRow, _ t: borrowing WriteTransaction
  ) throws -> Bool {
    try row.creator != 0 && projections.shows(asset, to: row.creatorsAccess, in: t)
  }

  /// Whether the client that made a container may know of some of the members that are arranged in it (AU-01).
  private func isSeen(
    _ places: ArraySlice<Arranged.Place>, in row: CollectionRow, _ t: borrowing WriteTransaction
  ) throws -> Bool {
    guard row.creator != 0 else { return false }
    // What is put into an album that the client follows is granted to it next.
    if row.kind == .album, row.deletedDate == nil, places.contains(where: { $0.new != nil }),
      try projections.client(row.creator, in: t)?.followedAlbum == row.number
    {
      return true
    }
    return try places.contains { place in
      try projections.shows(place.child, isAsset: row.kind != .folder, to: row.creatorsAccess, in: t)
    }
  }

  /// Keys for new members directly before an existing member, or at the end; rekeys its neighbours if there is no room.
  mutating func makeRoom(
    in container: ObjectNumber, before anchor: ObjectNumber?, count: Int, _ t: inout WriteTransaction
  ) throws -> [OrderKey] {
    var upper: OrderKey?
    if let anchor {
      guard let key = try projections.key(of: anchor, in: container, t) else {
        throw projections.corruption("the place of object \(anchor) in \(container)")
      }
      upper = key
    }
    let lower = try neighbours(of: upper, in: container, count: 1, backward: true, t).first?.key
    if let keys = OrderKey.between(lower, upper, count: count) { return keys }

    var reach = 16
    while true {
      let before = try neighbours(of: upper, in: container, count: reach + 1, backward: true, t)
      let after = try neighbours(of: upper, in: container, count: reach + 1, backward: false, t)
      let window = before.prefix(reach).reversed() + after.prefix(reach)
      let outside = (lower: before.dropFirst(reach).first?.key, upper: after.dropFirst(reach).first?.key)
      guard let keys = OrderKey.rekey(between: outside, members: window.count, count: count) else {
        reach *= 4
        continue
      }
      let split = min(before.count, reach)
      let kept = keys[..<split] + keys[(split + count)...]
      let places = zip(window, kept).map { Arranged.Place(child: $0.child, old: $0.key, new: $1) }
      try arrange(container, .rekeyed, places, &t)
      let members = zip(window, kept).map { (child: $0.child, old: $0.key.rawValue, new: $1.rawValue) }
      let rekeying = Rekeyings.Rekeying(last: nextNumber - 1, commit: appender.commit, members: members)
      rekeyings?[container, default: []].append(rekeying)
      return Array(keys[split..<(split + count)])
    }
  }

  /// The members before a key, nearest first, or from it on; nil is the end.
  private func neighbours(
    of key: OrderKey?, in container: ObjectNumber, count: Int, backward: Bool, _ t: borrowing WriteTransaction
  ) throws -> [(key: OrderKey, child: ObjectNumber)] {
    var found: [(key: OrderKey, child: ObjectNumber)] = []
    if !backward, key == nil { return [] }
    let start = backward ? key.map { OrderKey(rawValue: $0.rawValue - 1) } : key
    try projections.forEachMember(of: container, from: start, backward: backward, in: t) { key, child in
      found.append((key, child))
      return found.count < count
    }
    return found
  }
}
