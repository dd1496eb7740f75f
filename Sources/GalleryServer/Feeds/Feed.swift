#if Gallery
  import Foundation
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger
  import Synchronization

  // A live feed: one stream of server-sent events for many fetches.
  //
  //   list.changes(in: library) ───▶ task of a fetch ──▶ message ──▶ HTTPStream ──▶ client
  //        one follower a fetch          suspended while the client is slow; commits meanwhile are composed into one
  //
  //   event: feed         the name of the stream, by which fetches are added and removed while it is open
  //   id: CURSOR          what the client holds after this message: each fetch of the feed with its token
  //   event: change
  //   data: {"fetch":…,"before":T,"after":T,"count":n,"removed":[[s,l]…],"inserted":…,"changed":…,"moved":[[b,a]…],…}
  //
  // The cursor is self-contained, as the name of a fetch is: with `Last-Event-ID` a feed goes on exactly where the
  // client is, after any cut, in any process. It is written when the message takes its place in the stream, under the
  // stream's lock, so it never claims what another task has not sent yet: a fetch whose state was not sent is in it
  // without a token. The name of the stream is good while the stream is open.
  //
  // Two coordinate systems only: `removed` and the first of each pair in `moved` count in *before*, everything else in
  // *after*; `before` is the token of the message before, so a client that lost count notices.
  //
  // Memory. A feed holds one chunk and, for each of at most 32 fetches, a result, whose tree is counted
  // (FollowedLists.swift). A message has at most 500 assets and 10,000 ranges: a larger change is sent as a state, from
  // which the client reads windows anew. The task of a fetch mostly waits, and a task keeps the largest stack that it
  // ever had; what needs more than waiting does is done in a task of its own (`apart`), and what the waiting functions
  // pass along is one reference (`Following`).
  //
  // Invariant: for each fetch the messages are a chain, the `after` of one is the `before` of the next, until a state
  // begins a new one. A fetch that was removed and added again is another chain: a message of the old one that is late
  // is dropped (`State.has`).
  //
  // Invariant: a change never shows an older state of a picture than an `event: rendition` before it. One that waits
  // for a slow client is encoded again if such an event was sent meanwhile (`Overtaken`); the next events wait until it
  // is sent, so that it is encoded twice at most.
  //
  // Rejected: a queue of messages for each client (unbounded, or lossy); JSON Patch (order-dependent, no moves over
  // sets); ending the stream for a fetch that fails, since the others of the client are not affected.

  /// A stream of events that is open.
  final class Feed: Sendable {
    /// A fetch that is followed; another one after it was removed and added again.
    private final class Following: Sendable {
      let fetch: FetchRequest
      /// The state that the client holds at the beginning; nil: the stream sends one.
      let start: Token?
      /// Since when it lags, in nanoseconds of the monotonic clock: from the wake-up that may bring a change until all
      /// changes are sent; 0 while it does not.
      private let lagStart = Atomic(DispatchTime.now().uptimeNanoseconds)

      init(_ fetch: FetchRequest, from start: Token?) { (self.fetch, self.start) = (fetch, start) }

      var lags: Bool {
        get { lagStart.load(ordering: .relaxed) != 0 }
        set { lagStart.store(newValue ? DispatchTime.now().uptimeNanoseconds : 0, ordering: .relaxed) }
      }

      var lagSeconds: Double {
        let start = lagStart.load(ordering: .relaxed)
        return start == 0 ? 0 : Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
      }
    }

    private struct State {
      var cursor: FeedCursor
      /// At most as many as a cursor has.
      var following: [(one: Following, task: Task<Void, Never>?)] = []
      var isEnded = false

      /// Whether it is followed still.
      func has(_ one: Following) -> Bool { following.contains { $0.one === one } }
    }

    /// Pictures were announced to the client after a message was encoded, which may show an older state of them.
    private struct Overtaken: Error {}

    /// How soon a client comes back after the stream has ended.
    static let retryMilliseconds = 2000

    /// What a stream of events sends when nothing else was; one array for all of them.
    static let heartbeat = Array(": \n\n".utf8)

    let stream = HTTPStream(heartbeat: heartbeat)
    /// What names the stream in URLs while it is open.
    let name: String
    /// The key that opened it; nothing is delivered once it has expired.
    private let holder: Keyring.Key
    /// Who asked for it; the record of the request says why it failed.
    private let sender: HTTPSender
    private let now: @Sendable () -> Date
    /// The library as the server sees it.
    private let whole: PhotoLibrary
    private let fetches: Fetches
    private let watch: AccessWatch
    private let sections: SectionChoice?
    private let rangeLimit: Int
    private let renditions: RenditionColumns
    private let messages: EncodedMessages
    private let followed: FollowedLists
    let announcements: RenditionAnnouncements
    private let state: Mutex<State>

    init(
      _ cursor: FeedCursor, name: String, key: Keyring.Key, sections: SectionChoice?, of library: PhotoLibrary,
      _ fetches: Fetches, _ watch: AccessWatch, _ renditions: Renditions, _ messages: EncodedMessages,
      _ followed: FollowedLists, rangeLimit: Int, now: @escaping @Sendable () -> Date, sender: HTTPSender
    ) {
      (self.name, holder, self.sections, self.sender) = (name, key, sections, sender)
      (whole, self.fetches, self.watch, self.now) = (library, fetches, watch, now)
      // A view of its own has a queue for blocks, which a feed does not need.
      let view = library.client.exact == key.client.exact ? library : library.as(key.client)
      self.renditions = RenditionColumns(library: view, renditions: renditions)
      (self.messages, self.followed, self.rangeLimit) = (messages, followed, rangeLimit)
      announcements = RenditionAnnouncements(self.renditions, stream)
      state = Mutex(State(cursor: cursor))
    }

    /// The name of the key that opened it.
    var key: String { holder.name }
    /// The share link that its key was made for; nil for another key.
    var share: String? { holder.share?.name }

    private func isExpired() -> Bool { now() >= holder.expires }

    /// The library as a fetch looks at it, see ``Call/library(of:)``; one object for all fetches of the key's client.
    private func view(_ fetch: FetchRequest) throws -> PhotoLibrary {
      let library = try fetch.view(of: whole, for: holder)
      return library.client.exact == renditions.library.client.exact ? renditions.library : library
    }

    /// Begins to follow the fetches of the cursor.
    func start() {
      let head = "retry: \(Self.retryMilliseconds)\nevent: feed\ndata: \(JSON.object([.init("feed", .text(name))]))\n\n"
      Task.detached { [self] in
        // A client that has left by now is noticed by `onClose`.
        try? await stream.send { Array(head.utf8) }
        for (fetch, token) in state.withLock({ $0.cursor.tokens }) { follow(fetch, from: token) }
      }
    }

    /// For how long it has had changes that its client has not taken, in seconds: of its fetches the one that lags
    /// most, or what was written of it and waits for the client to read. 0 if it does not lag.
    var lagSeconds: Double {
      let following = state.withLock { $0.following.map(\.one) }
      return following.reduce(stream.waitingSeconds) { max($0, $1.lagSeconds) }
    }

    /// Announces that the pictures or the film of a content are there, or have failed.
    func announce(_ hash: [UInt8]) { if !isExpired() { announcements.add(hash) } }

    /// Ends the stream and all that follows for it.
    func end() {
      let following = state.withLock { state in
        state.isEnded = true
        defer { state.following = [] }
        return state.following
      }
      for one in following { one.task?.cancel() }
      stream.end()
    }

    /// Adds a fetch.
    /// - Parameter token: the state that the client holds; nil: the stream sends one.
    /// - Throws: ``Problem`` 409 if the feed has the fetch, 400 if it has as many as it may, 404 if it has ended.
    func add(_ fetch: FetchRequest, from token: Token?) throws(Problem) {
      try state.withLock { state throws(Problem) in
        guard !state.isEnded else { throw .notFound }
        guard !state.cursor.tokens.contains(where: { $0.fetch == fetch }) else {
          throw Problem(409, "conflict", "The feed already has this fetch; remove it first to start again.")
        }
        var cursor = state.cursor
        cursor.tokens.append((fetch, token))
        try cursor.check()
        state.cursor = cursor
      }
      follow(fetch, from: token)
    }

    /// Removes a fetch; at most one message of it is still on its way.
    /// - Returns: whether the feed had it.
    func remove(_ fetch: FetchRequest) -> Bool {
      let (isThere, task) = state.withLock { state in
        let count = state.cursor.tokens.count
        state.cursor.tokens.removeAll { $0.fetch == fetch }
        let place = state.following.firstIndex { $0.one.fetch == fetch }
        return (state.cursor.tokens.count < count, place.flatMap { state.following.remove(at: $0).task })
      }
      task?.cancel()
      return isThere
    }

    private func follow(_ fetch: FetchRequest, from token: Token?) {
      let one = Following(fetch, from: token)
      let isNew = state.withLock { state in
        guard !state.isEnded, state.cursor.tokens.contains(where: { $0.fetch == fetch }),
          !state.following.contains(where: { $0.one.fetch == fetch })
        else { return false }
        // Most feeds have one fetch, and there are thousands of them.
        if state.following.isEmpty { state.following.reserveCapacity(1) }
        state.following.append((one, nil))
        return true
      }
      guard isNew else { return }
      let task = Task.detached { [self] in
        do {
          try await deliver(one)
          // The library was closed, or the server stops.
          end()
        } catch is HTTPStreamClosed {
          end()
        } catch is CancellationError {
          return
        } catch {
          await fail(one, error)
        }
      }
      let isLate = state.withLock { state in
        guard let place = state.following.firstIndex(where: { $0.one === one }) else { return true }
        state.following[place].task = task
        return false
      }
      if isLate { task.cancel() }
    }

    /// Delivers the changes of a fetch until it is removed or the feed ends.
    private func deliver(_ one: Following) async throws {
      let library = try view(one.fetch)
      let list = try await apart { [self] in try await begin(one, as: one.fetch.list, library) }
      defer { list.leave() }
      while true {
        try await apart { [self] in
          try await pass(list.changes, of: one, library, list)
          list.settle()
        }
        one.lags = false
        guard try await list.changes.wait() else { break }
        one.lags = true
      }
      try Task.checkCancellation()
    }

    /// Reads the list at which a fetch begins, and sends its state to a client that holds none, or one that is no
    /// longer known.
    /// - Returns: the list, whose memory is counted.
    private func begin<List: FeedList>(
      _ one: Following, as _: List.Type, _ library: PhotoLibrary
    ) async throws -> FollowedList {
      let (list, isHeld, place) = try await offload { [self] () throws -> (List, Bool, FollowedList) in
        let begun = try List.start(one.fetch, from: one.start, of: library, fetches)
        // Followed before its state is sent: a client that does not read keeps it.
        let changes = begun.list.changes(in: library, watch)
        let place = try followed.follow(changes, for: holder) { [self] in end() }
        // Changes are sent by tasks, which must not wait for the list of all pictures.
        renditions.renditions.prepare()
        return (begun.list, begun.isHeld, place)
      }
      if !isHeld {
        try await send("state", Message.state(list, of: one.fetch).description, one, list.token)
      }
      return place
    }

    /// Sends the changes of a fetch that are there.
    private func pass(
      _ changes: some FeedChanges, of one: Following, _ library: PhotoLibrary, _ list: FollowedList
    ) async throws {
      while let change = try await changes.next() {
        // Beside what it leads from, which is kept until it is sent.
        list.add()
        try await pass(change, of: one, library)
        // Each time: under steady commits there is a next change for a long while.
        list.settle()
      }
    }

    /// Sends a change of a fetch.
    private func pass(_ change: some FeedChange, of one: Following, _ library: PhotoLibrary) async throws {
      let fetch = one.fetch
      let renditions = RenditionColumns(library: library, renditions: renditions.renditions)
      let after = change.listAfter
      after.hold(of: fetch, for: library.client, fetches)
      guard change.isSmall(rangeLimit) else {
        return try await send("state", Message.state(after, of: fetch).description, one, after.token)
      }
      do {
        try await encode(change, of: one, after.token, renditions)
      } catch is Overtaken {
        announcements.hold()
        defer { announcements.release() }
        try await encode(change, of: one, after.token, renditions)
      }
    }

    /// Encodes a change of a fetch and sends it.
    /// - Throws: ``Overtaken`` if pictures were announced meanwhile; then it was not sent.
    private func encode(
      _ change: some FeedChange, of one: Following, _ after: Token, _ renditions: RenditionColumns
    ) async throws {
      // Read first: what is announced later may not be in the message.
      let announced = announcements.sentCount
      let name = EncodedMessages.Name(
        client: renditions.library.client.exact, fetch: one.fetch, before: change.tokenBefore, after: after,
        sections: sections?.tag, renditions: renditions.renditions.revision)
      let message = try messages.message(name) { try change.json(of: one.fetch, sections: sections, renditions) }
      try await send("change", message.text, one, after, alone: message.cursor, announced: announced)
    }

    /// Reports why a fetch is no longer followed; the others go on.
    private func fail(_ one: Following, _ error: any Error) async {
      let problem = Problem(error)
      if let note = problem.note { sender.note = note }
      // A client that has left needs no reason.
      try? await send("problem", Message.problem(problem, of: one.fetch).description, one, nil)
      let isLast = state.withLock { $0.cursor.tokens.isEmpty }
      // Its client comes back by itself, and is answered with a status then.
      if isLast { end() }
    }

    /// Sends a message of a fetch, unless the fetch was removed.
    /// - Parameters:
    ///   - token: the state that it leads to; nil: the fetch is removed.
    ///   - alone: the cursor after it of a feed that has no other fetch, if it is spelled already.
    ///   - announced: how many events of pictures were sent before it was encoded; nil if it says nothing of pictures.
    /// - Throws: ``Overtaken`` if more were sent since; then it was not sent.
    private func send(
      _ event: String, _ text: String, _ one: Following, _ token: Token?, alone: String? = nil, announced: Int? = nil
    ) async throws {
      try await stream.send { [self] in
        let cursor = try state.withLock { state -> String? in
          guard state.has(one), !isExpired() else { return nil }
          if let announced, announcements.sentCount != announced { throw Overtaken() }
          if let token {
            state.cursor.set(token, of: one.fetch)
          } else {
            state.cursor.remove(one.fetch)
            state.following.removeAll { $0.one === one }
          }
          return state.cursor.tokens.count == 1 ? alone ?? state.cursor.spelled : state.cursor.spelled
        }
        guard let cursor else { return [] }
        return Array("id: \(cursor)\nevent: \(event)\ndata: \(text)\n\n".utf8)
      }
      guard isExpired() else { return }
      end()
      throw CancellationError()
    }
  }

  /// Does work in a task of its own, whose stack is given back when it ends. Cancelling the task that waits for it does
  /// not cut it short.
  func apart<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
    try await Task.detached(operation: work).value
  }

  /// The feeds that are open, and the polls that wait.
  final class Feeds: Sendable {
    private struct State {
      var open: [String: Feed] = [:]
      var polls: [Int: (key: Keyring.Key, task: Task<Void, Never>)] = [:]
      var lastPoll = 0
      var isEnding = false
    }

    private let state = Mutex(State())

    /// How many ranges a message of a feed has; what is set here holds for feeds that are opened afterwards.
    let rangeLimit = Atomic(Message.rangeLimit)

    var count: Int { state.withLock { $0.open.count } }
    /// How long the feed that lags most does, in seconds; 0 if none lags.
    var lagSeconds: Double { state.withLock { Array($0.open.values) }.reduce(0) { max($0, $1.lagSeconds) } }
    /// How many polls wait.
    var pollCount: Int { state.withLock { $0.polls.count } }

    /// Opens a feed: it is followed until its client leaves or it is ended.
    /// - Parameters:
    ///   - limit: how many feeds its key may have.
    ///   - shareLimit: how many feeds the keys of its share link may have together.
    /// - Throws: ``Problem`` 429 if they have as many.
    func add(_ feed: Feed, limit: Int, ofShare shareLimit: Int = .max) throws(Problem) {
      let refusal = state.withLock { state -> Problem? in
        let open = state.open.values
        guard limit == .max || open.count(where: { $0.key == feed.key }) < limit else {
          return .tooMany("This key has \(limit) feeds open; close one, or follow more in one feed.", seconds: 5)
        }
        guard feed.share == nil || open.count(where: { $0.share == feed.share }) < shareLimit else {
          return .tooMany("The visitors of this link have \(shareLimit) feeds open; try again later.", seconds: 5)
        }
        state.open[feed.name] = feed
        return nil
      }
      if let refusal { throw refusal }
      feed.stream.onClose { [self] in
        state.withLock { $0.open[feed.name] = nil }
        feed.end()
      }
      feed.start()
    }

    /// The names of the keys that opened the feeds and wait in polls.
    var keys: Set<String> {
      state.withLock { state in Set(state.open.values.map(\.key) + state.polls.values.map(\.key.name)) }
    }

    /// The feed of a name that a key opened.
    /// - Throws: ``Problem`` 404 if there is none, or if it is another key's.
    func feed(_ name: String, ofKey key: String?) throws(Problem) -> Feed {
      guard let feed = state.withLock({ $0.open[name] }), feed.key == key else { throw .notFound }
      return feed
    }

    /// Waits for something to end, which the end of the key or of the server cuts short.
    /// - Parameter limits: how many polls of the key, and of the keys of its share link together, may wait.
    /// - Throws: ``Problem`` 429 if as many do.
    func wait(
      of key: Keyring.Key, _ limits: GalleryLimits, _ body: @escaping @Sendable () async -> Void
    ) async throws(Problem) {
      let (limit, shareLimit) = (limits.feeds(of: key), limits.feedsOfShare)
      let (number, task) = try state.withLock { (state) throws(Problem) -> (Int, Task<Void, Never>) in
        let polls = state.polls.values
        guard limit == .max || polls.count(where: { $0.key.name == key.name }) < limit else {
          throw Problem.tooMany("This key has \(limit) polls waiting; wait for one to end.", seconds: 5)
        }
        guard key.share == nil || polls.count(where: { $0.key.share?.name == key.share?.name }) < shareLimit else {
          throw Problem.tooMany(
            "The visitors of this link have \(shareLimit) polls waiting; try again later.", seconds: 5)
        }
        let task = Task.detached { await body() }
        state.lastPoll += 1
        state.polls[state.lastPoll] = (key, task)
        if state.isEnding { task.cancel() }
        return (state.lastPoll, task)
      }
      await task.value
      state.withLock { $0.polls[number] = nil }
    }

    func end(ofKey key: String) {
      let (feeds, polls) = state.withLock { state in
        (state.open.values.filter { $0.key == key }, state.polls.values.filter { $0.key.name == key })
      }
      for feed in feeds { feed.end() }
      for poll in polls { poll.task.cancel() }
    }

    /// Announces to all feeds that the pictures or the film of a content are there, or have failed; each passes it on
    /// only if its client may see them.
    func announce(_ hash: [UInt8]) {
      for feed in state.withLock({ Array($0.open.values) }) { feed.announce(hash) }
    }

    func endAll() {
      let (feeds, polls) = state.withLock { state in
        state.isEnding = true
        return (Array(state.open.values), Array(state.polls.values))
      }
      for feed in feeds { feed.end() }
      for poll in polls { poll.task.cancel() }
    }
  }
#endif
