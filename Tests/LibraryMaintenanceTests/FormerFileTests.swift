import Foundation
import LMDB
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

// Files that only an earlier state names: they stay while an undo can bring them back, whatever becomes of other assets
// with the same bytes, and go with the assets that had them.

@Suite("Files of earlier states")
struct FormerFileTests {
  /// How an asset lost a file that an undo can bring back.
  enum Loss: CaseIterable { case revertedEdit, undoneAddition, undoneCreation }

  /// An asset that lost a file, and the commit whose undo brings it back.
  private typealias Lost = (asset: LocalIdentifier, commit: Token)

  private static let text = "the bytes of a shore"

  private let made: TemporaryLibrary
  private var library: PhotoLibrary { made.library }

  init() throws { made = try TemporaryLibrary() }

  private static var edit: ContentEdit {
    let render = ResourceDraft(type: .fullSizePhoto, source: .data(Data(text.utf8)))
    let recipe = AdjustmentData(formatIdentifier: "com.example", formatVersion: "1", data: Data("recipe".utf8))
    return ContentEdit(adjustmentData: recipe, rendered: [render])
  }

  private func lose(by loss: Loss) throws -> Lost {
    switch loss {
    case .revertedEdit:
      let id = try made.create(.photo("original"))
      try library.performChangesAndWait { $0.editContent(of: id, Self.edit) }
      return (id, try library.performChangesAndWait { $0.revertContent(of: id) }.token)
    case .undoneAddition:
      let id = try made.create(.photo("original"))
      let file = ResourceDraft(type: .alternatePhoto, source: .data(Data(Self.text.utf8)))
      let added = try library.performChangesAndWait { $0.addResources([file], to: id) }
      return (id, try #require(try library.undoAndWait(.commit(added.token)).token))
    case .undoneCreation:
      let id = try made.create(.photo(Self.text))
      return (id, try #require(try library.undoAndWait(.commit(try library.currentToken)).token))
    }
  }

  /// Undoes the loss, and expects the asset to have every file.
  private func bringBack(_ lost: Lost) throws {
    #expect(try library.undoAndWait(.commit(lost.commit)).conflicts.isEmpty)
    let asset = try #require(try library.asset(lost.asset.uuidString))
    let resources = try library.resources(of: asset)
    #expect(resources.contains { $0.sha256 == Array(Self.text.utf8).sha256 })
    for resource in resources {
      #expect(try library.store.resources.state(of: resource, hashing: true) == .present)
    }
  }

  private func purge(_ id: LocalIdentifier) throws {
    try library.performChangesAndWait { block in
      block.deleteAssets([id])
      block.purgeAssets([id])
    }
    // The writer removes the files of one block before it takes the next.
    try library.performChangesAndWait { $0.createAlbum(title: "afterwards") }
  }

  /// A block with the text's bytes that is rejected after they were stored.
  private func failToAdd() {
    #expect(throws: LibraryError.self) {
      try library.performChangesAndWait { block in
        block.createAsset(.photo(Self.text))
        block.deleteCollections([LocalIdentifier(UUID())])
      }
    }
  }

  private func hasFile(_ text: String = FormerFileTests.text) -> Bool {
    FileManager.default.fileExists(atPath: library.store.resources.path(ofContent: Array(text.utf8).sha256))
  }

  /// The rows of the files that an undo can bring back.
  private func rows() throws -> [StoreDump.Entry] {
    let dump = try StoreDump(Environment.store(ofLibrary: made.url.path), only: ["formerContent", "formerFiles"])
    return dump.databases.values.flatMap { $0 }
  }

  private func expectReplayed() throws {
    let environment = try Environment.store(ofLibrary: made.url.path)
    let before = try StoreDump(environment, only: Projections.names)
    try library.rebuild()
    #expect(try StoreDump(environment, only: Projections.names).difference(from: before) == nil)
  }

  // MARK: Purges

  @Test(
    "a purge keeps the file that another asset had, an undo brings it back, and a purge of that asset removes it",
    arguments: Loss.allCases)
  func purged(loss: Loss) throws {
    let lost = try lose(by: loss)
    try purge(try made.create(.photo(Self.text)))
    #expect(hasFile())
    try bringBack(lost)
    try purge(lost.asset)
    #expect(!hasFile())
    #expect(try rows().isEmpty)
    try expectReplayed()
  }

  @Test(
    "a purge removes the files that undos and reverts took from the asset, unless another asset has them",
    arguments: [Loss.revertedEdit, .undoneAddition], [false, true])
  func purgedItself(loss: Loss, isShared: Bool) throws {
    let lost = try lose(by: loss)
    let other = isShared ? try made.create(.photo(Self.text)) : nil
    try purge(lost.asset)
    #expect(hasFile() == isShared && !hasFile("original"))
    if let other { try purge(other) }
    #expect(try made.resourceFiles().isEmpty)
  }

  @Test("a purge in the block of the edits removes the files that they brought and replaced")
  func purgedInOneBlock() throws {
    let id = try made.create(.photo("original"))
    try library.performChangesAndWait { block in
      block.editContent(of: id, Self.edit)
      block.revertContent(of: id)
      block.deleteAssets([id])
      block.purgeAssets([id])
    }
    try library.performChangesAndWait { $0.createAlbum(title: "afterwards") }
    #expect(try made.resourceFiles().isEmpty)
    #expect(try rows().isEmpty)
  }

  @Test("a file of two earlier states stays until both assets are purged")
  func lostTwice() throws {
    let first = try lose(by: .revertedEdit)
    let second = try lose(by: .undoneCreation)
    try purge(first.asset)
    #expect(hasFile())
    try bringBack(second)
    try purge(second.asset)
    #expect(!hasFile())
  }

  @Test("a referenced file is not the library's, so no row says that an undo restores it")
  func referenced() throws {
    try made.create(.invented(1))
    try library.undoAndWait(.commit(try library.currentToken))
    #expect(try rows().isEmpty)
  }

  // MARK: Blocks and imports that fail

  @Test(
    "a rejected block and an import that fails keep a file that an undo can bring back, and no other",
    arguments: Loss.allCases)
  func rejected(loss: Loss) throws {
    let lost = try lose(by: loss)
    failToAdd()
    #expect(hasFile())
    let bytes = Array(Self.text.utf8)
    library.discardUnnamed([
      AssetResource(
        type: .photo, originalFilename: "a.jpg", uniformTypeIdentifier: "public.jpeg", dataSize: UInt64(bytes.count),
        sha256: bytes.sha256)
    ])
    #expect(hasFile())
    try bringBack(lost)
    try purge(lost.asset)
    failToAdd()
    #expect(!hasFile())
  }

  // MARK: Erasures

  @Test(
    "an erasure keeps the file that another asset had, and says so; the erasure of that asset removes it",
    arguments: Loss.allCases)
  func erased(loss: Loss) throws {
    let lost = try lose(by: loss)
    let report = try library.eraseAssets([try made.create(.photo(Self.text))])
    #expect(report.assets[0].keptFiles.map(\.reason) == [.shared] && report.assets[0].removedFiles.isEmpty)
    #expect(hasFile())
    try bringBack(lost)
    try library.eraseAssets([lost.asset])
    #expect(!hasFile())
    #expect(try rows().isEmpty)
    try expectReplayed()
  }

  @Test(
    "erasing an asset that an undo took out removes its file, alone or with another asset that has it",
    arguments: [false, true])
  func erasedUndone(isShared: Bool) throws {
    let lost = try lose(by: .undoneCreation)
    var assets = [lost.asset]
    if isShared { assets.append(try made.create(.photo(Self.text))) }
    #expect(try rows().count == 2)
    let report = try library.eraseAssets(assets)
    #expect(report.assets.allSatisfy { $0.removedFiles.count == 1 && $0.keptFiles.isEmpty })
    #expect(!hasFile())
    #expect(try rows().isEmpty)
    try expectReplayed()
    #expect(try library.verify(scratch: made.folder.url, hashingContent: true).isSound)
  }

  @Test("erasing an asset that an undo took out keeps a file that an undo can bring back to another asset")
  func erasedBeside() throws {
    let (lost, other) = (try lose(by: .undoneCreation), try lose(by: .revertedEdit))
    let report = try library.eraseAssets([lost.asset])
    #expect(report.assets[0].keptFiles.map(\.reason) == [.shared])
    #expect(hasFile())
    try bringBack(other)
    try expectReplayed()
  }
}
