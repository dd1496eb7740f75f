import CLMDB
import Foundation

/// The engine of the store with nothing on top: one database, byte strings under numbers.
///
/// What no store over LMDB can undercut. Every call is LMDB's own.
final class RawLMDB {
  private let environment: OpaquePointer
  private var database: UInt32 = 0
  private let folder: URL
  private var nextKey: UInt64 = 1

  struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ code: Int32, _ call: String) { description = "\(call) failed: \(String(cString: mdb_strerror(code)))" }
  }

  /// Makes an empty store in a folder that is not there.
  /// - Parameters:
  ///   - isDurable: whether a commit waits for the disk.
  ///   - hasNumbers: whether the keys are numbers, and not bytes.
  init(_ folder: URL, isDurable: Bool, hasNumbers: Bool = true) throws {
    self.folder = folder
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var made: OpaquePointer?
    try Self.check(mdb_env_create(&made), "mdb_env_create")
    guard let made else { throw Failure(ENOMEM, "mdb_env_create") }
    environment = made
    try Self.check(mdb_env_set_mapsize(made, 64 << 30), "mdb_env_set_mapsize")
    try Self.check(
      mdb_env_open(made, folder.path, UInt32(MDB_NOTLS) | (isDurable ? 0 : UInt32(MDB_NOSYNC)), 0o600), "mdb_env_open")
    try write { transaction in
      try Self.check(
        mdb_dbi_open(transaction, nil, hasNumbers ? UInt32(MDB_INTEGERKEY) : 0, &database), "mdb_dbi_open")
    }
  }

  deinit {
    mdb_env_close(environment)
    do { try FileManager.default.removeItem(at: folder) } catch { print("\(folder.path) is left: \(error)") }
  }

  static func check(_ code: Int32, _ call: String) throws {
    if code != 0 { throw Failure(code, call) }
  }

  private func write(_ body: (OpaquePointer?) throws -> Void) throws {
    var transaction: OpaquePointer?
    try Self.check(mdb_txn_begin(environment, nil, 0, &transaction), "mdb_txn_begin")
    do { try body(transaction) } catch {
      mdb_txn_abort(transaction)
      throw error
    }
    try Self.check(mdb_txn_commit(transaction), "mdb_txn_commit")
  }

  /// Appends values in one transaction, each of the same bytes.
  func append(_ count: Int, _ value: [UInt8]) throws {
    try write { transaction in
      for _ in 0..<count {
        try put(nextKey, value, UInt32(MDB_APPEND), transaction)
        nextKey += 1
      }
    }
  }

  /// Appends entries in one transaction, in the order of their keys.
  func append(_ entries: some Sequence<(key: [UInt8], value: [UInt8])>) throws {
    try write { transaction in
      for (key, value) in entries {
        try key.withUnsafeBytes { key in
          try value.withUnsafeBytes { value in
            var name = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
            var content = MDB_val(mv_size: value.count, mv_data: UnsafeMutableRawPointer(mutating: value.baseAddress))
            try Self.check(mdb_put(transaction, database, &name, &content, UInt32(MDB_APPEND)), "mdb_put")
          }
        }
      }
    }
  }

  /// Puts a value under a key in a transaction of its own.
  func put(_ key: UInt64, _ value: [UInt8]) throws {
    try write { transaction in try put(key, value, 0, transaction) }
  }

  private func put(_ key: UInt64, _ value: [UInt8], _ flags: UInt32, _ transaction: OpaquePointer?) throws {
    var key = key
    try withUnsafeMutableBytes(of: &key) { keyBytes in
      try value.withUnsafeBytes { bytes in
        var name = MDB_val(mv_size: keyBytes.count, mv_data: keyBytes.baseAddress)
        var content = MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
        try Self.check(mdb_put(transaction, database, &name, &content, flags), "mdb_put")
      }
    }
  }

  /// Goes through all entries in the order of their keys.
  func scan(_ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void) throws {
    var transaction: OpaquePointer?
    try Self.check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction), "mdb_txn_begin")
    defer { mdb_txn_abort(transaction) }
    var cursor: OpaquePointer?
    try Self.check(mdb_cursor_open(transaction, database, &cursor), "mdb_cursor_open")
    defer { mdb_cursor_close(cursor) }
    var (key, value) = (MDB_val(), MDB_val())
    var code = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
    while code == 0 {
      body(
        UnsafeRawBufferPointer(start: key.mv_data, count: key.mv_size),
        UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
      code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
    }
    if code != MDB_NOTFOUND { throw Failure(code, "mdb_cursor_get") }
  }
}
