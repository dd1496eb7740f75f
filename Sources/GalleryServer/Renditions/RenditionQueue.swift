#if Gallery
  import Foundation
  import MediaImport
  import PhotoLedger
  import Synchronization

  // What is to be made, and by whom.
  //
  //     a request that waits ──▶ wanted: by turns of clients ──┬─▶ workers, one for each processor
  //     idle filling ──────────▶ idle: in its order ───────────┘
  //                              films: by turns of clients ─┬──▶ a worker for copies, one at a time
  //                                                          └──▶ a worker for transcodes, one at a time
  //
  // The turn of a client takes what it wanted last (`RenditionShares`).
  //
  // A film that is opened is wanted as a picture is, and a worker looks at it. One that plays as it is needs no more;
  // one whose tracks are to be copied or transcoded goes to the films. Either takes minutes, or an hour if its program
  // hangs: for a copy only other copies wait, for a transcode only other transcodes. A film
  // that has begun is given up only when everything stops.
  //
  // Idle work takes at most all workers but one, in batches; a request that finds no worker free ends the batch, which
  // goes back to its place: what is looked at comes first. What was asked for of such a batch while it ran is wanted
  // from then on. The programs of idle work have a lower priority, also where a request comes while they run. All
  // queues are bounded: of the wanted the oldest of the client that wants most leaves, whose request hears that it has
  // to come back; the filling waits for room. A batch that was once to be given up stays so: a program that was stopped
  // for it has not failed.
  //
  // Invariant: a content is worked on by one worker at a time; a piece of work is in one of the queues or in one
  // worker's hands until it is done. `ended` is called after that: a request that comes because of it begins new work.

  /// A piece of work: the pictures, or the playable film, of a content.
  struct RenditionJob: Sendable {
    /// Names a piece of work.
    struct Name: Hashable, Sendable {
      let hash: [UInt8]
      let isPlay: Bool
    }

    let name: Name
    /// What it takes, a copy or a transcode; nil of pictures, and of a film that is still to be looked at.
    var playback: Playback?
    /// Whether no request waits for it; the jobs of a batch are alike in that.
    var isIdle = false
    /// The clients that want it; none for idle work.
    var clients: Set<ExactText> = []
    /// Finds the file; called when the work begins.
    let source: @Sendable () throws -> URL
  }

  /// The queues of renditions and their workers.
  final class RenditionQueue: @unchecked Sendable {  // guarded by: `condition`, all that can change
    /// How some work ended.
    enum End: Sendable, Equatable {
      case finished
      case givenUp
      /// A film was looked at: it takes a copy or a transcode, which is made later.
      case lookedAt(Playback)
    }

    /// Does some jobs, pictures or one film.
    typealias Work = @Sendable (_ jobs: [RenditionJob], _ isCancelled: @escaping @Sendable () -> Bool) -> End

    private let condition = NSCondition()
    private var wanted = RenditionShares()
    /// What is to be made of films that were looked at.
    private var films: [Playback: RenditionShares] = [:]
    private var idle = OrderedLine<RenditionJob.Name>()
    private var idleJobs: [RenditionJob.Name: RenditionJob] = [:]
    private var running: Set<RenditionJob.Name> = []
    /// What was asked for while it ran, once for each client, the newest last.
    private var asked: [RenditionJob] = []
    private var busy = 0
    private var idleBusy = 0
    /// What is made of films now, each by one worker.
    private var busyFilms: Set<Playback> = []
    private var threads = 0
    private var isStopping = false
    private var roomWaiters: [CheckedContinuation<Void, Never>] = []

    private let workerCount: Int
    private let limit: Int
    private let stackSize: Int
    private let work: Work
    private let dropped: @Sendable (RenditionJob.Name) -> Void
    private let ended: @Sendable ([RenditionJob], _ isDone: Bool) -> Void
    private static let idleBatch = 8
    /// What is made of films.
    private static let playbacks: [Playback] = [.remux, .transcode]

    /// - Parameters:
    ///   - workerCount: how many work at the same time.
    ///   - limit: how many pieces of work wait in each queue; what two clients want takes two of its places.
    ///   - stackSize: the bytes of a worker's stack; 0: the usual size.
    ///   - dropped: is called for a wanted piece that had to leave.
    ///   - ended: is called with jobs that are in no worker's hands any more, and whether they were finished.
    ///   - work: does some jobs.
    init(
      workerCount: Int, limit: Int, stackSize: Int = 0, dropped: @escaping @Sendable (RenditionJob.Name) -> Void,
      ended: @escaping @Sendable ([RenditionJob], _ isDone: Bool) -> Void = { _, _ in }, work: @escaping Work
    ) {
      (self.workerCount, self.limit, self.stackSize) = (max(1, workerCount), limit, stackSize)
      (self.dropped, self.ended, self.work) = (dropped, ended, work)
    }

    private func locked<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
      condition.lock()
      defer { condition.unlock() }
      return try body()
    }

    /// How many pieces of work wait.
    var count: Int { locked { wanted.count + films.values.reduce(0) { $0 + $1.count } + idle.count } }

    /// Asks for a piece of work; in the turns of its client it comes before all that the client asked for earlier.
    /// - Returns: false if the queue is stopping.
    func want(_ job: RenditionJob, of client: ExactText) -> Bool {
      var job = job
      job.clients = [client]
      let left = locked { add(job) }
      for name in left ?? [] { dropped(name) }
      return left != nil
    }

    /// Adds a piece of work that a client wants; called with the lock held.
    /// - Returns: the work that had to leave; nil if the queue is stopping.
    private func add(_ job: RenditionJob) -> [RenditionJob.Name]? {
      if isStopping { return nil }
      if running.contains(job.name) {
        asked.removeAll { $0.name == job.name && $0.clients == job.clients }
        asked.append(job)
        return []
      }
      // Without a worker the request waits for one that comes with a later piece of work.
      try? startWorkers()
      if let playback = Self.playbacks.first(where: { films[$0]?.contains(job.name) == true }) {
        return add(job, toBe: playback)
      }
      removeIdle(job.name)
      defer { condition.broadcast() }
      return wanted.add(job, limit)
    }

    /// Adds a film that is to be copied or transcoded; called with the lock held.
    private func add(_ job: RenditionJob, toBe playback: Playback) -> [RenditionJob.Name] {
      var film = job
      film.playback = playback
      return films[playback, default: RenditionShares()].add(film, limit)
    }

    @discardableResult
    private func removeIdle(_ name: RenditionJob.Name) -> RenditionJob? {
      idle.remove(name)
      return idleJobs.removeValue(forKey: name)
    }

    /// Adds a piece of idle work, unless it waits already; waits while there is no room.
    /// - Throws: ``LibraryError`` `.storage` if there is no worker, and the system allows no thread for one: there
    ///   would be no room any more.
    func fill(_ job: RenditionJob) async throws {
      while true {
        let isDone = try locked { () throws(LibraryError) -> Bool in
          if isStopping || running.contains(job.name) || idle.contains(job.name) { return true }
          try startWorkers()
          guard idle.count < limit else { return false }
          var idleJob = job
          idleJob.isIdle = true
          idle.append(job.name)
          idleJobs[job.name] = idleJob
          condition.broadcast()
          return true
        }
        if isDone { return }
        await withCheckedContinuation { continuation in
          let mustWait = locked { () -> Bool in
            guard idle.count >= limit, !isStopping else { return false }
            roomWaiters.append(continuation)
            return true
          }
          if !mustWait { continuation.resume() }
        }
      }
    }

    /// Gives up what is being made, and waits until the last worker has ended.
    func stop() {
      let (left, waiters) = locked { () -> ([RenditionJob.Name], [CheckedContinuation<Void, Never>]) in
        isStopping = true
        defer {
          (wanted, films) = (RenditionShares(), [:])
          (idle, idleJobs, roomWaiters) = (OrderedLine(), [:], [])
        }
        condition.broadcast()
        return (wanted.names + films.values.flatMap(\.names), roomWaiters)
      }
      for name in left { dropped(name) }
      for waiter in waiters { waiter.resume() }
      condition.lock()
      while threads > 0 { condition.wait() }
      condition.unlock()
    }

    // MARK: Workers

    /// Starts the workers with the first piece of work; called with the lock held.
    /// - Throws: ``LibraryError`` `.storage` if there is none after that.
    private func startWorkers() throws(LibraryError) {
      // Two more than work on pictures: for a copy and for a transcode.
      while threads < workerCount + 2 {
        threads += 1
        do throws(LibraryError) {
          try OwnThread.start("ledger-picture", stackSize: stackSize) { [self] in
            while let (jobs, isIdle) = next() { finish(jobs, isIdle, work(jobs, cancellation(isIdle))) }
            locked {
              threads -= 1
              condition.broadcast()
            }
          }
        } catch {
          // Those that run do the work; the next piece tries again.
          threads -= 1
          if threads == 0 { throw error }
          return
        }
      }
    }

    /// Whether work is to be given up: when everything stops, and idle work when a request finds no worker.
    private func cancellation(_ isIdle: Bool) -> @Sendable () -> Bool {
      let wasGivenUp = Mutex(false)
      return { [self] in
        let isInTheWay = locked { isStopping || isIdle && !wanted.isEmpty && busy - busyFilms.count >= workerCount }
        return wasGivenUp.withLock { wasGivenUp in
          wasGivenUp = wasGivenUp || isInTheWay
          return wasGivenUp
        }
      }
    }

    private func next() -> (jobs: [RenditionJob], isIdle: Bool)? {
      condition.lock()
      defer { condition.unlock() }
      while true {
        if isStopping { return nil }
        if let jobs = takeJobs() {
          busy += 1
          if jobs.isIdle { idleBusy += 1 }
          if let playback = jobs.jobs[0].playback { busyFilms.insert(playback) }
          return jobs
        }
        condition.wait()
      }
    }

    /// What is to be done next, which is in a worker's hands then; called with the lock held.
    private func takeJobs() -> (jobs: [RenditionJob], isIdle: Bool)? {
      for playback in Self.playbacks where !busyFilms.contains(playback) {
        guard let film = films[playback]?.take(atMost: 1).first else { continue }
        running.insert(film.name)
        return ([film], false)
      }
      guard busy - busyFilms.count < workerCount else { return nil }
      if !wanted.isEmpty {
        // Few are done one by one, since requests wait; many in batches, since that is sooner for all. A batch is of
        // one client, and as large for each. A film is always done by itself.
        let jobs = wanted.take(atMost: min(Self.idleBatch, max(1, wanted.count / workerCount / 2)))
        running.formUnion(jobs.map(\.name))
        return (jobs, false)
      }
      guard !idle.isEmpty, idleBusy < max(1, workerCount - 1) else { return nil }
      let jobs = takeIdle()
      let waiters = roomWaiters
      roomWaiters = []
      for waiter in waiters { waiter.resume() }
      return jobs.isEmpty ? nil : (jobs, true)
    }

    /// Takes a batch of idle work out of its queue. What another worker has in its hands is left out.
    private func takeIdle() -> [RenditionJob] {
      var jobs: [RenditionJob] = []
      while jobs.count < Self.idleBatch, let name = idle.first {
        guard let job = removeIdle(name), running.insert(name).inserted else { continue }
        jobs.append(job)
      }
      return jobs
    }

    private func finish(_ jobs: [RenditionJob], _ isIdle: Bool, _ end: End) {
      let left = locked { () -> [RenditionJob.Name] in
        busy -= 1
        if isIdle { idleBusy -= 1 }
        if let playback = jobs[0].playback { busyFilms.remove(playback) }
        for job in jobs { running.remove(job.name) }
        let names = Set(jobs.map(\.name))
        let nowWanted = asked.filter { names.contains($0.name) }
        asked.removeAll { names.contains($0.name) }
        defer { condition.broadcast() }
        if end == .finished || isStopping { return [] }
        if case .lookedAt(let playback) = end {
          // All that wanted it before it was looked at, or meanwhile; the file is that of the last request.
          var film = nowWanted.last ?? jobs[0]
          film.clients = nowWanted.reduce(jobs[0].clients) { $0.union($1.clients) }
          return add(film, toBe: playback)
        }
        guard isIdle else { return [] }
        let wantedNames = Set(nowWanted.map(\.name))
        for job in jobs.reversed() where !wantedNames.contains(job.name) {
          idle.prepend(job.name)
          idleJobs[job.name] = job
        }
        return nowWanted.flatMap { wanted.add($0, limit) }
      }
      for name in left { dropped(name) }
      ended(jobs, end == .finished)
    }
  }
#endif
