#if Gallery
  import Foundation
  import HTTPServing
  import LibraryJSON
  import PhotoLedger
  import Synchronization

  // One upload: bytes in a file, and a record of how many of them are durable.
  //
  //   begin(at:) ──▶ write … write ──▶ seal ──┬─ more will come ──▶ (begin again)
  //      │ turn                               └─ whole ──▶ completion ──▶ result, bytes removed
  //      └─ a later request takes the turn over; the earlier one's writes are rejected from then on
  //
  // A client whose connection hangs asks anew, and the old connection may still deliver bytes. So each request that
  // writes has a turn, a number; only the latest turn writes, and what it promises by `Upload-Offset` is what it read
  // after it took over.
  //
  // Invariant: `record.offset` was fsynced, with the record itself, before any answer names it; so an offset never goes
  // back, whatever ends the process or the machine. Bytes behind it are cut off when a server starts. After a sync that
  // failed, the kernel may have dropped what was to be written, and the next sync succeeds without it: what was written
  // since the last mark does not count then, and the next body begins at `record.offset` of the record and of the file.
  //
  // Bytes are hashed as they are written, while they are in the processor's cache. `digests`, if there are any, are
  // those of the first `written` bytes of the file, which nothing but this value writes. A file is read again for its
  // digests only if they were lost: some of it came to an earlier server, or was given back when the disk was full.
  //
  // What decisions about all uploads ask of one (`Shown`) has a lock of its own, under which nothing waits for the
  // disk. It is written at the end of each change, so until a sync ends it has what held before.
  //
  // A whole upload is not written any more. Its file may be the library's already: `adopt` gives it a second name there
  // and takes the permission to write away. So what remains of such an upload needs no descriptor: a server that may
  // not open the file for writing finishes it all the same.

  /// An upload that is not finished.
  final class Upload: Sendable {
    private struct State {
      var record: UploadRecord
      /// The file, while it is being written.
      var descriptor: Int32 = -1
      /// How many bytes are in the file.
      var written: UInt64
      /// The digests of those; nil if they are not known.
      var digests: ContentHash?
      /// Up to where the kernel was asked to write them out.
      var writtenOut: UInt64 = 0
      /// Up to where the turn may write before the disk is asked for room again.
      var hasRoomUpTo: UInt64 = 0
      /// The latest turn.
      var turn = 0
      var isGone = false
    }

    /// What decisions about all uploads ask of this one.
    private struct Shown {
      var length: UInt64?
      var written: UInt64
      /// How many bytes the request that writes may bring, as far as it said.
      var expected: UInt64
      /// The ends of bodies that were granted and have not begun.
      var granted: [UInt64] = []
      var touched: Date
      var isReceiving = false
      var isWhole: Bool

      var reserved: UInt64 { max(length ?? max(expected, granted.max() ?? 0), written) }
    }

    let id: String
    let client: String
    /// The name of the key of the share link's visitor that began it; nil if another key did.
    let visitor: String?
    /// Whether it has a path of its own; a plain request's bytes are dropped with its connection.
    let isResumable: Bool
    /// Guarded by its lock, which is held while the disk works; only threads that may wait take it.
    private let state: Mutex<State>
    /// Any thread takes its lock: nothing waits for the disk under it.
    private let shown: Mutex<Shown>
    /// The completion that is under way. Any thread takes its lock: nothing waits for the disk under it.
    private let completion = Mutex<Task<HTTPResponse, Never>?>(nil)
    private let folder: UploadFolder

    init(_ record: UploadRecord, isResumable: Bool, expecting expected: UInt64 = 0, in folder: UploadFolder) {
      (id, client, visitor) = (record.id, record.client, record.visitor)
      (self.isResumable, self.folder) = (isResumable, folder)
      state = Mutex(
        State(record: record, written: record.offset, digests: record.offset == 0 ? ContentHash() : nil))
      shown = Mutex(
        Shown(
          length: record.length, written: record.offset, expected: expected, touched: record.touched,
          isWhole: record.isWhole))
    }

    var record: UploadRecord { state.withLock { $0.record } }
    var path: String? { isResumable ? "/v1/uploads/\(id)" : nil }

    // MARK: What waits for no disk

    /// How many bytes came, durable or not.
    var written: UInt64 { shown.withLock { $0.written } }

    /// What counts against the client's bytes: what came, and what was announced.
    var reserved: UInt64 { shown.withLock { $0.reserved } }

    /// Whether a body is being written.
    var isReceiving: Bool { shown.withLock { $0.isReceiving } }

    /// The time of the last request.
    var touched: Date { shown.withLock { $0.touched } }

    /// Whether no body is being received, nor about to be, and more bytes are missing.
    var isIdle: Bool {
      finishing == nil && shown.withLock { !$0.isReceiving && $0.granted.isEmpty && !$0.isWhole }
    }

    /// Whether there was no request since an instant; one whose body is being received has one.
    func isExpired(before oldest: Date) -> Bool {
      finishing == nil && shown.withLock { $0.touched < oldest && !$0.isReceiving && $0.granted.isEmpty }
    }

    /// Counts more than what was announced: bytes up to a place that are about to come.
    func reserve(upTo end: UInt64) { shown.withLock { $0.expected = max($0.expected, end) } }

    /// Counts a body that is about to begin, up to its end, until it is released.
    func grant(upTo end: UInt64) { shown.withLock { $0.granted.append(end) } }

    /// Ends what was granted: the body has begun and counts itself, or does not come.
    func release(_ end: UInt64) {
      shown.withLock { shown in
        if let place = shown.granted.firstIndex(of: end) { shown.granted.remove(at: place) }
      }
    }

    /// Shows others what has changed.
    /// - Parameter expected: how many bytes the request that writes may bring now; nil: as before.
    private func show(_ state: State, expecting expected: UInt64? = nil) {
      let (record, written, isReceiving) = (state.record, state.written, state.descriptor >= 0)
      shown.withLock { shown in
        (shown.length, shown.written, shown.touched) = (record.length, written, record.touched)
        (shown.isReceiving, shown.isWhole) = (isReceiving, record.isWhole)
        if let expected { shown.expected = expected }
      }
    }

    // MARK: Writing

    /// Makes a new upload durable, before it is named to its client.
    /// - Throws: ``Gone`` if it was dropped meanwhile; ``LibraryError`` `.storage`, `.notEnoughSpace`.
    func establish() throws {
      try state.withLock { state in
        guard state.turn == 0, !state.isGone else { throw Gone() }
        folder.close(try folder.open(state.record.file))
        try folder.keep(state.record)
      }
    }

    /// Names an upload whose name comes behind its head, before its first byte.
    func name(_ name: String?, file: String) { state.withLock { ($0.record.name, $0.record.file) = (name, file) } }

    /// Takes the turn for a body.
    /// - Parameter offset: where the body begins; nil for a new upload.
    /// - Returns: the turn.
    /// - Throws: ``Problem`` 409 for another offset than the durable one, 400 for a length that contradicts; ``Gone``.
    func begin(at offset: UInt64, _ head: UploadHead, contentLength: UInt64?) throws -> Int {
      try state.withLock { state in
        guard !state.isGone else { throw Gone(isResumable: isResumable) }
        // What an earlier request announced does not come any more, whatever becomes of this one.
        let isFirst = state.turn == 0
        var expected: UInt64 = 0
        defer { show(state, expecting: isFirst ? nil : expected) }
        state.hasRoomUpTo = 0
        state.turn += 1
        try settle(&state)
        guard offset == state.record.offset else { throw Self.mismatch(state.record.offset) }
        var length = head.length
        if head.isLast == true, let contentLength {
          let end = offset + contentLength
          guard length ?? end == end else { throw Self.inconsistent(length ?? end, end) }
          length = end
        }
        if let length {
          guard state.record.length ?? length == length else {
            throw Self.inconsistent(state.record.length ?? length, length)
          }
          guard offset + (contentLength ?? 0) <= length else {
            throw Self.inconsistent(length, offset + (contentLength ?? 0))
          }
          state.record.length = length
        }
        if state.record.isWhole, contentLength ?? 0 > 0 { throw Self.whole(state.record.offset) }
        if let sha256 = head.sha256 { state.record.sha256 = sha256 }
        if !state.record.isWhole, contentLength != 0 || !isExact(state) {
          state.descriptor = try folder.open(state.record.file)
        }
        expected = offset + (contentLength ?? 0)
        if isFirst { reserve(upTo: expected) }
        return state.turn
      }
    }

    /// Whether the file has the bytes that count and no others, so that a body without bytes leaves it as it is.
    private func isExact(_ state: State) -> Bool {
      folder.stamp(of: state.record)?.byteCount == Int64(clamping: state.written)
    }

    /// Writes bytes behind those that are there.
    /// - Throws: ``Problem`` 409 for a turn that is over, 413 beyond the announced length or the quota; ``Gone`` for a
    ///   plain upload that was dropped; ``LibraryError`` `.notEnoughSpace` where the disk has its reserve left.
    func write(_ bytes: [UInt8], turn: Int, _ quota: UploadQuota) throws {
      try state.withLock { state in
        guard state.turn == turn else { throw overtaken }
        guard state.descriptor >= 0 else { throw Self.whole(state.record.offset) }
        defer { show(state) }
        let end = state.written + UInt64(bytes.count)
        guard end <= state.record.length ?? quota.fileSize else {
          throw quota.excess(
            "The body exceeds \(state.record.length ?? quota.fileSize) bytes, the maximum of this upload.")
        }
        if end > state.hasRoomUpTo {
          try folder.checkRoom(for: UInt64(bytes.count), keeping: quota.reserve)
          state.hasRoomUpTo = end + Self.writtenUnasked
        }
        do {
          state.written += UInt64(try folder.write(bytes, to: state.descriptor, at: state.written))
        } catch {
          giveWay(&state)
          throw error
        }
        bytes.withUnsafeBytes { state.digests?.update($0) }
        if state.written - state.writtenOut >= Self.writtenOutAtATime {
          folder.beginWritingOut(state.descriptor)
          state.writtenOut = state.written
        }
        if isResumable, state.written - state.record.offset >= quota.markEvery { try mark(&state) }
      }
    }

    /// Gives some of what was not promised back after a write that failed, since a full disk has no room for the record
    /// that says how much came, either.
    private func giveWay(_ state: inout State) {
      takeBack(&state, to: max(state.record.offset, state.written - min(state.written, Self.givenBack)))
    }

    /// Lets bytes at the end count no longer.
    private func takeBack(_ state: inout State, to count: UInt64) {
      if count < state.written { state.digests = count == 0 ? ContentHash() : nil }
      (state.written, state.writtenOut) = (count, min(state.writtenOut, count))
      // Where even that fails, they are cut off when the upload is whole, or by the next server.
      if state.descriptor >= 0 { try? folder.truncate(state.descriptor, to: count) }
    }

    private static let givenBack: UInt64 = 1 << 18

    /// How much is written until the disk is asked for room again: of all bodies that are received at once, a part of
    /// its reserve.
    private static let writtenUnasked: UInt64 = 1 << 18

    /// The disk works while further bytes come, so that the sync at the end finds little to do.
    private static let writtenOutAtATime: UInt64 = 1 << 20

    /// Ends a turn whose body is complete.
    /// - Returns: what is durable.
    func seal(turn: Int, isLast: Bool) throws -> UploadRecord {
      try state.withLock { state in
        guard state.turn == turn else { throw overtaken }
        defer { show(state, expecting: 0) }
        try settle(&state, isWhole: isLast)
        return state.record
      }
    }

    /// Ends a turn whose connection is gone; what came stays.
    func pause(turn: Int) throws {
      try state.withLock { state in
        guard state.turn == turn, !state.isGone else { return }
        defer { show(state, expecting: 0) }
        if isResumable { try settle(&state) } else { drop(&state) }
      }
    }

    /// Keeps, by the hour, that there was a request: an upload without one for long is dropped.
    func touch() {
      state.withLock { state in
        let now = folder.now()
        guard isResumable, !state.isGone, now.timeIntervalSince(state.record.touched) >= 3600 else { return }
        state.record.touched = now
        show(state)
        // A full disk does not keep the client from its offset; the next request tries again to keep more than memory.
        try? folder.keep(state.record)
      }
    }

    /// Makes the offset exact that a client is about to be given, and ends what still writes.
    /// - Throws: ``Gone``; ``LibraryError`` `.storage`, `.notEnoughSpace`.
    func interrupt() throws -> UploadRecord {
      try state.withLock { state in
        guard !state.isGone else { throw Gone() }
        state.turn += 1
        defer { show(state, expecting: 0) }
        try settle(&state)
        return state.record
      }
    }

    /// Makes what was written durable and closes the file.
    /// - Parameter isWhole: at the end of a body, whether it was the last; then the record is kept in any case.
    /// - Throws: ``Problem`` 400 if the last body ends short of the upload's length; the upload goes on from there.
    private func settle(_ state: inout State, isWhole: Bool? = nil) throws {
      let missed = isWhole == true ? state.record.length.flatMap { $0 == state.written ? nil : $0 } : nil
      defer {
        if state.descriptor >= 0 { folder.close(state.descriptor) }
        state.descriptor = -1
      }
      if state.descriptor >= 0 || isWhole != nil { try mark(&state, isWhole: isWhole == true && missed == nil) }
      if let missed { throw Self.inconsistent(missed, state.written) }
    }

    /// Makes durable what was written, and the record of it. What fails to be is undone.
    private func mark(_ state: inout State, isWhole: Bool = false) throws {
      var record = state.record
      (record.offset, record.touched) = (state.written, folder.now())
      record.isWhole = record.isWhole || isWhole
      do {
        if state.descriptor >= 0 {
          // A write that found the disk full may have left bytes behind those that count.
          if isWhole { try folder.truncate(state.descriptor, to: state.written) }
          try folder.synchronize(state.descriptor)
        }
        if isResumable { try folder.keep(record) }
      } catch {
        // The new record may be there, though it is not durable; it must not promise more than the file will have. On a
        // full disk there is no room for the old one, and it is there still.
        if isResumable { try? folder.keep(state.record) }
        takeBack(&state, to: state.record.offset)
        throw error
      }
      state.record = record
    }

    // MARK: The end

    /// What the file of a whole upload holds.
    /// - Complexity: one system call; O(bytes) if the digests are not known.
    func content() throws -> FileContent {
      let (record, written, known) = state.withLock { state in
        (state.record, state.written, state.digests.map { (sha256: $0.sha256, sha1: $0.sha1) })
      }
      guard let known, let stamp = folder.stamp(of: record), stamp.byteCount == Int64(clamping: written) else {
        return try FileContent(of: folder.path(of: record))
      }
      return FileContent(sha256: known.sha256, sha1: known.sha1, stamp: stamp)
    }

    /// The answer of a completion that is under way; nil if none is.
    var finishing: Task<HTTPResponse, Never>? { completion.withLock { $0 } }

    /// Begins the completion, unless it has begun.
    func finish(_ work: @escaping @Sendable () async -> HTTPResponse) -> Task<HTTPResponse, Never> {
      completion.withLock { completion in
        if let running = completion { return running }
        let task = Task.detached { await work() }
        completion = task
        return task
      }
    }

    /// Lets a later request try the completion again.
    func unfinish() { completion.withLock { $0 = nil } }

    /// Removes the bytes and the record.
    func drop() { state.withLock { drop(&$0) } }

    /// Removes the bytes and the record, if there was no request since an instant.
    /// - Returns: whether the upload is gone.
    func dropExpired(before oldest: Date) -> Bool {
      state.withLock { state in
        if !state.isGone, isExpired(before: oldest) { drop(&state) }
        return state.isGone
      }
    }

    private func drop(_ state: inout State) {
      if state.descriptor >= 0 { folder.close(state.descriptor) }
      (state.descriptor, state.isGone) = (-1, true)
      state.turn += 1
      show(state)
      folder.remove(state.record)
    }

    // MARK: Problems

    /// The upload was finished or dropped since it was found.
    struct Gone: ProblemError {
      /// Whether its client has a path of it; else its one request cannot go on, and the file has to be sent again.
      var isResumable = true

      var problem: Problem {
        guard !isResumable else { return .notFound }
        return Problem(503, "library-offline", "The upload was dropped before it was complete; send the file again.")
      }
    }

    /// Why a body whose turn is over is taken no further. No later request takes over a plain upload: it was dropped.
    private var overtaken: any Error {
      guard isResumable else { return Gone(isResumable: false) }
      return Problem(409, "conflict", "A later request continues this upload; request its offset.")
    }

    static func mismatch(_ offset: UInt64) -> Problem {
      var problem = Problem(409, "conflict", "The upload has \(offset) bytes; continue from there.")
      problem.fields = [("Upload-Offset", "\(offset)"), ("Upload-Complete", "?0"), ("Upload-Incomplete", "?1")]
      return problem
    }

    static func whole(_ offset: UInt64) -> Problem {
      Problem(409, "conflict", "The upload is complete with \(offset) bytes; send an empty body to finish it.")
    }

    static func finished(_ size: UInt64) -> Problem {
      Problem(409, "conflict", "The upload is finished with \(size) bytes, and takes no more; begin another one.")
    }

    static func inconsistent(_ length: UInt64, _ other: UInt64) -> Problem {
      .malformed("The upload's length was given as \(length) and as \(other) bytes; send one length.")
    }
  }
#endif
