#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import PhotoLedger
  import TestSupport
  import Testing

  // The router answers HEAD where it answers GET, so each path is asked with both, and the heads are compared.
  //
  // A route that is added needs a target here. What answers HEAD otherwise says so in the description, and is asked in
  // the suite of its other answers, as is what is there only if programs are installed.

  @Suite("HEAD")
  struct HeadTests {
    /// The paths whose HEAD other suites ask for.
    private static let elsewhere: Set<String> = [
      // GalleryRouteTests, PickingOverHTTPTests, UploadTests and UploadStatusTests.
      "/sign-in", "/v1/picked/{item}", "/v1/uploads/{upload}",
      // RenditionRouteTests and DuplicateRouteTests.
      "/v1/assets/{asset}/renditions/{sha256}/{recipe}/{kind}", "/v1/duplicates/groups",
    ]

    @Test("HEAD has the status and fields of GET, and no content")
    func same() async throws {
      try await TestGallery.serving(access: .withImmichClients, page: try PageFiles.ofProgram()) { gallery in
        let targets = try await Self.targets(gallery)
        let paths = Router.routesWithImmichClients.filter { $0.method == "GET" }.map(\.path)
        #expect(Set(targets.keys).union(Self.elsewhere) == Set(paths))
        for (path, target) in targets.sorted(by: { $0.key < $1.key }) {
          let get = try Self.head(of: target, gallery)
          let head = try gallery.ask("HEAD", target)
          #expect(get.status == 200 && head.status == 200, "\(path): \(get), \(head)")
          #expect(Self.fields(head) == Self.fields(get), "\(path)")
          let unchanged = Contract.Documented(method: "HEAD", path: path, status: "304")
          let isTagged = try Contract.served(for: path).get().documented.contains(unchanged)
          #expect(isTagged == (head.fields["etag"] != nil), "\(path)")
          guard let tag = head.fields["etag"] else { continue }
          #expect(try gallery.ask("HEAD", target, ["If-None-Match: \(tag)"]).status == 304, "\(path)")
        }
      }
    }

    /// The head of an answer to GET, which may be a stream without an end.
    private static func head(of target: String, _ gallery: TestGallery) throws -> Answer {
      let client = try RawClient(port: gallery.address.port)
      client.send(try gallery.head("GET", target, ["Connection: close"]))
      return try #require(TestGallery.parsed(client.read(through: "\r\n\r\n")))
    }

    /// The fields that say what there is; not when it was sent, how, and how much of a figure that has changed.
    private static func fields(_ answer: Answer) -> [String: String] {
      answer.fields.filter { !["date", "connection", "content-length", "transfer-encoding"].contains($0.key) }
    }

    /// A target of each path that answers GET with 200.
    private static func targets(_ gallery: TestGallery) async throws -> [String: String] {
      let (asset, sha256) = try await gallery.makeFile("some bytes")
      var made: LocalIdentifier?
      try await gallery.library.performChanges { change in
        made = change.createAlbum(title: "Sea")
        change.register(client: "app")
      }
      let album = try #require(made).uuidString
      let (fetch, token, _) = try gallery.fetch(["sort": ["creationDate"]])
      let download = try gallery.ask("POST", "/v1/downloads", json: ["assets": [asset]]).json()["url"] as? String
      let session = try gallery.ask("POST", "/v1/picking", json: [:]).json()["session"] as? String
      var targets: [String: String] = [:]
      for route in Router.routesWithImmichClients where route.method == "GET" && !route.path.contains("{") {
        targets[route.path] = route.path
      }
      for (path, query) in [
        ("/v1/changes", "fetch=\(fetch)"), ("/v1/feed", "fetch=\(fetch)"), ("/v1/collections:diff", "from=\(token)"),
        ("/v1/proofs/inclusion", "sequence=1"), ("/v1/proofs/consistency", "earlier=1"),
      ] { targets[path] = "\(path)?\(query)" }
      let picking = "/v1/picking/\(try #require(session))"
      for part in ["", "/events", "/presentation", "/presentation/events", "/candidates"] {
        targets["/v1/picking/{session}\(part)"] = picking + part
      }
      for (part, query) in [
        ("", ""), ("/items", "?token=\(token)"), ("/shapes", ""), ("/sections", ""), ("/index", "?asset=\(asset)"),
        ("/changes", "?after=\(token)"), ("/diff", "?from=\(token)"),
      ] { targets["/v1/fetches/{fetch}\(part)"] = "/v1/fetches/\(fetch)\(part)\(query)" }
      targets["/page/{revision}/{file}"] = "/page/latest/manifest.webmanifest"
      targets["/page/{revision}/{folder}/{file}"] = "/page/latest/client/feed.js"
      targets["/v1/assets/{asset}"] = "/v1/assets/\(asset)"
      targets["/v1/assets/{asset}/resources/{sha256}"] = "/v1/assets/\(asset)/resources/\(sha256)"
      targets["/v1/downloads/{download}"] = download
      targets["/v1/objects/{object}/history"] = "/v1/objects/\(asset)/history"
      targets["/v1/objects/{object}/access"] = "/v1/objects/\(asset)/access"
      targets["/v1/clients/{client}/access"] = "/v1/clients/app/access"
      targets["/v1/clients/{client}/origins"] = "/v1/clients/app/origins"
      targets["/v1/collections/{collection}/blame"] = "/v1/collections/\(album)/blame"
      targets["/api/assets/{asset}"] = "/api/assets/\(asset)"
      targets["/api/albums/{album}"] = "/api/albums/\(album)"
      return targets.filter { !elsewhere.contains($0.key) }
    }

    @Test("where no key is needed, HEAD from an address with too many requests is rejected, as GET is")
    func throttled() async throws {
      var access = GalleryAccess.withImmichClients
      // One request signs the owner in.
      (access.limits.peerBurst, access.limits.peerPerSecond) = (1, 0.0001)
      try await TestGallery.serving(access: access) { gallery in
        for route in Router.routesWithImmichClients where route.method == "GET" && route.need == .nothing {
          let target = route.path.replacing("{", with: "").replacing("}", with: "")
          for method in ["GET", "HEAD"] {
            let status = try gallery.ask(method, target, key: nil).status
            #expect(status == 429, "\(method) \(target)")
          }
        }
      }
    }

    @Test("HEAD of what does not exist is rejected, as GET is", arguments: ["GET", "HEAD"])
    func absent(_ method: String) async throws {
      try await TestGallery.serving { gallery in
        for path in [
          "picking/none", "picking/none/events", "picking/none/presentation", "picking/none/presentation/events",
          "picking/none/candidates", "assets/none", "assets/none/resources/none",
          "assets/none/renditions/none/none/none", "objects/none/history", "objects/none/access",
          "clients/none/access", "collections/none/blame",
        ] {
          let status = try gallery.ask(method, "/v1/\(path)").status
          #expect(status == 404, "\(path)")
        }
      }
    }
  }
#endif
