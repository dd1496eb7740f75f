import Foundation
import TestSupport
import Testing

@testable import PhotoLedgerCommand

@Suite("Lines on terminals of some width")
struct NarrowTerminalTests {
  /// The lines that the program prints on a terminal, which has no colours.
  private static func lines(_ sandbox: Sandbox, _ words: [String], columns: UInt16) throws -> [String] {
    var (controller, screen) = (Int32(-1), Int32(-1))
    var size = winsize(ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    try #require(openpty(&controller, &screen, nil, nil, &size) == 0)
    defer { close(controller) }
    for end in [controller, screen] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let child: TestSupport.ChildRun
    do {
      defer { close(screen) }
      let environment = ProcessInfo.processInfo.environment.merging(["NO_COLOR": "1"]) { $1 }
      child = try TestSupport.ChildRun(
        programURL, words + ["--library", sandbox.library], environment: environment, output: .descriptor(screen))
    }
    // Reading ends when the program has closed the terminal.
    var (shown, part) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 12))
    while case let count = read(controller, &part, part.count), count > 0 { shown += part[..<count] }
    #expect(child.end() == .status(0), "\(words)")
    return String(decoding: shown, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
  }

  @Test("a list of assets shows full names: beside the identifiers, or above them where there is no room")
  func assets() throws {
    let sandbox = try Sandbox()
    let identifier = String(try sandbox.makeAssets(1)[0].prefix(36))
    let narrow = try Self.lines(sandbox, ["ls"], columns: 80)
    #expect(narrow.allSatisfy { TextLayout.width($0) <= 80 }, "\(narrow)")
    #expect(narrow.count == 4 && narrow[1].contains("IMG_0.jpg") && narrow[2] == "    \(identifier)", "\(narrow)")
    let wide = try Self.lines(sandbox, ["ls"], columns: 120)
    #expect(wide.count == 3 && wide[1].contains("IMG_0.jpg") && wide[1].hasSuffix("  \(identifier)"), "\(wide)")
    #expect(wide.allSatisfy { TextLayout.width($0) <= 120 }, "\(wide)")
  }

  @Test("lines about clients, members and access are broken between words")
  func folded() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(2)
    let client = "com.example.gallery"
    let album = try sandbox.run(["album", "create", "Sea"]).lines[0]
    #expect(try sandbox.run(["album", "add", album, assets[0]]).status == 0)
    #expect(try sandbox.run(["client", "limit", client, assets[0]]).status == 0)
    for words in [["blame", album], ["client", "list"], ["access", "--client", client], ["log"]] {
      let plain = try sandbox.run(words).lines
      #expect(plain.contains { TextLayout.width($0) > 80 } || words == ["log"], "\(words): \(plain)")
      let shown = try Self.lines(sandbox, words, columns: 80)
      #expect(shown.allSatisfy { TextLayout.width($0) <= 80 }, "\(words): \(shown)")
      func text(_ lines: [String]) -> [Substring] { lines.joined(separator: " ").split(separator: " ") }
      #expect(text(shown) == text(plain), "\(words)")
    }
  }
}
