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

  // A message is encoded once for all feeds that send it. The model of a kept message is that of its name; the model of
  // a feed is a feed that is alone: it keeps its own results, and works each message out anew by a way that keeps
  // nothing.
  //
  // What a client sees follows from its permission at the time, so a message is worked out before the permissions
  // change next: an asset that every client sees in every fetch is edited, and each feed is read up to that edit.

  @Suite("Messages that many feeds share")
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
                    client: client.exact, fetch: fetch, before: tokens[before], after: tokens[after],
                    sections: sections, renditions: renditions))
              }
            }
          }
        }
      }
      return names.shuffled(using: &random)
    }

    @Test(
      "a cached message is the one that was encoded for its name, whatever is requested meanwhile",
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

    /// One feed, and the results that its client holds by now.
    private final class Follower {
      let feed: FeedClient
      let library: PhotoLibrary
      let sections: SectionChoice?
      var held: [String: FetchResult<Asset>] = [:]
      var count = 0

      init(_ feed: FeedClient, _ library: PhotoLibrary, _ sections: SectionChoice?) {
        (self.feed, self.library, self.sections) = (feed, library, sections)
      }
    }

    @Test(
      "many feeds get what each would get alone, whatever its client sees and whichever sections it requests",
      arguments: 0..<3 as Range<UInt64>)
    func alone(_ seed: UInt64) async throws {
      try await TestGallery.serving(seed: seed) { gallery in
        var random = SeededGenerator(seed: seed)
        var ids = try await gallery.makeAssets(12)
        let mark = ids.removeFirst()
        let clients = ["full", "other", "one", "two"]
        try await gallery.library.performChanges { [ids] change in
          change.setFavorite(true, for: [mark])
          for client in clients {
            change.setAuthorizationStatus(client == "one" || client == "two" ? .limited : .authorized, of: client)
            change.grant([mark] + ids.prefix(3), to: client)
          }
        }
        let followers = try Self.followers(of: gallery, clients)
        for step in 0..<Dose.of(40) {
          if random.chance(3, of: 8) {
            try await Self.settle(followers, gallery, mark, step)
            try await Self.decide(gallery, ids, clients, &random)
          } else {
            try await Self.edit(gallery, &ids, &random)
          }
          // Some commits are delivered one by one, some composed.
          if random.chance(1, of: 3), let one = followers.randomElement(using: &random) {
            try await Self.settle([one], gallery, mark, 1_000 + step)
          }
        }
        try await Self.settle(followers, gallery, mark, 10_000)
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
        let library = client == "owner" ? gallery.library : gallery.library.as(client)
        for choice in choices {
          for _ in 0..<2 {
            let sections = choice.map { "&sections=\($0.unit)&timeZone=\($0.zone)" } ?? ""
            let follower = Follower(
              try FeedClient(gallery, query + sections, key: key), library,
              try choice.map { try SectionChoice($0.unit, zone: $0.zone, named: "sections") })
            for fetch in fetches {
              follower.held[fetch.name] = try FetchRequest(name: fetch.name).run(
                in: library.at(Token(fetch.token)), orAlbumsOf: library)
            }
            followers.append(follower)
          }
        }
      }
      return followers
    }

    /// A change of what there is to see.
    private static func edit(
      _ gallery: TestGallery, _ ids: inout [LocalIdentifier], _ random: inout SeededGenerator
    ) async throws {
      let picked = random.some(random.int(1..<4), of: ids)
      let flag = random.chance(1, of: 2)
      let date = Date(timeIntervalSince1970: Double(random.int(0..<4_000_000)))
      let kind = random.int(0..<5)
      if kind < 2 {
        ids += try await gallery.makeAssets(1, from: ids.count + 1)
        return
      }
      try await gallery.library.performChanges { change in
        switch kind {
        case 2: change.setFavorite(flag, for: picked)
        case 3:
          var changes = AssetChanges()
          changes.creationDate = .set(date)
          change.edit(picked, changes)
        default: change.setHidden(flag, for: picked)
        }
      }
    }

    /// A change of what a client may see.
    private static func decide(
      _ gallery: TestGallery, _ ids: [LocalIdentifier], _ clients: [String], _ random: inout SeededGenerator
    ) async throws {
      let (picked, client) = (random.some(random.int(1..<4), of: ids), random.one(of: clients))
      let (kind, isLimited) = (random.int(0..<3), random.chance(1, of: 2))
      try await gallery.library.performChanges { change in
        switch kind {
        case 0: change.setAuthorizationStatus(isLimited ? .limited : .authorized, of: client)
        case 1: change.grant(picked, to: client)
        default: change.withdraw(picked, from: client)
        }
      }
    }

    /// Edits the asset that every client sees, and reads feeds up to that edit.
    private static func settle(
      _ followers: [Follower], _ gallery: TestGallery, _ mark: LocalIdentifier, _ number: Int
    ) async throws {
      try await gallery.library.performChanges { change in
        var changes = AssetChanges()
        changes.creationDate = .set(Date(timeIntervalSince1970: Double(5_000_000 + number)))
        change.edit([mark], changes)
      }
      for follower in followers {
        let now = try follower.library.currentToken
        while !follower.held.values.allSatisfy({ $0.token == now }) { try await read(follower, gallery) }
      }
    }

    /// Reads a message and compares it with that of a feed that is alone.
    private static func read(_ follower: Follower, _ gallery: TestGallery) async throws {
      let event = try #require(try follower.feed.next(), "The feed of \(follower.library.client) ended early.")
      let name = try #require(event.data["fetch"] as? String)
      let before = try #require(follower.held[name])
      #expect(event.name == "change" && event.data["before"] as? String == before.token.description, "\(event)")
      let after = try Token(try #require(event.data["after"] as? String))
      let details = try follower.library.changeDetails(from: before, to: after)
      let alone = try Message.change(
        details, of: FetchRequest(name: name), sections: follower.sections,
        RenditionColumns(library: follower.library, renditions: gallery.server.renditions))
      #expect(event.text == alone.description, "for \(follower.library.client)")
      follower.held[name] = details.fetchResultAfterChanges
      follower.count += 1
      let cursor = try FeedCursor(event.id).tokens.map { ($0.fetch.name, $0.token?.description) }
      #expect(cursor.contains { $0 == (name, after.description) }, "\(event.id)")
    }
  }
#endif
