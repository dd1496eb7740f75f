import LibraryAudit
import PhotoLedger
import Photos
import Synchronization
import TestSupport
import Testing

@Suite("Many clients in one process")
struct ClientScopeTests {
  private static let (all, few, none) = ("com.example.all", "com.example.few", "com.example.none")

  private func gallery() async throws -> (Gallery, [String]) {
    let gallery = try Gallery()
    let ids = try await gallery.images(0..<5)
    try await gallery.client(.authorized, named: Self.all)
    try await gallery.client(.limited, [ids[1], ids[3]], named: Self.few)
    try await gallery.client(.denied, named: Self.none)
    return (gallery, ids)
  }

  /// Lets two tasks go on only together.
  private actor Meeting {
    private var waiting: CheckedContinuation<Void, Never>?

    func meet() async {
      if let other = waiting {
        waiting = nil
        return other.resume()
      }
      await withCheckedContinuation { waiting = $0 }
    }
  }

  @Test("two clients with different permissions work concurrently, each as itself, step by step (AU-01, AU-10)")
  func concurrently() async throws {
    let (gallery, ids) = try await gallery()
    try await gallery.shared {
      let meeting = Meeting()
      func work(_ client: String, sees expected: [String]) async throws -> PHFetchResult<PHAsset> {
        try await PHPhotoLibrary.withClient(named: client) {
          let held = assets()
          for round in 0..<20 {
            await meeting.meet()
            #expect(assets().names == expected)
            let status = PHPhotoLibrary.authorizationStatus(for: .readWrite)
            #expect(status == (client == Self.all ? .authorized : .limited))
            await meeting.meet()
            // A task begun here is the client's too; so is what it makes.
            let title = "\(client) \(round)"
            let made = try await Task { try await album(title) }.value
            await meeting.meet()
            let titles = PHCollection.fetchTopLevelUserCollections(with: nil).titles
            #expect(titles.contains(title) && made.localizedTitle == title)
            if client == Self.few { #expect(titles == (0...round).map { "\(client) \($0)" }, "It sees its own alone.") }
          }
          return held
        }
      }
      async let first = work(Self.all, sees: ids)
      async let second = work(Self.few, sees: [ids[1], ids[3]])
      let (one, other) = (try await first, try await second)
      #expect(assets().count == 5 && PHCollection.fetchTopLevelUserCollections(with: nil).count == 40)
      // A result stays with the client that fetched it.
      #expect(one.names == ids && other.names == [ids[1], ids[3]])
      let commits = try gallery.library.fetchPersistentChanges(since: gallery.library.earliestToken)
      #expect(Set(commits.map(\.commit.client)) == ["owner", Self.all, Self.few])
      await PHPhotoLibrary.withClient(named: Self.none) {
        #expect(assets().count == 0)
        let code = await refusal { PHAssetCollectionChangeRequest.creationRequestForAssetCollection(withTitle: "x") }
        #expect(code == .accessUserDenied)
      }
    }
  }

  @Test("an observer and a handler stay with the client of the scope in which they were given (AU-04, OB-01)")
  func callbacks() async throws {
    /// Fetches anew whenever it is notified, as most observers do.
    final class Fetcher: NSObject, PHPhotoLibraryChangeObserver {
      let counts = Gathered<Int>()
      func photoLibraryDidChange(_ changeInstance: PHChange) { counts.append(assets().count) }
    }
    let (gallery, ids) = try await gallery()
    try await gallery.shared {
      let (mine, others) = (Fetcher(), Fetcher())
      PHPhotoLibrary.shared().register(others)
      let held = PHPhotoLibrary.withClient(named: Self.few) {
        PHPhotoLibrary.shared().register(mine)
        return assets()
      }
      let all = ids.compactMap { LocalIdentifier($0) }
      try await gallery.library.performChanges { $0.grant([all[0]], to: Self.few) }
      try await waitUntil("the limited client's observer is notified") { mine.counts.all == [3] }
      #expect(held.count == 2)
      try await gallery.images(7..<8)
      try await waitUntil("the owner's observer is notified") { others.counts.all.last == 6 }
      #expect(mine.counts.all == [3], "The limited client does not see the new asset.")
      let told = Gathered<Int>()
      PHPhotoLibrary.withClient(named: Self.few) {
        PHPhotoLibrary.shared().performChanges({}) { _, _ in told.append(assets().count) }
      }
      try await waitUntil("the handler is called") { told.all == [3] }
      // The client has one library object, so a later scope can take the observer out.
      PHPhotoLibrary.withClient(named: Self.few) { PHPhotoLibrary.shared().unregisterChangeObserver(mine) }
      let counts = (mine.counts.all.count, others.counts.all.count)
      try await gallery.library.performChanges { $0.withdraw(all, from: Self.few) }
      try await waitUntil("the owner's observer is notified") { others.counts.all.count > counts.1 }
      #expect(mine.counts.all.count == counts.0)
    }
  }

  @Test("scopes nest, end with their closures, and a client is the same object in each; a detached task is outside")
  func scopes() async throws {
    let (gallery, _) = try await gallery()
    await #expect(processExitsWith: .success) { try await ClientScopeTests.scopesOfProcess() }
    try await gallery.shared {
      let outer = PHPhotoLibrary.shared()
      PHPhotoLibrary.withClient(named: Self.few) {
        let few = PHPhotoLibrary.shared()
        #expect(assets().count == 2 && few !== outer)
        let count = PHPhotoLibrary.withClient(named: Self.all) { assets().count }
        #expect(count == 5)
        #expect(PHPhotoLibrary.shared() === few)
        PHPhotoLibrary.withClient(named: Self.few) { #expect(PHPhotoLibrary.shared() === few) }
        struct End: Error {}
        #expect(throws: End.self) { try PHPhotoLibrary.withClient(named: Self.all) { throw End() } }
        #expect(PHPhotoLibrary.shared() === few)
      }
      #expect(PHPhotoLibrary.shared() === outer)
      PHPhotoLibrary.withClient(named: PhotoLibrary.owner) { #expect(PHPhotoLibrary.shared() === outer) }
    }
  }

  private static func scopesOfProcess() async throws {
    let (gallery, _) = try await Self().gallery()
    PHPhotoLibrary.bootstrap(gallery.library)
    try await PHPhotoLibrary.withClient(named: Self.few) {
      try #require(assets().count == 2)
      try #require(await Task { assets().count }.value == 2)
      try #require(await Task.detached { assets().count }.value == 5)
    }
  }

  @Test("bootstrap as another client of the same library keeps the former one usable; another library closes all")
  func bootstrap() async throws {
    await #expect(processExitsWith: .success) { try await ClientScopeTests.bootstrapped() }
  }

  private static func bootstrapped() async throws {
    let (gallery, ids) = try await Self().gallery()
    PHPhotoLibrary.bootstrap(gallery.library.as(Self.all))
    let (first, held, keeper) = (PHPhotoLibrary.shared(), assets(), keeper())
    try PHPhotoLibrary.bootstrap(libraryAt: gallery.library.url, client: Self.few)
    let second = PHPhotoLibrary.shared()
    try #require(assets().names == [ids[1], ids[3]] && second !== first)
    try #require(first.unavailabilityReason == nil && held.names == ids)
    try await first.performChanges { PHAssetChangeRequest(for: held.object(at: 0)).isFavorite = true }
    try await waitUntil("the former client's observer is notified") { keeper.all.count == 1 }
    try #require(keeper.all[0].changeDetails(for: held)?.changedIndexes == [0])
    PHPhotoLibrary.bootstrap(gallery.library.as(Self.all))
    try #require(PHPhotoLibrary.shared() === first)
    // Naming clients of the same folder in turn makes no further objects, each with its own opening of the store.
    for _ in 0..<3 {
      try PHPhotoLibrary.bootstrap(libraryAt: gallery.library.url, client: Self.few)
      try #require(PHPhotoLibrary.shared() === second)
      try PHPhotoLibrary.bootstrap(libraryAt: gallery.library.url, client: Self.all)
      try #require(PHPhotoLibrary.shared() === first)
    }
    let scoped = PHPhotoLibrary.withClient(named: Self.none) { PHPhotoLibrary.shared() }
    try #require(scoped.unavailabilityReason == nil)

    let other = try Gallery(seed: 2)
    PHPhotoLibrary.bootstrap(other.library)
    for library in [first, second, scoped] {
      try #require((library.unavailabilityReason as? PHPhotosError)?.code == .switchingSystemPhotoLibrary)
    }
    try await gallery.images(9..<10)
    try #require(keeper.all.count == 1 && held.names == ids)
  }
}
