import EventLog
import Foundation
import LMDB

// What changed since a token: identifiers by kind of object and of change, commit by commit.
//
// Change details follow a result that somebody holds; this follows nothing. A backup client that was away for a month
// reads it from the log, which never forgets, so a token does not expire until the history itself is compacted
// (PH-06). The sets come from the events alone: no row is read, and the cost is that of the events passed.
//
// Within one commit the three sets of a kind are disjoint (PH-03): what came and went leaves no trace, what came and
// was changed is inserted, what was changed and went is deleted. Trash and hiding are updates (PH-04); a purge is the
// deletion (PH-05, our decision). A membership change updates the album, whose count of assets it changes (CD-22).

/// The kinds of object that history tells apart (PHObjectType, photokit a.2).
public enum ObjectType: Int, Sendable, Hashable, CaseIterable, Codable {
  /// An asset.
  case asset = 1
  /// An album.
  case assetCollection = 2
  /// A folder.
  case collectionList = 3
}

/// One commit of the history (PHPersistentChange).
public struct PersistentChange: Sendable, Hashable {
  /// The identifiers of one kind of object that a commit concerned; the sets are disjoint (PH-03).
  public struct Details: Sendable, Hashable {
    /// Objects that came into being.
    public internal(set) var insertedLocalIdentifiers: Set<String> = []
    /// Objects that a property of which was changed; trashed, restored, hidden and shown ones among them (PH-04).
    public internal(set) var updatedLocalIdentifiers: Set<String> = []
    /// Objects that are gone: purged assets, deleted albums and folders (PH-05).
    public internal(set) var deletedLocalIdentifiers: Set<String> = []

    /// Whether the commit concerned no object of the kind.
    public var isEmpty: Bool {
      insertedLocalIdentifiers.isEmpty && updatedLocalIdentifiers.isEmpty && deletedLocalIdentifiers.isEmpty
    }
  }

  /// The state after this commit: reading since it goes on with the next one (PH-02, PH-10).
  public let changeToken: Token
  /// Who, when and why.
  public let commit: CommitSummary
  private let details: [ObjectType: Details]

  init(changeToken: Token, commit: CommitSummary, details: [ObjectType: Details]) {
    self.changeToken = changeToken
    self.commit = commit
    self.details = details
  }

  /// What the commit did to the objects of a kind.
  public func changeDetails(for type: ObjectType) -> Details { details[type] ?? Details() }
}

extension PhotoLibrary {
  /// Every commit after the state of a token, oldest first (PHPhotoLibrary.fetchPersistentChanges(since:), PH-02).
  /// - Parameters:
  ///   - token: a state of this library, from `currentToken` or from an earlier change.
  ///   - limit: the most commits that are returned; go on with the last one's token.
  /// - Throws: ``LibraryError``: `.invalidToken` for a token of another library, `.storage`.
  /// - Complexity: O(k log n) for k objects that the commits concerned.
  public func fetchPersistentChanges(since token: Token, limit: Int = 1000) throws -> [PersistentChange] {
    precondition(limit > 0, "A limit of persistent changes is at least 1.")
    let start = try store.commit(of: token)
    return try store.reading { t in
      let core = store.core
      var names = ObjectNames(core: core)
      return try core.log.commits(after: start, limit: limit, in: t).map { commit in
        var tally = ChangeTally()
        for (index, event) in try core.events(commit.sequences, t).enumerated() {
          tally.count(event, sequence: commit.firstSequence + UInt64(index))
        }
        return PersistentChange(
          changeToken: core.token(commit.number), commit: CommitSummary(commit),
          details: try tally.details { try names.name(of: $0, t) })
      }
    }
  }
}

/// What the events of one commit did to each object.
private struct ChangeTally {
  private var inserted: Set<ObjectNumber> = []
  private var updated: Set<ObjectNumber> = []
  private var deleted: Set<ObjectNumber> = []

  mutating func count(_ event: Event, sequence: UInt64) {
    switch event {
    case .assetCreated(let existence): inserted.insert(existence.row.number)
    case .collectionCreated(let existence): inserted.insert(existence.row.number)
    case .assetPurged(let existence): deleted.insert(existence.row.number)
    case .collectionEdited(let edited):
      if let replaced = edited.deletedDate {
        if replaced.new != nil {
          deleted.insert(edited.number)
        } else if deleted.remove(edited.number) == nil {
          inserted.insert(edited.number)
        }
      } else {
        updated.insert(edited.number)
      }
    case .arranged(let arranged): if arranged.container != rootFolder { updated.insert(arranged.container) }
    case .assetsEdited(let edited):
      updated.formUnion(edited.edits.map(\.number))
      updated.formUnion(edited.shifts.map(\.album))
    case .libraryCreated, .collectionErased, .nothingChanged: break
    }
  }

  func details(
    _ name: (ObjectNumber) throws -> ObjectNames.Name?
  ) rethrows -> [ObjectType: PersistentChange.Details] {
    var details: [ObjectType: PersistentChange.Details] = [:]
    let gone = inserted.intersection(deleted)
    for number in inserted.subtracting(gone) {
      guard let name = try name(number) else { continue }
      details[name.type, default: .init()].insertedLocalIdentifiers.insert(name.spelling)
    }
    for number in deleted.subtracting(gone) {
      guard let name = try name(number) else { continue }
      details[name.type, default: .init()].deletedLocalIdentifiers.insert(name.spelling)
    }
    for number in updated.subtracting(inserted).subtracting(deleted) {
      guard let name = try name(number) else { continue }
      details[name.type, default: .init()].updatedLocalIdentifiers.insert(name.spelling)
    }
    return details
  }
}
