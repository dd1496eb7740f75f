package import Foundation
import Synchronization

// A server for uploads, as small as a test needs it: HTTP/1.1 over a socket of the loopback, one thread a connection.
//
// It speaks the resumable upload in either of its two forms or not at all, and does wrong what a test asks for:
// faults are used up one by one, each by the next request that it fits. What it took is kept as the bytes arrive, so a
// connection that is cut leaves exactly the bytes that the server had read.

/// A server for uploads that misbehaves as a test asks.
package final class UploadServer: Sendable {
  /// Which fields of the protocol it reads and writes.
  package enum Form: String, CaseIterable, Sendable {
    /// `Upload-Incomplete`, for interop version 3 only.
    case incomplete
    /// `Upload-Complete` and `application/partial-upload`.
    case complete
    /// Answers 501 to OPTIONS and takes whole bodies.
    case none
  }

  package enum Fault: Sendable {
    /// Reads so many bytes of a request's body and cuts the connection.
    case cut(after: Int)
    /// Takes the whole body and cuts the connection before the answer.
    case cutBeforeAnswer
    /// Answers a request with a body, after reading it and dropping it.
    case answer(Int, [String: String])
    /// Answers OPTIONS.
    case answerProbe(Int, [String: String])
    /// Forgets every upload before the next request.
    case forget
    /// Reads so many bytes and then nothing for so long, seconds.
    case stall(after: Int, seconds: Double)
  }

  package struct Upload: Sendable, Equatable {
    package var data = Data()
    package var isComplete = false
    package var isDeleted = false
    package var headers: [String: String] = [:]
  }

  package struct Request: Sendable {
    package let method: String
    package let path: String
    /// Names in lower case.
    package let headers: [String: String]
    /// The bytes of the body that were read.
    package var read = 0
  }

  private struct State {
    var faults: [Fault]
    var uploads: [String: Upload] = [:]
    var requests: [Request] = []
    var count = 0
  }

  private let state: Mutex<State>
  private let socket: Int32
  private let form: Form
  private let limit: String
  private let sends104: Bool
  private let authorization: String?
  package let port: UInt16

  /// - Parameters:
  ///   - limit: the value of `Upload-Limit`.
  ///   - sends104: whether an upload is named while its body arrives.
  ///   - authorization: what requests must have, or they are answered with 401.
  package init(
    _ form: Form = .incomplete, limit: String = "107374182400", sends104: Bool = true, authorization: String? = nil,
    faults: [Fault] = []
  ) throws {
    (self.form, self.limit, self.sends104, self.authorization) = (form, limit, sends104, authorization)
    state = Mutex(State(faults: faults))
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listening = socket
    let code = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listening, address, length) == 0 && listen(listening, 64) == 0
          && getsockname(listening, address, &length) == 0
      }
    }
    guard code else { throw Divergence("No socket for a test's server: errno \(errno).") }
    port = UInt16(bigEndian: address.sin_port)
    Thread { [self] in accept() }.start()
  }

  package func url(_ path: String = "/upload") -> URL {
    guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { preconditionFailure("\(path) is no path.") }
    return url
  }

  package var uploads: [String: Upload] { state.withLock { $0.uploads } }
  package var requests: [Request] { state.withLock { $0.requests } }
  /// The uploads that are whole.
  package var complete: [Upload] { uploads.values.filter(\.isComplete) }
  package func add(_ faults: Fault...) { state.withLock { $0.faults += faults } }

  private func accept() {
    while true {
      let connection = Glibc.accept(socket, nil, nil)
      if connection < 0 { continue }
      _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
      Thread { [weak self] in
        while let self, self.serve(connection) {}
        close(connection)
      }.start()
    }
  }
}

// MARK: - One request

extension UploadServer {
  private struct Cut: Error {}

  /// Serves one request; false when the connection is over.
  private func serve(_ connection: Int32) -> Bool {
    do {
      guard let request = try head(connection) else { return false }
      state.withLock { state in
        state.requests.append(request)
        if case .forget? = state.faults.first {
          state.faults.removeFirst()
          state.uploads = [:]
        }
      }
      try answer(request, connection)
      return true
    } catch {
      return false
    }
  }

  private func answer(_ request: Request, _ connection: Int32) throws {
    if let authorization, request.headers["authorization"] != authorization {
      try drain(request, connection)
      return try reply(connection, 401, ["WWW-Authenticate": "Bearer"])
    }
    switch request.method {
    case "OPTIONS": try probe(connection)
    case "HEAD": try tell(request, connection)
    case "PATCH": try append(request, connection)
    case "DELETE":
      state.withLock { $0.uploads[request.path]?.isDeleted = true }
      try reply(connection, 204, [:])
    default: try create(request, connection)
    }
  }

  private func probe(_ connection: Int32) throws {
    let fault = state.withLock { state -> (Int, [String: String])? in
      guard case .answerProbe(let status, let headers)? = state.faults.first else { return nil }
      state.faults.removeFirst()
      return (status, headers)
    }
    if let (status, headers) = fault { return try reply(connection, status, headers) }
    if form == .none { return try reply(connection, 501, [:]) }
    try reply(connection, 200, ["Upload-Limit": limit])
  }

  private func tell(_ request: Request, _ connection: Int32) throws {
    guard form != .none, let upload = uploads[request.path], !upload.isDeleted else {
      return try reply(connection, 404, [:])
    }
    try reply(connection, 204, fields(upload))
  }

  private func fields(_ upload: Upload) -> [String: String] {
    let completeness =
      form == .incomplete
      ? ["Upload-Incomplete": upload.isComplete ? "?0" : "?1"] : ["Upload-Complete": upload.isComplete ? "?1" : "?0"]
    return completeness.merging(["Upload-Offset": "\(upload.data.count)"]) { $1 }
  }

  /// Whether the request's body is the last of its upload; nil if it does not speak the protocol.
  private func isLast(_ request: Request) -> Bool? {
    switch form {
    case .incomplete where request.headers["upload-draft-interop-version"] == "3":
      request.headers["upload-incomplete"].map { $0 == "?0" }
    case .complete: request.headers["upload-complete"].map { $0 == "?1" }
    default: nil
    }
  }

  private func create(_ request: Request, _ connection: Int32) throws {
    let name = state.withLock { state in
      state.count += 1
      let name = "/upload/\(state.count)"
      state.uploads[name] = Upload(headers: request.headers)
      return name
    }
    let isLast = isLast(request)
    if sends104, isLast != nil {
      try write(
        connection,
        "HTTP/1.1 104 Upload Resumption Supported\r\nLocation: \(name)\r\nUpload-Draft-Interop-Version: 3\r\n\r\n")
    }
    try take(request, connection, into: name)
    try finish(request, connection, name, isLast: isLast ?? true, status: 201)
  }

  private func append(_ request: Request, _ connection: Int32) throws {
    guard form != .none, let upload = uploads[request.path], !upload.isDeleted else {
      try drain(request, connection)
      return try reply(connection, 404, [:])
    }
    guard let isLast = isLast(request),
      form == .incomplete || request.headers["content-type"] == "application/partial-upload"
    else {
      try drain(request, connection)
      return try reply(connection, 415, [:])
    }
    guard request.headers["upload-offset"] == "\(upload.data.count)", !upload.isComplete else {
      try drain(request, connection)
      return try reply(connection, 409, ["Upload-Offset": "\(upload.data.count)"])
    }
    try take(request, connection, into: request.path)
    try finish(request, connection, request.path, isLast: isLast, status: isLast ? 200 : 204)
  }

  private func finish(
    _ request: Request, _ connection: Int32, _ name: String, isLast: Bool, status: Int
  ) throws {
    let (upload, isCut) = state.withLock { state -> (Upload?, Bool) in
      state.uploads[name]?.isComplete = isLast
      guard case .cutBeforeAnswer? = state.faults.first else { return (state.uploads[name], false) }
      state.faults.removeFirst()
      return (nil, true)
    }
    if isCut { throw Cut() }
    var headers = upload.map(fields) ?? [:]
    headers["Location"] = name
    headers["X-Server-Resource-ID"] = name.split(separator: "/").last.map { "asset-\($0)" }
    try reply(connection, status, headers)
  }

  /// Reads a body into an upload, as far as the next fault lets it.
  private func take(_ request: Request, _ connection: Int32, into name: String) throws {
    let fault = state.withLock { state -> Fault? in
      switch state.faults.first {
      case .cut, .answer, .stall: state.faults.removeFirst()
      default: nil
      }
    }
    switch fault {
    case .cut(let count):
      try body(request, connection, limit: count) { data in keep(data, in: name) }
      throw Cut()
    case .stall(let count, let seconds):
      try body(request, connection, limit: count) { data in keep(data, in: name) }
      Thread.sleep(forTimeInterval: seconds)
      throw Cut()
    case .answer(let status, let headers):
      try drain(request, connection)
      try reply(connection, status, headers)
      throw Cut()
    default: try body(request, connection) { data in keep(data, in: name) }
    }
  }

  private func keep(_ data: Data, in name: String) {
    state.withLock { state in
      state.uploads[name]?.data.append(data)
      state.requests[state.requests.count - 1].read += data.count
    }
  }

  private func drain(_ request: Request, _ connection: Int32) throws { try body(request, connection) { _ in } }

  // MARK: The connection

  private func head(_ connection: Int32) throws -> Request? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 8192)
    while bytes.suffix(4) != [13, 10, 13, 10] {
      // Looked at first: what follows the head is the body's.
      let seen = recv(connection, &buffer, buffer.count, Int32(MSG_PEEK))
      guard seen > 0, bytes.count < 1 << 16 else { return nil }
      let text = bytes.suffix(3) + buffer[..<seen]
      let known = min(3, bytes.count)
      let end = text.indices.dropLast(3).first { Array(text[$0..<$0 + 4]) == [13, 10, 13, 10] }
      let count = end.map { $0 - text.startIndex + 4 - known } ?? seen
      guard recv(connection, &buffer, count, 0) == count else { return nil }
      bytes += buffer[..<count]
    }
    let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
    let words = lines[0].split(separator: " ")
    guard words.count == 3 else { return nil }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
    return Request(method: String(words[0]), path: String(words[1]), headers: headers)
  }

  private func body(
    _ request: Request, _ connection: Int32, limit: Int = .max, _ take: (Data) -> Void
  ) throws {
    guard request.headers["transfer-encoding"] == nil else {
      try reply(connection, 411, [:])
      throw Cut()
    }
    var rest = min(limit, Int(request.headers["content-length"] ?? "0") ?? 0)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while rest > 0 {
      let count = recv(connection, &buffer, min(rest, buffer.count), 0)
      guard count > 0 else { throw Cut() }
      take(Data(buffer[..<count]))
      rest -= count
    }
  }

  private func reply(_ connection: Int32, _ status: Int, _ headers: [String: String]) throws {
    let fields = headers.map { "\($0): \($1)\r\n" }.joined()
    let length = status == 204 ? "" : "Content-Length: 0\r\n"
    try write(connection, "HTTP/1.1 \(status) Answer\r\n\(fields)\(length)\r\n")
  }

  private func write(_ connection: Int32, _ text: String) throws {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { throw Cut() }
      rest = rest.dropFirst(count)
    }
  }
}
