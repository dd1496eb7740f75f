#if Gallery
  import Foundation
  import JSONReading
  import LibraryJSON
  import PhotoLedger

  // Share links: a link is a client of the library with a selection, or with one that follows an album live.
  //
  //     /share#SECRET ──▶ SHA-256 ──▶ Share: client, password, scopes, expiry ──▶ a key tied to the share
  //                                            │
  //                    library: client.registered, status limited, selection.granted, one commit of the owner's
  //                    with an album: client.edited, followed album, and what it grants
  //
  // What a visitor sees is the permission of the share's client, so nothing here decides about assets. Each opening of
  // the link is a commit of the client in the log, so the audit has each view and the intervals of access.
  //
  // All visitors are one client, which knows the causes of its own commits. To a visitor those may be another's, so
  // they are left out of what it reads (`PhotoLibrary.isOfVisitors`). Nor do visitors begin picking sessions or request
  // more assets: each would see those of the others (`Call.checkIsNoVisitor`).
  //
  // Invariant: a key of a share is good while the share is there and has not expired.

  /// The share links of a server.
  final class Shares: Sendable {
    struct Share: Sendable, Equatable {
      /// What names the share in lists; not secret.
      let name: String
      /// The client of the library that visitors act as.
      let client: String
      let title: String
      /// The album that the link follows; nil for a selection.
      let album: LocalIdentifier?
      /// The SHA-256 of the secret of the link.
      let secretHash: String
      /// What `crypt` made of the password; nil without one.
      let passwordHash: String?
      let allowsUpload: Bool
      let allowsOriginals: Bool
      let created: Date
      /// Nil: until it is withdrawn.
      let expires: Date?
      let epoch: String

      /// What a visitor's key may be used for.
      var scopes: Set<Scope> {
        Set([Scope.read] + (allowsOriginals ? [.originals] : []) + (allowsUpload ? [.add] : []))
      }
    }

    static let limit = 1_000
    /// What the names of the clients of share links begin with, and those of no apps (ClientRoutes.swift).
    static let clientPrefix = "share#"

    private let environment: GalleryEnvironment
    /// By name.
    private let shares: Kept<[String: Share]>

    init(folder: LibraryFolder, environment: GalleryEnvironment) throws {
      self.environment = environment
      let file = ServerFile(folder: folder, name: "shares")
      let found = try file.read(Self.share)
      shares = Kept(Dictionary(found.map { ($0.name, $0) }, uniquingKeysWith: { $1 })) { shares in
        try file.write(shares.values.sorted { $0.name < $1.name }.map(Shares.row))
      }
    }

    /// How many changes there have been, see ``Kept/changeCount``.
    var changeCount: UInt64 { shares.changeCount }

    /// The share of a name, if its link is good.
    func named(_ name: String) -> Share? { shares.read { $0[name] }.flatMap { isGood($0) ? $0 : nil } }

    /// What keys of a share must have; nil for one that is withdrawn or expired.
    func epoch(of name: String) -> String? { named(name)?.epoch }

    /// The share whose link has a secret.
    func share(withSecret secret: String) -> Share? {
      let hash = Keyring.hash(secret)
      return shares.current.values.first { $0.secretHash == hash }.flatMap { isGood($0) ? $0 : nil }
    }

    /// The share of a name, whether its link is good or has expired: the permission of its client stays until then.
    func withdrawable(_ name: String) -> Share? { shares.read { $0[name] } }

    /// All shares that were not withdrawn, the oldest first.
    func list() -> [Share] {
      shares.current.values.sorted { ($0.created, $0.name) < ($1.created, $1.name) }
    }

    /// Checks that another share can be kept.
    /// - Throws: ``Problem`` if there are too many.
    func checkRoom() throws(Problem) { try checkRoom(in: shares.current) }

    private func checkRoom(in shares: [String: Share]) throws(Problem) {
      let count = shares.values.count(where: isGood)
      guard count < Self.limit else {
        throw Problem(400, "limit-exceeded", "There are \(count) share links; withdraw some first.")
      }
      guard shares.count < 10 * Self.limit else {
        throw Problem(
          400, "limit-exceeded", "There are \(shares.count) share links, most of them expired; withdraw some first.")
      }
    }

    /// Keeps a share.
    /// - Throws: ``Problem`` if there are too many, ``GalleryError`` if the file cannot be written.
    func add(_ share: Share) throws {
      try shares.change { shares in
        try checkRoom(in: shares)
        shares[share.name] = share
      }
    }

    /// Takes a share away: its link and its keys are not good any more.
    /// - Returns: the share; nil if there was none of that name.
    func remove(_ name: String) throws -> Share? { try shares.change { $0.removeValue(forKey: name) } }

    /// Whether the link has not expired.
    func isGood(_ share: Share) -> Bool { share.expires.map { $0 > environment.now() } ?? true }

    private static func row(_ share: Share) -> JSON {
      [
        "name": .text(share.name), "client": .text(share.client), "title": .text(share.title),
        "album": JSON(share.album?.uuidString),
        "secretHash": .text(share.secretHash), "passwordHash": JSON(share.passwordHash),
        "allowsUpload": .bool(share.allowsUpload), "allowsOriginals": .bool(share.allowsOriginals),
        "created": .text(DateText.instant(share.created)),
        "expires": JSON(share.expires.map { DateText.instant($0) }), "epoch": .text(share.epoch),
      ]
    }

    private static func share(_ row: JSON) throws -> Share {
      guard let name = row["name"]?.textValue, let client = row["client"]?.textValue,
        (1...256).contains(client.utf8.count), !client.utf8.contains(0), let title = row["title"]?.textValue,
        let secretHash = row["secretHash"]?.textValue, let allowsUpload = row["allowsUpload"]?.boolValue,
        let allowsOriginals = row["allowsOriginals"]?.boolValue, let created = row["created"]?.instantValue,
        let epoch = row["epoch"]?.textValue,
        row["album"]?.textValue.map({ LocalIdentifier($0) != nil }) ?? true,
        row["expires"] == .null || row["expires"]?.instantValue != nil
      else { throw GalleryError("a share in it is incomplete") }
      return Share(
        name: name, client: client, title: title, album: row["album"]?.textValue.flatMap { LocalIdentifier($0) },
        secretHash: secretHash, passwordHash: row["passwordHash"]?.textValue,
        allowsUpload: allowsUpload, allowsOriginals: allowsOriginals, created: created,
        expires: row["expires"]?.instantValue, epoch: epoch)
    }
  }

  extension PhotoLibrary {
    /// Whether it is the view of a share link's visitors: client and cause of this client's commits must not be shown.
    var isOfVisitors: Bool { client.utf8.starts(with: Shares.clientPrefix.utf8) }
  }
#endif
