#if Gallery
  import Foundation
  @testable import GalleryServer
  @testable import HTTPServing
  import LibraryPicking
  import MediaImport
  import PhotoLedger
  import Synchronization
  import TestSupport
  import Testing

  @Suite("Picking over HTTP")
  struct PickingOverHTTPTests {
    /// Begins a session as an app that has no permission.
    private func begin(_ gallery: TestGallery, _ key: String, _ json: [String: Any] = [:]) throws -> String {
      let answer = try gallery.ask("POST", "/v1/picking", json: json, key: key)
      try #require(answer.status == 201, "\(answer)")
      let object = try answer.json()
      let session = try #require(object["session"] as? String)
      #expect(object["pickerUri"] as? String == "/?pick=\(session)" && object["state"] as? String == "open")
      return session
    }

    private func tap(_ gallery: TestGallery, _ session: String, _ json: [String: Any]) throws -> Int {
      try gallery.ask("POST", "/v1/picking/\(session)/taps", json: json).status
    }

    /// Has an asset picked for an app.
    /// - Returns: the item.
    private func pick(
      _ gallery: TestGallery, _ asset: String, for key: String, _ json: [String: Any] = [:]
    ) async throws -> String {
      let session = try begin(gallery, key, json)
      for one: [String: Any] in [["select": asset], ["finish": true]] {
        #expect(try tap(gallery, session, one) == 204)
      }
      var item: String?
      try await waitUntil("the item is there") {
        item = try items(try gallery.ask("GET", "/v1/picking/\(session)", key: key).json()).first?["item"] as? String
        return item != nil
      }
      return try #require(item)
    }

    private func items(_ state: [String: Any]?) throws -> [[String: Any]] {
      try #require(state?["items"] as? [[String: Any]])
    }

    @Test("an app without permission gets what a person picks, and the bytes of that alone")
    func picks() async throws {
      try await TestGallery.serving { gallery in
        let (asset, sha256) = try await gallery.makeFile("picked bytes")
        let other = try await gallery.makeFile("other bytes", name: "b.jpg")
        let app = try gallery.register(asks: nil)
        let session = try begin(gallery, app.key, ["limit": 2])
        let stream = try StateClient(gallery, "/v1/picking/\(session)/events", key: app.key)
        #expect(try items(stream.next()).isEmpty)
        // The owner sees the session, what can be picked, and what is; the app does not.
        #expect(try gallery.ask("GET", "/v1/picking").body.contains(session))
        let candidates = try gallery.ask("GET", "/v1/picking/\(session)/candidates?count=1").json()
        #expect(candidates["total"] as? Int == 2 && candidates["count"] as? Int == 1)
        let huge = "?start=9223372036854775807&count=1000"
        #expect(try gallery.ask("GET", "/v1/picking/\(session)/candidates\(huge)").json()["count"] as? Int == 0)
        for path in ["candidates", "presentation", "presentation/events"] {
          #expect(try gallery.ask("GET", "/v1/picking/\(session)/\(path)", key: app.key).status == 403)
        }
        #expect(
          try gallery.ask("POST", "/v1/picking/\(session)/taps", json: ["finish": true], key: app.key).status == 403)
        // The head of a stream of events says what the stream would.
        for (path, key) in [("events", app.key), ("presentation/events", "owner")] {
          #expect(try gallery.ask("HEAD", "/v1/picking/\(session)/\(path)", key: key).status == 200)
          for method in ["HEAD", "GET"] {
            let unknown = try gallery.ask(method, "/v1/picking/none/\(path)", key: key)
            #expect(unknown.status == 404, "\(method) \(path)")
          }
        }
        let person = try StateClient(gallery, "/v1/picking/\(session)/presentation/events")
        #expect(try person.next()?["selection"] as? [String] == [])
        for wrong: Any in ["location", ["place"], [7]] {
          #expect(try tap(gallery, session, ["withhold": wrong]) == 400)
        }
        #expect(try tap(gallery, session, ["withhold": ["location", "captions"]]) == 204)
        #expect(try person.next()?["withheld"] as? [String] == ["location", "captions"])
        #expect(try tap(gallery, session, ["withhold": [String]()]) == 204)
        #expect(try person.next()?["withheld"] as? [String] == [])
        #expect(try tap(gallery, session, ["select": asset]) == 204)
        #expect((try person.next()?["selection"] as? [String])?.count == 1)
        #expect(try tap(gallery, session, ["finish": true]) == 204)
        // The result may come a moment before the end; with the end it is there.
        var state = try #require(try stream.next())
        while state["state"] as? String == "open" { state = try #require(try stream.next()) }
        #expect(state["state"] as? String == "finished")
        let item = try #require(try items(state).first?["item"] as? String)
        #expect(try items(state).count == 1 && items(state).first?["asset"] is NSNull)
        let bytes = try gallery.ask("GET", "/v1/picked/\(item)", key: app.key)
        #expect(bytes.status == 200 && bytes.body == "picked bytes" && bytes.fields["content-type"] == "image/jpeg")
        let part = try gallery.ask("GET", "/v1/picked/\(item)", key: app.key, ["Range: bytes=7-"])
        #expect(part.status == 206 && part.body == "bytes" && part.fields["content-range"] == "bytes 7-11/12")
        #expect(try gallery.ask("GET", "/v1/picked/\(item)", key: app.key, ["Range: bytes=12-"]).status == 416)
        // The pick is a permission for its item, for its client, and for nothing else.
        #expect(try gallery.ask("GET", "/v1/assets/\(asset)/resources/\(sha256)", key: app.key).status == 403)
        #expect(
          try gallery.ask("GET", "/v1/assets/\(other.asset)/resources/\(other.sha256)", key: app.key).status == 403)
        let stranger = try gallery.register(asks: nil)
        #expect(try gallery.ask("GET", "/v1/picked/\(item)", key: stranger.key).status == 403)
        #expect(try gallery.ask("GET", "/v1/picking/\(session)", key: stranger.key).status == 404)
        // It outlives the session and the server.
        try await gallery.restart()
        #expect(try gallery.ask("GET", "/v1/picked/\(item)", key: app.key).body == "picked bytes")
        #expect(try gallery.ask("GET", "/v1/picking/\(session)", key: app.key).status == 404)
        #expect(try gallery.causes().contains("picking session"))
        let files = try FileManager.default.contentsOfDirectory(
          atPath: gallery.temporary.url.appending(path: "server").path)
        #expect(!files.contains { $0.hasPrefix(".picked") })
      }
    }

    @Test("a continuous, ordered session reports each tap; the app deselects, moves and lowers the limit from outside")
    func continuous() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(3).map(\.uuidString)
        let app = try gallery.register(asks: nil)
        let session = try begin(
          gallery, app.key, ["limit": 0, "continuous": true, "ordered": true, "namesAssets": true])
        let path = "/v1/picking/\(session)"
        func selection() throws -> [String] {
          let names = try gallery.ask("GET", path + "/presentation").json()["selection"] as? [String] ?? []
          return names.map { String($0.prefix(36)) }
        }
        func given() throws -> [String] {
          try items(try gallery.ask("GET", path, key: app.key).json()).compactMap { $0["asset"] as? String }
            .map { String($0.prefix(36)) }
        }
        for id in [ids[2], ids[0], ids[1]] { #expect(try tap(gallery, session, ["select": id]) == 204) }
        try await waitUntil("all taps arrive") { try given() == [ids[2], ids[0], ids[1]] }
        let change: [String: Any] = ["deselect": [ids[0]], "move": ["asset": ids[1]]]
        #expect(try gallery.ask("PATCH", path, json: change, key: app.key).status == 200)
        #expect(try selection() == [ids[1], ids[2]])
        let after: [String: Any] = ["move": ["asset": ids[1], "after": ids[2]], "limit": 2]
        #expect(try gallery.ask("PATCH", path, json: after, key: app.key).status == 200)
        #expect(try selection() == [ids[2], ids[1]])
        #expect(try tap(gallery, session, ["select": ids[0]]) == 400)
        #expect(try gallery.ask("PATCH", path, json: after).status == 404)
        #expect(try gallery.ask("DELETE", path, key: app.key).status == 204)
        #expect(try gallery.ask("GET", path, key: app.key).status == 404)
        #expect(try tap(gallery, session, ["finish": true]) == 404)
      }
    }

    @Test("filter, preselection and expiry are applied as requested; too many sessions are rejected")
    func limits() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(2).map(\.uuidString)
        let app = try gallery.register(asks: nil)
        let videos = try begin(gallery, app.key, ["filter": "videos"])
        #expect(try gallery.ask("GET", "/v1/picking/\(videos)/candidates").json()["total"] as? Int == 0)
        #expect(try tap(gallery, videos, ["select": ids[0]]) == 400)
        let chosen = try begin(gallery, app.key, ["preselected": [ids[0], "none"], "limit": 2, "seconds": 10])
        let selection = try gallery.ask("GET", "/v1/picking/\(chosen)/presentation").json()["selection"] as? [String]
        #expect(selection?.count == 1)
        let stream = try StateClient(gallery, "/v1/picking/\(chosen)/events", key: app.key)
        _ = try stream.next()
        gallery.clock.advance(by: 11)
        gallery.server.watch.wake()
        // An expired session is cancelled: the last state may still say so before there is none.
        while let state = try stream.next() {
          #expect(state["state"] as? String == "cancelled" || state["status"] != nil)
        }
        #expect(try gallery.ask("GET", "/v1/picking/\(chosen)", key: app.key).status == 404)
        #expect(try tap(gallery, chosen, ["finish": true]) == 404)
        for json: [String: Any] in [
          ["limit": -1], ["limit": 1, "preselected": ids], ["filter": "nonsense("], ["representation": "best"],
          ["seconds": 0], ["ordered": 1],
        ] { #expect(try gallery.ask("POST", "/v1/picking", json: json, key: app.key).status == 400, "\(json)") }
        for _ in 0..<15 { _ = try begin(gallery, app.key) }
        #expect(try gallery.ask("POST", "/v1/picking", json: [:], key: app.key).status == 429)
        for json: [String: Any] in [[:], ["select": 1], ["finish": false], ["finish": true, "cancel": true]] {
          #expect(try tap(gallery, videos, json) == 400, "\(json)")
        }
      }
    }

    @Test("in a session that has expired nothing is given any more, before it is swept as well")
    func expired() async throws {
      try await TestGallery.serving { gallery in
        let asset = try await gallery.makeAssets(1)[0].uuidString
        let app = try gallery.register(asks: nil)
        let session = try begin(gallery, app.key, ["seconds": 10])
        #expect(try tap(gallery, session, ["select": asset]) == 204)
        let before = try gallery.library.lastSequence
        gallery.clock.advance(by: 11)
        #expect(try tap(gallery, session, ["finish": true]) == 404)
        #expect(try gallery.ask("GET", "/v1/picking/\(session)/presentation").status == 404)
        #expect(try gallery.library.lastSequence == before)
      }
    }

    @Test("clients that fill all places lose their oldest sessions to others, but none that a person has looked at")
    func crowded() async throws {
      try await TestGallery.serving { gallery in
        var sessions: [PickingSession] = []
        for number in 0..<Pickings.limit {
          let session = try gallery.library.as("app \(number / Pickings.limitOfClient)").beginPicking()
          try gallery.server.picking.add(session, seconds: 86_400) {}
          sessions.append(session)
        }
        #expect(try gallery.ask("GET", "/v1/picking/\(sessions[0].id)/presentation").status == 200)
        let app = try gallery.register(asks: nil)
        let own = try [begin(gallery, app.key), begin(gallery, gallery.owner)]
        // The first clients that still have 16 without the one that was looked at.
        let places = Pickings.limitOfClient
        #expect(sessions.indices.filter { sessions[$0].state != .open } == [places, 2 * places])
        #expect(try gallery.ask("GET", "/v1/picking/\(own[0])", key: app.key).status == 200)
        #expect(try gallery.ask("GET", "/v1/picking/\(own[1])").status == 200)
      }
    }

    @Test("a location is removed from the bytes, or they are withheld with the reason")
    func location() async throws {
      try await TestGallery.serving { gallery in
        let (asset, _) = try await gallery.makeFile("no picture")
        let app = try gallery.register(asks: nil)
        let item = try await pick(gallery, asset, for: app.key, ["removeLocation": true])
        let without = try gallery.ask("GET", "/v1/picked/\(item)", key: app.key)
        #expect(without.status == 501 && without.body.contains("converter-missing"))
        try gallery.library.setRepresentationConverter(Stripper())
        #expect(try gallery.ask("GET", "/v1/picked/\(item)", key: app.key).body == "stripped: no picture")
        #expect(try gallery.ask("GET", "/v1/picked/\(item)?removeLocation=perhaps", key: app.key).status == 400)
        #expect(try gallery.ask("GET", "/v1/picked/\(item)?type=public.png", key: app.key).status >= 400)
        #expect(try gallery.ask("GET", "/v1/picked/none", key: app.key).status == 400)
      }
    }

    @Test(
      "what a session excludes from an item stays excluded when the session is over, forgotten or of an earlier server",
      arguments: [true, false])
    func forgotten(_ isOwner: Bool) async throws {
      try await TestGallery.serving { gallery in
        try gallery.library.setRepresentationConverter(Stripper())
        let (asset, _) = try await gallery.makeFile("no picture", name: "a.heic")
        let key = try isOwner ? gallery.owner : gallery.register(asks: nil).key
        func bytes(_ item: String, _ query: String = "") throws -> [String] {
          let answer = try gallery.ask("GET", "/v1/picked/\(item)\(query)", key: key)
          return [answer.fields["content-type"] ?? "\(answer.status)", answer.body]
        }
        let stripped = ["image/heic", "stripped: no picture"]
        let form: [String: Any] = ["removeLocation": true, "representation": "current", "seconds": 60]
        let item = try await pick(gallery, asset, for: key, form)
        // Of a continuous session what was picked stays given, also when it is deselected.
        let continuous = try begin(gallery, key, form.merging(["continuous": true]) { $1 })
        #expect(try tap(gallery, continuous, ["select": asset]) == 204)
        let path = "/v1/picking/\(continuous)"
        var deselected: String?
        try await waitUntil("the tap has its result") {
          deselected = try items(try gallery.ask("GET", path, key: key).json()).first?["item"] as? String
          return deselected != nil
        }
        #expect(try tap(gallery, continuous, ["deselect": asset]) == 204)
        try await waitUntil("it is deselected") { try items(try gallery.ask("GET", path, key: key).json()).isEmpty }
        let all = [item, try #require(deselected)]
        #expect(try all.map { try bytes($0) } == [stripped, stripped])
        gallery.clock.advance(by: 61)
        gallery.server.watch.wake()
        #expect(try gallery.ask("GET", path, key: key).status == 404)
        #expect(try all.map { try bytes($0) } == [stripped, stripped])
        try await gallery.restart()
        #expect(try all.map { try bytes($0) } == [stripped, stripped])
        #expect(try bytes(item, "?representation=compatible") == ["image/jpeg", "stripped: no picture"])
      }
    }

    @Test("the bytes of a picked item have a tag, and no range of other bytes is sent for it")
    func tags() async throws {
      try await TestGallery.serving { gallery in
        try gallery.library.setRepresentationConverter(Stripper())
        let (asset, sha256) = try await gallery.makeFile("no picture")
        let app = try gallery.register(asks: nil)
        let path = "/v1/picked/\(try await pick(gallery, asset, for: app.key))"
        func answer(_ query: String = "", _ fields: [String] = [], _ method: String = "GET") throws -> Answer {
          try gallery.ask(method, path + query, key: app.key, fields)
        }
        let whole = try answer()
        let tag = try #require(whole.fields["etag"])
        #expect(whole.status == 200 && tag == "\"\(sha256)\"")
        let other = try #require(try answer("?removeLocation=true").fields["etag"])
        #expect(other != tag)
        let part = "Range: bytes=3-6"
        let same = try answer("", [part, "If-Range: \(tag)"])
        #expect(same.status == 206 && same.body == "pict" && same.fields["etag"] == tag)
        #expect(try answer("", [part]).body == "pict")
        for condition in [other, "W/\(tag)", "Tue, 14 Nov 2023 22:13:20 GMT"] {
          let differing = try answer("", [part, "If-Range: \(condition)"])
          #expect(differing.status == 200 && differing.body == "no picture", "\(condition): \(differing)")
        }
        let held = try answer("", ["If-None-Match: \(tag)"])
        #expect(held.status == 304 && held.body.isEmpty && held.fields["etag"] == tag)
        #expect(try answer("", ["If-None-Match: \(other)"]).status == 200)
        let head = try answer("", [part], "HEAD")
        #expect(head.status == 200 && head.body.isEmpty)
      }
    }

    @Test("changes that an app requests in its session are applied as a whole, or not at all")
    func wholeChanges() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(2).map(\.uuidString)
        let app = try gallery.register(asks: nil)
        let session = try begin(gallery, app.key, ["limit": 2, "ordered": true, "namesAssets": true])
        for id in ids { #expect(try tap(gallery, session, ["select": id]) == 204) }
        let path = "/v1/picking/\(session)"
        func shown() throws -> [String] {
          let state = try gallery.ask("GET", path + "/presentation").json()
          let names = state["selection"] as? [String] ?? []
          return names.map { String($0.prefix(36)) } + ["\(state["limit"] ?? "")"]
        }
        let move: [String: Any] = ["asset": ids[1]]
        for change: [String: Any] in [
          ["deselect": [ids[0]], "limit": "many"], ["deselect": [ids[0]], "limit": -1],
          ["deselect": [ids[0]], "move": ["asset": 7]], ["deselect": [ids[0]], "move": [Any]()],
          ["move": move, "limit": "many"], ["move": move, "deselect": [7]], ["limit": 1, "move": ["after": ids[0]]],
        ] {
          #expect(try gallery.ask("PATCH", path, json: change, key: app.key).status == 400, "\(change)")
          #expect(try shown() == ids + ["2"], "\(change)")
        }
        let whole: [String: Any] = ["deselect": [ids[0]], "move": move, "limit": 1]
        #expect(try gallery.ask("PATCH", path, json: whole, key: app.key).status == 200)
        #expect(try shown() == [ids[1], "1"])
      }
    }

    @Test("a picked item has the requested representation, and states its type")
    func representations() async throws {
      try await TestGallery.serving { gallery in
        let (asset, _) = try await gallery.makeFile("no picture", name: "a.heic")
        let app = try gallery.register(asks: nil)
        func picked(_ json: [String: Any]) async throws -> (item: String, types: [String]) {
          let session = try begin(gallery, app.key, json)
          #expect(try tap(gallery, session, ["select": asset]) == 204)
          #expect(try tap(gallery, session, ["finish": true]) == 204)
          func all() throws -> [[String: Any]] {
            try items(try gallery.ask("GET", "/v1/picking/\(session)", key: app.key).json())
          }
          try await waitUntil("the result is there") { try !all().isEmpty }
          let one = try #require(try all().first)
          return (try #require(one["item"] as? String), try #require(one["types"] as? [String]))
        }
        func loaded(_ item: String, _ query: String) throws -> [String] {
          let answer = try gallery.ask("GET", "/v1/picked/\(item)\(query)", key: app.key)
          return answer.status == 200 ? [answer.fields["content-type"] ?? "", answer.body] : ["\(answer.status)"]
        }
        let stored = ["image/heic", "no picture"]
        let converted = ["image/jpeg", "kept: no picture"]
        let early = try await picked([:])
        #expect(early.types == ["public.heic"])
        #expect(try loaded(early.item, "?representation=compatible") == ["501"])
        try gallery.library.setRepresentationConverter(Stripper())
        let current = try await picked(["representation": "current"])
        #expect(current.types == ["public.heic"])
        #expect(try loaded(current.item, "") == stored)
        #expect(try loaded(current.item, "?representation=compatible") == converted)
        #expect(try loaded(current.item, "?representation=compatible&type=public.jpeg") == converted)
        #expect(try loaded(current.item, "?representation=compatible&type=public.heic") == ["400"])
        let compatible = try await picked(["representation": "compatible"])
        #expect(compatible.types == ["public.jpeg"])
        #expect(try loaded(compatible.item, "") == converted)
        #expect(try loaded(compatible.item, "?representation=current") == stored)
        #expect(try loaded(compatible.item, "?representation=automatic") == converted)
        // Of an item that a later process loads by its token.
        try await gallery.restart()
        #expect(try loaded(current.item, "?representation=current") == stored)
        #expect(try loaded(current.item, "?representation=compatible") == converted)
        #expect(try loaded(current.item, "?type=public.heic") == stored)
      }
    }

    @Test("the number of simultaneous copies of picked items is limited, for all clients and for each")
    func copies() async throws {
      let picking = Pickings(environment: .system)
      let ofEach = Pickings.copyLimitOfClient
      var senders: [HTTPSender] = []
      func copy(for client: Int) async throws {
        let sender = HTTPSender()
        try await picking.copying(for: "app \(client)", until: sender) {}
        senders.append(sender)
      }
      for number in 0..<Pickings.copyLimit { try await copy(for: number / ofEach) }
      await #expect(throws: Problem.self) { try await copy(for: Pickings.copyLimit) }
      senders[0].end()
      try await copy(for: Pickings.copyLimit)
      for sender in senders { sender.end() }
      for _ in 0..<ofEach { try await copy(for: 7) }
      await #expect(throws: Problem.self) { try await copy(for: 7) }
      try await copy(for: 8)
    }

    @Test("a copy occupies its place until it is sent; one left by a killed server is removed by the next")
    func leftCopies() async throws {
      try await TestGallery.serving { gallery in
        let left = gallery.temporary.url.appending(path: "server/.picked-left")
        try Data("bytes".utf8).write(to: left)
        try await gallery.restart()
        #expect(!FileManager.default.fileExists(atPath: left.path))
        #expect(FileManager.default.fileExists(atPath: gallery.temporary.url.appending(path: "server/keys.json").path))
      }
    }

    @Test("what the exiftool of a killed server was examining is removed by the next, and not that of a running one")
    func leftWork() async throws {
      try await TestGallery.serving { gallery in
        // This process has made none, so that one with its number is an earlier one's.
        let (left, running) = ("photoledger-work-\(getpid())-01234567", "photoledger-work-\(getppid())-01234567")
        let server = gallery.temporary.url.appending(path: "server")
        for name in [left, running] {
          let folder = server.appending(path: "\(name)/1/in")
          try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
          try Data("bytes".utf8).write(to: folder.appending(path: "source.jpg"))
        }
        try await gallery.restart()
        #expect(!FileManager.default.fileExists(atPath: server.appending(path: left).path))
        #expect(FileManager.default.fileExists(atPath: server.appending(path: "\(running)/1/in/source.jpg").path))
      }
    }

    @Test("an app that reads a picked item whose file is gone does not learn its location; the log does")
    func missingFile() async throws {
      try await TestGallery.serving { gallery in
        let folder = try TemporaryFolder()
        let file = folder.place("private.jpg")
        let resource = AssetResource(
          type: .photo, originalFilename: "private.jpg", uniformTypeIdentifier: "public.jpeg", dataSize: 10,
          sha256: Array(repeating: 7, count: 32), storage: .referenced(path: file.path))
        var id: LocalIdentifier?
        try await gallery.library.performChanges { block in
          id = block.createAsset(
            AssetCreation(mediaType: .image, resources: [ResourceDraft(type: .photo, source: .stored(resource))]))
        }
        let app = try gallery.register(asks: nil)
        let path = "/v1/picked/\(try await pick(gallery, try #require(id).uuidString, for: app.key))"
        let answer = try gallery.ask("GET", path, key: app.key)
        #expect(answer.status == 404 && !answer.body.contains("private") && !answer.body.contains(folder.url.path))
        try await waitUntil("the log says where") {
          gallery.log.lines.contains { $0.path == path && $0.note?.contains(file.path) == true }
        }
      }
    }

    @Test(
      "a picked item that is being converted is not sent once the key is withdrawn, or the asset purged",
      arguments: [true, false])
    func withdrawnWhileConverted(_ isKey: Bool) async throws {
      try await TestGallery.serving { gallery in
        let (asset, _) = try await gallery.makeFile("no picture")
        let (gate, key) = (Gate(), try gallery.key(of: "app"))
        defer { gate.mayEnd.store(true, ordering: .sequentiallyConsistent) }
        try gallery.library.setRepresentationConverter(gate)
        let path = "/v1/picked/\(try await pick(gallery, asset, for: key.secret, ["removeLocation": true]))"
        let client = try RawClient(port: gallery.address.port)
        client.send(try gallery.head("GET", path, key: key.secret, ["Connection: close"]))
        try await waitUntil("the conversion has begun") { gate.hasBegun.load(ordering: .sequentiallyConsistent) }
        if isKey {
          #expect(try gallery.ask("DELETE", "/v1/keys/\(key.name)").status == 204)
        } else {
          let id = try #require(try gallery.library.asset(asset)).id
          try await gallery.library.performChanges { $0.deleteAssets([id]) }
          try await gallery.library.performChanges { $0.purgeAssets([id]) }
        }
        gate.mayEnd.store(true, ordering: .sequentiallyConsistent)
        let answer = TestGallery.checked("GET", path, try #require(TestGallery.parsed(client.readBytesToEnd())))
        #expect(answer.status == (isKey ? 401 : 404) && !answer.body.contains("no picture"), "\(answer)")
      }
    }

    @Test("a withdrawn client loses its picking sessions")
    func withdrawn() async throws {
      try await TestGallery.serving { gallery in
        let app = try gallery.register(asks: nil)
        let session = try begin(gallery, app.key)
        let name = app.client.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        #expect(try gallery.ask("DELETE", "/v1/clients/\(name)").status == 204)
        #expect(try gallery.ask("GET", "/v1/picking/\(session)", key: app.key).status == 401)
        #expect(try !gallery.ask("GET", "/v1/picking").body.contains(session))
      }
    }

    @Test("a session that is begun while its client is withdrawn does not stay")
    func withdrawnWhileBegun() async throws {
      let (draw, source) = (NextDraw(), LibraryEnvironment.seeded(1))
      var environment = source
      environment.random = {
        draw.note()
        return source.random()
      }
      try await TestGallery.serving(library: environment) { gallery in
        let app = try gallery.register(asks: nil)
        let server = gallery.server
        // The identifier of the session is drawn when the key has been checked.
        draw.when { _ = try? ClientRoutes.deny(app.client, server) }
        #expect(try gallery.ask("POST", "/v1/picking", json: [:], key: app.key).status == 401)
        let sessions = try gallery.ask("GET", "/v1/picking").json()["sessions"] as? [Any]
        #expect(sessions?.isEmpty == true)
      }
    }
  }

  /// Converts once it may.
  private final class Gate: RepresentationConverter {
    let hasBegun = Atomic(false)
    let mayEnd = Atomic(false)

    func isCompatible(_ file: URL, type: String) -> Bool { true }

    func convert(_ conversion: RepresentationConversion) throws {
      hasBegun.store(true, ordering: .sequentiallyConsistent)
      // Asleep, so that dispatch starts another thread for the tasks of other tests.
      while !mayEnd.load(ordering: .sequentiallyConsistent), !conversion.isCancelled() { usleep(1000) }
      try Data(contentsOf: conversion.source).write(to: conversion.target)
    }
  }

  /// Writes in front of the bytes what it was asked for.
  private struct Stripper: RepresentationConverter {
    func isCompatible(_ file: URL, type: String) -> Bool { true }

    func convert(_ conversion: RepresentationConversion) throws {
      let mark = conversion.metadataOptions.contains(.removeLocation) ? "stripped: " : "kept: "
      try (Data(mark.utf8) + Data(contentsOf: conversion.source)).write(to: conversion.target)
    }
  }
#endif
