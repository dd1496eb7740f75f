import EventLog
import Foundation
import LMDB
import PhotoLedger
import TestSupport
import Testing

@Suite("Replay")
struct ReplayTests {
  @Test(
    "applying the log again gives the same bytes in every projection, in batches of any size",
    .timeLimit(.minutes(5)), arguments: [(seed: UInt64(21), batch: 1), (22, 3), (23, 64), (24, .max)])
  func replay(seed: UInt64, batch: Int) async throws {
    let history = try History(seed: seed)
    try await history.run(commits: 300)
    let original = try Environment.store(ofLibrary: history.temporary.url.path)
    let log = try EventLog(in: original)

    let folder = try TemporaryFolder()
    var options = Environment.Options()
    options.maxDatabases = 32
    let copy = try Environment.open(path: folder.place("copy").path, options: options)
    let projections = try Projections(in: copy)
    var done: UInt64 = 0
    let head = try original.read { t in try log.head(t).sequence }
    while done < head {
      try copy.write { target in
        try original.read { source in
          try log.read(after: done, limit: batch, in: source) { record in
            try projections.apply(try Event(record), sequence: record.sequence, in: &target)
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

  @Test("the same seed makes the same store, byte for byte", .timeLimit(.minutes(5)), arguments: [31, 32] as [UInt64])
  func determinism(seed: UInt64) async throws {
    var dumps: [StoreDump] = []
    for isWatched in [false, true] {
      let history = try History(seed: seed)
      // Observers must leave no trace in the store; they draw from the seed too, so only the unwatched are compared.
      if isWatched { try history.library.register(PromptObserver()) }
      try await history.run(commits: 250)
      dumps.append(try StoreDump(Environment.store(ofLibrary: history.temporary.url.path)))
    }
    #expect(dumps[0].databases["events"]?.count ?? 0 > 300)
    #expect(dumps[0].difference(from: dumps[1]) == nil, "seed \(seed)")
    let other = try History(seed: seed + 100)
    try await other.run(commits: 20)
    #expect(try dumps[0].difference(from: StoreDump(Environment.store(ofLibrary: other.temporary.url.path))) != nil)
  }
}
