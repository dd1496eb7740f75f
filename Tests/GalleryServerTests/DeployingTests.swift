#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import PhotoLedger
  import TestSupport
  import Testing

  // The configurations of Deploying.md, run with the programs that they are for.
  //
  //   page ── block ──▶ names and ports replaced ──▶ nginx, Caddy ──▶ a server in this process
  //
  // A test whose program is missing is skipped; `.ci/run` brings them.

  @Suite("Behind a proxy, and as a service", .serialized)
  struct DeployingTests {
    private static func block(_ language: String) throws -> String {
      let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      let page = try String(
        contentsOf: root.appending(path: "Sources/PhotoLedger/PhotoLedger.docc/Deploying.md"), encoding: .utf8)
      let blocks = page.components(separatedBy: "```\(language)\n").dropFirst()
      #expect(blocks.count == 1, "The page has one block '\(language)'.")
      return try #require(blocks.first?.components(separatedBy: "\n```").first) + "\n"
    }

    private static func path(of name: String) -> String? {
      ["/usr/sbin", "/usr/bin", "/bin", "/usr/local/bin"].map { "\($0)/\(name)" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Runs a test only where a program is installed.
    private static func needs(_ name: String, from package: String) -> ConditionTrait {
      .enabled(if: path(of: name) != nil, "\(name) is not installed; `apt-get install \(package)` brings it")
    }

    /// A port for a proxy. The system gives it to no socket that asks for any port, as those of other tests do.
    private static func heldPort() throws -> HeldPort {
      let range = try String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
      let first = range.split(whereSeparator: \.isWhitespace).first.flatMap { UInt16($0) }
      return try heldPort(below: first ?? 32_768)
    }

    /// A port below another one; one that the system chooses if none of them is free: it gives that to no other socket
    /// while it is held.
    private static func heldPort(below end: UInt16) throws -> HeldPort {
      for port in (1024..<max(1024, end)).shuffled() {
        if let held = try? HeldPort(port) { return held }
      }
      return try HeldPort()
    }

    @Test("where the system gives every port to sockets, a proxy has one of those", arguments: [0, 1024] as [UInt16])
    func allPortsGiven(end: UInt16) throws {
      let held = try Self.heldPort(below: end)
      #expect(held.number > 0)
      #expect(throws: Divergence.self) { try HeldPort(held.number) }
    }

    private func replaced(_ text: String, _ pairs: [(String, String)]) throws -> String {
      var text = text
      for (old, new) in pairs {
        try #require(text.contains(old), "The configuration has no '\(old)' any more.")
        text = text.replacing(old, with: new)
      }
      return text
    }

    @Test(
      "the units are accepted by systemd", needs("systemd-analyze", from: "systemd"), arguments: ["socket", "service"])
    func units(_ kind: String) throws {
      let verifier = try #require(Self.path(of: "systemd-analyze"))
      let folder = try Self.makeFolder()
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let service = try replaced(Self.block("systemd-service"), [("/usr/local/bin/photoledger", "/bin/true")])
      for (name, text) in [("service", service), ("socket", try Self.block("systemd-socket"))] {
        try text.write(toFile: "\(folder)/photoledger.\(name)", atomically: true, encoding: .utf8)
      }
      let (said, end) = try ChildRun.of([verifier, "--man=no", "verify", "\(folder)/photoledger.\(kind)"])
      #expect(end == .status(0) && !said.contains("photoledger."), "\(said)")
    }

    @Test("the service gives up what it does not need", needs("systemd-analyze", from: "systemd"))
    func confined() throws {
      let analyzer = try #require(Self.path(of: "systemd-analyze"))
      let folder = try Self.makeFolder()
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let unit = "\(folder)/photoledger.service"
      try Self.block("systemd-service").write(toFile: unit, atomically: true, encoding: .utf8)
      // Tenths of systemd's figure: 26 for what the page has, 44 without the filters of system calls and addresses.
      let words = ["security", "--offline=true", "--threshold=30", "--no-pager", unit]
      let (said, end) = try ChildRun.of([analyzer] + words)
      #expect(end == .status(0), "\(said)")
    }

    @Test("the service leaves the sandbox of the rendering programs what it needs")
    func leavesSandbox() throws {
      let lines = try Self.block("systemd-service").split(separator: "\n")
      let settings = lines.compactMap { line -> (name: String, values: [String])? in
        guard let sign = line.firstIndex(of: "=") else { return nil }
        return (String(line[..<sign]), line[line.index(after: sign)...].split(separator: " ").map(String.init))
      }
      func values(_ name: String) -> [String] { settings.filter { $0.name == name }.flatMap(\.values) }
      for name in ["RestrictNamespaces", "ProcSubset", "MemoryDenyWriteExecute", "PrivateUsers"] {
        #expect(values(name).isEmpty, "\(name)")
      }
      // Without it bubblewrap ends: it cannot set up the loopback interface of its namespace.
      #expect(values("RestrictAddressFamilies").contains("AF_NETLINK"))
      let filter = values("SystemCallFilter")
      #expect(filter.first?.hasPrefix("~") == true, "It lists what is forbidden: each library calls other things.")
      let needed: Set = ["@mount", "@process", "@privileged", "@resources", "@keyring", "mount", "unshare", "clone"]
      #expect(needed.isDisjoint(with: filter.map { $0.replacing("~", with: "") }), "\(filter)")
    }

    private static func makeFolder() throws -> String {
      let folder = FileManager.default.temporaryDirectory.appending(path: "photoledger-proxy-\(UUID())").path
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      return folder
    }

    /// Uploads a photo through a proxy: a request is cut, the offset is requested, and the rest is sent.
    /// - Parameter passesInterim: whether the proxy passes a 104 on, so that the first request may be the one that is
    ///   cut. Otherwise the first request is a part, whose final answer names the upload.
    private func upload(to gallery: TestGallery, through port: UInt16, passesInterim: Bool) async throws {
      let data = photo("through a proxy", 900_000)
      func begin(_ method: String, _ target: String, _ fields: [String], _ body: Data) throws -> RawClient {
        let client = try RawClient(port: port)
        let head = try gallery.head(method, target, fields + ["Connection: close"])
          .replacing(gallery.address.description, with: "127.0.0.1:\(port)")
        client.send(Array(head.utf8) + body)
        return client
      }
      func ask(_ method: String, _ target: String, _ fields: [String], _ body: Data = Data()) throws -> Answer {
        let length = body.isEmpty ? [] : ["Content-Length: \(body.count)"]
        return try #require(TestGallery.parsed(begin(method, target, fields + length, body).readBytesToEnd()))
      }
      let part = "Content-Type: application/partial-upload"
      var cut: RawClient?
      let place: String
      if passesInterim {
        let fields = ["Upload-Complete: ?1", "Content-Length: \(data.count)"]
        let first = try begin("POST", "/v1/uploads?name=a.jpg", fields, data.prefix(500_000))
        let interim = try #require(TestGallery.parsed(first.read(through: "\r\n\r\n")))
        cut = first
        #expect(interim.status == 104, "\(interim)")
        place = try #require(interim.fields["location"])
      } else {
        let first = try ask("POST", "/v1/uploads?name=a.jpg", ["Upload-Complete: ?0"], data.prefix(10_000))
        #expect(first.status == 201 && first.fields["upload-offset"] == "10000", "\(first)")
        place = try #require(first.fields["location"])
        let fields = ["Upload-Complete: ?1", "Upload-Offset: 10000", part, "Content-Length: \(data.count - 10_000)"]
        cut = try begin("PATCH", place, fields, data.dropFirst(10_000).prefix(500_000))
      }
      let id = String(place.dropFirst("/v1/uploads/".count))
      let file = gallery.library.url.appending(path: "server/uploads/\(id).bytes.jpg").path
      try await waitUntil("some of it is written, so the proxy passes a body on while it comes") {
        var status = stat()
        return stat(file, &status) == 0 && status.st_size >= 262_144
      }
      // The connection is open until here.
      withExtendedLifetime(cut) {}
      cut = nil
      let state = try ask("HEAD", place, [])
      let offset = try #require(Int(state.fields["upload-offset"] ?? ""), "\(state)")
      #expect(state.status == 204 && offset <= 510_000, "\(state)")
      let end = try ask(
        "PATCH", place, ["Upload-Complete: ?1", "Upload-Offset: \(offset)", part], data.dropFirst(offset))
      #expect(end.status == 201, "\(end)")
      #expect(try gallery.bytes(of: try #require(end.fields["photoledger-asset"])) == data)
    }

    /// Runs a proxy in front of a gallery, and asks it what a browser asks.
    private func check(
      passesInterim: Bool, _ start: (_ folder: String, _ server: UInt16, _ port: UInt16) throws -> ChildRun
    ) async throws {
      // A proxy may hold the connection of a request whose client has left.
      try await TestGallery.serving(access: Self.access(), stopSeconds: 1) { gallery in
        let folder = try Self.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let held = try Self.heldPort()
        defer { withExtendedLifetime(held) {} }
        let port = held.number
        let proxy = try start(folder, gallery.address.port, port)
        defer {
          kill(proxy.identifier, SIGKILL)
          proxy.end()
        }
        try await waitUntil("the proxy answers") { !proxy.isRunning || (try? RawClient(port: port)) != nil }
        try #require(proxy.isRunning, "The proxy ended.")
        _ = try await gallery.makeAssets(3)
        let fetch = try gallery.fetch()
        let client = try RawClient(port: port)
        client.send(
          try gallery.head(
            "GET", "/v1/fetches/\(fetch.name)/items?form=columns&token=\(fetch.token)", ["Connection: close"]
          )
          .replacing(gallery.address.description, with: "127.0.0.1:\(port)"))
        let window = client.readToEnd()
        #expect(window.hasPrefix("HTTP/1.1 200") && window.contains("localIdentifier"), "\(window)")
        // A feed comes through at once: nothing on the way waits for a full buffer.
        let feed = try RawClient(port: port)
        feed.send(try gallery.head("GET", "/v1/feed?fetch=\(fetch.name)&after=\(fetch.token)"))
        _ = feed.read(through: "\r\n\r\n")
        _ = try await gallery.makeAssets(1, from: 50)
        let events = feed.read(through: "event: change")
        #expect(events.hasSuffix("event: change"), "\(events)")
        try await upload(to: gallery, through: port, passesInterim: passesInterim)
        try await checkFields(gallery, port)
      }
    }

    /// What the options of the page's service give to the server that is behind the proxy.
    private static func access() throws -> GalleryAccess {
      let start = try block("systemd-service").split(separator: "\n").first { $0.hasPrefix("ExecStart=") }
      let words = (start ?? "").split(separator: " ").map(String.init)
      var access = GalleryAccess()
      for (option, value) in zip(words, words.dropFirst()) where option == "--trust-proxy" {
        access.trustedProxies.insert(value)
      }
      #expect(access.trustedProxies == ["127.0.0.1"], "The page's service trusts the proxies of the page.")
      return access
    }

    /// Asks by a proxy with the fields of a proxy, which a browser may send as well.
    private func checkFields(_ gallery: TestGallery, _ port: UInt16) async throws {
      let forged = ["X-Forwarded-User: anna", "X-Forwarded-For: 203.0.113.9", "X-Forwarded-Proto: https"]
      func ask(_ target: String) throws -> Answer {
        let client = try RawClient(port: port, from: "127.0.0.2")
        client.send(
          try gallery.head("GET", target, key: nil, forged + ["Connection: close"])
            .replacing(gallery.address.description, with: "127.0.0.1:\(port)"))
        return try #require(TestGallery.parsed(client.readToEnd()))
      }
      try gallery.addPerson("anna", client: "family", password: nil)
      let trusted = try gallery.ask("GET", "/v1/session", key: nil, forged)
      #expect(trusted.status == 200, "The server believes the proxy's address, whatever is sent from it.")
      let session = try ask("/v1/session")
      #expect(session.status == 401, "The name of a browser is not passed on: \(session)")
      try await waitUntil("the log has the address of the visitor") {
        gallery.log.lines.contains { $0.path == "/v1/session" && $0.peer == "127.0.0.2" && $0.status == 401 }
      }
      let direct = try gallery.ask("GET", gallery.server.ownerLink(at: ""), key: nil, forged)
      #expect(direct.fields["set-cookie"]?.hasSuffix("; Secure") == true, "\(direct)")
      // The proxies of this test speak HTTP, and say so in place of the browser.
      let signedIn = try ask(gallery.server.ownerLink(at: ""))
      #expect(signedIn.fields["set-cookie"]?.hasSuffix("; Secure") == false, "\(signedIn)")
    }

    @Test(
      "nginx with the configuration of the page forwards windows, feeds and uploads",
      needs("nginx", from: "nginx-light"))
    func nginx() async throws {
      let nginx = try #require(Self.path(of: "nginx"))
      try await check(passesInterim: false) { folder, server, port in
        let site = try replaced(
          Self.block("nginx"),
          [
            ("listen 443 ssl http2;", "listen 127.0.0.1:\(port);"),
            ("  ssl_certificate /etc/letsencrypt/live/photos.example.org/fullchain.pem;\n", ""),
            ("  ssl_certificate_key /etc/letsencrypt/live/photos.example.org/privkey.pem;\n", ""),
            ("http://127.0.0.1:8080", "http://127.0.0.1:\(server)"),
          ])
        let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder)/\($0);" }
        try """
        daemon off;
        master_process off;
        pid \(folder)/pid;
        error_log \(folder)/errors;
        events {}
        http {
        access_log off;
        \(paths.joined(separator: "\n"))
        \(site)
        }
        """.write(toFile: "\(folder)/nginx.conf", atomically: true, encoding: .utf8)
        return try ChildRun(
          URL(filePath: nginx), ["-p", folder, "-e", "\(folder)/errors", "-c", "\(folder)/nginx.conf"],
          output: .null, errors: .null)
      }
    }

    @Test(
      "Caddy with the configuration of the page forwards windows, feeds, uploads and their 104",
      needs("caddy", from: "caddy"))
    func caddy() async throws {
      let caddy = try #require(Self.path(of: "caddy"))
      try await check(passesInterim: true) { folder, server, port in
        let site = try replaced(
          Self.block("caddy"),
          [("photos.example.org {", "http://127.0.0.1:\(port) {"), ("127.0.0.1:8080", "127.0.0.1:\(server)")])
        try "{\n  admin off\n}\n\(site)".write(toFile: "\(folder)/Caddyfile", atomically: true, encoding: .utf8)
        return try ChildRun(
          URL(filePath: caddy), ["run", "--adapter", "caddyfile", "--config", "\(folder)/Caddyfile"],
          environment: ["HOME": folder, "XDG_DATA_HOME": folder, "XDG_CONFIG_HOME": folder, "PATH": "/usr/bin"],
          output: .null, errors: .null)
      }
    }
  }
#endif
