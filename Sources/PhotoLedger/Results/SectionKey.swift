/// The length of the time ranges into which a result is divided.
public enum SectionGranularity: String, Hashable, Sendable, CaseIterable {
  /// A section for each day.
  case day
  /// A section for each month.
  case month
  /// A section for each year.
  case year
}

/// The key of a section: a day, a month or a year, or the objects without a date.
///
/// Years, months and days are those of the Gregorian calendar, carried on to before 1582 as ISO 8601 has it, so that a
/// key's text is that of the dates in it. Keys ascend as the dates do, and the missing date comes first, as in a sort.
public struct SectionKey: Hashable, Sendable {
  /// How long the section is.
  public let granularity: SectionGranularity
  /// The year; nil for the objects without a date.
  public let year: Int?
  /// The month, 1 to 12; nil in a section by year, and for the objects without a date.
  public let month: Int?
  /// The day of the month, from 1; nil in a section by month or year, and for the objects without a date.
  public let day: Int?

  init(_ granularity: SectionGranularity, _ date: CivilDate?) {
    self.granularity = granularity
    year = date?.year
    month = granularity == .year ? nil : date?.month
    day = granularity == .day ? date?.day : nil
  }

  /// Whether it is the section of the objects that lack the date.
  public var isUndated: Bool { year == nil }
}

extension SectionKey: CustomStringConvertible {
  /// The section as ISO 8601 writes it, such as `2024-05-31`, `2024-05` or `2024`; `undated` without a date.
  public var description: String {
    guard let year else { return "undated" }
    return ([year.padded(to: 4)] + [month, day].compactMap { $0?.padded(to: 2) }).joined(separator: "-")
  }
}

extension SectionKey: Comparable {
  /// Whether a section comes before another in ascending order.
  public static func < (one: SectionKey, other: SectionKey) -> Bool {
    guard let year = one.year, let otherYear = other.year else { return one.year == nil && other.year != nil }
    return (year, one.month ?? 0, one.day ?? 0) < (otherYear, other.month ?? 0, other.day ?? 0)
  }
}
