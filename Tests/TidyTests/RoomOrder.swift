import Foundation

// The rooms of the core follow the data: an edit becomes an event, the event a row, the row a result, the result a
// change that is delivered. Each room may name only those before it.
//
//     Model ▸ Files ▸ Events ▸ Query ▸ Projections ▸ Store ▸ Rewind ▸ Results ▸ Undo ▸ Writing ▸ Observation ▸ …
//       a file of Results may name a type of Store                    a file of Store may not name one of Results
//
// The compiler does not see rooms inside a module, so this reads names: the types and functions that one room declares,
// and where they occur as words of code. A type counts if it is declared at the top level of a file. A function counts
// if only one room uses its name at all, as a declaration, a parameter or a label; a name that the standard library has
// too does not count. Properties, cases, initialisers and nested types are not looked for.

/// Where the names of a module are declared, by room.
struct RoomOrder {
  /// The rooms of the core, in the order of the data.
  static let core = [
    "Model", "Files", "Events", "Query", "Projections", "Store", "Rewind", "Results", "Undo", "Writing", "Observation",
    "Opening",
  ]

  /// Keywords, and names of the standard library and of lower modules, that some room declares as well.
  private static let standard: Set<String> = [
    "flatMap", "map", "filter", "forEach", "startIndex", "endIndex", "lock", "first", "last", "count", "index",
    "statistics", "resume", "combine", "gather", "merge", "any", "delete",
  ]

  private static let declaring: Set<Substring> = ["func", "var", "let", "case", "for"]

  private let places: [String: Int]
  private let sources: [SwiftSource]
  private var typeRooms: [String: Int] = [:]
  private var memberRooms: [String: Set<Int>] = [:]
  private var functions: Set<String> = []

  init(of module: String, rooms: [String], sources: [SwiftSource]) {
    places = Dictionary(uniqueKeysWithValues: rooms.enumerated().map { ($1, $0) })
    self.sources = sources.filter { $0.module == module }
    for source in self.sources { read(source) }
  }

  /// The place of the room that a file lies in; nil for a room that the order does not know.
  private func place(of source: SwiftSource) -> Int? {
    let parts = source.path.split(separator: "/")
    return parts.count > 3 ? places[String(parts[2])] : nil
  }

  private mutating func read(_ source: SwiftSource) {
    guard let place = place(of: source) else { return }
    let type = #/^(?:[a-z]+ |@\w+ )*(?:struct|class|enum|protocol|actor|typealias) (\w+)/#
    let function = #/^ *(?:[a-z]+ |@\w+ )*func (\w+)/#
    for line in source.code {
      if line.first?.isWhitespace == false, let name = line.firstMatch(of: type)?.output.1 {
        typeRooms[String(name)] = place
      }
      if line.holds("func "), let name = line.firstMatch(of: function)?.output.1 { functions.insert(String(name)) }
      for name in line.names(after: Self.declaring) + line.labels {
        memberRooms[String(name), default: []].insert(place)
      }
    }
  }

  /// The place of the one room that declares a name; nil if there is none, or if several use it.
  private func home(of name: String) -> Int? {
    if let place = typeRooms[name] { return place }
    guard functions.contains(name), !Self.standard.contains(name), let rooms = memberRooms[name], rooms.count == 1
    else {
      return nil
    }
    return rooms.first
  }

  /// The names of later rooms that files of earlier ones hold.
  func findings() -> [Finding] {
    var findings: [Finding] = []
    for source in sources {
      guard let place = place(of: source) else {
        findings.append(Finding(source, 0, "lies in no room of the order"))
        continue
      }
      for (index, line) in source.code.enumerated() {
        for word in line.codeWords {
          guard let home = home(of: String(word)), home > place else { continue }
          let room = places.first { $0.value == home }?.key ?? ""
          findings.append(Finding(source, index, "names \(word), which a later room, \(room), declares"))
        }
      }
    }
    return findings
  }
}
