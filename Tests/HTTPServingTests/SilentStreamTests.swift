#if Gallery
  @testable import HTTPServing
  import Synchronization
  import TestSupport
  import Testing

  /// Answers each request with a stream that has a heartbeat.
  private final class Silent: HTTPApplication {
    let streams = Mutex<[HTTPStream]>([])
    let records = Mutex<[HTTPRecord]>([])

    func plan(_ request: HTTPRequest) -> HTTPPlan {
      request.sender.name = request.target.query["name"]
      let stream = HTTPStream(heartbeat: Array("beat\n".utf8))
      streams.withLock { $0.append(stream) }
      return .respond { _ in HTTPResponse(200, [], .stream(stream)) }
    }

    func finished(_ record: HTTPRecord) { records.withLock { $0.append(record) } }
  }

  @Suite("A stream that is silent for long")
  struct SilentStreamTests {
    private func serving(_ body: (HTTPAddress, Silent) async throws -> Void) async throws {
      let silent = Silent()
      let server = try HTTPServer(try HTTPListener("127.0.0.1:0"), application: silent)
      try await onBlockingThreads {
        do { try await body(server.address, silent) } catch {
          await server.stop()
          throw error
        }
        await server.stop()
      }
    }

    @Test("is recorded by its method, path, peer and sender; its query is not kept while it is open")
    func record() async throws {
      try await serving { address, silent in
        let client = try RawClient(port: address.port)
        client.send("GET /stream?name=page&b=2 HTTP/1.1\r\nHost: a\r\nX-Own: b\r\nConnection: close\r\n\r\n")
        _ = client.read(through: "\r\n\r\n")
        let stream = try #require(silent.streams.withLock { $0.first })
        try await stream.send { Array("line\n".utf8) }
        stream.end()
        _ = client.readToEnd()
        try await waitUntil("the request is recorded") { silent.records.withLock { !$0.isEmpty } }
        let record = try #require(silent.records.withLock { $0.first })
        let request = record.request
        #expect(record.status == 200 && request.method == "GET" && request.target.path == "/stream")
        #expect(request.peer == "127.0.0.1" && request.sender.name == "page" && request.fields["x-own"] == "b")
        #expect(request.target.query.pairs.isEmpty)
      }
    }
  }
#endif
