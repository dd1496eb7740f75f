#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite("Bounds of forms, and how uploaders receive them", .timeLimit(.minutes(5)))
  struct FormBoundsTests {
    private static func uploading(_ body: (TestGallery, ImmichUploader) async throws -> Void) async throws {
      try await TestGallery.serving(access: .withImmichClients) { gallery in
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "uploader") }
        try await body(gallery, ImmichUploader(gallery: gallery, key: try gallery.key(of: "uploader").secret))
      }
    }

    /// The head of a form of an announced length.
    private static func head(_ uploader: ImmichUploader, _ form: UploadForm, _ count: Int) throws -> String {
      let fields = ["X-API-Key: \(uploader.key)", form.type, "Content-Length: \(count)", "Connection: close"]
      return try uploader.gallery.head("POST", "/api/assets", key: nil, fields)
    }

    /// Sends a whole form with its length.
    private static func send(_ form: UploadForm, _ uploader: ImmichUploader) throws -> RawClient {
      let client = try RawClient(port: uploader.gallery.address.port)
      client.send(try head(uploader, form, form.closed.count))
      client.send(Array(form.closed))
      return client
    }

    /// Checks a refusal against the description, and that it says why where uploaders look for it.
    private static func check(_ text: String, _ status: Int, _ target: String) throws {
      let answer = TestGallery.checked("POST", target, try #require(TestGallery.parsed(text), "There is no answer."))
      #expect(answer.status == status, "\(answer)")
      let message = try answer.json()["message"] as? String
      #expect(message?.isEmpty == false, "\(answer)")
    }

    @Test("what forms announce counts against the client's bytes while they come, and no longer")
    func announced() async throws {
      try await Self.uploading { gallery, uploader in
        var quota = UploadQuota()
        (quota.fileSize, quota.bytes) = (2_000_000, 3_000_000)
        gallery.server.uploads.set(quota: quota)
        let form = UploadForm(Data(count: 1_900_000), named: "first.jpg")
        let first = try RawClient(port: gallery.address.port)
        first.send(try Self.head(uploader, form, form.closed.count))
        first.send(Array(form.closed.prefix(300_000)))
        try await waitUntil("the first upload has a file") { !gallery.leftovers.isEmpty }
        // Of the first a small part has come, but with the second they could have more than the client may.
        try Self.check(Self.send(form, uploader).readToEnd(), 429, "/api/assets")
        // The bytes of a part of an upload count in the same way.
        let part = try RawClient(port: gallery.address.port)
        let fields = ["Upload-Complete: ?0", "Content-Length: 1900000", "Connection: close"]
        part.send(try gallery.head("POST", "/v1/uploads", key: uploader.key, fields))
        part.send([UInt8](repeating: 0, count: 1_900_000))
        #expect(part.readToEnd().hasPrefix("HTTP/1.1 429"))
        // The first continues; it is not a photo.
        first.send(Array(form.closed.dropFirst(300_000)))
        try Self.check(first.readToEnd(), 422, "/api/assets")
        try Self.check(Self.send(form, uploader).readToEnd(), 422, "/api/assets")
        #expect(gallery.leftovers.isEmpty)
      }
    }

    @Test("what a request announced no longer counts once another has tried to take over its upload")
    func takenOver() async throws {
      try await Self.uploading { gallery, uploader in
        var quota = UploadQuota()
        (quota.fileSize, quota.bytes) = (2_000_000, 3_000_000)
        gallery.server.uploads.set(quota: quota)
        let first = try RawClient(port: gallery.address.port)
        let fields = ["Upload-Complete: ?0", "Content-Length: 1900000"]
        first.send(try gallery.head("POST", "/v1/uploads", key: uploader.key, fields))
        first.send([UInt8](repeating: 0, count: 300_000))
        try await waitUntil("the first upload has a file") { !gallery.leftovers.isEmpty }
        let id = String(try #require(gallery.leftovers.first).prefix(24))
        // The other must come when the first has begun, or it would be the first.
        let uploads = gallery.server.uploads
        try await waitUntil("bytes of the first upload have come") {
          (try? uploads.unfinished(id, of: "uploader")).map { $0.written > 0 } ?? false
        }
        let upload = try #require(try uploads.unfinished(id, of: "uploader"))
        #expect(upload.reserved == 1_900_000)
        let wrong = ["Upload-Complete: ?1", "Upload-Offset: 1800000", "Content-Type: application/partial-upload"]
        #expect(try gallery.ask("PATCH", "/v1/uploads/\(id)", key: uploader.key, wrong).status == 409)
        #expect(upload.reserved <= 300_000)
      }
    }

    @Test("a form without room is answered from its head, however long it is", arguments: [true, false])
    func fromHead(_ isChunked: Bool) async throws {
      try await Self.uploading { gallery, uploader in
        gallery.server.uploads.set(quota: UploadQuota(count: 0))
        let form = UploadForm(Data(), named: "large.jpg")
        let client = try RawClient(port: gallery.address.port)
        let length = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: 90000000"
        client.send(
          try gallery.head(
            "POST", "/api/assets", key: nil, ["X-API-Key: \(uploader.key)", form.type, length, "Connection: close"]))
        try Self.check(client.readToEnd(), 429, "/api/assets")
      }
    }

    @Test("a form with more marks on a character than can be compared is rejected, in a file name and in a field")
    func marks() async throws {
      try await Self.uploading { gallery, uploader in
        let marks = "a" + String(repeating: "\u{300}\u{323}", count: 100)
        let forms = [
          UploadForm(photo("m"), named: marks), UploadForm(photo("m"), named: "m.jpg", ["visibility": marks]),
        ]
        for form in forms {
          let text = try Self.send(form, uploader).readToEnd()
          try Self.check(text, 400, "/api/assets")
          #expect(text.contains("marks") && gallery.leftovers.isEmpty)
        }
      }
    }

    @Test("a long form that is refused in the middle is answered at its end")
    func inTheMiddle() async throws {
      try await Self.uploading { gallery, uploader in
        var form = UploadForm(Data(), named: "empty.jpg")
        form.add("assetData", file: "again.jpg", Data(count: 20 << 20))
        try Self.check(Self.send(form, uploader).readToEnd(), 400, "/api/assets")
        #expect(gallery.leftovers.isEmpty)
      }
    }

    @Test("a form whose upload is dropped before or within its file is answered with 503", arguments: [100, 600_000])
    func dropped(after count: Int) async throws {
      try await Self.uploading { gallery, uploader in
        let uploads = gallery.server.uploads
        let form = UploadForm(Data(count: 1_900_000), named: "dropped.jpg")
        let client = try RawClient(port: gallery.address.port)
        client.send(try Self.head(uploader, form, form.closed.count))
        client.send(Array(form.closed.prefix(count)))
        try await waitUntil("the form has begun, or a part of the file has come") {
          uploads.figures.count == 1 && (uploads.figures.bytes > 0 || count == 100)
        }
        try uploads.forgetAll(of: "uploader")
        client.send(Array(form.closed.dropFirst(count)))
        let text = client.readToEnd()
        try Self.check(text, 503, "/api/assets")
        #expect(TestGallery.parsed(text)?.fields["retry-after"] != nil && gallery.leftovers.isEmpty)
      }
    }

    @Test("a plain upload that is dropped while it comes is answered with 503: it has no offset to go on from")
    func droppedPlain() async throws {
      try await Self.uploading { gallery, uploader in
        let uploads = gallery.server.uploads
        let client = try RawClient(port: gallery.address.port)
        let fields = ["Content-Length: 1900000", "Connection: close"]
        client.send(try gallery.head("PUT", "/v1/uploads?name=a.jpg", key: uploader.key, fields))
        client.send([UInt8](repeating: 0, count: 600_000))
        try await waitUntil("a part of the file has come") { uploads.figures.bytes > 0 }
        try uploads.forgetAll(of: "uploader")
        client.send([UInt8](repeating: 0, count: 1_300_000))
        let text = client.readToEnd()
        #expect(text.hasPrefix("HTTP/1.1 503") && text.contains("send the file again"), "\(text)")
        #expect(gallery.leftovers.isEmpty)
      }
    }

    @Test("errors of the server itself under /api are in the form that uploaders read, and nowhere else")
    func own() async throws {
      try await Self.uploading { gallery, uploader in
        let key = "X-API-Key: \(uploader.key)"
        let json = "Content-Type: application/json"
        let cases: [(target: String, status: Int, fields: [String])] = [
          ("/api/assets", 400, ["Content-Type: text/plain", "Content-Length: 3"]),
          ("/api/assets", 400, ["Content-Type: multipart/form-data; boundary=x y", "Content-Length: 3"]),
          ("/api/albums", 413, [json, "Content-Length: 90000000"]),
          ("/api/albums", 400, [json, "Content-Length: 3", "Content-Length: 4"]),
        ]
        for (target, status, fields) in cases {
          let client = try RawClient(port: gallery.address.port)
          client.send(try gallery.head("POST", target, key: nil, [key, "Connection: close"] + fields))
          try Self.check(client.readToEnd(), status, target)
        }
        let client = try RawClient(port: gallery.address.port)
        client.send(try gallery.head("POST", "/v1/blocks", [json, "Content-Length: 90000000", "Connection: close"]))
        let plain = client.readToEnd()
        #expect(plain.hasPrefix("HTTP/1.1 413") && !plain.contains("\"message\""), "\(plain)")
      }
    }
  }
#endif
