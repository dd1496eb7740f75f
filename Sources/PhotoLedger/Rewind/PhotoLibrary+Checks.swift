// The permission of a client, which calls of the public interface check before anything else. Which objects the client
// sees is decided in Access.swift.

extension PhotoLibrary {
  /// - Throws: ``LibraryError`` `.changeNotSupported` for a view of a moment.
  package func checkIsNow(_ what: String) throws {
    guard moment != nil else { return }
    throw LibraryError(
      .changeNotSupported, "An as-of view is read-only: it cannot \(what); use the current library.")
  }

  /// - Throws: ``LibraryError`` `.accessUserDenied` for every client but the owner.
  package func checkIsOwner(_ what: String) throws {
    guard client != Self.owner else { return }
    throw LibraryError(
      .accessUserDenied, "The client '\(client)' may not \(what); only the library's owner may.")
  }

  /// - Throws: ``LibraryError`` `.accessUserDenied` or `.accessRestricted` for a client without full access:
  ///   the same one whatever the library holds (AU-01).
  package func checkHasFullAccess(_ what: String, _ t: borrowing StoreReading) throws {
    let permission = try permission(t)
    guard permission.access != .full else { return }
    throw permission.refusal(client, what)
  }

  /// What this client may see and do at the view's moment.
  package func permission(_ t: borrowing StoreReading) throws -> Permission {
    try store.permission(of: client, at: moment, t)
  }

  /// Shows the permission prompt for this client, if it is about to read the current library. If the library is closed
  /// meanwhile, the answer is not recorded; the library can still be read.
  package func askIfNeeded() throws {
    guard moment == nil else { return }
    do {
      try store.installed((any AccessAsking).self).current?.askIfNeeded(for: client, in: store)
    } catch let error as LibraryError where error.code == .closed {
      // The reader gets what the client could see before.
    }
  }
}

extension LibraryStore {
  /// What a client may see and do at a moment; nil: now.
  func permission(of name: String, at moment: Moment?, _ t: borrowing StoreReading) throws -> Permission {
    guard let moment, name != PhotoLibrary.owner else { return try core.projections.permission(of: name, in: t) }
    try ClientRow.check(name: name)
    guard let now = try core.projections.client(named: name, in: t) else { return .stranger }
    return try clientRow(now.number, at: moment.sequence, t).map(Permission.init) ?? .stranger
  }
}

/// Shows the permission prompt for an undecided client.
protocol AccessAsking: Sendable {
  /// Asks, if there is something to ask and a person to ask.
  func askIfNeeded(for client: String, in store: LibraryStore) throws
}
