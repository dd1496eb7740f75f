import EventLog

// What the files of an asset say about it: title, people, camera, exposure, with the source of each value.
//
//     file, sidecar, record ── import ──▶ AssetMetadata      what they said; only reading them again replaces it
//                                  └────▶ caption, keywords, rating, dates, place: begin with it, and are edited
//
// The two are apart, so an edit outranks the files for ever: a reading that finds other words replaces the metadata and
// never what a person edited. It is a part of `AssetDetails`, in the table of details, which fetches by properties do
// not read.
//
// Everything here comes from outside. `bounded()` makes metadata that the model accepts of any: it drops numbers that
// no camera has, removes control characters, and cuts lists. A request or an event with values beyond the bounds is
// rejected. The bounds keep the metadata of an asset below 256 KiB.
//
// Rejected: metadata in the row of an asset, which every scan would read; an event of its own beside the creation,
// since then an asset would exist for a moment without what its file says; the words of the file in `caption` alone,
// since then an edit would leave nothing to return to.

/// What the files of an asset, and sidecars beside them, say about it; no counterpart in PhotoKit.
///
/// Recorded when an asset is created; edits of captions, keywords, ratings, dates and places do not change it.
public struct AssetMetadata: Hashable, Sendable {
  /// The title.
  public var title: String?
  /// The description.
  public var caption: String?
  /// The keywords, in the order of the file.
  public var keywords: [String] = []
  /// Keywords with the ones above them, each as a path such as `Places|Europe|Zürich`.
  public var hierarchicalKeywords: [String] = []
  /// The names of the people shown.
  public var people: [String] = []
  /// 0 to 5 stars, or −1 for rejected.
  public var rating: Int?
  /// The notice of copyright.
  public var copyright: String?
  /// Who made the picture.
  public var creators: [String] = []
  /// The maker of the camera.
  public var cameraMake: String?
  /// The model of the camera.
  public var cameraModel: String?
  /// The lens.
  public var lens: String?
  /// The focal length in millimetres.
  public var focalLength: Double?
  /// The aperture as its f-number.
  public var aperture: Double?
  /// The exposure time in seconds.
  public var exposureTime: Double?
  /// The sensitivity by ISO 12232.
  public var iso: Int?
  /// Whether the flash fired.
  public var flashFired: Bool?
  /// The program that wrote the file last.
  public var software: String?
  /// The source of each value that is not from the file itself, by the name that the value has in JSON, such as
  /// `caption` and `xmp`. Dates and places are named too.
  public var sources: [String: String] = [:]

  /// Says nothing yet.
  public init() {}

  /// Whether both say the same, texts by their bytes: two spellings that Unicode takes for one text are two texts, as
  /// they are in the library's store.
  public static func == (one: AssetMetadata, other: AssetMetadata) -> Bool {
    guard one.rating == other.rating, one.iso == other.iso, one.flashFired == other.flashFired,
      one.focalLength == other.focalLength, one.aperture == other.aperture, one.exposureTime == other.exposureTime,
      one.title?.exact == other.title?.exact, one.caption?.exact == other.caption?.exact,
      one.copyright?.exact == other.copyright?.exact, one.cameraMake?.exact == other.cameraMake?.exact,
      one.cameraModel?.exact == other.cameraModel?.exact, one.lens?.exact == other.lens?.exact,
      one.software?.exact == other.software?.exact
    else { return false }
    guard areSame(one.keywords, other.keywords), areSame(one.hierarchicalKeywords, other.hierarchicalKeywords),
      areSame(one.people, other.people), areSame(one.creators, other.creators),
      one.sources.count == other.sources.count
    else { return false }
    return one.sources.allSatisfy { name, source in
      guard let place = other.sources.index(forKey: name) else { return false }
      return other.sources[place].key.exact == name.exact && other.sources[place].value.exact == source.exact
    }
  }

  private static func areSame(_ texts: [String], _ others: [String]) -> Bool {
    texts.elementsEqual(others) { $0.exact == $1.exact }
  }

  /// Whether nothing is said.
  public var isEmpty: Bool { self == AssetMetadata() }
}

extension AssetMetadata {
  /// The bounds of what the model accepts.
  private enum Bounds {
    static let title = 4096
    static let text = 65_536
    static let name = 256
    static let path = 1024
    static let count = 256
    static let sourceCount = 32
    static let ratings = -1...5
    static let sensitivities = 1...(1 << 32)
    /// From what a microscope needs to what a telescope has.
    static let measures = 1e-9...1e9
  }

  /// The metadata as the model accepts them: without control characters, impossible numbers and what is too long.
  public func bounded() -> AssetMetadata {
    var result = self
    result.title = Self.line(title, Bounds.title)
    result.caption = Self.text(caption)
    result.keywords = Self.lines(keywords, Bounds.name)
    result.hierarchicalKeywords = Self.lines(hierarchicalKeywords, Bounds.path)
    result.people = Self.lines(people, Bounds.name)
    result.rating = rating.flatMap { Bounds.ratings.contains($0) ? $0 : nil }
    result.copyright = Self.line(copyright, Bounds.title)
    result.creators = Self.lines(creators, Bounds.name)
    result.cameraMake = Self.line(cameraMake, Bounds.name)
    result.cameraModel = Self.line(cameraModel, Bounds.name)
    result.lens = Self.line(lens, Bounds.name)
    result.focalLength = Self.measure(focalLength)
    result.aperture = Self.measure(aperture)
    result.exposureTime = Self.measure(exposureTime)
    result.iso = iso.flatMap { Bounds.sensitivities.contains($0) ? $0 : nil }
    result.software = Self.line(software, Bounds.name)
    let named = sources.sorted { $0.key < $1.key }.compactMap { name, source -> (String, String)? in
      guard let name = Self.line(name, Bounds.name), let source = Self.line(source, Bounds.name) else { return nil }
      return (name, source)
    }
    result.sources = Dictionary(named.prefix(Bounds.sourceCount)) { first, _ in first }
    return result
  }

  /// Whether the model accepts the metadata as they are.
  var isBounded: Bool { self == bounded() }

  private static func measure(_ value: Double?) -> Double? {
    value.flatMap { Bounds.measures.contains($0) ? $0 : nil }
  }

  private static func lines(_ texts: [String], _ byteCount: Int) -> [String] {
    var seen: Set<String> = []
    var kept: [String] = []
    for text in texts where kept.count < Bounds.count {
      if let line = line(text, byteCount), seen.insert(line).inserted { kept.append(line) }
    }
    return kept
  }

  /// A text of one line: control characters are blanks; nil if nothing is left, or if it is too long.
  private static func line(_ text: String?, _ byteCount: Int) -> String? {
    text.flatMap { cleaned($0, byteCount) { $0.isControl } }
  }

  /// A text of several lines.
  private static func text(_ text: String?) -> String? {
    text.flatMap { text in
      cleaned(text, Bounds.text) { $0.isControl && $0 != "\n" && $0 != "\t" }
    }
  }

  private static func cleaned(_ text: String, _ byteCount: Int, _ isDropped: (Unicode.Scalar) -> Bool) -> String? {
    guard text.utf8.count <= byteCount else { return nil }
    var scalars = Substring.UnicodeScalarView(text.unicodeScalars)
    if scalars.contains(where: isDropped) {
      scalars = Substring.UnicodeScalarView(scalars.map { isDropped($0) ? " " : $0 })
    }
    while let first = scalars.first, first.properties.isWhitespace { scalars.removeFirst() }
    while let last = scalars.last, last.properties.isWhitespace { scalars.removeLast() }
    return scalars.isEmpty ? nil : String(Substring(scalars))
  }
}

extension Unicode.Scalar {
  /// Whether the general category is that of control characters. Unicode never changes which they are, and each letter
  /// of a new asset's words is asked: a look-up in the tables would take longer.
  var isControl: Bool { value < 0x20 || (0x7F...0x9F).contains(value) }
}

// MARK: - Coding

extension AssetMetadata {
  /// Writes a map of what is said.
  func write(to fields: inout FieldWriter) {
    fields.ifSaid(1, title)
    fields.ifSaid(2, caption)
    fields.ifSaid(3, keywords)
    fields.ifSaid(4, hierarchicalKeywords)
    fields.ifSaid(5, people)
    if let rating { fields.integer(6, Int64(rating)) }
    fields.ifSaid(7, copyright)
    fields.ifSaid(8, creators)
    fields.ifSaid(9, cameraMake)
    fields.ifSaid(10, cameraModel)
    fields.ifSaid(11, lens)
    if let focalLength { fields.double(12, focalLength) }
    if let aperture { fields.double(13, aperture) }
    if let exposureTime { fields.double(14, exposureTime) }
    if let iso { fields.unsigned(15, UInt64(iso)) }
    if let flashFired { fields.unsigned(16, flashFired ? 1 : 0) }
    fields.ifSaid(17, software)
    let named = sources.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
    fields.ifSaid(18, named)
  }

  @_lifetime(reader: copy reader)
  init(reading reader: inout CBORReader) throws {
    var read = AssetMetadata()
    try reader.forEachField { reader, key in
      switch key {
      case 1: read.title = try reader.text()
      case 2: read.caption = try reader.text()
      case 3: read.keywords = try reader.texts()
      case 4: read.hierarchicalKeywords = try reader.texts()
      case 5: read.people = try reader.texts()
      case 6: read.rating = try reader.number(Int.self)
      case 7: read.copyright = try reader.text()
      case 8: read.creators = try reader.texts()
      case 9: read.cameraMake = try reader.text()
      case 10: read.cameraModel = try reader.text()
      case 11: read.lens = try reader.text()
      case 12: read.focalLength = try reader.double()
      case 13: read.aperture = try reader.double()
      case 14: read.exposureTime = try reader.double()
      case 15: read.iso = try reader.number(Int.self)
      case 16: read.flashFired = try reader.number(UInt8.self) != 0
      case 17: read.software = try reader.text()
      case 18: read.sources = try reader.pairs()
      default: throw EventCodingError(sentence: "unknown property \(key) of an asset's metadata.")
      }
    }
    guard !read.isEmpty else { throw EventCodingError(sentence: "an asset's metadata are empty.") }
    guard read.hasPossibleNumbers else {
      throw EventCodingError(sentence: "an asset's metadata have a number out of range.")
    }
    self = read
  }

  /// Whether the numbers are ones that a request can set, and always could: a log from outside may have others, which
  /// cannot be written again.
  var hasPossibleNumbers: Bool {
    [focalLength, aperture, exposureTime].allSatisfy { $0.map(Bounds.measures.contains) ?? true }
      && rating.map(Bounds.ratings.contains) ?? true && iso.map(Bounds.sensitivities.contains) ?? true
  }
}

extension FieldWriter {
  fileprivate mutating func ifSaid(_ key: UInt64, _ value: String?) { if let value { text(key, value) } }

  fileprivate mutating func ifSaid(_ key: UInt64, _ values: [String]) {
    if !values.isEmpty { list(key, values) { $0.text($1) } }
  }
}

extension CBORReader {
  @_lifetime(self: copy self)
  fileprivate mutating func texts() throws -> [String] {
    var texts: [String] = []
    for _ in 0..<(try array()) { texts.append(try text()) }
    return texts
  }

  /// Names and values in turns, ascending by name.
  @_lifetime(self: copy self)
  fileprivate mutating func pairs() throws -> [String: String] {
    let texts = try texts()
    var pairs: [String: String] = [:]
    guard texts.count % 2 == 0 else { throw EventCodingError(sentence: "a source of metadata is missing.") }
    for index in stride(from: 0, to: texts.count, by: 2) {
      guard index == 0 || texts[index - 2] < texts[index] else {
        throw EventCodingError(sentence: "the sources of metadata are out of order.")
      }
      pairs[texts[index]] = texts[index + 1]
    }
    return pairs
  }
}

// MARK: - The log and JSON

extension AssetMetadata {
  /// Writes an object of what is said, by its name in JSON.
  func write(to writer: inout some RecordWriter & ~Copyable) {
    writer.beginObject()
    writer.ifSaid("title", title)
    writer.ifSaid("caption", caption)
    writer.ifSaid("keywords", keywords)
    writer.ifSaid("hierarchicalKeywords", hierarchicalKeywords)
    writer.ifSaid("people", people)
    if let rating { writer.field("rating") { $0.integer(Int64(rating)) } }
    writer.ifSaid("copyright", copyright)
    writer.ifSaid("creators", creators)
    writer.ifSaid("cameraMake", cameraMake)
    writer.ifSaid("cameraModel", cameraModel)
    writer.ifSaid("lens", lens)
    if let focalLength { writer.field("focalLength") { $0.double(focalLength) } }
    if let aperture { writer.field("aperture") { $0.double(aperture) } }
    if let exposureTime { writer.field("exposureTime") { $0.double(exposureTime) } }
    if let iso { writer.field("iso") { $0.integer(Int64(iso)) } }
    if let flashFired { writer.field("flashFired") { $0.bool(flashFired) } }
    writer.ifSaid("software", software)
    if !sources.isEmpty {
      writer.field("sources") { writer in
        writer.beginObject()
        for (name, source) in sources.sorted(by: { $0.key < $1.key }) {
          writer.key(name)
          writer.text(source)
        }
        writer.endObject()
      }
    }
    writer.endObject()
  }

  /// What is said, by its name in JSON and in the order there.
  package var fields: [LogValue.Field] {
    guard case .object(let fields) = logValue else { preconditionFailure("Metadata are written as an object.") }
    return fields
  }

  /// As one value of the log.
  package var logValue: LogValue { .written { write(to: &$0) } }
}

extension RecordWriter where Self: ~Copyable {
  fileprivate mutating func ifSaid(_ name: StaticString, _ value: String?) {
    if let value { field(name, value) }
  }

  fileprivate mutating func ifSaid(_ name: StaticString, _ values: [String]) {
    if !values.isEmpty { field(name) { $0.list(values) { $0.text($1) } } }
  }
}
