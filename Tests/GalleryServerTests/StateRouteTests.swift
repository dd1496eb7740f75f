#if Gallery
  import Foundation
  @testable import GalleryServer
  import LibraryMaintenance
  import MediaImport
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite("Status over HTTP")
  struct StateRouteTests {
    @Test("the owner sees the status of store, disk and renditions, and of the last maintenance")
    func health() async throws {
      try await TestGallery.serving { gallery in
        try await gallery.makeAssets(3)
        let before = try gallery.ask("GET", "/v1/health").json()
        let statistics = try #require(before["statistics"] as? [String: Any])
        #expect((statistics["assetCounts"] as? [String: Int])?["image"] == 3)
        #expect(statistics["sandbox"] as? String == SandboxLayer.active.rawValue, "As `stat` says.")
        let disk = try #require(before["disk"] as? [String: Any])
        let (free, total) = (try #require(disk["freeBytes"] as? Int), try #require(disk["totalBytes"] as? Int))
        #expect(free > 0 && free <= total)
        #expect(try #require(before["renditions"] as? [String: Any])["missingPrograms"] is [String])
        let none = try #require(before["care"] as? [String: Any])
        #expect(none.values.allSatisfy { $0 is NSNull } && none.count == 3)

        let copy = gallery.temporary.folder.url.appending(path: "copy")
        try gallery.library.note(try gallery.library.backup(to: copy))
        let care = try #require(try gallery.ask("GET", "/v1/health").json()["care"] as? [String: Any])
        let backup = try #require(care["backup"] as? [String: Any])
        #expect(backup["eventCount"] as? Int == statistics["eventCount"] as? Int)
        #expect(backup["chain"] as? String == statistics["chain"] as? String)
        #expect(care["verification"] is NSNull)
        let app = try gallery.key(of: "app")
        #expect(try gallery.ask("GET", "/v1/health", key: app.secret).status == 403)
      }
    }

    @Test("an asset's index is that of the fetch at the token; assets that the client does not see have no index")
    func index() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(5)
        let fetch = try gallery.fetch(["sort": ["creationDate:desc"]])
        let path = "/v1/fetches/\(fetch.name)/index"
        let items = try gallery.ask("GET", "/v1/fetches/\(fetch.name)/items?form=columns&token=\(fetch.token)").json()
        let order = try #require((items["columns"] as? [String: Any])?["localIdentifier"] as? [String])
        for (place, identifier) in order.enumerated() {
          let found = try gallery.ask("GET", "\(path)?token=\(fetch.token)&asset=\(identifier.prefix { $0 != "/" })")
          #expect(try found.json()["index"] as? Int == place)
        }
        try await gallery.library.performChanges { change in
          change.deleteAssets([ids[0]])
          change.setAuthorizationStatus(.limited, of: "app")
          change.grant([ids[1]], to: "app")
        }
        let gone = try gallery.ask("GET", "\(path)?asset=\(ids[0].uuidString)")
        #expect(try gone.json()["index"] is NSNull)
        let then = try gallery.ask("GET", "\(path)?token=\(fetch.token)&asset=\(ids[0].uuidString)")
        #expect(try then.json()["index"] is Int)
        let app = try gallery.key(of: "app").secret
        #expect(try gallery.ask("GET", "\(path)?asset=\(ids[1].uuidString)", key: app).json()["index"] as? Int == 0)
        #expect(try gallery.ask("GET", "\(path)?asset=\(ids[2].uuidString)", key: app).json()["index"] is NSNull)
        #expect(try gallery.ask("GET", path).status == 400)
      }
    }

    @Test("an asset names the albums that hold it, as far as the client sees them")
    func albums() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(1)
        var album: LocalIdentifier?
        try await gallery.library.performChanges { change in
          let made = change.createAlbum(title: "Sea")
          change.album(made).add(ids)
          album = made
          change.setAuthorizationStatus(.limited, of: "app")
          change.grant(ids, to: "app")
        }
        let name = try #require(album).uuidString
        let path = "/v1/assets/\(ids[0].uuidString)"
        let seen = try #require(try gallery.ask("GET", path).json()["albums"] as? [String])
        #expect(seen.count == 1 && seen[0].hasPrefix(name))
        let app = try gallery.key(of: "app").secret
        #expect(try gallery.ask("GET", path, key: app).json()["albums"] as? [String] == [])
      }
    }
  }
#endif
