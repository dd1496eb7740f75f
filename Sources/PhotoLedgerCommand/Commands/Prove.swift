import Foundation
import JSONReading
import LibraryJSON
import LibraryMaintenance
import PhotoLedger

// Evidence outside the library: checkpoints to be stored elsewhere, and proofs against them. `prove check` needs no
// library: a checkpoint and a proof can be checked on another machine.

extension Command {
  static let proveInclusion = Command(
    words: ["prove", "inclusion"], summary: "prove that an event is in the log",
    operands: [Operand("SEQUENCE", "the sequence of the event in the log, from 1, as printed by `log --json`")],
    options: .opening + [
      Option("size", "N", "in the log of the first N events, such as a checkpoint's size; default all"),
      Option("record", "include the event's record: change, client, date and cause"), .json,
    ],
    notes: "`prove check` reads the JSON line.", example: "prove inclusion 7 --json > event-7.json"
  ) { invocation in
    let sequence = try invocation.eventCount(invocation.operands[0], "SEQUENCE")
    let size = try invocation.text("size").map { try invocation.eventCount($0, "--size") }
    return try invocation.withLibrary { library in
      let proof = try library.inclusionProof(
        ofSequence: sequence, inFirst: size, includingRecord: invocation.has(Option("record", "")))
      try invocation.output.write(invocation.printsJSON ? "\(JSON(proof))\n" : text(proof))
      return .done
    }
  }

  static let proveConsistency = Command(
    words: ["prove", "consistency"], summary: "prove that an earlier log is a prefix of the log",
    operands: [Operand("SIZE", "the number of events of the earlier log, such as a checkpoint's size")],
    options: .opening + [Option("size", "N", "of the log of the first N events; default all"), .json],
    notes: "`prove check` reads the JSON line.", example: "prove consistency 77 --json > since-june.json"
  ) { invocation in
    let earlier = try invocation.eventCount(invocation.operands[0], "SIZE")
    let size = try invocation.text("size").map { try invocation.eventCount($0, "--size") }
    return try invocation.withLibrary { library in
      let proof = try library.consistencyProof(from: earlier, to: size)
      try invocation.output.write(invocation.printsJSON ? "\(JSON(proof))\n" : text(proof))
      return .done
    }
  }

  static let proveCheck = Command(
    words: ["prove", "check"], summary: "check a proof, without the library",
    operands: [Operand("FILE", "printed by `prove inclusion --json` or `prove consistency --json`")],
    options: [.checkpoint, .json],
    notes: """
      A proof is valid for the roots that it names. Only a checkpoint of its size shows that they were the library's;
      a consistency proof needs two.
      """,
    example: "prove check event-7.json --checkpoint 2025-06-15.note"
  ) { invocation in
    let checkpoints = try invocation.checkpoints()
    let path = invocation.operands[0]
    let proof = try Proof(try invocation.contents(of: path, "FILE"), path)
    switch proof {
    case .inclusion(let proof): try proof.check(against: checkpoints)
    case .consistency(let proof): try proof.check(against: checkpoints)
    }
    if invocation.printsJSON {
      try invocation.output.line(
        ["holds": true, "kind": .text(proof.kind), "checkpointCount": .integer(Int64(checkpoints.count))])
    } else {
      let compared = checkpoints.isEmpty ? "compare its root with a checkpoint" : "the checkpoint agrees"
      try invocation.output.line("The proof is valid: \(proof.sentence); \(compared).")
    }
    return .done
  }

  private static func text(_ proof: InclusionProof) -> String {
    lines(
      "event \(proof.sequence) of the log of \(proof.size) events",
      [
        ("origin", [proof.origin]), ("leaf", [proof.leaf]), ("hashes", proof.hashes), ("root", [proof.root]),
        ("record", proof.record.map { [$0] } ?? []), ("before", proof.chainBefore.map { [$0] } ?? []),
        ("first", [proof.firstRecord] + proof.firstHashes),
      ])
  }

  private static func text(_ proof: ConsistencyProof) -> String {
    lines(
      "\(proof.earlierSize) events are a prefix of the log of \(proof.size) events",
      [
        ("origin", [proof.origin]), ("earlier", [proof.earlierRoot]), ("hashes", proof.hashes), ("root", [proof.root]),
      ])
  }

  private static func lines(_ heading: String, _ fields: [(name: String, values: [String])]) -> String {
    var text = heading + "\n"
    for (name, values) in fields {
      for (index, value) in values.enumerated() { text += TextLayout.fitted(index == 0 ? name : "", 9) + value + "\n" }
    }
    return text
  }
}

/// A proof of either kind, as a file holds it.
private enum Proof {
  case inclusion(InclusionProof)
  case consistency(ConsistencyProof)

  /// - Throws: `LibraryError` `.invalidProof` if the bytes are not a proof.
  init(_ data: Data, _ path: String) throws {
    let decoder = JSONDecoder()
    do {
      // Strict where the decoder is not: a key that stands there twice has two meanings.
      switch try JSONReader.read(Array(data))["proof"]?.textValue {
      case "inclusion": self = .inclusion(try decoder.decode(InclusionProof.self, from: data))
      case "consistency": self = .consistency(try decoder.decode(ConsistencyProof.self, from: data))
      default: throw CocoaError(.coderReadCorrupt)
      }
    } catch {
      throw LibraryError(
        .invalidProof,
        "\(path) is not a proof; pass the output of `prove inclusion --json` or `prove consistency --json`.")
    }
  }

  var kind: String { if case .inclusion = self { "inclusion" } else { "consistency" } }

  var sentence: String {
    switch self {
    case .inclusion(let proof): "event \(proof.sequence) is in the log of \(proof.size) events"
    case .consistency(let proof): "\(proof.earlierSize) events are a prefix of \(proof.size)"
    }
  }
}

extension Invocation {
  fileprivate func eventCount(_ text: String, _ name: String) throws -> UInt64 {
    guard let number = UInt64(text), number > 0 else {
      throw UsageError("\(name) needs a whole number above 0; got '\(text)'.")
    }
    return number
  }
}
