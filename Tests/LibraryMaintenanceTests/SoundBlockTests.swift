import Foundation
import LMDB
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

// Blocks that wait together, or that undo what others need, against a verification of what they left.

@Suite("Concurrent blocks leave a sound library")
struct SoundBlockTests {
  @Test("blocks that fail do not affect those that wait with them", arguments: [1, 2, 3] as [UInt64])
  func groups(seed: UInt64) async throws {
    let small = try SmallLibrary()
    let library = small.library
    let id = try await small.assets(1)[0]
    var random = SeededGenerator(seed: seed)
    let bad = Set(random.some(60, of: Array(0..<200)))
    let found = await withTaskGroup(of: (Int, Result<CommitReceipt, any Error>).self) { group in
      for index in 0..<200 {
        let isBad = bad.contains(index)
        group.addTask {
          do {
            let receipt = try await library.performChanges(key: "block \(index)") { block in
              _ = block.createAlbum(title: "\(index)")
              if isBad { block.purgeAssets([id]) }
            }
            return (index, .success(receipt))
          } catch {
            return (index, .failure(error))
          }
        }
      }
      return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    #expect(found.count == 200)
    for (index, outcome) in found {
      switch outcome {
      case .success: #expect(!bad.contains(index))
      case .failure(let error): #expect(bad.contains(index) && (error as? LibraryError)?.code == .changeNotSupported)
      }
    }
    let titles = try library.fetchCollections().compactMap { $0.localizedTitle.flatMap { Int($0) } }
    #expect(Set(titles) == Set(0..<200).subtracting(bad) && titles.count == 140)
    let tokens = found.values.compactMap { try? $0.get().token.commit }.sorted()
    #expect(tokens == Array(tokens[0]...(tokens[0] + 139)), "No commit was made for a failed block.")
    #expect(try library.verify().isSound)
  }

  @Test("of two blocks that wait under one key, the second is a repetition and leaves no file")
  func waitTogether() async throws {
    let made = try TemporaryLibrary()
    let environment = try LMDB.Environment.store(ofLibrary: made.url.path)
    let receipts = Gathered<CommitReceipt>()
    try environment.write { _ in
      // The writer waits for this transaction, so both blocks have looked for the key in vain.
      for text in ["first", "second"] {
        made.library.performChanges(key: "k") {
          $0.createAsset(.photo(text))
        } completionHandler: { outcome in
          if case .success(let receipt) = outcome { receipts.append(receipt) }
        }
      }
    }
    try await waitUntil("both blocks are answered") { receipts.all.count == 2 }
    #expect(Set(receipts.all.map(\.isRepetition)) == [false, true])
    #expect(Set(receipts.all.map(\.created)).count == 1 && Set(receipts.all.map(\.token)).count == 1)
    #expect(try made.resourceFiles().count == 1)
    let found = try made.library.verify(scratch: made.folder.url, hashingContent: true)
    #expect(found.isSound && found.missingResources.isEmpty)
  }

  @Test("while the same bytes are repeatedly purged and restored, no asset ever loses its file")
  func race() async throws {
    let folder = try ScratchFolder()
    let library = try folder.makeLibrary()
    defer { library.close() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask {
          for round in 0..<(Dose.isFull ? 50 : 20) {
            let data = Data("content \((worker + round) % 2)".utf8)
            let receipt = try await library.performChanges { $0.createAsset(.photo(from: .data(data))) }
            let id = try #require(receipt.created.first.flatMap { LocalIdentifier($0) })
            let asset = try #require(try library.asset(id.uuidString))
            let resource = try #require(try library.resources(of: asset).first)
            #expect(try Data(contentsOf: library.url(of: resource)) == data, "worker \(worker), round \(round)")
            try await library.performChanges { $0.deleteAssets([id]) }
            try await library.performChanges { $0.purgeAssets([id]) }
          }
        }
      }
      try await group.waitForAll()
    }
    let found = try library.verify(scratch: URL(filePath: folder.path), hashingContent: true)
    #expect(found.isSound && found.missingResources.isEmpty)
  }
}
