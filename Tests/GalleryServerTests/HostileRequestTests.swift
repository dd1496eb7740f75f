#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite("Hostile requests")
  struct HostileRequestTests {
    @Test("floods are answered with 429 and when to retry: from a key, from a peer, and from unknown keys")
    func floods() async throws {
      var access = GalleryAccess()
      (access.limits.keyBurst, access.limits.keyPerSecond) = (5, 0.5)
      (access.limits.peerBurst, access.limits.peerPerSecond) = (8, 0.25)
      try await TestGallery.serving(access: access) { gallery in
        let (one, other) = (try gallery.key(of: "one").secret, try gallery.key(of: "other").secret)
        func statuses(_ count: Int, _ key: String?) throws -> [Int] {
          try (0..<count).map { _ in try gallery.ask("GET", "/v1/session", key: key).status }
        }
        #expect(try statuses(7, one) == [200, 200, 200, 200, 200, 429, 429])
        #expect(try gallery.ask("GET", "/v1/session", key: one).fields["retry-after"] == "2")
        // Another key, and the owner, are not slowed down by that.
        #expect(try statuses(1, other) == [200])
        #expect(try statuses(20, "owner") == Array(repeating: 200, count: 20))
        // One request signed the owner in; guessing keys and asking without one count alike, on unknown paths too.
        #expect(try statuses(3, "guess") == [401, 401, 401] && statuses(2, nil) == [401, 401])
        #expect(try gallery.ask("GET", "/nothing", key: nil).status == 404)
        #expect(try gallery.ask("GET", "/healthz", key: nil).status == 200)
        let slow = try gallery.ask("GET", "/healthz", key: nil)
        #expect(slow.status == 429 && slow.fields["retry-after"] == "4")
        gallery.clock.advance(by: 4)
        #expect(try gallery.ask("GET", "/healthz", key: nil).status == 200 && statuses(1, one) == [200])
      }
    }

    @Test("a body, a path, a query and a field with more marks on a character than can be compared are refused")
    func marks() async throws {
      try await TestGallery.serving { gallery in
        let marks = "a" + String(repeating: "\u{300}\u{323}", count: 100)
        for (path, json) in [("/v1/sessions", [marks: 1]), ("/v1/sessions", ["name": marks, "password": "x"])] {
          let answer = try gallery.ask("POST", path, json: json, key: nil)
          #expect(answer.status == 400 && answer.body.contains("marks"), "\(answer.status)")
        }
        let spelled = try #require(marks.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        for path in ["/v1/assets/\(spelled)", "/v1/session?after=\(spelled)", "/v1/session?\(spelled)=1"] {
          let answer = try gallery.ask("GET", path)
          #expect(answer.status == 400 && answer.body.contains("marks"), "\(path.prefix(20)): \(answer.status)")
        }
        for field in ["X-Forwarded-User: \(marks)", "\(marks): x"] {
          let client = try RawClient(port: gallery.address.port)
          client.send(try gallery.head("GET", "/v1/session", key: "owner", [field, "Connection: close"]))
          #expect(client.read(through: "\r\n").contains(" 400 "), "\(field.prefix(20))")
        }
      }
    }

    @Test("a head with too many marks is charged to its address, whatever key it shows")
    func chargedMarks() async throws {
      var access = GalleryAccess()
      (access.limits.peerBurst, access.limits.peerPerSecond) = (3, 0.25)
      try await TestGallery.serving(access: access) { gallery in
        let spelled = "a" + String(repeating: "%CC%80%CC%A3", count: 100)
        // One request signed the owner in.
        for status in [400, 400, 429] {
          let answer = try gallery.ask("GET", "/v1/session?\(spelled)=1")
          #expect(answer.status == status)
        }
        #expect(try gallery.ask("GET", "/v1/session").status == 200)
      }
    }

    @Test("the table of addresses is bounded, and an IPv6 site counts as one")
    func bounded() {
      let clock = TestClock()
      let throttle = Throttle(.init(burst: 2, perSecond: 1), now: { clock.now })
      for number in 0..<Throttle.limit * 2 { _ = throttle.take("name \(number)") }
      #expect(throttle.count <= Throttle.limit + 1)
      clock.advance(by: 10)
      #expect(throttle.take("another") == nil && throttle.count == 1)
      #expect(Throttle.name(ofPeer: "2001:db8:1:2::1") == Throttle.name(ofPeer: "2001:db8:1:2:ffff::9"))
      #expect(Throttle.name(ofPeer: "2001:db8:1:2::1") != Throttle.name(ofPeer: "2001:db8:1:3::1"))
      #expect(Throttle.name(ofPeer: "::ffff:10.0.0.1") != Throttle.name(ofPeer: "::ffff:10.0.0.2"))
      #expect(Throttle.name(ofPeer: "10.0.0.1") == "10.0.0.1")
    }

    @Test("after the clock is set back a name gets its attempts as usual, and a full table is emptied")
    func setBack() {
      let clock = TestClock()
      let throttle = Throttle(.init(burst: 1, perSecond: 0.1), now: { clock.now })
      #expect(throttle.take("anna") == nil && throttle.take("anna") == 10)
      for number in 0..<Throttle.limit { _ = throttle.take("name \(number)") }
      clock.advance(by: -10_800)
      #expect(throttle.take("anna") == 10)
      clock.advance(by: 11)
      #expect(throttle.take("anna") == nil && throttle.count == 1)
    }

    @Test("a short name and its longer spelling share their attempts")
    func spellings() {
      let clock = TestClock()
      let throttle = Throttle(.init(burst: 2, perSecond: 1), now: { clock.now })
      // 63 bytes; the canonical form of the letter is two, which have 126.
      let short = String(repeating: "\u{958}", count: 21)
      let long = String(repeating: "\u{915}\u{93C}", count: 21)
      #expect(short == long && throttle.take(short) == nil && throttle.take(long) == nil)
      #expect(throttle.take(short) != nil && throttle.take(long) != nil)
    }

    @Test("names of any length take bounded memory, each has its own attempts, and spellings of one text share theirs")
    func longNames() {
      let clock = TestClock()
      let throttle = Throttle(.init(burst: 2, perSecond: 1), now: { clock.now })
      // One character of 2 KB, in as many spellings, of which none equals another.
      let marks = ["\u{300}", "\u{301}", "\u{302}", "\u{303}", "\u{304}", "\u{305}", "\u{306}", "\u{307}"]
      let names = (0..<256).map { (number: Int) -> String in
        var name = "a"
        for place in 0..<1024 {
          let mark = place < 8 ? (number >> place) & 1 : 2 + place % 6
          name += marks[mark]
        }
        return name
      }
      #expect(names.allSatisfy { $0.count == 1 && $0.utf8.count > 2_000 } && Set(names).count == names.count)
      for name in names { #expect(throttle.take(name) == nil) }
      #expect(throttle.count == names.count && throttle.byteCount <= names.count * (Throttle.nameLimit + 8))
      #expect(throttle.take(names[0]) == nil && throttle.take(names[0]) == 1 && throttle.take(names[1]) == nil)
      throttle.giveBack(names[0])
      // One token, and not the other one, too.
      #expect(throttle.take(names[0]) == nil && throttle.take(names[0]) == 1)
      for count in [20, 24, 40] {
        let (composed, taken) = (String(repeating: "\u{E9}", count: count), throttle.count)
        #expect(throttle.take(composed) == nil)
        #expect(throttle.take(composed.decomposedStringWithCanonicalMapping) == nil && throttle.take(composed) == 1)
        #expect(throttle.count == taken + 1)
      }
    }

    @Test("every answer of every route forbids guessing, framing, scripts and referrers")
    func headers() async throws {
      try await TestGallery.serving(access: .withImmichClients) { gallery in
        for route in Router.routesWithImmichClients where !route.path.hasSuffix("/events") && route.path != "/v1/feed" {
          let path = route.path.replacing("{", with: "").replacing("}", with: "")
          for key in ["owner", nil] {
            // The owner's key must go on.
            if route.method == "DELETE", path == "/v1/session" { continue }
            let answer = try gallery.ask(
              route.method, path, json: ["GET", "DELETE"].contains(route.method) ? nil : [:], key: key)
            let what: Comment = "\(route.method) \(path): \(answer)"
            #expect(answer.status < 500 || answer.status == 501, what)
            #expect(answer.fields["x-content-type-options"] == "nosniff", what)
            #expect(answer.fields["content-security-policy"]?.contains("frame-ancestors 'none'") == true, what)
            #expect(answer.fields["referrer-policy"] == "no-referrer", what)
            #expect(answer.fields["cross-origin-resource-policy"] == "same-origin", what)
            #expect(answer.fields["access-control-allow-origin"] == nil, what)
          }
        }
      }
    }

    @Test("a request with two hosts is rejected by every route, as described")
    func twoHosts() async throws {
      try await TestGallery.serving(access: .withImmichClients) { gallery in
        for route in Router.routesWithImmichClients {
          let path = route.path.replacing("{", with: "").replacing("}", with: "")
          let answer = try gallery.ask(route.method, path, ["Host: other.example"])
          #expect(answer.status == 400, "\(route.method) \(path): \(answer)")
        }
      }
    }

    @Test("a cookie changes something from a page of this server's own host only, and no route accepts a form")
    func crossSite() async throws {
      try await TestGallery.serving(access: .withImmichClients) { gallery in
        let signedIn = try gallery.ask("GET", gallery.server.ownerLink(at: ""), key: nil)
        let cookie = "Cookie: " + (try #require(signedIn.fields["set-cookie"]?.split(separator: ";").first))
        let own = "Origin: http://\(gallery.address)"
        for route in Router.routesWithImmichClients where route.method != "GET" && route.need != .nothing {
          let path = route.path.replacing("{", with: "").replacing("}", with: "")
          for fields in [
            [cookie], [cookie, "Origin: null"], [cookie, "Origin: http://evil.example"],
            [cookie, own, "Sec-Fetch-Site: cross-site"], [cookie, own, "Sec-Fetch-Site: same-site"],
            [cookie, own + ".evil.example"], [cookie, "Origin: http://\(gallery.address)@evil.example"],
          ] {
            let answer = try gallery.ask(route.method, path, json: [:], key: nil, fields)
            #expect(answer.status == 403 && answer.body.contains("cross-site"), "\(route.method) \(path) \(fields)")
          }
        }
        for host in ["xn--mnchen-3ya.example", "xn--mnchen-3ya.example:8443", "[::1]:8080"] {
          let fields = [cookie, "Origin: https://\(host)", "Connection: close"]
          let head = try gallery.head("POST", "/v1/fetches", json: [:], key: nil, fields)
          let client = try RawClient(port: gallery.address.port)
          client.send(head.replacing("Host: \(gallery.address)", with: "Host: \(host)"))
          let answer = client.readToEnd()
          #expect(answer.hasPrefix("HTTP/1.1 201"), "\(host): \(answer)")
        }
        for type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
          let body = #"{"client":"x"}"#
          let fields = ["Content-Type: \(type)", "Content-Length: \(body.utf8.count)", "Connection: close"]
          let client = try RawClient(port: gallery.address.port)
          client.send(try gallery.head("POST", "/v1/keys", fields) + body)
          #expect(client.readToEnd().hasPrefix("HTTP/1.1 415"))
        }
      }
    }

    @Test("a file that a browser would run is a download of bytes, and its name breaks no line")
    func sniffing() async throws {
      try await TestGallery.serving { gallery in
        for (index, name) in ["a.svg", "a.html", "a\r\nSet-Cookie: b=c\r\n\r\n.jpg", "a\"; x=\"y.jpg"].enumerated() {
          let (asset, sha256) = try await gallery.makeFile("<script>alert(\(index))</script>", named: name)
          let answer = try gallery.ask("GET", "/v1/assets/\(asset)/resources/\(sha256)")
          #expect(answer.status == 200 && answer.fields["set-cookie"] == nil, "\(answer)")
          let isImage = name.hasSuffix("jpg")
          #expect(answer.fields["content-type"] == (isImage ? "image/jpeg" : "application/octet-stream"))
          #expect(answer.fields["content-disposition"]?.hasPrefix(isImage ? "inline" : "attachment") == true)
          #expect(answer.fields["content-security-policy"]?.contains("sandbox") == true)
        }
      }
    }

    @Test(
      "bodies that are too long, too deep or no JSON are rejected by every route that takes one",
      arguments: [
        (String(repeating: "[", count: 60_000), 400), ("{\"a\":\"\(String(repeating: "b", count: 70_000))\"}", 413),
        ("{", 400), ("\u{FEFF}{}", 400), ("{\"a\":1,\"a\":1}", 400), ("", 400), ("null", 400), ("[]", 400), ("7", 400),
        ("{\"\u{0}\":1}", 400), ("{\"nonsense\":{\"deep\":[[[[[]]]]]}}", 400),
      ])
    func bodies(_ body: String, _ status: Int) async throws {
      try await TestGallery.serving(access: .withImmichClients) { gallery in
        _ = try await gallery.makeAssets(1)
        for route in Router.routesWithImmichClients where ["POST", "PUT", "PATCH"].contains(route.method) {
          // An upload is any bytes, or a form.
          if route.path == "/api/assets", route.method == "POST" { continue }
          if route.path == "/v1/uploads" || route.path == "/v1/uploads/{upload}" { continue }
          // A name that no session, person or client has is 404 where the body is not read first.
          let path = route.path.replacing("{", with: "").replacing("}", with: "")
          let client = try RawClient(port: gallery.address.port)
          let fields = [
            "Content-Type: application/json", "Content-Length: \(body.utf8.count)", "Connection: close",
          ]
          client.send(try gallery.head(route.method, path, fields) + body)
          let answer = TestGallery.checked(
            route.method, path, try #require(TestGallery.parsed(client.readToEnd()), "\(route.method) \(path)"))
          // What is too long for one route is only wrong for another.
          let statuses = status == 413 ? [413, 400, 404] : [status, 404]
          #expect(statuses.contains(answer.status), "\(route.method) \(path): \(answer)")
        }
      }
    }

    @Test(
      "a large body of many small values, which take far more memory than their text, is not read to its end",
      arguments: ["/v1/downloads", "/v1/blocks"])
    func values(_ path: String) async throws {
      try await TestGallery.serving { gallery in
        let body = #"{"assets":["# + String(repeating: "[1],", count: JSON.valueLimit / 2) + "1]}"
        let client = try RawClient(port: gallery.address.port)
        let fields = ["Content-Type: application/json", "Content-Length: \(body.utf8.count)", "Connection: close"]
        client.send(try gallery.head("POST", path, fields) + body)
        let answer = TestGallery.checked("POST", path, try #require(TestGallery.parsed(client.readToEnd())))
        #expect(answer.status == 400 && answer.body.contains("400000 values"), "\(answer)")
      }
    }

    @Test("one key or person cannot occupy all places")
    func places() async throws {
      try await TestGallery.serving { gallery in
        let key = try gallery.key(of: "app").secret
        var streams = try (0..<AccessWatch.limitOfKey).map { _ in
          try StateClient(gallery, "/v1/session/events", key: key)
        }
        #expect(try gallery.ask("GET", "/v1/session/events", key: key).status == 429)
        #expect(try gallery.ask("GET", "/v1/session", key: key).status == 429)
        #expect(try gallery.ask("GET", "/v1/session").status == 200)
        streams = []
        // A client that has left is found when the stream writes.
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "app") }
        try await waitUntil("the places are free") {
          try gallery.ask("GET", "/v1/session", key: key).status == 200
        }
        #expect(streams.isEmpty)
        try gallery.addPerson("anna", client: "family", password: nil)
        let anna = try #require(gallery.server.people.named("anna"))
        for _ in 0..<Keyring.limitOfPerson + 10 {
          _ = try gallery.server.keyring.makeKey(
            .init(client: "family", label: "", person: .init(name: "anna", epoch: anna.epoch)))
        }
        #expect(gallery.server.keyring.list().count { $0.person != nil } == Keyring.limitOfPerson)
      }
    }

    /// Opens a new share link as several visitors.
    /// - Returns: the secret of each visitor's key.
    private func visit(_ gallery: TestGallery, times count: Int) async throws -> [String] {
      let assets = try await gallery.makeAssets(1).map(\.uuidString)
      let link = try gallery.ask("POST", "/v1/shares", json: ["title": "Wedding", "assets": assets]).json()
      return try (0..<count).map { _ in
        let opened = try gallery.ask("POST", "/v1/shares:open", json: ["secret": link["secret"] ?? ""], key: nil)
        return try #require(try opened.json()["secret"] as? String, "\(opened)")
      }
    }

    @Test("the visitors of a share link share one limit of feeds and requests, however often it is opened")
    func visitors() async throws {
      var access = GalleryAccess()
      (access.limits.feedsOfKey, access.limits.feedsOfShare) = (3, 5)
      try await TestGallery.serving(access: access) { gallery in
        let keys = try await visit(gallery, times: 3)
        let query = "fetch=\(try gallery.fetch(key: keys[0]).name)"
        var open = try [0, 0, 0, 1, 1].map { try FeedClient(gallery, query, key: keys[$0]) }
        for key in keys {
          let client = try RawClient(port: gallery.address.port)
          client.send(try gallery.head("GET", "/v1/feed?\(query)", key: key, ["Connection: close"]))
          let head = client.read(through: "\r\n\r\n")
          #expect(head.hasPrefix("HTTP/1.1 429") && head.contains("Retry-After: 5"), "\(head)")
        }
        open.append(try FeedClient(gallery, "fetch=\(try gallery.fetch().name)"))
        #expect(open.count == 6 && gallery.server.feeds.count == 6)
      }
      access = GalleryAccess()
      (access.limits.shareBurst, access.limits.sharePerSecond) = (6, 0.5)
      try await TestGallery.serving(access: access) { gallery in
        let keys = try await visit(gallery, times: 3)
        let other = try gallery.key(of: "other").secret
        func statuses() throws -> [Int] { try keys.map { try gallery.ask("GET", "/v1/session", key: $0).status } }
        #expect(try statuses() == [200, 200, 200] && statuses() == [200, 200, 200] && statuses() == [429, 429, 429])
        #expect(try gallery.ask("GET", "/v1/session", key: keys[0]).fields["retry-after"] == "2")
        #expect(try gallery.ask("GET", "/v1/session", key: other).status == 200)
      }
    }

    @Test("the visitors of a share link share one limit of polls and streams of states")
    func visitorsStates() throws {
      let watch = AccessWatch()
      func key(_ name: Int, of share: String) -> Keyring.Key {
        Keyring.Key(
          name: "key \(name)", client: share, label: "", created: .distantPast, expires: .distantFuture,
          share: .init(name: share, epoch: "1"))
      }
      let visitors = AccessWatch.limitOfShare / AccessWatch.limitOfKey
      for visitor in 0..<visitors {
        for _ in 0..<AccessWatch.limitOfKey { try watch.enter(key(visitor, of: "wedding")) }
      }
      let refusal = #expect(throws: Problem.self) { try watch.enter(key(visitors, of: "wedding")) }
      #expect(refusal?.status == 429)
      try watch.enter(key(visitors + 1, of: "other"))
      watch.leave(key(0, of: "wedding"))
      try watch.enter(key(visitors, of: "wedding"))
    }

    @Test("a watch that has ended keeps nothing of what it ended")
    func endedWatch() async throws {
      final class Part: Sendable {}
      struct Remaining { weak var part: Part? }
      try await TestGallery.serving { gallery in
        let (watch, calls) = (AccessWatch(), Gathered<Bool>())
        func begin() throws -> Remaining {
          let part = Part()
          try watch.begin(gallery.library, every: 3_600) { withExtendedLifetime(part) { calls.append(true) } }
          return Remaining(part: part)
        }
        let remaining = try begin()
        let isThere = remaining.part != nil
        watch.end()
        let isGone = remaining.part == nil
        #expect(isThere && isGone && !calls.all.isEmpty)
      }
    }

    @Test("a request with an unread body occupies no place of a poll or a stream")
    func placesWithBodies() async throws {
      try await TestGallery.serving { gallery in
        let key = try gallery.key(of: "app").secret
        for path in ["/v1/session", "/v1/session/events"] {
          for _ in 0..<AccessWatch.limitOfKey {
            #expect(try gallery.ask("GET", path, json: [:], key: key).status == 413)
          }
        }
        #expect(try gallery.ask("GET", "/v1/session", key: key).status == 200)
        _ = try StateClient(gallery, "/v1/session/events", key: key)
      }
    }

    @Test("a secret is never in the log, in a list, or in an answer that is not its own")
    func secrets() async throws {
      try await TestGallery.serving { gallery in
        let key = try gallery.key(of: "app")
        try gallery.addPerson("anna", client: "family", password: "correct horse")
        let assets = try await gallery.makeAssets(1).map(\.uuidString)
        let share = try gallery.ask("POST", "/v1/shares", json: ["title": "Trip", "assets": assets])
        let signIn = gallery.server.ownerLink(at: "")
        let secrets = [
          key.secret, gallery.owner, try #require(try share.json()["secret"] as? String), "correct horse",
          try #require(signIn.split(separator: "=").last.map(String.init)),
        ]
        for (name, shown) in [("keys", key.name), ("people", "anna"), ("shares", "Trip")] {
          let list = try gallery.ask("GET", "/v1/\(name)").body
          let file = gallery.temporary.url.appending(path: "server/\(name).json")
          for text in [list, try String(contentsOf: file, encoding: .utf8)] {
            #expect(text.contains(shown) && !secrets.contains { text.contains($0) }, "\(text)")
          }
        }
        let targets = ["/v1/session?key=\(key.secret)", signIn]
        for target in targets { _ = try gallery.ask("GET", target, key: nil) }
        try await waitUntil("the requests are in the log") {
          let paths = Set(gallery.log.lines.map(\.path))
          return targets.allSatisfy { paths.contains(String($0.prefix { $0 != "?" })) }
        }
        let log = gallery.log.lines.map { "\($0)" }.joined(separator: "\n")
        #expect(!secrets.contains { log.contains($0) }, "\(log)")
      }
    }
  }

  extension TestGallery {
    /// Makes an asset of bytes whose file had any name.
    func makeFile(_ text: String, named name: String) async throws -> (asset: String, sha256: String) {
      let file = temporary.folder.place("file \(text.utf8.count) \(text.hashValue)")
      try Data(text.utf8).write(to: file)
      var draft = ResourceDraft(type: .photo, source: .file(file, shouldMove: false))
      draft.originalFilename = name
      var id: LocalIdentifier?
      try await library.performChanges { change in
        id = change.createAsset(AssetCreation(mediaType: .image, resources: [draft]))
      }
      let created = try #require(id)
      let asset = try #require(try library.asset(created.uuidString))
      return (asset.id.uuidString, try #require(try library.resources(of: asset).first?.sha256Hex))
    }
  }
#endif
