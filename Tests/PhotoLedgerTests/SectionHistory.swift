import Foundation
import PhotoLedger
import TestSupport

// A small library that changes at random, and results of it whose sections are compared with those of the model after
// every commit: those of the result, and which of them changed.

/// A result that is held, and what the model says of it.
private struct Watched {
  let name: String
  let date: @Sendable (Asset) -> Date?
  let model: SectionModel
  var result: FetchResult<Asset>
  var sections: [SectionModel.Section] = []
}

struct SectionHistory {
  private let small: SmallLibrary
  private let zone: TimeZone
  private var random: SeededGenerator
  private let pool: [Date]
  private var texts: [SectionGranularity: [Date: (key: String, interval: DateInterval?)]] = [:]
  private var shown: [LocalIdentifier] = []
  private var trashed: [LocalIdentifier] = []
  private var made = 0
  private var watched: [Watched] = []
  /// How often a section was seen to change, and how often a commit had nothing to deliver.
  private(set) var changeCount = 0
  private(set) var untouchedCount = 0

  init(zone: TimeZone, seed: UInt64) throws {
    self.zone = zone
    random = SeededGenerator(seed: seed)
    // A clock that goes on by half a day, so that what the library dates itself falls into many sections.
    let start = Date(timeIntervalSince1970: 1_161_900_000)
    small = try SmallLibrary(.seeded(seed, start: start, step: 43_210))
    let dates = SectionZones.dates(in: zone, &random)
    var pool: [Date] = []
    for _ in 0..<6 {
      let start = random.int(0..<(dates.count - 15))
      pool += dates[start..<(start + 15)]
    }
    self.pool = pool
  }

  // MARK: Running

  /// Runs a history and compares all the while.
  mutating func run(commits: Int) async throws {
    try watchAll()
    for commit in 0..<commits {
      var steps = self
      let change = try await small.change { block in
        // What is drawn may change nothing, and then there is no commit to deliver.
        block.createAlbum(title: "\(commit)")
        for _ in 0..<steps.random.int(1..<7) { steps.step(block) }
      }
      self = steps
      // One that does not ask after a commit receives it later, together with others.
      for index in watched.indices where commit == commits - 1 || random.chance(3, of: 4) {
        var one = watched[index]
        try compare(&one, change)
        watched[index] = one
      }
    }
  }

  private mutating func step(_ block: ChangeBlock) {
    let asset = shown.isEmpty ? nil : random.one(of: shown)
    switch (random.int(0..<100), asset) {
    case (0..<35, _), (_, nil):
      var creation = AssetCreation.invented(made, date: drawnDate())
      creation.localCreationDate = drawnDate()
      creation.duration = 0
      creation.pixelWidth = random.int(1..<4)
      creation.isFavorite = random.chance(1, of: 2)
      made += 1
      shown.append(block.createAsset(creation))
    case (35..<65, let asset?):
      var changes = AssetChanges()
      changes.creationDate = drawnDate().map { .set($0) } ?? .clear
      if random.chance(1, of: 2) { changes.localCreationDate = drawnDate().map { .set($0) } ?? .clear }
      block.edit([asset], changes)
    case (65..<80, let asset?): block.setFavorite(random.chance(1, of: 2), for: [asset])
    case (80..<92, let asset?):
      block.deleteAssets([asset])
      shown.removeAll { $0 == asset }
      trashed.append(asset)
    default:
      guard !trashed.isEmpty else { return }
      let back = random.one(of: trashed)
      block.restoreAssets([back])
      trashed.removeAll { $0 == back }
      shown.append(back)
    }
  }

  private mutating func drawnDate() -> Date? { random.chance(1, of: 8) ? nil : random.one(of: pool) }

  // MARK: Watching

  private mutating func watchAll() throws {
    func options(_ sort: [String], offset: Int = 0, limit: Int = 0) throws -> FetchOptions {
      var options = FetchOptions()
      options.sort = try sort.map { try SortTerm($0, for: .asset) }
      options.fetchOffset = offset
      options.fetchLimit = limit
      return options
    }
    var favorites = try options(["creationDate"], offset: 1)
    favorites.condition = .isTrue(.isFavorite)
    var trash = try options(["trashedDate:desc"])
    trash.showsTrash = true
    var silent = try options(["creationDate:desc"], limit: 9)
    silent.wantsIncrementalChangeDetails = false
    try watch("ascending", { $0.creationDate }, options(["creationDate"]))
    try watch("descending", { $0.creationDate }, options(["creationDate:desc"]))
    try watch("several terms", { $0.creationDate }, options(["creationDate:desc", "pixelWidth"]))
    try watch("several terms, ascending", { $0.creationDate }, options(["creationDate", "pixelWidth:desc"], limit: 8))
    try watch("a limit", { $0.creationDate }, options(["creationDate:desc"], limit: 7))
    try watch("an offset and a limit", { $0.creationDate }, options(["creationDate"], offset: 3, limit: 5))
    try watch("favourites but the first", { $0.creationDate }, favorites)
    try watch("wall times", { $0.localCreationDate }, options(["localCreationDate:desc"]))
    try watch("last changed", { $0.modificationDate }, options(["modificationDate:desc"], limit: 10))
    try watch("added", { $0.addedDate }, options(["addedDate", "creationDate"]))
    try watch("the trash", { $0.trashedDate }, trash)
    try watch("without incremental details", { $0.creationDate }, silent)
  }

  private mutating func watch(
    _ name: String, _ date: @escaping @Sendable (Asset) -> Date?, _ options: FetchOptions
  ) throws {
    for granularity in SectionGranularity.allCases {
      let result = try small.library.fetchAssets(options)
      let model = SectionModel(granularity, in: zone)
      watched.append(Watched(name: "\(name) by \(granularity)", date: date, model: model, result: result))
    }
  }

  private mutating func compare(_ watched: inout Watched, _ change: LibraryChange) throws {
    let (granularity, name) = (watched.model.granularity, watched.name)
    guard let details = try change.changeDetails(for: watched.result) else {
      untouchedCount += 1
      return
    }
    let after = details.fetchResultAfterChanges
    let expected = sections(of: after.map { watched.date($0) }, watched.model)
    let sections = try after.sections(by: granularity, in: zone).map(SectionModel.Section.init)
    try demand(sections == expected, "\(name): \(sections) instead of \(expected)")
    let before = try details.fetchResultBeforeChanges.sections(by: granularity, in: zone)
    try demand(before.map(SectionModel.Section.init) == watched.sections, "\(name): the held result has changed")

    let changes = try details.sectionChanges(by: granularity, in: zone)
    let counts = Dictionary(
      uniqueKeysWithValues: changes.map { ($0.key.description, [$0.countBefore, $0.countAfter]) })
    let wanted = SectionModel.changes(watched.sections, expected)
    try demand(counts == wanted, "\(name): \(counts) instead of \(wanted)")
    let keys = changes.map(\.key)
    let order = try after.core.plan.query.sort[0].ascending ? keys.sorted() : keys.sorted().reversed()
    try demand(keys == order, "\(name): changes out of order, \(keys)")
    changeCount += changes.count
    watched.result = after
    watched.sections = expected
  }

  /// The model's sections; what it says of a date is kept.
  private mutating func sections(of dates: [Date?], _ model: SectionModel) -> [SectionModel.Section] {
    var known = texts[model.granularity] ?? [:]
    for case let date? in dates where known[date] == nil { known[date] = model.section(of: date) }
    texts[model.granularity] = known
    return model.sections(of: dates) { known[$0] ?? ("", nil) }
  }
}
