import Foundation
import PhotoLedger
import TestSupport
import Testing

@testable import MediaImport

@Suite("watching folders with sidecars", .blocking)
struct KnownSidecarTests {
  @Test("an unchanged sidecar is not imported again by another watch")
  func knownSidecars() async throws {
    let rig = try WatchedLibrary()
    try rig.write("a.jpg", "a")
    try rig.write("a.jpg.xmp", "", Data("words".utf8))
    try await rig.watching {
      try await rig.wait(for: 1)
      try await rig.waitUntilKnown("a.jpg.xmp")
    }
    let known = KnownFiles(in: rig.library.store.folder)
    known.refresh()
    for name in ["a.jpg", "a.jpg.xmp"] {
      try known.record([(rig.path(name), rig.known(of: name, as: known[rig.path(name)]))])
    }
    let lines = try rig.reportedCount(of: "a.jpg.xmp")
    #expect(lines > 0)
    try await rig.watching {
      try await rig.waitUntilWatching()
      // It comes after the sidecar would have come.
      try rig.write("b.jpg", "b")
      try await rig.wait(for: 2)
    }
    #expect(try rig.reportedCount(of: "a.jpg.xmp") == lines)
    let (summary, _) = try await rig.rig.run([rig.asRoot])
    #expect(summary.sidecars == 1 && summary.duplicates == 2 && summary.assetsAdded == 0)
  }
}

extension WatchedLibrary {
  /// How many lines of reports name a file.
  func reportedCount(of name: String) throws -> Int {
    let folder = library.url.appending(path: "imports")
    let reports = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".jsonl") }
    return try reports.reduce(0) { count, report in
      let text = try String(contentsOf: folder.appending(path: report), encoding: .utf8)
      return count + text.split(separator: "\n").count { $0.contains("/\(name)\"") }
    }
  }
}
