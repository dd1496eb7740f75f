import LibraryMaintenance
import PhotoLedger

/// Checkpoints and proofs of the library that the store's rows are measured in.
enum Proofs {
  static let names = [
    "proof checkpoint, an event", "proof inclusion, first of a process", "proof inclusion, later",
    "proof consistency, later",
  ]

  static func measure(_ stage: Stage, into report: inout Report) throws {
    guard report.wantsAny(of: names) else { return }
    let library = try stage.library()
    let stopwatch = Stopwatch()
    var checkpoint: Checkpoint?
    let repetitions = stage.size >= Goal.leastSize ? 1 : min(3, report.repetitions)
    let whole = try Turns.measure(repetitions) { checkpoint = try library.checkpoint() }[0]
    guard let checkpoint else { throw WrongAnswer(description: "No checkpoint was made.") }
    let size = checkpoint.size
    report.add(names[0], size: stage.size, caches: .warm, whole, operations: Int(size), goal: .microseconds(1.6))

    // The first proof reads every leaf; what it folded is kept for the others.
    let first = try stopwatch.time { try library.inclusionProof(ofSequence: size / 2 + 1).check(against: [checkpoint]) }
    report.add(names[1], size: stage.size, caches: nil, Sample([first]))
    var random = Seeded(Stage.seed &+ 5)
    func sample<Proof>(_ prove: (UInt64) throws -> Proof, _ check: (Proof) throws -> Void) throws -> Sample {
      Sample(
        try (0..<report.repetitions).map { _ in
          let place = UInt64.random(in: 1...size, using: &random)
          var proof: Proof?
          let time = try stopwatch.time { proof = try prove(place) }
          if let proof { try check(proof) }
          return time
        })
    }
    let inclusions = try sample({ try library.inclusionProof(ofSequence: $0) }, { try $0.check(against: [checkpoint]) })
    report.add(names[2], size: stage.size, caches: .warm, inclusions, goal: .microseconds(1000))
    let consistencies = try sample({ try library.consistencyProof(from: $0) }, { try $0.check(against: [checkpoint]) })
    report.add(names[3], size: stage.size, caches: .warm, consistencies, goal: .microseconds(1000))
  }
}
