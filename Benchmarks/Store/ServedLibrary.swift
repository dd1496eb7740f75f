#if Gallery
  import Foundation
  import Glibc
  import MediaImport

  /// A program that serves and is asked over TCP.
  class ServingProcess {
    let child: Int32
    let output: FileHandle
    private let input: Int32
    fileprivate(set) var port: UInt16 = 0

    fileprivate init(_ words: [String]) throws {
      var (ends, inputs): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
      guard pipe(&ends) == 0, pipe(&inputs) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
      for end in ends + inputs { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
      defer { for end in [inputs[0], ends[1], nowhere] { close(end) } }
      var environment = ProcessInfo.processInfo.environment
      environment["PHOTOLEDGER_PROBE"] = "none"
      let (child, code) = Spawning.start(
        words[0], words.map { Array($0.utf8) }, environment: environment.map { Array("\($0)=\($1)".utf8) },
        descriptors: [inputs[0], ends[1], nowhere])
      guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
      (self.child, input) = (child, inputs[1])
      output = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
    }

    fileprivate func firstLine() throws -> String {
      var line: [UInt8] = []
      while let byte = try output.read(upToCount: 1)?.first, byte != 0x0A { line.append(byte) }
      return String(decoding: line, as: UTF8.self)
    }

    /// Ends the process and waits for it.
    func stop() {
      close(input)
      kill(child, SIGTERM)
      var status: Int32 = 0
      while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    }

    /// The bytes of memory that no file backs.
    func anonymousBytes() throws -> Int { try ChildProcess.statusBytes("RssAnon:", of: "\(child)") }

    /// The processor's time that the process has taken, in seconds.
    func processorSeconds() throws -> Double {
      let text = try String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8)
      let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
      guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
        throw WrongAnswer(description: "The times of the server cannot be read.")
      }
      return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
  }

  /// `photoledger serve` on a library, and a key of its owner.
  final class ServedLibrary: ServingProcess {
    private(set) var key = ""

    init(_ program: String, _ path: String) throws {
      try super.init([program, "serve", "--library", path, "--listen", "127.0.0.1:0", "--on-request", "--json"])
      guard let line = try JSONSerialization.jsonObject(with: Data(try firstLine().utf8)) as? [String: Any],
        let address = line["address"] as? String, let port = address.split(separator: ":").last.flatMap({ UInt16($0) }),
        let secret = (line["link"] as? String)?.split(separator: "=").last
      else { throw WrongAnswer(description: "The server did not say where it is.") }
      self.port = port
      let session = try json("POST", "/v1/sessions", body: #"{"link":"\#(secret)"}"#)
      guard let key = session["secret"] as? String else {
        throw WrongAnswer(description: "There is no key: \(session)")
      }
      self.key = key
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// The fields of the head of an answer, but for those that libmicrohttpd makes itself.
    func fields(_ path: String) throws -> [(name: String, value: String)] {
      let head = try Exchange.headAndContent(port, "GET", path, nil, key).head
      return head.split(separator: "\r\n").dropFirst().compactMap { line in
        let parts = line.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, !["Date", "Content-Length", "Connection"].contains(parts[0]) else { return nil }
        return (String(parts[0]), String(parts[1].drop { $0 == " " }))
      }
    }

    func bytes(_ method: String, _ path: String, body: String? = nil) throws -> Data {
      try Exchange.bytes(port, method, path, body, key)
    }

    func json(_ method: String, _ path: String, body: String? = nil) throws -> [String: Any] {
      let bytes = try bytes(method, path, body: body)
      guard let object = try JSONSerialization.jsonObject(with: bytes) as? [String: Any] else {
        throw WrongAnswer(description: "\(path) answers no object.")
      }
      return object
    }

    func fetch(_ request: String) throws -> (name: String, token: String, count: Int) {
      let made = try json("POST", "/v1/fetches", body: request)
      guard let name = made["fetch"] as? String, let token = made["token"] as? String, let count = made["count"] as? Int
      else { throw WrongAnswer(description: "The server makes no fetch: \(made)") }
      return (name, token, count)
    }
  }

  /// The floor of the server.
  final class FloorServer: ServingProcess {
    /// - Parameter fields: what each answer has in its head.
    init(_ program: String, _ files: [String], fields: [(name: String, value: String)] = []) throws {
      try super.init([program] + fields.flatMap { ["--field", $0.name, $0.value] } + files)
      guard let port = UInt16(try firstLine()) else { throw WrongAnswer(description: "The floor did not start.") }
      self.port = port
    }

    func url(_ number: Int) -> String { "http://127.0.0.1:\(port)/\(number)" }

    /// The number that a path answers.
    func number(_ path: String) throws -> Int {
      let text = String(decoding: try Exchange.bytes(port, "GET", path, nil, nil), as: UTF8.self)
      guard let number = Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
        throw WrongAnswer(description: "The floor answers '\(text)' to \(path).")
      }
      return number
    }

    /// Waits until so many connections are suspended.
    func wait(for count: Int) throws {
      for _ in 0..<600 {
        if try number("/waits") == count { return }
        usleep(20_000)
      }
      throw WrongAnswer(description: "The floor does not suspend \(count) connections within twelve seconds.")
    }
  }

  /// What `wrk` measured in two seconds.
  struct Load {
    /// Nanoseconds a request, all connections together; and of the slowest in a hundred.
    let request: Double
    let slowest: Double

    /// - Parameter script: a file with what `wrk` runs for each request; nil: it asks for the URL.
    init(_ wrk: String, _ url: String, _ key: String?, connections: Int, script: String? = nil) throws {
      var words = [wrk, "-t1", "-c\(connections)", "-d2s", "--latency"]
      if let script { words += ["-s", script] }
      if let key { words += ["-H", "Authorization: Bearer \(key)"] }
      var text = Data()
      _ = try ChildProcess.stream(words + [url]) { text.append($0) }
      let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
      func value(_ name: String) -> Substring? {
        lines.map { $0.split(separator: " ") }.first { $0.first?.hasPrefix(name) == true }?.last
      }
      guard let rate = value("Requests/sec").flatMap({ Double($0) }), rate > 0, let slow = value("99%"),
        let slowest = Self.nanoseconds(slow)
      else { throw WrongAnswer(description: "wrk says: \(lines)") }
      if let errors = lines.first(where: { $0.contains("Non-2xx") || $0.contains("Socket errors") }) {
        throw WrongAnswer(description: "wrk met errors: \(errors)")
      }
      (request, self.slowest) = (1e9 / rate, slowest)
    }

    private static func nanoseconds(_ text: Substring) -> Double? {
      for (unit, factor) in [("us", 1e3), ("ms", 1e6), ("s", 1e9)] where text.hasSuffix(unit) {
        return Double(text.dropLast(unit.count)).map { $0 * factor }
      }
      return nil
    }
  }

  /// One request on a connection of its own.
  enum Exchange {
    static func connected(_ port: UInt16) throws -> Int32 {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      var target = sockaddr_in()
      target.sin_family = sa_family_t(AF_INET)
      target.sin_port = port.bigEndian
      inet_pton(AF_INET, "127.0.0.1", &target.sin_addr)
      let status = withUnsafePointer(to: &target) { target in
        target.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      guard descriptor >= 0, status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
      return descriptor
    }

    static func send(_ descriptor: Int32, _ text: String) throws {
      let bytes = Array(text.utf8)
      guard Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
        throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
      }
    }

    /// The head and the content of an answer, until the connection is closed.
    static func answer(_ descriptor: Int32) -> Data {
      var answer = Data()
      var piece = [UInt8](repeating: 0, count: 1 << 16)
      while case let count = recv(descriptor, &piece, piece.count, 0), count > 0 {
        answer.append(contentsOf: piece[..<count])
      }
      return answer
    }

    /// The content of an answer.
    static func bytes(_ port: UInt16, _ method: String, _ path: String, _ body: String?, _ key: String?) throws -> Data
    {
      try headAndContent(port, method, path, body, key).content
    }

    static func headAndContent(
      _ port: UInt16, _ method: String, _ path: String, _ body: String?, _ key: String?
    ) throws -> (head: String, content: Data) {
      let descriptor = try connected(port)
      defer { close(descriptor) }
      var head = "\(method) \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
      if let key, !key.isEmpty { head += "Authorization: Bearer \(key)\r\n" }
      if let body { head += "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n" }
      try send(descriptor, head + "\r\n" + (body ?? ""))
      let answer = answer(descriptor)
      guard let end = answer.firstRange(of: Data("\r\n\r\n".utf8)) else {
        throw WrongAnswer(description: "\(path) is not answered.")
      }
      guard answer.starts(with: Data("HTTP/1.1 2".utf8)) else {
        throw WrongAnswer(description: "\(path): \(String(decoding: answer.prefix(300), as: UTF8.self))")
      }
      return (String(decoding: answer[..<end.lowerBound], as: UTF8.self), answer[end.upperBound...])
    }
  }

  /// A response that stays open, and the events that came by it.
  final class OpenFeed {
    private let descriptor: Int32
    private var reader = EventReader()

    convenience init(_ server: ServedLibrary, _ path: String) throws {
      try self.init(
        server.port, "GET \(path) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(server.key)\r\n\r\n")
    }

    /// Opens it, and reads its head.
    init(_ port: UInt16, _ request: String) throws {
      descriptor = try Exchange.connected(port)
      try Exchange.send(descriptor, request)
      // Byte by byte: what follows the head is the reader's.
      var head: [UInt8] = []
      var byte: UInt8 = 0
      while head.suffix(4) != [0x0D, 0x0A, 0x0D, 0x0A], head.count < 1 << 14, recv(descriptor, &byte, 1, 0) == 1 {
        head.append(byte)
      }
      let text = String(decoding: head, as: UTF8.self)
      guard text.hasPrefix("HTTP/1.1 200"), text.lowercased().contains("transfer-encoding: chunked") else {
        throw WrongAnswer(description: "The server refused a feed: \(text.prefix(300))")
      }
    }

    func close() { _ = Glibc.close(descriptor) }

    /// Waits until each has an event that is wanted, and reads what comes until then.
    /// - Returns: what each read, the wanted event the last.
    static func awaitEvent(
      on feeds: [OpenFeed], where isWanted: (EventReader.Event) -> Bool
    ) throws -> [[EventReader.Event]] {
      var read = feeds.map { _ in [EventReader.Event]() }
      var places = Array(feeds.indices)
      var piece = [UInt8](repeating: 0, count: 1 << 16)
      while !places.isEmpty {
        var waiting = places.map { pollfd(fd: feeds[$0].descriptor, events: Int16(POLLIN), revents: 0) }
        guard poll(&waiting, nfds_t(waiting.count), 60_000) > 0 else {
          throw WrongAnswer(description: "\(waiting.count) feeds were not sent the event within a minute.")
        }
        places = try zip(places, waiting).filter { place, entry in
          guard entry.revents != 0 else { return true }
          let count = recv(entry.fd, &piece, piece.count, 0)
          guard count > 0 else { throw WrongAnswer(description: "A feed was ended.") }
          let events = try feeds[place].reader.events(adding: piece[..<count])
          read[place] += events
          guard let found = events.firstIndex(where: isWanted) else { return true }
          guard found == events.count - 1 else {
            throw WrongAnswer(description: "A feed goes on behind the event: '\(events[found + 1].name)'")
          }
          return false
        }.map(\.0)
      }
      return read
    }
  }
#endif
