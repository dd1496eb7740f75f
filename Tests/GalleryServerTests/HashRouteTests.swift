#if Gallery
  import Foundation
  @testable import GalleryServer
  import JSONReading
  import LibraryJSON
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite("Look-up of hashes", .enabled(if: SamplePhotos.areInstalled("exiftool")), .timeLimit(.minutes(5)))
  struct HashRouteTests {
    private struct Found: Equatable {
      var sha256: String?
      var sha1: String?
      var asset: String?
      var isTrashed: Bool?
    }

    private func found(
      _ gallery: TestGallery, _ json: [String: Any], key: String = "owner"
    ) throws -> [Found] {
      let answer = try gallery.ask("POST", "/v1/uploads:check", json: json, key: key)
      #expect(answer.status == 200, "\(answer)")
      return try #require(try answer.json()["found"] as? [[String: Any]]).map { one in
        Found(
          sha256: one["sha256"] as? String, sha1: one["sha1"] as? String, asset: one["asset"] as? String,
          isTrashed: one["isTrashed"] as? Bool)
      }
    }

    private static func sha1(_ data: Data) -> String {
      var hash = ContentHash()
      data.withUnsafeBytes { hash.update($0) }
      return hash.sha1.hexadecimal
    }

    @Test("a file that was uploaded is found by either hash, by those who see it")
    func found() async throws {
      try await TestGallery.serving { gallery in
        try gallery.temporary.authorize("friend")
        try await gallery.library.performChanges { change in
          change.setAuthorizationStatus(.limited, of: "app")
          change.setAuthorizationStatus(.authorized, of: "camera", for: .addOnly)
        }
        let (mine, other) = (photo("mine"), photo("other"))
        let asset = try #require(try gallery.send("PUT", "/v1/uploads", mine).answer.fields["photoledger-asset"])
        let (sha256, sha1) = (Array(mine).sha256.hexadecimal, Self.sha1(mine))
        let question: [String: Any] = [
          "sha256": [sha256, Array(other).sha256.hexadecimal], "sha1": [sha1.uppercased(), Self.sha1(other)],
        ]
        let answer = [
          Found(sha256: sha256, asset: asset, isTrashed: false), Found(sha1: sha1, asset: asset, isTrashed: false),
        ]
        #expect(try found(gallery, question) == answer)
        #expect(try found(gallery, question, key: try gallery.key(of: "friend").secret) == answer)
        for client in ["app", "camera", "stranger"] {
          #expect(try found(gallery, question, key: try gallery.key(of: client).secret).isEmpty)
        }
        try await gallery.library.performChanges { change in
          change.grant([LocalIdentifier(asset)].compactMap { $0 }, to: "app")
        }
        #expect(try found(gallery, question, key: try gallery.key(of: "app").secret) == answer)
        #expect(try found(gallery, [:]).isEmpty)
        #expect(try gallery.ask("POST", "/v1/uploads:check", json: [:], key: nil).status == 401)
      }
    }

    @Test(
      "of several assets with the same content one outside the trash is named; if all are in the trash, that is stated")
    func trashed() async throws {
      try await TestGallery.serving { gallery in
        // Neither of two clients that only add sees the other's file.
        try await gallery.library.performChanges { change in
          for name in ["one", "two"] { change.setAuthorizationStatus(.authorized, of: name, for: .addOnly) }
        }
        let data = photo("twice")
        let assets = try ["one", "two"].map { name in
          let answer = try gallery.send("PUT", "/v1/uploads", data, key: try gallery.key(of: name).secret).answer
          return try #require(answer.fields["photoledger-asset"])
        }
        #expect(Set(assets).count == 2)
        let (sha256, sha1) = (Array(data).sha256.hexadecimal, Self.sha1(data))
        func named() throws -> [Found] { try found(gallery, ["sha256": [sha256], "sha1": [sha1]]) }
        func both(_ asset: String, isTrashed: Bool) -> [Found] {
          [
            Found(sha256: sha256, asset: asset, isTrashed: isTrashed),
            Found(sha1: sha1, asset: asset, isTrashed: isTrashed),
          ]
        }
        #expect(try named() == both(assets[0], isTrashed: false))
        try await gallery.library.performChanges { change in
          change.deleteAssets([LocalIdentifier(assets[0])].compactMap { $0 })
        }
        #expect(try named() == both(assets[1], isTrashed: false))
        // What an upload of the file is answered with.
        let again = try gallery.send("PUT", "/v1/uploads", data).answer
        #expect(again.status == 200 && again.fields["photoledger-asset"] == assets[1])
        try await gallery.library.performChanges { change in
          change.deleteAssets([LocalIdentifier(assets[1])].compactMap { $0 })
        }
        #expect(try named() == both(assets[0], isTrashed: true))
      }
    }

    @Test("a hash that is named several times is looked up once, and answered as often as it is named")
    func repeated() async throws {
      let small = try SmallLibrary()
      let id = try await small.assets(1)[0]
      let asset = try small.asset(id)
      let (known, unknown) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
      var lookups: [[UInt8]] = []
      let answers = try HashRoutes.describe("sha256", [known, unknown, known, unknown, known]) { hash in
        lookups.append(hash)
        return hash == known ? [asset] : []
      }
      #expect(lookups == [known, unknown])
      #expect(answers.map { $0["asset"]?.textValue } == [String?](repeating: asset.localIdentifier, count: 3))
    }

    @Test("a resource's JSON names its SHA-1")
    func shown() async throws {
      try await TestGallery.serving { gallery in
        let data = photo("shown")
        let asset = try #require(try gallery.send("PUT", "/v1/uploads", data).answer.fields["location"])
        #expect(try gallery.ask("GET", asset).body.contains("\"sha1\":\"\(Self.sha1(data))\""))
      }
    }

    @Test("an invalid or too long list of hashes is rejected")
    func malformed() async throws {
      try await TestGallery.serving { gallery in
        let many = [String](repeating: String(repeating: "0", count: 64), count: 1001)
        let bad: [[String: Any]] = [
          ["sha256": "a"], ["sha256": ["a"]], ["sha1": [String(repeating: "0", count: 64)]], ["md5": [String]()],
          ["sha256": many], ["sha1": [String(repeating: "g", count: 40)]], ["sha1": [3]],
        ]
        for json in bad {
          let answer = try gallery.ask("POST", "/v1/uploads:check", json: json)
          #expect(answer.status == 400, "\(json): \(answer)")
        }
      }
    }
  }
#endif
