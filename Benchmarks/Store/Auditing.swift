import Foundation
import LibraryAudit
import PhotoLedger

/// S18: what happened to one object, in a library of many.
enum Auditing {
  static let names = ["S18 history of an asset with 20 edits", "S18 history of a purged asset"]

  private static let editCount = 20

  static func measure(_ stage: Stage, into report: inout Report) throws {
    guard report.wantsAny(of: names) else { return }
    try stage.withCopy { library in
      var random = Seeded(7)
      let assets = (0..<16).compactMap { _ in stage.shown.randomElement(using: &random) }
      let purged = Array(Set(stage.shown.suffix(64)).subtracting(assets).prefix(16))
      var touch = Touch(assets)
      for _ in 0..<editCount {
        try library.performChangesAndWait { change in for asset in assets { change.edit([asset], touch.moved()) } }
      }
      try library.performChangesAndWait { change in
        change.deleteAssets(purged)
        change.purgeAssets(purged)
      }
      for (name, objects, least) in [(names[0], assets, editCount), (names[1], purged, 2)] {
        let sample = try time(objects, library, least: least, report.repetitions)
        report.add(
          name, size: stage.size, caches: .warm, sample, operations: objects.count, goal: .microseconds(1000))
      }
    }
  }

  /// The time that the histories of some objects take together.
  private static func time(
    _ objects: [LocalIdentifier], _ library: PhotoLibrary, least: Int, _ repetitions: Int
  ) throws -> Sample {
    try Turns.measure(
      repetitions,
      {
        for object in objects {
          var count = 0
          try library.forEachPropertyChange(of: object.uuidString) { _ in
            count += 1
            return true
          }
          guard count >= least else {
            throw WrongAnswer(description: "An object that was changed \(least) times has a history of \(count).")
          }
        }
      })[0]
  }
}
