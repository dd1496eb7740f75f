import EventLog

// Proofs that leave the library: whoever holds a checkpoint checks them without it.
//
//     inclusion     this event is the s-th of the log that the checkpoint is of        its leaf, at most log₂ n hashes
//     consistency   the log of an earlier checkpoint is the beginning of a later one    at most 2 log₂ n hashes
//
// Digests are hexadecimal digits here, so that the value, its JSON and what the program prints are the same; the checks
// read them strictly. A proof that is not compared with a checkpoint proves only that it is one.

/// A proof that an event is in the log that had so many events (RFC 9162, 2.1.3).
public struct InclusionProof: Sendable, Hashable, Codable {
  /// Which log it is of, as in ``Checkpoint/origin``.
  public let origin: String
  /// The place of the event in the log, from 1; the index of its leaf is one less.
  public let sequence: UInt64
  /// How many events the tree has.
  public let size: UInt64
  /// The leaf hash of the event: SHA-256(0x00 ‖ header ‖ commitment), in hexadecimal digits.
  public let leaf: String
  /// The hashes of the proof, the lowest first, in hexadecimal digits.
  public let hashes: [String]
  /// The root that they lead to, in hexadecimal digits.
  public let root: String
  /// The event's whole record in hexadecimal digits, if it was asked for: what the leaf is the hash of. The chain at
  /// its end is the one part that the leaf does not cover.
  public let record: String?

  /// Checks that leaf and hashes give the root, that the record gives the leaf if there is one, and that the root is
  /// that of each checkpoint.
  /// - Parameter checkpoints: of the same log and size; without one nothing is known of the root.
  /// - Throws: ``LibraryError`` `.invalidProof`, saying what does not hold.
  /// - Complexity: O(log n) hashes, n the size, beside the record.
  public func check(against checkpoints: [Checkpoint] = []) throws {
    let leaf = try ProofText.digest(leaf, "leaf")
    let hashes = try ProofText.digests(hashes)
    let root = try ProofText.digest(root, "root")
    guard sequence > 0,
      MerkleTree.root(ofLeaf: leaf, at: sequence - 1, size: size, proof: hashes) == root
    else {
      throw ProofText.failure("its hashes do not lead from event \(sequence) to the root of \(size) events")
    }
    if let record { try check(record, gives: leaf) }
    for checkpoint in checkpoints { try ProofText.compare(checkpoint, origin, [(size, self.root)]) }
  }

  private func check(_ record: String, gives leaf: SHA256Digest) throws {
    guard let bytes = ProofText.bytes(record) else { throw ProofText.failure("its record is not hexadecimal digits") }
    let evidence: RecordEvidence
    do { evidence = try RecordEvidence(of: bytes.span.bytes) } catch {
      throw ProofText.failure("its record does not hold together. \(error.description)")
    }
    guard evidence.sequence == sequence, evidence.leaf == leaf else {
      throw ProofText.failure("its record is that of event \(evidence.sequence), and does not give the leaf")
    }
  }
}

/// A proof that the log that had so many events is the beginning of the later one (RFC 9162, 2.1.4).
public struct ConsistencyProof: Sendable, Hashable, Codable {
  /// Which log it is of, as in ``Checkpoint/origin``.
  public let origin: String
  /// How many events the earlier tree has.
  public let earlierSize: UInt64
  /// The root of the earlier tree, in hexadecimal digits.
  public let earlierRoot: String
  /// How many events the later tree has.
  public let size: UInt64
  /// The root of the later tree, in hexadecimal digits.
  public let root: String
  /// The hashes of the proof, in its order, in hexadecimal digits.
  public let hashes: [String]

  /// Checks that the hashes join the two roots, and that each checkpoint has the root of its size.
  /// - Parameter checkpoints: of the same log and one of the two sizes; without both nothing is known of the roots.
  /// - Throws: ``LibraryError`` `.invalidProof`, saying what does not hold.
  /// - Complexity: O(log n) hashes, n the later size.
  public func check(against checkpoints: [Checkpoint] = []) throws {
    let (earlier, later) = (try ProofText.digest(earlierRoot, "earlier root"), try ProofText.digest(root, "root"))
    let hashes = try ProofText.digests(hashes)
    guard earlierSize > 0, MerkleTree.isConsistent(from: earlierSize, earlier, to: size, later, proof: hashes) else {
      throw ProofText.failure("its hashes do not show that \(earlierSize) events are the beginning of \(size)")
    }
    for checkpoint in checkpoints {
      try ProofText.compare(checkpoint, origin, [(earlierSize, earlierRoot), (size, root)])
    }
  }
}

/// What both proofs read and compare.
private enum ProofText {
  static func failure(_ what: String) -> LibraryError {
    LibraryError(.invalidProof, "The proof does not hold: \(what); ask the library for it anew.")
  }

  static func digest(_ text: String, _ name: String) throws -> SHA256Digest {
    guard let digest = SHA256Digest(hexadecimal: text), digest.description == text else {
      throw failure("its \(name) is not 64 hexadecimal digits in lower case")
    }
    return digest
  }

  static func digests(_ texts: [String]) throws -> [SHA256Digest] { try texts.map { try digest($0, "hash") } }

  static func bytes(_ text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      let pair = digits[index...index + 1].map { Character(Unicode.Scalar($0)).hexDigitValue }
      guard let high = pair[0], let low = pair[1] else { return nil }
      bytes.append(UInt8(high << 4 | low))
    }
    return bytes
  }

  static func compare(_ checkpoint: Checkpoint, _ origin: String, _ trees: [(size: UInt64, root: String)]) throws {
    guard checkpoint.origin == origin else {
      throw failure("it is of the log \(origin), and the checkpoint of \(checkpoint.origin)")
    }
    guard let tree = trees.first(where: { $0.size == checkpoint.size }) else {
      let sizes = trees.map { "\($0.size)" }.joined(separator: " and ")
      throw failure("it is about \(sizes) events, and the checkpoint about \(checkpoint.size)")
    }
    guard tree.root == checkpoint.root else {
      throw failure("its root of \(tree.size) events is not that of the checkpoint of \(checkpoint.spelledTime)")
    }
  }
}
