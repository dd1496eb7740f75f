/// One thing that an undo takes back.
public struct UndoChange: Sendable, Hashable {
  /// What is taken back.
  public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
    /// A property gets the value back that it had.
    case property
    /// An asset goes to the trash again, or a collection is deleted again.
    case trash
    /// An asset comes back from the trash, or a deleted collection comes back, with every place that it had.
    case restoration
    /// An asset or a collection was created, and goes: an asset is taken out and its files stay, so that this can be
    /// taken back as well; a collection is deleted.
    case creation
    /// An asset was purged, and comes back with its places.
    case purge
    /// A member is put into a container again, taken out of it, or put where it stood.
    case membership
    /// A client's permission, selection or words of itself.
    case permission
    /// Where the history that is told begins.
    case history
  }

  /// What an undo is about.
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

  /// What is taken back.
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

/// One thing that was changed since, or cannot be taken back for another reason.
public struct UndoConflict: Sendable, Hashable {
  /// Why it does not simply go back.
  public enum Reason: String, Sendable, Hashable, CaseIterable, Codable {
    /// It has another value than the undone commits gave it.
    case changedSince
    /// What it needs is gone: an asset was purged, or its identifier was taken.
    case goneSince
    /// The bytes are gone: what comes back is the record of an asset whose file is missing.
    case bytesGone
    /// The folder that it would come back to is deleted, or lies inside it by now.
    case homeGone
    /// A rule forbids the state that would come of it.
    case forbidden
  }

  /// What becomes of it.
  public enum Outcome: String, Sendable, Hashable, CaseIterable, Codable {
    /// The whole undo is refused because of it.
    case refused
    /// It stays as it is.
    case skipped
    /// It is taken back all the same.
    case forced
  }

  /// What would be taken back.
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
  /// The state that holds the undo; nil if nothing was to be done, and before it is carried out.
  public internal(set) var token: Token?
  /// Whether the undo had been carried out before under the same idempotency key; the rest of the report is then empty.
  public internal(set) var isRepetition = false
  /// The states that the undone commits led to, oldest first.
  public internal(set) var commits: [Token] = []
  /// What is taken back, forced conflicts included; assets by their order of addition, then collections and clients.
  public internal(set) var changes: [UndoChange] = []
  /// What was changed since, or is in the way.
  public internal(set) var conflicts: [UndoConflict] = []
  /// How many properties already have the value that they would get.
  public internal(set) var alreadyCount = 0
  /// What no undo takes back, as sentences: a client stays known, and what it picked stays with it.
  public internal(set) var kept: [String] = []

  /// Whether a conflict refuses the whole.
  public var isRefused: Bool { conflicts.contains { $0.outcome == .refused } }

  /// Why the undo is refused, and what to do.
  var refusal: LibraryError? {
    let refused = conflicts.filter { $0.outcome == .refused }
    guard let first = refused.first else { return nil }
    let others = refused.count == 1 ? "" : " There are \(refused.count - 1) more conflicts."
    let force = refused.contains(where: \.isForcible) ? " or to force them" : ""
    return LibraryError(
      .conflict,
      """
      Nothing was undone: \(first.sentence)\(others) Check a dry run, then choose to \
      skip the conflicts\(force).
      """)
  }
}
