#if Gallery
  import Synchronization

  /// What takes long to make and is made when it is first needed. Until then, and meanwhile, it is not there.
  ///
  /// Two locks, so that threads of connections never wait: one is held for a look, the other while it is made.
  final class MadeOnce<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)
    /// Held while it is made; only threads that may wait take it. True when nothing is made any more.
    private let making = Mutex(false)

    /// The value, if it has been made.
    var value: Value? { state.withLock { $0 } }

    /// The value, made now if it has not been.
    /// - Parameter make: makes it; after a failure the next call tries again.
    /// - Throws: what the closure throws; `CancellationError` if nothing is made any more.
    func made(by make: () throws -> Value) throws -> Value {
      if let value { return value }
      return try making.withLock { isEnded in
        if let value { return value }
        if isEnded { throw CancellationError() }
        let new = try make()
        state.withLock { $0 = new }
        return new
      }
    }

    /// Lets nothing be made any more, after what is being made now; on a thread that may wait.
    /// - Returns: the value, if it has been made.
    func end() -> Value? {
      making.withLock { isEnded in
        isEnded = true
        return value
      }
    }
  }
#endif
