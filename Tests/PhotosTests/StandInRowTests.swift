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

  @Test("keys that a row holds are compared as the stand-in overrides them")
  func answers() {
    let predicate = NSPredicate(format: "isHidden == NO AND rating == 0 AND latitude == nil")
    #expect(predicate.evaluate(with: NamedPhoto()))
  }
}
