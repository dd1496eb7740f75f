#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import PhotoLedger
  import TestSupport
  import Testing

  extension TestGallery {
    /// Makes images, each a day younger than the last.
    @discardableResult
    func makeAssets(_ count: Int, from first: Int = 0) async throws -> [LocalIdentifier] {
      var ids: [LocalIdentifier] = []
      try await library.performChanges { change in
        ids = (first..<first + count).map {
          change.createAsset(.invented($0, date: Date(timeIntervalSince1970: Double($0) * 86_400)))
        }
      }
      return ids
    }
  }

  @Suite("The routes of the gallery server")
  struct GalleryRouteTests {
    @Test("each route is described, and each description has its route")
    func described() throws {
      let json = try JSONSerialization.jsonObject(with: Data(PackageResources.openapi_json)) as? [String: Any]
      let paths = try #require(json?["paths"] as? [String: [String: Any]])
      let methods = ["get", "head", "post", "put", "patch", "delete", "options"]
      let described = paths.flatMap { path, item in
        item.keys.filter(methods.contains).map { "\($0.uppercased()) \(path)" }
      }
      let routes = Router.routes.flatMap { route in Contract.methods(of: route).map { "\($0) \(route.path)" } }
      #expect(Set(described) == Set(routes))
      let schemas = (json?["components"] as? [String: Any])?["schemas"] as? [String: Any]
      let types = (schemas?["ProblemType"] as? [String: Any])?["enum"] as? [String]
      #expect(Set(types ?? []) == Set(Problem.types.map { "urn:photoledger:problem:\($0)" }))
    }

    @Test(
      "without a key only health, the description and signing in are available",
      arguments: Router.routesWithImmichClients.map(\.path))
    func keyless(_ path: String) async throws {
      try await TestGallery.serving(access: .withImmichClients) { gallery in
        for route in Router.routesWithImmichClients where route.path == path && route.need != .nothing {
          let json: [String: Any]? = route.method == "POST" ? [:] : nil
          let target = path.replacing("{", with: "").replacing("}", with: "")
          for method in Contract.methods(of: route) {
            let answer = try gallery.ask(method, target, json: json, key: nil)
            #expect(answer.status == 401 && answer.fields["content-type"] == "application/problem+json", "\(answer)")
          }
        }
      }
    }

    @Test("a link signs in once, with a cookie that scripts and other sites do not get")
    func link() async throws {
      try await TestGallery.serving { gallery in
        let link = gallery.server.ownerLink(at: "")
        #expect(try gallery.ask("HEAD", link, key: nil).status == 204)
        let first = try gallery.ask("GET", link, key: nil)
        #expect(first.status == 303 && first.fields["location"] == "/")
        let cookie = try #require(first.fields["set-cookie"])
        #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"))
        #expect(try gallery.ask("GET", link, key: nil).status == 401)
        let pair = "Cookie: " + (try #require(cookie.split(separator: ";").first))
        #expect(try gallery.ask("GET", "/v1/keys", key: nil, [pair]).status == 200)
        // What changes something must come from a page of the server itself.
        let json = ["client": "app"]
        #expect(try gallery.ask("POST", "/v1/keys", json: json, key: nil, [pair]).status == 403)
        #expect(
          try gallery.ask("POST", "/v1/keys", json: json, key: nil, [pair, "Origin: http://evil.example"]).status == 403
        )
        #expect(
          try gallery.ask("POST", "/v1/keys", json: json, key: nil, [pair, "Origin: http://\(gallery.address)"]).status
            == 201)
      }
    }

    @Test("a key survives a restart of the server, is kept as a hash only, and ends when it is withdrawn")
    func keys() async throws {
      try await TestGallery.serving { gallery in
        let key = try gallery.key(of: "app")
        let file = gallery.temporary.url.appending(path: "server/keys.json")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.contains(key.name) && !text.contains(key.secret) && !text.contains(gallery.owner))
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try await gallery.restart()
        #expect(try gallery.ask("GET", "/v1/collections", key: key.secret).status == 403)
        #expect(try gallery.ask("GET", "/v1/keys", key: key.secret).status == 403)
        #expect(try gallery.ask("DELETE", "/v1/keys/\(key.name)").status == 204)
        #expect(try gallery.ask("GET", "/v1/collections", key: key.secret).status == 401)
        #expect(try gallery.ask("DELETE", "/v1/keys/\(key.name)").status == 404)
      }
    }

    @Test("windows are those of the fetch at its token, however the library changes")
    func windows() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(20)
        let fetch = try gallery.fetch(["sort": ["creationDate:desc"], "where": "mediaType == 1"])
        #expect(fetch.count == 20)
        let names = ids.reversed().map { $0.spelled(as: .asset) }
        #expect(try gallery.identifiers(fetch.name, at: fetch.token) == names)
        try await gallery.library.performChanges { $0.deleteAssets([ids[3]]) }
        #expect(try gallery.identifiers(fetch.name, at: fetch.token) == names)
        try await gallery.restart()
        #expect(try gallery.identifiers(fetch.name, at: fetch.token) == names)
        let now = try gallery.ask("GET", "/v1/fetches/\(fetch.name)").json()
        #expect(now["count"] as? Int == 19)
        let window = "/v1/fetches/\(fetch.name)/items?token=\(fetch.token)&start=2&count=3"
        let objects = try gallery.ask("GET", window)
        let items = try #require(try objects.json()["items"] as? [[String: Any]])
        #expect(items.map { $0["localIdentifier"] as? String } == Array(names[2..<5]))
        let tag = try #require(objects.fields["etag"])
        #expect(try gallery.ask("GET", window, ["If-None-Match: \(tag)"]).status == 304)
        #expect(try gallery.ask("GET", window + "&form=columns", ["If-None-Match: \(tag)"]).status == 200)
      }
    }

    @Test("sections begin where their assets do")
    func sections() async throws {
      try await TestGallery.serving { gallery in
        try await gallery.makeAssets(40)
        let fetch = try gallery.fetch(["sort": ["creationDate"]])
        let json = try gallery.ask("GET", "/v1/fetches/\(fetch.name)/sections?by=month&token=\(fetch.token)").json()
        let sections = try #require(json["sections"] as? [[String: Any]])
        #expect(sections.map { $0["key"] as? String } == ["1970-01", "1970-02"])
        #expect(sections.map { $0["first"] as? Int } == [0, 31] && sections.map { $0["count"] as? Int } == [31, 9])
      }
    }

    @Test(
      "malformed input is rejected with a problem of its kind",
      arguments: [
        ("GET", "/v1/fetches/e30/items?count=1001", nil, 400), ("GET", "/v1/fetches/e30/items?count=-1", nil, 400),
        ("GET", "/v1/fetches/e30/items?count=1&count=2", nil, 400),
        ("GET", "/v1/fetches/e30/items?form=rows", nil, 400),
        ("GET", "/v1/fetches/e30/items?start=99999999999999999999", nil, 400),
        ("GET", "/v1/fetches/e30/items?start=9223372036854775807&count=1000", nil, 200),
        ("GET", "/v1/fetches/e30/items?token=t1-0", nil, 400), ("GET", "/v1/fetches/e30/items?colour=red", nil, 400),
        ("GET", "/v1/fetches/IHt9/items", nil, 400), ("GET", "/v1/fetches/%21%21/items", nil, 400),
        ("GET", "/v1/fetches/e30/sections?by=week", nil, 400), ("GET", "/v1/fetches/e30/sections", nil, 400),
        ("GET", "/v1/fetches/e30/changes", nil, 400), ("GET", "/v1/feed", nil, 400),
        ("GET", "/v1/feed?fetch=e30&fetch=e30", nil, 400), ("GET", "/v1/feed?fetch=e30&after=x", nil, 400),
        ("GET", "/v1/assets/none", nil, 404), ("GET", "/v1/nothing", nil, 404), ("PUT", "/v1/keys", nil, 405),
        ("POST", "/v1/fetches", #"{"where":"nonsense =="}"#, 400),
        ("POST", "/v1/fetches", #"{"sort":["colour"]}"#, 400),
        ("POST", "/v1/fetches", #"{"mediaTypes":["film"]}"#, 400), ("POST", "/v1/fetches", #"{"sources":["x"]}"#, 400),
        ("GET", "/v1/fetches/e30/items?token=t1-0123456789abcdef-1&at=1", nil, 400),
        ("GET", "/v1/fetches/e30/items?at=99999999", nil, 400), ("GET", "/v1/assets/none?at=yesterday", nil, 400),
        ("GET", "/v1/changes", nil, 400), ("GET", "/v1/changes?cursor=x", nil, 400),
        ("GET", "/v1/changes?fetch=e30&wait=61", nil, 400), ("GET", "/v1/changes?fetch=e30&timeZone=GMT", nil, 400),
        ("GET", "/v1/feed?fetch=e30&sections=week", nil, 400), ("DELETE", "/v1/feeds/x/fetches/e30", nil, 404),
        ("POST", "/v1/feeds/x/fetches", #"{"fetch":"e30"}"#, 404), ("GET", "/v1/log?limit=0", nil, 400),
        ("GET", "/v1/log?kind=no.such", nil, 400), ("GET", "/v1/log?cursor=0", nil, 400),
        ("GET", "/v1/log?from=2024", nil, 400), ("GET", "/v1/log?reverse=maybe", nil, 400),
        ("GET", "/v1/objects/none/history?start=9223372036854775807", nil, 400),
        ("GET", "/v1/objects/none/history", nil, 404), ("GET", "/v1/clients/none/access", nil, 404),
        ("POST", "/v1/fetches", #"{"sort":3}"#, 400), ("POST", "/v1/fetches", "[]", 400),
        ("POST", "/v1/fetches", #"{"album":"00000000-0000-0000-0000-000000000000"}"#, 404),
        ("POST", "/v1/fetches", "{", 400), ("POST", "/v1/fetches?at=3000-13-01", "{}", 400),
        ("POST", "/v1/keys", #"{"client":""}"#, 400), ("POST", "/v1/keys", #"{"client":"a","days":0}"#, 400),
      ] as [(String, String, String?, Int)])
    func malformed(_ method: String, _ target: String, _ body: String?, _ status: Int) async throws {
      try await TestGallery.serving { gallery in
        let client = try RawClient(port: gallery.address.port)
        var fields = ["Connection: close"]
        if let body { fields += ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"] }
        client.send(try gallery.head(method, target, fields) + (body ?? ""))
        let answer = client.readToEnd()
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
        if status != 200 { #expect(answer.contains("application/problem+json") && answer.contains("urn:photoledger:")) }
      }
    }
  }

  @Suite("The bytes of originals over HTTP")
  struct FileRouteTests {
    @Test("are whole, in part, or not sent again")
    func ranges() async throws {
      try await TestGallery.serving { gallery in
        func make(_ text: String, named name: String) async throws -> (asset: Asset, sha256: String) {
          let file = gallery.temporary.folder.place(name)
          try Data(text.utf8).write(to: file)
          let asset = try await gallery.makeAsset(file)
          return (asset, try #require(try gallery.library.resources(of: asset).first?.sha256Hex))
        }
        let (asset, sha256) = try await make("0123456789", named: "näme \"x\".jpg")
        let resources = "/v1/assets/\(asset.id.uuidString)/resources/"
        let target = resources + sha256
        let whole = try gallery.ask("GET", target)
        #expect(whole.status == 200 && whole.body == "0123456789" && whole.fields["content-length"] == "10")
        #expect(whole.fields["etag"] == "\"\(sha256)\"" && whole.fields["x-content-type-options"] == "nosniff")
        #expect(whole.fields["cache-control"]?.contains("immutable") == true)
        #expect(whole.fields["content-disposition"]?.contains("filename*=UTF-8''n%C3%A4me%20%22x%22.jpg") == true)
        let part = try gallery.ask("GET", target, ["Range: bytes=2-4"])
        #expect(part.status == 206 && part.body == "234" && part.fields["content-range"] == "bytes 2-4/10")
        let suffix = try gallery.ask("GET", target, ["Range: bytes=-3", "If-Range: \"\(sha256)\""])
        #expect(suffix.status == 206 && suffix.body == "789")
        #expect(try gallery.ask("GET", target, ["Range: bytes=-3", "If-Range: \"other\""]).status == 200)
        let behind = try gallery.ask("GET", target, ["Range: bytes=10-"])
        #expect(behind.status == 416 && behind.fields["content-range"] == "bytes */10")
        #expect(try gallery.ask("GET", target, ["If-None-Match: \"\(sha256)\""]).status == 304)
        let head = try gallery.ask("HEAD", target)
        #expect(head.status == 200 && head.body.isEmpty && head.fields["content-length"] == "10")
        // Another hash, another asset's hash and another client get the same answer.
        let other = try await make("9876543210", named: "other.jpg")
        try await gallery.library.performChanges { change in
          change.setAuthorizationStatus(.limited, of: "app")
          change.grant([other.asset.id], to: "app")
        }
        let key = try gallery.key(of: "app").secret
        let answers = [
          try gallery.ask("GET", resources + String(repeating: "0", count: 64)),
          try gallery.ask("GET", resources + other.sha256), try gallery.ask("GET", target, key: key),
        ]
        #expect(answers.allSatisfy { $0.status == 404 && $0.body == answers[0].body }, "\(answers)")
        try await gallery.library.performChanges { $0.grant([asset.id], to: "app") }
        #expect(try gallery.ask("GET", target, key: key).status == 200)
      }
    }
  }
#endif
