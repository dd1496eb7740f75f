import Foundation
import TestSupport
import Testing

@Suite("Files and sidecars written from the shell")
struct ExportCommandTests {
  @Test("an export counts the hidden and stacked assets that were not chosen, until its options choose them")
  func notChosen() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(4)
    #expect(try sandbox.run(["stack", assets[0], assets[1]]).status == 0)
    #expect(try sandbox.run(["hide", assets[2]]).status == 0)
    func summary(_ words: [String]) throws -> [String: Any] {
      let lines = try sandbox.run(["export-files", "out", "--json"] + words).objects()
      return try #require(lines.last?["summary"] as? [String: Any])
    }
    let first = try summary([])
    #expect(first["assets"] as? Int == 2 && first["notChosen"] as? Int == 2)
    let text = try sandbox.run(["export-files", "out"])
    #expect(text.status == 0 && text.output.contains("2 assets not chosen"), "\(text.output)")
    #expect(try summary(["--hidden"])["notChosen"] as? Int == 1)
    let all = ["--hidden", "--all-bursts", "--all-stacks"]
    let last = try summary(all)
    #expect(last["assets"] as? Int == 4 && last["notChosen"] as? Int == 0)
    #expect(try !sandbox.run(["export-files", "out"] + all).output.contains("not chosen"))
    #expect(try summary(["--limit", "1"])["notChosen"] is NSNull)
    #expect(try sandbox.run(["trash", assets[3]]).status == 0)
    let rest = try sandbox.run(["export-files", "out"] + all).output
    #expect(rest.contains("1 file of earlier exports no longer wanted; --remove-unwanted removes it."), "\(rest)")
  }

  @Test("hidden assets that an export chooses are counted, whether or not their files come, since an import shows them")
  func hidden() throws {
    let sandbox = try Sandbox()
    let photos = sandbox.folder.appending(path: "photos")
    try FileManager.default.createDirectory(at: photos, withIntermediateDirectories: true)
    for name in ["a.jpg", "b.jpg"] { try TinyMedia.jpeg(.init(comment: name)).write(to: photos.appending(path: name)) }
    #expect(try sandbox.run(["import", photos.path]).status == 0)
    #expect(try sandbox.run(["hide", sandbox.identifiers()[0]]).status == 0)
    let counted = "1 hidden asset chosen; no file says so, and an import of the folder shows it."
    #expect(try !sandbox.run(["export-files", "out", "--sidecars"]).output.contains("hidden asset"))
    let planned = try sandbox.run(["export-files", "planned", "--hidden", "--dry-run"])
    #expect(planned.status == 0 && planned.output.contains(counted), "\(planned.output)")
    let text = try sandbox.run(["export-files", "out", "--sidecars", "--hidden"]).output
    #expect(text.contains(counted), "\(text)")
    let lines = try sandbox.run(["export-files", "out", "--sidecars", "--hidden", "--json"]).objects()
    #expect((lines.last?["summary"] as? [String: Any])?["hidden"] as? Int == 1)
    let other = sandbox.folder.appending(path: "other").path
    let out = sandbox.folder.appending(path: "out").path
    #expect(try sandbox.run(["import", out, "--sidecars", "--library", other]).status == 0)
    #expect(try sandbox.identifiers(["--library", other]).count == 2)
    try FileManager.default.removeItem(atPath: sandbox.library + "/resources")
    let missing = try sandbox.run(["export-files", "missing", "--hidden"])
    #expect(missing.status == 1 && missing.output.contains(counted), "\(missing.output)")
  }

  @Test("sidecars are written for hidden assets and for those beneath the top of a stack, too")
  func sidecarsOfAll() throws {
    let sandbox = try Sandbox()
    let photos = sandbox.folder.appending(path: "photos")
    try FileManager.default.createDirectory(at: photos, withIntermediateDirectories: true)
    let names = ["a.jpg", "b.jpg", "c.jpg"]
    for name in names { try TinyMedia.jpeg(.init(comment: name)).write(to: photos.appending(path: name)) }
    #expect(try sandbox.run(["import", "--reference", photos.path]).status == 0)
    let assets = try sandbox.identifiers()
    #expect(assets.count == 3)
    #expect(try sandbox.run(["caption"] + assets + ["Sea"]).status == 0)
    #expect(try sandbox.run(["stack", assets[0], assets[1]]).status == 0)
    #expect(try sandbox.run(["hide", assets[2]]).status == 0)
    let written = try sandbox.run(["sidecars", "write", "--json"])
    #expect(written.status == 0, "\(written.errors)")
    let summary = try written.objects().last?["summary"] as? [String: Int]
    #expect(summary == ["written": 3])
    let files = try FileManager.default.contentsOfDirectory(atPath: photos.path)
    #expect(Set(files) == Set(names + names.map { "\($0).xmp" }))
  }
}
