import EventLog
import LMDB
package import PhotoLedger

/// Finds what objects are called, or were called after an event, that events name by number; keeps the last ones it
/// found.
///
/// A purged object has no row; the event that created it is still in the log, at the object's number.
package struct ObjectNames {
  /// An object's identifier, kind and name.
  package struct Name {
    /// How the object is spelled.
    private enum Identity {
      case identifier(LocalIdentifier, ObjectKind)
      case text(String)
    }

    private let identity: Identity
    /// Nil for a client or a pick, which are not objects of PhotoKit's.
    package let type: ObjectType?
    /// The file name or title alone; nil for objects without one, such as the top level and erased assets.
    package let title: String?
    /// What the object is called if it has no title.
    private let nameless: String
    /// Whose selection or pick it is; nil for an object of PhotoKit's.
    package let client: String?
    package let isPick: Bool

    package var spelling: String {
      switch identity {
      case .identifier(let identifier, let kind): identifier.spelled(as: kind)
      case .text(let text): text
      }
    }

    package var label: String { title.map { "'\($0)'" } ?? nameless }

    /// Writes the spelling.
    func write(to writer: inout some RecordWriter & ~Copyable) {
      switch identity {
      case .identifier(let identifier, let kind): writer.identifier(identifier, of: kind)
      case .text(let text): writer.text(text)
      }
    }

    /// - Parameter details: the files of the asset; nil if its file name is not asked for.
    init(_ row: AssetRow, _ details: AssetDetails?) {
      (identity, type, client, isPick) = (.identifier(row.identifier, .asset), .asset, nil, false)
      nameless = row.isErased ? "an erased asset" : "an asset"
      title = details?.resources.first?.originalFilename
    }

    /// The name of an asset that was not erased.
    /// - Parameter details: its files; nil if its file name is not asked for.
    init(asset identifier: LocalIdentifier, _ details: AssetDetails?) {
      (identity, type, client, isPick) = (.identifier(identifier, .asset), .asset, nil, false)
      (nameless, title) = ("an asset", details?.resources.first?.originalFilename)
    }

    init(_ row: CollectionRow) {
      (identity, client, isPick) = (.identifier(row.identifier, row.objectKind), nil, false)
      type = row.kind == .folder ? .collectionList : .assetCollection
      nameless = row.number == rootFolder ? "the top level" : "''"
      title = row.number == rootFolder ? nil : row.title
    }

    init(_ row: ClientRow) {
      (identity, type, title, isPick) = (.text(row.name), nil, nil, false)
      (nameless, client) = ("the client '\(row.name)'", row.name)
    }

    init(pick number: ObjectNumber, of client: String) {
      (identity, type, title, isPick) = (.text("pick \(number)"), nil, nil, true)
      (nameless, self.client) = ("a pick of '\(client)'", client)
    }
  }

  private let store: LibraryStore
  /// The event after which names are as they are given; `LibraryStore.now` for those of now.
  private let sequence: UInt64
  private var names: [ObjectNumber: Name] = [:]
  /// Those whose file name was not asked for.
  private var spellings: [ObjectNumber: Name] = [:]

  /// How many names are kept.
  private static let limit = 10_000

  package init(of store: LibraryStore, at sequence: UInt64 = LibraryStore.now) {
    (self.store, self.sequence) = (store, sequence)
  }

  /// The name of an object; nil if the log knows none of that number.
  /// - Complexity: O(log n); for names in an as-of view also one read for each later event that touched the object.
  package mutating func name(of number: ObjectNumber, _ t: borrowing StoreReading) throws -> Name? {
    if let known = names[number] { return known }
    let found = try find(number, isTitled: true, t)
    Self.keep(found, of: number, in: &names)
    return found
  }

  /// The same for a reader that does not ask for the file name of an asset: details are not read.
  /// - Complexity: as ``name(of:_:)``.
  mutating func spelling(of number: ObjectNumber, _ t: borrowing StoreReading) throws -> Name? {
    if let known = names[number] ?? spellings[number] { return known }
    let found = try find(number, isTitled: false, t)
    Self.keep(found, of: number, in: &spellings)
    return found
  }

  /// The name of an asset whose identifier is known, so that its row is not read.
  /// - Complexity: as ``name(of:_:)``.
  mutating func name(
    of number: ObjectNumber, identified identifier: LocalIdentifier, _ t: borrowing StoreReading
  ) throws -> Name? {
    if let known = names[number] { return known }
    guard let details = try store.assetDetails(number, at: sequence, t) else { return try name(of: number, t) }
    let name = Name(asset: identifier, details)
    Self.keep(name, of: number, in: &names)
    return name
  }

  private static func keep(_ name: Name?, of number: ObjectNumber, in names: inout [ObjectNumber: Name]) {
    if names.count >= limit { names.removeAll(keepingCapacity: true) }
    if let name { names[number] = name }
  }

  private func find(_ number: ObjectNumber, isTitled: Bool, _ t: borrowing StoreReading) throws -> Name? {
    let core = store.core
    if let row = try store.assetRow(number, at: sequence, t) {
      return Name(row, isTitled ? try store.assetDetails(number, at: sequence, t) : nil)
    }
    if let row = try store.collectionRow(number, at: sequence, t) { return Name(row) }
    if let row = try core.projections.client(number, in: t) { return Name(row) }
    if let row = try core.projections.pick(number, in: t) {
      return Name(pick: number, of: try core.projections.client(row.client, in: t)?.name ?? "")
    }
    guard let record = try core.log.event(at: number, in: t) else { return nil }
    if case .assetCreated(let existence) = try Event(record) { return Name(existence.row, existence.details) }
    return nil
  }
}
