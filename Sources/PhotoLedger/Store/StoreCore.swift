package import EventLog
import Foundation
package import LMDB
import StoreMigrations

// What the writer and the readers of a library share: the environment, the log, the projections, and how commits are
// named to clients.

/// A transaction that reads a store.
package typealias StoreReading = ReadTransaction

/// The parts of a store that the writer and the readers share.
package struct StoreCore: Sendable {
  package let environment: LMDB.Environment
  package let log: EventLog
  package let projections: Projections
  package let libraryEnvironment: LibraryEnvironment
  package let identifier: LocalIdentifier
  /// What shortens the way back to an earlier moment; nil for a store that does not belong to a library.
  package internal(set) var snapshots: SnapshotStore?
  /// Where the library began to be another one than that which it was forked from, oldest first; none for most.
  package var forks: [ForkPoint] = []
  /// The number of the store's format; nil for a store that does not belong to a library.
  var format: StoreFormat?

  /// What results of this library, and tokens of its views, bear, so that those of another are not taken for its own.
  package var mark: UInt64 { mark(of: .max) }

  /// What the token of a commit bears: that of the library in which the commit was made.
  func mark(of commit: UInt64) -> UInt64 {
    forks.reduce(identifier.high ^ identifier.low) { mark, fork in commit > fork.commit ? mark ^ fork.mark : mark }
  }

  /// Checks that no newer program has migrated the store since it was opened.
  /// - Throws: ``LibraryError`` `.newerThanProgram`; `LMDBError`.
  /// - Complexity: O(1), one look-up in a table of one row.
  package func checkFormat<T: TransactionReading & ~Copyable>(_ t: borrowing T) throws {
    do {
      try format?.checkIsKnown(t)
    } catch let error as StoreFormatError {
      throw LibraryError(error)
    }
  }

  package func token(_ commit: UInt64) -> Token { Token(library: mark(of: commit), commit: commit) }

  /// The number of an asset, one that was purged included; nil if there never was one.
  /// - Complexity: O(log n).
  package func assetNumber<T: TransactionReading & ~Copyable>(
    _ identifier: LocalIdentifier, _ t: borrowing T
  ) throws -> ObjectNumber? {
    if let object = try projections.object(identifier, in: t) { return object.isAsset ? object.number : nil }
    return try projections.tombstone(of: identifier, in: t)
  }

  /// The token of a commit for a client: by commit number with full access, otherwise by client revision.
  /// - Complexity: O(log² n).
  package func token<T: TransactionReading & ~Copyable>(
    _ commit: UInt64, for client: String, _ t: borrowing T
  ) throws -> Token {
    try token(commit, for: client, by: try projections.permission(of: client, in: t), t)
  }

  /// The same by a permission that the client had.
  package func token<T: TransactionReading & ~Copyable>(
    _ commit: UInt64, for client: String, by permission: Permission, _ t: borrowing T
  ) throws -> Token {
    guard permission.access != .full else { return token(commit) }
    let ordinal = try permission.client.map { try projections.revisionCount(of: $0, through: commit, in: t) } ?? 0
    return Token(library: mark, view: Token.view(of: client), position: ordinal)
  }

  /// Commits as a client with a permission may know them.
  func commits<T: TransactionReading & ~Copyable>(
    _ commits: [CommitSummary], asSeenBy client: String, _ permission: Permission, _ t: borrowing T
  ) throws -> [CommitSummary] {
    guard permission.access != .full else { return commits }
    guard let number = permission.client, let first = commits.first, let last = commits.last else { return [] }
    let seen = try projections.revisions(of: number, after: first.number - 1, through: last.number, in: t)
    let ordinals = Dictionary(seen.map { ($0.commit, $0.ordinal) }) { first, _ in first }
    return commits.compactMap { commit in ordinals[commit.number].map { commit.redacted(for: client, as: $0) } }
  }

  /// A commit that the log must have.
  /// - Throws: ``LibraryError`` `.corrupted` if it has no row for it.
  package func recordedCommit(_ number: UInt64, _ t: borrowing StoreReading) throws -> Commit {
    guard let commit = try log.commit(number, in: t) else {
      throw LibraryError(.corrupted, "The log has no row for commit \(number); run `verify`.")
    }
    return commit
  }

  /// The identifiers of the objects that a commit created, in its order.
  func created<T: TransactionReading & ~Copyable>(by commit: Commit, _ t: borrowing T) throws -> [String] {
    var created: [String] = []
    try log.read(after: commit.firstSequence - 1, limit: Int(commit.eventCount), in: t) { record in
      if let identifier = try projections.event(record, in: t).createdIdentifier { created.append(identifier) }
      return .proceed
    }
    return created
  }
}

extension StoreCore {
  /// The receipt of a commit, for a caller that repeats its key.
  func receipt<T: TransactionReading & ~Copyable>(ofRepeated commit: Commit, _ t: borrowing T) throws -> CommitReceipt {
    CommitReceipt(
      token: try token(commit.number, for: commit.information.client, t), created: try created(by: commit, t),
      isRepetition: true)
  }
}

extension CommitSummary {
  package init(_ commit: Commit) {
    let information = commit.information
    self.init(
      number: commit.number, date: Date(microseconds: information.time), client: information.client,
      process: information.process, cause: information.cause.isEmpty ? nil : information.cause, key: information.key,
      causation: information.causation,
      firstSequence: commit.firstSequence, eventCount: Int(commit.eventCount))
  }
}
