#if Gallery
  import Foundation
  import HTTPServing
  import PhotoLedger
  import Synchronization

  // What a client waits for: the answer to its request, the choice of a picking session, the next request of an app.
  //
  //   commit of any process ─▶ observer ─┐                   ┌─▶ long poll: the state, if it is another one
  //   key, person or share withdrawn ────┼─▶ wake ─▶ waiter ─┤
  //   tap in a picking session ──────────┘                   └─▶ event stream: the state, if it is another one
  //
  // A waiter keeps nothing but the last state that it sent. On each wake-up it reads the state anew and compares, so a
  // wake-up too many does no harm and none can carry a wrong answer. A state's revision is the hash of its own text: it
  // counts nothing, is good after a restart, and shows a client nothing that the state does not.
  //
  // Every wake-up also ends the feeds whose key is not good any more or whose client may no longer read. What ends by
  // time alone, such as an abandoned upload, ends at the periodic wake-up only.
  //
  // Rejected: the core's prompt, which holds a thread until a person answers, and asks about one client at a time.

  /// Wakes requests that wait for a change of permissions, keys or picking sessions.
  final class AccessWatch: PhotoLibraryPersistentChangesObserver, Sendable {
    private struct State {
      /// Until the end; the library refers to its observers weakly.
      var library: PhotoLibrary?
      /// Ends what is no longer permitted; nil before the beginning and after the end.
      var endWithdrawn: (@Sendable () -> Void)?
      /// Ends what has expired; nil before the beginning and after the end.
      var endExpired: (@Sendable () -> Void)?
      var generation: UInt64 = 0
      var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
      var nextWaiter: UInt64 = 0
      var isEnded = false
      var sweeper: Task<Void, Never>?
    }

    private let state = Mutex(State())

    /// Begins to follow a library.
    /// - Parameters:
    ///   - seconds: how often waiting requests are woken without a change, since keys expire.
    ///   - endWithdrawn: ends what is no longer permitted; called before each wake-up.
    ///   - endExpired: ends what has expired or grown too much; called as often as `seconds` says, after the wake-up,
    ///     and does not wait for the disk.
    func begin(
      _ library: PhotoLibrary, every seconds: Double, endWithdrawn: @escaping @Sendable () -> Void,
      endExpired: @escaping @Sendable () -> Void = {}
    ) throws {
      let task = Task.detached { [weak self] in
        while (try? await Task.sleep(for: .seconds(seconds))) != nil {
          guard let self else { return }
          self.wake()
          self.state.withLock { $0.endExpired }?()
        }
      }
      state.withLock { state in
        (state.library, state.sweeper) = (library, task)
        (state.endWithdrawn, state.endExpired) = (endWithdrawn, endExpired)
      }
      try library.register(self)
    }

    func photoLibraryPersistentChangesDidUpdate(_ library: PhotoLibrary) { wake() }

    /// Ends what is no longer permitted, and wakes all waiting requests.
    func wake() {
      let endWithdrawn = state.withLock { $0.endWithdrawn }
      endWithdrawn?()
      let waiters = state.withLock { state in
        state.generation += 1
        defer { state.waiters = [:] }
        return state.waiters.values
      }
      for waiter in waiters { waiter.resume() }
    }

    /// Releases all waiting requests, when the server stops.
    func end() {
      // What is ended is released: it has the library, and picking sessions, whose results wake this.
      let (library, sweeper, endWithdrawn) = state.withLock { state in
        state.isEnded = true
        defer { (state.library, state.endWithdrawn, state.endExpired) = (nil, nil, nil) }
        return (state.library, state.sweeper, state.endWithdrawn)
      }
      sweeper?.cancel()
      library?.unregisterPersistentChangesObserver(self)
      endWithdrawn?()
      wake()
    }

    var isEnded: Bool { state.withLock { $0.isEnded } }
    var generation: UInt64 { state.withLock { $0.generation } }
    /// How many polls and streams a key may have at once; each holds a connection.
    static let limitOfKey = 64
    /// How many all keys of a share link may have in total: each opening of the link makes a key.
    static let limitOfShare = 512

    private let places = KeyPlaces(
      ofKey: AccessWatch.limitOfKey, ofShare: AccessWatch.limitOfShare, for: "polls and streams")

    /// Takes a place for a poll or a stream.
    /// - Throws: ``Problem`` 429 if the key has too many, or the keys of its share link together.
    func enter(_ key: Keyring.Key?) throws(Problem) { try places.enter(key) }

    /// Gives a place back.
    func leave(_ key: Keyring.Key?) { places.leave(key) }

    /// How many wait now.
    var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Waits until there was a wake-up after a generation, or the task is cancelled, or time is up.
    func next(after generation: UInt64, seconds: Double) async {
      let number = state.withLock { state in
        state.nextWaiter += 1
        return state.nextWaiter
      }
      let timer = Task.detached { [weak self] in
        if (try? await Task.sleep(for: .seconds(seconds))) != nil { self?.release(number) }
      }
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let isLate = state.withLock { state in
            if state.generation != generation || state.isEnded || Task.isCancelled { return true }
            state.waiters[number] = continuation
            return false
          }
          if isLate { continuation.resume() }
        }
      } onCancel: { [self] in
        release(number)
      }
      timer.cancel()
    }

    private func release(_ number: UInt64) {
      state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
    }
  }
#endif
