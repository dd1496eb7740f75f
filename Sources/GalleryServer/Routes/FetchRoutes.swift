#if Gallery
  import Foundation
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger

  // Fetches by URL.
  //
  // A page that scrolls through a million photos requests windows of one list while others change the library, and each
  // must be of the state that the page shows. So the URL names everything: the fetch by what it asks for, the state by
  // a token.
  //
  //     POST /v1/fetches ──▶ /v1/fetches/{fetch} ─┬─ /items?token=…&start=…&count=…
  //                                               ├─ /sections?token=…&by=month
  //                                               └─ /index?token=…&asset=…
  //
  //     encoded? (columns, sections) ── yes ──▶ ┐
  //         │ no                                ├ answered on the thread of the connection
  //     held, in memory, and small? ─── yes ──▶ ┘
  //         │ no
  //     a task: the result at the token ──▶ encoded; columns and sections are kept for equal requests
  //
  // Invariant: under a token, equal URLs have equal answers for a client until something that it saw is erased. So the
  // tag of objects and sections follows from their URL, and a 304 needs no answer to be made; after an erasure, and for
  // columns, which also show the renditions, a hash of the bytes is part of the tag. Each path checks the permission
  // before it answers, also one that finds the answer encoded.
  //
  // Rejected: tags from the bytes alone. A page that is opened again asks for windows that it has, and each would be
  // read and encoded only to find that nothing has changed.

  /// Fetches, their windows and their sections.
  enum FetchRoutes {
    static let windowLimit = 1000

    static let all: [Route] = [
      .gathering("POST", "/v1/fetches") { call, body in
        var fetch = try FetchRequest(try JSONReader.read(body))
        try call.checkQuery(["at"])
        let library = try call.library(of: fetch)
        try Fetches.checkMayRead(library)
        let view = try call.moment()?.view(of: library)
        try fetch.chooseDay(in: view ?? library, orAlbumsOf: library)
        guard fetch.name.utf8.count <= FetchRequest.nameLimit else {
          throw Problem(
            400, "limit-exceeded",
            "The fetch is too long; its predicate, search text and sort terms may have at most 1.5 KB together.")
        }
        let token = try view?.currentToken
        return .json(
          try describe(fetch, as: fetch.list, at: token, of: library, call), status: 201,
          [(name: "Location", value: "/v1/fetches/\(fetch.name)")])
      }.needing(.read),
      .reading("GET", "/v1/fetches/{fetch}") { call in
        try call.checkQuery(["token", "at"])
        let fetch = try call.server.fetches.request(named: call.parameters[0])
        let library = try call.library(of: fetch)
        try Fetches.checkMayRead(library)
        let description = try describe(fetch, as: fetch.list, at: try call.token(in: library), of: library, call)
        let count = description["count"]?.wholeValue ?? 0
        let tag = "\"\(description["token"]?.textValue ?? "")-\(count)-f\""
        return call.unchanged(tag) ?? .json(description, Self.fields(tag: tag))
      },
      Route("GET", "/v1/fetches/{fetch}/items") { _, call in
        try call.checkQuery(["token", "at", "start", "count", "form"])
        let window = try Window(call)
        if window.fetch.collections != nil {
          return .respond { _ in
            do { return try await offload { try window.response(collections(call), call) } } catch {
              return Problem(error).response
            }
          }
        }
        if Records.wantsLines(call.request) {
          return .respond { _ in
            do { return try await window.lines(call) } catch { return Problem(error).response }
          }
        }
        if let answer = try window.encoded(call) { return .answer(answer) }
        // A held result answers at once, on the thread of the connection, as long as few rows are wanted.
        let library = try call.library(of: window.fetch)
        if window.isSmall, !window.isColumns || call.server.renditions.isAtHand, try call.query("at") == nil,
          let token = window.token, let result = call.server.fetches.held(window.fetch, at: token, for: library.client),
          result.isAtHand(window.range(in: result))
        {
          try Fetches.checkMayRead(library)
          return .answer(try window.response(result, call))
        }
        return .respond { _ in
          do {
            return try await offload {
              try Fetches.checkMayRead(library)
              return try window.response(
                try call.server.fetches.result(window.fetch, at: try call.token(in: library), of: library), call)
            }
          } catch { return Problem(error).response }
        }
      },
      .held("GET", "/v1/fetches/{fetch}/sections") { call in
        try call.checkQuery(["token", "at", "by", "timeZone"])
        let choice = try SectionChoice(call.query("by") ?? "month", zone: call.query("timeZone"), named: "by")
        guard let token = try call.query("token"), try call.query("at") == nil else { return nil }
        let library = try call.library(of: call.server.fetches.request(named: call.parameters[0]))
        let question = EncodedAnswers.Question(
          client: library.client.exact, fetch: call.parameters[0], token: try call.token(token),
          form: .sections(choice.tag))
        guard let answer = call.server.encoded.answer(question, at: try library.lastSequence) else { return nil }
        try Fetches.checkMayRead(library)
        return call.unchanged(answer.tag) ?? .json(answer.bytes, Self.fields(tag: answer.tag))
      } _: { call in
        let choice = try SectionChoice(call.query("by") ?? "month", zone: call.query("timeZone"), named: "by")
        let library = try call.library(of: call.server.fetches.request(named: call.parameters[0]))
        // Read before the result, so that an answer is never kept under a later state than its own.
        let sequence = try library.lastSequence
        let (_, result) = try held(call)
        // The sections of a fetch at a token never change either.
        let known = try result.tag(choice.tag)
        if let known, let unchanged = call.unchanged(known) { return unchanged }
        let bytes = WrittenDocument(try sections(of: result, choice)).bytes
        let tag = known ?? bytes.withUnsafeBytes { result.tag(choice.tag, of: $0) }
        let question = EncodedAnswers.Question(
          client: library.client.exact, fetch: call.parameters[0], token: result.token, form: .sections(choice.tag))
        call.server.encoded.keep(.init(tag: tag, bytes: bytes), of: question, at: sequence)
        return call.unchanged(tag) ?? .json(bytes, Self.fields(tag: tag))
      },
      .reading("GET", "/v1/fetches/{fetch}/index") { call in
        try call.checkQuery(["token", "at", "asset"])
        guard let identifier = try call.query("asset") else {
          throw Problem.malformed("The query needs 'asset', whose index is requested.")
        }
        let (fetch, result) = try held(call)
        // What the client cannot see, or could not see then, is in no fetch of it.
        let asset = try call.library(of: fetch).at(result.token).asset(identifier)
        let index = try asset.flatMap { try result.index(ofObject: $0) }
        return .json(
          ["token": .text(result.token.description), "index": index.map { .integer(Int64($0)) } ?? .null],
          [("Cache-Control", "no-store")])
      },
      .held("GET", "/v1/assets/{asset}") { call in
        // A current row, whose pages are few; an as-of view has to be computed.
        try call.checkQuery(["at"])
        let library = try call.library()
        guard call.request.target.query.pairs.isEmpty, !library.canAskPerson else { return nil }
        try Fetches.checkMayRead(library)
        guard let shown = try library.shown(call.parameters[0]) else { throw Problem.notFound }
        var bytes = JSONBytes(capacity: 1 << 11)
        bytes.write(shown)
        return .json(bytes, [("Cache-Control", "no-store")])
      } _: { call in
        let library = try call.view()
        guard let asset = try library.asset(call.parameters[0]) else { throw Problem.notFound }
        return .json(try library.shownJSON(of: asset), [("Cache-Control", "no-store")])
      },
      .reading("GET", "/v1/collections") { call in
        try call.checkQuery(["folder", "at"])
        let library = try call.view()
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

    private static func sections(of result: FetchResult<Asset>, _ choice: SectionChoice) throws -> JSONBytes {
      var bytes = JSONBytes(capacity: 1 << 13)
      bytes.beginObject()
      bytes.key("token")
      bytes.text(result.token.description)
      bytes.key("sections")
      bytes.beginList()
      for section in try result.sections(by: choice.granularity, in: choice.zone) {
        bytes.beginObject()
        bytes.key("key")
        bytes.text("\(section.key)")
        bytes.key("first")
        bytes.integer(Int64(section.firstIndex))
        bytes.key("count")
        bytes.integer(Int64(section.count))
        bytes.endObject()
      }
      bytes.endList()
      bytes.endObject()
      return bytes
    }

    /// The fetch that the path names, at the state of the query or now.
    private static func held(_ call: Call) throws -> (FetchRequest, FetchResult<Asset>) {
      let fetch = try call.server.fetches.request(named: call.parameters[0])
      let library = try call.library(of: fetch)
      try Fetches.checkMayRead(library)
      return (fetch, try call.server.fetches.result(fetch, at: try call.token(in: library), of: library))
    }

    /// The collections that the path names, at the state of the query or now.
    private static func collections(_ call: Call) throws -> FetchResult<PhotoCollection> {
      let fetch = try call.server.fetches.request(named: call.parameters[0])
      let library = try call.library(of: fetch)
      try Fetches.checkMayRead(library)
      return try PhotoCollection.run(fetch, at: try call.token(in: library), of: library, call.server.fetches)
    }

    /// The fields of what never changes under its tag; the name of the fetch stands in the URL.
    static func fields(tag: String) -> [(name: String, value: String)] {
      [("ETag", tag), ("Cache-Control", "private, no-cache"), ("Vary", "Authorization, Cookie")]
    }

    private static func describe<List: FeedList>(
      _ fetch: FetchRequest, as _: List.Type, at token: Token?, of library: PhotoLibrary, _ call: Call
    ) throws -> JSON {
      try List.checkMayFollow(library)
      let list = try List.run(fetch, at: token, of: library, call.server.fetches)
      return [
        "fetch": .text(fetch.name), "token": .text(list.token.description), "count": .integer(Int64(list.count)),
        "cursor": .text(FeedCursor([(fetch, list.token)]).spelled),
      ]
    }
  }

  extension FetchResult {
    /// The tag of a part of the result, which never changes; nil if assets were erased since that its client saw. Then
    /// objects show less, and the list can be another one once it is made anew, so the bytes of the answer name it.
    func tag(_ part: String) throws -> String? { try laterErasure == nil ? "\"\(token)-\(part)\"" : nil }

    /// The tag of a part of the result by the bytes of the answer.
    func tag(_ part: String, of bytes: UnsafeRawBufferPointer) -> String {
      "\"\(token)-\(part)-h\(Keyring.hash(bytes).prefix(32))\""
    }
  }

  extension Call {
    /// The state of `token` or of `at`, as a token; nil: now.
    func token(in library: PhotoLibrary) throws -> Token? {
      let moment = try moment()
      guard let token = try query("token") else { return try moment?.view(of: library).currentToken }
      guard moment == nil else { throw Problem.malformed("'token' and 'at' both choose a state; pass one.") }
      return try self.token(token)
    }

    /// The library of now or of `at`, as the client sees it.
    func view() throws -> PhotoLibrary {
      let library = try library()
      try Fetches.checkMayRead(library)
      return try moment()?.view(of: library) ?? library
    }

    /// The answer to a client that holds what has a tag; nil for any other client.
    func unchanged(_ tag: String) -> HTTPResponse? {
      let fields = FetchRoutes.fields(tag: tag)
      return holds(fields) ? HTTPResponse(304, Headers.common + fields) : nil
    }

    /// Whether the client holds what has the `ETag` of some fields.
    func holds(_ fields: [(name: String, value: String)]) -> Bool {
      guard let tag = fields.first(where: { $0.name == "ETag" })?.value else { return false }
      return request.fields.all("if-none-match").contains { field in
        field.split(separator: ",").contains { item in
          let item = item.trimmingCharacters(in: .whitespaces)
          return item == "*" || item == tag || item == "W/" + tag
        }
      }
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
      fetch = try call.server.fetches.request(named: call.parameters[0])
      token = try call.query("token").map { try call.token($0) }
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

    /// Whether its rows are read within a millisecond; an asset as an object is read with all that is beside it.
    var isSmall: Bool { count <= (isColumns ? 500 : 50) }

    /// The assets as objects, one a line; without `count` all of them, in pieces that wait for the client.
    func lines(_ call: Call) async throws -> HTTPResponse {
      guard !isColumns else {
        throw Problem.malformed("Lines cannot have the form 'columns'; omit 'form', or request JSON instead of lines.")
      }
      let library = try call.library(of: fetch)
      let limit = try call.query("count") == nil ? nil : count
      let result = try await offload {
        try Fetches.checkMayRead(library)
        return try call.server.fetches.result(fetch, at: try call.token(in: library), of: library)
      }
      return try await Records.lines(call, from: start, limit: limit) { first, count in
        try Fetches.checkMayRead(library)
        let first = min(first ?? 0, result.count)
        let end = first + min(count, result.count - first)
        let assets = try result.objects(at: first..<end)
        return Records.Page(
          records: try assets.map { try library.json(of: $0) }, next: end < result.count ? end : nil)
      }
    }

    /// A window of collections, which are shown as objects.
    func response(_ result: FetchResult<PhotoCollection>, _ call: Call) throws -> HTTPResponse {
      guard !isColumns else {
        throw Problem.malformed("Albums and folders cannot have the form 'columns'; omit 'form'.")
      }
      let first = min(start, result.count)
      let found = try result.objects(at: first..<(first + min(count, result.count - first))).map { JSON($0) }
      if Records.wantsLines(call.request) { return try Records.lines(found, call) }
      // No erasure changes what is shown of collections.
      let tag = "\"\(result.token)-\(start)-\(count)-o\""
      if let unchanged = call.unchanged(tag) { return unchanged }
      return .json(
        [
          "token": .text(result.token.description), "total": .integer(Int64(result.count)),
          "start": .integer(Int64(first)), "count": .integer(Int64(found.count)), "items": .list(found),
        ], FetchRoutes.fields(tag: tag))
    }

    /// The columns of a state that the query names, if they are encoded; see ``EncodedAnswers``.
    func encoded(_ call: Call) throws -> HTTPResponse? {
      let library = try call.library(of: fetch)
      guard isColumns, let token, try call.query("at") == nil,
        let answer = call.server.windows.answer(
          question(call, library, token), at: try library.lastSequence, renditions: call.server.renditions.revision)
      else { return nil }
      try Fetches.checkMayRead(library)
      return call.unchanged(answer.tag) ?? .json(answer.bytes, FetchRoutes.fields(tag: answer.tag))
    }

    private func question(_ call: Call, _ library: PhotoLibrary, _ token: Token) -> EncodedAnswers.Question {
      EncodedAnswers.Question(
        client: library.client.exact, fetch: call.parameters[0], token: token,
        form: .window(start: start, count: count))
    }

    /// The positions of a result that it shows.
    func range(in result: FetchResult<Asset>) -> Range<Int> {
      let first = min(start, result.count)
      // The sum of a large start and a count has no place in an Int.
      return first..<(first + min(count, result.count - first))
    }

    func response(_ result: FetchResult<Asset>, _ call: Call) throws -> HTTPResponse {
      let range = range(in: result)
      // The first windows behind the beginning of a result come together, and one of them makes its order.
      if !result.isAtHand(range) { try result.complete() }
      return isColumns ? try columns(result, range, call) : try objects(result, range, call)
    }

    private func begin(_ result: FetchResult<Asset>, _ range: Range<Int>, _ bytes: inout JSONBytes) {
      bytes.beginObject()
      bytes.key("token")
      bytes.token(result.token)
      bytes.key("total")
      bytes.integer(Int64(result.count))
      bytes.key("start")
      bytes.integer(Int64(range.lowerBound))
      bytes.key("count")
      bytes.integer(Int64(range.count))
    }

    private func objects(
      _ result: FetchResult<Asset>, _ range: Range<Int>, _ call: Call
    ) throws -> HTTPResponse {
      // The window of a fetch at a token never changes but by an erasure, so its name is its tag; the name of the fetch
      // stands in the URL.
      let part = "\(start)-\(count)-o"
      let known = try result.tag(part)
      if let known, let unchanged = call.unchanged(known) { return unchanged }
      let library = try call.library(of: fetch)
      var bytes = JSONBytes(capacity: 1 << 10 + range.count * 1500)
      begin(result, range, &bytes)
      bytes.key("items")
      bytes.beginList()
      for asset in try result.objects(at: range) { try library.write(asset, to: &bytes) }
      bytes.endList()
      bytes.endObject()
      let tag = known ?? bytes.withUnsafeBytes { result.tag(part, of: $0) }
      if let unchanged = call.unchanged(tag) { return unchanged }
      return .json(bytes, FetchRoutes.fields(tag: tag))
    }

    private func columns(
      _ result: FetchResult<Asset>, _ range: Range<Int>, _ call: Call
    ) throws -> HTTPResponse {
      let library = try call.library(of: fetch)
      let columns = RenditionColumns(library: library, renditions: call.server.renditions)
      // Read before what they are about, so that nothing is kept under a later state than its own.
      let (sequence, revision) = (try library.lastSequence, columns.renditions.revision)
      let isErased = try result.laterErasure != nil
      let capacity = 1 << 10 + range.count * 320
      // What is nearly so large that it is written in again is made so large.
      var bytes = JSONBytes(capacity: capacity > 1 << 15 ? max(capacity, 1 << 16) : capacity)
      begin(result, range, &bytes)
      bytes.key("columns")
      let place = try Columns.write(try library.listed(range, of: result), columns, to: &bytes)
      // Columns show besides which renditions are there, so the bytes that say it are part of the tag; after an erasure
      // all bytes are.
      let hashed = isErased ? 0 : place
      let hash = bytes.withUnsafeBytes { Keyring.hash(UnsafeRawBufferPointer(rebasing: $0[hashed...])) }
      bytes.endObject()
      let tag = "\"\(result.token)-\(start)-\(count)-c\(hash.prefix(32))\""
      let answer = EncodedAnswers.Answer(tag: tag, bytes: WrittenDocument(bytes).bytes)
      if let token {
        call.server.windows.keep(answer, of: question(call, library, token), at: sequence, renditions: revision)
      }
      return call.unchanged(tag) ?? .json(answer.bytes, FetchRoutes.fields(tag: tag))
    }
  }
#endif
