import EventLog
package import Foundation
import LMDB
import LibraryAudit
package import PhotoLedger

// The library that the fixtures of store formats 1 to 3 hold: one of every fact, in one order, from one seed.
//
// A change here makes another library than that of the fixtures of older formats, which are never recorded again: what
// a later format needs is in a library of its own.

/// The history that StorageFormat.md takes its examples from.
package struct FormatLibrary {
  let library: PhotoLibrary
  private var assets: [LocalIdentifier] = []

  /// Makes the library in a new directory and lives through its history.
  package static func make(at url: URL) throws -> PhotoLibrary {
    // The fixtures are of the time before SHA-1s were kept.
    try ContentHash.$isSHA1Kept.withValue(false) { try lived(at: url) }
  }

  /// What copies are made of.
  private static let original: Result<LibraryFiles, any Error> = Result {
    let folder = try TemporaryFolder()
    return try withExtendedLifetime(folder) {
      let url = folder.place("library")
      try make(at: url).close()
      return try LibraryFiles(of: url.path)
    }
  }

  /// Copies the library to a new directory: one history for all the tests that spoil it. What is made in a copy has
  /// identifiers and dates of its own.
  package static func copy(to url: URL) throws -> PhotoLibrary {
    try original.get().write(to: url.path)
    return try PhotoLibrary(at: url, environment: .seeded(2, start: Date(timeIntervalSince1970: 1_760_000_000)))
  }

  private static func lived(at url: URL) throws -> PhotoLibrary {
    var story = FormatLibrary(library: try PhotoLibrary.create(at: url, environment: .seeded(1)))
    try story.createAssets()
    try story.arrangeAlbums()
    try story.edit()
    try story.trash()
    try story.crowd()
    try story.describe()
    try story.share()
    try story.library.shortenHistory(to: try story.library.currentToken)
    return story.library
  }

  private init(library: PhotoLibrary) { self.library = library }

  private mutating func createAssets() throws {
    var photo = AssetCreation(mediaType: .image, resources: [.stored(try resource(1, .photo, "IMG_0001.HEIC"))])
    photo.pixelWidth = 4032
    photo.pixelHeight = 3024
    photo.creationDate = Date(timeIntervalSince1970: 1_717_180_200)
    photo.localCreationDate = Date(timeIntervalSince1970: 1_717_187_400)
    photo.timeZoneOffset = 7200
    photo.location = Location(latitude: 52.5163, longitude: 13.3777, altitude: 34)
    var video = AssetCreation(mediaType: .video, resources: [.stored(try resource(2, .video, "MOV_0002.MP4"))])
    video.duration = 12.5
    var burst = AssetCreation(mediaType: .image, resources: [.stored(try resource(3, .photo, "IMG_0003.JPG"))])
    burst.burstIdentifier = "burst-7"
    burst.representsBurst = true
    burst.isFavorite = true
    var made: [LocalIdentifier] = []
    try library.performChangesAndWait { $0.setAuthorizationStatus(.authorized, of: "com.example.import") }
    try library.as("com.example.import").performChangesAndWait(cause: "import", key: "import-1") { change in
      made = [photo, video, burst].map { change.createAsset($0) }
    }
    assets = made
  }

  private mutating func arrangeAlbums() throws {
    var album: LocalIdentifier?
    var folder: LocalIdentifier?
    try library.performChangesAndWait(cause: "arrange") { change in
      album = change.createAlbum(title: "Sea")
      folder = change.createFolder(title: "Travels")
    }
    guard let album, let folder else { preconditionFailure("The block made an album and a folder.") }
    collections = (album, folder)
    let assets = assets
    try library.performChangesAndWait { change in
      change.album(album).add([assets[0], assets[1]])
      change.album(album).insert([assets[2]], at: 1)
      change.folder(folder).add([album])
    }
    try library.performChangesAndWait { change in
      change.album(album).remove(at: [0])
      change.album(album).replace(at: [0], with: [assets[0]])
      change.album(album).add([assets[2]])
      change.setTitle("The sea", of: album)
    }
  }

  private var collections: (album: LocalIdentifier, folder: LocalIdentifier)?

  private func edit() throws {
    var changes = AssetChanges()
    changes.isFavorite = true
    changes.creationDate = .set(Date(timeIntervalSince1970: 1_717_183_800))
    changes.location = .clear
    try library.performChangesAndWait(cause: "edit") { $0.edit([assets[0]], changes) }
    var live = AssetChanges()
    live.mediaSubtypes = .photoLive
    live.playbackStyle = .livePhoto
    let movie = ResourceDraft.stored(try resource(4, .pairedVideo, "IMG_0001.MOV"))
    try library.performChangesAndWait(cause: "pair") { $0.addResources([movie], to: assets[0], changing: live) }
    try library.performChangesAndWait(key: "again") { $0.setFavorite(true, for: [assets[0]]) }
  }

  private func trash() throws {
    try library.performChangesAndWait { $0.deleteAssets([assets[0], assets[1]]) }
    try library.performChangesAndWait { $0.restoreAssets([assets[0]]) }
    try library.performChangesAndWait(cause: "purge") { $0.purgeAssets([assets[1]]) }
  }

  /// Moves two members in front of each other until there is no room between their neighbours.
  private func crowd() throws {
    guard let (album, folder) = collections else { preconditionFailure("The albums were made.") }
    let picture = try picture(5)
    try library.performChangesAndWait(cause: "crowd") { change in
      change.album(album).add([change.createAsset(picture)])
      for _ in 0..<33 { change.album(album).move(at: [2], to: 1) }
    }
    try library.performChangesAndWait { $0.deleteCollections([folder]) }
  }

  /// Words, stars, an edit of the content that is reverted, and a query that looks like an album.
  private func describe() throws {
    var changes = AssetChanges()
    changes.caption = .set("Low tide")
    changes.addedKeywords = ["sea", "Baltic"]
    changes.rating = .four
    try library.performChangesAndWait(cause: "describe") { $0.edit([assets[2]], changes) }
    let recipe = AdjustmentData(formatIdentifier: "com.example.editor", formatVersion: "1.0", data: Data([1, 2, 3]))
    let render = ResourceDraft.stored(try resource(6, .fullSizePhoto, "FullSizeRender.jpg"))
    var edit = ContentEdit(adjustmentData: recipe, rendered: [render])
    (edit.pixelWidth, edit.pixelHeight) = (100, 200)
    try library.performChangesAndWait(cause: "edit content") { $0.editContent(of: assets[2], edit) }
    try library.performChangesAndWait { $0.revertContent(of: assets[2]) }
    try library.performChangesAndWait {
      $0.createSmartAlbum(title: "Best", where: .isTrue(.isFavorite), sortedBy: [])
    }
  }

  /// A client with a selection, which makes an album of its own, and one that is given a pick.
  private func share() throws {
    let name = "com.example.gallery"
    var registration = ClientRegistration()
    registration.readWriteUsageDescription = "To show your photos."
    registration.preventsAutomaticLimitedAccessAlert = true
    let gallery = library.as(name)
    try gallery.performChangesAndWait { $0.register(client: name, registration) }
    try library.performChangesAndWait(cause: "limit") { change in
      change.setAuthorizationStatus(.limited, of: name)
      change.grant([assets[0], assets[2]], to: name)
    }
    try gallery.performChangesAndWait { change in
      let album = change.createAlbum(title: "Picked")
      let own = AssetCreation(mediaType: .image, resources: [.staged(try resource(7, .photo, "IMG_0007.JPG"))])
      change.album(album).add([assets[2], change.createAsset(own)])
    }
    try library.performChangesAndWait { $0.withdraw([assets[2]], from: name) }
    _ = try library.store.perform(
      [.client(named: "com.example.mail", .pick([assets[2], assets[0]]))], cause: "picking session")
  }

  private func picture(_ seed: UInt8) throws -> AssetCreation {
    AssetCreation(mediaType: .image, resources: [.stored(try resource(seed, .photo, "IMG_000\(seed).JPG"))])
  }

  /// A resource of invented bytes. Those that the library holds are put where StorageFormat.md says that they lie.
  private func resource(_ seed: UInt8, _ type: ResourceType, _ name: String) throws -> AssetResource {
    let bytes = [UInt8](repeating: seed, count: 1000 * Int(seed))
    let resource = AssetResource(
      type: type, originalFilename: name,
      uniformTypeIdentifier: type == .photo ? "public.jpeg" : "com.apple.quicktime-movie",
      dataSize: UInt64(bytes.count), sha256: SHA256.digest(of: bytes).bytes,
      storage: seed == 2 ? .referenced(path: "/photos/\(name)") : .library,
      contentIdentifier: name.hasPrefix("IMG_0001") ? "LIVE-1" : nil)
    guard resource.storage == .library else { return resource }
    let digits = resource.sha256Hex
    let folder = library.url.appending(path: "resources/\(digits.prefix(2))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(bytes).write(to: folder.appending(path: digits.dropFirst(2)))
    return resource
  }
}
