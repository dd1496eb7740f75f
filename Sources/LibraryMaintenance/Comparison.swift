import EventLog
import Foundation
import LMDB
import LibraryAudit
public import PhotoLedger

// What a fork has become.
//
//     other     … 41 ── 42 ── 43 ── 44          commits of its own, which are counted
//                       │ the last commit at which both chains are equal
//     this      … 41 ── 42 ── 43' ── 44'        listed by object, from this log after that commit
//
// Chains are hashes over everything before, so "equal here" means "equal up to here", and the last common commit is
// found by halving. What happened since is composed from the events, as it is for an observer that was away; the two
// libraries are never read side by side.

/// What became of one object since two libraries were the same.
public struct ObjectDifference: Sendable, Hashable {
  /// What happened to the object.
  public enum Kind: String, Sendable {
    /// It is there now and was not.
    case created
    /// It was there, and is, and differs.
    case changed
    /// It was there and is gone: purged, or a collection that was deleted.
    case removed
  }

  /// A property that differs.
  public struct Change: Sendable, Hashable {
    /// The name, as PhotoKit spells it where it has one.
    public let property: String
    /// The value at the common state; null for an object that was not there.
    public let old: LogValue
    /// The value now; null for an object that is gone.
    public let new: LogValue
  }

  /// What happened.
  public let kind: Kind
  /// What the object is.
  public let type: ObjectType
  /// The object's identifier, as PhotoKit spells it.
  public let localIdentifier: String
  /// What differs, in the order of the properties' numbers.
  public let changes: [Change]
  /// The identifiers of what came into an album or folder.
  public let added: [String]
  /// The identifiers of what left it.
  public let removed: [String]
  /// The identifiers of what has another place in it.
  public let moved: [String]
}

/// How two libraries stand to each other.
public struct LibraryComparison: Sendable, Hashable {
  /// The last state that both have; a token of either.
  public let commonToken: Token
  /// How many commits this library has made since.
  public let commitCount: UInt64
  /// How many commits the other has made since.
  public let otherCommitCount: UInt64
  /// How many objects differ, by what happened.
  public internal(set) var counts: [ObjectDifference.Kind: Int] = [:]
}

extension PhotoLibrary {
  /// Lists, by object, the changes of this library since its last common state with another one.
  /// - Parameters:
  ///   - other: the library that this one was forked from, or a fork of it.
  ///   - body: is given each object that differs, assets first, in the order in which they were added; false stops.
  /// - Returns: where they parted, and how much differs.
  /// - Throws: ``LibraryError`` `.accessUserDenied` for any client but the owner, `.conflict` if they have nothing in
  ///   common, `.corrupted`; what `body` throws.
  /// - Complexity: O(e + k log n) for e events since and k objects touched; O(m log m) more for m members of an album
  ///   or folder in which members got new order keys.
  @discardableResult
  public func compare(
    with other: PhotoLibrary, _ body: (ObjectDifference) throws -> Bool
  ) throws -> LibraryComparison {
    try readDifferences(from: other) { difference, _ in try body(difference) }
  }

  /// The same, for a body that reads more of this library: in the transaction that it is given, since a thread must not
  /// begin a second one.
  package func readDifferences(
    from other: PhotoLibrary, _ body: (ObjectDifference, borrowing StoreReading) throws -> Bool
  ) throws -> LibraryComparison {
    try checkIsNow("compare libraries")
    try checkIsOwner("compare libraries")
    try other.checkIsOwner("compare libraries")
    let (commit, sequence) = try commonCommit(with: other)
    let head = try store.observation.head()
    var comparison = LibraryComparison(
      commonToken: store.token(commit), commitCount: head.commit - commit,
      otherCommitCount: try other.store.observation.head().commit - commit)
    guard head.commit > commit else { return comparison }
    let delta = try store.observation.composedDelta(from: commit, to: head.commit)
    try LibraryStore.passingErrors { own in
      try store.reading { t in
        var reader = DifferenceReader(store, delta, from: sequence, to: head.sequence)
        try reader.forEachDifference(t) { difference, t in
          comparison.counts[difference.kind, default: 0] += 1
          return try own.keeping { try body(difference, t) }
        }
      }
    }
    return comparison
  }

  /// The last commit that both libraries have, and its last event.
  private func commonCommit(with other: PhotoLibrary) throws -> (commit: UInt64, sequence: UInt64) {
    func commit(_ number: UInt64, of library: PhotoLibrary) throws -> Commit? {
      try library.store.reading { t in try library.store.core.log.commit(number, in: t) }
    }
    var low: UInt64 = 0
    var high = min(try store.observation.head().commit, try other.store.observation.head().commit)
    while low < high {
      let middle = low + (high - low + 1) / 2
      let chains = (try commit(middle, of: self)?.chain, try commit(middle, of: other)?.chain)
      if let own = chains.0, own == chains.1 { low = middle } else { high = middle - 1 }
    }
    guard low > 0, let last = try commit(low, of: self) else {
      throw LibraryError(
        .conflict,
        "\(url.path) and \(other.url.path) have no commit in common; compare a fork with its origin.")
    }
    return (low, last.lastSequence)
  }
}

/// Turns a delta into differences.
private struct DifferenceReader {
  private let store: LibraryStore
  private let delta: Delta
  private let start: UInt64
  private let end: UInt64
  private var names: ObjectNames

  init(_ store: LibraryStore, _ delta: Delta, from start: UInt64, to end: UInt64) {
    (self.store, self.delta, self.start, self.end) = (store, delta, start, end)
    names = ObjectNames(of: store)
  }

  mutating func forEachDifference(
    _ t: borrowing StoreReading, _ body: (ObjectDifference, borrowing StoreReading) throws -> Bool
  ) throws {
    for (number, touch) in delta.assets.sorted(by: { $0.key < $1.key }) {
      if let found = try difference(of: number, touch, t), try !body(found, t) { return }
    }
    let containers = Dictionary(grouping: delta.places) { $0.key.container }
    for number in Set(delta.collections.keys).union(containers.keys).sorted() {
      if let found = try collection(number, containers[number] ?? [], t), try !body(found, t) { return }
    }
  }

  // MARK: Assets

  private mutating func difference(
    of number: ObjectNumber, _ touch: Delta.Touch<AssetRow>, _ t: borrowing StoreReading
  ) throws -> ObjectDifference? {
    let details = (
      touch.before == nil ? nil : try store.assetDetails(number, at: start, t),
      touch.after == nil ? nil : try store.assetDetails(number, at: end, t)
    )
    let changes = changes(touch.before, touch.after) + changes(details.0, details.1)
    guard let kind = kind(touch.before != nil, touch.after != nil), kind != .changed || !changes.isEmpty else {
      return nil
    }
    return ObjectDifference(
      kind: kind, type: .asset, localIdentifier: try name(number, t)?.spelling ?? "", changes: changes, added: [],
      removed: [], moved: [])
  }

  private func kind(_ was: Bool, _ is: Bool) -> ObjectDifference.Kind? {
    switch (was, `is`) {
    case (false, true): .created
    case (true, false): .removed
    case (true, true): .changed
    case (false, false): nil
    }
  }

  private func changes(_ before: AssetRow?, _ after: AssetRow?) -> [ObjectDifference.Change] {
    AssetField.allCases.compactMap { field in
      let old = before.map { LogValue($0[field], of: field) } ?? .null
      let new = after.map { LogValue($0[field], of: field) } ?? .null
      return old == new ? nil : .init(property: field.name, old: old, new: new)
    }
  }

  private func changes(_ before: AssetDetails?, _ after: AssetDetails?) -> [ObjectDifference.Change] {
    let blank = AssetDetails()
    return zip((before ?? blank).fields, (after ?? blank).fields).compactMap { old, new in
      old.value == new.value ? nil : .init(property: old.name, old: old.value, new: new.value)
    }
  }

  // MARK: Collections

  private mutating func collection(
    _ number: ObjectNumber, _ places: [(key: ContainerMember, value: Delta.Placing)], _ t: borrowing StoreReading
  ) throws -> ObjectDifference? {
    // Selections and picks are containers too, and no objects; a collection keeps its row when it is deleted.
    guard let row = try store.core.projections.collection(number, in: t) else { return nil }
    let before = try store.collectionRow(number, at: start, t)
    let after = try store.collectionRow(number, at: end, t)
    let was = before.map { $0.deletedDate == nil } ?? false
    let isThere = after.map { $0.deletedDate == nil } ?? false
    guard let kind = kind(was, isThere) else { return nil }
    var members: (added: [String], removed: [String], moved: [String]) = ([], [], [])
    let moved = try moved(places, in: number, t)
    for (member, placing) in places.sorted(by: { $0.key.child < $1.key.child }) where placing.before != placing.after {
      guard let spelling = try name(member.child, t)?.spelling else { continue }
      switch (placing.before, placing.after) {
      case (nil, _): members.added.append(spelling)
      case (_, nil): members.removed.append(spelling)
      default: if moved.contains(member.child) { members.moved.append(spelling) }
      }
    }
    let changes = try changes(was ? before : nil, isThere ? after : nil, t)
    let (added, removed) = (members.added, members.removed)
    guard kind != .changed || !changes.isEmpty || !(added + removed + members.moved).isEmpty else { return nil }
    return ObjectDifference(
      kind: kind, type: row.kind == .folder ? .collectionList : .assetCollection,
      localIdentifier: row.identifier.spelled(as: row.objectKind), changes: changes, added: added,
      removed: removed, moved: members.moved)
  }

  /// The fewest members whose moving, among those that a container had and has, gives the order that it has now.
  ///
  /// A new order key alone does not say so: an insertion into a narrow gap gives the neighbours new ones, in the same
  /// order. Members with their former key stand still.
  private func moved(
    _ places: [(key: ContainerMember, value: Delta.Placing)], in container: ObjectNumber, _ t: borrowing StoreReading
  ) throws -> Set<ObjectNumber> {
    var rekeyed: Set<ObjectNumber> = []
    for (member, placing) in places {
      if let old = placing.before, let new = placing.after, old != new { rekeyed.insert(member.child) }
    }
    if rekeyed.isEmpty { return [] }
    let before = try store.members(of: container, at: start, t).map { $0.number }
    let after = try store.members(of: container, at: end, t).map { $0.number }
    var now: [ObjectNumber: (place: Int, gap: Int)] = [:]
    for (place, member) in Self.gaps(of: rekeyed, in: after, commonWith: before).enumerated() {
      now[member.number] = (place, member.gap)
    }
    var staying: [(number: ObjectNumber, place: Int)] = []
    var moved: Set<ObjectNumber> = []
    for (number, gap) in Self.gaps(of: rekeyed, in: before, commonWith: after) {
      if let found = now[number], found.gap == gap {
        staying.append((number, found.place))
      } else {
        moved.insert(number)
      }
    }
    let run = Set(longestIncreasingRun(staying.map { $0.place }))
    for (index, member) in staying.enumerated() where !run.contains(index) { moved.insert(member.number) }
    return moved
  }

  /// Some members in their order, each with how many others of both lists are before it.
  private static func gaps(
    of some: Set<ObjectNumber>, in members: [ObjectNumber], commonWith others: [ObjectNumber]
  ) -> [(number: ObjectNumber, gap: Int)] {
    let others = Set(others)
    var found: [(number: ObjectNumber, gap: Int)] = []
    var gap = 0
    for member in members where others.contains(member) {
      if some.contains(member) { found.append((member, gap)) } else { gap += 1 }
    }
    return found
  }

  private mutating func changes(
    _ before: CollectionRow?, _ after: CollectionRow?, _ t: borrowing StoreReading
  ) throws -> [ObjectDifference.Change] {
    var changes: [ObjectDifference.Change] = []
    for property in CollectionProperty.compared {
      let (old, new) = (try value(of: property, in: before, t), try value(of: property, in: after, t))
      if old != new { changes.append(.init(property: property.name.description, old: old, new: new)) }
    }
    return changes
  }

  /// A property of a collection; null without one.
  private mutating func value(
    of property: CollectionProperty, in row: CollectionRow?, _ t: borrowing StoreReading
  ) throws -> LogValue {
    guard let row else { return .null }
    return try property.value(of: row) { try $0 == 0 ? nil : name($0, t)?.spelling }
  }

  private mutating func name(_ number: ObjectNumber, _ t: borrowing StoreReading) throws -> ObjectNames.Name? {
    try names.name(of: number, t)
  }
}
