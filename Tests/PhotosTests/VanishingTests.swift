import LibraryAudit
import LibraryMaintenance
import PhotoLedger
import Photos
import TestSupport
import Testing

/// Random histories in which assets are trashed, restored, purged, granted and withdrawn, and what a client of `Photos`
/// receives of them, against the one thing that it can see: the set of assets before and after each commit.
@Suite("What a client cannot see does not exist")
struct VanishingTests {
  @Test(
    "history and details list what entered and left the view, and nothing of the trash (CD-21, PH-03 to PH-05, AU-04)",
    arguments: 1...(Dose.isFull ? 8 : 3) as ClosedRange<UInt64>)
  func random(seed: UInt64) async throws {
    var story = try await VanishingStory(seed)
    for step in 0..<80 {
      do {
        try await story.step()
      } catch let error as Divergence {
        throw Divergence("Seed \(seed), step \(step): \(error)")
      }
    }
    try story.compare()
    #expect(story.isRich, "The history lacks what it is about: \(story.counts)")
  }

  @Test("created and trashed in one commit is not a change, trashed and restored at most an update (PH-03 to PH-05)")
  func withinOneCommit() async throws {
    let gallery = try Gallery()
    let a = try await gallery.images(0..<3).compactMap { LocalIdentifier($0) }
    try await gallery.shared {
      let start = PHPhotoLibrary.shared().currentChangeToken
      try await gallery.library.performChanges { $0.deleteAssets([a[2]]) }
      try await gallery.library.performChanges { block in
        block.deleteAssets([block.createAsset(.invented(10)), a[0]])
        block.deleteAssets([a[1]])
        block.restoreAssets([a[1], a[2]])
        block.setFavorite(true, for: [a[0], a[2]])
      }
      let changes = Array(try PHPhotoLibrary.shared().fetchPersistentChanges(since: start))
      let details = try changes.map { try $0.changeDetails(for: .asset) }
      func names(_ ids: [LocalIdentifier]) -> Set<String> { Set(ids.map { $0.uuidString + "/L0/001" }) }
      #expect(details[0].deletedLocalIdentifiers == names([a[2]]))
      #expect(details[1].deletedLocalIdentifiers == names([a[0]]))
      #expect(details[1].insertedLocalIdentifiers == names([a[2]]))
      #expect(details[1].updatedLocalIdentifiers.isSubset(of: names([a[1]])))
    }
  }

  @Test("what was trashed before a grant appears when it is restored; purge and edits are not listed (PH-05, AU-04)")
  func trashedBeforeGrant() async throws {
    let gallery = try Gallery()
    let a = try await gallery.images(0..<2).compactMap { LocalIdentifier($0) }
    try await gallery.client(.limited, named: "com.example.few")
    try await gallery.shared(as: "com.example.few") {
      let start = PHPhotoLibrary.shared().currentChangeToken
      let blocks: [(ChangeBlock) -> Void] = [
        { $0.deleteAssets(a) }, { $0.grant(a, to: "com.example.few") }, { $0.setFavorite(true, for: a) },
        { $0.restoreAssets([a[0]]) }, { $0.purgeAssets([a[1]]) }, { $0.setHidden(true, for: [a[0]]) },
      ]
      for block in blocks { try await gallery.library.performChanges { block($0) } }
      let details = try PHPhotoLibrary.shared().fetchPersistentChanges(since: start)
        .map { try $0.changeDetails(for: .asset) }
      let name: Set = [a[0].uuidString + "/L0/001"]
      #expect(details.map(\.insertedLocalIdentifiers).filter { !$0.isEmpty } == [name])
      #expect(details.map(\.updatedLocalIdentifiers).filter { !$0.isEmpty } == [name], "Hiding is a change (PH-04).")
      #expect(details.allSatisfy { $0.deletedLocalIdentifiers.isEmpty })
    }
  }

  @Test("an asset in the trash has no identifier across libraries, and none leads to it (CI-02)")
  func cloudIdentifiers() async throws {
    let gallery = try Gallery()
    let name = try await gallery.images(0..<1)[0]
    try await gallery.shared {
      let library = PHPhotoLibrary.shared()
      let cloud = try #require(library.cloudIdentifierMappings(forLocalIdentifiers: [name])[name]).get()
      try await library.performChanges { PHAssetChangeRequest.deleteAssets(assets()) }
      #expect(throws: PHPhotosError.self) {
        try library.cloudIdentifierMappings(forLocalIdentifiers: [name])[name]?.get()
      }
      #expect(throws: PHPhotosError.self) { try library.localIdentifierMappings(for: [cloud])[cloud]?.get() }
      let core = try gallery.library.cloudIdentifierMappings(forLocalIdentifiers: [name])
      #expect((try? core[name]?.get()) != nil, "The core's own still covers the trash.")
    }
  }
}

/// One history, and two clients that follow it: one has full access, one a selection.
private struct VanishingStory {
  /// What a client sees of an asset here.
  private struct Look: Equatable {
    let isFavorite: Bool
    let isHidden: Bool
  }

  /// What a commit was to a client.
  private struct Chapter {
    var token: PHPersistentChangeToken
    var isSighted: Bool
    var inserted: Set<String>
    var deleted: Set<String>
    var changed: Set<String>
    /// What may be reported as changed: seen before and after, and asked for.
    var concerned: Set<String>
  }

  private struct Follower {
    let library: PHPhotoLibrary
    let keeper: Keeper
    var seen: [String: Look]
    var held: [String: PHAsset]
    var chapters: [Chapter]
  }

  private static let names = ["com.example.all", "com.example.few"]

  private let gallery: Gallery
  private var random: SeededGenerator
  private var followers: [Follower] = []
  /// The states of the library, as its owner names them.
  private var states: [Token] = []
  private var seed = 0
  private(set) var counts: [String: Int] = [:]

  init(_ seed: UInt64) async throws {
    gallery = try Gallery(seed: seed)
    random = SeededGenerator(seed: seed)
    try await gallery.client(.authorized, named: Self.names[0])
    try await gallery.client(.limited, named: Self.names[1])
    for name in Self.names {
      let library = PHPhotoLibrary(core: gallery.library.as(name))
      let keeper = Keeper()
      library.register(keeper)
      let start = Chapter(
        token: library.currentChangeToken, isSighted: false, inserted: [], deleted: [], changed: [], concerned: [])
      followers.append(Follower(library: library, keeper: keeper, seen: [:], held: [:], chapters: [start]))
    }
  }

  /// Whether the history had something of everything.
  var isRich: Bool {
    ["inserted", "deleted", "changed", "unseen", "purged", "undone"].allSatisfy { counts[$0, default: 0] > 0 }
  }

  private mutating func count(_ what: String, _ number: Int = 1) { counts[what, default: 0] += number }

  // MARK: Writing

  mutating func step() async throws {
    let before = try gallery.library.currentToken
    var concerned: Set<String> = []
    do {
      if random.chance(1, of: 8), let start = states.dropLast(random.int(1..<4)).last {
        try await gallery.library.undo(.commits(after: start), onConflict: .skip)
        concerned = Set(followers.flatMap(\.held.keys))
        count("undone")
      } else {
        concerned = try await write()
      }
    } catch is LibraryError {
      // A block that contradicts itself is refused, and leaves nothing.
    }
    let after = try gallery.library.currentToken
    guard after != before else { return }
    states.append(after)
    for index in followers.indices { try await follow(index, concerned) }
  }

  private mutating func write() async throws -> Set<String> {
    var options = FetchOptions()
    options.includeHiddenAssets = true
    var alive = Set(try gallery.library.fetchAssets(options).map(\.id))
    options.showsTrash = true
    var trashed = Set(try gallery.library.fetchAssets(options).map(\.id))
    var touched: Set<String> = []
    let isByClient = random.chance(1, of: 5)
    let library = isByClient ? gallery.library.as(Self.names[1]) : gallery.library
    let block = try steps(random.int(1..<5), byClient: isByClient, &alive, &trashed, &touched)
    try await library.performChanges { change in for step in block { step(change) } }
    return touched
  }

  private mutating func steps(
    _ number: Int, byClient: Bool, _ alive: inout Set<LocalIdentifier>, _ trashed: inout Set<LocalIdentifier>,
    _ touched: inout Set<String>
  ) throws -> [(ChangeBlock) -> Void] {
    var steps: [(ChangeBlock) -> Void] = []
    let client = Self.names[1]
    for _ in 0..<number {
      let all = (alive.union(trashed)).sorted { $0.uuidString < $1.uuidString }
      let chosen = random.some(random.int(1..<4), of: all)
      touched.formUnion(chosen.map { $0.uuidString + "/L0/001" })
      switch random.int(0..<(byClient ? 4 : 10)) {
      case 0 where all.count < 14, 1 where all.count < 6:
        seed += 1
        let (creation, isTrashed) = (AssetCreation.invented(seed), random.chance(1, of: 4))
        steps.append { block in
          let made = block.createAsset(creation)
          if isTrashed { block.deleteAssets([made]) }
        }
      case 0...2:
        (alive, trashed) = (alive.subtracting(chosen), trashed.union(chosen))
        steps.append { $0.deleteAssets(chosen) }
      case 3:
        let flag = random.chance(1, of: 2)
        steps.append { $0.setFavorite(flag, for: chosen) }
      case 4...5:
        (alive, trashed) = (alive.union(chosen), trashed.subtracting(chosen))
        steps.append { $0.restoreAssets(chosen) }
      case 6:
        let gone = chosen.filter(trashed.contains)
        trashed.subtract(gone)
        count("purged", gone.count)
        steps.append { $0.purgeAssets(gone) }
      case 7:
        let flag = random.chance(1, of: 2)
        steps.append { $0.setHidden(flag, for: chosen) }
      case 8: steps.append { $0.withdraw(chosen, from: client) }
      default: steps.append { $0.grant(chosen, to: client) }
      }
    }
    return steps
  }

  // MARK: Following

  private func look(_ library: PHPhotoLibrary) -> [String: PHAsset] {
    let all = PHPhotoLibrary.withShared(library.core) { assets { $0.includeHiddenAssets = true } }
    return Dictionary(uniqueKeysWithValues: (0..<all.count).map { (all[$0].localIdentifier, all[$0]) })
  }

  private mutating func follow(_ index: Int, _ concerned: Set<String>) async throws {
    var follower = followers[index]
    let objects = look(follower.library)
    let (old, new) = (follower.seen, objects.mapValues { Look(isFavorite: $0.isFavorite, isHidden: $0.isHidden) })
    let token = follower.library.currentChangeToken
    let kept = Set(old.keys).intersection(new.keys)
    let chapter = Chapter(
      token: token, isSighted: token != follower.chapters.last?.token,
      inserted: Set(new.keys).subtracting(old.keys), deleted: Set(old.keys).subtracting(new.keys),
      changed: kept.filter { old[$0] != new[$0] }, concerned: kept.intersection(concerned))
    follower.chapters.append(chapter)
    follower.seen = new
    if chapter.isSighted {
      let due = follower.chapters.count(where: \.isSighted)
      try await waitUntil("the observer is notified") { follower.keeper.all.count >= due }
      try check(follower.keeper.all[due - 1], chapter, old, new, follower.held)
    } else {
      let seen = chapter.inserted.union(chapter.deleted).union(chapter.changed)
      try demand(seen.isEmpty, "It did not receive \(chapter).")
      count("unseen")
    }
    follower.held.merge(objects) { $1 }
    followers[index] = follower
    count("inserted", chapter.inserted.count)
    count("deleted", chapter.deleted.count)
    count("changed", chapter.changed.count)
  }

  private func check(
    _ change: PHChange, _ chapter: Chapter, _ old: [String: Look], _ new: [String: Look], _ held: [String: PHAsset]
  ) throws {
    for (name, asset) in held {
      let details = change.changeDetails(for: asset)
      guard old[name] != nil else {
        try demand(details == nil, "\(name) was not there, and has details.")
        continue
      }
      guard let look = new[name] else {
        try demand(details?.objectWasDeleted == true && details?.objectAfterChanges == nil, "\(name) is not deleted.")
        continue
      }
      try demand(details?.objectWasDeleted != true, "\(name) is deleted.")
      if chapter.changed.contains(name) {
        try demand(details?.objectAfterChanges?.isFavorite == look.isFavorite, "\(name) is not changed.")
      } else if !chapter.concerned.contains(name) {
        try demand(details == nil, "\(name) was not touched, and has details.")
      }
    }
  }

  // MARK: Comparing

  /// Compares the history since each state with what was seen; at the usual dose since every fourth, as the work grows
  /// with the square of their number.
  mutating func compare() throws {
    for follower in followers {
      for start in follower.chapters.indices where Dose.isFull || start % 4 == 0 {
        let due = follower.chapters[(start + 1)...].filter(\.isSighted)
        let token = follower.chapters[start].token
        let told = Array(try follower.library.fetchPersistentChanges(since: token))
        try compare(try told.map { (PHPersistentChangeToken?($0.changeToken), try $0.changeDetails(for: .asset)) }, due)
        guard start % 16 == 0 else { continue }
        // In small portions: what is known of an asset is then worked out anew in the middle of the history.
        var (rest, portions) = (token.token, [PersistentChange]())
        while true {
          let portion = try follower.library.core.fetchPersistentChanges(since: rest, limit: 3, showsTrash: false)
          guard let last = portion.last else { break }
          portions += portion
          rest = last.changeToken
        }
        let details = try portions.map { try $0.changeDetails(for: .asset) }
        try demand(
          details.map(\.insertedLocalIdentifiers) == due.map(\.inserted)
            && details.map(\.deletedLocalIdentifiers) == due.map(\.deleted), "Portions differ from \(start) on.")
        try demand(
          try told.map { try $0.changeDetails(for: .asset).updatedLocalIdentifiers }
            == details.map(\.updatedLocalIdentifiers), "Portions update otherwise from \(start) on.")
      }
    }
  }

  private func compare(
    _ told: [(token: PHPersistentChangeToken?, details: PHPersistentObjectChangeDetails)], _ due: [Chapter]
  ) throws {
    try demand(told.map(\.token) == due.map(\.token), "\(told.count) commits are delivered, not \(due.count).")
    for (told, chapter) in zip(told, due) {
      let details = told.details
      try demand(details.insertedLocalIdentifiers == chapter.inserted, "Inserted at \(chapter.token.token).")
      try demand(details.deletedLocalIdentifiers == chapter.deleted, "Deleted at \(chapter.token.token).")
      let updated = details.updatedLocalIdentifiers
      try demand(
        chapter.changed.isSubset(of: updated) && updated.isSubset(of: chapter.concerned.union(chapter.changed)),
        "Updated at \(chapter.token.token): \(updated), not \(chapter.changed) of \(chapter.concerned).")
    }
  }
}
