import Foundation
import PhotoLedger

// The sixth library of the fixtures of store format 5: stacks, the payloads of version 4. One is made, its top changes,
// members leave it, and its top is purged; a creation beneath one is undone and redone.

enum StackFormatLibrary {
  /// Makes the library in a new directory and lives through its history.
  static func make(at url: URL) throws -> PhotoLibrary {
    let library = try PhotoLibrary.create(at: url, environment: .seeded(6))
    var ids: [LocalIdentifier] = []
    try library.performChangesAndWait(cause: "import") { change in
      ids = ["Ebb", "Flow", "Slack", "Neap"].map { change.createAsset(asset($0)) }
      change.album(change.createAlbum(title: "Tides")).add(ids)
    }
    try library.performChangesAndWait(cause: "stack") { $0.stack(top: ids[1], others: [ids[0], ids[2]]) }
    try library.performChangesAndWait { $0.stack(top: ids[2], others: []) }
    let scan = try library.performChangesAndWait(cause: "scan") { change in
      change.stack(top: ids[2], others: [change.createAsset(asset("Spring"))])
    }
    let undo = try library.undoAndWait(.commit(scan.token))
    guard let token = undo.token else { preconditionFailure("There was something to undo.") }
    try library.undoAndWait(.commit(token))
    try library.performChangesAndWait { $0.deleteAssets([ids[2]]) }
    try library.performChangesAndWait { $0.purgeAssets([ids[2]]) }
    try library.performChangesAndWait { $0.stack(top: ids[3], others: [ids[1]]) }
    try library.performChangesAndWait { $0.unstack([ids[3]]) }
    return library
  }

  private static func asset(_ name: String) -> AssetCreation {
    let file = ResourceDraft(type: .photo, source: .data(Data(name.utf8)), originalFilename: "\(name).jpg")
    return AssetCreation(mediaType: .image, resources: [file])
  }
}
