import EventLog
import Foundation
import Synchronization

// The results that were begun and are still held.
//
// A result of a stored order is complete only when something needs its order (ResultState.swift), and its first change
// does. Two things would go wrong if each fetch had a state of its own: a hundred observers of equal fetches would make
// a hundred trees at the first commit, and each of them between that commit and its observer.
//
//     fetch ──▶ an equal one of this commit is held? ──yes──▶ its state is shared, with what has been made of it
//                              │ no
//                              ▼
//                     begun, and listed here (weakly) ──▶ an app that observes: made ahead, on a queue of low priority
//
// Whether results are made ahead is the caller's to say: an app that registers an observer will ask about changes,
// while a server has many begun results that only ever show their first screen.
//
// A result that cannot be begun, such as that of a small selection, is not looked for here: an equal one of the same
// commit could not be begun either.
//
// Invariant: the listed states are held elsewhere, and equal states of one commit show the same.

/// The begun results that are held, by their queries.
final class BegunResults: StorePart {
  static var closing: ClosingStage { .followers }

  private struct Held { weak var state: ResultState? }

  private struct State {
    var results: [Query: [Held]] = [:]
    var count = 0
    /// From how many listed ones on the list is searched for those that are gone.
    var sweptAt = 64
  }

  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "photoledger.begun-results", qos: .utility)

  /// The held result of a query at a commit that shows it in the same way.
  func held(
    _ query: Query, _ window: Window, wantsIncrementalChanges: Bool, as client: String, at commit: UInt64
  ) -> ResultState? {
    state.withLock { state in
      state.results[query]?.lazy.compactMap(\.state).first { result in
        result.commit == commit && result.client.exact == client.exact
          && result.isShown(in: window, wantsIncrementalChanges: wantsIncrementalChanges)
      }
    }
  }

  /// Lists a result for as long as it is held.
  /// - Complexity: O(1), amortised.
  func list(_ result: ResultState) {
    state.withLock { state in
      state.results[result.frame.plan.query, default: []].append(Held(state: result))
      state.count += 1
      guard state.count >= state.sweptAt else { return }
      state.results = state.results.compactMapValues { held in
        let left = held.filter { $0.state != nil }
        return left.isEmpty ? nil : left
      }
      state.count = state.results.values.reduce(0) { $0 + $1.count }
      state.sweptAt = max(64, 2 * state.count)
    }
  }

  /// How many are listed, those that are gone included.
  var listedCount: Int { state.withLock { $0.count } }

  /// Makes what a client holds, in the background.
  func makeAhead(for client: String, in store: LibraryStore) {
    let results = state.withLock { state in state.results.values.joined().map { $0 } }
    for held in results where held.state?.client.exact == client.exact {
      queue.async { [weak store] in
        guard let store, let result = held.state, result.begun != nil else { return }
        // What fails here fails again where the result is needed, and is thrown there.
        try? result.complete(in: store)
      }
    }
  }

  func close() {}
}

extension LibraryStore {
  var begunResults: BegunResults { part { _ in BegunResults() } }

  /// The state of a result of now that is begun: of an equal fetch of the same commit which is held, or a new one; nil
  /// if it is not begun (``begin(_:_:wantsIncrementalChanges:as:_:_:)``).
  func begunState(
    _ query: Query, _ window: Window, wantsIncrementalChanges: Bool, as client: String, by permission: Permission,
    _ context: FetchContext, _ t: borrowing StoreReading
  ) throws -> ResultState? {
    guard context.mayBegin(query, window) else { return nil }
    let results = begunResults
    let held = results.held(
      query, window, wantsIncrementalChanges: wantsIncrementalChanges, as: client, at: context.head.commit)
    if let held { return held }
    let begun = try begin(query, window, wantsIncrementalChanges: wantsIncrementalChanges, as: client, context, t)
    guard let begun else { return nil }
    let state = ResultState(begun, token: try core.token(begun.frame.commit, for: client, by: permission, t))
    results.list(state)
    return state
  }
}

extension PhotoLibrary {
  /// Makes the results that this client's fetches have begun, in the background: they will be asked about changes, and
  /// then nothing that depends on their size lies between a commit and its observer.
  /// - Complexity: O(1) for the caller, and O(m) in the begun results that are held; O(n) in the background for each.
  package func makeBegunResultsAhead() { store.begunResults.makeAhead(for: client, in: store) }
}
