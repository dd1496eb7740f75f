#if PeerBenchmarks
  import Foundation
  import PhotoLedger

  // The same library in SQLite: the library's projections as tables, with their keys as indexes.
  //
  // The events, the details and the rows of commits are the library's own bytes, read from its store, so that both hold
  // the same. What the library computes beside (two hashes an event, the chain) SQLite is spared.
  //
  // The orders that the library keeps are partial indexes here, by the same date and with the same conditions, while
  // assets are added: what is compared keeps the same things. Three of eighteen ask for columns that no invented asset
  // fills and that this table lacks; SQLite is spared them. Afterwards all of them go, since what follows compares
  // questions without an index, and others with one that covers them.

  /// The invented library as a program over SQLite would keep it.
  final class SQLiteLibrary {
    let database: SQLite
    let file: URL
    private let statements: [String: SQLiteStatement]

    private static let schema = """
      CREATE TABLE events(sequence INTEGER PRIMARY KEY, record BLOB NOT NULL);
      CREATE TABLE commits(number INTEGER PRIMARY KEY, row BLOB NOT NULL);
      CREATE TABLE details(number INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
      CREATE TABLE assets(number INTEGER PRIMARY KEY, identifier BLOB NOT NULL, visible INTEGER NOT NULL,
        favourite INTEGER NOT NULL, hidden INTEGER NOT NULL, mediaType INTEGER NOT NULL, playbackStyle INTEGER NOT NULL,
        source INTEGER NOT NULL, subtypes INTEGER NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL,
        created REAL, added REAL NOT NULL, modified REAL, trashed REAL, latitude REAL, longitude REAL,
        duration REAL NOT NULL, rating INTEGER NOT NULL, burst TEXT);
      CREATE TABLE identifiers(identifier BLOB PRIMARY KEY, kind INTEGER NOT NULL, number INTEGER NOT NULL)
        WITHOUT ROWID;
      CREATE TABLE content(sha256 BLOB, asset INTEGER, PRIMARY KEY (sha256, asset)) WITHOUT ROWID;
      CREATE TABLE pairing(name BLOB, asset INTEGER, PRIMARY KEY (name, asset)) WITHOUT ROWID;
      CREATE TABLE bursts(name BLOB, asset INTEGER, PRIMARY KEY (name, asset)) WITHOUT ROWID;
      CREATE TABLE history(object INTEGER, sequence INTEGER, PRIMARY KEY (object, sequence)) WITHOUT ROWID;
      """

    /// The conditions of the library's stored orders, by the subtype of their smart album.
    private static let orders: [(AlbumSubtype, String)] =
      [
        (.smartAlbumUserLibrary, "visible = 1"), (.smartAlbumFavorites, "visible = 1 AND favourite = 1"),
        (.smartAlbumVideos, "visible = 1 AND mediaType = 2"), (.smartAlbumAllHidden, "hidden = 1"),
        (.smartAlbumBursts, "visible = 1 AND burst IS NOT NULL"),
        (.smartAlbumAnimated, "visible = 1 AND (\(has(.photoAnimation)) OR playbackStyle = 2)"),
      ]
      + [
        (.smartAlbumPanoramas, MediaSubtypes.photoPanorama), (.smartAlbumTimelapses, .videoTimelapse),
        (.smartAlbumSlomoVideos, .videoHighFrameRate), (.smartAlbumScreenshots, .photoScreenshot),
        (.smartAlbumDepthEffect, .photoDepthEffect), (.smartAlbumLivePhotos, .photoLive),
        (.smartAlbumCinematic, .videoCinematic), (.smartAlbumSpatial, .spatialMedia),
        (.smartAlbumScreenRecordings, .videoScreenRecording),
      ].map { ($0, "visible = 1 AND \(has($1))") }

    private static func has(_ subtypes: MediaSubtypes) -> String { "subtypes & \(subtypes.rawValue) <> 0" }

    private static func indexName(_ subtype: AlbumSubtype) -> String { "order_\(subtype.name)" }

    /// Makes the database.
    init(at file: URL, _ settings: SQLite.Settings = .standard) throws {
      self.file = file
      database = try SQLite(file, settings)
      try database.run(Self.schema)
      for (subtype, condition) in Self.orders {
        try database.run("CREATE INDEX \(Self.indexName(subtype)) ON assets(created) WHERE \(condition)")
      }
      var statements: [String: SQLiteStatement] = [:]
      let columns = [
        "events": 2, "commits": 2, "details": 2, "assets": 20, "identifiers": 3, "content": 2, "pairing": 2,
        "bursts": 2, "history": 2,
      ]
      for (table, count) in columns {
        let places = Array(repeating: "?", count: count).joined(separator: ",")
        statements[table] = try SQLiteStatement("INSERT INTO \(table) VALUES (\(places))", in: database)
      }
      self.statements = statements
    }

    deinit {
      for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: file.path + suffix) {
        let path = file.path + suffix
        do { try FileManager.default.removeItem(atPath: path) } catch { print("\(path) is left: \(error)") }
      }
    }

    /// What one asset brings beside its properties.
    struct Entry {
      var asset: InventedAsset
      var number: UInt64
      var identifier: LocalIdentifier
      var record: [UInt8]
      var details: [UInt8]
    }

    /// Puts assets in, in one durable transaction.
    func insert(_ entries: [Entry], commit: UInt64, row: [UInt8]) throws {
      try database.run("BEGIN IMMEDIATE")
      for entry in entries { try insert(entry) }
      try put("commits", .integer(Int64(commit)), .blob(row))
      try database.run("COMMIT")
    }

    private func put(_ table: String, _ values: SQLiteStatement.Value...) throws { try statements[table]?.run(values) }

    private func insert(_ entry: Entry) throws {
      let (asset, number) = (entry.asset, Int64(entry.number))
      let identifier = withUnsafeBytes(of: (entry.identifier.high.bigEndian, entry.identifier.low.bigEndian)) {
        [UInt8]($0)
      }
      try put("events", .integer(number), .blob(entry.record))
      try put("details", .integer(number), .blob(entry.details))
      try put(
        "assets", .integer(number), .blob(identifier), .integer(asset.isVisible ? 1 : 0),
        .integer(asset.isFavorite ? 1 : 0), .integer(asset.isHidden ? 1 : 0), .integer(asset.isVideo ? 2 : 1),
        .integer(asset.isVideo ? 4 : asset.isLive ? 3 : 1), .integer(1), .integer(Int64(asset.subtypes.rawValue)),
        .integer(Int64(asset.size.width)), .integer(Int64(asset.size.height)), .real(asset.instant),
        .real(asset.instant), .real(asset.instant), .real(nil), .real(asset.location?.latitude),
        .real(asset.location?.longitude), .real(asset.seconds), .integer(0), .text(asset.burst))
      try put("identifiers", .blob(identifier), .integer(1), .integer(number))
      try put("content", .blob(asset.hash(of: 0)), .integer(number))
      if asset.isLive {
        try put("content", .blob(asset.hash(of: 1)), .integer(number))
        try put("pairing", .blob(asset.hash(of: 2)), .integer(number))
      }
      if let burst = asset.burst {
        try put("bursts", .blob(Array((burst + burst + burst).utf8.prefix(32))), .integer(number))
      }
      try put("history", .integer(number), .integer(number))
    }

    /// Empties the write-ahead log into the file.
    func finish() throws {
      try database.run("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Removes what keeps the library's orders, and writes the file anew: what comes next must not be scattered over
    /// the places that they had.
    func dropOrders() throws {
      for (subtype, _) in Self.orders { try database.run("DROP INDEX \(Self.indexName(subtype))") }
      try database.run("VACUUM")
      try finish()
    }

    /// Adds the indexes that cover the queries measured.
    func addCoveringIndexes() throws {
      for (name, columns) in [
        ("newest", "visible, created DESC, number"), ("favourites", "favourite, visible, created DESC, number"),
        ("videos", "mediaType, visible, created DESC, number"),
        ("screens", "subtypes, visible, created DESC, number"),
      ] { try database.run("CREATE INDEX \(name) ON assets(\(columns))") }
      try database.run("ANALYZE")
      try finish()
    }

    /// The bytes on disk, the log included.
    func byteCount() throws -> Int {
      let log = URL(filePath: file.path + "-wal")
      let logBytes = FileManager.default.fileExists(atPath: log.path) ? try Stage.byteCount(of: log) : 0
      return try Stage.byteCount(of: file) + logBytes
    }
  }
#endif
