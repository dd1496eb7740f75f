/// A day of the Gregorian calendar, also before there was one (ISO 8601).
package struct CivilDate: Hashable, Sendable {
  /// The year; 0 is the one before the year 1.
  package let year: Int
  /// The month, 1 to 12.
  package let month: Int
  /// The day of the month, from 1.
  package let day: Int

  init(year: Int, month: Int, day: Int) {
    (self.year, self.month, self.day) = (year, month, day)
  }

  /// A day that there is; nil for another month than 1 to 12, and for a day that the month does not have.
  package init?(_ year: Int, _ month: Int, _ day: Int) {
    guard (1...12).contains(month), day >= 1, day <= Self.dayCount(ofMonth: month, in: year) else { return nil }
    self.init(year: year, month: month, day: day)
  }

  private static func dayCount(ofMonth month: Int, in year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The days from 1 March of the year 0 to 1 January 2001; counted so, a leap day is the last of its year.
  private static let epoch = 730_791
  /// The days from 1970-01-01 to 2001-01-01.
  private static let daysTo2001 = 11_323

  /// The date of a day.
  /// - Parameter number: days since 2001-01-01.
  init(number: Int) {
    let (era, dayOfEra) = (number + Self.epoch).dividedDown(by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    month = shifted < 10 ? shifted + 3 : shifted - 9
    day = dayOfYear - (153 * shifted + 2) / 5 + 1
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// The date of a day.
  /// - Parameter number: days since 1970-01-01.
  package init(numberSince1970 number: Int) { self.init(number: number - Self.daysTo2001) }

  /// Days since 2001-01-01.
  package var number: Int {
    let (era, yearOfEra) = (month <= 2 ? year - 1 : year).dividedDown(by: 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - Self.epoch
  }

  /// Days since 1970-01-01.
  package var numberSince1970: Int { number + Self.daysTo2001 }
}

extension Int {
  /// The quotient rounded down, and the remainder, which is never negative.
  func dividedDown(by divisor: Int) -> (quotient: Int, remainder: Int) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
