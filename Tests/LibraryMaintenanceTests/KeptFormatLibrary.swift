import Foundation
import LibraryMaintenance
import PhotoLedger

// The second library of the fixtures since store format 3: what the one of format 1 (FormatLibrary.swift) cannot hold,
// since its bytes are frozen: a creation that was undone and brought back, and an asset that was erased.
//
// A fork is not among it: its first event names the directory of the library that it was made from.

enum KeptFormatLibrary {
  /// Makes the library in a new directory and lives through its history.
  static func make(at url: URL) throws -> PhotoLibrary {
    // The fixtures are of the time before SHA-1s were kept.
    try ContentHash.$isSHA1Kept.withValue(false) { try lived(at: url) }
  }

  private static func lived(at url: URL) throws -> PhotoLibrary {
    let library = try PhotoLibrary.create(at: url, environment: .seeded(2))
    var ids: [LocalIdentifier] = []
    try library.performChangesAndWait(cause: "import") { change in
      ids = ["Tide", "Secret"].map { change.createAsset(asset($0)) }
    }
    var album: LocalIdentifier?
    try library.performChangesAndWait { change in
      album = change.createAlbum(title: "Sea")
      album.map { change.album($0).add(ids) }
    }
    let scan = try library.performChangesAndWait(cause: "scan") { change in
      let third = change.createAsset(asset("Third"))
      ids.append(third)
      album.map { change.album($0).add([third]) }
    }
    let undo = try library.undoAndWait(.commit(scan.token))
    guard let token = undo.token else { preconditionFailure("There was something to undo.") }
    try library.undoAndWait(.commit(token))
    var edit = AssetChanges()
    edit.rating = .five
    edit.addedKeywords = ["low water"]
    try library.performChangesAndWait(cause: "stars") { $0.edit(ids, edit) }
    try library.eraseAssets([ids[1]], cause: "a request")
    return library
  }

  private static func asset(_ name: String) -> AssetCreation {
    let file = ResourceDraft(type: .photo, source: .data(Data(name.utf8)), originalFilename: "\(name).jpg")
    var creation = AssetCreation(mediaType: .image, resources: [file])
    creation.creationDate = Date(timeIntervalSince1970: 1_717_180_200)
    creation.caption = "What \(name) shows"
    return creation
  }
}
