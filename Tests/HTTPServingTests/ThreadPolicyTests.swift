#if Gallery
  import Foundation
  @testable import HTTPServing
  import TestSupport
  import Testing

  /// Answers with the scheduling policy of the thread of its connection, and of a thread that this one starts.
  private final class Policies: HTTPApplication {
    func plan(_ request: HTTPRequest) -> HTTPPlan {
      let started = Thread.policyOfStarted()
      return .answer(.plain(200, "\(sched_getscheduler(0) & 0xFFFF) \(started)"))
    }

    func finished(_ record: HTTPRecord) {}
  }

  extension Thread {
    /// The policy of a thread that the calling one starts.
    fileprivate static func policyOfStarted() -> Int32 {
      var thread = pthread_t()
      let code = pthread_create(
        &thread, nil, { _ in UnsafeMutableRawPointer(bitPattern: Int(sched_getscheduler(0)) + 1) }, nil)
      guard code == 0 else { return -1 }
      var policy: UnsafeMutableRawPointer?
      pthread_join(thread, &policy)
      return Int32(Int(bitPattern: policy) - 1)
    }
  }

  @Suite("Scheduling of connections")
  struct ThreadPolicyTests {
    @Test("the threads of connections take no processor from others when they wake, and those they start do")
    func policies() async throws {
      let server = try HTTPServer(try HTTPListener("127.0.0.1:0"), application: Policies())
      let text = try await onBlockingThreads {
        let client = try RawClient(port: server.address.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        return client.readToEnd()
      }
      await server.stop()
      // SCHED_BATCH, and SCHED_OTHER.
      #expect(text.hasSuffix("\r\n\r\n3 0\n"), "\(text)")
    }
  }
#endif
