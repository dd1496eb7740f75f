import Foundation
import Glibc
import LibraryAudit
import LibraryMaintenance
import PhotoLedger
import Synchronization
import TestSupport
import Testing

@testable import MediaImport

@Suite("watching folders", .blocking)
struct LibraryWatchTests {
  @Test("the files of a folder are imported, and then new ones, in new folders too", arguments: [Int.max, 0, 1])
  func comes(watchLimit: Int) async throws {
    let rig = try WatchedLibrary(watchLimit: watchLimit)
    try rig.write("a.jpg", "a")
    try await rig.watching {
      try await rig.wait(for: 1)
      try rig.write("b.jpg", "b")
      try rig.write("new/deep/c.jpg", "c")
      try rig.write("@eaDir/thumb.jpg", "thumb")
      try await rig.wait(for: 3)
      try rig.write("notes.txt", "", Data("words".utf8))
      try rig.write("new/d.jpg", "d")
      try await rig.wait(for: 4)
    }
    #expect(try rig.paths() == ["a.jpg", "b.jpg", "new/d.jpg", "new/deep/c.jpg"])
    #expect(try rig.causes().count == 1)
    #expect(try rig.rig.verify().isSound)
    #expect(rig.scanned.isEmpty == (watchLimit == .max) && rig.scanned.count <= 1)
  }

  @Test("an original, its rendition and its adjustment data that arrive together are one asset")
  func edited() async throws {
    let rig = try WatchedLibrary()
    try rig.write("IMG_E1000.JPG", "", AppleFiles.photo("b", isRendered: true))
    try rig.write("IMG_1000.AAE", "", AppleFiles.adjustmentData("edit"))
    try rig.write("IMG_1000.JPG", "", AppleFiles.photo("a"))
    try await rig.watching { try await rig.wait(for: 1) }
    let asset = try #require(try rig.rig.assets().first)
    #expect(asset.hasAdjustments)
    #expect(try rig.library.resources(of: asset).count == 3)
  }

  @Test("files that arrive together are stacked as in an import")
  func stacked() async throws {
    let rig = try WatchedLibrary()
    for (path, data) in StackImportTests.all { try rig.write(path, "", data) }
    try await rig.watching { try await rig.wait(for: StackImportTests.all.count) }
    #expect(try StackImportTests.stacks(rig.library) == StackImportTests.expected)
  }

  @Test("files that arrive one after the other are stacked as if together, and each is reported once")
  func stackedLater() async throws {
    let rig = try WatchedLibrary()
    // The coding beneath comes before the one on top, and the series in three parts.
    let parts = [
      ["a/IMG_1.JPG", "b/DSC_0001.JPG", "b/DSC_0002.JPG", "c/IMG_2.JPG"],
      ["a/IMG_1.HEIC", "b/DSC_0003.JPG", "c/IMG_2_edited.jpeg"], (4...7).map { "b/DSC_000\($0).JPG" },
    ]
    try await rig.watching {
      for part in parts {
        for name in part { try rig.write(name, "", StackImportTests.all[name]) }
        try await rig.wait(for: (try rig.rig.assets().count) + part.count)
      }
    }
    #expect(parts.joined().sorted() == StackImportTests.all.keys.sorted())
    #expect(try StackImportTests.stacks(rig.library) == StackImportTests.expected)
    let summaries = rig.summaries
    #expect(
      summaries.reduce(0) { $0 + $1.filesFound } == StackImportTests.all.count
        && summaries.allSatisfy { $0.duplicates == 0 })
    #expect(summaries.reduce(0) { $0 + $1.stacks } == 3)
  }

  @Test("a file that is renamed, moved or copied and removed keeps its asset, and the library has its new path")
  func moved() async throws {
    let (rig, clock) = (try WatchedLibrary(), ForwardClock())
    // What comes is found again before that, however long the thread of the watch rests.
    rig.setGrace(.seconds(3600), by: clock)
    for name in ["a", "b", "c", "d"] { try rig.write("old/\(name).jpg", name) }
    try await rig.watching {
      try await rig.wait(for: 4)
      let assets = try rig.rig.assets().map(\.id)
      try rig.move("old/a.jpg", "old/renamed.jpg")
      try await rig.wait(forPaths: ["old/b.jpg", "old/c.jpg", "old/d.jpg", "old/renamed.jpg"])
      try rig.move("old", "new")
      try await rig.wait(forPaths: ["new/b.jpg", "new/c.jpg", "new/d.jpg", "new/renamed.jpg"])
      try FileManager.default.copyItem(atPath: rig.place("new/b.jpg"), toPath: rig.place("copy.jpg"))
      try await rig.waitUntilKnown("copy.jpg")
      try rig.remove("new/b.jpg")
      try await waitUntil("new/b.jpg is looked for, and found at its copy") {
        clock.advance(by: .seconds(60))
        return try rig.paths() == ["copy.jpg", "new/c.jpg", "new/d.jpg", "new/renamed.jpg"]
      }
      #expect(try rig.rig.assets().map(\.id) == assets)
    }
    #expect(rig.missing.isEmpty)
    #expect(try rig.rig.verify().missingResources.isEmpty)
    // Moved while no watch runs.
    try rig.move("new/c.jpg", "c.jpg")
    try await rig.watching { try await rig.wait(forPaths: ["c.jpg", "copy.jpg", "new/d.jpg", "new/renamed.jpg"]) }
    #expect(rig.missing.isEmpty)
  }

  @Test("a folder that was moved as a whole is recognised where an empty one has its former path")
  func movedRoot() async throws {
    let rig = try WatchedLibrary()
    for name in ["a", "b"] { try rig.write("\(name).jpg", name) }
    try await rig.watching { try await rig.wait(for: 2) }
    let assets = Set(try rig.rig.assets().map(\.id))
    let place = rig.root.deletingLastPathComponent().appending(path: "moved").path
    #expect(rename(rig.root.path, place) == 0)
    try FileManager.default.createDirectory(at: rig.root, withIntermediateDirectories: false)
    rig.options.withLock { $0.acceptsMissing = true }
    try await rig.watching([rig.asRoot, FilePath(place)]) {
      try await waitUntil("each asset has the new path of its file") {
        let resources = try rig.rig.assets().flatMap { try rig.library.resources(of: $0) }
        return resources.map { rig.library.url(of: $0).path }.sorted() == ["\(place)/a.jpg", "\(place)/b.jpg"]
      }
    }
    #expect(try Set(rig.rig.assets().map(\.id)) == assets && rig.rig.verify().missingResources.isEmpty)
  }

  @Test("files that exchange their names keep their assets, which have the current paths of their contents")
  func exchanged() async throws {
    let rig = try WatchedLibrary()
    rig.setGrace(.seconds(3600))
    for name in ["a", "b"] { try rig.write("\(name).jpg", name) }
    try await rig.watching {
      try await rig.wait(for: 2)
      try rig.move("a.jpg", "c.jpg")
      try rig.move("b.jpg", "a.jpg")
      try rig.move("c.jpg", "b.jpg")
      try await waitUntil("each asset has the path of its content") {
        try rig.rig.assets().allSatisfy { asset in
          try rig.library.store.resources.state(of: rig.library.resources(of: asset)[0], hashing: true) == .present
        }
      }
    }
    #expect(try rig.paths() == ["a.jpg", "b.jpg"])
    #expect(try rig.rig.assets().count == 2 && rig.missing.isEmpty)
  }

  @Test("what was undone meanwhile is imported again by the next watch")
  func undone() async throws {
    let rig = try WatchedLibrary()
    try rig.write("a.jpg", "a")
    rig.letTimesCount()
    try await rig.watching { try await rig.waitUntilKnown("a.jpg") }
    try await rig.library.undo(.commit(rig.library.currentToken))
    #expect(try rig.rig.assets().isEmpty)
    try await rig.watching { try await rig.wait(for: 1) }
  }

  @Test("the library's own folder is not watched")
  func ownFolder() async throws {
    let rig = try WatchedLibrary()
    let watch = try LibraryWatch(of: rig.library, options: rig.options.withLock(\.self))
    await #expect(throws: ImportError.self) { _ = try await watch.run([FilePath(rig.library.url.path)]) { _ in } }
  }

  @Test("the folder of another library is not examined, unless it is named explicitly")
  func otherLibrary() throws {
    let folder = try TemporaryFolder()
    for name in ["a.jpg", "other/b.jpg", "other/store/data.mdb", "album/store/c.jpg"] {
      try folder.write(name, Data(name.utf8))
    }
    let listing = FolderListing(selection: NameSelection(), excluded: [])
    func listed(_ path: FilePath, root: FilePath) throws -> [String] {
      let open = Descriptor(try #require(FolderEntries.open(path)))
      guard case .entries(let files, let folders, let isEmpty) = listing.list(path, open.number, root: root) else {
        throw ImportError(.unreadable, path.description)
      }
      #expect(!isEmpty)
      return (Array(files.keys) + Array(folders.keys)).map { String(decoding: $0, as: UTF8.self) }.sorted()
    }
    let other = folder.asRoot.appending(Array("other".utf8))
    #expect(try listed(folder.asRoot, root: folder.asRoot) == ["a.jpg", "album", "other"])
    #expect(try listed(other, root: folder.asRoot) == [])
    #expect(try listed(other, root: other) == ["b.jpg", "store"])
    #expect(try listed(folder.asRoot.appending(Array("album".utf8)), root: folder.asRoot) == ["store"])
  }

  @Test("a missing file is reported and stays an asset; when it returns it is the same one")
  func missing() async throws {
    let rig = try WatchedLibrary()
    for name in ["a", "b"] { try rig.write("\(name).jpg", name) }
    try await rig.watching {
      try await rig.wait(for: 2)
      let token = try rig.library.currentToken
      try rig.remove("a.jpg")
      try await waitUntil("a.jpg is missing") { rig.missing == [rig.place("a.jpg")] }
      #expect(try rig.library.currentToken == token)
      let asset = try #require(try rig.rig.assets().first { try rig.name(of: $0) == "a.jpg" })
      let resource = try #require(try rig.library.resources(of: asset).first)
      #expect(try await rig.library.state(of: resource, in: asset) == .missing)
      try rig.write("elsewhere/a.jpg", "a")
      try await rig.wait(forPaths: ["b.jpg", "elsewhere/a.jpg"])
      #expect(try rig.rig.assets().count == 2)
      let found = try #require(try rig.library.asset(asset.localIdentifier))
      let now = try #require(try rig.library.resources(of: found).first)
      #expect(try await rig.library.state(of: now, in: found, hashing: true) == .present)
      #expect(found.modificationDate == asset.modificationDate)
    }
  }

  @Test("a folder that is gone or empty changes nothing, and a restart reports it too", arguments: [true, false])
  func unmounted(isGone: Bool) async throws {
    let rig = try WatchedLibrary()
    for index in 0..<12 { try rig.write("p\(index).jpg", "\(index)") }
    let aside = rig.root.path + ".aside"
    @Sendable func unmount() throws {
      #expect(rename(rig.root.path, aside) == 0)
      if !isGone { #expect(mkdir(rig.root.path, 0o755) == 0) }
    }
    @Sendable func mount() throws {
      if !isGone { #expect(rmdir(rig.root.path) == 0) }
      #expect(rename(aside, rig.root.path) == 0)
    }
    try await rig.watching {
      try await rig.wait(for: 12)
      try unmount()
      try await waitUntil("the folder is away") { rig.away == 1 }
    }
    let paths = try rig.paths()
    try await rig.watching {
      try await waitUntil("the folder is away at the start") { rig.away == 2 }
      try mount()
      try await waitUntil("the folder returned") { rig.returned == 1 }
      try rig.write("late.jpg", "late")
      try await rig.wait(for: 13)
    }
    #expect(try rig.missing.isEmpty && Set(rig.paths()) == Set(paths + ["late.jpg"]))
    system("rm -rf '\(aside)'")
  }

  @Test("many missing files end a watch with a question, and another watch accepts it")
  func manyMissing() async throws {
    let rig = try WatchedLibrary()
    for index in 0..<20 { try rig.write("p\(index).jpg", "\(index)") }
    try await rig.watching { try await rig.wait(for: 20) }
    for index in 0..<12 { try rig.remove("p\(index).jpg") }
    let end = try await rig.watch().run([rig.asRoot]) { _ in }
    #expect(end == .manyMissing(folder: rig.asRoot.description, missing: 12, of: 20))
    #expect(try rig.rig.assets().count == 20)
    rig.options.withLock { $0.acceptsMissing = true }
    try await rig.watching { try await waitUntil("they are missing") { rig.missing.count == 12 } }
    rig.options.withLock { $0.acceptsMissing = false }
    #expect(try rig.rig.assets().count == 20)
    // What is known to be missing is not asked about again.
    try await rig.watching { try await rig.waitUntilWatching() }
    #expect(rig.missing.count == 12)
  }

  @Test("unchanged files are not read again, by a watch and by an import")
  func knownFiles() async throws {
    let rig = try WatchedLibrary()
    let names = (0..<5).map { "p\($0).jpg" }
    for (index, name) in names.enumerated() { try rig.write(name, "\(index)") }
    rig.letTimesCount()
    try await rig.watching { for name in names { try await rig.waitUntilKnown(name) } }
    let known = Self.known(in: rig)
    for name in names { #expect(known[rig.path(name)]?.state != nil, "The times of \(name) count.") }
    // Other bytes with the size and times of before are not noticed: the bytes were not read.
    try rig.overwriteUnseen("p0.jpg")
    try known.record([(rig.path("p0.jpg"), rig.known(of: "p0.jpg", as: known[rig.path("p0.jpg")]))])
    try await rig.watching { try await rig.waitUntilWatching() }
    let (summary, _) = try await rig.rig.run([rig.asRoot])
    #expect(summary.duplicates == 5 && summary.assetsAdded == 0)
    unlink(rig.library.url.path + "/imports/known-files")
    #expect(try await rig.rig.run([rig.asRoot]).summary.assetsAdded == 1, "Without what is known it is read.")
  }

  @Test("a file that is written slowly is imported whole, once")
  func slow() async throws {
    let rig = try WatchedLibrary()
    try await rig.watching {
      try await rig.waitUntilWatching()
      let whole = TinyMedia.scanned("slow", isWhole: true)
      let path = rig.place("slow.jpg")
      #expect(FileManager.default.createFile(atPath: path, contents: nil))
      let file = try #require(FileHandle(forWritingAtPath: path))
      for start in stride(from: 0, to: whole.count, by: max(1, whole.count / 6)) {
        try file.write(contentsOf: whole[(whole.startIndex + start)...].prefix(max(1, whole.count / 6)))
        // Longer than the quiet time, while the file is open.
        try rig.write("other\(start).jpg", "other \(start)")
        let count = start / max(1, whole.count / 6) + 1
        try await rig.wait(for: count)
      }
      let others = try rig.rig.assets().count
      try file.close()
      try await rig.wait(for: others + 1)
    }
    #expect(try rig.rig.verify().missingResources.isEmpty)
    #expect(try rig.paths().contains("slow.jpg"))
  }

  @Test("a still and its movie that come together are one asset; a watch waits for another import")
  func waits() async throws {
    let rig = try WatchedLibrary()
    let turn = try ImportTurn(
      {
        try rig.library.store.folder.makeFolder(ImportReportFile.folder)
        return rig.library.store.folder
      }())
    try rig.write("a.jpg", "a")
    try rig.write("a.mov", "", TinyMedia.movie(contentIdentifier: ImportTests.identifier))
    try await rig.watching {
      try await waitUntil("the watch waits") { rig.waitingCount > 0 }
      #expect(try rig.rig.assets().isEmpty)
      turn.end()
      try await rig.wait(forPaths: ["a.jpg", "a.mov"])
    }
    let assets = try rig.rig.assets()
    #expect(assets.count == 1 && assets.first?.mediaSubtypes.contains(.photoLive) == true)
  }

  private static func knownFile(_ byte: UInt8) -> KnownFile {
    KnownFile(
      state: FileState(byteCount: 1, modified: 2, changed: 3), sha256: [UInt8](repeating: byte, count: 32),
      sha1: [UInt8](repeating: byte, count: 20))
  }

  /// What is known by now, read anew.
  private static func known(in rig: WatchedLibrary) -> KnownFiles {
    let known = KnownFiles(in: rig.library.store.folder)
    known.refresh()
    return known
  }

  @Test("the first record of a run is appended to what is there, behind its last whole record")
  func appendedKnown() throws {
    let rig = try WatchedLibrary()
    try rig.library.store.folder.makeFolder(ImportReportFile.folder)
    let path = rig.library.url.path + "/imports/known-files"
    func status() throws -> (inode: UInt64, bytes: Int) {
      var status = stat()
      #expect(stat(path, &status) == 0)
      return (UInt64(status.st_ino), Int(status.st_size))
    }
    try Self.known(in: rig).record((0..<100).map { (FilePath("/p/\($0)"), Self.knownFile(UInt8($0))) })
    let before = try status()
    try Self.known(in: rig).record([(FilePath("/q"), Self.knownFile(200))])
    let after = try status()
    #expect(after.inode == before.inode && after.bytes - before.bytes < 200, "\(before) \(after)")
    // A record that was cut off is cut away, so that the next one can be read.
    #expect(truncate(path, off_t(after.bytes - 3)) == 0)
    try Self.known(in: rig).record([(FilePath("/r"), Self.knownFile(201))])
    let again = Self.known(in: rig)
    #expect(again[FilePath("/r")] != nil && again[FilePath("/q")] == nil && again[FilePath("/p/99")] != nil)
    #expect(try status().inode == before.inode)
    // Most records count no longer.
    for _ in 0..<12 {
      let known = Self.known(in: rig)
      for byte in [1, 2] as [UInt8] {
        try known.record((0..<100).map { (FilePath("/p/\($0)"), Self.knownFile(byte)) })
      }
    }
    let worn = try status()
    try Self.known(in: rig).record([(FilePath("/s"), Self.knownFile(202))])
    #expect(try status().bytes < worn.bytes / 5 && Self.known(in: rig)[FilePath("/p/7")] == Self.knownFile(2))
  }

  @Test("what was known before an erasure removed it is not written again", arguments: [false, true])
  func erasedKnown(hasRecorded: Bool) throws {
    let rig = try WatchedLibrary()
    try rig.library.store.folder.makeFolder(ImportReportFile.folder)
    try Self.known(in: rig).record([(FilePath("/a"), Self.knownFile(1))])
    let known = Self.known(in: rig)
    if hasRecorded { try known.record([(FilePath("/b"), Self.knownFile(2))]) }
    #expect(unlink(rig.library.url.path + "/imports/known-files") == 0)
    // The first record after it may be about what was known before, and is dropped with it.
    try known.record([(FilePath("/a"), Self.knownFile(1))])
    try known.record([(FilePath("/c"), Self.knownFile(3))])
    let now = Self.known(in: rig)
    #expect(now[FilePath("/a")] == nil && now[FilePath("/b")] == nil && now[FilePath("/c")] == Self.knownFile(3))
  }

  @Test("an erasure between the commit of a batch and its record leaves nothing among the known files")
  func erasedMeanwhile() async throws {
    for removesFile in [false, true] {
      let rig = try WatchedLibrary()
      for index in 0..<3 { try rig.write("p\(index).jpg", "\(index)") }
      try rig.library.store.folder.makeFolder(ImportReportFile.folder)
      let known = Self.known(in: rig)
      let target = ForgettingTarget(removing: removesFile ? rig.library.url.path + "/imports/known-files" : nil)
      let importer = MediaImporter(
        target: target, resources: rig.library.store.resources, tool: try SharedTool.exiftool(), known: known)
      let summary = try await importer.run([rig.asRoot])
      #expect(summary.assetsAdded == 3)
      #expect(Self.known(in: rig).states(below: [rig.asRoot]) { _ in true }.isEmpty)
    }
  }

  @Test("a damaged end of the known files is ignored, and the rest is used")
  func damagedKnown() throws {
    let rig = try WatchedLibrary()
    try rig.library.store.folder.makeFolder(ImportReportFile.folder)
    let known = KnownFiles(in: rig.library.store.folder)
    known.refresh()
    let state = FileState(byteCount: 1, modified: 2, changed: 3)
    func file(_ byte: UInt8) -> KnownFile {
      KnownFile(
        state: state, sha256: [UInt8](repeating: byte, count: 32), sha1: [UInt8](repeating: byte, count: 20))
    }
    try known.record([("/a", 1), ("/b", 2), ("/c", 3)].map { (FilePath($0.0), file($0.1)) })
    try known.record([(FilePath("/b"), nil)])
    let path = rig.library.url.path + "/imports/known-files"
    let whole = try Data(contentsOf: URL(filePath: path))
    for count in 0...whole.count {
      try whole.prefix(count).write(to: URL(filePath: path))
      let again = KnownFiles(in: rig.library.store.folder)
      again.refresh()
      for (name, byte) in [("/a", 1), ("/c", 3)] as [(String, UInt8)] {
        let found = again[FilePath(name)]
        #expect(found == nil || found == file(byte))
        if count == whole.count { #expect(found != nil) }
      }
      if count == whole.count { #expect(again[FilePath("/b")] == nil) }
    }
    var damaged = whole
    damaged[damaged.count / 2] ^= 1
    try damaged.write(to: URL(filePath: path))
    let again = KnownFiles(in: rig.library.store.folder)
    again.refresh()
    let believed = ["/a", "/b", "/c"].compactMap { again[FilePath($0)] }
    #expect(believed.allSatisfy { [file(1), file(2), file(3)].contains($0) })
  }
}

/// A library from which everything is erased before it is looked up, with the known files if those are named.
private struct ForgettingTarget: ImportTarget {
  private let real = MemoryTarget()
  private let file: String?

  init(removing file: String?) { self.file = file }

  func assets(holding contents: Set<[UInt8]>) async -> [[UInt8]: ContentHolder] {
    guard let file else { return [:] }
    // It was there when it was looked up, and is erased before the answer is used.
    let held = await real.assets(holding: contents)
    if !held.isEmpty { unlink(file) }
    return held
  }

  func holders(of contents: Set<[UInt8]>) async -> [[UInt8]: Set<LocalIdentifier>] { await real.holders(of: contents) }

  func copied(_ contents: Set<[UInt8]>) async -> Set<[UInt8]> { await real.copied(contents) }

  var canStack: Bool { true }

  func untouched(_ assets: Set<LocalIdentifier>) async -> [LocalIdentifier: UntouchedAsset] { [:] }

  func unpairedHalves(contentIdentifiers: [String]) async -> [ExactText: [LivePhotoHalf]] {
    await real.unpairedHalves(contentIdentifiers: contentIdentifiers)
  }

  func place(_ assets: [LocalIdentifier], in album: AlbumPlace) async -> PlacedMembers {
    await real.place(assets, in: album)
  }

  func record(_ batch: ImportBatch) async throws -> [RecordedChange] { try await real.record(batch) }
}

/// A library and a folder that is watched.
final class WatchedLibrary: Sendable {
  let rig: ImportedLibrary
  let folder: TemporaryFolder
  let options: Mutex<LibraryWatch.Options>
  private let news = Mutex<[LibraryWatch.News]>([])

  var library: PhotoLibrary { rig.library }
  /// The folder that is watched.
  var root: URL { URL(filePath: folder.path).resolvingSymlinksInPath().appending(path: "photos") }
  var asRoot: FilePath { FilePath(root.path) }

  init(watchLimit: Int = .max) throws {
    rig = try ImportedLibrary()
    folder = try TemporaryFolder()
    var options = LibraryWatch.Options()
    (options.quietTime, options.graceTime, options.watchLimit) = (.milliseconds(100), .milliseconds(600), watchLimit)
    options.importing.tool = try SharedTool.exiftool()
    self.options = Mutex(options)
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
  }

  // MARK: The folder

  func place(_ name: String) -> String { "\(root.path)/\(name)" }
  func path(_ name: String) -> FilePath { FilePath(place(name)) }

  func write(_ name: String, _ comment: String, _ data: Data? = nil) throws {
    try folder.write("photos/\(name)", data ?? ImportTests.still(comment))
  }

  func move(_ name: String, _ other: String) throws { #expect(rename(place(name), place(other)) == 0) }
  func remove(_ name: String) throws { #expect(unlink(place(name)) == 0) }

  /// Changes bytes of a file, not its size.
  func overwriteUnseen(_ name: String) throws {
    var data = try Data(contentsOf: URL(filePath: place(name)))
    #expect(ImportTests.still("9").count == data.count)
    data = ImportTests.still("9")
    try data.write(to: URL(filePath: place(name)))
  }

  /// What is known of a file, as though it had been read with the times that it has now.
  func known(of name: String, as file: KnownFile?) throws -> KnownFile? {
    var status = stat()
    #expect(stat(place(name), &status) == 0)
    var file = file
    file?.state = FileState(SourceStamp(status))
    return file
  }

  // MARK: The library

  /// The paths of all referenced files below the folder.
  func paths() throws -> [String] {
    try rig.assets().flatMap { try library.resources(of: $0) }.compactMap { resource in
      guard case .referenced(let path) = resource.storage else { return nil }
      return String(path.dropFirst(root.path.count + 1))
    }.sorted()
  }

  func name(of asset: Asset) throws -> String? { try library.resources(of: asset).first?.originalFilename }

  func causes() throws -> Set<String?> {
    var causes: Set<String?> = []
    try library.forEachLogEntry(LogFilter()) { entry in
      if entry.commit.cause != nil { causes.insert(entry.commit.cause) }
      return true
    }
    return causes
  }

  // MARK: The watch

  func watch() throws -> LibraryWatch { try LibraryWatch(of: library, options: options.withLock { $0 }) }

  /// Runs a watch during a body.
  /// - Parameter roots: what is watched; nil: the folder.
  func watching(_ roots: [FilePath]? = nil, _ body: @Sendable () async throws -> Void) async throws {
    news.withLock { $0.removeAll { if case .watching = $0 { true } else { false } } }
    let watch = try watch()
    let roots = roots ?? [asRoot]
    let task = Task.detached { [self] in
      try await watch.run(roots) { one in self.news.withLock { $0.append(one) } }
    }
    do {
      try await body()
    } catch {
      task.cancel()
      _ = try? await task.value
      throw error
    }
    task.cancel()
    #expect(try await task.value == .cancelled)
  }

  func wait(for count: Int) async throws {
    try await waitUntil("\(count) assets") { try rig.assetCount() == count }
  }

  func wait(forPaths paths: [String]) async throws {
    try await waitUntil("the paths \(paths), instead of \(try self.paths())") { try self.paths() == paths }
  }

  func waitUntilKnown(_ name: String) async throws {
    try await waitUntil("\(name) is known") {
      let known = KnownFiles(in: library.store.folder)
      known.refresh()
      return known[path(name)] != nil
    }
  }

  func waitUntilWatching() async throws {
    try await waitUntil("all folders were read") {
      news.withLock { $0.contains { if case .watching = $0 { true } else { false } } }
    }
  }

  var summaries: [ImportSummary] {
    news.withLock { $0.compactMap { if case .imported(let summary) = $0 { summary } else { nil } } }
  }
  var missing: [String] {
    news.withLock { $0.flatMap { if case .missing(let paths) = $0 { paths } else { [] as [String] } } }.sorted()
  }
  var away: Int { news.withLock { $0.count { if case .away = $0 { true } else { false } } } }
  var returned: Int { news.withLock { $0.count { if case .returned = $0 { true } else { false } } } }
  var waitingCount: Int { news.withLock { $0.count { if case .waiting = $0 { true } else { false } } } }
  var scanned: [String] {
    news.withLock { $0.compactMap { if case .scanning(let sentence) = $0 { sentence } else { nil } } }
  }
}
