import EventLog
import Foundation
import LMDB
import LibraryAudit
import PhotoLedger
import Synchronization
import TestSupport
import Testing

@testable import LibraryMaintenance

@Suite("Erasure")
struct ErasureTests {
  @Test("after an erasure the chain and the projections verify, and a rebuild produces the same bytes")
  func verifies() async throws {
    let kept = try await KeptLibrary.make()
    let before = try kept.head()
    let report = try kept.library.eraseAssets([kept.secret], cause: "a request")
    #expect(report.assets.map(\.id) == [kept.secret])
    #expect(report.assets[0].originalFilenames == ["ZNZ_0001.HEIC", "ZNZ_0001.MOV"])
    #expect(report.assets[0].removedFiles.count == 2 && report.assets[0].keptFiles.isEmpty)
    #expect(report.assets[0].eventCount == 3, "the creation and two edits touch it")
    #expect(try kept.library.currentToken == report.token)
    try kept.expectSound()
    let environment = try Environment.store(ofLibrary: kept.url.path)
    let log = try EventLog(in: environment)
    let verified = try environment.read { t in try log.verify(in: t) }
    #expect(verified.defect == nil && verified.erasedCount == 4, "with the purge")
    let old = try environment.read { t in try log.commit(before.commit, in: t)?.chain }
    #expect(old == before.chain, "a chain that was written down goes on to hold")
    let dump = try kept.dump()
    try kept.library.rebuild()
    #expect(try kept.dump().difference(from: dump) == nil)
    #expect(try kept.library.asset(kept.secret.uuidString) == nil)
    let other = try #require(try kept.library.asset(kept.other.uuidString))
    #expect(other.rating == .four)
    #expect(try kept.library.extendedMetadata(of: other).caption == "words about plain")
  }

  @Test(
    "an altered row that would make an event its own tombstone is named, and erasing ends", .timeLimit(.minutes(2)))
  func altered() async throws {
    let kept = try await KeptLibrary.make()
    let environment = try Environment.store(ofLibrary: kept.url.path)
    let table = try environment.database(
      "redactions", integerKeys: StoreDump.numbered.contains("redactions"), create: false)
    let head = try kept.head()
    try environment.write { t in
      for sequence in 2...head.sequence {
        let row = withUnsafeBytes(of: sequence.bigEndian) { Array($0) } + [UInt8](repeating: 0, count: 8)
        try t.put(sequence, row, in: table)
      }
    }
    let error = #expect(throws: LibraryError.self) { try kept.library.eraseAssets([kept.secret]) }
    #expect(
      error?.code == .corrupted && error?.description.contains("does not follow it") == true,
      "\(String(describing: error))")
  }

  @Test("after a compaction no file of the library has a trace of the asset")
  func leavesNoTrace() async throws {
    let kept = try await KeptLibrary.make()
    let found = try kept.tracesFound()
    for trace in ["Zanzibar", "ZNZ_0001.HEIC", "xylophone", "burst-of-zanzibar"] {
      #expect(found.contains { $0.contains(trace) }, "the search finds \(trace) while it is there")
    }
    try kept.library.eraseAssets([kept.secret])
    let head = try kept.head()
    try kept.close()
    let report = try PhotoLibrary.compact(at: kept.url)
    #expect(try kept.tracesFound() == [])
    #expect(report.chain == head.chain.description)
    let again = try PhotoLibrary(at: kept.url)
    #expect(try again.verify(scratch: kept.folder.url, hashingContent: true).isSound)
    try again.rebuild()
    #expect(try again.verify(scratch: kept.folder.url).isSound)
    #expect(try again.asset(kept.twin.uuidString)?.isHidden == true)
    again.close()
  }

  @Test("an earlier state shows the asset in its place, erased, and the counts of albums match their members")
  func past() async throws {
    let kept = try await KeptLibrary.make()
    let held = try kept.library.fetchAssets()
    let album = try #require(try kept.library.fetchCollections().first)
    let members = try kept.library.fetchAssets(FetchOptions(), in: album)
    #expect(held.contains { $0.id == kept.secret } && album.estimatedAssetCount == members.count)
    try kept.library.eraseAssets([kept.secret])
    let erased = try #require(held.first { $0.id == kept.secret })
    #expect(erased.isErased && erased.mediaType == .unknown && erased.location == nil && erased.creationDate == nil)
    #expect(!erased.isFavorite && erased.rating == .unset)
    #expect(try kept.library.resources(of: erased).isEmpty)
    #expect(try kept.library.extendedMetadata(of: erased).caption == nil)
    #expect(held.filter { $0.id != kept.secret }.allSatisfy { !$0.isErased })
    #expect(members.map(\.id).contains(kept.secret))
    let now = try #require(try kept.library.collection(album.localIdentifier))
    #expect(try kept.library.fetchAssets(FetchOptions(), in: now).count == now.estimatedAssetCount)
  }

  @Test("the history of an erased asset says where its data was erased, and contains no value that it never had")
  func history() async throws {
    let kept = try await KeptLibrary.make()
    func changes(_ asset: LocalIdentifier) throws -> [PropertyChange] {
      var changes: [PropertyChange] = []
      try kept.library.forEachPropertyChange(of: asset.uuidString) { change in
        changes.append(change)
        return true
      }
      return changes
    }
    let before = try changes(kept.other)
    try kept.library.eraseAssets([kept.secret], cause: "a request")
    let found = try changes(kept.secret)
    let erased = found.filter { $0.property == "erased" }
    #expect(
      erased.map(\.origin.type) == ["asset.created", "assets.edited", "assets.edited", "asset.purged"], "\(erased)")
    #expect(erased.allSatisfy { $0.old == .null && $0.new == .null })
    let names = AssetField.allCases.filter(\.isKeptByErasure).map(\.name)
    let known = Set(names + ["erased", "isErased", "addedDate", "containers", "selections"])
    #expect(Set(found.map(\.property)).isSubset(of: known), "\(found)")
    #expect(found.contains { $0.property == "isHidden" && $0.new == .bool(true) })
    #expect(found.last?.property == "isErased" && found.last?.new == .bool(true))
    // The events that both assets share have lost nothing of the other one.
    #expect(try changes(kept.other) == before)
    try kept.library.forEachLogEntry(LogFilter()) { entry in
      guard entry.type == "asset.created", entry.isErased else { return true }
      guard case .object(let fields) = entry.details else { return true }
      #expect(Set(fields.map(\.name)).isSubset(of: known.union(["asset"])), "\(fields)")
      return true
    }
  }

  @Test(
    "a follower of a result across an erasure gets exactly the removed objects, with a small or a large lag",
    arguments: [0, 8])
  func followers(backlog: Int) async throws {
    let kept = try await KeptLibrary.make()
    let image = MediaType.image
    let four = AssetRating.four
    let queries: [FetchResult<Asset>] = [
      try kept.library.fetchAssets(sortedBy: [SortDescriptor(\.creationDate)]),
      try kept.library.fetchAssets(where: #Predicate { $0.mediaType == image }),
      try kept.library.fetchAssets(
        where: #Predicate { $0.rating == four }, sortedBy: [SortDescriptor(\.modificationDate, order: .reverse)]),
      try kept.app.fetchAssets(sortedBy: [SortDescriptor(\.creationDate, order: .reverse)]),
    ]
    for held in queries { #expect(held.contains { $0.id == kept.secret }) }
    // Events between that touch the asset; followers read them from the log only after it was erased.
    try await kept.small.change { $0.setFavorite(false, for: [kept.secret, kept.other]) }
    try await kept.small.change { $0.setHidden(true, for: [kept.secret]) }
    try await kept.small.change { $0.setHidden(false, for: [kept.secret]) }
    try kept.library.eraseAssets([kept.secret])
    let end = try kept.library.performChangesAndWait { $0.setFavorite(true, for: [kept.other]) }
    for (index, held) in queries.enumerated() {
      let library = index == 3 ? kept.app : kept.library
      var told = library.changes(to: held, composingBeyond: backlog).makeAsyncIterator()
      var list = held.map(\.id)
      while list.contains(kept.secret) {
        let change = try #require(try await told.next())
        #expect(change.fetchResultBeforeChanges.map(\.id) == list, "query \(index)")
        list = change.fetchResultAfterChanges.map(\.id)
      }
      #expect(!list.isEmpty, "query \(index)")
    }
    #expect(end.token > queries[0].token)
  }

  @Test("a file that another asset also has stays, and the report says so")
  func shared() async throws {
    let kept = try await KeptLibrary.make()
    var copy: LocalIdentifier?
    try await kept.small.change { block in
      copy = block.createAsset(
        AssetCreation(
          mediaType: .image,
          resources: [ResourceDraft(type: .photo, source: .data(KeptLibrary.photo), originalFilename: "copy.jpg")]))
    }
    let preview = try kept.library.erasurePreview(of: [kept.secret])
    #expect(preview[0].keptFiles.map(\.reason) == [.shared] && preview[0].removedFiles.count == 1)
    let made = try #require(copy)
    let both = try kept.library.erasurePreview(of: [kept.secret, made])
    #expect(both.map(\.keptFiles) == [[], []] && both.map(\.removedFiles.count) == [2, 1])
    try kept.library.eraseAssets([kept.secret])
    let asset = try #require(try kept.library.asset(made.uuidString))
    let resource = try #require(try kept.library.resources(of: asset).first)
    #expect(try Data(contentsOf: kept.library.url(of: resource)) == KeptLibrary.photo)
    try kept.expectSound()
    // Both at once leave nothing.
    try kept.library.eraseAssets([made])
    #expect(!FileManager.default.fileExists(atPath: kept.library.url(of: resource).path))
  }

  @Test(
    "assets whose events were already erased for another asset are erased from the tombstones, and everything verifies")
  func oneAfterTheOther() async throws {
    let kept = try await KeptLibrary.make()
    try kept.library.eraseAssets([kept.secret])
    try kept.library.eraseAssets([kept.other])
    try kept.expectSound()
    try await kept.small.change { $0.setFavorite(true, for: [kept.twin]) }
    try kept.library.eraseAssets([kept.twin])
    try kept.expectSound()
    let environment = try Environment.store(ofLibrary: kept.url.path)
    let dump = try kept.dump()
    // What stands for payloads is found again from the events alone.
    let redactions = try environment.database(RedactionTable.name, integerKeys: true)
    #expect(try environment.read { t in try t.count(of: redactions) } > 4)
    try environment.write { t in try t.clear(redactions) }
    #expect(try !kept.library.verify(scratch: kept.folder.url).isSound)
    try kept.library.rebuild()
    #expect(try kept.dump().difference(from: dump) == nil)
    try kept.expectSound()
    try kept.close()
    try PhotoLibrary.compact(at: kept.url)
    for path in try kept.files() {
      let content = try Data(contentsOf: kept.url.appending(path: path))
      for word in ["words about", "plain.jpg", "twin.jpg", "Zanzibar"] {
        #expect(content.range(of: Data(word.utf8)) == nil, "\(path) holds \(word)")
      }
    }
  }

  @Test(
    "assets whose events exceed one commit are erased in several, each of whole assets, and nothing is left",
    arguments: [(1 << 10, 2), (16 << 20, 1)])
  func severalCommits(byteLimit: Int, commitCount: Int) async throws {
    let kept = try await KeptLibrary.make()
    let assets = [kept.secret, kept.other]
    for keyword in ["first", "second", "third"] {
      try await kept.small.change { block in
        var shared = AssetChanges()
        shared.addedKeywords = [keyword]
        block.edit([kept.twin] + assets, shared)
      }
    }
    let start = try kept.library.currentToken
    let place = kept.folder.place("follower")
    try PhotoLibrary.importLog(to: place, next: LogText.source(try LogText.lines(kept.library)))
    let follower = try PhotoLibrary(at: place)
    defer { follower.close() }
    let report = try kept.library.eraseAssets(assets, cause: "a request", upTo: byteLimit)
    #expect(report.assets.map(\.id) == assets && report.assets.allSatisfy { $0.eventCount > 3 })
    var erasures: [LogEntry] = []
    try kept.library.forEachLogEntry { entry in
      if entry.type == "asset.erased" { erasures.append(entry) }
      return true
    }
    #expect(erasures.count == commitCount && erasures.allSatisfy { $0.commit.cause == "a request" })
    #expect(erasures.flatMap(\.objects) == assets.map { $0.spelled(as: .asset) })
    try kept.expectSound()
    let dump = try kept.dump()
    try kept.library.rebuild()
    #expect(try kept.dump().difference(from: dump) == nil)
    try follower.appendLog(next: LogText.source(try LogText.lines(kept.library, after: start)))
    #expect(try StoreDump(Environment.store(ofLibrary: place.path)).difference(from: dump) == nil)
    #expect(try kept.library.eraseAssets(assets, cause: nil, upTo: byteLimit).assets.map(\.eventCount) == [0, 0])
    #expect(try kept.dump().difference(from: dump) == nil)
    try kept.close()
    try PhotoLibrary.compact(at: kept.url)
    #expect(try kept.tracesFound() == [])
    let contents = try kept.files().map { try Data(contentsOf: kept.url.appending(path: $0)) }
    for (word, isLeft) in [("words about plain", false), ("plain.jpg", false), ("words about twin", true)] {
      #expect(contents.contains { $0.range(of: Data(word.utf8)) != nil } == isLeft, "\(word)")
    }
  }

  @Test("a purged asset is erased by its identifier, and erasing again changes nothing")
  func purgedBefore() async throws {
    let kept = try await KeptLibrary.make()
    try await kept.small.change { $0.deleteAssets([kept.secret]) }
    try await kept.small.change { $0.purgeAssets([kept.secret]) }
    let preview = try kept.library.erasurePreview(of: [kept.secret])
    #expect(preview[0].wasPurged && preview[0].eventCount == 4)
    try kept.library.eraseAssets([kept.secret])
    let head = try kept.head()
    let again = try kept.library.eraseAssets([kept.secret])
    #expect(again.assets[0].eventCount == 0)
    #expect(try kept.head() == head)
    try kept.expectSound()
  }

  @Test("the log names the erased asset, says that a part was erased, and reveals nothing of it")
  func log() async throws {
    let kept = try await KeptLibrary.make()
    try kept.library.eraseAssets([kept.secret], cause: "a request")
    var filter = LogFilter()
    filter.object = kept.secret
    var entries: [LogEntry] = []
    try kept.library.forEachLogEntry(filter) { entry in
      entries.append(entry)
      return true
    }
    let name = kept.secret.spelled(as: .asset)
    #expect(
      entries.first?.type == "asset.created"
        && entries.first?.sentence == "An erased asset was added. Part of it was erased.")
    #expect(entries.last?.type == "asset.erased" && entries.last?.objects == [name])
    #expect(entries.last?.commit.cause == "a request")
    #expect(entries.allSatisfy { $0.objects.contains(name) })
    let text = entries.map { "\($0.sentence) \($0.details)" }.joined()
    for word in ["Zanzibar", "ZNZ", "xylophone", "\(KeptLibrary.latitude)"] { #expect(!text.contains(word)) }
  }

  /// Refuses everything, and keeps what it was asked.
  private final class Refusal: ChangeConfirmation {
    let asked = Mutex<[ChangeProposal]>([])
    func confirm(_ proposal: ChangeProposal) -> Bool {
      asked.withLock { $0.append(proposal) }
      return false
    }
  }

  /// Agrees, after something has happened.
  private final class Meanwhile: ChangeConfirmation {
    private let happen: @Sendable () -> Void
    init(_ happen: @escaping @Sendable () -> Void) { self.happen = happen }
    func confirm(_ proposal: ChangeProposal) -> Bool {
      happen()
      return true
    }
  }

  @Test(
    "a file that cannot be examined is not taken for a missing one: the log keeps its name until it is gone",
    arguments: [false, true])
  func unexaminedFile(afterPreview: Bool) async throws {
    let kept = try await KeptLibrary.make()
    let asset = try #require(try kept.library.asset(kept.secret.uuidString))
    let resource = try #require(try kept.library.resources(of: asset).first)
    let file = kept.library.url(of: resource)
    let (folder, aside) = (file.deletingLastPathComponent(), kept.folder.place("aside"))
    let hide: @Sendable () -> Void = {
      // A link to itself cannot be followed, by root either.
      #expect(rename(folder.path, aside.path) == 0 && symlink(folder.lastPathComponent, folder.path) == 0)
    }
    if afterPreview { try kept.library.setChangeConfirmation(Meanwhile(hide)) } else { hide() }
    let error = #expect(throws: LibraryError.self) { try kept.library.eraseAssets([kept.secret]) }
    #expect(error?.code == .storage, "\(String(describing: error))")
    try kept.library.setChangeConfirmation(nil)
    // The writer removes the files of a purge after its answer, and before the next block.
    try await kept.small.change { $0.setFavorite(true, for: [kept.other]) }
    try #require(unlink(folder.path) == 0 && rename(aside.path, folder.path) == 0)
    #expect(FileManager.default.fileExists(atPath: file.path))
    let report = try kept.library.eraseAssets([kept.secret])
    #expect(report.assets[0].wasPurged == afterPreview && report.assets[0].eventCount > 0)
    #expect(report.assets[0].removedFiles.count == (afterPreview ? 1 : 2))
    #expect(!FileManager.default.fileExists(atPath: file.path))
    try kept.expectSound()
  }

  @Test("the confirmation handler sees an erasure and may reject it, and only the owner may request one (CB-12)")
  func refused() async throws {
    let kept = try await KeptLibrary.make()
    let dump = try kept.dump()
    let refusal = Refusal()
    try kept.library.setChangeConfirmation(refusal)
    let error = #expect(throws: LibraryError.self) { try kept.library.eraseAssets([kept.secret], cause: "why") }
    #expect(error?.code == .userCancelled)
    let asked = refusal.asked.withLock { $0 }
    #expect(asked.map(\.erasedAssets) == [[kept.secret]] && asked.map(\.cause) == ["why"])
    try kept.library.setChangeConfirmation(nil)
    #expect(throws: LibraryError.self) { try kept.app.eraseAssets([kept.secret]) }
    let unknown = try #require(LocalIdentifier("00000000-0000-4000-8000-000000000000"))
    let missing = #expect(throws: LibraryError.self) { try kept.library.eraseAssets([kept.secret, unknown]) }
    #expect(missing?.code == .identifierNotFound)
    #expect(try kept.dump().difference(from: dump) == nil)
  }

  @Test("the lines of import reports about the asset, its duplicates and its sidecar are blanked, and no other")
  func importReports() async throws {
    let kept = try await KeptLibrary.make()
    let name = kept.secret.spelled(as: .asset)
    let other = kept.other.spelled(as: .asset)
    let lines = [
      #"{"import":"20261122T110447Z-5D6A2B4C"}"#, #"{"asset":"\#(name)","outcome":"asset","path":"/p/ZNZ_0001.HEIC"}"#,
      #"{"outcome":"sidecar","path":"/p/ZNZ_0001.xmp"}"#, #"{"outcome":"sidecar","path":"/p/ZNZ_0001.HEIC.xmp"}"#,
      #"{"of":"/p/ZNZ_0001.HEIC","outcome":"duplicate","path":"/q/ZNZ_0001 (1).HEIC"}"#,
      #"{"asset":"\#(other)","outcome":"asset","path":"/p/ZNZ.jpg"}"#, #"{"outcome":"sidecar","path":"/p/ZNZ.xmp"}"#,
    ]
    let folder = kept.url.appending(path: "imports")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appending(path: "one.jsonl")
    let text = lines.joined(separator: "\n") + "\n"
    try Data(text.utf8).write(to: file)
    #expect(try kept.library.eraseAssets([kept.secret]).importLineCount == 4)
    let after = try String(contentsOf: file, encoding: .utf8)
    #expect(after.utf8.count == text.utf8.count)
    let left = after.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    let blank = #"{"outcome":"erased"}"#
    #expect(left == [lines[0], blank, blank, blank, blank, lines[5], lines[6]])
  }

  @Test("other imports' lines about the asset's file are blanked; another asset of the same path keeps its own")
  func importReportsOfOtherImports() async throws {
    let kept = try await KeptLibrary.make()
    let (name, other) = (kept.secret.spelled(as: .asset), kept.other.spelled(as: .asset))
    let folder = kept.url.appending(path: "imports")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let interrupted = folder.appending(path: "a.jsonl")
    let lines = [
      #"{"outcome":"notReached","path":"/p/ZNZ_0001.HEIC"}"#, #"{"outcome":"notReached","path":"/p/other.HEIC"}"#,
      #"{"asset":"\#(other)","outcome":"asset","path":"/p/ZNZ_0001.HEIC"}"#,
    ]
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: interrupted)
    try Data(#"{"asset":"\#(name)","outcome":"asset","path":"/p/ZNZ_0001.HEIC"}"#.utf8)
      .write(to: folder.appending(path: "b.jsonl"))
    #expect(try kept.library.eraseAssets([kept.secret]).importLineCount == 2)
    let left = try String(contentsOf: interrupted, encoding: .utf8).split(separator: "\n")
      .map { $0.trimmingCharacters(in: .whitespaces) }
    #expect(left == [#"{"outcome":"erased"}"#, lines[1], lines[2]])
  }
}
