import Foundation
import LMDB
import Synchronization
import Testing

@testable import EventLog

@Suite("Change signal")
struct ChangeSignalTests {
  @Test("one notification wakes every waiter, and only once")
  func twoWaiters() async throws {
    try await withTemporaryDirectory { path in
      let signals = try (0..<3).map { _ in try ChangeSignal(path: path + "/changes") }
      #expect(signals.allSatisfy { $0.mechanism == .pipe })
      for _ in 0..<50 {
        let wakes = Collected<ChangeSignal.Wake>()
        let threads = signals.dropFirst().map { signal in
          Thread {
            let wake = signal.wait(milliseconds: 180_000)
            wakes.append(wake)
          }
        }
        threads.forEach { $0.start() }
        signals[0].notify()
        #expect(try await eventually { wakes.all.count == 2 })
        #expect(wakes.all == [.signalled, .signalled])
        for signal in signals.dropFirst() { #expect(signal.wait(milliseconds: 0) == .timedOut) }
      }
    }
  }

  @Test("notifications before a wait are not lost, and coalesce")
  func coalescing() async throws {
    try await withTemporaryDirectory { path in
      let waiter = try ChangeSignal(path: path + "/changes")
      let writer = try ChangeSignal(path: path + "/changes")
      for _ in 0..<100_000 { writer.notify() }
      #expect(waiter.wait(milliseconds: 180_000) == .signalled)
      #expect(waiter.wait(milliseconds: 0) == .timedOut)
      writer.notify()
      #expect(waiter.wait(milliseconds: 180_000) == .signalled)
    }
  }

  @Test("a wait is cancelled from another thread, and so are later ones")
  func cancel() async throws {
    try await withTemporaryDirectory { path in
      let signal = try ChangeSignal(path: path + "/changes")
      let wakes = Collected<ChangeSignal.Wake>()
      // Without end: that time is up would be taken for the cancellation.
      let thread = Thread {
        let wake = signal.wait(milliseconds: .max)
        wakes.append(wake)
      }
      thread.start()
      #expect(try await eventually { signal.isWaiting.load(ordering: .acquiring) })
      signal.cancel()
      #expect(try await eventually { wakes.all.count == 1 })
      #expect(wakes.all == [.cancelled])
      signal.notify()
      #expect(signal.wait(milliseconds: 180_000) == .cancelled)
    }
  }

  @Test("a file that is not a pipe is rejected, and one that cannot be a pipe is polled and reported")
  func fallback() async throws {
    try await withTemporaryDirectory { path in
      #expect(FileManager.default.createFile(atPath: path + "/file", contents: nil))
      let error = try failure { _ = try ChangeSignal(path: path + "/file") }
      #expect(error?.code == .signal && error?.description.contains("\(path)/file is not a named pipe") == true)
      #expect(error?.description.contains("remove it") == true)
      #expect(try failure { _ = try ChangeSignal(path: path + "/no/where") }?.code == .signal)
      let polling = try ChangeSignal(path: "/sys/photoledger-changes")
      guard case .polling = polling.mechanism else {
        Issue.record("no pipe can be made in /sys")
        return
      }
      polling.notify()
      let start = ContinuousClock.now
      #expect(polling.wait(milliseconds: 180_000) == .timedOut)
      #expect(ContinuousClock.now - start < .seconds(90))
      polling.cancel()
      #expect(polling.wait(milliseconds: 180_000) == .cancelled)
    }
  }

  @Test("two waiting processes follow a log that another writes to, and see every commit once")
  func processes() async throws {
    try await withTemporaryDirectory { path in
      let log = try EventLog(in: openStore(path))
      let signal = try ChangeSignal(path: path + "/changes")
      // A thread of its own: the exit tests below may occupy all threads that tasks run on.
      let writer = Thread {
        func isReady(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path + "/" + name) }
        let deadline = ContinuousClock.now + .seconds(180)
        while !(isReady("a") && isReady("b")) && ContinuousClock.now < deadline { sched_yield() }
        for n in 0..<200 as Range<UInt8> {
          #expect(throws: Never.self) { try log.append(EventLogTests.information, [EventLogTests.event([n])]) }
          signal.notify()
        }
      }
      writer.start()
      async let first: Void = follow(path, "a")
      async let second: Void = follow(path, "b")
      _ = await (first, second)
      #expect(try await eventually { writer.isFinished })
    }
  }

  private func follow(_ path: String, _ name: String) async {
    await #expect(processExitsWith: .success) { [path = path as String, name = name as String] in
      let log = try EventLog(in: openStore(path))
      let signal = try ChangeSignal(path: path + "/changes")
      guard FileManager.default.createFile(atPath: path + "/" + name, contents: nil) else { exit(2) }
      var seen: [UInt8] = []
      while true {
        let known = UInt64(seen.count)
        try log.environment.read { t in
          try log.read(after: known, in: t) { event in
            seen += event.payloadBytes ?? []
            return .proceed
          }
        }
        guard seen.count < 200 else { break }
        // Not `waitForChange`, which reads the log at intervals whatever the signal says.
        guard signal.wait(milliseconds: 180_000) == .signalled else { exit(3) }
      }
      guard seen == Array(0..<200) else { exit(4) }
    }
  }

  @Test("waiting for a change ends at once when there is one, on time when there is none, and when cancelled")
  func waitForChange() throws {
    try withLog { log in
      let signal = try ChangeSignal(path: log.environment.path + "/changes")
      try log.append(EventLogTests.information, [EventLogTests.event()])
      #expect(try log.waitForChange(after: 0, signal: signal, milliseconds: 180_000)?.sequence == 1)
      #expect(try log.waitForChange(after: 1, signal: signal, milliseconds: 30) == nil)
      signal.cancel()
      #expect(try log.waitForChange(after: 1, signal: signal, milliseconds: 180_000) == nil)
    }
  }
}
