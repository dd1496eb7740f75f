#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import LibraryAudit
  import PhotoLedger
  import TestSupport
  import Testing

  extension TestGallery {
    /// Registers an app and asks for access in its name.
    func register(_ name: String = "com.example.app", asks level: String? = "readWrite") throws
      -> (client: String, key: String)
    {
      var json = ["name": name, "usage": "It shows your photos.", "addUsage": "It adds photos."]
      json["asks"] = level
      let answer = try ask("POST", "/v1/clients", json: json, key: nil)
      try #require(answer.status == 201, "\(answer)")
      let object = try answer.json()
      return (try #require(object["client"] as? String), try #require(object["secret"] as? String))
    }

    /// The state of a client, read over HTTP.
    func session(_ key: String, _ query: String = "") throws -> [String: Any] {
      let answer = try ask("GET", "/v1/session\(query)", key: key)
      try #require(answer.status == 200, "\(answer)")
      return try answer.json()
    }

    /// Answers a request as the owner.
    func answer(_ client: String, _ json: [String: Any]) throws -> Answer {
      try ask("POST", Self.answers(to: client), json: json)
    }

    /// Where the owner answers the requests of a client.
    static func answers(to client: String) -> String {
      "/v1/clients/\(client.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? client)/answer"
    }

    /// Sends a request in the middle of the next commit, which goes on when the answer is there.
    /// - Parameter commit: calls a closure in commits, see ``NextDraw/environment``.
    /// - Returns: the answer, once it has come.
    func send(
      in commit: NextDraw, _ method: String, _ target: String, json: [String: Any], key: String? = "owner"
    ) throws -> Gathered<String> {
      let (answers, port) = (Gathered<String>(), address.port)
      let request = try head(method, target, json: json, key: key, ["Connection: close"])
      commit.when {
        guard let client = try? RawClient(port: port) else { return }
        client.send(request)
        answers.append(client.readToEnd())
      }
      return answers
    }

    /// The requests that wait for the owner.
    func waiting() throws -> [String] {
      let rows = try #require(try ask("GET", "/v1/requests").json()["requests"] as? [[String: Any]])
      return rows.map { "\($0["client"] ?? "") \($0["level"] ?? "") \($0["usage"] ?? "")" }
    }

    /// Waits until so many requests wait at the server.
    func waitUntilPolled(_ count: Int = 1) async throws {
      try await waitUntil("\(count) wait for a change") { [server] in server.watch.waiterCount >= count }
    }
  }

  extension NextDraw {
    /// The environment of a library that calls the closure when the clock is read for a commit.
    var environment: LibraryEnvironment {
      let source = LibraryEnvironment.seeded(1)
      var environment = source
      environment.now = { [self] in
        note()
        return source.now()
      }
      return environment
    }
  }

  @Suite("Apps request access, the owner answers")
  struct PermissionFlowTests {
    private func status(_ session: [String: Any]) -> String? {
      (session["authorizationStatus"] as? [String: Any])?["readWrite"] as? String
    }

    @Test("an app that requests access sees nothing until the owner answers, and receives the answer at once")
    func asks() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(3)
        let app = try gallery.register()
        #expect(app.client.hasPrefix("com.example.app#"))
        #expect(try gallery.waiting() == ["\(app.client) readWrite It shows your photos."])
        #expect(try gallery.ask("POST", "/v1/fetches", json: [:], key: app.key).status == 403)
        let before = try gallery.session(app.key)
        #expect(status(before) == "notDetermined" && before["waiting"] as? [String] == ["readWrite"])
        let stream = try StateClient(gallery, "/v1/session/events", key: app.key)
        #expect(try stream.next()?["waiting"] as? [String] == ["readWrite"])
        let revision = try #require(before["revision"] as? String)
        let poll = try RawClient(port: gallery.address.port)
        poll.send(
          try gallery.head("GET", "/v1/session?after=\(revision)&wait=30", key: app.key, ["Connection: close"]))
        try await gallery.waitUntilPolled(2)
        let limit: [String: Any] = ["level": "readWrite", "decision": "limit", "assets": [ids[1].uuidString]]
        #expect(try gallery.answer(app.client, limit).status == 200)
        #expect(poll.readToEnd().contains("\"readWrite\":\"limited\""))
        #expect(status(try #require(try stream.next())) == "limited")
        #expect(try gallery.waiting().isEmpty)
        #expect(try gallery.fetch(key: app.key).count == 1)
        let causes = try gallery.causes()
        #expect(causes.contains("registration over HTTP") && causes.contains("permission prompt"))
      }
    }

    @Test("an answer by another process reaches the app too, and requests survive a restart")
    func elsewhere() async throws {
      try await TestGallery.serving { gallery in
        let app = try gallery.register(asks: nil)
        #expect(try gallery.waiting().isEmpty)
        for _ in 0..<2 {
          #expect(
            try gallery.ask("POST", "/v1/session/requests", json: ["level": "addOnly"], key: app.key).status == 202)
        }
        #expect(try gallery.waiting() == ["\(app.client) addOnly It adds photos."])
        try await gallery.restart()
        #expect(try gallery.waiting() == ["\(app.client) addOnly It adds photos."])
        let stream = try StateClient(gallery, "/v1/session/events", key: app.key)
        _ = try stream.next()
        try await gallery.waitUntilPolled()
        // As `photoledger client authorize` does, by the library's own call.
        try await gallery.library.performChanges { change in
          change.setAuthorizationStatus(.authorized, of: app.client, for: .addOnly)
        }
        let state = try #require(try stream.next()?["authorizationStatus"] as? [String: Any])
        #expect(state["addOnly"] as? String == "authorized" && state["readWrite"] as? String == "notDetermined")
        #expect(try gallery.ask("POST", "/v1/fetches", json: [:], key: app.key).status == 403)
      }
    }

    @Test("the owner's page receives each request, and its answer, by a stream")
    func heard() async throws {
      try await TestGallery.serving { gallery in
        let stream = try StateClient(gallery, "/v1/requests/events")
        func waiting() throws -> [String] {
          let requests = try #require(try stream.next()?["requests"] as? [[String: Any]])
          return requests.compactMap { $0["client"] as? String }
        }
        #expect(try waiting().isEmpty)
        let app = try gallery.register()
        #expect(try waiting() == [app.client])
        #expect(try gallery.answer(app.client, ["level": "readWrite", "decision": "deny"]).status == 200)
        #expect(try waiting().isEmpty)
        #expect(try gallery.ask("GET", "/v1/requests/events", key: app.key).status == 403)
      }
    }

    @Test("a limited app requests more, and gets the identifiers that were added")
    func more() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(4)
        let app = try gallery.register()
        #expect(try gallery.ask("POST", "/v1/session/more", json: [:], key: app.key).status == 409)
        let limit: [String: Any] = ["level": "readWrite", "decision": "limit", "assets": [ids[0].uuidString]]
        #expect(try gallery.answer(app.client, limit).status == 200)
        #expect(try gallery.answer(app.client, ["level": "more"]).status == 409)
        #expect(try gallery.session(app.key)["mayRequestMore"] as? Bool == true)
        let asked = try gallery.ask("POST", "/v1/session/more", json: [:], key: app.key)
        #expect(asked.status == 202 && asked.body.contains("\"state\":\"waiting\""))
        #expect(try gallery.waiting() == ["\(app.client) more It shows your photos."])
        let stream = try StateClient(gallery, "/v1/session/events", key: app.key)
        _ = try stream.next()
        try await gallery.waitUntilPolled()
        let given: [String: Any] = ["level": "more", "assets": [ids[0], ids[2]].map(\.uuidString)]
        #expect(try gallery.answer(app.client, given).status == 200)
        let more = try #require(try stream.next()?["more"] as? [String: Any])
        #expect(more["state"] as? String == "answered")
        #expect(more["added"] as? [String] == [ids[2].spelled(as: .asset)])
        #expect(try gallery.fetch(key: app.key).count == 2)
        #expect(try gallery.causes().contains("limited library picker"))
      }
    }

    @Test("a request for more ends with the limited access, and a client that follows an album cannot make one")
    func moreEnds() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(2)
        let app = try gallery.register()
        let limit: [String: Any] = ["level": "readWrite", "decision": "limit", "assets": [ids[0].uuidString]]
        func ask(_ key: String) throws -> Int {
          try gallery.ask("POST", "/v1/session/more", json: [:], key: key).status
        }
        for decision in ["deny", "allow"] {
          #expect(try gallery.answer(app.client, limit).status == 200)
          #expect(try gallery.waiting().isEmpty)
          #expect(try ask(app.key) == 202 && gallery.waiting().count == 1)
          #expect(try gallery.answer(app.client, ["level": "readWrite", "decision": decision]).status == 200)
          #expect(try gallery.waiting().isEmpty && gallery.session(app.key)["more"] is NSNull)
          let given: [String: Any] = ["level": "more", "assets": [ids[1].uuidString]]
          #expect(try gallery.answer(app.client, given).status == 409)
        }
        #expect(try gallery.answer(app.client, limit).status == 200)
        #expect(try ask(app.key) == 202)
        // As `photoledger client authorize` does, by the library's own call.
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.denied, of: app.client) }
        #expect(try gallery.waiting().isEmpty && gallery.session(app.key)["more"] is NSNull)
        // It does not come back when the client is limited again.
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.limited, of: app.client) }
        #expect(try gallery.waiting().isEmpty && gallery.session(app.key)["more"] is NSNull)
        var album = ids[0]
        try await gallery.library.performChanges { change in
          album = change.createAlbum(title: "Shared")
          change.album(album).add([ids[0]])
        }
        try await gallery.library.performChanges { $0.follow(album, as: app.client) }
        #expect(try ask(app.key) == 409 && gallery.session(app.key)["mayRequestMore"] as? Bool == false)
        #expect(try gallery.waiting().isEmpty)
      }
    }

    @Test("an undecided client that follows an album is limited to chosen photos, and follows it no more")
    func limitsFollower() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(3)
        let app = try gallery.register()
        var album = ids[0]
        try await gallery.library.performChanges { change in
          album = change.createAlbum(title: "Shared")
          change.album(album).add([ids[0]])
        }
        try await gallery.library.performChanges { $0.follow(album, as: app.client) }
        let limit: [String: Any] = ["level": "readWrite", "decision": "limit", "assets": [ids[1].uuidString]]
        #expect(try gallery.answer(app.client, limit).status == 200)
        #expect(try status(gallery.session(app.key)) == "limited" && gallery.waiting().isEmpty)
        try await gallery.library.performChanges { $0.album(album).add([ids[2]]) }
        #expect(try Set(gallery.library.selection(of: app.client).map(\.id)) == [ids[0], ids[1]])
      }
    }

    @Test("a second request for more that has the answer of the first one is another state, and ends waits for it")
    func moreAgain() async throws {
      try await TestGallery.serving { gallery in
        let app = try gallery.register()
        #expect(try gallery.answer(app.client, ["level": "readWrite", "decision": "limit"]).status == 200)
        var revisions: [String] = []
        for _ in 1...2 {
          gallery.clock.advance(by: 1)
          let asked = try gallery.ask("POST", "/v1/session/more", json: [:], key: app.key)
          let waiting = try #require(try asked.json()["revision"] as? String)
          #expect(try asked.status == 202 && gallery.session(app.key)["revision"] as? String == waiting)
          #expect(try gallery.answer(app.client, ["level": "more"]).status == 200)
          let answered = try gallery.session(app.key, "?after=\(waiting)&wait=30")
          let more = try #require(answered["more"] as? [String: Any])
          #expect(more["state"] as? String == "answered" && (more["added"] as? [String])?.isEmpty == true)
          revisions += [waiting, try #require(answered["revision"] as? String)]
        }
        #expect(Set(revisions).count == 4, "\(revisions)")
      }
    }

    @Test("of two answers to a request for more at the same time one is given, and the other grants nothing")
    func moreAtOnce() async throws {
      let commit = NextDraw()
      try await TestGallery.serving(library: commit.environment) { gallery in
        let ids = try await gallery.makeAssets(3)
        let app = try gallery.register()
        let limit: [String: Any] = ["level": "readWrite", "decision": "limit", "assets": [ids[0].uuidString]]
        #expect(try gallery.answer(app.client, limit).status == 200)
        #expect(try gallery.ask("POST", "/v1/session/more", json: [:], key: app.key).status == 202)
        func given(_ index: Int) -> [String: Any] { ["level": "more", "assets": [ids[index].uuidString]] }
        let others = try gallery.send(in: commit, "POST", TestGallery.answers(to: app.client), json: given(2))
        #expect(try gallery.answer(app.client, given(1)).status == 200)
        #expect(others.all.map { TestGallery.parsed($0)?.status } == [409])
        #expect(try Set(gallery.library.selection(of: app.client).map(\.id)) == [ids[0], ids[1]])
        let more = try #require(try gallery.session(app.key)["more"] as? [String: Any])
        #expect(more["added"] as? [String] == [ids[1].spelled(as: .asset)])
      }
    }

    @Test("an answer that cannot be recorded leaves the request for more waiting")
    func moreFails() throws {
      let requests = MoreRequests()
      try requests.ask("app", at: Date(timeIntervalSince1970: 0))
      #expect(throws: GalleryError.self) {
        _ = try requests.answer("app") { throw GalleryError("The disk is full.", isOfSpace: true) }
      }
      #expect(requests.waiting.map { $0.client } == ["app"])
      let (first, second) = (requests.answer("app") { ["a"] }, requests.answer("app") { ["b"] })
      #expect(first && !second && requests.request(of: "app")?.added == ["a"])
    }

    @Test("a request for more that is made while an earlier one is answered waits for its own answer")
    func moreAgain() throws {
      let requests = MoreRequests()
      try requests.ask("app", at: Date(timeIntervalSince1970: 0))
      let first = try requests.answer("app") {
        requests.forget("app")
        try requests.ask("app", at: Date(timeIntervalSince1970: 1))
        return ["a"]
      }
      #expect(first && requests.request(of: "app")?.added == nil)
      let second = requests.answer("app") { ["b"] }
      #expect(second && requests.request(of: "app")?.added == ["b"])
    }

    @Test("a rejected app stays out, and a malformed answer decides nothing")
    func denies() async throws {
      try await TestGallery.serving { gallery in
        let app = try gallery.register()
        let id = try await gallery.makeAssets(1)[0].uuidString
        for json: [String: Any] in [
          ["level": "readWrite"], ["level": "readWrite", "decision": "perhaps"], ["level": "all", "decision": "allow"],
          ["level": "addOnly", "decision": "limit"], ["level": "readWrite", "decision": "deny", "assets": [id]],
          ["level": "readWrite", "decision": "limit", "assets": [7]],
        ] { #expect(try gallery.answer(app.client, json).status == 400, "\(json)") }
        let unknown: [String: Any] = ["level": "readWrite", "decision": "limit", "assets": ["none"]]
        #expect(try gallery.answer(app.client, unknown).status == 404)
        #expect(try gallery.answer("stranger", ["level": "readWrite", "decision": "allow"]).status == 404)
        #expect(try gallery.waiting().count == 1)
        #expect(try gallery.answer(app.client, ["level": "readWrite", "decision": "deny"]).status == 200)
        #expect(status(try gallery.session(app.key)) == "denied")
        // A denied app cannot ask again.
        let again = try gallery.ask("POST", "/v1/session/requests", json: ["level": "readWrite"], key: app.key)
        #expect(try again.status == 202 && again.json()["waiting"] as? [String] == [])
        #expect(try gallery.waiting().isEmpty)
      }
    }

    @Test("an app whose key cannot be stored is not registered as waiting")
    func unkept() async throws {
      try await TestGallery.serving { gallery in
        let file = gallery.temporary.url.appending(path: "server/keys.json")
        let kept = try Data(contentsOf: file)
        // A folder in the place of the file cannot be replaced by one.
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createDirectory(at: file.appending(path: "a"), withIntermediateDirectories: true)
        let json = ["name": "com.example.app", "usage": "It shows your photos.", "asks": "readWrite"]
        #expect(try gallery.ask("POST", "/v1/clients", json: json, key: nil).status == 500)
        #expect(try gallery.waiting().isEmpty)
        #expect(try gallery.library.clients().map { $0.status(for: .readWrite) } == [.denied])
        try FileManager.default.removeItem(at: file)
        try kept.write(to: file)
        let app = try gallery.register()
        #expect(try gallery.waiting() == ["\(app.client) readWrite It shows your photos."])
      }
    }

    @Test("apps that register at the same time do not exceed the bound of undecided apps together")
    func crowded() async throws {
      let commit = NextDraw()
      try await TestGallery.serving(library: commit.environment) { gallery in
        var usage = ClientRegistration()
        usage.readWriteUsageDescription = "It shows your photos."
        let apps = (1..<UndecidedApps.limit).map { number in
          ChangeRequest.client(named: "com.example.app#\(number)", .register(usage))
        }
        _ = try gallery.library.store.perform(apps, cause: nil)
        let app = ["name": "com.example.app", "usage": "It shows your photos."]
        let others = try gallery.send(in: commit, "POST", "/v1/clients", json: app, key: nil)
        #expect(try gallery.ask("POST", "/v1/clients", json: app, key: nil).status == 201)
        #expect(others.all.map { TestGallery.parsed($0)?.status } == [429])
        #expect(try gallery.library.clients().count == UndecidedApps.limit)
        // The place of an app that was decided about is free again.
        try await gallery.library.performChanges { change in
          change.setAuthorizationStatus(.denied, of: "com.example.app#1", for: .readWrite)
        }
        #expect(try gallery.ask("POST", "/v1/clients", json: app, key: nil).status == 201)
      }
    }

    @Test(
      "an app cannot register under a name that looks like a share link's or the owner's",
      arguments: ["share", "Share", "share#vw20GrSht2Wc", "#", "owner", "OWNER"])
    func disguised(_ name: String) async throws {
      try await TestGallery.serving { gallery in
        let app = ["name": name, "usage": "Grandma", "asks": "readWrite"]
        let answer = try gallery.ask("POST", "/v1/clients", json: app, key: nil)
        let clients = try gallery.library.clients()
        #expect(answer.status == 400 && clients.isEmpty)
      }
    }

    @Test("an app cannot register as another one, without a reason, too often, or where that is turned off")
    func registers() async throws {
      try await TestGallery.serving { gallery in
        let names = try (0..<2).map { _ in try gallery.register("same").client }
        #expect(Set(names).count == 2)
        #expect(try gallery.ask("POST", "/v1/clients", json: ["name": "x"], key: nil).status == 400)
        let silent = ["name": "x", "addUsage": "It adds.", "asks": "readWrite"]
        #expect(try gallery.ask("POST", "/v1/clients", json: silent, key: nil).body.contains("missing-usage"))
        for _ in 0..<3 { _ = try gallery.register() }
        let json = ["name": "x", "usage": "It looks."]
        let slow = try gallery.ask("POST", "/v1/clients", json: json, key: nil)
        #expect(slow.status == 429 && slow.fields["retry-after"] == "600")
      }
      var access = GalleryAccess()
      access.allowsRegistration = false
      try await TestGallery.serving(access: access) { gallery in
        let json = ["name": "x", "usage": "It looks."]
        let status = try gallery.ask("POST", "/v1/clients", json: json, key: nil).status
        #expect(status == 403)
      }
    }
  }

  @Suite("Withdrawals take effect at once")
  struct WithdrawalTests {
    @Test("a key that is withdrawn ends its feed, its stream of states, its poll, and its byte URLs")
    func key() async throws {
      try await TestGallery.serving { gallery in
        let (asset, sha256) = try await gallery.makeFile("0123456789")
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "app") }
        let key = try gallery.key(of: "app")
        let fetch = try gallery.fetch(key: key.secret)
        let feed = try FeedClient(gallery, "fetch=\(fetch.name)&after=\(fetch.token)", key: key.secret)
        let stream = try StateClient(gallery, "/v1/session/events", key: key.secret)
        let revision = try #require(try gallery.session(key.secret)["revision"] as? String)
        _ = try stream.next()
        let poll = try RawClient(port: gallery.address.port)
        poll.send(
          try gallery.head("GET", "/v1/session?after=\(revision)&wait=30", key: key.secret, ["Connection: close"]))
        try await gallery.waitUntilPolled(2)
        let bytes = "/v1/assets/\(asset)/resources/\(sha256)"
        #expect(try gallery.ask("GET", bytes, key: key.secret).status == 200)
        #expect(try gallery.ask("DELETE", "/v1/keys/\(key.name)").status == 204)
        #expect(try feed.next() == nil)
        #expect(try stream.next()?["status"] as? Int == 401)
        #expect(try stream.next() == nil)
        #expect(poll.readToEnd().hasPrefix("HTTP/1.1 401"))
        #expect(try gallery.ask("GET", bytes, key: key.secret).status == 401)
      }
    }

    @Test("a client that is denied, here or by another process, loses its feed and its byte URLs")
    func client() async throws {
      try await TestGallery.serving { gallery in
        let (asset, sha256) = try await gallery.makeFile("0123456789")
        for isHere in [true, false] {
          let client = "app \(isHere)"
          try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: client) }
          let key = try gallery.key(of: client)
          let fetch = try gallery.fetch(key: key.secret)
          let feed = try FeedClient(gallery, "fetch=\(fetch.name)&after=\(fetch.token)", key: key.secret)
          let bytes = "/v1/assets/\(asset)/resources/\(sha256)"
          #expect(try gallery.ask("GET", bytes, key: key.secret).status == 200)
          if isHere {
            #expect(try gallery.ask("DELETE", "/v1/clients/app%20true").status == 204)
            #expect(try gallery.ask("GET", bytes, key: key.secret).status == 401)
          } else {
            try await gallery.library.performChanges { $0.setAuthorizationStatus(.denied, of: client) }
            #expect(try gallery.ask("GET", bytes, key: key.secret).status == 403)
          }
          // What still comes before the end takes everything away.
          while let event = try feed.next() { #expect(event.data["count"] as? Int ?? 0 == 0) }
        }
      }
    }

    @Test("an asset that is withdrawn from a limited client is gone from its byte URLs")
    func asset() async throws {
      try await TestGallery.serving { gallery in
        let (asset, sha256) = try await gallery.makeFile("0123456789")
        let id = try #require(try gallery.library.asset(asset)).id
        try await gallery.library.performChanges { change in
          change.setAuthorizationStatus(.limited, of: "app")
          change.grant([id], to: "app")
        }
        let key = try gallery.key(of: "app")
        let bytes = "/v1/assets/\(asset)/resources/\(sha256)"
        #expect(try gallery.ask("GET", bytes, key: key.secret).status == 200)
        try await gallery.library.performChanges { $0.withdraw([id], from: "app") }
        let tag = "If-None-Match: \"\(sha256)\""
        #expect(try gallery.ask("GET", bytes, key: key.secret, [tag]).status == 404)
      }
    }

    @Test("a key that expires while its feed is open loses the feed")
    func expiry() async throws {
      try await TestGallery.serving { gallery in
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "app") }
        let json = try gallery.ask("POST", "/v1/keys", json: ["client": "app", "days": 1]).json()
        let secret = try #require(json["secret"] as? String)
        let fetch = try gallery.fetch(key: secret)
        let feed = try FeedClient(gallery, "fetch=\(fetch.name)&after=\(fetch.token)", key: secret)
        gallery.clock.advance(by: 86_401)
        gallery.server.watch.wake()
        #expect(try feed.next() == nil)
      }
    }
  }

  extension TestGallery {
    /// Makes an asset of a file.
    /// - Returns: its identifier, and the hash of the file.
    func makeFile(_ text: String, type: ResourceType = .photo, name: String = "a.jpg") async throws
      -> (asset: String, sha256: String)
    {
      let file = temporary.folder.place(name)
      try Data(text.utf8).write(to: file)
      var id: LocalIdentifier?
      try await library.performChanges { change in
        id = change.createAsset(
          AssetCreation(
            mediaType: .image, resources: [ResourceDraft(type: type, source: .file(file, shouldMove: false))]))
      }
      let created = try #require(id)
      let asset = try #require(try library.asset(created.uuidString))
      return (asset.id.uuidString, try #require(try library.resources(of: asset).first?.sha256Hex))
    }

    /// The causes of all commits.
    func causes() throws -> Set<String> {
      var causes: Set<String> = []
      try library.forEachLogEntry { entry in
        if let cause = entry.commit.cause { causes.insert(cause) }
        return true
      }
      return causes
    }
  }
#endif
