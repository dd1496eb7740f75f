#if Gallery
  import JSONReading
  import LibraryJSON
  import LibraryPicking
  import PhotoLedger

  // Which pages may show the picker in a frame.
  //
  //   app    POST /v1/picking, `origins` ─────────────▶ the session: what the app asks for ─┐
  //   owner  PATCH /v1/clients/{client}/origins ▶ server/origins.json: what the app may ─────┴▶ frame-ancestors: both
  //
  // In a frame of the same site a browser sends the owner's cookie, and a page can draw over its frames: the owner
  // clicks on what the page shows and picks for the app. Any app can register and name origins, so an app's word is not
  // enough. Origins are approved for one client; those of other clients do not count for its sessions.
  //
  // Invariant: a page that was not approved cannot show any page of the server in a frame, so the click that approves
  // is made in a window of the server. The picker does not offer it where it is framed itself.
  //
  // Rejected: a confirmation in the frame (it can be drawn over, too), and one for each session (an app that is in
  // daily use would be confirmed unread).

  /// The origins whose pages may show pickers in a frame, by the client that the owner approved them for.
  final class ApprovedOrigins: Sendable {
    static let limitOfClient = 32

    /// How many clients may have some.
    private let clientLimit: Int
    private let approved: Kept<[ExactText: [String]]>

    /// - Throws: ``GalleryError`` if the file cannot be read.
    init(folder: LibraryFolder, clientLimit: Int = 1_000) throws {
      self.clientLimit = clientLimit
      let file = ServerFile(folder: folder, name: "origins")
      let found = try file.read(Self.approval)
      approved = Kept(Dictionary(found, uniquingKeysWith: { $1 })) { approved in
        // Two names can be one text in two spellings, which `<` of texts does not order.
        let rows = approved.sorted { $0.key.text.utf8.lexicographicallyPrecedes($1.key.text.utf8) }
        try file.write(rows.map { ApprovedOrigins.row($0.key, $0.value) })
      }
    }

    /// The origins that are approved for a client.
    func origins(of client: String) -> [String] { approved.read { $0[client.exact] } ?? [] }

    /// The origins that may show the page of a session in a frame: those that it names and that are approved.
    func framing(_ entry: Pickings.Entry) -> [String] {
      let approved = Set(origins(of: entry.session.client))
      return entry.origins.filter { approved.contains($0) }
    }

    /// Withdraws origins of a client, and approves others beside those that are left. What is neither stays as it is,
    /// so that a page which was opened earlier changes only what the owner decided in it.
    /// - Throws: ``Problem`` if the client has too many origins then, or too many clients have some; ``GalleryError``
    ///   if the file cannot be written.
    func approve(_ origins: [String], withdrawing withdrawn: [String] = [], of client: String) throws {
      try approved.change { approved in
        let before = approved[client.exact] ?? []
        var next = before.filter { !withdrawn.contains($0) }
        for origin in origins where !next.contains(origin) { next.append(origin) }
        guard next.count <= Self.limitOfClient else {
          throw Problem(
            400, "limit-exceeded",
            "A client has at most \(Self.limitOfClient) approved origins, not \(next.count); withdraw some.")
        }
        guard next.isEmpty || !before.isEmpty || approved.count < clientLimit else {
          throw Problem(
            400, "limit-exceeded", "There are \(approved.count) clients with approved origins; withdraw some first.")
        }
        approved[client.exact] = next.isEmpty ? nil : next
      }
    }

    /// Withdraws all origins of a client.
    /// - Returns: whether it had any.
    func withdrawAll(of client: String) throws -> Bool {
      try approved.change { $0.removeValue(forKey: client.exact) != nil }
    }

    /// Checks that texts are origins as a header may name them: a scheme, a host, and a port. Anything else could say
    /// more in that header.
    /// - Throws: ``Problem`` 400 for another text, and for too many.
    static func check(_ origins: [String], atMost limit: Int) throws(Problem) {
      guard origins.count <= limit else {
        throw .malformed("A list has \(origins.count) origins; pass at most \(limit).")
      }
      let form = #/https?://[a-z0-9](?:[a-z0-9.\-]*[a-z0-9])?(?::[0-9]{1,5})?/#
      for text in origins where text.utf8.count > 300 || text.wholeMatch(of: form) == nil {
        throw .malformed("'\(text.prefix(80))' is not an origin; pass one such as https://app.example.")
      }
    }

    private static func row(_ client: ExactText, _ origins: [String]) -> JSON {
      ["client": .text(client.text), "origins": .list(origins.map { .text($0) })]
    }

    private static func approval(_ row: JSON) throws -> (ExactText, [String]) {
      guard let client = row["client"]?.textValue, let origins = row["origins"]?.textsValue else {
        throw GalleryError("an approval in it is incomplete")
      }
      try check(origins, atMost: limitOfClient)
      return (client.exact, origins)
    }
  }
#endif
