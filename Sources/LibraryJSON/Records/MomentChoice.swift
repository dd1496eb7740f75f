package import Foundation
package import PhotoLedger

// How a state of the library is named in text.
//
//     t1-0123456789abcdef-2s     the state of a token
//     4711                       the state after the commit of an event of the log
//     2024-05-31T18:30:00+02:00  the state at an instant
//     2024-05-31                 the state at the end of that day, in UTC
//
// The forms cannot be confused: a token begins with a letter, a date has hyphens after four digits, and a sequence is
// digits alone.

/// A state, as a command line or a query names it.
package enum MomentChoice: Sendable {
  case token(Token)
  case sequence(UInt64)
  case date(Date)

  /// Reads a text; nil if it has none of the forms.
  /// - Throws: `LibraryError` `.invalidToken` for a token that is malformed.
  package init?(_ text: String) throws {
    if let sequence = UInt64(text), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      self = .sequence(sequence)
    } else if let date = WrittenDate(text)?.date {
      self = .date(date)
    } else if let day = DateText.wallTime(text + "T00:00:00") {
      // The day belongs to what it shows, to its last microsecond.
      self = .date(day.addingTimeInterval(86_400 - 0.000_001))
    } else if text.hasPrefix("t1-") || text.hasPrefix("v1-") {
      self = .token(try Token(text))
    } else {
      return nil
    }
  }

  /// A library as it was there.
  package func view(of library: PhotoLibrary) throws -> PhotoLibrary {
    switch self {
    case .token(let token): try library.at(token)
    case .sequence(let sequence): try library.at(sequence: sequence)
    case .date(let date): try library.at(date: date)
    }
  }
}
