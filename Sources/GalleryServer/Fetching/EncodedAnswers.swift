#if Gallery
  import HTTPServing
  import PhotoLedger
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
  // of one person, all begin with the first window. A page that scrolls requests each window once, so a window is kept
  // when it is asked for a second time: scrolling copies nothing and evicts nothing. Sections, which take long, have a
  // cache of their own.
  //
  // Invariant: an answer is given only to the client for which it was made, at the end of the log at which it was made.
  // The end is read before the answer is made, so one that was made while a commit came is kept under the older end.
  // The same holds for the renditions.
  //
  // Rejected: one answer for all clients with full access (which clients have it is in the log, and not reading the log
  // is what is gained here).

  /// Answers that were encoded.
  final class EncodedAnswers: Sendable {
    /// The form in which a fetch is shown.
    enum Form: Hashable, Sendable {
      /// The sections that a choice names.
      case sections(String)
      /// The columns of so many items from a place on.
      case window(start: Int, count: Int)
    }

    /// What was asked, by whom.
    struct Question: Hashable, Sendable {
      let client: ExactText
      let fetch: String
      let token: Token
      let form: Form

      /// About how many bytes it takes with what is beside it; the name of the fetch is its one long part.
      var byteCount: Int { fetch.utf8.count + 256 }
    }

    /// An answer's tag and its bytes.
    struct Answer: Sendable {
      let tag: String
      let bytes: HTTPBytes
    }

    private struct State {
      var answers: [Question: (answer: Answer, sequence: UInt64, renditions: Int)] = [:]
      var byteCount = 0
      /// The hashes of questions that were asked lately, each at the one place that it determines; empty where the
      /// first asking is enough.
      var asked: [Int]
    }

    /// How many bytes of answers are kept, their questions included, which can be longer; beyond that all are dropped,
    /// and made when they are asked for.
    let byteLimit: Int

    private let state: Mutex<State>

    /// - Parameter keepsFirst: whether the answer to a question is kept that is asked for the first time.
    init(byteLimit: Int, keepsFirst: Bool = true) {
      self.byteLimit = byteLimit
      state = Mutex(State(asked: keepsFirst ? [] : Array(repeating: 0, count: 1 << 10)))
    }

    /// How many bytes are kept, those of the questions included.
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

    /// Keeps an answer, of which it makes a copy: what it was written in goes on to be written in.
    func keep(_ answer: Answer, of question: Question, at sequence: UInt64, renditions: Int = 0) {
      let count = answer.bytes.count
      guard count <= byteLimit / 8, state.withLock({ Self.wasAsked(question, &$0.asked) }) else { return }
      let copy = Answer(tag: answer.tag, bytes: answer.bytes.withUnsafeBytes { HTTPBytes(copying: $0) })
      state.withLock { state in
        let added = count + question.byteCount
        if state.byteCount + added > byteLimit { state = State(asked: state.asked) }
        let replaced = state.answers[question].map { $0.answer.bytes.count + question.byteCount }
        state.byteCount += added - (replaced ?? 0)
        state.answers[question] = (copy, sequence, renditions)
      }
    }

    /// Whether a question was asked before, as far as that is remembered; two questions with one hash count as one.
    private static func wasAsked(_ question: Question, _ asked: inout [Int]) -> Bool {
      if asked.isEmpty { return true }
      let hash = question.hashValue
      let place = Int(UInt(bitPattern: hash) % UInt(asked.count))
      defer { asked[place] = hash }
      return asked[place] == hash
    }
  }
#endif
