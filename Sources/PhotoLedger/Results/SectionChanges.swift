public import Foundation

/// A section of a result that has another count than before.
public struct SectionChange: Hashable, Sendable, Identifiable {
  /// Which day, month or year it is.
  public let key: SectionKey
  /// The number of the section's objects in *before*; 0 if the section is new.
  public let countBefore: Int
  /// The number of the section's objects in *after*; 0 if the section no longer exists.
  public let countAfter: Int

  /// The section's key.
  public var id: SectionKey { key }
}

extension ChangeDetails {
  /// The sections whose counts differ between *before* and *after*, in the order of *after*.
  ///
  /// The answer is always that of comparing ``FetchResult/sections(by:in:)`` of both results. It is worked out from the
  /// positions of the objects that were removed, inserted and changed: any other is in the section in which it was.
  /// Only where these are not known (CD-14, CD-15), or do not come from commits (CD-20), the two lists of sections are
  /// compared.
  ///
  /// An object that went from one section to another changes both. Where one came and another went, the count is the
  /// same and the section left out.
  /// - Parameters:
  ///   - granularity: how long a section is.
  ///   - zone: whose days, months and years; see ``FetchResult/sections(by:in:)``.
  /// - Throws: ``FetchError`` `unsupportedSort` if the first term of a result's sort is not a date.
  /// - Complexity: O(k log n) for k objects removed, inserted and changed; O(s log n) for s sections where the lists of
  ///   sections are compared.
  public func sectionChanges(
    by granularity: SectionGranularity, in zone: TimeZone = .gmt
  ) throws -> [SectionChange] {
    let calendar = SectionCalendar(granularity, in: zone)
    let before = try SectionRuler(fetchResultBeforeChanges.core, calendar)
    let after = try SectionRuler(fetchResultAfterChanges.core, calendar)
    let touched: Set<SectionSpan>
    if let changes, !commits.isEmpty {
      // An object in both lists whose date differs is among the changed, whether or not it moved.
      touched = Set(before.spans(at: changes.removed) + before.spans(at: changes.changedBefore))
        .union(after.spans(at: changes.inserted) + after.spans(at: changes.changed))
    } else {
      touched = try Set(before.spans() + after.spans())
    }
    let ascending = touched.compactMap { span -> SectionChange? in
      let (old, new) = (before.positions(of: span).count, after.positions(of: span).count)
      return old == new ? nil : SectionChange(key: span.key, countBefore: old, countAfter: new)
    }.sorted { $0.key < $1.key }
    return after.isAscending ? ascending : ascending.reversed()
  }
}
