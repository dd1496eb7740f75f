#if Gallery
  import Foundation
  import PhotoLedger
  import TestSupport
  import Testing

  /// A connection over the server's own TLS that stays open between requests.
  private final class EncryptedClient {
    private let child: ChildRun
    private let output = LineQueue()

    init(_ pair: TestCertificate, _ port: Substring) throws {
      child = try ChildRun(URL(filePath: "/usr/bin/env"), pair.client(port), input: .pipe, errors: .null)
      output.fill(from: child.output)
    }

    func send(_ bytes: Data) throws { try child.input.write(contentsOf: bytes) }

    /// What comes up to and with a mark.
    func read(through mark: String) throws -> String { String(decoding: try output.data(through: mark), as: UTF8.self) }

    /// What comes until the server ends the connection.
    func readToEnd() throws -> Data { try output.restOfData() }
  }

  /// A server with a certificate of its own, and its owner's key.
  private struct EncryptedLibrary {
    let running: Running
    let pair: TestCertificate
    let port: Substring
    private(set) var key = ""

    init(_ sandbox: Sandbox) throws {
      pair = try TestCertificate(in: sandbox)
      running = try Running(sandbox, ["serve", "--listen", "127.0.0.1:0", "--json"] + pair.options)
      let line = try jsonObject(running.line())
      port = try #require((line["address"] as? String)?.split(separator: ":").last)
      let secret = try #require((line["link"] as? String)?.split(separator: "=").last.map(String.init))
      let session = try ask("POST", "/v1/sessions", ["link": secret])
      key = try #require(session["secret"] as? String)
    }

    func head(_ method: String, _ target: String, version: String = "1.1", _ fields: [String] = []) -> Data {
      var lines = ["\(method) \(target) HTTP/\(version)", "Host: 127.0.0.1"] + fields
      if !key.isEmpty { lines.append("Authorization: Bearer \(key)") }
      return Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    func connect() throws -> EncryptedClient { try EncryptedClient(pair, port) }

    /// Sends a request on a connection of its own; its answer has to be a success.
    func ask(_ method: String, _ target: String, _ json: [String: Any]) throws -> [String: Any] {
      let body = try JSONSerialization.data(withJSONObject: json)
      let fields = ["Content-Type: application/json", "Content-Length: \(body.count)", "Connection: close"]
      let client = try connect()
      try client.send(head(method, target, fields) + body)
      let answer = Answer(try client.readToEnd())
      try #require(answer.head.hasPrefix("HTTP/1.1 20"), "\(answer.head)")
      return try jsonObject(String(decoding: answer.body, as: UTF8.self))
    }
  }

  /// An answer, from its status line on.
  private struct Answer {
    let head: String
    let body: Data

    init(_ bytes: Data) {
      let end = bytes.range(of: Data("\r\n\r\n".utf8)) ?? bytes.endIndex..<bytes.endIndex
      head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
      body = Data(bytes[end.upperBound...])
    }

    /// The value of a field of a head.
    static func field(_ name: String, of head: String) -> String? {
      head.components(separatedBy: "\r\n").first { $0.lowercased().hasPrefix("\(name): ") }
        .map { String($0.dropFirst(name.count + 2)) }
    }
  }

  extension ServeCommandTests {
    private static let photo = TinyMedia.jpeg() + periodicBytes(600_000)

    private static let upload = ["Upload-Complete: ?1", "Content-Length: \(photo.count)"]

    @Test(
      "over its own TLS a 104 response names an upload before its body is sent; the file is then read as it was sent",
      .enabled(if: TestCertificate.isPossible, "`apt-get install openssl` brings what makes a certificate"))
    func encryptedUpload() throws {
      let sandbox = try Sandbox()
      let served = try EncryptedLibrary(sandbox)
      let client = try served.connect()
      try client.send(served.head("POST", "/v1/uploads?name=a.jpg", Self.upload))
      let interim = try client.read(through: "\r\n\r\n")
      #expect(interim.hasPrefix("HTTP/1.1 104 "), "\(interim)")
      let place = try #require(Answer.field("location", of: interim), "\(interim)")
      #expect(place.hasPrefix("/v1/uploads/") && Answer.field("upload-offset", of: interim) == "0", "\(interim)")
      try client.send(Self.photo)
      let created = try client.read(through: "\r\n\r\n")
      #expect(created.hasPrefix("HTTP/1.1 201 "), "\(created)")
      let identifier = try #require(Answer.field("photoledger-asset", of: created), "\(created)")

      // The same connection goes on; the content of the answer comes before that of the next.
      try client.send(served.head("GET", place, ["Connection: close"]))
      let rest = String(decoding: try client.readToEnd(), as: UTF8.self)
      #expect(rest.contains("HTTP/1.1 201 "), "A finished upload is answered as its last part was: \(rest)")
      let state = try jsonObject(try #require(rest.components(separatedBy: "\r\n\r\n").last))
      #expect(state["asset"] as? String == identifier, "\(rest)")

      let download = try served.connect()
      let asset = identifier.prefix { $0 != "/" }
      let path = "/v1/assets/\(asset)/resources/\(Array(Self.photo).sha256.hexadecimal)"
      try download.send(served.head("GET", path, ["Connection: close"]))
      let answer = Answer(try download.readToEnd())
      let isSame = answer.body == Self.photo
      #expect(answer.head.hasPrefix("HTTP/1.1 200 ") && isSame, "\(answer.head)")
      #expect(try served.running.finish(interrupting: true).status == 0)
    }

    @Test(
      "over its own TLS an upload that breaks off is continued at the place that its 104 response named",
      .enabled(if: TestCertificate.isPossible, "`apt-get install openssl` brings what makes a certificate"))
    func encryptedContinuation() throws {
      let sandbox = try Sandbox()
      let served = try EncryptedLibrary(sandbox)
      var client: EncryptedClient? = try served.connect()
      try client?.send(served.head("POST", "/v1/uploads?name=a.jpg", Self.upload))
      let interim = try #require(try client?.read(through: "\r\n\r\n"))
      let place = try #require(Answer.field("location", of: interim), "\(interim)")
      try client?.send(Self.photo.prefix(400_000))
      // Its process is killed.
      client = nil

      let asking = try served.connect()
      try asking.send(served.head("HEAD", place, ["Connection: close"]))
      let state = Answer(try asking.readToEnd()).head
      let offset = try #require(Answer.field("upload-offset", of: state).flatMap { Int($0) }, "\(state)")
      #expect((0...400_000).contains(offset))
      let rest = try served.connect()
      let fields = [
        "Content-Type: application/partial-upload", "Upload-Complete: ?1", "Upload-Offset: \(offset)",
        "Content-Length: \(Self.photo.count - offset)", "Connection: close",
      ]
      try rest.send(served.head("PATCH", place, fields) + Self.photo.dropFirst(offset))
      let answer = Answer(try rest.readToEnd())
      #expect(answer.head.hasPrefix("HTTP/1.1 201 "), "\(answer.head)")
      let digits = Array(Self.photo).sha256.hexadecimal
      #expect(Answer.field("photoledger-sha256", of: answer.head) == digits, "\(answer.head)")
      #expect(try served.running.finish(interrupting: true).status == 0)
    }

    @Test(
      "over its own TLS a client of HTTP/1.0 is sent no 104 response",
      .enabled(if: TestCertificate.isPossible, "`apt-get install openssl` brings what makes a certificate"))
    func encryptedFormerVersion() throws {
      let sandbox = try Sandbox()
      let served = try EncryptedLibrary(sandbox)
      let client = try served.connect()
      try client.send(served.head("POST", "/v1/uploads?name=a.jpg", version: "1.0", Self.upload) + Self.photo)
      let answer = Answer(try client.readToEnd())
      #expect(answer.head.hasPrefix("HTTP/1.") && answer.head.dropFirst(8).hasPrefix(" 201 "), "\(answer.head)")
      #expect(try served.running.finish(interrupting: true).status == 0)
    }

    @Test(
      "over its own TLS a feed sends its messages, and the server ends as requested while connections are open",
      .enabled(if: TestCertificate.isPossible, "`apt-get install openssl` brings what makes a certificate"))
    func encryptedFeed() throws {
      let sandbox = try Sandbox()
      let asset = try #require(try sandbox.makeAssets(1).first)
      let served = try EncryptedLibrary(sandbox)
      let fetch = try served.ask("POST", "/v1/fetches", [:])
      let (name, token) = (try #require(fetch["fetch"] as? String), try #require(fetch["token"] as? String))
      let feed = try served.connect()
      try feed.send(served.head("GET", "/v1/feed?fetch=\(name)&after=\(token)"))
      let head = try feed.read(through: "\r\n\r\n")
      #expect(head.hasPrefix("HTTP/1.1 200 "), "\(head)")
      let first = try feed.read(through: "\n\n")
      #expect(first.contains("event: feed\n"), "\(first)")
      let edit: [String: Any] = ["op": "asset.edit", "assets": [asset], "isFavorite": true]
      _ = try served.ask("POST", "/v1/blocks", ["changes": [edit]])
      var lines: [Substring] = []
      while !lines.contains("event: change") {
        lines = try feed.read(through: "\n\n").split(whereSeparator: \.isNewline)
      }
      let data = try #require(lines.first { $0.hasPrefix("data: ") }).dropFirst("data: ".count)
      #expect(try jsonObject(String(data))["changed"] as? [[Int]] == [[0, 1]], "\(lines)")

      // One connection has a feed, and one waits for a request.
      let idle = try served.connect()
      try idle.send(served.head("GET", "/readyz"))
      #expect(try idle.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
      let end = try served.running.finish(interrupting: true)
      #expect(end.status == 0, "\(end)")
      for client in [feed, idle] { _ = try client.readToEnd() }
    }
  }
#endif
