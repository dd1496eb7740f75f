import Foundation
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
  /// - Parameter members: writes what else the object has, behind all of that.
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

  /// Writes an asset with its resources and the words about it.
  /// - Parameter members: writes what else the object has, behind all of that.
  package mutating func write(
    _ asset: Asset, _ resources: [AssetResource], _ metadata: ExtendedMetadata,
    _ members: (inout JSONBytes) throws -> Void = { _ in }
  ) rethrows {
    beginObject()
    for property in AssetProperty.printed {
      key(property.key)
      write(property.form, of: asset, metadata)
    }
    key("resources")
    beginList()
    for resource in resources { write(resource) }
    endList()
    try members(&self)
    endObject()
  }

  private mutating func write(_ form: AssetProperty.Form, of asset: Asset, _ metadata: ExtendedMetadata) {
    let row = asset.row
    switch form {
    case .identifier: identifier(asset.id, of: .asset)
    case .flag(let flag): bool(row.flags.contains(flag))
    case .clearFlag(let flag): bool(!row.flags.contains(flag))
    case .flags: integer(UInt64(row.flags.rawValue))
    case .choice(let place, let names):
      let number = Int64(row.byte(place))
      if names.isNumberInJSON { integer(number) } else { text(names.name(of: number)) }
    case .isChosen(let place): bool(row.byte(place) != 0)
    case .bits(let place, let names):
      let bits = row.bits(at: place, names)
      list(bits == 0 ? [] : names.names(bits))
    case .size(let place): integer(UInt64(row.word(place)))
    case .seconds(let place), .coordinate(let place): number(row.seconds(place))
    case .zoneOffset: if let offset = row.timeZoneOffset { integer(Int64(offset)) } else { null() }
    case .date(let place, let clock): write(row.date(place), clock, offset: asset.timeZoneOffset)
    case .isPresent(let place): bool(row.date(place) != nil)
    case .location: write(row.location)
    case .burst: text(row.burstIdentifier)
    case .stack: if let stack = row.stack { identifier(stack, of: .asset) } else { null() }
    case .isBeneathStack: bool(row.isBeneathStack)
    case .text(let read): text(read(metadata))
    case .texts(let read): list(read(metadata))
    case .measure(let read): if let value = read(metadata) { number(value) } else { null() }
    case .record(let read): write(read(metadata) ?? .null)
    }
  }

  private mutating func write(_ date: Date?, _ clock: AssetProperty.Clock, offset: Int?) {
    switch clock {
    case .instant: instant(date)
    case .zoned: instant(date, offset: offset)
    case .wallTime: if let date { quoted { DateText.writeWallTime(date, to: &$0) } } else { null() }
    }
  }

  private mutating func instant(_ date: Date?, offset: Int? = nil) {
    if let date { quoted { DateText.write(date, offset: offset, to: &$0) } } else { null() }
  }

  private mutating func list(_ texts: [String]) {
    beginList()
    for text in texts { self.text(text) }
    endList()
  }

  /// Writes a place on Earth, or null.
  private mutating func write(_ location: Location?) {
    guard let location else { return null() }
    beginObject()
    key("latitude")
    number(location.latitude)
    key("longitude")
    number(location.longitude)
    key("altitude")
    if let altitude = location.altitude { number(altitude) } else { null() }
    endObject()
  }

  /// Writes a file of an asset, and what else is to be said of it, before that and behind it.
  package mutating func write(
    _ resource: AssetResource, after first: [JSON.Member] = [], before last: [JSON.Member] = []
  ) {
    beginObject()
    for member in first { member.write(to: &self) }
    key("type")
    text(resource.type.name)
    key("originalFilename")
    text(resource.originalFilename)
    key("uniformTypeIdentifier")
    text(resource.uniformTypeIdentifier)
    key("dataSize")
    integer(Int64(clamping: resource.dataSize))
    key("sha256")
    resource.sha256.withUnsafeBytes { hexadecimalText($0) }
    if let sha1 = resource.sha1 {
      key("sha1")
      sha1.withUnsafeBytes { hexadecimalText($0) }
    }
    for member in last { member.write(to: &self) }
    endObject()
  }

  /// Writes a value of the log.
  package mutating func write(_ value: LogValue) {
    switch value {
    case .null: null()
    case .bool(let value): bool(value)
    case .integer(let value): integer(value)
    case .double(let value): number(value)
    case .text(let value): text(value)
    case .date(let value): instant(value)
    case .list(let values):
      beginList()
      for value in values { write(value) }
      endList()
    case .object(let fields):
      beginObject()
      for field in fields {
        key(field.name)
        write(field.value)
      }
      endObject()
    }
  }
}

extension JSON {
  /// A file of an asset, and what else is to be said of it, before that and behind it.
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
    case .noDate: self = .null
    case .text(let read): self = JSON(read(row))
    case .count(let read): self = read(row).map { .integer(Int64($0)) } ?? .null
    case .kind(_, let name): self = .text(name(row))
    case .optionalKind(_, let name): self = JSON(name(row))
    case .bool(let read): self = .bool(read(row))
    case .asset(let read): self = JSON(read(row)?.spelled(as: .asset))
    }
  }

  /// A value of the log.
  package init(_ value: LogValue) {
    var bytes = JSONBytes()
    bytes.write(value)
    self = .written(bytes.text())
  }
}
