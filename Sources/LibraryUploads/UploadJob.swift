package import PhotoLedger
import Foundation

// An upload job: one resource of an asset that a client wants at a server of its own (PHAssetResourceUploadJob).
//
//     registered ──begin──▶ pending ──succeed──▶ succeeded ──acknowledge──▶ gone
//       ▲    │                │ │
//       │    └────cancel──────┘ └─────fail─────▶ failed ─────acknowledge──▶ gone
//       │            ▼                             │
//       │     cancelled, gone                      │
//       └───────────────── retry, once ────────────┘
//
// Invariant: a job leaves the store only by `acknowledge` or `cancel`, so a client whose process ended finds every job
// again, and learns its outcome. All transitions are defined here; an invalid input is an error of the client, or a
// race of two processes, and changes nothing.
//
// The job identifies its file by the identifier of the asset, the type of the resource and the hash of its bytes. It
// holds no path and no bytes: they are looked up and read through the library each time, so that files for which the
// client lost its permission are not sent (`UploadService.swift`).

/// The destination of a job: the stored parts of a URLRequest.
package struct UploadDestination: Codable, Hashable, Sendable {
  /// An absolute http or https URL.
  package var url: String
  /// `POST`, `PUT` or `PATCH`.
  package var method: String
  /// The fields of the client, among them what it authenticates with.
  package var headers: [String: String]

  package init(url: String, method: String, headers: [String: String]) {
    (self.url, self.method, self.headers) = (url, method, headers)
  }

  /// What keeps a request from being a destination; nil if it can be one.
  package var problem: String? {
    guard let url = URL(string: url), let scheme = url.scheme?.lowercased(), url.host?.isEmpty == false else {
      return "'\(self.url)' is not an absolute URL"
    }
    guard ["http", "https"].contains(scheme) else { return "the scheme '\(scheme)' is not http or https" }
    guard ["POST", "PUT", "PATCH"].contains(method) else {
      return "the method \(method) does not store a body; set POST or PUT"
    }
    let texts = [self.url] + headers.flatMap { [$0.key, $0.value] }
    let size = texts.reduce(0) { size, text in size + text.utf8.count }
    guard size <= Self.sizeMax else { return "URL and fields have \(size) bytes, more than \(Self.sizeMax)" }
    let isBroken = texts.contains { text in text.utf8.contains { $0 < 0x20 && $0 != 9 || $0 == 0x7F } }
    return isBroken ? "a header field contains a control character" : nil
  }

  /// The bytes that URL and fields may have.
  private static let sizeMax = 64 << 10
}

/// Why a job failed: a code of Foundation's URL errors and a sentence (PHAssetResourceUploadJob.error).
package struct UploadProblem: Error, Codable, Hashable, Sendable {
  /// A number of `NSURLErrorDomain`.
  package var code: Int
  package var sentence: String

  package init(_ code: Int, _ sentence: String) { (self.code, self.sentence) = (code, sentence) }

  package static let timedOut = -1001
  package static let redirectToNonExistentLocation = -1010
  package static let badServerResponse = -1011
  package static let userAuthenticationRequired = -1013
  package static let cannotDecodeRawData = -1015
  package static let fileDoesNotExist = -1100
  package static let noPermissionsToReadFile = -1102
  package static let dataLengthExceedsMaximum = -1103
  package static let secureConnectionFailed = -1200
}

/// A stored job.
package struct UploadJob: Codable, Hashable, Sendable {
  /// The stages of a job; the numbers are PhotoKit's.
  package enum State: Int, Codable, Sendable { case registered = 1, pending, failed, succeeded, cancelled }

  /// What a job does; the numbers are PhotoKit's.
  package enum Kind: Int, Codable, Sendable { case upload = 0, downloadOnly }

  /// What can be done with a job; the numbers are PhotoKit's.
  package enum Action: Int, Sendable { case acknowledge = 1, retry, process }

  /// What happens to a job.
  package enum Input: Hashable, Sendable {
    case begin
    case succeed([String: String])
    case fail(UploadProblem, [String: String])
    case retry(UploadDestination?)
    case acknowledge
    case cancel
  }

  package let identifier: String
  /// Its place among the jobs of its client, from 1, never used twice.
  package let number: UInt64
  package let kind: Kind
  package internal(set) var destination: UploadDestination
  /// The asset and the file of it.
  package let asset: String
  package let type: ResourceType
  package let sha256: String
  package let size: UInt64
  /// When it was made, retried, or begun by a process, whichever came last; microseconds since 1970 by the clock of
  /// uploads. Its limit of time counts from then, so that a job does not fail for lack of a process that executes it.
  package internal(set) var since: Int64
  package internal(set) var state = State.registered
  package internal(set) var wasRetried = false
  package internal(set) var problem: UploadProblem?
  /// The fields of the server's last answer, names in lower case.
  package internal(set) var responseHeaders: [String: String]?
  /// How far the transfer is.
  package internal(set) var progress = UploadProgress()

  package init(
    identifier: String, number: UInt64, kind: Kind, destination: UploadDestination, asset: String,
    resource: AssetResource, since: Int64
  ) {
    (self.identifier, self.number, self.kind) = (identifier, number, kind)
    (self.destination, self.asset, self.since) = (destination, asset, since)
    (type, sha256, size) = (resource.type, resource.sha256Hex, resource.dataSize)
  }

  /// Whether an action applies to the job.
  package func allows(_ action: Action) -> Bool {
    switch action {
    case .acknowledge: state == .succeeded || state == .failed
    case .retry: state == .failed && !wasRetried
    case .process: state == .registered || state == .pending
    }
  }

  /// Advances by an input.
  /// - Returns: whether the job is kept.
  /// - Throws: ``LibraryError`` `.changeNotSupported` if the input is invalid in the state; nothing has changed then.
  package mutating func apply(_ input: Input, at time: Int64 = 0) throws(LibraryError) -> Bool {
    switch (input, state) {
    case (.begin, .registered), (.begin, .pending): (state, since) = (.pending, time)
    case (.succeed(let headers), .pending): (state, problem, responseHeaders) = (.succeeded, nil, headers)
    case (.fail(let why, let headers), .registered), (.fail(let why, let headers), .pending):
      (state, problem, responseHeaders) = (.failed, why, headers)
    case (.retry(let other), .failed) where !wasRetried:
      if let other { destination = other }
      (state, wasRetried, problem, responseHeaders) = (.registered, true, nil, nil)
      (progress, since) = (UploadProgress(), time)
    case (.cancel, .registered), (.cancel, .pending):
      state = .cancelled
      return false
    case (.acknowledge, .failed), (.acknowledge, .succeeded): return false
    default: throw refusal(of: input)
    }
    return true
  }

  private func refusal(of input: Input) -> LibraryError {
    let (verb, advice) =
      switch input {
      case .begin: ("begun", "only a registered job is")
      case .succeed, .fail: ("finished", "only a pending job is")
      case .retry:
        ("retried", wasRetried ? "it was already retried; acknowledge it and create another" : "only a failed job is")
      case .acknowledge: ("acknowledged", "only a job that succeeded or failed is")
      case .cancel: ("cancelled", "only a registered or pending job is")
      }
    return LibraryError(
      .changeNotSupported, "The upload job \(identifier) is \(state) and cannot be \(verb): \(advice).")
  }
}
