import Foundation

/// Prints rows as they come and keeps them for JSON and plots.
struct Report {
  struct Row: Codable {
    var name: String
    var size: Int
    var caches: Caches?
    /// Times; nil in a row of memory.
    var medianNanoseconds: Double?
    var lowNanoseconds: Double?
    var highNanoseconds: Double?
    var repetitions: Int?
    /// Memory or disk; nil in a row of times.
    var bytes: Int?
    /// Things that were counted, or pixels; nil in rows of time and memory.
    var amount: Double?
    /// This row's median to that of the row it is compared with, or its bytes to those of the other; nil if it has
    /// nothing to be compared with.
    var ratio: Double?
    /// What the row should reach, such as `≤ 1.25 ×`; nil without a goal.
    var goal: String?
    /// Whether the goal is missed; nil without a goal, and at sizes where it is not judged.
    var isMissed: Bool?
  }

  /// The smallest size of a real run. Rows of smaller ones only show that the benchmarks work and find right answers,
  /// so what would make their figures good, and costs time, is left out.
  static let leastSize = 1000

  /// The texts of which a row's name contains one; none: every row is wanted.
  let filters: [String]
  let repetitions: Int
  /// Whether rows of other stores are left out also where they were built in.
  var leavesPeersOut = false
  /// Folders with photos of real cameras; none: the rows about them are left out.
  var photos: [String] = []
  private(set) var rows: [Row] = []

  init(filters: [String], repetitions: Int) {
    self.filters = filters
    self.repetitions = repetitions
  }

  func wantsAny(_ names: String...) -> Bool { wantsAny(of: names) }

  func wantsAny(of names: [String]) -> Bool {
    filters.isEmpty || names.contains { name in filters.contains { name.contains($0) } }
  }

  func printHeader() {
    print(Self.line("row", "n", "caches", "median µs", "10 % … 90 %", "ratio", "goal"))
  }

  /// Adds a row. A row's times are divided by `operations`, for loops of many.
  mutating func add(
    _ name: String, size: Int, caches: Caches?, _ sample: Sample, operations: Int = 1, comparedWith base: Double? = nil,
    goal: Goal? = nil
  ) {
    let scale = 1 / Double(operations)
    let (low, median, high) = (
      sample.quantile(0.1) * scale, sample.quantile(0.5) * scale, sample.quantile(0.9) * scale
    )
    let row = Row(
      name: name, size: size, caches: caches, medianNanoseconds: median, lowNanoseconds: low, highNanoseconds: high,
      repetitions: sample.times.count, ratio: base.map { median / $0 })
    add(row, Self.micros(median), "\(Self.micros(low)) … \(Self.micros(high))", goal)
  }

  /// Adds a row of memory or disk, compared with other bytes if they are given: those of the keys, or a peer's.
  mutating func add(_ name: String, size: Int, bytes: Int, comparedWith base: Int? = nil, goal: Goal? = nil) {
    let row = Row(name: name, size: size, bytes: bytes, ratio: base.map { Double(bytes) / Double($0) })
    add(row, "\(bytes) B", "", goal)
  }

  /// Adds a row of a number that is neither time nor memory.
  mutating func add(_ name: String, size: Int, amount: Double, unit: String, goal: Goal? = nil) {
    add(Row(name: name, size: size, amount: amount), "\(Self.number(amount)) \(unit)", "", goal)
  }

  private mutating func add(_ row: Row, _ value: String, _ spread: String, _ goal: Goal?) {
    var row = row
    row.goal = goal?.description
    row.isMissed = goal?.isMissed(by: row)
    rows.append(row)
    let mark = row.isMissed == true ? " MISSED" : ""
    let columns = (row.caches?.rawValue ?? "", Self.share(row.ratio), (row.goal ?? "") + mark)
    print(Self.line(row.name, "\(row.size)", columns.0, value, spread, columns.1, columns.2))
    // A run takes long, and its rows are read while it goes on.
    fflush(nil)
  }

  /// The rows that miss their goals.
  var missed: [Row] { rows.filter { $0.isMissed == true } }

  /// Says which goals were missed, and how many were judged.
  func printGoals() {
    let judged = rows.filter { $0.isMissed != nil }
    let named = rows.filter { $0.goal != nil }.count - judged.count
    guard !judged.isEmpty else {
      if named > 0 { print("\nNo goal was judged: goals are about \(Goal.leastSize) objects and more.") }
      return
    }
    print("\nOf \(judged.count) goals judged, \(missed.count) were missed\(missed.isEmpty ? "." : ":")")
    for row in missed {
      let value = row.ratio.map { "ratio \(Self.share($0))" }
      let own = row.medianNanoseconds.map { "\(Self.micros($0)) µs" } ?? row.bytes.map { "\($0) B" }
      let words = [own, value].compactMap { $0 }.joined(separator: ", ")
      print("  \(row.name), n = \(row.size): \(words); the goal is \(row.goal ?? "")")
    }
  }

  /// Uses the outcome of a loop, so that the loop cannot be optimised away.
  @inline(never)
  static func keep(_ outcome: Int) { if outcome == .min { print("An outcome was the least integer.") } }

  /// Writes the run as JSON, with the commit that it is of.
  func write(to path: String, commit: String?, isDevelopment: Bool) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    let run = RecordedRun(commit: commit, isDevelopment: isDevelopment, rows: rows)
    try encoder.encode(run).write(to: URL(fileURLWithPath: path))
  }

  /// A number without needless digits.
  static func number(_ value: Double) -> String {
    value == value.rounded() && abs(value) < 1e15 ? "\(Int(value))" : "\(Double(Int((value * 1000).rounded())) / 1000)"
  }

  private static func share(_ ratio: Double?) -> String {
    guard let ratio else { return "" }
    return String(format: ratio < 0.1 ? "%.4f" : ratio < 10 ? "%.2f" : "%.0f", ratio)
  }

  private static func micros(_ nanoseconds: Double) -> String {
    let micros = nanoseconds / 1000
    return String(format: micros < 0.1 ? "%.4f" : micros < 10 ? "%.3f" : micros < 1000 ? "%.1f" : "%.0f", micros)
  }

  private static func line(_ columns: String...) -> String {
    let widths = [62, 8, 6, 12, 20, 9, 0]
    return zip(columns, widths).enumerated().map { index, column in
      let padding = String(repeating: " ", count: max(0, column.1 - column.0.count))
      return index == 0 || column.1 == 0 ? column.0 + padding : padding + column.0
    }.joined(separator: " ")
  }
}
