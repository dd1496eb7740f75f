import Foundation
import GalleryServer
import HTTPServing
import JSONReading
import LibraryJSON
import LibraryPicking
import MediaImport
import PhotoLedger

extension Command {
  fileprivate static let withoutRegistration = Option(
    "no-registration", "do not let apps register themselves; the owner issues keys")

  fileprivate static let immichClients = Option(
    "immich-clients", "answer uploaders that were written for Immich, such as immich-go, under /api")

  fileprivate static let page = Option(
    "page", "FOLDER", "read the gallery's page from this folder at each request; for developing the page")

  fileprivate static let onRequest = Option(
    "on-request", "make renditions only on request, not in idle time")

  static let serve = Command(
    words: ["serve"], summary: "serve the library over HTTP to galleries and programs",
    options: [
      .library, .listen,
      Option("tls-certificate", "FILE", "a certificate chain, PEM, read at the start; HTTPS only"),
      Option("tls-key", "FILE", "the certificate's private key, PEM"),
      Option(
        "trust-proxy", "ADDRESS", isRepeatable: true,
        "a numeric address of a proxy whose X-Forwarded-For, X-Forwarded-Proto and X-Forwarded-User are trusted"),
      withoutRegistration, immichClients, onRequest, page, .json,
    ],
    notes: """
      Prints the address and a link that signs its first visitor in as the owner, once; then a line on standard
      error for each request, with --json as JSON. SIGUSR1 prints another such link. SIGTERM and SIGHUP end feeds,
      give running requests five seconds to finish, and stop the server; data already received from resumable
      uploads is kept. A second signal ends the process at once. A socket passed by systemd is used instead of
      --listen. The server describes the API at /v1/openapi.json. The program needs the package trait Gallery:
      swift build -c release --traits Gallery.

      The certificate and its key are read at the start: restart the server after a renewal. The server checks
      once an hour whether the certificate has changed, and says so on standard error.

      With --trust-proxy the three fields of requests from that address are trusted. X-Forwarded-For gives the address
      for limits and the log, X-Forwarded-Proto: https makes cookies Secure, and
      X-Forwarded-User signs in the account that it names. Without the option they are ignored, and all visitors of a
      proxy count as one address. The proxy has to set or remove each of the fields.
      """,
    example: "serve --listen 127.0.0.1:8080"
  ) { invocation in
    try invocation.checkServes()
    let interruption = Interruption(patience: Interruption.patienceOfServer)
    return try invocation.withLibrary(isServed: true) { library in
      try invocation.serve(library, until: interruption)
      return .done
    }
  }
}

extension Option {
  static let listen = Option(
    "listen", "HOST:PORT", "where to listen; default 127.0.0.1:8080; port 0 chooses a free port")
}

extension Invocation {
  /// Says how to build with the server, if this program was built without it.
  func checkServes() throws {
    #if !Gallery
      throw UsageError(
        "This build has no server. Install libmicrohttpd-dev and build with `swift build -c release --traits Gallery`.")
    #endif
  }
}

#if !Gallery
  extension Invocation {
    func serve(_ library: PhotoLibrary, until interruption: Interruption) throws { try checkServes() }
  }
#endif

#if Gallery
  extension Invocation {
    /// Serves a library until the process is asked to stop.
    func serve(_ library: PhotoLibrary, until interruption: Interruption) throws {
      var options = HTTPServerOptions()
      options.tls = try tls()
      let log = ServerLog(printsJSON: printsJSON)
      defer { log.finish() }
      options.log = { log.say("server: \($0)") }
      var renditions = RenditionOptions()
      renditions.fillsIdleTime = !has(Command.onRequest)
      let access = try galleryAccess()
      let page =
        try text("page").map { try PageFiles(folder: directory($0, "--page"), isLive: true) } ?? PageFiles.ofProgram()
      // Picked items are converted, and places taken out of them, by the programs that there are.
      try library.setRepresentationConverter(ExternalConverter())
      let server = try GalleryServer(library, access: access, renditions: renditions, page: page, log: log.add)
      let address: HTTPAddress
      do {
        let listener = try listener()
        // Behind a proxy all connections come from one address, and on this machine from its own programs.
        let isOpen = !listener.address.isLoopback && access.trustedProxies.isEmpty
        options.connectionLimit = Self.connectionLimit(atMost: options.connectionLimit)
        options.connectionLimitOfAddress = isOpen ? min(1_000, max(1, options.connectionLimit / 4)) : 0
        address = try server.start(listener, options: options)
      } catch let error as HTTPServerError where error.isMalformedAddress {
        throw UsageError("--listen: \(error.description)")
      }
      let origin = "\(options.tls == nil ? "http" : "https")://\(address)"
      // Before the address is announced: a process that reads it may send a signal at once.
      let wake = DispatchSemaphore(value: 0)
      interruption.onUserSignal { wake.signal() }
      interruption.onRequest { wake.signal() }
      try announce(origin, server.ownerLink(at: origin), address, isEncrypted: options.tls != nil, log)
      try announceLinks(of: server, origin, served: options.tls?.certificate, log, at: wake, until: interruption)
      try waiting { await server.stop() }
    }

    /// Raises the limit of files that this process may have open, and leaves a third of them to files.
    ///
    /// Shells and systemd start programs with 1,024, which 512 visitors use up, each with a feed and a picture. It is
    /// not raised without bound, since some programs close every number up to the limit when they start.
    /// - Returns: how many connections the rest is enough for.
    private static func connectionLimit(atMost most: Int) -> Int {
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      var files = rlimit()
      guard getrlimit(resource, &files) == 0 else { return most }
      let raised = min(files.rlim_max, 65_536)
      if files.rlim_cur < raised {
        var limit = files
        limit.rlim_cur = raised
        if setrlimit(resource, &limit) == 0 { files = limit }
      }
      return min(most, Int(clamping: files.rlim_cur / 3 * 2))
    }

    /// The socket that systemd passed to this process (sd_listen_fds(3)); without one, a socket on `--listen`.
    private func listener() throws -> HTTPListener {
      let environment = ProcessInfo.processInfo.environment
      guard environment["LISTEN_PID"] == String(getpid()) else {
        return try HTTPListener(text("listen") ?? "127.0.0.1:8080")
      }
      let count = environment["LISTEN_FDS"] ?? ""
      guard count == "1" else {
        throw UsageError(
          "The server takes one socket from systemd, and LISTEN_FDS is '\(count)'; give the unit one ListenStream.")
      }
      return try HTTPListener(adopting: 3)
    }

    /// Prints a new link for each SIGUSR1 until the process is asked to stop, both of which signal `wake`, and looks
    /// then, and once an hour, whether the certificate was renewed.
    private func announceLinks(
      of server: GalleryServer, _ origin: String, served certificate: String?, _ log: ServerLog,
      at wake: DispatchSemaphore, until interruption: Interruption
    ) throws {
      var certificate = certificate
      while true {
        let isAsked = wake.wait(timeout: .now() + 3600) == .success
        if interruption.isRequested { return }
        noteRenewal(of: &certificate, log)
        guard isAsked else { continue }
        let link = server.ownerLink(at: origin)
        if printsJSON {
          try output.line(["link": .text(link)])
        } else {
          try output.line("Sign in as the owner, once: \(link)")
        }
        try output.flush()
      }
    }

    /// Says, once for each change, that the file of the certificate has another one than the server was started with.
    private func noteRenewal(of known: inout String?, _ log: ServerLog) {
      guard known != nil, let path = text("tls-certificate"), let now = try? pem(path, "--tls-certificate"),
        now != known
      else { return }
      known = now
      log.say(
        "The certificate in \(path) has changed since the start; restart the server, which still uses the former one.")
    }

    private func galleryAccess() throws -> GalleryAccess {
      var access = GalleryAccess()
      access.allowsRegistration = !has(Command.withoutRegistration)
      access.allowsImmichClients = has(Command.immichClients)
      for address in texts("trust-proxy") {
        guard let spelled = Self.spelled(address) else {
          throw UsageError("--trust-proxy takes numeric addresses such as 127.0.0.1; '\(address)' is not one.")
        }
        access.trustedProxies.insert(spelled)
      }
      return access
    }

    /// A numeric address as the system spells that of a peer; nil for any other text.
    static func spelled(_ address: String) -> String? {
      var (bytes, text) = (in6_addr(), [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN)))
      guard let family = [AF_INET, AF_INET6].first(where: { inet_pton($0, address, &bytes) == 1 }),
        inet_ntop(family, &bytes, &text, socklen_t(text.count)) != nil
      else { return nil }
      let spelled = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      return spelled.hasPrefix("::ffff:") ? String(spelled.dropFirst(7)) : spelled
    }

    private func announce(
      _ origin: String, _ link: String, _ address: HTTPAddress, isEncrypted: Bool, _ log: ServerLog
    ) throws {
      if printsJSON {
        try output.line(["address": .text(origin), "link": .text(link)])
      } else {
        try output.line("Serving at \(origin)\nSign in as the owner, once: \(link)")
      }
      try output.flush()
      if !isEncrypted, !address.isLoopback {
        log.say(
          "Other machines reach \(address) and nothing is encrypted; pass --tls-certificate and --tls-key, or listen "
            + "on 127.0.0.1 behind a proxy that has them.")
      }
    }

    private func tls() throws -> (certificate: String, key: String)? {
      switch (text("tls-certificate"), text("tls-key")) {
      case (nil, nil): return nil
      case (let certificate?, let key?):
        return (try pem(certificate, "--tls-certificate"), try pem(key, "--tls-key"))
      default: throw UsageError("--tls-certificate and --tls-key belong together; pass both or none.")
      }
    }

    private func pem(_ path: String, _ name: String) throws -> String {
      guard let data = FileManager.default.contents(atPath: path), data.count < 1 << 20,
        let text = String(data: data, encoding: .utf8), text.contains("-----BEGIN ")
      else { throw UsageError("\(name) needs a PEM file; '\(path)' is not one that can be read.") }
      return text
    }
  }
#endif
