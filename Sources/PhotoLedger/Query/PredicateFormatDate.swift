package import Foundation

extension Date {
  /// Reads `2024-05-31T18:30:00.25+02:00` (RFC 3339); a day alone is its first instant, in UTC.
  ///
  /// Written by hand because Foundation's parsers allocate a calendar's worth of state, and because a date of a query
  /// must be one instant: no locale, no guess at an offset.
  /// - Parameters:
  ///   - text: the date; a blank may replace the T.
  ///   - isWallTime: whether the offset may be omitted, as for the wall time of a camera.
  package init?(rfc3339 text: String, isWallTime: Bool = false) {
    var reader = DigitReader(bytes: Array(text.utf8))
    guard let year = reader.digits(4), reader.take("-"), let month = reader.digits(2), reader.take("-"),
      let day = reader.digits(2), (1...12).contains(month), (1...Self.days(in: month, of: year)).contains(day)
    else { return nil }
    var seconds = Self.daysSince2001(year, month, day) * 86400
    var fraction = 0.0
    if !reader.isAtEnd {
      guard reader.take("T") || reader.take("t") || reader.take(" "), let hour = reader.digits(2), reader.take(":"),
        let minute = reader.digits(2), reader.take(":"), let second = reader.digits(2),
        hour < 24, minute < 60, second <= 60
      else { return nil }
      seconds += hour * 3600 + minute * 60 + second
      if reader.take(".") {
        guard let part = reader.fraction() else { return nil }
        fraction = part
      }
      guard let offset = reader.offset() ?? (isWallTime && reader.isAtEnd ? 0 : nil), reader.isAtEnd else { return nil }
      seconds -= offset
    }
    self.init(timeIntervalSinceReferenceDate: Double(seconds) + fraction)
  }

  private static func days(in month: Int, of year: Int) -> Int {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
  }

  /// Days of the Gregorian calendar, counted from years that begin in March, so that the leap day comes last.
  private static func daysSince2001(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let monthFromMarch = (month + 9) % 12
    let leaps = year.quarters(4) - year.quarters(100) + year.quarters(400)
    let days = year * 365 + leaps + (monthFromMarch * 153 + 2) / 5 + day - 1
    return days - 730_791
  }
}

extension Int {
  /// The quotient rounded down.
  fileprivate func quarters(_ divisor: Int) -> Int { self >= 0 ? self / divisor : (self - divisor + 1) / divisor }
}

private struct DigitReader {
  let bytes: [UInt8]
  var index = 0

  var isAtEnd: Bool { index == bytes.count }

  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
    index += 1
    return true
  }

  private mutating func digit() -> Int? {
    guard index < bytes.count, (0x30...0x39).contains(bytes[index]) else { return nil }
    index += 1
    return Int(bytes[index - 1]) - 0x30
  }

  mutating func digits(_ count: Int) -> Int? {
    var number = 0
    for _ in 0..<count {
      guard let digit = digit() else { return nil }
      number = number * 10 + digit
    }
    return number
  }

  /// The digits after a point, as a number below 1.
  mutating func fraction() -> Double? {
    let start = index
    while digit() != nil {}
    guard index > start else { return nil }
    return Double("0." + String(decoding: bytes[start..<index], as: UTF8.self))
  }

  /// `Z` or `+hh:mm`, in seconds.
  mutating func offset() -> Int? {
    if take("Z") || take("z") { return 0 }
    let isWest = take("-")
    guard isWest || take("+"), let hours = digits(2), take(":"), let minutes = digits(2), hours < 24, minutes < 60
    else { return nil }
    return (hours * 3600 + minutes * 60) * (isWest ? -1 : 1)
  }
}
