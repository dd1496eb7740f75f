#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import PhotoLedger
  import Synchronization
  import TestSupport
  import Testing

  /// An answer as a client sees it.
  struct Answer {
    var status: Int
    var fields: [String: String]
    var body: String

    func json() throws -> [String: Any] {
      try #require(JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any], "not an object: \(body)")
    }
  }

  /// A clock that a test moves.
  final class TestClock: Sendable {
    private let state = Mutex((date: Date(timeIntervalSince1970: 1_700_000_000), readings: 0))
    var now: Date {
      state.withLock { state in
        state.readings += 1
        return state.date
      }
    }
    /// How many times it was read.
    var readings: Int { state.withLock { $0.readings } }
    func advance(by seconds: Double) { state.withLock { $0.date += seconds } }
  }

  /// Calls a closure in the middle of a request: when random numbers are drawn for it.
  final class NextDraw: Sendable {
    private let body = Mutex<(@Sendable () -> Void)?>(nil)

    /// Calls a closure at the next draw, once.
    func when(_ body: @escaping @Sendable () -> Void) { self.body.withLock { $0 = body } }

    func note() {
      let body = self.body.withLock { body in
        defer { body = nil }
        return body
      }
      body?()
    }
  }

  /// A server on a library of its own, with the owner's key.
  final class TestGallery {
    let temporary: TemporaryLibrary
    private(set) var server: GalleryServer
    private(set) var address: HTTPAddress
    private(set) var owner = ""
    private let seed: UInt64
    private let access: GalleryAccess
    private let options: HTTPServerOptions
    private let renditions: RenditionOptions
    private let page: PageFiles?
    /// The server's clock, which stands still unless it is moved.
    let clock = TestClock()
    /// What happens when the server draws random bytes next.
    let draw = NextDraw()
    /// What the server wrote of requests that have ended.
    let log = RequestLog()

    var library: PhotoLibrary { temporary.library }

    init(
      seed: UInt64 = 1, access: GalleryAccess = GalleryAccess(), options: HTTPServerOptions = HTTPServerOptions(),
      renditions: RenditionOptions = RenditionOptions(), page: PageFiles? = nil, in folder: TemporaryFolder? = nil,
      library: LibraryEnvironment? = nil, sweepSeconds: Double = 3600
    ) async throws {
      temporary = try TemporaryLibrary(library ?? .seeded(seed), in: folder)
      var access = access
      // What ends must end at once, not at the next sweep.
      access.sweepSeconds = sweepSeconds
      (self.seed, self.access, self.options) = (seed, access, options)
      (self.renditions, self.page) = (renditions, page)
      (server, address) = try Self.start(temporary.library, seed, clock, draw, log, access, options, renditions, page)
      owner = try await key(linked: server.ownerLink(at: ""))
    }

    private static func start(
      _ library: PhotoLibrary, _ seed: UInt64, _ clock: TestClock, _ draw: NextDraw, _ log: RequestLog,
      _ access: GalleryAccess, _ options: HTTPServerOptions, _ renditions: RenditionOptions, _ page: PageFiles?,
      preparing prepare: (GalleryServer) -> Void = { _ in }
    ) throws -> (GalleryServer, HTTPAddress) {
      let random = Mutex(SeededGenerator(seed: seed))
      let environment = GalleryEnvironment(
        now: { clock.now },
        randomBytes: { count in
          draw.note()
          return random.withLock { random in (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) } }
        })
      let server = try GalleryServer(
        library, environment: environment, access: access, renditions: renditions, page: page
      ) { log.add($0) }
      prepare(server)
      return (server, try server.start(try HTTPListener("127.0.0.1:0"), options: options))
    }

    /// Runs a body, whose reads may block, against a gallery that is stopped afterwards.
    /// - Parameters:
    ///   - library: the environment of the library; one of the seed if nil.
    ///   - sweepSeconds: how often the server ends what has expired.
    static func serving(
      seed: UInt64 = 1, access: GalleryAccess = GalleryAccess(), idleSeconds: Int = 60, stopSeconds: Int = 5,
      renditions: RenditionOptions = RenditionOptions(), page: PageFiles? = nil, in folder: TemporaryFolder? = nil,
      library: LibraryEnvironment? = nil, gatheredBytes: Int = HTTPServerOptions().gatheredBytes,
      sweepSeconds: Double = 3600, _ body: (TestGallery) async throws -> Void
    ) async throws {
      try await onBlockingThreads {
        var options = HTTPServerOptions()
        (options.idleSeconds, options.stopSeconds) = (idleSeconds, stopSeconds)
        options.gatheredBytes = gatheredBytes
        let gallery = try await TestGallery(
          seed: seed, access: access, options: options, renditions: renditions, page: page, in: folder,
          library: library, sweepSeconds: sweepSeconds)
        do {
          try await body(gallery)
        } catch {
          await gallery.server.stop()
          throw error
        }
        await gallery.server.stop()
      }
    }

    /// Stops the server and starts another one on the same library, with the keys that the first one left.
    /// - Parameters:
    ///   - other: the library that the new server serves; the same one if nil.
    ///   - prepare: is called with the new server before it starts.
    func restart(on other: PhotoLibrary? = nil, preparing prepare: (GalleryServer) -> Void = { _ in }) async throws {
      await server.stop()
      (server, address) = try Self.start(
        other ?? temporary.library, seed + 1, clock, draw, log, access, options, renditions, page, preparing: prepare)
    }

    private func key(linked link: String) async throws -> String {
      let secret = try #require(link.split(separator: "=").last.map(String.init))
      let answer = try ask("POST", "/v1/sessions", json: ["link": secret], key: nil)
      #expect(answer.status == 201)
      return try #require(try answer.json()["secret"] as? String)
    }

    /// A key for another client.
    func key(of client: String) throws -> (name: String, secret: String) {
      let json = try ask("POST", "/v1/keys", json: ["client": client]).json()
      return (try #require(json["name"] as? String), try #require(json["secret"] as? String))
    }

    /// Asks on a connection of its own.
    /// - Parameter key: a bearer's secret; the owner's unless another is given.
    func ask(
      _ method: String, _ target: String, json: [String: Any]? = nil, key: String? = "owner",
      _ fields: [String] = []
    ) throws -> Answer {
      let client = try RawClient(port: address.port)
      client.send(try head(method, target, json: json, key: key, fields + ["Connection: close"]))
      let bytes = client.readBytesToEnd()
      // Behind the head of an answer to HEAD there is nothing, the end of a chunked body included.
      let answer = method == "HEAD" ? Self.parsed(String(decoding: bytes, as: UTF8.self)) : Self.parsed(bytes)
      let sent = try json.map { try Array(JSONSerialization.data(withJSONObject: $0)) }
      return Self.checked(method, target, try #require(answer), sent: sent)
    }

    /// The answer, held against the API's description.
    /// - Parameter body: the JSON body of the request, which is held against it as well if it was accepted.
    static func checked(_ method: String, _ target: String, _ answer: Answer, sent body: [UInt8]? = nil) -> Answer {
      do {
        let contract = try Contract.served(for: target).get()
        try contract.check(method, target, answer)
        if let body, (200..<300).contains(answer.status) { try contract.check(accepted: body, method, target) }
      } catch { Issue.record("\(error)") }
      if answer.status == 503, Int(answer.fields["retry-after"] ?? "") ?? 0 < 1 {
        Issue.record("\(method) \(target) answers 503 and does not say until when: \(answer)")
      }
      return answer
    }

    func head(
      _ method: String, _ target: String, json: [String: Any]? = nil, key: String? = "owner", _ fields: [String] = []
    ) throws -> String {
      var lines = ["\(method) \(target) HTTP/1.1", "Host: \(address)"] + fields
      if let key { lines.append("Authorization: Bearer \(key == "owner" ? owner : key)") }
      var body = ""
      if let json {
        body = String(decoding: try JSONSerialization.data(withJSONObject: json), as: UTF8.self)
        lines += ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"]
      }
      return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    static func parsed(_ text: String) -> Answer? {
      guard let end = text.range(of: "\r\n\r\n") else { return nil }
      let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
      guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { return nil }
      var fields: [String: String] = [:]
      for line in lines.dropFirst() {
        guard let colon = line.firstIndex(of: ":") else { continue }
        fields[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      }
      return Answer(status: status, fields: fields, body: String(text[end.upperBound...]))
    }

    /// The answer, its body without the frames of the chunked encoding; nil if it is not whole.
    static func parsed(_ bytes: [UInt8]) -> Answer? {
      guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)),
        var answer = parsed(String(decoding: bytes[..<end.upperBound], as: UTF8.self))
      else { return nil }
      var (rest, body) = (bytes[end.upperBound...], [UInt8]())
      if answer.fields["transfer-encoding"] == "chunked", !rest.isEmpty {
        while true {
          guard let end = rest.firstRange(of: [0x0D, 0x0A]),
            let count = Int(String(decoding: rest[..<end.lowerBound], as: UTF8.self), radix: 16)
          else { return nil }
          if count == 0 { break }
          guard rest[end.upperBound...].count >= count + 2 else { return nil }
          body += rest[end.upperBound...].prefix(count)
          rest = rest[end.upperBound...].dropFirst(count + 2)
        }
      } else {
        body += rest
      }
      answer.body = String(decoding: body, as: UTF8.self)
      return answer
    }

    /// Fetches and gives the name and the token.
    func fetch(_ json: [String: Any] = [:], key: String? = "owner") throws -> (name: String, token: String, count: Int)
    {
      let answer = try ask("POST", "/v1/fetches", json: json, key: key)
      try #require(answer.status == 201, "\(answer)")
      let object = try answer.json()
      return (
        try #require(object["fetch"] as? String), try #require(object["token"] as? String),
        try #require(object["count"] as? Int)
      )
    }

    /// The identifiers of a fetch at a token, read in windows.
    func identifiers(_ fetch: String, at token: String, key: String? = "owner") throws -> [String] {
      var identifiers: [String] = []
      while true {
        let answer = try ask(
          "GET", "/v1/fetches/\(fetch)/items?form=columns&count=7&start=\(identifiers.count)&token=\(token)", key: key)
        try #require(answer.status == 200, "\(answer)")
        let json = try answer.json()
        let columns = try #require(json["columns"] as? [String: Any])
        let window = try #require(columns["localIdentifier"] as? [String])
        if window.isEmpty { return identifiers }
        identifiers += window
      }
    }
  }

  /// A list that follows a feed, as a page would.
  struct FollowedList {
    private(set) var identifiers: [String]
    private(set) var token: String

    init(_ identifiers: [String], at token: String) { (self.identifiers, self.token) = (identifiers, token) }

    /// Applies a message by its two coordinate systems.
    mutating func apply(_ change: [String: Any]) throws {
      #expect(change["before"] as? String == token, "The message does not start where the list is.")
      func positions(_ name: String) throws -> IndexSet {
        let ranges = try #require(change[name] as? [[Int]])
        return IndexSet(ranges.flatMap { $0[0]..<($0[0] + $0[1]) })
      }
      let moved = try #require(change["moved"] as? [[Int]])
      let before = identifiers
      let leaving = try positions("removed").union(IndexSet(moved.map { $0[0] }))
      var list = before.indices.filter { !leaving.contains($0) }.map { before[$0] }
      let items = try #require(change["items"] as? [String: Any])
      let columns = try #require((items["columns"] as? [String: Any])?["localIdentifier"] as? [String])
      let ranges = try #require(items["indexes"] as? [[Int]])
      let named = Dictionary(uniqueKeysWithValues: zip(ranges.flatMap { $0[0]..<($0[0] + $0[1]) }, columns))
      var coming: [(index: Int, identifier: String)] = moved.map { ($0[1], before[$0[0]]) }
      for index in try positions("inserted") { coming.append((index, try #require(named[index]))) }
      for (index, identifier) in coming.sorted(by: { $0.index < $1.index }) { list.insert(identifier, at: index) }
      #expect(list.count == change["count"] as? Int)
      for index in try positions("changed") { #expect(named[index] == list[index]) }
      identifiers = list
      token = try #require(change["after"] as? String)
    }
  }

  /// The lines that a server writes of requests.
  final class RequestLog: Sendable {
    private let all = Mutex<[GalleryLogLine]>([])
    var lines: [GalleryLogLine] { all.withLock { $0 } }
    func add(_ line: GalleryLogLine) { all.withLock { $0.append(line) } }
  }
#endif
