import Foundation
import PhotoLedger

// A library of any size, drawn day by day: empty days, days with an event, runs of nearly equal pictures inside an
// event. Nothing is kept, so ten million assets take no memory. The same seed and size give the same assets.
//
//   day ──▶ empty │ an event of so many ──▶ picture, gap, picture, run of five within two seconds, gap …

/// The assets of an invented library, in the order of their addition.
struct InventedLibrary: Sequence, IteratorProtocol {
  let count: Int
  private var random: Seeded
  private var index = 0
  private var day = 0
  /// Seconds since 2001 of the last picture.
  private var instant = 0.0
  /// How many more the event has.
  private var ofEvent = 0
  /// The run that is going on: how many more, and its burst.
  private var ofRun = 0
  private var burst: String?
  private let days: Int
  /// The mean size of an event in the first year.
  private let firstMean: Double

  init(count: Int, seed: UInt64) {
    self.count = count
    random = Seeded(seed)
    let shareOfEvents = 1 - LibraryShape.emptyDayShare
    let ordinary = Double(count) / (LibraryShape.photosOfAnEvent * shareOfEvents)
    days = Swift.max(1, Swift.min(LibraryShape.longestSpan, Int(ordinary)))
    let years = Double(days) / 365
    let growth = LibraryShape.growth
    // The mean over the span is the sum of a geometric series over its years.
    let grown = years < 1 ? 1 : (pow(growth, years) - 1) / (log(growth) * years)
    firstMean = Double(count) / (Double(days) * shareOfEvents * grown)
  }

  mutating func next() -> InventedAsset? {
    guard index < count else { return nil }
    defer { index += 1 }
    if ofRun > 0 {
      ofRun -= 1
      ofEvent -= 1
      instant += 0.2
      var asset = picture(origin: .camera, inRun: true)
      asset.burst = burst
      return asset
    }
    while ofEvent <= 0 { beginDay() }
    ofEvent -= 1
    instant += Double(Int.random(in: LibraryShape.gapSeconds, using: &random))
    return drawn()
  }

  private mutating func beginDay() {
    day += 1
    guard !chance(LibraryShape.emptyDayShare) else { return }
    let month = day % 365 / 31
    let season = [6, 7, 11].contains(month) ? LibraryShape.season : 1
    let mean = firstMean * pow(LibraryShape.growth, Double(day) / 365) * season
    let sigma = LibraryShape.eventSigma
    ofEvent = Swift.max(1, Int(lognormal(median: mean * exp(-sigma * sigma / 2), sigma: sigma)))
    let morning = Double(day) * 86_400 + 6 * 3600
    instant = Swift.max(instant + 1, morning + Double(Int.random(in: 0..<43_200, using: &random)))
  }

  private mutating func drawn() -> InventedAsset {
    let lot = Double.random(in: 0..<1, using: &random)
    if lot < LibraryShape.screenshotShare { return picture(origin: .screen) }
    if lot < LibraryShape.screenshotShare + LibraryShape.messengerShare { return picture(origin: .messenger) }
    let mean = Double(LibraryShape.runLength.lowerBound + LibraryShape.runLength.upperBound) / 2
    let camera = 1 - LibraryShape.screenshotShare - LibraryShape.messengerShare
    // A draw that begins a run stands for all of it.
    if chance(LibraryShape.runShare / camera / mean) {
      ofRun = Int.random(in: LibraryShape.runLength, using: &random) - 1
      burst = chance(LibraryShape.burstShare) ? "BURST-\(index)" : nil
      var first = picture(origin: .camera, inRun: true)
      (first.burst, first.representsBurst) = (burst, burst != nil)
      return first
    }
    return picture(origin: .camera)
  }

  private mutating func picture(origin: InventedAsset.Origin, inRun: Bool = false) -> InventedAsset {
    var asset = InventedAsset(index: index, origin: origin, instant: instant)
    asset.isFavorite = chance(LibraryShape.favouriteShare)
    asset.isHidden = chance(LibraryShape.hiddenShare)
    // Trashing the first of a burst would make the next one its representative.
    asset.isTrashed = !inRun && chance(LibraryShape.trashShare)
    // What bears no date is given that of its import: midnight of the day, many at once.
    if chance(LibraryShape.undatedShare) { asset.instant = Double(day) * 86_400 }
    guard !inRun, origin == .camera else { return asset }
    asset.isVideo = chance(LibraryShape.videoShare / 0.6)
    if asset.isVideo {
      let (median, mean) = LibraryShape.videoSeconds
      asset.seconds = lognormal(median: median, sigma: (2 * log(mean / median)).squareRoot())
    } else {
      asset.isLive = chance(LibraryShape.liveShare)
    }
    if chance(LibraryShape.placedShare) {
      let (north, east) = (Double.random(in: -60..<70, using: &random), Double.random(in: -180..<180, using: &random))
      asset.location = .init(latitude: north, longitude: east)
    }
    return asset
  }

  /// The sizes of albums, until their members are ``LibraryShape/albumMembership`` of the library.
  static func albumSizes(of count: Int, seed: UInt64) -> [Int] {
    var draw = InventedLibrary(count: count, seed: seed)
    var left = Int(Double(count) * LibraryShape.albumMembership)
    var sizes: [Int] = []
    while left > 0 {
      let (median, sigma) = LibraryShape.albumSize
      let size = Swift.max(1, Swift.min(left, Int(draw.lognormal(median: median, sigma: sigma))))
      sizes.append(size)
      left -= size
    }
    return sizes
  }

  private mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }

  private mutating func lognormal(median: Double, sigma: Double) -> Double {
    // In (0, 1], since there is no logarithm of 0.
    let one = 1 - Double.random(in: 0..<1, using: &random)
    let two = Double.random(in: 0..<1, using: &random)
    return median * exp(sigma * (-2 * log(one)).squareRoot() * cos(2 * .pi * two))
  }
}
