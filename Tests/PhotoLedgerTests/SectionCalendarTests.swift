import Foundation
import PhotoLedger
import TestSupport
import Testing

@Suite("The calendar of sections")
struct SectionCalendarTests {
  @Test(
    "sections are the days, months and years of Foundation's calendar, at every bound and change of the clock",
    arguments: SectionZones.names)
  func agrees(_ name: String) throws {
    let zone = try TimeZone.named(name)
    var random = SeededGenerator(seed: 81)
    let dates = SectionZones.dates(in: zone, &random)
    #expect(dates.count > 1500)
    for granularity in SectionGranularity.allCases {
      let model = SectionModel(granularity, in: zone)
      let calendar = SectionCalendar(granularity, in: zone)
      // At the usual dose every second date, of the other half after each 120, which are about a year's: without that,
      // firsts of a month, which are every second edge, would miss half of the steps in each year.
      for (place, date) in dates.enumerated() where Dose.isFull || (place + place / 120).isMultiple(of: 2) {
        let expected = model.section(of: date)
        let span = calendar.span(holding: date.timeIntervalSinceReferenceDate)
        try #require(span.key.description == expected.key, "\(name): \(date.timeIntervalSinceReferenceDate)")
        let bounds = try #require(span.bounds)
        try #require(bounds.lowerBound == expected.interval?.start.timeIntervalSinceReferenceDate, "\(name): \(date)")
        try #require(bounds.upperBound == expected.interval?.end.timeIntervalSinceReferenceDate, "\(name): \(date)")
        try #require(bounds.contains(date.timeIntervalSinceReferenceDate), "\(name): \(date)")
      }
    }
  }

  @Test(
    "the sections of a zone follow each other without gap or overlap",
    arguments: SectionZones.names.prefix(Dose.isFull ? 10 : 5))
  func partition(_ name: String) throws {
    let calendar = SectionCalendar(.day, in: try .named(name))
    // From 1860 on, five days at a time: every change of every clock is inside some pair of neighbours.
    var instant = -4_449_500_000.0
    while instant < 2_000_000_000 {
      var span = calendar.span(holding: instant)
      for _ in 0..<5 {
        // Without expectations, of which there would be a million.
        guard let end = span.bounds?.upperBound else { throw Divergence("\(name): \(span) has no bounds.") }
        let next = calendar.span(holding: end)
        guard next.bounds?.lowerBound == end, span.key < next.key,
          calendar.span(holding: end.nextDown) == span
        else {
          Issue.record("\(name): \(span) and \(next), or the last instant of the first")
          return
        }
        span = next
      }
      instant = try #require(span.bounds?.lowerBound)
    }
  }

  @Test("a day has 23 hours in spring and 25 in autumn, and can occur twice or never")
  func lengths() throws {
    func hours(_ text: String, _ zone: String) throws -> [String] {
      let date = try Date(text, strategy: .iso8601).timeIntervalSinceReferenceDate
      let span = SectionCalendar(.day, in: try .named(zone)).span(holding: date)
      let bounds = try #require(span.bounds)
      return [span.key.description, "\((bounds.upperBound - bounds.lowerBound) / 3600)"]
    }
    #expect(try hours("2024-03-31T10:00:00Z", "Europe/Berlin") == ["2024-03-31", "23.0"])
    #expect(try hours("2024-10-27T10:00:00Z", "Europe/Berlin") == ["2024-10-27", "25.0"])
    #expect(try hours("2018-11-04T12:00:00Z", "America/Sao_Paulo") == ["2018-11-04", "23.0"])
    #expect(try hours("2011-12-30T09:59:59Z", "Pacific/Apia") == ["2011-12-29", "24.0"])
    #expect(try hours("2011-12-30T10:00:00Z", "Pacific/Apia") == ["2011-12-31", "24.0"])
    // Samoa had 4 July twice when it went over to the American side of the date line.
    #expect(try hours("1892-07-05T00:00:00Z", "Pacific/Apia") == ["1892-07-04", "48.0"])
    // The wall clock shows 23:30 of the 28th again; the 29th has begun and keeps the hour.
    #expect(try hours("2006-10-29T03:00:00Z", "America/St_Johns") == ["2006-10-29", "25.0"])
  }

  @Test("the Gregorian calendar is extended to before 1582, as in ISO 8601")
  func early() {
    func day(_ seconds: Double) -> String { SectionCalendar(.day, in: .gmt).span(holding: seconds).key.description }
    // The day before 15 October 1582, which Foundation calls the 4th.
    #expect(day(-13_197_600_000 - 1) == "1582-10-14" && day(-13_197_600_000) == "1582-10-15")
    #expect(day(Date.distantPast.timeIntervalSinceReferenceDate) == "0000-12-30")
    #expect(day(-63_113_904_000) == "0001-01-01" && day(-63_113_904_000 - 86_400 * 366 - 1) == "-0001-12-31")
  }

  @Test(
    "any finite date has a section",
    arguments: [1e11, 5e12, 1e15, 1e15 + 1, 1e17, 1e300, .greatestFiniteMagnitude])
  func far(_ seconds: Double) throws {
    for zone in ["GMT", "Europe/Berlin"] {
      for (granularity, instant) in [(SectionGranularity.day, seconds), (.month, -seconds), (.year, seconds)] {
        let span = SectionCalendar(granularity, in: try .named(zone)).span(holding: instant)
        #expect(span.bounds?.contains(instant) == true)
      }
    }
  }

  @Test("keys ascend as dates do, the missing date first, and are written as in ISO 8601")
  func keys() {
    let keys = [nil, -63_113_904_000, 0, 86_400, 3e6, 4e7].map { (seconds: Double?) in
      let calendar = SectionCalendar(.day, in: .gmt)
      return (seconds.map { calendar.span(holding: $0) } ?? calendar.undated).key
    }
    #expect(keys.shuffled().sorted() == keys)
    #expect(
      keys.map(\.description) == ["undated", "0001-01-01", "2001-01-01", "2001-01-02", "2001-02-04", "2002-04-08"])
    #expect(keys[0].isUndated && !keys[1].isUndated)
    #expect(SectionCalendar(.month, in: .gmt).span(holding: 0).key.description == "2001-01")
    #expect(SectionCalendar(.year, in: .gmt).span(holding: 0).key.description == "2001")
  }
}
