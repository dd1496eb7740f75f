#if Gallery
  import Foundation
  @testable import HTTPServing
  import Synchronization
  import TestSupport
  import Testing

  /// An application of the kinds of answers that there are.
  private final class Sample: HTTPApplication {
    let records = Mutex<[HTTPRecord]>([])
    let streams = Mutex<[HTTPStream]>([])
    /// How many owners of lent bytes there are.
    let owners = Owners()
    /// What is made once and sent again and again.
    let made: HTTPMadeResponse? = {
      guard let file = Sample.file(of: 20_000) else { return nil }
      return try? HTTPMadeResponse(200, [("X-Made", "once")], copyOf: file, 1..<20_000)
    }()

    func plan(_ request: HTTPRequest) -> HTTPPlan {
      switch request.target.segments.first {
      case "hello": return .answer(.plain(200, "hello"))
      case "echo":
        return .gather(limit: 1000) { request in HTTPResponse(200, [], .bytes(request.body)) }
      case "later":
        return .respond { _ in
          await Task.yield()
          return .plain(200, "later")
        }
      case "broken": return .answer(HTTPResponse(200, [("X-Name", "a\r\nSet-Cookie: b")]))
      case "brokenStream":
        return .answer(HTTPResponse(200, [("X-Name", "a\r\nSet-Cookie: b")], .stream(HTTPStream())))
      case "segments": return .answer(.plain(200, request.target.segments.joined(separator: "|")))
      case "query": return .answer(.plain(200, request.target.query.all("a").joined(separator: "|")))
      case "thread": return .answer(.plain(200, "thread \(pthread_self())"))
      case "file":
        // The file of as many bytes, and then of one that was cut behind the back of the server.
        let size = Int(request.target.segments.last ?? "") ?? 0
        guard let file = Self.file(of: size) else { return .answer(.plain(500, "no file")) }
        if request.target.segments.contains("cut") { ftruncate(file.descriptor, off_t(size / 2)) }
        return .answer(HTTPResponse(200, [], .file(file, 1..<UInt64(size))))
      case "lent":
        let owner = Owner(owners, Int(request.target.segments.last ?? "") ?? 0)
        return .answer(HTTPResponse(200, [], .lent(owner.lent)))
      case "made": return .answer(made.map { HTTPResponse($0) } ?? .plain(500, "no file"))
      case let name? where ["stream", "content"].contains(name):
        let stream = HTTPStream(heartbeat: name == "stream" ? Array("beat\n".utf8) : [])
        streams.withLock { $0.append(stream) }
        return .answer(HTTPResponse(200, [], .stream(stream)))
      default: return .answer(.plain(404, "nothing"))
      }
    }

    /// An open file without a name, whose bytes count up.
    static func file(of size: Int) -> HTTPFile? {
      var path = Array((NSTemporaryDirectory() + "/photoledger-file-XXXXXX").utf8CString)
      let descriptor = mkstemp(&path)
      guard descriptor >= 0 else { return nil }
      unlink(path)
      let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
      guard write(descriptor, bytes, size) == size else { return nil }
      return HTTPFile(owning: descriptor)
    }

    func finished(_ record: HTTPRecord) { records.withLock { $0.append(record) } }
  }

  /// Says itself when to come back.
  private final class Busy: HTTPApplication {
    func plan(_ request: HTTPRequest) -> HTTPPlan { .gather(limit: 1000) { _ in .plain(200, "taken") } }

    func rejection(_ request: HTTPRequest, _ status: Int, _ sentence: String) -> HTTPResponse {
      HTTPResponse(status, [("retry-after", "60")])
    }

    func finished(_ record: HTTPRecord) {}
  }

  /// Counts the owners of bytes.
  private final class Owners: Sendable { let count = Atomic(0) }

  /// The owner of bytes that count up.
  private final class Owner: Sendable {
    private let owners: Owners
    // SAFETY: written in `init` only.
    private nonisolated(unsafe) let bytes: UnsafeMutableRawBufferPointer

    init(_ owners: Owners, _ count: Int) {
      self.owners = owners
      bytes = .allocate(byteCount: count, alignment: 1)
      for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: index) }
      owners.count.add(1, ordering: .relaxed)
    }

    var lent: HTTPBytes { HTTPBytes(UnsafeRawBufferPointer(bytes), of: self) }

    deinit {
      bytes.deallocate()
      owners.count.subtract(1, ordering: .relaxed)
    }
  }

  /// Runs a body, whose reads may block, against a server that is stopped afterwards.
  private func serving(
    _ change: (inout HTTPServerOptions) -> Void = { _ in },
    _ body: (HTTPAddress, Sample, HTTPServer) async throws -> Void
  ) async throws {
    let sample = Sample()
    var options = HTTPServerOptions()
    change(&options)
    let server = try HTTPServer(try HTTPListener("127.0.0.1:0"), application: sample, options: options)
    try await onBlockingThreads {
      do {
        try await body(server.address, sample, server)
      } catch {
        await server.stop()
        throw error
      }
      await server.stop()
    }
  }

  @Suite("An HTTP server")
  struct HTTPServerTests {
    @Test("answers at once, later, and with the received body; one connection serves them all")
    func kinds() async throws {
      try await serving { address, _, _ in
        let client = try RawClient(port: address.port)
        client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client.read(through: "hello\n").hasPrefix("HTTP/1.1 200 OK"))
        client.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client.read(through: "later\n").hasPrefix("HTTP/1.1 200 OK"))
        client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab")
        client.send("cde")
        #expect(client.read(through: "abcde").hasPrefix("HTTP/1.1 200 OK"))
        client.send("HEAD /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let head = client.readToEnd()
        #expect(head.contains("Content-Length: 6") && head.hasSuffix("\r\n\r\n"))
      }
    }

    @Test(
      "a body beyond the limit is answered with 413, announced or not",
      arguments: [
        "Content-Length: 1001\r\n\r\n", "Content-Length: 1001\r\nExpect: 100-continue\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n3e9\r\n",
      ])
    func tooLarge(_ rest: String) async throws {
      try await serving { address, _, _ in
        let client = try RawClient(port: address.port)
        client.send("POST /echo HTTP/1.1\r\nHost: a\r\n" + rest)
        if !rest.contains("Expect") { client.send([UInt8](repeating: 0x61, count: 1001)) }
        if rest.contains("chunked") { client.send("\r\n0\r\n\r\n") }
        #expect(client.read(through: "bytes.\n").hasPrefix("HTTP/1.1 413"))
      }
    }

    @Test("a body without end ends the connection")
    func endless() async throws {
      try await serving { address, _, _ in
        let client = try RawClient(port: address.port)
        client.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        let piece = "10000\r\n" + String(repeating: "a", count: 65_536) + "\r\n"
        for _ in 0..<64 { client.send(piece) }
        #expect(!client.readToEnd().contains("200 OK") && client.isAtEnd)
      }
    }

    @Test("a field with a line break is never sent")
    func injection() async throws {
      try await serving { address, _, _ in
        let client = try RawClient(port: address.port)
        client.send("GET /broken HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(!client.readToEnd().contains("Set-Cookie") && client.isAtEnd)
      }
    }

    @Test(
      "paths are decoded once, after they are split, and strictly",
      arguments: [
        ("/segments/a%2Fb/c", "segments|a/b|c"), ("/segments/%252e", "segments|%2e"), ("/segments/x/../y", nil),
        ("/segments/%2e%2e/y", nil), ("/segments/%00", nil), ("/segments/%ff", nil), ("/segments/a%0d%0ab", nil),
        ("/segments//d", "segments|d"), ("/query?a=1&a=b%26c+d", "1|b&c d"),
      ] as [(String, String?)])
    func targets(_ path: String, _ expected: String?) async throws {
      try await serving { address, _, _ in
        let client = try RawClient(port: address.port)
        client.send("GET \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let answer = client.readToEnd()
        if let expected {
          #expect(answer.hasPrefix("HTTP/1.1 200") && answer.hasSuffix(expected + "\n"), "\(answer)")
        } else {
          #expect(answer.hasPrefix("HTTP/1.1 400"), "\(answer)")
        }
      }
    }

    @Test("a stream passes on what is sent, in order, and ends with the server")
    func stream() async throws {
      try await serving { address, sample, server in
        let client = try RawClient(port: address.port)
        client.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = client.read(through: "\r\n\r\n")
        let stream = try #require(sample.streams.withLock { $0.first })
        for number in 0..<100 { try await stream.send { Array("line \(number).\n".utf8) } }
        for number in 0..<100 { #expect(client.read(through: ".\n").hasSuffix("line \(number).\n")) }
        await server.stop()
        #expect(client.readToEnd().hasSuffix("0\r\n\r\n"))
        await #expect(throws: HTTPStreamClosed.self) { try await stream.send { [] } }
      }
    }

    @Test("an archive in transfer is completed while the server stops, and a cut one does not look complete")
    func contentWhileStopping() async throws {
      for isFinished in [true, false] {
        try await serving({ $0.stopSeconds = isFinished ? 60 : 0 }) { address, sample, server in
          let client = try RawClient(port: address.port)
          client.send("GET /content HTTP/1.1\r\nHost: a\r\n\r\n")
          _ = client.read(through: "\r\n\r\n")
          let stream = try #require(sample.streams.withLock { $0.first })
          try await stream.send { Array("first\n".utf8) }
          #expect(client.read(through: "first\n").hasSuffix("first\n"))
          async let stopped: Void = server.stop()
          try await waitUntil("the server stops") { server.isStopping }
          if isFinished {
            try await stream.send { Array("second\n".utf8) }
            stream.end()
          }
          await stopped
          let rest = client.readToEnd()
          #expect(rest.hasSuffix("0\r\n\r\n") == isFinished && rest.contains("second\n") == isFinished, "\(rest)")
        }
      }
    }

    @Test("a stream is in the server's table from its head to its end, and not if its head cannot be sent")
    func table() async throws {
      try await serving { address, sample, server in
        for _ in 0..<3 {
          let client = try RawClient(port: address.port)
          client.send("GET /brokenStream HTTP/1.1\r\nHost: a\r\n\r\n")
          #expect(!client.readToEnd().contains("200 OK") && client.isAtEnd)
        }
        #expect(server.adoptedCount == 0)
        let clients = try (0..<3).map { _ in
          let client = try RawClient(port: address.port)
          client.send("GET /stream HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
          #expect(client.read(through: "\r\n\r\n").contains("200 OK"))
          return client
        }
        #expect(server.adoptedCount == 3)
        for stream in sample.streams.withLock({ $0 }) { stream.end() }
        for client in clients { _ = client.readToEnd() }
        try await waitUntil("the streams have left the table") { server.adoptedCount == 0 }
      }
    }

    @Test(
      "HEAD of a stream states no length, as GET does not, and nothing follows the head",
      arguments: ["stream", "content"], ["", "Connection: close\r\n"])
    func headOfStream(_ path: String, _ field: String) async throws {
      try await serving { address, _, _ in
        let client = try RawClient(port: address.port)
        client.send("HEAD /\(path) HTTP/1.1\r\nHost: a\r\n\(field)\r\n")
        let head = client.readToEnd()
        #expect(head.hasPrefix("HTTP/1.1 200") && !head.lowercased().contains("content-length"), "\(head)")
        #expect(head.hasSuffix("\r\n\r\n") && head.components(separatedBy: "\r\n\r\n").count == 2, "\(head)")
      }
    }

    @Test("bodies that are gathered share bounded memory; a further one is rejected until there is room")
    func crowded() async throws {
      try await serving({ $0.gatheredBytes = 1000 }) { address, _, server in
        let head = "POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: "
        func answer() throws -> String {
          let client = try RawClient(port: address.port)
          client.send(head + "600\r\n\r\n" + String(repeating: "b", count: 600))
          return client.readToEnd()
        }
        let slow = try RawClient(port: address.port)
        slow.send(head + "900\r\n\r\n" + String(repeating: "a", count: 800))
        try await waitUntil("its bytes have come") { server.gathered.load(ordering: .relaxed) == 800 }
        let refusal = try answer()
        #expect(refusal.hasPrefix("HTTP/1.1 503") && refusal.contains("Retry-After: 5"), "\(refusal)")
        slow.send(String(repeating: "a", count: 100))
        #expect(slow.readToEnd().hasPrefix("HTTP/1.1 200"))
        try await waitUntil("there is room again") { server.gathered.load(ordering: .relaxed) == 0 }
        #expect(try answer().hasPrefix("HTTP/1.1 200"))
      }
    }

    @Test("bodies of many holders leave a quarter of the memory to holders without one")
    func crowdedByHolders() async throws {
      try await serving({ $0.gatheredBytes = 1000 }) { _, _, server in
        for number in 0..<3 { #expect(server.reserve(250, for: "holder \(number)")) }
        #expect(!server.reserve(1, for: "another holder"))
        #expect(server.reserve(250, for: nil))
        #expect(!server.reserve(1, for: nil))
        for number in 0..<3 { server.release(250, for: "holder \(number)") }
        server.release(250, for: nil)
      }
    }

    @Test("a rejection by the application that says when to retry does not get a second retry time")
    func comeBack() async throws {
      var options = HTTPServerOptions()
      options.gatheredBytes = 0
      let server = try HTTPServer(try HTTPListener("127.0.0.1:0"), application: Busy(), options: options)
      let answer = await onBlockingThreads { () -> String in
        guard let client = try? RawClient(port: server.address.port) else { return "The server was not reached." }
        client.send("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1\r\n\r\na")
        return client.readToEnd()
      }
      await server.stop()
      #expect(answer.hasPrefix("HTTP/1.1 503"), "\(answer)")
      let times = answer.lowercased().components(separatedBy: "retry-after: ").dropFirst().map { $0.prefix(2) }
      #expect(times == ["60"], "\(answer)")
    }

    @Test("resources held for a request are released when it is over, or at once if it was")
    func held() async throws {
      try await serving { address, sample, _ in
        let client = try RawClient(port: address.port)
        client.send("GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        _ = client.readToEnd()
        try await waitUntil("the request is over") { sample.records.withLock { !$0.isEmpty } }
        let sender = try #require(sample.records.withLock { $0.first }).request.sender
        let ended = Gathered<Bool>()
        try await waitUntil("it is let go") {
          sender.onEnd { ended.append(true) }
          return !ended.all.isEmpty
        }
      }
    }

    @Test("a sender waits for a slow client, and notices when it has disconnected")
    func slowClient() async throws {
      try await serving { address, sample, _ in
        var client: RawClient? = try RawClient(port: address.port)
        client?.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = client?.read(through: "\r\n\r\n")
        let stream = try #require(sample.streams.withLock { $0.first })
        let sent = Mutex(0)
        let sender = Task {
          let piece = [UInt8](repeating: 0x61, count: 1 << 20)
          while true {
            try await stream.send { piece }
            sent.withLock { $0 += 1 }
          }
        }
        // The buffers of the sockets hold a few chunks; then the sender stands still until the client leaves.
        var before = 0
        try await waitUntil("the sender stands still") {
          let now = sent.withLock { $0 }
          defer { before = now }
          return now > 0 && now == before && stream.waitingSeconds > 0.1 || now >= 200
        }
        client = nil
        await #expect(throws: HTTPStreamClosed.self) { try await sender.value }
        #expect(sent.withLock { $0 } < 200)
      }
    }

    @Test("a disconnected client of a silent stream is found by a heartbeat")
    func heartbeat() async throws {
      try await serving({ $0.heartbeatSeconds = 1 }) { address, sample, _ in
        var client: RawClient? = try RawClient(port: address.port)
        client?.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client?.read(through: "beat\n").hasSuffix("beat\n") == true)
        let stream = try #require(sample.streams.withLock { $0.first })
        client = nil
        await withCheckedContinuation { continuation in stream.onClose { continuation.resume() } }
      }
    }

    enum Departure: CaseIterable { case closes, endsItsSide, closesAfterAnEarlierStream }

    @Test(
      "a client of a silent stream that disconnects is noticed without a heartbeat, and without a complaint",
      arguments: Departure.allCases)
    func departure(_ departure: Departure) async throws {
      let log = Gathered<String>()
      try await serving({ options in
        options.heartbeatSeconds = 3600
        options.log = { log.append($0) }
      }) { address, sample, server in
        func stream(to client: RawClient?) async throws -> HTTPStream {
          let known = sample.streams.withLock { $0.count }
          client?.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
          try await waitUntil("the stream is there") { sample.streams.withLock { $0.count } > known }
          let stream = try #require(sample.streams.withLock { $0.last })
          try await stream.send { Array("first\n".utf8) }
          #expect(client?.read(through: "first\n").hasSuffix("first\n") == true)
          return stream
        }
        let stays = try RawClient(port: address.port)
        var leaves: RawClient? = try RawClient(port: address.port)
        let staying = try await stream(to: stays)
        if departure == .closesAfterAnEarlierStream {
          try await stream(to: leaves).end()
          #expect(leaves?.read(through: "0\r\n\r\n").hasSuffix("0\r\n\r\n") == true)
        }
        let (leaving, closed) = (try await stream(to: leaves), Gathered<Bool>())
        leaving.onClose { closed.append(true) }
        if departure == .endsItsSide { leaves?.endSending() } else { leaves = nil }
        try await waitUntil("the stream is closed") { !closed.all.isEmpty }
        #expect(log.all.isEmpty, "\(log.all)")
        #expect(server.streamCounts.events == 1 && server.streamCounts.contents == 0)
        try await staying.send { Array("still\n".utf8) }
        #expect(stays.read(through: "still\n").hasSuffix("still\n"))
      }
    }

    @Test("streams are counted by kind, and each reports how long its client has left bytes waiting")
    func counted() async throws {
      try await serving { address, sample, server in
        let clients = try ["stream", "content", "content"].map { path in
          let client = try RawClient(port: address.port)
          client.send("GET /\(path) HTTP/1.1\r\nHost: a\r\n\r\n")
          return client
        }
        try await waitUntil("all are open") { server.streamCounts.events == 1 && server.streamCounts.contents == 2 }
        let streams = sample.streams.withLock { $0 }
        for stream in streams { try await stream.send { Array("first\n".utf8) } }
        for client in clients { #expect(client.read(through: "first\n").hasSuffix("first\n")) }
        #expect(streams.allSatisfy { $0.waitingSeconds == 0 })
        for stream in streams { stream.end() }
        for client in clients { #expect(client.read(through: "0\r\n\r\n").hasSuffix("0\r\n\r\n")) }
        try await waitUntil("all are closed") { server.streamCounts.events + server.streamCounts.contents == 0 }
        let unread = HTTPStream()
        try await unread.send { [1] }
        let first = unread.waitingSeconds
        try await waitUntil("it waits longer") { unread.waitingSeconds > first }
        unread.close()
        #expect(unread.waitingSeconds == 0)
      }
    }

    @Test("each request leaves one record, also when its client disconnects in the middle")
    func records() async throws {
      try await serving { address, sample, server in
        do {
          let client = try RawClient(port: address.port)
          client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
          _ = client.read(through: "hello\n")
          client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab")
        }
        await server.stop()
        let records = sample.records.withLock { $0 }
        // The second may not have come when the server began to stop, or not at all.
        #expect([[200, nil], [200, 503], [200]].contains(records.map(\.status)))
        #expect(records.first?.request.target.path == "/hello")
      }
    }

    @Test("consecutive connections are spread over the threads, and stay there")
    func spread() async throws {
      // In a process of its own: other tests may close descriptors of one parity, which are then given out again.
      await #expect(processExitsWith: .success) { try await HTTPServerTests.spreadAlone() }
    }

    private static func spreadAlone() async throws {
      try await serving { address, _, _ in
        let clients = try RawClient.several(48, port: address.port)
        var threads: [String: Int] = [:]
        for client in clients {
          let answers = (0..<2).map { _ in
            client.send("GET /thread HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = client.read(through: "thread ")
            return client.read(through: "\n")
          }
          #expect(answers[0] == answers[1])
          threads[answers[0], default: 0] += 1
        }
        // Which thread serves a connection is decided by its descriptor.
        #expect(threads.count == 2 && threads.values.allSatisfy { $0 >= 8 }, "\(threads)")
      }
    }

    @Test(
      "a part of a file is sent whole, whether it is read into memory or sent by the kernel",
      arguments: [2, 1000, (32 << 10) + 1, (32 << 10) + 2, 200_000])
    func files(_ size: Int) async throws {
      try await serving { address, _, _ in
        let client = try RawClient(port: address.port)
        for method in ["HEAD", "GET", "GET"] {
          client.send("\(method) /file/\(size) HTTP/1.1\r\nHost: a\r\n\r\n")
          #expect(client.read(through: "\r\n\r\n").contains("Content-Length: \(size - 1)\r\n"))
          guard method == "GET" else { continue }
          #expect(client.bytes(count: size - 1) == (1..<size).map { UInt8(truncatingIfNeeded: $0) })
        }
      }
    }

    @Test("lent bytes are sent completely, and returned when they are sent", arguments: [0, 1, 1000, 3_000_000])
    func lent(_ size: Int) async throws {
      try await serving { address, sample, _ in
        do {
          let client = try RawClient(port: address.port)
          for method in ["GET", "HEAD", "GET"] {
            client.send("\(method) /lent/\(size) HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(client.read(through: "\r\n\r\n").contains("Content-Length: \(size)\r\n"))
            guard method == "GET" else { continue }
            #expect(client.bytes(count: size) == (0..<size).map { UInt8(truncatingIfNeeded: $0) })
          }
          // The client leaves in the middle of the last one.
          client.send("GET /lent/\(size) HTTP/1.1\r\nHost: a\r\n\r\n")
        }
        try await waitUntil("all four are over") { sample.records.withLock { $0.count } == 4 }
        try await waitUntil("the bytes are given back") { sample.owners.count.load(ordering: .relaxed) == 0 }
      }
    }

    @Test("a prepared response is sent again and again, on several connections at once, and after the last use")
    func made() async throws {
      try await serving { address, _, _ in
        let clients = try (0..<8).map { _ in try RawClient(port: address.port) }
        for method in ["GET", "HEAD", "GET", "GET"] {
          for client in clients { client.send("\(method) /made HTTP/1.1\r\nHost: a\r\n\r\n") }
          for client in clients {
            let head = client.read(through: "\r\n\r\n")
            #expect(head.contains("Content-Length: 19999\r\n") && head.contains("X-Made: once\r\n"))
            guard method == "GET" else { continue }
            #expect(client.bytes(count: 19_999) == (1..<20_000).map { UInt8(truncatingIfNeeded: $0) })
          }
        }
      }
    }

    @Test("a response whose file is shorter than its part, or whose field has a line break, is not created")
    func unmade() throws {
      let file = try #require(Sample.file(of: 10))
      #expect(throws: HTTPServerError.self) { try HTTPMadeResponse(200, [], copyOf: file, 0..<11) }
      #expect(throws: HTTPServerError.self) { try HTTPMadeResponse(200, [("X-A", "a\r\nB: c")], copyOf: file, 0..<10) }
    }

    @Test(
      "a file that was truncated ends the connection, and is not sent with its former length",
      arguments: [1000, 200_000])
    func cutFile(_ size: Int) async throws {
      // What the kernel cannot send any more is waited for until the connection is idle for too long.
      try await serving({ $0.idleSeconds = 1 }) { address, _, _ in
        let client = try RawClient(port: address.port)
        client.send("GET /file/cut/\(size) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client.readBytesToEnd().count < size)
        #expect(client.isAtEnd)
      }
    }

    @Test("a thousand requests on sixteen connections are all answered")
    func many() async throws {
      try await serving { address, _, _ in
        await withTaskGroup(of: Int.self) { group in
          for _ in 0..<16 {
            group.addTask {
              guard let client = try? RawClient(port: address.port) else { return 0 }
              var count = 0
              for number in 0..<64 {
                client.send("GET /\(number % 2 == 0 ? "hello" : "later") HTTP/1.1\r\nHost: a\r\n\r\n")
                if client.read(through: number % 2 == 0 ? "hello\n" : "later\n").contains("200 OK") { count += 1 }
              }
              return count
            }
          }
          #expect(await group.reduce(0, +) == 1024)
        }
      }
    }
  }

  @Suite("Ranges")
  struct HTTPRangeTests {
    @Test(
      "a single range is read as the standard has it, and anything else means the whole content",
      arguments: [
        (nil, .whole), ("bytes=0-", .part(0..<10)), ("bytes=2-4", .part(2..<5)), ("bytes=-3", .part(7..<10)),
        ("bytes=-20", .part(0..<10)), ("bytes=9-99999999999999999999999", .part(9..<10)), ("bytes=10-", .unsatisfiable),
        ("bytes=-0", .unsatisfiable), ("bytes=4-2", .whole), ("bytes=a-b", .whole), ("bytes=0-1,3-4", .whole),
        ("items=0-1", .whole), ("bytes=-", .whole), ("bytes", .whole), ("BYTES=1-1", .part(1..<2)),
        ("bytes=99999999999999999999999-", .unsatisfiable), ("bytes=+1-2", .whole),
      ] as [(String?, HTTPRange)])
    func single(_ field: String?, _ expected: HTTPRange) { #expect(HTTPRange(field, count: 10) == expected) }

    @Test("an empty content has no satisfiable range")
    func empty() {
      #expect(HTTPRange("bytes=0-", count: 0) == .unsatisfiable)
      #expect(HTTPRange("bytes=-1", count: 0) == .unsatisfiable)
      #expect(HTTPRange(nil, count: 0) == .whole)
    }
  }
#endif
