import Foundation
import PhotoLedger

// The third library of the fixtures of store format 3: the payloads of version 2. Files have a SHA-1, a selection
// follows an album, and a pick leaves the place out.

enum RecentFormatLibrary {
  private static let client = "com.example.gallery"

  /// Makes the library in a new directory and lives through its history.
  static func make(at url: URL) throws -> PhotoLibrary {
    let library = try PhotoLibrary.create(at: url, environment: .seeded(3))
    var ids: [LocalIdentifier] = []
    try library.performChangesAndWait(cause: "import") { change in
      ids = ["Ebb", "Flow"].map { change.createAsset(asset($0)) }
    }
    var album = ids[0]
    try library.performChangesAndWait(cause: "share") { change in
      album = change.createAlbum(title: "Shared")
      change.album(album).add([ids[0]])
      change.setAuthorizationStatus(.limited, of: client)
      change.grant([ids[1]], to: client)
      change.follow(album, as: client)
    }
    try library.performChangesAndWait { $0.album(album).add([ids[1]]) }
    try library.as(client).performChangesAndWait { _ = $0.createAsset(asset("Visit")) }
    try library.performChangesAndWait { $0.addResources([file("Second", .alternatePhoto)], to: ids[0]) }
    let scan = try library.performChangesAndWait(cause: "scan") { _ = $0.createAsset(asset("Third")) }
    let undo = try library.undoAndWait(.commit(scan.token))
    guard let token = undo.token else { preconditionFailure("There was something to undo.") }
    try library.undoAndWait(.commit(token))
    try library.performChangesAndWait { $0.deleteAssets([ids[1]]) }
    try library.performChangesAndWait { $0.purgeAssets([ids[1]]) }
    _ = try library.store.perform(
      [.client(named: "com.example.mail", .pick([ids[0]], withholding: .removeLocation))], cause: "picking session")
    try library.performChangesAndWait { $0.follow(nil, as: client) }
    return library
  }

  private static func file(_ name: String, _ type: ResourceType) -> ResourceDraft {
    ResourceDraft(type: type, source: .data(Data(name.utf8)), originalFilename: "\(name).jpg")
  }

  private static func asset(_ name: String) -> AssetCreation {
    var creation = AssetCreation(mediaType: .image, resources: [file(name, .photo)])
    creation.creationDate = Date(timeIntervalSince1970: 1_717_180_200)
    return creation
  }
}
