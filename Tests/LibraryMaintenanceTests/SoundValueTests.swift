import Foundation
import LibraryMaintenance
import PhotoLedger
import Synchronization
import TestSupport
import Testing

@Suite("Values that a verification finds as they are")
struct SoundValueTests {
  @Test("values with two possible encodings are sound after a replay, and in live results")
  func sound() throws {
    let made = try TemporaryLibrary()
    var creation = AssetCreation.invented(1, .video)
    creation.duration = -0.0
    creation.location = Location(latitude: -0.0, longitude: -0.0, altitude: -0.0)
    creation.creationDate = Date(timeIntervalSince1970: 0.123_456_789)
    creation.localCreationDate = .distantPast
    creation.timeZoneOffset = -86_400
    let id = try made.create(creation)
    #expect(try made.library.verify(scratch: made.folder.url).defect == nil)
    var changes = AssetChanges()
    changes.duration = 1
    changes.creationDate = .set(.distantFuture)
    changes.localCreationDate = .set(Date(timeIntervalSince1970: -0.000_000_1))
    changes.location = .set(Location(latitude: 0, longitude: 180, altitude: -0.0))
    try made.library.performChangesAndWait { $0.edit([id], changes) }
    changes.duration = -0.0
    try made.library.performChangesAndWait { $0.edit([id], changes) }
    #expect(try made.library.verify(scratch: made.folder.url).defect == nil)
    let token = try made.library.currentToken
    try made.library.performChangesAndWait { $0.edit([id], changes) }
    #expect(try made.library.currentToken == token, "Nothing differs any more.")
  }

  @Test("a clock that was set back does not decrease a modification date (AS-01)")
  func clockSetBack() throws {
    let clock = Mutex(Date(timeIntervalSince1970: 2_000_000))
    var environment = LibraryEnvironment.seeded(1)
    environment.now = { clock.withLock { $0 } }
    let made = try TemporaryLibrary(environment)
    let id = try made.create(.invented(1))
    clock.withLock { $0 = Date(timeIntervalSince1970: 1_000_000) }
    try made.library.performChangesAndWait { $0.setFavorite(true, for: [id]) }
    try made.library.performChangesAndWait { $0.addResources([.stored(.invented(2, .alternatePhoto))], to: id) }
    let asset = try #require(try made.library.asset(id.uuidString))
    #expect(asset.modificationDate == Date(timeIntervalSince1970: 2_000_000))
    #expect(try made.library.resources(of: asset).count == 2)
    #expect(try made.library.verify(scratch: made.folder.url).defect == nil)
  }

  @Test("a clock that was set back does not move back the modification date of an album or a folder, as each sees it")
  func clockSetBackForCollections() async throws {
    let date = Date(timeIntervalSince1970: 2_000_000)
    let clock = Mutex(date)
    var environment = LibraryEnvironment.seeded(1)
    environment.now = { clock.withLock { $0 } }
    let small = try SmallLibrary(environment)
    let a = try await small.assets(2)
    let app = try await small.ruleClient(.limited, a)
    var (album, folder) = (a[0], a[0])
    try app.performChangesAndWait { block in
      (album, folder) = (block.createAlbum(title: "album"), block.createFolder(title: "folder"))
      block.album(album).add([a[0]])
    }
    func expectKept(_ step: String) throws {
      for library in [small.library, app] {
        for id in [album, folder] {
          let found = try #require(try library.collection(id.uuidString))
          #expect(found.modificationDate == date, "\(found.localizedTitle ?? "") after \(step), as \(library.client)")
        }
      }
    }
    clock.withLock { $0 = Date(timeIntervalSince1970: 1_000_000) }
    try app.performChangesAndWait { $0.album(album).add([a[1]]) }
    try expectKept("an addition")
    try app.performChangesAndWait { $0.album(album).move(at: [1], to: 0) }
    try expectKept("a move")
    try app.performChangesAndWait { $0.folder(folder).add([album]) }
    try expectKept("a nesting")
    let last = try small.library.currentToken
    try app.performChangesAndWait { block in
      block.setTitle("another album", of: album)
      block.setTitle("another folder", of: folder)
    }
    try expectKept("new titles")
    try small.library.undoAndWait(.commits(after: last))
    try expectKept("an undo")
    #expect(try small.library.collection(album.uuidString)?.localizedTitle == "album")
    #expect(try small.library.verify(scratch: small.temporary.folder.url).isSound)
  }

  @Test("an asset that reverts to an original has its size, if it is not edited (AS-02, AS-16)")
  func choiceChangesSize() async throws {
    let small = try SmallLibrary()
    try small.library.setMediaProbe(WrittenProbe())
    func draft(_ text: String, _ type: ResourceType) -> ResourceDraft {
      ResourceDraft(type: type, source: .data(Data(text.utf8)))
    }
    let drafts = [draft("jpeg 30 20", .photo), draft("raw 60 40", .alternatePhoto)]
    let id = try small.temporary.create(AssetCreation(mediaType: .image, resources: drafts))
    func sides() throws -> [Int] { [try small.asset(id).pixelWidth, try small.asset(id).pixelHeight] }
    func choose(_ choice: OriginalResourceChoice, width: Int? = nil) async throws {
      var changes = AssetChanges()
      (changes.originalResourceChoice, changes.pixelWidth) = (choice, width)
      try await small.library.performChanges { $0.edit([id], changes) }
    }
    try await choose(.raw)
    #expect(try sides() == [60, 40])
    try await choose(.raw, width: 61)
    try await choose(.raw)
    #expect(try sides() == [61, 40], "What is shown already keeps the size that it was given.")
    try await choose(.compressed)
    #expect(try sides() == [30, 20])
    let edit = ContentEdit(
      adjustmentData: AdjustmentData(formatIdentifier: "f", formatVersion: "1", data: Data("recipe".utf8)),
      rendered: [draft("jpeg 10 15", .fullSizePhoto)])
    try await small.change { $0.editContent(of: id, edit) }
    try await choose(.raw)
    #expect(try sides() == [10, 15], "The render is what it shows.")
    try await small.change { $0.revertContent(of: id) }
    #expect(try sides() == [60, 40])
    try await small.change { $0.revertContent(of: id, to: .compressed) }
    #expect(try sides() == [30, 20])
    let last = try small.library.currentToken
    try await small.change { $0.revertContent(of: id, to: .raw) }
    _ = try await small.library.undo(.commits(after: last))
    #expect(try sides() == [30, 20])
    #expect(try small.library.verify(scratch: small.temporary.folder.url).isSound)
  }
}

@Suite("Titles")
struct TitleTests {
  @Test(
    "a title that differs only in normalisation is another title, also in the block that created it", arguments: [1, 2])
  func normalisation(blocks: Int) throws {
    let made = try TemporaryLibrary()
    let composed = "\u{e9}"
    let decomposed = "e\u{301}"
    var id = LocalIdentifier(UUID())
    try made.library.performChangesAndWait { block in
      id = block.createAlbum(title: decomposed)
      if blocks == 1 { block.setTitle(composed, of: id) }
    }
    if blocks == 2 { try made.library.performChangesAndWait { $0.setTitle(composed, of: id) } }
    let title = try made.library.collection(id.uuidString)?.localizedTitle
    #expect(title.map { Array($0.unicodeScalars) } == Array(composed.unicodeScalars))
    #expect(try made.library.verify(scratch: made.folder.url).defect == nil)
  }

  @Test("an undo restores a title that differs only in normalisation, and does not replace one that was set since")
  func undone() throws {
    let made = try TemporaryLibrary()
    let (composed, decomposed) = ("\u{e9}", "e\u{301}")
    var id = LocalIdentifier(UUID())
    func title() throws -> [UInt8]? {
      try made.library.collection(id.uuidString)?.localizedTitle.map { Array($0.utf8) }
    }
    let creation = try made.library.performChangesAndWait { id = $0.createAlbum(title: composed) }
    let spelled = try made.library.performChangesAndWait { $0.setTitle(decomposed, of: id) }
    let tooLate = #expect(throws: LibraryError.self) { try made.library.undoAndWait(.commit(creation.token)) }
    #expect(tooLate?.code == .conflict, "It was renamed since it was created.")
    let report = try made.library.undoAndWait(.commit(spelled.token))
    #expect(report.changes.map(\.property) == ["localizedTitle"] && report.alreadyCount == 0)
    #expect(try title() == Array(composed.utf8))
    try made.library.performChangesAndWait { $0.setTitle("other", of: id) }
    let renamed = try made.library.performChangesAndWait { $0.setTitle(composed, of: id) }
    try made.library.performChangesAndWait { $0.setTitle(decomposed, of: id) }
    let conflict = #expect(throws: LibraryError.self) { try made.library.undoAndWait(.commit(renamed.token)) }
    #expect(conflict?.code == .conflict)
    #expect(try title() == Array(decomposed.utf8))
    #expect(try made.library.verify(scratch: made.folder.url).defect == nil)
  }

  @Test("an undo of several commits keeps another client's title between them that differs only in normalisation")
  func undoneTogether() throws {
    let made = try TemporaryLibrary()
    let (composed, decomposed) = ("\u{e9}", "e\u{301}")
    var id = LocalIdentifier(UUID())
    try made.library.performChangesAndWait { id = $0.createAlbum(title: "first") }
    try made.library.performChangesAndWait(cause: "chosen") { $0.setTitle(composed, of: id) }
    try made.library.performChangesAndWait { $0.setTitle(decomposed, of: id) }
    try made.library.performChangesAndWait(cause: "chosen") { $0.setTitle("last", of: id) }
    let report = try made.library.undoAndWait(.cause("chosen"))
    #expect(report.changes.map(\.property) == ["localizedTitle"] && report.conflicts.isEmpty)
    let title = try made.library.collection(id.uuidString)?.localizedTitle
    #expect(title.map { Array($0.utf8) } == Array(decomposed.utf8))
    #expect(try made.library.verify(scratch: made.folder.url).defect == nil)
  }
}

@Suite("Captions and keywords by their bytes")
struct SpelledWordTests {
  @Test("words that differ only in normalisation are other words, and an undo restores the former ones")
  func normalisation() throws {
    let made = try TemporaryLibrary()
    let (composed, decomposed) = ("\u{e9}", "e\u{301}")
    let id = try made.create(.invented(1))
    func set(_ word: String, for former: String) throws -> CommitReceipt {
      var changes = AssetChanges()
      changes.caption = .set(word)
      (changes.removedKeywords, changes.addedKeywords) = ([former], [word])
      return try made.library.performChangesAndWait { $0.edit([id], changes) }
    }
    func words() throws -> [[UInt8]] {
      let asset = try #require(try made.library.asset(id.uuidString))
      let words = try made.library.extendedMetadata(of: asset)
      return ([words.caption ?? ""] + words.keywords).map { Array($0.utf8) }
    }
    _ = try set(composed, for: "none")
    #expect(try words() == [Array(composed.utf8), Array(composed.utf8)])
    let change = try set(decomposed, for: composed)
    #expect(try words() == [Array(decomposed.utf8), Array(decomposed.utf8)])
    #expect(try set(decomposed, for: composed).token == change.token, "Nothing differs any more.")
    try made.library.undoAndWait(.commit(change.token))
    #expect(try words() == [Array(composed.utf8), Array(composed.utf8)])
    #expect(try made.library.verify(scratch: made.folder.url).defect == nil)
  }
}
