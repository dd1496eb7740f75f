import Foundation
import TestSupport
import Testing

import PhotoLedger
@testable import MediaImport

@Suite("querying exiftool", .blocking)
struct ExifToolTests {
  /// A program in exiftool's place.
  static func standIn(_ folder: TemporaryFolder, _ script: String) throws -> String {
    let path = "\(folder.path)/exiftool"
    try writeProgram("#!/bin/bash\n\(script)\n", at: path)
    return path
  }

  /// True when a process has ended, whether or not its parent has asked how. Waits for it, as long as that may take on
  /// a busy machine.
  static func isGone(_ process: pid_t) -> Bool {
    guard process > 0 else { return false }
    let limit = ContinuousClock.now + .seconds(180)
    while ContinuousClock.now < limit {
      guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return true }
      if status.contains(") Z ") { return true }
      sched_yield()
    }
    return false
  }

  static func limits(_ seconds: Double = 60) -> ExifToolLimits {
    var limits = ExifToolLimits()
    limits.timePerFile = .seconds(seconds)
    limits.outputByteCount = 1 << 16
    return limits
  }

  /// One for the tests that only read: starting it takes longer than they do. With one process, an answer that is out
  /// of step is the next test's.
  private static let single = Result { try ExifTool(processCount: 1) }

  @Test(
    "unusual file names are passed safely",
    arguments: [
      "-v.jpg", "#x.jpg", " lead.jpg", "trail.jpg ", "a\nb.jpg", "a\r.jpg", "x|.jpg", "|ls", "$(id).jpg", "%f.jpg",
      "'\"\\.jpg", "-stay_open\nFalse",
    ])
  func names(name: String) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(name, TinyMedia.jpeg())
    let tool = try Self.single.get()
    #expect(try tool.tags(of: path).text("Model") == "Test Camera")
    #expect(try tool.tags(of: try folder.write("plain.jpg", TinyMedia.jpeg())).text("MIMEType") == "image/jpeg")
  }

  @Test("a name that is not UTF-8 is passed")
  func bytesName() throws {
    let folder = try TemporaryFolder()
    let path = folder.asRoot.appending([0xFF, 0xC3, 0x2E, 0x6A, 0x70, 0x67])
    let plain = try folder.write("plain.jpg", TinyMedia.jpeg())
    #expect(plain.withCString { from in path.withCString { rename(from, $0) } } == 0)
    #expect(try Self.single.get().tags(of: path).text("MIMEType") == "image/jpeg")
  }

  @Test("a few files are passed to one process, and many to the maximum number of processes", .timeLimit(.minutes(5)))
  func processes() throws {
    let folder = try TemporaryFolder()
    // Where there is a file `meet`, it answers when there are two of it.
    let script = """
      echo $$ >> "$0.started"
      while read -r l; do
        while [ -e "$0.meet" ] && [ "$(wc -l < "$0.started")" -lt 2 ]; do sleep 0.01; done
        case $l in -execute*)
          echo "[{\\"File:MIMEType\\":\\"image/jpeg\\"}]"; echo "{ready${l#-execute}}";; esac
      done
      """
    let executable = try Self.standIn(folder, script)
    let file = try folder.write("x.jpg", Data("x".utf8))
    func ask(_ tool: ExifTool, _ count: Int) -> Int {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 8
      for _ in 0..<count {
        queue.addOperation { #expect((try? tool.tags(of: file).text("MIMEType")) == "image/jpeg") }
      }
      queue.waitUntilAllOperationsAreFinished()
      let started = try? String(contentsOfFile: executable + ".started", encoding: .utf8)
      return started?.split(separator: "\n").count ?? 0
    }
    // Nothing but answers lets another one start.
    let patient = try ExifTool(
      executable: executable, processCount: 3, sandbox: Sandbox(layer: .none), patience: Int(Int32.max))
    #expect(ask(patient, 7) == 1 && patient.openCount == 1)
    #expect((1...3).contains(ask(patient, 200)) && patient.openCount == 3)
    // One that keeps another waiting lets it start.
    try FileManager.default.removeItem(atPath: executable + ".started")
    try Data().write(to: URL(filePath: executable + ".meet"))
    let hasty = try ExifTool(executable: executable, processCount: 3, sandbox: Sandbox(layer: .none), patience: 1)
    #expect(ask(hasty, 4) >= 2)
  }

  @Test(
    "a tool that floods, exits, or answers nonsense is reported for that file, and one that cannot run as such",
    arguments: [
      ("while read -r l; do yes aaaaaaaaaaaaaaaaaaaaaaaaaaaa; done", ImportError.Code.toolOutputTooLarge),
      ("[ \"$3\" = -ver ] && echo 13.0; exit 3", .toolCrashed),
      ("[ \"$3\" = -ver ] && { echo 13.0; exit; }; read -r l; exit 3", .toolCrashed),
      ("exit 3", .toolFailed),
      ("[ \"$3\" = -ver ] || read -r l; exit 3", .toolFailed),
      (
        "while read -r l; do case $l in -execute*) echo nonsense; echo \"{ready${l#-execute}}\";; esac; done",
        .toolCrashed
      ),
      ("exec sleep 1000", .toolTimeout),
    ])
  func misbehaves(script: String, code: ImportError.Code) throws {
    let folder = try TemporaryFolder()
    let limits = Self.limits(code == .toolTimeout ? 0.3 : 60)
    let tool = try ExifTool(
      executable: Self.standIn(folder, script), processCount: 1, limits: limits, sandbox: Sandbox(layer: .none))
    let path = try folder.write("x.jpg", Data("x".utf8))
    for _ in 0..<3 {
      let error = #expect(throws: ImportError.self) { try tool.tags(of: path) }
      #expect(error?.code == code)
      #expect(error?.concernsOneFile == (code != .toolFailed))
    }
  }

  @Test(
    "a file on which a process with earlier answers exits is retried once", .timeLimit(.minutes(10)),
    arguments: [true, false])
  func repetition(isTheFile: Bool) throws {
    let folder = try TemporaryFolder()
    // Each process exits at its third question, and at a file `bad`.
    let script = """
      [ "$3" = -ver ] && { echo 13.0; exit; }
      echo x >> "$0.started"
      count=0
      while read -r l; do case $l in
        *bad*) exit 3;;
        -execute*)
          count=$((count + 1)); [ $count = 3 ] && exit 3
          echo "[{\\"File:MIMEType\\":\\"image/jpeg\\"}]"; echo "{ready${l#-execute}}";; esac; done
      """
    let executable = try Self.standIn(folder, script)
    let tool = try ExifTool(executable: executable, processCount: 1, sandbox: Sandbox(layer: .none))
    let good = try folder.write("good.jpg", Data("x".utf8))
    for _ in 0..<2 { #expect(try tool.tags(of: good).text("MIMEType") == "image/jpeg") }
    if isTheFile {
      let bad = try folder.write("bad.jpg", Data("x".utf8))
      let error = #expect(throws: ImportError.self) { try tool.tags(of: bad) }
      #expect(error?.code == .toolCrashed)
    } else {
      #expect(try tool.tags(of: good).text("MIMEType") == "image/jpeg")
    }
    let started = try String(contentsOfFile: executable + ".started", encoding: .utf8)
    #expect(started == "x\nx\n", "One process was started for the repetition.")
  }

  @Test("a tool that is not installed is an error that names the package")
  func missing() {
    let error = #expect(throws: ImportError.self) { try ExifTool(executable: "/no/such/exiftool") }
    #expect(error?.code == .toolMissing)
    #expect(error?.description.contains("libimage-exiftool-perl") == true)
  }

  @Test("a child inherits no descriptor, no blocked signal, and a limit on its memory")
  func isolation() async throws {
    let folder = try TemporaryFolder()
    let script = """
      leaks=$(readlink /proc/$$/fd/* | grep -c leaked); limit=$(ulimit -v)
      while read -r l; do case $l in -execute*)
        echo "[{\\"F:Leaks\\":$leaks,\\"F:Limit\\":$limit,\\"F:Perl\\":\\"$PERL5OPT\\"}]"
        echo "{ready${l#-execute}}";; esac; done
      """
    let executable = try Self.standIn(folder, script)
    let leaked = try folder.write("leaked", Data()).description
    let file = try folder.write("x.jpg", Data("x".utf8)).description
    // A process of its own: every perl that another test starts meanwhile would have the variable.
    await #expect(processExitsWith: .success) {
      [executable = executable as String, leaked = leaked as String, file = file as String] in
      setenv("PERL5OPT", "-Mevil", 1)
      let leak = open(leaked, O_RDONLY)
      #expect(leak > 2 && fcntl(leak, F_GETFD) == 0, "The descriptor is one that a child would inherit.")
      let tool = try ExifTool(executable: executable, processCount: 1, sandbox: Sandbox(layer: .none))
      let tags = try tool.tags(of: FilePath(file))
      #expect(tags.integer("Leaks") == 0)
      #expect(tags.integer("Limit") == (2 << 30) / 1024)
      #expect(tags.text("Perl") == nil)
    }
    withExtendedLifetime(folder) {}
  }

  @Test("when this process is killed, the tool and its children end too")
  func orphans() async throws {
    let folder = try TemporaryFolder()
    let script = """
      while read -r l; do case $l in -execute*)
        sleep 1000 & echo "$$ $!" > "$0.started"
        echo "[{\\"File:MIMEType\\":\\"image/jpeg\\"}]"; echo "{ready${l#-execute}}";; esac; done
      sleep 1000
      """
    let executable = try Self.standIn(folder, script)
    await #expect(processExitsWith: .signal(SIGKILL)) { [executable = executable as String] in
      let tool = try ExifTool(executable: executable, processCount: 1, sandbox: Sandbox(layer: .none))
      _ = try tool.tags(of: FilePath(executable))
      kill(getpid(), SIGKILL)
    }
    let started = try String(contentsOfFile: executable + ".started", encoding: .utf8)
    let processes = started.split(whereSeparator: \.isWhitespace).compactMap { pid_t($0) }
    #expect(processes.count == 2)
    for process in processes { #expect(Self.isGone(process), "\(process) is gone.") }
  }

  @Test("a file that vanished is reported as such")
  func vanished() throws {
    let error = #expect(throws: ImportError.self) {
      try Self.single.get().tags(of: FilePath("/no/such.jpg"))
    }
    #expect(error?.code == .vanished)
  }
}
