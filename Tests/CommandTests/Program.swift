import Foundation
import LMDB
import PhotoLedger
import TestSupport
import Testing

/// The built program, beside the test bundle.
let programURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
  .appending(path: "photoledger")

/// What a finished run left.
struct RunResult {
  var end: ChildRun.End
  var output: String
  var errors: String

  /// What it returned; -1 if a signal ended it.
  var status: Int32 { if case .status(let code) = end { code } else { -1 } }

  var lines: [String] { output.split(separator: "\n").map(String.init) }

  /// Each line of the output as a JSON object.
  func objects() throws -> [[String: Any]] { try lines.map(jsonObject) }
}

func jsonObject(_ line: String) throws -> [String: Any] {
  try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "not an object: \(line)")
}

/// A folder for one test, with a library in it; removed at the end.
final class Sandbox {
  let folder: URL
  var library: String { folder.appending(path: "library").path }

  init(makesLibrary: Bool = true) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "photoledger-commands-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    guard makesLibrary else { return }
    // As `init` does it, without a process for each of hundreds of tests.
    try PhotoLibrary.create(at: URL(filePath: library)).close()
    // A closed library can still be read: only a closed store is one that no process has open.
    try LMDB.Environment.store(ofLibrary: library).close()
  }

  /// A folder with a copy of a library.
  convenience init(_ copy: LibraryCopy) throws {
    try self.init(makesLibrary: false)
    try copy.write(to: library)
  }

  deinit {
    do {
      try FileManager.default.removeItem(at: folder)
    } catch {
      Issue.record("The folder of a test could not be removed: \(error)")
    }
  }

  /// Runs the program to its end.
  func run(_ words: [String], input: String = "", _ variables: [String: String] = [:]) throws -> RunResult {
    let running = try Running(self, words, variables)
    // A program that refuses at once may have ended before it reads; what it printed says why.
    try? running.send(input)
    running.endInput()
    return try running.finish()
  }

  /// Applies lines and gives the answers.
  func apply(_ lines: [String]) throws -> [[String: Any]] {
    try run(["apply"], input: lines.joined(separator: "\n") + "\n").objects()
  }

  /// The identifiers that `ls` shows.
  func identifiers(_ words: [String] = []) throws -> [String] {
    try run(["ls", "--json"] + words).objects().map { try #require($0["localIdentifier"] as? String) }
  }

  /// Makes invented images and gives their identifiers.
  func makeAssets(_ count: Int) throws -> [String] {
    let operations = (0..<count).map { index in
      let date = "2024-05-\(10 + index % 20)T12:\(10 + index / 20):00Z"
      let data = Data("picture \(index)".utf8).base64EncodedString()
      return #"{"op":"asset.create","mediaType":"image","creationDate":"\#(date)","resources":"#
        + #"[{"type":"photo","data":"\#(data)","originalFilename":"IMG_\#(index).jpg"}]}"#
    }
    let answer = try apply([#"{"changes":[\#(operations.joined(separator: ","))]}"#])
    return try #require(answer.first?["created"] as? [String])
  }

  /// Makes a folder of GIF images of one pixel, each of another colour, and gives its path.
  func pictures(_ count: Int) throws -> String {
    let place = folder.appending(path: "pictures")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    for index in 0..<count {
      var bytes = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0]
      bytes += [UInt8(index), 0, 0, 255, 255, 255, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3B]
      try Data(bytes).write(to: place.appending(path: "\(index).gif"))
    }
    return place.path
  }
}

/// A run of the program that is talked to.
final class Running {
  let child: ChildRun
  private let output = LineQueue()
  private let errors = LineQueue()

  /// Most tests say text is a photo, so new bytes are not examined unless the variables say otherwise.
  /// - Parameter socket: what the program gets as systemd passes a socket to it; the variables have `LISTEN_FDS` then.
  init(
    _ sandbox: Sandbox, _ words: [String], _ variables: [String: String] = [:], closesOutput: Bool = false,
    socket: Int32? = nil
  ) throws {
    let settings = ["PHOTOLEDGER_LIBRARY": sandbox.library, "PHOTOLEDGER_PROBE": "none"].merging(variables) { $1 }
    let environment = ProcessInfo.processInfo.environment.merging(settings) { $1 }
    // A test that writes to a program which has ended must see an error, not die.
    signal(SIGPIPE, SIG_IGN)
    let unread = closesOutput ? try Self.unreadPipe() : nil
    defer { if let unread { close(unread) } }
    if let socket {
      // The shell becomes the program, so its number is the program's.
      let passing = #"exec 3<&0 </dev/null; LISTEN_PID=$$ exec "$0" "$@""#
      child = try ChildRun(
        URL(filePath: "/bin/sh"), ["-c", passing, programURL.path] + words, environment: environment,
        directory: sandbox.folder, input: .descriptor(socket))
    } else {
      child = try ChildRun(
        programURL, words, environment: environment, directory: sandbox.folder, input: .pipe,
        output: unread.map(ChildRun.Stream.descriptor) ?? .pipe)
    }
    if unread == nil { output.fill(from: child.output) }
    errors.fill(from: child.errors)
  }

  /// The write end of a pipe without a reader.
  private static func unreadPipe() throws -> Int32 {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    close(ends[0])
    // A program that another test starts may have a copy of the read end for a moment.
    var writeEnd = pollfd(fd: ends[1], events: 0, revents: 0)
    let count = poll(&writeEnd, 1, 60_000)
    try #require(count == 1 && writeEnd.revents & Int16(POLLERR) != 0, "The pipe has a reader.")
    return ends[1]
  }

  func send(_ text: String) throws {
    if !text.isEmpty { try child.input.write(contentsOf: Data(text.utf8)) }
  }

  func endInput() { child.input.closeFile() }

  /// The next line of output.
  func line() throws -> String { try output.next() }

  /// What it wrote to standard error, to its end.
  func complaint() throws -> String { try errors.rest() }

  /// Ends it as Ctrl-C does, to its end.
  func finish(interrupting: Bool = false) throws -> RunResult {
    if interrupting { kill(child.identifier, SIGTERM) }
    let text = try output.rest()
    let complaint = try errors.rest()
    return RunResult(end: child.end(), output: text, errors: complaint)
  }
}

/// The processes that a process has started and not waited for. Not every kernel lists them in one file.
func children(of parent: Int32) -> [Int32] {
  let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { Int32($0) } ?? []
  return processes.filter { process in
    // After the name in parentheses: the state, then the parent.
    let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
    let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
    return fields.count > 2 && Int32(fields[2]) == parent
  }
}

/// A pipe with little room, for the output of a program that is not read at first.
final class NarrowPipe {
  private let reader: FileHandle
  private var isHeld = true
  let writeEnd: Int32
  private let capacity: Int32

  init(blocks: Bool = true) throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    reader = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
    writeEnd = ends[1]
    // F_SETPIPE_SZ, which Glibc's module lacks.
    capacity = fcntl(ends[1], 1031, Int32(4096))
    try #require(capacity >= 4096)
    if !blocks { try #require(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0) }
  }

  deinit { letGo() }

  /// Whether nothing more can be written.
  var isFull: Bool {
    var count: Int32 = 0
    return ioctl(reader.fileDescriptor, UInt(FIONREAD), &count) == 0 && count == capacity
  }

  /// Reads a line that a program which has it writes, without its end.
  func line() throws -> String {
    letGo()
    var line = Data()
    while let byte = try reader.read(upToCount: 1), byte != Data([UInt8(ascii: "\n")]) { line += byte }
    return String(decoding: line, as: UTF8.self)
  }

  /// Reads all that is in it, and that the programs which have it write.
  func rest() throws -> String {
    letGo()
    return String(decoding: try reader.readToEnd() ?? Data(), as: UTF8.self)
  }

  private func letGo() {
    if isHeld { close(writeEnd) }
    isHeld = false
  }
}

/// The lines of a stream, as they come; waiting for them has a limit.
final class LineQueue: @unchecked Sendable {  // everything mutable is guarded by `condition`
  private let condition = NSCondition()
  private var bytes = Data()
  private var isAtEnd = false

  private static let limitSeconds = 180.0

  func fill(from pipe: FileHandle) {
    let thread = Thread { [self] in
      while true {
        let piece = pipe.availableData
        condition.lock()
        bytes.append(piece)
        isAtEnd = piece.isEmpty
        condition.broadcast()
        condition.unlock()
        if piece.isEmpty { return }
      }
    }
    thread.start()
  }

  /// Waits until something is there that a function takes.
  private func wait<Value>(for take: (inout Data, Bool) -> Value?) throws -> Value {
    let deadline = Date(timeIntervalSinceNow: Self.limitSeconds)
    condition.lock()
    defer { condition.unlock() }
    while true {
      if let value = take(&bytes, isAtEnd) { return value }
      try #require(condition.wait(until: deadline), "nothing came within \(Self.limitSeconds) s")
    }
  }

  func next() throws -> String {
    let line: String? = try wait { bytes, isAtEnd in
      guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return isAtEnd ? .some(nil) : nil }
      let line = String(decoding: bytes[..<end], as: UTF8.self)
      bytes.removeSubrange(...end)
      return line
    }
    return try #require(line, "the output ended")
  }

  func rest() throws -> String { String(decoding: try restOfData(), as: UTF8.self) }

  func restOfData() throws -> Data { try wait { bytes, isAtEnd in isAtEnd ? bytes : nil } }

  /// The bytes up to and with a mark.
  func data(through mark: String) throws -> Data {
    let data: Data? = try wait { bytes, isAtEnd in
      guard let end = bytes.range(of: Data(mark.utf8))?.upperBound else { return isAtEnd ? .some(nil) : nil }
      let data = Data(bytes[..<end])
      bytes.removeSubrange(..<end)
      return data
    }
    return try #require(data, "the output ended before \(mark.debugDescription)")
  }
}
