import Foundation
import MediaImport
import PhotoLedger

/// S43: a Google Takeout in four parts, each an archive that is read once.
///
/// The photos are those of the imports of folders, each with its JSON, which lies in another part. The floor is bsdtar
/// reading each archive once, and exiftool asked about the same photos by as many processes as there are processors.
enum ImportingTakeout {
  private static let takeout = "S43 Takeout in four parts"
  static let names = [
    "S43 floor: exiftool over the same photos", "S43 floor: each archive read once", takeout, "\(takeout), peak memory",
  ]

  private static let mostPhotos = 50_000
  private static let partCount = 4

  static func measure(_ stage: Stage, into report: inout Report) throws {
    guard report.wantsAny(of: names) else { return }
    let count = min(stage.size, mostPhotos)
    let (tree, parts, library) = (stage.path("takeout"), stage.path("parts"), stage.path("taken"))
    defer { for made in [tree, parts, library] { stage.remove(made) } }
    try FileManager.default.createDirectory(at: parts, withIntermediateDirectories: true)
    let photos = try (0..<count).map { try write($0, below: tree) }
    let probe = ExternalProbe()
    if case .unavailable(let sentence) = try probe.examine(photos[0]) {
      return print("S43 is left out: \(sentence)")
    }
    do {
      try ChildProcess.runQuietly(["bsdtar", "--version"])
    } catch {
      return print("S43 is left out: bsdtar is not installed. Install it with: apt-get install libarchive-tools")
    }
    let archives = (0..<partCount).map { parts.appending(path: "part-\($0 + 1).zip").path }
    for (part, archive) in archives.enumerated() {
      try ChildProcess.runQuietly(
        ["bsdtar", "--format", "zip", "-cf", archive, "-C", tree.appending(path: "\(part)").path, "Takeout"])
    }
    let stopwatch = Stopwatch()
    // Once without a clock: both exiftool processes are started by then.
    _ = try ImportingFiles.ask(probe, about: Array(photos.prefix(10)))
    let asking = try stopwatch.time { try ImportingFiles.ask(probe, about: photos) }
    let reading = try stopwatch.time {
      for archive in archives { try ChildProcess.runQuietly(["bsdtar", "-xOf", archive]) }
    }
    let (numbers, wall) = try ChildProcess.run(.importTakeout, library.path, parts.path)
    guard numbers.count == 3, numbers[0] == Double(count) else {
      throw WrongAnswer(description: "Of a Takeout of \(count) photos, \(numbers) were imported.")
    }
    report.add(names[0], size: stage.size, caches: .warm, Sample([asking]))
    report.add(names[1], size: stage.size, caches: .warm, Sample([reading]))
    report.add(takeout, size: stage.size, caches: .warm, Sample([wall]), comparedWith: asking + reading)
    report.add(names[3], size: stage.size, bytes: Int(numbers[2]), goal: .bytes(512 << 20))
  }

  /// Writes a photo into one part and its JSON into the next.
  private static func write(_ number: Int, below tree: URL) throws -> URL {
    let name = "IMG_\(number).jpg"
    let photo = try folder(of: number, tree).appending(path: name)
    try ImportingFiles.photo(number).write(to: photo)
    let json = #"{"title":"\#(name)","photoTakenTime":{"timestamp":"\#(1_704_067_200 + number)"}}"#
    let beside = try folder(of: number + 1, tree)
    try Data(json.utf8).write(to: beside.appending(path: "\(name).supplemental-metadata.json"))
    return photo
  }

  private static func folder(of number: Int, _ tree: URL) throws -> URL {
    let folder = tree.appending(path: "\(number % partCount)/Takeout/Google Photos/Photos from 2024")
    if number <= partCount { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
    return folder
  }

  /// In a new process: imports all archives of a folder as the parts of one Takeout.
  static func importParts(_ path: String, of folder: String) throws -> (added: Int, known: Int) {
    let parts = try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { FilePath("\(folder)/\($0)") }
    let library = try PhotoLibrary.create(at: URL(filePath: path))
    defer { library.close() }
    let summary = try awaiting { try await LibraryImport(into: library).run(parts, of: .takeout) }
    return (summary.assetsAdded, summary.duplicates)
  }
}
