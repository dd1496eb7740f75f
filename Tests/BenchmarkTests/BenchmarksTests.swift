import Foundation
import TestSupport
import Testing

/// The benchmarks run tiny with the tests: they compile, check their own answers and do not rot.
@Suite struct BenchmarksTests {
  @Test("every benchmark runs and gives correct answers")
  func everyRow() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("benchmarks-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appendingPathComponent("rows.json")
    let (output, end) = try run(
      ["--development", "--size", "100", "--repetitions", "1", "--plots", folder.path, "--json", file.path])
    #expect(end == .status(0), "\(output)")
    let rows = try #require(try object(in: file)["rows"] as? [[String: Any]])
    let names = Set(rows.compactMap { $0["name"] as? String })
    for workload in ["k1", "k10", "k1000", "move", "k3%", "k50%"] {
      #expect(names.contains("\(workload) counted tree, held"))
      #expect(names.contains("\(workload) standard library difference"))
      #expect(names.contains("\(workload) floor: memcpy of the paths"))
      #expect(names.contains("\(workload) floor: memcpy of the list"))
    }
    for workload in ["k1", "k10", "k1000", "move"] {
      #expect(names.contains("\(workload) floor: sorted set of the same keys, held"))
      #expect(names.contains("\(workload) counted tree, held, its code in the caches, to a sorted set"))
    }
    #expect(names.contains("structure rank"))
    #expect(names.contains("permission look-up, selection of 50"))
    #expect(names.contains("permission fetch, selection of 1, an asset"))
    #expect(names.contains("permission commit, 3 limited clients"))
    for baseline in ["Heckel, both arrays given", "standard library difference, inferring moves"] {
      #expect(names.contains("k10 \(baseline)"))
    }
    for row in storeRows { #expect(names.contains { $0.hasPrefix(row) }, "\(row)") }
    for figure in ["built", "held across one change", "grown at random"] {
      #expect(names.contains("structure memory, \(figure)"))
    }
    // A number of pixels may well be zero.
    let figures = rows.filter { $0["amount"] == nil }
    #expect(figures.allSatisfy { ($0["medianNanoseconds"] as? Double ?? $0["bytes"] as? Double ?? 0) > 0 })
  }

  @Test(
    "backlogs of thousands of commits, and photos as cameras produce them, give correct answers",
    .enabled(if: Dose.isFull, "PHOTOLEDGER_TEST_DOSE=4 runs it"))
  func full() throws {
    let (output, end) = try run(
      ["--development", "--size", "1000", "--repetitions", "1", "--filter", "S14 one asset", "--filter", "S27"])
    #expect(end == .status(0), "\(output)")
    #expect(output.contains("S14 one asset read at each of 16000 commits"))
  }

  private let storeRows = [
    "S5 floor: LMDB scan of the same rows and tree build", "S5 floor: LMDB scan of the same order and tree build",
    "S1 one event, log alone, no sync, floor: LMDB", "S2 one event with its projections, no sync",
    "S3 one event, durable, floor: fdatasync", "S4 1000 events, durable", "S5 fetch of everything, newest first",
    "S6 commit to observer, no sync, edit that moves", "S7 commit to observer, no sync, 1 of 100 live results touched",
    "S8 new process, count and first 100, pages in memory", "S9 no index, long videos by length",
    "S9 smart album, favourites", "S10 creation, 1000 a durable commit, an asset", "S10 bytes on disk",
    "S11 rebuild of all projections, an event", "S11 floor: the same hashes alone, an event",
    "S11 verification of the chain on one core, an event", "S11 verification of the chain, an event",
    "S12 commit to callback, durable", "S12 a commit of 100 writers at once, durable",
    "S13 commit to notified observers", "S13 commit to registered observers, no sync, 100 ask",
    "S14 catching up composed, a commit", "S14 one asset read at each of 160 commits",
    "S15 album, remove 1000 in the middle, details",
    "S15 album, move the last to the front, bytes logged", "M1 memory of a second observer",
    "proof checkpoint, an event", "proof inclusion, first of a process", "proof inclusion, later",
    "proof consistency, later", "S16 as of, open", "S16 as of, newest first", "S16 snapshots made, an event",
    "ugly, 100,000 of one instant, a change", "ugly, 68,811 removed and restored, commit to observer after",
    "S20 backup, proved and durable", "S21 new process, by addition, count and first 100",
    "S21 new process, newest images, count and first 100",
    "S21 new process, album in its order, count and first 100", "S21 new process, newest favourites, count",
    "S21 new process, trash, count", "S21 new process, Recently Added, count",
    "S21 new process, limited client, newest, count", "S21 new process, top-level collections, count",
    "S21 new process, newest, PHAsset.fetchAssets(with:), count", "S22 ls --json", "S22 log",
    "S22 export, peak memory", "S23 rebuild, the file afterwards", "S23 rebuild, peak memory",
  ]

  @Test("goals are named, and judged only for long lists")
  func goals() throws {
    let (output, end) = try run(["--development", "--size", "100", "--repetitions", "1", "--filter", "k10 counted"])
    #expect(end == .status(0))
    #expect(output.contains("≤ 40 µs"))
    #expect(output.contains("No goal was judged"))
  }

  @Test("the help says how to get the rows of other stores")
  func peers() throws {
    let (output, end) = try run(["--help"])
    #expect(end == .status(0))
    #expect(output.contains("PeerBenchmarks") && output.contains("--development"))
  }

  @Test(
    "an invalid command line is rejected",
    arguments: [
      ["--size", "3"], ["--size", "100,many"], ["--colour", "1"], ["--colour"], ["--json"], ["--plots"],
      ["--child", "x", "y"],
    ])
  func misuse(arguments: [String]) throws {
    let (output, end) = try run(arguments)
    #expect(end == .status(2))
    #expect(output.contains("usage: benchmarks"))
  }

  @Test("a run names its commit, and one for development says so in its first line and in the JSON")
  func commit() throws {
    let folder = try TemporaryFolder()
    let file = folder.place("rows.json")
    let (output, end) = try run(
      ["--development", "--size", "100", "--repetitions", "1", "--filter", "k1 floor: memcpy", "--json", file.path])
    let heading = try #require(output.split(separator: "\n").first)
    #expect(end == .status(0) && heading.contains("commit") && heading.contains("a development run"))
    let run = try object(in: file)
    #expect(run["isDevelopment"] as? Bool == true)
    if let commit = run["commit"] as? String { #expect(heading.hasPrefix("commit \(commit)")) }
  }

  private func object(in file: URL) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
  }

  // MARK: The new process

  @Test("the new process of the first screens loads the libraries of the core alone")
  func newProcessLibraries() throws {
    // With this variable the dynamic linker prints what it would load, and the program is not started.
    let (libraries, end) = try ChildRun.of(["LD_TRACE_LOADED_OBJECTS=1", product("new-process")])
    #expect(end == .status(0) && libraries.contains("liblmdb"), "\(libraries)")
    #expect(!libraries.contains("libFoundationNetworking") && !libraries.contains("libcurl"), "\(libraries)")
  }

  @Test(
    "an invalid command line of the new process is rejected",
    arguments: [[], ["open-sqlite", "x"], ["first-added"], ["first-added", "x", "y", "z"]])
  func newProcessMisuse(arguments: [String]) throws {
    let (output, end) = try ChildRun.of([product("new-process")] + arguments)
    #expect(end == .status(2) && output.contains("usage: new-process"), "\(output)")
  }

  @Test("a run without the program of the new process says how to build it")
  func withoutNewProcess() throws {
    // Not in memory, where programs may not be started.
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("benchmarks-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let program = folder.appendingPathComponent("benchmarks").path
    try FileManager.default.copyItem(atPath: product("benchmarks"), toPath: program)
    let (output, end) = try ChildRun.of(
      [program, "--development", "--size", "100", "--repetitions", "1", "--filter", "S8"])
    #expect(end == .status(1) && output.contains("swift build -c release --product new-process"), "\(output)")
  }

  private func run(_ arguments: [String]) throws -> (text: String, end: ChildRun.End) {
    try ChildRun.of([product("benchmarks")] + arguments)
  }

  /// A program that was built with the tests.
  private func product(_ name: String) -> String {
    let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    return products.appendingPathComponent(name).path
  }
}
