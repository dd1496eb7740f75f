import Foundation
import Testing

@Suite("Apply: the order of lines")
struct ApplyOrderTests {
  private static let data = Data("same".utf8).base64EncodedString()

  private static func creation(_ name: String, caption: String? = nil) -> String {
    let caption = caption.map { #","caption":"\#($0)""# } ?? ""
    return #"{"op":"asset.create","as":"\#(name)","mediaType":"image"\#(caption),"resources":"#
      + #"[{"type":"photo","data":"\#(data)"}]}"#
  }

  private static func leaving(_ name: String) -> String {
    #"{"op":"asset.trash","assets":["\#(name)"]},{"op":"asset.purge","assets":["\#(name)"]}"#
  }

  private static func line(_ operations: [String]) -> String { #"{"changes":[\#(operations.joined(separator: ","))]}"# }

  private static func code(_ answer: [String: Any]) -> String? {
    (answer["error"] as? [String: Any])?["message"] as? String
  }

  @Test("a line whose bytes the line before it purges keeps its place before the next")
  func threeLines() throws {
    let sandbox = try Sandbox()
    for _ in 0..<5 {
      let made = try sandbox.apply([Self.line([Self.creation("$a")])])
      let asset = try #require((made.first?["created"] as? [String])?.first)
      let answers = try sandbox.apply([
        Self.line([Self.leaving(asset)]), Self.line([Self.creation("$a")]),
        Self.line([#"{"op":"album.create","title":"After"}"#]),
      ])
      let commits = answers.compactMap { $0["commit"] as? Int }
      #expect(commits.count == 3 && commits == commits.sorted(), "\(answers)")
      let left = try #require((answers[1]["created"] as? [String])?.first)
      #expect(try sandbox.apply([Self.line([Self.leaving(left)])]).first?["error"] == nil)
    }
  }

  @Test("when many lines create, trash and purge the same bytes, none is rejected, and the last caption wins")
  func manyLines() throws {
    let sandbox = try Sandbox()
    let kept = try sandbox.makeAssets(1)[0]
    let answers = try sandbox.apply(
      (1...200).map { index in
        let caption = #"{"op":"asset.edit","assets":["\#(kept)"],"caption":"\#(index)"}"#
        return Self.line([Self.creation("$a"), Self.leaving("$a"), caption])
      })
    #expect(answers.count == 200)
    #expect(answers.compactMap(Self.code) == [])
    let commits = answers.compactMap { $0["commit"] as? Int }
    #expect(commits == commits.sorted())
    #expect(try sandbox.run(["show", kept, "--json"]).objects().first?["caption"] as? String == "200")
    #expect(try sandbox.files(of: "same") == [])
  }

  @Test("two processes that create and purge the same bytes at once have no line rejected, and each keeps its order")
  func twoProcesses() throws {
    let sandbox = try Sandbox()
    let kept = try sandbox.makeAssets(2)
    let runs = try kept.map { _ in try Running(sandbox, ["apply"]) }
    for (run, asset) in zip(runs, kept) {
      let lines = (1...200).map { index in
        let caption = #"{"op":"asset.edit","assets":["\#(asset)"],"caption":"\#(index)"}"#
        return Self.line([Self.creation("$a"), Self.leaving("$a"), caption])
      }
      try run.send(lines.joined(separator: "\n") + "\n")
    }
    for run in runs { run.endInput() }
    for (run, asset) in zip(runs, kept) {
      let answers = try run.finish().objects()
      #expect(answers.count == 200)
      #expect(answers.compactMap(Self.code) == [])
      #expect(try sandbox.run(["show", asset, "--json"]).objects().first?["caption"] as? String == "200")
    }
    #expect(try sandbox.files(of: "same") == [])
    #expect(try FileManager.default.contentsOfDirectory(atPath: sandbox.library + "/resources/incoming") == [])
  }

  @Test(
    "a library that is moved while lines arrive accepts them where it is, and a new one at its old path stays empty")
  func moved() throws {
    let sandbox = try Sandbox()
    let running = try Running(sandbox, ["apply"])
    try running.send(Self.line([Self.creation("$a")]) + "\n")
    _ = try running.line()
    let moved = sandbox.folder.appending(path: "moved").path
    try FileManager.default.moveItem(atPath: sandbox.library, toPath: moved)
    #expect(try sandbox.run(["init"]).status == 0)
    let before = try FileManager.default.subpathsOfDirectory(atPath: sandbox.library).sorted()
    let other = Data("other".utf8).base64EncodedString()
    try running.send(
      #"{"changes":[{"op":"asset.create","mediaType":"image","resources":[{"type":"photo","data":"\#(other)"}]}]}"#
        + "\n")
    #expect(try jsonObject(running.line())["error"] == nil)
    running.endInput()
    #expect(try running.finish().status == 0)
    #expect(try FileManager.default.subpathsOfDirectory(atPath: sandbox.library).sorted() == before)
    #expect(try sandbox.identifiers() == [])
    let check = try sandbox.run(["resource", "check", "--library", moved])
    #expect(check.status == 0, "\(check.output) \(check.errors)")
    #expect(try sandbox.identifiers(["--library", moved]).count == 2)
  }
}

extension Sandbox {
  /// The files of a library that hold a text.
  fileprivate func files(of text: String) throws -> [String] {
    let folder = URL(filePath: library + "/resources")
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    return names.filter { FileManager.default.contents(atPath: folder.appending(path: $0).path) == Data(text.utf8) }
  }
}
