#if Gallery
  import Foundation
  import HTTPServing
  import MediaImport
  import PhotoLedger
  import Synchronization

  // Renditions for the server: the cache (`RenditionCache`), the jobs (`RenditionQueue`), and the waiting requests.
  //
  //     GET …/small ─▶ ready? ─ yes ─▶ the file
  //                       │ no
  //                       ├─ failed with these programs ─▶ 422 and the reason; a program that was killed, by a limit
  //                       │                                or a signal, has failed the third time
  //                       └─ wanted ─▶ made, or failed ─▶ the answer, and `event: rendition` to the feeds
  //                            └─ not within the time ─▶ 503, come back
  //
  // Contents are named by their hash, so a picture that lies in ten assets is made once. Who may see it is decided by
  // the asset through which it is asked for, each time.

  /// How a server makes renditions.
  public struct RenditionOptions: Sendable {
    /// The most bytes that the cache takes.
    public var byteBudget: UInt64 = 20 << 30
    /// How many programs work on pictures at the same time; a copy and a transcode of films run beside them.
    public var processCount = ProcessInfo.processInfo.activeProcessorCount
    /// Whether the pictures of the whole library are made when nothing is asked for, the newest first.
    public var fillsIdleTime = false
    /// How many contents wait to be made; further ones are asked to come back.
    public var queueLimit = 4096
    /// Where programs are looked for: folders with colons between them; nil: the environment's `PATH`.
    public var searchPath: String?

    /// 20 GiB, one program for each processor, on request only.
    public init() {}
  }

  /// Makes and keeps the renditions of a library.
  final class Renditions: PhotoLibraryChangeObserver, Sendable {
    /// What became of a wish.
    enum Outcome: Sendable {
      case there(RenditionRecord)
      case failed(String)
      /// Not within the time.
      case pending
    }

    private struct State {
      var waiters: [RenditionJob.Name: [(number: UInt64, continuation: CheckedContinuation<Void, Never>)]] = [:]
      var next: UInt64 = 0
      var filler: Task<Void, Never>?
      /// Whether contents of erased assets could not be removed.
      var mustErase = false
    }

    let library: PhotoLibrary
    private let options: RenditionOptions
    private let now: @Sendable () -> Date
    private let opened = MadeOnce<(cache: RenditionCache, renderer: MediaRenderer, queue: RenditionQueue)>()
    /// Whether there was a cache when the server was started.
    private let hasCache: Bool
    /// Guarded by its lock.
    private let state = Mutex(State())
    /// Receives what the operator should know.
    private let reporting = Mutex<@Sendable (String) -> Void>({ _ in })
    /// Is called with a content whose pictures, or whose film, are there now or have failed.
    private let ready: @Sendable ([UInt8]) -> Void
    /// Marks the programs, so that what they could not do is tried again with others.
    private let programs: UInt64

    init(
      _ library: PhotoLibrary, _ options: RenditionOptions, now: @escaping @Sendable () -> Date,
      ready: @escaping @Sendable ([UInt8]) -> Void
    ) {
      (self.library, self.options, self.now, self.ready) = (library, options, now, ready)
      hasCache = library.store.folder.status(of: "renditions") != nil
      programs = MediaRenderer(searchPath: options.searchPath).programMark
    }

    /// The parts, made when they are first needed: a server that is asked for no picture makes no folder.
    private func parts() throws -> (cache: RenditionCache, renderer: MediaRenderer, queue: RenditionQueue) {
      try opened.made {
        // A path that stays right when the library is moved while it is open.
        let folder = URL(
          filePath: library.store.folder.linkedPath(of: "renditions"), directoryHint: .isDirectory)
        let cache = try RenditionCache(in: folder, budget: options.byteBudget, now: now) { [weak self] sentence in
          let report = self?.reporting.withLock { $0 }
          report?(sentence)
        }
        removeLeftovers(of: cache, in: folder)
        let renderer = MediaRenderer(searchPath: options.searchPath, workFolder: folder)
        let idleRenderer = renderer.yielding()
        let queue = RenditionQueue(
          workerCount: options.processCount, limit: options.queueLimit,
          dropped: { [weak self] name in self?.wake(name) },
          // What is left of a batch that was given up is made later.
          ended: { [weak self] jobs, isDone in
            for job in jobs where isDone || self?.settled(job.name, cache) != nil { self?.wake(job.name) }
          },
          work: { [weak self] jobs, isCancelled in
            self?.make(jobs, cache, jobs[0].isIdle ? idleRenderer : renderer, isCancelled) ?? .givenUp
          })
        return (cache, renderer, queue)
      }
    }

    /// Removes in the background what an earlier recipe left, which may be as much as the budget, and what the programs
    /// of killed processes worked on.
    private func removeLeftovers(of cache: RenditionCache, in parent: URL) {
      // The paths lead through the folder's descriptor.
      let (strangers, folder) = (cache.strangers, library.store.folder)
      DispatchQueue.global(qos: .background).async {
        withExtendedLifetime(folder) {
          // What cannot be removed takes room and is never read.
          _ = try? WorkRoots.removeLeft(in: parent)
          for stranger in strangers { try? FileManager.default.removeItem(at: stranger) }
        }
      }
    }

    // MARK: Asking

    /// The resource that an asset shows: what an edit rendered, or the original of its choice.
    static func shown(_ asset: Asset, in library: PhotoLibrary) throws -> AssetResource? {
      guard asset.mediaType == .image || asset.mediaType == .video else { return nil }
      return try library.resources(of: asset).shown(asset)
    }

    /// The resource that moves: a film, or the film of a Live Photo; nil where nothing does.
    static func played(_ asset: Asset, in library: PhotoLibrary) throws -> AssetResource? {
      guard asset.mediaType == .image else { return asset.mediaType == .video ? try shown(asset, in: library) : nil }
      return try library.resources(of: asset).shownPairedVideo(asset)
    }

    /// What there is of a content.
    func record(_ hash: [UInt8]) -> RenditionRecord { (try? parts())?.cache.record(hash) ?? RenditionRecord() }

    /// Grows with each change of what there is of any content; only for comparing, and never shown to a client.
    var revision: Int { opened.value?.cache.revision ?? 0 }

    /// Whether ``records(of:)`` opens nothing: the cache is open, or there was none.
    var isAtHand: Bool { opened.value != nil || !hasCache }

    /// Opens the cache if there is one, so that it is at hand from then on; on a thread that may wait.
    func prepare() {
      // What cannot be opened is said where a picture is asked for.
      if !isAtHand { _ = try? parts() }
    }

    /// What there is of the files that assets show; nil for one that shows none, and for all while there is nothing.
    func records(of assets: [ListedAsset]) -> [RenditionRecord?]? {
      if isAtHand { return opened.value?.cache.records(of: assets) }
      return (try? parts())?.cache.records(of: assets)
    }

    /// The record of a content whose pictures are there, or whose film is; nil if something is to be made, or failed.
    func made(_ hash: [UInt8], isPlay: Bool) -> RenditionRecord? {
      // Opening the cache reads the list of all of them; what asks first waits for it in a task.
      guard let cache = opened.value?.cache,
        case .there(let record)? = settled(RenditionJob.Name(hash: hash, isPlay: isPlay), cache)
      else { return nil }
      return record
    }

    /// How many contents wait to be made.
    var waitingCount: Int { opened.value?.queue.count ?? 0 }
    /// The programs without which some files have no picture or film, and that are not installed.
    var missingPrograms: [String] { MediaRenderer(searchPath: options.searchPath).missingPrograms }
    /// Whether another process has the cache, so that what is made is this one's alone.
    var isPassing: Bool { opened.value?.cache.isPassing ?? false }
    /// The bytes of the cache.
    var byteCount: UInt64 { opened.value?.cache.total ?? 0 }

    /// Waits for the pictures of a content, or for the film as it is played.
    /// - Parameter client: who has a turn for it.
    func wait(
      for resource: AssetResource, of asset: Asset, isPlay: Bool, by client: ExactText, atMost limit: Duration
    ) async throws -> Outcome {
      let (cache, _, queue) = try await offload { [self] in try parts() }
      let name = RenditionJob.Name(hash: resource.sha256, isPlay: isPlay)
      if let outcome = settled(name, cache) { return outcome }
      let job = RenditionJob(name: name) { [library] in try library.url(of: resource, in: asset) }
      guard limit > .zero else {
        _ = queue.want(job, of: client)
        return .pending
      }
      let number = state.withLock { state in
        state.next += 1
        return state.next
      }
      var timer: Task<Void, Never>?
      defer { timer?.cancel() }
      await withCheckedContinuation { continuation in
        state.withLock { $0.waiters[name, default: []].append((number, continuation)) }
        // It wakes what waits already, so it starts after that.
        timer = Task { [weak self] in
          try? await Task.sleep(for: limit)
          self?.wake(name, only: number)
        }
        if !queue.want(job, of: client) || settled(name, cache) != nil { wake(name) }
      }
      return settled(name, cache) ?? .pending
    }

    private func settled(_ name: RenditionJob.Name, _ cache: RenditionCache) -> Outcome? {
      let record = cache.record(name.hash)
      let isFailed = name.isPlay ? record.play == .failed : record.state == .failed
      if isFailed, record.programs == programs { return .failed(cache.reason(name.hash, isPlay: name.isPlay)) }
      let isThere = name.isPlay ? [.original, .made].contains(record.play) : record.state == .ready
      guard isThere else { return nil }
      cache.touch(name.hash, record)
      return .there(record)
    }

    private func wake(_ name: RenditionJob.Name, only number: UInt64? = nil) {
      let woken = state.withLock { state in
        let all = state.waiters[name] ?? []
        let left = all.filter { number != nil && $0.number != number }
        state.waiters[name] = left.isEmpty ? nil : left
        return all.filter { number == nil || $0.number == number }
      }
      for waiter in woken { waiter.continuation.resume() }
    }

    /// A file of the cache, or nil if it is not as it was written; then it is forgotten.
    func file(_ hash: [UInt8], _ kind: RenditionCache.Kind, size: UInt64) throws -> URL? {
      let (cache, _, _) = try parts()
      let file = cache.file(hash, kind)
      var status = stat()
      if stat(file.path, &status) == 0, UInt64(status.st_size) == size, size > 0 { return file }
      cache.forget(hash, kind)
      return nil
    }

    // MARK: Making

    private func make(
      _ jobs: [RenditionJob], _ cache: RenditionCache, _ renderer: MediaRenderer,
      _ isCancelled: @escaping @Sendable () -> Bool
    ) -> RenditionQueue.End {
      var found: [(job: RenditionJob, file: URL)] = []
      for job in jobs where settled(job.name, cache) == nil {
        // A missing file can be restored, so it is not a failure of its content: the next request tries again.
        guard let file = try? job.source(), Self.isThere(file) else { continue }
        found.append((job, file))
      }
      var end = RenditionQueue.End.finished
      if let film = found.first, film.job.name.isPlay {
        end = makeFilm(film.job, of: film.file, cache, renderer, isCancelled)
      } else if !found.isEmpty {
        let outcomes = renderer.renditions(of: found.map(\.file), isCancelled: isCancelled)
        for ((job, file), outcome) in zip(found, outcomes) {
          if case .failure = outcome, !Self.isThere(file) { continue }
          keep(outcome, of: job.name.hash, file, cache, isCancelled)
        }
      }
      eraseGone(among: jobs.map(\.name.hash), cache)
      let isGivenUp = end == .finished && isCancelled() && jobs.contains { settled($0.name, cache) == nil }
      return isGivenUp ? .givenUp : end
    }

    /// Removes what was made of contents that no asset has any more.
    /// - Parameter hashes: contents of which something was made, which an erasure that ran meanwhile did not find; nil:
    ///   any.
    private func eraseGone(among hashes: [[UInt8]]?, _ cache: RenditionCache) {
      do {
        if let hashes, !state.withLock({ $0.mustErase }) { return try cache.erase(gone(hashes)) }
        state.withLock { $0.mustErase = false }
        try cache.erase { try gone($0) }
      } catch {
        // Tried again with the next picture. The erasure itself reports what cannot be removed from the folder.
        state.withLock { $0.mustErase = true }
      }
    }

    /// Those of some contents that no asset has.
    private func gone(_ hashes: [[UInt8]]) throws -> Set<[UInt8]> {
      Set(zip(hashes, try library.firstAssets(withContents: hashes)).filter { $0.1 == nil }.map(\.0))
    }

    /// Forgets the contents of erased assets, whichever process erased them.
    func photoLibraryDidChange(_ change: LibraryChange) {
      guard change.erasesAssets, let cache = opened.value?.cache else { return }
      eraseGone(among: nil, cache)
    }

    static func isThere(_ file: URL) -> Bool { FileManager.default.isReadableFile(atPath: file.path) }

    private func keep(
      _ outcome: Result<RenditionSet, any Error>, of hash: [UInt8], _ file: URL, _ cache: RenditionCache,
      _ isCancelled: () -> Bool
    ) {
      switch outcome {
      case .success(let set):
        do {
          try cache.keep(set, of: hash)
          ready(hash)
        } catch {
          // The disk is full: the next one that asks tries again.
          return
        }
      case .failure(let error):
        if !isCancelled() { fail(error, hash, of: file, isPlay: false, cache) }
      }
    }

    private func fail(_ error: any Error, _ hash: [UInt8], of file: URL, isPlay: Bool, _ cache: RenditionCache) {
      guard let error = error as? ImportError, cache.hasRoom else { return }
      cache.fail(
        Self.reason(error, file, hash), hash, isPlay: isPlay, isPassing: error.isPassing, programs: programs)
      let record = cache.record(hash)
      if isPlay ? record.play == .failed : record.state == .failed { ready(hash) }
    }

    /// Why a file has no picture. It is named by its hash: a client that may see the picture learns neither a path nor
    /// the name of a file that is referenced.
    private static func reason(_ error: ImportError, _ file: URL, _ hash: [UInt8]) -> String {
      let text = "\(error)"
      let name = text.contains(file.path) ? file.path : file.lastPathComponent
      var reason = text.replacing(name, with: hash.hexadecimal)
      // Programs are named by their paths.
      let isOfProgram = [.toolFailed, .toolTimeout, .toolCrashed, .toolOutputTooLarge].contains(error.code)
      if isOfProgram, error.path.hasPrefix("/") {
        reason = reason.replacing(error.path, with: URL(filePath: error.path).lastPathComponent)
      }
      guard Problem.namesPath(reason) else { return reason }
      return "The server's rendering programs cannot render the file \(hash.hexadecimal)."
    }

    /// Looks at the film that is played, or makes it if it was looked at.
    private func makeFilm(
      _ job: RenditionJob, of file: URL, _ cache: RenditionCache, _ renderer: MediaRenderer,
      _ isCancelled: @escaping @Sendable () -> Bool
    ) -> RenditionQueue.End {
      let hash = job.name.hash
      do {
        guard let playback = job.playback else {
          let playback = try renderer.playback(of: file)
          if playback != .original { return .lookedAt(playback) }
          cache.keep(.original, size: 0, of: hash)
          ready(hash)
          return .finished
        }
        let target = try cache.newFile(hash, .play)
        try renderer.makePlayable(file, by: playback, at: target, isCancelled: isCancelled)
        let size = try FileManager.default.attributesOfItem(atPath: target.path)[.size] as? UInt64 ?? 0
        cache.keep(.made, size: size, of: hash)
        ready(hash)
      } catch {
        if !isCancelled(), Self.isThere(file) { fail(error, hash, of: file, isPlay: true, cache) }
      }
      return .finished
    }

    // MARK: Idle time

    /// How long the making of what is missing waits after its first failure, and at most, in seconds.
    private static let (firstWait, longestWait) = (60.0, 3600.0)

    /// Begins to follow erasures, and to make what is missing if the options say so.
    /// - Parameters:
    ///   - sleep: waits for a number of seconds.
    ///   - report: receives a sentence when what is missing cannot be made, which is tried again later, and when
    ///     another process has taken the cache.
    /// - Throws: ``LibraryError`` if the library cannot be followed.
    func start(
      sleep: @escaping @Sendable (Double) async throws -> Void, report: @escaping @Sendable (String) -> Void
    ) throws {
      reporting.withLock { $0 = report }
      try library.register(self)
      guard options.fillsIdleTime else { return }
      let task = Task<Void, Never>.detached { [self] in
        await retry(sleep, report) { [self] in try await fillIdleTime(sleep, report) }
      }
      state.withLock { $0.filler = task }
    }

    /// Repeats work that fails, at first after a minute and then less often, until it ends or the library closes. What
    /// fails after an attempt that lasted longer than the longest wait is a new failure.
    private func retry(
      _ sleep: @escaping @Sendable (Double) async throws -> Void, _ report: @escaping @Sendable (String) -> Void,
      _ work: @escaping @Sendable () async throws -> Void
    ) async {
      var (wait, said) = (Self.firstWait, "")
      while true {
        let begin = now()
        do {
          try await work()
          return
        } catch {
          if Self.endsFilling(error) { return }
          if now().timeIntervalSince(begin) > Self.longestWait { (wait, said) = (Self.firstWait, "") }
          let sentence = "Pictures that are missing are not made in idle time for now: \(error)"
          if sentence != said { report(sentence) }
          said = sentence
        }
        do { try await sleep(wait) } catch { return }
        wait = min(2 * wait, Self.longestWait)
      }
    }

    /// Whether the library is closing: there is nothing to fill any more.
    private static func endsFilling(_ error: any Error) -> Bool {
      Task.isCancelled || error is CancellationError || (error as? LibraryError)?.code == .closed
    }

    /// Makes what is missing and what is added, until the library closes.
    private func fillIdleTime(
      _ sleep: @escaping @Sendable (Double) async throws -> Void, _ report: @escaping @Sendable (String) -> Void
    ) async throws {
      let (cache, renderer, queue) = try await offload { [self] in try parts() }
      guard renderer.makesPictures else { return }
      var options = FetchOptions()
      options.sort = [try SortTerm("creationDate:desc", for: .asset)]
      // A client that is limited to its selection is shown what lies beneath the top of a stack.
      (options.includeHiddenAssets, options.includeAllStackAssets) = (true, true)
      let result = try await offload { [library, options] in try library.fetchAssets(options) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        // What is there is tried again by itself: what is added meanwhile gets its pictures.
        group.addTask { [self] in
          await retry(sleep, report) { [self] in try await scan(result, cache, queue) }
        }
        group.addTask { [self] in try await follow(result, cache, queue) }
        // An error of following ends both.
        for try await _ in group {}
      }
    }

    private func follow(_ result: FetchResult<Asset>, _ cache: RenditionCache, _ queue: RenditionQueue) async throws {
      for try await change in library.changes(to: result) {
        let positions = ((change.changes?.inserted ?? []) + (change.changes?.changed ?? [])).sorted()
        try await fill(change.fetchResultAfterChanges, at: positions, cache, queue)
      }
    }

    private func scan(_ result: FetchResult<Asset>, _ cache: RenditionCache, _ queue: RenditionQueue) async throws {
      try await fill(result, at: 0..<result.count, cache, queue)
    }

    /// How many assets are read at a time. The queue may have room for further ones hours later.
    static let fillStride = 256

    /// Has the pictures of assets made; those that cannot be read do not keep those of the others from being made.
    /// - Throws: the first error, when all assets have been looked at.
    private func fill(
      _ result: FetchResult<Asset>, at positions: some RandomAccessCollection<Int>, _ cache: RenditionCache,
      _ queue: RenditionQueue
    ) async throws {
      var failure: (any Error)?
      for start in stride(from: 0, to: positions.count, by: Self.fillStride) {
        try Task.checkCancellation()
        let part = Array(positions.dropFirst(start).prefix(Self.fillStride))
        do {
          let (jobs, partFailure) = try await offload { [self] in try missing(result, at: part, cache) }
          failure = failure ?? partFailure
          for job in jobs {
            try Task.checkCancellation()
            try await queue.fill(job)
          }
        } catch {
          if Self.endsFilling(error) { throw error }
          failure = failure ?? error
        }
      }
      if let failure { throw failure }
    }

    /// The pictures that assets of a result lack, in its order, and the first error of the assets whose files cannot be
    /// read.
    private func missing(
      _ result: FetchResult<Asset>, at positions: [Int], _ cache: RenditionCache
    ) throws -> (jobs: [RenditionJob], failure: (any Error)?) {
      var (jobs, failure) = ([RenditionJob](), nil as (any Error)?)
      for asset in try result.objects(at: IndexSet(positions)) {
        do {
          guard let resource = try Self.shown(asset, in: library) else { continue }
          let name = RenditionJob.Name(hash: resource.sha256, isPlay: false)
          // What was evicted is made when it is asked for: filling would throw out what is looked at.
          guard settled(name, cache) == nil, cache.record(name.hash).placeholder.isEmpty else { continue }
          jobs.append(RenditionJob(name: name) { [library] in try library.url(of: resource, in: asset) })
        } catch {
          if Self.endsFilling(error) { throw error }
          failure = failure ?? error
        }
      }
      return (jobs, failure)
    }

    /// Ends what is being made and returns when no program runs any more.
    func stop() async {
      library.unregisterChangeObserver(self)
      state.withLock { $0.filler }?.cancel()
      await withCheckedContinuation { continuation in
        let end: @Sendable () -> Void = { [opened] in
          opened.end()?.queue.stop()
          continuation.resume()
        }
        do throws(LibraryError) { try OwnThread.start("ledger-ending", end) } catch { end() }
      }
      for name in state.withLock({ Array($0.waiters.keys) }) { wake(name) }
    }

    /// Lets another server have the cache, once this one answers no request and ``stop()`` has returned.
    func release() { opened.value?.cache.release() }
  }
#endif
