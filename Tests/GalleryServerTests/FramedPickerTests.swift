#if Gallery
  import Foundation
  @testable import GalleryServer
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite("The picker in frames of other pages")
  struct FramedPickerTests {
    private static let origins = ["https://app.example", "http://localhost:3000"]

    private func path(_ client: String) -> String {
      "/v1/clients/\(client.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? client)/origins"
    }

    private func approve(_ gallery: TestGallery, _ origins: Any, of client: String, key: String = "owner") throws
      -> Answer
    {
      try gallery.ask("PATCH", path(client), json: ["approve": origins], key: key)
    }

    private func withdraw(_ gallery: TestGallery, _ origins: [String], of client: String) throws -> Answer {
      try gallery.ask("PATCH", path(client), json: ["withdraw": origins])
    }

    private func approved(_ gallery: TestGallery, of client: String) throws -> [String]? {
      try gallery.ask("GET", path(client)).json()["origins"] as? [String]
    }

    /// Begins a session that names origins.
    private func begin(_ gallery: TestGallery, _ key: String) throws -> String {
      let answer = try gallery.ask("POST", "/v1/picking", json: ["origins": Self.origins], key: key)
      try #require(answer.status == 201, "\(answer)")
      return try #require(try answer.json()["session"] as? String)
    }

    private func page(_ gallery: TestGallery, _ session: String, _ fields: [String] = []) throws -> Answer {
      try gallery.ask("GET", "/?pick=\(session)", key: nil, fields)
    }

    private func ancestors(_ answer: Answer) throws -> String {
      let policy = try #require(answer.fields["content-security-policy"])
      return try #require(policy.firstMatch(of: #/frame-ancestors (.*)/#)).output.1.description
    }

    @Test("the picker cannot be framed by origins that an app names, until the owner approves them for that app")
    func approval() async throws {
      try await TestGallery.serving(page: try PageFiles.ofProgram()) { gallery in
        let (app, other) = (try gallery.register(asks: nil), try gallery.register(asks: nil))
        let (session, others) = (try begin(gallery, app.key), try begin(gallery, other.key))
        let before = try page(gallery, session)
        #expect(try ancestors(before) == "'none'")
        #expect(before.fields["cross-origin-resource-policy"] == "same-origin")
        // The app itself, and a key of the owner that only reads, approve nothing.
        let reading = try gallery.ask("POST", "/v1/keys", json: ["client": PhotoLibrary.owner, "scopes": ["read"]])
        let keys = [app.key, try #require(try reading.json()["secret"] as? String)]
        for key in keys { #expect(try approve(gallery, Self.origins, of: app.client, key: key).status == 403) }
        #expect(try ancestors(page(gallery, session)) == "'none'")

        #expect(try approve(gallery, [Self.origins[0], "https://later.example"], of: app.client).status == 200)
        let after = try page(gallery, session)
        #expect(try ancestors(after) == Self.origins[0], "Only what the session names and the owner approved.")
        #expect(after.fields["cross-origin-resource-policy"] == nil)
        #expect(try ancestors(page(gallery, others)) == "'none'", "The approval is for one client.")
        for target in ["/", "/share", "/camera"] {
          #expect(try ancestors(gallery.ask("GET", target, key: nil)) == "'none'", "\(target)")
        }
        try await gallery.restart()
        #expect(try approved(gallery, of: app.client) == [Self.origins[0], "https://later.example"])
        #expect(try ancestors(page(gallery, begin(gallery, app.key))) == Self.origins[0])
      }
    }

    @Test("an approval and a withdrawal concern the origins that they name, whatever was approved before")
    func beside() async throws {
      try await TestGallery.serving { gallery in
        let (app, other) = ("app", "https://other.example")
        #expect(try approve(gallery, [Self.origins[0], other], of: app).status == 200)
        #expect(try withdraw(gallery, [other, "https://never.example"], of: app).status == 200)
        // A window that was opened before the withdrawal approves what it asks about.
        let answer = try approve(gallery, [Self.origins[1], Self.origins[0]], of: app)
        #expect(try answer.json()["origins"] as? [String] == Self.origins)
        let many = (1..<ApprovedOrigins.limitOfClient).map { "https://\($0).example" }
        let full = try approve(gallery, many, of: app)
        #expect(full.status == 400 && full.body.contains("limit-exceeded"), "\(full)")
        #expect(try approved(gallery, of: app) == Self.origins)
        let lists = ["approve": [other], "withdraw": [other, Self.origins[0]]]
        let both = try gallery.ask("PATCH", path(app), json: lists)
        #expect(try both.json()["origins"] as? [String] == [Self.origins[1], other])
      }
    }

    @Test("a browser that holds the picker with another policy gets it again with the present one")
    func revalidation() async throws {
      try await TestGallery.serving(page: try PageFiles.ofProgram()) { gallery in
        let app = try gallery.register(asks: nil)
        let session = try begin(gallery, app.key)
        #expect(try approve(gallery, Self.origins, of: app.client).status == 200)
        let framed = try #require(try page(gallery, session).fields["etag"])
        #expect(try page(gallery, session, ["If-None-Match: \(framed)"]).status == 304)
        #expect(try withdraw(gallery, Self.origins, of: app.client).status == 200)
        let now = try page(gallery, session, ["If-None-Match: \(framed)"])
        #expect(try now.status == 200 && ancestors(now) == "'none'")
      }
    }

    @Test("the app and the person see what a session names and what is approved, as soon as it is")
    func states() async throws {
      try await TestGallery.serving { gallery in
        let app = try gallery.register(asks: nil)
        let session = "/v1/picking/\(try begin(gallery, app.key))"
        let streams = [
          try StateClient(gallery, "\(session)/events", key: app.key),
          try StateClient(gallery, "\(session)/presentation/events"),
        ]
        for stream in streams {
          let state = try #require(try stream.next())
          #expect(state["origins"] as? [String] == Self.origins && state["approvedOrigins"] as? [String] == [])
        }
        let all = ["https://unnamed.example"] + Self.origins
        #expect(try approve(gallery, all, of: app.client).status == 200)
        // The presentation does not list the pages that other sessions of the client name.
        for (stream, expected) in zip(streams, [all, Self.origins]) {
          #expect(try stream.next()?["approvedOrigins"] as? [String] == expected)
        }
      }
    }

    @Test("an approval for which there is no room registers no client")
    func rejected() async throws {
      try await TestGallery.serving { gallery in
        for number in 0..<1_000 {
          try gallery.server.approvedOrigins.approve(["https://a.example"], of: "client \(number)")
        }
        let answer = try approve(gallery, Self.origins, of: "a program")
        #expect(answer.status == 400 && answer.body.contains("limit-exceeded"), "\(answer)")
        let rows = try #require(try gallery.ask("GET", "/v1/clients").json()["clients"] as? [[String: Any]])
        #expect(rows.isEmpty, "\(rows)")
      }
    }

    @Test("an approval ends with its client; one for a client that was never registered lists it")
    func withdrawn() async throws {
      try await TestGallery.serving { gallery in
        let app = try gallery.register(asks: nil)
        for client in [app.client, PhotoLibrary.owner, "a program"] {
          #expect(try approved(gallery, of: client) == [])
          #expect(try approve(gallery, Self.origins, of: client).status == 200)
        }
        let rows = try #require(try gallery.ask("GET", "/v1/clients").json()["clients"] as? [[String: Any]])
        #expect(rows.compactMap { $0["name"] as? String }.sorted() == ["a program", app.client].sorted())
        // An approval of which the library knows nothing, as a restored one may have it.
        try gallery.server.approvedOrigins.approve(Self.origins, of: "unknown")
        for client in ["unknown", PhotoLibrary.owner, app.client] {
          let target = path(client).replacing("/origins", with: "")
          #expect(try gallery.ask("DELETE", target).status == 204, "\(client)")
          #expect(try approved(gallery, of: client) == [], "\(client)")
          #expect(try approved(gallery, of: "a program") == Self.origins)
        }
        #expect(try gallery.ask("DELETE", path("unknown").replacing("/origins", with: "")).status == 404)
      }
    }

    @Test("only origins can be approved, and what cannot be stored is not approved")
    func malformed() async throws {
      try await TestGallery.serving { gallery in
        let many = Array(repeating: "https://a.example", count: ApprovedOrigins.limitOfClient + 1)
        for wrong: Any in [["*"], ["https://a.example; script-src *"], ["'self'"], [7], "https://a.example", many] {
          #expect(try approve(gallery, wrong, of: "app").status == 400, "\(wrong)")
        }
        let bodies: [[String: [String]]] = [[:], ["origins": Self.origins], ["withdraw": ["*"]]]
        for wrong in bodies {
          #expect(try gallery.ask("PATCH", path("app"), json: wrong).status == 400, "\(wrong)")
        }
        for method in ["GET", "HEAD"] {
          #expect(try gallery.ask(method, path("app") + "?other=1").status == 400, "\(method)")
        }
        #expect(try approve(gallery, Self.origins, of: String(repeating: "a", count: 300)).status == 400)
        let file = gallery.temporary.url.appending(path: "server/origins.json")
        // A folder in the place of the file cannot be replaced by one.
        try FileManager.default.createDirectory(at: file.appending(path: "a"), withIntermediateDirectories: true)
        #expect(try approve(gallery, Self.origins, of: "app").status == 500)
        #expect(try approved(gallery, of: "app") == [])
        try FileManager.default.removeItem(at: file)
        #expect(try approve(gallery, Self.origins, of: "app").status == 200)
      }
    }

    @Test("clients whose names are one text in several spellings have approvals of their own, kept in one order")
    func spellings() async throws {
      let names = (0..<8).map { (bits: Int) -> String in
        [1, 2, 4].map { bits & $0 == 0 ? "\u{E9}" : "e\u{301}" }.joined()
      }
      let library = try TemporaryLibrary(.seeded(1))
      let written = try ApprovedOrigins(folder: library.library.store.folder)
      for name in names { try written.approve(Self.origins, of: name) }
      try written.approve([], withdrawing: [Self.origins[0]], of: names[3])
      let again = try ApprovedOrigins(folder: library.library.store.folder)
      for (index, name) in names.enumerated() {
        #expect(again.origins(of: name) == (index == 3 ? [Self.origins[1]] : Self.origins), "\(index)")
      }
      let bytes = try Data(contentsOf: library.url.appending(path: "server/origins.json"))
      let places = try names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { name in
        try #require(bytes.range(of: Data("\"\(name)\"".utf8))?.lowerBound)
      }
      #expect(places == places.sorted())

      try await TestGallery.serving { gallery in
        for name in names[0..<2] { try gallery.library.registerFormer(client: name) }
        #expect(try approve(gallery, Self.origins, of: names[0]).status == 200)
        #expect(try approved(gallery, of: names[0]) == Self.origins && approved(gallery, of: names[1]) == [])
      }
    }

    @Test("so many clients have approved origins, and no more")
    func bounded() throws {
      let library = try TemporaryLibrary(.seeded(1))
      let approved = try ApprovedOrigins(folder: library.library.store.folder, clientLimit: 2)
      for number in 0..<2 { try approved.approve(Self.origins, of: "app \(number)") }
      let problem = #expect(throws: Problem.self) { try approved.approve(Self.origins, of: "another") }
      #expect(problem?.type == "limit-exceeded")
      try approved.approve(["https://later.example"], of: "app 1")
      #expect(try approved.withdrawAll(of: "app 0"))
      try approved.approve(Self.origins, of: "another")
      #expect(approved.origins(of: "another") == Self.origins && approved.origins(of: "app 0").isEmpty)
    }
  }
#endif
