import Synchronization

// The dialogue that a phone shows when an app first wants the photos has a stand-in here: a prompt, installed by the
// process that acts for the library's owner. It is asked when an undecided client first asks or reads (FR-18), and once
// per start of a limited client, whether it should see more (W20). Without a prompt nobody is asked: undecided clients
// see an empty library until the owner decides.
//
// A prompt may take as long as a person takes, and the thread that reads waits for it. Clients are asked about one at a
// time. What the prompt answers is a change block of the owner's, so who, when and why stand in the log.

/// Who decides about clients, in place of the system's dialogue.
public protocol PermissionPrompt: Sendable {
  /// Decides about a client that has not been decided about.
  /// - Parameters:
  ///   - client: who asks, and why: see ``Client/usageDescription(for:)``.
  ///   - level: what it asks for.
  ///   - library: the library as its owner sees it, to choose assets from. Must not be used as the client meanwhile.
  /// - Returns: the decision; nil leaves the client undecided, and it is asked about again.
  func decide(about client: Client, for level: AccessLevel, in library: PhotoLibrary) -> PermissionDecision?

  /// Offers a limited client more than its selection has; asked once per start of the client.
  /// - Parameters:
  ///   - client: who it is about.
  ///   - library: the library as its owner sees it.
  /// - Returns: the assets that the client is to see in addition; those that it sees already are passed over.
  func offerMore(to client: Client, in library: PhotoLibrary) -> [LocalIdentifier]
}

/// What was decided about a client.
public enum PermissionDecision: Sendable, Hashable {
  /// It may do what it asked for, with the whole library.
  case allow
  /// It may read and change some assets; for ``AccessLevel/readWrite`` only.
  case limit(to: [LocalIdentifier])
  /// It may not.
  case deny
}

/// Asks the installed prompt.
///
/// `prompt` and `reminded` are guarded by their lock; `asking` is held while a person decides.
final class Prompting: StorePart, AccessAsking {
  static var closing: ClosingStage { .senders }
  func close() {}

  private struct State {
    var prompt: (any PermissionPrompt)?
    /// The limited clients that have been offered more since the library was opened.
    var reminded: Set<String> = []
  }

  private let state = Mutex(State())
  private let asking = Mutex(())

  func install(_ prompt: (any PermissionPrompt)?) { state.withLock { $0.prompt = prompt } }

  /// Whether there is somebody to be asked.
  var isInstalled: Bool { state.withLock { $0.prompt != nil } }

  /// Asks about a client that is about to read or change, if there is something to ask and somebody to be asked.
  func askIfNeeded(for client: String, in store: LibraryStore) throws {
    guard client != PhotoLibrary.owner, let prompt = state.withLock({ $0.prompt }) else { return }
    let row = try store.reading { t in try store.core.projections.client(named: client, in: t) }
    switch row?.readWrite.status ?? .notDetermined {
    case .notDetermined where row?.addOnly.status ?? .notDetermined == .notDetermined:
      _ = try ask(about: client, for: .readWrite, prompt, in: store)
    case .limited where row?.preventsLimitedAlert == false && row?.followedAlbum == nil:
      guard state.withLock({ $0.reminded.insert(client).inserted }) else { return }
      _ = try offerMore(to: client, in: store)
    default: break
    }
  }

  /// Asks for a decision about an undecided client; does nothing if there is nobody to be asked.
  func ask(about client: String, for level: AccessLevel, in store: LibraryStore) throws {
    guard let prompt = state.withLock({ $0.prompt }) else { return }
    try ask(about: client, for: level, prompt, in: store)
  }

  private func ask(
    about client: String, for level: AccessLevel, _ prompt: any PermissionPrompt, in store: LibraryStore
  ) throws {
    try asking.withLock { _ in
      // Another thread may have brought the decision while this one waited for its turn.
      let row = try store.reading { t in try store.core.projections.client(named: client, in: t) }
      guard row?[level].status ?? .notDetermined == .notDetermined else { return }
      guard let row, row[level].usageDescription != nil else {
        throw LibraryError.withoutUsageDescription(client, level)
      }
      let library = PhotoLibrary(store: store, client: PhotoLibrary.owner)
      let decision = prompt.decide(about: try store.reading { t in try store.client(row, t) }, for: level, in: library)
      let changes = try decision.map { try Self.changes(for: $0, level) } ?? []
      guard !changes.isEmpty else { return }
      // Whoever has just been asked need not be reminded at once.
      state.withLock { _ = $0.reminded.insert(client) }
      _ = try store.perform(changes.map { .client(named: client, $0) }, cause: "permission prompt")
    }
  }

  private static func changes(
    for decision: PermissionDecision, _ level: AccessLevel
  ) throws -> [ChangeRequest.ClientChange] {
    switch decision {
    case .allow: return [.setStatus(.authorized, level)]
    case .deny: return [.setStatus(.denied, level)]
    case .limit(let assets):
      guard level == .readWrite else {
        throw LibraryError(.changeNotSupported, "The addOnly level has no limited status; allow it or deny it.")
      }
      return [.setStatus(.limited, level), .grant(assets)]
    }
  }

  /// Offers a limited client more, and gives it what was chosen.
  /// - Returns: the identifiers that were added (AU-05).
  func offerMore(to client: String, in store: LibraryStore) throws -> [String] {
    guard let prompt = state.withLock({ $0.prompt }) else { return [] }
    return try asking.withLock { _ in
      guard let row = try store.reading({ t in try store.core.projections.client(named: client, in: t) }),
        row.readWrite.status == .limited, row.followedAlbum == nil
      else { return [] }
      let library = PhotoLibrary(store: store, client: PhotoLibrary.owner)
      let chosen = distinct(prompt.offerMore(to: try store.reading { t in try store.client(row, t) }, in: library))
      let added = try store.reading { t in
        try chosen.filter { identifier in
          guard let object = try store.core.projections.object(identifier, in: t), object.isAsset else { return true }
          return try !store.core.projections.shows(object.number, to: .limited(row.number), in: t)
        }
      }
      guard !added.isEmpty else { return [] }
      _ = try store.perform([.client(named: client, .grant(added))], cause: "limited library picker")
      return added.map { $0.spelled(as: .asset) }
    }
  }
}

extension LibraryStore {
  /// What asks about a client that has to be decided about.
  var prompting: Prompting { part { _ in Prompting() } }

  /// Carries out requests of the owner's, blocking the calling thread.
  package func perform(
    _ requests: [ChangeRequest], as client: String = PhotoLibrary.owner, cause: String?, isConfirmed: Bool = false
  ) throws -> CommitReceipt {
    let answer = Answer()
    Submission(
      store: self, requests: requests, client: client, cause: cause, key: nil, isConfirmed: isConfirmed
    ).send { answer.give($0) }
    return try answer.wait().get()
  }
}

extension PhotoLibrary {
  /// Whether reading can wait for a person: a prompt is installed, which is asked about clients like this one.
  package var canAskPerson: Bool { client != Self.owner && store.prompting.isInstalled }
}
