/// What a row should reach; a missed goal is marked, and listed at the end of the run.
///
/// Goals are about long lists: they are judged from ``leastSize`` on, and named below.
struct Goal: Codable, Sendable, CustomStringConvertible {
  /// What is measured against the limit.
  enum Measure: String, Codable, Sendable {
    /// The row's median or bytes to those of what it is compared with.
    case ratio
    /// The row's median.
    case microseconds
    /// The row's memory.
    case bytes
    /// What the row counts.
    case amount
  }

  var measure: Measure
  var limit: Double

  /// The shortest list at which goals are judged.
  static let leastSize = 100_000

  /// The row takes at most so many times what it is compared with.
  static func atMost(_ ratio: Double) -> Goal { Goal(measure: .ratio, limit: ratio) }

  /// The median is at most so many microseconds.
  static func microseconds(_ limit: Double) -> Goal { Goal(measure: .microseconds, limit: limit) }

  /// The memory is at most so many bytes.
  static func bytes(_ limit: Int) -> Goal { Goal(measure: .bytes, limit: Double(limit)) }

  /// The number is at most so much.
  static func amount(_ limit: Double) -> Goal { Goal(measure: .amount, limit: limit) }

  /// Whether a row misses the goal; nil if it is not judged.
  func isMissed(by row: Report.Row) -> Bool? {
    guard row.size >= Self.leastSize else { return nil }
    let value: Double? =
      switch measure {
      case .ratio: row.ratio
      case .microseconds: row.medianNanoseconds.map { $0 / 1000 }
      case .bytes: row.bytes.map(Double.init)
      case .amount: row.amount
      }
    return value.map { $0 > limit }
  }

  var description: String {
    switch measure {
    case .ratio: "≤ \(Report.number(limit)) ×"
    case .microseconds: "≤ \(Report.number(limit)) µs"
    case .bytes: "≤ \(Report.number(limit / 1024)) KiB"
    case .amount: "≤ \(Report.number(limit))"
    }
  }
}
