import BenchmarkSupport
import EventLog
import Foundation
import LibraryMaintenance
import PhotoLedger

/// S16: the library as of a moment anywhere in its history.
///
/// To open a view is to make it and to list its collections, which takes finding out what was otherwise then: whatever
/// is asked afterwards costs what it costs now.
enum LookingBack {
  static let names = [
    "S16 as of, open", "S16 as of, open, no snapshots", "S16 as of, newest first", "S16 snapshots made, an event",
  ]

  static func measure(_ stage: Stage, into report: inout Report) throws {
    guard report.wantsAny(of: names), Stage.memoryFileSystem != nil else { return }
    try stage.withCopy { library in
      try edit(library, stage)
      let events = try StoreReader(library).head().sequence
      var random = Seeded(Stage.seed)
      let moments = (0...report.repetitions).map { _ in UInt64.random(in: 1...events, using: &random) }
      let stopwatch = Stopwatch()
      let long = try moments.prefix(min(6, moments.count)).map { moment in
        try stopwatch.time { _ = try open(library, moment) }
      }
      let right = try open(library, moments[0]).fetchAssets(try .newestFirst()).numbers
      // At the default spacing, but for libraries that are too short to have a snapshot then.
      let spacing = min(PhotoLibrary.defaultSnapshotSpacing, max(1, Int(events) / 8))
      let making = try stopwatch.time { _ = try library.makeSnapshots(spacing: spacing) }
      guard try open(library, moments[0]).fetchAssets(try .newestFirst()).numbers == right else {
        throw WrongAnswer(description: "A snapshot changes what a library showed at event \(moments[0]).")
      }
      var (opening, fetching): ([Double], [Double]) = ([], [])
      for moment in moments {
        var view: PhotoLibrary?
        opening.append(try stopwatch.time { view = try open(library, moment) })
        fetching.append(try stopwatch.time { _ = try view?.fetchAssets(try .newestFirst()) })
      }
      let size = stage.size
      report.add(
        names[0], size: size, caches: .warm, Sample(Array(opening.dropFirst())), goal: .microseconds(50_000))
      report.add(names[1], size: size, caches: .warm, Sample(Array(long)))
      report.add(names[2], size: size, caches: .warm, Sample(Array(fetching.dropFirst())))
      report.add(names[3], size: size, caches: .warm, Sample([making]), operations: Int(events))
    }
  }

  private static func open(_ library: PhotoLibrary, _ moment: UInt64) throws -> PhotoLibrary {
    let view = try library.at(sequence: moment)
    _ = try view.fetchCollections()
    return view
  }

  /// Marks assets everywhere, so that there is something to take back.
  private static func edit(_ library: PhotoLibrary, _ stage: Stage) throws {
    var random = Seeded(Stage.seed &+ 9)
    let count = max(1, min(200, stage.shown.count / 10))
    for block in 0..<100 {
      let chosen = (0..<count).map { _ in stage.shown[Int.random(in: 0..<stage.shown.count, using: &random)] }
      try library.performChangesAndWait { change in
        change.setFavorite(block % 2 == 0, for: Array(Set(chosen)).sorted { $0.uuidString < $1.uuidString })
      }
    }
  }
}
