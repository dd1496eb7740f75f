#if Gallery
  import Foundation
  import HTTPServing
  import JSONReading
  import LibraryAudit
  import LibraryJSON
  import LibraryMaintenance
  import PhotoLedger

  /// Questions to the log about one thing, states compared, and evidence: what the commands `history ID`, `blame`,
  /// `access`, `diff`, `checkpoint` and `prove` print.
  enum AuditRoutes {
    /// How many objects of each kind the difference of two states gives.
    static let differenceLimit = 1000

    static let all: [Route] = [
      .answering("GET", "/v1/objects/{object}/history", .owner) { call in
        try call.checkQuery(["at", "client", "cause", "from", "to", "start", "limit"], repeating: ["kind"])
        let (filter, object) = (try call.logFilter(), call.parameters[0])
        return try await respond(call) { view, bounds in
          var list = Part(bounds)
          try view.forEachPropertyChange(of: object, filter) { list.take($0) { JSON($0.record) } }
          return list
        }
      },
      .answering("GET", "/v1/objects/{object}/access", .owner) { call in
        try call.checkQuery(["at", "start", "limit"])
        let object = call.parameters[0]
        return try await respond(call) { view, bounds in
          Part(try view.access(to: object), bounds) { JSON($0.record) }
        }
      },
      .answering("GET", "/v1/clients/{client}/access", .owner) { call in
        try call.checkQuery(["at", "start", "limit"])
        let client = call.parameters[0]
        return try await respond(call) { view, bounds in
          Part(try view.accessIntervals(of: client), bounds) { JSON($0.record) }
        }
      },
      .answering("GET", "/v1/collections/{collection}/blame", .owner) { call in
        try call.checkQuery(["at", "former", "start", "limit"])
        let (album, isFormer) = (call.parameters[0], try call.flag("former"))
        return try await respond(call) { view, bounds in
          Part(try view.blame(album, includingFormer: isFormer), bounds) { JSON($0.record) }
        }
      },
      .reading("GET", "/v1/fetches/{fetch}/diff") { call in
        try call.checkQuery(["from", "to"])
        guard let start = try call.moment("from") else {
          throw Problem.malformed("'from' is missing; pass a token, the number of an event, or a date.")
        }
        let end = try call.moment("to")
        let library = try call.library()
        try Fetches.checkMayRead(library)
        let fetch = try FetchRequest(name: call.parameters[0])
        let (from, to) = (try start.view(of: library), try end?.view(of: library) ?? library)
        let details = try library.changeDetails(from: fetch.run(in: from, orAlbumsOf: to), to: to.currentToken)
        return .json(
          try details.difference(limit: differenceLimit) { try library.json(of: $0) }, [("Cache-Control", "no-store")])
      },
      .reading("GET", "/v1/collections:diff") { call in
        try call.checkQuery(["from", "to", "where", "trash"], repeating: ["sort"])
        guard let start = try call.moment("from") else {
          throw Problem.malformed("'from' is missing; pass a token, the number of an event, or a date.")
        }
        let end = try call.moment("to")
        let library = try call.library()
        // Before the predicate, which takes work to read.
        try Fetches.checkMayRead(library)
        var options = FetchOptions()
        if let format = try call.query("where") { options.condition = try Condition(format: format, for: .collection) }
        options.sort = try call.request.target.query.all("sort").map { try SortTerm($0, for: .collection) }
        options.showsTrash = try call.flag("trash")
        let (from, to) = (try start.view(of: library), try end?.view(of: library) ?? library)
        let details = try library.changeDetails(from: from.fetchCollections(options), to: to.currentToken)
        return .json(try details.difference(limit: differenceLimit) { JSON($0) }, [("Cache-Control", "no-store")])
      },
      .reading("GET", "/v1/checkpoint", .owner) { call in
        try call.checkQuery([])
        let checkpoint = try call.library().checkpoint()
        let fields = [("Cache-Control", "no-store"), ("Vary", "Accept")]
        guard call.request.fields.all("accept").contains(where: { $0.lowercased().hasPrefix("text/plain") }) else {
          return .json(JSON(checkpoint, in: nil), fields)
        }
        return HTTPResponse(
          200, Headers.common + fields + [("Content-Type", "text/plain; charset=utf-8")],
          .bytes(Array(checkpoint.description.utf8)))
      },
      .reading("GET", "/v1/proofs/inclusion", .owner) { call in
        try call.checkQuery(["sequence", "size", "record"])
        guard let sequence = try call.sequence("sequence") else {
          throw Problem.malformed("'sequence' is missing; pass the sequence of the event, from 1.")
        }
        let proof = try call.library().inclusionProof(
          ofSequence: sequence, inFirst: try call.sequence("size"), includingRecord: try call.flag("record"))
        return .json(JSON(proof), [("Cache-Control", "no-store")])
      },
      .reading("GET", "/v1/proofs/consistency", .owner) { call in
        try call.checkQuery(["earlier", "size"])
        guard let earlier = try call.sequence("earlier") else {
          throw Problem.malformed("'earlier' is missing; pass the number of events of the earlier log.")
        }
        return .json(
          JSON(try call.library().consistencyProof(from: earlier, to: try call.sequence("size"))),
          [("Cache-Control", "no-store")])
      },
    ]

    /// Which part of a list is wanted.
    private struct Bounds: Sendable {
      let range: Range<Int>
      /// About how many bytes of records it has at most.
      let byteLimit: Int
    }

    /// A part of a list by index, and whether there are more.
    private struct Part {
      let bounds: Bounds
      var records: [JSON] = []
      private var index = 0
      private var byteCount = 0
      private(set) var isCut = false
      var end: Int { bounds.range.lowerBound + records.count }

      init(_ bounds: Bounds) { self.bounds = bounds }

      init<Element>(_ elements: [Element], _ bounds: Bounds, _ json: (Element) -> JSON) {
        self.init(bounds)
        index = min(bounds.range.lowerBound, elements.count)
        for element in elements.dropFirst(index) where !take(element, json) { return }
      }

      /// Takes the next element, if it belongs to the part.
      /// - Returns: whether another one is wanted.
      mutating func take<Element>(_ element: Element, _ json: (Element) -> JSON) -> Bool {
        defer { index += 1 }
        guard index >= bounds.range.lowerBound else { return true }
        guard index < bounds.range.upperBound, byteCount < bounds.byteLimit else {
          isCut = true
          return false
        }
        let text = json(element).description
        byteCount += text.utf8.count
        records.append(.written(text))
        return true
      }
    }

    /// Answers with a part of a list that is made anew for each request, so lines are made of one list.
    private static func respond(
      _ call: Call, _ read: @escaping @Sendable (PhotoLibrary, Bounds) throws -> Part
    ) async throws -> HTTPResponse {
      let (start, limit) = (try call.count("start") ?? 0, try Records.limit(call))
      guard start <= Int.max - Records.pageLimit else {
        throw Problem.malformed("'start' is \(start); that is too large.")
      }
      let library = try call.library()
      let moment = try call.moment()
      let isLines = Records.wantsLines(call.request)
      let end = isLines && limit == nil ? Int.max : start + (limit ?? Records.pageCount)
      let bounds = Bounds(range: start..<end, byteLimit: isLines ? .max : Records.byteLimit)
      let part = try await offload { try read(try moment?.view(of: library) ?? library, bounds) }
      if isLines { return try Records.lines(part.records, call) }
      return Records.page(part.records, next: part.isCut ? .integer(Int64(part.end)) : .null)
    }
  }
#endif
