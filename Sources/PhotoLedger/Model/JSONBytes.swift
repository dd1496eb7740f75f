// A writer of JSON: UTF-8, byte by byte, into a reused buffer.
//
// A list of a million assets is a gigabyte of JSON. Made of strings it took a hundred times what writing it takes: a
// tree of values for each object, a string for each value, and a question to Unicode's tables for each character. Here
// a value is written where it goes, and a text is copied eight bytes at a time for as long as none of them is special:
//
//     "IMG_0001.HEIC"    word ▸ word ▸ tail          no byte of the word is < 0x20, ", \, 0x7F or 0xC2: copied as it is
//     "a\u0085b"         0xC2 begins U+0080 … U+00BF; the half below U+00A0 are control characters, which are escaped
//
// What is spelled in the source is a `StaticString`, which is copied without a look at it. A literal would be taken for
// a `String` by itself, so those overloads are disfavoured.
//
// Commas are not counted: a value that follows anything but `{`, `[`, `:` or a line end wants one before it, and inside
// a text none of them can be the last byte, since a text ends with its quote.
//
// Invariant: the bytes are UTF-8, since strings are, and what is given as bytes is copied from a checked text.
//
// Rejected: `JSONEncoder` (keys in no order, or sorted; numbers and slashes spelled otherwise than what was printed
// before), and a vector of more than eight bytes: most texts are shorter than two of them.

import EventLog
import Synchronization

/// JSON, and text around it, being written.
// SAFETY: the memory is the value's own, and there is one owner at a time.
package struct JSONBytes: ~Copyable, @unchecked Sendable {
  /// Which characters a text escapes beside quotes and backslashes.
  package enum Escapes: Sendable {
    /// Every control character, those from U+0080 on as well, since a terminal interprets them; `\n`, `\r` and `\t` by
    /// their letters.
    case shown
    /// Those below U+0020 and U+007F, all by their numbers: the form of exported logs.
    case logged
  }

  private(set) var start: UnsafeMutableRawPointer
  private var capacity: Int
  /// How many bytes there are.
  package private(set) var count = 0
  var dates = DateSpelling()

  /// Makes an empty one.
  package init(capacity: Int = 1 << 10) {
    precondition(capacity > 0, "A buffer must have a capacity.")
    (start, self.capacity) = SpareBuffers.take(capacity)
  }

  deinit { SpareBuffers.give(start, capacity) }

  /// Discards the bytes written from an offset on, and keeps the capacity.
  package mutating func removeAll(from place: Int = 0) {
    precondition(place <= count, "Only written bytes can be discarded.")
    count = place
  }

  /// Lends the bytes.
  package borrowing func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try body(UnsafeRawBufferPointer(start: start, count: count))
  }

  /// What was written from a place on, as text.
  package borrowing func text(from place: Int = 0) -> String {
    String(decoding: UnsafeRawBufferPointer(start: start + place, count: count - place), as: UTF8.self)
  }

  // MARK: Bytes

  @inline(__always)
  mutating func reserve(_ more: Int) {
    if capacity &- count < more { grow(more) }
  }

  @inline(never)
  private mutating func grow(_ more: Int) {
    let larger = max(capacity * 2, count + more)
    let (next, room) = SpareBuffers.take(larger)
    next.copyMemory(from: start, byteCount: count)
    SpareBuffers.give(start, capacity)
    (start, capacity) = (next, room)
  }

  @inline(__always)
  private mutating func put(_ byte: UInt8) {
    (start + count).storeBytes(of: byte, as: UInt8.self)
    count &+= 1
  }

  /// Takes bytes that were written after the others, in room that was reserved for them.
  @inline(__always)
  mutating func advance(by more: Int) {
    precondition(more >= 0 && more <= capacity &- count, "What is written needs room that was reserved.")
    count &+= more
  }

  /// Writes bytes as they are; they are UTF-8.
  package mutating func raw(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    reserve(bytes.count)
    (start + count).copyMemory(from: base, byteCount: bytes.count)
    count += bytes.count
  }

  /// Writes bytes once more that were written before.
  package mutating func again(_ range: Range<Int>) {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "Only written bytes can be written again.")
    reserve(range.count)
    (start + count).copyMemory(from: start + range.lowerBound, byteCount: range.count)
    count &+= range.count
  }

  /// Writes text unescaped.
  package mutating func raw(_ text: StaticString) {
    reserve(text.utf8CodeUnitCount)
    (start + count).copyMemory(from: text.utf8Start, byteCount: text.utf8CodeUnitCount)
    count += text.utf8CodeUnitCount
  }

  /// Writes text unescaped.
  @_disfavoredOverload
  package mutating func raw(_ text: String) {
    var text = text
    text.withUTF8 { raw(UnsafeRawBufferPointer($0)) }
  }

  /// Writes a whole number in decimal digits, with zeroes before it up to a width.
  package mutating func digits(_ value: UInt64, width: Int = 1) {
    var (length, limit) = (1, UInt64(10))
    while value >= limit {
      length &+= 1
      let (next, overflows) = limit.multipliedReportingOverflow(by: 10)
      if overflows { break }
      limit = next
    }
    length = max(length, width)
    reserve(length)
    var (rest, place) = (value, length)
    while place >= 2 {
      place &-= 2
      (start + (count &+ place)).storeBytes(of: Self.pair(UInt8(truncatingIfNeeded: rest % 100)), as: UInt16.self)
      rest /= 100
    }
    if place == 1 { (start + count).storeBytes(of: 0x30 &+ UInt8(truncatingIfNeeded: rest), as: UInt8.self) }
    count &+= length
  }

  /// The two decimal digits of a number below 100, in the order in which they stand in memory.
  @inline(__always)
  static func pair(_ value: UInt8) -> UInt16 {
    let tens = (UInt16(value) &* 103) &>> 10
    return (0x3030 &+ tens &+ (UInt16(value) &- tens &* 10) &<< 8).littleEndian
  }

  /// Writes so many blanks.
  package mutating func blanks(_ number: Int) {
    reserve(number)
    (start + count).initializeMemory(as: UInt8.self, repeating: 0x20, count: number)
    count += number
  }

  /// Writes bytes in hexadecimal digits.
  package mutating func hexadecimal(_ bytes: UnsafeRawBufferPointer) {
    reserve(2 * bytes.count)
    HexadecimalDigits.spell(bytes, at: start + count)
    count += 2 * bytes.count
  }

  /// Writes a number in 16 hexadecimal digits.
  package mutating func hexadecimal(_ number: UInt64) {
    Swift.withUnsafeBytes(of: number.bigEndian) { hexadecimal($0) }
  }

  /// Writes bytes in base64 (RFC 4648, section 4).
  package mutating func base64(_ bytes: UnsafeRawBufferPointer) {
    reserve((bytes.count + 2) / 3 * 4)
    let (digits, pairs) = (Self.base64Digits.utf8Start, Self.base64Pairs)
    var place = start + count
    var index = 0
    while bytes.count &- index >= 3 {
      let word = UInt32(bytes[index]) << 16 | UInt32(bytes[index &+ 1]) << 8 | UInt32(bytes[index &+ 2])
      place.storeBytes(of: pairs[Int(word &>> 12)], as: UInt16.self)
      place.storeBytes(of: pairs[Int(word & 0xFFF)], toByteOffset: 2, as: UInt16.self)
      (place, index) = (place + 4, index &+ 3)
    }
    while index < bytes.count {
      let left = bytes.count - index
      var word = UInt32(bytes[index]) << 16
      if left > 1 { word |= UInt32(bytes[index + 1]) << 8 }
      if left > 2 { word |= UInt32(bytes[index + 2]) }
      for digit in 0..<4 {
        let value = digit <= left ? digits[Int(word >> (18 - 6 * UInt32(digit)) & 63)] : UInt8(ascii: "=")
        place.storeBytes(of: value, toByteOffset: digit, as: UInt8.self)
      }
      (place, index) = (place + 4, index + 3)
    }
    count += (bytes.count + 2) / 3 * 4
  }

  private static let base64Digits: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

  /// The two digits of each number of twelve bits, in the order in which they stand in memory.
  // SAFETY: written before anything reads it, and never again.
  private nonisolated(unsafe) static let base64Pairs: UnsafePointer<UInt16> = {
    let pairs = UnsafeMutablePointer<UInt16>.allocate(capacity: 1 << 12)
    let digits = base64Digits.utf8Start
    for number in 0..<(1 << 12) {
      let pair = UInt16(digits[number >> 6]) | UInt16(digits[number & 63]) << 8
      (pairs + number).initialize(to: pair.littleEndian)
    }
    return UnsafePointer(pairs)
  }()

  /// Ends a line.
  package mutating func endLine() {
    reserve(1)
    put(0x0A)
  }

  // MARK: Values

  /// Writes a comma if a value stands before the next one.
  @inline(__always)
  mutating func separate() {
    guard count > 0 else { return }
    switch (start + count - 1).load(as: UInt8.self) {
    case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ":"), 0x0A: break
    default:
      reserve(1)
      put(UInt8(ascii: ","))
    }
  }

  /// Writes the key of the next value, already in its JSON form.
  package mutating func key(_ name: StaticString) {
    separate()
    reserve(name.utf8CodeUnitCount + 3)
    put(UInt8(ascii: "\""))
    (start + count).copyMemory(from: name.utf8Start, byteCount: name.utf8CodeUnitCount)
    count &+= name.utf8CodeUnitCount
    put(UInt8(ascii: "\""))
    put(UInt8(ascii: ":"))
  }

  /// Writes the key of the next value.
  @_disfavoredOverload
  package mutating func key(_ name: String) {
    text(name)
    reserve(1)
    put(UInt8(ascii: ":"))
  }

  package mutating func beginObject() { mark(UInt8(ascii: "{")) }
  package mutating func beginList() { mark(UInt8(ascii: "[")) }

  private mutating func mark(_ byte: UInt8) {
    separate()
    reserve(1)
    put(byte)
  }

  package mutating func endObject() { end(UInt8(ascii: "}")) }
  package mutating func endList() { end(UInt8(ascii: "]")) }

  private mutating func end(_ byte: UInt8) {
    reserve(1)
    put(byte)
  }

  /// Writes a value that is spelled in JSON already.
  package mutating func value(_ spelling: StaticString) {
    separate()
    raw(spelling)
  }

  /// Writes a value that is spelled in JSON already.
  @_disfavoredOverload
  package mutating func value(_ spelling: String) {
    separate()
    raw(spelling)
  }

  package mutating func null() { value("null") }
  package mutating func bool(_ value: Bool) { self.value((value ? "true" : "false") as StaticString) }

  package mutating func integer(_ value: Int64) {
    separate()
    if value < 0 {
      reserve(1)
      put(UInt8(ascii: "-"))
    }
    digits(value.magnitude)
  }

  package mutating func integer(_ value: UInt64) {
    separate()
    digits(value)
  }

  /// Writes a text with its quotes.
  package mutating func text(_ text: String, _ escapes: Escapes = .shown) {
    separate()
    quote { $0.escaped(text, escapes) }
  }

  /// Writes a text, given in UTF-8, with its quotes.
  package mutating func text(utf8: RawSpan) {
    separate()
    quote { bytes in utf8.withUnsafeBytes { bytes.escaped($0, .shown) } }
  }

  /// Writes a text with its quotes, or null.
  package mutating func text(_ text: String?, _ escapes: Escapes = .shown) {
    if let text { self.text(text, escapes) } else { null() }
  }

  /// Writes bytes in hexadecimal digits, as a text.
  package mutating func hexadecimalText(_ bytes: UnsafeRawBufferPointer) {
    separate()
    quote { $0.hexadecimal(bytes) }
  }

  /// Writes the spelling of an identifier, as a text.
  package mutating func identifier(_ identifier: LocalIdentifier, of kind: ObjectKind) {
    separate()
    quote { bytes in
      bytes.reserve(64)
      let room = UnsafeMutableRawBufferPointer(start: bytes.start + bytes.count, count: 64)
      bytes.count += room.withMemoryRebound(to: UInt8.self) { identifier.spell(into: $0, as: kind) }
    }
  }

  /// Writes an identifier without what names its kind.
  package mutating func identifierText(_ identifier: LocalIdentifier) {
    reserve(64)
    let room = UnsafeMutableRawBufferPointer(start: start + count, count: 64)
    _ = room.withMemoryRebound(to: UInt8.self) { identifier.spell(into: $0, as: .asset) }
    count += 36
  }

  /// Writes a text as a value: what the body writes has no character that would be escaped.
  package mutating func quoted(_ body: (inout JSONBytes) -> Void) {
    separate()
    quote(body)
  }

  /// Writes a text as a value, where it is written to memory; nothing if there is none.
  /// - Parameters:
  ///   - capacity: how many bytes the text has at most.
  ///   - body: writes the text, which has no character that would be escaped, and returns how many bytes it has; nil
  ///     if there is no text.
  /// - Returns: whether there is one.
  package mutating func quoted(capacity: Int, _ body: (UnsafeMutableRawPointer) -> Int?) -> Bool {
    let before = count
    separate()
    reserve(capacity + 2)
    put(UInt8(ascii: "\""))
    guard let length = body(start + count) else {
      count = before
      return false
    }
    precondition(length <= capacity, "A text must fit the room that was made for it.")
    count &+= length
    put(UInt8(ascii: "\""))
    return true
  }

  @inline(__always)
  private mutating func quote(_ body: (inout JSONBytes) -> Void) {
    reserve(1)
    put(UInt8(ascii: "\""))
    body(&self)
    reserve(1)
    put(UInt8(ascii: "\""))
  }
}

/// Large buffers between two uses: a new one costs a fault for each of its pages, as much as a tenth of writing a list.
private enum SpareBuffers {
  /// Only large ones are kept, and only so large ones.
  private static let sizes = 1 << 16...1 << 20
  private static let most = 16

  // SAFETY: each lies here or belongs to one `JSONBytes`.
  private struct Spare: @unchecked Sendable {
    let start: UnsafeMutableRawPointer
    let capacity: Int
  }

  private static let spares = Mutex<[Spare]>([])

  /// A buffer with at least a capacity, and its capacity.
  static func take(_ capacity: Int) -> (UnsafeMutableRawPointer, Int) {
    guard sizes.contains(capacity) else { return (.allocate(byteCount: capacity, alignment: 16), capacity) }
    // Of few sizes, so that what lies here fits the next caller.
    let capacity = 1 << (Int.bitWidth - (capacity - 1).leadingZeroBitCount)
    let found = spares.withLock { spares in
      spares.lastIndex { $0.capacity >= capacity }.map { spares.remove(at: $0) }
    }
    if let found { return (found.start, found.capacity) }
    return (.allocate(byteCount: capacity, alignment: 16), capacity)
  }

  static func give(_ start: UnsafeMutableRawPointer, _ capacity: Int) {
    guard sizes.contains(capacity) else { return start.deallocate() }
    let surplus = spares.withLock { spares -> Spare? in
      spares.append(Spare(start: start, capacity: capacity))
      guard spares.count > most else { return nil }
      // Small ones would keep out those that are asked for.
      return spares.indices.min { spares[$0].capacity < spares[$1].capacity }.map { spares.remove(at: $0) }
    }
    surplus?.start.deallocate()
  }
}

/// Lines that one core has written, for another to pass on.
package final class WrittenLines: Sendable {
  package let bytes: JSONBytes

  /// The largest size so far; the next buffers get a little more at once, since growing copies the contents.
  private static let longest = Atomic(1 << 16)
  private static let mostRoom = 1 << 20

  /// Writes the lines.
  package init(_ write: (inout JSONBytes) throws -> Void) rethrows {
    let longest = Self.longest.load(ordering: .relaxed)
    var bytes = JSONBytes(capacity: longest + longest / 8)
    try write(&bytes)
    if bytes.count <= Self.mostRoom { Self.longest.max(bytes.count, ordering: .relaxed) }
    self.bytes = bytes
  }
}

// MARK: - Escaping

extension JSONBytes {
  /// Writes what stands between the quotes of a text.
  package mutating func escaped(_ text: String, _ escapes: Escapes) {
    var text = text
    text.withUTF8 { escaped(UnsafeRawBufferPointer($0), escapes) }
  }

  /// How many bytes are escaped at a time: room is made for the longest spelling of all of them.
  private static let pieceCount = 1 << 13

  /// The same of UTF-8.
  package mutating func escaped(_ bytes: UnsafeRawBufferPointer, _ escapes: Escapes) {
    var from = 0
    while from < bytes.count {
      let end = min(bytes.count, from + Self.pieceCount)
      // A byte becomes six at most; a sequence that the end of a piece cuts is written to its own end.
      reserve(6 * (end - from) + 16)
      from = copy(bytes, from, end, escapes)
    }
  }

  /// - Returns: where it has come to: `end`, or a byte after it.
  @inline(__always)
  private mutating func copy(
    _ bytes: UnsafeRawBufferPointer, _ from: Int, _ end: Int, _ escapes: Escapes
  ) -> Int {
    guard let base = bytes.baseAddress else { return end }
    var place = from
    while true {
      while end &- place >= 8 {
        let word = (base + place).loadUnaligned(as: UInt64.self)
        if Self.mayHoldSpecial(word) { break }
        (start + count).storeBytes(of: word, as: UInt64.self)
        place &+= 8
        count &+= 8
      }
      guard place < end else { return place }
      // The word holds something special, or the rest is shorter than a word.
      let stop = min(end, place &+ 8)
      while place < stop { place = copyOne(base, place, bytes.count, escapes) }
    }
  }

  /// Whether a byte of a word may have to be escaped; 0xC2 begins what may be a control character.
  @inline(__always)
  private static func mayHoldSpecial(_ word: UInt64) -> Bool {
    let (ones, highs): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
    // Of a byte that is zero the subtraction sets the high bit; a byte above it may be taken for one, which costs time.
    let (quote, slash) = (word ^ (ones &* 0x22), word ^ (ones &* 0x5C))
    let (delete, lead) = (word ^ (ones &* 0x7F), word ^ (ones &* 0xC2))
    let low = (word &- ones &* 0x20) & ~word
    let found =
      ((quote &- ones) & ~quote) | ((slash &- ones) & ~slash) | ((delete &- ones) & ~delete) | ((lead &- ones) & ~lead)
    return (low | found) & highs != 0
  }

  /// Copies or escapes the character or byte at a place, and gives the next place.
  @inline(__always)
  private mutating func copyOne(
    _ base: UnsafeRawPointer, _ place: Int, _ end: Int, _ escapes: Escapes
  ) -> Int {
    let byte = (base + place).load(as: UInt8.self)
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      put(UInt8(ascii: "\\"))
      put(byte)
    case 0x0A where escapes == .shown: letter("n")
    case 0x0D where escapes == .shown: letter("r")
    case 0x09 where escapes == .shown: letter("t")
    case 0..<0x20, 0x7F: number(byte)
    case 0xC2 where escapes == .shown && place &+ 1 < end:
      let next = (base + place + 1).load(as: UInt8.self)
      if next < 0xA0 {
        number(next)
      } else {
        put(byte)
        put(next)
      }
      return place &+ 2
    default: put(byte)
    }
    return place &+ 1
  }

  private mutating func letter(_ letter: Unicode.Scalar) {
    put(UInt8(ascii: "\\"))
    put(UInt8(ascii: letter))
  }

  /// A character below U+0100 by its number.
  private mutating func number(_ value: UInt8) {
    letter("u")
    put(0x30)
    put(0x30)
    let digits = UInt16(littleEndian: HexadecimalDigits.lowercase(value))
    put(UInt8(truncatingIfNeeded: digits))
    put(UInt8(truncatingIfNeeded: digits &>> 8))
  }
}
