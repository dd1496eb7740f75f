package import Foundation
import PhotoLedger
import Glibc
import Synchronization

// Upload jobs are executed by the process that has the library open as their client.
//
//     wake ──▶ driver: takes the client's lock ──▶ up to `parallel` jobs, oldest first ──▶ no job left: lets go
//                 │ another process has it: looks again after a pause
//                 ▼
//              one job:   UploadTransfer ──step──▶ look at row, settings, permission ──▶ UploadTransport
//                              ▲                        │ the row is written before the step is taken
//                              └────────input───────────┘
//
// Invariant: the state of a transfer in a row was confirmed by the server before, so a process that ends at any
// instruction leaves a job that can continue: by HEAD where the upload was created, from the beginning where it was
// not.
//
// The bytes come through `data(of:in:)`, as all bytes do; the client's permission is checked before each request, and
// every second while one with bytes is in progress. The hash covers a file from its first byte, so a resumed upload
// reads the part that the server has, without sending it; and the last portion, like a file sent in one request, is
// held back until the whole file was verified. So altered bytes never complete an upload.
//
// Jobs of other clients are left to processes of those clients: a process of one client must not use another's
// credentials. Rejected: a thread that polls the store for ever; a driver lives only while its client has unfinished
// jobs.

/// The environment of uploads. It is separate from ``LibraryEnvironment``: an upload that used that clock or randomness
/// would change the history that a seed reproduces.
package struct UploadEnvironment: Sendable {
  package var now: @Sendable () -> Date
  package var random: @Sendable () -> UInt64
  /// Waits for some seconds, or throws when the task is cancelled.
  package var pause: @Sendable (Double) async throws -> Void
  package var limits = UploadLimits()

  package init(
    now: @escaping @Sendable () -> Date, random: @escaping @Sendable () -> UInt64,
    pause: @escaping @Sendable (Double) async throws -> Void
  ) {
    (self.now, self.random, self.pause) = (now, random, pause)
  }

  /// The system's clock and randomness.
  package static var system: UploadEnvironment {
    let system = LibraryEnvironment.system
    return UploadEnvironment(now: system.now, random: system.random) { seconds in
      try await Task.sleep(nanoseconds: UInt64(max(0, min(seconds, 86_400)) * 1e9))
    }
  }
}

/// The body of a request.
package enum UploadBody: Sendable {
  case none
  case bytes(Data)
  case file(URL)
}

/// What came of a request: an answer or the problem of a connection, and the 104 that came before either.
package struct UploadOutcome: Sendable {
  package var informed: UploadAnswer?
  package var result: Result<UploadAnswer, UploadProblem>

  package init(informed: UploadAnswer? = nil, _ result: Result<UploadAnswer, UploadProblem>) {
    (self.informed, self.result) = (informed, result)
  }
}

/// Sends requests to servers; redirects are not followed, and cancelling the task ends the request.
package protocol UploadTransport: Sendable {
  func send(_ call: UploadCall, _ body: UploadBody) async -> UploadOutcome
}

/// The upload jobs of one open library: the store, and the services of the clients that this process is.
final class Uploads: StorePart {
  static var closing: ClosingStage { .senders }

  private struct State {
    var transport: (any UploadTransport)?
    var environment = UploadEnvironment.system
    var isExpensive: (@Sendable () -> Bool)?
    var services: [ExactText: UploadService] = [:]
    var listeners: [ExactText: [@Sendable () -> Bool]] = [:]
    var isClosed = false
  }

  let jobs: UploadJobStore
  private let state = Mutex(State())

  init(in folder: LibraryFolder) { jobs = UploadJobStore(in: folder) }

  var environment: UploadEnvironment { state.withLock { $0.environment } }
  var transport: (any UploadTransport)? { state.withLock { $0.transport } }
  var isClosed: Bool { state.withLock { $0.isClosed } }
  var isExpensive: Bool { state.withLock { $0.isExpensive }?() ?? false }

  func install(_ transport: any UploadTransport, _ environment: UploadEnvironment?) {
    state.withLock { state in
      if let environment { state.environment = environment }
      if state.transport == nil || environment != nil { state.transport = transport }
    }
  }

  func setExpensive(_ answer: (@Sendable () -> Bool)?) { state.withLock { $0.isExpensive = answer } }

  func wake(_ client: String, of store: LibraryStore) {
    let service = state.withLock { state -> UploadService? in
      guard state.transport != nil, !state.isClosed else { return nil }
      if let known = state.services[client.exact] { return known }
      let made = UploadService(client, store, self)
      state.services[client.exact] = made
      return made
    }
    service?.wake()
  }

  func halt(_ client: String) { state.withLock { $0.services[client.exact] }?.stop() }

  /// Ends what runs of cancelled jobs, and removes what the others have left here and at their servers.
  func withdraw(_ cancelled: [UploadJob], of client: String) {
    let service = state.withLock { $0.services[client.exact] }
    for job in cancelled where service?.cancel(job) != true {
      jobs.removeCopy(for: job)
      let transfer = UploadTransfer(job)
      Task.detached { [self] in await discard(transfer) }
    }
  }

  /// Makes a server discard what it has of an upload, if anything.
  func discard(_ transfer: UploadTransfer) async {
    guard let call = transfer.withdrawal, let transport else { return }
    // The caller's task may be cancelled. Whether the server hears it changes nothing: it drops old uploads anyway.
    await Task.detached { _ = await transport.send(call, .none) }.value
  }

  func listen(_ client: String, _ handler: @escaping @Sendable () -> Bool) {
    state.withLock { $0.listeners[client.exact, default: []].append(handler) }
  }

  func notifyEnd(of client: String) {
    let listeners = state.withLock { state in state.listeners.updateValue([], forKey: client.exact) ?? [] }
    let rest = listeners.filter { $0() }
    state.withLock { $0.listeners[client.exact, default: []].insert(contentsOf: rest, at: 0) }
  }

  func close() {
    let services = state.withLock { state in
      state.isClosed = true
      state.listeners = [:]
      defer { state.services = [:] }
      return Array(state.services.values)
    }
    for service in services { service.stop() }
    jobs.close()
  }
}

/// Works on the jobs of one client.
final class UploadService: Sendable {
  private struct State {
    var driver: Task<Void, Never>?
    /// Whether the driver has to look once more before it ends.
    var isWoken = false
    var running: [UInt64: Task<Void, Never>] = [:]
    /// The jobs of running tasks that were cancelled, as they were then.
    var cancelled: [UInt64: UploadJob] = [:]
    var sleeper: CheckedContinuation<Void, Never>?
  }

  /// The number of jobs executed at once.
  private static let parallel = 2
  /// Seconds between two checks of a lock held by another process, and of an expensive network.
  private static let lookAgain = 2.0

  private let client: String
  private weak let store: LibraryStore?
  /// Releases the service when the library is closed.
  private let uploads: Uploads
  private let state = Mutex(State())

  init(_ client: String, _ store: LibraryStore, _ uploads: Uploads) {
    (self.client, self.store, self.uploads) = (client, store, uploads)
  }

  func wake() {
    guard let store else { return }
    let sleeper = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.isWoken = true
      if state.driver == nil {
        let library = PhotoLibrary(store: store, client: client)
        state.driver = Task.detached(priority: .utility) { [self] in await drive(library) }
      }
      return state.sleeper.take()
    }
    sleeper?.resume()
  }

  func stop() {
    let (tasks, sleeper) = state.withLock { state in
      (Array(state.running.values) + [state.driver].compactMap { $0 }, state.sleeper.take())
    }
    for task in tasks { task.cancel() }
    sleeper?.resume()
  }

  /// Cancels the task of a job, which then removes what the job left; false if none runs it.
  func cancel(_ job: UploadJob) -> Bool {
    let task = state.withLock { state -> Task<Void, Never>? in
      guard let task = state.running[job.number] else { return nil }
      state.cancelled[job.number] = job
      return task
    }
    guard let task else { return false }
    task.cancel()
    return true
  }

  // MARK: The driver

  private func drive(_ library: PhotoLibrary) async {
    do { try await work(library) } catch {
      // It was stopped while it waited, the library was closed, or the jobs are damaged, which the client's own calls
      // report: only a wake-up since then counts.
    }
    let isWoken = state.withLock { state in
      state.driver = nil
      return state.isWoken
    }
    // Also where this driver was stopped, and uploads have been enabled again since.
    if isWoken, !uploads.isClosed { wake() }
  }

  private func work(_ library: PhotoLibrary) async throws {
    // A driver that was stopped leaves the wake-up of those who enabled uploads since then to the next one.
    let isStopped = state.withLock { state in
      if Task.isCancelled { return true }
      state.isWoken = false
      return false
    }
    guard !isStopped else { return }
    var lock: FileLock?
    while try await hasWork() {
      lock = try await insisting { try uploads.jobs.lock(for: client) }
      if lock != nil { break }
      try await uploads.environment.pause(Self.lookAgain)
    }
    guard let lock else { return }
    do { try await beginJobs(library) } catch {
      // As in `drive`. What runs was stopped as well, except where the jobs are damaged: then it goes on to its end.
    }
    // Jobs that were begun end before the lock does, so that no other process takes them up meanwhile.
    for task in state.withLock({ Array($0.running.values) }) { await task.value }
    lock.release()
  }

  private func beginJobs(_ library: PhotoLibrary) async throws {
    while !Task.isCancelled {
      let book = try await insisting { try uploads.jobs.book(of: client) }
      let open = book.client.settings == nil ? [] : book.ordered.filter { $0.allows(.process) }
      let running = state.withLock { $0.running.count }
      if running == 0 { removeCopies(of: book.jobs.values) }
      if open.isEmpty, running == 0 { break }
      for job in open { begin(job, library) }
      await sleep()
    }
  }

  /// What the store answers; while it fails, it is asked again after pauses that grow.
  ///
  /// The client's own calls report the failure. A driver that ended with it would leave jobs without one until such a
  /// call, and give its lock away while jobs run.
  /// - Throws: `CancellationError`; ``LibraryError`` `.closed`, and `.corrupted`, which no pause mends.
  private func insisting<R>(_ look: () throws -> R) async throws -> R {
    let pauses = uploads.environment.limits.pauses
    var pause = pauses.lowerBound
    while true {
      do { return try look() } catch let error as LibraryError
        where error.code != .closed && error.code != .corrupted
      {
        try await uploads.environment.pause(pause)
        pause = min(pause * 2, pauses.upperBound)
      }
    }
  }

  /// Removes the copies that a process left which was killed between the end of a job and their removal; none runs.
  private func removeCopies(of jobs: some Sequence<UploadJob>) {
    for job in jobs { uploads.jobs.removeCopy(for: job) }
  }

  private func hasWork() async throws -> Bool {
    let book = try await insisting { try uploads.jobs.book(of: client) }
    return book.client.settings != nil && book.jobs.values.contains { $0.allows(.process) }
  }

  private func begin(_ job: UploadJob, _ library: PhotoLibrary) {
    state.withLock { state in
      guard state.running.count < Self.parallel, state.running[job.number] == nil else { return }
      state.running[job.number] = Task.detached(priority: .utility) { [self] in
        let run = UploadRun(job, library, uploads)
        await run.execute()
        let cancelled = ended(job.number)
        await run.withdraw(cancelled)
      }
    }
  }

  /// Counts a job no longer among those that run.
  /// - Returns: the job if it was cancelled meanwhile.
  private func ended(_ number: UInt64) -> UploadJob? {
    let (sleeper, cancelled) = state.withLock { state -> (CheckedContinuation<Void, Never>?, UploadJob?) in
      state.running[number] = nil
      state.isWoken = true
      return (state.sleeper.take(), state.cancelled.removeValue(forKey: number))
    }
    sleeper?.resume()
    uploads.notifyEnd(of: client)
    return cancelled
  }

  /// Waits for a wake-up or the end of a job; not where the driver was stopped, which leaves a wake-up as it is.
  private func sleep() async {
    await withCheckedContinuation { continuation in
      let isAwake = state.withLock { state in
        if Task.isCancelled { return true }
        if state.isWoken {
          state.isWoken = false
          return true
        }
        state.sleeper = continuation
        return false
      }
      if isAwake { continuation.resume() }
    }
  }
}

extension LibraryStore {
  /// The upload jobs of clients, and what works on them.
  var uploads: Uploads { part { Uploads(in: $0.folder) } }
}
