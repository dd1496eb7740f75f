/// What a person may have meant by a word that is not known.
package enum Suggestion {
  /// The end of a sentence that names the nearest known word, or only its full stop.
  package static func sentence(for word: String, among known: [String], prefix: String = "") -> String {
    guard let nearest = nearest(to: word, among: known) else { return "." }
    return "; did you mean \(prefix)\(nearest)?"
  }

  /// The known word with the fewest letters to change, unless that is most of them.
  package static func nearest(to word: String, among known: [String]) -> String? {
    let limit = max(1, word.count / 2)
    let ranked = known.map { (word: $0, distance: $0.hasPrefix(word) && !word.isEmpty ? 0 : distance(word, $0)) }
    return ranked.filter { $0.distance <= limit }.min { $0.distance < $1.distance }?.word
  }

  /// The edit distance in which a swap of neighbours counts once (Damerau, optimal string alignment).
  package static func distance(_ one: String, _ other: String) -> Int {
    let (a, b) = (Array(one.prefix(64)), Array(other.prefix(64)))
    var rows = [Array(0...b.count)]
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        var best = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, rows[i - 1][j - 1] + 1) }
        row.append(best)
      }
      rows.append(row)
    }
    return rows[a.count][b.count]
  }
}
