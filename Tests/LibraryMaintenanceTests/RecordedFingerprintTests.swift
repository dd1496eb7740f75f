import Foundation
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

@Suite("SHA-1 of files in the log")
struct RecordedFingerprintTests {
  @Test("is recorded for each new file, found, listed in the log, and gone when the asset is purged")
  func recorded() async throws {
    let temporary = try TemporaryLibrary()
    let library = temporary.library
    let sha1 = try #require([UInt8](base16: "a9993e364706816aba3e25717850c26c9cd0d89d"))
    let file = temporary.folder.place("abc.jpg")
    try Data("abc".utf8).write(to: file)
    let sources = [
      ResourceDraft.Source.data(Data("abc".utf8)), .file(file, shouldMove: false), .file(file, shouldMove: true),
    ]
    for source in sources {
      var id: LocalIdentifier?
      try await library.performChanges { change in
        id = change.createAsset(
          AssetCreation(
            mediaType: .image, resources: [ResourceDraft(type: .photo, source: source, originalFilename: "abc.jpg")]))
      }
      let created = try #require(id)
      let asset = try #require(try library.asset(created.uuidString))
      let resource = try #require(try library.resources(of: asset).first)
      #expect(resource.sha1 == sha1 && resource.sha1Hex == sha1.hexadecimal)
      #expect(try library.assets(withSHA1: sha1).map(\.id) == [asset.id])
      try await library.performChanges { $0.deleteAssets([asset.id]) }
      try await library.performChanges { $0.purgeAssets([asset.id]) }
      #expect(try library.assets(withSHA1: sha1).isEmpty)
    }
    #expect(try library.verify().isSound)
  }

  @Test("an asset that is erased leaves no SHA-1 in the log, and the chain stays whole")
  func erased() async throws {
    let temporary = try TemporaryLibrary()
    let library = temporary.library
    var id: LocalIdentifier?
    try await library.performChanges { change in
      id = change.createAsset(
        AssetCreation(
          mediaType: .image,
          resources: [ResourceDraft(type: .photo, source: .data(Data("abc".utf8)), originalFilename: "a.jpg")]))
    }
    let created = try #require(id)
    let sha1 = try #require([UInt8](base16: "a9993e364706816aba3e25717850c26c9cd0d89d"))
    func isInLog() throws -> Bool {
      var lines = ""
      try library.exportLog { lines += $0 + "\n" }
      return try lines.split(separator: "\n").contains { line in
        let json = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        let payload = (json?["payload"] as? String).flatMap { Data(base64Encoded: $0) } ?? Data()
        return payload.range(of: Data(sha1)) != nil
      }
    }
    #expect(try isInLog())
    try await library.performChanges { $0.deleteAssets([created]) }
    _ = try library.eraseAssets([created])
    #expect(try library.assets(withSHA1: sha1).isEmpty)
    #expect(try !isInLog())
    #expect(try library.verify().isSound)
  }
}

extension [UInt8] {
  fileprivate init?(base16 text: String) {
    let digits = text.compactMap(\.hexDigitValue)
    self = stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}
