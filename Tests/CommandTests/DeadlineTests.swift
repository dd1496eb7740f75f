import Foundation
import Testing

@testable import PhotoLedgerCommand

@Suite("The deadline of a command after a request to stop")
struct DeadlineTests {
  @Test("where the system allows no thread for the deadline, the kernel ends the process", .timeLimit(.minutes(2)))
  func noThread() async {
    await #expect(processExitsWith: .signal(SIGALRM)) {
      // No stack of a PiB can be had.
      Interruption(patience: 0, deadlineStackSize: 1 << 50).request()
      // A step that goes on for longer; it ends before the test has to.
      poll(nil, 0, 60_000)
    }
  }
}
