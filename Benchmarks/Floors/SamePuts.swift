import CLMDB
import Foundation

/// The puts of a commit that edits one asset, and nothing else, by LMDB's own calls on a copy of a library's store.
///
/// What is left of a commit's cost without deciding, encoding, hashing and handing over: the pages that the store's
/// tables need. The rows are of the usual sizes, and their bytes are invalid, so the copy is not a library afterwards.
final class SamePuts {
  private let environment: OpaquePointer
  private var tables: [UInt32] = []
  private var lastEvent: UInt64 = 0
  private var lastCommit: UInt64 = 0

  private enum Table: Int, CaseIterable {
    case events, commits, meta, assets, history

    var name: String { self == .meta ? "log.meta" : "\(self)" }
    var hasNumbers: Bool { self == .events || self == .commits || self == .assets }
  }

  /// The sizes of an edit's rows, in bytes.
  private static let (record, commit, head, asset) = (260, 110, 46, 144)

  /// Opens the copy of a store, which is open nowhere else.
  /// - Parameter isDurable: whether a commit waits for the disk.
  init(_ folder: URL, isDurable: Bool) throws {
    var made: OpaquePointer?
    try RawLMDB.check(mdb_env_create(&made), "mdb_env_create")
    guard let made else { throw RawLMDB.Failure(ENOMEM, "mdb_env_create") }
    environment = made
    try RawLMDB.check(mdb_env_set_mapsize(made, 64 << 30), "mdb_env_set_mapsize")
    try RawLMDB.check(mdb_env_set_maxdbs(made, 8), "mdb_env_set_maxdbs")
    try RawLMDB.check(
      mdb_env_open(made, folder.path, UInt32(MDB_NOTLS) | (isDurable ? 0 : UInt32(MDB_NOSYNC)), 0o600), "mdb_env_open")
    var transaction: OpaquePointer?
    try RawLMDB.check(mdb_txn_begin(environment, nil, 0, &transaction), "mdb_txn_begin")
    for table in Table.allCases {
      var index: UInt32 = 0
      try RawLMDB.check(
        mdb_dbi_open(transaction, table.name, table.hasNumbers ? UInt32(MDB_INTEGERKEY) : 0, &index), "mdb_dbi_open")
      tables.append(index)
    }
    lastEvent = try last(.events, transaction)
    lastCommit = try last(.commits, transaction)
    try RawLMDB.check(mdb_txn_commit(transaction), "mdb_txn_commit")
  }

  deinit { mdb_env_close(environment) }

  private func last(_ table: Table, _ transaction: OpaquePointer?) throws -> UInt64 {
    var cursor: OpaquePointer?
    try RawLMDB.check(mdb_cursor_open(transaction, tables[table.rawValue], &cursor), "mdb_cursor_open")
    defer { mdb_cursor_close(cursor) }
    var (key, value) = (MDB_val(), MDB_val())
    try RawLMDB.check(mdb_cursor_get(cursor, &key, &value, MDB_LAST), "mdb_cursor_get")
    return key.mv_data.loadUnaligned(as: UInt64.self)
  }

  /// One transaction, with the puts of a commit for each of several assets.
  /// - Parameter assets: the numbers of assets that are there.
  func commit(_ assets: [UInt64]) throws {
    var transaction: OpaquePointer?
    try RawLMDB.check(mdb_txn_begin(environment, nil, 0, &transaction), "mdb_txn_begin")
    for asset in assets { try put(asset, transaction) }
    try RawLMDB.check(mdb_txn_commit(transaction), "mdb_txn_commit")
  }

  private func put(_ asset: UInt64, _ transaction: OpaquePointer?) throws {
    (lastEvent, lastCommit) = (lastEvent + 1, lastCommit + 1)
    try put(.events, lastEvent, Self.record, UInt32(MDB_APPEND), transaction)
    try put(.assets, asset, Self.asset, 0, transaction)
    var pair = [asset.bigEndian, lastEvent.bigEndian]
    try pair.withUnsafeMutableBytes { try put(.history, $0, 0, 0, transaction) }
    try put(.commits, lastCommit, Self.commit, UInt32(MDB_APPEND), transaction)
    var name = Array("head".utf8)
    try name.withUnsafeMutableBytes { try put(.meta, $0, Self.head, 0, transaction) }
  }

  private func put(
    _ table: Table, _ number: UInt64, _ count: Int, _ flags: UInt32, _ transaction: OpaquePointer?
  ) throws {
    var number = number
    try withUnsafeMutableBytes(of: &number) { try put(table, $0, count, flags, transaction) }
  }

  private func put(
    _ table: Table, _ key: UnsafeMutableRawBufferPointer, _ count: Int, _ flags: UInt32, _ transaction: OpaquePointer?
  ) throws {
    try withUnsafeTemporaryAllocation(byteCount: max(count, 1), alignment: 8) { value in
      value.initializeMemory(as: UInt8.self, repeating: 7)
      var name = MDB_val(mv_size: key.count, mv_data: key.baseAddress)
      var content = MDB_val(mv_size: count, mv_data: value.baseAddress)
      try RawLMDB.check(mdb_put(transaction, tables[table.rawValue], &name, &content, flags), "mdb_put")
    }
  }
}
