#if Gallery
  import Foundation
  import HTTPServing
  import JSONReading
  import LibraryAudit
  import LibraryJSON
  import PhotoLedger

  // The log and the history over HTTP, page by page.
  //
  //   /v1/log       every event, as `log --json` prints it: for clients with full access
  //   /v1/history   what each commit inserted, updated and deleted, as the client of the key saw it: for every reader
  //
  // A page of the log goes on after an event, which may lie within a commit. What the client may read is judged by the
  // state of now, or of `at`, and not by that of the event: its access may be younger.

  /// Which events of the log a request wants.
  struct LogQuery: Sendable {
    var filter = LogFilter()
    var moment: NamedState?
    var isNewestFirst = false

    static let names = [
      "at", "after", "asset", "album", "client", "cause", "from", "to", "reverse", "limit", "cursor",
    ]

    init(_ call: Call) throws {
      filter = try call.logFilter()
      filter.after = try call.query("after").map { try call.token($0) }
      filter.objects = try ["asset", "album"].compactMap { try call.query($0) }.map { text in
        guard let identifier = LocalIdentifier(text) else { throw Problem.notFound }
        return identifier
      }
      moment = try call.moment()
      isNewestFirst = try call.flag("reverse")
    }

    /// Reads a page.
    /// - Parameter cursor: the event after which the page begins, in the order of reading; nil: the first page.
    func page(of library: PhotoLibrary, from cursor: UInt64?, limit: Int) throws -> Records.Page<UInt64> {
      var filter = filter
      filter.beyond = cursor
      let view = try moment?.view(of: library) ?? library
      var page = Records.Page<UInt64>(records: [])
      var (last, byteCount) = (UInt64(0), 0)
      try view.forEachLogEntry(filter, newestFirst: isNewestFirst, limit: limit + 1) { entry in
        // One more than is given says whether there are more.
        guard page.records.count < limit, byteCount < Records.byteLimit else {
          page.next = last
          return false
        }
        let text = JSON(entry).description
        page.records.append(.written(text))
        (last, byteCount) = (entry.sequence, byteCount + text.utf8.count)
        return true
      }
      return page
    }
  }

  enum LogRoutes {
    static let all: [Route] = [
      .answering("GET", "/v1/log") { call in
        try call.checkQuery(LogQuery.names, repeating: ["kind"])
        let query = try LogQuery(call)
        let library = try call.library()
        let cursor = try call.sequence("cursor")
        return try await Records.respond(call, from: cursor, spell: { .integer(Int64(clamping: $0)) }) { start, limit in
          try query.page(of: library, from: start, limit: limit)
        }
      },
      .answering("GET", "/v1/history") { call in
        try call.checkQuery(["since", "at", "limit", "reverse", "cursor"])
        let library = try call.library()
        let moment = try call.moment()
        let since = try call.query("since").map { try call.token($0) }
        let cursor = try call.query("cursor").map { try call.token($0) }
        if try call.flag("reverse") {
          return try await Records.respond(call, from: cursor, spell: { .text($0.description) }) { last, limit in
            let view = try moment?.view(of: library) ?? library
            return try page(of: limit, from: last, library) { last, count in
              try view.latestPersistentChanges(through: last, since: since ?? call.firstToken(in: view), limit: count)
            }
          }
        }
        guard cursor == nil else {
          throw Problem.malformed("'cursor' continues a history in reverse; pass 'since' for a history in order.")
        }
        return try await Records.respond(call, from: since, spell: { .text($0.description) }) { start, limit in
          let view = try moment?.view(of: library) ?? library
          let first = try start ?? call.firstToken(in: view) ?? view.earliestToken
          return try page(of: limit, from: first, library) { start, count in
            let changes = try view.fetchPersistentChanges(since: start ?? first, limit: count)
            return (changes, changes.count == count ? changes.last?.changeToken : nil)
          }
        }
      },
    ]

    /// How many commits of the history are read first: each names all objects that it concerned, which may be many. As
    /// many are read next as fit by what those had, since each reading has costs of its own.
    private static let commitsAtFirst = 20

    /// Reads a page of the history: so many commits, or fewer that have about as many bytes as a page may.
    /// - Parameters:
    ///   - library: the view of the client that reads it.
    ///   - read: reads commits from a position, at most so many, and where the next ones begin.
    private static func page(
      of limit: Int, from start: Token?, _ library: PhotoLibrary,
      _ read: (Token?, Int) throws -> (changes: [PersistentChange], next: Token?)
    ) throws -> Records.Page<Token> {
      var page = Records.Page(records: [], next: start)
      var (byteCount, atATime) = (0, commitsAtFirst)
      repeat {
        let position = page.next
        let (changes, next) = try read(position, min(atATime, limit - page.records.count))
        for (index, change) in changes.enumerated() {
          guard byteCount < Records.byteLimit else {
            // Where a reading of those that are given would end; one that began with the newest commit begins with the
            // same again.
            if index > 0 { page.next = try read(position ?? changes[0].changeToken, index).next }
            return page
          }
          let text = try JSON(library.isOfVisitors ? change.withoutOrigin : change).description
          page.records.append(.written(text))
          byteCount += text.utf8.count
        }
        page.next = next
        let average = max(1, byteCount / max(1, page.records.count))
        atATime = max(commitsAtFirst, (Records.byteLimit - byteCount) / average)
      } while page.next != nil && page.records.count < limit && byteCount < Records.byteLimit
      return page
    }
  }

  extension Call {
    /// The state that `at` names; nil: now.
    func moment(_ name: String = "at") throws -> NamedState? {
      guard let text = try query(name), text != "now" else { return nil }
      guard let choice = try MomentChoice(text) else {
        throw Problem.malformed(
          "'\(name)' is '\(text.prefix(80))'; pass a token, the number of an event, or a date such as 2024-05-31 or "
            + "2024-05-31T18:30:00Z.")
      }
      return NamedState(choice: choice, call: self)
    }

    /// The state that a token names.
    /// - Throws: ``Problem`` 410 for one that is not open to the key; what the library throws for text that is not a
    ///   token.
    func token(_ text: String) throws -> Token {
      let token = try Token(text)
      try checkIsOpen(token)
      return token
    }

    /// Whether a state is from before the opening of the share link that the key was made for.
    func isBeforeOpening(_ token: Token) throws -> Bool {
      guard let start = key?.start else { return false }
      return try library().order(of: token, to: start) == .orderedAscending
    }

    /// - Throws: ``Problem`` 410 for a state from before the opening of the share link that the key was made for.
    func checkIsOpen(_ token: Token) throws {
      guard try isBeforeOpening(token) else { return }
      throw Problem(
        410, "token-expired",
        "The state of \(token) is from before this link was opened with the key; read the fetch again.")
    }

    /// Where the history begins that is open to the key; nil if that is all of it.
    /// - Parameter view: the library as the client of the key sees it, of now or of a moment.
    func firstToken(in view: PhotoLibrary) throws -> Token? {
      guard let start = key?.start else { return nil }
      let earliest = try view.earliestToken
      return try isBeforeOpening(earliest) ? start : earliest
    }

    /// Whether a flag of the query is set.
    func flag(_ name: String) throws(Problem) -> Bool {
      switch try query(name) {
      case nil, "false": return false
      case "true", "": return true
      case let text?: throw .malformed("'\(name)' is '\(text.prefix(40))'; pass true or false.")
      }
    }

    /// The place of an event in the log, from 1.
    func sequence(_ name: String) throws(Problem) -> UInt64? {
      guard let text = try query(name) else { return nil }
      guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt64(text), number > 0 else {
        throw .malformed("'\(name)' is '\(text.prefix(40))'; pass a whole number above 0.")
      }
      return number
    }

    /// The conditions on client, cause, kind and time.
    func logFilter() throws -> LogFilter {
      var filter = LogFilter()
      filter.client = try query("client")
      filter.cause = try query("cause")
      if filter.cause == "" { throw Problem.malformed("'cause' is empty; pass the cause of commits, or leave it out.") }
      filter.kinds = try LogFilter.kinds(request.target.query.all("kind"))
      filter.from = try instant("from")
      filter.to = try instant("to")
      return filter
    }

    private func instant(_ name: String) throws(Problem) -> Date? {
      guard let text = try query(name) else { return nil }
      guard let date = WrittenDate(text)?.date else {
        throw .malformed("'\(name)' is '\(text.prefix(40))'; pass an instant such as 2024-05-31T18:30:00Z.")
      }
      return date
    }

    /// Checks that the query has no other names; some may stand there several times.
    func checkQuery(_ names: [String], repeating: [String]) throws(Problem) {
      try checkQuery(names + repeating)
      for name in repeating where request.target.query.all(name).count > 32 {
        throw .malformed("The query has '\(name)' more than 32 times.")
      }
    }
  }

  /// A state that a request names, as far as it is open to the key.
  struct NamedState: Sendable {
    let choice: MomentChoice
    let call: Call

    /// The library as it was there.
    /// - Throws: ``Problem`` 410 for a state that is not open to the key; what the library throws.
    func view(of library: PhotoLibrary) throws -> PhotoLibrary {
      let view = try choice.view(of: library)
      if call.key?.start != nil { try call.checkIsOpen(view.currentToken) }
      return view
    }
  }

  extension LogFilter {
    /// Kinds of events as a request names them.
    static func kinds(_ names: [String]) throws(Problem) -> Set<String> {
      if let unknown = names.first(where: { !isKnown(kind: $0) }) {
        throw .malformed(
          "There is no kind of event '\(unknown.prefix(40))'; pass \(LogFilter.kindForm).")
      }
      return Set(names)
    }
  }
#endif
