import EventLog
import LMDB

// What was otherwise at an earlier moment.
//
// Problem. A library as of a moment must answer every fetch as it would have then. The projections hold the state of
// now, and copies of every earlier state would cost a library each.
//
// An event records what it replaced, so the state at a moment is the current state with the later events reverted. Most
// objects were not touched since, and those created since are known by their number alone: a number is the sequence of
// the event that created the object, so an object with a larger number than the moment did not exist.
//
//     sequence   0 ────────── moment ───────────────────────── head
//     objects    numbers up to the moment  │  created since: skipped without being read
//                     │
//                     ├── touched since    rows and places in a `StateOverlay`
//                     └── all others       the current projections
//
// So state at the moment = current projections, truncated at the number, overlaid with `StateOverlay`. A fetch of the
// whole library needs all of `StateOverlay`, which is read once for a moment and cached; a query about one object or
// container uses the history of that object and reads nothing else (LibraryStore+AsOf.swift).
//
// Invariant: `StateOverlay` holds every object up to the moment whose row or place the later events changed, in the
// state of the moment, and may hold others; it holds no object that came later.
//
// Rejected: taking a fetched result back by the delta of everything since, as a change of permission does
// (AccessChange.swift). It answers alike, but brings all that was created since into memory to throw it away, which is
// most of a log.

/// What was otherwise, at a moment, among the objects that were there.
package struct StateOverlay: Sendable {
  /// The last event of the moment.
  private(set) var sequence: UInt64
  /// The rows of assets that have changed since; nil for one that was not there.
  package var assets: [ObjectNumber: AssetRow?] = [:]
  /// The assets whose files or words may have been others.
  package var details: Set<ObjectNumber> = []
  /// The rows of collections that have changed since.
  package var collections: [ObjectNumber: CollectionRow?] = [:]
  /// The rows of clients that have changed since.
  package var clients: [ObjectNumber: ClientRow?] = [:]
  /// The places of members that have changed since; nil where there was none.
  package var places: [ContainerMember: OrderKey?] = [:]

  init(at sequence: UInt64) { self.sequence = sequence }

  /// Whether an object with a number can have been there.
  func reaches(_ number: ObjectNumber) -> Bool { number.isReached(by: sequence) }

  /// Lays an earlier state over this one.
  /// - Complexity: O(k) in the objects of the earlier one.
  package mutating func merge(_ earlier: StateOverlay) {
    sequence = earlier.sequence
    assets.merge(earlier.assets) { $1 }
    details.formUnion(earlier.details)
    collections.merge(earlier.collections) { $1 }
    clients.merge(earlier.clients) { $1 }
    places.merge(earlier.places) { $1 }
  }
}

extension ObjectNumber {
  /// Whether an object of the number can be there after an event. The library's own smart albums, which no event
  /// brought, always are.
  func isReached(by sequence: UInt64) -> Bool { self <= sequence || self >= SmartAlbumQuery.firstBuiltIn }
}
