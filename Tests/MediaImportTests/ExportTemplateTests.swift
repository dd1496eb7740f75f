import Foundation
import PhotoLedger
import TestSupport
import Testing

@testable import MediaImport

@Suite("templates of exports")
struct ExportTemplateTests {
  /// An asset that stands in no library.
  static func subject(
    name: String = "IMG_1.HEIC", caption: String? = nil, keywords: [String] = [], albums: [[String]] = [],
    date: Date? = Date(timeIntervalSince1970: 1_717_180_200), _ change: (inout AssetRow) -> Void = { _ in }
  ) async throws -> ExportSubject {
    let small = try SmallLibrary()
    var creation = AssetCreation(mediaType: .image, resources: [.staged(.invented(1))])
    creation.creationDate = date
    var id: LocalIdentifier?
    try await small.change { id = $0.createAsset(creation) }
    let asset = try small.asset(try #require(id))
    var row = asset.row
    change(&row)
    var details = AssetDetails(resources: try small.library.resources(of: asset))
    details.resources[0].originalFilename = name
    details.caption = caption
    details.keywords = keywords
    return ExportSubject(asset: Asset(row: row, seenBy: .full, commit: asset.commit), details: details, albums: albums)
  }

  static func paths(_ template: String, _ subject: ExportSubject) throws -> [String] {
    try ExportTemplate(template).paths(for: subject).map { $0.joined(separator: "/") }
  }

  static let table: [(String, [String])] = [
    ("{year|undated}/{month}/{name}", ["2024/05/IMG_1"]),
    ("{date}/{time}_{name}", ["2024-05-31/18.30.00_IMG_1"]),
    ("{album}/{name}", ["Sea/IMG_1", "Alps_Lakes/IMG_1"]),
    ("{album.path}/{name}", ["Trips/Sea/IMG_1", "Alps_Lakes/IMG_1"]),
    ("{keyword}/{album}/{id?x}", ["a/Sea/x", "b/Sea/x", "a/Alps_Lakes/x", "b/Alps_Lakes/x"]),
    ("{favorite?best/}{name}", ["IMG_1"]),
    ("{favorite?best|rest}/{name}", ["rest/IMG_1"]),
    ("{caption}/{name}", ["_. __ etc/IMG_1"]),
    ("{{{type}}}", ["{photo}"]),
    ("{rating}/{rating|}/{rating|none}/{ending}", ["none/heic"]),
    ("../../{name}", ["IMG_1"]),
    ("/etc//{name}", ["etc/IMG_1"]),
  ]

  @Test("a template produces these paths", arguments: ExportTemplateTests.table)
  func examples(template: String, wanted: [String]) async throws {
    let subject = try await Self.subject(
      caption: ".. // etc", keywords: ["a", "b"], albums: [["Trips", "Sea"], ["Alps/Lakes"]])
    #expect(try Self.paths(template, subject) == wanted)
  }

  @Test("an asset without date and name has a path all the same")
  func nothingKnown() async throws {
    let subject = try await Self.subject(name: "...", date: nil)
    #expect(try Self.paths("{year|undated}/{month}/{rating}", subject) == ["undated/\(subject.asset.id.uuidString)"])
  }

  @Test("a template has the camera's model, and a text for an asset without one")
  func camera() async throws {
    let plain = try await Self.subject()
    #expect(try Self.paths("{camera|other}/{name}", plain) == ["other/IMG_1"])
    var details = plain.details
    details.metadata = AssetMetadata()
    details.metadata?.cameraModel = "X/100V"
    let taken = ExportSubject(asset: plain.asset, details: details, albums: [])
    #expect(try Self.paths("{camera|other}/{name}", taken) == ["X_100V/IMG_1"])
  }

  @Test("the wall time counts, not the instant")
  func wallTime() async throws {
    let subject = try await Self.subject { row in
      row.localCreationDate = Date(timeIntervalSince1970: 1_717_200_000 + 7200)
      row.timeZoneOffset = 7200
    }
    #expect(try Self.paths("{date} {hour}", subject) == ["2024-06-01 02"])
    #expect(subject.asset.xmpDate == "2024-06-01T02:00:00+02:00")
  }

  @Test(
    "an invalid template is rejected with the position",
    arguments: ["", "{yeer}", "{year", "a}", "{a{b}}", "{}", "{year?}x}"])
  func wrong(template: String) {
    #expect { try ExportTemplate(template) } throws: { error in
      "\(error)".contains("at column") && "\(error)".contains("'\(template)'")
    }
  }

  /// What the rendering of a template is, written a second time and more simply: by replacing text.
  private static func naive(_ template: String, _ values: [String: String]) -> [String] {
    var rest = template[...]
    var text = ""
    while let open = rest.firstIndex(of: "{") {
      text += rest[..<open]
      let close = rest[open...].firstIndex(of: "}") ?? rest.endIndex
      let inside = String(rest[rest.index(after: open)..<close])
      rest = rest[rest.index(after: close)...]
      let bar = inside.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let mark = bar[0].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      if let value = values[mark[0]], !value.isEmpty {
        text += mark.count > 1 ? mark[1] : value.replacingOccurrences(of: "/", with: "_")
      } else if bar.count > 1 {
        text += bar[1]
      }
    }
    text += rest
    return text.components(separatedBy: "/")
  }

  @Test(
    "random templates of random values: as the reference model says, and never outside the folder", arguments: 0..<20)
  func random(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let hostile: [String] = [
      "..", ".", "/", "a/../b", "\u{202E}gpj", "CON", "nul.txt", " x. ", "\n", "e\u{301}", "ß",
      String(repeating: "日", count: 99), "ok", "", "*?", "\u{0}", ".hidden", "👨‍👩‍👧",
    ]
    for _ in 0..<100 {
      let caption = random.one(of: hostile) + random.one(of: hostile)
      let name = random.one(of: hostile) + "n"
      let subject = try await Self.cached.with(caption: caption, name: name + ".jpg")
      var template = ""
      for _ in 0..<random.int(1..<6) {
        template += random.one(of: [
          "{caption}", "{name}", "/", "x", "{rating|none}", "{caption?a/b}", "{caption|..}", "..", "{favorite?y}", " ",
          "{name|/}",
        ])
      }
      let wanted = Self.naive(template, ["caption": caption, "name": SafeFileName.stem(of: name + ".jpg")])
      let path = try #require(try ExportTemplate(template).paths(for: subject).first)
      let last = SafeFileName.component(wanted[wanted.count - 1])
      let folders = wanted.dropLast().map { SafeFileName.component($0) }.filter { !$0.isEmpty }
      #expect(path == folders + [last.isEmpty ? subject.asset.id.uuidString : last], "\(template) \(caption) \(name)")
      for component in path {
        #expect(!component.isEmpty && component.utf8.count <= 255 && !component.hasPrefix("."), "\(component)")
        #expect(!component.contains("/") && !component.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "\(component)")
        #expect(component.last != "." && component.last?.isWhitespace != true, "\(component)")
      }
    }
  }

  /// One asset for all random values.
  private static let cached = CachedSubject()

  private actor CachedSubject {
    private var subject: ExportSubject?

    func with(caption: String, name: String) async throws -> ExportSubject {
      let base: ExportSubject
      if let subject { base = subject } else { base = try await ExportTemplateTests.subject() }
      subject = base
      var details = base.details
      details.caption = caption.isEmpty ? nil : caption
      details.resources[0].originalFilename = name
      return ExportSubject(asset: base.asset, details: details, albums: [])
    }
  }

  @Test(
    "hostile names are made safe",
    arguments: [
      ("..", ""), (".", ""), ("a/b", "a_b"), ("con", "_con"), ("LPT1.txt", "_LPT1.txt"), (".bashrc", "_bashrc"),
      ("a\nb", "a_b"), ("x.", "x"), ("  ", ""), ("\u{202E}gpj.exe", "_gpj.exe"), ("e\u{301}", "\u{e9}"),
    ])
  func safe(name: String, wanted: String) { #expect(SafeFileName.component(name) == wanted) }

  @Test("a long name is cut between two characters")
  func long() {
    let name = SafeFileName.component(String(repeating: "👨‍👩‍👧", count: 40))
    #expect(name.utf8.count <= SafeFileName.byteLimit && name.allSatisfy { $0 == "👨‍👩‍👧" } && name.count > 5)
  }

  @Test("the documentation has each field, with what the help says of it")
  func documentedFields() throws {
    let page = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources/PhotoLedger/PhotoLedger.docc/Exporting.md")
    let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n").map(String.init)
    let rows = lines.drop { $0 != "| field | value |" }.dropFirst(2).prefix { $0.hasPrefix("|") }
    #expect(Array(rows) == ExportTemplate.Field.allCases.map { "| `{\($0.rawValue)}` | \($0.meaning) |" })
  }
}
