import Synchronization

// What a commit did to results, computed once for all holders of equal ones.
//
// Followers of a query get the last step of its live query. An observer as in PhotoKit is called with a change and asks
// what it did to the results that it holds; many observers hold the same list. The first that asks works out the step,
// or takes that of the live query if there is one, and the others take it from the table of their round:
//
//     pump ── a table a round ──▶ each observer's box, until it is delivered ──▶ LibraryChange.changeDetails(for:)
//                  │
//            query, from, to ─▶ SharedStep ─▶ changes, by how the result shows its query ─▶ StepView, by client
//
// Clients with full access ask the same query, and what differs among them is the token of the state that is led to. So
// the changes of a step are worked out once whatever client holds the result, and its state once for each client.
//
// Invariant: results of one query and commit that take a step from here hold the same keys. Rows of erased assets are
// the exception (ErasedTouches.swift): for states before an erasure, what was read before it and what was read after it
// differ. So a result shares steps only if no erasure came after its commit, up to the last commit that was read for it
// (`Observation.sharesSteps`).
//
// Rejected: making the query of every asked result live, which lets each later commit step results that no observer
// asks about; keeping steps in the observation, where the last lists would outlive their holders.

/// A step of a query, and how results of the query show it.
final class SharedStep: Sendable {
  /// The ways to show a query and the clients are few; if not, each of the others works out what it sees.
  private static let wayLimit = 4
  private static let clientLimit = 16

  let step: Step

  /// The step by the way in which a result shows its query, and of each way by client.
  private let ways = Mutex<[[StepView]]>([])

  init(_ step: Step) { self.step = step }

  /// The step for a holder of a result of the query.
  /// - Complexity: O(k log n) for the first holder that shows the query alike; for the others O(1) for the owner and
  ///   clients that had it before, O(log² n) for the first of a client.
  func view(like held: ResultState, in store: LibraryStore) throws -> StepView {
    let (index, first) = try ways.withLock { ways in
      if let index = ways.firstIndex(where: { $0[0].state.isShown(like: held) }) {
        return (index, ways[index].first { $0.state.client.exact == held.client.exact } ?? ways[index][0])
      }
      let view = try StepView(of: step, like: held, in: store)
      if ways.count < Self.wayLimit { ways.append([view]) }
      return (ways.count, view)
    }
    guard first.state.client.exact != held.client.exact else { return first }
    // Not under the lock: a token is read from the store, and clients may be many.
    let view = try StepView(first, to: step, like: held, in: store)
    ways.withLock { ways in
      if ways[index].count < Self.clientLimit { ways[index].append(view) }
    }
    return view
  }
}

/// A step to a later value of a result, for the holder of the result.
final class StepView: Sendable {
  let state: ResultState
  /// Nil if it does not show.
  let changes: SharedChanges?

  /// - Parameter commit: the last commit that may have been read for it, if not that of the step.
  init(of step: Step, like held: ResultState, readAt commit: UInt64? = nil, in store: LibraryStore) throws {
    let after = step.after.shown(like: held.core)
    state = try store.state(after, readAt: commit)
    changes = after.changes(step.touched).map(SharedChanges.init)
  }

  /// The same step for the holder of a result that shows the query alike, and is another client's.
  fileprivate init(_ other: StepView, to step: Step, like held: ResultState, in store: LibraryStore) throws {
    state = try store.state(step.after.shown(like: held.core))
    changes = other.changes
  }
}

/// The steps that observers asked for in one round of commits.
final class SharedSteps: Sendable {
  private struct Key: Hashable {
    let query: Query
    let from: UInt64
    let to: UInt64
  }

  /// Has a lock of its own, so that observers of one query do not wait for those of another.
  private final class Entry: Sendable {
    let step = Mutex<SharedStep?>(nil)
  }

  private let entries = Mutex<[Key: Entry]>([:])

  /// Objects that are held are of few commits; if not, the oldest of these deltas is composed again.
  private static let restLimit = 4
  private let rests = Mutex<[Delta]>([])

  /// The step of a result to a commit; made by the first that asks.
  func step(of held: ResultCore, to commit: UInt64, _ make: () throws -> SharedStep) throws -> SharedStep {
    let key = Key(query: held.plan.query, from: held.commit, to: commit)
    let entry = entries.withLock { entries in
      if let known = entries[key] { return known }
      let new = Entry()
      entries[key] = new
      return new
    }
    return try entry.step.withLock { step in
      if let step { return step }
      let made = try make()
      step = made
      return made
    }
  }

  /// What leads from the commit of an object that is held to a later one; composed by the first that asks.
  func rest(after commit: UInt64, to last: UInt64, _ make: () throws -> Delta) throws -> Delta {
    let known = rests.withLock { rests in rests.first { $0.from == commit && $0.to == last } }
    if let known { return known }
    let made = try make()
    rests.withLock { rests in
      if rests.count == Self.restLimit { rests.removeFirst() }
      rests.append(made)
    }
    return made
  }
}
