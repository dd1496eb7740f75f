import LMDB

// A fetch with a search: the index of words yields the assets, and each is tested against the scope, so the cost
// depends on the matches and not on the library. As of a moment, `assets(_:at:_:where:)` overlays the earlier rows on
// the result of the current index (LibraryStore+Past.swift).

extension LibraryStore {
  /// Gives the row of each asset of a search's scope that has its words, with its place there.
  /// - Complexity: O(m log n) for m assets that the words find.
  func forEachAsset(
    foundBy query: Query, _ t: borrowing StoreReading, _ body: (AssetView, OrderKey?) -> Void
  ) throws {
    guard let text = query.search else { return }
    let projections = core.projections
    for number in try projections.assets(matching: text, in: t) {
      let place: OrderKey?
      switch query.scope {
      case .library: place = nil
      case .members(let album):
        place = try projections.key(of: number, in: album, t)
        if place == nil { continue }
      case .objects(let numbers):
        place = nil
        if !numbers.contains(number) { continue }
      case .listed(let places):
        place = places[number]
        if place == nil { continue }
      case .containing: continue
      }
      guard try projections.shows(number, to: query.access, in: t) else { continue }
      try projections.withAsset(number, in: t) { body($0, place) }
    }
  }

  /// Gives each asset of a reading of rows that a plan admits, judged by its details too if the condition asks for
  /// them.
  /// - Parameter rows: the reading of the rows in the scope.
  /// - Complexity: one more read for each asset whose row is admitted.
  func forEachDescribed(
    _ plan: QueryPlan, _ t: borrowing StoreReading, in rows: ((AssetView, OrderKey?) -> Void) throws -> Void,
    body: (AssetView, OrderKey?) -> Void
  ) throws {
    let projections = core.projections
    var failure: (any Error)?
    try withoutActuallyEscaping(body) { body in
      try rows { row, place in
        guard plan.admits(row) else { return }
        guard plan.asksForDetails else { return body(row, place) }
        do {
          guard let details = try projections.details(row.number, in: t) else {
            throw projections.corruption("the details of asset \(row.number)")
          }
          guard let known = try projections.asset(row.number, in: t) else {
            throw projections.corruption("the row of asset \(row.number)")
          }
          if plan.meetsCondition(known, details) { body(row, place) }
        } catch {
          failure = failure ?? error
        }
      }
    }
    if let failure { throw failure }
  }
}
