import EventLog
import LMDB

// Replay: applying the log from its first event to empty projections.
//
// It is the proof that the projections hold nothing that the log does not say: `verify` replays into a throw-away store
// and compares every byte, `rebuild` replaces the projections by what a replay gives. Both run `apply`, the same
// code as a live commit, so neither can drift from it.
//
// A replay meets identifiers and hashes, which are as good as random, in the order of the log. What it puts under such
// keys nothing reads before the end, so a batch's is gathered and put in the order of the keys
// (`WriteTransaction.gather`): the same rows, and a fraction of the pages touched.

extension Projections {
  /// The number of events that a replay into another store applies in one transaction.
  package static let replayBatch = 16_384

  /// The number of events between two progress reports of a replay.
  static let reportInterval: UInt64 = 4096

  /// After which weight of events a replay releases pages, 128 edits: each may be of a row on a page of its own, with
  /// which the kernel maps its neighbours, a megabyte of them where it keeps the file in large folios.
  private static let weightBetweenLettingGo: UInt64 = 512

  /// Applies the next event of a replay.
  /// - Parameters:
  ///   - letGo: called when the pages of the log's store that this process has mapped are to be released.
  ///   - progress: called with the last applied event, every ``reportInterval`` events; return `false` to cancel.
  /// - Returns: whether it was the last one, after which all is settled.
  /// - Throws: ``LibraryError`` `.userCancelled` if `progress` returns `false`; ``UnreadableEvent`` for one that cannot
  ///   be applied.
  func apply(
    _ read: ReadEvent, on course: inout ReplayCourse, in t: inout WriteTransaction, lettingGo letGo: () -> Void,
    progress: (UInt64) -> Bool
  ) throws -> Bool {
    let sequence = read.sequence
    try applyUnlessQuarantined(read, quarantining: course.skipped, in: &t)
    course.weight += read.weight
    let isLast = sequence == course.sequences.upperBound || course.weight >= course.weightMax
    if course.weight - course.lastLetGo >= Self.weightBetweenLettingGo || isLast {
      t.letGoOfPages()
      letGo()
      course.lastLetGo = course.weight
    }
    guard sequence % Self.reportInterval == 0 || isLast else { return false }
    guard progress(sequence) else {
      throw LibraryError(.userCancelled, "The replay was stopped at event \(sequence); nothing was changed.")
    }
    if isLast { try t.settle() }
    return isLast
  }
}

/// How far a replay of some events has come.
struct ReplayCourse {
  let sequences: ClosedRange<UInt64>
  let skipped: [UInt64: String]
  let weightMax: UInt64
  var weight: UInt64 = 0
  var lastLetGo: UInt64 = 0

  /// Begins to gather what is put.
  init(
    _ sequences: ClosedRange<UInt64>, _ skipped: [UInt64: String], _ weightMax: UInt64,
    gathering databases: [Database], in t: inout WriteTransaction
  ) {
    (self.sequences, self.skipped, self.weightMax) = (sequences, skipped, weightMax)
    t.gather(databases)
  }
}

/// An event of the log that was read to be applied.
struct ReadEvent: Sendable {
  let sequence: UInt64
  let commit: UInt64
  /// The event, or why it cannot be applied; nil for one that is quarantined, which is not read.
  let event: Result<Event, UnreadableEvent>?
  /// What it adds to a transaction: 1 for an object that it creates, and `Projections.editWeight` for one that an
  /// earlier event created, whose rows lie on pages of their own; at least 1.
  let weight: UInt64
  /// The bytes of its payload.
  let byteCount: Int

  /// Reads the next event.
  /// - Throws: ``LibraryError`` `.corrupted` if it is not there, or if nothing stands for its erased payload; what the
  ///   log throws.
  init(_ sequence: UInt64, from cursor: inout EventCursor, isQuarantined: Bool) throws {
    guard let record = try cursor.next(), record.sequence == sequence else {
      throw LibraryError.missingEvent(sequence)
    }
    (self.sequence, commit, byteCount) = (sequence, record.commit, record.content?.byteCount ?? 0)
    guard !isQuarantined else {
      event = nil
      weight = 1
      return
    }
    let decoded: Event
    do {
      decoded = try Event(record)
    } catch let failure as LibraryError where failure.isAboutEvents && record.content != nil {
      event = .failure(UnreadableEvent(sequence: sequence, failure: failure))
      weight = 1
      return
    }
    var sum: UInt64 = 0
    decoded.forEachTouched { sum += $0 == sequence ? 1 : Projections.editWeight }
    event = .success(decoded)
    weight = max(1, sum)
  }
}
