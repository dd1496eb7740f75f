import Testing

import JSONReading
@testable import MediaImport

@Suite("JSON as exiftool writes it")
struct ForeignJSONTests {
  @Test("numbers keep their spelling", arguments: ["1.10", "070", "-0", "1e5", "true", "null"])
  func spelling(literal: String) {
    #expect(JSON(foreign: Array("[\(literal)]".utf8)) == .list([.written(literal)]))
  }

  @Test(
    "escapes and surrogate pairs are read",
    arguments: [
      (#""a\"b\\\/\n\t""#, "a\"b\\/\n\t"), (#""\u00e9""#, "é"), (#""\ud83c\udfd4""#, "🏔"), (#""\ud83cx""#, "\u{FFFD}x"),
      (#""\ud83c\u0041""#, "\u{FFFD}A"), ("\"a\tb\"", "a\tb"), (#""\é\q""#, "éq"),
    ])
  func escapes(json: String, text: String) {
    #expect(JSON(foreign: Array(json.utf8)) == .text(text))
  }

  @Test("bytes that are not UTF-8 become U+FFFD, and a key may appear twice")
  func leniency() {
    #expect(JSON(foreign: [0x22, 0x61, 0xFF, 0x22]) == .text("a\u{FFFD}"))
    #expect(JSON(foreign: Array(#"{"a":1,"a":2.50}"#.utf8))?["a"] == .written("1"))
    #expect(throws: JSONError.self) { try JSONReader.read(Array(#"{"a":1,"a":2.50}"#.utf8)) }
  }

  @Test("every scalar is text in its spelling")
  func texts() {
    #expect(JSON(foreign: Array(#"[1.10,"1.10",true,{"a":1},["b"]]"#.utf8))?.texts == ["1.10", "1.10", "true", "b"])
  }

  @Test(
    "invalid JSON is rejected",
    arguments: [
      "", "[", "[1,", "{\"a\":}", "{\"a\" 1}", "[1] 2", "\"open", "{1:2}", String(repeating: "[", count: 100),
    ])
  func malformed(json: String) {
    #expect(JSON(foreign: Array(json.utf8)) == nil)
  }
}
