import Foundation

/// Runs work that blocks, on a file, the store or a child process, away from the threads that tasks run on.
package func offload<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    DispatchQueue.global().async { continuation.resume(with: Result { try work() }) }
  }
}
