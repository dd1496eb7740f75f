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
  // The rooms follow a request backwards: what the server holds (Access to Pages), the server and what a route is made
  // of (Service), the routes (Routes, ImmichClients), and last what finds them and plans the answer (Routing).
  // Rejected: the routes of a subject beside what they use. Each route is given the server, which holds what all others
  // use, so every subject would name every other one.
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
  // read of the disk for each such page, as for a file that is sent. What scans, sorts, computes an as-of view,
  // waits for a person or a program, or writes is a task, and its reads block a thread of `offload`: making a fetch and
  // its order, encoding sections, uploads, blocks, feeds. A task costs three changes of threads, which is more than the
  // whole of a small answer.
  //
  // Rejected: fetches that are objects of the server with random names (lost when the server restarts, and to be
  // collected), and one shared observer that computes messages for all clients (permissions make each client's list its
  // own).

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
    let approvedOrigins: ApprovedOrigins
    let keyring: Keyring
    let throttles: Throttles
    let watch: AccessWatch
    /// Who has how many archives and lists of lines.
    let contents = KeyPlaces(ofKey: Call.contentsOfKey, ofShare: Call.contentsOfShare, for: "archives and lists")
    /// Who has how many requests that wait for renditions.
    let renditionWaits = KeyPlaces(ofKey: Call.waitsOfKey, ofShare: Call.waitsOfShare, for: "waits for renditions")
    let moreRequests = MoreRequests()
    let undecidedApps = UndecidedApps()
    let picking: Pickings
    let fetches = Fetches()
    let encoded = EncodedAnswers(byteLimit: 8 << 20)
    let windows = EncodedAnswers(byteLimit: 8 << 20, keepsFirst: false)
    let files = OpenFiles()
    let messages = EncodedMessages()
    let feeds = Feeds()
    let followed: FollowedLists
    let metrics = Metrics()
    let renditions: Renditions
    let downloads: Downloads
    let uploads: Uploads
    let expiry: Expiry
    let duplicates = DuplicateProposals()
    /// The files of the page; nil where there is no page to serve.
    let page: PageFiles?
    let log: @Sendable (GalleryLogLine) -> Void
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
      // What the exiftool of a killed server was examining; what cannot be removed, an erasure names.
      let place = URL(filePath: folder.linkedPath(of: "server"), directoryHint: .isDirectory)
      _ = try? WorkRoots.removeLeft(in: place)
      self.access = access
      throttles = Throttles(access.limits, now: environment.now)
      followed = FollowedLists(access.limits)
      passwords = try Passwords(environment: environment)
      people = try People(folder: folder, environment: environment, passwords: passwords)
      shares = try Shares(folder: folder, environment: environment)
      approvedOrigins = try ApprovedOrigins(folder: folder)
      self.renditions = Renditions(library, renditions, now: environment.now) { [feeds] in feeds.announce($0) }
      downloads = Downloads(environment)
      uploads = Uploads(library, environment)
      expiry = Expiry(uploads: uploads, downloads: downloads)
      keyring = try Keyring(
        library: library, environment: environment, people: people, shares: shares,
        trustedProxies: access.trustedProxies, readsAPIKeyField: access.allowsImmichClients)
      picking = Pickings(environment: environment)
      watch = AccessWatch()
      // Its parts, not the server: each use of an object that is referenced weakly costs more.
      let withdrawal = Withdrawal(library: library, keyring: keyring, picking: picking, files: files, feeds: feeds)
      try watch.begin(
        library, every: access.sweepSeconds, endWithdrawn: { withdrawal.end() },
        endExpired: { [expiry, followed] in
          expiry.end()
          followed.recount()
        })
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

    /// The owner's view of the library, as long as this program knows the format of its store.
    ///
    /// What follows the library notices a migration, with a commit or half a second later at most; a request only asks
    /// whether it did. `/v1/keys`, `/metrics` and `/healthz`, which the operator needs before the restart, and what
    /// withdraws access do not use this.
    /// - Throws: ``Problem`` 503 once a newer program has migrated the store, of which this one may read wrong values.
    func usableLibrary() throws(Problem) -> PhotoLibrary {
      if let reason = library.unavailabilityReason, reason.code == .newerThanProgram { throw Problem(reason) }
      return library
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
      // Those that a request began meanwhile.
      picking.cancelAll()
      _ = await (renditionsEnd, searchEnd)
      // A removal that has begun ends before another server may take the uploads.
      uploads.endSweeping()
      await expiry.idle()
      uploads.close()
      // A task of a request that has just ended may hold the cache a moment longer.
      renditions.release()
      lock.release()
    }
  }

  /// What ends by time alone.
  struct Expiry: Sendable {
    let uploads: Uploads
    let downloads: Downloads
    /// Files of any size are removed here: on no thread that answers requests.
    let queue = DispatchQueue(label: "photoledger.expiry", qos: .utility)

    init(uploads: Uploads, downloads: Downloads) { (self.uploads, self.downloads) = (uploads, downloads) }

    /// Drops uploads that were abandoned, the answers of finished ones, and choices for archives; waits for none.
    func end() {
      queue.async { [uploads, downloads] in
        downloads.sweep()
        uploads.sweep()
      }
    }

    /// Waits until what has begun has ended.
    func idle() async {
      await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }
  }

  /// What ends with a key or a permission.
  private struct Withdrawal: Sendable {
    let library: PhotoLibrary
    let keyring: Keyring
    let picking: Pickings
    let files: OpenFiles
    let feeds: Feeds

    /// Ends the feeds of keys that are not good any more, and of clients that may not read any more.
    func end() {
      picking.sweep()
      files.sweep()
      for name in feeds.keys {
        guard let client = keyring.client(ofGoodKey: name),
          (try? Fetches.checkMayRead(library.as(client))) != nil
        else {
          feeds.end(ofKey: name)
          continue
        }
      }
    }
  }
#endif
