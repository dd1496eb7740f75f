import Foundation
import PhotoLedger
import TestSupport

// A life of a library in which everything happens that can be undone. Blocks are drawn; one that the library refuses is
// forgotten. Few objects and few values, so that things are done to the same ones again and again.

/// Draws blocks for a library, and remembers every state that it went through.
final class UndoHistory {
  let made: TemporaryLibrary
  private(set) var random: SeededGenerator
  /// The states after each commit, the first one of the empty library.
  private(set) var moments: [(token: Token, state: UndoState)] = []
  /// What was ever made; an undo may bring it back.
  private var allAssets: [LocalIdentifier] = []
  private var allAlbums: [LocalIdentifier] = []
  private var allFolders: [LocalIdentifier] = []
  /// What there is now.
  private var assets: [LocalIdentifier] = []
  private var albums: [LocalIdentifier] = []
  private var folders: [LocalIdentifier] = []
  private var drawn = 0

  var library: PhotoLibrary { made.library }

  init(seed: UInt64) throws {
    made = try TemporaryLibrary(.seeded(seed))
    random = SeededGenerator(seed: seed)
    try remember()
  }

  /// Notes the state of now.
  func remember() throws {
    moments.append((try library.currentToken, try UndoState(library)))
  }

  func draw(_ range: Range<Int>) -> Int { random.int(range) }

  /// Executes one block, if the library does.
  func step() throws {
    assets = try allAssets.filter { try library.asset($0.uuidString) != nil }
    albums = try allAlbums.filter { try library.collection($0.uuidString) != nil }
    folders = try allFolders.filter { try library.collection($0.uuidString) != nil }
    let before = try library.currentToken
    do {
      if random.chance(1, of: 10) { try limitedStep() } else { try ownerStep() }
    } catch is LibraryError {
      return
    }
    if try library.currentToken != before { try remember() }
  }

  private func ownerStep() throws {
    let client = random.one(of: ["owner", "owner", "com.example.other"])
    // An undo may have taken its permission back.
    if client != "owner", try library.as(client).authorizationStatus(for: .readWrite) != .authorized {
      try made.authorize(client)
      return
    }
    try library.as(client).performChangesAndWait(cause: random.one(of: ["scan", "sort", nil])) { block in
      for _ in 0..<random.int(1..<4) { draw(into: block) }
    }
  }

  private var clients: Set<String> = []

  private func limitedStep() throws {
    let name = "com.example.limited"
    guard clients.contains(name) else {
      clients.insert(name)
      try library.performChangesAndWait { block in
        block.setAuthorizationStatus(.limited, of: name)
        block.grant(random.some(4, of: assets), to: name)
      }
      return
    }
    let picked = random.some(3, of: assets)
    try library.as(name).performChangesAndWait { block in
      if random.chance(1, of: 2) {
        let album = block.createAlbum(title: "its own \(drawn)")
        drawn += 1
        allAlbums.append(album)
        block.album(album).add(picked)
      } else {
        allAssets.append(block.createAsset(creation()))
      }
    }
  }

  private func next() -> Int {
    drawn += 1
    return drawn
  }

  private func creation() -> AssetCreation {
    var creation = AssetCreation.random(next(), &random)
    creation.sourceType = .userLibrary
    return creation
  }

  private func some(_ count: Int = 3) -> [LocalIdentifier] { random.some(count, of: assets) }

  // MARK: Requests

  private func draw(into block: ChangeBlock) {
    switch random.int(0..<19) {
    case 0, 1, 2: for _ in 0..<random.int(1..<4) { allAssets.append(block.createAsset(creation())) }
    case 3: block.setFavorite(random.chance(1, of: 2), for: some())
    case 4: block.setHidden(random.chance(1, of: 2), for: some())
    case 5: block.edit(some(), changes())
    case 6, 7: block.deleteAssets(some(4))
    case 8: block.restoreAssets(some(6))
    case 9: block.purgeAssets(some(2))
    case 10: if let asset = some(1).first { addFile(to: asset, block) }
    case 11: if let asset = some(1).first { block.setRepresentative(ofBurst: asset) }
    case 18: if random.chance(1, of: 2) { block.unstack(some(4)) } else { draw(stackInto: block) }
    case 12: draw(clientInto: block)
    case 13: draw(collectionInto: block)
    default: draw(contentInto: block)
    }
  }

  private func draw(stackInto block: ChangeBlock) {
    let stackable = some().filter { id in
      guard let asset = try? library.asset(id.uuidString) else { return false }
      return !asset.isTrashed && (asset.burstIdentifier == nil || asset.representsBurst)
    }
    if stackable.count > 1 { block.stack(top: stackable[0], others: Array(stackable[1...])) }
  }

  private func changes() -> AssetChanges {
    var changes = AssetChanges()
    if random.chance(1, of: 2) { changes.creationDate = AssetChanges.Assignment(Date.drawn(&random)) }
    if random.chance(1, of: 2) { changes.caption = AssetChanges.Assignment(random.one(of: ["dawn", "dusk", nil])) }
    if random.chance(1, of: 2) { changes.rating = random.one(of: AssetRating.allCases) }
    if random.chance(1, of: 2) { changes.location = AssetChanges.Assignment(Location.drawn(&random)) }
    changes.addedKeywords = Set(random.some(1, of: ["sea", "alp"]))
    changes.removedKeywords = Set(random.some(1, of: ["sea", "lake"]))
    return changes
  }

  private func addFile(to asset: LocalIdentifier, _ block: ChangeBlock) {
    let type = random.one(of: [ResourceType.pairedVideo, .alternatePhoto, .photoProxy])
    block.addResources([.stored(.invented(5000 + next(), type))], to: asset)
  }

  private func draw(clientInto block: ChangeBlock) {
    let name = "com.example.limited"
    switch random.int(0..<4) {
    case 0: block.grant(some(3), to: name)
    case 1: block.withdraw(some(3), from: name)
    case 2:
      var words = ClientRegistration()
      words.readWriteUsageDescription = random.one(of: ["to print", "to share"])
      block.register(client: name, words)
    default: block.setAuthorizationStatus(random.one(of: [.limited, .limited, .denied, .authorized]), of: name)
    }
  }

  private func draw(collectionInto block: ChangeBlock) {
    switch random.int(0..<7) {
    case 0, 1: allAlbums.append(block.createAlbum(title: "album \(next())"))
    case 2: allFolders.append(block.createFolder(title: "folder \(next())"))
    case 3: if let one = random.some(1, of: albums + folders).first { block.setTitle("title \(next())", of: one) }
    case 4: block.deleteCollections(random.some(1, of: albums + folders))
    default:
      let children = random.some(2, of: albums + folders)
      block.folder(random.some(1, of: folders).first).add(children)
    }
  }

  private func draw(coverInto block: ChangeBlock, _ album: LocalIdentifier) {
    let shown =
      (try? library.collection(album.uuidString).map { try library.fetchAssets(FetchOptions(), in: $0) }) ?? nil
    block.setCover(random.chance(1, of: 5) ? nil : shown.flatMap { random.some(1, of: $0.map(\.id)).first }, of: album)
  }

  private func draw(contentInto block: ChangeBlock) {
    guard let album = random.some(1, of: albums).first else { return }
    switch random.int(0..<7) {
    case 6: draw(coverInto: block, album)
    case 0, 1: block.album(album).insert(some(4), at: 0)
    case 2: block.album(album).add(some(4))
    case 3: block.album(album).remove(some(2))
    case 4: block.album(album).move(at: IndexSet(integer: random.int(0..<4)), to: random.int(0..<3))
    // So often at one spot that the gap is used up, and members are rekeyed.
    default:
      block.album(album).add(some(8))
      for _ in 0..<40 { block.album(album).move(at: IndexSet(integer: 2), to: 1) }
    }
  }
}
