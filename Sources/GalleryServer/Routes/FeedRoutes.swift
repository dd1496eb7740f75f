#if Gallery
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger
  import Synchronization

  /// Feeds over HTTP.
  enum FeedRoutes {
    static let all: [Route] = [
      Route("GET", "/v1/feed") { _, call in
        try call.checkQuery(["fetch", "after", "sections", "timeZone"])
        guard let key = call.key else { throw Problem.signInRequired }
        try Fetches.checkMayRead(try call.library())
        let cursor = try FeedCursor(call, orAt: call.request.fields["last-event-id"])
        try cursor.check()
        let sections = try SectionChoice(call)
        return .respond { _ in
          do {
            try await offload { try checkCanFollowAny(cursor, call) }
            return try open(cursor, key, sections, call)
          } catch { return Problem(error).response }
        }
      },
      .gathering("POST", "/v1/feeds/{feed}/fetches") { call, body in
        try call.checkQuery([])
        let feed = try call.server.feeds.feed(call.parameters[0], ofKey: call.key?.name)
        let json = try JSONReader.read(body)
        guard let members = json.objectValue, members.allSatisfy({ ["fetch", "after"].contains($0.key) }),
          let name = json["fetch"]?.textValue
        else {
          throw Problem.malformed("The body needs 'fetch', the name of a fetch, and may have 'after', a token.")
        }
        let after = json["after"] ?? .null
        guard after == .null || after.textValue != nil else {
          throw Problem.malformed("'after' is \(after.kind); pass a token.")
        }
        let fetch = try call.server.fetches.request(named: name)
        try fetch.list.checkMayFollow(try call.library(of: fetch))
        let token = try after.textValue.map { try Token($0) }
        try feed.add(fetch, from: try token.flatMap { try call.isBeforeOpening($0) ? nil : $0 })
        return .json(
          ["feed": .text(feed.name), "fetch": .text(name)], status: 201,
          [("Location", "/v1/feeds/\(feed.name)/fetches/\(name)"), ("Cache-Control", "no-store")])
      }.needing(.read),
      .reading("DELETE", "/v1/feeds/{feed}/fetches/{fetch}") { call in
        try call.checkQuery([])
        let feed = try call.server.feeds.feed(call.parameters[0], ofKey: call.key?.name)
        guard feed.remove(try FetchRequest(name: call.parameters[1])) else { throw Problem.notFound }
        return HTTPResponse(204, Headers.common)
      }.needing(.read),
      .answering("GET", "/v1/changes") { call in
        try call.checkQuery(["fetch", "after", "cursor", "wait", "sections", "timeZone"])
        let cursor = try FeedCursor(call, orAt: call.query("cursor"))
        try cursor.check()
        let answer = try await poll(call, cursor).read(waiting: try Poll.seconds(call), call)
        let last = JSON.Member("cursor", .text(answer.cursor.spelled))
        if Records.wantsLines(call.request) { return try Records.lines(answer.messages + [.object([last])], call) }
        return .json(.object([last, .init("messages", .list(answer.messages))]), Records.vary)
      },
      .answering("GET", "/v1/fetches/{fetch}/changes") { call in
        try call.checkQuery(["after", "wait", "sections", "timeZone"])
        guard let after = try call.query("after") else { throw Problem.malformed("'after' is missing; pass a token.") }
        let fetch = try FetchRequest(name: call.parameters[0])
        let token = try call.token(after)
        let poll = try poll(call, FeedCursor([(fetch, token)]), givesStates: false)
        let answer = try await poll.read(waiting: try Poll.seconds(call), call)
        if let message = answer.messages.first { return .json(message, [("Cache-Control", "no-store")]) }
        // Nothing changed: the empty change that leads to the state of now.
        let now = answer.results.first?.token ?? token
        let unchanged = try await offload { () throws -> JSON in
          try emptyChange(fetch, as: fetch.list, from: token, to: now, poll)
        }
        return .json(unchanged, [("Cache-Control", "no-store")])
      },
    ]

    private static func open(
      _ cursor: FeedCursor, _ key: Keyring.Key, _ sections: SectionChoice?, _ call: Call
    ) throws -> HTTPResponse {
      let server = call.server
      let feed = Feed(
        cursor, name: Keyring.spelled(server.environment.randomBytes(16)), key: key, sections: sections, for: server,
        sender: call.request.sender)
      let fields = [
        ("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"), ("X-Accel-Buffering", "no"),
      ]
      if call.request.method != "HEAD" {
        let limits = server.access.limits
        try server.feeds.add(feed, limit: limits.feeds(of: key), ofShare: limits.feedsOfShare)
        // The key may have been withdrawn before there was a feed to be ended.
        if server.keyring.client(ofGoodKey: key.name) != key.client { server.feeds.end(ofKey: key.name) }
      }
      return HTTPResponse(200, Headers.common + fields, .stream(feed.stream))
    }

    /// A stream in which nothing can be followed is answered with a status, or its client would open it for ever; where
    /// something can, or where the reason may pass, the others are a `problem` in it.
    private static func checkCanFollowAny(_ cursor: FeedCursor, _ call: Call) throws {
      var refusal: (any Error)?
      for (fetch, token) in cursor.tokens {
        do { return try checkCanFollow(fetch, as: fetch.list, from: token, call) } catch {
          guard Problem(error).status < 500 else { return }
          refusal = refusal ?? error
        }
      }
      if let refusal { throw refusal }
    }

    private static func checkCanFollow<List: FeedList>(
      _ fetch: FetchRequest, as _: List.Type, from token: Token?, _ call: Call
    ) throws {
      let (library, server) = (try call.library(of: fetch), call.server)
      let list = try List.start(fetch, from: token, of: library, server.fetches).list
      guard let key = call.key, !server.followed.hasRoom(for: Fetches.byteCount(of: list.keyCount, fetch), key) else {
        return
      }
      // It may share its memory with a list that is followed already.
      try server.followed.follow(list.changes(in: library, server.watch), for: key).leave()
    }

    private static func emptyChange<List: FeedList>(
      _ fetch: FetchRequest, as _: List.Type, from token: Token, to now: Token, _ poll: Poll
    ) throws -> JSON {
      let library = try poll.view(fetch)
      let before = try List.run(fetch, at: token, of: library, poll.fetches)
      return try before.change(to: now, in: library).json(
        of: fetch, sections: poll.sections, RenditionColumns(library: library, renditions: poll.renditions))
    }

    private static func poll(_ call: Call, _ cursor: FeedCursor, givesStates: Bool = true) throws -> Poll {
      Poll(
        cursor: cursor, view: { try call.library(of: $0) }, fetches: call.server.fetches,
        watch: call.server.watch, sections: try SectionChoice(call), renditions: call.server.renditions,
        rangeLimit: call.server.feeds.rangeLimit.load(ordering: .relaxed), givesStates: givesStates)
    }
  }

  extension Feed {
    /// A feed of a server.
    convenience init(
      _ cursor: FeedCursor, name: String, key: Keyring.Key, sections: SectionChoice?, for server: GalleryServer,
      sender: HTTPSender = HTTPSender()
    ) {
      self.init(
        cursor, name: name, key: key, sections: sections, of: server.library, server.fetches, server.watch,
        server.renditions, server.messages, server.followed,
        rangeLimit: server.feeds.rangeLimit.load(ordering: .relaxed), now: server.environment.now, sender: sender)
    }
  }

  extension FeedCursor {
    /// Where a feed or a poll begins: at a cursor, or at the fetches and tokens of the query. A fetch whose state is
    /// not open to the key begins with one that is.
    init(_ call: Call, orAt cursor: String?) throws {
      if let cursor, !cursor.isEmpty {
        self = try FeedCursor(cursor, call.server.fetches)
      } else {
        self = try FeedCursor(query: call)
      }
      for index in tokens.indices {
        if let token = tokens[index].token, try call.isBeforeOpening(token) { tokens[index].token = nil }
      }
    }

    /// Reads the fetches and tokens of a query.
    private init(query call: Call) throws {
      let names = call.request.target.query.all("fetch")
      guard (1...Self.limit).contains(names.count), Set(names).count == names.count else {
        throw Problem.malformed("A feed has 1 to \(Self.limit) different fetches; pass 'fetch' for each.")
      }
      let tokens = call.request.target.query.all("after")
      guard tokens.isEmpty || tokens.count == names.count else {
        throw Problem.malformed("Pass 'after' for each 'fetch', in the same order, or for none.")
      }
      self.init(
        try names.enumerated().map { index, name in
          (try call.server.fetches.request(named: name), tokens.isEmpty ? nil : try Token(tokens[index]))
        })
    }
  }

  extension SectionChoice {
    /// Reads `sections` and `timeZone` of a query; nil without `sections`.
    init?(_ call: Call) throws {
      guard let unit = try call.query("sections") else {
        guard try call.query("timeZone") == nil else {
          throw Problem.malformed("'timeZone' applies to sections; pass 'sections' too.")
        }
        return nil
      }
      try self.init(unit, zone: try call.query("timeZone"), named: "sections")
    }
  }
#endif
