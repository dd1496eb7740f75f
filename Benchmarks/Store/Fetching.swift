import BenchmarkSupport
import CountedTree
import Foundation
import LMDB
import PhotoLedger

/// S5, S9: from a question to a fetch result that is ready to be used.
enum Fetching {
  /// A question in the library's words and in SQL.
  struct Question {
    var name: String
    var condition: Condition = .always
    var sort = "creationDate:desc"
    /// The smart album that is asked, if one is.
    var album: AlbumSubtype?
    var sql: String

    var isAboutAlbum: Bool { album != nil }
  }

  static let questions = [
    Question(
      name: "large images",
      condition: .and([
        .comparison(.mediaType, .equal, .integer(1)), .comparison(.pixelWidth, .greater, .integer(3000)),
      ]), sql: "visible = 1 AND mediaType = 1 AND width > 3000 ORDER BY created DESC, number"),
    Question(
      name: "long videos by length",
      condition: .and([.comparison(.mediaType, .equal, .integer(2)), .comparison(.duration, .greater, .double(60))]),
      sort: "duration:desc", sql: "visible = 1 AND mediaType = 2 AND duration > 60 ORDER BY duration DESC, number"),
    Question(
      name: "placed in the north", condition: .comparison(.latitude, .greater, .double(45)),
      sql: "visible = 1 AND latitude > 45 ORDER BY created DESC, number"),
    Question(name: "everything by width", sort: "pixelWidth:asc", sql: "visible = 1 ORDER BY width, number"),
    Question(
      name: "favourites", album: .smartAlbumFavorites,
      sql: "favourite = 1 AND visible = 1 ORDER BY created DESC, number"),
    Question(
      name: "videos", album: .smartAlbumVideos, sql: "mediaType = 2 AND visible = 1 ORDER BY created DESC, number"),
    Question(
      name: "screenshots", album: .smartAlbumScreenshots,
      sql: "subtypes = 4 AND visible = 1 ORDER BY created DESC, number"),
  ]

  static let rebuildNames = [
    "S5 floor: LMDB scan of the same rows and tree build", "S5 floor: LMDB scan of the same order and tree build",
    "S5 fetch of everything, by addition", "S5 fetch of everything, newest first", "S5 SQLite, covering index",
  ]

  static func names(of question: Question) -> [String] {
    let kind = question.isAboutAlbum ? "smart album" : "no index"
    let index = question.isAboutAlbum ? "covering index" : "no index"
    return ["S9 \(kind), \(question.name), SQLite with \(index)", "S9 \(kind), \(question.name)"]
  }

  static func measure(_ stage: Stage, into report: inout Report) throws {
    let asked = questions.filter { report.wantsAny(of: names(of: $0)) }
    guard !asked.isEmpty || report.wantsAny(of: rebuildNames) else { return }
    let library = try stage.library()
    #if PeerBenchmarks
      if !stage.peerHasIndexes {
        try stage.peer?.addCoveringIndexes()
        stage.peerHasIndexes = true
      }
    #endif
    let repetitions = stage.size >= Goal.leastSize ? min(7, report.repetitions) : min(11, report.repetitions)
    for question in asked { try ask(question, library, stage, repetitions, into: &report) }
    if report.wantsAny(of: rebuildNames) { try everything(library, stage, repetitions, into: &report) }
  }

  private static func options(_ question: Question, _ library: PhotoLibrary) throws -> (FetchOptions, PhotoCollection?)
  {
    var options = FetchOptions()
    options.condition = question.condition
    options.sort = [try SortTerm(question.sort, for: .asset)]
    guard let subtype = question.album else { return (options, nil) }
    guard let album = try library.fetchCollections(with: .smartAlbum, subtype: subtype).first else {
      throw WrongAnswer(description: "The library has no smart album \(subtype.name).")
    }
    return (options, album)
  }

  private static func ask(
    _ question: Question, _ library: PhotoLibrary, _ stage: Stage, _ repetitions: Int, into report: inout Report
  ) throws {
    let (options, album) = try options(question, library)
    var found: [UInt64] = []
    var bodies: [() throws -> Void] = []
    var result: FetchResult<Asset>?
    bodies.append {
      // An equal result that is held would be the answer.
      result = nil
      result = try library.fetchAssets(options, in: album).wholly()
    }
    let names = names(of: question)
    #if PeerBenchmarks
      let clause = question.isAboutAlbum ? "assets" : "assets NOT INDEXED"
      let statement = try stage.peer.map {
        try SQLiteStatement("SELECT number FROM \(clause) WHERE \(question.sql)", in: $0.database)
      }
      if let statement { bodies.append { found = try statement.integers().map(UInt64.init) } }
    #endif
    let samples = try Turns.measure(repetitions, bodies)
    if samples.count == 2 {
      guard let numbers = result?.numbers, numbers.count == found.count, Set(numbers) == Set(found) else {
        throw WrongAnswer(
          description: "'\(question.name)' finds \(result?.count ?? 0) assets here and \(found.count) in SQLite.")
      }
      report.add(names[0], size: stage.size, caches: .warm, samples[1])
    }
    report.add(
      names[1], size: stage.size, caches: .warm, samples[0],
      comparedWith: samples.count == 2 ? samples[1].quantile(0.5) : nil,
      goal: samples.count == 2 ? .atMost(question.isAboutAlbum ? 1 : 0.5) : nil)
  }

  // MARK: Everything

  /// The entries of one of the library's tables, byte for byte, in a store of LMDB's own: a floor scans what the row
  /// that is compared with it scans, so rows of 144 bytes for one and keys of 16 for the other.
  private static func copy(
    _ table: String, hasNumbers: Bool, _ library: PhotoLibrary, _ stage: Stage
  ) throws -> RawLMDB {
    let environment = try StoreReader(library).environment
    let source = try environment.database(table, integerKeys: hasNumbers, create: false)
    let floor = try RawLMDB(try stage.memoryPath("floor-\(table)"), isDurable: false, hasNumbers: hasNumbers)
    var batch: [(key: [UInt8], value: [UInt8])] = []
    func add(_ key: [UInt8], _ value: [UInt8]) throws {
      batch.append((key, value))
      guard batch.count == 1000 else { return }
      try floor.append(batch)
      batch = []
    }
    try environment.read { t in
      if hasNumbers {
        try t.forEach(in: source, from: 0) { number, value in
          try add(withUnsafeBytes(of: number) { Array($0) }, value.withUnsafeBytes { Array($0) })
          return .proceed
        }
      } else {
        try t.forEach(in: source) { key, value in
          try add(key.withUnsafeBytes { Array($0) }, value.withUnsafeBytes { Array($0) })
          return .proceed
        }
      }
    }
    try floor.append(batch)
    return floor
  }

  /// Scans rows in the order of their numbers and builds a tree of them; a date is read from each.
  private static func treeOfRows(_ floor: RawLMDB, _ count: Int) throws -> Int {
    var keys: [ResultKey] = []
    keys.reserveCapacity(count)
    var dates: UInt64 = 0
    try floor.scan { key, row in
      dates &+= row.loadUnaligned(fromByteOffset: 48, as: UInt64.self)
      keys.append(ResultKey(word: 0, number: key.loadUnaligned(as: UInt64.self)))
    }
    Report.keep(Int(truncatingIfNeeded: dates))
    return CountedTree(sorted: keys).count
  }

  /// Scans the keys of a stored order and builds a tree of them.
  private static func treeOfOrder(_ floor: RawLMDB, _ count: Int) throws -> Int {
    var keys: [ResultKey] = []
    keys.reserveCapacity(count)
    try floor.scan { key, _ in
      keys.append(
        ResultKey(
          word: key.loadUnaligned(as: UInt64.self).bigEndian,
          number: key.loadUnaligned(fromByteOffset: 8, as: UInt64.self).bigEndian))
    }
    return CountedTree(sorted: keys).count
  }

  private static func everything(
    _ library: PhotoLibrary, _ stage: Stage, _ repetitions: Int, into report: inout Report
  ) throws {
    let rows = try copy("assets", hasNumbers: true, library, stage)
    let order = try copy("order.smartAlbumUserLibrary", hasNumbers: false, library, stage)
    var counts = [0, 0, 0, 0, 0]
    var bodies: [() throws -> Void] = [
      { counts[0] = try treeOfRows(rows, stage.size) },
      { counts[1] = try treeOfOrder(order, stage.size) },
      { counts[2] = try library.fetchAssets().wholly().count },
      { counts[3] = try library.fetchAssets(try .newestFirst()).wholly().count },
    ]
    #if PeerBenchmarks
      let statement = try stage.peer.map {
        try SQLiteStatement(
          "SELECT number FROM assets WHERE visible = 1 ORDER BY created DESC, number", in: $0.database)
      }
      if let statement { bodies.append { counts[4] = try statement.integers().count } }
    #endif
    let samples = try Turns.measure(repetitions, bodies)
    let shown = stage.shown.count
    guard counts[0] == stage.size, counts[1...3].allSatisfy({ $0 == shown }), bodies.count == 4 || counts[4] == shown
    else {
      throw WrongAnswer(description: "The ways of reading everything give \(counts) assets; \(shown) are shown.")
    }
    for floor in 0...1 {
      report.add(rebuildNames[floor], size: stage.size, caches: .warm, samples[floor])
      report.add(
        rebuildNames[floor + 2], size: stage.size, caches: .warm, samples[floor + 2],
        comparedWith: samples[floor].quantile(0.5), goal: .atMost(2))
    }
    guard samples.count == 5 else { return }
    report.add(rebuildNames[4], size: stage.size, caches: .warm, samples[4])
    report.add(
      "\(rebuildNames[3]), to SQLite", size: stage.size, caches: .warm, samples[3],
      comparedWith: samples[4].quantile(0.5), goal: .atMost(1))
  }
}
