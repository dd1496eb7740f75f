import Foundation
import PhotoLedger
import Photos

/// S21: the first screen of each list that clients begin with, in a new process: open, fetch, count, first hundred.
///
/// The lists: everything and the images in several orders, the longest album, smart albums, the trash, collections,
/// what a client with limited access sees, and everything through `Photos`.
enum FirstScreens {
  private static let screens: [(name: String, task: ChildTask)] = [
    ("by addition", .firstAdded), ("images by addition", .firstImages), ("newest images", .newestImages),
    ("album in its order", .firstOfAlbum), ("favourites", .firstFavorites), ("newest favourites", .newestFavorites),
    ("trash", .firstTrashed), ("Recently Added", .firstRecentlyAdded), ("top-level collections", .firstCollections),
    ("albums", .firstAlbums), ("newest, PHAsset.fetchAssets(with:)", .newestByPhotos),
  ]
  /// Those of ``client``.
  private static let limitedScreens: [(name: String, task: ChildTask)] = [
    ("limited client, by addition", .firstOfClient), ("limited client, newest", .newestOfClient),
  ]

  /// The client with limited access: it sees each twelfth asset of the first nine tenths, and none of the newest.
  private static let client = "com.example.screen"

  private static func name(_ screen: String) -> String { "S21 new process, \(screen), count and first 100" }

  private static func rows(_ screen: String) -> [String] { [name(screen), "\(name(screen)), peak memory"] }

  static let names = (screens + limitedScreens).flatMap { rows($0.name) }

  static func measure(_ stage: Stage, into report: inout Report) throws {
    guard report.wantsAny(of: names) else { return }
    stage.close()
    for screen in screens where report.wantsAny(of: rows(screen.name)) {
      let album = screen.task == .firstOfAlbum ? try longestAlbum(stage) : nil
      let count = count(screen.task, stage)
      try measure(screen, stage.diskFolder, album, count: count, stage.size, into: &report)
    }
    guard report.wantsAny(of: limitedScreens.flatMap { rows($0.name) }) else { return }
    try stage.withCopiedFiles(onDisk: true) { folder in
      let count = try limit(stage, folder)
      for screen in limitedScreens where report.wantsAny(of: rows(screen.name)) {
        try measure(screen, folder, client, count: count, stage.size, into: &report)
      }
    }
  }

  /// - Parameters:
  ///   - object: what the new process is given beside the folder.
  ///   - count: how many objects it has to find; nil: some.
  private static func measure(
    _ screen: (name: String, task: ChildTask), _ folder: URL, _ object: String?, count: Int?, _ size: Int,
    into report: inout Report
  ) throws {
    var (times, peak) = ([Double](), 0)
    for repetition in 0..<min(9, report.repetitions) + 1 {
      let numbers = try ChildProcess.run(screen.task, folder.path, object).numbers
      guard numbers.count == 4, Int(numbers[1]) == count ?? max(1, Int(numbers[1])),
        Int(numbers[2]) == min(100, Int(numbers[1]))
      else {
        let expected = count.map { "\($0) objects" } ?? "objects"
        throw WrongAnswer(
          description: "A new process finds \(numbers) of '\(screen.task.rawValue)'; \(expected) are there.")
      }
      if repetition > 0 { times.append(numbers[0]) }
      peak = max(peak, Int(numbers[3]))
    }
    report.add(name(screen.name), size: size, caches: .warm, Sample(times), goal: .microseconds(30_000))
    report.add("\(name(screen.name)), peak memory", size: size, bytes: peak, goal: .bytes(40 << 20))
  }

  /// How many objects a list has; nil where the new process checks that itself.
  private static func count(_ task: ChildTask, _ stage: Stage) -> Int? {
    switch task {
    case .firstAdded, .firstRecentlyAdded, .newestByPhotos: stage.shown.count
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

  /// The identifier of the album with the most assets.
  private static func longestAlbum(_ stage: Stage) throws -> String? {
    let library = try PhotoLibrary(at: stage.diskFolder)
    defer { library.close() }
    let albums = try library.fetchCollections(with: .album)
    return albums.max { $0.estimatedAssetCount < $1.estimatedAssetCount }?.localIdentifier
  }

  // MARK: In the new process

  /// How many objects a list has, and how many of its first hundred were read.
  typealias Found = (count: Int, first: Int)

  /// - Parameter object: the identifier of the album, or the name of the client, if the list is of one.
  static func first(_ task: ChildTask, _ path: String, _ object: String?) throws -> Found {
    if task == .newestByPhotos { return try newestByPhotos(path) }
    let library = try open(task, path)
    switch task {
    case .firstImages: return try found(try library.fetchAssets(with: .image))
    case .newestImages: return try found(try library.fetchAssets(with: .image, try .newestFirst()))
    case .firstFavorites: return try found(smartAlbum(.smartAlbumFavorites, library))
    case .newestFavorites: return try found(smartAlbum(.smartAlbumFavorites, library, try .newestFirst()))
    case .firstRecentlyAdded: return try found(smartAlbum(.smartAlbumRecentlyAdded, library))
    case .firstTrashed:
      var options = FetchOptions()
      options.showsTrash = true
      return try found(try library.fetchAssets(options))
    case .firstCollections: return try found(try library.fetchTopLevelUserCollections())
    case .firstAlbums: return try found(try library.fetchCollections(with: .album))
    case .firstOfAlbum: return try found(album(object ?? "", library))
    case .firstOfClient: return try found(try library.as(object ?? "").fetchAssets())
    case .newestOfClient: return try found(try library.as(object ?? "").fetchAssets(try .newestFirst()))
    default: return try found(try library.fetchAssets())
    }
  }

  /// Recently Added counts back from the clock: with the one that the library was made by, it has all of it.
  private static func open(_ task: ChildTask, _ path: String) throws -> PhotoLibrary {
    let folder = URL(filePath: path)
    guard task == .firstRecentlyAdded else { return try PhotoLibrary(at: folder) }
    return try PhotoLibrary(at: folder, environment: .seeded(Stage.seed &+ 3))
  }

  private static func found(_ result: FetchResult<Asset>) throws -> Found {
    (result.count, Set(try result.objects(at: 0..<min(100, result.count)).map(\.id)).count)
  }

  private static func found(_ result: FetchResult<PhotoCollection>) throws -> Found {
    (result.count, Set(try result.objects(at: 0..<min(100, result.count)).map(\.localIdentifier)).count)
  }

  private static func smartAlbum(
    _ subtype: AlbumSubtype, _ library: PhotoLibrary, _ options: FetchOptions = FetchOptions()
  ) throws -> FetchResult<Asset> {
    guard let album = try library.fetchCollections(with: .smartAlbum, subtype: subtype).first else {
      throw WrongAnswer(description: "The library has no smart album \(subtype.name).")
    }
    return try library.fetchAssets(options, in: album)
  }

  private static func album(_ identifier: String, _ library: PhotoLibrary) throws -> FetchResult<Asset> {
    guard let album = try library.collection(identifier) else {
      throw WrongAnswer(description: "The library has no album '\(identifier)'.")
    }
    let result = try library.fetchAssets(FetchOptions(), in: album)
    guard result.count == album.estimatedAssetCount else {
      throw WrongAnswer(description: "\(result.count) assets are in an album of \(album.estimatedAssetCount).")
    }
    return result
  }

  private static func newestByPhotos(_ path: String) throws -> Found {
    try PHPhotoLibrary.bootstrap(libraryAt: URL(filePath: path))
    let options = PHFetchOptions()
    options.sortDescriptors = [NSSortDescriptor(key: "creationDate", ascending: false)]
    let result = PHAsset.fetchAssets(with: options)
    let first = result.objects(at: IndexSet(0..<min(100, result.count)))
    return (result.count, Set(first.map(\.localIdentifier)).count)
  }
}
