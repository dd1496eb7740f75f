#if Gallery
  import Foundation
  @testable import HTTPServing
  import TestSupport
  import Testing

  @Suite("A server where the system allows no further thread")
  struct RefusedThreadTests {
    /// No stack of a PiB can be had.
    private static let refused = 1 << 50

    @Test("what watches for clients that leave is not made, and says why")
    func departures() {
      let error = #expect(throws: HTTPServerError.self) { try DepartureWatch(stackSize: Self.refused) }
      #expect(error?.description.contains("no further thread") == true)
    }

    @Test("what accepts connections is not made, says why, and leaves the socket to its owner")
    func intake() {
      let listener = open("/dev/null", O_RDONLY | O_CLOEXEC)
      let error = #expect(throws: HTTPServerError.self) {
        try ConnectionIntake(listener, daemon: 1, stackSize: Self.refused)
      }
      #expect(error?.description.contains("no further thread") == true)
      #expect(close(listener) == 0)
    }

    @Test("what ends a server is done by the thread that asks for it")
    func ending() {
      let threads = Gathered<pthread_t>()
      ServingThread.run("large", stackSize: Self.refused) { threads.append(pthread_self()) }
      #expect(threads.all == [pthread_self()])
    }
  }
#endif
