public import Foundation

/// One album, smart album or folder, as of one commit (PHCollection, PHAssetCollection, PHCollectionList).
///
/// A value, as ``Asset`` is: equal means the same object of the library.
public struct PhotoCollection: Sendable, Identifiable {
  /// What a collection holds.
  public enum Kind: Int, Sendable, Hashable, Codable {
    /// Assets, in an order that people arrange (PHAssetCollectionSubtype.albumRegular).
    case album = 2
    /// Albums and folders (PHCollectionListSubtype.regularFolder).
    case folder = 3
    /// Whatever satisfies a query, in the query's order (PHAssetCollectionType.smartAlbum, AL-07).
    case smartAlbum = 4
  }

  package let row: CollectionRow
  package let commit: UInt64
  /// What a transient collection holds; nil for one that the library stores (FR-16).
  package let transientContent: [ObjectNumber]?

  /// The value that a client with an access gets of a row.
  package init(row: CollectionRow, seenBy access: Access, commit: UInt64) {
    self.init(shown: row.seen(by: access), commit: commit, transientContent: nil)
  }

  /// A collection in memory, which its maker holds (FR-16).
  init(inMemory row: CollectionRow, holding content: [ObjectNumber]) {
    self.init(shown: row, commit: 0, transientContent: content)
  }

  private init(shown row: CollectionRow, commit: UInt64, transientContent: [ObjectNumber]?) {
    self.row = row
    self.commit = commit
    self.transientContent = transientContent
  }

  /// The identity of the collection in its library.
  public var id: LocalIdentifier { row.identifier }
  /// The identity, spelled as PhotoKit spells it.
  public var localIdentifier: String { row.identifier.spelled(as: row.objectKind) }
  /// What the collection holds.
  public var kind: Kind { row.kind }
  /// The title that people gave it; titles need not be unique (AL-08).
  public var localizedTitle: String? { row.title }
  /// The instant at which the collection was made.
  public var creationDate: Date { row.creationDate }
  /// The instant of the last change of the title or of the content.
  public var modificationDate: Date { row.modificationDate }
  /// Always nil: PhotoKit documents it for moments only (FR-15).
  public var startDate: Date? { nil }
  /// Always nil: PhotoKit documents it for moments only (FR-15).
  public var endDate: Date? { nil }
  /// The number of assets that an ordinary fetch in the album shows, exact (FR-14); 0 for a folder.
  ///
  /// `NSNotFound` for a smart album: its members are known when they are fetched.
  public var estimatedAssetCount: Int { row.kind == .smartAlbum ? NSNotFound : row.assetCount }
  /// The subtype of an album (PHAssetCollectionSubtype); nil for a folder.
  public var albumSubtype: AlbumSubtype? { row.albumSubtype }
  /// The subtype of a folder (PHCollectionListSubtype); nil for an album.
  public var folderSubtype: FolderSubtype? {
    row.kind == .folder ? (row.number == rootFolder ? .rootFolder : .regularFolder) : nil
  }
  /// The asset that was chosen to stand for the album; nil where none was, and for every other collection.
  ///
  /// It is always an asset that an ordinary fetch in the album shows: one that leaves the album, is hidden or goes into
  /// the trash is no longer the cover. ``PhotoLibrary/fetchKeyAssets(in:_:)`` falls back to the first asset.
  public var cover: LocalIdentifier? { row.cover }
  /// What a smart album shows, as a predicate format string; nil for every other collection.
  public var smartAlbumPredicate: String? { row.query?.format }
  /// Whether the collection lives in memory only (FR-16).
  public var isTransient: Bool { transientContent != nil }
  /// Whether the collection holds assets.
  public var canContainAssets: Bool { row.kind != .folder }
  /// Whether the collection holds collections.
  public var canContainCollections: Bool { row.kind == .folder }

  /// Whether every property of both values is the same.
  public func hasSameProperties(as other: PhotoCollection) -> Bool { row.visible == other.row.visible }
}

extension PhotoCollection: Hashable {
  /// Whether both are the same object of the library.
  public static func == (one: PhotoCollection, other: PhotoCollection) -> Bool {
    one.row.identifier == other.row.identifier
  }

  /// Hashes the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(row.identifier) }
}

/// The row of a collection: its properties, and where it hangs.
///
/// A client that is limited to a selection sees its own collections, and of them what its selection lets it see: the
/// count and the date of what it may know are kept beside those for all other clients (AU-01).
package struct CollectionRow: Equatable, Sendable {
  package var number: ObjectNumber
  package var identifier: LocalIdentifier
  package var kind: PhotoCollection.Kind
  package var title: String?
  package var creationDate: Date
  package var modificationDate: Date
  /// When the collection was deleted; its row and positions are kept, so that the deletion can be undone.
  package var deletedDate: Date?
  /// The folder that holds it; 0 for the root and for nothing.
  package var parent: ObjectNumber
  /// The number of visible assets in an album.
  package var assetCount: Int
  /// The number of members, visible or not; equal to `assetCount` where indexes can be counted without looking at rows.
  package var memberCount: Int
  /// The client that made it; 0 for the owner.
  package var creator: ObjectNumber
  /// The number of visible assets that are in the creator's selection; 0 where the owner made it.
  package var creatorCount: Int
  /// The modification date as the creator sees it; the date of its making where the owner made it.
  package var creatorDate: Date
  /// What a smart album shows; nil for every other collection.
  package var query: SmartAlbumQuery?
  /// The asset chosen as the cover: always a visible member of the album. By identifier, so that a collection is a
  /// value made from its row alone.
  package var cover: LocalIdentifier?
  /// The last choice that the creator may know of: always a visible member that is in its selection.
  package var creatorCover: LocalIdentifier?

  package init(
    number: ObjectNumber, identifier: LocalIdentifier, kind: PhotoCollection.Kind, title: String?, date: Date
  ) {
    self.number = number
    self.identifier = identifier
    self.kind = kind
    self.title = title
    creationDate = date
    modificationDate = date
    deletedDate = nil
    parent = 0
    assetCount = 0
    memberCount = 0
    creator = 0
    creatorCount = 0
    creatorDate = date
  }

  /// The kind of object that its identifier names.
  package var objectKind: ObjectKind {
    switch kind {
    case .album: .album
    case .folder: .folder
    case .smartAlbum: .smartAlbum
    }
  }

  /// What it is, for sentences.
  package var word: String {
    switch kind {
    case .album: "album"
    case .smartAlbum: "smart album"
    case .folder: "folder"
    }
  }

  /// Whether it is a built-in smart album, which cannot be deleted.
  package var isBuiltIn: Bool { number >= SmartAlbumQuery.firstBuiltIn }

  /// The subtype of an album; nil for a folder.
  var albumSubtype: AlbumSubtype? {
    switch kind {
    case .album: .albumRegular
    case .folder: nil
    case .smartAlbum: query?.subtype ?? .smartAlbumGeneric
    }
  }

  /// What a client can see of the row, for ``PhotoCollection/hasSameProperties(as:)`` and for change details (CD-22).
  package var visible: VisiblePart {
    VisiblePart(
      title: title, creationDate: creationDate, modificationDate: modificationDate, assetCount: assetCount, cover: cover
    )
  }

  package struct VisiblePart: Equatable {
    let title: String?
    let creationDate: Date
    let modificationDate: Date
    let assetCount: Int
    let cover: LocalIdentifier?
  }
}
