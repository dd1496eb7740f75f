#if Gallery
  import HTTPServing
  import JSONReading
  import LibraryAudit
  import LibraryJSON
  import PhotoLedger

  /// A request to undo commits.
  struct UndoRequest: Sendable {
    var selection = UndoSelection()
    var policy = UndoConflictPolicy.refuse
    var cause = "undo"
    /// Whether nothing is to be changed.
    var isPlan = false

    private static let keys = [
      "commit", "from", "to", "cause", "client", "kinds", "since", "until", "objects", "all", "onConflict", "why",
      "plan",
    ]

    /// Reads the body of a request.
    init(_ json: JSON) throws {
      guard let members = json.objectValue else {
        throw Problem.malformed("An undo is described by an object, not \(json.kind).")
      }
      if let stranger = members.first(where: { !Self.keys.contains($0.key) }) {
        throw Problem.malformed(
          "'\(stranger.key.prefix(40))' is not part of an undo; its parts are \(Self.keys.joined(separator: ", ")).")
      }
      func read<Value>(_ key: String, _ value: (JSON) -> Value?, _ what: String) throws -> Value? {
        guard let found = json[key], found != .null else { return nil }
        guard let value = value(found) else { throw Problem.malformed("'\(key)' is \(found.kind); pass \(what).") }
        return value
      }
      selection.commit = try read("commit", \.textValue, "a token").map { try Token($0) }
      selection.after = try read("from", \.textValue, "a token").map { try Token($0) }
      selection.through = try read("to", \.textValue, "a token").map { try Token($0) }
      selection.cause = try read("cause", Self.words, "text that is not empty")
      selection.client = try read("client", \.textValue, "the name of a client")
      selection.kinds = try LogFilter.kinds(try read("kinds", \.textsValue, "a list of kinds of events") ?? [])
      selection.since = try read("since", \.instantValue, "an instant such as 2024-05-31T18:30:00Z")
      selection.until = try read("until", \.instantValue, "an instant such as 2024-05-31T18:30:00Z")
      selection.objects = try (read("objects", \.textsValue, "a list of identifiers") ?? []).map { text in
        guard let identifier = LocalIdentifier(text) else { throw Problem.notFound }
        return identifier
      }
      policy =
        try read("onConflict", { $0.textValue.flatMap { UndoConflictPolicy(rawValue: $0) } }, Self.policies)
        ?? .refuse
      cause = try read("why", Self.words, "text that is not empty") ?? "undo"
      isPlan = try read("plan", \.boolValue, "true or false") ?? false
      try check(isEverything: try read("all", \.boolValue, "true or false") ?? false)
    }

    private static let policies = "refuse, skip or force"

    /// A text with something in it: an empty cause stands for none, which chooses no commit.
    private static func words(_ json: JSON) -> String? {
      guard let text = json.textValue, !text.isEmpty else { return nil }
      return text
    }

    private func check(isEverything: Bool) throws {
      if selection.commit != nil, selection.after != nil || selection.through != nil {
        throw Problem.malformed("An undo takes either 'commit', or 'from' and 'to'.")
      }
      guard isEverything || selection != UndoSelection() else {
        throw Problem.malformed(
          "An undo needs 'commit', 'from', 'to', 'cause', 'client', 'kinds', 'since', 'until' or 'objects'; or 'all' "
            + "for everything.")
      }
      guard !isEverything || selection == UndoSelection() else {
        throw Problem.malformed("'all' selects everything; omit it to select a part.")
      }
    }
  }

  enum UndoRoutes {
    static let all: [Route] = [
      Route("POST", "/v1/undo") { _, call in
        try call.checkJSON()
        try call.checkQuery([])
        // A plan, and an undo that finds nothing but conflicts, says what objects had and have, and changes nothing.
        try call.checkMayRead("An undo")
        let key = try call.idempotencyKey()
        let library = try call.library()
        return .gather(limit: 1 << 16) { request in
          do {
            return try await offload {
              let undo = try UndoRequest(try JSONReader.read(request.body))
              // A refusal after the undo would look as if nothing had happened.
              let place = try Records.wantsLines(call.request) ? call.contentPlace() : nil
              let report =
                try undo.isPlan
                ? library.planUndo(undo.selection, onConflict: undo.policy)
                : library.undoAndWait(undo.selection, onConflict: undo.policy, cause: undo.cause, key: key) {
                  try checkMayUndo($0, call)
                }
              if undo.isPlan { try checkMayUndo(report, call) }
              return try answer(UndoLines(report, isDryRun: undo.isPlan), call, place)
            }
          } catch { return Problem(error).response }
        }
      }
    ]

    /// Permissions and selections of clients are the owner's, whichever route changes them.
    private static func checkMayUndo(_ report: UndoReport, _ call: Call) throws(Problem) {
      guard report.changes.contains(where: { $0.kind == .permission }) else { return }
      try call.checkMayAdminister("Undoing a change of what a client may see and do")
    }

    /// All lines, or the first ones and the summary in one document.
    private static func answer(_ lines: UndoLines, _ call: Call, _ place: KeyPlace?) throws(Problem) -> HTTPResponse {
      if let place { return try Records.lines(lines, call, in: place) }
      let records = lines.dropLast().prefix(Records.pageLimit)
      return .json(
        [
          "records": .list(Array(records)), "isComplete": .bool(records.count == lines.count - 1),
          "summary": lines.summary,
        ], Records.vary)
    }
  }
#endif
