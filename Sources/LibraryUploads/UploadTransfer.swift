package import Foundation
import PhotoLedger

// How one file gets to a server, as a value: what came back goes in, what to do next comes out. No socket, no clock and
// no file is touched here, so every path of the protocol is tested by calling a function.
//
// The protocol is the resumable upload of the IETF's HTTP group (draft-ietf-httpbis-resumable-upload), as Apple's
// article "Uploading asset resources in the background" describes it: `OPTIONS` checks whether the server supports it,
// a 104 answer names the upload while the body is being sent, `HEAD` returns how much arrived, `PATCH` sends the rest.
//
//     probing ──▶ creating ──────────────▶ finished        everything fitted into the first request
//     OPTIONS     POST, bytes 0..<p          ▲
//                   │                        │ the last portion was taken
//                   ▼                        │
//                 appending ◀───────────── asking          after a cut, a 409, a 5xx, a restart of the process
//                 PATCH, bytes o..<o+p       HEAD
//                   └────────▶ waiting ──────┘             backoff; the server's Retry-After
//
//     Can transition to:
//     probing    → probing (a redirect), creating, waiting, finished
//     creating   → creating (a redirect), asking, appending, waiting, finished
//     appending  → appending, asking, creating (the server forgot), waiting, finished
//     asking     → appending, creating (the server forgot), waiting, finished
//     waiting    → probing, creating, asking
//
// Invariant: `offset` is only what the server stated, or acknowledged by an answer; the bytes before it are not sent
// again unless the server lost the upload. The file is sent in portions of at most `portion` bytes, each one request
// whose length is known, since Foundation on Linux sends a streamed body both chunked and with its length, which
// servers must reject (RFC 9112, 6.3). A portion is in memory once; a server without the protocol gets the whole file
// in one request, streamed from a verified copy.
//
// Two forms of the draft differ in one field: `Upload-Incomplete: ?1` (interop version 3, which Apple's article shows)
// became `Upload-Complete: ?0`. Both are sent and either is read; the version field says 3, so that servers that choose
// by it use the form that every server of Apple's clients supports. A server that supports only the newer form finds
// the newer field, the length, and the required media type.
//
// Failures are counted until the server has taken another byte. Rejected: counting all of them, which would end an
// upload of a large video over a poor line that makes progress each time; and no limit, which keeps a job's place for
// ever.

/// A request that a transfer wants sent.
package struct UploadCall: Hashable, Sendable {
  /// What goes with it.
  package enum Body: Hashable, Sendable {
    case none
    case portion(Range<UInt64>)
    /// All bytes in one request.
    case whole
  }

  package var method: String
  package var url: String
  package var headers: [String: String]
  package var body: Body
}

/// A server's answer: its status, and its fields with names in lower case.
package struct UploadAnswer: Hashable, Sendable {
  package var status: Int
  package var headers: [String: String]

  package init(status: Int, headers: [String: String]) {
    self.status = status
    self.headers = Dictionary(headers.map { ($0.lowercased(), $1) }) { "\($0), \($1)" }
  }
}

/// How far a transfer is: all that a later process needs to go on.
package struct UploadProgress: Codable, Hashable, Sendable {
  /// Where the upload is created, if a redirect named another place than the destination.
  package internal(set) var target: String?
  /// Whether the server supports the protocol; nil if unknown.
  package internal(set) var isResumable: Bool?
  /// The URL of the upload at the server; nil before it was created.
  package internal(set) var upload: String?
  /// The bytes that the server has.
  package internal(set) var offset: UInt64 = 0
  /// The largest request body that the server takes, bytes.
  package internal(set) var appendMax: UInt64?
  /// The failures since the server last took a byte.
  package internal(set) var failures = 0
  /// How often the server forgot the upload.
  package internal(set) var restarts = 0
  package internal(set) var redirects = 0
}

/// The limits of a transfer.
package struct UploadLimits: Sendable {
  /// The bytes of one request of a resumable upload.
  package var portion: UInt64 = 4 << 20
  /// The failures in a row after which the job fails.
  package var failures = 8
  package var restarts = 4
  package var redirects = 5
  /// Seconds of the first pause, and of the longest.
  package var pauses = 1.0...300.0
  /// The longest pause that a server may request, seconds.
  package var retryAfterMax = 3600.0
  /// Seconds after which a job fails that is not finished, from when a process last began it, without the waits for
  /// another network.
  package var total = 7 * 86_400.0
  /// Seconds between two checks of the permission while a request with bytes is in progress.
  package var permissionCheck = 1.0

  package init() {}
}

/// The transfer of one job.
package struct UploadTransfer: Sendable {
  package enum Phase: Hashable, Sendable { case probing, creating, appending, asking, waiting, finished }

  /// What came in.
  package enum Input: Sendable {
    case begin
    /// The answer of the request, and the 104 that came before it.
    case answered(UploadAnswer, informed: UploadAnswer?)
    /// The connection ended without an answer; perhaps a 104 came before.
    case disconnected(UploadProblem, informed: UploadAnswer?)
    /// The pause is over.
    case waited
  }

  /// What to do next; exactly one of these, until the transfer is finished.
  package enum Step: Hashable, Sendable {
    case send(UploadCall)
    case wait(seconds: Double)
    case succeed([String: String])
    case fail(UploadProblem, [String: String])
  }

  private let destination: UploadDestination
  private let size: UInt64
  private let limits: UploadLimits
  private var deadline: Date
  package internal(set) var progress: UploadProgress
  package private(set) var phase = Phase.probing
  /// Where the next portion ends, while one is on its way.
  private var sent: UInt64 = 0

  package init(_ job: UploadJob, limits: UploadLimits = UploadLimits()) {
    (destination, size, self.limits) = (job.destination, job.size, limits)
    progress = job.progress
    deadline = Date(microseconds: job.since).addingTimeInterval(limits.total)
  }

  /// Advances by an input.
  /// - Parameters:
  ///   - now: the time, for the limit of the whole transfer and for dates in `Retry-After`.
  ///   - jitter: a random number from 0 up to 1, for the length of a pause.
  package mutating func handle(_ input: Input, at now: Date, jitter: Double) -> Step {
    let step = next(input, now, jitter)
    guard now >= deadline, phase != .finished else { return step }
    return fail(UploadProblem.timedOut, "The upload was not finished within \(Int(limits.total)) seconds")
  }

  /// Leaves out a wait in which nothing could be sent from the limit of the whole transfer.
  mutating func postponeDeadline(by seconds: Double) { deadline += max(0, seconds) }

  private mutating func next(_ input: Input, _ now: Date, _ jitter: Double) -> Step {
    switch input {
    case .begin, .waited: return resume()
    case .answered(let answer, let informed):
      note(informed)
      return answered(answer, now, jitter)
    case .disconnected(let problem, let informed):
      note(informed)
      return again(problem, nil, now, jitter)
    }
  }

  /// What a transfer does that was not begun, or was interrupted.
  private mutating func resume() -> Step {
    if progress.upload != nil { return ask() }
    return progress.isResumable == nil ? probe() : create()
  }

  /// Records the place of the upload that a 104 named.
  mutating func note(_ informed: UploadAnswer?) {
    guard phase == .creating, progress.isResumable == true, let place = informed?.headers["location"] else { return }
    // A 104 that names an impossible place is as good as none: the final answer decides.
    progress.upload = try? self.place(place, from: target).get()
  }
}

// MARK: - Requests

extension UploadTransfer {
  private var target: String { progress.target ?? destination.url }

  private mutating func probe() -> Step {
    phase = .probing
    return .send(UploadCall(method: "OPTIONS", url: target, headers: fields(for: target, [:]), body: .none))
  }

  private mutating func ask() -> Step {
    guard let upload = progress.upload else { return create() }
    phase = .asking
    return .send(UploadCall(method: "HEAD", url: upload, headers: fields(for: upload, Self.version), body: .none))
  }

  private mutating func create() -> Step {
    phase = .creating
    progress.offset = 0
    let type = destination.headers.first { $0.key.lowercased() == "content-type" }?.value ?? "application/octet-stream"
    guard progress.isResumable == true else {
      sent = size
      let headers = fields(for: target, ["Content-Type": type], isCreation: true)
      return .send(UploadCall(method: destination.method, url: target, headers: headers, body: .whole))
    }
    sent = min(portion, size)
    var headers = Self.version.merging(completeness(isLast: sent == size)) { $1 }
    headers["Upload-Length"] = String(size)
    headers["Content-Type"] = type
    return .send(
      UploadCall(
        method: destination.method, url: target, headers: fields(for: target, headers, isCreation: true),
        body: .portion(0..<sent)))
  }

  private mutating func append() -> Step {
    guard let upload = progress.upload else { return create() }
    phase = .appending
    sent = min(progress.offset + portion, size)
    var headers = Self.version.merging(completeness(isLast: sent == size)) { $1 }
    headers["Upload-Offset"] = String(progress.offset)
    headers["Content-Type"] = "application/partial-upload"
    return .send(
      UploadCall(
        method: "PATCH", url: upload, headers: fields(for: upload, headers), body: .portion(progress.offset..<sent)))
  }

  /// The request that makes a server discard a cancelled upload; nil if it has nothing.
  package var withdrawal: UploadCall? {
    guard let upload = progress.upload, phase != .finished else { return nil }
    return UploadCall(method: "DELETE", url: upload, headers: fields(for: upload, Self.version), body: .none)
  }

  private var portion: UInt64 { max(1, min(limits.portion, progress.appendMax ?? .max)) }

  private static let version = ["Upload-Draft-Interop-Version": "3"]

  private func completeness(isLast: Bool) -> [String: String] {
    ["Upload-Incomplete": isLast ? "?0" : "?1", "Upload-Complete": isLast ? "?1" : "?0"]
  }

  /// The client's fields and the protocol's. The client's go to its own server only, and those about the body, or about
  /// the connection, go with the request that creates the upload or with none; digests of its body only if that is the
  /// whole file.
  private func fields(
    for url: String, _ own: [String: String], isCreation: Bool = false
  ) -> [String: String] {
    var fields: [String: String] = [:]
    if Self.origin(url) == Self.origin(destination.url) {
      for (name, value) in destination.headers {
        let lower = name.lowercased()
        let isReserved = Self.reserved.contains(lower) || lower.hasPrefix("upload-")
        let isAboutBody = lower.hasPrefix("content-") || lower.hasSuffix("digest")
        let isFalse = isCreation && sent < size && Self.digestsOfContent.contains(lower)
        if !isReserved, isCreation || !isAboutBody, !isFalse { fields[name] = value }
      }
    }
    for (name, value) in own {
      for known in fields.keys where known.lowercased() == name.lowercased() { fields[known] = nil }
      fields[name] = value
    }
    return fields
  }

  private static let reserved: Set<String> = [
    "host", "connection", "content-length", "transfer-encoding", "expect", "te", "trailer", "upgrade",
  ]

  /// The digests of what one request carries, and `Digest`, which servers read either way; `Repr-Digest` is that of the
  /// whole file (RFC 9530).
  private static let digestsOfContent: Set<String> = ["content-md5", "content-digest", "digest"]

  private static func origin(_ text: String) -> [String] {
    guard let url = URL(string: text), let scheme = url.scheme?.lowercased() else { return [] }
    return [scheme, url.host?.lowercased() ?? "", String(url.port ?? (scheme == "https" ? 443 : 80))]
  }

  /// A place that a server named, as an absolute URL.
  private func place(_ text: String, from base: String) -> Result<String, UploadProblem> {
    guard text.utf8.count <= 8192, let from = URL(string: base),
      let url = URL(string: text, relativeTo: from)?.absoluteURL, let scheme = url.scheme?.lowercased(),
      ["http", "https"].contains(scheme), url.host?.isEmpty == false
    else {
      return .failure(
        UploadProblem(UploadProblem.redirectToNonExistentLocation, "The server returned no usable location"))
    }
    guard scheme == "https" || from.scheme?.lowercased() != "https" else {
      return .failure(
        UploadProblem(
          UploadProblem.secureConnectionFailed, "The server redirected from https to http, which is not allowed"))
    }
    return .success(url.absoluteString)
  }
}

// MARK: - Answers

extension UploadTransfer {
  private mutating func answered(_ answer: UploadAnswer, _ now: Date, _ jitter: Double) -> Step {
    // The answer to OPTIONS decides less: a server that does not know the method still takes a plain upload.
    if phase == .probing, let step = probed(answer) { return step }
    switch answer.status {
    case 200..<300: return taken(answer, now, jitter)
    case 301, 302, 307, 308: return redirected(answer)
    case 401, 407: return fail(UploadProblem.userAuthenticationRequired, "The server requires authentication", answer)
    case 404 where progress.upload != nil, 410 where progress.upload != nil:
      return forgotten(answer, now, jitter)
    case 413: return tooLarge(answer, now, jitter)
    case 408, 409, 425, 429, 500, 502, 503, 504, 507:
      return again(UploadProblem(UploadProblem.badServerResponse, Self.sentence(answer)), answer, now, jitter)
    default: return fail(UploadProblem.badServerResponse, Self.sentence(answer), answer)
    }
  }

  /// What an answer to OPTIONS says; nil if it is to be treated as the answer to any request.
  private mutating func probed(_ answer: UploadAnswer) -> Step? {
    switch answer.status {
    case 301, 302, 307, 308, 408, 425, 429, 500, 502, 503, 504: return nil
    case 200..<300:
      guard let limit = answer.headers["upload-limit"] else { break }
      progress.isResumable = true
      if let step = take(limit: limit, answer) { return step }
      return create()
    default: break
    }
    progress.isResumable = false
    return create()
  }

  /// Reads `Upload-Limit`: a bare number, as Apple's article has it, or `max-size=…, max-append-size=…`.
  private mutating func take(limit: String, _ answer: UploadAnswer) -> Step? {
    var largest: UInt64?
    for part in limit.split(separator: ",") {
      let words = part.split(separator: "=").map { $0.trimmingCharacters(in: .whitespaces) }
      switch (words.first?.lowercased(), words.last.flatMap { UInt64($0) }) {
      case ("max-size", let number?): largest = number
      case ("max-append-size", let number?) where number > 0: progress.appendMax = number
      case (_, let number?) where words.count == 1: largest = number
      default: break
      }
    }
    guard let largest, size > largest else { return nil }
    return fail(
      UploadProblem.dataLengthExceedsMaximum, "The file has \(size) bytes, and the server accepts at most \(largest)",
      answer)
  }

  /// An answer that the server took what it was sent, or knows the upload.
  private mutating func taken(_ answer: UploadAnswer, _ now: Date, _ jitter: Double) -> Step {
    if phase == .creating, progress.isResumable != true { return succeed(answer) }
    let isIncomplete = Self.incomplete(answer)
    if phase == .creating, let named = answer.headers["location"] {
      switch place(named, from: target) {
      case .success(let url): progress.upload = url
      case .failure(let problem): return fail(problem.code, problem.sentence, answer)
      }
    }
    let confirmed = answer.headers["upload-offset"].flatMap { UInt64($0) }
    if phase == .asking {
      guard let confirmed else { return forgotten(answer, now, jitter) }
      guard confirmed <= size else { return confused("has \(confirmed) bytes of a file of \(size)", answer) }
      if isIncomplete == false, confirmed == size { return succeed(answer) }
      grow(to: confirmed)
      progress.offset = confirmed
      return append()
    }
    if sent == size, isIncomplete != true { return succeed(answer) }
    if isIncomplete == false { return confused("took \(sent) bytes of \(size) for all", answer) }
    guard progress.upload != nil else {
      // A server that promised the protocol and does not name the upload does not support it.
      progress.isResumable = false
      return create()
    }
    let offset = confirmed ?? sent
    guard offset <= sent, offset >= progress.offset else {
      return confused("has \(offset) bytes after it was sent up to \(sent)", answer)
    }
    if offset == progress.offset {
      return again(UploadProblem(UploadProblem.badServerResponse, "The server accepted no byte"), answer, now, jitter)
    }
    grow(to: offset)
    progress.offset = offset
    return append()
  }

  private mutating func grow(to offset: UInt64) { if offset > progress.offset { progress.failures = 0 } }

  /// The server does not know the upload any more: everything is sent again.
  private mutating func forgotten(_ answer: UploadAnswer, _ now: Date, _ jitter: Double) -> Step {
    progress.restarts += 1
    (progress.upload, progress.offset) = (nil, 0)
    guard progress.restarts <= limits.restarts else {
      return fail(
        UploadProblem.badServerResponse, "The server lost the upload \(progress.restarts) times", answer)
    }
    return again(UploadProblem(UploadProblem.badServerResponse, "The server lost the upload"), answer, now, jitter)
  }

  private mutating func tooLarge(_ answer: UploadAnswer, _ now: Date, _ jitter: Double) -> Step {
    let before = portion
    if progress.isResumable == true, let limit = answer.headers["upload-limit"] {
      if let step = take(limit: limit, answer) { return step }
      let problem = UploadProblem(UploadProblem.dataLengthExceedsMaximum, "The server rejects every size of body")
      if portion < before { return again(problem, answer, now, jitter) }
    }
    return fail(UploadProblem.dataLengthExceedsMaximum, "The server rejects a body of this size", answer)
  }

  private mutating func redirected(_ answer: UploadAnswer) -> Step {
    let base = phase == .appending || phase == .asking ? progress.upload ?? target : target
    // 301 and 302 may turn a POST into a GET (RFC 9110, 15.4), and then nothing would be stored.
    guard [307, 308].contains(answer.status) || phase == .probing || phase == .asking else {
      return fail(UploadProblem.badServerResponse, Self.sentence(answer), answer)
    }
    progress.redirects += 1
    guard progress.redirects <= limits.redirects, let named = answer.headers["location"] else {
      return fail(-1007, "The server redirected the upload \(progress.redirects) times", answer)
    }
    switch place(named, from: base) {
    case .failure(let problem): return fail(problem.code, problem.sentence, answer)
    case .success(let url):
      if phase == .appending || phase == .asking {
        progress.upload = url
        return phase == .asking ? ask() : append()
      }
      progress.target = url
      return phase == .probing ? probe() : create()
    }
  }

  private mutating func again(
    _ problem: UploadProblem, _ answer: UploadAnswer?, _ now: Date, _ jitter: Double
  ) -> Step {
    progress.failures += 1
    guard progress.failures <= limits.failures else {
      return fail(problem.code, "\(problem.sentence), \(progress.failures) times in a row", answer)
    }
    phase = .waiting
    let doubled = limits.pauses.lowerBound * Double(sign: .plus, exponent: progress.failures - 1, significand: 1)
    let pause = min(doubled, limits.pauses.upperBound) * (0.5 + max(0, min(1, jitter)) / 2)
    let asked = answer?.headers["retry-after"].flatMap { Self.seconds($0, now) } ?? 0
    return .wait(seconds: max(pause, min(asked, limits.retryAfterMax)))
  }

  private mutating func succeed(_ answer: UploadAnswer) -> Step {
    phase = .finished
    progress.offset = size
    return .succeed(answer.headers)
  }

  private mutating func fail(_ code: Int, _ sentence: String, _ answer: UploadAnswer? = nil) -> Step {
    phase = .finished
    return .fail(UploadProblem(code, "\(sentence)."), answer?.headers ?? [:])
  }

  private mutating func confused(_ what: String, _ answer: UploadAnswer) -> Step {
    fail(UploadProblem.badServerResponse, "The server \(what)", answer)
  }

  private static func sentence(_ answer: UploadAnswer) -> String { "The server answered \(answer.status)" }

  /// Whether an answer says that more has to come; nil if it does not say.
  private static func incomplete(_ answer: UploadAnswer) -> Bool? {
    if let field = answer.headers["upload-complete"] { return field == "?0" }
    return answer.headers["upload-incomplete"].map { $0 == "?1" }
  }

  /// `Retry-After`: seconds, or a date.
  private static func seconds(_ text: String, _ now: Date) -> Double? {
    if let number = UInt32(text.trimmingCharacters(in: .whitespaces)) { return Double(number) }
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.timeZone = TimeZone(identifier: "GMT")
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
    return format.date(from: text).map { max(0, $0.timeIntervalSince(now)) }
  }
}
