import Foundation
import PhotoLedger
import TestSupport

// One request at random, put to the block and to the model alike.
//
// A request is drawn from the state that the block's earlier requests left, so it may use what they created. The
// model is told first; whether it accepts or refuses, the block is given the request, and the library has to agree.

/// A list that an index edit may count on.
struct Basis {
  var result: any Sendable
  var model: ModelBasis
}

struct HistorySteps {
  var random: SeededGenerator
  let cast: Cast
  private var fileCount = 0

  init(seed: UInt64, _ cast: Cast) {
    random = SeededGenerator(seed: seed)
    self.cast = cast
  }

  mutating func file() -> Int {
    fileCount += 1
    return fileCount % 50
  }

  /// Draws one request.
  mutating func step(_ block: ChangeBlock, _ model: inout ModelLibrary, _ bases: [Basis], at date: Date) throws {
    switch random.int(0..<100) {
    case 0..<8: try create(block, &model, date)
    case 8..<38: try edit(block, &model, date)
    case 38..<52: try trash(block, &model, date)
    case 52..<80: try arrangeAlbum(block, &model, bases, date)
    case 80..<90: try arrangeFolder(block, &model, bases, date)
    case 90..<97: try editCollection(block, &model, date)
    default: try beWrong(block, &model, bases, date)
    }
  }

  // MARK: Assets

  private mutating func create(_ block: ChangeBlock, _ model: inout ModelLibrary, _ date: Date) throws {
    guard model.assets.count < 48 else { return try trash(block, &model, date) }
    let creation = AssetCreation.random(file(), &random)
    let id = block.createAsset(creation)
    try model.create(creation, as: id, at: date)
    guard random.chance(1, of: 2), let album = album(model) else { return }
    let index = random.chance(1, of: 2) ? nil : random.int(0..<(model.shown(in: album).count + 1))
    if let index { block.album(album).insert([id], at: index) } else { block.album(album).add([id]) }
    try model.insert([id], into: album, at: index, nil, at: date)
  }

  private mutating func edit(_ block: ChangeBlock, _ model: inout ModelLibrary, _ date: Date) throws {
    let ids = random.some(random.int(1..<5), of: model.assets { _ in true })
    guard let first = ids.first else { return try create(block, &model, date) }
    if random.chance(1, of: 12) {
      let resource = AssetResource.invented(file(), .alternatePhoto)
      guard model.assets[first]?.mediaType == .image else { return }
      block.addResources([.stored(resource)], to: first)
      return try model.addFile(resource, to: first, at: date)
    }
    var changes = drawnChanges()
    // Photos have no duration (AS-03); that the library refuses one is a test of its own.
    if ids.contains(where: { model.assets[$0]?.mediaType == .image }) { changes.duration = nil }
    block.edit(ids, changes)
    try model.edit(ids, changes, at: date)
  }

  private mutating func drawnChanges() -> AssetChanges {
    var changes = AssetChanges()
    switch random.int(0..<10) {
    case 0, 1: changes.isFavorite = random.chance(1, of: 2)
    case 2, 3: changes.isHidden = random.chance(1, of: 3)
    case 4, 5, 6: changes.creationDate = Date.drawn(&random).map { .set($0) } ?? .clear
    case 7: changes.location = Location.drawn(&random).map { .set($0) } ?? .clear
    case 8: changes.mediaSubtypes = random.one(of: [[], .photoHDR, [.photoHDR, .photoPanorama]])
    default:
      changes.duration = Double(random.int(0..<30))
      changes.isFavorite = random.chance(1, of: 2)
      changes.creationDate = Date.drawn(&random).map { .set($0) } ?? .clear
    }
    return changes
  }

  private mutating func trash(_ block: ChangeBlock, _ model: inout ModelLibrary, _ date: Date) throws {
    let living = model.assets { $0.trashedDate == nil }
    let trashed = model.assets { $0.trashedDate != nil }
    if trashed.count > 10 || (model.assets.count > 40 && !trashed.isEmpty) {
      let ids = random.some(3, of: trashed)
      block.purgeAssets(ids)
      return try model.purge(ids)
    }
    if random.chance(1, of: 3), !trashed.isEmpty {
      let ids = random.some(2, of: trashed)
      block.restoreAssets(ids)
      return try model.trash(ids, at: nil)
    }
    let ids = random.some(random.int(1..<3), of: living)
    block.deleteAssets(ids)
    try model.trash(ids, at: date)
  }

  // MARK: Albums

  private mutating func album(_ model: ModelLibrary) -> LocalIdentifier? {
    let albums = model.living(.album)
    if albums.isEmpty { return nil }
    if random.chance(1, of: 3) { return cast.mixed }
    return random.chance(1, of: 3) ? cast.crowded : random.one(of: albums)
  }

  private mutating func arrangeAlbum(
    _ block: ChangeBlock, _ model: inout ModelLibrary, _ bases: [Basis], _ date: Date
  ) throws {
    guard let album = album(model) else { return }
    let fitting = bases.filter { $0.model.container == .some(album) && $0.result is FetchResult<Asset> }
    let basis = random.chance(1, of: 4) && !fitting.isEmpty ? random.one(of: fitting) : nil
    let editor =
      (basis?.result as? FetchResult<Asset>).map { block.album(album, assets: $0) } ?? block.album(album)
    // The crowded album takes most of its members at one spot, so that its keys run out of room.
    if album == cast.crowded, random.chance(3, of: 4), model.shown(in: album).count > 4 {
      let last = model.shown(in: album).count - 1
      for _ in 0..<(basis == nil ? 8 : 1) {
        editor.move(at: IndexSet(integer: last), to: 1)
        try model.move(at: [last], in: album, to: 1, basis?.model, at: date)
      }
      return
    }
    let pool = random.some(random.int(1..<5), of: model.assets { _ in true })
    try arrange(editor, album, pool, &model, basis?.model, date)
  }

  /// One edit of a container's content with objects of a pool.
  private mutating func arrange(
    _ editor: ContentEditor, _ container: LocalIdentifier?, _ pool: [LocalIdentifier], _ model: inout ModelLibrary,
    _ basis: ModelBasis?, _ date: Date
  ) throws {
    let shown = basis?.shown ?? model.shown(in: container)
    // One edit in thirty counts past the end.
    let slip = random.chance(1, of: 30) ? 1 : 0
    switch random.int(0..<8) {
    case 0:
      editor.add(pool)
      try model.insert(pool, into: container, at: nil, basis, at: date)
    case 1, 2:
      let index = random.int(0..<(shown.count + 1)) + slip * 50
      editor.insert(pool, at: index)
      try model.insert(pool, into: container, at: index, basis, at: date)
    case 3:
      let ids = random.chance(1, of: 2) ? random.some(2, of: shown) : pool
      editor.remove(ids)
      try model.remove(ids, from: container, basis, at: date)
    case 4:
      let indexes = random.positions(random.int(1..<3), of: shown.count) + (slip == 1 ? [shown.count + 3] : [])
      editor.remove(at: IndexSet(indexes))
      try model.remove(at: indexes, from: container, basis, at: date)
    case 5:
      let indexes = random.positions(pool.count, of: shown.count)
      let members = Array(pool.prefix(indexes.count - (indexes.isEmpty ? 0 : slip)))
      editor.replace(at: IndexSet(indexes), with: members)
      try model.replace(at: indexes, in: container, with: members, basis, at: date)
    default:
      let indexes = random.positions(random.int(1..<4), of: shown.count)
      let target = random.int(0..<(shown.count - indexes.count + 1)) + slip * 50
      editor.move(at: IndexSet(indexes), to: target)
      try model.move(at: indexes, in: container, to: target, basis, at: date)
    }
  }

  // MARK: Folders

  private mutating func arrangeFolder(
    _ block: ChangeBlock, _ model: inout ModelLibrary, _ bases: [Basis], _ date: Date
  ) throws {
    let folders = model.living(.folder)
    let folder = random.chance(1, of: 3) || folders.isEmpty ? nil : random.one(of: folders)
    let fitting = bases.filter { $0.model.container == .some(folder) && $0.result is FetchResult<PhotoCollection> }
    let basis = random.chance(1, of: 4) && !fitting.isEmpty ? random.one(of: fitting) : nil
    let editor =
      (basis?.result as? FetchResult<PhotoCollection>).map { block.folder(folder, collections: $0) }
      ?? block.folder(folder)
    let pool = random.some(random.int(1..<4), of: model.living(.album) + model.living(.folder))
    try arrange(editor, folder, pool, &model, basis?.model, date)
  }

  private mutating func editCollection(_ block: ChangeBlock, _ model: inout ModelLibrary, _ date: Date) throws {
    let all = model.living(.album) + model.living(.folder)
    let title = random.one(of: ["Sea", "sea", "Alps", "Zoo", "Aa", "b", ""])
    if all.count > 12 || (all.count > 6 && random.chance(1, of: 6)) {
      let protected = [cast.mixed, cast.crowded]
      // A folder takes all that it holds along, so it goes only if nothing protected is in it.
      let candidates = all.filter { id in
        !protected.contains { $0 == id || ancestors(of: $0, model).contains(id) }
      }
      let ids = random.some(1, of: candidates)
      block.deleteCollections(ids)
      return try model.deleteCollections(ids)
    }
    if random.chance(1, of: 2), let id = all.isEmpty ? nil : random.one(of: all) {
      block.setTitle(title, of: id)
      return try model.setTitle(title, of: id, at: date)
    }
    let kind = random.one(of: [PhotoCollection.Kind.album, .folder])
    let id = kind == .album ? block.createAlbum(title: title) : block.createFolder(title: title)
    model.create(kind, title, as: id, at: date)
    guard kind == .album else { return }
    let members = random.some(3, of: model.assets { _ in true })
    block.album(id).add(members)
    try model.insert(members, into: id, at: nil, nil, at: date)
  }

  private func ancestors(of id: LocalIdentifier, _ model: ModelLibrary) -> [LocalIdentifier] {
    guard let parent = model.containers(of: id).compactMap({ $0 }).first else { return [] }
    return [parent] + ancestors(of: parent, model)
  }

  // MARK: Mistakes

  private mutating func beWrong(
    _ block: ChangeBlock, _ model: inout ModelLibrary, _ bases: [Basis], _ date: Date
  ) throws {
    let stranger = LocalIdentifier(using: &random)
    let asset = random.one(of: model.assets { _ in true })
    switch random.int(0..<9) {
    case 0:
      block.setFavorite(true, for: [asset, stranger])
      var changes = AssetChanges()
      changes.isFavorite = true
      try model.edit([asset, stranger], changes, at: date)
    case 1:
      block.purgeAssets([asset])
      try model.purge([asset])
    case 2:
      let creation = AssetCreation(mediaType: .image, resources: [])
      try model.create(creation, as: block.createAsset(creation), at: date)
    case 3:
      let creation = AssetCreation.invented(file(), .video)
      var wrong = creation
      wrong.mediaType = .audio
      try model.create(wrong, as: block.createAsset(wrong), at: date)
    case 4:
      block.folder(cast.folder).add([cast.folder])
      try model.insert([cast.folder], into: cast.folder, at: nil, nil, at: date)
    case 5:
      block.album(cast.mixed).add([cast.crowded])
      try model.insert([cast.crowded], into: cast.mixed, at: nil, nil, at: date)
    case 6:
      block.album(asset).add([asset])
      try model.insert([asset], into: asset, at: nil, nil, at: date)
    case 7:
      block.deleteCollections([cast.crowded, stranger])
      try model.deleteCollections([cast.crowded, stranger])
    default:
      let foreign = bases.filter { $0.result is FetchResult<Asset> && $0.model.container != .some(cast.mixed) }
      guard let basis = foreign.first, let result = basis.result as? FetchResult<Asset> else { return }
      block.album(cast.mixed, assets: result).remove(at: [0])
      try model.remove(at: [0], from: cast.mixed, basis.model, at: date)
    }
  }
}
