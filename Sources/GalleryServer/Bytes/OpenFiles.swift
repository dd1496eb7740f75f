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
  //   head of the request ─▶ which response and which key, and the last transaction when that was decided
  //
  // Which key a head shows depends on the head and on the keys, people and shares that there are; which file a path
  // means, and whether a key opens it, on the key and on the log, which holds permissions too. So what was decided once
  // is good for the same head until one of those is changed, the key expires, or something is committed, by whichever
  // process. A decision has the number of a snapshot that is at least as old as what it was decided by, and is good
  // while that is the number of LMDB's last commit. A sweep forgets the decisions, so that what counts uses is asked
  // every few seconds. The server looks for a decision before it looks for a key and a route, and asks for the file's
  // state once a tick of the kernel's clock: a picture that is asked for again costs little more than libmicrohttpd.
  //
  // Heads are distinguished by their identity, which compares nothing: a picture of a grid is asked for with the fields
  // and the path that came before (KnownHeads.swift). Decisions are in a fixed number of slots, two for each remainder
  // of its mark; the newer decision replaces the older one. When a file is closed, or is sent in another response, the
  // decisions that name it are removed.
  //
  // Rejected: the bytes of larger files in memory (the kernel keeps them once, for all processes); files outside the
  // library (a disk with an open file cannot be unmounted).

  /// Descriptors of recently sent files.
  final class OpenFiles: Sendable {
    /// A file that is open.
    private final class Kept: Sendable {
      let file: HTTPFile
      let status: stat
      private let use = Atomic<UInt64>(0)
      private let look = Atomic<UInt64>(0)
      private let slots = Mutex<[Int]>([])
      private let sent = Mutex<Made?>(nil)

      init(_ file: HTTPFile, _ status: stat) { (self.file, self.status) = (file, status) }

      /// When it was last used, by the number of the use.
      var lastUse: UInt64 {
        get { use.load(ordering: .relaxed) }
        set { use.store(newValue, ordering: .relaxed) }
      }

      /// Where decisions lie that name it; others may lie there by now.
      var decisionSlots: [Int] {
        get { slots.withLock { $0 } }
        set { slots.withLock { $0 = newValue } }
      }

      /// The response that it was last sent in, whole.
      var made: Made? {
        get { sent.withLock { $0 } }
        set { sent.withLock { $0 = newValue } }
      }

      /// Whether it was seen to be as it was opened in this tick of a clock.
      func isUnchanged(inTick tick: UInt64) -> Bool {
        if look.load(ordering: .relaxed) == tick { return true }
        guard isUnchanged else { return false }
        look.store(tick, ordering: .relaxed)
        return true
      }

      /// Whether it is as it was opened.
      var isUnchanged: Bool {
        var now = stat()
        return fstat(file.descriptor, &now) == 0 && now.st_nlink > 0 && now.st_size == status.st_size
          && now.st_ctim.tv_sec == status.st_ctim.tv_sec && now.st_ctim.tv_nsec == status.st_ctim.tv_nsec
      }
    }

    /// A response in which a file was sent whole, and what is asked of it beside its bytes.
    private final class Made: Sendable {
      let look: FileLook
      let response: HTTPMadeResponse
      init(_ look: FileLook, _ response: HTTPMadeResponse) { (self.look, self.response) = (look, response) }
    }

    /// The response that a head is answered with, while the file is kept that it was made from.
    private final class Decision: Sendable {
      let head: HTTPHeadIdentity
      let key: Keyring.Shown
      let kept: Kept
      let made: Made
      let transaction: UInt64
      /// The first of its two slots; the other one has the next number.
      let slot: Int

      init(_ head: HTTPHeadIdentity, _ key: Keyring.Shown, _ kept: Kept, _ made: Made, _ transaction: UInt64) {
        (self.head, self.key, self.kept, self.made, self.transaction) = (head, key, kept, made, transaction)
        slot = OpenFiles.slot(head)
      }
    }

    private struct State {
      private(set) var kept: [String: Kept] = [:]
      private(set) var decisions = [Decision?](repeating: nil, count: OpenFiles.decisionLimit)

      /// Keeps a file in place of what was kept of its path; nil: nothing is.
      mutating func keep(_ file: Kept?, at path: String) {
        if let former = kept[path] { forgetDecisions(of: former) }
        kept[path] = file
      }

      func decision(_ head: HTTPHeadIdentity) -> Decision? {
        let slot = OpenFiles.slot(head)
        if let decision = decisions[slot], decision.head == head { return decision }
        if let decision = decisions[slot + 1], decision.head == head { return decision }
        return nil
      }

      mutating func remember(_ decision: Decision) {
        let slot = decision.slot
        if let former = decisions[slot], former.head != decision.head { put(former, at: slot + 1) }
        put(decision, at: slot)
      }

      private mutating func put(_ decision: Decision, at slot: Int) {
        if decisions[slot]?.kept !== decision.kept { decision.kept.decisionSlots.append(slot) }
        decisions[slot] = decision
      }

      /// Removes the decisions that name a file, which would keep its descriptor and its response in memory.
      mutating func forgetDecisions(of file: Kept) {
        for slot in file.decisionSlots where decisions[slot]?.kept === file { decisions[slot] = nil }
        file.decisionSlots = []
      }

      mutating func forgetDecisions() {
        for slot in decisions.indices { decisions[slot] = nil }
        for file in kept.values { file.decisionSlots = [] }
      }
    }

    static let limit = 128
    /// How many decisions are remembered, about 300 bytes each. Each keeps its head in memory: a path, and fields that
    /// it shares with the others of the same client, unless that sends other ones each time.
    static let decisionLimit = 2048
    /// The longest path that is remembered; slashes that count as nothing make one path as long as a head may be.
    static let pathLimit = 512
    private let state = Mutex(State())
    private let tick: @Sendable () -> UInt64
    /// Counts uses, so that the file is known whose last use is longest ago.
    /// 0 is of a file that was not used yet.
    private let clock = Atomic<UInt64>(1)

    /// - Parameter tick: the time by a clock whose steps are so short that a change of a file within one may as well
    ///   have come after the response.
    init(tick: @escaping @Sendable () -> UInt64 = OpenFiles.kernelTick) { self.tick = tick }

    /// The kernel's tick, which is 1 to 10 milliseconds long and is read without asking it.
    private static let kernelTick: @Sendable () -> UInt64 = {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
      return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// How many descriptors are kept.
    var count: Int { state.withLock { $0.kept.count } }

    /// The file at a path, which has to have a size.
    /// - Parameters:
    ///   - path: the path; one in the library's folder is relative to it.
    ///   - folder: the folder of the library; nil for an absolute path.
    ///   - size: in bytes.
    /// - Throws: ``Problem`` 404 if it is missing, 500 if it has another size.
    func file(_ path: String, in folder: LibraryFolder? = nil, size: UInt64) throws(Problem) -> HTTPFile {
      if let known = used(path), UInt64(known.status.st_size) == size, known.isUnchanged { return known.file }
      let opened = try? FileAnswer.open(path, in: folder, size: size)
      let kept = opened.map { Kept($0.file, $0.status) }
      if let kept { use(kept) }
      state.withLock { state in
        state.keep(kept, at: path)
        guard state.kept.count > Self.limit, let oldest = state.kept.min(by: { $0.value.lastUse < $1.value.lastUse })
        else { return }
        state.keep(nil, at: oldest.key)
      }
      guard let opened else { return try FileAnswer.open(path, in: folder, size: size).file }
      return opened.file
    }

    /// What is kept of a path, which is used now.
    private func used(_ path: String) -> Kept? {
      let known = state.withLock { $0.kept[path] }
      if let known { use(known) }
      return known
    }

    private func use(_ kept: Kept) {
      // The number is every thread's; what was used last has the largest already.
      if kept.lastUse == clock.load(ordering: .relaxed) { return }
      kept.lastUse = clock.add(1, ordering: .relaxed).newValue
    }

    /// The response in which a whole file was last sent, if it was sent in that look, and is as it was.
    func made(_ path: String, _ look: FileLook, size: UInt64) -> HTTPMadeResponse? {
      guard size <= HTTPResponse.copiedSize, let known = used(path), let made = known.made, made.look == look,
        UInt64(known.status.st_size) == size, known.isUnchanged
      else { return nil }
      return made.response
    }

    /// Keeps the response in which a whole file is sent.
    func keep(_ response: HTTPMadeResponse, _ look: FileLook, of file: HTTPFile, at path: String) {
      state.withLock { state in
        guard let known = state.kept[path], known.file === file else { return }
        known.made = Made(look, response)
        state.forgetDecisions(of: known)
      }
    }

    /// How many responses are kept.
    var madeCount: Int { state.withLock { $0.kept.values.count { $0.made != nil } } }

    // MARK: Decisions

    /// The first of the two slots for the decisions of a head.
    private static func slot(_ head: HTTPHeadIdentity) -> Int {
      // Objects lie at multiples of 16, and those that are made together one behind the other.
      let mixed = (head.mark >> 4) &* 0x9E37_79B9_7F4A_7C15
      return Int((mixed >> 32) % UInt(decisionLimit / 2)) * 2
    }

    /// Whether the answer to a request depends on its head alone, as far as the request goes, and may be remembered:
    /// a long head is never the same again, and would only take memory and the place of others.
    private static func isMemorable(_ request: HTTPRequest) -> Bool {
      request.method == "GET" && request.target.query.pairs.isEmpty && request.knownFields.wantsWhole
        && request.knownFields.isShort && request.target.path.utf8.count <= pathLimit
    }

    /// The answer to a request that was decided for one with the same head, and the key that the head shows, if nothing
    /// has been committed since and the key is good; nil also if the library is unavailable: a newer program may have
    /// migrated it before the decision.
    func decided(
      _ request: HTTPRequest, _ keyring: Keyring, in library: PhotoLibrary
    ) -> (key: Keyring.Key, response: HTTPMadeResponse)? {
      guard request.method == "GET" else { return nil }
      let head = request.identity
      guard let decision = state.withLock({ $0.decision(head) }), keyring.isGood(decision.key),
        library.unavailabilityReason == nil, (try? library.lastTransaction) == decision.transaction,
        !library.canAskPerson(as: decision.key.key.client), decision.kept.isUnchanged(inTick: tick())
      else { return nil }
      use(decision.kept)
      return (decision.key.key, decision.made.response)
    }

    /// Decides a request, and remembers the answer for those that have the same head.
    /// - Parameters:
    ///   - key: the key that the head shows; nil if it depends on more than the head.
    ///   - library: the library as the client of the key sees it.
    ///   - decide: the answer, which depends on the log, the path and the key only; nil if it takes longer.
    /// - Returns: the answer; nil if it takes longer, or if a person is to be asked.
    func answer(
      _ request: HTTPRequest, _ key: Keyring.Shown?, in library: PhotoLibrary,
      deciding decide: () throws -> HTTPResponse?
    ) throws -> HTTPResponse? {
      if library.canAskPerson { return nil }
      guard let key, Self.isMemorable(request) else { return try decide() }
      // Before the decision: what is committed meanwhile is decided again. A snapshot's number, and not that of the
      // last commit: for a moment within a commit, that one is ahead of what a reading sees.
      let transaction = try library.currentTransaction
      guard let response = try decide() else { return nil }
      if case .made(let made) = response.content { remember(made, of: request.identity, key, at: transaction) }
      return response
    }

    private func remember(
      _ response: HTTPMadeResponse, of head: HTTPHeadIdentity, _ key: Keyring.Shown, at transaction: UInt64
    ) {
      state.withLock { state in
        guard let kept = state.kept.values.first(where: { $0.made?.response === response }), let made = kept.made
        else { return }
        state.remember(Decision(head, key, kept, made, transaction))
      }
    }

    /// How many decisions are remembered.
    var decisionCount: Int { state.withLock { $0.decisions.count { $0 != nil } } }

    // MARK: Sweeping

    /// Closes what is not as it was opened, and forgets what was decided.
    func sweep() {
      state.withLock { $0.forgetDecisions() }
      for (path, kept) in state.withLock({ $0.kept }) where !kept.isUnchanged {
        state.withLock { state in
          if state.kept[path] === kept { state.keep(nil, at: path) }
        }
      }
    }
  }
#endif
