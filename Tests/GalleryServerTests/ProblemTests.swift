#if Gallery
  import Foundation
  @testable import GalleryServer
  import PhotoLedger
  import Testing

  // The table of Serving.md against the server: each type that it can answer with, the statuses of each, and the codes
  // of the library that become it. A status is that of a code, or stands beside the type where a problem is made.

  @Suite("Problem documents")
  struct ProblemTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources")

    private static func text(_ path: String) throws -> String {
      try String(contentsOf: sources.appending(path: path), encoding: .utf8)
    }

    /// The statuses with which the server makes a problem of each type.
    private static func statuses() throws -> [String: Set<Int>] {
      var found: [String: Set<Int>] = [:]
      for code in Problem.kinds.keys {
        let problem = Problem(LibraryError(code, "It failed; try again."))
        found[problem.type, default: []].insert(problem.status)
      }
      let folder = sources.appending(path: "GalleryServer")
      let files = try #require(FileManager.default.enumerator(atPath: folder.path))
      for case let path as String in files where path.hasSuffix(".swift") {
        let text = try Self.text("GalleryServer/" + path)
        for beginning in ["Problem(", "self.init(", "status: "] {
          for part in text.components(separatedBy: beginning).dropFirst() {
            let words = part.drop(while: \.isWhitespace).prefix(60)
            guard let match = words.prefixMatch(of: #/(\d{3}), (?:type: )?"([a-z-]+)"/#) else { continue }
            found[String(match.output.2), default: []].insert(try #require(Int(match.output.1)))
          }
        }
      }
      return found
    }

    /// The codes of the library that become a problem of each type, by the table in the source.
    private static func codes() throws -> [String: Set<String>] {
      let source = try Self.text("GalleryServer/Vocabulary/Problem.swift")
      let table = source.components(separatedBy: "kinds: [LibraryError.Code: String] = [").dropFirst().first
      let entries = try #require(table?.components(separatedBy: "]").first)
      var found: [String: Set<String>] = [:]
      for entry in entries.matches(of: #/\.(\w+): "([a-z-]+)"/#) {
        found[String(entry.output.2), default: []].insert(String(entry.output.1))
      }
      return found
    }

    @Test("the table of Serving.md has each type, with its statuses, its code and what to do")
    func table() throws {
      let page = try Self.text("PhotoLedger/PhotoLedger.docc/Serving.md")
      let section = page.components(separatedBy: "\n## Problem documents\n").dropFirst().first
      let rows = try #require(section?.components(separatedBy: "\n## ").first)
        .split(separator: "\n").filter { $0.hasPrefix("| `") }
      let (statuses, codes) = (try Self.statuses(), try Self.codes())
      let count = codes.values.reduce(0) { $0 + $1.count }
      #expect(count == Problem.kinds.count)
      var types: [String] = []
      for row in rows {
        let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        try #require(cells.count == 4, "\(row)")
        let type = cells[0].replacing("`", with: "")
        types.append(type)
        let stated = cells[1].components(separatedBy: ", ").compactMap { Int($0) }
        #expect(stated == (statuses[type] ?? []).sorted(), "\(type)")
        let names = cells[2].matches(of: #/\w+/#).map { String($0.output) }
        #expect(names == (codes[type] ?? []).sorted(), "\(type)")
        #expect(cells[3].contains(". ") || cells[3].contains(": ") || cells[3].contains("`"), "\(type): what to do?")
      }
      #expect(types == Problem.types.sorted())
    }
  }
#endif
