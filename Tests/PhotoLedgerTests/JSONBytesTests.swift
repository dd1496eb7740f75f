import EventLog
import Foundation
import TestSupport
import Testing

@testable import PhotoLedger

@Suite("Writing JSON")
struct JSONBytesTests {
  /// The spelling of a text, character by character, as it is documented.
  private static func spelling(_ text: String, _ escapes: JSONBytes.Escapes) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n" where escapes == .shown: result += "\\n"
      case "\r" where escapes == .shown: result += "\\r"
      case "\t" where escapes == .shown: result += "\\t"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F,
        _ where escapes == .shown && scalar.properties.generalCategory == .control:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  private static func written(_ text: String, _ escapes: JSONBytes.Escapes) -> String {
    var bytes = JSONBytes(capacity: 1)
    bytes.text(text, escapes)
    return bytes.text()
  }

  /// A text of few plain characters and many that are not.
  private static func text(_ random: inout SeededGenerator) -> String {
    let special: [UInt32] = [
      0, 0x1F, 0x20, 0x22, 0x5C, 0x7F, 0x80, 0x85, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF, 0x2028, 0x2029, 0x202E, 0x2066, 0xFEFF,
      0xFFFD, 0xFFFF, 0x1F600, 0x10FFFF, 0x0A, 0x0D, 0x09,
    ]
    var text = String.UnicodeScalarView()
    let isPlain = random.chance(1, of: 3)
    for _ in 0..<random.int(0..<60) {
      var value = UInt32(random.int(0x20..<0x7F))
      if random.chance(1, of: isPlain ? 12 : 2) {
        value = random.chance(1, of: 2) ? special[random.int(0..<special.count)] : UInt32(random.int(0..<0x11_0000))
      }
      // The surrogates are not characters; a decoder of UTF-8 has replaced them before there is a text.
      text.append(Unicode.Scalar(value) ?? "\u{FFFD}")
    }
    return String(text)
  }

  @Test(
    "any text is escaped as it is character by character, and is unchanged when it is read",
    arguments: 0..<(Dose.isFull ? 40 : 12))
  func random(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    for _ in 0..<200 {
      let text = Self.text(&random)
      for escapes in [JSONBytes.Escapes.shown, .logged] {
        let written = Self.written(text, escapes)
        #expect(Array(written.utf8) == Array(Self.spelling(text, escapes).utf8), "seed \(seed)")
        // Foundation takes a U+FEFF at the beginning of a text, or behind an escape, for a mark of byte order and drops
        // it; the comparison above covers these.
        guard !text.unicodeScalars.contains("\u{FEFF}") else { continue }
        let read = try JSONSerialization.jsonObject(with: Data("[\(written)]".utf8)) as? [String]
        #expect(read?.first.map { Array($0.unicodeScalars) } == Array(text.unicodeScalars), "seed \(seed)")
      }
    }
  }

  @Test("every character below U+0300, at each place of a word", arguments: 0..<9)
  func everyPlace(place: Int) throws {
    for value in 0..<UInt32(0x300) {
      let scalar = try #require(Unicode.Scalar(value))
      let text = String(repeating: "a", count: place) + String(scalar) + "bcdefgh"
      for escapes in [JSONBytes.Escapes.shown, .logged] {
        #expect(Array(Self.written(text, escapes).utf8) == Array(Self.spelling(text, escapes).utf8), "U+\(value)")
      }
    }
  }

  @Test("a text longer than a piece is complete, also where a control character crosses its end", arguments: 0..<4)
  func long(shift: Int) throws {
    let plain = String(repeating: "x", count: (1 << 13) - 2 + shift)
    let text = plain + "\u{85}\u{202E}é\"" + String(repeating: "\u{1}", count: 9000)
    #expect(Self.written(text, .shown) == Self.spelling(text, .shown))
  }

  @Test("bytes that are not UTF-8 are replaced where they become a text, and the text is escaped as any other")
  func replaced() throws {
    // Half of a surrogate pair, as some encoders write it, and a byte that begins nothing.
    let text = String(decoding: [0x61, 0xED, 0xA0, 0x80, 0xC2, 0x22, 0xFF] as [UInt8], as: UTF8.self)
    let written = Self.written(text, .shown)
    #expect(written == Self.spelling(text, .shown) && written.contains("\u{FFFD}"))
    #expect(try JSONSerialization.jsonObject(with: Data("[\(written)]".utf8)) as? [String] == [text])
  }

  @Test("values are separated, and nothing is when none precedes")
  func structure() {
    var bytes = JSONBytes(capacity: 1)
    bytes.beginObject()
    bytes.key("a")
    bytes.beginList()
    bytes.integer(Int64.min)
    bytes.integer(UInt64.max)
    bytes.beginList()
    bytes.endList()
    bytes.bool(true)
    bytes.text(nil)
    bytes.endList()
    bytes.key("{[:," as String)
    bytes.text("{")
    bytes.key("d")
    bytes.beginObject()
    bytes.endObject()
    bytes.endObject()
    bytes.endLine()
    bytes.text("next")
    #expect(
      bytes.text()
        == #"{"a":[-9223372036854775808,18446744073709551615,[],true,null],"{[:,":"{","d":{}}"# + "\n\"next\"")
    bytes.removeAll(from: 5)
    #expect(bytes.text() == #"{"a":"#)
  }

  @Test("numbers have their digits, in any width")
  func numbers() throws {
    func written(_ write: (inout JSONBytes) -> Void) -> String {
      var bytes = JSONBytes(capacity: 1)
      write(&bytes)
      return bytes.text()
    }
    var random = SeededGenerator(seed: 7)
    var values: [UInt64] = Array(0...1000)
    var power: UInt64 = 1
    while power <= .max / 10 {
      power *= 10
      values += [power - 1, power, power + 1]
    }
    for bit in 0..<64 { values += [1 << UInt64(bit), .max >> UInt64(bit)] }
    for _ in 0..<2000 { values.append(random.next() >> UInt64(random.int(0..<64))) }
    for value in values {
      let width = random.int(1..<25)
      let padding = String(repeating: "0", count: max(0, width - String(value).count))
      #expect(written { $0.digits(value) } == String(value))
      #expect(written { $0.digits(value, width: width) } == padding + String(value))
    }
  }

  @Test("a number of few decimal places has the shortest spelling, as any other has", arguments: 0..<10)
  func decimals(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<2_000 {
      let digits = Double(random.int(0..<random.one(of: [10, 1_000, 100_000, 1_000_000_000, 1_000_000_000_000_000])))
      let value = digits / random.one(of: [10, 100, 1_000, 10_000, 3]) * random.one(of: [1, -1])
      if value == value.rounded() { continue }
      for value in [value, value.nextUp] {
        var bytes = JSONBytes()
        bytes.number(value)
        #expect(bytes.text() == value.description)
      }
    }
  }

  @Test("bytes are spelled as Foundation spells them, and identifiers as UUIDs are")
  func spellings() {
    var random = SeededGenerator(seed: 8)
    for count in 0..<200 {
      let some = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      var bytes = JSONBytes(capacity: 1)
      some.withUnsafeBytes { bytes.base64($0) }
      #expect(bytes.text() == Data(some).base64EncodedString())
      bytes.removeAll()
      some.withUnsafeBytes { bytes.hexadecimal($0) }
      #expect(bytes.text() == some.hexadecimal)
      let identifier = LocalIdentifier(high: random.next(), low: random.next())
      let uuid = UUID(uuidString: identifier.uuidString)
      #expect(uuid.map { LocalIdentifier($0) } == identifier && uuid?.uuidString == identifier.uuidString)
    }
  }

  @Test("the longest spelling has room, however often it appears")
  func longestSpelling() throws {
    let half: [UInt8] = [0xF9, 0x80, 0x03]
    let encoded = [0x99, 0x03, 0xE8] + Array(repeating: half, count: 1000).joined()
    let notation = CBORReader.diagnostic(of: encoded.span.bytes)
    let text = try #require(notation)
    #expect(String(decoding: text, as: UTF8.self).hasPrefix("[-1.7881393432617188e-07, "))
    #expect(text.count == 1000 * 25)
  }

  @Test("quoted diagnostic notation is the notation with quotes and backslashes escaped once more", arguments: 0..<10)
  func diagnostics(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    for _ in 0..<50 {
      let texts = (0..<4).map { _ in Self.text(&random) }
      var items: [CBOR] = texts.map { .text($0) }
      items += [.bytes([0, 0xFF]), .double(Double(bitPattern: random.next())), .negative(random.next())]
      items += [.bool(false), .null]
      items.append(.map([.init(.unsigned(1), .text(texts[0])), .init(.unsigned(random.next() | 256), .array([]))]))
      let encoded = CBOR.array(items).encoded
      let notation = CBORReader.diagnostic(of: encoded.span.bytes)
      let plain = try #require(notation)
      var quoted = JSONBytes(capacity: 1)
      var wanted = JSONBytes(capacity: 1)
      let isRead = quoted.quoted(capacity: CBORReader.diagnosticCapacity(of: encoded.span.bytes)) { room in
        CBORReader.writeDiagnostic(of: encoded.span.bytes, quoted: true, to: room)
      }
      plain.withUnsafeBytes { wanted.escaped($0, .logged) }
      #expect(isRead && quoted.text() == "\"\(wanted.text())\"", "seed \(seed)")
      // What `skip` refuses has no notation, wherever it lies.
      var damaged = encoded
      damaged[random.int(0..<damaged.count)] ^= UInt8(1 << random.int(0..<8))
      var reader = CBORReader(damaged.span.bytes)
      let isSound = (try? reader.skip().byteCount) == damaged.count
      let isSpelled = CBORReader.diagnostic(of: damaged.span.bytes) != nil
      #expect(isSpelled == isSound, "seed \(seed)")
    }
  }

  @Test("a number has the notation that the language gives it", arguments: 0..<10)
  func notations(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let edges = [0, -0.0, 1, -1, 0.5, 999_999_999_999_999, 1e15, 1_000_000_000_000_001, 0x1p53, 0x1p54, 1e16, 1e300]
    let others = (0..<200).map { _ in Double(random.next() >> (random.next() % 64)) * (random.next() % 2 == 0 ? 1 : 0.5)
    }
    for value in edges + others {
      let encoded = CBOR.double(value).encoded
      let notation = CBORReader.diagnostic(of: encoded.span.bytes)
      #expect(try String(decoding: #require(notation), as: UTF8.self) == value.description)
    }
  }

  @Test("dates that follow one another are spelled as Foundation spells each", arguments: 0..<10)
  func dates(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var bytes = JSONBytes(capacity: 1)
    var (now, expected) = (0, "")
    for _ in 0..<300 {
      // Mostly of the same day, and at its edges; sometimes far away.
      now += random.one(of: [0, 1, -1, 3600, 86_399, 86_400, -86_400, random.int(-2_000_000_000..<2_000_000_000)])
      // Farther away a number of seconds is not exact to a microsecond.
      if abs(now) > 3_000_000_000 { now = 0 }
      let (thousandths, fraction) = random.one(of: [(0, ""), (1, ".001"), (250, ".25"), (990, ".99"), (999, ".999")])
      bytes.date(Date(timeIntervalSince1970: Double(now) + Double(thousandths) / 1000))
      // Foundation cuts a fraction off where this one is rounded, so it spells whole seconds.
      let text = Date(timeIntervalSince1970: Double(now)).formatted(.iso8601).dropLast()
      expected += "\(expected.isEmpty ? "" : ",")\"\(text)\(fraction)Z\""
    }
    #expect(bytes.text() == expected)
  }

  @Test(
    "years of other lengths than four digits have their sign and their digits",
    arguments: [
      (-62_167_219_200.0, "0000-01-01T00:00:00"), (-62_167_219_201, "-0001-12-31T23:59:59"),
      (253_402_300_800, "10000-01-01T00:00:00"), (-377_705_116_800, "-9999-01-01T00:00:00"),
      (-377_705_203_200, "-10000-12-31T00:00:00"), (253_402_300_799.000001, "9999-12-31T23:59:59"),
    ])
  func years(seconds: Double, spelled: String) {
    var bytes = JSONBytes(capacity: 1)
    for _ in 0..<2 { bytes.write(wallTime: Date(timeIntervalSince1970: seconds)) }
    #expect(bytes.text() == "\"\(spelled)\",\"\(spelled)\"")
  }

  @Test("without a text nothing is written, and the next value is separated as before")
  func noText() {
    var bytes = JSONBytes(capacity: 1)
    bytes.beginList()
    bytes.bool(true)
    let isWritten = bytes.quoted(capacity: 8) { _ in nil }
    bytes.null()
    bytes.endList()
    let text = bytes.text()
    #expect(!isWritten && text == "[true,null]")
  }

  @Test("a value of an enumeration has the name of its case")
  func names() {
    func expect<Value: CaseIterable>(_ type: Value.Type, _ name: (Value) -> String) {
      for value in Value.allCases { #expect(name(value) == "\(value)") }
    }
    expect(MediaType.self, \.name)
    expect(PlaybackVariation.self, \.name)
    expect(AdjustmentsState.self, \.name)
    expect(OriginalResourceChoice.self, \.name)
    expect(AssetRating.self, \.name)
    expect(AssetField.self, \.name)
    for value in (0..<6).compactMap(PlaybackStyle.init) { #expect(value.name == "\(value)") }
  }
}
