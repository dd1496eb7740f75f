package import Foundation

// From an instant to its section, and from a section to its bounds.
//
// Problem. A result is sorted by instants, and a section of it must be one range of that order. A wall clock does not
// only advance: it skips hours in spring, repeats an hour in autumn, and sometimes goes back across midnight. A day has
// 23, 24 or 25 hours, and in some places some days never existed.
//
//     St. John's, 29 October 2006; the clock goes back one hour at one minute past midnight
//
//     wall clock     28th 23:59 │ 29th 00:00 │ 28th 23:01 … 23:59 │ 29th 00:00 …
//     section        28th       │ 29th
//                               └ the first instant at which the clock shows the 29th, or later
//
// So a section begins at the first instant at which the wall clock shows its first day or a later one, and ends where
// the next begins. Sections then follow each other without gap or overlap, whatever the clock does, and the bounds are
// those that Foundation's Calendar gives for the start of a day, a month and a year.
//
// Civil dates are computed here and only the offset from UTC is requested from the zone: a Calendar needs some
// microseconds for an interval, more than the tree for its ranks. All is done in whole seconds since 2001, because
// offsets are whole and a sum of doubles near midnight could round to the wrong day.
//
// Invariant, tested against Calendar: start <= instant < end, and the section of every instant in between is the same.
//
// Rejected: the wall date itself as the section (the 28th above would be two ranges, with the 29th in between).

/// A time range, or the section of the objects without a date.
package struct SectionSpan: Hashable, Sendable {
  package let key: SectionKey
  /// From the first instant to the first one after it, in seconds since 2001; nil without a date.
  package let bounds: Range<Double>?
}

/// Divides time into the days, months or years of a time zone.
package struct SectionCalendar: Sendable {
  package let granularity: SectionGranularity
  package let zone: TimeZone

  package init(_ granularity: SectionGranularity, in zone: TimeZone) {
    self.granularity = granularity
    self.zone = zone
  }

  /// An asset's date may be any finite number. Those further than this from 2001, 30 million years, count as this far.
  private static let limitSeconds = 1_000_000_000_000_000
  /// The largest distance from 2001 for which the zone is consulted, 30 thousand years; beyond, its offset is constant.
  private static let askedSeconds = 1_000_000_000_000
  /// More than any offset from UTC, and less than the time between two changes of one.
  private static let reachSeconds = 19 * 3600

  /// The place of the objects without a date.
  package var undated: SectionSpan { SectionSpan(key: SectionKey(granularity, nil), bounds: nil) }

  /// The section that holds an instant.
  /// - Parameter instant: seconds since 2001, finite.
  package func span(holding instant: Double) -> SectionSpan {
    let limit = Self.limitSeconds
    let seconds = Int(max(-Double(limit), min(Double(limit), instant)).rounded(.down))
    var first = firstDay(of: CivilDate(number: (seconds + offset(at: seconds)).dividedDown(by: 86_400).quotient))
    var next = firstDay(after: first)
    var end = start(of: next)
    // The clock went back over midnight: the next section has begun although the clock shows this one again.
    while end <= seconds {
      first = next
      next = firstDay(after: first)
      end = start(of: next)
    }
    let start = start(of: first)
    return SectionSpan(
      key: SectionKey(granularity, first),
      bounds: (start <= -limit ? -.infinity : Double(start))..<(end > limit ? .infinity : Double(end)))
  }

  private func firstDay(of date: CivilDate) -> CivilDate {
    switch granularity {
    case .day: date
    case .month: CivilDate(year: date.year, month: date.month, day: 1)
    case .year: CivilDate(year: date.year, month: 1, day: 1)
    }
  }

  private func firstDay(after first: CivilDate) -> CivilDate {
    switch granularity {
    case .day: CivilDate(number: first.number + 1)
    case .month where first.month < 12: CivilDate(year: first.year, month: first.month + 1, day: 1)
    case .month, .year: CivilDate(year: first.year + 1, month: 1, day: 1)
    }
  }

  /// The first instant at which the wall clock shows a day or a later one, in seconds since 2001.
  private func start(of day: CivilDate) -> Int {
    let midnight = day.number * 86_400
    var (low, high) = (midnight - Self.reachSeconds, midnight + Self.reachSeconds)
    let (old, new) = (offset(at: low), offset(at: high))
    guard old != new else { return midnight - old }
    // The offset changes once in between; `high` becomes the first second of the new one.
    while high - low > 1 {
      let middle = low + (high - low) / 2
      if offset(at: middle) == old { low = middle } else { high = middle }
    }
    return midnight - old < high ? midnight - old : max(high, midnight - new)
  }

  private func offset(at seconds: Int) -> Int {
    let asked = max(-Self.askedSeconds, min(Self.askedSeconds, seconds))
    return zone.secondsFromGMT(for: Date(timeIntervalSinceReferenceDate: Double(asked)))
  }
}
