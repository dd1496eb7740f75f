import BenchmarkSupport
import Foundation

/// S8: a new process opens the library, counts, and shows the first hundred of the newest.
///
/// It is one of `new-process`, and for SQLite one of this program. The clock inside starts with the first line of each,
/// so what each loads before is in the time `from spawn to end` alone.
enum ColdStart {
  private static func name(_ what: String, _ caches: Caches) -> String {
    "S8 new process, \(what), \(caches == .warm ? "pages in memory" : "pages dropped")"
  }

  static let names = Caches.all.flatMap { caches in
    ["count and first 100", "SQLite's count and first 100", "from spawn to end"].map { name($0, caches) }
  }

  static func measure(_ stage: Stage, into report: inout Report) throws {
    guard report.wantsAny(of: names) else { return }
    stage.close()
    for caches in Caches.all { try measure(stage, caches, into: &report) }
  }

  private static func measure(_ stage: Stage, _ caches: Caches, into report: inout Report) throws {
    let file = stage.diskFolder.path + "/store/data.mdb"
    var base: Double?
    #if PeerBenchmarks
      if let peer = stage.peer {
        if !stage.peerHasIndexes { try peer.addCoveringIndexes() }
        stage.peerHasIndexes = true
        // Another process opens it; the connection here maps its pages, which would keep them from being dropped.
        let path = peer.file.path
        try peer.database.run("PRAGMA mmap_size=0")
        guard let sample = try times(path, caches, stage, report, { try ChildProcess.run(.openSQLite, path) }) else {
          return print("\(name("SQLite", caches)): the pages cannot be dropped here.")
        }
        base = sample.inside.quantile(0.5)
        report.add(name("SQLite's count and first 100", caches), size: stage.size, caches: caches, sample.inside)
      }
    #endif
    let path = stage.diskFolder.path
    guard let sample = try times(file, caches, stage, report, { try ChildProcess.run(.openLibrary, path) }) else {
      return print("\(name("count and first 100", caches)): the pages cannot be dropped here.")
    }
    report.add(
      name("count and first 100", caches), size: stage.size, caches: caches, sample.inside,
      goal: .microseconds(10_000))
    if let base {
      report.add(
        name("count and first 100, to SQLite", caches), size: stage.size, caches: caches, sample.inside,
        comparedWith: base, goal: .atMost(1))
    }
    report.add(name("from spawn to end", caches), size: stage.size, caches: caches, sample.whole)
  }

  /// - Parameters:
  ///   - file: what is read from the disk if the pages are dropped before.
  ///   - run: runs the new process once.
  private static func times(
    _ file: String, _ caches: Caches, _ stage: Stage, _ report: Report,
    _ run: () throws -> (numbers: [Double], wall: Double)
  ) throws -> (inside: Sample, whole: Sample)? {
    var (inside, whole): ([Double], [Double]) = ([], [])
    for repetition in 0..<min(9, report.repetitions) + 1 {
      if caches == .cold, try !ChildProcess.dropPages(of: file) { return nil }
      let (numbers, wall) = try run()
      let shown = stage.shown.count
      guard numbers.count == 3, Int(numbers[1]) == shown, Int(numbers[2]) == min(100, shown) else {
        throw WrongAnswer(description: "A new process counts \(numbers.dropFirst()) assets; \(shown) are shown.")
      }
      if repetition > 0 {
        inside.append(numbers[0])
        whole.append(wall)
      }
    }
    return (Sample(inside), Sample(whole))
  }

  // MARK: In the new process

  static func sqlite(_ path: String) throws -> (assets: Int, first: Int) {
    #if PeerBenchmarks
      let database = try SQLite(URL(filePath: path))
      let count = try SQLiteStatement("SELECT COUNT(*) FROM assets WHERE visible = 1", in: database).integers()
      let first = try SQLiteStatement(
        "SELECT number FROM assets WHERE visible = 1 ORDER BY created DESC, number LIMIT 100", in: database)
      return (Int(count.first ?? 0), Set(try first.integers()).count)
    #else
      throw WrongAnswer(description: "This program was built without SQLite.")
    #endif
  }
}

extension Caches {
  static let all = [Caches.warm, .cold]
}
