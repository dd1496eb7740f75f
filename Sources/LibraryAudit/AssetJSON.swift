import Foundation
package import PhotoLedger

// An asset as JSON: its properties by the table in AssetProperties.swift, then its files.
//
// Assets that follow one another are much alike: of 37 properties six or so differ. So a writer of many lines keeps the
// row of the line before and where the text of each property begins. What depends on bytes that are the same in both
// rows is copied from that line, in runs:
//
//     line before   {"localIdentifier":"8A…","mediaType":"image", … "creationDate":"…","localCreationDate":null, …
//                                            └── same bytes of the row ──┐           └── same, and so on ──┐
//     this line     {"localIdentifier":"C9…",        one copy            "creationDate":"…",   one copy
//
// The log's lines of creations do the same with the fields of the row that was recorded.
//
// Invariant: a line is what `JSONBytes.write(_:_:_:_:)` writes. It holds for every property whose form says on which
// bytes of the row its text depends.
//
// Rejected: a text kept for each value of a property. Looking it up costs as much as writing it.

extension JSONBytes {
  /// Writes an asset with its resources and the words about it.
  /// - Parameter members: writes what else the object has, after all of that.
  package mutating func write(
    _ asset: Asset, _ resources: [AssetResource], _ metadata: ExtendedMetadata,
    _ members: (inout JSONBytes) throws -> Void = { _ in }
  ) rethrows {
    beginObject()
    for property in AssetProperty.printed { write(property, of: asset, metadata) }
    write(resources)
    try members(&self)
    endObject()
  }

  fileprivate mutating func write(_ property: AssetProperty, of asset: Asset, _ metadata: ExtendedMetadata) {
    key(property.key)
    write(property.form, of: asset, metadata)
  }

  fileprivate mutating func write(_ resources: [AssetResource]) {
    key("resources")
    beginList()
    for resource in resources {
      beginObject()
      writeMembers(of: resource)
      endObject()
    }
    endList()
  }

  fileprivate mutating func write(_ form: AssetProperty.Form, of asset: Asset, _ metadata: ExtendedMetadata) {
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
    case .wallTime: if let date { quoted { $0.wallTime(date) } } else { null() }
    }
  }

  private mutating func instant(_ date: Date?, offset: Int? = nil) {
    if let date { quoted { $0.instant(date, offset: offset) } } else { null() }
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

  /// Writes the members of a file of an asset.
  package mutating func writeMembers(of resource: AssetResource) {
    key("type")
    text(resource.type.name)
    key("originalFilename")
    text(resource.originalFilename)
    key("uniformTypeIdentifier")
    text(resource.uniformTypeIdentifier)
    key("dataSize")
    integer(Int64(clamping: resource.dataSize))
    key("sha256")
    hexadecimalDigits(of: resource.sha256)
    if let sha1 = resource.sha1 {
      key("sha1")
      hexadecimalDigits(of: sha1)
    }
  }
}

/// Writes assets one after another, each as a line.
package struct AssetLines: Sendable {
  private var texts = RowTexts()

  private static let properties = AssetProperty.printed
  private static let dependencies = properties.map(\.form.dependency)

  /// A writer that has written nothing yet.
  package init() {}

  /// Writes an asset and a line end, after the line of the asset before, if there is one.
  package mutating func write(_ asset: Asset, _ details: AssetDetails, to bytes: inout JSONBytes) {
    let isPlain = asset.row.burstIdentifier == nil && details.isPlain
    let changed = texts.begin(asset.row, isPlain)
    bytes.beginObject()
    let metadata = changed & RowDependency.outside == 0 ? ExtendedMetadata.none : ExtendedMetadata(details)
    texts.write(changed, Self.dependencies, to: &bytes) { index, bytes in
      bytes.write(Self.properties[index], of: asset, metadata)
    }
    bytes.write(details.resources)
    bytes.endObject()
    bytes.endLine()
  }
}

/// The texts of a row, of which those that depend on the same bytes as in the row before are copied.
struct RowTexts: Sendable {
  /// The words of the row before.
  private var words = AssetRow.blank
  /// Whether the one before had no words beside the row.
  private var wasPlain = false
  /// Where each text of the row before begins, and where the last one ends.
  private var places: [Int] = []

  /// The texts of no row yet.
  init() {}

  /// Takes a row for the next one.
  /// - Returns: which words of the row differ from the one before, and whether something beside the row may.
  mutating func begin(_ row: AssetRow, _ isPlain: Bool) -> UInt32 {
    defer { (words, wasPlain) = (row.fixed, isPlain) }
    guard !places.isEmpty else { return .max }
    var changed = isPlain && wasPlain ? 0 : RowDependency.outside
    for word in words.indices where words[word] != row.fixed[word] { changed |= 1 << UInt32(word) }
    return changed
  }

  /// Writes what depends on changed words, and copies the rest.
  /// - Parameters:
  ///   - dependencies: the words of the row that each text depends on.
  ///   - write: writes a text.
  @inline(__always)
  mutating func write(
    _ changed: UInt32, _ dependencies: [UInt32], to bytes: inout JSONBytes, _ write: (Int, inout JSONBytes) -> Void
  ) {
    if places.isEmpty { places = Array(repeating: 0, count: dependencies.count + 1) }
    var index = 0
    while index < dependencies.count {
      guard dependencies[index] & changed == 0 else {
        places[index] = bytes.count
        write(index, &bytes)
        index += 1
        continue
      }
      let (first, shift) = (places[index], bytes.count - places[index])
      repeat {
        places[index] += shift
        index += 1
      } while index < dependencies.count && dependencies[index] & changed == 0
      bytes.again(first..<places[index])
    }
    places[index] = bytes.count
  }
}

/// The words of a row that the text of a property depends on, a bit for each.
enum RowDependency {
  /// What the row does not hold, and what lies after its words.
  static let outside: UInt32 = 1 << 31

  static func word(at place: Int) -> UInt32 { 1 << UInt32(place / 8) }
}

extension AssetProperty.Form {
  /// The words of a row that the text of a property of this form depends on.
  var dependency: UInt32 {
    typealias Layout = AssetRow.Layout
    func words(_ places: Int...) -> UInt32 { places.reduce(0) { $0 | RowDependency.word(at: $1) } }
    switch self {
    case .identifier: return words(Layout.identifier, Layout.identifier + 8)
    case .flag, .clearFlag, .flags: return words(Layout.flags)
    case .choice(let place, _), .isChosen(let place), .bits(let place, _), .size(let place), .seconds(let place),
      .coordinate(let place), .isPresent(let place):
      return words(place)
    case .zoneOffset: return words(Layout.timeZoneOffset)
    case .date(let place, _): return words(place, Layout.timeZoneOffset)
    case .location: return words(Layout.latitude, Layout.longitude, Layout.altitude)
    case .stack: return words(Layout.stack, Layout.stack + 8)
    case .isBeneathStack: return words(Layout.stack, Layout.stack + 8, Layout.identifier, Layout.identifier + 8)
    case .burst, .text, .texts, .measure, .record: return RowDependency.outside
    }
  }
}

extension AssetDetails {
  /// Whether nothing is said of the asset beside its row and its files.
  fileprivate var isPlain: Bool {
    caption == nil && keywords.isEmpty && adjustment == nil && origin == nil && unedited == nil && !isDescribed
  }
}

extension ExtendedMetadata {
  /// No words.
  fileprivate static let none = ExtendedMetadata(AssetDetails())
}
