#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import MediaImport
  @testable import PhotoLedger
  import TestSupport
  import Testing

  // A library that is moved while it is served, with another one made at its old path.
  @Suite("A gallery whose library is moved")
  struct MovedGalleryTests {
    /// Moves the library, and makes another one at its path.
    /// - Returns: the new path, and the old one with the names of all files there.
    private func move(_ gallery: TestGallery) throws -> (path: String, old: String, files: [String]) {
      let (old, new) = (gallery.temporary.url.path, gallery.temporary.folder.place("moved").path)
      try #require(rename(old, new) == 0)
      try PhotoLibrary.create(at: gallery.temporary.url).close()
      return (new, old, try files(old))
    }

    private func files(_ path: String) throws -> [String] {
      try FileManager.default.subpathsOfDirectory(atPath: path).sorted()
    }

    @Test("keys, people and shares are kept where the library is now, and a new server finds them")
    func keys() async throws {
      try await TestGallery.serving { gallery in
        let (asset, _) = try await gallery.makeFile("shared bytes")
        let moved = try move(gallery)
        let key = try gallery.key(of: "family").secret
        try gallery.addPerson("anna", client: "family")
        #expect(try gallery.ask("POST", "/v1/shares", json: ["title": "Summer", "assets": [asset]]).status == 201)
        let disk = try #require(try gallery.ask("GET", "/v1/health").json()["disk"] as? [String: Any])
        #expect(disk["totalBytes"] as? Int ?? 0 > 0)
        for name in ["keys", "people", "shares"] {
          #expect(access("\(moved.path)/server/\(name).json", F_OK) == 0, "\(name)")
        }
        try await gallery.restart()
        #expect(try gallery.ask("GET", "/v1/session", key: key).status == 200)
        #expect(try gallery.key(ofPerson: "anna").isEmpty == false)
        let shares = try gallery.ask("GET", "/v1/shares").json()["shares"] as? [[String: Any]]
        #expect(shares?.count == 1)
        #expect(try files(moved.old) == moved.files)
      }
    }

    @Test("the first key of a moved library creates its folder at the new place")
    func firstKey() async throws {
      try await TestGallery.serving { gallery in
        let folder = gallery.temporary.url.appending(path: "server")
        try FileManager.default.removeItem(at: folder)
        let moved = try move(gallery)
        _ = try gallery.key(of: "family")
        #expect(access(moved.path + "/server/keys.json", F_OK) == 0)
        var status = stat()
        #expect(stat(moved.path + "/server", &status) == 0 && status.st_mode & 0o777 == 0o700)
        #expect(try files(moved.old) == moved.files)
      }
    }

    @Test("the bytes of picked items pass through the library's own folder")
    func picked() async throws {
      try await TestGallery.serving { gallery in
        let (asset, _) = try await gallery.makeFile("picked bytes")
        let app = try gallery.register(asks: nil)
        let begun = try gallery.ask("POST", "/v1/picking", json: ["limit": 1], key: app.key).json()
        let path = "/v1/picking/\(try #require(begun["session"] as? String))"
        let moved = try move(gallery)
        for tap: [String: Any] in [["select": asset], ["finish": true]] {
          #expect(try gallery.ask("POST", path + "/taps", json: tap).status == 204)
        }
        var state: [String: Any] = [:]
        try await waitUntil("the session ended") {
          state = try gallery.ask("GET", path, key: app.key).json()
          return state["state"] as? String == "finished"
        }
        let item = try #require((state["items"] as? [[String: Any]])?.first?["item"] as? String)
        #expect(try gallery.ask("GET", "/v1/picked/\(item)", key: app.key).body == "picked bytes")
        #expect(try files(moved.old) == moved.files)
        #expect(try !files(moved.path).contains { $0.contains(".picked") })
      }
    }

    @Test(
      "pictures are rendered and kept where the library is now",
      .enabled(if: SamplePhotos.canRender, "Needs libvips-tools, ffmpeg, exiftool and the folder of sample photos."),
      arguments: [true, false])
    func pictures(isOpenBefore: Bool) async throws {
      try await TestGallery.serving { gallery in
        let folder = try #require(SamplePhotos.folder)
        func picture(_ name: String) async throws {
          let asset = try await gallery.makeAsset(folder.appending(path: "orientation/\(name)"))
          let answer = try gallery.ask("GET", try gallery.rendition("small", of: asset))
          #expect(answer.status == 200, "\(answer.status)")
        }
        if isOpenBefore { try await picture("Landscape_1.jpg") }
        let moved = try move(gallery)
        try await picture("Landscape_6.jpg")
        let film = try await gallery.makeAsset(folder.appending(path: "video/100_0306.AVI"), .video, media: .video)
        #expect(try gallery.ask("GET", try gallery.rendition("play", of: film)).status == 200)
        #expect(try files(moved.old) == moved.files)
        let made = try files(moved.path + "/renditions").filter { $0.hasSuffix(".small") || $0.hasSuffix(".play") }
        #expect(made.count == (isOpenBefore ? 3 : 2))
      }
    }
  }
#endif
