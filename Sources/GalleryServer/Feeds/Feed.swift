#if Gallery
  import Foundation
  import HTTPServing
  import LibraryJSON
  import PhotoLedger
  import Synchronization

  // A live feed: one stream of server-sent events for many fetches.
  //
  //   library.changes(to: result) ──▶ task of a fetch ──▶ message ──▶ HTTPStream ──▶ client
  //        one follower a fetch          suspended while the client is slow; commits meanwhile are composed into one
  //
  //   id: CURSOR          what the client holds after this message: each fetch of the feed with its token
  //   event: change
  //   data: {"fetch":…,"before":T,"after":T,"count":n,"removed":[[s,l]…],"inserted":…,"changed":…,"moved":[[b,a]…],…}
  //
  // The cursor is self-contained, as the name of a fetch is: with `Last-Event-ID` a feed goes on exactly where the
  // client
  // is, after any cut, in any process. It is written when the message takes its place in the stream, under the stream's
  // lock, so it never claims what another task has not sent yet.
  //
  // Two coordinate systems only: `removed` and the first of each pair in `moved` count in *before*, everything else in
  // *after*; `before` is the token of the message before, so a client that lost count notices.
  //
  // Invariant: for each fetch the messages are a chain, the `after` of one is the `before` of the next.
  //
  // Rejected: a queue of messages for each client (unbounded, or lossy); JSON Patch (order-dependent, no moves over
  // sets).

  /// A position in a feed: which fetches, and how far each was told.
  struct FeedCursor: Sendable {
    var tokens: [(fetch: FetchRequest, token: Token?)]
    static let limit = 32

    init(_ tokens: [(fetch: FetchRequest, token: Token?)]) { self.tokens = tokens }

    /// Reads the spelling of a cursor.
    init(_ text: String) throws(Problem) {
      tokens = []
      for part in text.split(separator: ",", omittingEmptySubsequences: false) {
        let words = part.split(separator: ".", omittingEmptySubsequences: false)
        guard words.count == 2, tokens.count < Self.limit else {
          throw .malformed("'\(text.prefix(40))…' is not a cursor.")
        }
        let token: Token
        do { token = try Token(words[1]) } catch { throw Problem(error) }
        tokens.append((try FetchRequest(name: String(words[0])), token))
      }
    }

    var spelled: String {
      tokens.compactMap { pair in pair.token.map { "\(pair.fetch.name).\($0)" } }.joined(separator: ",")
    }
  }

  /// A stream of events that is open.
  final class Feed: Sendable {
    private struct State {
      var cursor: FeedCursor
      var tasks: [FetchRequest: Task<Void, Never>] = [:]
      var isEnded = false
    }

    let stream = HTTPStream(heartbeat: Array(": \n\n".utf8))
    /// The name of the key that opened it.
    let key: String
    private let library: PhotoLibrary
    private let fetches: Fetches
    private let renditions: RenditionColumns
    private let announcements: RenditionAnnouncements
    private let state: Mutex<State>

    init(_ cursor: FeedCursor, key: String, renditions: RenditionColumns, fetches: Fetches) {
      (self.key, self.library, self.fetches) = (key, renditions.library, fetches)
      self.renditions = renditions
      announcements = RenditionAnnouncements(renditions, stream)
      state = Mutex(State(cursor: cursor))
    }

    /// Begins to follow the fetches of the cursor.
    func start() {
      for (fetch, token) in state.withLock({ $0.cursor.tokens }) { follow(fetch, from: token) }
    }

    /// Announces that the pictures of a content are there.
    func announce(_ hash: [UInt8]) { announcements.add(hash) }

    /// Ends the stream and all that follows for it.
    func end() {
      let tasks = state.withLock { state in
        state.isEnded = true
        defer { state.tasks = [:] }
        return state.tasks.values
      }
      for task in tasks { task.cancel() }
      stream.end()
    }

    private func follow(_ fetch: FetchRequest, from token: Token?) {
      let task = Task.detached { [self] in
        do {
          let result = try await offload { [self] in
            try Fetches.checkMayRead(library)
            return try fetches.result(fetch, at: token, of: library)
          }
          // A client without a state begins with this one; every client learns the delay before it should come back.
          if token == nil { try await send("state", Message.state(result, of: fetch), fetch, result.token) }
          for try await details in library.changes(to: result) {
            let after = details.fetchResultAfterChanges
            fetches.hold(after, of: fetch, for: library.client)
            try await send("change", try Message.change(details, of: fetch, renditions), fetch, after.token)
          }
          end()
        } catch is HTTPStreamClosed {
          end()
        } catch is CancellationError {
          return
        } catch {
          // The client learns why, and comes back by itself: EventSource does.
          let problem = Problem(error)
          let json: JSON = [
            "fetch": .text(fetch.name), "type": .text("urn:photoledger:problem:\(problem.type)"),
            "status": .integer(Int64(problem.status)), "detail": .text(problem.detail),
          ]
          try? await stream.send { Array("event: problem\ndata: \(json)\n\n".utf8) }
          end()
        }
      }
      let isLate = state.withLock { state in
        if !state.isEnded { state.tasks[fetch] = task }
        return state.isEnded
      }
      if isLate { task.cancel() }
    }

    private func send(_ event: String, _ data: JSON, _ fetch: FetchRequest, _ token: Token) async throws {
      let text = data.description
      try await stream.send { [self] in
        let cursor = state.withLock { state in
          for index in state.cursor.tokens.indices where state.cursor.tokens[index].fetch == fetch {
            state.cursor.tokens[index].token = token
          }
          return state.cursor.spelled
        }
        return Array("id: \(cursor)\nevent: \(event)\ndata: \(text)\n\n".utf8)
      }
    }
  }

  /// The messages of feeds.
  enum Message {
    /// How many inserted and changed assets a message holds; a client reads the others as windows.
    static let itemLimit = 500

    static func state(_ result: FetchResult<Asset>, of fetch: FetchRequest) -> JSON {
      [
        "fetch": .text(fetch.name), "token": .text(result.token.description), "count": .integer(Int64(result.count)),
      ]
    }

    static func change(
      _ details: ChangeDetails<Asset>, of fetch: FetchRequest, _ renditions: RenditionColumns
    ) throws -> JSON {
      let after = details.fetchResultAfterChanges
      let inserted = details.insertedIndexes ?? []
      let changed = details.changedIndexes ?? []
      let touched = inserted.union(changed)
      let indexes = IndexSet(touched.prefix(itemLimit))
      return [
        "fetch": .text(fetch.name),
        "before": .text(details.fetchResultBeforeChanges.token.description),
        "after": .text(after.token.description),
        "count": .integer(Int64(after.count)),
        "removed": JSON(ranges: details.removedIndexes ?? []),
        "inserted": JSON(ranges: inserted),
        "changed": JSON(ranges: changed),
        "moved": .list(details.moved.map { JSON([$0.before, $0.after]) }),
        "items": [
          "indexes": JSON(ranges: indexes), "columns": try Columns.json(try after.objects(at: indexes), renditions),
          "isComplete": .bool(touched.count <= itemLimit),
        ],
        "cause": JSON(details.commits.last?.cause),
      ]
    }
  }

  /// The feeds that are open.
  final class Feeds: Sendable {
    private let open = Mutex<[ObjectIdentifier: Feed]>([:])

    var count: Int { open.withLock { $0.count } }

    /// Opens a feed: it is followed until its client leaves or it is ended.
    func add(_ feed: Feed) {
      open.withLock { $0[ObjectIdentifier(feed)] = feed }
      feed.stream.onClose { [self] in
        open.withLock { $0[ObjectIdentifier(feed)] = nil }
        feed.end()
      }
      feed.start()
    }

    func end(ofKey key: String) {
      for feed in open.withLock({ $0.values.filter { $0.key == key } }) { feed.end() }
    }

    /// Announces to all feeds that the pictures of a content are there; each passes it on only if its client may see
    /// them.
    func announce(_ hash: [UInt8]) { for feed in open.withLock({ Array($0.values) }) { feed.announce(hash) } }

    func endAll() { for feed in open.withLock({ Array($0.values) }) { feed.end() } }
  }

  /// Feeds over HTTP.
  enum FeedRoutes {
    static let all: [Route] = [
      Route("GET", "/v1/feed") { server, call in
        try call.checkQuery(["fetch", "after"])
        let library = try call.library()
        guard let key = call.key else { throw Problem.signInRequired }
        try Fetches.checkMayRead(library)
        let feed = Feed(
          try cursor(call), key: key.name, renditions: try call.renditionColumns(), fetches: server.fetches)
        let fields = [
          ("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"), ("X-Accel-Buffering", "no"),
        ]
        if call.request.method != "HEAD" { server.feeds.add(feed) }
        return .answer(HTTPResponse(200, Headers.common + fields, .stream(feed.stream)))
      },
      .reading("GET", "/v1/fetches/{fetch}/changes") { call in
        try call.checkQuery(["after"])
        let library = try call.library()
        try Fetches.checkMayRead(library)
        guard let after = try call.query("after") else { throw Problem.malformed("'after' is missing; pass a token.") }
        let fetch = try FetchRequest(name: call.parameters[0])
        let before = try call.server.fetches.result(fetch, at: try Token(after), of: library)
        let details = try library.changeDetails(from: before, to: try library.currentToken)
        call.server.fetches.hold(details.fetchResultAfterChanges, of: fetch, for: library.client)
        return .json(
          try Message.change(details, of: fetch, try call.renditionColumns()), [("Cache-Control", "no-store")])
      },
    ]

    /// Where a feed begins: at the cursor of a client that comes back, or at what the query says.
    private static func cursor(_ call: Call) throws -> FeedCursor {
      if let last = call.request.fields["last-event-id"], !last.isEmpty { return try FeedCursor(last) }
      let names = call.request.target.query.all("fetch")
      guard (1...FeedCursor.limit).contains(names.count), Set(names).count == names.count else {
        throw Problem.malformed("A feed has 1 to \(FeedCursor.limit) different fetches; pass 'fetch' for each.")
      }
      let tokens = call.request.target.query.all("after")
      guard tokens.isEmpty || tokens.count == names.count else {
        throw Problem.malformed("Pass 'after' for each 'fetch', in the same order, or for none.")
      }
      return FeedCursor(
        try names.enumerated().map { index, name in
          (try FetchRequest(name: name), tokens.isEmpty ? nil : try Token(tokens[index]))
        })
    }
  }
#endif
