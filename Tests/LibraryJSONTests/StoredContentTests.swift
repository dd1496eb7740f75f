import LibraryJSON
import PhotoLedger
import TestSupport
import Testing

@Suite("Stored bytes that a block names")
struct StoredContentTests {
  @Test("each content is looked up once for a block, whether or not its client sees it")
  func once() async throws {
    let small = try SmallLibrary()
    let ids = try await small.assets(2)
    let hashes = try ids.map { try small.library.resources(of: small.asset($0))[0].sha256 }
    func seen(_ sources: ByteSources) throws -> [[UInt8]?] {
      guard case .remote(let find) = sources else { return [] }
      return try hashes.map { try find($0)?.sha256 }
    }
    try await small.library.performChanges { change in
      change.setAuthorizationStatus(.limited, of: "app")
      change.grant([ids[0]], to: "app")
    }
    let app = small.library.as("app")
    let block = ByteSources.stored(in: app)
    #expect(try seen(block) == [hashes[0], nil])
    try await small.library.performChanges { change in
      change.withdraw([ids[0]], from: "app")
      change.grant([ids[1]], to: "app")
    }
    // Another look would find the other content.
    #expect(try seen(block) == [hashes[0], nil])
    #expect(try seen(.stored(in: app)) == [nil, hashes[1]])
  }
}
