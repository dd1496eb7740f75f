import Foundation
import LibraryAudit
import PhotoLedger
import TestSupport
import Testing

@Suite("Persistent history")
struct PersistentChangeTests {
  @Test("history since a token distinguishes inserted, updated and deleted, commit by commit")
  func tellsApart() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "pl-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let library = try PhotoLibrary.create(at: folder, environment: .seeded(7))
    defer { library.close() }
    let start = try library.currentToken
    var ids: [LocalIdentifier] = []
    var album = LocalIdentifier(UUID())
    try library.performChangesAndWait { change in
      for index in 0..<3 {
        ids.append(change.createAsset(AssetCreation(mediaType: .image, resources: [.stored(.invented(index))])))
      }
      album = change.createAlbum(title: "Sea")
      change.album(album).add(ids)
    }
    try library.performChangesAndWait { $0.deleteAssets([ids[0]]) }
    try library.performChangesAndWait { $0.purgeAssets([ids[0]]) }
    try library.performChangesAndWait { $0.deleteCollections([album]) }

    let changes = try library.fetchPersistentChanges(since: start)
    #expect(changes.count == 4)
    let spelled = ids.map { $0.uuidString + "/L0/001" }
    #expect(try changes[0].changeDetails(for: .asset).insertedLocalIdentifiers == Set(spelled))
    #expect(try changes[0].changeDetails(for: .asset).updatedLocalIdentifiers.isEmpty)
    let albums = try changes[0].changeDetails(for: .assetCollection)
    #expect(albums.insertedLocalIdentifiers == [album.uuidString + "/L0/040"])
    #expect(try changes[1].changeDetails(for: .asset).updatedLocalIdentifiers == [spelled[0]])
    let emptied = try changes[1].changeDetails(for: .assetCollection)
    #expect(emptied.updatedLocalIdentifiers == [album.uuidString + "/L0/040"])
    #expect(try changes[2].changeDetails(for: .asset).deletedLocalIdentifiers == [spelled[0]])
    #expect(try changes[3].changeDetails(for: .assetCollection).deletedLocalIdentifiers.count == 1)
    let rest = try library.fetchPersistentChanges(since: changes[1].changeToken)
    #expect(rest == Array(changes[2...]))
    #expect(try library.fetchPersistentChanges(since: rest[1].changeToken).isEmpty)
    #expect(try Token(changes[1].changeToken.description) == changes[1].changeToken)
  }

  @Test(
    "a token of another library, or an invalid one, is rejected with a sentence",
    arguments: ["t1-0000000000000000-1", "x", "t1-zz-1", ""])
  func refusesForeignTokens(_ text: String) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "pl-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let library = try PhotoLibrary.create(at: folder, environment: .seeded(7))
    defer { library.close() }
    let error = #expect(throws: LibraryError.self) {
      _ = try library.fetchPersistentChanges(since: try Token(text))
    }
    #expect(error?.code == .invalidToken)
  }
}
