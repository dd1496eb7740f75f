import Foundation
import LibraryMaintenance
import Synchronization
import TestSupport
import Testing

@testable import PhotoLedger

// Orders by the date of addition, the trash, and what limited clients see, each beside the same fetch in the way of
// every other: a second sort term that decides nothing, since within a result all assets are in the trash or none is.
// The clock goes forward by days, and is sometimes set back, so that dates of addition do not ascend with the numbers.

@Suite("Orders of addition, of the trash and of limited clients")
struct AddedOrderTests {
  private static let clients = ["com.example.few", "com.example.many"]

  private struct Changing {
    let made: TemporaryLibrary
    let clock: Clock
    var random: SeededGenerator
    var ids: [LocalIdentifier] = []

    init(_ seed: UInt64) throws {
      let clock = Clock()
      var environment = LibraryEnvironment.seeded(seed)
      environment.now = { clock.date }
      self.clock = clock
      made = try TemporaryLibrary(environment)
      random = SeededGenerator(seed: seed)
      try made.library.performChangesAndWait { block in
        for client in AddedOrderTests.clients {
          block.register(client: client)
          block.setAuthorizationStatus(.limited, of: client)
        }
      }
    }

    mutating func step(_ number: Int) throws {
      var (drawn, kept) = (random, ids)
      clock.advance(by: Double(drawn.int(0..<14) - 3) * 86_400)
      var chosen: Set<LocalIdentifier> = []
      for _ in 0..<min(4, ids.count) { chosen.insert(drawn.one(of: ids)) }
      let some = chosen.sorted { $0.uuidString < $1.uuidString }
      // Those that may be stacked are shown, and neither in a burst nor from elsewhere.
      let free = try made.library.fetchAssets()
        .filter { $0.burstIdentifier == nil && $0.stack == nil && ids.contains($0.id) }.map(\.id)
      let (top, beneath) = (free.isEmpty ? nil : drawn.one(of: free), free.prefix(3))
      try made.library.performChangesAndWait { block in
        switch drawn.int(0..<12) {
        case 0, 1, 2, 3:
          var created: [LocalIdentifier] = []
          for index in 0..<6 {
            var creation = AssetCreation.random(number * 8 + index, &drawn)
            if drawn.chance(7, of: 8) { creation.sourceType = .userLibrary }
            let id = block.createAsset(creation)
            if creation.sourceType == .userLibrary { created.append(id) }
          }
          kept += created
          block.grant(created, to: AddedOrderTests.clients[1])
        case 4: block.setFavorite(drawn.chance(1, of: 2), for: some)
        case 5: block.setHidden(drawn.chance(1, of: 2), for: some)
        case 6: block.deleteAssets(some)
        case 7: block.restoreAssets(some)
        case 8, 9: if let top, beneath.count > 1 { block.stack(top: top, others: beneath.filter { $0 != top }) }
        case 10: block.withdraw(some, from: drawn.one(of: AddedOrderTests.clients))
        default: block.grant(some, to: drawn.one(of: AddedOrderTests.clients))
        }
      }
      (random, ids) = (drawn, kept)
    }
  }

  /// A clock that stands at the beginning of a day, where "recently added" begins, until it is moved.
  private final class Clock: Sendable {
    private let seconds = Mutex(20_254.0 * 86_400)

    var date: Date { Date(timeIntervalSince1970: seconds.withLock(\.self)) }

    func advance(by step: Double) { seconds.withLock { $0 += step } }
  }

  private static func options(_ order: String, edit: (inout FetchOptions) -> Void = { _ in }) throws -> FetchOptions {
    var options = FetchOptions()
    if !order.isEmpty { options.sort = [try SortTerm(order, for: .asset)] }
    edit(&options)
    return options
  }

  /// A result, its count, its first objects and its pieces are those of a list.
  private static func expect(
    _ library: PhotoLibrary, _ options: FetchOptions, _ album: PhotoCollection?, _ wanted: [ObjectNumber],
    _ title: String
  ) throws {
    let begun = try library.fetchAssets(options, in: album)
    var pieces: [ObjectNumber] = []
    try library.fetchAssets(options, in: album).forEachPiece { pieces += $0.map(\.row.number) }
    let title = Comment(rawValue: title)
    #expect(begun.count == wanted.count, title)
    #expect(begun.prefix(3).map(\.row.number) == Array(wanted.prefix(3)), title)
    #expect(begun.map(\.row.number) == wanted, title)
    #expect(pieces == wanted, title)
  }

  /// The numbers of a fetch that no stored order answers.
  private static func computed(
    _ library: PhotoLibrary, _ options: FetchOptions, _ album: PhotoCollection?
  ) throws -> [ObjectNumber] {
    var options = options
    // The album's own order, which a second term would replace.
    if options.sort.isEmpty, let query = album?.row.query { options.sort = try query.terms() }
    let isUnsorted = options.sort.isEmpty
    options.sort.append(try SortTerm("isTrashed", for: .asset))
    // Of one term alone the keys are words, which no stored order has.
    if isUnsorted { options.sort.append(try SortTerm("isTrashed", for: .asset)) }
    return try library.fetchAssets(options, in: album).core.numbers
  }

  @Test(
    "by the date of addition, also from a day on and after the clock was set back (FR-09, AL-07)",
    arguments: 1...(Dose.isFull ? 3 : 1))
  func added(seed: Int) throws {
    var changing = try Changing(UInt64(seed))
    let library = changing.made.library
    let recent = try #require(try library.fetchCollections(with: .smartAlbum, subtype: .smartAlbumRecentlyAdded).first)
    var (begun, isSetBack, some) = (0, false, 0)
    for number in 0..<50 {
      try changing.step(number)
      for order in ["addedDate", "addedDate:desc", ""] {
        for album in [nil, recent] where album != nil || !order.isEmpty {
          let options = try Self.options(order)
          let result = try library.fetchAssets(options, in: album)
          #expect(StoredAnswer(result.state.frame.plan.query) != nil)
          if try library.fetchAssets(options, in: album).state.begun != nil { begun += 1 }
          let wanted = try Self.computed(library, options, album)
          if order == "addedDate", album == nil, wanted != wanted.sorted() { isSetBack = true }
          if album != nil, try wanted.count > 0 && wanted.count < library.fetchAssets().count { some += 1 }
          let title = "\(album?.localizedTitle ?? "all") by \(order), step \(number)"
          try Self.expect(library, options, album, wanted, title)
        }
      }
    }
    #expect(begun > 20 && isSetBack && some > 10, "\(begun) results were begun, \(some) were of some days.")
    #expect(try library.verify(scratch: changing.made.folder.url).defect == nil)
  }

  @Test("the trash in its orders, and a part of it (FR-03)", arguments: 4...(Dose.isFull ? 6 : 4))
  func trash(seed: Int) throws {
    var changing = try Changing(UInt64(seed))
    let library = changing.made.library
    for number in 0..<50 {
      try changing.step(number)
      var everything = try Self.options("") { $0.showsTrash = true }
      everything.includeAssetSourceTypes = .all
      let trashed = try library.fetchAssets(everything).map { $0 }
        .filter { $0.sourceType.isEmpty || $0.sourceType.contains(.userLibrary) }
      let dated = trashed.sorted { ($0.trashedDate!, $0.row.number) < ($1.trashedDate!, $1.row.number) }
      let latest = trashed.sorted {
        $0.trashedDate! != $1.trashedDate! ? $0.trashedDate! > $1.trashedDate! : $0.row.number < $1.row.number
      }
      for (order, wanted) in [("", trashed), ("trashedDate", dated), ("trashedDate:desc", latest)] {
        var options = try Self.options(order) { $0.showsTrash = true }
        try Self.expect(library, options, nil, wanted.map(\.row.number), "the trash by \(order), step \(number)")
        options.condition = .comparison(.isHidden, .equal, .bool(false))
        let shown = wanted.filter { !$0.isHidden }.map(\.row.number)
        try Self.expect(library, options, nil, shown, "what is not hidden in it by \(order), step \(number)")
      }
    }
  }

  @Test("a limited client's orders are those of its selection's rows (AU-06)", arguments: 7...(Dose.isFull ? 9 : 7))
  func limited(seed: Int) throws {
    var changing = try Changing(UInt64(seed))
    var (walked, read, begun) = (0, 0, 0)
    for number in 0..<50 {
      // At the usual dose after every second change, and only until results of each kind were met often enough.
      if !Dose.isFull, number >= 15, walked > 100, read > 100, begun > 100 { break }
      try changing.step(number)
      for client in Self.clients where Dose.isFull || number % 2 == 0 {
        let library = changing.made.library.as(client)
        let albums: [PhotoCollection?] = [nil] + (try library.fetchCollections(with: .smartAlbum)).map { $0 }
        for album in albums {
          for order in ["", "creationDate", "creationDate:desc", "addedDate:desc"] {
            let options = try Self.options(order)
            let wanted = try Self.computed(library, options, album)
            let title = "\(album?.localizedTitle ?? "all") by \(order) for \(client), step \(number)"
            // Before the walks, which share the state of an equal result.
            let held = try library.fetchAssets(options, in: album)
            if held.state.begun != nil { begun += 1 }
            try Self.expect(library, options, album, wanted, title)
            let plan = try held.core.plan
            let keys = try library.store.reading { t in
              let context = try FetchContext(of: try library.permission(t), library.store.core, t)
              return try library.store.selectedKeys(plan, context, t)
            }
            if keys != nil { walked += 1 } else { read += 1 }
          }
        }
        let ofImages = Condition.comparison(.mediaType, .equal, .integer(1))
        var images = try Self.options("creationDate:desc") { $0.condition = ofImages }
        let wanted = try Self.computed(library, images, nil)
        try Self.expect(library, images, nil, wanted, "images, step \(number)")
        images.fetchLimit = 7
        try Self.expect(library, images, nil, Array(wanted.prefix(7)), "the first images, step \(number)")
        let trash = try Self.options("") { $0.showsTrash = true }
        try Self.expect(library, trash, nil, try Self.computed(library, trash, nil), "the trash, step \(number)")
      }
    }
    #expect(walked > 100 && read > 100 && begun > 100, "\(walked), \(read) and \(begun) results")
  }

  @Test(
    "a begun result shows its own commit, however late it is completed (FR-01)",
    arguments: [nil, AddedOrderTests.clients[1]], ["", "addedDate:desc", "creationDate"])
  func late(client: String?, order: String) throws {
    var changing = try Changing(10)
    let library = client.map { changing.made.library.as($0) } ?? changing.made.library
    let options = try Self.options(order)
    var number = 0
    while try library.fetchAssets(options).count < 3 * BegunResult.firstCount {
      try changing.step(number)
      number += 1
    }
    let (held, wanted) = (try library.fetchAssets(options), try Self.computed(library, options, nil))
    #expect(held.state.begun != nil)
    for later in number..<number + 20 { try changing.step(later) }
    #expect(held.count == wanted.count && held.map(\.row.number) == wanted)
  }
}
