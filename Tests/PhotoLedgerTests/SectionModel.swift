import Foundation
import PhotoLedger
import TestSupport

// What sections are, said without ranks and without civil arithmetic: each date is asked of Foundation's Calendar, and
// neighbours with the same key are put together.

/// Sections by looking at every object.
struct SectionModel {
  let granularity: SectionGranularity
  private let calendar: Calendar

  init(_ granularity: SectionGranularity, in zone: TimeZone) {
    self.granularity = granularity
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    self.calendar = calendar
  }

  struct Section: Equatable, CustomStringConvertible {
    var key: String
    var interval: DateInterval?
    var firstIndex: Int
    var count: Int
    var description: String { "\(key) at \(firstIndex): \(count)" }
  }

  private var component: Calendar.Component {
    switch granularity {
    case .day: .day
    case .month: .month
    case .year: .year
    }
  }

  /// The section of a date: its text, and its bounds.
  func section(of date: Date) -> (key: String, interval: DateInterval?) {
    var date = date
    var interval = calendar.dateInterval(of: component, for: date)
    // A clock that was set back over midnight: the calendar's day has ended, and the wall shows it again.
    while let end = interval?.end, end <= date {
      date = end
      interval = calendar.dateInterval(of: component, for: date)
    }
    let parts = calendar.dateComponents([.year, .month, .day], from: date)
    let text = [(parts.year ?? 0, 4), (parts.month ?? 0, 2), (parts.day ?? 0, 2)].map { number, width in
      String(repeating: "0", count: max(0, width - String(number).count)) + String(number)
    }
    return (text.prefix(granularity == .day ? 3 : granularity == .month ? 2 : 1).joined(separator: "-"), interval)
  }

  /// The sections of a list of dates, in its order.
  func sections(of dates: [Date?]) -> [Section] { sections(of: dates, section) }

  /// The same, with another way to find out the section of a date.
  func sections(of dates: [Date?], _ section: (Date) -> (key: String, interval: DateInterval?)) -> [Section] {
    var sections: [Section] = []
    for (index, date) in dates.enumerated() {
      let (key, interval) = date.map(section) ?? ("undated", nil)
      if sections.last?.key == key {
        sections[sections.count - 1].count += 1
      } else {
        sections.append(Section(key: key, interval: interval, firstIndex: index, count: 1))
      }
    }
    return sections
  }

  /// What changed between two lists of sections, by key.
  static func changes(_ before: [Section], _ after: [Section]) -> [String: [Int]] {
    var counts: [String: [Int]] = [:]
    for section in before { counts[section.key, default: [0, 0]][0] += section.count }
    for section in after { counts[section.key, default: [0, 0]][1] += section.count }
    return counts.filter { $0.value[0] != $0.value[1] }
  }
}

extension SectionModel.Section {
  init(_ section: ResultSection) {
    self.init(
      key: section.key.description, interval: section.dateInterval, firstIndex: section.firstIndex,
      count: section.count)
  }
}

extension TimeZone {
  static func named(_ name: String) throws -> TimeZone {
    guard let zone = TimeZone(identifier: name) else { throw Divergence("There is no time zone \(name).") }
    return zone
  }
}

enum SectionZones {
  /// Zones whose clocks do something worth testing: summer time, a change at one minute past midnight, a gap at
  /// midnight, a day that never was, half an hour of summer time, whole-minute and fixed offsets.
  static let names = [
    "GMT", "Europe/Berlin", "America/St_Johns", "America/Sao_Paulo", "Pacific/Apia", "Australia/Lord_Howe",
    "Asia/Kathmandu", "GMT+05:45", "America/New_York", "Africa/Cairo",
  ]

  /// Those of random histories, each with the seed of its own; at the usual dose one with an ordinary summer time, and
  /// one whose clock changes a minute after midnight.
  static let seeded: [(zone: String, seed: UInt64)] = (Dose.isFull ? 0..<10 : 1..<3).map { place in
    (names[place], UInt64(300 + place))
  }

  static let years = [1584, 1893, 1919, 1969, 1970, 2000, 2001, 2006, 2011, 2024, 2099, 2216, 4001]

  /// Dates at and around the bounds of days, months and years, and of changes of the offset.
  static func dates(in zone: TimeZone, _ random: inout SeededGenerator) -> [Date] {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    var edges: [Date] = []
    for year in years {
      for month in [1, 3, 7, 12] {
        edges.append(calendar.date(from: DateComponents(year: year, month: month, day: 1)) ?? .distantPast)
        let day = random.int(2..<28)
        edges.append(calendar.date(from: DateComponents(year: year, month: month, day: day)) ?? .distantPast)
      }
      var next = edges[edges.count - 8]
      for _ in 0..<2 {
        guard let change = zone.nextDaylightSavingTimeTransition(after: next) else { break }
        // Where a clock is set back a whole day, Foundation's calendar gives days without length.
        let step = zone.secondsFromGMT(for: change) - zone.secondsFromGMT(for: change.addingTimeInterval(-1))
        if step > -43_200 { edges.append(change) }
        next = change
      }
    }
    let steps: [Double] = [0, -1e-6, -1, 1, 59, -60, 1800, -1800, 3599, 3600, -3600, 5400, 43_200, -86_400, 86_400]
    return edges.flatMap { edge in steps.map { edge.addingTimeInterval($0) } }
      + (0..<200).map { _ in
        Date(timeIntervalSinceReferenceDate: Double(random.int(-9_000_000_000..<9_000_000_000)) / 1.5)
      }
  }
}
