import Foundation
import PhotoLedger

// The fourth library of the fixtures, since store format 5: the payloads of version 3. Assets have what their files
// say, with and without a SHA-1; it is replaced, edited around, undone, purged and restored.

enum DescribedFormatLibrary {
  /// Makes the library in a new directory and lives through its history.
  static func make(at url: URL) throws -> PhotoLibrary {
    let library = try PhotoLibrary.create(at: url, environment: .seeded(5))
    var ids: [LocalIdentifier] = []
    try library.performChangesAndWait(cause: "import") { change in
      ids = ["Ebb", "Flow"].map { change.createAsset(asset($0, .full)) }
      ids.append(change.createAsset(asset("Plain", nil)))
    }
    var caption = AssetChanges()
    caption.caption = .set("By hand")
    try library.performChangesAndWait { $0.edit([ids[0]], caption) }
    var reread = AssetChanges()
    var metadata = AssetMetadata()
    metadata.title = "Read again"
    reread.fileMetadata = .set(metadata)
    let second = try library.performChangesAndWait(cause: "read") { $0.edit([ids[0], ids[2]], reread) }
    try library.undoAndWait(.commit(second.token))
    reread.fileMetadata = .clear
    try library.performChangesAndWait { $0.edit([ids[1]], reread) }
    let scan = try library.performChangesAndWait(cause: "scan") { _ = $0.createAsset(asset("Third", .full)) }
    let undo = try library.undoAndWait(.commit(scan.token))
    guard let token = undo.token else { preconditionFailure("There was something to undo.") }
    try library.undoAndWait(.commit(token))
    try library.performChangesAndWait { $0.deleteAssets([ids[0]]) }
    try library.performChangesAndWait { $0.purgeAssets([ids[0]]) }
    return library
  }

  private static func asset(_ name: String, _ metadata: AssetMetadata?) -> AssetCreation {
    let file = ResourceDraft(type: .photo, source: .data(Data(name.utf8)), originalFilename: "\(name).jpg")
    var creation = AssetCreation(mediaType: .image, resources: [file])
    creation.creationDate = Date(timeIntervalSince1970: 1_717_180_200)
    creation.fileMetadata = metadata
    return creation
  }
}
