import Foundation
import PhotoLedger
import TestSupport
import Testing

@testable import benchmarks

// What a run is of, and what is written about the one that is kept.

@Suite struct BenchmarkRunTests {
  // MARK: The code of a run

  private static let hasGit = (try? ChildRun.of(["git", "--version"]))?.end == .status(0)

  /// A repository with a source and an article, committed, and a program built from it.
  private func repository() throws -> (folder: TemporaryFolder, program: String) {
    let folder = try TemporaryFolder()
    let sources = folder.place("Sources/PhotoLedger")
    try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
    try Data("let one = 1\n".utf8).write(to: sources.appending(path: "One.swift"))
    try Data("words\n".utf8).write(to: sources.appending(path: "Article.md"))
    try git(["init", "--quiet"], folder)
    try git(["add", "--all"], folder)
    try git(["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "-m", "one"], folder)
    let program = folder.place("program")
    try Data().write(to: program)
    try setModificationDate(Date(timeIntervalSinceNow: 60), of: program)
    return (folder, program.path)
  }

  private func git(_ words: [String], _ folder: TemporaryFolder) throws {
    let (text, end) = try ChildRun.of(["git", "-C", folder.url.path] + words)
    #expect(end == .status(0), "\(text)")
  }

  private func setModificationDate(_ date: Date, of file: URL) throws {
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
  }

  @Test(
    "a run is of a commit while nothing that goes into the program differs from it",
    .enabled(if: hasGit, "a commit is found with git"))
  func clean() throws {
    let (folder, program) = try repository()
    let state = try SourceState(of: folder.url, program: program)
    #expect(state.commit?.count == 40 && state.deviation == nil)
    try state.check(isDevelopment: false)
    // Results and words are written after a run.
    try Data("other words\n".utf8).write(to: folder.place("Sources/PhotoLedger/Article.md"))
    try Data("[]".utf8).write(to: folder.place("results.json"))
    #expect(try SourceState(of: folder.url, program: program) == state)
  }

  @Test(
    "a run of changed, new or later sources is rejected, or marked as a development run",
    .enabled(if: hasGit, "a commit is found with git"), arguments: ["changed", "new", "later"])
  func dirty(how: String) throws {
    let (folder, program) = try repository()
    let sources = folder.place("Sources/PhotoLedger")
    switch how {
    case "changed": try Data("let one = 2\n".utf8).write(to: sources.appending(path: "One.swift"))
    case "new": try Data("let two = 2\n".utf8).write(to: sources.appending(path: "Two.swift"))
    default: try setModificationDate(Date(timeIntervalSinceNow: 600), of: sources.appending(path: "One.swift"))
    }
    let state = try SourceState(of: folder.url, program: program)
    #expect(state.commit?.count == 40)
    #expect(state.deviation?.contains(how == "new" ? "Two.swift" : "One.swift") == true, "\(state)")
    let refusal = #expect(throws: Command.Misuse.self) { try state.check(isDevelopment: false) }
    #expect(refusal?.sentence.contains("--development") == true)
    try state.check(isDevelopment: true)
    #expect(state.heading(isDevelopment: true).contains("a development run"))
  }

  @Test(
    "a run beside a program that was built from earlier sources is rejected",
    .enabled(if: hasGit, "a commit is found with git"), arguments: ["photoledger", "new-process"])
  func staleProgram(name: String) throws {
    let (folder, program) = try repository()
    let other = folder.place(name)
    try Data().write(to: other)
    try setModificationDate(Date(timeIntervalSinceNow: 60), of: other)
    #expect(try SourceState(of: folder.url, program: program).deviation == nil)
    try setModificationDate(Date(timeIntervalSinceNow: -600), of: other)
    let deviation = try #require(try SourceState(of: folder.url, program: program).deviation)
    #expect(deviation.contains("One.swift") && deviation.contains("`\(name)`"), "\(deviation)")
  }

  @Test("a run of sources outside a repository names no commit, and is rejected")
  func noRepository() throws {
    let folder = try TemporaryFolder()
    let state = try SourceState(of: folder.url, program: "/proc/self/exe")
    #expect(state.commit == nil)
    #expect(throws: Command.Misuse.self) { try state.check(isDevelopment: false) }
  }

  // MARK: The sorted set

  @Test("the sorted set beside the tree holds the keys of a sorted array, and knows their positions")
  func sortedSet() {
    var list = ItemList(size: 3000, seed: 4)
    var set = SortedSet(sorted: list.items.map(\.key))
    for workload in [Workload.one, .ten, .move, .thousand, .half, .thousand, .half, .move] {
      for _ in 0..<4 {
        let edits = list.draw(workload)
        let (before, held) = (list.items, set)
        list.make(edits)
        let positions = set.apply(edits.map(\.touch))
        let walked = WalkedChanges(before: before, after: list.items)
        #expect(positions.removed == (walked.removed + walked.repositioned.map(\.before)).sorted())
        #expect(positions.inserted == (walked.inserted + walked.repositioned.map(\.after)).sorted())
        #expect(set.keys == list.items.map(\.key) && set.count == list.items.count)
        #expect(held.keys == before.map(\.key), "The value before stays as it was.")
      }
    }
    for key in set.keys { set.remove(key) }
    #expect(set.count == 0 && set.keys.isEmpty)
    set.insert(list.items[0].key)
    #expect(set.keys == [list.items[0].key])
  }

  // MARK: The run that is kept

  private static let benchmarks = SourceState.package.appending(path: "Benchmarks")

  private func words() throws -> String {
    try String(contentsOf: Self.benchmarks.appending(path: "README.md"), encoding: .utf8)
  }

  /// The rows of the kept run.
  ///
  /// A run has the commit that it is of, is not one for development, and the text names the commit.
  private func keptRows(_ file: String = "results.json") throws -> [Report.Row] {
    let data = try Data(contentsOf: Self.benchmarks.appending(path: file))
    let run = try JSONDecoder().decode(RecordedRun.self, from: data)
    #expect(!run.isDevelopment, "The kept run is one for development.")
    let commit = try #require(run.commit, "The kept run names no commit.")
    #expect(commit.count == 40 && commit.allSatisfy(\.isHexDigit))
    #expect(try words().contains(commit.prefix(7)), "The text does not name the commit of the run.")
    return run.rows
  }

  @Test("the kept run names a commit, and the text states how many of its goals were missed")
  func missedGoals() throws {
    let judged = try keptRows().filter { $0.size == 1_000_000 && $0.isMissed != nil }
    let missed = judged.filter { $0.isMissed == true }.count
    #expect(!judged.isEmpty)
    let sentence =
      "Of \(judged.count) goals judged at that size, change details included, \(missed) were missed."
    let text = try words().split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(text.contains(sentence), "The text has to say: \(sentence)")
  }

  @Test("the text describes every kind of row of the kept run")
  func kinds() throws {
    // The kind is the first word of a row's name: `S18 history of a purged asset`, `ugly, an album of everything`.
    let kinds = Set(try keptRows().map { $0.name.prefix { $0 != " " && $0 != "," } })
    #expect(kinds.count > 30)
    let text = try words()
    let undescribed = kinds.filter { !text.contains("`\($0)`") }.sorted()
    #expect(undescribed.isEmpty, "\(undescribed)")
  }

  /// What names a row among those of one size: caches can be cold or warm under the same name.
  private struct RowKey: Hashable {
    var name: String
    var caches: Caches?
  }

  /// The rows of the kept run of a million, each by its name and caches.
  private func keptMillion(_ file: String = "results.json") throws -> [RowKey: Report.Row] {
    let rows = try keptRows(file).filter { $0.size == 1_000_000 }
    let named = Dictionary(rows.map { (RowKey(name: $0.name, caches: $0.caches), $0) }) { first, _ in first }
    #expect(named.count == rows.count, "Two rows have one name and the same caches.")
    return named
  }

  /// The cells of the first table below a heading, by line.
  private func table(below heading: String) throws -> [[String]] {
    let text = try words()
    let start = try #require(text.range(of: heading))
    let lines = text[start.upperBound...].split(separator: "\n", omittingEmptySubsequences: false)
    return lines.drop { !$0.hasPrefix("|--") }.dropFirst().prefix { $0.hasPrefix("|") }.map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  @Test(
    "each row of the text's tables is in its kept run, with the same goal and verdict",
    arguments: [("### Results, ", "results.json"), ("### The server, ", "results-2026-11-30.json")])
  func table(heading: String, file: String) throws {
    let rows = try keptMillion(file)
    let lines = try table(below: heading)
    #expect(lines.count >= 30)
    for cells in lines {
      // A row is warm where it can be; some have cold caches alone.
      let found = [Caches.warm, nil, .cold].lazy.compactMap { rows[RowKey(name: cells[0], caches: $0)] }.first
      let row = try #require(found, "'\(cells[0])' is not in the kept run.")
      let verdict = row.isMissed.map { $0 ? "**missed**" : "met" } ?? ""
      #expect(cells.last == verdict, "\(cells)")
      #expect(row.goal.map { $0.dropFirst(2) == cells[cells.count - 2] } ?? true, "\(cells)")
    }
  }

  @Test("the text's table of change details has the figures of the kept run with cold caches")
  func changeDetails() throws {
    let rows = try keptMillion()
    let lines = try table(below: "### Change details in that run")
    #expect(lines.map { $0[0] } == ["k1", "k10", "move", "k1000"])
    for cells in lines {
      func row(_ name: String) throws -> Report.Row {
        let key = RowKey(name: "\(cells[0]) \(name)", caches: .cold)
        return try #require(rows[key], "'\(key.name)' is not in the kept run.")
      }
      func microseconds(_ name: String) throws -> String {
        let median = try #require(try row(name).medianNanoseconds) / 1000
        return String(format: median < 100 ? "%.1f" : "%.0f", median)
      }
      let ratio = try #require(try row("counted tree, held, to a sorted set").ratio)
      let goal = try #require(try row("counted tree, held").goal)
      let expected = [
        try microseconds("counted tree, held"), try microseconds("counted tree, held, its code in the caches"),
        String(format: "%.2f", ratio), try microseconds("floor: memcpy of the paths"),
        try microseconds("floor: memcpy of the list"), try microseconds("one walk, both arrays given"),
        try microseconds("standard library difference"), String(goal.dropFirst(2).dropLast(3)),
      ]
      #expect(Array(cells.dropFirst()) == expected, "\(cells[0])")
    }
  }
}
