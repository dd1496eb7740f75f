#if PeerBenchmarks
  import Foundation

  /// What stands in the place of a live result over a database: the query is run again after each commit, and what came
  /// of it is compared with what was there before.
  enum SQLiteLiveQuery {
    static let names = ["S6 SQLite, the query again", "S6 SQLite, the query again and a difference"]

    /// Moves one asset in the list by a durable commit, outside the clock, and asks for all numbers newest first.
    static func measure(_ stage: Stage, into report: inout Report) throws {
      guard report.wantsAny(of: names), let peer = stage.peer else { return }
      if !stage.peerHasIndexes { try peer.addCoveringIndexes() }
      stage.peerHasIndexes = true
      // Switched off for a new process to drop its pages.
      try peer.database.run("PRAGMA mmap_size=68719476736")
      let query = try SQLiteStatement(
        "SELECT number FROM assets WHERE visible = 1 ORDER BY created DESC, number", in: peer.database)
      let edit = try SQLiteStatement("UPDATE assets SET created = created - ? WHERE number = ?", in: peer.database)
      var random = Seeded(Stage.seed &+ 11)
      var shown = try query.integers()
      let stopwatch = Stopwatch()
      var (again, compared) = ([Double](), [Double]())
      for repetition in 0...min(7, report.repetitions) {
        let number = shown[Int.random(in: shown.indices, using: &random)]
        try edit.run([.real(86_400 * 30), .integer(number)])
        var now: [Int64] = []
        var difference: CollectionDifference<Int64>?
        let asked = try stopwatch.time { now = try query.integers() }
        let diffed = stopwatch.time { difference = now.difference(from: shown) }
        guard let difference, shown.applying(difference) == now, difference.insertions.count <= 1 else {
          throw WrongAnswer(description: "SQLite's list after a commit does not follow from the one before.")
        }
        shown = now
        guard repetition > 0 else { continue }
        again.append(asked)
        compared.append(asked + diffed)
      }
      report.add(names[0], size: stage.size, caches: .warm, Sample(again))
      report.add(names[1], size: stage.size, caches: .warm, Sample(compared))
    }
  }
#endif
