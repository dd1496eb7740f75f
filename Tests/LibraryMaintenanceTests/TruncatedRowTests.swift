import Foundation
import LMDB
import LibraryAudit
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

/// Rows and keys of projections that end before what must stand in them.
@Suite("Truncated rows")
struct TruncatedRowTests {
  /// Every kind of question, each of which may be refused.
  private static func ask(_ library: PhotoLibrary, _ questions: inout [(String, () throws -> Void)]) throws {
    let client = library.as("com.example.picker")
    let image = MediaType.image
    func ask(_ what: String, _ body: @escaping () throws -> Void) { questions.append((what, body)) }
    for (name, view) in [("owner", library), ("client", client)] {
      ask("\(name): all") { for asset in try read(view.fetchAssets()) { try look(at: asset, in: view) } }
      ask("\(name): by date") { _ = try read(view.fetchAssets(sortedBy: [SortDescriptor(\.creationDate)])) }
      ask("\(name): first by date") {
        let result = try view.fetchAssets(sortedBy: [SortDescriptor(\.creationDate, order: .reverse)])
        if !result.isEmpty { _ = try result.object(at: 0) }
      }
      ask("\(name): where") { _ = try read(view.fetchAssets(where: #Predicate { $0.mediaType == image })) }
      ask("\(name): collections") {
        for album in try read(view.fetchCollections()) {
          _ = try read(view.fetchAssets(FetchOptions(), in: album))
          _ = try read(view.fetchCollections(in: album))
        }
      }
      ask("\(name): token") { _ = try view.currentToken }
      ask("\(name): changes") { _ = try view.fetchPersistentChanges(since: try view.earliestToken).count }
      ask("\(name): log") { try view.forEachLogEntry { _ in true } }
      ask("\(name): then") { _ = try read(view.at(sequence: 9).fetchAssets()) }
      ask("\(name): change") {
        try view.performChangesAndWait { block in
          let id = block.createAsset(.invented(77))
          block.album(block.createAlbum(title: "x")).add([id])
        }
      }
    }
    ask("statistics") { _ = try library.statistics() }
    ask("snapshots") { _ = try library.makeSnapshots(spacing: 4) }
    ask("undo") { _ = try library.planUndo(.cause("import")) }
    ask("edit") {
      let all = try read(library.fetchAssets()).map(\.id)
      try library.performChangesAndWait { $0.setFavorite(true, for: all) }
      try library.performChangesAndWait { $0.deleteAssets(all) }
      try library.performChangesAndWait { $0.restoreAssets(all) }
    }
    ask("erasure") { _ = try library.erasurePreview(of: try read(library.fetchAssets()).map(\.id)) }
  }

  /// The objects of a result, one by one: a subscript has no way to say that a row cannot be read.
  private static func read<Object>(_ result: FetchResult<Object>) throws -> [Object] {
    try (0..<result.count).map { try result.object(at: $0) }
  }

  private static func look(at asset: Asset, in library: PhotoLibrary) throws {
    _ = try library.resources(of: asset)
    _ = try library.extendedMetadata(of: asset)
    _ = try library.asset(asset.id.uuidString)
    _ = asset.creationDate
  }

  /// The projections of which some question reads each row.
  private static let alwaysRead: Set = ["assets", "details", "collections"]

  @Test(
    "a truncated row or key of any projection is corruption to its reader, and a rebuild repairs it",
    arguments: Projections.names)
  func truncated(name: String) throws {
    let folder = try TemporaryFolder()
    let url = folder.place("library")
    let library = try FormatLibrary.copy(to: url)
    defer { library.close() }
    let environment = try LMDB.Environment.store(ofLibrary: url.path)
    let entries = try #require(try StoreDump(environment).databases[name])
    let isNumbered = StoreDump.numbered.contains(name)
    let database = try environment.database(name, integerKeys: isNumbered, create: false)
    for length in Dose.isFull ? [0, 1, 3, 7] : [0, 3] {
      try environment.write { t in
        for entry in entries {
          if entry.value.isEmpty || length == 3 && !isNumbered {
            // A key with nothing under it, or a key in whose stead a shorter one stands.
            _ = try t.delete(entry.key, in: database)
            let key = Array(entry.key.prefix(entry.key.count - 1 - length))
            if !key.isEmpty { try t.put(key, entry.value, in: database) }
          } else {
            try t.put(entry.key, Array(entry.value.prefix(length)), in: database)
          }
        }
        if entries.isEmpty, !isNumbered { try t.put([0, 0, 1], [1, 2, 3], in: database) }
      }
      var questions: [(String, () throws -> Void)] = []
      try Self.ask(library, &questions)
      var isFound = false
      for (what, question) in questions {
        do { try question() } catch {
          #expect(error is LibraryError, "\(name), \(length) bytes, \(what): \(error)")
          #expect(!"\(error)".isEmpty)
          isFound = isFound || (error as? LibraryError)?.code == .corrupted
        }
      }
      // No question may read a row of the others, or it finds a shorter key to be absent.
      if Self.alwaysRead.contains(name) { #expect(isFound, "\(name), \(length) bytes") }
      try library.rebuild()
      #expect(try library.verify(scratch: folder.url).isSound, "\(name), \(length) bytes")
    }
  }

  @Test("an asset number out of range is reported as corruption when all rows are read")
  func number() throws {
    let folder = try TemporaryFolder()
    let url = folder.place("library")
    let library = try FormatLibrary.copy(to: url)
    defer { library.close() }
    let environment = try LMDB.Environment.store(ofLibrary: url.path)
    let last = try #require(try StoreDump(environment).databases["assets"]?.last)
    let assets = try environment.database("assets", integerKeys: true, create: false)
    try environment.write { t in try t.put(UInt64.max - 1, last.value, in: assets) }
    let error = #expect(throws: LibraryError.self) {
      try library.fetchAssets(where: #Predicate { $0.pixelWidth > 1 })
    }
    #expect(error?.code == .corrupted && error?.description.contains("\(UInt64.max - 1)") == true)
  }
}
