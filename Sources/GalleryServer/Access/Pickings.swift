#if Gallery
  import Foundation
  import HTTPServing
  import LibraryPicking
  import PhotoLedger
  import Synchronization

  /// The picking sessions that clients began over HTTP, until they expire.
  ///
  /// The core forgets a session when it is over; its results are kept here until it expires, so that a client that
  /// polls finds them. A server that ends cancels what is open: PhotoKit's picker does not outlive its process either.
  /// What was picked is recorded in the library, and its items are good in any process.
  ///
  /// Where all places are taken, the oldest session of the client that has most makes room, so clients that hold many
  /// keep no other from picking. One that a person has looked at stays, and so do the owner's.
  final class Pickings: Sendable {
    /// A session of a client's.
    struct Entry: Sendable {
      let session: PickingSession
      let expires: Date
      /// The origins whose pages are to show the session's page in a frame, once they are approved.
      let origins: [String]
      /// Counts up.
      let number: UInt64
      /// Whether a person has looked at it.
      var isPresented = false
      /// The last result.
      var items: [PickedItem] = []
      /// Whether all results have come.
      var isSettled = false

      /// Whether it keeps its place until it expires.
      var keepsPlace: Bool { isPresented || session.client == PhotoLibrary.owner }

      /// The state that goes with `items`: a session is over for its client when the last result is there.
      var state: PickingSession.State { isSettled ? session.state : .open }
    }

    static let limit = 1_000
    static let limitOfClient = 16
    static let copyLimit = 32
    static let copyLimitOfClient = 4

    /// How many copies of picked items there are, by the client that reads them: a copy has no name and takes its room
    /// until the response is over.
    private let copies = Mutex<[ExactText: Int]>([:])
    private let entries = Mutex<[String: Entry]>([:])
    /// How many sessions were begun.
    private let begun = Atomic<UInt64>(0)
    private let now: @Sendable () -> Date

    init(environment: GalleryEnvironment) { now = environment.now }

    /// Keeps a session, and follows its results.
    /// - Parameters:
    ///   - origins: the origins whose pages are to show its page in a frame, see ``ApprovedOrigins``.
    ///   - changed: called after each result.
    /// - Throws: ``Problem`` 429 if the client has too many, or no other client has more that can make room; the
    ///   session is cancelled then.
    func add(
      _ session: PickingSession, seconds: Double, origins: [String] = [], changed: @escaping @Sendable () -> Void
    ) throws(Problem) {
      let entry = Entry(
        session: session, expires: now().addingTimeInterval(seconds), origins: origins,
        number: begun.wrappingAdd(1, ordering: .relaxed).newValue)
      let (isFull, gone): (Bool, PickingSession?) = entries.withLock { entries in
        let own = entries.values.count { $0.session.client.exact == session.client.exact }
        guard own < Self.limitOfClient else { return (true, nil) }
        var gone: PickingSession?
        if entries.count >= Self.limit {
          guard let leaving = Self.leaving(entries, forClientWith: own) else { return (true, nil) }
          gone = entries.removeValue(forKey: leaving)?.session
        }
        entries[session.id] = entry
        return (false, gone)
      }
      gone?.cancel()
      guard !isFull else {
        session.cancel()
        throw .tooMany("Too many picking sessions are open; cancel one, or wait until one expires.", seconds: 60)
      }
      Task.detached { [weak self] in
        for await items in session.results {
          guard let self else { return }
          self.entries.withLock { $0[session.id]?.items = items }
          changed()
        }
        self?.entries.withLock { $0[session.id]?.isSettled = true }
        changed()
      }
    }

    /// The session that makes room for one of a client with so many: the oldest of the client that has most, if those
    /// are more.
    private static func leaving(_ entries: [String: Entry], forClientWith own: Int) -> String? {
      let leaving = entries.values.filter { !$0.keepsPlace }
      let sessions = Dictionary(grouping: leaving) { $0.session.client.exact }
      var most: (count: Int, oldest: Entry)?
      for ofClient in sessions.values {
        guard let oldest = ofClient.min(by: { $0.number < $1.number }) else { continue }
        if let known = most {
          let isOlder = oldest.number < known.oldest.number
          guard ofClient.count > known.count || (ofClient.count == known.count && isOlder) else { continue }
        }
        most = (ofClient.count, oldest)
      }
      return most.flatMap { $0.count > own ? $0.oldest.session.id : nil }
    }

    /// Notes that a person looks at a session.
    func notePresented(_ id: String) { entries.withLock { $0[id]?.isPresented = true } }

    /// Makes a copy of a picked item, which is there until the request is over; each takes room and time, so few are
    /// there at once.
    /// - Throws: ``Problem`` 429 if too many are; what `copy` throws.
    func copying<Value: Sendable>(
      for client: String, until sender: HTTPSender, _ copy: @Sendable () async throws -> Value
    ) async throws -> Value {
      let client = client.exact
      let isIn = copies.withLock { copies in
        guard copies.values.reduce(0, +) < Self.copyLimit, copies[client, default: 0] < Self.copyLimitOfClient else {
          return false
        }
        copies[client, default: 0] += 1
        return true
      }
      guard isIn else { throw Problem.tooMany("Too many picked items are being read; try again.", seconds: 2) }
      sender.onEnd { [weak self] in
        self?.copies.withLock { copies in copies[client] = copies[client].flatMap { $0 > 1 ? $0 - 1 : nil } }
      }
      return try await copy()
    }

    /// A session that has not expired.
    func entry(_ id: String) -> Entry? {
      let date = now()
      return entries.withLock { $0[id] }.flatMap { $0.expires > date ? $0 : nil }
    }

    /// Cancels a session and forgets it.
    func remove(_ id: String) { entries.withLock { $0.removeValue(forKey: id) }?.session.cancel() }

    /// Cancels and forgets the sessions that have expired.
    func sweep() {
      let date = now()
      let expired = entries.withLock { entries in
        let expired = entries.filter { $0.value.expires <= date }
        for id in expired.keys { entries[id] = nil }
        return expired.values
      }
      for entry in expired { entry.session.cancel() }
    }

    /// Cancels what is open of a client, or of all.
    func cancelAll(of client: String? = nil) {
      let gone = entries.withLock { entries in
        let gone = entries.filter { client == nil || $0.value.session.client.exact == client?.exact }
        for id in gone.keys { entries[id] = nil }
        return gone.values
      }
      for entry in gone { entry.session.cancel() }
    }
  }
#endif
