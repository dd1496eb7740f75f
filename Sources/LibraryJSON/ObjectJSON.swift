import Foundation
package import JSONReading
package import LibraryAudit
package import PhotoLedger

// Objects of the library as JSON. Keys are spelled as PhotoKit spells the property, and are always all there: what an
// object lacks is null. Enumerations are given by the names of their cases, sets of bits as lists of names; stars are a
// number, 0 without a rating.

extension PhotoLibrary {
  /// An asset with its files and the words about it.
  package func json(of asset: Asset) throws -> JSON {
    var bytes = JSONBytes()
    try write(asset, to: &bytes)
    return .written(bytes.text())
  }

  /// An asset with its files, the words about it, and the identifiers of the albums that hold it.
  package func shownJSON(of asset: Asset) throws -> JSON {
    let albums = try fetchCollections(containing: asset)
    let identifiers = try albums.objects(at: 0..<albums.count).map { JSON.text($0.localIdentifier) }
    var bytes = JSONBytes()
    try write(asset, to: &bytes) { bytes in
      bytes.key("albums")
      JSON.list(identifiers).write(to: &bytes)
    }
    return .written(bytes.text())
  }

  /// Writes an asset with its files and the words about it.
  /// - Parameter members: writes what else the object has, after all of that.
  package func write(
    _ asset: Asset, to bytes: inout JSONBytes, _ members: (inout JSONBytes) throws -> Void = { _ in }
  ) throws {
    try bytes.write(asset, try resources(of: asset), try extendedMetadata(of: asset), members)
  }
}

extension JSONBytes {
  /// Writes an asset with all that is shown beside it.
  package mutating func write(_ shown: ShownAsset) {
    write(shown.asset, shown.resources, shown.metadata) { bytes in
      bytes.key("albums")
      bytes.beginList()
      for album in shown.albums { bytes.identifier(album, of: .album) }
      bytes.endList()
    }
  }

  /// Writes a file of an asset, with other members before and after its own.
  package mutating func write(
    _ resource: AssetResource, after first: [JSON.Member] = [], before last: [JSON.Member] = []
  ) {
    beginObject()
    for member in first { member.write(to: &self) }
    writeMembers(of: resource)
    for member in last { member.write(to: &self) }
    endObject()
  }
}

extension JSON {
  /// A file of an asset, with other members before and after its own.
  package init(_ resource: AssetResource, after first: [Member] = [], before last: [Member] = []) {
    var bytes = JSONBytes()
    bytes.write(resource, after: first, before: last)
    self = .written(bytes.text())
  }

  /// An album, smart album or folder; how many assets a smart album shows is known when it is fetched.
  package init(_ collection: PhotoCollection) {
    self = .object(
      CollectionProperty.printed.map { Member($0.name.description, JSON($0.form, of: collection.row)) })
  }

  private init(_ form: CollectionProperty.Form, of row: CollectionRow) {
    switch form {
    case .identifier: self = .text(row.identifier.spelled(as: row.objectKind))
    case .date(let read): self = .text(DateText.instant(read(row)))
    case .optionalDate(let read): self = JSON(read(row).map { DateText.instant($0) })
    case .text(let read): self = JSON(read(row))
    case .count(let read): self = read(row).map { .integer(Int64($0)) } ?? .null
    case .kind: self = .text(row.kind.name)
    case .optionalKind(_, let name): self = JSON(name(row))
    case .bool(let read): self = .bool(read(row))
    case .asset(let read): self = JSON(read(row)?.spelled(as: .asset))
    case .object: preconditionFailure("The JSON of a collection names no object by its number.")
    }
  }

  /// A value of the log.
  package init(_ value: LogValue) {
    var bytes = JSONBytes()
    bytes.write(value)
    self = .written(bytes.text())
  }

  /// An event as a record of the audit's export.
  package init(_ entry: LogEntry) {
    var bytes = JSONBytes()
    entry.write(to: &bytes)
    self = .written(bytes.text())
  }
}
