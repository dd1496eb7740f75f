import Foundation
import PhotoLedger
import TestSupport

// One request at random, put to the block and to the model alike.
//
// A request is drawn from the state that the block's earlier requests left, so it may use what they created. The
// model is given it first; whether it accepts or refuses, the block is given the request, and the library has to agree.

/// A list that an index edit may count on.
struct Basis {
  let result: any Sendable
  let model: ModelBasis

  init(
    _ result: any Sendable, _ container: LocalIdentifier??, shown: [LocalIdentifier], beyond: [LocalIdentifier],
    eyes: ModelEyes
  ) {
    self.result = result
    model = ModelBasis(container: container, shown: shown, beyond: beyond, eyes: eyes)
  }
}

/// What a history draws: each must occur in the usual dose, see `HistoryTests`.
enum StepKind: CaseIterable {
  case setStatus, setAddOnlyStatus, withdraw, grant
  case create, addFile, edit, purge, restore, trash, chooseOfBurst, stack, raise, unstack
  case crowd, add, insert, remove, removeAt, replace, move, orderByResult, arrangeFolder
  case deleteCollection, retitle, chooseCover, takeCoverBack, createAlbum, createFolder, createSmartAlbum
  case editStranger, purgeLiving, createEmpty, createWrong, nestInItself, nestInAlbum, fillAsset, deleteStranger
  case useForeignResult, fillSmartAlbum, grantItself
}

struct HistorySteps {
  /// Those that were drawn.
  private(set) var kinds: Set<StepKind> = []
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

  /// Draws the client that asks.
  mutating func actor() -> String {
    switch random.int(0..<100) {
    case 0..<58: PhotoLibrary.owner
    case 58..<68: Cast.full
    case 68..<82: Cast.limited[0]
    case 82..<94: Cast.limited[1]
    default: Cast.adder
    }
  }

  /// Draws one request of the client that acts on the model.
  mutating func step(_ block: ChangeBlock, _ model: inout ModelLibrary, _ bases: [Basis], at date: Date) throws {
    if model.acting == Cast.adder, random.chance(4, of: 5) { return try create(block, &model, date) }
    if model.acting == PhotoLibrary.owner, random.chance(1, of: 7) { return try decide(block, &model) }
    switch random.int(0..<100) {
    case 0..<10: try create(block, &model, date)
    case 10..<32: try edit(block, &model, date)
    case 32..<36: try stack(block, &model)
    case 36..<49: try trash(block, &model, date)
    case 49..<52: try chooseOfBurst(block, &model, date)
    case 52..<80: try arrangeAlbum(block, &model, bases, date)
    case 80..<90: try arrangeFolder(block, &model, bases, date)
    case 90..<95: try editCollection(block, &model, date)
    case 95..<98: try chooseCover(block, &model)
    default: try beWrong(block, &model, bases, date)
    }
  }

  /// The assets that requests name: those that the client sees, and once in a while any.
  private mutating func pool(_ model: ModelLibrary) -> [LocalIdentifier] {
    random.chance(1, of: 25) ? model.assetsInOrder : model.assets { _ in true }
  }

  /// The same without those that no client may change, most of the time.
  private mutating func editable(_ model: ModelLibrary) -> [LocalIdentifier] {
    let pool = pool(model)
    return random.chance(1, of: 25) ? pool : pool.filter { model.assets[$0]?.isEditable ?? false }
  }

  // MARK: Clients

  /// The owner decides what a client sees.
  private mutating func decide(_ block: ChangeBlock, _ model: inout ModelLibrary) throws {
    if random.chance(1, of: 12) {
      let client = random.one(of: [Cast.full] + Cast.limited)
      let usual: AuthorizationStatus = client == Cast.full ? .authorized : .limited
      let isUsual = model.clients[client]?.readWrite == usual
      let status = isUsual ? random.one(of: [.authorized, .limited, .denied, .restricted]) : usual
      kinds.insert(.setStatus)
      block.setAuthorizationStatus(status, of: client)
      return try model.setStatus(status, of: client)
    }
    if random.chance(1, of: 40) {
      let status = random.one(of: [AuthorizationStatus.authorized, .authorized, .denied])
      kinds.insert(.setAddOnlyStatus)
      block.setAuthorizationStatus(status, of: Cast.adder, for: .addOnly)
      return try model.setStatus(status, of: Cast.adder, for: .addOnly)
    }
    if random.chance(1, of: 7) {
      let client = random.one(of: [Cast.full] + Cast.limited)
      let ends = model.clients[client]?.album != nil && random.chance(1, of: 3)
      let album = ends ? nil : random.one(of: cast.albums + Cast.clients.compactMap { cast.own[$0]?.album })
      block.follow(album, as: client)
      return try model.follow(album, as: client)
    }
    let client = random.one(of: [Cast.full] + Cast.limited + Cast.limited)
    let ids = random.some(random.int(1..<6), of: model.assetsInOrder)
    if random.chance(model.clients[client]?.selection.count ?? 0, of: model.assetsInOrder.count + 4) {
      kinds.insert(.withdraw)
      block.withdraw(ids, from: client)
      try model.withdraw(ids, from: client)
    } else {
      kinds.insert(.grant)
      block.grant(ids, to: client)
      try model.grant(ids, to: client)
    }
  }

  // MARK: Assets

  private mutating func create(_ block: ChangeBlock, _ model: inout ModelLibrary, _ date: Date) throws {
    guard model.assets.count < 48 else {
      return model.acting == Cast.adder ? () : try trash(block, &model, date)
    }
    var creation = AssetCreation.random(file(), &random)
    // No client can delete them, so there must not be many.
    if model.assets.values.count(where: { !$0.isEditable }) > 4 { creation.sourceType = .userLibrary }
    kinds.insert(.create)
    let id = block.createAsset(creation)
    try model.create(creation, as: id, at: date)
    guard random.chance(1, of: 2), let album = album(model) else { return }
    let index = random.chance(1, of: 2) ? nil : random.int(0..<(model.shown(in: album).count + 1))
    if let index { block.album(album).insert([id], at: index) } else { block.album(album).add([id]) }
    try model.insert([id], into: album, at: index, nil, at: date)
  }

  private mutating func edit(_ block: ChangeBlock, _ model: inout ModelLibrary, _ date: Date) throws {
    let ids = random.some(random.int(1..<5), of: editable(model))
    guard let first = ids.first else { return try create(block, &model, date) }
    if random.chance(1, of: 12) {
      let resource = AssetResource.invented(file(), .alternatePhoto)
      guard model.assets[first]?.mediaType == .image else { return }
      kinds.insert(.addFile)
      block.addResources([.staged(resource)], to: first)
      return try model.addFile(resource, to: first, at: date)
    }
    var changes = drawnChanges()
    // Photos have no duration (AS-03); that the library refuses one is a test of its own.
    if ids.contains(where: { model.assets[$0]?.mediaType == .image }) { changes.duration = nil }
    kinds.insert(.edit)
    block.edit(ids, changes)
    try model.edit(ids, changes, at: date)
  }

  private mutating func drawnChanges() -> AssetChanges {
    var changes = AssetChanges()
    switch random.int(0..<14) {
    case 10: changes.rating = random.one(of: AssetRating.allCases)
    case 11: changes.isSelfPortrait = random.chance(1, of: 2)
    case 12: changes.burstSelectionTypes = random.one(of: [[], .autoPick, .userPick, [.autoPick, .userPick]])
    case 13:
      changes.caption = random.one(of: [nil, .clear, .set("dawn"), .set("dusk")])
      changes.addedKeywords = Set(random.some(1, of: ["sea", "lake", "alp"]))
      changes.removedKeywords = Set(random.some(1, of: ["sea", "lake", "alp"])).subtracting(changes.addedKeywords)
    case 0, 1: changes.isFavorite = random.chance(1, of: 2)
    case 2, 3: changes.isHidden = random.chance(1, of: 3)
    case 4, 5: changes.creationDate = Date.drawn(&random).map { .set($0) } ?? .clear
    case 6: changes.dateShift = Date.drawn(&random).map { Int($0.timeIntervalSince1970 * 8) % 7 - 3 } ?? 86_400
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
    let pool = editable(model)
    let living = pool.filter { model.assets[$0]?.trashedDate == nil }
    let trashed = pool.filter { model.assets[$0]?.trashedDate != nil }
    let isFull = trashed.count > 10 || (model.assets.count > 40 && !trashed.isEmpty)
    if isFull, model.eyes(of: model.acting) == .full || random.chance(1, of: 10) {
      let ids = random.some(3, of: trashed)
      kinds.insert(.purge)
      block.purgeAssets(ids)
      return try model.purge(ids, at: date)
    }
    if random.chance(1, of: 3), !trashed.isEmpty {
      let ids = random.some(2, of: trashed)
      kinds.insert(.restore)
      block.restoreAssets(ids)
      return try model.trash(ids, at: nil)
    }
    let ids = random.some(random.int(1..<3), of: living)
    kinds.insert(.trash)
    block.deleteAssets(ids)
    try model.trash(ids, at: date)
  }

  private mutating func chooseOfBurst(_ block: ChangeBlock, _ model: inout ModelLibrary, _ date: Date) throws {
    let members = editable(model).filter { model.assets[$0]?.burstIdentifier != nil }
    let pool = random.chance(1, of: 10) ? editable(model) : members
    if pool.isEmpty { return }
    let id = random.one(of: pool)
    kinds.insert(.chooseOfBurst)
    block.setRepresentative(ofBurst: id)
    try model.setRepresentative(id, at: date)
  }

  private mutating func stack(_ block: ChangeBlock, _ model: inout ModelLibrary) throws {
    let pool = editable(model)
    let living = pool.filter { id in
      guard let asset = model.assets[id] else { return false }
      let standsAlone = asset.burstIdentifier == nil || asset.representsBurst
      return random.chance(1, of: 15) || asset.trashedDate == nil && standsAlone
    }
    let stacked = pool.filter { model.assets[$0]?.stack != nil }
    if random.chance(stacked.count, of: 24), !stacked.isEmpty {
      let ids = random.some(random.int(1..<3), of: random.chance(1, of: 10) ? pool : stacked)
      kinds.insert(.unstack)
      block.unstack(ids)
      return try model.unstack(ids)
    }
    if random.chance(1, of: 6), let top = random.some(1, of: stacked.isEmpty ? living : stacked).first {
      kinds.insert(.raise)
      block.stack(top: top, others: [])
      return try model.stack([], under: top)
    }
    let ids = random.some(random.int(2..<5), of: living)
    guard ids.count > 1 else { return }
    kinds.insert(.stack)
    block.stack(top: ids[0], others: Array(ids[1...]))
    try model.stack(Array(ids[1...]), under: ids[0])
  }

  // MARK: Albums

  private mutating func album(_ model: ModelLibrary) -> LocalIdentifier? {
    let albums = model.living(.album)
    let isStrange = random.chance(1, of: 40)
    if isStrange { return random.one(of: model.collectionsInOrder) }
    if albums.isEmpty { return nil }
    let (favourite, crowded) = cast.own[model.acting].map { ($0.album, $0.crowded) } ?? (cast.mixed, cast.crowded)
    // The owner puts things into what clients made, whether they see them or not.
    if model.eyes(of: model.acting) == .full, random.chance(1, of: 3) {
      let own = random.one(of: Cast.limited.compactMap { cast.own[$0] })
      return random.chance(2, of: 3) ? own.album : own.crowded
    }
    if random.chance(1, of: 3) { return favourite }
    return random.chance(1, of: 3) ? crowded : random.one(of: albums)
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
    if cast.crowds.contains(album), model.sees(album), random.chance(3, of: 4), model.shown(in: album).count > 4 {
      kinds.insert(.crowd)
      let last = model.shown(in: album).count - 1
      for _ in 0..<(basis == nil ? 8 : 1) {
        editor.move(at: IndexSet(integer: last), to: 1)
        try model.move(at: [last], in: album, to: 1, basis?.model, at: date)
      }
      return
    }
    let pool = random.some(random.int(1..<5), of: pool(model))
    try arrange(editor, album, pool, &model, basis?.model, date)
  }

  /// One edit of a container's content with objects of a pool.
  private mutating func arrange(
    _ editor: ContentEditor, _ container: LocalIdentifier?, _ pool: [LocalIdentifier], _ model: inout ModelLibrary,
    _ basis: ModelBasis?, _ date: Date
  ) throws {
    if basis != nil { kinds.insert(.orderByResult) }
    let shown = basis?.shown ?? model.shown(in: container)
    // One edit in thirty counts past the end.
    let slip = random.chance(1, of: 30) ? 1 : 0
    switch random.int(0..<8) {
    case 0:
      kinds.insert(.add)
      editor.add(pool)
      try model.insert(pool, into: container, at: nil, basis, at: date)
    case 1, 2:
      let index = random.int(0..<(shown.count + 1)) + slip * 50
      kinds.insert(.insert)
      editor.insert(pool, at: index)
      try model.insert(pool, into: container, at: index, basis, at: date)
    case 3:
      let ids = random.chance(1, of: 2) ? random.some(2, of: shown) : pool
      kinds.insert(.remove)
      editor.remove(ids)
      try model.remove(ids, from: container, basis, at: date)
    case 4:
      let indexes = random.positions(random.int(1..<3), of: shown.count) + (slip == 1 ? [shown.count + 3] : [])
      kinds.insert(.removeAt)
      editor.remove(at: IndexSet(indexes))
      try model.remove(at: indexes, from: container, basis, at: date)
    case 5:
      let indexes = random.positions(pool.count, of: shown.count)
      let members = Array(pool.prefix(indexes.count - (indexes.isEmpty ? 0 : slip)))
      kinds.insert(.replace)
      editor.replace(at: IndexSet(indexes), with: members)
      try model.replace(at: indexes, in: container, with: members, basis, at: date)
    default:
      let indexes = random.positions(random.int(1..<4), of: shown.count)
      let target = random.int(0..<(shown.count - indexes.count + 1)) + slip * 50
      kinds.insert(.move)
      editor.move(at: IndexSet(indexes), to: target)
      try model.move(at: indexes, in: container, to: target, basis, at: date)
    }
  }

  /// The cover of an album: mostly a member, once in a while anything.
  private mutating func chooseCover(_ block: ChangeBlock, _ model: inout ModelLibrary) throws {
    guard let album = album(model) else { return }
    let members = model.shown(in: album)
    var asset: LocalIdentifier?
    if random.chance(1, of: 5) {
      kinds.insert(.takeCoverBack)
    } else {
      kinds.insert(.chooseCover)
      let pool = members.isEmpty || random.chance(1, of: 20) ? pool(model) : members
      guard !pool.isEmpty else { return }
      asset = random.one(of: pool)
    }
    block.setCover(asset, of: album)
    try model.setCover(asset, of: album)
  }

  // MARK: Folders

  private mutating func arrangeFolder(
    _ block: ChangeBlock, _ model: inout ModelLibrary, _ bases: [Basis], _ date: Date
  ) throws {
    let folders = model.living(.folder)
    var folder = random.chance(1, of: 3) || folders.isEmpty ? nil : random.one(of: folders)
    if random.chance(1, of: 40) { folder = random.one(of: model.collectionsInOrder) }
    let fitting = bases.filter { $0.model.container == .some(folder) && $0.result is FetchResult<PhotoCollection> }
    let basis = random.chance(1, of: 4) && !fitting.isEmpty ? random.one(of: fitting) : nil
    let editor =
      (basis?.result as? FetchResult<PhotoCollection>).map { block.folder(folder, collections: $0) }
      ?? block.folder(folder)
    let all = random.chance(1, of: 30) ? model.collectionsInOrder : living(model)
    let pool = random.some(random.int(1..<4), of: all)
    kinds.insert(.arrangeFolder)
    try arrange(editor, folder, pool, &model, basis?.model, date)
  }

  private func living(_ model: ModelLibrary) -> [LocalIdentifier] {
    model.living(.album) + model.living(.folder) + model.living(.smartAlbum)
  }

  private mutating func editCollection(_ block: ChangeBlock, _ model: inout ModelLibrary, _ date: Date) throws {
    let all = living(model)
    let limit = model.acting == PhotoLibrary.owner ? 22 : 7
    let title = random.one(of: ["Sea", "sea", "Alps", "Zoo", "Aa", "b", ""])
    if all.count > limit || (all.count > limit / 2 && random.chance(1, of: 6)) {
      // A folder takes all that it holds along, so it goes only if nothing that is kept is in it.
      let candidates = all.filter { id in !cast.kept.contains { $0 == id || ancestors(of: $0, model).contains(id) } }
      let ids = random.some(1, of: candidates)
      kinds.insert(.deleteCollection)
      block.deleteCollections(ids)
      return try model.deleteCollections(ids, at: date)
    }
    if random.chance(1, of: 2), let id = all.isEmpty ? nil : random.one(of: all) {
      kinds.insert(.retitle)
      block.setTitle(title, of: id)
      return try model.setTitle(title, of: id, at: date)
    }
    try make(random.one(of: [PhotoCollection.Kind.album, .album, .folder, .smartAlbum]), title, block, &model, date)
  }

  private mutating func make(
    _ kind: PhotoCollection.Kind, _ title: String, _ block: ChangeBlock, _ model: inout ModelLibrary, _ date: Date
  ) throws {
    switch kind {
    case .folder:
      kinds.insert(.createFolder)
      try model.create(.folder, title, as: block.createFolder(title: title), at: date)
    case .smartAlbum:
      kinds.insert(.createSmartAlbum)
      let query = ModelSmartAlbum.invented
      let id = block.createSmartAlbum(
        title: title, where: query.condition, sortedBy: query.sort, includingHidden: query.includesHidden)
      try model.create(.smartAlbum, title, as: id, at: date, query)
    case .album:
      kinds.insert(.createAlbum)
      let id = block.createAlbum(title: title)
      try model.create(.album, title, as: id, at: date)
      let members = random.some(3, of: pool(model))
      block.album(id).add(members)
      try model.insert(members, into: id, at: nil, nil, at: date)
    }
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
    guard !model.assetsInOrder.isEmpty else { return }
    let asset = random.one(of: model.assetsInOrder)
    // The rarest mistake comes first: only a client that may begin can make it.
    let mayGrantItself = model.acting != PhotoLibrary.owner && model.eyes(of: model.acting) != .none
    let mistake = random.int(0..<11)
    switch mayGrantItself && !kinds.contains(.grantItself) ? 10 : mistake {
    case 9:
      kinds.insert(.fillSmartAlbum)
      block.album(cast.smart).add([asset])
      try model.insert([asset], into: cast.smart, at: nil, nil, at: date)
    // A client that may not even begin is refused for that before anything is looked at.
    case 10 where mayGrantItself:
      kinds.insert(.grantItself)
      block.grant([asset], to: model.acting)
      try model.grant([asset], to: model.acting)
    case 0:
      kinds.insert(.editStranger)
      block.setFavorite(true, for: [asset, stranger])
      var changes = AssetChanges()
      changes.isFavorite = true
      try model.edit([asset, stranger], changes, at: date)
    case 1:
      kinds.insert(.purgeLiving)
      block.purgeAssets([asset])
      try model.purge([asset], at: date)
    case 2:
      kinds.insert(.createEmpty)
      let creation = AssetCreation(mediaType: .image, resources: [])
      try model.create(creation, as: block.createAsset(creation), at: date)
    case 3:
      kinds.insert(.createWrong)
      let creation = AssetCreation.invented(file(), .video)
      var wrong = creation
      wrong.mediaType = .audio
      try model.create(wrong, as: block.createAsset(wrong), at: date)
    case 4:
      kinds.insert(.nestInItself)
      block.folder(cast.folder).add([cast.folder])
      try model.insert([cast.folder], into: cast.folder, at: nil, nil, at: date)
    case 5:
      kinds.insert(.nestInAlbum)
      block.album(cast.mixed).add([cast.crowded])
      try model.insert([cast.crowded], into: cast.mixed, at: nil, nil, at: date)
    case 6:
      kinds.insert(.fillAsset)
      block.album(asset).add([asset])
      try model.insert([asset], into: asset, at: nil, nil, at: date)
    case 7:
      kinds.insert(.deleteStranger)
      block.deleteCollections([cast.crowded, stranger])
      try model.deleteCollections([cast.crowded, stranger], at: date)
    default:
      let foreign = bases.filter { $0.result is FetchResult<Asset> && $0.model.container != .some(cast.mixed) }
      guard let basis = foreign.first, let result = basis.result as? FetchResult<Asset> else { return }
      kinds.insert(.useForeignResult)
      block.album(cast.mixed, assets: result).remove(at: [0])
      try model.remove(at: [0], from: cast.mixed, basis.model, at: date)
    }
  }
}

extension ModelSmartAlbum {
  /// Favourites and selfies, the best first, hidden ones too.
  static let invented = ModelSmartAlbum(
    condition: .or([.isTrue(.isFavorite), .isTrue(.isSelfPortrait)]),
    sort: [try? SortTerm(.rating, ascending: false, for: .asset)].compactMap(\.self), includesHidden: true)
}
