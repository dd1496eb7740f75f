import Foundation
import FoundationXML
import PhotoLedger
import TestSupport
import Testing

@testable import benchmarks

/// The parts of the benchmarks that can be judged right or wrong without a clock.
@Suite struct BenchmarkPartsTests {
  // MARK: Goals

  @Test(
    "a goal is missed above its limit, met at it, and not judged for short lists",
    arguments: [(1.25, 100_000, false), (1.26, 100_000, true), (1.26, 99_999, nil)] as [(Double, Int, Bool?)])
  func goal(ratio: Double, size: Int, isMissed: Bool?) {
    let row = Report.Row(name: "a row", size: size, medianNanoseconds: 1000, ratio: ratio)
    #expect(Goal.atMost(1.25).isMissed(by: row) == isMissed)
    let slow = Report.Row(name: "a row", size: size, medianNanoseconds: ratio * 1000)
    #expect(Goal.microseconds(1.25).isMissed(by: slow) == isMissed)
    let large = Report.Row(name: "a row", size: size, bytes: Int(ratio * 100))
    #expect(Goal.bytes(125).isMissed(by: large) == isMissed)
  }

  @Test("a row that has nothing to be compared with is not judged by a ratio")
  func goalWithoutRatio() {
    #expect(Goal.atMost(1).isMissed(by: Report.Row(name: "a row", size: 1_000_000, medianNanoseconds: 1)) == nil)
  }

  @Test("the report remembers the missed rows, and writes goals as JSON")
  func report() throws {
    var report = Report(filters: [], repetitions: 1)
    report.add("met", size: 1_000_000, caches: nil, Sample([2000]), comparedWith: 2000, goal: .atMost(1))
    report.add("missed", size: 1_000_000, caches: nil, Sample([3000]), comparedWith: 2000, goal: .atMost(1))
    report.add("far", size: 1_000_000, bytes: 2048, goal: .bytes(1024))
    report.add("free", size: 1_000_000, bytes: 2048)
    #expect(report.missed.map(\.name) == ["missed", "far"])
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("benchmarks-\(UUID()).json")
    defer { try? FileManager.default.removeItem(at: file) }
    try report.write(to: file.path, commit: "c0ffee", isDevelopment: true)
    let run = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
    #expect(run["commit"] as? String == "c0ffee" && run["isDevelopment"] as? Bool == true)
    let rows = try #require(run["rows"] as? [[String: Any]])
    #expect(rows.map { $0["goal"] as? String } == ["≤ 1 ×", "≤ 1 ×", "≤ 1 KiB", nil])
    #expect(rows.map { $0["isMissed"] as? Bool } == [false, true, true, nil])
  }

  // MARK: Feeds

  @Test(
    "events are parsed from chunks however they are cut, and a heartbeat is not an event", arguments: [1, 7, 4096])
  func events(pieceLength: Int) throws {
    func chunk(_ text: String) -> [UInt8] { Array("\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n".utf8) }
    let bytes =
      chunk("retry: 2000\nevent: feed\ndata: {\"feed\":\"a\"}\n\n") + chunk(":\n\n") + chunk("id: 1\nevent: cha")
      + chunk("nge\ndata: {\"before\":\"t1-1\",\"after\":\"t1-2\"}\n\n:\n\n") + chunk("event: state\ndata: {}\n")
    var reader = EventReader()
    var events: [EventReader.Event] = []
    for start in stride(from: 0, to: bytes.count, by: pieceLength) {
      events += try reader.events(adding: bytes[start..<min(start + pieceLength, bytes.count)])
    }
    #expect(events.map(\.name) == ["feed", "change"], "The last one is not complete.")
    let mark = Array(#""after":"t1-2""#.utf8)
    #expect(events.map { $0.holds(mark) } == [false, true])
    #expect(try events.last?.object()["before"] as? String == "t1-1")
    #expect(try reader.events(adding: chunk("\n")).map(\.name) == ["state"])
    #expect(throws: WrongAnswer.self) { try reader.events(adding: Array("0\r\n\r\n".utf8)) }
  }

  // MARK: Heckel

  @Test("the Heckel differ finds removals, insertions and changes, and reports every element that one move displaces")
  func heckel() {
    let items = (0..<6).map { Item(number: UInt64($0), salt: 0, date: -Int64($0), revision: 0) }
    var after = items
    after[2].revision = 1
    after.remove(at: 1)
    after.append(Item(number: 9, salt: 0, date: -9, revision: 0))
    let edited = HeckelChanges(before: items, after: after)
    #expect(edited.removed == [1])
    #expect(edited.inserted == [5])
    #expect(edited.changed == [1])
    #expect(edited.moved.isEmpty)
    let moved = HeckelChanges(before: items, after: [items[5]] + items[..<5])
    #expect(moved.removed.isEmpty && moved.inserted.isEmpty && moved.changed.isEmpty)
    #expect(moved.moved.count == 6)
  }

  // MARK: Invented libraries

  // The usual dose has no large one: each asset is invented three times.
  @Test(
    "a seed and a size give the same library, another seed another one",
    arguments: [1, 1000] + (Dose.isFull ? [20_000] : []))
  func deterministic(count: Int) {
    let one = InventedLibrary(count: count, seed: 7).map(Facts.init)
    #expect(one.count == count)
    #expect(one == InventedLibrary(count: count, seed: 7).map(Facts.init))
    if count > 1 { #expect(one != InventedLibrary(count: count, seed: 8).map(Facts.init)) }
  }

  @Test("an invented library has the shares of its shape, within a fifth")
  func shape() {
    let assets = Array(InventedLibrary(count: 50_000, seed: 3))
    func share(_ holds: (InventedAsset) -> Bool) -> Double { Double(assets.filter(holds).count) / 50_000 }
    let shares: [(Double, Double)] = [
      (share(\.isFavorite), LibraryShape.favouriteShare), (share(\.isVideo), LibraryShape.videoShare),
      (share { $0.origin == .screen }, LibraryShape.screenshotShare),
      (share { $0.origin == .messenger }, LibraryShape.messengerShare), (share(\.isEdited), LibraryShape.editedShare),
    ]
    for (found, wanted) in shares { #expect(abs(found - wanted) < wanted / 5, "\(found) instead of \(wanted)") }
    let bursts = Dictionary(grouping: assets.filter { $0.burst != nil }) { $0.burst }
    #expect(bursts.count > 100)
    #expect(bursts.values.allSatisfy { $0.filter(\.representsBurst).count == 1 && $0.count <= 10 })
  }

  @Test("albums hold their intended share of the library, and none is empty")
  func albums() {
    let sizes = InventedLibrary.albumSizes(of: 10_000, seed: 1)
    #expect(sizes.reduce(0, +) == 3000)
    #expect(sizes.allSatisfy { $0 > 0 })
    #expect(sizes == InventedLibrary.albumSizes(of: 10_000, seed: 1))
  }

  /// What two libraries are compared by.
  private struct Facts: Equatable {
    var instant: Double
    var flags: [Bool]
    var hash: [UInt8]

    init(_ asset: InventedAsset) {
      instant = asset.instant
      flags = [asset.isVideo, asset.isFavorite, asset.isHidden, asset.isLive, asset.location != nil]
      hash = asset.hash(of: 0)
    }
  }

  // MARK: Plots

  private let rows = [10, 100, 1000].flatMap { size in
    [("k1 counted tree, held", 4.0), ("k1 <walk> & \"more\"", 40), ("k10 counted tree, held", 12)].map { name, micros in
      Report.Row(name: name, size: size, caches: .cold, medianNanoseconds: micros * 1000 * Double(size))
    }
  }

  @Test("a plot is well-formed XML with a line, a name and a point for each size of each row")
  func plot() throws {
    let plots = Plot.all(of: rows)
    #expect(
      plots.map(\.file) == [
        "details-k1", "details-k10", "details-over-k-10", "details-over-k-100", "details-over-k-1000",
      ])
    for (_, plot) in plots {
      let reader = ElementCounter()
      let parser = XMLParser(data: Data(plot.svg.utf8))
      parser.delegate = reader
      #expect(parser.parse(), "\(plot.svg)")
      #expect(reader.counts["polyline"] == plot.lines.filter { !$0.points.isEmpty }.count)
      #expect(reader.counts["circle"] == plot.lines.reduce(0) { $0 + $1.points.count })
      for line in plot.lines { #expect(reader.text.contains(line.name)) }
    }
  }

  @Test("the same rows give the same bytes, in whatever order they were measured")
  func plotOrder() {
    let (one, other) = (Plot.all(of: rows), Plot.all(of: rows.reversed()))
    #expect(one.map(\.plot.svg) == other.map(\.plot.svg))
  }

  private final class ElementCounter: NSObject, XMLParserDelegate {
    var counts: [String: Int] = [:]
    var text = ""

    func parser(
      _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
      attributes: [String: String]
    ) { counts[name, default: 0] += 1 }

    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
  }
}
