import Foundation
import LibraryJSON
import PhotoLedger

// A change of a result, drawn:
//
//     before  [300][299][298][297]      tiles are numbered by age, the oldest photo is 1
//                    ×    ↷             × removed   ↷ moves from here
//     after   [300][297][298][296]
//                    ↷         +        ↷ moved to here   + inserted   ~ changed
//     removed 1   inserted 3   changed –   moves 2→1
//
// On a terminal with colours a tile keeps a colour of its own, so that the eye follows it. The last line is what an
// observer is given, in the coordinates of CD-10: removed in *before*, the rest in *after*, moves from the list
// with removals and insertions applied to *after*.

/// Draws results and their changes as strips of tiles.
struct TileStrip {
  let terminal: Terminal
  /// The numbers of the tiles.
  let numbers: [LocalIdentifier: Int]

  private static let label = 9
  private static let tile = 5

  /// How many tiles fit into a line.
  var capacity: Int { max(4, ((terminal.width ?? 80) - Self.label) / Self.tile) }

  func draw(_ details: ChangeDetails<Asset>) throws -> String {
    let (before, after) = (details.fetchResultBeforeChanges, details.fetchResultAfterChanges)
    var sources: [Int: Style] = [:]
    for index in details.removedIndexes ?? [] { sources[index] = .removed }
    for move in details.moved { sources[move.before] = .moved }
    var targets: [Int: Style] = [:]
    for index in details.changedIndexes ?? [] { targets[index] = .changed }
    for move in details.moved { targets[move.after] = .moved }
    for index in details.insertedIndexes ?? [] { targets[index] = .inserted }
    return try strip("before", before, sources) + strip("after", after, targets)
      + terminal.styled("  \(summary(details))", .faint) + "\n"
  }

  private func strip(_ name: String, _ result: FetchResult<Asset>, _ marks: [Int: Style]) throws -> String {
    let shown = min(result.count, capacity)
    var tiles = "  " + TextLayout.fitted(name, Self.label - 2)
    for asset in try result.objects(at: 0..<shown) { tiles += tile(asset) }
    if result.isEmpty { tiles += terminal.styled("(empty)", .faint) }
    if result.count > shown { tiles += "…" }
    var line = String(repeating: " ", count: Self.label)
    for index in 0..<shown {
      let mark = marks[index]
      line += mark.map { terminal.styled("  \(Self.symbol($0))  ", $0) } ?? "     "
    }
    return tiles + "\n" + (marks.isEmpty ? "" : line.trimmedAtEnd + "\n")
  }

  private static func symbol(_ style: Style) -> String {
    switch style {
    case .removed: "×"
    case .inserted: "+"
    case .changed: "~"
    case .moved: "↷"
    case .heading, .faint: " "
    }
  }

  private func tile(_ asset: Asset) -> String {
    let number = numbers[asset.id]?.padded(to: 3) ?? "new"
    guard terminal.usesColor else { return "[\(number)]" }
    // Colours of the 6 × 6 × 6 cube, bright enough for black digits; neighbours by age differ.
    let palette = [151, 216, 183, 223, 117, 225, 158, 180, 152, 186]
    let color = palette[(numbers[asset.id] ?? 0) % palette.count]
    return "\u{1B}[30;48;5;\(color)m \(number) \u{1B}[0m"
  }

  private func summary(_ details: ChangeDetails<Asset>) -> String {
    func list(_ positions: IndexSet?) -> String {
      let ranges = (positions ?? []).rangeView.map {
        $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)–\($0.upperBound - 1)"
      }
      return ranges.isEmpty ? "–" : ranges.joined(separator: ", ")
    }
    let moves = details.moves.map { "\($0.from)→\($0.to)" }.joined(separator: ", ")
    return "removed \(list(details.removedIndexes))   inserted \(list(details.insertedIndexes))   "
      + "changed \(list(details.changedIndexes))   moves \(moves.isEmpty ? "–" : moves)"
  }

  /// What the marks mean.
  var legend: String {
    [Style.removed, .moved, .inserted, .changed].map { style in
      terminal.styled(Self.symbol(style), style) + " \(style)"
    }.joined(separator: "   ")
  }
}

extension String {
  /// The text without the blanks at its end.
  fileprivate var trimmedAtEnd: String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}
