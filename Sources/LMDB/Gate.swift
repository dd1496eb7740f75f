// The gate: who may be inside an environment, and how it is emptied.
//
// Growing the map (mdb_env_set_mapsize) and closing unmap the file. LMDB checks its write transaction but not its
// readers: a live one would read unmapped memory. So every use of the environment passes here, in and out:
//
//     open ── drain asked ──▶ draining ── all out ──▶ the caller works, alone, under the lock ──▶ open | closed
//               │                │
//               │                └── time is up: `busy`, open again
//               └── newcomers wait, except on a thread that is inside already: it would wait for itself; and except
//                   those for whom a reader waits that is inside (HeldSnapshot)
//
// Invariant: the pointer to the MDB_env is used only by threads counted in `readers`, `writers` or `visitors`, or under
// the lock. A thread that waits for LMDB's writer lock is counted as a writer: otherwise it could begin in the middle
// of a resize.
//
// Reader slots: beginning a read transaction takes a slot of the shared table under a lock of all processes; renewing a
// reset one does not. Ended transactions are therefore kept, reset (which pins nothing), and renewed: each has an index
// here. Rejected: an atomic counter instead of the lock; the lock costs about 15 ns and provides the age and thread of
// each reader.

import CLMDB
import CSystem

/// The state of one environment in this process. Guarded by the lock of `Gate.monitor`.
struct GateState {
  /// One reader slot: an ended transaction kept for the next reader, or a running one.
  struct Slot {
    var transaction: OpaquePointer?
    var thread: UInt64 = 0
    var since: Double = 0
    var isRunning = false
  }

  var handle: OpaquePointer?
  /// Marks the file as in use, against replacing it; nil while the files are closed.
  var usage: StoreUsage?
  var slots: [Slot] = []
  /// Indexes of the slots that are not running; the one used last is at the end.
  var idle: [Int] = []
  var readers = 0
  var writers = 0
  var visitors = 0
  /// The thread that is inside `write`, 0 for none.
  var writerThread: UInt64 = 0
  var isDraining = false
  /// In the order they were opened, which is the order of their indexes.
  var databases: [Database] = []
  var lastReaderCheck = 0.0

  var isEmpty: Bool { readers == 0 && writers == 0 && visitors == 0 }

  func isInside(_ thread: UInt64) -> Bool {
    writerThread == thread || (readers > 0 && slots.contains { $0.isRunning && $0.thread == thread })
  }

  /// Gives the kept read transactions back to LMDB, with their slots in the reader table.
  mutating func forgetIdleTransactions() {
    for index in idle {
      if let transaction = slots[index].transaction { mdb_txn_abort(transaction) }
      slots[index].transaction = nil
    }
  }
}

/// Admits transactions to one environment, and counts them.
final class Gate: Sendable {
  enum Role { case reader, writer, visitor }

  let monitor: Monitor<GateState>
  let path: String
  let generation: UInt32
  private let keptTransactionsMax = 64

  init(_ handle: OpaquePointer, _ usage: StoreUsage, path: String) {
    self.path = path
    generation = psys_fork_generation()
    var state = GateState()
    state.handle = handle
    state.usage = usage
    monitor = Monitor(state)
  }

  /// Whether no fork lies between the opening and the caller.
  var isInOwnProcess: Bool { generation == psys_fork_generation() }

  /// Refuses the child of a fork: LMDB's locks and its reader table belong to the parent.
  func checkProcess(_ operation: String) throws(LMDBError) {
    if !isInOwnProcess { throw LMDBError(.openedInAnotherProcess, operation, path: path) }
  }

  /// Counts the caller in, when the gate is open.
  ///
  /// - Parameter holder: the slot of a reader that is inside and waits for the caller; the gate must admit the caller.
  func enter<R>(
    _ role: Role, _ operation: String, beside holder: Int? = nil, _ body: (inout GateState, OpaquePointer) -> R
  ) throws(LMDBError) -> R {
    try checkProcess(operation)
    let thread = psys_thread_id()
    let result = try monitor.wait { (state) throws(LMDBError) -> R? in
      guard let handle = state.handle else { throw LMDBError(.closed, operation, path: path) }
      let isWaitedFor = state.isInside(thread) || holder.map { state.slots[$0].isRunning } ?? false
      if state.isDraining && !isWaitedFor { return nil }
      switch role {
      case .reader: state.readers += 1
      case .writer:
        precondition(state.writerThread != thread, "A write does not begin inside a write of the same thread.")
        state.writers += 1
      case .visitor: state.visitors += 1
      }
      return body(&state, handle)
    }
    guard let result else { preconditionFailure("Waiting without a limit must return a result.") }
    return result
  }

  /// Waits while the gate is drained, unless the calling thread is inside and would wait for itself.
  /// - Returns: whether the environment is open then.
  func isOpenAfterDraining() -> Bool {
    let thread = psys_thread_id()
    return monitor.wait { state in
      if state.handle == nil { return false }
      return state.isDraining && !state.isInside(thread) ? nil : true
    } ?? false
  }

  /// Counts the caller out.
  func leave(_ role: Role) {
    let mustWake = monitor.withLock { state in
      switch role {
      case .reader: state.readers -= 1
      case .writer: state.writers -= 1
      case .visitor: state.visitors -= 1
      }
      return state.isDraining && state.isEmpty
    }
    if mustWake { monitor.broadcast() }
  }

  /// Waits until no transaction is open, at most `seconds`, and runs `body` exclusively.
  ///
  /// A thread that holds a read transaction itself waits in vain; but a reader may have been begun here by a task that
  /// is suspended now and will go on elsewhere, so only a wait without limit rejects at once.
  func drain<R>(
    seconds: Double, _ operation: String, _ body: (inout GateState) throws(LMDBError) -> R
  ) throws(LMDBError) -> R {
    try checkProcess(operation)
    let thread = psys_thread_id()
    let deadline = monotonicSeconds() + seconds
    let isMine = try monitor.wait(untilSeconds: deadline) { (state) throws(LMDBError) -> Bool? in
      if state.handle == nil { throw LMDBError(.closed, operation, path: path) }
      if state.writerThread == thread || (seconds == .infinity && state.isInside(thread)) {
        throw LMDBError(.busy, operation, path: path, detail: "the calling thread has a transaction of its own")
      }
      if state.isDraining { return nil }
      state.isDraining = true
      return true
    }
    guard isMine != nil else { throw LMDBError(.busy, operation, path: path) }
    defer { monitor.broadcast() }
    let result: R? = try monitor.wait(untilSeconds: deadline) { (state) throws(LMDBError) -> R? in
      if state.isEmpty {
        defer { state.isDraining = false }
        state.forgetIdleTransactions()
        return try body(&state)
      }
      return nil
    }
    if let result { return result }
    let readers = monitor.withLock { state in
      state.isDraining = false
      return (all: state.readers, own: state.slots.count { $0.isRunning && $0.thread == thread })
    }
    throw LMDBError(
      .busy, operation, path: path,
      detail: "\(readers.all) read transactions of this process did not end in time"
        + (readers.own > 0 ? ", \(readers.own) of them started by the waiting thread" : ""))
  }
}

// MARK: - Read and write transactions

extension Gate {
  /// Begins a read transaction, renewing a kept one when there is one (mdb_txn_begin, mdb_txn_renew).
  ///
  /// Throws `mapResized` or `readersFull` for the environment to answer.
  func beginRead(beside holder: Int? = nil) throws(LMDBError) -> (transaction: OpaquePointer, slot: Int) {
    let (slot, kept, handle) = try enter(.reader, "mdb_txn_begin", beside: holder) { state, handle in
      let slot: Int
      if let index = state.idle.popLast() {
        slot = index
      } else {
        slot = state.slots.count
        state.slots.append(GateState.Slot())
      }
      state.slots[slot].isRunning = true
      state.slots[slot].thread = psys_thread_id()
      state.slots[slot].since = monotonicSeconds(coarse: true)
      return (slot, state.slots[slot].transaction, handle)
    }
    var transaction = kept
    let code = kept.map(mdb_txn_renew) ?? mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
    if code == 0, let transaction { return (transaction, slot) }
    if let kept { mdb_txn_abort(kept) }
    endRead(nil, slot: slot)
    throw LMDBError(code: code, kept == nil ? "mdb_txn_begin" : "mdb_txn_renew", path: path)
  }

  /// Ends a read transaction and keeps it for the next reader.
  func endRead(_ transaction: OpaquePointer?, slot: Int) {
    guard isInOwnProcess else { return }
    if slot < keptTransactionsMax {
      if let transaction { mdb_txn_reset(transaction) }
    } else if let transaction {
      mdb_txn_abort(transaction)
    }
    let mustWake = monitor.withLock { state in
      state.slots[slot].isRunning = false
      state.slots[slot].transaction = slot < keptTransactionsMax ? transaction : nil
      state.idle.append(slot)
      state.readers -= 1
      return state.isDraining && state.isEmpty
    }
    if mustWake { monitor.broadcast() }
  }

  /// Begins the write transaction; waits for the writer of this or another process.
  func beginWrite() throws(LMDBError) -> OpaquePointer {
    let handle = try enter(.writer, "mdb_txn_begin") { _, handle in handle }
    var transaction: OpaquePointer?
    let code = mdb_txn_begin(handle, nil, 0, &transaction)
    guard code == 0, let transaction else {
      leave(.writer)
      throw LMDBError(code: code, "mdb_txn_begin", path: path)
    }
    monitor.withLock { $0.writerThread = psys_thread_id() }
    return transaction
  }

  /// Counts the writer out, after its transaction was committed or aborted.
  func endWrite() {
    monitor.withLock { state in
      // The next writer may have begun already: LMDB's lock was free since the commit.
      if state.writerThread == psys_thread_id() { state.writerThread = 0 }
    }
    leave(.writer)
  }
}
