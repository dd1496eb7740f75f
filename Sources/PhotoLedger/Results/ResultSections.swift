import CountedTree
public import Foundation

// Sections of a result: how many of its objects were taken in each day, month or year.
//
// Problem. A timeline of a million photos needs its months and their counts before it draws anything, and again after
// every commit. Counters beside the result would have to be maintained for every query, granularity and time zone in
// use, at every change.
//
// A result whose first sort term is a date is already a counted tree in the order of that date. A section is a range of
// it, and its bound is a rank:
//
//     keys       │ Mar 30  Mar 31 │ Apr 2  Apr 2  Apr 17 │ May 1 …            rank(first instant of May) = 5
//     position     0       1        2      3      4        5
//
// So nothing is kept. The sections are enumerated by looking at the first key, finding its section's end by rank, and
// going on from there; the count of one section is the difference of two ranks. A held result answers for its own
// commit, as everything about it does.
//
// The leading word of a key is the date (SortTermEncoder.swift), inverted in descending order, which puts the larger
// instants first and the missing date last. A fetch limit and offset restrict the order to a window: a section's count
// is that of its objects in the window.
//
// Rejected: a table of counts by month in the store (one for each query, and wrong in every other time zone).

/// A range of a fetch result whose objects have their dates in one day, month or year.
public struct ResultSection: Hashable, Sendable, Identifiable {
  /// Which day, month or year it is; no two sections of a result have the same.
  public let key: SectionKey
  /// From the first instant of the section to the first one after it, both in UTC; nil for objects without a date.
  ///
  /// `DateInterval` holds its end too; an object with that date is in the next section.
  public let dateInterval: DateInterval?
  /// The position of the section's first object in the result.
  public let firstIndex: Int
  /// The number of the section's objects in the result, at least 1.
  public let count: Int

  /// The section's key.
  public var id: SectionKey { key }
  /// The positions of the section's objects in the result.
  public var indexes: Range<Int> { firstIndex..<(firstIndex + count) }

  init(_ span: SectionSpan, at positions: Range<Int>) {
    key = span.key
    // Bounds beyond what a calendar reaches are drawn in: an interval needs a finite length.
    let most = 1e16
    dateInterval = span.bounds.map { bounds in
      DateInterval(
        start: Date(timeIntervalSinceReferenceDate: max(-most, bounds.lowerBound)),
        end: Date(timeIntervalSinceReferenceDate: min(most, bounds.upperBound)))
    }
    firstIndex = positions.lowerBound
    count = positions.count
  }
}

extension FetchResult {
  /// Divides the result into the days, months or years of the date that it is sorted by.
  ///
  /// Sections come in the order of the result, and those without an object are left out. Objects that lack the date are
  /// one section, the first in ascending order and the last in descending. With a fetch limit or offset the shown
  /// objects are counted (FR-05).
  ///
  /// A day begins at the first instant at which the wall clock of the time zone shows it, so a day can have 23 or 25
  /// hours. Where a clock that is set back returns to the day before, the repeated hour belongs to the new day.
  /// - Parameters:
  ///   - granularity: how long a section is.
  ///   - zone: whose days, months and years. A result sorted by `localCreationDate`, wall times held as though they
  ///     were UTC, wants GMT.
  /// - Returns: the sections; their positions are positions in this result.
  /// - Throws: ``FetchError`` `unsupportedSort` if the first term of the result's sort is not a date.
  /// - Complexity: O(s log n) for s sections and n objects.
  public func sections(by granularity: SectionGranularity, in zone: TimeZone = .gmt) throws -> [ResultSection] {
    let core = try core
    let ruler = try SectionRuler(core, SectionCalendar(granularity, in: zone))
    let shown = core.shown
    return try ruler.spans().map { span in
      ResultSection(span, at: ruler.positions(of: span).shifted(by: -shown.lowerBound))
    }
  }
}

/// Finds the sections of a result by rank.
struct SectionRuler {
  private let order: ResultOrder
  private let shown: Range<Int>
  private let calendar: SectionCalendar
  let isAscending: Bool

  /// - Throws: ``FetchError`` `unsupportedSort` if the result's first sort term is not a date.
  init(_ core: ResultCore, _ calendar: SectionCalendar) throws(FetchError) {
    let sort = core.plan.query.sort
    guard let term = sort.first, term.key.valueKind == .date else {
      let order = sort.isEmpty ? "in its natural order" : "sorted by '\(sort[0])'"
      throw FetchError(
        .unsupportedSort, sort.first?.key.rawValue ?? "",
        """
        A result that is \(order) has no sections by \(calendar.granularity.rawValue); \
        sort it by a date first, such as creationDate or creationDate:desc.
        """)
    }
    order = core.order
    shown = core.shown
    self.calendar = calendar
    isAscending = term.ascending
  }

  /// All sections that hold a shown object, in the order of the result.
  /// - Throws: ``LibraryError`` `.corrupted` for a stored date that is not a finite number.
  /// - Complexity: O(s log n).
  func spans() throws(LibraryError) -> [SectionSpan] {
    var spans: [SectionSpan] = []
    var position = shown.lowerBound
    while position < shown.upperBound {
      let span = span(at: position)
      let end = end(of: span)
      guard end > position else {
        throw .contradiction("the date of object \(order.number(at: position)) in a fetch result")
      }
      spans.append(span)
      position = end
    }
    return spans
  }

  /// The sections of the objects at shown positions.
  /// - Parameter positions: ascending, in the result.
  /// - Complexity: O(k log n), with one look for each section that the positions lie in.
  func spans(at positions: [Int]) -> [SectionSpan] {
    var spans: [SectionSpan] = []
    var end = 0
    for position in positions where position + shown.lowerBound >= end {
      let span = span(at: position + shown.lowerBound)
      end = self.end(of: span)
      spans.append(span)
    }
    return spans
  }

  /// The positions of the shown objects of a section, in the whole order.
  /// - Complexity: O(log n).
  func positions(of span: SectionSpan) -> Range<Int> {
    let words = words(of: span)
    let (lower, upper) = (rank(of: words.lowerBound), rank(of: words.upperBound))
    return (isAscending ? lower..<upper : upper..<lower).clamped(to: shown)
  }

  private func span(at position: Int) -> SectionSpan {
    let word = order.leadingWord(at: position)
    let date = SortKeyEncoder<AssetRow>.number(of: isAscending ? word : ~word)
    return date.map { calendar.span(holding: $0) } ?? calendar.undated
  }

  private func end(of span: SectionSpan) -> Int {
    let words = words(of: span)
    return rank(of: isAscending ? words.upperBound : words.lowerBound)
  }

  /// The words that the dates of a section have in ascending order; a missing date is the word 0.
  private func words(of span: SectionSpan) -> Range<UInt64> {
    guard let bounds = span.bounds else { return 0..<1 }
    let word = { SortKeyEncoder<AssetRow>.word(of: $0) }
    return word(bounds.lowerBound)..<word(bounds.upperBound)
  }

  /// How many keys of the order come before those whose ascending word a bound divides from the others.
  private func rank(of bound: UInt64) -> Int {
    isAscending ? order.prefixCount { $0 < bound } : order.prefixCount { ~$0 >= bound }
  }
}

extension Range<Int> {
  fileprivate func shifted(by distance: Int) -> Range<Int> { (lowerBound + distance)..<(upperBound + distance) }
}

extension ResultOrder {
  /// The word that the key at a position begins with: that of the first sort term.
  fileprivate func leadingWord(at position: Int) -> UInt64 {
    switch self {
    case .narrow(let tree): tree[position].word
    case .wide(let tree): tree[position].leadingWord
    }
  }

  /// How many keys begin with words that satisfy a condition, which must hold for a prefix of the order.
  /// - Complexity: O(log n).
  fileprivate func prefixCount(whileLeadingWord isBefore: (UInt64) -> Bool) -> Int {
    switch self {
    case .narrow(let tree): tree.lowerBound { isBefore($0.word) }
    case .wide(let tree): tree.lowerBound { isBefore($0.leadingWord) }
    }
  }
}

extension WideKey {
  /// The first eight bytes; a first term over a number or a date fills them.
  fileprivate var leadingWord: UInt64 {
    bytes.withUnsafeBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
  }
}
