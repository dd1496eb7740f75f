import Foundation
import LibraryMaintenance
import PhotoLedger
import Synchronization
import TestSupport
import Testing

@testable import MediaImport

/// A library with pictures, and what is read of them again.
private final class ReadingRig: Sendable {
  let rig: ImportedLibrary
  let folder: MediaImportTests.TemporaryFolder

  init(_ files: [String: Data], inPlace: Bool = true, sidecars: Bool = false) async throws {
    rig = try ImportedLibrary()
    folder = try MediaImportTests.TemporaryFolder()
    for (name, data) in files { try folder.write(name, data) }
    var options = LibraryImport.Options()
    options.leavesFilesInPlace = inPlace
    options.readsSidecars = sidecars
    _ = try await rig.run([folder.asRoot], options)
  }

  var library: PhotoLibrary { rig.library }

  func asset(_ name: String) throws -> Asset {
    try #require(try rig.assets().first { try library.resources(of: $0)[0].originalFilename == name })
  }

  func words(_ name: String) throws -> ExtendedMetadata { try library.extendedMetadata(of: try asset(name)) }

  /// Records what a library has that was made before metadata was kept: nothing.
  func forget() async throws {
    let ids = try rig.assets().map(\.id)
    var changes = AssetChanges()
    changes.fileMetadata = .clear
    try await library.performChanges(cause: "forgotten") { $0.edit(ids, changes) }
  }

  /// Reads all assets again, and gives the report of each by its name.
  func read(
    _ change: (inout MetadataReading.Options) -> Void = { _ in }, cause: String? = nil,
    progress: @escaping @Sendable (Int) -> Void = { _ in }
  ) async throws -> (summary: MetadataSummary, reports: [String: MetadataReport]) {
    var options = MetadataReading.Options()
    options.tool = try SharedTool.exiftool()
    change(&options)
    let found = Mutex<[String: MetadataReport]>([:])
    var fetch = FetchOptions()
    (fetch.includeHiddenAssets, fetch.includeAllBurstAssets) = (true, true)
    let summary = try await MetadataReading(of: library, options: options).run(
      [try library.fetchAssets(fetch)], cause: cause, progress: progress
    ) { report in found.withLock { $0[report.asset] = report } }
    let reports = found.withLock { $0 }
    #expect(summary.counts.values.reduce(0, +) == reports.count, "Every asset has one outcome.")
    let named = try rig.assets().compactMap { asset in
      reports[asset.localIdentifier].map { report in
        (Result { try library.resources(of: asset)[0].originalFilename }, report)
      }
    }
    return (summary, try Dictionary(uniqueKeysWithValues: named.map { (try $0.get(), $1) }))
  }
}

@Suite("reading metadata again")
struct MetadataReadingTests {
  @Test("a folder whose sidecars are read is listed once, however many of its files are read")
  func listedOnce() async throws {
    let count = MetadataReading.batchCount + 20
    let files = (0..<count).map { ("\($0).jpg", Self.picture("\($0)")) }
    let rig = try await ReadingRig(Dictionary(uniqueKeysWithValues: files))
    for name in ["3.jpg.xmp", "\(count - 1).xmp"] { try rig.folder.write(name, Self.xmp("beside \(name)")) }
    let listed = Mutex<[String]>([])
    let (_, reports) = try await rig.read { options in
      options.readsSidecars = true
      options.listFolder = { path in
        listed.withLock { $0.append(path) }
        return try FileManager.default.contentsOfDirectory(atPath: path)
      }
    }
    #expect(listed.withLock(\.self) == [rig.folder.path])
    #expect(reports.count == count)
    let captions = reports.filter { $0.value.fields.contains("caption") }.keys.sorted()
    #expect(captions == ["3.jpg", "\(count - 1).jpg"].sorted(), "\(captions)")
  }

  /// A picture with words in it, as a program writes them.
  private static func picture(_ name: String, title: String = "The ferry") -> Data {
    let packet = Array(
      """
      http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x="adobe:ns:meta/">
      <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
      <rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
       xmp:Rating="2"><dc:title><rdf:Alt><rdf:li xml:lang="x-default">\(title)</rdf:li></rdf:Alt></dc:title>
      <dc:description><rdf:Alt><rdf:li xml:lang="x-default">In the file</rdf:li></rdf:Alt></dc:description>
      <dc:subject><rdf:Bag><rdf:li>sea</rdf:li></rdf:Bag></dc:subject></rdf:Description></rdf:RDF></x:xmpmeta>
      """.utf8)
    let length = UInt16(packet.count + 2)
    let segment = [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 0xFF)] + packet
    let picture = ImportTests.still(name, identifier: nil)
    return picture.prefix(2) + Data(segment) + picture.dropFirst(2)
  }

  private static func xmp(_ caption: String) -> Data {
    Data(
      """
      <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
      <rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:description><rdf:Alt>
      <rdf:li xml:lang="x-default">\(caption)</rdf:li></rdf:Alt></dc:description></rdf:Description></rdf:RDF>
      </x:xmpmeta>
      """.utf8)
  }

  @Test("an older library gets what an import would record, and nothing that a person edited changes")
  func before() async throws {
    for inPlace in [false, true] {
      let rig = try await ReadingRig(["a.jpg": Self.picture("a.jpg")], inPlace: inPlace)
      let imported = try #require(try rig.words("a.jpg").fileMetadata)
      #expect(imported.title == "The ferry" && imported.cameraModel == "Test Camera")
      try await rig.forget()
      let asset = try rig.asset("a.jpg")
      var edit = AssetChanges()
      (edit.caption, edit.addedKeywords, edit.removedKeywords) = (.set("By hand"), ["mine"], ["sea"])
      (edit.rating, edit.creationDate) = (.five, .set(Date(timeIntervalSince1970: 1_000_000)))
      try await rig.library.performChanges { [edit] in $0.edit([asset.id], edit) }

      let dry = try await rig.read { $0.isDryRun = true }
      #expect(dry.reports["a.jpg"]?.outcome == .wanted)
      #expect(dry.reports["a.jpg"]?.fields.contains("cameraModel") == true)
      #expect(try rig.words("a.jpg").fileMetadata == nil, "A dry run records nothing.")

      let read = try await rig.read()
      #expect(read.reports["a.jpg"]?.outcome == .recorded && read.summary.isComplete)
      let words = try rig.words("a.jpg")
      #expect(words.fileMetadata == imported, "The same mapping as at the import.")
      #expect(words.caption == "By hand" && words.keywords == ["mine"])
      let edited = try rig.asset("a.jpg")
      #expect(edited.rating == .five && edited.creationDate == Date(timeIntervalSince1970: 1_000_000))

      let token = try rig.library.currentToken
      #expect(try await rig.read().reports["a.jpg"]?.outcome == .unchanged)
      #expect(try rig.library.currentToken == token, "Nothing is recorded where nothing changed.")
      var selection = UndoSelection()
      selection.cause = read.summary.cause
      try rig.library.undoAndWait(selection)
      #expect(try rig.words("a.jpg").fileMetadata == nil && rig.words("a.jpg").caption == "By hand")
    }
  }

  @Test("a missing or replaced file is named, and not read")
  func gone() async throws {
    let names = ["here.jpg", "gone.jpg", "longer.jpg", "equal.jpg"]
    var files: [String: Data] = [:]
    for name in names { files[name] = Self.picture(name) }
    let rig = try await ReadingRig(files)
    try await rig.forget()
    try FileManager.default.removeItem(atPath: "\(rig.folder.path)/gone.jpg")
    try rig.folder.write("longer.jpg", Self.picture("longer.jpg", title: "Something else of another length"))
    // As long as it was, and another in one letter.
    var equal = try #require(files["equal.jpg"])
    let place = try #require(equal.range(of: Data("The ferry".utf8)))
    equal.replaceSubrange(place, with: Data("The fairy".utf8))
    try rig.folder.write("equal.jpg", equal)
    let (summary, reports) = try await rig.read()
    #expect(
      reports.mapValues(\.outcome) == [
        "here.jpg": .recorded, "gone.jpg": .missing, "longer.jpg": .altered, "equal.jpg": .altered,
      ])
    #expect(!summary.isComplete && reports["gone.jpg"]?.message?.contains("gone.jpg") == true)
    for name in names.dropFirst() { #expect(try rig.words(name).fileMetadata == nil, "\(name)") }
  }

  @Test("sidecars are read on request; otherwise their values stay")
  func sidecars() async throws {
    let rig = try await ReadingRig(
      ["a.jpg": Self.picture("a.jpg"), "a.jpg.xmp": Self.xmp("In the sidecar")], sidecars: true)
    #expect(try rig.words("a.jpg").fileMetadata?.caption == "In the sidecar")
    try rig.folder.write("a.jpg.xmp", Self.xmp("In the new sidecar"))
    #expect(try await rig.read().reports["a.jpg"]?.outcome == .unchanged)
    let read = try await rig.read { $0.readsSidecars = true }
    #expect(read.reports["a.jpg"]?.fields == ["caption"])
    let found = try #require(try rig.words("a.jpg").fileMetadata)
    #expect(found.caption == "In the new sidecar" && found.sources["caption"] == "xmp" && found.title == "The ferry")
    #expect(try rig.words("a.jpg").caption == "In the sidecar", "The asset's own caption is a person's.")
    // One that is not found says nothing, and may only not have been found.
    try FileManager.default.removeItem(atPath: "\(rig.folder.path)/a.jpg.xmp")
    #expect(try await rig.read { $0.readsSidecars = true }.reports["a.jpg"]?.outcome == .unchanged)
    #expect(try rig.words("a.jpg").fileMetadata == found)
  }

  @Test("a file that spells a text otherwise than what is recorded is read anew")
  func respelled() async throws {
    let rig = try await ReadingRig(["a.jpg": Self.picture("a.jpg", title: "F\u{E4}hre")])
    let imported = try #require(try rig.words("a.jpg").fileMetadata)
    let id = try rig.asset("a.jpg").id
    var respelled = imported
    respelled.title = imported.title?.decomposedStringWithCanonicalMapping
    var changes = AssetChanges()
    changes.fileMetadata = .set(respelled)
    try await rig.library.performChanges { [changes] in $0.edit([id], changes) }
    #expect(try await rig.read().reports["a.jpg"]?.fields == ["title"])
    #expect(try rig.words("a.jpg").fileMetadata == imported)
  }

  @Test("values of a service's record stay, since it cannot be read again")
  func records() async throws {
    let rig = try await ReadingRig(["a.jpg": Self.picture("a.jpg")])
    let id = try rig.asset("a.jpg").id
    var kept = AssetMetadata()
    (kept.caption, kept.keywords, kept.people) = ("Of the record", ["record", "sea"], ["Ana"])
    kept.sources = ["caption": "takeout", "keywords": "takeout embedded", "people": "takeout", "location": "takeout"]
    var changes = AssetChanges()
    changes.fileMetadata = .set(kept)
    try await rig.library.performChanges { [changes] in $0.edit([id], changes) }
    _ = try await rig.read { $0.readsSidecars = true }
    let found = try #require(try rig.words("a.jpg").fileMetadata)
    #expect(found.caption == kept.caption && found.keywords == kept.keywords && found.people == kept.people)
    #expect(found.sources == kept.sources && found.title == "The ferry" && found.rating == 2)
  }

  @Test("a run that is stopped keeps its commits, and the next one reads the rest")
  func stopped() async throws {
    let count = MetadataReading.batchCount + 20
    var files: [String: Data] = [:]
    for index in 0..<count { files["p\(index).jpg"] = ImportTests.still("\(index)", identifier: nil) }
    let rig = try await ReadingRig(files, inPlace: false)
    try await rig.forget()
    let running = Mutex<Task<MetadataSummary, any Error>?>(nil)
    let reading = try MetadataReading(of: rig.library)
    let assets = try rig.library.fetchAssets()
    let cancel: @Sendable (Int) -> Void = { _ in running.withLock { $0?.cancel() } }
    let task = running.withLock { slot in
      let task = Task { () throws -> MetadataSummary in
        try await reading.run([assets], cause: "first", progress: cancel)
      }
      slot = task
      return task
    }
    let stopped = try await task.value
    #expect(stopped.counts == [.recorded: MetadataReading.batchCount, .notReached: 20] && !stopped.isComplete)
    let rest = try await rig.read { $0.onlyMissing = true }
    #expect(rest.summary.counts == [.recorded: 20] && rest.summary.isComplete)
    for asset in try rig.rig.assets() { #expect(try rig.library.extendedMetadata(of: asset).fileMetadata != nil) }
  }

  @Test("without exiftool it says what to install")
  func noTool() async throws {
    let rig = try ImportedLibrary()
    var options = MetadataReading.Options()
    options.searchPath = rig.folder.path
    let error = #expect(throws: ImportError.self) { try MetadataReading(of: rig.library, options: options) }
    #expect(error?.code == .toolMissing && error?.description.contains("libimage-exiftool-perl") == true)
  }
}
