#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite("The memory of the lists that feeds and polls follow")
  struct FollowedListTests {
    private static let assetCount = 10
    /// What a list of so many assets takes, in bytes.
    private static let size = 16 * assetCount

    /// A server with assets, and the names of fetches of all of them that are different lists.
    private func serving(
      sweepSeconds: Double = 3600, _ limits: (inout GalleryLimits) -> Void,
      _ body: (TestGallery, [String]) async throws -> Void
    ) async throws {
      var access = GalleryAccess()
      limits(&access.limits)
      try await TestGallery.serving(access: access, sweepSeconds: sweepSeconds) { gallery in
        try await gallery.makeAssets(Self.assetCount)
        try await gallery.library.performChanges { change in
          for client in ["app", "other"] { change.setAuthorizationStatus(.authorized, of: client) }
        }
        let names = try ["isFavorite == NO", "mediaType == 1", "isFavorite == NO AND mediaType == 1"].map { text in
          let fetch = try gallery.fetch(["where": text, "sort": ["creationDate:desc"]])
          #expect(fetch.count == Self.assetCount)
          return fetch.name
        }
        try await body(gallery, names)
      }
    }

    /// A feed of fetches whose states have come.
    private func feed(_ gallery: TestGallery, _ names: [String], key: String = "owner") throws -> FeedClient {
      let feed = try FeedClient(gallery, names.map { "fetch=\($0)" }.joined(separator: "&"), key: key)
      for _ in names { #expect(try feed.next()?.name == "state") }
      return feed
    }

    /// The token of the state of a list.
    private func token(_ gallery: TestGallery, _ name: String, key: String) throws -> String {
      let answer = try gallery.ask("GET", "/v1/changes?fetch=\(name)", key: key)
      let messages = try answer.json()["messages"] as? [[String: Any]]
      return try #require(messages?.first?["token"] as? String)
    }

    /// A poll that waits for a change of a list.
    private func poll(_ gallery: TestGallery, _ name: String, key: String = "owner") throws -> RawClient {
      let held = try token(gallery, name, key: key)
      let client = try RawClient(port: gallery.address.port)
      let target = "/v1/changes?fetch=\(name)&after=\(held)&wait=60"
      client.send(try gallery.head("GET", target, key: key, ["Connection: close"]))
      return client
    }

    private func expectRefusal(_ answer: Answer, sourceLocation: SourceLocation = #_sourceLocation) throws {
      #expect(answer.status == 429 && answer.fields["retry-after"] == "5", "\(answer)", sourceLocation: sourceLocation)
      #expect(
        try answer.json()["type"] as? String == "urn:photoledger:problem:too-many-requests",
        sourceLocation: sourceLocation)
    }

    @Test("equal lists count once; a key beyond its limit is refused, other keys are not, and what ends gives room")
    func limited() async throws {
      try await serving {
        $0.followedBytesOfKey = 2 * Self.size
      } _: { gallery, names in
        let (followed, app) = (gallery.server.followed, try gallery.key(of: "app"))
        let other = try gallery.key(of: "other")
        let first = try feed(gallery, Array(names.prefix(2)), key: app.secret)
        let equal = try feed(gallery, [names[0]], key: app.secret)
        #expect(followed.byteCount == 2 * Self.size && followed.byteCount(ofKey: app.name) == 2 * Self.size)
        #expect(try gallery.sample("followed_bytes") == Double(2 * Self.size))
        try expectRefusal(try gallery.ask("GET", "/v1/feed?fetch=\(names[2])", key: app.secret))
        // Another key has its own limit, and its lists are the same memory where they are equal.
        let others = try feed(gallery, [names[0], names[2]], key: other.secret)
        #expect(followed.byteCount == 3 * Self.size && followed.byteCount(ofKey: other.name) == 2 * Self.size)
        // In a feed that can follow something, what does not fit is a problem.
        let added = try gallery.ask(
          "POST", "/v1/feeds/\(equal.feed)/fetches", json: ["fetch": names[2]], key: app.secret)
        let problem = try #require(try equal.next())
        #expect(added.status == 201 && problem.name == "problem" && problem.data["fetch"] as? String == names[2])
        #expect(problem.data["status"] as? Int == 429)
        let removed = try gallery.ask(
          "DELETE", "/v1/feeds/\(first.feed)/fetches/\(names[1])", key: app.secret)
        #expect(removed.status == 204)
        try await waitUntil("the removed list gives room") { followed.byteCount(ofKey: app.name) == Self.size }
        var last: FeedClient? = try feed(gallery, [names[2]], key: app.secret)
        #expect(last?.hasEnded == false && followed.byteCount(ofKey: app.name) == 2 * Self.size)
        last = nil
        try await waitUntil("the ended feed gives room") { followed.byteCount(ofKey: app.name) == Self.size }
        #expect([first, equal, others].allSatisfy { !$0.hasEnded })
      }
    }

    @Test("lists still count once after a commit has led them on")
    func ledOn() async throws {
      try await serving { _ in
      } _: { gallery, names in
        let key = try gallery.key(of: "app")
        let feeds = try [key.secret, key.secret, "owner"].map { try feed(gallery, [names[1]], key: $0) }
        try await gallery.makeAssets(1, from: Self.assetCount)
        for feed in feeds { #expect(try feed.next()?.name == "change") }
        let size = 16 * (Self.assetCount + 1)
        try await waitUntil("all have the new list") { gallery.server.followed.byteCount == size }
        #expect(gallery.server.followed.byteCount(ofKey: key.name) == size)
        #expect(feeds.allSatisfy { !$0.hasEnded })
      }
    }

    @Test("a feed that does not read during several commits counts one list when it has read them all")
    func unread() async throws {
      try await serving { _ in
      } _: { gallery, names in
        let feed = try FeedClient(gallery, "fetch=\(names[1])", receiveBuffer: 4096)
        #expect(try feed.next()?.name == "state")
        let (rounds, added) = (8, 50)
        for round in 0..<rounds { try await gallery.makeAssets(added, from: Self.assetCount + round * added) }
        let goal = try gallery.library.currentToken.description
        var token: String?
        while token != goal {
          let data = try #require(try feed.next()).data
          token = data["after"] as? String ?? data["token"] as? String
        }
        let size = 16 * (Self.assetCount + rounds * added)
        try await waitUntil("only the last list is kept") { gallery.server.followed.byteCount == size }
        #expect(!feed.hasEnded)
      }
    }

    @Test("what followed for a key that is withdrawn, and for a server that stops, counts no longer")
    func ended() async throws {
      try await serving { _ in
      } _: { gallery, names in
        let (followed, app) = (gallery.server.followed, try gallery.key(of: "app"))
        let streams = [try feed(gallery, [names[0]], key: app.secret), try feed(gallery, [names[2]])]
        let first = try poll(gallery, names[1], key: app.secret)
        try await waitUntil("the poll waits") { gallery.server.feeds.pollCount == 1 }
        #expect(followed.byteCount == 3 * Self.size && followed.byteCount(ofKey: app.name) == 2 * Self.size)
        #expect(try gallery.ask("DELETE", "/v1/keys/\(app.name)").status == 204)
        try await waitUntil("the key follows nothing") { followed.byteCount(ofKey: app.name) == 0 }
        #expect(followed.byteCount == Self.size)
        let second = try poll(gallery, names[1])
        try await waitUntil("the owner's poll waits") { gallery.server.feeds.pollCount == 1 }
        #expect(followed.byteCount > Self.size)
        await gallery.server.stop()
        try await waitUntil("nothing is followed") { followed.byteCount == 0 }
        withExtendedLifetime((streams, first, second)) {}
      }
    }

    @Test("a client that comes back within its limit is admitted, although its list has changed since")
    func resumed() async throws {
      let size = 16 * (Self.assetCount + 1)
      try await serving {
        $0.followedBytesOfKey = size
        $0.followedBytesOfClient = size
        $0.followedBytes = size
      } _: { gallery, names in
        let (followed, app) = (gallery.server.followed, try gallery.key(of: "app"))
        let held = try token(gallery, names[1], key: app.secret)
        try await gallery.makeAssets(1, from: Self.assetCount)
        let feed = try FeedClient(gallery, "fetch=\(names[1])&after=\(held)", key: app.secret)
        #expect(try feed.next()?.name == "change")
        // The state that it came back with may be a tree apart from that of the live query.
        #expect(followed.byteCount >= size && followed.byteCount <= 2 * size)
        #expect(!feed.hasEnded)
      }
    }

    @Test("lists that come back at once are admitted if those of now fit, whatever the states take that they held")
    func resumedTogether() async throws {
      let size = 16 * (Self.assetCount + 1)
      try await serving {
        $0.followedBytesOfKey = 2 * size
        $0.followedBytesOfClient = 2 * size
        $0.followedBytes = 2 * size
      } _: { gallery, names in
        let (followed, app) = (gallery.server.followed, try gallery.key(of: "app"))
        let key = try #require(gallery.server.keyring.list().first { $0.name == app.name })
        let library = gallery.library.as("app")
        let held = try names.map { name in
          try FetchResult<Asset>.run(try FetchRequest(name: name), at: nil, of: library, gallery.server.fetches)
        }
        try await gallery.makeAssets(1, from: Self.assetCount)
        // The tests have a list of their own by the name of what this returns.
        let follow = { (index: Int) throws in
          try followed.follow(held[index].changes(in: library, gallery.server.watch), for: key)
        }
        let lists = [try follow(0), try follow(1)]
        #expect(followed.byteCount(ofKey: app.name) > 2 * size, "The states that they held are trees of their own.")
        let refusal = #expect(throws: Problem.self) { try follow(2) }
        #expect(refusal?.status == 429)
        for list in lists { list.leave() }
        #expect(followed.byteCount == 0)
        let last = try follow(2)
        #expect(followed.byteCount >= size)
        last.leave()
      }
    }

    /// A list as a client holds it that comes back later, and the key under which it is followed.
    private func returning(
      _ gallery: TestGallery, _ name: String
    ) throws -> (list: FetchResult<Asset>, key: Keyring.Key) {
      let app = try gallery.key(of: "app")
      let key = try #require(gallery.server.keyring.list().first { $0.name == app.name })
      let list = try FetchResult<Asset>.run(
        try FetchRequest(name: name), at: nil, of: gallery.library.as("app"), gallery.server.fetches)
      return (list, key)
    }

    @Test("a client that comes back with nearly twice its limit keeps its feeds while it catches up")
    func catchingUp() async throws {
      let size = 16 * (Self.assetCount + 2)
      try await serving {
        $0.followedBytesOfKey = size
        $0.followedBytesOfClient = size
      } _: { gallery, names in
        let followed = gallery.server.followed
        let (held, key) = try returning(gallery, names[1])
        for number in 0..<2 { try await gallery.makeAssets(1, from: Self.assetCount + number) }
        let changes = held.changes(in: gallery.library.as("app"), gallery.server.watch)
        let ended = Gathered<Bool>()
        let list = try followed.follow(changes, for: key) { ended.append(true) }
        #expect(try changes.next() != nil)
        list.add()
        #expect(followed.byteCount(ofKey: key.name) > 2 * size + 1, "What was held, what is sent, and the live query.")
        followed.recount()
        #expect(ended.all.isEmpty)
        list.settle()
        #expect(followed.byteCount(ofKey: key.name) <= 2 * size)
        list.leave()
        #expect(followed.byteCount == 0)
      }
    }

    @Test("a live query counts once when it goes on before its follower has sent a change")
    func wentOn() async throws {
      try await serving { _ in
      } _: { gallery, names in
        let followed = gallery.server.followed
        let (held, key) = try returning(gallery, names[1])
        try await gallery.makeAssets(1, from: Self.assetCount)
        let list = try followed.follow(
          held.changes(in: gallery.library.as("app"), gallery.server.watch), for: key)
        let before = Self.size + 16 * (Self.assetCount + 1)
        #expect(followed.byteCount == before)
        try await gallery.makeAssets(1, from: Self.assetCount + 1)
        try await waitUntil("the live query has gone on") {
          followed.recount()
          return followed.byteCount != before
        }
        #expect(followed.byteCount == Self.size + 16 * (Self.assetCount + 2))
        list.leave()
      }
    }

    @Test("the lists of waiting polls count until the polls end, and a poll that does not wait needs no room")
    func polls() async throws {
      try await serving {
        $0.followedBytesOfKey = Self.size
      } _: { gallery, names in
        let (followed, app) = (gallery.server.followed, try gallery.key(of: "app"))
        let tokens = try names.map { name -> String in
          try token(gallery, name, key: app.secret)
        }
        let targets = zip(names, tokens).map { "/v1/changes?fetch=\($0)&after=\($1)" }
        let poll = try RawClient(port: gallery.address.port)
        poll.send(try gallery.head("GET", targets[0] + "&wait=60", key: app.secret, ["Connection: close"]))
        try await waitUntil("the poll waits") { gallery.server.feeds.pollCount == 1 }
        #expect(followed.byteCount(ofKey: app.name) == Self.size)
        try expectRefusal(try gallery.ask("GET", targets[1] + "&wait=60", key: app.secret))
        #expect(try gallery.ask("GET", targets[1], key: app.secret).status == 200)
        try await gallery.makeAssets(1, from: Self.assetCount)
        #expect(poll.readToEnd().hasPrefix("HTTP/1.1 200"))
        try await waitUntil("the poll gives room") { followed.byteCount == 0 }
      }
    }

    @Test("all keys of a client have one limit, and so have all clients; the owner has no limit")
    func together() async throws {
      try await serving {
        $0.followedBytesOfClient = Self.size
        $0.followedBytes = 2 * Self.size
      } _: { gallery, names in
        let keys = try (0..<2).map { _ in try gallery.key(of: "app").secret }
        let other = try gallery.key(of: "other").secret
        let first = try feed(gallery, [names[0]], key: keys[0])
        try expectRefusal(try gallery.ask("GET", "/v1/feed?fetch=\(names[1])", key: keys[1]))
        let shared = try feed(gallery, [names[0]], key: keys[1])
        let owners = try feed(gallery, names)
        #expect(gallery.server.followed.byteCount == 3 * Self.size)
        // What is followed already needs no room of all clients.
        let others = try feed(gallery, [names[1]], key: other)
        let more = try gallery.fetch(["where": "isHidden == NO", "sort": ["creationDate:desc"]]).name
        let third = try gallery.key(of: "third").secret
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "third") }
        try expectRefusal(try gallery.ask("GET", "/v1/feed?fetch=\(more)", key: third))
        #expect([first, shared, owners, others].allSatisfy { !$0.hasEnded })
      }
    }

    @Test("lists that grow beyond twice the limit of their key end its feeds, and are refused from then on")
    func grown() async throws {
      try await serving(sweepSeconds: 0.02) {
        $0.followedBytesOfKey = Self.size
      } _: { gallery, names in
        let (app, other) = (try gallery.key(of: "app"), try gallery.key(of: "other"))
        let grown = try feed(gallery, [names[1]], key: app.secret)
        let album = try gallery.fetch(["where": "isFavorite == YES"]).name
        let small = try feed(gallery, [album], key: other.secret)
        try await gallery.makeAssets(2 * Self.assetCount, from: Self.assetCount)
        try await waitUntil("the feed ends") { gallery.server.feeds.count == 1 }
        while try grown.next() != nil {}
        #expect(grown.hasEnded && !small.hasEnded && grown.retryMilliseconds != nil)
        try await waitUntil("the ended feed gives room") { gallery.server.followed.byteCount(ofKey: app.name) == 0 }
        try expectRefusal(try gallery.ask("GET", "/v1/feed?fetch=\(names[1])", key: app.secret))
      }
    }
  }
#endif
