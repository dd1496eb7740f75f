#if Gallery
  import CSystem
  import Foundation
  import HTTPServing
  import LibraryJSON
  import PhotoLedger
  import Synchronization

  // Keys: what a request shows to act as a client of the library.
  //
  //   one-time link ──▶ cookie ─┐
  //                             ├─▶ SHA-256 of the secret ──▶ Key: client, expiry ──▶ library.as(client)
  //   bearer token ─────────────┘
  //
  // A key names a client and nothing more: what it may see and do is the library's permission of that client, recorded
  // in
  // the log. Only the hash of a secret is kept, in `server/keys.json` of the library's folder, which is replaced as a
  // whole; so a copy of the file signs nobody in. A secret has 256 random bits, which is why one fast hash is enough,
  // and
  // looking it up by its hash leaves nothing to time.
  //
  // Invariant: the file holds what memory holds before a secret is handed out; a key that was withdrawn is gone from
  // both
  // before the call returns, and its feeds are ended.

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
      /// Whether it came in a cookie, which browsers send along by themselves.
      var isFromCookie = false
    }

    private struct State {
      var keys: [String: Key] = [:]
      /// One-time links by the hash of their secret.
      var links: [String: (client: String, expires: Date)] = [:]
    }

    static let cookie = "photoledger-key"
    private static let sessionSeconds = 30 * 86_400.0
    private static let linkSeconds = 900.0
    private static let keyLimit = 10_000

    /// Guarded by its lock, which is held while the file is written.
    private let state: Mutex<State>
    private let file: URL
    private let environment: GalleryEnvironment

    init(file: URL, environment: GalleryEnvironment) throws {
      (self.file, self.environment) = (file, environment)
      var keys: [String: Key] = [:]
      if FileManager.default.fileExists(atPath: file.path) {
        do {
          for (hash, key) in try Self.read(Array(try Data(contentsOf: file))) { keys[hash] = key }
        } catch {
          throw GalleryError(
            description: "The keys in \(file.path) cannot be read: \(error). Restore the file, or remove it to sign "
              + "everybody out.")
        }
      }
      state = Mutex(State(keys: keys))
    }

    // MARK: Requests

    /// The key that a request shows; nil if it shows none.
    /// - Throws: ``Problem`` 401 for a key that is unknown, withdrawn or expired.
    func key(of request: HTTPRequest) throws(Problem) -> Key? {
      let secret: String
      var isFromCookie = false
      if let field = request.fields["authorization"] {
        let parts = field.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { throw .signInRequired }
        secret = String(parts[1])
      } else if let cookie = request.cookies[Self.cookie] {
        (secret, isFromCookie) = (cookie, true)
      } else {
        return nil
      }
      let hash = Self.hash(secret)
      guard var key = state.withLock({ $0.keys[hash] }), key.expires > environment.now() else { throw .signInRequired }
      key.isFromCookie = isFromCookie
      return key
    }

    // MARK: Keys and links

    /// Makes a key for a client.
    /// - Returns: the key and its secret, which is not kept.
    /// - Throws: ``GalleryError`` if the file cannot be written, ``Problem`` if there are too many keys.
    func makeKey(for client: String, label: String, seconds: Double? = nil) throws -> (Key, secret: String) {
      let secret = Self.spelled(environment.randomBytes(32))
      let now = environment.now()
      let key = Key(
        name: Self.spelled(environment.randomBytes(9)), client: client, label: label, created: now,
        expires: now.addingTimeInterval(seconds ?? Self.sessionSeconds))
      try state.withLock { state in
        var keys = state.keys.filter { $0.value.expires > now }
        guard keys.count < Self.keyLimit else {
          throw Problem(400, "limit-exceeded", "There are \(keys.count) keys; withdraw some first.")
        }
        keys[Self.hash(secret)] = key
        try write(keys)
        state.keys = keys
      }
      return (key, secret)
    }

    /// All keys that are good now, the oldest first.
    func list() -> [Key] {
      let now = environment.now()
      return state.withLock { $0.keys.values.filter { $0.expires > now } }.sorted {
        ($0.created, $0.name) < ($1.created, $1.name)
      }
    }

    /// Withdraws a key.
    /// - Returns: whether there was one of that name.
    func withdraw(_ name: String) throws -> Bool {
      try state.withLock { state in
        let keys = state.keys.filter { $0.value.name != name }
        guard keys.count < state.keys.count else { return false }
        try write(keys)
        state.keys = keys
        return true
      }
    }

    /// Makes a link that signs its first visitor in.
    func makeLink(for client: String) -> String {
      let secret = Self.spelled(environment.randomBytes(32))
      let now = environment.now()
      state.withLock { state in
        state.links = state.links.filter { $0.value.expires > now }
        state.links[Self.hash(secret)] = (client, now.addingTimeInterval(Self.linkSeconds))
      }
      return secret
    }

    /// Uses a link up.
    /// - Returns: the client that it signs in.
    /// - Throws: ``Problem`` 401 for a link that is unknown, used or too old.
    func redeem(_ secret: String) throws(Problem) -> String {
      let link = state.withLock { $0.links.removeValue(forKey: Self.hash(secret)) }
      guard let link, link.expires > environment.now() else {
        throw Problem(
          401, "sign-in-required", "This link was used or is too old; start the server again for a new one.")
      }
      return link.client
    }

    // MARK: The file

    private func write(_ keys: [String: Key]) throws {
      let rows = keys.sorted { $0.key < $1.key }.map { hash, key -> JSON in
        [
          "hash": .text(hash), "name": .text(key.name), "client": .text(key.client), "label": .text(key.label),
          "created": .text(DateText.instant(key.created)), "expires": .text(DateText.instant(key.expires)),
        ]
      }
      let text = JSON.object([JSON.Member("version", 1), JSON.Member("keys", .list(rows))]).description
      do {
        let folder = file.deletingLastPathComponent()
        try FileManager.default.createDirectory(
          at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try Data((text + "\n").utf8).write(to: file, options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
      } catch {
        throw GalleryError(description: "The keys cannot be written to \(file.path): \(error.localizedDescription)")
      }
    }

    private static func read(_ bytes: [UInt8]) throws -> [(String, Key)] {
      let json = try JSONReader.read(bytes)
      guard json["version"] == 1, let rows = json["keys"]?.listValue else {
        throw GalleryError(description: "it is not a list of keys of version 1")
      }
      return try rows.map { row in
        guard let hash = row["hash"]?.textValue, let name = row["name"]?.textValue,
          let client = row["client"]?.textValue,
          let label = row["label"]?.textValue,
          let created = row["created"]?.textValue.flatMap({ WrittenDate($0)?.date }),
          let expires = row["expires"]?.textValue.flatMap({ WrittenDate($0)?.date }),
          (1...256).contains(client.utf8.count)
        else { throw GalleryError(description: "a key in it is incomplete") }
        return (hash, Key(name: name, client: client, label: label, created: created, expires: expires))
      }
    }

    private static func hash(_ secret: String) -> String {
      var digest = [UInt8](repeating: 0, count: 32)
      let bytes = Array(secret.utf8)
      psys_sha256_digest(bytes, bytes.count, &digest)
      return digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// Bytes in letters that need no escape anywhere (RFC 4648, base64url without padding).
    static func spelled(_ bytes: [UInt8]) -> String {
      Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
  }
#endif
