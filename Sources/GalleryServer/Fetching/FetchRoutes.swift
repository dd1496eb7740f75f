#if Gallery
  import Foundation
  import HTTPServing
  import LibraryJSON
  import PhotoLedger

  /// Fetches, their windows and their sections.
  enum FetchRoutes {
    static let windowLimit = 1000

    static let all: [Route] = [
      .gathering("POST", "/v1/fetches") { call, body in
        let fetch = try FetchRequest(try JSONReader.read(body))
        guard fetch.name.utf8.count <= FetchRequest.nameLimit else {
          throw Problem(
            400, "limit-exceeded", "The fetch is too long for a name; its predicate and terms may have 1.5 KB.")
        }
        try call.checkQuery(["at"])
        let library = try call.library()
        try Fetches.checkMayRead(library)
        let token = try call.query("at").map { try moment($0, of: library) } ?? nil
        let result = try call.server.fetches.result(fetch, at: token, of: library)
        return .json(describe(result, of: fetch), status: 201, [("Location", "/v1/fetches/\(fetch.name)")])
      },
      .reading("GET", "/v1/fetches/{fetch}") { call in
        try call.checkQuery(["token"])
        let (fetch, result) = try held(call)
        return .json(describe(result, of: fetch), [("Cache-Control", "no-store")])
      },
      Route("GET", "/v1/fetches/{fetch}/items") { _, call in
        try call.checkQuery(["token", "start", "count", "form"])
        let window = try Window(call)
        // A held result answers in microseconds, on the thread of the connection.
        if let token = window.token,
          let result = call.server.fetches.held(window.fetch, at: token, for: try call.library().client)
        {
          try Fetches.checkMayRead(try call.library())
          return .answer(try window.response(result, call))
        }
        return .respond { _ in
          do {
            return try await offload {
              try window.response(
                try call.server.fetches.result(window.fetch, at: window.token, of: try call.library()), call)
            }
          } catch { return Problem(error).response }
        }
      },
      .reading("GET", "/v1/fetches/{fetch}/sections") { call in
        try call.checkQuery(["token", "by", "timeZone"])
        let unit = try call.query("by") ?? "month"
        guard let granularity = SectionGranularity(rawValue: unit) else {
          throw Problem.malformed("'by' is '\(unit.prefix(40))'; pass day, month or year.")
        }
        let zoneName = try call.query("timeZone") ?? "GMT"
        guard let zone = TimeZone(identifier: zoneName) else {
          throw Problem.malformed("'timeZone' is '\(zoneName.prefix(40))'; pass a name such as Europe/Berlin.")
        }
        let (_, result) = try held(call)
        let sections = try result.sections(by: granularity, in: zone).map { section -> JSON in
          [
            "key": .text("\(section.key)"), "first": .integer(Int64(section.firstIndex)),
            "count": .integer(Int64(section.count)),
          ]
        }
        return .json(
          ["token": .text(result.token.description), "sections": .list(sections)], [("Cache-Control", "no-store")])
      },
      .reading("GET", "/v1/assets/{asset}") { call in
        try call.checkQuery([])
        let library = try call.library()
        try Fetches.checkMayRead(library)
        guard let asset = try library.asset(call.parameters[0]) else { throw Problem.notFound }
        return .json(try library.json(of: asset), [("Cache-Control", "no-store")])
      },
      .reading("GET", "/v1/collections") { call in
        try call.checkQuery(["folder"])
        let library = try call.library()
        try Fetches.checkMayRead(library)
        var folder: PhotoCollection?
        if let identifier = try call.query("folder") {
          guard let found = try library.collection(identifier), found.kind == .folder else { throw Problem.notFound }
          folder = found
        }
        let collections = try library.fetchCollections(in: folder)
        return .json(
          [
            "token": .text(collections.token.description),
            "collections": .list(try collections.objects(at: 0..<collections.count).map { JSON($0) }),
          ], [("Cache-Control", "no-store")])
      },
    ]

    /// The fetch that the path names, at the token of the query or now.
    private static func held(_ call: Call) throws -> (FetchRequest, FetchResult<Asset>) {
      let fetch = try FetchRequest(name: call.parameters[0])
      let token = try call.query("token").map { try Token($0) }
      let library = try call.library()
      try Fetches.checkMayRead(library)
      return (fetch, try call.server.fetches.result(fetch, at: token, of: library))
    }

    /// A state by token, place in the log, or date, as `--at` of the commands has it.
    private static func moment(_ text: String, of library: PhotoLibrary) throws -> Token {
      if let sequence = UInt64(text) { return try library.at(sequence: sequence).currentToken }
      if let date = WrittenDate(text)?.date { return try library.at(date: date).currentToken }
      return try Token(text)
    }

    private static func describe(_ result: FetchResult<Asset>, of fetch: FetchRequest) -> JSON {
      [
        "fetch": .text(fetch.name), "token": .text(result.token.description), "count": .integer(Int64(result.count)),
      ]
    }
  }

  /// A window of a fetch: some of its objects by index.
  private struct Window: Sendable {
    let fetch: FetchRequest
    let token: Token?
    let start: Int
    let count: Int
    let isColumns: Bool

    init(_ call: Call) throws {
      fetch = try FetchRequest(name: call.parameters[0])
      token = try call.query("token").map { try Token($0) }
      start = try call.count("start") ?? 0
      count = try call.count("count") ?? 100
      guard count <= FetchRoutes.windowLimit else {
        throw Problem.malformed("'count' is \(count); a window has at most \(FetchRoutes.windowLimit) items.")
      }
      let form = try call.query("form") ?? "objects"
      guard form == "objects" || form == "columns" else {
        throw Problem.malformed("'form' is '\(form.prefix(40))'; pass objects or columns.")
      }
      isColumns = form == "columns"
    }

    func response(_ result: FetchResult<Asset>, _ call: Call) throws -> HTTPResponse {
      // The window of a fetch at a token never changes, so its name is its tag; the name of the fetch stands in the
      // URL. Columns show besides which renditions are there, so their own bytes are part of the tag.
      var tag = "\"\(result.token)-\(start)-\(count)-o\""
      if !isColumns, call.request.matches(tag) { return HTTPResponse(304, Headers.common + fields(tag)) }
      let first = min(start, result.count)
      let range = first..<first + min(count, result.count - first)
      let assets = try result.objects(at: range.lowerBound..<max(range.lowerBound, range.upperBound))
      let items: JSON.Member
      if isColumns {
        let columns = try Columns.json(assets, try call.renditionColumns())
        items = JSON.Member("columns", columns)
        tag = "\"\(result.token)-\(start)-\(count)-c\(CRC32.of(columns.description.utf8))\""
        if call.request.matches(tag) { return HTTPResponse(304, Headers.common + fields(tag)) }
      } else {
        let library = try call.library()
        items = JSON.Member("items", .list(try assets.map { try library.json(of: $0) }))
      }
      return .json(
        .object([
          JSON.Member("token", .text(result.token.description)), JSON.Member("total", .integer(Int64(result.count))),
          JSON.Member("start", .integer(Int64(range.lowerBound))), JSON.Member("count", .integer(Int64(assets.count))),
          items,
        ]), fields(tag))
    }

    private func fields(_ tag: String) -> [(name: String, value: String)] {
      [("ETag", tag), ("Cache-Control", "private, no-cache"), ("Vary", "Authorization, Cookie")]
    }
  }

  /// Assets as columns: one list for each property that a grid needs, with a value for each asset.
  enum Columns {
    static func json(_ assets: [Asset], _ renditions: RenditionColumns) throws -> JSON {
      func column(_ name: String, _ value: (Asset) -> JSON) -> JSON.Member {
        JSON.Member(name, .list(assets.map(value)))
      }
      return try .object([
        column("localIdentifier") { .text($0.localIdentifier) },
        column("mediaType") { .integer(Int64($0.mediaType.rawValue)) },
        column("mediaSubtypes") { .integer(Int64($0.mediaSubtypes.rawValue)) },
        column("pixelWidth") { .integer(Int64($0.pixelWidth)) },
        column("pixelHeight") { .integer(Int64($0.pixelHeight)) },
        column("duration") { .number($0.duration) },
        column("creationDate") { JSON($0.creationDate.map { DateText.instant($0) }) },
        column("timeZoneOffset") { $0.timeZoneOffset.map { .integer(Int64($0)) } ?? .null },
        column("isFavorite") { .bool($0.isFavorite) },
        column("isHidden") { .bool($0.isHidden) },
      ] + renditions.members(assets))
    }
  }
#endif
