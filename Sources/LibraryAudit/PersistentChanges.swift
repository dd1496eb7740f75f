import EventLog
import Foundation
import LMDB
public import PhotoLedger

// What changed since a token: identifiers by kind of object and of change, commit by commit.
//
// Change details follow a held result; this needs none. A backup client that was away for a month reads it from the
// log, which is complete, so a token does not expire unless the owner shortens the available history (PH-06); the log
// itself keeps it. The sets come from the events alone: no row is read, and the cost is that of the events passed.
//
// A client without full access gets its client revisions (ClientRevisions.swift), each with the visible changes: a
// grant is an insertion and a withdrawal a deletion, and changes outside its selection do not appear. Whether an asset
// was in the selection at an earlier commit is computed like every earlier state: from the current selection, with the
// later grants reverted. A commit that changed the client's permission cannot be itemised (PH-07): all that it sees was
// inserted or deleted, so it reads the library again.
//
// Within one commit the three sets of a kind are disjoint (PH-03): an object inserted and deleted is in none, one
// inserted and changed is inserted, one changed and deleted is deleted. A membership change updates the album, whose
// count of assets it changes (CD-22). ChangeTally.swift computes the sets.
//
// Readers need two meanings of the trash. The owner's history distinguishes trash and purge: trash is an update, the
// purge the deletion. For a reader without a fetch for the trash, such as a client of the module `Photos`, an asset is
// deleted when it is trashed and inserted when it is restored, and its purge has no entry (PH-04, PH-05). `showsTrash`
// chooses between them. Hiding is an update in both.

/// One commit of the history (PHPersistentChange).
public struct PersistentChange: Sendable, Hashable {
  /// The identifiers of one kind of object that a commit concerned; the sets are disjoint (PH-03).
  public struct Details: Sendable, Hashable {
    /// Objects that were created, or became visible.
    public internal(set) var insertedLocalIdentifiers: Set<String> = []
    /// Objects with a changed property, hidden and shown ones among them (PH-04); trashed and restored ones where the
    /// trash is shown.
    public internal(set) var updatedLocalIdentifiers: Set<String> = []
    /// Deleted objects: purged assets, deleted albums and folders (PH-05), withdrawn assets, and trashed assets if the
    /// trash is not shown.
    public internal(set) var deletedLocalIdentifiers: Set<String> = []

    /// Whether the commit concerned no object of the kind.
    public var isEmpty: Bool {
      insertedLocalIdentifiers.isEmpty && updatedLocalIdentifiers.isEmpty && deletedLocalIdentifiers.isEmpty
    }
  }

  /// The state after this commit: reading since it continues with the next one (PH-02, PH-10).
  public let changeToken: Token
  /// Who, when and why.
  public let commit: CommitSummary
  /// Nil if the commit cannot be itemised (PH-07).
  private let details: [ObjectType: Details]?

  init(changeToken: Token, commit: CommitSummary, details: [ObjectType: Details]?) {
    self.changeToken = changeToken
    self.commit = commit
    self.details = details
  }

  /// The same without what says which client made the commit, and why.
  package var withoutOrigin: PersistentChange {
    PersistentChange(changeToken: changeToken, commit: commit.redacted(for: "", as: commit.number), details: details)
  }

  /// What the commit did to the objects of a kind.
  /// - Throws: ``LibraryError`` `.persistentChangeDetailsUnavailable` if some of it was erased from the log, or if the
  ///   commit changed how the client sees the library (PH-07).
  public func changeDetails(for type: ObjectType) throws -> Details {
    guard let details else {
      throw LibraryError(
        .persistentChangeDetailsUnavailable,
        """
        The commit of \(changeToken) is not available in detail, since some of it was erased or the client's \
        access was changed; read the library again.
        """)
    }
    return details[type] ?? Details()
  }
}

extension PhotoLibrary {
  /// Every commit after the state of a token, oldest first (PHPhotoLibrary.fetchPersistentChanges(since:), PH-02).
  ///
  /// A client without full access gets the commits that touched its view.
  /// - Parameters:
  ///   - token: a state of this library, from `currentToken` or from an earlier change.
  ///   - limit: the maximum number of commits to return; continue with the last one's token.
  ///   - showsTrash: whether assets in the trash are included: then moving to the trash and restoring are updates, and
  ///     the purge is the deletion. Otherwise an asset is deleted when it is trashed and inserted when it is restored,
  ///     with no entry in between or at its purge (PH-04, PH-05).
  /// - Throws: ``LibraryError``: `.invalidToken` for a token of another library or client, `.tokenExpired` if the
  ///   available history starts later (PH-06), `.accessUserDenied` for a client without read access (AU-10),
  ///   `.storage`.
  /// - Complexity: O(k log n) for k objects that the commits concerned, and for the grants since the token. Without the
  ///   trash also one read for each event that touched an edited asset after the commits, up to its next trashing or
  ///   restoring.
  public func fetchPersistentChanges(
    since token: Token, limit: Int = 1000, showsTrash: Bool = true
  ) throws -> [PersistentChange] {
    requireCorrectUse(limit > 0, "A limit of persistent changes is at least 1.")
    try askIfNeeded()
    return try store.reading { t in
      let start = try store.commit(of: token, for: client, at: moment, t)
      let permission = try permission(t)
      try checkIsAvailable(start, token, permission, t)
      try permission.checkMayRead(client, "read the history")
      guard let number = permission.access.selection else {
        return try changes(after: start, limit, asSeenBy: permission.client, showsTrash, t)
      }
      return try changes(after: start, limit, seenBy: number, showsTrash, t)
    }
  }

  /// The last commits up to a state, newest first: a page of a history that is read backwards.
  /// - Parameters:
  ///   - last: the state with whose commit the page begins; nil: that of now.
  ///   - since: a state; the history ends after it. Nil: where the available history begins.
  ///   - limit: the most commits that are returned.
  /// - Returns: the commits, and the state with which the next page begins; nil if there is none.
  /// - Throws: as ``fetchPersistentChanges(since:limit:showsTrash:)``.
  /// - Complexity: as ``fetchPersistentChanges(since:limit:showsTrash:)``, for the commits of the page.
  package func latestPersistentChanges(
    through last: Token?, since: Token?, limit: Int
  ) throws -> (changes: [PersistentChange], next: Token?) {
    requireCorrectUse(limit > 0, "A limit of persistent changes is at least 1.")
    try askIfNeeded()
    return try store.reading { t in
      let permission = try permission(t)
      let head = try store.head(at: moment, t).commit
      let end = try min(last.map { try store.commit(of: $0, for: client, at: moment, t) } ?? head, head)
      var start = try since.map { try store.commit(of: $0, for: client, at: moment, t) } ?? 0
      if let since { try checkIsAvailable(start, since, permission, t) }
      start = max(start, max(try store.firstAvailableCommit(at: moment, t), 1) - 1)
      try permission.checkMayRead(client, "read the history")
      guard let number = permission.access.selection else {
        guard start < end else { return ([], nil) }
        let first = max(start, end - min(end, UInt64(limit)))
        let found = try changes(after: first, Int(end - first), asSeenBy: permission.client, true, t)
        return (found.reversed(), first > start ? store.core.token(first) : nil)
      }
      let projections = store.core.projections
      let (none, all) = (
        try projections.revisionCount(of: number, through: start, in: t),
        try projections.revisionCount(of: number, through: end, in: t)
      )
      guard none < all else { return ([], nil) }
      let first = max(none, all - min(all, UInt64(limit)))
      let before = first > none ? try projections.commit(ofRevision: first, of: number, in: t) ?? start : start
      let found = try changes(after: before, Int(all - first), seenBy: number, true, t)
      let next = Token(library: store.core.mark, view: Token.view(of: client), position: first)
      return (found.reversed(), first > none ? next : nil)
    }
  }

  /// Shortens the available history to begin with the state of a token; older tokens are expired from then on (PH-06).
  ///
  /// The log keeps everything, and so do results that are held.
  /// - Throws: ``LibraryError`` `.accessUserDenied` for any client but the owner, `.invalidToken`; what the store
  ///   throws.
  public func shortenHistory(to token: Token) throws {
    try checkIsNow("shorten the history")
    try checkIsOwner("shorten the history")
    let commit = try store.reading { t in try store.commit(of: token, for: client, t) }
    _ = try store.perform([.shortenHistory(to: commit + 1)], cause: "history shortened")
  }

  private func checkIsAvailable(
    _ commit: UInt64, _ token: Token, _ permission: Permission, _ t: borrowing StoreReading
  ) throws {
    let first = try store.firstAvailableCommit(at: moment, t)
    guard commit + 1 < first else { return }
    // Commits that the client never saw are not missing for it.
    if permission.access != .full, let number = permission.client {
      let lost = try store.core.projections.revisions(of: number, after: commit, through: first - 1, most: 1, in: t)
      if lost.isEmpty { return }
    }
    throw LibraryError(
      .tokenExpired, "The available history starts after the state of \(token); read the library again.")
  }

  /// The events of a commit, if their effects on a client's view can be itemised.
  private func itemisableEvents(
    of commit: Commit, to client: ObjectNumber?, _ t: borrowing StoreReading
  ) throws -> [(sequence: UInt64, commit: UInt64, event: Event)]? {
    guard let events = try store.core.eventsUnlessErased(commit.sequences, t) else { return nil }
    let hasNewAccess = events.contains { _, _, event in
      // A registration alone shows the client nothing new.
      guard let change = event.readAccessChange, change.client == client else { return false }
      return change.status.old != change.status.new
    }
    return hasNewAccess ? nil : events
  }

  /// Whether an object is a collection that was deleted before a commit: its members continue to change invisibly.
  private func wasDeleted(_ number: ObjectNumber, before commit: Commit, _ t: borrowing StoreReading) throws -> Bool {
    guard try store.collectionRow(number, at: sequence, t)?.deletedDate != nil else { return false }
    return try store.collectionRow(number, at: commit.firstSequence - 1, t)?.deletedDate != nil
  }

  private func changes(
    after start: UInt64, _ limit: Int, asSeenBy number: ObjectNumber?, _ showsTrash: Bool, _ t: borrowing StoreReading
  ) throws -> [PersistentChange] {
    let core = store.core
    var names = ObjectNames(of: store)
    var trash = TrashView(core, isShown: showsTrash)
    let most = min(UInt64(limit), try store.head(at: moment, t).commit - start)
    return try core.log.commits(after: start, limit: Int(most), in: t).map { commit in
      let details = try itemisableEvents(of: commit, to: number, t).map { events in
        var tally = ChangeTally()
        for (sequence, _, event) in events {
          trash.begin(sequence)
          try tally.count(event, &trash, t)
        }
        try tally.forgetUpdates { try wasDeleted($0, before: commit, t) }
        return try tally.details { try names.name(of: $0, t) }
      }
      if details == nil { trash.forget() }
      return PersistentChange(
        changeToken: core.token(commit.number), commit: CommitSummary(commit), details: details)
    }
  }

  private func changes(
    after start: UInt64, _ limit: Int, seenBy number: ObjectNumber, _ showsTrash: Bool, _ t: borrowing StoreReading
  ) throws -> [PersistentChange] {
    let core = store.core
    let head = try store.head(at: moment, t).commit
    var names = ObjectNames(of: store)
    var trash = TrashView(core, isShown: showsTrash)
    var view = try SelectionView(of: number, asOf: start == 0 ? 0 : store.sequence(ofCommit: start, t), core, t)
    return try core.projections.revisions(of: number, after: start, through: head, most: limit, in: t).map { seen in
      let commit = try core.recordedCommit(seen.commit, t)
      let details = try itemisableEvents(of: commit, to: number, t).map { events in
        var tally = ChangeTally()
        for (sequence, _, event) in events {
          trash.begin(sequence)
          try view.count(event, in: &tally, &trash, t)
        }
        try tally.forgetUpdates { try wasDeleted($0, before: commit, t) }
        return try tally.details { try names.name(of: $0, t) }
      }
      // Grants that came while the client was not limited are not revisions of its own.
      if details == nil {
        view = try SelectionView(of: number, asOf: commit.lastSequence, core, t)
        trash.forget()
      }
      return PersistentChange(
        changeToken: Token(library: core.mark, view: Token.view(of: client), position: seen.ordinal),
        commit: CommitSummary(commit).redacted(for: client, as: seen.ordinal), details: details)
    }
  }
}
