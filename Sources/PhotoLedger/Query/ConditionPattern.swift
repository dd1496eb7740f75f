// Patterns of LIKE and MATCHES.
//
// A predicate may come from a stranger (a shared query, a page's address), so matching must not be able to run away: a
// backtracking matcher takes exponential time on `(a+)+b`. This one is Thompson's: the pattern becomes a short program,
// and all places where a match could be are advanced together, one character at a time.
//
//   a b c     char a, char b, char c          x|y   split L1 L2; L1: x; jump L3; L2: y; L3:
//   .  [a-z]  any, set                        x*    L1: split L2 L3; L2: x; jump L1; L3:
//   \d \w \s  sets                            x{2,3}  x x x?, written out
//
// Invariant: time is at most O(characters × instructions), and a program has at most 4096 instructions. A range and a
// class of a set count as one of them each, and a set has at most 256; single characters are looked up. Back
// references, look-around, word boundaries, named classes and inline flags do not fit that scheme or have no user; they
// are rejected by name. Greedy and lazy repetition match the same texts, so a lazy mark is accepted and ignored.
// Rejected: Swift's Regex, because it backtracks.

/// A compiled pattern that matches whole texts in bounded time.
package struct TextPattern: Sendable {
  enum Instruction: Sendable {
    case character(Character)
    case any
    case set(CharacterSet)
    case split(Int, Int)
    case jump(Int)
    case start
    case end
    case accept
  }

  /// Characters by ranges and one by one, possibly all others.
  struct CharacterSet: Sendable {
    /// The most ranges and classes.
    static let longest = 256

    var ranges: [ClosedRange<Character>] = []
    var singles: Set<Character> = []
    var classes: [Character] = []
    var isNegated = false
    var ignoresCase = false

    func contains(_ character: Character) -> Bool {
      var isIn = holds(character)
      if !isIn && ignoresCase {
        isIn = [character.uppercased(), character.lowercased()].contains { $0.count == 1 && holds(Character($0)) }
      }
      return isIn != isNegated
    }

    private func holds(_ character: Character) -> Bool {
      singles.contains(character) || ranges.contains { $0.contains(character) }
        || classes.contains { Self.isIn($0, character) }
    }

    private static func isIn(_ name: Character, _ character: Character) -> Bool {
      switch name {
      case "d": character.isWholeNumber
      case "D": !character.isWholeNumber
      case "w": character.isLetter || character.isNumber || character == "_"
      case "W": !(character.isLetter || character.isNumber || character == "_")
      case "s": character.isWhitespace
      default: !character.isWhitespace
      }
    }
  }

  static let longestProgram = 4096
  private let program: [Instruction]

  /// Compiles the wildcards of LIKE: `*` any run, `?` any character, a backslash before either means itself.
  /// - Throws: ``FetchError`` `malformedPredicate` for a pattern that is too long.
  package init(wildcards text: String, options: Condition.TextOptions) throws(FetchError) {
    var program: [Instruction] = []
    // A run of stars is one.
    var (isEscaped, isAfterStar) = (false, false)
    for character in text {
      switch character {
      case "\\" where !isEscaped:
        isEscaped = true
        continue
      case "*" where !isEscaped:
        if isAfterStar { continue }
        isAfterStar = true
        let here = program.count
        program += [.split(here + 1, here + 3), .any, .jump(here)]
        continue
      case "?" where !isEscaped: program.append(.any)
      default: program += String(character).folded(options).map(Instruction.character)
      }
      (isEscaped, isAfterStar) = (false, false)
      guard program.count < Self.longestProgram else {
        throw .malformed(
          String(text.prefix(80)), "The pattern of LIKE is too long (\(Self.longestProgram) steps are allowed).")
      }
    }
    if isEscaped { program.append(.character("\\")) }
    self.program = program + [.accept]
  }

  /// Compiles a regular expression.
  /// - Throws: ``FetchError`` `unsupportedPredicate` for what it cannot say in bounded time, `malformedPredicate`.
  package init(regularExpression text: String, options: Condition.TextOptions) throws(FetchError) {
    var compiler = PatternCompiler(text, options)
    program = try compiler.compile()
  }

  /// Whether the whole text matches.
  /// - Complexity: O(n × m) for n characters and m instructions.
  package func fits(_ text: String) -> Bool {
    var now = Places(count: program.count)
    var next = Places(count: program.count)
    add(0, to: &now, isStart: true, isEnd: text.isEmpty)
    var index = text.startIndex
    while index < text.endIndex {
      let character = text[index]
      index = text.index(after: index)
      next.clear()
      for place in now.list where accepts(place, character) {
        add(place + 1, to: &next, isStart: false, isEnd: index == text.endIndex)
      }
      swap(&now, &next)
      if now.list.isEmpty { return false }
    }
    return now.list.contains { if case .accept = program[$0] { true } else { false } }
  }

  private func accepts(_ place: Int, _ character: Character) -> Bool {
    switch program[place] {
    case .character(let wanted): wanted == character
    case .any: true
    case .set(let set): set.contains(character)
    default: false
    }
  }

  /// Follows jumps and splits from a place to every instruction that waits for a character.
  private func add(_ first: Int, to places: inout Places, isStart: Bool, isEnd: Bool) {
    places.pending.append(first)
    while let place = places.pending.popLast() {
      guard places.insert(place) else { continue }
      switch program[place] {
      case .jump(let target): places.pending.append(target)
      case .split(let one, let two):
        places.pending.append(two)
        places.pending.append(one)
      case .start: if isStart { places.pending.append(place + 1) }
      case .end: if isEnd { places.pending.append(place + 1) }
      default: places.list.append(place)
      }
    }
  }

  /// The instructions that wait, each once.
  private struct Places {
    var list: [Int] = []
    /// Those that are still to be followed; empty between two additions.
    var pending: [Int] = []
    private var seen: [Int]
    private var round = 1

    init(count: Int) { seen = Array(repeating: 0, count: count) }

    mutating func insert(_ place: Int) -> Bool {
      if seen[place] == round { return false }
      seen[place] = round
      return true
    }

    mutating func clear() {
      list.removeAll(keepingCapacity: true)
      round += 1
    }
  }
}
