import CSystem
import EventLog
import Foundation
import LMDB

// The one thread that writes.
//
// LMDB binds a write transaction to a thread, a sync blocks for milliseconds, and a sync is nearly all that a small
// commit costs. So blocks queue up here, and all blocks that wait when the thread is free are executed in one
// transaction and made durable by one sync; each caller is answered only after that (group commit).
//
// Still, every block is its own commit, and fails alone. A failed block invalidates the transaction it ran in, so the
// transaction is aborted, the blocks before it (known to be valid) are run again and committed, the failed one is
// answered, and the rest continues in a new transaction. No block runs more than twice because of another. Rejected:
// nested transactions (LMDB shadows pages for each), and checking blocks without executing them (a second description
// of every rule).
//
// A large block puts rows all over the tables that find assets. Those that no decision reads are gathered while its
// requests are handled, and put in the order of their keys before the commit (`Projections.unreadByDecisions`).

/// Queues change blocks and handles them on a thread of its own.
final class Writer: StorePart {
  struct Job: Sendable {
    var requests: [ChangeRequest]
    var client: String
    var cause: String?
    var key: String?
    /// The causation of the block, for the log: the commits that it undoes.
    var causation: String?
    /// Whether assets in the trash do not exist for the block.
    var hidesTrash = false
    var answer: @Sendable (Result<CommitReceipt, any Error>) -> Void
  }

  /// What the writer does outside the transaction, after blocks have become durable.
  struct PostCommitEffects: Sendable {
    var publish: @Sendable () -> Void
    /// Removes the files of contents, unless something needs them.
    var discard: @Sendable ([[UInt8]]) -> Void
    /// Called when nothing more can be written, for this reason.
    var giveUp: @Sendable (LibraryError) -> Void
  }

  static var closing: ClosingStage { .writer }

  private struct State {
    var queue: [Job] = []
    var isClosing = false
    var isFinished = false
    /// The thread, once it runs.
    var thread: UInt64?
    /// Why there is no thread.
    var failure: LibraryError?
  }

  private let state = Monitor(State())
  private let core: StoreCore
  private let resources: ResourceStore
  private let effects: PostCommitEffects

  /// How often an idle writer frees the reader slots of processes that died: until then they pin pages.
  static let readerCheckSeconds = 60.0
  /// The most blocks that share a sync.
  static let groupLimit = 1024
  /// After this many events a transaction takes no further block.
  static let eventLimit = 5000
  /// From how many requests on a block's rows are gathered: fewer rarely meet on a page. Few in debug builds: a read of
  /// what is gathered is a precondition that fails, so tests find a decision that reads it.
  #if DEBUG
    static let gatheringRequests = 4
  #else
    static let gatheringRequests = 64
  #endif

  init(core: StoreCore, resources: ResourceStore, effects: PostCommitEffects) {
    self.core = core
    self.resources = resources
    self.effects = effects
    do throws(LibraryError) {
      try OwnThread.start("ledger-writer", stackSize: 2 << 20) { [self] in run() }
    } catch {
      // The library can be read; blocks are answered with this.
      state.withLock { ($0.isFinished, $0.failure) = (true, error) }
    }
  }

  /// Queues a block; its answer comes on the writer's thread.
  func enqueue(_ job: Job) {
    let refusal = state.withLock { state -> LibraryError? in
      if state.isClosing { return LibraryError(.closed, "The library was closed; open it again to change it.") }
      if state.failure == nil { state.queue.append(job) }
      return state.failure
    }
    if let refusal {
      job.answer(.failure(refusal))
      return
    }
    state.broadcast()
  }

  /// Executes the queued blocks, then ends the thread; called on the thread itself, it does not wait for that.
  func close() {
    state.withLock { $0.isClosing = true }
    state.broadcast()
    _ = state.wait { (state) -> Bool? in state.isFinished || psys_thread_id() == state.thread ? true : nil }
  }

  // MARK: The thread

  private func run() {
    state.withLock { $0.thread = psys_thread_id() }
    while let group = nextGroup() { if group.isEmpty { freeReaders() } else { handle(group[...]) } }
    state.withLock { $0.isFinished = true }
    state.broadcast()
  }

  /// The blocks that wait; none after a minute without work, nil at the end.
  private func nextGroup() -> [Job]? {
    let deadline = monotonicSeconds() + Self.readerCheckSeconds
    let found = state.wait(untilSeconds: deadline) { (state) -> [Job]?? in
      if state.queue.isEmpty { return state.isClosing ? .some(nil) : .none }
      let group = Array(state.queue.prefix(Self.groupLimit))
      state.queue.removeFirst(group.count)
      return group
    }
    guard let found else { return [] }
    return found
  }

  private func handle(_ group: ArraySlice<Job>) {
    var waiting = group
    // A block that failed, by its place among the waiting; those before it are known to be good.
    var failure: BlockFailure?
    while !waiting.isEmpty {
      if let known = failure, known.index == 0 {
        failure = nil
        waiting.removeFirst().answer(.failure(LibraryError(known.error)))
        continue
      }
      let attempt = failure.map { waiting.prefix($0.index) } ?? waiting
      do {
        let done = try commit(attempt)
        effects.publish()
        for (job, outcome) in zip(attempt, done) { job.answer(.success(outcome.receipt)) }
        waiting = waiting.dropFirst(done.count)
        failure?.index -= done.count
        effects.discard(done.flatMap(\.orphans))
      } catch let found as BlockFailure {
        failure = found
      } catch {
        recover(from: error)
        for job in attempt { job.answer(.failure(LibraryError(error))) }
        waiting = waiting.dropFirst(attempt.count)
        failure?.index -= attempt.count
      }
    }
  }

  /// Reopens the store after a fatal LMDB error; if that fails, the store is closed, and every later block fails. So
  /// does every later block of a store that a newer program has migrated.
  private func recover(from error: any Error) {
    if let error = error as? LibraryError, error.code == .newerThanProgram { return effects.giveUp(error) }
    guard core.environment.isPanicked else { return }
    do {
      try core.environment.reopen()
    } catch {
      report("The store could not be reopened after a failed write: \(error)")
      effects.giveUp(LibraryError(error))
    }
  }

  private func freeReaders() {
    do {
      _ = try core.environment.readerCheck()
    } catch {
      report("The readers of the store could not be checked: \(error)")
    }
  }

  /// What concerns no caller goes where the process reports trouble.
  private func report(_ sentence: String) { FileHandle.standardError.write(Data((sentence + "\n").utf8)) }

  /// A failed block, and its position in the attempt.
  private struct BlockFailure: Error {
    var index: Int
    var error: any Error
  }

  private struct Outcome {
    var receipt: CommitReceipt
    var orphans: [[UInt8]]
  }

  /// Handles blocks in one transaction, as many as it should hold.
  private func commit(_ jobs: ArraySlice<Job>) throws -> [Outcome] {
    try core.environment.write { t in
      try core.checkFormat(t)
      var outcomes: [Outcome] = []
      let start = try core.log.head(t).sequence
      for (index, job) in jobs.enumerated() {
        do {
          outcomes.append(try handle(job, &t))
        } catch let error as LMDBError {
          throw error
        } catch let error as EventLogError where error.storage != nil {
          throw error
        } catch {
          throw BlockFailure(index: index, error: error)
        }
        if try core.log.head(t).sequence - start >= Self.eventLimit { break }
      }
      return outcomes
    }
  }

  private func handle(_ job: Job, _ t: inout WriteTransaction) throws -> Outcome {
    if let key = job.key, let earlier = try core.log.commit(forKey: key, of: job.client, in: t) {
      return Outcome(receipt: try core.receipt(ofRepeated: earlier, t), orphans: [])
    }
    let date = core.libraryEnvironment.date()
    let appender = try core.log.begin(
      CommitInformation(
        time: date.microseconds, client: job.client, cause: job.cause ?? "", process: core.libraryEnvironment.process,
        key: job.key, causation: job.causation), in: &t)
    let permission = try core.projections.permission(of: job.client, in: t)
    var decider = Decider(
      core: core, resources: resources, date: date, client: job.client, permission: permission,
      hidesTrash: job.hidesTrash, appender: appender)
    let first = decider.nextNumber
    if job.requests.count >= Self.gatheringRequests { t.gather(core.projections.unreadByDecisions) }
    for request in job.requests { try decider.handle(request, &t) }
    // Before anything of the block is answered; an error before this ends the transaction.
    try t.settle(.again)
    if decider.nextNumber == first {
      guard job.key != nil else {
        let token = try core.token(try core.log.head(t).commit, for: job.client, t)
        return Outcome(receipt: CommitReceipt(token: token, created: [], isRepetition: false), orphans: [])
      }
      try decider.record(.nothingChanged, &t)
    }
    let (created, orphans) = (decider.created, decider.orphans)
    let commit = try decider.finish(&t)
    let token = try core.token(commit.number, for: job.client, t)
    let receipt = CommitReceipt(token: token, created: created, isRepetition: false)
    return Outcome(receipt: receipt, orphans: orphans)
  }
}

extension LibraryStore {
  /// The thread that writes.
  var writer: Writer {
    part { store in
      let (core, resources, signal, availability) = (store.core, store.resources, store.signal, store.availability)
      return Writer(
        core: core, resources: resources,
        effects: Writer.PostCommitEffects(
          publish: { signal.notify() }, discard: { core.discard($0, from: resources) },
          giveUp: { availability.end($0) }))
    }
  }

  /// Queues a block whose resources have been stored.
  func enqueue(_ job: Writer.Job) { writer.enqueue(job) }
}
