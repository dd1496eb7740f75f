import Foundation
import TestSupport
import Testing

@testable import PhotoLedger

@Suite("Blocks under a key")
struct KeyedBlockTests {
  @Test("repeated under its key, a block returns its first receipt, though its moved file is gone")
  func repeats() throws {
    let made = try TemporaryLibrary()
    let file = made.folder.place("a.jpg")
    try Data("a".utf8).write(to: file)
    let draft = ResourceDraft(type: .photo, source: .file(file, shouldMove: true))
    let creation = AssetCreation(mediaType: .image, resources: [draft])
    let first = try made.library.performChangesAndWait(key: "k") { $0.createAsset(creation) }
    #expect(!first.isRepetition && !FileManager.default.fileExists(atPath: file.path))
    let again = try made.library.performChangesAndWait(key: "k") { $0.createAsset(creation) }
    #expect(again.isRepetition && again.token == first.token && again.created == first.created)
    #expect(try made.library.currentToken == first.token && made.library.fetchAssets().count == 1)
  }

  @Test("the keys of a client are its own, whatever bytes names and keys have")
  func belong() throws {
    let made = try TemporaryLibrary()
    func create(_ client: String, _ key: String) throws -> CommitReceipt {
      try made.library.as(client).performChangesAndWait(key: key) { $0.createAlbum(title: "of \(client)") }
    }
    try made.authorize("a", "b", "ab")
    let names = [("a", "k"), ("b", "k"), ("a", "bk"), ("ab", "k"), ("a", "b\0k"), ("owner", "k")]
    let receipts = try names.map { try create($0, $1) }
    #expect(receipts.allSatisfy { !$0.isRepetition } && Set(receipts.flatMap(\.created)).count == names.count)
    for ((client, key), first) in zip(names, receipts) {
      let again = try create(client, key)
      #expect(again.isRepetition && again.created == first.created, "\(client), \(key)")
    }
  }

  @Test("a client whose name holds a zero byte, or has an invalid length, is a misuse")
  func refusesNames() async {
    await #expect(processExitsWith: .failure) { _ = try TemporaryLibrary().library.as("") }
    await #expect(processExitsWith: .failure) { _ = try TemporaryLibrary().library.as("a\0b") }
    await #expect(processExitsWith: .failure) {
      _ = try TemporaryLibrary().library.as(String(repeating: "c", count: 257))
    }
  }

  @Test("a client whose name holds a zero byte learns nothing from the key that it composes with it")
  func zeroByte() throws {
    let made = try TemporaryLibrary()
    try made.authorize("a")
    try made.library.as("a").performChangesAndWait(key: "b\0c") { $0.createAlbum(title: "secret") }
    let stranger = PhotoLibrary(store: made.library.store, client: "a\0b")
    let error = #expect(throws: LibraryError.self) {
      try stranger.performChangesAndWait(key: "c") { $0.createAlbum(title: "mine") }
    }
    #expect(error?.code == .malformedRequest)
  }
}
