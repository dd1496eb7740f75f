import Foundation
import Glibc
import LibraryMaintenance
import PhotoLedger
import Synchronization
import TestSupport
import Testing

@testable import MediaImport

// Originals go only with proof. Each test breaks one part of it, most of them where the report of a batch is written:
// after the commit, before the removal.

@Suite("moving instead of copying")
struct MoveTests {
  static var options: LibraryImport.Options {
    var options = LibraryImport.Options()
    options.removesOriginals = true
    return options
  }

  private static func still(_ name: String) -> Data { ImportTests.still(name, identifier: nil) }

  /// The files and folders that are left in a folder.
  private static func left(_ folder: MediaImportTests.TemporaryFolder) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
  }

  /// The reasons for which files stayed, by their name.
  private static func reasons(_ summary: ImportSummary) -> [String: KeepReason] {
    Dictionary(uniqueKeysWithValues: (summary.moved?.keptFiles ?? []).map { (FilePath($0.path).name, $0.reason) })
  }

  private static func link(_ path: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
  }

  /// Waits until no process has a file open for writing: one that another test is starting has our descriptors until it
  /// runs its program.
  private static func awaitNoWriter(of path: String) {
    let number = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    #expect(number >= 0)
    // F_SETLEASE
    while fcntl(number, 1024, Int32(F_RDLCK)) != 0 && errno == EAGAIN { sched_yield() }
    close(number)
  }

  /// A folder with what goes and what stays.
  private static func mixed() throws -> (folder: MediaImportTests.TemporaryFolder, kept: [String: KeepReason]) {
    let folder = try MediaImportTests.TemporaryFolder()
    try folder.write("a.jpg", still("a"))
    try folder.write("deep/a-copy.jpg", still("a"))
    try folder.write("live.jpg", ImportTests.still("live"))
    try folder.write("live.mov", TinyMedia.movie(contentIdentifier: ImportTests.identifier))
    try folder.write("a.jpg.xmp", Data("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"></x:xmpmeta>".utf8))
    try folder.write("a.aae", Data("edits".utf8))
    try folder.write("notes.txt", Data("words".utf8))
    try folder.write("named.jpg", still("named"))
    #expect(Glibc.link("\(folder.path)/named.jpg", "\(folder.path)/deep/again.jpg") == 0)
    try folder.write("hidden/target.bin", still("linked"))
    try link("\(folder.path)/link.jpg", to: "hidden/target.bin")
    return (
      folder,
      [
        "a.jpg.xmp": .sidecar, "a.aae": .sidecar, "notes.txt": .notImported, "named.jpg": .hardLinked,
        "again.jpg": .hardLinked, "link.jpg": .link, "hidden": .notImported,
      ]
    )
  }

  @Test(
    "originals and duplicates are removed; sidecars, links, files of several names and other files stay, with a reason")
  func moved() async throws {
    for readsSidecars in [false, true] {
      let (folder, kept) = try Self.mixed()
      let rig = try ImportedLibrary()
      var options = Self.options
      options.readsSidecars = readsSidecars
      options.excludedNames.append("hidden")
      let (summary, _) = try await rig.run([folder.asRoot], options)
      let names = ["a.aae", "a.jpg.xmp", "deep", "deep/again.jpg", "hidden", "hidden/target.bin", "link.jpg"]
      #expect(try Self.left(folder) == names + ["named.jpg", "notes.txt"])
      #expect(summary.moved?.removed == 4 && Self.reasons(summary) == kept)
      #expect(summary.moved?.kept == ["sidecar": 2, "notImported": 2, "hardLinked": 2, "link": 1])
      let verified = try rig.verify()
      #expect(verified.isSound && verified.missingResources.isEmpty, "\(verified)")
      let lines = try ImportedLibrary.lines(summary).filter { $0["outcome"] as? String == "original" }
      #expect(lines.filter { $0["original"] as? String == "removed" }.count == 4 && lines.count == 7)
      // Nothing is known of paths that have no file any more.
      let known = KnownFiles(in: rig.library.store.folder)
      known.refresh()
      #expect(known[FilePath("\(folder.path)/a.jpg")] == nil && known[FilePath("\(folder.path)/notes.txt")] != nil)
      #expect(try await rig.run([folder.asRoot]).summary.moved == nil)
    }
  }

  @Test("a dry run removes nothing, and counts as the import does")
  func dryRun() async throws {
    let (folder, _) = try Self.mixed()
    let rig = try ImportedLibrary()
    // One content is known already, and is proved as in an import.
    let known = try MediaImportTests.TemporaryFolder()
    try known.write("a.jpg", Self.still("a"))
    _ = try await rig.run([known.asRoot])
    let before = try Self.left(folder)
    var options = Self.options
    options.isDryRun = true
    let planned = try await rig.run([folder.asRoot], options).summary
    #expect(try Self.left(folder) == before && rig.assets().count == 1)
    let done = try await rig.run([folder.asRoot], Self.options).summary
    #expect(planned.moved == done.moved && done.moved?.removed == 5)
  }

  @Test("an original that is written or replaced after it was read stays, with its current content")
  func changed() async throws {
    for isReplaced in [false, true] {
      let folder = try MediaImportTests.TemporaryFolder()
      let path = try folder.write("a.jpg", Self.still("a")).description
      try folder.write("b.jpg", Self.still("b"))
      let rig = try ImportedLibrary()
      let data = Self.still("a")
      let (summary, _) = try await rig.run([folder.asRoot], Self.options) { file in
        guard file.relativePath.name == "a.jpg" else { return }
        // The same bytes under the same name, with the former times.
        var status = stat()
        #expect(stat(path, &status) == 0)
        if isReplaced { #expect(unlink(path) == 0) }
        #expect(FileManager.default.createFile(atPath: path, contents: data))
        var times = [status.st_atim, status.st_mtim]
        let former = SourceStamp(status)
        // The clock of the file system has ticks, and the former inode can be used again.
        repeat {
          #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
          #expect(stat(path, &status) == 0)
        } while SourceStamp(status) == former
        Self.awaitNoWriter(of: path)
      }
      #expect(try Self.left(folder) == ["a.jpg"], "\(isReplaced)")
      let kept = summary.moved?.keptFiles ?? []
      #expect(kept.map(\.reason) == [.changed] && summary.moved?.removed == 1, "\(kept)")
    }
  }

  @Test("an original that is replaced or opened for writing between proof and removal stays")
  func changedAtTheLastMoment() async throws {
    let folder = try MediaImportTests.TemporaryFolder()
    for name in ["replaced", "opened", "purged", "left"] { try folder.write("\(name).jpg", Self.still(name)) }
    let rig = try ImportedLibrary()
    _ = try await rig.run([folder.asRoot])
    var removal = OriginalRemoval(library: rig.library)
    let resources = rig.library.url.appending(path: "resources").path
    removal.whenProved = { path in
      switch path.name {
      case "replaced.jpg":
        let other = "\(path).new"
        #expect(FileManager.default.createFile(atPath: other, contents: Data("other".utf8)))
        #expect(rename(other, path.description) == 0)
      // It would wait for the lease; the attempt alone ends it.
      case "opened.jpg": #expect(Glibc.open(path.description, O_WRONLY | O_NONBLOCK) < 0 && errno == EWOULDBLOCK)
      case "purged.jpg":
        let name = Self.still("purged").sha256Digits
        #expect(unlink("\(resources)/\(name.prefix(2))/\(name.dropFirst(2))") == 0)
      default: break
      }
    }
    var outcomes: [String: OriginalRemoval.Outcome] = [:]
    for name in try Self.left(folder) where name.hasSuffix(".jpg") {
      let path = FolderScan.canonical(FilePath("\(folder.path)/\(name)"))
      let asset = try #require(try rig.assets().first)
      outcomes[name] = removal.remove(
        OriginalRemoval.Original(path: path, outcome: .asset(asset.id), read: try FileContent(of: path)))
    }
    var reasons: [String: KeepReason] = [:]
    for (name, outcome) in outcomes { if case .kept(let reason, _) = outcome { reasons[name] = reason } }
    #expect(reasons == ["replaced.jpg": .changed, "opened.jpg": .beingWritten, "purged.jpg": .copyUnproved])
    #expect(try Self.left(folder) == ["opened.jpg", "purged.jpg", "replaced.jpg"])
    #expect(try Data(contentsOf: URL(filePath: "\(folder.path)/replaced.jpg")) == Data("other".utf8))
  }

  @Test("an original that a program has open for writing stays, and is removed by the next import")
  func beingWritten() async throws {
    let folder = try MediaImportTests.TemporaryFolder()
    let path = try folder.write("a.jpg", Self.still("a"))
    let rig = try ImportedLibrary()
    // Another process: what other tests start inherits a descriptor of this one, for a moment after it is closed.
    let program = try ChildRun(
      URL(filePath: "/bin/sh"), ["-c", #"exec 3>>"$0"; echo open; exec sleep 600"#, path.description])
    #expect(program.output.availableData == Data("open\n".utf8))
    let (summary, _) = try await rig.run([folder.asRoot], Self.options)
    kill(program.identifier, SIGKILL)
    program.end()
    #expect(Self.reasons(summary) == ["a.jpg": .beingWritten] && summary.assetsAdded == 1)
    #expect(try Self.left(folder) == ["a.jpg"])
    #expect(try await rig.run([folder.asRoot], Self.options).summary.moved?.removed == 1)
  }

  @Test(
    "an original without a copy of its hash in the library stays", arguments: ["altered", "removed", "link"])
  func damaged(how: String) async throws {
    let folder = try MediaImportTests.TemporaryFolder()
    let path = try folder.write("a.jpg", Self.still("a")).description
    let rig = try ImportedLibrary()
    let (summary, _) = try await rig.run([folder.asRoot], Self.options) { [rig] _ in
      for name in (try? rig.storedFiles()) ?? [] {
        let copy = rig.library.url.appending(path: "resources/\(name)").path
        chmod(copy, 0o600)
        switch how {
        case "altered":
          let file = FileHandle(forUpdatingAtPath: copy)
          file?.write(Data([0]))
          try? file?.close()
        default: unlink(copy)
        }
        // The copy is a name of the original.
        if how == "link" { try? Self.link(copy, to: path) }
      }
    }
    #expect(try Self.left(folder) == ["a.jpg"])
    #expect(Self.reasons(summary) == ["a.jpg": .copyUnproved] && summary.moved?.removed == 0)
  }

  @Test("an original that is the library's own file under another name stays")
  func ownFile() async throws {
    let folder = try MediaImportTests.TemporaryFolder()
    try folder.write("first.jpg", Self.still("a"))
    let rig = try ImportedLibrary()
    _ = try await rig.run([folder.asRoot])
    let name = try #require(try rig.storedFiles().first)
    let copy = rig.library.url.appending(path: "resources/\(name)").path
    #expect(Glibc.link(copy, "\(folder.path)/second.jpg") == 0)
    let (summary, _) = try await rig.run([folder.asRoot], Self.options)
    #expect(try Self.left(folder) == ["second.jpg"])
    #expect(summary.moved?.keptFiles.first?.message.contains("the same file as the original") == true)
    #expect(try rig.verify().missingResources.isEmpty)
  }

  @Test("files of libraries, backups and forks stay, also if they are named, mounted elsewhere, or reached by links")
  func insideLibraries() async throws {
    let folder = try MediaImportTests.TemporaryFolder()
    try folder.write("a.jpg", Self.still("a"))
    let rig = try ImportedLibrary()
    _ = try await rig.run([folder.asRoot])
    let place = try MediaImportTests.TemporaryFolder()
    try rig.library.backup(to: URL(filePath: "\(place.path)/backup"))
    try rig.library.fork(to: URL(filePath: "\(place.path)/fork"))
    let files = try Self.left(place) + Self.left(rig.folder)
    // A folder below, the folder itself, folders in it, and a file of it that has another name.
    try place.write("backup/extra/a-copy.jpg", Self.still("a"))
    let own = rig.library.url.path
    for roots in [
      [place.path, rig.folder.path], ["\(place.path)/backup", own],
      ["backup/resources", "fork/resources", "backup/extra"].map { "\(place.path)/\($0)" } + ["\(own)/resources"],
    ] {
      let (summary, _) = try await rig.run(roots.map { FilePath($0) }, Self.options)
      #expect(summary.moved?.removed == 0 && summary.assetsAdded == 0, "\(roots)")
    }
    // As though the folder were mounted elsewhere: nothing above shows that it is a library's.
    let name = try #require(try rig.storedFiles().first)
    try place.write("mounted/\(name)", Self.still("a"))
    let (summary, _) = try await rig.run([FilePath("\(place.path)/mounted")], Self.options)
    #expect(Set(Self.reasons(summary).values) == [.insideLibrary] && summary.moved?.removed == 0)
    let now = try Set(Self.left(place) + Self.left(rig.folder))
    #expect(now.isSuperset(of: files) && now.contains("backup/extra/a-copy.jpg"))
    // The library's own files are where the import looks, and a link leads to them.
    #expect(rename("\(own)/resources", "\(place.path)/elsewhere") == 0)
    try Self.link("\(own)/resources", to: "\(place.path)/elsewhere")
    let linked = try await rig.run([FilePath("\(place.path)/elsewhere")], Self.options).summary
    #expect(linked.moved?.removed == 0 && linked.duplicates == 1)
    #expect(try rig.verify().missingResources.isEmpty)
  }

  @Test("an original that an asset refers to, or whose asset is in the trash, stays; only the owner can remove any")
  func referencedAndTrashed() async throws {
    let folder = try MediaImportTests.TemporaryFolder()
    try folder.write("a.jpg", Self.still("a"))
    let rig = try ImportedLibrary()
    var inPlace = LibraryImport.Options()
    inPlace.leavesFilesInPlace = true
    _ = try await rig.run([folder.asRoot], inPlace)
    #expect(try await Self.reasons(rig.run([folder.asRoot], Self.options).summary) == ["a.jpg": .referenced])

    let other = try ImportedLibrary()
    _ = try await other.run([folder.asRoot])
    let ids = try other.assets().map(\.id)
    try await other.library.performChanges { $0.deleteAssets(ids) }
    #expect(try await Self.reasons(other.run([folder.asRoot], Self.options).summary) == ["a.jpg": .inTrash])
    #expect(try Self.left(folder) == ["a.jpg"])

    let client = try LibraryImport(into: other.library.as("phone"), options: Self.options.sharingTool())
    let error = await #expect(throws: ImportError.self) { try await client.run([folder.asRoot]) }
    #expect(error?.description.contains("may not remove originals") == true)
  }

  @Test("a run that was stopped before the removal continues, and verifies again what it did not read")
  func goesOn() async throws {
    let folder = try MediaImportTests.TemporaryFolder()
    for index in 0..<5 { try folder.write("\(index).jpg", Self.still("\(index)")) }
    // Older than what is too fresh to be known.
    for index in 0..<5 {
      var times = [timespec(tv_sec: 1_600_000_000, tv_nsec: 0), timespec(tv_sec: 1_600_000_000, tv_nsec: 0)]
      #expect(utimensat(AT_FDCWD, "\(folder.path)/\(index).jpg", &times, 0) == 0)
    }
    let rig = try ImportedLibrary()
    _ = try await rig.run([folder.asRoot])
    let known = KnownFiles(in: rig.library.store.folder)
    known.refresh()
    // Of one file the record is wrong: other bytes with the size and times of before.
    let path = FolderScan.canonical(FilePath("\(folder.path)/3.jpg"))
    let other = Self.still("9")
    #expect(other.count == Self.still("3").count)
    try other.write(to: URL(filePath: path.description))
    var status = stat()
    #expect(path.withCString { stat($0, &status) } == 0)
    var record = try #require(known[path])
    record.state = FileState(SourceStamp(status))
    try known.record([(path, record)])
    let (summary, _) = try await rig.run([folder.asRoot], Self.options)
    #expect(try Self.left(folder) == ["3.jpg"])
    #expect(summary.duplicates == 5 && summary.moved?.removed == 4 && Self.reasons(summary) == ["3.jpg": .changed])
  }

  @Test("cancelled during the removal, it reports what stayed, and the next import removes the rest")
  func cancelled() async throws {
    let folder = try InterruptedImportTests.pictures()
    let rig = try ImportedLibrary()
    let running = Mutex<Task<ImportSummary, any Error>?>(nil)
    let importer = try LibraryImport(into: rig.library, options: Self.options.sharingTool())
    let cancelWhenBegun: @Sendable (ImportProgress) -> Void = { progress in
      if progress.originalsDone >= 5 { running.withLock { $0?.cancel() } }
    }
    let task = running.withLock { slot in
      let task = Task { () throws -> ImportSummary in
        try await importer.run([folder.asRoot], progress: cancelWhenBegun)
      }
      slot = task
      return task
    }
    let summary = try await task.value
    let moved = try #require(summary.moved)
    #expect(summary.wasInterrupted && summary.assetsAdded > 0 && moved.removed >= 5 && moved.kept["stopped"] ?? 0 > 0)
    #expect(moved.removed + moved.kept.values.reduce(0, +) == summary.filesFound)
    let rest = try await rig.run([folder.asRoot], Self.options).summary
    #expect(!rest.wasInterrupted && rest.moved?.removed == moved.kept["stopped"])
    #expect(try Self.left(folder).filter { $0.hasSuffix(".jpg") || $0.hasSuffix(".mov") }.isEmpty)
  }

  @Test("an erasure finds the lines of a report about the originals of an asset")
  func erased() async throws {
    let folder = try MediaImportTests.TemporaryFolder()
    try folder.write("secret.jpg", Self.still("a"))
    try folder.write("secret-copy.jpg", Self.still("a"))
    try folder.write("secret-named.jpg", Self.still("a"))
    try folder.write("secret.xmp", Data("<x/>".utf8))
    #expect(Glibc.link("\(folder.path)/secret-named.jpg", "\(folder.path)/secret") == 0)
    let rig = try ImportedLibrary()
    let (summary, _) = try await rig.run([folder.asRoot], Self.options)
    #expect(summary.moved?.removed == 2)
    let text = try String(contentsOfFile: summary.reportFile, encoding: .utf8)
    #expect(text.contains("\"original\":\"removed\"") && text.contains("\"keptFor\":\"hardLinked\""))
    let ids = try rig.assets().map(\.id)
    try await rig.library.performChanges { $0.deleteAssets(ids) }
    try await rig.library.performChanges { $0.purgeAssets(ids) }
    _ = try rig.library.eraseAssets(ids)
    #expect(try !String(contentsOfFile: summary.reportFile, encoding: .utf8).contains("secret"))
  }

  @Test("killed at any point, each original exists or the library has it; the next import is complete, albums too")
  func killed() async throws {
    var whole: [String] = []
    var partlyMoved = 0
    for point in [0, 20, 36, 40, 44, 48, 52, 56, 60, 90] {
      let folder = try InterruptedImportTests.pictures()
      if whole.isEmpty { whole = try await InterruptedImportTests.wholeContent(of: folder) }
      let files = try Self.left(folder).filter { $0.hasSuffix(".jpg") || $0.hasSuffix(".mov") }
      let digests = try files.map { try FileContent(of: FilePath("\(folder.path)/\($0)")).sha256 }
      let place = try MediaImportTests.TemporaryFolder()
      let (source, target) = (folder.path, place.path)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [source = source as String, target = target as String, point = point as Int] in
        let library = try PhotoLibrary.create(at: ImportedLibrary.place(in: target))
        let count = Atomic(0)
        var options = MoveTests.options
        (options.batchFileCount, options.makesFolderAlbums) = (4, true)
        _ = try await LibraryImport(into: library, options: options.inKilledProcess()).run(
          [FilePath(source)],
          progress: { _ in
            if count.add(1, ordering: .relaxed).newValue > point { kill(getpid(), SIGKILL) }
          })
        kill(getpid(), SIGKILL)
      }
      let library = try PhotoLibrary(at: ImportedLibrary.place(in: target))
      defer { library.close() }
      let found = try library.verify(scratch: URL(filePath: target), hashingContent: true)
      #expect(found.isSound && found.missingResources.isEmpty, "\(point)")
      let left = try Self.left(folder).filter { files.contains($0) }
      if !left.isEmpty, left != files { partlyMoved += 1 }
      for (file, digest) in zip(files, digests) {
        let path = FilePath("\(folder.path)/\(file)")
        let isThere = FileManager.default.fileExists(atPath: path.description)
        let isHeld = try !library.assets(withContent: digest).isEmpty
        #expect(isThere ? try FileContent(of: path).sha256 == digest : isHeld, "\(file) after \(point)")
      }
      var options = Self.options
      options.makesFolderAlbums = true
      _ = try await LibraryImport(into: library, options: options.sharingTool()).run([folder.asRoot])
      #expect(try ImportedLibrary.content(of: library) == whole, "\(point)")
      #expect(try Self.left(folder).filter { $0.hasSuffix(".jpg") || $0.hasSuffix(".mov") }.isEmpty, "\(point)")
      var memberCount = 0
      for album in try library.fetchCollections(with: .album) {
        memberCount += try library.fetchAssets(FetchOptions(), in: album).count
      }
      #expect(memberCount == 26, "\(point)")
    }
    #expect(partlyMoved >= 3, "Few points were in the removal.")
  }

  @Test("of two folders of one name the later keeps its own album after the earlier one was moved away")
  func sameNames() async throws {
    let folder = try TemporaryFolder()
    try folder.write("x/Sea/1.jpg", ImportTests.still("1"))
    for number in 2...3 { try folder.write("y/Sea/\(number).jpg", ImportTests.still("\(number)")) }
    var options = LibraryImport.Options()
    options.makesFolderAlbums = true
    let rig = try ImportedLibrary()
    _ = try await rig.run([folder.asRoot], options)
    func members() throws -> [[String]] {
      try rig.library.fetchCollections(with: .album).map { album in
        try rig.library.fetchAssets(FetchOptions(), in: album).map { asset in
          try rig.library.resources(of: asset)[0].originalFilename
        }
      }
    }
    let expected = [["1.jpg"], ["2.jpg", "3.jpg"]]
    #expect(try members() == expected)
    // As a move leaves it that was killed between the two.
    try FileManager.default.removeItem(atPath: folder.path + "/x")
    options.removesOriginals = true
    _ = try await rig.run([folder.asRoot], options)
    #expect(try members() == expected)
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/y/Sea/2.jpg"))
  }
}

extension Data {
  /// The SHA-256 in hexadecimal digits, as the library names files.
  fileprivate var sha256Digits: String { [UInt8](self).sha256.hexadecimal }
}
