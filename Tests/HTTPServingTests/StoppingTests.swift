#if Gallery
  import Foundation
  @testable import HTTPServing
  import Synchronization
  import TestSupport
  import Testing

  /// Answers what waits for a gate, at once or after a body, and receives bodies.
  private final class Gated: HTTPApplication {
    private struct State {
      var isOpen = false
      var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    /// How many requests wait for the gate.
    var waitingCount: Int { state.withLock { $0.waiting.count } }
    /// How many requests have begun.
    let begun = Atomic(0)
    let receiver = Receiver()

    func plan(_ request: HTTPRequest) -> HTTPPlan {
      begun.add(1, ordering: .sequentiallyConsistent)
      return switch request.method {
      case "POST":
        .gather(limit: 1000) { [self] request in
          await wait()
          return HTTPResponse(200, [], .bytes(request.body))
        }
      case "PUT": .receive { [receiver] _ in .take(receiver, interim: []) }
      default:
        request.target.path == "/later"
          ? .respond { _ in .plain(200, "later") }
          : .respond { [self] _ in
            await wait()
            return .plain(200, "waited")
          }
      }
    }

    private func wait() async {
      await withCheckedContinuation { continuation in
        let isOpen = state.withLock { state in
          if !state.isOpen { state.waiting.append(continuation) }
          return state.isOpen
        }
        if isOpen { continuation.resume() }
      }
    }

    func open() {
      let waiting = state.withLock { state in
        defer { (state.isOpen, state.waiting) = (true, []) }
        return state.waiting
      }
      for continuation in waiting { continuation.resume() }
    }

    func finished(_ record: HTTPRecord) {}
  }

  /// Counts what comes and what becomes of it.
  private final class Receiver: HTTPReceiver {
    let taken = Atomic(0)
    let abandoned = Atomic(0)

    func take(_ bytes: [UInt8]) async -> HTTPResponse? {
      taken.add(bytes.count, ordering: .sequentiallyConsistent)
      return nil
    }

    func finish() async -> HTTPResponse { .plain(200, "received") }

    func abandon() async { abandoned.add(1, ordering: .sequentiallyConsistent) }
  }

  /// Runs a body, whose reads may block, against a server that is stopped afterwards, if it is not yet.
  private func serving(
    _ change: (inout HTTPServerOptions) -> Void = { _ in }, _ body: (UInt16, Gated, HTTPServer) async throws -> Void
  ) async throws {
    let application = Gated()
    var options = HTTPServerOptions()
    change(&options)
    let server = try HTTPServer(try HTTPListener("127.0.0.1:0"), application: application, options: options)
    try await onBlockingThreads {
      do { try await body(server.address.port, application, server) } catch {
        application.open()
        await server.stop()
        throw error
      }
      application.open()
      await server.stop()
    }
  }

  @Suite("A server that stops", .timeLimit(.minutes(3)))
  struct StoppingTests {
    @Test("new requests are answered with 503 and lose their connection; those that have begun are answered")
    func refused() async throws {
      try await serving({ $0.stopSeconds = 60 }) { port, application, server in
        let (running, next) = (try RawClient(port: port), try RawClient(port: port))
        next.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(next.read(through: "later\n").contains("200 OK"))
        running.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n")
        try await waitUntil("the request waits") { application.waitingCount == 1 }
        let stop = Task { await server.stop() }
        try await waitUntil("the server is stopping") { server.isStopping }
        next.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n")
        let refusal = next.readToEnd()
        #expect(next.isAtEnd && refusal.hasPrefix("HTTP/1.1 503"), "\(refusal)")
        #expect(refusal.contains("\r\nConnection: close\r\n"), "\(refusal)")
        #expect(refusal.contains("\r\nRetry-After: 5\r\n"), "\(refusal)")
        application.open()
        let answer = running.readToEnd()
        #expect(answer.hasPrefix("HTTP/1.1 200") && answer.hasSuffix("waited\n"), "\(answer)")
        await stop.value
      }
    }

    @Test("clients that keep sending requests neither crash it nor keep it running")
    func asking() async throws {
      for _ in 0..<20 {
        try await serving { port, _, server in
          let answers = Gathered<Bool>()
          await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
              group.addTask {
                guard let client = try? RawClient(port: port) else { return }
                while !client.isAtEnd {
                  client.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n")
                  let answer = client.read(through: "later\n")
                  if answer.hasSuffix("later\n") { answers.append(true) }
                }
              }
            }
            group.addTask {
              while answers.all.count < 50 { await Task.yield() }
              await server.stop()
            }
          }
        }
      }
    }

    @Test("work that begins while it stops and exceeds its grace period is awaited, and its connection is cut")
    func late() async throws {
      // On a busy machine the end of the request may come when the patience is over already.
      for seconds in [1, 10, 60] {
        if try await hasBegunLate(patience: seconds) { return }
      }
      Issue.record("The work never began while the server was stopping.")
    }

    /// Ends a request while its server stops, and looks at what becomes of its work.
    /// - Returns: whether the work began before the patience was over.
    private func hasBegunLate(patience: Int) async throws -> Bool {
      let begun = Gathered<Bool>()
      try await serving({ $0.stopSeconds = patience }) { port, application, server in
        let client = try RawClient(port: port)
        client.send("POST /gate HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab")
        try await waitUntil("the request has begun") { application.begun.load(ordering: .sequentiallyConsistent) == 1 }
        let (hasEnded, stop) = (Gathered<Bool>(), Task { await server.stop() })
        let end = Task {
          await stop.value
          hasEnded.append(true)
        }
        try await waitUntil("the server is stopping") { server.isStopping }
        client.send("cd")
        try await waitUntil("the request waits") { application.waitingCount == 1 || server.isClosing }
        guard application.waitingCount == 1 else { return }
        begun.append(true)
        // The connection is suspended; only its socket shows that the patience is over.
        #expect(client.readToEnd().isEmpty && client.isAtEnd)
        #expect(server.isClosing && hasEnded.all.isEmpty)
        application.open()
        await end.value
      }
      return !begun.all.isEmpty
    }

    @Test("a body still in reception after the grace period is cut, and its receiver has ended when it has stopped")
    func receiving() async throws {
      // On a busy machine the patience may be over before the server has read what its socket has.
      for seconds in [1, 10, 60] {
        if try await hasReceivedAll(patience: seconds) { return }
      }
      Issue.record("What came of the body never reached the receiver.")
    }

    /// Stops a server while a body comes.
    /// - Returns: whether the receiver was given all that was sent.
    private func hasReceivedAll(patience: Int) async throws -> Bool {
      let taken = Gathered<Int>()
      try await serving({ $0.stopSeconds = patience }) { port, application, server in
        let client = try RawClient(port: port)
        client.send("PUT /body HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n")
        _ = client.read(through: "\r\n\r\n")
        client.send([UInt8](repeating: 7, count: 600_000))
        try await waitUntil("some of it is taken") {
          application.receiver.taken.load(ordering: .sequentiallyConsistent) >= 524_288
        }
        await server.stop()
        #expect(application.receiver.abandoned.load(ordering: .sequentiallyConsistent) == 1)
        taken.append(application.receiver.taken.load(ordering: .sequentiallyConsistent))
      }
      return taken.all == [600_000]
    }
  }

  @Suite("An answer that takes long")
  struct LongWorkTests {
    @Test(
      "an answer that is being prepared is not subject to the deadline of the head, nor of the body",
      arguments: [
        ("GET /gate HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "waited\n"),
        ("POST /gate HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4\r\n\r\nabcd", "abcd"),
      ])
    func patient(_ request: String, _ body: String) async throws {
      try await serving { port, application, server in
        let client = try RawClient(port: port)
        client.send(request)
        try await waitUntil("the request waits") { application.waitingCount == 1 }
        server.connections.sweep(at: WatchedConnection.now + 3600 * 1_000_000_000)
        application.open()
        let answer = client.readToEnd()
        #expect(answer.hasPrefix("HTTP/1.1 200") && answer.hasSuffix(body), "\(answer)")
      }
    }
  }

  @Suite("A body that arrives slowly")
  struct SlowBodyTests {
    @Test("a byte now and then loses the connection, and the received bytes are delivered")
    func trickle() async throws {
      // The idle limit alone would never end it: each byte is a sign of life.
      try await serving({ ($0.requestSeconds, $0.idleSeconds) = (0.4, 1) }) { port, application, _ in
        let start = ContinuousClock.now
        var client: RawClient
        repeat {
          // The time of the head runs from here, and a thread that rests now has its connection cut.
          client = try RawClient(port: port)
          client.send("PUT /body HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\nx")
        } while !client.read(through: "\r\n\r\n").contains(" 104 ") && start.duration(to: .now) < .seconds(90)
        while !client.isAtEnd, start.duration(to: .now) < .seconds(180) {
          client.send("x")
          client.receiveNow(milliseconds: 50)
        }
        #expect(client.isAtEnd)
        try await waitUntil("its receiver has ended") {
          application.receiver.abandoned.load(ordering: .sequentiallyConsistent) > 0
        }
        #expect(application.receiver.taken.load(ordering: .sequentiallyConsistent) > 0)
      }
    }

    @Test("a body that makes progress is not limited in time")
    func steady() async throws {
      let seconds: UInt64 = 600
      try await serving({ $0.requestSeconds = Double(seconds) }) { port, application, server in
        let client = try RawClient(port: port)
        let count = 4
        client.send("PUT /body HTTP/1.1\r\nHost: a\r\nContent-Length: \(count * Reception.portion)\r\n\r\n")
        _ = client.read(through: "\r\n\r\n")
        for number in 1...count {
          let before = WatchedConnection.now
          client.send([UInt8](repeating: 7, count: Reception.portion))
          try await waitUntil("the portion is taken") {
            application.receiver.taken.load(ordering: .sequentiallyConsistent) == number * Reception.portion
          }
          // Later than any deadline of the bytes before.
          server.connections.sweep(at: before + seconds * 1_000_000_000)
        }
        #expect(client.read(through: "received\n").contains("200 OK"))
      }
    }
  }
#endif
