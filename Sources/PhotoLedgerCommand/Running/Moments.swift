import Foundation
import LibraryJSON
import PhotoLedger

// Which state of the library a command looks at.
//
//     --at t1-0123456789abcdef-2s     the state of a token
//     --at 4711                       the state after the commit of an event of the log
//     --at 2024-05-31T18:30:00+02:00  the state at an instant
//     --at 2024-05-31                 the state at the end of that day, in UTC
//
// The forms are read by MomentChoice.swift.

extension MomentChoice {
  /// - Throws: ``UsageError`` for a text of another form, `LibraryError` for an invalid token.
  init(_ text: String, of name: String) throws {
    guard let choice = try MomentChoice(text) else {
      throw UsageError(
        """
        \(name) needs a token, the number of an event, or a date such as 2024-05-31 or 2024-05-31T18:30:00Z; \
        got '\(text.prefix(80))'.
        """)
    }
    self = choice
  }
}

extension Option {
  /// The option of every command that reads and does not follow.
  static let at = Option(
    "at", "TOKEN|SEQUENCE|DATE", "as of a state, an event of the log, or a date; default now")
}

extension [Option] {
  /// The options of a command that reads the library of now, or of a moment.
  static let looking: [Option] = opening + [.at]
}

extension Invocation {
  /// The state that `--at` names, for a command that has the option; nil: now.
  func moment() throws -> MomentChoice? {
    guard command.options.contains(where: { $0.name == Option.at.name && $0.placeholder == Option.at.placeholder })
    else { return nil }
    return try text(Option.at.name).map { try MomentChoice($0, of: "--at") }
  }

  /// The instant that an option names, or so many seconds after the start of the day that it names, in UTC; nil if it
  /// is not given.
  /// - Throws: ``UsageError`` for an invalid text.
  func instant(_ name: String, inDay seconds: Double) throws -> Date? {
    guard let text = text(name) else { return nil }
    let day = DateText.wallTime(text + "T00:00:00")
    guard let date = WrittenDate(text)?.date ?? day?.addingTimeInterval(seconds) else {
      throw UsageError("--\(name) needs a day or an instant, 2024-05-31 or 2024-05-31T18:30:00Z; got '\(text)'.")
    }
    return date
  }
}
