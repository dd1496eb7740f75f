#if Gallery
  import PhotoLedger
  import Synchronization

  /// The results that are held for clients: a fetch at a state is made once and answers many windows.
  ///
  /// Results are values, so holding one is only a matter of memory: the cache keeps the latest ones that were asked
  /// for, and what it dropped is fetched again at its token.
  final class Fetches: Sendable {
    private struct Name: Hashable {
      let client: String
      let fetch: FetchRequest
      let token: Token
    }

    private struct State {
      var held: [Name: (result: FetchResult<Asset>, lastUse: UInt64)] = [:]
      var clock: UInt64 = 0
    }

    /// What names ask for. A name says all of it, so what was read of one is good for every client and for ever.
    private let names = Mutex<[String: FetchRequest]>([:])
    static let nameLimit = 1_024

    /// What a name asks for.
    /// - Throws: ``Problem`` 400 for what is no name.
    func request(named name: String) throws(Problem) -> FetchRequest {
      if let known = names.withLock({ $0[name] }) { return known }
      let request = try FetchRequest(name: name)
      names.withLock { names in
        if names.count >= Self.nameLimit { names.removeAll(keepingCapacity: true) }
        names[name] = request
      }
      return request
    }

    static let limit = 256
    private let state = Mutex(State())

    /// How many results are held.
    var count: Int { state.withLock { $0.held.count } }

    /// The result of a fetch at a state, if it is held.
    func held(_ fetch: FetchRequest, at token: Token, for client: String) -> FetchResult<Asset>? {
      state.withLock { state in
        state.clock += 1
        let clock = state.clock
        state.held[Name(client: client, fetch: fetch, token: token)]?.lastUse = clock
        return state.held[Name(client: client, fetch: fetch, token: token)]?.result
      }
    }

    /// The result of a fetch at a state, or now.
    /// - Throws: ``Problem``, and what the library throws for a fetch or token that it does not accept.
    func result(_ fetch: FetchRequest, at token: Token?, of library: PhotoLibrary) throws -> FetchResult<Asset> {
      if let token, let held = held(fetch, at: token, for: library.client) {
        try Self.checkMayRead(library)
        return held
      }
      let result = try fetch.run(in: token.map { try library.at($0) } ?? library, orAlbumsOf: library)
      hold(result, of: fetch, for: library.client)
      return result
    }

    /// Keeps a result at its token.
    func hold(_ result: FetchResult<Asset>, of fetch: FetchRequest, for client: String) {
      state.withLock { state in
        state.clock += 1
        state.held[Name(client: client, fetch: fetch, token: result.token)] = (result, state.clock)
        guard state.held.count > Self.limit, let oldest = state.held.min(by: { $0.value.lastUse < $1.value.lastUse })
        else {
          return
        }
        state.held[oldest.key] = nil
      }
    }

    /// A result is pinned to its state, a permission is not: what was withdrawn ends what is held.
    static func checkMayRead(_ library: PhotoLibrary) throws {
      switch try library.authorizationStatus(for: .readWrite) {
      case .authorized, .limited: return
      default:
        throw Problem(403, "access-denied", "The client '\(library.client)' may not read the library, or no longer.")
      }
    }
  }
#endif
