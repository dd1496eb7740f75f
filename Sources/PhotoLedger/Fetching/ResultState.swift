import Synchronization

/// What the copies of a result share: what it shows, and what has been found out about that since.
///
/// Followers who are told alike share it as well, so that a change costs each of them a reference. It does not hold
/// the store: live queries keep the last one, and their end must not be the store's.
final class ResultState: Sendable {
  let core: ResultCore
  /// The state that the result shows, as a token of its client's.
  let token: Token
  /// How many assets of each media type it shows, once counted.
  let mediaTypeCounts = MediaTypeCounts()
  /// A later state that shows the same; guarded by its lock.
  private let later = Mutex<ResultCore?>(nil)

  init(_ core: ResultCore, token: Token) {
    self.core = core
    self.token = token
  }

  /// The latest state that shows the same, as far as anybody has looked.
  ///
  /// Whoever holds a result until it changes asks about each commit, and nearly always hears that nothing did. Without
  /// this, each question would read the log from the result's commit on.
  var latest: ResultCore { later.withLock { $0 } ?? core }

  func advance(to later: ResultCore) {
    self.later.withLock { if ($0 ?? core).commit < later.commit { $0 = later } }
  }
}

extension LibraryStore {
  /// What a result is made of that was worked out outside a transaction.
  /// - Complexity: O(1) for the owner, O(log² n) for others.
  func state(_ core: ResultCore) throws -> ResultState {
    let token =
      core.client == PhotoLibrary.owner
      ? token(core.commit) : try reading { t in try self.core.token(core.commit, for: core.client, t) }
    return ResultState(core, token: token)
  }
}
