import LMDB
import Testing

@testable import EventLog

/// RFC 9162, section 2.1, word for word and without a thought for speed: what the proofs are compared with.
enum NaiveTree {
  static func root(_ leaves: ArraySlice<SHA256Digest>) -> SHA256Digest {
    guard let first = leaves.first else { return SHA256.digest(of: []) }
    guard leaves.count > 1 else { return first }
    let middle = leaves.startIndex + split(leaves.count)
    return node(root(leaves[..<middle]), root(leaves[middle...]))
  }

  static func node(_ left: SHA256Digest, _ right: SHA256Digest) -> SHA256Digest {
    SHA256.digest(of: [1] + left.bytes + right.bytes)
  }

  /// PATH(m, D[n]), 2.1.3.1.
  static func path(_ m: Int, _ leaves: ArraySlice<SHA256Digest>) -> [SHA256Digest] {
    guard leaves.count > 1 else { return [] }
    let k = split(leaves.count)
    let middle = leaves.startIndex + k
    return m < k
      ? path(m, leaves[..<middle]) + [root(leaves[middle...])]
      : path(m - k, leaves[middle...]) + [root(leaves[..<middle])]
  }

  /// SUBPROOF(m, D[n], b), 2.1.4.1.
  static func subproof(_ m: Int, _ leaves: ArraySlice<SHA256Digest>, isKnown: Bool = true) -> [SHA256Digest] {
    if m == leaves.count { return isKnown ? [] : [root(leaves)] }
    let k = split(leaves.count)
    let middle = leaves.startIndex + k
    return m <= k
      ? subproof(m, leaves[..<middle], isKnown: isKnown) + [root(leaves[middle...])]
      : subproof(m - k, leaves[middle...], isKnown: false) + [root(leaves[..<middle])]
  }

  private static func split(_ count: Int) -> Int {
    var k = 1
    while 2 * k < count { k *= 2 }
    return k
  }

  /// The hashes of ranges that a proof names, over leaves that are at hand.
  static func hashes(_ ranges: [Range<UInt64>], _ leaves: [SHA256Digest]) -> [SHA256Digest] {
    ranges.map { range in
      let parts = MerkleTree.subtrees(of: range).map {
        root(leaves[Int($0.leaves.lowerBound)..<Int($0.leaves.upperBound)])
      }
      return parts.dropLast().reversed().reduce(parts[parts.count - 1]) { MerkleTree.node($1, $0) }
    }
  }
}

@Suite("The Merkle tree of RFC 9162")
struct MerkleTreeTests {
  // The vectors of the certificate-transparency project, for eight entries.
  static let entries = [
    "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
  ]
  static let leaves = entries.map { MerkleTree.leaf(of: bytes(hexadecimal: $0)) }
  static let roots = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
  ]
  static let inclusions: [(leaf: UInt64, size: UInt64, hashes: [String])] = [
    (1, 1, []),
    (
      1, 8,
      [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
      ]
    ),
    (
      6, 8,
      [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
      ]
    ),
    (3, 3, ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"]),
    (
      2, 5,
      [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
      ]
    ),
  ]
  static let consistencies: [(first: UInt64, second: UInt64, hashes: [String])] = [
    (1, 1, []),
    (
      1, 8,
      [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
      ]
    ),
    (
      6, 8,
      [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
      ]
    ),
    (
      2, 5,
      [
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
      ]
    ),
  ]

  static func digests(_ texts: [String]) throws -> [SHA256Digest] {
    try texts.map { try #require(SHA256Digest(hexadecimal: $0)) }
  }

  @Test("the roots of none to eight entries are the known ones")
  func knownRoots() throws {
    var frontier = MerkleFrontier()
    #expect(frontier.root.description == Self.roots[0] && MerkleTree.emptyRoot == frontier.root)
    for (count, leaf) in Self.leaves.enumerated() {
      frontier.append(leaf)
      #expect(frontier.root.description == Self.roots[count + 1])
      #expect(NaiveTree.root(Self.leaves[...count]) == frontier.root)
    }
  }

  @Test("the known inclusion proofs are computed, and verify", arguments: inclusions)
  func knownInclusion(leaf: UInt64, size: UInt64, texts: [String]) throws {
    let hashes = try Self.digests(texts)
    #expect(NaiveTree.hashes(MerkleTree.inclusionRanges(of: leaf - 1, size: size), Self.leaves) == hashes)
    let root = MerkleTree.root(ofLeaf: Self.leaves[Int(leaf) - 1], at: leaf - 1, size: size, proof: hashes)
    #expect(root?.description == Self.roots[Int(size)])
  }

  @Test("the known consistency proofs are computed, and verify", arguments: consistencies)
  func knownConsistency(first: UInt64, second: UInt64, texts: [String]) throws {
    let hashes = try Self.digests(texts)
    #expect(NaiveTree.hashes(MerkleTree.consistencyRanges(from: first, to: second), Self.leaves) == hashes)
    let roots = try Self.digests([Self.roots[Int(first)], Self.roots[Int(second)]])
    #expect(MerkleTree.isConsistent(from: first, roots[0], to: second, roots[1], proof: hashes))
  }

  /// Leaves that differ from each other.
  static let many = (0..<70).map { MerkleTree.leaf(of: [UInt8($0)]) }

  @Test("for every leaf of trees of up to 70, the proof matches the definition, verifies, and verifies nothing else")
  func everyInclusion() {
    // At the usual dose the small trees, and those around a power of two.
    for size in 1...Self.many.count where isFullDose || size <= 33 || size > 62 {
      let leaves = Array(Self.many[..<size])
      let root = NaiveTree.root(leaves[...])
      for index in 0..<size {
        let hashes = NaiveTree.hashes(MerkleTree.inclusionRanges(of: UInt64(index), size: UInt64(size)), leaves)
        #expect(hashes == NaiveTree.path(index, leaves[...]))
        #expect(hashes.count <= Int.bitWidth - (size - 1).leadingZeroBitCount)
        func leads(_ leaf: SHA256Digest, _ index: Int, _ size: Int, _ hashes: [SHA256Digest]) -> Bool {
          MerkleTree.root(ofLeaf: leaf, at: UInt64(index), size: UInt64(size), proof: hashes) == root
        }
        #expect(leads(leaves[index], index, size, hashes))
        #expect(!leads(root, index, size, hashes) || size == 1)
        #expect(!leads(leaves[index], index, size, hashes + [root]))
        #expect(!leads(leaves[index], size, size, hashes))
        if size > 1 {
          #expect(!leads(leaves[index], (index + 1) % size, size, hashes))
          #expect(!leads(leaves[index], index, size, Array(hashes.dropLast())))
          for place in hashes.indices {
            var altered = hashes
            altered[place] = root
            #expect(!leads(leaves[index], index, size, altered))
          }
        }
      }
    }
  }

  @Test("for every two sizes up to 40, the proof matches the definition, verifies, and verifies nothing else")
  func everyConsistency() {
    let roots = (0...40).map { NaiveTree.root(Self.many[..<$0]) }
    for second in 1...40 {
      for first in 1...second {
        let ranges = MerkleTree.consistencyRanges(from: UInt64(first), to: UInt64(second))
        let hashes = NaiveTree.hashes(ranges, Self.many)
        #expect(hashes == NaiveTree.subproof(first, Self.many[..<second]))
        func holds(_ one: SHA256Digest, _ other: SHA256Digest, _ hashes: [SHA256Digest]) -> Bool {
          MerkleTree.isConsistent(from: UInt64(first), one, to: UInt64(second), other, proof: hashes)
        }
        #expect(holds(roots[first], roots[second], hashes))
        #expect(!holds(roots[first - 1], roots[second], hashes))
        #expect(!holds(roots[first], roots[first - 1], hashes))
        #expect(!holds(roots[first], roots[second], hashes + [roots[0]]))
        for place in hashes.indices {
          var altered = hashes
          altered[place] = roots[0]
          #expect(!holds(roots[first], roots[second], altered))
        }
        if first < second {
          #expect(
            !MerkleTree.isConsistent(from: UInt64(second), roots[second], to: UInt64(first), roots[first], proof: []))
        }
      }
      #expect(MerkleTree.isConsistent(from: 0, roots[0], to: UInt64(second), roots[second], proof: []))
      #expect(!MerkleTree.isConsistent(from: 0, roots[1], to: UInt64(second), roots[second], proof: []))
    }
  }
}

@Suite("The Merkle tree of a log")
struct LogTreeTests {
  private func leaves(of log: EventLog) throws -> [SHA256Digest] {
    try log.environment.read { t in
      var leaves: [SHA256Digest] = []
      try log.read(after: 0, in: t) { event in
        leaves.append(event.leaf)
        return .proceed
      }
      return leaves
    }
  }

  private func append(_ count: Int, to log: EventLog) throws {
    try log.append(EventLogTests.information, [EventDraft](repeating: EventLogTests.event(), count: count))
  }

  @Test("roots and proofs of a growing log match the definition, from a tree that grew with it and from a new one")
  func growing() throws {
    try withLog { log in
      let tree = LogTree(of: log)
      var random = SeededGenerator(seed: 5)
      for count in [1, 254, 1, 1, 255, 512, 77] {
        try append(count, to: log)
        let leaves = try leaves(of: log)
        let sizes =
          [1, leaves.count, leaves.count - 1, leaves.count / 2].filter { $0 > 0 }
          + (0..<4).map { _ in Int.random(in: 1...leaves.count, using: &random) }
        try log.environment.read { t in
          for (size, some) in sizes.flatMap({ size in [tree, LogTree(of: log)].map { (size, $0) } }) {
            #expect(try some.root(ofSize: UInt64(size), in: t) == NaiveTree.root(leaves[..<size]))
            let index = Int.random(in: 0..<size, using: &random)
            let path = try some.inclusionProof(ofSequence: UInt64(index) + 1, size: UInt64(size), in: t)
            #expect(path == NaiveTree.path(index, leaves[..<size]))
            let first = Int.random(in: 1...size, using: &random)
            let proof = try some.consistencyProof(from: UInt64(first), to: UInt64(size), in: t)
            #expect(proof == NaiveTree.subproof(first, leaves[..<size]))
          }
        }
      }
    }
  }

  @Test("a log of more than 65,536 events is proved with at most 17 hashes for each event")
  func twoLevels() throws {
    try withLog { log in
      for _ in 0..<11 { try append(6000, to: log) }
      let leaves = try leaves(of: log)
      // Both trees split there, so the half is computed once.
      let half = NaiveTree.root(leaves[..<65_536])
      let root = NaiveTree.node(half, NaiveTree.root(leaves[65_536...]))
      let tree = LogTree(of: log)
      var random = SeededGenerator(seed: 6)
      try log.environment.read { t in
        #expect(try tree.root(ofSize: 66_000, in: t) == root)
        let first = NaiveTree.node(half, leaves[65_536])
        let proof = try tree.consistencyProof(from: 65_537, to: 66_000, in: t)
        #expect(MerkleTree.isConsistent(from: 65_537, first, to: 66_000, root, proof: proof))
        let chosen: [UInt64] = [1, 64, 65, 4_096, 4_097, 65_535, 65_536, 65_537, 66_000]
        for sequence in chosen + (0..<40).map({ _ in UInt64.random(in: 1...66_000, using: &random) }) {
          let hashes = try tree.inclusionProof(ofSequence: sequence, size: 66_000, in: t)
          #expect(hashes.count <= 17)
          let leaf = leaves[Int(sequence) - 1]
          #expect(MerkleTree.root(ofLeaf: leaf, at: sequence - 1, size: 66_000, proof: hashes) == root)
        }
      }
    }
  }

  @Test("a proof of something outside the log is rejected, and a record without its leaf is named")
  func refused() throws {
    try withLog { log in
      try append(5, to: log)
      let tree = LogTree(of: log)
      try log.environment.read { t throws in
        #expect(try tree.root(ofSize: 0, in: t) == MerkleTree.emptyRoot)
        #expect(try failure { _ = try tree.root(ofSize: 6, in: t) }?.code == .invalidField)
        #expect(try failure { _ = try tree.inclusionProof(ofSequence: 6, size: 5, in: t) }?.code == .invalidField)
        #expect(try failure { _ = try tree.inclusionProof(ofSequence: 0, size: 5, in: t) }?.code == .invalidField)
        #expect(try failure { _ = try tree.inclusionProof(ofSequence: 1, size: 0, in: t) }?.code == .invalidField)
        #expect(try failure { _ = try tree.inclusionProof(ofSequence: 1, size: 6, in: t) }?.code == .invalidField)
        #expect(try failure { _ = try tree.consistencyProof(from: 4, to: 3, in: t) }?.code == .invalidField)
        #expect(try failure { _ = try tree.consistencyProof(from: 4, to: 6, in: t) }?.code == .invalidField)
      }
      try log.environment.write { t in try t.put(3, [1, 2, 3], in: log.events) }
      let error = try log.environment.read { t in try failure { _ = try tree.root(ofSize: 5, in: t) } }
      #expect(error?.code == .corrupted && error?.sequence == 3)
    }
  }

  @Test("a verification returns the recomputed state at each requested size, with and without erased payloads")
  func states() throws {
    try withLog { log in
      try fill(log, commits: 12, seed: 21)
      let leaves = try leaves(of: log)
      let count = UInt64(leaves.count)
      func states() throws -> [UInt64: LogVerification.State] {
        try log.verification(statesAt: Set(0...count + 3)).states
      }
      let before = try states()
      #expect(Set(before.keys) == Set(0...count))
      for (size, state) in before {
        #expect(state.root == NaiveTree.root(leaves[..<Int(size)]) && state.head.sequence == size)
      }
      #expect(try before[count]?.head == log.currentHead())
      try log.environment.write { t in
        let record = try #require(try log.record(at: 4, in: t))
        guard case .array(var items) = try CBOR(decoding: record.span.bytes) else {
          throw CBORError(.unexpected, at: 0)
        }
        (items[2], items[3]) = (.null, .null)
        let erased = CBOR.array(items).encoded
        try t.put(4, erased, in: log.events)
        let evidence = try RecordEvidence(of: erased.span.bytes)
        #expect(evidence.isErased && evidence.leaf == leaves[3] && evidence.sequence == 4)
      }
      #expect(try states() == before)
    }
  }
}
