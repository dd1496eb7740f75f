import Foundation

// Comments and the contents of literals are blanked out where they stand, byte by byte, so that each line keeps its
// length. One loop passes over all that lies between two places where the meaning changes: in code a slash, a pound, a
// quote or a parenthesis, in a literal a quote or a backslash. The bytes are read by pointers: in a debug build the
// subscript of an array takes ten times as long, and every file of the package comes by here.

/// Blanks out comments and the contents of literals.
struct Blanker {
  private enum Place {
    case code(parentheses: Int)
    case blockComment(depth: Int)
    case string(pounds: Int, isMultiline: Bool)
    case expression
  }

  private let bytes: UnsafePointer<UInt8>
  /// A copy of the bytes, in which they are blanked out.
  private let output: UnsafeMutablePointer<UInt8>
  private let count: Int
  private var index = 0
  private var places: [Place] = [.code(parentheses: 0)]

  private init(bytes: UnsafePointer<UInt8>, output: UnsafeMutablePointer<UInt8>, count: Int) {
    self.bytes = bytes
    self.output = output
    self.count = count
  }

  static func blank(_ text: [UInt8]) -> [UInt8] {
    var blanked = text
    text.withUnsafeBufferPointer { bytes in
      blanked.withUnsafeMutableBufferPointer { output in
        guard let from = bytes.baseAddress, let to = output.baseAddress else { return }
        var blanker = Blanker(bytes: from, output: to, count: bytes.count)
        blanker.blank()
      }
    }
    return blanked
  }

  private mutating func blank() {
    while index < count {
      switch places[places.count - 1] {
      case .code(let parentheses): readCode(parentheses)
      case .blockComment(let depth): readBlockComment(depth)
      case .string(let pounds, let isMultiline): readString(pounds, isMultiline)
      case .expression: readExpression()
      }
    }
  }

  /// The byte at a place; 0 behind the end.
  private func byte(at place: Int) -> UInt8 { place < count ? bytes[place] : 0 }

  /// Whether pounds stand at a place, as many as those of the literal.
  private func seesPounds(_ pounds: Int, at start: Int) -> Bool {
    var place = start
    while place < start + pounds {
      if byte(at: place) != UInt8(ascii: "#") { return false }
      place += 1
    }
    return true
  }

  private func seesQuotes(at place: Int) -> Bool {
    let quote = UInt8(ascii: "\"")
    return byte(at: place) == quote && byte(at: place + 1) == quote && byte(at: place + 2) == quote
  }

  private mutating func hide(_ length: Int) {
    let end = min(index + length, count)
    while index < end {
      if bytes[index] != 0x0A { output[index] = 0x20 }
      index += 1
    }
  }

  private mutating func hideLine() {
    var end = count
    if let found = memchr(bytes + index, 0x0A, count - index) {
      end = UnsafeRawPointer(found) - UnsafeRawPointer(bytes)
    }
    memset(output + index, 0x20, end - index)
    index = end
  }

  private mutating func readCode(_ before: Int) {
    let (slash, pound, quote) = (UInt8(ascii: "/"), UInt8(ascii: "#"), UInt8(ascii: "\""))
    let (opening, closing) = (UInt8(ascii: "("), UInt8(ascii: ")"))
    var parentheses = before
    while index < count {
      let byte = bytes[index]
      if byte == slash {
        if self.byte(at: index + 1) == slash {
          hideLine()
          continue
        }
        if self.byte(at: index + 1) == UInt8(ascii: "*") {
          leaveCode(parentheses, for: .blockComment(depth: 1))
          return hide(2)
        }
      } else if byte == pound || byte == quote {
        if byte == pound, self.byte(at: index + 1) == slash {
          leaveCode(parentheses, for: .expression)
          index += 2
          return
        }
        if let literal = stringOpening() {
          leaveCode(parentheses, for: .string(pounds: literal.pounds, isMultiline: literal.isMultiline))
          index += literal.pounds + (literal.isMultiline ? 3 : 1)
          return
        }
      } else if byte == opening {
        parentheses += 1
      } else if byte == closing {
        if parentheses == 0, places.count > 1 {
          // The end of an interpolation: back in the string.
          places.removeLast()
          return hide(1)
        }
        parentheses -= 1
      }
      index += 1
    }
  }

  private mutating func leaveCode(_ parentheses: Int, for place: Place) {
    places[places.count - 1] = .code(parentheses: parentheses)
    places.append(place)
  }

  private func stringOpening() -> (pounds: Int, isMultiline: Bool)? {
    var pounds = 0
    while byte(at: index + pounds) == UInt8(ascii: "#") { pounds += 1 }
    let quote = index + pounds
    guard byte(at: quote) == UInt8(ascii: "\"") else { return nil }
    // `#"""#` is a string of one line that holds a quote.
    return (pounds, seesQuotes(at: quote) && byte(at: quote + 3) == UInt8(ascii: "\n"))
  }

  private mutating func readBlockComment(_ before: Int) {
    let (slash, star) = (UInt8(ascii: "/"), UInt8(ascii: "*"))
    var depth = before
    while index < count, depth > 0 {
      let (byte, next) = (bytes[index], self.byte(at: index + 1))
      if byte == slash, next == star {
        depth += 1
        hide(2)
      } else if byte == star, next == slash {
        depth -= 1
        hide(2)
      } else {
        hide(1)
      }
    }
    places.removeLast()
  }

  private mutating func readExpression() {
    while index < count, bytes[index] != UInt8(ascii: "/") || byte(at: index + 1) != UInt8(ascii: "#") { hide(1) }
    places.removeLast()
    index += 2
  }

  private mutating func readString(_ pounds: Int, _ isMultiline: Bool) {
    let (quote, backslash, lineFeed) = (UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "\n"))
    while index < count {
      let byte = bytes[index]
      if byte == quote {
        let length = isMultiline ? 3 : 1
        if !isMultiline || seesQuotes(at: index), seesPounds(pounds, at: index + length) {
          places.removeLast()
          index += length + pounds
          return
        }
      } else if byte == backslash, seesPounds(pounds, at: index + 1) {
        let isInterpolation = self.byte(at: index + 1 + pounds) == UInt8(ascii: "(")
        hide(pounds + 2)
        if isInterpolation {
          places.append(.code(parentheses: 0))
          return
        }
        continue
      }
      if byte != lineFeed { output[index] = 0x20 }
      index += 1
    }
  }
}
