// How much is read around a page that is not in memory.
//
// A first screen needs some dozen pages, far apart in a large file. Around each the kernel reads as far as it reads
// ahead, 128 KiB on most disks and 8 MiB on some: milliseconds for a page. A walk over a table wants just that.
//
//     page by page (MDB_NORDAHEAD) ── a cursor has come far ──▶ around, in this process
//            ▲                                                    │
//            └───────────── the map is replaced ──────────────────┘
//
// Only how fast pages come differs, and only for those that are not in memory.
//
// Rejected: asking for the pages in front of a cursor as it goes (MADV_WILLNEED), which looks every page up that is
// there already, and page by page for good, which reads a table that is not in memory ten times as slowly.

import CLMDB
import CSystem
import Synchronization

/// Whether an environment reads around; kept with LMDB's handle, for callers that only have a cursor.
@usableFromInline enum ReadAround {
  /// After so many steps from entry to entry a cursor has come far.
  @inlinable static var stepCount: UInt32 { 1024 }

  /// How many bytes of files may be mapped before a walk lets go of them, the program and its libraries included.
  static var filePagesMax: Int64 { 28 << 20 }

  typealias State = Atomic<Bool>

  static func attach(to handle: OpaquePointer) {
    let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
    state.initialize(to: State(false))
    mdb_env_set_userctx(handle, state)
  }

  /// Closes the environment with its state.
  static func close(_ handle: OpaquePointer) {
    let state = state(of: handle)
    mdb_env_close(handle)
    state?.deinitialize(count: 1)
    state?.deallocate()
  }

  /// The map was replaced, and LMDB has advised the new one.
  static func startAgain(_ handle: OpaquePointer) { state(of: handle)?.pointee.store(false, ordering: .relaxed) }

  /// - Parameter page: a place that the cursor has come to, which a write transaction may have outside of the map.
  static func begin(_ cursor: OpaquePointer, at page: UnsafeRawPointer?) {
    guard let handle = mdb_txn_env(mdb_cursor_txn(cursor)), let state = state(of: handle),
      !state.pointee.exchange(true, ordering: .relaxed)
    else { return }
    if psys_read_around(page) != 0 { state.pointee.store(false, ordering: .relaxed) }
  }

  /// Whether a walk lets go of what is mapped.
  static var isMuchMapped: Bool { psys_file_pages_resident() > filePagesMax }

  /// Gives a place in the store and a cursor at it, unless there is nothing to read.
  static func withSomePage(of transaction: OpaquePointer, _ body: (OpaquePointer, UnsafeRawPointer?) -> Void) {
    var cursor: OpaquePointer?
    // 1 is the database of the names of databases; where there are none, there is nothing to read.
    guard mdb_cursor_open(transaction, 1, &cursor) == 0, let cursor else { return }
    defer { mdb_cursor_close(cursor) }
    var (key, value) = (MDB_val(), MDB_val())
    if mdb_cursor_get(cursor, &key, &value, MDB_FIRST) == 0 { body(cursor, key.mv_data) }
  }

  private static func state(of handle: OpaquePointer) -> UnsafeMutablePointer<State>? {
    mdb_env_get_userctx(handle)?.assumingMemoryBound(to: State.self)
  }
}

extension TransactionReading where Self: ~Copyable {
  /// Hints that a large sequential read follows without a cursor; a cursor detects it by itself.
  public borrowing func readAround() {
    withSomePage { cursor, address in ReadAround.begin(cursor, at: address) }
  }

  /// Releases the store's pages that this process has mapped, if they are many: a walk over everything would otherwise
  /// map the whole file. They stay in the page cache and are mapped again by the next read.
  ///
  /// The map stays where it is for as long as a transaction is open, and is only read.
  public borrowing func letGoOfPages() {
    guard ReadAround.isMuchMapped else { return }
    // What cannot be let go of stays mapped: nothing depends on it.
    withSomePage { _, address in _ = psys_let_go(address) }
  }

  /// Gives a place in the store and a cursor at it, unless there is nothing to read.
  private borrowing func withSomePage(_ body: (OpaquePointer, UnsafeRawPointer?) -> Void) {
    ReadAround.withSomePage(of: handle.pointer, body)
  }
}

extension WriteTransaction {
  /// The same, found by a snapshot of its own: the pages that a write transaction has changed lie outside of the map.
  public borrowing func letGoOfPages() {
    guard ReadAround.isMuchMapped else { return }
    var snapshot: OpaquePointer?
    guard mdb_txn_begin(mdb_txn_env(handle.pointer), nil, UInt32(MDB_RDONLY), &snapshot) == 0, let snapshot else {
      return
    }
    defer { mdb_txn_abort(snapshot) }
    ReadAround.withSomePage(of: snapshot) { _, address in _ = psys_let_go(address) }
  }
}
