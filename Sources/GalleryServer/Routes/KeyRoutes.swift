#if Gallery
  import Foundation
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger

  /// Signing in and out, and the keys of programs.
  enum KeyRoutes {
    static let all: [Route] = [
      .reading("GET", "/sign-in", .nothing) { call in
        // A program that only looks must not use the link up.
        guard call.request.method == "GET" else { return HTTPResponse(204, Headers.common) }
        guard let link = try call.query("link") else { return try PageRoutes.document(call, "sign-in.html") }
        return try signIn(call, link)
      },
      .gathering("POST", "/v1/sessions", .nothing) { call, body in
        try call.checkQuery([])
        let json = try JSONReader.read(body)
        try json.checkKeys(["link", "name", "password", "label", "cookie"])
        let label = try json.text("label", atMost: 200) ?? ""
        if let link = try json.text("link", atMost: 200) {
          let isCookie = try json.flag("cookie")
          let made = try call.server.keyring.redeem(link) { client in
            .init(client: client, label: label, scopes: Keyring.scopes(of: client), isBrowser: isCookie)
          }
          return try answer(call, made, isCookie: isCookie)
        }
        guard let name = json["name"]?.textValue, let password = json["password"]?.textValue else {
          throw Problem.malformed("The body needs 'name' and 'password', or 'link', the secret of a one-time link.")
        }
        return try made(call, try signIn(call, name, password, label), isCookie: try json.flag("cookie"))
      },
      // Signing out needs no scope: a key can always end itself.
      .reading("DELETE", "/v1/session", .nothing) { call in
        guard let key = call.key else { throw Problem.signInRequired }
        try call.server.withdrawKeys { $0.name == key.name }
        // The key of a person whom a proxy signs in is in no list.
        call.server.feeds.end(ofKey: key.name)
        let gone = "\(Keyring.cookie)=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"
        return HTTPResponse(204, Headers.common + [("Set-Cookie", gone), ("Cache-Control", "no-store")])
      },
      .reading("GET", "/v1/keys", .owner) { call in
        try call.checkQuery([])
        let keys = call.server.keyring.list().map { describe($0, isOwn: $0.name == call.key?.name) }
        return .json(["keys": .list(keys)], [("Cache-Control", "no-store")])
      },
      .gathering("POST", "/v1/keys", .owner) { call, body in
        let json = try JSONReader.read(body)
        try json.checkKeys(["client", "label", "days", "scopes"])
        let client = try json.clientName("client")
        try call.server.library.checkName(ofClient: client)
        let days = try json.whole("days", in: 1...3650) ?? 30
        let names = try json.texts("scopes") ?? Scope.usual.sorted().map(\.rawValue)
        let scopes = names.compactMap(Scope.init(rawValue:))
        guard !scopes.isEmpty, scopes.count == names.count else {
          throw Problem.malformed(
            "'scopes' is a list of \(Scope.allCases.map(\.rawValue).joined(separator: ", ")), at least one.")
        }
        guard client == PhotoLibrary.owner || !scopes.contains(.owner) else {
          throw Problem.malformed("The scope 'owner' is for keys of the client '\(PhotoLibrary.owner)' only.")
        }
        let grant = Keyring.Grant(
          client: client, label: try json.text("label", atMost: 200) ?? "", scopes: Set(scopes),
          seconds: Double(days) * 86_400)
        return try made(call, grant, by: call.key)
      },
      .gathering("POST", "/v1/links", .owner) { call, body in
        try call.checkQuery([])
        try JSONReader.read(body).checkKeys([])
        let expires = call.server.environment.now().addingTimeInterval(Keyring.linkSeconds)
        let link = call.server.keyring.makeLink(for: PhotoLibrary.owner, by: call.key?.name)
        return .json(
          ["link": .text(link), "url": .text("/sign-in?link=\(link)"), "expires": .text(DateText.instant(expires))],
          status: 201, [("Cache-Control", "no-store")])
      },
      .reading("DELETE", "/v1/keys/{key}", .owner) { call in
        let name = call.parameters[0]
        guard try !call.server.withdrawKeys(where: { $0.name == name }).isEmpty else { throw Problem.notFound }
        return HTTPResponse(204, Headers.common)
      },
    ]

    /// Signs a browser in by a one-time link.
    ///
    /// People open a link again, or late, so one that is not good leads where they can go on: to the gallery if the
    /// browser is signed in as the owner, else to the page for signing in, which says what is wrong.
    private static func signIn(_ call: Call, _ link: String) throws -> HTTPResponse {
      let secret: String
      do {
        let made = try call.server.keyring.redeem(link) { client in
          .init(client: client, label: "browser", scopes: Keyring.scopes(of: client), isBrowser: true)
        }
        secret = made.secret
      } catch let problem as Problem where problem.status == 401 && call.server.page != nil {
        let place = call.key?.client == PhotoLibrary.owner ? "/" : "/sign-in#ended"
        return HTTPResponse(303, Headers.common + [("Location", place), ("Cache-Control", "no-store")])
      }
      try endReplacedSession(call)
      return HTTPResponse(
        303, Headers.common + [("Location", "/"), call.cookie(secret), ("Cache-Control", "no-store")])
    }

    /// Checks a name and a password; each attempt is charged to the peer and to the name.
    private static func signIn(
      _ call: Call, _ name: String, _ password: String, _ label: String
    ) throws -> Keyring.Grant {
      let server = call.server
      try server.throttles.signInsOfPeers.charge(Throttle.name(ofPeer: server.keyring.peer(of: call.request)))
      try server.throttles.signInsOfNames.charge(name)
      guard let person = try server.people.signIn(name, password) else {
        throw Problem(401, "sign-in-required", "The name or the password is wrong.")
      }
      server.throttles.signInsOfNames.giveBack(name)
      return Keyring.Grant(
        client: person.client, label: label, scopes: Keyring.scopes(of: person.client),
        person: .init(name: person.name, epoch: person.epoch))
    }

    /// Makes a key; its secret goes into the answer, or into a cookie that scripts cannot read.
    static func made(
      _ call: Call, _ grant: Keyring.Grant, isCookie: Bool = false, by maker: Keyring.Key? = nil
    ) throws -> HTTPResponse {
      var grant = grant
      grant.isBrowser = isCookie
      return try answer(call, try call.server.keyring.makeKey(grant, by: maker), isCookie: isCookie)
    }

    private static func answer(
      _ call: Call, _ made: (Keyring.Key, secret: String), isCookie: Bool
    ) throws -> HTTPResponse {
      let (key, secret) = made
      if isCookie { try endReplacedSession(call) }
      guard case .object(var members) = describe(key) else { throw Problem.notFound }
      if !isCookie { members.append(JSON.Member("secret", .text(secret))) }
      let fields = [("Cache-Control", "no-store")] + (isCookie ? [call.cookie(secret)] : [])
      return .json(.object(members), status: 201, fields)
    }

    /// Ends the session whose cookie the answer replaces. The browser no longer has that cookie, so it could not sign
    /// the session out, and a copy of the cookie would be good until it expires.
    ///
    /// A key that was made for a program is not ended, also if it came as a cookie. A link that is opened from another
    /// site or program comes without the cookie (`SameSite=Strict`), so the session before it goes on.
    private static func endReplacedSession(_ call: Call) throws {
      guard let key = call.key, key.isAmbient, key.isBrowser else { return }
      try call.server.withdrawKeys { $0.name == key.name }
    }

    /// A key in lists.
    /// - Parameter isOwn: whether the request showed it.
    static func describe(_ key: Keyring.Key, isOwn: Bool = false) -> JSON {
      [
        "name": .text(key.name), "client": .text(key.client), "label": .text(key.label),
        "scopes": .list(key.scopes.sorted().map { .text($0.rawValue) }), "person": JSON(key.person?.name),
        "share": JSON(key.share?.name), "isBrowser": .bool(key.isBrowser), "isOwn": .bool(isOwn),
        "created": .text(DateText.instant(key.created)), "expires": .text(DateText.instant(key.expires)),
      ]
    }
  }

  extension GalleryServer {
    /// Withdraws keys, and ends what is open for them before it returns.
    @discardableResult
    func withdrawKeys(where isWithdrawn: (Keyring.Key) -> Bool) throws -> [String] {
      let names = try keyring.withdraw(where: isWithdrawn)
      for name in names { feeds.end(ofKey: name) }
      watch.wake()
      return names
    }
  }

  extension Call {
    /// The field that gives a browser a key: not for scripts, not for requests of other sites' pages.
    func cookie(_ secret: String) -> (String, String) {
      let isSecure =
        server.servesTLS || (server.keyring.isTrusted(request) && request.fields["x-forwarded-proto"] == "https")
      let value = "\(Keyring.cookie)=\(secret); Path=/; HttpOnly; SameSite=Strict"
      return ("Set-Cookie", "\(value); Max-Age=\(Int(Keyring.sessionSeconds))" + (isSecure ? "; Secure" : ""))
    }
  }
#endif
