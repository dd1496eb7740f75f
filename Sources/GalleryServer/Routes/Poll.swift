#if Gallery
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger

  // The messages of a feed without a stream: what changed since a cursor, at once or after waiting for it.
  //
  //   read ─▶ something changed? ─ yes ─▶ answer
  //    ▲             │ no, and the client waits
  //    └── a follower of one of the fetches, or the time ─┘
  //
  // The answer leads every fetch to one state, with one exact message for each that differs; a change of more ranges
  // than a message of a feed has is a state, so the memory for an answer is bounded. A fetch that cannot be followed
  // has a problem in place of that and leaves the cursor, as in a feed. The poll fails only where none is left, and
  // where the reason may pass: then the same cursor is good for the next poll. Waiting holds a follower for each fetch,
  // whose list is counted (FollowedLists.swift), and no thread. A client that has left is not noticed before the time
  // is over, so that is short.

  /// Reads what changed since a cursor.
  struct Poll: Sendable {
    /// The longest time that a client may ask to wait, in seconds.
    static let waitLimit = 60

    let cursor: FeedCursor
    /// The library as a fetch looks at it, see ``Call/library(of:)``.
    let view: @Sendable (FetchRequest) throws -> PhotoLibrary
    let fetches: Fetches
    let watch: AccessWatch
    let sections: SectionChoice?
    let renditions: Renditions
    /// How many ranges a message has where states are given.
    let rangeLimit: Int
    /// Whether a client is given a state where what it holds is no longer known, and in place of a change of more
    /// ranges; if not, the former is an error, and each change is exact.
    let givesStates: Bool

    /// What a poll gives.
    struct Answer: Sendable {
      var messages: [JSON]
      var cursor: FeedCursor
      /// The results at the cursor: the token of each, and what leads it on.
      var results: [(token: Token, changes: any FeedChanges)]
      /// What the server's log says of a fetch that cannot be followed.
      var note: String?
    }

    func read() throws -> Answer {
      var (answer, states) = (Answer(messages: [], cursor: cursor, results: []), [ExactText: Token]())
      for (fetch, token) in cursor.tokens {
        do {
          let library = try view(fetch)
          // All fetches of a view are led to one state of it.
          let now = try states[library.client.exact] ?? library.currentToken
          states[library.client.exact] = now
          try read(fetch, as: fetch.list, from: token, to: now, library, &answer)
        } catch {
          let problem = Problem(error)
          answer.cursor.remove(fetch)
          guard problem.status < 500, !answer.cursor.tokens.isEmpty else { throw error }
          answer.messages.append(Message.problem(problem, of: fetch))
          answer.note = problem.note ?? answer.note
        }
      }
      return answer
    }

    private func read<List: FeedList>(
      _ fetch: FetchRequest, as _: List.Type, from token: Token?, to now: Token, _ library: PhotoLibrary,
      _ answer: inout Answer
    ) throws {
      try List.checkMayFollow(library)
      var list: List
      if let token, let held = try held(fetch, as: List.self, at: token, library) {
        list = held
        let change = try list.change(to: now, in: library)
        if givesStates, !change.isSmall(rangeLimit) {
          answer.messages.append(Message.state(change.listAfter, of: fetch))
        } else if !change.isUnseen {
          let columns = RenditionColumns(library: library, renditions: renditions)
          answer.messages.append(try change.json(of: fetch, sections: sections, columns))
        }
        list = change.listAfter
        list.hold(of: fetch, for: library.client, fetches)
      } else {
        list = try List.run(fetch, at: now, of: library, fetches)
        answer.messages.append(Message.state(list, of: fetch))
      }
      answer.cursor.set(list.token, of: fetch)
      answer.results.append((list.token, list.changes(in: library, watch)))
    }

    /// The list that a client holds; nil if it needs a state instead.
    private func held<List: FeedList>(
      _ fetch: FetchRequest, as _: List.Type, at token: Token, _ library: PhotoLibrary
    ) throws -> List? {
      if givesStates { return try List.held(fetch, at: token, of: library, fetches) }
      let list = try List.run(fetch, at: token, of: library, fetches)
      try list.checkIsExact()
      return list
    }

    /// Reads, and waits for a change if there is none.
    /// - Parameter seconds: how long to wait; 0: not at all.
    func read(waiting seconds: Int, _ call: Call) async throws -> Answer {
      let first = try await offload { try read() }
      call.request.sender.note = first.note
      guard seconds > 0, first.messages.isEmpty, let key = call.key else { return first }
      let sleep = call.server.environment.sleep
      let lists = try await offload { [followed = call.server.followed] in
        try first.results.compactMap { result -> FollowedList? in
          do {
            return try followed.follow(result.changes, for: key)
          } catch let error where !(error is Problem) {
            // The wait ends at once likewise, and the reading that follows reports it.
            return nil
          }
        }
      }
      defer { for list in lists { list.leave() } }
      try await call.server.feeds.wait(of: key, call.server.access.limits) {
        await withTaskGroup(of: Void.self) { group in
          // The reading that follows fails likewise, and reports it.
          for result in first.results { group.addTask { await result.changes.waitForStep() } }
          group.addTask { try? await sleep(Double(seconds)) }
          await group.next()
          group.cancelAll()
        }
      }
      // The key may have been withdrawn meanwhile.
      try call.checkIsStillGood()
      return try await offload { try read() }
    }

    /// Reads `wait`.
    static func seconds(_ call: Call) throws -> Int {
      let seconds = try call.count("wait") ?? 0
      guard seconds <= waitLimit else {
        throw Problem.malformed("'wait' is \(seconds); pass at most \(waitLimit) seconds.")
      }
      return seconds
    }
  }
#endif
