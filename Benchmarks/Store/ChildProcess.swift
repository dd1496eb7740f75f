import BenchmarkSupport
import Foundation
import Glibc
import MediaImport

/// A new process that does one thing: of `new-process` what needs the core alone, of this program the rest.
enum ChildProcess {
  /// The numbers that a process printed, and the nanoseconds from its start to its end.
  typealias Run = (numbers: [Double], wall: Double)

  /// Runs a task in a new process of `new-process`, which is built with this program and lies beside it.
  /// - Parameter object: the identifier of what it looks at, if it does not find that by itself.
  static func run(_ task: CoreTask, _ path: String, _ object: String? = nil) throws -> Run {
    guard let program = try Self.program(beside: "new-process") else {
      let command = "swift build -c release --product new-process"
      throw WrongAnswer(description: "The program 'new-process' is not beside this one; `\(command)` builds it.")
    }
    return try run([program, task.rawValue, path] + [object].compactMap(\.self))
  }

  /// Runs a task in a new process of this program.
  /// - Parameter object: the identifier of what it looks at, if it does not find that by itself.
  static func run(_ task: ChildTask, _ path: String, _ object: String? = nil) throws -> Run {
    let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return try run([program, "--child", task.rawValue, path] + [object].compactMap(\.self))
  }

  private static func run(_ words: [String]) throws -> Run {
    let (child, output, began) = try start(words)
    let reading = FileHandle(fileDescriptor: output, closeOnDealloc: true)
    let text = String(decoding: try reading.readToEnd() ?? Data(), as: UTF8.self)
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    let wall = (ContinuousClock.now - began).nanoseconds
    guard status == 0 else { throw WrongAnswer(description: "'\(words.joined(separator: " "))' failed.") }
    return (text.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }, wall)
  }

  /// Starts a program that prints to a pipe.
  /// - Parameter size: how many bytes the pipe holds; nil: as many as pipes do.
  /// - Returns: its number, the end of the pipe to read from and to close, and the instant at which it was started.
  static func start(
    _ words: [String], pipeOf size: Int32? = nil
  ) throws -> (child: Int32, output: Int32, began: ContinuousClock.Instant) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    // F_SETPIPE_SZ, which Glibc's module lacks.
    if let size { _ = fcntl(ends[1], 1031, size) }
    let nowhere = open("/dev/null", O_RDONLY | O_CLOEXEC)
    let began = ContinuousClock.now
    let (child, code) = Spawning.start(
      words[0], words.map { Array($0.utf8) },
      environment: ProcessInfo.processInfo.environment.map { Array("\($0)=\($1)".utf8) },
      descriptors: [nowhere, ends[1], STDERR_FILENO])
    close(nowhere)
    close(ends[1])
    guard code == 0 else {
      close(ends[0])
      throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
    }
    return (child, ends[0], began)
  }

  /// Runs a program that is found in `PATH`, and drops what it prints.
  static func runQuietly(_ words: [String]) throws {
    let nowhere = open("/dev/null", O_RDWR | O_CLOEXEC)
    defer { close(nowhere) }
    let (child, code) = Spawning.start(
      "/usr/bin/env", (["/usr/bin/env"] + words).map { Array($0.utf8) },
      environment: ProcessInfo.processInfo.environment.map { Array("\($0)=\($1)".utf8) },
      descriptors: [nowhere, nowhere, STDERR_FILENO])
    guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    guard status == 0 else { throw WrongAnswer(description: "'\(words[0])' failed.") }
  }

  /// Takes a file out of the page cache, as far as the kernel lets go of it.
  /// - Returns: whether less than a twentieth of it is left there.
  static func dropPages(of path: String) throws -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .ENOENT) }
    defer { close(descriptor) }
    fsync(descriptor)
    posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_size > 0 else { return false }
    let size = Int(status.st_size)
    guard let map = mmap(nil, size, PROT_READ, MAP_SHARED, descriptor, 0), map != MAP_FAILED else { return false }
    defer { munmap(map, size) }
    var pages = [UInt8](repeating: 0, count: (size + 4095) / 4096)
    guard mincore(map, size, &pages) == 0 else { return false }
    return pages.filter { $0 & 1 != 0 }.count * 20 < pages.count
  }

  /// The bytes of memory that this process alone holds and no file backs (RssAnon).
  static func anonymousBytes() throws -> Int { try statusBytes("RssAnon:") }

  /// A size that the kernel states of a process.
  static func statusBytes(_ field: String, of process: String = "self") throws -> Int {
    if let bytes = try ProcessStatus.bytes(field, of: process) { return bytes }
    throw WrongAnswer(description: "The status of the process does not say '\(field)'.")
  }
}

/// What a new process of this program does; that of `new-process` does a ``CoreTask``.
enum ChildTask: String {
  /// Nothing; prints its memory.
  case empty
  /// Opens a library in SQLite, counts, reads the first hundred of the newest.
  case openSQLite = "open-sqlite"
  /// The same through `Photos`; prints its peak memory too.
  case newestByPhotos = "newest-by-photos"
  /// Reads and decodes every asset with its files, and every event; prints how many.
  case readAssets = "read-assets"
  case readLog = "read-log"
  /// Imports a folder into a library; prints how many photos were new and known, and its peak memory.
  case importFiles = "import-files"
  /// Imports the parts of a Takeout that lie in a folder; prints the same.
  case importTakeout = "import-takeout"
  /// Rebuilds a library; prints its peak memory.
  case rebuild
  /// Holds a live result of everything, then more; prints its memory at each step.
  case hold

  /// Does it and prints numbers.
  /// - Parameter object: the identifier of what it looks at, if it does not find that by itself.
  func run(_ path: String, _ object: String?) throws {
    let start = ContinuousClock.now
    switch self {
    case .empty: print(try ChildProcess.anonymousBytes())
    case .openSQLite:
      let count = try ColdStart.sqlite(path)
      print((ContinuousClock.now - start).nanoseconds, count.assets, count.first)
    case .newestByPhotos:
      let found = try FirstScreens.newestByPhotos(path)
      print((ContinuousClock.now - start).nanoseconds, found.count, found.first, try ChildProcess.peakBytes())
    case .readAssets, .readLog: print(try Streams.read(self, path))
    case .importFiles:
      let count = try ImportingFiles.importFiles(path, object ?? "")
      print(count.added, count.known, try ChildProcess.peakBytes())
    case .importTakeout:
      let count = try ImportingTakeout.importParts(path, of: object ?? "")
      print(count.added, count.known, try ChildProcess.peakBytes())
    case .rebuild: print(try RebuildCosts.rebuild(path), try ChildProcess.peakBytes())
    case .hold: print(try Memory.hold(path).map { "\($0)" }.joined(separator: " "))
    }
  }
}
