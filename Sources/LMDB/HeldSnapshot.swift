// One snapshot, read by several threads.
//
// A transaction is used by one thread at a time, so a parallel read needs one for each thread, of the same snapshot;
// and the starting thread waits for the others. Between the two stands the gate:
//
//     holder   begins ──────── waits for the helper ───────────────── ends
//     helper                      begins … ends
//     growth                 ── no newcomers, waits for the holder ──────── the map is larger
//
// A helper that were a newcomer like any other would close the ring. So it is let in as the holder himself would be.

/// A snapshot that a transaction holds, for other threads that read it while the holder waits for them.
public struct HeldSnapshot: Sendable {
  let environment: Environment
  let slot: Int
  /// The number of the snapshot.
  public let transactionID: UInt64

  /// Runs `body` on the calling thread with a transaction of its own on the same snapshot.
  ///
  /// The holder's transaction must last until this returns.
  /// - Returns: nil if there is no such transaction to be had: a commit has come in between, no slot is free, or
  ///   another process has grown the map. The holder can go on by himself.
  /// - Throws: `panic`, `closed`, `openedInAnotherProcess`, and what `body` throws.
  /// - Complexity: as `beginRead`.
  public func read<R>(_ body: (borrowing ReadTransaction) throws -> R) throws -> R? {
    guard let transaction = try begin(), transaction.transactionID == transactionID else { return nil }
    return try body(transaction)
  }

  private func begin() throws(LMDBError) -> ReadTransaction? {
    do throws(LMDBError) {
      let (transaction, own) = try environment.gate.beginRead(beside: slot)
      return ReadTransaction(
        environment, TransactionHandle(pointer: transaction, owner: environment.serial), slot: own)
    } catch {
      // What a new reader would answer by emptying the gate, which the holder stands in.
      if error.code == .mapResized || error.code == .readersFull { return nil }
      throw error
    }
  }
}

extension ReadTransaction {
  /// What lets other threads read the same snapshot as long as this transaction lasts.
  public var held: HeldSnapshot {
    HeldSnapshot(environment: environment, slot: slot, transactionID: transactionID)
  }

  /// Runs a body for each of so many parts, on several cores, in transactions of the same snapshot.
  ///
  /// A part that could not be read aside is read here, in this transaction. So is one that failed: it fails here again,
  /// and as one walk would.
  /// - Returns: the results in the order of the parts.
  /// - Throws: what the body throws for the first part that it throws for.
  package func onSeveralCores<R: Sendable, Failure: Error>(
    _ count: Int, _ body: @Sendable (Int, borrowing ReadTransaction) throws(Failure) -> R
  ) throws(Failure) -> [R] {
    let snapshot = held
    let outcomes = SeveralCores.map(count) { part in try snapshot.read { t in try body(part, t) } }
    var results: [R] = []
    for (part, outcome) in outcomes.enumerated() {
      if case .success(let result?) = outcome {
        results.append(result)
      } else {
        results.append(try body(part, self))
      }
    }
    return results
  }
}
