import Dispatch
import Foundation

extension PhotoLibrary {
  /// Executes all requests of a block as one commit, or none (CB-01, CB-06).
  ///
  /// The block is called at once, where the caller is (OB-05). Returns when the commit is durable; blocks that wait
  /// at the same time share one sync.
  ///
  /// The blocks of one `PhotoLibrary` value are committed in the order in which its `performChanges` were called, in
  /// any of their forms: the first call is first, whatever has to be stored for it, and whatever is purged meanwhile. A
  /// failed block does not delay the following ones. A later block waits until the earlier ones are confirmed (CB-12)
  /// and their bytes stored; send independent blocks through different values, see ``as(_:)``.
  /// - Parameters:
  ///   - cause: the reason, for the log: an import, a scan, a request.
  ///   - key: an idempotency key: a block with a known key has already been executed, and its receipt is returned
  ///     again.
  ///   - changes: collects the requests; if it throws, the block is abandoned.
  /// - Returns: the new state and the identifiers of the created objects.
  /// - Throws: ``LibraryError`` for an invalid request, and if the store cannot be written.
  @discardableResult
  nonisolated(nonsending) public func performChanges(
    cause: String? = nil, key: String? = nil, _ changes: (ChangeBlock) throws -> Void
  ) async throws -> CommitReceipt {
    let submission = try submission(cause, key, changes)
    return try await withCheckedThrowingContinuation { continuation in
      submission.send { continuation.resume(with: $0) }
    }
  }

  /// The same, blocking the calling thread until the commit is durable.
  ///
  /// Not for code that runs on an actor or in a task: it would block a thread that others need, and so would a
  /// confirmation handler (CB-12) or a permission prompt that waits for the main queue, if the main queue waits here.
  /// - Throws: as ``performChanges(cause:key:_:)``.
  @discardableResult
  public func performChangesAndWait(
    cause: String? = nil, key: String? = nil, _ changes: (ChangeBlock) throws -> Void
  ) throws -> CommitReceipt {
    try submission(cause, key, changes).sendAndWait()
  }

  /// The same, with a completion handler (PHPhotoLibrary.performChanges(_:completionHandler:)).
  ///
  /// Blocks are committed in the order in which they were sent, as ``performChanges(cause:key:_:)`` says, and those
  /// that wait together share one sync. The files of a block are copied on the calling thread, unless a confirmation
  /// handler or a permission prompt may have to be called first: then both are done on a thread of the library's.
  /// - Parameters:
  ///   - cause: why, for the log.
  ///   - key: an idempotency key.
  ///   - changes: collects the requests, on the calling thread; what it throws goes to the handler.
  ///   - completionHandler: called once, on a serial queue of the library's, when the commit is durable (CB-04).
  public func performChanges(
    cause: String? = nil, key: String? = nil, _ changes: (ChangeBlock) throws -> Void,
    completionHandler: @escaping @Sendable (Result<CommitReceipt, any Error>) -> Void
  ) {
    let queue = store.completions
    do {
      try submission(cause, key, changes).sendHere { outcome in queue.async { completionHandler(outcome) } }
    } catch {
      queue.async { completionHandler(.failure(error)) }
    }
  }

  private func submission(
    _ cause: String?, _ key: String?, _ changes: (ChangeBlock) throws -> Void
  ) throws -> Submission {
    try checkIsNow("change anything")
    guard ChangeBlock.collecting?.isGoingOn != true else {
      throw LibraryError(
        .changeNotSupported,
        """
        Change blocks cannot be nested; put the requests into the outer block, \
        or wait until that has returned.
        """)
    }
    let block = ChangeBlock(makeIdentifier: store.core.libraryEnvironment.identifier)
    let collecting = Collecting()
    defer {
      block.close()
      collecting.end()
    }
    try ChangeBlock.$collecting.withValue(collecting) { try changes(block) }
    if !block.errands.isEmpty {
      guard block.requests.isEmpty else {
        throw LibraryError(
          .changeNotSupported,
          """
          A change block cannot mix requests about upload jobs and about the library; \
          use two blocks.
          """)
      }
      try block.executeErrands(for: self)
      let receipt = CommitReceipt(token: try currentToken, created: [], isRepetition: false)
      return Submission(store: store, requests: [], client: client, cause: cause, key: key, receipt: receipt)
    }
    return Submission(
      store: store, requests: block.requests, client: client, cause: cause, key: key, hidesTrash: block.hidesTrash,
      caller: blocks)
  }
}

/// Carries one answer from the writer's thread to a thread that waits for it.
final class Answer: @unchecked Sendable {  // `result` is guarded by the semaphore: written before, read after
  private let semaphore = DispatchSemaphore(value: 0)
  private var result: Result<CommitReceipt, any Error>?

  func give(_ result: Result<CommitReceipt, any Error>) {
    self.result = result
    semaphore.signal()
  }

  func wait() -> Result<CommitReceipt, any Error> {
    semaphore.wait()
    guard let result else { preconditionFailure("The writer returned no result.") }
    return result
  }
}
