public import Foundation

extension PhotoLibrary {
  /// Opens the library in a directory; one of an older format is migrated first.
  /// - Parameters:
  ///   - url: the directory.
  ///   - environment: clock, randomness and the name of the process.
  ///   - policy: how the migration handles an event that cannot be applied.
  ///   - progress: the progress handler of a migration; return `false` to cancel, which leaves the library unchanged.
  /// - Throws: ``LibraryError``: `.notALibrary`, `.newerThanProgram`, `.corrupted`, `.storage`; `.userCancelled` if
  ///   `progress` returns `false`.
  /// - Complexity: O(log n); O(n log n) in events for a library of an older format.
  public convenience init(
    at url: URL, environment: LibraryEnvironment = .system, unreadableEvents policy: UnreadableEventPolicy = .stop,
    migrating progress: (TaskProgress) -> Bool = { _ in true }
  ) throws {
    let store = try LibraryStore.open(
      url, libraryEnvironment: environment, unreadableEvents: policy, progress: progress)
    self.init(store: store, client: Self.owner)
  }

  /// Creates an empty library in a directory, which must be empty or not exist.
  /// - Parameters:
  ///   - url: the directory.
  ///   - environment: clock, randomness and the name of the process.
  /// - Returns: the opened library.
  /// - Throws: ``LibraryError``: `.alreadyExists`, `.notEnoughSpace`, `.storage`.
  public static func create(at url: URL, environment: LibraryEnvironment = .system) throws -> PhotoLibrary {
    PhotoLibrary(store: try LibraryStore.create(url, libraryEnvironment: environment), client: owner)
  }
}
