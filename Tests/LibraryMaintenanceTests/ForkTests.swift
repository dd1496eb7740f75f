import EventLog
import Foundation
import LMDB
import LibraryAudit
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

@Suite("Forks and compactions")
struct ForkTests {
  /// The bytes of every file, by path.
  private static func bytes(_ kept: KeptLibrary) throws -> [String: Data] {
    try kept.files().filter { !$0.hasSuffix("lock.mdb") }.reduce(into: [:]) { files, path in
      files[path] = try Data(contentsOf: kept.url.appending(path: path))
    }
  }

  @Test("nothing that happens in a fork changes a byte of the first library")
  func isolated() async throws {
    let kept = try await KeptLibrary.make()
    kept.library.close()
    try Environment.store(ofLibrary: kept.url.path).close()
    let first = try PhotoLibrary(at: kept.url)
    let before = try Self.bytes(kept)
    let place = kept.folder.place("fork")
    let report = try first.fork(to: place)
    #expect(report.resources.fileCount == 4 && report.resources.missingFiles.isEmpty)
    let fork = try PhotoLibrary(at: place)
    let asset = try #require(try fork.asset(kept.other.uuidString))
    let data = ContentEditingOutputFixture.bytes
    try fork.performChangesAndWait { block in
      block.setFavorite(true, for: [kept.other, kept.twin])
      block.addResources(
        [ResourceDraft(type: .alternatePhoto, source: .data(data), originalFilename: "edit.jpg")], to: asset.id)
      block.deleteAssets([kept.secret])
    }
    try fork.performChangesAndWait { $0.purgeAssets([kept.secret]) }
    try fork.eraseAssets([kept.twin])
    try fork.rebuild()
    fork.close()
    try Environment.store(ofLibrary: place.path).close()
    try PhotoLibrary.compact(at: place, sweepingResources: true)
    #expect(try Self.bytes(kept) == before)
    #expect(try first.verify(scratch: kept.folder.url, hashingContent: true).missingResources.isEmpty)
    first.close()
  }

  @Test("tokens of the common history are valid in both, and those of either's own commits in it alone")
  func tokens() async throws {
    let kept = try await KeptLibrary.make()
    let past = try kept.library.currentToken
    let place = kept.folder.place("fork")
    let report = try kept.library.fork(to: place)
    let fork = try PhotoLibrary(at: place)
    defer { fork.close() }
    #expect(report.commonToken == past)
    #expect(try fork.currentToken == report.token)
    let own = try fork.performChangesAndWait { $0.createAlbum(title: "Rehearsal") }.token
    let firsts = try kept.library.performChangesAndWait { $0.createAlbum(title: "Real") }.token
    #expect(own != firsts && !own.isComparable(to: firsts))
    for library in [kept.library, fork] { _ = try library.fetchPersistentChanges(since: past) }
    #expect(throws: LibraryError.self) { try fork.fetchPersistentChanges(since: firsts) }
    #expect(throws: LibraryError.self) { try kept.library.fetchPersistentChanges(since: own) }
    #expect(try fork.fetchPersistentChanges(since: own).isEmpty)
    #expect(try fork.verify(scratch: kept.folder.url).isSound)
    let nested = try fork.fork(to: kept.folder.place("nested"))
    let second = try PhotoLibrary(at: kept.folder.place("nested"))
    defer { second.close() }
    #expect(try second.fetchPersistentChanges(since: own).count == 1)
    #expect(Set([past, own, firsts, nested.token].map(\.library)).count == 3)
    let states = [past, own, try second.currentToken]
    for (here, state) in states.enumerated() {
      for (there, other) in states.enumerated() {
        let order: ComparisonResult =
          here == there ? .orderedSame : here < there ? .orderedAscending : .orderedDescending
        #expect(try second.order(of: state, to: other) == order)
      }
    }
    #expect(throws: LibraryError.self) { try second.order(of: past, to: firsts) }
  }

  @Test("an undo in a fork names each commit by a token that is valid there, from before the fork and after it")
  func undo() async throws {
    let kept = try await KeptLibrary.make()
    let start = try kept.library.currentToken
    let before = try kept.library.performChangesAndWait { $0.setFavorite(true, for: [kept.twin]) }.token
    let place = kept.folder.place("fork")
    try kept.library.fork(to: place)
    let fork = try PhotoLibrary(at: place)
    defer { fork.close() }
    let after = try fork.performChangesAndWait { $0.createAlbum(title: "Rehearsal") }.token
    try fork.undoAndWait(.commits(after: start), onConflict: .skip, cause: "was a rehearsal")
    var filter = LogFilter()
    filter.cause = "was a rehearsal"
    var found: CommitSummary?
    try fork.forEachLogEntry(filter) { entry in
      found = entry.commit
      return true
    }
    let undone = try #require(found?.undone)
    #expect(undone.ranges.first == before...before && undone.ranges.last?.upperBound == after)
    #expect(undone.ranges.count == 2 && undone.furtherCount == 0)
    #expect(found?.causation == undone.description && UndoneCommits(undone.description) == undone)
    for run in undone.ranges { _ = try fork.fetchPersistentChanges(since: run.lowerBound) }
  }

  @Test("a comparison names the members that were moved, and not their neighbours that only got new order keys")
  func comparesOrder() throws {
    let made = try TemporaryLibrary()
    let ids = try made.create(80)
    let album = try made.album(Array(ids[..<40]))
    let name = try made.collection(album).localIdentifier
    let place = made.folder.place("fork")
    try made.library.fork(to: place)
    let fork = try PhotoLibrary(at: place)
    defer { fork.close() }
    func difference() throws -> ObjectDifference? {
      var found: ObjectDifference?
      try fork.compare(with: made.library) { difference in
        if difference.localIdentifier == name { found = difference }
        return true
      }
      return found
    }
    func rekeyingCount() throws -> Int {
      var filter = LogFilter()
      filter.typePrefix = "content.spread"
      var count = 0
      try fork.forEachLogEntry(filter) { _ in
        count += 1
        return true
      }
      return count
    }
    for (index, id) in ids[40...].enumerated() {
      try fork.performChangesAndWait { $0.album(album).insert([id], at: 20 + index) }
    }
    #expect(try rekeyingCount() > 0)
    let inserted = try #require(try difference())
    #expect(inserted.added.count == 40 && inserted.removed.isEmpty && inserted.moved.isEmpty)
    try fork.performChangesAndWait { $0.album(album).move(at: [0], to: 79) }
    #expect(try difference()?.moved == [ids[0].spelled(as: .asset)])
    try fork.performChangesAndWait { $0.album(album).move(at: [59], to: 10) }
    #expect(try difference()?.moved == [ids[0], ids[20]].map { $0.spelled(as: .asset) })
  }

  @Test("a comparison lists a text of which only the spelling changed")
  func comparesSpellings() throws {
    let made = try TemporaryLibrary()
    let id = try made.create(1)[0]
    func spell(_ caption: String, in library: PhotoLibrary) throws {
      var changes = AssetChanges()
      changes.caption = .set(caption)
      try library.performChangesAndWait { [changes] in $0.edit([id], changes) }
    }
    try spell("Z\u{FC}rich", in: made.library)
    let place = made.folder.place("fork")
    try made.library.fork(to: place)
    let fork = try PhotoLibrary(at: place)
    defer { fork.close() }
    try spell("Zu\u{308}rich", in: fork)
    var found: [ObjectDifference.Change] = []
    try fork.compare(with: made.library) { difference in
      found += difference.changes.filter { $0.property == "caption" }
      return true
    }
    #expect(found.map { [$0.old, $0.new] } == [[.text("Z\u{FC}rich"), .text("Zu\u{308}rich")]])
  }

  @Test("a comparison lists what a rehearsal created, changed and removed, object by object")
  func compares() async throws {
    let kept = try await KeptLibrary.make()
    let place = kept.folder.place("fork")
    try kept.library.fork(to: place)
    let fork = try PhotoLibrary(at: place)
    defer { fork.close() }
    let album = try #require(try fork.fetchCollections().first)
    var made: [LocalIdentifier] = []
    try fork.performChangesAndWait { block in
      block.setTitle("Isle", of: album.id)
      block.album(album.id).remove([kept.other])
      made = [block.createAsset(.invented(7)), block.createAlbum(title: "New")]
      block.album(made[1]).add([kept.other, made[0]])
      block.setCover(made[0], of: made[1])
      var changes = AssetChanges()
      changes.caption = .set("other words")
      block.edit([kept.other], changes)
      block.setFavorite(true, for: [kept.twin])
      block.setFavorite(false, for: [kept.twin])
      block.deleteAssets([kept.secret])
    }
    try fork.performChangesAndWait { $0.purgeAssets([kept.secret]) }
    try kept.library.performChangesAndWait { $0.setFavorite(true, for: [kept.twin]) }
    var told: [String: ObjectDifference] = [:]
    let comparison = try fork.compare(with: kept.library) { difference in
      #expect(told.updateValue(difference, forKey: difference.localIdentifier) == nil)
      return true
    }
    #expect(comparison.commitCount == 3 && comparison.otherCommitCount == 1)
    // The top level, too: it has a member more.
    #expect(comparison.counts == [.created: 2, .changed: 4, .removed: 1])
    #expect(told[made[0].spelled(as: .asset)]?.kind == .created)
    #expect(told[kept.secret.spelled(as: .asset)]?.kind == .removed)
    let other = try #require(told[kept.other.spelled(as: .asset)])
    #expect(
      other.changes.first { $0.property == "caption" }.map { [$0.old, $0.new] } == [
        .text("words about plain"), .text("other words"),
      ])
    let isle = try #require(told[album.localIdentifier])
    #expect(
      isle.changes.first { $0.property == "localizedTitle" }.map { [$0.old, $0.new] } == [
        .text("Island"), .text("Isle"),
      ])
    #expect(Set(isle.removed) == Set([kept.other, kept.secret].map { $0.spelled(as: .asset) }))
    let new = try #require(told[made[1].spelled(as: .album)])
    #expect(new.kind == .created && new.added.count == 2)
    #expect(
      new.changes.first { $0.property == "cover" }.map { [$0.old, $0.new] } == [
        .null, .text(made[0].spelled(as: .asset)),
      ])
    // The other way round: what the first library has done since.
    var back: [ObjectDifference] = []
    try kept.library.compare(with: fork) {
      back.append($0); return true
    }
    #expect(back.map(\.localIdentifier) == [kept.twin.spelled(as: .asset)])
  }

  @Test("libraries that have nothing in common are not compared")
  func strangers() async throws {
    let kept = try await KeptLibrary.make()
    let other = try TemporaryLibrary(.seeded(99))
    let error = #expect(throws: LibraryError.self) { try kept.library.compare(with: other.library) { _ in true } }
    #expect(error?.code == .conflict)
  }

  @Test("a library that is open is not compacted, here or in another process; a stopped compaction changes nothing")
  func inUse() async throws {
    let kept = try await KeptLibrary.make()
    let error = #expect(throws: LibraryError.self) { try PhotoLibrary.compact(at: kept.url) }
    #expect(error?.code == .conflict)
  }

  @Test("a sweep removes the files that no asset ever named, and no other")
  func sweeps() async throws {
    let kept = try await KeptLibrary.make()
    let garbage = kept.url.appending(path: "resources/ab/" + String(repeating: "c", count: 62))
    try FileManager.default.createDirectory(at: garbage.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data("garbage".utf8).write(to: garbage)
    try kept.close()
    #expect(throws: LibraryError.self) { try PhotoLibrary.compact(at: kept.url) { _ in false } }
    let plain = try PhotoLibrary.compact(at: kept.url)
    #expect(plain.sweptFiles.isEmpty && FileManager.default.fileExists(atPath: garbage.path))
    let stopped = try PhotoLibrary.compact(at: kept.url, sweepingResources: true) { $0.phase != "sweep" }
    #expect(!stopped.isSweepComplete && stopped.sweptFiles.isEmpty)
    #expect(FileManager.default.fileExists(atPath: garbage.path))
    let report = try PhotoLibrary.compact(at: kept.url, sweepingResources: true)
    #expect(report.isSweepComplete && plain.isSweepComplete)
    #expect(report.sweptFiles.count == 1 && report.sweptBytes == 7)
    let library = try PhotoLibrary(at: kept.url)
    defer { library.close() }
    #expect(try library.verify(scratch: kept.folder.url, hashingContent: true).missingResources.isEmpty)
  }
}

private enum ContentEditingOutputFixture {
  static let bytes = Data("the bytes of an edit".utf8)
}
