#if Gallery
  import Foundation
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger

  /// Share links: made and withdrawn by the owner, opened by visitors.
  enum ShareRoutes {
    static let all: [Route] = [
      .reading("GET", "/v1/shares", .owner) { call in
        try call.checkQuery([])
        let shares = call.server.shares
        return .json(
          ["shares": .list(shares.list().map { describe($0, isExpired: !shares.isGood($0)) })],
          [("Cache-Control", "no-store")])
      },
      .gathering("POST", "/v1/shares", .owner, limit: JSON.assetsByteLimit) { call, body in
        try make(call, try JSONReader.read(body))
      },
      .reading("DELETE", "/v1/shares/{share}", .owner) { call in
        try call.checkQuery([])
        try withdraw(call.parameters[0], call.server)
        return HTTPResponse(204, Headers.common)
      },
      // Another path than those of lists: a visitor has no key yet.
      .gathering("POST", "/v1/shares:open", .nothing) { call, body in try open(call, try JSONReader.read(body)) },
    ]

    /// Makes the client, its permission and its selection in one commit, and only then a link that leads there.
    private static func make(_ call: Call, _ json: JSON) throws -> HTTPResponse {
      try json.checkKeys(["title", "assets", "album", "password", "days", "upload", "originals"])
      let server = call.server
      try server.shares.checkRoom()
      guard let title = try json.text("title", atMost: 200), !title.isEmpty else {
        throw Problem.malformed("The body needs 'title', 1 to 200 bytes.")
      }
      let library = try server.usableLibrary()
      let assets = try json.assets("assets", in: library)
      let album = try json.text("album", atMost: 200).map { try sharedAlbum($0, in: library) }
      guard album == nil || assets.isEmpty else {
        throw Problem.malformed("A link shows 'assets' or follows an 'album'; pass one of the two.")
      }
      guard json["password"] == nil || json["password"]?.textValue != nil else {
        throw Problem.malformed("'password' is not text.")
      }
      let passwordHash = try json["password"]?.textValue.map { try server.passwords.hash($0) }
      let days = try json.whole("days", in: 1...3650)
      let now = server.environment.now()
      let name = Keyring.spelled(server.environment.randomBytes(9))
      let secret = Keyring.spelled(server.environment.randomBytes(32))
      let share = Shares.Share(
        name: name, client: Shares.clientPrefix + name, title: title, album: album,
        secretHash: Keyring.hash(secret), passwordHash: passwordHash,
        allowsUpload: try json.flag("upload"), allowsOriginals: try json.flag("originals"),
        created: now, expires: days.map { now.addingTimeInterval(Double($0) * 86_400) },
        epoch: Keyring.spelled(server.environment.randomBytes(9)))
      var registration = ClientRegistration()
      registration.readWriteUsageDescription = title
      registration.preventsAutomaticLimitedAccessAlert = true
      // Hashing the password takes time, in which the key may have been withdrawn.
      try call.checkIsStillGood()
      try server.library.performChangesAndWait(cause: "share link") { change in
        change.register(client: share.client, registration)
        change.setAuthorizationStatus(.limited, of: share.client)
        if let album { change.follow(album, as: share.client) }
        if !assets.isEmpty { change.grant(assets, to: share.client) }
      }
      do { try server.shares.add(share) } catch {
        // Without a link the client is not to have access.
        _ = try ClientRoutes.deny(share.client, server)
        throw error
      }
      guard case .object(let members) = describe(share) else { throw Problem.notFound }
      // The secret is the fragment, after '#', which browsers do not send: it is in no log of a server or a proxy.
      let link = JSON.Member("link", .text("/share#\(secret)"))
      return .json(
        .object(members + [link, JSON.Member("secret", .text(secret))]), status: 201, [("Cache-Control", "no-store")])
    }

    /// The album of an identifier.
    private static func sharedAlbum(_ text: String, in library: PhotoLibrary) throws -> LocalIdentifier {
      guard let found = try library.collection(text), found.kind == .album else {
        throw Problem.malformed("'\(text.prefix(80))' names no album that a link could follow.")
      }
      return found.id
    }

    /// Ends a share: its keys, the permission of its client, and last its record, so that a request that fails in
    /// between can be repeated.
    private static func withdraw(_ name: String, _ server: GalleryServer) throws {
      guard let share = server.shares.withdrawable(name) else { throw Problem.notFound }
      // A client that the library has erased has nothing left to lose.
      _ = try ClientRoutes.deny(share.client, server)
      guard try server.shares.remove(name) != nil else { throw Problem.notFound }
      // With the record the keys are gone that visitors got meanwhile; this ends what is open for them.
      try server.withdrawKeys { $0.share?.name == name }
    }

    /// Gives a visitor a key; the view is an event of the share's client.
    ///
    /// Only a password can be guessed, so each attempt at one is charged to the link. All guests of a house have one
    /// address, which is charged for what they write to the log, in a bucket of its own.
    private static func open(_ call: Call, _ json: JSON) throws -> HTTPResponse {
      try json.checkKeys(["secret", "password", "cookie"])
      guard let secret = json["secret"]?.textValue else {
        throw Problem.malformed("The body needs 'secret', the part of the link after '#'.")
      }
      let server = call.server
      let ended = Problem(401, "sign-in-required", "This link was withdrawn or has expired; ask for a new one.")
      guard let share = server.shares.share(withSecret: secret) else { throw ended }
      if let hash = share.passwordHash {
        let missing = Problem(401, "password-required", "This link needs its password; send it as 'password'.")
        guard let password = json["password"]?.textValue else { throw missing }
        try server.throttles.signInsOfNames.charge(share.client)
        guard try server.passwords.check(password, against: hash) else { throw missing }
        server.throttles.signInsOfNames.giveBack(share.client)
      }
      try server.throttles.visits.charge(Throttle.name(ofPeer: server.keyring.peer(of: call.request)))
      // A commit that changes nothing is not one of the client's revisions: no visitor learns when others came.
      let view = server.library.as(share.client)
      let name = "visit \(Keyring.spelled(server.environment.randomBytes(18)))"
      do {
        try view.performChangesAndWait(cause: "share link opened", key: name) { _ in }
      } catch let error as LibraryError where error.code == .accessUserDenied {
        // A withdrawal ends the permission before it removes the link.
        throw ended
      }
      let left = share.expires.map { $0.timeIntervalSince(server.environment.now()) } ?? .infinity
      let grant = Keyring.Grant(
        client: share.client, label: share.title, scopes: share.scopes, seconds: min(left, 86_400),
        share: .init(name: share.name, epoch: share.epoch),
        start: try view.currentToken)
      return try KeyRoutes.made(call, grant, isCookie: try json.flag("cookie"))
    }

    private static func describe(_ share: Shares.Share, isExpired: Bool = false) -> JSON {
      [
        "name": .text(share.name), "client": .text(share.client), "title": .text(share.title),
        "album": JSON(share.album?.spelled(as: .album)),
        "hasPassword": .bool(share.passwordHash != nil), "upload": .bool(share.allowsUpload),
        "originals": .bool(share.allowsOriginals), "created": .text(DateText.instant(share.created)),
        "expires": JSON(share.expires.map { DateText.instant($0) }), "isExpired": .bool(isExpired),
      ]
    }
  }
#endif
