#if Gallery
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger

  // Records: what the commands print with `--json`, over HTTP.
  //
  //   Accept: application/json       {"records":[…],"next":…}       a page, with what to ask for the next one
  //   Accept: application/x-ndjson   one record a line              byte for byte what the command prints
  //
  // The records are made by LibraryJSON and the library, for the command and for the server; here they are only framed.
  // A page has at most `pageLimit` records and about `byteLimit` bytes. Lines are all records, or as many as `limit`
  // says, however many bytes they have: nothing in them could say that they were cut. They are read in pieces, each
  // when the one before has been passed on, so a slow client holds neither memory nor a thread nor a read transaction;
  // but for the three questions about one object or client (AuditRoutes.swift), which are one list.

  enum Records {
    static let pageLimit = 1000
    static let pageCount = 100
    static let byteLimit = 1 << 20

    /// Some of the records, and where the next ones begin.
    struct Page<Position: Sendable>: Sendable {
      var records: [JSON]
      /// Where to go on; nil at the end.
      var next: Position?
    }

    static let vary: [(name: String, value: String)] = [
      ("Cache-Control", "no-store"), ("Vary", "Accept, Authorization, Cookie"),
    ]

    /// Whether the client wants a record a line.
    static func wantsLines(_ request: HTTPRequest) -> Bool {
      request.fields.all("accept").contains { $0.lowercased().contains("application/x-ndjson") }
    }

    /// How many records of a page are wanted.
    static func limit(_ call: Call) throws -> Int? {
      guard let limit = try call.count("limit") else { return nil }
      guard (1...pageLimit).contains(limit) else {
        throw Problem.malformed("'limit' is \(limit); a page has 1 to \(pageLimit) records.")
      }
      return limit
    }

    /// Answers with a page, or with lines that go on to the end, or to a limit.
    /// - Parameters:
    ///   - spell: how a position is given to the client.
    ///   - read: reads a page from a position, at most so many records.
    static func respond<Position: Sendable>(
      _ call: Call, from start: Position?, spell: (Position) -> JSON,
      _ read: @escaping @Sendable (Position?, Int) throws -> Page<Position>
    ) async throws -> HTTPResponse {
      let limit = try limit(call)
      guard wantsLines(call.request) else {
        let found = try await offload { try read(start, limit ?? pageCount) }
        return page(found.records, next: found.next.map(spell) ?? .null)
      }
      return try await lines(call, from: start, limit: limit, read)
    }

    /// Answers with lines: so many, or all of them.
    static func lines<Position: Sendable>(
      _ call: Call, from start: Position?, limit: Int?,
      _ read: @escaping @Sendable (Position?, Int) throws -> Page<Position>
    ) async throws -> HTTPResponse {
      let first = try await offload { try read(start, limit ?? pageCount) }
      let left = limit.map { $0 - first.records.count }
      guard left ?? 1 > 0, let next = first.next else { return lines(first.records) }
      return try lines(first.records, call, from: next, limit: left, read)
    }

    /// A page as a document.
    static func page(_ records: [JSON], next: JSON) -> HTTPResponse {
      .json(["records": .list(records), "next": next], vary)
    }

    /// Records that are all there.
    private static func lines(_ records: some Sequence<JSON>) -> HTTPResponse {
      HTTPResponse(
        200, Headers.common + vary + [("Content-Type", "application/x-ndjson")], .bytes(spelled(records)))
    }

    private static func lines<Position: Sendable>(
      _ first: [JSON], _ call: Call, from start: Position, limit: Int?,
      _ read: @escaping @Sendable (Position?, Int) throws -> Page<Position>
    ) throws(Problem) -> HTTPResponse {
      let stream = try call.contentPlace().stream()
      if call.request.method != "HEAD" {
        let bytes = spelled(first)
        feed(stream, of: call.request.sender) {
          try await stream.send { bytes }
          var (position, left) = (Optional(start), limit ?? .max)
          while let from = position, left > 0 {
            // The key may have been withdrawn meanwhile, and the log goes on.
            try call.checkIsStillGood()
            let count = min(left, pageCount)
            let page = try await offload { try read(from, count) }
            let bytes = spelled(page.records)
            if !bytes.isEmpty { try await stream.send { bytes } }
            (position, left) = (page.next, left - page.records.count)
          }
        }
      }
      return HTTPResponse(
        200, Headers.common + vary + [("Content-Type", "application/x-ndjson")], .stream(stream))
    }

    /// Sends records of a collection in pieces.
    /// - Parameter place: what a stream of them needs; it is taken now if nil.
    /// - Throws: ``Problem`` 429 as ``Call/contentPlace()`` does.
    static func lines(
      _ records: some RandomAccessCollection<JSON> & Sendable, _ call: Call, in place: KeyPlace? = nil
    ) throws(Problem) -> HTTPResponse {
      let pieces = (records.count + pageCount - 1) / pageCount
      guard pieces > 1 else { return lines(records) }
      let taken: KeyPlace
      if let place { taken = place } else { taken = try call.contentPlace() }
      let stream = taken.stream()
      if call.request.method != "HEAD" {
        feed(stream, of: call.request.sender) {
          for piece in 0..<pieces {
            // The key may have been withdrawn meanwhile; the first piece is the answer to a request with a good one.
            if piece > 0 { try call.checkIsStillGood() }
            let bytes = spelled(records.dropFirst(piece * pageCount).prefix(pageCount))
            try await stream.send { bytes }
          }
        }
      }
      return HTTPResponse(
        200, Headers.common + vary + [("Content-Type", "application/x-ndjson")], .stream(stream))
    }

    /// Runs what fills a stream until its client has left.
    private static func feed(
      _ stream: HTTPStream, of sender: HTTPSender, _ body: @escaping @Sendable () async throws -> Void
    ) {
      let task = Task.detached {
        do {
          try await body()
        } catch is HTTPStreamClosed {
          // The client has left.
        } catch {
          // The status was sent long ago: the last line says that the lines are not all.
          let problem = Problem(error)
          sender.note = problem.note
          let bytes = spelled([problem.json])
          try? await stream.send { bytes }
        }
        stream.end()
      }
      stream.onClose { task.cancel() }
    }

    private static func spelled(_ records: some Sequence<JSON>) -> [UInt8] {
      var bytes = JSONBytes()
      for record in records {
        record.write(to: &bytes)
        bytes.endLine()
      }
      return Array(bytes.text().utf8)
    }
  }

  extension Route {
    /// A route whose answer takes several steps of reading.
    static func answering(
      _ method: String, _ path: String, _ need: Need = .key,
      _ answer: @escaping @Sendable (Call) async throws -> HTTPResponse
    ) -> Route {
      Route(method, path, need) { _, call in
        .respond { _ in
          do { return try await answer(call) } catch { return Problem(error).response }
        }
      }
    }
  }
#endif
