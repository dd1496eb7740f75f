#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import LibraryJSON
  import PhotoLedger
  import Synchronization
  import TestSupport
  import Testing

  // A message is encoded once for all feeds that send it. The model makes the message of each name anew.

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
  }
#endif
