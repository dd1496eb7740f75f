import Dispatch
import EventLog
import LMDB
import Synchronization

// One block on its way from a caller to its receipt.
//
//   collect ──▶ key known? ──▶ stage ──▶ the writer decides and commits ──▶ settle ──▶ receipt or error
//                  │ yes         ▲                                            │ its bytes were purged meanwhile
//                  ▼             └────────────────────────────────────────────┘
//          the first receipt
//
// The key is looked up before the bytes: whoever asks again, as an unknown outcome advises, may have moved the files
// away by then. Bytes are stored away from the writer's thread and from the cooperative pool, since a copy and its sync
// can take seconds. A block without bytes of its own goes straight to the writer.

/// A change block with what is to become of it.
struct Submission: Sendable {
  let store: LibraryStore
  let requests: [ChangeRequest]
  let client: String
  let cause: String?
  let key: String?
  /// What led to the block, for the log.
  var causation: String?
  /// What is answered without the writer: the block's requests, about upload jobs, have been carried out.
  var receipt: CommitReceipt?
  /// Whether whoever may refuse it has seen it already, as part of a larger whole.
  var isConfirmed = false

  typealias Handler = @Sendable (Result<CommitReceipt, any Error>) -> Void

  private static let staging = DispatchQueue(label: "photoledger.staging", attributes: .concurrent)

  /// Sends the block without holding the calling thread up; the handler is called once, on a thread of the library's.
  func send(_ handler: @escaping Handler) {
    if requests.contains(where: \.bringsBytes) {
      Self.staging.async { sendHere(handler) }
    } else {
      sendHere(handler)
    }
  }

  /// Stores the block's bytes on the calling thread, then sends it: blocks that one thread sends so keep their order.
  func sendHere(attempt: Int = 1, _ handler: @escaping Handler) {
    if let receipt { return handler(.success(receipt)) }
    var staging = Staging()
    do {
      if let receipt = try known() { return handler(.success(receipt)) }
      if attempt == 1 { try checkMayBegin() }
      try store.stage(requests, &staging)
      let job = Writer.Job(
        requests: staging.requests, client: client, cause: cause, key: key, causation: causation
      ) { [staging] outcome in
        if staging.isEmpty { return handler(outcome.mapError { ($0 as? MissingBytes)?.described ?? $0 }) }
        // Files are looked after, and maybe stored again, away from the writer's thread.
        Self.staging.async { settle(staging, outcome, attempt, handler) }
      }
      store.enqueue(job)
    } catch {
      store.core.discard(staging.stored, from: store.resources)
      handler(.failure(LibraryError(error)))
    }
  }

  /// Asks whoever has to decide about the client, and whoever may refuse the block, before anything is stored.
  private func checkMayBegin() throws {
    guard !requests.isEmpty, !requests.allSatisfy(\.isAboutClients) else { return }
    try store.prompting.askIfNeeded(for: client, in: store)
    let permission = try store.reading { t in try store.core.projections.permission(of: client, in: t) }
    guard permission.mayAdd else { throw permission.refusal(client, "change the library") }
    if permission.access != .full { try checkBytesAreKnown(to: permission.access) }
    guard !isConfirmed, let confirmation = store.confirmation.withLock({ $0 }) else { return }
    guard confirmation.confirm(ChangeProposal(requests, client: client, cause: cause)) else {
      throw LibraryError(.userCancelled, "The change was refused by who was asked to confirm it; nothing was changed.")
    }
  }

  /// A client that does not see everything comes to no bytes by naming them (AU-01).
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
        guard isKnown else { throw MissingBytes(resource: resource).described }
      }
    }
  }

  /// The receipt of a block that was carried out before under the same key.
  private func known() throws -> CommitReceipt? {
    guard let key else { return nil }
    return try store.reading { t in
      try store.core.log.commit(forKey: key, of: client, in: t).map { try store.core.receipt(ofRepeated: $0, t) }
    }
  }

  private func settle(
    _ staging: Staging, _ outcome: Result<CommitReceipt, any Error>, _ attempt: Int, _ handler: @escaping Handler
  ) {
    switch outcome {
    case .success(let receipt):
      store.takeAwayMoved(staging)
      // Whoever asked first may have brought other bytes.
      if receipt.isRepetition { store.core.discard(staging.stored, from: store.resources) }
      handler(outcome)
    case .failure(let error as MissingBytes)
    where attempt < LibraryStore.stagingLimit && staging.stored.contains(error.resource):
      sendHere(attempt: attempt + 1, handler)
    case .failure(let error):
      // A refused block leaves no file: what it stored and nothing else names is removed.
      store.core.discard(staging.stored, from: store.resources)
      handler(.failure((error as? MissingBytes)?.described ?? error))
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
  fileprivate var bringsBytes: Bool { drafts.contains(where: \.bringsBytes) }
}

extension ResourceDraft {
  fileprivate var bringsBytes: Bool { if case .stored = source { false } else { true } }
}
