import EventLog
import Foundation

// An asset's row and resources in CBOR, as events hold them. The projections keep the same resources' bytes, and the
// row in a fixed layout of its own (AssetRow+Bytes.swift).

extension AssetRow {
  /// Writes the row as a map; properties that are absent or have their default are left out. The number is the
  /// event's.
  func write(to fields: inout FieldWriter) {
    fields.unsigned(0, number)
    fields.identifier(1, identifier)
    for property in AssetProperty.inRow { write(property, to: &fields) }
  }

  /// Reads the row of an event.
  /// - Parameter expected: the number that the row must have; nil: any.
  @_lifetime(reader: copy reader)
  init(number expected: ObjectNumber?, reading reader: inout CBORReader) throws {
    self.init(number: 0, identifier: LocalIdentifier(high: 0, low: 0), addedDate: .distantPast)
    let properties = AssetProperty.byRowKey
    var found = FoundFields()
    try reader.forEachField { reader, key in
      found.insert(key)
      try read(key, of: properties, &reader)
    }
    guard found.contain(Self.requiredKeys) else { throw EventCodingError(sentence: "a row lacks a property.") }
    _ = try checked(number, expecting: expected)
  }

  @inline(__always)
  private mutating func read(
    _ key: UInt64, of properties: [AssetProperty.InRow?], _ reader: inout CBORReader
  ) throws {
    switch key {
    case 0: number = try reader.place()
    case 1: identifier = try reader.identifier()
    default:
      guard key < properties.count, let property = properties[Int(key)] else {
        throw EventCodingError(sentence: "unknown property \(key) of an asset.")
      }
      try read(property, &reader)
    }
  }

  /// The keys that every row has.
  private static let requiredKeys =
    [0, 1] + AssetProperty.inRow.filter(\.isRequired).map(\.key)
}

extension AssetDetails {
  /// The bytes that a projection keeps.
  func encoded() -> [UInt8] {
    var fields = FieldWriter(capacity: 512)
    write(to: &fields)
    return fields.finish()
  }

  /// Whether the same bytes are kept of both.
  func isStored(like other: AssetDetails) -> Bool { encoded() == other.encoded() }

  /// Writes a map: the resources, each a map, and the descriptive metadata that are present.
  func write(to fields: inout FieldWriter) {
    fields.maps(1, resources) { $1.write(to: &$0) }
    if let caption { fields.text(2, caption) }
    if !keywords.isEmpty { fields.list(3, keywords) { $0.text($1) } }
    if let adjustment {
      fields.value(4) { writer in
        writer.array(2)
        writer.text(adjustment.formatIdentifier)
        writer.text(adjustment.formatVersion)
      }
    }
    if let origin { fields.text(5, origin) }
    if let unedited {
      fields.value(6) { writer in
        writer.array(3)
        writer.unsigned(UInt64(unedited.pixelWidth))
        writer.unsigned(UInt64(unedited.pixelHeight))
        writer.double(unedited.duration)
      }
    }
    if let metadata { fields.fields(7) { metadata.write(to: &$0) } }
  }

  /// Reads the details of a projection.
  package init(encoded bytes: [UInt8]) throws { try self.init(encoded: bytes.span.bytes) }

  /// Reads the details of a projection where they lie.
  init(encoded bytes: RawSpan) throws {
    self = try Self.reading(bytes) { reader in
      let details = try AssetDetails(reading: &reader)
      try reader.end()
      return details
    }
  }

  /// Appends the role, type and hash of each of an asset's files, from the bytes of a projection, and skips the rest.
  static func readContents(_ bytes: RawSpan, into contents: inout [ResourceContent]) throws {
    let count = contents.count
    if bytes.withUnsafeBytes({ UsualContents.read($0, into: &contents) }) { return }
    contents.removeSubrange(count...)
    try readContentsStrictly(bytes, into: &contents)
  }

  /// The same of bytes of any form.
  static func readContentsStrictly(_ bytes: RawSpan, into contents: inout [ResourceContent]) throws {
    try reading(bytes) { reader in
      for _ in 0..<(try beginResources(&reader)) { contents.append(try ResourceContent(reading: &reader)) }
    }
  }

  /// The files of an asset, from the bytes of a projection; the words are skipped.
  static func resources(in bytes: RawSpan) throws -> [AssetResource] {
    try reading(bytes) { reader in
      var resources: [AssetResource] = []
      for _ in 0..<(try beginResources(&reader)) { resources.append(try AssetResource(reading: &reader)) }
      return resources
    }
  }

  /// - Returns: how many files follow.
  @_lifetime(reader: copy reader)
  private static func beginResources(_ reader: inout CBORReader) throws -> Int {
    // The resources are the first field, and always there.
    guard try reader.map() > 0, try reader.unsigned() == 1 else {
      throw EventCodingError(sentence: "the details of an asset do not begin with its files.")
    }
    return try reader.array()
  }

  /// Reads bytes of a projection, which are this program's own.
  private static func reading<Value>(_ bytes: RawSpan, _ body: (inout CBORReader) throws -> Value) throws -> Value {
    do {
      var reader = CBORReader(bytes)
      return try body(&reader)
    } catch let error as LibraryError {
      throw error
    } catch {
      throw LibraryError(.corrupted, "The details of an asset cannot be read; run `verify`, then `rebuild`.")
    }
  }

  /// Reads the details in an event.
  @_lifetime(reader: copy reader)
  init(reading reader: inout CBORReader) throws {
    try reader.forEachField { reader, key in
      switch key {
      case 1: for _ in 0..<(try reader.array()) { resources.append(try AssetResource(reading: &reader)) }
      case 2: caption = try reader.text()
      case 3: for _ in 0..<(try reader.array()) { keywords.append(try reader.text()) }
      case 4:
        try reader.array(count: 2)
        adjustment = Adjustment(formatIdentifier: try reader.text(), formatVersion: try reader.text())
      case 5: origin = try reader.text()
      case 6:
        try reader.array(count: 3)
        let shape = Unedited(
          pixelWidth: try reader.number(UInt32.self), pixelHeight: try reader.number(UInt32.self),
          duration: try reader.double())
        guard shape.duration.isFinite else { throw EventCodingError(sentence: "a duration is not finite.") }
        unedited = shape
      case 7: metadata = try AssetMetadata(reading: &reader)
      default: throw EventCodingError(sentence: "unknown property \(key) of an asset's details.")
      }
    }
  }
}

extension ResourceContent {
  @_lifetime(reader: copy reader)
  fileprivate init(reading reader: inout CBORReader) throws {
    var (type, isRaw, sha256): (Int?, Bool, SHA256Digest?) = (nil, false, nil)
    try reader.forEachField { reader, key in
      switch key {
      case 1: type = try reader.number(Int.self)
      case 3: isRaw = try reader.uncheckedText().ends(with: AssetResource.rawSuffix)
      case 5: sha256 = try reader.digest()
      case 2, 8, 9: _ = try reader.uncheckedText()
      default: _ = try reader.skip()
      }
    }
    guard let type, let sha256 else { throw EventCodingError(sentence: "a resource lacks a property.") }
    self.init(type: ResourceType(rawValue: type), isRaw: isRaw, sha256: sha256)
  }
}

extension RawSpan {
  /// Whether the last bytes are those of a text.
  fileprivate func ends(with text: String) -> Bool {
    let utf8 = text.utf8
    guard byteCount >= utf8.count else { return false }
    return withUnsafeBytes { $0.suffix(utf8.count).elementsEqual(utf8) }
  }
}

extension AssetResource {
  fileprivate func write(to fields: inout FieldWriter) {
    fields.integer(1, Int64(type.rawValue))
    fields.text(2, originalFilename)
    fields.text(3, uniformTypeIdentifier)
    fields.unsigned(4, dataSize)
    fields.bytes(5, sha256)
    if pixelWidth != 0 { fields.integer(6, Int64(pixelWidth)) }
    if pixelHeight != 0 { fields.integer(7, Int64(pixelHeight)) }
    if case .referenced(let path) = storage { fields.text(8, path) }
    if let contentIdentifier { fields.text(9, contentIdentifier) }
    if let sha1 { fields.bytes(10, sha1) }
  }

  @_lifetime(reader: copy reader)
  fileprivate init(reading reader: inout CBORReader) throws {
    self.init(try RecordedFile(reading: &reader), in: reader.all)
  }

  /// - Parameters:
  ///   - file: the places of the parts.
  ///   - bytes: those that the file was read from.
  private init(_ file: RecordedFile, in bytes: RawSpan) {
    func text(_ place: Range<Int>) -> String {
      bytes.extracting(place).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
    func array(_ place: Range<Int>) -> [UInt8] { bytes.extracting(place).withUnsafeBytes { Array($0) } }
    self.init(
      type: file.type, originalFilename: text(file.originalFilename),
      uniformTypeIdentifier: text(file.uniformTypeIdentifier), dataSize: file.dataSize, sha256: array(file.sha256),
      pixelWidth: file.pixelWidth, pixelHeight: file.pixelHeight,
      storage: file.path.map { .referenced(path: text($0)) } ?? .library,
      contentIdentifier: file.contentIdentifier.map(text), sha1: file.sha1.map(array))
  }
}

/// A file of an asset where it is recorded: the places of its texts and hashes in the bytes that it was read from.
package struct RecordedFile {
  package private(set) var type = ResourceType.photo
  package private(set) var originalFilename = 0..<0
  package private(set) var uniformTypeIdentifier = 0..<0
  package private(set) var dataSize: UInt64 = 0
  package private(set) var sha256 = 0..<0
  fileprivate var pixelWidth = 0
  fileprivate var pixelHeight = 0
  package private(set) var path: Range<Int>?
  package private(set) var contentIdentifier: Range<Int>?
  package private(set) var sha1: Range<Int>?

  @_lifetime(reader: copy reader)
  init(reading reader: inout CBORReader) throws {
    var file = RecordedFile()
    var found = FoundFields()
    try reader.forEachField { reader, key in
      found.insert(key)
      switch key {
      case 1: file.type = ResourceType(rawValue: try reader.number(Int.self))
      case 2: file.originalFilename = try reader.textPlace()
      case 3: file.uniformTypeIdentifier = try reader.textPlace()
      case 4: file.dataSize = try reader.unsigned(in: AssetNumbers.byteCounts)
      case 5: file.sha256 = try reader.place(count: 32)
      case 6: file.pixelWidth = try reader.number(Int.self)
      case 7: file.pixelHeight = try reader.number(Int.self)
      case 8: file.path = try reader.textPlace()
      case 9: file.contentIdentifier = try reader.textPlace()
      case 10: file.sha1 = try reader.place(count: 20)
      default: throw EventCodingError(sentence: "unknown property \(key) of a resource.")
      }
    }
    guard found.contain([1, 2, 3, 4, 5]) else {
      throw EventCodingError(sentence: "a resource lacks a property.")
    }
    self = file
  }

  private init() {}
}

extension CBORReader {
  /// The place of the next text, which is read.
  @_lifetime(self: copy self)
  fileprivate mutating func textPlace() throws -> Range<Int> {
    let count = try textBytes().byteCount
    return offset - count..<offset
  }

  /// The place of the next bytes, which are read.
  @_lifetime(self: copy self)
  fileprivate mutating func place(count: Int) throws -> Range<Int> {
    _ = try bytes(count: count)
    return offset - count..<offset
  }
}
