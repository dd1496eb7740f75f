import EventLog
import Foundation

// The rows of clients and picks in CBOR: the same bytes in events and in the projection.

extension ClientRow {
  package func encoded() -> [UInt8] {
    var fields = FieldWriter()
    fields.text(1, name)
    fields.date(2, registeredDate)
    if readWrite.status != .notDetermined { fields.unsigned(3, UInt64(readWrite.status.rawValue)) }
    if addOnly.status != .notDetermined { fields.unsigned(4, UInt64(addOnly.status.rawValue)) }
    if let words = readWrite.usageDescription { fields.text(5, words) }
    if let words = addOnly.usageDescription { fields.text(6, words) }
    if preventsLimitedAlert { fields.value(7) { $0.bool(true) } }
    // Derived by the projection, and 0 when the client is registered: no event holds them.
    if selectionCount != 0 { fields.unsigned(8, UInt64(selectionCount)) }
    if pickCount != 0 { fields.unsigned(9, UInt64(pickCount)) }
    if let followedAlbum { fields.unsigned(10, followedAlbum) }
    return fields.finish()
  }

  /// Reads the row of a projection.
  package init(number: ObjectNumber, encoded bytes: [UInt8]) throws {
    do {
      try self.init(number: number, reading: bytes.span.bytes)
    } catch {
      throw LibraryError(.corrupted, "The row of client \(number) cannot be read; run `verify`, then `rebuild`.")
    }
  }

  init(number: ObjectNumber, reading bytes: RawSpan) throws {
    self.init(number: number, name: "", registeredDate: .distantPast)
    var found = FoundFields()
    var row = self
    try bytes.forEachField { reader, key in
      found.insert(key)
      switch key {
      case 1: row.name = try reader.text()
      case 2: row.registeredDate = try reader.date()
      case 3: row.readWrite.status = try reader.authorizationStatus()
      case 4: row.addOnly.status = try reader.authorizationStatus()
      case 5: row.readWrite.usageDescription = try reader.text()
      case 6: row.addOnly.usageDescription = try reader.text()
      case 7: row.preventsLimitedAlert = try reader.bool()
      case 8: row.selectionCount = try reader.count(ObjectCount.held)
      case 9: row.pickCount = try reader.count(ObjectCount.held)
      case 10: row.followedAlbum = try reader.place()
      default: throw EventCodingError(sentence: "unknown property \(key) of a client.")
      }
    }
    guard found.contain([1, 2]) else { throw EventCodingError(sentence: "a client lacks a property.") }
    self = row
  }
}

extension PickRow {
  func encoded() -> [UInt8] {
    var fields = FieldWriter()
    fields.unsigned(1, client)
    fields.date(2, date)
    if !withheld.isEmpty { fields.unsigned(3, UInt64(withheld.rawValue)) }
    return fields.finish()
  }

  init(number: ObjectNumber, reading bytes: RawSpan) throws {
    var row = PickRow(number: number, client: 0, date: .distantPast)
    var found = FoundFields()
    try bytes.forEachField { reader, key in
      found.insert(key)
      switch key {
      case 1: row.client = try reader.place()
      case 2: row.date = try reader.date()
      case 3: row.withheld = try reader.withheldMetadata()
      default: throw EventCodingError(sentence: "unknown property \(key) of a pick.")
      }
    }
    guard found.contain([1, 2]) else { throw EventCodingError(sentence: "a pick lacks a property.") }
    self = row
  }
}

extension CBORReader {
  /// What is left out of picked bytes; a bit that this program does not know would be left in them.
  @_lifetime(self: copy self)
  mutating func withheldMetadata() throws -> PickerMetadataOptions {
    let options = PickerMetadataOptions(rawValue: try number(Int.self))
    guard !options.isEmpty, options.isSubset(of: .all) else {
      throw EventCodingError(sentence: "unknown metadata options \(options.rawValue) of a pick.")
    }
    return options
  }

  @_lifetime(self: copy self)
  mutating func authorizationStatus() throws -> AuthorizationStatus {
    let value = try number(Int.self)
    guard let status = AuthorizationStatus(rawValue: value) else {
      throw EventCodingError(sentence: "an unknown authorization status \(value).")
    }
    return status
  }
}
