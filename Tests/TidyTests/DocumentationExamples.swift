import Foundation
import LibraryAudit
import LibraryMaintenance
import LibraryPicking
import PhotoLedger
import Photos

// The code of README.md and of the documentation articles, compiled and run.
//
// What stands between `// example: NAME` and `// end` is one example, indentation aside. DocumentationTests refuses a
// Swift block of an article that is not word for word one of them, and runs them all.

enum Examples {
  static func readme(at folder: URL, updating grid: (IndexSet?, IndexSet?, IndexSet?, [Move]) -> Void) async throws {
    struct Updater {
      let body: (IndexSet?, IndexSet?, IndexSet?, [Move]) -> Void
      func update(_ removed: IndexSet?, _ inserted: IndexSet?, _ changed: IndexSet?, _ moves: [Move]) {
        body(removed, inserted, changed, moves)
      }
    }
    try await withoutActuallyEscaping(grid) { body in
      let grid = Updater(body: body)
      // example: readme
      let library = try PhotoLibrary(at: folder)
      let image = MediaType.image
      let recent = try library.fetchAssets(
        where: #Predicate { $0.mediaType == image }, sortedBy: [SortDescriptor(\.creationDate, order: .reverse)])
      try await library.performChanges(cause: "quick start") { change in
        let sea = change.createAlbum(title: "Sea")  // it has its identifier at once
        change.album(sea).add(recent.prefix(3).map(\.id))
        change.setFavorite(true, for: [recent[0].id])
      }
      for try await change in library.changes(to: recent) {  // exact, in commit order, never a reload
        grid.update(change.removedIndexes, change.insertedIndexes, change.changedIndexes, change.moves)
      }
      // end
      library.close()
    }
  }

  static func open(_ folder: URL) throws -> PhotoLibrary {
    // example: open
    let library =
      FileManager.default.fileExists(atPath: folder.path)
      ? try PhotoLibrary(at: folder) : try PhotoLibrary.create(at: folder)
    let gallery = library.as("com.example.gallery")  // the same library as this client may see it
    // end
    return gallery
  }

  static func errors(_ folder: URL) throws -> String {
    // example: errors
    do {
      _ = try PhotoLibrary(at: folder)
    } catch let error as LibraryError where error.code == .notALibrary {
      return error.description  // a full sentence: what is wrong, where, and what to do
    }
    // end
    return ""
  }

  static func create(in library: PhotoLibrary, file: URL) async throws -> [String] {
    // example: import
    var creation = AssetCreation(
      mediaType: .image, resources: [ResourceDraft(type: .photo, source: .file(file, shouldMove: false))])
    creation.creationDate = Date(timeIntervalSince1970: 1_717_180_200)
    creation.timeZoneOffset = 7200
    creation.location = Location(latitude: 52.5163, longitude: 13.3777)
    let receipt = try await library.performChanges(cause: "import") { $0.createAsset(creation) }
    // end
    return receipt.created
  }

  static func fetch(in library: PhotoLibrary) throws -> [Int] {
    // example: fetch
    let video = MediaType.video
    let long = try library.fetchAssets(
      where: #Predicate { $0.mediaType == video && $0.duration > 60 },
      sortedBy: [SortDescriptor(\.duration, order: .reverse)], limit: 20)

    var options = FetchOptions()
    options.condition = try Condition(
      format: "isFavorite == YES AND creationDate >= %@",
      arguments: [
        PredicateArgument(Date(timeIntervalSince1970: 1_704_067_200))
      ], for: .asset)
    options.sort = [try SortTerm("creationDate:desc", for: .asset)]
    let favorites = try library.fetchAssets(options)
    // end
    return [long.count, favorites.count]
  }

  static func condition() throws -> [Condition] {
    // example: condition
    let live = MediaSubtypes.photoLive
    let byMacro = try Condition(
      #Predicate<Asset> { $0.mediaSubtypes.contains(live) && ($0.burstIdentifier ?? "") != "" })
    let byText = try Condition(
      format: "(mediaSubtypes & 8) == 8 AND NOT (burstIdentifier == NULL OR burstIdentifier == '')", for: .asset)
    // end
    return [byMacro, byText]
  }

  static func follow(
    _ library: PhotoLibrary, _ result: FetchResult<Asset>, _ show: (ChangeDetails<Asset>) throws -> Bool
  ) async throws {
    // example: follow
    var shown = result
    for try await change in library.changes(to: shown) {
      shown = change.fetchResultAfterChanges
      for (index, asset) in zip(change.insertedIndexes ?? [], try change.insertedObjects()) {
        print("\(asset.localIdentifier) came at \(index), by \(change.commits.map(\.client))")
      }
      if try !show(change) { break }
    }
    // end
    _ = shown
  }

  static func timeline(
    _ library: PhotoLibrary
  ) throws -> (result: FetchResult<Asset>, counts: [SectionKey: Int]) {
    // example: timeline
    let timeline = try library.fetchAssets(sortedBy: [SortDescriptor(\.localCreationDate, order: .reverse)])
    var counts: [SectionKey: Int] = [:]
    for month in try timeline.sections(by: .month) {  // the newest first; wall times are counted in GMT
      print("\(month.key): \(month.count) photos from position \(month.firstIndex)")
      counts[month.key] = month.count
    }
    // end
    return (timeline, counts)
  }

  static func follow(
    _ library: PhotoLibrary, timeline: FetchResult<Asset>, _ counted: [SectionKey: Int],
    _ show: ([SectionKey: Int]) throws -> Bool
  ) async throws {
    var counts = counted
    // example: follow timeline
    for try await change in library.changes(to: timeline) {
      for month in try change.sectionChanges(by: .month) {
        counts[month.key] = month.countAfter == 0 ? nil : month.countAfter
      }
      if try !show(counts) { break }
    }
    // end
  }

  // example: observer
  final class Badge: PhotoLibraryChangeObserver {
    let favorites: FetchResult<Asset>
    let show: @Sendable (Int) -> Void

    init(_ favorites: FetchResult<Asset>, show: @escaping @Sendable (Int) -> Void) {
      self.favorites = favorites
      self.show = show
    }

    func photoLibraryDidChange(_ change: LibraryChange) {
      guard let details = try? change.changeDetails(for: favorites) else { return }  // nil: not touched
      show(details.fetchResultAfterChanges.count)
    }
  }
  // end

  static func albums(in library: PhotoLibrary, _ photos: [LocalIdentifier]) async throws -> [LocalIdentifier] {
    // example: albums
    let receipt = try await library.performChanges { change in
      let album = change.createAlbum(title: "The sea")
      let folder = change.createFolder(title: "Travels")
      change.album(album).add(photos)
      change.album(album).move(at: [2], to: 0)  // 2 counts in the album as it is, 0 without what is moved
      change.folder(folder).add([album])
    }
    guard let album = try library.collection(receipt.created[0]) else { return [] }
    let shown = try library.fetchAssets(FetchOptions(), in: album)  // in the album's own order

    // A user edits by index on a result that is no longer the newest: the indexes are those of `shown`.
    try await library.performChanges { $0.album(album.id).insert([photos[0]], at: 0) }
    try await library.performChanges { $0.album(album.id, assets: shown).remove(at: [1]) }
    // end
    return try library.fetchAssets(FetchOptions(), in: album).map(\.id)
  }

  static func pick(
    in library: PhotoLibrary, for app: PhotoLibrary, _ wants: (Asset) throws -> Bool
  ) async throws -> [Data] {
    var loaded: [Data] = []
    // example: pick
    var configuration = PickerConfiguration(library: app)  // made with a library: results name their assets
    configuration.filter = .any(of: [.images, .videos])
    configuration.selection = .ordered
    configuration.selectionLimit = 3
    let session = try app.beginPicking(configuration)  // the client needs no permission

    let presenter = try library.present(session)  // for who shows the library to a person
    for asset in try presenter.candidates() where try wants(asset) { try await presenter.select(asset.localIdentifier) }
    try await presenter.finish()

    for await items in session.results {  // one, at the end
      for item in items where item.isLoadable { loaded.append(try await app.load(item)) }
    }
    // end
    return loaded
  }

  static func originals(of photo: Asset, in library: PhotoLibrary, to folder: URL) async throws {
    // example: originals
    let originals: Set<ResourceType> = [.photo, .video, .audio, .alternatePhoto, .pairedVideo]
    for resource in try library.resources(of: photo) where originals.contains(resource.type) {
      let options = ResourceRequestOptions { share in print("\(Int(share * 100)) % of \(resource.originalFilename)") }
      let file = folder.appending(path: "\(photo.id.uuidString) \(resource.type.name) \(resource.originalFilename)")
      do {
        try await library.write(resource, in: photo, to: file, options: options)
      } catch let error as LibraryError where error.code == .missingResource || error.code == .invalidResource {
        print(error.description)  // the library no longer has what it recorded; nothing was written
      }
    }
    // end
  }

  static func chunks(of resource: AssetResource, _ photo: Asset, in library: PhotoLibrary) async throws -> Int {
    // example: chunks
    var digest = 0
    for try await chunk in library.data(of: resource, in: photo) {  // 1 MiB each, read when it is asked for
      digest = chunk.reduce(digest) { ($0 &* 31 &+ Int($1)) & 0xFFFF }
    }
    // Only here is it certain that the chunks were what was recorded: otherwise the loop has thrown.
    // end
    return digest
  }

  static func trash(in library: PhotoLibrary, _ photo: LocalIdentifier) async throws -> Int {
    // example: trash
    try await library.performChanges { $0.deleteAssets([photo]) }  // to the trash; its places in albums are kept
    var options = FetchOptions()
    options.showsTrash = true
    let trash = try library.fetchAssets(options)
    try await library.performChanges { $0.restoreAssets([photo]) }  // back in every place it had
    // end
    return trash.count
  }

  static func undo(in library: PhotoLibrary, _ photos: [LocalIdentifier]) async throws -> Int {
    try await library.performChanges(cause: "nightly scan") { $0.deleteAssets(photos) }
    var count = 0
    func restored(_ changes: Int, _ token: Token?) { count = token == nil ? 0 : changes }
    // example: undo
    let plan = try library.planUndo(.cause("nightly scan"))  // what it would do; changes nothing
    if plan.conflicts.isEmpty {
      let report = try await library.undo(.cause("nightly scan"))
      restored(report.changes.count, report.token)  // the token of the undo, to undo that
    }
    // end
    return count
  }

  static func retry(in library: PhotoLibrary, _ photo: LocalIdentifier) async throws -> [Bool] {
    // example: retry
    let first = try await library.performChanges(key: "order-4711") { $0.setFavorite(true, for: [photo]) }
    let again = try await library.performChanges(key: "order-4711") { $0.setFavorite(true, for: [photo]) }
    // again.isRepetition is true, and its token is the first one's
    // end
    return [first.isRepetition, again.isRepetition, first.token == again.token]
  }

  static func watch(_ folder: URL, _ seen: (CommitSummary) -> Bool) async throws {
    // example: watch
    let library = try PhotoLibrary(at: folder)  // any number of processes may have it open
    let everything = try library.fetchAssets()
    for try await change in library.changes(to: everything) {
      for commit in change.commits where !seen(commit) { return }
    }
    // end
  }

  static func pinned(in library: PhotoLibrary, _ photo: LocalIdentifier) async throws -> [Bool] {
    // example: pinned
    let before = try library.fetchAssets(withLocalIdentifiers: [photo.uuidString])
    try await library.performChanges { $0.setFavorite(true, for: [photo]) }
    let after = try library.fetchAssets(withLocalIdentifiers: [photo.uuidString])
    let was = before[0].isFavorite  // as of before.token, however much later it is read
    let now = after[0].isFavorite
    // end
    return [was, now, before.token == after.token]
  }

  static func catchUp(
    _ library: PhotoLibrary, _ saved: String, _ back: (Set<String>, Set<String>, Set<String>) -> Void
  ) throws -> Token {
    // example: catch up
    var token = try Token(saved)  // written down when the work was last done
    for change in try library.fetchPersistentChanges(since: token) {
      let assets = try change.changeDetails(for: .asset)
      back(assets.insertedLocalIdentifiers, assets.updatedLocalIdentifiers, assets.deletedLocalIdentifiers)
      token = change.changeToken
    }
    // end
    return token
  }

  static func history(in library: PhotoLibrary, since token: Token) throws -> [String] {
    // example: history
    var filter = LogFilter()
    filter.after = token
    var lines: [String] = []
    try library.forEachLogEntry(filter) { entry in
      lines.append("\(entry.sequence) \(entry.commit.client): \(entry.sentence)")
      return true
    }
    // end
    return lines
  }

  static func permit(in library: PhotoLibrary, _ photos: [LocalIdentifier]) async throws -> [LocalIdentifier] {
    // example: permit
    let gallery = library.as("com.example.gallery")
    try await library.performChanges(cause: "settings") { change in
      var registration = ClientRegistration()
      registration.readWriteUsageDescription = "To show photos on the television."
      change.register(client: gallery.client, registration)
      change.setAuthorizationStatus(.limited, of: gallery.client)
      change.grant(photos, to: gallery.client)
    }
    let shown = try gallery.fetchAssets()  // the selection, and nothing else
    // end
    return shown.map(\.id)
  }

  static func audit(_ photo: Asset, in library: PhotoLibrary, at then: Token, print: (String) -> Void) throws {
    // example: audit
    for access in try library.access(toAsset: photo.localIdentifier, at: then) {
      print("\(access.client), by \(access.kind.rawValue)")
    }
    // end
  }

  static func investigate(
    _ photo: Asset, _ album: PhotoCollection, in library: PhotoLibrary, print: (String) -> Void
  ) throws {
    // example: investigate
    try library.forEachPropertyChange(of: photo.localIdentifier) { change in
      let who = "\(change.origin.commit.date) \(change.origin.commit.client)"
      print("\(who): \(change.property) \(change.old) → \(change.new)")
      return true
    }
    for member in try library.blame(album.localIdentifier, includingFormer: true) {
      let (added, removed) = (member.added?.commit.client, member.removed?.commit.client)
      print("\(member.label): in by \(added ?? "?"), out by \(removed ?? "—")")
    }
    let intervals = try library.accessIntervals(of: "com.example.gallery")
    for interval in intervals where interval.object == photo.localIdentifier {
      print("from \(interval.from.commit.date) to \(interval.to?.commit.date ?? .distantFuture)")
    }
    // end
  }

  static func lookBack(in library: PhotoLibrary, at date: Date) throws -> [Int] {
    // example: lookBack
    let then = try library.at(date: date)
    let photos = try then.fetchAssets()  // what the library showed, purged photos among it
    let albums = try then.fetchCollections(in: nil)
    let gallery = try then.as("com.example.gallery").fetchAssets()  // what that client saw
    // end
    return [photos.count, albums.count, gallery.count]
  }

  static func difference(
    in library: PhotoLibrary, _ album: PhotoCollection, from then: Token, to now: Token
  ) throws -> [Asset] {
    // example: difference
    let held = try library.at(then).fetchAssets(FetchOptions(), in: album)
    let difference = try library.changeDetails(from: held, to: now)
    let gone = try difference.removedObjects()
    // end
    return gone
  }

  static func bootstrap(_ folder: URL) throws {
    // example: bootstrap
    try PHPhotoLibrary.bootstrap(libraryAt: folder, client: "com.example.backup")
    // end
  }

  static func asAnotherClient() -> Int {
    // example: client
    let count = PHPhotoLibrary.withClient(named: "com.example.gallery") { PHAsset.fetchAssets(with: nil).count }
    // end
    return count
  }

  static func converted() -> [Int] {
    // example: converted
    let albums = PHAssetCollection.fetchAssetCollections(with: .album, subtype: .any, options: nil)
    let lists: [PHFetchResult<PHCollection>] = [
      PHFetchResult(albums), PHCollection.fetchTopLevelUserCollections(with: nil),
    ]
    // end
    return lists.map(\.count)
  }

  static func verify(_ library: PhotoLibrary) throws -> Verification {
    // example: verify
    let found = try library.verify()
    if let defect = found.defect { print("\(defect.place): \(defect.description)") }
    print("\(found.eventCount) events, chain \(found.chain)")  // write the chain down elsewhere
    // end
    return found
  }

  static func checkpoint(_ library: PhotoLibrary, in file: URL) throws -> Verification {
    // example: checkpoint
    let checkpoint = try library.checkpoint()
    try checkpoint.write(to: file)  // store it out of reach of the library's writers
    let kept = try Checkpoint(String(contentsOf: file, encoding: .utf8))
    let found = try library.verify(against: [kept])
    if let defect = found.defect { print("\(defect.place): \(defect.description)") }
    // end
    return found
  }

  static func prove(_ library: PhotoLibrary) throws -> UInt64 {
    // example: prove
    let checkpoint = try library.checkpoint()
    let proof = try library.inclusionProof(ofSequence: 7, inFirst: checkpoint.size, includingRecord: true)
    try proof.check(against: [checkpoint])  // throws what does not hold
    let since = try library.consistencyProof(from: checkpoint.size)
    try since.check(against: [checkpoint])
    // end
    return proof.sequence
  }
}
