#if Gallery
  import HTTPServing
  import PhotoLedger

  /// A position in a feed: which fetches, and the state of each that was delivered last.
  struct FeedCursor: Sendable {
    var tokens: [(fetch: FetchRequest, token: Token?)]
    static let limit = 32
    /// The most bytes of a cursor: it comes back in a field of a request, whose head has 16 KiB with all fields.
    static let byteLimit = 6 << 10
    /// The most bytes of a token, with what divides it from others.
    private static let tokenBytes = 64

    init(_ tokens: [(fetch: FetchRequest, token: Token?)]) { self.tokens = tokens }

    /// Reads the spelling of a cursor.
    /// - Parameter fetches: has the requests that were read lately, which cursors then share.
    init(_ text: String, _ fetches: Fetches? = nil) throws(Problem) {
      tokens = []
      for part in text.split(separator: ",", omittingEmptySubsequences: false) {
        let words = part.split(separator: ".", omittingEmptySubsequences: false)
        guard words.count == 2, tokens.count < Self.limit else {
          throw .malformed("'\(text.prefix(40))…' is not a cursor.")
        }
        let token: Token?
        do { token = words[1].isEmpty ? nil : try Token(words[1]) } catch { throw Problem(error) }
        let name = String(words[0])
        let fetch: FetchRequest
        if let fetches { fetch = try fetches.request(named: name) } else { fetch = try FetchRequest(name: name) }
        tokens.append((fetch, token))
      }
      guard Set(tokens.map(\.fetch)).count == tokens.count else {
        throw .malformed("'\(text.prefix(40))…' is not a cursor: it has a fetch twice.")
      }
    }

    /// Each fetch with its token; one whose state was not delivered yet has nothing behind the dot, and begins with its
    /// state wherever the cursor is followed.
    var spelled: String {
      tokens.map { "\($0.fetch.name).\($0.token.map(\.description) ?? "")" }.joined(separator: ",")
    }

    /// - Throws: ``Problem`` 400 for more fetches, or longer ones, than a request can bring back.
    func check() throws(Problem) {
      let byteCount = tokens.reduce(0) { $0 + $1.fetch.name.utf8.count + Self.tokenBytes }
      guard tokens.count <= Self.limit, byteCount <= Self.byteLimit else {
        throw Problem(
          400, "limit-exceeded",
          "A feed or a poll has at most \(Self.limit) fetches, with \(Self.byteLimit) bytes of names; use several.")
      }
    }

    mutating func set(_ token: Token, of fetch: FetchRequest) {
      for index in tokens.indices where tokens[index].fetch == fetch { tokens[index].token = token }
    }

    mutating func remove(_ fetch: FetchRequest) { tokens.removeAll { $0.fetch == fetch } }
  }
#endif
