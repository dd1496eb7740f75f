#if Gallery
  import Foundation
  @testable import GalleryServer
  @testable import HTTPServing
  import LibraryMaintenance
  import PhotoLedger
  import TestSupport
  import Testing

  extension TestGallery {
    /// The samples of /metrics by their names and labels, and the lines that describe them by their names.
    func metrics() throws -> (samples: [String: Double], described: [String: [String]]) {
      let answer = try ask("GET", "/metrics")
      try #require(answer.status == 200, "\(answer)")
      #expect(answer.fields["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
      var (samples, described) = ([String: Double](), [String: [String]]())
      for line in answer.body.split(separator: "\n") {
        let words = line.split(separator: " ", maxSplits: 3).map(String.init)
        if line.hasPrefix("# ") {
          described[words[2], default: []].append("\(words[1]) \(words[3])")
        } else {
          #expect(words.count == 2 && samples[words[0]] == nil, "\(line)")
          let value: Double = try #require(Double(words[1]), "\(line)")
          samples[words[0]] = value
        }
      }
      return (samples, described)
    }

    func sample(_ name: String) throws -> Double { try #require(metrics().samples["photoledger_" + name]) }
  }

  @Suite("What a supervisor and a monitor read")
  struct MetricsTests {
    @Test("each metric is described, with a name and a unit in Prometheus style")
    func form() async throws {
      try await TestGallery.serving { gallery in
        let (samples, described) = try gallery.metrics()
        #expect(Set(samples.keys.map { String($0.prefix { $0 != "{" }) }) == Set(described.keys))
        for (name, lines) in described {
          #expect(name.wholeMatch(of: #/photoledger_[a-z_]+/#) != nil, "\(name)")
          #expect(lines.count == 2 && lines[0].hasPrefix("HELP ") && lines[0].hasSuffix("."), "\(name): \(lines)")
          #expect(lines[1] == (name.hasSuffix("_total") ? "TYPE counter" : "TYPE gauge"), "\(name): \(lines)")
        }
        // The page of Serving lists them all.
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
          .deletingLastPathComponent()
        let page = try String(
          contentsOf: root.appending(path: "Sources/PhotoLedger/PhotoLedger.docc/Serving.md"), encoding: .utf8)
        let listed = Set(page.matches(of: #/`(photoledger_[a-z_]+)/#).map { String($0.output.1) })
        #expect(listed == Set(described.keys))
      }
    }

    @Test("the metrics of log and store are those of the statistics")
    func store() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(20)
        try await gallery.library.performChanges { $0.setFavorite(true, for: ids) }
        // What follows a commit may still read and write: the figures compared are between two equal statistics.
        var (statistics, samples) = (try gallery.library.statistics(), [String: Double]())
        try await waitUntil("the store rests") {
          (statistics, samples) = (try gallery.library.statistics(), try gallery.metrics().samples)
          return try gallery.library.statistics() == statistics
        }
        for (name, value) in [
          ("commits_total", Double(statistics.commitCount)), ("events_total", Double(statistics.eventCount)),
          ("events_quarantined", 0), ("store_used_bytes", Double(statistics.storeBytes)),
          ("store_free_bytes", Double(statistics.storeFreeBytes)), ("store_map_bytes", Double(statistics.mapBytes)),
        ] { #expect(samples["photoledger_" + name] == value, "\(name)") }
        #expect(statistics.eventCount > 0 && statistics.storeBytes > 0)
        #expect(try gallery.sample("store_readers") >= 1)
        #expect(try gallery.sample("requests_total{status=\"201\"}") == 1)
        #expect(try gallery.ask("GET", "/metrics", key: gallery.key(of: "app").secret).status == 403)
      }
    }

    @Test("the oldest reader lags by the transactions since its snapshot, and no longer once it has ended")
    func readerLag() async throws {
      try await TestGallery.serving { gallery in
        func lag() throws -> Double { try gallery.sample("store_oldest_reader_lag_transactions") }
        let album: [String: Any] = ["op": "album.create", "title": "Sea"]
        try await waitUntil("no reader lags") { try lag() == 0 }
        try gallery.library.store.reading { _ in
          for count in 1...3 {
            let (answer, behind) = (try gallery.ask("POST", "/v1/blocks", json: ["changes": [album]]), try lag())
            #expect(answer.status == 200 && behind >= Double(count), "\(answer)")
          }
        }
        try await waitUntil("no reader lags") { try lag() == 0 }
      }
    }

    @Test("feeds and streams of states are counted while they are open")
    func streams() async throws {
      try await TestGallery.serving { gallery in
        func open() throws -> [Double] {
          let samples = try gallery.metrics().samples
          return try ["feeds_open", "streams_open{kind=\"events\"}", "streams_open{kind=\"contents\"}"].map {
            try #require(samples["photoledger_" + $0])
          }
        }
        #expect(try open() == [0, 0, 0])
        let fetch = try gallery.fetch()
        var feed: FeedClient? = try FeedClient(gallery, "fetch=\(fetch.name)")
        var states: [StateClient] = try ["/v1/session/events", "/v1/requests/events"].map {
          try StateClient(gallery, $0)
        }
        #expect(try feed?.next()?.name == "state")
        for state in states { #expect(try state.next() != nil) }
        #expect(try open() == [1, 3, 0])
        feed = nil
        try await waitUntil("the feed is closed") { try open() == [0, 2, 0] }
        states = []
        try await waitUntil("the streams are closed") { try open() == [0, 0, 0] }
      }
    }

    @Test("uploads are counted with their bytes until they are finished, bodies while they are received")
    func uploads() async throws {
      try await TestGallery.serving { gallery in
        func figures() throws -> [Double] {
          let samples = try gallery.metrics().samples
          return try ["uploads_unfinished", "uploads_unfinished_bytes", "uploads_receiving"].map {
            try #require(samples["photoledger_" + $0])
          }
        }
        #expect(try figures() == [0, 0, 0])
        let part = try gallery.send("POST", "/v1/uploads", Data(count: 1_000), ["Upload-Complete: ?0"]).answer
        let place = try #require(part.fields["location"], "\(part)")
        #expect(try figures() == [1, 1_000, 0])
        let client = try RawClient(port: gallery.address.port)
        client.send(try gallery.head("POST", "/v1/uploads", ["Upload-Complete: ?0", "Content-Length: 2000"]))
        client.send([UInt8](repeating: 7, count: 500))
        try await waitUntil("a body comes") { try figures()[2] == 1 }
        client.send([UInt8](repeating: 7, count: 1_500))
        try await waitUntil("the body has come") { try figures() == [2, 3_000, 0] }
        #expect(try gallery.ask("DELETE", place).status == 204)
        #expect(try figures() == [1, 2_000, 0])
        #expect(try gallery.sample("disk_free_bytes") > 0)
      }
    }

    @Test("a feed that waits for its client lags, and one whose client has read does not")
    func lag() async throws {
      try await TestGallery.serving { gallery in
        try await gallery.makeAssets(3)
        let fetch = try gallery.fetch()
        let client = try FeedClient(gallery, "fetch=\(fetch.name)")
        #expect(try client.next()?.name == "state")
        try await waitUntil("it has read all") { try gallery.sample("feed_lag_seconds") == 0 }
        // A stream that no connection reads.
        let (key, _) = try gallery.server.keyring.makeKey(.init(client: PhotoLibrary.owner, label: ""))
        let cursor = FeedCursor([(try FetchRequest(name: fetch.name), nil)])
        let unread = Feed(cursor, name: "unread", key: key, sections: nil, for: gallery.server)
        try gallery.server.feeds.add(unread, limit: .max)
        try await waitUntil("it lags") { try gallery.sample("feed_lag_seconds") > 0 }
        let first = try gallery.sample("feed_lag_seconds")
        try await gallery.library.performChanges { _ = $0.createAlbum(title: "Sea") }
        #expect(try gallery.sample("feed_lag_seconds") > first)
        #expect(try gallery.sample("feeds_open") == 2)
        unread.stream.close()
        #expect(try gallery.sample("feeds_open") == 1)
        try await waitUntil("none lags") { try gallery.sample("feed_lag_seconds") == 0 }
      }
    }

    @Test("a process whose store cannot be read is alive but not ready")
    func notReady() async throws {
      try await TestGallery.serving { gallery in
        func status(_ path: String) throws -> Int { try gallery.ask("GET", path, key: nil).status }
        #expect(try status("/healthz") == 200 && status("/readyz") == 200)
        gallery.library.close()
        #expect(try status("/healthz") == 200)
        let answer = try gallery.ask("GET", "/readyz", key: nil)
        #expect(answer.status == 503 && answer.body.contains("urn:photoledger:problem:closed"), "\(answer)")
      }
    }

    @Test("a server whose library a newer program migrates is not ready, and says that it needs that program")
    func migrated() async throws {
      try await TestGallery.serving { gallery in
        #expect(try gallery.ask("GET", "/readyz", key: nil).status == 200)
        try gallery.temporary.migrateAsNewerProgram()
        let json = ["name": "com.example.app", "usage": "It shows your photos."]
        let write = try gallery.ask("POST", "/v1/clients", json: json, key: nil)
        #expect(write.status == 503 && write.body.contains("urn:photoledger:problem:library-offline"), "\(write)")
        try await waitUntil("the library is given up") { gallery.library.unavailabilityReason != nil }
        let answer = try gallery.ask("GET", "/readyz", key: nil)
        #expect(answer.status == 503 && answer.body.contains("library-offline"), "\(answer)")
        #expect(answer.body.contains("restart the server with the newer program"), "\(answer)")
      }
    }

    @Test("once a newer program has migrated the library nothing is read of it, and what an operator needs is answered")
    func migratedBelowReaders() async throws {
      try await TestGallery.serving { gallery in
        let (asset, sha256) = try await gallery.makeFile("some bytes")
        let (fetch, token, _) = try gallery.fetch(["sort": ["creationDate"]])
        let reads = [
          "/v1/fetches/\(fetch)/items?token=\(token)", "/v1/changes?fetch=\(fetch)", "/v1/assets/\(asset)",
          "/v1/assets/\(asset)/resources/\(sha256)", "/v1/collections", "/v1/clients", "/v1/requests", "/v1/log",
          "/v1/health",
        ]
        // Twice: what was sent before may be held.
        for target in reads + reads { #expect(try gallery.ask("GET", target).status == 200, "\(target)") }
        try gallery.temporary.migrateAsNewerProgram()
        try await waitUntil("the library is given up") { gallery.library.unavailabilityReason != nil }
        for target in reads {
          let answer = try gallery.ask("GET", target)
          #expect(answer.status == 503 && answer.body.contains("library-offline"), "\(target): \(answer)")
          #expect(answer.body.contains("A newer PhotoLedger has migrated the library"), "\(target): \(answer)")
        }
        let search = try gallery.ask("POST", "/v1/duplicates", json: ["distance": 1])
        #expect(search.status == 503 && search.body.contains("library-offline"), "\(search)")
        for target in ["/healthz", "/metrics", "/v1/keys"] {
          #expect(try gallery.ask("GET", target).status == 200, "\(target)")
        }
      }
    }

    @Test("a feed says when its client should reconnect, and ends completely when the server stops")
    func retry() async throws {
      try await TestGallery.serving { gallery in
        let fetch = try gallery.fetch()
        let client = try FeedClient(gallery, "fetch=\(fetch.name)")
        let state = try #require(try client.next())
        #expect(client.retryMilliseconds == 2000 && !client.hasEnded)
        try await gallery.restart()
        #expect(try client.next() == nil && client.hasEnded)
        // What the client had is where it goes on, in the next server.
        let again = try FeedClient(gallery, "fetch=\(fetch.name)", after: state.id)
        _ = try await gallery.makeAssets(1)
        #expect(try again.next()?.data["before"] as? String == fetch.token)
        #expect(again.retryMilliseconds == 2000)
      }
    }
  }
#endif
