#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import LibraryJSON
  import PhotoLedger
  import Synchronization
  import TestSupport
  import Testing

  // A message is encoded once for all feeds that send it. The model is a feed that is alone: each message that came is
  // worked out anew for its client, its fetch, its two tokens and its sections, by a way that keeps nothing.

  @Suite("Messages that many feeds send")
  struct EncodedMessagesTests {
    /// Names of which each differs from others in one part only.
    private static func names(_ random: inout SeededGenerator) throws -> [EncodedMessages.Name] {
      let fetches = try [FetchRequest([:]), FetchRequest(["limit": 1])]
      let tokens = (1...3).map { Token(library: 7, commit: UInt64($0)) }
      var names: [EncodedMessages.Name] = []
      for client in ["one", "two"] {
        for fetch in fetches {
          for (before, after) in [(0, 1), (1, 2), (0, 2)] {
            for sections in [nil, "day-GMT", "day-Asia/Tokyo"] {
              for renditions in 0..<2 {
                names.append(
                  EncodedMessages.Name(
                    client: client, fetch: fetch, before: tokens[before], after: tokens[after], sections: sections,
                    renditions: renditions))
              }
            }
          }
        }
      }
      return names.shuffled(using: &random)
    }

    @Test(
      "a kept message is the one that was made for its name, whatever is asked meanwhile",
      arguments: 0..<4 as Range<UInt64>)
    func kept(_ seed: UInt64) async throws {
      var random = SeededGenerator(seed: seed)
      let messages = EncodedMessages()
      let names = try Self.names(&random)
      let made = Made()
      let orders = (0..<8).map { _ in
        (0..<Dose.of(300)).map { step in (step / 40 * 3 + Int.random(in: 0..<12, using: &random)) % names.count }
      }
      let askedCount = orders.reduce(0) { $0 + $1.count }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for order in orders {
          group.addTask {
            for index in order {
              let name = names[index]
              let message = messages.message(name) {
                made.count.withLock { $0 += 1 }
                return .text("\(name)")
              }
              #expect(message.text == JSON.text("\(name)").description)
              #expect(message.cursor == FeedCursor([(name.fetch, name.after)]).spelled)
              #expect(messages.count <= EncodedMessages.limit)
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(made.count.withLock { $0 } < askedCount / 2, "Messages are hardly ever shared.")
    }

    /// How many messages were made.
    private final class Made: Sendable {
      let count = Mutex(0)
    }

    /// One feed: what was asked, and what came last of each fetch.
    private final class Follower {
      let feed: FeedClient
      let library: PhotoLibrary
      let sections: SectionChoice?
      var held: [String: String] = [:]
      var count = 0

      init(_ feed: FeedClient, _ library: PhotoLibrary, _ sections: SectionChoice?) {
        (self.feed, self.library, self.sections) = (feed, library, sections)
      }
    }

    @Test(
      "what many feeds are given is what each is given alone, whatever its client sees and whichever sections it wants",
      arguments: 0..<3 as Range<UInt64>)
    func alone(_ seed: UInt64) async throws {
      try await TestGallery.serving(seed: seed) { gallery in
        var random = SeededGenerator(seed: seed)
        var ids = try await gallery.makeAssets(12)
        let clients = ["full", "other", "one", "two"]
        try await gallery.library.performChanges { change in
          for client in clients.prefix(2) { change.setAuthorizationStatus(.authorized, of: client) }
          for client in clients.dropFirst(2) {
            change.setAuthorizationStatus(.limited, of: client)
            change.grant(Array(ids.prefix(3)), to: client)
          }
        }
        let followers = try Self.followers(of: gallery, clients)
        for _ in 0..<Dose.of(40) {
          let count = ids.count
          try await Self.step(gallery, &ids, clients, &random)
          // Some commits are delivered one by one, some composed.
          if ids.count > count {
            try Self.read(followers[0], in: gallery, until: ids[count], inEachFetch: false)
          }
        }
        // The last asset comes to each client, in each fetch.
        var last = AssetCreation.invented(9_999, date: Date(timeIntervalSince1970: 99 * 86_400))
        last.isFavorite = true
        try await gallery.library.performChanges { [last] change in
          let asset = change.createAsset(last)
          for client in clients {
            change.setAuthorizationStatus(.limited, of: client)
            change.grant([asset], to: client)
          }
          ids.append(asset)
        }
        for follower in followers { try Self.read(follower, in: gallery, until: try #require(ids.last)) }
        #expect(followers.allSatisfy { $0.count > 1 })
      }
    }

    /// Two feeds for each client and each choice of sections.
    private static func followers(of gallery: TestGallery, _ clients: [String]) throws -> [Follower] {
      var followers: [Follower] = []
      let choices: [(unit: String, zone: String)?] = [nil, ("day", "GMT"), ("day", "Asia/Tokyo"), ("month", "GMT")]
      for client in ["owner"] + clients {
        let key = client == "owner" ? "owner" : try gallery.key(of: client).secret
        let fetches = try [["sort": ["creationDate:desc"]], ["where": "isFavorite == YES"]].map {
          try gallery.fetch($0, key: key)
        }
        let query = fetches.map { "fetch=\($0.name)&after=\($0.token)" }.joined(separator: "&")
        for choice in choices {
          for _ in 0..<2 {
            let sections = choice.map { "&sections=\($0.unit)&timeZone=\($0.zone)" } ?? ""
            let follower = Follower(
              try FeedClient(gallery, query + sections, key: key),
              client == "owner" ? gallery.library : gallery.library.as(client),
              try choice.map { try SectionChoice($0.unit, zone: $0.zone, named: "sections") })
            for fetch in fetches { follower.held[fetch.name] = fetch.token }
            followers.append(follower)
          }
        }
      }
      return followers
    }

    private static func step(
      _ gallery: TestGallery, _ ids: inout [LocalIdentifier], _ clients: [String], _ random: inout SeededGenerator
    ) async throws {
      let picked = Array(ids.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random)))
      let client = clients.randomElement(using: &random) ?? clients[0]
      let (kind, chance) = (Int.random(in: 0..<8, using: &random), Bool.random(using: &random))
      let date = Date(timeIntervalSince1970: Double(Int.random(in: 0..<4_000_000, using: &random)))
      if kind < 2 {
        ids += try await gallery.makeAssets(1, from: ids.count)
        return
      }
      try await gallery.library.performChanges { change in
        switch kind {
        case 2: change.setFavorite(chance, for: picked)
        case 3:
          var changes = AssetChanges()
          changes.creationDate = .set(date)
          change.edit(picked, changes)
        case 4: change.setHidden(chance, for: picked)
        case 5: change.setHidden(!chance, for: picked)
        case 6: change.grant(picked, to: client)
        default: change.withdraw(picked, from: client)
        }
      }
    }

    /// Reads and checks messages until an asset came: in any fetch, or in each.
    private static func read(
      _ follower: Follower, in gallery: TestGallery, until asset: LocalIdentifier, inEachFetch: Bool = true
    ) throws {
      var isThere: Set<String> = []
      while isThere.count < (inEachFetch ? follower.held.count : 1) {
        let event = try #require(try follower.feed.next(), "The feed of \(follower.library.client) ended early.")
        let name = try #require(event.data["fetch"] as? String)
        #expect(event.name == "change" && event.data["before"] as? String == follower.held[name], "\(event)")
        try expectAlone(event, of: FetchRequest(name: name), follower, gallery)
        follower.held[name] = try #require(event.data["after"] as? String)
        follower.count += 1
        if event.text.contains(asset.spelled(as: .asset)) { isThere.insert(name) }
        let cursor = try FeedCursor(event.id).tokens.map { ($0.fetch.name, $0.token?.description) }
        #expect(cursor.contains { $0 == (name, follower.held[name]) }, "\(event.id)")
      }
    }

    private static func expectAlone(
      _ event: FeedEvent, of fetch: FetchRequest, _ follower: Follower, _ gallery: TestGallery
    ) throws {
      let library = follower.library
      let (from, to) = (
        try Token(try #require(event.data["before"] as? String)),
        try Token(try #require(event.data["after"] as? String))
      )
      let before = try fetch.run(in: library.at(from), orAlbumsOf: library)
      let alone = try Message.change(
        try library.changeDetails(from: before, to: to), of: fetch, sections: follower.sections,
        RenditionColumns(library: library, renditions: gallery.server.renditions))
      #expect(event.text == alone.description, "for \(library.client)")
    }
  }
#endif
