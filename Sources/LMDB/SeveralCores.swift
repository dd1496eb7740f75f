import Dispatch
import Glibc
import Synchronization

/// Work in independent parts, distributed over several cores.
package enum SeveralCores {
  /// More are not taken: such work is soon bound by memory or the disk, and others want cores too.
  private static let most = 4

  /// Runs a body for every part, several at once; each free thread takes the next.
  /// - Returns: the outcomes in the order of the parts.
  package static func map<Outcome: Sendable>(
    _ count: Int, _ body: @Sendable (Int) throws -> Outcome
  ) -> [Result<Outcome, any Error>] {
    let next = Atomic(0)
    let outcomes = Mutex<[Result<Outcome, any Error>?]>(Array(repeating: nil, count: count))
    let workers = min(most, max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))), count)
    DispatchQueue.concurrentPerform(iterations: workers) { _ in
      while true {
        let part = next.add(1, ordering: .relaxed).oldValue
        guard part < count else { return }
        let outcome = Result { try body(part) }
        outcomes.withLock { $0[part] = outcome }
      }
    }
    return outcomes.withLock { $0.compactMap(\.self) }
  }
}
