import Foundation
import LibraryAudit
import PhotoLedger
import TestSupport
import Testing

/// One commit of a history, as persistent history has to show it.
struct Chapter {
  let number: UInt64
  let actor: String
  let before: ModelLibrary
  let after: ModelLibrary
  /// How each client names the commit; nil where it did not see it.
  let names: [String: UInt64?]

  /// What a client must receive: what came into view and left it, what looks different, and what may be reported as
  /// changed, since requests concerned it.
  struct Told {
    var inserted: Set<LocalIdentifier>
    var deleted: Set<LocalIdentifier>
    var changed: Set<LocalIdentifier>
    var concerned: Set<LocalIdentifier>
  }

  /// - Parameter showsTrash: whether an asset in the trash is there.
  func told(to eyes: ModelEyes, showsTrash: Bool) -> Told {
    func present(_ model: ModelLibrary) -> Set<LocalIdentifier> {
      model.present(to: eyes).filter { showsTrash || model.assets[$0]?.trashedDate == nil }
    }
    let (old, new) = (present(before), present(after))
    let kept = old.intersection(new)
    let changed = kept.filter { after.differs($0, from: before, to: eyes) }
    let noted = if case .limited(let client) = eyes { after.noted[client] } else { after.noted[PhotoLibrary.owner] }
    return Told(
      inserted: new.subtracting(old), deleted: old.subtracting(new), changed: changed,
      concerned: kept.intersection(noted ?? []).union(changed))
  }
}

/// The last commits of a history, and tokens of theirs.
struct Chronicle {
  private var chapters: [Chapter] = []
  private var tokens: [(client: String, token: Token, commit: UInt64)] = []

  private static let limit = 60

  mutating func add(_ chapter: Chapter) {
    chapters.append(chapter)
    if chapters.count > Self.limit { chapters.removeFirst() }
  }

  /// Keeps the token that a client has now.
  mutating func note(_ witness: Witness) throws {
    guard let commit = chapters.last?.number else { return }
    tokens.append((witness.client, try witness.library.currentToken, commit))
    if tokens.count > 4 * Self.limit { tokens.removeFirst() }
  }

  /// Compares the history since some token of a client with what the commits did.
  func check(_ witness: Witness, _ random: inout SeededGenerator) throws {
    guard let first = chapters.first?.number, let model = chapters.last?.after else { return }
    let kept = tokens.filter { $0.client == witness.client && $0.commit >= first }
    guard !kept.isEmpty else { return }
    let (client, token, commit) = random.one(of: kept)
    let eyes = model.eyes(of: client)
    guard eyes != .none else {
      let error = #expect(throws: LibraryError.self) { try witness.library.fetchPersistentChanges(since: token) }
      let isRestricted = model.clients[client]?.readWrite == .restricted
      return try demand(
        error?.code == (isRestricted ? .accessRestricted : .accessUserDenied), "A denied client receives \(token).")
    }
    // A token of a view names the last commit that the client saw, which is all that it can.
    var start = commit
    if token.view != nil { start = token.position == 0 ? 0 : witness.revisions[Int(token.position) - 1] }
    guard start + 1 >= first else { return }
    let due = chapters.filter { $0.number > start && (eyes == .full || witness.revisions.contains($0.number)) }
    for showsTrash in [true, false] {
      let told = try witness.library.fetchPersistentChanges(since: token, showsTrash: showsTrash)
      try demand(
        told.count == due.count,
        "Since \(token) '\(client)' receives \(told.count) commits, not \(due.map(\.number)) (PH-02).")
      for (change, chapter) in zip(told, due) {
        do {
          try check(change, chapter, witness, eyes, showsTrash)
        } catch let error as Divergence {
          let trash = showsTrash ? "with" : "without"
          throw Divergence("The history of '\(client)' \(trash) the trash, commit \(chapter.number): \(error)")
        }
      }
    }
  }

  private func check(
    _ change: PersistentChange, _ chapter: Chapter, _ witness: Witness, _ eyes: ModelEyes, _ showsTrash: Bool
  ) throws {
    let client = witness.client
    let revision = witness.revisions.firstIndex(of: chapter.number).map { UInt64($0 + 1) }
    let name = eyes == .full ? chapter.number : revision
    try demand(change.changeToken.position == name && change.commit.number == name, "It is called \(change).")
    let author = eyes == .full || chapter.actor == client ? chapter.actor : ""
    try demand(change.commit.client == author, "It is reported as of '\(change.commit.client)' (AU-01).")
    guard !chapter.after.switched.contains(client) else {
      let error = #expect(throws: LibraryError.self) { try change.changeDetails(for: .asset) }
      return try demand(
        error?.code == .persistentChangeDetailsUnavailable, "A change of access is delivered in detail (PH-07).")
    }
    let due = chapter.told(to: eyes, showsTrash: showsTrash)
    for type in ObjectType.allCases {
      let details = try change.changeDetails(for: type)
      func these(_ ids: Set<LocalIdentifier>) -> Set<LocalIdentifier> { ids.filter { chapter.type(of: $0) == type } }
      try demand(details.inserted == these(due.inserted), "\(type)s inserted: \(details.inserted) (PH-03).")
      try demand(details.deleted == these(due.deleted), "\(type)s deleted: \(details.deleted) (PH-03).")
      try demand(
        these(due.changed).isSubset(of: details.updated) && details.updated.isSubset(of: due.concerned),
        "\(type)s updated: \(details.updated), not \(these(due.changed)) of \(due.concerned) (PH-04).")
    }
  }
}

extension Chapter {
  fileprivate func type(of id: LocalIdentifier) -> ObjectType {
    guard let collection = after.collections[id] ?? before.collections[id] else { return .asset }
    return collection.kind == .folder ? .collectionList : .assetCollection
  }
}

extension PersistentChange.Details {
  fileprivate var inserted: Set<LocalIdentifier> { Set(insertedLocalIdentifiers.compactMap { LocalIdentifier($0) }) }
  fileprivate var updated: Set<LocalIdentifier> { Set(updatedLocalIdentifiers.compactMap { LocalIdentifier($0) }) }
  fileprivate var deleted: Set<LocalIdentifier> { Set(deletedLocalIdentifiers.compactMap { LocalIdentifier($0) }) }
}
