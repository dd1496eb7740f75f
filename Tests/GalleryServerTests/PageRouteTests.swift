#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite("The files of the page")
  struct PageRouteTests {
    /// A folder with a document and a script.
    private static func folder(script: String = "export default 1;") throws -> TemporaryFolder {
      let folder = try TemporaryFolder()
      let views = folder.url.appending(path: "views")
      try FileManager.default.createDirectory(at: views, withIntermediateDirectories: true)
      try Data(#"<script type="module" src="/page/latest/views/main.js"></script>"#.utf8)
        .write(to: folder.url.appending(path: "index.html"))
      try Data(script.utf8).write(to: views.appending(path: "main.js"))
      try Data("no page's business".utf8).write(to: views.appending(path: "notes.txt"))
      return folder
    }

    @Test("a document names its files under the hash of all, which may be cached for ever")
    func kept() async throws {
      let folder = try Self.folder()
      let page = try PageFiles(folder: folder.url)
      try await TestGallery.serving(page: page) { gallery in
        let document = try gallery.ask("GET", "/", key: nil)
        #expect(document.status == 200)
        #expect(document.body.contains("/page/\(page.hash)/views/main.js"))
        #expect(document.fields["cache-control"] == "no-cache")
        let policy = try #require(document.fields["content-security-policy"])
        #expect(policy.contains("script-src 'self';") && policy.contains("frame-ancestors 'none'"))
        #expect(!policy.contains("unsafe"))
        let script = try gallery.ask("GET", "/page/\(page.hash)/views/main.js", key: nil)
        #expect(script.fields["cache-control"] == "public, max-age=31536000, immutable")
        #expect(script.fields["content-type"] == "text/javascript; charset=utf-8")
        #expect(script.body == "export default 1;")
        let latest = try gallery.ask("GET", "/page/latest/views/main.js", key: nil)
        #expect(latest.fields["cache-control"] == "no-cache")
        let tag = try #require(latest.fields["etag"])
        let again = try gallery.ask("GET", "/page/latest/views/main.js", key: nil, ["If-None-Match: \(tag)"])
        #expect(again.status == 304)
        let tagOfDocument = try #require(document.fields["etag"])
        #expect(try gallery.ask("GET", "/", key: nil, ["If-None-Match: \(tagOfDocument)"]).status == 304)
      }
    }

    @Test(
      "what is not a file of the page is not found",
      arguments: [
        "/page/0123456789abcdef/views/main.js", "/page/latest/views/notes.txt", "/page/latest/index.html",
        "/page/latest/views/..%2findex.html", "/page/latest/..%2f..%2fetc/passwd", "/page/latest/views/absent.js",
        "/share", "/camera", "/sign-in",
      ])
    func absent(_ path: String) async throws {
      let folder = try Self.folder()
      let page = try PageFiles(folder: folder.url)
      try await TestGallery.serving(page: page) { gallery in
        let status = try gallery.ask("GET", path, key: nil).status
        #expect([400, 404].contains(status), "\(status)")
      }
    }

    @Test("another file gives another hash")
    func hashes() throws {
      let folders = [try Self.folder(), try Self.folder(), try Self.folder(script: "export default 2;")]
      let hashes = try folders.map { try PageFiles(folder: $0.url).hash }
      #expect(hashes[0] == hashes[1])
      #expect(hashes[0] != hashes[2])
    }

    @Test("a folder for developing the page is read at each request, and nothing of it is cached")
    func live() async throws {
      let folder = try Self.folder()
      let page = try PageFiles(folder: folder.url, isLive: true)
      try await TestGallery.serving(page: page) { gallery in
        let path = "/page/\(page.hash)/views/main.js"
        #expect(try gallery.ask("GET", path, key: nil).body == "export default 1;")
        try Data("export default 3;".utf8).write(to: folder.url.appending(path: "views/main.js"))
        let changed = try gallery.ask("GET", path, key: nil)
        #expect(changed.body == "export default 3;")
        #expect(changed.fields["cache-control"] == "no-cache")
      }
    }

    @Test("a folder without the page is refused with its name")
    func missing() throws {
      let folder = try TemporaryFolder()
      let error = #expect(throws: GalleryError.self) { _ = try PageFiles(folder: folder.url) }
      #expect(error?.description.contains(folder.url.path) == true)
    }

    @Test("the page that belongs to the program is found, and all that its documents name is there")
    func program() async throws {
      let page = try PageFiles.ofProgram()
      try await TestGallery.serving(page: page) { gallery in
        for document in ["/", "/?pick=A", "/share", "/camera", "/sign-in"] {
          let answer = try gallery.ask("GET", document, key: nil)
          #expect(answer.status == 200, "\(document)")
          let named = answer.body.matches(of: #/"(/page/[^"]+)"/#).map { String($0.output.1) }
          #expect(!named.isEmpty)
          for path in named { #expect(try gallery.ask("GET", path, key: nil).status == 200, "\(path) of \(document)") }
          for path in [document] + named.prefix(2) {
            let tag = try #require(try gallery.ask("GET", path, key: nil).fields["etag"])
            let again = try gallery.ask("GET", path, key: nil, ["If-None-Match: \(tag)"])
            #expect(again.status == 304 && again.body.isEmpty, "\(path)")
            #expect(try gallery.ask("GET", path, key: nil, ["If-None-Match: \"other\""]).status == 200, "\(path)")
          }
        }
      }
    }

    @Test("an invalid one-time link leads to the gallery if the browser is signed in, else to the form")
    func endedLink() async throws {
      try await TestGallery.serving(page: try PageFiles.ofProgram()) { gallery in
        let link = gallery.server.ownerLink(at: "")
        let good = try gallery.ask("GET", link, key: nil)
        #expect(good.status == 303 && good.fields["location"] == "/")
        let cookie = "Cookie: " + (try #require(good.fields["set-cookie"]?.split(separator: ";").first))
        let old = gallery.server.ownerLink(at: "")
        gallery.clock.advance(by: Keyring.linkSeconds)
        let cases: [(fields: [String], place: String)] = [
          ([], "/sign-in#ended"), (["Cookie: photoledger-key=x"], "/sign-in#ended"), ([cookie], "/"),
        ]
        for bad in [link, old, "/sign-in?link=none"] {
          for (fields, place) in cases {
            let answer = try gallery.ask("GET", bad, key: nil, fields)
            #expect(answer.status == 303 && answer.fields["location"] == place, "\(bad) \(fields)")
            #expect(answer.fields["set-cookie"] == nil)
          }
          // Another client's key is not what the link would have given.
          let app = try gallery.key(of: "app").secret
          #expect(try gallery.ask("GET", bad, key: app).fields["location"] == "/sign-in#ended")
        }
      }
    }

    @Test("a document is shown whatever other sites have added to its address")
    func marked() async throws {
      try await TestGallery.serving(page: try PageFiles.ofProgram()) { gallery in
        for path in ["/", "/share", "/camera", "/sign-in"] {
          let answer = try gallery.ask("GET", "\(path)?fbclid=x", key: nil)
          #expect(answer.status == 200, "\(path)")
        }
      }
    }

    @Test("files of the page do not use up what an address may ask for without a key")
    func uncounted() async throws {
      var access = GalleryAccess()
      (access.limits.peerBurst, access.limits.peerPerSecond) = (4, 0.25)
      let folder = try Self.folder()
      let page = try PageFiles(folder: folder.url)
      try await TestGallery.serving(access: access, page: page) { gallery in
        for _ in 0..<20 {
          let answer = try gallery.ask("GET", "/page/\(page.hash)/views/main.js", key: nil)
          #expect(answer.status == 200)
        }
        // One request signed the owner in.
        for _ in 0..<3 { #expect(try gallery.ask("GET", "/", key: nil).status == 200) }
        #expect(try gallery.ask("GET", "/", key: nil).status == 429)
      }
    }

    @Test("only origins that a session names and the owner approved may show its page in a frame, and only that page")
    func framed() async throws {
      try await TestGallery.serving(page: try PageFiles.ofProgram()) { gallery in
        func ancestors(_ path: String) throws -> String {
          let policy = try #require(try gallery.ask("GET", path, key: nil).fields["content-security-policy"])
          return try #require(policy.firstMatch(of: #/frame-ancestors (.*)/#)).output.1.description
        }
        let app = try gallery.register(asks: nil)
        let origins = ["https://app.example", "http://localhost:3000"]
        let made = try gallery.ask("POST", "/v1/picking", json: ["origins": origins], key: app.key).json()
        #expect(made["origins"] as? [String] == origins)
        let session = try #require(made["session"] as? String)
        #expect(try ancestors("/?pick=\(session)") == "'none'")
        let client = app.client.replacing("#", with: "%23")
        let approval = try gallery.ask("PATCH", "/v1/clients/\(client)/origins", json: ["approve": origins])
        #expect(approval.status == 200, "\(approval)")
        #expect(try ancestors("/?pick=\(session)") == "https://app.example http://localhost:3000")
        for path in ["/", "/?pick=other", "/share", "/camera"] { #expect(try ancestors(path) == "'none'") }
        let bad = [
          "https://a.example/path", "*", "https://*.example", "'self'", "https://a.example; script-src *", "https://",
          "HTTPS://a.example", "https://a.example\r\nX: y", "javascript:alert(1)", "https://a.example:123456",
        ]
        for origin in bad {
          let answer = try gallery.ask("POST", "/v1/picking", json: ["origins": [origin]], key: app.key)
          #expect(answer.status == 400, "\(origin)")
        }
        let many = Array(repeating: "https://a.example", count: 9)
        #expect(try gallery.ask("POST", "/v1/picking", json: ["origins": many], key: app.key).status == 400)
      }
    }
  }
#endif
