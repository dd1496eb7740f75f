// The history: what happened since a token (PH), and identifiers that hold between libraries (CI).

import LibraryAudit
public import PhotoLedger

/// Names a state of the library (PH-01; Apple: `PHPersistentChangeToken`).
public final class PHPersistentChangeToken: NSObject, NSSecureCoding, NSCopying, Sendable {
  /// The token of the core.
  public let token: Token

  init(_ token: Token) { self.token = token }

  /// Itself: a token does not change.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// True.
  public static var supportsSecureCoding: Bool { true }

  /// Writes the token's text.
  public func encode(with coder: NSCoder) { coder.encode(token.description as NSString, forKey: "token") }

  /// Reads a token's text; nil if there is none that can be read.
  public init?(coder: NSCoder) {
    guard let text = coder.decodeObject(of: NSString.self, forKey: "token"), let token = try? Token(String(text))
    else { return nil }
    self.token = token
  }

  /// Whether another token names the same state.
  public override func isEqual(_ object: Any?) -> Bool { (object as? PHPersistentChangeToken)?.token == token }

  /// A hash of the token.
  public override var hash: Int { token.hashValue }
}

/// The changes after a token, oldest first (PH-02; Apple: `PHPersistentChangeFetchResult`).
///
/// They are read from the log in portions while they are walked through.
public final class PHPersistentChangeFetchResult: NSObject, Sequence, Sendable {
  private let start: Token
  private let end: Token
  private let library: PHPhotoLibrary

  init(_ start: Token, _ end: Token, _ library: PHPhotoLibrary) {
    (self.start, self.end, self.library) = (start, end, library)
  }

  /// Walks through the changes up to the state at the time of the fetch.
  ///
  /// If the log cannot be read to there, because the history was shortened or access was withdrawn meanwhile, the last
  /// change of the walk throws that error when its details are requested, and its token is the previous one: a client
  /// cannot mistake an interrupted walk for a complete one.
  public func makeIterator() -> AnyIterator<PHPersistentChange> {
    var token = start
    var portion: ArraySlice<PersistentChange> = []
    var isCutShort = false
    return AnyIterator { [library, end] in
      func isBeforeEnd(_ token: Token) -> Bool { !token.isComparable(to: end) || token < end }
      guard !isCutShort, isBeforeEnd(token) else { return nil }
      if portion.isEmpty {
        do {
          portion = try library.core.fetchPersistentChanges(since: token, showsTrash: false)[...]
        } catch {
          isCutShort = true
          return PHPersistentChange(unreadableAfter: token, error)
        }
      }
      guard let change = portion.popFirst() else { return nil }
      token = change.changeToken
      return PHPersistentChange(change)
    }
  }

  /// Calls a block with each change, until it sets `stop`.
  public func enumerateChanges(_ block: (PHPersistentChange, UnsafeMutablePointer<ObjCBool>) -> Void) {
    var stop = ObjCBool(false)
    for change in self {
      block(change, &stop)
      if stop.boolValue { return }
    }
  }
}

/// One change of the history (PH-02; Apple: `PHPersistentChange`).
public final class PHPersistentChange: NSObject, Sendable {
  private let change: Result<PersistentChange, any Error>

  /// The token to go on from.
  public let changeToken: PHPersistentChangeToken

  init(_ change: PersistentChange) {
    self.change = .success(change)
    changeToken = PHPersistentChangeToken(change.changeToken)
  }

  /// What follows a token, and could not be read.
  init(unreadableAfter token: Token, _ error: any Error) {
    change = .failure(error)
    changeToken = PHPersistentChangeToken(token)
  }

  /// What happened to the objects of a type (PH-03).
  /// - Throws: `PHPhotosError.persistentChangeDetailsUnavailable` for a change of which something was erased (PH-07);
  ///   the reason, for one that could no longer be read.
  public func changeDetails(for objectType: PHObjectType) throws -> PHPersistentObjectChangeDetails {
    do {
      return PHPersistentObjectChangeDetails(objectType, try change.get().changeDetails(for: objectType))
    } catch {
      throw PHPhotosError.ofHistory(error)
    }
  }
}

/// The objects of a type that a change concerned: three sets with nothing in common (PH-03;
/// Apple: `PHPersistentObjectChangeDetails`).
public final class PHPersistentObjectChangeDetails: NSObject, Sendable {
  /// The type.
  public let objectType: PHObjectType
  private let details: PersistentChange.Details

  init(_ type: PHObjectType, _ details: PersistentChange.Details) { (objectType, self.details) = (type, details) }

  /// What came, from the trash too (PH-05).
  public var insertedLocalIdentifiers: Set<String> { details.insertedLocalIdentifiers }
  /// What changed; hiding is a change (PH-04).
  public var updatedLocalIdentifiers: Set<String> { details.updatedLocalIdentifiers }
  /// What went; an asset goes when it is moved to the trash, where this module shows nothing (PH-05).
  public var deletedLocalIdentifiers: Set<String> { details.deletedLocalIdentifiers }
}

extension PHPhotoLibrary {
  /// The present state (PH-01; Apple: `currentChangeToken`).
  public var currentChangeToken: PHPersistentChangeToken {
    PHPersistentChangeToken(Self.answer("PHPhotoLibrary.currentChangeToken") { try core.currentToken })
  }

  /// The changes after a token, oldest first (PH-02; Apple: `fetchPersistentChanges(since:)`).
  /// - Throws: `PHPhotosError.persistentChangeTokenExpired` if the history from there is no longer kept (PH-06), or if
  ///   the library does not know the token, as after a backup was restored; `accessUserDenied` or `accessRestricted`
  ///   for a client that may not read (AU-10).
  public func fetchPersistentChanges(since token: PHPersistentChangeToken) throws -> PHPersistentChangeFetchResult {
    do {
      // Read for its errors; the result reads on from the token.
      let library = try present()
      _ = try library.fetchPersistentChanges(since: token.token, limit: 1, showsTrash: false)
      return PHPersistentChangeFetchResult(token.token, try library.currentToken, self)
    } catch {
      throw PHPhotosError.ofHistory(error)
    }
  }
}

// MARK: Cloud identifiers

/// An identifier that holds in other libraries too (CI; Apple: `PHCloudIdentifier`).
public final class PHCloudIdentifier: NSObject, NSSecureCoding, NSCopying, Sendable {
  let identifier: CloudIdentifier?
  private let spelling: String

  init(_ identifier: CloudIdentifier) { (self.identifier, spelling) = (identifier, identifier.archivalStringValue) }

  /// Parses the text form; an invalid one finds nothing (Apple: deprecated).
  public init(stringValue: String) {
    (identifier, spelling) = (CloudIdentifier(archivalStringValue: stringValue), stringValue)
  }

  /// Parses the text form; nil if it is invalid.
  public convenience init?(archivalStringValue: String) {
    guard let identifier = CloudIdentifier(archivalStringValue: archivalStringValue) else { return nil }
    self.init(identifier)
  }

  /// The spelling (Apple: deprecated).
  public var stringValue: String { spelling }
  /// The spelling, to be kept.
  public var archivalStringValue: String { spelling }

  /// Itself: an identifier does not change.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// True.
  public static var supportsSecureCoding: Bool { true }

  /// Writes the spelling.
  public func encode(with coder: NSCoder) { coder.encode(spelling as NSString, forKey: "identifier") }

  /// Reads a spelling; nil if there is none.
  public convenience init?(coder: NSCoder) {
    guard let text = coder.decodeObject(of: NSString.self, forKey: "identifier") else { return nil }
    self.init(stringValue: String(text))
  }

  /// Whether another identifier is spelled the same.
  public override func isEqual(_ object: Any?) -> Bool { (object as? PHCloudIdentifier)?.spelling == spelling }

  /// A hash of the spelling.
  public override var hash: Int { spelling.hashValue }
}

extension PHPhotoLibrary {
  /// The identifiers that hold elsewhere, for objects of this library (CI-01, CI-06;
  /// Apple: `cloudIdentifierMappings(forLocalIdentifiers:)`).
  /// - Returns: one entry for each identifier, a value or an error (CI-02).
  public func cloudIdentifierMappings(
    forLocalIdentifiers localIdentifiers: [String]
  ) -> [String: Result<PHCloudIdentifier, any Error>] {
    mapped(localIdentifiers) { library in
      try library.cloudIdentifierMappings(forLocalIdentifiers: localIdentifiers, showsTrash: false).mapValues {
        $0.map(PHCloudIdentifier.init).mapError(PHPhotosError.init)
      }
    }
  }

  /// The objects of this library that identifiers name: what came with them, then equal content (CI-03;
  /// Apple: `localIdentifierMappings(for:)`).
  public func localIdentifierMappings(
    for cloudIdentifiers: [PHCloudIdentifier]
  ) -> [PHCloudIdentifier: Result<String, any Error>] {
    local(cloudIdentifiers, syncedOnly: false)
  }

  /// The same without equal content (CI-04; Apple: `localIdentifierMappings(forSynced:)`).
  public func localIdentifierMappings(
    forSynced cloudIdentifiers: [PHCloudIdentifier]
  ) -> [PHCloudIdentifier: Result<String, any Error>] {
    local(cloudIdentifiers, syncedOnly: true)
  }

  private func local(
    _ cloudIdentifiers: [PHCloudIdentifier], syncedOnly: Bool
  ) -> [PHCloudIdentifier: Result<String, any Error>] {
    mapped(cloudIdentifiers) { library in
      let found = try library.localIdentifierMappings(
        for: cloudIdentifiers.compactMap(\.identifier), syncedOnly: syncedOnly, showsTrash: false)
      return Dictionary(
        cloudIdentifiers.map { asked in
          let sentence = "'\(asked.stringValue)' is not a cloud identifier of a photo library."
          return (
            asked,
            asked.identifier.flatMap { found[$0] }?.mapError(PHPhotosError.init)
              ?? .failure(PHPhotosError(.identifierNotFound, sentence))
          )
        }, uniquingKeysWith: { first, _ in first })
    }
  }

  private func mapped<Key: Hashable, Value>(
    _ keys: [Key], _ map: (PhotoLibrary) throws -> [Key: Result<Value, PHPhotosError>]
  ) -> [Key: Result<Value, any Error>] {
    do {
      return try map(present()).mapValues { $0.mapError { $0 as any Error } }
    } catch {
      return Dictionary(keys.map { ($0, .failure(PHPhotosError.from(error))) }, uniquingKeysWith: { first, _ in first })
    }
  }
}
