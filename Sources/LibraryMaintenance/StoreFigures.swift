import EventLog
import LMDB
package import PhotoLedger

/// What the statistics of a library say of its log and its store: what is known without a walk over its objects.
package struct StoreFigures: Sendable, Hashable {
  /// Events in the log.
  package let eventCount: UInt64
  /// Commits in the log.
  package let commitCount: UInt64
  /// Quarantined events.
  package let quarantinedCount: Int
  /// The bytes of the store's file that are in use.
  package let usedBytes: Int
  /// The bytes of the store's file that wait for reuse.
  package let freeBytes: Int
  /// The bytes to which the store's file may grow before its map is enlarged.
  package let mapBytes: Int
  /// Reader slots in use, in all processes.
  package let readerCount: Int
  /// How many LMDB transactions the oldest reader is behind.
  package let oldestReaderLag: UInt64
}

extension PhotoLibrary {
  /// The figures of the log and the store, as they are now.
  /// - Throws: ``LibraryError`` if the store cannot be read, `.accessUserDenied` for a client without full access.
  /// - Complexity: O(f + r) for f entries of LMDB's free list and r reader slots.
  package func storeFigures() throws -> StoreFigures {
    try store.reading { t in
      try checkMaySeeFigures(t)
      return try store.core.figures(t)
    }
  }

  /// The figures of the store are those of now, so a view of a moment needs full access now, too.
  func checkMaySeeFigures(_ t: borrowing StoreReading) throws {
    for view in moment == nil ? [self] : [self, PhotoLibrary(store: store, client: client)] {
      try view.checkHasFullAccess("read the library's statistics", t)
    }
  }
}

extension StoreCore {
  /// The figures of the log and the store at the head.
  func figures(_ t: borrowing StoreReading) throws -> StoreFigures {
    let head = try log.head(t)
    let lmdb = try environment.statistics()
    return StoreFigures(
      eventCount: head.sequence, commitCount: head.commit, quarantinedCount: try t.count(of: projections.quarantine),
      usedBytes: lmdb.usedPages * lmdb.pageSize, freeBytes: lmdb.freePages * lmdb.pageSize, mapBytes: lmdb.mapSize,
      readerCount: lmdb.readers.count, oldestReaderLag: lmdb.oldestReaderLag)
  }
}
