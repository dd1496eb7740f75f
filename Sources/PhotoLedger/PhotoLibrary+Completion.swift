extension PhotoLibrary {
  /// Queues a block and tells a handler what became of it (PHPhotoLibrary.performChanges(_:completionHandler:)).
  ///
  /// Blocks that one thread queues are carried out in its order, and those that wait together share one sync.
  /// - Parameters:
  ///   - cause: why, for the log.
  ///   - key: an idempotency key: a block whose key is known has been carried out, and its receipt is given again.
  ///   - changes: collects the requests, on the calling thread; what it throws goes to the handler.
  ///   - completionHandler: called once, on the calling thread if nothing was queued, else on a thread of the library's
  ///     when the commit is durable; it must not wait for another change.
  public func performChanges(
    cause: String? = nil, key: String? = nil, _ changes: (ChangeBlock) throws -> Void,
    completionHandler: @escaping @Sendable (Result<CommitReceipt, any Error>) -> Void
  ) {
    let block = ChangeBlock(makeIdentifier: store.core.surroundings.identifier)
    do {
      try changes(block)
      block.close()
      store.enqueue(
        Writer.Job(
          requests: try store.staged(block.requests), client: client, cause: cause, key: key,
          answer: completionHandler))
    } catch {
      block.close()
      completionHandler(.failure(error))
    }
  }
}
