import PhotoLedger
import Foundation
import Glibc
import LMDB
import Synchronization

// Where upload jobs are kept: an LMDB store of their own, beside the library's.
//
//   LIBRARY/uploads/data.mdb created when a client first enables uploads; 0600, since destinations hold credentials
//   LIBRARY/uploads/worker-….lock  held by the process that works on a client's jobs
//   LIBRARY/uploads/whole-…        a verified copy that is being sent in one request
//
//   database "jobs"      key: client, 0, number (8)      value: the job as JSON
//                             client, 0, 0 (8)           value: the client's settings as JSON
//
// A job is not an event. It is a client's task and not part of a photo's history: it changes with every portion that a
// server accepts, holds credentials that must be removed with it, and must not be in a backup, a fork or a restored
// library, which would send everything a second time. In the log it would be all that, for ever, and its identifiers
// and times would change the history that a seed reproduces. So the store has its own clock and randomness
// (`UploadEnvironment`), and no answer of the library depends on it: without the folder there are no jobs.
//
// Rejected: events with projections (above, and a new format of the log); one JSON file that is replaced (a row for
// each portion would rewrite every job, and two processes would lose each other's jobs without a lock of our own).
//
// The requests of a block are one transaction here, so they happen together or not at all; a block cannot have requests
// of both kinds, since no transaction spans two stores.

/// What a client set when it enabled uploads.
package struct UploadSettings: Codable, Hashable, Sendable {
  /// Whether jobs wait while the network is expensive (PHAssetResourceUploadJobOptions).
  package var preventsExpensiveNetworkAccess = false

  package init(preventsExpensiveNetworkAccess: Bool = false) {
    self.preventsExpensiveNetworkAccess = preventsExpensiveNetworkAccess
  }
}

/// The settings and jobs of one client, while they are read or changed.
struct UploadBook: Sendable {
  /// What is kept of a client besides its jobs.
  struct Client: Codable, Hashable, Sendable {
    /// Nil while uploads are disabled.
    var settings: UploadSettings?
    var lastNumber: UInt64 = 0
  }

  var client = Client()
  /// The jobs by their numbers: in the order of their creation.
  var jobs: [UInt64: UploadJob] = [:]

  var ordered: [UploadJob] { jobs.values.sorted { $0.number < $1.number } }

  func job(_ identifier: String) -> UploadJob? { jobs.values.first { $0.identifier == identifier } }
}

/// The jobs of a library's clients.
final class UploadJobStore: Sendable {
  private struct Opened: Sendable {
    let environment: LMDB.Environment
    let jobs: Database
  }

  /// The name of its directory in the library's.
  private static let name = "uploads"

  private let folder: LibraryFolder
  private struct State: Sendable {
    /// Nil until something needs it.
    var opened: Opened?
    var isClosed = false
    var obstacle: (@Sendable (_ isWrite: Bool) throws -> Void)?
  }

  private let state = Mutex(State())

  init(in folder: LibraryFolder) { self.folder = folder }

  /// Whether a client ever enabled uploads here.
  var exists: Bool { folder.status(of: Self.name + "/data.mdb") != nil }

  private func opened(creating: Bool) throws -> Opened? {
    try state.withLock { state in
      guard !state.isClosed else { throw LibraryError(.closed, "The library was closed; open it again.") }
      if let opened = state.opened { return opened }
      guard creating || exists else { return nil }
      var options = LMDB.Environment.Options()
      options.maxDatabases = 4
      options.mapSize = 256 << 20
      options.createsStore = creating
      if creating { try folder.makeFolder(Self.name, 0o700) }
      let environment = try folder.withPath { [options] library in
        try LMDB.Environment.open(path: "\(library)/\(Self.name)", options: options)
      }
      let opened = Opened(environment: environment, jobs: try environment.database("jobs"))
      state.opened = opened
      return opened
    }
  }

  func close() {
    state.withLock { state in
      // Everything durable was synced by its transaction; an error while closing loses nothing.
      try? state.opened?.environment.close()
      (state.opened, state.isClosed) = (nil, true)
    }
  }

  /// Calls a function before each read and write, whose error is that of the store: a full disk, for tests.
  func obstruct(_ obstacle: @escaping @Sendable (_ isWrite: Bool) throws -> Void) {
    state.withLock { $0.obstacle = obstacle }
  }

  /// A client's settings and jobs.
  /// - Throws: ``LibraryError`` `.corrupted` for rows that cannot be read, `.storage`.
  /// - Complexity: O(jobs of the client), of which there are at most ``PhotoLibrary/uploadJobLimit``.
  func book(of client: String) throws -> UploadBook {
    try LibraryStore.reporting {
      try state.withLock({ $0.obstacle })?(false)
      guard let opened = try opened(creating: false) else { return UploadBook() }
      return try opened.environment.read { t in try book(of: client, opened, t) }
    }
  }

  /// Changes a client's settings and jobs in one durable transaction; nothing if `body` throws.
  @discardableResult
  func change<R>(_ client: String, creating: Bool = false, _ body: (inout UploadBook) throws -> R) throws -> R {
    try LibraryStore.reporting {
      try state.withLock({ $0.obstacle })?(true)
      guard let opened = try opened(creating: creating) else {
        // Nothing is kept where nothing was enabled; `body` says what that means.
        var none = UploadBook()
        let answer = try body(&none)
        precondition(none.jobs.isEmpty, "A job was created before uploads were enabled.")
        return answer
      }
      return try opened.environment.write { t in
        let before = try book(of: client, opened, t)
        var after = before
        let answer = try body(&after)
        if after.client != before.client {
          try t.put(Self.key(client, 0), try Self.encoded(after.client), in: opened.jobs)
        }
        for number in before.jobs.keys where after.jobs[number] == nil {
          try t.delete(Self.key(client, number), in: opened.jobs)
        }
        for (number, job) in after.jobs where before.jobs[number] != job {
          try t.put(Self.key(client, number), try Self.encoded(job), in: opened.jobs)
        }
        return answer
      }
    }
  }

  private func book(
    of client: String, _ opened: Opened, _ t: borrowing some TransactionReading & ~Copyable
  ) throws -> UploadBook {
    var book = UploadBook()
    let prefix = Self.prefix(client)
    try t.forEach(in: opened.jobs, prefix: prefix.span.bytes) { key, value in
      let number = key.withUnsafeBytes { key in key.suffix(8).reduce(0) { $0 << 8 | UInt64($1) } }
      let bytes = value.withUnsafeBytes { Data($0) }
      do {
        if number == 0 {
          book.client = try JSONDecoder().decode(UploadBook.Client.self, from: bytes)
        } else {
          book.jobs[number] = try JSONDecoder().decode(UploadJob.self, from: bytes)
        }
      } catch {
        throw LibraryError(
          .corrupted,
          """
          Upload job \(number) of the client '\(client)' cannot be read; \
          remove the folder \(folder.path(of: Self.name)) to drop all upload jobs. Photos are not affected.
          """)
      }
      return .proceed
    }
    return book
  }

  private static func prefix(_ client: String) -> [UInt8] { Array(client.utf8) + [0] }

  private static func key(_ client: String, _ number: UInt64) -> [UInt8] {
    prefix(client) + (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (UInt64($0) * 8)) }
  }

  private static func encoded(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(value))
  }

  // MARK: Files beside the rows

  /// Where a proved copy of a job's file lies while it is sent in one request.
  func copy(for job: UploadJob) -> URL {
    URL(filePath: folder.linkedPath(of: Self.copyName(for: job)), directoryHint: .notDirectory)
  }

  func removeCopy(for job: UploadJob) { folder.remove(Self.copyName(for: job)) }

  private static func copyName(for job: UploadJob) -> String {
    "\(name)/whole-\(job.identifier.prefix { $0 != "/" })"
  }

  /// Takes the right to work on a client's jobs; nil while another process has it.
  /// - Throws: ``LibraryError`` `.storage` if the lock cannot be opened.
  func lock(for client: String) throws -> FileLock? {
    let name = Array(client.utf8).reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    let path = "\(Self.name)/worker-\(String(name, radix: 16)).lock"
    return try FileLock(folder.open(path, O_RDWR | O_CREAT, 0o600)) { code in
      LibraryError.store(folder.path(of: path), "lock", errno: code)
    }
  }
}
