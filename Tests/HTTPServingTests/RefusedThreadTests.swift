#if Gallery
  import Foundation
  @testable import HTTPServing
  import TestSupport
  import Testing

  @Suite("A server where the system allows no further thread")
  struct RefusedThreadTests {
    /// No stack of a PiB can be had.
    private static let refused = 1 << 50

    @Test("the thread that detects disconnected clients is not started, and the error says why")
    func departures() {
      let error = #expect(throws: HTTPServerError.self) { try DepartureWatch(stackSize: Self.refused) }
      #expect(error?.description.contains("no further thread") == true)
    }

    @Test("the thread that accepts connections is not started, the error says why, and the socket stays with its owner")
    func intake() {
      let listener = open("/dev/null", O_RDONLY | O_CLOEXEC)
      let error = #expect(throws: HTTPServerError.self) {
        let connections = ConnectionWatch(limit: 1, requestSeconds: 1, idleSeconds: 1, readSeconds: 1)
        _ = try ConnectionIntake(
          listener, daemon: 1, connections: connections, log: { _ in }, stackSize: Self.refused)
      }
      #expect(error?.description.contains("no further thread") == true)
      #expect(close(listener) == 0)
    }

    @Test("the cleanup of a server runs on the thread that requests it")
    func ending() {
      let threads = Gathered<pthread_t>()
      ServingThread.run("large", stackSize: Self.refused) { threads.append(pthread_self()) }
      #expect(threads.all == [pthread_self()])
    }
  }
#endif
