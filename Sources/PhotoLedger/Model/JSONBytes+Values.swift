package import Foundation

// Dates as text (RFC 3339), in three forms that must not be confused:
//
//     instant, offset known      2024-05-31T18:30:00+02:00     the camera wrote its offset
//     instant, offset unknown    2024-05-31T16:30:00Z          RFC 3339 section 4.3, as RFC 9557 updates it
//     wall time                  2024-05-31T18:30:00           what the camera's clock showed; no zone at all
//
// A fraction has up to six digits, without trailing zeros; the log holds microseconds.

extension JSONBytes {
  /// The years 0 to 9999, which RFC 3339 has, in seconds from 1970.
  private static let years = -62_167_219_200.0..<253_402_300_800

  /// Writes an instant, at an offset if it is known.
  package mutating func instant(_ date: Date, offset: Int? = nil) {
    // RFC 3339 has whole minutes; an offset with seconds cannot be said.
    guard let offset, offset % 60 == 0, abs(offset) < 86_400 else {
      wallTime(date)
      return raw("Z")
    }
    let wall = date.addingTimeInterval(Double(offset))
    // Nor can a time in another year than those, where UTC has one of them.
    if !Self.years.contains(wall.timeIntervalSince1970), Self.years.contains(date.timeIntervalSince1970) {
      wallTime(date)
      return raw("Z")
    }
    let minutes = offset.magnitude / 60
    wallTime(wall)
    raw((offset < 0 ? "-" : "+") as StaticString)
    digits(UInt64(minutes / 60), width: 2)
    raw(":")
    digits(UInt64(minutes % 60), width: 2)
  }

  /// Writes a date and a time of day without a zone.
  package mutating func wallTime(_ date: Date) {
    reserve(DateSpelling.longest)
    advance(by: dates.wallTime(date, at: start + count))
  }

  /// Writes a wall time to the minute, with a blank in its middle.
  package mutating func minute(_ date: Date) {
    reserve(DateSpelling.longest)
    advance(by: dates.minute(date, at: start + count))
  }

  /// Writes the shortest spelling that reads back as the same number; null for one that JSON cannot say.
  package mutating func number(_ value: Double) {
    guard value.isFinite else { return null() }
    if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 { return integer(whole) }
    if !thousandths(value) { self.value(value.description) }
  }

  /// Writes a number of at most three decimal places, as a time of a request in milliseconds is; false for any other.
  ///
  /// A decimal number of up to 15 digits is the shortest one that reads as its binary number, so it is what
  /// `description` would spell.
  private mutating func thousandths(_ value: Double) -> Bool {
    guard value.magnitude < 1e9 else { return false }
    var rest = UInt64((value.magnitude * 1000).rounded())
    guard Double(rest) / 1000 == value.magnitude else { return false }
    separate()
    if value < 0 { raw("-") }
    digits(rest / 1000)
    raw(".")
    rest %= 1000
    var width = 3
    while rest % 10 == 0, width > 1 { (rest, width) = (rest / 10, width - 1) }
    digits(rest, width: width)
    return true
  }
}

extension JSONBytes: RecordWriter {
  package mutating func double(_ value: Double) { number(value) }
  package mutating func text(_ value: String) { text(value, .shown) }
  package mutating func date(_ value: Date) { quoted { $0.instant(value) } }
  package mutating func write(wallTime value: Date) { quoted { $0.wallTime(value) } }
  package mutating func token(_ value: Token) { quoted { value.spell(into: &$0) } }
  package mutating func hexadecimalDigits(of bytes: [UInt8]) { bytes.withUnsafeBytes { hexadecimalText($0) } }
  package mutating func write(_ value: FieldValue, of field: AssetField) { describe(value, of: field) }
  package mutating func write(_ metadata: AssetMetadata) { metadata.write(to: &self) }
}

/// Spells dates; it keeps the last day, since neighbours of a list are mostly of the same day.
struct DateSpelling {
  /// How many bytes are written to at most.
  static let longest = 32

  /// A day by its number from 1970-01-01, and its ten characters; what follows them is of no use.
  private var last: (number: Int, text: SIMD16<UInt8>)?

  /// Writes a date and a time of day without a zone, and returns how many bytes it has.
  @inline(__always)
  mutating func wallTime(_ date: Date, at start: UnsafeMutableRawPointer) -> Int {
    let (day, microseconds) = Self.split(date)
    var place = start + self.day(day, at: start)
    let seconds = UInt32(truncatingIfNeeded: microseconds / 1_000_000)
    Self.put("T", seconds / 3600, at: place)
    Self.put(":", seconds / 60 % 60, at: place + 3)
    Self.put(":", seconds % 60, at: place + 6)
    place += 9
    let fraction = UInt32(truncatingIfNeeded: microseconds % 1_000_000)
    if fraction > 0 { place += Self.putFraction(fraction, at: place) }
    return place - start
  }

  /// Writes a wall time to the minute, with a blank in its middle, and returns how many bytes it has.
  mutating func minute(_ date: Date, at start: UnsafeMutableRawPointer) -> Int {
    let (day, microseconds) = Self.split(date)
    let place = start + self.day(day, at: start)
    let minutes = UInt32(truncatingIfNeeded: microseconds / 60_000_000)
    Self.put(" ", minutes / 60, at: place)
    Self.put(":", minutes % 60, at: place + 3)
    return place + 6 - start
  }

  private static func split(_ date: Date) -> (day: Int, microseconds: Int) {
    let total = Int(max(-9e17, min(9e17, (date.timeIntervalSince1970 * 1_000_000).rounded())))
    let (day, microseconds) = total.dividedDown(by: 86_400_000_000)
    return (day, microseconds)
  }

  /// Writes a day of the proleptic Gregorian calendar, by its number from 1970-01-01, and returns its length in bytes.
  @inline(__always)
  private mutating func day(_ number: Int, at start: UnsafeMutableRawPointer) -> Int {
    guard let last, last.number == number else { return newDay(number, at: start) }
    start.storeBytes(of: last.text, as: SIMD16<UInt8>.self)
    return 10
  }

  private mutating func newDay(_ number: Int, at start: UnsafeMutableRawPointer) -> Int {
    let date = CivilDate(numberSince1970: number)
    let year = UInt32(truncatingIfNeeded: date.year.magnitude)
    var place = start
    if date.year < 0 {
      place.storeBytes(of: UInt8(ascii: "-"), as: UInt8.self)
      place += 1
    }
    // The dates that `split` yields are in years of five digits at most.
    if year > 9999 {
      place.storeBytes(of: 0x30 + UInt8(truncatingIfNeeded: year / 10_000), as: UInt8.self)
      place += 1
    }
    place.storeBytes(of: JSONBytes.pair(UInt8(truncatingIfNeeded: year / 100 % 100)), as: UInt16.self)
    (place + 2).storeBytes(of: JSONBytes.pair(UInt8(truncatingIfNeeded: year % 100)), as: UInt16.self)
    Self.put("-", UInt32(truncatingIfNeeded: date.month), at: place + 4)
    Self.put("-", UInt32(truncatingIfNeeded: date.day), at: place + 7)
    let length = place + 10 - start
    if length == 10 { last = (number, start.loadUnaligned(as: SIMD16<UInt8>.self)) }
    return length
  }

  /// Writes a mark, and a number below 100 in two digits.
  @inline(__always)
  private static func put(_ mark: Unicode.Scalar, _ number: UInt32, at place: UnsafeMutableRawPointer) {
    place.storeBytes(of: UInt8(ascii: mark), as: UInt8.self)
    (place + 1).storeBytes(of: JSONBytes.pair(UInt8(truncatingIfNeeded: number)), as: UInt16.self)
  }

  /// Writes a point and six decimal places without the zeroes at their end, and returns how many bytes those are.
  private static func putFraction(_ microseconds: UInt32, at place: UnsafeMutableRawPointer) -> Int {
    put(".", microseconds / 10_000, at: place)
    (place + 3).storeBytes(of: JSONBytes.pair(UInt8(truncatingIfNeeded: microseconds / 100 % 100)), as: UInt16.self)
    (place + 5).storeBytes(of: JSONBytes.pair(UInt8(truncatingIfNeeded: microseconds % 100)), as: UInt16.self)
    var length = 7
    while (place + length - 1).load(as: UInt8.self) == UInt8(ascii: "0") { length -= 1 }
    return length
  }
}
