import Foundation
import JSONReading
import LibraryJSON
import PhotoLedger

extension Command {
  static let sections = Command(
    words: ["sections"], summary: "count assets by day, month or year",
    options: .looking + FetchArguments.options + [
      Option("by", "UNIT", "day, month (the default) or year"),
      Option("time-zone", "NAME", "the time zone of days, such as Europe/Berlin or +05:45"), .json,
    ],
    notes: """
      The sections are those of the first date in --sort. The default for --sort, also in an album, is \
      localCreationDate:desc, the newest first by the camera's wall clock; with --time-zone it is creationDate:desc. \
      Days are those of UTC unless --time-zone is given.


      """ + FetchArguments.notes,
    example: "sections --by month --where \"mediaType == 2\""
  ) { invocation in
    let request = try SectionRequest(invocation)
    return try invocation.withLibrary { library in
      let result = try FetchArguments.fetch(invocation, from: library, sortedBy: [request.term])
      let sections = try result.sections(by: request.granularity, in: request.zone)
      if invocation.printsJSON {
        for section in sections { try invocation.output.line(request.json(section)) }
      } else {
        try SectionTable(output: invocation.output, sections: sections).print()
      }
      return .done
    }
  }
}

/// What sections are asked for; read before the library is opened, because what is wrong is wrong in every library.
private struct SectionRequest {
  let granularity: SectionGranularity
  let zone: TimeZone
  /// The date whose sections they are.
  let term: SortTerm
  /// Whether the bounds of a section are printed with their offset from UTC.
  private let isInZone: Bool

  init(_ invocation: Invocation) throws {
    let unit = invocation.text("by") ?? "month"
    guard let granularity = SectionGranularity(rawValue: unit) else {
      let suggestion = Suggestion.sentence(for: unit, among: SectionGranularity.allCases.map(\.rawValue))
      throw UsageError("--by needs day, month or year; got '\(unit)'\(suggestion)")
    }
    self.granularity = granularity
    let name = invocation.text("time-zone")
    zone = try name.map(Self.zone) ?? .gmt
    isInZone = name != nil
    let sort = try FetchArguments.read(invocation).sort
    term = try sort.first ?? SortTerm(isInZone ? "creationDate:desc" : "localCreationDate:desc", for: .asset)
    guard term.key.valueKind == .date else {
      throw UsageError(
        "The first --sort of 'sections' must be a date, such as creationDate:desc; got '\(term.key.rawValue)'.")
    }
    guard !isInZone || term.key != .localCreationDate else {
      throw UsageError("--time-zone does not apply to localCreationDate, a wall time; sort by creationDate.")
    }
  }

  /// A time zone by its name, or by its offset from UTC.
  private static func zone(_ name: String) throws -> TimeZone {
    if let match = name.wholeMatch(of: #/([+-])(\d\d):?(\d\d)/#), let hours = Int(match.output.2),
      let minutes = Int(match.output.3), hours < 18, minutes < 60,
      let zone = TimeZone(secondsFromGMT: (hours * 60 + minutes) * (match.output.1 == "-" ? -60 : 60))
    {
      return zone
    }
    if let zone = TimeZone(identifier: name) { return zone }
    let suggestion = Suggestion.sentence(for: name, among: TimeZone.knownTimeZoneIdentifiers)
    throw UsageError(
      "--time-zone needs a name such as Europe/Berlin, or an offset such as +05:45; got '\(name)'\(suggestion)")
  }

  func json(_ section: ResultSection) -> JSON {
    [
      "section": section.key.isUndated ? .null : .text(section.key.description),
      "start": JSON(section.dateInterval.map { text($0.start) }),
      "end": JSON(section.dateInterval.map { text($0.end) }),
      "firstIndex": .integer(Int64(section.firstIndex)),
      "count": .integer(Int64(section.count)),
    ]
  }

  private func text(_ date: Date) -> String {
    if term.key == .localCreationDate { return DateText.wallTime(date) }
    return DateText.instant(date, offset: isInZone ? zone.secondsFromGMT(for: date) : nil)
  }
}

// The table of `sections`, for people; the longest bar is the largest section:
//
//     2024-05      1,204  ████████████████████████████████████████
//     2024-04         97  ███
//     undated          2  ▏

/// Prints sections as rows.
private struct SectionTable {
  let output: Output
  let sections: [ResultSection]

  func print() throws {
    let terminal = output.terminal
    let largest = sections.map(\.count).max() ?? 0
    let countWidth = max(6, TextLayout.grouped(largest).count)
    let barWidth = max(4, min(40, (terminal.width ?? 80) - 12 - 2 - countWidth - 2))
    if !sections.isEmpty {
      let heading = TextLayout.fitted("section", 12) + String(repeating: " ", count: countWidth - 4) + "assets"
      try output.line(terminal.styled(heading, .heading))
    }
    for section in sections {
      let count = TextLayout.grouped(section.count)
      let gap = String(repeating: " ", count: countWidth + 2 - count.count)
      let cells = section.count * barWidth / largest
      let bar = cells == 0 ? "▏" : String(repeating: "█", count: cells)
      try output.line(
        TextLayout.fitted(section.key.description, 12) + gap + count + "  " + terminal.styled(bar, .faint))
    }
    if terminal.isInteractive {
      let total = TextLayout.counted(sections.reduce(0) { $0 + $1.count }, "asset")
      try output.line(terminal.styled("\(total) in \(TextLayout.counted(sections.count, "section"))", .faint))
    }
  }
}
