import Foundation
import PhotoLedger
import TestSupport
import Testing

@Suite("The spelling of local identifiers")
struct LocalIdentifierTests {
  @Test("every spelling of a UUID names the same object, with a suffix, without one, and in either case")
  func spellings() {
    var random = SeededGenerator(seed: 3)
    for _ in 0..<200 {
      let identifier = LocalIdentifier(using: &random)
      let text = identifier.uuidString
      for spelling in [text, text.lowercased(), text + "/L0/001", text + "/", text.lowercased() + "/L0/040/more"] {
        #expect(LocalIdentifier(spelling) == identifier)
      }
      #expect(UUID(uuidString: text).map { LocalIdentifier($0) } == identifier)
    }
  }

  @Test("a text that is not a UUID names nothing, though Foundation reads some: it skips blanks and accepts signs")
  func damage() throws {
    let form = try Regex("[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
    var random = SeededGenerator(seed: 4)
    let letters = Array("0123456789abcdefABCDEFgG-+/ é")
    for _ in 0..<4000 {
      var text = Array(LocalIdentifier(using: &random).uuidString)
      switch random.int(0..<4) {
      case 0: text[random.int(0..<text.count)] = letters[random.int(0..<letters.count)]
      case 1: text.remove(at: random.int(0..<text.count))
      case 2: text.insert(letters[random.int(0..<letters.count)], at: random.int(0..<text.count + 1))
      default: text.swapAt(random.int(0..<text.count), random.int(0..<text.count))
      }
      let head = String(text.prefix { $0 != "/" })
      let expected = head.wholeMatch(of: form) == nil ? nil : UUID(uuidString: head).map { LocalIdentifier($0) }
      #expect(LocalIdentifier(String(text)) == expected, "\(String(text))")
    }
  }

  @Test("a blank or a sign in place of a digit is not a digit", arguments: [" ", "+", "-"])
  func notADigit(_ character: String) {
    #expect(LocalIdentifier("0000000\(character)-0000-4000-8000-000000000000") == nil)
    #expect(LocalIdentifier("00000000-0000-4000-8000-\(character)00000000000") == nil)
  }
}
