#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import JSONReading
  import LibraryAudit
  import LibraryJSON
  import LibraryMaintenance
  import PhotoLedger
  import TestSupport
  import Testing

  extension TestGallery {
    /// Asks for lines.
    func lines(_ target: String, key: String? = "owner", method: String = "GET", json: [String: Any]? = nil) throws
      -> [String]
    {
      let answer = try ask(method, target, json: json, key: key, ["Accept: application/x-ndjson"])
      try #require(answer.status == 200, "\(answer)")
      #expect(answer.fields["content-type"] == "application/x-ndjson")
      #expect(answer.body.isEmpty || answer.body.hasSuffix("\n"))
      return answer.body.split(separator: "\n").map(String.init)
    }

    /// The records of all pages.
    func pages(_ target: String, limit: Int, _ next: String, key: String? = "owner") throws -> [String] {
      var (records, position) = ([String](), String?.none)
      while true {
        let more = position.map { "&\(next)=\($0)" } ?? ""
        let answer = try ask("GET", "\(target)limit=\(limit)\(more)", key: key)
        try #require(answer.status == 200, "\(answer)")
        let json = try JSONReader.read(Array(answer.body.utf8))
        let page = try #require(json["records"]?.listValue)
        #expect(page.count <= limit)
        records += page.map(\.description)
        guard let found = json["next"], found != .null else { return records }
        position = found.textValue ?? found.description
        #expect(!page.isEmpty)
      }
    }

    /// A library in which something happened.
    @discardableResult
    func live() async throws -> (ids: [LocalIdentifier], album: LocalIdentifier) {
      let ids = try await makeAssets(7)
      var album: LocalIdentifier?
      try await library.performChanges(cause: "sorting") { change in
        let created = change.createAlbum(title: "Sea")
        change.album(created).add(ids)
        album = created
      }
      try await library.performChanges { $0.setFavorite(true, for: [ids[0]]) }
      try await library.performChanges { $0.setFavorite(true, for: Array(ids[1...3])) }
      let made = try #require(album)
      try await library.performChanges { $0.album(made).remove([ids[2]]) }
      try await library.performChanges { change in
        change.setAuthorizationStatus(.limited, of: "app")
        change.grant([ids[0]], to: "app")
      }
      return (ids, made)
    }
  }

  @Suite("Queries of the log over HTTP")
  struct AuditTests {
    private func records(_ library: PhotoLibrary, _ filter: LogFilter = LogFilter(), newestFirst: Bool = false) throws
      -> [String]
    {
      var records: [String] = []
      try library.forEachLogEntry(filter, newestFirst: newestFirst) { entry in
        records.append(JSON(entry.record).description)
        return true
      }
      return records
    }

    @Test("the log is the same in pages of any size, forwards and backwards, and as lines")
    func log() async throws {
      try await TestGallery.serving { gallery in
        try await gallery.live()
        for index in 0..<60 { try await gallery.makeAssets(4, from: 100 + index * 4) }
        let (all, reversed) = (try records(gallery.library), try records(gallery.library, newestFirst: true))
        #expect(all.count > 2 * Records.pageCount)
        for limit in [1, 3, 100, 1000] {
          #expect(try gallery.pages("/v1/log?", limit: limit, "cursor") == all)
          #expect(try gallery.pages("/v1/log?reverse=true&", limit: limit, "cursor") == reversed)
        }
        #expect(try gallery.lines("/v1/log") == all)
        #expect(try gallery.lines("/v1/log?reverse=true") == reversed)
        #expect(try gallery.lines("/v1/log?limit=3") == Array(all.prefix(3)))
      }
    }

    @Test("a client that was registered late pages through all of the log, including events before its access")
    func logOfLateClient() async throws {
      try await TestGallery.serving { gallery in
        try await gallery.live()
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "late") }
        let key = try gallery.key(of: "late").secret
        let (all, reversed) = (try records(gallery.library), try records(gallery.library, newestFirst: true))
        for limit in [1, 3] {
          #expect(try gallery.pages("/v1/log?", limit: limit, "cursor", key: key) == all)
          #expect(try gallery.pages("/v1/log?reverse=true&", limit: limit, "cursor", key: key) == reversed)
        }
        #expect(try gallery.ask("GET", "/v1/log?cursor=99999999", key: key).status == 400)
      }
    }

    @Test("the log is filtered as the command filters it, also from page to page")
    func filters() async throws {
      try await TestGallery.serving { gallery in
        let (ids, album) = try await gallery.live()
        let token = try gallery.library.currentToken
        try await gallery.library.performChanges(cause: "later") { $0.setFavorite(false, for: [ids[1]]) }
        func filter(_ set: (inout LogFilter) -> Void) throws -> [String] {
          var filter = LogFilter()
          set(&filter)
          return try records(gallery.library, filter)
        }
        let cases: [(String, [String])] = [
          ("cause=sorting", try filter { $0.cause = "sorting" }), ("client=app", try filter { $0.client = "app" }),
          ("kind=assets.edited&kind=granted", try filter { $0.kinds = ["assets.edited", "granted"] }),
          ("asset=\(ids[2].uuidString)", try filter { $0.objects = [ids[2]] }),
          ("asset=\(ids[2].uuidString)&album=\(album.uuidString)", try filter { $0.objects = [ids[2], album] }),
          ("after=\(token)", try filter { $0.after = token }),
          ("after=\(token)&cause=sorting", []),
          ("from=2999-01-01T00:00:00Z", []), ("at=\(token)&cause=later", []),
        ]
        for (query, wanted) in cases {
          #expect(try gallery.pages("/v1/log?\(query)&", limit: 1, "cursor") == wanted, "\(query)")
          #expect(try gallery.lines("/v1/log?\(query)") == wanted, "\(query)")
        }
        #expect(cases.filter { !$0.1.isEmpty }.count >= 5)
        #expect(try gallery.ask("GET", "/v1/log?cause=").status == 400)
      }
    }

    @Test("the history of an object, blame and access return the records of the library, and pages of them")
    func audit() async throws {
      try await TestGallery.serving { gallery in
        let (ids, album) = try await gallery.live()
        let library = gallery.library
        var changes: [String] = []
        try library.forEachPropertyChange(of: ids[2].uuidString) { change in
          changes.append(JSON(change.record).description)
          return true
        }
        #expect(changes.count > 5)
        let blame = try library.blame(album.uuidString, includingFormer: true)
          .map { JSON($0.record).description }
        #expect(blame.count == 7)
        let access = try library.access(to: ids[0].uuidString)
          .map { JSON($0.record).description }
        let intervals = try library.accessIntervals(of: "app").map { JSON($0.record).description }
        #expect(access.count == 1 && intervals.count > 1)
        for (path, wanted) in [
          ("/v1/objects/\(ids[2].uuidString)/history?", changes),
          ("/v1/collections/\(album.uuidString)/blame?former=true&", blame),
          ("/v1/collections/\(album.uuidString.lowercased())/blame?former=true&", blame),
          ("/v1/objects/\(ids[0].uuidString)/access?", access),
          ("/v1/objects/\(ids[0].uuidString.lowercased())/access?", access), ("/v1/clients/app/access?", intervals),
        ] {
          #expect(try gallery.pages(path, limit: 2, "start") == wanted)
          #expect(try gallery.pages(path, limit: 1000, "start") == wanted)
          #expect(try gallery.lines(path) == wanted)
        }
        let before = try #require(try gallery.lines("/v1/log?kind=granted").first)
        let at = try #require(try JSONReader.read(Array(before.utf8))["sequence"]?.wholeValue)
        #expect(try gallery.lines("/v1/objects/\(ids[0].uuidString)/access?at=\(at)").count == 1)
        #expect(try gallery.lines("/v1/objects/\(ids[0].uuidString)/access?at=1").isEmpty)
      }
    }

    @Test("lines are all records, or up to the limit, however many there are and however long they are")
    func wholeLines() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(150)
        var album = ids[0]
        try await gallery.library.performChanges { change in
          album = change.createAlbum(title: "Sea")
          change.album(album).add(ids)
        }
        let blame = "/v1/collections/\(album.uuidString)/blame"
        let members = try gallery.pages("\(blame)?", limit: 50, "start")
        #expect(members.count == 150)
        #expect(try gallery.lines(blame) == members)
        #expect(try gallery.lines("\(blame)?start=20&limit=125") == Array(members[20..<145]))
        // Forty captions have more bytes than a page.
        for (number, id) in ids.prefix(40).enumerated() {
          try await gallery.library.performChanges { change in
            var changes = AssetChanges()
            changes.caption = .set(String(repeating: "\(number % 10)", count: 60_000))
            change.edit([id], changes)
          }
        }
        let first = try gallery.ask("GET", "/v1/log?kind=assets.edited&limit=40").json()
        #expect((first["records"] as? [Any])?.count ?? 0 < 40 && first["next"] is Int, "they fit into a page")
        let edits = try gallery.lines("/v1/log?kind=assets.edited")
        #expect(edits.count == 40)
        #expect(try gallery.lines("/v1/log?kind=assets.edited&limit=40") == edits)
        #expect(try gallery.lines("/v1/log?kind=assets.edited&limit=35") == Array(edits.prefix(35)))
        let history = "/v1/objects/\(ids[0].uuidString)/history"
        #expect(try gallery.lines(history) == gallery.pages("\(history)?", limit: 1, "start"))
      }
    }

    @Test("the history shows each client what it saw")
    func history() async throws {
      try await TestGallery.serving { gallery in
        try await gallery.live()
        let app = try gallery.key(of: "app")
        for (library, key) in [(gallery.library, "owner"), (gallery.library.as("app"), app.secret)] {
          let wanted = try library.fetchPersistentChanges(since: library.earliestToken).map { try JSON($0).description }
          #expect(!wanted.isEmpty)
          for limit in [1, 2, 1000] {
            #expect(try gallery.pages("/v1/history?", limit: limit, "since", key: key) == wanted)
          }
          #expect(try gallery.lines("/v1/history", key: key) == wanted)
        }
        let foreign = try gallery.library.currentToken
        #expect(try gallery.ask("GET", "/v1/history?since=\(foreign)", key: app.secret).status == 400)
      }
    }

    @Test("a page of the history ends at a mebibyte, and the next ones go on, in both directions")
    func longHistory() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(10_000)
        let start = try gallery.library.currentToken
        for round in 0..<6 {
          try await gallery.library.performChanges { $0.setFavorite(round % 2 == 0, for: ids) }
        }
        for way in ["since=\(start)", "reverse=true"] {
          let page = try gallery.ask("GET", "/v1/history?\(way)").json()
          let count = (page["records"] as? [Any])?.count ?? 0
          #expect((1..<6).contains(count) && page["next"] is String, "\(way): \(count)")
        }
        let library = gallery.library
        let wanted = try library.fetchPersistentChanges(since: library.earliestToken).map { try JSON($0).description }
        // Compared apart from the expectations, which would print them.
        let pages = try gallery.pages("/v1/history?", limit: 1000, "since")
        let reversed = try gallery.pages("/v1/history?reverse=true&", limit: 1000, "cursor")
        let isSame = try [pages, reversed.reversed(), gallery.lines("/v1/history")].map { $0 == wanted }
        #expect(isSame == [true, true, true])
        #expect(try gallery.lines("/v1/history?since=\(start)&limit=5").count == 5)
      }
    }

    @Test("the difference of two states of a fetch is the library's, in both directions")
    func differences() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(5)
        let before = try gallery.fetch()
        try await gallery.library.performChanges { $0.deleteAssets([ids[1]]) }
        try await gallery.makeAssets(2, from: 50)
        let now = try gallery.library.currentToken
        let path = "/v1/fetches/\(before.name)/diff"
        let there = try gallery.ask("GET", "\(path)?from=\(before.token)")
        let details = try gallery.library.changeDetails(
          from: gallery.library.at(Token(before.token)).fetchAssets(FetchOptions()), to: now)
        #expect(there.body == (try details.difference { try gallery.library.json(of: $0) }.description))
        let json = try there.json()
        #expect(json["removed"] as? [[Int]] == [[1, 1]] && json["inserted"] as? [[Int]] == [[4, 2]])
        let back = try gallery.ask("GET", "\(path)?from=now&to=\(before.token)")
        #expect(back.status == 400, "'now' names no state to begin with")
        let reverse = try gallery.ask("GET", "\(path)?from=\(now)&to=\(before.token)").json()
        #expect(reverse["inserted"] as? [[Int]] == [[1, 1]] && reverse["removed"] as? [[Int]] == [[4, 2]])
        #expect(try gallery.ask("GET", path).status == 400)
      }
    }

    @Test("the difference of albums and folders at two states is the library's")
    func collections() async throws {
      try await TestGallery.serving { gallery in
        let (_, album) = try await gallery.live()
        let before = try gallery.library.currentToken
        let held = try gallery.library.fetchCollections()
        try await gallery.library.performChanges { change in
          change.setTitle("Lake", of: album)
          _ = change.createFolder(title: "Trips")
        }
        let answer = try gallery.ask("GET", "/v1/collections:diff?from=\(before)")
        let details = try gallery.library.changeDetails(from: held, to: gallery.library.currentToken)
        #expect(answer.body == (try details.difference { JSON($0) }.description))
        #expect(try answer.json()["changed"] as? [[Int]] == [[0, 1]])
        let condition = "localizedTitle%20%3D%3D%20%22Trips%22"
        let named = try gallery.ask("GET", "/v1/collections:diff?from=\(before)&where=\(condition)")
        #expect(try named.json()["inserted"] as? [[Int]] == [[0, 1]] && named.json()["changed"] as? [[Int]] == [])
        #expect(try gallery.ask("GET", "/v1/collections:diff").status == 400)
        // A predicate takes work to read, and is read for those who may read the library.
        let stranger = try gallery.key(of: "stranger").secret
        let malformed = "/v1/collections:diff?from=1&where=title"
        #expect(try gallery.ask("GET", malformed).status == 400)
        #expect(try gallery.ask("GET", malformed, key: stranger).status == 403)
        #expect(try gallery.ask("GET", "/v1/collections:diff?from=1&sort=colour").status == 400)
      }
    }

    @Test("a checkpoint and proofs over HTTP are those that the library checks")
    func evidence() async throws {
      try await TestGallery.serving { gallery in
        try await gallery.live()
        let note = try gallery.ask("GET", "/v1/checkpoint", ["Accept: text/plain"])
        let checkpoint = try Checkpoint(note.body)
        let json = try gallery.ask("GET", "/v1/checkpoint").json()
        #expect(json["root"] as? String == checkpoint.root && json["size"] as? UInt64 == checkpoint.size)
        let inclusion = try gallery.ask("GET", "/v1/proofs/inclusion?sequence=2&record=true")
        try JSONDecoder().decode(InclusionProof.self, from: Data(inclusion.body.utf8)).check(against: [checkpoint])
        let consistency = try gallery.ask("GET", "/v1/proofs/consistency?earlier=2&size=\(checkpoint.size)")
        try JSONDecoder().decode(ConsistencyProof.self, from: Data(consistency.body.utf8)).check(against: [checkpoint])
        #expect(try gallery.ask("GET", "/v1/proofs/inclusion?sequence=0").status == 400)
        #expect(try gallery.ask("GET", "/v1/proofs/inclusion?sequence=99999999").status == 400)
        #expect(try gallery.ask("GET", "/v1/proofs/consistency?earlier=99999999").status == 400)
      }
    }

    @Test("a limited client learns nothing from any of these routes, whatever it names")
    func limited() async throws {
      try await TestGallery.serving { gallery in
        let (ids, album) = try await gallery.live()
        let app = try gallery.key(of: "app")
        let fetch = try gallery.fetch(key: app.secret)
        let nothing = "00000000-0000-0000-0000-000000000000"
        for (path, seen, absent) in [
          ("/v1/log?asset=$", ids[0].uuidString, nothing), ("/v1/log?at=$", "3", "99999999"),
          ("/v1/log?cursor=$", "3", "99999999"), ("/v1/objects/$/history", ids[1].uuidString, nothing),
          ("/v1/objects/$/access", ids[1].uuidString, nothing), ("/v1/clients/$/access", "app", "none"),
          ("/v1/collections/$/blame", album.uuidString, nothing), ("/v1/checkpoint", "", ""),
          ("/v1/proofs/inclusion?sequence=$", "3", "99999999"), ("/v1/proofs/consistency?earlier=$", "3", "99999999"),
          ("/v1/fetches/\(fetch.name)/diff?from=$", "3", "99999999"),
        ] {
          let one = try gallery.ask("GET", path.replacing("$", with: seen), key: app.secret)
          let other = try gallery.ask("GET", path.replacing("$", with: absent), key: app.secret)
          #expect(one.status == 403 && one.body == other.body, "\(path) \(one)")
        }
      }
    }
  }

  @Suite("Undo over HTTP")
  struct UndoRouteTests {
    @Test("a plan changes nothing and describes what executing it does; the same key executes it once")
    func undo() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(3)
        let receipt = try await gallery.library.performChanges(cause: "oops") { $0.setFavorite(true, for: ids) }
        let plan = try gallery.lines("/v1/undo", method: "POST", json: ["cause": "oops", "plan": true])
        let report = try gallery.library.planUndo(try UndoRequest(["cause": "oops"]).selection)
        #expect(plan == UndoLines(report, isDryRun: true).map(\.description) && plan.count == 4)
        #expect(try gallery.library.currentToken == receipt.token)
        let key = ["Idempotency-Key: u1"]
        let done = try gallery.ask("POST", "/v1/undo", json: ["commit": receipt.token.description], key)
        #expect(done.status == 200, "\(done)")
        let json = try done.json()
        let summary = try #require(json["summary"] as? [String: Any])
        #expect(summary["changeCount"] as? Int == 3 && (json["records"] as? [Any])?.count == 3)
        #expect(json["isComplete"] as? Bool == true)
        let token = try gallery.library.currentToken
        #expect(summary["token"] as? String == token.description)
        #expect(try gallery.library.asset(ids[0].uuidString)?.isFavorite == false)
        try await gallery.restart()
        let again = try gallery.ask("POST", "/v1/undo", json: ["commit": receipt.token.description], key).json()
        #expect((again["summary"] as? [String: Any])?["isRepetition"] as? Bool == true)
        #expect(try gallery.library.currentToken == token)
      }
    }

    @Test("an undo chooses commits by the kinds of their events and by their time")
    func kinds() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(3)
        try await gallery.library.performChanges { $0.setFavorite(true, for: ids) }
        try await gallery.library.performChanges { $0.deleteAssets([ids[0]]) }
        func count(_ body: [String: any Sendable]) throws -> Int {
          try gallery.lines("/v1/undo", method: "POST", json: body.merging(["plan": true]) { $1 }).count - 1
        }
        #expect(try count(["kinds": ["trashed"]]) == 1)
        #expect(try count(["kinds": ["trashed"], "until": "2000-01-01T00:00:00Z"]) == 0)
        #expect(try count(["kinds": ["assets.edited", "trashed"], "since": "2000-01-01T00:00:00Z"]) == 4)
        for body in [["kinds": ["binned"]], ["since": "yesterday"], ["until": 5]] as [[String: any Sendable]] {
          #expect(try gallery.ask("POST", "/v1/undo", json: body).status == 400)
        }
      }
    }

    @Test("an undo of many changes is given as lines to its end")
    func many() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(250)
        let receipt = try await gallery.library.performChanges { $0.setFavorite(true, for: ids) }
        let lines = try gallery.lines("/v1/undo", method: "POST", json: ["commit": receipt.token.description])
        #expect(lines.count == 251 && Set(lines).count == 251)
        #expect(lines.last?.hasPrefix(#"{"line":"summary""#) == true)
        #expect(try gallery.library.asset(ids[249].uuidString)?.isFavorite == false)
      }
    }

    @Test("what was changed since is a conflict, unless it is skipped or forced")
    func conflict() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(2)
        func rate(_ rating: AssetRating, _ ids: [LocalIdentifier]) throws -> CommitReceipt {
          var changes = AssetChanges()
          changes.rating = rating
          return try gallery.library.performChangesAndWait { $0.edit(ids, changes) }
        }
        let receipt = try rate(.three, ids)
        _ = try rate(.five, [ids[0]])
        let head = try gallery.library.currentToken
        let body = ["commit": receipt.token.description]
        #expect(try gallery.ask("POST", "/v1/undo", json: body).status == 409)
        #expect(try gallery.library.currentToken == head)
        let skipped = try gallery.ask("POST", "/v1/undo", json: body.merging(["onConflict": "skip"]) { $1 })
        #expect(skipped.status == 200)
        #expect(try gallery.library.asset(ids[0].uuidString)?.rating == .five)
        #expect(try gallery.library.asset(ids[1].uuidString)?.rating == .unset)
      }
    }

    @Test("a client undoes its own changes only, a limited one none")
    func permissions() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(2)
        try await gallery.library.performChanges { change in
          change.setAuthorizationStatus(.authorized, of: "full")
          change.setAuthorizationStatus(.limited, of: "app")
        }
        let receipt = try await gallery.library.performChanges { $0.setFavorite(true, for: ids) }
        let (full, app) = (try gallery.key(of: "full"), try gallery.key(of: "app"))
        let body: [String: Any] = ["commit": receipt.token.description, "plan": true]
        #expect(try gallery.ask("POST", "/v1/undo", json: body, key: full.secret).status == 403)
        #expect(try gallery.ask("POST", "/v1/undo", json: body, key: app.secret).status == 403)
        #expect(try gallery.ask("POST", "/v1/undo", json: ["all": true, "plan": true], key: app.secret).status == 403)
        let own = try gallery.library.as("full").performChangesAndWait { $0.setFavorite(false, for: [ids[0]]) }
        let mine = ["commit": own.token.description]
        #expect(try gallery.ask("POST", "/v1/undo", json: mine, key: full.secret).status == 200)
        #expect(try gallery.library.asset(ids[0].uuidString)?.isFavorite == true)
      }
    }

    @Test(
      "a body that does not describe an undo is a problem",
      arguments: [
        "{}", "[]", "{", #"{"all":true,"cause":"x"}"#, #"{"commit":"t1-0000000000000000-1","from":"t1-1"}"#,
        #"{"cause":3}"#, #"{"cause":""}"#, #"{"cause":"a","why":""}"#, #"{"cause":"a","colour":1}"#,
        #"{"cause":"a","onConflict":"maybe"}"#,
        #"{"commit":"x"}"#, #"{"commit":"t1-0000000000000000-1"}"#,
      ])
    func malformed(_ body: String) async throws {
      try await TestGallery.serving { gallery in
        let answer = try gallery.post("/v1/undo", Array(body.utf8))
        #expect(answer.status == 400, "\(answer)")
      }
    }
  }
#endif
