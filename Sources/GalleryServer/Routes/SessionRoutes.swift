#if Gallery
  import Foundation
  import HTTPServing
  import JSONReading
  import LibraryAudit
  import LibraryJSON
  import PhotoLedger

  // How an app comes to see photos: Apple's flow, over HTTP.
  //
  //   app:    POST /v1/clients ─▶ key, undecided ─▶ POST /v1/session/requests ─▶ waits at GET /v1/session?wait=60
  //   owner:                                    GET /v1/requests ─▶ POST /v1/clients/{client}/answer ─┘ wakes it
  //   limited app: POST /v1/session/more ─▶ waits ─▶ "more": {"state": "answered", "added": […]}
  //
  // A name proves nothing over HTTP, so each registration is a client of its own: what the app says it is, `#`, and
  // random letters. No app gets what another one was granted, and no answer shows which clients there are.
  //
  // Requests and answers are events of the library, so they outlive the server, and an answer that `photoledger client`
  // gives in another process arrives all the same. A request for more is not an event in PhotoKit's model either; it is
  // kept in memory, and an app whose server was restarted asks again.

  /// What a client learns of itself and asks for.
  enum SessionRoutes {
    static let all: [Route] =
      Route.watched("/v1/session", .key, .read, state) + [
        .gathering("POST", "/v1/session/requests") { call, body in
          let json = try JSONReader.read(body)
          try json.checkKeys(["level"])
          let library = try call.library()
          let level = try json.level()
          let access = try library.clientAccess()
          if access[level] == .notDetermined, !access.waiting.contains(level) {
            _ = try library.store.perform(
              [.client(named: library.client, .request(level))], as: library.client, cause: "request for access")
            call.server.watch.wake()
          }
          return .json(Route.revised(try state(call)), status: 202, [("Cache-Control", "no-store")])
        }.needing(.read),
        .gathering("POST", "/v1/session/more") { call, body in
          try JSONReader.read(body).checkKeys([])
          try call.checkIsNoVisitor("Requesting more assets")
          let library = try call.library()
          let access = try library.clientAccess()
          guard access.readWrite == .limited else {
            throw Problem(409, "conflict", "Only a client with limited access can request more assets.")
          }
          guard !access.followsAlbum else {
            throw Problem(
              409, "conflict", "What this client sees follows an album; the owner adds assets to the album instead.")
          }
          try call.server.moreRequests.ask(library.client, at: call.server.environment.now())
          call.server.watch.wake()
          return .json(Route.revised(try state(call)), status: 202, [("Cache-Control", "no-store")])
        }.needing(.read),
      ]

    /// The state of a client, as far as it is its own business.
    static func state(_ call: Call) throws -> JSON {
      guard let key = call.key else { throw Problem.signInRequired }
      let library = try call.library()
      // In one reading: with a commit between two, the answer would be a state that the library never had.
      let access = try library.clientAccess()
      let isLimited = access.readWrite == .limited
      // A request for more ends with the limited access that it was made with, also where another process ended that.
      if !isLimited { call.server.moreRequests.forget(library.client) }
      let more = isLimited ? call.server.moreRequests.request(of: library.client) : nil
      let mayRequestMore = isLimited && key.share == nil && !access.followsAlbum
      return [
        "client": .text(key.client), "person": JSON(key.person?.name),
        "scopes": .list(key.scopes.sorted().map { .text($0.rawValue) }),
        "authorizationStatus": [
          "readWrite": .text("\(access.readWrite)"), "addOnly": .text("\(access.addOnly)"),
        ],
        "waiting": .list(access.waiting.map { .text("\($0)") }), "mayRequestMore": .bool(mayRequestMore),
        "more": more.map { more in
          [
            // Without it a second answer could equal the first, and what waits for it would not end.
            "date": .text(DateText.instant(more.date)), "state": more.added == nil ? "waiting" : "answered",
            "added": .list((more.added ?? []).map { .text($0) }),
          ]
        } ?? .null,
      ]
    }
  }
#endif
