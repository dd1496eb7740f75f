import CSystem
import LMDB
import Synchronization

// Judging every asset of the library on several cores.
//
// A fetch without a stored order reads each row. The rows are in the order of their numbers, so the numbers are divided
// into ranges; each free thread takes the next one, and the keys are sorted in the order of the ranges, as though a
// single walk had yielded them.
//
//     numbers    first ────┼────────┼────────┼────────┼──── last
//     one core       ▓▓▓▓▓▓▓▓                  ▓▓▓▓▓▓▓▓
//     another                 ▓▓▓▓▓▓▓▓ ▓▓▓▓▓▓▓▓         ▓▓▓▓
//
// A transaction belongs to one thread, so each range has its own (HeldSnapshot). Invariant: the keys are those of the
// caller's snapshot. A thread that cannot open it, or reads invalid bytes, skips its range, and the caller reads the
// skipped ranges in its own transaction, so it meets the same errors as in a single walk.
//
// Rows of a million assets do not fit the caches, and a core would wait for each of the three lines of a row. So it
// asks for the lines of a row four rows before it reads them.

extension LibraryStore {
  /// The approximate number of rows in a range; waking a thread for fewer takes longer than reading them.
  #if DEBUG
    private static let rangeRows = 8
  #else
    private static let rangeRows = 16_384
  #endif

  /// The keys of all assets that a plan admits, ascending.
  /// - Complexity: O(n), on some of the machine's cores; and sorting them, if they do not ascend as their numbers do.
  func scanAssets<Key: PlannedKey>(_ plan: QueryPlan, _ t: borrowing StoreReading) throws -> [Key] {
    let ranges = try assetRanges(t)
    guard ranges.count > 1 else {
      var keys = try ranges.first.map { try gather($0, plan, t) } ?? GatheredKeys<Key>()
      return keys.takeSorted()
    }
    let plans = PlansOfCores(plan)
    return GatheredKeys.sorted(
      try t.onSeveralCores(ranges.count) { index, t in
        try plans.with { plan in try gather(ranges[index], plan, t) }
      })
  }

  /// The numbers of all assets, divided into ranges.
  private func assetRanges(_ t: borrowing StoreReading) throws -> [ClosedRange<ObjectNumber>] {
    let assets = core.projections.assets
    var cursor = try t.cursor(in: assets)
    guard let first = try cursor.first()?.integerKey, let last = try cursor.last()?.integerKey else { return [] }
    // Beyond any possible count, and the largest value for strides.
    guard last <= UInt64(Int64.max) else {
      throw LibraryError(
        .corrupted, "The library has an asset with the invalid number \(last); stop and run `verify`.")
    }
    guard first <= last else {
      throw LibraryError(.corrupted, "The row of asset number \(last) is out of order; stop and run `verify`.")
    }
    let count = UInt64(max(1, try t.count(of: assets) / Self.rangeRows))
    let width = (last - first) / count + 1
    return stride(from: first, through: last, by: UInt64.Stride(clamping: width)).map { start in
      start...min(last, start + (width - 1))
    }
  }

  /// Asks the processor for rows that are judged soon. A page is filled from its end, so they lie in front of the row;
  /// whatever else lies there does no harm.
  @inline(__always)
  private static func fetchAhead(of row: UnsafeRawBufferPointer) {
    let entrySize = AssetRow.Layout.size + 2 * MemoryLayout<UInt64>.size  // LMDB's header of an entry, and the key.
    guard let entry = row.baseAddress.map({ $0 - 4 * entrySize }) else { return }
    for line in stride(from: 0, to: entrySize, by: 64) { psys_fetch_ahead(entry + line) }
  }

  private func gather<Key: PlannedKey>(
    _ range: ClosedRange<ObjectNumber>, _ plan: QueryPlan, _ t: borrowing StoreReading
  ) throws -> GatheredKeys<Key> {
    // Room that no key comes into takes no memory.
    let numberCount = min(Self.rangeRows - 1, Int(clamping: range.upperBound - range.lowerBound)) + 1
    var keys = GatheredKeys<Key>(expecting: numberCount)
    try t.forEach(in: core.projections.assets, from: range.lowerBound) { number, bytes in
      guard number <= range.upperBound else { return .stop }
      try bytes.withUnsafeBytes { bytes in
        Self.fetchAhead(of: bytes)
        let row = try AssetView(number: number, bytes: bytes)
        if plan.admits(row) { keys.append(plan.key(row, nil)) }
      }
      return .proceed
    }
    return keys
  }
}

/// A plan for each core that judges rows at the same time.
///
/// References to what a plan holds are counted for each row, and cores that share one take the counts from one
/// another's caches.
private final class PlansOfCores: Sendable {
  private let query: Query
  /// Those that no core has at the moment; guarded by its lock.
  private let free: Mutex<[QueryPlan]>

  init(_ plan: QueryPlan) {
    query = plan.query
    free = Mutex([plan])
  }

  func with<R>(_ body: (QueryPlan) throws -> R) rethrows -> R {
    let plan = free.withLock { $0.popLast() } ?? QueryPlan(query)
    defer { free.withLock { $0.append(plan) } }
    return try body(plan)
  }
}
