internal import Foundation
internal import PhotoLedger
internal import Synchronization

/// Runs blocking work over a list on threads of its own and returns the results in the order of the list.
///
/// The cooperative pool has as many threads as processors and must not be blocked by reads, fsyncs and children.
/// - Parameters:
///   - width: The number of threads.
///   - body: The work on one element; the first error is thrown when all threads have ended.
func onThreads<Element: Sendable, Result: Sendable>(
  _ elements: [Element], width: Int, _ body: @escaping @Sendable (Element) throws(ImportError) -> Result
) async throws(ImportError) -> [Result] {
  if elements.isEmpty { return [] }
  let work = SharedWork<Element, Result>(elements)
  let threadCount = min(width, elements.count)
  let outcome = await withCheckedContinuation { continuation in
    let running = RunningThreads(count: threadCount) { continuation.resume(returning: work.outcome()) }
    let run: @Sendable () -> Void = {
      while let (position, element) = work.next() { work.finish(position, element, body) }
      running.oneEnded()
    }
    for number in 0..<threadCount {
      do throws(LibraryError) { try OwnThread.start("ledger-work", run) } catch {
        // Where the system allows no further thread, those that run do the work; without any, this one does.
        if number == 0 { run() } else { running.oneEnded() }
      }
    }
  }
  return try outcome.get()
}

/// Calls `whenAllEnded` from the last of a number of threads.
private final class RunningThreads: Sendable {
  private let count: Mutex<Int>
  private let whenAllEnded: @Sendable () -> Void

  init(count: Int, whenAllEnded: @escaping @Sendable () -> Void) {
    self.count = Mutex(count)
    self.whenAllEnded = whenAllEnded
  }

  func oneEnded() {
    let left = count.withLock { count in
      count -= 1
      return count
    }
    if left == 0 { whenAllEnded() }
  }
}

/// The elements that threads take from, and what became of them.
private final class SharedWork<Element: Sendable, Result: Sendable>: Sendable {
  private struct State {
    var next = 0
    var results: [Result?]
    var failure: ImportError?
  }

  private let elements: [Element]
  private let state: Mutex<State>

  init(_ elements: [Element]) {
    self.elements = elements
    self.state = Mutex(State(results: Array(repeating: nil, count: elements.count)))
  }

  /// The next element with its position; nil when there is none, or one has failed.
  func next() -> (Int, Element)? {
    state.withLock { state in
      guard state.next < elements.count, state.failure == nil else { return nil }
      defer { state.next += 1 }
      return (state.next, elements[state.next])
    }
  }

  func finish(_ position: Int, _ element: Element, _ body: (Element) throws(ImportError) -> Result) {
    do throws(ImportError) {
      let result = try body(element)
      state.withLock { $0.results[position] = result }
    } catch {
      state.withLock { $0.failure = $0.failure ?? error }
    }
  }

  func outcome() -> Swift.Result<[Result], ImportError> {
    state.withLock { state in
      if let failure = state.failure { return .failure(failure) }
      return .success(state.results.compactMap { $0 })
    }
  }
}
