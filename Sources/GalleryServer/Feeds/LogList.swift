#if Gallery
  import Foundation
  import JSONReading
  import LibraryAudit
  import LibraryJSON
  import PhotoLedger
  import Synchronization

  // The log as a list that is followed: its events in their order, the event of sequence n at index n - 1.
  //
  //   commit of any process ─▶ AccessWatch ─▶ where does the log end now? ─▶ inserted: [[end before, events since]]
  //
  // The log only grows at its end, so a step is known by the two ends, and a reader that was slow gets one step for all
  // that it missed. A message has the first events of the step as GET /v1/log prints them; the others are read there.
  //
  // Invariant: each step is made for a client that has full access at that time, see ``checkMayFollow(_:)``. A client
  // that loses it gets nothing that was committed since; one that gained it later may begin at any state, as at
  // /v1/log.

  /// The log up to a commit.
  struct LogList: FeedList {
    let token: Token
    /// How many events there are: the sequence of the last one.
    let count: Int
    var keyCount: Int { 0 }

    /// Reads `GET /v1/log` as well: only with full access.
    static func checkMayFollow(_ library: PhotoLibrary) throws {
      guard try library.authorizationStatus(for: .readWrite) == .authorized else {
        throw Problem(403, "access-denied", "The client '\(library.client)' needs full access to follow the log.")
      }
    }

    static func run(
      _ fetch: FetchRequest, at token: Token?, of library: PhotoLibrary, _ fetches: Fetches
    ) throws -> LogList {
      guard let token else { return try LogList(endOf: library) }
      return try LogList(endOf: library, at: token)
    }

    /// The log as it ends now.
    init(endOf library: PhotoLibrary) throws {
      try Self.checkMayFollow(library)
      // A commit between the two readings is seen in the third.
      while true {
        let sequence = try library.lastSequence
        let token = try library.currentToken
        guard try library.lastSequence == sequence else { continue }
        // A client that lost its access meanwhile learns nothing of it.
        try Self.checkMayFollow(library)
        (self.token, count) = (token, Int(clamping: sequence))
        return
      }
    }

    private init(endOf library: PhotoLibrary, at token: Token) throws {
      try Self.checkMayFollow(library)
      (self.token, count) = (token, Int(clamping: try library.lastSequence(at: token)))
    }

    func changes(in library: PhotoLibrary, _ watch: AccessWatch) -> LogChanges {
      LogChanges(list: self, library: library, watch: watch)
    }

    func change(to now: Token, in library: PhotoLibrary) throws -> LogChange {
      LogChange(before: self, listAfter: try LogList(endOf: library, at: now), library: library)
    }
  }

  /// Events that were added to the log.
  struct LogChange: FeedChange {
    /// How many events a message has at most, and how many bytes of them; a client reads the others as pages of the
    /// log.
    static let recordLimit = 100
    static let byteLimit = 1 << 16

    let before: LogList
    let listAfter: LogList
    let library: PhotoLibrary

    var tokenBefore: Token { before.token }
    func isSmall(_ rangeLimit: Int) -> Bool { true }
    var isUnseen: Bool { before.count == listAfter.count }

    func json(of fetch: FetchRequest, sections: SectionChoice?, _ renditions: RenditionColumns) throws -> JSON {
      var filter = LogFilter()
      filter.after = before.token
      var (records, byteCount, cause) = ([JSON](), 0, String?.none)
      if !isUnseen {
        try library.forEachLogEntry(filter, limit: Self.recordLimit) { entry in
          guard entry.sequence <= UInt64(listAfter.count) else { return false }
          let text = JSON(entry).description
          guard byteCount + text.utf8.count <= Self.byteLimit else { return false }
          records.append(.written(text))
          (byteCount, cause) = (byteCount + text.utf8.count, entry.commit.cause)
          return true
        }
      }
      let count = listAfter.count - before.count
      let isComplete = records.count == count
      if !isComplete {
        try library.at(listAfter.token).forEachLogEntry(newestFirst: true, limit: 1) { entry in
          cause = entry.commit.cause
          return false
        }
      }
      let indexes = IndexSet(integersIn: before.count..<(before.count + records.count))
      return Message.change(
        of: fetch, from: before.token, to: listAfter,
        inserted: IndexSet(integersIn: before.count..<(before.count + count)),
        items: .object([
          .init("indexes", JSON(ranges: indexes)), .init("records", .list(records)),
          .init("isComplete", .bool(isComplete)),
        ]), sections: sections == nil ? nil : .null, cause: cause)
    }
  }

  /// The steps of the log, as it is committed.
  final class LogChanges: FeedChanges {
    private struct State {
      var held: LogList
      /// The generation of the watch before the last reading.
      var generation: UInt64 = 0
    }

    private let state: Mutex<State>
    private let library: PhotoLibrary
    private let watch: AccessWatch

    init(list: LogList, library: PhotoLibrary, watch: AccessWatch) {
      state = Mutex(State(held: list))
      (self.library, self.watch) = (library, watch)
    }

    func begin() {}
    var orders: FollowedOrders? { nil }

    /// The next step; nil if there is none.
    /// - Throws: ``Problem`` 403 when the client has no full access any more.
    func next() async throws -> LogChange? {
      if watch.isEnded { return nil }
      // Read before the end of the log: a commit after that reading ends the wait.
      let generation = watch.generation
      let now = try await offload { [library] in try LogList(endOf: library) }
      return state.withLock { state in
        state.generation = generation
        guard now.count > state.held.count else { return nil }
        defer { state.held = now }
        return LogChange(before: state.held, listAfter: now, library: library)
      }
    }

    /// Waits until something may have been committed; false when the server has stopped.
    func wait() async throws -> Bool {
      let generation = state.withLock { $0.generation }
      try Task.checkCancellation()
      if !watch.isEnded { await watch.next(after: generation, seconds: 3600) }
      try Task.checkCancellation()
      return !watch.isEnded
    }
  }
#endif
