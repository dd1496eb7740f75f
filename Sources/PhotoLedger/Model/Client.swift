public import Foundation

/// A program or person that opens the library under a name, and what it may do (AU-09).
public struct Client: Sendable, Hashable {
  /// How a client has access; what a settings page sorts its clients by.
  public enum AccessKind: String, Sendable, Hashable, CaseIterable, Codable {
    /// It sees and changes everything.
    case full
    /// It sees a selection and what it made itself.
    case limited
    /// It adds assets and sees none.
    case addOnly
    /// It has no permission, and was given single assets by picking (Apple's "one-time photo selection").
    case picked
    /// It has nothing.
    case none
  }

  /// The name of the library's owner, which is not registered and has full access.
  package static let ownerName = "owner"

  package let row: ClientRow
  /// The album whose members are its selection, live; nil where the selection is made by hand. See
  /// ``ChangeBlock/follow(_:as:)``.
  public let followedAlbum: LocalIdentifier?

  package init(row: ClientRow, followedAlbum: LocalIdentifier? = nil) {
    (self.row, self.followedAlbum) = (row, followedAlbum)
  }

  /// The name, such as `com.example.gallery`.
  public var name: String { row.name }
  /// The instant at which it was registered.
  public var registeredDate: Date { row.registeredDate }
  /// How many assets its selection has, shown or not; it counts while access is limited.
  public var selectionCount: Int { row.selectionCount }
  /// How often it was given picked assets.
  public var pickCount: Int { row.pickCount }
  /// Whether a limited client does not show the prompt for more assets at each start
  /// (`PHPhotoLibraryPreventAutomaticLimitedAccessAlert`).
  public var preventsAutomaticLimitedAccessAlert: Bool { row.preventsLimitedAlert }

  /// What was decided for a level.
  public func status(for level: AccessLevel) -> AuthorizationStatus { row[level].status }

  /// The usage description of a level of access, as shown in the prompt; nil if there is none.
  public func usageDescription(for level: AccessLevel) -> String? { row[level].usageDescription }

  /// How the client has access.
  public var accessKind: AccessKind {
    switch (row.readWrite.status, row.addOnly.status) {
    case (.authorized, _): .full
    case (.limited, _): .limited
    case (_, .authorized): .addOnly
    default: pickCount > 0 ? .picked : .none
    }
  }
}

/// What a client says of itself when it is registered.
public struct ClientRegistration: Sendable, Hashable {
  /// Why it wants to read and change (`NSPhotoLibraryUsageDescription`); nil: as before.
  public var readWriteUsageDescription: String?
  /// Why it wants to add (`NSPhotoLibraryAddUsageDescription`); nil: as before.
  public var addOnlyUsageDescription: String?
  /// Whether it does not show the prompt for more assets at each start while its access is limited; nil: unchanged.
  public var preventsAutomaticLimitedAccessAlert: Bool?

  /// An empty registration.
  public init() {}
}

/// The row of a client.
package struct ClientRow: Equatable, Hashable, Sendable {
  /// What concerns one access level.
  package struct Level: Equatable, Hashable, Sendable {
    package var status = AuthorizationStatus.notDetermined
    package var usageDescription: String?
  }

  package var number: ObjectNumber
  package var name: String
  package var registeredDate: Date
  package var readWrite = Level()
  package var addOnly = Level()
  package var preventsLimitedAlert = false
  /// How many assets the selection has, shown or not.
  package var selectionCount = 0
  /// How often it was given picked assets.
  package var pickCount = 0
  /// The album whose members are the selection; nil where it is made by hand.
  package var followedAlbum: ObjectNumber?

  package init(number: ObjectNumber, name: String, registeredDate: Date) {
    (self.number, self.name, self.registeredDate) = (number, name, registeredDate)
  }

  /// - Throws: ``LibraryError`` for a name that no client can have.
  package static func check(name: String) throws {
    guard (1...256).contains(name.utf8.count) else {
      throw LibraryError(.limitExceeded, "A client's name must have 1 to 256 bytes, not \(name.utf8.count).")
    }
    guard !name.utf8.contains(0) else {
      throw LibraryError(.malformedRequest, "A client's name must not contain a zero byte.")
    }
  }

  /// - Throws: ``LibraryError`` for a name that no client can have, or none that the library does not have yet: two
  ///   spellings of one name would look alike in every list, and be two clients.
  package static func check(newName name: String) throws {
    try check(name: name)
    guard name.isComposed else {
      throw LibraryError(
        .malformedRequest, "The client's name '\(name)' is not in Unicode's composed form (NFC); pass it composed.")
    }
  }

  package subscript(level: AccessLevel) -> Level {
    get { level == .readWrite ? readWrite : addOnly }
    set { if level == .readWrite { readWrite = newValue } else { addOnly = newValue } }
  }

  /// What the client may do at a level; read access includes adding (AU-09).
  package func authorizationStatus(for level: AccessLevel) -> AuthorizationStatus {
    guard level == .addOnly, addOnly.status == .notDetermined else { return self[level].status }
    return Permission(self).mayAdd ? .authorized : .notDetermined
  }

  /// Whether the client does not have full access, so that its view has a history of its own.
  package var hasOwnView: Bool { access != .full }
}

/// What a client was given by one picking session; the number is the recording event's, and the container's.
package struct PickRow: Equatable, Sendable {
  package var number: ObjectNumber
  package var client: ObjectNumber
  package var date: Date
  /// What is left out of the bytes, as the person who picked them or the client requested.
  package var withheld: PickerMetadataOptions = []
}
