import Foundation
import JSONReading
import Testing

@testable import LibraryJSON
@testable import PhotoLedgerCommand

@Suite("Text")
struct TextTests {
  @Test(
    "a date is written as it was read",
    arguments: [
      "2024-05-31T18:30:00+02:00", "2024-02-29T23:59:59.000001-09:30", "1969-12-31T23:59:59.5Z", "0001-01-01T00:00:00Z",
      "9999-12-31T23:59:59Z", "2000-03-01T00:00:00+00:00", "1900-02-28T12:00:00-00:30",
    ])
  func dates(text: String) throws {
    let written = try #require(WrittenDate(text))
    #expect(DateText.instant(written.date, offset: written.offset) == text)
  }

  @Test(
    "an instant is printed to the second, in UTC, and read again",
    arguments: [
      (1_717_173_000.999, "2024-05-31 16:30:00Z"), (-0.5, "1969-12-31 23:59:59Z"), (0, "1970-01-01 00:00:00Z"),
    ] as [(Double, String)])
  func seconds(seconds: Double, text: String) throws {
    #expect(DateText.second(Date(timeIntervalSince1970: seconds)) == text)
    #expect(try #require(WrittenDate(text)).date == Date(timeIntervalSince1970: seconds.rounded(.down)))
  }

  @Test(
    "an invalid date is not read",
    arguments: [
      "", "2024-05-31", "2024-13-01T00:00:00Z", "2023-02-29T00:00:00Z", "2024-05-31T24:00:00Z", "2024-05-31T18:30:00",
      "2024-05-31T18:30:00+0200", "2024-05-31T18:30:00Zx", "2024-05-31T18:30:00.Z", "２024-05-31T18:30:00Z",
    ])
  func noDates(text: String) { #expect(WrittenDate(text) == nil) }

  @Test("dates agree with Foundation's", arguments: [-5e9, -1, 0, 951_782_400, 1_717_173_000, 4e9])
  func agreement(seconds: Double) throws {
    let date = Date(timeIntervalSince1970: seconds)
    #expect(DateText.instant(date) == date.formatted(Date.ISO8601FormatStyle()))
    #expect(try #require(WrittenDate(DateText.instant(date))).date == date)
  }

  @Test(
    "JSON is written as it was read",
    arguments: [
      #"{"b":1,"a":[true,false,null,-7,0.5,1e-07],"c":{}}"#, #"["\u007f\u0080\u009b\u009f "]"#,
      #"["\u0001\"\\\n😀é",9223372036854775807,[]]"#, "0", #""""#,
    ])
  func json(text: String) throws { #expect(try JSONReader.read(Array(text.utf8)).description == text) }

  @Test(
    "invalid JSON is rejected with the position",
    arguments: [
      ("", 1), ("{", 2), (#"{"a":1,}"#, 8), (#"{"a":1,"a":2}"#, 11), ("[1 2]", 4), ("01", 2), ("1.", 3), ("nul", 1),
      (#""\ud83d""#, 8), (#""\x""#, 4), ("\"\u{1}\"", 2), ("[1]x", 4), ("+1", 1), ("1e999", 6),
      (String(repeating: "[", count: 100), 65),
    ])
  func noJSON(text: String, byte: Int) {
    let error = #expect(throws: JSONError.self) { try JSONReader.read(Array(text.utf8)) }
    #expect(error?.description.hasSuffix("at byte \(byte).") == true, "\(error?.description ?? "")")
  }

  @Test("bytes that are not UTF-8 are rejected")
  func notUTF8() { #expect(throws: JSONError.self) { try JSONReader.read([0x22, 0xFF, 0x22]) } }

  @Test(
    "a size is printed in the largest unit of which it has at least one",
    arguments: [
      (0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1000, "1.0 kB"), (999_949, "999.9 kB"), (999_950, "1.0 MB"),
      (12_345_678, "12.3 MB"), (5_000_000_000_000, "5.0 TB"), (.max, "18446744.1 TB"),
    ] as [(UInt64, String)])
  func sizes(count: UInt64, text: String) { #expect(TextLayout.bytes(count) == text) }

  @Test("a line is broken between words, keeps its gaps, and is indented from its second line on")
  func folding() {
    let line = "in   2024-05-31  owner (album add)  'IMG_1.jpg'"
    #expect(TextLayout.folded(line, at: nil) == line && TextLayout.folded(line, at: 47) == line)
    #expect(TextLayout.folded(line, at: 24) == "in   2024-05-31  owner\n    (album add)\n    'IMG_1.jpg'")
    #expect(TextLayout.folded("  a \(String(repeating: "x", count: 30)) b", at: 8).split(separator: "\n").count == 3)
    #expect(TextLayout.folded("日本語 日本語", at: 8) == "日本語\n    日本語")
  }

  @Test("text is cut to columns, wide letters counted twice")
  func fitting() {
    #expect(TextLayout.fitted("abc", 5) == "abc  ")
    #expect(TextLayout.fitted("abcdef", 4) == "abc…")
    #expect(TextLayout.fitted("日本語", 5) == "日本…")
    #expect(TextLayout.fitted("日本語", 4) == "日… ")
    #expect(TextLayout.width("e\u{301}") == 1)
    #expect(TextLayout.printable("a\u{1B}[31m") == "a\u{FFFD}[31m")
    let turned = TextLayout.printable("\u{7F}\u{9B}\u{202E}gpj\u{2066}\u{200D}")
    #expect(turned == "\u{FFFD}\u{FFFD}\u{FFFD}gpj\u{FFFD}\u{200D}")
    #expect(TextLayout.grouped(-1_234_567) == "-1,234,567")
    #expect((0...2).map { TextLayout.counted($0, "pair") } == ["0 pairs", "1 pair", "2 pairs"])
    let stacks = [1, 1200].map { TextLayout.counted($0, "stack made", "stacks made") }
    #expect(stacks == ["1 stack made", "1,200 stacks made"])
  }
}
