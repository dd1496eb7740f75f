import Foundation
import Glibc
import MediaImport

// Which code a run measures.
//
// A figure without the code that it is of is worth nothing a month later, so a run names its commit, and it is refused
// if the program is not of that commit alone: if something that goes into it was changed and not committed, or was
// changed after it was built. `--development` runs all the same and marks the result, which the tests then keep out of
// `results.json`.
//
//     git status    sources that are not as the commit has them, new ones included   ─┐
//     mtime         sources that are newer than this program, `new-process`,         ─┴─▶ not of the commit alone
//                   `photoledger` or the floor of the server, which lie beside it
//
// Articles, figures and plots do not go into the program, so a run may write over them.
//
// Rejected: the commit compiled into the program. The package would need a plug-in that runs at each build, and a
// program built before a commit of the same files would name the wrong one.

/// The commit that the sources are at, and what is not as it has it.
struct SourceState: Equatable {
  /// The hash of the commit; nil if the sources are in no repository, or git is not installed.
  var commit: String?
  /// Why the program is not of that commit alone; nil if it is.
  var deviation: String?

  /// The folder of the package.
  static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

  /// What goes into the program, as git spells it.
  private static let inputs = [
    "Package.swift", "Sources", "Migrations", "Benchmarks", ":(exclude)*.md", ":(exclude)*.json", ":(exclude)*.svg",
  ]

  /// The modules that are linked into each program of the library.
  private static let core = [
    "Sources/CSystem", "Sources/CLMDB", "Sources/LMDB", "Sources/CountedTree", "Sources/EventLog",
    "Sources/PhotoLedger", "Migrations",
  ]

  /// The modules that are linked into this program and into the one of the commands.
  private static let shared =
    core + [
      "Sources/LibraryAudit", "Sources/LibraryMaintenance", "Sources/LibraryPicking", "Sources/LibraryJSON",
      "Sources/MediaImport",
    ]

  #if Gallery
    private static let server = ["CMicroHTTPD", "CCrypt", "HTTPServing", "GalleryServer"].map { "Sources/\($0)" }
  #else
    private static let server: [String] = []
  #endif

  /// What lies in the folder of this program and is not linked into it.
  private static let others = [":(exclude)Benchmarks/FloorServer", ":(exclude)Benchmarks/NewProcess"]

  /// The programs that a run measures, and the folders of their sources: this one, and those beside it that were built.
  private static let programs: [(name: String?, sources: [String])] = [
    (nil, shared + ["Sources/ExtensionFoundation", "Sources/Photos", "Benchmarks"] + others),
    ("new-process", core + ["Benchmarks/NewProcess", "Benchmarks/Support"]),
    ("photoledger", shared + server + ["Sources/PhotoLedgerCommand"]),
    ("floor-server", ["Benchmarks/FloorServer"]),
  ]

  init(commit: String?, deviation: String? = nil) { (self.commit, self.deviation) = (commit, deviation) }

  /// - Parameters:
  ///   - folder: the package.
  ///   - program: the program that was built from it; nil: this one.
  init(of folder: URL = package, program: String = "/proc/self/exe") throws {
    guard let head = try Self.git(["rev-parse", "HEAD"], in: folder) else {
      self.init(commit: nil, deviation: "\(folder.path) is no repository of git, or git is not installed")
      return
    }
    let commit = head.trimmingCharacters(in: .whitespacesAndNewlines)
    self.init(commit: commit, deviation: try Self.deviation(folder, program))
  }

  private static func deviation(_ folder: URL, _ program: String) throws -> String? {
    let status = try git(["status", "--porcelain", "--untracked-files=all", "--"] + inputs, in: folder)
    guard let status else { return "git cannot tell what was changed" }
    if let change = status.split(separator: "\n").first {
      return "'\(change.dropFirst(3))' is not as the commit has it"
    }
    let own = URL(filePath: program).resolvingSymlinksInPath()
    for (name, sources) in programs {
      let path = name.map { own.deletingLastPathComponent().appending(path: $0).path } ?? own.path
      guard let built = modificationTime(of: path) else {
        if name == nil { return "the program's own file cannot be found" }
        continue
      }
      if let newer = try file(of: sources, newerThan: built, in: folder) {
        return "'\(newer)' was changed after \(name.map { "`\($0)`" } ?? "the program") was built"
      }
    }
    return nil
  }

  /// A source that was changed after a time.
  private static func file(of sources: [String], newerThan built: Double, in folder: URL) throws -> String? {
    let patterns = sources.flatMap { source in
      source.hasPrefix(":") ? [source] : ["swift", "c", "h"].map { ":(glob)\(source)/**/*.\($0)" }
    }
    let files = try git(["ls-files", "--"] + patterns, in: folder) ?? ""
    return files.split(separator: "\n").map(String.init).first { file in
      modificationTime(of: folder.appending(path: file).path).map { $0 > built } ?? true
    }
  }

  /// Seconds since 1970.
  private static func modificationTime(of path: String) -> Double? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1e9
  }

  /// What git prints; nil if it fails or is not there.
  private static func git(_ words: [String], in folder: URL) throws -> String? {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let reading = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
    let nowhere = open("/dev/null", O_RDWR | O_CLOEXEC)
    let (child, code) = Spawning.start(
      "/usr/bin/env", (["/usr/bin/env", "git"] + words).map { Array($0.utf8) },
      environment: ProcessInfo.processInfo.environment.map { Array("\($0)=\($1)".utf8) }, directory: folder.path,
      descriptors: [nowhere, ends[1], nowhere])
    close(nowhere)
    close(ends[1])
    guard code == 0 else { return nil }
    let text = String(decoding: try reading.readToEnd() ?? Data(), as: UTF8.self)
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    return status == 0 ? text : nil
  }

  /// Lets a run begin, or refuses it.
  /// - Parameter isDevelopment: whether the run is for development, and may be of any code.
  func check(isDevelopment: Bool) throws(Command.Misuse) {
    guard let deviation, !isDevelopment else { return }
    throw Command.Misuse(
      sentence: """
        The figures of this run would belong to no commit: \(deviation). Commit it and build again; or pass \
        --development, which marks the result.
        """)
  }

  /// The line above the rows.
  func heading(isDevelopment: Bool) -> String {
    let name = commit.map { "commit \($0)" } ?? "no commit"
    return isDevelopment ? "\(name), a development run\(deviation.map { ": " + $0 } ?? "")" : name
  }
}

/// A run as it is kept.
struct RecordedRun: Codable {
  /// The commit whose code was measured; nil where it is not known.
  var commit: String?
  /// Whether the run was for development, so that its figures may be of other code than the commit's.
  var isDevelopment: Bool
  var rows: [Report.Row]
}
