package import Foundation
package import JSONReading
package import LibraryMaintenance

extension JSON {
  /// A checkpoint, and the file that it was written to.
  package init(_ checkpoint: Checkpoint, in file: URL?) {
    self = [
      "origin": .text(checkpoint.origin),
      "size": .integer(Int64(clamping: checkpoint.size)),
      "root": .text(checkpoint.root),
      "commit": .integer(Int64(clamping: checkpoint.commit)),
      "chain": .text(checkpoint.chain),
      "time": .text(checkpoint.spelledTime),
      "file": JSON(file?.path),
    ]
  }

  /// What `prove check` reads.
  package init(_ proof: InclusionProof) {
    self = [
      "proof": "inclusion",
      "origin": .text(proof.origin),
      "sequence": .integer(Int64(clamping: proof.sequence)),
      "size": .integer(Int64(clamping: proof.size)),
      "leaf": .text(proof.leaf),
      "hashes": .list(proof.hashes.map { .text($0) }),
      "root": .text(proof.root),
      "record": JSON(proof.record),
      "chainBefore": JSON(proof.chainBefore),
      "firstRecord": .text(proof.firstRecord),
      "firstHashes": .list(proof.firstHashes.map { .text($0) }),
    ]
  }

  /// What `prove check` reads.
  package init(_ proof: ConsistencyProof) {
    self = [
      "proof": "consistency",
      "origin": .text(proof.origin),
      "earlierSize": .integer(Int64(clamping: proof.earlierSize)),
      "earlierRoot": .text(proof.earlierRoot),
      "size": .integer(Int64(clamping: proof.size)),
      "root": .text(proof.root),
      "hashes": .list(proof.hashes.map { .text($0) }),
      "firstRecord": .text(proof.firstRecord),
      "firstHashes": .list(proof.firstHashes.map { .text($0) }),
    ]
  }
}
