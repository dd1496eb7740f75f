public import Foundation

/// One album or folder, as it was at one commit (PHCollection, PHAssetCollection, PHCollectionList).
///
/// A value, as ``Asset`` is: equal means the same object of the library.
public struct PhotoCollection: Sendable, Identifiable {
  /// What a collection holds.
  public enum Kind: Int, Sendable, Hashable, Codable {
    /// Assets, in an order that people arrange (PHAssetCollectionSubtype.albumRegular).
    case album = 2
    /// Albums and folders (PHCollectionListSubtype.regularFolder).
    case folder = 3
  }

  package let row: CollectionRow
  package let commit: UInt64

  package init(row: CollectionRow, commit: UInt64) {
    self.row = row
    self.commit = commit
  }

  /// The identity of the collection in its library.
  public var id: LocalIdentifier { row.identifier }
  /// The identity, spelled as PhotoKit spells it.
  public var localIdentifier: String { row.identifier.spelled(as: row.kind == .album ? .album : .folder) }
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
  public var estimatedAssetCount: Int { row.assetCount }
  /// Whether the collection holds assets.
  public var canContainAssets: Bool { row.kind == .album }
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
package struct CollectionRow: Equatable, Sendable {
  package var number: ObjectNumber
  package var identifier: LocalIdentifier
  package var kind: PhotoCollection.Kind
  package var title: String?
  package var creationDate: Date
  package var modificationDate: Date
  /// When the collection was deleted; its row and places stay, so that the deletion can be taken back.
  package var deletedDate: Date?
  /// The folder that holds it; 0 for the root and for nothing.
  package var parent: ObjectNumber
  /// The number of visible assets in an album.
  package var assetCount: Int
  /// The number of members, visible or not; equal to `assetCount` where indexes can be counted without looking at rows.
  package var memberCount: Int

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
  }

  /// What a client can see of the row, for ``PhotoCollection/hasSameProperties(as:)`` and for change details (CD-22).
  package var visible: VisiblePart {
    VisiblePart(title: title, creationDate: creationDate, modificationDate: modificationDate, assetCount: assetCount)
  }

  package struct VisiblePart: Equatable {
    let title: String?
    let creationDate: Date
    let modificationDate: Date
    let assetCount: Int
  }
}
