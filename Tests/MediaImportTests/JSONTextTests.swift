import Testing

import PhotoLedger
@testable import MediaImport

@Suite("JSON as exiftool writes it")
struct JSONTextTests {
  @Test("numbers keep their spelling", arguments: ["1.10", "070", "-0", "1e5", "true", "null"])
  func spelling(literal: String) {
    #expect(JSONText.parse(Array("[\(literal)]".utf8)) == .list([.text(literal)]))
  }

  @Test(
    "escapes and surrogate pairs are read",
    arguments: [
      (#""a\"b\\\/\n\t""#, "a\"b\\/\n\t"), (#""\u00e9""#, "é"), (#""\ud83c\udfd4""#, "🏔"), (#""\ud83cx""#, "\u{FFFD}x"),
    ])
  func escapes(json: String, text: String) {
    #expect(JSONText.parse(Array(json.utf8)) == .text(text))
  }

  @Test(
    "what is no JSON is refused",
    arguments: [
      "", "[", "[1,", "{\"a\":}", "{\"a\" 1}", "[1] 2", "\"open", "{1:2}", String(repeating: "[", count: 100),
    ])
  func malformed(json: String) {
    #expect(JSONText.parse(Array(json.utf8)) == nil)
  }
}
