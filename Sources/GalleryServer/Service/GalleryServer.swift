#if Gallery
  public import Foundation
  public import HTTPServing
  import LibraryJSON
  public import PhotoLedger
  import Synchronization

  // The gallery server: a library over HTTP, for any language, browser and phone.
  //
  //   request ─▶ HTTPServing ─▶ GalleryServer.plan ─▶ Keyring: which key? ─▶ Router: which route? ─▶ its handler
  //                                                                                                    │
  //      fetches, windows, sections   FetchRoutes ── Fetches: results that are held, by (key, fetch, token)
  //      live changes, and the log    FeedRoutes  ── Feed: one task a fetch follows its list
  //      uploads                      UploadRoutes── Uploads: bytes to files, at the end one commit
  //      uploaders made for Immich    ImmichClientRoutes ── the same uploads, under /api, if asked for
  //      originals                    FileRoutes  ── a descriptor, sent by the kernel
  //      renditions, archives         RenditionRoutes, DownloadRoutes
  //      duplicates                   DuplicateRoutes ── DuplicateProposals: a search in the background
  //      keys, health, description    KeyRoutes, HealthRoutes
  //
  // The server keeps no state of its own that a client depends on, but for the keys. A fetch is named by what it asks
  // for (`FetchRequest`), a state by the library's token, a feed's cursor by both. So every URL and every cursor is
  // good after a restart. Keys are in memory, and a library has one server (`ServerLock`): a second one would not hear
  // that a key was withdrawn, and would write it back.
  //
  // Invariant: a request sees the library through `library.as(client)` with the client of its key. No route has another
  // way to the library, so what a limited client may not see is hidden by the library's own rules.
  //
  // Invariant: a withdrawn key does nothing any more, although a request may wait: for its body, for a picture, for a
  // change. `plan` finds the key by the head, and has it checked again when the work of a route begins, and when what
  // was read is about to be sent (`HTTPPlan.whileGood`). What a client may see is the route's to check again.
  //
  // Which thread answers. The threads of connections serve all of them, so only what takes microseconds is answered
  // there (`Route.held`): an asset of now (a few rows), a window of a held result (`Window.isSmall`) whose order is
  // made, sections and windows that are encoded, a file of the library or a rendition that was made (two rows, a
  // descriptor), a file of the gallery's page (in memory). A row may lie on a page that is not in memory; that is one
  // read of the disk for each such page, as for a file that is sent. What scans, sorts, works out a moment of the past,
  // waits for a person or a program, or writes is a task, and its reads block a thread of `offload`: making a fetch and
  // its order, encoding sections, uploads, blocks, feeds. A task costs three changes of threads, which is more than the
  // whole of a small answer.
  //
  // Rejected: fetches that are objects of the server with random names (lost when the server restarts, and to be
  // collected), and one shared observer that computes messages for all clients (permissions make each client's list its
  // own).

  /// Where the server takes the time and randomness from.
  public struct GalleryEnvironment: Sendable {
    /// The clock.
    public var now: @Sendable () -> Date
    /// Random bytes that cannot be guessed, as many as are asked for.
    public var randomBytes: @Sendable (Int) -> [UInt8]

    /// Waits for a number of seconds, or until the task is cancelled.
    public var sleep: @Sendable (Double) async throws -> Void

    /// An environment of given sources.
    public init(
      now: @escaping @Sendable () -> Date, randomBytes: @escaping @Sendable (Int) -> [UInt8],
      sleep: @escaping @Sendable (Double) async throws -> Void = { try await Task.sleep(for: .seconds($0)) }
    ) {
      (self.now, self.randomBytes, self.sleep) = (now, randomBytes, sleep)
    }

    /// The system's clock and its source of unpredictable bytes.
    public static let system = GalleryEnvironment(
      now: { Date() },
      randomBytes: { count in
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      })
  }

  /// One line of the server's log.
  public struct GalleryLogLine: Sendable {
    /// The instant at which the response had been sent.
    public let date: Date
    /// The numeric address of the peer, or the one that a trusted proxy names.
    public let peer: String
    /// The client of the library for which the request was made; nil without a key that was good when it came.
    public let client: String?
    /// The method.
    public let method: String
    /// The path, without the query: that may hold a secret.
    public let path: String
    /// The status; nil if the connection ended first.
    public let status: Int?
    /// How long the request took, in seconds.
    public let seconds: Double
    /// Why it failed, where the client is not sent the reason since it names a path; nil otherwise.
    public let note: String?
  }

  /// Serves a library over HTTP.
  public final class GalleryServer: Sendable {
    let library: PhotoLibrary
    let environment: GalleryEnvironment
    let access: GalleryAccess
    let passwords: Passwords
    let people: People
    let shares: Shares
    let keyring: Keyring
    let throttles: Throttles
    let watch: AccessWatch
    /// Who has how many archives and lists of lines.
    let contents = KeyPlaces(ofKey: Call.contentsOfKey, ofShare: Call.contentsOfShare, for: "archives and lists")
    let moreRequests = MoreRequests()
    let picking: Pickings
    let fetches = Fetches()
    let encoded = EncodedAnswers(byteLimit: 8 << 20)
    let windows = EncodedAnswers(byteLimit: 8 << 20, keepsFirst: false)
    let files = OpenFiles()
    let messages = EncodedMessages()
    let feeds = Feeds()
    let metrics = Metrics()
    let renditions: Renditions
    let downloads: Downloads
    let uploads: Uploads
    let duplicates = DuplicateProposals()
    /// The files of the page; nil where there is no page to serve.
    let page: PageFiles?
    private let log: @Sendable (GalleryLogLine) -> Void
    private let server = Mutex<HTTPServer?>(nil)
    private let lock: ServerLock
    private let tls = Atomic(false)
    /// Whether clients reach the server by TLS without a proxy.
    var servesTLS: Bool { tls.load(ordering: .relaxed) }

    /// A server that does not listen yet.
    /// - Parameters:
    ///   - library: the owner's view of an opened library; it stays open for as long as the server runs.
    ///   - environment: the clock and randomness.
    ///   - access: who has access beside clients with keys.
    ///   - renditions: how pictures are made.
    ///   - page: the files of the gallery's page; without them the server answers the API only.
    ///   - log: receives a line for each request that has ended.
    /// - Throws: ``GalleryError`` if another server serves the library, or if the file of the keys cannot be read; what
    ///   the library throws.
    public init(
      _ library: PhotoLibrary, environment: GalleryEnvironment = .system, access: GalleryAccess = GalleryAccess(),
      renditions: RenditionOptions = RenditionOptions(), page: PageFiles? = nil,
      log: @escaping @Sendable (GalleryLogLine) -> Void = { _ in }
    ) throws {
      precondition(library.client == PhotoLibrary.owner, "A server must be created with the owner's view of a library.")
      (self.library, self.environment, self.log, self.page) = (library, environment, log, page)
      let folder = library.store.folder
      lock = try ServerLock(folder)
      PickedBytes.removeLeftCopies(in: folder)
      self.access = access
      throttles = Throttles(access.limits, now: environment.now)
      passwords = try Passwords(environment: environment)
      people = try People(folder: folder, environment: environment, passwords: passwords)
      shares = try Shares(folder: folder, environment: environment)
      self.renditions = Renditions(library, renditions, now: environment.now) { [feeds] in feeds.announce($0) }
      downloads = Downloads(environment)
      uploads = Uploads(library, environment)
      keyring = try Keyring(
        library: library, environment: environment, people: people, shares: shares,
        trustedProxies: access.trustedProxies, readsAPIKeyField: access.allowsImmichClients)
      picking = Pickings(environment: environment)
      watch = AccessWatch()
      try watch.begin(self)
    }

    /// Begins to answer requests.
    /// - Returns: the address on which the server listens.
    /// - Throws: `HTTPServerError` if the server cannot be started.
    @discardableResult
    public func start(
      _ listener: consuming HTTPListener, options: HTTPServerOptions = HTTPServerOptions()
    ) throws -> HTTPAddress {
      tls.store(options.tls != nil, ordering: .relaxed)
      uploads.report(to: options.log)
      let started = try HTTPServer(listener, application: self, options: options)
      let address = started.address
      try renditions.start(sleep: environment.sleep, report: options.log)
      // A server that was killed may have left bodies that fill the disk. What fails is tried again by a request.
      if uploads.hasFolder { Task.detached { [uploads] in try? await offload { try uploads.open() } } }
      server.withLock { $0 = started }
      return address
    }

    /// How many responses are streams of events, feeds included, and how many are streams of contents.
    var streamCounts: (events: Int, contents: Int) { server.withLock { $0?.streamCounts } ?? (0, 0) }

    /// A link that signs its first visitor in as the owner, good for fifteen minutes.
    /// - Parameter address: what the link begins with, such as `http://127.0.0.1:8080`.
    public func ownerLink(at address: String) -> String {
      "\(address)/sign-in?link=\(keyring.makeLink(for: PhotoLibrary.owner))"
    }

    /// Ends all feeds, lets running responses end, and stops listening.
    public func stop() async {
      picking.cancelAll()
      watch.end()
      feeds.endAll()
      let running = server.withLock { server in
        defer { server = nil }
        return server
      }
      // Programs that work end beside it: until new requests are rejected, what has just ended is asked for again.
      async let renditionsEnd: Void = renditions.stop()
      async let searchEnd: Void = duplicates.end()
      await running?.stop()
      _ = await (renditionsEnd, searchEnd)
      uploads.close()
      // A task of a request that has just ended may hold the cache a moment longer.
      renditions.release()
      lock.release()
    }
  }

  extension GalleryServer: HTTPApplication {
    /// Finds the route and the key of a request, and has the route plan the answer.
    public func plan(_ request: HTTPRequest) -> HTTPPlan {
      do {
        try checkMarks(request)
        let key = try admit(request)
        if let key, let made = try files.decided(request, key, in: library) { return .answer(HTTPResponse(made)) }
        let (route, parameters) = try Router.route(request, withImmichClients: access.allowsImmichClients)
        try route.check(key, request)
        let call = Call(request: request, parameters: parameters, key: key, server: self)
        let plan = try route.plan(self, call)
        return route.need == .nothing ? plan : plan.whileGood(call)
      } catch {
        return .answer(response(of: Problem(error), to: request))
      }
    }

    /// The key of a request; nil without a good one. Each request is charged to its key, or to its peer;
    /// those for files of the page without a key are charged to neither.
    /// - Throws: ``Problem`` 429 for one too many, 403 for a proxy that names a user without an account, or sends
    ///   several users.
    private func admit(_ request: HTTPRequest) throws(Problem) -> Keyring.Key? {
      var key: Keyring.Key?
      var refusal: Problem?
      do throws(Problem) { key = try keyring.key(of: request) } catch { refusal = error }
      guard let key else {
        if !isOfPage(request.target) { try chargePeer(of: request) }
        if let refusal, refusal.status != 401 { throw refusal }
        return nil
      }
      request.sender.name = key.client
      if !key.scopes.contains(.owner) {
        request.sender.holder = "client \(key.client)"
        try throttles.keys.charge(key.name)
      }
      if let share = key.share { try throttles.shares.charge(share.name) }
      return key
    }

    /// Charges a request to its peer.
    /// - Throws: ``Problem`` 429 for one too many.
    private func chargePeer(of request: HTTPRequest) throws(Problem) {
      let peer = Throttle.name(ofPeer: keyring.peer(of: request))
      request.sender.holder = "address \(peer)"
      try throttles.peers.charge(peer)
    }

    /// Rejects a head with too many marks on a character, before anything is compared with its texts, a key included:
    /// the request is its peer's.
    private func checkMarks(_ request: HTTPRequest) throws(Problem) {
      if request.knownFields.isBounded, request.knownTarget.isBounded { return }
      try chargePeer(of: request)
      throw .malformed("A character in the request's head has more than \(String.markLimit) combining marks.")
    }

    /// Whether a request is for a file of the page, which is sent from memory at the cost of a refusal.
    ///
    /// A document names some forty of them, and without one the page does not start: a dozen guests behind one address
    /// that open a share link together would use up its limit.
    private func isOfPage(_ target: HTTPTarget) -> Bool {
      page?.isKept == true && target.segments.first == "page"
    }

    /// A problem document, in the form that the client of a path reads.
    func response(of problem: Problem, to request: HTTPRequest) -> HTTPResponse {
      let isUploader =
        access.allowsImmichClients && request.knownTarget.isBounded && ImmichClientRoutes.has(request.target)
      return isUploader ? problem.responseToUploader : problem.response
    }

    /// A problem document, as all other errors of the API are.
    public func rejection(_ request: HTTPRequest, _ status: Int, _ sentence: String) -> HTTPResponse {
      let type =
        switch status {
        case 413: "limit-exceeded"
        case 503: "library-offline"
        case 500...: "internal-error"
        default: "malformed-request"
        }
      return response(of: Problem(status, type, sentence), to: request)
    }

    /// Counts the request and writes its line of the log.
    public func finished(_ record: HTTPRecord) {
      metrics.count(record)
      log(
        GalleryLogLine(
          date: environment.now(), peer: keyring.peer(of: record.request), client: record.request.sender.name,
          method: record.request.method, path: record.request.target.path, status: record.status,
          seconds: record.seconds, note: record.note))
    }
  }

  /// A request on its way through a route.
  struct Call: Sendable {
    let request: HTTPRequest
    /// The segments of the path for which the route has placeholders, in their order.
    let parameters: [String]
    let key: Keyring.Key?
    let server: GalleryServer

    /// The library as the client of the request's key sees it.
    func library() throws(Problem) -> PhotoLibrary {
      guard let key else { throw .signInRequired }
      return server.library.as(key.client)
    }

    /// The library as a fetch looks at it: as the client of the key, or for the owner as the client that it names.
    func library(of fetch: FetchRequest) throws(Problem) -> PhotoLibrary {
      guard let key else { throw .signInRequired }
      return try fetch.view(of: server.library, for: key)
    }

    /// A value of the query that may stand there once.
    func query(_ name: String) throws(Problem) -> String? {
      let values = request.target.query.all(name)
      guard values.count < 2 else { throw .malformed("The query has '\(name)' \(values.count) times; pass it once.") }
      return values.first
    }

    /// A whole number of the query, 0 or more.
    func count(_ name: String) throws(Problem) -> Int? {
      guard let text = try query(name) else { return nil }
      guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text) else {
        throw .malformed("'\(name)' is '\(text.prefix(40))'; pass a whole number, 0 or more.")
      }
      return number
    }

    /// Checks that the query has no other names.
    func checkQuery(_ names: [String]) throws(Problem) {
      for (name, _) in request.target.query.pairs where !names.contains(name) {
        throw .malformed(
          "The query has no parameter '\(name.prefix(40))' here; it has \(names.sorted().joined(separator: ", ")).")
      }
    }
  }
#endif
