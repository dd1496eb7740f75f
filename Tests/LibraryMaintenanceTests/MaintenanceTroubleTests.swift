import EventLog
import Foundation
import Glibc
import LMDB
import LibraryMaintenance
import PhotoLedger
import Synchronization
import TestSupport
import Testing

/// What an erasure must reach when something else was cut short, runs beside it, or came from elsewhere.
@Suite("Maintenance, interrupted, raced and deceived")
struct MaintenanceTroubleTests {
  /// A library that has the log of another one and its files.
  private static func follower(of kept: KeptLibrary) throws -> PhotoLibrary {
    let place = kept.folder.place("follower")
    try PhotoLibrary.importLog(to: place, next: LogText.source(try LogText.lines(kept.library)))
    try FileManager.default.copyItem(
      at: kept.url.appending(path: "resources"), to: place.appending(path: "resources"))
    return try PhotoLibrary(at: place)
  }

  /// Whether a moment's rows show that the secret asset was a favourite.
  private static func isTold(_ kept: KeptLibrary, in library: PhotoLibrary, at sequence: UInt64) throws -> Bool {
    let view = try library.at(sequence: sequence)
    return try view.fetchAssets(where: #Predicate { $0.isFavorite }).contains { $0.id == kept.secret }
  }

  // MARK: Rows that lie beside the store

  @Test("compacting removes what a killed rebuild left, whichever process has its number now")
  func leftoverOfARebuild() async throws {
    let kept = try await KeptLibrary.make()
    let left = kept.url.appending(path: "store/.shadow.photoledger-\(getppid()).1")
    try FileManager.default.createDirectory(at: left, withIntermediateDirectories: true)
    try Data("Sunset in Zanzibar".utf8).write(to: left.appending(path: "data.mdb"))
    try kept.library.eraseAssets([kept.secret])
    try kept.close()
    try PhotoLibrary.compact(at: kept.url)
    #expect(try kept.tracesFound() == [])
  }

  @Test("leftovers of an earlier process with the same number do not block a rebuild, and are removed")
  func leftoverOfTheSameNumber() throws {
    let made = try TemporaryLibrary()
    let store = made.url.appending(path: "store")
    for index in 900_000..<900_003 {
      try FileManager.default.createDirectory(
        at: store.appending(path: ".shadow.photoledger-\(getpid()).\(index)"), withIntermediateDirectories: true)
    }
    try made.library.rebuild()
    let names = try FileManager.default.contentsOfDirectory(atPath: store.path)
    #expect(!names.contains { $0.hasPrefix(".shadow") })
  }

  @Test("snapshots left by an erasure that was killed reveal nothing, and are removed by the next compaction")
  func leftoverSnapshots() async throws {
    let kept = try await KeptLibrary.make()
    let before = try kept.head().sequence
    try kept.library.makeSnapshots(spacing: 1)
    #expect(try Self.isTold(kept, in: kept.library, at: before))
    let (folder, aside) = (kept.url.appending(path: "snapshots"), kept.folder.place("aside.mdb"))
    try FileManager.default.copyItem(at: folder.appending(path: "data.mdb"), to: aside)
    try kept.library.eraseAssets([kept.secret])
    #expect(try kept.library.snapshots() == nil)
    // As though the process had died after the commit.
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try FileManager.default.moveItem(at: aside, to: folder.appending(path: "data.mdb"))
    #expect(try kept.library.snapshots() != nil)
    for sequence in 5...before {
      #expect(try !Self.isTold(kept, in: kept.library, at: sequence), "at \(sequence)")
    }
    try kept.close()
    try PhotoLibrary.compact(at: kept.url)
    #expect(try kept.tracesFound() == [])
  }

  @Test("making snapshots again after a killed erasure keeps none of the old ones")
  func snapshotsMadeAgain() async throws {
    let kept = try await KeptLibrary.make()
    let before = try kept.head().sequence
    try kept.library.makeSnapshots(spacing: 1)
    let (folder, aside) = (kept.url.appending(path: "snapshots"), kept.folder.place("aside.mdb"))
    try FileManager.default.copyItem(at: folder.appending(path: "data.mdb"), to: aside)
    try kept.library.eraseAssets([kept.secret])
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try FileManager.default.moveItem(at: aside, to: folder.appending(path: "data.mdb"))
    try kept.library.makeSnapshots()
    for sequence in 5...before {
      #expect(try !Self.isTold(kept, in: kept.library, at: sequence), "at \(sequence)")
    }
    let last = try #require(try kept.library.snapshots()).lastSequence
    #expect(try last == kept.head().sequence, "they are of today's log")
  }

  @Test("snapshots that another process made in place of the open ones are read and written")
  func snapshotsOfAnother() async throws {
    let kept = try await KeptLibrary.make()
    let library = kept.library
    let (folder, aside) = (kept.url.appending(path: "snapshots"), kept.folder.place("aside.mdb"))
    try library.makeSnapshots(spacing: 3)
    try FileManager.default.copyItem(at: folder.appending(path: "data.mdb"), to: aside)
    try library.dropSnapshots()
    try library.makeSnapshots(spacing: 1)
    #expect(try library.snapshots()?.spacing == 1)
    try FileManager.default.removeItem(at: folder)
    #expect(try library.snapshots() == nil)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try FileManager.default.moveItem(at: aside, to: folder.appending(path: "data.mdb"))
    #expect(try library.snapshots()?.spacing == 3)
    for isHidden in [true, false, true] {
      try await kept.small.change { $0.setHidden(isHidden, for: [kept.other]) }
    }
    let last = try library.makeSnapshots().lastSequence
    #expect(try library.snapshots()?.lastSequence == last)
    try library.dropSnapshots()
    #expect(!FileManager.default.fileExists(atPath: folder.path))
  }

  @Test("an erasure is complete although the snapshots cannot be read", arguments: [0, 9000])
  func unreadableSnapshots(length: Int) async throws {
    let kept = try await KeptLibrary.make()
    try kept.library.makeSnapshots(spacing: 1)
    try kept.close()
    let folder = kept.url.appending(path: "snapshots")
    try FileManager.default.removeItem(at: folder.appending(path: "lock.mdb"))
    try (Data(contentsOf: folder.appending(path: "data.mdb")).prefix(length)).write(
      to: folder.appending(path: "data.mdb"))
    let library = try PhotoLibrary(at: kept.url)
    let report = try library.eraseAssets([kept.secret])
    #expect(report.assets.map(\.id) == [kept.secret])
    #expect(!FileManager.default.fileExists(atPath: folder.path))
    library.close()
    try kept.close()
    try PhotoLibrary.compact(at: kept.url)
    #expect(try kept.tracesFound() == [])
  }

  // MARK: Followers

  @Test("a follower that imports an erasure also deletes its own snapshots and import reports")
  func followerForgets() async throws {
    let kept = try await KeptLibrary.make()
    let (start, before) = (try kept.library.currentToken, try kept.head().sequence)
    let follower = try Self.follower(of: kept)
    defer { follower.close() }
    try follower.makeSnapshots(spacing: 1)
    let imports = follower.url.appending(path: "imports")
    try FileManager.default.createDirectory(at: imports, withIntermediateDirectories: true)
    let name = kept.secret.spelled(as: .asset)
    let report = imports.appending(path: "one.jsonl")
    try Data(#"{"asset":"\#(name)","outcome":"asset","path":"/p/ZNZ_0001.HEIC"}"#.utf8).write(to: report)
    try kept.library.eraseAssets([kept.secret])
    try follower.appendLog(next: LogText.source(try LogText.lines(kept.library, after: start)))
    #expect(try follower.snapshots() == nil)
    for sequence in 5...before { #expect(try !Self.isTold(kept, in: follower, at: sequence), "at \(sequence)") }
    #expect(try String(contentsOf: report, encoding: .utf8).contains("ZNZ") == false)
  }

  @Test("a follower keeps the files of undone creations, since an undo of the undo restores them")
  func followerKeepsFiles() async throws {
    let kept = try await KeptLibrary.make()
    let draft = ResourceDraft(type: .photo, source: .data(Data("kept".utf8)), originalFilename: "kept.jpg")
    var added: LocalIdentifier?
    try kept.library.performChangesAndWait(cause: "import") { block in
      added = block.createAsset(AssetCreation(mediaType: .image, resources: [draft]))
    }
    let id = try #require(added)
    let follower = try Self.follower(of: kept)
    defer { follower.close() }
    let start = try kept.library.currentToken
    let undo = try kept.library.undoAndWait(.cause("import"))
    try follower.appendLog(next: LogText.source(try LogText.lines(kept.library, after: start)))
    let middle = try kept.library.currentToken
    try kept.library.undoAndWait(.commit(try #require(undo.token)))
    try follower.appendLog(next: LogText.source(try LogText.lines(kept.library, after: middle)))
    let asset = try #require(try follower.asset(id.uuidString))
    let resource = try follower.resources(of: asset)[0]
    #expect(try follower.store.resources.state(of: resource, hashing: true) == .present)
  }

  @Test(
    "a follower that imports a purge or an erasure keeps a file that an undo can bring back to another asset",
    arguments: [false, true])
  func followerKeepsFormerFiles(erases: Bool) async throws {
    let kept = try await KeptLibrary.make()
    let draft = ResourceDraft(type: .photo, source: .data(Data("former".utf8)), originalFilename: "former.jpg")
    let creation = AssetCreation(mediaType: .image, resources: [draft])
    var ids: [LocalIdentifier] = []
    try kept.library.performChangesAndWait(cause: "import") { ids.append($0.createAsset(creation)) }
    let undo = try #require(try kept.library.undoAndWait(.cause("import")).token)
    try kept.library.performChangesAndWait { ids.append($0.createAsset(creation)) }
    let follower = try Self.follower(of: kept)
    defer { follower.close() }
    let start = try kept.library.currentToken
    if erases {
      try kept.library.eraseAssets([ids[1]])
    } else {
      try kept.library.performChangesAndWait { block in
        block.deleteAssets([ids[1]])
        block.purgeAssets([ids[1]])
      }
    }
    try follower.appendLog(next: LogText.source(try LogText.lines(kept.library, after: start)))
    let middle = try kept.library.currentToken
    try kept.library.undoAndWait(.commit(undo))
    try follower.appendLog(next: LogText.source(try LogText.lines(kept.library, after: middle)))
    for library in [kept.library, follower] {
      let asset = try #require(try library.asset(ids[0].uuidString))
      let resource = try library.resources(of: asset)[0]
      #expect(try library.store.resources.state(of: resource, hashing: true) == .present)
    }
    let end = try kept.library.currentToken
    try kept.library.eraseAssets([ids[0]])
    try follower.appendLog(next: LogText.source(try LogText.lines(kept.library, after: end)))
    for library in [kept.library, follower] {
      let path = library.store.resources.path(ofContent: Array("former".utf8).sha256)
      #expect(!FileManager.default.fileExists(atPath: path))
    }
  }

  // MARK: Undo

  /// Erases an asset while somebody is asked whether an undo may be made.
  private final class Eraser: ChangeConfirmation {
    let library: PhotoLibrary
    let asset: LocalIdentifier
    let failure = Mutex<(any Error)?>(nil)

    init(_ library: PhotoLibrary, _ asset: LocalIdentifier) { (self.library, self.asset) = (library, asset) }

    func confirm(_ proposal: ChangeProposal) -> Bool {
      guard proposal.erasedAssets.isEmpty else { return true }
      do { try library.eraseAssets([asset]) } catch { failure.withLock { $0 = error } }
      return true
    }
  }

  @Test("an undo that was composed before an erasure and is executed after it restores nothing")
  func undoRaced() async throws {
    let kept = try await KeptLibrary.make()
    try await kept.small.change { $0.deleteAssets([kept.secret]) }
    try kept.library.performChangesAndWait(cause: "purge") { $0.purgeAssets([kept.secret]) }
    let eraser = Eraser(kept.library, kept.secret)
    try kept.library.setChangeConfirmation(eraser)
    let report = try kept.library.undoAndWait(.cause("purge"), onConflict: .force)
    try kept.library.setChangeConfirmation(nil)
    #expect(eraser.failure.withLock { $0 == nil })
    #expect(report.changes.isEmpty && report.conflicts.contains { $0.sentence.contains("it was erased") })
    #expect(try kept.library.asset(kept.secret.uuidString) == nil)
    try kept.expectSound()
    try kept.close()
    try PhotoLibrary.compact(at: kept.url)
    #expect(try kept.tracesFound() == [])
  }

  @Test("an asset that an undo removed is erased like any other, and the undo of the undo restores nothing")
  func undoneThenErased() async throws {
    let kept = try await KeptLibrary.make()
    let draft = ResourceDraft(
      type: .photo, source: .data(KeptLibrary.film + KeptLibrary.photo), originalFilename: "ZNZ_0001.HEIC")
    var added: LocalIdentifier?
    try kept.library.performChangesAndWait(cause: "import") { block in
      var creation = AssetCreation(mediaType: .image, resources: [draft])
      creation.caption = "xylophone"
      added = block.createAsset(creation)
    }
    let id = try #require(added)
    let undo = try kept.library.undoAndWait(.cause("import"))
    let report = try kept.library.eraseAssets([id, kept.secret])
    #expect(report.assets[0].wasPurged && report.assets[0].removedFiles.count == 1)
    let token = try #require(undo.token)
    let plan = try kept.library.undoAndWait(.commit(token), onConflict: .force)
    #expect(plan.changes.isEmpty && plan.conflicts.contains { $0.sentence.contains("it was erased") })
    try kept.expectSound()
    try kept.close()
    try PhotoLibrary.compact(at: kept.url, sweepingResources: true)
    #expect(try kept.tracesFound() == [])
  }

  @Test("sweeping keeps the files of undone creations, and no others")
  func sweepKeepsUndone() async throws {
    let kept = try await KeptLibrary.make()
    let draft = ResourceDraft(type: .photo, source: .data(Data("undone".utf8)), originalFilename: "undone.jpg")
    var added: LocalIdentifier?
    try kept.library.performChangesAndWait(cause: "import") { block in
      added = block.createAsset(AssetCreation(mediaType: .image, resources: [draft]))
    }
    let id = try #require(added)
    let undo = try #require(try kept.library.undoAndWait(.cause("import")).token)
    let stray = kept.url.appending(path: "resources/ab/" + String(repeating: "c", count: 62))
    try FileManager.default.createDirectory(
      at: stray.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data("stray".utf8).write(to: stray)
    try kept.close()
    let report = try PhotoLibrary.compact(at: kept.url, sweepingResources: true)
    #expect(report.sweptFiles == ["ab/" + String(repeating: "c", count: 62)])
    let library = try PhotoLibrary(at: kept.url)
    defer { library.close() }
    try library.undoAndWait(.commit(undo))
    let asset = try #require(try library.asset(id.uuidString))
    let resource = try library.resources(of: asset)[0]
    #expect(try library.store.resources.state(of: resource, hashing: true) == .present)
  }

  @Test("a plain file in the place of a folder of files stops no copy and no sweep, and is in none")
  func strayFile() async throws {
    let kept = try await KeptLibrary.make()
    let files = FileManager.default
    let names = try files.contentsOfDirectory(atPath: kept.url.path + "/resources")
    let free = try #require(Set(["ab", "cd", "ef", "01", "23"]).subtracting(names).min())
    let stray = "resources/\(free)"
    try Data("stray".utf8).write(to: kept.url.appending(path: stray))
    let (backup, fork, restored) = (kept.folder.place("backup"), kept.folder.place("fork"), kept.folder.place("again"))
    let report = try kept.library.backup(to: backup)
    #expect(report.resources.fileCount == 4 && report.resources.missingFiles.isEmpty)
    #expect(try kept.library.fork(to: fork).resources.fileCount == 4)
    try Data("stray".utf8).write(to: backup.appending(path: stray))
    #expect(try PhotoLibrary.restore(from: backup, to: restored).resources.fileCount == 4)
    for copy in [fork, restored] { #expect(!files.fileExists(atPath: copy.appending(path: stray).path)) }
    try kept.close()
    #expect(try PhotoLibrary.compact(at: kept.url, sweepingResources: true).sweptFiles.isEmpty)
    #expect(files.fileExists(atPath: kept.url.appending(path: stray).path))
  }

  // MARK: Backups from anywhere

  enum Snare: CaseIterable { case storeLink, manifestPipe, resourcePipe, resourceLink }

  @Test("links and pipes in a backup are not followed and do not block", arguments: Snare.allCases)
  func snares(snare: Snare) async throws {
    let kept = try await KeptLibrary.make()
    let backup = kept.folder.place("backup")
    try kept.library.backup(to: backup)
    let files = FileManager.default
    let asset = try #require(try kept.library.asset(kept.other.uuidString))
    let name = kept.library.url(of: try #require(try kept.library.resources(of: asset).first)).path
      .dropFirst(kept.url.path.count + 1)
    let path =
      switch snare {
      case .storeLink: backup.appending(path: "store/data.mdb")
      case .manifestPipe: backup.appending(path: "backup.json")
      case .resourcePipe, .resourceLink: backup.appending(path: name)
      }
    try files.removeItem(at: path)
    switch snare {
    case .storeLink:
      try files.createSymbolicLink(at: path, withDestinationURL: kept.url.appending(path: "store/data.mdb"))
    case .resourceLink: try files.createSymbolicLink(at: path, withDestinationURL: kept.url.appending(path: name))
    case .manifestPipe, .resourcePipe: #expect(mkfifo(path.path, 0o600) == 0)
    }
    let dump = try kept.dump()
    for way in [ResourceCopying.copied, .shared] {
      let error = #expect(throws: LibraryError.self) {
        try PhotoLibrary.restore(from: backup, to: kept.folder.place("restored"), resources: way)
      }
      #expect(error?.description.hasSuffix(".") == true)
    }
    #expect(try kept.dump().difference(from: dump) == nil)
    #expect(try files.contentsOfDirectory(atPath: kept.folder.url.path).sorted() == ["backup", "library"])
  }

  @Test("only report files are copied from the folder of imports")
  func importsThatAreLinks() async throws {
    let kept = try await KeptLibrary.make()
    let imports = kept.url.appending(path: "imports")
    try FileManager.default.createDirectory(at: imports, withIntermediateDirectories: true)
    try Data("{}\n".utf8).write(to: imports.appending(path: "one.jsonl"))
    try FileManager.default.createSymbolicLink(
      at: imports.appending(path: "two.jsonl"), withDestinationURL: imports.appending(path: "one.jsonl"))
    let backup = kept.folder.place("backup")
    try kept.library.backup(to: backup)
    #expect(try FileManager.default.contentsOfDirectory(atPath: backup.path + "/imports") == ["one.jsonl"])
  }

  @Test(
    "a link in the place of a folder of records, which may lead out of a backup, is not followed",
    arguments: ["imports", "decisions", "sidecars"])
  func recordsThatAreLinks(name: String) async throws {
    let kept = try await KeptLibrary.make()
    let files = FileManager.default
    let (backup, outside) = (kept.folder.place("backup"), kept.folder.place("outside"))
    try kept.library.backup(to: backup)
    try files.createDirectory(at: outside, withIntermediateDirectories: true)
    try Data("private".utf8).write(to: outside.appending(path: "key"))
    let link = backup.appending(path: name)
    try files.createSymbolicLink(at: link, withDestinationURL: outside)
    let error = #expect(throws: LibraryError.self) {
      try PhotoLibrary.restore(from: backup, to: kept.folder.place("restored"), skippingDamagedFiles: true)
    }
    #expect(error?.code == .corrupted && error?.description.contains(link.path) == true)
    #expect(try files.contentsOfDirectory(atPath: kept.folder.url.path).sorted() == ["backup", "library", "outside"])
  }

  @Test("restoring verifies the files that it shares as well as those that it copies", arguments: [false, true])
  func sharedFilesAreProved(skips: Bool) async throws {
    let kept = try await KeptLibrary.make()
    let backup = kept.folder.place("backup")
    try kept.library.backup(to: backup)
    let asset = try #require(try kept.library.asset(kept.other.uuidString))
    let name = kept.library.url(of: try #require(try kept.library.resources(of: asset).first)).path
      .dropFirst(kept.url.path.count)
    chmod(backup.path + name, 0o644)
    try Data("rotten".utf8).write(to: URL(filePath: backup.path + name))
    let restored = kept.folder.place("restored")
    if skips {
      let report = try PhotoLibrary.restore(
        from: backup, to: restored, resources: .shared, skippingDamagedFiles: true)
      #expect(report.resources.damagedFiles == [backup.path + name])
      #expect(!FileManager.default.fileExists(atPath: restored.path + name))
    } else {
      let error = #expect(throws: LibraryError.self) {
        try PhotoLibrary.restore(from: backup, to: restored, resources: .shared)
      }
      #expect(error?.code == .corrupted)
    }
    #expect(try String(contentsOfFile: backup.path + name, encoding: .utf8) == "rotten", "the backup is as it was")
  }
}
