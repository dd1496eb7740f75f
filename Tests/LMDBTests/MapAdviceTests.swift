import Foundation
import Testing

@testable import LMDB

/// The advice that the kernel has for a map stands in /proc/self/smaps: "rr" for one that is read page by page.
@Suite("Advice about the map")
struct MapAdviceTests {
  /// What /proc/self/smaps says of the map of a store.
  private static func lines(ofMap path: String) throws -> ArraySlice<Substring> {
    let file = URL(filePath: path).resolvingSymlinksInPath().path + "/data.mdb"
    // Its length is said to be 0, so it is read to its end.
    let text = try #require(try FileHandle(forReadingAtPath: "/proc/self/smaps")?.readToEnd())
    let maps = String(decoding: text, as: UTF8.self).split(separator: "\n")
    let start = try #require(maps.firstIndex { $0.hasSuffix(file) })
    return maps[start...]
  }

  private static func isReadPageByPage(_ path: String) throws -> Bool {
    let flags = try #require(try lines(ofMap: path).first { $0.hasPrefix("VmFlags:") })
    return flags.split(separator: " ").contains("rr")
  }

  /// How many KiB of the store are mapped and in memory.
  private static func mappedCount(_ path: String) throws -> Int {
    let line = try #require(try lines(ofMap: path).first { $0.hasPrefix("Rss:") })
    return try #require(Int(line.split(separator: " ")[1]))
  }

  private static func options() -> Environment.Options {
    var options = Environment.Options()
    options.mapSize = 1 << 20
    options.durability = .unsafeNoSync
    return options
  }

  private static func fill(_ environment: Environment, _ rows: Range<UInt64>) throws -> Database {
    let database = try environment.database("d", integerKeys: true)
    try environment.write { t in for row in rows { try t.put(row, [1, 2, 3], in: database) } }
    return database
  }

  @Test("a map is read page by page until a cursor has come far, and so is the map that takes its place")
  func farCursor() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: Self.options())
      let database = try Self.fill(environment, 0..<3000)
      #expect(try Self.isReadPageByPage(path))
      func walk(_ count: Int) throws {
        var rest = count
        try environment.read { t in
          try t.forEach(in: database, from: 0) { (_, _) throws(LMDBError) in
            rest -= 1
            return rest > 0 ? .proceed : .stop
          }
        }
      }
      for _ in 0..<5 { try walk(1000) }
      #expect(try Self.isReadPageByPage(path), "Short walks, however many, are not a long one.")
      try walk(1500)
      #expect(try !Self.isReadPageByPage(path))
      let big = [UInt8](repeating: 7, count: 1 << 16)
      try environment.write { t in for row in 3000..<3040 as Range<UInt64> { try t.put(row, big, in: database) } }
      #expect(try Self.isReadPageByPage(path), "The map was grown, so it is another one.")
      try environment.read { t in t.readAround() }
      #expect(try !Self.isReadPageByPage(path))
    }
  }

  @Test("released pages are no longer mapped, also from a write transaction, and read as before")
  func lettingGo() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: Self.options())
      let database = try Self.fill(environment, 0..<3000)
      func read(_ t: borrowing some TransactionReading & ~Copyable) throws -> Int {
        var count = 0
        try t.forEach(in: database, from: 0) { (_, value) throws(LMDBError) in
          count += value.byteCount
          return .proceed
        }
        return count
      }
      try environment.read { t in
        #expect(try read(t) == 9000)
        let before = try Self.mappedCount(path)
        t.releasePages()
        // Another thread may read a page of the head at once.
        #expect(try before >= 64 && Self.mappedCount(path) < before / 2)
        #expect(try read(t) == 9000)
      }
      try environment.write { t in
        try t.put(3000, [1, 2, 3], in: database)
        #expect(try read(t) == 9003)
        let before = try Self.mappedCount(path)
        t.releasePages()
        #expect(try before >= 64 && Self.mappedCount(path) < before / 2)
        #expect(try read(t) == 9003)
      }
    }
  }

  @Test(
    "a fetch keeps its mapped pages in a process that has allocated as much as may be mapped, a single scan never",
    arguments: [(28, 99, false, false), (29, 27, true, true), (29, 28, true, false), (900, 10, true, true)])
  func keeping(mapped: Int64, allocated: Int64, once: Bool, again: Bool) {
    #expect(MapAdvice.lets(.once, go: mapped << 20, before: 0, allocated: allocated << 20) == once)
    #expect(MapAdvice.lets(.again, go: mapped << 20, before: 20 << 20, allocated: allocated << 20) == again)
  }

  @Test(
    "a program whose libraries are large keeps 8 MiB of the store mapped",
    arguments: [(28, 20, false), (29, 20, true), (33, 25, false), (34, 25, true), (48, 40, false), (49, 40, true)])
  func largePrograms(mapped: Int64, before: Int64, released: Bool) {
    #expect(MapAdvice.lets(.again, go: mapped << 20, before: before << 20, allocated: 0) == released)
    #expect(MapAdvice.lets(.once, go: mapped << 20, before: before << 20, allocated: 99 << 20) == released)
  }

  @Test("a copy of the store and an explicit hint cause readahead; an empty store has nothing to read")
  func copies() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path + "/store", options: Self.options())
      try environment.read { t in t.readAround() }
      #expect(try Self.isReadPageByPage(path + "/store"))
      _ = try Self.fill(environment, 0..<10)
      try environment.copy(to: path + "/copy")
      #expect(try !Self.isReadPageByPage(path + "/store"))
    }
  }
}
