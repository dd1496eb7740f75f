import EventLog
import Foundation

// A collection's row in CBOR: the same bytes in events and in the projection. They are written and read by hand, since
// a fetch reads a row for each collection; CollectionPropertyTests fails for a property that is forgotten here.

extension CollectionRow {
  package func encoded() -> [UInt8] {
    var fields = FieldWriter()
    fields.bytes(1, identifier.bytes)
    fields.unsigned(2, UInt64(kind.rawValue))
    if let title { fields.text(3, title) }
    fields.date(4, creationDate)
    fields.date(5, modificationDate)
    if let deletedDate { fields.date(6, deletedDate) }
    fields.unsigned(7, parent)
    // Derived by the projection, and 0 when the collection is created: no event holds them.
    if assetCount != 0 { fields.unsigned(8, UInt64(assetCount)) }
    if memberCount != 0 { fields.unsigned(9, UInt64(memberCount)) }
    if creator != 0 { fields.unsigned(10, creator) }
    if creatorCount != 0 { fields.unsigned(11, UInt64(creatorCount)) }
    if creatorDate != creationDate { fields.date(12, creatorDate) }
    if let query { fields.raw(13, query.encoded()) }
    if let cover { fields.bytes(14, cover.bytes) }
    if let creatorCover { fields.bytes(15, creatorCover.bytes) }
    return fields.finish()
  }

  /// Reads the row of a projection.
  package init(number: ObjectNumber, encoded bytes: [UInt8]) throws {
    do {
      try self.init(number: number, reading: bytes.span.bytes)
    } catch {
      throw LibraryError(.corrupted, "The row of collection \(number) cannot be read; run `verify`, then `rebuild`.")
    }
  }

  init(number: ObjectNumber, reading bytes: RawSpan) throws {
    var row = CollectionRow(
      number: number, identifier: LocalIdentifier(high: 0, low: 0), kind: .album, title: nil, date: .distantPast)
    var found = FoundFields()
    var creatorDate: Date?
    try bytes.forEachField { reader, key in
      found.insert(key)
      switch key {
      case 1: row.identifier = try reader.identifier()
      case 2:
        guard let kind = PhotoCollection.Kind(rawValue: try reader.number(Int.self)) else {
          throw EventCodingError(sentence: "an unknown kind of collection.")
        }
        row.kind = kind
      case 3: row.title = try reader.text()
      case 4: row.creationDate = try reader.date()
      case 5: row.modificationDate = try reader.date()
      case 6: row.deletedDate = try reader.date()
      case 7: row.parent = try reader.place()
      case 8: row.assetCount = try reader.count(ObjectCount.held)
      case 9: row.memberCount = try reader.count(ObjectCount.held)
      case 10: row.creator = try reader.place()
      case 11: row.creatorCount = try reader.count(ObjectCount.held)
      case 12: creatorDate = try reader.date()
      case 13: row.query = try SmartAlbumQuery(reader.skip())
      case 14: row.cover = try reader.identifier()
      case 15: row.creatorCover = try reader.identifier()
      default: throw EventCodingError(sentence: "unknown property \(key) of a collection.")
      }
    }
    guard found.contain([1, 2, 4, 5, 7]) else { throw EventCodingError(sentence: "a collection lacks a property.") }
    row.creatorDate = creatorDate ?? row.creationDate
    self = row
  }
}
