// Compiling the regular expression of MATCHES (ConditionPattern.swift describes the program and how it is run).
//
// Problem. Few characters can stand for a long program: `((a{60}){60}){60}` is 216,000 steps, and `a{4000}{0}`, written
// a thousand times, is an empty program that took four million. Both must be rejected before the work is done.
//
//     a|bc       0 split 1 3    1 a    2 jump 5    3 b    4 c
//     a*         0 split 1 3    1 a    2 jump 0
//     a{2,3}     0 a    1 a    2 split 3 4    3 a
//
// Each part is a program whose places count from its own beginning; a part that is repeated or follows another is
// copied, with its places shifted. So a part needs no address when it is compiled, and is compiled once, however often
// it is repeated.
//
// Invariant: a program costs at most `longestProgram`, which bounds a match, and all copies together take at most
// sixteen times as many steps, which bounds the compilation. Groups nest at most 64 deep, which bounds the stack.
//
// Rejected: counters for `{n,m}` in the program. The places of a match would be pairs of a step and its counts, and
// their number would not be bounded by the length of the program.

/// Reads a regular expression into the program of a ``TextPattern``, by recursive descent of bounded depth.
struct PatternCompiler {
  typealias Instruction = TextPattern.Instruction

  private let text: String
  private let characters: [Character]
  private let options: Condition.TextOptions
  private var index = 0
  private var depth = 0
  /// The steps written so far, also those that were written for a part and copied into a whole.
  private var work = 0
  /// The most: a program of full length, written out sixteen times.
  private static let mostWork = 16 * TextPattern.longestProgram

  init(_ text: String, _ options: Condition.TextOptions) {
    self.text = text
    self.options = options
    characters = Array(text)
  }

  mutating func compile() throws(FetchError) -> [Instruction] {
    let program = try alternatives()
    guard index == characters.count else { throw malformed("has a ) without its (") }
    return program.steps + [.accept]
  }

  private var next: Character? { index < characters.count ? characters[index] : nil }

  private mutating func take(_ character: Character) -> Bool {
    guard next == character else { return false }
    index += 1
    return true
  }

  private mutating func alternatives() throws(FetchError) -> Part {
    depth += 1
    defer { depth -= 1 }
    guard depth <= 64 else { throw malformed("is nested deeper than 64 levels") }
    var sequences = [try sequence()]
    var (count, cost) = (sequences[0].count, sequences[0].cost)
    while take("|") {
      let next = try sequence()
      sequences.append(next)
      // A split and a jump for each but the last.
      (count, cost) = (count + next.count + 2, cost + next.cost + 2)
      guard cost <= TextPattern.longestProgram else { throw tooLong }
    }
    var program = Part()
    for sequence in sequences.dropLast() {
      let here = program.count
      program.append(.split(here + 1, here + sequence.count + 2))
      try append(sequence, to: &program)
      program.append(.jump(count))
    }
    try append(sequences[sequences.count - 1], to: &program)
    return program
  }

  private mutating func sequence() throws(FetchError) -> Part {
    var program = Part()
    while let character = next, character != "|", character != ")" {
      try append(try repeated(try atom()), to: &program)
    }
    return program
  }

  private mutating func atom() throws(FetchError) -> Part {
    let character = characters[index]
    index += 1
    switch character {
    case ".": return Part([.any])
    case "^": return Part([.start])
    case "$": return Part([.end])
    case "[": return Part([.set(try set())])
    case "(":
      if take("?") && !take(":") { throw unsupported("(?…) with anything but ':'") }
      let inner = try alternatives()
      guard take(")") else { throw malformed("lacks a )") }
      return inner
    case "\\": return try escape()
    case "*", "+", "?", "{": throw malformed("repeats nothing with \(character)")
    default: return Part(String(character).folded(options).map(Instruction.character))
    }
  }

  private mutating func escape() throws(FetchError) -> Part {
    guard let character = next else { throw malformed("ends in a backslash") }
    index += 1
    switch character {
    case "d", "D", "w", "W", "s", "S":
      return Part([.set(TextPattern.CharacterSet(classes: [character]))])
    default: return Part(String(try plain(character)).folded(options).map(Instruction.character))
    }
  }

  /// The character of an escape.
  private func plain(_ character: Character) throws(FetchError) -> Character {
    switch character {
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    default:
      if character.isASCII && (character.isLetter || character.isNumber) { throw unsupported("\\\(character)") }
      return character
    }
  }

  private mutating func set() throws(FetchError) -> TextPattern.CharacterSet {
    var set = TextPattern.CharacterSet()
    set.ignoresCase = options.contains(.caseInsensitive)
    set.isNegated = take("^")
    var isFirst = true
    while let character = next, character != "]" || isFirst {
      isFirst = false
      if character == "[" { throw unsupported("a [ inside [ ]") }
      index += 1
      if character == "\\", let name = next, "dDwWsS".contains(name) {
        index += 1
        set.classes.append(name)
        continue
      }
      let low = try member(character)
      guard next == "-", index + 1 < characters.count, characters[index + 1] != "]" else {
        set.singles.insert(folded(low))
        continue
      }
      index += 2
      let high = try member(characters[index - 1])
      guard low <= high else { throw malformed("has the range \(low)-\(high) the wrong way round") }
      set.ranges.append(low...high)
      if options.contains(.diacriticInsensitive) {
        let members = folded(low, through: high)
        try spend(members.count)
        set.singles.formUnion(members)
      }
    }
    guard set.ranges.count + set.classes.count <= TextPattern.CharacterSet.longest else {
      throw malformed("has a set of more than \(TextPattern.CharacterSet.longest) ranges and classes")
    }
    guard take("]") else { throw malformed("lacks a ]") }
    return set
  }

  /// A member of a set as the texts that it is compared with are folded; one that becomes several stays as it is.
  private func folded(_ character: Character) -> Character {
    let folded = String(character).folded(options)
    return folded.count == 1 ? folded[folded.startIndex] : character
  }

  /// The members of a range without what the options ignore; none for a range of more than an alphabet, whose bounds
  /// are what is meant.
  private func folded(_ low: Character, through high: Character) -> [Character] {
    guard let first = low.unicodeScalars.first, let last = high.unicodeScalars.first,
      low.unicodeScalars.count == 1, high.unicodeScalars.count == 1, last.value - first.value < 1_024
    else { return [] }
    return (first.value...last.value).compactMap { Unicode.Scalar($0).map { folded(Character($0)) } }
  }

  private mutating func member(_ character: Character) throws(FetchError) -> Character {
    guard character == "\\" else { return character }
    guard let escaped = next else { throw malformed("ends in a backslash") }
    index += 1
    return try plain(escaped)
  }
}

// Repetition.
extension PatternCompiler {
  private mutating func repeated(_ piece: Part) throws(FetchError) -> Part {
    var piece = piece
    while let character = next {
      switch character {
      case "*": piece = try repeating(piece, atLeast: 0, atMost: nil)
      case "+": piece = try repeating(piece, atLeast: 1, atMost: nil)
      case "?": piece = try repeating(piece, atLeast: 0, atMost: 1)
      case "{":
        let (low, high) = try counts()
        piece = try repeating(piece, atLeast: low, atMost: high)
        index -= 1
      default: return piece
      }
      index += 1
      _ = take("?")
      if next == "+" { throw unsupported("a possessive repetition") }
    }
    return piece
  }

  /// Reads `{n}`, `{n,}` or `{n,m}`.
  private mutating func counts() throws(FetchError) -> (Int, Int?) {
    index += 1
    guard let low = number() else { throw malformed("has a { without a count") }
    var high: Int? = low
    if take(",") { high = number() }
    guard take("}") else { throw malformed("lacks a }") }
    if let high, high < low { throw malformed("has the count {\(low),\(high)} the wrong way round") }
    return (low, high)
  }

  private mutating func number() -> Int? {
    var digits = ""
    while let character = next, character.isASCII, character.isNumber {
      digits.append(character)
      index += 1
    }
    return digits.isEmpty ? nil : Int(digits) ?? .max
  }

  private mutating func repeating(
    _ piece: Part, atLeast low: Int, atMost high: Int?
  ) throws(FetchError) -> Part {
    guard max(low, high ?? 0) <= TextPattern.longestProgram else { throw tooLong }
    var program = Part()
    for _ in 0..<low { try append(piece, to: &program) }
    guard let high else {
      try append(Part([.split(1, piece.count + 2)] + piece.steps.shifted(by: 1) + [.jump(0)]), to: &program)
      return program
    }
    for _ in low..<high {
      let here = program.count
      program.append(.split(here + 1, here + piece.count + 1))
      try append(piece, to: &program)
    }
    return program
  }

  /// Appends a part, whose places count from its own beginning, in O(its length).
  private mutating func append(_ part: Part, to program: inout Part) throws(FetchError) {
    guard program.cost + part.cost <= TextPattern.longestProgram else { throw tooLong }
    try spend(part.count + 1)
    program.steps += part.steps.shifted(by: program.count)
    program.cost += part.cost
  }

  /// Counts steps against what one pattern may cost, whatever remains of it in the end: `a{4000}{0}` a thousand times
  /// is an empty program.
  private mutating func spend(_ steps: Int) throws(FetchError) {
    work += steps
    guard work <= Self.mostWork else { throw tooLong }
  }

  private var tooLong: FetchError {
    malformed("is too long when its repetitions are written out (\(TextPattern.longestProgram) steps are allowed)")
  }

  private func malformed(_ what: String) -> FetchError {
    .malformed(text, "The regular expression '\(text)' \(what).")
  }

  private func unsupported(_ what: String) -> FetchError {
    .unsupported(text, "The regular expression '\(text)' uses \(what), which MATCHES does not support.")
  }
}

/// A part of a program, whose places count from its own beginning.
private struct Part {
  var steps: [TextPattern.Instruction] = []
  /// What a character may cost there: one for each step, and one more for each range and class of a set.
  var cost = 0

  init() {}

  init(_ steps: [TextPattern.Instruction]) {
    self.steps = steps
    cost = steps.reduce(0) { sum, step in
      if case .set(let set) = step { sum + 1 + set.ranges.count + set.classes.count } else { sum + 1 }
    }
  }

  var count: Int { steps.count }

  /// Appends a split or a jump.
  mutating func append(_ step: TextPattern.Instruction) {
    steps.append(step)
    cost += 1
  }
}

extension [TextPattern.Instruction] {
  fileprivate func shifted(by distance: Int) -> Self {
    map { instruction in
      switch instruction {
      case .split(let one, let two): .split(one + distance, two + distance)
      case .jump(let target): .jump(target + distance)
      default: instruction
      }
    }
  }
}
