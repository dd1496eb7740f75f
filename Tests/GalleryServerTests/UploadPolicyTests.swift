#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import PhotoLedger
  import StoreTestSupport
  import Synchronization
  import TestSupport
  import Testing

  @Suite(
    "Ownership, number and duration of uploads", .enabled(if: SamplePhotos.areInstalled("exiftool")),
    .timeLimit(.minutes(5)))
  struct UploadPolicyTests {
    private static let part = UploadTests.part

    @Test("an upload belongs to its client; to others it looks as if it never existed")
    func owned() async throws {
      try await TestGallery.serving { gallery in
        try gallery.temporary.authorize("one", "two")
        let (one, two) = (try gallery.key(of: "one").secret, try gallery.key(of: "two").secret)
        let data = photo("mine", 50_000)
        let begun = try gallery.send("POST", "/v1/uploads", data.prefix(1000), key: one, ["Upload-Complete: ?0"])
        let place = try #require(begun.interim?.fields["location"])
        let unknown = "/v1/uploads/" + String(repeating: "A", count: 24)
        let rest = ["Upload-Complete: ?1", "Upload-Offset: 1000", Self.part]
        for method in ["HEAD", "GET", "DELETE"] {
          let (theirs, none) = (
            try gallery.ask(method, place, key: two), try gallery.ask(method, unknown, key: two)
          )
          #expect(theirs.status == 404 && theirs.body == none.body)
        }
        #expect(try gallery.send("PATCH", place, data.dropFirst(1000), key: two, rest).answer.status == 404)
        #expect(try gallery.send("PATCH", place, data.dropFirst(1000), key: one, rest).answer.status == 201)
        for method in ["HEAD", "GET", "DELETE"] {
          #expect(try gallery.ask(method, place, key: two).status == 404)
        }
        for name in ["..%2Fkeys", "%2e%2e%2Fkeys.json", "lock", "AAAAAAAAAAAAAAAAAAAAAAA%2F"] {
          #expect(try gallery.ask("HEAD", "/v1/uploads/\(name)").status == 404)
        }
      }
    }

    @Test("an add-only client adds and sees nothing, a limited one finds its photo in its selection")
    func permitted() async throws {
      try await TestGallery.serving { gallery in
        let known = photo("known")
        let first = try gallery.send("PUT", "/v1/uploads", known).answer
        try await gallery.library.performChanges { change in
          change.setAuthorizationStatus(.authorized, of: "camera", for: .addOnly)
          change.setAuthorizationStatus(.limited, of: "app")
          change.setAuthorizationStatus(.denied, of: "no")
        }
        let (camera, app) = (try gallery.key(of: "camera").secret, try gallery.key(of: "app").secret)
        for key in [camera, app] {
          // That the library has the bytes is not theirs to learn.
          let answer = try gallery.send("PUT", "/v1/uploads", known, key: key).answer
          #expect(answer.status == 201 && answer.fields["photoledger-asset"] != first.fields["photoledger-asset"])
        }
        #expect(try gallery.assetCount == 3)
        #expect(try gallery.ask("POST", "/v1/fetches", json: [:], key: camera).status == 403)
        #expect(try gallery.fetch(key: app).count == 1)
        // The server answers that it has what the limited client sees.
        #expect(try gallery.send("PUT", "/v1/uploads", known, key: app).answer.status == 200)
        let no = try gallery.key(of: "no").secret
        for fields in [[], ["Upload-Complete: ?0"]] {
          #expect(try gallery.send("POST", "/v1/uploads", known, key: no, fields).answer.status == 403)
        }
        #expect(try gallery.send("PUT", "/v1/uploads", known, key: nil).answer.status == 401)
        #expect(gallery.leftovers.isEmpty)
      }
    }

    @Test("a key that only adds completes what its client uploaded, and nothing that others brought")
    func completesItsOwn() async throws {
      try await TestGallery.serving { gallery in
        func identifier(_ number: Int) -> String { "\(number)4444444-2222-4333-8444-555555555555" }
        func still(_ number: Int) -> Data { TinyMedia.jpeg(.init(contentIdentifier: identifier(number))) }
        func movie(_ number: Int) -> Data { TinyMedia.movie(contentIdentifier: identifier(number)) }
        func send(_ data: Data, _ name: String, _ key: String) throws -> (asset: String, outcome: String) {
          let answer = try gallery.send("PUT", "/v1/uploads?name=\(name)", data, key: key).answer
          let outcome = try #require(try answer.json()["outcome"] as? String)
          return (try #require(answer.fields["photoledger-asset"]), outcome)
        }
        let film = try send(movie(1), "a.mov", gallery.owner).asset
        let photo = try send(still(2), "a.jpg", gallery.owner).asset
        let body: [String: Any] = ["title": "Trip", "assets": [film, photo], "upload": true]
        let link = try #require(try gallery.ask("POST", "/v1/shares", json: body).json()["secret"] as? String)
        func visit() throws -> String {
          let answer = try gallery.ask("POST", "/v1/shares:open", json: ["secret": link], key: nil)
          return try #require(try answer.json()["secret"] as? String)
        }
        let key = try visit()
        // The visitor sees both, and changes neither.
        #expect(try gallery.fetch(key: key).count == 2)
        let (first, second) = (try send(still(1), "b.jpg", key), try send(movie(2), "b.mov", key))
        #expect(first.outcome == "created" && second.outcome == "created")
        #expect(first.asset != film && second.asset != photo)
        let kept = try #require(try gallery.library.asset(film))
        let other = try #require(try gallery.library.asset(photo))
        #expect(kept.mediaType == .video && !other.mediaSubtypes.contains(.photoLive))
        #expect(try gallery.library.resources(of: kept).map(\.type) == [.video])
        #expect(try gallery.library.resources(of: other).map(\.type) == [.photo])
        // A Live Photo of a visitor is one asset, in two visits as well.
        let half = try send(still(3), "c.jpg", key)
        let whole = try send(movie(3), "c.mov", try visit())
        #expect(whole.outcome == "completed" && whole.asset == half.asset)
        // A program with the same narrow scopes is bound likewise, and one that may change the library is not.
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "app") }
        let narrow: [String: Any] = ["client": "app", "scopes": ["read", "add"]]
        let adding = try #require(try gallery.ask("POST", "/v1/keys", json: narrow).json()["secret"] as? String)
        let changing = try gallery.key(of: "app").secret
        for number in [4, 5] { _ = try send(movie(number), "d.mov", gallery.owner) }
        #expect(try send(still(4), "d.jpg", adding).outcome == "created")
        #expect(try send(still(5), "d.jpg", changing).outcome == "completed")
      }
    }

    @Test("a permission or key that ends while bytes arrive ends the upload without an asset")
    func withdrawn() async throws {
      try await TestGallery.serving { gallery in
        try gallery.temporary.authorize("one")
        let key = try gallery.key(of: "one")
        let data = photo("late", 90_000)
        let begun = try gallery.send("POST", "/v1/uploads", data.prefix(10), key: key.secret, ["Upload-Complete: ?0"])
        let place = try #require(begun.interim?.fields["location"])
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.denied, of: "one") }
        let rest = ["Upload-Complete: ?1", "Upload-Offset: 10", Self.part]
        #expect(try gallery.send("PATCH", place, data.dropFirst(10), key: key.secret, rest).answer.status == 403)
        try gallery.temporary.authorize("one")
        let client = try RawClient(port: gallery.address.port)
        client.send(
          try gallery.head(
            "PATCH", place, key: key.secret, rest + ["Content-Length: \(data.count - 10)", "Connection: close"]))
        client.send(Array(data.dropFirst(10).prefix(1000)))
        #expect(try gallery.ask("DELETE", "/v1/keys/\(key.name)").status == 204)
        client.send(Array(data.dropFirst(1010)))
        #expect(client.readToEnd().hasPrefix("HTTP/1.1 401"))
        #expect(try gallery.assetCount == 0)
      }
    }

    @Test(
      "an upload that exceeds a limit is rejected before its bytes arrive, and a full disk keeps the received bytes")
    func bounded() async throws {
      try await TestGallery.serving { gallery in
        var quota = UploadQuota()
        (quota.fileSize, quota.count, quota.bytes) = (2_000_000, 2, 3_000_000)
        let full = SharedFlag()
        gallery.server.uploads.set(quota: quota) { descriptor, bytes, offset in
          // Some of the body comes before the disk is full, and part of that is given back.
          if full.isSet, bytes.count > 10_000, offset >= 500_000 {
            errno = ENOSPC
            return -1
          }
          return pwrite(descriptor, bytes.baseAddress, bytes.count, offset)
        }
        let large = try gallery.send("PUT", "/v1/uploads", Data(count: 2_000_001)).answer
        #expect(large.status == 413 && large.fields["upload-limit"]?.hasPrefix("max-size=2000000,") == true, "\(large)")
        let fields = ["Upload-Complete: ?0"]
        let data = photo("full", 1_000_000)
        let place = try #require(
          try gallery.send("POST", "/v1/uploads", data.prefix(300_000), fields).interim?.fields["location"])
        // A body without a length is bounded while it comes.
        let chunked = try RawClient(port: gallery.address.port)
        chunked.send(
          try gallery.head("POST", "/v1/uploads", ["Transfer-Encoding: chunked", "Connection: close"])
            + "1e8481\r\n" + String(repeating: "x", count: 2_000_001) + "\r\n0\r\n\r\n")
        #expect(chunked.readToEnd().hasPrefix("HTTP/1.1 413"))
        let long = fields + ["Upload-Length: 2000000"]
        #expect(try gallery.send("POST", "/v1/uploads", Data(), long).answer.status == 201)
        #expect(try gallery.send("POST", "/v1/uploads", Data(), fields).answer.status == 429)
        full.set(true)
        func rest(from offset: Int) throws -> Answer {
          let fields = ["Upload-Complete: ?1", "Upload-Offset: \(offset)", Self.part]
          return try gallery.send("PATCH", place, data.dropFirst(offset), fields).answer
        }
        let failed = try rest(from: 300_000)
        #expect(failed.status == 507 && failed.body.contains("not-enough-space"), "\(failed)")
        let offset = try #require(Int(try gallery.ask("HEAD", place).fields["upload-offset"] ?? ""))
        #expect((300_000..<500_000).contains(offset))
        full.set(false)
        let end = try rest(from: offset)
        #expect(end.status == 201, "\(end)")
        #expect(try gallery.bytes(of: try #require(end.fields["photoledger-asset"])) == data)
      }
    }

    @Test("a further part of an upload has no more bytes than the client may, and one that fits goes on")
    func furtherParts() async throws {
      try await TestGallery.serving { gallery in
        var quota = UploadQuota()
        (quota.fileSize, quota.bytes) = (2_000_000, 3_000_000)
        gallery.server.uploads.set(quota: quota)
        let fields = ["Upload-Complete: ?0"]
        let begun = try (0..<2).map { _ in
          try gallery.send("POST", "/v1/uploads", Data(count: 1000), fields).answer.fields["location"]
        }
        let places = try begun.map { try #require($0) }
        let part = fields + ["Upload-Offset: 1000", Self.part]
        #expect(try gallery.send("PATCH", places[0], Data(count: 1_900_000), part).answer.status == 204)
        let refused = try gallery.send("PATCH", places[1], Data(count: 1_900_000), part).answer
        #expect(refused.status == 429, "\(refused)")
        #expect(try gallery.ask("HEAD", places[1]).fields["upload-offset"] == "1000")
        #expect(try gallery.send("PATCH", places[1], Data(count: 1_000_000), part).answer.status == 204)
      }
    }

    @Test("a further part announces no larger file than the first part may, and one that is refused changes nothing")
    func largerLater() async throws {
      try await TestGallery.serving { gallery in
        var quota = UploadQuota()
        (quota.fileSize, quota.bytes) = (2_000_000, 3_000_000)
        gallery.server.uploads.set(quota: quota)
        let begun = try gallery.send("POST", "/v1/uploads", Data(count: 1000), ["Upload-Complete: ?0"]).answer
        let place = try #require(begun.fields["location"])
        let part = ["Upload-Offset: 1000", Self.part]
        for (data, fields) in [
          (Data(count: 10), ["Upload-Complete: ?0", "Upload-Length: 2500000"]),
          (Data(count: 1_999_001), ["Upload-Complete: ?1"]),
        ] {
          let refused = try gallery.send("PATCH", place, data, part + fields).answer
          #expect(refused.status == 413, "\(refused)")
          #expect(refused.fields["upload-limit"]?.hasPrefix("max-size=2000000,") == true, "\(refused)")
          let state = try gallery.ask("HEAD", place)
          #expect(state.fields["upload-offset"] == "1000" && state.fields["upload-length"] == nil, "\(state)")
        }
        let next = ["Upload-Complete: ?0", "Upload-Length: 2000000"]
        #expect(try gallery.send("PATCH", place, Data(count: 10), part + next).answer.status == 204)
      }
    }

    @Test("bodies without a length that come together have no more bytes than the client may")
    func unannounced() async throws {
      try await TestGallery.serving { gallery in
        var quota = UploadQuota()
        (quota.fileSize, quota.bytes) = (2_000_000, 3_000_000)
        gallery.server.uploads.set(quota: quota)
        let fields = ["Upload-Complete: ?1", "Transfer-Encoding: chunked", "Connection: close"]
        func begun() throws -> RawClient {
          let client = try RawClient(port: gallery.address.port)
          client.send(try gallery.head("POST", "/v1/uploads", fields))
          client.send([UInt8]("1cfde0\r\n".utf8) + [UInt8](repeating: 0, count: 1_900_000) + [UInt8]("\r\n".utf8))
          return client
        }
        let first = try begun()
        let interim = try #require(TestGallery.parsed(first.read(through: "\r\n\r\n")))
        let id = try #require(interim.fields["location"]).dropFirst("/v1/uploads/".count)
        try await waitUntil("the first body has been written") {
          try gallery.server.uploads.unfinished(String(id), of: PhotoLibrary.owner)?.written == 1_900_000
        }
        let second = try begun()
        second.send("0\r\n\r\n")
        let refused = second.readToEnd()
        #expect(refused.contains("HTTP/1.1 429"), "\(refused)")
        // What came of the first is there still.
        #expect(try gallery.server.uploads.unfinished(String(id), of: PhotoLibrary.owner)?.written == 1_900_000)
      }
    }

    @Test("a disk that is really full keeps the received bytes; with room again the upload continues", .mountsMemory)
    func diskFull() async throws {
      let place = try TemporaryFolder()
      try #require(mount("tmpfs", place.url.path, "tmpfs", 0, "size=8m") == 0)
      defer { umount2(place.url.path, Int32(MNT_DETACH)) }
      try await TestGallery.serving(in: place) { gallery in
        var quota = UploadQuota()
        quota.reserve = 0
        gallery.server.uploads.set(quota: quota)
        let data = photo("full", 12_000_000)
        // Without an announced length nothing says beforehand that there is no room.
        let fields = ["Upload-Complete: ?0"]
        let begun = try gallery.send("POST", "/v1/uploads?name=a.jpg", data, fields)
        #expect(begun.answer.status == 507 && begun.answer.body.contains("not-enough-space"), "\(begun)")
        let url = try #require(begun.interim?.fields["location"])
        let offset = try #require(Int(try gallery.ask("HEAD", url).fields["upload-offset"] ?? ""))
        #expect((0..<8 << 20).contains(offset))
        #expect(try gallery.assetCount == 0)
        #expect(try gallery.send("PUT", "/v1/uploads", photo("other", 12_000_000)).answer.status == 507)
        #expect(gallery.leftovers.count == 2, "\(gallery.leftovers)")
        // Reading goes on.
        #expect(try gallery.fetch().count == 0)
        #expect(mount("tmpfs", place.url.path, "tmpfs", UInt(MS_REMOUNT), "size=64m") == 0)
        let rest = ["Upload-Complete: ?1", "Upload-Offset: \(offset)", Self.part]
        let end = try gallery.send("PATCH", url, data.dropFirst(offset), rest).answer
        #expect(end.status == 201, "\(end)")
        #expect(try gallery.bytes(of: try #require(end.fields["photoledger-asset"])) == data)
      }
    }

    @Test("a visitor who leaves many uploads unfinished loses their own, and blocks no other visitor of the link")
    func ofVisitors() async throws {
      try await TestGallery.serving { gallery in
        var quota = UploadQuota()
        (quota.count, quota.countOfVisitor, quota.bytes) = (4, 3, 3_000_000)
        gallery.server.uploads.set(quota: quota)
        let assets = try await gallery.makeAssets(1).map(\.uuidString)
        let json: [String: Any] = ["title": "Party", "assets": assets, "upload": true]
        let link = try gallery.ask("POST", "/v1/shares", json: json).json()
        func visit() throws -> String {
          let opened = try gallery.ask("POST", "/v1/shares:open", json: ["secret": link["secret"] ?? ""], key: nil)
          return try #require(try opened.json()["secret"] as? String, "\(opened)")
        }
        let (one, two) = (try visit(), try visit())
        func begin(_ key: String, _ fields: [String] = []) throws -> String {
          gallery.clock.advance(by: 1)
          let fields = ["Upload-Complete: ?0"] + fields
          let begun = try gallery.send("POST", "/v1/uploads", Data(), key: key, fields).answer
          return try #require(begun.fields["location"], "\(begun)")
        }
        func statuses(_ places: [String]) throws -> [Int] {
          try places.map { try gallery.ask("HEAD", $0, key: two).status }
        }
        let kept = try begin(two)
        let many = try (0..<5).map { _ in try begin(one) }
        #expect(try statuses([kept] + many) == [204, 404, 404, 204, 204, 204])
        // The link has as many as it may, and the first visitor most of them, also after a restart.
        try await gallery.restart { [quota] in $0.uploads.set(quota: quota) }
        let second = try begin(two)
        #expect(try statuses([kept, second] + many) == [204, 204, 404, 404, 404, 204, 204])
        let long = try begin(one, ["Upload-Length: 2000000"])
        #expect(try statuses([kept, second, long] + many) == [204, 204, 204, 404, 404, 404, 404, 204])
        // Bytes that were announced and do not come make room for those that do.
        #expect(try gallery.ask("DELETE", kept, key: two).status == 204)
        #expect(try gallery.send("PUT", "/v1/uploads", photo("guest", 1_500_000), key: two).answer.status == 201)
        #expect(try statuses([second, long, many[4]]) == [204, 404, 204])
        #expect(gallery.leftovers.count { $0.hasSuffix(".json") } == 2, "\(gallery.leftovers)")
      }
    }

    @Test("a visitor whose own upload is being received displaces neither others nor completed uploads")
    func ownInUse() throws {
      let temporary = try TemporaryLibrary()
      let uploads = Uploads(temporary.library, .system)
      defer { uploads.close() }
      var quota = UploadQuota()
      (quota.fileSize, quota.bytes) = (2_500_000, 3_000_000)
      uploads.set(quota: quota)
      func head(_ length: UInt64?, isLast: Bool = false) -> UploadHead {
        var head = UploadHead()
        (head.isLast, head.length) = (isLast, length)
        return head
      }
      func begin(_ visitor: String, _ length: UInt64?) throws -> Upload {
        try uploads.create(head(length), contentLength: 0, for: "share", visitor: visitor)
      }
      let (guest, whole) = (try begin("two", 1000), try begin("three", 1000))
      let last = try uploads.resume(whole, at: 0, head(1000, isLast: true), contentLength: 1000)
      try uploads.write([UInt8](repeating: 7, count: 1000), of: whole, turn: last)
      _ = try whole.seal(turn: last, isLast: true)
      let (first, second) = (try begin("one", nil), try begin("one", nil))
      let turn = try uploads.resume(first, at: 0, head(2_000_000), contentLength: nil)
      let refusal = #expect(throws: Problem.self) {
        try uploads.resume(second, at: 0, head(2_000_000), contentLength: nil)
      }
      #expect(refusal?.status == 429)
      try first.pause(turn: turn)
      // Of those that nothing is received of, the visitor's own goes.
      _ = try uploads.resume(second, at: 0, head(2_000_000), contentLength: nil)
      #expect(try uploads.unfinished(first.id, of: "share") == nil)
      for kept in [guest, whole] { #expect(try uploads.unfinished(kept.id, of: "share") != nil) }
    }

    @Test("an upload that ends short of its length is closed, continues from the received bytes, and expires in time")
    func short() throws {
      let temporary = try TemporaryLibrary()
      let clock = SharedClock()
      let uploads = Uploads(
        temporary.library, GalleryEnvironment(now: { clock.now }, randomBytes: GalleryEnvironment.system.randomBytes))
      defer { uploads.close() }
      var head = UploadHead()
      (head.isLast, head.length) = (true, 100)
      let upload = try uploads.create(head, contentLength: nil, for: "owner")
      let turn = try upload.begin(at: 0, head, contentLength: nil)
      try uploads.write([UInt8](repeating: 7, count: 5), of: upload, turn: turn)
      let refusal = #expect(throws: Problem.self) { try upload.seal(turn: turn, isLast: true) }
      #expect(refusal?.status == 400 && !upload.isReceiving)
      #expect(upload.record.offset == 5 && !upload.record.isWhole)
      let next = try uploads.resume(upload, at: 5, head, contentLength: 95)
      try upload.pause(turn: next)
      #expect(!upload.isReceiving)
      clock.advance(8 * 86_400)
      #expect(try uploads.unfinished(upload.id, of: "owner") == nil)
    }

    @Test("unclaimed uploads and answers expire")
    func expired() async throws {
      let temporary = try TemporaryLibrary()
      let clock = SharedClock()
      let uploads = Uploads(
        temporary.library, GalleryEnvironment(now: { clock.now }, randomBytes: GalleryEnvironment.system.randomBytes))
      defer { uploads.close() }
      var head = UploadHead()
      head.isLast = false
      let old = try uploads.create(head, contentLength: 0, for: "owner")
      clock.advance(6 * 86_400)
      let young = try uploads.create(head, contentLength: 0, for: "owner")
      clock.advance(2 * 86_400)
      // Whether or not its files were removed.
      #expect(try uploads.unfinished(old.id, of: "owner") == nil)
      #expect(try uploads.unfinished(young.id, of: "owner") != nil)
      #expect(throws: Problem.self) { try uploads.result(old.id, of: "owner") }
      uploads.sweep()
      #expect(uploads.figures.count == 1)
      let names = try FileManager.default.contentsOfDirectory(atPath: temporary.url.path + "/server/uploads")
      #expect(!names.contains { $0.hasPrefix(old.id) } && names.contains("\(young.id).json"), "\(names)")
    }

    @Test("a request for the offset keeps an upload for another seven days, also over a restart")
    func touched() async throws {
      try await TestGallery.serving { gallery in
        let (days, begin) = (86_400.0, ["Upload-Complete: ?0"])
        let begun = try gallery.send("POST", "/v1/uploads", Data(count: 1000), begin).answer
        let place = try #require(begun.fields["location"])
        gallery.clock.advance(by: 6 * days)
        #expect(try gallery.ask("HEAD", place).status == 204)
        gallery.clock.advance(by: 2 * days)
        gallery.server.uploads.sweep()
        try await gallery.restart()
        gallery.clock.advance(by: 4 * days)
        // So does a part that is refused.
        let part = ["Upload-Complete: ?0", "Upload-Offset: 7", Self.part]
        #expect(try gallery.send("PATCH", place, Data(count: 10), part).answer.status == 409)
        gallery.clock.advance(by: 6 * days)
        gallery.server.uploads.sweep()
        let state = try gallery.ask("HEAD", place)
        #expect(state.status == 204 && state.fields["upload-offset"] == "1000", "\(state)")
        gallery.clock.advance(by: 8 * days)
        #expect(try gallery.ask("HEAD", place).status == 404)
      }
    }

    @Test("a body that takes longer than seven days keeps its upload while it is received")
    func longBody() throws {
      let temporary = try TemporaryLibrary()
      let clock = SharedClock()
      let uploads = Uploads(
        temporary.library, GalleryEnvironment(now: { clock.now }, randomBytes: GalleryEnvironment.system.randomBytes))
      defer { uploads.close() }
      let plain = UploadHead()
      let upload = try uploads.create(plain, contentLength: 20, for: "owner")
      let turn = try upload.begin(at: 0, plain, contentLength: 20)
      clock.advance(8 * 86_400)
      uploads.sweep()
      try uploads.write([UInt8](repeating: 7, count: 20), of: upload, turn: turn)
      #expect(try upload.seal(turn: turn, isLast: true).offset == 20)
    }

    @Test("the answers of a client's latest uploads are kept, and no more of them, also after a restart")
    func finished() async throws {
      try await TestGallery.serving { gallery in
        var quota = UploadQuota()
        quota.finished = 3
        gallery.server.uploads.set(quota: quota)
        /// Finishes an upload without bytes, which costs its client nothing else.
        func finish() throws -> String {
          gallery.clock.advance(by: 1)
          let begun = try gallery.send("POST", "/v1/uploads", Data(), ["Upload-Complete: ?0"]).answer
          let place = try #require(begun.fields["location"], "\(begun)")
          let end = ["Upload-Complete: ?1", "Upload-Offset: 0", Self.part]
          #expect(try gallery.send("PATCH", place, Data(), end).answer.status == 422)
          return place
        }
        func records() -> Int { gallery.leftovers.count { $0.hasSuffix(".done") } }
        let places = try (0..<10).map { _ in try finish() }
        #expect(records() == 3, "\(gallery.leftovers)")
        let statuses = try places.map { try gallery.ask("GET", $0).status }
        #expect(statuses == Array(repeating: 404, count: 7) + [422, 422, 422])
        // One that its client drops makes room for another one.
        #expect(try gallery.ask("DELETE", places[9]).status == 204)
        let last = try finish()
        #expect(try records() == 3 && gallery.ask("GET", places[7]).status == 422)
        quota.finished = 2
        try await gallery.restart { [quota] in $0.uploads.set(quota: quota) }
        #expect(try gallery.ask("GET", last).status == 422)
        #expect(try records() == 2 && gallery.ask("GET", places[8]).status == 422)
      }
    }

    @Test("a later request takes an upload over, and the earlier one writes nothing more")
    func overtaken() async throws {
      try await TestGallery.serving { gallery in
        let data = photo("race", 1_000_000)
        let slow = try RawClient(port: gallery.address.port)
        slow.send(
          try gallery.head(
            "POST", "/v1/uploads", ["Upload-Complete: ?1", "Content-Length: \(data.count)", "Connection: close"]))
        let interim = try #require(TestGallery.parsed(slow.read(through: "\r\n\r\n")))
        let place = try #require(interim.fields["location"])
        let id = String(place.dropFirst("/v1/uploads/".count))
        func wait(beyond count: UInt64) async throws {
          try await waitUntil("more than \(count) bytes are written") {
            try gallery.server.uploads.unfinished(id, of: PhotoLibrary.owner)?.written ?? 0 > count
          }
        }
        slow.send(Array(data.prefix(300_000)))
        try await wait(beyond: 0)
        let offset = try #require(Int(try gallery.ask("HEAD", place).fields["upload-offset"] ?? ""))
        #expect(offset > 0 && offset < data.count)
        let next = try RawClient(port: gallery.address.port)
        let fields = ["Upload-Complete: ?1", "Upload-Offset: \(offset)", Self.part, "Connection: close"]
        next.send(try gallery.head("PATCH", place, fields + ["Content-Length: \(data.count - offset)"]))
        next.send(Array(data.dropFirst(offset).prefix(300_000)))
        try await wait(beyond: UInt64(offset))
        slow.send([UInt8](repeating: 9, count: 700_000))
        #expect(slow.readToEnd().hasPrefix("HTTP/1.1 409"))
        next.send(Array(data.dropFirst(offset + 300_000)))
        let end = try #require(TestGallery.parsed(next.readToEnd()))
        #expect(end.status == 201, "\(end)")
        #expect(try gallery.bytes(of: try #require(end.fields["photoledger-asset"])) == data)
      }
    }

    @Test("the server sends early responses: bare to PhotoKit's clients, by the draft to others")
    func probed() async throws {
      try await TestGallery.serving { gallery in
        let answer = try gallery.ask("OPTIONS", "/v1/uploads", key: nil)
        #expect(answer.status == 200 && answer.fields["upload-limit"] == "107374182400")
        let draft = try gallery.ask("OPTIONS", "/v1/uploads", key: nil, ["Upload-Draft-Interop-Version: 8"])
        #expect(draft.fields["upload-limit"]?.hasPrefix("max-size=107374182400, ") == true)
      }
    }

    @Test(
      "fields that contradict, repeat or overflow are rejected",
      arguments: [
        ["Upload-Complete: ?1", "Upload-Incomplete: ?1"], ["Upload-Complete: 1"], ["Upload-Complete: ?0, ?1"],
        ["Upload-Complete: ?1", "Upload-Complete: ?1"], ["Upload-Complete: ?1", "Upload-Length: -1"],
        ["Upload-Complete: ?1", "Upload-Length: 9999999999999999"], ["Upload-Complete: ?1", "Upload-Offset: 1"],
        ["Upload-Complete: ?1", "Upload-Length: 3"], ["Repr-Digest: sha-256=:AAAA:"], ["Repr-Digest: sha-256=abc"],
        ["Content-Disposition: attachment; filename*=UTF-8''%FF"],
        ["Content-Disposition: attachment; filename*=UTF-8''%00"],
        ["Content-Disposition: attachment; filename*=UTF-8''a%0D%0Ab"],
        ["Content-Disposition: attachment; filename=\"\(String(repeating: "n", count: 256))\""],
      ])
    func malformed(_ fields: [String]) async throws {
      try await TestGallery.serving { gallery in
        let answer = try gallery.send("POST", "/v1/uploads", Data("abcd".utf8), fields).answer
        #expect(answer.status == 400 && answer.body.contains("malformed-request"), "\(answer)")
        #expect(gallery.leftovers.isEmpty)
      }
    }

    @Test(
      "a name is one component of a path",
      arguments: [
        ("../../etc/passwd", "passwd"), ("C:\\Photos\\a.jpg", "a.jpg"), ("a/", "a"), ("..", nil), ("/", nil),
        (" ä.jpg ", "ä.jpg"), (".hidden", ".hidden"),
      ] as [(String, String?)])
    func named(_ text: String, _ name: String?) throws {
      #expect(try UploadHead.name(text) == name)
    }

    @Test(
      "the file name of Content-Disposition is read by its grammar",
      arguments: [
        ("attachment; filename=a.jpg", "a.jpg"), ("attachment; filename=\"a;b \\\"c\\\".jpg\"", "a;b \"c\".jpg"),
        ("attachment; filename=x; filename*=utf-8'de'%C3%A4.jpg", "ä.jpg"), ("inline", nil),
        ("filename=\"no type\"", nil), ("attachment; FileName = \"a.jpg\" ", "a.jpg"), ("attachment; filename", nil),
      ] as [(String, String?)])
    func disposition(_ field: String, _ name: String?) throws {
      #expect(try UploadHead.filename(in: field) == name)
    }
  }

  /// A flag that a closure of another thread reads.
  private final class SharedFlag: Sendable {
    private let flag = Atomic(false)
    var isSet: Bool { flag.load(ordering: .relaxed) }
    func set(_ value: Bool) { flag.store(value, ordering: .relaxed) }
  }

  /// A clock that a test moves.
  private final class SharedClock: Sendable {
    private let time = Mutex(Date(timeIntervalSince1970: 1_700_000_000))
    var now: Date { time.withLock { $0 } }
    func advance(_ seconds: Double) { time.withLock { $0 += seconds } }
  }
#endif
