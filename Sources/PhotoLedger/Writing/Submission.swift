import Dispatch
import EventLog
import LMDB
import Synchronization

// One block on its way from a caller to its receipt.
//
//   collect ──▶ place taken ──▶ key known? ──▶ stage ──▶ the writer decides and commits ──▶ settle ──▶ receipt or error
//                                  │ yes
//                                  ▼
//                           the first receipt
//
// The key is looked up before the bytes: a caller that retries, as after an unknown outcome, may have moved the files
// away by then. Bytes are stored outside the writer's thread and from the cooperative pool, since a copy and its sync
// can take seconds; a caller that waits stores them itself. A person who is asked about a block, for a permission or to
// confirm it, takes as long as people take, and a dialogue may need the main queue, from which the block was sent:
// unless the caller waits for the block anyway, its thread goes on, and the person is asked on another. A block without
// either goes straight to the writer.
//
// Invariant: the blocks of one caller are decided in the order in which they were sent. Each takes its place before
// anything is done for it (CallerQueue.swift), and nothing that happens to its bytes meanwhile costs it that place
// (ResourceStore+Holding.swift).

/// A change block with what is to become of it.
struct Submission: Sendable {
  let store: LibraryStore
  let requests: [ChangeRequest]
  let client: String
  let cause: String?
  let key: String?
  /// What led to the block, for the log.
  var causation: String?
  /// Answered without the writer: the block's requests, about upload jobs, have been executed.
  var receipt: CommitReceipt?
  /// Whether it was already confirmed, as part of a larger change.
  var isConfirmed = false
  /// Whether assets in the trash do not exist for the block.
  var hidesTrash = false
  /// The other blocks of its caller; nil for the library's own.
  var caller: CallerQueue?

  typealias Handler = @Sendable (Result<CommitReceipt, any Error>) -> Void

  private static let staging = DispatchQueue(label: "photoledger.staging", attributes: .concurrent)

  /// Sends the block without holding the calling thread up; the handler is called once, on a thread of the library's.
  func send(_ handler: @escaping Handler) { send(elsewhere: bringsBytes || mayAskPerson, handler) }

  /// Stores the block's bytes on the calling thread, then sends it; does as `send(_:)` where a person may be asked.
  func sendHere(_ handler: @escaping Handler) { send(elsewhere: mayAskPerson, handler) }

  /// Sends the block and waits for its receipt. Its bytes are stored, and a person may be asked, on the calling thread,
  /// which waits anyway.
  func sendAndWait() throws -> CommitReceipt {
    let answer = Answer()
    prepare(caller?.take(), isAwaited: true) { answer.give($0) }
    return try answer.wait().get()
  }

  private func send(elsewhere: Bool, _ handler: @escaping Handler) {
    let place = caller?.take()
    guard elsewhere else { return prepare(place, handler) }
    let isSHA1Kept = ContentHash.isSHA1Kept
    Self.staging.async { ContentHash.$isSHA1Kept.withValue(isSHA1Kept) { prepare(place, handler) } }
  }

  /// Whether bytes have to be stored before the writer can decide.
  private var bringsBytes: Bool { requests.contains(where: \.bringsBytes) }

  /// Whether a person may be asked about the block before anything is stored.
  private var mayAskPerson: Bool {
    guard receipt == nil, isAboutLibrary else { return false }
    if client != PhotoLibrary.owner, store.prompting.isInstalled { return true }
    return needsConfirmation && store.installed((any ChangeConfirmation).self).current != nil
  }

  /// Whether the block does anything but decide about clients. One without requests counts: with a key it is a commit.
  private var isAboutLibrary: Bool { requests.isEmpty || !requests.allSatisfy(\.isAboutClients) }

  /// Whether the block changes something that was not confirmed yet.
  private var needsConfirmation: Bool { !isConfirmed && !requests.isEmpty }

  /// - Parameter isAwaited: whether a thread waits for the block. It may be one of those that serve the concurrent
  ///   queues, as all the others; a serial queue gets a thread besides them.
  private func prepare(_ place: UInt64?, isAwaited: Bool = false, _ handler: @escaping Handler) {
    if let receipt {
      enqueue(nil, at: place)
      return handler(.success(receipt))
    }
    var staging = Staging(client: client)
    do {
      if let receipt = try known() {
        enqueue(nil, at: place)
        return handler(.success(receipt))
      }
      try checkMayBegin()
      try store.stage(requests, &staging)
      let job = Writer.Job(
        requests: staging.requests, client: client, cause: cause, key: key, causation: causation,
        hidesTrash: hidesTrash
      ) { [staging] outcome in
        if staging.isEmpty { return handler(outcome) }
        // Files are looked after away from the writer's thread.
        let queue = isAwaited ? DispatchQueue(label: "photoledger.settling") : Self.staging
        queue.async { settle(staging, outcome, handler) }
      }
      enqueue(job, at: place)
    } catch {
      enqueue(nil, at: place)
      store.core.release(staging, isRejected: true, from: store.resources)
      handler(.failure(LibraryError(error)))
    }
  }

  private func enqueue(_ job: Writer.Job?, at place: UInt64?) {
    if let caller, let place {
      guard let job else { return caller.fill(place, with: nil) }
      caller.fill(place) { [store] in store.enqueue(job) }
    } else if let job {
      store.enqueue(job)
    }
  }

  /// Calls the permission prompt, if needed, and the confirmation handler, before anything is stored.
  private func checkMayBegin() throws {
    guard isAboutLibrary else { return }
    try store.prompting.askIfNeeded(for: client, in: store)
    let permission = try store.reading { t in try store.core.projections.permission(of: client, in: t) }
    guard permission.mayAdd else { throw permission.refusal(client, "change the library") }
    if permission.access != .full { try checkBytesAreKnown(to: permission.access) }
    guard needsConfirmation, let confirmation = store.installed((any ChangeConfirmation).self).current else { return }
    guard confirmation.confirm(ChangeProposal(requests, client: client, cause: cause)) else {
      throw LibraryError(.userCancelled, "The change was rejected by the confirmation handler; nothing was changed.")
    }
  }

  /// A client without full access gets no bytes by naming them (AU-01).
  private func checkBytesAreKnown(to access: Access) throws {
    let named = requests.flatMap(\.drafts).compactMap { draft in
      if case .stored(let resource) = draft.source, !draft.isStaged { resource } else { nil }
    }
    if named.isEmpty { return }
    try store.reading { t in
      let projections = store.core.projections
      for resource in named {
        let isKnown = try projections.assets(withContent: resource.sha256, in: t).contains { asset in
          guard try projections.shows(asset, to: access, in: t) else { return false }
          return try projections.details(asset, in: t)?.resources.contains {
            $0.storage == resource.storage
              && $0.sha256 == resource.sha256 && $0.dataSize == resource.dataSize
          } ?? false
        }
        guard isKnown else { throw LibraryError.missingBytes(resource) }
      }
    }
  }

  /// The receipt of a block that was already executed under the same key.
  private func known() throws -> CommitReceipt? {
    guard let key else { return nil }
    return try PhotoLibrary(store: store, client: client).receipt(forKey: key)
  }

  private func settle(
    _ staging: Staging, _ outcome: Result<CommitReceipt, any Error>, _ handler: @escaping Handler
  ) {
    let receipt = try? outcome.get()
    if receipt != nil { store.takeAwayMoved(staging) }
    // A rejected block leaves no file: the files that it stored, and that nothing else names, are removed. An earlier
    // execution may have brought other bytes.
    store.core.release(staging, isRejected: receipt?.isRepetition ?? true, from: store.resources)
    handler(outcome)
  }
}

extension PhotoLibrary {
  /// The receipt of the block of this client that was executed under an idempotency key; nil if there is none.
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(log n), and O(m) in the events of the block.
  package func receipt(forKey key: String) throws -> CommitReceipt? {
    try store.reading { t in
      try store.core.log.commit(forKey: key, of: client, in: t).map { try store.core.receipt(ofRepeated: $0, t) }
    }
  }
}

extension ChangeRequest {
  fileprivate var isAboutClients: Bool { if case .client = self { true } else { false } }

  /// The files that the request brings.
  fileprivate var drafts: [ResourceDraft] {
    switch self {
    case .createAsset(let creation, _): creation.resources
    case .addResources(let drafts, _, _, _): drafts
    case .editContent(_, let edit): edit.drafts
    default: []
    }
  }

  /// Whether bytes have to be stored before the writer can decide.
  var bringsBytes: Bool { drafts.contains(where: \.bringsBytes) }

  /// Whether what its files are decides the date of a new asset.
  var isDatedByBytes: Bool {
    if case .createAsset(let creation, _) = self { creation.isDatedByAddition } else { false }
  }
}

extension ResourceDraft {
  fileprivate var bringsBytes: Bool { if case .stored = source { false } else { true } }
}
