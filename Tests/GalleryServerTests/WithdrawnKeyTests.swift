#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import PhotoLedger
  import TestSupport
  import Testing

  // A request whose head came with a good key, and whose body comes when the key is good no more. That the server waits
  // for the body is seen by its interim response: what a client that expects one is sent (RFC 9110, 10.1.1).

  @Suite("A key that is withdrawn between the head of a request and its body")
  struct WithdrawnKeyTests {
    /// A request of whose body nothing was sent yet.
    private struct Begun {
      let client: RawClient
      let method: String
      let path: String
      /// The interim response.
      let interim: String

      init(_ gallery: TestGallery, _ method: String, _ path: String, key: String?, _ fields: [String]) throws {
        (client, self.method, self.path) = (try RawClient(port: gallery.address.port), method, path)
        client.send(try gallery.head(method, path, key: key, fields + ["Connection: close"]))
        interim = client.read(through: "\r\n\r\n")
        try #require(interim.hasPrefix("HTTP/1.1 10"), "\(method) \(path): \(interim)")
      }

      func answer(_ body: String) throws -> Answer {
        client.send(body)
        return TestGallery.checked(
          method, path, try #require(TestGallery.parsed(client.readBytesToEnd()), "\(method) \(path)"))
      }
    }

    private static let expecting = ["Content-Type: application/json", "Expect: 100-continue"]
    private static let chunked = expecting + ["Transfer-Encoding: chunked"]

    /// A key of the owner for everything.
    private func ownersKey(_ gallery: TestGallery) throws -> (name: String, secret: String) {
      let json: [String: Any] = ["client": PhotoLibrary.owner, "scopes": Scope.allCases.map(\.rawValue)]
      let key = try gallery.ask("POST", "/v1/keys", json: json).json()
      return (try #require(key["name"] as? String), try #require(key["secret"] as? String))
    }

    private func withdraw(_ gallery: TestGallery, _ name: String) throws {
      #expect(try gallery.ask("DELETE", "/v1/keys/\(name)").status == 204)
    }

    @Test("no route that changes something does so for it", arguments: ["POST", "PUT", "PATCH", "DELETE"])
    func everyRoute(_ method: String) async throws {
      try await TestGallery.serving(access: .withImmichClients) { gallery in
        var count = 0
        for route in Router.routesWithImmichClients where route.method == method && route.need != .nothing {
          // A body that is received as it comes is not JSON; see `uploads`.
          if ["/v1/uploads", "/v1/uploads/{upload}"].contains(route.path), method != "DELETE" { continue }
          if route.path == "/api/assets", method == "POST" { continue }
          let path = route.path.replacing("{", with: "").replacing("}", with: "")
          let key = try ownersKey(gallery)
          let begun = try Begun(gallery, method, path, key: key.secret, Self.chunked)
          try withdraw(gallery, key.name)
          let answer = try begun.answer("0\r\n\r\n")
          #expect(answer.status == 401 && answer.body.contains("sign-in-required"), "\(method) \(path): \(answer)")
          count += 1
        }
        #expect(count > (method == "PATCH" ? 0 : 2), "Few routes were asked.")
      }
    }

    @Test(
      "it creates no other key, no person and no link, whether it was withdrawn or has expired",
      arguments: [true, false])
    func makesNone(_ isExpired: Bool) async throws {
      try await TestGallery.serving { gallery in
        let bodies = [
          ("/v1/keys", #"{"client":"owner","scopes":["owner"]}"#), ("/v1/people", #"{"name":"eve","client":"owner"}"#),
          ("/v1/links", "{}"), ("/v1/shares", #"{"title":"Eve"}"#),
          ("/v1/blocks", #"{"changes":[{"op":"album.create","title":"Eve"}]}"#),
        ]
        for (path, body) in bodies {
          let json: [String: Any] = ["client": "owner", "scopes": Scope.allCases.map(\.rawValue), "days": 1]
          let made = try gallery.ask("POST", "/v1/keys", json: json).json()
          let secret = try #require(made["secret"] as? String)
          let fields = Self.expecting + ["Content-Length: \(body.utf8.count)"]
          let begun = try Begun(gallery, "POST", path, key: secret, fields)
          if isExpired {
            gallery.clock.advance(by: 86_401)
          } else {
            try withdraw(gallery, try #require(made["name"] as? String))
          }
          let answer = try begun.answer(body)
          #expect(answer.status == 401, "\(path): \(answer)")
        }
        #expect(gallery.server.keyring.list().count == 1 && gallery.server.people.list().isEmpty)
        #expect(gallery.server.shares.list().isEmpty)
        #expect(try gallery.library.fetchCollections(with: .album).isEmpty)
      }
    }

    @Test("a link that it had created signs no one in, by either route; a link that the server printed does")
    func links() async throws {
      try await TestGallery.serving { gallery in
        let (key, other) = (try ownersKey(gallery), try ownersKey(gallery))
        func link(_ secret: String) throws -> String {
          try #require(try gallery.ask("POST", "/v1/links", json: [:], key: secret).json()["link"] as? String)
        }
        let (first, second, good) = (try link(key.secret), try link(key.secret), try link(other.secret))
        try withdraw(gallery, key.name)
        #expect(try gallery.ask("POST", "/v1/sessions", json: ["link": first], key: nil).status == 401)
        #expect(try gallery.ask("GET", "/sign-in?link=\(second)", key: nil).status == 401)
        #expect(try gallery.ask("POST", "/v1/sessions", json: ["link": good], key: nil).status == 201)
        let printed = gallery.server.keyring.makeLink(for: PhotoLibrary.owner)
        #expect(try gallery.ask("POST", "/v1/sessions", json: ["link": printed], key: nil).status == 201)
      }
    }

    @Test("it creates no key even if it is withdrawn while the creation waits for its turn")
    func makesNoKeyLater() async throws {
      try await TestGallery.serving { gallery in
        let keyring = gallery.server.keyring
        let made = try keyring.makeKey(.init(client: PhotoLibrary.owner, label: "first", scopes: Scope.all))
        _ = try keyring.makeKey(.init(client: PhotoLibrary.owner, label: "second"), by: made.0)
        try withdraw(gallery, made.0.name)
        #expect(throws: Problem.self) {
          try keyring.makeKey(.init(client: PhotoLibrary.owner, label: "third"), by: made.0)
        }
        #expect(!keyring.list().contains { $0.label == "third" } && keyring.list().contains { $0.label == "second" })
      }
    }

    @Test("it creates no person and no link, and sets no password, even if it is withdrawn while that is prepared")
    func makesNothingLater() async throws {
      try await TestGallery.serving { gallery in
        try gallery.addPerson("anna", client: "family")
        let requests: [(method: String, path: String, json: [String: Any])] = [
          ("POST", "/v1/people", ["name": "eve", "client": "owner", "password": "correct horse"]),
          ("PUT", "/v1/people/anna/password", ["password": "set by eve"]), ("POST", "/v1/shares", ["title": "Eve"]),
        ]
        let keyring = gallery.server.keyring
        let before = try gallery.library.lastSequence
        for (method, path, json) in requests {
          let key = try ownersKey(gallery)
          gallery.draw.when { _ = try? keyring.withdraw { $0.name == key.name } }
          let answer = try gallery.ask(method, path, json: json, key: key.secret)
          #expect(answer.status == 401, "\(path): \(answer)")
          #expect(keyring.client(ofGoodKey: key.name) == nil)
        }
        #expect(gallery.server.people.list().map(\.name) == ["anna"] && gallery.server.shares.list().isEmpty)
        #expect(try gallery.library.lastSequence == before && gallery.signIn("anna").status == 201)
      }
    }

    @Test("a person's password that the owner set meanwhile is not overwritten by the earlier session")
    func laterPassword() async throws {
      try await TestGallery.serving { gallery in
        try gallery.addPerson("anna", client: "family")
        let people = gallery.server.people
        let epoch = try #require(people.named("anna")).epoch
        #expect(try people.setPassword("set by the owner", of: "anna"))
        #expect(try !people.setPassword("set by the intruder", of: "anna", at: epoch))
        #expect(try people.signIn("anna", "set by the intruder") == nil)
        let person = try #require(try people.signIn("anna", "set by the owner"))
        #expect(try people.setPassword("her own again", of: "anna", at: person.epoch))
      }
    }

    @Test("a part of an upload, or its last one, is not accepted for it")
    func uploads() async throws {
      try await TestGallery.serving { gallery in
        for isLast in [false, true] {
          let key = try ownersKey(gallery)
          let fields = ["Upload-Complete: ?\(isLast ? 1 : 0)", "Upload-Draft-Interop-Version: 8", "Content-Length: 4"]
          let begun = try Begun(gallery, "POST", "/v1/uploads?name=a.jpg", key: key.secret, fields)
          #expect(begun.interim.hasPrefix("HTTP/1.1 104"))
          try withdraw(gallery, key.name)
          let answer = try begun.answer("abcd")
          #expect(answer.status == 401, "\(answer)")
        }
        #expect(try gallery.library.fetchAssets().isEmpty)
      }
    }

    @Test("a withdrawn client leaves no unfinished upload, and a body that it still sends is answered with 401")
    func uploadsOfClient() async throws {
      try await TestGallery.serving { gallery in
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "app", for: .addOnly) }
        let key = try gallery.key(of: "app").secret
        let fields = ["Upload-Complete: ?0", "Upload-Draft-Interop-Version: 8"]
        let part = try gallery.send("POST", "/v1/uploads?name=a.jpg", Data(count: 1 << 20), key: key, fields)
        #expect(part.answer.status == 201, "\(part)")
        let begun = try Begun(
          gallery, "POST", "/v1/uploads?name=b.jpg", key: key, fields + ["Content-Length: \(1 << 21)"])
        begun.client.send([UInt8](repeating: 7, count: 1 << 20))
        #expect(gallery.leftovers.count == 4, "\(gallery.leftovers)")
        #expect(try gallery.ask("DELETE", "/v1/clients/app").status == 204)
        #expect(gallery.leftovers.isEmpty, "\(gallery.leftovers)")
        let answer = try begun.answer(String(repeating: "b", count: 1 << 20))
        #expect(answer.status == 401, "\(answer)")
        #expect(gallery.leftovers.isEmpty, "\(gallery.leftovers)")
      }
    }

    @Test("a body that a client still sends when it is denied access is answered with 403, and its rest is not written")
    func uploadOfDenied() async throws {
      try await TestGallery.serving { gallery in
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "app", for: .addOnly) }
        let key = try gallery.key(of: "app").secret
        let fields = ["Upload-Complete: ?0", "Upload-Draft-Interop-Version: 8", "Content-Length: \(1 << 21)"]
        let begun = try Begun(gallery, "POST", "/v1/uploads?name=a.jpg", key: key, fields)
        begun.client.send([UInt8](repeating: 7, count: 1 << 20))
        // A portion is written when more has come.
        try await waitUntil("most of the first half has been written") {
          gallery.server.uploads.figures.bytes >= 3 << 18
        }
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.denied, of: "app", for: .addOnly) }
        let answer = try begun.answer(String(repeating: "b", count: 1 << 20))
        #expect(answer.status == 403, "\(answer)")
        #expect(gallery.server.uploads.figures.bytes <= 1 << 20)
      }
    }

    @Test("requests that need no key are still answered: signing in with the cookie of a withdrawn key")
    func signsIn() async throws {
      try await TestGallery.serving { gallery in
        try gallery.addPerson("anna", client: "family")
        let key = try ownersKey(gallery)
        let origin = "Origin: http://\(gallery.address)"
        let body = #"{"name":"anna","password":"correct horse"}"#
        let fields =
          Self.expecting + [
            origin, "Cookie: \(Keyring.cookie)=\(key.secret)", "Content-Length: \(body.utf8.count)",
          ]
        let begun = try Begun(gallery, "POST", "/v1/sessions", key: nil, fields)
        try withdraw(gallery, key.name)
        let answer = try begun.answer(body)
        #expect(answer.status == 201, "\(answer)")
      }
    }
  }
#endif
