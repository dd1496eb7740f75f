#if Gallery
  import Foundation
  import HTTPServing
  import JSONReading
  import LibraryAudit
  import LibraryJSON
  import PhotoLedger

  /// Registering apps, and the owner's answers to them.
  enum ClientRoutes {
    static let all: [Route] =
      Route.watched("/v1/requests", .owner, .owner, requests) + [
        .gathering("POST", "/v1/clients", .nothing) { call, body in try register(call, try JSONReader.read(body)) },
        .reading("GET", "/v1/clients", .owner) { call in
          try call.checkQuery([])
          let clients = try call.server.usableLibrary().clients()
          return .json(["clients": .list(clients.map { JSON($0) })], [("Cache-Control", "no-store")])
        },
        .gathering("POST", "/v1/clients/{client}/answer", .owner, limit: JSON.assetsByteLimit) { call, body in
          try answer(call, try JSONReader.read(body))
        },
        .reading("GET", "/v1/clients/{client}/origins", .owner) { call in
          try call.checkQuery([])
          return origins(call)
        },
        .gathering("PATCH", "/v1/clients/{client}/origins", .owner) { call, body in
          try approve(call, try JSONReader.read(body))
        },
        .reading("DELETE", "/v1/clients/{client}", .owner) { call in
          try call.checkQuery([])
          guard try deny(call.parameters[0], call.server) else { throw Problem.notFound }
          return HTTPResponse(204, Headers.common)
        },
      ]

    // MARK: The app

    /// The names by which people know others than apps.
    private static let reserved = ["share", PhotoLibrary.owner]

    private static func register(_ call: Call, _ json: JSON) throws -> HTTPResponse {
      let server = call.server
      guard server.access.allowsRegistration else {
        throw Problem(403, "access-denied", "Apps cannot register here; ask the library's owner for a key.")
      }
      try json.checkKeys(["name", "usage", "addUsage", "asks"])
      let said = try json.clientName("name")
      try ClientRow.check(newName: said)
      // `#` divides what the app says from the random letters, and share links have such names, too.
      guard !said.utf8.contains(UInt8(ascii: "#")), !reserved.contains(said.lowercased()) else {
        throw Problem.malformed(
          "'name' must not contain '#' or be one of \(reserved.joined(separator: ", ")); choose another name.")
      }
      guard said.utf8.count <= 128 else { throw Problem.malformed("'name' has more than 128 bytes.") }
      var registration = ClientRegistration()
      registration.readWriteUsageDescription = try json.text("usage", atMost: 1000)
      registration.addOnlyUsageDescription = try json.text("addUsage", atMost: 1000)
      let asks = json["asks"] == nil ? nil : try JSON.object([.init("level", json["asks"] ?? .null)]).level()
      let words = asks == .addOnly ? registration.addOnlyUsageDescription : registration.readWriteUsageDescription
      guard let words, !words.isEmpty else {
        throw Problem(
          400, "missing-usage-description",
          "An app needs a usage description: pass 'usage', or 'addUsage' for adding.")
      }
      try server.throttles.registrations.charge(Throttle.name(ofPeer: server.keyring.peer(of: call.request)))
      let client = "\(said)#\(Keyring.spelled(server.environment.randomBytes(9)))"
      try server.undecidedApps.register(client, in: server.library) {
        _ = try server.library.store.perform(
          [.client(named: client, .register(registration))]
            + (asks.map { [.client(named: client, .request($0))] } ?? []),
          as: client, cause: "registration over HTTP")
      }
      server.watch.wake()
      do { return try KeyRoutes.made(call, .init(client: client, label: said, seconds: 365 * 86_400)) } catch {
        // Without a key the app never reads an answer, and its request would keep a place of those that wait for one.
        _ = try? deny(client, server)
        throw error
      }
    }

    // MARK: The owner

    /// All requests that wait for the owner.
    static func requests(_ call: Call) throws -> JSON {
      let library = try call.server.usableLibrary()
      var rows = try library.accessRequests().map { request in
        row(request.client, "\(request.level)", request.client.usageDescription(for: request.level), request.date)
      }
      let waiting = call.server.moreRequests.waiting
      if !waiting.isEmpty {
        let clients = Dictionary(try library.clients().map { ($0.name.exact, $0) }, uniquingKeysWith: { $1 })
        rows += waiting.compactMap { waiting -> JSON? in
          // A client that is not limited any more, as another process may have it, has nothing to be added to.
          guard let client = clients[waiting.client.exact], client.status(for: .readWrite) == .limited else {
            call.server.moreRequests.forget(waiting.client)
            return nil
          }
          return row(client, "more", client.usageDescription(for: .readWrite), waiting.date)
        }
      }
      return ["requests": .list(rows)]
    }

    private static func row(_ client: Client, _ level: String, _ usage: String?, _ date: Date) -> JSON {
      [
        "client": .text(client.name), "level": .text(level), "usage": JSON(usage),
        "date": .text(DateText.instant(date)),
      ]
    }

    private static func answer(_ call: Call, _ json: JSON) throws -> HTTPResponse {
      try json.checkKeys(["level", "decision", "assets"])
      let server = call.server
      let client = call.parameters[0]
      let library = try server.usableLibrary()
      let known = try library.clients().first { $0.name.exact == client.exact }
      guard let known else { throw Problem.notFound }
      let assets = try json.assets("assets", in: library)
      if json["level"] == "more" {
        guard try give(more: assets, to: known, server) else {
          throw Problem(409, "conflict", "The client '\(client)' has no unanswered request for more assets.")
        }
      } else {
        try decide(known, try json.level(), json["decision"]?.textValue, assets, server)
      }
      server.watch.wake()
      let answered = try server.library.clients().first { $0.name.exact == client.exact }
      return .json(JSON(answered ?? known), [("Cache-Control", "no-store")])
    }

    private static func decide(
      _ client: Client, _ level: AccessLevel, _ decision: String?, _ assets: [LocalIdentifier], _ server: GalleryServer
    ) throws {
      let status: AuthorizationStatus
      switch decision {
      case "allow": status = .authorized
      case "deny": status = .denied
      case "limit": status = .limited
      default: throw Problem.malformed("The body needs 'decision': allow, limit or deny.")
      }
      guard status == .limited || assets.isEmpty else {
        throw Problem.malformed("'assets' belong to the decision 'limit'.")
      }
      try server.library.performChangesAndWait(cause: "permission prompt") { change in
        change.setAuthorizationStatus(status, of: client.name, for: level)
        guard !assets.isEmpty else { return }
        // A selection that is an album takes no assets by hand; the owner has chosen these.
        change.follow(nil, as: client.name)
        change.grant(assets, to: client.name)
      }
      if level == .readWrite, status != .limited { server.moreRequests.forget(client.name) }
    }

    /// Adds to what a limited client sees.
    /// - Returns: whether the client waited for this answer, and still has limited access; otherwise nothing was added.
    private static func give(more assets: [LocalIdentifier], to client: Client, _ server: GalleryServer) throws -> Bool
    {
      guard client.status(for: .readWrite) == .limited else { return false }
      return try server.moreRequests.answer(client.name) {
        let seen = Set(try server.library.selection(of: client.name).map(\.id))
        let added = assets.filter { !seen.contains($0) }
        if !added.isEmpty {
          try server.library.performChangesAndWait(cause: "limited library picker") {
            $0.grant(added, to: client.name)
          }
        }
        return added.map { $0.spelled(as: .asset) }
      }
    }

    /// The origins whose pages may show the client's pickers in a frame.
    private static func origins(_ call: Call) -> HTTPResponse {
      let origins = call.server.approvedOrigins.origins(of: call.parameters[0])
      return .json(["origins": .list(origins.map { .text($0) })], [("Cache-Control", "no-store")])
    }

    /// Approves and withdraws origins of a client, which the library need not know yet: picking needs no permission.
    private static func approve(_ call: Call, _ json: JSON) throws -> HTTPResponse {
      try call.checkQuery([])
      try json.checkKeys(["approve", "withdraw"])
      let (approved, withdrawn) = (try json.texts("approve"), try json.texts("withdraw"))
      guard approved != nil || withdrawn != nil else {
        throw Problem.malformed("The body needs 'approve' or 'withdraw', a list of origins.")
      }
      for origins in [approved ?? [], withdrawn ?? []] {
        try ApprovedOrigins.check(origins, atMost: ApprovedOrigins.limitOfClient)
      }
      let client = call.parameters[0]
      try call.server.library.checkName(ofClient: client)
      let origins = call.server.approvedOrigins
      let before = origins.origins(of: client)
      // First, since it may be too many: a client that is registered stays in the list.
      try origins.approve(approved ?? [], withdrawing: withdrawn ?? [], of: client)
      do {
        if approved?.isEmpty == false { try enlist(client, call.server.library) }
      } catch {
        // What is not listed cannot be withdrawn there.
        try origins.approve([], withdrawing: (approved ?? []).filter { !before.contains($0) }, of: client)
        throw error
      }
      call.server.watch.wake()
      return Self.origins(call)
    }

    /// Registers a client that the library does not know, so that it is listed, with what is approved for it.
    private static func enlist(_ client: String, _ library: PhotoLibrary) throws {
      // The owner is not one of the library's clients.
      if client == PhotoLibrary.owner { return }
      if try library.clients().contains(where: { $0.name.exact == client.exact }) { return }
      let registration = ChangeRequest.client(named: client, .register(ClientRegistration()))
      _ = try library.store.perform([registration], cause: "approval of pages")
    }

    /// Takes everything from a client: its unfinished uploads, its keys, what it waits for, its permission, and the
    /// origins that were approved for it.
    /// - Returns: false for a client that the library does not have, and that has no approved origins either.
    static func deny(_ client: String, _ server: GalleryServer) throws -> Bool {
      guard try server.library.clients().contains(where: { $0.name.exact == client.exact }) else {
        let hadOrigins = try server.approvedOrigins.withdrawAll(of: client)
        if hadOrigins { server.watch.wake() }
        return hadOrigins
      }
      // The keys go before the permission: between the two steps nothing can be done with what is left. They also go
      // before the uploads, of which a good key would begin others.
      do { try server.withdrawKeys { $0.client.exact == client.exact } } catch {
        // On a disk that the client has filled, the file of the keys needs the room.
        try? server.uploads.forgetAll(of: client)
        try server.withdrawKeys { $0.client.exact == client.exact }
      }
      server.moreRequests.forget(client)
      server.picking.cancelAll(of: client)
      try server.library.performChangesAndWait(cause: "client withdrawn") { change in
        change.setAuthorizationStatus(.denied, of: client, for: .readWrite)
        change.setAuthorizationStatus(.denied, of: client, for: .addOnly)
      }
      server.watch.wake()
      // What cannot be dropped now is out of reach, and goes by its age.
      try? server.uploads.forgetAll(of: client)
      _ = try server.approvedOrigins.withdrawAll(of: client)
      return true
    }
  }
#endif
