import Foundation
import MediaImport
import PhotoLedger

/// Renditions of invented photos, beside the program that shrinks them, run alone.
///
/// The floor starts one vipsthumbnail for each size of each photo, in as many processes at a time as there are
/// processors, without a sandbox; the large one is made of the original and the small one of the large. The row makes
/// the same two and a placeholder, in sandboxed batches of eight.
enum Renditions {
  static let names = ["S27 floor: vipsthumbnail alone, a photo", "S27 renditions, a photo"]
  private static let batch = 8

  /// How many photos there are, and their sides; few and small in libraries of less than ``Report/leastSize``.
  private static func shape(of size: Int) -> (count: Int, width: Int, height: Int) {
    size < Report.leastSize ? (4, 640, 480) : (32, 4000, 3000)
  }

  static func measure(_ stage: Stage, into report: inout Report) throws {
    guard report.wantsAny(of: names) else { return }
    let renderer = MediaRenderer()
    guard renderer.makesPictures else { return }
    let folder = FileManager.default.temporaryDirectory.appending(path: "renditions-\(getpid())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (count, wide, high) = shape(of: stage.size)
    let photos = try (0..<count).map { try invent($0, wide, high, in: folder) }
    let width = max(1, ProcessInfo.processInfo.activeProcessorCount)
    let samples = try Turns.measure(
      min(3, report.repetitions),
      { try alone(photos, width, in: folder) }, { try together(photos, width, by: renderer) })
    report.add(names[0], size: stage.size, caches: .warm, samples[0], operations: count)
    report.add(
      names[1], size: stage.size, caches: .warm, samples[1], operations: count,
      comparedWith: samples[0].quantile(0.5) / Double(count), goal: .atMost(1 / 0.9))
  }

  /// A photo with noise; one of 12 megapixels has about 3 MB.
  static func invent(_ number: Int, _ width: Int, _ height: Int, in folder: URL) throws -> URL {
    let file = folder.appending(path: "\(number).jpg")
    let noise = folder.appending(path: "\(number).v").path
    let sides = ["\(width)", "\(height)"]
    try run(["vips", "gaussnoise", noise] + sides + ["--sigma", "24", "--mean", "128", "--seed", "\(number)"])
    try run(["vips", "gaussblur", noise, "\(file.path)[Q=85]", "1.2"])
    unlink(noise)
    return file
  }

  private static func run(_ words: [String]) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = words
    process.environment = ProcessInfo.processInfo.environment.merging(["VIPS_CONCURRENCY": "1"]) { $1 }
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw WrongAnswer(description: "\(words[0]) failed.") }
  }

  private static func alone(_ photos: [URL], _ width: Int, in folder: URL) throws {
    try shared(photos, width, 1) { photos in
      let large = "\(photos[0].deletingPathExtension().path)-large.jpg"
      let small = "\(photos[0].deletingPathExtension().path)-small.jpg"
      let words = ["--eprofile", "srgb", "-o"]
      try run(["vipsthumbnail", photos[0].path, "--size", "1440x1440>"] + words + ["\(large)[Q=82,strip]"])
      try run(["vipsthumbnail", large, "--size", "x256>"] + words + ["\(small)[Q=80,strip]"])
    }
  }

  private static func together(_ photos: [URL], _ width: Int, by renderer: MediaRenderer) throws {
    try shared(photos, width, batch) { photos in
      for outcome in renderer.renditions(of: photos) { _ = try outcome.get() }
    }
  }

  /// Gives the photos in groups to threads.
  private static func shared(
    _ photos: [URL], _ width: Int, _ size: Int, _ body: @escaping @Sendable ([URL]) throws -> Void
  ) throws {
    let groups = stride(from: 0, to: photos.count, by: size).map { Array(photos[$0..<min($0 + size, photos.count)]) }
    let failures = Failures()
    let places = DispatchSemaphore(value: width)
    let all = DispatchGroup()
    for group in groups {
      places.wait()
      all.enter()
      Thread.detachNewThread {
        do { try body(group) } catch { failures.add(error) }
        places.signal()
        all.leave()
      }
    }
    all.wait()
    if let first = failures.first { throw first }
  }

  /// The errors of threads.
  private final class Failures: @unchecked Sendable {  // guarded by: `lock`
    private let lock = NSLock()
    private var errors: [any Error] = []

    func add(_ error: any Error) { lock.withLock { errors.append(error) } }
    var first: (any Error)? { lock.withLock { errors.first } }
  }
}
