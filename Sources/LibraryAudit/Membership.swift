import EventLog
import LMDB
public import PhotoLedger

/// A member of an album or folder, with the commit that added it and, for a former member, the one that removed it.
public struct Membership: Sendable, Hashable {
  /// The album or folder, spelled as PhotoKit spells identifiers.
  public let container: String
  /// The member, spelled as PhotoKit spells identifiers.
  public let member: String
  /// What sentences call it: a file's name, or a title, in quotation marks.
  public let label: String
  /// Whether it is in the album at the given state.
  public let isPresent: Bool
  /// The commit that added it last; nil if its record was erased.
  public let added: AuditOrigin?
  /// The commit that removed it last; nil if it is present.
  public let removed: AuditOrigin?

  /// The membership as a record of the audit's export; see <doc:Audit>.
  public var record: LogValue {
    AuditSchema.record(
      "member",
      [
        .init("container", .text(container)), .init("member", .text(member)), .init("label", .text(label)),
        .init("isPresent", .bool(isPresent)), .init("added", added.map { .object($0.fields) } ?? .null),
        .init("removed", removed.map { .object($0.fields) } ?? .null),
      ])
  }
}

extension PhotoLibrary {
  /// The commits that added each member of an album or folder; optionally also those that removed former members.
  ///
  /// Hidden and trashed members keep their positions and are listed.
  /// - Parameters:
  ///   - identifier: the album or folder, in any form, also a deleted one.
  ///   - includesFormer: whether removed members are listed after the others, the last removed first.
  ///   - token: the state; nil: now.
  /// - Returns: the members in the order of the album, then the former ones.
  /// - Throws: ``LibraryError``: `.identifierNotFound` for an object that never existed, `.changeNotSupported` for one
  ///   without recorded members, `.accessUserDenied` for any client but the owner; the store's errors.
  /// - Complexity: O(log n + k log k) for the k additions and removals of members.
  public func blame(
    _ identifier: String, includingFormer includesFormer: Bool = false, at token: Token? = nil
  ) throws -> [Membership] {
    try checkIsOwner("read who changed an album")
    return try store.reading { t in
      let last = try token.map { try store.sequence(of: $0, for: client, t) } ?? sequence
      var reader = AuditReader(of: store, at: last)
      let number = try reader.number(of: identifier, t)
      guard let row = try store.core.projections.collection(number, in: t), row.kind != .smartAlbum else {
        throw LibraryError(
          .changeNotSupported, "'\(identifier)' has no recorded members; pass the identifier of an album or folder.")
      }
      var book = MemberBook(container: number)
      for sequence in try reader.sequences(of: number, through: last, t) {
        let (origin, event, _) = try reader.event(at: sequence, t)
        if let event { book.note(event, origin) }
      }
      if last == LibraryStore.now { try book.correct(by: store.core.projections, t) }
      return try book.memberships(includesFormer, &reader, t)
    }
  }
}

extension LibraryStore {
  /// The last event of the state that a token names; 0 for that before the first commit.
  func sequence(of token: Token, for client: String, _ t: borrowing StoreReading) throws -> UInt64 {
    let commit = try commit(of: token, for: client, t)
    return commit == 0 ? 0 : try sequence(ofCommit: commit, t)
  }
}

/// The members added to and removed from a container, as its events are read in order.
private struct MemberBook {
  private struct Entry {
    var key: OrderKey?
    var added: AuditOrigin?
    var removed: AuditOrigin?
  }

  let container: ObjectNumber
  private var entries: [ObjectNumber: Entry] = [:]

  init(container: ObjectNumber) { self.container = container }

  mutating func note(_ event: Event, _ origin: AuditOrigin) {
    event.forEachPlacement { if $0.container == container { move($0.child, from: $0.old, to: $0.new, origin) } }
  }

  private mutating func move(_ child: ObjectNumber, from old: OrderKey?, to new: OrderKey?, _ origin: AuditOrigin) {
    var entry = entries[child] ?? Entry()
    if old == nil { (entry.added, entry.removed) = (origin, nil) }
    if new == nil { entry.removed = origin }
    entry.key = new
    entries[child] = entry
  }

  /// Reads the current members from the projection: an event with an erased payload does not name any.
  mutating func correct(by projections: Projections, _ t: borrowing StoreReading) throws {
    var present: Set<ObjectNumber> = []
    try projections.forEachMember(of: container, in: t) { key, number in
      entries[number, default: Entry()].key = key
      entries[number]?.removed = nil
      present.insert(number)
      return true
    }
    for (number, entry) in entries where entry.key != nil && !present.contains(number) { entries[number]?.key = nil }
  }

  func memberships(
    _ includesFormer: Bool, _ reader: inout AuditReader, _ t: borrowing StoreReading
  ) throws -> [Membership] {
    let present = entries.compactMap { number, entry in entry.key.map { (number, entry, $0) } }.sorted { $0.2 < $1.2 }
    let former = entries.filter { $0.value.key == nil }
      .sorted { ($0.value.removed?.sequence ?? 0, $0.key) > ($1.value.removed?.sequence ?? 0, $1.key) }
    let home = try reader.spelling(container, t)
    let wanted = present.map { ($0.0, $0.1) } + (includesFormer ? former.map { ($0.key, $0.value) } : [])
    return try wanted.map { number, entry in
      let name = try reader.name(number, t)
      return Membership(
        container: home, member: name?.spelling ?? "", label: name?.label ?? "", isPresent: entry.key != nil,
        added: entry.added, removed: entry.removed)
    }
  }
}
