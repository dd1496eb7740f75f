import Foundation
import PhotoLedger

/// S36: the gallery's page in headless Chromium, on the invented library with 200 pictures more.
///
/// [measure.py](../Page/measure.py) drives the browser and reads its own figures: tasks of the main thread, the heap,
/// what the document holds. The last photo has to be reached at one and at two device pixels for a CSS pixel, or the
/// run ends.
enum Browsing {
  private static let first = "S36 page, load to the first pictures"
  private static let task = "S36 page, longest task while scrolling"
  private static let shown = "S36 page, commit at index 0 until its tile is drawn"
  private static let heap = "S36 page, heap"
  private static let nodes = "S36 page, elements in the grid"
  private static let moved = "S36 page, pixels that the anchor moved"

  static let names = [first, task, shown, heap, nodes, moved]

  /// What the script prints. Times are in milliseconds.
  private struct Figures: Decodable {
    var firstTiles: [Double]
    var longestTask: Double
    var shown: [Double]
    var heap: Double
    var nodes: Double
    var moved: Double
    var errors: [String]
  }

  static func measure(_ stage: Stage, into report: inout Report) throws {
    guard report.wantsAny(of: names) else { return }
    #if Gallery
      let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Page/measure.py")
      let tools = ["/usr/bin/chromium", "/usr/bin/chromedriver", "/usr/bin/vips"]
      guard tools.allSatisfy(FileManager.default.isExecutableFile) else {
        return print(
          "S36 is left out: apt-get install chromium chromium-driver python3-selenium libvips-tools brings its tools.")
      }
      guard let program = try ChildProcess.program(beside: "photoledger") else {
        return print("S36 is left out: build with `swift build -c release --traits Gallery`.")
      }
      stage.close()
      let server = try ServedLibrary(program, stage.diskFolder.path)
      defer { server.stop() }
      var text = Data()
      _ = try ChildProcess.stream(["/usr/bin/python3", script.path, server.url(""), server.key]) { text.append($0) }
      let figures = try JSONDecoder().decode(Figures.self, from: text)
      guard figures.errors.isEmpty else {
        throw WrongAnswer(description: "The page's console holds errors: \(figures.errors)")
      }
      let milliseconds = { (times: [Double]) in Sample(times.map { $0 * 1e6 }) }
      report.add(
        first, size: stage.size, caches: .warm, milliseconds(figures.firstTiles), goal: .microseconds(1_000_000))
      // The browser tells of tasks of 50 ms and more; 0 says that there was none.
      report.add(task, size: stage.size, amount: figures.longestTask, unit: "ms", goal: .amount(50))
      report.add(shown, size: stage.size, caches: .warm, milliseconds(figures.shown), goal: .microseconds(100_000))
      report.add(heap, size: stage.size, bytes: Int(figures.heap), goal: .bytes(80 << 20))
      report.add(nodes, size: stage.size, amount: figures.nodes, unit: "elements", goal: .amount(500))
      report.add(moved, size: stage.size, amount: figures.moved, unit: "px", goal: .amount(0))
    #else
      print("S36 is left out: build with `swift build -c release --traits Gallery`.")
    #endif
  }
}
