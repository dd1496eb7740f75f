#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite(
    "Uploaders made for Immich", .enabled(if: SamplePhotos.areInstalled("exiftool")), .timeLimit(.minutes(10)))
  struct ImmichClientTests {
    /// Serves a library with a client, and gives its uploader.
    private static func uploading(
      _ status: AuthorizationStatus = .authorized, for level: AccessLevel = .readWrite, idleSeconds: Int = 60,
      _ body: (TestGallery, ImmichUploader) async throws -> Void
    ) async throws {
      try await TestGallery.serving(access: .withImmichClients, idleSeconds: idleSeconds) { gallery in
        try await gallery.library.performChanges { change in
          change.register(client: "uploader")
          change.setAuthorizationStatus(status, of: "uploader", for: level)
        }
        try await body(gallery, ImmichUploader(gallery: gallery, key: try gallery.key(of: "uploader").secret))
      }
    }

    @Test("the recorded exchanges of an upload are answered as they were")
    func recorded() async throws {
      try await Self.uploading { _, uploader in
        var exchanges = RecordedExchanges(uploader)
        try exchanges.play(
          """
          > GET /api/server/ping
          < 200 {"res":"pong"}
          > GET /api/users/me
          < 200 {"id":"$me","name":"uploader","email":"uploader","isAdmin":false}
          > GET /api/server/media-types
          < 200 {"sidecar":[".xmp"]}
          > GET /api/server/about
          < 200 {"version":"v2.0.0"}
          > GET /api/api-keys/me
          < 200 {"permissions":["asset.read","asset.statistics","album.read","user.read","server.about","job.read",\
          "asset.upload","asset.update","asset.delete","album.create","albumAsset.create","tag.create","tag.asset",\
          "job.create"]}
          > GET /api/jobs
          < 200 {}
          > PUT /api/jobs/thumbnailGeneration {"command":"pause","force":true}
          < 200 {"queueStatus":{"isActive":false,"isPaused":false},"jobCounts":{"active":0,"waiting":0}}
          > GET /api/assets/statistics
          < 200 {"images":0,"videos":0,"total":0}
          > POST /api/search/metadata {"page":1,"size":1000,"withExif":true,"isVisible":true,"withDeleted":true}
          < 200 {"assets":{"total":0,"count":0,"items":[],"nextPage":null}}
          > GET /api/albums
          < 200 []
          > UPLOAD sea {"isFavorite":"true"}
          < 201 {"id":"$sea","status":"created"}
          > UPLOAD hill {"visibility":"archive"}
          < 201 {"id":"$hill","status":"created"}
          > UPLOAD sea
          < 200 {"id":"$sea","status":"duplicate"}
          > PUT /api/assets/$hill {"description":"Above\\nthe sea","rating":4,"latitude":48.5,"longitude":9.25,\
          "dateTimeOriginal":"0001-01-01T00:00:00Z"}
          < 200 {"id":"$hill","exifInfo":{"description":"Above\\nthe sea","rating":4,"latitude":48.5,"longitude":9.25}}
          > POST /api/albums {"albumName":"Journey","description":"","assetIds":["$sea"]}
          < 201 {"id":"$album","albumName":"Journey","description":"","shared":false}
          > PUT /api/albums/$album/assets {"ids":["$hill","$sea","none"]}
          < 200 [{"id":"$hill","success":true},{"id":"$sea","success":false,"error":"duplicate"},\
          {"id":"none","success":false,"error":"not_found"}]
          > GET /api/albums/$album?withoutAssets=false
          < 200 {"albumName":"Journey","assetCount":2,"assets":[{"id":"$sea"},{"id":"$hill"}]}
          > GET /api/albums/$album?withoutAssets=true
          < 200 {"albumName":"Journey"}
          > GET /api/albums
          < 200 [{"id":"$album","albumName":"Journey"}]
          > POST /api/search/metadata {"albumIds":["$album"],"page":1,"size":1}
          < 200 {"assets":{"total":2,"count":1,"items":[{"id":"$sea"}],"nextPage":"2"}}
          > POST /api/search/metadata {"albumIds":["$album"],"page":2,"size":1}
          < 200 {"assets":{"total":2,"count":1,"items":[{"id":"$hill"}],"nextPage":null}}
          > POST /api/search/metadata {"albumIds":["$album"],"visibility":"archive"}
          < 200 {"assets":{"total":1,"count":1,"items":[{"id":"$hill"}],"nextPage":null}}
          > POST /api/search/metadata {"albumIds":["none"]}
          < 404
          > POST /api/search/metadata {"albumIds":["$album","none"]}
          < 400
          > POST /api/search/metadata {"albumIds":["$album"],"checksum":"0123456789012345678901234567890123456789"}
          < 400
          > PUT /api/tags {"tags":["Places/Sea","blue"]}
          < 200 [{"id":"$places","name":"Sea","value":"Places/Sea"},{"id":"$blue","name":"blue","value":"blue"}]
          > PUT /api/tags/$places/assets {"ids":["$sea","none"]}
          < 200 [{"id":"$sea","success":true},{"id":"none","success":false,"error":"not_found"}]
          > PUT /api/tags/$places/assets {"ids":["$sea"]}
          < 200 [{"id":"$sea","success":false,"error":"duplicate"}]
          > PUT /api/tags/assets {"tagIds":["$places","$blue"],"assetIds":["$sea","$hill"]}
          < 200 {"count":2}
          > GET /api/assets/$sea
          < 200 {"id":"$sea","ownerId":"$me","type":"IMAGE","originalFileName":"sea.jpg","isFavorite":true,\
          "isArchived":false,"isTrashed":false,"fileCreatedAt":"2021-02-03T04:05:06.000Z",\
          "tags":[{"name":"Sea"},{"name":"blue"}],"exifInfo":{"dateTimeOriginal":"2021-02-03T04:05:06.000+00:00"}}
          > POST /api/stacks {"assetIds":["$sea","$hill"]}
          < 201 {"id":"$sea","primaryAssetId":"$sea","assets":[{"id":"$sea"},{"id":"$hill"}]}
          > POST /api/stacks {"assetIds":["$sea","none"]}
          < 404
          > PUT /api/assets {"ids":["$sea"],"removeParent":true}
          < 204
          > POST /api/stacks {"assetIds":["$sea"]}
          < 400 {"statusCode":400,"error":"change-not-supported"}
          > PUT /api/assets {"ids":["$hill"],"stackParentId":"$sea"}
          < 204
          > PUT /api/assets {"ids":["$hill"],"removeParent":true,"stackParentId":""}
          < 204
          > PUT /api/assets {"ids":["$sea","$hill"],"isFavorite":false,"isArchived":false,"latitude":0,"longitude":0}
          < 204
          > POST /api/search/metadata {"page":1,"size":1,"withDeleted":true}
          < 200 {"assets":{"total":2,"count":1,"items":[{"id":"$sea","isFavorite":false}],"nextPage":"2"}}
          > POST /api/search/metadata {"page":2,"size":1,"withDeleted":true}
          < 200 {"assets":{"items":[{"id":"$hill","isArchived":false}],"nextPage":null}}
          > DELETE /api/assets {"ids":["$sea"],"force":true}
          < 204
          > POST /api/search/metadata {"withDeleted":true}
          < 200 {"assets":{"items":[{"id":"$hill"},{"id":"$sea","isTrashed":true}]}}
          > POST /api/search/metadata {"albumIds":["$album"],"withDeleted":true}
          < 200 {"assets":{"total":2,"items":[{"id":"$hill"},{"id":"$sea","isTrashed":true}]}}
          > POST /api/search/metadata {"albumIds":["$album"]}
          < 200 {"assets":{"total":1,"items":[{"id":"$hill"}]}}
          > POST /api/search/metadata {}
          < 200 {"assets":{"total":1,"items":[{"id":"$hill"}]}}
          > POST /api/search/metadata {"order":"asc","visibility":"timeline","trashedAfter":"0001-01-01T00:00:00.000Z"}
          < 200 {"assets":{"total":1,"items":[{"id":"$sea","isTrashed":true}]}}
          > POST /api/search/metadata {"order":"asc","visibility":"timeline"}
          < 200 {"assets":{"total":1,"items":[{"id":"$hill"}]}}
          > POST /api/search/metadata {"visibility":"archive"}
          < 200 {"assets":{"total":0,"items":[]}}
          > POST /api/search/metadata {"visibility":"locked"}
          < 200 {"assets":{"total":0,"items":[]}}
          > POST /api/search/metadata {"checksum":"0123456789012345678901234567890123456789"}
          < 200 {"assets":{"total":0,"count":0,"items":[],"nextPage":null}}
          > GET /api/assets/statistics
          < 200 {"images":1,"videos":0,"total":1}
          > PUT /api/jobs/thumbnailGeneration {"command":"resume","force":true}
          < 200 {"queueStatus":{"isPaused":false}}
          """)
      }
    }

    @Test("the owner gets the figures of the library, other clients do not; the description is public")
    func figures() async throws {
      try await Self.uploading { gallery, uploader in
        #expect(try uploader.ask("GET", "/api/server/statistics").status == 403)
        let owner = ImmichUploader(gallery: gallery, key: gallery.owner)
        _ = try owner.uploaded(try owner.upload(photo("one"), named: "one.jpg"))
        let figures = try owner.ask("GET", "/api/server/statistics").json()
        #expect(figures["photos"] as? Int == 1 && figures["usage"] as? Int == photo("one").count)
        #expect(try owner.ask("GET", "/api/users/me").json()["isAdmin"] as? Bool == true)
        #expect(try gallery.ask("GET", "/api/openapi.json", key: nil).json()["openapi"] as? String == "3.1.0")
      }
    }

    @Test("without the option these routes do not exist, and the field carries no key")
    func off() async throws {
      try await TestGallery.serving { gallery in
        for path in ["/api/server/ping", "/api/openapi.json", "/api/users/me"] {
          let answer = try gallery.ask("GET", path)
          #expect(answer.status == 404)
        }
        let field = "X-API-Key: \(gallery.owner)"
        #expect(try gallery.ask("GET", "/v1/keys", key: nil, [field]).status == 401)
      }
      try await Self.uploading { gallery, uploader in
        let unknown = try uploader.ask("GET", "/v1/albums")
        #expect(unknown.status == 404)
        #expect(try gallery.ask("GET", "/v1/keys", key: nil, ["X-API-Key: \(gallery.owner)"]).status == 200)
        #expect(try gallery.ask("GET", "/api/users/me", key: nil, ["X-API-Key: wrong"]).status == 401)
        #expect(try gallery.ask("GET", "/api/users/me", key: nil).status == 401)
      }
    }

    // MARK: What is said

    /// An XMP with a description, keywords and a rating.
    private static let sidecar = Data(
      """
      <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
      <rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/" \
      xmlns:dc="http://purl.org/dc/elements/1.1/" xmp:Rating="5"><dc:description><rdf:Alt>\
      <rdf:li xml:lang="x-default">From beside</rdf:li></rdf:Alt></dc:description><dc:subject><rdf:Bag>\
      <rdf:li>boat</rdf:li></rdf:Bag></dc:subject></rdf:Description></rdf:RDF></x:xmpmeta>
      """.utf8)

    @Test("favourites, the archive, a sidecar and a missing date come with the asset's commit; EXIF's date stays")
    func said() async throws {
      try await Self.uploading { gallery, uploader in
        let undated = TinyMedia.jpeg(.init(dateTimeOriginal: nil, comment: "undated"))
        let before = try gallery.library.currentToken.position
        let said = ["isFavorite": "true", "visibility": "archive"]
        let (id, _) = try uploader.uploaded(
          try uploader.upload(undated, named: "undated.jpg", said, sidecar: Self.sidecar))
        #expect(try gallery.library.currentToken.position == before + 1)
        let asset = try #require(try gallery.library.asset(id))
        #expect(asset.isFavorite && asset.isHidden && asset.rating == .five)
        #expect(asset.creationDate == Date(timeIntervalSince1970: 1_557_126_489) && asset.localCreationDate == nil)
        // The time of the file's modification, sent for want of a date, is not one.
        let (other, _) = try uploader.uploaded(
          try uploader.upload(
            TinyMedia.jpeg(.init(dateTimeOriginal: nil, comment: "modified")), named: "modified.jpg",
            ["fileModifiedAt": "2019-05-06T07:08:09.000Z"]))
        #expect(try #require(try gallery.library.asset(other)).creationDate == nil)
        // The archive as older uploaders spell it; the visibility counts before it.
        for (visibility, isHidden) in [("", true), ("timeline", false)] {
          let archived = photo("archived \(isHidden)")
          let said = ["isArchived": "true", "visibility": visibility]
          let (id, _) = try uploader.uploaded(try uploader.upload(archived, named: "archived.jpg", said))
          #expect(try gallery.library.asset(id)?.isHidden == isHidden)
        }
        let words = try gallery.library.extendedMetadata(of: asset)
        #expect(words.caption == "From beside" && words.keywords == ["boat"])
        let (dated, _) = try uploader.uploaded(try uploader.upload(photo("dated"), named: "dated.jpg"))
        let camera = try #require(try gallery.library.asset(dated))
        #expect(camera.localCreationDate == Date(timeIntervalSince1970: 1_612_325_106) && !camera.isFavorite)
        #expect(gallery.leftovers.isEmpty)
      }
    }

    @Test("time and place recorded by a service fill missing values, and replace no wall time")
    func corrections() async throws {
      try await Self.uploading { gallery, uploader in
        let said: [String: Any] = [
          "dateTimeOriginal": "2020-01-02T03:04:05.000+02:00", "latitude": 10, "longitude": 20, "rating": -1,
        ]
        let (dated, _) = try uploader.uploaded(try uploader.upload(photo("dated"), named: "dated.jpg"))
        #expect(try uploader.ask("PUT", "/api/assets/\(dated)", said).status == 200)
        let camera = try #require(try gallery.library.asset(dated))
        #expect(camera.creationDate == Date(timeIntervalSince1970: 1_612_325_106) && camera.location?.latitude == 10)
        #expect(try uploader.ask("PUT", "/api/assets/\(dated)", ["latitude": 1, "longitude": 2]).status == 200)
        #expect(try gallery.library.asset(dated)?.location?.latitude == 10)
        let undated = TinyMedia.jpeg(.init(dateTimeOriginal: nil, comment: "undated"))
        let (other, _) = try uploader.uploaded(try uploader.upload(undated, named: "undated.jpg"))
        #expect(try uploader.ask("PUT", "/api/assets/\(other)", said).status == 200)
        #expect(try gallery.library.asset(other)?.creationDate == Date(timeIntervalSince1970: 1_577_927_045))
        // A request without a change makes no commit.
        let before = try gallery.library.currentToken
        #expect(try uploader.ask("PUT", "/api/assets", ["ids": [other], "latitude": 0, "longitude": 0]).status == 204)
        #expect(try gallery.library.currentToken == before)
        for wrong: [String: Any] in [
          ["rating": 6], ["latitude": 91, "longitude": 0], ["latitude": 1], ["dateTimeOriginal": "soon"],
          ["visibility": "secret"], ["colour": 1], ["description": 7], ["stackParentId": 7],
        ] {
          #expect(try uploader.ask("PUT", "/api/assets/\(other)", wrong).status == 400, "\(wrong)")
        }
        #expect(try gallery.library.currentToken == before)
      }
    }

    // MARK: A whole run

    @Test(
      "a run over the sample photos brings all of them with their albums and tags; a second one finds them all",
      .enabled(if: SamplePhotos.folder != nil))
    func samples() async throws {
      let files = try Self.sampleFiles()
      try #require(files.count > 40)
      try await Self.uploading { gallery, uploader in
        let first = try uploader.run(files, tag: "run/first")
        let count = try gallery.assetCount
        #expect(first.new >= count && count > 30)
        let sums = Set(try files.map { try Data(contentsOf: $0.url).sha1Base64 })
        var held: Set<String> = []
        for asset in Array(try gallery.library.fetchAssets(ListingRoutes.everything(isTrash: false))) {
          for resource in try gallery.library.resources(of: asset) {
            held.insert(Data(try #require(resource.sha1)).base64EncodedString())
          }
          #expect(try gallery.library.extendedMetadata(of: asset).keywords.contains("first"), "\(asset.id)")
        }
        #expect(held.isSubset(of: sums) && held.count == first.new)
        let albums = Array(try gallery.library.fetchCollections(with: .album))
        #expect(albums.count > 5 && Set(files.map(\.album)).isSuperset(of: albums.compactMap(\.localizedTitle)))
        let before = try gallery.library.currentToken
        let second = try uploader.run(files, tag: "run/second")
        #expect(second.new == 0 && second.known == first.new + first.known)
        // Nothing changed: each asset has its place already.
        #expect(try gallery.library.currentToken == before && gallery.leftovers.isEmpty)
      }
    }

    /// The photos and videos of some folders of the sample photos.
    private static func sampleFiles() throws -> [(url: URL, album: String)] {
      let folder = try #require(SamplePhotos.folder)
      let names = [
        "camera-exif", "camera-phones", "dates-timezones", "duplicates", "gps", "heic", "live-photo-pairs",
        "orientation", "png-screenshot", "video",
      ]
      var files: [(URL, String)] = []
      for name in names {
        let found = FileManager.default.enumerator(
          at: folder.appending(path: name), includingPropertiesForKeys: [.fileSizeKey, .isRegularFileKey])
        for case let url as URL in try #require(found) {
          let values = try url.resourceValues(forKeys: [.fileSizeKey, .isRegularFileKey])
          guard values.isRegularFile == true, (1..<8_000_000).contains(values.fileSize ?? 0) else { continue }
          if ["jpg", "jpeg", "heic", "png", "mov", "mp4"].contains(url.pathExtension.lowercased()) {
            files.append((url, name))
          }
        }
      }
      return files.sorted { $0.0.path < $1.0.path }
    }

    // MARK: Permission

    @Test("an add-only client is answered as by an empty library, and learns nothing of its contents")
    func addOnly() async throws {
      try await Self.uploading(.authorized, for: .addOnly) { gallery, uploader in
        let owner = ImmichUploader(gallery: gallery, key: gallery.owner)
        let data = photo("same")
        let (there, _) = try owner.uploaded(try owner.upload(data, named: "there.jpg"))
        let made = try owner.ask("POST", "/api/albums", ["albumName": "A", "assetIds": [there]])
        let album = try #require(try made.json()["id"] as? String)
        #expect(try uploader.index().isEmpty)
        #expect(try uploader.ask("GET", "/api/albums").body == "[]")
        #expect(try uploader.ask("GET", "/api/assets/statistics").json()["total"] as? Int == 0)
        let (own, isDuplicate) = try uploader.uploaded(try uploader.upload(data, named: "own.jpg"))
        #expect(!isDuplicate && own != there)
        #expect(try uploader.index().isEmpty)
        for id in [own, there, "none"] {
          #expect(try uploader.ask("GET", "/api/assets/\(id)").status == 404)
          #expect(try uploader.ask("PUT", "/api/assets/\(id)", ["rating": 1]).status == 403)
          #expect(try uploader.ask("PUT", "/api/assets", ["ids": [id], "rating": 1]).status == 403)
          #expect(try uploader.ask("DELETE", "/api/assets", ["ids": [id]]).status == 403)
        }
        #expect(try uploader.ask("GET", "/api/albums/\(album)").status == 404)
        #expect(try uploader.ask("POST", "/api/search/metadata", ["albumIds": [album]]).status == 404)
        #expect(try uploader.ask("PUT", "/api/albums/\(album)/assets", ["ids": [own]]).status == 403)
        #expect(try uploader.ask("PUT", "/api/tags/c2Vh/assets", ["ids": [there]]).status == 403)
        // The owner sees both, under one checksum; an album that has both is listed with both.
        #expect(try owner.index().count == 1 && gallery.assetCount == 2)
        #expect(try owner.ask("PUT", "/api/albums/\(album)/assets", ["ids": [own]]).status == 200)
        let listed = try owner.ask("POST", "/api/search/metadata", ["albumIds": [album]]).json()["assets"]
        let members = (listed as? [String: Any])?["items"] as? [[String: Any]]
        #expect(members?.map { $0["id"] as? String } == [there, own])
      }
    }

    @Test("a limited client sees and finds its own files; others' files are new to it")
    func limited() async throws {
      try await Self.uploading(.limited) { gallery, uploader in
        let owner = ImmichUploader(gallery: gallery, key: gallery.owner)
        let (there, _) = try owner.uploaded(try owner.upload(photo("same"), named: "there.jpg"))
        #expect(try uploader.index().isEmpty)
        let (own, isDuplicate) = try uploader.uploaded(try uploader.upload(photo("same"), named: "own.jpg"))
        #expect(!isDuplicate && own != there)
        #expect(try uploader.uploaded(try uploader.upload(photo("same"), named: "own.jpg")).isDuplicate)
        // The oldest with this checksum is another one, which it does not see.
        #expect(try uploader.index().values.map { $0["id"] as? String } == [own])
      }
    }

    @Test("a client that may neither read nor add gets nothing, and neither does a key without the scope")
    func denied() async throws {
      try await Self.uploading(.denied) { gallery, uploader in
        for path in ["/api/users/me", "/api/albums", "/api/assets/statistics"] {
          let answer = try uploader.ask("GET", path)
          let message = try answer.json()["message"] as? String
          #expect(answer.status == 403 && message?.isEmpty == false)
        }
        #expect(try uploader.upload(photo("no"), named: "no.jpg").status == 403)
        let head = try gallery.head(
          "PUT", "/api/assets", key: nil,
          [
            "X-API-Key: \(uploader.key)", "Content-Type: application/json", "Content-Length: 900000",
            "Connection: close",
          ])
        let client = try RawClient(port: gallery.address.port)
        client.send(head)
        #expect(client.readToEnd().hasPrefix("HTTP/1.1 403"), "It is answered before its body comes.")
        let made = try gallery.ask("POST", "/v1/keys", json: ["client": "owner", "scopes": ["read"]]).json()
        let reader = ImmichUploader(gallery: gallery, key: try #require(made["secret"] as? String))
        #expect(try reader.upload(photo("no"), named: "no.jpg").status == 403)
        #expect(try reader.ask("DELETE", "/api/assets", ["ids": []]).status == 403)
        #expect(try reader.index().isEmpty && gallery.assetCount == 0 && gallery.leftovers.isEmpty)
      }
    }

    // MARK: Hostile forms

    @Test("a form that is cut at any byte, or whose connection is, leaves nothing in the library or beside it")
    func cut() async throws {
      try await Self.uploading(idleSeconds: 5) { gallery, uploader in
        let form = UploadForm(photo("cut"), named: "cut.jpg", sidecar: Self.sidecar)
        let whole = form.closed
        let counts = Array(stride(from: 0, to: whole.count - 2, by: 61))
        for count in counts {
          let answer = try uploader.send(whole.prefix(count), type: form.type, checksum: nil, chunk: 100)
          #expect(answer.status == 400, "\(count): \(answer)")
        }
        for count in [0, 700, whole.count - 3] {
          let client = try RawClient(port: gallery.address.port)
          let fields = ["X-API-Key: \(uploader.key)", form.type, "Content-Length: \(whole.count)"]
          client.send(Array(try gallery.head("POST", "/api/assets", key: nil, fields).utf8) + whole.prefix(count))
        }
        try await waitUntil("the requests are over") {
          gallery.log.lines.count { $0.path == "/api/assets" } == counts.count + 3
        }
        try await waitUntil("what was cut is gone") { gallery.leftovers.isEmpty }
        #expect(try gallery.assetCount == 0)
        let answer = try uploader.send(whole, type: form.type, checksum: nil, chunk: 7)
        #expect(try !uploader.uploaded(answer).isDuplicate && gallery.leftovers.isEmpty)
      }
    }

    @Test(
      "a file name loses its folders, and an invalid one is rejected",
      arguments: [
        ("../../etc/passwd.jpg", "passwd.jpg"), ("C:\\Users\\me\\a.jpg", "a.jpg"), ("/", "upload.jpg"),
        ("ä 1.jpg", "ä 1.jpg"), ("..", "upload.jpg"), (String(repeating: "n", count: 300), nil),
        ("a\u{202E}gpj.exe", nil), (String(repeating: "n", count: 20_000), nil), ("a\tb.jpg", nil),
      ] as [(String, String?)])
    func names(_ sent: String, _ kept: String?) async throws {
      try await Self.uploading { gallery, uploader in
        let answer = try uploader.upload(photo("name"), named: sent)
        guard let kept else {
          #expect(answer.status == 400 && gallery.leftovers.isEmpty, "\(answer)")
          return
        }
        let asset = try #require(try gallery.library.asset(try uploader.uploaded(answer).id))
        #expect(try gallery.library.resources(of: asset).map(\.originalFilename) == [kept])
      }
    }

    @Test("forms that contradict themselves, lack the file or exceed a bound are rejected and leave nothing")
    func hostile() async throws {
      try await Self.uploading { gallery, uploader in
        gallery.server.uploads.set(quota: UploadQuota(fileSize: 300_000))
        func status(_ change: (inout UploadForm) -> Void, checksum: String? = nil) throws -> Int {
          var form = UploadForm(photo("h"), named: "h.jpg")
          change(&form)
          return try uploader.send(form.closed, type: form.type, checksum: checksum).status
        }
        let other = try status({ _ in }, checksum: photo("other").sha1Base64)
        #expect(other == 400)
        #expect(try status({ _ in }, checksum: "nonsense") == 400)
        #expect(try status({ $0.add("assetData", file: "twice.jpg", photo("twice")) }) == 400)
        #expect(try status({ $0.add("isFavorite", "true") }) == 400)
        #expect(try status({ $0.add("assetData", "not a file") }) == 400)
        #expect(try status({ $0.add("colour", String(repeating: "x", count: 5000)) }) == 413)
        #expect(try status({ $0.add("sidecarData", file: "s.xmp", Data(count: 1_100_000)) }) == 413)
        #expect(try status({ $0.add("sidecarData", file: "s.xmp", Data("no xmp".utf8)) }) == 422)
        #expect(try status({ form in for index in 0..<80 { form.add("f\(index)", "1") } }) == 400)
        #expect(try uploader.upload(photo("large", 400_000), named: "large.jpg").status == 413)
        #expect(try uploader.upload(Data("text".utf8), named: "text.jpg").status == 422)
        #expect(try uploader.upload(Data(), named: "empty.jpg").status == 422)
        for (name, value) in [
          ("isFavorite", "maybe"), ("isArchived", "1"), ("visibility", "x"), ("fileCreatedAt", "soon"),
        ] {
          #expect(try uploader.upload(photo("h"), named: "h.jpg", [name: value]).status == 400, "\(name)")
        }
        #expect(try gallery.assetCount == 0 && gallery.leftovers.isEmpty)
        let hexadecimal = Data(base64Encoded: photo("h").sha1Base64)?.map { String(format: "%02x", $0) }.joined()
        #expect(try status({ _ in }, checksum: hexadecimal) == 201)
      }
    }
  }
#endif
