import EventLog
import Foundation
import LMDB
import PhotoLedger
import TestSupport
import Testing

@Suite("Replay")
struct ReplayTests {
  /// Commits of one history: more events than are in a batch, at either dose.
  private static let commits = Dose.isFull ? 300 : 100

  @Test(
    "applying the log again gives the same bytes in every projection, in batches of any size",
    .timeLimit(.minutes(60)), arguments: [(seed: UInt64(21), batch: 1), (22, 3), (23, 64), (24, .max)])
  func replay(seed: UInt64, batch: Int) async throws {
    let history = try History(seed: seed)
    try await history.run(commits: Self.commits)
    let original = try Environment.store(ofLibrary: history.temporary.url.path)
    let log = try EventLog(in: original)

    let folder = try TemporaryFolder()
    var options = Environment.Options()
    options.maxDatabases = Projections.databasesMax
    let copy = try Environment.open(path: folder.place("copy").path, options: options)
    let projections = try Projections(in: copy)
    var done: UInt64 = 0
    let head = try original.read { t in try log.head(t).sequence }
    while done < head {
      try copy.write { target in
        try original.read { source in
          try log.read(after: done, limit: batch, in: source) { record in
            try projections.apply(try Event(record), sequence: record.sequence, commit: record.commit, in: &target)
            done = record.sequence
            return .proceed
          }
        }
      }
    }
    let difference = try StoreDump(original, only: Projections.names).difference(
      from: StoreDump(copy, only: Projections.names))
    #expect(difference == nil, "seed \(seed), batch \(batch)")
    #expect(try StoreDump(copy, only: ["members"]).databases["members"]?.isEmpty == false)
  }

  @Test("the same seed makes the same store, byte for byte, in two processes")
  func determinism() async throws {
    // Each process seeds the hashing of sets and dictionaries anew, so an order taken from one of them shows here.
    var digests: [[UInt8]] = []
    for _ in 0..<2 {
      let result = try #require(
        await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
          let history = try History(seed: 31)
          try await history.run(commits: Dose.isFull ? 250 : 100)
          let dump = try StoreDump(Environment.store(ofLibrary: history.temporary.url.path))
          print("digest of \(dump.databases["events"]?.count ?? 0) events:", dump.digest)
        })
      digests.append(result.standardOutputContent)
    }
    let text = String(decoding: digests[0], as: UTF8.self)
    #expect(text.contains("digest of ") && !text.contains("digest of 0"), "\(text)")
    #expect(digests[0] == digests[1])
  }
}
