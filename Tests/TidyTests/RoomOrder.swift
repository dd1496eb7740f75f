import Foundation

// The rooms of a module follow the data: in the core an edit becomes an event, the event a row, the row a result, the
// result a change that is delivered. Each room may name only those before it.
//
//     Model ▸ Files ▸ Events ▸ Query ▸ Projections ▸ Store ▸ Rewind ▸ Results ▸ Undo ▸ Writing ▸ Observation ▸ …
//       a file of Results may name a type of Store                    a file of Store may not name one of Results
//
// The compiler does not see rooms inside a module, so this reads names: the types and functions that one room declares,
// and where they occur as words of code. A type counts if it is declared at the top level of a file, or of an `#if`
// there, and is not private. A function or property counts if only one room uses its name at all, as a declaration, a
// parameter or a label; a value at the top level also if another room has a static member or a case of its name. Where
// that fails, a call counts by more: a function by its name and first label, an initialiser by its type and first
// label. A name that the standard library has too does not count, nor one that a module has which this one imports.
// Cases and nested types are not looked for, nor `.init(…)`: all that would need the types of expressions.
//
// One module with several rooms has no order: `Photos`. Apple's classes name each other in circles (an asset fetches
// results, a result holds assets, and the library changes both), so its rooms are subjects.

/// Where the names of a module are declared, by room.
struct RoomOrder {
  /// The modules whose rooms have an order, each with its rooms in the order of the data. `.` is the folder of the
  /// module itself, where files lie there too.
  static let all: [(module: String, rooms: [String])] = [
    ("EventLog", ["Hashing", "CBOR", "."]),
    (
      "PhotoLedger",
      [
        "Model", "Files", "Events", "Query", "Projections", "Store", "Rewind", "Results", "Undo", "Writing",
        "Observation", "Opening",
      ]
    ),
    ("PhotosUI", ["StandIns", "."]),
    (
      "MediaImport",
      [
        "Programs", "Metadata", "Rendering", "Scanning", "Archives", "ImportSources", "Moving", "Importing", "Watching",
        "Exporting", "Duplicates",
      ]
    ),
    ("LibraryJSON", [".", "Records", "Applying"]),
    (
      "GalleryServer",
      [
        "Vocabulary", "Access", "Bytes", "Fetching", "Renditions", "Feeds", "Uploads", "Duplicates", "Pages", "Service",
        "Routes", "ImmichClients", "Routing",
      ]
    ),
    ("PhotoLedgerCommand", ["Printing", "Running", "Applying", "Demo", "Commands", "."]),
  ]

  /// The folders of all these rooms, below Sources.
  static let folders: Set<String> = Set(
    all.flatMap { module, rooms in rooms.map { $0 == "." ? module : "\(module)/\($0)" } })

  /// Keywords, and names of the standard library and of lower modules, that some room declares as well.
  private static let standard: Set<String> = [
    "flatMap", "map", "filter", "forEach", "startIndex", "endIndex", "lock", "first", "last", "count", "index",
    "statistics", "resume", "combine", "gather", "merge", "any", "delete", "isEmpty", "dropLast", "popFirst",
    "removeLast", "properties", "conflict", "firstIndex", "starts", "get", "append(contentsOf",
  ]

  private static let declaring: Set<Substring> = ["func", "var", "let", "case", "for"]
  private static let binding: Set<Substring> = ["func", "var", "let", "for"]

  private let places: [String: Int]
  private let sources: [SwiftSource]
  /// The place of the room that each of these files lies in; nil for a room that the order does not know.
  private let placesOfSources: [Int?]
  private var typeRooms: [String: Int] = [:]
  private var memberRooms: [String: Set<Int>] = [:]
  /// The names of functions, and of the properties that are not private.
  private var members: Set<String> = []
  /// The places of the one room that declares each value at the top level.
  private var valueRooms: [String: Int] = [:]
  /// Where each function and initialiser is declared, by its name and first label.
  private var callRooms: [String: Set<Int>] = [:]
  /// Those of them that other files may call.
  private var calls: Set<String> = []
  /// The names of functions of lower modules, and what their types declare.
  private let lower: Set<String>
  /// All names that `home(of:)` may find, so that it is asked about these words alone.
  private var known: Set<Substring> = []

  /// - Parameters:
  ///   - imports: the modules that this one may import; functions with a name that one of them declares do not count.
  ///   - sources: the files of the module and of those that it may import, among others.
  init(of module: String, rooms: [String], importing imports: Set<String> = [], sources: [SwiftSource]) {
    let places = Dictionary(uniqueKeysWithValues: rooms.enumerated().map { ($1, $0) })
    self.places = places
    self.sources = sources.filter { $0.module == module }
    placesOfSources = self.sources.map { source in
      let parts = source.path.split(separator: "/")
      return places[parts.count > 3 ? String(parts[2]) : "."]
    }
    let below = sources.filter { imports.contains($0.module ?? "") }
    let declared = below.flatMap { $0.members }
    lower = Set(below.flatMap { $0.functions })
      .union(declared.map(\.name)).union(declared.compactMap(\.memberwise))
    for (source, place) in zip(self.sources, placesOfSources) {
      if let place { read(source, at: place) }
    }
    known = Set((Array(typeRooms.keys) + Array(valueRooms.keys) + Array(members)).map { Substring($0) })
  }

  private mutating func read(_ source: SwiftSource, at place: Int) {
    readTypes(source, at: place)
    members.formUnion(source.functions)
    for words in source.words where !words.isEmpty {
      for name in words.names(after: Self.declaring) + words.labels + words.patternNames {
        memberRooms[String(name), default: []].insert(place)
      }
    }
    for member in source.members { read(member, at: place) }
  }

  private mutating func readTypes(_ source: SwiftSource, at place: Int) {
    // Compiled once for a file: that takes longer than to match a line.
    let type = #/((?:[a-z]+ |@\w+ )*)(?:struct|class|enum|protocol|actor|typealias) (\w+)/#
    /// How many conditions the lines stand in that are at the top level but for these.
    var conditions = 0
    let lines = source.codeLines(
      holding: "struct ", "class ", "enum ", "protocol ", "actor ", "typealias ", "#if ", "#endif")
    for index in lines {
      let rest = source.code[index].bare
      switch source.code[index].utf8.count - rest.utf8.count {
      case 2 * conditions where rest.hasPrefix("#if "): conditions += 1
      case 2 * (conditions - 1) where rest.hasPrefix("#endif"): conditions -= 1
      case 2 * conditions:
        if let (_, modifiers, name) = rest.prefixMatch(of: type)?.output, !modifiers.holds("private") {
          typeRooms[String(name)] = place
        }
      default: break
      }
    }
  }

  private mutating func read(_ member: DeclaredMember, at place: Int) {
    switch member.kind {
    case .value: if !member.isPrivate, isOnlyValue(member.name, at: place) { valueRooms[member.name] = place }
    case .property:
      if let call = member.memberwise { callRooms[call, default: []].insert(place) }
      if !member.isPrivate { members.insert(member.name) }
    case .function, .initialiser:
      callRooms[member.name, default: []].insert(place)
      // A name without a label says too little of a function.
      let isKnown = member.kind == .initialiser || !member.name.hasSuffix("(_") && !member.name.hasSuffix("(")
      if isKnown, !member.isPrivate { calls.insert(member.name) }
    }
  }

  /// Whether no other room has a function, a value, a parameter or a label of a name, static members apart.
  private func isOnlyValue(_ name: String, at place: Int) -> Bool {
    !zip(sources, placesOfSources).contains { source, other in
      guard let other, other != place else { return false }
      return source.codeLines(holding: name).contains { index in
        let words = source.words[index]
        guard words.contains(where: { $0 == name }), !source.code[index].holds(" static ") else { return false }
        return (words.names(after: Self.binding) + words.labels + words.patternNames).contains { $0 == name }
      }
    }
  }

  /// The place of the one room that declares a name; nil if there is none, or if several use it.
  private func home(of word: Substring) -> Int? {
    let name = String(word)
    if let place = typeRooms[name] { return place }
    guard !Self.standard.contains(name), !lower.contains(name) else { return nil }
    if let place = valueRooms[name], word.isBareUse { return place }
    guard members.contains(name), let rooms = memberRooms[name], rooms.count == 1 else { return nil }
    return rooms.first
  }

  /// The place of the one room that declares what a call names; nil if there is none, or if several declare it.
  private func home(ofCall call: String) -> Int? {
    guard calls.contains(call), !Self.standard.contains(call), !lower.contains(call), let rooms = callRooms[call],
      rooms.count == 1
    else { return nil }
    return rooms.first
  }

  /// What a word of a line names of a room after a place, and the place of that room.
  private func laterName(_ word: Substring, at index: Int, in source: SwiftSource, after place: Int) -> (String, Int)? {
    if known.contains(word), let home = home(of: word), home > place { return (String(word), home) }
    guard word.mayBeginCall, let label = source.firstLabel(behind: word, at: index, isCall: true) else { return nil }
    let call = "\(word)(\(label)"
    guard let home = home(ofCall: call), home > place else { return nil }
    return (label.isEmpty ? "\(call))" : "\(call):)", home)
  }

  /// The names of later rooms that files of earlier ones hold.
  func findings() -> [Finding] {
    var findings: [Finding] = []
    for (source, place) in zip(sources, placesOfSources) {
      guard let place else {
        findings.append(Finding(source, 0, "lies in no room of the order"))
        continue
      }
      // No room follows the last one.
      if place == places.count - 1 { continue }
      for (index, words) in source.words.enumerated() {
        for word in words {
          guard let (name, home) = laterName(word, at: index, in: source, after: place) else { continue }
          let room = places.first { $0.value == home }?.key ?? ""
          findings.append(Finding(source, index, "names \(name), which a later room, \(room), declares"))
        }
      }
    }
    return findings
  }
}

extension DeclaredMember {
  /// The call that makes a structure from this property first, without an initialiser that says so.
  fileprivate var memberwise: String? { kind == .property ? type.map { "\($0)(\(name)" } : nil }
}

extension Substring {
  /// Whether what stands behind the word may begin a list in parentheses.
  fileprivate var mayBeginCall: Bool {
    guard let byte = byteBehind else { return false }
    return byte == UInt8(ascii: "(") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "!")
      || byte == UInt8(ascii: "]")
  }

  /// Whether the word stands in its line without a type or value before it, and is not declared there.
  fileprivate var isBareUse: Bool {
    byteBefore != UInt8(ascii: ".") && !["let ", "var ", "case "].contains { base[..<startIndex].hasSuffix($0) }
  }
}
