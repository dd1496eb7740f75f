import Foundation
import LibraryMaintenance
import PhotoLedger
import Synchronization
import TestSupport
import Testing

@testable import MediaImport

/// Photos as cameras and programs leave them side by side.
enum ShotFiles {
  static func photo(
    _ comment: String, second: Int = 6, fraction: String? = "25", number: Int? = nil, release: Int = 2
  ) -> TinyMedia.Photo {
    var photo = TinyMedia.Photo(
      make: "SONY", model: "ILCE-7M3", dateTimeOriginal: "2021:02:03 04:05:0\(second)", subSeconds: fraction,
      comment: comment)
    if let number { photo.release = [UInt16(release), UInt16(number)] }
    return photo
  }

  /// A photo of a series with ten photos a second.
  static func shot(_ number: Int, _ comment: String = "") -> TinyMedia.Photo {
    photo("shot \(number) \(comment)", second: 2 + number / 10, fraction: "\(number % 10)", number: number)
  }

  static let pair: [String: Data] = [
    "a/IMG_1.HEIC": TinyMedia.heic(photo("heic")), "a/IMG_1.JPG": TinyMedia.jpeg(photo("jpeg")),
  ]

  static var series: [String: Data] {
    [String: Data](
      uniqueKeysWithValues: (1...7).map { ("b/DSC_000\($0).JPG", TinyMedia.jpeg(shot($0))) })
  }

  static let copy: [String: Data] = [
    "c/IMG_2.JPG": TinyMedia.jpeg(photo("original")), "c/IMG_2_edited.jpeg": TinyMedia.jpeg(photo("edited")),
  ]
}

// Folders are invented and imported, and the stacks of the library are compared with what was invented: as the names of
// their files, the top first.

@Suite("stacks of imports")
struct StackImportTests {
  /// The stacks of a library.
  static func stacks(_ library: PhotoLibrary) throws -> [[String]] {
    var options = FetchOptions()
    (options.includeHiddenAssets, options.includeAllStackAssets) = (true, true)
    var stacks: [LocalIdentifier: [Asset]] = [:]
    for asset in try library.fetchAssets(options) {
      if let stack = asset.stack { stacks[stack, default: []].append(asset) }
    }
    return try stacks.map { top, assets in
      try [assets.filter { $0.id == top }, assets.filter { $0.id != top }].flatMap { part in
        try part.map { try library.resources(of: $0)[0].originalFilename }.sorted()
      }
    }.sorted { $0[0] < $1[0] }
  }

  private static func imported(
    _ files: [String: Data], _ options: LibraryImport.Options = LibraryImport.Options()
  ) async throws -> (rig: ImportedLibrary, summary: ImportSummary, folder: TemporaryFolder) {
    let folder = try TemporaryFolder()
    for (path, data) in files { try folder.write(path, data) }
    let rig = try ImportedLibrary()
    var options = options
    // What is in one batch does not depend on how fast the machine is.
    options.batchDuration = .seconds(600)
    let (summary, _) = try await rig.run([folder.asRoot], options)
    return (rig, summary, folder)
  }

  private static func stacks(_ files: [String: Data]) async throws -> [[String]] {
    try stacks(try await imported(files).rig.library)
  }

  static let all = ShotFiles.pair.merging(ShotFiles.series) { $1 }.merging(ShotFiles.copy) { $1 }
  static let expected = [
    (1...7).map { "DSC_000\($0).JPG" }, ["IMG_1.HEIC", "IMG_1.JPG"], ["IMG_2_edited.jpeg", "IMG_2.JPG"],
  ]

  /// Sizes of batches, with whether files stay in place; at the usual dose each size once.
  private static let courses: [(Int, Bool)] =
    Dose.isFull
    ? [1, 2, 3, 200].flatMap { batch in [false, true].map { (batch, $0) } }
    : [(1, false), (2, true), (3, false), (200, true)]

  @Test(
    "each rule makes its stack, in batches of any size, and undoing the import reverts all of it", arguments: courses)
  func rules(batch: Int, leavesFilesInPlace: Bool) async throws {
    var options = LibraryImport.Options()
    (options.batchFileCount, options.leavesFilesInPlace) = (batch, leavesFilesInPlace)
    let (rig, summary, folder) = try await Self.imported(Self.all, options)
    #expect(try Self.stacks(rig.library) == Self.expected)
    #expect(summary.stacks == 3 && summary.outcomeCount == Self.all.count)
    for rule in StackRule.allCases {
      let applied = try #require(summary.rules.first { $0.rule == rule.rawValue })
      #expect(applied.count == 1 && applied.examples.count == 1)
    }
    let lines = try ImportedLibrary.lines(summary)
    let tops = lines.filter { $0["stack"] as? String == "top" }.compactMap { $0["path"] as? String }
    #expect(tops.contains { $0.hasSuffix("a/IMG_1.HEIC") } && tops.contains { $0.hasSuffix("c/IMG_2_edited.jpeg") })
    #expect(lines.contains { $0["stack"] as? String == "beneath" })
    #expect(try Array(rig.library.fetchAssets()).count == 3, "Lists show the tops.")
    let token = try rig.library.currentToken
    let again = try await rig.run([folder.asRoot], options)
    #expect(try rig.library.currentToken == token && again.summary.stacks == 0, "A second import changes nothing.")
    var selection = UndoSelection()
    selection.cause = "import \(summary.run)"
    try rig.library.undoAndWait(selection)
    #expect(try rig.assets().isEmpty)
    let found = try rig.verify()
    #expect(found.isSound)
  }

  @Test("a dry run counts and names the stacks, and records nothing")
  func dryRun() async throws {
    var options = LibraryImport.Options()
    options.isDryRun = true
    let (rig, summary, _) = try await Self.imported(Self.all, options)
    #expect(summary.stacks == 3 && summary.isDryRun)
    let examples = summary.rules.filter { StackRule(rawValue: $0.rule) != nil }.flatMap(\.examples)
    #expect(examples.contains { $0.contains("a/IMG_1.HEIC over ") && $0.hasSuffix("a/IMG_1.JPG") }, "\(examples)")
    #expect(try rig.assets().isEmpty)
  }

  @Test("without the option no stack is made, nor for a client that does not see stacks")
  func off() async throws {
    var options = LibraryImport.Options()
    options.formsStacks = false
    let (rig, summary, folder) = try await Self.imported(Self.all, options)
    #expect(try Self.stacks(rig.library).isEmpty && summary.stacks == 0)
    let other = try ImportedLibrary()
    try await other.library.performChanges { block in
      var registration = ClientRegistration()
      registration.readWriteUsageDescription = "To import."
      block.register(client: "phone", registration)
      block.setAuthorizationStatus(.limited, of: "phone")
    }
    let importer = try LibraryImport(into: other.library.as("phone"), options: .init().sharingTool())
    let added = try await importer.run([folder.asRoot])
    #expect(added.assetsAdded == Self.all.count && added.stacks == 0)
    #expect(try Self.stacks(other.library).isEmpty)
  }

  // MARK: Codings

  @Test(
    "two encodings are not stacked if more files share their name than one shot leaves, as in numbered series",
    arguments: [64, 65, 2000])
  func manyOfOneName(count: Int) async throws {
    var files = ShotFiles.pair
    for number in 2..<count { files["a/IMG_1.\(10_000 + number)"] = Data() }
    let stacks = try await Self.stacks(files)
    #expect(stacks == (count > 64 ? [] : [["IMG_1.HEIC", "IMG_1.JPG"]]))
  }

  @Test("two encodings with a sidecar between them are a stack, in batches of any size", arguments: [2, 3, 200])
  func sidecarBetween(batch: Int) async throws {
    var (files, options) = (ShotFiles.pair, LibraryImport.Options())
    options.batchFileCount = batch
    for path in ShotFiles.pair.keys { files["\(path).xmp"] = Data("<x/>".utf8) }
    let rig = try await Self.imported(files, options).rig
    #expect(try Self.stacks(rig.library) == [["IMG_1.HEIC", "IMG_1.JPG"]])
  }

  @Test("an encoding and one of an earlier import with a sidecar between them are a stack")
  func sidecarBetweenImports() async throws {
    var files = ShotFiles.pair
    let later = try #require(files["a/IMG_1.JPG"])
    files["a/IMG_1.JPG"] = nil
    files["a/IMG_1.HEIC.xmp"] = Data("<x/>".utf8)
    let (rig, _, folder) = try await Self.imported(files)
    try folder.write("a/IMG_1.JPG", later)
    _ = try await rig.run([folder.asRoot])
    #expect(try Self.stacks(rig.library) == [["IMG_1.HEIC", "IMG_1.JPG"]])
  }

  @Test(
    "a new file of a watched folder is imported with those of its name and of its original, if these are at most 64",
    arguments: [64, 65, 2000])
  func neighbours(count: Int) {
    let scans = (1...count).map { "scan.\(10_000 + $0)" }
    let all = (scans + ["scan_edited.jpg"]).map { Array($0.utf8) }
    func beside(_ name: String) -> Set<String> {
      let names = StackPlanner.neighbours(of: [Array(name.utf8)], among: all)
      return Set(names.map { String(decoding: $0, as: UTF8.self) })
    }
    let last = scans[count - 1]
    #expect(beside(last) == (count > 64 ? [] : Set(scans.dropLast())))
    // The file before it comes in any case.
    #expect(beside("scan_edited.jpg") == (count > 64 ? [last] : Set(scans)))
  }

  @Test(
    "two encodings of a shot are a stack only with complete evidence",
    arguments: ["time", "fraction", "noTime", "model", "noMake", "size", "offset", "case"])
  func codings(what: String) async throws {
    var (one, two) = (ShotFiles.photo("one"), ShotFiles.photo("two"))
    switch what {
    case "time": two.dateTimeOriginal = "2021:02:03 04:05:07"
    case "fraction": two.subSeconds = "26"
    case "noTime": (one.dateTimeOriginal, two.dateTimeOriginal) = (nil, nil)
    case "model": two.model = "ILCE-7M4"
    case "noMake": (one.make, two.make) = ("", "")
    case "size": two.width = 7
    case "offset": (one.offset, two.offset) = ("+01:00", "+02:00")
    default: break
    }
    let name = what == "case" ? "img_1" : "IMG_1"
    let found = try await Self.stacks(["IMG_1.HEIC": TinyMedia.heic(one), "\(name).jpg": TinyMedia.jpeg(two)])
    #expect(found.isEmpty, "\(found)")
  }

  @Test("a rotated picture is compared upright, and a shot without fractional seconds lacks them in both encodings")
  func upright() async throws {
    var (one, two) = (ShotFiles.photo("one", fraction: nil), ShotFiles.photo("two", fraction: nil))
    (one.width, one.height) = (6, 8)
    two.orientation = 6
    let files = ["IMG_1.HEIC": TinyMedia.heic(one), "IMG_1.jpg": TinyMedia.jpeg(two)]
    #expect(try await Self.stacks(files) == [["IMG_1.HEIC", "IMG_1.jpg"]])
  }

  @Test("the encoding that cameras write is on top, and of two converted ones neither is")
  func tops() async throws {
    let tiff = TinyMedia.tiff(ShotFiles.photo("tiff"), isWithSize: true)
    let jpeg = TinyMedia.jpeg(ShotFiles.photo("jpeg"))
    #expect(try await Self.stacks(["A.tif": tiff, "A.JPG": jpeg]) == [["A.tif", "A.JPG"]])
    let heic = TinyMedia.heic(ShotFiles.photo("heic"))
    #expect(try await Self.stacks(["A.heic": heic, "A.tif": tiff]) == [["A.heic", "A.tif"]])
    #expect(try await Self.stacks(["A.jpeg": TinyMedia.jpeg(ShotFiles.photo("other")), "A.jpg": jpeg]).isEmpty)
  }

  @Test("three pictures of a name, a RAW file, an edit or another folder make no stack")
  func furtherPictures() async throws {
    let tiff = TinyMedia.tiff(ShotFiles.photo("tiff"), isWithSize: true)
    #expect(try await Self.stacks(ShotFiles.pair.merging(["a/IMG_1.tif": tiff]) { $1 }).isEmpty)
    var raw = ShotFiles.photo("raw")
    raw.make = "NIKON CORPORATION"
    var jpeg = raw
    jpeg.comment = "jpeg"
    let pair = ["a/X.NEF": TinyMedia.tiff(raw, isWithSize: true), "a/X.JPG": TinyMedia.jpeg(jpeg)]
    #expect(try await Self.stacks(pair).isEmpty, "RAW and JPEG are one asset.")
    #expect(try await Self.stacks(pair.merging(["a/X.HEIC": TinyMedia.heic(raw)]) { $1 }).isEmpty)
    let edit = ShotFiles.pair.merging(["a/IMG_1.AAE": AppleFiles.adjustmentData("x")]) { $1 }
    #expect(try await Self.stacks(edit).isEmpty)
    let apart = ["a/IMG_1.HEIC": ShotFiles.pair["a/IMG_1.HEIC"], "b/IMG_1.JPG": ShotFiles.pair["a/IMG_1.JPG"]]
    #expect(try await Self.stacks(apart.compactMapValues { $0 }).isEmpty)
  }

  @Test(
    "a Live Photo is on top of its JPEG; where the JPEG has the movie, there is no stack", arguments: [true, false])
  func live(isTopLive: Bool) async throws {
    let identifier = ImportTests.identifier
    var (one, two) = (ShotFiles.photo("heic"), ShotFiles.photo("jpeg"))
    if isTopLive { one.contentIdentifier = identifier }
    if !isTopLive { two.contentIdentifier = identifier }
    let files = [
      "IMG_1.heic": TinyMedia.heic(one), "IMG_1.JPG": TinyMedia.jpeg(two),
      "IMG_1.MOV": TinyMedia.movie(contentIdentifier: identifier),
    ]
    #expect(try await Self.stacks(files) == (isTopLive ? [["IMG_1.heic", "IMG_1.JPG"]] : []))
  }

  // MARK: Series

  @Test(
    "a series needs the drive, the counter, the fraction, the camera and small gaps",
    arguments: ["single", "bracket", "noCounter", "noFraction", "gap", "model", "serial", "skipped", "backwards"])
  func series(what: String) async throws {
    var (one, two) = (ShotFiles.shot(1), ShotFiles.shot(2))
    switch what {
    case "single": (one.release[0], two.release[0]) = (0, 0)
    case "bracket": (one.release[0], two.release[0]) = (5, 5)
    case "noCounter": (one.release, two.release) = ([], [])
    case "noFraction": (one.subSeconds, two.subSeconds) = (nil, nil)
    case "gap": two.dateTimeOriginal = "2021:02:03 04:05:04"
    case "model": two.model = "ILCE-7M4"
    case "serial": (one.serialNumber, two.serialNumber) = ("1", "2")
    case "skipped": two.release[1] = 3
    default: (one.subSeconds, two.subSeconds) = ("9", "1")
    }
    let found = try await Self.stacks(["DSC_1.JPG": TinyMedia.jpeg(one), "DSC_2.JPG": TinyMedia.jpeg(two)])
    #expect(found.isEmpty, "\(found)")
  }

  @Test("where a number occurs twice, or an album has only a part, the series is split")
  func cutSeries() async throws {
    var files = ShotFiles.series
    files["b/DSC_0004_copy.JPG"] = TinyMedia.jpeg(ShotFiles.shot(4, "copy"))
    let expected = [(1...3).map { "DSC_000\($0).JPG" }, (5...7).map { "DSC_000\($0).JPG" }]
    let found = try await Self.stacks(files)
    #expect(found == expected, "\(found)")
    files = ShotFiles.series
    files["z/best.JPG"] = files["b/DSC_0004.JPG"]
    var options = LibraryImport.Options()
    options.makesFolderAlbums = true
    let (rig, _, _) = try await Self.imported(files, options)
    #expect(try Self.stacks(rig.library) == expected)
    for album in try rig.library.fetchCollections(with: .album) where album.localizedTitle == "z" {
      #expect(try Array(rig.library.fetchAssets(FetchOptions(), in: album)).count == 1, "The album shows its photo.")
    }
  }

  @Test("the photos of an album stay visible: no photo is placed beneath one that the album lacks")
  func albums() async throws {
    var files = ShotFiles.pair.merging(ShotFiles.copy) { $1 }
    files["best/IMG_1.JPG"] = files["a/IMG_1.JPG"]
    files["best/x.JPG"] = files["c/IMG_2.JPG"]
    var options = LibraryImport.Options()
    options.makesFolderAlbums = true
    let (rig, summary, _) = try await Self.imported(files, options)
    #expect(try Self.stacks(rig.library).isEmpty && summary.stacks == 0)
    for album in try rig.library.fetchCollections(with: .album) {
      #expect(try Array(rig.library.fetchAssets(FetchOptions(), in: album)).count == 2, "\(album.localizedTitle ?? "")")
    }
  }

  // MARK: Copies

  @Test(
    "a copy that is an edit only by its name needs the time and the camera of one original",
    arguments: ["time", "noTime", "model", "two", "twoCopies", "video", "hidden"])
  func copies(what: String) async throws {
    var (one, two) = (ShotFiles.photo("one"), ShotFiles.photo("two"))
    var files: [String: Data] = [:]
    switch what {
    case "time": two.subSeconds = "26"
    case "noTime": two.dateTimeOriginal = nil
    case "model": two.model = "ILCE-7M4"
    case "two": files["A.tif"] = TinyMedia.tiff(ShotFiles.photo("tiff"), isWithSize: true)
    case "twoCopies": files["A_edited.jpeg"] = TinyMedia.jpeg(ShotFiles.photo("three"))
    default: break
    }
    files["A_edited.jpg"] = TinyMedia.jpeg(two)
    files[what == "video" ? "A.mov" : "A.jpg"] = what == "video" ? TinyMedia.movie() : TinyMedia.jpeg(one)
    if what == "two" { one.width = 7 }
    var options = LibraryImport.Options()
    if what == "hidden" {
      files["A.jpg.yml"] = Data("UID: psx1\nPrivate: true\n".utf8)
      options.readsSidecars = true
    }
    let found = try Self.stacks(try await Self.imported(files, options).rig.library)
    #expect(found == (what == "two" ? [["A.tif", "A.jpg"]] : []), "\(found)")
  }

  // MARK: Again

  @Test("a stack that a person dissolved stays dissolved when the import is repeated, and when a photo joins it")
  func unstacked() async throws {
    var files = Self.all
    let last = files.removeValue(forKey: "b/DSC_0007.JPG")
    let (rig, _, folder) = try await Self.imported(files)
    for asset in try rig.assets() where asset.stack == asset.id {
      try await rig.library.performChanges { $0.unstack([asset.id]) }
    }
    #expect(try Self.stacks(rig.library).isEmpty)
    try folder.write("b/DSC_0007.JPG", try #require(last))
    let (summary, _) = try await rig.run([folder.asRoot])
    #expect(summary.assetsAdded == 1 && summary.stacks == 0)
    #expect(try Self.stacks(rig.library).isEmpty)
  }

  @Test("a stack that an interrupted import recorded in part is completed by the next one, except where it was edited")
  func interrupted() async throws {
    // As though the first import had been killed behind these files.
    let early = ["b/DSC_0001.JPG", "b/DSC_0002.JPG", "b/DSC_0003.JPG", "c/IMG_2.JPG"]
    for isTouched in [false, true] {
      let (rig, first, folder) = try await Self.imported(Self.all.filter { early.contains($0.key) })
      #expect(first.stacks == 1)
      if isTouched {
        try await rig.library.performChanges { block in block.setFavorite(true, for: try rig.assets().map(\.id)) }
      }
      for (path, data) in Self.all { try folder.write(path, data) }
      let (summary, _) = try await rig.run([folder.asRoot])
      #expect(summary.assetsAdded == Self.all.count - early.count)
      let stacks = try Self.stacks(rig.library)
      if isTouched {
        let series = [(1...3).map { "DSC_000\($0).JPG" }, (4...7).map { "DSC_000\($0).JPG" }]
        #expect(stacks == series + [Self.expected[1]])
      } else {
        #expect(stacks == Self.expected)
      }
    }
  }

  @Test(
    "the other encoding of a photo may arrive with a later import, if the photo is unchanged and a single file",
    arguments: ["onTop", "beneath", "live", "liveBeneath", "touched", "two", "raw", "stacked"])
  func laterCoding(what: String) async throws {
    let (heic, jpeg) = (TinyMedia.heic(ShotFiles.photo("heic")), TinyMedia.jpeg(ShotFiles.photo("jpeg")))
    let tiff = TinyMedia.tiff(ShotFiles.photo("tiff"), isWithSize: true)
    var (early, late) = (["a/X.JPG": jpeg], ["a/X.HEIC": heic])
    switch what {
    case "beneath": (early, late) = (late, early)
    case "live", "liveBeneath":
      var still = ShotFiles.photo("live")
      still.contentIdentifier = ImportTests.identifier
      if what == "live" {
        (early, late) = (["a/X.HEIC": TinyMedia.heic(still)], early)
      } else {
        early["a/X.JPG"] = TinyMedia.jpeg(still)
      }
      early["a/X.MOV"] = TinyMedia.movie(contentIdentifier: ImportTests.identifier)
    case "two": late["a/X.tif"] = tiff
    case "stacked": early["a/X.tif"] = tiff
    case "raw":
      var raw = ShotFiles.photo("raw")
      raw.make = "NIKON CORPORATION"
      (late, early["a/X.NEF"]) = (["a/X.HEIC": TinyMedia.heic(raw)], TinyMedia.tiff(raw, isWithSize: true))
      raw.comment = "jpeg"
      early["a/X.JPG"] = TinyMedia.jpeg(raw)
    default: break
    }
    let (rig, _, folder) = try await Self.imported(early)
    if what == "touched" {
      try await rig.library.performChanges { block in block.setFavorite(true, for: try rig.assets().map(\.id)) }
    }
    for (path, data) in late { try folder.write(path, data) }
    let (summary, _) = try await rig.run([folder.asRoot])
    #expect(summary.assetsAdded == late.count)
    let expected: [[String]] =
      switch what {
      case "onTop", "beneath", "live": [["X.HEIC", "X.JPG"]]
      case "stacked": [["X.tif", "X.JPG"]]
      default: []
      }
    #expect(try Self.stacks(rig.library) == expected)
  }

  @Test("an asset that is trashed between the plan and the commit is in no stack, and the others are recorded")
  func staleMember() async throws {
    let (rig, _, folder) = try await Self.imported(["c/IMG_2.JPG": try #require(Self.all["c/IMG_2.JPG"])])
    let target = LibraryTarget(library: rig.library, cause: "import x", run: "x")
    let known = try #require(try rig.assets().first)
    #expect(try target.untouched([known.id]) == [known.id: UntouchedAsset(isHidden: false)])
    let tool = try SharedTool.exiftool()
    let path = try folder.write("c/IMG_2_edited.jpeg", try #require(Self.all["c/IMG_2_edited.jpeg"]))
    let stored = try rig.library.store.resources.store(fileAt: path, expecting: FileContent(of: path).sha256)
    try rig.library.store.resources.synchronize()
    let metadata = try #require(MediaMetadata(try tool.tags(of: path)))
    let resource = ImportedResource(
      type: .photo, stored: stored, originalFilename: path.name, source: path, metadata: metadata)
    var batch = ImportBatch(changes: [.asset(ImportedAsset(primary: resource))])
    batch.stacks = [ImportedStack(rule: .editedCopy, top: .change(0), others: [.asset(known.id)])]
    try await rig.library.performChanges { $0.deleteAssets([known.id]) }
    #expect(try target.untouched([known.id]).isEmpty)
    let recorded = try await target.record(batch)
    #expect(recorded.count == 1 && recorded[0].stack == nil)
    #expect(try Self.stacks(rig.library).isEmpty)
  }
}
