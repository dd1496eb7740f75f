import Foundation
import Testing

// What `prove check` refuses without a library and without a checkpoint.

@Suite("The form of proofs")
struct ProofFormTests {
  private func check(_ sandbox: Sandbox, _ object: [String: Any], _ words: [String] = []) throws -> RunResult {
    let file = sandbox.folder.appending(path: "altered.json")
    try JSONSerialization.data(withJSONObject: object).write(to: file)
    return try sandbox.run(["prove", "check", file.path] + words)
  }

  private func proofs(_ sandbox: Sandbox) throws -> [[String: Any]] {
    _ = try sandbox.makeAssets(6)
    return try [
      ["inclusion", "3", "--record"], ["inclusion", "1", "--record"], ["inclusion", "7", "--record"],
      ["inclusion", "4"], ["consistency", "4"],
    ].map { try #require(try sandbox.run(["prove"] + $0 + ["--json"]).objects().first) }
  }

  @Test("an unknown key in a proof is rejected, and so is a repeated one")
  func keys() throws {
    let sandbox = try Sandbox()
    for proof in try proofs(sandbox) {
      #expect(try check(sandbox, proof).status == 0)
      for stranger in ["note", "Origin", "checkpoint", "hash"] {
        let result = try check(sandbox, proof.merging([stranger: "x"]) { $1 })
        #expect(result.status == 1 && result.errors.contains("is not a proof"), "\(stranger): \(result.errors)")
      }
      let text = String(decoding: try JSONSerialization.data(withJSONObject: proof), as: UTF8.self)
      let file = sandbox.folder.appending(path: "twice.json")
      try Data(("{\"size\":7," + text.dropFirst()).utf8).write(to: file)
      #expect(try sandbox.run(["prove", "check", file.path]).status == 1)
    }
  }

  @Test("an altered origin is detected without a checkpoint: the first record names the library")
  func origin() throws {
    let sandbox = try Sandbox()
    let other = try Sandbox()
    let foreign = try proofs(other)
    for (proof, stranger) in zip(try proofs(sandbox), foreign) {
      let own = try #require(proof["origin"] as? String)
      for origin in [try #require(stranger["origin"] as? String), "photoledger/", String(own.dropLast()), own + "0"] {
        let result = try check(sandbox, proof.merging(["origin": origin]) { $1 })
        #expect(result.status == 1 && result.errors.contains("is not valid"), "\(origin): \(result.errors)")
      }
      var both = proof
      for key in ["origin", "firstRecord"] { both[key] = stranger[key] }
      #expect(try check(sandbox, both).status == 1)
      for key in ["firstRecord", "firstHashes"] {
        var without = proof
        without[key] = nil
        #expect(try check(sandbox, without).status == 1, "\(key)")
      }
    }
  }

  @Test("every digit of a record is covered, including the chain at its end")
  func chain() throws {
    let sandbox = try Sandbox()
    let note = sandbox.folder.appending(path: "7.note").path
    let all = try proofs(sandbox)
    #expect(try sandbox.run(["checkpoint", "--out", note]).status == 0)
    for proof in all where proof["record"] is String {
      let record = try #require(proof["record"] as? String)
      #expect(try check(sandbox, proof, ["--checkpoint", note]).status == 0)
      for place in [0, 1, 9, 40] + [140, 80, 64, 33, 1].map({ record.count - $0 }) {
        var digits = Array(record)
        digits[place] = digits[place] == "0" ? "1" : "0"
        let result = try check(sandbox, proof.merging(["record": String(digits)]) { $1 })
        #expect(result.status == 1, "digit \(place) of \(record.count)")
      }
      let before = try #require(proof["chainBefore"] as? String)
      let other = (before.hasPrefix("0") ? "1" : "0") + before.dropFirst()
      #expect(try check(sandbox, proof.merging(["chainBefore": other]) { $1 }).status == 1)
      #expect(try check(sandbox, proof.merging(["chainBefore": NSNull()]) { $1 }).status == 1)
    }
  }
}
