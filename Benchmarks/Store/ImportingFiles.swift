import Foundation
import MediaImport
import PhotoLedger
import Synchronization

/// S40 to S42: imports of many small photos, beside what exiftool, `cp` and `find` take for the same files.
///
/// The photos are headers of JPEG files with a date, so the bytes weigh little and each file's own cost is what is
/// measured. An import runs in a new process, whose peak memory is reported; its children have their own. The floor of
/// an import is exiftool asked about the same files by as many processes, and then `cp` and `sync` of them: no import
/// that copies files and reads their metadata can do less. A second import finds nothing new; its floor is `find` that
/// prints the size and time of each file.
enum ImportingFiles {
  private static let again = "S41 the same import again, nothing new"
  private static let watching = "S42 start of a watch of as many folders"
  static let names = [
    "S40 floor: exiftool over the same files", "S40 floor: cp and sync of the same files",
    "S40 import by copy, small photos", "S40 import by copy, peak memory", "S41 floor: find of names, sizes and times",
    again, "\(again), peak memory", "S42 floor: find of the folders", watching, "S42 a new file until it is imported",
  ]

  /// More files cost as much each, and take minutes.
  private static let mostFiles = 100_000
  private static let filesInFolder = 100

  static func measure(_ stage: Stage, into report: inout Report) throws {
    guard report.wantsAny(of: names) else { return }
    let count = min(stage.size, mostFiles)
    let folder = stage.path("files")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { stage.remove(folder) }
    let files = try fill(folder, count)
    let probe = ExternalProbe()
    if case .unavailable(let sentence) = try probe.examine(files[0]) {
      return print("S40 to S42 are left out: \(sentence)")
    }
    if report.wantsAny(of: Array(names.prefix(7))) {
      try measureImport(of: folder, files, probe, stage, into: &report)
    }
    if report.wantsAny(of: Array(names.dropFirst(7))) { try measureWatch(count, files[0], stage, into: &report) }
  }

  private static func measureImport(
    of folder: URL, _ files: [URL], _ probe: ExternalProbe, _ stage: Stage, into report: inout Report
  ) throws {
    let (library, copy, stopwatch) = (stage.path("imported"), stage.path("copied"), Stopwatch())
    defer { for made in [library, copy] { stage.remove(made) } }
    // Once without a clock: both exiftool processes are started by then.
    _ = try ask(probe, about: Array(files.prefix(10)))
    let asking = try stopwatch.time { try ask(probe, about: files) }
    let script = #"cp -r "$0" "$1" && sync -f "$1""#
    let copying = try stopwatch.time { try ChildProcess.runQuietly(["sh", "-c", script, folder.path, copy.path]) }
    let first = try importing(folder, into: library)
    guard first.added == files.count else {
      throw WrongAnswer(description: "\(first.added) of \(files.count) photos were imported.")
    }
    report.add(names[0], size: stage.size, caches: .warm, Sample([asking]))
    report.add(names[1], size: stage.size, caches: .warm, Sample([copying]))
    report.add(
      names[2], size: stage.size, caches: .warm, Sample([first.wall]), comparedWith: asking + copying,
      goal: .atMost(1.25))
    report.add(names[3], size: stage.size, bytes: first.peak, goal: .bytes(256 << 20))

    var (floors, times, peak) = ([Double](), [Double](), 0)
    for _ in 0..<min(3, report.repetitions) {
      floors.append(
        try stopwatch.time {
          try ChildProcess.runQuietly(["find", folder.path, "-type", "f", "-printf", #"%s %T@ %p\n"#])
        })
      let run = try importing(folder, into: library)
      guard run.added == 0, run.known == files.count else {
        throw WrongAnswer(description: "A second import adds \(run.added) photos and knows \(run.known).")
      }
      times.append(run.wall)
      peak = max(peak, run.peak)
    }
    let floor = Sample(floors)
    report.add(names[4], size: stage.size, caches: .warm, floor)
    report.add(
      names[5], size: stage.size, caches: .warm, Sample(times), comparedWith: floor.quantile(0.5), goal: .atMost(3))
    report.add(names[6], size: stage.size, bytes: peak, goal: .bytes(256 << 20))
  }

  /// Asks exiftool about files, as many at a time as there are processors.
  /// - Parameter areSound: whether it must have something to say about each.
  static func ask(_ probe: ExternalProbe, about files: [URL], areSound: Bool = true) throws {
    let next = Mutex(0)
    let failure = Mutex<(any Error)?>(nil)
    DispatchQueue.concurrentPerform(iterations: ProcessInfo.processInfo.activeProcessorCount) { _ in
      while true {
        let index = next.withLock { next in
          next += 1
          return next - 1
        }
        guard index < files.count, failure.withLock({ $0 == nil }) else { return }
        do {
          let answer = try probe.answer(about: files[index])
          guard !areSound || answer.count > 100 else {
            throw WrongAnswer(description: "exiftool says nothing about \(files[index].path).")
          }
        } catch {
          failure.withLock { $0 = error }
        }
      }
    }
    if let error = failure.withLock({ $0 }) { throw error }
  }

  private static func importing(
    _ folder: URL, into library: URL
  ) throws -> (added: Int, known: Int, peak: Int, wall: Double) {
    let (numbers, wall) = try ChildProcess.run(.importFiles, library.path, folder.path)
    guard numbers.count == 3 else { throw WrongAnswer(description: "An import tells \(numbers).") }
    return (Int(numbers[0]), Int(numbers[1]), Int(numbers[2]), wall)
  }

  /// In a new process: imports a folder into a library, which is made if it is not there yet.
  static func importFiles(_ path: String, _ folder: String) throws -> (added: Int, known: Int) {
    let location = URL(filePath: path)
    let library =
      PhotoLibrary.exists(at: location) ? try PhotoLibrary(at: location) : try PhotoLibrary.create(at: location)
    defer { library.close() }
    let summary = try awaiting { try await LibraryImport(into: library).run([FilePath(folder)]) }
    return (summary.assetsAdded, summary.duplicates)
  }

  // MARK: Watching

  private static func measureWatch(_ count: Int, _ photo: URL, _ stage: Stage, into report: inout Report) throws {
    let (root, place) = (stage.path("watched"), stage.path("watching"))
    defer { for made in [root, place] { stage.remove(made) } }
    for number in 0..<count {
      let folder = root.appending(path: "\(number / filesInFolder)/\(number % filesInFolder)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
    let library = try PhotoLibrary.create(at: place, environment: .seeded(Stage.seed &+ 5))
    defer { library.close() }
    let stopwatch = Stopwatch()
    var floors: [Double] = []
    for _ in 0..<3 {
      floors.append(try stopwatch.time { try ChildProcess.runQuietly(["find", root.path, "-type", "d"]) })
    }
    let (began, came, ended) = (Arrivals(), Arrivals(), DispatchSemaphore(value: 0))
    let scanned = Mutex<String?>(nil)
    for arrivals in [began, came] { arrivals.expect(1) }
    let watch = try LibraryWatch(of: library)
    let start = ContinuousClock.now
    let task = Task {
      do {
        _ = try await watch.run([FilePath(root.path)]) { news in
          switch news {
          case .watching: began.arrive()
          case .imported: came.arrive()
          case .scanning(let sentence): scanned.withLock { $0 = sentence }
          case .moved, .missing, .away, .returned, .waiting: break
          }
        }
      } catch {
        for arrivals in [began, came] { arrivals.fail(error) }
      }
      ended.signal()
    }
    defer {
      task.cancel()
      ended.wait()
    }
    let starting = (try began.wait() - start).nanoseconds
    if let sentence = scanned.withLock({ $0 }) { return print("S42 is left out: \(sentence)") }
    let target = root.appending(path: "0/0/new.jpg")
    let added = ContinuousClock.now
    try FileManager.default.copyItem(at: photo, to: target)
    let arriving = (try came.wait() - added).nanoseconds
    let floor = Sample(floors)
    report.add(names[7], size: stage.size, caches: .warm, floor)
    report.add(
      names[8], size: stage.size, caches: .warm, Sample([starting]), comparedWith: floor.quantile(0.5), goal: .atMost(2)
    )
    report.add(names[9], size: stage.size, caches: .warm, Sample([arriving]), goal: .microseconds(3_000_000))
  }

  // MARK: Photos

  /// Makes small photos, a hundred in a folder.
  private static func fill(_ folder: URL, _ count: Int) throws -> [URL] {
    try (0..<count).map { number in
      let place = folder.appending(path: "\(number / filesInFolder)")
      if number % filesInFolder == 0 {
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      }
      let file = place.appending(path: "IMG_\(number).jpg")
      try photo(number).write(to: file)
      return file
    }
  }

  /// The headers of a JPEG of 640 × 480 pixels: Exif with a date that is another one for each second, and the size.
  static func photo(_ number: Int) -> Data {
    let (day, second) = (number / 86_400 % 28, number % 86_400)
    let date = String(
      format: "2024:01:%02d %02d:%02d:%02d", day + 1, second / 3600, second / 60 % 60, second % 60)
    // TIFF, big-endian: one directory with the pointer to Exif's, which has DateTimeOriginal behind it.
    let tiff: [UInt8] = [
      0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0, 1, 0x87, 0x69, 0, 4, 0, 0, 0, 1, 0, 0, 0, 26, 0, 0, 0, 0,
      0, 1, 0x90, 0x03, 0, 2, 0, 0, 0, 20, 0, 0, 0, 44, 0, 0, 0, 0,
    ]
    let exif = Data("Exif\0\0".utf8) + Data(tiff) + Data(date.utf8) + Data([0])
    let comment = Data("photo \(number)".utf8)
    return Data([0xFF, 0xD8, 0xFF, 0xE1, 0, UInt8(exif.count + 2)]) + exif
      + Data([0xFF, 0xFE, 0, UInt8(comment.count + 2)]) + comment
      + Data([0xFF, 0xC0, 0, 11, 8, 0x01, 0xE0, 0x02, 0x80, 1, 1, 0x11, 0, 0xFF, 0xD9])
  }
}

/// Waits on a thread for what a task does.
func awaiting<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
  let outcome = Mutex<Result<Value, any Error>?>(nil)
  let end = DispatchSemaphore(value: 0)
  Task {
    let result: Result<Value, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    outcome.withLock { $0 = result }
    end.signal()
  }
  end.wait()
  guard let result = outcome.withLock({ $0 }) else {
    throw WrongAnswer(description: "A task ended without an outcome.")
  }
  return try result.get()
}
