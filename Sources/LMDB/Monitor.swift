import Glibc

/// A value behind a lock that threads can also wait on.
///
/// `Synchronization.Mutex` has no condition variable, and the gate of an environment is a condition: "no transaction
/// is open". So is the queue of a library's writer. Hence the pthread pair.
///
/// Guarded by `mutex`: `value`. The two pthread objects have fixed addresses for the life of the monitor.
package final class Monitor<Value>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var value: Value

  /// Guards a value.
  package init(_ value: Value) {
    self.value = value
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Runs `body` with the value, alone.
  package func withLock<R: ~Copyable, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }

  /// Runs `attempt` with the value, alone, again after each `broadcast`, until it gives a result or time is up.
  ///
  /// The limit counts as ``monotonicSeconds(coarse:)`` does, so no step of the wall clock changes it, and no year of
  /// that clock is out of range, as one after 2262 is for Foundation's `NSCondition`.
  package func wait<R, E: Error>(
    untilSeconds deadline: Double = .infinity, _ attempt: (inout Value) throws(E) -> R?
  ) throws(E) -> R? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = try attempt(&value) { return result }
      if deadline == .infinity {
        pthread_cond_wait(condition, mutex)
      } else {
        var time = timespec(tv_sec: Int(deadline), tv_nsec: Int((deadline - deadline.rounded(.down)) * 1e9))
        if pthread_cond_timedwait(condition, mutex, &time) == ETIMEDOUT { return try attempt(&value) }
      }
    }
  }

  /// Makes every waiting thread look again.
  package func broadcast() { pthread_cond_broadcast(condition) }
}

/// Seconds of the monotonic clock, for deadlines and ages; never part of anything stored.
package func monotonicSeconds(coarse: Bool = false) -> Double {
  var time = timespec()
  clock_gettime(coarse ? CLOCK_MONOTONIC_COARSE : CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
