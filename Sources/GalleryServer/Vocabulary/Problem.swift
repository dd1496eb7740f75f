#if Gallery
  import Foundation
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger

  /// An answer that describes why a request failed (RFC 9457).
  struct Problem: Error, Sendable {
    let status: Int
    /// The last part of the type's URI. Serving.md says what each means; the API's description has their names.
    let type: String
    /// A full sentence that names the thing and what to do.
    let detail: String
    var fields: [(name: String, value: String)] = []
    /// Further members of the problem document (RFC 9457, 3.2).
    var members: [JSON.Member] = []
    /// What the server's log says of it, and the client is not sent: it may name paths of the machine.
    var note: String?

    init(_ status: Int, _ type: String, _ detail: String) {
      (self.status, self.type, self.detail) = (status, type, detail)
      // What each such answer has (RFC 9110, 15.5.2), or is expected to (15.6.4).
      switch status {
      case 401: fields = [("WWW-Authenticate", "Bearer")]
      case 503: fields = [("Retry-After", "5")]
      default: break
      }
    }

    /// A problem whose sentence stays in the log if it names a path: clients, visitors of links and apps without any
    /// permission among them, do not learn where files lie.
    private init(_ status: Int, _ type: String, privately sentence: String, publicly detail: String) {
      self.init(status, type, Self.namesPath(sentence) ? detail : sentence)
      if Self.namesPath(sentence) { note = sentence }
    }

    /// Whether a sentence names an absolute path: a slash at the beginning of a word.
    static func namesPath(_ sentence: String) -> Bool {
      var last: UInt8 = 0x20
      for byte in sentence.utf8 {
        if byte == 0x2F, !(last == 0x2F || last >= 0x80 || Self.isWordByte(last)) { return true }
        last = byte
      }
      return false
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
      case 0x2A, 0x2B, 0x2D, 0x2E, 0x3A, 0x5F, 0x7D: true
      default: false
      }
    }

    static func malformed(_ detail: String) -> Problem { Problem(400, "malformed-request", detail) }
    static let signInRequired = Problem(
      401, "sign-in-required", "This needs a key; sign in, or send one as a bearer token.")
    /// The same for what does not exist and for what the client may not see (AU-01).
    static let notFound = Problem(404, "not-found", "The object does not exist, or this key has no access to it.")

    /// Whether a file could not be opened since the process or the machine can open no more, which says nothing of it.
    static func isOfDescriptors(_ code: Int32) -> Bool { [EMFILE, ENFILE, ENOMEM].contains(code) }

    /// Why the file of a resource could not be opened.
    /// - Parameter code: the `errno`.
    static func unopened(_ code: Int32) -> Problem {
      isOfDescriptors(code)
        ? Problem(503, "library-offline", "The server can open no more files now; try again later.")
        : Problem(404, "missing-resource", "The file of this resource is missing; its owner has to restore it.")
    }

    init(_ error: any Error) {
      switch error {
      case let problem as Problem: self = problem
      case let error as any ProblemError: self = error.problem
      case let error as LibraryError: self.init(error)
      case let error as FetchError:
        self.init(400, Self.fetchKinds[error.code] ?? "malformed-request", error.description)
      case let error as JSONError: self.init(400, "malformed-request", "The body is not valid JSON: \(error.clause).")
      case let error as GalleryError:
        self.init(
          error.isOfSpace ? 507 : 500, error.isOfSpace ? "not-enough-space" : "storage", privately: error.description,
          publicly: error.isOfSpace ? Self.fullDisk : Self.unreadableFile)
      default: self.init(500, "internal-error", "The request failed for an unknown reason.")
      }
    }

    private init(_ error: LibraryError) {
      let status =
        switch error.code {
        case .identifierNotFound, .missingResource: 404
        case .accessUserDenied, .accessRestricted, .missingUsageDescription: 403
        case .alreadyExists, .conflict, .multipleIdentifiersFound: 409
        case .tokenExpired: 410
        case .invalidToken, .malformedRequest, .malformedPredicate, .unsupportedPredicate, .unsupportedSort,
          .changeNotSupported, .invalidResource, .limitExceeded, .requestNotSupportedForAsset, .invalidProof:
          400
        case .closed, .libraryOffline, .newerThanProgram, .operationInterrupted, .outcomeUnknown, .resourceChanged: 503
        case .notEnoughSpace: 507
        case .converterMissing: 501
        case .conversionFailed: 422
        default: 500
        }
      let detail: String
      switch error.code {
      case .malformedRequest, .malformedPredicate, .unsupportedPredicate, .unsupportedSort, .changeNotSupported,
        .limitExceeded, .identifierNotFound, .requestNotSupportedForAsset, .invalidToken, .tokenExpired,
        .accessUserDenied, .accessRestricted, .missingUsageDescription, .conflict:
        // Words of the request and titles of the library, in which there may be slashes, and no paths.
        self.init(status, Self.kinds[error.code] ?? "internal-error", error.description)
        return
      case .notEnoughSpace: detail = Self.fullDisk
      case .conversionFailed: detail = "The file cannot be converted as requested; the server's log says why."
      case .newerThanProgram: detail = Self.newerLibrary
      case .missingResource:
        detail = "The file of the asset is missing; the server's log says where it was expected."
      case .invalidResource, .resourceChanged: detail = "The file is not as it was stated; the server's log says which."
      default: detail = Self.unreadableFile
      }
      self.init(
        status, Self.kinds[error.code] ?? "internal-error", privately: error.description, publicly: detail)
    }

    static let newerLibrary = "A newer program has migrated the library; restart the server with the newer program."
    private static let fullDisk = "The disk has no space left; the server's log names the file."
    private static let unreadableFile =
      "A file of the library or of the server cannot be used; the server's log says why."

    /// The names of the library's codes on the wire.
    static let kinds: [LibraryError.Code: String] = [
      .userCancelled: "cancelled", .tokenExpired: "token-expired", .libraryOffline: "library-offline",
      .newerThanProgram: "library-offline",
      .identifierNotFound: "not-found", .changeNotSupported: "change-not-supported",
      .operationInterrupted: "interrupted", .invalidResource: "invalid-resource", .missingResource: "missing-resource",
      .notEnoughSpace: "not-enough-space", .requestNotSupportedForAsset: "not-supported-for-asset",
      .accessRestricted: "access-restricted", .accessUserDenied: "access-denied",
      .multipleIdentifiersFound: "several-found", .limitExceeded: "limit-exceeded",
      .unsupportedPredicate: "unsupported-predicate", .unsupportedSort: "unsupported-sort",
      .malformedPredicate: "malformed-predicate", .alreadyExists: "already-exists", .corrupted: "corrupted",
      .conflict: "conflict", .closed: "closed", .invalidToken: "invalid-token", .malformedRequest: "malformed-request",
      .outcomeUnknown: "outcome-unknown", .storage: "storage", .resourceChanged: "resource-changed",
      .missingUsageDescription: "missing-usage-description", .invalidProof: "invalid-proof",
      .converterMissing: "converter-missing", .conversionFailed: "conversion-failed",
    ]

    private static let fetchKinds: [FetchError.Code: String] = [
      .unsupportedPredicate: "unsupported-predicate", .malformedPredicate: "malformed-predicate",
      .unsupportedSort: "unsupported-sort", .unknownKey: "unsupported-predicate", .wrongArgument: "malformed-predicate",
    ]

    /// The names of all types, for the API's description.
    static let types = Set(kinds.values).union([
      "sign-in-required", "internal-error", "cross-site", "method-not-allowed", "scope-missing", "too-many-requests",
      "password-required", "not-renderable", "not-ready",
    ])

    /// The members of the problem document, in answers and in what streams say.
    var document: [JSON.Member] {
      [
        JSON.Member("type", .text("urn:photoledger:problem:\(type)")),
        JSON.Member("status", .integer(Int64(status))), JSON.Member("detail", .text(detail)),
      ] + members
    }

    /// The problem document.
    var json: JSON { .object(document) }

    var response: HTTPResponse {
      var response = HTTPResponse(
        status,
        Headers.common + [("Content-Type", "application/problem+json"), ("Cache-Control", "no-store")] + fields,
        .bytes(Array(json.description.utf8)))
      response.note = note
      return response
    }
  }

  /// An error that states its problem: one that a later room declares, which this one may not name.
  protocol ProblemError: Error {
    var problem: Problem { get }
  }

  /// A failure of the server's own files.
  public struct GalleryError: Error, Sendable, CustomStringConvertible {
    /// A full sentence that names the file and what to do.
    public let description: String
    /// Whether there was no space for it.
    let isOfSpace: Bool

    init(_ description: String, isOfSpace: Bool = false) {
      (self.description, self.isOfSpace) = (description, isOfSpace)
    }
  }

  enum Headers {
    /// What every response says: nothing is guessed, framed or referred to.
    static let common: [(name: String, value: String)] = [
      ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
      ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox"),
      ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
  }

  extension HTTPResponse {
    /// A JSON document.
    static func json(_ json: JSON, status: Int = 200, _ fields: [(name: String, value: String)] = []) -> HTTPResponse {
      HTTPResponse(
        status, Headers.common + [("Content-Type", "application/json")] + fields, .bytes(Array(json.description.utf8)))
    }

    /// A JSON document that is written already, sent from where it was written.
    static func json(_ text: consuming JSONBytes, _ fields: [(name: String, value: String)]) -> HTTPResponse {
      json(WrittenDocument(text).bytes, fields)
    }

    /// A JSON document that is written already.
    static func json(_ bytes: HTTPBytes, _ fields: [(name: String, value: String)]) -> HTTPResponse {
      HTTPResponse(200, Headers.common + [("Content-Type", "application/json")] + fields, .lent(bytes))
    }
  }

  /// A document that is written, which lies where it was written until nothing sends it any more.
  final class WrittenDocument: Sendable {
    private let text: JSONBytes

    init(_ text: consuming JSONBytes) { self.text = text }

    /// The document for a response.
    var bytes: HTTPBytes { text.withUnsafeBytes { HTTPBytes($0, of: self) } }
  }
#endif
