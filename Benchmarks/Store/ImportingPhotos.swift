import Foundation
import MediaImport
import PhotoLedger

/// S44: an import by copy of photos of real cameras, beside what exiftool and `cp` take for the same files.
///
/// The photos are not part of the project: `--photos` names folders with them, and without it the rows are left out.
/// The floor asks exiftool once about each content but those of sidecars, and copies every file.
enum ImportingPhotos {
  static let names = [
    "S44 floor: exiftool over the photos of a folder", "S44 floor: cp and sync of the photos of a folder",
    "S44 import by copy, photos of a folder", "S44 import by copy, photos of a folder, peak memory",
  ]

  static func measure(_ stage: Stage, into report: inout Report) throws {
    guard report.wantsAny(of: names) else { return }
    guard !report.photos.isEmpty else {
      return print("S44 is left out: the folders with photos are named with --photos.")
    }
    let (folder, library, copy) = (stage.path("photos"), stage.path("imported"), stage.path("copied"))
    defer { stage.remove(folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // On the file system of the copies, as the files of the other rows.
    for photos in report.photos { try ChildProcess.runQuietly(["cp", "-r", photos, folder.path]) }
    let files = try contents(of: folder)
    let probe = ExternalProbe()
    guard let first = files.first else { throw WrongAnswer(description: "--photos names folders without files.") }
    if case .unavailable(let sentence) = try probe.examine(first) { return print("S44 is left out: \(sentence)") }

    let stopwatch = Stopwatch()
    var (asking, copying, importing, peak) = ([Double](), [Double](), [Double](), 0)
    let script = #"cp -r "$0" "$1" && sync -f "$1""#
    for _ in 0..<min(5, report.repetitions) {
      // As the import does, it starts its processes.
      asking.append(
        try stopwatch.time { try ImportingFiles.ask(ExternalProbe(), about: files, areSound: false) })
      copying.append(
        try stopwatch.time { try ChildProcess.runQuietly(["sh", "-c", script, folder.path, copy.path]) })
      let (numbers, wall) = try ChildProcess.run(.importFiles, library.path, folder.path)
      guard numbers.count == 3, numbers[0] > 0 else {
        throw WrongAnswer(description: "An import of photos tells \(numbers).")
      }
      importing.append(wall)
      peak = max(peak, Int(numbers[2]))
      for made in [library, copy] { stage.remove(made) }
    }
    let floor = Sample(asking).quantile(0.5) + Sample(copying).quantile(0.5)
    report.add(names[0], size: stage.size, caches: .warm, Sample(asking))
    report.add(names[1], size: stage.size, caches: .warm, Sample(copying))
    report.add(
      names[2], size: stage.size, caches: .warm, Sample(importing), comparedWith: floor, goal: .atMost(1.25))
    report.add(names[3], size: stage.size, bytes: peak, goal: .bytes(256 << 20))
  }

  /// One file of each content below a folder, without sidecars, which an import does not read.
  private static func contents(of folder: URL) throws -> [URL] {
    var (seen, files): (Set<[UInt8]>, [URL]) = ([], [])
    let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey])
    while let file = all?.nextObject() as? URL {
      guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true,
        !["xmp", "aae", "json"].contains(file.pathExtension.lowercased())
      else { continue }
      let content = try FileContent(of: FilePath(file.path))
      if content.byteCount > 0, seen.insert(content.sha256).inserted { files.append(file) }
    }
    return files
  }
}
