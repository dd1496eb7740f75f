#if Gallery
  import Foundation
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger
  import Synchronization

  /// Sends `event: rendition` to one feed: which of the assets that its client may see have pictures or a film now, or
  /// will not have any.
  ///
  /// The event has no id: a feed that is resumed reads states with its windows. Contents that become ready while an
  /// event is being sent are gathered in the next one; beyond a limit the oldest are left out. The next window has the
  /// states of pictures; windows have no state of films, which are requested again.
  ///
  /// An event can overtake a message that was encoded before it and waits for a slow client. That one notices it by
  /// ``sentCount``, and holds the next events until it is sent.
  final class RenditionAnnouncements: Sendable {
    private struct State {
      var waiting: [[UInt8]] = []
      var sentCount = 0
      /// How many messages go first.
      var holdCount = 0
      var isSending = false

      /// Whether a task has to begin to send what waits.
      mutating func begin() -> Bool {
        guard !waiting.isEmpty, holdCount == 0, !isSending else { return false }
        isSending = true
        return true
      }

      /// What waits comes after what was not sent.
      mutating func putBack(_ hashes: [[UInt8]]) {
        waiting = Array((hashes + waiting).suffix(RenditionAnnouncements.limit))
      }
    }

    /// A message goes first.
    private struct Held: Error {}

    private static let limit = 1000
    private let columns: RenditionColumns
    private let stream: HTTPStream
    /// Guarded by its lock.
    private let state = Mutex(State())

    init(_ columns: RenditionColumns, _ stream: HTTPStream) { (self.columns, self.stream) = (columns, stream) }

    /// Whether something is being read or sent, or the stream is closed.
    var isSending: Bool { state.withLock { $0.isSending } }

    /// How many events were sent. What was read before it grew may be older than what an event says.
    var sentCount: Int { state.withLock { $0.sentCount } }

    /// Adds a content whose pictures or film are there, or have failed.
    func add(_ hash: [UInt8]) {
      let mustStart = state.withLock { state in
        state.waiting.append(hash)
        if state.waiting.count > Self.limit { state.waiting.removeFirst() }
        return state.begin()
      }
      if mustStart { Task.detached { [self] in await send() } }
    }

    /// Sends no event until ``release()`` was called as often; what is added is gathered.
    func hold() { state.withLock { $0.holdCount += 1 } }

    /// Ends a ``hold()``.
    func release() {
      let mustStart = state.withLock { state in
        state.holdCount -= 1
        return state.begin()
      }
      if mustStart { Task.detached { [self] in await send() } }
    }

    /// Counts an event that takes its place in the stream.
    func countSent() throws {
      try state.withLock { state in
        guard state.holdCount == 0 else { throw Held() }
        state.sentCount += 1
      }
    }

    private func send() async {
      while true {
        let hashes = state.withLock { state -> [[UInt8]] in
          guard !state.waiting.isEmpty, state.holdCount == 0 else {
            state.isSending = false
            return []
          }
          defer { state.waiting = [] }
          return state.waiting
        }
        if hashes.isEmpty { return }
        do {
          let found = try await offload { [self] in try rows(hashes) }
          if found.isEmpty { continue }
          let data: JSON = ["renditions": .list(found)]
          try await stream.send { [self] in
            try countSent()
            return Array("event: rendition\ndata: \(data)\n\n".utf8)
          }
        } catch is HTTPStreamClosed {
          return
        } catch is Held {
          state.withLock { $0.putBack(hashes) }
        } catch {
          // The reason may pass, as a denial does; where it does not, the feed's own tasks say so. What was not read
          // comes with the next content.
          state.withLock { state in
            state.putBack(hashes)
            state.isSending = false
          }
          return
        }
      }
    }

    /// The assets that show or play the contents and that the client may see.
    private func rows(_ hashes: [[UInt8]]) throws -> [JSON] {
      try Fetches.checkMayRead(columns.library)
      return try hashes.flatMap { hash -> [JSON] in
        let record = columns.renditions.record(hash)
        return try columns.library.assets(withContent: hash).compactMap { asset -> JSON? in
          let isShown = try Renditions.shown(asset, in: columns.library)?.sha256 == hash
          let isPlayed = try Renditions.played(asset, in: columns.library)?.sha256 == hash
          guard isShown || isPlayed else { return nil }
          return [
            "localIdentifier": .text(asset.localIdentifier), "sha256": .text(hash.hexadecimal),
            "rendition": .text(record.state.name), "play": isPlayed ? .text(record.play.name) : .null,
            "placeholder": record.placeholder.isEmpty
              ? .null : .text(Data(record.placeholder).base64EncodedString()),
          ]
        }
      }
    }
  }
#endif
