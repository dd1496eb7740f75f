import Foundation
package import PhotoLedger

extension TemporaryLibrary {
  /// Creates one asset.
  @discardableResult
  package func create(_ creation: AssetCreation) throws -> LocalIdentifier {
    var id: LocalIdentifier?
    try library.performChangesAndWait { id = $0.createAsset(creation) }
    guard let id else { throw Divergence("The block made no asset.") }
    return id
  }

  /// Creates assets with invented files, in one commit.
  package func create(_ count: Int) throws -> [LocalIdentifier] {
    var ids: [LocalIdentifier] = []
    try library.performChangesAndWait { block in ids = (0..<count).map { block.createAsset(.invented($0)) } }
    return ids
  }

  /// Creates an album of assets and gives its identifier.
  package func album(_ members: [LocalIdentifier]) throws -> LocalIdentifier {
    var id: LocalIdentifier?
    try library.performChangesAndWait { block in
      let album = block.createAlbum(title: "album")
      block.album(album).add(members)
      id = album
    }
    guard let id else { throw Divergence("The block made no album.") }
    return id
  }

  package func collection(_ id: LocalIdentifier) throws -> PhotoCollection {
    guard let collection = try library.collection(id.uuidString) else {
      throw Divergence("There is no collection \(id.uuidString).")
    }
    return collection
  }

  /// The members of an album in order, as far as they are shown.
  package func members(_ album: LocalIdentifier, limit: Int = 0) throws -> FetchResult<Asset> {
    var options = FetchOptions()
    options.fetchLimit = limit
    return try library.fetchAssets(options, in: try collection(album))
  }

  /// The paths of all files below `resources`.
  package func resourceFiles() throws -> Set<String> {
    let folder = url.appending(path: "resources").path
    let paths = try FileManager.default.subpathsOfDirectory(atPath: folder)
    return Set(
      paths.filter { path in
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: folder + "/" + path, isDirectory: &isDirectory)
          && !isDirectory.boolValue
      })
  }
}
