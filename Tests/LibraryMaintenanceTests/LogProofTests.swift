import EventLog
import Foundation
import LMDB
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

@Suite("Proofs from the log")
struct LogProofTests {
  private static func library() throws -> TemporaryLibrary {
    let made = try TemporaryLibrary(.seeded(9))
    for index in 0..<6 {
      try made.library.performChangesAndWait(cause: "proof") { change in
        for each in 0...index { change.createAlbum(title: "\(index).\(each)") }
      }
    }
    return made
  }

  private static func fails(_ body: () throws -> Void) throws -> Bool {
    do {
      try body()
      return false
    } catch let error as LibraryError where error.code == .invalidProof {
      return true
    }
  }

  @Test("every event is proved to be in the log of every size, against the checkpoint of that size and no other")
  func inclusion() throws {
    let made = try Self.library()
    let checkpoint = try made.library.checkpoint()
    let size = checkpoint.size
    #expect(size == 22)
    for sequence in 1...size {
      let proof = try made.library.inclusionProof(ofSequence: sequence)
      try proof.check(against: [checkpoint])
      #expect(proof.origin == checkpoint.origin && proof.record == nil && proof.hashes.count <= 5)
      for smaller in sequence...size {
        let early = try made.library.inclusionProof(ofSequence: sequence, inFirst: smaller)
        try early.check()
        #expect(try Self.fails { try early.check(against: [checkpoint]) } == (smaller != size))
        #expect(early.leaf == proof.leaf)
      }
    }
    try made.library.performChangesAndWait { $0.createAlbum(title: "later") }
    let later = try made.library.checkpoint()
    try made.library.inclusionProof(ofSequence: 3, inFirst: size).check(against: [checkpoint])
    #expect(try Self.fails { try made.library.inclusionProof(ofSequence: 3).check(against: [later, checkpoint]) })
  }

  @Test("a proof with anything altered does not hold, and says what")
  func alteredInclusion() throws {
    let made = try Self.library()
    let proof = try made.library.inclusionProof(ofSequence: 8, includingRecord: true)
    let text = try #require(String(data: try JSONEncoder().encode(proof), encoding: .utf8))
    let record = try #require(proof.record)
    func altered(_ from: String, _ to: String) throws -> InclusionProof {
      let changed = text.replacing(from, with: to)
      try #require(changed != text)
      return try JSONDecoder().decode(InclusionProof.self, from: Data(changed.utf8))
    }
    let other = try made.library.inclusionProof(ofSequence: 9, includingRecord: true)
    let pairs: [(String, String)] = [
      (proof.leaf, other.leaf), (proof.root, proof.leaf), (proof.hashes[0], proof.leaf),
      (proof.hashes[2], proof.hashes[2].uppercased()), (proof.hashes[1], "zz"), ("\"sequence\":8", "\"sequence\":9"),
      ("\"size\":22", "\"size\":7"), ("\"sequence\":8", "\"sequence\":0"), (record, try #require(other.record)),
      (record, "00" + record.dropFirst(2)), (record, "0"), (record, "zz"), (record, String(record.dropLast(2))),
    ]
    for (from, to) in pairs { #expect(try Self.fails { try altered(from, to).check() }, "\(from) → \(to)") }
    try proof.check()
  }

  @Test("an earlier log of every size is proved to be the beginning of every later one")
  func consistency() throws {
    let made = try Self.library()
    let first = try made.library.checkpoint()
    for earlier in 1...first.size {
      for size in earlier...first.size {
        let proof = try made.library.consistencyProof(from: earlier, to: size)
        try proof.check()
        #expect(proof.hashes.count <= 10)
      }
    }
    try made.library.performChangesAndWait { $0.createAlbum(title: "later") }
    let second = try made.library.checkpoint()
    let proof = try made.library.consistencyProof(from: first.size)
    try proof.check(against: [first, second])
    #expect(proof.earlierRoot == first.root && proof.root == second.root)
    let other = try TemporaryLibrary(.seeded(9)).library.checkpoint()
    #expect(try Self.fails { try proof.check(against: [other]) })
    let text = try #require(String(data: try JSONEncoder().encode(proof), encoding: .utf8))
    for (from, to) in [(proof.root, proof.earlierRoot), (proof.hashes[0], proof.root), ("\"size\":23", "\"size\":24")] {
      let changed = text.replacing(from, with: to)
      let altered = try JSONDecoder().decode(ConsistencyProof.self, from: Data(changed.utf8))
      #expect(try changed != text && Self.fails { try altered.check(against: [first, second]) }, "\(from) → \(to)")
    }
  }

  @Test("what the log does not contain cannot be proved")
  func refused() throws {
    let library = try Self.library()
    func code(_ body: (PhotoLibrary) throws -> Void) throws -> LibraryError.Code? {
      do {
        try body(library.library)
        return nil
      } catch let error as LibraryError {
        return error.code
      }
    }
    #expect(try code { _ = try $0.inclusionProof(ofSequence: 0) } == .malformedRequest)
    #expect(try code { _ = try $0.inclusionProof(ofSequence: 23) } == .malformedRequest)
    #expect(try code { _ = try $0.inclusionProof(ofSequence: 9, inFirst: 8) } == .malformedRequest)
    #expect(try code { _ = try $0.inclusionProof(ofSequence: 9, inFirst: 23) } == .malformedRequest)
    #expect(try code { _ = try $0.consistencyProof(from: 0) } == .malformedRequest)
    #expect(try code { _ = try $0.consistencyProof(from: 23) } == .malformedRequest)
    #expect(try code { _ = try $0.consistencyProof(from: 9, to: 8) } == .malformedRequest)
  }

  @Test("an event whose payload was erased keeps its proofs, and its checkpoint")
  func erased() throws {
    let made = try Self.library()
    let checkpoint = try made.library.checkpoint()
    let before = try made.library.inclusionProof(ofSequence: 8, includingRecord: true)
    let environment = try LMDB.Environment.store(ofLibrary: made.url.path)
    let events = try environment.database("events", integerKeys: true)
    try environment.write { t in
      let record = try #require(try t.bytes(for: 8, in: events))
      guard case .array(var items) = try CBOR(decoding: record.span.bytes) else {
        throw Divergence("The record is no array.")
      }
      (items[2], items[3]) = (.null, .null)
      try t.put(8, CBOR.array(items).encoded.span.bytes, in: events)
    }
    let proof = try made.library.inclusionProof(ofSequence: 8, includingRecord: true)
    try proof.check(against: [checkpoint])
    #expect(proof.hashes == before.hashes && proof.leaf == before.leaf && proof.record != before.record)
    let again = try made.library.checkpoint()
    #expect(again.root == checkpoint.root && again.chain == checkpoint.chain)
  }
}
