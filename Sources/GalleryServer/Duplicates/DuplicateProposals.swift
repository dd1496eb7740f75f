#if Gallery
  import Foundation
  import JSONReading
  import LibraryJSON
  import MediaImport
  import PhotoLedger
  import Synchronization

  // The search for photos that show one picture, and what it found, for as long as the server runs.
  //
  //   idle ──begin──▶ searching ──▶ ready ──begin──▶ searching …
  //    ▲                 │  └─────▶ failed
  //    └────────end──────┘
  //
  // It is the search of `photoledger duplicates`: what pictures look like is kept beside the library, so the command
  // and the server each go on where the other stopped. There is one search at a time, with half of the processors,
  // since it decodes every picture that was not read before. Proposals are not facts of the library; they lie in
  // memory, and the next search makes them anew. Nothing is changed by a search: a group is merged by a block
  // (`asset.merge`).
  //
  // Invariant: a group is shown as it is when it is asked for. Photos that were purged or moved to the trash since are
  // left out, and so are those that the owner rejected as duplicates of the keeper or of another one that is shown, and
  // a group without its keeper or without others, so no merged or rejected group is proposed again.

  /// The proposals of a server.
  final class DuplicateProposals: Sendable {
    private enum Phase: String { case idle, searching, ready, failed }

    private struct State {
      var phase = Phase.idle
      /// The name of the search; empty before the first.
      var search = ""
      var distance = DuplicateSearch.usualDistance
      var done = 0
      var total = 0
      /// What a search that has ended found.
      var summary: DuplicateSummary?
      var problem: String?
      /// How many decisions about proposals were made since the server was started.
      var decisions = 0
      var task: Task<Void, Never>?
      var isEnded = false
    }

    private let state = Mutex(State())

    /// Begins a search of the whole library, unless one is going on.
    /// - Throws: ``Problem`` 501 if a program is missing that it needs.
    func begin(
      within distance: Int, in library: PhotoLibrary, _ environment: GalleryEnvironment, waking watch: AccessWatch
    ) throws {
      let processors = ProcessInfo.processInfo.activeProcessorCount
      let search: DuplicateSearch
      do {
        search = try DuplicateSearch(of: library, within: distance, threadCount: max(1, processors / 2))
      } catch let error as ImportError {
        throw Problem(501, "converter-missing", error.description)
      }
      let name = environment.randomBytes(8).hexadecimal
      state.withLock { state in
        guard state.phase != .searching, !state.isEnded else { return }
        state = State(phase: .searching, search: name, distance: distance, decisions: state.decisions)
        state.task = Task.detached { [self] in await run(search, of: library, watch) }
      }
      watch.wake()
    }

    private func run(_ search: DuplicateSearch, of library: PhotoLibrary, _ watch: AccessWatch) async {
      do {
        let assets = try await offload {
          var options = FetchOptions()
          (options.includeAllBurstAssets, options.includeAllStackAssets) = (true, true)
          return try library.fetchAssets(options)
        }
        let summary = try await search.run(assets, isWhole: true) { [self] done, total in
          state.withLock { ($0.done, $0.total) = (done, total) }
          watch.wake()
        }
        state.withLock { state in
          state.phase = summary.wasInterrupted ? .idle : .ready
          if !summary.wasInterrupted { state.summary = summary }
        }
      } catch {
        state.withLock { state in
          state.phase = Task.isCancelled ? .idle : .failed
          // For the owner, which may read paths.
          let problem = Problem(error)
          state.problem = problem.note ?? problem.detail
        }
      }
      watch.wake()
    }

    /// Stops a search that is going on; what it has read is kept.
    func cancel() async {
      let task = state.withLock { $0.task }
      task?.cancel()
      await task?.value
    }

    /// Wakes requests that wait for the state: a proposal was rejected, or may be made again.
    func noteDecision(waking watch: AccessWatch) {
      state.withLock { $0.decisions += 1 }
      watch.wake()
    }

    /// Stops for good, when the server does.
    func end() async {
      state.withLock { $0.isEnded = true }
      await cancel()
    }

    /// How far the search is, and what it found.
    var json: JSON {
      state.withLock { state in
        let summary = state.summary
        func count(_ value: Int?) -> JSON { .integer(Int64(value ?? 0)) }
        return [
          "state": .text(state.phase.rawValue), "search": state.search.isEmpty ? .null : .text(state.search),
          "distance": count(state.distance), "done": count(state.done), "total": count(state.total),
          "groups": count(summary?.groups.count),
          "duplicates": count(summary?.groups.reduce(0) { $0 + $1.others.count }), "compared": count(summary?.compared),
          "plain": count(summary?.plain), "crowded": count(summary?.crowded), "failed": count(summary?.failed),
          "passedOver": count(summary?.passedOver), "decisions": count(state.decisions),
          "problem": state.problem.map { .text($0) } ?? .null,
        ]
      }
    }

    /// Groups of a search that has ended, from a place on, with how many there are.
    /// - Throws: ``Problem`` 404 if the search is another one or has not ended.
    func groups(
      of search: String, from start: Int, count: Int
    ) throws(Problem) -> (groups: [DuplicateGroup], total: Int) {
      let found = state.withLock { $0.phase == .ready && $0.search == search ? $0.summary?.groups : nil }
      guard let found else {
        throw Problem(
          404, "not-found", "No finished search '\(search.prefix(40))' exists; start a search, or wait until it ends.")
      }
      return (Array(found.dropFirst(start).prefix(count)), found.count)
    }
  }
#endif
