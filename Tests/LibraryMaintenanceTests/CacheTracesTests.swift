import Foundation
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

@Suite("Erased assets in caches")
struct CacheTracesTests {
  /// Files as caches and journals leave them; their owners' tests hold the formats to it.
  private struct Caches {
    let library: URL
    let gone: [[UInt8]]
    let staying: [[UInt8]]

    private func path(_ name: String) -> URL { library.appending(path: name) }

    private static func record(_ content: [UInt8], _ length: Int) -> [UInt8] {
      content + [UInt8](repeating: 7, count: length - content.count)
    }

    private func write(_ name: String, _ bytes: [UInt8]) throws {
      try FileManager.default.createDirectory(
        at: path(name).deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(bytes).write(to: path(name))
    }

    private func rendition(_ content: [UInt8], _ ending: String, _ folder: String = "r3") -> String {
      "renditions/\(folder)/\(content.hexadecimal.prefix(2))/\(content.hexadecimal).\(ending)"
    }

    /// What killed servers were writing: of a content, and under the names of earlier versions.
    private func drafts(_ folder: String) -> [String] {
      [rendition(gone[0], "large.new", folder), "renditions/\(folder)/\(gone[0].hexadecimal.prefix(2))/.dat.nosync1.a"]
    }

    private var renditions: [String] { ["r3", "passing-1/r3"] }

    func make(_ asset: LocalIdentifier, _ other: LocalIdentifier) throws {
      try write("renditions/lock", [])
      for folder in renditions {
        for (content, ending) in zip(gone + staying, ["small", "large", "why-play", "play"]) {
          try write(rendition(content, ending, folder), [1])
        }
        for draft in drafts(folder) { try write(draft, [1]) }
        try write("renditions/\(folder)/records", (gone + staying + gone).flatMap { Self.record($0, 128) })
      }
      // The last record is torn.
      let hashes = (staying + gone).flatMap { Self.record($0, 80) } + Self.record(gone[0], 50)
      try write("picture-hashes/h1", hashes)
      let lines = [asset, other, asset].map { "3\t1\tff-ee\t\($0.uuidString)\tsidecar\t/p/of \($0.uuidString).xmp\n" }
      try write("sidecars/lock", [])
      try write("sidecars/files", Array(("photoledger files 1\n" + lines.joined() + "3\t1\tff").utf8))
      try write("sidecars/files.new", Array(lines[0].utf8))
    }

    private func bytes(_ name: String) throws -> [UInt8] { try Array(Data(contentsOf: path(name))) }

    func expectErased(_ asset: LocalIdentifier, _ other: LocalIdentifier) throws {
      let zeros = [UInt8](repeating: 0, count: 128)
      for folder in renditions {
        for (content, ending) in zip(gone + staying, ["small", "large", "why-play", "play"]) {
          let isThere = FileManager.default.fileExists(atPath: path(rendition(content, ending, folder)).path)
          #expect(isThere == staying.contains(content), "\(folder) \(ending)")
        }
        for draft in drafts(folder) { #expect(!FileManager.default.fileExists(atPath: path(draft).path), "\(draft)") }
        let erased = gone.flatMap { _ in zeros }
        let records = erased + staying.flatMap { Self.record($0, 128) } + erased
        #expect(try bytes("renditions/\(folder)/records") == records)
      }
      let hashes = staying.flatMap { Self.record($0, 80) } + gone.flatMap { _ in zeros.prefix(80) } + zeros.prefix(50)
      #expect(try bytes("picture-hashes/h1") == hashes)
      let journal = String(decoding: try bytes("sidecars/files"), as: UTF8.self)
      #expect(
        journal.split(separator: "\n") == [
          "photoledger files 1", "3\t1\tff-ee\t\(other.uuidString)\tsidecar\t/p/of \(other.uuidString).xmp", "3\t1\tff",
        ])
      #expect(!FileManager.default.fileExists(atPath: path("sidecars/files.new").path))
    }
  }

  private static func contents(_ id: LocalIdentifier, of library: PhotoLibrary) throws -> [[UInt8]] {
    try library.resources(of: #require(try library.asset(id.uuidString))).map(\.sha256)
  }

  @Test("an erasure removes cached data of contents that no asset has any more, here and in a follower")
  func erased() async throws {
    let kept = try await KeptLibrary.make()
    let start = try kept.library.currentToken
    let place = kept.folder.place("follower")
    try PhotoLibrary.importLog(to: place, next: LogText.source(try LogText.lines(kept.library)))
    let follower = try PhotoLibrary(at: place)
    defer { follower.close() }
    let gone = try Self.contents(kept.secret, of: kept.library)
    let staying = try Self.contents(kept.other, of: kept.library) + Self.contents(kept.twin, of: kept.library)
    #expect(gone.count == 2 && staying.count == 2)
    let caches = [kept.url, place].map { Caches(library: $0, gone: gone, staying: staying) }
    for cache in caches { try cache.make(kept.secret, kept.other) }
    try kept.library.eraseAssets([kept.secret])
    try caches[0].expectErased(kept.secret, kept.other)
    try kept.close()
    try PhotoLibrary.compact(at: kept.url)
    #expect(try kept.tracesFound() == [])
    let source = try PhotoLibrary(at: kept.url)
    defer { source.close() }
    try follower.appendLog(next: LogText.source(try LogText.lines(source, after: start)))
    try caches[1].expectErased(kept.secret, kept.other)
  }

  @Test("a repeated erasure removes what the first one left, and follows no link out of the library")
  func repeated() async throws {
    let kept = try await KeptLibrary.make()
    let gone = try Self.contents(kept.secret, of: kept.library)
    let staying = try Self.contents(kept.other, of: kept.library) + Self.contents(kept.twin, of: kept.library)
    try kept.library.eraseAssets([kept.secret])
    let caches = Caches(library: kept.url, gone: gone, staying: staying)
    try caches.make(kept.secret, kept.other)
    let outside = kept.folder.place("outside/\(gone[0].hexadecimal).large")
    try FileManager.default.createDirectory(at: outside.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data("foreign".utf8).write(to: outside)
    try FileManager.default.createSymbolicLink(
      at: kept.url.appending(path: "renditions/elsewhere"), withDestinationURL: outside.deletingLastPathComponent())
    try kept.library.eraseAssets([kept.secret])
    try caches.expectErased(kept.secret, kept.other)
    #expect(FileManager.default.fileExists(atPath: outside.path))
  }

  @Test("a second name of an original left by a killed process is removed, and not mistaken for a backup's")
  func leftWork() async throws {
    let kept = try await KeptLibrary.make()
    let asset = try #require(try kept.library.asset(kept.secret.uuidString))
    let original = kept.library.url(of: try #require(try kept.library.resources(of: asset).first))
    func root(_ folder: String, _ process: pid_t) -> URL {
      kept.url.appending(path: "\(folder)/photoledger-work-\(process)-01234567")
    }
    // This process has made none, so that one with its number is an earlier one's.
    let left = ["renditions", "picture-hashes", "server"].map { root($0, getpid()) }
    let running = root("renditions", getppid())
    for root in left + [running] {
      try FileManager.default.createDirectory(at: root.appending(path: "1/in"), withIntermediateDirectories: true)
    }
    for root in left { try #require(link(original.path, root.appending(path: "1/in/source").path) == 0) }
    let report = try kept.library.eraseAssets([kept.secret])
    #expect(report.assets[0].removedFiles.count == 2 && report.assets[0].linkedFiles.isEmpty)
    for root in left { #expect(!FileManager.default.fileExists(atPath: root.path), "\(root.path)") }
    #expect(FileManager.default.fileExists(atPath: running.path))
  }
}
