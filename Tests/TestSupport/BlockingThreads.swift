import Foundation
package import Testing

/// Runs jobs on threads that may block: a new one for each.
///
/// A test that reads from a socket blocks its thread until a server answers. On the shared pool, which has as many
/// threads as the machine has cores, two such tests leave the server's own tasks no thread, and all of them wait for
/// the limits of their sockets. Two that wait for a child process, or for a time to pass, leave the processors idle.
private final class BlockingThreads: TaskExecutor {
  static let shared = BlockingThreads()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// Runs a body, and the child tasks of it, on threads that may block.
package nonisolated(nonsending) func onBlockingThreads<Result>(
  _ body: nonisolated(nonsending) () async throws -> Result
) async rethrows -> Result {
  try await withTaskExecutorPreference(BlockingThreads.shared) { try await body() }
}

/// Whether the calling thread belongs to no task, or to one task alone.
func mayBlock() -> Bool {
  withUnsafeCurrentTask { task in task.map { $0.unownedTaskExecutor != nil } ?? true }
}

/// Runs the tests of a suite, or a test, on threads that may block.
package struct BlockingThreadsTrait: SuiteTrait, TestTrait, TestScoping {
  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await onBlockingThreads { try await function() }
  }
}

extension Trait where Self == BlockingThreadsTrait {
  /// Runs the tests on threads that may block, see ``onBlockingThreads(_:)``.
  package static var blocking: BlockingThreadsTrait { BlockingThreadsTrait() }
}
