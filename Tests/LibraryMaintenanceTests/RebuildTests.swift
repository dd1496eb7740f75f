import EventLog
import Foundation
import LMDB
import StoreTestSupport
import Synchronization
import TestSupport
import Testing

@testable import LibraryMaintenance
@testable import PhotoLedger

@Suite("Rebuilding")
struct RebuildTests {
  /// What is done to a table of the log that is derived from the events.
  enum Damage: CaseIterable {
    case keysCleared, keyAdded, keyOfAnotherCommit, commitsCleared, commitLost, commitGarbled, commitAdded
  }

  static func inflict(_ damage: Damage, _ environment: LMDB.Environment) throws {
    let keys = try environment.database("keys")
    let commits = try environment.database("commits", integerKeys: true)
    let key = try environment.read { t in
      let cursor = try #require(try StoreDump(environment, only: ["keys"]).databases["keys"]?.first)
      return cursor.key
    }
    try environment.write { t in
      switch damage {
      case .keysCleared: try t.clear(keys)
      case .keyAdded: try t.put([0, 1, 0, 1], CBOR.unsigned(2).encoded, in: keys)
      case .keyOfAnotherCommit: try t.put(key, CBOR.unsigned(3).encoded, in: keys)
      case .commitsCleared: try t.clear(commits)
      case .commitLost: _ = try t.delete(2, in: commits)
      case .commitGarbled: try t.put(2, [0xFF, 1, 2].span.bytes, in: commits)
      case .commitAdded:
        let row = try #require(try t.bytes(for: 3, in: commits))
        try t.put(4, row.span.bytes, in: commits)
      }
    }
  }

  @Test("a verification works in a folder of its own, also if another one has the same number")
  func scratchFolder() async throws {
    let isRepeating = Atomic(false)
    var environment = LibraryEnvironment.seeded(1)
    let random = environment.random
    environment.random = { isRepeating.exchange(false, ordering: .relaxed) ? 7 : random() }
    let small = try SmallLibrary(environment)
    _ = try await small.assets(3)
    let scratch = small.temporary.folder.url
    let another = scratch.appending(path: "photoledger-verify-7")
    try FileManager.default.createDirectory(at: another, withIntermediateDirectories: false)
    try Data("another's".utf8).write(to: another.appending(path: "data.mdb"))
    isRepeating.store(true, ordering: .relaxed)
    #expect(try small.library.verify(scratch: scratch).isSound)
    let isUnused = isRepeating.load(ordering: .relaxed)
    #expect(!isUnused, "The number was drawn.")
    #expect(try FileManager.default.contentsOfDirectory(atPath: another.path) == ["data.mdb"])
    let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
    #expect(names.filter { $0.hasPrefix("photoledger-verify-") } == ["photoledger-verify-7"])
  }

  @Test("a damaged table of keys or commits is found by a verification and repaired", arguments: Damage.allCases)
  func mends(damage: Damage) throws {
    let made = try TemporaryLibrary()
    let first = try made.library.performChangesAndWait(key: "k") { $0.createAlbum(title: "x") }
    try made.library.performChangesAndWait { $0.createAsset(.invented(1)) }
    let environment = try LMDB.Environment.store(ofLibrary: made.url.path)
    let before = try StoreDump(environment)
    try Self.inflict(damage, environment)
    #expect(try made.library.verify(scratch: made.folder.url).defect != nil)
    try made.library.rebuild()
    #expect(try made.library.verify(scratch: made.folder.url).defect == nil)
    #expect(try StoreDump(environment).difference(from: before) == nil)
    let again = try made.library.performChangesAndWait(key: "k") { $0.createAlbum(title: "x") }
    #expect(again.isRepetition && again.token == first.token && again.created == first.created)
  }

  @Test("an event that was altered stops a rebuild, also when a damaged table precedes it", arguments: [false, true])
  func altered(behindDamage: Bool) throws {
    let made = try TemporaryLibrary()
    for title in ["a", "b", "c"] { try made.library.performChangesAndWait { $0.createAlbum(title: title) } }
    let environment = try LMDB.Environment.store(ofLibrary: made.url.path)
    let events = try environment.database("events", integerKeys: true)
    let commits = try environment.database("commits", integerKeys: true)
    try environment.write { t in
      let last = UInt64(try t.count(of: events))
      var record = try #require(try t.bytes(for: last, in: events))
      // The last byte of the payload's title: text of one letter.
      let letter = UInt8(ascii: "c")
      let title = try #require(record.indices.dropFirst().last { record[$0] == letter && record[$0 - 1] == 0x61 })
      record[title] = UInt8(ascii: "d")
      try t.put(last, record.span.bytes, in: events)
      if behindDamage { _ = try t.delete(2, in: commits) }
    }
    let before = try StoreDump(environment)
    #expect(throws: LibraryError.self) { try made.library.rebuild() }
    #expect(try StoreDump(environment).difference(from: before) == nil)
  }

  // MARK: The shadow

  /// What is left of a shadow in a library's store.
  private static func shadows(_ url: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: url.path + "/store").filter { $0.hasPrefix(".shadow") }
  }

  /// What a replay of a library's log gives, table by table.
  private static func expectReplayed(_ made: TemporaryLibrary) throws {
    #expect(try made.library.verify(scratch: made.folder.url).defect == nil)
    #expect(try shadows(made.url) == [])
  }

  /// A library whose projections say that it has no favourite, though its log says it has one.
  private static func altered() throws -> (made: TemporaryLibrary, asset: LocalIdentifier, sound: StoreDump) {
    let made = try TemporaryLibrary()
    var asset: LocalIdentifier?
    try made.library.performChangesAndWait { asset = $0.createAsset(.invented(1)) }
    let id = try #require(asset)
    try made.library.performChangesAndWait { $0.setFavorite(true, for: [id]) }
    let environment = try LMDB.Environment.store(ofLibrary: made.url.path)
    let sound = try StoreDump(environment)
    let assets = try environment.database("assets", integerKeys: true)
    let entry = try #require(sound.databases["assets"]?.first)
    var row = entry.value
    row[AssetRow.Layout.flags] ^= 1
    try environment.write { t in try t.put(entry.key, row, in: assets) }
    #expect(try made.library.asset(id.uuidString)?.isFavorite == false)
    return (made, id, sound)
  }

  @Test("a rebuild of a sound library leaves its file as large as it was, and one row that differs costs a few pages")
  func size() throws {
    let made = try TemporaryLibrary()
    for block in 0..<10 {
      try made.library.performChangesAndWait { change in
        for seed in 0..<100 { change.createAsset(.invented(block * 100 + seed)) }
      }
    }
    let environment = try LMDB.Environment.store(ofLibrary: made.url.path)
    let sound = try StoreDump(environment)
    let before = try environment.statistics().usedPages
    try made.library.rebuild()
    #expect(try environment.statistics().usedPages <= before + 8)
    let assets = try environment.database("assets", integerKeys: true)
    let entry = try #require(sound.databases["assets"]?.first)
    var row = entry.value
    row[AssetRow.Layout.pixelWidth] ^= 1
    try environment.write { t in try t.put(entry.key, row, in: assets) }
    try made.library.rebuild()
    #expect(try StoreDump(environment).difference(from: sound) == nil)
    #expect(try environment.statistics().usedPages <= before + 24)
  }

  @Test("a rebuild reports all rows of a sound library as swapped, though none is written")
  func soundProgress() throws {
    let made = try TemporaryLibrary()
    _ = try made.create(300)
    let environment = try LMDB.Environment.store(ofLibrary: made.url.path)
    let dump = try StoreDump(environment, only: Projections.names)
    var reports: [TaskProgress] = []
    try made.library.rebuild { progress in
      if progress.phase == "swap" { reports.append(progress) }
      return true
    }
    let count = UInt64(dump.databases.values.map(\.count).reduce(0, +))
    #expect(reports.last?.done == count && reports.allSatisfy { $0.total == count })
    #expect(reports.map(\.done) == reports.map(\.done).sorted())
    #expect(try StoreDump(environment, only: Projections.names).difference(from: dump) == nil)
  }

  @Test("a rebuild reports the comparison of the tables from none of their rows to all, and then the swap")
  func comparisonProgress() throws {
    let made = try TemporaryLibrary()
    _ = try made.create(300)
    let dump = try StoreDump(LMDB.Environment.store(ofLibrary: made.url.path), only: Projections.names)
    var reports: [TaskProgress] = []
    try made.library.rebuild { progress in
      if ["compare", "swap"].contains(progress.phase) { reports.append(progress) }
      return true
    }
    let compared = reports.prefix { $0.phase == "compare" }
    let count = UInt64(dump.databases.values.map(\.count).reduce(0, +))
    #expect(compared.first?.done == 0 && compared.last?.done == count)
    #expect(compared.allSatisfy { $0.total == count })
    #expect(compared.map(\.done) == compared.map(\.done).sorted())
    let swapped = reports.dropFirst(compared.count)
    #expect(!swapped.isEmpty && swapped.allSatisfy { $0.phase == "swap" })
  }

  @Test("a rebuild that is stopped after some of the comparison leaves the store as it was, and says so")
  func stoppedComparing() throws {
    let (made, _, sound) = try Self.altered()
    let environment = try Environment.store(ofLibrary: made.url.path)
    let before = try StoreDump(environment)
    var reports: [TaskProgress] = []
    let error = #expect(throws: LibraryError.self) {
      try made.library.rebuild { progress in
        reports.append(progress)
        return progress.phase != "compare" || progress.done == 0
      }
    }
    #expect(error?.code == .userCancelled)
    #expect(error?.description.contains("the projections are unchanged") == true)
    // Not called again after it returned false.
    #expect(reports.last?.phase == "compare" && reports.count { $0.phase == "compare" && $0.done > 0 } == 1)
    #expect(try StoreDump(environment).difference(from: before) == nil)
    #expect(try Self.shadows(made.url) == [])
    #expect(!FileManager.default.fileExists(atPath: made.url.path + "/store/" + Shadow.readingMark))
    try made.library.rebuild()
    #expect(try StoreDump(environment).difference(from: sound) == nil)
  }

  @Test("a rebuild mends a table in which a look-up misses a row that a walk finds")
  func astray() throws {
    let made = try TemporaryLibrary()
    let assets = try made.create(400)
    let sound = try StoreDump(Environment.store(ofLibrary: made.url.path))
    made.library.close()
    var pages = try StorePages(made.url.path + "/store")
    let root = try #require(pages.root(of: "assets"))
    try #require(pages.branches(from: root) == [root])
    // The key of a branch is the first of the page that it leads to, which is then sought in the page before.
    let node = pages.nodes(ofPage: root)[1]
    let number = pages.number(node + 8, as: UInt64.self)
    pages.set(node + 8, number + 1)
    try pages.write()
    let library = try PhotoLibrary(at: made.url)
    defer { library.close() }
    func found() -> Int { assets.count { (try? library.asset($0.uuidString)) != nil } }
    #expect(found() == assets.count - 1)
    try library.rebuild()
    #expect(found() == assets.count)
    #expect(try StoreDump(Environment.store(ofLibrary: made.url.path)).difference(from: sound) == nil)
  }

  @Test("a rebuild after one that died while it read the tables rebuilds them, and leaves no mark")
  func afterDeath() throws {
    let (made, asset, sound) = try Self.altered()
    let mark = made.url.path + "/store/" + Shadow.readingMark
    #expect(FileManager.default.createFile(atPath: mark, contents: nil))
    try made.library.rebuild()
    #expect(try made.library.asset(asset.uuidString)?.isFavorite == true)
    #expect(try StoreDump(Environment.store(ofLibrary: made.url.path)).difference(from: sound) == nil)
    #expect(!FileManager.default.fileExists(atPath: mark))
  }

  @Test("readers on another thread see the old rows until the swap, and the new ones after it")
  func readers() throws {
    let (made, asset, sound) = try Self.altered()
    /// What a thread of its own reads now.
    func seen() -> Bool? {
      let answer = Mutex<Bool?>(nil)
      let done = DispatchSemaphore(value: 0)
      Thread {
        let value = try? made.library.asset(asset.uuidString)?.isFavorite
        answer.withLock { $0 = value }
        done.signal()
      }.start()
      done.wait()
      return answer.withLock { $0 }
    }
    var phases: [String] = []
    try made.library.rebuild { progress in
      phases.append(progress.phase)
      #expect(seen() == false, "in \(progress.phase)")
      return true
    }
    #expect(phases.contains("rebuild") && phases.last == "swap")
    #expect(seen() == true)
    #expect(try StoreDump(Environment.store(ofLibrary: made.url.path)).difference(from: sound) == nil)
    #expect(try Self.shadows(made.url) == [])
  }

  @Test("a transaction of the shadow has four creations for each edit that it could have")
  func batches() throws {
    let made = try TemporaryLibrary()
    let assets = try made.create(20)
    for asset in assets { try made.library.performChangesAndWait { $0.setFavorite(true, for: [asset]) } }
    let environment = try LMDB.Environment.store(ofLibrary: made.url.path)
    let sound = try StoreDump(environment)
    var ends: [UInt64] = []
    try made.library.rebuild(batch: 8) { progress in
      if progress.phase == "rebuild" { ends.append(progress.done) }
      return true
    }
    // The first event creates the library; the third transaction begins with the last creations.
    let ofEdits: [UInt64] = Array(stride(from: 22, through: 40, by: 2))
    #expect(ends == [8, 16] + ofEdits + [41])
    #expect(try StoreDump(environment).difference(from: sound) == nil)
  }

  @Test("commits during the filling of the shadow are in the new projections", arguments: [1, 3, 1000])
  func commitsMeanwhile(batch: Int) throws {
    let (made, asset, _) = try Self.altered()
    let other = try PhotoLibrary(at: made.url, environment: .seeded(2))
    defer { other.close() }
    var count = 0
    try made.library.rebuild(batch: UInt64(batch)) { progress in
      guard progress.phase == "rebuild", count < 12 else { return true }
      count += 1
      let library = count % 2 == 0 ? other : made.library
      #expect(throws: Never.self) {
        try library.performChangesAndWait { block in
          let album = block.createAlbum(title: "\(count)")
          block.album(album).add([asset, block.createAsset(.invented(count + 10))])
        }
      }
      return true
    }
    #expect(batch == 1 ? count == 12 : count > 0)
    #expect(try made.library.fetchAssets().count == count + 1)
    #expect(try made.library.fetchCollections().count == count)
    #expect(try made.library.asset(asset.uuidString)?.isFavorite == true)
    try Self.expectReplayed(made)
  }

  @Test(
    "an asset that is erased while the shadow is filled restarts the filling, and leaves no trace",
    arguments: [4, 1000])
  func erasedMeanwhile(batch: Int) async throws {
    let kept = try await KeptLibrary.make()
    var (isErased, begun) = (false, 0)
    try kept.library.rebuild(batch: UInt64(batch)) { progress in
      if progress.phase == "rebuild", progress.done <= UInt64(batch) || batch == 1000 { begun += 1 }
      guard progress.phase == "rebuild", !isErased else { return true }
      isErased = true
      #expect(throws: Never.self) { try kept.library.eraseAssets([kept.secret]) }
      return true
    }
    #expect(begun == 2, "it began again, once")
    #expect(try kept.library.asset(kept.secret.uuidString) == nil)
    try kept.expectSound()
    #expect(try Self.shadows(kept.url) == [])
    try kept.close()
    try PhotoLibrary.compact(at: kept.url)
    #expect(try kept.tracesFound() == [])
  }

  @Test("a rebuild that is stopped in any phase leaves the old projections and no shadow")
  func stopped() throws {
    let (made, asset, _) = try Self.altered()
    let environment = try Environment.store(ofLibrary: made.url.path)
    let before = try StoreDump(environment)
    for phase in ["rebuild", "compare", "swap"] {
      let error = #expect(throws: LibraryError.self) { try made.library.rebuild { $0.phase != phase } }
      #expect(error?.code == .userCancelled, "in \(phase)")
      #expect(try StoreDump(environment).difference(from: before) == nil, "in \(phase)")
      #expect(try Self.shadows(made.url) == [])
    }
    try made.library.performChangesAndWait { $0.createAlbum(title: "goes on") }
    #expect(try made.library.asset(asset.uuidString)?.isFavorite == false)
  }

  @Test("a rebuild whose shadow cannot be written says so of the library's store, which is unchanged")
  func unwritable() async throws {
    let (made, asset, _) = try Self.altered()
    await #expect(processExitsWith: .success) { [path = made.url.path as String] in
      let library = try PhotoLibrary(at: URL(filePath: path))
      // Nothing is written to a file behind its second page, as where the disk is full.
      signal(SIGXFSZ, SIG_IGN)
      let error = #expect(throws: LibraryError.self) {
        try library.rebuild { progress in
          if progress.phase == "rebuild" {
            var limit = rlimit(rlim_cur: 8192, rlim_max: 8192)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
          }
          return true
        }
      }
      let text = error?.description ?? ""
      #expect(text.contains("/store: ") && text.contains("the store is unchanged"), "\(text)")
      for wrong in ["/proc/", ".photoledger-", "outcome"] { #expect(!text.contains(wrong), "\(text)") }
    }
    #expect(try Self.shadows(made.url) == [])
    #expect(try made.library.asset(asset.uuidString)?.isFavorite == false)
  }

  @Test("a verification whose second store cannot be written says so of the folder that it was given")
  func unwritableScratch() async throws {
    let kept = try await KeptLibrary.make()
    let scratch = kept.folder.place("scratch")
    await #expect(processExitsWith: .success) { [path = kept.url.path as String, scratch = scratch.path as String] in
      let library = try PhotoLibrary(at: URL(filePath: path))
      // As where the disk is full: the second store has room for its first pages.
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: 1 << 16, rlim_max: 1 << 16)
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      let error = #expect(throws: LibraryError.self) { try library.verify(scratch: URL(filePath: scratch)) }
      let text = error?.description ?? ""
      #expect(text.contains(" in \(scratch): ") && text.contains("the store is unchanged"), "\(text)")
      for wrong in ["photoledger-verify-", "outcome"] { #expect(!text.contains(wrong), "\(text)") }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == [])
  }

  @Test(
    "a rebuild that is killed leaves the old projections, and the next one removes its leftovers",
    arguments: ["rebuild", "compare", "swap"])
  func killed(phase: String) async throws {
    let (made, asset, sound) = try Self.altered()
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = made.url.path as String, phase = phase as String] in
      let library = try PhotoLibrary(at: URL(filePath: path))
      try library.rebuild { progress in
        if progress.phase == phase { kill(getpid(), SIGKILL) }
        return true
      }
    }
    #expect(try Self.shadows(made.url).count == 1)
    #expect(try made.library.asset(asset.uuidString)?.isFavorite == false)
    try made.library.performChangesAndWait { $0.createAlbum(title: "goes on") }
    try made.library.rebuild()
    #expect(try Self.shadows(made.url) == [])
    #expect(try made.library.asset(asset.uuidString)?.isFavorite == true)
    try Self.expectReplayed(made)
    #expect(sound.databases["assets"]?.count == 1)
  }
}

extension PhotoLibrary {
  /// Rebuilds with another size of the shadow's transactions, on which the outcome does not depend.
  fileprivate func rebuild(batch: UInt64, progress: (TaskProgress) -> Bool) throws {
    try store.core.remakeProjections(.stop, batch: batch, progress: progress)
  }
}
