import EventLog
import Foundation
package import LMDB

// The projections: what the log comes to, kept ready to be asked.
//
// Each is one LMDB database. They are written by `apply(_:sequence:in:)` and by nothing else, in the transaction that
// appends the event, so log and projections cannot disagree; dropping them all and applying the log again gives the
// same bytes. Integers inside composite keys are big-endian, so that LMDB's order is the numbers' order.
//
//   database      key                                    value
//   assets        number (8, native integer key)         row, 144 bytes and the burst identifier (AssetRow)
//   details       number (8, native integer key)         CBOR: the resources (AssetDetails)
//   collections   number (8, native integer key)         CBOR: the row (CollectionRow)
//   identifiers   identifier (16)                        kind (1), number (8)
//   members       container (8) order key (8)            child (8)
//   containers    child (8) container (8)                order key (8)
//   content       SHA-256 (32) asset (8)                 nothing
//   pairing       SHA-256 of a content identifier (32)   nothing
//                 asset (8)
//   history       object (8) sequence (8)                nothing
//
// `members` is the manual order; `containers` answers "where does this stand". They are each other's inverse. `history`
// holds every event that touched an object: the way back to the values of an earlier commit. `content` finds equal
// bytes, `pairing` the halves of a Live Photo. A member that is hidden, trashed or deleted keeps its rows in
// `members` and `containers`.

/// The databases of the projections.
package struct Projections: Sendable {
  let assets: Database
  let details: Database
  let collections: Database
  let identifiers: Database
  let members: Database
  let containers: Database
  let content: Database
  let pairing: Database
  let history: Database

  /// The names of all projections' databases, in the order of the table above.
  package static let names = [
    "assets", "details", "collections", "identifiers", "members", "containers", "content", "pairing", "history",
  ]

  /// Opens the projections of a store, making those that are missing.
  package init(in environment: LMDB.Environment) throws(LMDBError) {
    assets = try environment.database("assets", integerKeys: true)
    details = try environment.database("details", integerKeys: true)
    collections = try environment.database("collections", integerKeys: true)
    identifiers = try environment.database("identifiers")
    members = try environment.database("members")
    containers = try environment.database("containers")
    content = try environment.database("content")
    pairing = try environment.database("pairing")
    history = try environment.database("history")
  }

  /// All databases, in the order of ``names``.
  package var all: [Database] {
    [assets, details, collections, identifiers, members, containers, content, pairing, history]
  }
}

/// The number of the root folder: the sequence of the event that created the library.
package let rootFolder: ObjectNumber = 1

/// A composite key of two numbers.
typealias PairKey = InlineArray<2, UInt64>

func pairKey(_ first: UInt64, _ second: UInt64) -> PairKey { [first.bigEndian, second.bigEndian] }

extension RawSpan {
  /// The big-endian number at an offset.
  func number(at offset: Int) -> UInt64 {
    UInt64(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}

// MARK: - Reading

extension Projections {
  package typealias Reading = TransactionReading & ~Copyable

  package func asset(_ number: ObjectNumber, in t: borrowing some Reading) throws -> AssetRow? {
    guard let value = try t.value(for: number, in: assets) else { return nil }
    return try AssetRow(number: number, bytes: value)
  }

  package func details(_ number: ObjectNumber, in t: borrowing some Reading) throws -> AssetDetails? {
    guard let value = try t.bytes(for: number, in: details) else { return nil }
    return try AssetDetails(encoded: value)
  }

  package func collection(_ number: ObjectNumber, in t: borrowing some Reading) throws -> CollectionRow? {
    guard let value = try t.bytes(for: number, in: collections) else { return nil }
    return try CollectionRow(number: number, encoded: value)
  }

  /// The number and kind of the object with an identifier.
  package func object(
    _ identifier: LocalIdentifier, in t: borrowing some Reading
  ) throws -> (number: ObjectNumber, isAsset: Bool)? {
    let key = pairKey(identifier.high, identifier.low)
    guard let value = try t.value(for: key.span.bytes, in: identifiers) else { return nil }
    guard value.byteCount == 9 else { throw corruption("the identifier \(identifier.uuidString)") }
    return (value.number(at: 1), value.unsafeLoad(as: UInt8.self) == ObjectKind.asset.rawValue)
  }

  /// The place of a child in a container.
  package func key(
    of child: ObjectNumber, in container: ObjectNumber, _ t: borrowing some Reading
  ) throws -> OrderKey? {
    let key = pairKey(child, container)
    guard let value = try t.value(for: key.span.bytes, in: containers) else { return nil }
    guard value.byteCount == 8 else { throw corruption("the place of object \(child) in \(container)") }
    return OrderKey(rawValue: value.number(at: 0))
  }

  /// Every place that a child has.
  package func places(of child: ObjectNumber, in t: borrowing some Reading) throws -> [ContainerPlace] {
    var places: [ContainerPlace] = []
    let prefix: InlineArray<1, UInt64> = [child.bigEndian]
    try t.forEach(in: containers, prefix: prefix.span.bytes) { (key, value) throws(LMDBError) in
      places.append(ContainerPlace(container: key.number(at: 8), key: OrderKey(rawValue: value.number(at: 0))))
      return .proceed
    }
    return places
  }

  /// Goes through the members of a container in their order, or against it, from a key on.
  /// - Parameters:
  ///   - start: the first key that is wanted; nil: the first or last member.
  ///   - body: is given each member's key and number and says whether to go on.
  package func forEachMember(
    of container: ObjectNumber, from start: OrderKey? = nil, backward: Bool = false, in t: borrowing some Reading,
    _ body: (OrderKey, ObjectNumber) throws -> Bool
  ) throws {
    let prefix: InlineArray<1, UInt64> = [container.bigEndian]
    let from = pairKey(container, start?.rawValue ?? (backward ? .max : 0))
    try t.forEach(in: members, from: from.span.bytes, prefix: prefix.span.bytes, reverse: backward) { (key, value) in
      try body(OrderKey(rawValue: key.number(at: 8)), value.number(at: 0)) ? .proceed : .stop
    }
  }

  /// The assets with a resource of the given content, oldest first.
  package func assets(withContent sha256: [UInt8], in t: borrowing some Reading) throws -> [ObjectNumber] {
    try assets(under: sha256, of: content, in: t)
  }

  /// The assets with a resource that has a content identifier, oldest first.
  package func assets(withContentIdentifier text: String, in t: borrowing some Reading) throws -> [ObjectNumber] {
    try assets(under: Self.pairingKey(text), of: pairing, in: t)
  }

  static func pairingKey(_ contentIdentifier: String) -> [UInt8] {
    SHA256.digest(of: Array(contentIdentifier.utf8)).bytes
  }

  private func assets(
    under prefix: [UInt8], of database: Database, in t: borrowing some Reading
  ) throws -> [ObjectNumber] {
    var found: [ObjectNumber] = []
    try t.forEach(in: database, prefix: prefix.span.bytes) { (key, _) throws(LMDBError) in
      found.append(key.number(at: prefix.count))
      return .proceed
    }
    return found
  }

  /// The sequences of the events that touched an object, after a sequence, oldest first.
  package func history(
    of number: ObjectNumber, after sequence: UInt64 = 0, in t: borrowing some Reading
  ) throws -> [UInt64] {
    var sequences: [UInt64] = []
    let prefix: InlineArray<1, UInt64> = [number.bigEndian]
    let from = pairKey(number, sequence + 1)
    try t.forEach(in: history, from: from.span.bytes, prefix: prefix.span.bytes) { (key, _) throws(LMDBError) in
      sequences.append(key.number(at: 8))
      return .proceed
    }
    return sequences
  }

  func corruption(_ what: String) -> LibraryError {
    LibraryError(
      .corrupted, "The store contradicts itself about \(what); stop writing and run `verify`, then `rebuild`.")
  }
}
