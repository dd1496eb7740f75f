import Foundation
import LMDB
import TestSupport
import Testing

@Suite("Rebuilding on the command line")
struct RebuildCommandTests {
  /// Opens the store of a sandbox for a moment in which no command runs.
  private static func withStore<R>(_ sandbox: Sandbox, _ body: (LMDB.Environment) throws -> R) throws -> R {
    let environment = try LMDB.Environment.store(ofLibrary: sandbox.library)
    let result = try body(environment)
    try environment.close()
    return result
  }

  private static func shadows(_ sandbox: Sandbox) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: sandbox.library + "/store").filter { $0.hasPrefix(".shadow") }
  }

  @Test("an unknown event ends a rebuild with a sentence; once quarantined, it is shown and the library works on")
  func quarantined() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(3)
    let sequence = try Self.withStore(sandbox) { try $0.appendForeignEvent("asset.dreamt") }
    let refused = try sandbox.run(["rebuild"])
    #expect(refused.status == 1 && refused.errors.contains("\(sequence)") && refused.errors.hasSuffix(".\n"))
    #expect(try sandbox.run(["verify"]).status == 1)
    let other = try sandbox.run(["rebuild", "--quarantine", "--as", "com.example.app"])
    #expect(other.status == 1 && other.errors.contains("only the library's owner"))
    let rebuilt = try sandbox.run(["rebuild", "--quarantine"])
    #expect(rebuilt.status == 0 && rebuilt.errors.isEmpty, "\(rebuilt.errors)")
    #expect(try Self.shadows(sandbox) == [])
    let verified = try sandbox.run(["verify", "--json"])
    #expect(verified.status == 0)
    let quarantined = try #require(try verified.objects().first?["quarantined"] as? [[String: Any]])
    #expect(quarantined.map { $0["sequence"] as? Int } == [Int(sequence)])
    #expect(try sandbox.run(["verify"]).output.contains("Event \(sequence) is quarantined: "))
    #expect(try sandbox.run(["stat", "--json"]).objects().first?["quarantinedCount"] as? Int == 1)
    #expect(try sandbox.run(["log"]).output.contains("Quarantined: "))
    #expect(try sandbox.identifiers().sorted() == assets.sorted())
    let exported = try sandbox.run(["export"])
    #expect(exported.status == 0 && exported.lines.count == Int(sequence) + 1)
    #expect(exported.errors.contains("(\(sequence))") && exported.errors.contains("`backup`"), "\(exported.errors)")
    #expect(exported.errors.contains("unless its program can apply them: run `rebuild`"), "\(exported.errors)")
    let token = try sandbox.run(["history", "token"]).lines[0]
    let rest = try sandbox.run(["export", "--after", token])
    #expect(rest.status == 0 && rest.errors.isEmpty, "\(rest.errors)")
    // It goes on being quarantined, and nothing else is.
    #expect(try sandbox.run(["favorite", assets[0]]).status == 0)
    #expect(try sandbox.run(["rebuild"]).status == 0)
    #expect(try sandbox.run(["verify"]).status == 0)
    let swept = try sandbox.run(["compact", "--sweep"])
    #expect(swept.status == 1 && swept.errors.contains("Event \(sequence) is quarantined"))
    #expect(try sandbox.run(["compact"]).status == 0)
  }

  @Test("a store that lacks a table is rejected with the advice to rebuild, which creates the table again")
  func missingTable() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(3)
    let file = URL(filePath: sandbox.library + "/store/data.mdb")
    var bytes = try Data(contentsOf: file)
    var start = bytes.startIndex
    while let found = bytes.range(of: Data("identifiers".utf8), in: start..<bytes.endIndex) {
      bytes[found.upperBound - 1] += 1
      start = found.upperBound
    }
    #expect(start > bytes.startIndex)
    try bytes.write(to: file)
    for words in [["ls"], ["stat"], ["log"], ["verify"], ["favorite", assets[0]]] {
      let result = try sandbox.run(words)
      #expect(result.status == 1 && result.errors.contains("run `rebuild`"), "\(words): \(result.errors)")
    }
    let rebuilt = try sandbox.run(["rebuild"])
    #expect(rebuilt.status == 0 && rebuilt.errors.isEmpty, "\(rebuilt.errors)")
    #expect(try sandbox.run(["verify"]).status == 0)
    #expect(try sandbox.identifiers().sorted() == assets.sorted())
    #expect(try sandbox.run(["show", assets[0]]).status == 0)
  }
}
