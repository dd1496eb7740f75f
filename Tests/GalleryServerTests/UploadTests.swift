#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import MediaImport
  import PhotoLedger
  import Synchronization
  import TestSupport
  import Testing

  extension TestGallery {
    /// Sends a request with a body on a connection of its own.
    /// - Returns: the fields of the 104 response, if one came, and the answer.
    func send(
      _ method: String, _ target: String, _ body: Data, key: String? = "owner", _ fields: [String] = []
    ) throws -> (interim: Answer?, answer: Answer) {
      let client = try RawClient(port: address.port)
      let lines = fields + ["Content-Length: \(body.count)", "Connection: close"]
      client.send(Array(try head(method, target, key: key, lines).utf8) + body)
      let text = client.readToEnd()
      let first = try #require(Self.parsed(text), "\(text)")
      guard first.status == 104 else { return (nil, Self.checked(method, target, first)) }
      return (first, Self.checked(method, target, try #require(Self.parsed(first.body), "\(text)")))
    }

    /// Sends the beginning of a body, and cuts the connection.
    func cut(_ method: String, _ target: String, _ body: Data, after count: Int, _ fields: [String]) throws -> String {
      let client = try RawClient(port: address.port)
      client.send(Array(try head(method, target, fields + ["Content-Length: \(body.count)"]).utf8))
      let place = method == "POST" ? client.read(through: "\r\n\r\n") : ""
      client.send(Array(body.prefix(count)))
      return Self.parsed(place)?.fields["location"] ?? target
    }

    var assetCount: Int { get throws { try library.fetchAssets().count } }

    /// The bytes of the one resource of an asset; they have the digests that are recorded of them.
    func bytes(of asset: String) throws -> Data {
      let asset = try #require(try library.asset(asset))
      let resource = try #require(try library.resources(of: asset).first)
      let url = try library.url(of: resource, in: asset)
      let content = try FileContent(of: FilePath(url.path))
      #expect(resource.sha256 == content.sha256 && resource.sha1 == content.sha1)
      return try Data(contentsOf: url)
    }

    /// What lies in the folder of uploads.
    var leftovers: [String] {
      let folder = library.url.appending(path: "server/uploads").path
      return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0 != "lock" }.sorted()
    }
  }

  /// A photo of a size, that no other of another name equals.
  func photo(_ name: String, _ count: Int = 0) -> Data {
    let jpeg = TinyMedia.jpeg(.init(comment: name))
    return jpeg + Data((0..<max(0, count - jpeg.count)).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 11) })
  }

  @Suite("Uploads over HTTP", .enabled(if: SamplePhotos.areInstalled("exiftool")), .timeLimit(.minutes(5)))
  struct UploadTests {
    @Test("a plain PUT or POST makes an asset with the file's metadata", arguments: ["PUT", "POST"])
    func plain(_ method: String) async throws {
      try await TestGallery.serving { gallery in
        let data = photo("one", 700_000)
        let name = "Content-Disposition: attachment; filename=\"IMG_1.JPG\""
        let (interim, answer) = try gallery.send(method, "/v1/uploads", data, [name])
        #expect(interim == nil && answer.status == 201, "\(answer)")
        let id = try #require(answer.fields["photoledger-asset"])
        let asset = try #require(try gallery.library.asset(id))
        let resource = try #require(try gallery.library.resources(of: asset).first)
        #expect(asset.pixelWidth == 8 && asset.pixelHeight == 6 && asset.creationDate != nil)
        #expect(resource.originalFilename == "IMG_1.JPG" && resource.uniformTypeIdentifier == "public.jpeg")
        // Repr-Digest would be that of the answer itself (RFC 9530, 3).
        #expect(answer.fields["photoledger-sha256"] == resource.sha256Hex && answer.fields["repr-digest"] == nil)
        #expect(answer.fields["location"] == "/v1/assets/\(id.prefix { $0 != "/" })")
        #expect(try answer.json()["asset"] as? String == id && answer.json()["outcome"] as? String == "created")
        #expect(try gallery.bytes(of: id) == data)
        let again = try gallery.send(method, "/v1/uploads?name=other.jpg", data).answer
        #expect(again.status == 200 && again.fields["photoledger-asset"] == id)
        #expect(try gallery.assetCount == 1 && gallery.leftovers.isEmpty)
      }
    }

    @Test(
      "cut at any byte an upload continues from its durable offset, in either form of the draft",
      arguments: [0, 1, 70_000, 262_144, 700_001], [true, false])
    func resumed(_ count: Int, _ isNew: Bool) async throws {
      // libmicrohttpd may notice only by its limit that a client left in the middle of a body.
      try await TestGallery.serving(idleSeconds: 5) { gallery in
        let data = photo("cut", 1_000_000)
        let version = "Upload-Draft-Interop-Version: \(isNew ? 8 : 3)"
        func flag(_ isLast: Bool) -> [String] {
          [version, isNew ? "Upload-Complete: \(isLast ? "?1" : "?0")" : "Upload-Incomplete: \(isLast ? "?0" : "?1")"]
        }
        let place = try gallery.cut(
          "POST", "/v1/uploads", data, after: count,
          flag(true) + ["Content-Disposition: attachment; filename*=UTF-8''%C3%A4.jpg", "Upload-Length: 1000000"])
        #expect(place.hasPrefix("/v1/uploads/"))
        let id = String(place.dropFirst("/v1/uploads/".count))
        try await waitUntil("what was sent is durable") {
          try gallery.server.uploads.unfinished(id, of: PhotoLibrary.owner)?.record.offset == UInt64(count)
        }
        let asked = try gallery.ask("HEAD", place, [version])
        #expect(asked.status == 204 && asked.fields["upload-complete"] == "?0", "\(asked)")
        #expect(asked.fields["upload-incomplete"] == "?1" && asked.fields["upload-length"] == "1000000")
        let offset = try #require(Int(asked.fields["upload-offset"] ?? ""))
        #expect(offset == count)
        let wrong = try gallery.send(
          "PATCH", place, data.dropFirst(offset), flag(true) + ["Upload-Offset: \(offset + 1)", Self.part])
        #expect(wrong.answer.status == 409 && wrong.answer.fields["upload-offset"] == "\(offset)", "\(wrong)")
        let middle = offset + (data.count - offset) / 2
        let part = try gallery.send(
          "PATCH", place, data[offset..<middle], flag(false) + ["Upload-Offset: \(offset)", Self.part])
        #expect(part.answer.status == 204 && part.answer.fields["upload-offset"] == "\(middle)", "\(part)")
        #expect(try gallery.assetCount == 0)
        let rest = flag(true) + ["Upload-Offset: \(middle)", Self.part]
        let end = try gallery.send("PATCH", place, data.dropFirst(middle), rest).answer
        #expect(end.status == 201 && end.fields["upload-complete"] == "?1", "\(end)")
        #expect(try gallery.bytes(of: try #require(end.fields["photoledger-asset"])) == data)
        // The answer was lost: the same one again, by the same request and by asking.
        let repeated = try gallery.send("PATCH", place, data.dropFirst(middle), rest).answer
        #expect(repeated.status == 201 && repeated.body == end.body)
        // A request that does not repeat it is not answered as though it had been taken.
        for (offset, isLast, bytes) in [(0, false, data.prefix(10)), (0, true, data.prefix(10)), (999_999, true, data)]
        {
          let other = try gallery.send("PATCH", place, bytes, flag(isLast) + ["Upload-Offset: \(offset)", Self.part])
          #expect(other.answer.status == 409, "\(other)")
        }
        let head = try gallery.ask("HEAD", place, [version])
        #expect(head.fields["photoledger-commit"] == end.fields["photoledger-commit"], "\(head)")
        #expect(head.fields["upload-complete"] == "?1" && head.fields["upload-offset"] == "1000000")
        #expect(try gallery.assetCount == 1 && gallery.leftovers.count == 1)
        #expect(try gallery.ask("DELETE", place).status == 204)
        #expect(try gallery.ask("HEAD", place).status == 404 && gallery.leftovers.isEmpty)
      }
    }

    static let part = "Content-Type: application/partial-upload"

    @Test("a request that waits for an upload which another one finishes gets the answer of that one")
    func finishedMeanwhile() async throws {
      try await TestGallery.serving { gallery in
        let begun = try gallery.send("POST", "/v1/uploads", photo("quick", 5_000), ["Upload-Complete: ?0"])
        let place = try #require(begun.interim?.fields["location"])
        let request = HTTPRequest(
          method: "HEAD", target: try HTTPTarget(place), fields: [("Authorization", "Bearer \(gallery.owner)")])
        let call = Call(
          request: request, parameters: [String(place.dropFirst("/v1/uploads/".count))],
          key: try gallery.server.keyring.key(of: request), server: gallery.server, keyChangeCount: 0)
        let (uploads, found) = (gallery.server.uploads, Gathered<String>())
        let record = try await UploadRoutes.whileUnfinished(call, PhotoLibrary.owner) { upload -> UploadRecord in
          found.append(upload.id)
          _ = await uploads.complete(upload, changesOthers: true) {}
          return try upload.interrupt()
        }
        #expect(record == nil && found.all == call.parameters)
        #expect(try gallery.ask("GET", place).status == 201)
      }
    }

    @Test("a server that starts removes plain uploads left by a killed one, without a request")
    func leftBehind() async throws {
      try await TestGallery.serving { gallery in
        await gallery.server.stop()
        let folder = gallery.library.url.appending(path: "server/uploads")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("x".utf8).write(to: folder.appending(path: "stray.bytes"))
        try #require(gallery.leftovers == ["stray.bytes"])
        try await gallery.restart()
        try await waitUntil("the bytes are removed") { gallery.leftovers.isEmpty }
      }
    }

    @Test("a restarted server continues uploads from their acknowledged offsets")
    func restarted() async throws {
      try await TestGallery.serving { gallery in
        let data = photo("restart", 500_000)
        let fields = ["Upload-Complete: ?0", "Upload-Length: 500000"]
        let begun = try gallery.send("POST", "/v1/uploads?name=a.jpg", data.prefix(200_000), fields)
        let place = try #require(begun.interim?.fields["location"], "\(begun)")
        #expect(begun.answer.status == 201 && begun.answer.fields["location"] == place)
        #expect(begun.interim?.fields["upload-offset"] == "0")
        await gallery.server.stop()
        // Bytes that were never promised, and files of uploads that were never named.
        let folder = gallery.library.url.appending(path: "server/uploads")
        let bytes = folder.appending(path: try #require(gallery.leftovers.first { $0.contains(".bytes") }))
        let handle = try FileHandle(forWritingTo: bytes)
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(repeating: 7, count: 999))
        try handle.close()
        try Data("x".utf8).write(to: folder.appending(path: "stray.bytes"))
        try Data("{".utf8).write(to: folder.appending(path: "AAAAAAAAAAAAAAAAAAAAAAAA.json"))
        try await gallery.restart()
        #expect(try gallery.ask("HEAD", place).fields["upload-offset"] == "200000")
        #expect(gallery.leftovers.count == 2, "\(gallery.leftovers)")
        let end = try gallery.send(
          "PATCH", place, data.dropFirst(200_000), ["Upload-Complete: ?1", "Upload-Offset: 200000", Self.part])
        #expect(end.answer.status == 201, "\(end)")
        #expect(try gallery.bytes(of: try #require(end.answer.fields["photoledger-asset"])) == data)
        try await gallery.restart()
        let head = try gallery.ask("GET", place)
        #expect(head.body == end.answer.body)
      }
    }

    @Test("a process that ended between the commit and the answer gives the answer of that commit")
    func committedBefore() async throws {
      try await TestGallery.serving { gallery in
        let data = photo("killed", 100_000)
        let begun = try gallery.send("POST", "/v1/uploads", data, ["Upload-Complete: ?0"])
        let place = try #require(begun.interim?.fields["location"])
        let id = String(place.dropFirst("/v1/uploads/".count))
        // The commit, as a server makes it that ends before it writes the record.
        let name = try #require(gallery.leftovers.first { $0.contains(".bytes") })
        let path = FilePath(gallery.library.url.path + "/server/uploads/" + name)
        let taken = try await MediaIntake().take(
          "server/uploads/\(name)", try FileContent(of: path), named: nil,
          into: gallery.library, key: "upload \(id)", cause: "upload")
        try await gallery.restart()
        let end = try gallery.send(
          "PATCH", place, Data(), ["Upload-Complete: ?1", "Upload-Offset: 100000", Self.part]
        ).answer
        #expect(end.status == 201 && end.fields["photoledger-asset"] == taken.asset.spelled(as: .asset), "\(end)")
        #expect(end.fields["photoledger-commit"] == taken.token.description)
        #expect(try gallery.assetCount == 1)
      }
    }

    @Test("a retried upload whose asset is gone is rejected, and the server continues", arguments: [true, false])
    func goneSince(_ isPurged: Bool) async throws {
      try await TestGallery.serving { gallery in
        let identifier = "33333333-2222-4333-8444-555555555555"
        let movie = TinyMedia.movie(contentIdentifier: identifier)
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.limited, of: "app") }
        let key = try gallery.key(of: "app").secret
        let still = TinyMedia.jpeg(.init(contentIdentifier: identifier))
        let first = try gallery.send("PUT", "/v1/uploads?name=a.jpg", still, key: key).answer
        let asset = try #require(first.fields["photoledger-asset"].flatMap { LocalIdentifier($0) })
        let begun = try gallery.send("POST", "/v1/uploads?name=b.mov", movie, key: key, ["Upload-Complete: ?0"])
        let place = try #require(begun.interim?.fields["location"])
        let id = String(place.dropFirst("/v1/uploads/".count))
        // The commit, as a server makes it that ends before it writes the record.
        let name = try #require(gallery.leftovers.first { $0.contains(".bytes") })
        let path = FilePath(gallery.library.url.path + "/server/uploads/" + name)
        let taken = try await MediaIntake().take(
          "server/uploads/\(name)", try FileContent(of: path), named: "b.mov",
          into: gallery.library.as("app"), key: "upload \(id)", cause: "upload")
        #expect(taken.outcome == .completed && taken.asset == asset)
        if isPurged {
          try await gallery.library.performChanges { $0.deleteAssets([asset]) }
          try await gallery.library.performChanges { $0.purgeAssets([asset]) }
        } else {
          try await gallery.library.performChanges { $0.withdraw([asset], from: "app") }
        }
        try await gallery.restart()
        let rest = ["Upload-Complete: ?1", "Upload-Offset: \(movie.count)", Self.part]
        let refused = try gallery.send("PATCH", place, Data(), key: key, rest).answer
        #expect(refused.status == 422 && refused.body.contains("no longer available"), "\(refused)")
        // What is said stays said, and the file can be sent as a new one.
        #expect(try gallery.ask("GET", place, key: key).body == refused.body)
        #expect(try gallery.send("PUT", "/v1/uploads?name=b.mov", movie, key: key).answer.status == 201)
      }
    }

    @Test("a key that stands for another change of the client records nothing, and the server continues")
    func foreignKey() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(1)
        let data = photo("foreign")
        let begun = try gallery.send("POST", "/v1/uploads", data, ["Upload-Complete: ?0"])
        let place = try #require(begun.interim?.fields["location"])
        let id = String(place.dropFirst("/v1/uploads/".count))
        try await gallery.library.performChanges(key: "upload \(id)") { $0.setFavorite(true, for: ids) }
        let rest = ["Upload-Complete: ?1", "Upload-Offset: \(data.count)", Self.part]
        #expect(try gallery.send("PATCH", place, Data(), rest).answer.status == 422)
        #expect(try gallery.send("PUT", "/v1/uploads", data).answer.status == 201)
      }
    }

    @Test("bytes with another digest, of no medium, or of another length are rejected, and nothing stays")
    func refused() async throws {
      try await TestGallery.serving { gallery in
        let data = photo("digest")
        let digest = { (data: Data) in "Repr-Digest: sha-256=:\(Data(Array(data).sha256).base64EncodedString()):" }
        let fields = [digest(Data("other".utf8)), "Upload-Complete: ?1"]
        let wrong = try gallery.send("POST", "/v1/uploads", data, fields)
        #expect(wrong.answer.status == 400 && wrong.answer.body.contains("Repr-Digest"), "\(wrong)")
        let place = try #require(wrong.interim?.fields["location"])
        #expect(try gallery.ask("GET", place).body == wrong.answer.body)
        // The digest is of the whole file, however many parts it came in, and of no part.
        let begun = try gallery.send("POST", "/v1/uploads", data.prefix(9), ["Upload-Complete: ?0", digest(data)])
        let parts = try #require(begun.interim?.fields["location"])
        let last = ["Upload-Complete: ?1", "Upload-Offset: 9", Self.part]
        let ofPart = try gallery.send("PATCH", parts, data.dropFirst(9), last + [digest(data.dropFirst(9))]).answer
        #expect(ofPart.status == 400 && ofPart.body.contains("Repr-Digest"), "\(ofPart)")
        let foreign = "Repr-Digest: sha-512=:AAAA:, \(digest(Data("other".utf8)).dropFirst(13))"
        #expect(try gallery.send("PUT", "/v1/uploads", data, [foreign]).answer.status == 400)
        // Without one that is checked, its client is not left to believe that there was a check.
        let unchecked = try gallery.send("PUT", "/v1/uploads", data, ["Repr-Digest: sha-512=:AAAA:"]).answer
        #expect(unchecked.status == 400 && unchecked.body.contains("sha-256"), "\(unchecked)")
        #expect(unchecked.fields["want-repr-digest"] == "sha-256=10", "\(unchecked)")
        let text = try gallery.send("PUT", "/v1/uploads?name=a.jpg", Data("This is a text.".utf8)).answer
        #expect(text.status == 422 && text.body.contains("a.jpg is not a photo or video"), "\(text)")
        #expect(!text.body.contains("server/uploads"))
        #expect(try gallery.send("PUT", "/v1/uploads", Data()).answer.status == 422)
        let long = try gallery.send("POST", "/v1/uploads", data, ["Upload-Complete: ?1", "Upload-Length: 9"]).answer
        #expect(long.status == 400, "\(long)")
        #expect(try gallery.assetCount == 0)
        #expect(gallery.leftovers.allSatisfy { $0.hasSuffix(".done") }, "\(gallery.leftovers)")
        let stored = FileManager.default.enumerator(atPath: gallery.library.url.path + "/resources")?.allObjects
        #expect(stored?.compactMap { $0 as? String }.allSatisfy { $0.count < 12 } == true, "\(stored ?? [])")
        #expect(try gallery.send("PUT", "/v1/uploads", data, [digest(data)]).answer.status == 201)
      }
    }

    @Test("halves that arrive in parts and at the same time, and after a restart, still become one asset")
    func pairedApart() async throws {
      try await TestGallery.serving { gallery in
        let identifier = "22222222-2222-4333-8444-555555555555"
        let halves = [
          ("a.jpg", TinyMedia.jpeg(.init(contentIdentifier: identifier))),
          ("b.mov", TinyMedia.movie(contentIdentifier: identifier)),
        ]
        // Both are begun before either ends.
        let places = try halves.map { name, data in
          let begun = try gallery.send("POST", "/v1/uploads?name=\(name)", data.prefix(20), ["Upload-Complete: ?0"])
          return try #require(begun.interim?.fields["location"])
        }
        let clients = try zip(halves, places).map { half, place in
          let client = try RawClient(port: gallery.address.port)
          let rest = Array(half.1.dropFirst(20))
          let fields = ["Upload-Complete: ?1", "Upload-Offset: 20", Self.part, "Content-Length: \(rest.count)"]
          client.send(Array(try gallery.head("PATCH", place, fields + ["Connection: close"]).utf8) + rest)
          return client
        }
        let answers = try clients.map { try #require(TestGallery.parsed($0.readToEnd())) }
        #expect(answers.map(\.status) == [201, 201], "\(answers)")
        let outcomes = try answers.map { try $0.json()["outcome"] as? String ?? "" }
        #expect(outcomes.sorted() == ["completed", "created"])
        #expect(Set(answers.map { $0.fields["photoledger-asset"] }).count == 1)
        #expect(try gallery.assetCount == 1)
        // A second movie of the same identifier finds no half that lacks one.
        let other = TinyMedia.movie(contentIdentifier: identifier) + Data(count: 8)
        await gallery.server.stop()
        try await gallery.restart()
        let late = try gallery.send("PUT", "/v1/uploads?name=c.mov", other).answer
        #expect(late.status == 201 && late.fields["photoledger-asset"] != answers[0].fields["photoledger-asset"])
        // The halves of two clients that only add stay apart: neither learns of the other.
        try await gallery.library.performChanges { change in
          for name in ["one", "two"] { change.setAuthorizationStatus(.authorized, of: name, for: .addOnly) }
        }
        let (one, two) = (try gallery.key(of: "one").secret, try gallery.key(of: "two").secret)
        let still = try gallery.send("PUT", "/v1/uploads?name=a.jpg", halves[0].1, key: one).answer
        let movie = try gallery.send("PUT", "/v1/uploads?name=b.mov", halves[1].1, key: two).answer
        #expect(still.status == 201 && movie.status == 201)
        #expect(still.fields["photoledger-asset"] != movie.fields["photoledger-asset"])
      }
    }

    @Test("the halves of a Live Photo become one asset, whichever comes first", arguments: [true, false])
    func paired(_ isStillFirst: Bool) async throws {
      try await TestGallery.serving { gallery in
        let identifier = "11111111-2222-4333-8444-555555555555"
        let still = TinyMedia.jpeg(.init(contentIdentifier: identifier))
        let movie = TinyMedia.movie(contentIdentifier: identifier)
        let first = try gallery.send("PUT", "/v1/uploads?name=a.jpg", isStillFirst ? still : movie).answer
        let second = try gallery.send("PUT", "/v1/uploads?name=b.mov", isStillFirst ? movie : still).answer
        #expect(first.status == 201 && second.status == 201, "\(second)")
        #expect(try second.json()["outcome"] as? String == "completed")
        #expect(first.fields["photoledger-asset"] == second.fields["photoledger-asset"])
        let asset = try #require(try gallery.library.asset(first.fields["photoledger-asset"] ?? ""))
        #expect(asset.mediaSubtypes.contains(.photoLive) && asset.mediaType == .image)
        #expect(Set(try gallery.library.resources(of: asset).map(\.type)) == [.photo, .pairedVideo])
        #expect(try gallery.assetCount == 1)
      }
    }

    @Test("a half that a limited client does not see is neither completed by its upload nor revealed by the answer")
    func pairedOutOfSight() async throws {
      try await TestGallery.serving { gallery in
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.limited, of: "app") }
        let key = try gallery.key(of: "app").secret
        func identifier(_ number: Int) -> String { "\(number)3333333-2222-4333-8444-555555555555" }
        func still(_ number: Int) throws -> Asset {
          let data = TinyMedia.jpeg(.init(contentIdentifier: identifier(number)))
          let answer = try gallery.send("PUT", "/v1/uploads?name=a.jpg", data).answer
          return try #require(try gallery.library.asset(answer.fields["photoledger-asset"] ?? ""))
        }
        func movie(_ number: Int) throws -> (asset: String, shape: String) {
          let data = TinyMedia.movie(contentIdentifier: identifier(number))
          let answer = try gallery.send("PUT", "/v1/uploads?name=b.mov", data, key: key).answer
          let (json, asset) = (try answer.json(), answer.fields["photoledger-asset"] ?? "")
          return (asset, "\(answer.status) \(json["outcome"] ?? "") \(json.keys.sorted())")
        }
        let (unseen, seen) = (try still(1), try still(2))
        try await gallery.library.performChanges { $0.grant([seen.id], to: "app") }
        // As if there were no other half.
        let (first, alone) = (try movie(1), try movie(3))
        #expect(first.asset != unseen.localIdentifier && first.shape == alone.shape, "\(first)")
        func types(_ asset: Asset) throws -> [ResourceType] {
          try gallery.library.resources(of: #require(try gallery.library.asset(asset.localIdentifier))).map(\.type)
        }
        #expect(try types(unseen) == [.photo])
        #expect(try gallery.fetch(key: key).count == 3)
        let completed = try movie(2)
        #expect(completed.asset == seen.localIdentifier && completed.shape.contains("completed"), "\(completed)")
        #expect(try types(seen) == [.photo, .pairedVideo])
        #expect(try gallery.fetch(key: key).count == 3)
      }
    }
  }
#endif
