#if Gallery
  import Synchronization

  // What memory and a file hold both.
  //
  //   change ─▶ one after the other: the next value ─▶ file, synced ─▶ takes the place of the value
  //   read ───▶ the value, locked for one look into it
  //
  // The threads of connections read for each request, so they never wait for a file: writing one takes milliseconds,
  // and on a busy disk seconds. A value that is replaced is released by the thread that replaced it.
  //
  // Invariant: when a change returns, the file has it, and every reading that begins then sees it. A change that throws
  // leaves the value as it was.

  /// A value that a file holds, too.
  final class Kept<Value: Equatable & Sendable>: Sendable {
    private let value: Mutex<Value>
    /// Held while a change is made and written; only threads that may wait take it.
    private let changing = Mutex(())
    private let write: @Sendable (Value) throws -> Void
    private let changes = Atomic<UInt64>(0)
    /// How many changes there have been: what is read after this was asked is still so while this is the same.
    var changeCount: UInt64 { changes.load(ordering: .acquiring) }

    /// - Parameters:
    ///   - value: what the file holds, but for what ended with its reading and could not be taken out.
    ///   - write: replaces what the file holds, durably.
    init(_ value: Value, write: @escaping @Sendable (Value) throws -> Void) {
      self.value = Mutex(value)
      self.write = write
    }

    /// The value, for what takes more than a look.
    var current: Value { value.withLock { $0 } }

    /// Takes a look into the value.
    func read<Found: Sendable>(_ look: (Value) -> Found) -> Found { value.withLock { look($0) } }

    /// Changes the value, and writes it if it differs.
    /// - Returns: what the closure returns.
    /// - Throws: what the closure and the writing throw.
    func change<Outcome: Sendable>(_ body: (inout Value) throws -> Outcome) throws -> Outcome {
      try changing.withLock { _ in
        let before = current
        var next = before
        let outcome = try body(&next)
        guard next != before else { return outcome }
        do { try write(next) } catch {
          // The file may be the next one already, and only its folder not synced. Where this fails as well, the file
          // is the old one, or the disk is past help; the first error says why.
          try? write(before)
          throw error
        }
        value.withLock { $0 = next }
        changes.add(1, ordering: .releasing)
        return outcome
      }
    }
  }
#endif
