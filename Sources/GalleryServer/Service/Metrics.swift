#if Gallery
  import Glibc
  import HTTPServing
  import LibraryMaintenance
  import PhotoLedger
  import Synchronization

  // What a monitor reads at /metrics, in Prometheus' text form.
  //
  // Everything is counted already where it stands: the log's head, LMDB's own figures, the streams that are open. No
  // figure walks over the objects of the library, so a monitor may ask every few seconds; what `stat` counts of assets
  // and albums is at /v1/health.

  /// A figure of the server, with a sample for each value of its label.
  struct Metric: Sendable {
    /// What a monitor may make of the samples.
    enum Kind: String, Sendable {
      /// Only grows, except that it begins anew with the server or the library.
      case counter
      case gauge
    }

    let name: String
    let kind: Kind
    let help: String
    /// The labels in Prometheus' form, with braces; empty where there is one sample.
    let samples: [(labels: String, value: Double)]

    init(_ name: String, _ kind: Kind, _ help: String, _ samples: [(labels: String, value: Double)]) {
      (self.name, self.kind, self.help, self.samples) = ("photoledger_" + name, kind, help, samples)
    }

    init(_ name: String, _ kind: Kind, _ help: String, _ value: some BinaryInteger) {
      self.init(name, kind, help, [("", Double(value))])
    }

    init(_ name: String, _ kind: Kind, _ help: String, _ value: Double) { self.init(name, kind, help, [("", value)]) }

    /// The lines of the figure.
    var text: String {
      let head = "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
      return samples.reduce(into: head) { $0 += "\(name)\($1.labels) \($1.value)\n" }
    }
  }

  /// Counts requests by status.
  final class Metrics: Sendable {
    private struct State {
      /// By status; status 0 counts those without one.
      var counts = [Int](repeating: 0, count: 1000)
      var seconds = 0.0
    }

    private let state = Mutex(State())

    func count(_ record: HTTPRecord) {
      state.withLock { state in
        state.counts[record.status ?? 0] += 1
        state.seconds += record.seconds
      }
    }

    /// The figures of requests.
    fileprivate var figures: [Metric] {
      let (counts, seconds) = state.withLock { ($0.counts, $0.seconds) }
      return [
        Metric(
          "requests_total", .counter,
          "Requests that have ended, by status; status 0 are those whose connection ended before the response began.",
          counts.enumerated().filter { $0.element > 0 }.map { ("{status=\"\($0.offset)\"}", Double($0.element)) }),
        Metric(
          "request_seconds_total", .counter,
          "Time spent on requests, that of open feeds and streams and of waiting polls included.", seconds),
      ]
    }
  }

  extension GalleryServer {
    /// What /metrics shows.
    /// - Throws: ``LibraryError`` if the store cannot be read.
    /// - Complexity: O(s + u + f) for s open streams, u unfinished uploads and f entries of LMDB's free list.
    func figures() throws -> [Metric] {
      let store = try library.storeFigures()
      let (streams, uploads) = (streamCounts, uploads.figures)
      var room: [(labels: String, value: Double)] = []
      if let disk = library.store.folder.fileSystem { room = [("", Double(disk.f_bavail) * Double(disk.f_frsize))] }
      return [
        Metric("commits_total", .counter, "Commits of the library.", store.commitCount),
        Metric("events_total", .counter, "Events in the log of the library.", store.eventCount),
        Metric("events_quarantined", .gauge, "Events that a rebuild could not apply.", store.quarantinedCount),
        Metric("store_used_bytes", .gauge, "Bytes of the store's file that are in use.", store.usedBytes),
        Metric("store_free_bytes", .gauge, "Bytes of the store's file that wait for reuse.", store.freeBytes),
        Metric(
          "store_map_bytes", .gauge, "Bytes to which the store's file may grow before its map is enlarged.",
          store.mapBytes),
        Metric("store_readers", .gauge, "Reader slots of the store in use, in all processes.", store.readerCount),
        Metric(
          "store_oldest_reader_lag_transactions", .gauge,
          "LMDB transactions since the snapshot of the oldest reader: pages that were freed since cannot be reused.",
          store.oldestReaderLag),
        Metric("feeds_open", .gauge, "Feeds that are open.", feeds.count),
        Metric(
          "feed_lag_seconds", .gauge,
          "How long the feed that lags most has had changes which its client has not taken; 0 if none lags.",
          feeds.lagSeconds),
        Metric(
          "streams_open", .gauge,
          "Responses that are streams: of events, feeds included, and of contents such as archives and logs.",
          [("{kind=\"events\"}", Double(streams.events)), ("{kind=\"contents\"}", Double(streams.contents))]),
        Metric("fetches_held", .gauge, "Fetch results that are held.", fetches.count),
        Metric(
          "followed_bytes", .gauge,
          "About how many bytes the lists take that feeds and waiting polls follow; shared memory counts once.",
          followed.byteCount),
        Metric("renditions_waiting", .gauge, "Renditions to make.", renditions.waitingCount),
        Metric("renditions_bytes", .gauge, "Bytes of renditions.", renditions.byteCount),
        Metric(
          "renditions_passing", .gauge,
          "1 if another process has the cache of renditions, so that this one's is removed later; otherwise 0.",
          Int(renditions.isPassing ? 1 : 0)),
        Metric("uploads_unfinished", .gauge, "Uploads that are not finished.", uploads.count),
        Metric("uploads_unfinished_bytes", .gauge, "Bytes that came of unfinished uploads.", uploads.bytes),
        Metric("uploads_receiving", .gauge, "Bodies of uploads that are being received.", uploads.bodies),
        Metric("disk_free_bytes", .gauge, "Bytes that the disk of the library has left.", room),
      ] + metrics.figures
    }
  }
#endif
