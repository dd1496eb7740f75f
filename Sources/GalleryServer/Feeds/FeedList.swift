#if Gallery
  import JSONReading
  import LibraryJSON
  import PhotoLedger

  // What feeds and polls can follow. All have one form of messages: a list at a token, and the steps that lead it on.
  //
  //   FetchRequest ─ subject ─┬─ assets ──────▶ FetchResult<Asset>            items: columns
  //                           ├─ collections ─▶ FetchResult<PhotoCollection>  items: objects
  //                           └─ log ─────────▶ LogList                       items: records
  //
  // Rejected: a stream for each subject (a page would hold several cursors, which could be of different states).

  /// A list at a state, which changes lead on.
  protocol FeedList: Sendable {
    associatedtype Changes: FeedChanges where Changes.Change.List == Self

    /// - Throws: ``Problem`` 403 for a client that may not follow such a list.
    static func checkMayFollow(_ library: PhotoLibrary) throws
    /// Reads the list.
    /// - Parameter token: the state; nil: now.
    static func run(
      _ fetch: FetchRequest, at token: Token?, of library: PhotoLibrary, _ fetches: Fetches
    ) throws -> Self

    /// Checks that the list is the one that its state showed.
    /// - Throws: ``LibraryError`` `.tokenExpired` if what it showed is no longer known, since assets were erased.
    func checkIsExact() throws

    var token: Token { get }
    var count: Int { get }
    /// How many keys it keeps in memory, shown or not.
    var keyCount: Int { get }
    /// Keeps a list to which a message led, where windows are read of it.
    func hold(of fetch: FetchRequest, for client: String, _ fetches: Fetches)
    /// What leads the list on, as it is committed.
    func changes(in library: PhotoLibrary, _ watch: AccessWatch) -> Changes
    /// What leads the list to a later state.
    func change(to now: Token, in library: PhotoLibrary) throws -> Changes.Change
  }

  extension FeedList {
    static func checkMayFollow(_ library: PhotoLibrary) throws { try Fetches.checkMayRead(library) }
    func checkIsExact() throws {}

    /// Reads the list that a client holds; nil if it is no longer known, so that the client needs a state anew.
    static func held(
      _ fetch: FetchRequest, at token: Token, of library: PhotoLibrary, _ fetches: Fetches
    ) throws -> Self? {
      let list = try run(fetch, at: token, of: library, fetches)
      do { try list.checkIsExact() } catch let error as LibraryError where error.code == .tokenExpired { return nil }
      return list
    }

    /// Reads the list at which a client begins.
    /// - Parameter token: the state that the client holds; nil: none.
    /// - Returns: the list, and whether the client holds it; if not, it is that of now.
    static func start(
      _ fetch: FetchRequest, from token: Token?, of library: PhotoLibrary, _ fetches: Fetches
    ) throws -> (list: Self, isHeld: Bool) {
      try checkMayFollow(library)
      if let token, let held = try held(fetch, at: token, of: library, fetches) { return (held, true) }
      return (try run(fetch, at: nil, of: library, fetches), false)
    }

    func hold(of fetch: FetchRequest, for client: String, _ fetches: Fetches) {}
  }

  /// The steps that lead a list on, read and waited for apart: a task that waits for long keeps no room for a step.
  protocol FeedChanges: Sendable {
    associatedtype Change: FeedChange
    /// Begins to follow, if it was not begun before: what is kept in memory is made.
    func begin() throws
    /// What is kept in memory; nil for a list without keys.
    var orders: FollowedOrders? { get }
    /// The next step; nil if there is none yet.
    func next() async throws -> Change?
    /// Waits, after ``next()`` found nothing, until there may be a step; false when there will be none any more.
    func wait() async throws -> Bool
  }

  extension FeedChanges {
    /// Waits for a step; one that cannot be read ends the waiting.
    func waitForStep() async { while (try? await next() == nil) == true, (try? await wait()) == true {} }
  }

  /// A step of a list.
  protocol FeedChange: Sendable {
    associatedtype List: FeedList
    var tokenBefore: Token { get }
    var listAfter: List { get }
    /// Whether it has a message of at most so many ranges.
    func isSmall(_ rangeLimit: Int) -> Bool
    /// Whether its message shows nothing.
    var isUnseen: Bool { get }
    /// The message.
    func json(of fetch: FetchRequest, sections: SectionChoice?, _ renditions: RenditionColumns) throws -> JSON
  }

  extension FetchRequest {
    /// What the fetch is a list of.
    var list: any FeedList.Type {
      switch subject {
      case .assets: FetchResult<Asset>.self
      case .collections: FetchResult<PhotoCollection>.self
      case .log: LogList.self
      }
    }
  }

  extension FetchResult: FeedList where Element: FeedElement {
    static func run(
      _ fetch: FetchRequest, at token: Token?, of library: PhotoLibrary, _ fetches: Fetches
    ) throws -> FetchResult { try Element.run(fetch, at: token, of: library, fetches) }

    func hold(of fetch: FetchRequest, for client: String, _ fetches: Fetches) {
      Element.hold(self, of: fetch, for: client, fetches)
    }

    func changes(in library: PhotoLibrary, _ watch: AccessWatch) -> PendingChanges<Element> {
      library.changes(to: self).pending
    }

    func change(to now: Token, in library: PhotoLibrary) throws -> ChangeDetails<Element> {
      try library.changeDetails(from: self, to: now)
    }
  }

  extension PendingChanges: FeedChanges where Element: FeedElement {
    var orders: FollowedOrders? { followedOrders }
  }

  extension ChangeDetails: FeedChange where Element: FeedElement {
    var tokenBefore: Token { fetchResultBeforeChanges.token }
    var listAfter: FetchResult<Element> { fetchResultAfterChanges }
    func isSmall(_ rangeLimit: Int) -> Bool { Message.isSmall(self, limit: rangeLimit) }
    var isUnseen: Bool { Message.isEmpty(self) }

    func json(of fetch: FetchRequest, sections: SectionChoice?, _ renditions: RenditionColumns) throws -> JSON {
      try Message.change(self, of: fetch, sections: sections, renditions)
    }
  }
#endif
