import Foundation
import LibraryAudit
import LibraryMaintenance
import PhotoLedger
import Synchronization
import TestSupport
import Testing

@testable import MediaImport

@Suite("importing into a library")
struct LibraryImportTests {
  static let identifier = ImportTests.identifier

  static func still(_ comment: String = "", identifier: String? = nil) -> Data {
    ImportTests.still(comment, identifier: identifier)
  }

  @Test("a second import adds nothing: the library's state is unchanged")
  func secondImport() async throws {
    let rig = try ImportedLibrary()
    let folder = try TemporaryFolder()
    for index in 0..<20 { try folder.write("d\(index % 3)/p\(index).jpg", Self.still("\(index)")) }
    var options = LibraryImport.Options()
    options.batchDuration = .seconds(3600)
    let first = try await rig.run([folder.asRoot], options, cause: "holiday")
    #expect(first.summary.assetsAdded == 20 && first.summary.commits == 1)
    let token = try rig.library.currentToken
    let second = try await rig.run([folder.asRoot])
    #expect(second.summary.duplicates == 20 && second.summary.commits == 0)
    #expect(try rig.library.currentToken == token)
    #expect(try rig.verify().isSound)
    var causes: [String?] = []
    try rig.library.forEachLogEntry(LogFilter()) { entry in
      causes.append(entry.commit.cause)
      return true
    }
    #expect(Set(causes.dropFirst()) == ["holiday"], "Every event of the import has its cause.")
  }

  @Test("every file has a line with its outcome and reason in the import's file")
  func reportFile() async throws {
    let rig = try ImportedLibrary()
    let folder = try TemporaryFolder()
    try folder.write("a.jpg", Self.still())
    try folder.write("b.jpg", Self.still())
    try folder.write("empty.jpg", Data())
    try folder.write("text.jpg", Data("no photo\n".utf8))
    try folder.write("a.xmp", Data("<x/>".utf8))
    let plain = try folder.write("plain", Self.still("odd name"))
    let odd = folder.asRoot.appending([0xFF, 0x2E, 0x6A])
    #expect(plain.withCString { from in odd.withCString { rename(from, $0) } } == 0)
    let (summary, _) = try await rig.run([folder.asRoot])
    let lines = try ImportedLibrary.lines(summary)
    #expect(lines.count == summary.filesFound + 2)
    #expect(
      lines.first?["import"] as? String == summary.run && lines.first?["cause"] as? String == "import \(summary.run)")
    let root = URL(filePath: folder.path).resolvingSymlinksInPath().path
    func line(_ name: String) -> [String: Any]? { lines.first { $0["path"] as? String == "\(root)/\(name)" } }
    #expect(line("a.jpg")?["outcome"] as? String == "asset")
    #expect(line("b.jpg")?["outcome"] as? String == "duplicate" && line("b.jpg")?["of"] as? String == "\(root)/a.jpg")
    #expect(line("empty.jpg")?["reason"] as? String == "empty")
    #expect(line("text.jpg")?["reason"] as? String == "notMedia" && line("text.jpg")?["message"] != nil)
    #expect(line("a.xmp")?["outcome"] as? String == "sidecar")
    #expect(lines.contains { ($0["pathBytes"] as? String)?.hasSuffix("ff2e6a") == true })
    let total = try #require(lines.last?["summary"] as? [String: Any])
    #expect(total["assetsAdded"] as? Int == 2 && total["run"] as? String == summary.run)
  }

  @Test("files left in place stay there, and one that goes missing is a state that verify reports")
  func inPlace() async throws {
    let rig = try ImportedLibrary()
    let folder = try TemporaryFolder()
    let path = try folder.write("a.jpg", Self.still("a"))
    try folder.write("b.jpg", Self.still("b"))
    var options = LibraryImport.Options()
    options.leavesFilesInPlace = true
    _ = try await rig.run([folder.asRoot], options)
    #expect(try rig.storedFiles().isEmpty)
    let resources = try rig.assets().flatMap { try rig.library.resources(of: $0) }
    #expect(resources.count == 2)
    for resource in resources {
      #expect(try Data(contentsOf: rig.library.url(of: resource)).count == Int(resource.dataSize))
    }
    #expect(try rig.verify().missingResources.isEmpty)
    #expect(unlink(path.description) == 0)
    let found = try rig.verify()
    let canonical = URL(filePath: folder.path).resolvingSymlinksInPath().path
    #expect(found.isSound && found.missingResources == ["\(canonical)/a.jpg"])
    let ids = try rig.assets().map(\.id)
    try await rig.library.performChanges { $0.deleteAssets(ids) }
    try await rig.library.performChanges { $0.purgeAssets(ids) }
    try await rig.library.performChanges { $0.createAlbum(title: "later") }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["b.jpg"], "A purge removes no original.")
  }

  @Test("an altered referenced file is a state: the library is sound, and the files after it are examined")
  func alteredInPlace() async throws {
    let rig = try ImportedLibrary()
    let folder = try TemporaryFolder()
    for name in ["a", "b", "c"] { try folder.write("\(name).jpg", Self.still(name)) }
    var options = LibraryImport.Options()
    options.leavesFilesInPlace = true
    _ = try await rig.run([folder.asRoot], options)
    try folder.write("a.jpg", Self.still("a, turned by another program"))
    try folder.write("b.jpg", Self.still("z"))
    #expect(unlink("\(folder.path)/c.jpg") == 0)
    let canonical = URL(filePath: folder.path).resolvingSymlinksInPath().path
    let found = try rig.verify()
    #expect(found.isSound && found.missingResources == ["\(canonical)/c.jpg"])
    #expect(found.alteredResources.sorted() == ["\(canonical)/a.jpg", "\(canonical)/b.jpg"])
    let sizes = try rig.library.verify(scratch: URL(filePath: rig.folder.path))
    #expect(sizes.isSound && sizes.alteredResources == ["\(canonical)/a.jpg"])
  }

  @Test("every altered file of the library is listed, and the first one is the defect", arguments: [true, false])
  func alteredInLibrary(hasSize: Bool) async throws {
    let rig = try ImportedLibrary()
    let folder = try TemporaryFolder()
    for name in ["a", "b", "c"] { try folder.write("\(name).jpg", Self.still(name)) }
    _ = try await rig.run([folder.asRoot])
    let paths = try rig.assets().flatMap { try rig.library.resources(of: $0) }.map { rig.library.url(of: $0).path }
    for path in paths.prefix(2) {
      #expect(chmod(path, 0o644) == 0)
      let size = try Data(contentsOf: URL(filePath: path)).count
      try Data(count: hasSize ? size : size + 1).write(to: URL(filePath: path))
    }
    #expect(unlink(paths[2]) == 0)
    let found = try rig.verify()
    #expect(!found.isSound && Set(found.alteredResources) == Set(paths.prefix(2)))
    #expect(found.defect?.place == found.alteredResources.first && found.missingResources == [paths[2]])
    let what = hasSize ? "does not have the recorded hash" : "is not a file of the recorded size"
    #expect(found.defect?.description.contains(what) == true)
  }

  @Test("a referenced file whose name is not UTF-8 is not imported, and the reason says so")
  func inPlaceOddName() async throws {
    let rig = try ImportedLibrary()
    let folder = try TemporaryFolder()
    let plain = try folder.write("plain", Self.still())
    let odd = folder.asRoot.appending([0xFF])
    #expect(plain.withCString { from in odd.withCString { rename(from, $0) } } == 0)
    var options = LibraryImport.Options()
    options.leavesFilesInPlace = true
    let (summary, _) = try await rig.run([folder.asRoot], options)
    #expect(summary.skipped == ["unreadable": 1])
    #expect(summary.skippedFiles.first?.message.contains("UTF-8") == true)
    #expect(try await rig.run([folder.asRoot]).summary.assetsAdded == 1, "A copy of it can be taken.")
  }

  @Test("a dry run treats a file whose name is not UTF-8 as the import then does", arguments: [false, true])
  func dryOddName(leavesFilesInPlace: Bool) async throws {
    let rig = try ImportedLibrary()
    let folder = try TemporaryFolder()
    let plain = try folder.write("plain", Self.still())
    let odd = folder.asRoot.appending([0xFF])
    #expect(plain.withCString { from in odd.withCString { rename(from, $0) } } == 0)
    var options = LibraryImport.Options()
    options.leavesFilesInPlace = leavesFilesInPlace
    options.isDryRun = true
    let told = try await rig.run([folder.asRoot], options).summary
    #expect(try rig.storedFiles().isEmpty && rig.assets().isEmpty)
    options.isDryRun = false
    let done = try await rig.run([folder.asRoot], options).summary
    #expect(told.assetsAdded == done.assetsAdded && told.skipped == done.skipped)
    #expect(told.bytesAdded == done.bytesAdded && told.assetsAdded == (leavesFilesInPlace ? 0 : 1))
  }

  @Test("a file that vanishes during the import is recorded as vanished, and the rest is imported")
  func vanishes() async throws {
    let rig = try ImportedLibrary()
    let folder = try TemporaryFolder()
    for name in ["a", "b", "c"] { try folder.write("\(name).jpg", Self.still(name)) }
    var options = LibraryImport.Options()
    options.batchFileCount = 1
    let path = folder.path
    let (summary, outcomes) = try await rig.run([folder.asRoot], options) { file in
      // The next file is being read by now, and the one after that is not.
      if file.relativePath == FilePath("a.jpg") { unlink("\(path)/c.jpg") }
    }
    #expect(summary.assetsAdded == 2 && summary.skipped == ["vanished": 1] && summary.lostCount == 1)
    guard case .skipped(.vanished, let message)? = outcomes["c.jpg"] else { throw ImportError(.unreadable, "c.jpg") }
    #expect(message.contains("c.jpg"))
    #expect(try ImportedLibrary.lines(summary).contains { $0["reason"] as? String == "vanished" })
  }

  @Test("a truncated photo is imported with the answer of exiftool", arguments: [1, 200])
  func cutOff(batch: Int) async throws {
    let rig = try ImportedLibrary()
    let folder = try TemporaryFolder()
    try folder.write("cut.jpg", TinyMedia.scanned("cut", isWhole: false))
    try folder.write("whole.jpg", TinyMedia.scanned("whole", isWhole: true))
    // A trailer behind a whole picture, as telephones write it.
    try folder.write("trailed.jpg", TinyMedia.scanned("trailed", isWhole: true) + Data("trailer".utf8))
    var options = LibraryImport.Options()
    options.batchFileCount = batch
    let (summary, outcomes) = try await rig.run([folder.asRoot], options)
    #expect(summary.assetsAdded == 3 && summary.warned == 1)
    #expect(summary.warnings.map(\.message) == ["JPEG format error"] && summary.lostCount == 0)
    #expect(summary.warnings.first?.path.hasSuffix("/cut.jpg") == true)
    guard case .asset? = outcomes["cut.jpg"] else { throw ImportError(.unreadable, "cut.jpg") }
    let lines = try ImportedLibrary.lines(summary)
    let warned = lines.filter { $0["warnings"] != nil && $0["summary"] == nil }
    #expect(warned.count == 1 && warned[0]["warnings"] as? [String] == ["JPEG format error"])
    #expect((lines.last?["summary"] as? [String: Any])?["warned"] as? Int == 1)
  }

  /// A TIFF of 64 × 48 grey pixels in one strip behind the directory, as cameras write it.
  static func strip() -> Data {
    func number(_ value: some FixedWidthInteger) -> Data { withUnsafeBytes(of: value.littleEndian) { Data($0) } }
    let fields: [(tag: UInt16, value: UInt32)] = [
      (256, 64), (257, 48), (258, 8), (259, 1), (262, 1), (273, 122), (277, 1), (278, 48), (279, 64 * 48),
    ]
    var data = Data("II*\0".utf8) + number(UInt32(8)) + number(UInt16(fields.count))
    for field in fields {
      for part in [number(field.tag), number(UInt16(4)), number(UInt32(1)), number(field.value)] { data += part }
    }
    return data + number(UInt32(0)) + Data(count: 64 * 48)
  }

  @Test("a TIFF with truncated pixels is imported with a warning", arguments: [1, 1500])
  func cutOffStrip(missing: Int) async throws {
    let rig = try ImportedLibrary()
    let folder = try TemporaryFolder()
    try folder.write("cut.tif", Self.strip().dropLast(missing))
    try folder.write("whole.tif", Self.strip())
    let (summary, _) = try await rig.run([folder.asRoot])
    #expect(summary.assetsAdded == 2 && summary.warned == 1 && summary.lostCount == 0)
    let kept = try #require(summary.warnings.first)
    #expect(kept.path.hasSuffix("/cut.tif") && kept.message.hasPrefix("The file is cut off"), "\(kept)")
  }

  @Test(
    "a truncated sample is imported with its bytes, and its defect is recorded",
    .enabled(if: Corpus.isPresent),
    arguments: [
      // In the picture, behind all that describes it.
      ("corrupt/derived/truncated-4k.heic", 4096, "Truncated 'mdat' data"),
      // In the media data, in the movie header behind them, and between the two.
      ("video/with-gps.mov", 200_000, "Truncated 'mdat' data"),
      ("video/with-gps.mov", 436_000, "Truncated 'moov' data"),
      ("video/with-gps.mov", 433_807, "No movie header (moov)"),
      // In the pixels, and before the end mark.
      ("png-screenshot/png.png", 3500, "Truncated PNG image"), ("png-screenshot/png.png", 7008, "Truncated PNG image"),
      ("raw/sample.nef", 76_800, "The file is cut off: SubIFD:StripOffsets"),
    ])
  func cutOffSample(path: String, count: Int, warning: String) async throws {
    let sample = try Data(contentsOf: try #require(Corpus.folder).appending(path: path))
    let rig = try ImportedLibrary()
    let folder = try TemporaryFolder()
    let ending = URL(filePath: path).pathExtension
    let cut = "cut.\(ending)"
    try folder.write(cut, sample.prefix(count))
    // Some of the samples are cut off already.
    if count < sample.count { try folder.write("whole.\(ending)", sample) }
    let (summary, outcomes) = try await rig.run([folder.asRoot])
    #expect(summary.assetsAdded == (count < sample.count ? 2 : 1) && summary.lostCount == 0)
    #expect(summary.warned == 1 && summary.warnings.count == 1, "\(summary.warnings)")
    let kept = try #require(summary.warnings.first)
    #expect(kept.path.hasSuffix("/\(cut)") && kept.message.hasPrefix(warning), "\(kept)")
    let lines = try ImportedLibrary.lines(summary).filter { $0["warnings"] != nil && $0["summary"] == nil }
    #expect(lines.count == 1 && lines[0]["warnings"] as? [String] == [kept.message])
    guard case .asset? = outcomes[cut] else { throw ImportError(.unreadable, cut) }
    let asset = try #require(try rig.library.assets(withContent: Array(sample.prefix(count)).sha256).first)
    #expect(try rig.library.resources(of: asset).map { Int($0.dataSize) } == [count])
  }

  @Test("a folder that does not exist is an error that names it, and leaves no trace")
  func noFolder() async throws {
    let rig = try ImportedLibrary()
    let token = try rig.library.currentToken
    let error = await #expect(throws: ImportError.self) { try await rig.run([FilePath("/no/such/folder")]) }
    #expect(error?.code == .notFound && error?.description.contains("/no/such/folder") == true)
    #expect(try rig.library.currentToken == token)
    let imports = try FileManager.default.contentsOfDirectory(atPath: rig.library.url.path + "/imports")
    #expect(imports == ["lock"])
  }

  @Test("a second import at the same time is rejected; the first continues")
  func twoImports() async throws {
    let rig = try ImportedLibrary()
    let folder = try TemporaryFolder()
    try folder.write("a.jpg", Self.still())
    _ = try await rig.run([folder.asRoot])
    let lock = open(rig.library.url.path + "/imports/lock", O_RDWR | O_CLOEXEC)
    #expect(flock(lock, LOCK_EX | LOCK_NB) == 0, "An import that has ended holds nothing.")
    let error = await #expect(throws: ImportError.self) { try await rig.run([folder.asRoot]) }
    #expect(error?.code == .importRunning)
    // A process that another test has just begun to start has a copy of the descriptor: closing alone is not enough.
    #expect(flock(lock, LOCK_UN) == 0)
    close(lock)
    #expect(try await rig.run([folder.asRoot]).summary.duplicates == 1)
  }

  @Test("what a person purged is imported again by a later import, under a new commit")
  func purged() async throws {
    let rig = try ImportedLibrary()
    let folder = try TemporaryFolder()
    try folder.write("a.jpg", Self.still("a"))
    try folder.write("b.jpg", Self.still("b"))
    _ = try await rig.run([folder.asRoot])
    let before = try rig.content()
    let ids = try rig.assets().map(\.id)
    try await rig.library.performChanges { $0.deleteAssets(ids) }
    #expect(try await rig.run([folder.asRoot]).summary.duplicates == 2, "What is in the trash is known.")
    #expect(try rig.storedFiles().count == 2)
    try await rig.library.performChanges { $0.purgeAssets(ids) }
    // The writer removes files before it takes the next block.
    try await rig.library.performChanges { $0.createAlbum(title: "after") }
    #expect(try rig.storedFiles().isEmpty)
    let again = try await rig.run([folder.asRoot])
    #expect(again.summary.assetsAdded == 2)
    #expect(try rig.content() == before && Set(rig.assets().map(\.id)).isDisjoint(with: ids))
    #expect(try rig.verify().missingResources.isEmpty)
  }

  @Test(
    "duplicates whose assets are in the trash are counted and marked, whether their times are known or not",
    arguments: [0.0, 60.0])
  func duplicatesInTrash(seconds: Double) async throws {
    let rig = try ImportedLibrary()
    let folder = try TemporaryFolder()
    let path = try folder.write("a.jpg", Self.still("a"))
    try folder.write("b.jpg", Self.still("b"))
    var options = LibraryImport.Options()
    // What changed less than three seconds before it is read is not known by its times.
    options.now = { Date(timeIntervalSinceNow: seconds) }
    let first = try await rig.run([folder.asRoot], options)
    #expect(first.summary.duplicatesInTrash == 0)
    let ids = try rig.assets().map(\.id)
    try await rig.library.performChanges { $0.deleteAssets(ids) }
    let (summary, _) = try await rig.run([folder.asRoot], options)
    #expect(summary.duplicates == 2 && summary.duplicatesInTrash == 2 && summary.commits == 0)
    let lines = try ImportedLibrary.lines(summary)
    #expect(lines.count { $0["inTrash"] as? Bool == true } == 2)
    #expect((lines.last?["summary"] as? [String: Any])?["duplicatesInTrash"] as? Int == 2)
    // An asset outside the trash has the content of one of them, too.
    let content = try FileContent(of: path).sha256
    let trashed = try #require(try rig.library.assets(withContent: content).first)
    let resource = try #require(try rig.library.resources(of: trashed).first)
    try await rig.library.performChanges { block in
      block.createAsset(AssetCreation(mediaType: .image, resources: [.staged(resource)]))
    }
    let live = try #require(try rig.assets().first)
    let (later, outcomes) = try await rig.run([folder.asRoot], options)
    #expect(later.duplicates == 2 && later.duplicatesInTrash == 1)
    #expect(outcomes["a.jpg"] == .duplicateOfAsset(live.id))
  }

  /// Removes the library's file of a content, or cuts it off.
  private static func lose(_ data: Data, in rig: ImportedLibrary, isCut: Bool = false) {
    let path = rig.library.store.resources.path(ofContent: Array(data).sha256)
    if isCut {
      #expect(chmod(path, 0o644) == 0 && truncate(path, 3) == 0)
    } else {
      #expect(unlink(path) == 0)
    }
  }

  enum Loss: String, CaseIterable { case removed, cut, removedAndNotKnown }

  @Test("an import restores a file that the library has lost, without a commit", arguments: Loss.allCases)
  func lostFile(loss: Loss) async throws {
    let rig = try ImportedLibrary()
    let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
    let lost = Self.still("lost")
    for (name, data) in [("a", lost), ("b", lost), ("c", Self.still("kept"))] { try folder.write("\(name).jpg", data) }
    try other.write("d.jpg", Self.still("referenced"))
    var options = LibraryImport.Options()
    // What changed less than three seconds before it is read is not known by its times.
    options.now = { Date(timeIntervalSinceNow: 60) }
    _ = try await rig.run([folder.asRoot], options)
    options.leavesFilesInPlace = true
    _ = try await rig.run([other.asRoot], options)
    let (before, token) = (try rig.content(), try rig.library.currentToken)
    Self.lose(lost, in: rig, isCut: loss == .cut)
    if loss == .removedAndNotKnown { #expect(unlink(rig.library.url.path + "/imports/known-files") == 0) }
    let known = KnownFiles(in: rig.library.store.folder)
    known.refresh()
    let place = URL(filePath: folder.path).resolvingSymlinksInPath().path + "/a.jpg"
    #expect((known[FilePath(place)]?.state != nil) == (loss != .removedAndNotKnown))
    let roots = [folder.asRoot, other.asRoot]
    var dry = LibraryImport.Options()
    dry.isDryRun = true
    let told = try await rig.run(roots, dry).summary
    #expect(told.restored == 1 && told.duplicates == 4)
    #expect(try rig.storedFiles().count == (loss == .cut ? 2 : 1), "A dry run stores nothing.")
    let (summary, _) = try await rig.run(roots)
    #expect(summary.duplicates == 4 && summary.restored == 1 && summary.skipped.isEmpty && summary.commits == 0)
    let found = try rig.verify()
    #expect(found.isSound && found.missingResources.isEmpty)
    #expect(try rig.content() == before && rig.library.currentToken == token)
    #expect(try rig.storedFiles().count == 2, "No copy is made of a file that the library refers to.")
    let lines = try ImportedLibrary.lines(summary)
    #expect(lines.filter { $0["outcome"] != nil && $0["restored"] as? Bool == true }.count == 1)
    #expect((lines.last?["summary"] as? [String: Any])?["restored"] as? Int == 1)
    #expect(try await rig.run(roots).summary.restored == 0)
  }

  @Test("a file that is added again on its own restores the library's lost copy")
  func lostUpload() async throws {
    let rig = try ImportedLibrary()
    let data = Self.still("uploaded")
    let path = rig.library.url.appending(path: "arrived")
    try data.write(to: path)
    let content = try FileContent(of: FilePath(path.path))
    let intake = MediaIntake()
    defer { intake.close() }
    let first = try await intake.take("arrived", content, named: "a.jpg", into: rig.library, key: "1", cause: "test")
    #expect(first.outcome == .created)
    Self.lose(data, in: rig)
    #expect(try rig.verify().missingResources.count == 1)
    let again = try await intake.take("arrived", content, named: "a.jpg", into: rig.library, key: "2", cause: "test")
    #expect(again.outcome == .duplicate && again.asset == first.asset)
    #expect(try rig.verify().missingResources.isEmpty)
  }

  @Test("values that no camera writes do not stop an import")
  func hostileValues() async throws {
    let rig = try ImportedLibrary()
    let folder = try TemporaryFolder()
    try folder.write("a.jpg", Self.still(identifier: String(repeating: "x", count: 5000)))
    try folder.write("b.mov", TinyMedia.movie(contentIdentifier: String(repeating: "é", count: 300)))
    let summary = try await rig.run([folder.asRoot]).summary
    #expect(summary.assetsAdded == 2)
    #expect(try rig.assets().allSatisfy { try rig.library.resources(of: $0).first?.contentIdentifier == nil })
  }
}

@Suite("Live Photos in a library")
struct LibraryLivePhotoTests {
  @Test(
    "the halves become one asset in any order", arguments: ImportTests.Arrival.allCases, [1, 200])
  func halves(arrival: ImportTests.Arrival, batch: Int) async throws {
    let rig = try ImportedLibrary()
    let folder = try TemporaryFolder()
    let still = try folder.write("m/IMG_1.JPG", ImportTests.still())
    let name = arrival == .movieInEarlierFolder ? "a/other.mov" : "m/IMG_1.MOV"
    let movie = try folder.write(
      name, TinyMedia.movie(contentIdentifier: ImportTests.identifier, created: 2_082_844_800 + 1_577_934_245))
    var options = LibraryImport.Options()
    options.batchFileCount = batch
    var favorite: LocalIdentifier?
    switch arrival {
    case .together, .movieInEarlierFolder: _ = try await rig.run([folder.asRoot], options)
    case .stillFirst, .movieFirst:
      _ = try await rig.run([arrival == .stillFirst ? still : movie], options)
      let half = try #require(try rig.assets().first)
      #expect(half.mediaType == (arrival == .stillFirst ? .image : .video))
      try await rig.library.performChanges { $0.setFavorite(true, for: [half.id]) }
      favorite = half.id
      _ = try await rig.run([arrival == .stillFirst ? movie : still], options)
    }
    let asset = try #require(try rig.assets().first)
    #expect(try rig.assets().count == 1)
    #expect(asset.mediaType == .image && asset.mediaSubtypes == .photoLive && asset.playbackStyle == .livePhoto)
    #expect(asset.pixelWidth == 8 && asset.pixelHeight == 6 && asset.duration == 0)
    #expect(Set(try rig.library.resources(of: asset).map(\.type)) == [.photo, .pairedVideo])
    #expect(favorite == nil || (asset.id == favorite && asset.isFavorite), "The half keeps its identity and marks.")
    let expected: TimeInterval = arrival == .movieFirst ? 1_577_934_245 : 1_612_325_106
    #expect(asset.creationDate == Date(timeIntervalSince1970: expected), "A date that is known stays.")
    #expect(try await rig.run([folder.asRoot], options).summary.commits == 0)
    #expect(try rig.verify().isSound)
  }

  @Test("a half in the trash is not completed; the new one is an asset of its own")
  func trashedHalf() async throws {
    let rig = try ImportedLibrary()
    let folder = try TemporaryFolder()
    let still = try folder.write("a.jpg", ImportTests.still())
    let movie = try folder.write("a.mov", TinyMedia.movie(contentIdentifier: ImportTests.identifier))
    _ = try await rig.run([still])
    let trashed = try rig.assets().map(\.id)
    try await rig.library.performChanges { $0.deleteAssets(trashed) }
    #expect(try await rig.run([movie]).summary.assetsAdded == 1)
    #expect(try rig.assets().map(\.mediaType) == [.video])
  }

  @Test("a half that is purged between the look-up and the commit costs no file", arguments: [true, false])
  func staleHalf(isStillPurged: Bool) async throws {
    let rig = try ImportedLibrary()
    let folder = try TemporaryFolder()
    try folder.write("a.jpg", ImportTests.still())
    let other = isStillPurged ? "b.mov" : "b.jpg"
    let data = isStillPurged ? TinyMedia.movie(contentIdentifier: ImportTests.identifier) : ImportTests.still("b")
    let path = try folder.write(other, data)
    let tags = try SharedTool.exiftool().tags(of: path)
    let stored = try rig.library.store.resources.store(fileAt: path)
    let metadata = try #require(MediaMetadata(tags))
    let gone = LocalIdentifier(UUID())
    let resource = ImportedResource(
      type: isStillPurged ? .pairedVideo : .photo, stored: stored, originalFilename: other, source: path,
      metadata: metadata)
    let change: ImportChange =
      isStillPurged
      ? .pairedVideo(ImportedAsset(primary: resource), adding: StatedFacts(), asset: gone)
      : .pairedStill(ImportedAsset(primary: resource), video: gone)
    let target = LibraryTarget(library: rig.library, cause: "test", run: "run")
    let recorded = try await target.record(ImportBatch(changes: [change]))
    #expect(recorded.map(\.change) == [change.standingAlone])
    #expect(try rig.assets().map(\.id) == recorded.map(\.asset))
    #expect(try rig.assets().map(\.mediaType) == [isStillPurged ? .video : .image])
    let again = try await target.record(ImportBatch(changes: [change]))
    #expect(again == recorded, "The same batch of the same run is recorded once.")
  }

  /// Adds members to a burst, of which one is hidden and one is in the trash.
  private static func addMembers(_ count: Int, ofBurst burst: String, to library: PhotoLibrary) async throws {
    try await library.performChanges { block in
      for seed in 0..<count {
        var creation = AssetCreation.invented(seed)
        (creation.burstIdentifier, creation.isHidden) = (burst, seed == 0)
        let member = block.createAsset(creation)
        if seed == 1 { block.deleteAssets([member]) }
      }
    }
  }

  @Test("a photo that would exceed its burst is imported outside it with a warning, the others of its commit within")
  func fullBurst() async throws {
    let rig = try ImportedLibrary()
    let folder = try TemporaryFolder()
    try await Self.addMembers(999, ofBurst: "full", to: rig.library)
    for (name, burst) in [("a.jpg", "full"), ("b.jpg", "full"), ("c.jpg", "other"), ("d.jpg", "other")] {
      var photo = TinyMedia.Photo(comment: name)
      photo.burst = burst
      try folder.write(name, TinyMedia.jpeg(photo))
    }
    var options = LibraryImport.Options()
    options.batchDuration = .seconds(3600)
    let (summary, outcomes) = try await rig.run([folder.asRoot], options)
    #expect(summary.assetsAdded == 4 && summary.commits == 1)
    let bursts = try ["a.jpg", "b.jpg", "c.jpg", "d.jpg"].map { name -> String? in
      guard case .asset(let made)? = outcomes[name] else { throw ImportError(.unreadable, name) }
      return try rig.library.asset(made.uuidString)?.burstIdentifier
    }
    #expect(bursts == ["full", nil, "other", "other"])
    let warned = summary.warnings.filter { $0.message.contains("burst") }
    #expect(warned.map { $0.path.hasSuffix("/b.jpg") } == [true], "\(summary.warnings)")
    let lines = try ImportedLibrary.lines(summary).filter { line in
      (line["warnings"] as? [String])?.contains { $0.contains("burst") } == true
    }
    #expect(lines.count == 1 && (lines[0]["path"] as? String)?.hasSuffix("/b.jpg") == true)
  }

  @Test("a photo of a full burst is imported outside it if an asset of its batch is gone", arguments: [true, false])
  func fullBurstOfStaleBatch(isHalfGone: Bool) async throws {
    let rig = try ImportedLibrary()
    let folder = try TemporaryFolder()
    let path = try folder.write("a.jpg", ImportTests.still())
    try await Self.addMembers(1000, ofBurst: "full", to: rig.library)
    var metadata = try #require(MediaMetadata(try SharedTool.exiftool().tags(of: path)))
    (metadata.burstIdentifier, metadata.isBurstPrimary) = ("full", true)
    let resource = ImportedResource(
      type: .photo, stored: try rig.library.store.resources.store(fileAt: path), originalFilename: "a.jpg",
      source: path, metadata: metadata)
    let (still, gone) = (ImportedAsset(primary: resource), LocalIdentifier(UUID()))
    // The block fails for the half at once, but for the member of a stack only behind the full burst.
    var batch = ImportBatch(changes: [isHalfGone ? .pairedStill(still, video: gone) : .asset(still)])
    if !isHalfGone {
      batch.stacks = [ImportedStack(rule: .editedCopy, top: .change(0), others: [.asset(gone)])]
    }
    let recorded = try await LibraryTarget(library: rig.library, cause: "test", run: "run").record(batch)
    let made = try #require(recorded.first)
    let asset = try #require(try rig.library.asset(made.asset.uuidString))
    #expect(asset.burstIdentifier == nil && !asset.representsBurst && made.stack == nil)
    #expect(made.warning(for: batch.changes[0]) != nil)
  }

  @Test("bytes that were purged between their storing and the commit are stored again")
  func staleBytes() async throws {
    let rig = try ImportedLibrary()
    let folder = try TemporaryFolder()
    let path = try folder.write("a.jpg", ImportTests.still())
    let files = rig.library.store.resources
    let metadata = try #require(MediaMetadata(try SharedTool.exiftool().tags(of: path)))
    let resource = ImportedResource(
      type: .photo, stored: try files.store(fileAt: path), originalFilename: "a.jpg", source: path, metadata: metadata)
    #expect(unlink(files.path(ofContent: resource.stored.sha256)) == 0)
    let target = LibraryTarget(library: rig.library, cause: "test", run: "run")
    let recorded = try await target.record(
      ImportBatch(changes: [.asset(ImportedAsset(primary: resource))]))
    #expect(recorded.count == 1)
    #expect(try rig.verify().missingResources.isEmpty && rig.storedFiles().count == 1)
  }
}
