#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger

  // What is asked of each route.
  //
  // A route that is added needs an entry here: questions that a client could really ask, about what it sees, about what
  // is hidden from it and about what does not exist. Of each route at least one answer must be a success, so that
  // questions that are rejected for their form do not pass for a comparison; where no client of the twins can have more
  // than a refusal, the entry says why. The owner's routes refuse every other client, so they need no entry.

  /// The questions to one route.
  struct TwinRoute: Sendable {
    /// The method and path, as the router spells them.
    let name: String
    /// Why no client of the twins gets more than a refusal; nil: one of them must have a success.
    let refusal: String?
    let ask: @Sendable (TwinVisitor) throws -> Void

    init(_ name: String, refusal: String? = nil, _ ask: @escaping @Sendable (TwinVisitor) throws -> Void) {
      (self.name, self.refusal, self.ask) = (name, refusal, ask)
    }

    /// A route without anything to choose.
    static func plain(_ path: String) -> TwinRoute { TwinRoute("GET \(path)") { try $0.get(path) } }

    /// All questions, in the order in which they are asked: what a client uploads first may be deleted later.
    static let all = [
      pages, signingIn, clients, picking, fetching, feeds, blocks, logs, files, uploads, uploaders, endings,
    ].flatMap(\.self)

    /// The routes that refuse every client but the owner.
    static let ofOwner = Router.routesWithImmichClients.filter { $0.need == .owner }

    static let fullAccess = "It needs full access, which no client of the twins has."

    // MARK: Pages, keys and people

    private static let pages: [TwinRoute] = [
      TwinRoute("GET /") { visitor in
        for query in ["", "?pick=none", "?nonsense=1"] { try visitor.get("/" + query) }
      },
      .plain("/share"), .plain("/camera"),
      TwinRoute("GET /page/{revision}/{file}") { try $0.get("/page/latest/main.js") },
      TwinRoute("GET /page/{revision}/{folder}/{file}") { try $0.get("/page/latest/views/main.js") },
      .plain("/healthz"), .plain("/readyz"), .plain("/v1/openapi.json"),
    ]

    private static let signingIn: [TwinRoute] = [
      TwinRoute("GET /sign-in") { visitor in
        try visitor.get("/sign-in")
        visitor.twin.world.begin(.request)
        let link = visitor.twin.server.keyring.makeLink(for: visitor.name)
        try visitor.ask("GET", each: ["/sign-in?link=none", "/sign-in?link=\(link)"])
      },
      TwinRoute("POST /v1/sessions") { visitor in
        visitor.twin.world.begin(.request)
        let link = visitor.twin.server.keyring.makeLink(for: visitor.name)
        try visitor.ask("POST", each: ["/v1/sessions"], [#"{"link":"\#(link)"}"#, #"{"link":"none"}"#])
        // A hash of a password takes tens of milliseconds.
        guard visitor.isUploading else { return }
        for name in ["hidden person", "none"] {
          try visitor.ask("POST", "/v1/sessions", #"{"name":"\#(name)","password":"something"}"#)
        }
      },
      TwinRoute("PUT /v1/people/{person}/password") { visitor in
        let body = #"{"password":"something else","old":"something"}"#
        try visitor.ask(
          "PUT", each: ((visitor.twin.probe.names["person"] ?? []) + TwinVisitor.nonsense).map(password(of:)), [body])
        guard visitor.isUploading, visitor.name == "app" else { return }
        let signIn = #"{"name":"reader","password":"\#(TwinVisitor.password)"}"#
        let key = try visitor.ask("POST", "/v1/sessions", signIn, key: nil).member("secret")
        for old in ["something", TwinVisitor.password] {
          let body = #"{"password":"\#(TwinVisitor.password)","old":"\#(old)"}"#
          try visitor.ask("PUT", password(of: "reader"), body, key: key)
        }
      },
      TwinRoute("POST /v1/shares:open") { visitor in
        for secret in ["none", visitor.twin.shareSecret] {
          try visitor.ask("POST", "/v1/shares:open", #"{"secret":"\#(secret)"}"#)
        }
      },
    ]

    private static func password(of person: String) -> String { "/v1/people/\(person)/password" }

    /// What a client does with a key of its own, so that it can go on with another one.
    private static let endings: [TwinRoute] = [
      TwinRoute("DELETE /v1/session") { visitor in
        visitor.twin.world.begin(.request)
        let link = visitor.twin.server.keyring.makeLink(for: visitor.name)
        let key = try visitor.ask("POST", "/v1/sessions", #"{"link":"\#(link)"}"#).member("secret")
        for _ in 0..<2 { try visitor.ask("DELETE", "/v1/session", key: key) }
        try visitor.ask("GET", "/v1/session", key: key)
      }
    ]

    // MARK: Clients and their requests

    private static let clients: [TwinRoute] = [
      TwinRoute("POST /v1/clients") { visitor in
        for name in ["hidden client", "new client"] {
          let body = #"{"name":"\#(name)","usage":"to look","asks":"readWrite"}"#
          try visitor.ask("POST", "/v1/clients", body, key: nil)
        }
      },
      TwinRoute("GET /v1/session") { visitor in
        let revision = try visitor.get("/v1/session").member("revision") ?? ""
        // Another state than that of now is answered at once.
        try visitor.ask("GET", each: ["/v1/session?after=none&wait=20", "/v1/session?after=\(revision)&wait=0"])
      },
      .plain("/v1/session/events"),
      TwinRoute("POST /v1/session/requests") { visitor in
        let bodies = [#"{"level":"readWrite"}"#, #"{"level":"addOnly"}"#, #"{"level":"hidden"}"#]
        try visitor.ask("POST", each: ["/v1/session/requests"], bodies)
      },
      TwinRoute("POST /v1/session/more") { try $0.ask("POST", each: ["/v1/session/more"], ["{}"]) },
    ]

    // MARK: Picking

    private static let picking: [TwinRoute] = [
      TwinRoute("POST /v1/picking") { visitor in
        let names = visitor.assets.map { "\"\($0)\"" }.joined(separator: ",")
        let bodies = [
          "{}", #"{"preselected":[\#(names)],"limit":0,"continuous":true}"#, #"{"namesAssets":true,"limit":3}"#,
          #"{"filter":"videos","seconds":60}"#,
        ]
        for body in bodies { try visitor.picking(body) { try visitor.get("/v1/picking/\($0)") } }
      },
      TwinRoute("GET /v1/picking") { visitor in
        try visitor.get("/v1/picking")
        try visitor.picking { _ in try visitor.get("/v1/picking") }
      },
      inSessions("GET", "") { session in ["\(session)", "\(session)?after=none&wait=20"] },
      inSessions("GET", "/events") { ["\($0)/events"] },
      TwinRoute("PATCH /v1/picking/{session}") { visitor in
        let asset = visitor.twin.visible[2].uuidString
        let names = ([asset] + visitor.strangers).map { "\"\($0)\"" }.joined(separator: ",")
        let bodies = [
          #"{"deselect":[\#(names)]}"#, #"{"limit":1}"#, #"{"move":{"asset":"\#(asset)"}}"#,
          #"{"move":{"asset":"\#(asset)","after":"\#(visitor.strangers[0])"}}"#,
        ]
        try visitor.picking(#"{"preselected":[\#(names)],"limit":0,"continuous":true,"ordered":true}"#) { session in
          try visitor.ask("PATCH", each: sessions(session, visitor), bodies)
        }
      },
      TwinRoute("DELETE /v1/picking/{session}") { visitor in
        try visitor.picking { try visitor.ask("DELETE", each: sessions($0, visitor)) }
      },
      inSessions("GET", "/candidates", refusal: fullAccess) { session in
        ["", "?start=1&count=2"].map { "\(session)/candidates\($0)" }
      },
      inSessions("GET", "/presentation", refusal: fullAccess) { ["\($0)/presentation"] },
      inSessions("GET", "/presentation/events", refusal: fullAccess) { ["\($0)/presentation/events"] },
      TwinRoute("POST /v1/picking/{session}/taps", refusal: fullAccess) { visitor in
        let bodies =
          ([visitor.twin.visible[0].uuidString] + visitor.strangers).map { #"{"select":"\#($0)"}"# }
          + [#"{"finish":true}"#]
        try visitor.picking { session in
          try visitor.ask("POST", each: sessions(session, visitor).map { $0 + "/taps" }, bodies)
        }
      },
      TwinRoute("GET /v1/picked/{item}") { visitor in
        let others = (visitor.twin.probe.names["item"] ?? []) + TwinVisitor.nonsense
        try visitor.ask("GET", each: others.map { "/v1/picked/\($0)" })
        guard visitor.isUploading else { return }
        let twin = visitor.twin
        try visitor.picking(#"{"limit":0,"namesAssets":true}"#) { session in
          // Two photos that not every client sees.
          try visitor.ownerPicks([twin.visible[2].uuidString, twin.visible[3].uuidString], in: session)
          let picked = try visitor.get("/v1/picking/\(session)").json?["items"]?.listValue ?? []
          for item in picked.compactMap({ $0["item"]?.textValue }) {
            try visitor.get("/v1/picked/\(item)")
            try visitor.ask("GET", "/v1/picked/\(item)?type=public.jpeg", nil, ["Range: bytes=2-9"])
          }
        }
      },
    ]

    /// The paths of a session of the client, of sessions of others, and of none.
    private static func sessions(_ own: String, _ visitor: TwinVisitor) -> [String] {
      ([own] + (visitor.twin.probe.names["session"] ?? []) + TwinVisitor.nonsense).map { "/v1/picking/\($0)" }
    }

    private static func inSessions(
      _ method: String, _ path: String, refusal: String? = nil, _ targets: @escaping @Sendable (String) -> [String]
    ) -> TwinRoute {
      TwinRoute("\(method) /v1/picking/{session}\(path)", refusal: refusal) { visitor in
        try visitor.picking { session in
          try visitor.ask(method, each: sessions(session, visitor).flatMap { targets($0) })
        }
      }
    }
  }
#endif
