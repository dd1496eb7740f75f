#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger
  import Synchronization
  import TestSupport
  import Testing

  extension TestGallery {
    /// Makes a person known.
    func addPerson(_ name: String, client: String, password: String? = "correct horse") throws {
      var json = ["name": name, "client": client]
      json["password"] = password
      try #require(try ask("POST", "/v1/people", json: json).status == 201)
    }

    /// Signs a person in.
    func signIn(_ name: String, _ password: String = "correct horse") throws -> Answer {
      try ask("POST", "/v1/sessions", json: ["name": name, "password": password], key: nil)
    }

    /// The key of a person who signs in.
    func key(ofPerson name: String, _ password: String = "correct horse") throws -> String {
      let answer = try signIn(name, password)
      try #require(answer.status == 201, "\(answer)")
      return try #require(try answer.json()["secret"] as? String)
    }
  }

  @Suite("People and their sessions")
  struct PeopleTests {
    @Test("a person signs in with a name and a password, and acts as their client; only a hash is kept")
    func signsIn() async throws {
      try await TestGallery.serving { gallery in
        try gallery.addPerson("anna", client: "family")
        let key = try gallery.key(ofPerson: "anna")
        let session = try gallery.ask("GET", "/v1/session", key: key).json()
        #expect(session["client"] as? String == "family" && session["person"] as? String == "anna")
        #expect(try gallery.ask("GET", "/v1/keys", key: key).status == 403)
        let file = gallery.temporary.url.appending(path: "server/people.json")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.contains("$y$") && !text.contains("correct horse"))
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
        #expect(try gallery.ask("POST", "/v1/people", json: ["name": "anna", "client": "x"]).status == 409)
        try await gallery.restart()
        #expect(try gallery.ask("GET", "/v1/session", key: key).status == 200)
        #expect(try gallery.key(ofPerson: "anna").isEmpty == false)
      }
    }

    @Test("a wrong password, an unknown name and a person without a password get one answer")
    func wrong() async throws {
      try await TestGallery.serving { gallery in
        try gallery.addPerson("anna", client: "family")
        try gallery.addPerson("proxied", client: "family", password: nil)
        let answers = try [
          gallery.signIn("anna", "correct horsf"), gallery.signIn("bert"), gallery.signIn("proxied"),
          gallery.signIn("proxied", ""), gallery.signIn("anna", ""), gallery.signIn("anna", "correct\u{0}horse"),
          gallery.signIn("anna", String(repeating: "x", count: 5_000)),
        ]
        #expect(Set(answers.map(\.status)) == [401] && Set(answers.map(\.body)).count == 1)
      }
    }

    @Test("an unknown name costs the same hash as a wrong password")
    func sameWork() throws {
      let passwords = try Passwords(environment: .system)
      let hash = try passwords.hash("correct horse")
      // Of this thread, which makes the hashes: what else runs on the machine does not count.
      func seconds(_ hash: String?) throws -> Double {
        var (start, end) = (timespec(), timespec())
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start)
        for _ in 0..<5 { #expect(try !passwords.check("something else", against: hash)) }
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end)
        return Double(end.tv_sec - start.tv_sec) + Double(end.tv_nsec - start.tv_nsec) / 1e9
      }
      let (known, unknown) = (try seconds(hash), try seconds(nil))
      // Far apart: without the work the second is a thousand times shorter.
      #expect(unknown > known / 4 && known > unknown / 4, "known \(known) s, unknown \(unknown) s")
      #expect(try passwords.check("correct horse", against: hash))
    }

    @Test("passwords that arrive together are checked two at a time; those that would wait too long are rejected")
    func boundedWork() throws {
      let passwords = try Passwords(environment: .system)
      let hash = try passwords.hash("correct horse")
      let outcomes = Mutex<[String]>([])
      let group = DispatchGroup()
      for _ in 0..<40 {
        group.enter()
        Thread.detachNewThread {
          let outcome: String
          do {
            outcome = try passwords.check("correct horse", against: hash) ? "right" : "wrong"
          } catch { outcome = (error as? Problem)?.type ?? "\(error)" }
          outcomes.withLock { $0.append(outcome) }
          group.leave()
        }
      }
      #expect(group.wait(timeout: .now() + 180) == .success)
      let all = outcomes.withLock { $0 }
      #expect(Set(all) == ["right", "too-many-requests"] && all.count { $0 == "right" } >= 16)
      #expect(try passwords.check("correct horse", against: hash))
    }

    @Test(
      "invalid passwords and names are rejected",
      arguments: [
        ["name": "a", "client": "c", "password": "short"], ["name": "", "client": "c"], ["name": "a/b", "client": "c"],
        ["name": "a\nb", "client": "c"], ["name": " a", "client": "c"], ["name": "..", "client": "c"],
        ["name": "a", "client": ""], ["name": "a", "client": "c", "role": "admin"],
        ["name": String(repeating: "a", count: 65), "client": "c"],
        ["name": "a", "client": "c", "password": String(repeating: "a", count: 257)],
      ])
    func malformed(_ json: [String: String]) async throws {
      try await TestGallery.serving { gallery in
        let status = try gallery.ask("POST", "/v1/people", json: json).status
        #expect(status == 400)
      }
    }

    @Test("a new password and the removal of a person end their sessions and feeds, also after a restart")
    func ends() async throws {
      try await TestGallery.serving { gallery in
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "family") }
        try gallery.addPerson("anna", client: "family")
        let first = try gallery.key(ofPerson: "anna")
        let fetch = try gallery.fetch(key: first)
        let feed = try FeedClient(gallery, "fetch=\(fetch.name)&after=\(fetch.token)", key: first)
        let path = "/v1/people/anna/password"
        // The person needs the old password, for another person's key there is nothing there.
        #expect(try gallery.ask("PUT", path, json: ["password": "another one"], key: first).status == 403)
        let other = try gallery.key(of: "other")
        #expect(try gallery.ask("PUT", path, json: ["password": "another one"], key: other.secret).status == 404)
        let change = ["password": "another one", "old": "correct horse"]
        #expect(try gallery.ask("PUT", path, json: change, key: first).status == 204)
        #expect(try feed.next() == nil)
        #expect(try gallery.ask("GET", "/v1/session", key: first).status == 401)
        #expect(try gallery.signIn("anna").status == 401)
        let second = try gallery.key(ofPerson: "anna", "another one")
        #expect(try gallery.ask("DELETE", "/v1/people/anna").status == 204)
        #expect(try gallery.ask("GET", "/v1/session", key: second).status == 401)
        #expect(try gallery.signIn("anna", "another one").status == 401)
        // Another person of that name is another person.
        try gallery.addPerson("anna", client: "family")
        try await gallery.restart()
        #expect(try gallery.ask("GET", "/v1/session", key: second).status == 401)
        #expect(try gallery.ask("DELETE", "/v1/people/bert").status == 404)
      }
    }

    @Test("a removed person stays signed out even if the file of the keys could not be written")
    func crashBetween() async throws {
      try await TestGallery.serving { gallery in
        try gallery.addPerson("anna", client: "family")
        let key = try gallery.key(ofPerson: "anna")
        let file = gallery.temporary.url.appending(path: "server/keys.json")
        let before = try Data(contentsOf: file)
        #expect(try gallery.ask("DELETE", "/v1/people/anna").status == 204)
        try before.write(to: file)
        try await gallery.restart()
        #expect(try gallery.ask("GET", "/v1/session", key: key).status == 401)
      }
    }

    @Test("visits of share links replace visits and leave room for sign-ins; a link without room remains valid")
    func crowdedKeys() async throws {
      try await TestGallery.serving { gallery in
        for title in ["Summer", "Winter"] {
          #expect(try gallery.ask("POST", "/v1/shares", json: ["title": title]).status == 201)
        }
        let (server, shares) = (gallery.server, gallery.server.shares.list())
        // Besides the owner's key, which the file has.
        let keyring = try Keyring(
          library: gallery.library, environment: server.environment, people: server.people,
          shares: server.shares, trustedProxies: [], limits: Keyring.Limits(all: 6, ofShares: 3))
        var visits: [String] = []
        for round in 0..<6 {
          gallery.clock.advance(by: 1)
          let share = shares[round % 2]
          let tie = Keyring.Tie(name: share.name, epoch: share.epoch)
          let start = try gallery.library.as(share.client).currentToken
          visits.append(try keyring.makeKey(.init(client: share.client, label: "", share: tie, start: start)).0.name)
        }
        #expect(keyring.list().filter { $0.share != nil }.map(\.name) == Array(visits.suffix(3)))
        func signIn(_ link: String) throws -> Keyring.Key {
          try keyring.redeem(link) { client in Keyring.Grant(client: client, label: "") }.0
        }
        #expect(try signIn(keyring.makeLink(for: PhotoLibrary.owner)).client == PhotoLibrary.owner)
        _ = try keyring.makeKey(.init(client: "app", label: ""))
        let link = keyring.makeLink(for: PhotoLibrary.owner)
        let full = #expect(throws: Problem.self) { try signIn(link) }
        #expect(full?.status == 400)
        #expect(try keyring.withdraw { $0.client == "app" }.count == 1)
        #expect(try signIn(link).client == PhotoLibrary.owner)
        let used = #expect(throws: Problem.self) { try signIn(link) }
        #expect(used?.status == 401)
      }
    }

    @Test("a one-time link whose key cannot be written remains valid, and signs in once")
    func keptLink() async throws {
      try await TestGallery.serving { gallery in
        let link = try #require(try gallery.ask("POST", "/v1/links", json: [:]).json()["link"] as? String)
        func status() throws -> Int {
          try gallery.ask("POST", "/v1/sessions", json: ["link": link], key: nil).status
        }
        let file = gallery.temporary.url.appending(path: "server/keys.json")
        let kept = try Data(contentsOf: file)
        try FileManager.default.removeItem(at: file)
        // A folder in the place of the file cannot be replaced by one.
        try FileManager.default.createDirectory(at: file.appending(path: "a"), withIntermediateDirectories: true)
        #expect(try status() == 500)
        try FileManager.default.removeItem(at: file)
        try kept.write(to: file)
        #expect(try [status(), status()] == [201, 401])
      }
    }

    @Test("guessing is slowed down, by name and by peer, and the answer says until when")
    func slowedDown() async throws {
      try await TestGallery.serving { gallery in
        try gallery.addPerson("anna", client: "family")
        var statuses: [Int] = []
        for attempt in 0..<12 { statuses.append(try gallery.signIn("anna", "wrong \(attempt)").status) }
        #expect(statuses == Array(repeating: 401, count: 10) + [429, 429])
        let slow = try gallery.signIn("anna")
        #expect(slow.status == 429 && slow.fields["retry-after"] == "10")
        // Names that were not tried yet are slowed down by the peer.
        for attempt in 0..<7 { _ = try gallery.signIn("name \(attempt)") }
        #expect(try gallery.signIn("another").status == 429)
        gallery.clock.advance(by: 10)
        #expect(try gallery.signIn("anna").status == 201)
      }
    }

    @Test("who signs in, or opens a link, gives no attempts back to others that guess the same password")
    func givesNoAttemptsBack() async throws {
      try await TestGallery.serving { gallery in
        try gallery.addPerson("anna", client: "family")
        let made = try gallery.ask("POST", "/v1/shares", json: ["title": "Summer", "password": "correct horse"]).json()
        let secret = try #require(made["secret"] as? String)
        func open(_ password: String) throws -> Int {
          try gallery.ask("POST", "/v1/shares:open", json: ["secret": secret, "password": password], key: nil).status
        }
        for attempt in [{ try gallery.signIn("anna", $0).status }, open] as [(String) throws -> Int] {
          var statuses: [Int] = []
          for _ in 0..<2 {
            for _ in 0..<5 { statuses.append(try attempt("wrong password")) }
            statuses.append(try attempt("correct horse"))
          }
          #expect(statuses.prefix(6) == [401, 401, 401, 401, 401, 201])
          #expect(statuses.suffix(6) == [401, 401, 401, 401, 401, 429])
        }
      }
    }

    @Test("the list of keys marks visits, browser sessions and the caller's own key, also after a restart")
    func listed() async throws {
      try await TestGallery.serving(page: try PageFiles.ofProgram()) { gallery in
        let share = try gallery.ask("POST", "/v1/shares", json: ["title": "Summer"]).json()
        let secret = try #require(share["secret"] as? String)
        #expect(try gallery.ask("POST", "/v1/shares:open", json: ["secret": secret], key: nil).status == 201)
        let linked = try gallery.ask("GET", gallery.server.ownerLink(at: ""), key: nil)
        let cookie = "Cookie: " + (try #require(linked.fields["set-cookie"]?.split(separator: ";").first))
        _ = try gallery.key(of: "script")
        func check() throws {
          let keys = try #require(
            try gallery.ask("GET", "/v1/keys", key: nil, [cookie]).json()["keys"] as? [[String: Any]])
          func labels(_ isWanted: ([String: Any]) -> Bool) -> [String?] {
            keys.filter(isWanted).map { $0["label"] as? String }
          }
          #expect(keys.count == 4 && labels { $0["share"] as? String == share["name"] as? String } == ["Summer"])
          #expect(labels { $0["isBrowser"] as? Bool == true } == ["browser"])
          #expect(labels { $0["isOwn"] as? Bool == true } == ["browser"])
        }
        try check()
        try await gallery.restart()
        try check()
      }
    }

    @Test("signing out ends the key and takes the cookie away; a browser's password gives a cookie and no secret")
    func signsOut() async throws {
      try await TestGallery.serving { gallery in
        try gallery.addPerson("anna", client: "family")
        let json: [String: Any] = ["name": "anna", "password": "correct horse", "cookie": true]
        let answer = try gallery.ask("POST", "/v1/sessions", json: json, key: nil)
        #expect(answer.status == 201 && !answer.body.contains("secret"))
        let cookie = try #require(answer.fields["set-cookie"])
        #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"))
        let pair = "Cookie: " + (try #require(cookie.split(separator: ";").first))
        #expect(try gallery.ask("GET", "/v1/session", key: nil, [pair]).status == 200)
        // Another site's page cannot sign a person out.
        #expect(try gallery.ask("DELETE", "/v1/session", key: nil, [pair]).status == 403)
        let origin = "Origin: http://\(gallery.address)"
        let out = try gallery.ask("DELETE", "/v1/session", key: nil, [pair, origin])
        #expect(out.status == 204 && out.fields["set-cookie"]?.contains("Max-Age=0") == true)
        // The line about it names the person, though the key is gone when it is written.
        try await waitUntil("there is a line about signing out") {
          gallery.log.lines.contains { $0.status == 204 && $0.client == "family" }
        }
        #expect(try gallery.ask("GET", "/v1/session", key: nil, [pair]).status == 401)
        #expect(try gallery.ask("DELETE", "/v1/session", key: nil).status == 401)
        // A cookie that is good no more does not stand in the way of signing in again.
        #expect(try gallery.ask("GET", gallery.server.ownerLink(at: ""), key: nil, [pair]).status == 303)
      }
    }

    @Test("a browser that signs in again, with a password or a link, ends its previous session; a program's key stays")
    func signsInAgain() async throws {
      try await TestGallery.serving { gallery in
        try gallery.addPerson("anna", client: "family")
        try gallery.addPerson("bert", client: "family")
        let origin = "Origin: http://\(gallery.address)"
        func pair(_ answer: Answer) throws -> String {
          let cookie = try #require(answer.fields["set-cookie"]?.split(separator: ";").first)
          return "Cookie: \(cookie)"
        }
        func signIn(
          _ name: String, password: String = "correct horse", isCookie: Bool = true, with fields: [String] = []
        ) throws -> Answer {
          let json: [String: Any] = ["name": name, "password": password, "cookie": isCookie]
          return try gallery.ask("POST", "/v1/sessions", json: json, key: nil, fields)
        }
        func status(_ pair: String) throws -> Int { try gallery.ask("GET", "/v1/session", key: nil, [pair]).status }
        let first = try pair(signIn("anna"))
        let elsewhere = try pair(signIn("anna"))
        let second = try pair(signIn("bert", with: [first, origin]))
        #expect(try status(first) == 401)
        #expect(try status(second) == 200)
        // The same person in another browser stays.
        #expect(try status(elsewhere) == 200)
        // What gives no other cookie ends nothing.
        #expect(try signIn("bert", password: "wrong horse", with: [second, origin]).status == 401)
        #expect(try signIn("bert", isCookie: false, with: [second, origin]).status == 201)
        #expect(try gallery.ask("GET", "/sign-in?link=none", key: nil, [second]).status == 401)
        #expect(try status(second) == 200)
        let third = try pair(gallery.ask("GET", gallery.server.ownerLink(at: ""), key: nil, [second]))
        #expect(try status(second) == 401)
        #expect(try status(third) == 200)
        let made = try gallery.key(of: "script")
        let program = "Cookie: \(Keyring.cookie)=\(made.secret)"
        #expect(try status(pair(signIn("anna", with: [program, origin]))) == 200)
        #expect(try status(program) == 200)
      }
    }

    @Test("a key is valid for its scopes only, and until it expires")
    func scopes() async throws {
      try await TestGallery.serving { gallery in
        func key(_ scopes: [String], client: String = "owner", days: Int = 1) throws -> String {
          let json: [String: Any] = ["client": client, "scopes": scopes, "days": days]
          return try #require(try gallery.ask("POST", "/v1/keys", json: json).json()["secret"] as? String)
        }
        let reading = try key(["read"])
        #expect(try gallery.ask("POST", "/v1/fetches", json: [:], key: reading).status == 201)
        let refused = try gallery.ask("POST", "/v1/keys", json: ["client": "x"], key: reading)
        #expect(refused.status == 403 && refused.body.contains("scope-missing"))
        let adding = try key(["add"])
        #expect(try gallery.ask("POST", "/v1/fetches", json: [:], key: adding).status == 403)
        let hash = String(repeating: "0", count: 64)
        #expect(try gallery.ask("GET", "/v1/assets/x/resources/\(hash)", key: reading).status == 403)
        let json: [String: Any] = ["client": "app", "scopes": ["owner"]]
        #expect(try gallery.ask("POST", "/v1/keys", json: json).status == 400)
        #expect(try gallery.ask("POST", "/v1/keys", json: ["client": "app", "scopes": [String]()]).status == 400)
        #expect(try gallery.ask("POST", "/v1/keys", json: ["client": "app", "scopes": ["fly"]]).status == 400)
        gallery.clock.advance(by: 86_401)
        #expect(try gallery.ask("GET", "/v1/session", key: reading).status == 401)
      }
    }

    @Test("each route states the scope of key it needs; routes that change something need more than reading")
    func routesHaveScopes() {
      let exceptions: [String: Scope] = [
        "POST /v1/fetches": .read, "POST /v1/session/requests": .read, "POST /v1/session/more": .read,
        "PUT /v1/people/{person}/password": .read, "POST /v1/picking": .read, "PATCH /v1/picking/{session}": .read,
        "DELETE /v1/picking/{session}": .read, "POST /v1/feeds/{feed}/fetches": .read,
        "DELETE /v1/feeds/{feed}/fetches/{fetch}": .read, "POST /v1/downloads": .originals,
        "GET /v1/downloads/{download}": .originals, "POST /v1/uploads": .add, "PUT /v1/uploads": .add,
        "GET /v1/uploads/{upload}": .add, "PATCH /v1/uploads/{upload}": .add, "DELETE /v1/uploads/{upload}": .add,
        "POST /api/assets": .add, "POST /api/search/metadata": .read,
        "GET /v1/picked/{item}": .originals, "POST /v1/uploads:check": .add,
        "GET /v1/assets/{asset}/resources/{sha256}": .originals,
      ]
      for route in Router.routesWithImmichClients where route.need != .nothing {
        let name = "\(route.method) \(route.path)"
        let wanted = exceptions[name] ?? Route.usualScope(route.method, route.need)
        #expect(route.scope == wanted, "\(name) needs '\(route.scope)': is that meant? Then name it here.")
      }
    }

    @Test("a new password, and signing out, end the feeds of a person whom a proxy signs in")
    func proxiedFeeds() async throws {
      var access = GalleryAccess()
      access.trustedProxies = ["127.0.0.1"]
      try await TestGallery.serving(access: access) { gallery in
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "family") }
        try gallery.addPerson("anna", client: "family")
        let (fetch, anna) = (try gallery.fetch(), "X-Forwarded-User: anna")
        func open() throws -> EventStream {
          let stream = try EventStream(gallery, "/v1/feed?fetch=\(fetch.name)", key: nil, [anna])
          #expect(try stream.next()?["event"] == "feed")
          #expect(try stream.next()?["event"] == "state")
          return stream
        }
        let first = try open()
        let change = ["password": "another one"]
        #expect(try gallery.ask("PUT", "/v1/people/anna/password", json: change).status == 204)
        #expect(try first.next() == nil && first.hasEnded)
        let second = try open()
        let origin = "Origin: http://\(gallery.address)"
        #expect(try gallery.ask("DELETE", "/v1/session", key: nil, [anna, origin]).status == 204)
        #expect(try second.next() == nil && second.hasEnded)
        // The proxy signs in again.
        #expect(try gallery.ask("GET", "/v1/session", key: nil, [anna]).status == 200)
      }
    }

    @Test("a trusted proxy names the person; the same field from another address means nothing")
    func proxy() async throws {
      var access = GalleryAccess()
      access.trustedProxies = ["127.0.0.1"]
      try await TestGallery.serving(access: access) { gallery in
        try gallery.addPerson("anna", client: "family", password: nil)
        let anna = "X-Forwarded-User: anna"
        let session = try gallery.ask("GET", "/v1/session", key: nil, [anna])
        #expect(try session.json()["client"] as? String == "family")
        let bert = "X-Forwarded-User: bert"
        for (fields, says) in [([bert], "has no account"), ([anna, bert], "2 values of X-Forwarded-User")] {
          let answer = try gallery.ask("GET", "/v1/session", key: nil, fields)
          let detail = try answer.json()["detail"] as? String
          #expect(answer.status == 403 && detail?.contains(says) == true, "\(answer)")
        }
        // A proxy that passes this on has not seen the name, though it read the same head before.
        let client = try RawClient(port: gallery.address.port)
        let folded = ["X-Forwarded: anna\r\n -User", "Connection: close"]
        client.send(try gallery.head("GET", "/v1/session", key: nil, folded))
        #expect(client.readToEnd().hasPrefix("HTTP/1.1 400 "))
        // What the proxy asked the browser for comes along; a bearer token is a key, whether it is good or not.
        let basic = "Authorization: Basic YW5uYTpjb3JyZWN0IGhvcnNl"
        #expect(try gallery.ask("GET", "/v1/session", key: nil, [anna, basic]).json()["client"] as? String == "family")
        #expect(try gallery.ask("GET", "/v1/session", key: nil, [basic]).status == 401)
        for bearer in ["Bearer none", "bearer none", "Bearer", "BEARER "] {
          let fields = [anna, "Authorization: \(bearer)"]
          #expect(try gallery.ask("GET", "/v1/session", key: nil, fields).status == 401, "\(bearer)")
        }
        let signedIn = try gallery.ask("GET", gallery.server.ownerLink(at: ""), key: nil)
        let cookie = "Cookie: " + (try #require(signedIn.fields["set-cookie"]?.split(separator: ";").first))
        let own = try gallery.ask("GET", "/v1/session", key: nil, [cookie, basic])
        #expect(try own.json()["client"] as? String == "owner")
        #expect(try gallery.ask("GET", "/v1/session", key: nil).status == 401)
        // The proxy knows the person by something that a browser sends along, so another site's page could ask.
        #expect(try gallery.ask("POST", "/v1/session/more", json: [:], key: nil, [anna]).status == 403)
        #expect(try gallery.ask("POST", "/v1/session/more", json: [:], key: nil, [anna, basic]).status == 403)
        let origin = "Origin: http://\(gallery.address)"
        #expect(try gallery.ask("POST", "/v1/session/more", json: [:], key: nil, [anna, origin]).status == 409)
        #expect(try gallery.ask("DELETE", "/v1/people/anna").status == 204)
        #expect(try gallery.ask("GET", "/v1/session", key: nil, [anna]).status == 403)
      }
      try await TestGallery.serving { gallery in
        try gallery.addPerson("anna", client: "family", password: nil)
        #expect(try gallery.ask("GET", "/v1/session", key: nil, ["X-Forwarded-User: anna"]).status == 401)
      }
    }
  }
#endif
