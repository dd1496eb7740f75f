#if Gallery
  import Foundation
  import HTTPServing
  import LibraryAudit
  import LibraryJSON
  import PhotoLedger
  import Synchronization

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

  /// Requests of limited clients for more, one a client.
  final class MoreRequests: Sendable {
    struct Request: Sendable {
      let date: Date
      /// What the owner added; nil while the request waits.
      var added: [String]?
    }

    private static let limit = 1_000
    private let requests = Mutex<[ExactText: Request]>([:])

    func request(of client: String) -> Request? { requests.withLock { $0[client.exact] } }

    /// The clients that wait, with the instants of their requests.
    var waiting: [(client: String, date: Date)] {
      requests.withLock { $0.filter { $0.value.added == nil }.map { ($0.key.text, $0.value.date) } }
        .sorted { ($0.1, $0.0) < ($1.1, $1.0) }
    }

    /// Begins to wait; a request that waits already goes on.
    func ask(_ client: String, at date: Date) throws(Problem) {
      let client = client.exact
      let isFull = requests.withLock { requests in
        if let request = requests[client], request.added == nil { return false }
        if requests[client] == nil, requests.count >= Self.limit {
          // An answer that the app has had time to read gives way.
          guard let oldest = requests.filter({ $0.value.added != nil }).min(by: { $0.value.date < $1.value.date })
          else { return true }
          requests[oldest.key] = nil
        }
        requests[client] = Request(date: date)
        return false
      }
      if isFull { throw .tooMany("Too many apps wait for the owner's answer.", seconds: 600) }
    }

    /// Answers a request.
    /// - Returns: whether one waited.
    func answer(_ client: String, added: [String]) -> Bool {
      requests.withLock { requests in
        guard requests[client.exact]?.added == nil, requests[client.exact] != nil else { return false }
        requests[client.exact]?.added = added
        return true
      }
    }

    func forget(_ client: String) { requests.withLock { $0[client.exact] = nil } }
  }

  /// What a client learns of itself and asks for.
  enum SessionRoutes {
    static let all: [Route] =
      Route.watched("/v1/session", .key, .read, state) + [
        .gathering("POST", "/v1/session/requests") { call, body in
          let json = try JSONReader.read(body)
          try json.checkKeys(["level"])
          let library = try call.library()
          let level = try json.level()
          if try library.authorizationStatus(for: level) == .notDetermined,
            try !library.accessRequests(of: library.client).contains(where: { $0.level == level })
          {
            _ = try library.store.perform(
              [.client(named: library.client, .request(level))], as: library.client, cause: "request for access")
            call.server.watch.wake()
          }
          return .json(Route.revised(try state(call)), status: 202, [("Cache-Control", "no-store")])
        }.needing(.read),
        .gathering("POST", "/v1/session/more") { call, body in
          try JSONReader.read(body).checkKeys([])
          let library = try call.library()
          guard try library.authorizationStatus(for: .readWrite) == .limited else {
            throw Problem(409, "conflict", "Only a client with limited access can request more assets.")
          }
          let client = try call.server.library.clients().first { $0.name.exact == library.client.exact }
          guard client?.followedAlbum == nil else {
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
      let isOwner = library.client == PhotoLibrary.owner
      let waiting = isOwner ? [] : try library.accessRequests(of: library.client)
      let status = try library.authorizationStatus(for: .readWrite)
      // A request for more ends with the limited access that it was made with, also where another process ended that.
      if status != .limited { call.server.moreRequests.forget(library.client) }
      let more = status == .limited ? call.server.moreRequests.request(of: library.client) : nil
      return [
        "client": .text(key.client), "person": JSON(key.person?.name),
        "scopes": .list(key.scopes.sorted().map { .text($0.rawValue) }),
        "authorizationStatus": [
          "readWrite": .text("\(status)"),
          "addOnly": .text("\(try library.authorizationStatus(for: .addOnly))"),
        ],
        "waiting": .list(waiting.map { .text("\($0.level)") }),
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

  extension JSON {
    /// The level of access that a body names.
    func level() throws(Problem) -> AccessLevel {
      guard let level = AccessLevel.allCases.first(where: { "\($0)" == self["level"]?.textValue }) else {
        throw .malformed("The body needs 'level': readWrite or addOnly.")
      }
      return level
    }
  }
#endif
