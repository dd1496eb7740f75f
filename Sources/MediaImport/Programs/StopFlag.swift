internal import Synchronization

/// Whether work on several threads was cancelled.
final class StopFlag: Sendable {
  private let flag = Atomic(false)

  func set() { flag.store(true, ordering: .relaxed) }

  var isSet: Bool { flag.load(ordering: .relaxed) }
}
