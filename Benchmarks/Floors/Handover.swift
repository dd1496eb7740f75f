import Foundation
import Synchronization

// What is left of a delivery without anything to deliver.
//
// A change goes from the caller to the writer's thread, from there to the thread that follows the log, and from there
// to the tasks that wait. Here the same threads and tasks wake one another, and do nothing else:
//
//     caller ──semaphore──▶ thread ──semaphore──▶ thread ──stream──▶ task … task

/// Threads and tasks that hand over to one another.
final class Handover: Sendable {
  private let second = DispatchSemaphore(value: 0)
  private let third = DispatchSemaphore(value: 0)
  private let isClosed = Atomic<Bool>(false)
  private let streams: [AsyncStream<Void>.Continuation]
  private let arrivals = Arrivals()

  /// - Parameter count: how many tasks wait at the end.
  init(to count: Int) {
    var streams: [AsyncStream<Void>.Continuation] = []
    for _ in 0..<count {
      let (stream, continuation) = AsyncStream<Void>.makeStream()
      streams.append(continuation)
      Task.detached { [arrivals] in for await _ in stream { arrivals.arrive() } }
    }
    self.streams = streams
    Thread { [self] in pass(second) { third.signal() } }.start()
    Thread { [self] in pass(third) { for stream in self.streams { stream.yield() } } }.start()
  }

  private func pass(_ mine: DispatchSemaphore, on: () -> Void) {
    while true {
      mine.wait()
      if isClosed.load(ordering: .acquiring) { return }
      on()
    }
  }

  /// Times from the caller's signal until every task has arrived.
  func times(_ repetitions: Int) throws -> Sample {
    Sample(try (0..<repetitions + 3).map { _ in try time() }.suffix(repetitions))
  }

  /// Times one signal until every task has arrived, in nanoseconds.
  /// - Parameter work: what the caller does first, inside the clock.
  func time(after work: () throws -> Void = {}) throws -> Double {
    arrivals.expect(streams.count)
    let start = ContinuousClock.now
    try work()
    second.signal()
    return (try arrivals.wait() - start).nanoseconds
  }

  /// Ends the threads and the tasks.
  func close() {
    isClosed.store(true, ordering: .releasing)
    second.signal()
    third.signal()
    for stream in streams { stream.finish() }
  }
}
