import EventLog
public import Foundation

// The front door.
//
// A library object is a client's view of an opened directory: who asks, and the engine that answers. `as(_:)` gives
// the same engine under another name. Everything below reads like PhotoKit with the Swift of today: blocks take a
// `ChangeBlock`, fetches take `#Predicate` and `SortDescriptor`, and changes are asynchronous sequences.

/// A photo library kept as a history (PHPhotoLibrary).
public final class PhotoLibrary: Sendable {
  package let store: LibraryStore
  /// The client that this view belongs to; it is recorded with every commit.
  public let client: String
  /// Where a view of the past looks from; nil for the library of now.
  let moment: Moment?
  /// The blocks that were sent through this value, in their order.
  let blocks = CallerQueue()

  /// The client's name of the library's owner.
  public static let owner = "owner"

  init(store: LibraryStore, client: String, moment: Moment? = nil) {
    self.store = store
    self.client = client
    self.moment = moment
  }

  /// Opens the library in a directory; one of an older format is brought up to this program's first.
  /// - Parameters:
  ///   - url: the directory.
  ///   - environment: the clock, chance and the name of the process.
  ///   - policy: what is done with an event that cannot be carried out while the library is brought up.
  ///   - progress: is told how far that is; false stops, and the library stays as it was.
  /// - Throws: ``LibraryError``: `.notALibrary`, `.newerThanProgram`, `.corrupted`, `.storage`; `.userCancelled` if
  ///   `progress` stops.
  /// - Complexity: O(log n); O(n log n) in events for a library of an older format.
  public convenience init(
    at url: URL, environment: LibraryEnvironment = .system, unreadableEvents policy: UnreadableEventPolicy = .stop,
    migrating progress: (TaskProgress) -> Bool = { _ in true }
  ) throws {
    let store = try LibraryStore.open(url, surroundings: environment, unreadableEvents: policy, progress: progress)
    self.init(store: store, client: Self.owner)
  }

  /// Makes an empty library in a directory, which must be empty or not exist.
  /// - Parameters:
  ///   - url: the directory.
  ///   - environment: the clock, chance and the name of the process.
  /// - Returns: the library, opened.
  /// - Throws: ``LibraryError``: `.alreadyExists`, `.notEnoughSpace`, `.storage`.
  public static func create(at url: URL, environment: LibraryEnvironment = .system) throws -> PhotoLibrary {
    PhotoLibrary(store: try LibraryStore.create(url, surroundings: environment), client: owner)
  }

  /// The same library as another client sees it, or, under the same name, with an order of blocks of its own.
  /// - Parameter client: a name such as `com.example.gallery`, 1 to 256 bytes, none of them zero.
  public func `as`(_ client: String) -> PhotoLibrary {
    precondition(
      (1...256).contains(client.utf8.count) && !client.utf8.contains(0),
      "A client's name has 1 to 256 bytes, none of them zero.")
    return PhotoLibrary(store: store, client: client, moment: moment)
  }

  /// Whether another view, of whichever client or moment, is of the same opened library.
  package func isOfSameLibrary(as other: PhotoLibrary) -> Bool {
    store.core.environment === other.store.core.environment
  }

  /// The commit that a view of the past shows; nil for the library of now.
  package var momentCommit: UInt64? { moment?.commit }

  /// The directory of the library.
  public var url: URL { store.url }

  /// Carries out what is queued and ends all observation; later changes throw `.closed`, results stay readable.
  public func close() { store.close() }

  /// The state of now, or of the moment that the view shows (PH-01).
  /// - Throws: ``LibraryError`` if the store cannot be read.
  public var currentToken: Token {
    get throws {
      try store.reading { t in
        try store.core.token(try store.head(at: moment, t).commit, for: client, by: try permission(t), t)
      }
    }
  }

  /// The earliest state since which changes are told: that before the first commit, unless the history was shortened
  /// (PH-06).
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(log² n).
  public var earliestToken: Token {
    get throws {
      try store.reading { t in
        let first = try store.firstToldCommit(at: moment, t)
        return try store.core.token(first == 0 ? 0 : first - 1, for: client, by: try permission(t), t)
      }
    }
  }

  // MARK: Changing

  /// Carries out all requests of a block as one commit, or none (CB-01, CB-06).
  ///
  /// The block is called at once, where the caller is (OB-05). Returns when the commit is durable; blocks that wait
  /// at the same time share one sync.
  ///
  /// The blocks of one `PhotoLibrary` value are committed in the order in which its `performChanges` were called, in
  /// any of their forms: the one that is called first is first, whatever has to be stored for it, and whatever is
  /// purged meanwhile. One that fails does not hold up those behind it. A later block waits until the bytes of the
  /// earlier ones are stored; blocks that need not wait for each other are sent through different values, see
  /// ``as(_:)``.
  /// - Parameters:
  ///   - cause: why, for the log: an import, a scan, a request.
  ///   - key: an idempotency key: a block whose key is known has been carried out, and its receipt is given again.
  ///   - changes: collects the requests; what it throws gives the block up.
  /// - Returns: the new state and the identifiers of what was created.
  /// - Throws: ``LibraryError`` for a request that cannot be carried out, and if the store cannot be written.
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
  /// Not for code that runs on an actor or in a task: it would block a thread that others need.
  /// - Throws: as ``performChanges(cause:key:_:)``.
  @discardableResult
  public func performChangesAndWait(
    cause: String? = nil, key: String? = nil, _ changes: (ChangeBlock) throws -> Void
  ) throws -> CommitReceipt {
    let answer = Answer()
    try submission(cause, key, changes).send { answer.give($0) }
    return try answer.wait().get()
  }

  /// The same, telling a handler what became of the block (PHPhotoLibrary.performChanges(_:completionHandler:)).
  ///
  /// Blocks are committed in the order in which they were sent, as ``performChanges(cause:key:_:)`` says, and those
  /// that wait together share one sync. The files of a block are copied on the calling thread.
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
        A change block was begun inside another; put its requests into the outer block, \
        or wait until that has returned.
        """)
    }
    let block = ChangeBlock(makeIdentifier: store.core.surroundings.identifier)
    let collecting = Collecting()
    defer {
      block.close()
      collecting.end()
    }
    try ChangeBlock.$collecting.withValue(collecting) { try changes(block) }
    if !block.uploads.isEmpty {
      guard block.requests.isEmpty else {
        throw LibraryError(
          .changeNotSupported,
          """
          A change block has requests about upload jobs and about the library, which are kept apart; \
          make two blocks of it.
          """)
      }
      try performUploads(block.uploads)
      let receipt = CommitReceipt(token: try currentToken, created: [], isRepetition: false)
      return Submission(store: store, requests: [], client: client, cause: cause, key: key, receipt: receipt)
    }
    return Submission(
      store: store, requests: block.requests, client: client, cause: cause, key: key, caller: blocks)
  }

  // MARK: Observing

  /// The exact changes of a result from now on, and of what happened since it was fetched.
  /// - Parameters:
  ///   - result: a result of this library.
  ///   - backlogLimit: how many commits that touch it are told one by one before they are composed into one change.
  public func changes<Element>(
    to result: FetchResult<Element>, composingBeyond backlogLimit: Int = 8
  ) -> ResultChanges<Element> {
    precondition(backlogLimit >= 0, "A backlog limit is a number of commits, 0 or more.")
    return ResultChanges(held: result, backlogLimit: backlogLimit)
  }

  /// Tells an observer of every commit from now on; the observer is not retained (OB-04).
  /// - Throws: ``LibraryError`` if the log cannot be read.
  public func register(_ observer: any PhotoLibraryChangeObserver) throws {
    try checkIsNow("observe changes")
    try store.observation.add(ObserverBox(ChangeListener(observer, client: client), for: observer))
  }

  /// Stops telling an observer.
  public func unregisterChangeObserver(_ observer: any PhotoLibraryChangeObserver) {
    store.observation.remove(observer, from: ChangeListener.self)
  }

  /// Tells an observer whenever the history has grown; the observer is not retained (PH-09, OB-04).
  /// - Throws: ``LibraryError`` if the log cannot be read.
  public func register(_ observer: any PhotoLibraryPersistentChangesObserver) throws {
    try checkIsNow("observe changes")
    try store.observation.add(ObserverBox(HistoryListener(observer, of: self), for: observer))
  }

  /// Stops telling an observer of the history.
  public func unregisterPersistentChangesObserver(_ observer: any PhotoLibraryPersistentChangesObserver) {
    store.observation.remove(observer, from: HistoryListener.self)
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
    guard let result else { preconditionFailure("The writer answered without an answer.") }
    return result
  }
}
