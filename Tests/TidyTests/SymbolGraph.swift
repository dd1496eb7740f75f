import Foundation
import Synchronization
import TestSupport
import Testing

/// The public symbols of a module as the compiler writes them down.
struct SymbolGraph: Decodable {
  struct Symbol: Decodable, Sendable {
    struct Identifier: Decodable { let precise: String }
    struct Kind: Decodable { let identifier: String }
    struct Fragment: Decodable { let spelling: String }
    let identifier: Identifier
    let kind: Kind
    let pathComponents: [String]
    let declarationFragments: [Fragment]?

    var isDeclared: Bool { !identifier.precise.contains("::SYNTHESIZED::") }
    var name: String { pathComponents.joined(separator: ".") }
    /// How it is declared, in one line.
    var declaration: String {
      (declarationFragments ?? []).map(\.spelling).joined().split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// The type that an alias stands for; nil for what is not an alias.
    var aliasedType: String? {
      guard kind.identifier == "swift.typealias" else { return nil }
      let text = (declarationFragments ?? []).map(\.spelling).joined()
      return text.components(separatedBy: " = ").dropFirst().last
    }
  }
  let symbols: [Symbol]

  /// What was extracted of each module that a test has asked for: several ask for the same ones.
  private static let extracted = Mutex<[String: Extraction]>([:])

  /// The symbols of one module, which the first test that asks for them extracts, while others wait.
  private final class Extraction: Sendable {
    private let symbols = Mutex<[Symbol]?>(nil)

    func symbols(of module: String) throws -> [Symbol] {
      try symbols.withLock { symbols in
        if let symbols { return symbols }
        let found = try SymbolGraph.extract(module)
        symbols = found
        return found
      }
    }
  }

  /// The symbols of a module of the build that the tests belong to, its extensions of other modules' types included,
  /// without those that a conformance or a superclass brings.
  static func symbols(of module: String) throws -> [Symbol] {
    let extraction = extracted.withLock { extracted in
      if let begun = extracted[module] { return begun }
      let new = Extraction()
      extracted[module] = new
      return new
    }
    return try extraction.symbols(of: module)
  }

  private static func extract(_ module: String) throws -> [Symbol] {
    let products = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    let folder = try TemporaryFolder()
    let words = [
      "swift", "symbolgraph-extract", "-module-name", module, "-I", products.appending(path: "Modules").path,
      "-I", PackageFiles.root.appending(path: "Sources/CLMDB").path,
      "-Xcc", "-fmodule-map-file=\(products.appending(path: "CSystem.build/module.modulemap").path)",
      "-target", target, "-minimum-access-level", "public", "-skip-synthesized-members", "-output-dir",
      folder.url.path,
    ]
    let run = try ChildRun.of(words)
    try #require(run.end == .status(0), "\(run.text)")
    return try FileManager.default.contentsOfDirectory(atPath: folder.url.path).flatMap { name in
      try JSONDecoder().decode(SymbolGraph.self, from: Data(contentsOf: folder.place(name))).symbols
    }
  }

  #if arch(arm64)
    private static let target = "aarch64-unknown-linux-gnu"
  #else
    private static let target = "x86_64-unknown-linux-gnu"
  #endif
}
