#if Gallery
  import PhotoLedger
  import Synchronization

  /// The results that are held for clients: a fetch at a state is made once and answers many windows.
  ///
  /// Results are values, so holding one is only a matter of memory: the cache keeps the latest ones that were asked
  /// for, and what it dropped is fetched again at its token. There is a most number of them and of the bytes of their
  /// keys; the client that holds most loses first, so that one with many long lists pushes out its own.
  final class Fetches: Sendable {
    private struct Name: Hashable {
      let client: ExactText
      let fetch: FetchRequest
      let token: Token
    }

    private struct State {
      var held: [Name: (result: FetchResult<Asset>, byteCount: Int, lastUse: UInt64)] = [:]
      var clock: UInt64 = 0

      /// The results that are too many beside a new one: of the client that holds most, what was not used for longest.
      mutating func dropExcess(over byteLimit: Int, sparing name: Name) -> [FetchResult<Asset>] {
        var sizes: [ExactText: Int] = [:]
        for (other, one) in held where other != name { sizes[other.client, default: 0] += one.byteCount }
        var (total, dropped) = (held.values.reduce(0) { $0 + $1.byteCount }, [FetchResult<Asset>]())
        while held.count > Fetches.limit || total > byteLimit {
          let others = held.filter { $0.key != name }
          let victim = others.min { one, other in
            let (most, more) = (sizes[one.key.client, default: 0], sizes[other.key.client, default: 0])
            return most == more ? one.value.lastUse < other.value.lastUse : most > more
          }
          guard let victim else { break }
          held[victim.key] = nil
          sizes[victim.key.client, default: 0] -= victim.value.byteCount
          total -= victim.value.byteCount
          dropped.append(victim.value.result)
        }
        return dropped
      }
    }

    /// What names ask for. A name says all of it, so what was read of one is good for every client and for ever.
    /// By bytes: another Unicode spelling of a name is not a name, and a text with many marks takes long to normalize.
    private let names = Mutex<[ExactText: FetchRequest]>([:])
    static let nameLimit = 1_024

    /// What a name asks for.
    /// - Throws: ``Problem`` 400 for what is not a name.
    func request(named name: String) throws(Problem) -> FetchRequest {
      if let known = names.withLock({ $0[name.exact] }) { return known }
      let request = try FetchRequest(name: name)
      return names.withLock { names in
        // Feeds that begin at the same time share one as well.
        if let known = names[request.name.exact] { return known }
        if names.count >= Self.nameLimit { names.removeAll(keepingCapacity: true) }
        names[request.name.exact] = request
        return request
      }
    }

    static let limit = 256
    private let byteLimit: Int
    private let state = Mutex(State())

    /// - Parameter byteLimit: how many bytes the keys of all held results may have, as ``byteCount(of:_:)`` estimates.
    init(byteLimit: Int = 1 << 30) { self.byteLimit = byteLimit }

    /// About how many bytes a result takes: a key for each asset, which grows with what it is sorted by, also beyond
    /// its limit. States of one list share most of them, which is not counted.
    static func byteCount(of count: Int, _ fetch: FetchRequest) -> Int {
      count * (fetch.sort.count > 1 ? 48 + 8 * fetch.sort.count : 16)
    }

    /// How many results are held.
    var count: Int { state.withLock { $0.held.count } }

    /// The result of a fetch at a state, if it is held.
    func held(_ fetch: FetchRequest, at token: Token, for client: String) -> FetchResult<Asset>? {
      state.withLock { state in
        state.clock += 1
        let clock = state.clock
        state.held[Name(client: client.exact, fetch: fetch, token: token)]?.lastUse = clock
        return state.held[Name(client: client.exact, fetch: fetch, token: token)]?.result
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
      let name = Name(client: client.exact, fetch: fetch, token: result.token)
      let byteCount = Self.byteCount(of: result.keyCount, fetch)
      // What is dropped is freed after the lock: a long list takes a while.
      _ = state.withLock { state in
        state.clock += 1
        state.held[name] = (result, byteCount, state.clock)
        return state.dropExcess(over: byteLimit, sparing: name)
      }
    }

    /// A result is pinned to its state, a permission is not: what was withdrawn ends what is held.
    static func checkMayRead(_ library: PhotoLibrary) throws {
      guard try library.authorizationStatus(for: .readWrite).isGranted else {
        throw Problem(403, "access-denied", "The client '\(library.client)' has no read access to the library.")
      }
    }
  }
#endif
