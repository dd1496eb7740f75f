#if Gallery
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import LibraryMaintenance
  import PhotoLedger

  /// What an uploader asks before it begins, and the state of what it takes for jobs.
  enum UploaderRoutes {
    /// The version of the interface that is spoken, which uploaders print and compare.
    static let version = "v2.0.0"

    static let all: [Route] = [
      Route("GET", "/api/openapi.json", .nothing) { _, _ in
        .answer(
          HTTPResponse(
            200, Headers.common + [("Content-Type", "application/json"), ("Cache-Control", "no-cache")],
            .bytes(PackageResources.immich_clients_json)))
      },
      Route("GET", "/api/server/ping", .nothing) { _, _ in
        .answer(.json(["res": "pong"], [("Cache-Control", "no-store")]))
      },
      ImmichClientRoutes.reading("GET", "/api/server/about") { call in
        try call.checkQuery([])
        return ["version": .text(version), "versionUrl": "", "licensed": false]
      },
      ImmichClientRoutes.reading("GET", "/api/server/media-types") { call in
        try call.checkQuery([])
        return ["image": endings(images), "video": endings(videos), "sidecar": [".xmp"]]
      },
      ImmichClientRoutes.reading("GET", "/api/server/statistics", .owner) { call in
        try call.checkQuery([])
        let figures = try call.library().statistics()
        func count(_ type: MediaType) -> JSON { .integer(Int64(figures.assetCounts[type] ?? 0)) }
        return [
          "photos": count(.image), "videos": count(.video), "usage": .integer(Int64(clamping: figures.resourceBytes)),
          "usageByUser": [],
        ]
      },
      ImmichClientRoutes.reading("GET", "/api/users/me") { call in
        try call.checkQuery([])
        _ = try call.listedLibrary()
        let client = call.key?.client ?? ""
        return [
          "id": .text(call.uploaderIdentifier), "name": .text(client), "email": .text(client),
          "isAdmin": .bool(client == PhotoLibrary.owner), "status": "active",
        ]
      },
      ImmichClientRoutes.reading("GET", "/api/api-keys/me") { call in
        try call.checkQuery([])
        guard let key = call.key else { throw Problem.signInRequired }
        let permissions = key.scopes.sorted().flatMap { Self.permissions[$0] ?? [] }
        return [
          "id": .text(key.name), "name": .text(key.label), "createdAt": .text(DateText.instant(key.created)),
          "permissions": .list(permissions.map { .text($0) }),
        ]
      },
      ImmichClientRoutes.reading("GET", "/api/jobs") { call in
        try call.checkQuery([])
        return .object([])
      },
      ImmichClientRoutes.changing("PUT", "/api/jobs/{job}") { _, body in
        guard body["command"]?.textValue != nil else { throw Problem.malformed("The body needs 'command', a word.") }
        // The renditions of a library are made beside an upload; there is nothing to pause, and nothing is paused.
        let names = ["active", "completed", "delayed", "failed", "paused", "waiting"]
        return (
          200,
          [
            "jobCounts": .object(names.map { .init($0, 0) }),
            "queueStatus": ["isActive": false, "isPaused": false],
          ]
        )
      },
    ]

    /// What the scopes of a key are called there.
    private static let permissions: [Scope: [String]] = [
      .read: ["asset.read", "asset.statistics", "album.read", "user.read", "server.about", "job.read"],
      .add: ["asset.upload"],
      .change: [
        "asset.update", "asset.delete", "album.create", "albumAsset.create", "tag.create", "tag.asset", "job.create",
      ],
      .owner: ["server.statistics"],
    ]

    private static func endings(_ list: String) -> JSON {
      .list(list.split(separator: " ").map { .text(".\($0)") })
    }

    /// Endings of the pictures that are taken in. What a file is, its content decides when it comes.
    private static let images =
      """
      jpg jpeg jpe png gif tif tiff bmp heic heif hif avif webp jp2 jxl psd dng cr2 cr3 crw nef nrw arw sr2 srf raf \
      rw2 orf pef srw x3f erf mrw dcr kdc 3fr iiq raw
      """

    private static let videos = "mov mp4 m4v 3gp 3g2 avi mpg mpeg mts m2ts mkv webm wmv insv"
  }
#endif
