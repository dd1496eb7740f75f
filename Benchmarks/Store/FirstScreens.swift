import BenchmarkSupport
import Foundation
import PhotoLedger
import Photos

/// S21: the first screen of each list that clients begin with, in a new process: open, fetch, count, first hundred.
///
/// The lists: everything and the images in several orders, the longest album, smart albums, the trash, collections,
/// what a client with limited access sees, and everything through `Photos`. For the last the new process is one of this
/// program, since `new-process` links the core alone.
enum FirstScreens {
  private static let screens: [(name: String, task: CoreTask)] = [
    ("by addition", .firstAdded), ("images by addition", .firstImages), ("newest images", .newestImages),
    ("album in its order", .firstOfAlbum), ("favourites", .firstFavorites), ("newest favourites", .newestFavorites),
    ("trash", .firstTrashed), ("Recently Added", .firstRecentlyAdded), ("top-level collections", .firstCollections),
    ("albums", .firstAlbums),
  ]
  private static let screenOfPhotos = "newest, PHAsset.fetchAssets(with:)"
  /// Those of ``client``.
  private static let limitedScreens: [(name: String, task: CoreTask)] = [
    ("limited client, by addition", .firstOfClient), ("limited client, newest", .newestOfClient),
  ]

  /// The client with limited access: it sees each twelfth asset of the first nine tenths, and none of the newest.
  private static let client = "com.example.screen"

  private static func name(_ screen: String) -> String { "S21 new process, \(screen), count and first 100" }

  private static func rows(_ screen: String) -> [String] { [name(screen), "\(name(screen)), peak memory"] }

  static let names = (screens.map(\.name) + [screenOfPhotos] + limitedScreens.map(\.name)).flatMap(rows)

  static func measure(_ stage: Stage, into report: inout Report) throws {
    guard report.wantsAny(of: names) else { return }
    stage.close()
    for screen in screens where report.wantsAny(of: rows(screen.name)) {
      let album = screen.task == .firstOfAlbum ? try longestAlbum(stage) : nil
      let expected = album?.estimatedAssetCount ?? count(screen.task, stage)
      try measure(screen.name, count: expected, stage.size, into: &report) {
        try ChildProcess.run(screen.task, stage.diskFolder.path, album?.localIdentifier).numbers
      }
    }
    if report.wantsAny(of: rows(screenOfPhotos)) {
      try measure(screenOfPhotos, count: stage.shown.count, stage.size, into: &report) {
        try ChildProcess.run(.newestByPhotos, stage.diskFolder.path).numbers
      }
    }
    guard report.wantsAny(of: limitedScreens.flatMap { rows($0.name) }) else { return }
    try stage.withCopiedFiles(onDisk: true) { folder in
      let count = try limit(stage, folder)
      for screen in limitedScreens where report.wantsAny(of: rows(screen.name)) {
        try measure(screen.name, count: count, stage.size, into: &report) {
          try ChildProcess.run(screen.task, folder.path, client).numbers
        }
      }
    }
  }

  /// - Parameters:
  ///   - count: how many objects the new process has to find; nil: some.
  ///   - run: runs it once and gives the numbers that it printed.
  private static func measure(
    _ screen: String, count: Int?, _ size: Int, into report: inout Report, running run: () throws -> [Double]
  ) throws {
    var (times, peak) = ([Double](), 0)
    for repetition in 0..<min(9, report.repetitions) + 1 {
      let numbers = try run()
      guard numbers.count == 4, Int(numbers[1]) == count ?? max(1, Int(numbers[1])),
        Int(numbers[2]) == min(100, Int(numbers[1]))
      else {
        let expected = count.map { "\($0) objects" } ?? "objects"
        throw WrongAnswer(description: "A new process finds \(numbers) of '\(screen)'; \(expected) are there.")
      }
      if repetition > 0 { times.append(numbers[0]) }
      peak = max(peak, Int(numbers[3]))
    }
    report.add(name(screen), size: size, caches: .warm, Sample(times), goal: .microseconds(30_000))
    report.add("\(name(screen)), peak memory", size: size, bytes: peak, goal: .bytes(40 << 20))
  }

  /// How many objects a list of the library has; nil where that is not known.
  private static func count(_ task: CoreTask, _ stage: Stage) -> Int? {
    switch task {
    case .firstAdded, .firstRecentlyAdded: stage.shown.count
    case .firstFavorites, .newestFavorites: stage.favoriteCount
    case .firstTrashed: stage.trashedCount
    case .firstCollections, .firstAlbums: stage.albumCount
    default: nil
    }
  }

  /// Limits the client in a library.
  /// - Returns: how many assets it sees.
  private static func limit(_ stage: Stage, _ folder: URL) throws -> Int {
    let library = try PhotoLibrary(at: folder, environment: .seeded(Stage.seed &+ 3))
    defer { library.close() }
    let chosen = stride(from: 0, to: max(1, stage.shown.count / 10 * 9), by: 12).map { stage.shown[$0] }
    try library.performChangesAndWait { $0.setAuthorizationStatus(.limited, of: client) }
    for start in stride(from: 0, to: chosen.count, by: 10_000) {
      let granted = Array(chosen[start..<min(start + 10_000, chosen.count)])
      try library.performChangesAndWait { $0.grant(granted, to: client) }
    }
    return chosen.count
  }

  /// The album with the most assets.
  private static func longestAlbum(_ stage: Stage) throws -> PhotoCollection? {
    let library = try PhotoLibrary(at: stage.diskFolder)
    defer { library.close() }
    let albums = try library.fetchCollections(with: .album)
    return albums.max { $0.estimatedAssetCount < $1.estimatedAssetCount }
  }

  // MARK: In the new process

  static func newestByPhotos(_ path: String) throws -> (count: Int, first: Int) {
    try PHPhotoLibrary.bootstrap(libraryAt: URL(filePath: path))
    let options = PHFetchOptions()
    options.sortDescriptors = [NSSortDescriptor(key: "creationDate", ascending: false)]
    let result = PHAsset.fetchAssets(with: options)
    let first = result.objects(at: IndexSet(0..<min(100, result.count)))
    return (result.count, Set(first.map(\.localIdentifier)).count)
  }
}
