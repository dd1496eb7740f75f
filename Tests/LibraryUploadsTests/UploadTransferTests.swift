import Foundation
import TestSupport
import Testing

@testable import LibraryUploads
import PhotoLedger

// The protocol without a socket: a server of three variables answers what the transfer sends, or does not.

/// What a server has of an upload, by the draft.
private struct ServerModel {
  var isResumable = true
  var upload: String?
  var bytes: UInt64 = 0
  var isComplete = false
  var uploads = 0

  /// Takes a request up to a byte of its body, and answers, unless the connection was cut.
  mutating func take(_ call: UploadCall, size: UInt64, cut: UInt64? = nil) -> (UploadAnswer?, UploadAnswer?) {
    switch (call.method, call.body) {
    case ("OPTIONS", _):
      return (nil, UploadAnswer(status: isResumable ? 200 : 501, headers: isResumable ? ["Upload-Limit": "1000"] : [:]))
    case ("HEAD", _):
      guard call.url == upload else { return (nil, UploadAnswer(status: 404, headers: [:])) }
      return (nil, UploadAnswer(status: 204, headers: fields))
    case ("PATCH", .portion(let range)):
      guard call.url == upload, !isComplete else { return (nil, UploadAnswer(status: 404, headers: [:])) }
      guard range.lowerBound == bytes, call.headers["Upload-Offset"] == "\(bytes)" else {
        return (nil, UploadAnswer(status: 409, headers: fields))
      }
      return finish(call, range, cut, nil)
    case (_, .portion(let range)):
      uploads += 1
      upload = "http://server/\(uploads)"
      (bytes, isComplete) = (0, false)
      return finish(call, range, cut, UploadAnswer(status: 104, headers: ["Location": "/\(uploads)"]))
    case (_, .whole):
      if cut != nil { return (nil, nil) }
      (bytes, isComplete) = (size, true)
      return (nil, UploadAnswer(status: 200, headers: ["X-ID": "1"]))
    default: return (nil, UploadAnswer(status: 400, headers: [:]))
    }
  }

  private var fields: [String: String] { ["Upload-Offset": "\(bytes)", "Upload-Incomplete": isComplete ? "?0" : "?1"] }

  private mutating func finish(
    _ call: UploadCall, _ range: Range<UInt64>, _ cut: UInt64?, _ informed: UploadAnswer?
  ) -> (UploadAnswer?, UploadAnswer?) {
    bytes = min(range.upperBound, range.lowerBound + (cut ?? .max >> 1))
    if cut != nil { return (informed, nil) }
    isComplete = call.headers["Upload-Incomplete"] == "?0"
    return (informed, UploadAnswer(status: 201, headers: fields.merging(["Location": upload ?? ""]) { $1 }))
  }
}

@Suite("The transfer of an upload")
struct UploadTransferTests {
  static let now = Date(timeIntervalSince1970: 1_800_000_000)

  static func transfer(size: UInt64, headers: [String: String] = [:], portion: UInt64 = 100) -> UploadTransfer {
    var resource = AssetResource.invented(1)
    resource.dataSize = size
    var limits = UploadLimits()
    limits.portion = portion
    return UploadTransfer(
      UploadJob(
        identifier: "job", number: 1, kind: .upload,
        destination: UploadDestination(url: "http://server/upload", method: "POST", headers: headers), asset: "asset",
        resource: resource, since: now.microseconds), limits: limits)
  }

  private func send(_ step: UploadTransfer.Step) throws -> UploadCall {
    guard case .send(let call) = step else { throw Divergence("\(step) sends nothing.") }
    return call
  }

  @Test("wherever it is cut, the upload ends with every byte at the server, none resent that the server acknowledged")
  func model() throws {
    for seed in 0..<1000 {
      var random = SeededGenerator(seed: UInt64(seed))
      let size = UInt64(random.one(of: [0, 1, 99, 100, 101, 350, 1000]))
      var transfer = Self.transfer(size: size)
      var server = ServerModel(isResumable: !random.chance(1, of: 5))
      var step = transfer.handle(.begin, at: Self.now, jitter: 0.5)
      var troubles = random.int(0..<7)
      var steps = 0
      while true {
        steps += 1
        try #require(steps < 200, "seed \(seed) does not end: \(step)")
        switch step {
        case .wait(let seconds):
          #expect(seconds > 0 && seconds <= 300)
          // Another process goes on from what was kept.
          if random.chance(1, of: 3) {
            let kept = transfer.progress
            transfer = Self.transfer(size: size)
            transfer.progress = kept
          }
          step = transfer.handle(.waited, at: Self.now, jitter: 0.5)
          continue
        case .send(let call):
          let isTrouble = troubles > 0 && random.chance(1, of: 2)
          if isTrouble { troubles -= 1 }
          let cut = isTrouble ? UInt64(random.int(0..<120)) : nil
          let (informed, answer) = server.take(call, size: size, cut: cut)
          let lost = UploadProblem(-1005, "lost")
          if isTrouble || answer == nil {
            step = transfer.handle(
              random.chance(1, of: 4) && isTrouble
                ? .answered(UploadAnswer(status: 503, headers: [:]), informed: informed)
                : .disconnected(lost, informed: informed), at: Self.now, jitter: 0.5)
          } else if let answer {
            step = transfer.handle(.answered(answer, informed: informed), at: Self.now, jitter: 0.5)
          }
          continue
        case .succeed:
          #expect(server.isComplete && server.bytes == size && server.uploads <= 1, "seed \(seed)")
        case .fail(let problem, _): Issue.record("seed \(seed): \(problem.sentence)")
        }
        break
      }
      #expect(transfer.phase == .finished)
    }
  }

  @Test("the first request asks what the server has; 501 leads to one request with everything")
  func plain() throws {
    let fields = ["Content-Type": "image/jpeg", "Host": "evil", "Upload-Offset": "9"]
    var transfer = Self.transfer(size: 350, headers: fields)
    let probe = try send(transfer.handle(.begin, at: Self.now, jitter: 0))
    #expect(probe.method == "OPTIONS" && probe.url == "http://server/upload" && probe.body == .none)
    let no = UploadAnswer(status: 501, headers: [:])
    let all = try send(transfer.handle(.answered(no, informed: nil), at: Self.now, jitter: 0))
    #expect(all.method == "POST" && all.body == .whole)
    #expect(all.headers == ["Content-Type": "image/jpeg"], "Other fields are not the client's.")
  }

  @Test("a portion says whether it is the last, in both forms, and a created upload is queried after a cut")
  func portions() throws {
    let digests = ["Content-MD5": "1", "Content-Digest": "2", "Digest": "3", "Repr-Digest": "4"]
    let headers = digests.merging(["Authorization": "a"]) { $1 }
    var transfer = Self.transfer(size: 250, headers: headers)
    _ = transfer.handle(.begin, at: Self.now, jitter: 0)
    let yes = UploadAnswer(status: 200, headers: ["upload-limit": "max-size=1000, max-append-size=90"])
    let first = try send(transfer.handle(.answered(yes, informed: nil), at: Self.now, jitter: 0))
    #expect(first.body == .portion(0..<90))
    #expect(first.headers.filter { digests[$0.key] != nil } == ["Repr-Digest": "4"], "The others are of all bytes.")
    #expect(first.headers["Upload-Incomplete"] == "?1" && first.headers["Upload-Complete"] == "?0")
    #expect(first.headers["Upload-Draft-Interop-Version"] == "3" && first.headers["Upload-Length"] == "250")
    let place = UploadAnswer(status: 104, headers: ["location": "http://server/u/1"])
    let pause = transfer.handle(.disconnected(UploadProblem(-1005, "lost"), informed: place), at: Self.now, jitter: 1)
    #expect(pause == .wait(seconds: 1))
    let ask = try send(transfer.handle(.waited, at: Self.now, jitter: 0))
    #expect(ask.method == "HEAD" && ask.url == "http://server/u/1" && ask.headers["Authorization"] == "a")
    let told = UploadAnswer(status: 204, headers: ["upload-offset": "200", "upload-incomplete": "?1"])
    let last = try send(transfer.handle(.answered(told, informed: nil), at: Self.now, jitter: 0))
    #expect(last.body == .portion(200..<250) && last.method == "PATCH")
    #expect(last.headers["Upload-Offset"] == "200" && last.headers["Upload-Incomplete"] == "?0")
    #expect(last.headers["Content-Type"] == "application/partial-upload")
    #expect(last.headers.allSatisfy { digests[$0.key] == nil })
    let done = UploadAnswer(status: 201, headers: ["X-Id": "7"])
    #expect(transfer.handle(.answered(done, informed: nil), at: Self.now, jitter: 0) == .succeed(["x-id": "7"]))
    var short = Self.transfer(size: 90, headers: headers)
    _ = short.handle(.begin, at: Self.now, jitter: 0)
    let all = try send(short.handle(.answered(yes, informed: nil), at: Self.now, jitter: 0))
    #expect(all.body == .portion(0..<90) && all.headers.filter { digests[$0.key] != nil } == digests)
  }

  @Test("a pause doubles up to its limit, follows Retry-After in seconds or as a date, and ends after eight failures")
  func pauses() throws {
    var transfer = Self.transfer(size: 10)
    _ = transfer.handle(.begin, at: Self.now, jitter: 0)
    var pauses: [Double] = []
    let asked: [String?] = [nil, "120", "Fri, 15 Jan 2027 08:00:09 GMT", "99999", nil, nil, nil, nil]
    for field in asked {
      let answer = UploadAnswer(status: 503, headers: field.map { ["Retry-After": $0] } ?? [:])
      guard case .wait(let seconds) = transfer.handle(.answered(answer, informed: nil), at: Self.now, jitter: 1) else {
        throw Divergence("No pause after \(pauses).")
      }
      pauses.append(seconds)
      _ = transfer.handle(.waited, at: Self.now, jitter: 1)
    }
    #expect(pauses == [1, 120, 9, 3600, 16, 32, 64, 128])
    let busy = UploadAnswer(status: 503, headers: [:])
    let last = transfer.handle(.answered(busy, informed: nil), at: Self.now, jitter: 1)
    guard case .fail(let problem, _) = last else { throw Divergence("\(last) goes on.") }
    #expect(problem.code == UploadProblem.badServerResponse && problem.sentence.contains("503"))
  }

  @Test("an upload that is not finished in seven days fails, whatever its state")
  func deadline() {
    var transfer = Self.transfer(size: 10)
    _ = transfer.handle(.begin, at: Self.now, jitter: 0)
    let late = Self.now.addingTimeInterval(7 * 86_400)
    guard case .fail(let problem, _) = transfer.handle(.waited, at: late, jitter: 0) else {
      Issue.record("It goes on.")
      return
    }
    #expect(problem.code == UploadProblem.timedOut)
  }

  struct Ending: Sendable, CustomTestStringConvertible {
    let name: String
    let status: Int
    var headers: [String: String] = [:]
    let code: Int
    var testDescription: String { name }
  }

  @Test(
    "answers that end an upload say why",
    arguments: [
      Ending(name: "authentication", status: 401, code: -1013),
      Ending(name: "too large", status: 413, code: -1103),
      Ending(name: "a refusal", status: 403, code: -1011),
      Ending(name: "a redirect that drops bodies", status: 303, headers: ["location": "/x"], code: -1011),
      Ending(name: "a redirect to nowhere", status: 307, headers: ["location": "file:///etc/passwd"], code: -1010),
      Ending(
        name: "an offset beyond the file", status: 201, headers: ["upload-offset": "999", "location": "/u"],
        code: -1011),
      Ending(
        name: "complete too early", status: 201, headers: ["upload-complete": "?1", "location": "/u"], code: -1011),
    ])
  func endings(ending: Ending) {
    var transfer = Self.transfer(size: 250)
    _ = transfer.handle(.begin, at: Self.now, jitter: 0)
    _ = transfer.handle(
      .answered(UploadAnswer(status: 200, headers: ["upload-limit": "1000"]), informed: nil), at: Self.now, jitter: 0)
    let answer = UploadAnswer(status: ending.status, headers: ending.headers)
    let step = transfer.handle(.answered(answer, informed: nil), at: Self.now, jitter: 0)
    guard case .fail(let problem, let headers) = step else {
      Issue.record("\(ending.name) goes on.")
      return
    }
    #expect(problem.code == ending.code, "\(problem.sentence)")
    #expect(headers == answer.headers)
  }

  @Test("https is not left for http, and a file beyond the server's limit is not started")
  func limits() {
    var resource = AssetResource.invented(1)
    resource.dataSize = 2000
    let destination = UploadDestination(url: "https://server/upload", method: "PUT", headers: [:])
    let job = UploadJob(
      identifier: "job", number: 1, kind: .upload, destination: destination, asset: "asset", resource: resource,
      since: Self.now.microseconds)
    for (answer, code) in [
      (UploadAnswer(status: 308, headers: ["location": "http://server/upload"]), -1200),
      (UploadAnswer(status: 200, headers: ["upload-limit": "1999"]), -1103),
    ] {
      var transfer = UploadTransfer(job)
      _ = transfer.handle(.begin, at: Self.now, jitter: 0)
      let step = transfer.handle(.answered(answer, informed: nil), at: Self.now, jitter: 0)
      guard case .fail(let problem, _) = step else {
        Issue.record("\(answer) goes on.")
        continue
      }
      #expect(problem.code == code)
    }
  }
}
