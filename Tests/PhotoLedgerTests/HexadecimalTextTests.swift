import Testing

@testable import PhotoLedger

@Suite("Bytes as hexadecimal digits")
struct HexadecimalTextTests {
  @Test("an array and its memory are spelled alike, and only so many digits are read back")
  func arrays() {
    let bytes: [UInt8] = [0x00, 0x09, 0x0A, 0x9F, 0xF9, 0xFF]
    #expect(bytes.hexadecimal == "00090a9ff9ff")
    #expect(bytes.withUnsafeBytes { $0.hexadecimal } == "00090a9ff9ff")
    #expect([UInt8](hexadecimal: "00090A9ff9FF", count: 6) == bytes)
    #expect([UInt8](hexadecimal: "00090a9ff9ff", count: 5) == nil)
    #expect([UInt8].spelled(by: "00090a9ff9f".utf8) == nil)
    #expect([UInt8]().hexadecimal.isEmpty)
  }

  @Test(
    "bytes that do not stand for themselves are percent-escaped one by one",
    arguments: [
      ("IMG_0001.HEIC", "IMG_0001.HEIC"), ("", ""), ("100%", "100%25"), ("a\r\nb", "a%0D%0Ab"), ("\u{7F}~", "%7F~"),
      // A percent sign with a combining mark after it is another character.
      ("%\u{301}", "%25\u{301}"),
    ])
  func escapes(text: String, escaped: String) {
    let found = text.percentEscaped { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "%") }
    #expect(found.utf8.elementsEqual(escaped.utf8))
  }

  @Test("letters beyond ASCII are escaped by their bytes, in capitals")
  func letters() {
    #expect("für".percentEscaped { $0 < 0x80 } == "f%C3%BCr")
  }
}
