import Foundation
import TestSupport
import Testing

@Suite("Questions on the terminal")
struct TerminalPromptTests {
  private static let name = "com.example.gallery"

  /// Runs the program with a terminal as its standard input, on which somebody has typed.
  /// - Returns: what it left, and what the terminal shows.
  private static func run(
    _ sandbox: Sandbox, _ words: [String], typing text: String
  ) throws -> (result: RunResult, screen: String) {
    var (controller, screen) = (Int32(-1), Int32(-1))
    try #require(openpty(&controller, &screen, nil, nil, nil) == 0)
    for end in [controller, screen] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(controller) }
    let result: RunResult
    do {
      defer { close(screen) }
      let bytes = Array(text.utf8)
      try #require(write(controller, bytes, bytes.count) == bytes.count)
      let child = try ChildRun(programURL, words + ["--library", sandbox.library], input: .descriptor(screen))
      let texts = try [child.output, child.errors].map { String(decoding: try $0.readToEnd() ?? Data(), as: UTF8.self) }
      result = RunResult(end: child.end(), output: texts[0], errors: texts[1])
    }
    // The kernel passes on what was written in parts, and later. When the terminal is closed, reading ends after all.
    var (shown, part) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 12))
    while case let count = read(controller, &part, part.count), count > 0 { shown += part[..<count] }
    return (result, String(decoding: shown, as: UTF8.self))
  }

  private static func library() throws -> (sandbox: Sandbox, assets: [String]) {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(3)
    let words = ["client", "register", name, "--usage", "It shows photos.", "--add-usage", "It adds photos."]
    #expect(try sandbox.run(words).status == 0)
    return (sandbox, assets)
  }

  @Test(
    "an undecided client that reads causes a prompt, and the answer holds from then on (FR-18)",
    arguments: [
      ("a\n", "authorized", 3), ("deny\n", "denied", 0), ("\n", "notDetermined", 0), ("\u{4}", "notDetermined", 0),
      ("what?\na\n", "authorized", 3), ("s\n2\n", "limited", 2), ("s\nnonsense\n1\n", "limited", 1),
      ("s\n\nd\n", "denied", 0), ("s\n0\n\n\n", "notDetermined", 0),
    ])
  func decides(typed: String, status: String, count: Int) throws {
    let (sandbox, assets) = try Self.library()
    let (result, screen) = try Self.run(sandbox, ["ls", "--json", "--as", Self.name], typing: typed)
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    #expect(
      screen.contains("'\(Self.name)' requests permission to read and change") && screen.contains("It shows photos."))
    let seen = try result.objects().compactMap { $0["localIdentifier"] as? String }
    #expect(seen == Array(assets.suffix(count)))
    let client = try sandbox.run(["client", "list", "--json"]).objects()[0]
    #expect((client["authorizationStatus"] as? [String: String])?["readWrite"] == status)
  }

  @Test("assets are selected by their identifiers; an unknown one is reported, and requested again (FR-18)")
  func byIdentifier() throws {
    let (sandbox, assets) = try Self.library()
    let typed = "s\n\(assets[0]) 00000000-0000-4000-8000-000000000000\n\(assets[0]) \(assets[2])\n"
    let (result, screen) = try Self.run(sandbox, ["show", assets[0], "--as", Self.name], typing: typed)
    #expect(result.status == 0 && screen.contains("has no asset '00000000"))
    #expect(try sandbox.identifiers(["--as", Self.name]) == [assets[0], assets[2]])
  }

  @Test("a request to add has no limited answer (FR-18)")
  func addOnly() throws {
    let (sandbox, _) = try Self.library()
    let words = ["client", "request", "--level", "addOnly", "--as", Self.name]
    let (result, screen) = try Self.run(sandbox, words, typing: "s\na\n")
    #expect(result.lines == ["authorized"] && screen.contains("'s' is not a valid answer"))
    #expect(try sandbox.run(["client", "list", "--json"]).objects()[0]["accessKind"] as? String == "addOnly")
  }

  @Test("a limited client is offered more at launch, unless its registration prevents that (AU-05, W20)")
  func offersMore() throws {
    let (sandbox, assets) = try Self.library()
    #expect(try sandbox.run(["client", "limit", Self.name, assets[0]]).status == 0)
    let (first, screen) = try Self.run(sandbox, ["ls", "--json", "--as", Self.name], typing: "1\n")
    #expect(try screen.contains("has access to 1 asset of the library") && first.objects().count == 2)
    let (asked, _) = try Self.run(
      sandbox, ["client", "request", "--as", Self.name], typing: "\(assets[1]) \(assets[2])\n")
    #expect(asked.lines == ["limited", assets[1]], "Only what was not seen before is printed.")
    #expect(try sandbox.run(["client", "register", Self.name, "--no-limited-alert"]).status == 0)
    let (quiet, unasked) = try Self.run(sandbox, ["ls", "--json", "--as", Self.name], typing: "")
    #expect(try unasked.isEmpty && quiet.objects().count == 3)
  }

  @Test("there is never a prompt for the owner, nor for a client without a reason: that is an error (FR-18)")
  func unasked() throws {
    let (sandbox, _) = try Self.library()
    for words in [["ls"], ["ls", "--as", "owner"]] {
      let (result, screen) = try Self.run(sandbox, words, typing: "")
      #expect(result.status == 0 && result.lines.count == 4 && screen.isEmpty)
    }
    let (mute, screen) = try Self.run(sandbox, ["stat", "--as", "com.example.other"], typing: "a\n")
    #expect(mute.status == 1 && mute.errors.contains("usage description") && !screen.contains("Allow"))
  }
}
