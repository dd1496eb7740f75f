// The advice that the kernel gets about the map.
//
// A first screen needs some dozen pages, far apart in a large file. Around each the kernel reads as far as it reads
// ahead, 128 KiB on most disks and 8 MiB on some: milliseconds for a page. A walk over a table wants just that.
//
//     page by page (MDB_NORDAHEAD) ── a cursor has come far ──▶ around, in this process
//            ▲                                                    │
//            └───────────── the map is replaced ──────────────────┘
//
// A page that is read is mapped with its neighbours, 64 KiB of them, and 2 MiB where the page cache holds such a piece.
// So a walk releases what it has mapped (MADV_DONTNEED), or it would map the whole file. Mapping a page again takes
// longer than reading what it holds, so how much may stay mapped depends on the reader:
//
//     a walk that reads once, such as one over the log     28 MiB, with the program and its libraries; or 8 MiB of the
//                                                          store, where those take most of it
//     a fetch, whose pages the next fetch reads again      the same, until the process has once allocated 28 MiB; then
//                                                          all that they map
//
// A command that shows a first screen has allocated little, and stays small. A program with many libraries has most of
// the 28 MiB mapped before it reads; without a share for the store it would map the same pages again every few rows,
// which was a seventh of a rebuild. A server that holds results gains nothing by mapping less than the kernel leaves
// it: what is mapped is the page cache, and is given up when memory is short.
//
// Only how fast pages come differs, and how many are mapped. LMDB does not tell where the map is: it is what is mapped
// around a page of the store, found once. What is advised is shared memory of a file in every case, since pages of a
// private mapping would be lost.
//
// Rejected: asking for the pages in front of a cursor as it goes (MADV_WILLNEED), which looks every page up that is
// there already; page by page for good, which reads a table that is not in memory ten times as slowly; mapping no large
// pieces (MADV_NOHUGEPAGE), after which the kernel maps as much, page by page; and finding the map by the number of the
// file, which two files on two file systems can have.

import CLMDB
import CSystem
import Glibc
import Synchronization

/// What one environment advises about its map; kept with LMDB's handle, for callers that only have a cursor.
@usableFromInline enum MapAdvice {
  /// After so many steps from entry to entry a cursor has come far.
  @inlinable static var stepCount: UInt32 { 1024 }

  /// How many bytes of files may be mapped before a walk lets go of them, the program and its libraries included; and
  /// how many a process has allocated that is large.
  static var filePagesMax: Int64 { 28 << 20 }

  /// How many bytes of the store may be mapped in any case: to show the first hundred of a million assets, the newest
  /// first, maps 4 MiB with the code that does it.
  static var storePagesMin: Int64 { 8 << 20 }

  struct State: ~Copyable {
    let readsAround = Atomic(false)
    /// Where the map begins, once that was found; written after its size.
    let start = Atomic<UInt>(0)
    let byteCount = Atomic<Int>(0)
    /// How many bytes of files were mapped before the store was.
    let mappedBefore: Int64

    init() {
      var own: Int64 = 0
      mappedBefore = psys_file_pages_resident(&own)
    }

    /// The map of the environment; empty if it is not known yet and the page lies outside of it.
    /// - Parameter page: an address in the map, by which it is found the first time.
    borrowing func map(around page: UnsafeRawPointer?) -> (start: UnsafeMutableRawPointer?, byteCount: Int) {
      let known = start.load(ordering: .acquiring)
      if known != 0 { return (UnsafeMutableRawPointer(bitPattern: known), byteCount.load(ordering: .relaxed)) }
      var size = 0
      guard let found = psys_shared_mapping(page, &size) else { return (nil, 0) }
      // Others find the same.
      byteCount.store(size, ordering: .relaxed)
      start.store(UInt(bitPattern: found), ordering: .releasing)
      return (found, size)
    }

    /// - Returns: whether the kernel took the advice.
    borrowing func advise(_ advice: Int32, about page: UnsafeRawPointer?) -> Bool {
      let map = map(around: page)
      return map.byteCount > 0 && madvise(map.start, map.byteCount, advice) == 0
    }
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

  /// The map was replaced, while no transaction ran, and LMDB has advised the new one.
  static func startAgain(_ handle: OpaquePointer) {
    guard let state = state(of: handle) else { return }
    state.pointee.start.store(0, ordering: .relaxed)
    state.pointee.readsAround.store(false, ordering: .relaxed)
  }

  /// Advises the kernel to read around.
  /// - Parameter page: a place that the cursor has come to, which a write transaction may have outside of the map.
  static func readAround(_ cursor: OpaquePointer, at page: UnsafeRawPointer?) {
    guard let handle = mdb_txn_env(mdb_cursor_txn(cursor)), let state = state(of: handle),
      !state.pointee.readsAround.exchange(true, ordering: .relaxed)
    else { return }
    if !state.pointee.advise(MADV_NORMAL, about: page) { state.pointee.readsAround.store(false, ordering: .relaxed) }
  }

  /// Whether the process was large once: its fetches need not look again.
  private static let wasLarge = Atomic(false)

  /// Whether a walk releases what is mapped.
  static func isMuchMapped(for use: PageUse, in transaction: OpaquePointer) -> Bool {
    if use == .again, wasLarge.load(ordering: .relaxed) { return false }
    var own: Int64 = 0
    let mapped = psys_file_pages_resident(&own)
    if own >= filePagesMax { wasLarge.store(true, ordering: .relaxed) }
    let before = mdb_txn_env(transaction).flatMap { state(of: $0) }?.pointee.mappedBefore ?? 0
    return lets(use, go: mapped, before: before, allocated: own)
  }

  /// Whether a walk releases mapped pages.
  /// - Parameters:
  ///   - mapped: how many bytes of files the process has mapped.
  ///   - before: how many it had mapped before it opened the store.
  ///   - own: how many bytes it has allocated.
  static func lets(_ use: PageUse, go mapped: Int64, before: Int64, allocated own: Int64) -> Bool {
    mapped > max(filePagesMax, before + storePagesMin) && (use == .once || own < filePagesMax)
  }

  /// Releases the pages of the map; they stay mapped if that fails, and nothing depends on it.
  /// - Parameter snapshot: a read transaction, whose pages all lie in the map.
  static func release(_ snapshot: OpaquePointer) {
    withSomePage(of: snapshot) { _, page in
      guard let handle = mdb_txn_env(snapshot), let state = state(of: handle) else { return }
      _ = state.pointee.advise(MADV_DONTNEED, about: page)
    }
  }

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

/// How often the pages of a walk are read.
public enum PageUse: Sendable {
  /// By this walk only, such as one over the log.
  case once
  /// By other walks too, such as the next fetch of the same list.
  case again
}

extension TransactionReading where Self: ~Copyable {
  /// Hints that a large sequential read follows without a cursor; a cursor detects it by itself.
  public borrowing func readAround() {
    withSomePage { cursor, address in MapAdvice.readAround(cursor, at: address) }
  }

  /// Releases the store's pages that this process has mapped, if they are many: a walk over everything would otherwise
  /// map the whole file. They stay in the page cache and are mapped again by the next read.
  ///
  /// The map stays where it is for as long as a transaction is open, and is only read.
  /// - Parameter use: pages that are read again stay mapped in a process that has allocated much.
  public borrowing func letGoOfPages(_ use: PageUse = .once) {
    if MapAdvice.isMuchMapped(for: use, in: handle.pointer) { releasePages() }
  }

  /// Releases the store's pages that this process has mapped.
  borrowing func releasePages() { MapAdvice.release(handle.pointer) }

  /// Gives a place in the store and a cursor at it, unless there is nothing to read.
  private borrowing func withSomePage(_ body: (OpaquePointer, UnsafeRawPointer?) -> Void) {
    MapAdvice.withSomePage(of: handle.pointer, body)
  }
}

extension WriteTransaction {
  /// The same, found by a snapshot of its own: the pages that a write transaction has changed lie outside of the map.
  public borrowing func letGoOfPages(_ use: PageUse = .once) {
    if MapAdvice.isMuchMapped(for: use, in: handle.pointer) { releasePages() }
  }

  /// Releases the store's pages that this process has mapped.
  func releasePages() {
    var snapshot: OpaquePointer?
    guard mdb_txn_begin(mdb_txn_env(handle.pointer), nil, UInt32(MDB_RDONLY), &snapshot) == 0, let snapshot else {
      return
    }
    defer { mdb_txn_abort(snapshot) }
    MapAdvice.release(snapshot)
  }
}
