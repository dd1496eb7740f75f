import Foundation

// Plots without tools: each is one SVG with two logarithmic axes, a line for each row, and its name at the end of the
// line. Colours come from style sheets, so that the same file is legible on a light and on a dark ground.
//
//   the same rows give the same bytes, whatever the order they were measured in

/// A plot with logarithmic axes.
struct Plot {
  /// A line of the plot.
  struct Line: Equatable {
    var name: String
    /// Ascending in x, both above 0.
    var points: [Point]
    /// Whether it is the library's own, which is drawn stronger.
    var isOwn: Bool
  }

  struct Point: Equatable { var x, y: Double }

  var title: String
  var xLabel: String
  var yLabel: String
  var lines: [Line]

  private static let (width, height) = (860.0, 440.0)
  private static let (left, right, top, bottom) = (70.0, 340.0, 44.0, 52.0)
  /// Legible on white and on black, and distinct without telling red from green (Okabe and Ito).
  private static let colours = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8A8A8A"]

  /// The plot as a document.
  var svg: String {
    let (xs, ys) = (decades(lines.flatMap { $0.points.map(\.x) }), decades(lines.flatMap { $0.points.map(\.y) }))
    var text = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Report.number(Self.width)) \(Report.number(Self.height))" \
      role="img" aria-label="\(Self.escaped(title))">
      <style>
      text { font: 12px sans-serif; fill: #222; }
      .title { font-size: 15px; }
      .grid { stroke: #8888; stroke-width: 0.5; }
      .line { fill: none; stroke-width: 1.5; }
      .own { stroke-width: 3; }
      @media (prefers-color-scheme: dark) { text { fill: #ddd; } }
      </style>
      <text class="title" x="\(Self.place(Self.left))" y="22">\(Self.escaped(title))</text>

      """
    text += grid(xs, ys)
    for (index, line) in lines.enumerated() where !line.points.isEmpty { text += draw(line, index, xs, ys) }
    return text + labels() + "</svg>\n"
  }

  /// The powers of ten between which values lie.
  private func decades(_ values: [Double]) -> ClosedRange<Int> {
    let low = Int((log10(values.min() ?? 1)).rounded(.down))
    return low...max(low + 1, Int((log10(values.max() ?? 1)).rounded(.up)))
  }

  private func x(_ value: Double, _ decades: ClosedRange<Int>) -> Double {
    let share = (log10(value) - Double(decades.lowerBound)) / Double(decades.count - 1)
    return Self.left + share * (Self.width - Self.left - Self.right)
  }

  private func y(_ value: Double, _ decades: ClosedRange<Int>) -> Double {
    let share = (log10(value) - Double(decades.lowerBound)) / Double(decades.count - 1)
    return Self.height - Self.bottom - share * (Self.height - Self.top - Self.bottom)
  }

  private func grid(_ xs: ClosedRange<Int>, _ ys: ClosedRange<Int>) -> String {
    var text = ""
    let (low, high) = (Self.place(Self.height - Self.bottom), Self.place(Self.top))
    for decade in xs {
      let place = Self.place(x(pow(10, Double(decade)), xs))
      text += "<line class=\"grid\" x1=\"\(place)\" y1=\"\(low)\" x2=\"\(place)\" y2=\"\(high)\"/>\n"
      text += "<text x=\"\(place)\" y=\"\(Self.place(Self.height - Self.bottom + 18))\" text-anchor=\"middle\">"
      text += "\(Self.power(decade))</text>\n"
    }
    let (start, end) = (Self.place(Self.left), Self.place(Self.width - Self.right))
    for decade in ys {
      let place = Self.place(y(pow(10, Double(decade)), ys))
      text += "<line class=\"grid\" x1=\"\(start)\" y1=\"\(place)\" x2=\"\(end)\" y2=\"\(place)\"/>\n"
      text +=
        "<text x=\"\(Self.place(Self.left - 8))\" y=\"\(place)\" text-anchor=\"end\" dominant-baseline=\"middle\">"
      text += "\(Self.power(decade))</text>\n"
    }
    return text
  }

  private func draw(_ line: Line, _ index: Int, _ xs: ClosedRange<Int>, _ ys: ClosedRange<Int>) -> String {
    let colour = Self.colours[index % Self.colours.count]
    let places = line.points.map { (Self.place(x($0.x, xs)), Self.place(y($0.y, ys))) }
    let path = places.map { "\($0.0),\($0.1)" }.joined(separator: " ")
    // When the colours begin again, the lines are dashed.
    let dash = index >= Self.colours.count ? " stroke-dasharray=\"6 4\"" : ""
    let style = "class=\"line\(line.isOwn ? " own" : "")\" stroke=\"\(colour)\"\(dash)"
    var text = "<polyline \(style) points=\"\(path)\"/>\n"
    for place in places { text += "<circle cx=\"\(place.0)\" cy=\"\(place.1)\" r=\"3\" fill=\"\(colour)\"/>\n" }
    // Names stand in a column, where they cannot lie over each other; a stroke before each says whose it is.
    let row = Self.top + 14 + Double(index) * 20
    let start = Self.width - Self.right + 16
    text += "<line \(style) x1=\"\(Self.place(start))\" y1=\"\(Self.place(row - 4))\" "
    text += "x2=\"\(Self.place(start + 18))\" y2=\"\(Self.place(row - 4))\"/>\n"
    return text + "<text x=\"\(Self.place(start + 24))\" y=\"\(Self.place(row))\">\(Self.escaped(line.name))</text>\n"
  }

  private func labels() -> String {
    let middle = (Self.left + Self.width - Self.right) / 2
    let across = "<text x=\"\(Self.place(middle))\" y=\"\(Self.place(Self.height - 12))\" text-anchor=\"middle\">"
    let height = Self.place((Self.top + Self.height - Self.bottom) / 2)
    let up = "<text transform=\"translate(16 \(height)) rotate(-90)\" text-anchor=\"middle\">"
    return "\(across)\(Self.escaped(xLabel))</text>\n\(up)\(Self.escaped(yLabel))</text>\n"
  }

  /// A coordinate, to a tenth.
  private static func place(_ value: Double) -> String { Report.number((value * 10).rounded() / 10) }

  /// A power of ten, spelled.
  private static func power(_ exponent: Int) -> String {
    (0...3).contains(exponent)
      ? Report.number(pow(10, Double(exponent)))
      : exponent < 0 && exponent > -4 ? Report.number(pow(10, Double(exponent))) : "1e\(exponent)"
  }

  static func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
      .replacingOccurrences(of: ">", with: "&gt;").replacingOccurrences(of: "\"", with: "&quot;")
  }
}

extension Plot {
  /// The plots that rows give, by the names of their files; those with fewer than two points a line are left out.
  static func all(of rows: [Report.Row]) -> [(file: String, plot: Plot)] {
    var plots: [(file: String, plot: Plot)] = []
    for workload in Workload.allCases {
      let own = rows.filter { $0.name.hasPrefix("\(workload.rawValue) ") && $0.caches == .cold }
      let file = "details-\(workload.rawValue.replacingOccurrences(of: "%", with: "-percent"))"
      plots.append((file, overSizes("Change details, \(workload.rawValue), caches cold", own, of: workload.rawValue)))
    }
    for size in Set(rows.map(\.size)).sorted() {
      plots.append(("details-over-k-\(size)", overEdits(size, rows)))
    }
    for prefix in [
      "S1 ", "S2 ", "S3 ", "S5 ", "S6 ", "S7 ", "S8 ", "S9 no index", "S9 smart album", "S10 creation", "S11 ", "S15 ",
      "S36 page",
    ] {
      let own = rows.filter { $0.name.hasPrefix(prefix) && $0.medianNanoseconds != nil }
      let name = prefix.trimmingCharacters(in: .whitespaces)
      plots.append((name.lowercased().replacingOccurrences(of: " ", with: "-"), overSizes(name, own, of: name)))
    }
    return plots.filter { _, plot in plot.lines.contains { $0.points.count > 1 } }
  }

  private static func overSizes(_ title: String, _ rows: [Report.Row], of prefix: String) -> Plot {
    let names = Set(rows.map(\.name)).sorted()
    let lines = names.map { name in
      let points = rows.filter { $0.name == name }.compactMap { row in
        row.medianNanoseconds.map { Point(x: Double(row.size), y: $0 / 1000) }
      }
      return Line(
        name: shortened(name, without: prefix), points: points.sorted { $0.x < $1.x }, isOwn: isOwn(name))
    }
    return Plot(title: title, xLabel: "objects (n)", yLabel: "microseconds, median", lines: lines)
  }

  /// Change details at one size, over the number of edits.
  private static func overEdits(_ size: Int, _ rows: [Report.Row]) -> Plot {
    var points: [String: [Point]] = [:]
    for workload in Workload.allCases where workload != .move {
      for row in rows where row.size == size && row.caches == .cold && row.name.hasPrefix("\(workload.rawValue) ") {
        guard let median = row.medianNanoseconds else { continue }
        let name = shortened(row.name, without: workload.rawValue)
        points[name, default: []].append(Point(x: Double(workload.editCount(of: size)), y: median / 1000))
      }
    }
    let lines = points.keys.sorted().map { name in
      Line(name: name, points: (points[name] ?? []).sorted { $0.x < $1.x }, isOwn: isOwn(name))
    }
    return Plot(
      title: "Change details at n = \(size), caches cold", xLabel: "edits of one commit (k)",
      yLabel: "microseconds, median", lines: lines)
  }

  private static func shortened(_ name: String, without prefix: String) -> String {
    var short = name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
    while let first = short.first, " ,".contains(first) { short.removeFirst() }
    return short
  }

  private static func isOwn(_ name: String) -> Bool {
    !["SQLite", "floor", "walk", "Heckel", "standard library"].contains { name.contains($0) }
  }

  /// Writes the plots of rows into a folder, which is made.
  static func write(_ rows: [Report.Row], to folder: String) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (file, plot) in all(of: rows) {
      try Data(plot.svg.utf8).write(to: URL(fileURLWithPath: folder).appending(path: "\(file).svg"))
    }
  }
}
