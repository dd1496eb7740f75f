import Foundation
import Synchronization
import TestSupport
import Testing

@testable import PhotoLedger

@Suite("the order of blocks")
struct BlockOrderTests {
  /// The commits of blocks that are sent one after another, in the order of their sending; nil for one that failed.
  private final class Outcomes: Sendable {
    let commits = Mutex<[Int: UInt64?]>([:])

    func note(_ index: Int, _ result: Result<CommitReceipt, any Error>) {
      commits.withLock { $0[index] = try? result.get().token.position }
    }

    func all(_ count: Int) async throws -> [UInt64?] {
      try await waitUntil("\(count) blocks are answered") { commits.withLock { $0.count == count } }
      return commits.withLock { commits in (0..<count).map { commits[$0] ?? nil } }
    }
  }

  /// Holds every block up that has not been let go.
  private final class Gatekeeper: ChangeConfirmation {
    let isOpen = DispatchSemaphore(value: 0)
    let asked = Atomic(0)

    func confirm(_ proposal: ChangeProposal) -> Bool {
      asked.add(1, ordering: .relaxed)
      guard proposal.cause == "held" else { return true }
      return isOpen.wait(timeout: .now() + 60) == .success
    }
  }

  @Test("blocks that one thread sends keep their order, whatever is purged meanwhile")
  func purgedMeanwhile() async throws {
    let folder = try ScratchFolder()
    let library = try folder.makeLibrary()
    defer { library.close() }
    let outcomes = Outcomes()
    for index in 0..<100 {
      library.performChanges {
        guard index % 2 == 0 else { return _ = $0.createAlbum(title: "\(index)") }
        let asset = $0.createAsset(.photo("same"))
        $0.deleteAssets([asset])
        $0.purgeAssets([asset])
      } completionHandler: {
        outcomes.note(index, $0)
      }
    }
    let commits = try await outcomes.all(100)
    #expect(!commits.contains(nil))
    #expect(commits.compactMap(\.self) == commits.compactMap(\.self).sorted())
  }

  @Test(
    "a block that needs confirmation is overtaken by none of its caller, and by any of another's",
    arguments: [true, false])
  @MainActor
  func staging(bringsBytes: Bool) async throws {
    let folder = try ScratchFolder()
    let library = try folder.makeLibrary()
    let other = library.as(PhotoLibrary.owner)
    defer { library.close() }
    let keeper = Gatekeeper()
    try library.setChangeConfirmation(keeper)
    // Tasks of one actor begin in the order in which they are made, and each goes on to its first suspension.
    let first = Task {
      try await library.performChanges(cause: "held") {
        _ = bringsBytes ? $0.createAsset(.photo("bytes")) : $0.createAlbum(title: "first")
      }
    }
    let second = Task { try await library.performChanges { $0.createAlbum(title: "second") } }
    try await waitUntil("both blocks are sent") { keeper.asked.load(ordering: .relaxed) == 2 }
    let free = try await other.performChanges { $0.createAlbum(title: "of another caller") }
    keeper.isOpen.signal()
    let commits = (try await first.value.token.position, try await second.value.token.position)
    #expect(free.token.position < commits.0 && commits.0 < commits.1)
  }

  @Test("a block that is rejected before it is sent does not delay those behind it")
  @MainActor
  func refused() async throws {
    let folder = try ScratchFolder()
    let library = try folder.makeLibrary()
    defer { library.close() }
    let missing = URL(filePath: folder.path).appending(path: "missing.jpg")
    let first = Task {
      try await library.performChanges {
        $0.createAsset(.photo(from: .file(missing, shouldMove: false)))
      }
    }
    let second = Task { try await library.performChanges { $0.createAlbum(title: "second") } }
    await #expect(throws: LibraryError.self) { try await first.value }
    #expect(try await second.value.token.position == 2)
  }

  @Test("bytes that another process purges while they are held are stored again", arguments: [true, false])
  func putBack(linksFiles: Bool) throws {
    let folder = try ScratchFolder()
    let own = try ResourceStore(in: LibraryFolder(URL(filePath: folder.path)), linksFiles: linksFiles)
    let other = try ResourceStore(library: URL(filePath: folder.path))
    let draft = ResourceDraft(type: .photo, source: .data(Data("bytes".utf8)), originalFilename: "a.jpg")
    var staging = Staging()
    let resource = try own.stage(draft, &staging, MediaProbing()).resource
    #expect(try own.stage(draft, &staging, MediaProbing()).resource == resource)
    #expect(!own.remove(resource.sha256) && own.holds(resource), "a purge of this process leaves it")
    #expect(other.remove(resource.sha256) && !own.holds(resource), "another process cannot know")
    #expect(try own.secures(resource) && own.holds(resource))
    #expect(own.release([resource]).isEmpty, "it is held once more")
    #expect(other.remove(resource.sha256))
    #expect(try own.secures(resource))
    #expect(try Data(contentsOf: own.url(of: resource)) == Data("bytes".utf8))
    #expect(own.release([resource]) == [resource], "it was to be removed meanwhile")
    #expect(own.remove(resource.sha256))
    #expect(try !own.secures(resource))
    #expect(try ResourceStoreTests.incoming(folder).isEmpty)
  }
}
