public import Foundation

extension PhotoLibrary {
  /// Opens the library in a directory; one of an older format is brought up to this program's first.
  /// - Parameters:
  ///   - url: the directory.
  ///   - environment: the clock, chance and the name of the process.
  ///   - policy: what is done with an event that cannot be carried out while the library is brought up.
  ///   - progress: is told how far that is; false stops, and the library stays as it was.
  /// - Throws: ``LibraryError``: `.notALibrary`, `.newerThanProgram`, `.corrupted`, `.storage`; `.userCancelled` if
  ///   `progress` stops.
  /// - Complexity: O(log n); O(n log n) in events for a library of an older format.
  public convenience init(
    at url: URL, environment: LibraryEnvironment = .system, unreadableEvents policy: UnreadableEventPolicy = .stop,
    migrating progress: (TaskProgress) -> Bool = { _ in true }
  ) throws {
    let store = try LibraryStore.open(url, surroundings: environment, unreadableEvents: policy, progress: progress)
    self.init(store: store, client: Self.owner)
  }

  /// Makes an empty library in a directory, which must be empty or not exist.
  /// - Parameters:
  ///   - url: the directory.
  ///   - environment: the clock, chance and the name of the process.
  /// - Returns: the library, opened.
  /// - Throws: ``LibraryError``: `.alreadyExists`, `.notEnoughSpace`, `.storage`.
  public static func create(at url: URL, environment: LibraryEnvironment = .system) throws -> PhotoLibrary {
    PhotoLibrary(store: try LibraryStore.create(url, surroundings: environment), client: owner)
  }
}
