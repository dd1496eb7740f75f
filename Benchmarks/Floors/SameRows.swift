import CLMDB
import Foundation
import PhotoLedger

/// The rows of all projections put twice, by LMDB's own calls: what a rebuild writes to the disk if no events are read.
///
/// First into a store of their own that is not synchronised, as the shadow of a rebuild, then from there into another,
/// which is; each table in the order of its keys, at its end, which is the cheapest way that LMDB has. Nothing is
/// decoded, decided, put in order or verified.
final class SameRows {
  private struct Table {
    var name: String
    var hasNumbers: Bool
  }

  private let source: OpaquePointer
  private let folder: URL
  private let tables: [Table]

  /// Copies the store of a library, to which nothing is written meanwhile.
  /// - Parameters:
  ///   - store: the folder of the store.
  ///   - folder: where the copy and the new stores lie; nothing is there yet.
  init(of store: URL, in folder: URL) throws {
    self.folder = folder
    let copy = folder.appending(path: "source")
    try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
    try FileManager.default.copyItem(at: store.appending(path: "data.mdb"), to: copy.appending(path: "data.mdb"))
    source = try Self.open(copy, UInt32(MDB_RDONLY))
    let source = source
    tables = try Self.transaction(source, UInt32(MDB_RDONLY)) { transaction in
      try Projections.names.map { name in
        var (index, flags): (UInt32, UInt32) = (0, 0)
        try RawLMDB.check(mdb_dbi_open(transaction, name, 0, &index), "mdb_dbi_open")
        try RawLMDB.check(mdb_dbi_flags(transaction, index, &flags), "mdb_dbi_flags")
        return Table(name: name, hasNumbers: flags & UInt32(MDB_INTEGERKEY) != 0)
      }
    }
  }

  deinit {
    mdb_env_close(source)
    do { try FileManager.default.removeItem(at: folder) } catch { print("\(folder.path) is left: \(error)") }
  }

  private static func open(_ folder: URL, _ flags: UInt32) throws -> OpaquePointer {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var made: OpaquePointer?
    try RawLMDB.check(mdb_env_create(&made), "mdb_env_create")
    guard let made else { throw RawLMDB.Failure(ENOMEM, "mdb_env_create") }
    try RawLMDB.check(mdb_env_set_mapsize(made, 64 << 30), "mdb_env_set_mapsize")
    try RawLMDB.check(mdb_env_set_maxdbs(made, UInt32(Projections.databasesMax)), "mdb_env_set_maxdbs")
    try RawLMDB.check(mdb_env_open(made, folder.path, UInt32(MDB_NOTLS) | flags, 0o600), "mdb_env_open")
    return made
  }

  private static func transaction<R>(
    _ environment: OpaquePointer, _ flags: UInt32, _ body: (OpaquePointer?) throws -> R
  ) throws -> R {
    var transaction: OpaquePointer?
    try RawLMDB.check(mdb_txn_begin(environment, nil, flags, &transaction), "mdb_txn_begin")
    let result: R
    do { result = try body(transaction) } catch {
      mdb_txn_abort(transaction)
      throw error
    }
    // A commit that fails has given the transaction up.
    try RawLMDB.check(mdb_txn_commit(transaction), "mdb_txn_commit")
    return result
  }

  /// Times the putting of every row into a new store, and from there into a second one, each by one transaction.
  func putTwice(_ stopwatch: Stopwatch) throws -> Double {
    let (first, second) = (folder.appending(path: "first"), folder.appending(path: "second"))
    let (shadow, store) = (try Self.open(first, UInt32(MDB_NOSYNC)), try Self.open(second, 0))
    defer { for environment in [shadow, store] { mdb_env_close(environment) } }
    let time = try stopwatch.time {
      try copyRows(from: source, to: shadow)
      try copyRows(from: shadow, to: store)
    }
    for folder in [first, second] { try FileManager.default.removeItem(at: folder) }
    return time
  }

  private func copyRows(from old: OpaquePointer, to new: OpaquePointer) throws {
    try Self.transaction(old, UInt32(MDB_RDONLY)) { reading in
      try Self.transaction(new, 0) { writing in
        for table in tables { try copyRows(of: table, from: reading, to: writing) }
      }
    }
  }

  private func copyRows(of table: Table, from reading: OpaquePointer?, to writing: OpaquePointer?) throws {
    let flags = table.hasNumbers ? UInt32(MDB_INTEGERKEY) : 0
    var (old, new): (UInt32, UInt32) = (0, 0)
    try RawLMDB.check(mdb_dbi_open(reading, table.name, flags, &old), "mdb_dbi_open")
    try RawLMDB.check(mdb_dbi_open(writing, table.name, flags | UInt32(MDB_CREATE), &new), "mdb_dbi_open")
    var (cursor, end): (OpaquePointer?, OpaquePointer?)
    try RawLMDB.check(mdb_cursor_open(reading, old, &cursor), "mdb_cursor_open")
    defer { mdb_cursor_close(cursor) }
    try RawLMDB.check(mdb_cursor_open(writing, new, &end), "mdb_cursor_open")
    defer { mdb_cursor_close(end) }
    var (key, value) = (MDB_val(), MDB_val())
    var code = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
    while code == 0 {
      try RawLMDB.check(mdb_cursor_put(end, &key, &value, UInt32(MDB_APPEND)), "mdb_cursor_put")
      code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
    }
    if code != MDB_NOTFOUND { throw RawLMDB.Failure(code, "mdb_cursor_get") }
  }
}
