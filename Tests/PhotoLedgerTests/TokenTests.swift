@testable import PhotoLedger
import TestSupport
import Testing

@Suite("Tokens")
struct TokenTests {
  @Test("a token reads back from its spelling, in capital letters as well", arguments: 0..<20)
  func readBack(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    for view in [nil, 0, random.next()] as [UInt64?] {
      for position in [0, 35, 36, .max, random.next() >> UInt64(random.int(0..<64))] as [UInt64] {
        let token = Token(library: random.next(), view: view, position: position)
        #expect(try Token(token.description) == token)
        #expect(try Token(token.description.prefix(2) + token.description.dropFirst(2).uppercased()) == token)
      }
    }
  }

  @Test(
    "text that is not a token is refused",
    arguments: [
      "", "t", "t1", "t1-", "t1--1", "t2-0123456789abcdef-1", "x1-0123456789abcdef-1", "T1-0123456789abcdef-1",
      "t1-0123456789abcde-1", "t1-0123456789abcdef0-1", "t1-0123456789abcdeg-1", "t1-+123456789abcdef-1",
      "t1-0123456789abcdef", "t1-0123456789abcdef-", "t1-0123456789abcdef-+1", "t1-0123456789abcdef--1",
      "t1-0123456789abcdef-1-", "t1-0123456789abcdef-1 ", " t1-0123456789abcdef-1", "t1-0123456789abcdef-ä",
      "t1-0123456789abcdef-3w5e11264sgsg", "t1-0123456789abcdef-00000000000001",
      "t1-0123456789abcdef-0123456789abcdef-1", "v1-0123456789abcdef-1", "v1-0123456789abcdef--1",
      "v1-0123456789abcdef-0123456789abcdef", "v1-0123456789abcdef-0123456789abcdef-", "t1 0123456789abcdef-1",
    ])
  func refused(text: String) {
    let error = #expect(throws: LibraryError.self) { try Token(text) }
    #expect(error?.code == .invalidToken)
  }

  @Test("the largest position is the last that a token names")
  func largest() throws {
    #expect(try Token("t1-0123456789abcdef-3w5e11264sgsf").position == .max)
  }
}
