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

/// The kind of object of a row, for the text form of its identifier.
package typealias ObjectKindOf<Row> = @Sendable (Row) -> ObjectKind

extension AssetRow: PropertyRow {}
extension AssetView: PropertyRow {}

extension PropertyRow where Self: AssetBytes {
  package static var entity: Entity { .asset }

  package static func reader(of key: PropertyKey) -> PropertyReader<Self> {
    typealias Layout = AssetRow.Layout
    return switch key {
    case .localIdentifier: .identifier({ $0.identifier }, { _ in .asset })
    case .creationDate: .number { $0.seconds(Layout.creationDate) }
    case .modificationDate: .number { $0.seconds(Layout.modificationDate) }
    case .addedDate: .number { $0.seconds(Layout.addedDate) }
    case .localCreationDate: .number { $0.seconds(Layout.localCreationDate) }
    case .trashedDate: .number { $0.seconds(Layout.trashedDate) }
    case .mediaType: .integer { Int64($0.byte(Layout.mediaType)) }
    case .mediaSubtypes: .integer { Int64($0.word(Layout.mediaSubtypes)) }
    case .playbackStyle: .integer { Int64($0.byte(Layout.playbackStyle)) }
    case .sourceType: .integer { Int64($0.byte(Layout.sourceType)) }
    case .pixelWidth: .integer { Int64($0.word(Layout.pixelWidth)) }
    case .pixelHeight: .integer { Int64($0.word(Layout.pixelHeight)) }
    case .rating: .integer { Int64($0.byte(Layout.rating)) }
    case .burstSelectionTypes: .integer { Int64($0.byte(Layout.burstSelection)) }
    case .hasAdjustments: .bool { $0.byte(Layout.adjustmentsState) != AdjustmentsState.none.rawValue }
    case .adjustmentsState: .integer { Int64($0.byte(Layout.adjustmentsState)) }
    case .adjustmentTimestamp: .number { $0.seconds(Layout.adjustmentDate) }
    case .playbackVariation: .integer { Int64($0.byte(Layout.playbackVariation)) }
    case .originalResourceChoice: .integer { Int64($0.byte(Layout.originalResourceChoice)) }
    case .isRaw: .bool { $0.flags.contains(.raw) }
    case .isSelfPortrait: .bool { $0.flags.contains(.selfPortrait) }
    case .timeZoneOffset:
      .integer { row in
        let offset = row.load(Layout.timeZoneOffset, as: Int32.self)
        return offset == Layout.noOffset ? .min : Int64(offset)
      }
    case .duration: .number { $0.seconds(Layout.duration) }
    case .latitude: .number { $0.seconds(Layout.latitude) }
    case .longitude: .number { $0.seconds(Layout.longitude) }
    case .altitude: .number { $0.seconds(Layout.altitude) }
    case .isFavorite: .bool { $0.flags.contains(.favorite) }
    case .isHidden: .bool { $0.flags.contains(.hidden) }
    case .representsBurst: .bool { $0.flags.contains(.representsBurst) }
    case .isTrashed: .bool { $0.isTrashed }
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
