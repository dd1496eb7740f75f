#if Gallery
  import Foundation
  import Synchronization

  /// Token buckets by name: each name may do so much at once, and gets it back at a rate.
  ///
  /// A bucket that is full again is forgotten, so the table holds only recently active names; when it is full all the
  /// same, every new name shares one bucket. A long name is remembered by its hash: one character alone may have any
  /// number of bytes. So memory is bounded whatever names are sent.
  final class Throttle: Sendable {
    private struct Bucket {
      var tokens: Double
      var date: Date
    }

    /// How much a bucket holds, and how much it gets back in a second.
    struct Rate: Sendable {
      var burst: Double
      var perSecond: Double
    }

    static let limit = 10_000
    /// The most bytes of a name that is remembered as it is.
    static let nameLimit = 64
    private let buckets = Mutex<(buckets: [String: Bucket], swept: Date)>(([:], .distantPast))
    private let now: @Sendable () -> Date
    let rate: Rate

    init(_ rate: Rate, now: @escaping @Sendable () -> Date) { (self.rate, self.now) = (rate, now) }

    /// Takes a token of a name.
    /// - Returns: nil if there was one, else how many seconds pass until there is one, at least 1.
    func take(_ name: String) -> Int? {
      let (date, name) = (now(), Self.bounded(name))
      return buckets.withLock { state in
        // Going through a full table is worth it once a second, whatever comes in.
        if state.buckets.count >= Self.limit, abs(date.timeIntervalSince(state.swept)) >= 1 {
          let buckets = state.buckets.mapValues { Bucket(tokens: $0.tokens, date: min($0.date, date)) }
          state.buckets = buckets.filter { filled($0.value, date) < rate.burst }
          state.swept = date
        }
        let name = state.buckets.count >= Self.limit && state.buckets[name] == nil ? "" : name
        // A clock that was set back: the bucket gets its tokens from now on, not from when the old time comes again.
        if let bucket = state.buckets[name], bucket.date > date { state.buckets[name]?.date = date }
        let tokens = state.buckets[name].map { filled($0, date) } ?? rate.burst
        guard tokens >= 1 else { return max(1, Int(((1 - tokens) / rate.perSecond).rounded(.up))) }
        state.buckets[name] = Bucket(tokens: tokens - 1, date: date)
        return nil
      }
    }

    /// How many names are remembered.
    var count: Int { buckets.withLock { $0.buckets.count } }
    /// How many bytes these names have.
    var byteCount: Int { buckets.withLock { $0.buckets.keys.reduce(0) { $0 + $1.utf8.count } } }

    /// Gives a token back, after what it was taken for turned out well. Others that were taken, as by a stranger who
    /// guesses beside somebody who signs in often, come back at the rate alone.
    func giveBack(_ name: String) {
      let name = Self.bounded(name)
      buckets.withLock { state in
        guard var bucket = state.buckets[name] else { return }
        bucket.tokens += 1
        state.buckets[name] = bucket.tokens < rate.burst ? bucket : nil
      }
    }

    /// What a name is remembered by: its composed spelling, or the hash of that if it is long. Spellings of the same
    /// text, which are one person's name, have one bucket whatever their lengths are.
    private static func bounded(_ name: String) -> String {
      if name.utf8.count <= nameLimit, name.utf8.allSatisfy({ $0 < 0x80 }) { return name }
      let composed = name.precomposedStringWithCanonicalMapping
      return composed.utf8.count > nameLimit ? "sha256 \(Keyring.hash(composed))" : composed
    }

    /// The name under which a peer is counted: an IPv6 site has as many addresses as it likes, so its /64 counts.
    static func name(ofPeer peer: String) -> String {
      var address = in6_addr()
      guard peer.contains(":"), inet_pton(AF_INET6, String(peer.prefix { $0 != "%" }), &address) == 1 else {
        return peer
      }
      return withUnsafeBytes(of: &address) { bytes in
        // An IPv4 address in IPv6 form is one host.
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        return bytes.prefix(isMapped ? 16 : 8).map { String($0, radix: 16) }.joined(separator: ".")
      }
    }

    private func filled(_ bucket: Bucket, _ date: Date) -> Double {
      min(rate.burst, bucket.tokens + max(0, date.timeIntervalSince(bucket.date)) * rate.perSecond)
    }
  }

  extension Throttle {
    /// Takes a token of a name.
    /// - Throws: ``Problem`` 429 with `Retry-After`.
    func charge(_ name: String) throws(Problem) {
      if let seconds = take(name) {
        throw .tooMany("Too many requests at once; retry in \(seconds) s.", seconds: seconds)
      }
    }
  }

  extension Problem {
    /// - Parameter seconds: when the request may be made again, in seconds from now.
    static func tooMany(_ detail: String, seconds: Int) -> Problem {
      var problem = Problem(429, "too-many-requests", detail)
      problem.fields = [("Retry-After", String(seconds))]
      return problem
    }
  }

  /// What requests are charged with.
  struct Throttles: Sendable {
    /// Requests of a key that does not administer the library.
    let keys: Throttle
    /// Requests of the keys of a share link together, by link: each opening makes a key.
    let shares: Throttle
    /// Requests without a good key, by peer; the files of the page are not counted.
    let peers: Throttle
    /// Attempts to sign in, by peer: whatever name is tried.
    let signInsOfPeers: Throttle
    /// Attempts to sign in, by name or share link: wherever they come from.
    let signInsOfNames: Throttle
    /// Openings of share links, by peer: each is an event in the log.
    let visits: Throttle
    /// Registrations of apps, by peer.
    let registrations: Throttle
    /// Operations about clients in blocks of a client that may neither read nor add, by client: its own registration
    /// is all that it can change, and each change is an event in the log.
    let descriptions: Throttle

    init(_ limits: GalleryLimits, now: @escaping @Sendable () -> Date) {
      keys = Throttle(.init(burst: limits.keyBurst, perSecond: limits.keyPerSecond), now: now)
      shares = Throttle(.init(burst: limits.shareBurst, perSecond: limits.sharePerSecond), now: now)
      peers = Throttle(.init(burst: limits.peerBurst, perSecond: limits.peerPerSecond), now: now)
      signInsOfPeers = Throttle(.init(burst: 20, perSecond: 0.2), now: now)
      signInsOfNames = Throttle(.init(burst: 10, perSecond: 0.1), now: now)
      visits = Throttle(.init(burst: 200, perSecond: 0.2), now: now)
      registrations = Throttle(.init(burst: 5, perSecond: 1.0 / 600), now: now)
      descriptions = Throttle(.init(burst: 5, perSecond: 1.0 / 600), now: now)
    }
  }

  /// How much clients may ask for.
  ///
  /// A key with the owner's scope is not limited: it could stop the server anyway.
  public struct GalleryLimits: Sendable {
    /// How many requests a key may make at once.
    public var keyBurst = 5_000.0
    /// How many more it may make each second.
    public var keyPerSecond = 500.0
    /// How many feeds a key may have open at once, and how many of its polls of changes may wait; each holds a
    /// connection and its fetches.
    public var feedsOfKey = 64
    /// How many requests all keys of a share link may make at once in total: each opening of a link makes a key.
    public var shareBurst = 10_000.0
    /// How many more they may make each second.
    public var sharePerSecond = 1_000.0
    /// How many feeds the keys of a share link may have open at once, and how many of their polls of changes may wait.
    public var feedsOfShare = 512
    /// About how many bytes the lists may take that the feeds and waiting polls of a key follow, 16 or more for each
    /// asset of each list. Lists that share their memory count once, as those of equal fetches do. With the earlier
    /// states from which clients resume they may take twice that.
    public var followedBytesOfKey = 256 << 20
    /// About how many bytes such lists of all keys of a client may take, as of the visitors of a share link.
    public var followedBytesOfClient = 512 << 20
    /// About how many bytes such lists may take in all before keys other than the owner's can follow no more.
    public var followedBytes = 2 << 30
    /// How many requests an address without a key may make at once; the files of the page are not counted.
    public var peerBurst = 500.0
    /// How many more it may make each second.
    public var peerPerSecond = 50.0

    /// Limits for a household.
    public init() {}

    /// How many feeds may be open for a key, and how many polls may wait.
    func feeds(of key: Keyring.Key) -> Int { key.scopes.contains(.owner) ? .max : feedsOfKey }
  }

  /// Who is let in, beside those with keys.
  public struct GalleryAccess: Sendable {
    /// The numeric addresses of proxies that are trusted; none unless given.
    ///
    /// Of their requests `X-Forwarded-For` gives the address by which limits count, `X-Forwarded-Proto: https` makes
    /// cookies `Secure`, and `X-Forwarded-User` names the person. The fields of other requests are ignored.
    public var trustedProxies: Set<String> = []
    /// Whether an app may register itself without a key; it sees nothing until the owner answers it.
    public var allowsRegistration = true
    /// Whether uploaders that were written for Immich are answered, under `/api`; not unless asked for.
    public var allowsImmichClients = false
    /// How much clients may ask for.
    public var limits = GalleryLimits()
    /// How long a feed can go on after its key has expired, in seconds; what is withdrawn ends at once.
    public var sweepSeconds = 5.0

    /// Apps may register; no proxy is trusted.
    public init() {}
  }
#endif
