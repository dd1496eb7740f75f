#if Gallery
  import Foundation
  @testable import GalleryServer
  import LibraryJSON
  import LibraryMaintenance
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite("Feeds over an erasure")
  struct ErasedFeedTests {
    @Test("after an erasure a client continues exactly where its list is held, and otherwise gets a state")
    func resumed() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(12)
        let fetch = try gallery.fetch(["sort": ["creationDate"]])
        let list = try gallery.identifiers(fetch.name, at: fetch.token)
        let place = try #require(list.firstIndex(of: ids[5].spelled(as: .asset)))
        let window = "/v1/fetches/\(fetch.name)/items?token=\(fetch.token)&start=0&count=3"
        let before = try gallery.ask("GET", window)
        try gallery.library.eraseAssets([ids[5]])
        let changes = "/v1/fetches/\(fetch.name)/changes?after=\(fetch.token)"
        let change = try gallery.ask("GET", changes).json()
        #expect(change["removed"] as? [[Int]] == [[place, 1]] && change["count"] as? Int == 11)
        let held = try gallery.ask("GET", window)
        // The list is held and its objects are read as they are asked for, so a window has another name from now on.
        #expect(try held.json()["total"] as? Int == 12 && held.fields["etag"] != before.fields["etag"])

        try await gallery.restart()
        let now = try gallery.library.currentToken.description
        let client = try FeedClient(gallery, "fetch=\(fetch.name)&after=\(fetch.token)")
        let event = try #require(try client.next())
        #expect(event.name == "state" && event.data["count"] as? Int == 11 && event.data["token"] as? String == now)
        try await gallery.library.performChanges { $0.setFavorite(true, for: [ids[0]]) }
        let next = try #require(try client.next())
        #expect(next.name == "change" && next.data["before"] as? String == now)

        let gone = try gallery.ask("GET", changes)
        #expect(gone.status == 410 && gone.body.contains("token-expired"))
        let poll = try gallery.ask("GET", "/v1/changes?fetch=\(fetch.name)&after=\(fetch.token)").json()
        let messages = try #require(poll["messages"] as? [[String: Any]])
        #expect(messages.count == 1 && messages[0]["before"] == nil && messages[0]["count"] as? Int == 11)
        let after = try gallery.ask("GET", window, ["If-None-Match: \(try #require(before.fields["etag"]))"])
        #expect(after.status == 200 && after.fields["etag"] != before.fields["etag"])
      }
    }

    @Test(
      "no window, in any form, keeps its tag over an erasure, whether the list is held or not",
      arguments: ["items?", "items?form=columns&", "shapes?"])
    func tags(_ path: String) async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(12)
        let fetch = try gallery.fetch(["sort": ["creationDate"]])
        let window = "/v1/fetches/\(fetch.name)/\(path)token=\(fetch.token)&start=0&count=12"
        let before = try gallery.ask("GET", window)
        let tag = try #require(before.fields["etag"])
        #expect(try gallery.ask("GET", window, ["If-None-Match: \(tag)"]).status == 304)
        try gallery.library.eraseAssets([ids[5]])
        let held = try gallery.ask("GET", window, ["If-None-Match: \(tag)"])
        #expect(held.status == 200 && held.fields["etag"] != tag)
        let heldTag = try #require(held.fields["etag"])
        #expect(try gallery.ask("GET", window, ["If-None-Match: \(heldTag)"]).status == 304)
        // Made anew the list is another one: no tag of before is good for it, unless it has the same bytes.
        try await gallery.restart()
        let after = try gallery.ask("GET", window, ["If-None-Match: \(tag)"])
        #expect(after.status == 200 && after.fields["etag"] != tag)
        #expect((after.fields["etag"] == heldTag) == (after.body == held.body))
      }
    }

    @Test("an erasure of what a limited client never saw leaves the states that it holds exact")
    func unseen() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(12)
        try await gallery.library.performChanges { change in
          change.setAuthorizationStatus(.limited, of: "app")
          change.grant(Array(ids[..<8]), to: "app")
        }
        let key = try gallery.key(of: "app").secret
        let fetch = try gallery.fetch(["sort": ["creationDate"]], key: key)
        let window = "/v1/fetches/\(fetch.name)/items?token=\(fetch.token)&start=0&count=6"
        let changes = "/v1/fetches/\(fetch.name)/changes?after=\(fetch.token)"
        let before = (try gallery.ask("GET", window, key: key), try gallery.ask("GET", changes, key: key))
        #expect(before.0.status == 200 && before.1.status == 200)

        // What the server held would answer as before in any case.
        try gallery.library.eraseAssets([ids[10]])
        try await gallery.restart()
        let held = try gallery.ask("GET", window, key: key)
        #expect(held.body == before.0.body && held.fields["etag"] == before.0.fields["etag"])
        #expect(try gallery.ask("GET", changes, key: key).body == before.1.body)

        try gallery.library.eraseAssets([ids[5]])
        try await gallery.restart()
        let gone = try gallery.ask("GET", changes, key: key)
        #expect(gone.status == 410 && gone.body.contains("after the state \(fetch.token)"), "\(gone)")
        let after = try gallery.ask("GET", window, key: key)
        #expect(after.status == 200 && after.fields["etag"] != before.0.fields["etag"])
      }
    }

    @Test("a begun result that is not yet complete when an asset is erased is dropped, and the server continues")
    func begun() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(12)
        try await gallery.library.performChanges { $0.setFavorite(true, for: ids) }
        let fetch = try gallery.fetch(["where": "isFavorite == YES", "sort": ["creationDate"]])
        #expect(fetch.count == 12)
        try gallery.library.eraseAssets([ids[11]])
        let answer = try gallery.ask("GET", "/v1/fetches/\(fetch.name)/items?token=\(fetch.token)&start=10&count=5")
        #expect(answer.status == 410 && answer.body.contains("token-expired"))
        #expect(try gallery.fetch(["where": "isFavorite == YES", "sort": ["creationDate"]]).count == 11)
      }
    }
  }
#endif
