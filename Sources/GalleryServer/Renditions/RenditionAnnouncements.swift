#if Gallery
  import Foundation
  import HTTPServing
  import LibraryJSON
  import PhotoLedger
  import Synchronization

  /// Sends `event: rendition` to one feed: which of the assets that its client may see have pictures or a film now, or
  /// will have none.
  ///
  /// The event has no id: a feed that is resumed reads states with its windows. Contents that become ready while an
  /// event is being sent are gathered in the next one; beyond a limit the oldest are left out. The next window has the
  /// states of pictures; windows have no state of films, which are requested again.
  final class RenditionAnnouncements: Sendable {
    private struct State {
      var waiting: [[UInt8]] = []
      var addedCount = 0
      var isSending = false
    }

    private static let limit = 1000
    private let columns: RenditionColumns
    private let stream: HTTPStream
    /// Guarded by its lock.
    private let state = Mutex(State())

    init(_ columns: RenditionColumns, _ stream: HTTPStream) { (self.columns, self.stream) = (columns, stream) }

    /// Whether something is being read or sent, or the stream is closed.
    var isSending: Bool { state.withLock { $0.isSending } }

    /// How many contents were added. What was read before it grew may be older than what an event says.
    var addedCount: Int { state.withLock { $0.addedCount } }

    /// Adds a content whose pictures or film are there, or have failed.
    func add(_ hash: [UInt8]) {
      let mustStart = state.withLock { state in
        state.waiting.append(hash)
        state.addedCount += 1
        if state.waiting.count > Self.limit { state.waiting.removeFirst() }
        defer { state.isSending = true }
        return !state.isSending
      }
      if mustStart { Task.detached { [self] in await send() } }
    }

    private func send() async {
      while true {
        let hashes = state.withLock { state in
          defer { state.waiting = [] }
          if state.waiting.isEmpty { state.isSending = false }
          return state.waiting
        }
        if hashes.isEmpty { return }
        do {
          let found = try await offload { [self] in try rows(hashes) }
          if found.isEmpty { continue }
          let data: JSON = ["renditions": .list(found)]
          try await stream.send { Array("event: rendition\ndata: \(data)\n\n".utf8) }
        } catch is HTTPStreamClosed {
          return
        } catch {
          // The reason may pass, as a denial does; where it does not, the feed's own tasks say so. What was not read
          // comes with the next content.
          state.withLock { state in
            state.waiting = Array((hashes + state.waiting).suffix(Self.limit))
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

  extension Call {
    /// What columns say about renditions, as the request's key sees the library.
    func renditionColumns() throws -> RenditionColumns {
      RenditionColumns(library: try library(), renditions: server.renditions)
    }
  }
#endif
