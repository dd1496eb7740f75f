#if Gallery
  import Foundation
  import Glibc
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import LibraryMaintenance
  import MediaImport
  import PhotoLedger

  /// What a supervisor and a monitor ask for, and the API's description.
  enum HealthRoutes {
    static let all: [Route] = [
      Route("GET", "/healthz", .nothing) { _, _ in .answer(.json(["status": "alive"], [("Cache-Control", "no-store")]))
      },
      .reading("GET", "/readyz", .nothing) { call in
        // The answer shows whether the library can be used, and nothing of what is in it.
        do {
          if let reason = call.server.library.unavailabilityReason { throw reason }
          _ = try call.server.library.currentToken
        } catch {
          let isNewer = (error as? LibraryError)?.code == .newerThanProgram
          throw Problem(
            503, Problem(error).type,
            isNewer ? Problem.newerLibrary : "The library cannot be used; `photoledger verify` checks it.")
        }
        return .json(["status": "ready"], [("Cache-Control", "no-store")])
      },
      .reading("GET", "/metrics", .owner) { call in
        let fields = [("Content-Type", "text/plain; version=0.0.4; charset=utf-8"), ("Cache-Control", "no-store")]
        let text = try call.server.figures().map(\.text).joined()
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
        let statistics = JSON(
          try library.statistics(), and: [.init("sandbox", .text(SandboxLayer.active.rawValue))])
        let health: JSON = [
          "statistics": statistics,
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
#endif
