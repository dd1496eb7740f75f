import Foundation
import Glibc
import LibraryAudit
import LibraryMaintenance
import PhotoLedger

/// S21, S22: the commands that print the first screen, and those that print all there is.
///
/// The floor of a stream is `cat` of the very bytes that the command prints, into the same pipe: what it costs to hand
/// bytes on that are there already. The texts of `ls` and `log` are a tenth and less of what has to be read for them,
/// so their floor is a new process that reads and decodes the same rows by the same calls, and prints nothing. The
/// memory is the peak of the process, mapped pages of the store included, as its own `VmHWM` says: `ru_maxrss` of a
/// child begins with the memory of the process that started it. A command whose `VmHWM` was never read has no row.
enum Streams {
  private static let cat = "floor: cat of the same bytes"
  private static let rows = "floor: the same rows, read and decoded"
  private static let commands: [(name: String, words: [String], floor: ChildTask?)] = [
    ("ls --json", ["ls", "--json"], nil), ("ls", ["ls"], .readAssets), ("log --json", ["log", "--json"], nil),
    ("log", ["log"], .readLog), ("export", ["export"], nil),
  ]

  /// The first screens of the commands, which of `watch` is its first line.
  private static let commandScreens = [
    "ls --limit 100", "ls --limit 100 --json", "ls --limit 100 --sort creationDate:desc",
    "ls --limit 100 --sort addedDate:desc", "log --limit 100", "log --limit 100 --reverse --json", "watch",
    "ls --limit 100 --search img",
  ]

  private static func name(ofCommand screen: String) -> String { "S21 command, \(screen)" }

  static let names =
    commandScreens.flatMap { [name(ofCommand: $0), "\(name(ofCommand: $0)), peak memory"] }
    + commands.flatMap { command in
      ["S22 \(command.name), \(command.floor == nil ? cat : rows)", "S22 \(command.name)"]
        + ["S22 \(command.name), peak memory"]
    }

  static func measure(_ stage: Stage, into report: inout Report) throws {
    guard report.wantsAny(of: names) else { return }
    stage.close()
    guard let program = try ChildProcess.program(beside: "photoledger") else {
      return print(
        "S22 and the commands of S21 are left out: photoledger is not built beside this program; "
          + "run `swift build -c release`.")
    }
    for screen in commandScreens
    where report.wantsAny(of: [name(ofCommand: screen), "\(name(ofCommand: screen)), peak memory"]) {
      try measureScreen(ofCommand: screen, program, stage, into: &report)
    }
    for command in commands where report.wantsAny(of: names.filter { $0.hasPrefix("S22 \(command.name)") }) {
      try measure(command, program, stage, into: &report)
    }
  }

  private static func measureScreen(
    ofCommand screen: String, _ program: String, _ stage: Stage, into report: inout Report
  ) throws {
    let name = name(ofCommand: screen)
    let words = [program] + screen.split(separator: " ").map(String.init) + ["--library", stage.diskFolder.path]
    var (times, text) = ([Double](), nil as Data?)
    func run(pipeOf size: Int32? = nil) throws -> (bytes: Int, wall: Double, peak: Int?) {
      var printed = Data()
      let run = try ChildProcess.stream(words, endingAfterLine: screen == "watch", pipeOf: size) { printed += $0 }
      guard !printed.isEmpty, screen == "watch" || text == nil || text == printed else {
        throw WrongAnswer(description: "'\(screen)' printed \(text?.count ?? 0) bytes, and then \(printed.count).")
      }
      text = printed
      return run
    }
    // Its memory is read while it still has something to print; the pipe takes no more than a page of it.
    let peak = try run(pipeOf: 4096).peak
    for _ in 0..<min(9, report.repetitions) { times.append(try run().wall) }
    report.add(name, size: stage.size, caches: .warm, Sample(times), goal: .microseconds(30_000))
    add(peak, of: name, stage, goal: .bytes(40 << 20), into: &report)
  }

  /// Adds the row of a peak, or says why there is none.
  private static func add(_ peak: Int?, of name: String, _ stage: Stage, goal: Goal, into report: inout Report) {
    guard let peak else {
      return print("\(name), peak memory, is left out: the program always ended before its memory could be read.")
    }
    report.add("\(name), peak memory", size: stage.size, bytes: peak, goal: goal)
  }

  private static func measure(
    _ command: (name: String, words: [String], floor: ChildTask?), _ program: String, _ stage: Stage,
    into report: inout Report
  ) throws {
    let (name, words) = (command.name, command.words)
    let file = stage.path("printed")
    guard FileManager.default.createFile(atPath: file.path, contents: nil) else {
      throw WrongAnswer(description: "\(file.path) cannot be made.")
    }
    defer { stage.remove(file) }
    let arguments = [program] + words + ["--library", stage.diskFolder.path]
    let output = try FileHandle(forWritingTo: file)
    // Of a small library all that is printed may fit into a usual pipe, and then the peak might never be read.
    let size: Int32? = stage.size < Goal.leastSize ? 4096 : nil
    let first = try ChildProcess.stream(arguments, pipeOf: size) { output.write($0) }
    try output.close()
    let repetitions = stage.size >= Goal.leastSize ? min(3, report.repetitions) : min(5, report.repetitions)
    var (own, floors, peak) = ([Double](), [Double](), first.peak)
    for _ in 0..<repetitions {
      if let task = command.floor {
        let (numbers, wall) = try ChildProcess.run(task, stage.diskFolder.path)
        guard numbers.count == 1, Int(numbers[0]) >= stage.shown.count else {
          throw WrongAnswer(description: "A new process reads \(numbers) rows; \(stage.shown.count) assets are shown.")
        }
        floors.append(wall)
      } else {
        floors.append(try ChildProcess.stream(["/bin/cat", file.path]) { _ in }.wall)
      }
      let run = try ChildProcess.stream(arguments) { _ in }
      guard run.bytes == first.bytes, run.bytes > 0 else {
        throw WrongAnswer(description: "'\(name)' printed \(first.bytes) bytes, and then \(run.bytes).")
      }
      own.append(run.wall)
      peak = [peak, run.peak].compactMap(\.self).max()
    }
    let base = Sample(floors)
    report.add("S22 \(name), \(command.floor == nil ? cat : rows)", size: stage.size, caches: .warm, base)
    report.add(
      "S22 \(name)", size: stage.size, caches: .warm, Sample(own), comparedWith: base.quantile(0.5),
      goal: .atMost(2.5))
    add(peak, of: "S22 \(name)", stage, goal: .bytes(96 << 20), into: &report)
  }

  /// In a new process: reads and decodes all assets with their files, or all events, and gives how many there are.
  static func read(_ task: ChildTask, _ path: String) throws -> Int {
    let library = try PhotoLibrary(at: URL(filePath: path))
    var count = 0
    if task == .readAssets {
      try library.forEachAsset(of: try library.fetchAssets()) { asset, details in
        count += asset.pixelWidth < 0 || details.resources.isEmpty ? 0 : 1
      }
    } else {
      try library.forEachLogEntry { entry in
        count += entry.sentence.isEmpty ? 0 : 1
        return true
      }
    }
    return count
  }
}

/// S23: a rebuild of a sound library in a new process: what it adds to the file, and its peak memory.
enum RebuildCosts {
  static let names = ["S23 rebuild, the file afterwards", "S23 rebuild, peak memory"]

  static func measure(_ stage: Stage, into report: inout Report) throws {
    guard report.wantsAny(of: names) else { return }
    try stage.withCopiedFiles(onDisk: true) { folder in
      let file = folder.appending(path: "store/data.mdb")
      let before = try Stage.byteCount(of: file)
      let numbers = try ChildProcess.run(.rebuild, folder.path).numbers
      guard numbers.count == 2, Int(numbers[0]) == stage.shown.count else {
        throw WrongAnswer(description: "A rebuilt library tells \(numbers); \(stage.shown.count) assets are shown.")
      }
      let after = try Stage.byteCount(of: file)
      report.add(names[0], size: stage.size, bytes: after, comparedWith: before, goal: .atMost(1))
      report.add(names[1], size: stage.size, bytes: Int(numbers[1]), goal: .bytes(512 << 20))
    }
  }

  /// In a new process: rebuilds, and gives how many assets are shown.
  static func rebuild(_ path: String) throws -> Int {
    let library = try PhotoLibrary(at: URL(filePath: path))
    defer { library.close() }
    try library.rebuild()
    return try library.fetchAssets().count
  }
}

extension ChildProcess {
  /// A program that was built with this one; nil if it was not.
  static func program(beside name: String) throws -> String? {
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let path = URL(filePath: own).deletingLastPathComponent().appending(path: name).path
    return FileManager.default.isExecutableFile(atPath: path) ? path : nil
  }

  /// Runs a program and takes what it prints.
  /// - Parameters:
  ///   - endsAfterLine: whether the program, which goes on by itself, is ended when it has printed a line.
  ///   - size: how many bytes the pipe holds; nil: as many as pipes do.
  /// - Returns: how many bytes that are, nanoseconds from its start to its end or that line, and the peak of its memory
  ///   in bytes, as it was when it was last asked for; nil if the program ended before it was asked for. A program that
  ///   prints more than the pipe holds is always asked in time.
  static func stream(
    _ words: [String], endingAfterLine endsAfterLine: Bool = false, pipeOf size: Int32? = nil,
    _ take: (Data) throws -> Void
  ) throws -> (bytes: Int, wall: Double, peak: Int?) {
    let (child, output, began) = try start(words, pipeOf: size)
    var reading: Int32? = output
    defer { if let reading { close(reading) } }
    // The peak is read whenever so many bytes have come. A run with a pipe of a given size is not timed, so there it is
    // read before each piece.
    let step = size == nil ? 1 << 18 : 1
    var (bytes, nextReading, peak, end) = (0, 0, nil as Int?, nil as ContinuousClock.Instant?)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while let number = reading {
      var waiting = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, -1) >= 0 else {
        if errno == EINTR { continue }
        throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
      }
      // The peak is read when there is something to take and before it is taken. While the pipe is full, a program with
      // more to print waits in its write, so it is alive. One whose whole output fits into the pipe may have ended;
      // then its status has no VmHWM, and nothing is known. Until it is waited for, its number is of no other process.
      if bytes >= nextReading {
        if let stated = try? statusBytes("VmHWM:", of: "\(child)") { peak = max(peak ?? 0, stated) }
        nextReading = bytes + step
      }
      // What there is, and not as much as is asked for.
      let count = read(number, &buffer, buffer.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
      if count == 0 { break }
      let piece = Data(buffer[..<count])
      bytes += piece.count
      try take(piece)
      if endsAfterLine && piece.contains(0x0A) {
        end = .now
        kill(child, SIGTERM)
        // What it still prints has no reader, so it does not wait for one.
        close(number)
        reading = nil
      }
    }
    // Without its usage: the kernel carries the peak of this process over to `ru_maxrss` when the program is executed.
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    let wall = ((end ?? .now) - began).nanoseconds
    guard status == 0 || endsAfterLine else {
      throw WrongAnswer(description: "'\(words.joined(separator: " "))' failed.")
    }
    return (bytes, wall, peak)
  }

  /// The most memory that this process ever held, mapped pages included (VmHWM).
  static func peakBytes() throws -> Int { try statusBytes("VmHWM:") }
}
