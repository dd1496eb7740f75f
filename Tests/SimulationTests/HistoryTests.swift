import Foundation
import Synchronization
import TestSupport
import Testing

/// What a run draws from: set in the environment to run one history again, or more of them.
enum Seeds {
  /// PHOTOLEDGER_SIMULATION_SEED: one number, or several with commas.
  static var chosen: [UInt64]? {
    ProcessInfo.processInfo.environment["PHOTOLEDGER_SIMULATION_SEED"]?.split(separator: ",").compactMap { UInt64($0) }
  }

  /// Commits of one history.
  static var commits: Int { Dose.of(40) }

  /// About so many moments of one history are looked back at. The seed is chosen for this many.
  static var moments: Int { Dose.isFull ? Dose.of(5) : 20 }
}

@Suite("Random histories")
struct HistoryTests {
  /// What the histories of all seeds have drawn together.
  private static let drawn = Mutex((histories: 0, kinds: Set<StepKind>()))
  /// At the usual dose half of them, which are most of the time of these tests.
  private static let seeds: [UInt64] = Array(1...(Dose.isFull ? 8 : 4))

  @Test(
    "every live result receives exactly what a model finds by comparing lists",
    .timeLimit(.minutes(60)), arguments: Seeds.chosen ?? seeds)
  func exactness(seed: UInt64) async throws {
    let history = try History(seed: seed)
    let guardian = Guardian(history)
    defer { guardian.cancel() }
    do {
      try history.watch()
      try await history.run(commits: Seeds.commits)
      if Dose.isFull {
        #expect(
          history.refusals > Seeds.commits / 100, "Hardly a block was rejected; the generator lost its mistakes.")
      }
      let (histories, kinds) = Self.drawn.withLock { drawn in
        drawn = (drawn.histories + 1, drawn.kinds.union(history.kinds))
        return drawn
      }
      if Seeds.chosen == nil, Dose.isFull, histories == Self.seeds.count {
        let missing = StepKind.allCases.filter { !kinds.contains($0) }
        #expect(missing.isEmpty, "No history drew these: the dose is too small.")
      }
    } catch {
      Issue.record(
        """
        seed \(seed), after \(history.commits) commits: \(error)
        Run it again: PHOTOLEDGER_SIMULATION_SEED=\(seed) swift test --filter HistoryTests
        """)
    }
  }
}

/// Ends a history that makes no more progress, and says what it was waiting for.
struct Guardian {
  private let task: Task<Void, any Error>
  /// Generous: it is there to name what hangs, and a busy machine may let a test rest for long.
  private static let patience = 180

  init(_ history: History) {
    let progress = history.progressReport
    task = Task.detached {
      var last = -1
      while true {
        try await Task.sleep(for: .seconds(Self.patience))
        let now = progress.now
        guard now.steps == last else {
          last = now.steps
          continue
        }
        Issue.record("Nothing has happened for \(Self.patience) seconds while \(now.doing).")
        return progress.giveUp()
      }
    }
  }

  func cancel() { task.cancel() }
}
