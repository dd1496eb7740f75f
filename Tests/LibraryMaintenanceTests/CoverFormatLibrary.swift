import Foundation
import PhotoLedger

// The fourth library of the fixtures of store format 4: covers of albums, which came after the others were frozen. An
// edit of a collection that names a cover is of version 2, and so are two members of the row.

enum CoverFormatLibrary {
  private static let client = "com.example.gallery"

  /// Makes the library in a new directory and lives through its history.
  static func make(at url: URL) throws -> PhotoLibrary {
    let library = try PhotoLibrary.create(at: url, environment: .seeded(4))
    var ids: [LocalIdentifier] = []
    try library.performChangesAndWait(cause: "import") { change in
      ids = ["Ebb", "Flow", "Slack"].map { change.createAsset(asset($0)) }
      change.setAuthorizationStatus(.limited, of: client)
      change.grant([ids[0], ids[1]], to: client)
    }
    var album = ids[0]
    try library.as(client).performChangesAndWait { change in
      album = change.createAlbum(title: "Tides")
      change.album(album).add([ids[0], ids[1]])
      change.setCover(ids[1], of: album)
    }
    try library.performChangesAndWait { change in
      change.album(album).add([ids[2]])
      change.setCover(ids[2], of: album)
    }
    try library.performChangesAndWait { $0.deleteAssets([ids[2]]) }
    try library.performChangesAndWait { $0.withdraw([ids[1]], from: client) }
    try library.performChangesAndWait { $0.setCover(ids[0], of: album) }
    return library
  }

  private static func asset(_ name: String) -> AssetCreation {
    let file = ResourceDraft(type: .photo, source: .data(Data(name.utf8)), originalFilename: "\(name).jpg")
    return AssetCreation(mediaType: .image, resources: [file])
  }
}
