import Foundation
import PhotoLedger
import Synchronization

/// A callback observer that is held up until somebody lets it go on.
final class HeldUpObserver: PhotoLibraryChangeObserver {
  private let gate = NSCondition()
  private let isOpen = Mutex(false)
  private let received = Mutex<[LibraryChange]>([])

  func photoLibraryDidChange(_ change: LibraryChange) {
    gate.lock()
    while !isOpen.withLock({ $0 }) { gate.wait() }
    gate.unlock()
    received.withLock { $0.append(change) }
  }

  func setOpen(_ open: Bool) {
    gate.lock()
    isOpen.withLock { $0 = open }
    gate.broadcast()
    gate.unlock()
  }

  /// The last commit that it was told of.
  var lastCommit: UInt64 { received.withLock { $0.last?.commits.last?.number ?? 0 } }

  /// What it was told since this was last asked.
  func take() -> [LibraryChange] {
    received.withLock { changes in
      defer { changes.removeAll() }
      return changes
    }
  }
}
