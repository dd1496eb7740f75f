// What Apple's systems call a handler for is an asynchronous function here, which a task runs. Its caller may hold a
// thread of the cooperative pool until the handler is called, as synchronous code that a task calls does with a
// semaphore; and callers that hold all of the pool's threads would wait for ever for a task that needs one of them.
//
//     task ── function of an app ── writeData(…) { signal } ── wait     holds a thread of the pool
//                                       └── task ── handler             runs on a queue's thread

/// The tasks of functions that call a handler.
enum HandlerTasks {
  private static let executor = QueueExecutor(DispatchQueue(label: "photoledger.handlers", attributes: .concurrent))

  /// Begins a task, away from the threads that tasks run on. As in any task that is not detached, `shared()` means what
  /// it means to the caller.
  @discardableResult
  static func begin(_ body: sending @escaping () async -> Void) -> Task<Void, Never> {
    Task(executorPreference: executor, operation: body)
  }
}

/// Runs tasks on a queue.
final class QueueExecutor: TaskExecutor {
  private let queue: DispatchQueue

  init(_ queue: DispatchQueue) { self.queue = queue }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
