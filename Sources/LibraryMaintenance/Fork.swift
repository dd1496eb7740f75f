import EventLog
public import Foundation
import LMDB
public import PhotoLedger

// A second library to rehearse in.
//
//     first     … 41 ── 42 ── 43                      goes on, and is never touched from the fork
//                       │
//     fork      … 41 ── 42 ── library.forked ── …      the same 42 commits, then its own
//
// The fork has a copy of the store and the same files under second names (ResourceTransfer.swift). Files of resources
// are never written in place, so nothing that happens in one is seen by the other; a purge removes a name of its own.
// Referenced files stay where they are, for both, and neither ever changes them.
//
// The first commit of the fork says what it is, and where it comes from. Both libraries have the same identifier and
// the same chain up to there, which is how `compare` finds what they have in common. Tokens of common commits are the
// same in both; those of the fork's own commits bear a mark of the fork, so that neither library takes the other's.

/// What a fork came to.
public struct ForkReport: Sendable, Hashable {
  /// The directory.
  public let url: URL
  /// The last state that both libraries have; a token of either.
  public let commonToken: Token
  /// The state of the fork.
  public let token: Token
  /// What became of the files.
  public let resources: ResourceTransfer
}

extension PhotoLibrary {
  /// Makes a second library that has everything of this one and shares the bytes of its files, to try something in.
  ///
  /// Changes in the fork never touch this library. ``compare(with:_:)`` lists them.
  /// - Parameters:
  ///   - url: a directory that does not exist; on the same file system, so that files can be shared.
  ///   - progress: the progress handler; return `false` to cancel, which leaves nothing.
  /// - Throws: ``LibraryError`` `.accessUserDenied` for any client but the owner, `.alreadyExists`,
  ///   `.changeNotSupported` for a directory inside the library, `.userCancelled`, `.corrupted`, `.notEnoughSpace`,
  ///   `.storage`.
  /// - Complexity: O(bytes) of the store, O(n) in files.
  @discardableResult
  public func fork(to url: URL, progress: (TaskProgress) -> Bool = { _ in true }) throws -> ForkReport {
    try checkIsNow("fork the library")
    try checkIsOwner("fork the library")
    return try LibraryStore.reporting {
      let folder = try UnfinishedFolder(becoming: url, outside: URL(filePath: store.folder.currentPath))
      let head = try store.copyStore(to: folder, progress)
      var transfer = ResourceTransfer()
      try store.folder.withPath { library in
        try transfer.take(from: library, to: folder, .shared, progress: progress)
        try LibraryCopy.takeRecords([RejectedPairs.folder], from: library, to: folder)
      }
      try LibraryCopy.noteMissing(in: folder.path, &transfer)
      let core = store.core
      let fork = LibraryFork(
        identifier: core.libraryEnvironment.identifier(), date: core.libraryEnvironment.date(), origin: self.url.path)
      let token = try LibraryCopy.withStore(in: folder.path) { environment in
        var copy = try StoreCore(filling: environment, core.libraryEnvironment, core.identifier)
        try environment.write { t in try copy.begin(fork, &t) }
        copy.forks = try environment.read { t in try copy.projections.forks(in: t) }
        return copy.token(head.commit + 1)
      }
      try folder.finish()
      return ForkReport(url: url, commonToken: core.token(head.commit), token: token, resources: transfer)
    }
  }
}

extension StoreCore {
  /// Records that this is a fork.
  fileprivate func begin(_ fork: LibraryFork, _ t: inout WriteTransaction) throws {
    var appender = try log.begin(
      CommitInformation(
        time: fork.date.microseconds, client: PhotoLibrary.owner, cause: "fork", process: libraryEnvironment.process),
      in: &t)
    let event = Event.libraryForked(fork)
    let sequence = try appender.append(
      type: event.type, version: Event.version, payload: event.payload(), salt: libraryEnvironment.salt(), in: &t)
    try projections.apply(event, sequence: sequence, commit: appender.commit, in: &t)
    _ = try appender.finish(in: &t)
  }
}
