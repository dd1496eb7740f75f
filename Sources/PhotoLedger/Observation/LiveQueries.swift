import Synchronization

// The live queries of a library, as a commit finds them.
//
// A commit checks only the live queries that it may touch. A query over the members of a container can be touched only
// by objects that are in the container before or after the commit, so it is looked up by the container; every other
// query is checked. Hashing a query costs more than checking it, so a commit hashes none, and unused queries are
// removed only when they are many.
//
//     byQuery       query → live query for new followers
//     wide          live queries that any commit may touch
//     inContainer   container → live queries of its members
//
// Held weakly: a live query lives as long as it has followers.

/// The live queries by query and by what may touch them; guarded by the lock of ``Observation``'s state.
struct LiveQueries {
  private struct Held {
    weak var query: LiveQuery?
  }

  private var byQuery: [Query: Held] = [:]
  private var wide: [Held] = []
  private var inContainer: [ObjectNumber: [Held]] = [:]
  private let gone = LiveQuery.Departures()

  /// The live query of a query, if there is one; one that has failed does not count, and another takes its place.
  subscript(query: Query) -> LiveQuery? {
    guard let live = byQuery[query]?.query, live.failure == nil else { return nil }
    return live
  }

  /// All of them, those that have failed too, in no order.
  var all: [LiveQuery] { (wide + inContainer.values.joined()).compactMap(\.query) }

  /// The number of entries of queries without followers.
  var abandonedCount: Int { gone.count.load(ordering: .relaxed) }

  /// Makes the query of a result live; it must not be.
  mutating func insert(_ result: ResultCore) -> LiveQuery {
    sweep()
    let live = LiveQuery(result, departures: gone)
    byQuery[result.plan.query] = Held(query: live)
    if case .members(let container) = result.plan.query.scope {
      inContainer[container, default: []].append(Held(query: live))
    } else {
      wide.append(Held(query: live))
    }
    return live
  }

  /// Removes the queries without followers, once they are as many as the others.
  /// - Complexity: O(1) amortised for each query that was ever live.
  mutating func sweep() {
    let count = abandonedCount
    guard count > 16, count * 2 > byQuery.count else { return }
    byQuery = byQuery.filter { $0.value.query != nil }
    // Counted here: in `byQuery` a query that came back has taken the place of the one that went.
    var removed = wide.count
    wide.removeAll { $0.query == nil }
    removed -= wide.count
    inContainer = inContainer.compactMapValues { held in
      let alive = held.filter { $0.query != nil }
      removed += held.count - alive.count
      return alive.isEmpty ? nil : alive
    }
    gone.count.subtract(removed, ordering: .relaxed)
  }

  /// Calls a body with each query that a delta may touch.
  /// - Complexity: O(m + k) for m such queries and k touched objects.
  func forEach(touchableBy delta: Delta, _ body: (LiveQuery) -> Void) {
    for held in wide { if let query = held.query { body(query) } }
    guard !inContainer.isEmpty else { return }
    for container in delta.containers {
      for held in inContainer[container] ?? [] { if let query = held.query { body(query) } }
    }
  }
}

extension Delta {
  /// The containers in which a touched object stands before or after.
  /// - Complexity: O(k) in the objects of the delta and their places.
  fileprivate var containers: Set<ObjectNumber> {
    var containers = Set(places.keys.lazy.map(\.container))
    for standing in context.values { containers.formUnion(standing.lazy.map(\.container)) }
    return containers
  }
}
