import Foundation

// The canonical spelling of a condition: a format string that `Condition(format:)` reads back as the same condition in
// normal form. Smart albums are stored so, and people read it in logs. Doubles are written with the fewest digits that
// read back to the same bits, infinite ones as 1e999, dates as CAST(seconds since 2001, "NSDate").

extension Condition: CustomStringConvertible {
  /// The condition as a predicate format string without arguments.
  public var description: String {
    switch self {
    case .always: "TRUEPREDICATE"
    case .never: "FALSEPREDICATE"
    case .comparison(let key, let comparator, let value):
      "\(key.rawValue) \(comparator.rawValue) \(value.formatDescription)"
    case .pair(let one, let comparator, let two): "\(one.rawValue) \(comparator.rawValue) \(two.rawValue)"
    case .oneOf(let key, let values):
      "\(key.rawValue) IN {\(values.map(\.formatDescription).joined(separator: ", "))}"
    case .bits(let key, let mask, let comparator, let value):
      "(\(key.rawValue) & \(mask)) \(comparator.rawValue) \(value)"
    case .text(let key, let test, let text, let options):
      "\(key.rawValue) \(test.rawValue)\(options.formatDescription) \(PropertyValue.text(text).formatDescription)"
    case .and(let parts): parts.isEmpty ? "TRUEPREDICATE" : Self.join(parts, " AND ")
    case .or(let parts): parts.isEmpty ? "FALSEPREDICATE" : Self.join(parts, " OR ")
    case .not(let part): "NOT (\(part))"
    }
  }

  private static func join(_ parts: [Condition], _ word: String) -> String {
    parts.map { part in
      switch part {
      case .and, .or: "(\(part))"
      default: part.description
      }
    }.joined(separator: word)
  }
}

extension Condition.TextOptions {
  var formatDescription: String {
    switch (contains(.caseInsensitive), contains(.diacriticInsensitive)) {
    case (true, true): "[cd]"
    case (true, false): "[c]"
    case (false, true): "[d]"
    case (false, false): ""
    }
  }
}

extension PropertyValue {
  /// The value as a literal of the predicate grammar.
  package var formatDescription: String {
    switch self {
    case .null: "NULL"
    case .bool(let flag): flag ? "TRUE" : "FALSE"
    case .integer(let number): "\(number)"
    case .double(let number): Self.literal(number)
    case .date(let date): "CAST(\(Self.literal(date.timeIntervalSinceReferenceDate)), \"NSDate\")"
    case .text(let text): Self.literal(text)
    case .identifier(let identifier): "\"\(identifier.uuidString)\""
    }
  }

  private static func literal(_ number: Double) -> String {
    number.isInfinite ? (number < 0 ? "-1e999" : "1e999") : "\(number)"
  }

  private static func literal(_ text: String) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": literal += "\\\(scalar)"
      case "\n": literal += "\\n"
      case "\r": literal += "\\r"
      case "\t": literal += "\\t"
      case "\0"..<" ", "\u{7F}":
        let digits = String(scalar.value, radix: 16)
        literal += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: literal.unicodeScalars.append(scalar)
      }
    }
    return literal + "\""
  }
}
