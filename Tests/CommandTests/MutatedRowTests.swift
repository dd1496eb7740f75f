import EventLog
import Foundation
import LMDB
import TestSupport
import Testing

// Rows that no writer made: numbers as large as there are, keys that lead elsewhere, bytes too few and too many. The
// pages of the store are sound, so nothing but a row is in the way: a command answers, or ends with a sentence and
// status 1, and never by a trap.

@Suite("Mutated rows")
struct MutatedRowTests {
  /// How many rows are altered, one at a time; each command is tried on two and more of them.
  static var mutations: Int { Dose.of(6) }

  /// What a number becomes.
  private static let extremes: [UInt64] = [
    0, 1, 1 << 31, 1 << 32, 1 << 40, 1 << 62, 1 << 62 + 1, 1 << 63 - 1, 1 << 63, .max - 1, .max,
  ]
  /// The tables whose values are CBOR.
  private static let encoded: Set<String> = [
    "events", "commits", "keys", "log.meta", "details", "collections", "clients", "picks",
  ]

  private let sandbox: Sandbox
  private let sound: Data
  private let asset: String
  private let album: String
  private var file: URL { URL(filePath: sandbox.library + "/store/data.mdb") }

  /// The library that every test gets a copy of.
  private static let original: Result<AlbumCopy, any Error> = Result {
    try AlbumCopy(assetCount: 20) { sandbox, asset in
      let folder = try sandbox.run(["folder", "create", "Years"]).lines.first
      #expect(folder != nil)
      #expect(try sandbox.run(["client", "register", "com.example.app"]).status == 0)
      #expect(try sandbox.run(["trash", asset]).status == 0)
    }
  }

  init() throws {
    let original = try Self.original.get()
    sandbox = try Sandbox(original.copy)
    (asset, album) = (original.asset, original.album)
    sound = try Data(contentsOf: URL(filePath: sandbox.library + "/store/data.mdb"))
  }

  /// Every entry point that reads, and a few that write.
  private var commands: [[String]] {
    [
      ["ls", "--json"], ["log", "--json"], ["history"], ["undo", "--all", "--dry-run"], ["snapshots", "make"],
      ["verify"], ["show", asset], ["albums"], ["stat"], ["log", "--client", "owner"], ["sections"], ["checkpoint"],
      ["prove", "inclusion", "5", "--record"], ["prove", "consistency", "5"], ["resource", "check"],
      ["client", "list"],
      ["identifier", "cloud", asset], ["blame", album], ["ls", "--album", album], ["log", "--asset", asset],
      ["history", "--as", "com.example.app"], ["export"], ["rebuild"], ["album", "add", album, asset],
      ["ls", "--sort", "creationDate"], ["restore", asset], ["history", "token"], ["diff", "1", "now", "--json"],
    ]
  }

  @Test("a row that was altered is answered or reported as damage by every command, never by a trap")
  func mutations() throws {
    var random = SeededGenerator(seed: 15)
    let commands = commands
    var told = 0
    for round in 0..<Self.mutations {
      try sound.write(to: file)
      let what = try alter(&random)
      for each in 0..<3 {
        let words = commands[(round * 3 + each) % commands.count]
        let result = try sandbox.run(words)
        #expect(
          (result.status == 0 || result.status == 1) && !result.errors.contains("(SIG"),
          "\(words) on \(what): \(result.end) \(result.errors.suffix(400))")
        told += result.status == 1 ? 1 : 0
      }
    }
    #expect(told > 0 || !Dose.isFull, "No alteration was met: the test proves nothing.")
  }

  /// The first event of a commit, and how many it has.
  private static let commitRows: [(UInt64, UInt64)] = [
    (1, .max), (.max, 1), (.max, .max), (1 << 63, 1), (2, 1 << 63), (1 << 62, 1 << 62), (0, 1), (2, 0), (3, 1),
    (2, 1 << 40),
  ]

  @Test(
    "a commit row with numbers that no log reaches is damage to every command that reads commits",
    arguments: commitRows)
  func commitRow(first: UInt64, count: UInt64) throws {
    let environment = try Environment.store(ofLibrary: sandbox.library)
    let commits = try environment.database("commits", integerKeys: true, create: false)
    try environment.write { t in
      let row = try #require(try t.bytes(for: 2, in: commits))
      guard case .array(var items) = try CBOR(decoding: row.span.bytes) else { throw CocoaError(.coderInvalidValue) }
      (items[0], items[1]) = (.unsigned(first), .unsigned(count))
      try t.put(2, CBOR.array(items).encoded.span.bytes, in: commits)
    }
    try environment.close()
    let number = Self.commitRows.firstIndex { $0 == (first, count) } ?? 0
    // At the usual dose every other row meets a command; those that must fail meet all.
    let others = [
      ["log", "--client", "owner"], ["log"], ["undo", "--all", "--dry-run"], ["snapshots", "make"],
      ["diff", "1", "now", "--json"], ["diff", "now", "2"],
    ]
    let chosen = others.indices.filter { Dose.isFull || ($0 + number) % 2 == 0 }.map { others[$0] }
    for words in [["history"], ["verify"]] + chosen {
      let result = try sandbox.run(words)
      #expect(
        (result.status == 0 || result.status == 1) && !result.errors.contains("(SIG"),
        "\(words): \(result.end) \(result.errors)")
      if words == ["verify"] || words == ["history"] { #expect(result.status == 1, "\(words): \(result.output)") }
    }
  }

  @Test("folders that contain each other are damage, and no traversal of them is endless")
  func folders() throws {
    let ids = try (0..<2).map { try #require(try sandbox.run(["folder", "create", "\($0)"]).lines.first) }
    #expect(try sandbox.run(["folder", "insert", ids[0], ids[1]]).status == 0)
    let environment = try Environment.store(ofLibrary: sandbox.library)
    let members = try environment.database("members", create: false)
    try environment.write { t in
      var rows: [([UInt8], [UInt8])] = []
      try t.forEach(in: members) { (key, value) throws(LMDBError) in
        rows.append((key.withUnsafeBytes { Array($0) }, value.withUnsafeBytes { Array($0) }))
        return .proceed
      }
      // Each child of the top level has itself as a child too.
      for (key, value) in rows where key[7] == 1 { try t.put(value + key[8...], value, in: members) }
    }
    try environment.close()
    let result = try sandbox.run(["albums"])
    #expect(result.status == 1 && result.errors.contains("inside itself"), "\(result.end) \(result.errors)")
  }

  // MARK: Altering

  /// Alters one row and says which.
  private func alter(_ random: inout SeededGenerator) throws -> String {
    let environment = try Environment.store(ofLibrary: sandbox.library)
    defer { try? environment.close() }
    let names = try environment.databaseNames()
    while true {
      let name = names.randomElement(using: &random) ?? ""
      let isNumbered = StoreDump.numbered.contains(name)
      let database = try environment.database(name, integerKeys: isNumbered, create: false)
      let rows = try environment.read { t in
        var rows: [(key: [UInt8], value: [UInt8])] = []
        try t.forEach(in: database) { (key, value) throws(LMDBError) in
          rows.append((key.withUnsafeBytes { Array($0) }, value.withUnsafeBytes { Array($0) }))
          return .proceed
        }
        return rows
      }
      guard let row = rows.randomElement(using: &random) else { continue }
      var (key, value) = row
      if Self.encoded.contains(name), let altered = Self.altered(encoded: value, &random) {
        value = altered
      } else if !isNumbered, value.isEmpty || Bool.random(using: &random) {
        key = Array(Self.altered(key, &random).prefix(511))
      } else {
        value = Self.altered(value, &random)
      }
      guard !key.isEmpty else { continue }
      try environment.write { t in
        if key != row.key { _ = try t.delete(row.key, in: database) }
        try t.put(key, value, in: database)
      }
      return "\(name) \(row.key): \(row.value.prefix(200)) became \(key): \(value.prefix(200))"
    }
  }

  /// The bytes with a word, a byte or their number altered.
  private static func altered(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = bytes
    let way = bytes.isEmpty ? 3 : Int.random(in: 0..<8, using: &random)
    if way < 4, bytes.count >= 8 {
      let place = Int.random(in: 0..<bytes.count / 8, using: &random) * 8
      let number = extremes.randomElement(using: &random) ?? 0
      let word = Bool.random(using: &random) ? number.bigEndian : number
      withUnsafeBytes(of: word) { bytes.replaceSubrange(place..<place + 8, with: $0) }
    } else if way < 6, !bytes.isEmpty {
      bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
    } else if way == 6 {
      bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
    } else {
      bytes += [0, 1, 2]
    }
    return bytes
  }

  /// CBOR with one of its numbers altered, or one in the payload that it holds; nil if the bytes are not CBOR.
  private static func altered(encoded bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8]? {
    guard let value = try? CBOR(decoding: bytes.span.bytes) else { return nil }
    var count = 0
    _ = mapped(value) { number in
      count += 1
      return number
    }
    guard count > 0 else { return nil }
    let chosen = Int.random(in: 0..<count, using: &random)
    var index = 0
    let altered = mapped(value) { number in
      defer { index += 1 }
      return index == chosen ? Self.altered(number, &random) : number
    }
    return altered.encoded
  }

  private static func altered(_ number: CBOR, _ random: inout SeededGenerator) -> CBOR {
    let other = extremes.randomElement(using: &random) ?? 0
    switch number {
    case .double: return .double([.nan, .infinity, -0x1p63, 1e300, -1e300, 0].randomElement(using: &random) ?? 0)
    case .bytes(let bytes):
      if bytes.count > 4, let altered = altered(encoded: bytes, &random) { return .bytes(altered) }
      return .bytes(altered(bytes, &random))
    default: return Bool.random(using: &random) ? .unsigned(other) : .negative(other)
    }
  }

  /// The value with a function of each of its numbers and byte strings.
  private static func mapped(_ value: CBOR, _ change: (CBOR) -> CBOR) -> CBOR {
    switch value {
    case .unsigned, .negative, .double, .bytes: return change(value)
    case .array(let items): return .array(items.map { mapped($0, change) })
    case .map(let pairs):
      return .map(
        pairs.map { pair in
          var pair = pair
          pair.value = mapped(pair.value, change)
          return pair
        })
    default: return value
    }
  }
}
