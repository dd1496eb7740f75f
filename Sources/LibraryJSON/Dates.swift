package import Foundation
package import PhotoLedger

// Dates as text (RFC 3339), in three forms that must not be confused:
//
//     instant, offset known      2024-05-31T18:30:00+02:00     the camera wrote its offset
//     instant, offset unknown    2024-05-31T16:30:00Z          RFC 3339 section 4.3, as RFC 9557 updates it
//     wall time                  2024-05-31T18:30:00           what the camera's clock showed; no zone at all
//
// A fraction has up to six digits, without trailing zeros; the log holds microseconds.

/// An instant in its original form.
package struct WrittenDate: Equatable {
  package var date: Date
  /// Seconds east of UTC; nil for `Z`.
  package var offset: Int?

  /// The wall time at the offset, held as though it were UTC.
  package var wallTime: Date? { offset.map { date.addingTimeInterval(Double($0)) } }

  /// Reads an instant; nil if the text is none.
  package init?(_ text: String) {
    var scanner = DateScanner(text)
    guard let wall = scanner.wallTime() else { return nil }
    if scanner.take("Z") || scanner.take("z") {
      date = wall
    } else {
      guard let offset = scanner.offset() else { return nil }
      self.offset = offset
      date = wall.addingTimeInterval(-Double(offset))
    }
    guard scanner.isAtEnd else { return nil }
  }
}

package enum DateText {
  /// Reads a wall time without a zone, held as though it were UTC; nil if the text is none.
  package static func wallTime(_ text: String) -> Date? {
    var scanner = DateScanner(text)
    guard let wall = scanner.wallTime(), scanner.isAtEnd else { return nil }
    return wall
  }

  /// An instant, at an offset if it is known.
  package static func instant(_ date: Date, offset: Int? = nil) -> String {
    text { write(date, offset: offset, to: &$0) }
  }

  /// Writes an instant, at an offset if it is known.
  package static func write(_ date: Date, offset: Int? = nil, to bytes: inout JSONBytes) {
    // RFC 3339 has whole minutes; an offset with seconds cannot be said.
    guard let offset, offset % 60 == 0, abs(offset) < 86_400 else {
      writeWallTime(date, to: &bytes)
      return bytes.raw("Z")
    }
    let minutes = offset.magnitude / 60
    writeWallTime(date.addingTimeInterval(Double(offset)), to: &bytes)
    bytes.raw((offset < 0 ? "-" : "+") as StaticString)
    bytes.digits(UInt64(minutes / 60), width: 2)
    bytes.raw(":")
    bytes.digits(UInt64(minutes % 60), width: 2)
  }

  /// A date and a time of day without a zone.
  package static func wallTime(_ date: Date) -> String { text { writeWallTime(date, to: &$0) } }

  /// Writes a date and a time of day without a zone.
  package static func writeWallTime(_ date: Date, to bytes: inout JSONBytes) {
    let (day, microseconds) = split(date)
    let time = UInt64(max(0, microseconds))
    let seconds = time / 1_000_000
    writeDay(day, to: &bytes)
    bytes.raw("T")
    bytes.digits(seconds / 3600, width: 2)
    bytes.raw(":")
    bytes.digits(seconds / 60 % 60, width: 2)
    bytes.raw(":")
    bytes.digits(seconds % 60, width: 2)
    var (fraction, width) = (time % 1_000_000, 6)
    guard fraction > 0 else { return }
    while fraction % 10 == 0 { (fraction, width) = (fraction / 10, width - 1) }
    bytes.raw(".")
    bytes.digits(fraction, width: width)
  }

  private static func text(_ write: (inout JSONBytes) -> Void) -> String {
    var bytes = JSONBytes(capacity: 40)
    write(&bytes)
    return bytes.text()
  }

  /// A date and a time of day to the minute, for people.
  package static func minute(_ date: Date) -> String { text { writeMinute(date, to: &$0) } }

  /// Writes a wall time to the minute, with a blank in its middle.
  package static func writeMinute(_ date: Date, to bytes: inout JSONBytes) {
    let (day, microseconds) = split(date)
    writeDay(day, to: &bytes)
    bytes.raw(" ")
    let minutes = UInt64(microseconds / 60_000_000)
    bytes.digits(minutes / 60, width: 2)
    bytes.raw(":")
    bytes.digits(minutes % 60, width: 2)
  }

  private static func split(_ date: Date) -> (day: Int, microseconds: Int) {
    let total = Int(max(-9e17, min(9e17, (date.timeIntervalSince1970 * 1_000_000).rounded())))
    let day = Int((Double(total) / 86_400_000_000).rounded(.down))
    return (day, total - day * 86_400_000_000)
  }

  /// Writes a day of the proleptic Gregorian calendar, by its number from 1970-01-01.
  private static func writeDay(_ number: Int, to bytes: inout JSONBytes) {
    // Counted from 1 March 0000, so that a leap day is the last of its year.
    let shifted = number + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
    if year < 0 { bytes.raw("-") }
    bytes.digits(UInt64(year.magnitude), width: 4)
    bytes.raw("-")
    bytes.digits(UInt64(month < 10 ? month + 3 : month - 9), width: 2)
    bytes.raw("-")
    bytes.digits(UInt64(dayOfYear - (153 * month + 2) / 5 + 1), width: 2)
  }

  package static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}

/// Reads the parts of a date from the front of a text.
private struct DateScanner {
  private var rest: Substring.UTF8View

  init(_ text: String) { rest = Substring(text).utf8 }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func number(_ digitCount: Int, _ range: ClosedRange<Int>) -> Int? {
    let digits = rest.prefix(digitCount)
    guard digits.count == digitCount, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    rest = rest.dropFirst(digitCount)
    let value = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    return range.contains(value) ? value : nil
  }

  mutating func wallTime() -> Date? {
    guard let year = number(4, 0...9999), take("-"), let month = number(2, 1...12), take("-"),
      let day = number(2, 1...Self.dayCount(year, month)), take("T") || take("t") || take(" "),
      let hour = number(2, 0...23), take(":"), let minute = number(2, 0...59), take(":"), let second = number(2, 0...60)
    else { return nil }
    var seconds = Double(Self.days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
    if take(".") {
      let digits = rest.prefix { (0x30...0x39).contains($0) }
      guard !digits.isEmpty, let fraction = Double("0." + (String(digits) ?? "")) else { return nil }
      rest = rest.dropFirst(digits.count)
      seconds += (fraction * 1_000_000).rounded() / 1_000_000
    }
    return Date(timeIntervalSince1970: seconds)
  }

  mutating func offset() -> Int? {
    let isWest = rest.first == UInt8(ascii: "-")
    guard take("+") || take("-"), let hours = number(2, 0...23), take(":"), let minutes = number(2, 0...59) else {
      return nil
    }
    return (hours * 3600 + minutes * 60) * (isWest ? -1 : 1)
  }

  private static func dayCount(_ year: Int, _ month: Int) -> Int {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
  }

  /// The number of a day from 1970-01-01, in the proleptic Gregorian calendar.
  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}
