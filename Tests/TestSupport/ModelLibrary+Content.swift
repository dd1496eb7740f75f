package import Foundation
package import PhotoLedger

/// What indexes count on: a list that the caller looked at, and the container it shows (AL-05).
package struct ModelBasis: Sendable {
  /// The container that the result shows; nil within: the root. Nil: it shows no container.
  package var container: LocalIdentifier??
  /// The shown objects.
  package var shown: [LocalIdentifier]
  /// What comes after them where a limit cuts the result off.
  package var beyond: [LocalIdentifier]
  /// How the caller saw the library when it looked.
  package var eyes: ModelEyes

  package init(container: LocalIdentifier??, shown: [LocalIdentifier], beyond: [LocalIdentifier], eyes: ModelEyes) {
    self.container = container
    self.shown = shown
    self.beyond = beyond
    self.eyes = eyes
  }
}

extension ModelLibrary {
  // MARK: Collections themselves

  package mutating func create(
    _ kind: PhotoCollection.Kind, _ title: String, as id: LocalIdentifier, at date: Date,
    _ query: ModelSmartAlbum? = nil
  ) throws {
    try checkMayChange()
    collections[id] = ModelCollection(kind, title, id, date)
    order[id] = order.count
    collectionsInOrder.append(id)
    members[id] = []
    smart[id] = query
    if acting != PhotoLibrary.owner { (creators[id], creatorDates[id]) = (acting, date) }
    topLevel.append(id)
    placed.insert(id)
    note(collection: id)
  }

  package mutating func setTitle(_ title: String, of id: LocalIdentifier, at date: Date) throws {
    try checkMayChange()
    try checkCollection(id)
    guard collections[id]?.title != title else { return }
    collections[id]?.title = title
    collections[id]?.modificationDate = date
    if creators[id] != nil { creatorDates[id] = date }
    note(collection: id)
  }

  /// Chooses the cover of an album; nil takes the choice back, as far as the acting client sees it.
  package mutating func setCover(_ asset: LocalIdentifier?, of id: LocalIdentifier) throws {
    try checkMayChange()
    try checkCollection(id)
    guard collections[id]?.kind == .album else { throw ModelRefusal(code: .changeNotSupported) }
    if let asset {
      try checkAsset(asset)
      guard shown(in: id).contains(asset) else { throw ModelRefusal(code: .changeNotSupported) }
    }
    let (everybodys, makers) = (collections[id]?.cover, creatorCovers[id])
    let isLimited = eyes(of: acting) != .full
    guard asset != (isLimited ? makers : everybodys) else { return }
    // A limited client does not revert what it cannot see.
    // Nor does it choose for all what only it is shown.
    let isShown = asset.map { assets[$0]?.isShown ?? false } ?? true
    if everybodys != asset, isShown, !isLimited || asset != nil || everybodys == makers {
      collections[id]?.cover = asset
      noted[PhotoLibrary.owner, default: []].insert(id)
    }
    guard let creator = creators[id], makers != asset else { return }
    if let asset, !(clients[creator]?.selection.contains(asset) ?? false) { return }
    creatorCovers[id] = asset
    note([id], creator)
  }

  /// Ends the covers that are not shown any more.
  mutating func settleCovers() {
    for (id, collection) in collections {
      let content = content(of: id)
      if let cover = collection.cover, !content.contains(cover) || !(assets[cover]?.isShown ?? false) {
        collections[id]?.cover = nil
      }
      guard let cover = creatorCovers[id] else { continue }
      let selection = creators[id].flatMap { clients[$0]?.selection } ?? []
      let isShown = content.contains(cover) && assets[cover]?.isShownInSelections ?? false
      if !isShown || !selection.contains(cover) { creatorCovers[id] = nil }
    }
  }

  /// What the acting client cannot see goes from its folders to the end of the top level.
  package mutating func deleteCollections(_ ids: [LocalIdentifier], at date: Date) throws {
    try checkMayChange()
    for id in ids { try checkCollection(id) }
    var waiting = ids
    while let id = waiting.popLast() {
      if deleted.contains(id) { continue }
      if collections[id]?.kind == .folder {
        let children = content(of: id)
        waiting += children.filter { sees($0) }
        let strangers = children.filter { !sees($0) }
        setContent(of: id, children.filter { sees($0) })
        note(places: strangers, in: id, at: date)
        settle(strangers, from: id, date)
      }
      deleted.insert(id)
      note(collection: id)
    }
    followAlbums()
  }

  // MARK: What stands in them

  package mutating func insert(
    _ ids: [LocalIdentifier], into container: LocalIdentifier?, at index: Int?, _ basis: ModelBasis?, at date: Date
  ) throws {
    try checkContainer(container, basis)
    let anchor = try index.flatMap { try self.anchor($0, in: container, basis) }
    for id in ids { try checkChild(id, of: container) }
    var children: [LocalIdentifier] = []
    for id in ids where !content(of: container).contains(id) && !children.contains(id) { children.append(id) }
    guard !children.isEmpty else { return }
    takeOutOfParents(children, for: container, date)
    put(children, into: container, before: anchor, date)
  }

  package mutating func remove(
    _ ids: [LocalIdentifier], from container: LocalIdentifier?, _ basis: ModelBasis?, at date: Date
  ) throws {
    try checkContainer(container, basis)
    for id in ids { try checkChild(id, of: container) }
    var leaving: [LocalIdentifier] = []
    for id in ids where !leaving.contains(id) { leaving.append(id) }
    try takeOut(leaving, of: container, date)
  }

  package mutating func remove(
    at indexes: [Int], from container: LocalIdentifier?, _ basis: ModelBasis?, at date: Date
  ) throws {
    try checkContainer(container, basis)
    try takeOut(try objects(at: indexes, in: container, basis), of: container, date)
  }

  package mutating func replace(
    at indexes: [Int], in container: LocalIdentifier?, with ids: [LocalIdentifier], _ basis: ModelBasis?,
    at date: Date
  ) throws {
    try checkContainer(container, basis)
    for id in ids { try checkChild(id, of: container) }
    guard ids.count == indexes.count, Set(ids).count == ids.count else {
      throw ModelRefusal(code: .changeNotSupported)
    }
    let old = content(of: container)
    let pairs = zip(try objects(at: indexes, in: container, basis), ids).filter { old.contains($0.0) && sees($0.0) }
    let successors = Dictionary(uniqueKeysWithValues: pairs)
    let newcomers = Set(pairs.map(\.1))
    takeOutOfParents(pairs.map(\.1), for: container, date)
    // Each slot is filled; a newcomer leaves the place that it had; the rest stays.
    let new = old.compactMap { successors[$0] ?? (newcomers.contains($0) ? nil : $0) }
    guard new != old else { return }
    setContent(of: container, new)
    note(places: pairs.filter { $0.0 != $0.1 }.flatMap { [$0.0, $0.1] }, in: container, at: date)
    recount()
    settle(pairs.map(\.0).filter { !newcomers.contains($0) }, from: container, date)
  }

  package mutating func move(
    at indexes: [Int], in container: LocalIdentifier?, to destination: Int, _ basis: ModelBasis?, at date: Date
  ) throws {
    try checkContainer(container, basis)
    let moved = try objects(at: indexes, in: container, basis)
    guard let first = indexes.first, let last = indexes.last else { return }
    if last - first + 1 == indexes.count, destination == first { return }
    let list = basis?.shown ?? shown(in: container)
    let rest = list.filter { !moved.contains($0) }
    let shortened = ModelBasis(
      container: basis?.container, shown: rest, beyond: basis?.beyond ?? [], eyes: eyes(of: acting))
    let anchor = try anchor(destination, in: container, shortened)
    let present = moved.filter { content(of: container).contains($0) && sees($0) }
    guard !present.isEmpty else { return }
    setContent(of: container, content(of: container).filter { !present.contains($0) })
    put(present, into: container, before: anchor, date)
  }

  // MARK: Steps

  private func objects(
    at indexes: [Int], in container: LocalIdentifier?, _ basis: ModelBasis?
  ) throws -> [LocalIdentifier] {
    let list = basis?.shown ?? shown(in: container)
    return try indexes.map { index in
      guard list.indices.contains(index) else { throw ModelRefusal(code: .changeNotSupported) }
      return list[index]
    }
  }

  /// What something is put before; nil: the end.
  private func anchor(
    _ index: Int, in container: LocalIdentifier?, _ basis: ModelBasis?
  ) throws -> LocalIdentifier? {
    let list = basis?.shown ?? shown(in: container)
    guard (0...list.count).contains(index) else { throw ModelRefusal(code: .changeNotSupported) }
    return (list[index...] + (basis?.beyond ?? [])).first { content(of: container).contains($0) && sees($0) }
  }

  mutating func put(
    _ children: [LocalIdentifier], into container: LocalIdentifier?, before anchor: LocalIdentifier?, _ date: Date
  ) {
    var list = content(of: container)
    list.insert(contentsOf: children, at: anchor.flatMap { list.firstIndex(of: $0) } ?? list.count)
    setContent(of: container, list)
    note(places: children, in: container, at: date)
    recount()
  }

  private mutating func takeOut(_ ids: [LocalIdentifier], of container: LocalIdentifier?, _ date: Date) throws {
    let leaving = ids.filter { content(of: container).contains($0) && sees($0) }
    guard !leaving.isEmpty else { return }
    guard let container else { throw ModelRefusal(code: .changeNotSupported) }
    setContent(of: container, content(of: container).filter { !leaving.contains($0) })
    note(places: leaving, in: container, at: date)
    recount()
    settle(leaving, from: container, date)
  }

  /// A collection that was taken out of a folder goes to the end of the top level (FO-01).
  private mutating func settle(_ ids: [LocalIdentifier], from container: LocalIdentifier?, _ date: Date) {
    guard container.map({ collections[$0]?.kind == .folder }) ?? true, !ids.isEmpty else { return }
    topLevel = topLevel.filter { !ids.contains($0) } + ids
    note(places: ids, in: nil, at: date)
  }

  /// A collection has one parent (FO-01).
  private mutating func takeOutOfParents(_ ids: [LocalIdentifier], for container: LocalIdentifier?, _ date: Date) {
    for id in ids where assets[id] == nil {
      for parent in containers(of: id) where parent != container {
        setContent(of: parent, content(of: parent).filter { $0 != id })
        note(places: [id], in: parent, at: date)
      }
    }
  }

  // MARK: Checks

  func checkCollection(_ id: LocalIdentifier) throws {
    guard collections[id] == nil || deleted.contains(id) || !sees(id) else { return }
    throw ModelRefusal(code: assets[id] != nil && sees(id) ? .changeNotSupported : .identifierNotFound)
  }

  private func checkContainer(_ container: LocalIdentifier?, _ basis: ModelBasis?) throws {
    try checkMayChange()
    if let container {
      try checkCollection(container)
      if collections[container]?.kind == .smartAlbum { throw ModelRefusal(code: .changeNotSupported) }
    }
    guard let basis else { return }
    guard let shows = basis.container, shows == container, basis.eyes == eyes(of: acting) else {
      throw ModelRefusal(code: .changeNotSupported)
    }
  }

  private func checkChild(_ id: LocalIdentifier, of container: LocalIdentifier?) throws {
    if let container, collections[container]?.kind == .album { return try checkAsset(id) }
    try checkCollection(id)
    var ancestor = container
    while let folder = ancestor {
      guard folder != id else { throw ModelRefusal(code: .changeNotSupported) }
      ancestor = containers(of: folder).first ?? nil
    }
  }
}
