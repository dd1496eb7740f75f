internal import LibraryAudit
internal import PhotoLedger

// How an import's batches become commits.
//
// A batch is one change block under a key of its own within the run: if it is not known whether the commit took effect,
// sending the block again gives the receipt of the first time. The key holds the run's name because the same files may
// rightly be recorded again by a later run, after they were purged.
//
// Between the look-up and the commit the library may be changed by others. If that invalidates the batch, it is not
// abandoned: bytes that were purged meanwhile are stored again, and parts of Live Photos whose other part was used,
// trashed or purged become assets of their own. A file is never lost because of a concurrent edit, nor because its
// burst is full: photos that would exceed the burst are recorded outside it, the others of the batch within theirs.
// Albums are filled without assets that are gone by then, and an album that is deleted meanwhile is begun anew.

/// A library as the target of one import.
struct LibraryTarget: ImportTarget {
  let library: PhotoLibrary
  let cause: String
  let run: String
  /// The idempotency key of the one batch of the run; nil: one for each batch.
  var key: String?

  func assets(holding contents: Set<[UInt8]>) throws -> [[UInt8]: ContentHolder] {
    let contents = Array(contents)
    var known: [[UInt8]: ContentHolder] = [:]
    for (content, asset) in zip(contents, try library.firstAssets(withContents: contents)) { known[content] = asset }
    return known
  }

  func firstAssets(holding contents: [[UInt8]]) throws -> [ContentHolder?] {
    try library.firstAssets(withContents: contents)
  }

  func holders(of contents: Set<[UInt8]>) throws -> [[UInt8]: Set<LocalIdentifier>] {
    var holders: [[UInt8]: Set<LocalIdentifier>] = [:]
    for content in contents { holders[content] = Set(try library.assets(withContent: content).map(\.id)) }
    return holders
  }

  func copied(_ contents: Set<[UInt8]>) throws -> Set<[UInt8]> {
    try contents.filter { content in
      try library.assets(withContent: content).contains { asset in
        try library.resources(of: asset).contains { $0.sha256 == content && $0.storage == .library }
      }
    }
  }

  /// Other clients are not shown stacks, and make none.
  var canStack: Bool { get throws { try library.authorizationStatus(for: .readWrite) == .authorized } }

  func untouched(_ assets: Set<LocalIdentifier>) throws -> [LocalIdentifier: UntouchedAsset] {
    var untouched: [LocalIdentifier: UntouchedAsset] = [:]
    for identifier in assets {
      guard let asset = try library.asset(identifier.uuidString), !asset.isTrashed, asset.burstIdentifier == nil else {
        continue
      }
      var filter = LogFilter()
      filter.object = identifier
      var commits: Set<UInt64> = []
      try library.forEachLogEntry(filter) { entry in
        commits.insert(entry.commit.number)
        return commits.count == 1
      }
      if commits.count == 1 {
        let others = try library.resources(of: asset).dropFirst().map(\.type)
        untouched[identifier] = UntouchedAsset(isHidden: asset.isHidden, stack: asset.stack, others: others)
      }
    }
    return untouched
  }

  /// A half in the trash does not count: completing it would put the file that comes out of sight.
  func unpairedHalves(contentIdentifiers: [String]) throws -> [ExactText: [LivePhotoHalf]] {
    var found: [ExactText: [LivePhotoHalf]] = [:]
    for identifier in contentIdentifiers {
      for asset in try library.assets(withContentIdentifier: identifier) where !asset.isTrashed {
        let resources = try library.resources(of: asset)
        let isHalf =
          switch asset.mediaType {
          case .image: !resources.contains { $0.type == .pairedVideo }
          case .video: resources.contains { $0.type == .video && $0.contentIdentifier?.exact == identifier.exact }
          case .audio, .unknown: false
          }
        guard isHalf else { continue }
        found[identifier.exact, default: []].append(LivePhotoHalf(asset: asset.id, mediaType: asset.mediaType))
      }
    }
    return found
  }

  /// The most members that are put into an album with one commit.
  private static let memberBatchCount = 1000

  /// The number of commits that put members into an album.
  static func commitCount(placing memberCount: Int) -> Int {
    (memberCount + memberBatchCount - 1) / memberBatchCount
  }

  /// The album at a place, if there is one, and those of some assets that it lacks, each once.
  ///
  /// Where the library has more albums of a title than the source, the members tell which of them is meant, if any
  /// does: the folder of an older album may be gone, since a move was cut short, or that album may be a user's own.
  func missing(
    _ assets: [LocalIdentifier], in place: AlbumPlace
  ) throws -> (album: PhotoCollection?, assets: [LocalIdentifier]) {
    let albums = Array(try library.fetchCollections(with: .album)).filter { $0.localizedTitle == place.title }
    var seen: Set<LocalIdentifier> = []
    guard albums.indices.contains(place.ordinal) else { return (nil, assets.filter { seen.insert($0).inserted }) }
    var album = albums[place.ordinal]
    seen = try members(of: album)
    if albums.count > place.count {
      var most = assets.count(where: seen.contains)
      for other in albums where other.id != albums[place.ordinal].id {
        let members = try members(of: other)
        let count = assets.count(where: members.contains)
        if count > most { (album, seen, most) = (other, members, count) }
      }
    }
    return (album, assets.filter { seen.insert($0).inserted })
  }

  /// All members of an album; what lies in the trash keeps its places.
  private func members(of album: PhotoCollection) throws -> Set<LocalIdentifier> {
    var options = FetchOptions()
    (options.includeHiddenAssets, options.includeAllBurstAssets, options.includeAllStackAssets) = (true, true, true)
    var members = Set(try library.fetchAssets(options, in: album).map(\.id))
    options.showsTrash = true
    members.formUnion(try library.fetchAssets(options, in: album).map(\.id))
    return members
  }

  /// In a commit for each thousand; stopped between two, the next import puts the rest after them.
  func place(_ assets: [LocalIdentifier], in place: AlbumPlace) async throws -> PlacedMembers {
    var done = PlacedMembers(isNew: false, added: 0, commits: 0)
    for attempt in 1... {
      do {
        try await put(assets, in: place, attempt, &done)
        return done
      } catch let error as LibraryError where error.code == .identifierNotFound && attempt < Self.attemptLimit {
        // The album is gone, or one of the assets.
        continue
      }
    }
    preconditionFailure("The last attempt at an album returns or throws.")
  }

  /// Puts assets into an album that it lacks.
  /// - Parameters:
  ///   - attempt: the number of the attempt; each but the first leaves out the assets that are gone.
  ///   - done: what was done so far.
  private func put(
    _ assets: [LocalIdentifier], in place: AlbumPlace, _ attempt: Int, _ done: inout PlacedMembers
  ) async throws {
    let assets = try attempt == 1 ? assets : there(assets, &done)
    let missing = try missing(assets, in: place)
    var album = missing.album?.id
    for start in stride(from: 0, to: missing.assets.count, by: Self.memberBatchCount) {
      let batch = Array(missing.assets[start...].prefix(Self.memberBatchCount))
      let known = album
      let digest = Array("\(place.title)\n\(place.ordinal)\n\(attempt)\n\(start)".utf8).sha256.hexadecimal
      let receipt = try await sendingAgain {
        try await library.performChanges(cause: cause, key: "import \(run) album \(digest)") { block in
          block.album(known ?? block.createAlbum(title: place.title)).add(batch)
        }
      }
      if album == nil { (done.isNew, done.added) = (true, 0) }
      done.added += batch.count
      done.commits += 1
      album = album ?? receipt.created.first.flatMap { LocalIdentifier($0) }
      precondition(album != nil, "A receipt names the album that its block created.")
    }
  }

  /// Those of some assets that the library still has.
  private func there(_ assets: [LocalIdentifier], _ done: inout PlacedMembers) throws -> [LocalIdentifier] {
    let there = try assets.filter { try library.asset($0.uuidString) != nil }
    done.gone = assets.count - there.count
    return there
  }

  /// Sends a block again for as long as it is not known whether it took effect; its key makes that harmless.
  private func sendingAgain(_ body: () async throws -> CommitReceipt) async throws -> CommitReceipt {
    for attempt in 1... {
      do {
        return try await body()
      } catch let error as LibraryError where error.code == .outcomeUnknown && attempt < Self.attemptLimit {
        continue
      }
    }
    preconditionFailure("The last attempt at a block returns or throws.")
  }

  func record(_ batch: ImportBatch) async throws -> [RecordedChange] {
    do {
      return try await commit(batch)
    } catch let error as LibraryError where Self.staleCodes.contains(error.code) {
      let alone = batch.standingAlone
      guard alone.changes != batch.changes || alone.stacks != batch.stacks else { throw error }
      return try await record(alone)
    } catch let error as LibraryError where error.code == .limitExceeded {
      var fitting = try withinBursts(batch)
      // The library says that a burst is full, which a change since may have made untrue.
      if fitting.changes == batch.changes { fitting = batch.outsideBursts }
      guard fitting.changes != batch.changes else { throw error }
      return try await record(fitting)
    }
  }

  /// The same batch with those photos outside their burst that would exceed it; the first ones fill it.
  private func withinBursts(_ batch: ImportBatch) throws -> ImportBatch {
    var room: [String: Int] = [:]
    let changes = try batch.changes.map { change in
      guard let burst = change.burstIdentifier else { return change }
      let left = try room[burst] ?? Limits.burstMemberCount - memberCount(ofBurst: burst)
      room[burst] = left - 1
      return left > 0 ? change : change.outsideBursts
    }
    return ImportBatch(changes: changes, stacks: batch.stacks)
  }

  /// How many members a burst has; those that lists do not show count.
  private func memberCount(ofBurst burst: String) throws -> Int {
    var options = FetchOptions()
    (options.includeHiddenAssets, options.includeAllBurstAssets, options.includeAllStackAssets) = (true, true, true)
    options.includeAssetSourceTypes = [.userLibrary, .cloudShared, .iTunesSynced]
    let live = try library.fetchAssets(withBurstIdentifier: burst, options).count
    options.showsTrash = true
    let trashed = try library.fetchAssets(withBurstIdentifier: burst, options).count
    return live + trashed
  }

  /// How an asset that was to be completed and is no longer what it was makes a block fail.
  private static let staleCodes: Set<LibraryError.Code> = [
    .identifierNotFound, .changeNotSupported, .invalidResource, .requestNotSupportedForAsset,
  ]

  /// How often a batch is sent again for a reason that sending it again can cure.
  private static let attemptLimit = 8

  private func commit(_ batch: ImportBatch) async throws -> [RecordedChange] {
    let key = key ?? "import \(run) \(batch.digest.hexadecimal)"
    for attempt in 1... {
      do {
        let receipt = try await library.performChanges(cause: cause, key: key) { block in
          let assets = try batch.changes.map { try request($0, in: block) }
          request(batch.stacks, of: assets, in: block)
        }
        return try recorded(batch, receipt)
      } catch let error as LibraryError where attempt < Self.attemptLimit {
        switch error.code {
        case .outcomeUnknown: continue
        case .missingResource: try storeAgain(batch)
        default: throw error
        }
      }
    }
    preconditionFailure("The last attempt at a batch returns or throws.")
  }

  /// Stores bytes again that a purge removed since, unless they were stored again meanwhile.
  private func storeAgain(_ batch: ImportBatch) throws {
    let files = library.store.resources
    let missing = batch.changes.flatMap(\.resources).filter { !files.holds(AssetResource($0)) }
    for resource in missing { _ = try files.store(fileAt: resource.source, expecting: resource.stored.sha256) }
    try files.synchronize()
  }

  /// The assets by the receipt, which is the first one's if the block was already executed.
  /// - Throws: ``LibraryError`` `.conflict` if the key stands for another block, whose receipt names fewer assets.
  private func recorded(_ batch: ImportBatch, _ receipt: CommitReceipt) throws -> [RecordedChange] {
    var created = receipt.created.compactMap { LocalIdentifier($0) }[...]
    let recorded = try batch.changes.map { change in
      switch change {
      case .asset:
        guard let asset = created.popFirst() else {
          precondition(receipt.isRepetition, "A receipt names every asset that its block created.")
          throw LibraryError(.conflict, "The idempotency key was used for another change; use a new key.")
        }
        return RecordedChange(change: change, asset: asset, token: receipt.token)
      case .pairedVideo(_, _, let asset), .pairedStill(_, let asset):
        return RecordedChange(change: change, asset: asset, token: receipt.token)
      }
    }
    return batch.withStacks(recorded)
  }

  private func request(_ stacks: [ImportedStack], of assets: [LocalIdentifier], in block: ChangeBlock) {
    for stack in stacks {
      block.stack(top: stack.top.asset(among: assets), others: stack.others.map { $0.asset(among: assets) })
    }
  }

  /// - Returns: the asset that the change makes or completes.
  private func request(_ change: ImportChange, in block: ChangeBlock) throws -> LocalIdentifier {
    switch change {
    case .asset(let asset):
      let identifier = block.createAsset(AssetCreation(asset))
      if let adjustment = asset.adjustment, let edit = ContentEdit(adjustment) {
        block.editContent(of: identifier, edit, recipe: .staged(AssetResource(adjustment.data)))
      }
      if asset.facts.isTrashed { block.deleteAssets([identifier]) }
      return identifier
    case .pairedVideo(let movie, let said, let still):
      block.addResources(
        [.staged(AssetResource(movie.primary))], to: still, changing: try completing(try existing(still), adding: said))
      return still
    case .pairedStill(let still, let video):
      block.addResources(
        still.resources.map { .staged(AssetResource($0)) }, to: video,
        changing: try completing(try existing(video), with: still), retyping: [.video: .pairedVideo])
      return video
    }
  }

  private func completing(_ video: Asset, with still: ImportedAsset) throws -> AssetChanges {
    var changes = AssetChanges(completing: video, with: still)
    try takeWords(still.facts, of: video, into: &changes)
    return changes
  }

  private func completing(_ still: Asset, adding said: StatedFacts) throws -> AssetChanges {
    var changes = AssetChanges()
    changes.complete(still, with: said)
    try takeWords(said, of: still, into: &changes)
    return changes
  }

  /// Captions and keywords for an asset without any; existing ones may be edits by a person and stay.
  private func takeWords(_ facts: StatedFacts, of asset: Asset, into changes: inout AssetChanges) throws {
    let words = try library.extendedMetadata(of: asset)
    if words.caption == nil, let caption = facts.caption { changes.caption = .set(caption) }
    if words.fileMetadata == nil, let said = facts.metadata { changes.fileMetadata = .set(said) }
  }

  private func existing(_ identifier: LocalIdentifier) throws -> Asset {
    guard let asset = try library.asset(identifier.uuidString) else {
      throw LibraryError(
        .identifierNotFound, "The asset \(identifier.uuidString) was purged while its paired file was imported.")
    }
    return asset
  }
}
