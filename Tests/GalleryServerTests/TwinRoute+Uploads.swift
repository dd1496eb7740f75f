#if Gallery
  import Foundation
  @testable import GalleryServer
  import JSONReading
  import LibraryJSON
  import PhotoLedger
  import TestSupport

  // Files that come, by the API and by the routes for uploaders made for Immich.

  extension TwinRoute {
    // MARK: Uploads

    static let uploads: [TwinRoute] = [
      TwinRoute("OPTIONS /v1/uploads") { try $0.ask("OPTIONS", "/v1/uploads") },
      TwinRoute("POST /v1/uploads:check") { visitor in
        let hidden = visitor.hiddenFiles(at: visitor.twin.looks).map { TwinMedia.hash($0.data) }
        let sha256 = hidden.map(\.sha256.hexadecimal) + visitor.hashes
        let known = TwinMedia.hash(TwinMedia.photo("visible 1"))
        let sha1 = (hidden + [known]).map(\.sha1.hexadecimal) + [String(repeating: "0", count: 40)]
        let body: JSON = [
          "sha256": .list(sha256.map { .text($0) }), "sha1": .list(sha1.map { .text($0) }),
        ]
        try visitor.ask("POST", "/v1/uploads:check", body.description)
      },
      TwinRoute("PUT /v1/uploads") { visitor in
        try visitor.ask("PUT", "/v1/uploads?name=empty.jpg", bytes: Data())
        guard visitor.isUploading else { return }
        let hidden = visitor.hiddenFiles(at: visitor.twin.looks)[0].data
        // What the client does not see is new to it; what it has uploaded itself is not.
        for data in [hidden, hidden, visitor.movieOfHiddenStill, TwinMedia.photo("visible 1")] {
          let name = data == visitor.movieOfHiddenStill ? "IMG.MOV" : "IMG.JPG"
          let answer = try visitor.ask("PUT", "/v1/uploads?name=\(name)", bytes: data)
          if answer.status == 201, let made = answer.member("asset") {
            visitor.made.append(String(made.prefix { $0 != "/" }))
          }
        }
      },
      TwinRoute("POST /v1/uploads") { visitor in
        guard visitor.isUploading else { return }
        // The movie completes the still that the client sees.
        try visitor.ask("POST", "/v1/uploads?name=IMG.JPG", bytes: visitor.still)
        try visitor.ask("POST", "/v1/uploads?name=IMG.MOV", bytes: visitor.movie)
        let wrong = "Repr-Digest: sha-256=:\(Data(count: 32).base64EncodedString()):"
        try visitor.ask("POST", "/v1/uploads?name=IMG.JPG", bytes: visitor.still, [wrong])
      },
      TwinRoute("GET /v1/uploads/{upload}") { visitor in
        try inUpload(visitor) { try visitor.get($0) }
        try visitor.get("/v1/uploads/none")
      },
      TwinRoute("PATCH /v1/uploads/{upload}") { visitor in
        guard visitor.isUploading else { return }
        try inUpload(visitor) { place in
          let rest = TwinMedia.photo("part of \(visitor.look)").dropFirst(100)
          for (offset, path) in [(99, place), (100, place), (100, place), (100, "/v1/uploads/none")] {
            try visitor.ask(
              "PATCH", path, bytes: rest,
              ["Content-Type: application/partial-upload", "Upload-Complete: ?1", "Upload-Offset: \(offset)"])
          }
          try visitor.get(place)
        }
      },
      TwinRoute("DELETE /v1/uploads/{upload}") { visitor in
        try inUpload(visitor) { try visitor.ask("DELETE", $0) }
        try visitor.ask("DELETE", "/v1/uploads/none")
      },
    ]

    /// Begins an upload whose second part is to come, and drops it at the end.
    private static func inUpload(_ visitor: TwinVisitor, _ use: (String) throws -> Void) throws {
      let data = TwinMedia.photo("part of \(visitor.look)")
      let begun = try visitor.ask(
        "POST", "/v1/uploads?name=part.jpg", bytes: data.prefix(100),
        ["Upload-Complete: ?0", "Upload-Length: \(data.count)"])
      let place = begun.fields["location"] ?? "/v1/uploads/none"
      try use(place)
      try visitor.ask("DELETE", place)
    }

    // MARK: Uploaders made for Immich

    static let uploaders = [servers, listings, corrections, groups].flatMap(\.self)

    private static let servers: [TwinRoute] = [
      .plain("/api/openapi.json"), .plain("/api/server/ping"), .plain("/api/server/about"),
      .plain("/api/server/media-types"), .plain("/api/users/me"), .plain("/api/api-keys/me"), .plain("/api/jobs"),
      TwinRoute("PUT /api/jobs/{job}") { try $0.ask("PUT", "/api/jobs/metadata", #"{"command":"pause"}"#) },
    ]

    private static let listings: [TwinRoute] = [
      TwinRoute("POST /api/assets") { visitor in
        guard visitor.isUploading else { return }
        for data in [visitor.hiddenFiles(at: visitor.twin.looks)[2].data, TwinMedia.photo("visible 1")] {
          let form = UploadForm(data, named: "form.jpg")
          try visitor.ask(
            "POST", "/api/assets", bytes: form.closed, [form.type, "x-immich-checksum: \(data.sha1Base64)"])
        }
      },
      TwinRoute("POST /api/search/metadata") { visitor in
        let hidden = visitor.hiddenFiles(at: visitor.twin.looks).map(\.data)
        let checksums = (hidden + [TwinMedia.photo("visible 1")]).map(\.sha1Base64)
        let bodies =
          ["{}", #"{"size":1000,"withDeleted":true}"#, #"{"size":2,"page":2}"#, #"{"trashedAfter":"2020-01-01"}"#]
          + checksums.map { #"{"checksum":"\#($0)","withDeleted":true}"# }
          + visitor.albums.map { #"{"albumIds":["\#($0)"],"withDeleted":true}"# }
        try visitor.ask("POST", each: ["/api/search/metadata"], bodies)
      },
      .plain("/api/assets/statistics"),
      TwinRoute("GET /api/assets/{asset}") { visitor in
        for asset in visitor.assets { try visitor.get("/api/assets/\(asset)") }
      },
    ]

    private static let corrections: [TwinRoute] = [
      TwinRoute("PUT /api/assets/{asset}") { visitor in
        let bodies = ["{}", #"{"isFavorite":true}"#, #"{"stackParentId":"\#(visitor.strangers[0])"}"#]
        try visitor.ask("PUT", each: visitor.assets.map { "/api/assets/\($0)" }, bodies)
      },
      TwinRoute("PUT /api/assets") { visitor in
        for assets in lists(visitor) { try visitor.ask("PUT", "/api/assets", #"{"ids":[\#(assets)],"rating":4}"#) }
      },
      TwinRoute("DELETE /api/assets") { visitor in
        let made = visitor.made.suffix(1).map { "\"\($0)\"" }
        for assets in lists(visitor).dropFirst() + made {
          try visitor.ask("DELETE", "/api/assets", #"{"ids":[\#(assets)]}"#)
        }
        try visitor.ask("DELETE", "/api/assets", #"{"ids":[]}"#)
      },
    ]

    /// Lists of assets: of one that most clients see, of that and strangers, of strangers alone.
    private static func lists(_ visitor: TwinVisitor) -> [String] {
      let (seen, strangers) = (visitor.twin.visible[1].uuidString, visitor.strangers)
      return [[seen], [seen] + strangers, strangers, [strangers[0]], ["none"]].map { list in
        list.map { "\"\($0)\"" }.joined(separator: ",")
      }
    }

    private static let groups: [TwinRoute] = [
      TwinRoute("POST /api/stacks", refusal: fullAccess) { visitor in
        for assets in lists(visitor) { try visitor.ask("POST", "/api/stacks", #"{"assetIds":[\#(assets)]}"#) }
      },
      .plain("/api/albums"),
      TwinRoute("GET /api/albums/{album}") { visitor in
        let paths = visitor.albums.map { "/api/albums/\($0)" }
        try visitor.ask("GET", each: paths + paths.map { $0 + "?withoutAssets=true" })
      },
      TwinRoute("POST /api/albums") { visitor in
        for assets in lists(visitor) {
          try visitor.ask("POST", "/api/albums", #"{"albumName":"own","assetIds":[\#(assets)]}"#)
        }
      },
      TwinRoute("PUT /api/albums/{album}/assets") { visitor in
        let bodies = lists(visitor).map { #"{"ids":[\#($0)]}"# }
        try visitor.ask("PUT", each: visitor.albums.map { "/api/albums/\($0)/assets" }, bodies)
      },
      TwinRoute("PUT /api/tags") { try $0.ask("PUT", "/api/tags", #"{"tags":["sea","hidden"]}"#) },
      TwinRoute("PUT /api/tags/{tag}/assets") { visitor in
        let bodies = lists(visitor).map { #"{"ids":[\#($0)]}"# }
        try visitor.ask("PUT", each: ["c2Vh", "none"].map { "/api/tags/\($0)/assets" }, bodies)
      },
      TwinRoute("PUT /api/tags/assets") { visitor in
        for assets in lists(visitor) {
          try visitor.ask("PUT", "/api/tags/assets", #"{"tagIds":["c2Vh"],"assetIds":[\#(assets)]}"#)
        }
      },
    ]
  }
#endif
