import FoundationNetworking
internal import LibraryUploads
internal import PhotoLedger
import Synchronization

// Requests of upload jobs over Foundation's URLSession.
//
//     send ──▶ task ──▶ didReceive response 104 ──▶ didReceive response 201 ──▶ didComplete ──▶ outcome
//                          kept as `informed`          kept as the answer
//
// Found by trying (swift-corelibs-foundation over curl 7.88): 1xx answers come to the delegate as responses of their
// own, so the place that a 104 names can be read; after a cut the task's `response` is still the 104, so only the
// delegate's answers count. Bodies of bytes and of files are sent with their length and without `Expect`; a streamed
// body is sent with the length *and* chunked, so none is used. A send that fails is `NSURLErrorUnknown` (-1).
//
// A connection that was used before and ends without an answer is opened again by curl, which sends the request a
// second time; Foundation does not rewind the body for it, so a request is sent whose body never comes, and the
// transfer waits for the idle limit. Only used connections are opened again, so each request with a body has a session
// of its own, and with that a connection of its own. Rejected: `Connection: close` on every request, which HTTP/2 does
// not have.
//
// Nothing of one request is kept for another: no cookies, no cache, no credentials, no redirects. What a server says in
// its body is dropped, and a body without an end ends the request.

/// Sends the requests of upload jobs.
final class URLSessionTransport: NSObject, UploadTransport, URLSessionDataDelegate, @unchecked Sendable {
  // guarded by: `state` by its mutex, `bodiless` is made once
  static let shared = URLSessionTransport(idleSeconds: 60)

  private struct Exchange {
    /// Kept, so that no other task has its identity.
    let task: URLSessionTask
    var informed: UploadAnswer?
    var answer: UploadAnswer?
    var received = 0
    let end: CheckedContinuation<UploadOutcome, Never>
  }

  private let state = Mutex<[ObjectIdentifier: Exchange]>([:])
  private let idleSeconds: Double
  /// Sends the requests without a body.
  private lazy var bodiless = makeSession()

  /// The bytes of an answer's body that are waited for.
  private static let bodyMax = 1 << 20

  /// - Parameter idleSeconds: after which a connection that moves no byte is given up.
  init(idleSeconds: Double) {
    self.idleSeconds = idleSeconds
    super.init()
    _ = bodiless
  }

  private func makeSession() -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = idleSeconds
    configuration.httpShouldSetCookies = false
    configuration.httpCookieStorage = nil
    configuration.urlCache = nil
    configuration.urlCredentialStorage = nil
    return URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
  }

  func send(_ call: UploadCall, _ body: UploadBody) async -> UploadOutcome {
    guard let url = URL(string: call.url) else {
      return UploadOutcome(.failure(UploadProblem(URLError.Code.badURL.rawValue, "'\(call.url)' is not a URL")))
    }
    var request = URLRequest(url: url)
    request.httpMethod = call.method
    request.httpShouldHandleCookies = false
    for (name, value) in call.headers { request.setValue(value, forHTTPHeaderField: name) }
    let task = task(request, body)
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        state.withLock { $0[ObjectIdentifier(task)] = Exchange(task: task, end: continuation) }
        task.resume()
        if Task.isCancelled { task.cancel() }
      }
    } onCancel: {
      task.cancel()
    }
  }

  private func task(_ request: URLRequest, _ body: UploadBody) -> URLSessionTask {
    if case .none = body { return bodiless.dataTask(with: request) }
    let session = makeSession()
    defer { session.finishTasksAndInvalidate() }
    return switch body {
    case .none: session.dataTask(with: request)
    case .bytes(let data): session.uploadTask(with: request, from: data)
    case .file(let file): session.uploadTask(with: request, fromFile: file)
    }
  }

  // MARK: The sessions' delegate

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    if let response = response as? HTTPURLResponse {
      let fields = response.allHeaderFields.compactMap { name, value in
        (name as? String).map { ($0, "\(value)") }
      }
      let answer = UploadAnswer(
        status: response.statusCode, headers: Dictionary(fields) { first, _ in first })
      state.withLock { state in
        if answer.status == 104 { state[ObjectIdentifier(dataTask)]?.informed = answer }
        if answer.status >= 200 { state[ObjectIdentifier(dataTask)]?.answer = answer }
      }
    }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let isEndless = state.withLock { state in
      state[ObjectIdentifier(dataTask)]?.received += data.count
      return state[ObjectIdentifier(dataTask)]?.received ?? 0 > Self.bodyMax
    }
    if isEndless { dataTask.cancel() }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    guard let exchange = state.withLock({ $0.removeValue(forKey: ObjectIdentifier(task)) }) else { return }
    let isEndless = exchange.received > Self.bodyMax
    let result: Result<UploadAnswer, UploadProblem> =
      if let answer = exchange.answer, error == nil || isEndless {
        .success(answer)
      } else {
        .failure(Self.problem(error))
      }
    exchange.end.resume(returning: UploadOutcome(informed: exchange.informed, result))
  }

  private static func problem(_ error: (any Error)?) -> UploadProblem {
    let error = error.map { $0 as NSError }
    let known = error?.domain == NSURLErrorDomain ? error?.code : nil
    guard let code = known, code != URLError.Code.unknown.rawValue else {
      return UploadProblem(URLError.Code.networkConnectionLost.rawValue, "The connection to the server was lost")
    }
    let sentence = (error?.localizedDescription).map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 }
    return UploadProblem(code, sentence ?? "The connection failed")
  }
}
