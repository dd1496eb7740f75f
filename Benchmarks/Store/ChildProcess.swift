import Foundation
import Glibc
import MediaImport

/// This program, started again to do one thing in a new process: see ``ChildTask``.
enum ChildProcess {
  /// Runs a task in a new process.
  /// - Parameter object: the identifier of what it looks at, if it does not find that by itself.
  /// - Returns: the numbers that it printed, and the nanoseconds from its start to its end.
  static func run(
    _ task: ChildTask, _ path: String, _ object: String? = nil
  ) throws -> (numbers: [Double], wall: Double) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let reading = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
    let start = ContinuousClock.now
    let nowhere = open("/dev/null", O_RDONLY | O_CLOEXEC)
    let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let (child, code) = Spawning.start(
      program, ([program, "--child", task.rawValue, path] + [object].compactMap(\.self)).map { Array($0.utf8) },
      environment: ProcessInfo.processInfo.environment.map { Array("\($0)=\($1)".utf8) },
      descriptors: [nowhere, ends[1], STDERR_FILENO])
    close(nowhere)
    close(ends[1])
    guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
    let text = String(decoding: try reading.readToEnd() ?? Data(), as: UTF8.self)
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    let wall = (ContinuousClock.now - start).nanoseconds
    guard status == 0 else { throw WrongAnswer(description: "The process for '\(task.rawValue)' failed.") }
    return (text.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }, wall)
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
    let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    for line in status.split(separator: "\n") where line.hasPrefix(field) {
      if let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) }) {
        return kilobytes << 10
      }
    }
    throw WrongAnswer(description: "The status of the process does not say '\(field)'.")
  }
}

/// What a new process of this program does.
enum ChildTask: String {
  /// Nothing; prints its memory.
  case empty
  /// Opens a library, counts, reads the first hundred of the newest.
  case openLibrary = "open-library"
  /// The same in SQLite.
  case openSQLite = "open-sqlite"
  /// Opens a library, counts, reads the first hundred in the order of addition; prints its peak memory too.
  case firstAdded = "first-added"
  /// The same of other lists, see ``FirstScreens``.
  case firstImages = "first-images"
  case newestImages = "newest-images"
  case firstOfAlbum = "first-of-album"
  case firstFavorites = "first-favourites"
  case newestFavorites = "newest-favourites"
  case firstTrashed = "first-trashed"
  case firstRecentlyAdded = "first-recently-added"
  case firstCollections = "first-collections"
  case firstAlbums = "first-albums"
  case firstOfClient = "first-of-client"
  case newestOfClient = "newest-of-client"
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
    case .openLibrary, .openSQLite:
      let count = try self == .openLibrary ? ColdStart.library(path) : ColdStart.sqlite(path)
      print((ContinuousClock.now - start).nanoseconds, count.assets, count.first)
    case .readAssets, .readLog: print(try Streams.read(self, path))
    case .firstAdded, .firstImages, .newestImages, .firstOfAlbum, .firstFavorites, .newestFavorites, .firstTrashed,
      .firstRecentlyAdded, .firstCollections, .firstAlbums, .firstOfClient, .newestOfClient, .newestByPhotos:
      let found = try FirstScreens.first(self, path, object)
      print((ContinuousClock.now - start).nanoseconds, found.count, found.first, try ChildProcess.peakBytes())
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
