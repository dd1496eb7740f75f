import CLMDB
import Glibc

/// The sizes of an environment and its readers, at one time.
public struct EnvironmentStatistics: Sendable {
  /// A reader slot in use, of this or another process.
  public struct Reader: Sendable, Hashable {
    /// The process.
    public let process: Int32
    /// The snapshot it holds; nil when the slot is only kept for the next reader.
    public let transactionID: UInt64?
  }

  /// The size of the memory map, bytes.
  public let mapSize: Int
  /// The size of a page, bytes.
  public let pageSize: Int
  /// Pages of the file that were ever used; the file is at most that long.
  public let usedPages: Int
  /// Of these, pages free for reuse once no reader can see them.
  public let freePages: Int
  /// The number of the last commit to LMDB.
  public let lastTransactionID: UInt64
  /// The slots in use, of all processes.
  public let readers: [Reader]
  /// How many slots there are.
  public let maxReaders: Int
  /// How long the oldest running read transaction of this process has been open, seconds.
  public let oldestReadSeconds: Double

  /// By how many commits the oldest snapshot held is behind; 0 when none is held.
  public var oldestReaderLag: UInt64 {
    let oldest = readers.compactMap(\.transactionID).min() ?? lastTransactionID
    return lastTransactionID - min(oldest, lastTransactionID)
  }

  /// How many slots hold a snapshot.
  public var runningReaders: Int { readers.count { $0.transactionID != nil } }
}

extension Environment {
  /// The number of the last commit to LMDB, by any process: asking is cheap, and a change means a commit.
  ///
  /// - Throws: `closed`, `openedInAnotherProcess`.
  /// - Complexity: O(1), no system call.
  public func lastTransactionID() throws(LMDBError) -> UInt64 {
    try gate.checkProcess("mdb_env_info")
    return try gate.monitor.withLock { (state) throws(LMDBError) in
      guard let handle = state.handle else { throw LMDBError(.closed, "mdb_env_info", path: path) }
      var information = MDB_envinfo()
      try Self.check(mdb_env_info(handle, &information), "mdb_env_info", path)
      return UInt64(bitPattern: Int64(information.me_last_txnid))
    }
  }

  /// Figures for `stat`: sizes, pages, readers.
  ///
  /// - Throws: what a read throws.
  /// - Complexity: O(f + r), f the entries of LMDB's free list, r the reader slots.
  public func statistics() throws(LMDBError) -> EnvironmentStatistics {
    let freePages = try countFreePages()
    let handle = try gate.enter(.visitor, "mdb_env_info") { _, handle in handle }
    defer { gate.leave(.visitor) }
    var information = MDB_envinfo()
    try Self.check(mdb_env_info(handle, &information), "mdb_env_info", path)
    var pages = MDB_stat()
    try Self.check(mdb_env_stat(handle, &pages), "mdb_env_stat", path)
    let now = monotonicSeconds(coarse: true)
    let oldest = gate.monitor.withLock { state in
      state.slots.filter(\.isRunning).map { now - $0.since }.max() ?? 0
    }
    return EnvironmentStatistics(
      mapSize: information.me_mapsize, pageSize: Int(pages.ms_psize), usedPages: information.me_last_pgno &+ 1,
      freePages: freePages, lastTransactionID: UInt64(bitPattern: Int64(information.me_last_txnid)),
      readers: Self.readers(handle), maxReaders: Int(information.me_maxreaders), oldestReadSeconds: oldest)
  }

  /// The pages in LMDB's free list: each entry begins with how many page numbers follow, one word each.
  ///
  /// - Throws: `corrupted` for an entry that is not so.
  private func countFreePages() throws(LMDBError) -> Int {
    let read = try beginRead()
    let freeList = Database(name: "", hasIntegerKeys: true, index: 0, owner: serial)
    var pages = 0
    try read.forEach(in: freeList, from: 0) { (_, value) throws(LMDBError) in
      let count = value.byteCount < 8 ? 0 : value.unsafeLoadUnaligned(as: UInt64.self)
      let room = value.byteCount / 8 - 1
      guard room >= 0, count <= UInt64(room) else {
        throw LMDBError(
          .corrupted, "mdb_cursor_get", path: path,
          detail: "an entry of the free list names \(count) pages in \(value.byteCount) bytes; restore a backup")
      }
      pages += Int(count)
      return .proceed
    }
    return pages
  }

  /// The reader table, which LMDB gives as text: a heading, then "pid thread txnid" or "pid thread -" a line.
  private static func readers(_ handle: OpaquePointer) -> [EnvironmentStatistics.Reader] {
    var text = ""
    withUnsafeMutablePointer(to: &text) { text in
      _ = mdb_reader_list(
        handle,
        { line, context in
          guard let line, let context else { return 0 }
          context.assumingMemoryBound(to: String.self).pointee += String(cString: line)
          return 0
        }, text)
    }
    return text.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ")
      guard fields.count == 3, let process = Int32(fields[0]) else { return nil }
      return EnvironmentStatistics.Reader(process: process, transactionID: UInt64(fields[2]))
    }
  }
}
