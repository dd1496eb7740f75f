import EventLog
import Foundation
import LMDB
import PhotoLedger

// The libraries that the store's rows are measured in: made once for each size, then used by all of them.
//
//   disk     made through change blocks of 1000 assets, each durable          what a commit, a rebuild, a start cost
//   memory   a copy of it in /dev/shm, where a sync costs nothing              what is left without the disk
//
// The copy is made from the closed files, and lies on the disk where there is no /dev/shm; rows that claim to be
// without sync are then left out.

/// The invented library of one size, on the disk and in memory.
final class Stage {
  let size: Int
  /// The assets, in the order of their addition, as they were drawn.
  private let drawn: [(identifier: LocalIdentifier, isTrashed: Bool)]
  /// Those whose content is edited once they are all there, with what edits them.
  private let edits: [(identifier: LocalIdentifier, edit: ContentEdit)]
  /// Those that an ordinary fetch shows, once the library is furnished.
  let shown: [LocalIdentifier]
  /// How many of those are favourites.
  let favoriteCount: Int
  /// Where the library on the disk lies.
  let diskFolder: URL
  private let root: URL
  private let memoryRoot: URL?
  private var copies = 0
  private var opened: PhotoLibrary?
  #if PeerBenchmarks
    /// The same assets in SQLite, and whether it has the indexes that cover the queries.
    var peer: SQLiteLibrary?
    var peerHasIndexes = false
  #endif

  static let seed: UInt64 = 20_260_101
  static let blockSize = 1000

  /// Where files without sync may lie; nil where there is no file system in memory.
  static var memoryFileSystem: URL? {
    let shared = URL(filePath: "/dev/shm")
    return FileManager.default.fileExists(atPath: shared.path) ? shared : nil
  }

  /// Makes the library.
  /// - Parameter block: makes one block's assets, and may measure it; the first asset's index and the assets.
  init(size: Int, making block: (PhotoLibrary, [InventedAsset]) throws -> [LocalIdentifier] = Stage.make) throws {
    self.size = size
    let name = "photoledger-stage-\(ProcessInfo.processInfo.processIdentifier)-\(size)"
    root = FileManager.default.temporaryDirectory.appending(path: name)
    memoryRoot = Self.memoryFileSystem?.appending(path: name)
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    diskFolder = root.appending(path: "library")
    let library = try PhotoLibrary.create(at: diskFolder, environment: .seeded(Self.seed))
    var (made, shown): ([(identifier: LocalIdentifier, isTrashed: Bool)], [LocalIdentifier]) = ([], [])
    var edits: [(identifier: LocalIdentifier, edit: ContentEdit)] = []
    made.reserveCapacity(size)
    var favorites = 0
    var invented = InventedLibrary(count: size, seed: Self.seed)
    while made.count < size {
      let chunk = (0..<min(Self.blockSize, size - made.count)).compactMap { _ in invented.next() }
      let identifiers = try block(library, chunk)
      made += zip(chunk, identifiers).map { ($1, $0.isTrashed) }
      shown += zip(chunk, identifiers).filter(\.0.isVisible).map(\.1)
      favorites += chunk.count { $0.isVisible && $0.isFavorite }
      edits += zip(chunk, identifiers).filter(\.0.isEdited).map { ($1, $0.edit) }
    }
    drawn = made
    self.edits = edits
    self.shown = shown
    favoriteCount = favorites
    opened = library
  }

  deinit {
    opened?.close()
    for folder in [root, memoryRoot].compactMap({ $0 }) {
      guard FileManager.default.fileExists(atPath: folder.path) else { continue }
      do { try FileManager.default.removeItem(at: folder) } catch { print("\(folder.path) is left: \(error)") }
    }
  }

  /// Makes the assets of one block.
  static func make(_ library: PhotoLibrary, _ chunk: [InventedAsset]) throws -> [LocalIdentifier] {
    let creations = chunk.map(\.creation)
    var made: [LocalIdentifier] = []
    try library.performChangesAndWait(cause: "import") { change in
      made = creations.map { change.createAsset($0) }
    }
    return made
  }

  /// Edits what is to be edited, puts what is to be there into the trash, and makes albums of neighbours.
  func furnish() throws {
    let library = try library()
    for start in stride(from: 0, to: edits.count, by: Self.blockSize) {
      try library.performChangesAndWait(cause: "edits") { change in
        for (asset, edit) in edits[start..<min(start + Self.blockSize, edits.count)] {
          change.editContent(of: asset, edit)
        }
      }
    }
    let trashed = drawn.filter(\.isTrashed).map(\.identifier)
    if !trashed.isEmpty { try library.performChangesAndWait(cause: "tidy") { $0.deleteAssets(trashed) } }
    var random = Seeded(Self.seed)
    let sizes = InventedLibrary.albumSizes(of: size, seed: Self.seed)
    for start in stride(from: 0, to: sizes.count, by: 100) {
      try library.performChangesAndWait(cause: "albums") { change in
        for number in start..<min(start + 100, sizes.count) {
          let album = change.createAlbum(title: "Album \(number)")
          let first = Int.random(in: 0...(size - sizes[number]), using: &random)
          change.album(album).add(drawn[first..<first + sizes[number]].map(\.identifier))
        }
      }
    }
  }

  /// How many assets are in the trash, once the library is furnished.
  var trashedCount: Int { drawn.count(where: \.isTrashed) }

  /// How many albums there are then, all of them at the top level.
  var albumCount: Int { InventedLibrary.albumSizes(of: size, seed: Self.seed).count }

  /// The library on the disk, open.
  func library() throws -> PhotoLibrary {
    if let opened { return opened }
    let library = try PhotoLibrary(at: diskFolder, environment: .seeded(Self.seed &+ 1))
    opened = library
    return library
  }

  /// Closes the library on the disk, so that its files can be copied or opened by another process.
  func close() {
    opened?.close()
    opened = nil
  }

  /// A folder beside the library, on the same disk; nothing is there yet.
  func path(_ name: String) -> URL { root.appending(path: name) }

  /// A folder in memory, or on the disk where there is none; nothing is there yet.
  func memoryPath(_ name: String) throws -> URL {
    guard let memoryRoot else { return path(name) }
    try FileManager.default.createDirectory(at: memoryRoot, withIntermediateDirectories: true)
    return memoryRoot.appending(path: name)
  }

  /// Runs a body in a copy of the library where a sync costs nothing; the copy is removed afterwards.
  func withCopy(_ body: (PhotoLibrary) throws -> Void) throws {
    try withCopiedFiles { folder in
      let library = try PhotoLibrary(at: folder, environment: .seeded(Self.seed &+ 2))
      defer { library.close() }
      try body(library)
    }
  }

  /// The same without opening the copy.
  func withCopiedFiles(onDisk: Bool = false, _ body: (URL) throws -> Void) throws {
    close()
    let folder = try copyStore(onDisk: onDisk)
    defer { remove(folder) }
    try body(folder)
  }

  /// Copies the files of the library, which is closed; the caller removes them.
  func copyStore(onDisk: Bool) throws -> URL {
    copies += 1
    let folder = onDisk ? path("copy-\(copies)") : try memoryPath("copy-\(copies)")
    // The file alone: the folder also holds a named pipe, and what a copy of that would wait for never comes.
    let file = "store/data.mdb"
    try FileManager.default.createDirectory(at: folder.appending(path: "store"), withIntermediateDirectories: true)
    try FileManager.default.copyItem(at: diskFolder.appending(path: file), to: folder.appending(path: file))
    // Else the kernel writes the copies out while the next row is measured.
    sync()
    return folder
  }

  /// Removes a copy.
  func remove(_ folder: URL) {
    do { try FileManager.default.removeItem(at: folder) } catch { print("\(folder.path) is left: \(error)") }
  }

  /// The bytes of the store's file.
  func storeBytes() throws -> Int { try Self.byteCount(of: diskFolder.appending(path: "store/data.mdb")) }

  static func byteCount(of file: URL) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    return (attributes[.size] as? NSNumber)?.intValue ?? 0
  }
}

/// The store under a library, read without the library: the same environment, since a process has one for each file.
struct StoreReader {
  let environment: LMDB.Environment
  let events: Database
  let details: Database
  let commits: Database

  init(_ library: PhotoLibrary) throws {
    var options = LMDB.Environment.Options()
    options.maxDatabases = Projections.databasesMax
    environment = try LMDB.Environment.open(path: library.url.path + "/store", options: options)
    events = try environment.database("events", integerKeys: true)
    details = try environment.database("details", integerKeys: true)
    commits = try environment.database("commits", integerKeys: true)
  }

  /// The stored bytes under a number; empty if there are none.
  func bytes(_ number: UInt64, in database: Database) throws -> [UInt8] {
    try environment.read { t in try t.bytes(for: number, in: database) ?? [] }
  }

  /// The last event, and its commit.
  func head() throws -> EventLog.Head {
    let log = try EventLog(in: environment)
    return try environment.read { t in try log.head(t) }
  }
}
