import Foundation
import LibraryMaintenance
import PhotoLedger
import Synchronization
import TestSupport
import Testing

@testable import MediaImport

// An import of an export that is stopped, run dry, restricted; and the real exports of the corpus.

@Suite("the course of a Takeout's import")
struct TakeoutCourseTests {
  static func parts(
    _ model: ModelTakeout, _ form: TakeoutImportTests.Form, in folder: TemporaryFolder
  ) throws -> [FilePath] {
    try TakeoutImportTests.write(model.files(), form, seed: 7, in: folder)
  }

  /// Assets and albums as text that does not depend on identifiers.
  static func content(_ library: PhotoLibrary) throws -> [String] {
    var options = FetchOptions()
    (options.includeHiddenAssets, options.includeAllStackAssets) = (true, true)
    var lines: [String] = []
    for trashed in [false, true] {
      options.showsTrash = trashed
      for asset in try library.fetchAssets(options) {
        let details = try library.extendedMetadata(of: asset)
        let hashes = try library.resources(of: asset).map { "\($0.originalFilename) \($0.sha256Hex)" }.sorted()
        lines.append(
          "\(hashes) \(details.caption ?? "") \(details.keywords) \(asset.isFavorite) \(asset.isHidden) \(trashed) "
            + "\(String(describing: asset.creationDate)) \(String(describing: asset.location)) "
            + (try stack(of: asset, library)))
      }
    }
    options.showsTrash = false
    for album in try library.fetchCollections(with: .album) {
      let members = try library.fetchAssets(options, in: album).map { try library.resources(of: $0)[0].sha256Hex }
      lines.append("\(album.localizedTitle ?? ""): \(members)")
    }
    return lines.sorted()
  }

  /// The names of the file on top of an asset's stack.
  private static func stack(of asset: Asset, _ library: PhotoLibrary) throws -> String {
    guard let top = try asset.stack.flatMap({ try library.asset($0.uuidString) }) else { return "" }
    return "under \(try library.resources(of: top).map(\.sha256Hex).sorted())"
  }

  @Test(
    "cancelled after any number of files, it leaves a sound library, and the next import completes it",
    .enabled(if: TakeoutImportTests.canUnpack, "bsdtar of libarchive-tools is not installed."),
    arguments: [TakeoutImportTests.Form.folders, .zips])
  func cancelled(form: TakeoutImportTests.Form) async throws {
    let model = ModelTakeout(seed: 31)
    let folder = try TemporaryFolder()
    let parts = try Self.parts(model, form, in: folder)
    let whole = try ImportedLibrary()
    _ = try await whole.run(parts, of: .takeout)
    let expected = try Self.content(whole.library)
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    var interrupted = 0
    // Each ends the exiftool that reads for it, and the next one starts another: few at the usual dose.
    let (count, fileCount) = (Dose.isFull ? 5 : 2, model.files().count)
    // Cancelled before the first file, it has something left in any case.
    for limit in [0] + (0..<count).map({ _ in random.int(0..<fileCount) }) {
      let rig = try ImportedLibrary()
      let running = Mutex<Task<Bool, any Error>?>(nil)
      let cancelWhenDone: @Sendable (ImportProgress) -> Void = { progress in
        if progress.filesDone >= limit { running.withLock { $0?.cancel() } }
      }
      let importer = try LibraryImport(into: rig.library, options: InterruptedImportTests.options(3).sharingTool())
      let task = running.withLock { slot in
        let task = Task { () throws -> Bool in
          try await importer.run(parts, of: .takeout, progress: cancelWhenDone).wasInterrupted
        }
        slot = task
        return task
      }
      do {
        interrupted += try await task.value ? 1 : 0
      } catch let error as ImportError {
        #expect(error.code == .cancelled)
        interrupted += 1
      }
      let found = try rig.verify()
      #expect(found.isSound && found.missingResources.isEmpty, "seed \(seed), \(limit) files")
      #expect(try rig.leftovers().isEmpty, "seed \(seed), \(limit) files")
      _ = try await rig.run(parts, of: .takeout)
      #expect(try Self.content(rig.library) == expected, "seed \(seed), \(limit) files")
    }
    #expect(interrupted > 0, "seed \(seed)")
  }

  /// What the import of an export gives that is not killed; the same for all tests.
  private static let whole: Task<[String], any Error> = Task {
    let (folder, rig) = (try TemporaryFolder(), try ImportedLibrary())
    _ = try await rig.run(parts(ModelTakeout(seed: 32), .mixed, in: folder), of: .takeout)
    return try content(rig.library)
  }

  // Each starts a process of its own with an exiftool, so there are few at the usual dose: first, last, one between.
  @Test(
    "killed at any point, the next import completes it", .enabled(if: TakeoutImportTests.canUnpack),
    arguments: Dose.isFull ? Array(0..<6) : [0, 3, 5])
  func killed(point: Int) async throws {
    let folder = try TemporaryFolder()
    let parts = try Self.parts(ModelTakeout(seed: 32), .mixed, in: folder)
    let place = try TemporaryFolder()
    let (names, target) = (parts.map(\.description).joined(separator: "\n"), place.path)
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [names = names as String, target = target as String, point = point as Int] in
      let library = try PhotoLibrary.create(at: ImportedLibrary.place(in: target))
      let count = Mutex(0)
      _ = try await LibraryImport(into: library, options: InterruptedImportTests.options(4).inKilledProcess()).run(
        names.split(separator: "\n").map { FilePath(String($0)) }, of: .takeout,
        progress: { _ in
          let isTime = count.withLock { count in
            count += 1
            return count > point * 9
          }
          if isTime { kill(getpid(), SIGKILL) }
        })
      kill(getpid(), SIGKILL)
    }
    let library = try PhotoLibrary(at: ImportedLibrary.place(in: target))
    defer { library.close() }
    let found = try library.verify(scratch: URL(filePath: target), hashingContent: true)
    #expect(found.isSound && found.missingResources.isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: library.url.path + "/resources/incoming").isEmpty)
    _ = try await LibraryImport(into: library, options: .init().sharingTool()).run(parts, of: .takeout)
    let whole = try await Self.whole.value
    #expect(try Self.content(library) == whole)
  }

  @Test("a dry run reports what an import then does, and changes nothing", .enabled(if: TakeoutImportTests.canUnpack))
  func dryRun() async throws {
    let model = ModelTakeout(seed: 33)
    let folder = try TemporaryFolder()
    let parts = try Self.parts(model, .mixed, in: folder)
    let rig = try ImportedLibrary()
    let token = try rig.library.currentToken
    var options = LibraryImport.Options()
    options.isDryRun = true
    let (told, outcomes) = try await rig.run(parts, options, of: .takeout)
    #expect(try rig.library.currentToken == token && rig.storedFiles().isEmpty && rig.leftovers().isEmpty)
    #expect(!FileManager.default.fileExists(atPath: "\(rig.library.url.path)/imports/\(told.run).jsonl"))
    let (done, real) = try await rig.run(parts, of: .takeout)
    #expect(told.assetsAdded == done.assetsAdded && told.duplicates == done.duplicates && told.skipped == done.skipped)
    #expect(told.albums == done.albums && told.rules == done.rules && told.parts == done.parts && told.isDryRun)
    #expect(Set(outcomes.keys) == Set(real.keys))
    #expect(told.rules.allSatisfy { $0.examples.count == min($0.count, 20) } && !told.rules.isEmpty)
  }

  @Test("later edits by people stay, and a repeated import only fills albums")
  func editsStay() async throws {
    var model = ModelTakeout(seed: 34, photoCount: 1)
    model.albums = [ModelTakeout.Album(title: "Sea", folder: "Sea")]
    model.photos[0].albums = [0]
    model.photos[0].hasMovie = false
    (model.photos[0].caption, model.photos[0].isTrashed, model.photos[0].editedWord) = ("theirs", false, nil)
    let folder = try TemporaryFolder()
    let parts = try Self.parts(model, .folders, in: folder)
    let rig = try ImportedLibrary()
    _ = try await rig.run(parts, of: .takeout)
    let asset = try #require(try rig.everything().first)
    let album = try #require(try rig.library.fetchCollections(with: .album).first)
    try await rig.library.performChanges { block in
      var changes = AssetChanges()
      (changes.caption, changes.isFavorite) = (.set("mine"), !asset.isFavorite)
      block.edit([asset.id], changes)
      block.album(album.id).remove([asset.id])
    }
    let (summary, _) = try await rig.run(parts, of: .takeout)
    let now = try #require(try rig.everything().first)
    #expect(try rig.library.extendedMetadata(of: now).caption == "mine" && now.isFavorite != asset.isFavorite)
    #expect(summary.albums == [ImportedAlbum(title: "Sea", memberCount: 1, isNew: false, added: 1, named: 1)])
  }

  @Test("names, dates, keywords, a zone and the partner decide what is imported")
  func selection() async throws {
    var model = ModelTakeout(seed: 35, photoCount: 6)
    for index in model.photos.indices {
      model.photos[index].title = "p\(index).jpg"
      model.photos[index].wallTime = index == 5 ? nil : "2021:07:0\(index + 1) 12:00:00"
      (model.photos[index].albums, model.photos[index].editedWord) = ([], nil)
      (model.photos[index].isPartnerShared, model.photos[index].hasMovie) = (index == 2, false)
      model.photos[index].isTrashed = false
    }
    let folder = try TemporaryFolder()
    let parts = try Self.parts(model, .folders, in: folder)
    var options = LibraryImport.Options()
    options.excludedNames.append("P1.*")
    options.partnerShared = .leftOut
    options.keywords = ["takeout"]
    options.timeZone = TimeZone(identifier: "Europe/Berlin")
    let first = Date(timeIntervalSince1970: 1_625_054_400)
    options.dates = first...first.addingTimeInterval(5 * 86_400 - 7200 - 43_200)
    let rig = try ImportedLibrary()
    let (summary, outcomes) = try await rig.run(parts, options, of: .takeout)
    let assets = try rig.everything()
    let names = try assets.map { try rig.library.resources(of: $0)[0].originalFilename }
    #expect(names.sorted() == ["p0.jpg", "p3.jpg"], "\(outcomes)")
    let what: Comment = "By the pattern, of the partner, by date: \(summary.skippedFiles)"
    #expect(summary.skipped["excluded"] == 5, what)
    for asset in assets {
      #expect(try rig.library.extendedMetadata(of: asset).keywords == ["takeout"])
      #expect(asset.timeZoneOffset == 7200)
      #expect(asset.localCreationDate == asset.creationDate?.addingTimeInterval(7200))
    }
  }

  @Test("folders become albums on request, in the order of the walk")
  func folderAlbums() async throws {
    let folder = try TemporaryFolder()
    for (index, path) in ["a/1.jpg", "a/2.jpg", "b/a/3.jpg", "b/copy of 1.jpg"].enumerated() {
      try folder.write(path, ImportTests.still("\(index == 3 ? 0 : index)", identifier: nil))
    }
    try folder.write("@eaDir/thumb.jpg", ImportTests.still("thumb", identifier: nil))
    var options = LibraryImport.Options()
    options.makesFolderAlbums = true
    let rig = try ImportedLibrary()
    let (summary, outcomes) = try await rig.run([folder.asRoot], options)
    #expect(outcomes["@eaDir"].map { if case .skipped(.excluded, _) = $0 { true } else { false } } == true)
    #expect(summary.assetsAdded == 3)
    let albums = try rig.library.fetchCollections(with: .album).map { album in
      let names = try rig.library.fetchAssets(FetchOptions(), in: album).map {
        try rig.library.resources(of: $0)[0].originalFilename
      }
      return "\(album.localizedTitle ?? "") \(names)"
    }
    #expect(albums == [#"a ["1.jpg", "2.jpg"]"#, #"a ["3.jpg"]"#, #"b ["1.jpg"]"#])
    let token = try rig.library.currentToken
    _ = try await rig.run([folder.asRoot], options)
    #expect(try rig.library.currentToken == token)
  }

  @Test("the commits that fill albums are counted, also if nothing else is imported, and by a dry run as well")
  func albumCommits() async throws {
    let folder = try TemporaryFolder()
    for path in ["a/1.jpg", "a/2.jpg", "b/3.jpg"] { try folder.write(path, ImportTests.still(path, identifier: nil)) }
    let rig = try ImportedLibrary()
    _ = try await rig.run([folder.asRoot])
    let before = try rig.library.statistics().commitCount
    var options = LibraryImport.Options()
    (options.makesFolderAlbums, options.isDryRun) = (true, true)
    let dry = try await rig.run([folder.asRoot], options).summary
    #expect(dry.assetsAdded == 0 && dry.albums.count == 2 && dry.commits == 2)
    options.isDryRun = false
    let filled = try await rig.run([folder.asRoot], options).summary
    #expect(filled.assetsAdded == 0 && filled.albums.count == 2 && filled.commits == 2)
    #expect(try rig.library.statistics().commitCount == before + 2)
    #expect(try await rig.run([folder.asRoot], options).summary.commits == 0)
  }

  // MARK: The corpus

  private struct Expected: Decodable {
    let json: String
    let kind: String
    let media: [String]
  }

  private struct Expectations: Decodable { let takeout: [Expected] }

  @Test(
    "every JSON of the real exports describes the file that it is known to describe",
    .enabled(if: Corpus.isPresent, "The folder of real photos is not at hand."))
  func corpus() async throws {
    let folder = try #require(Corpus.folder)
    let expected = try JSONDecoder().decode(
      Expectations.self, from: Data(contentsOf: folder.appending(path: "expectations.json"))
    ).takeout
    let root = folder.appending(path: "takeout-agpl")
    let parts = ["Takeout1", "Takeout2", "Takeout3", "Takeout-2025-naming"].map {
      FilePath(root.appending(path: $0).path)
    }
    let outcomes = Mutex<[String: FileOutcome]>([:])
    let rig = try ImportedLibrary()
    let base = folder.resolvingSymlinksInPath().path + "/"
    let (summary, _) = try await rig.run(
      parts, of: .takeout,
      report: { file in
        outcomes.withLock { $0[String(file.path.description.dropFirst(base.count))] = file.outcome }
      })
    let found = outcomes.withLock { $0 }
    #expect(summary.filesFound == 38 && found.count == 38)
    for json in expected {
      switch found[json.json] {
      case .describes(let path):
        // The expectations go by title alone; this one's title is not a file's name, and its own name is one.
        let isByName = json.media.isEmpty && json.json.hasSuffix("PXL_20231006_063909898.LS.mp4.json")
        #expect(isByName || json.media.map { base + $0 } == [path.description], "\(json.json)")
      case .describesAlbum: #expect(json.kind == "album", "\(json.json)")
      case .skipped(.orphan, _): #expect(json.kind == "media" && json.media.isEmpty, "\(json.json)")
      case let other: Issue.record("\(json.json): \(String(describing: other))")
      }
    }
    #expect(summary.albums.map(\.title) == ["Album test 6/10/23", "Sans titre(9)"])
    #expect(summary.albums.map(\.memberCount) == [8, 1])
    #expect(summary.skipped == ["orphan": 13])
    #expect(summary.assetsAdded + summary.resourcesAdded == 9 && summary.duplicates == 2)
  }
}
