// Requests about albums and folders. Both edit an arranged list: what they are is an `ArrangedEdit`, which the two
// classes give Apple's names.

internal import PhotoLedger

/// An arranged list that a block creates or edits.
private struct ArrangedEdit {
  let current: CurrentBlock
  /// The album or folder; nil for the top level.
  let identifier: LocalIdentifier?
  let editor: ContentEditor
  var title: String?
  var isCreation = false
  /// Whether the result that the caller sees, and on which positions count, holds an object (AL-05); nil: they count on
  /// the list as it is.
  var isInBasis: ((LocalIdentifier) -> Bool)?

  /// Stands for the collection that will be; traps if none will.
  func placeholder(_ kind: ObjectKind, _ call: String) -> PHObjectPlaceholder {
    guard isCreation, let identifier else { fatalError("\(call) was asked of a request that creates nothing.") }
    return PHObjectPlaceholder(identifier, kind)
  }

  mutating func setTitle(_ title: String) {
    self.title = title
    current.block.setTitle(title, of: identifier)
  }

  /// Puts each member at its position of the list as it will be, ascending.
  ///
  /// Positions on a result that the caller sees count without the new members that come before: those are not in it.
  func insert(_ members: [LocalIdentifier], atEach indexes: IndexSet, _ call: String) {
    guard members.count == indexes.count else {
      fatalError("\(call) was given \(members.count) objects and \(indexes.count) positions.")
    }
    var (rest, new) = (members[...], 0)
    for range in indexes.rangeView {
      let group = Array(rest.prefix(range.count))
      rest = rest.dropFirst(range.count)
      editor.insert(group, at: range.lowerBound - new)
      if let isInBasis, !rest.isEmpty { new += group.count { !isInBasis($0) } }
    }
  }
}

/// Creates, changes or deletes albums (Apple: `PHAssetCollectionChangeRequest`).
open class PHAssetCollectionChangeRequest: PHChangeRequest {
  private var edit: ArrangedEdit

  private init(_ edit: ArrangedEdit) { self.edit = edit }

  /// Creates an album (Apple: `creationRequestForAssetCollection(withTitle:)`).
  @discardableResult
  open class func creationRequestForAssetCollection(withTitle title: String) -> PHAssetCollectionChangeRequest {
    let current = CurrentBlock.of("PHAssetCollectionChangeRequest.creationRequestForAssetCollection(withTitle:)")
    let identifier = current.block.createAlbum(title: title)
    return PHAssetCollectionChangeRequest(
      ArrangedEdit(
        current: current, identifier: identifier, editor: current.block.album(identifier), title: title,
        isCreation: true))
  }

  /// Deletes albums; their assets stay (AL-02; Apple: `deleteAssetCollections(_:)`).
  open class func deleteAssetCollections(_ assetCollections: any NSFastEnumeration) {
    CurrentBlock.of("PHAssetCollectionChangeRequest.deleteAssetCollections(_:)").block
      .deleteCollections(assetCollections.identifiers)
  }

  /// Changes an album, or one that this block creates; indexes count on its state as the block's earlier requests left
  /// it. Nil for a transient one; the block fails for another one that cannot be changed (CB-10; Apple: `init(for:)`).
  public convenience init?(for assetCollection: PHAssetCollection) {
    let current = CurrentBlock.of("PHAssetCollectionChangeRequest(for:)")
    guard let identifier = assetCollection.identifier, !assetCollection.isTransient else { return nil }
    self.init(
      ArrangedEdit(
        current: current, identifier: identifier, editor: current.block.album(identifier),
        title: assetCollection.localizedTitle))
  }

  /// The same; indexes count on a result that the caller sees, and are translated (AL-05; Apple: `init(for:assets:)`).
  public convenience init?(for assetCollection: PHAssetCollection, assets: PHFetchResult<PHAsset>) {
    let current = CurrentBlock.of("PHAssetCollectionChangeRequest(for:assets:)")
    guard let identifier = assetCollection.identifier, !assetCollection.isTransient,
      case .assets(let result) = assets.content
    else { return nil }
    self.init(
      ArrangedEdit(
        current: current, identifier: identifier, editor: current.block.album(identifier, assets: result),
        title: assetCollection.localizedTitle, isInBasis: result.holds(in: current.library)))
  }

  /// Stands for the album that will be (Apple: `placeholderForCreatedAssetCollection`).
  open var placeholderForCreatedAssetCollection: PHObjectPlaceholder {
    edit.placeholder(.album, "placeholderForCreatedAssetCollection")
  }

  /// The title.
  open var title: String {
    get { edit.title ?? "" }
    set { edit.setTitle(newValue) }
  }

  /// Puts assets last; those that are there stay where they are (AL-06).
  open func addAssets(_ assets: any NSFastEnumeration) { edit.editor.add(assets.identifiers) }

  /// Puts assets at positions of the album as it will be.
  open func insertAssets(_ assets: any NSFastEnumeration, at indexes: IndexSet) {
    edit.insert(assets.identifiers, atEach: indexes, "insertAssets(_:at:)")
  }

  /// Takes assets out; they stay in the library (AL-01).
  open func removeAssets(_ assets: any NSFastEnumeration) { edit.editor.remove(assets.identifiers) }

  /// Takes the assets at positions out; they stay in the library (AL-01).
  open func removeAssets(at indexes: IndexSet) { edit.editor.remove(at: indexes) }

  /// Puts assets in the places of others (AL-04).
  open func replaceAssets(at indexes: IndexSet, withAssets assets: any NSFastEnumeration) {
    edit.editor.replace(at: indexes, with: assets.identifiers)
  }

  /// Takes the assets at positions out, and puts them where `toIndex` counts without them (AL-03).
  open func moveAssets(at fromIndexes: IndexSet, to toIndex: Int) { edit.editor.move(at: fromIndexes, to: toIndex) }
}

/// Creates, changes or deletes folders, and edits the top level (Apple: `PHCollectionListChangeRequest`).
open class PHCollectionListChangeRequest: PHChangeRequest {
  private var edit: ArrangedEdit

  private init(_ edit: ArrangedEdit) { self.edit = edit }

  /// Creates a folder (Apple: `creationRequestForCollectionList(withTitle:)`).
  @discardableResult
  open class func creationRequestForCollectionList(withTitle title: String) -> PHCollectionListChangeRequest {
    let current = CurrentBlock.of("PHCollectionListChangeRequest.creationRequestForCollectionList(withTitle:)")
    let identifier = current.block.createFolder(title: title)
    return PHCollectionListChangeRequest(
      ArrangedEdit(
        current: current, identifier: identifier, editor: current.block.folder(identifier), title: title,
        isCreation: true))
  }

  /// Deletes folders with all albums and folders in them, and no asset (FO-03; Apple: `deleteCollectionLists(_:)`).
  open class func deleteCollectionLists(_ collectionLists: any NSFastEnumeration) {
    CurrentBlock.of("PHCollectionListChangeRequest.deleteCollectionLists(_:)").block
      .deleteCollections(collectionLists.identifiers)
  }

  /// Changes a folder; nil for a transient one; the block fails for another one that cannot be changed (CB-10;
  /// Apple: `init(for:)`).
  public convenience init?(for collectionList: PHCollectionList) {
    let current = CurrentBlock.of("PHCollectionListChangeRequest(for:)")
    guard let identifier = collectionList.identifier, !collectionList.isTransient else { return nil }
    self.init(
      ArrangedEdit(
        current: current, identifier: identifier, editor: current.block.folder(identifier),
        title: collectionList.localizedTitle))
  }

  /// The same; indexes count on a result that the caller sees (AL-05; Apple: `init(for:childCollections:)`).
  public convenience init?(for collectionList: PHCollectionList, childCollections: PHFetchResult<PHCollection>) {
    let current = CurrentBlock.of("PHCollectionListChangeRequest(for:childCollections:)")
    guard let identifier = collectionList.identifier, !collectionList.isTransient,
      case .collections(let result) = childCollections.content
    else { return nil }
    self.init(
      ArrangedEdit(
        current: current, identifier: identifier, editor: current.block.folder(identifier, collections: result),
        title: collectionList.localizedTitle, isInBasis: result.holds(in: current.library)))
  }

  /// Edits the top level (FO-04; Apple: `init(forTopLevelCollectionListUserCollections:)`).
  public convenience init?(forTopLevelCollectionListUserCollections childCollections: PHFetchResult<PHCollection>) {
    let current = CurrentBlock.of("PHCollectionListChangeRequest(forTopLevelCollectionListUserCollections:)")
    guard case .collections(let result) = childCollections.content else { return nil }
    self.init(
      ArrangedEdit(
        current: current, identifier: nil, editor: current.block.folder(nil, collections: result),
        isInBasis: result.holds(in: current.library)))
  }

  /// Stands for the folder that will be (Apple: `placeholderForCreatedCollectionList`).
  open var placeholderForCreatedCollectionList: PHObjectPlaceholder {
    edit.placeholder(.folder, "placeholderForCreatedCollectionList")
  }

  /// The title; the top level does not have one, and setting it fails the block (FR-13).
  open var title: String {
    get { edit.title ?? "" }
    set { edit.setTitle(newValue) }
  }

  /// Puts collections last; a collection is taken out of where it was (FO-01).
  open func addChildCollections(_ collections: any NSFastEnumeration) { edit.editor.add(collections.identifiers) }

  /// Puts collections at positions of the folder as it will be.
  open func insertChildCollections(_ collections: any NSFastEnumeration, at indexes: IndexSet) {
    edit.insert(collections.identifiers, atEach: indexes, "insertChildCollections(_:at:)")
  }

  /// Takes collections out, to the end of the top level (FO-01).
  open func removeChildCollections(_ collections: any NSFastEnumeration) { edit.editor.remove(collections.identifiers) }

  /// Takes the collections at positions out, to the end of the top level (FO-01).
  open func removeChildCollections(at indexes: IndexSet) { edit.editor.remove(at: indexes) }

  /// Puts collections in the places of others (AL-04).
  open func replaceChildCollections(at indexes: IndexSet, withChildCollections collections: any NSFastEnumeration) {
    edit.editor.replace(at: indexes, with: collections.identifiers)
  }

  /// Takes the collections at positions out, and puts them where `toIndex` counts without them (AL-03).
  open func moveChildCollections(at indexes: IndexSet, to toIndex: Int) { edit.editor.move(at: indexes, to: toIndex) }
}

extension PHCollection {
  /// Whether it lives in memory only, where nothing can be changed.
  var isTransient: Bool { collection?.isTransient ?? false }
}

extension FetchResult {
  /// Whether it has a position for an object. A result that cannot be read does not have one; the block that uses it as
  /// its basis fails with the reason.
  fileprivate func holds(_ position: () throws -> Int?) -> Bool {
    guard (try? core) != nil else { return false }
    return reading { try position() != nil }
  }
}

extension FetchResult<Asset> {
  /// Whether it holds the asset with an identifier; one that is only created by the block is in no result.
  fileprivate func holds(in library: PHPhotoLibrary) -> (LocalIdentifier) -> Bool {
    { identifier in
      holds { try library.core.asset(identifier.uuidString).flatMap { try index(ofObject: $0) } }
    }
  }
}

extension FetchResult<PhotoCollection> {
  /// Whether it holds the collection with an identifier; one that is only created by the block is in no result.
  fileprivate func holds(in library: PHPhotoLibrary) -> (LocalIdentifier) -> Bool {
    { identifier in
      holds { try library.core.collection(identifier.uuidString).flatMap { try index(ofObject: $0) } }
    }
  }
}
