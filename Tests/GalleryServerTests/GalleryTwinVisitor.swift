#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger
  import TestSupport
  import Testing

  /// An answer of a twin's server, without what has nothing to do with the library.
  struct TwinAnswer {
    /// The interim response and the head as they came, without `Date`.
    let head: String
    let status: Int
    /// The fields by their names in small letters.
    let fields: [String: String]
    /// The body without the frames of chunks, of an endless stream its first event.
    var body: [UInt8] = []
    /// What comes behind the first event of a stream.
    private(set) var stream: ChunkedBody?

    /// The text that is compared.
    var text: String {
      head + (String(validating: body, as: UTF8.self) ?? "\(body.count) bytes, \(Keyring.hash(body))")
    }

    /// Asks on a connection of its own.
    init(
      port: UInt16, _ method: String, _ target: String, json: String? = nil, bytes: Data? = nil, _ fields: [String],
      key: String?
    ) throws {
      let client = try RawClient(port: port)
      client.send(Self.request(method, target, json: json, bytes: bytes, fields, key: key))
      self.init(client, isHead: method == "HEAD")
    }

    static func request(
      _ method: String, _ target: String, json: String? = nil, bytes: Data? = nil, _ fields: [String], key: String?
    ) -> [UInt8] {
      var lines = ["\(method) \(target) HTTP/1.1", "Host: a", "Connection: close"] + fields
      if let key { lines.append("Authorization: Bearer \(key)") }
      if json != nil { lines.append("Content-Type: application/json") }
      let body = bytes ?? json.map { Data($0.utf8) }
      if let body { lines.append("Content-Length: \(body.count)") }
      return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (body ?? Data())
    }

    /// Reads what comes on a connection.
    init(_ client: RawClient, isHead: Bool = false) {
      var head = client.read(through: "\r\n\r\n")
      var last = head
      if head.hasPrefix("HTTP/1.1 104") {
        last = client.read(through: "\r\n\r\n")
        head += last
      }
      self.head = head.components(separatedBy: "\r\n").filter { !$0.hasPrefix("Date: ") }.joined(separator: "\r\n")
      let answer = TestGallery.parsed(last)
      (status, fields) = (answer?.status ?? 0, answer?.fields ?? [:])
      guard !isHead else { return }
      guard fields["transfer-encoding"] == "chunked" else {
        body = client.readBytesToEnd()
        return
      }
      let chunks = ChunkedBody(client)
      if fields["content-type"] == "text/event-stream" {
        (body, stream) = (Array((chunks.event() ?? "").utf8), chunks)
      } else {
        body = chunks.rest()
      }
    }

    /// A text of the answer's document.
    func member(_ name: String) -> String? { json?[name]?.textValue }

    /// The answer's document; nil for what is not one.
    var json: JSON? { try? JSONReader.read(body) }
  }

  /// A client of a twin: it asks, and the answers are written down.
  final class TwinVisitor {
    static let password = "correct horse battery"

    let name: String
    unowned let twin: GalleryTwin
    let key: String
    private(set) var look = ""
    /// Whether files are uploaded at this look, which takes time.
    private(set) var isUploading = false
    /// The states that the client was given, the last one last.
    private(set) var tokens: [String] = []
    /// An album of the client's own; empty before it has one.
    var album = ""
    /// What the client made.
    var made: [String] = []

    init(_ name: String, of twin: GalleryTwin, key: String) { (self.name, self.twin, self.key) = (name, twin, key) }

    func begin(_ look: String, withUploads: Bool) {
      (self.look, isUploading) = (look, withUploads)
    }

    // MARK: Asking

    /// Asks, and writes down the question and the answer.
    /// - Parameter key: whose secret is sent; the client's own unless another is given.
    @discardableResult
    func ask(
      _ method: String, _ target: String, _ json: String? = nil, bytes: Data? = nil, _ fields: [String] = [],
      key: String? = "own"
    ) throws -> TwinAnswer {
      twin.world.begin(.request)
      let answer = try TwinAnswer(
        port: twin.address.port, method, target, json: json, bytes: bytes, fields, key: key == "own" ? self.key : key)
      #expect(answer.status != 0, "\(method) \(target) was not answered")
      try write(answer.text, to: "\(method) \(target) \(fields) \(json ?? "")", method, target, answer.status)
      return answer
    }

    func write(_ answer: String, to question: String, _ method: String, _ target: String, _ status: Int) throws {
      let request = HTTPRequest(method: method, target: try HTTPTarget(target))
      let route = try? Router.route(request, withImmichClients: true).0
      let name = method == "HEAD" ? nil : route.map { "\($0.method) \($0.path)" }
      twin.record(TwinExchange(question: "\(look): \(question)", answer: answer, route: name, status: status))
    }

    /// Asks with GET and HEAD, and again with the tag of the answer.
    @discardableResult
    func get(_ target: String, _ fields: [String] = []) throws -> TwinAnswer {
      let answer = try ask("GET", target, nil, fields)
      try ask("HEAD", target, nil, fields)
      if let tag = answer.fields["etag"] { try ask("GET", target, nil, fields + ["If-None-Match: \(tag)"]) }
      return answer
    }

    /// Asks with the same method and body for several targets, or with several bodies for one.
    func ask(_ method: String, each targets: [String], _ bodies: [String?] = [nil]) throws {
      for target in targets { for body in bodies { try ask(method, target, body) } }
    }

    /// Fetches everything, and keeps the state.
    /// - Returns: the name of the fetch, and its state.
    @discardableResult
    func fetch(_ json: JSON = [:]) throws -> (name: String, token: String) {
      let answer = try ask("POST", "/v1/fetches", json.description)
      if let token = answer.member("token"), token != tokens.last { tokens.append(token) }
      return (try FetchRequest(json).name, answer.member("token") ?? tokens.last ?? "none")
    }

    // MARK: What is asked for

    static let nonsense = ["none", "00000000-0000-0000-0000-000000000000"]

    /// Assets that the client sees or not, hidden ones, and what is not an asset.
    var assets: [String] {
      twin.visible.map(\.uuidString) + twin.probe.assets.prefix(2) + twin.probe.albums.prefix(1) + Self.nonsense
    }

    /// Assets that the client does not see or that do not exist.
    var strangers: [String] { twin.probe.assets.prefix(2) + Self.nonsense }

    var albums: [String] {
      [twin.sharedAlbum] + (album.isEmpty ? [] : [album]) + twin.probe.albums.prefix(3) + Self.nonsense
    }

    var hashes: [String] {
      twin.visibleHashes.prefix(2) + twin.probe.hashes.prefix(2) + [String(repeating: "0", count: 64)]
    }

    /// States and moments to look back at.
    var moments: [String] {
      tokens.suffix(2) + ["1", "5", "40", "2025-06-15T15:06:59Z", "2025-06-15T15:07:25Z", "2020-01-01", "2030-01-01"]
    }

    var fetches: [String] {
      get throws {
        let more: [JSON] = [
          [:], ["sort": ["creationDate:desc"], "hidden": true], ["trash": true],
          ["smartAlbum": "smartAlbumFavorites"], ["smartAlbum": "smartAlbumRecentlyAdded"], ["log": true],
          ["search": "img"], ["collections": "all"], ["collections": "top"], ["selectionOf": "hidden client"],
        ]
        let folders = twin.probe.albums.prefix(2).map { ["collections": .text($0)] as JSON }
        let all = albums.map { ["album": .text($0)] as JSON } + folders + more
        return try all.map { try FetchRequest($0).name } + ["none"]
      }
    }

    /// What stands for a placeholder of a route of the owner.
    private func candidates(_ name: String) -> [String] {
      switch name {
      case "key", "person", "client", "session", "item", "share": (twin.probe.names[name] ?? []) + Self.nonsense
      default: twin.visible.prefix(1).map(\.uuidString) + twin.probe.assets.prefix(1) + Self.nonsense
      }
    }

    /// Asks the routes of the owner, each with every candidate for its placeholders.
    func askOwnersRoutes() throws {
      for route in TwinRoute.ofOwner {
        var paths = [""]
        for part in route.path.split(separator: "/") {
          let parts = part.hasPrefix("{") ? candidates(String(part.dropFirst().dropLast())) : [String(part)]
          paths = paths.flatMap { path in parts.map { "\(path)/\($0)" } }
        }
        try ask(route.method, each: paths, [route.method == "GET" || route.method == "DELETE" ? nil : "{}"])
      }
    }

    // MARK: Files

    /// A name for a file of this client at a look.
    private func file(_ name: String, at look: Int) -> String { "\(name) of \(self.name.prefix(6)) at \(look)" }

    /// What only the library with more has when the client uploads the same at a look.
    func hiddenFiles(at look: Int) -> [(name: String, data: Data)] {
      [
        ("photo.jpg", TwinMedia.photo(file("hidden photo", at: look))),
        ("still.jpg", TwinMedia.still(file("hidden pair", at: look))),
        ("form.jpg", TwinMedia.photo(file("hidden form", at: look))),
      ]
    }

    /// The movie that belongs to the hidden still.
    var movieOfHiddenStill: Data { TwinMedia.movie(file("hidden pair", at: twin.looks)) }
    /// A Live Photo of the client's own.
    var still: Data { TwinMedia.still(file("own pair", at: twin.looks)) }
    var movie: Data { TwinMedia.movie(file("own pair", at: twin.looks)) }

    // MARK: Picking

    /// Begins a picking session, uses it, and cancels it.
    func picking(_ json: String = "{}", _ use: (String) throws -> Void) throws {
      let session = try ask("POST", "/v1/picking", json).member("session") ?? "none"
      try use(session)
      try ask("DELETE", "/v1/picking/\(session)")
    }

    /// Has the owner pick assets in a session, and waits until the client would hear of it.
    func ownerPicks(_ assets: [String], in session: String) throws {
      twin.world.begin(.request)
      for asset in assets { try twin.asOwner("POST", "/v1/picking/\(session)/taps", #"{"select":"\#(asset)"}"#) }
      try twin.asOwner("POST", "/v1/picking/\(session)/taps", #"{"finish":true}"#)
      var revision = "none"
      while true {
        let state = try TwinAnswer(
          port: twin.address.port, "GET", "/v1/picking/\(session)?after=\(revision)&wait=20", [], key: key)
        guard state.member("state") == "open", state.member("revision") != revision else { return }
        revision = state.member("revision") ?? ""
      }
    }
  }

  /// The lists that a client follows while steps are made.
  final class TwinListener {
    private let visitor: TwinVisitor
    private let fetch: (name: String, token: String)
    private var cursor: String
    private var feeds: [(target: String, answer: TwinAnswer)] = []
    /// A poll that waits for a change.
    private var waiting: (target: String, client: RawClient)?

    init(_ visitor: TwinVisitor) throws {
      self.visitor = visitor
      fetch = try visitor.fetch()
      cursor = try visitor.ask("GET", "/v1/changes?fetch=\(fetch.name)").member("cursor") ?? "none"
      let collections = try visitor.fetch(["collections": "all"])
      for followed in visitor.album.isEmpty ? [fetch] : [fetch, collections] {
        let target = "/v1/feed?fetch=\(followed.name)&after=\(followed.token)"
        let answer = try visitor.ask("GET", target)
        if answer.status == 200 { feeds.append((target, answer)) }
      }
      guard !feeds.isEmpty else { return }
      let target = "/v1/fetches/\(fetch.name)/changes?after=\(fetch.token)&wait=60"
      let client = try RawClient(port: visitor.twin.address.port)
      client.send(TwinAnswer.request("GET", target, [], key: visitor.key))
      waiting = (target, client)
    }

    /// Writes down what each feed is sent of a picture that was made, which is the next that it is sent.
    func hearPicture(_ when: String) throws {
      for feed in feeds {
        var event: String?
        repeat { event = feed.answer.stream?.event() } while event?.hasPrefix(":") == true
        #expect(event?.hasPrefix("event: rendition\n") == true, "\(feed.target) sent \(event ?? "its end").")
        try visitor.write(event ?? "", to: "\(when): what \(feed.target) sends", "GET", feed.target, 200)
      }
    }

    /// Writes down what each feed and the waiting poll are sent up to the state of now.
    func hear(_ when: String) throws {
      guard let poll = waiting else { return }
      let token = try visitor.twin.library.as(visitor.name).currentToken
      for feed in feeds {
        var events: [String] = []
        while let event = feed.answer.stream?.event() {
          // Whether a heartbeat comes depends on timing.
          if event.hasPrefix(":") { continue }
          events.append(event)
          if event.contains("\"after\":\"\(token)\"") { break }
        }
        let text = events.joined(separator: "\n\n")
        #expect(text.contains("\"after\":\"\(token)\""), "The feed ended: \(text)")
        try visitor.write(text, to: "\(when): what \(feed.target) sends", "GET", feed.target, 200)
      }
      let answer = TwinAnswer(poll.client)
      try visitor.write(answer.text, to: "\(when): \(poll.target)", "GET", poll.target, answer.status)
    }

    /// Polls without waiting.
    func poll(_ when: String) throws {
      let changes = try visitor.ask("GET", "/v1/changes?cursor=\(cursor)")
      cursor = changes.member("cursor") ?? cursor
      try visitor.ask("GET", "/v1/fetches/\(fetch.name)/changes?after=\(fetch.token)")
      try visitor.fetch()
    }
  }
#endif
