import EventLog
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import LibraryMaintenance
@testable import PhotoLedger

@Suite("catching up: work in proportion to the lag")
struct CatchingUpTests {
  @Test("reading an asset at each of its edits scans a few events for each, however many there are")
  func oneAsset() async throws {
    let count = 200
    let small = try SmallLibrary()
    let library = small.library
    let asset = try await small.assets(3)[1]
    let held = try library.fetchAssets()
    for index in 0..<count { try await Self.edit(asset, index, in: library) }
    let before = small.library.store.eventsCrossed.load(ordering: .relaxed)
    var iterator = library.changes(to: held, composingBeyond: .max).makeAsyncIterator()
    for index in 0..<count {
      let details = try #require(try await iterator.next())
      let position = try #require(details.changedIndexes?.first)
      let told = try details.fetchResultAfterChanges.object(at: position)
      #expect(told.pixelWidth == 1000 + index)
      #expect(try library.extendedMetadata(of: told).caption == "caption \(index)")
      #expect(try library.resources(of: told).count == 1)
    }
    let crossed = small.library.store.eventsCrossed.load(ordering: .relaxed) - before
    #expect(crossed <= 6 * count, "\(crossed) events for \(count) edits")
  }

  private static func edit(_ asset: LocalIdentifier, _ index: Int, in library: PhotoLibrary) async throws {
    var changes = AssetChanges()
    changes.pixelWidth = 1000 + index
    changes.caption = .set("caption \(index)")
    try await library.performChanges { $0.edit([asset], changes) }
  }

  @Test("continuing over a backlog copies none of it, though earlier data is kept for an error")
  func backlog() {
    let deltas = (0..<64).map { Delta(from: $0, to: $0 + 1, lastSequence: $0 + 1) }
    var arrival = Arrival(backlog: deltas)
    var (copies, passed): (Int, [UInt64]) = (0, [])
    while true {
      let before = arrival
      guard let delta = arrival.next() else { break }
      passed.append(delta.to)
      let places = [before, arrival].map { $0.backlog.withUnsafeBufferPointer(\.baseAddress) }
      if places[0] != places[1] { copies += 1 }
    }
    #expect(copies == 0)
    #expect(passed == Array(1...64), "oldest first")
  }

  @Test(
    "reading forward from a state gives what reading backward gives",
    arguments: 1...(Dose.isFull ? 4 : 2) as ClosedRange<UInt64>)
  func forwardAndBack(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let small = try SmallLibrary()
    let (library, store) = (small.library, small.library.store)
    let assets = try await small.assets(3)
    let album = try await library.performChanges { $0.createAlbum(title: "0") }.created[0]
    let albumIdentifier = try #require(LocalIdentifier(album))
    for index in 0..<60 {
      let asset = assets[Int(random.next() % 3)]
      switch random.next() % 4 {
      case 0: try await library.performChanges { $0.setTitle("title \(index)", of: albumIdentifier) }
      case 1: try await library.performChanges { $0.setFavorite(index % 2 == 0, for: [asset]) }
      default: try await Self.edit(asset, index, in: library)
      }
    }
    for round in 0..<300 {
      if round == 150 { _ = try library.eraseAssets([assets[0]]) }
      try store.reading { t in
        let head = try store.core.log.head(t).sequence
        let sequence = 2 + random.next() % (head - 1)
        for identifier in assets {
          guard let number = try store.core.projections.object(identifier, in: t)?.number else { continue }
          guard number.isReached(by: sequence) else { continue }
          var (row, details) = (
            try store.core.projections.asset(number, in: t), try store.core.projections.details(number, in: t)
          )
          try store.goBack(number, to: sequence, t) { event in
            try apply(event, toAsset: number, &row)
            try apply(event, toAsset: number, &details)
          }
          #expect(try store.assetRow(number, at: sequence, t) == row, "seed \(seed), round \(round)")
          #expect(try store.assetDetails(number, at: sequence, t) == details, "seed \(seed), round \(round)")
        }
        guard let number = try store.core.projections.object(albumIdentifier, in: t)?.number,
          number.isReached(by: sequence)
        else { return }
        var row = try store.core.projections.collection(number, in: t)
        try store.goBack(number, to: sequence, t) { event in try apply(event, toCollection: number, &row) }
        #expect(try store.collectionRow(number, at: sequence, t) == row, "seed \(seed), round \(round)")
      }
    }
  }
}
