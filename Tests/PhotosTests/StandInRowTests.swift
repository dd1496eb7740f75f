import Foundation
import PhotoLedger
import Testing

@testable import Photos

@Suite("What stand-ins can be asked for")
struct StandInRowTests {
  private final class NamedPhoto: PHAsset, @unchecked Sendable {  // guarded by: holds nothing
    override var localIdentifier: String { "9F983DBA-EC35-42B8-8773-B597CF782EDD/L0/001" }
  }

  private final class NamedAlbum: PHAssetCollection, @unchecked Sendable {  // guarded by: holds nothing
    override var localIdentifier: String { "9F983DBA-EC35-42B8-8773-B597CF782EDD/L0/040" }
  }

  /// The keys that an object refuses to be compared by, each asked for alone.
  private func refused(by object: PHObject, _ entity: Entity) -> Set<PropertyKey> {
    var refused: Set<PropertyKey> = []
    for key in PropertyKey.allCases where key.isValid(for: entity) && !key.isDetail {
      do { try object.checkComparable { $0 == key } } catch { refused.insert(key) }
    }
    return refused
  }

  @Test("a stand-in refuses every key that its row does not hold (FR-09, FR-10)")
  func refusals() {
    let ofAssets: Set<PropertyKey> = [
      .localCreationDate, .trashedDate, .isTrashed, .stack, .isBeneathStack, .isRaw, .isSelfPortrait, .timeZoneOffset,
    ]
    #expect(refused(by: NamedPhoto(), .asset) == ofAssets)
    let ofCollections: Set<PropertyKey> = [
      .kind, .albumSubtype, .creationDate, .startDate, .endDate, .canContainAssets, .canContainCollections,
    ]
    #expect(refused(by: NamedAlbum(), .collection) == ofCollections)
  }

  private static let date = Date(timeIntervalSinceReferenceDate: 700_000_000)

  /// Overrides what its row holds, each with another value than a row has at first.
  private final class FullPhoto: PHAsset, @unchecked Sendable {  // guarded by: holds nothing
    override var localIdentifier: String { "11983DBA-EC35-42B8-8773-B597CF782EDD/L0/001" }
    override var addedDate: Date? { StandInRowTests.date }
    override var mediaType: PHAssetMediaType { .video }
    override var playbackStyle: PlaybackStyle { .videoLooping }
    override var mediaSubtypes: PHAssetMediaSubtype { .photoScreenshot }
    override var sourceType: PHAssetSourceType { .typeCloudShared }
    override var pixelWidth: Int { 7 }
    override var pixelHeight: Int { 8 }
    override var creationDate: Date? { StandInRowTests.date }
    override var modificationDate: Date? { StandInRowTests.date }
    override var duration: TimeInterval { 9 }
    override var location: CLLocation? {
      CLLocation(
        coordinate: CLLocationCoordinate2D(latitude: 48, longitude: 11), altitude: 500, horizontalAccuracy: 1,
        verticalAccuracy: 1, timestamp: StandInRowTests.date)
    }
    override var isFavorite: Bool { true }
    override var isHidden: Bool { true }
    override var representsBurst: Bool { true }
    override var burstIdentifier: String? { "b" }
    override var burstSelectionTypes: PHAssetBurstSelectionType { .userPick }
    override var rating: Rating { .three }
    override var hasAdjustments: Bool { true }
    override var adjustmentsState: AdjustmentsState { .cameraAutoAdjusted }
    override var adjustmentTimestamp: Date? { StandInRowTests.date }
    override var playbackVariation: PlaybackVariation { .mirror }
    override var originalResourceChoice: OriginalResourceChoice { .raw }
  }

  private final class FullAlbum: PHAssetCollection, @unchecked Sendable {  // guarded by: holds nothing
    override var localIdentifier: String { "11983DBA-EC35-42B8-8773-B597CF782EDD/L0/040" }
    override var localizedTitle: String? { "Sea" }
    override var estimatedAssetCount: Int { 3 }
    override var modificationDate: Date? { StandInRowTests.date }
  }

  @Test("keys that a row holds are compared as the stand-in overrides them")
  func answers() {
    let ofAssets: [PropertyKey: String] = [
      .localIdentifier: "localIdentifier == '11983DBA-EC35-42B8-8773-B597CF782EDD'", .addedDate: "addedDate == %@",
      .mediaType: "mediaType == 2", .playbackStyle: "playbackStyle == 5",
      .mediaSubtypes: "(mediaSubtypes & 4) != 0", .sourceType: "(sourceType & 2) != 0", .pixelWidth: "pixelWidth == 7",
      .pixelHeight: "pixelHeight == 8", .creationDate: "creationDate == %@",
      .modificationDate: "modificationDate == %@", .duration: "duration == 9", .latitude: "latitude == 48",
      .longitude: "longitude == 11", .altitude: "altitude == 500", .isFavorite: "isFavorite == YES",
      .isHidden: "isHidden == YES", .representsBurst: "representsBurst == YES",
      .burstIdentifier: "burstIdentifier == 'b'", .burstSelectionTypes: "(burstSelectionTypes & 2) != 0",
      .rating: "rating == 3", .hasAdjustments: "hasAdjustments == YES", .adjustmentsState: "adjustmentsState == 3",
      .adjustmentTimestamp: "adjustmentTimestamp == %@", .playbackVariation: "playbackVariation == 2",
      .originalResourceChoice: "originalResourceChoice == 1",
    ]
    let ofCollections: [PropertyKey: String] = [
      .localIdentifier: "localIdentifier == '11983DBA-EC35-42B8-8773-B597CF782EDD'",
      .localizedTitle: "localizedTitle == 'Sea'", .estimatedAssetCount: "estimatedAssetCount == 3",
      .modificationDate: "modificationDate == %@",
    ]
    for (texts, entity, full, empty) in [
      (ofAssets, .asset, FullPhoto(), NamedPhoto()), (ofCollections, .collection, FullAlbum(), NamedAlbum()),
    ] as [([PropertyKey: String], Entity, PHObject, PHObject)] {
      let held = Set(PropertyKey.allCases.filter { $0.isValid(for: entity) && !$0.isDetail })
      #expect(Set(texts.keys) == held.subtracting(refused(by: full, entity)))
      for (key, text) in texts {
        let predicate = NSPredicate(format: text, argumentArray: text.contains("%@") ? [Self.date] : nil)
        #expect(predicate.evaluate(with: full) && !predicate.evaluate(with: empty), "\(key)")
      }
    }
  }
}
