import Foundation
import LibraryMaintenance
import PhotoLedger
import Synchronization
import TestSupport
import Testing

@testable import MediaImport

/// Files as Apple's devices leave them when a photo or video is edited.
enum AppleFiles {
  static let listHead = """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0">
    """

  /// A property list, with what stands in its dictionary.
  static func list(_ members: String) -> Data { Data("\(listHead)<dict>\(members)</dict></plist>".utf8) }

  static func adjustmentData(_ text: String, format: String = "com.apple.photo", version: String = "1.10") -> Data {
    list(
      """
      <key>adjustmentBaseVersion</key><integer>0</integer>
      <key>adjustmentData</key><data>\(Data(text.utf8).base64EncodedString())</data>
      <key>adjustmentFormatIdentifier</key><string>\(format)</string>
      <key>adjustmentFormatVersion</key><string>\(version)</string>
      """)
  }

  static func photo(_ text: String, time: String = "2021:02:03 04:05:06", isRendered: Bool = false) -> Data {
    TinyMedia.jpeg(.init(width: isRendered ? 6 : 8, dateTimeOriginal: time, comment: text))
  }

  /// A file that is not adjustment data, whatever its name.
  static let hostile: [(name: String, data: Data)] = [
    ("text", Data("edits".utf8)), ("empty", Data()), ("list without a dictionary", Data("\(listHead)</plist>".utf8)),
    ("no format", list("<key>adjustmentData</key><data>AAEC</data>")),
    (
      "no data",
      list(
        "<key>adjustmentFormatIdentifier</key><string>a</string><key>adjustmentFormatVersion</key><string>1</string>")
    ),
    ("empty data", adjustmentData("")),
    ("a number as format", adjustmentData("x", format: "7")),
    ("a long format", adjustmentData("x", format: String(repeating: "a", count: 257))),
    (
      "lists",
      list(
        """
        <key>adjustmentData</key><string>abc</string><key>adjustmentFormatIdentifier</key><array><string>a</string>\
        <string>b</string></array><key>adjustmentFormatVersion</key><dict><key>x</key><string>1</string></dict>
        """)
    ),
    (
      "text as data",
      list(
        """
        <key>adjustmentData</key><string>abc</string><key>adjustmentFormatIdentifier</key><string>a</string>\
        <key>adjustmentFormatVersion</key><string>1</string>
        """)
    ),
    (
      "nested too deep",
      Data((listHead + String(repeating: "<array>", count: 20_000) + String(repeating: "</array>", count: 20_000)).utf8)
    ),
    ("too long", adjustmentData(String(repeating: "x", count: 4 << 20))),
    ("cut off", adjustmentData("x").prefix(200)),
  ]
}

// Folders are invented, written, imported in batches of every size, and the library is compared with what was invented.

@Suite("importing edits of Apple's Photos")
struct AppleEditTests {
  /// One original with what lies beside it.
  private struct Original {
    enum Kind: CaseIterable { case photo, live, video }
    enum Adjustment: Equatable { case absent, valid, shared, hostile(Int) }
    enum Rendition: CaseIterable { case absent, certain, otherTime, withoutMovie }

    var number: Int
    var kind: Kind
    var adjustment: Adjustment
    var rendition: Rendition
    var hasCopy: Bool
    var folder: String

    init(_ number: Int, _ random: inout SeededGenerator) {
      (self.number, folder) = (number, random.one(of: ["", "100APPLE/", "100APPLE/deep/"]))
      kind = random.one(of: Kind.allCases)
      rendition = random.one(of: kind == .live ? Rendition.allCases : [.absent, .certain, .certain, .otherTime])
      let hostile = random.int(0..<AppleFiles.hostile.count)
      adjustment = random.one(of: [.absent, .valid, .valid, .shared, .hostile(hostile)])
      hasCopy = kind == .photo && random.chance(1, of: 4)
    }

    var isKept: Bool { adjustment == .valid || adjustment == .shared }
    var isEdited: Bool { isKept && rendition == .certain }
    private var identifier: String { "0A0B0C0D-0000-4000-8000-\(100_000_000_000 + number)" }
    private var name: String { "\(folder)IMG_\(1000 + number)" }
    private var renditionName: String { "\(folder)IMG_E\(1000 + number)" }

    var primary: Data { still("original", "2021:02:03 04:05:06") }

    private func still(_ what: String, _ time: String) -> Data {
      let isRendered = what != "original"
      if kind == .video {
        let created = UInt32(number * 4 + (isRendered ? 1 : 0))
        let day = time.prefix(10).replacing(":", with: "-")
        return TinyMedia.movie(creationDate: "\(day)T04:05:06+01:00", created: created)
      }
      return TinyMedia.jpeg(
        .init(
          width: isRendered ? 6 : 8, dateTimeOriginal: time, contentIdentifier: kind == .live ? identifier : nil,
          comment: "\(what) \(number)"))
    }

    private func movie(_ part: Int) -> Data {
      TinyMedia.movie(contentIdentifier: identifier, created: UInt32(1_000_000 + number * 4 + part))
    }

    var data: Data? {
      switch adjustment {
      case .absent: nil
      case .valid: AppleFiles.adjustmentData("edit \(number)")
      // As one filter gives the same bytes for several photos.
      case .shared: AppleFiles.adjustmentData("a filter")
      case .hostile(let which): AppleFiles.hostile[which].data
      }
    }

    var files: [(path: String, data: Data)] {
      let ending = kind == .video ? "MOV" : "JPG"
      var files = [("\(name).\(ending)", primary)]
      if kind == .live { files.append(("\(name).MOV", movie(0))) }
      if let data { files.append(("\(name).AAE", data)) }
      if hasCopy { files.append(("\(name) copy.\(ending)", primary)) }
      if rendition == .absent { return files }
      let time = rendition == .otherTime ? "2022:02:03 04:05:06" : "2021:02:03 04:05:06"
      files.append(("\(renditionName).\(ending)", still("rendition", time)))
      if kind == .live, rendition != .withoutMovie { files.append(("\(renditionName).MOV", movie(1))) }
      return files
    }

    /// The types of the resources of the assets that there should be, the original's first.
    var assets: [[String]] {
      let photo = kind == .video ? "video" : "photo"
      let movie = kind == .live ? ["pairedVideo"] : []
      let data = isKept ? ["adjustmentData"] : []
      if isEdited {
        let still = ["fullSizePhoto"] + (movie.isEmpty ? [] : ["fullSizePairedVideo"])
        let edit = kind == .video ? ["fullSizeVideo"] : still
        return [([photo] + movie + edit + data).sorted()]
      }
      let original = ([photo] + movie + data).sorted()
      if rendition == .absent { return [original] }
      return [original, ([photo] + (rendition == .withoutMovie ? [] : movie)).sorted()]
    }
  }

  /// Sizes of batches with seeds; at the usual dose one seed each: 3 imports in place, and 4 reads sidecars.
  private static let courses: [(Int, UInt64)] =
    Dose.isFull
    ? [5, 6, 200].flatMap { batch in ([1, 2, 3, 4, 5, 6] as [UInt64]).map { (batch, $0) } }
    : [(5, 3), (6, 4), (200, 3)]

  @Test(
    "originals, renditions and adjustment data are recognised, in batches of any size, and once", arguments: courses)
  func model(batch: Int, seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let originals = (0..<14).map { Original($0, &random) }
    let folder = try TemporaryFolder()
    let files = originals.flatMap(\.files)
    for file in files { try folder.write(file.path, file.data) }
    let rig = try ImportedLibrary()
    var options = LibraryImport.Options()
    options.batchFileCount = batch
    options.leavesFilesInPlace = seed % 3 == 0
    options.readsSidecars = seed % 2 == 0
    options.makesFolderAlbums = true
    let (summary, outcomes) = try await rig.run([folder.asRoot], options)
    #expect(summary.outcomeCount == files.count && outcomes.count == files.count)
    for original in originals {
      let what: Comment = "seed \(seed): \(original)"
      let asset = try #require(try TakeoutImportTests.asset(original.primary, rig.library), what)
      let resources = try rig.library.resources(of: asset)
      #expect(resources.map(\.type.name).sorted() == original.assets[0], what)
      #expect(asset.hasAdjustments == original.isEdited, what)
      let words = try rig.library.extendedMetadata(of: asset)
      #expect(words.adjustmentFormatIdentifier == (original.isEdited ? "com.apple.photo" : nil), what)
      #expect(words.adjustmentFormatVersion == (original.isEdited ? "1.10" : nil), what)
      if original.kind != .video { #expect(asset.pixelWidth == (original.isEdited ? 6 : 8), what) }
      if let data = resources.first(where: { $0.type == .adjustmentData }) {
        #expect(try Data(contentsOf: rig.library.url(of: data)) == original.data, what)
        #expect(data.originalFilename == "IMG_\(1000 + original.number).AAE", what)
      }
      for file in original.files where file.path.hasSuffix(".AAE") {
        #expect(outcomes[file.path] == (original.isKept ? .resource(asset.id, .adjustmentData) : .sidecar), what)
      }
    }
    #expect(try rig.assets().count == originals.flatMap(\.assets).count, "seed \(seed)")
    let verified = try rig.verify()
    #expect(verified.isSound && verified.missingResources.isEmpty)
    let token = try rig.library.currentToken
    let (again, later) = try await rig.run([folder.asRoot], options)
    #expect(try rig.library.currentToken == token && again.commits == 0, "A second import changes nothing.")
    let kept = originals.filter(\.isKept).count
    let known = later.filter { path, outcome in
      if case .duplicateOfAsset = outcome { path.hasSuffix(".AAE") } else { false }
    }
    #expect(known.count == kept, "seed \(seed)")
    // The order in the album of a folder is that of the names.
    for album in try rig.library.fetchCollections(with: .album) {
      let names = try rig.members(of: album).map { id in
        let asset = try #require(try rig.library.asset(id.uuidString))
        return try rig.library.resources(of: asset)[0].originalFilename
      }
      #expect(names == names.sorted(), "seed \(seed)")
    }
    var selection = UndoSelection()
    selection.cause = "import \(summary.run)"
    try rig.library.undoAndWait(selection)
    #expect(try rig.assets().isEmpty)
  }

  @Test("a file that only looks like adjustment data stays a sidecar")
  func hostile() async throws {
    let folder = try TemporaryFolder()
    for (name, data) in AppleFiles.hostile {
      try folder.write("\(name)/IMG_1000.JPG", AppleFiles.photo("\(name), original"))
      try folder.write("\(name)/IMG_E1000.JPG", AppleFiles.photo("\(name), edited", isRendered: true))
      try folder.write("\(name)/IMG_1000.AAE", data)
    }
    let rig = try ImportedLibrary()
    let (summary, outcomes) = try await rig.run([folder.asRoot])
    for (name, _) in AppleFiles.hostile {
      #expect(outcomes["\(name)/IMG_1000.AAE"] == .sidecar, "\(name)")
      for photo in ["IMG_1000.JPG", "IMG_E1000.JPG"] {
        guard case .asset = outcomes["\(name)/\(photo)"] else {
          Issue.record("\(name): \(photo) was not added.")
          continue
        }
      }
    }
    let count = AppleFiles.hostile.count
    #expect(summary.assetsAdded == 2 * count && summary.resourcesAdded == 0)
    let refused = summary.rules.filter { $0.rule.hasPrefix("adjustment data that cannot be kept") }
    #expect(refused.reduce(0) { $0 + $1.count } == count, "\(summary.rules)")
  }

  @Test("uncertain matches are not joined")
  func uncertain() async throws {
    let edit = AppleFiles.adjustmentData("edit")
    let (original, rendition) = (AppleFiles.photo("a"), AppleFiles.photo("b", isRendered: true))
    let cases: [(name: String, files: [String: Data], isKept: Bool)] = [
      ("another folder", ["x/IMG_1000.JPG": original, "x/IMG_1000.AAE": edit, "y/IMG_E1000.JPG": rendition], true),
      ("another number", ["IMG_1000.JPG": original, "IMG_1000.AAE": edit, "IMG_E1001.JPG": rendition], true),
      ("three digits", ["IMG_100.JPG": original, "IMG_100.AAE": edit, "IMG_E100.JPG": rendition], true),
      (
        "two originals",
        [
          "IMG_1000.JPG": original, "IMG_1000.PNG": AppleFiles.photo("c"), "IMG_1000.AAE": edit,
          "IMG_E1000.JPG": rendition,
        ], false
      ),
      (
        "two renditions",
        [
          "IMG_1000.JPG": original, "IMG_1000.AAE": edit, "IMG_E1000.JPG": rendition,
          "IMG_E1000.PNG": AppleFiles.photo("c", isRendered: true),
        ], true
      ),
      (
        "another camera",
        ["IMG_1000.JPG": original, "IMG_1000.AAE": edit, "IMG_E1000.JPG": TinyMedia.jpeg(.init(model: "Other"))], true
      ),
      (
        "another medium",
        [
          "IMG_1000.JPG": original, "IMG_1000.AAE": edit,
          "IMG_E1000.MOV": TinyMedia.movie(creationDate: "2021-02-03T04:05:06+01:00"),
        ], true
      ),
      ("no adjustment data", ["IMG_1000.JPG": original, "IMG_E1000.JPG": rendition], false),
      (
        "two files of adjustment data",
        [
          "IMG_1000.JPG": original, "IMG_1000.AAE": edit, "IMG_1000.aae": AppleFiles.adjustmentData("other"),
          "IMG_E1000.JPG": rendition,
        ], false
      ),
    ]
    for (name, files, isKept) in cases {
      let folder = try TemporaryFolder()
      for (path, data) in files { try folder.write(path, data) }
      let rig = try ImportedLibrary()
      let (summary, _) = try await rig.run([folder.asRoot])
      let media = files.keys.filter { !$0.lowercased().hasSuffix("aae") }
      #expect(summary.assetsAdded == media.count, "\(name)")
      #expect(try rig.assets().allSatisfy { !$0.hasAdjustments }, "\(name)")
      #expect(summary.resourcesAdded == (isKept ? 1 : 0), "\(name)")
    }
  }

  @Test("a RAW file beside its JPEG stays its alternate original when the pair is edited")
  func rawPair() async throws {
    let folder = try TemporaryFolder()
    let raw = TinyMedia.tiff(.init(make: "NIKON CORPORATION", model: "Test Camera", comment: "raw"), isWithSize: true)
    func jpeg(_ text: String) -> Data { TinyMedia.jpeg(.init(make: "NIKON CORPORATION", comment: text)) }
    try folder.write("IMG_1000.NEF", raw)
    try folder.write("IMG_1000.JPG", jpeg("a"))
    try folder.write("IMG_1000.AAE", AppleFiles.adjustmentData("edit"))
    try folder.write("IMG_E1000.JPG", jpeg("b"))
    let rig = try ImportedLibrary()
    _ = try await rig.run([folder.asRoot])
    let assets = try rig.assets()
    #expect(assets.count == 1)
    let types = try rig.library.resources(of: try #require(assets.first)).map(\.type.name)
    #expect(types.sorted() == ["adjustmentData", "alternatePhoto", "fullSizePhoto", "photo"])
  }

  @Test("adjustment data whose bytes are kept follows its original; other data stays")
  func moved() async throws {
    let folder = try TemporaryFolder()
    func write(_ place: String, _ number: Int, _ data: Data, rendition: Bool) throws {
      try folder.write("\(place)/IMG_\(number).JPG", AppleFiles.photo("original \(number)"))
      let edited = AppleFiles.photo("edit \(number)", isRendered: true)
      if rendition { try folder.write("\(place)/IMG_E\(number).JPG", edited) }
      try folder.write("\(place)/IMG_\(number).AAE", data)
    }
    let filter = AppleFiles.adjustmentData("a filter")
    // Known before, without its adjustment data; another photo has equal ones now.
    try folder.write("before/IMG_1003.JPG", AppleFiles.photo("original 1003"))
    let rig = try ImportedLibrary()
    _ = try await rig.run([FilePath("\(folder.path)/before")])
    try write("a", 1000, filter, rendition: true)
    try write("a", 1001, filter, rendition: false)
    try write("a", 1002, Data("edits".utf8), rendition: true)
    try write("a", 1003, filter, rendition: false)
    try write("b", 1000, filter, rendition: true)
    try write("b", 1001, AppleFiles.adjustmentData("other"), rendition: false)
    var options = LibraryImport.Options()
    options.removesOriginals = true
    let (summary, outcomes) = try await rig.run([FilePath("\(folder.path)/a"), FilePath("\(folder.path)/b")], options)
    let left = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.contains("IMG_") }.sorted()
    #expect(left == ["a/IMG_1002.AAE", "a/IMG_1003.AAE", "b/IMG_1001.AAE", "before/IMG_1003.JPG"])
    #expect(summary.moved?.kept == ["sidecar": 3], "\(String(describing: summary.moved)) \(outcomes)")
    // An interrupted or repeated import finds them in the library.
    try write("a", 1000, filter, rendition: true)
    _ = try await rig.run([FilePath("\(folder.path)/a")], options)
    let rest = try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/a").sorted()
    #expect(rest == ["IMG_1002.AAE", "IMG_1003.AAE"])
  }

  @Test(
    "an import that is stopped while it reads adjustment data records nothing of its original",
    .timeLimit(.minutes(30)))
  func stopped() async throws {
    let folder = try TemporaryFolder()
    for name in ["a", "IMG_1000"] { try folder.write("\(name).jpg", ImportTests.still(name, identifier: nil)) }
    try folder.write("IMG_1000.AAE", AppleFiles.adjustmentData("edit"))
    let rig = try Rig()
    let summary = try await rig.stopped([folder.asRoot], whereToolHangsOn: "*.AAE*").summary
    #expect(summary.wasInterrupted && summary.notReached == 3 && summary.assetsAdded == 0)
    #expect(await rig.target.assets.isEmpty)
    // With a tool that does not hang, all of it is there.
    var rest = try Rig()
    rest.target = rig.target
    #expect(try await rest.run([folder.asRoot]).summary.resourcesAdded == 1)
  }

  @Test("an import that is stopped after reading settles the adjustment data of known photos, and every file")
  func stoppedBeforeSettling() async throws {
    let folder = try TemporaryFolder()
    for place in ["first", "second"] {
      try folder.write("\(place)/IMG_1000.JPG", AppleFiles.photo("original"))
      try folder.write("\(place)/IMG_1000.AAE", AppleFiles.adjustmentData("edit"))
    }
    let rig = try ImportedLibrary()
    _ = try await rig.run([FilePath("\(folder.path)/first")])
    // It is done last: its metadata are read, when the others are settled or known.
    try folder.write("second/a.jpg", AppleFiles.photo("new"))
    let running = Mutex<Task<ImportSummary, any Error>?>(nil)
    let cancelAfterLast: @Sendable (ImportProgress) -> Void = { progress in
      if progress.filesDone == 3 { running.withLock { $0?.cancel() } }
    }
    let outcomes = Mutex<[String: FileOutcome]>([:])
    let note: @Sendable (FileReport) -> Void = { file in
      outcomes.withLock { $0[file.path.name] = file.outcome }
    }
    let importer = try LibraryImport(into: rig.library, options: LibraryImport.Options().sharingTool())
    let second = FilePath("\(folder.path)/second")
    let task = running.withLock { slot in
      let task = Task { () throws -> ImportSummary in
        try await importer.run([second], progress: cancelAfterLast, report: note)
      }
      slot = task
      return task
    }
    let summary = try await task.value
    let known = try #require(try TakeoutImportTests.asset(AppleFiles.photo("original"), rig.library))
    let added = try #require(try TakeoutImportTests.asset(AppleFiles.photo("new"), rig.library))
    let expected: [String: FileOutcome] = [
      "IMG_1000.JPG": .duplicateOfAsset(known.id), "IMG_1000.AAE": .duplicateOfAsset(known.id),
      "a.jpg": .asset(added.id),
    ]
    let reported = outcomes.withLock { $0 }
    #expect(reported == expected)
    #expect(summary.assetsAdded == 1 && summary.duplicates == 2 && summary.outcomeCount == 3)
    #expect(try ImportedLibrary.lines(summary).last?["summary"] != nil)
  }

  @Test(
    "an export of iCloud Photos supports them too, in folders and archives",
    .enabled(if: TakeoutImportTests.canUnpack, "bsdtar of libarchive-tools is not installed."),
    arguments: [false, true])
  func iCloud(isZipped: Bool) async throws {
    let folder = try TemporaryFolder()
    let root = "part/iCloud Photos Part 1 of 1/Photos"
    try folder.write("\(root)/IMG_1000.JPG", ImportTests.still("a"))
    try folder.write("\(root)/IMG_1000.MOV", TinyMedia.movie(contentIdentifier: ImportTests.identifier))
    try folder.write("\(root)/IMG_E1000.JPG", ImportTests.still("b"))
    try folder.write("\(root)/IMG_E1000.MOV", TinyMedia.movie(contentIdentifier: ImportTests.identifier, created: 7))
    try folder.write("\(root)/IMG_1000.AAE", AppleFiles.adjustmentData("edit"))
    try folder.write("\(root)/IMG_1001.JPG", AppleFiles.photo("c"))
    try folder.write("\(root)/IMG_1001.AAE", Data("edits".utf8))
    let list = "imgName,fileChecksum,favorite,hidden,deleted,originalCreationDate\nIMG_1000.JPG,x,yes,no,no,\n"
    try folder.write("\(root)/Photo Details.csv", Data(list.utf8))
    var part = FilePath("\(folder.path)/part")
    if isZipped {
      part = FilePath("\(folder.path)/iCloud Photos Part 1 of 1.zip")
      try TakeoutImportTests.run(
        ["bsdtar", "--format=zip", "-cf", part.description, "-C", "\(folder.path)/part", "."])
    }
    let rig = try ImportedLibrary()
    let (summary, outcomes) = try await rig.run([part], of: .iCloud)
    #expect(summary.assetsAdded == 2 && summary.resourcesAdded == 4 && summary.outcomeCount == 8, "\(outcomes)")
    let asset = try #require(try TakeoutImportTests.asset(ImportTests.still("a"), rig.library))
    #expect(asset.isFavorite && asset.hasAdjustments)
    let data = try rig.library.resources(of: asset).first { $0.type == .adjustmentData }
    #expect(try Data(contentsOf: rig.library.url(of: #require(data))) == AppleFiles.adjustmentData("edit"))
    #expect(try rig.leftovers().isEmpty && rig.verify().isSound)
    let token = try rig.library.currentToken
    _ = try await rig.run([part], of: .iCloud)
    #expect(try rig.library.currentToken == token)
    let stored = try rig.storedFiles()
    for name in stored { #expect(unlink("\(rig.library.url.path)/resources/\(name)") == 0) }
    let again = try await rig.run([part], of: .iCloud).summary
    #expect(try rig.storedFiles() == stored && again.restored == stored.count, "What is lost is restored.")
    #expect(try rig.leftovers().isEmpty && rig.library.currentToken == token)
  }

  @Test("the edited photo of the sample photos is one asset, which shows the edit", .enabled(if: Corpus.isPresent))
  func real() async throws {
    let source = try #require(Corpus.folder).appending(path: "edits-agpl").resolvingSymlinksInPath().path
    let rig = try ImportedLibrary()
    var options = LibraryImport.Options()
    options.leavesFilesInPlace = true
    let (summary, outcomes) = try await rig.run([FilePath(source)], options)
    guard case .asset(let id)? = outcomes["IMG_4120.JPG"] else { throw ImportError(.unreadable, "\(outcomes)") }
    #expect(outcomes["IMG_E4120.JPG"] == .resource(id, .fullSizePhoto))
    #expect(outcomes["IMG_4120.AAE"] == .resource(id, .adjustmentData))
    #expect(outcomes["IMG_4120 copy.JPG"] == .duplicateOfFile(FilePath("\(source)/IMG_4120.JPG")))
    #expect(summary.assetsAdded == 3 && summary.resourcesAdded == 2 && summary.duplicates == 1 && summary.sidecars == 2)
    let asset = try #require(try rig.library.asset(id.uuidString))
    #expect(asset.hasAdjustments && asset.pixelWidth == 500 && asset.pixelHeight == 500)
    let words = try rig.library.extendedMetadata(of: asset)
    #expect(words.adjustmentFormatIdentifier == "com.apple.photo" && words.adjustmentFormatVersion == "1.4")
    try await rig.library.performChanges { $0.revertContent(of: id) }
    let reverted = try #require(try rig.library.asset(id.uuidString))
    #expect(!reverted.hasAdjustments && reverted.pixelHeight == 375)
  }
}
