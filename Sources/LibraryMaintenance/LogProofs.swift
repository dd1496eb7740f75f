import EventLog
import PhotoLedger

// Proofs that are checked without the library, by a holder of a checkpoint.
//
//     inclusion     this event is the s-th of the log that the checkpoint is of        its leaf, at most log₂ n hashes
//     consistency   the log of an earlier checkpoint is the beginning of a later one    at most 2 log₂ n hashes
//
// Either names the log that it is of, and shows it: the first event of a log creates the library, so its record has the
// library's identifier, and it is proved to be the first of the same tree.
//
//     origin ◀── identifier in the record of event 1 ──▶ leaf ── firstHashes ──▶ root ◀── hashes ── the event's leaf
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
  /// The event's whole record in hexadecimal digits, if it was asked for: what the leaf is the hash of.
  public let record: String?
  /// The chain up to the event before it in hexadecimal digits, zero before the first: what the chain at the end of the
  /// record continues from, which the leaf does not cover. Nil without a record.
  public let chainBefore: String?
  /// The record of the log's first event in hexadecimal digits, which names the library.
  public let firstRecord: String
  /// The hashes that prove that this is the first event of the same tree, the lowest first, in hexadecimal digits.
  public let firstHashes: [String]

  /// The keys of its JSON, in its order; another is rejected.
  enum CodingKeys: String, CodingKey, CaseIterable {
    case origin, sequence, size, leaf, hashes, root, record, chainBefore, firstRecord, firstHashes
  }

  /// Checks that leaf and hashes give the root, that the log of the root is that of the origin, that the record gives
  /// the leaf and continues the chain if there is one, and that root and chain are those of each checkpoint.
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
    try ProofText.check(origin, firstRecord, firstHashes, in: size, root)
    let chain = try chain(giving: leaf)
    for checkpoint in checkpoints {
      try ProofText.compare(checkpoint, origin, [(size, self.root)])
      guard let chain, sequence == checkpoint.size, chain.description != checkpoint.chain else { continue }
      throw ProofText.failure("the chain of its record is not that of the checkpoint of \(checkpoint.spelledTime)")
    }
  }

  /// The chain up to the event, after checks of the record that ends with it; nil without a record.
  private func chain(giving leaf: SHA256Digest) throws -> SHA256Digest? {
    guard let record else {
      guard chainBefore == nil else { throw ProofText.failure("it has a chain value before a record, but no record") }
      return nil
    }
    let evidence = try ProofText.evidence(record, "record")
    guard evidence.sequence == sequence, evidence.leaf == leaf else {
      throw ProofText.failure("its record is that of event \(evidence.sequence), and does not give the leaf")
    }
    guard evidence.isChained(after: try ProofText.digest(chainBefore ?? "", "chain before the event")) else {
      throw ProofText.failure("the chain of its record does not continue from the chain before it")
    }
    return evidence.chain
  }
}

extension InclusionProof {
  /// Reads a proof.
  /// - Throws: `DecodingError`, also for a key that no proof has.
  public init(from decoder: any Decoder) throws {
    try ProofText.checkKeys(of: decoder, CodingKeys.self)
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    origin = try fields.decode(String.self, forKey: .origin)
    sequence = try fields.decode(UInt64.self, forKey: .sequence)
    size = try fields.decode(UInt64.self, forKey: .size)
    leaf = try fields.decode(String.self, forKey: .leaf)
    hashes = try fields.decode([String].self, forKey: .hashes)
    root = try fields.decode(String.self, forKey: .root)
    record = try fields.decodeIfPresent(String.self, forKey: .record)
    chainBefore = try fields.decodeIfPresent(String.self, forKey: .chainBefore)
    firstRecord = try fields.decode(String.self, forKey: .firstRecord)
    firstHashes = try fields.decode([String].self, forKey: .firstHashes)
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
  /// The record of the log's first event in hexadecimal digits, which names the library.
  public let firstRecord: String
  /// The hashes that prove that this is the first event of the later tree, the lowest first, in hexadecimal digits.
  public let firstHashes: [String]

  /// The keys of its JSON, in its order; another is rejected.
  enum CodingKeys: String, CodingKey, CaseIterable {
    case origin, earlierSize, earlierRoot, size, root, hashes, firstRecord, firstHashes
  }

  /// Checks that the hashes join the two roots, that their log is that of the origin, and that each checkpoint has the
  /// root of its size.
  /// - Parameter checkpoints: of the same log and one of the two sizes; without both nothing is known of the roots.
  /// - Throws: ``LibraryError`` `.invalidProof`, saying what does not hold.
  /// - Complexity: O(log n) hashes, n the later size.
  public func check(against checkpoints: [Checkpoint] = []) throws {
    let (earlier, later) = (try ProofText.digest(earlierRoot, "earlier root"), try ProofText.digest(root, "root"))
    let hashes = try ProofText.digests(hashes)
    guard earlierSize > 0, MerkleTree.isConsistent(from: earlierSize, earlier, to: size, later, proof: hashes) else {
      throw ProofText.failure("its hashes do not show that \(earlierSize) events are a prefix of \(size)")
    }
    try ProofText.check(origin, firstRecord, firstHashes, in: size, later)
    for checkpoint in checkpoints {
      try ProofText.compare(checkpoint, origin, [(earlierSize, earlierRoot), (size, root)])
    }
  }
}

extension ConsistencyProof {
  /// Reads a proof.
  /// - Throws: `DecodingError`, also for a key that no proof has.
  public init(from decoder: any Decoder) throws {
    try ProofText.checkKeys(of: decoder, CodingKeys.self)
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    origin = try fields.decode(String.self, forKey: .origin)
    earlierSize = try fields.decode(UInt64.self, forKey: .earlierSize)
    earlierRoot = try fields.decode(String.self, forKey: .earlierRoot)
    size = try fields.decode(UInt64.self, forKey: .size)
    root = try fields.decode(String.self, forKey: .root)
    hashes = try fields.decode([String].self, forKey: .hashes)
    firstRecord = try fields.decode(String.self, forKey: .firstRecord)
    firstHashes = try fields.decode([String].self, forKey: .firstHashes)
  }
}

/// What both proofs read and compare.
private enum ProofText {
  static func failure(_ what: String) -> LibraryError {
    LibraryError(.invalidProof, "The proof is not valid: \(what); create it again from the library.")
  }

  static func digest(_ text: String, _ name: String) throws -> SHA256Digest {
    guard let digest = SHA256Digest(hexadecimal: text), digest.description == text else {
      throw failure("its \(name) is not 64 hexadecimal digits in lower case")
    }
    return digest
  }

  static func digests(_ texts: [String]) throws -> [SHA256Digest] { try texts.map { try digest($0, "hash") } }

  /// The record in hexadecimal digits, which holds together.
  static func evidence(_ record: String, _ name: String) throws -> RecordEvidence {
    guard let bytes = [UInt8].spelled(by: record.utf8) else { throw failure("its \(name) is not hexadecimal digits") }
    do { return try RecordEvidence(of: bytes.span.bytes) } catch {
      throw failure("its \(name) is inconsistent. \(error.description)")
    }
  }

  /// Checks that the log with a root is that of the library that an origin names.
  static func check(
    _ origin: String, _ record: String, _ hashes: [String], in size: UInt64, _ root: SHA256Digest
  ) throws {
    let first = try evidence(record, "first record")
    guard first.sequence == 1, first.isChained(after: .zero),
      MerkleTree.root(ofLeaf: first.leaf, at: 0, size: size, proof: try digests(hashes)) == root
    else { throw failure("its first record is not the first of the log of \(size) events") }
    guard let identifier = library(createdBy: first) else { throw failure("its first record creates no library") }
    guard origin == Checkpoint.originPrefix + identifier.uuidString else {
      throw failure("it claims to be of the log \(origin), but its first record creates \(identifier.uuidString)")
    }
  }

  /// The identifier of the library that a record creates; nil if it creates none.
  private static func library(createdBy record: RecordEvidence) -> LocalIdentifier? {
    guard let payload = record.payload else { return nil }
    do {
      let event = try Event(type: record.type, version: record.version, sequence: 1, payload: payload.span.bytes)
      guard case .libraryCreated(let identifier, _) = event else { return nil }
      return identifier
    } catch {
      return nil
    }
  }

  /// Refuses what no proof says: it would be taken for proved. The program writes the kind of a proof beside it.
  static func checkKeys<Keys: CodingKey & CaseIterable>(of decoder: any Decoder, _: Keys.Type) throws {
    let known = Set(Keys.allCases.map(\.stringValue) + ["proof"])
    let found = try decoder.container(keyedBy: AnyKey.self).allKeys
    guard let stranger = found.first(where: { !known.contains($0.stringValue) }) else { return }
    throw DecodingError.dataCorrupted(
      .init(codingPath: decoder.codingPath, debugDescription: "A proof has no key '\(stranger.stringValue)'."))
  }

  private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  static func compare(_ checkpoint: Checkpoint, _ origin: String, _ trees: [(size: UInt64, root: String)]) throws {
    guard checkpoint.origin == origin else {
      throw failure("it is of the log \(origin), but the checkpoint is of \(checkpoint.origin)")
    }
    guard let tree = trees.first(where: { $0.size == checkpoint.size }) else {
      let sizes = trees.map { "\($0.size)" }.joined(separator: " and ")
      throw failure("it is about \(sizes) events, but the checkpoint is about \(checkpoint.size)")
    }
    guard tree.root == checkpoint.root else {
      throw failure("its root of \(tree.size) events is not that of the checkpoint of \(checkpoint.spelledTime)")
    }
  }
}
