/// The two digits of a byte, and the eight of four bytes, in the order in which they stand in memory.
///
/// The core writes JSON with these, so they are inlined into its loops. LMDB and HTTPServing, which cannot import this
/// module, spell the digits of an error message and read those of an escape themselves.
@usableFromInline
package enum HexadecimalDigits {
  /// Writes bytes in small digits, two for each byte.
  @inlinable
  package static func spell(_ bytes: UnsafeRawBufferPointer, at place: UnsafeMutableRawPointer) {
    guard let from = bytes.baseAddress else { return }
    var index = 0
    while bytes.count &- index >= 4 {
      let word = UInt32(littleEndian: (from + index).loadUnaligned(as: UInt32.self))
      (place + 2 &* index).storeBytes(of: lowercase(word), as: UInt64.self)
      index &+= 4
    }
    while index < bytes.count {
      (place + 2 &* index).storeBytes(of: lowercase((from + index).load(as: UInt8.self)), as: UInt16.self)
      index &+= 1
    }
  }

  /// Bytes in small digits, as a text.
  package static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
      guard let place = UnsafeMutableRawBufferPointer(text).baseAddress else { return 0 }
      spell(bytes, at: place)
      return 2 * bytes.count
    }
  }

  /// The bytes that digits in either case spell, two for each byte; nil for anything else.
  package static func bytes(spelledBy digits: some Collection<UInt8>) -> [UInt8]? {
    guard digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    var high: UInt8?
    for digit in digits {
      guard let value = Self.value(of: digit) else { return nil }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return bytes
  }

  /// The digits of four bytes, the first of which is the lowest of the word.
  @inlinable @inline(__always)
  package static func lowercase(_ word: UInt32) -> UInt64 { spelled(word, letters: 0x27) }

  /// The same in capitals.
  @inlinable @inline(__always)
  package static func uppercase(_ word: UInt32) -> UInt64 { spelled(word, letters: 0x07) }

  /// The digits of a byte.
  @inlinable @inline(__always)
  package static func lowercase(_ byte: UInt8) -> UInt16 { spelled(byte, letters: 0x27) }

  /// The same in capitals.
  @inlinable @inline(__always)
  package static func uppercase(_ byte: UInt8) -> UInt16 { spelled(byte, letters: 0x07) }

  /// - Parameter letters: how far the first letter is from the character after `9`.
  @inlinable @inline(__always)
  static func spelled(_ word: UInt32, letters: UInt64) -> UInt64 {
    // Each byte to the lower half of 16 bits, then its high nibble there, and its low nibble to the upper half.
    var bytes = UInt64(word)
    bytes = (bytes | bytes &<< 16) & 0x0000_FFFF_0000_FFFF
    bytes = (bytes | bytes &<< 8) & 0x00FF_00FF_00FF_00FF
    let nibbles = (bytes &>> 4) & 0x000F_000F_000F_000F | (bytes & 0x000F_000F_000F_000F) &<< 8
    let isLetter = (nibbles &+ 0x0606_0606_0606_0606) &>> 4 & 0x0101_0101_0101_0101
    return (0x3030_3030_3030_3030 &+ nibbles &+ isLetter &* letters).littleEndian
  }

  @inlinable @inline(__always)
  static func spelled(_ byte: UInt8, letters: UInt16) -> UInt16 {
    let nibbles = UInt16(byte &>> 4) | UInt16(byte & 15) &<< 8
    // 6 more than a digit above 9 reaches the bit above the nibble.
    let isLetter = (nibbles &+ 0x0606) &>> 4 & 0x0101
    return (0x3030 &+ nibbles &+ isLetter &* letters).littleEndian
  }

  /// The value of a digit in either case; nil for any other character.
  @inlinable @inline(__always)
  package static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
