import Foundation
import PhotoLedger
import Photos

/// What Apple's names cost over the core's own calls.
enum PhotosModule {
  static func measure(size: Int, into report: inout Report) throws {
    guard report.wantsAny("photos fetch", "photos object") else { return }
    try MeasuredLibrary.make(size) { library, assets in
      PHPhotoLibrary.bootstrap(library)
      try fetches(library, size, into: &report)
      try objects(library, size, into: &report)
    }
  }

  /// The newest first, as a grid asks for them; both ways in turn, so that the machine's moods meet both.
  private static func fetches(_ library: PhotoLibrary, _ size: Int, into report: inout Report) throws {
    var options = FetchOptions()
    options.sort = [try SortTerm("creationDate:desc", for: .asset)]
    let spelled = PHFetchOptions()
    spelled.sortDescriptors = [NSSortDescriptor(key: "creationDate", ascending: false)]
    let (core, photos) = try inTurn(report) { found in
      found = try library.fetchAssets(options).count
    } and: { found in
      found = PHAsset.fetchAssets(with: spelled).count
    }
    report.add("photos fetch, core", size: size, caches: .warm, core.sample)
    report.add(
      "photos fetch, PHAsset.fetchAssets(with:)", size: size, caches: .warm, photos.sample,
      comparedWith: core.sample.quantile(0.5), goal: .atMost(1.2))
    guard core.found == size, photos.found == size else {
      throw WrongAnswer(description: "Fetches found \(core.found) and \(photos.found) assets instead of \(size).")
    }
  }

  private static let objectCount = 2000

  private static func objects(_ library: PhotoLibrary, _ size: Int, into report: inout Report) throws {
    let held = try library.fetchAssets()
    let result = PHAsset.fetchAssets(with: nil)
    var random = Seeded(5)
    let indexes = (0..<objectCount).map { _ in Int.random(in: 0..<size, using: &random) }
    let (core, photos) = try inTurn(report) { found in
      found = try indexes.reduce(0) { try $0 &+ held.object(at: $1).pixelWidth }
    } and: { found in
      found = indexes.reduce(0) { $0 &+ result.object(at: $1).pixelWidth }
    }
    report.add("photos object, core", size: size, caches: .warm, core.sample, operations: objectCount)
    report.add(
      "photos object, PHFetchResult.object(at:)", size: size, caches: .warm, photos.sample, operations: objectCount,
      comparedWith: core.sample.quantile(0.5) / Double(objectCount), goal: .atMost(1.2))
    guard core.found == photos.found else { throw WrongAnswer(description: "The two results hold other objects.") }
  }

  private typealias Measured = (sample: Sample, found: Int)

  private static func inTurn(
    _ report: Report, _ one: (inout Int) throws -> Void, and other: (inout Int) throws -> Void
  ) rethrows -> (Measured, Measured) {
    let stopwatch = Stopwatch()
    var found = (0, 0)
    var durations: ([Double], [Double]) = ([], [])
    for _ in 0..<max(1, min(21, report.repetitions)) {
      durations.0.append(try stopwatch.time { try one(&found.0) })
      durations.1.append(try stopwatch.time { try other(&found.1) })
    }
    return ((Sample(durations.0), found.0), (Sample(durations.1), found.1))
  }
}
