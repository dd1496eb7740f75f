import Foundation
import LibraryMaintenance
import PhotoLedger

/// S20: a backup of a library in use, beside what `cp` takes for the same directory.
///
/// The store is the stage's; beside it lie files of their own, so that most of the bytes are those of photos, as in a
/// library of people's. Both end with everything on the disk: the backup by itself, `cp` with `sync`.
enum BackingUp {
  static let names = ["S20 backup, floor: cp and sync", "S20 backup, proved and durable"]

  static func measure(_ stage: Stage, into report: inout Report) throws {
    guard report.wantsAny(of: names) else { return }
    try stage.withCopiedFiles(onDisk: true) { folder in
      try fill(folder, bytes: stage.size * 4096)
      let library = try PhotoLibrary(at: folder, environment: .seeded(Stage.seed &+ 3))
      defer { library.close() }
      // The pipe that wakes other processes is not a regular file, and what a copy of it would wait for never comes.
      let script = #"mkdir "$1" "$1/store" && cp "$0/store/data.mdb" "$1/store" && cp -r "$0/resources" "$1""#
      // In turns, since a disk may be slower after it was given much; the first turn warms up.
      var (floors, owns) = ([Double](), [Double]())
      for _ in 0..<min(5, report.repetitions) + 1 {
        floors.append(
          try time(in: stage) { target in
            try ChildProcess.runQuietly(["sh", "-c", script + #" && sync -f "$1""#, folder.path, target.path])
          })
        owns.append(
          try time(in: stage) { target in
            let made = try library.backup(to: target)
            guard made.resources.damagedFiles.isEmpty, made.resources.fileCount > 0 else {
              throw WrongAnswer(description: "The backup does not hold the files that were made for it.")
            }
          })
      }
      let (floor, own) = (Sample(Array(floors.dropFirst())), Sample(Array(owns.dropFirst())))
      report.add(names[0], size: stage.size, caches: .warm, floor)
      report.add(names[1], size: stage.size, caches: .warm, own, comparedWith: floor.quantile(0.5), goal: .atMost(2))
    }
  }

  /// Puts files under the names of their hashes.
  private static func fill(_ folder: URL, bytes: Int) throws {
    let library = try PhotoLibrary(at: folder, environment: .seeded(Stage.seed &+ 4))
    defer { library.close() }
    var random = Seeded(7)
    let length = min(2 << 20, max(4096, bytes / 8))
    for number in 0..<max(1, bytes / length) {
      let words = (0..<length / 8).map { _ in random.next() }
      let data = words.withUnsafeBytes { Data($0) }
      let draft = ResourceDraft(type: .photo, source: .data(data), originalFilename: "\(number).jpg")
      try library.performChangesAndWait { $0.createAsset(AssetCreation(mediaType: .image, resources: [draft])) }
    }
  }

  /// The nanoseconds of a body that makes a directory, which is removed again.
  private static func time(in stage: Stage, _ body: (URL) throws -> Void) throws -> Double {
    let target = stage.path("backup")
    let start = ContinuousClock.now
    try body(target)
    let time = (ContinuousClock.now - start).nanoseconds
    try FileManager.default.removeItem(at: target)
    return time
  }
}
