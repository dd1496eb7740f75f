import Foundation
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

@Suite("Folders that cannot be listed")
struct FailedListingTests {
  /// The folder in which the library has the file of an asset.
  private static func folder(of asset: LocalIdentifier, in library: PhotoLibrary) throws -> String {
    let asset = try #require(try library.asset(asset.uuidString))
    let file = library.url(of: try #require(try library.resources(of: asset).first))
    return "resources/\(file.deletingLastPathComponent().lastPathComponent)"
  }

  private static func write(_ text: String, _ name: String, in library: URL) throws {
    let place = library.appending(path: name)
    try FileManager.default.createDirectory(at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: place)
  }

  private static func expect(_ error: LibraryError?, toName folder: URL) {
    #expect(error?.code == .storage)
    #expect(error?.description == "The library cannot read the folder \(folder.path): Input/output error.")
  }

  @Test("a backup, fork or restoration that cannot list a folder names it and leaves nothing")
  func copies() async throws {
    let kept = try await KeptLibrary.make()
    for name in ["imports/one.jsonl", "decisions/not-duplicates", "sidecars/files"] {
      try Self.write("words\n", name, in: kept.url)
    }
    let (whole, copy) = (kept.folder.place("whole"), kept.folder.place("copy"))
    try kept.library.backup(to: whole)
    let resources = ["resources", try Self.folder(of: kept.other, in: kept.library)]
    for name in resources + ["imports", "decisions", "sidecars"] {
      let (source, saved) = (kept.url.appending(path: name), whole.appending(path: name))
      let backup = #expect(throws: LibraryError.self) {
        try withFailingListing(of: source) { try kept.library.backup(to: copy) }
      }
      Self.expect(backup, toName: source)
      let restoration = #expect(throws: LibraryError.self) {
        try withFailingListing(of: saved) {
          try PhotoLibrary.restore(from: whole, to: copy, skippingDamagedFiles: true)
        }
      }
      Self.expect(restoration, toName: saved)
      if resources.contains(name) {
        let fork = #expect(throws: LibraryError.self) {
          try withFailingListing(of: source) { try kept.library.fork(to: copy) }
        }
        Self.expect(fork, toName: source)
      }
      let left = try FileManager.default.contentsOfDirectory(atPath: kept.folder.url.path).sorted()
      #expect(left == ["library", "whole"])
    }
  }

  @Test("a sweep that cannot list a folder names it and removes nothing, and a second one is complete")
  func sweep() async throws {
    let kept = try await KeptLibrary.make()
    let folder = kept.url.appending(path: try Self.folder(of: kept.other, in: kept.library))
    let garbage = folder.appending(path: String(repeating: "c", count: 62))
    try Data("garbage".utf8).write(to: garbage)
    try kept.close()
    let error = #expect(throws: LibraryError.self) {
      try withFailingListing(of: folder) { try PhotoLibrary.compact(at: kept.url, sweepingResources: true) }
    }
    Self.expect(error, toName: folder)
    #expect(FileManager.default.fileExists(atPath: garbage.path))
    #expect(try PhotoLibrary.compact(at: kept.url, sweepingResources: true).sweptFiles.count == 1)
    #expect(!FileManager.default.fileExists(atPath: garbage.path))
  }

  @Test("a compaction that cannot list the store's folder names it: a killed rebuild may have left rows there")
  func leftRows() async throws {
    let kept = try await KeptLibrary.make()
    try kept.close()
    let store = kept.url.appending(path: "store")
    let left = store.appending(path: ".shadow.photoledger-1.1")
    try FileManager.default.createDirectory(at: left, withIntermediateDirectories: false)
    let error = #expect(throws: LibraryError.self) {
      try withFailingListing(of: store) { try PhotoLibrary.compact(at: kept.url) }
    }
    Self.expect(error, toName: store)
    try PhotoLibrary.compact(at: kept.url)
    #expect(!FileManager.default.fileExists(atPath: left.path))
  }

  @Test(
    "an erasure that cannot list reports or cached pictures fails, and a second one removes the rest",
    arguments: ["imports", "renditions", "renditions/r3", "picture-hashes"])
  func erasure(name: String) async throws {
    let kept = try await KeptLibrary.make()
    let asset = try #require(try kept.library.asset(kept.secret.uuidString))
    let content = try #require(try kept.library.resources(of: asset).first).sha256
    let cached = "renditions/r3/\(content.hexadecimal.prefix(2))/\(content.hexadecimal).large"
    try Self.write("pixels", cached, in: kept.url)
    let line = #"{"asset":"\#(kept.secret.spelled(as: .asset))","outcome":"asset","path":"/p/ZNZ_0001.HEIC"}"#
    try Self.write(line, "imports/one.jsonl", in: kept.url)
    let hashes = kept.url.appending(path: "picture-hashes/h1")
    try Self.write("", "picture-hashes/h1", in: kept.url)
    try Data(content + [UInt8](repeating: 7, count: 48)).write(to: hashes)
    let folder = kept.url.appending(path: name)
    let error = #expect(throws: LibraryError.self) {
      try withFailingListing(of: folder) { try kept.library.eraseAssets([kept.secret]) }
    }
    Self.expect(error, toName: folder)
    try kept.library.eraseAssets([kept.secret])
    #expect(!FileManager.default.fileExists(atPath: kept.url.appending(path: cached).path))
    #expect(try Data(contentsOf: hashes) == Data(count: 80))
    let report = try String(contentsOf: kept.url.appending(path: "imports/one.jsonl"), encoding: .utf8)
    #expect(!report.contains("ZNZ"))
  }
}
