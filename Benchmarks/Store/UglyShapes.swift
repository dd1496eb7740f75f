import BenchmarkSupport
import Foundation
import PhotoLedger

/// Whether the library keeps its pace when a library has become ugly.
enum UglyShapes {
  static let names = UglyShape.allCases.flatMap { shape in
    ["ugly, \(shape.rawValue), a change", "ugly, \(shape.rawValue), commit to observer after"]
  }

  static func measure(_ stage: Stage, into report: inout Report) throws {
    for (index, shape) in UglyShape.allCases.enumerated() {
      guard report.wantsAny(names[2 * index], names[2 * index + 1]), Stage.memoryFileSystem != nil else { continue }
      try stage.withCopy { library in
        let arrivals = Arrivals()
        let before = try library.fetchAssets(try .newestFirst())
        let albumCount = try library.fetchCollections(with: .album).count
        let observer = HeldResult(before, telling: arrivals)
        try library.register(observer)
        defer { library.unregisterChangeObserver(observer) }
        var times: [Double] = []
        for block in shape.blocks(for: stage.shown) {
          arrivals.expect(1)
          let start = ContinuousClock.now
          try library.performChangesAndWait(cause: shape.rawValue) { block($0) }
          times.append((try arrivals.wait() - start).nanoseconds)
        }
        try check(shape, library, stage, before, albumCount)
        let total = Sample([times.reduce(0, +)])
        report.add(
          names[2 * index], size: stage.size, caches: .warm, total, operations: shape.count(in: stage.shown.count))
        var touch = Touch(stage.shown)
        let after = try Observing.times(report.repetitions, arrivals, of: library, { touch.moving() })
        report.add(names[2 * index + 1], size: stage.size, caches: .warm, after)
      }
    }
  }

  private static func check(
    _ shape: UglyShape, _ library: PhotoLibrary, _ stage: Stage, _ before: FetchResult<Asset>,
    _ albumCount: Int
  ) throws {
    let after = try library.fetchAssets(try .newestFirst())
    let count = shape.count(in: stage.shown.count)
    let isRight: Bool
    switch shape {
    case .mishap: isRight = after.numbers == before.numbers
    case .tinyAlbums: isRight = try library.fetchCollections(with: .album).count == albumCount + count
    case .albumOfAll:
      let album = try library.fetchCollections(with: .album).last
      isRight = try album.map { try library.fetchAssets(FetchOptions(), in: $0).count } == count
    default: isRight = after.count == before.count
    }
    guard isRight else { throw WrongAnswer(description: "The library is not what '\(shape.rawValue)' should make it.") }
  }
}
