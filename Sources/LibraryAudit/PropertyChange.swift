import EventLog
import Foundation
import LMDB
public import PhotoLedger

// The history of one object, one entry for each change of a property.
//
//     event        asset.created   assets.edited            content.inserted        asset.purged
//     entries      null ─▶ value   isFavorite: old ─▶ new   containers: null ─▶ …   value ─▶ null
//
// Invariant: for each property that has one value at a time, the new value of one entry is the old value of the next,
// and the last new value is the value of now. `members`, `containers`, `selections` and `picks` hold many values: an
// entry puts one in (old is null), takes one out (new is null) or gives it another place.

/// One change of one property of an asset, an album or a folder, with who, when and why.
public struct PropertyChange: Sendable, Hashable {
  /// Who, when and why, and the event that says so.
  public let origin: AuditOrigin
  /// The object, spelled as PhotoKit spells identifiers.
  public let object: String
  /// The property, by its name in the log; `erased`, without values, for what an erasure took out of the event.
  public let property: String
  /// The value before; null if there was none.
  public let old: LogValue
  /// The value after; null if there is none.
  public let new: LogValue

  /// The change as a record of the audit's export; see <doc:Audit>.
  public var record: LogValue {
    AuditSchema.record(
      "change",
      origin.fields + [
        .init("object", .text(object)), .init("property", .text(property)), .init("old", old), .init("new", new),
      ])
  }
}

extension PhotoLibrary {
  /// Iterates over every change of every property of an asset, an album or a folder, oldest first, with client, time
  /// and cause; also of purged objects.
  /// - Parameters:
  ///   - identifier: the object, in any form.
  ///   - filter: selects events that touched the object; all by default.
  ///   - body: called with each change; return `false` to stop. It must not wait for a change of the library.
  /// - Throws: ``LibraryError``: `.identifierNotFound` for an object that never existed, `.accessUserDenied` for any
  ///   client but the owner, `.invalidToken`; the errors of the store and of `body`.
  /// - Complexity: O(log n + k) for the k values in the events that touched the object.
  public func forEachPropertyChange(
    of identifier: String, _ filter: LogFilter = LogFilter(), _ body: (PropertyChange) throws -> Bool
  ) throws {
    try readPropertyChanges(of: identifier, filter) { change, _ in try body(change) }
  }

  /// The same, for a body that reads more of the library: in the transaction that it is given, since a thread must not
  /// begin a second one.
  package func readPropertyChanges(
    of identifier: String, _ filter: LogFilter = LogFilter(),
    _ body: (PropertyChange, borrowing StoreReading) throws -> Bool
  ) throws {
    try checkIsOwner("read the history of an object")
    try LibraryStore.passingErrors { own in try readChanges(of: identifier, filter, &own, body) }
  }

  private func readChanges(
    of identifier: String, _ filter: LogFilter, _ own: inout OwnErrors,
    _ body: (PropertyChange, borrowing StoreReading) throws -> Bool
  ) throws {
    try store.reading { t in
      var reader = AuditReader(of: store)
      let number = try reader.number(of: identifier, t)
      let object = try reader.spelling(number, t)
      let after = try filter.after.map { try store.commit(of: $0, for: client, t) } ?? 0
      let others = try filter.objects.map { other in
        Set(try store.core.projections.history(of: try reader.number(of: other, t), in: t))
      }
      var (assetCount, isErased) = (0, false)
      for sequence in try reader.sequences(of: number, through: self.sequence, t) {
        let (origin, event, isPartial) = try reader.event(at: sequence, t)
        // Also if it is filtered out: a count is the sum of all its changes.
        var values = try event.map { try reader.values(of: $0, number, &assetCount, t) } ?? []
        values.removeAll { $0.old == $0.new }
        if case .assetCreated(let existence)? = event, existence.row.number == number {
          isErased = existence.row.isErased
        }
        if event.map({ isPartial && isErased && $0.holdsDataOfAssets }) ?? true {
          values.insert(PropertyValues("erased"), at: 0)
        }
        guard origin.commit.number > after, filter.wants(origin.commit), filter.wants(type: origin.type),
          others.allSatisfy({ $0.contains(sequence) })
        else { continue }
        for value in values {
          let change = PropertyChange(
            origin: origin, object: object, property: value.name, old: value.old, new: value.new)
          guard try own.keeping({ try body(change, t) }) else { return }
        }
      }
    }
  }
}

extension Event {
  /// Whether an erasure of one of its assets takes data of that asset out of it.
  fileprivate var holdsDataOfAssets: Bool {
    switch self {
    case .assetCreated, .assetPurged, .assetsEdited: true
    case .libraryCreated, .collectionCreated, .collectionErased, .collectionEdited, .arranged, .clientRegistered,
      .clientErased, .clientEdited, .pickRecorded, .pickErased, .historyShortened, .assetErased, .libraryForked,
      .nothingChanged:
      false
    }
  }
}

extension AuditReader {
  /// The changes of an object by an event.
  /// - Parameter assetCount: the count of visible assets of an album; updated.
  fileprivate mutating func values(
    of event: Event, _ number: ObjectNumber, _ assetCount: inout Int, _ t: borrowing StoreReading
  ) throws -> [PropertyValues] {
    switch event {
    case .libraryCreated(_, let date): return [PropertyValues("creationDate", .null, .date(date))]
    case .libraryForked(let fork): return [PropertyValues("forkedFrom", .null, .text(fork.origin))]
    case .assetErased: return [PropertyValues("isErased", .bool(false), .bool(true))]
    case .historyShortened(let kept):
      return [PropertyValues("firstCommit", .commit(kept.old), .commit(kept.new))]
    case .assetCreated(let existence): return try values(ofCreated: existence, number, t)
    case .assetPurged(let existence):
      return try values(ofCreated: existence, number, t).reversed().map { PropertyValues($0.name, $0.new, $0.old) }
    case .assetsEdited(let edited):
      return edited.edits.filter { $0.number == number }.flatMap(\.values) + counts(edited.shifts, number, &assetCount)
    case .collectionCreated(let existence), .collectionErased(let existence):
      return try values(ofCreated: existence, number, t)
    case .collectionEdited(let edited): return edited.values
    case .arranged(let arranged): return try values(of: arranged, number, &assetCount, t)
    case .clientRegistered, .clientErased, .clientEdited, .pickRecorded, .pickErased, .nothingChanged: return []
    }
  }

  private mutating func values(
    ofCreated existence: AssetExistence, _ number: ObjectNumber, _ t: borrowing StoreReading
  ) throws -> [PropertyValues] {
    if existence.row.number == number {
      let own = existence.values.map { PropertyValues($0.name, .null, $0.value) }
      return try own + existence.places.flatMap { place in try values(entering: place.container, at: place.key, t) }
    }
    let member = try spelling(existence.row.number, t)
    return existence.places.filter { $0.container == number }.map { place in
      PropertyValues("members", .null, .place("member", member, place.key))
    }
  }

  private mutating func values(
    ofCreated existence: CollectionExistence, _ number: ObjectNumber, _ t: borrowing StoreReading
  ) throws -> [PropertyValues] {
    let row = existence.row
    guard row.number == number else {
      return [PropertyValues("members", .null, .place("member", try spelling(row.number, t), existence.key))]
    }
    var values: [PropertyValues] = []
    for property in CollectionProperty.inHistory {
      let value = try property.value(of: row) { try $0 == 0 ? nil : spelling($0, t) }
      if value != .null { values.append(PropertyValues(property.name.description, .null, value)) }
    }
    return try values + self.values(entering: row.parent, at: existence.key, t)
  }

  private mutating func values(
    of arranged: Arranged, _ number: ObjectNumber, _ assetCount: inout Int, _ t: borrowing StoreReading
  ) throws -> [PropertyValues] {
    var values: [PropertyValues] = []
    for place in arranged.places {
      if arranged.container == number {
        let member = try spelling(place.child, t)
        values.append(
          PropertyValues("members", .place("member", member, place.old), .place("member", member, place.new)))
      } else if place.child == number {
        let before = try place.old.map { try self.values(entering: arranged.container, at: $0, t) } ?? []
        let after = try place.new.map { try self.values(entering: arranged.container, at: $0, t) } ?? []
        let name = before.first?.name ?? after.first?.name ?? ""
        values.append(PropertyValues(name, before.first?.new ?? .null, after.first?.new ?? .null))
      }
    }
    if arranged.container == number {
      values += counts([CountShift(album: number, by: arranged.countShift)], number, &assetCount)
      if let date = arranged.modificationDate {
        values.append(PropertyValues("modificationDate", .date(date.old), .date(date.new)))
      }
    }
    return values + counts(arranged.shifts, number, &assetCount)
  }

  /// The value of a new membership: an album or folder with its order key, a selection or a pick with its client.
  private mutating func values(
    entering container: ObjectNumber, at key: OrderKey, _ t: borrowing StoreReading
  ) throws -> [PropertyValues] {
    guard let name = try name(container, t) else { return [] }
    if name.type != nil { return [PropertyValues("containers", .null, .place("container", name.spelling, key))] }
    return [PropertyValues(name.isPick ? "picks" : "selections", .null, .text(name.client ?? ""))]
  }

  private func counts(
    _ shifts: [CountShift], _ number: ObjectNumber, _ assetCount: inout Int
  ) -> [PropertyValues] {
    shifts.filter { $0.album == number && $0.by != 0 }.map { shift in
      let before = assetCount
      assetCount += shift.by
      return PropertyValues("estimatedAssetCount", .integer(Int64(before)), .integer(Int64(assetCount)))
    }
  }
}

extension LogValue {
  fileprivate static func commit(_ number: UInt64) -> LogValue {
    number == 0 ? .null : .integer(Int64(clamping: number))
  }

  /// An object at an order key; null without one.
  fileprivate static func place(_ role: String, _ spelling: String, _ key: OrderKey?) -> LogValue {
    guard let key else { return .null }
    return .object([.init(role, .text(spelling)), .init("orderKey", .text(String(key.rawValue, radix: 16)))])
  }
}
