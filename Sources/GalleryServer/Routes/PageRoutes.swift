#if Gallery
  import HTTPServing
  import PhotoLedger

  /// The documents of the gallery's page, and the files that they name.
  enum PageRoutes {
    static let all: [Route] = [
      .reading("GET", "/", .nothing) { call in
        // Other parameters are passed over, as in all documents: sites and messengers add some to links.
        guard let session = try call.query("pick") else { return try document(call, "index.html") }
        let entry = call.server.picking.entry(session)
        return try document(call, "pick.html", framedBy: entry.map { call.server.approvedOrigins.framing($0) } ?? [])
      },
      .reading("GET", "/share", .nothing) { call in try document(call, "share.html") },
      .reading("GET", "/camera", .nothing) { call in try document(call, "camera.html") },
      files("/page/{revision}/{file}") { call in try file(call, call.parameters[1]) },
      files("/page/{revision}/{folder}/{file}") { call in
        try file(call, "\(call.parameters[1])/\(call.parameters[2])")
      },
    ]

    /// A route to the page's files: a browser asks for forty of them before it shows anything, and they are in memory.
    private static func files(_ path: String, _ answer: @escaping @Sendable (Call) throws -> HTTPResponse) -> Route {
      let atOnce: @Sendable (Call) throws -> HTTPResponse? = { call in
        call.server.page?.isKept == false ? nil : try answer(call)
      }
      return .held("GET", path, .nothing, atOnce: atOnce, answer)
    }

    /// What a document of the server may do: run the server's own files, and nothing that stands in the document.
    static func policy(framedBy ancestors: [String] = []) -> String {
      let ancestors = ancestors.isEmpty ? "'none'" : ancestors.joined(separator: " ")
      return """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; \
        connect-src 'self'; worker-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; \
        frame-ancestors \(ancestors)
        """
    }

    /// A document, with the hash of the files in the URLs that it names.
    static func document(_ call: Call, _ name: String, framedBy ancestors: [String] = []) throws -> HTTPResponse {
      guard let page = try call.server.page?.current(), let file = try page.file(name) else { throw Problem.notFound }
      let text = String(decoding: file.bytes, as: UTF8.self)
        .replacing("/page/latest/", with: "/page/\(page.hash)/")
      // A browser that holds the document with an earlier policy is to get it with this one.
      let framing = ancestors.isEmpty ? "" : "-\(Keyring.hash(ancestors.joined(separator: " ")).prefix(16))"
      let fields = [
        ("Content-Type", file.type), ("Cache-Control", "no-cache"),
        ("ETag", "\"\(page.hash)-\(file.tag)\(framing)\""),
      ]
      if call.holds(fields) { return HTTPResponse(304, headers(framedBy: ancestors) + fields) }
      return HTTPResponse(200, headers(framedBy: ancestors) + fields, .bytes(Array(text.utf8)))
    }

    private static func headers(framedBy ancestors: [String] = []) -> [(name: String, value: String)] {
      // Who shows the page in a frame is the policy's to say; without this field it may be another site.
      let isFramed = !ancestors.isEmpty
      let common = Headers.common.filter { !isFramed || $0.name != "Cross-Origin-Resource-Policy" }
      return common.map { $0.name == "Content-Security-Policy" ? ($0.name, policy(framedBy: ancestors)) : $0 }
        + [("Permissions-Policy", "camera=(self), microphone=(self), geolocation=()")]
    }

    private static func file(_ call: Call, _ path: String) throws -> HTTPResponse {
      try call.checkQuery([])
      guard let page = call.server.page else { throw Problem.notFound }
      let revision = call.parameters[0]
      // A page of before an update asks for files under a hash that is gone: it has to load its document again.
      guard revision == "latest" || revision == page.hash || !page.isKept, !path.hasSuffix(".html"),
        let file = try page.file(path)
      else { throw Problem.notFound }
      let isNamed = revision == page.hash && page.isKept
      let fields = [
        ("Content-Type", file.type), ("ETag", "\"\(file.tag)\""),
        ("Cache-Control", isNamed ? "public, max-age=31536000, immutable" : "no-cache"),
      ]
      // A worker has the policy of its own file.
      if call.holds(fields) { return HTTPResponse(304, headers() + fields) }
      return HTTPResponse(200, headers() + fields, .bytes(file.bytes))
    }
  }
#endif
