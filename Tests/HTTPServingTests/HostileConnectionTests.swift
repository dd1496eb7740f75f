#if Gallery
  import Foundation
  @testable import HTTPServing
  import JSONReading
  import TestSupport
  import Testing

  /// Answers everything at once, or with the body that came.
  private final class Plain: HTTPApplication {
    func plan(_ request: HTTPRequest) -> HTTPPlan {
      switch request.method {
      case "POST": .gather(limit: 1000) { HTTPResponse(200, [], .bytes($0.body)) }
      case "PUT": .receive { _ in .refuse(.plain(403, "no")) }
      case "DELETE": .respond { _ in .plain(200, "gone") }
      default: .answer(.plain(200, "hello"))
      }
    }

    func finished(_ record: HTTPRecord) {}
  }

  /// Rejects a request with whether all that could be compared of its head is ASCII.
  private final class Comparing: HTTPApplication {
    func plan(_ request: HTTPRequest) -> HTTPPlan { .answer(rejection(request, 200, "planned")) }

    func rejection(_ request: HTTPRequest, _ status: Int, _ sentence: String) -> HTTPResponse {
      let words = [request.method] + request.fields.pairs.map { $0.name }
      let isASCII = words.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } }
      return .plain(status, isASCII ? "ASCII" : "not ASCII")
    }

    func finished(_ record: HTTPRecord) {}
  }

  private func serving(
    _ change: (inout HTTPServerOptions) -> Void, by application: any HTTPApplication = Plain(),
    _ body: (UInt16, HTTPServer) async throws -> Void
  ) async throws {
    var options = HTTPServerOptions()
    change(&options)
    let server = try HTTPServer(try HTTPListener("127.0.0.1:0"), application: application, options: options)
    try await onBlockingThreads {
      do { try await body(server.address.port, server) } catch {
        await server.stop()
        throw error
      }
      await server.stop()
    }
  }

  @Suite("Hostile connections")
  struct HostileConnectionTests {
    @Test(
      "a client that sends single bytes loses its connection: in a head, in a body, rejected or not, in between",
      arguments: [
        ("GET /hello HTTP/1.1\r\nHost: a\r\nX: ", "x", ""), ("", "G", ""),
        ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\n", "x", ""),
        ("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n", "G", "hello\n"),
        ("PUT /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\n", "x", ""),
        ("DELETE /body HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\n", "x", ""),
        // libmicrohttpd counts further than an Int does.
        ("GET /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 9223372036854775808\r\n\r\n", "x", ""),
        ("DELETE /body HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551614\r\n\r\n", "x", ""),
      ])
    func slow(_ beginning: String, _ byte: String, _ answer: String) async throws {
      // The idle limit alone would never end these: each byte is a sign of life.
      try await serving({ ($0.requestSeconds, $0.idleSeconds) = (0.4, 1) }) { port, _ in
        let client = try RawClient(port: port)
        client.send(beginning)
        if !answer.isEmpty { _ = client.read(through: answer) }
        let start = ContinuousClock.now
        while !client.isAtEnd, start.duration(to: .now) < .seconds(180) {
          client.send(byte)
          client.receiveNow(milliseconds: 50)
        }
        #expect(client.isAtEnd)
      }
    }

    /// As many connections within this process as its descriptors allow, 10,000 at most.
    private static func mostConnections() throws -> Int {
      var limit = rlimit()
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      try #require(getrlimit(resource, &limit) == 0)
      limit.rlim_cur = limit.rlim_max
      try #require(setrlimit(resource, &limit) == 0)
      // Both ends are here.
      let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
      return min(10_000, (Int(clamping: limit.rlim_cur) - open - 200) / 2)
    }

    @Test("10,000 silent connections do not block other clients, and are closed")
    func silent() async throws {
      // In a process of its own: 20,000 descriptors, and the limit that allows them, would be those of all tests.
      await #expect(processExitsWith: .success) { try await HostileConnectionTests.manySilent() }
    }

    private static func manySilent() async throws {
      let count = try mostConnections()
      try #require(count >= 900, "The process may have too few descriptors.")
      try await serving({ ($0.connectionLimit, $0.requestSeconds) = (12_000, 3600) }) { port, server in
        var silent: [RawClient] = []
        while silent.count < count {
          silent.append(try RawClient(port: port))
          // Fewer than the queue of the socket holds: a client beyond it would wait for a second.
          guard silent.count % 500 == 0 || silent.count == count else { continue }
          try await waitUntil("all are accepted") { server.connections.count >= silent.count }
        }
        let client = try RawClient(port: port)
        client.send("GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(client.readToEnd().contains("200 OK"))
        server.connections.sweep()
        #expect(server.connections.count >= count, "none of them is late")
        server.connections.sweep(at: WatchedConnection.now + 3601 * 1_000_000_000)
        try await waitUntil("the silent ones are closed") { server.connections.count == 0 }
        for client in silent.prefix(10) { #expect(client.readToEnd().isEmpty && client.isAtEnd) }
      }
    }

    @Test("more connections than a server takes are closed, and the threads serve on", arguments: [1, 2, 3])
    func limit(threads: Int) async throws {
      let log = Gathered<String>()
      try await serving({ options in
        (options.connectionLimit, options.threads) = (6, threads)
        options.log = { log.append($0) }
      }) { port, server in
        for _ in 0..<10 {
          // All at once: a thread is given connections faster than it takes them.
          let clients = try (0..<60).map { _ in try RawClient(port: port) }
          try await waitUntil("there is no more room") { server.connections.count == 6 }
          var served = 0
          for client in clients {
            client.send("GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            if client.readToEnd().contains("200 OK") { served += 1 }
            #expect(client.isAtEnd)
          }
          #expect(served >= 6, "Only \(served) of the 6 that have room are served.")
          try await waitUntil("all are closed") { server.connections.count == 0 }
        }
      }
      #expect(log.all.contains { $0.contains("6 are open") }, "No line says that a connection was closed.")
    }

    @Test("connections that are dropped for lack of memory before they are opened take no room")
    func dropped() async throws {
      let log = Gathered<String>()
      try await serving({ options in
        // No process has a PiB for the head of a request.
        (options.connectionLimit, options.connectionMemory) = (2, 1 << 50)
        options.log = { log.append($0) }
      }) { port, server in
        for _ in 0..<5 {
          let client = try RawClient(port: port)
          #expect(client.readToEnd().isEmpty && client.isAtEnd)
          server.connections.sweep()
        }
      }
      #expect(log.all.count { $0.contains("allocating memory") } == 5, "\(log.all)")
    }

    @Test("a connection that waits to be opened has room until its socket is closed, though its number is used again")
    func room() throws {
      let watch = ConnectionWatch(limit: 1, requestSeconds: 1, idleSeconds: 1, readSeconds: 1)
      var ends: [Int32] = [-1, -1]
      let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
      let code = socketpair(AF_UNIX, kind, 0, &ends)
      try #require(code == 0)
      defer { for end in ends { close(end) } }
      #expect(watch.expect(ends[0]))
      watch.sweep()
      #expect(!watch.expect(ends[1]))
      // Closes one socket, and gives its number to the other one.
      let number = dup2(ends[1], ends[0])
      try #require(number == ends[0])
      watch.sweep()
      #expect(watch.expect(ends[1]))
      #expect(!watch.expect(ends[0]))
      watch.forgo(ends[1])
      #expect(watch.expect(ends[0]))
    }

    @Test("the number of connections of one address is limited")
    func ofOneAddress() async throws {
      try await serving({ ($0.connectionLimitOfAddress, $0.threads) = (4, 1) }) { port, server in
        let first = try (0..<4).map { _ in try RawClient(port: port) }
        for client in first {
          client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
          #expect(client.read(through: "hello\n").contains("200 OK"))
        }
        let fifth = try RawClient(port: port)
        fifth.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(!fifth.readToEnd().contains("200 OK") && fifth.isAtEnd)
      }
    }

    @Test(
      "a head that is too long is rejected, wherever it is long",
      arguments: [
        "GET /\(String(repeating: "a", count: 40_000)) HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 40_000))\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n\(String(repeating: "X: a\r\n", count: 8_000))\r\n",
        "GET /?\(String(repeating: "a=b&", count: 10_000)) HTTP/1.1\r\nHost: a\r\n\r\n",
        "\(String(repeating: "G", count: 40_000)) / HTTP/1.1\r\nHost: a\r\n\r\n",
      ])
    func longHead(_ head: String) async throws {
      try await serving({ _ in }) { port, _ in
        let client = try RawClient(port: port)
        client.send(head)
        let answer = client.readToEnd()
        #expect(client.isAtEnd && !answer.contains("200 OK"), "\(answer.prefix(200))")
      }
    }

    @Test(
      "a head is rejected in which the method or the name of a field is not ASCII, before the application compares it",
      arguments: ["G\u{C9}T / HTTP/1.1\r\nHost: a\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX-\u{C9}: 1\r\n"])
    func names(_ head: String) async throws {
      try await serving({ _ in }, by: Comparing()) { port, _ in
        let client = try RawClient(port: port)
        client.send(head + "Connection: close\r\n\r\n")
        let answer = client.readToEnd()
        #expect(answer.hasPrefix("HTTP/1.1 400") && answer.hasSuffix("\r\n\r\nASCII\n"), "\(answer)")
      }
    }

    @Test(
      "a request that two servers could read differently is not answered as if it were plain",
      arguments: [
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\nabc",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\nabc",
        "GET /hello HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 9223372036854775808\r\n\r\n",
        "GET /hello HTTP/1.1\r\n\r\n", "GET http://b/hello\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length : 3\r\n\r\nabc",
        "POST /echo HTTP/1.1\r\n Content-Length: 3\r\nHost: a\r\n\r\nabc",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\u{B}Transfer-Encoding: chunked\r\n\r\nabc",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: x\r\n chunked\r\n\r\nabc",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent: 3\r\n -Length\r\n\r\nabc",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n 3\r\n\r\nabc",
        "GET /hello HTTP/1.1\r\nHost: a\r\nX: 1\n\t2\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: a\r\nX: 1\r\n \r\n\r\n",
      ])
    func ambiguous(_ text: String) async throws {
      try await serving({ $0.requestSeconds = 1 }) { port, _ in
        let client = try RawClient(port: port)
        client.send(text)
        let answer = client.readToEnd()
        #expect(client.isAtEnd && !answer.contains("200 OK"), "\(answer.prefix(200))")
      }
    }

    @Test(
      "a line that continues another is noticed where libmicrohttpd appends it to the name in place, before the value",
      arguments: [
        ("X:    1\r\n abcd\r\n", 400), ("X:    1\n ab\n", 400), ("X:    1\n a\n b\n", 400),
        ("X:    1\n \n a\n", 400), ("X-F:  1\r\n -U\r\n", 400),
        // These are read as they are.
        ("X-ab: 1\r\n", 200), ("X-ab:    1 \r\n", 200), ("X-ab:    1\t\n", 200), ("X-ab: \r\n", 200), ("X:\r\n", 200),
      ])
    func continuedInPlace(_ line: String, _ status: Int) async throws {
      try await serving({ _ in }) { port, server in
        // A head is received in half of the memory first; the line ends there.
        let begin = "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Long: "
        let count = server.connectionMemory / 2 - begin.utf8.count - "\r\n".utf8.count - line.utf8.count
        for next in ["", "Y: 2\r\n"] {
          let client = try RawClient(port: port)
          client.send(begin + String(repeating: "v", count: count) + "\r\n" + line + next + "\r\n")
          let answer = client.readToEnd()
          #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer.prefix(200))")
        }
      }
    }
  }

  @Suite("Parsers of hostile text")
  struct ReaderFuzzTests {
    /// How much is tried.
    private var rounds: Int { Dose.of(20_000) }

    @Test("a range is inside the content, or invalid, whatever the field says", arguments: [1, 2, 3] as [UInt64])
    func ranges(_ seed: UInt64) {
      var random = SeededGenerator(seed: seed)
      let pieces = [
        "bytes", "BYTES", "=", "-", ",", " ", "0", "1", "9", "10", "18446744073709551615", "18446744073709551616",
        "bits",
        "\t", "+1", "٣", "\u{0}", "-0", "x", "",
      ]
      for _ in 0..<rounds {
        var field = Bool.random(using: &random) ? "bytes=" : ""
        for _ in 0..<Int.random(in: 0...6, using: &random) { field += pieces.randomElement(using: &random) ?? "" }
        let count =
          [0, 1, 10, UInt64.max, UInt64.random(in: 0...1000, using: &random)].randomElement(using: &random) ?? 0
        switch HTTPRange(field, count: count) {
        case .whole, .unsatisfiable: break
        case .part(let part):
          #expect(!part.isEmpty && part.upperBound <= count, "\(field) of \(count) is \(part)")
          // What is served as a part has the form of one.
          #expect(field.lowercased().hasPrefix("bytes=") && !field.contains(","), "\(field)")
        }
      }
    }

    @Test(
      "JSON that is read is unchanged when it is written and read again, and nothing else is read",
      arguments: [1, 2, 3] as [UInt64])
    func json(_ seed: UInt64) throws {
      var random = SeededGenerator(seed: seed)
      let seeds = [
        #"{"a":[1,2.5,-3e2,true,false,null,"x\n\u00e9\ud83d\ude00"],"b":{"c":{}}}"#, "[]", "0", #""""#,
        #"{"where":"isFavorite == YES","sort":["creationDate:desc"]}"#,
      ].map { Array($0.utf8) }
      for _ in 0..<rounds / 4 {
        var bytes = seeds.randomElement(using: &random) ?? []
        for _ in 0..<Int.random(in: 0...4, using: &random) {
          let place = Int.random(in: 0...bytes.count, using: &random)
          switch Int.random(in: 0..<4, using: &random) {
          case 0: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
          case 1: if place < bytes.count { bytes.remove(at: place) }
          case 2: bytes.insert(contentsOf: bytes.prefix(place), at: place)
          default: bytes.insert(contentsOf: Array("{}[]\":,\\u".utf8).shuffled(using: &random).prefix(2), at: place)
          }
        }
        guard let read = try? JSONReader.read(bytes) else { continue }
        // 3e2 is written as 300, so what is written is compared.
        let written = read.description
        let again = try JSONReader.read(Array(written.utf8)).description
        #expect(again == written, "\(String(decoding: bytes, as: UTF8.self))")
        #expect((try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil)
      }
    }

    @Test("values that are nested too deep are rejected before the stack overflows")
    func deep() {
      for text in ["[", #"{"a":"#, #"[{"a":"#] {
        let bytes = Array(String(repeating: text, count: 100_000).utf8)
        #expect(throws: JSONError.self) { try JSONReader.read(bytes) }
      }
    }
  }
#endif
