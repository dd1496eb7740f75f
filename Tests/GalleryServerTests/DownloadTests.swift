#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import MediaImport
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite("Archives")
  struct DownloadTests {
    @Test("names stay in the target's folder, and no two are equal on any system")
    func names() {
      var names = ZipNames()
      let given = [
        "../../etc/passwd", "/etc/passwd", "C:\\x.jpg", "a.jpg", "A.JPG", "a.jpg", "..", "", "con.txt", "x\r\ny.jpg",
        "é.jpg", "e\u{301}.jpg", ".hidden", "trail. ", String(repeating: "ä", count: 300) + ".jpg",
      ]
      let made = given.map { names.name(for: $0) }
      #expect(made[3...5] == ["a.jpg", "A (2).JPG", "a (3).jpg"])
      for name in made {
        #expect(!name.contains("/") && !name.contains("\\") && !name.hasPrefix(".") && !name.isEmpty && name != "..")
        #expect(name.utf8.count <= 255 && !name.contains { $0.isNewline })
      }
      #expect(Set(made.map { $0.precomposedStringWithCanonicalMapping.lowercased() }).count == made.count)
      #expect(made[8] == "_con.txt")
    }

    @Test(
      "names are those of exports: joiners between letters are kept, and a device name with two endings is not",
      arguments: [
        ("\u{645}\u{6CC}\u{200C}\u{62E}.jpg", "\u{645}\u{6CC}\u{200C}\u{62E}.jpg"),
        ("\u{1F468}\u{200D}\u{1F469}.heic", "\u{1F468}\u{200D}\u{1F469}.heic"),
        ("aux.tar.gz", "_aux.tar.gz"), ("COM0.JPG", "_COM0.JPG"), ("a\u{202E}gpj.exe", "a_gpj.exe"), (".jpg", "_jpg"),
        (" .jpg", "_.jpg"), ("..", "_"),
      ])
    func safeNames(_ given: String, _ made: String) {
      var names = ZipNames()
      #expect(Array(names.name(for: given).unicodeScalars) == Array(made.unicodeScalars))
    }

    @Test(
      "an archive of more than 4 GiB and of more than 65,535 files is read by another program, each file where it lies",
      .enabled(if: SamplePhotos.areInstalled("python3"), "Needs python3, which reads the archive."))
    func large() throws {
      let folder = try TemporaryFolder()
      let path = folder.place("large.zip").path
      let descriptor = open(path, O_RDWR | O_CREAT, 0o600)
      defer { close(descriptor) }
      var (zip, place, emptyCount) = (ZipWriter(), UInt64(0), 66_000)
      func put(_ bytes: [UInt8]) {
        #expect(pwrite(descriptor, bytes, bytes.count, off_t(place)) == bytes.count)
        place += UInt64(bytes.count)
      }
      func add(_ name: String, _ text: String) {
        put(zip.begin(name, size: UInt64(text.utf8.count), date: nil))
        put(Array(text.utf8))
        put(zip.end(checksum: CRC32.of(Array(text.utf8))))
      }
      add("first", "one")
      // The bytes of this one are a hole in the file; nothing reads them.
      let size = UInt64(5) << 30 + 17
      put(zip.begin("large", size: size, date: nil))
      place += size
      put(zip.end(checksum: 0))
      add("behind", "two")
      for number in 0..<emptyCount { add("\(number)", "") }
      emptyCount += 3
      put(zip.finish())
      let script = """
        import sys, zipfile
        archive = zipfile.ZipFile(sys.argv[1])
        large, behind = archive.getinfo("large"), archive.getinfo("behind")
        print(len(archive.infolist()), large.file_size, behind.header_offset > 2**32)
        print(archive.read("first").decode(), archive.read("behind").decode(), archive.read("65999") == b"")
        """
      let run = try ChildRun.of(["python3", "-c", script, path])
      #expect(run.text == "\(emptyCount) \(size) True\none two True\n", "\(run)")
    }

    @Test("a client's downloads are bounded, its latest is kept, and another client's downloads stay")
    func bounded() {
      let downloads = Downloads(.system)
      func held(_ names: [String], _ client: String) -> [String] {
        names.filter { downloads.assets($0, for: client) != nil }
      }
      let owner = downloads.add(["a"], for: "owner")
      let many = (0..<Downloads.limit * 2).map { downloads.add(["\($0)"], for: "visitor") }
      #expect(held(many, "visitor") == Array(many.suffix(Downloads.limitOfClient)))
      #expect(held([owner], "owner") == [owner] && held(many, "owner").isEmpty)
      let assets = (0..<Downloads.assetLimit).map { "\($0)" }
      let large = (0..<5).map { _ in downloads.add(assets, for: "visitor") }
      #expect(held(large, "visitor") == Array(large.suffix(Downloads.assetLimitOfClient / Downloads.assetLimit)))
      #expect(held([owner], "owner") == [owner])
    }

    @Test("where all clients together hold too many downloads, the one that holds most loses its oldest")
    func fair() {
      func count(_ downloads: Downloads, _ names: [String], _ client: String) -> Int {
        names.count { downloads.assets($0, for: client) != nil }
      }
      let few = Downloads(.system)
      let owner = few.add(["a"], for: "owner")
      let many = (0..<Downloads.limitOfClient).map { _ in few.add(["b"], for: "visitor") }
      let others = (0..<Downloads.limit - 10).map { ("app \($0)", few.add(["c"], for: "app \($0)")) }
      #expect(count(few, [owner], "owner") == 1 && others.allSatisfy { count(few, [$0.1], $0.0) == 1 })
      let left = many.map { count(few, [$0], "visitor") }
      #expect(left == Array(repeating: 0, count: 11) + Array(repeating: 1, count: 9))
      // The same by the assets that they name.
      let large = Downloads(.system)
      let assets = (0..<Downloads.assetLimit).map { "\($0)" }
      let small = large.add(["a"], for: "owner")
      let clients = (0..<Downloads.assetLimitOfAll / Downloads.assetLimit - 1).map { "app \($0)" }
      let made = (clients + clients).map { ($0, large.add(assets, for: $0)) }
      #expect(made.map { count(large, [$0.1], $0.0) } == clients.map { _ in 0 } + clients.map { _ in 1 })
      #expect(count(large, [small], "owner") == 1)
    }

    /// What Python makes of an archive: its names with sizes, or the first bad one.
    private func listed(_ bytes: Data, _ folder: URL) throws -> String {
      let file = folder.appending(path: "archive.zip")
      try bytes.write(to: file)
      let script = """
        import sys, zipfile
        archive = zipfile.ZipFile(sys.argv[1])
        print(archive.testzip())
        for entry in archive.infolist(): print(entry.filename, entry.file_size, entry.compress_type)
        """
      let run = try ChildRun.of(["python3", "-c", script, file.path])
      return run.end == .status(0) ? run.text : "unreadable"
    }

    @Test(
      "an archive is what other programs read, and holds what its client may see when its turn comes",
      .enabled(if: SamplePhotos.areInstalled("python3"), "Needs python3, which reads the archive."))
    func archive() async throws {
      try await TestGallery.serving { gallery in
        var assets: [Asset] = []
        for (index, text) in ["first", "second", ""].enumerated() {
          let folder = gallery.temporary.folder.place("\(index)")
          try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
          let file = folder.appending(path: "grün.jpg")
          try Data(text.utf8).write(to: file)
          assets.append(try await gallery.makeAsset(file))
        }
        // An asset that is named twice, in two spellings, is in the archive once.
        let names = assets.map(\.localIdentifier) + [assets[0].id.uuidString.lowercased()]
        let json = try gallery.ask("POST", "/v1/downloads", json: ["assets": names]).json()
        #expect(json["count"] as? Int == 3)
        let url = try #require(json["url"] as? String)
        for method in ["HEAD", "GET"] {
          let answer = try gallery.ask(method, url)
          #expect(answer.status == 200)
          #expect(answer.fields["content-disposition"] == "attachment; filename=\"photos.zip\"")
        }
        let body = try Self.content(gallery, url)
        let listing = try listed(body, gallery.temporary.folder.place("."))
        #expect(listing == "None\ngrün.jpg 5 0\ngrün (2).jpg 6 0\ngrün (3).jpg 0 0\n")
        // Another client has no such download, and no such asset.
        let key = try gallery.key(of: "app")
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.limited, of: "app") }
        #expect(try gallery.ask("GET", url, key: key.secret).status == 404)
        #expect(
          try gallery.ask("POST", "/v1/downloads", json: ["assets": [assets[0].localIdentifier]], key: key.secret)
            .status == 404)
        for wrong in [[], [3], ["x"]] as [[Any]] {
          let status = try gallery.ask("POST", "/v1/downloads", json: ["assets": wrong]).status
          #expect(status == 400 || status == 404)
        }
        // What is out of sight before the archive begins is not left out of it.
        try await gallery.library.performChanges { change in
          change.grant(assets.map(\.id), to: "app")
        }
        let own = try #require(
          try gallery.ask(
            "POST", "/v1/downloads", json: ["assets": assets.map(\.localIdentifier)], key: key.secret
          ).json()["url"] as? String)
        #expect(try gallery.ask("HEAD", own, key: key.secret).status == 200)
        try await gallery.library.performChanges { $0.withdraw([assets[2].id], from: "app") }
        #expect(try gallery.ask("GET", own, key: key.secret).status == 404)
        #expect(try gallery.ask("HEAD", own, key: key.secret).status == 404)
        // With a file that is not as it was recorded there is no archive.
        let resource = try #require(try gallery.library.resources(of: assets[1]).first)
        let stored = try gallery.library.url(of: resource, in: assets[1])
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: stored.path)
        try Data("short".utf8).write(to: stored)
        let changed = try gallery.ask("POST", "/v1/downloads", json: ["assets": assets.map(\.localIdentifier)])
        #expect(changed.status == 404 && changed.body.contains("missing-resource"), "\(changed)")
        #expect(try changed.json()["assets"] as? [String] == [assets[1].localIdentifier])
      }
    }

    @Test("an archive with a missing file names its asset: in the answer when it is chosen, and in the log after that")
    func missing() async throws {
      try await TestGallery.serving { gallery in
        var assets: [Asset] = []
        // The first is more than the buffers between the server and its client hold, so the turn of the second comes
        // when the client reads on.
        for (name, count) in [("first.jpg", 12 << 20), ("second.jpg", 6), ("third.jpg", 7)] {
          let file = gallery.temporary.folder.place(name)
          try Data(count: count).write(to: file)
          assets.append(try await gallery.makeAsset(file))
        }
        let ids = assets.map(\.localIdentifier)
        let json = try gallery.ask("POST", "/v1/downloads", json: ["assets": ids]).json()
        let url = try #require(json["url"] as? String)
        func begin() throws -> RawClient {
          let client = try RawClient(port: gallery.address.port)
          client.send(try gallery.head("GET", url, ["Connection: close"]))
          #expect(client.read(through: "first.jpg").contains("200 OK"))
          return client
        }
        let client = try begin()
        let resource = try #require(try gallery.library.resources(of: assets[1]).first)
        try FileManager.default.removeItem(at: try gallery.library.url(of: resource, in: assets[1]))
        // One that begins now has what comes before the missing file, too.
        for client in [client, try begin()] {
          #expect(client.readBytesToEnd().suffix(1000).firstRange(of: Array("PK\u{1}\u{2}".utf8)) == nil)
        }
        try await waitUntil("the log names the asset") {
          gallery.log.lines.contains { $0.path == url && $0.note?.contains(ids[1]) == true }
        }
        let refused = try gallery.ask("POST", "/v1/downloads", json: ["assets": ids])
        #expect(refused.status == 404 && refused.body.contains("missing-resource"), "\(refused)")
        #expect(try refused.json()["assets"] as? [String] == [ids[1]])
        #expect(try gallery.ask("POST", "/v1/downloads", json: ["assets": [ids[0], ids[2]]]).status == 201)
      }
    }

    @Test("a key has a limited number of archives and lists of lines at once; closing one makes room for the next")
    func places() async throws {
      try await TestGallery.serving { gallery in
        let file = gallery.temporary.folder.place("large.jpg")
        try Data(count: 12 << 20).write(to: file)
        _ = try await gallery.makeAssets(2 * Records.pageCount)
        let asset = try await gallery.makeAsset(file).id.uuidString
        let url = try #require(
          try gallery.ask("POST", "/v1/downloads", json: ["assets": [asset]]).json()["url"] as? String)
        func begin(key: String = "owner") throws -> (client: RawClient, head: String) {
          let client = try RawClient(port: gallery.address.port, receiveBuffer: 4096)
          client.send(try gallery.head("GET", url, key: key, ["Connection: close"]))
          return (client, client.read(through: "\r\n\r\n"))
        }
        var open = try (0..<Call.contentsOfKey).map { _ in try begin() }
        #expect(open.allSatisfy { $0.head.hasPrefix("HTTP/1.1 200") })
        let fetch = try gallery.fetch()
        let items = "/v1/fetches/\(fetch.name)/items?token=\(fetch.token)"
        let lines = "Accept: application/x-ndjson"
        // Nothing is looked up without a place: not whether the assets are there, and not whether their files are.
        let none = "00000000-0000-4000-8000-000000000000"
        let gone = "/v1/downloads/\(gallery.server.downloads.add([none], for: PhotoLibrary.owner))"
        func prepare(_ asset: String, key: String = "owner") throws -> Answer {
          try gallery.ask("POST", "/v1/downloads", json: ["assets": [asset]], key: key)
        }
        let refusals = [
          try gallery.ask("GET", url), try gallery.ask("GET", items, [lines]), try gallery.ask("HEAD", url),
          try gallery.ask("GET", gone), try gallery.ask("HEAD", gone), try prepare(asset), try prepare(none),
        ]
        for refused in refusals {
          #expect(refused.status == 429 && refused.fields["retry-after"] == "5", "\(refused)")
        }
        // What is one piece waits for no client, and other keys have places of their own.
        #expect(try gallery.ask("GET", items + "&count=\(Records.pageCount)", [lines]).status == 200)
        let other = try gallery.key(of: PhotoLibrary.owner).secret
        #expect(try begin(key: other).head.hasPrefix("HTTP/1.1 200"))
        open.removeLast()
        try await waitUntil("a place is free") { try gallery.ask("HEAD", url).status == 200 }
        #expect(try begin().head.hasPrefix("HTTP/1.1 200"))
        // Each gives its place back, also where it finds no asset.
        for _ in 0...Call.contentsOfKey {
          #expect(try gallery.ask("GET", gone, key: other).status == 404 && prepare(none, key: other).status == 404)
          try await waitUntil("a place is free") { try gallery.ask("HEAD", url, key: other).status == 200 }
        }
        #expect(try prepare(asset, key: other).status == 201)
      }
    }

    @Test(
      "an archive whose asset, client or key is withdrawn while it is sent ends without its directory, the last too",
      arguments: [("asset", 404), ("client", 403), ("key", 401)], [1, 2])
    func withdrawn(_ how: (what: String, status: Int), _ count: Int) async throws {
      try await TestGallery.serving { gallery in
        var ids: [LocalIdentifier] = []
        // The first is more than the buffers between the server and its client hold, so the turn of the second comes
        // when the client reads on.
        let files = [("first.jpg", Data(count: 12 << 20)), ("second.jpg", Data("second".utf8))]
        for (name, data) in files.prefix(count) {
          let file = gallery.temporary.folder.place(name)
          try data.write(to: file)
          ids.append(try await gallery.makeAsset(file).id)
        }
        let (name, key) = try gallery.key(of: "app")
        try await gallery.library.performChanges { [ids] change in
          change.setAuthorizationStatus(.limited, of: "app")
          change.grant(ids, to: "app")
        }
        let json = try gallery.ask("POST", "/v1/downloads", json: ["assets": ids.map(\.uuidString)], key: key).json()
        let url = try #require(json["url"] as? String)
        let client = try RawClient(port: gallery.address.port)
        client.send(try gallery.head("GET", url, key: key, ["Connection: close"]))
        #expect(client.read(through: "first.jpg").contains("200 OK"))
        switch how.what {
        case "asset": try await gallery.library.performChanges { [ids] in $0.withdraw([ids[count - 1]], from: "app") }
        case "client": try await gallery.library.performChanges { $0.setAuthorizationStatus(.denied, of: "app") }
        default: #expect(try gallery.ask("DELETE", "/v1/keys/\(name)").status == 204)
        }
        let rest = client.readBytesToEnd()
        #expect(client.isAtEnd && rest.count > 12 << 20)
        let end = rest.suffix(1000)
        #expect(end.firstRange(of: Array("second.jpg".utf8)) == nil)
        // Neither the directory nor the last chunk.
        #expect(end.firstRange(of: Array("PK\u{1}\u{2}".utf8)) == nil)
        #expect(!end.suffix(7).elementsEqual("\r\n0\r\n\r\n".utf8))
        #expect(try gallery.ask("GET", url, key: key).status == how.status)
      }
    }

    @Test("an archive for a person whom a proxy signs in ends without its directory once there is another password")
    func withdrawnProxied() async throws {
      var access = GalleryAccess()
      access.trustedProxies = ["127.0.0.1"]
      try await TestGallery.serving(access: access) { gallery in
        let file = gallery.temporary.folder.place("first.jpg")
        try Data(count: 12 << 20).write(to: file)
        let asset = try await gallery.makeAsset(file).id.uuidString
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "family") }
        try gallery.addPerson("anna", client: "family")
        let anna = ["X-Forwarded-User: anna", "Origin: http://\(gallery.address)"]
        let json = try gallery.ask("POST", "/v1/downloads", json: ["assets": [asset]], key: nil, anna).json()
        let url = try #require(json["url"] as? String)
        let client = try RawClient(port: gallery.address.port)
        client.send(try gallery.head("GET", url, key: nil, anna + ["Connection: close"]))
        #expect(client.read(through: "first.jpg").contains("200 OK"))
        let change = ["password": "another one"]
        #expect(try gallery.ask("PUT", "/v1/people/anna/password", json: change).status == 204)
        let rest = client.readBytesToEnd()
        #expect(client.isAtEnd && rest.count > 12 << 20)
        #expect(rest.suffix(1000).firstRange(of: Array("PK\u{1}\u{2}".utf8)) == nil)
      }
    }

    @Test(
      "a referenced original that is a symbolic link is sent and archived, in ranges too; a link in the library is not",
      .enabled(if: SamplePhotos.areInstalled("python3"), "Needs python3, which reads the archive."))
    func links() async throws {
      try await TestGallery.serving { gallery in
        let folder = gallery.temporary.folder.place("photos")
        try FileManager.default.createDirectory(
          at: folder.appending(path: "store"), withIntermediateDirectories: true)
        let text = "bytes of a store"
        try Data(text.utf8).write(to: folder.appending(path: "store/x"))
        let link = folder.appending(path: "link.jpg").path
        #expect(symlink("store/x", link) == 0)
        let resource = AssetResource(
          type: .photo, originalFilename: "link.jpg", uniformTypeIdentifier: "public.jpeg",
          dataSize: UInt64(text.utf8.count), sha256: Array(text.utf8).sha256, storage: .referenced(path: link))
        var made: LocalIdentifier?
        try await gallery.library.performChanges { block in
          made = block.createAsset(
            AssetCreation(mediaType: .image, resources: [ResourceDraft(type: .photo, source: .stored(resource))]))
        }
        let id = try #require(made).uuidString
        let path = "/v1/assets/\(id)/resources/\(resource.sha256Hex)"
        let whole = try gallery.ask("GET", path)
        #expect(whole.status == 200 && whole.body == text)
        let part = try gallery.ask("GET", path, ["Range: bytes=6-7"])
        #expect(part.status == 206 && part.body == "of")
        let json = try gallery.ask("POST", "/v1/downloads", json: ["assets": [id]]).json()
        let url = try #require(json["url"] as? String)
        let here = gallery.temporary.folder.place(".")
        #expect(try listed(try Self.content(gallery, url), here) == "None\nlink.jpg 16 0\n")
        // The same bytes as the library's own file, which is replaced with a link.
        let file = gallery.temporary.folder.place("own.jpg")
        try Data("own bytes".utf8).write(to: file)
        let asset = try await gallery.makeAsset(file)
        let own = try #require(try gallery.library.resources(of: asset).first)
        let stored = try gallery.library.url(of: own, in: asset)
        try FileManager.default.removeItem(at: stored)
        #expect(symlink(file.path, stored.path) == 0)
        let ownPath = "/v1/assets/\(asset.id.uuidString)/resources/\(own.sha256Hex)"
        #expect(try gallery.ask("GET", ownPath).status == 404)
        let own404 = try gallery.ask("POST", "/v1/downloads", json: ["assets": [id, asset.id.uuidString]])
        #expect(try own404.status == 404 && own404.json()["assets"] as? [String] == [asset.id.uuidString])
      }
    }

    /// The content of an answer in chunks.
    private static func content(_ gallery: TestGallery, _ url: String) throws -> Data {
      let client = try RawClient(port: gallery.address.port)
      client.send(try gallery.head("GET", url, ["Connection: close"]))
      var rest = client.readBytesToEnd()[...]
      let end = try #require(rest.firstRange(of: Array("\r\n\r\n".utf8)))
      let head = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
      rest = rest[end.upperBound...]
      guard head.lowercased().contains("transfer-encoding: chunked") else { return Data(rest) }
      var content = Data()
      while let line = rest.firstRange(of: Array("\r\n".utf8)),
        let size = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16), size > 0
      {
        content += Data(rest[line.upperBound...].prefix(size))
        rest = rest[line.upperBound...].dropFirst(size + 2)
      }
      return content
    }
  }
#endif
