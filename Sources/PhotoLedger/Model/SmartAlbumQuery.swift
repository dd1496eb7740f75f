import EventLog
import Foundation

// The query of a smart album, as stored in its row and its event; SmartAlbum.swift evaluates it.

/// The stored query of a smart album.
package struct SmartAlbumQuery: Equatable, Sendable {
  package var subtype: AlbumSubtype
  /// The condition, as ``Condition/description`` spells it.
  package var format: String
  /// The terms of the order, as ``SortTerm/description`` spells them.
  package var sort: [String]
  package var includesHidden = false
  /// How many days ago an asset may have been added; nil: any time.
  package var addedWithinDays: Int?

  init(_ subtype: AlbumSubtype, format: String, sortedBy sort: [String] = []) {
    (self.subtype, self.format, self.sort) = (subtype, format, sort)
  }
}

extension SmartAlbumQuery {
  /// Numbers from here on are of the library's own smart albums; no log has so many events.
  static let firstBuiltIn: ObjectNumber = .max - 65_535

  static func number(of subtype: AlbumSubtype) -> ObjectNumber { firstBuiltIn + UInt64(subtype.rawValue) }
}

extension SmartAlbumQuery {
  /// A map: subtype, condition, order, and what else departs from an ordinary fetch.
  func encoded() -> [UInt8] {
    var fields = FieldWriter()
    fields.unsigned(1, UInt64(subtype.rawValue))
    fields.text(2, format)
    if !sort.isEmpty { fields.list(3, sort) { $0.text($1) } }
    if includesHidden { fields.value(4) { $0.bool(true) } }
    if let addedWithinDays { fields.unsigned(5, UInt64(addedWithinDays)) }
    return fields.finish()
  }

  init(_ bytes: RawSpan) throws {
    var query = SmartAlbumQuery(.smartAlbumGeneric, format: "")
    var found = FoundFields()
    try bytes.forEachField { reader, key in
      found.insert(key)
      switch key {
      case 1: query.subtype = AlbumSubtype(rawValue: Int(try reader.number(UInt16.self)))
      case 2: query.format = try reader.text()
      case 3: for _ in 0..<(try reader.array()) { query.sort.append(try reader.text()) }
      case 4: query.includesHidden = try reader.bool()
      case 5: query.addedWithinDays = Int(try reader.number(UInt32.self))
      default: throw EventCodingError(sentence: "unknown property \(key) of a query.")
      }
    }
    guard found.contain([1, 2]) else { throw EventCodingError(sentence: "a query lacks a property.") }
    self = query
  }
}
