import Foundation
import TestSupport
import Testing

@testable import PhotoLedger

@Suite("Threads of the library")
struct OwnThreadTests {
  @Test("a thread runs its work under its name, of which Linux keeps 15 bytes")
  func started() async throws {
    let names = Gathered<String>()
    try OwnThread.start("a-name-of-more-bytes") {
      names.append((try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)) ?? "")
    }
    try await waitUntil("the thread has run") { !names.all.isEmpty }
    #expect(names.all == ["a-name-of-more-\n"])
  }

  @Test("a thread that the system does not allow is an error, and its work is not done")
  func refused() {
    let error = #expect(throws: LibraryError.self) {
      // No stack of a PiB can be had.
      try OwnThread.start("large", stackSize: 1 << 50) { Issue.record("The thread runs.") }
    }
    #expect(error?.code == .storage && error?.description.contains("no further thread") == true)
  }
}
