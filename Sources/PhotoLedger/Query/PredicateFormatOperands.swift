import Foundation

// Operands: keys, literals, arguments, lists, and arithmetic on constants.
extension PredicateParser {
  /// How tightly the operators between operands bind; all looser ones belong to logic and comparison.
  private static let precedences = [
    "|": 1, "^": 1, "&": 2, "<<": 3, ">>": 3, "+": 4, "-": 4, "*": 5, "/": 5, "**": 6,
  ]

  /// Reads operands joined by operators that bind more tightly than `lowest`.
  mutating func binary(above lowest: Int) throws(FetchError) -> Operand {
    var left = try unary()
    while case .symbol(let symbol) = token, let precedence = Self.precedences[symbol], precedence > lowest {
      let place = position
      try advance()
      let right = try binary(above: precedence)
      left = Operand(node: try combine(left, symbol, right, at: place), position: left.position)
    }
    return left
  }

  private mutating func unary() throws(FetchError) -> Operand {
    let start = position
    guard token == .symbol("-") || token == .symbol("~") else { return try primary() }
    let isMinus = token == .symbol("-")
    try advance()
    if isMinus && token == .integer(1 << 63) { return try literal(.integer(.min), at: start) }
    let operand = try deeper { (parser) throws(FetchError) in try parser.unary() }
    switch operand.node {
    case .value(.integer(let number)) where !isMinus: return Operand(node: .value(.integer(~number)), position: start)
    case .value(.integer(let number)) where number != .min:
      return Operand(node: .value(.integer(-number)), position: start)
    case .value(.double(let number)) where isMinus: return Operand(node: .value(.double(-number)), position: start)
    default:
      throw failure(
        .unsupported(isMinus ? "-" : "~", "Only a number can follow '\(isMinus ? "-" : "~")'."), at: start)
    }
  }

  private func combine(
    _ left: Operand, _ symbol: String, _ right: Operand, at place: Int
  ) throws(FetchError) -> Node {
    switch (left.node, symbol, right.node) {
    case (.key(let key), "&", .value(.integer(let mask))), (.value(.integer(let mask)), "&", .key(let key)):
      return .masked(key, mask)
    case (.masked(let key, let one), "&", .value(.integer(let two))),
      (.value(.integer(let two)), "&", .masked(let key, let one)):
      return .masked(key, one & two)
    case (.value(let one), _, .value(let two)):
      guard let result = PropertyValue.calculate(one, symbol, two) else {
        throw failure(
          .malformed(
            symbol, "\(one.formatDescription) \(symbol) \(two.formatDescription) has no value."), at: place)
      }
      return .value(result)
    default:
      throw failure(
        .unsupported(
          symbol, "'\(symbol)' on properties is not supported; only 'key & number' and arithmetic on constants are."),
        at: place)
    }
  }

  private mutating func primary() throws(FetchError) -> Operand {
    let start = position
    switch token {
    case .text(let text): return try literal(.text(text), at: start)
    case .integer(let number):
      guard let signed = Int64(exactly: number) else {
        throw .malformed("\(number)", "\(number) does not fit into a 64-bit integer.")
      }
      return try literal(.integer(signed), at: start)
    case .double(let number): return try literal(.double(number), at: start)
    case .specifier(let specifier): return Operand(node: try argument(specifier), position: start)
    case .escapedWord(let word):
      let key = try PropertyKey(spelled: word, for: entity)
      try advance()
      return Operand(node: .key(key), position: start)
    case .word(let word): return Operand(node: try named(word), position: start)
    case .symbol("("):
      try advance()
      let inner = try disjunction()
      try expect(")", after: "the part in parentheses")
      return Operand(node: inner.node, position: start)
    case .symbol("{"):
      try advance()
      return Operand(node: .list(try list()), position: start)
    default:
      throw .malformed("\(token)", "Expected a key or a value, found \(token).")
    }
  }

  private mutating func literal(_ value: PropertyValue, at start: Int) throws(FetchError) -> Operand {
    try advance()
    return Operand(node: .value(value), position: start)
  }

  /// Reads the rest of `{a, b, c}`.
  private mutating func list() throws(FetchError) -> [PropertyValue] {
    var values: [PropertyValue] = []
    if try take("}") { return values }
    repeat {
      let element = try deeper { (parser) throws(FetchError) in try parser.binary(above: 0) }
      guard case .value(let value) = element.node else {
        throw failure(.unsupported("{…}", "A list can contain only constants."), at: element.position)
      }
      values.append(value)
    } while try take(",")
    try expect("}", after: "the list")
    return values
  }

  private mutating func named(_ word: String) throws(FetchError) -> Node {
    switch word.uppercased() {
    case "TRUEPREDICATE": return try constant(.condition(.always))
    case "FALSEPREDICATE": return try constant(.condition(.never))
    case "NULL", "NIL": return try constant(.value(.null))
    case "TRUE", "YES": return try constant(.value(.bool(true)))
    case "FALSE", "NO": return try constant(.value(.bool(false)))
    case "CAST": return .value(try cast())
    case "ANY", "SOME", "ALL", "NONE", "SUBQUERY": throw Self.unsupportedWord(word)
    case "AND", "OR", "NOT", "IN", "BETWEEN", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES":
      throw .malformed(word, "Expected a key or a value, found \(token).")
    default:
      let start = position
      try advance()
      if token == .symbol("(") {
        throw failure(
          .unsupported(word, "'\(word)(…)' is a function; fetches support only CAST. Pass its value as %@."),
          at: start)
      }
      if token == .symbol("[") {
        throw failure(
          .unsupported(word, "'\(word)[…]' selects a member of a collection, which fetches do not support."), at: start)
      }
      do throws(FetchError) {
        return .key(try PropertyKey(spelled: word, for: entity))
      } catch {
        throw failure(error, at: start)
      }
    }
  }

  private mutating func constant(_ node: Node) throws(FetchError) -> Node {
    try advance()
    return node
  }

  /// Reads `CAST(seconds since 2001, "NSDate")`.
  private mutating func cast() throws(FetchError) -> PropertyValue {
    try advance()
    try expect("(", after: "CAST")
    let operand = try deeper { (parser) throws(FetchError) in try parser.binary(above: 0) }
    let seconds: Double
    switch operand.node {
    case .value(.integer(let number)): seconds = Double(number)
    case .value(.double(let number)): seconds = number
    default:
      throw failure(.unsupported("CAST", "CAST takes a number of seconds since 2001."), at: operand.position)
    }
    try expect(",", after: "the number of CAST")
    guard token == .text("NSDate") || token == .text("Date") else {
      throw .unsupported("CAST", "CAST creates dates: expected \"NSDate\", found \(token).")
    }
    try advance()
    try expect(")", after: "the type of CAST")
    return .date(Date(timeIntervalSinceReferenceDate: seconds))
  }

  private mutating func argument(_ specifier: String) throws(FetchError) -> Node {
    let argument = try nextArgument(for: specifier)
    switch (specifier, argument) {
    case ("%K", .value(.text(let name))):
      let key = try PropertyKey(spelled: name, for: entity)
      try advance()
      return .key(key)
    case ("%@", .value(let value)): return try constant(.value(value))
    case ("%@", .list(let values)): return try constant(.list(values))
    case (_, .value(.integer(let number))) where specifier != "%K":
      return try constant(.value(specifier.takesDouble ? .double(Double(number)) : .integer(number)))
    case (_, .value(.bool(let flag))) where specifier != "%K" && !specifier.takesDouble:
      return try constant(.value(.integer(flag ? 1 : 0)))
    case (_, .value(.double(let number))) where specifier.takesDouble: return try constant(.value(.double(number)))
    default:
      let wanted = specifier == "%K" ? "the name of a key" : specifier.takesDouble ? "a number" : "a whole number"
      throw FetchError(.wrongArgument, specifier, "'\(specifier)' takes \(wanted), not \(argument).")
    }
  }
}

extension String {
  fileprivate var takesDouble: Bool { hasSuffix("f") || hasSuffix("g") || hasSuffix("e") }
}

extension PropertyValue {
  /// The value of an operation on two constants; nil where it is undefined: overflow, division by 0, other kinds.
  static func calculate(_ one: PropertyValue, _ symbol: String, _ two: PropertyValue) -> PropertyValue? {
    if case .integer(let a) = one, case .integer(let b) = two { return calculate(a, symbol, b).map { .integer($0) } }
    guard let a = one.number, let b = two.number else { return nil }
    let result: Double
    switch symbol {
    case "+": result = a + b
    case "-": result = a - b
    case "*": result = a * b
    case "/": result = a / b
    case "**": result = Foundation.pow(a, b)
    default: return nil
    }
    return result.isNaN ? nil : .double(result)
  }

  private var number: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .double(let number): number
    default: nil
    }
  }

  private static func calculate(_ one: Int64, _ symbol: String, _ two: Int64) -> Int64? {
    func whole(_ result: (partialValue: Int64, overflow: Bool)) -> Int64? {
      result.overflow ? nil : result.partialValue
    }
    switch symbol {
    case "&": return one & two
    case "|": return one | two
    case "^": return one ^ two
    case "<<": return (0..<64).contains(two) ? one << two : nil
    case ">>": return (0..<64).contains(two) ? one >> two : nil
    case "+": return whole(one.addingReportingOverflow(two))
    case "-": return whole(one.subtractingReportingOverflow(two))
    case "*": return whole(one.multipliedReportingOverflow(by: two))
    case "/": return two == 0 ? nil : whole(one.dividedReportingOverflow(by: two))
    default:
      guard (0...64).contains(two) else { return nil }
      return (0..<two).reduce(Int64?(1)) { product, _ in
        product.flatMap { whole($0.multipliedReportingOverflow(by: one)) }
      }
    }
  }
}
