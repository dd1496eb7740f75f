import Testing

@testable import EventLog

@Suite("Hexadecimal digits")
struct HexadecimalDigitsTests {
  private static func spelled(_ byte: Int) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

  /// The digits of a number of the library's own, in the order in which they stand in memory.
  private static func text(_ digits: some FixedWidthInteger) -> String {
    withUnsafeBytes(of: digits) { String(decoding: $0, as: UTF8.self) }
  }

  @Test("each byte has the digits that the standard library gives it, in both cases")
  func bytes() {
    for byte in 0..<256 {
      let (value, digits) = (UInt8(byte), Self.spelled(byte))
      #expect(Self.text(HexadecimalDigits.lowercase(value)) == digits)
      #expect(Self.text(HexadecimalDigits.uppercase(value)) == digits.uppercased())
      // In each place among four.
      for place in 0..<4 {
        let word = UInt32(value) << (8 * UInt32(place))
        let wanted = (0..<4).map { $0 == place ? digits : "00" }.joined()
        #expect(Self.text(HexadecimalDigits.lowercase(word)) == wanted)
        #expect(Self.text(HexadecimalDigits.uppercase(word)) == wanted.uppercased())
      }
    }
  }

  @Test("bytes of any number are spelled, and read back in both cases")
  func texts() {
    var random = SeededGenerator(seed: 5)
    for count in 0..<40 {
      let bytes = random.bytes(count)
      let text = bytes.withUnsafeBytes { HexadecimalDigits.text($0) }
      #expect(text == bytes.map { Self.spelled(Int($0)) }.joined())
      #expect(HexadecimalDigits.bytes(spelledBy: text.utf8) == bytes)
      #expect(HexadecimalDigits.bytes(spelledBy: text.uppercased().utf8) == bytes)
    }
  }

  @Test(
    "what is not two digits for each byte is rejected",
    arguments: ["0", "000", "0g", "G0", " 0", "0x", "é", "/0", ":0"])
  func rejected(text: String) {
    #expect(HexadecimalDigits.bytes(spelledBy: text.utf8) == nil)
  }
}
