#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite("Rules of the server as a whole")
  struct ServerRuleTests {
    @Test("a library has one server; the next one begins when the first has stopped")
    func oneServer() async throws {
      try await TestGallery.serving { gallery in
        let error = #expect(throws: GalleryError.self) { _ = try GalleryServer(gallery.library) }
        #expect(error?.description.contains("Another server serves the library") == true)
        #expect(error?.description.contains(gallery.temporary.url.path) == true)
        try await gallery.restart()
        #expect(try gallery.ask("GET", "/v1/session").status == 200)
        #expect(throws: GalleryError.self) { _ = try GalleryServer(gallery.library) }
      }
    }

    @Test("the page of threats names the limits that all clients share")
    func sharedLimits() throws {
      let page = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources/PhotoLedger/PhotoLedger.docc/Threats.md")
      let text = try String(contentsOf: page, encoding: .utf8).split(whereSeparator: \.isWhitespace)
        .joined(separator: " ")
      func spelled(_ count: Int) -> String {
        count < 1000 ? "\(count)" : "\(count / 1000)," + String(format: "%03d", count % 1000)
      }
      for limit in [
        "while \(UploadQuota().active) bodies are being received in all",
        "three quarters of \(HTTPServerOptions().gatheredBytes >> 20) MiB",
        "while \(Pickings.copyLimit) items are being read in all",
        "while \(Passwords.waitingLimit) passwords are being checked",
        "more than \(spelled(RenditionOptions().queueLimit)) contents",
        "When \(Downloads.limit) downloads are prepared in all",
        "When \(spelled(Pickings.limit)) picking sessions are open in all",
      ] { #expect(text.contains(limit), "\(limit)") }
    }

    @Test(
      "a sentence names a path if a word of it begins with a slash",
      arguments: [
        ("The keys cannot be written to /home/anna/server/keys.json: No space left.", true),
        ("'/mnt/nas/a.jpg' cannot be opened.", true), ("/mnt is away.", true), ("It is at (/srv/photos).", true),
        ("Größe: /srv", true), ("The type image/jpeg is not one of them.", false),
        ("There is no asset 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F/L0/001.", false), ("Use https://example.org.", false),
        ("", false),
      ])
    func paths(_ sentence: String, _ names: Bool) {
      #expect(Problem.namesPath(sentence) == names)
      let problem = Problem(GalleryError(sentence))
      #expect((problem.detail == sentence) != names && problem.note == (names ? sentence : nil))
      #expect(!problem.json.description.contains("/home") && !problem.json.description.contains("/mnt"))
      #expect(problem.status == 500 && Problem(GalleryError(sentence, isOfSpace: true)).status == 507)
    }

    @Test("a process that can open no more files says so, and calls neither a file nor an upload missing")
    func noDescriptors() async {
      await #expect(processExitsWith: .success) {
        let temporary = try TemporaryLibrary()
        let file = temporary.folder.place("a.jpg")
        try Data("photo".utf8).write(to: file)
        let uploads = try UploadFolder(
          temporary.library.store.folder, now: { Date() }, writing: { pwrite($0, $1.baseAddress, $1.count, $2) },
          synchronizing: { fdatasync($0) })
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var before = rlimit()
        try #require(getrlimit(resource, &before) == 0)
        var limit = rlimit(rlim_cur: 0, rlim_max: before.rlim_max)
        try #require(setrlimit(resource, &limit) == 0)
        let problem = #expect(throws: Problem.self) { try FileAnswer.open(file.path, in: nil, size: 5) }
        let finished = #expect(throws: LibraryError.self) { try uploads.finished("an upload") }
        let listed = #expect(throws: Problem.self) { try uploads.load(olderThan: .distantPast) }
        try #require(setrlimit(resource, &before) == 0)
        #expect(problem?.status == 503 && problem?.type == "library-offline" && listed?.status == 503)
        #expect(finished.map { Problem($0).status } == 503)
        #expect(try FileAnswer.open(file.path, in: nil, size: 5).status.st_size == 5)
        #expect(try uploads.finished("an upload") == nil)
        withExtendedLifetime(temporary) {}
      }
    }

    @Test("words of a request are echoed unchanged, whatever slashes they contain")
    func words() {
      for code in [LibraryError.Code.malformedRequest, .changeNotSupported, .unsupportedPredicate, .conflict] {
        let problem = Problem(LibraryError(code, "'Rome / Paris' is no date; '12 /5' neither."))
        #expect(problem.detail.contains("Rome / Paris") && problem.note == nil)
      }
      let failure = Problem(LibraryError(.conversionFailed, "/usr/bin/vips exited with status 1."))
      #expect(failure.status == 422 && !failure.detail.contains("vips") && failure.note?.contains("vips") == true)
    }

    @Test("a feed reports a problem as completely as an answer does, with its fetch")
    func problemOfFeed() throws {
      var problem = Problem(404, "missing-resource", "The file is missing.")
      problem.members = [JSON.Member("assets", .list([.text("an asset")]))]
      let fetch = try FetchRequest([:])
      let members = Message.problem(problem, of: fetch).objectValue ?? []
      #expect(members.first == JSON.Member("fetch", .text(fetch.name)))
      #expect(JSON.object(Array(members.dropFirst())) == problem.json && problem.json["assets"] != nil)
    }

    @Test("each 503 states once when to retry, whatever failed")
    func comeBack() async throws {
      func times(_ response: HTTPResponse) -> [String] {
        response.fields.filter { $0.name.lowercased() == "retry-after" }.map(\.value)
      }
      for code in [LibraryError.Code.closed, .libraryOffline, .operationInterrupted, .outcomeUnknown, .resourceChanged]
      {
        let problem = Problem(LibraryError(code, "It is not available now."))
        #expect(problem.status == 503 && times(problem.response) == ["5"], "\(code)")
        #expect(times(problem.responseToUploader) == ["5"], "\(code)")
      }
      #expect(times(Problem(LibraryError(.conflict, "It differs.")).response).isEmpty)
      try await TestGallery.serving { gallery in
        let request = HTTPRequest(method: "GET", target: try HTTPTarget("/v1/session"))
        #expect(times(gallery.server.rejection(request, 503, "The server is stopping.")) == ["5"])
        // Another server has the folder of uploads.
        let folder = gallery.temporary.url.appending(path: "server/uploads")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let lock = open(folder.appending(path: "lock").path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
        for _ in 0..<2 {
          let refused = try gallery.ask("POST", "/v1/uploads?name=a.jpg", json: [:])
          #expect(refused.status == 503 && refused.fields["retry-after"] == "5", "\(refused)")
        }
        #expect(flock(lock, LOCK_UN) == 0)
        close(lock)
        // This server takes none any more.
        gallery.server.uploads.close()
        let refused = try gallery.ask("GET", "/v1/uploads/\(String(repeating: "a", count: 24))")
        #expect(refused.status == 503 && refused.fields["retry-after"] == "5", "\(refused)")
      }
    }

    @Test("a client without permission sends no large body: it is rejected before it is received")
    func bodies() async throws {
      try await TestGallery.serving { gallery in
        let app = try gallery.register(asks: nil)
        func status(_ path: String, length: Int, key: String) throws -> Int? {
          let client = try RawClient(port: gallery.address.port)
          client.send(
            "POST \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n"
              + "Authorization: Bearer \(key)\r\nContent-Length: \(length)\r\n\r\n")
          return Int(client.read(through: "\r\n").split(separator: " ").dropFirst().first ?? "")
        }
        #expect(try status("/v1/downloads", length: 8 << 20, key: app.key) == 403)
        #expect(try status("/v1/blocks", length: BlockRoutes.bodyLimit, key: app.key) == 413)
        #expect(try gallery.ask("POST", "/v1/blocks", json: ["changes": [Any]()], key: app.key).status != 413)
        #expect(try status("/v1/blocks", length: BlockRoutes.bodyLimit + 1, key: gallery.owner) == 413)
      }
    }

    @Test("bodies of one client occupy a quarter of the room for bodies, and the owner's are still accepted")
    func bodiesOfClient() async throws {
      try await TestGallery.serving(gatheredBytes: 1 << 20) { gallery in
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "app") }
        let app = try gallery.key(of: "app").secret
        let fields = ["Content-Type: application/json"]
        var held: [RawClient] = []
        // Both together have less than half of what all may have.
        try await waitUntil("the bytes of the first body have come, and there is no room", limit: .seconds(60)) {
          // Of two bodies that come at once, the first may be the one that is refused, so each attempt has its own.
          let client = try RawClient(port: gallery.address.port)
          client.send(try gallery.head("POST", "/v1/downloads", key: app, fields + ["Content-Length: 250000"]))
          client.send([UInt8](repeating: 0x5B, count: 200_000))
          held.append(client)
          return try gallery.send("POST", "/v1/downloads", Data(count: 200_000), key: app, fields).answer.status == 503
        }
        #expect(try gallery.send("POST", "/v1/downloads", Data(count: 300_000), fields).answer.status == 400)
        #expect(try gallery.ask("POST", "/v1/fetches", json: [:]).status == 201)
        withExtendedLifetime(held) {}
      }
    }

    @Test("an answer that asks for a key names the scheme, and HEAD knows no ranges (RFC 9110, 14.2 and 15.5.2)")
    func standard() async throws {
      try await TestGallery.serving { gallery in
        for (path, json) in [("/v1/sessions", ["link": "x"]), ("/v1/shares:open", ["secret": "x"])] {
          let answer = try gallery.ask("POST", path, json: json, key: nil)
          #expect(answer.status == 401 && answer.fields["www-authenticate"] == "Bearer", "\(answer)")
        }
        let wrong = try gallery.ask(
          "POST", "/v1/sessions", json: ["name": "anna", "password": "no password"], key: nil)
        #expect(wrong.status == 401 && wrong.fields["www-authenticate"] == "Bearer")
        let (asset, sha256) = try await gallery.makeFile("some bytes")
        let path = "/v1/assets/\(asset)/resources/\(sha256)"
        #expect(try gallery.ask("GET", path, ["Range: bytes=5-"]).status == 206)
        for range in ["bytes=5-", "bytes=99-"] {
          let head = try gallery.ask("HEAD", path, ["Range: \(range)"])
          #expect(head.status == 200 && head.fields["content-length"] == "10", "\(head)")
        }
      }
    }

    /// Sets the caption of an asset so often that what the log says of it is more than a connection holds that is not
    /// read from.
    /// - Returns: the asset.
    @discardableResult
    private func fillLog(_ gallery: TestGallery, _ count: Int) async throws -> LocalIdentifier {
      let ids = try await gallery.makeAssets(1)
      for number in 0..<count {
        try await gallery.library.performChanges { block in
          var changes = AssetChanges()
          changes.caption = AssetChanges.Assignment("\(number) " + String(repeating: "x", count: 60_000))
          block.edit(ids, changes)
        }
      }
      return ids[0]
    }

    @Test("a key that is withdrawn reads no further lines of a long answer, and the last one says so")
    func withdrawnReader() async throws {
      try await TestGallery.serving { gallery in
        try await fillLog(gallery, Records.pageCount * 2)
        let key = try gallery.key(of: PhotoLibrary.owner)
        let client = try RawClient(port: gallery.address.port)
        client.send(
          "GET /v1/log HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAccept: application/x-ndjson\r\n"
            + "Authorization: Bearer \(key.secret)\r\n\r\n")
        #expect(client.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
        #expect(try gallery.ask("DELETE", "/v1/keys/\(key.name)").status == 204)
        let rest = client.readToEnd()
        #expect(rest.contains("\"0 xxx") && !rest.contains("\"\(Records.pageCount * 2 - 1) xxx"))
        #expect(rest.contains("urn:photoledger:problem:sign-in-required"), "\(rest.suffix(300))")
      }
    }

    @Test("a key that is withdrawn is sent no further pieces of a list of lines, and the last line says so")
    func withdrawnListReader() async throws {
      try await TestGallery.serving { gallery in
        let asset = try await fillLog(gallery, Records.pageCount * 3)
        let grant: [String: Any] = ["client": PhotoLibrary.owner, "scopes": ["read", "owner"]]
        let key = try gallery.ask("POST", "/v1/keys", json: grant).json()
        let (name, secret) = (try #require(key["name"] as? String), try #require(key["secret"] as? String))
        let client = try RawClient(port: gallery.address.port)
        let fields = ["Accept: application/x-ndjson", "Connection: close"]
        client.send(try gallery.head("GET", "/v1/objects/\(asset.uuidString)/history", key: secret, fields))
        #expect(client.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
        #expect(try gallery.ask("DELETE", "/v1/keys/\(name)").status == 204)
        let rest = client.readToEnd()
        #expect(rest.contains("urn:photoledger:problem:sign-in-required"), "\(rest.suffix(300))")
      }
    }

    @Test(
      "lines for a person whom a proxy signs in end with the password, and with the account of that name",
      arguments: [true, false])
    func withdrawnProxiedReader(_ isPassword: Bool) async throws {
      var access = GalleryAccess()
      access.trustedProxies = ["127.0.0.1"]
      try await TestGallery.serving(access: access) { gallery in
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "family") }
        try gallery.addPerson("anna", client: "family")
        try await fillLog(gallery, Records.pageCount * 2)
        let client = try RawClient(port: gallery.address.port)
        let fields = ["X-Forwarded-User: anna", "Accept: application/x-ndjson", "Connection: close"]
        client.send(try gallery.head("GET", "/v1/log", key: nil, fields))
        #expect(client.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
        if isPassword {
          let change = ["password": "another one"]
          #expect(try gallery.ask("PUT", "/v1/people/anna/password", json: change).status == 204)
        } else {
          // The proxy signs in the new account by the same fields, which is another client.
          #expect(try gallery.ask("DELETE", "/v1/people/anna").status == 204)
          try gallery.addPerson("anna", client: "guests")
        }
        let rest = client.readToEnd()
        #expect(rest.contains("urn:photoledger:problem:sign-in-required"), "\(rest.suffix(300))")
      }
    }
  }
#endif
