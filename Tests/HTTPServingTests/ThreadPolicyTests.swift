#if Gallery
  import Foundation
  @testable import HTTPServing
  import TestSupport
  import Testing

  /// Answers with the scheduling policy of the thread of its connection.
  private final class Policies: HTTPApplication {
    func plan(_ request: HTTPRequest) -> HTTPPlan { .answer(.plain(200, "\(sched_getscheduler(0))")) }

    func finished(_ record: HTTPRecord) {}
  }

  @Suite("Scheduling of connections")
  struct ThreadPolicyTests {
    @Test("the threads of connections take no processor from others when they wake")
    func policies() async throws {
      let server = try HTTPServer(try HTTPListener("127.0.0.1:0"), application: Policies())
      let text = try await onBlockingThreads {
        let client = try RawClient(port: server.address.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        return client.readToEnd()
      }
      await server.stop()
      // SCHED_BATCH. Swift takes CR and LF for one character.
      #expect(text.utf8.reversed().starts(with: "\r\n\r\n3\n".utf8.reversed()), "\(text)")
    }
  }
#endif
