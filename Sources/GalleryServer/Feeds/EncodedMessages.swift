#if Gallery
  import JSONReading
  import LibraryJSON
  import PhotoLedger
  import Synchronization

  // Messages that many feeds send: a commit reaches a thousand clients of one fetch as the same bytes.
  //
  //   commit ─▶ follower of each feed ─▶ (client, fetch, before, after, sections, renditions) ─▶ text, encoded once
  //
  // All that a message shows is in its name: the two tokens, whose view is the client's, and the revision of the
  // renditions, so that a kept message never shows an older state of a picture than a new one would. A feed whose
  // client is slow asks once more if pictures were announced to it meanwhile. Feeds that follow together ask within
  // milliseconds, so the latest few messages are enough; two feeds may encode one at the same time, which does no harm.
  //
  // Rejected: a ring of messages for each fetch from which connections write (the core composes what a slow client
  // missed, so each feed keeps only its place).

  /// Recently encoded messages.
  final class EncodedMessages: Sendable {
    /// What a message says.
    struct Name: Hashable, Sendable {
      let client: ExactText
      let fetch: FetchRequest
      let before: Token
      let after: Token
      let sections: String?
      /// See ``Renditions/revision``.
      let renditions: Int
    }

    /// A message, and the cursor of a feed that has no other fetch.
    struct Encoded: Sendable {
      let text: String
      let cursor: String
    }

    static let limit = 32
    /// The oldest first.
    private let latest = Mutex<[(name: Name, message: Encoded)]>([])

    /// How many messages are kept.
    var count: Int { latest.withLock { $0.count } }

    /// A message, made if it is not there.
    func message(_ name: Name, _ make: () throws -> JSON) rethrows -> Encoded {
      if let known = latest.withLock({ $0.last { $0.name == name }?.message }) { return known }
      let made = Encoded(
        text: try make().description, cursor: FeedCursor([(name.fetch, name.after)]).spelled)
      latest.withLock { latest in
        if latest.count >= Self.limit { latest.removeFirst() }
        latest.append((name, made))
      }
      return made
    }
  }
#endif
