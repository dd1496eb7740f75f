#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import LibraryJSON
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite("Names in two spellings")
  struct SpelledNameTests {
    /// One name in two spellings.
    private static let (composed, decomposed) = ("zo\u{EB}", "zoe\u{308}")

    /// A gallery with two limited clients whose names differ in spelling alone, of which each sees a photo.
    private static func serving(_ body: (TestGallery, [LocalIdentifier]) async throws -> Void) async throws {
      try await TestGallery.serving { gallery in
        let assets = try await gallery.makeAssets(2)
        try gallery.library.registerFormer(client: decomposed)
        try await gallery.library.performChanges { change in
          change.register(client: composed, .described)
          for (client, asset) in [(composed, assets[0]), (decomposed, assets[1])] {
            change.setAuthorizationStatus(.limited, of: client)
            change.grant([asset], to: client)
          }
        }
        try await body(gallery, assets)
      }
    }

    @Test("cached answers for a client are not given to one whose name differs in spelling alone")
    func caches() async throws {
      try await Self.serving { gallery, assets in
        let one = try gallery.key(of: Self.composed).secret
        let other = try gallery.key(of: Self.decomposed).secret
        let (fetch, token, count) = try gallery.fetch(["sort": ["creationDate:desc"]], key: one)
        #expect(count == 1)
        let targets = ["items?form=columns&token=\(token)", "items?token=\(token)", "sections?by=month&token=\(token)"]
        // A window is kept when it is asked for a second time.
        for target in targets + targets {
          #expect(try gallery.ask("GET", "/v1/fetches/\(fetch)/\(target)", key: one).status == 200, "\(target)")
          #expect(try gallery.ask("GET", "/v1/fetches/\(fetch)/\(target)", key: other).status == 400, "\(target)")
        }
        #expect(try gallery.fetch(key: other).count == 1)
        let path = "/v1/assets/\(assets[0].uuidString)"
        #expect(try gallery.ask("GET", path, key: one).status == 200)
        #expect(try gallery.ask("GET", path, key: other).status == 404)
      }
    }

    @Test("a poll of what two clients see, whose names differ in spelling alone, leads each to a state of its own")
    func poll() async throws {
      try await Self.serving { gallery, assets in
        let fetches = try [Self.composed, Self.decomposed].map { try gallery.fetch(["selectionOf": $0]) }
        #expect(fetches.allSatisfy { $0.count == 1 })
        try await gallery.library.performChanges { change in
          change.grant([assets[1]], to: Self.composed)
          change.grant([assets[0]], to: Self.decomposed)
        }
        let query = fetches.map { "fetch=\($0.name)&after=\($0.token)" }.joined(separator: "&")
        let poll = try gallery.ask("GET", "/v1/changes?\(query)").json()
        let messages = try #require(poll["messages"] as? [[String: Any]], "\(poll)")
        let names = messages.compactMap { $0["fetch"] as? String }
        #expect(names == fetches.map { $0.name }, "\(poll)")
        #expect(messages.allSatisfy { $0["status"] == nil }, "\(poll)")
      }
    }

    @Test("denying a client leaves the keys of one alone whose name differs in spelling")
    func denied() async throws {
      try await Self.serving { gallery, _ in
        let one = try gallery.key(of: Self.composed).secret
        let other = try gallery.key(of: Self.decomposed).secret
        let spelled = try #require(Self.decomposed.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        #expect(try gallery.ask("DELETE", "/v1/clients/\(spelled)").status == 204)
        #expect(try gallery.ask("GET", "/v1/session", key: one).status == 200)
        #expect(try gallery.ask("GET", "/v1/session", key: other).status == 401)
        let statuses = try gallery.library.clients().map { $0.status(for: .readWrite) }
        #expect(statuses == [.denied, .limited])
      }
    }

    @Test("a name that is not composed is rejected for a key, a person and an app, unless the library has its client")
    func new() async throws {
      try await Self.serving { gallery, _ in
        let names = [("re\u{301}ne", 400), (Self.decomposed, 201), ("r\u{E9}ne", 201)]
        for (index, (name, status)) in names.enumerated() {
          let key = try gallery.ask("POST", "/v1/keys", json: ["client": name])
          #expect(key.status == status, "\(name)")
          let person: [String: Any] = ["name": "person \(index)", "client": name]
          #expect(try gallery.ask("POST", "/v1/people", json: person).status == status, "\(name)")
        }
        for (name, status) in [(Self.decomposed, 400), (Self.composed, 201)] {
          let app = ["name": name, "usage": "To show photos."]
          #expect(try gallery.ask("POST", "/v1/clients", json: app, key: nil).status == status, "\(name)")
        }
      }
    }
  }
#endif
