import CLMDB
import Glibc

// Rewriting a store.
//
// LMDB never shrinks a file, and never wipes: a freed page keeps its bytes until it is reused, and so does the gap
// inside a page from which an entry was removed. `mdb_env_copy` with MDB_CP_COMPACT leaves out freed pages, but copies
// whole pages, including gaps. To be sure that a deleted value no longer exists, every entry is therefore copied to a
// new file:
//
//     store/data.mdb ── every entry, in order ──▶ store/rewriting/data.mdb ── rename ──▶ store/data.mdb
//
// The store must not be in use meanwhile (StoreUsage), and LMDB's writer lock is held as well, for programs without
// such a lock. A killed process leaves one of the two files complete under the name; a leftover in `rewriting` is
// removed by the next one.

/// The result of rewriting a store.
public struct StoreRewriting: Sendable, Hashable {
  /// The size of the data file before, bytes.
  public let bytesBefore: Int
  /// The size of the data file after, bytes.
  public let bytesAfter: Int
  /// How many entries there are, in all databases.
  public let entryCount: UInt64
}

extension Environment {
  /// How many bytes of entries share a transaction of the new file.
  private static let rewritingBatchBytes = 32 << 20

  /// Puts every entry of a store into a new data file, which takes the place of the old one: no free page is left, and
  /// no byte of a value that was deleted.
  ///
  /// - Parameters:
  ///   - path: the directory of the store, which must not be open.
  ///   - options: the usual options of the store.
  ///   - check: called with the old store and the new one before the old one is replaced; if it throws, the old one is
  ///     kept.
  ///   - progress: called with the entries done and their total number; return `false` to cancel, which keeps the old
  ///     file.
  /// - Returns: the sizes; nil if `progress` cancelled it.
  /// - Throws: `busy` if it is open, `noStore`, `diskFull`, and the errors of `check`.
  /// - Complexity: O(n) in the bytes of all entries.
  public static func rewrite(
    path: String, options: Options = Options(), check: (Environment, Environment) throws -> Void = { _, _ in },
    progress: (_ done: UInt64, _ total: UInt64) -> Bool = { _, _ in true }
  ) throws -> StoreRewriting? {
    do {
      return try rewrite(path, options, check, progress)
    } catch let error as LMDBError {
      throw error.ofScratch(in: path)
    }
  }

  private static func rewrite(
    _ path: String, _ options: Options, _ check: (Environment, Environment) throws -> Void,
    _ progress: (_ done: UInt64, _ total: UInt64) -> Bool
  ) throws -> StoreRewriting? {
    let usage = try StoreUsage(of: path, alone: true)
    // The store closes before the old lock file is removed; a process that opened it in between would share no lock
    // with the next one.
    defer { withExtendedLifetime(usage) {} }
    let folder = path + "/rewriting"
    removeStore(folder)
    defer { removeStore(folder) }
    var options = options
    options.createsStore = false
    let source = try open(path: path, options: options, as: usage)
    try source.checkIsAlone()
    options.createsStore = true
    options.durability = .unsafeNoSync  // Synchronised once, before it takes its name.
    options.mapSize = max(options.mapSize, try source.statistics().mapSize)
    let target = try open(path: folder, options: options)
    let databases = try source.databaseNames().map { name throws(LMDBError) in
      let old = try source.databaseOfAnyKeys(name)
      return (old, try target.database(name, integerKeys: old.hasIntegerKeys))
    }
    let result: StoreRewriting? = try source.write { t in
      let total = try databases.reduce(UInt64(0)) { $0 + UInt64(try t.count(of: $1.0)) }
      var done: UInt64 = 0
      for (old, new) in databases {
        guard
          try copy(
            old, of: t, to: new, in: target,
            {
              done += $0; return progress(done, total)
            })
        else { return nil }
      }
      try target.sync()
      try check(source, target)
      try target.close()
      // Both before the new file takes the name: an error of a file inside says that the store is unchanged.
      let (before, after) = (try byteCount(path + "/data.mdb"), try byteCount(folder + "/data.mdb"))
      guard rename(folder + "/data.mdb", path + "/data.mdb") == 0 else {
        throw LMDBError(code: errno, "rename", path: path)
      }
      return StoreRewriting(bytesBefore: before, bytesAfter: after, entryCount: total)
    }
    guard let result else {
      try target.close()
      return nil
    }
    try source.close()
    // It belongs to the old file; the next open creates a new one.
    unlink(path + "/lock.mdb")
    try synchronizeDirectory(path)
    return result
  }

  /// Copies the entries of a database; false if `progress`, which is given how many more there are, stopped.
  private static func copy(
    _ old: Database, of t: borrowing WriteTransaction, to new: Database, in target: Environment,
    _ progress: (UInt64) -> Bool
  ) throws -> Bool {
    var start: [UInt8]? = []
    while let from = start {
      var next: [UInt8]?
      var count: UInt64 = 0
      try target.write { w in
        (next, count) = (nil, 0)
        var bytes = 0
        try t.forEach(in: old, from: from.span.bytes) { (key, value) throws(LMDBError) in
          guard bytes < rewritingBatchBytes else {
            next = key.withUnsafeBytes { Array($0) }
            return .stop
          }
          try w.put(key, value, in: new, mode: .append)
          bytes += key.byteCount + value.byteCount
          count += 1
          return .proceed
        }
      }
      guard progress(count) else { return false }
      start = next
    }
    return true
  }

  /// Ensures that a store is not in use, here or in another process.
  ///
  /// - Throws: `busy` if it is in use, `io` if there is no such directory.
  public static func checkIsUnused(path: String) throws(LMDBError) { _ = try StoreUsage(of: path, alone: true) }

  /// Removes the files of a store that is not open.
  ///
  /// - Parameters:
  ///   - path: the directory of the store, which is kept, with any other files in it.
  ///   - options: the usual options of the store.
  ///   - isMeant: called with the store, returns whether to remove it; not called for a file too short to hold a
  ///     commit.
  /// - Returns: whether the files were removed.
  /// - Throws: `busy` if it is open, `io`; the errors of opening it and of `isMeant`.
  public static func discard(
    path: String, options: Options = Options(), if isMeant: (Environment) throws -> Bool
  ) throws -> Bool {
    let usage = try StoreUsage(of: path, alone: true)
    // Until the files are gone: a process that opened the store in between would commit to unlinked files.
    defer { withExtendedLifetime(usage) {} }
    let file = path + "/data.mdb"
    // A disk that fills up while LMDB makes the file leaves less than its two first pages.
    if access(file, F_OK) == 0, try byteCount(file) >= 2 * sysconf(Int32(_SC_PAGESIZE)) {
      var options = options
      options.createsStore = false
      let store = try open(path: path, options: options, as: usage)
      let goes = try isMeant(store)
      try store.close()
      guard goes else { return false }
    }
    for name in [file, path + "/lock.mdb"] {
      guard unlink(name) == 0 || errno == ENOENT else { throw LMDBError(code: errno, "unlink", path: name) }
    }
    return true
  }

  /// The database `name`, whatever its keys are.
  ///
  /// - Throws: `notFound`, `databasesFull`.
  public func databaseOfAnyKeys(_ name: String) throws(LMDBError) -> Database {
    do {
      return try database(name, create: false)
    } catch {
      guard error.code == .incompatibleDatabase else { throw error }
      return try database(name, integerKeys: true, create: false)
    }
  }

  /// Refuses when another process holds a reader slot: one of a program that does not say that it uses the store.
  private func checkIsAlone() throws(LMDBError) {
    try readerCheck()
    let own = getpid()
    if let reader = try statistics().readers.first(where: { $0.process != own }) {
      throw LMDBError(.busy, "rewrite", path: path, detail: "process \(reader.process) has it open; end that first")
    }
  }

  private static func byteCount(_ file: String) throws(LMDBError) -> Int {
    var status = stat()
    guard stat(file, &status) == 0 else { throw LMDBError(code: errno, "stat", path: file) }
    return Int(status.st_size)
  }

  private static func removeStore(_ folder: String) {
    unlink(folder + "/data.mdb")
    unlink(folder + "/lock.mdb")
    rmdir(folder)
  }
}
