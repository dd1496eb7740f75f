import Foundation
import Glibc
import MediaImport
import PhotoLedger
import Synchronization

/// S37: uploads of files of 4 MB to the server, beside what `cp` and exiftool take for the same files.
///
/// A file is the header of a JPEG with a date, its picture's data, which is noise, and its end, so exiftool reads as
/// much of it as of a camera's. Each is sent in one request on a connection of its own, four at a time, and is an asset
/// when its answer is there. The floor is `cp` and `sync` of the folder; what reading the metadata costs is the row
/// beside it: exiftool asked about the same files by as many processes as there are processors.
enum Uploading {
  private static let upload = "S37 upload of files of 4 MB"
  static let names = ["\(upload), floor: cp and sync", "\(upload), exiftool over the same", upload]

  private static let fileSize = 4_000_000
  private static let mostFiles = 1_000
  private static let connectionCount = 4

  static func measure(_ stage: Stage, into report: inout Report) throws {
    guard report.wantsAny(of: names) else { return }
    #if Gallery
      guard let program = try ChildProcess.program(beside: "photoledger") else {
        return print("S37 is left out: build with `swift build -c release --traits Gallery`.")
      }
      // A few in a small library: the tests run this row, too.
      let count = stage.size < Goal.leastSize ? 4 : mostFiles
      let folder = stage.path("sent")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { stage.remove(folder) }
      let files = try fill(folder, count)
      let probe = ExternalProbe()
      if case .unavailable(let sentence) = try probe.examine(files[0]) { return print("S37 is left out: \(sentence)") }
      // Once without a clock: both exiftool processes are started by then.
      _ = try ImportingFiles.ask(probe, about: Array(files.prefix(4)))
      let (stopwatch, copy, library) = (Stopwatch(), stage.path("copied"), stage.path("uploaded"))
      defer {
        for made in [copy, library] where FileManager.default.fileExists(atPath: made.path) { stage.remove(made) }
      }
      let script = #"cp -r "$0" "$1" && sync -f "$1""#
      var (copying, asking, sending) = ([Double](), [Double](), [Double]())
      for _ in 0..<min(3, report.repetitions) {
        copying.append(
          try stopwatch.time { try ChildProcess.runQuietly(["sh", "-c", script, folder.path, copy.path]) })
        stage.remove(copy)
        asking.append(try stopwatch.time { try ImportingFiles.ask(probe, about: files) })
        do {
          try PhotoLibrary.create(at: library).close()
          let server = try ServedLibrary(program, library.path)
          defer { server.stop() }
          // The server's exiftool is started by the first upload.
          let first = folder.appending(path: "first.jpg")
          try photo(count, noise(size: 1000)).write(to: first)
          try send([first], to: server)
          try FileManager.default.removeItem(at: first)
          try ChildProcess.runQuietly(["sync", "-f", library.path])
          sending.append(try stopwatch.time { try send(files, to: server) })
          guard try server.fetch("{}").count == count + 1 else {
            throw WrongAnswer(description: "The server does not show what was uploaded.")
          }
        }
        stage.remove(library)
      }
      let floor = Sample(copying)
      report.add(names[0], size: stage.size, caches: .warm, floor)
      report.add(names[1], size: stage.size, caches: .warm, Sample(asking))
      report.add(
        upload, size: stage.size, caches: .warm, Sample(sending), comparedWith: floor.quantile(0.5),
        goal: .atMost(1 / 0.6))
    #else
      print("S37 is left out: build with `swift build -c release --traits Gallery`.")
    #endif
  }
}

#if Gallery
  extension Uploading {
    /// Sends files, several at a time.
    private static func send(_ files: [URL], to server: ServedLibrary) throws {
      let (port, key) = (server.port, server.key)
      let next = Atomic(0)
      let failure = Mutex<(any Error)?>(nil)
      DispatchQueue.concurrentPerform(iterations: min(connectionCount, files.count)) { _ in
        while true {
          let index = next.add(1, ordering: .relaxed).oldValue
          guard index < files.count, failure.withLock({ $0 == nil }) else { return }
          do { try send(files[index], port, key) } catch { failure.withLock { $0 = error } }
        }
      }
      if let error = failure.withLock({ $0 }) { throw error }
    }

    private static func send(_ file: URL, _ port: UInt16, _ key: String) throws {
      let connection = try Exchange.connected(port)
      defer { close(connection) }
      let source = open(file.path, O_RDONLY | O_CLOEXEC)
      guard source >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .ENOENT) }
      defer { close(source) }
      var (status, sent) = (stat(), 0)
      guard fstat(source, &status) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
      try Exchange.send(
        connection,
        """
        POST /v1/uploads?name=\(file.lastPathComponent) HTTP/1.1\r\nHost: a\r\nConnection: close\r
        Authorization: Bearer \(key)\r\nContent-Length: \(status.st_size)\r\n\r\n
        """)
      while sent < Int(status.st_size) {
        let count = sendfile(connection, source, nil, Int(status.st_size) - sent)
        guard count > 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        sent += count
      }
      let answer = Exchange.answer(connection)
      guard answer.starts(with: Data("HTTP/1.1 201".utf8)) else {
        throw WrongAnswer(description: "An upload is answered: \(String(decoding: answer.prefix(500), as: UTF8.self))")
      }
    }

    // MARK: Files

    private static func fill(_ folder: URL, _ count: Int) throws -> [URL] {
      let noise = noise(size: fileSize)
      let files = try (0..<count).map { number in
        let file = folder.appending(path: "IMG_\(number).jpg")
        try photo(number, noise).write(to: file)
        return file
      }
      try ChildProcess.runQuietly(["sync", "-f", folder.path])
      return files
    }

    /// The headers of the other rows' photos, the start of a scan, its data, and the end of the picture.
    private static func photo(_ number: Int, _ noise: Data) -> Data {
      let scan: [UInt8] = [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0]
      return ImportingFiles.photo(number).dropLast(2) + Data(scan) + noise + Data([0xFF, 0xD9])
    }

    /// Bytes of which none begins a marker.
    private static func noise(size: Int) -> Data {
      var word = Stage.seed
      return Data(
        (0..<size).map { _ in
          word = word &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
          return UInt8(truncatingIfNeeded: word >> 56) & 0x7F
        })
    }
  }
#endif
