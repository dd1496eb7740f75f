#if Gallery
  import Foundation
  @testable import HTTPServing
  import Synchronization
  import TestSupport
  import Testing

  /// Answers with more than any client's and server's buffers hold: a file, or a stream that is never full.
  private final class Large: HTTPApplication {
    static let size: UInt64 = 256 << 20
    /// How many streams have ended.
    let ended = Atomic(0)
    private let file: HTTPFile

    init(_ folder: TemporaryFolder) throws {
      let descriptor = open(folder.place("large").path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      file = HTTPFile(owning: descriptor)
      // A hole: it takes no room on the disk.
      guard descriptor >= 0, ftruncate(descriptor, off_t(Self.size)) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    func plan(_ request: HTTPRequest) -> HTTPPlan {
      guard request.target.path == "/stream" else { return .answer(HTTPResponse(200, [], .file(file, 0..<Self.size))) }
      let stream = HTTPStream()
      Task.detached { [self] in
        let chunk = [UInt8](repeating: 0, count: 1 << 18)
        while (try? await stream.send { chunk }) != nil {}
        ended.add(1, ordering: .sequentiallyConsistent)
      }
      return .answer(HTTPResponse(200, [], .stream(stream)))
    }

    func finished(_ record: HTTPRecord) {}
  }

  private func serving(
    _ change: (inout HTTPServerOptions) -> Void, _ body: (UInt16, Large, HTTPServer) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    let application = try Large(folder)
    var options = HTTPServerOptions()
    change(&options)
    let server = try HTTPServer(try HTTPListener("127.0.0.1:0"), application: application, options: options)
    try await onBlockingThreads {
      do { try await body(server.address.port, application, server) } catch {
        await server.stop()
        throw error
      }
      await server.stop()
    }
  }

  @Suite("Clients that do not read")
  struct SlowReaderTests {
    private func begin(_ port: UInt16, _ path: String) throws -> RawClient {
      // The limits run from the connection on, so a client whose thread rests may have lost it before its request.
      for _ in 0..<20 {
        let client = try RawClient(port: port, receiveBuffer: 4096)
        client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
        if client.read(through: "\r\n").contains("200 OK") { return client }
      }
      throw Divergence("No request was answered.")
    }

    @Test("a client that reads nothing of a file or a stream loses its connection", arguments: ["/file", "/stream"])
    func silent(_ path: String) async throws {
      // The rate alone would leave it an hour.
      try await serving({ ($0.idleSeconds, $0.readSeconds) = (1, 3600) }) { port, application, server in
        let client = try begin(port, path)
        try await waitUntil("the connection is closed") { server.connections.count == 0 }
        if path == "/stream" {
          try await waitUntil("the stream's sender ends") {
            application.ended.load(ordering: .sequentiallyConsistent) > 0
          }
        }
        withExtendedLifetime(client) {}
      }
    }

    @Test("a client that reads a few bytes now and then loses its connection", arguments: ["/file", "/stream"])
    func trickle(_ path: String) async throws {
      // The idle limit alone would leave it an hour.
      try await serving({ ($0.idleSeconds, $0.readSeconds) = (3600, 0.5) }) { port, _, server in
        let client = try begin(port, path)
        try await waitUntil("the connection is closed") {
          client.receiveNow(milliseconds: 10, atMost: 100)
          server.connections.sweep()
          return server.connections.count == 0
        }
      }
    }

    @Test("an answer that is being read is not subject to the deadline of the head")
    func patient() async throws {
      try await serving({ $0.readSeconds = 7200 }) { port, _, server in
        let client = try RawClient(port: port)
        client.send("GET /file HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client.read(through: "\r\n\r\n").contains("200 OK"))
        server.connections.sweep(at: WatchedConnection.now + 3600 * 1_000_000_000)
        // More than the buffers of both sides hold.
        let count = 64 << 20
        #expect(client.bytes(count: count).count == count)
      }
    }

    @Test("the minimum rate is 32 KiB in the period, or what waits if it is less; where nothing waits there is none")
    func pace() {
      var pace = ReadingPace()
      func isTooSlow(_ taken: UInt64, _ waiting: UInt64, at now: UInt64) -> Bool {
        pace.isTooSlow(taken: taken, waiting: waiting, at: now, within: 60)
      }
      let least = ReadingPace.leastBytes
      // A megabyte waits: 32 KiB of it are due by 60, the next by 60 after they were seen to be taken.
      #expect(!isTooSlow(0, 1 << 20, at: 0) && !isTooSlow(least - 1, 1 << 20, at: 60))
      #expect(!isTooSlow(least, 1 << 20, at: 61) && !isTooSlow(2 * least - 1, 1 << 20, at: 121))
      // Another sweep, which began earlier.
      #expect(!isTooSlow(2 * least - 1, 1 << 20, at: 60))
      #expect(isTooSlow(2 * least - 1, 1 << 20, at: 122))
      // Taken late, but before it was looked at.
      #expect(!isTooSlow(2 * least, 1 << 20, at: 123))
      // All is taken, and much later a message of 100 bytes waits, then another.
      #expect(!isTooSlow(1 << 20, 0, at: 124) && !isTooSlow(1 << 20, 100, at: 500))
      #expect(!isTooSlow(1 << 20 + 100, 100, at: 560) && !isTooSlow(1 << 20 + 199, 1, at: 620))
      #expect(isTooSlow(1 << 20 + 199, 1, at: 621))
      pace.reset()
      #expect(!isTooSlow(1 << 20 + 199, 1, at: 700))
    }
  }
#endif
