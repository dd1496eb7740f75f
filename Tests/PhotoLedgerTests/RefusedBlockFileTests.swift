import Foundation
import TestSupport
import Testing

@testable import PhotoLedger

// A block that fails leaves nothing (CB-06), its bytes included. They are stored before the writer decides, so each
// step at which a block can fail after that has a case here.

@Suite("Files of a rejected block")
struct RefusedBlockFileTests {
  /// Why the block fails, from the first step to the last.
  enum Reason: CaseIterable {
    case secondFileMissing, claimedBytesMissing, refusedRequest, refusedKey, libraryClosed
  }

  static func refuse(_ reason: Reason, in made: TemporaryLibrary, _ source: ResourceDraft.Source) throws {
    var creation = AssetCreation(mediaType: .image, resources: [ResourceDraft(type: .photo, source: source)])
    switch reason {
    case .secondFileMissing:
      let file = made.folder.place("nowhere.plist")
      creation.resources.append(ResourceDraft(type: .adjustmentData, source: .file(file, shouldMove: false)))
    case .claimedBytesMissing:
      var claimed = AssetResource.invented(1, .adjustmentData)
      claimed.storage = .library
      creation.resources.append(.stored(claimed))
    case .refusedRequest, .refusedKey: break
    case .libraryClosed: made.library.close()
    }
    try made.library.performChangesAndWait(key: reason == .refusedKey ? "" : nil) { block in
      block.createAsset(creation)
      if reason == .refusedRequest { block.deleteCollections([LocalIdentifier(UUID())]) }
    }
  }

  @Test("none stays, and no earlier one is removed", arguments: Reason.allCases, [false, true])
  func leavesNone(reason: Reason, isFromFile: Bool) throws {
    let made = try TemporaryLibrary()
    try made.library.performChangesAndWait { $0.createAsset(.photo("known")) }
    let before = try made.resourceFiles()
    #expect(before.count == 1)
    for text in ["new", "known"] {
      let data = Data(text.utf8)
      let file = made.folder.place("a.jpg")
      try data.write(to: file)
      #expect(throws: LibraryError.self) {
        try Self.refuse(reason, in: made, isFromFile ? .file(file, shouldMove: true) : .data(data))
      }
      #expect(try made.resourceFiles() == before, "\(text)")
      #expect(FileManager.default.fileExists(atPath: file.path))
    }
  }
}
