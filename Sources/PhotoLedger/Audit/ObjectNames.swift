import EventLog
import LMDB

/// Finds what objects are called, or were called after an event, that events name by number; keeps the last ones it
/// found.
///
/// A purged object has no row; the event that created it is still in the log, at the object's number.
package struct ObjectNames {
  /// An object's identifier, kind and name.
  package struct Name {
    package var spelling: String
    /// Nil for a client or a pick, which are no objects of PhotoKit's.
    var type: ObjectType?
    var label: String
    /// The file name or title alone; nil for objects without one, such as the top level and erased assets.
    var title: String?
    /// Whose selection or pick it is; nil for an object of PhotoKit's.
    var client: String?
    var isPick = false
  }

  private let store: LibraryStore
  /// The event after which names are as they are given; `LibraryStore.now` for those of now.
  private let sequence: UInt64
  private var names: [ObjectNumber: Name] = [:]

  /// How many names are kept.
  private static let limit = 10_000

  package init(of store: LibraryStore, at sequence: UInt64 = LibraryStore.now) {
    (self.store, self.sequence) = (store, sequence)
  }

  /// The name of an object; nil if the log knows none of that number.
  /// - Complexity: O(log n); for names of the past also one read for each later event that touched the object.
  package mutating func name(of number: ObjectNumber, _ t: borrowing StoreReading) throws -> Name? {
    if let known = names[number] { return known }
    if names.count >= Self.limit { names.removeAll(keepingCapacity: true) }
    let found = try find(number, t)
    if let found { names[number] = found }
    return found
  }

  private func find(_ number: ObjectNumber, _ t: borrowing StoreReading) throws -> Name? {
    let core = store.core
    if let row = try store.assetRow(number, at: sequence, t) {
      return Name(row, try store.assetDetails(number, at: sequence, t))
    }
    if let row = try store.collectionRow(number, at: sequence, t) { return Name(row) }
    if let row = try core.projections.client(number, in: t) {
      return Name(spelling: row.name, type: nil, label: "the client '\(row.name)'", client: row.name)
    }
    if let row = try core.projections.pick(number, in: t) {
      let name = try core.projections.client(row.client, in: t)?.name ?? ""
      return Name(
        spelling: "pick \(number)", type: nil, label: "a pick of '\(name)'", client: name, isPick: true)
    }
    guard let record = try core.log.event(at: number, in: t) else { return nil }
    if case .assetCreated(let existence) = try Event(record) { return Name(existence.row, existence.details) }
    return nil
  }
}

extension ObjectNames.Name {
  init(_ row: AssetRow, _ details: AssetDetails?) {
    let nameless = row.isErased ? "an erased asset" : "an asset"
    let label = details?.resources.first.map { "'\($0.originalFilename)'" } ?? nameless
    let title = details?.resources.first?.originalFilename
    self.init(spelling: row.identifier.spelled(as: .asset), type: .asset, label: label, title: title)
  }

  init(_ row: CollectionRow) {
    let label = row.number == rootFolder ? "the top level" : "'\(row.title ?? "")'"
    self.init(
      spelling: row.identifier.spelled(as: row.objectKind),
      type: row.kind == .folder ? .collectionList : .assetCollection, label: label,
      title: row.number == rootFolder ? nil : row.title)
  }
}
