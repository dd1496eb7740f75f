public import Foundation
public import PhotoLedger

extension PhotoLibrary {
  /// Checks the log, then makes every projection again from the events, beside those that are there, and swaps them in
  /// by one transaction: readers see the old ones or the new. The log's own tables are made again where the check finds
  /// them other than the events say.
  ///
  /// - Parameters:
  ///   - policy: how to handle an event that cannot be applied. One that an earlier rebuild quarantined is tried again,
  ///     and remains quarantined if it still cannot be applied.
  ///   - progress: the progress handler; return `false` to cancel, which leaves the projections unchanged. In the
  ///     phases `compare` and `swap` the writer's lock is held, so it must not wait for a change there.
  /// - Throws: ``LibraryError`` `.corrupted` or `.newerThanProgram` if the log cannot be replayed, `.userCancelled` if
  ///   `progress` returns `false`, `.notEnoughSpace`: it needs about as much space as the projections have.
  /// - Complexity: O(n log n) in events, again for each event that is quarantined; writers wait for O(rows), which are
  ///   the comparison and the swap. Memory is bounded.
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
  /// A store whose tables were created, but whose rebuild was interrupted, is rebuilt when it is opened next.
  /// - Parameters:
  ///   - url: the directory of the library.
  ///   - environment: clock, randomness and the name of the process.
  ///   - policy: how to handle an event that cannot be applied, as in ``rebuild(unreadableEvents:progress:)``.
  ///   - progress: the progress handler; return `false` to cancel.
  /// - Throws: ``LibraryError``: as ``rebuild(unreadableEvents:progress:)`` and opening do.
  /// - Complexity: O(n log n) in events.
  public static func rebuild(
    at url: URL, environment: LibraryEnvironment = .system, unreadableEvents policy: UnreadableEventPolicy = .stop,
    progress: (TaskProgress) -> Bool = { _ in true }
  ) throws {
    let wereMissing = try LibraryStore.makeMissingTables(url)
    let library = try PhotoLibrary(at: url, environment: environment, unreadableEvents: policy, migrating: progress)
    defer { library.close() }
    // Opening a store that lacked tables rebuilds it.
    if !wereMissing { try library.rebuild(unreadableEvents: policy, progress: progress) }
  }
}
