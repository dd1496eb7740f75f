#if Gallery
  import CSystem
  import Foundation
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger
  import Synchronization

  // Keys: what a request shows to act as a client of the library.
  //
  //   one-time link ──────▶ cookie ─┐
  //   name and password ──▶ or      ├─▶ SHA-256 of the secret ──▶ Key: client, scopes, expiry ──▶ library.as(client)
  //   registration ───────▶ bearer ─┘                              ▲
  //   X-Forwarded-User of a trusted proxy ──▶ Person ──────────────┘ (a key that lives for the request)
  //
  // A key names a client and what it may be used for; what the client may see and do is the library's permission of it,
  // recorded in the log. Only the hash of a secret is kept, in `server/keys.json` of the library's folder, which is
  // replaced as a whole; so a copy of the file is of no use for signing in. A secret has 256 random bits, so one fast
  // hash is enough, and looking it up by its hash leaves nothing to time.
  //
  // Invariant: the file holds what memory holds before a secret is handed out; a key that was withdrawn is gone from
  // both before the call returns. A key whose person was removed or has another password is not good (People.swift),
  // nor is one whose share was withdrawn (Shares.swift), whatever the file of the keys says.
  //
  // The visitors of a share are many people and one client of the library, whose earlier states are those that others
  // saw. So a visitor's key has a first state, that of the opening of the link, and earlier ones are not open to it
  // (`Call.checkIsOpen`). A key that an older version kept does not have one and is rejected: the link has to be opened
  // again. So is one whose first state the library does not have, since the file was put beside an earlier backup or a
  // fork: it is taken out of the file when the server starts, as the library may have a state of that number later. One
  // whose number the library has reached by then by other states cannot be distinguished, and stays good.

  /// The keys of a server.
  final class Keyring: Sendable {
    /// A key that a request showed.
    struct Key: Sendable, Equatable {
      /// What names the key in lists and URLs; not secret.
      let name: String
      /// The client of the library.
      let client: String
      /// What it is for, in its owner's words.
      let label: String
      let created: Date
      let expires: Date
      var scopes = Scope.all
      /// The person who signed in, and the epoch at which that was.
      var person: Tie?
      /// The share that was opened, and its epoch.
      var share: Tie?
      /// The state of the library at which the share was opened, the first that is open to the key; nil for all others.
      var start: Token?
      /// Whether it was made for a browser, as a cookie.
      var isBrowser = false
      /// Whether it came in a cookie or through a proxy: a browser then sends it along by itself.
      var isAmbient = false
    }

    /// What a key is tied to: it is good while the record of that name has that epoch.
    struct Tie: Sendable, Equatable {
      let name: String
      let epoch: String
    }

    /// A key that a head showed, and how long that head shows it.
    struct Shown: Sendable {
      let key: Key
      /// How many changes of keys, people and shares there had been before it was looked for.
      fileprivate let changeCount: UInt64
      /// When it ends at the latest.
      fileprivate let end: Date
    }

    /// What a new key is for.
    struct Grant: Sendable {
      var client: String
      var label: String
      var scopes = Scope.usual
      /// After how many seconds it expires; 30 days if left out.
      var seconds: Double?
      var person: Tie?
      var share: Tie?
      /// The first state that is open to the key of a share.
      var start: Token?
      /// Whether it goes to a browser, as a cookie.
      var isBrowser = false
    }

    /// All keys, to be found by either of their names.
    private struct Keys: Equatable {
      /// By the hash of their secret.
      let byHash: [String: Key]
      /// The hash of each key by its name.
      private let hashes: [String: String]

      init(_ byHash: [String: Key]) {
        self.byHash = byHash
        hashes = Dictionary(byHash.map { ($0.value.name, $0.key) }, uniquingKeysWith: { $1 })
      }

      /// The key of a name.
      func named(_ name: String) -> Key? { hashes[name].flatMap { byHash[$0] } }
    }

    static let cookie = "photoledger-key"
    static let sessionSeconds = 30 * 86_400.0
    static let linkSeconds = 900.0
    static let limitOfPerson = 50
    static let limitOfShare = 500

    /// How many keys there may be.
    struct Limits: Sendable {
      var all = 10_000
      /// Those of all share links together: visits leave room for sign-ins.
      var ofShares = 5_000
    }

    /// A one-time link.
    private typealias Link = (client: String, maker: String?, expires: Date)

    private let keys: Kept<Keys>
    private let limits: Limits
    /// One-time links by the hash of their secret.
    private let links = Mutex<[String: Link]>([:])
    private let environment: GalleryEnvironment
    private let people: People
    private let shares: Shares
    private let trustedProxies: Set<String>
    /// Whether `X-API-Key` carries a key as a bearer token does.
    private let readsAPIKeyField: Bool

    /// - Parameter library: the owner's view of the library whose folder has the file.
    /// - Throws: ``GalleryError`` if the file cannot be read; what the library throws.
    init(
      library: PhotoLibrary, environment: GalleryEnvironment, people: People, shares: Shares,
      trustedProxies: Set<String>, readsAPIKeyField: Bool = false, limits: Limits = Limits()
    ) throws {
      self.limits = limits
      (self.environment, self.people, self.shares) = (environment, people, shares)
      (self.trustedProxies, self.readsAPIKeyField) = (trustedProxies, readsAPIKeyField)
      let file = ServerFile(folder: library.store.folder, name: "keys")
      let found = try Dictionary(file.read(Self.key), uniquingKeysWith: { $1 })
      let good = try found.filter { try Keyring.hasFirstState(of: $0.value, library) }
      keys = Kept(Keys(good)) { try file.write(Keyring.rows($0.byHash)) }
      // A library that cannot be written to starts as well: its states do not get more, and the next start looks again.
      if good.count < found.count { try? file.write(Keyring.rows(good)) }
    }

    /// Whether the library has a state of the number of the first one that is open to a key; true for keys without one.
    ///
    /// A library that was restored from an earlier backup has not reached it, and a fork counts the states of limited
    /// clients as its own. The key would open no state there, while the link can be opened again.
    private static func hasFirstState(of key: Key, _ library: PhotoLibrary) throws -> Bool {
      guard let start = key.start else { return true }
      let view = library.as(key.client)
      do {
        return try view.order(of: view.currentToken, to: start) != .orderedAscending
      } catch let error as LibraryError where error.code == .invalidToken {
        return false
      }
    }

    // MARK: Requests

    /// The key that a request shows; nil if it shows none.
    ///
    /// A bearer token counts before what a browser sends by itself, and the proxy before a cookie. Credentials of
    /// another scheme are not a key: a browser sends those that a proxy asked it for along with each request.
    /// - Throws: ``Problem`` 401 for a key that is unknown, withdrawn or expired.
    func key(of request: HTTPRequest) throws(Problem) -> Key? {
      let known = request.knownFields
      if let hash = known.bearer { return try key(hash: hash) }
      if readsAPIKeyField, let hash = known.apiKey { return try key(hash: hash) }
      if let key = try proxied(request) { return key }
      guard let hash = known.cookie else { return nil }
      var key = try key(hash: hash)
      key.isAmbient = true
      return key
    }

    /// How many changes of keys, people and shares there have been.
    var changeCount: UInt64 { keys.changeCount &+ people.changeCount &+ shares.changeCount }

    /// A key that a request showed, for those that have the same head; nil if it depends on more than the head.
    /// - Parameter changeCount: how many changes there had been before the key was looked for.
    func shown(_ key: Key, by request: HTTPRequest, since changeCount: UInt64) -> Shown? {
      // Whether a proxy is trusted depends on where the request came from.
      guard trustedProxies.isEmpty || request.fields["x-forwarded-user"] == nil else { return nil }
      guard let tie = key.share else { return Shown(key: key, changeCount: changeCount, end: key.expires) }
      guard let share = shares.named(tie.name) else { return nil }
      return Shown(key: key, changeCount: changeCount, end: min(key.expires, share.expires ?? key.expires))
    }

    /// Whether a head still shows the key that it showed.
    func isGood(_ shown: Shown) -> Bool { shown.changeCount == changeCount && shown.end > environment.now() }

    private func key(hash: String) throws(Problem) -> Key {
      guard let key = keys.read({ $0.byHash[hash] }), isGood(key) else { throw .signInRequired }
      return key
    }

    /// The key of the person whom a trusted proxy names.
    private func proxied(_ request: HTTPRequest) throws(Problem) -> Key? {
      guard isTrusted(request) else { return nil }
      let names = request.fields.all("x-forwarded-user").filter { !$0.isEmpty }
      guard !names.isEmpty else { return nil }
      guard names.count == 1 else {
        throw Problem(
          403, "access-denied", "The proxy sent \(names.count) values of X-Forwarded-User; configure it to send one.")
      }
      guard let person = people.named(names[0]) else {
        throw Problem(403, "access-denied", "The proxy named a user that has no account; create the account first.")
      }
      let now = environment.now()
      return Key(
        name: "proxy:\(person.epoch):\(person.name)", client: person.client, label: "proxy", created: now,
        expires: now.addingTimeInterval(Self.sessionSeconds), scopes: Self.scopes(of: person.client),
        person: Tie(name: person.name, epoch: person.epoch), isAmbient: true)
    }

    /// Whether a request came from a proxy whose fields may be believed.
    func isTrusted(_ request: HTTPRequest) -> Bool {
      if trustedProxies.isEmpty { return false }
      let peer = request.peer.hasPrefix("::ffff:") ? String(request.peer.dropFirst(7)) : request.peer
      return !peer.isEmpty && trustedProxies.contains(peer)
    }

    /// The address that a request is counted under: the peer's, or what a trusted proxy names last.
    func peer(of request: HTTPRequest) -> String {
      // By bytes: this is asked for a request that was refused for its marks, too.
      guard isTrusted(request), let field = request.fields.all("x-forwarded-for").last,
        let hop = field.utf8.split(separator: UInt8(ascii: ",")).last
      else { return request.peer }
      return String(decoding: Substring(hop).trimmingCharacters(in: .whitespaces).utf8.prefix(64), as: UTF8.self)
    }

    /// Whether a key may still be used.
    private func isGood(_ key: Key) -> Bool {
      guard key.expires > environment.now() else { return false }
      if let tie = key.person, people.named(tie.name)?.epoch != tie.epoch { return false }
      if let tie = key.share, key.start == nil || shares.epoch(of: tie.name) != tie.epoch { return false }
      return true
    }

    /// Whether the key of a name may still be used, and its client.
    func client(ofGoodKey name: String) -> String? {
      if name.hasPrefix("proxy:") {
        let parts = name.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        let person = parts.count == 3 ? people.named(String(parts[2])) : nil
        return person.flatMap { $0.epoch == parts[1] ? $0.client : nil }
      }
      return keys.read { $0.named(name) }.flatMap { isGood($0) ? $0.client : nil }
    }

    /// What a session of a client may be used for.
    static func scopes(of client: String) -> Set<Scope> { client == PhotoLibrary.owner ? Scope.all : Scope.usual }

    // MARK: Keys and links

    /// Makes a key.
    /// - Parameter maker: the key that asks for another one; nil where a password, a link or a share does.
    /// - Returns: the key and its secret, which is not kept.
    /// - Throws: ``GalleryError`` if the file cannot be written, ``Problem`` if there are too many keys, and 401 if the
    ///   maker was withdrawn, also just before.
    func makeKey(_ grant: Grant, by maker: Key? = nil) throws -> (Key, secret: String) {
      try keys.change { keys in
        // Here, as a withdrawal may have been written while this waited for its turn.
        if let maker, client(ofGoodKey: maker.name) != maker.client { throw Problem.signInRequired }
        return try add(grant, to: &keys)
      }
    }

    /// Makes a key from a link, and uses the link up; a link whose key cannot be made stays good.
    /// - Parameter grant: what the key is for, by the client that the link signs in.
    /// - Returns: as ``makeKey(_:by:)``.
    /// - Throws: ``Problem`` 401 for a link that is unknown, used or too old, or whose maker's key was withdrawn; what
    ///   ``makeKey(_:by:)`` throws.
    func redeem(_ secret: String, for grant: (_ client: String) -> Grant) throws -> (Key, secret: String) {
      let hash = Self.hash(secret)
      var taken: Link?
      do {
        return try keys.change { keys in
          let link = try take(hash)
          taken = link
          return try add(grant(link.client), to: &keys)
        }
      } catch {
        if let taken { links.withLock { $0[hash] = taken } }
        throw error
      }
    }

    /// Adds a new key to those that are good.
    private func add(_ grant: Grant, to keys: inout Keys) throws(Problem) -> (Key, secret: String) {
      let secret = Self.spelled(environment.randomBytes(32))
      let now = environment.now()
      let key = Key(
        name: Self.spelled(environment.randomBytes(9)), client: grant.client, label: grant.label, created: now,
        expires: now.addingTimeInterval(grant.seconds ?? Self.sessionSeconds), scopes: grant.scopes,
        person: grant.person, share: grant.share, start: grant.start, isBrowser: grant.isBrowser)
      var next = keys.byHash.filter { isGood($0.value) }
      func drop(beyond limit: Int, where isOwn: (Key) -> Bool) {
        let own = next.filter { isOwn($0.value) }
        guard own.count >= limit, let oldest = own.min(by: { $0.value.created < $1.value.created }) else { return }
        next[oldest.key] = nil
      }
      // Repeated sign-ins replace the person's own sessions, not those of others, and visits replace visits.
      if let tie = grant.person { drop(beyond: Self.limitOfPerson) { $0.person == tie } }
      if let tie = grant.share {
        drop(beyond: Self.limitOfShare) { $0.share == tie }
        drop(beyond: limits.ofShares) { $0.share != nil }
      }
      guard next.count < limits.all else {
        throw Problem(400, "limit-exceeded", "There are \(next.count) keys; withdraw some first.")
      }
      next[Self.hash(secret)] = key
      keys = Keys(next)
      return (key, secret)
    }

    /// All keys that are good now, the oldest first.
    func list() -> [Key] {
      keys.current.byHash.values.filter(isGood).sorted { ($0.created, $0.name) < ($1.created, $1.name) }
    }

    /// Withdraws the keys that a condition names.
    /// - Returns: the names of the withdrawn.
    func withdraw(where isWithdrawn: (Key) -> Bool) throws -> [String] {
      try keys.change { keys in
        let names = keys.byHash.values.filter(isWithdrawn).map(\.name)
        if !names.isEmpty { keys = Keys(keys.byHash.filter { !isWithdrawn($0.value) }) }
        return names
      }
    }

    /// Makes a link that signs its first visitor in.
    /// - Parameter maker: the name of the key that made it, with which it ends; nil for one that the server prints.
    func makeLink(for client: String, by maker: String? = nil) -> String {
      let secret = Self.spelled(environment.randomBytes(32))
      let now = environment.now()
      links.withLock { links in
        links = links.filter { $0.value.expires > now }
        links[Self.hash(secret)] = (client, maker, now.addingTimeInterval(Self.linkSeconds))
      }
      return secret
    }

    /// Takes a link by its hash.
    /// - Throws: ``Problem`` 401 for a link that is unknown, used or too old, or whose maker's key was withdrawn.
    private func take(_ hash: String) throws(Problem) -> Link {
      let link = links.withLock { $0.removeValue(forKey: hash) }
      guard let link, link.expires > environment.now(),
        link.maker.map({ client(ofGoodKey: $0) == link.client }) ?? true
      else {
        throw Problem(
          401, "sign-in-required",
          "This sign-in link was already used or is no longer valid; create another one with an owner's key, or send "
            + "SIGUSR1 to the server.")
      }
      return link
    }

    // MARK: The file

    private static func rows(_ keys: [String: Key]) -> [JSON] {
      keys.sorted { $0.key < $1.key }.map { hash, key -> JSON in
        func tie(_ tie: Tie?) -> JSON { tie.map { ["name": .text($0.name), "epoch": .text($0.epoch)] } ?? .null }
        return [
          "hash": .text(hash), "name": .text(key.name), "client": .text(key.client), "label": .text(key.label),
          "created": .text(DateText.instant(key.created)), "expires": .text(DateText.instant(key.expires)),
          "scopes": .list(key.scopes.sorted().map { .text($0.rawValue) }), "person": tie(key.person),
          "share": tie(key.share), "start": JSON(key.start?.description), "isBrowser": .bool(key.isBrowser),
        ]
      }
    }

    private static func key(_ row: JSON) throws -> (String, Key) {
      func tie(_ json: JSON?) throws -> Tie? {
        guard let json, json != .null else { return nil }
        guard let name = json["name"]?.textValue, let epoch = json["epoch"]?.textValue else {
          throw GalleryError("a key in it is incomplete")
        }
        return Tie(name: name, epoch: epoch)
      }
      guard let hash = row["hash"]?.textValue, let name = row["name"]?.textValue,
        let client = row["client"]?.textValue, let label = row["label"]?.textValue,
        let created = row["created"]?.instantValue, let expires = row["expires"]?.instantValue,
        let scopes = row["scopes"]?.textsValue, (1...256).contains(client.utf8.count), !client.utf8.contains(0)
      else { throw GalleryError("a key in it is incomplete") }
      let key = Key(
        name: name, client: client, label: label, created: created, expires: expires,
        scopes: Set(scopes.compactMap(Scope.init(rawValue:))), person: try tie(row["person"]),
        share: try tie(row["share"]), start: try row["start"]?.textValue.map { try Token($0) },
        isBrowser: row["isBrowser"]?.boolValue ?? false)
      return (hash, key)
    }

    static func hash(_ secret: String) -> String { hash(secret.utf8) }

    /// The SHA-256 of bytes, in hexadecimal digits.
    static func hash(_ bytes: some Collection<UInt8>) -> String {
      bytes.withContiguousStorageIfAvailable { hash(UnsafeRawBufferPointer($0)) } ?? hash(Array(bytes))
    }

    /// The SHA-256 of bytes, in hexadecimal digits.
    static func hash(_ bytes: [UInt8]) -> String { bytes.withUnsafeBytes { hash($0) } }

    static func hash(_ bytes: UnsafeRawBufferPointer) -> String {
      withUnsafeTemporaryAllocation(byteCount: 32, alignment: 8) { digest in
        guard let start = digest.baseAddress else { return "" }
        psys_sha256_digest(bytes.baseAddress, bytes.count, start.assumingMemoryBound(to: UInt8.self))
        return UnsafeRawBufferPointer(digest).hexadecimal
      }
    }

    /// Bytes in letters that need no escape anywhere (RFC 4648, base64url without padding).
    static func spelled(_ bytes: [UInt8]) -> String {
      Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
  }
#endif
