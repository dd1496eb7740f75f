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
}
