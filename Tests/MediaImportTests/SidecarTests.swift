import Foundation
import LibraryMaintenance
import PhotoLedger
import Synchronization
import TestSupport
import Testing

@testable import MediaImport

/// A library that refers to pictures in a folder.
private final class SidecarRig: Sendable {
  let rig: ImportedLibrary
  let folder: MediaImportTests.TemporaryFolder

  /// - Parameter links: the names of links in the folder, and the files elsewhere that they lead to.
  init(_ names: [String], links: [String: FilePath] = [:]) async throws {
    rig = try ImportedLibrary()
    folder = try MediaImportTests.TemporaryFolder()
    for name in names { try folder.write(name, ImportTests.still(name)) }
    for (name, file) in links { #expect(symlink(file.description, "\(folder.path)/\(name)") == 0) }
    var options = LibraryImport.Options()
    (options.leavesFilesInPlace, options.formsStacks) = (true, false)
    _ = try await rig.run([folder.asRoot], options)
  }

  var library: PhotoLibrary { rig.library }

  func place(_ name: String) -> String { "\(folder.path)/\(name)" }

  /// The asset of a picture.
  func asset(_ name: String) throws -> LocalIdentifier {
    try #require(try rig.assets().first { try library.resources(of: $0)[0].originalFilename == name }).id
  }

  func edit(_ name: String, _ caption: String?, keywords: Set<String>? = nil) async throws {
    let id = try asset(name)
    try await library.performChanges { block in
      var changes = AssetChanges()
      changes.caption = .init(caption)
      changes.addedKeywords = keywords ?? []
      block.edit([id], changes)
    }
  }

  /// The outcome of each sidecar by the name of the picture.
  func write(_ change: (inout SidecarWriting.Options) -> Void = { _ in }) async throws -> [String: SidecarReport] {
    var options = SidecarWriting.Options()
    change(&options)
    let found = Mutex<[String: SidecarReport]>([:])
    let library = library
    let writing = SidecarWriting(of: library, options: options)
    let counts = try await writing.run(try library.fetchAssets(), progress: { _ in }) { report in
      found.withLock { $0[report.asset] = report }
    }
    let reports = found.withLock { $0 }
    #expect(counts.values.reduce(0, +) == reports.count, "Every asset has one outcome.")
    return try Dictionary(
      uniqueKeysWithValues: rig.assets().map { asset in
        let report = try #require(reports[asset.localIdentifier])
        return (try library.resources(of: asset)[0].originalFilename, report)
      })
  }

  static func tags(_ path: String) throws -> [String: Any] {
    let read = try ChildRun.of(["exiftool", "-j", "-n", "-G1", path]).text
    return try #require((try JSONSerialization.jsonObject(with: Data(read.utf8)) as? [[String: Any]])?.first)
  }
}

@Suite("writing sidecars")
struct SidecarTests {
  private static let foreign = """
    <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
    <rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
     xmlns:darktable="http://darktable.sf.net/" xmp:Rating="2" darktable:history_end="7">
    <dc:creator><rdf:Seq><rdf:li>Somebody</rdf:li></rdf:Seq></dc:creator></rdf:Description></rdf:RDF></x:xmpmeta>

    """

  @Test("only what was edited is written, once, and only where the library knows a place")
  func edited() async throws {
    let rig = try await SidecarRig(["a.jpg", "b.jpg"])
    try await rig.edit("a.jpg", "Sea", keywords: ["x", "y"])
    let first = try await rig.write()
    #expect(first["a.jpg"]?.outcome == .written && first["a.jpg"]?.fields == ["caption", "keywords"])
    #expect(first["b.jpg"]?.outcome == .nothing)
    #expect(!FileManager.default.fileExists(atPath: rig.place("b.jpg.xmp")))
    let tags = try SidecarRig.tags(rig.place("a.jpg.xmp"))
    #expect(tags["XMP-dc:Description"] as? String == "Sea" && tags["XMP-exif:DateTimeOriginal"] == nil)
    #expect(try await rig.write()["a.jpg"]?.outcome == .unchanged)
    try await rig.edit("a.jpg", nil)
    #expect(try await rig.write()["a.jpg"]?.outcome == .merged)
    let after = try SidecarRig.tags(rig.place("a.jpg.xmp"))
    #expect(after["XMP-dc:Description"] == nil && after["XMP-dc:Subject"] as? [String] == ["x", "y"])
  }

  @Test("the values of another program stay, under either name", arguments: ["a.jpg.xmp", "a.xmp"])
  func merged(name: String) async throws {
    let rig = try await SidecarRig(["a.jpg"])
    try rig.folder.write(name, Data(Self.foreign.utf8))
    try await rig.edit("a.jpg", "Sea")
    #expect(try await rig.write()["a.jpg"]?.outcome == .merged)
    let tags = try SidecarRig.tags(rig.place(name))
    #expect(tags["XMP-dc:Description"] as? String == "Sea" && tags["XMP-xmp:Rating"] as? Int == 2)
    #expect(tags["XMP-dc:Creator"] as? String == "Somebody" && tags["XMP-darktable:History_end"] as? Int == 7)
    #expect(try FileManager.default.contentsOfDirectory(atPath: rig.folder.path).sorted() == ["a.jpg", name])
  }

  @Test("a sidecar that another program changed since is left unchanged, until a merge is requested")
  func changed() async throws {
    let rig = try await SidecarRig(["a.jpg"])
    try await rig.edit("a.jpg", "Sea")
    _ = try await rig.write()
    try rig.folder.write("a.jpg.xmp", Data(Self.foreign.utf8))
    let report = try await rig.write()["a.jpg"]
    #expect(report?.outcome == .conflict && report?.message?.contains("changed by another program") == true)
    #expect(try String(contentsOfFile: rig.place("a.jpg.xmp"), encoding: .utf8) == Self.foreign)
    #expect(try await rig.write { $0.mergesChanged = true }["a.jpg"]?.outcome == .merged)
    #expect(try SidecarRig.tags(rig.place("a.jpg.xmp"))["XMP-dc:Creator"] as? String == "Somebody")
    #expect(try await rig.write()["a.jpg"]?.outcome == .unchanged)
  }

  @Test(
    "a restored library does not overwrite a sidecar that was changed since it was written; a fork has no such journal"
  )
  func restored() async throws {
    let rig = try await SidecarRig(["a.jpg"])
    try await rig.edit("a.jpg", "Sea")
    _ = try await rig.write()
    func place(_ name: String) -> URL { URL(filePath: rig.rig.folder.path).appending(path: name) }
    try rig.library.backup(to: place("backup"))
    try rig.library.fork(to: place("fork"))
    try rig.folder.write("a.jpg.xmp", Data(Self.foreign.utf8))
    try PhotoLibrary.restore(from: place("backup"), to: place("restored"))
    let library = try PhotoLibrary(at: place("restored"))
    defer { library.close() }
    let counts = try await SidecarWriting(of: library).run(try library.fetchAssets())
    #expect(counts == [.conflict: 1])
    #expect(try String(contentsOfFile: rig.place("a.jpg.xmp"), encoding: .utf8) == Self.foreign)
    #expect(!FileManager.default.fileExists(atPath: place("fork/sidecars").path))
  }

  @Test("what a killed run left beside an original does not block its sidecar, and is removed")
  func leftFile() async throws {
    let rig = try await SidecarRig(["a.jpg"])
    try await rig.edit("a.jpg", "new")
    let left = try SidecarRun.temporaryFile(for: rig.place("a.jpg.xmp"), of: rig.library)
    try Data("half".utf8).write(to: URL(filePath: left))
    #expect(try await rig.write()["a.jpg"]?.outcome == .written)
    #expect(!FileManager.default.fileExists(atPath: left))
  }

  @Test("two copies of a library that write the same sidecar do not interfere: each has its own temporary file")
  func copyAtWork() async throws {
    let rig = try await SidecarRig(["a.jpg"])
    try await rig.edit("a.jpg", "new")
    func place(_ name: String) -> URL { URL(filePath: rig.rig.folder.path).appending(path: name) }
    try rig.library.backup(to: place("backup"))
    try PhotoLibrary.restore(from: place("backup"), to: place("restored"))
    let copy = try PhotoLibrary(at: place("restored"))
    defer { copy.close() }
    let half = try SidecarRun.temporaryFile(for: rig.place("a.jpg.xmp"), of: copy)
    try Data("half".utf8).write(to: URL(filePath: half))
    #expect(try await rig.write()["a.jpg"]?.outcome == .written)
    #expect(try String(contentsOfFile: half, encoding: .utf8) == "half")
  }

  @Test("a mirror has the originals' paths, and nothing is written beside them")
  func mirror() async throws {
    let rig = try await SidecarRig(["d/a.jpg"])
    try await rig.edit("a.jpg", "Sea")
    let mirror = try MediaImportTests.TemporaryFolder()
    let report = try #require(try await rig.write { $0.mirror = mirror.path }["a.jpg"])
    #expect(report.outcome == .written)
    #expect(report.path?.hasPrefix(mirror.path) == true && report.path?.hasSuffix("/d/a.jpg.xmp") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: rig.place("d")) == ["a.jpg"])
  }

  @Test("a sidecar that cannot be written is reported: a missing original, no name for it, a file of the library")
  func refused() async throws {
    let rig = try await SidecarRig(["a.jpg", "b.jpg"])
    try await rig.edit("a.jpg", "Sea")
    try await rig.edit("b.jpg", "Sea")
    #expect(unlink(rig.place("a.jpg")) == 0)
    try rig.folder.write("b.jpg.xmp", Data("no XMP".utf8))
    let reports = try await rig.write()
    #expect(reports["a.jpg"]?.outcome == .missing)
    #expect(reports["b.jpg"]?.outcome == .failed, "\(String(describing: reports["b.jpg"]))")
    #expect(try String(contentsOfFile: rig.place("b.jpg.xmp"), encoding: .utf8) == "no XMP")
    let kept = try ExportRig()
    var random = SeededGenerator(seed: 1)
    try await kept.add(1, &random)
    let counts = try await SidecarWriting(of: kept.library).run(try kept.library.fetchAssets())
    #expect(counts == [.noPlace: 1])
  }

  @Test("without exiftool new sidecars are written, and none is merged")
  func noTool() async throws {
    let rig = try await SidecarRig(["a.jpg"])
    try await rig.edit("a.jpg", "Sea")
    #expect(try await rig.write { $0.searchPath = "/nowhere" }["a.jpg"]?.outcome == .written)
    try await rig.edit("a.jpg", "Lake")
    await #expect { try await rig.write { $0.searchPath = "/nowhere" } } throws: {
      ($0 as? ImportError)?.code == .toolMissing
    }
  }

  @Test("an erasure removes the asset's lines from the journal, and the next run knows the others")
  func erased() async throws {
    let rig = try await SidecarRig(["ZNZ_0001.jpg", "b.jpg"])
    for name in ["ZNZ_0001.jpg", "b.jpg"] {
      try await rig.edit(name, "Sea")
      _ = try await rig.write()
      // A second line about the file.
      try await rig.edit(name, "Sea of \(name)")
    }
    _ = try await rig.write()
    let journal = rig.library.url.appending(path: "sidecars/files")
    let path = Data(rig.place("ZNZ_0001.jpg").utf8)
    #expect(try Data(contentsOf: journal).range(of: path) != nil)
    try rig.library.eraseAssets([try rig.asset("ZNZ_0001.jpg")])
    #expect(try Data(contentsOf: journal).range(of: path) == nil)
    #expect(try await rig.write().mapValues(\.outcome) == ["b.jpg": .unchanged])
  }

  @Test("an original that is a link to a file has its sidecar beside the link")
  func linkedOriginal() async throws {
    let store = try MediaImportTests.TemporaryFolder()
    let rig = try await SidecarRig([], links: ["a.jpg": try store.write("x", ImportTests.still("linked"))])
    try await rig.edit("a.jpg", "Sea")
    let report = try await rig.write()["a.jpg"]
    #expect(report?.outcome == .written && report?.path?.hasSuffix("/a.jpg.xmp") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: store.path) == ["x"])
    #expect(unlink("\(store.path)/x") == 0)
    #expect(try await rig.write()["a.jpg"]?.outcome == .missing)
  }

  @Test("a later run's sidecar does not replace that of another asset, which keeps it until it is trashed")
  func sharedStem() async throws {
    let rig = try await SidecarRig(["a.jpg", "a.png"])
    let stem = { (options: inout SidecarWriting.Options) in options.naming = .stem }
    try await rig.edit("a.jpg", "Sea")
    #expect(try await rig.write(stem)["a.jpg"]?.outcome == .written)
    try await rig.edit("a.png", "Lake")
    for isDryRun in [true, false] {
      let reports = try await rig.write { (options: inout SidecarWriting.Options) in
        (options.naming, options.isDryRun) = (.stem, isDryRun)
      }
      #expect(reports["a.jpg"]?.outcome == .unchanged && reports["a.png"]?.outcome == .conflict)
      #expect(reports["a.png"]?.message?.contains("use full names") == true)
    }
    #expect(try SidecarRig.tags(rig.place("a.xmp"))["XMP-dc:Description"] as? String == "Sea")
    #expect(try await rig.write().mapValues(\.outcome) == ["a.jpg": .unchanged, "a.png": .written])
    #expect(try SidecarRig.tags(rig.place("a.png.xmp"))["XMP-dc:Description"] as? String == "Lake")
    #expect(unlink(rig.place("a.png.xmp")) == 0)
    let trashed = try rig.asset("a.jpg")
    try await rig.library.performChanges { $0.deleteAssets([trashed]) }
    #expect(try await rig.write(stem)["a.png"]?.outcome == .merged)
  }
}
