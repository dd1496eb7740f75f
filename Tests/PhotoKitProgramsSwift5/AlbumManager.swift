// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Photos

/// Makes, finds, arranges and deletes albums and folders.
public final class AlbumManager {
  /// What the manager cannot do.
  public enum Failure: Error, Equatable {
    case notCreated(String)
    case notFound(String)
    case notEditable(String)
  }

  public init() {}

  // MARK: - Albums

  public func album(titled title: String) -> PHAssetCollection? {
    let options = PHFetchOptions()
    options.predicate = NSPredicate(format: "title == %@", title)
    return PHAssetCollection.fetchAssetCollections(with: .album, subtype: .any, options: options).firstObject
  }

  /// The album with a title, made if there is none.
  public func findOrCreateAlbum(titled title: String) async throws -> PHAssetCollection {
    if let album = album(titled: title) { return album }
    var placeholder: PHObjectPlaceholder?
    try await PHPhotoLibrary.shared().performChanges {
      let request = PHAssetCollectionChangeRequest.creationRequestForAssetCollection(withTitle: title)
      placeholder = request.placeholderForCreatedAssetCollection
    }
    guard let identifier = placeholder?.localIdentifier,
      let album = PHAssetCollection.fetchAssetCollections(withLocalIdentifiers: [identifier], options: nil).firstObject
    else { throw Failure.notCreated(title) }
    return album
  }

  public func add(_ assets: [PHAsset], to album: PHAssetCollection) async throws {
    guard album.canPerform(.addContent) else { throw Failure.notEditable(album.localizedTitle ?? "") }
    try await edit(album) { $0.addAssets(assets as NSArray) }
  }

  public func insert(_ asset: PHAsset, at index: Int, of album: PHAssetCollection) async throws {
    try await edit(album) { $0.insertAssets([asset] as NSArray, at: IndexSet(integer: index)) }
  }

  public func remove(_ assets: PHFetchResult<PHAsset>, from album: PHAssetCollection) async throws {
    try await edit(album) { $0.removeAssets(assets) }
  }

  public func move(from source: IndexSet, to target: Int, in album: PHAssetCollection) async throws {
    try await edit(album) { $0.moveAssets(at: source, to: target) }
  }

  public func replace(at index: Int, of album: PHAssetCollection, with asset: PHAsset) async throws {
    try await edit(album) { $0.replaceAssets(at: IndexSet(integer: index), withAssets: [asset] as NSArray) }
  }

  public func rename(_ album: PHAssetCollection, to title: String) async throws {
    try await edit(album) { $0.title = title }
  }

  public func delete(_ album: PHAssetCollection) async throws {
    try await PHPhotoLibrary.shared().performChanges {
      PHAssetCollectionChangeRequest.deleteAssetCollections([album] as NSArray)
    }
  }

  /// The titles of the albums that hold an asset.
  public func titles(containing asset: PHAsset) -> [String] {
    var titles: [String] = []
    PHAssetCollection.fetchAssetCollectionsContaining(asset, with: .album, options: nil)
      .enumerateObjects { album, _, _ in titles.append(album.localizedTitle ?? "") }
    return titles
  }

  private func edit(
    _ album: PHAssetCollection, _ changes: (PHAssetCollectionChangeRequest) -> Void
  ) async throws {
    let current = PHAsset.fetchAssets(in: album, options: nil)
    var isRefused = false
    try await PHPhotoLibrary.shared().performChanges {
      guard let request = PHAssetCollectionChangeRequest(for: album, assets: current) else {
        isRefused = true
        return
      }
      changes(request)
    }
    if isRefused { throw Failure.notEditable(album.localizedTitle ?? "") }
  }

  // MARK: - Folders

  /// Makes a folder with an album of its own for each title, all in one change.
  public func createFolder(titled title: String, albums titles: [String]) async throws -> PHCollectionList {
    var identifier = ""
    try await PHPhotoLibrary.shared().performChanges {
      let albums = titles.map {
        PHAssetCollectionChangeRequest.creationRequestForAssetCollection(withTitle: $0)
          .placeholderForCreatedAssetCollection
      }
      let folder = PHCollectionListChangeRequest.creationRequestForCollectionList(withTitle: title)
      folder.addChildCollections(albums as NSArray)
      identifier = folder.placeholderForCreatedCollectionList.localIdentifier
    }
    let found = PHCollectionList.fetchCollectionLists(withLocalIdentifiers: [identifier], options: nil)
    guard let folder = found.firstObject else { throw Failure.notCreated(title) }
    return folder
  }

  /// Puts a child of a folder first.
  public func bringToFront(_ child: PHCollection, in folder: PHCollectionList) async throws {
    let children = PHCollection.fetchCollections(in: folder, options: nil)
    let index = children.index(of: child)
    guard index != NSNotFound else { throw Failure.notFound(child.localizedTitle ?? "") }
    try await PHPhotoLibrary.shared().performChanges {
      let request = PHCollectionListChangeRequest(for: folder, childCollections: children)
      request?.moveChildCollections(at: IndexSet(integer: index), to: 0)
    }
  }

  public func delete(_ folder: PHCollectionList) async throws {
    try await PHPhotoLibrary.shared().performChanges {
      PHCollectionListChangeRequest.deleteCollectionLists([folder] as NSArray)
    }
  }

  /// The tree of collections, each line indented by its depth.
  public func outline() -> [String] {
    outline(of: PHCollectionList.fetchTopLevelUserCollections(with: nil), depth: 0)
  }

  private func outline(of collections: PHFetchResult<PHCollection>, depth: Int) -> [String] {
    var lines: [String] = []
    collections.enumerateObjects { collection, _, _ in
      lines.append(String(repeating: "  ", count: depth) + (collection.localizedTitle ?? ""))
      if let folder = collection as? PHCollectionList {
        lines += self.outline(of: PHCollection.fetchCollections(in: folder, options: nil), depth: depth + 1)
      }
    }
    return lines
  }
}
