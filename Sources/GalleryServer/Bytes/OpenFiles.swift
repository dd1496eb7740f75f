#if Gallery
  import Foundation
  import HTTPServing
  import PhotoLedger
  import Synchronization

  // Recently sent files of the library, kept open.
  //
  //   path ─▶ descriptor, with what fstat said when it was opened
  //             │ before each use, and at each sweep: fstat again
  //             ├─ the same                        ─▶ sent from it
  //             └─ removed, renamed, another size  ─▶ closed; the path is opened anew, or is missing
  //
  // Opening walks a path of six names; a file of a grid's screen is asked for by several people and several times. The
  // time of the last change of an inode moves with its size, its content, its names and its modes, so what differs in
  // it is not the file that was checked.
  //
  // Invariant: whether a client may have a file is decided before it is looked for here. At most `limit` descriptors
  // are kept, and none of a removed file for longer than to the next sweep: each commit and every few seconds there is
  // one, so that erased bytes leave the disk.
  //
  // A small file is kept as the response that it is sent in, so that sending it again reads and builds nothing. The
  // response is part of what is kept of the file, and goes with it: it is sent only after the same `fstat`.
  //
  //   (client, path of the request) ─▶ which response, and the last event when that was decided
  //
  // Which file a path means, and whether a client may have it, depends on the log alone, which holds permissions too.
  // So what was decided once is good for the same client and the same path until an event is added, by whichever
  // process. The end of the log is read before the decision: what an event changed meanwhile is decided again. A sweep
  // forgets the decisions, so that those who count uses are asked every few seconds.
  //
  // Rejected: the bytes of larger files in memory (the kernel keeps them once, for all processes); files outside the
  // library (a disk with an open file cannot be unmounted).

  /// Descriptors of recently sent files.
  final class OpenFiles: Sendable {
    private struct Kept {
      let file: HTTPFile
      let status: stat
      var lastUse: UInt64
      /// The response that it was last sent in, whole, and what is asked of it beside its bytes.
      var made: (look: FileLook, response: HTTPMadeResponse, number: UInt64)?
    }

    /// What a client asks for, whole and without a query.
    struct Question: Hashable, Sendable {
      let client: String
      let path: String

      /// The longest path that is remembered; slashes that count as nothing make one path as long as a head may be.
      static let pathLimit = 512

      /// The question of a request; nil for one whose answer depends on more than that, or that is too long.
      init?(_ call: Call) {
        guard let client = call.key?.client, call.request.target.query.pairs.isEmpty, call.request.wantsWhole,
          call.request.target.path.utf8.count <= Self.pathLimit
        else { return nil }
        (self.client, path) = (client, call.request.target.path)
      }
    }

    /// The response that a question is answered with: that of the number, of the file at a path.
    private struct Decision {
      let path: String
      let number: UInt64
      let sequence: UInt64
    }

    private struct State {
      var kept: [String: Kept] = [:]
      var clock: UInt64 = 0
      var decisions: [Question: Decision] = [:]
    }

    static let limit = 128
    /// How many decisions are remembered, about 200 bytes each, and at most three times that.
    static let decisionLimit = 2048
    private let state = Mutex(State())

    /// How many descriptors are kept.
    var count: Int { state.withLock { $0.kept.count } }

    /// The file at a path, which has to have a size.
    /// - Parameters:
    ///   - path: the path; one in the library's folder is relative to it.
    ///   - folder: the folder of the library; nil for an absolute path.
    ///   - size: in bytes.
    /// - Throws: ``Problem`` 404 if it is missing, 500 if it has another size.
    func file(_ path: String, in folder: LibraryFolder? = nil, size: UInt64) throws(Problem) -> HTTPFile {
      if let known = used(path), UInt64(known.status.st_size) == size, Self.isUnchanged(known) { return known.file }
      let opened = try? FileAnswer.open(path, in: folder, size: size)
      state.withLock { state in
        state.kept[path] = opened.map { Kept(file: $0.file, status: $0.status, lastUse: state.clock) }
        guard state.kept.count > Self.limit, let oldest = state.kept.min(by: { $0.value.lastUse < $1.value.lastUse })
        else { return }
        state.kept[oldest.key] = nil
      }
      guard let opened else { return try FileAnswer.open(path, in: folder, size: size).file }
      return opened.file
    }

    /// What is kept of a path, which is used now.
    private func used(_ path: String) -> Kept? {
      state.withLock { state in
        state.clock += 1
        return Self.use(&state.kept[path], at: state.clock)
      }
    }

    private static func use(_ kept: inout Kept?, at clock: UInt64) -> Kept? {
      kept?.lastUse = clock
      return kept
    }

    /// The response in which a whole file was last sent, if it was sent in that look, and is as it was.
    func made(_ path: String, _ look: FileLook, size: UInt64) -> HTTPMadeResponse? {
      guard size <= HTTPResponse.copiedSize, let known = used(path), let made = known.made, made.look == look,
        UInt64(known.status.st_size) == size, Self.isUnchanged(known)
      else { return nil }
      return made.response
    }

    /// Keeps the response in which a whole file is sent.
    func keep(_ response: HTTPMadeResponse, _ look: FileLook, of file: HTTPFile, at path: String) {
      state.withLock { state in
        state.clock += 1
        if state.kept[path]?.file === file { state.kept[path]?.made = (look, response, state.clock) }
      }
    }

    // MARK: Decisions

    /// Answers a request from what was decided for an equal one, if no event has been added since.
    /// - Parameter decide: the answer, which depends on the log, the path and the client only; nil if it takes longer.
    /// - Returns: the answer; nil if it takes longer, or if a person is to be asked.
    func answer(_ call: Call, deciding decide: () throws -> HTTPResponse?) throws -> HTTPResponse? {
      let library = try call.library()
      if library.canAskPerson { return nil }
      guard let question = Question(call) else { return try decide() }
      let sequence = try library.lastSequence
      if let made = made(question, at: sequence) { return HTTPResponse(made) }
      guard let response = try decide() else { return nil }
      if case .made(let made) = response.content { remember(made, as: question, at: sequence) }
      return response
    }

    private func made(_ question: Question, at sequence: UInt64) -> HTTPMadeResponse? {
      let known = state.withLock { state -> Kept? in
        guard let decision = state.decisions[question], decision.sequence == sequence,
          state.kept[decision.path]?.made?.number == decision.number
        else { return nil }
        state.clock += 1
        return Self.use(&state.kept[decision.path], at: state.clock)
      }
      guard let known, Self.isUnchanged(known) else { return nil }
      return known.made?.response
    }

    private func remember(_ made: HTTPMadeResponse, as question: Question, at sequence: UInt64) {
      state.withLock { state in
        guard let (path, kept) = state.kept.first(where: { $0.value.made?.response === made }),
          let number = kept.made?.number
        else { return }
        if state.decisions.count >= Self.decisionLimit { state.decisions = [:] }
        state.decisions[question] = Decision(path: path, number: number, sequence: sequence)
      }
    }

    /// How many decisions are remembered.
    var decisionCount: Int { state.withLock { $0.decisions.count } }

    // MARK: Sweeping

    /// How many responses are kept.
    var madeCount: Int { state.withLock { $0.kept.values.count { $0.made != nil } } }

    /// Closes what is not as it was opened, and forgets what was decided.
    func sweep() {
      state.withLock { $0.decisions = [:] }
      for (path, kept) in state.withLock({ $0.kept }) where !Self.isUnchanged(kept) {
        state.withLock { state in
          if state.kept[path]?.file === kept.file { state.kept[path] = nil }
        }
      }
    }

    private static func isUnchanged(_ kept: Kept) -> Bool {
      var now = stat()
      let then = kept.status
      return fstat(kept.file.descriptor, &now) == 0 && now.st_nlink > 0 && now.st_size == then.st_size
        && now.st_ctim.tv_sec == then.st_ctim.tv_sec && now.st_ctim.tv_nsec == then.st_ctim.tv_nsec
    }
  }
#endif
