import Foundation
import LMDB
import TestSupport
import Testing

import LibraryMaintenance
@testable import PhotoLedger

// Images are what the orders of the other media types leave of the library, and an album has its members and its count.
// Each such fetch is compared with a list that is made of the objects themselves: all assets, judged one by one and
// sorted by Swift; an album's members by what was inserted, moved and removed.

@Suite("Results that start from stored orders")
struct StoredAnswerTests {
  /// A library in which every media type is common, and an album of many of its assets.
  private struct Changing {
    let made: TemporaryLibrary
    let album: LocalIdentifier
    var random: SeededGenerator
    var ids: [LocalIdentifier] = []
    /// The members of the album in their order, shown or not.
    var members: [LocalIdentifier] = []

    init(_ seed: UInt64) throws {
      made = try TemporaryLibrary(.seeded(seed))
      random = SeededGenerator(seed: seed)
      var album: LocalIdentifier?
      try made.library.performChangesAndWait { album = $0.createAlbum(title: "Trip") }
      self.album = try #require(album)
    }

    mutating func step(_ number: Int) throws {
      var (drawn, kept, members) = (random, ids, members)
      var chosen: [LocalIdentifier] = []
      for _ in 0..<min(3, ids.count) { chosen.append(drawn.one(of: ids)) }
      chosen = Set(chosen).sorted { $0.uuidString < $1.uuidString }
      let album = album
      try made.library.performChangesAndWait { block in
        switch drawn.int(0..<9) {
        case 0, 1, 2:
          for index in 0..<4 {
            var creation = AssetCreation.random(number * 8 + index, &drawn)
            creation.sourceType = .userLibrary
            if drawn.chance(1, of: 2) {
              let type = drawn.one(of: [MediaType.image, .video, .audio])
              var other = AssetCreation.invented(number * 8 + index, type)
              (other.creationDate, other.isHidden) = (creation.creationDate, creation.isHidden)
              creation = other
            }
            kept.append(block.createAsset(creation))
          }
        case 3: block.setFavorite(drawn.chance(1, of: 2), for: chosen)
        case 4: block.setHidden(drawn.chance(1, of: 2), for: chosen)
        case 5: block.deleteAssets(chosen)
        case 6: block.restoreAssets(chosen)
        case 7:
          let new = chosen.filter { !members.contains($0) }
          guard !new.isEmpty else { break }
          if drawn.chance(1, of: 2) {
            block.album(album).add(new)
            members += new
          } else {
            block.album(album).remove(Array(members.prefix(1)))
            block.album(album).add(new)
            members = members.dropFirst() + new
          }
        default:
          var changes = AssetChanges()
          changes.creationDate = AssetChanges.Assignment(Date.drawn(&drawn))
          block.edit(chosen, changes)
        }
      }
      (random, ids, self.members) = (drawn, kept, members)
    }

    /// The assets that an ordinary fetch shows, in the order of their addition.
    func shown() throws -> [Asset] {
      try ids.compactMap { try made.library.asset($0.uuidString) }.filter {
        !$0.isTrashed && !$0.isHidden && $0.row.standsOutOfBurst
      }
    }

    func compareTypes(_ title: Comment) throws {
      let shown = try shown()
      for bits in 1..<1 << MediaType.allCases.count {
        let types = MediaType.allCases.filter { bits >> $0.rawValue & 1 == 1 }
        let belonging = shown.filter { types.contains($0.mediaType) }
        let equals = types.map { Condition.comparison(.mediaType, .equal, .integer(Int64($0.rawValue))) }
        let others = MediaType.allCases.filter { !types.contains($0) }.map {
          Condition.comparison(.mediaType, .notEqual, .integer(Int64($0.rawValue)))
        }
        for (condition, isEquality) in [(Condition.or(equals), true), (.and(others), false)] {
          for order in ["", "creationDate", "creationDate:desc"] {
            var options = FetchOptions()
            options.condition = condition
            if !order.isEmpty { options.sort = [try SortTerm(order, for: .asset)] }
            // A single other type is kept under its own name only.
            let isKept = types.contains(.image) || (types.count == 1 && isEquality)
            let query = try made.library.fetchAssets(options).core.plan.query
            #expect((StoredAnswer(query) != nil) == isKept, "\(types) \(condition)")
            try expect(options, nil, Self.sorted(belonging, order).map(\.id), "\(title): \(types) by \(order)")
          }
        }
      }
    }

    func compareAlbum(_ title: Comment) throws {
      let album = try #require(try made.library.collection(album.uuidString))
      let shown = Set(try shown().map(\.id))
      try expect(FetchOptions(), album, members.filter(shown.contains), "\(title): the album")
    }

    /// Whether a fetch gives some assets: its count and beginning, all of them, and in pieces.
    private func expect(
      _ options: FetchOptions, _ album: PhotoCollection?, _ wanted: [LocalIdentifier], _ title: Comment
    ) throws {
      let begun = try made.library.fetchAssets(options, in: album)
      var pieces: [LocalIdentifier] = []
      try made.library.fetchAssets(options, in: album).forEachPiece { pieces += $0.map(\.id) }
      #expect(begun.count == wanted.count, title)
      #expect(begun.prefix(3).map(\.id) == Array(wanted.prefix(3)), title)
      #expect(begun.map(\.id) == wanted, title)
      #expect(pieces == wanted, title)
    }

    private static func sorted(_ assets: [Asset], _ order: String) -> [Asset] {
      let dated = assets.enumerated().map { ($1.creationDate ?? .distantPast, $0, $1) }
      switch order {
      case "": return assets
      case "creationDate": return dated.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
      default: return dated.sorted { $0.0 != $1.0 ? $0.0 > $1.0 : $0.1 < $1.1 }.map(\.2)
      }
    }
  }

  @Test(
    "a fetch by media types is that of the assets themselves, after every change (FR-04, FR-09)",
    arguments: 1...(Dose.isFull ? 3 : 1))
  func types(seed: Int) throws {
    var changing = try Changing(UInt64(seed))
    for number in 0..<30 {
      try changing.step(number)
      if number % 3 == 2 { try changing.compareTypes("step \(number)") }
    }
    #expect(try changing.made.library.verify(scratch: changing.made.folder.url).defect == nil)
  }

  @Test(
    "an album in its own order is that of its members, after every change (FR-12, AL-03)",
    arguments: 4...(Dose.isFull ? 8 : 5))
  func albums(seed: Int) throws {
    var (changing, begunCount) = (try Changing(UInt64(seed)), 0)
    // Equal results share a state while anything holds it, and the threads that walked one may hold it a little longer.
    // Nothing else fetches the album with these options, so what they begin is its own.
    var ownOptions = FetchOptions()
    ownOptions.wantsIncrementalChangeDetails = false
    for number in 0..<60 {
      try changing.step(number)
      try changing.compareAlbum("step \(number)")
      let album = try #require(try changing.made.library.collection(changing.album.uuidString))
      let result = try changing.made.library.fetchAssets(ownOptions, in: album)
      #expect((result.state.begun != nil) == (result.count > BegunResult.firstCount), "step \(number)")
      if result.state.begun != nil { begunCount += 1 }
    }
    #expect(begunCount > 2, "Hardly any result was begun.")
  }

  @Test("an album's begun result shows its own commit, also after its members were moved and it was deleted (FR-01)")
  func lateAlbum() throws {
    let made = try TemporaryLibrary(.seeded(9))
    var (ids, id): ([LocalIdentifier], LocalIdentifier?) = ([], nil)
    try made.library.performChangesAndWait { block in
      ids = (0..<20).map { block.createAsset(.invented($0)) }
      let album = block.createAlbum(title: "Trip")
      block.album(album).add(ids)
      id = album
    }
    let album = try #require(try id.flatMap { try made.library.collection($0.uuidString) })
    let held = try made.library.fetchAssets(FetchOptions(), in: album)
    #expect(held.state.begun != nil && held.count == 20)
    try made.library.performChangesAndWait { block in
      block.album(album.id).move(at: [0, 1, 2], to: 17)
      block.deleteAssets(Array(ids.suffix(2)))
    }
    try made.library.performChangesAndWait { $0.deleteCollections([album.id]) }
    #expect(held.map(\.id) == ids)
    let later = try made.library.fetchAssets(FetchOptions(), in: album)
    #expect(later.state.begun != nil && later.map(\.id) == Array(ids[3..<18] + ids[..<3]))
  }

  @Test("images start lazily, and so do those by date; where the first screen is all films they are built")
  func begins() throws {
    let made = try TemporaryLibrary(.seeded(10))
    try made.library.performChangesAndWait { block in
      for seed in 0..<300 { block.createAsset(.invented(seed, date: Date(timeIntervalSince1970: Double(seed)))) }
      for seed in 0..<300 {
        block.createAsset(.invented(300 + seed, date: Date(timeIntervalSince1970: Double(300 + seed)), .video))
      }
    }
    var options = FetchOptions()
    for (order, isBegun) in [("", true), ("creationDate", true), ("creationDate:desc", false)] {
      options.sort = order.isEmpty ? [] : [try SortTerm(order, for: .asset)]
      let images = try made.library.fetchAssets(with: .image, options)
      #expect((images.state.begun != nil) == isBegun, "\(order)")
      #expect(images.count == 300 && images.allSatisfy { $0.mediaType == .image })
    }
    #expect(try made.library.fetchAssets(with: .audio).count == 0)
  }
}
