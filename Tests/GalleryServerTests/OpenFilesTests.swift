#if Gallery
  import Foundation
  @testable import GalleryServer
  @testable import HTTPServing
  import PhotoLedger
  import Synchronization
  import TestSupport
  import Testing

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
        return Remembered(response: files.decided(request, gallery.server.keyring, in: gallery.library)?.response)
      }

      /// The key with which a request is answered as it was decided; nil if it has to be decided.
      func decidedKey(
        _ target: String = "/a", key: String? = nil, _ fields: [(String, String)] = []
      ) throws -> Keyring.Key? {
        let request = try self.request(target, key: key, fields)
        return files.decided(request, gallery.server.keyring, in: gallery.library)?.key
      }

      /// Whether the answer to a request had to be decided.
      func decides(_ target: String = "/a", key: String? = nil, _ fields: [(String, String)] = []) throws -> Bool {
        let (request, keyring) = (try self.request(target, key: key, fields), gallery.server.keyring)
        if files.decided(request, keyring, in: gallery.library) != nil { return false }
        let changeCount = keyring.changeCount
        let call = Call(
          request: request, parameters: [], key: try keyring.key(of: request), server: gallery.server,
          keyChangeCount: changeCount)
        var isDecided = false
        let response = try files.answer(call) {
          isDecided = true
          return try answer(request)
        }
        #expect(response != nil)
        return isDecided
      }

      private func answer(_ request: HTTPRequest) throws -> HTTPResponse {
        let look = FileLook(tag: "t", contentType: "image/jpeg", name: "a.jpg", isShown: true)
        return try FileAnswer(path: path, size: 5, look: look, files: files).response(request)
      }

      /// Decides a request of the owner as one that asked whether the library can be used before it became unavailable.
      func decidesLate() throws {
        let (request, keyring) = (try self.request("/a", key: nil), gallery.server.keyring)
        let changeCount = keyring.changeCount
        let key = try #require(try keyring.key(of: request))
        let shown = keyring.shown(key, by: request, since: changeCount)
        let response = try files.answer(request, shown, in: gallery.library.as(key.client)) { try answer(request) }
        #expect(response != nil && files.decisionCount == 1)
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
        // Without the commit and the change of keys that `DELETE` makes as well.
        _ = try gallery.server.shares.remove(name)
        #expect(try asking.decidedKey(key: last) == nil)
      }
    }

    @Test("a decision that came between a migration by a newer program and its discovery ends with the discovery")
    func migrated() async throws {
      try await TestGallery.serving { gallery in
        let asking = try Asking(gallery)
        try gallery.temporary.migrateAsNewerProgram()
        try await waitUntil("the library is given up") { gallery.library.unavailabilityReason != nil }
        // What a request of a moment before remembers now has the number of the migration's transaction.
        try asking.decidesLate()
        #expect(try asking.decidedKey() == nil)
      }
    }

    @Test("a request that was decided before is charged to its key, also when the library is closed")
    func charged() async throws {
      try await TestGallery.serving { gallery in
        let (asset, sha256) = try await gallery.makeFile("bytes")
        let app = try gallery.key(of: "app").secret
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "app") }
        let heads = Heads()
        func sender() throws -> String? {
          let target = "/v1/assets/\(asset)/resources/\(sha256)"
          let request = try heads.request(target, [("authorization", "Bearer \(app)")])
          _ = gallery.server.plan(request)
          return request.sender.name
        }
        for _ in 0..<2 { #expect(try sender() == "app") }
        gallery.library.close()
        #expect(try sender() == "app")
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

    @Test("the decision for long fields, which are read anew each time, is not cached")
    func longFields() async throws {
      try await TestGallery.serving { gallery in
        let asking = try Asking(gallery)
        let (short, long) = ([("x", String(repeating: "a", count: 1024))], [("x", String(repeating: "a", count: 2048))])
        #expect(try asking.decides("/a", short) && !asking.decides("/a", short))
        #expect(try asking.decides("/a", long) && asking.decides("/a", long))
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
