#if Gallery
  import Synchronization

  // Answers that many ask for and that take long to make: the sections of a fetch, and windows as columns.
  //
  //   (client, fetch, token, form) ─▶ tag and bytes, good at one end of the log and one state of the renditions
  //
  // What an answer shows depends on the token, on the client's permission, for windows on which renditions there are,
  // and on nothing else of the library. The log holds all of that but the renditions, permissions included, so an
  // answer is good for as long as no event has been added since it was made: a withdrawal, by whichever process, is an
  // event, and ends it at once. Most commits leave the answer as it was; making it anew then costs less than finding
  // that out.
  //
  // Windows are cached because many requests of one client are equal: the guests of a shared link, and the open pages
  // of one person, all begin with the first window. A page that scrolls requests each window once, so windows have a
  // cache of their own, and scrolling evicts no sections.
  //
  // Invariant: an answer is given only to the client for which it was made, at the end of the log at which it was made.
  // The end is read before the answer is made, so one that was made while a commit came is kept under the older end.
  // The same holds for the renditions.
  //
  // Rejected: one answer for all clients with full access (who has it is what the log says, and reading that is what is
  // saved here).

  /// Answers that were encoded.
  final class EncodedAnswers: Sendable {
    /// What was asked, by whom.
    struct Question: Hashable, Sendable {
      let client: String
      let fetch: String
      let token: String
      let form: String
    }

    /// An answer's tag and its bytes.
    struct Answer: Sendable {
      let tag: String
      let bytes: [UInt8]
    }

    private struct State {
      var answers: [Question: (answer: Answer, sequence: UInt64, renditions: Int)] = [:]
      var byteCount = 0
    }

    /// How many bytes of answers are kept; beyond that all are dropped, and made when they are asked for.
    let byteLimit: Int

    private let state = Mutex(State())

    init(byteLimit: Int) { self.byteLimit = byteLimit }

    /// How many bytes are kept.
    var byteCount: Int { state.withLock { $0.byteCount } }

    /// The answer to a question at an end of the log, if it is kept.
    /// - Parameter renditions: the revision of the renditions; 0 for an answer that shows none.
    func answer(_ question: Question, at sequence: UInt64, renditions: Int = 0) -> Answer? {
      state.withLock { state in
        guard let kept = state.answers[question], kept.sequence == sequence, kept.renditions == renditions else {
          return nil
        }
        return kept.answer
      }
    }

    /// Keeps an answer.
    func keep(_ answer: Answer, of question: Question, at sequence: UInt64, renditions: Int = 0) {
      guard answer.bytes.count <= byteLimit / 8 else { return }
      state.withLock { state in
        if state.byteCount + answer.bytes.count > byteLimit { state = State() }
        state.byteCount += answer.bytes.count - (state.answers[question]?.answer.bytes.count ?? 0)
        state.answers[question] = (answer, sequence, renditions)
      }
    }
  }
#endif
