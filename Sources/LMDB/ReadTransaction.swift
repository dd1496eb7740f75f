/// A snapshot of the store: everything committed before it began, nothing after.
///
/// Ended by going out of scope. As long as it lives, no page it can see is reused: keep it short, and never keep one in
/// a long-lived value. It may be used on any thread, by one at a time (MDB_NOTLS).
public struct ReadTransaction: ~Copyable, TransactionReading {
  /// The environment read from.
  public let environment: Environment
  /// The transaction inside LMDB, for the LMDB module.
  public let handle: TransactionHandle
  let slot: Int

  init(_ environment: Environment, _ handle: TransactionHandle, slot: Int) {
    self.environment = environment
    self.handle = handle
    self.slot = slot
  }

  deinit { environment.gate.endRead(handle.pointer, slot: slot) }
}
