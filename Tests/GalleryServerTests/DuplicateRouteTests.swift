#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite(
    "Duplicates over HTTP",
    .enabled(if: SamplePhotos.canRender, "Needs libvips-tools, ffmpeg, exiftool and the folder of sample photos."))
  struct DuplicateRouteTests {
    /// Adds a sample photo, and a copy of it that is smaller and was encoded anew.
    private func makePair(
      _ name: String, width: Int, height: Int, _ folder: URL, _ gallery: TestGallery
    ) async throws -> [String] {
      let source = try #require(SamplePhotos.folder).appending(path: "albums/nature/\(name).jpg")
      let copy = folder.appending(path: "\(name).jpg").path
      let size = "\(width / 2)x\(height / 2)"
      let made = try ChildRun.of(["vipsthumbnail", source.path, "--size", size, "-o", copy + "[Q=70,strip]"])
      #expect(made.end == .status(0))
      var ids: [LocalIdentifier] = []
      try await gallery.library.performChanges { change in
        for (file, scale) in [(URL(filePath: copy), 2), (source, 1)] {
          var creation = AssetCreation(
            mediaType: .image, resources: [ResourceDraft(type: .photo, source: .file(file, shouldMove: false))])
          (creation.pixelWidth, creation.pixelHeight) = (width / scale, height / scale)
          ids.append(change.createAsset(creation))
        }
      }
      return ids.map { $0.spelled(as: .asset) }
    }

    /// Waits until the search has ended, by the revision of each state.
    private func ended(_ gallery: TestGallery) throws -> [String: Any] {
      var state = try gallery.ask("GET", "/v1/duplicates").json()
      while state["state"] as? String == "searching" {
        let revision = try #require(state["revision"] as? String)
        state = try gallery.ask("GET", "/v1/duplicates?after=\(revision)&wait=60").json()
      }
      return state
    }

    private func groups(_ gallery: TestGallery, _ query: String) throws -> (pairs: [[String]], next: Int?) {
      let answer = try gallery.ask("GET", "/v1/duplicates/groups?\(query)")
      try #require(answer.status == 200, "\(answer)")
      let json = try answer.json()
      let pairs = try (try #require(json["groups"] as? [[String: Any]])).map { group in
        let others = try #require(group["others"] as? [[String: Any]])
        let assets = [group["keeper"] as? [String: Any]] + others.map { $0["asset"] as? [String: Any] }
        return try assets.map { try #require($0?["localIdentifier"] as? String) }
      }
      return (pairs, json["next"] as? Int)
    }

    @Test("smaller copies are proposed to the owner, in pages, until they are merged")
    func proposed() async throws {
      let folder = try TemporaryFolder()
      try await TestGallery.serving { gallery in
        let fir = try await makePair("silver_fir", width: 511, height: 323, folder.url, gallery)
        let falcon = try await makePair("prairie_falcon", width: 800, height: 533, folder.url, gallery)
        let idle = try gallery.ask("GET", "/v1/duplicates").json()
        #expect(idle["state"] as? String == "idle" && idle["search"] is NSNull)
        let stream = try StateClient(gallery, "/v1/duplicates/events")
        #expect(try stream.next()?["state"] as? String == "idle")
        #expect(try gallery.ask("GET", "/v1/duplicates/groups?search=x").status == 404)
        let token = try gallery.library.currentToken
        #expect(try gallery.ask("POST", "/v1/duplicates", json: ["distance": 8]).status == 202)
        let state = try ended(gallery)
        #expect(state["state"] as? String == "ready" && state["distance"] as? Int == 8, "\(state)")
        #expect(state["groups"] as? Int == 2 && state["compared"] as? Int == 4 && state["duplicates"] as? Int == 2)
        #expect(try gallery.library.currentToken == token, "a search changes nothing")
        let search = "search=\(try #require(state["search"] as? String))"
        #expect(try groups(gallery, search).pairs == [[falcon[1], falcon[0]], [fir[1], fir[0]]])
        #expect(try gallery.ask("HEAD", "/v1/duplicates/groups?\(search)").status == 200)
        let first = try groups(gallery, "\(search)&limit=1")
        #expect(first.pairs == [[falcon[1], falcon[0]]] && first.next == 1)
        let second = try groups(gallery, "\(search)&limit=1&start=1")
        #expect(second.pairs == [[fir[1], fir[0]]] && second.next == nil)
        // What is merged is proposed no more, until the merge is undone.
        let merge: [String: Any] = ["op": "asset.merge", "asset": fir[1], "others": [fir[0]]]
        let receipt = try gallery.ask("POST", "/v1/blocks", json: ["changes": [merge]]).json()
        #expect(try groups(gallery, search).pairs == [[falcon[1], falcon[0]]])
        let commit = try #require(receipt["token"] as? String)
        #expect(try gallery.ask("POST", "/v1/undo", json: ["commit": commit]).status == 200)
        #expect(try groups(gallery, search).pairs.count == 2)
        // What is rejected is not proposed, by this search or another one, until that is withdrawn.
        func decide(_ assets: [String], _ isRejected: Bool) throws -> Answer {
          try gallery.ask("POST", "/v1/duplicates/decisions", json: ["assets": assets, "isRejected": isRejected])
        }
        let revision = try #require(try gallery.ask("GET", "/v1/duplicates").json()["revision"] as? String)
        #expect(try decide([fir[0], fir[1]], true).json()["pairs"] as? Int == 1)
        #expect(try groups(gallery, search).pairs == [[falcon[1], falcon[0]]])
        let told = try gallery.ask("GET", "/v1/duplicates?after=\(revision)&wait=60").json()
        #expect(told["decisions"] as? Int == 1 && told["search"] as? String == state["search"] as? String)
        #expect(try decide([fir[1], fir[0]], false).status == 200)
        #expect(try groups(gallery, search).pairs.count == 2)
        // There is nothing to stop, so what was found stays.
        #expect(try gallery.ask("DELETE", "/v1/duplicates").status == 204)
        #expect(try groups(gallery, search).pairs.count == 2)
        try await gallery.restart()
        #expect(try gallery.ask("GET", "/v1/duplicates/groups?\(search)").status == 404)
      }
    }

    @Test("only the owner searches, and malformed requests are rejected")
    func rejected() async throws {
      try await TestGallery.serving { gallery in
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "app") }
        let app = try gallery.key(of: "app").secret
        for (method, path) in [
          ("GET", "/v1/duplicates"), ("POST", "/v1/duplicates"), ("DELETE", "/v1/duplicates"),
          ("GET", "/v1/duplicates/events"), ("GET", "/v1/duplicates/groups?search=x"),
          ("POST", "/v1/duplicates/decisions"),
        ] {
          let json: [String: Any]? = method == "POST" ? [:] : nil
          #expect(try gallery.ask(method, path, json: json, key: app).status == 403, "\(method) \(path)")
        }
        let bodies: [[String: Any]] = [["distance": 9], ["distance": -1], ["distance": "4"], ["where": "rating > 1"]]
        for body in bodies {
          #expect(try gallery.ask("POST", "/v1/duplicates", json: body).status == 400, "\(body)")
        }
        for query in ["", "?search=x&limit=0", "?search=x&limit=51", "?search=x&start=-1", "?search=x&colour=1"] {
          #expect(try gallery.ask("GET", "/v1/duplicates/groups\(query)").status == 400, "\(query)")
        }
        let (one, other) = ("1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F", "6FA459EA-EE8A-4CA4-894E-DB77E160355E")
        let decisions: [([String: Any], Int)] = [
          ([:], 400), (["assets": [one, other]], 400), (["assets": "x", "isRejected": true], 400),
          (["assets": [one, other], "isRejected": 1], 400), (["assets": [one], "isRejected": true, "a": 1], 400),
          (["assets": [one, other], "isRejected": true], 404),
        ]
        for (body, status) in decisions {
          #expect(try gallery.ask("POST", "/v1/duplicates/decisions", json: body).status == status, "\(body)")
        }
        // A library without photos has no duplicates.
        #expect(try gallery.ask("POST", "/v1/duplicates", json: [:]).status == 202)
        let state = try ended(gallery)
        #expect(state["state"] as? String == "ready" && state["groups"] as? Int == 0, "\(state)")
      }
    }
  }
#endif
