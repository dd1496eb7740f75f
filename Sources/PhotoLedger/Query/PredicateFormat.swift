// NSPredicate's format strings, read without NSPredicate (which Foundation has on no system but Apple's).
//
//   predicate   = conjunction { (OR | ||) conjunction }
//   conjunction = negation { (AND | &&) negation }
//   negation    = (NOT | !) negation | comparison
//   comparison  = operand [ operator [ [cd] ] operand ]
//   operator    = == = != <> < <= =< > >= => IN BETWEEN CONTAINS BEGINSWITH ENDSWITH LIKE MATCHES
//   operand     = unary { (& | ^ << >> + - * / **) unary }   by precedence; all but `key & mask` on constants only
//   unary       = - unary | ~ unary | primary
//   primary     = ( predicate ) | key | literal | { list } | CAST(seconds, "NSDate") | %@ %K %d %f …
//               | TRUEPREDICATE | FALSEPREDICATE
//
// A parenthesis may hold a predicate or an operand, `(a == 1)` or `(a & 8) != 0`, and only the following token decides.
// So both are parsed by the same functions into a `Node` that is either, and a caller that needs one of the two throws
// if it got the other; nothing is parsed twice.
//
// One addition: text compared with a date key is read as a date (RFC 3339), so that a shell can ask for `creationDate
// >= "2024-05-31T18:30:00Z"`. PhotoKit rejects it, so no PhotoKit client uses it with another meaning.
//
// Invariant: parsing terminates, in time linear in the length. Depth is at most 100 and length 16 MiB; every error is a
// `FetchError` with the column, never a trap.

extension Condition {
  /// Reads a predicate format string, as NSPredicate does (photokit a.9, FR-10), into normal form.
  ///
  /// - Parameters:
  ///   - format: for example `(mediaSubtypes & %d) != 0 AND creationDate > %@`.
  ///   - arguments: the values for `%@`, `%K`, `%d`, `%f` and so on, in order.
  ///   - entity: the kind of object that is fetched; it says which keys there are.
  /// - Throws: ``FetchError`` with the place: `malformedPredicate`, `unknownKey`, `unsupportedPredicate` or
  ///   `wrongArgument` (FR-09).
  /// - Complexity: O(n log n) in the length and the number of arguments' elements.
  public init(format: String, arguments: [PredicateArgument] = [], for entity: Entity) throws(FetchError) {
    var parser = PredicateParser(format, arguments, entity)
    self = try parser.parse().normalized()
  }

  /// The same as it is written, not in normal form, which drops what decides nothing.
  package init(
    asWritten format: String, arguments: [PredicateArgument], for entity: Entity
  ) throws(FetchError) {
    var parser = PredicateParser(format, arguments, entity)
    self = try parser.parse()
  }

  /// Reads the query of a smart album, which may be older than the bound of texts.
  /// - Throws: as ``init(format:arguments:for:)``.
  init(stored format: String) throws(FetchError) {
    var parser = PredicateParser(format, [], .asset, isStored: true)
    self = try parser.parse().normalized()
  }
}

struct PredicateParser {
  /// What a part of the string says: whether an object passes, or something to compare.
  enum Node {
    case condition(Condition)
    case key(PropertyKey)
    case masked(PropertyKey, Int64)
    case value(PropertyValue)
    case list([PropertyValue])
  }

  /// A node and the byte at which it begins.
  struct Operand {
    let node: Node
    let position: Int
  }

  static let greatestDepth = 100
  static let greatestLength = 16 << 20

  let entity: Entity
  /// Whether the library holds the condition: see `Condition.check(for:isStored:)`.
  let isStored: Bool
  private(set) var lexer: PredicateLexer
  private let arguments: [PredicateArgument]
  private var used = 0
  private var depth = 0
  /// The token that is read next, and where it begins.
  private(set) var token = PredicateLexer.Token.end
  private(set) var position = 0

  init(_ format: String, _ arguments: [PredicateArgument], _ entity: Entity, isStored: Bool = false) {
    lexer = PredicateLexer(format)
    self.arguments = arguments
    self.entity = entity
    self.isStored = isStored
  }

  mutating func parse() throws(FetchError) -> Condition {
    do throws(FetchError) {
      return try predicateAndEnd()
    } catch {
      throw error.placed(at: position, in: lexer.bytes)
    }
  }

  private mutating func predicateAndEnd() throws(FetchError) -> Condition {
    guard lexer.bytes.count <= Self.greatestLength else {
      throw .malformed("length", "A predicate may have at most 16 MiB, not \(lexer.bytes.count) bytes.")
    }
    try advance()
    let condition = try self.condition(of: try disjunction())
    guard token == .end else {
      throw .malformed("\(token)", "Expected AND, OR or the end of the predicate, found \(token).")
    }
    guard used == arguments.count else {
      throw FetchError(
        .wrongArgument, "arguments", "The predicate uses \(used) of its \(arguments.count) arguments.")
    }
    return condition
  }

  // MARK: Tokens

  mutating func advance() throws(FetchError) {
    position = lexer.skipBlanks()
    token = try lexer.next()
  }

  mutating func take(_ symbol: String) throws(FetchError) -> Bool {
    guard token == .symbol(symbol) else { return false }
    try advance()
    return true
  }

  mutating func expect(_ symbol: String, after what: String) throws(FetchError) {
    guard try take(symbol) else {
      throw .malformed("\(token)", "Expected '\(symbol)' after \(what), found \(token).")
    }
  }

  private func isWord(_ word: String) -> Bool { token.keyword == word }

  /// The error with a place of its own, which is not where reading stands.
  func failure(_ error: FetchError, at position: Int) -> FetchError { error.placed(at: position, in: lexer.bytes) }

  // MARK: Logic

  mutating func disjunction() throws(FetchError) -> Operand {
    try deeper { (parser) throws(FetchError) in
      let first = try parser.conjunction()
      guard parser.token == .symbol("||") || parser.isWord("OR") else { return first }
      var parts = [try parser.condition(of: first)]
      while parser.token == .symbol("||") || parser.isWord("OR") {
        try parser.advance()
        parts.append(try parser.condition(of: try parser.conjunction()))
      }
      return Operand(node: .condition(.or(parts)), position: first.position)
    }
  }

  private mutating func conjunction() throws(FetchError) -> Operand {
    let first = try negation()
    guard token == .symbol("&&") || isWord("AND") else { return first }
    var parts = [try condition(of: first)]
    while token == .symbol("&&") || isWord("AND") {
      try advance()
      parts.append(try condition(of: try negation()))
    }
    return Operand(node: .condition(.and(parts)), position: first.position)
  }

  private mutating func negation() throws(FetchError) -> Operand {
    let start = position
    guard token == .symbol("!") || isWord("NOT") else { return try comparison() }
    try advance()
    let part = try deeper { (parser) throws(FetchError) in
      try parser.condition(of: try parser.negation())
    }
    return Operand(node: .condition(.not(part)), position: start)
  }

  private mutating func comparison() throws(FetchError) -> Operand {
    let left = try binary(above: 0)
    let place = position
    guard let name = token.comparisonName else { return left }
    try advance()
    let options = try self.options()
    if let word = token.keyword, ["ANY", "SOME", "ALL", "NONE"].contains(word) { throw Self.unsupportedWord(word) }
    let right = try binary(above: 0)
    let condition = try compare(left, name, options, right, at: place)
    return Operand(node: .condition(condition), position: left.position)
  }

  /// Reads `[cd]` after an operator.
  private mutating func options() throws(FetchError) -> TextOptions {
    var options = TextOptions()
    guard token == .symbol("[") else { return options }
    try advance()
    guard case .word(let letters) = token else {
      throw .malformed("\(token)", "Expected the options c, d or n after '[', found \(token).")
    }
    for letter in letters.lowercased() {
      switch letter {
      case "c": options.insert(.caseInsensitive)
      case "d": options.insert(.diacriticInsensitive)
      case "n": break
      case "l": throw .unsupported("[l]", "The option l compares as a locale does; a library has no locale. Use [cd].")
      default: throw .malformed(letters, "'\(letter)' is not an option of a comparison; the options are c, d and n.")
      }
    }
    try advance()
    try expect("]", after: "the options")
    return options
  }

  typealias TextOptions = Condition.TextOptions

  /// Mutating, so that a call reads the token after its argument was parsed: the receiver of another method is copied
  /// before that.
  mutating func condition(of operand: Operand) throws(FetchError) -> Condition {
    switch operand.node {
    case .condition(let condition): return condition
    case .key(let key):
      let hint = key.valueKind == .bool ? "; write \(key.rawValue) == YES" : ""
      throw .malformed(key.rawValue, "A comparison is missing after '\(key.rawValue)'\(hint), found \(token).")
    case .masked(let key, let mask):
      throw .malformed(
        key.rawValue, "A comparison is missing after '\(key.rawValue) & \(mask)'; write (… & …) != 0, found \(token).")
    case .value(let value):
      throw .malformed(
        value.formatDescription, "A comparison is missing after \(value.formatDescription), found \(token).")
    case .list: throw .malformed("{…}", "A comparison is missing after the list, found \(token).")
    }
  }

  /// Goes one level down, unless that is too deep.
  mutating func deeper<Result>(
    _ body: (inout PredicateParser) throws(FetchError) -> Result
  ) throws(FetchError) -> Result {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.greatestDepth else {
      throw .malformed("depth", "The predicate is nested deeper than \(Self.greatestDepth) levels.")
    }
    return try body(&self)
  }

  mutating func nextArgument(for specifier: String) throws(FetchError) -> PredicateArgument {
    guard used < arguments.count else {
      throw FetchError(
        .wrongArgument, specifier, "There is no argument for '\(specifier)': only \(arguments.count) were passed.")
    }
    used += 1
    return arguments[used - 1]
  }

  static func unsupportedWord(_ word: String) -> FetchError {
    .unsupported(word, "'\(word)' tests the members of a collection, which fetches do not support.")
  }
}
