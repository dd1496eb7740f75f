import Foundation
import TestSupport
import Testing

/// The benchmarks run tiny with the tests: they compile, check their own answers and do not rot.
@Suite struct BenchmarksTests {
  @Test("every benchmark runs and finds its answers right")
  func everyRow() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("benchmarks-\(UUID()).json")
    defer { try? FileManager.default.removeItem(at: file) }
    let (output, end) = try run(["--size", "100", "--repetitions", "1", "--json", file.path])
    #expect(end == .status(0), "\(output)")
    let rows = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [[String: Any]])
    let names = Set(rows.compactMap { $0["name"] as? String })
    for workload in ["k1", "k10", "k1000", "move", "k3%", "k50%"] {
      #expect(names.contains("\(workload) counted tree, held"))
      #expect(names.contains("\(workload) standard library difference"))
    }
    #expect(names.contains("structure rank"))
    #expect(names.contains("permission look-up, selection of 50"))
    #expect(names.contains("permission fetch, selection of 1, an asset"))
    #expect(names.contains("permission commit, 3 limited clients"))
    for figure in ["built", "held across one change", "grown at random"] {
      #expect(names.contains("structure memory, \(figure)"))
    }
    #expect(rows.allSatisfy { ($0["medianNanoseconds"] as? Double ?? $0["bytes"] as? Double ?? 0) > 0 })
  }

  @Test(
    "a command line that cannot be obeyed is refused",
    arguments: [["--size", "3"], ["--size", "100,many"], ["--colour", "1"], ["--colour"], ["--json"]])
  func misuse(arguments: [String]) throws {
    let (output, end) = try run(arguments)
    #expect(end == .status(2))
    #expect(output.contains("usage: benchmarks"))
  }

  private func run(_ arguments: [String]) throws -> (text: String, end: ChildRun.End) {
    let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    return try ChildRun.of([products.appendingPathComponent("benchmarks").path] + arguments)
  }
}
