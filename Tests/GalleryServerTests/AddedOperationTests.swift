#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite("Reverse history, positions of a state, and new links")
  struct AddedOperationTests {
    /// All records of a history, page by page.
    private func records(_ gallery: TestGallery, _ query: String, _ limit: Int, key: String) throws -> [String] {
      var (records, next) = ([String](), String?.none)
      let isReverse = query.contains("reverse")
      while true {
        let cursor = next.map { isReverse ? "&cursor=\($0)" : "&since=\($0)" } ?? ""
        let base =
          isReverse || next == nil ? query : query.split(separator: "&").filter { !$0.hasPrefix("since") }.joined()
        let answer = try gallery.ask(
          "GET", "/v1/history?limit=\(limit)\(base.isEmpty ? "" : "&\(base)")\(cursor)", key: key)
        try #require(answer.status == 200, "\(answer)")
        let json = try answer.json()
        for record in try #require(json["records"] as? [Any]) {
          records.append(
            String(decoding: try JSONSerialization.data(withJSONObject: record, options: .sortedKeys), as: UTF8.self))
        }
        guard let found = json["next"] as? String else { return records }
        next = found
      }
    }

    @Test(
      "a history in reverse is the history, whatever the page size, for every client",
      arguments: 0..<UInt64(Dose.of(3)))
    func reversed(_ seed: UInt64) async throws {
      try await TestGallery.serving(seed: seed) { gallery in
        var random = SeededGenerator(seed: seed)
        let ids = try await gallery.makeAssets(6)
        try await gallery.library.performChanges { change in
          change.setAuthorizationStatus(.limited, of: "app")
          change.setAuthorizationStatus(.authorized, of: "full")
        }
        var tokens: [Token] = []
        for step in 0..<25 {
          let picked = Array(ids.shuffled(using: &random).prefix(2))
          let flag = Bool.random(using: &random)
          try await gallery.library.performChanges { change in
            switch step % 5 {
            case 0: change.grant(picked, to: "app")
            case 1: change.withdraw(picked, from: "app")
            case 2: change.setHidden(flag, for: picked)
            default: change.setFavorite(flag, for: picked)
            }
          }
          tokens.append(try gallery.library.currentToken)
        }
        let keys = [gallery.owner, try gallery.key(of: "app").secret, try gallery.key(of: "full").secret]
        for (index, key) in keys.enumerated() {
          let forward = try records(gallery, "", 1000, key: key)
          #expect(forward.count > 5)
          for limit in [1, 3, 1000] {
            #expect(try records(gallery, "reverse=true", limit, key: key) == forward.reversed(), "client \(index)")
          }
          guard index == 0 else { continue }
          let since = tokens[Int.random(in: 0..<tokens.count, using: &random)]
          let later = try records(gallery, "since=\(since)", 1000, key: key)
          #expect(try records(gallery, "reverse=true&since=\(since)", 4, key: key) == later.reversed())
        }
        let lines = try gallery.ask("GET", "/v1/history?reverse=true", ["Accept: application/x-ndjson"])
        #expect(lines.body.split(separator: "\n").count == (try records(gallery, "", 1000, key: gallery.owner)).count)
        #expect(try gallery.ask("GET", "/v1/history?cursor=\(tokens[0])").status == 400)
      }
    }

    @Test(
      "positions that were counted at a token refer to the members at that token, whatever happened since",
      arguments: 0..<UInt64(Dose.of(4)))
    func positions(_ seed: UInt64) async throws {
      try await TestGallery.serving(seed: seed) { gallery in
        var random = SeededGenerator(seed: seed)
        let ids = try await gallery.makeAssets(8)
        var album: LocalIdentifier?
        try await gallery.library.performChanges { change in
          let made = change.createAlbum(title: "Sea")
          change.album(made).add(ids)
          album = made
        }
        let name = try #require(album).spelled(as: .album)
        func members() throws -> [String] {
          let fetch = try gallery.fetch(["album": name])
          return try gallery.identifiers(fetch.name, at: fetch.token)
        }
        for _ in 0..<6 {
          let (before, token) = (try members(), try gallery.library.currentToken)
          guard before.count > 3 else { break }
          let index = Int.random(in: 0..<before.count, using: &random)
          let destination = Int.random(in: 0..<before.count, using: &random)
          // Somebody else rearranges the album meanwhile.
          try await gallery.library.performChanges { change in
            guard let album else { return }
            change.album(album).move(at: [before.count - 1], to: 0)
            change.album(album).remove(at: [1 + Int.random(in: 0..<2, using: &random)])
          }
          let meanwhile = try members()
          let operation: [String: Any] = [
            "op": "album.moveAt", "album": name, "indexes": [index], "to": destination, "token": token.description,
          ]
          let answer = try gallery.ask("POST", "/v1/blocks", json: ["changes": [operation]])
          guard meanwhile.contains(before[index]) else {
            // What was to be moved is gone.
            #expect(answer.status == 200 || answer.status == 400, "\(answer)")
            continue
          }
          #expect(answer.status == 200, "\(answer)")
          let after = try members()
          #expect(Set(after) == Set(meanwhile))
          // The others keep their order, and the moved one stands before the next of those that followed it then.
          #expect(after.filter { $0 != before[index] } == meanwhile.filter { $0 != before[index] })
        }
        let wrong = ["op": "album.moveAt", "album": name, "indexes": [0], "to": 0, "token": "x"] as [String: Any]
        #expect(try gallery.ask("POST", "/v1/blocks", json: ["changes": [wrong]]).status == 400)
        let early = try gallery.library.earliestToken.description
        let unborn = ["op": "album.removeAt", "album": name, "indexes": [0], "token": early] as [String: Any]
        #expect(try gallery.ask("POST", "/v1/blocks", json: ["changes": [unborn]]).status == 404)
        let idle = ["op": "album.add", "album": name, "assets": [ids[0].uuidString], "token": early] as [String: Any]
        #expect(try gallery.ask("POST", "/v1/blocks", json: ["changes": [idle]]).status == 400)
      }
    }

    @Test(
      "a move with an expectation moves what its client saw, or is rejected as a conflict and moves nothing",
      arguments: 0..<UInt64(Dose.of(4)))
    func expectations(_ seed: UInt64) async throws {
      try await TestGallery.serving(seed: seed) { gallery in
        var random = SeededGenerator(seed: seed)
        let ids = try await gallery.makeAssets(8)
        var made: LocalIdentifier?
        try await gallery.library.performChanges { change in
          let new = change.createAlbum(title: "Sea")
          change.album(new).add(ids)
          made = new
        }
        let album = try #require(made)
        let name = album.spelled(as: .album)
        func members() throws -> [String] {
          let fetch = try gallery.fetch(["album": name])
          return try gallery.identifiers(fetch.name, at: fetch.token)
        }
        var (moves, conflicts) = (0, 0)
        for _ in 0..<12 {
          let seen = try members()
          let index = Int.random(in: 0..<seen.count, using: &random)
          let destination = Int.random(in: 0..<seen.count, using: &random)
          var rest = seen
          rest.remove(at: index)
          let next: Any = destination < rest.count ? rest[destination] : NSNull()
          // Somebody else may move something meanwhile.
          if Bool.random(using: &random) {
            let (from, to) = (Int.random(in: 0..<8, using: &random), Int.random(in: 0..<8, using: &random))
            try await gallery.library.performChanges { $0.album(album).move(at: [from], to: to) }
          }
          let meanwhile = try members()
          let operation: [String: Any] = [
            "op": "album.moveAt", "album": name, "indexes": [index], "to": destination,
            "expectedMembers": [seen[index]], "expectedNext": next,
          ]
          let answer = try gallery.ask("POST", "/v1/blocks", json: ["changes": [operation]])
          if answer.status == 409 {
            conflicts += 1
            let (type, detail) = (try answer.json()["type"] as? String, try answer.json()["detail"] as? String)
            #expect(type == "urn:photoledger:problem:conflict" && detail?.contains("was expected") == true)
            #expect(try members() == meanwhile && meanwhile != seen)
            continue
          }
          moves += 1
          #expect(answer.status == 200, "\(answer)")
          var wanted = meanwhile.filter { $0 != seen[index] }
          wanted.insert(seen[index], at: (next as? String).flatMap(wanted.firstIndex) ?? wanted.count)
          #expect(try members() == wanted)
        }
        #expect(moves > 0 && conflicts > 0, "\(moves) moves, \(conflicts) conflicts")
        // Beside a token, it is what stood there then.
        let (seen, token) = (try members(), try gallery.library.currentToken.description)
        try await gallery.library.performChanges { $0.album(album).move(at: [7], to: 0) }
        for (expected, status) in [(seen[6], 409), (seen[7], 200)] {
          let operation: [String: Any] = [
            "op": "album.moveAt", "album": name, "indexes": [7], "to": 1, "token": token, "expectedMembers": [expected],
            "expectedNext": seen[1],
          ]
          #expect(try gallery.ask("POST", "/v1/blocks", json: ["changes": [operation]]).status == status)
        }
        #expect(try members() == [seen[0], seen[7]] + seen[1..<7])
      }
    }

    @Test("the owner creates a link while the server runs; it signs in once, and for a quarter of an hour")
    func link() async throws {
      try await TestGallery.serving { gallery in
        let made = try gallery.ask("POST", "/v1/links", json: [:])
        #expect(made.status == 201 && made.fields["cache-control"] == "no-store")
        let (secret, url) = (
          try #require(try made.json()["link"] as? String), try #require(try made.json()["url"] as? String)
        )
        #expect(try gallery.ask("GET", url, key: nil).status == 303)
        #expect(try gallery.ask("POST", "/v1/sessions", json: ["link": secret], key: nil).status == 401)
        let late = try #require(try gallery.ask("POST", "/v1/links", json: [:]).json()["link"] as? String)
        gallery.clock.advance(by: 901)
        #expect(try gallery.ask("POST", "/v1/sessions", json: ["link": late], key: nil).status == 401)
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "app") }
        let app = try gallery.key(of: "app").secret
        #expect(try gallery.ask("POST", "/v1/links", json: [:], key: app).status == 403)
        #expect(try gallery.ask("POST", "/v1/links", json: ["client": "app"]).status == 400)
        let empty = ["Content-Type: application/json", "Content-Length: 0"]
        let bare = try gallery.ask("POST", "/v1/links", empty)
        #expect(bare.status == 400 && bare.body.contains("The body is not valid JSON"), "\(bare)")
      }
    }
  }
#endif
