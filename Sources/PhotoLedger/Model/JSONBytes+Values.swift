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
    let (day, microseconds) = Self.split(date)
    let time = UInt64(max(0, microseconds))
    let seconds = UInt32(truncatingIfNeeded: time / 1_000_000)
    self.day(day)
    reserve(9)
    let place = start + count
    Self.put("T", seconds / 3600, at: place)
    Self.put(":", seconds / 60 % 60, at: place + 3)
    Self.put(":", seconds % 60, at: place + 6)
    advance(by: 9)
    var (rest, width) = (time % 1_000_000, 6)
    guard rest > 0 else { return }
    while rest % 10 == 0 { (rest, width) = (rest / 10, width - 1) }
    raw(".")
    digits(rest, width: width)
  }

  /// Writes a wall time to the minute, with a blank in its middle.
  package mutating func minute(_ date: Date) {
    let (day, microseconds) = Self.split(date)
    self.day(day)
    raw(" ")
    let minutes = UInt64(microseconds / 60_000_000)
    digits(minutes / 60, width: 2)
    raw(":")
    digits(minutes % 60, width: 2)
  }

  /// Writes a mark, and a number below 100 in two digits.
  @inline(__always)
  private static func put(_ mark: Unicode.Scalar, _ number: UInt32, at place: UnsafeMutableRawPointer) {
    place.storeBytes(of: UInt8(ascii: mark), as: UInt8.self)
    (place + 1).storeBytes(of: pair(UInt8(truncatingIfNeeded: number)), as: UInt16.self)
  }

  private static func split(_ date: Date) -> (day: Int, microseconds: Int) {
    let total = Int(max(-9e17, min(9e17, (date.timeIntervalSince1970 * 1_000_000).rounded())))
    let day = Int((Double(total) / 86_400_000_000).rounded(.down))
    return (day, total - day * 86_400_000_000)
  }

  /// Writes a day of the proleptic Gregorian calendar, by its number from 1970-01-01.
  private mutating func day(_ number: Int) {
    let date = CivilDate(numberSince1970: number)
    if date.year < 0 { raw("-") }
    digits(UInt64(date.year.magnitude), width: 4)
    reserve(6)
    let place = start + count
    Self.put("-", UInt32(truncatingIfNeeded: date.month), at: place)
    Self.put("-", UInt32(truncatingIfNeeded: date.day), at: place + 3)
    advance(by: 6)
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
