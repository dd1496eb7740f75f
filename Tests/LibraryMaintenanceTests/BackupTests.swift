import EventLog
import Foundation
import Glibc
import LMDB
import LibraryAudit
import PhotoLedger
import StoreTestSupport
import TestSupport
import Testing

@testable import LibraryMaintenance

@Suite("Backup and restore")
struct BackupTests {
  private static func names(_ url: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
  }

  @Test(
    "a backup of a library in use restores to the same chain, the same entries and the same files",
    arguments: ResourceCopying.allCases)
  func roundTrip(way: ResourceCopying) async throws {
    let kept = try await KeptLibrary.make()
    let backup = kept.folder.place("backup")
    var phases: Set<String> = []
    let report = try kept.library.backup(to: backup, resources: way) { progress in
      phases.insert(progress.phase)
      return true
    }
    let head = try kept.head()
    let dump = try kept.dump()
    #expect(report.chain == head.chain.description && report.eventCount == head.sequence)
    #expect(report.token == (try kept.library.currentToken))
    #expect(report.resources.fileCount == (way == .left ? 0 : 4))
    #expect(report.resources.missingFiles.count == (way == .left ? 4 : 0))
    #expect(phases.isSuperset(of: way == .left ? ["store"] : ["store", "resources"]))
    try await kept.small.change { $0.setFavorite(true, for: [kept.twin]) }
    let restored = kept.folder.place("restored")
    let again = try PhotoLibrary.restore(from: backup, to: restored, resources: way)
    #expect(again.chain == report.chain && again.token == report.token)
    let library = try PhotoLibrary(at: restored)
    defer { library.close() }
    let found = try library.verify(scratch: kept.folder.url, hashingContent: true)
    #expect(found.isSound && found.chain == report.chain)
    #expect(found.missingResources.isEmpty == (way != .left))
    #expect(try StoreDump(Environment.store(ofLibrary: restored.path)).difference(from: dump) == nil)
    // Both go on alone.
    try library.performChangesAndWait { $0.setFavorite(true, for: [kept.other]) }
    try kept.expectSound()
  }

  @Test("a restoration needs no folder for temporary files, and leaves none of its own")
  func noTemporaryFolder() async throws {
    let kept = try await KeptLibrary.make()
    let backup = kept.folder.place("backup")
    _ = try kept.library.backup(to: backup)
    let restored = kept.folder.place("restored")
    await #expect(processExitsWith: .success) { [from = backup.path as String, to = restored.path as String] in
      // No folder can be made below a file.
      setenv("TMPDIR", from + "/store/data.mdb", 1)
      _ = try PhotoLibrary.restore(from: URL(filePath: from), to: URL(filePath: to))
    }
    #expect(try Self.names(restored).contains("store") && !Self.names(restored).contains("scratch"))
  }

  @Test("a fork of a restored backup rejects the tokens of commits that were lost, and accepts those from before it")
  func lostCommits() async throws {
    let kept = try await KeptLibrary.make()
    let backup = kept.folder.place("backup")
    let before = try kept.library.backup(to: backup).token
    let limited = try kept.app.currentToken
    let lost = try kept.library.performChangesAndWait { $0.setFavorite(true, for: [kept.other]) }.token
    let restored = kept.folder.place("restored")
    try PhotoLibrary.restore(from: backup, to: restored)
    let library = try PhotoLibrary(at: restored)
    let place = kept.folder.place("fork")
    try library.fork(to: place)
    library.close()
    let fork = try PhotoLibrary(at: place)
    defer { fork.close() }
    for title in ["One", "Two"] { try fork.performChangesAndWait { $0.createAlbum(title: title) } }
    let error = #expect(throws: LibraryError.self) { _ = try fork.fetchPersistentChanges(since: lost) }
    #expect(error?.code == .invalidToken)
    #expect(throws: LibraryError.self) {
      _ = try fork.as("com.example.app").fetchPersistentChanges(since: limited)
    }
    #expect(try fork.fetchPersistentChanges(since: before).count > 1)
  }

  @Test("nothing existing is replaced, and a backup that is stopped leaves nothing")
  func refusals() async throws {
    let kept = try await KeptLibrary.make()
    let backup = kept.folder.place("backup")
    for stop in ["store", "resources"] {
      let error = #expect(throws: LibraryError.self) {
        try kept.library.backup(to: backup) { $0.phase != stop }
      }
      #expect(error?.code == .userCancelled)
      #expect(try Self.names(kept.folder.url) == ["library"], "\(stop)")
    }
    try kept.library.backup(to: backup)
    let before = try Self.names(backup)
    #expect(before == ["backup.json", "resources", "store"])
    #expect(throws: LibraryError.self) { try kept.library.backup(to: backup) }
    #expect(throws: LibraryError.self) { try PhotoLibrary.restore(from: backup, to: kept.url) }
    #expect(throws: LibraryError.self) { try kept.app.backup(to: kept.folder.place("another")) }
    let noBackup = #expect(throws: LibraryError.self) {
      try PhotoLibrary.restore(from: kept.url, to: kept.folder.place("another"))
    }
    #expect(noBackup?.code == .notALibrary)
    #expect(try Self.names(kept.folder.url) == ["backup", "library"])
  }

  @Test(
    "a file that is missing or altered is named; a backup with an altered one is not restored unless it is left out"
  )
  func damagedFiles() async throws {
    let kept = try await KeptLibrary.make()
    let asset = try #require(try kept.library.asset(kept.secret.uuidString))
    let paths = try kept.library.resources(of: asset).map { kept.library.url(of: $0).path }
    chmod(paths[0], 0o644)
    try Data("other bytes".utf8).write(to: URL(filePath: paths[0]))
    try FileManager.default.removeItem(atPath: paths[1])
    let first = try kept.library.backup(to: kept.folder.place("first"))
    #expect(first.resources.damagedFiles == [paths[0]] && first.resources.missingFiles.count == 2)
    let other = try #require(try kept.library.asset(kept.other.uuidString))
    let name = kept.library.url(of: try #require(try kept.library.resources(of: other).first)).path
      .dropFirst(kept.url.path.count)
    let copy = kept.folder.place("first").path + name
    chmod(copy, 0o644)
    try Data("rotten".utf8).write(to: URL(filePath: copy))
    let error = #expect(throws: LibraryError.self) {
      try PhotoLibrary.restore(from: kept.folder.place("first"), to: kept.folder.place("again"))
    }
    #expect(error?.code == .corrupted && error?.description.contains(copy) == true)
    #expect(try Self.names(kept.folder.url) == ["first", "library"])
    let report = try PhotoLibrary.restore(
      from: kept.folder.place("first"), to: kept.folder.place("again"), skippingDamagedFiles: true)
    #expect(report.resources.damagedFiles == [copy] && report.resources.missingFiles.count == 3)
  }

  @Test(
    "an original that the disk cannot read is left out and named, and so is one of a backup",
    .enabled(if: canBind, "mounting needs root"), arguments: [ResourceCopying.copied, .shared])
  func unreadableFiles(way: ResourceCopying) async throws {
    let kept = try await KeptLibrary.make()
    let (backup, restored) = (kept.folder.place("backup"), kept.folder.place("restored"))
    let asset = try #require(try kept.library.asset(kept.other.uuidString))
    let path = kept.library.url(of: try kept.library.resources(of: asset)[0]).path
    try withUnreadable(path) {
      let report = try kept.library.backup(to: backup)
      #expect(report.resources.damagedFiles == [path] && report.resources.fileCount == 3)
      #expect(report.resources.missingFiles.count == 1)
    }
    let twin = try #require(try kept.library.asset(kept.twin.uuidString))
    let name = kept.library.url(of: try kept.library.resources(of: twin)[0]).path.dropFirst(kept.url.path.count)
    let copy = backup.path + name
    try withUnreadable(copy) {
      let error = #expect(throws: LibraryError.self) {
        try PhotoLibrary.restore(from: backup, to: restored, resources: way)
      }
      #expect(error?.code == .corrupted && error?.description.contains(copy) == true)
      let report = try PhotoLibrary.restore(from: backup, to: restored, resources: way, skippingDamagedFiles: true)
      #expect(report.resources.damagedFiles == [copy] && report.resources.fileCount == 2)
      #expect(!FileManager.default.fileExists(atPath: restored.path + name))
    }
  }

  @Test("a backup that lost a file is not restored unless the caller accepts that", arguments: [true, false])
  func lostFiles(isNamed: Bool) async throws {
    let kept = try await KeptLibrary.make()
    // One that was missing before is not a loss of the backup, and one that no asset names any more is.
    let twin = try #require(try kept.library.asset(kept.twin.uuidString))
    try FileManager.default.removeItem(at: kept.library.url(of: try kept.library.resources(of: twin)[0]))
    let digits = Array("of an earlier edit".utf8).sha256.hexadecimal
    let former = "resources/\(digits.prefix(2))/\(digits.dropFirst(2))"
    try FileManager.default.createDirectory(
      at: kept.url.appending(path: former).deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data("of an earlier edit".utf8).write(to: kept.url.appending(path: former))
    let (backup, restored) = (kept.folder.place("backup"), kept.folder.place("restored"))
    #expect(try kept.library.backup(to: backup).resources.missingFiles.count == 1)
    #expect(try PhotoLibrary.restore(from: backup, to: kept.folder.place("whole")).resources.fileCount == 4)
    let other = try #require(try kept.library.asset(kept.other.uuidString))
    let named = try kept.library.url(of: kept.library.resources(of: other)[0]).path.dropFirst(kept.url.path.count + 1)
    let lost = backup.appending(path: isNamed ? String(named) : former)
    try FileManager.default.removeItem(at: lost)
    for way in [ResourceCopying.copied, .shared] {
      let error = #expect(throws: LibraryError.self) {
        try PhotoLibrary.restore(from: backup, to: restored, resources: way)
      }
      #expect(error?.code == .corrupted)
      #expect(error?.description.contains(isNamed ? lost.path : "its manifest counts 4") == true)
      #expect(try Self.names(kept.folder.url) == ["backup", "library", "whole"])
    }
    let report = try PhotoLibrary.restore(from: backup, to: restored, skippingDamagedFiles: true)
    #expect(report.resources.missingFiles.count == (isNamed ? 2 : 1) && report.resources.fileCount == 3)
    let empty = try PhotoLibrary.restore(from: backup, to: kept.folder.place("empty"), resources: .left)
    #expect(empty.resources.missingFiles.count == 4)
  }

  /// What became of a record of a backup.
  enum Loss: CaseIterable { case removed, truncated, altered }

  private static func inflict(_ loss: Loss, on record: URL) throws {
    let whole = try Data(contentsOf: record)
    switch loss {
    case .removed: try FileManager.default.removeItem(at: record.deletingLastPathComponent())
    case .truncated: try whole.dropLast(10).write(to: record)
    case .altered: try Data(whole.reversed()).write(to: record)
    }
  }

  @Test(
    "a backup that lost a report, the decisions or the journal is not restored unless the caller accepts that",
    arguments: Loss.allCases)
  func damagedRecords(loss: Loss) async throws {
    let kept = try await KeptLibrary.make()
    let names = ["decisions/not-duplicates", "imports/one.jsonl", "sidecars/files"]
    for name in names {
      let place = kept.url.appending(path: name)
      try FileManager.default.createDirectory(at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data("the words of \(name)\n".utf8).write(to: place)
    }
    let whole = kept.folder.place("whole")
    try kept.library.backup(to: whole)
    let intact = try PhotoLibrary.restore(from: whole, to: kept.folder.place("intact"))
    #expect(intact.resources.damagedFiles == [])
    for (index, name) in names.enumerated() {
      let (backup, restored) = (kept.folder.place("backup-\(index)"), kept.folder.place("restored-\(index)"))
      try kept.library.backup(to: backup)
      try Self.inflict(loss, on: backup.appending(path: name))
      let error = #expect(throws: LibraryError.self) { try PhotoLibrary.restore(from: backup, to: restored) }
      #expect(error?.code == .corrupted && error?.description.contains("\(backup.path)/\(name)") == true)
      #expect(!FileManager.default.fileExists(atPath: restored.path))
      let report = try PhotoLibrary.restore(from: backup, to: restored, skippingDamagedFiles: true)
      #expect(report.resources.damagedFiles == ["\(backup.path)/\(name)"] && report.resources.fileCount == 4)
      for other in names {
        let isThere = FileManager.default.fileExists(atPath: restored.appending(path: other).path)
        #expect(isThere == (other != name), "\(other)")
      }
    }
  }

  @Test("the manifest of a backup has the SHA-256 of each record, and one of an earlier version is accepted without")
  func recordsOfTheManifest() async throws {
    let kept = try await KeptLibrary.make()
    let report = kept.url.appending(path: "imports/one.jsonl")
    try FileManager.default.createDirectory(at: report.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data("{}\n".utf8).write(to: report)
    let backup = kept.folder.place("backup")
    try kept.library.backup(to: backup)
    let place = backup.appending(path: "backup.json")
    let object = try JSONSerialization.jsonObject(with: Data(contentsOf: place))
    var manifest = try #require(object as? [String: Any])
    let records = manifest["records"] as? [String: String]
    #expect(records == ["imports/one.jsonl": Array("{}\n".utf8).sha256.hexadecimal])
    manifest["records"] = nil
    try JSONSerialization.data(withJSONObject: manifest).write(to: place)
    try Data("other\n".utf8).write(to: backup.appending(path: "imports/one.jsonl"))
    let restored = kept.folder.place("restored")
    #expect(try PhotoLibrary.restore(from: backup, to: restored).resources.damagedFiles == [])
    #expect(try Data(contentsOf: restored.appending(path: "imports/one.jsonl")) == Data("other\n".utf8))
    // Beside the library that is being made.
    let beside = kept.folder.place("beside")
    try Data("beside".utf8).write(to: beside)
    manifest["records"] = ["../beside": "0"]
    try JSONSerialization.data(withJSONObject: manifest).write(to: place)
    try PhotoLibrary.restore(from: backup, to: kept.folder.place("another"), skippingDamagedFiles: true)
    #expect(FileManager.default.fileExists(atPath: beside.path))
  }

  /// What is done to a backup, and whether the store opens at all.
  enum Harm: CaseIterable {
    case noManifest, garbledManifest, newerManifest, otherChain, noStore, noFile, event, row
    case markedKey, markedFile, keyTwice
  }

  private static func doesNotVerify(_ backup: URL) -> String {
    "The store of the backup at \(backup.path) does not verify, and nothing was created; use another backup. "
  }

  private static func inflict(_ harm: Harm, on backup: URL) throws {
    let manifest = backup.appending(path: "backup.json")
    let text = try String(contentsOf: manifest, encoding: .utf8)
    switch harm {
    case .noManifest: try FileManager.default.removeItem(at: manifest)
    case .garbledManifest: try Data(text.dropLast(20).utf8).write(to: manifest)
    case .newerManifest: try Data(text.replacing("\"format\" : 1", with: "\"format\" : 2").utf8).write(to: manifest)
    case .otherChain:
      let chain = try #require(text.firstMatch(of: #/"chain" : "(.)/#))
      try Data(text.replacing(chain.output.0, with: "\"chain\" : \"\(chain.output.1 == "0" ? 1 : 0)").utf8).write(
        to: manifest)
    case .markedKey, .markedFile:
      // Many marks on one character would take hours to hash.
      let marks = String(repeating: "\\u0301\\u0316", count: 100_000)
      let (old, new) =
        harm == .markedKey
        ? ("{", "{\"x\(marks)\" : 1,") : ("\"missingFiles\" : [", "\"missingFiles\" : [\"x\(marks)\"], \"y\" : [")
      let range = try #require(text.firstRange(of: old))
      try Data(text.replacingCharacters(in: range, with: new).utf8).write(to: manifest)
    case .keyTwice:
      try Data((String(text.dropLast()) + ", \"chain\" : \"0\"}").utf8).write(to: manifest)
    case .noStore: try FileManager.default.removeItem(at: backup.appending(path: "store"))
    case .noFile: try Data("no LMDB file".utf8).write(to: backup.appending(path: "store/data.mdb"))
    case .event, .row:
      let environment = try Environment.store(ofLibrary: backup.path)
      let name = harm == .event ? "events" : "details"
      let database = try environment.database(name, integerKeys: true, create: false)
      try environment.write { t in
        var first: UInt64?
        try t.forEach(in: database, from: 2) { (key, _) throws(LMDBError) in
          first = key
          return .stop
        }
        let key = try #require(first)
        var value = try #require(try t.bytes(for: key, in: database))
        value[value.count / 2] ^= 1
        try t.put(key, value, in: database)
      }
      try environment.close()
    }
  }

  @Test(
    "a backup that does not match its manifest is rejected with a sentence, and nothing is created",
    .timeLimit(.minutes(5)), arguments: Harm.allCases)
  func damagedBackup(harm: Harm) async throws {
    let kept = try await KeptLibrary.make()
    let backup = kept.folder.place("backup")
    try kept.library.backup(to: backup, resources: .left)
    try Self.inflict(harm, on: backup)
    let error = #expect(throws: LibraryError.self) {
      try PhotoLibrary.restore(from: backup, to: kept.folder.place("restored"), resources: .left)
    }
    #expect(error?.description.hasSuffix(".") == true)
    let text = error?.description ?? ""
    #expect(!text.contains(".photoledger-"), "The folder that this names is gone: \(text)")
    if harm == .event || harm == .row {
      #expect(text.contains(Self.doesNotVerify(backup)), "\(text)")
      #expect(!text.contains("rebuild") && !text.contains("The copy failed"), "\(text)")
      #expect(text.contains("The log of the backup is sound.") == (harm == .row), "\(text)")
    }
    #expect(try Self.names(kept.folder.url) == ["backup", "library"])
  }

  @Test("where the store of a backup was cut short, the error names the backup and says to use another one")
  func truncatedStore() async throws {
    let kept = try await KeptLibrary.make()
    let backup = kept.folder.place("backup")
    try kept.library.backup(to: backup, resources: .left)
    #expect(truncate(backup.path + "/store/data.mdb", 4 * 4096) == 0)
    let error = #expect(throws: LibraryError.self) {
      try PhotoLibrary.restore(from: backup, to: kept.folder.place("restored"), resources: .left)
    }
    let text = error?.description ?? ""
    #expect(error?.code == .corrupted && !text.contains(".photoledger-"), "\(text)")
    #expect(text.contains(Self.doesNotVerify(backup)), "\(text)")
    #expect(try Self.names(kept.folder.url) == ["backup", "library"])
  }

  @Test("where the disk has no room for the store of a backup, the error names the backup and the place", .mountsMemory)
  func noRoomForStore() async throws {
    let kept = try await KeptLibrary.make()
    let backup = kept.folder.place("backup")
    try kept.library.backup(to: backup, resources: .left)
    let disk = kept.folder.place("disk")
    try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: false)
    try #require(mount("tmpfs", disk.path, "tmpfs", 0, "size=32k") == 0)
    defer { umount2(disk.path, Int32(MNT_DETACH)) }
    let restored = disk.appending(path: "restored")
    let error = #expect(throws: LibraryError.self) {
      try PhotoLibrary.restore(from: backup, to: restored, resources: .left)
    }
    #expect(error?.code == .notEnoughSpace)
    let sentence = "There is not enough space to restore \(backup.path) to \(restored.path); free some and try again."
    #expect(error?.description == sentence)
    #expect(try Self.names(disk) == [])
  }

  @Test("where the store of a backup cannot be written, the error names no place in the folder that is gone")
  func unwritableStore() async throws {
    let kept = try await KeptLibrary.make()
    let backup = kept.folder.place("backup")
    try kept.library.backup(to: backup, resources: .left)
    let restored = kept.folder.place("restored")
    await #expect(processExitsWith: .success) { [from = backup.path as String, to = restored.path as String] in
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: 8192, rlim_max: 8192)
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      let error = #expect(throws: LibraryError.self) {
        try PhotoLibrary.restore(from: URL(filePath: from), to: URL(filePath: to), resources: .left)
      }
      let text = error?.description ?? ".photoledger-"
      #expect(!text.contains(".photoledger-"), "\(text)")
    }
    #expect(try Self.names(kept.folder.url) == ["backup", "library"])
  }

  @Test("the rest of a backup whose process died is removed by the next one")
  func leftovers() async throws {
    let kept = try await KeptLibrary.make()
    let gone = try ChildRun(URL(filePath: "/bin/true"), [])
    gone.end()
    let left = kept.folder.place(".backup.photoledger-\(gone.identifier).1")
    try FileManager.default.createDirectory(at: left, withIntermediateDirectories: true)
    try kept.library.backup(to: kept.folder.place("backup"))
    #expect(!FileManager.default.fileExists(atPath: left.path))
  }

  @Test("a backup removes day-old leftovers of killed ones with other names beside it, unless they are locked")
  func leftoversOfOtherNames() async throws {
    let kept = try await KeptLibrary.make()
    let gone = try ChildRun(URL(filePath: "/bin/true"), [])
    gone.end()
    let number = gone.identifier
    let (left, held) = (".first.photoledger-\(number).1", ".held.photoledger-\(number).2")
    // The last one may be filled by another machine.
    let fresh = ".first.photoledger-\(number).5"
    let others = [
      ".photoledger-\(number).3", "first.photoledger-\(number).4", ".first.photoledger-\(number).x", fresh,
    ]
    for name in [left, held] + others {
      let place = kept.folder.place(name)
      try FileManager.default.createDirectory(
        at: place.appending(path: "resources/ab"), withIntermediateDirectories: true)
      for path in ["resources/ab", "resources", ""] where name != fresh || path != "resources/ab" {
        var times = [timeval(tv_sec: 1_000_000_000, tv_usec: 0), timeval(tv_sec: 1_000_000_000, tv_usec: 0)]
        #expect(utimes(place.appending(path: path).path, &times) == 0)
      }
    }
    // As a process of another container holds it, whose number says nothing here.
    let lock = open(kept.folder.place(held).path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(lock) }
    #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
    try kept.library.backup(to: kept.folder.place("second"))
    #expect(try Set(Self.names(kept.folder.url)) == Set(["library", "second", held] + others))
    #expect(flock(lock, LOCK_UN) == 0)
    try kept.library.fork(to: kept.folder.place("third"))
    #expect(try Set(Self.names(kept.folder.url)) == Set(["library", "second", "third"] + others))
  }

  @Test("a restoration that is asked to stop while it reads one large file stops in it, and leaves nothing")
  func stoppedInFile() async throws {
    let kept = try await KeptLibrary.make()
    let backup = kept.folder.place("backup")
    try kept.library.backup(to: backup)
    let twin = try #require(try kept.library.asset(kept.twin.uuidString))
    let name = kept.library.url(of: try kept.library.resources(of: twin)[0]).path.dropFirst(kept.url.path.count)
    // A hole, which takes no space and many seconds to hash.
    #expect(chmod(backup.path + name, 0o644) == 0 && truncate(backup.path + name, 1 << 34) == 0)
    let error = #expect(throws: LibraryError.self) {
      var looks = 0
      try PhotoLibrary.restore(from: backup, to: kept.folder.place("restored"), resources: .shared) { progress in
        guard progress.phase == "resources" else { return true }
        looks += 1
        return looks == 1
      }
    }
    #expect(error?.code == .userCancelled)
    #expect(try Self.names(kept.folder.url) == ["backup", "library"])
  }

  @Test("the store of a backup in progress is opened on a remote file system, too, and no other store is")
  func remote() {
    #expect(LibraryCopy.backupOptions.allowsRemoteFileSystem && !LibraryStore.options.allowsRemoteFileSystem)
  }
}

/// Runs a body while each read of a file fails with EIO, as for a bad sector: the memory of this process lies over it,
/// of which the first page is not there.
private func withUnreadable(_ path: String, _ body: () throws -> Void) throws {
  guard mount("/proc/self/mem", path, nil, UInt(MS_BIND), nil) == 0 else {
    throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPERM)
  }
  defer { umount2(path, Int32(MNT_DETACH)) }
  try body()
}

/// Whether the process may lay one file over another.
private let canBind: Bool = {
  guard let folder = try? TemporaryFolder() else { return false }
  let path = folder.place("file").path
  var isUnreadable = false
  try? Data().write(to: URL(filePath: path))
  try? withUnreadable(path) {
    let number = open(path, O_RDONLY)
    defer { close(number) }
    var byte: UInt8 = 0
    isUnreadable = read(number, &byte, 1) < 0 && errno == EIO
  }
  return isUnreadable
}()
