import Foundation
import PhotoLedger
import Testing

@Suite("First run")
struct FirstLightTests {
  @Test("an observer receives the exact change of a result")
  func observes() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "pl-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let library = try PhotoLibrary.create(at: folder, environment: .seeded(1))
    defer { library.close() }
    var ids: [LocalIdentifier] = []
    try await library.performChanges { change in
      for index in 0..<5 {
        var creation = AssetCreation(mediaType: .image, resources: [.stored(.invented(index))])
        creation.creationDate = Date(timeIntervalSince1970: Double(index) * 1000)
        ids.append(change.createAsset(creation))
      }
    }
    let result = try library.fetchAssets(sortedBy: [SortDescriptor(\.creationDate, order: .reverse)])
    #expect(result.map(\.id) == ids.reversed())
    var changes = library.changes(to: result).makeAsyncIterator()
    try await library.performChanges { $0.setFavorite(true, for: [ids[2]]) }
    let first = try #require(try await changes.next())
    #expect(first.changedIndexes == [2])
    #expect(try first.changedObjects().map(\.isFavorite) == [true])
    #expect(result[2].isFavorite == false)
    try await library.performChanges { $0.deleteAssets([ids[4], ids[0]]) }
    let second = try #require(try await changes.next())
    #expect(second.removedIndexes == [0, 4])
    var album: LocalIdentifier?
    try await library.performChanges { change in
      let made = change.createAlbum(title: "Sea")
      change.album(made).add([ids[1], ids[2], ids[3]])
      change.album(made).move(at: [2], to: 0)
      album = made
    }
    let made = try #require(album)
    let sea = try #require(try library.collection(made.uuidString))
    let inAlbum = try library.fetchAssets(FetchOptions(), in: sea)
    #expect(inAlbum.map(\.id) == [ids[3], ids[1], ids[2]])
    #expect(sea.estimatedAssetCount == 3)
  }
}

extension AssetResource {
  static func invented(_ seed: Int) -> AssetResource {
    AssetResource(
      type: .photo, originalFilename: "IMG_\(seed).jpg", uniformTypeIdentifier: "public.jpeg", dataSize: 1,
      sha256: (0..<32).map { UInt8(truncatingIfNeeded: seed >> ($0 % 4 * 8)) },
      storage: .referenced(path: "/invented/\(seed)"))
  }
}
