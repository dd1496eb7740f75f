/// What a client may do with the library at one access level (PHAuthorizationStatus, photokit a.3).
public enum AuthorizationStatus: Int, Sendable, Hashable, CaseIterable, Codable {
  /// The permission is undecided.
  case notDetermined = 0
  /// A policy forbids it, and the person at the library cannot change that (AU-11).
  case restricted = 1
  /// A person said no (AU-11).
  case denied = 2
  /// A person said yes.
  case authorized = 3
  /// A person said yes, for the assets of a selection; for ``AccessLevel/readWrite`` only.
  case limited = 4

  /// Whether a person said yes, for everything or for a selection.
  package var isGranted: Bool { self == .authorized || self == .limited }

  /// The status for programs that know nothing of limited access (AU-06).
  package var withoutLimits: AuthorizationStatus { self == .limited ? .authorized : self }
}

/// The level of a permission (PHAccessLevel, photokit a.3).
public enum AccessLevel: Int, Sendable, Hashable, CaseIterable, Codable {
  /// Adding assets, without reading any.
  case addOnly = 1
  /// Reading and changing.
  case readWrite = 2
}

/// What a client may do: what it is shown (Access.swift), whether it may add, and why not where it may not.
package struct Permission: Sendable, Equatable {
  package var access: Access
  /// The number of the registered client; nil for the owner and for unregistered clients.
  package var client: ObjectNumber?
  var mayAdd: Bool
  var status: AuthorizationStatus
  /// How many assets the selection has that limits the access, shown or not; nil if none does.
  var selectionCount: Int?

  static let owner = Permission(access: .full, client: nil, mayAdd: true, status: .authorized)
  static let stranger = Permission(access: .none, client: nil, mayAdd: false, status: .notDetermined)

  init(
    access: Access, client: ObjectNumber?, mayAdd: Bool, status: AuthorizationStatus, selectionCount: Int? = nil
  ) {
    (self.access, self.client, self.mayAdd, self.status) = (access, client, mayAdd, status)
    self.selectionCount = selectionCount
  }

  package init(_ row: ClientRow) {
    let access = row.access
    self.init(
      access: access, client: row.number, mayAdd: access != .none || row.addOnly.status == .authorized,
      status: row.readWrite.status, selectionCount: access.selection == nil ? nil : row.selectionCount)
  }

  /// - Throws: the refusal of an operation by a client that is shown nothing.
  package func checkMayRead(_ name: String, _ what: String) throws {
    if access == .none { throw refusal(name, what) }
  }

  /// The error for an operation without permission (AU-08, AU-11, FR-18).
  package func refusal(_ name: String, _ what: String) -> LibraryError {
    if status == .restricted {
      return LibraryError(
        .accessRestricted, "The client '\(name)' may not \(what): a policy restricts its access to the library.")
    }
    return LibraryError(
      .accessUserDenied, "The client '\(name)' may not \(what); the library's owner can grant it access.")
  }
}
