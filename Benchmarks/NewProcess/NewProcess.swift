import BenchmarkSupport
import Foundation
import PhotoLedger

/// The program that does a ``CoreTask``.
enum NewProcess {
  /// Does the task that the words name, and prints numbers.
  static func run(_ words: [String], since start: ContinuousClock.Instant) {
    guard (2...3).contains(words.count), let task = CoreTask(rawValue: words[0]) else {
      fail("usage: new-process TASK FOLDER [OBJECT]; the program `benchmarks` starts it.", status: 2)
    }
    do {
      guard let found = try task.find(words[1], words.count == 3 ? words[2] : nil) else {
        fail("The library has no list for '\(words.joined(separator: " "))'.", status: 1)
      }
      let nanoseconds = (ContinuousClock.now - start) / Duration.nanoseconds(1)
      guard task != .openLibrary else { return print(nanoseconds, found.count, found.first) }
      guard let peak = try ProcessStatus.bytes("VmHWM:") else {
        fail("The status of the process does not say 'VmHWM:'.", status: 1)
      }
      print(nanoseconds, found.count, found.first, peak)
    } catch {
      fail("\(error)", status: 1)
    }
  }

  private static func fail(_ sentence: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data("\(sentence)\n".utf8))
    exit(status)
  }
}

extension CoreTask {
  /// How many objects a list has, and how many of its first hundred were read.
  typealias Found = (count: Int, first: Int)

  /// - Parameters:
  ///   - path: the library.
  ///   - object: the identifier of the album, or the name of the client, if the list is of one.
  /// - Returns: nil if the library has no such list.
  func find(_ path: String, _ object: String?) throws -> Found? {
    let library = try open(path)
    switch self {
    case .openLibrary: return try found(try library.fetchAssets(try .newestFirst()))
    case .firstAdded: return try found(try library.fetchAssets())
    case .firstImages: return try found(try library.fetchAssets(with: .image))
    case .newestImages: return try found(try library.fetchAssets(with: .image, try .newestFirst()))
    case .firstOfAlbum: return try album(object ?? "", library)
    case .firstFavorites: return try smartAlbum(.smartAlbumFavorites, library)
    case .newestFavorites: return try smartAlbum(.smartAlbumFavorites, library, try .newestFirst())
    case .firstTrashed:
      var options = FetchOptions()
      options.showsTrash = true
      return try found(try library.fetchAssets(options))
    case .firstRecentlyAdded: return try smartAlbum(.smartAlbumRecentlyAdded, library)
    case .firstCollections: return try found(try library.fetchTopLevelUserCollections())
    case .firstAlbums: return try found(try library.fetchCollections(with: .album))
    case .firstOfClient: return try found(try library.as(object ?? "").fetchAssets())
    case .newestOfClient: return try found(try library.as(object ?? "").fetchAssets(try .newestFirst()))
    }
  }

  /// Recently Added counts back from the clock: with one that starts as that of the library's maker did, whatever its
  /// seed, it has all of it.
  private func open(_ path: String) throws -> PhotoLibrary {
    let folder = URL(filePath: path)
    guard self == .firstRecentlyAdded else { return try PhotoLibrary(at: folder) }
    return try PhotoLibrary(at: folder, environment: .seeded(1))
  }

  private func found(_ result: FetchResult<Asset>) throws -> Found {
    (result.count, Set(try result.objects(at: 0..<min(100, result.count)).map(\.id)).count)
  }

  private func found(_ result: FetchResult<PhotoCollection>) throws -> Found {
    (result.count, Set(try result.objects(at: 0..<min(100, result.count)).map(\.localIdentifier)).count)
  }

  private func smartAlbum(
    _ subtype: AlbumSubtype, _ library: PhotoLibrary, _ options: FetchOptions = FetchOptions()
  ) throws -> Found? {
    guard let album = try library.fetchCollections(with: .smartAlbum, subtype: subtype).first else { return nil }
    return try found(try library.fetchAssets(options, in: album))
  }

  private func album(_ identifier: String, _ library: PhotoLibrary) throws -> Found? {
    guard let album = try library.collection(identifier) else { return nil }
    return try found(try library.fetchAssets(FetchOptions(), in: album))
  }
}
