public import Foundation

extension PhotoLibrary {
  /// Checks the log, then makes every projection again from the events, beside those that are there, and swaps them in
  /// by one transaction: readers see the old ones or the new. The log's own tables are made again where the check finds
  /// them other than the events say.
  ///
  /// - Parameters:
  ///   - policy: what is done with an event that cannot be carried out. One that an earlier rebuild set aside is tried
  ///     again, and stays aside if it still cannot.
  ///   - progress: is told how far it is; false stops, and the projections stay as they were. In the phase `swap` the
  ///     writer's lock is held, so nothing may wait for a change there.
  /// - Throws: ``LibraryError`` `.corrupted` or `.newerThanProgram` if the log cannot be replayed, `.userCancelled` if
  ///   `progress` stops, `.notEnoughSpace`: it needs about as much space as the projections have.
  /// - Complexity: O(n log n) in events, again for each event that is set aside; writers wait for O(rows), which is the
  ///   swap. Memory is bounded.
  public func rebuild(
    unreadableEvents policy: UnreadableEventPolicy = .stop, progress: (TaskProgress) -> Bool = { _ in true }
  ) throws {
    try checkIsNow("rebuild the library")
    try checkIsOwner("rebuild the library")
    try store.core.remakeProjections(policy, progress: progress)
  }

  /// Rebuilds the library in a directory, also one that cannot be opened because tables of projections, or of the log
  /// that follow from the events, are missing: those are made again.
  ///
  /// A store whose tables were made, and whose rebuild was cut short, is rebuilt by whoever opens it next.
  /// - Parameters:
  ///   - url: the directory of the library.
  ///   - environment: the clock, chance and the name of the process.
  ///   - policy: what is done with an event that cannot be carried out; ``rebuild(unreadableEvents:progress:)`` has it.
  ///   - progress: is told how far it is; false stops.
  /// - Throws: ``LibraryError``: as ``rebuild(unreadableEvents:progress:)`` and opening do.
  /// - Complexity: O(n log n) in events.
  public static func rebuild(
    at url: URL, environment: LibraryEnvironment = .system, unreadableEvents policy: UnreadableEventPolicy = .stop,
    progress: (TaskProgress) -> Bool = { _ in true }
  ) throws {
    let wereMissing = try LibraryStore.makeMissingTables(url)
    let library = try PhotoLibrary(at: url, environment: environment, unreadableEvents: policy, migrating: progress)
    defer { library.close() }
    // Whoever opens a store that lacked tables rebuilds it.
    if !wereMissing { try library.rebuild(unreadableEvents: policy, progress: progress) }
  }

  /// Rebuilds with another size of the shadow's transactions, on which the outcome does not depend.
  package func rebuild(batch: UInt64, progress: (TaskProgress) -> Bool) throws {
    precondition(batch > 0, "A batch holds at least one event.")
    try store.core.remakeProjections(.stop, batch: batch, progress: progress)
  }
}
