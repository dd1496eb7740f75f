import Dispatch

extension PhotoLibrary {
  /// Queues a block and tells a handler what became of it (PHPhotoLibrary.performChanges(_:completionHandler:)).
  ///
  /// Blocks that one thread queues are carried out in its order, and those that wait together share one sync. A block
  /// whose bytes another client purges at the same moment is stored again and goes to the end of the queue.
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
    defer { block.close() }
    do {
      try changes(block)
    } catch {
      return completionHandler(.failure(error))
    }
    queue(block.requests, cause, key, attempt: 1, completionHandler)
  }

  private func queue(
    _ requests: [ChangeRequest], _ cause: String?, _ key: String?, attempt: Int,
    _ handler: @escaping @Sendable (Result<CommitReceipt, any Error>) -> Void
  ) {
    do {
      let staging = try store.stage(requests)
      let job = Writer.Job(requests: staging.requests, client: client, cause: cause, key: key) { [self] outcome in
        do {
          if let receipt = try store.settle(staging, outcome, attempt: attempt) { return handler(.success(receipt)) }
        } catch {
          return handler(.failure(error))
        }
        // Storing bytes takes long, and this is the writer's thread.
        DispatchQueue.global().async { self.queue(requests, cause, key, attempt: attempt + 1, handler) }
      }
      store.enqueue(job)
    } catch {
      handler(.failure(error))
    }
  }
}
