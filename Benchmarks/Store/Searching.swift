import Foundation
import PhotoLedger

/// S45: text search, from the words to the first hundred assets of the result, read.
///
/// The words are those of the invented files' names, `IMG_0.HEIC` and so on: `img` has every asset, `mov` every video,
/// `12` about a hundredth, and each further digit a tenth of what is left. What `99` finds ends the order of addition,
/// and what `12` finds begins it.
enum Searching {
  private static let texts = ["img", "mov", "99", "12", "123", "1234", "img 12"]
  private static let orders: [(name: String, sort: [String])] = [
    ("by addition", []), ("newest first", ["creationDate:desc"]),
  ]
  private static let selected = "S45 search, 'img', by a client that sees 1,000"
  private static let complete = "S45 search, 'img', with its count"

  private static func name(_ text: String, _ order: String) -> String { "S45 search, '\(text)', first 100 \(order)" }

  static let names = texts.flatMap { text in orders.map { name(text, $0.name) } } + [selected, complete]

  static func measure(_ stage: Stage, into report: inout Report) throws {
    guard report.wantsAny(of: names) else { return }
    let library = try stage.library()
    for text in texts {
      for order in orders where report.wantsAny(of: [name(text, order.name)]) {
        var options = FetchOptions(search: text)
        options.sort = try order.sort.map { try SortTerm($0, for: .asset) }
        let all = try library.fetchAssets(options).prefix(100).map(\.id)
        options.fetchLimit = 100
        var found: [LocalIdentifier] = []
        let samples = try Turns.measure(min(25, report.repetitions)) {
          found = try library.fetchAssets(options).map(\.id)
        }
        guard found == all else {
          throw WrongAnswer(description: "The first hundred of '\(text)' are not the first of all that it finds.")
        }
        report.add(
          name(text, order.name), size: stage.size, caches: .warm, samples[0], goal: .microseconds(10_000))
      }
    }
    if report.wantsAny(of: [complete]) {
      var count = 0
      let samples = try Turns.measure(min(9, report.repetitions)) {
        count = try library.fetchAssets(FetchOptions(search: "img")).wholly().count
      }
      guard count == stage.shown.count else {
        throw WrongAnswer(description: "'img' finds \(count) assets; \(stage.shown.count) are shown.")
      }
      report.add(complete, size: stage.size, caches: .warm, samples[0])
    }
    if report.wantsAny(of: [selected]) { try bySelection(library, stage, into: &report) }
  }

  private static func bySelection(_ library: PhotoLibrary, _ stage: Stage, into report: inout Report) throws {
    let name = "com.example.search"
    let chosen = stride(from: 0, to: stage.shown.count, by: max(1, stage.shown.count / 1000)).map { stage.shown[$0] }
    try library.performChangesAndWait { $0.setAuthorizationStatus(.limited, of: name) }
    try library.performChangesAndWait { $0.grant(chosen, to: name) }
    let client = library.as(name)
    var options = FetchOptions(search: "img")
    options.fetchLimit = 100
    var count = 0
    let samples = try Turns.measure(min(25, report.repetitions)) {
      count = try client.fetchAssets(options).map(\.id).count
    }
    guard count == min(100, chosen.count) else {
      throw WrongAnswer(description: "A client that sees \(chosen.count) assets finds \(count).")
    }
    report.add(selected, size: stage.size, caches: .warm, samples[0], goal: .microseconds(10_000))
  }
}
