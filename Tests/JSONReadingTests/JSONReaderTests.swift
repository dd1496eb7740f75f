import JSONReading
import Testing

@Suite("Reading JSON")
struct JSONReaderTests {
  @Test(
    "a text that has more values than allowed is rejected, nested ones included",
    arguments: [("[[1],[1]]", 5), (#"{"a":{"b":null},"c":"d"}"#, 4), ("7", 1), ("[]", 1)])
  func values(_ text: String, _ count: Int) throws {
    let bytes = Array(text.utf8)
    #expect(try JSONReader.read(bytes, valueLimit: count) == JSONReader.read(bytes))
    #expect(throws: JSONError.self) { try JSONReader.read(bytes, valueLimit: count - 1) }
  }

  @Test(
    "four digits in either case name a character, and two halves one beyond the first plane",
    arguments: [(#""\u00e9""#, "\u{E9}"), (#""\u00E9""#, "\u{E9}"), (#""\uD83d\uDe00""#, "\u{1F600}")])
  func characters(_ text: String, _ character: String) throws {
    #expect(try JSONReader.read(Array(text.utf8)).textValue == character)
  }

  @Test(
    "fewer digits, and other characters in their place, are rejected",
    arguments: [#""\u""#, #""\u00""#, #""\u00e""#, #""\u00g9""#, #""\u+0e9""#, #""\u 0e9""#, #""\u00é""#, #""\u00"#])
  func digits(_ text: String) {
    let error = #expect(throws: JSONError.self) { try JSONReader.read(Array(text.utf8)) }
    #expect(error?.clause.contains("four hexadecimal digits") == true)
  }
}
