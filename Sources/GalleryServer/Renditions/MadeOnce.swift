#if Gallery
  import Synchronization

  /// What takes long to make and is made when it is first needed. Until then, and meanwhile, it is not there.
  ///
  /// Two locks, so that threads of connections never wait: one is held for a look, the other while it is made.
  final class MadeOnce<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)
    /// Held while it is made; only threads that may wait take it.
    private let making = Mutex(())

    /// The value, if it has been made.
    var value: Value? { state.withLock { $0 } }

    /// The value, made now if it has not been.
    /// - Parameter make: makes it; after a failure the next call tries again.
    func made(by make: () throws -> Value) throws -> Value {
      if let value { return value }
      return try making.withLock { _ in
        if let value { return value }
        let new = try make()
        state.withLock { $0 = new }
        return new
      }
    }
  }
#endif
