import Foundation
import TestSupport
import Testing

#if Gallery
  /// A certificate for 127.0.0.1 that signs itself, and a client that trusts no other.
  struct TestCertificate {
    static let isPossible = ["/usr/bin", "/usr/local/bin"].contains {
      FileManager.default.isExecutableFile(atPath: "\($0)/openssl")
    }

    let certificate: String
    let key: String

    init(in sandbox: Sandbox, named name: String = "own") throws {
      (certificate, key) = (sandbox.folder.path + "/\(name)-certificate.pem", sandbox.folder.path + "/\(name)-key.pem")
      let made = try ChildRun.of([
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
        "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
      ])
      try #require(made.end == .status(0), "\(made)")
    }

    var options: [String] { ["--tls-certificate", certificate, "--tls-key", key] }

    /// The command of a client that connects to a port, and accepts no other certificate.
    func client(_ port: Substring) -> [String] {
      [
        "openssl", "s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", certificate, "-verify_ip", "127.0.0.1",
        "-verify_return_error", "-quiet",
      ]
    }

    /// Sends a request over TLS; what comes back begins with what the client says of the connection.
    func ask(_ port: Substring, _ request: String) throws -> (text: String, end: ChildRun.End) {
      try ChildRun.of(client(port), input: Data(request.utf8))
    }
  }

  @Suite("The command serve", .blocking)
  struct ServeCommandTests {
    private static let serve = ["serve", "--listen", "127.0.0.1:0"]

    private static func request(_ target: String) -> String {
      "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    }

    /// Where a server that was asked for text says it is, and its link.
    private func announcement(_ running: Running) throws -> (address: String, link: String) {
      let (first, second) = (try running.line(), try running.line())
      let (place, link) = ("Serving at ", "Sign in as the owner, once: ")
      try #require(first.hasPrefix(place) && second.hasPrefix(link), "\(first)\n\(second)")
      return (String(first.dropFirst(place.count)), String(second.dropFirst(link.count)))
    }

    @Test("it prints its address and how to sign in, and each SIGUSR1 prints another link")
    func announces() throws {
      let sandbox = try Sandbox()
      let running = try Running(sandbox, Self.serve)
      let (address, link) = try announcement(running)
      #expect(address.wholeMatch(of: #/http://127\.0\.0\.1:\d+/#) != nil, "\(address)")
      #expect(link.hasPrefix("\(address)/sign-in?link=") && link.count > address.count + 30, "\(link)")
      let served = try ServedLibrary(running, at: address, link: link)
      #expect(try served.ask("GET", "/v1/session").json["client"] as? String == "owner")
      kill(running.child.identifier, SIGUSR1)
      #expect(try running.line().hasPrefix("Sign in as the owner, once: \(address)/sign-in?link="))
      #expect(try running.finish(interrupting: true).status == 0)
    }

    @Test("it may open as many files as its hard limit allows, whatever soft limit it was started with")
    func raisesLimit() throws {
      let sandbox = try Sandbox()
      // The shell becomes the program, so its number is the program's.
      let limiting = #"ulimit -Sn 256; exec "$0" "$@""#
      let child = try ChildRun(
        URL(filePath: "/bin/sh"), ["-c", limiting, programURL.path] + Self.serve + ["--library", sandbox.library],
        directory: sandbox.folder, errors: .null)
      // It says where it is once it serves.
      #expect(!child.output.availableData.isEmpty)
      let limits = try String(contentsOfFile: "/proc/\(child.identifier)/limits", encoding: .utf8)
      let line = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max open files") })
      let numbers = line.split(separator: " ").compactMap { Int($0) }
      #expect(numbers.first == min(numbers.last ?? 0, 65_536), "\(line)")
      kill(child.identifier, SIGTERM)
      #expect(child.end() == .status(0))
      withExtendedLifetime(sandbox) {}
    }

    @Test(
      "the exiftool that reads uploads cannot read the library's store",
      .enabled(if: CuriousExifTool.isPossible, "Needs a sandbox that keeps files away, and perl."))
    func uploads() throws {
      let sandbox = try Sandbox()
      let served = try servedByCurious(sandbox)
      let answer = try served.ask("PUT", "/v1/uploads?name=a.jpg", ["no": "photo"])
      #expect(answer.status == 422, "\(answer)")
      #expect((answer.json["detail"] as? String)?.contains("(own no-store)") == true, "\(answer)")
      #expect(try served.running.finish(interrupting: true).status == 0)
    }

    @Test(
      "the exiftool that examines the bytes of change blocks cannot read the library's store",
      .enabled(if: CuriousExifTool.isPossible, "Needs a sandbox that keeps files away, and perl."))
    func blocks() throws {
      let sandbox = try Sandbox()
      let served = try servedByCurious(sandbox)
      let data = Data("no photo".utf8).base64EncodedString()
      let resource = ["type": "photo", "originalFilename": "a.jpg", "data": data]
      let creation: [String: Any] = ["op": "asset.create", "mediaType": "image", "resources": [resource]]
      let answer = try served.ask("POST", "/v1/blocks", ["changes": [creation]])
      #expect(answer.status == 400, "\(answer)")
      #expect((answer.json["detail"] as? String)?.contains("(own no-store)") == true, "\(answer)")
      #expect(try served.running.finish(interrupting: true).status == 0)
    }

    /// A server whose exiftool says what it can read.
    private func servedByCurious(_ sandbox: Sandbox) throws -> ServedLibrary {
      try CuriousExifTool.write(in: sandbox.folder.path)
      let path = sandbox.folder.path + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")
      let running = try Running(sandbox, Self.serve, ["PATH": path, "PHOTOLEDGER_PROBE": "exiftool"])
      let (address, link) = try announcement(running)
      return try ServedLibrary(running, at: address, link: link)
    }

    @Test("the cookie of a server without TLS may be sent without it")
    func plainCookie() throws {
      let sandbox = try Sandbox()
      let running = try Running(sandbox, Self.serve)
      let (address, link) = try announcement(running)
      let client = try RawClient(port: try #require(UInt16(address.split(separator: ":").last ?? "")))
      client.send(Self.request(String(link.dropFirst(address.count))))
      let answer = client.readToEnd()
      #expect(answer.contains("\r\nSet-Cookie: ") && !answer.contains("Secure"), "\(answer)")
      #expect(try running.finish(interrupting: true).status == 0)
    }

    @Test(
      "with a certificate and its key it speaks HTTPS only, and its cookie is for HTTPS only",
      .enabled(if: TestCertificate.isPossible, "`apt-get install openssl` brings what makes a certificate"))
    func tls() throws {
      let sandbox = try Sandbox()
      let pair = try TestCertificate(in: sandbox)
      let running = try Running(sandbox, Self.serve + pair.options)
      let (address, link) = try announcement(running)
      #expect(address.hasPrefix("https://127.0.0.1:") && link.hasPrefix("\(address)/sign-in?link="))
      let port = try #require(address.split(separator: ":").last)
      let ready = try pair.ask(port, Self.request("/readyz"))
      #expect(ready.text.contains("HTTP/1.1 200") && ready.text.contains(#"{"status":"ready"}"#), "\(ready)")
      let signedIn = try pair.ask(port, Self.request(String(link.dropFirst(address.count)))).text
      let cookie = try #require(signedIn.components(separatedBy: "\r\n").first { $0.hasPrefix("Set-Cookie: ") })
      #expect(cookie.hasSuffix("; Secure") && cookie.contains("; HttpOnly; SameSite=Strict"), "\(cookie)")
      let plain = try RawClient(port: try #require(UInt16(port)))
      plain.send(Self.request("/readyz"))
      #expect(!plain.readToEnd().contains("200 OK") && plain.isAtEnd)
      // A client that trusts another certificate gets no connection.
      let other = try TestCertificate(in: sandbox, named: "other").ask(port, Self.request("/readyz"))
      #expect(other.end != .status(0) && !other.text.contains("200 OK"), "\(other)")
      #expect(try running.finish(interrupting: true).status == 0)
    }

    @Test(
      "a certificate without its key, a missing file, and one that is not PEM end it with a sentence",
      arguments: [
        (["--tls-certificate", "rubbish.pem"], 2, "belong together"),
        (["--tls-key", "rubbish.pem"], 2, "belong together"),
        (["--tls-certificate", "none.pem", "--tls-key", "rubbish.pem"], 2, "--tls-certificate needs a PEM file; 'no"),
        (["--tls-certificate", "rubbish.pem", "--tls-key", "text"], 2, "--tls-key needs a PEM file; 'text'"),
        (["--tls-certificate", "rubbish.pem", "--tls-key", "rubbish.pem"], 1, "certificate and key may be wrong"),
      ] as [([String], Int32, String)])
    func badPEM(_ options: [String], _ status: Int32, _ says: String) throws {
      let sandbox = try Sandbox()
      let rubbish = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
      for (name, text) in [("rubbish.pem", rubbish), ("text", "no PEM")] {
        try Data(text.utf8).write(to: sandbox.folder.appending(path: name))
      }
      let end = try sandbox.run(Self.serve + options)
      #expect(end.status == status && end.errors.contains(says) && end.output.isEmpty, "\(end)")
    }

    @Test(
      "a renewed certificate is not read again: the help says so, and the server once when it notices",
      .enabled(if: TestCertificate.isPossible, "`apt-get install openssl` brings what makes a certificate"))
    func renewed() throws {
      let sandbox = try Sandbox()
      let (pair, other) = (try TestCertificate(in: sandbox), try TestCertificate(in: sandbox, named: "other"))
      let running = try Running(sandbox, Self.serve + pair.options)
      _ = try announcement(running)
      try Data(contentsOf: URL(filePath: other.certificate)).write(to: URL(filePath: pair.certificate))
      // It looks once an hour, and when it is asked for a link.
      for _ in 1...2 {
        kill(running.child.identifier, SIGUSR1)
        #expect(try running.line().hasPrefix("Sign in as the owner, once: "))
      }
      let end = try running.finish(interrupting: true)
      #expect(end.status == 0)
      #expect(end.errors.components(separatedBy: "has changed since the start").count == 2, "\(end.errors)")
      let help = try sandbox.run(["serve", "--help"]).output.split(whereSeparator: \.isWhitespace)
      #expect(help.joined(separator: " ").contains("The certificate and its key are read at the start"))
    }

    @Test(
      "a certificate with the key of another one ends it with a sentence",
      .enabled(if: TestCertificate.isPossible, "`apt-get install openssl` brings what makes a certificate"))
    func foreignKey() throws {
      let sandbox = try Sandbox()
      let (one, other) = (try TestCertificate(in: sandbox), try TestCertificate(in: sandbox, named: "other"))
      let end = try sandbox.run(Self.serve + ["--tls-certificate", one.certificate, "--tls-key", other.key])
      #expect(end.status == 1 && end.errors.contains("certificate and key may be wrong"), "\(end)")
    }

    @Test("an invalid address is a usage error; one that is in use, or another machine's, is a failure")
    func badAddress() throws {
      let sandbox = try Sandbox()
      let (socket, port) = try listening()
      defer { close(socket) }
      for (address, status, says) in [
        ("nonsense", 2, "--listen: 'nonsense' is not an address"),
        ("127.0.0.1:99999", 2, "with a port from 0 to 65535"), ("::1:80", 2, "IPv6 is written in brackets"),
        (":80", 2, "names no host"), ("127.0.0.1:\(port)", 1, "The server cannot listen on '127.0.0.1:\(port)'"),
        ("192.0.2.1:1", 1, "The server cannot listen on '192.0.2.1:1'"),
      ] as [(String, Int32, String)] {
        let end = try sandbox.run(["serve", "--listen", address])
        #expect(end.status == status && end.errors.contains(says) && end.output.isEmpty, "\(address): \(end)")
        #expect(end.errors.contains("--help") == (status == 2), "\(address): \(end)")
      }
    }

    /// A socket that listens, as systemd opens one.
    private func listening() throws -> (socket: Int32, port: UInt16) {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      try #require(descriptor >= 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let status = withUnsafeMutablePointer(to: &address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, length) + listen(descriptor, 64) + getsockname(descriptor, $0, &length)
        }
      }
      try #require(status == 0)
      return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    @Test("a socket that systemd passes is served instead of --listen, and earlier connections are answered")
    func activation() throws {
      let (socket, port) = try listening()
      defer { close(socket) }
      let early = try RawClient(port: port)
      early.send(Self.request("/healthz"))
      let sandbox = try Sandbox()
      // The address of --listen is of no machine's, so a server that used it would end.
      let running = try Running(
        sandbox, ["serve", "--listen", "192.0.2.1:1"], ["LISTEN_FDS": "1"], socket: socket)
      let address = try announcement(running).address
      #expect(address == "http://127.0.0.1:\(port)")
      #expect(early.readToEnd().hasPrefix("HTTP/1.1 200"))
      #expect(try running.finish(interrupting: true).status == 0)
      // The socket is systemd's: it goes on taking connections while there is no server.
      _ = try RawClient(port: port)
    }

    @Test("more than one socket, or one that does not listen, ends it with a sentence")
    func wrongActivation() throws {
      let sandbox = try Sandbox()
      let (socket, _) = try listening()
      defer { close(socket) }
      let two = try Running(sandbox, ["serve"], ["LISTEN_FDS": "2"], socket: socket).finish()
      #expect(two.status == 2 && two.errors.contains("LISTEN_FDS is '2'"), "\(two)")
      let file = open(sandbox.folder.path, O_RDONLY | O_CLOEXEC)
      defer { close(file) }
      let none = try Running(sandbox, ["serve"], ["LISTEN_FDS": "1"], socket: file).finish()
      #expect(none.status == 1 && none.errors.contains("not a listening socket"), "\(none)")
    }

    @Test("variables that systemd set for another process are ignored")
    func foreignActivation() throws {
      let sandbox = try Sandbox()
      let running = try Running(sandbox, Self.serve, ["LISTEN_PID": "1", "LISTEN_FDS": "1"])
      #expect(try announcement(running).address.hasPrefix("http://127.0.0.1:"))
      #expect(try running.finish(interrupting: true).status == 0)
    }

    /// Has a server answer three requests, and gives what it wrote on standard error.
    ///
    /// The lines are in any order: each request has a connection of its own, and its line is written by one of two
    /// threads after the client has the answer.
    private func logged(_ options: [String]) throws -> [String] {
      let sandbox = try Sandbox()
      let running = try Running(sandbox, Self.serve + options)
      let said: (address: String, link: String)
      if options.isEmpty {
        said = try announcement(running)
      } else {
        let object = try jsonObject(running.line())
        said = (try #require(object["address"] as? String), try #require(object["link"] as? String))
      }
      let served = try ServedLibrary(running, at: said.address, link: said.link)
      #expect(try served.ask("GET", "/v1/session?after=secret").status == 200)
      served.key = ""
      #expect(try served.ask("GET", "/v1/no%20thing").status == 404)
      let end = try running.finish(interrupting: true)
      #expect(end.status == 0)
      return end.errors.split(separator: "\n").map(String.init)
    }

    @Test("each request leaves a line on standard error, without its query")
    func textLog() throws {
      let lines = try logged([])
      let form = #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z 127\.0\.0\.1 (\S+) ([A-Z]+) (.+) (\d{3}) [\d.]+ ms/#
      let said = try lines.map { line in
        let match = try #require(line.wholeMatch(of: form), "\(line)")
        return "\(match.output.2) \(match.output.3) \(match.output.4) \(match.output.5)"
      }
      #expect(said.sorted() == ["- GET /v1/no%20thing 404", "- POST /v1/sessions 201", "owner GET /v1/session 200"])
    }

    @Test("with --json the lines are objects")
    func objectLog() throws {
      let lines = try logged(["--json"]).map(jsonObject)
      let keys: Set<String> = ["date", "peer", "client", "method", "path", "status", "milliseconds"]
      #expect(lines.allSatisfy { Set($0.keys) == keys && $0["peer"] as? String == "127.0.0.1" }, "\(lines)")
      let said = lines.map { line in
        "\(line["path"] as? String ?? "") \(line["status"] as? Int ?? 0) \(line["client"] as? String ?? "-")"
      }
      #expect(said.sorted() == ["/v1/no%20thing 404 -", "/v1/session 200 owner", "/v1/sessions 201 -"])
      #expect(lines.allSatisfy { ($0["milliseconds"] as? Double ?? -1) >= 0 && ($0["date"] as? String)?.last == "Z" })
    }

    @Test(
      "the demonstration, of generated photos or of a folder's, is served in the end; its temporary library is removed",
      arguments: [nil, 1] as [Int?])
    func demonstration(ofPhotos count: Int?) throws {
      let sandbox = try Sandbox(makesLibrary: false)
      let temporary = sandbox.folder.appending(path: "temporary")
      try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
      func libraries() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: temporary.path)
          .filter { $0.hasPrefix("photoledger-demo-") }
      }
      let folder = try count.map { try sandbox.pictures($0) }
      let words = ["demo", "--serve"] + (folder.map { [$0] } ?? []) + ["--listen", "127.0.0.1:0"]
      let running = try Running(sandbox, words, ["TMPDIR": temporary.path])
      var line = try running.line()
      while !line.hasPrefix("Serving at ") { line = try running.line() }
      let link = try running.line().dropFirst("Sign in as the owner, once: ".count)
      let served = try ServedLibrary(running, at: String(line.dropFirst("Serving at ".count)), link: String(link))
      let found = try #require(try served.ask("POST", "/v1/fetches", [:]).json["count"] as? Int)
      #expect(count.map { found == $0 } ?? (found > 100), "\(found)")
      #expect(try libraries().count == 1)
      #expect(try running.finish(interrupting: true).status == 0)
      #expect(try libraries().isEmpty)
      if let folder { #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["0.gif"]) }
    }
  }
#else
  @Suite("A program without the server")
  struct ServerlessTests {
    @Test(
      "commands that serve say how to build a program with the server, and do nothing",
      arguments: [["serve"], ["demo", "--serve"]])
    func serverless(_ words: [String]) throws {
      let sandbox = try Sandbox(makesLibrary: false)
      let end = try sandbox.run(words + (words == ["serve"] ? [] : ["--library", sandbox.library]))
      #expect(end.status == 2 && end.output.isEmpty, "\(end)")
      #expect(end.errors.contains("swift build -c release --traits Gallery"), "\(end)")
      #expect(!FileManager.default.fileExists(atPath: sandbox.library))
      #expect(try sandbox.run(["--version"]).output.hasSuffix(", without the server\n"))
    }
  }
#endif
