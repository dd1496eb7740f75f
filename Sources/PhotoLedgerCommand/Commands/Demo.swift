import Foundation
import LibraryAudit
import LibraryJSON
import PhotoLedger

extension Command {
  static let demo = Command(
    words: ["demo"], summary: "create a library and show what an observer receives as it changes",
    operands: [Operand("FOLDER", .optional, "photos to import; by default a few hundred generated ones")],
    options: [
      Option("library", "PATH", "create the library there and keep it; by default it is temporary"),
      Option("seed", "N", "the seed of the generated photos; default 1"), serving, .listen,
    ],
    notes: """
      Photos of FOLDER are copied; nothing in it is changed. With --serve the library is served over HTTP
      afterwards, until Ctrl-C, as `serve` does it.
      """,
    example: "demo ~/Pictures"
  ) { invocation in
    if invocation.has(serving) { try invocation.checkServes() }
    let seed = try invocation.count("seed") ?? 1
    let interruption = Interruption(
      patience: invocation.has(serving) ? Interruption.patienceOfServer : Interruption.patience)
    if let folder = invocation.operands.first { _ = try invocation.path(folder, "FOLDER") }
    let kept = try invocation.text("library").map { try invocation.directory($0, "--library") }
    let url = try kept ?? FileManager.default.makeTemporaryFolder("photoledger-demo")
    defer { if kept == nil { remove(url) } }
    let environment: LibraryEnvironment = invocation.operands.isEmpty ? .seeded(UInt64(seed)) : .system
    let library = try PhotoLibrary.create(at: url, environment: environment)
    defer { library.close() }
    try Demonstration(library: library, output: invocation.output, interruption: interruption)
      .run(folder: invocation.operands.first, seed: UInt64(seed), isKept: kept != nil)
    guard interruption.isRequested else {
      guard invocation.has(serving) else { return .done }
      // The invented library has an invented clock; what is changed from here on has the date of now.
      library.close()
      let served = try PhotoLibrary(at: url)
      defer { served.close() }
      try invocation.serve(served, until: interruption)
      return .done
    }
    Output.notice("The demonstration was stopped; what it had committed is durable.")
    return .failed
  }

  private static let serving = Option("serve", "serve the library over HTTP afterwards")
}

private func remove(_ url: URL) {
  do {
    try FileManager.default.removeItem(at: url)
  } catch {
    Output.notice("The temporary library \(url.path) could not be removed: \(LibraryError.reason(of: error)).")
  }
}

/// The main job in one command.
private struct Demonstration {
  let library: PhotoLibrary
  let output: Output
  let interruption: Interruption

  func run(folder: String?, seed: UInt64, isKept: Bool) throws {
    if let folder {
      try output.line("Importing \(folder) …")
      try output.flush()
      let summary = try Importing(library: library, interruption: interruption).run([folder])
      try output.line(Importing.text(summary, of: library, isKept: isKept))
    } else {
      try InventedLibrary.fill(library, seed: seed) { interruption.isRequested }
      try output.line(
        "\(InventedLibrary.assetCount) generated photos in 6 commits. The same seed generates the same library."
      )
    }
    if interruption.isRequested { return }
    let built = try library.currentToken
    guard try !library.fetchAssets().isEmpty else {
      return try output.line("There is nothing to show: no photo or video was found.")
    }
    var story = try Story(library: library, output: output)
    try story.tell { interruption.isRequested }
    try output.line("\n" + output.terminal.styled("The events in the log", .heading) + "\n")
    var printer = LogPrinter(output: output)
    var filter = LogFilter()
    filter.after = built
    try library.forEachLogEntry(filter) { entry in
      try printer.print(entry)
      return true
    }
    try output.line(closing(isKept))
  }

  private func closing(_ isKept: Bool) -> String {
    guard isKept else {
      return "\nThe library was temporary; `photoledger demo --library PATH` keeps it."
    }
    return """

      The library is \(TextLayout.printable(library.url.path)). Continue with:
        export PHOTOLEDGER_LIBRARY=\(TextLayout.shellWord(library.url.path))
        photoledger ls --sort creationDate:desc --limit 10
        photoledger watch &  photoledger log  photoledger verify
      """
  }
}
