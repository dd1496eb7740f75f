import Foundation
import TestSupport
import Testing

@Suite("The command metadata read")
struct MetadataCommandTests {
  private static func said(_ sandbox: Sandbox) throws -> [[String: Any]?] {
    try sandbox.run(["ls", "--json"]).objects().map { $0["fileMetadata"] as? [String: Any] }
  }

  /// A library of photos at their paths of which nothing was recorded.
  private static func sandbox() throws -> Sandbox {
    let sandbox = try Sandbox()
    let folder = sandbox.folder.appending(path: "photos")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let operations = try (0..<3).map { index in
      let photo = folder.appending(path: "\(index).jpg")
      try TinyMedia.jpeg(TinyMedia.Photo(comment: "\(index)")).write(to: photo)
      return #"{"op":"asset.create","mediaType":"image","caption":"mine","resources":[{"type":"photo","path":"#
        + #""\#(photo.path)"}]}"#
    }
    // Unexamined, as by a program that was older than the metadata.
    let answer = try sandbox.apply([#"{"changes":[\#(operations.joined(separator: ","))]}"#])
    #expect(answer.first?["error"] == nil, "\(answer)")
    return sandbox
  }

  @Test("reads all assets of an older library, in a dry run first, and is undone by its cause")
  func all() throws {
    let sandbox = try Self.sandbox()
    #expect(try Self.said(sandbox).allSatisfy { $0 == nil })
    let dry = try sandbox.run(["metadata", "read", "--dry-run", "--json"]).objects()
    #expect(dry.count == 4 && dry[0]["outcome"] as? String == "wanted", "\(dry)")
    #expect((dry[0]["fields"] as? [String])?.contains("cameraModel") == true)
    #expect(try Self.said(sandbox).allSatisfy { $0 == nil }, "A dry run records nothing.")

    let run = try sandbox.run(["metadata", "read", "--cause", "camera names"])
    #expect(run.status == 0 && run.lines.first == "Assets: 3 recorded.", "\(run)")
    #expect(try Self.said(sandbox).allSatisfy { $0?["cameraModel"] as? String == "Test Camera" })
    #expect(try sandbox.identifiers(["--where", #"cameraModel == "Test Camera" AND caption == "mine""#]).count == 3)
    #expect(try sandbox.run(["metadata", "read"]).lines == ["Assets: 3 unchanged."])
    #expect(try sandbox.run(["metadata", "read", "--only-missing"]).lines == ["No matching assets."])
    #expect(try sandbox.run(["undo", "--cause", "camera names"]).status == 0)
    #expect(try Self.said(sandbox).allSatisfy { $0 == nil })
  }

  @Test("a missing file is named with status 1, and identifiers select assets")
  func named() throws {
    let sandbox = try Self.sandbox()
    let ids = try sandbox.identifiers()
    let list = try sandbox.run(["resource", "list", ids[1], "--json"]).objects()
    try FileManager.default.removeItem(atPath: try #require(list[0]["path"] as? String))
    let run = try sandbox.run(["metadata", "read", ids[1], ids[2]])
    #expect(run.status == 1 && run.lines.contains { $0.hasPrefix("missing: ") }, "\(run)")
    #expect(run.lines.contains("Assets: 1 recorded, 1 with missing files."))
    #expect(try Self.said(sandbox).map { $0 != nil } == [false, false, true])
    let none = try sandbox.run(["metadata", "read", ids[0]], input: "", ["PATH": sandbox.folder.path])
    #expect(none.status == 1 && none.errors.contains("libimage-exiftool-perl"), "\(none)")
  }
}
