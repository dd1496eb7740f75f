import Foundation
package import PhotoLedger

/// A client and what it may do.
package struct ModelClient: Equatable, Sendable {
  package var readWrite = AuthorizationStatus.notDetermined
  package var addOnly = AuthorizationStatus.notDetermined
  package var selection: Set<LocalIdentifier> = []
  /// The album that the selection follows.
  package var album: LocalIdentifier?
}

/// How a client sees the library.
package enum ModelEyes: Equatable, Sendable {
  case full
  /// The assets of the client's selection, and the collections that it made.
  case limited(String)
  case none
}

extension ModelLibrary {
  // MARK: Seeing

  package func eyes(of client: String) -> ModelEyes {
    if client == PhotoLibrary.owner { return .full }
    switch clients[client]?.readWrite ?? .notDetermined {
    case .authorized: return .full
    case .limited: return .limited(client)
    case .notDetermined, .restricted, .denied: return .none
    }
  }

  /// Whether the acting client sees an object, hidden, trashed and deleted ones included.
  package func sees(_ id: LocalIdentifier) -> Bool { sees(id, eyes(of: acting)) }

  package func sees(_ id: LocalIdentifier, _ eyes: ModelEyes) -> Bool {
    switch eyes {
    case .full: assets[id] != nil || collections[id] != nil
    case .limited(let client):
      assets[id] != nil ? clients[client]?.selection.contains(id) ?? false : creators[id] == client
    case .none: false
    }
  }

  /// A collection as a client sees it.
  package func collection(_ id: LocalIdentifier, for client: String) -> ModelCollection? {
    collection(id, eyes(of: client))
  }

  package func collection(_ id: LocalIdentifier, _ eyes: ModelEyes) -> ModelCollection? {
    guard var collection = collections[id], case .limited(let client) = eyes else { return collections[id] }
    if collection.kind != .smartAlbum {
      let selection = clients[client]?.selection ?? []
      collection.count = content(of: id).count { member in
        selection.contains(member) && assets[member]?.isShownInSelections ?? false
      }
    }
    collection.modificationDate = creatorDates[id] ?? collection.creationDate
    collection.cover = creatorCovers[id]
    return collection
  }

  /// Everything that is there for somebody's eyes, the trash included.
  package func present(to eyes: ModelEyes) -> Set<LocalIdentifier> {
    Set((Array(assets.keys) + Array(collections.keys)).filter { sees($0, eyes) && !deleted.contains($0) })
  }

  /// Whether an object that is there before and after looks different to somebody.
  package func differs(_ id: LocalIdentifier, from earlier: ModelLibrary, to eyes: ModelEyes) -> Bool {
    assets[id]?.seen(by: eyes) != earlier.assets[id]?.seen(by: eyes) || newFiles.contains(id)
      || collection(id, eyes) != earlier.collection(id, eyes)
  }

  // MARK: What may be done

  /// Begins to execute a client's requests.
  package mutating func begin(as client: String) {
    acting = client
    (newFiles, placed, noted, switched) = ([], [], [:], [])
  }

  func refusal(_ client: String) -> ModelRefusal {
    ModelRefusal(code: clients[client]?.readWrite == .restricted ? .accessRestricted : .accessUserDenied)
  }

  /// Whether the acting client may change anything that it sees.
  func checkMayChange() throws {
    if eyes(of: acting) == .none { throw refusal(acting) }
  }

  /// Whether the acting client may put anything into a block.
  package func checkMayAdd() throws {
    if eyes(of: acting) == .none, clients[acting]?.addOnly != .authorized { throw refusal(acting) }
  }

  // MARK: The clients that see a request's work

  mutating func note(_ ids: some Sequence<LocalIdentifier>, _ client: String) {
    guard clients[client]?.readWrite == .limited else { return }
    noted[client, default: []].formUnion(ids)
  }

  /// Notes the change of an asset.
  mutating func note(asset id: LocalIdentifier) {
    noted[PhotoLibrary.owner, default: []].insert(id)
    for client in clients.keys where clients[client]?.selection.contains(id) ?? false {
      note([id], client)
      // Of albums that show it the count may have changed.
      note(members.filter { $0.value.contains(id) && creators[$0.key] == client }.map(\.key), client)
    }
  }

  /// Notes the change of a collection's own properties.
  mutating func note(collection id: LocalIdentifier) {
    noted[PhotoLibrary.owner, default: []].insert(id)
    if let creator = creators[id] { note([id], creator) }
  }

  /// Notes that children were given or taken places in a container, and dates it.
  mutating func note(places ids: some Collection<LocalIdentifier>, in container: LocalIdentifier?, at date: Date) {
    guard !ids.isEmpty else { return }
    defer { followAlbums() }
    placed.formUnion(ids)
    guard let container else {
      for id in ids where !deleted.contains(id) { if let creator = creators[id] { note([], creator) } }
      return
    }
    noted[PhotoLibrary.owner, default: []].insert(container)
    collections[container]?.modificationDate = date
    guard let creator = creators[container] else { return }
    if collections[container]?.kind == .album {
      let isFollowed = clients[creator]?.album == container && !deleted.contains(container)
      let joins = isFollowed && ids.contains { members[container]?.contains($0) ?? false }
      guard joins || ids.contains(where: { clients[creator]?.selection.contains($0) ?? false }) else { return }
      note([container], creator)
    } else {
      let own = ids.filter { creators[$0] == creator }
      guard !own.isEmpty else { return }
      if own.contains(where: { !deleted.contains($0) }) { note([container], creator) }
    }
    creatorDates[container] = date
  }

  // MARK: The owner's decisions

  package mutating func setStatus(
    _ status: AuthorizationStatus, of client: String, for level: AccessLevel = .readWrite
  ) throws {
    guard acting == PhotoLibrary.owner else { throw ModelRefusal(code: .accessUserDenied) }
    guard level == .readWrite || status != .limited else { throw ModelRefusal(code: .changeNotSupported) }
    let old = clients[client] ?? ModelClient()
    clients[client] = old
    guard (level == .readWrite ? old.readWrite : old.addOnly) != status else { return }
    if level == .readWrite {
      clients[client]?.readWrite = status
      switched.insert(client)
    } else {
      clients[client]?.addOnly = status
    }
    if clients[client]?.readWrite != .authorized { noted[client, default: []].formUnion([]) }
  }

  package mutating func grant(_ ids: [LocalIdentifier], to client: String) throws {
    try select(ids, for: client) { selection, id in selection.insert(id).inserted }
  }

  package mutating func withdraw(_ ids: [LocalIdentifier], from client: String) throws {
    try select(ids, for: client) { selection, id in selection.remove(id) != nil }
  }

  private mutating func select(
    _ ids: [LocalIdentifier], for client: String, _ change: (inout Set<LocalIdentifier>, LocalIdentifier) -> Bool
  ) throws {
    guard acting == PhotoLibrary.owner else { throw ModelRefusal(code: .accessUserDenied) }
    guard clients[client]?.album == nil else { throw ModelRefusal(code: .changeNotSupported) }
    for id in ids { try checkAsset(id) }
    var selection = clients[client]?.selection ?? []
    let moved = ids.filter { change(&selection, $0) }
    clients[client]?.selection = selection
    joined(moved, client)
  }

  package mutating func follow(_ album: LocalIdentifier?, as client: String) throws {
    guard acting == PhotoLibrary.owner else { throw ModelRefusal(code: .accessUserDenied) }
    if let album {
      try checkCollection(album)
      guard collections[album]?.kind == .album else { throw ModelRefusal(code: .changeNotSupported) }
    }
    guard clients[client]?.album != album else { return }
    clients[client]?.album = album
    if clients[client]?.readWrite != .authorized { noted[client, default: []].formUnion([]) }
    followAlbums()
  }

  /// Lets every selection that follows an album be what stands in it.
  mutating func followAlbums() {
    for (name, client) in clients {
      guard let album = client.album else { continue }
      let wanted = deleted.contains(album) ? [] : Set(members[album] ?? [])
      let (coming, going) = (wanted.subtracting(client.selection), client.selection.subtracting(wanted))
      clients[name]?.selection = wanted
      joined(Array(coming) + Array(going), name)
    }
  }

  /// Notes that assets joined or left a selection.
  mutating func joined(_ ids: [LocalIdentifier], _ client: String) {
    defer { settleCovers() }
    guard !ids.isEmpty else { return }
    let albums = members.filter { album, content in
      creators[album] == client && ids.contains { content.contains($0) && assets[$0]?.isShownInSelections ?? false }
    }
    note(ids + albums.map(\.key), client)
  }
}
