#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger
  import TestSupport
  import Testing

  // A program that speaks as an uploader made for Immich does: the key in `X-API-Key`, forms in chunks without an
  // announced length, the list of what is there before anything is sent.
  //
  // It is written from what such uploaders were seen to send, in words of our own; they are not at hand here.

  extension GalleryAccess {
    /// The usual access, with the routes for uploaders made for Immich.
    static var withImmichClients: GalleryAccess {
      var access = GalleryAccess()
      access.allowsImmichClients = true
      return access
    }
  }

  /// A form with files.
  struct UploadForm {
    static let boundary = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"

    var boundary = Self.boundary
    private(set) var bytes = Data()

    mutating func add(_ name: String, _ value: String) {
      bytes += Data("--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n".utf8)
    }

    mutating func add(_ name: String, file: String, _ content: Data) {
      let head = "Content-Disposition: form-data; name=\"\(name)\"; filename=\"\(file)\""
      bytes += Data("--\(boundary)\r\n\(head)\r\nContent-Type: application/octet-stream\r\n\r\n".utf8)
      bytes += content + Data("\r\n".utf8)
    }

    /// The whole form.
    var closed: Data { bytes + Data("--\(boundary)--\r\n".utf8) }
    var type: String { "Content-Type: multipart/form-data; boundary=\(boundary)" }

    /// The form of a photo, with the fields that are always there.
    init(
      _ data: Data, named name: String, _ said: [String: String] = [:], sidecar: Data? = nil
    ) {
      var fields = [
        "deviceAssetId": "\(name)-\(data.count)", "deviceId": "test", "assetType": "image", "duration": "0",
        "fileCreatedAt": "2019-05-06T07:08:09.000Z", "fileModifiedAt": "2019-05-07T07:08:09.000Z",
        "isFavorite": "false", "isReadOnly": "false", "fileExtension": ".jpg", "visibility": "timeline",
      ]
      fields.merge(said) { $1 }
      for (name, value) in fields.sorted(by: { $0.key < $1.key }) { add(name, value) }
      add("assetData", file: name, data)
      if let sidecar { add("sidecarData", file: "\(name).xmp", sidecar) }
    }
  }

  extension Data {
    /// The SHA-1 in base64, as these uploaders compare files.
    var sha1Base64: String {
      var hash = ContentHash()
      withUnsafeBytes { hash.update($0) }
      return Data(hash.sha1).base64EncodedString()
    }
  }

  /// The uploader.
  struct ImmichUploader {
    let gallery: TestGallery
    let key: String

    func ask(_ method: String, _ path: String, _ json: [String: Any]? = nil) throws -> Answer {
      try gallery.ask(method, path, json: json, key: nil, ["X-API-Key: \(key)", "Accept: application/json"])
    }

    /// Sends a form in chunks.
    func send(_ form: Data, type: String, checksum: String?, chunk: Int = 32_768) throws -> Answer {
      let client = try RawClient(port: gallery.address.port)
      var fields = ["X-API-Key: \(key)", type, "Transfer-Encoding: chunked", "Connection: close"]
      if let checksum { fields.append("x-immich-checksum: \(checksum)") }
      client.send(try gallery.head("POST", "/api/assets", key: nil, fields))
      var rest = form[...]
      while !rest.isEmpty {
        let piece = rest.prefix(chunk)
        client.send(Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + [0x0D, 0x0A])
        rest = rest.dropFirst(piece.count)
      }
      client.send("0\r\n\r\n")
      let answer = try #require(TestGallery.parsed(client.readToEnd()), "The upload was not answered.")
      return TestGallery.checked("POST", "/api/assets", answer)
    }

    func upload(
      _ data: Data, named name: String, _ said: [String: String] = [:], sidecar: Data? = nil, checksum: String? = nil
    ) throws -> Answer {
      let form = UploadForm(data, named: name, said, sidecar: sidecar)
      return try send(form.closed, type: form.type, checksum: checksum ?? data.sha1Base64)
    }

    /// The identifier of what was uploaded, and whether it was there before.
    func uploaded(_ answer: Answer) throws -> (id: String, isDuplicate: Bool) {
      let json = try answer.json()
      let id = try #require(json["id"] as? String, "\(answer)")
      let isDuplicate = json["status"] as? String == "duplicate"
      #expect(answer.status == (isDuplicate ? 200 : 201))
      return (id, isDuplicate)
    }

    /// Everything that is there, by its checksum, page by page.
    func index(size: Int = 1000) throws -> [String: [String: Any]] {
      var found: [String: [String: Any]] = [:]
      var page = 1
      while true {
        let asked: [String: Any] = [
          "page": page, "size": size, "withExif": true, "isVisible": true, "withDeleted": true,
        ]
        let answer = try ask("POST", "/api/search/metadata", asked)
        let assets = try #require(try answer.json()["assets"] as? [String: Any], "\(answer)")
        for item in try #require(assets["items"] as? [[String: Any]]) {
          let checksum = try #require(item["checksum"] as? String)
          #expect(!checksum.isEmpty && found[checksum] == nil, "\(checksum) is listed twice, or is none.")
          found[checksum] = item
        }
        guard let next = assets["nextPage"] as? String else { return found }
        page = try #require(Int(next))
      }
    }

    /// One whole run over a folder of files, in the order in which such an uploader asks.
    /// - Returns: how many files were new, and how many were found by their checksums.
    func run(_ files: [(url: URL, album: String)], tag: String) throws -> (new: Int, known: Int) {
      #expect(try ask("GET", "/api/server/ping").json()["res"] as? String == "pong")
      let me = try #require(try ask("GET", "/api/users/me").json()["id"] as? String)
      #expect(try ask("GET", "/api/server/media-types").json()["image"] as? [String] != nil)
      #expect(try #require(try ask("GET", "/api/server/about").json()["version"] as? String).hasPrefix("v"))
      for job in ["thumbnailGeneration", "metadataExtraction"] {
        #expect(try ask("PUT", "/api/jobs/\(job)", ["command": "pause", "force": true]).status == 200)
      }
      let total = try #require(try ask("GET", "/api/assets/statistics").json()["total"] as? Int)
      var index = try index()
      #expect(index.count <= total)
      #expect(index.values.allSatisfy { $0["ownerId"] as? String == me })
      var albums: [String: String] = [:]
      let listed = try ask("GET", "/api/albums").body
      for album in try #require(JSONSerialization.jsonObject(with: Data(listed.utf8)) as? [[String: Any]]) {
        let id = try #require(album["id"] as? String)
        albums[try #require(album["albumName"] as? String)] = id
        #expect(try ask("GET", "/api/albums/\(id)?withoutAssets=false").json()["assets"] as? [Any] != nil)
      }
      var (new, known) = (0, 0)
      for (url, album) in files {
        let data = try Data(contentsOf: url)
        let id: String
        if let there = index[data.sha1Base64] {
          known += 1
          id = try #require(there["id"] as? String)
        } else {
          let answer = try upload(data, named: url.lastPathComponent)
          // A file that is not a photo is rejected, and the uploader continues.
          if answer.status == 422 { continue }
          let (made, isDuplicate) = try uploaded(answer)
          index[data.sha1Base64] = ["id": made]
          id = made
          if isDuplicate {
            known += 1
          } else {
            new += 1
            try mark(id, tag: tag)
          }
        }
        if let there = albums[album] {
          #expect(try ask("PUT", "/api/albums/\(there)/assets", ["ids": [id]]).status == 200)
        } else {
          let made = try ask("POST", "/api/albums", ["albumName": album, "description": "", "assetIds": [id]])
          albums[album] = try #require(try made.json()["id"] as? String, "\(made)")
        }
      }
      return (new, known)
    }

    private func mark(_ id: String, tag: String) throws {
      let tags = try ask("PUT", "/api/tags", ["tags": [tag]]).body
      let first = try #require((JSONSerialization.jsonObject(with: Data(tags.utf8)) as? [[String: Any]])?.first)
      let name = try #require(first["id"] as? String)
      #expect(try ask("PUT", "/api/tags/\(name)/assets", ["ids": [id]]).status == 200)
    }
  }

  /// A recorded exchange: what is asked, and the answer that is expected.
  ///
  ///     > PUT /api/albums/$album/assets {"ids":["$sea"]}
  ///     < 200 [{"id":"$sea","success":true}]
  ///
  /// `UPLOAD name fields` stands for the form of a photo of that name. A text `$name` of an answer is kept where it
  /// first comes, and must be the same from then on; `*` is whatever comes; an object may have more than is expected.
  struct RecordedExchanges {
    let uploader: ImmichUploader
    private var names: [String: String] = [:]

    init(_ uploader: ImmichUploader) { self.uploader = uploader }

    mutating func play(_ script: String) throws {
      var asked: (line: String, answer: Answer)?
      for line in script.split(separator: "\n").map({ $0.trimmingCharacters(in: .whitespaces) }) where !line.isEmpty {
        if line.hasPrefix("> ") {
          asked = (line, try ask(filled(String(line.dropFirst(2)))))
        } else if line.hasPrefix("< "), let (question, answer) = asked {
          let parts = line.dropFirst(2).split(separator: " ", maxSplits: 1).map(String.init)
          #expect("\(answer.status)" == parts[0], "\(question): \(answer)")
          guard parts.count == 2 else { continue }
          let expected = try JSONReader.read(Array(parts[1].utf8))
          let json = try JSONReader.read(Array(answer.body.utf8))
          #expect(fits(json, expected), "\(question)\nexpected \(parts[1])\nanswered \(answer.body)")
        } else {
          Issue.record("The script has a line that is no exchange: \(line)")
        }
      }
    }

    private func filled(_ text: String) -> String {
      names.sorted { $0.key.count > $1.key.count }.reduce(text) { $0.replacing("$\($1.key)", with: $1.value) }
    }

    private func ask(_ line: String) throws -> Answer {
      let parts = line.split(separator: " ", maxSplits: 2).map(String.init)
      let json = try parts.count < 3 ? nil : JSONSerialization.jsonObject(with: Data(parts[2].utf8)) as? [String: Any]
      guard parts[0] == "UPLOAD" else { return try uploader.ask(parts[0], parts[1], json) }
      return try uploader.upload(photo(parts[1]), named: "\(parts[1]).jpg", json as? [String: String] ?? [:])
    }

    private mutating func fits(_ json: JSON, _ expected: JSON) -> Bool {
      switch (json, expected) {
      case (_, .text("*")): return true
      case (.text(let text), .text(let wanted)) where wanted.hasPrefix("$"):
        let name = String(wanted.dropFirst())
        if let known = names[name] { return known == text }
        names[name] = text
        return true
      case (.object, .object(let members)):
        for member in members {
          guard let value = json[member.key], fits(value, member.value) else { return false }
        }
        return true
      case (.list(let values), .list(let wanted)):
        guard values.count == wanted.count else { return false }
        for (value, wanted) in zip(values, wanted) where !fits(value, wanted) { return false }
        return true
      default: return json == expected
      }
    }
  }
#endif
