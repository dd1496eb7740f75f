import Foundation
import LMDB
import StoreTestSupport
import TestSupport
import Testing

@testable import LibraryMaintenance
@testable import PhotoLedger

// A fetch that the store keeps in order is compared with the same fetch under a second sort term that decides nothing:
// of assets with one date the one added first comes first either way, so both have the same objects in the same order,
// and only one of them is answered from what is stored.

@Suite("Stored orders")
struct StoredOrderTests {
  /// A library of assets with few dates, changed at random.
  private struct Changing {
    let made: TemporaryLibrary
    var random: SeededGenerator
    var ids: [LocalIdentifier] = []

    init(_ seed: UInt64) throws {
      made = try TemporaryLibrary(.seeded(seed))
      random = SeededGenerator(seed: seed)
    }

    mutating func step(_ number: Int) throws {
      var drawn = random
      var chosen: [LocalIdentifier] = []
      for _ in 0..<min(3, ids.count) { chosen.append(drawn.one(of: ids)) }
      var kept = ids
      try made.library.performChangesAndWait { block in
        switch drawn.int(0..<8) {
        case 0, 1, 2:
          for index in 0..<4 {
            let creation = AssetCreation.random(number * 8 + index, &drawn)
            let id = block.createAsset(creation)
            // What comes from elsewhere cannot be changed.
            if creation.sourceType == .userLibrary { kept.append(id) }
          }
        case 3: block.setFavorite(drawn.chance(1, of: 2), for: chosen)
        case 4: block.setHidden(drawn.chance(1, of: 2), for: chosen)
        case 5: block.deleteAssets(chosen)
        case 6: block.restoreAssets(chosen)
        default:
          var changes = AssetChanges()
          changes.creationDate = AssetChanges.Assignment(Date.drawn(&drawn))
          block.edit(chosen, changes)
        }
      }
      (random, ids) = (drawn, kept)
    }

    /// Every smart album, and the library, each by date both ways: as it is stored, and as it is worked out.
    func compare(_ number: Int) throws {
      let albums: [PhotoCollection?] = [nil] + (try made.library.fetchCollections(with: .smartAlbum)).map { $0 }
      for album in albums {
        for order in ["", "creationDate", "creationDate:desc"] {
          var options = FetchOptions()
          if !order.isEmpty { options.sort = [try SortTerm(order, for: .asset)] }
          let asked = try made.library.fetchAssets(options, in: album)
          let isKept = StoredAnswer(try asked.core.plan.query) != nil
          // An album in the order of addition has orders of its own; see AddedOrderTests.
          let isRecent = album?.albumSubtype == .smartAlbumRecentlyAdded
          #expect(isKept == (!isRecent || order.isEmpty), "Another fetch is answered.")
          if order.isEmpty && isRecent { continue }
          let stored = try made.library.fetchAssets(options, in: album)
          var pieces: [ObjectNumber] = []
          try made.library.fetchAssets(options, in: album).forEachPiece { pieces += $0.map(\.row.number) }
          options.sort.append(try SortTerm("addedDate", for: .asset))
          let expected = try made.library.fetchAssets(options, in: album).core.numbers
          let title = Comment(rawValue: "\(album?.localizedTitle ?? "The library") by \(order), step \(number)")
          #expect(stored.count == expected.count, title)
          #expect(stored.prefix(3).map(\.row.number) == Array(expected.prefix(3)), title)
          #expect(try stored.core.numbers == expected, title)
          #expect(stored.map(\.row.number) == expected, title)
          #expect(pieces == expected, title)
        }
      }
    }
  }

  @Test(
    "a stored order is what a fetch finds, after every change (FR-09, AL-07)",
    arguments: 1...(Dose.isFull ? 3 : 1) as ClosedRange<UInt64>)
  func stored(seed: UInt64) throws {
    var changing = try Changing(seed)
    for number in 0..<40 {
      try changing.step(number)
      // At the usual dose after every second change.
      if Dose.isFull || number % 2 == 1 { try changing.compare(number) }
    }
    #expect(try changing.made.library.verify(scratch: changing.made.folder.url).defect == nil)
  }

  @Test(
    "a begun result shows its own commit, however late it is completed (FR-01)", arguments: [4, 5] as [UInt64],
    ["", "creationDate", "creationDate:desc"])
  func begun(seed: UInt64, order: String) throws {
    var changing = try Changing(seed)
    let library = changing.made.library
    var options = FetchOptions()
    if !order.isEmpty { options.sort = [try SortTerm(order, for: .asset)] }
    var (limited, start) = (options, 0)
    limited.fetchLimit = 7
    while try library.fetchAssets(options).count < 3 * BegunResult.firstCount {
      try changing.step(start)
      start += 1
    }
    let wanted = try library.fetchAssets(options).map(\.id)
    let (late, short) = (try library.fetchAssets(options), try library.fetchAssets(limited))
    #expect(late.state.begun != nil)
    #expect(late.count == wanted.count && short.count == min(7, wanted.count))
    for number in start..<start + 30 { try changing.step(number) }
    #expect(late.prefix(2).map(\.id) == Array(wanted.prefix(2)), "The first screen is of the result's commit.")
    #expect(late.map(\.id) == wanted)
    #expect(short.map(\.id) == Array(wanted.prefix(7)))
    #expect(try late.index(ofObject: late[wanted.count - 1]) == wanted.count - 1)
  }

  @Test(
    "pieces are the whole result in its order, also when a commit comes between two of them",
    arguments: ["", "creationDate", "creationDate:desc"])
  func pieces(order: String) throws {
    var changing = try Changing(8)
    let library = changing.made.library
    var options = FetchOptions()
    if !order.isEmpty { options.sort = [try SortTerm(order, for: .asset)] }
    // More than are made ahead of what is passed on: the commit below comes before the last of them are read.
    var number = 0
    while try library.fetchAssets(options).count < 100 {
      try changing.step(number)
      number += 1
    }
    let wanted = try library.fetchAssets(options).map(\.id)
    let result = try library.fetchAssets(options)
    #expect(result.state.begun != nil)
    var (found, details): ([LocalIdentifier], Int) = ([], 0)
    try library.forEachAsset(of: result) { asset, described in
      found.append(asset.id)
      details += described.resources.count
      if found.count == 7 { try changing.step(100) }
    }
    #expect(found == wanted)
    #expect(try details == result.reduce(0) { $0 + (try library.resources(of: $1).count) })
    #expect(result.state.begun == nil, "After the commit it was made.")
  }

  @Test("a few members that were added late are found though the first rows are not members (AL-07)")
  func lateMembers() throws {
    let made = try TemporaryLibrary(.seeded(9))
    var made200: [LocalIdentifier] = []
    try made.library.performChangesAndWait { block in
      made200 = (0..<200).map { block.createAsset(.invented($0)) }
    }
    let favourites = Array(made200.suffix(9))
    try made.library.performChangesAndWait { $0.setFavorite(true, for: favourites) }
    let album = try #require(try made.library.fetchCollections(with: .smartAlbum, subtype: .smartAlbumFavorites).first)
    let result = try made.library.fetchAssets(FetchOptions(), in: album)
    #expect(result.state.begun == nil, "So many rows are not judged for the first screen.")
    #expect(result.map(\.id) == favourites)
    #expect(try made.library.fetchAssets().state.begun != nil)
  }

  @Test("a follower of a begun result gets the changes from its own commit on (CD-02, OB-03)")
  func followed() throws {
    var changing = try Changing(6)
    for number in 0..<12 { try changing.step(number) }
    var options = FetchOptions()
    options.sort = [try SortTerm("creationDate:desc", for: .asset)]
    let held = try changing.made.library.fetchAssets(options)
    let before = try changing.made.library.fetchAssets(options).map(\.id)
    for number in 12..<30 { try changing.step(number) }
    let follower = ResultChanges.Iterator(held, 0)
    try follower.listen()
    let change = try #require(try follower.take())
    var list = before
    for index in try #require(change.removedIndexes).reversed() { list.remove(at: index) }
    let after = try changing.made.library.fetchAssets(options).map(\.id)
    #expect(change.fetchResultBeforeChanges.map(\.id) == before)
    #expect(change.fetchResultAfterChanges.map(\.id) == after)
    #expect(Set(list).isSubset(of: after))
  }

  @Test(
    "as many first objects are read as requested, also where all have one date",
    arguments: [StoredWay.added, .dated(ascending: true), .dated(ascending: false)])
  func firstOfOneDate(way: StoredWay) throws {
    let made = try TemporaryLibrary(.seeded(7))
    let date = Date(timeIntervalSince1970: 1_000_000_000)
    try made.library.performChangesAndWait { block in
      for seed in 0..<20 { block.createAsset(.invented(seed, date: date)) }
    }
    let core = made.library.store.core
    var longest = 0
    for index in StoredOrder.all.indices where index != StoredOrder.withheld {
      let (first, all) = try core.environment.read { t in
        (
          try core.projections.keys(7, of: StoredAnswer(order: index, way), in: t),
          try core.projections.keys(of: StoredAnswer(order: index, way), in: t)
        )
      }
      #expect(first.map(\.number) == all.prefix(7).map(\.number), "\(StoredOrder.all[index].name)")
      let rest = try core.environment.read { t in
        try core.projections.keys(100, of: StoredAnswer(order: index, way), after: first.last, in: t)
      }
      if first.count == 7 { #expect(rest.map(\.number) == all.dropFirst(7).map(\.number)) }
      longest = max(longest, all.count)
    }
    #expect(longest > 7)
  }

  @Test("those of one date are in ascending order where an order is read backward (FR-09)")
  func turned() {
    var keys = [(1, 6), (1, 4), (2, 2), (3, 9), (3, 3), (3, 1), (4, 5)].map { NarrowKey(word: $0.0, number: $0.1) }
    Projections.turnRuns(&keys)
    #expect(keys.map(\.number) == [4, 6, 2, 1, 3, 9, 5])
    #expect(keys == keys.sorted())
    keys = []
    Projections.turnRuns(&keys)
    #expect(keys.isEmpty)
  }

  @Test(
    "an order whose pages a damaged file leads to twice, or backward, is damage to a fetch",
    arguments: ["order.smartAlbumUserLibrary", "order.added"], [false, true])
  func rearranged(order: String, backward: Bool) throws {
    let made = try TemporaryLibrary(.seeded(3))
    try made.library.performChangesAndWait { block in
      for index in 0..<400 { block.createAsset(.invented(index)) }
    }
    made.library.close()
    var pages = try StorePages(made.url.path + "/store")
    let root = try #require(pages.root(of: order))
    try #require(pages.branches(from: root) == [root])
    pages.rearrange(from: root) { pages in backward ? pages.reversed() : pages.map { _ in pages[0] } }
    try pages.write()
    let library = try PhotoLibrary(at: made.url)
    defer { library.close() }
    let key = order == "order.added" ? "addedDate" : "creationDate"
    for words in [key, "\(key):desc"] {
      var options = FetchOptions()
      options.sort = [try SortTerm(words, for: .asset)]
      let found = #expect(throws: LibraryError.self) {
        let result = try library.fetchAssets(options)
        try result.complete()
      }
      #expect(found?.code == .corrupted, "\(words): \(String(describing: found))")
    }
  }
}
