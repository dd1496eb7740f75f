import EventLog
import LMDB
public import PhotoLedger

extension PhotoLibrary {
  /// Recomputes the log and returns its size, Merkle root and head, to be stored elsewhere.
  ///
  /// Every record is read back in a new read transaction and all its hashes are recomputed, including those just
  /// written: otherwise a hash that was corrupted on its way to the disk would be certified, and a published checkpoint
  /// cannot be revoked.
  /// - Parameter progress: the progress handler; return `false` to cancel.
  /// - Returns: the checkpoint, unsigned.
  /// - Throws: ``LibraryError``: `.corrupted` if the log does not verify, `.userCancelled` if `progress` returns
  ///   `false`, `.storage`.
  /// - Complexity: O(n) in events, as verifying the log.
  public func checkpoint(progress: (TaskProgress) -> Bool = { _ in true }) throws -> Checkpoint {
    try checkIsOwner("make a checkpoint of the library")
    return try store.reading { t in
      let head = try store.core.log.head(t).sequence
      guard let found = try store.core.log.proved(statesAt: [head], in: t, progress) else {
        throw LibraryError(.userCancelled, "The checkpoint was cancelled; nothing was written.")
      }
      guard found.defect == nil, let state = found.states[head] else {
        let defect = found.defect?.description ?? "The log ends before its head."
        throw LibraryError(
          .corrupted, "\(defect) No checkpoint was made; run `verify`, and restore the log from a backup that verifies."
        )
      }
      return Checkpoint(origin: store.core.origin, state, time: store.core.libraryEnvironment.now())
    }
  }

  /// Proves that an event is in the log.
  /// - Parameters:
  ///   - sequence: the place of the event in the log, from 1.
  ///   - size: how many events the tree has that it is proved to be in, such as ``Checkpoint/size``; nil for all.
  ///   - includesRecord: whether the event's record goes with the proof. Who has it knows what happened, by whom, when
  ///     and why.
  /// - Returns: the proof, which holds.
  /// - Throws: ``LibraryError``: `.malformedRequest` if the log has no such event or fewer events, `.corrupted`,
  ///   `.storage`.
  /// - Complexity: O(log n) for events whose hashes this process knows, n the size; the first time O(n).
  public func inclusionProof(
    ofSequence sequence: UInt64, inFirst size: UInt64? = nil, includingRecord includesRecord: Bool = false
  ) throws -> InclusionProof {
    try checkIsOwner("create proofs")
    return try store.reading { t in
      let size = try size ?? store.core.log.head(t).sequence
      let hashes = try store.tree.inclusionProof(ofSequence: sequence, size: size, in: t)
      let root = try store.tree.root(ofSize: size, in: t)
      let record = try store.core.record(at: sequence, t)
      let before = try store.core.chain(before: sequence, t)
      let first = try store.firstProof(in: size, t)
      let proof = InclusionProof(
        origin: store.core.origin, sequence: sequence, size: size,
        leaf: try RecordEvidence(of: record.span.bytes).leaf.description, hashes: hashes.map(\.description),
        root: root.description, record: includesRecord ? record.hexadecimal : nil,
        chainBefore: includesRecord ? before.description : nil,
        firstRecord: first.record, firstHashes: first.hashes)
      try sound { try proof.check() }
      return proof
    }
  }

  /// Proves that the log that had so many events is the beginning of the log.
  /// - Parameters:
  ///   - earlier: how many events the earlier log had, such as ``Checkpoint/size``; at least 1.
  ///   - size: how many events the later one has; nil for all.
  /// - Returns: the proof, which holds.
  /// - Throws: ``LibraryError``: `.malformedRequest` if the log has fewer events, `.corrupted`, `.storage`.
  /// - Complexity: O(log n) for events whose hashes this process knows, n the later size; the first time O(n).
  public func consistencyProof(from earlier: UInt64, to size: UInt64? = nil) throws -> ConsistencyProof {
    try checkIsOwner("create proofs")
    guard earlier > 0 else {
      throw LibraryError(.malformedRequest, "The empty log is a prefix of every log; pass a size of 1 or more.")
    }
    return try store.reading { t in
      let size = try size ?? store.core.log.head(t).sequence
      let hashes = try store.tree.consistencyProof(from: earlier, to: size, in: t)
      let first = try store.firstProof(in: size, t)
      let proof = ConsistencyProof(
        origin: store.core.origin, earlierSize: earlier,
        earlierRoot: try store.tree.root(ofSize: earlier, in: t).description, size: size,
        root: try store.tree.root(ofSize: size, in: t).description, hashes: hashes.map(\.description),
        firstRecord: first.record, firstHashes: first.hashes)
      try sound { try proof.check() }
      return proof
    }
  }

  /// Nothing is handed out that does not hold.
  private func sound(_ check: () throws -> Void) throws {
    do { try check() } catch {
      throw LibraryError(.corrupted, "A proof created from the log is not valid; run `verify`. \(error)")
    }
  }
}

extension StoreCore {
  /// The name of the library's log in checkpoints and proofs.
  var origin: String { Checkpoint.originPrefix + identifier.uuidString }
}

extension StoreCore {
  fileprivate func record(at sequence: UInt64, _ t: borrowing StoreReading) throws -> [UInt8] {
    guard let record = try log.record(at: sequence, in: t) else {
      throw LibraryError.missingEvent(sequence)
    }
    return record
  }

  fileprivate func chain(before sequence: UInt64, _ t: borrowing StoreReading) throws -> SHA256Digest {
    guard sequence > 1 else { return .zero }
    let previous = try record(at: sequence - 1, t)
    return try RecordEvidence(of: previous.span.bytes).chain
  }
}

extension LibraryStore {
  /// What shows which library a log of so many events is of.
  fileprivate func firstProof(
    in size: UInt64, _ t: borrowing StoreReading
  ) throws -> (record: String, hashes: [String]) {
    let hashes = try tree.inclusionProof(ofSequence: rootFolder, size: size, in: t)
    return (try core.record(at: rootFolder, t).hexadecimal, hashes.map(\.description))
  }
}

extension LogTree: StorePart {
  package static var closing: ClosingStage { .followers }
  package func close() {}
}

extension LibraryStore {
  /// The Merkle tree over the log, for proofs.
  var tree: LogTree { part { LogTree(of: $0.core.log) } }
}
