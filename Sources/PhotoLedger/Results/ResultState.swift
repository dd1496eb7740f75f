import CountedTree
import EventLog
import LMDB
import Synchronization

// What the copies of a result share.
//
// A result of a stored order (StoredOrders.swift) is not built when it is fetched: its count is known, and the objects
// of its first screen are read, since opening a library should not wait for a tree of a million keys. The tree is built
// by the first access that needs it: a later position, an object's position, a section, a change. A server, which is
// asked for many later positions at once, has one of them build it (`complete(in:)`).
//
//     fetch ──▶ begun: commit, count, first numbers ──── a question that needs the order ────▶ made: the tree
//                                                     the stored keys; after a later commit, the rows as of this one
//
// Invariant: a begun result answers what the complete one answers, and it is completed as of its own commit, at any
// later time until an asset is erased that its client saw: then the rows of before are gone, and completing it throws.
// Rejected: completing each in the background, which takes a core from the thread that draws the first screen; only
// what an app observes is made ahead (BegunResults.swift).

/// What the copies of a result share: what it shows, and what has been found out about that since.
///
/// Followers with equal changes share it as well, so that a change costs each of them a reference. It does not retain
/// the store: live queries keep the last one, and must not keep the store open.
final class ResultState: Sendable {
  private enum Content {
    case begun(BegunResult)
    case made(ResultCore)
  }

  /// The begun or complete result; guarded by its lock.
  private let content: Mutex<Content>
  /// The first objects, for a result that was begun.
  private let opening: BegunResult?
  /// How many objects the whole order has, as far as was known when the result was begun or made.
  let orderCount: Int
  /// The positions of the whole order that are shown.
  let shown: Range<Int>
  /// The commit whose state the result shows.
  let commit: UInt64
  /// In whose name the result is followed.
  let client: String
  /// Whether observers want index sets (CD-15).
  let wantsIncrementalChanges: Bool
  private let window: Window
  /// The state that the result shows, as a token of its client's.
  let token: Token
  /// How many assets of each media type it shows, once counted.
  let mediaTypeCounts = MediaTypeCounts()
  /// The last commit that may have been read for it, and so may have shown less of assets that were erased;
  /// guarded by its lock.
  private let lastRead: Mutex<UInt64>
  /// Held while the result is made for all that wait for it.
  private let completion = Mutex(())
  /// A later state that shows the same; guarded by its lock.
  private let later = Mutex<ResultCore?>(nil)

  /// - Parameter commit: the last commit that may have been read for it, if not its own.
  convenience init(_ core: ResultCore, token: Token, readAt commit: UInt64? = nil) {
    self.init(.made(core), core, opening: nil, count: core.order.count, token)
    if let commit { lastRead.withLock { $0 = commit } }
  }

  convenience init(_ begun: BegunResult, token: Token) {
    self.init(.begun(begun), begun.frame, opening: begun, count: begun.count, token)
  }

  private init(_ content: Content, _ frame: ResultCore, opening: BegunResult?, count: Int, _ token: Token) {
    self.content = Mutex(content)
    self.opening = opening
    lastRead = Mutex(frame.commit)
    (commit, client, window) = (frame.commit, frame.client, frame.window)
    wantsIncrementalChanges = frame.wantsIncrementalChanges
    (orderCount, shown) = (count, frame.window.range(in: count))
    self.token = token
  }

  /// Whether a result of the same query shows it in the same way, whichever client it is of.
  func isShown(like other: ResultState) -> Bool {
    isShown(in: other.window, wantsIncrementalChanges: other.wantsIncrementalChanges)
  }

  func isShown(in window: Window, wantsIncrementalChanges: Bool) -> Bool {
    self.window == window && self.wantsIncrementalChanges == wantsIncrementalChanges
  }

  /// The result; it must have been made.
  var core: ResultCore {
    content.withLock { content in
      guard case .made(let core) = content else {
        preconditionFailure("A result is made before it is followed; this is a defect of PhotoLedger.")
      }
      return core
    }
  }

  /// How many objects the whole order has; it must have been made.
  var madeCount: Int { opening == nil ? orderCount : core.order.count }

  /// The last commit that may have been read for it.
  var readAt: UInt64 { lastRead.withLock { $0 } }

  /// The begun result; nil once it is complete.
  var begun: BegunResult? {
    content.withLock { content in if case .begun(let result) = content { result } else { nil } }
  }

  /// The result but perhaps for its order.
  var frame: ResultCore {
    content.withLock { content in
      switch content {
      case .begun(let result): result.frame
      case .made(let core): core
      }
    }
  }

  /// The result, which is made if it was only begun.
  /// - Throws: ``LibraryError``: `.tokenExpired` if the result was begun and an asset that its client saw was erased
  ///   since; what a read of the store throws.
  /// - Complexity: O(1); O(n) the first time for a result that was begun.
  func made(in store: LibraryStore) throws -> ResultCore {
    let begun: BegunResult
    switch content.withLock({ $0 }) {
    case .made(let core): return core
    case .begun(let result): begun = result
    }
    // Two concurrent callers both build it, with equal results.
    let (core, head) = try store.made(begun, token)
    lastRead.withLock { $0 = max($0, head) }
    content.withLock { $0 = .made(core) }
    return core
  }

  /// Makes the result once for all that wait for it here. None of them may be in a transaction: making it begins one,
  /// which may have to wait until those that have begun are over.
  func complete(in store: LibraryStore) throws { try completion.withLock { _ in _ = try made(in: store) } }

  /// Whether the objects at a range of shown positions are known without making the whole result.
  func isAtHand(_ range: Range<Int>) -> Bool {
    if let opening, shown.lowerBound + range.upperBound <= opening.numbers.count { return true }
    return content.withLock { if case .made = $0 { true } else { false } }
  }

  /// The numbers of the objects at shown positions, and the result but perhaps for its order.
  func look(at positions: [Int], in store: LibraryStore) throws -> (numbers: [ObjectNumber], frame: ResultCore) {
    if let opening, let last = positions.max(), shown.lowerBound + last < opening.numbers.count {
      return (positions.map { opening.numbers[shown.lowerBound + $0] }, opening.frame)
    }
    let core = try made(in: store)
    return (positions.map { core.order.number(at: shown.lowerBound + $0) }, core)
  }

  /// The same for a range of shown positions.
  func look(at range: Range<Int>, in store: LibraryStore) throws -> (numbers: [ObjectNumber], frame: ResultCore) {
    let range = shown.lowerBound + range.lowerBound..<shown.lowerBound + range.upperBound
    if let opening, range.upperBound <= opening.numbers.count { return (Array(opening.numbers[range]), opening.frame) }
    let core = try made(in: store)
    return (core.order.numbers(at: range), core)
  }

  /// The latest state that is known to show the same.
  ///
  /// A holder of a result checks it at each commit, and nearly always finds it unchanged. Without this, each check
  /// would read the log from the result's commit on.
  func latest(in store: LibraryStore) throws -> ResultCore {
    if let later = later.withLock({ $0 }) { return later }
    if begun != nil { try complete(in: store) }
    return try made(in: store)
  }

  func advance(to later: ResultCore) {
    self.later.withLock { if ($0?.commit ?? 0) < later.commit { $0 = later } }
  }
}

/// A result of which the first objects are known, and how many it has.
struct BegunResult: Sendable {
  /// The result but for its order, which is empty.
  let frame: ResultCore
  /// The number of objects in the whole order, or of its first ones, if no more are shown.
  let count: Int
  /// What the store keeps of it, from which it is read further while no later commit came; nil for what a search
  /// finds, where `numbers` has all that is shown, and for what a selection shows.
  let stored: StoredAnswer?
  /// The numbers of its first objects.
  let numbers: [ObjectNumber]

  /// How many objects are read at first; shorter results are made at once. Few in debug builds: tests meet both.
  #if DEBUG
    static let firstCount = 4
  #else
    static let firstCount = 256
  #endif

  /// The maximum number of objects read at first, if a limit implies that more will be requested.
  static let mostCount = 1 << 14
}

extension FetchContext {
  /// Whether the result of a query can be begun, as far as its window and the client's permission say: it is shown from
  /// its beginning, and a selection has more assets than are read at first. The answer is the same for equal fetches of
  /// one commit.
  func mayBegin(_ query: Query, _ window: Window) -> Bool {
    guard window.offset == 0 else { return false }
    guard query.access.selection != nil else { return query.access == .full }
    return (selectionCount ?? 0) > BegunResult.firstCount
  }
}

extension LibraryStore {
  /// Creates a result that was computed outside a transaction.
  /// - Parameter commit: the last commit that may have been read for it, if not its own.
  /// - Complexity: O(1) for the owner, O(log² n) for others.
  func state(_ core: ResultCore, readAt commit: UInt64? = nil) throws -> ResultState {
    let token =
      core.client == PhotoLibrary.owner
      ? token(core.commit) : try reading { t in try self.core.token(core.commit, for: core.client, t) }
    return ResultState(core, token: token, readAt: commit)
  }

  /// Begins the result of a query that the store keeps in order; nil if it does not, or if the result is short.
  /// To be called only if it may be begun (``FetchContext/mayBegin(_:_:)``).
  /// - Complexity: O(log n); for a limited client O(k) in the members of its selection.
  func begin(
    _ query: Query, _ window: Window, wantsIncrementalChanges: Bool, as client: String, _ context: FetchContext,
    _ t: borrowing StoreReading
  ) throws -> BegunResult? {
    let head = context.head
    func begun(
      _ plan: QueryPlan, _ count: Int, _ stored: StoredAnswer?, _ numbers: [ObjectNumber]
    ) -> BegunResult {
      let frame = ResultCore(
        library: core.mark, plan: plan, wantsIncrementalChanges: wantsIncrementalChanges, window: window,
        commit: head.commit, sequence: head.sequence, order: .narrow(CountedTree()), client: client)
      return BegunResult(frame: frame, count: count, stored: stored, numbers: numbers)
    }
    if query.search != nil {
      guard sharedResult(query, at: head.commit) == nil, let numbers = try firstFound(query, window, t) else {
        return nil
      }
      return begun(QueryPlan(query), numbers.count, nil, numbers)
    }
    // More are read than an unlimited screen shows if a limit says so, but not without end.
    let most = max(BegunResult.firstCount, min(window.limit ?? 0, BegunResult.mostCount))
    if query.access.selection != nil {
      guard sharedResult(query, at: head.commit) == nil,
        let first = try firstSelected(most, of: query, context, t)
      else { return nil }
      return begun(first.plan, first.count, nil, first.numbers)
    }
    guard let stored = StoredAnswer(query), let count = try core.projections.count(of: stored, in: t),
      count > BegunResult.firstCount, sharedResult(query, at: head.commit) == nil
    else { return nil }
    // A result of few members far apart is made at once, for as much as testing so many rows costs.
    let wanted = min(count, most)
    let keys = try core.projections.keys(
      wanted, of: stored, rowLimit: 16 * wanted + BegunResult.firstCount + count / 2, in: t)
    guard keys.count == wanted else { return nil }
    return begun(QueryPlan(query), count, stored, keys.map(\.number))
  }

  /// Makes a result that was begun, as of its commit; with the last commit that was read for it.
  fileprivate func made(_ begun: BegunResult, _ token: Token) throws -> (ResultCore, readAt: UInt64) {
    let frame = begun.frame
    let (query, window, isFollowed) = (frame.plan.query, frame.window, frame.wantsIncrementalChanges)
    return try reading { t in
      guard try erasure(since: frame.sequence, seenBy: query.access, t) == nil else {
        throw Self.erased(after: token)
      }
      let moment = try moment(ofCommit: frame.commit, t)
      let head = try core.log.head(t)
      // A fetch of an earlier state asks for no count of now.
      let isOfNow = frame.commit == head.commit
      let context = FetchContext(head: head, selectionCount: try isOfNow ? selectionCount(of: query.access, t) : nil)
      let made = try fetch(query, window, wantsIncrementalChanges: isFollowed, as: frame.client, at: moment, context, t)
      // The count may be that of another table than the keys are read from, and a damaged one may have more entries.
      guard made.order.count >= begun.count else { throw core.projections.corruption("the stored orders") }
      return (made, head.commit)
    }
  }
}
