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
      let day = reader.digits(2), let date = CivilDate(year, month, day)
    else { return nil }
    var seconds = date.number * 86400
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
