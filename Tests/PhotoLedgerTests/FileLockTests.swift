import Foundation
import Glibc
import TestSupport
import Testing

@testable import PhotoLedger

@Suite("Locks of files")
struct FileLockTests {
  private struct Refusal: Error {
    let code: Int32
  }

  private static func opened(_ path: String) -> Int32 { open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }

  private static func lock(_ path: String) throws -> FileLock? { try FileLock(opened(path)) { Refusal(code: $0) } }

  /// Runs `body` with the path of a file that nothing has locked yet.
  private static func withFile(_ body: (String) throws -> Void) throws {
    let folder = try TemporaryFolder()
    try body(folder.place("lock").path)
  }

  @Test("one holder has it at a time, in one process too")
  func oneAtATime() throws {
    try Self.withFile { path in
      let first = try #require(try Self.lock(path))
      #expect(try Self.lock(path) == nil)
      first.release()
      let second = try Self.lock(path)
      #expect(second != nil)
      first.release()
      #expect(try Self.lock(path) == nil, "A second release took the lock of another.")
      withExtendedLifetime(second) {}
    }
  }

  @Test(
    "a released lock is free while a child that is being started still has the descriptor", arguments: [true, false])
  func freeOfCopies(_ isReleased: Bool) throws {
    try Self.withFile { path in
      let opened = Self.opened(path)
      let copy = fcntl(opened, F_DUPFD_CLOEXEC, 0)
      defer { close(copy) }
      var lock = try FileLock(opened) { Refusal(code: $0) }
      #expect(lock != nil)
      if isReleased { lock?.release() }
      lock = nil
      #expect(try Self.lock(path) != nil)
    }
  }

  @Test("a waiting caller has it as soon as it is released")
  func waits() throws {
    try Self.withFile { path in
      let first = try #require(try Self.lock(path))
      let thread = Thread { first.release() }
      thread.start()
      let second = try FileLock(Self.opened(path), waits: true) { Refusal(code: $0) }
      #expect(second != nil)
    }
  }

  @Test("a file that could not be opened is rejected with the reason")
  func unopened() throws {
    try Self.withFile { path in
      let refusal = #expect(throws: Refusal.self) { try Self.lock(path + "/none") }
      #expect(refusal?.code == ENOENT)
    }
  }
}
