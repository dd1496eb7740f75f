#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger
  import Synchronization
  import TestSupport
  import Testing

  @Suite("The day of Recently Added")
  struct RecentlyAddedTests {
    private static let question = ["smartAlbum": "smartAlbumRecentlyAdded"]

    /// Runs a body against a gallery whose library has one asset, and a clock that the body moves by days.
    private func serving(_ body: (TestGallery, (Int) -> Void) async throws -> Void) async throws {
      let days = Atomic(0)
      var environment = LibraryEnvironment.seeded(1)
      let now = environment.now
      environment.now = { now().addingTimeInterval(Double(days.load(ordering: .relaxed)) * 86_400) }
      try await TestGallery.serving(library: environment) { gallery in
        _ = try await gallery.makeAssets(1)
        try await body(gallery) { days.add($0, ordering: .relaxed) }
      }
    }

    @Test("a fetch at a token is one list on every day, in every form, also after a restart")
    func pinned() async throws {
      try await serving { gallery, advance in
        let first = try gallery.fetch(Self.question)
        #expect(first.count == 1)
        func answers() throws -> [Answer] {
          try ["/items?count=9&token=\(first.token)", "/sections?token=\(first.token)", "?token=\(first.token)"].map {
            try gallery.ask("GET", "/v1/fetches/\(first.name)\($0)")
          }
        }
        let before = try answers()
        #expect(before[0].body.contains("localIdentifier"))
        for isRestarted in [false, true] {
          advance(20)
          if isRestarted { try await gallery.restart() }
          let after = try answers()
          #expect(after.map(\.body) == before.map(\.body))
          #expect(after.map { $0.fields["etag"] } == before.map { $0.fields["etag"] })
        }
        let later = try gallery.fetch(Self.question)
        #expect(later.count == 0 && later.token == first.token && later.name != first.name)
        #expect(try gallery.identifiers(later.name, at: later.token).isEmpty)
        #expect(try gallery.ask("GET", "/v1/fetches/\(later.name)/sections?token=\(later.token)").body.contains("[]"))
        try await gallery.restart()
        #expect(try gallery.identifiers(later.name, at: later.token).isEmpty)
        #expect(try gallery.identifiers(first.name, at: first.token).count == 1)
      }
    }

    @Test("a feed continues from the list that its client holds, whatever the current day")
    func followed() async throws {
      try await serving { gallery, advance in
        let first = try gallery.fetch(Self.question)
        var list = FollowedList(try gallery.identifiers(first.name, at: first.token), at: first.token)
        advance(40)
        try await gallery.restart()
        let feed = try FeedClient(gallery, "fetch=\(first.name)&after=\(first.token)")
        _ = try await gallery.makeAssets(1, from: 1)
        try list.apply(try #require(try feed.next()).data)
        #expect(list.identifiers.count == 2)
        #expect(list.identifiers == (try gallery.identifiers(first.name, at: list.token)))
        #expect(try gallery.fetch(Self.question).count == 1)
      }
    }

    @Test("the day can be given, is the moment's for an as-of list, and is rejected where no range counts back from it")
    func days() async throws {
      try await serving { gallery, advance in
        let first = try gallery.fetch(Self.question)
        let request = try FetchRequest(name: first.name)
        let day = try #require(request.day)
        #expect(day.timeIntervalSince1970.truncatingRemainder(dividingBy: 86_400) == 0)
        advance(40)
        let past = try gallery.ask("POST", "/v1/fetches?at=\(first.token)", json: Self.question).json()
        #expect(past["fetch"] as? String == first.name && past["count"] as? Int == 1)
        #expect(try gallery.fetch(Self.question.merging(["day": "2025-06-15"]) { $1 }).name == first.name)
        // The album by its identifier is the same album.
        let album = try #require(
          try gallery.library.fetchCollections(with: .smartAlbum, subtype: .smartAlbumRecentlyAdded).firstObject)
        let named = try gallery.fetch(["album": album.localIdentifier])
        #expect(named.count == 0)
        #expect(try FetchRequest(name: named.name).day != nil)
        for json in [["day": "2025-06-15"], ["smartAlbum": "smartAlbumFavorites", "day": "2025-06-15"]] {
          #expect(try gallery.ask("POST", "/v1/fetches", json: json).status == 400, "\(json)")
        }
        for wrong in ["2025-6-15", "2025-02-30", "2025-06-15T00:00:00", "today", ""] {
          let json = Self.question.merging(["day": wrong]) { $1 }
          #expect(try gallery.ask("POST", "/v1/fetches", json: json).status == 400, "\(wrong)")
        }
        let dayless = try FetchRequest(["smartAlbum": "smartAlbumRecentlyAdded"]).name
        #expect(try gallery.ask("GET", "/v1/fetches/\(dayless)/items").status == 400)
      }
    }
  }
#endif
