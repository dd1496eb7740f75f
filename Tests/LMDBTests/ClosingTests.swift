import Foundation
import Synchronization
import Testing

@testable import LMDB

@Suite("Opening while another thread closes")
struct ClosingTests {
  @Test("an open during a close waits for its end, and opens the files again")
  func openDuringClose() async throws {
    try await withTemporaryDirectory { path in
      let environment = try Environment.open(path: path)
      let database = try environment.database("d")
      try environment.write { t in try t.put([1], [2], in: database) }
      let read = try environment.beginRead()
      let closer = Thread { try? environment.close() }
      closer.start()
      #expect(try await eventually { environment.gate.monitor.withLock { $0.isDraining } })

      let opened = Mutex<(environment: Environment?, hasWaited: Bool)>((nil, false))
      let name = Mutex<String?>(nil)
      let opener = Thread {
        let own = nameOfThisThread()
        name.withLock { $0 = own }
        let found = try? Environment.open(path: path)
        let hasWaited = environment.gate.monitor.withLock { $0.handle == nil }
        opened.withLock { $0 = (found, hasWaited) }
      }
      opener.start()
      #expect(try await eventually { opener.isFinished || name.withLock { $0 }.map(isAsleep) == true })
      #expect(try read.bytes(for: [1], in: database) == [2])
      _ = consume read
      #expect(try await eventually { opener.isFinished && closer.isFinished })

      #expect(opened.withLock { $0.hasWaited })
      let again = try #require(opened.withLock { $0.environment })
      #expect(again !== environment)
      let kept = try again.database("d", create: false)
      #expect(try again.read { t in try t.bytes(for: [1], in: kept) } == [2])
    }
  }

  @Test("a reading thread gets the environment that another one is closing, instead of waiting for itself")
  func openInsideRead() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path)
      let found = try environment.read { _ in
        let closer = Thread { try? environment.close() }
        closer.start()
        while !environment.gate.monitor.withLock({ $0.isDraining }) { sched_yield() }
        return try Environment.open(path: path)
      }
      #expect(found === environment)
    }
  }
}
