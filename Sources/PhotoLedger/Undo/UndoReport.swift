/// One change of an undo.
public struct UndoChange: Sendable, Hashable {
  /// The kind of change.
  public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
    /// A property gets the value back that it had.
    case property
    /// An asset goes to the trash again, or a collection is deleted again.
    case trash
    /// An asset comes back from the trash, or a deleted collection comes back, with every place that it had.
    case restoration
    /// A created asset or collection is removed: an asset keeps its files, so that the undo can be undone as well; a
    /// collection is deleted.
    case creation
    /// An asset was purged, and comes back with its places.
    case purge
    /// A member is put into a container again, taken out of it, or put where it stood.
    case membership
    /// A client's permission, selection or words of itself.
    case permission
    /// The start of the available history.
    case history
  }

  /// The subject of a change.
  enum Subject: Sendable, Hashable {
    case asset(LocalIdentifier)
    case collection(LocalIdentifier, ObjectKind)
    case client(String)
    case library

    var spelling: String {
      switch self {
      case .asset(let identifier): identifier.spelled(as: .asset)
      case .collection(let identifier, let kind): identifier.spelled(as: kind)
      case .client(let name): name
      case .library: ""
      }
    }

    var phrase: String {
      switch self {
      case .asset: "the asset \(spelling)"
      case .collection(_, .folder): "the folder \(spelling)"
      case .collection: "the album \(spelling)"
      case .client(let name): "the client '\(name)'"
      case .library: "the library"
      }
    }
  }

  /// The kind of change.
  public let kind: Kind
  let subject: Subject
  let home: Subject?
  /// The property, as the log spells it: `trashedDate`, `localizedTitle`, `orderKey`.
  public let property: String
  /// The value of now.
  public let current: LogValue
  /// The value that the undo gives it.
  public let restored: LogValue

  init(
    _ kind: Kind, _ subject: Subject, in home: Subject? = nil, _ property: String, from current: LogValue,
    to restored: LogValue
  ) {
    (self.kind, self.subject, self.home, self.property) = (kind, subject, home, property)
    (self.current, self.restored) = (current, restored)
  }

  /// The identifier of the object, or the name of the client; empty for the library itself.
  public var object: String { subject.spelling }
  /// For a membership the album, folder or client that it is a member of; nil otherwise.
  public var container: String? { home?.spelling }

  var isAboutAsset: Bool { if case .asset = subject { true } else { false } }
}

/// A value that was changed since, or cannot be reverted for another reason.
public struct UndoConflict: Sendable, Hashable {
  /// Why it does not simply go back.
  public enum Reason: String, Sendable, Hashable, CaseIterable, Codable {
    /// It has another value than the undone commits gave it, or belongs to a selection that another commit has made
    /// follow an album.
    case changedSince
    /// A required object no longer exists: an asset was purged, or its identifier is in use.
    case goneSince
    /// The bytes no longer exist: the record of an asset with a missing file is restored.
    case bytesGone
    /// The folder that it would come back to is deleted, or lies inside it by now.
    case homeGone
    /// A rule forbids the state that would come of it.
    case forbidden
  }

  /// What becomes of it.
  public enum Outcome: String, Sendable, Hashable, CaseIterable, Codable {
    /// It rejects the whole undo.
    case refused
    /// It is skipped.
    case skipped
    /// It is reverted anyway.
    case forced
  }

  /// The change that it concerns.
  public let change: UndoChange
  /// Why it does not simply go back.
  public let reason: Reason
  /// What becomes of it under the policy that was chosen.
  public let outcome: Outcome
  /// A full sentence for people.
  public let sentence: String
  /// Whether force takes it back; otherwise it is skipped even then.
  let isForcible: Bool
}

/// What an undo did, or would do.
public struct UndoReport: Sendable, Hashable {
  /// The state that includes the undo; nil if there was nothing to do, and in a plan.
  public internal(set) var token: Token?
  /// Whether the undo had already been executed under the same idempotency key; the rest of the report is then empty.
  public internal(set) var isRepetition = false
  /// The states that the undone commits led to, oldest first.
  public internal(set) var commits: [Token] = []
  /// The changes, including forced conflicts; assets by their order of addition, then collections and clients.
  public internal(set) var changes: [UndoChange] = []
  /// What was changed since, or is in the way.
  public internal(set) var conflicts: [UndoConflict] = []
  /// How many properties already have the value that they would get.
  public internal(set) var alreadyCount = 0
  /// Messages about effects that cannot be undone: clients remain registered and keep their picks.
  public internal(set) var kept: [String] = []

  /// Whether a conflict rejects the whole undo.
  public var isRefused: Bool { conflicts.contains { $0.outcome == .refused } }

  /// Removes the conflicts of changes that were to be forced and are not made after all.
  /// - Parameter start: the first conflict that may be one of them.
  mutating func removeForced(from start: Int = 0, where isDropped: (UndoChange) -> Bool) {
    let others = conflicts[start...].filter { $0.outcome != .forced || !isDropped($0.change) }
    conflicts.replaceSubrange(start..., with: others)
  }

  /// Gives changes of a property other values, also where they were to be forced.
  mutating func restate(_ property: String, as restored: [UndoChange.Subject: LogValue]) {
    if restored.isEmpty { return }
    func restated(_ change: UndoChange) -> UndoChange {
      guard change.property == property, let value = restored[change.subject] else { return change }
      return UndoChange(change.kind, change.subject, in: change.home, property, from: change.current, to: value)
    }
    changes = changes.map(restated)
    conflicts = conflicts.map { conflict in
      guard conflict.outcome == .forced else { return conflict }
      return UndoConflict(
        change: restated(conflict.change), reason: conflict.reason, outcome: conflict.outcome,
        sentence: conflict.sentence, isForcible: conflict.isForcible)
    }
  }

  /// Why the undo is rejected, and what to do.
  var refusal: LibraryError? {
    rejection(skipping: "choose to skip the conflicts", forcing: "to force them")
  }

  /// Why the undo is rejected, and what to do in the words of a caller.
  /// - Parameters:
  ///   - skipping: how the caller skips conflicts, as a request.
  ///   - forcing: the alternative that forces them.
  package func rejection(skipping: String, forcing: String) -> LibraryError? {
    let refused = conflicts.filter { $0.outcome == .refused }
    guard let first = refused.first else { return nil }
    let others =
      switch refused.count - 1 {
      case 0: ""
      case 1: " There is 1 more conflict."
      case let count: " There are \(count) more conflicts."
      }
    let force = refused.contains(where: \.isForcible) ? " or \(forcing)" : ""
    return LibraryError(
      .conflict,
      """
      Nothing was undone: \(first.sentence)\(others) Check a dry run, then \(skipping)\(force).
      """)
  }
}
