import Foundation
import Testing

@testable import LMDB

@Suite("Rewriting a store")
struct RewritingTests {
  private static let secret = Array("a value that nobody may read again".utf8)

  /// A store with numbers and texts, of which some were deleted.
  private static func make(_ path: String) throws {
    let environment = try Environment.open(path: path)
    let numbers = try environment.database("numbers", integerKeys: true)
    let texts = try environment.database("texts")
    try environment.write { t in
      for number in UInt64(0)..<500 { try t.put(number, number == 77 ? secret : Array("\(number)".utf8), in: numbers) }
      for number in 0..<500 {
        try t.put(Array("key \(number)".utf8), Array(repeating: UInt8(number % 251), count: 300), in: texts)
      }
      try t.put(Array("secret".utf8), secret + Array(repeating: 1, count: 9000), in: texts)
    }
    try environment.write { t in
      _ = try t.delete(77, in: numbers)
      _ = try t.delete(Array("secret".utf8), in: texts)
    }
    try environment.close()
  }

  private static func holds(_ bytes: [UInt8], in file: String) throws -> Bool {
    try Data(contentsOf: URL(filePath: file)).range(of: Data(bytes)) != nil
  }

  @Test("no byte of a deleted value remains, and every entry is unchanged")
  func rewrites() throws {
    let folder = try TemporaryFolder()
    let path = folder.place("store").path
    try Self.make(path)
    #expect(try Self.holds(Self.secret, in: path + "/data.mdb"))
    let before = try Self.dump(path)
    var told: [UInt64] = []
    let rewriting = try Environment.rewrite(
      path: path,
      progress: { done, total in
        told.append(done)
        return done <= total
      })
    let done = try #require(rewriting)
    #expect(try !Self.holds(Self.secret, in: path + "/data.mdb"))
    #expect(try Self.dump(path).difference(from: before) == nil)
    #expect(done.entryCount == 999 && told.last == 999)
    #expect(done.bytesAfter < done.bytesBefore)
    #expect(try FileManager.default.contentsOfDirectory(atPath: path).sorted() == ["data.mdb", "lock.mdb"])
  }

  @Test("an open store is not rewritten, and is open again afterwards as it was")
  func open() throws {
    let folder = try TemporaryFolder()
    let path = folder.place("store").path
    try Self.make(path)
    let environment = try Environment.open(path: path)
    let error = #expect(throws: LMDBError.self) { try Environment.rewrite(path: path) }
    #expect(error?.code == .busy)
    let numbers = try environment.database("numbers", integerKeys: true)
    #expect(try environment.read { t in try t.count(of: numbers) } == 499)
    try environment.close()
    #expect(try Environment.rewrite(path: path) != nil)
  }

  @Test("where the new file cannot be written, the error is about the store, which is unchanged")
  func unwritable() async throws {
    let folder = try TemporaryFolder()
    let path = folder.place("store").path
    try Self.make(path)
    let before = try Self.dump(path)
    await #expect(processExitsWith: .success) { [path = path as String] in
      // As where the disk is full: the new file has room for its first pages.
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: 1 << 16, rlim_max: 1 << 16)
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      let error = #expect(throws: LMDBError.self) { try Environment.rewrite(path: path) }
      #expect(error?.path == path && error?.description.contains("the store is unchanged") == true)
    }
    #expect(try Self.dump(path).difference(from: before) == nil)
  }

  @Test("an error of a store that is made for a while has neither its folder nor its unknown outcome")
  func scratch() {
    var error = LMDBError(code: ENOSPC, "mdb_txn_commit", path: "/l/store/.shadow.photoledger-1.1")
    error.outcomeUnknown = true
    let own = error.ofScratch(in: "/l/store")
    #expect(own.code == .diskFull && own.advice == .retry && own.path == "/l/store")
    #expect(own.description.contains("the disk is full, and the store is unchanged; free some space and try again"))
    #expect(!own.description.contains("outcome") && !own.description.contains("reading still works"))
    #expect(error.ofScratch(in: "/l/sto") == error)
    #expect(LMDBError(code: ENOSPC, "mdb_txn_commit", path: "/l/store").ofScratch(in: "/l/store").path == "/l/store")
  }

  @Test("a store cannot be opened while another caller holds it exclusively")
  func alone() throws {
    let folder = try TemporaryFolder()
    let path = folder.place("store").path
    try Self.make(path)
    let usage = try StoreUsage(of: path, alone: true)
    let error = #expect(throws: LMDBError.self) { try Environment.open(path: path) }
    #expect(error?.code == .busy)
    withExtendedLifetime(usage) {}
  }

  @Test("another thread cannot open a store while it is rewritten, so nothing is committed to the old file")
  func openedMeanwhile() throws {
    let folder = try TemporaryFolder()
    let path = folder.place("store").path
    try Self.make(path)
    var errors: [LMDBError] = []
    let rewriting = try Environment.rewrite(
      path: path,
      check: { _, _ in
        let error = #expect(throws: LMDBError.self) { try Environment.open(path: path) }
        if let error { errors.append(error) }
      })
    #expect(rewriting != nil)
    #expect(errors.map(\.code) == [.busy] && errors[0].description.contains("rewritten"))
    try Environment.open(path: path).close()
  }

  @Test("a store can be rewritten after its reopening failed")
  func reopeningFailed() throws {
    let folder = try TemporaryFolder()
    let path = folder.place("store").path
    try Self.make(path)
    let environment = try Environment.open(path: path)
    let (data, copy) = (path + "/data.mdb", folder.place("copy").path)
    try FileManager.default.copyItem(atPath: data, toPath: copy)
    try FileManager.default.removeItem(atPath: data)
    try FileManager.default.moveItem(atPath: copy, toPath: data)
    let error = #expect(throws: LMDBError.self) { try environment.reopen() }
    #expect(error?.code == .fileReplaced)
    #expect(throws: LMDBError.self) { try environment.close() }
    #expect(try Environment.rewrite(path: path) != nil)
    withExtendedLifetime(environment) {}
  }

  @Test("what was closed is released although a child that is being started has a copy of its descriptors")
  func copied() throws {
    let folder = try TemporaryFolder()
    let path = folder.place("store").path
    try Self.make(path)
    var usage: StoreUsage? = try StoreUsage(of: path, alone: false)
    // What fork does to the descriptors of this process: the copies share the lock.
    let real = URL(filePath: path).resolvingSymlinksInPath().path
    let copies = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap(Int32.init).filter {
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == real
    }.map { fcntl($0, F_DUPFD_CLOEXEC, 0) }
    defer { for copy in copies { close(copy) } }
    #expect(copies.count == 1 && copies[0] >= 0)
    #expect(throws: LMDBError.self) { try StoreUsage(of: path, alone: true) }
    withExtendedLifetime(usage) {}
    usage = nil
    #expect(try Environment.rewrite(path: path) != nil)
  }

  @Test("a child of a fork that releases its copy leaves the lock to its parent")
  func forked() async throws {
    let folder = try TemporaryFolder()
    let path = folder.place("store").path
    try Self.make(path)
    await #expect(processExitsWith: .success) { [path = path as String] in
      typealias Fork = @convention(c) () -> pid_t
      guard let symbol = dlsym(nil, "fork") else { exit(2) }
      let fork = unsafeBitCast(symbol, to: Fork.self)  // hidden from Swift, and here on purpose
      // Released by hand, since the compiler drops a release that nothing but the end of the process follows.
      func retained() throws -> Unmanaged<StoreUsage> { .passRetained(try StoreUsage(of: path, alone: false)) }
      let usage = try retained()
      let child = fork()
      if child == 0 {
        usage.release()
        _exit(42)
      }
      var status: Int32 = 0
      guard waitpid(child, &status, 0) == child, status == 42 << 8 else { exit(3) }
      guard (try? StoreUsage(of: path, alone: true)) == nil else { exit(4) }
      usage.release()
    }
  }

  @Test(
    "a rewrite that is stopped, or fails its check, leaves the old store and nothing else", arguments: [true, false])
  func stopped(byProgress: Bool) throws {
    let folder = try TemporaryFolder()
    let path = folder.place("store").path
    try Self.make(path)
    let before = try Data(contentsOf: URL(filePath: path + "/data.mdb"))
    if byProgress {
      let rewriting = try Environment.rewrite(path: path, progress: { _, _ in false })
      #expect(rewriting == nil)
    } else {
      struct Refused: Error {}
      #expect(throws: Refused.self) { try Environment.rewrite(path: path, check: { _, _ in throw Refused() }) }
    }
    #expect(try Data(contentsOf: URL(filePath: path + "/data.mdb")) == before)
    #expect(!FileManager.default.fileExists(atPath: path + "/rewriting"))
  }

  @Test("files left by a killed rewrite are removed by the next one")
  func leftovers() throws {
    let folder = try TemporaryFolder()
    let path = folder.place("store").path
    try Self.make(path)
    try FileManager.default.createDirectory(atPath: path + "/rewriting", withIntermediateDirectories: true)
    try Data("half a file".utf8).write(to: URL(filePath: path + "/rewriting/data.mdb"))
    #expect(try Environment.rewrite(path: path) != nil)
    #expect(!FileManager.default.fileExists(atPath: path + "/rewriting"))
  }

  private static func dump(_ path: String) throws -> Dump {
    let environment = try Environment.open(path: path)
    defer { try? environment.close() }
    return try Dump(environment)
  }

  /// The entries of both databases.
  private struct Dump {
    var entries: [[[UInt8]]] = []

    init(_ environment: Environment) throws {
      for (name, isNumbered) in [("numbers", true), ("texts", false)] {
        let database = try environment.database(name, integerKeys: isNumbered, create: false)
        try environment.read { t in
          try t.forEach(in: database) { (key, value) throws(LMDBError) in
            entries.append([key.withUnsafeBytes { Array($0) }, value.withUnsafeBytes { Array($0) }])
            return .proceed
          }
        }
      }
    }

    func difference(from other: Dump) -> String? { entries == other.entries ? nil : "the entries differ" }
  }
}
