import Foundation
import PhotoLedger
import TestSupport
import Testing

@testable import MediaImport

// A library is invented, written as Google would export it, imported, and compared with what was invented.

@Suite("importing a Google Takeout")
struct TakeoutImportTests {
  /// How the parts of an export come.
  enum Form: String, CaseIterable { case folders, zips, tarballs, mixed }

  static let canUnpack = SamplePhotos.areInstalled("bsdtar", "gzip", "tar")

  @Test(
    "an export is imported completely, wherever the parts were cut, from folders and archives",
    .enabled(if: canUnpack, "bsdtar of libarchive-tools is not installed."), arguments: Form.allCases,
    Dose.isFull ? 1...6 : 1...2)
  func roundTrip(form: Form, seed: Int) async throws {
    let model = ModelTakeout(seed: UInt64(seed) * 101 + UInt64(form.rawValue.count))
    let folder = try TemporaryFolder()
    let parts = try Self.write(model.files(), form, seed: UInt64(seed), in: folder)
    let rig = try ImportedLibrary()
    var options = LibraryImport.Options()
    options.takesPeopleAsKeywords = true
    options.partnerShared = .keyword("from my partner")
    let (summary, _) = try await rig.run(parts, options, of: .takeout)
    try Self.check(model, rig, "seed \(seed) \(form)")
    #expect(summary.outcomeCount == summary.filesFound && summary.filesFound == model.files().count)
    #expect(summary.parts.reduce(0) { $0 + $1.files } == summary.filesFound)
    for part in summary.parts {
      #expect(part.files == part.taken + part.duplicates + part.describing + part.leftOut)
    }
    #expect(summary.skipped == ["notMedia": 1], "\(summary.skippedFiles)")
    #expect(try ImportedLibrary.lines(summary).count == summary.filesFound + 2)
    #expect(try rig.leftovers().isEmpty)
    let token = try rig.library.currentToken
    let again = try await rig.run(parts, options, of: .takeout)
    #expect(try rig.library.currentToken == token && again.summary.commits == 0, "A second import changes nothing.")
  }

  /// Writes files as parts of an export, each file into one of three.
  static func write(
    _ files: [String: Data], _ form: Form, seed: UInt64, in folder: TemporaryFolder
  ) throws -> [FilePath] {
    var random = SeededGenerator(seed: seed)
    for (path, data) in files.sorted(by: { $0.key < $1.key }) {
      try folder.write("part\(random.int(0..<3))/\(path)", data)
    }
    let parts = (0..<3).filter { FileManager.default.fileExists(atPath: "\(folder.path)/part\($0)") }
    return try parts.map { part in
      let name = "takeout-20240131T120000Z-00\(part)"
      let isZip = form == .zips || form == .mixed && part == 0
      let isTarball = form == .tarballs || form == .mixed && part == 1
      guard isZip || isTarball else { return FilePath("\(folder.path)/part\(part)") }
      let target = "\(folder.path)/\(name).\(isZip ? "zip" : "tgz")"
      let arguments = isZip ? ["bsdtar", "--format=zip", "-cf"] : ["tar", "-czf"]
      try run(arguments + [target, "-C", "\(folder.path)/part\(part)", "Takeout"])
      return FilePath(target)
    }
  }

  static func run(_ words: [String]) throws {
    let child = try ChildRun(
      URL(filePath: "/usr/bin/env"), words,
      environment: ["LC_ALL": "C.UTF-8", "PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""], output: .null,
      errors: .output)
    try #require(child.end() == .status(0), "\(words)")
  }

  @Test("album folders that are named one by one are separate albums, each with its own JSON")
  func namedAlbums() async throws {
    let folder = try TemporaryFolder()
    for (name, title) in [("Sea", "The sea"), ("Sun", "")] {
      try folder.write("\(name)/metadata.json", ModelTakeout.album(title))
      try folder.write("\(name)/a.jpg", TinyMedia.jpeg(.init(comment: name)))
      let json = #"{"title": "a.jpg", "description": "of \#(name)", "photoTakenTime": {"timestamp": "1600000000"}}"#
      try folder.write("\(name)/a.jpg.json", Data(json.utf8))
    }
    let rig = try ImportedLibrary()
    let roots = ["Sea", "Sun"].map { FilePath("\(folder.path)/\($0)") }
    let (summary, _) = try await rig.run(roots, of: .takeout)
    #expect(summary.assetsAdded == 2 && summary.described == 4)
    let albums = try rig.library.fetchCollections(with: .album).map { album in
      let captions = try rig.members(of: album).map { id in
        let asset = try #require(try rig.library.asset(id.uuidString))
        return try rig.library.extendedMetadata(of: asset).caption ?? ""
      }
      return "\(album.localizedTitle ?? ""): \(captions)"
    }
    #expect(albums.sorted() == [#"Sun: ["of Sun"]"#, #"The sea: ["of Sea"]"#])
  }

  @Test("of JSONs that fit an item equally, the one with the first path is used, whatever part was named first")
  func equalRecords() {
    var files: [ScannedFile] = []
    var records: [Int: TakeoutRecord] = [:]
    for part in ["/b", "/a"] {
      for number in 0..<16 {
        let name = "Takeout/Sea/\(number).jpg.json"
        let json = #"{"title": "\#(number).jpg", "photoTakenTime": {"timestamp": "1600000000"}}"#
        records[files.count] = TakeoutRecord(Array(json.utf8))
        files.append(
          ScannedFile(
            path: FilePath("\(part)/\(name)"), relativeCount: name.utf8.count, role: .sidecar, byteCount: 1, part: part)
        )
      }
    }
    for number in 0..<16 {
      let name = "Takeout/Sea/\(number).jpg"
      files.append(
        ScannedFile(
          path: FilePath("/c/\(name)"), relativeCount: name.utf8.count, role: .candidate, byteCount: 1, part: "/c"))
    }
    let catalog = TakeoutSource(options: LibraryImport.Options(), files: files, records: records).catalog()
    let describing = catalog.files.filter { file in
      if case .settled(.describes) = file.role { true } else { false }
    }
    #expect(describing.count == 16 && describing.allSatisfy { $0.path.description.hasPrefix("/a/") })
  }

  @Test(
    "an archive in a named folder counts as not read, unless it is named as well",
    .enabled(if: canUnpack, "bsdtar of libarchive-tools is not installed."))
  func archiveInFolder() async throws {
    let folder = try TemporaryFolder()
    try folder.write("part/Takeout/Sea/a.jpg", TinyMedia.jpeg(.init(comment: "a")))
    try folder.write("downloads/letter.zip", Data("no archive".utf8))
    let (downloads, archive) = ("\(folder.path)/downloads", "\(folder.path)/downloads/takeout-20240131T120000Z-001.zip")
    try Self.run(["bsdtar", "--format=zip", "-cf", archive, "-C", "\(folder.path)/part", "Takeout"])
    let rig = try ImportedLibrary()
    let (alone, _) = try await rig.run([FilePath(downloads)], of: .takeout)
    #expect(alone.assetsAdded == 0 && alone.skipped == ["unreadable": 1, "notMedia": 1], "\(alone.skippedFiles)")
    #expect(alone.lostCount == 1)
    let (named, _) = try await rig.run([FilePath(downloads), FilePath(archive)], of: .takeout)
    #expect(named.assetsAdded == 1 && named.skipped == ["excluded": 1, "notMedia": 1], "\(named.skippedFiles)")
    #expect(named.lostCount == 0)
  }

  @Test("a folder whose name is composed in one part and decomposed in another is one folder, and one album")
  func formsOfOneName() {
    let forms = ["\u{C9}te\u{301}", "E\u{301}t\u{E9}"]
    var files: [ScannedFile] = []
    var records: [Int: TakeoutRecord] = [:]
    func add(_ part: Int, _ name: String, _ json: String? = nil) {
      let path = "Takeout/\(forms[part])/\(name)"
      if let json { records[files.count] = TakeoutRecord(Array(json.utf8)) }
      files.append(
        ScannedFile(
          path: FilePath("/\(part)/\(path)"), relativeCount: path.utf8.count,
          role: json == nil ? .candidate : .sidecar, byteCount: 1, part: "/\(part)"))
    }
    add(0, "a.jpg")
    add(1, "a.jpg.json", #"{"title": "a.jpg", "photoTakenTime": {"timestamp": "1600000000"}}"#)
    for part in 0..<2 { add(part, "metadata.json", #"{"title": "Summer"}"#) }
    let catalog = TakeoutSource(options: LibraryImport.Options(), files: files, records: records).catalog()
    #expect(catalog.albums.map(\.title) == ["Summer"])
    #expect(catalog.rules.sorted().contains { $0.rule == TakeoutNames.Rule.exact.rawValue })
    let described = catalog.files.filter { $0.role == .settled(.describes(files[0].path)) }
    #expect(described.map(\.path) == [files[1].path])
  }

  @Test(
    "photos of two accounts have the values of the JSONs beside them, whichever folder was named first",
    arguments: [["ana", "ben"], ["ben", "ana"]])
  func twoAccounts(people: [String]) async throws {
    let folder = try TemporaryFolder()
    var contents: [String: [UInt8]] = [:]
    for person in people {
      let photos = "\(person)/Takeout/Google Photos/Photos from 2020"
      for (name, what) in [("IMG_1.jpg", "original"), ("IMG_1-edited.jpg", "edited")] {
        let path = try folder.write("\(photos)/\(name)", TinyMedia.jpeg(.init(comment: "\(what) of \(person)")))
        contents["\(what) of \(person)"] = try FileContent(of: path).sha256
      }
      let json = """
        {"title": "IMG_1.jpg", "description": "\(person)", "trashed": \(person == "ana"),
         "photoTakenTime": {"timestamp": "1600000000"}}
        """
      try folder.write("\(photos)/IMG_1.jpg.json", Data(json.utf8))
    }
    let rig = try ImportedLibrary()
    let (summary, _) = try await rig.run(people.map { FilePath("\(folder.path)/\($0)") }, of: .takeout)
    #expect(summary.assetsAdded == 4 && summary.described == 2)
    #expect(summary.rules.contains { $0.rule == AppliedRule.equalNames && $0.count == 2 })
    for (what, content) in contents {
      let asset = try #require(try rig.library.assets(withContent: content).first)
      let isOfAna = what.hasSuffix("ana")
      #expect(try rig.library.extendedMetadata(of: asset).caption == (isOfAna ? "ana" : "ben"), "\(what)")
      #expect(asset.isTrashed == isOfAna, "\(what)")
    }
  }

  @Test("of the metadata of files with the same content, the first 64 different layers count")
  func manyOfOneContent() throws {
    let folder = try TemporaryFolder()
    let content = try FileContent(of: folder.write("a.jpg", Data("a".utf8)))
    let files = (0..<200).map { number in
      var layer = MetadataLayer(.takeout)
      layer.caption = "\(number / 2)"
      var file = ScannedFile(path: FilePath("/r/\(number).jpg"), relativeCount: 5, role: .candidate, byteCount: 1)
      file.content = content
      file.note = MediaNote(layers: [layer])
      return file
    }
    var catalog = MediaCatalog(files: files)
    catalog.joinNotes()
    let captions = (0..<64).map { "\($0)" }
    for file in catalog.files { #expect(file.note?.layers.compactMap(\.caption) == captions) }
  }

  @Test("a place of zero and zero, as a camera writes it, yields to the one in the JSON")
  func noPlace() async throws {
    let folder = try TemporaryFolder()
    var photo = TinyMedia.Photo(comment: "no place")
    photo.place = [0, 0]
    try folder.write("Photos from 2020/a.jpg", TinyMedia.jpeg(photo))
    let json = """
      {"title": "a.jpg", "photoTakenTime": {"timestamp": "1600000000"},
       "geoData": {"latitude": 12.5, "longitude": -3.25, "altitude": 0}}
      """
    try folder.write("Photos from 2020/a.jpg.json", Data(json.utf8))
    let rig = try ImportedLibrary()
    _ = try await rig.run([folder.asRoot], of: .takeout)
    let asset = try #require(try rig.assets().first)
    #expect(asset.location?.latitude == 12.5 && asset.location?.longitude == -3.25)
  }

  // MARK: Comparing

  static func check(_ model: ModelTakeout, _ rig: ImportedLibrary, _ what: Comment) throws {
    var assets: [String: Asset] = [:]
    var count = 0
    let exported = Set(model.files().values)
    for photo in model.photos {
      count += 1
      let asset = try asset(model.data(photo), rig.library)
      guard let asset else {
        Issue.record("\(what): photo \(photo.number) is missing")
        continue
      }
      assets["\(photo.number)"] = asset
      try check(photo, asset, rig, "\(what) photo \(photo.number) '\(photo.title)'")
      let files = try rig.library.resources(of: asset)
      #expect(files.count == (photo.hasMovie ? 2 : 1), what)
      #expect(asset.mediaSubtypes.contains(.photoLive) == photo.hasMovie, what)
      guard exported.contains(model.data(photo, "edited")) else { continue }
      guard let edited = try Self.asset(model.data(photo, "edited"), rig.library) else {
        Issue.record("\(what): the edited copy of \(photo.number) is missing")
        continue
      }
      count += 1
      assets["\(photo.number) edited"] = edited
      try check(photo, edited, rig, "\(what) the edited copy of \(photo.number) '\(photo.title)'", isEdited: true)
      let stack = model.stacksCopy(of: photo) ? edited.id : nil
      #expect(edited.stack == stack && asset.stack == stack, "\(what) the stack of \(photo.number)")
    }
    #expect(try rig.everything().count == count, what)
    try checkAlbums(model, assets, rig, what)
  }

  static func asset(_ data: Data, _ library: PhotoLibrary) throws -> Asset? {
    let found = try library.assets(withContent: Array(data).sha256)
    #expect(found.count <= 1)
    return found.first
  }

  static func check(
    _ photo: ModelTakeout.Photo, _ asset: Asset, _ rig: ImportedLibrary, _ what: Comment, isEdited: Bool = false
  ) throws {
    let resource = try #require(try rig.library.resources(of: asset).first { $0.type == .photo })
    let title = photo.title.replacingOccurrences(of: "/", with: "_")
    if isEdited {
      #expect(resource.originalFilename.hasPrefix(TakeoutNames.stem(title) + "-"), what)
    } else {
      #expect(resource.originalFilename == title, what)
    }
    let details = try rig.library.extendedMetadata(of: asset)
    #expect(details.caption == (photo.caption.isEmpty ? nil : photo.caption), what)
    #expect(Set(details.keywords) == Set(photo.people + (photo.isPartnerShared ? ["from my partner"] : [])), what)
    #expect(asset.isFavorite == photo.isFavorite && asset.isHidden == photo.isArchived, what)
    #expect(asset.isTrashed == photo.isTrashed, what)
    if let place = photo.place {
      #expect(asset.location?.latitude == place.0 && asset.location?.longitude == place.1, what)
    } else {
      #expect(asset.location == nil, what)
    }
    if let wallTime = photo.wallTime {
      let clock = LibraryCorpusTests.time(of: asset)
      #expect(clock == wallTime.prefix(10).replacing(":", with: "-") + "T" + wallTime.suffix(8), what)
    } else {
      #expect(asset.creationDate == Date(timeIntervalSince1970: Double(photo.takenTime)), what)
      #expect(asset.localCreationDate == nil && asset.timeZoneOffset == nil, what)
    }
  }

  /// The members of albums with their order; copies stand behind their originals, since they have the same time.
  static func checkAlbums(
    _ model: ModelTakeout, _ assets: [String: Asset], _ rig: ImportedLibrary, _ what: Comment
  ) throws {
    let expected = model.albums.indices.compactMap { album -> String? in
      let members = model.photos.filter { $0.albums.contains(album) }
      if members.isEmpty { return nil }
      let title = model.albums[album].title.isEmpty ? model.albums[album].folder : model.albums[album].title
      let ids = members.flatMap { photo in
        [assets["\(photo.number)"], assets["\(photo.number) edited"]].compactMap { $0 }
      }
      return "\(title): \(Set(ids.map(\.id.uuidString)).sorted())"
    }
    let found = try rig.library.fetchCollections(with: .album).map { album in
      let ids = try rig.members(of: album)
      let times = ids.compactMap { id in
        assets.first { $0.value.id == id }.flatMap { name, _ in
          model.photos.first { "\($0.number)" == name.prefix { $0 != " " } }?.takenTime
        }
      }
      #expect(times == times.sorted(), what)
      let all = ids + (try rig.members(of: album, showingTrash: true))
      return "\(album.localizedTitle ?? ""): \(all.map(\.uuidString).sorted())"
    }
    #expect(found.sorted() == expected.sorted(), what)
  }
}

extension ImportedLibrary {
  /// Every asset, those that are hidden or in the trash included.
  func everything() throws -> [Asset] {
    var options = FetchOptions()
    options.showsTrash = true
    return try assets() + Array(try library.fetchAssets(options))
  }

  /// The members of an album in its order, hidden ones included; those in the trash are shown instead on request.
  func members(of album: PhotoCollection, showingTrash: Bool = false) throws -> [LocalIdentifier] {
    var options = FetchOptions()
    (options.includeHiddenAssets, options.includeAllBurstAssets, options.includeAllStackAssets) = (true, true, true)
    options.showsTrash = showingTrash
    return try library.fetchAssets(options, in: album).map(\.id)
  }

  /// Files that an import should have removed.
  func leftovers() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: library.url.path + "/resources/incoming")
  }
}
