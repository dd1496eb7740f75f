import Foundation
import LMDB
import TestSupport
import Testing

@testable import PhotoLedger

@Suite("Comparing the tables of two stores")
struct TableComparisonTests {
  /// The numbers of rows of the tables: the largest is not the first, and two are reported in several parts.
  private static let counts: [UInt64] = [3, 10_000, 0, 5_000]

  /// A store with a table of each size; the last row of one may differ.
  private static func store(
    at path: String, altering altered: Int? = nil
  ) throws -> (environment: LMDB.Environment, tables: [Database]) {
    var options = LMDB.Environment.Options()
    options.durability = .unsafeNoSync
    let environment = try LMDB.Environment.open(path: path, options: options)
    var tables: [Database] = []
    for index in counts.indices {
      tables.append(try environment.database("table-\(index)", integerKeys: true))
    }
    try environment.write { t in
      for (index, table) in tables.enumerated() {
        for number in 0..<counts[index] {
          let isAltered = index == altered && number + 1 == counts[index]
          let value: [UInt8] = [isAltered ? 1 : 0]
          try t.put(number, value, in: table)
        }
      }
    }
    return (environment, tables)
  }

  /// The result for two stores that have the same rows, but for one.
  private static func compared(altering altered: Int? = nil, goesOn: (UInt64) -> Bool) throws -> [Bool]? {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let live = try store(at: folder.place("live").path, altering: altered)
    let shadow = try store(at: folder.place("shadow").path)
    var pairs: [TableComparison.Pair] = []
    for index in counts.indices { pairs.append((live: live.tables[index], shadow: shadow.tables[index])) }
    let comparison = TableComparison(of: pairs, counts)
    let found = try live.environment.read { t -> [Bool]? in
      try shadow.environment.read { source -> [Bool]? in
        comparison.run(t.held, beside: source.held, goesOn: goesOn)
      }
    }
    try live.environment.close()
    try shadow.environment.close()
    return found
  }

  @Test("each table has its result, and the reports go from no row to all", arguments: [nil, 0, 1, 3] as [Int?])
  func results(altered: Int?) throws {
    var reports: [UInt64] = []
    let found = try Self.compared(altering: altered) { done in
      reports.append(done)
      return true
    }
    let expected = Self.counts.indices.map { $0 != altered }
    #expect(found == expected)
    #expect(reports.first == 0 && reports.last == Self.counts.reduce(0, +))
    #expect(reports == reports.sorted())
  }

  @Test(
    "a comparison that is stopped, before it starts or later, has no result and reports nothing more",
    arguments: [1, 2])
  func stopped(atReport last: Int) throws {
    var count = 0
    let found = try Self.compared { _ in
      count += 1
      return count < last
    }
    #expect(found == nil && count == last)
  }
}
