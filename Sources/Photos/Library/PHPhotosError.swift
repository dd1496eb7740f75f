// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

internal import MediaImport
internal import PhotoLedger

/// The domain of the errors of this module (Apple: `PHPhotosErrorDomain`).
public let PHPhotosErrorDomain = "PHPhotosErrorDomain"

/// The key of an error's `userInfo` that holds the local identifiers of several equal contents (CI-03).
public let PHLocalIdentifiersErrorKey = "PHLocalIdentifiersErrorKey"

/// What went wrong, with Apple's codes (a.7; Apple: `PHPhotosError`).
///
/// Its description is the core's sentence. Errors that Apple has no code for are `internalError`; their `userInfo`
/// holds the core's error under `NSUnderlyingErrorKey`.
public struct PHPhotosError: CustomNSError, LocalizedError, Hashable, Sendable, CustomStringConvertible {
  /// The number of an error (Apple: `PHPhotosError.Code`).
  public enum Code: Int, Sendable, Hashable, CaseIterable {
    /// Another failure, described by the message.
    case internalError = -1
    /// The user declined a confirmation, or the request was cancelled.
    case userCancelled = 3072
    /// The history from a token on is no longer kept (PH-06), or the library does not know the token.
    case persistentChangeTokenExpired = 3105
    /// The store is closed or damaged.
    case libraryVolumeOffline = 3114
    /// Another program has taken the library over; not given by this module.
    case relinquishingLibraryBundleToWriter = 3142
    /// Another library was made the shared one.
    case switchingSystemPhotoLibrary = 3143
    /// The bytes are elsewhere; not given by this module, which has no network.
    case networkAccessRequired = 3164
    /// The network failed; not given by this module, which has no network.
    case networkError = 3169
    /// There is no such object (CI-02).
    case identifierNotFound = 3201
    /// Several objects have this content (CI-03).
    case multipleIdentifiersFound = 3202
    /// A change's details were erased, or are not for this client (PH-07).
    case persistentChangeDetailsUnavailable = 3210
    /// The request is not possible on such an object.
    case changeNotSupported = 3300
    /// The request may succeed when it is made again.
    case operationInterrupted = 3301
    /// The bytes are not such a medium, or not the recorded ones.
    case invalidResource = 3302
    /// A file is missing.
    case missingResource = 3303
    /// The disk is full.
    case notEnoughSpace = 3305
    /// The asset does not allow it (AS-13).
    case requestNotSupportedForAsset = 3306
    /// More was asked for than is handed over at once.
    case limitExceeded = 3307
    /// Access is restricted by a policy (AU-11).
    case accessRestricted = 3310
    /// Access was denied (AU-11).
    case accessUserDenied = 3311
    /// A place that is kept in step by other programs; not given by this module.
    case libraryInFileProviderSyncRoot = 5423

    /// The former name of `internalError` (Apple: deprecated).
    public static let invalid = Code.internalError
  }

  /// The number.
  public let code: Code
  /// The sentence.
  public let description: String
  /// The objects that have the same content, for `multipleIdentifiersFound`.
  public let localIdentifiers: [String]
  let underlying: LibraryError?

  /// An error with a sentence of its own.
  public init(_ code: Code, _ description: String = "") {
    self.init(code, description, [], nil)
  }

  /// An error with information, as Foundation's errors have it (Apple: `init(_:userInfo:)`).
  public init(_ code: Code, userInfo: [String: Any]) {
    let sentence = userInfo[NSLocalizedDescriptionKey] as? String ?? ""
    let identifiers = userInfo[PHLocalIdentifiersErrorKey] as? [String] ?? []
    self.init(code, sentence, identifiers, userInfo[NSUnderlyingErrorKey] as? LibraryError)
  }

  /// The sentence, the objects of equal content, and the core's error.
  public var userInfo: [String: Any] { errorUserInfo }

  private init(_ code: Code, _ description: String, _ identifiers: [String], _ underlying: LibraryError?) {
    (self.code, self.description, localIdentifiers, self.underlying) = (code, description, identifiers, underlying)
  }

  init(_ error: LibraryError) {
    let code: Code =
      switch error.code {
      case .closed, .corrupted: .libraryVolumeOffline
      case .resourceChanged: .invalidResource
      case .missingUsageDescription: .accessUserDenied
      default: Code(rawValue: error.code.rawValue) ?? .internalError
      }
    self.init(code, error.description, error.localIdentifiers, error)
  }

  /// Any error as this module gives it: those of the core with Apple's codes, others as they are.
  package static func from(_ error: any Error) -> any Error {
    switch error {
    case let error as LibraryError: PHPhotosError(error)
    case let error as ImportError: PHPhotosError(error)
    default: error
    }
  }

  /// An error of reading the history: a token that the library does not know has expired, the only token error
  /// from which programs written for Apple's library recover, by reading everything again.
  static func ofHistory(_ error: any Error) -> any Error {
    if let error = error as? LibraryError, error.code == .invalidToken {
      return PHPhotosError(.persistentChangeTokenExpired, error.description, error.localIdentifiers, error)
    }
    return from(error)
  }

  /// Any error with one of Apple's codes.
  static func photos(_ error: any Error) -> PHPhotosError {
    from(error) as? PHPhotosError ?? PHPhotosError(.internalError, "\(error)")
  }

  /// What a program that renders or describes files could not do.
  private init(_ error: ImportError) {
    let code: Code =
      switch error.code {
      case .toolMissing: .requestNotSupportedForAsset
      case .toolTimeout: .operationInterrupted
      case .diskFull: .notEnoughSpace
      default: .invalidResource
      }
    self.init(code, error.description)
  }

  /// Whether two errors have the same code, sentence and objects.
  public static func == (one: PHPhotosError, other: PHPhotosError) -> Bool {
    one.code == other.code && one.description == other.description && one.localIdentifiers == other.localIdentifiers
  }

  /// Feeds the code.
  public func hash(into hasher: inout Hasher) { hasher.combine(code) }

  /// `PHPhotosErrorDomain`.
  public static var errorDomain: String { PHPhotosErrorDomain }
  /// The number of the code.
  public var errorCode: Int { code.rawValue }
  /// The sentence.
  public var errorDescription: String? { description }
  /// The sentence, the objects of equal content, and the core's error.
  public var errorUserInfo: [String: Any] {
    var info: [String: Any] = [NSLocalizedDescriptionKey: description]
    if !localIdentifiers.isEmpty { info[PHLocalIdentifiersErrorKey] = localIdentifiers }
    if let underlying { info[NSUnderlyingErrorKey] = underlying }
    return info
  }

}

/// Casts to Foundation's class and back. Values of `Any`, such as those of a handler's information, are most often read
/// by `as? NSError`, which succeeds on Apple's systems for every error, and on Linux for a type that says how.
extension PHPhotosError: _ObjectiveCBridgeable {
  /// The error with its domain, number and information.
  public func _bridgeToObjectiveC() -> NSError {
    NSError(domain: Self.errorDomain, code: errorCode, userInfo: errorUserInfo)
  }

  /// Traps for an error of another domain or with a number that has no name.
  public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout PHPhotosError?) {
    if !_conditionallyBridgeFromObjectiveC(source, result: &result) {
      fatalError("The error \(source.domain) \(source.code) is not a PHPhotosError; cast it with as?.")
    }
  }

  /// Nil and false for an error of another domain or with a number that has no name.
  @discardableResult
  public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout PHPhotosError?) -> Bool {
    result = nil
    guard source.domain == PHPhotosErrorDomain, let code = Code(rawValue: source.code) else { return false }
    result = PHPhotosError(code, userInfo: source.userInfo)
    return true
  }

  /// As a forced cast; an internal error for nil.
  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> PHPhotosError {
    var result: PHPhotosError?
    if let source { _forceBridgeFromObjectiveC(source, result: &result) }
    return result ?? PHPhotosError(.internalError)
  }
}

/// Lets `catch PHPhotosError.userCancelled` match, as Apple's imported errors do.
public func ~= (code: PHPhotosError.Code, error: any Error) -> Bool { (error as? PHPhotosError)?.code == code }

extension PHPhotosError {
  /// See ``Code/internalError``.
  public static var internalError: Code { .internalError }
  /// See ``Code/invalid``.
  public static var invalid: Code { .internalError }
  /// See ``Code/userCancelled``.
  public static var userCancelled: Code { .userCancelled }
  /// See ``Code/persistentChangeTokenExpired``.
  public static var persistentChangeTokenExpired: Code { .persistentChangeTokenExpired }
  /// See ``Code/libraryVolumeOffline``.
  public static var libraryVolumeOffline: Code { .libraryVolumeOffline }
  /// See ``Code/relinquishingLibraryBundleToWriter``.
  public static var relinquishingLibraryBundleToWriter: Code { .relinquishingLibraryBundleToWriter }
  /// See ``Code/switchingSystemPhotoLibrary``.
  public static var switchingSystemPhotoLibrary: Code { .switchingSystemPhotoLibrary }
  /// See ``Code/networkAccessRequired``.
  public static var networkAccessRequired: Code { .networkAccessRequired }
  /// See ``Code/networkError``.
  public static var networkError: Code { .networkError }
  /// See ``Code/identifierNotFound``.
  public static var identifierNotFound: Code { .identifierNotFound }
  /// See ``Code/multipleIdentifiersFound``.
  public static var multipleIdentifiersFound: Code { .multipleIdentifiersFound }
  /// See ``Code/persistentChangeDetailsUnavailable``.
  public static var persistentChangeDetailsUnavailable: Code { .persistentChangeDetailsUnavailable }
  /// See ``Code/changeNotSupported``.
  public static var changeNotSupported: Code { .changeNotSupported }
  /// See ``Code/operationInterrupted``.
  public static var operationInterrupted: Code { .operationInterrupted }
  /// See ``Code/invalidResource``.
  public static var invalidResource: Code { .invalidResource }
  /// See ``Code/missingResource``.
  public static var missingResource: Code { .missingResource }
  /// See ``Code/notEnoughSpace``.
  public static var notEnoughSpace: Code { .notEnoughSpace }
  /// See ``Code/requestNotSupportedForAsset``.
  public static var requestNotSupportedForAsset: Code { .requestNotSupportedForAsset }
  /// See ``Code/limitExceeded``.
  public static var limitExceeded: Code { .limitExceeded }
  /// See ``Code/accessRestricted``.
  public static var accessRestricted: Code { .accessRestricted }
  /// See ``Code/accessUserDenied``.
  public static var accessUserDenied: Code { .accessUserDenied }
  /// See ``Code/libraryInFileProviderSyncRoot``.
  public static var libraryInFileProviderSyncRoot: Code { .libraryInFileProviderSyncRoot }
}
