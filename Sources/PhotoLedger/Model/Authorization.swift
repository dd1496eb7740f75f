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
}

/// The level of a permission (PHAccessLevel, photokit a.3).
public enum AccessLevel: Int, Sendable, Hashable, CaseIterable, Codable {
  /// Adding assets, without reading any.
  case addOnly = 1
  /// Reading and changing.
  case readWrite = 2
}

// What a client sees and does, as the rest of the library needs it: three ways of seeing, decided once for a call.
//
//     owner ─────────────────────────────▶ full
//     readWrite: authorized ─────────────▶ full
//     readWrite: limited ────────────────▶ limited(client)     the members of its selection, and its own collections
//     readWrite: anything else ──────────▶ none                nothing; may still add, if addOnly is authorized
//
// A selection is a container, as an album is: the client's number is the container's, a member's key is the asset's
// number. So everything that follows memberships (deltas, composition, as-of views) follows selections too, and a
// limited fetch is a fetch whose scope is intersected with one more container. Rejected: a list of grants beside the
// memberships, which would need a second description of how memberships are added, removed and reverted.

/// What of the library a query or a request may touch.
package enum Access: Hashable, Sendable {
  /// Everything.
  case full
  /// The assets that the client has selected, and the collections that it made.
  case limited(ObjectNumber)
  /// Nothing.
  case none

  /// How a client sees the library by its status.
  package init(_ status: AuthorizationStatus, of client: ObjectNumber) {
    self =
      switch status {
      case .authorized: .full
      case .limited: .limited(client)
      case .notDetermined, .restricted, .denied: .none
      }
  }

  /// The client whose selection decides; nil where none does.
  package var selection: ObjectNumber? { if case .limited(let client) = self { client } else { nil } }

  /// Whether a collection may be shown (the decision on albums under limited access).
  package func shows(_ row: CollectionRow) -> Bool {
    switch self {
    case .full: true
    case .limited(let client): row.creator == client || row.isBuiltIn
    case .none: false
    }
  }
}

/// What a client may do: how it sees the library, whether it may add to it, and why not where it may not.
package struct Permission: Sendable, Equatable {
  package var access: Access
  /// The number of the registered client; nil for the owner and for unregistered clients.
  package var client: ObjectNumber?
  var mayAdd: Bool
  var status: AuthorizationStatus

  static let owner = Permission(access: .full, client: nil, mayAdd: true, status: .authorized)
  static let stranger = Permission(access: .none, client: nil, mayAdd: false, status: .notDetermined)

  init(access: Access, client: ObjectNumber?, mayAdd: Bool, status: AuthorizationStatus) {
    (self.access, self.client, self.mayAdd, self.status) = (access, client, mayAdd, status)
  }

  package init(_ row: ClientRow) {
    let access = Access(row.readWrite.status, of: row.number)
    self.init(
      access: access, client: row.number, mayAdd: access != .none || row.addOnly.status == .authorized,
      status: row.readWrite.status)
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
