import PhotoLedger
import Testing

@Suite("Reading JSON")
struct JSONReaderTests {
  @Test(
    "a text is refused that has more values than it may have, those within others included",
    arguments: [("[[1],[1]]", 5), (#"{"a":{"b":null},"c":"d"}"#, 4), ("7", 1), ("[]", 1)])
  func values(_ text: String, _ count: Int) throws {
    let bytes = Array(text.utf8)
    #expect(try JSONReader.read(bytes, valueLimit: count) == JSONReader.read(bytes))
    #expect(throws: JSONError.self) { try JSONReader.read(bytes, valueLimit: count - 1) }
  }
}
