import Foundation
import TestSupport
import Testing

@testable import LibraryMaintenance
import LibraryAudit
@testable import PhotoLedger

// What an undo does with each kind of thing, and what it does not do.

@Suite("Undo")
struct UndoRuleTests {
  private let made: TemporaryLibrary
  private var library: PhotoLibrary { made.library }

  init() throws { made = try TemporaryLibrary() }

  private func state() throws -> UndoState { try UndoState(ofLibrary: made.url.path) }

  private func members(_ album: LocalIdentifier) throws -> [LocalIdentifier] {
    let found = try #require(try library.collection(album.uuidString))
    return try library.fetchAssets(FetchOptions(), in: found).map(\.id)
  }

  private func trashed() throws -> Int {
    var options = FetchOptions()
    options.showsTrash = true
    return try library.fetchAssets(options).count
  }

  /// An original with bytes of its own in the library.
  private func stored(_ words: String) throws -> LocalIdentifier {
    let draft = ResourceDraft(type: .photo, source: .data(Data(words.utf8)), originalFilename: "\(words).jpg")
    return try made.create(AssetCreation(mediaType: .image, resources: [draft]))
  }

  // MARK: Stories

  @Test("an addition to an album is undone, though a client has followed the album since")
  func followedSince() async throws {
    let album = try made.album([])
    let receipt = try library.performChangesAndWait { block in
      let new = block.createAsset(.invented(9))
      block.album(album).add([new])
    }
    try library.performChangesAndWait { block in
      block.register(client: "app", .described)
      block.setAuthorizationStatus(.limited, of: "app")
      block.follow(album, as: "app")
    }
    #expect(try library.as("app").fetchAssets().count == 1)
    let report = try await library.undo(.commit(receipt.token))
    #expect(report.conflicts.isEmpty)
    #expect(try members(album).isEmpty && library.as("app").fetchAssets().isEmpty)
  }

  @Test("an empty cause selects no commit, in an undo as in the log, though there are commits without a cause")
  func emptyCause() throws {
    let id = try made.create(1)[0]
    try library.performChangesAndWait(cause: nil) { $0.setFavorite(true, for: [id]) }
    #expect(try library.planUndo(UndoSelection()).changes.count > 0)
    let plan = try library.planUndo(.cause(""))
    #expect(plan.commits.isEmpty && plan.changes.isEmpty)
    var filter = LogFilter()
    filter.cause = ""
    var count = 0
    try library.forEachLogEntry(filter) { _ in
      count += 1
      return true
    }
    #expect(count == 0)
  }

  @Test("a scan that trashed everything is undone by its cause, with every place in every album (AS-14)")
  func scan() async throws {
    let ids = try made.create(700)
    let album = try made.album(ids.reversed())
    let other = try made.album(Array(ids.prefix(300)))
    let before = try state()
    let held = try library.fetchAssets()
    try library.performChangesAndWait(cause: "nightly scan") { $0.deleteAssets(ids) }
    #expect(try members(album).isEmpty && trashed() == 700)

    let report = try await library.undo(.cause("nightly scan"))
    #expect(report.changes.count == 700 && report.changes.allSatisfy { $0.kind == .restoration })
    #expect(report.conflicts.isEmpty && report.commits.count == 1)
    #expect(try members(album) == ids.reversed() && members(other) == Array(ids.prefix(300)))
    #expect(try state() == before)
    #expect(try library.fetchAssets().map(\.id) == held.map(\.id))
    let again = try await library.undo(.cause("nightly scan"))
    #expect(again.changes.isEmpty && again.alreadyCount == 700 && again.token == nil, "There is nothing left to do.")
  }

  @Test("undoing a restoration puts back into the trash what came out of it, and undoing that returns it to its albums")
  func restoration() throws {
    let ids = try made.create(3)
    let album = try made.album(ids)
    try library.performChangesAndWait { $0.deleteAssets([ids[1]]) }
    let trash = try state()
    let restored = try library.performChangesAndWait { $0.restoreAssets([ids[1]]) }
    #expect(try members(album) == ids, "A restoration returns memberships.")
    let report = try library.undoAndWait(.commit(restored.token))
    #expect(report.changes.map(\.kind) == [.trash])
    #expect(try state() == trash)
    try library.undoAndWait(.commit(try #require(report.token)))
    #expect(try members(album) == ids)
  }

  @Test("a purge reports plainly that bytes are gone; a forced undo restores the record with every place")
  func purge() async throws {
    let id = try stored("waves")
    let file = try library.resources(of: try #require(try library.asset(id.uuidString)))[0]
    let album = try made.album([id])
    let before = try state()
    let trashed = try library.performChangesAndWait(cause: "clean-up") { $0.deleteAssets([id]) }
    try library.performChangesAndWait(cause: "clean-up") { $0.purgeAssets([id]) }
    // Files go after the caller has been answered.
    try await waitUntil("the file is removed") { !library.store.resources.holds(file) }

    let plan = try library.planUndo(.cause("clean-up"))
    #expect(plan.isRefused && plan.conflicts.map(\.reason) == [.bytesGone])
    #expect(plan.conflicts.first?.sentence.contains("The bytes of 'waves.jpg' no longer exist") == true)
    let error = #expect(throws: LibraryError.self) { try library.undoAndWait(.cause("clean-up")) }
    #expect(error?.code == .conflict && error?.description.contains("no longer exist") == true)
    let skipped = try library.undoAndWait(.cause("clean-up"), onConflict: .skip)
    #expect(skipped.changes.isEmpty && skipped.conflicts.map(\.outcome) == [.skipped])

    let forced = try library.undoAndWait(.cause("clean-up"), onConflict: .force)
    #expect(forced.changes.map(\.kind) == [.purge, .restoration])
    #expect(try state() == before && members(album) == [id])
    let asset = try #require(try library.asset(id.uuidString))
    let resource = try library.resources(of: asset)[0]
    #expect(try library.store.resources.state(of: resource, hashing: false) == .missing)
    #expect(forced.commits.count == 2 && forced.commits.first == trashed.token)
  }

  @Test("an import that is undone leaves the library as if it had never happened, and its files on the disk")
  func importTakenBack() throws {
    let first = try made.create(.invented(1))
    let before = try state()
    let draft = ResourceDraft(type: .photo, source: .data(Data("kept".utf8)), originalFilename: "kept.jpg")
    var added: LocalIdentifier?
    try library.performChangesAndWait(cause: "import") { block in
      let id = block.createAsset(AssetCreation(mediaType: .image, resources: [draft]))
      let album = block.createAlbum(title: "Import")
      block.album(album).add([id, first])
      block.setFavorite(true, for: [id])
      added = id
    }
    let imported = try state()
    let id = try #require(added)
    let undo = try library.undoAndWait(.cause("import"))
    #expect(try state() == before)
    #expect(try library.asset(id.uuidString) == nil && trashed() == 0)
    try library.undoAndWait(.commit(try #require(undo.token)))
    #expect(try state() == imported, "The number, the album and the mark are as they were.")
    let asset = try #require(try library.asset(id.uuidString))
    let resource = try library.resources(of: asset)[0]
    #expect(try library.store.resources.state(of: resource, hashing: true) == .present)
    #expect(try library.verify(scratch: made.folder.url).defect == nil)
  }

  // MARK: Conflicts

  @Test(
    "later changes reject the whole undo, are skipped or are overwritten",
    arguments: [UndoConflictPolicy.refuse, .skip, .force])
  func conflict(policy: UndoConflictPolicy) throws {
    let ids = try made.create(2)
    let marked = try library.performChangesAndWait { $0.edit(ids, self.caption("one")) }
    try library.performChangesAndWait { $0.edit([ids[0]], self.caption("two")) }
    let head = try library.currentToken
    if policy == .refuse {
      let error = #expect(throws: LibraryError.self) { try library.undoAndWait(.commit(marked.token)) }
      #expect(error?.code == .conflict && error?.description.contains(ids[0].uuidString) == true)
      #expect(try library.currentToken == head)
      return
    }
    let report = try library.undoAndWait(.commit(marked.token), onConflict: policy)
    #expect(report.conflicts.map(\.outcome) == [policy == .skip ? .skipped : .forced])
    #expect(try words(ids[0]) == (policy == .skip ? "two" : nil) && words(ids[1]) == nil)
  }

  private func caption(_ words: String) -> AssetChanges {
    var changes = AssetChanges()
    changes.caption = .set(words)
    return changes
  }

  private func words(_ id: LocalIdentifier) throws -> String? {
    try library.extendedMetadata(of: try #require(try library.asset(id.uuidString))).caption
  }

  @Test("a commit between the preparation and the undo is a conflict")
  func raced() throws {
    let id = try made.create(.invented(1))
    let marked = try library.performChangesAndWait { $0.edit([id], self.caption("one")) }
    let plan = try library.planUndo(.commit(marked.token))
    #expect(!plan.isRefused && plan.changes.count == 1 && plan.token == nil)
    // The confirmation handler is called between plan and writer: there a commit of another process fits in.
    let racer = Racer { [library = self.library] in
      _ = try? library.store.perform([.editAssets([id], Self.race)], cause: "in between")
    }
    try library.setChangeConfirmation(racer)
    #expect(throws: LibraryError.self) { try library.undoAndWait(.commit(marked.token)) }
    #expect(try words(id) == "in between")
  }

  private static var race: AssetChanges {
    var changes = AssetChanges()
    changes.caption = .set("in between")
    return changes
  }

  @Test("the creation of an album that others filled since is not undone; forced, it is deleted with its members")
  func filledAlbum() throws {
    let ids = try made.create(2)
    var album: LocalIdentifier?
    let created = try library.performChangesAndWait { album = $0.createAlbum(title: "Sea") }
    let id = try #require(album)
    try library.performChangesAndWait { $0.album(id).add(ids) }
    let plan = try library.planUndo(.commit(created.token))
    #expect(plan.conflicts.first?.sentence.contains("added to it") == true)
    let undo = try library.undoAndWait(.commit(created.token), onConflict: .force)
    #expect(try library.collection(id.uuidString) == nil)
    try library.undoAndWait(.commit(try #require(undo.token)))
    #expect(try members(id) == ids)
  }

  @Test("what others put into a folder that is deleted moves to the end of the top level (FO-01)")
  func filledFolder() throws {
    var folder: LocalIdentifier?
    let created = try library.performChangesAndWait { folder = $0.createFolder(title: "F") }
    let album = try made.album([])
    let id = try #require(folder)
    try library.performChangesAndWait { $0.folder(id).add([album]) }
    try library.undoAndWait(.commit(created.token), onConflict: .force)
    #expect(try library.fetchCollections().map(\.id) == [album])
  }

  // MARK: Kinds

  @Test("one of many is undone alone: an asset with its places, or the changes in one album")
  func objects() throws {
    let ids = try made.create(3)
    let album = try made.album(ids)
    try library.performChangesAndWait(cause: "tidy") { block in
      block.album(album).remove([ids[0], ids[1]])
      block.setFavorite(true, for: ids)
      block.deleteAssets([ids[2]])
    }
    var selection = UndoSelection.cause("tidy")
    selection.objects = [ids[0]]
    try library.undoAndWait(selection)
    #expect(try members(album) == [ids[0]])
    #expect(try library.fetchAssets().map { [$0.id: $0.isFavorite] } == [[ids[0]: false], [ids[1]: true]])
    selection.objects = [album]
    try library.undoAndWait(selection)
    #expect(try members(album) == [ids[0], ids[1]], "The mark and the trash are not the album's.")
    #expect(try trashed() == 1)
  }

  @Test("a member returns between its neighbours, also after the album was rekeyed (AL-03)")
  func rekeyed() throws {
    let ids = try made.create(8)
    let album = try made.album(ids)
    let removed = try library.performChangesAndWait { $0.album(album).remove([ids[5]]) }
    // Until a gap elsewhere is used up, and every member is given another key.
    for _ in 0..<70 {
      try library.performChangesAndWait { $0.album(album).move(at: IndexSet(integer: 2), to: 1) }
    }
    let rekeyings = Gathered<String>()
    try library.forEachLogEntry { entry in
      if entry.type == "content.spread" { rekeyings.append(entry.type) }
      return true
    }
    #expect(!rekeyings.all.isEmpty)
    try library.undoAndWait(.commit(removed.token))
    #expect(try members(album) == ids)
  }

  @Test("a rekeying gives each member its new key, and each other key the place between those of its neighbours")
  func rekeyedKeys() {
    for count in UInt64(1)...9 {
      var members: [(child: ObjectNumber, old: UInt64, new: UInt64)] = []
      for number in 1...count { members.append((100 + number, 10 * number, 1_000_000 + 4096 * number)) }
      let rekeying = Rekeyings.Rekeying(last: 1, commit: 1, members: members)
      for member in members {
        #expect(rekeying.newKey(of: member.child, at: member.old) == member.new)
        #expect(rekeying.newKey(of: member.child + 1, at: member.old) == nil)
        #expect(rekeying.newKey(of: member.child, at: member.old + 1) == nil)
        #expect(rekeying.map(member.old) == member.new)
      }
      #expect(rekeying.newKey(of: 101, at: 0) == nil)
      let mapped = (10...10 * count).map { rekeying.map($0) }
      #expect(zip(mapped, mapped.dropFirst()).allSatisfy { $0 < $1 }, "\(count) members")
    }
    // In a gap that is narrower now, a key beside a member stays beside it.
    let members: [(child: ObjectNumber, old: UInt64, new: UInt64)] = [(101, 10, 20_000), (102, 1 << 40, 24_096)]
    let narrowed = Rekeyings.Rekeying(last: 1, commit: 1, members: members)
    #expect(narrowed.map(11) == 20_001 && narrowed.map((1 << 40) - 1) == 24_095)
  }

  @Test("undoing a grant withdraws it, and undoing a decision reverts it: both arrive as removals (AU-04)")
  func permissions() throws {
    let ids = try made.create(3)
    let name = "com.example.gallery"
    try library.performChangesAndWait { block in
      block.setAuthorizationStatus(.limited, of: name)
      block.grant([ids[0]], to: name)
    }
    let granted = try library.performChangesAndWait { $0.grant([ids[1], ids[2]], to: name) }
    let view = library.as(name)
    let held = try view.fetchAssets()
    let follower = ResultChanges.Iterator(held, 8)
    try follower.listen()
    let report = try library.undoAndWait(.commit(granted.token))
    try library.store.observation.pump()
    let told = try #require(try follower.take())
    #expect(told.removedIndexes == IndexSet([1, 2]))
    #expect(report.changes.allSatisfy { $0.kind == .permission && $0.container == name })
    #expect(try view.fetchAssets().map(\.id) == [ids[0]])
    try library.undoAndWait(UndoSelection())
    #expect(try view.authorizationStatus(for: .readWrite) == .notDetermined && library.fetchAssets().isEmpty)
  }

  @Test("a restored member comes before the one that now has its key")
  func takenKey() throws {
    let ids = try made.create(4)
    let album = try made.album([ids[0], ids[1], ids[2]])
    let removed = try library.performChangesAndWait { $0.album(album).remove([ids[1]]) }
    // The middle of the gap is the very key that was given up.
    try library.performChangesAndWait { $0.album(album).insert([ids[3]], at: 1) }
    try library.undoAndWait(.commit(removed.token))
    #expect(try members(album) == [ids[0], ids[1], ids[3], ids[2]])
    #expect(try library.verify(scratch: made.folder.url).defect == nil)
  }

  @Test("members return to their places, though making room for the first rekeys all of them")
  func rekeyedByUndo() throws {
    let ids = try made.create(37)
    let album = try made.album([ids[0], ids[1]])
    // Each right before the last member, until the keys of the last three are neighbours.
    for (index, id) in ids[2..<34].enumerated() {
      try library.performChangesAndWait { $0.album(album).insert([id], at: index + 1) }
    }
    let removed = try library.performChangesAndWait { $0.album(album).remove([ids[32], ids[33]]) }
    // Two take their keys, and a third the one before.
    for (id, index) in [(ids[34], 31), (ids[35], 32), (ids[36], 31)] {
      try library.performChangesAndWait { $0.album(album).insert([id], at: index) }
    }
    let before = try library.currentToken
    try library.undoAndWait(.commit(removed.token))
    let end = [ids[36], ids[32], ids[34], ids[33], ids[35], ids[1]]
    let expected: [LocalIdentifier] = [ids[0]] + ids[2..<32] + end
    #expect(try members(album) == expected)
    var filter = LogFilter()
    filter.after = before
    filter.typePrefix = "content.spread"
    var rekeyedCount = 0
    try library.forEachLogEntry(filter) { _ in
      rekeyedCount += 1
      return true
    }
    #expect(rekeyedCount == 1, "The undo had to make room.")
    #expect(try library.verify(scratch: made.folder.url).defect == nil)
  }

  @Test("the writer reads only those events of an album that were committed since the undo was prepared")
  func readBefore() throws {
    let ids = try made.create(6)
    let album = try made.album(ids)
    let removed = try library.performChangesAndWait { $0.album(album).remove([ids[5]]) }
    for index in 0..<20 { try library.performChangesAndWait { $0.album(album).move(at: [index % 3], to: 3) } }
    let composition = try library.composition(of: .commit(removed.token))
    #expect(composition.rekeyings.readCount == 21)
    for sinceCount in 0..<3 {
      if sinceCount > 0 { try library.performChangesAndWait { $0.album(album).move(at: [0], to: 3) } }
      let store = library.store
      var judge = UndoJudge(
        composition, .refuse, projections: store.core.projections, resources: store.resources, mark: store.core.mark)
      let report = try store.reading { t in try judge.judge(t).report }
      #expect(report.changes.count == 1 && report.conflicts.isEmpty)
      #expect(judge.composition.rekeyings.readCount == 21 + sinceCount)
    }
  }

  @Test("a pick stays with the client that received it, and a client stays registered; the report says so")
  func kept() throws {
    let id = try made.create(.invented(1))
    let start = try library.currentToken
    _ = try library.store.perform([.client(named: "com.example.mail", .pick([id]))], cause: "picked")
    let report = try library.undoAndWait(.commits(after: start))
    #expect(report.changes.isEmpty && report.token == nil)
    #expect(report.kept.count == 2 && report.kept.allSatisfy { $0.contains("com.example.mail") })
  }

  @Test("an edit of content is reverted with the earlier files, which still exist (AS-05)")
  func content() throws {
    let id = try stored("original")
    let before = try state()
    for words in ["first", "second"] {
      let rendered = ResourceDraft(
        type: .fullSizePhoto, source: .data(Data("\(words) render".utf8)), originalFilename: "\(words).jpg",
        uniformTypeIdentifier: "public.jpeg")
      let recipe = AdjustmentData(formatIdentifier: "com.example", formatVersion: "1", data: Data(words.utf8))
      try library.performChangesAndWait(cause: words) {
        $0.editContent(of: id, ContentEdit(adjustmentData: recipe, rendered: [rendered]))
      }
    }
    #expect(throws: LibraryError.self, "The second edit stands on the first.") {
      try library.undoAndWait(.cause("first"))
    }
    try library.undoAndWait(.cause("second"))
    let asset = try #require(try library.asset(id.uuidString))
    let resources = try library.resources(of: asset)
    #expect(resources.contains { $0.originalFilename == "first.jpg" })
    for resource in resources {
      #expect(try library.store.resources.state(of: resource, hashing: true) == .present)
    }
    try library.undoAndWait(.cause("first"))
    #expect(try state() == before)
  }

  @Test("a burst has one representative after any undo (BU-01)")
  func burst() throws {
    var creation = AssetCreation.invented(1)
    creation.burstIdentifier = "B"
    let first = try library.performChangesAndWait { $0.createAsset(creation) }
    creation.resources = AssetCreation.invented(2).resources
    _ = try library.performChangesAndWait { $0.createAsset(creation) }
    var options = FetchOptions()
    options.includeAllBurstAssets = true
    try library.undoAndWait(.commit(first.token), onConflict: .force)
    #expect(try library.fetchAssets(options).map(\.representsBurst) == [true])
    try library.undoAndWait(.commit(try library.currentToken))
    #expect(try library.fetchAssets(options).map(\.representsBurst) == [true, false])
  }

  // MARK: The client, and how it is recorded

  @Test("the owner undoes any commit, a client with full access its own, and every other client none (AU-08)")
  func who() throws {
    let (one, two) = ("com.example.one", "com.example.two")
    try made.authorize(one, two)
    let album = try library.as(one).performChangesAndWait { $0.createAlbum(title: "x") }
    let error = #expect(throws: LibraryError.self) { try library.as(two).undoAndWait(.commit(album.token)) }
    #expect(error?.code == .accessUserDenied && error?.description.contains("'\(one)'") == true)
    #expect(try library.as(two).undoAndWait(UndoSelection()).changes.isEmpty, "It did nothing itself.")
    try library.performChangesAndWait { $0.setAuthorizationStatus(.limited, of: two) }
    #expect(throws: LibraryError.self) { try library.as(two).planUndo(UndoSelection()) }
    #expect(try library.as(one).undoAndWait(UndoSelection()).changes.count == 1)
    #expect(try library.fetchCollections().isEmpty)
  }

  @Test("the confirmation handler gets the effects of an undo, and can reject it (CB-12)")
  func confirmed() throws {
    final class Asked: ChangeConfirmation {
      let proposals = Gathered<ChangeProposal>()
      func confirm(_ proposal: ChangeProposal) -> Bool {
        proposals.append(proposal)
        return false
      }
    }
    let ids = try made.create(2)
    let trash = try library.performChangesAndWait { $0.deleteAssets(ids) }
    let asked = Asked()
    try library.setChangeConfirmation(asked)
    let error = #expect(throws: LibraryError.self) { try library.undoAndWait(.commit(trash.token)) }
    #expect(error?.code == .userCancelled && asked.proposals.all.map(\.restoredAssets) == [ids])
    #expect(try trashed() == 2)
  }

  @Test("an undo with a key is executed once")
  func keyed() throws {
    let ids = try made.create(2)
    let trash = try library.performChangesAndWait { $0.deleteAssets(ids) }
    let first = try library.undoAndWait(.commit(trash.token), key: "u-1")
    try library.performChangesAndWait { $0.deleteAssets(ids) }
    let again = try library.undoAndWait(.commit(trash.token), key: "u-1")
    #expect(again.isRepetition && again.token == first.token && again.changes.isEmpty)
    #expect(try trashed() == 2)
  }

  @Test("the commit names what it undoes, for people and programs")
  func named() throws {
    let ids = try made.create(1)
    var tokens: [Token] = []
    for isFavorite in [true, false, true, false, true] {
      let receipt = try library.performChangesAndWait(cause: isFavorite ? "mark" : "unmark") {
        $0.setFavorite(isFavorite, for: ids)
      }
      tokens.append(receipt.token)
    }
    let report = try library.undoAndWait(.cause("mark"), onConflict: .force, cause: "was a mistake")
    #expect(report.commits == [tokens[0], tokens[2], tokens[4]])
    var filter = LogFilter()
    filter.cause = "was a mistake"
    var found: [CommitSummary] = []
    try library.forEachLogEntry(filter) { entry in
      found.append(entry.commit)
      return true
    }
    let commit = try #require(found.first)
    #expect(commit.undone?.ranges == [tokens[0]...tokens[0], tokens[2]...tokens[2], tokens[4]...tokens[4]])
    #expect(commit.causation == commit.undone?.description)
  }

  @Test("what an undo removes and restores is written and read as its own types, and each is the other's inverse")
  func encoding() throws {
    let row = AssetRow(number: 7, identifier: LocalIdentifier(high: 1, low: 2), addedDate: Date(microseconds: 5))
    var existence = AssetExistence(
      row: row, details: AssetDetails(resources: [.invented(1)]),
      places: [ContainerPlace(container: 3, key: OrderKey(rawValue: 9))])
    existence.isByUndo = true
    let events = [(Event.assetPurged(existence), "asset.unmade"), (.assetCreated(existence), "asset.returned")]
    for (event, type) in events {
      #expect(event.type == type && event.inverse.inverse == event && event.inverse.type != type)
      // The row names its number, whatever the sequence.
      let payload = event.payload()
      #expect(try Event(type: type, version: 1, sequence: 99, payload: payload.span.bytes) == event)
    }
  }

  @Test("a long list of commits is named up to 256 bytes, and the rest is counted")
  func longList() throws {
    let commits = stride(from: UInt64(1_000_000), to: 1_001_000, by: 2).map { Token(library: .max, commit: $0) }
    let undone = UndoneCommits(commits)
    #expect(undone.description.utf8.count <= 256)
    #expect(undone.ranges.count + undone.furtherCount == commits.count && undone.furtherCount > 0)
    #expect(UndoneCommits(undone.description) == undone)
    let neighbours = UndoneCommits((5...1_000).map { Token(library: 7, commit: $0) })
    #expect(neighbours.ranges.count == 1 && UndoneCommits(neighbours.description) == neighbours)
    let stem = "undo:t1-0000000000000007-"
    for text in [
      "", "undo:", stem, "redo:t1-0000000000000007-5", stem + "9..5", stem + "5,", stem + "+x", "undo:5",
      stem + "5..t1-0000000000000007-9",
    ] {
      #expect(UndoneCommits(text) == nil, "\(text)")
    }
  }

  @Test("tokens that name nothing to undo are rejected with a sentence")
  func tokens() throws {
    let early = try library.currentToken
    _ = try made.create(1)
    let late = try library.currentToken
    #expect(throws: LibraryError.self) { try library.planUndo(.commits(after: late, through: early)) }
    var both = UndoSelection.commit(late)
    both.after = early
    #expect(throws: LibraryError.self) { try library.planUndo(both) }
    #expect(throws: LibraryError.self) { try library.planUndo(.commit(Token(library: 1, commit: 1))) }
    #expect(try library.planUndo(.commits(after: late)).changes.isEmpty)
    var unknown = UndoSelection()
    unknown.objects = [LocalIdentifier(high: 1, low: 2)]
    #expect(throws: LibraryError.self) { try library.planUndo(unknown) }
  }

  @Test("a range that ends where it begins undoes nothing, neither in the whole library nor of one asset")
  func emptyRange() throws {
    let ids = try made.create(1)
    let token = try library.currentToken
    try library.performChangesAndWait { $0.deleteAssets(ids) }
    for objects in [[], ids] {
      var selection = UndoSelection.commits(after: token, through: token)
      selection.objects = objects
      let report = try library.undoAndWait(selection)
      #expect(report.commits.isEmpty && report.changes.isEmpty && report.token == nil)
    }
    #expect(try trashed() == 1)
  }

  @Test("the start of the history is undone with the commit that shortened it (PH-06)")
  func history() throws {
    _ = try made.create(1)
    let first = try library.earliestToken
    try library.shortenHistory(to: try library.currentToken)
    #expect(try library.earliestToken != first)
    try library.undoAndWait(.cause("history shortened"))
    #expect(try library.earliestToken == first)
  }
}
