import LibraryJSON

// What a command is.
//
// One declaration serves three readers: the parser (`Invocation.swift`), the help (`Help.swift`) and the person who
// reads this code. A command cannot take an option that its help does not show, or show one that it does not take.
//
//     photoledger album insert ALBUM ASSET… --at INDEX --library PATH
//                 └─ words ──┘ └ operands ┘ └─────── options ───────┘
//
// Rejected: an outside argument parser (the package has no dependency), and property wrappers that collect themselves
// by reflection (a reader cannot follow where a value comes from).

/// Something that is named with two hyphens.
struct Option: Sendable {
  /// The name without its hyphens.
  let name: String
  /// What its value is called in the help; nil for a flag.
  let placeholder: String?
  let isRepeatable: Bool
  let help: String

  /// An option with a value.
  init(_ name: String, _ placeholder: String, isRepeatable: Bool = false, _ help: String) {
    (self.name, self.placeholder, self.isRepeatable, self.help) = (name, placeholder, isRepeatable, help)
  }

  /// A flag.
  init(_ name: String, _ help: String) {
    (self.name, self.placeholder, self.isRepeatable, self.help) = (name, nil, false, help)
  }

  /// The option as the help spells it.
  var spelling: String { placeholder.map { "--\(name) \($0)" } ?? "--\(name)" }
}

/// Something that is named by its place.
struct Operand: Sendable {
  enum Count: Sendable { case one, optional, several, any }
  let name: String
  let count: Count
  let help: String

  init(_ name: String, _ count: Count, _ help: String) {
    (self.name, self.count, self.help) = (name, count, help)
  }

  /// An operand that must be given once.
  init(_ name: String, _ help: String) { self.init(name, .one, help) }

  /// The operand as the usage line spells it.
  var spelling: String {
    switch count {
    case .one: name
    case .optional: "[\(name)]"
    case .several: "\(name)…"
    case .any: "[\(name)…]"
    }
  }
}

/// One thing that the program does.
struct Command: Sendable {
  /// The words that call it, such as `album create`.
  let words: [String]
  /// What it does, as a clause that begins with a verb.
  let summary: String
  var operands: [Operand] = []
  /// The operands and the options of the usage line, where an option must be given, or one of several; by default the
  /// operands alone. Options that may be left out are not in it.
  var syntax: String?
  /// Its options; `--help` is every command's and not listed.
  var options: [Option] = []
  /// More for the help: paragraphs that need no repetition elsewhere.
  var notes: String = ""
  /// The fields of a text that it takes, which the help lists after the notes.
  var fields: [(name: String, meaning: String)] = []
  /// A line to try, without the program's name.
  let example: String
  /// Whether the program's help leaves it out: it is for the program's own children.
  var isInternal = false
  /// The directories whose stores it works on, for the sentence that a fault ends with; none where it takes no
  /// library.
  var places: @Sendable (Invocation) -> [String] = \.libraryPaths
  let run: @Sendable (Invocation) throws -> ExitStatus

  var name: String { words.joined(separator: " ") }
}

extension Option {
  static let library = Option(
    "library", "PATH",
    "the library's directory; default PHOTOLEDGER_LIBRARY, else \(LibraryLocation.standardPath)")
  static let client = Option("as", "CLIENT", "run as this client, with its permissions; default 'owner'")
  static let json = Option("json", "print one JSON object a line")
  /// The flag of every command that can show what it would do.
  static func dryRun(_ help: String) -> Option { Option("dry-run", help) }
}

extension [Option] {
  /// The options of every command that opens a library.
  static let opening: [Option] = [.library, .client]
  /// The options of a command that changes the library.
  static let changing: [Option] = opening + [.json]
}
