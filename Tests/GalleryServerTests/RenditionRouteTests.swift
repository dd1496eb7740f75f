#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import LibraryMaintenance
  import MediaImport
  import PhotoLedger
  import Synchronization
  import TestSupport
  import Testing

  extension TestGallery {
    /// Makes an asset of a file.
    func makeAsset(_ file: URL, _ type: ResourceType = .photo, media: MediaType = .image) async throws -> Asset {
      var id: LocalIdentifier?
      try await library.performChanges { change in
        id = change.createAsset(
          AssetCreation(
            mediaType: media, resources: [ResourceDraft(type: type, source: .file(file, shouldMove: false))]))
      }
      let created = try #require(id)
      return try #require(try library.asset(created.uuidString))
    }

    /// The path of a rendition.
    func rendition(_ kind: String, of asset: Asset, recipe: String = RenditionRecipe.revision) throws -> String {
      let hash = try #require(try Renditions.shown(asset, in: library)).sha256Hex
      return "/v1/assets/\(asset.id.uuidString)/renditions/\(hash)/\(recipe)/\(kind)"
    }

    /// An asset's columns in a window of everything.
    func columns(key: String? = "owner") throws -> [String: [Any]] {
      let fetch = try fetch(key: key)
      let json = try ask(
        "GET", "/v1/fetches/\(fetch.name)/items?form=columns&token=\(fetch.token)", key: key
      ).json()
      return try #require(json["columns"] as? [String: [Any]])
    }
  }

  private func sample(_ path: String) throws -> URL { try #require(SamplePhotos.folder).appending(path: path) }

  @Suite(
    "Renditions over HTTP",
    .enabled(if: SamplePhotos.canRender, "Needs libvips-tools, ffmpeg, exiftool and the folder of sample photos."))
  struct RenditionRouteTests {
    @Test("a picture is made while the request waits, is sent in part and not again, and the columns know it")
    func pictures() async throws {
      try await TestGallery.serving { gallery in
        let asset = try await gallery.makeAsset(try sample("orientation/Landscape_6.jpg"))
        #expect(try gallery.columns()["rendition"] as? [String] == ["missing"])
        let small = try gallery.rendition("small", of: asset)
        #expect(try gallery.ask("GET", small + "?wait=0").status == 503)
        let whole = try gallery.ask("GET", small)
        #expect(whole.status == 200 && whole.fields["content-type"] == "image/jpeg", "\(whole.fields)")
        #expect(whole.fields["cache-control"]?.contains("immutable") == true)
        let size = try #require(whole.fields["content-length"].flatMap { Int($0) })
        let tag = try #require(whole.fields["etag"])
        let part = try gallery.ask("GET", small, ["Range: bytes=-10", "If-Range: \(tag)"])
        #expect(part.status == 206 && part.fields["content-range"] == "bytes \(size - 10)-\(size - 1)/\(size)")
        #expect(try gallery.ask("GET", small, ["Range: bytes=\(size)-"]).status == 416)
        #expect(try gallery.ask("GET", small, ["If-None-Match: \(tag)"]).status == 304)
        let head = try gallery.ask("HEAD", try gallery.rendition("large", of: asset))
        #expect(head.status == 200 && head.body.isEmpty)
        #expect(try gallery.ask("HEAD", small, ["If-None-Match: \(tag)"]).status == 304)
        let columns = try gallery.columns()
        #expect(columns["rendition"] as? [String] == ["ready"])
        let placeholder = try #require((columns["placeholder"] as? [String])?.first)
        #expect(Data(base64Encoded: placeholder)?.count == Placeholder.count)
        // It outlives the server.
        try await gallery.restart()
        #expect(try gallery.columns()["placeholder"] as? [String] == [placeholder])
        #expect(try gallery.ask("GET", small + "?wait=0").status == 200)
        // The cache may be removed at any time.
        let folder = gallery.library.url.appending(path: "renditions/\(RenditionRecipe.revision)")
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.count == 2 {
          try FileManager.default.removeItem(at: folder.appending(path: name))
        }
        #expect(try gallery.ask("GET", small).status == 200)
        // As a whole, too; and what is made then outlives the server as well.
        try FileManager.default.removeItem(at: folder.deletingLastPathComponent())
        #expect(try gallery.ask("GET", small).status == 200)
        try await gallery.restart()
        #expect(try gallery.ask("GET", small + "?wait=0").status == 200)
      }
    }

    @Test("a missing file is not a failure of its content: restored, it has its pictures")
    func missing() async throws {
      try await TestGallery.serving { gallery in
        let asset = try await gallery.makeAsset(try sample("orientation/Landscape_6.jpg"))
        let resource = try #require(try Renditions.shown(asset, in: gallery.library))
        let place = try gallery.library.url(of: resource, in: asset)
        let aside = gallery.temporary.folder.place("aside")
        try FileManager.default.moveItem(at: place, to: aside)
        let small = try gallery.rendition("small", of: asset)
        let answer = try gallery.ask("GET", small)
        #expect(answer.status == 404 && answer.body.contains("missing-resource"), "\(answer)")
        #expect(try gallery.columns()["rendition"] as? [String] == ["missing"])
        try FileManager.default.moveItem(at: aside, to: place)
        #expect(try gallery.ask("GET", small).status == 200)
      }
    }

    @Test("a failed rendition reports why, once; another recipe, another content and a film of a photo do not exist")
    func failures() async throws {
      try await TestGallery.serving { gallery in
        let text = gallery.temporary.folder.place("a.jpg")
        try Data("no picture".utf8).write(to: text)
        let asset = try await gallery.makeAsset(text)
        let failed = try gallery.ask("GET", try gallery.rendition("small", of: asset))
        #expect(failed.status == 422 && failed.body.contains("not-renderable"), "\(failed)")
        #expect(try gallery.columns()["rendition"] as? [String] == ["failed"])
        #expect(try gallery.ask("GET", try gallery.rendition("large", of: asset) + "?wait=0").status == 422)
        for path in [
          try gallery.rendition("small", of: asset, recipe: "r0"), try gallery.rendition("play", of: asset),
          try gallery.rendition("huge", of: asset),
          "/v1/assets/\(asset.id.uuidString)/renditions/\(String(repeating: "0", count: 64))/r3/small",
        ] {
          #expect(try gallery.ask("GET", path).status == 404, "\(path)")
        }
        #expect(try gallery.ask("GET", try gallery.rendition("small", of: asset) + "?wait=61").status == 400)
      }
    }

    @Test("a film has a poster and a form that plays; a client that may not see it gets neither")
    func films() async throws {
      try await TestGallery.serving { gallery in
        let asset = try await gallery.makeAsset(try sample("video/with-gps.mov"), .video, media: .video)
        let play = try gallery.rendition("play", of: asset)
        #expect(try gallery.ask("GET", try gallery.rendition("small", of: asset)).status == 200)
        let film = try gallery.ask("GET", play, ["Range: bytes=4-7"])
        #expect(film.status == 206 && film.body == "ftyp" && film.fields["content-type"] == "video/mp4")
        let key = try gallery.key(of: "app")
        #expect(try gallery.ask("GET", play, key: key.secret).status == 403)
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.limited, of: "app") }
        #expect(try gallery.ask("GET", play, key: key.secret).status == 404)
        try await gallery.library.performChanges { $0.grant([asset.id], to: "app") }
        #expect(try gallery.ask("GET", play + "?wait=0", key: key.secret).status == 200)
        try await gallery.library.performChanges { $0.withdraw([asset.id], from: "app") }
        #expect(try gallery.ask("GET", play, key: key.secret).status == 404)
      }
    }

    @Test(
      "a client that waits for a picture does not get it once its key, or the asset, is withdrawn",
      arguments: [true, false])
    func withdrawn(_ isKey: Bool) async throws {
      let programs = try TemporaryFolder()
      try writeProgram("#!/bin/sh\nwhile :; do :; done\n", at: programs.place("vipsthumbnail").path)
      var options = RenditionOptions()
      (options.processCount, options.queueLimit) = (1, 1)
      options.searchPath = "\(programs.url.path):/usr/bin:/bin"
      try await TestGallery.serving(renditions: options) { gallery in
        var paths: [String] = []
        for number in 1...3 {
          let asset = try await gallery.makeAsset(try sample("orientation/Landscape_\(number).jpg"))
          paths.append(try gallery.rendition("small", of: asset))
          if number == 2 {
            try await gallery.library.performChanges { change in
              change.setAuthorizationStatus(.limited, of: "app")
              change.grant([asset.id], to: "app")
            }
          }
        }
        let (key, renditions) = (try gallery.key(of: "app"), gallery.server.renditions)
        // One picture is being made for ever, and the next request waits behind it.
        #expect(try gallery.ask("GET", paths[0] + "?wait=0").status == 503)
        try await waitUntil("the first is being made") { renditions.waitingCount == 0 }
        let client = try RawClient(port: gallery.address.port)
        client.send(try gallery.head("GET", paths[1] + "?wait=60", key: key.secret, ["Connection: close"]))
        try await waitUntil("the second waits") { renditions.waitingCount == 1 }
        if isKey {
          #expect(try gallery.ask("DELETE", "/v1/keys/\(key.name)").status == 204)
        } else {
          let id = try #require(try gallery.library.as("app").fetchAssets().firstObject).id
          try await gallery.library.performChanges { $0.withdraw([id], from: "app") }
        }
        // A third one takes the place in the queue, which ends the waiting.
        #expect(try gallery.ask("GET", paths[2] + "?wait=0").status == 503)
        let answer = TestGallery.checked(
          "GET", paths[1], try #require(TestGallery.parsed(client.readBytesToEnd())))
        #expect(answer.status == (isKey ? 401 : 404), "\(answer)")
      }
    }

    @Test("a key has a limited number of requests that wait for renditions; one that does not wait needs no place")
    func places() async throws {
      try await TestGallery.serving { gallery in
        var paths: [String] = []
        for number in 1...3 {
          let asset = try await gallery.makeAsset(try sample("orientation/Landscape_\(number).jpg"))
          paths.append(try gallery.rendition("small", of: asset))
        }
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "app") }
        let (key, waits) = (try gallery.key(of: "app"), gallery.server.renditionWaits)
        let holder = Keyring.Key(
          name: key.name, client: "app", label: "", created: .distantPast, expires: .distantFuture)
        for _ in 0..<Call.waitsOfKey { try waits.enter(holder) }
        let refused = try gallery.ask("GET", paths[0], key: key.secret)
        #expect(refused.status == 429 && refused.fields["retry-after"] == "5", "\(refused)")
        #expect(try gallery.ask("GET", paths[0] + "?wait=0", key: key.secret).status == 503)
        waits.leave(holder)
        // The place is free again with the answer.
        for path in paths[1...] { #expect(try gallery.ask("GET", path, key: key.secret).status == 200) }
      }
    }

    @Test("a stopping server accepts no further requests, also while a program reads a film and cannot be stopped")
    func stopping() async throws {
      let programs = try TemporaryFolder()
      // Works for as long as its film, the last argument, has bytes.
      let script = "#!/bin/sh\nfor film; do :; done\nwhile [ -s \"${film#file:}\" ]; do :; done\nexit 1\n"
      try writeProgram(script, at: programs.place("ffprobe").path)
      var options = RenditionOptions()
      options.searchPath = "\(programs.url.path):/usr/bin:/bin"
      try await TestGallery.serving(renditions: options) { gallery in
        let asset = try await gallery.makeAsset(try sample("video/with-gps.mov"), .video, media: .video)
        let resource = try #require(try Renditions.shown(asset, in: gallery.library))
        let film = try gallery.library.url(of: resource, in: asset).path
        func endProgram() {
          chmod(film, 0o600)
          truncate(film, 0)
        }
        defer { endProgram() }
        /// Whether a process has the program among its words.
        func isAtWork() throws -> Bool {
          try FileManager.default.contentsOfDirectory(atPath: "/proc").contains { process in
            let words = (try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8)) ?? ""
            return words.contains(programs.url.lastPathComponent)
          }
        }
        let kept = try RawClient(port: gallery.address.port)
        func isAnswered() throws -> Bool {
          kept.send(try gallery.head("HEAD", "/v1/session"))
          return kept.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 200 ")
        }
        #expect(try isAnswered())
        #expect(try gallery.ask("GET", try gallery.rendition("play", of: asset) + "?wait=0").status == 503)
        let (server, ended) = (gallery.server, Gathered<Bool>())
        try await waitUntil("the film is being read") { try isAtWork() }
        let stop = Task {
          await server.stop()
          ended.append(true)
        }
        try await waitUntil("no further request is answered") { try !isAnswered() }
        #expect(try isAtWork() && ended.all.isEmpty, "Requests were answered until the program had ended.")
        endProgram()
        await stop.value
      }
    }

    @Test("a feed receives which of its client's assets have pictures, and of no others")
    func announced() async throws {
      try await TestGallery.serving { gallery in
        let shown = try await gallery.makeAsset(try sample("orientation/Landscape_6.jpg"))
        let other = try await gallery.makeAsset(try sample("orientation/Landscape_1.jpg"))
        let key = try gallery.key(of: "app")
        try await gallery.library.performChanges { change in
          change.setAuthorizationStatus(.limited, of: "app")
          change.grant([shown.id], to: "app")
        }
        let fetch = try gallery.fetch(key: key.secret)
        let client = try FeedClient(gallery, "fetch=\(fetch.name)&after=\(fetch.token)", key: key.secret)
        #expect(try gallery.ask("GET", try gallery.rendition("small", of: other)).status == 200)
        #expect(try gallery.ask("GET", try gallery.rendition("small", of: shown)).status == 200)
        let event = try #require(try client.next())
        #expect(event.name == "rendition" && event.id.isEmpty)
        let rows = try #require(event.data["renditions"] as? [[String: Any]])
        #expect(rows.map { $0["localIdentifier"] as? String } == [shown.localIdentifier])
        #expect(rows[0]["rendition"] as? String == "ready")
      }
    }

    @Test("a running server and an erasure leave nothing of the erased picture, and what another asset shows stays")
    func erased() async throws {
      try await TestGallery.serving { gallery in
        let erased = try await gallery.makeAsset(try sample("orientation/Landscape_6.jpg"))
        let other = try await gallery.makeAsset(try sample("heic/IMG_1034.heic"))
        let small = try gallery.rendition("small", of: other)
        for path in [try gallery.rendition("small", of: erased), small] {
          #expect(try gallery.ask("GET", path).status == 200)
        }
        let renditions = gallery.server.renditions
        let hash = try #require(try Renditions.shown(erased, in: gallery.library)).sha256
        let placeholder = Data(renditions.record(hash).placeholder)
        let (byteCount, revision) = (renditions.byteCount, renditions.revision)
        let folder = gallery.library.url.appending(path: "renditions")
        func traces() throws -> [String] {
          try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { path in
            guard path.hasSuffix("records") else { return path.contains(hash.hexadecimal) }
            return try Data(contentsOf: folder.appending(path: path)).range(of: placeholder) != nil
          }
        }
        #expect(try traces().count == 3 && placeholder.count == Placeholder.count)
        try gallery.library.eraseAssets([erased.id])
        #expect(try traces() == [])
        // What the server keeps in memory goes when the log says so, so that it is not written again.
        try await waitUntil("the server forgets the picture") { renditions.revision > revision }
        #expect(renditions.record(hash) == RenditionRecord() && renditions.byteCount < byteCount)
        #expect(renditions.byteCount > 0)
        #expect(try gallery.ask("GET", small + "?wait=0").status == 200)
        #expect(try traces() == [])
      }
    }

    @Test("idle time makes missing renditions, the newest first, and a stop ends it")
    func idle() async throws {
      let temporary = try TemporaryLibrary(.seeded(7))
      // By age; they are added in another order.
      let names = ["Landscape_1", "Landscape_3", "Landscape_2", "Landscape_6"]
      for age in [2, 0, 3, 1] {
        let file = try sample("orientation/\(names[age]).jpg")
        var creation = AssetCreation(
          mediaType: .image, resources: [ResourceDraft(type: .photo, source: .file(file, shouldMove: false))])
        creation.creationDate = Date(timeIntervalSince1970: 1_700_000_000 - Double(age) * 86_400)
        try await temporary.library.performChanges { [creation] change in change.createAsset(creation) }
      }
      var options = RenditionOptions()
      (options.fillsIdleTime, options.processCount) = (true, 1)
      let heard = Gathered<[UInt8]>()
      let renditions = Renditions(temporary.library, options, now: { Date(timeIntervalSince1970: 1) }) {
        heard.append($0)
      }
      try renditions.start(sleep: GalleryEnvironment.system.sleep) { Issue.record("\($0)") }
      try await waitUntil("all pictures are made") { heard.all.count == 4 }
      await renditions.stop()
      #expect(try heard.all == names.map { Array(try Data(contentsOf: sample("orientation/\($0).jpg"))).sha256 })
      #expect(renditions.waitingCount == 0 && renditions.byteCount > 0)
    }
  }

  @Suite("The cache of renditions")
  struct RenditionCacheTests {
    private func hash(_ number: UInt8) -> [UInt8] { [number] + Array(repeating: 7, count: 31) }
    /// Pictures of 12 bytes.
    private let set = RenditionSet(
      small: Data(count: 5), large: Data(count: 7),
      placeholder: Placeholder(bytes: Array(repeating: 9, count: Placeholder.count)))

    @Test("a record is what was written, or nothing")
    func records() {
      var record = RenditionRecord()
      (record.state, record.play, record.placeholder) = (.ready, .made, Array(1...37))
      (record.smallSize, record.largeSize, record.playSize) = (20_000, 300_000, 5_000_000_000)
      (record.programs, record.lastUse) = (.max, 1_700_000_000)
      let bytes = record.bytes(of: hash(1))
      #expect(bytes.count == RenditionRecord.size && RenditionRecord(bytes, of: hash(1)) == record)
      #expect(RenditionRecord(bytes, of: hash(2)) == nil)
      for index in bytes.indices {
        var damaged = bytes
        damaged[index] ^= 0x10
        #expect(RenditionRecord(damaged, of: hash(1)) == nil, "byte \(index)")
      }
    }

    @Test("the page, the contract and the documentation name the recipe of today")
    func recipe() throws {
      let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      let recipe = RenditionRecipe.revision
      for (path, text) in [
        ("GalleryServer/Page/client/photoledger.js", "/renditions/${item.sha256}/\(recipe)/${kind}"),
        ("GalleryServer/Service/openapi.json", #"{"enum": ["\#(recipe)"]}"#),
        ("PhotoLedger/PhotoLedger.docc/Serving.md", "the recipe is `\(recipe)`"),
      ] {
        let contents = try String(contentsOf: package.appending(path: "Sources/\(path)"), encoding: .utf8)
        #expect(contents.contains(text), "\(path)")
      }
    }

    @Test("contents with the same slot in memory have a record each")
    func places() throws {
      let folder = try TemporaryLibrary(.seeded(1))
      let cache = try RenditionCache(
        in: folder.library.url.appending(path: "renditions"), budget: 10_000, now: { Date(timeIntervalSince1970: 1) })
      let hashes = (0..<3 as Range<UInt8>).map { [$0] + [UInt8](repeating: 7, count: 31) }
      for hash in hashes {
        let set = RenditionSet(
          small: Data(count: 5), large: Data(count: 5),
          placeholder: Placeholder(bytes: Array(repeating: hash[0], count: Placeholder.count)))
        try cache.keep(set, of: hash)
      }
      for hash in hashes + hashes.reversed() { #expect(cache.record(hash).placeholder.first == hash[0]) }
      cache.forget(hashes[1], .small)
      #expect(hashes.map { cache.record($0).state } == [.ready, .none, .ready])
    }

    @Test(
      "contents that are gone are removed from the folder and memory, also where another process removed their files")
    func erased() throws {
      let folder = try TemporaryLibrary(.seeded(1))
      let cache = try RenditionCache(
        in: folder.library.url.appending(path: "renditions"), budget: 10_000, now: { Date(timeIntervalSince1970: 1) })
      let placeholder = Placeholder(bytes: Array(repeating: 9, count: Placeholder.count))
      for number in 1...3 as ClosedRange<UInt8> {
        try cache.keep(
          RenditionSet(small: Data(count: 5), large: Data(count: 7), placeholder: placeholder), of: hash(number))
      }
      let records = cache.folder.appending(path: "records")
      let file = try FileHandle(forWritingTo: records)
      try file.write(contentsOf: Data(count: RenditionRecord.size))
      try file.close()
      try cache.erase { Set($0).intersection([hash(1), hash(2)]) }
      cache.forget(hash(1), .small)
      cache.forget(hash(2), .small)
      #expect((1...3 as ClosedRange<UInt8>).map { cache.record(hash($0)).placeholder.isEmpty } == [true, true, false])
      #expect(cache.total == 12 && access(cache.file(hash(2), .large).path, F_OK) != 0)
      let bytes = Array(try Data(contentsOf: records))
      #expect(bytes[..<(2 * RenditionRecord.size)].allSatisfy { $0 == 0 })
      try cache.erase([hash(3)])
      #expect(cache.total == 0 && cache.record(hash(3)) == RenditionRecord())
      #expect(try Data(contentsOf: records).allSatisfy { $0 == 0 })
    }

    @Test("a cache whose folder is removed while it is open is empty, and what is made afterwards outlives it")
    func removed() throws {
      let temporary = try TemporaryFolder()
      let parent = temporary.place("renditions")
      func opened() throws -> RenditionCache {
        try RenditionCache(in: parent, budget: 10_000, now: { Date(timeIntervalSince1970: 1) })
      }
      do {
        let cache = try opened()
        for number in 1...2 as ClosedRange<UInt8> { try cache.keep(set, of: hash(number)) }
        try FileManager.default.removeItem(at: parent)
        let revision = cache.revision
        try cache.keep(set, of: hash(3))
        #expect(cache.total == 12 && cache.record(hash(1)) == RenditionRecord() && cache.revision > revision)
        #expect(cache.folder.folderMode == 0o700)
      }
      let cache = try opened()
      #expect(cache.total == 12 && cache.record(hash(3)).state == .ready)
      #expect(cache.record(hash(1)) == RenditionRecord())
      withExtendedLifetime(temporary) {}
    }

    @Test(
      "a cache of which the folder, the lock or the records are removed while it is open stays locked",
      arguments: [nil, "lock", RenditionRecipe.revision])
    func staysLocked(_ name: String?) throws {
      let temporary = try TemporaryFolder()
      let parent = temporary.place("renditions")
      func opened() throws -> RenditionCache {
        try RenditionCache(in: parent, budget: 10_000, now: { Date(timeIntervalSince1970: 1) })
      }
      let cache = try opened()
      try cache.keep(set, of: hash(1))
      try FileManager.default.removeItem(at: name.map { parent.appending(path: $0) } ?? parent)
      try cache.keep(set, of: hash(2))
      #expect(try opened().isPassing && !cache.isPassing, "Another process finds it locked.")
      #expect(cache.total == (name == "lock" ? 24 : 12) && cache.record(hash(2)).state == .ready)
      cache.release()
      try FileManager.default.removeItem(at: parent)
      #expect(throws: Never.self) { try cache.keep(set, of: hash(3)) }
      #expect(try !opened().isPassing, "What was released is not locked again.")
      withExtendedLifetime(temporary) {}
    }

    @Test(
      "a server whose folder is removed or moved writes nothing to the one that another process makes, and says so",
      arguments: [false, true])
    func taken(_ isMoved: Bool) throws {
      let temporary = try TemporaryFolder()
      let parent = temporary.place("renditions")
      let said = Gathered<String>()
      let now: @Sendable () -> Date = { Date(timeIntervalSince1970: 1) }
      let cache = try RenditionCache(in: parent, budget: 10_000, now: now) { said.append($0) }
      try cache.keep(set, of: hash(1))
      if isMoved {
        try FileManager.default.moveItem(at: parent, to: temporary.place("moved"))
      } else {
        try FileManager.default.removeItem(at: parent)
      }
      let other = try RenditionCache(in: parent, budget: 10_000, now: now)
      #expect(!other.isPassing && said.all.isEmpty)
      for number in 2...3 as ClosedRange<UInt8> { try cache.keep(set, of: hash(number)) }
      let film = try cache.newFile(hash(4), .play)
      #expect(try FileManager.default.subpathsOfDirectory(atPath: other.folder.path) == ["records"])
      #expect(try Data(contentsOf: other.folder.appending(path: "records")).isEmpty)
      #expect(cache.isPassing && cache.total == 24 && cache.record(hash(1)) == RenditionRecord())
      #expect(film.path.contains("/passing-\(getpid())/"), "\(film)")
      #expect(said.all.count == 1 && said.all.allSatisfy { $0.contains("another process") }, "\(said.all)")
      withExtendedLifetime(temporary) {}
    }

    @Test("a folder in place of the lock is not another process: existing pictures are used")
    func lockless() throws {
      let temporary = try TemporaryFolder()
      let parent = temporary.place("renditions")
      // A folder in the place of the lock cannot be opened for writing, by root either.
      try FileManager.default.createDirectory(at: parent.appending(path: "lock"), withIntermediateDirectories: true)
      let cache = try RenditionCache(in: parent, budget: 10_000, now: { Date(timeIntervalSince1970: 1) })
      #expect(cache.folder.deletingLastPathComponent().lastPathComponent == "renditions", "\(cache.folder)")
      withExtendedLifetime(temporary) {}
    }

    @Test(
      "files of other recipes and servers are moved away at once and removed later; programs' folders stay")
    func strangers() async throws {
      let temporary = try TemporaryLibrary(.seeded(1))
      let parent = temporary.library.url.appending(path: "renditions")
      // Of a process that runs, and of one that has ended.
      let own = [RenditionRecipe.revision, "lock", "photoledger-work-\(getppid())-01234567"]
      let left = "photoledger-work-\(getpid())-01234567"
      for name in ["r0/ab", "r1/cd", "passing-7/r2", "removed-1/ef", "\(own[0])/ab", "\(own[2])/in", "\(left)/in"] {
        let folder = parent.appending(path: name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("bytes".utf8).write(to: folder.appending(path: "file"))
      }
      func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: parent.path).sorted() }
      do {
        let cache = try RenditionCache(in: parent, budget: 10_000, now: { Date(timeIntervalSince1970: 1) })
        let aside = cache.strangers.map(\.lastPathComponent).sorted()
        #expect(aside == ["removed-1", "removed-2", "removed-3", "removed-4"])
        #expect(try names() == (own + aside + [left]).sorted())
      }
      // A server that was killed before it had removed them leaves them to the next.
      let renditions = Renditions(
        temporary.library, RenditionOptions(), now: { Date(timeIntervalSince1970: 1) }, ready: { _ in })
      #expect(renditions.record(hash(1)) == RenditionRecord())
      try await waitUntil("they are removed") { try names() == own.sorted() }
      for kept in ["\(own[0])/ab/file", "\(own[2])/in/file"] {
        #expect(FileManager.default.fileExists(atPath: parent.appending(path: kept).path), "\(kept)")
      }
      await renditions.stop()
    }

    @Test("a rendition does not exist while it is made, is made by one caller, and again after a failure")
    func madeOnce() async throws {
      let (begun, mayEnd) = (Gathered<Int>(), DispatchSemaphore(value: 0))
      let one = MadeOnce<Int>()
      #expect(throws: GalleryError.self) { try one.made { throw GalleryError("It cannot be made.") } }
      #expect(one.value == nil)
      let make = { @Sendable () -> Int in
        begun.append(7)
        mayEnd.wait()
        return begun.all.count
      }
      async let first = onThread { try one.made(by: make) }
      try await waitUntil("it is being made") { begun.all.count == 1 }
      async let second = onThread { try one.made(by: make) }
      #expect(one.value == nil)
      mayEnd.signal()
      let both = try await [first, second]
      #expect(both == [1, 1] && one.value == 1 && begun.all.count == 1)
    }

    @Test("closing waits for a rendition in progress, and nothing is made afterwards")
    func madeNoMore() async throws {
      let (begun, mayEnd, ended) = (Gathered<Int>(), DispatchSemaphore(value: 0), Gathered<Int?>())
      let one = MadeOnce<Int>()
      async let made = onThread {
        try one.made {
          begun.append(1)
          mayEnd.wait()
          return 7
        }
      }
      try await waitUntil("it is being made") { begun.all.count == 1 }
      async let end: Void = onThread { ended.append(one.end()) }
      #expect(ended.all.isEmpty)
      mayEnd.signal()
      #expect(try await made == 7)
      try await end
      #expect(ended.all == [7])
      #expect(try one.made { 8 } == 7)
      let none = MadeOnce<Int>()
      #expect(none.end() == nil)
      #expect(throws: CancellationError.self) { try none.made { 1 } }
    }

    @Test("the least recently viewed rendition is evicted when the budget is used up, and its placeholder stays")
    func eviction() throws {
      let folder = try TemporaryLibrary(.seeded(1))
      let time = Mutex(1.0)
      let cache = try RenditionCache(
        in: folder.library.url.appending(path: "renditions"), budget: 10_000,
        now: { Date(timeIntervalSince1970: time.withLock { $0 }) })
      let placeholder = Placeholder(bytes: Array(repeating: 1, count: 37))
      for number in 1...5 as ClosedRange<UInt8> {
        time.withLock { $0 = Double(number) * 10_000 }
        // The first is looked at again.
        if number == 4 { cache.touch(hash(1), cache.record(hash(1))) }
        let set = RenditionSet(small: Data(count: 500), large: Data(count: 2500), placeholder: placeholder)
        try cache.keep(set, of: hash(number))
      }
      #expect(cache.total <= 10_000)
      let states = (1...5 as ClosedRange<UInt8>).map { cache.record(hash($0)).state }
      #expect(states == [.ready, .none, .none, .ready, .ready])
      #expect(cache.record(hash(2)).placeholder == placeholder.bytes)
      #expect(access(cache.file(hash(2), .large).path, F_OK) != 0)
      #expect(access(cache.file(hash(1), .large).path, F_OK) == 0)
    }
  }
#endif
