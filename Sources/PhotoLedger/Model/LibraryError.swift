/// A failure of the library.
///
/// One struct for the whole module: ``code`` says what kind of failure it is (the number is PhotoKit's where PhotoKit
/// has one, photokit a.7), ``description`` is a sentence that names the thing and what to do.
public struct LibraryError: Error, Sendable, CustomStringConvertible, Equatable {
  /// The kind of a failure; its number is PHPhotosError's where that exists, and above 10,000 where it is our own.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: Int
    /// Creates a code from any number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Something that should not happen did (PHPhotosError.internalError).
    public static let internalError = Code(rawValue: -1)
    /// A decision refused the block (PHPhotosError.userCancelled).
    public static let userCancelled = Code(rawValue: 3072)
    /// The kept history does not reach back to the token (PHPhotosError.persistentChangeTokenExpired).
    public static let tokenExpired = Code(rawValue: 3105)
    /// The files of the library cannot be reached (PHPhotosError.libraryVolumeOffline).
    public static let libraryOffline = Code(rawValue: 3114)
    /// No object has the identifier (PHPhotosError.identifierNotFound).
    public static let identifierNotFound = Code(rawValue: 3201)
    /// The request does not fit the object or the state (PHPhotosError.changeNotSupported).
    public static let changeNotSupported = Code(rawValue: 3300)
    /// The work was interrupted before it took effect and may be tried again (PHPhotosError.operationInterrupted).
    public static let operationInterrupted = Code(rawValue: 3301)
    /// The bytes or their description make no asset (PHPhotosError.invalidResource).
    public static let invalidResource = Code(rawValue: 3302)
    /// A file that the request names is not there (PHPhotosError.missingResource).
    public static let missingResource = Code(rawValue: 3303)
    /// The disk is full (PHPhotosError.notEnoughSpace).
    public static let notEnoughSpace = Code(rawValue: 3305)
    /// The asset does not support the request (PHPhotosError.requestNotSupportedForAsset).
    public static let requestNotSupportedForAsset = Code(rawValue: 3306)
    /// A policy restricts the client's access (PHPhotosError.accessRestricted).
    public static let accessRestricted = Code(rawValue: 3310)
    /// The client does not have this permission (PHPhotosError.accessUserDenied).
    public static let accessUserDenied = Code(rawValue: 3311)
    /// Several objects fit the identifier (PHPhotosError.multipleIdentifiersFound).
    public static let multipleIdentifiersFound = Code(rawValue: 3202)
    /// What a commit did cannot be itemised (PHPhotosError.persistentChangeDetailsUnavailable).
    public static let persistentChangeDetailsUnavailable = Code(rawValue: 3210)
    /// The request exceeds a limit (PHPhotosError.limitExceeded).
    public static let limitExceeded = Code(rawValue: 3307)

    /// A predicate names an unknown key, or uses a form that is not supported.
    public static let unsupportedPredicate = Code(rawValue: 10_001)
    /// A sort names an unknown or unsupported key.
    public static let unsupportedSort = Code(rawValue: 10_002)
    /// A predicate's text does not follow the grammar.
    public static let malformedPredicate = Code(rawValue: 10_003)
    /// The path holds no library.
    public static let notALibrary = Code(rawValue: 10_010)
    /// The path already holds a library, or something else.
    public static let alreadyExists = Code(rawValue: 10_011)
    /// The library was written by a newer program.
    public static let newerThanProgram = Code(rawValue: 10_012)
    /// The bytes of the store contradict themselves; nothing more is written.
    public static let corrupted = Code(rawValue: 10_013)
    /// The state is not the one that the caller expected.
    public static let conflict = Code(rawValue: 10_014)
    /// The library was closed.
    public static let closed = Code(rawValue: 10_015)
    /// A token is malformed or belongs to another library.
    public static let invalidToken = Code(rawValue: 10_016)
    /// The text of a request does not follow its schema.
    public static let malformedRequest = Code(rawValue: 10_017)
    /// Whether the change took effect is not known; ask with the same idempotency key.
    public static let outcomeUnknown = Code(rawValue: 10_018)
    /// Reading or writing failed.
    public static let storage = Code(rawValue: 10_019)
    /// A file changed while it was read; try again when its writer has finished.
    public static let resourceChanged = Code(rawValue: 10_020)
    /// A client requested permission without a usage description.
    public static let missingUsageDescription = Code(rawValue: 10_021)
    /// A checkpoint or proof is malformed, belongs to another library, or does not hold.
    public static let invalidProof = Code(rawValue: 10_070)
    /// Bytes have to be converted, and nothing is installed that does it; install a converter.
    public static let converterMissing = Code(rawValue: 10_030)
    /// The installed converter failed.
    public static let conversionFailed = Code(rawValue: 10_031)
  }

  /// The kind of failure.
  public let code: Code
  /// A full sentence that names the thing and what to do.
  public let description: String

  /// The identifiers of the objects that fit where one was wanted (PHLocalIdentifiersErrorKey); empty otherwise.
  public internal(set) var localIdentifiers: [String] = []

  /// What a store contradicts itself about, for a message in which the advice to rebuild has no place; nil otherwise.
  package internal(set) var subject: String?

  package init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }

  /// The error of a store whose rows and keys do not fit each other.
  static func contradiction(_ what: String) -> LibraryError {
    var error = LibraryError(
      .corrupted, "The store contradicts itself about \(what); stop writing and run `verify`, then `rebuild`.")
    error.subject = what
    return error
  }

  /// The error of a reader that needs an event which the log does not have.
  package static func missingEvent(_ sequence: UInt64) -> LibraryError {
    LibraryError(.corrupted, "The log lacks event \(sequence); run `verify`.")
  }
}

/// The error of a replay at an event that it cannot apply.
package struct UnreadableEvent: Error {
  package var sequence: UInt64
  package var failure: LibraryError
}
