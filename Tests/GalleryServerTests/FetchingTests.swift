#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import JSONReading
  import LibraryAudit
  import LibraryJSON
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite("Fetches over HTTP, as of a state and by kind")
  struct FetchingTests {
    @Test("a fetch, its windows and sections are as of a token, an event, an instant or a day")
    func moments() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(4)
        let then = try gallery.library.currentToken
        var commit: (sequence: UInt64, date: Date)?
        try gallery.library.forEachLogEntry(LogFilter(), newestFirst: true) { entry in
          commit = (entry.sequence, entry.commit.date)
          return false
        }
        let (sequence, date) = try #require(commit)
        try await gallery.makeAssets(3, from: 10)
        try await gallery.library.performChanges { $0.deleteAssets([ids[0]]) }
        let now = try gallery.fetch(["sort": ["creationDate"]])
        #expect(now.count == 6)
        let instant = DateText.instant(date).replacing("+", with: "%2B")
        for at in ["\(then)", "\(sequence)", instant] {
          let made = try gallery.ask("POST", "/v1/fetches?at=\(at)", json: ["sort": ["creationDate"]])
          #expect(try made.json()["token"] as? String == then.description, "\(at) \(made)")
          let path = "/v1/fetches/\(now.name)"
          #expect(try gallery.ask("GET", "\(path)?at=\(at)").json()["count"] as? Int == 4)
          let window = try gallery.ask("GET", "\(path)/items?form=columns&at=\(at)").json()
          #expect(window["total"] as? Int == 4 && window["token"] as? String == then.description)
          let sections = try gallery.ask("GET", "\(path)/sections?at=\(at)").json()["sections"] as? [[String: Any]]
          #expect(sections?.compactMap { $0["count"] as? Int } == [4])
          let asset = try gallery.ask("GET", "/v1/assets/\(ids[0].uuidString)?at=\(at)").json()
          #expect(asset["trashedDate"] is NSNull)
        }
        let day = try gallery.ask("GET", "/v1/fetches/\(now.name)?at=3000-01-01").json()
        #expect(day["token"] as? String == now.token && day["count"] as? Int == 6)
        #expect(try gallery.ask("GET", "/v1/fetches/\(now.name)?at=1969-01-01").json()["count"] as? Int == 0)
        #expect(try gallery.ask("GET", "/v1/assets/\(ids[0].uuidString)?at=0").status == 404)
        let cursor = try FeedCursor(try #require(day["cursor"] as? String))
        #expect(cursor.tokens.map(\.token?.description) == [now.token])
      }
    }

    @Test("held results are bounded by their bytes; of the client that holds most the oldest goes first")
    func heldBytes() async throws {
      let temporary = try TemporaryLibrary()
      try await temporary.library.performChanges { change in
        for seed in 0..<10 { _ = change.createAsset(.invented(seed)) }
      }
      let result = try temporary.library.fetchAssets()
      func fetch(_ limit: Int64) throws -> FetchRequest { try FetchRequest(["limit": .integer(limit)]) }
      let size = Fetches.byteCount(of: result.count, try fetch(10))
      #expect(result.count == 10 && size == 160)
      let sorted = try FetchRequest(["sort": ["duration", "pixelWidth"]])
      #expect(Fetches.byteCount(of: 10, sorted) > 2 * size)
      let fetches = Fetches(byteLimit: 4 * size)
      fetches.hold(result, of: try fetch(10), for: "quiet")
      for limit in 10..<30 { fetches.hold(result, of: try fetch(Int64(limit)), for: "busy") }
      #expect(try fetches.count == 4 && fetches.held(fetch(10), at: result.token, for: "quiet") != nil)
      for limit in 10..<30 {
        let isHeld = try fetches.held(fetch(Int64(limit)), at: result.token, for: "busy") != nil
        #expect(isHeld == (limit >= 27), "\(limit)")
      }
      // A result with a limit keeps the keys of all that it could show.
      var options = FetchOptions()
      options.fetchLimit = 1
      let first = try temporary.library.fetchAssets(options)
      let limited = Fetches(byteLimit: 2 * size)
      for limit in 1...3 { limited.hold(first, of: try fetch(Int64(limit)), for: "busy") }
      #expect(first.count == 1 && limited.count == 2)
      // One that is larger than the bound is held alone.
      let small = Fetches(byteLimit: size - 1)
      for limit in 10..<13 { small.hold(result, of: try fetch(Int64(limit)), for: "busy") }
      #expect(try small.count == 1 && small.held(fetch(12), at: result.token, for: "busy") != nil)
    }

    @Test("another Unicode spelling of a name is not a name, whether or not the name was read before")
    func spellings() throws {
      // As base64, three of these are "KCgo".
      let name = try FetchRequest(["search": "((((("]).name
      // The sign for kelvin, whose canonical form is the letter.
      let other = name.replacing("K", with: "\u{212A}")
      try #require(other == name && other.utf8.count > name.utf8.count)
      let fetches = Fetches()
      #expect(throws: Problem.self) { try fetches.request(named: other) }
      for _ in 0..<2 { #expect(try fetches.request(named: name).name.utf8.elementsEqual(name.utf8)) }
      #expect(throws: Problem.self) { try fetches.request(named: other) }
    }

    @Test("a block stacks and unstacks; fetches show the top, and all of it when asked; a limited client sees no stack")
    func stacks() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(3).map(\.uuidString)
        try await gallery.library.performChanges { change in
          change.setAuthorizationStatus(.limited, of: "app")
          change.grant(ids.dropFirst().compactMap { LocalIdentifier($0) }, to: "app")
        }
        let app = try gallery.key(of: "app").secret
        let stack: [String: Any] = ["op": "asset.stack", "top": ids[0], "assets": [ids[1]]]
        #expect(try gallery.ask("POST", "/v1/blocks", json: ["changes": [stack]], key: app).status == 403)
        #expect(try gallery.ask("POST", "/v1/blocks", json: ["changes": [stack]]).status == 200)
        #expect(try gallery.fetch([:]).count == 2)
        #expect(try gallery.fetch(["allStacks": true]).count == 3)
        #expect(try gallery.fetch(["allStacks": true, "where": "isBeneathStack == YES"]).count == 1)
        func stacked(_ id: String, _ key: String) throws -> String? {
          try gallery.ask("GET", "/v1/assets/\(id)", key: key).json()["stack"] as? String
        }
        #expect(try stacked(ids[1], gallery.owner)?.hasPrefix(ids[0]) == true)
        #expect(try stacked(ids[1], app) == nil)
        let unstack: [String: Any] = ["op": "asset.unstack", "assets": [ids[1]]]
        #expect(try gallery.ask("POST", "/v1/blocks", json: ["changes": [unstack]], key: app).status == 403)
        #expect(try gallery.ask("POST", "/v1/blocks", json: ["changes": [unstack]]).status == 200)
        #expect(try gallery.fetch([:]).count == 3)
        #expect(try gallery.ask("POST", "/v1/fetches", json: ["allStacks": 1]).status == 400)
      }
    }

    @Test("a limited client looks back at what it saw, and names no event of the log")
    func limited() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(3)
        try await gallery.library.performChanges { change in
          change.setAuthorizationStatus(.limited, of: "app")
          change.grant([ids[0]], to: "app")
        }
        let app = try gallery.key(of: "app")
        let before = try gallery.fetch(key: app.secret)
        try await gallery.library.performChanges { $0.grant([ids[1]], to: "app") }
        let path = "/v1/fetches/\(before.name)"
        #expect(try gallery.ask("GET", path, key: app.secret).json()["count"] as? Int == 2)
        #expect(try gallery.ask("GET", "\(path)?at=\(before.token)", key: app.secret).json()["count"] as? Int == 1)
        let named = try ["1", "99999999"].map { try gallery.ask("GET", "\(path)?at=\($0)", key: app.secret) }
        #expect(named.map(\.status) == [403, 403] && named[0].body == named[1].body)
        let owner = try gallery.library.currentToken
        #expect(try gallery.ask("GET", "\(path)?at=\(owner)", key: app.secret).status == 400)
      }
    }

    @Test("media types and sources belong to the fetch and to its one name")
    func kinds() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(4)
        try await gallery.library.performChanges { change in
          for byte in [UInt8(1), 2] {
            let film = ResourceDraft(type: .video, source: .data(Data([byte])), originalFilename: "a.mov")
            change.createAsset(AssetCreation(mediaType: .video, resources: [film]))
          }
          change.setFavorite(true, for: [ids[1], ids[2]])
        }
        #expect(try gallery.fetch(["mediaTypes": ["video"]]).count == 2)
        #expect(try gallery.fetch(["mediaTypes": ["image"]]).count == 4)
        #expect(try gallery.fetch(["mediaTypes": ["audio"]]).count == 0)
        let both = try gallery.fetch(["mediaTypes": ["video", "image", "video"]])
        #expect(both.count == 6)
        #expect(try gallery.fetch(["mediaTypes": ["image", "video"]]).name == both.name)
        // The predicate is a whole, whatever stands in it.
        let either = ["where": "isFavorite == YES OR isFavorite == NO", "mediaTypes": ["video"]] as [String: Any]
        #expect(try gallery.fetch(either).count == 2)
        #expect(try gallery.fetch(["sources": ["userLibrary"]]).count == 6)
        #expect(try gallery.fetch(["sources": ["cloudShared"]]).count == 0)
        let name = Keyring.spelled(Array(#"{"mediaTypes":["video","image"]}"#.utf8))
        #expect(try gallery.ask("GET", "/v1/fetches/\(name)").status == 400, "another spelling is not a name")
      }
    }

    @Test("hidden assets, the trash, a limit and an offset are fetched as they are asked for")
    func visibility() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(7)
        try await gallery.library.performChanges { change in
          change.setHidden(true, for: [ids[1], ids[2]])
          change.deleteAssets([ids[2], ids[3]])
        }
        func listed(_ json: [String: Any]) throws -> [Int] {
          let fetch = try gallery.fetch(json.merging(["sort": ["creationDate"]]) { $1 })
          let found = try gallery.identifiers(fetch.name, at: fetch.token)
          #expect(fetch.count == found.count)
          let places = Dictionary(uniqueKeysWithValues: ids.enumerated().map { ($1.spelled(as: .asset), $0) })
          return try found.map { try #require(places[$0]) }
        }
        #expect(try listed([:]) == [0, 4, 5, 6])
        #expect(try listed(["hidden": false, "trash": false, "limit": 0]) == [0, 4, 5, 6])
        #expect(try listed(["hidden": true]) == [0, 1, 4, 5, 6])
        // What was thrown away is found there, hidden or not.
        #expect(try listed(["trash": true]) == [2, 3])
        #expect(try listed(["trash": true, "hidden": true]) == [2, 3])
        #expect(try listed(["limit": 3]) == [0, 4, 5])
        #expect(try listed(["limit": 2, "offset": 1, "hidden": true]) == [1, 4])
        #expect(try listed(["limit": 1, "trash": true]) == [2])
        #expect(try listed(["limit": 9, "offset": 4]) == [])
        for wrong: [String: Any] in [["hidden": 1], ["trash": "yes"], ["limit": -1], ["limit": 1.5], ["offset": "1"]] {
          #expect(try gallery.ask("POST", "/v1/fetches", json: wrong).status == 400, "\(wrong)")
        }
      }
    }

    @Test("only the owner may query file locations, since no answer reveals them to another client")
    func paths() async throws {
      try await TestGallery.serving { gallery in
        _ = try await gallery.makeAssets(1)
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "app") }
        let app = try gallery.key(of: "app")
        let body = ["where": "isFavorite == YES OR NOT path BEGINSWITH '/'"]
        #expect(try gallery.ask("POST", "/v1/fetches", json: body).status == 201)
        #expect(try gallery.ask("POST", "/v1/fetches", json: body, key: app.secret).status == 400)
      }
    }

    @Test("as lines a fetch returns all its assets at one state, whatever happens meanwhile")
    func lines() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(230)
        let fetch = try gallery.fetch(["sort": ["creationDate"]])
        let path = "/v1/fetches/\(fetch.name)/items?token=\(fetch.token)"
        func wanted(_ range: Range<Int>) throws -> [String] {
          try ids[range].map { id in
            let asset = try #require(try gallery.library.at(Token(fetch.token)).asset(id.uuidString))
            return try gallery.library.json(of: asset).description
          }
        }
        let all = try wanted(0..<230)
        try await gallery.library.performChanges { $0.deleteAssets([ids[200]]) }
        #expect(try gallery.lines(path) == all)
        #expect(try gallery.lines("\(path)&start=100") == Array(all[100...]))
        #expect(try gallery.lines("\(path)&start=100&count=3") == Array(all[100..<103]))
        #expect(try gallery.lines("\(path)&start=9223372036854775807").isEmpty)
        let accept = ["Accept: application/x-ndjson"]
        #expect(try gallery.ask("GET", "\(path)&form=columns", accept).status == 400)
        #expect(try gallery.ask("HEAD", path, accept).status == 200)
      }
    }

    @Test("sections and counts are not sent again to a client that holds them")
    func tags() async throws {
      try await TestGallery.serving { gallery in
        try await gallery.makeAssets(40)
        let fetch = try gallery.fetch(["sort": ["creationDate"]])
        let path = "/v1/fetches/\(fetch.name)"
        var tags: Set<String> = []
        for query in ["/sections?by=month", "/sections?by=day", "/sections?timeZone=Asia/Tokyo", ""] {
          let target = path + query
          let first = try gallery.ask("GET", target)
          let tag = try #require(first.fields["etag"])
          #expect(tags.insert(tag).inserted)
          for field in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
            let again = try gallery.ask("GET", target, ["If-None-Match: \(field)"])
            #expect(again.status == 304 && again.body.isEmpty && again.fields["etag"] == tag)
          }
          #expect(try gallery.ask("GET", target, ["If-None-Match: \"other\""]).status == 200)
        }
        try await gallery.makeAssets(1, from: 100)
        let tag = try #require(tags.first { $0.hasSuffix("-month-GMT\"") })
        #expect(try gallery.ask("GET", "\(path)/sections?by=month", ["If-None-Match: \(tag)"]).status == 200)
      }
    }
  }
#endif
