#if Gallery
  import Foundation
  import Glibc
  import HTTPServing
  import LibraryJSON
  import LibraryMaintenance
  import PhotoLedger
  import Synchronization

  /// What a supervisor and a monitor ask for, and the API's description.
  enum HealthRoutes {
    static let all: [Route] = [
      Route("GET", "/healthz", .nothing) { _, _ in .answer(.json(["status": "alive"], [("Cache-Control", "no-store")]))
      },
      .reading("GET", "/readyz", .nothing) { call in
        // The answer shows whether the store can be read, and nothing of what is in it.
        _ = try call.server.library.currentToken
        return .json(["status": "ready"], [("Cache-Control", "no-store")])
      },
      .reading("GET", "/metrics", .owner) { call in
        let server = call.server
        let head = try server.library.currentToken
        let text = server.metrics.text([
          ("photoledger_commits_total", "counter", "Commits of the library.", Double(head.position)),
          ("photoledger_feeds_open", "gauge", "Feeds that are open.", Double(server.feeds.count)),
          ("photoledger_fetches_held", "gauge", "Fetch results that are held.", Double(server.fetches.count)),
          ("photoledger_renditions_waiting", "gauge", "Renditions to make.", Double(server.renditions.waitingCount)),
          ("photoledger_renditions_bytes", "gauge", "Bytes of renditions.", Double(server.renditions.byteCount)),
        ])
        let fields = [("Content-Type", "text/plain; version=0.0.4; charset=utf-8"), ("Cache-Control", "no-store")]
        return HTTPResponse(200, Headers.common + fields, .bytes(Array(text.utf8)))
      },
      .reading("GET", "/v1/health", .owner) { call in
        try call.checkQuery([])
        let (library, renditions) = (try call.library(), call.server.renditions)
        let room: JSON? = library.store.folder.fileSystem.map { disk in
          [
            "freeBytes": .integer(Int64(clamping: UInt64(disk.f_bavail) * UInt64(disk.f_frsize))),
            "totalBytes": .integer(Int64(clamping: UInt64(disk.f_blocks) * UInt64(disk.f_frsize))),
          ]
        }
        let health: JSON = [
          "statistics": JSON(try library.statistics()),
          "disk": room ?? .null,
          "renditions": [
            "waitingCount": .integer(Int64(renditions.waitingCount)),
            "byteCount": .integer(Int64(clamping: renditions.byteCount)),
            "missingPrograms": .list(renditions.missingPrograms.map { .text($0) }),
          ],
          "care": JSON(try library.maintenanceRecord()),
        ]
        return .json(health, [("Cache-Control", "no-store")])
      },
      Route("GET", "/v1/openapi.json", .nothing) { _, _ in
        .answer(
          HTTPResponse(
            200, Headers.common + [("Content-Type", "application/json"), ("Cache-Control", "no-cache")],
            .bytes(PackageResources.openapi_json)))
      },
    ]
  }

  /// Counts requests by status.
  final class Metrics: Sendable {
    private struct State {
      var counts: [Int: Int] = [:]
      var seconds = 0.0
    }

    private let state = Mutex(State())

    func count(_ record: HTTPRecord) {
      state.withLock { state in
        state.counts[record.status ?? 0, default: 0] += 1
        state.seconds += record.seconds
      }
    }

    /// The figures in Prometheus' text form; status 0 are requests whose connection ended first.
    func text(_ gauges: [(name: String, kind: String, help: String, value: Double)]) -> String {
      let (counts, seconds) = state.withLock { ($0.counts, $0.seconds) }
      var lines = gauges.flatMap {
        ["# HELP \($0.name) \($0.help)", "# TYPE \($0.name) \($0.kind)", "\($0.name) \($0.value)"]
      }
      lines += [
        "# HELP photoledger_requests_total Requests that have ended, by status.",
        "# TYPE photoledger_requests_total counter",
      ]
      lines += counts.sorted { $0.key < $1.key }.map { "photoledger_requests_total{status=\"\($0.key)\"} \($0.value)" }
      lines += [
        "# HELP photoledger_request_seconds_total Time spent on requests.",
        "# TYPE photoledger_request_seconds_total counter", "photoledger_request_seconds_total \(seconds)",
      ]
      return lines.joined(separator: "\n") + "\n"
    }
  }
#endif
