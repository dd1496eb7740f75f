import EventLog
import Foundation
package import StoreMigrations

// The bytes of an event's payload: deterministic CBOR (RFC 8949 §4.2.1), a map from small numbers to values.
//
// The numbers are part of the format: a number is never reused, and an absent field has its default. They are listed
// with examples in StorageFormat.md. Reading is strict: an unknown type, version or field is an error and stops the
// reader, since skipping a fact would yield another history.
//
//   type                     version   payload
//   library.created          1         1 identifier, 2 date
//   asset.created            1         1 row, 2 resources, 3 places
//   asset.purged             1         1 row, 2 resources, 3 places
//   asset.unmade             1         the same; an undo reverted its creation, and its files are kept
//   asset.returned           1         the same; an undo restored it under its number
//   assets.edited            1         1 edits, 2 count shifts
//   assets.trashed           1         the same
//   assets.restored          1         the same
//   collection.created       1         0 number, 1 row, 2 order key
//   collection.erased        1         0 number, 1 row, 2 order key
//   collection.edited        1         1 number, 2 title, 3 modification date, 4 deleted date, 5 modification date
//                                      for its creator (each [old, new])
//   collection.edited        2         the same, and 6 the cover, 7 the cover for its creator (each [old, new])
//   content.inserted         1         1 container, 2 places, 3 count shift, 4 modification date [old, new],
//                                      5 count shift and 6 date for its creator, 7 count shifts of other albums
//   content.removed, content.moved, content.replaced, content.spread,
//   selection.granted, selection.withdrawn, selection.picked: the same
//   client.registered        1         0 number, 1 row
//   client.edited            1         1 number, 2 … 5 status and usage description of either level, 6 whether it
//                                      prevents the alert (each [old, new]), 7 the level it asked for
//   client.edited            2         the same, and 8 the album that its selection follows [old, new]
//   pick.recorded            1         0 number, 1 row
//   pick.recorded            2         the same, where the row says what is removed from the bytes
//   history.shortened        1         1 the first available commit [old, new]
//   asset.erased             1         1 numbers, 2 [sequence, version, payload] of replacements
//   library.forked           1         1 identifier, 2 date, 3 the path of the other library
//   nothing.changed          1         empty
//
// The types that hold files have a version 2, where a file's SHA-1 is named (10 of a resource). It is written where
// there is one, and otherwise version 1: so an event has one form, and a library without SHA-1s is as it always was.
// A version 3 of the same types names what files say about an asset (7 of its details), with or without a SHA-1.
// A version 4 names the stack of an asset (24 of its row, property 25 of an edit), with or without either.
// The same holds for an edit of a client that names an album, for an edit of a collection that names a cover, and for a
// pick of which something is left out.
//
// The names stand in the functions below and in `LogFilter.knownTypes`, and not in a table: one with a version and a
// reader for each would be longer than they are. StorageFormatTests compares the list with the events of the fixtures.

extension Event {
  /// The name of the event's type in the log.
  package var type: String {
    switch self {
    case .libraryCreated: "library.created"
    case .assetCreated(let existence): existence.isByUndo ? "asset.returned" : "asset.created"
    case .assetPurged(let existence): existence.isByUndo ? "asset.unmade" : "asset.purged"
    case .assetsEdited(let edited): "assets.\(edited.verb.rawValue)"
    case .collectionCreated: "collection.created"
    case .collectionErased: "collection.erased"
    case .collectionEdited: "collection.edited"
    case .arranged(let arranged):
      (arranged.verb.isAboutAccess ? "selection." : "content.") + arranged.verb.rawValue
    case .clientRegistered: "client.registered"
    case .clientErased: "client.erased"
    case .clientEdited: "client.edited"
    case .pickRecorded: "pick.recorded"
    case .pickErased: "pick.erased"
    case .historyShortened: "history.shortened"
    case .assetErased: "asset.erased"
    case .libraryForked: "library.forked"
    case .nothingChanged: "nothing.changed"
    }
  }

  /// The version of a payload's format without a SHA-1; earlier ones are upcast to it.
  package static let version: UInt32 = 1

  /// The version of a payload that names a SHA-1 of a file; otherwise as ``version``.
  package static let fingerprintedVersion: UInt32 = 2

  /// The version of a payload that names the metadata of an asset; otherwise as ``fingerprintedVersion``.
  package static let describedVersion: UInt32 = 3

  /// The version of a payload that names the stack of an asset; otherwise as ``describedVersion``.
  package static let stackedVersion: UInt32 = 4

  /// The version of an edit of a client that names the album which its selection follows.
  package static let followingVersion: UInt32 = 2

  /// The version of an edit of a collection that names a cover.
  package static let coverVersion: UInt32 = 2

  /// The version of a pick of which something is left out.
  package static let withholdingVersion: UInt32 = 2

  /// The version of the event's payload: it follows from what is in it, so equal events have equal bytes.
  package var version: UInt32 {
    let needed = { (details: AssetDetails) in
      if details.isDescribed { return Self.describedVersion }
      return details.resources.contains { $0.sha1 != nil } ? Self.fingerprintedVersion : Self.version
    }
    if case .clientEdited(let edited) = self, edited.followedAlbum != nil { return Self.followingVersion }
    if case .collectionEdited(let edited) = self, edited.namesCover { return Self.coverVersion }
    if case .pickRecorded(let row) = self, !row.withheld.isEmpty { return Self.withholdingVersion }
    return switch self {
    case .assetCreated(let existence), .assetPurged(let existence):
      existence.row.stack == nil ? needed(existence.details) : Self.stackedVersion
    case .assetsEdited(let edited):
      edited.edits.reduce(Self.version) { version, edit in
        if edit.changes.contains(where: { $0.field == .stack }) { return Self.stackedVersion }
        return edit.details.map { max(version, needed($0.old), needed($0.new)) } ?? version
      }
    default: Self.version
    }
  }

  /// The latest version of a type that this program knows.
  private static func latestVersion(of type: String) -> UInt32 {
    switch type {
    case "asset.created", "asset.purged", "asset.unmade", "asset.returned": stackedVersion
    case "client.edited": followingVersion
    case "collection.edited": coverVersion
    case "pick.recorded": withholdingVersion
    default: type.hasPrefix("assets.") ? stackedVersion : version
    }
  }

  /// What brings older versions up to this one, for every reader of the log; tests pass others.
  @TaskLocal package static var upcaster = EventUpcaster.published

  /// The payload's bytes.
  package func payload() -> [UInt8] { encoded().payload }

  /// The payload's bytes, and where in them the files and words of an asset lie that the event creates or purges.
  func encoded() -> (payload: [UInt8], details: Range<Int>?) {
    var fields = FieldWriter(capacity: 512)
    var details: Range<Int>?
    switch self {
    case .libraryCreated(let identifier, let date):
      fields.identifier(1, identifier)
      fields.date(2, date)
    case .assetCreated(let existence), .assetPurged(let existence):
      fields.fields(1) { existence.row.write(to: &$0) }
      details = fields.fields(2) { existence.details.write(to: &$0) }
      if !existence.places.isEmpty {
        fields.list(3, existence.places) { writer, place in
          writer.array(2)
          writer.unsigned(place.container)
          writer.unsigned(place.key.rawValue)
        }
      }
    case .assetsEdited(let edited):
      fields.list(1, edited.edits) { $1.write(to: &$0) }
      if !edited.shifts.isEmpty { fields.list(2, edited.shifts) { $1.write(to: &$0) } }
    case .collectionCreated(let existence), .collectionErased(let existence):
      fields.unsigned(0, existence.row.number)
      fields.raw(1, existence.row.encoded())
      fields.unsigned(2, existence.key.rawValue)
    case .collectionEdited(let edited):
      fields.unsigned(1, edited.number)
      for property in CollectionProperty.edited { property.log.write(edited, &fields) }
    case .arranged(let arranged):
      fields.unsigned(1, arranged.container)
      fields.list(2, arranged.places) { writer, place in
        writer.array(3)
        writer.unsigned(place.child)
        writer.key(place.old)
        writer.key(place.new)
      }
      if arranged.countShift != 0 { fields.integer(3, Int64(arranged.countShift)) }
      if let date = arranged.modificationDate { fields.pair(4, date) { $0.double($1.timeIntervalSinceReferenceDate) } }
      if arranged.creatorShift != 0 { fields.integer(5, Int64(arranged.creatorShift)) }
      if let date = arranged.creatorDate { fields.pair(6, date) { $0.double($1.timeIntervalSinceReferenceDate) } }
      if !arranged.shifts.isEmpty { fields.list(7, arranged.shifts) { $1.write(to: &$0) } }
    case .clientRegistered(let row), .clientErased(let row):
      fields.unsigned(0, row.number)
      fields.raw(1, row.encoded())
    case .clientEdited(let edited): edited.write(to: &fields)
    case .pickRecorded(let row), .pickErased(let row):
      fields.unsigned(0, row.number)
      fields.raw(1, row.encoded())
    case .historyShortened(let kept): fields.pair(1, kept) { $0.unsigned($1) }
    case .assetErased(let erased): erased.write(to: &fields)
    case .libraryForked(let fork): fork.write(to: &fields)
    case .nothingChanged: break
    }
    return (fields.finish(), details)
  }

  /// Reads an event.
  /// - Parameters:
  ///   - type: its type's name.
  ///   - version: the version of its payload's format.
  ///   - sequence: its place in the log; the number of an object that it creates.
  ///   - payload: its bytes.
  /// - Throws: ``LibraryError`` `.newerThanProgram` for a type or version that this program does not know,
  ///   `.corrupted` for bytes that make no event.
  package init(type: String, version: UInt32, sequence: UInt64, payload: RawSpan) throws {
    // Every type has the first version.
    guard version <= Self.version || version <= Self.latestVersion(of: type) else {
      throw LibraryError(
        .newerThanProgram,
        "Event \(sequence) is of version \(version) of the type \(type), which needs a newer PhotoLedger.")
    }
    do {
      guard version < Self.version else {
        self = try Self.readAnyForm(type, sequence, payload)
        guard self.version == version else {
          throw EventCodingError(sentence: "its contents are of version \(self.version), not \(version).")
        }
        return
      }
      let old = VersionedEvent(type: type, version: version, payload: try CBOR(decoding: payload))
      let event = try Self.upcaster.upcast(Self.upcaster.reshaped(old) ?? old, to: Self.version)
      self = try Self.read(event.type, sequence, event.payload.encoded.span.bytes)
    } catch let error as EventUpcastError {
      throw LibraryError(.corrupted, "Event \(sequence) (\(type)) cannot be upcast: \(error.reason).")
    } catch let error as CBORError {
      throw LibraryError(.corrupted, "The payload of event \(sequence) (\(type)) cannot be read: \(error)")
    } catch let error as EventCodingError {
      throw LibraryError(.corrupted, "The payload of event \(sequence) (\(type)) is invalid: \(error.sentence)")
    }
  }

  /// Reads a payload of the current version; a rejected one is tried once more as an earlier form.
  private static func readAnyForm(_ type: String, _ sequence: UInt64, _ payload: RawSpan) throws -> Event {
    do {
      return try read(type, sequence, payload)
    } catch  where error is CBORError || error is EventCodingError {
      let written = VersionedEvent(type: type, version: version, payload: try CBOR(decoding: payload))
      guard let event = upcaster.reshaped(written) else { throw error }
      return try read(event.type, sequence, event.payload.encoded.span.bytes)
    }
  }

  private static func read(_ type: String, _ sequence: UInt64, _ payload: RawSpan) throws -> Event {
    switch type {
    case "library.created": return try readLibrary(payload)
    case "asset.created": return .assetCreated(try AssetExistence(number: sequence, payload))
    case "asset.purged": return .assetPurged(try AssetExistence(number: nil, payload))
    case "asset.unmade": return .assetPurged(try AssetExistence(number: nil, payload).byUndo)
    case "asset.returned": return .assetCreated(try AssetExistence(number: nil, payload).byUndo)
    case "collection.created": return .collectionCreated(try CollectionExistence(number: sequence, payload))
    case "collection.erased": return .collectionErased(try CollectionExistence(number: nil, payload))
    case "collection.edited": return .collectionEdited(try CollectionEdited(payload))
    case "client.registered": return .clientRegistered(try readClient(number: sequence, payload))
    case "client.erased": return .clientErased(try readClient(number: nil, payload))
    case "client.edited": return .clientEdited(try ClientEdited(payload))
    case "pick.recorded": return .pickRecorded(try readPick(number: sequence, payload))
    case "pick.erased": return .pickErased(try readPick(number: nil, payload))
    case "history.shortened": return .historyShortened(try readShortening(payload))
    case "asset.erased": return .assetErased(try AssetErased(payload))
    case "library.forked": return .libraryForked(try LibraryFork(payload))
    case "nothing.changed":
      try payload.forEachField { _, key in throw EventCodingError(sentence: "unknown field \(key).") }
      return .nothingChanged
    default: break
    }
    if type.hasPrefix("assets."), let verb = AssetsEdited.Verb(rawValue: String(type.dropFirst(7))) {
      return .assetsEdited(try AssetsEdited(verb, payload))
    }
    if let dot = type.firstIndex(of: "."), let verb = Arranged.Verb(rawValue: String(type[dot...].dropFirst())),
      type.hasPrefix(verb.isAboutAccess ? "selection." : "content.")
    {
      return .arranged(try Arranged(verb, payload))
    }
    throw LibraryError(
      .newerThanProgram, "Event \(sequence) is of the type \(type), which needs a newer PhotoLedger.")
  }

  private static func readLibrary(_ payload: RawSpan) throws -> Event {
    var identifier: LocalIdentifier?
    var date: Date?
    try payload.forEachField { reader, key in
      switch key {
      case 1: identifier = try reader.identifier()
      case 2: date = try reader.date()
      default: throw EventCodingError(sentence: "unknown field \(key).")
      }
    }
    return .libraryCreated(identifier: try required(identifier, "identifier"), date: try required(date, "date"))
  }

  private static func readShortening(_ payload: RawSpan) throws -> Replacement<UInt64> {
    var kept: Replacement<UInt64>?
    try payload.forEachField { reader, key in
      guard key == 1 else { throw EventCodingError(sentence: "unknown field \(key).") }
      kept = try reader.pair { try $0.place() }
    }
    return try required(kept, "first commit")
  }

  private static func readClient(number: ObjectNumber?, _ payload: RawSpan) throws -> ClientRow {
    try numbered(number, payload) { try ClientRow(number: $0, reading: $1) }
  }

  private static func readPick(number: ObjectNumber?, _ payload: RawSpan) throws -> PickRow {
    try numbered(number, payload) { try PickRow(number: $0, reading: $1) }
  }

  /// Reads a payload of a number and a row.
  /// - Parameter expected: the number that the row must have; nil: any.
  private static func numbered<Row>(
    _ expected: ObjectNumber?, _ payload: RawSpan, _ read: (ObjectNumber, RawSpan) throws -> Row
  ) throws -> Row {
    var number: ObjectNumber?
    var row: Row?
    try payload.forEachField { reader, key in
      switch key {
      case 0: number = try checked(reader.place(), expecting: expected)
      case 1: row = try read(try required(number, "number"), reader.skip())
      default: throw EventCodingError(sentence: "unknown field \(key).")
      }
    }
    return try required(row, "row")
  }
}

func required<Value>(_ value: Value?, _ name: String) throws -> Value {
  guard let value else { throw EventCodingError(sentence: "the \(name) is missing.") }
  return value
}

extension AssetExistence {
  /// The same, as an undo's doing.
  fileprivate var byUndo: AssetExistence {
    var existence = self
    existence.isByUndo = true
    return existence
  }

  fileprivate init(number: ObjectNumber?, _ payload: RawSpan) throws {
    var row: AssetRow?
    var details: AssetDetails?
    var places: [ContainerPlace] = []
    try payload.forEachField { reader, key in
      switch key {
      case 1: row = try AssetRow(number: number, reading: &reader)
      case 2: details = try AssetDetails(reading: &reader)
      case 3:
        for _ in 0..<(try reader.array()) {
          try reader.array(count: 2)
          places.append(
            ContainerPlace(container: try reader.place(), key: try reader.presentOrderKey()))
        }
      default: throw EventCodingError(sentence: "unknown field \(key).")
      }
    }
    self.init(row: try required(row, "row"), details: try required(details, "resources"), places: places)
  }
}

extension CollectionExistence {
  fileprivate init(number expected: ObjectNumber?, _ payload: RawSpan) throws {
    var number: ObjectNumber?
    var row: CollectionRow?
    var key: OrderKey?
    try payload.forEachField { reader, field in
      switch field {
      case 0: number = try checked(reader.place(), expecting: expected)
      case 1: row = try CollectionRow(number: try required(number, "number"), reading: reader.skip())
      case 2: key = try reader.presentOrderKey()
      default: throw EventCodingError(sentence: "unknown field \(field).")
      }
    }
    self.init(row: try required(row, "row"), key: try required(key, "order key"))
  }
}

extension AssetsEdited {
  fileprivate init(_ verb: Verb, _ payload: RawSpan) throws {
    var edits: [AssetEdit] = []
    var shifts: [CountShift] = []
    try payload.forEachField { reader, key in
      switch key {
      case 1: for _ in 0..<(try reader.array()) { edits.append(try AssetEdit(reading: &reader)) }
      case 2: for _ in 0..<(try reader.array()) { shifts.append(try CountShift(reading: &reader)) }
      default: throw EventCodingError(sentence: "unknown field \(key).")
      }
    }
    self.init(verb: verb, edits: edits, shifts: shifts)
  }
}

extension CountShift {
  /// An array: album, shift and, unless it is 0, the shift for the album's creator.
  fileprivate func write(to writer: inout CBORWriter) {
    writer.array(byCreator == 0 ? 2 : 3)
    writer.unsigned(album)
    writer.integer(Int64(by))
    if byCreator != 0 { writer.integer(Int64(byCreator)) }
  }

  fileprivate init(reading reader: inout CBORReader) throws {
    let count = try reader.array()
    guard count == 2 || count == 3 else { throw EventCodingError(sentence: "a count shift has \(count) parts.") }
    self.init(album: try reader.place(), by: try reader.count(ObjectCount.shift))
    if count == 3 { byCreator = try reader.count(ObjectCount.shift) }
  }
}

extension AssetEdit {
  /// An array: number, changes [field, old, new] …; then, if they changed, the details before and after.
  fileprivate func write(to writer: inout CBORWriter) {
    writer.array(changesDetails ? 4 : 2)
    writer.unsigned(number)
    writer.array(changes.count)
    for change in changes {
      writer.array(3)
      writer.unsigned(UInt64(change.field.rawValue))
      change.old.write(to: &writer)
      change.new.write(to: &writer)
    }
    guard let details else { return }
    writer.raw(details.old.encoded().span.bytes)
    writer.raw(details.new.encoded().span.bytes)
  }

  fileprivate init(reading reader: inout CBORReader) throws {
    let count = try reader.array()
    guard count == 2 || count == 4 else { throw EventCodingError(sentence: "an edit has \(count) parts.") }
    self.init(number: try reader.place(), changes: [])
    for _ in 0..<(try reader.array()) {
      try reader.array(count: 3)
      let raw = try reader.unsigned()
      guard let field = UInt8(exactly: raw).flatMap(AssetField.init(rawValue:)) else {
        throw EventCodingError(sentence: "unknown property \(raw).")
      }
      let old = try FieldValue(reading: &reader)
      changes.append(AssetChange(field: field, old: old, new: try FieldValue(reading: &reader)))
    }
    guard count == 4 else { return }
    let old = try AssetDetails(reading: &reader)
    details = Replacement(old: old, new: try AssetDetails(reading: &reader))
  }
}

extension CollectionEdited {
  fileprivate init(_ payload: RawSpan) throws {
    var number: ObjectNumber?
    var edited = CollectionEdited(number: 0)
    try payload.forEachField { reader, key in
      if key == 1 { return number = try reader.place() }
      guard let property = CollectionProperty.edited.first(where: { $0.log.number == key }) else {
        throw EventCodingError(sentence: "unknown field \(key).")
      }
      try property.log.read(&reader, &edited)
    }
    self = edited
    self.number = try required(number, "number")
  }
}

extension Arranged {
  fileprivate init(_ verb: Verb, _ payload: RawSpan) throws {
    var container: ObjectNumber?
    var places: [Place] = []
    var arranged = Arranged(verb: verb, container: 0, places: [])
    try payload.forEachField { reader, key in
      switch key {
      case 1: container = try reader.place()
      case 2:
        for _ in 0..<(try reader.array()) {
          try reader.array(count: 3)
          places.append(Place(child: try reader.place(), old: try reader.orderKey(), new: try reader.orderKey()))
        }
      case 3: arranged.countShift = try reader.count(ObjectCount.shift)
      case 4: arranged.modificationDate = try reader.pair { try $0.date() }
      case 5: arranged.creatorShift = try reader.count(ObjectCount.shift)
      case 6: arranged.creatorDate = try reader.pair { try $0.date() }
      case 7: for _ in 0..<(try reader.array()) { arranged.shifts.append(try CountShift(reading: &reader)) }
      default: throw EventCodingError(sentence: "unknown field \(key).")
      }
    }
    self = arranged
    self.container = try required(container, "container")
    self.places = places
    if verb == .rekeyed { try checkRekeying() }
  }

  /// A rekeying keeps the order of the members, and leaves room before the first and after the last one. The mapping of
  /// earlier keys (Rekeyings.swift) counts on both.
  private func checkRekeying() throws {
    let room = OrderKey.roomAfterRekey
    var last = (old: UInt64(0), new: room - 1)
    for place in places {
      guard let old = place.old?.rawValue, let new = place.new?.rawValue, old > last.old, new > last.new,
        new <= UInt64.max - room
      else {
        throw EventCodingError(sentence: "the new order keys do not keep the order, or leave no room around it.")
      }
      last = (old, new)
    }
  }
}

extension FieldValue {
  fileprivate func write(to writer: inout CBORWriter) {
    switch self {
    case .null: writer.null()
    case .bool(let value): writer.bool(value)
    case .integer(let value): writer.integer(value)
    case .double(let value): writer.double(value)
    case .place(let location): location.write(to: &writer)
    case .identifier(let identifier): writer.identifier(identifier)
    }
  }

  fileprivate init(reading reader: inout CBORReader) throws {
    switch try reader.kind() {
    case .bool: self = .bool(try reader.bool())
    case .unsigned, .negative: self = .integer(try reader.integer())
    case .double: self = .double(try reader.double())
    case .array: self = .place(try Location(reading: &reader))
    case .bytes: self = .identifier(try reader.identifier())
    case .null:
      guard try reader.isNull() else { throw EventCodingError(sentence: "a value is missing.") }
      self = .null
    default: throw EventCodingError(sentence: "a value is of the wrong kind.")
    }
  }
}
