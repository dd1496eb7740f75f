import EventLog
import Foundation
import LMDB

extension PhotoLibrary {
  // MARK: Asking

  /// What this client may do at a level (PHPhotoLibrary.authorizationStatus(for:), AU-09).
  ///
  /// Read access includes adding.
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(log n).
  public func authorizationStatus(for level: AccessLevel) throws -> AuthorizationStatus {
    if client == Self.owner { return .authorized }
    return try store.reading { t in
      guard let number = try store.core.projections.client(named: client, in: t)?.number,
        let row = try store.clientRow(number, at: sequence, t)
      else { return .notDetermined }
      return row.authorizationStatus(for: level)
    }
  }

  /// What this client may do, as programs ask that know nothing of limited access: limited is authorized (AU-06).
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(log n).
  public func authorizationStatus() throws -> AuthorizationStatus {
    try authorizationStatus(for: .readWrite).withoutLimits
  }

  /// Requests permission for this client (PHPhotoLibrary.requestAuthorization(for:)).
  ///
  /// The request is recorded in the log. If the permission is undecided and a prompt is installed, the prompt decides.
  /// - Parameter level: the requested level.
  /// - Returns: the status afterwards.
  /// - Throws: ``LibraryError`` `.missingUsageDescription` for a client that was registered without one for the level;
  ///   the store's errors.
  @discardableResult
  public func requestAuthorization(for level: AccessLevel) async throws -> AuthorizationStatus {
    try checkIsNow("request permission")
    return try await offload { [self] in
      if client == Self.owner { return .authorized }
      guard try authorizationStatus(for: level) == .notDetermined else { return try authorizationStatus(for: level) }
      _ = try store.perform([.client(named: client, .request(level))], as: client, cause: "request for access")
      try store.prompting.ask(about: client, for: level, in: store)
      return try authorizationStatus(for: level)
    }
  }

  /// Shows the prompt for more assets of a limited client's selection (presentLimitedLibraryPicker, AU-05).
  /// - Returns: the identifiers that were added by this call; none without a prompt, and for a client that is not
  ///   limited.
  /// - Throws: ``LibraryError`` if the store cannot be read or written.
  public func presentLimitedLibraryPicker() async throws -> [String] {
    try checkIsNow("request more assets")
    return try await offload { [self] in try store.prompting.offerMore(to: client, in: store) }
  }

  // MARK: Deciding

  /// Installs the prompt for permissions, in place of the system's dialogue; nil: none.
  /// - Throws: ``LibraryError`` `.accessUserDenied` for any client but the owner.
  public func setPermissionPrompt(_ prompt: (any PermissionPrompt)?) throws {
    try checkIsNow("install a permission prompt")
    try checkIsOwner("install a permission prompt")
    store.prompting.install(prompt)
  }

  /// Every registered client, in the order of their registration.
  /// - Throws: ``LibraryError`` `.accessUserDenied` for any client but the owner; what the store throws.
  /// - Complexity: O(m) for m clients.
  public func clients() throws -> [Client] {
    try checkIsOwner("list the library's clients")
    return try store.reading { t in
      var clients: [Client] = []
      try store.forEachClient(at: moment, t) { clients.append(try store.client($0, t)) }
      return clients
    }
  }

  /// The assets that a limited client has selected, hidden ones included, in the order of their addition.
  /// - Throws: ``LibraryError`` `.identifierNotFound` for a client that was never registered, `.accessUserDenied` for
  ///   any client but the owner; what the store throws.
  /// - Complexity: O(m log n) for m assets.
  public func selection(of client: String) throws -> [Asset] {
    try checkIsOwner("read the access of clients")
    return try store.reading { t in
      let commit = try moment?.commit ?? store.core.log.head(t).commit
      guard let row = try store.core.projections.client(named: client, in: t), row.number.isReached(by: sequence) else {
        throw Self.unknownClient(client)
      }
      return try store.members(of: row.number, at: sequence, t).compactMap { member in
        try store.assetRow(member.number, at: sequence, t).map { Asset(row: $0, seenBy: .full, commit: commit) }
      }
    }
  }

  /// Checks a name under which something is to be kept for a client, whether or not the library knows the client yet.
  /// - Throws: ``LibraryError`` `.malformedRequest` or `.limitExceeded` for a name that no new client can have, unless
  ///   the library has a client of that name; what the store throws.
  /// - Complexity: O(log n).
  package func checkName(ofClient name: String) throws {
    try ClientRow.check(name: name)
    if try store.reading({ t in try store.core.projections.client(named: name, in: t) != nil }) { return }
    try ClientRow.check(newName: name)
  }

  /// The error for a client that was never registered.
  package static func unknownClient(_ name: String) -> LibraryError {
    LibraryError(.identifierNotFound, "The library has no client '\(name)'; `client list` lists them.")
  }
}
