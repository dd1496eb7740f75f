import Foundation
import PhotoLedger
import Synchronization
import TestSupport

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

  /// The last state that it received.
  var lastToken: Token? { received.withLock { $0.last?.token } }

  /// What it received since this was last asked.
  func take() -> [LibraryChange] {
    received.withLock { changes in
      defer { changes.removeAll() }
      return changes
    }
  }
}

/// One client of a history, and what its observers received.
final class Witness {
  let client: String
  let library: PhotoLibrary
  let prompt = PromptObserver()
  let heldUp = HeldUpObserver()
  private var told: AsyncStream<LibraryChange>.Iterator
  /// The commits that its view was touched by, while it did not have full access; how it names them, from 1.
  var revisions: [UInt64] = []
  /// How it names the state that its held up observer last received; nil: nothing is to come.
  var owed: Token?

  init(_ client: String, _ library: PhotoLibrary) {
    (self.client, self.library) = (client, library)
    told = prompt.changes.makeAsyncIterator()
  }

  func register() throws {
    try library.register(prompt)
    try library.register(heldUp)
  }

  /// The next change; passes over those of before that are delivered late, because the client has come to see them.
  func next(_ token: Token) async throws -> LibraryChange {
    while let change = await told.next() {
      if change.token.isComparable(to: token), change.token < token, token.view == nil { continue }
      return change
    }
    throw Divergence("The observer of \(client) received nothing more.")
  }

  /// The commit that a change leads to.
  func commit(of change: LibraryChange) -> UInt64 {
    guard change.token.view != nil else { return change.token.commit }
    return change.token.position == 0 ? 0 : revisions[Int(change.token.position) - 1]
  }
}
