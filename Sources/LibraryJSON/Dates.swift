package import Foundation
import PhotoLedger

// Dates as text; `JSONBytes+Values.swift` has the three forms and writes them.

/// An instant in its original form.
package struct WrittenDate: Equatable {
  package var date: Date
  /// Seconds east of UTC; nil for `Z`.
  package var offset: Int?

  /// The wall time at the offset, held as though it were UTC.
  package var wallTime: Date? { offset.map { date.addingTimeInterval(Double($0)) } }

  /// Reads an instant; nil if the text is not one.
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
  /// Reads a wall time without a zone, held as though it were UTC; nil if the text is not one.
  package static func wallTime(_ text: String) -> Date? {
    var scanner = DateScanner(text)
    guard let wall = scanner.wallTime(), scanner.isAtEnd else { return nil }
    return wall
  }

  /// An instant, at an offset if it is known.
  package static func instant(_ date: Date, offset: Int? = nil) -> String {
    text { $0.instant(date, offset: offset) }
  }

  /// A date and a time of day without a zone.
  package static func wallTime(_ date: Date) -> String { text { $0.wallTime(date) } }

  private static func text(_ write: (inout JSONBytes) -> Void) -> String {
    var bytes = JSONBytes(capacity: 40)
    write(&bytes)
    return bytes.text()
  }

  /// A wall time to the minute, for people.
  package static func minute(_ date: Date) -> String { text { $0.minute(date) } }

  /// An instant to the second, for people: in UTC, with its letter, as options read it.
  package static func second(_ date: Date) -> String {
    let whole = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))
    return instant(whole).replacing("T", with: " ")
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
      let day = number(2, 1...31), let date = CivilDate(year, month, day), take("T") || take("t") || take(" "),
      let hour = number(2, 0...23), take(":"), let minute = number(2, 0...59), take(":"), let second = number(2, 0...60)
    else { return nil }
    var seconds = Double(date.numberSince1970 * 86_400 + hour * 3600 + minute * 60 + second)
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
}
