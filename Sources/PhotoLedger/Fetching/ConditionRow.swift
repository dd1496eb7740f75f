import Foundation

/// A row that conditions and sort terms read.
package protocol PropertyRow: Sendable {
  /// The kind of object that the row describes.
  static var entity: Entity { get }
  /// How a property is read; `number` that is always NaN for a key that the kind has not.
  static func reader(of key: PropertyKey) -> PropertyReader<Self>
}

/// Reads one property of a row without boxing it; a missing value is a value that no row can hold.
package enum PropertyReader<Row: PropertyRow>: Sendable {
  /// Never missing.
  case bool(@Sendable (Row) -> Bool)
  /// Missing: `Int64.min`.
  case integer(@Sendable (Row) -> Int64)
  /// A double, or a date in seconds since 2001. Missing: NaN.
  case number(@Sendable (Row) -> Double)
  /// Missing: nil.
  case text(@Sendable (Row) -> String?)
  /// Never missing.
  case identifier(@Sendable (Row) -> LocalIdentifier, ObjectKindOf<Row>)
}

/// Tells the kind of object of a row, for the spelling of its identifier.
package typealias ObjectKindOf<Row> = @Sendable (Row) -> ObjectKind

private func seconds(_ date: Date?) -> Double { date?.timeIntervalSinceReferenceDate ?? .nan }

extension AssetRow: PropertyRow {
  package static var entity: Entity { .asset }

  package static func reader(of key: PropertyKey) -> PropertyReader<AssetRow> {
    switch key {
    case .localIdentifier: .identifier({ $0.identifier }, { _ in .asset })
    case .creationDate: .number { seconds($0.creationDate) }
    case .modificationDate: .number { seconds($0.modificationDate) }
    case .addedDate: .number { $0.addedDate.timeIntervalSinceReferenceDate }
    case .localCreationDate: .number { seconds($0.localCreationDate) }
    case .trashedDate: .number { seconds($0.trashedDate) }
    case .mediaType: .integer { Int64($0.mediaType.rawValue) }
    case .mediaSubtypes: .integer { Int64($0.mediaSubtypes.rawValue) }
    case .playbackStyle: .integer { Int64($0.playbackStyle.rawValue) }
    case .sourceType: .integer { Int64($0.sourceType.rawValue) }
    case .pixelWidth: .integer { Int64($0.pixelWidth) }
    case .pixelHeight: .integer { Int64($0.pixelHeight) }
    case .rating: .integer { Int64($0.rating.rawValue) }
    case .burstSelectionTypes: .integer { Int64($0.burstSelection.rawValue) }
    case .hasAdjustments: .bool { $0.adjustmentsState != .none }
    case .adjustmentsState: .integer { Int64($0.adjustmentsState.rawValue) }
    case .adjustmentTimestamp: .number { seconds($0.adjustmentDate) }
    case .playbackVariation: .integer { Int64($0.playbackVariation.rawValue) }
    case .originalResourceChoice: .integer { Int64($0.originalResourceChoice.rawValue) }
    case .isRaw: .bool { $0.flags.contains(.raw) }
    case .isSelfPortrait: .bool { $0.flags.contains(.selfPortrait) }
    case .timeZoneOffset: .integer { $0.timeZoneOffset.map(Int64.init) ?? .min }
    case .duration: .number { $0.duration }
    case .latitude: .number { $0.location?.latitude ?? .nan }
    case .longitude: .number { $0.location?.longitude ?? .nan }
    case .altitude: .number { $0.location?.altitude ?? .nan }
    case .isFavorite: .bool { $0.flags.rawValue & 1 != 0 }
    case .isHidden: .bool { $0.flags.rawValue & 2 != 0 }
    case .representsBurst: .bool { $0.flags.rawValue & 4 != 0 }
    case .isTrashed: .bool { $0.trashedDate != nil }
    case .burstIdentifier: .text { $0.burstIdentifier }
    case .localizedTitle, .startDate, .endDate, .estimatedAssetCount, .kind, .albumSubtype, .canContainAssets,
      .canContainCollections:
      .number { _ in .nan }
    }
  }
}

extension CollectionRow: PropertyRow {
  package static var entity: Entity { .collection }

  package static func reader(of key: PropertyKey) -> PropertyReader<CollectionRow> {
    switch key {
    case .localIdentifier: .identifier({ $0.identifier }, { $0.objectKind })
    case .creationDate: .number { $0.creationDate.timeIntervalSinceReferenceDate }
    case .modificationDate: .number { $0.modificationDate.timeIntervalSinceReferenceDate }
    case .localizedTitle: .text { $0.title }
    case .estimatedAssetCount: .integer { $0.kind == .smartAlbum ? Int64(NSNotFound) : Int64($0.assetCount) }
    case .kind: .integer { Int64($0.kind.rawValue) }
    case .albumSubtype: .integer { $0.albumSubtype.map { Int64($0.rawValue) } ?? .min }
    case .canContainAssets: .bool { $0.kind != .folder }
    case .canContainCollections: .bool { $0.kind == .folder }
    default: .number { _ in .nan }
    }
  }
}
