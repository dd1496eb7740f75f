import PhotoLedger
import Photos
import TestSupport
import Testing

/// A change that is asked about what another library, or another client, has fetched.
@Suite("Changes and results of others")
struct ForeignResultTests {
  private final class CoreKeeper: PhotoLibraryChangeObserver {
    let changes = Gathered<LibraryChange>()
    func photoLibraryDidChange(_ change: LibraryChange) { changes.append(change) }
  }

  @Test("a change is not applied to a result or an object of another library (CD-01)")
  func otherLibrary() async throws {
    let (one, other) = (try Gallery(), try Gallery(seed: 2))
    let core = CoreKeeper()
    let change = try await one.shared {
      try await one.images(0..<6)
      try one.library.register(core)
      let keeper = keeper()
      return try await keeper.told { PHAssetChangeRequest.deleteAssets(assets().objects(at: [3, 4]) as NSArray) }
    }
    try await waitUntil("the core's observer is called") { core.changes.all.count == 1 }
    // Its last commit has the number of the one before the change.
    try await other.images(0..<6)
    try await other.shared {
      let held = assets()
      #expect(change.changeDetails(for: held) == nil && change.changeDetails(for: held[3]) == nil)
      let albums = PHAssetCollection.fetchAssetCollections(with: .album, subtype: .any, options: nil)
      #expect(change.changeDetails(for: albums) == nil)
    }
    let result = try other.library.fetchAssets()
    let error = #expect(throws: LibraryError.self) { _ = try core.changes.all[0].changeDetails(for: result) }
    #expect(error?.code == .invalidToken)
    #expect(try core.changes.all[0].changeDetails(for: one.library.fetchAssets()) == nil, "It is the newer one.")
  }
}
