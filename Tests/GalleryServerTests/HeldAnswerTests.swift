#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import PhotoLedger
  import Synchronization
  import TestSupport
  import Testing

  @Suite("Cached answers")
  struct HeldAnswerTests {
    private static func answer(_ text: String) -> EncodedAnswers.Answer {
      EncodedAnswers.Answer(tag: "\"\(text)\"", bytes: bytes(Array(text.utf8)))
    }

    private static func bytes(_ bytes: [UInt8]) -> HTTPBytes { bytes.withUnsafeBytes { HTTPBytes(copying: $0) } }

    private static func question(
      _ client: String, token: String = "t", fetch: String = "f"
    ) -> EncodedAnswers.Question {
      EncodedAnswers.Question(client: client.exact, fetch: fetch, token: token, form: "month")
    }

    @Test("an encoded answer is given only to its client, for its token, at its head of the log")
    func encoded() {
      let encoded = EncodedAnswers(byteLimit: 1000)
      encoded.keep(Self.answer("a"), of: Self.question("one"), at: 5)
      #expect(encoded.answer(Self.question("one"), at: 5)?.bytes.withUnsafeBytes { Array($0) } == Array("a".utf8))
      #expect(encoded.answer(Self.question("one"), at: 6) == nil)
      #expect(encoded.answer(Self.question("two"), at: 5) == nil)
      #expect(encoded.answer(Self.question("one", token: "u"), at: 5) == nil)
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

  @Suite("Open files")
  struct OpenFilesTests {
    private func withFile(_ body: (OpenFiles, String, TemporaryFolder) throws -> Void) throws {
      let folder = try TemporaryFolder()
      let path = folder.place("file").path
      try Data("bytes".utf8).write(to: URL(filePath: path))
      try body(OpenFiles(), path, folder)
    }

    @Test("a file is opened once for as long as it is unchanged")
    func kept() throws {
      try withFile { files, path, _ in
        let first = try files.file(path, size: 5)
        #expect(try files.file(path, size: 5) === first)
        #expect(throws: Problem.self) { try files.file(path, size: 6) }
      }
    }

    @Test("a file that was removed is missing on the next request, and is closed by a sweep")
    func removed() throws {
      try withFile { files, path, _ in
        _ = try files.file(path, size: 5)
        try FileManager.default.removeItem(atPath: path)
        #expect(files.count == 1)
        files.sweep()
        #expect(files.count == 0)
        #expect(throws: Problem.self) { try files.file(path, size: 5) }
      }
      try withFile { files, path, _ in
        _ = try files.file(path, size: 5)
        try FileManager.default.removeItem(atPath: path)
        #expect(throws: Problem.self) { try files.file(path, size: 5) }
        #expect(files.count == 0)
      }
    }

    @Test("a file that was replaced or truncated is not sent as it was")
    func replaced() throws {
      try withFile { files, path, folder in
        let first = try files.file(path, size: 5)
        let other = folder.place("other")
        try Data("BYTES".utf8).write(to: other)
        #expect(rename(other.path, path) == 0)
        #expect(try files.file(path, size: 5) !== first)
        #expect(truncate(path, 3) == 0)
        #expect(throws: Problem.self) { try files.file(path, size: 5) }
      }
    }

    @Test("a small file is sent again from memory while it is unchanged and requested under one name")
    func responses() throws {
      try withFile { files, path, folder in
        let request = HTTPRequest(method: "GET", target: try HTTPTarget("/"))
        func response(_ request: HTTPRequest, _ name: String = "a.jpg", isShown: Bool = true) throws -> HTTPResponse {
          let look = FileLook(tag: "t", contentType: "image/jpeg", name: name, isShown: isShown)
          return try FileAnswer(path: path, size: 5, look: look, files: files).response(request)
        }
        func made(_ name: String = "a.jpg", isShown: Bool = true) throws -> HTTPMadeResponse {
          guard case .made(let made) = try response(request, name, isShown: isShown).content else {
            throw POSIXError(.EINVAL)
          }
          return made
        }
        let first = try made()
        #expect(try made() === first && files.madeCount == 1)
        // What depends on the request is answered anew.
        let part = HTTPRequest(method: "GET", target: try HTTPTarget("/"), fields: [("Range", "bytes=1-2")])
        let known = HTTPRequest(method: "GET", target: try HTTPTarget("/"), fields: [("If-None-Match", "\"t\"")])
        let statuses = try [part, known].map { try response($0).status }
        #expect(statuses == [206, 304])
        let (named, saved) = (try made("b.jpg"), try made("b.jpg", isShown: false))
        #expect(named !== first && saved !== named)
        let last = try made()
        let other = folder.place("other")
        try Data("BYTES".utf8).write(to: other)
        #expect(rename(other.path, path) == 0)
        #expect(try made() !== last)
        try FileManager.default.removeItem(atPath: path)
        #expect(throws: Problem.self) { try made() }
        #expect(files.madeCount == 0)
      }
    }

    /// A clock of which each look is a tick of its own, unless it stands.
    private final class Ticks: Sendable {
      private let count = Atomic<UInt64>(1)
      private let stands: Bool
      init(stands: Bool = false) { self.stands = stands }

      func goesOn() { count.add(1, ordering: .relaxed) }

      var now: UInt64 {
        if !stands { goesOn() }
        return count.load(ordering: .relaxed)
      }
    }

    /// A response that a decision has, unless nothing keeps it any more.
    private struct Remembered { weak var response: HTTPMadeResponse? }

    /// The parts of heads: one that comes again is the same, as it is for a server.
    private final class Heads: Sendable {
      private let targets = Mutex<[String: HTTPTarget]>([:])
      private let fields = Mutex<[String: HTTPFields]>([:])

      func request(_ text: String, _ pairs: [(String, String)]) throws -> HTTPRequest {
        let target = try targets.withLock { targets in
          let target = try targets[text] ?? HTTPTarget(text)
          targets[text] = target
          return target
        }
        let fields = self.fields.withLock { fields in
          let spelled = pairs.map { "\($0.0): \($0.1)" }.joined(separator: "\n")
          let list = fields[spelled] ?? HTTPFields(pairs)
          fields[spelled] = list
          return list
        }
        return HTTPRequest(method: "GET", target: target, fields: fields)
      }
    }

    /// Asks for one file, of which nothing else than the test closes or forgets anything.
    private struct Asking {
      let gallery: TestGallery
      let files: OpenFiles
      let path: String
      private let heads = Heads()

      init(_ gallery: TestGallery, _ ticks: Ticks = Ticks()) throws {
        self.gallery = gallery
        files = OpenFiles { ticks.now }
        path = gallery.temporary.folder.place("a").path
        try Data("bytes".utf8).write(to: URL(filePath: path))
      }

      private func request(_ target: String, key: String?, _ fields: [(String, String)] = []) throws -> HTTPRequest {
        try heads.request(target, fields + [("authorization", "Bearer \(key ?? gallery.owner)")])
      }

      /// What was decided for a request of the owner.
      func remembered(_ target: String = "/a") throws -> Remembered {
        let request = try self.request(target, key: nil)
        return Remembered(
          response: try files.decided(request, gallery.server.keyring, in: gallery.library)?.response)
      }

      /// The key with which a request is answered as it was decided; nil if it has to be decided.
      func decidedKey(
        _ target: String = "/a", key: String? = nil, _ fields: [(String, String)] = []
      ) throws -> Keyring.Key? {
        try files.decided(try request(target, key: key, fields), gallery.server.keyring, in: gallery.library)?.key
      }

      /// Whether the answer to a request had to be decided.
      func decides(_ target: String = "/a", key: String? = nil, _ fields: [(String, String)] = []) throws -> Bool {
        let (request, keyring) = (try self.request(target, key: key, fields), gallery.server.keyring)
        if try files.decided(request, keyring, in: gallery.library) != nil { return false }
        let changeCount = keyring.changeCount
        let call = Call(
          request: request, parameters: [], key: try keyring.key(of: request), server: gallery.server,
          keyChangeCount: changeCount)
        var isDecided = false
        let response = try files.answer(call) {
          isDecided = true
          let look = FileLook(tag: "t", contentType: "image/jpeg", name: "a.jpg", isShown: true)
          return try FileAnswer(path: path, size: 5, look: look, files: files).response(request)
        }
        #expect(response != nil)
        return isDecided
      }
    }

    @Test("the decision for a request holds for those with the same head, until the next commit or sweep")
    func decisions() async throws {
      try await TestGallery.serving { gallery in
        let asking = try Asking(gallery)
        #expect(try asking.decides() && !asking.decides())
        let app = try gallery.key(of: "app").secret
        _ = try asking.decides()
        #expect(try asking.decides(key: app) && !asking.decides(key: app))
        #expect(try asking.decides("/b") && !asking.decides("/b") && !asking.decides())
        for _ in 0..<2 {
          #expect(try asking.decides("/a?download"))
          #expect(try asking.decides("/a", [("Range", "bytes=1-2")]) && asking.decides("/a", [("If-None-Match", "*")]))
        }
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "app") }
        #expect(try asking.decides() && asking.decides(key: app) && !asking.decides(key: app))
        asking.files.sweep()
        #expect(asking.files.decisionCount == 0)
        #expect(try asking.decides() && asking.decides(key: app) && !asking.decides())
        try Data("BYTES".utf8).write(to: URL(filePath: asking.path), options: .atomic)
        #expect(try asking.decides() && !asking.decides())
      }
    }

    @Test("a decision ends when a key, a person or a share changes, and when its key or its share expires")
    func endOfKeys() async throws {
      try await TestGallery.serving { gallery in
        let (asking, server) = (try Asking(gallery), gallery.server)
        let app = try gallery.key(of: "app").secret
        func decide() throws {
          _ = try asking.decides(key: app)
          #expect(try asking.decidedKey(key: app)?.client == "app" && asking.decidedKey(key: "unknown") == nil)
        }
        try decide()
        _ = try gallery.key(of: "other")
        #expect(try asking.decidedKey(key: app) == nil)
        try decide()
        _ = try server.people.add("anna", client: "anna", password: nil)
        #expect(try asking.decidedKey(key: app) == nil)
        try decide()
        _ = try server.keyring.withdraw { $0.client == "app" }
        #expect(try asking.decidedKey(key: app) == nil)
        #expect(throws: Problem.self) { try asking.decides(key: app) }
        _ = try asking.decides()
        #expect(try asking.decidedKey() != nil)
        gallery.clock.advance(by: Keyring.sessionSeconds)
        #expect(try asking.decidedKey() == nil)
      }
    }

    @Test("what a visitor of a share link asks for is decided until the link expires or is withdrawn")
    func endOfShares() async throws {
      try await TestGallery.serving { gallery in
        let asking = try Asking(gallery)
        let asset = try await gallery.makeFile("shared").asset
        let made = try gallery.ask("POST", "/v1/shares", json: ["title": "a", "assets": [asset], "days": 1]).json()
        let (name, secret) = (try #require(made["name"] as? String), try #require(made["secret"] as? String))
        func open() throws -> String {
          let opened = try gallery.ask("POST", "/v1/shares:open", json: ["secret": secret], key: nil)
          return try #require(try opened.json()["secret"] as? String)
        }
        let first = try open()
        #expect(try asking.decides(key: first) && asking.decidedKey(key: first) != nil)
        gallery.clock.advance(by: 86_399)
        #expect(try asking.decidedKey(key: first) != nil)
        let last = try open()
        #expect(try asking.decides(key: last) && asking.decidedKey(key: last) != nil)
        gallery.clock.advance(by: 1)
        #expect(try asking.decidedKey(key: first) == nil && asking.decidedKey(key: last) == nil)
        gallery.clock.advance(by: -2)
        _ = try asking.decides(key: last)
        #expect(try asking.decidedKey(key: last) != nil)
        _ = try gallery.ask("DELETE", "/v1/shares/\(name)")
        #expect(try asking.decidedKey(key: last) == nil)
      }
    }

    @Test("a head that names a person shows no key by itself where proxies are trusted")
    func proxies() async throws {
      var access = GalleryAccess()
      access.trustedProxies = ["127.0.0.1"]
      try await TestGallery.serving(access: access) { gallery in
        let asking = try Asking(gallery)
        let named = [("x-forwarded-user", "anna")]
        #expect(try asking.decides("/a", named) && asking.decides("/a", named) && asking.files.decisionCount == 0)
        #expect(try asking.decides() && !asking.decides())
      }
    }

    @Test("a file that was found unchanged in a tick of the clock is examined again in the next one")
    func ticks() async throws {
      try await TestGallery.serving { gallery in
        let ticks = Ticks(stands: true)
        let asking = try Asking(gallery, ticks)
        #expect(try asking.decides() && !asking.decides())
        try Data("BYTES".utf8).write(to: URL(filePath: asking.path), options: .atomic)
        #expect(try !asking.decides())
        ticks.goesOn()
        #expect(try asking.decides() && !asking.decides())
      }
    }

    @Test("the decision for a long path is not cached")
    func longPaths() async throws {
      try await TestGallery.serving { gallery in
        let asking = try Asking(gallery)
        let (short, long) = ("/" + String(repeating: "a", count: 511), "/a" + String(repeating: "/", count: 511))
        #expect(try asking.decides(short) && !asking.decides(short))
        #expect(try asking.decides(long) && asking.decides(long))
        #expect(asking.files.decisionCount == 1)
      }
    }

    @Test("a decision keeps no response of a file that is no longer in memory")
    func droppedResponses() async throws {
      try await TestGallery.serving { gallery in
        let asking = try Asking(gallery)
        #expect(try asking.decides())
        let remembered = try asking.remembered()
        let isThere = remembered.response != nil
        for number in 0..<OpenFiles.limit {
          let other = gallery.temporary.folder.place("other\(number)").path
          try Data("bytes".utf8).write(to: URL(filePath: other))
          _ = try asking.files.file(other, size: 5)
        }
        let isGone = remembered.response == nil
        #expect(isThere && isGone && asking.files.decisionCount == 0)
        #expect(try asking.decides() && !asking.decides())
      }
    }

    @Test("decisions are bounded")
    func boundedDecisions() async throws {
      try await TestGallery.serving { gallery in
        let asking = try Asking(gallery)
        for number in 0...OpenFiles.decisionLimit { #expect(try asking.decides("/\(number)")) }
        #expect((2...OpenFiles.decisionLimit).contains(asking.files.decisionCount))
        #expect(try !asking.decides("/\(OpenFiles.decisionLimit)"), "What was decided last is remembered.")
      }
    }

    @Test("of the open files, the least recently requested one is closed")
    func leastRecentlyUsed() throws {
      try withFile { files, path, folder in
        func ask(_ number: Int) throws -> HTTPFile { try files.file(folder.place("file\(number)").path, size: 5) }
        for number in 0...OpenFiles.limit {
          try FileManager.default.copyItem(atPath: path, toPath: folder.place("file\(number)").path)
        }
        let (first, second) = (try ask(0), try ask(1))
        for number in 2..<OpenFiles.limit { _ = try ask(number) }
        #expect(try ask(0) === first)
        _ = try ask(OpenFiles.limit)
        #expect(try ask(0) === first)
        #expect(try ask(1) !== second)
      }
    }

    @Test("no more descriptors stay open than the limit allows")
    func bounded() throws {
      try withFile { files, path, folder in
        for number in 0..<OpenFiles.limit + 20 {
          let one = folder.place("file\(number)").path
          try FileManager.default.copyItem(atPath: path, toPath: one)
          _ = try files.file(one, size: 5)
        }
        #expect(files.count == OpenFiles.limit)
      }
    }
  }
#endif
