#if Gallery
  import Foundation
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import LibraryPicking
  import PhotoLedger

  // Picking over HTTP: the client that asks needs no permission, and never sees what there was to pick from.
  //
  //   client     POST /v1/picking ─▶ pickerUri, which it shows to a person
  //              GET /v1/picking/{session} (poll, stream) ◀─ state and items
  //              PATCH: deselect, move, limit       DELETE: cancel       GET /v1/picked/{item}: bytes
  //   person     GET …/presentation (poll, stream), …/candidates    POST …/taps: select, deselect, finish, cancel
  //
  // The routes of the person are for clients with full access; the core checks that at each call. A pick is recorded
  // as the owner's and gives a client bytes for good, so a tap that leads to one needs what giving them by hand needs:
  // originals, and of the owner's keys administration.

  /// Picking sessions.
  enum PickingRoutes {
    static let all: [Route] =
      Route.watched("/v1/picking/{session}", .key, .read, state)
      + Route.watched("/v1/picking/{session}/presentation", .key, .read, presentation) + [
        .gathering("POST", "/v1/picking") { call, body in try begin(call, try JSONReader.read(body)) }.needing(.read),
        .reading("GET", "/v1/picking") { call in
          try call.checkQuery([])
          let sessions = try call.library().pickingSessions()
          return .json(["sessions": .list(sessions.map(describe))], [("Cache-Control", "no-store")])
        },
        .gathering("PATCH", "/v1/picking/{session}") { call, body in
          try adjust(call, try JSONReader.read(body))
          call.server.watch.wake()
          return .json(try state(call), [("Cache-Control", "no-store")])
        }.needing(.read),
        .reading("DELETE", "/v1/picking/{session}") { call in
          let entry = try own(call)
          call.server.picking.remove(entry.session.id)
          call.server.watch.wake()
          return HTTPResponse(204, Headers.common)
        }.needing(.read),
        .reading("GET", "/v1/picking/{session}/candidates") { call in try candidates(call) },
        Route("POST", "/v1/picking/{session}/taps") { server, call in
          try call.checkJSON()
          return .gather(limit: 1 << 16) { request in
            do {
              try await tap(call, try JSONReader.read(request.body))
              server.watch.wake()
              return HTTPResponse(204, Headers.common)
            } catch { return Problem(error).response }
          }
        },
        Route("GET", "/v1/picked/{item}") { server, call in
          try call.checkQuery(["type", "representation", "removeLocation", "removeCaptions"])
          let (library, options) = (try call.library(), try itemOptions(call))
          return .respond { _ in
            do {
              let item = try await offload { try library.pickedItem(call.parameters[0]) }
              return try await server.picking.copying(for: library.client, until: call.request.sender) {
                try await PickedBytes.response(call, item, options)
              }
            } catch { return Problem(error).response }
          }
        }.needing(.originals),
      ]

    // MARK: The client

    private static func begin(_ call: Call, _ json: JSON) throws -> HTTPResponse {
      try json.checkKeys([
        "filter", "limit", "ordered", "continuous", "preselected", "namesAssets", "representation", "removeLocation",
        "removeCaptions", "seconds", "origins",
      ])
      try call.checkIsNoVisitor("Picking")
      let library = try call.library()
      let preselected = try json.texts("preselected") ?? []
      guard preselected.count <= 2_000 else {
        throw Problem.malformed("'preselected' has \(preselected.count) assets; pass at most 2,000.")
      }
      let namesAssets = try json.flag("namesAssets") || !preselected.isEmpty
      var configuration = namesAssets ? PickerConfiguration(library: library) : PickerConfiguration()
      configuration.filter = try json.text("filter", atMost: 1_000).map { try PickerFilter($0) }
      configuration.selectionLimit = try json.whole("limit", in: 0...100_000) ?? 1
      configuration.selection =
        switch (try json.flag("ordered"), try json.flag("continuous")) {
        case (false, false): .default
        case (true, false): .ordered
        case (false, true): .continuous
        case (true, true): .continuousAndOrdered
        }
      configuration.preselectedAssetIdentifiers = preselected
      configuration.preferredRepresentation = try representation(try json.text("representation", atMost: 20))
      if try json.flag("removeLocation") { configuration.metadataOptions.insert(.removeLocation) }
      if try json.flag("removeCaptions") { configuration.metadataOptions.insert(.removeCaptions) }
      let seconds = try json.whole("seconds", in: 1...86_400) ?? 3_600
      let origins = try json.texts("origins") ?? []
      try ApprovedOrigins.check(origins, atMost: 8)
      let server = call.server
      let session = try library.beginPicking(configuration)
      try server.picking.add(session, seconds: Double(seconds), origins: origins) { [watch = server.watch] in
        watch.wake()
      }
      do throws(Problem) { try call.checkIsStillGood() } catch {
        // A client that is withdrawn loses its sessions; this one may have been too late for that.
        server.picking.remove(session.id)
        throw error
      }
      server.watch.wake()
      guard let entry = server.picking.entry(session.id) else { throw Problem.notFound }
      return .json(
        describe(entry, server), status: 201,
        [("Location", "/v1/picking/\(session.id)"), ("Cache-Control", "no-store")])
    }

    private static func representation(_ text: String?) throws(Problem) -> AssetRepresentation {
      guard let text else { return .automatic }
      guard let found = AssetRepresentation.allCases.first(where: { "\($0)" == text }) else {
        throw .malformed("'representation' is '\(text)'; pass automatic, current or compatible.")
      }
      return found
    }

    /// The session of the path, for the client that began it.
    private static func own(_ call: Call) throws -> Pickings.Entry {
      guard let entry = call.server.picking.entry(call.parameters[0]),
        entry.session.client.exact == call.key?.client.exact
      else { throw Problem.notFound }
      return entry
    }

    private static func state(_ call: Call) throws -> JSON { describe(try own(call), call.server) }

    private static func describe(_ entry: Pickings.Entry, _ server: GalleryServer) -> JSON {
      let items = entry.items.map { item -> JSON in
        [
          "item": JSON(item.token), "asset": JSON(item.assetIdentifier),
          "types": .list(item.supportedContentTypes.map { .text($0) }),
        ]
      }
      return [
        "session": .text(entry.session.id), "pickerUri": .text("/?pick=\(entry.session.id)"),
        "state": .text(entry.state.rawValue), "expires": .text(DateText.instant(entry.expires)),
        "origins": .list(entry.origins.map { .text($0) }),
        "approvedOrigins": .list(server.approvedOrigins.origins(of: entry.session.client).map { .text($0) }),
        "items": .list(items),
      ]
    }

    private static func adjust(_ call: Call, _ json: JSON) throws {
      try json.checkKeys(["deselect", "move", "limit"])
      let session = try own(call).session
      // All of it is read before any of it is done.
      let deselected = try json.texts("deselect") ?? []
      let moved = try json["move"].map { try move($0) }
      let limit = try json.whole("limit", in: 0...100_000)
      // A session that is over rejects this; the others leave it alone.
      if let limit { try session.update(PickerUpdate(selectionLimit: limit)) }
      session.deselectAssets(withIdentifiers: deselected)
      if let moved { session.moveAsset(withIdentifier: moved.asset, afterAssetWithIdentifier: moved.after) }
    }

    private static func move(_ json: JSON) throws(Problem) -> (asset: String, after: String?) {
      try json.checkKeys(["asset", "after"])
      guard let asset = try json.text("asset", atMost: 200) else {
        throw .malformed("'move' needs 'asset', and 'after' unless the asset comes first.")
      }
      return (asset, try json.text("after", atMost: 200))
    }

    private static func itemOptions(_ call: Call) throws -> PickedItemOptions {
      var options = PickedItemOptions()
      options.contentType = try call.query("type")
      options.representation = try call.query("representation").map { (text) throws(Problem) in
        try representation(text)
      }
      for (name, option) in [
        ("removeLocation", PickerMetadataOptions.removeLocation), ("removeCaptions", .removeCaptions),
      ] {
        guard let value = try call.query(name) else { continue }
        guard value == "true" || value == "false" else {
          throw Problem.malformed("'\(name)' is '\(value.prefix(40))'; pass true or false.")
        }
        if value == "true" { options.metadataOptions.insert(option) }
      }
      return options
    }

    // MARK: The person

    private static func presenter(_ call: Call) throws -> PickingPresenter {
      let library = try call.library()
      let id = call.parameters[0]
      // Of an expired session the client reads nothing any more, so a person gives nothing in it either.
      call.server.picking.sweep()
      // A client without full access finds its own sessions only, and may not present them.
      guard let session = try library.pickingSessions().first(where: { $0.id == id }) else { throw Problem.notFound }
      let presenter = try library.present(session)
      call.server.picking.notePresented(id)
      return presenter
    }

    private static func presentation(_ call: Call) throws -> JSON {
      let presenter = try presenter(call)
      let now = presenter.presentation
      guard case .object(let members) = describe(presenter.session) else { throw Problem.notFound }
      let entry = call.server.picking.entry(presenter.session.id)
      let asked = entry?.origins ?? []
      // The presentation shows none of the client's other pages.
      let approved = entry.map { call.server.approvedOrigins.framing($0) } ?? []
      return .object(
        members + [
          JSON.Member("state", .text(now.state.rawValue)), JSON.Member("limit", .integer(Int64(now.selectionLimit))),
          JSON.Member("selection", .list(now.selection.map { .text($0) })),
          JSON.Member("withheld", .list(now.withheld.names.map { .text($0) })),
          JSON.Member("origins", .list(asked.map { .text($0) })),
          JSON.Member("approvedOrigins", .list(approved.map { .text($0) })),
        ])
    }

    private static func describe(_ session: PickingSession) -> JSON {
      [
        "session": .text(session.id), "client": .text(session.client),
        "filter": JSON(session.configuration.filter?.description),
        "ordered": .bool(session.configuration.selection.isOrdered),
        "continuous": .bool(session.configuration.selection.isContinuous),
      ]
    }

    private static func candidates(_ call: Call) throws -> HTTPResponse {
      try call.checkQuery(["start", "count"])
      let start = try call.count("start") ?? 0
      let count = try call.count("count") ?? 100
      guard count <= FetchRoutes.windowLimit else {
        throw Problem.malformed("'count' is \(count); a window has at most \(FetchRoutes.windowLimit) items.")
      }
      let found = try presenter(call).candidates()
      let lower = min(start, found.count)
      let assets = try found.objects(at: lower..<lower + min(count, found.count - lower))
      return .json(
        [
          "token": .text(found.token.description), "total": .integer(Int64(found.count)),
          "start": .integer(Int64(lower)), "count": .integer(Int64(assets.count)),
          "columns": try Columns.json(assets, try call.renditionColumns()),
        ], [("Cache-Control", "no-store")])
    }

    /// The taps that lead to a pick, or decide what its bytes hold.
    private static let givingTaps: Set<String> = ["select", "withhold", "finish"]

    private static func tap(_ call: Call, _ json: JSON) async throws {
      try json.checkKeys(["select", "deselect", "withhold", "finish", "cancel"])
      guard let members = json.objectValue, members.count == 1 else {
        throw Problem.malformed("A tap is one of 'select', 'deselect', 'withhold', 'finish' and 'cancel'.")
      }
      let presenter: PickingPresenter = try await offload { try Self.presenter(call) }
      if givingTaps.contains(members[0].key) { try call.checkMayGiveOriginals("Giving photos to a client") }
      if let asset = try json.text("select", atMost: 200) {
        try await presenter.select(asset)
      } else if let asset = try json.text("deselect", atMost: 200) {
        try await presenter.deselect(asset)
      } else if let withheld = try json.texts("withhold") {
        try await presenter.withhold(try metadata(withheld))
      } else if try json.flag("finish") {
        try await presenter.finish()
      } else if try json.flag("cancel") {
        presenter.cancel()
      } else {
        throw Problem.malformed("'\(members[0].key)' needs an identifier, or true.")
      }
    }
  }

  extension PickingRoutes {
    /// What the person leaves out, by the names that the presentation has.
    private static func metadata(_ names: [String]) throws(Problem) -> PickerMetadataOptions {
      var options: PickerMetadataOptions = []
      for name in names {
        switch name {
        case "location": options.insert(.removeLocation)
        case "captions": options.insert(.removeCaptions)
        default: throw .malformed("'withhold' names '\(name.prefix(40))'; pass location and captions.")
        }
      }
      return options
    }
  }

  extension PickedBytes {
    /// The answer with the bytes of an item.
    static func response(_ call: Call, _ item: PickedItem, _ options: PickedItemOptions) async throws -> HTTPResponse {
      let library = try call.library()
      // The item's first type is that of its own representation, and the request may ask for another.
      let type = try await offload { try library.contentType(of: item, options: options) }
      let fields =
        Headers.common + [
          ("Cache-Control", "private, no-store"), ("Accept-Ranges", "bytes"),
          ("Content-Type", FileRoutes.mediaType(of: type) ?? "application/octet-stream"),
          ("Content-Disposition", "attachment"),
        ]
      // The size and the tag are those of what would be converted: no copy is made to state them.
      if call.request.method == "HEAD" { return HTTPResponse(200, fields, .stream(HTTPStream())) }
      let folder = call.server.library.store.folder
      let name = "\(copyPrefix)\(Keyring.spelled(call.server.environment.randomBytes(9)))"
      defer { folder.remove(name) }
      let file = URL(filePath: folder.linkedPath(of: name), directoryHint: .notDirectory)
      let sha256 = try await library.copy(item, to: file, options: options)
      // A conversion takes minutes, in which the asset can have been purged.
      _ = try await offload { try library.contentType(of: item, options: options) }
      let descriptor = folder.open(name, O_RDONLY | O_NOFOLLOW)
      guard descriptor >= 0 else { throw Problem(500, "storage", "The bytes of the picked item cannot be read.") }
      let opened = HTTPFile(owning: descriptor)
      var status = stat()
      guard fstat(descriptor, &status) == 0 else {
        throw Problem(500, "storage", "The bytes of the picked item cannot be read.")
      }
      // A conversion that is made anew need not give the same bytes, so these name themselves.
      let tag = "\"\(sha256.hexadecimal)\""
      let tagged = fields + [("ETag", tag)]
      if call.request.matches(tag) { return HTTPResponse(304, tagged) }
      return call.request.answer(with: opened, size: UInt64(status.st_size), tag: tag, tagged)
    }
  }
#endif
