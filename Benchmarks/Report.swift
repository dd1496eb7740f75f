import Foundation

/// Prints rows as they come and keeps them for JSON.
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
    /// Memory; nil in a row of times.
    var bytes: Int?
    /// This row's median to that of the row it is compared with, or its bytes to those of the keys; nil if it has
    /// nothing to be compared with.
    var ratio: Double?
  }

  let filter: String
  let repetitions: Int
  private(set) var rows: [Row] = []

  init(filter: String, repetitions: Int) {
    self.filter = filter
    self.repetitions = repetitions
  }

  func wantsAny(_ names: String...) -> Bool { filter.isEmpty || names.contains { $0.contains(filter) } }

  func printHeader() {
    print(Self.line("row", "n", "caches", "median µs", "10 % … 90 %", "ratio"))
  }

  /// Adds a row. A row's times are divided by `operations`, for loops of many.
  mutating func add(
    _ name: String, size: Int, caches: Caches?, _ sample: Sample, operations: Int = 1, comparedWith base: Double? = nil
  ) {
    let scale = 1 / Double(operations)
    let (low, median, high) = (
      sample.quantile(0.1) * scale, sample.quantile(0.5) * scale, sample.quantile(0.9) * scale
    )
    let row = Row(
      name: name, size: size, caches: caches, medianNanoseconds: median, lowNanoseconds: low, highNanoseconds: high,
      repetitions: sample.times.count, ratio: base.map { median / $0 })
    rows.append(row)
    let spread = "\(Self.micros(low)) … \(Self.micros(high))"
    print(Self.line(name, "\(size)", caches?.rawValue ?? "", Self.micros(median), spread, Self.share(row.ratio)))
  }

  /// Adds a row of memory, compared with the bytes of the keys if they are given.
  mutating func add(_ name: String, size: Int, bytes: Int, ofPayload payload: Int? = nil) {
    let row = Row(name: name, size: size, bytes: bytes, ratio: payload.map { Double(bytes) / Double($0) })
    rows.append(row)
    print(Self.line(name, "\(size)", "", "\(bytes) B", "", Self.share(row.ratio)))
  }

  /// Uses the outcome of a loop, so that the loop cannot be optimised away.
  @inline(never)
  static func keep(_ outcome: Int) { if outcome == .min { print("An outcome was the least integer.") } }

  func write(to path: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try encoder.encode(rows).write(to: URL(fileURLWithPath: path))
  }

  private static func share(_ ratio: Double?) -> String {
    ratio.map { $0 < 10 ? String(format: "%.2f", $0) : String(format: "%.0f", $0) } ?? ""
  }

  private static func micros(_ nanoseconds: Double) -> String {
    let micros = nanoseconds / 1000
    return String(format: micros < 0.1 ? "%.4f" : micros < 10 ? "%.3f" : micros < 1000 ? "%.1f" : "%.0f", micros)
  }

  private static func line(_ columns: String...) -> String {
    let widths = [46, 8, 6, 10, 20, 9]
    return zip(columns, widths).enumerated().map { index, column in
      let padding = String(repeating: " ", count: max(0, column.1 - column.0.count))
      return index == 0 ? column.0 + padding : padding + column.0
    }.joined(separator: " ")
  }
}
