import Foundation
import TestSupport
import Testing

@testable import LibraryMaintenance
import LibraryAudit
@testable import PhotoLedger

// The model of an undo is the as-of view itself: a library that undoes everything since a moment must be what it was at
// that moment. No rule of the undo is written down a second time here.

@Suite("Undo, compared with earlier states")
struct UndoModelTests {
  /// Undoes everything since a moment, and checks what comes of it.
  private static func goBack(_ history: UndoHistory, to index: Int) throws {
    let moment = history.moments[index]
    let selection = UndoSelection.commits(after: moment.token)
    let plan = try history.library.planUndo(selection)
    let report = try history.library.undoAndWait(selection)
    #expect(plan.changes == report.changes, "A dry run says what a run does.")
    #expect(plan.alreadyCount == report.alreadyCount)
    #expect(report.conflicts.isEmpty, "Nothing was changed since: \(report.conflicts.map(\.sentence))")
    try history.remember()
    let now = history.moments[history.moments.count - 1].state
    let difference = now.difference(from: moment.state) ?? ""
    try demand(now == moment.state, "back to moment \(index) of \(history.moments.count): \(difference)")
  }

  @Test(
    "undoing to any moment gives that moment, and undoing that gives the state before",
    arguments: 1...(Dose.isFull ? 12 : 5) as ClosedRange<UInt64>)
  func anyMoment(seed: UInt64) throws {
    let history = try UndoHistory(seed: seed)
    do {
      for round in 0..<60 {
        try history.step()
        guard round % 4 == 3 else { continue }
        let last = history.moments.count - 1
        // Mostly near, sometimes far; a moment may itself lie behind an undo.
        let reach = history.draw(0..<5) == 0 ? last + 1 : min(last + 1, 6)
        try Self.goBack(history, to: last - history.draw(0..<reach))
        if history.draw(0..<2) == 0 { try Self.goBack(history, to: history.moments.count - 2) }
      }
      try Self.goBack(history, to: 0)
    } catch {
      Issue.record("seed \(seed), after \(history.moments.count) moments: \(error)")
    }
    let empty = history.moments[history.moments.count - 1].state
    #expect(empty.assets.isEmpty && empty.clients.isEmpty && empty.collections.count == 1, "Only the root is left.")
    #expect(try history.library.fetchAssets(FetchOptions()).isEmpty)
    #expect(try history.library.verify(scratch: history.made.folder.url).defect == nil)
  }

  @Test("the generated histories contain everything that an undo reverts, and everything that it does")
  func coverage() throws {
    let wanted: Set<String> = [
      "asset.created", "asset.purged", "asset.unmade", "asset.returned", "assets.edited", "assets.trashed",
      "assets.restored", "collection.created", "collection.edited", "content.inserted", "content.removed",
      "content.moved", "content.spread", "client.registered", "client.edited", "selection.granted",
      "selection.withdrawn",
    ]
    var types: Set<String> = []
    // At the usual dose only as many as it takes.
    for seed in 1...8 as ClosedRange<UInt64> where Dose.isFull || !wanted.isSubset(of: types) {
      let history = try UndoHistory(seed: seed)
      for round in 0..<80 {
        try history.step()
        if round % 6 == 5 { try Self.goBack(history, to: max(0, history.moments.count - 1 - history.draw(1..<9))) }
      }
      #expect(history.moments.count > 30, "Hardly a block of seed \(seed) was executed.")
      let states = history.moments.map(\.state)
      #expect(states.contains { !$0.assets.isEmpty } && states.contains { $0.collections.count > 1 })
      #expect(states.contains { !$0.clients.isEmpty }, "The states of seed \(seed) hold no client to compare.")
      try history.library.forEachLogEntry { entry in
        types.insert(entry.type)
        return true
      }
    }
    #expect(wanted.subtracting(types).isEmpty)
  }

  @Test(
    "every follower of an undo gets exactly what it changed (CD-04)",
    arguments: 20...(Dose.isFull ? 25 : 22) as ClosedRange<UInt64>)
  func followers(seed: UInt64) throws {
    let history = try UndoHistory(seed: seed)
    for _ in 0..<25 { try history.step() }
    var everything = FetchOptions()
    everything.includeHiddenAssets = true
    var trash = FetchOptions()
    trash.showsTrash = true
    // Some receive each commit, one lags and receives all of them at once.
    var near: [(options: FetchOptions, shown: [LocalIdentifier], follower: ResultChanges<Asset>.Iterator)] = []
    for options in [everything, trash, FetchOptions()] {
      let held = try history.library.fetchAssets(options)
      let follower = ResultChanges.Iterator(held, 8)
      try follower.listen()
      near.append((options, held.map(\.id), follower))
    }
    let held = try history.library.fetchAssets(everything)
    let start = held.map(\.id)
    let far = ResultChanges.Iterator(held, 0)
    for round in 0..<14 {
      if round % 2 == 0 {
        try history.step()
      } else {
        let last = history.moments.count - 1
        try Self.goBack(history, to: max(0, last - history.draw(1..<8)))
      }
      try history.library.store.observation.pump()
      for index in near.indices {
        let told = try near[index].follower.take()
        let after = try history.library.fetchAssets(near[index].options).map(\.id)
        try Self.check(told, from: near[index].shown, to: after, "seed \(seed), round \(round), follower \(index)")
        near[index].shown = after
      }
    }
    try far.listen()
    try history.library.store.observation.pump()
    let after = try history.library.fetchAssets(everything).map(\.id)
    try Self.check(try far.take(), from: start, to: after, "seed \(seed), far behind")
  }

  private static func check(
    _ told: ChangeDetails<Asset>?, from before: [LocalIdentifier], to after: [LocalIdentifier], _ place: String
  ) throws {
    guard let told else {
      #expect(before == after, "nothing was delivered, \(place)")
      return
    }
    let expected = ListChange(before: before, after: after, changed: [])
    #expect(told.fetchResultBeforeChanges.map(\.id) == before && told.fetchResultAfterChanges.map(\.id) == after)
    #expect(Array(told.removedIndexes ?? []) == expected.removed, "\(place)")
    #expect(Array(told.insertedIndexes ?? []) == expected.inserted, "\(place)")
    // What was purged and came back looks as it did, and so does what was left alone.
    let changed = told.fetchResultAfterChanges.enumerated().filter { index, now in
      guard let place = told.fetchResultBeforeChanges.firstIndex(where: { $0.id == now.id }) else { return false }
      return !told.fetchResultBeforeChanges[place].hasSameProperties(as: now)
    }
    #expect(Set(changed.map(\.offset)).isSubset(of: Set(told.changedIndexes ?? [])), "\(place)")
  }

  // MARK: Places

  /// An album of assets or a folder of albums, some of which are in it.
  private final class Shelf {
    let made: TemporaryLibrary
    let isFolder: Bool
    private let all: [LocalIdentifier]
    private let home: LocalIdentifier
    private var random: SeededGenerator

    init(seed: UInt64, isFolder: Bool) throws {
      let made = try TemporaryLibrary(.seeded(seed))
      var ids = try isFolder ? [] : made.create(14)
      var home: LocalIdentifier?
      try made.library.performChangesAndWait { block in
        if isFolder { ids = (0..<14).map { block.createAlbum(title: "album \($0)") } }
        home = isFolder ? block.createFolder(title: "shelf") : block.createAlbum(title: "shelf")
      }
      self.isFolder = isFolder
      self.made = made
      self.home = try #require(home)
      all = ids
      random = SeededGenerator(seed: seed)
      try change { $0.add(Array(ids.prefix(6))) }
    }

    func members() throws -> [LocalIdentifier] {
      if !isFolder { return try made.members(home).map(\.id) }
      return try made.library.fetchCollections(in: try made.collection(home)).map(\.id)
    }

    private func change(_ edit: (ContentEditor) -> Void) throws {
      try made.library.performChangesAndWait { edit(isFolder ? $0.folder(home) : $0.album(home)) }
    }

    func draw(_ count: Int, of ids: some Sequence<LocalIdentifier>) -> [LocalIdentifier] {
      random.some(count, of: Array(ids))
    }

    /// A position after which some members stand.
    func spot() throws -> Int {
      let count = try members().count
      return random.int(0..<(count - 3))
    }

    /// Halves the gap after a position until hardly a key in it is free.
    func narrow(after spot: Int) throws {
      try change { editor in
        for _ in 0..<30 { editor.move(at: IndexSet(integer: spot + 2), to: spot + 1) }
      }
    }

    /// Puts in some that are outside, one by one.
    func insert(_ count: Int, after spot: Int, butNot gone: [LocalIdentifier] = []) throws {
      let inside = Set(try members() + gone)
      let new = draw(count, of: all.filter { !inside.contains($0) })
      try change { editor in
        for id in new { editor.insert([id], at: spot + random.int(1..<3)) }
      }
    }

    func takeOut(_ ids: [LocalIdentifier]) throws -> Token {
      try made.library.performChangesAndWait { block in
        if isFolder { block.folder(nil).add(ids) } else { block.album(home).remove(ids) }
      }.token
    }
  }

  @Test(
    "restored members stand among the others as before, however narrow the gaps are and whatever is in them now",
    arguments: [false, true])
  func places(isFolder: Bool) throws {
    var rekeyedCount = 0
    // At the usual dose six, and more only until some undo had to make room.
    for seed in 1...20 as ClosedRange<UInt64> where Dose.isFull || seed <= 6 || rekeyedCount == 0 {
      let shelf = try Shelf(seed: seed, isFolder: isFolder)
      for round in 0..<10 {
        let spot = try shelf.spot()
        try shelf.narrow(after: spot)
        try shelf.insert(4, after: spot)
        let before = try shelf.members()
        let gone = shelf.draw(5, of: before[(spot + 1)...].prefix(6))
        let token = try shelf.takeOut(gone)
        try shelf.insert(3, after: spot, butNot: gone)
        var filter = LogFilter()
        filter.after = try shelf.made.library.currentToken
        filter.typePrefix = "content.spread"
        try shelf.made.library.undoAndWait(.commit(token))
        let after = try shelf.members()
        #expect(after.filter { before.contains($0) } == before, "seed \(seed), round \(round)")
        try shelf.made.library.forEachLogEntry(filter) { _ in
          rekeyedCount += 1
          return true
        }
        _ = try shelf.takeOut(shelf.draw(after.count - 6, of: after))
      }
      #expect(try shelf.made.library.verify(scratch: shelf.made.folder.url).isSound)
    }
    #expect(rekeyedCount > 0, "No undo had to make room, which is what is tested.")
  }

  // MARK: Any commits

  /// A property that got a value of its own by each commit that set it.
  private struct Track {
    var writes: [(commit: Int, value: String)] = []

    /// What an undo of chosen commits makes of it: what is left when their writes are struck out.
    func value(without chosen: Set<Int>, _ policy: UndoConflictPolicy) -> String? {
      let last = writes.last
      guard let final = writes.lastIndex(where: { chosen.contains($0.commit) }) else { return last?.value }
      let isLatest = final == writes.count - 1
      if !isLatest, policy == .skip { return last?.value }
      return writes[..<final].last { !chosen.contains($0.commit) }?.value
    }
  }

  /// Chooses commits by their cause, by a range, or none of them, by a range that ends where it begins.
  private static func choose(
    seed: UInt64, of tokens: [Token], _ random: inout SeededGenerator
  ) -> (selection: UndoSelection, chosen: Set<Int>) {
    if seed % 3 == 0 {
      let cause = random.int(0..<3)
      return (.cause("cause \(cause)"), Set(tokens.indices.filter { $0 % 3 == cause }))
    }
    let first = random.int(0..<tokens.count)
    let last = seed % 3 == 1 ? random.int(first..<tokens.count) : first
    return (.commits(after: tokens[first], through: tokens[last]), Set((first + 1)..<(last + 1)))
  }

  @Test(
    "undoing any commits leaves what the others wrote; what they overwrote is a conflict",
    arguments: 1...(Dose.isFull ? 20 : 9) as ClosedRange<UInt64>)
  func anyCommits(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let made = try TemporaryLibrary(.seeded(seed))
    let ids = try made.create(3)
    var tracks = ids.map { _ in Track() }
    var tokens: [Token] = []
    for commit in 0..<12 {
      let chosen = random.some(2, of: Array(0..<3))
      let receipt = try made.library.performChangesAndWait(cause: "cause \(commit % 3)") { block in
        for index in chosen {
          var changes = AssetChanges()
          changes.caption = .set("words of \(commit)")
          block.edit([ids[index]], changes)
          tracks[index].writes.append((commit, "words of \(commit)"))
        }
      }
      tokens.append(receipt.token)
    }
    let (selection, chosen) = Self.choose(seed: seed, of: tokens, &random)
    let policy: UndoConflictPolicy = random.one(of: [.skip, .force])
    let conflicts = tracks.filter { track in
      guard let final = track.writes.lastIndex(where: { chosen.contains($0.commit) }) else { return false }
      return final < track.writes.count - 1
    }
    if !conflicts.isEmpty {
      let before = try made.library.currentToken
      #expect(throws: LibraryError.self) { try made.library.undoAndWait(selection) }
      #expect(try made.library.currentToken == before, "A refused undo leaves nothing.")
    }
    let report = try made.library.undoAndWait(selection, onConflict: policy)
    #expect(report.commits == chosen.sorted().map { tokens[$0] }, "seed \(seed)")
    #expect(report.conflicts.count == conflicts.count && report.conflicts.allSatisfy { $0.reason == .changedSince })
    for (id, track) in zip(ids, tracks) {
      let asset = try #require(try made.library.asset(id.uuidString))
      let caption = try made.library.extendedMetadata(of: asset).caption
      #expect(caption == track.value(without: chosen, policy), "seed \(seed), \(policy)")
    }
  }
}
