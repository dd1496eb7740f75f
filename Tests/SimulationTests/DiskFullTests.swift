import Foundation
import LibraryMaintenance
import PhotoLedger
import StoreTestSupport
import TestSupport
import Testing

/// A small file system in memory of its own; only root can have one.
final class SmallDisk {
  let url: URL
  private let folder: TemporaryFolder

  init(megabytes: Int) throws {
    folder = try TemporaryFolder()
    url = folder.place("disk")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try Self.run("mount", ["-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", url.path])
  }

  deinit { try? Self.run("umount", ["--lazy", url.path]) }

  private static func run(_ command: String, _ words: [String]) throws {
    let (text, end) = try ChildRun.of([command] + words)
    guard end == .status(0) else { throw Divergence("\(command) failed with \(end): \(text)") }
  }
}

@Suite("A full disk")
struct DiskFullTests {
  @Test(
    "a full disk is its own error, reading continues, and writing too when there is room",
    .mountsMemory, .timeLimit(.minutes(60)))
  func full() throws {
    let disk = try SmallDisk(megabytes: 6)
    let filler = disk.url.appending(path: "filler")
    try Data(count: 4 << 20).write(to: filler)
    let library = try PhotoLibrary.create(at: disk.url.appending(path: "library"), environment: .seeded(3))
    defer { library.close() }
    let everything = try library.fetchAssets()
    var committed = 0
    var failure: LibraryError?
    while failure == nil, committed < 100_000 {
      do {
        try library.performChangesAndWait { block in
          for index in 0..<20 { block.createAsset(.invented(committed + index)) }
        }
        committed += 20
      } catch let error as LibraryError {
        failure = error
      }
    }
    #expect(failure?.code == .notEnoughSpace, "\(String(describing: failure))")
    #expect(failure?.code.rawValue == 3305)

    // Reading goes on, and nothing of the failed block is there.
    #expect(try library.fetchAssets().count == committed)
    #expect(everything.count == 0)
    #expect(throws: LibraryError.self) {
      try library.performChangesAndWait { block in for index in 0..<200 { block.createAsset(.invented(index)) } }
    }

    try FileManager.default.removeItem(at: filler)
    try library.performChangesAndWait { block in
      for index in 0..<20 { block.createAsset(.invented(committed + index)) }
    }
    #expect(try library.fetchAssets().count == committed + 20)
    #expect(try library.verify().defect == nil)
  }
}
