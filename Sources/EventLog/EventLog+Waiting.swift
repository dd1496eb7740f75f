import LMDB

extension EventLog {
  /// Waits until the head is beyond `sequence`, and gives the head; nil when time is up or the signal was cancelled.
  ///
  /// The log is looked at before each wait, and every 500 ms whatever the signal says.
  /// - Throws: `corrupted`, `storage`.
  public func waitForChange(
    after sequence: UInt64, signal: ChangeSignal, milliseconds: Int
  ) throws(EventLogError) -> Head? {
    var left = milliseconds
    while true {
      let current = try environment.read(mapping: { EventLogError($0) }) { (t) throws(EventLogError) in try head(t) }
      if current.sequence > sequence { return current }
      if left <= 0 { return nil }
      let start = ContinuousClock.now
      if signal.wait(milliseconds: min(left, 500)) == .cancelled { return nil }
      left -= Int((ContinuousClock.now - start) / .milliseconds(1))
    }
  }
}
