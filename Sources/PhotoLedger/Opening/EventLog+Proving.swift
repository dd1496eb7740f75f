package import EventLog
import LMDB

extension EventLog {
  /// Recomputes the whole log on several cores, and reports progress.
  /// - Returns: the verification; nil if `progress` cancelled it.
  /// - Complexity: O(bytes) of the events.
  package func proved(
    statesAt sizes: Set<UInt64> = [], in t: borrowing StoreReading, _ progress: (TaskProgress) -> Bool
  ) throws -> LogVerification? {
    let total = try head(t).sequence
    var isStopped = false
    let found = try verifyOnSeveralCores(statesAt: sizes, in: t) { sequence in
      isStopped = !progress(TaskProgress(phase: "log", done: sequence, total: total))
      return isStopped ? .stop : .proceed
    }
    return isStopped ? nil : found
  }
}
