import Foundation
import Synchronization

@testable import MediaImport

/// A clock for a watch that a test puts forward.
final class ForwardClock: Sendable {
  private let base = LibraryWatch.Options().clock
  private let ahead = Mutex(Duration.zero)

  var now: Duration { base() + ahead.withLock(\.self) }

  func advance(by duration: Duration) { ahead.withLock { $0 += duration } }
}

extension WatchedLibrary {
  /// Sets how long a file may be gone, by a clock, in the watches that begin after this.
  func setGrace(_ grace: Duration, by clock: ForwardClock = ForwardClock()) {
    options.withLock { options in
      options.graceTime = grace
      options.clock = { clock.now }
    }
  }

  /// Lets the times of files count, as though nothing had changed these for a minute, in the watches that begin after
  /// this.
  func letTimesCount() { options.withLock { $0.importing.now = { Date(timeIntervalSinceNow: 60) } } }
}
