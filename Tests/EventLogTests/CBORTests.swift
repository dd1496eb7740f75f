import Testing

import EventLog

@Suite("Deterministic CBOR")
struct CBORTests {
  /// RFC 8949 appendix A, as far as the profile has the values (no tags, undefined, simple values, indefinite lengths).
  static let vectors: [(hexadecimal: String, value: CBOR)] = [
    ("00", .unsigned(0)), ("01", .unsigned(1)), ("0a", .unsigned(10)), ("17", .unsigned(23)), ("1818", .unsigned(24)),
    ("1819", .unsigned(25)), ("1864", .unsigned(100)), ("1903e8", .unsigned(1000)),
    ("1a000f4240", .unsigned(1_000_000)),
    ("1b000000e8d4a51000", .unsigned(1_000_000_000_000)), ("1bffffffffffffffff", .unsigned(.max)),
    ("3bffffffffffffffff", .negative(.max)), ("20", .integer(-1)), ("29", .integer(-10)), ("3863", .integer(-100)),
    ("3903e7", .integer(-1000)), ("f90000", .double(0)), ("f98000", .double(-0.0)), ("f93c00", .double(1)),
    ("fb3ff199999999999a", .double(1.1)), ("f93e00", .double(1.5)), ("f97bff", .double(65504)),
    ("fa47c35000", .double(100_000)), ("fa7f7fffff", .double(3.4028234663852886e38)),
    ("fb7e37e43c8800759c", .double(1.0e300)), ("f90001", .double(5.960464477539063e-8)),
    ("f90400", .double(0.00006103515625)), ("f9c400", .double(-4)), ("fbc010666666666666", .double(-4.1)),
    ("f97c00", .double(.infinity)), ("f9fc00", .double(-.infinity)), ("f4", .bool(false)), ("f5", .bool(true)),
    ("f6", .null), ("40", .bytes([])), ("4401020304", .bytes([1, 2, 3, 4])), ("60", .text("")), ("6161", .text("a")),
    ("6449455446", .text("IETF")), ("62225c", .text("\"\\")), ("62c3bc", .text("\u{fc}")),
    ("63e6b0b4", .text("\u{6c34}")),
    ("64f0908591", .text("\u{10151}")), ("80", .array([])),
    ("83010203", .array([.unsigned(1), .unsigned(2), .unsigned(3)])),
    (
      "8301820203820405",
      .array([
        .unsigned(1), .array([.unsigned(2), .unsigned(3)]), .array([.unsigned(4), .unsigned(5)]),
      ])
    ),
    ("98190102030405060708090a0b0c0d0e0f101112131415161718181819", .array((1...25).map { .unsigned($0) })),
    ("a0", .map([])), ("a201020304", .map([.init(.unsigned(1), .unsigned(2)), .init(.unsigned(3), .unsigned(4))])),
    (
      "a26161016162820203",
      .map([
        .init(.text("a"), .unsigned(1)), .init(.text("b"), .array([.unsigned(2), .unsigned(3)])),
      ])
    ),
    ("826161a161626163", .array([.text("a"), .map([.init(.text("b"), .text("c"))])])),
    (
      "a56161614161626142616361436164614461656145",
      .map(
        ["a", "b", "c", "d", "e"].map { .init(.text($0), .text($0.uppercased())) })
    ),
  ]

  @Test("the examples of RFC 8949 encode and decode as printed there", arguments: vectors.indices)
  func appendixA(index: Int) throws {
    let (text, value) = Self.vectors[index]
    #expect(hexadecimal(value.encoded) == text)
    #expect(try CBOR(decoding: bytes(hexadecimal: text).span.bytes) == value)
  }

  @Test("diagnostic notation is that of RFC 8949 section 8")
  func diagnostic() {
    let value = CBOR.array([
      .unsigned(1), .integer(-500), .negative(.max), .bytes([0, 0xAB]), .text("a\"\\\n水"), .null, .bool(true),
      .double(1.5),
      .double(.nan), .double(-.infinity), .map([.init(.text("k"), .array([]))]),
    ])
    #expect(
      value.description
        == #"[1, -500, -18446744073709551616, h'00ab', "a\"\\\u000a水", null, true, 1.5, NaN, -Infinity, "#
        + #"{"k": []}]"#)
  }

  @Test("there is one NaN")
  func notANumber() throws {
    for value in [Double.nan, -.nan, .signalingNaN, Double(nan: 77, signaling: false)] {
      #expect(hexadecimal(CBOR.double(value).encoded) == "f97e00")
    }
    #expect(try CBOR(decoding: bytes(hexadecimal: "f97e00").span.bytes) == .double(.nan))
    #expect(CBOR.double(0) != .double(-0.0))
  }

  static let rejected: [(hexadecimal: String, code: CBORError.Code, offset: Int)] = [
    ("", .truncated, 0), ("18", .truncated, 1), ("1801", .notShortest, 0), ("1817", .notShortest, 0),
    ("190018", .notShortest, 0), ("1900ff", .notShortest, 0), ("1a0000ffff", .notShortest, 0),
    ("1b00000000ffffffff", .notShortest, 0), ("3817", .notShortest, 0), ("5801aa", .notShortest, 0),
    ("780161", .notShortest, 0), ("980100", .notShortest, 0), ("b8010000", .notShortest, 0),
    ("1c", .unsupported, 0), ("1d", .unsupported, 0), ("1e", .unsupported, 0), ("1f", .indefiniteLength, 0),
    ("5f4100ff", .indefiniteLength, 0), ("7f6161ff", .indefiniteLength, 0), ("9f00ff", .indefiniteLength, 0),
    ("bf0000ff", .indefiniteLength, 0), ("c000", .unsupported, 0), ("d81800", .unsupported, 0), ("f7", .unsupported, 0),
    ("e0", .unsupported, 0), ("f0", .unsupported, 0), ("f820", .unsupported, 0), ("ff", .unsupported, 0),
    ("fa3fc00000", .notShortest, 0), ("fb3ff8000000000000", .notShortest, 0), ("fb40f86a0000000000", .notShortest, 0),
    ("fa7fc00000", .notShortest, 0), ("fb7ff8000000000000", .notShortest, 0), ("f97e01", .notShortest, 0),
    ("f97c", .truncated, 1), ("0000", .trailingBytes, 1), ("6180", .invalidText, 0), ("62c328", .invalidText, 0),
    ("63eda080", .invalidText, 0), ("62c080", .invalidText, 0), ("4401", .truncated, 1),
    ("5bffffffffffffffff00", .truncated, 9), ("9bffffffffffffffff00", .truncated, 9), ("9affffffff", .truncated, 5),
    ("bbffffffffffffffff0000", .truncated, 9), ("8201", .truncated, 1), ("820100f6", .trailingBytes, 3),
    ("a201000100", .keyOrder, 3), ("a202000100", .keyOrder, 3), ("a2616200616100", .keyOrder, 4),
    ("a26161000a00", .keyOrder, 4),
  ]

  @Test("every encoding other than the deterministic one is rejected, with its byte", arguments: rejected.indices)
  func rejection(index: Int) {
    let (text, code, offset) = Self.rejected[index]
    let input = bytes(hexadecimal: text)
    let error = #expect(throws: CBORError.self) { try CBOR(decoding: input.span.bytes) }
    #expect(error == CBORError(code, at: offset), "\(text)")
    let skipped = #expect(throws: CBORError.self) {
      var reader = CBORReader(input.span.bytes)
      _ = try reader.skip()
      try reader.end()
    }
    #expect(skipped == error, "skip and decode agree on \(text)")
  }

  @Test("nesting is bounded, in arrays, maps and keys")
  func depth() throws {
    for opening: [UInt8] in [[0x81], [0xA1, 0x00], [0xA1]] {
      func nested(_ depth: Int) -> [UInt8] {
        var bytes = (0..<depth).flatMap { _ in opening }
        bytes.append(0x00)
        if opening == [0xA1] { bytes += [UInt8](repeating: 0x00, count: depth) }
        return bytes
      }
      #expect(throws: Never.self) { try CBOR(decoding: nested(CBORReader.depthMax).span.bytes) }
      for depth in [CBORReader.depthMax + 1, 100_000] {
        let error = #expect(throws: CBORError.self) { try CBOR(decoding: nested(depth).span.bytes) }
        #expect(error?.code == .tooDeep)
        let skipped = #expect(throws: CBORError.self) {
          let bytes = nested(depth)
          var reader = CBORReader(bytes.span.bytes)
          _ = try reader.skip()
        }
        #expect(skipped == error)
      }
    }
  }

  @Test(
    "each of thousands of random byte strings is either rejected or re-encodes to itself",
    arguments: 1...(isFullDose ? 4 : 2) as ClosedRange<UInt64>)
  func randomBytes(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var accepted = 0
    for _ in 0..<25_000 {
      var input = random.bytes(.random(in: 0...24, using: &random))
      if let first = input.indices.first, Bool.random(using: &random) { input[first] = 0x80 | UInt8(input.count % 8) }
      do throws(CBORError) {
        let value = try CBOR(decoding: input.span.bytes)
        #expect(value.encoded == input, "seed \(seed): \(hexadecimal(input))")
        accepted += 1
      } catch {
        #expect((0...input.count).contains(error.offset), "seed \(seed): \(hexadecimal(input))")
      }
    }
    #expect(accepted > 100)
  }

  @Test(
    "any value survives encoding, and any change to its bytes is rejected or decodes to another value",
    arguments: 0..<(isFullDose ? 50 : 15) as Range<UInt64>)
  func roundTrip(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<40 {
      let value = randomValue(&random, depth: 0)
      let encoded = value.encoded
      let decoded = try CBOR(decoding: encoded.span.bytes)
      #expect(decoded.encoded == encoded, "seed \(seed)")
      for index in encoded.indices {
        var changed = encoded
        changed[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        guard let other = try? CBOR(decoding: changed.span.bytes) else { continue }
        if other == decoded { Issue.record("seed \(seed), byte \(index) of \(hexadecimal(encoded))") }
      }
    }
  }

  @Test(
    "a map whose length is written at its end has the bytes of one of known length", arguments: [0, 1, 23, 24, 300])
  func openMaps(count: Int) {
    var known = CBORWriter()
    known.array(1)
    known.map(count)
    var open = CBORWriter()
    open.array(1)
    let place = open.beginMap()
    for key in 0..<UInt64(count) {
      known.unsigned(key)
      known.text("é")
      open.unsigned(key)
      open.text("é")
    }
    open.endMap(at: place, count: count)
    #expect(open.bytes == known.bytes)
  }

  @Test("the reader returns typed items and rejects others in place")
  func reader() throws {
    var writer = CBORWriter()
    writer.array(4)
    writer.integer(-5)
    writer.text(nil)
    writer.bytes([1, 2, 3])
    writer.double(1.5)
    let encoded = writer.finish()
    var reader = CBORReader(encoded.span.bytes)
    #expect(try reader.array() == 4)
    #expect(throws: CBORError(.unexpected, at: 1)) { try reader.unsigned() }
    #expect(try reader.integer() == -5)
    #expect(try reader.optionalText() == nil)
    #expect(throws: CBORError(.unexpected, at: 3)) { _ = try reader.text() }
    #expect(try reader.kind() == .bytes)
    let bytes = try reader.bytes().array
    #expect(bytes == [1, 2, 3])
    #expect(throws: CBORError(.trailingBytes, at: 7)) { try reader.end() }
    #expect(try reader.double() == 1.5)
    #expect(throws: Never.self) { try reader.end() }
    var small = CBORReader(([0x3B, 0x80, 0, 0, 0, 0, 0, 0, 0] as [UInt8]).span.bytes)
    #expect(throws: CBORError(.unexpected, at: 0)) { try small.integer() }
  }

  private func randomValue(_ random: inout SeededGenerator, depth: Int) -> CBOR {
    switch Int.random(in: 0...(depth > 3 ? 6 : 8), using: &random) {
    case 0: return .unsigned(random.next() >> UInt64.random(in: 0...63, using: &random))
    case 1: return .negative(random.next() >> UInt64.random(in: 0...63, using: &random))
    case 2: return .bytes(random.bytes(.random(in: 0...30, using: &random)))
    case 3:
      return .text(
        String((0..<Int.random(in: 0...8, using: &random)).map { _ in "aé水🜚z".randomElement(using: &random) ?? "a" }))
    case 4: return .bool(.random(using: &random))
    case 5: return .null
    case 6:
      return .double([0.5, 1e300, Double(Float.pi), -0.0, .infinity, 65504, 1e-8].randomElement(using: &random) ?? 0)
    case 7:
      return .array((0..<Int.random(in: 0...5, using: &random)).map { _ in randomValue(&random, depth: depth + 1) })
    default:
      var pairs: [[UInt8]: CBOR.Pair] = [:]
      for _ in 0..<Int.random(in: 0...5, using: &random) {
        let key = randomValue(&random, depth: depth + 1)
        pairs[key.encoded] = CBOR.Pair(key, randomValue(&random, depth: depth + 1))
      }
      return .map(Array(pairs.values))
    }
  }
}
