import Synchronization

// The prompt corresponds to the dialogue that a phone shows when an app first accesses the photos. It is installed by
// the process that acts for the library's owner. It is shown when an undecided client first requests permission or
// reads (FR-18), and once per start of a limited client, to offer more assets (W20). Without a prompt, undecided
// clients see an empty library until the owner decides.
//
// A prompt may take as long as the user needs, and the reading thread waits for it; a block waits on a thread of the
// library's, or on that of a caller that waits for the block (Submission.swift). Prompts are shown one at a time.
// The prompt's answer is a change block of the owner, so it is recorded in the log with client, time and cause.

/// A prompt that decides about permissions, in place of the system's dialogue.
public protocol PermissionPrompt: Sendable {
  /// Decides about an undecided client.
  /// - Parameters:
  ///   - client: the client, with its usage descriptions, see ``Client/usageDescription(for:)``.
  ///   - level: the requested level.
  ///   - library: the owner's view of the library, to choose assets from. Must not be used as the client meanwhile.
  /// - Returns: the decision; nil leaves the client undecided, and the prompt is shown again. Assets that were purged
  ///   meanwhile are left out of it.
  func decide(about client: Client, for level: AccessLevel, in library: PhotoLibrary) -> PermissionDecision?

  /// Offers more assets to a limited client; called once per start of the client.
  /// - Parameters:
  ///   - client: the client.
  ///   - library: the owner's view of the library.
  /// - Returns: the assets to add to its selection; those already in it, or purged meanwhile, are ignored.
  func offerMore(to client: Client, in library: PhotoLibrary) -> [LocalIdentifier]
}

/// What was decided about a client.
public enum PermissionDecision: Sendable, Hashable {
  /// Grants the requested level for the whole library.
  case allow
  /// It may read and change some assets, beside those that its selection has; for ``AccessLevel/readWrite`` only. A
  /// selection that follows an album follows it no longer if assets are named.
  case limit(to: [LocalIdentifier])
  /// It may not.
  case deny
}

/// Calls the installed prompt.
///
/// `prompt` and `reminded` are guarded by their lock; `asking` is held while a person decides.
final class Prompting: StorePart, AccessAsking {
  static var closing: ClosingStage { .senders }
  func close() {}

  private struct State {
    var prompt: (any PermissionPrompt)?
    /// The limited clients that have been offered more since the library was opened.
    var reminded: Set<ExactText> = []
  }

  private let state = Mutex(State())
  private let asking = Mutex(())

  func install(_ prompt: (any PermissionPrompt)?) { state.withLock { $0.prompt = prompt } }

  /// Whether a prompt is installed.
  var isInstalled: Bool { state.withLock { $0.prompt != nil } }

  /// Shows the prompt for a client that is about to read or change, if it is installed and needed. A library that
  /// became unavailable could not record the answer, and can still be read.
  func askIfNeeded(for client: String, in store: LibraryStore) throws {
    guard client != PhotoLibrary.owner, let prompt = state.withLock({ $0.prompt }), store.availability.reason == nil
    else { return }
    let row = try store.reading { t in try store.core.projections.client(named: client, in: t) }
    if let row, row.mayBeOfferedMore {
      guard !row.preventsLimitedAlert, state.withLock({ $0.reminded.insert(client.exact).inserted }) else { return }
      _ = try offerMore(to: client, in: store)
    } else if AccessLevel.allCases.allSatisfy({ row?[$0].status ?? .notDetermined == .notDetermined }) {
      try ask(about: client, for: .readWrite, prompt, in: store)
    }
  }

  /// Shows the prompt for an undecided client; does nothing without a prompt.
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
      guard let decision else { return }
      let (status, chosen) = try Self.outcome(of: decision, level)
      // A client that was just prompted is not prompted again at once.
      state.withLock { _ = $0.reminded.insert(client.exact) }
      try Self.grant(chosen, in: store) { left in
        var changes: [ChangeRequest.ClientChange] = [.setStatus(status, level)]
        // What is picked counts: a selection that follows an album keeps its assets and follows it no longer.
        if !left.isEmpty { changes += [.follow(nil), .grant(left)] }
        _ = try store.perform(changes.map { .client(named: client, $0) }, cause: "permission prompt")
      }
    }
  }

  /// The status that a decision sets, and the assets that it grants.
  private static func outcome(
    of decision: PermissionDecision, _ level: AccessLevel
  ) throws -> (status: AuthorizationStatus, chosen: [LocalIdentifier]) {
    switch decision {
    case .allow: return (.authorized, [])
    case .deny: return (.denied, [])
    case .limit(let assets):
      guard level == .readWrite else {
        throw LibraryError(.changeNotSupported, "The addOnly level has no limited status; allow it or deny it.")
      }
      return (.limited, assets)
    }
  }

  /// Grants chosen assets. Those that were purged since they were chosen are left out: the client, whose call waits for
  /// the prompt, did not choose them. Identifiers that the library never had are an error of the prompt.
  /// - Parameter commit: makes the commit that grants those that are left; called again if one of them is purged before
  ///   it is made.
  /// - Returns: those that were granted.
  @discardableResult
  private static func grant(
    _ chosen: [LocalIdentifier], in store: LibraryStore, _ commit: ([LocalIdentifier]) throws -> Void
  ) throws -> [LocalIdentifier] {
    var left = try withoutPurged(chosen, in: store)
    while true {
      do {
        try commit(left)
        return left
      } catch let error as LibraryError where error.code == .identifierNotFound {
        // Perhaps an asset was purged between the check and the commit.
        let rest = try withoutPurged(left, in: store)
        guard rest.count < left.count else { throw error }
        left = rest
      }
    }
  }

  private static func withoutPurged(
    _ chosen: [LocalIdentifier], in store: LibraryStore
  ) throws -> [LocalIdentifier] {
    let projections = store.core.projections
    return try store.reading { t in
      try chosen.filter { identifier in
        try projections.object(identifier, in: t) != nil || projections.tombstone(of: identifier, in: t) == nil
      }
    }
  }

  /// Offers a limited client more, and gives it what was chosen.
  /// - Returns: the identifiers that were added (AU-05).
  func offerMore(to client: String, in store: LibraryStore) throws -> [String] {
    guard let prompt = state.withLock({ $0.prompt }) else { return [] }
    return try asking.withLock { _ in
      guard let row = try store.reading({ t in try store.core.projections.client(named: client, in: t) }),
        row.mayBeOfferedMore
      else { return [] }
      let library = PhotoLibrary(store: store, client: PhotoLibrary.owner)
      let chosen = distinct(prompt.offerMore(to: try store.reading { t in try store.client(row, t) }, in: library))
      let added = try store.reading { t in
        try chosen.filter { identifier in
          guard let object = try store.core.projections.object(identifier, in: t), object.isAsset else { return true }
          return try !store.core.projections.shows(object.number, to: row.access, in: t)
        }
      }
      return try Self.grant(added, in: store) { left in
        guard !left.isEmpty else { return }
        _ = try store.perform([.client(named: client, .grant(left))], cause: "limited library picker")
      }.map { $0.spelled(as: .asset) }
    }
  }
}

extension LibraryStore {
  /// What asks about a client that has to be decided about.
  var prompting: Prompting { part { _ in Prompting() } }

  /// Executes requests of the owner, blocking the calling thread.
  package func perform(
    _ requests: [ChangeRequest], as client: String = PhotoLibrary.owner, cause: String?, isConfirmed: Bool = false
  ) throws -> CommitReceipt {
    try Submission(
      store: self, requests: requests, client: client, cause: cause, key: nil, isConfirmed: isConfirmed
    ).sendAndWait()
  }
}

extension PhotoLibrary {
  /// Whether reading can wait for the user: a prompt is installed and applies to this client.
  package var canAskPerson: Bool { canAskPerson(as: client) }

  /// The same of another client.
  package func canAskPerson(as client: String) -> Bool { client != Self.owner && store.prompting.isInstalled }
}
