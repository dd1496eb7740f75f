import JSONReading
import Testing

@Suite("Marks on a character")
struct MarkRunsTests {
  private static func marked(_ count: Int) -> String {
    "a" + (0..<count).map { $0 % 2 == 0 ? "\u{300}" : "\u{323}" }.joined()
  }

  @Test(
    "a text of the library's JSON may have 128 marks on a character, as often as it likes, and no more",
    arguments: ["key", "text"])
  func strict(_ place: String) throws {
    func line(_ text: String) -> [UInt8] { Array((place == "key" ? "{\"\(text)\":1}" : "[\"\(text)\"]").utf8) }
    let most = Self.marked(String.markLimit)
    for text in [most, most + most, most + "東京" + most, String(repeating: "é", count: 1_000)] {
      let read = try JSONReader.read(line(text))
      #expect((place == "key" ? read.objectValue?.first?.key : read.textsValue?.first) == text)
    }
    for text in [Self.marked(String.markLimit + 1), most + Self.marked(500) + most, "x" + Self.marked(100_000)] {
      #expect(throws: JSONError.self) { try JSONReader.read(line(text)) }
    }
  }

  @Test("a text of an exported line may have any number of marks on a character, and a key of one 64 bytes")
  func exported() throws {
    func read(_ line: String) throws(JSONError) -> JSON { try JSONReader.read(Array(line.utf8), .exported) }
    let long = Self.marked(String.markLimit + 1)
    let text = try #require(try read("[\"\(long)\"]").textsValue?.first)
    #expect(Array(text.utf8) == Array(long.utf8))
    for key in [String(repeating: "k", count: 64), String(repeating: "\\u00e9", count: 32), Self.marked(31)] {
      #expect(try read("{\"\(key)\":1}").objectValue?.count == 1, "\(key)")
    }
    for key in [
      String(repeating: "k", count: 65), String(repeating: "k", count: 100_000),
      "k" + String(repeating: "\\u00e9", count: 32), Self.marked(32), long,
    ] {
      let error = #expect(throws: JSONError.self) { try read("{\"\(key)\":1}") }
      #expect(error?.clause.hasPrefix("a key may have 64 bytes at most") == true, "\(error?.clause ?? "")")
    }
    #expect(throws: JSONError.self) { try read("[\"\u{1}\"]") }
  }

  @Test("of texts by other programs excess marks are removed, and nothing else")
  func foreign() throws {
    let long = Self.marked(10_000) + "b" + Self.marked(3) + "c"
    let read = try JSONReader.read(Array("[\"\(long)\"]".utf8), .foreign)
    let text = try #require(read.textsValue?.first)
    let kept = Self.marked(String.markLimit) + "b" + Self.marked(3) + "c"
    #expect(Array(text.utf8) == Array(kept.utf8))
    #expect(text.isBoundedInMarks && !long.isBoundedInMarks && long.boundedInMarks == text)
  }
}
