import EventLog
public import Foundation
import LMDB
public import PhotoLedger

// Verification and rebuilding.
//
// The log proves itself (chain and hashes); the projections are proved by the log: a replay into a throw-away store
// must give the same bytes. The first difference is named by database and key. A store that may have been tampered
// with can bring LMDB itself down (it aborts on some damage), so the program verifies in a child process.

/// What a verification found.
public struct Verification: Sendable, Hashable {
  /// A place where the store is not what it should be.
  public struct Defect: Sendable, Hashable, CustomStringConvertible {
    /// Where: an event, a database and key, or a file.
    public let place: String
    /// What is wrong there.
    public let description: String
    /// Whether it is an entry of a projection, which the sound log contradicts.
    var isInProjection = false
  }

  /// How many events were recomputed.
  public internal(set) var eventCount: UInt64 = 0
  /// How many commits they make.
  public internal(set) var commitCount: UInt64 = 0
  /// How many entries of the projections were compared.
  public internal(set) var entryCount: UInt64 = 0
  /// How many resources' files were looked at.
  public internal(set) var resourceCount: UInt64 = 0
  /// How many of those are not there: a state, not a defect of the store.
  public internal(set) var missingResources: [String] = []
  /// The paths of those whose content is not the recorded one. For a referenced file that is a state; the first file
  /// of the library itself is the ``defect``.
  public internal(set) var alteredResources: [String] = []
  /// How many checkpoints the log was compared with, and fits.
  public internal(set) var checkpointCount: UInt64 = 0
  /// Quarantined events, which could not be applied by a rebuild.
  public internal(set) var quarantined: [QuarantinedEvent] = []
  /// The chain hash at the head, in hexadecimal digits: compare it with one that was written down elsewhere.
  public internal(set) var chain = ""
  /// The first difference; nil if there is none.
  public internal(set) var defect: Defect?

  /// Whether nothing contradicts the log.
  public var isSound: Bool { defect == nil }
}

extension Verification {
  /// What a verification of the log found.
  fileprivate init(_ log: LogVerification) {
    eventCount = log.eventCount
    commitCount = log.commitCount
    chain = log.head.chain.description
    defect = log.defect.map { defect in
      Defect(place: "event \(defect.sequence)", description: "\(defect.kind.rawValue): \(defect.detail).")
    }
  }
}

extension PhotoLibrary {
  /// Recomputes the chain of the log and every projection, and checks every resource's file.
  /// - Parameters:
  ///   - scratch: a directory for the temporary store; it needs about the space of the store itself.
  ///   - hashesContent: whether the files are read and hashed, not only checked for existence and size.
  ///   - checkpoints: earlier states of the log, stored elsewhere, which also reveal a fully recomputed log.
  ///   - progress: the progress handler; return `false` to cancel.
  /// - Returns: the verification; a difference is returned, not thrown.
  /// - Throws: ``LibraryError`` if reading fails or `progress` returns `false` (`.userCancelled`), or a checkpoint is
  ///   of another library (`.invalidProof`).
  /// - Complexity: O(n log n) in events.
  public func verify(
    scratch: URL = FileManager.default.temporaryDirectory, hashingContent hashesContent: Bool = false,
    against checkpoints: [Checkpoint] = [], progress: (TaskProgress) -> Bool = { _ in true }
  ) throws -> Verification {
    try checkIsNow("verify the library")
    try checkIsOwner("verify the library")
    for checkpoint in checkpoints { try store.core.checkOrigin(of: checkpoint) }
    var found = try verifyStore(scratch: scratch, against: checkpoints, progress: progress)
    guard found.isSound else { return found }
    return try store.reading { t in
      try verifyResources(&found, hashesContent, t, progress)
      return found
    }
  }

  /// Verifies the log of a library that cannot be opened.
  /// - Parameters:
  ///   - url: the library's directory.
  ///   - progress: the progress handler; return `false` to cancel.
  /// - Returns: the defect of the log; nil if it is sound or cannot be read at all, so that the error of opening is
  ///   more useful.
  /// - Throws: ``LibraryError`` `.userCancelled` if `progress` returns `false`.
  /// - Complexity: O(bytes) of the events.
  package static func verifyUnopened(
    _ url: URL, progress: (TaskProgress) -> Bool = { _ in true }
  ) throws -> Verification? {
    var options = LibraryStore.options
    options.createsStore = false
    let path = LibraryStore.storePath(url.standardFileURL)
    var isStopped = false
    let log: LogVerification
    do {
      let environment = try LMDB.Environment.open(path: path, options: options)
      let events = try EventLog(in: environment, creates: false)
      log = try environment.read { t in
        try events.verify(in: t) { sequence in
          isStopped = !progress(TaskProgress(phase: "log", done: sequence, total: nil))
          return isStopped ? .stop : .proceed
        }
      }
    } catch {
      return nil
    }
    guard !isStopped else {
      throw LibraryError(.userCancelled, "The verification was stopped; nothing was changed.")
    }
    let found = Verification(log)
    return found.isSound ? nil : found
  }

  /// The same without the files of resources.
  func verifyStore(
    scratch: URL = FileManager.default.temporaryDirectory, against checkpoints: [Checkpoint] = [],
    progress: (TaskProgress) -> Bool
  ) throws -> Verification {
    try store.reading { t in
      var found = try verifyLog(against: checkpoints, t, progress)
      guard found.isSound else { return found }
      let folder = try makeFolder(in: scratch)
      defer { try? FileManager.default.removeItem(at: folder) }
      do {
        try verifyProjections(&found, in: folder, t, progress)
      } catch let error as LMDBError where error.path.map({ $0.contains("/\(folder.lastPathComponent)") }) == true {
        // Of the second store, not of the library's, of which nothing more can be said.
        throw LibraryError(error.ofScratch(in: scratch.path))
      }
      return found
    }
  }

  /// Makes a folder that this verification has alone: another one may draw the same number.
  private func makeFolder(in scratch: URL) throws -> URL {
    try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
    var triesLeft = 100
    while true {
      let folder = scratch.appending(path: "photoledger-verify-\(store.core.libraryEnvironment.random())")
      do {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        return folder
      } catch let error as CocoaError where error.code == .fileWriteFileExists && triesLeft > 0 {
        triesLeft -= 1
      }
    }
  }

  private func verifyLog(
    against checkpoints: [Checkpoint], _ t: borrowing StoreReading, _ progress: (TaskProgress) -> Bool
  ) throws -> Verification {
    guard let log = try store.core.log.proved(statesAt: Set(checkpoints.map(\.size)), in: t, progress) else {
      throw LibraryError(.userCancelled, "The verification was stopped; nothing was changed.")
    }
    var found = Verification(log)
    guard found.isSound else { return found }
    let states = log.states
    for checkpoint in checkpoints.sorted(by: { $0.size < $1.size }) {
      found.defect = checkpoint.difference(from: states, log.head)
      if found.defect != nil { break }
      found.checkpointCount += 1
    }
    return found
  }

  private func verifyProjections(
    _ found: inout Verification, in folder: URL, _ t: borrowing StoreReading, _ progress: (TaskProgress) -> Bool
  ) throws {
    let total = try store.core.log.head(t).sequence
    var options = LMDB.Environment.Options()
    options.maxDatabases = Projections.databasesMax
    options.durability = .unsafeNoSync
    let environment = try LMDB.Environment.open(path: folder.path, options: options)
    let replayed = try Projections(in: environment)
    found.quarantined = try store.core.projections.quarantined(in: t)
    let skipped = Dictionary(found.quarantined.map { ($0.sequence, $0.reason) }) { first, _ in first }
    do {
      try replayed.replay(
        store.core.log, through: total, from: t, into: environment, quarantining: skipped
      ) { progress(TaskProgress(phase: "replay", done: $0, total: total)) }
    } catch let unreadable as UnreadableEvent {
      found.defect = Verification.Defect(
        place: "event \(unreadable.sequence)", description: unreadable.failure.description)
      return
    } catch let error as LibraryError where error.code == .corrupted {
      found.defect = Verification.Defect(place: "replay", description: error.description)
      return
    }
    let names = Projections.names + [RedactionTable.name]
    let stored = store.core.projections.all + [store.core.projections.redactions.database]
    for (name, (live, model)) in zip(names, zip(stored, replayed.all + [replayed.redactions.database])) {
      let difference = try environment.read { other in
        try firstDifference(name, live, t, model, other, &found.entryCount)
      }
      if let difference {
        found.defect = difference
        return
      }
      guard progress(TaskProgress(phase: "compare", done: found.entryCount, total: nil)) else {
        throw LibraryError(.userCancelled, "The verification was stopped; nothing was changed.")
      }
    }
  }

  /// Walks two databases side by side.
  private func firstDifference(
    _ name: String, _ live: Database, _ t: borrowing StoreReading, _ model: Database, _ other: borrowing StoreReading,
    _ count: inout UInt64
  ) throws -> Verification.Defect? {
    var one = try t.cursor(in: live)
    var two = try other.cursor(in: model)
    var (stored, wanted) = (try one.first(), try two.first())
    while true {
      switch (stored, wanted) {
      case (nil, nil): return nil
      case (let stored?, nil): return defect(name, stored.key, "has an entry that does not follow from the log")
      case (nil, let wanted?): return defect(name, wanted.key, "lacks an entry that follows from the log")
      case (let left?, let right?):
        guard left.key.isEqual(to: right.key) else {
          return left.comesBefore(right, asNumber: live.hasIntegerKeys)
            ? defect(name, left.key, "has an entry that does not follow from the log")
            : defect(name, right.key, "lacks an entry that follows from the log")
        }
        guard left.value.isEqual(to: right.value) else {
          return defect(name, left.key, "has a value that does not follow from the log")
        }
      }
      count += 1
      if count % 4096 == 0 {
        t.letGoOfPages()
        other.letGoOfPages()
      }
      stored = try one.next()
      wanted = try two.next()
    }
  }

  private func defect(_ name: String, _ key: RawSpan, _ what: String) -> Verification.Defect {
    let digits = key.withUnsafeBytes { $0.hexadecimal }
    return Verification.Defect(
      place: "\(name) \(digits)", description: "The projection \(name) \(what), at the key \(digits); run `rebuild`.",
      isInProjection: true)
  }

  private func verifyResources(
    _ found: inout Verification, _ hashesContent: Bool, _ t: borrowing StoreReading,
    _ progress: (TaskProgress) -> Bool
  ) throws {
    let projections = store.core.projections
    let total = UInt64(try t.count(of: projections.details))
    var done: UInt64 = 0
    try t.forEach(in: projections.details, from: 0) { _, bytes in
      for resource in try AssetDetails(encoded: bytes.withUnsafeBytes { Array($0) }).resources {
        found.resourceCount += 1
        let path = store.resources.path(of: resource)
        switch try store.resources.state(of: resource, hashing: hashesContent) {
        case .present: break
        case .missing: found.missingResources.append(path)
        case .altered:
          found.alteredResources.append(path)
          // Verification continues, since every damaged file has to be restored.
          guard resource.storage == .library, found.defect == nil else { break }
          found.defect = try defect(of: resource, at: path)
        }
      }
      done += 1
      if done % 4096 == 0 { t.letGoOfPages() }
      guard progress(TaskProgress(phase: "resources", done: done, total: total)) else {
        throw LibraryError(.userCancelled, "The verification was stopped; nothing was changed.")
      }
      return .proceed
    }
  }

  /// What is wrong with a file of the library whose content is not the recorded one.
  private func defect(of resource: AssetResource, at path: String) throws -> Verification.Defect {
    let hasSize = try store.resources.state(of: resource, hashing: false) == .present
    let what = hasSize ? "does not have the recorded hash" : "is not a file of the recorded size"
    return Verification.Defect(place: path, description: "The file of \(resource.originalFilename) \(what).")
  }
}

extension StoreCore {
  fileprivate func checkOrigin(of checkpoint: Checkpoint) throws {
    guard checkpoint.origin != origin else { return }
    throw LibraryError(
      .invalidProof, "The checkpoint is of the log \(checkpoint.origin), but this library's is \(origin).")
  }
}

extension Checkpoint {
  /// How a log that is sound in itself differs from what it was at the checkpoint; nil if it does not.
  fileprivate func difference(
    from states: [UInt64: LogVerification.State], _ head: EventLog.Head
  ) -> Verification.Defect? {
    guard let state = states[size] else {
      return Verification.Defect(
        place: "event \(head.sequence + 1)",
        description: """
          The log ends before it; at the checkpoint of \(spelledTime) it had \(size) events: the log was truncated, or \
          this library is a fork or a restored backup of an earlier state.
          """)
    }
    guard state.root.description == root, state.head.chain.description == chain, state.head.commit == commit else {
      return Verification.Defect(
        place: "events 1 to \(size)",
        description: """
          The first \(size) events are not those of the checkpoint of \(spelledTime): the log was altered and its \
          hashes recomputed, or this library is a fork or a restored backup that continued from an earlier state.
          """)
    }
    return nil
  }
}

extension Entry {
  /// Whether the key comes before another's in a database of both.
  fileprivate func comesBefore(_ other: borrowing Entry, asNumber isNumber: Bool) -> Bool {
    if isNumber { return integerKey < other.integerKey }
    return key.withUnsafeBytes { one in other.key.withUnsafeBytes { one.lexicographicallyPrecedes($0) } }
  }
}

extension RawSpan {
  fileprivate func isEqual(to other: RawSpan) -> Bool {
    withUnsafeBytes { one in
      other.withUnsafeBytes { two in
        one.count == two.count && memcmp(one.baseAddress!, two.baseAddress!, one.count) == 0
      }
    }
  }
}
