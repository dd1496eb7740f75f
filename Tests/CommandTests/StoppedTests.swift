import Foundation
import LMDB
import PhotoLedger
import TestSupport
import Testing

// A signal ends every command, also in the middle of a step that does not end.

/// The stack of a PiB, which no thread can have, bytes.
private let refusedStack: rlim_t = 1 << 50

/// Whether a program may be started with stacks of a PiB as the usual ones, so that it can start no thread.
private let canRefuseThreads: Bool = {
  var limit = rlimit()
  return getrlimit(__rlimit_resource_t(RLIMIT_STACK.rawValue), &limit) == 0 && limit.rlim_max >= refusedStack
}()

@Suite("Stopped commands", .blocking)
struct StoppedTests {
  /// Runs the program with other variables than the test's.
  private func start(_ sandbox: Sandbox, _ words: [String], _ variables: [String: String]) throws -> ChildRun {
    let own = ["PHOTOLEDGER_LIBRARY": sandbox.library].merging(variables) { $1 }
    return try ChildRun(
      programURL, words, environment: ProcessInfo.processInfo.environment.merging(own) { $1 },
      directory: sandbox.folder)
  }

  /// The names of the threads of a process; none that end meanwhile.
  private func threads(of process: Int32) -> [String] {
    let tasks = "/proc/\(process)/task"
    return ((try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []).compactMap { task in
      (try? String(contentsOfFile: "\(tasks)/\(task)/comm", encoding: .utf8))?.trimmingCharacters(in: .newlines)
    }
  }

  /// Whether a thread of a process waits (proc_pid_stat(5)).
  private func sleeps(_ name: String, of process: Int32) -> Bool {
    let tasks = "/proc/\(process)/task"
    return ((try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []).contains { task in
      (try? String(contentsOfFile: "\(tasks)/\(task)/stat", encoding: .utf8))?.contains("(\(name)) S ") == true
    }
  }

  /// A program under a name, first in the path.
  private func pretend(_ name: String, _ script: String, _ sandbox: Sandbox) throws -> [String: String] {
    let folder = sandbox.folder.appending(path: "programs")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try writeProgram("#!/bin/sh\n\(script)\n", at: folder.appending(path: name).path)
    return ["PATH": folder.path + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")]
  }

  @Test("one SIGTERM ends a command within seconds, even if one of its steps does not end", .timeLimit(.minutes(3)))
  func step() async throws {
    let sandbox = try Sandbox()
    let mark = sandbox.folder.appending(path: "began")
    let photos = sandbox.folder.appending(path: "photos")
    try FileManager.default.createDirectory(at: photos, withIntermediateDirectories: true)
    try Data("x".utf8).write(to: photos.appending(path: "a.jpg"))
    // Ignores what asks it to end, and answers nothing. It opens a pipe to read, since it may write nowhere.
    mkfifo(mark.path, 0o600)
    let variables = try pretend("exiftool", "trap '' TERM INT HUP\nexec sleep 60 < '\(mark.path)'", sandbox)
    let child = try start(sandbox, ["import", photos.path], variables)
    var pipe: Int32 = -1
    try await waitUntil("exiftool was started") {
      pipe = open(mark.path, O_WRONLY | O_NONBLOCK)
      return pipe >= 0 || !child.isRunning
    }
    try #require(pipe >= 0, "The import ended before it had started exiftool.")
    defer { close(pipe) }
    let begun = ContinuousClock.now
    kill(child.identifier, SIGTERM)
    let end = child.end()
    #expect(ContinuousClock.now - begun < .seconds(40))
    #expect(end != .status(0), "\(end)")
  }

  @Test("a step that cannot be interrupted is ended by the deadline, with a sentence", .timeLimit(.minutes(3)))
  func deadline() async throws {
    let sandbox = try Sandbox(LibraryCopy.of400.get())
    // Nothing reads the pipe, so a write to it does not return.
    let pipe = try NarrowPipe()
    let child = try ChildRun(
      programURL, ["watch"],
      environment: ProcessInfo.processInfo.environment.merging(["PHOTOLEDGER_LIBRARY": sandbox.library]) { $1 },
      directory: sandbox.folder, output: .descriptor(pipe.writeEnd))
    try await waitUntil("the pipe is full") { pipe.isFull || !child.isRunning }
    kill(child.identifier, SIGTERM)
    #expect(child.end() == .status(128 + SIGTERM))
    let text = String(decoding: try child.errors.readToEnd() ?? Data(), as: UTF8.self)
    #expect(text.contains("in the middle of a step that did not end within 5 s"), "\(text)")
  }

  @Test("a stopped check reports what it found, and how much it did not check", arguments: [true, false])
  func check(printsJSON: Bool) async throws {
    let sandbox = try Sandbox(LibraryCopy.of900.get())
    // Without --json only what is missing is printed.
    if !printsJSON { try FileManager.default.removeItem(atPath: sandbox.library + "/resources") }
    let pipe = try NarrowPipe()
    let child = try ChildRun(
      programURL, ["resource", "check"] + (printsJSON ? ["--json"] : []),
      environment: ProcessInfo.processInfo.environment.merging(["PHOTOLEDGER_LIBRARY": sandbox.library]) { $1 },
      directory: sandbox.folder, output: .descriptor(pipe.writeEnd))
    try await waitUntil("the pipe is full") { pipe.isFull || !child.isRunning }
    kill(child.identifier, SIGTERM)
    // Its deadline is set right before the check is asked to stop, and then the thread of signals sleeps again.
    try await waitUntil("the signal was handled") {
      threads(of: child.identifier).contains("ledger-deadline")
        && sleeps("ledger-signals", of: child.identifier) || !child.isRunning
    }
    let lines = try pipe.rest().split(separator: "\n").map(String.init)
    #expect(child.end() == .status(1))
    let errors = String(decoding: try child.errors.readToEnd() ?? Data(), as: UTF8.self)
    let count = printsJSON ? lines.count : lines.count - 1
    #expect((1..<900).contains(count), "\(count)")
    #expect(errors.contains("Stopped; the files of \(900 - count) asset"), "\(errors)")
    #expect(!errors.contains("cancelled"), "\(errors)")
    let summary = "\(count) files checked: \(count) missing, 0 altered."
    #expect(printsJSON || lines.last == summary, "\(lines.suffix(1))")
  }

  @Test("a command whose child abandons a step has the child's status", .timeLimit(.minutes(3)))
  func deadlineOfChild() async throws {
    let sandbox = try Sandbox(LibraryCopy.of400.get())
    // What is missing is printed, which makes the output long.
    try FileManager.default.removeItem(atPath: sandbox.library + "/resources")
    var (end, text) = try await abandonedStep(sandbox)
    // A child that rests for longer than its parent waits is killed, and has no status of its own.
    for _ in 0..<3 where text.contains("Stopped by signal \(SIGKILL) ") {
      (end, text) = try await abandonedStep(sandbox)
    }
    #expect(end == .status(128 + SIGTERM))
    // The parent has a longer patience.
    #expect(text.contains("did not end within 5 s") && !text.contains("within 10 s"), "\(text)")
  }

  /// Stops a command whose output is not read.
  /// - Returns: how it ended, and what it wrote about that.
  private func abandonedStep(_ sandbox: Sandbox) async throws -> (end: ChildRun.End, text: String) {
    let pipe = try NarrowPipe()
    let parent = try ChildRun(
      programURL, ["verify"],
      environment: ProcessInfo.processInfo.environment.merging(["PHOTOLEDGER_LIBRARY": sandbox.library]) { $1 },
      directory: sandbox.folder, output: .descriptor(pipe.writeEnd))
    try await waitUntil("the pipe is full") { pipe.isFull || !parent.isRunning }
    kill(parent.identifier, SIGTERM)
    let end = withExtendedLifetime(pipe) { parent.end() }
    return (end, String(decoding: try parent.errors.readToEnd() ?? Data(), as: UTF8.self))
  }

  @Test("a signal that was ignored when a command started, as under nohup, does not end it", .timeLimit(.minutes(3)))
  func ignoredAtStart() throws {
    let sandbox = try Sandbox()
    let asset = try sandbox.makeAssets(1)[0]
    // The shell becomes the program, which so has what the shell ignores.
    let child = try ChildRun(
      URL(filePath: "/bin/sh"), ["-c", #"trap '' HUP INT; exec "$0" "$@""#, programURL.path, "watch"],
      environment: ProcessInfo.processInfo.environment.merging(["PHOTOLEDGER_LIBRARY": sandbox.library]) { $1 },
      directory: sandbox.folder)
    let lines = LineQueue()
    lines.fill(from: child.output)
    _ = try lines.next()
    for number in [SIGHUP, SIGINT, SIGHUP, SIGINT] { kill(child.identifier, number) }
    for command in ["favorite", "unfavorite"] {
      let token = try sandbox.run([command, asset]).lines[0]
      #expect(try jsonObject(lines.next())["after"] as? String == token)
    }
    kill(child.identifier, SIGTERM)
    #expect(child.end() == .status(0))
  }

  @Test("where the child of an import into a library is killed, the command says what the library has")
  func killedImport() async throws {
    let sandbox = try Sandbox()
    let running = try Running(sandbox, ["import-log", "--append"])
    try await waitUntil("a child") {
      !children(of: running.child.identifier).isEmpty || !running.child.isRunning
    }
    for child in children(of: running.child.identifier) { kill(child, SIGKILL) }
    let result = try running.finish()
    #expect(result.status == 1 && result.errors.contains("was killed by signal 9"), "\(result)")
    #expect(result.errors.contains("the library has all of the lines or none; `history token`"), "\(result.errors)")
    #expect(!result.errors.contains("nothing was created"), "\(result.errors)")
  }

  /// Kills each child of a command until the command ends.
  private func killChildren(of running: Running) throws -> RunResult {
    let limit = ContinuousClock.now + .seconds(150)
    while running.child.isRunning {
      guard ContinuousClock.now < limit else {
        Issue.record("The command did not end although its children were killed.")
        kill(running.child.identifier, SIGKILL)
        break
      }
      for child in children(of: running.child.identifier) { kill(child, SIGKILL) }
      sched_yield()
    }
    return try running.finish()
  }

  @Test(
    "where its child is killed from outside, `verify` does not say that the store is damaged", .timeLimit(.minutes(3)))
  func killedVerify() throws {
    let sandbox = try Sandbox()
    // Nothing writes to the pipe, so that the child reads it until it is killed.
    let pipe = sandbox.folder.path + "/note"
    #expect(mkfifo(pipe, 0o600) == 0)
    let result = try killChildren(of: Running(sandbox, ["verify", "--checkpoint", pipe]))
    #expect(result.status == 1 && result.errors.contains("was killed by signal 9"), "\(result)")
    #expect(result.errors.contains("from outside") && result.errors.contains("again"), "\(result.errors)")
    #expect(!result.errors.contains("damaged") && !result.errors.contains("Restore"), "\(result.errors)")
  }

  @Test(
    "where its child is killed from outside, `rebuild` does not say that the store is damaged, nor start again",
    .timeLimit(.minutes(3)))
  func killedRebuild() throws {
    let sandbox = try Sandbox()
    let environment = try LMDB.Environment.store(ofLibrary: sandbox.library)
    // The child waits for the writer's lock until it is killed.
    let result = try environment.write { _ in try killChildren(of: Running(sandbox, ["rebuild"])) }
    #expect(result.status == 1 && result.errors.contains("was killed by signal 9"), "\(result)")
    #expect(result.errors.contains("from outside") && result.errors.contains("Run it again"), "\(result.errors)")
    #expect(result.errors.contains("missing tables are filled by the next opening"), "\(result.errors)")
    for wrong in ["damaged", "Restore", "starts again"] {
      #expect(!result.errors.contains(wrong), "\(result.errors)")
    }
  }

  @Test("an import into a library that is stopped says that nothing was changed: it creates nothing")
  func stoppedImport() async throws {
    let sandbox = try Sandbox()
    let running = try Running(sandbox, ["import-log", "--append"])
    try await waitUntil("the child waits for signals") {
      children(of: running.child.identifier).contains { threads(of: $0).contains("ledger-signals") }
        || !running.child.isRunning
    }
    kill(running.child.identifier, SIGTERM)
    let result = try running.finish()
    #expect(result.status == 1 && result.errors.contains("was stopped; nothing was changed"), "\(result)")
  }

  @Test("a child that is terminated leaves nothing in the folder for temporary files", .timeLimit(.minutes(5)))
  func child() throws {
    let sandbox = try Sandbox(LibraryCopy.of400.get())
    let temporary = sandbox.folder.appending(path: "temporary")
    try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
    func names(_ folder: URL = temporary) -> [String] {
      (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
    }
    var wasMet = false
    for _ in 0..<50 where !wasMet {
      let parent = try start(sandbox, ["verify"], ["TMPDIR": temporary.path])
      // The scratch store of the child is there while it replays the log.
      while parent.isRunning, !names().contains(where: { $0.hasSuffix("data.mdb") }) {}
      guard let verifier = children(of: parent.identifier).first else {
        #expect(parent.end() == .status(0))
        continue
      }
      // A verifier that has ended meanwhile can still be killed, until the parent has waited for it.
      kill(verifier, SIGKILL)
      let end = parent.end()
      wasMet = end == .status(1)
      #expect(wasMet || end == .status(0), "\(end)")
      #expect(names().isEmpty, "\(names())")
    }
    #expect(wasMet, "The child was never seen at its work: the test proves nothing.")
  }

  @Test("what a killed command and its child left among the temporary files is removed by the next one, if unlocked")
  func leftScratch() throws {
    let sandbox = try Sandbox()
    let temporary = sandbox.folder.appending(path: "temporary")
    let files = FileManager.default
    for name in ["photoledger-child-left", "photoledger-child-used", "photoledger-childless"] {
      let store = temporary.appending(path: "\(name)/photoledger-verify-7")
      try files.createDirectory(at: store, withIntermediateDirectories: true)
      try Data("titles".utf8).write(to: store.appending(path: "data.mdb"))
    }
    try files.createSymbolicLink(
      at: temporary.appending(path: "photoledger-child-link"), withDestinationURL: sandbox.folder)
    let used = open(temporary.appending(path: "photoledger-child-used").path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    let lock = try #require(try FileLock(used) { code in POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) })
    #expect(try sandbox.run(["verify"], ["TMPDIR": temporary.path]).status == 0)
    let kept = ["photoledger-child-link", "photoledger-child-used", "photoledger-childless"]
    #expect(try files.contentsOfDirectory(atPath: temporary.path).sorted() == kept)
    #expect(files.fileExists(atPath: sandbox.library + "/store/data.mdb"))
    lock.release()
    #expect(try sandbox.run(["verify"], ["TMPDIR": temporary.path]).status == 0)
    #expect(try files.contentsOfDirectory(atPath: temporary.path).sorted() == [kept[0], kept[2]])
  }

  @Test(
    "where the system allows no further thread, a command ends with a sentence", .timeLimit(.minutes(3)),
    .enabled(if: canRefuseThreads, "Needs a hard limit of the stack (`ulimit -H -s`) of a PiB or more."),
    arguments: ["ls", "export-files"])
  func noThreads(command: String) throws {
    let sandbox = try Sandbox()
    #expect(try sandbox.makeAssets(1).count == 1)
    // No stack of a PiB can be had, so that a thread whose stack has the usual size is refused.
    let limited = #"ulimit -S -s \#(refusedStack / 1024) && exec timeout -k 1 60 "$0" "$@""#
    let words = command == "ls" ? [command] : [command, sandbox.folder.appending(path: "out").path]
    let run = try ChildRun.of(["sh", "-c", limited, programURL.path] + words + ["--library", sandbox.library])
    #expect(run.end == .status(1) && run.text.contains("The system allows no further thread"), "\(run)")
  }
}
