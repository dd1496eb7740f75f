// The advice that the kernel gets about the map.
//
// A first screen needs some dozen pages, far apart in a large file. Around each the kernel reads as far as it reads
// ahead, 128 KiB on most disks and 8 MiB on some: milliseconds for a page. A walk over a table wants just that.
//
//     page by page (MDB_NORDAHEAD) ── a cursor has come far ──▶ around, in this process (MADV_NORMAL)
//            ▲                                                    │
//            └───────────── the map is replaced ──────────────────┘
//
// A page that is read is mapped with its neighbours, 64 KiB of them, and 2 MiB where the page cache holds such a piece.
// So a walk lets go of what it has mapped (MADV_DONTNEED), or it would map the whole file.
//
// Only how fast pages come differs, and how many are mapped; what cannot be advised stays as it is.
//
// Rejected: asking for the pages in front of a cursor as it goes (MADV_WILLNEED), which looks every page up that is
// there already; page by page for good, which reads a table that is not in memory ten times as slowly; and mapping no
// large pieces (MADV_NOHUGEPAGE), after which the kernel maps as much, page by page.

import CLMDB
import CSystem
import Glibc
import Synchronization

/// What one environment advises about its map; kept with LMDB's handle, for callers that only have a cursor.
@usableFromInline enum MapAdvice {
  /// After so many steps from entry to entry a cursor has come far.
  @inlinable static var stepCount: UInt32 { 1024 }

  /// How many bytes of files may be mapped before a walk lets go of them, the program and its libraries included.
  private static var filePagesMax: Int64 { 28 << 20 }

  private struct State: ~Copyable {
    /// Where the file is mapped; changes only while no transaction runs.
    var map = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    let readsAround = Atomic(false)
  }

  static func attach(to handle: OpaquePointer) {
    let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
    state.initialize(to: State())
    mdb_env_set_userctx(handle, state)
  }

  /// Closes the environment with its state.
  static func close(_ handle: OpaquePointer) {
    let state = state(of: handle)
    mdb_env_close(handle)
    state?.deinitialize(count: 1)
    state?.deallocate()
  }

  /// LMDB has mapped the file, page by page: at first, or again.
  static func begin(_ handle: OpaquePointer) {
    guard let state = state(of: handle) else { return }
    state.pointee.map = findMap(handle)
    state.pointee.readsAround.store(false, ordering: .relaxed)
  }

  /// - Parameter cursor: a cursor that has come far.
  static func readAround(for cursor: OpaquePointer) {
    if let handle = mdb_txn_env(mdb_cursor_txn(cursor)) { readAround(handle) }
  }

  static func readAround(_ handle: OpaquePointer) {
    guard let state = state(of: handle), !state.pointee.readsAround.exchange(true, ordering: .relaxed) else { return }
    if !advise(state, MADV_NORMAL) { state.pointee.readsAround.store(false, ordering: .relaxed) }
  }

  /// Lets go of the pages, if many of files are mapped. For callers with a transaction, which keeps the map in place.
  static func letGo(_ handle: OpaquePointer) {
    guard psys_file_pages_resident() > filePagesMax, let state = state(of: handle) else { return }
    _ = advise(state, MADV_DONTNEED)
  }

  /// - Returns: whether the kernel took it.
  private static func advise(_ state: UnsafeMutablePointer<State>, _ advice: Int32) -> Bool {
    let map = state.pointee.map
    return map.count > 0 && madvise(map.baseAddress, map.count, advice) == 0
  }

  /// Finds where the file is mapped, which LMDB does not tell; empty if that cannot be found.
  private static func findMap(_ handle: OpaquePointer) -> UnsafeMutableRawBufferPointer {
    var information = MDB_envinfo()
    var descriptor: mdb_filehandle_t = -1
    var status = stat()
    guard mdb_env_info(handle, &information) == 0, mdb_env_get_fd(handle, &descriptor) == 0,
      fstat(descriptor, &status) == 0
    else { return UnsafeMutableRawBufferPointer(start: nil, count: 0) }
    let start = psys_shared_mapping(UInt64(status.st_ino), information.me_mapsize)
    return UnsafeMutableRawBufferPointer(start: start, count: start == nil ? 0 : information.me_mapsize)
  }

  private static func state(of handle: OpaquePointer) -> UnsafeMutablePointer<State>? {
    mdb_env_get_userctx(handle)?.assumingMemoryBound(to: State.self)
  }
}

extension TransactionReading where Self: ~Copyable {
  /// Hints that a large sequential read follows without a cursor; a cursor detects it by itself.
  public borrowing func readAround() {
    if let environment = mdb_txn_env(handle.pointer) { MapAdvice.readAround(environment) }
  }

  /// Releases the store's pages that this process has mapped, if they are many: a walk over everything would otherwise
  /// map the whole file. They stay in the page cache and are mapped again by the next read.
  ///
  /// The map stays where it is for as long as a transaction is open, and is only read.
  public borrowing func letGoOfPages() {
    if let environment = mdb_txn_env(handle.pointer) { MapAdvice.letGo(environment) }
  }
}
