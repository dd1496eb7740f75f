#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite("Cached answers")
  struct HeldAnswerTests {
    private static func answer(_ text: String) -> EncodedAnswers.Answer {
      EncodedAnswers.Answer(tag: "\"\(text)\"", bytes: bytes(Array(text.utf8)))
    }

    private static func bytes(_ bytes: [UInt8]) -> HTTPBytes { bytes.withUnsafeBytes { HTTPBytes(copying: $0) } }

    private static func question(
      _ client: String, commit: UInt64 = 1, fetch: String = "f", form: EncodedAnswers.Form = .sections("month")
    ) -> EncodedAnswers.Question {
      EncodedAnswers.Question(
        client: client.exact, fetch: fetch, token: Token(library: 1, commit: commit), form: form)
    }

    @Test("an encoded answer is given only to its client, for its token, at its head of the log")
    func encoded() {
      let encoded = EncodedAnswers(byteLimit: 1000)
      encoded.keep(Self.answer("a"), of: Self.question("one"), at: 5)
      #expect(encoded.answer(Self.question("one"), at: 5)?.bytes.withUnsafeBytes { Array($0) } == Array("a".utf8))
      #expect(encoded.answer(Self.question("one"), at: 6) == nil)
      #expect(encoded.answer(Self.question("two"), at: 5) == nil)
      #expect(encoded.answer(Self.question("one", commit: 2), at: 5) == nil)
      for form in [EncodedAnswers.Form.sections("day"), .window(start: 0, count: 1)] {
        #expect(encoded.answer(Self.question("one", form: form), at: 5) == nil)
      }
      encoded.keep(Self.answer("bb"), of: Self.question("one"), at: 6)
      #expect(encoded.answer(Self.question("one"), at: 5) == nil)
      #expect(encoded.byteCount == 2 + Self.question("one").byteCount)
      #expect(encoded.answer(Self.question("one"), at: 6, renditions: 1) == nil)
      encoded.keep(Self.answer("c"), of: Self.question("one"), at: 6, renditions: 1)
      #expect(encoded.answer(Self.question("one"), at: 6, renditions: 1)?.tag == "\"c\"")
      #expect(encoded.answer(Self.question("one"), at: 6) == nil)
      #expect(encoded.byteCount == 1 + Self.question("one").byteCount)
    }

    @Test("short answers to long requests are bounded in bytes")
    func longQuestions() {
      let encoded = EncodedAnswers(byteLimit: 10_000)
      let questions = (10..<60).map { Self.question("one", fetch: String(repeating: "\($0)", count: 1000)) }
      for question in questions { encoded.keep(Self.answer("ten bytes."), of: question, at: 1) }
      let kept = questions.count { encoded.answer($0, at: 1) != nil }
      #expect((1...5).contains(kept) && encoded.byteCount <= encoded.byteLimit, "\(kept)")
    }

    @Test("encoded answers are bounded in bytes")
    func bounded() {
      let encoded = EncodedAnswers(byteLimit: 1 << 20)
      let zeros = [UInt8](repeating: 0, count: encoded.byteLimit / 8)
      let large = EncodedAnswers.Answer(tag: "", bytes: Self.bytes(zeros))
      for client in 0..<20 {
        encoded.keep(large, of: Self.question("\(client)"), at: 1)
        #expect(encoded.byteCount <= encoded.byteLimit)
        #expect(encoded.answer(Self.question("\(client)"), at: 1) != nil)
      }
      let larger = EncodedAnswers.Answer(tag: "", bytes: Self.bytes(zeros + [0]))
      encoded.keep(larger, of: Self.question("larger"), at: 1)
      #expect(encoded.answer(Self.question("larger"), at: 1) == nil)
    }

    @Test("sections are those of their token before and after a commit, kept or not")
    func sections() async throws {
      try await TestGallery.serving { gallery in
        try await gallery.makeAssets(70)
        let fetch = try gallery.fetch(["sort": ["creationDate:asc"]])
        let target = "/v1/fetches/\(fetch.name)/sections?by=month&token="
        let first = try gallery.ask("GET", target + fetch.token)
        #expect(first.status == 200 && gallery.server.encoded.byteCount > 0)
        let second = try gallery.ask("GET", target + fetch.token)
        #expect(second.body == first.body && second.fields["etag"] == first.fields["etag"])
        let tag = try #require(first.fields["etag"])
        #expect(try gallery.ask("GET", target + fetch.token, ["If-None-Match: \(tag)"]).status == 304)
        try await gallery.makeAssets(5, from: 70)
        #expect(try gallery.ask("GET", target + fetch.token).body == first.body)
        let now = try gallery.fetch(["sort": ["creationDate:asc"]])
        let later = try gallery.ask("GET", target + now.token)
        func count(_ answer: Answer) throws -> Int {
          let sections = try #require(try answer.json()["sections"] as? [[String: Any]])
          return sections.reduce(0) { $0 + ($1["count"] as? Int ?? 0) }
        }
        #expect(try count(first) == 70 && count(later) == 75)
        // Another by, and another zone, are other answers.
        let years = "/v1/fetches/\(fetch.name)/sections?by=year&token=\(fetch.token)"
        #expect(try gallery.ask("GET", years).body != first.body)
      }
    }

    @Test("a window that names two states is rejected, held or not", arguments: ["objects", "columns"])
    func twoStates(_ form: String) async throws {
      try await TestGallery.serving { gallery in
        try await gallery.makeAssets(3)
        let fetch = try gallery.fetch()
        let window = "/v1/fetches/\(fetch.name)/items?form=\(form)&count=10&token=\(fetch.token)"
        for _ in 0..<3 { #expect(try gallery.ask("GET", window).status == 200) }
        for at in ["2020-01-01", "never"] { #expect(try gallery.ask("GET", "\(window)&at=\(at)").status == 400) }
      }
    }

    @Test("windows are those of their token before and after a commit, kept or not, and each range is its own")
    func windows() async throws {
      try await TestGallery.serving { gallery in
        let assets = try await gallery.makeAssets(20)
        let fetch = try gallery.fetch(["sort": ["creationDate:asc"]])
        let target = "/v1/fetches/\(fetch.name)/items?form=columns&start=5&count=10&token="
        let first = try gallery.ask("GET", target + fetch.token)
        #expect(first.status == 200 && gallery.server.windows.byteCount == 0, "a page scrolls by and does not return")
        for _ in 0..<2 {
          let again = try gallery.ask("GET", target + fetch.token)
          #expect(again.body == first.body && again.fields["etag"] == first.fields["etag"])
          #expect(gallery.server.windows.byteCount == first.body.utf8.count + fetch.name.utf8.count + 256)
        }
        let tag = try #require(first.fields["etag"])
        #expect(try gallery.ask("GET", target + fetch.token, ["If-None-Match: \(tag)"]).status == 304)
        let other = try gallery.ask("GET", target.replacing("start=5", with: "start=6") + fetch.token)
        #expect(try (other.json()["columns"] as? [String: [Any]])?["localIdentifier"]?.count == 10)
        #expect(other.body != first.body)
        try await gallery.library.performChanges { $0.setFavorite(true, for: [assets[7]]) }
        #expect(try gallery.ask("GET", target + fetch.token).body == first.body)
        let now = try gallery.fetch(["sort": ["creationDate:asc"]])
        let later = try gallery.ask("GET", target + now.token)
        let favorites = try #require((try later.json()["columns"] as? [String: [Any]])?["isFavorite"] as? [Bool])
        #expect(favorites == (5..<15).map { $0 == 7 })
        // The same with a state that `at` names, and as objects.
        let at = try gallery.ask("GET", target.replacing("token=", with: "at=") + now.token)
        #expect(at.body == later.body)
        let objects = try gallery.ask("GET", target.replacing("form=columns&", with: "") + now.token)
        #expect(try (objects.json()["items"] as? [Any])?.count == 10)
      }
    }

    @Test("a window beyond the read part of a result is answered by a task, and then on the connection's thread")
    func begun() async throws {
      try await TestGallery.serving { gallery in
        try await gallery.makeAssets(20)
        let fetch = try gallery.fetch(["sort": ["creationDate:asc"]])
        func window(_ start: Int) -> String {
          "/v1/fetches/\(fetch.name)/items?form=columns&start=\(start)&count=2&token=\(fetch.token)"
        }
        #expect(try Self.isAtOnce(window(0), gallery) && !Self.isAtOnce(window(10), gallery))
        #expect(try gallery.ask("GET", window(10)).status == 200)
        #expect(try Self.isAtOnce(window(10), gallery))
      }
    }

    /// Whether a request is answered with 200 on the thread of its connection.
    private static func isAtOnce(_ target: String, _ gallery: TestGallery) throws -> Bool {
      let fields: HTTPFields = [("Authorization", "Bearer \(gallery.owner)")]
      let plan = gallery.server.plan(HTTPRequest(method: "GET", target: try HTTPTarget(target), fields: fields))
      if case .answer(let response) = plan { return response.status == 200 }
      return false
    }

    @Test("a window whose columns need a cache of renditions that is not open is answered by a task, which opens it")
    func unopenedCache() async throws {
      try await TestGallery.serving { gallery in
        try await gallery.makeAssets(5)
        let folder = gallery.temporary.url.appending(path: "renditions")
        for isThere in [false, true] {
          if isThere { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
          try await gallery.restart()
          let fetch = try gallery.fetch(["sort": ["creationDate:asc"]])
          let path = "/v1/fetches/\(fetch.name)/items?start=0&count=2&token=\(fetch.token)"
          let columns = path + "&form=columns"
          #expect(try Self.isAtOnce(path, gallery) && Self.isAtOnce(columns, gallery) == !isThere)
          #expect(try gallery.ask("GET", columns).status == 200)
          #expect(try Self.isAtOnce(columns, gallery))
          #expect(FileManager.default.fileExists(atPath: folder.path) == isThere)
        }
      }
    }

    @Test("a denied client gets no cached sections or windows on its next request, and none of another client")
    func denied() async throws {
      try await TestGallery.serving { gallery in
        let assets = try await gallery.makeAssets(10)
        let key = try gallery.key(of: "app")
        try await gallery.allow(.all)
        let fetch = try gallery.fetch(["sort": ["creationDate"]], key: key.secret)
        let own = "/v1/fetches/\(fetch.name)/sections?by=year&token=\(fetch.token)"
        let window = "/v1/fetches/\(fetch.name)/items?form=columns&token=\(fetch.token)"
        for _ in 0..<2 { #expect(try gallery.ask("GET", window, key: key.secret).status == 200) }
        #expect(gallery.server.windows.byteCount > 0)
        let full = try gallery.ask("GET", own, key: key.secret)
        #expect(try gallery.ask("GET", own, key: key.secret).body == full.body)
        try await gallery.allow(.selected, assets[0])
        let narrow = try gallery.fetch(["sort": ["creationDate"]], key: key.secret)
        let sections = "/v1/fetches/\(narrow.name)/sections?by=year&token=\(narrow.token)"
        for _ in 0..<2 {
          let answer = try gallery.ask("GET", sections, key: key.secret)
          let years = try #require(try answer.json()["sections"] as? [[String: Any]], "\(answer.status) \(answer.body)")
          #expect(years.map { $0["count"] as? Int } == [1])
        }
        try await gallery.allow(.nothing)
        for target in [own, window, sections, "/v1/assets/\(assets[0].uuidString)"] {
          #expect(try gallery.ask("GET", target, key: key.secret).status == 403)
        }
      }
    }

    @Test("a client with reduced access gets from a held fetch what it saw then, and nothing newer")
    func lowered() async throws {
      try await TestGallery.serving { gallery in
        let assets = try await gallery.makeAssets(6)
        let key = try gallery.key(of: "app").secret
        try await gallery.allow(.all)
        let fetch = try gallery.fetch(["sort": ["creationDate"]], key: key)
        let forms = [
          "?", "/items?form=columns&", "/items?form=columns&count=600&", "/sections?by=year&", "/shapes?",
          "/index?asset=\(assets[3].uuidString)&",
        ]
        func answers(at token: String) throws -> [String] {
          try forms.map { form in
            let target = "/v1/fetches/\(fetch.name)\(form)token=\(token)"
            // The second time it is kept, where it is, and the third time that is what is answered.
            for _ in 0..<2 { _ = try gallery.ask("GET", target, key: key) }
            let answer = try gallery.ask("GET", target, key: key)
            return "\(form) \(answer.status) \(answer.fields["etag"] ?? "") \(answer.body)"
          }
        }
        let full = try answers(at: fetch.token)
        try await gallery.allow(.selected, assets[0])
        let narrow = try gallery.fetch(["sort": ["creationDate"]], key: key)
        #expect(narrow.count == 1)
        let (lowered, selected) = (try answers(at: fetch.token), try answers(at: narrow.token))
        // What happens to the assets that it does not see any more.
        try await gallery.library.performChanges { change in
          var changes = AssetChanges()
          changes.creationDate = .set(Date(timeIntervalSince1970: 4_000_000_000))
          change.edit([assets[1], assets[2]], changes)
          change.setFavorite(true, for: [assets[3]])
          change.deleteAssets([assets[4]])
          change.album(change.createAlbum(title: "Sea")).add([assets[1], assets[5]])
        }
        try await gallery.makeAssets(2, from: 20)
        #expect(try answers(at: fetch.token) == lowered)
        #expect(try answers(at: narrow.token) == selected)
        // A server that holds no fetch answers the same: nothing is shown because it was held.
        try await gallery.restart()
        #expect(try answers(at: fetch.token) == lowered)
        #expect(try answers(at: narrow.token) == selected)
        #expect(full[0] == lowered[0] && selected[1] != full[1])
        for asset in assets.dropFirst() {
          let objects = "/v1/fetches/\(narrow.name)/items?token=\(narrow.token)"
          #expect(try !gallery.ask("GET", objects, key: key).body.contains(asset.uuidString))
          #expect(try gallery.ask("GET", "/v1/assets/\(asset.uuidString)", key: key).status == 404)
        }
      }
    }

    @Test("a key that is withdrawn is refused on the very next request of an open connection")
    func withdrawn() async throws {
      try await TestGallery.serving { gallery in
        let asset = try await gallery.makeAssets(1)[0]
        let key = try gallery.key(of: PhotoLibrary.owner)
        let client = try RawClient(port: gallery.address.port)
        let head = try gallery.head("GET", "/v1/assets/\(asset.uuidString)", key: key.secret)
        for _ in 0..<3 {
          client.send(head)
          #expect(client.read(through: "\"albums\":[]}").hasPrefix("HTTP/1.1 200"))
        }
        #expect(try gallery.ask("DELETE", "/v1/keys/\(key.name)").status == 204)
        client.send(head)
        #expect(client.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 401"))
      }
    }

    @Test("each request of a key is charged, including those that are answered at once")
    func charged() async throws {
      var access = GalleryAccess()
      (access.limits.keyBurst, access.limits.keyPerSecond) = (5, 0.001)
      try await TestGallery.serving(access: access) { gallery in
        let asset = try await gallery.makeAssets(1)[0]
        try await gallery.allow(.all)
        let key = try gallery.key(of: "app")
        let statuses = try (0..<7).map { _ in
          try gallery.ask("GET", "/v1/assets/\(asset.uuidString)", key: key.secret).status
        }
        #expect(statuses == [200, 200, 200, 200, 200, 429, 429])
      }
    }

    @Test(
      "an asset in an immediate answer is what the view of the same state shows",
      arguments: [Access.all, .selected, .nothing])
    private func shown(_ access: Access) async throws {
      try await TestGallery.serving { gallery in
        let assets = try await gallery.makeAssets(4)
        try await gallery.library.performChanges { change in
          for title in ["Sea", "Hills"] {
            let album = change.createAlbum(title: title)
            change.album(album).add(Array(assets.prefix(2)))
          }
          change.setFavorite(true, for: [assets[1]])
        }
        let key = try gallery.key(of: "app")
        try await gallery.allow(access, assets[0])
        let token = try gallery.library.as("app").currentToken
        for asset in assets {
          let now = try gallery.ask("GET", "/v1/assets/\(asset.uuidString)", key: key.secret)
          let view = try gallery.ask("GET", "/v1/assets/\(asset.uuidString)?at=\(token)", key: key.secret)
          #expect(now.body == view.body && now.status == view.status)
          let isSeen = access == .all || access == .selected && asset == assets[0]
          #expect(now.status == (isSeen ? 200 : access == .nothing ? 403 : 404))
        }
        let albums = try gallery.ask("GET", "/v1/assets/\(assets[0].uuidString)").json()["albums"] as? [String]
        #expect(albums?.count == 2)
      }
    }

  }

  private enum Access { case all, selected, nothing }

  extension TestGallery {
    /// Sets what the client `app` may see.
    fileprivate func allow(_ access: Access, _ asset: LocalIdentifier? = nil) async throws {
      try await library.performChanges { change in
        switch access {
        case .all: change.setAuthorizationStatus(.authorized, of: "app")
        case .selected:
          change.setAuthorizationStatus(.limited, of: "app")
          change.grant([asset].compactMap(\.self), to: "app")
        case .nothing: change.setAuthorizationStatus(.denied, of: "app")
        }
      }
    }
  }
#endif
