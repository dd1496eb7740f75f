import Foundation
package import JSONReading
package import PhotoLedger

extension ChangeDetails {
  /// What leads from one state of a result to another, with the objects that came, look different, and left.
  /// - Parameters:
  ///   - limit: how many objects of each kind are given at most; where there are more, `isComplete` is false.
  ///   - json: an object of the result.
  /// - Throws: what reading the objects throws.
  package func difference(limit: Int = .max, _ json: (Element) throws -> JSON) throws -> JSON {
    let after = fetchResultAfterChanges
    let (inserted, changed) = (insertedIndexes ?? [], changedIndexes ?? [])
    let removed = removedIndexes ?? []
    let touched = inserted.union(changed)
    let items = try touched.prefix(limit).map { JSON.Member(String($0), try json(after.object(at: $0))) }
    let left = IndexSet(removed.prefix(limit))
    let removedItems = try zip(left, fetchResultBeforeChanges.objects(at: left)).map {
      JSON.Member(String($0), try json($1))
    }
    let members: [JSON.Member] = [
      .init("before", .text(fetchResultBeforeChanges.token.description)),
      .init("after", .text(after.token.description)),
      .init("count", .integer(Int64(after.count))),
      .init("removed", JSON(ranges: removed)),
      .init("inserted", JSON(ranges: inserted)),
      .init("changed", JSON(ranges: changed)),
      .init("moves", .list(moves.map { JSON([$0.from, $0.to]) })),
      .init("moved", .list(moved.map { JSON([$0.before, $0.after]) })),
      .init("items", .object(items)),
      .init("removedItems", .object(removedItems)),
      .init("commits", .integer(Int64(commits.count))),
    ]
    let isComplete = touched.count <= limit && removed.count <= limit
    return .object(isComplete ? members : members + [.init("isComplete", false)])
  }
}
