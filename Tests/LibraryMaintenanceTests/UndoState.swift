import Foundation
import LMDB
import TestSupport

@testable import PhotoLedger

// A library as it is, in plain values: what two moments are compared by. It is read from the projections and knows
// nothing of events. Left out is what an undo does not promise to give back: modification dates, order keys (the order
// is compared, not the numbers), deleted collections, clients of whom nothing is known but the name, and picks.

/// Everything that is to be found in a library at one moment.
struct UndoState: Equatable {
  struct AssetState: Equatable {
    var row: AssetRow
    var details: AssetDetails?
  }

  struct CollectionState: Equatable {
    var title: String?
    var query: SmartAlbumQuery?
    var creator: ObjectNumber
    var count: Int
    var creatorCount: Int
    var parent: ObjectNumber
    var cover: LocalIdentifier?
    var creatorCover: LocalIdentifier?
    /// Assets, hidden and trashed ones included; or live collections.
    var members: [ObjectNumber]
  }

  struct ClientState: Equatable {
    var readWrite: ClientRow.Level
    var addOnly: ClientRow.Level
    var preventsLimitedAlert: Bool
    var followedAlbum: ObjectNumber?
    var selection: [ObjectNumber]
  }

  var assets: [ObjectNumber: AssetState] = [:]
  var collections: [ObjectNumber: CollectionState] = [:]
  var clients: [String: ClientState] = [:]

  init(ofLibrary path: String) throws {
    let environment = try LMDB.Environment.store(ofLibrary: path)
    let projections = try Projections(in: environment)
    self = try environment.read { t in try UndoState(projections, t) }
  }

  /// The same of an open library, whose tables need not be opened for it.
  init(_ library: PhotoLibrary) throws {
    let core = library.store.core
    self = try core.environment.read { t in try UndoState(core.projections, t) }
  }

  private init(_ projections: Projections, _ t: borrowing ReadTransaction) throws {
    for number in try Self.numbers(of: projections.assets, t) {
      guard var row = try projections.asset(number, in: t) else { continue }
      guard row.set(.modificationDate, .null) else { throw Divergence("A date could not be cleared.") }
      assets[number] = AssetState(row: row, details: try projections.details(number, in: t))
    }
    for number in try Self.numbers(of: projections.collections, t) {
      guard let row = try projections.collection(number, in: t), row.deletedDate == nil, !row.isBuiltIn else {
        continue
      }
      let members = try Self.members(of: number, projections, t).filter { child in
        try row.kind != .folder || projections.collection(child, in: t)?.deletedDate == nil
      }
      collections[number] = CollectionState(
        title: row.title, query: row.query, creator: row.creator, count: row.assetCount,
        creatorCount: row.creatorCount, parent: row.parent, cover: row.cover, creatorCover: row.creatorCover,
        members: members)
    }
    for number in try Self.numbers(of: projections.clients, t) {
      guard let row = try projections.client(number, in: t) else { continue }
      let state = ClientState(
        readWrite: row.readWrite, addOnly: row.addOnly, preventsLimitedAlert: row.preventsLimitedAlert,
        followedAlbum: row.followedAlbum, selection: try Self.members(of: number, projections, t))
      let blank = ClientState(
        readWrite: .init(), addOnly: .init(), preventsLimitedAlert: false, selection: [])
      if state != blank { clients[row.name] = state }
    }
  }

  private static func numbers(of table: Database, _ t: borrowing ReadTransaction) throws -> [ObjectNumber] {
    var numbers: [ObjectNumber] = []
    try t.forEach(in: table, from: 0) { (number, _) throws(LMDBError) in
      numbers.append(number)
      return .proceed
    }
    return numbers
  }

  private static func members(
    of container: ObjectNumber, _ projections: Projections, _ t: borrowing ReadTransaction
  ) throws -> [ObjectNumber] {
    var members: [ObjectNumber] = []
    try projections.forEachMember(of: container, in: t) { _, child in
      members.append(child)
      return true
    }
    return members
  }

  /// A sentence about what differs; nil if nothing does.
  func difference(from other: UndoState) -> String? {
    for number in Set(assets.keys).union(other.assets.keys).sorted() where assets[number] != other.assets[number] {
      let fields = AssetField.allCases.filter { assets[number]?.row[$0] != other.assets[number]?.row[$0] }
      return "asset \(number) differs in \(fields): \(String(describing: assets[number]?.details)) "
        + "instead of \(String(describing: other.assets[number]?.details))"
    }
    for number in Set(collections.keys).union(other.collections.keys).sorted()
    where collections[number] != other.collections[number] {
      return "collection \(number) is \(String(describing: collections[number])) "
        + "instead of \(String(describing: other.collections[number]))"
    }
    for name in Set(clients.keys).union(other.clients.keys).sorted() where clients[name] != other.clients[name] {
      return "client \(name) is \(String(describing: clients[name])) "
        + "instead of \(String(describing: other.clients[name]))"
    }
    return nil
  }
}
