import Foundation

// What the numbers of an asset may be.
//
// A number comes in from a caller, a line of JSON, a client's request or the metadata of a file; it is printed, sorted,
// added and converted for as long as the log exists. So each is checked once, by the writer, when a request is handled,
// and a number that no medium, place or date has is rejected there. The bounds are wide: they refuse mistakes and
// attacks, not what is unusual.
//
//     request ──▶ check (here) ──▶ event ──▶ row ──▶ answers          a new number is within the bounds
//     event written by an older program ──▶ row ──▶ answers           an old one is a number that can be printed
//
// Rejected: the same bounds where events are read. A library whose log has such a number, since an older program took
// it, is sound: it must open, and everything in it must be readable. Decoders refuse what has no meaning (a place off
// the Earth, a date that is not a number) and what cannot be counted with.

/// The bounds of the numbers that a new asset, or a change of one, may bring.
package enum AssetNumbers {
  /// Degrees north.
  package static let latitudes = -90.0...90.0
  /// Degrees east.
  package static let longitudes = -180.0...180.0
  /// Metres above sea level: from below the deepest trench to above every orbit that carries a camera near the Earth.
  package static let altitudes = -12_000.0...10_000_000.0
  /// Seconds: up to some 31 years.
  package static let durations = 0.0...1_000_000_000.0
  /// Pixels along a side, as displayed; 0 is unknown. The product of two fits a number.
  package static let sides = 0...Int(Int32.max)
  /// Seconds east of UTC: a day either way.
  static let offsets = -86_400...86_400
  /// Seconds from 1970: the years 0 to 9999, which RFC 3339 can spell, and a day on either side for the offset from
  /// UTC. Not dates, whose range holds the date that is not a number, neither before nor after another.
  static let dates = -62_167_219_200.0 - 86_400...253_402_300_799 + 86_400
  /// Bytes of a file: sums over a library fit a number.
  static let byteCounts: ClosedRange<UInt64> = 0...(1 << 50)

  /// - Throws: ``LibraryError`` `.invalidResource`, naming the number and its bounds.
  static func check(side: Int) throws(LibraryError) {
    try check(side, in: sides, "a side of \(side) pixels")
  }

  static func check(duration: Double) throws(LibraryError) {
    try check(duration, in: durations, "a duration of \(duration) s")
  }

  static func check(offset: Int) throws(LibraryError) {
    try check(offset, in: offsets, "an offset from UTC of \(offset) seconds")
  }

  static func check(date: Date) throws(LibraryError) {
    let seconds = date.timeIntervalSince1970
    guard !dates.contains(seconds) else { return }
    let what = seconds.isFinite ? "a date \(seconds) s from 1970" : "a date that is not a number"
    throw invalid(what, "the years 0 to 9999")
  }

  static func check(_ location: Location) throws(LibraryError) {
    var place: String { "a location at \(location.latitude), \(location.longitude)" }
    try check(location.latitude, in: latitudes, place)
    try check(location.longitude, in: longitudes, place)
    if let altitude = location.altitude { try check(altitude, in: altitudes, "an altitude of \(altitude) m") }
  }

  static func check(_ resource: AssetResource) throws(LibraryError) {
    try check(side: resource.pixelWidth)
    try check(side: resource.pixelHeight)
    try check(resource.dataSize, in: byteCounts, "a file of \(resource.dataSize) bytes")
  }

  /// A comparison with NaN is false, so NaN is rejected too.
  /// - Parameter what: the words for the number, which only an error needs.
  private static func check<Number: Comparable>(
    _ number: Number, in range: ClosedRange<Number>, _ what: @autoclosure () -> String
  ) throws(LibraryError) {
    guard range.contains(number) else { throw invalid(what(), "\(range.lowerBound) to \(range.upperBound)") }
  }

  private static func invalid(_ what: String, _ bounds: String) -> LibraryError {
    LibraryError(.invalidResource, "An asset cannot have \(what), only \(bounds); correct the request.")
  }
}
