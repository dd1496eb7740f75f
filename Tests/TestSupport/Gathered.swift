import Foundation
import Synchronization

/// What several threads report to a test, in the order in which they did.
package final class Gathered<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])

  package init() {}

  package func append(_ element: Element) { elements.withLock { $0.append(element) } }

  package var all: [Element] { elements.withLock { $0 } }
}

/// Runs a body that blocks on a thread of its own, so that no thread of the cooperative pool waits.
@discardableResult
package func onThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
  try await withCheckedThrowingContinuation { continuation in
    Thread { continuation.resume(with: Result { try body() }) }.start()
  }
}
