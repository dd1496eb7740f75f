import Dispatch
import LMDB
import Synchronization

// Comparing the tables of a library with those of a shadow: on several cores, a table on each.
//
//     caller       starts ──── waits ──── reports ──── waits ──── reports ──── ends
//     one core       largest table ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓
//     another        the next ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓ the one after ▓▓▓▓▓▓▓▓
//
// A progress handler is called on its caller's thread, so that thread compares nothing: it wakes for the end of each
// table and several times a second, and reports what the cores have counted by then. They look every few thousand
// entries whether they are to stop.

/// A comparison of tables of a library with those of a shadow; runs once.
final class TableComparison: Sendable {
  /// A table of the library, and the shadow's of the same name.
  typealias Pair = (live: Database, shadow: Database)

  /// The time between two reports, in milliseconds.
  private static let pause = 100

  private let pairs: [Pair]
  /// The numbers of rows of the shadow's tables.
  private let counts: [UInt64]
  /// How many rows the cores have passed; those of a table that differs count as passed where that is found.
  private let passed = Atomic<UInt64>(0)
  private let stop = Cancellation()
  /// Signalled at the end of each table, and at that of the comparison.
  private let turn = DispatchSemaphore(value: 0)
  /// The result; nil while the comparison lasts.
  private let outcome = Mutex<[Bool]?>(nil)

  init(of pairs: [Pair], _ counts: [UInt64]) {
    (self.pairs, self.counts) = (pairs, counts)
  }

  /// Compares the tables of two snapshots, which last until this returns.
  /// - Parameters:
  ///   - live: the library's snapshot.
  ///   - shadow: the shadow's snapshot.
  ///   - goesOn: called on this thread with the number of rows passed, which never falls: with 0, several times a
  ///     second, and at the end with all of them; false stops the comparison, and it is not called again.
  /// - Returns: for each pair whether the library's table has what the shadow's has, and a look-up finds it; false also
  ///   for one that cannot be compared, and for all if the system allows no further thread. Nil if `goesOn` returned
  ///   false. Neither snapshot is read any more then.
  func run(_ live: HeldSnapshot, beside shadow: HeldSnapshot, goesOn: (UInt64) -> Bool) -> [Bool]? {
    guard goesOn(0) else { return nil }
    do throws(LibraryError) {
      try OwnThread.start("ledger-compare") { [self] in
        let areRight = compared(live, shadow)
        outcome.withLock { $0 = areRight }
        turn.signal()
      }
    } catch {
      // As tables that differ: the swap finds the rows that are right one by one.
      return pairs.map { _ in false }
    }
    while true {
      _ = turn.wait(timeout: .now() + .milliseconds(Self.pause))
      // Read before the count, so that the last report is of all rows.
      let areRight = outcome.withLock { $0 }
      if !stop.isRequested, !goesOn(passed.load(ordering: .relaxed)) { stop.request() }
      if let areRight { return stop.isRequested ? nil : areRight }
    }
  }

  /// Compares all pairs, the largest first.
  private func compared(_ live: HeldSnapshot, _ shadow: HeldSnapshot) -> [Bool] {
    let order = pairs.indices.sorted { counts[$0] > counts[$1] }
    let found = SeveralCores.map(order.count) { part in agrees(order[part], live, shadow) }
    var areRight = pairs.map { _ in false }
    for (part, agrees) in found.enumerated() { areRight[order[part]] = (try? agrees.get()) ?? false }
    return areRight
  }

  /// Compares one pair.
  private func agrees(_ index: Int, _ live: HeldSnapshot, _ shadow: HeldSnapshot) -> Bool {
    let pair = pairs[index]
    var rest = counts[index]
    defer {
      passed.add(rest, ordering: .relaxed)
      turn.signal()
    }
    if stop.isRequested { return false }
    let found = try? live.read { t -> Bool in
      let agrees = try shadow.read { source -> Bool in
        try t.agrees(pair.live, with: pair.shadow, of: source) { count in
          let entries = min(UInt64(count), rest)
          rest -= entries
          passed.add(entries, ordering: .relaxed)
          return stop.isRequested ? .stop : .proceed
        }
      }
      return agrees ?? false
    }
    return found ?? false
  }
}
