#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import PhotoLedger
  import TestSupport
  import Testing

  // Every answer that the description has for uploads, by each of the methods. The rules behind them have tests of
  // their own; here they all occur.

  @Suite("The answers of uploads", .enabled(if: SamplePhotos.areInstalled("exiftool")), .timeLimit(.minutes(5)))
  struct UploadStatusTests {
    private static let part = UploadTests.part
    private static let whole = ["Upload-Complete: ?1"]

    private func digest(_ data: Data) -> String {
      "Repr-Digest: sha-256=:\(Data(Array(data).sha256).base64EncodedString()):"
    }

    @Test("a new upload is answered as described", arguments: ["POST", "PUT"])
    func new(_ method: String) async throws {
      try await TestGallery.serving { gallery in
        func status(_ data: Data, key: String? = "owner", _ fields: [String] = []) throws -> Int {
          try gallery.send(method, "/v1/uploads", data, key: key, fields).answer.status
        }
        let data = photo("status \(method)", 5_000)
        #expect(try status(data) == 201)
        #expect(try status(data) == 200)
        #expect(try status(data, ["Upload-Complete: 1"]) == 400)
        #expect(try status(data, key: nil) == 401)
        #expect(try status(Data("no medium".utf8)) == 422)
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.denied, of: "no") }
        #expect(try status(data, key: gallery.key(of: "no").secret) == 403)
        var quota = UploadQuota()
        quota.fileSize = 1_000
        gallery.server.uploads.set(quota: quota)
        #expect(try status(data) == 413)
        (quota.fileSize, quota.count) = (1 << 20, 0)
        gallery.server.uploads.set(quota: quota)
        #expect(try status(data) == 429)
        (quota.count, quota.reserve) = (10, .max)
        gallery.server.uploads.set(quota: quota)
        #expect(try status(data) == 507)
        (quota.reserve, quota.active) = (0, 0)
        gallery.server.uploads.set(quota: quota)
        #expect(try status(data) == 503)
        #expect(try gallery.assetCount == 1 && gallery.leftovers.isEmpty)
      }
    }

    @Test("a part of an upload, and the request for its state, are answered as described")
    func parts() async throws {
      try await TestGallery.serving { gallery in
        func begin(_ data: Data, key: String = "owner", _ fields: [String] = []) throws -> String {
          let begun = try gallery.send(
            "POST", "/v1/uploads", data.prefix(10), key: key == "owner" ? gallery.owner : key,
            ["Upload-Complete: ?0"] + fields)
          return try #require(begun.interim?.fields["location"], "\(begun)")
        }
        func status(_ place: String, _ data: Data, key: String? = "owner", offset: Int = 10, _ fields: [String]) throws
          -> Int
        {
          try gallery.send("PATCH", place, data, key: key, fields + ["Upload-Offset: \(offset)"]).answer.status
        }
        let data = photo("part", 5_000)
        let rest = data.dropFirst(10)
        let first = try begin(data)
        #expect(try gallery.ask("GET", first).status == 200)
        #expect(
          try status(first, rest, Self.whole + ["Content-Type: image/jpeg", "Upload-Draft-Interop-Version: 8"]) == 415)
        #expect(try status(first, rest, offset: 11, Self.whole + [Self.part]) == 409)
        #expect(try status(first, rest.prefix(5), ["Upload-Complete: ?0", Self.part]) == 204)
        #expect(try status(first, rest.dropFirst(5), offset: 15, Self.whole + [Self.part]) == 201)
        #expect(try gallery.ask("GET", first).status == 201)
        let again = try begin(data)
        #expect(try status(again, rest, Self.whole + [Self.part]) == 200)
        let wrong = try begin(data, [digest(Data("other".utf8))])
        #expect(try status(wrong, rest, Self.whole + [Self.part]) == 400)
        #expect(try gallery.ask("GET", wrong).status == 400)
        let text = Data("This is not a picture at all.".utf8)
        let refused = try begin(text)
        #expect(try status(refused, text.dropFirst(10), Self.whole + [Self.part]) == 422)
        #expect(try gallery.ask("GET", refused).status == 422)
        for (place, status) in [(first, 201), (again, 200), (wrong, 400), (refused, 422)] {
          #expect(try gallery.ask("HEAD", place).status == status)
        }
        // Others hear that there is none.
        try gallery.temporary.authorize("one")
        let one = try gallery.key(of: "one").secret
        #expect(try status(first, rest, key: one, Self.whole + [Self.part]) == 404)
        let own = try begin(photo("own", 5_000), key: one)
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.denied, of: "one") }
        #expect(try status(own, rest, key: one, Self.whole + [Self.part]) == 403)
        #expect(try gallery.ask("DELETE", first).status == 204)
        #expect(try gallery.ask("DELETE", first).status == 404)
      }
    }

    @Test(
      "an upload stops where the disk reaches its reserve, with or without a length, and continues when there is room",
      arguments: [[], ["Upload-Length: 5000"]] as [[String]])
    func reserve(_ length: [String]) async throws {
      try await TestGallery.serving { gallery in
        let data = photo("reserve", 5_000)
        let begun = try gallery.send("POST", "/v1/uploads", data.prefix(10), ["Upload-Complete: ?0"] + length)
        let place = try #require(begun.interim?.fields["location"])
        var quota = UploadQuota()
        for (reserve, offset) in [(.max, "10"), (0, "4000")] as [(UInt64, String)] {
          quota.reserve = reserve
          gallery.server.uploads.set(quota: quota)
          let fields = ["Upload-Complete: ?0", "Upload-Offset: 10", Self.part]
          let answer = try gallery.send("PATCH", place, data[10..<4_000], fields).answer
          #expect((answer.status == 507) == (reserve > 0), "\(answer)")
          #expect(try gallery.ask("HEAD", place).fields["upload-offset"] == offset)
        }
      }
    }

    @Test("a part without room, beyond the limit or past its end is answered as described")
    func bounded() async throws {
      try await TestGallery.serving { gallery in
        var quota = UploadQuota()
        gallery.server.uploads.set(quota: quota) { descriptor, bytes, offset in
          // The record fits, the bytes of a part do not.
          if bytes.count > 1_500 {
            errno = ENOSPC
            return -1
          }
          return pwrite(descriptor, bytes.baseAddress, bytes.count, offset)
        }
        let data = photo("room", 5_000)
        let begun = try gallery.send(
          "POST", "/v1/uploads", data.prefix(10), ["Upload-Complete: ?0", "Upload-Length: 4000"])
        let place = try #require(begun.interim?.fields["location"])
        func status(_ data: Data) throws -> Int {
          try gallery.send("PATCH", place, data, Self.whole + [Self.part, "Upload-Offset: 10"]).answer.status
        }
        #expect(try status(data[10..<4_000]) == 507)
        #expect(try status(data.dropFirst(10)) == 400, "A length that contradicts the announced one.")
        quota.active = 0
        gallery.server.uploads.set(quota: quota)
        #expect(try status(data[10..<4_000]) == 503)
        #expect(try gallery.assetCount == 0)
        // Without a length nothing contradicts before the bytes go beyond what a file may have.
        (quota.active, quota.fileSize) = (4, 2_000)
        gallery.server.uploads.set(quota: quota)
        let open = try gallery.send("POST", "/v1/uploads", data.prefix(10), ["Upload-Complete: ?0"])
        let next = try #require(open.interim?.fields["location"])
        let fields = ["Upload-Complete: ?0", "Upload-Offset: 10", Self.part]
        #expect(try gallery.send("PATCH", next, data.dropFirst(10), fields).answer.status == 413)
      }
    }
  }
#endif
