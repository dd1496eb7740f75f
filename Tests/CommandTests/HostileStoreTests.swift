import Foundation
import LMDB
import StoreTestSupport
import TestSupport
import Testing

@testable import PhotoLedgerCommand

// A store is a file that anybody may have touched. Whatever it holds, a command ends with a sentence and exit status 1,
// or does what it was asked because the damage is not in its way; a signal never ends it, and what it refuses it leaves
// as it was, byte for byte.

@Suite("Hostile stores")
struct HostileStoreTests {
  /// The library that every test gets a copy of.
  private static let original: Result<AlbumCopy, any Error> = Result {
    try AlbumCopy(assetCount: 60) { sandbox, _ in
      let rebuilt = try sandbox.run(["rebuild"])
      #expect(rebuilt.status == 0)
    }
  }

  /// A store that the damage is done to, and its bytes before.
  final class Victim {
    let sandbox: Sandbox
    let sound: Data
    let asset: String
    let album: String
    var file: URL { URL(filePath: sandbox.library + "/store/data.mdb") }

    init() throws {
      let original = try HostileStoreTests.original.get()
      sandbox = try Sandbox(original.copy)
      (asset, album) = (original.asset, original.album)
      sound = try Data(contentsOf: URL(filePath: sandbox.library + "/store/data.mdb"))
    }

    /// Commands that only read.
    var readers: [[String]] {
      [
        ["ls"], ["ls", "--json", "--sort", "creationDate"], ["sections"], ["show", asset], ["ls", "--album", album],
        ["albums"], ["stat"], ["log", "--json"], ["log", "--asset", asset], ["history"], ["history", "token"],
        ["verify"], ["checkpoint"], ["prove", "inclusion", "5"], ["prove", "consistency", "5"],
        ["resource", "list", asset], ["resource", "check"], ["client", "list"], ["identifier", "cloud", asset],
      ]
    }

    /// Commands that write.
    var writers: [[String]] {
      [
        ["album", "create", "Hills"], ["favorite", asset], ["trash", asset], ["album", "delete", album], ["rebuild"],
        ["client", "register", "com.example.app"], ["caption", asset, "x"], ["apply"],
      ]
    }

    /// Runs a command on what the file holds now and checks how it ends.
    /// - Returns: its exit status.
    @discardableResult
    func run(_ words: [String], reads: Bool, _ what: String) throws -> Int32 {
      let before = try? Data(contentsOf: file)
      let input = words == ["apply"] ? #"{"changes":[{"op":"album.create","title":"x"}]}"# + "\n" : ""
      let result = try sandbox.run(words, input: input)
      #expect(
        result.status == 0 || result.status == 1, "\(words) on \(what): \(result.end) \(result.errors.suffix(300))")
      let after = try? Data(contentsOf: file)
      if result.status != 0 {
        #expect(Self.isTold(result, words), "\(words) on \(what) said: \(result.errors) \(result.output.suffix(200))")
      }
      if reads {
        #expect(after == before, "\(words) changed \(what)")
      } else if result.status != 0 {
        // A transaction that failed may have written into free pages; what commits it is a meta page, one of the first
        // two. A fault may also come after the commit.
        let isFault = result.errors.contains("(SIG")
        #expect(after?.prefix(8192) == before?.prefix(8192) || isFault, "\(words) committed on \(what)")
      }
      return result.status
    }

    /// Whether the failure was reported; some commands answer with what they found, on standard output.
    private static func isTold(_ result: RunResult, _ words: [String]) -> Bool {
      let told = result.errors.split(separator: "\n").last.map(String.init) ?? ""
      if told.hasPrefix("photoledger: ") || result.errors.contains("photoledger: "), told.hasSuffix(".") { return true }
      return ["verify", "apply", "resource", "identifier"].contains(words[0]) && !result.output.isEmpty
    }
  }

  /// Damage that no command can work with.
  enum Refused: String, CaseIterable {
    case empty, oneByte, text, onePage, metaPagesOnly, directory, zeroedMetaPages, otherPageSize, newerLMDB, foreign
    case newerStore, olderStore, newerLog, logWithoutFormat, noEvents, noFirstEvent
  }

  private func inflict(_ damage: Refused, on victim: Victim) throws {
    var data = victim.sound
    switch damage {
    case .empty: data = Data()
    case .oneByte: data = data.prefix(1)
    case .text: data = Data("This is no store, but a letter to somebody.\n".utf8)
    case .onePage: data = data.prefix(4096)
    case .metaPagesOnly: data = data.prefix(8192)
    case .directory:
      try FileManager.default.removeItem(at: victim.file)
      return try FileManager.default.createDirectory(at: victim.file, withIntermediateDirectories: false)
    case .zeroedMetaPages: data.replaceSubrange(0..<8192, with: Data(count: 8192))
    case .otherPageSize: data[40] = 7
    case .newerLMDB: for page in 0..<2 { data[page * 4096 + 20] = 2 }
    case .foreign:
      return try inStore(of: victim, isNew: true) { t, database in try t.put([1], [2], in: database("things")) }
    case .newerStore: return try put([0, 0, 0, 0, 0, 0, 0, 99], at: "format", "store.meta", victim)
    case .olderStore: return try put([0, 0, 0, 0, 0, 0, 0, 0], at: "format", "store.meta", victim)
    case .newerLog: return try put([0x18, 99], at: "format", "log.meta", victim)
    case .logWithoutFormat: return try put(nil, at: "format", "log.meta", victim)
    case .noEvents: return try inStore(of: victim) { t, database in try t.clear(database("events")) }
    case .noFirstEvent: return try inStore(of: victim) { t, database in _ = try t.delete(1, in: database("events")) }
    }
    try data.write(to: victim.file)
  }

  private func put(_ value: [UInt8]?, at key: String, _ table: String, _ victim: Victim) throws {
    try inStore(of: victim) { t, database in
      if let value {
        try t.put(Array(key.utf8), value, in: database(table))
      } else {
        _ = try t.delete(Array(key.utf8), in: database(table))
      }
    }
  }

  /// Writes into the store behind the library's back; a new one takes the place of what was there.
  private func inStore(
    of victim: Victim, isNew: Bool = false,
    _ body: (inout WriteTransaction, (String) -> Database) throws -> Void
  ) throws {
    if isNew { try FileManager.default.removeItem(at: victim.file) }
    let environment = try Environment.store(ofLibrary: victim.sandbox.library)
    let names = isNew ? ["things"] : try environment.databaseNames()
    let databases = try Dictionary(
      uniqueKeysWithValues: names.map {
        ($0, try environment.database($0, integerKeys: StoreDump.numbered.contains($0)))
      })
    try environment.write { t in try body(&t) { name in databases[name]! } }
    try environment.close()
  }

  @Test(
    "a file that is not a store, another program's, truncated or newer is rejected by every command, and unchanged",
    arguments: Refused.allCases)
  func refused(damage: Refused) throws {
    let victim = try Victim()
    try inflict(damage, on: victim)
    let others = [["watch"], ["import", victim.sandbox.folder.path]]
    // At the usual dose each kind of damage meets an eighth of the commands, another eighth than the next kind does.
    let number = Refused.allCases.firstIndex(of: damage) ?? 0
    for (index, words) in (victim.readers + victim.writers + others).enumerated()
    where Dose.isFull || (index + number) % 8 == 0 {
      let status = try victim.run(words, reads: true, damage.rawValue)
      #expect(status == 1, "\(words) worked on \(damage)")
    }
  }

  @Test("every existing command rejects such a store", arguments: [Refused.text, .newerStore])
  func everyCommand(damage: Refused) throws {
    let victim = try Victim()
    try inflict(damage, on: victim)
    let before = try Data(contentsOf: victim.file)
    let commands = Commands.all.filter { !["init", "demo", "prove check"].contains($0.name) }
    // At the usual dose every other command meets the one damage, and the rest the other.
    let number = damage == .text ? 0 : 1
    for (index, command) in commands.enumerated() where Dose.isFull || (index + number) % 2 == 0 {
      let words = Self.words(of: command.example)
      let result = try victim.sandbox.run(words)
      // An example may name a file that is not there, or need more than a line can show.
      #expect(result.status == 1 || result.status == 2, "\(words): \(result.end) \(result.output) \(result.errors)")
      #expect(result.errors.contains("photoledger: "), "\(words) said: \(result.errors)")
      #expect(try Data(contentsOf: victim.file) == before, "\(words) changed the file")
    }
  }

  /// The words of a command line, as a shell would part them, up to where it leads elsewhere.
  private static func words(of line: String) -> [String] {
    let quoted = line.split(separator: "'", omittingEmptySubsequences: false).enumerated()
    let words = quoted.flatMap { index, part in
      index % 2 == 1 ? [String(part)] : part.split(separator: " ").map(String.init)
    }
    return Array(words.prefix { ![">", "|", "<"].contains($0) })
  }

  /// Damage that a command may meet, or that is not in its way.
  enum Met: String, CaseIterable {
    case cutAtPages, cutInsidePages, zeroedPages, filledPages, swappedPages, flippedBytes, flippedHeads
  }

  private func damaged(_ damage: Met, _ sound: Data, _ random: inout SeededGenerator) -> (data: Data, what: String) {
    var data = sound
    let pages = sound.count / 4096
    let page = Int.random(in: 2..<pages, using: &random)
    switch damage {
    case .cutAtPages: data = data.prefix(page * 4096)
    case .cutInsidePages: data = data.prefix(page * 4096 + Int.random(in: 1..<4096, using: &random))
    case .zeroedPages: data.replaceSubrange(page * 4096..<(page + 1) * 4096, with: Data(count: 4096))
    case .filledPages: data.replaceSubrange(page * 4096..<(page + 1) * 4096, with: Data(repeating: 0xA5, count: 4096))
    case .swappedPages:
      let other = Int.random(in: 2..<pages, using: &random)
      data.replaceSubrange(page * 4096..<(page + 1) * 4096, with: sound[other * 4096..<(other + 1) * 4096])
      data.replaceSubrange(other * 4096..<(other + 1) * 4096, with: sound[page * 4096..<(page + 1) * 4096])
      return (data, "pages \(page) and \(other) swapped")
    case .flippedBytes:
      for _ in 0..<64 {
        data[Int.random(in: 0..<data.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
      }
    case .flippedHeads:
      // The head of a page and the first of its pointers to nodes, where LMDB believes what it reads.
      for page in 0..<pages {
        data[page * 4096 + Int.random(in: 8..<40, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
      }
    }
    return (data, "\(damage.rawValue) \(page)")
  }

  @Test(
    "a damaged file never crashes a command, and a command that only reads never changes it", arguments: Met.allCases
  )
  func met(damage: Met) throws {
    let victim = try Victim()
    var random = SeededGenerator(seed: 12)
    var failures = 0
    // One damage of each kind at the usual dose, and two of the last, so that every command meets one.
    let number = Met.allCases.firstIndex(of: damage) ?? 0
    let rounds = Dose.isFull ? Dose.of(3) : number == Met.allCases.count - 1 ? 2 : 1
    for round in number..<number + rounds {
      let (data, what) = damaged(damage, victim.sound, &random)
      let (readers, writers) = (victim.readers, victim.writers)
      let chosen = (0..<4).map { readers[(round * 4 + $0) % readers.count] }
      for (words, reads) in (chosen + [["verify"]]).map({ ($0, true) }) + [(writers[round % writers.count], false)] {
        try data.write(to: victim.file)
        failures += try victim.run(words, reads: reads, what) == 1 ? 1 : 0
      }
    }
    if Dose.isFull { #expect(failures > 5, "The damage was never met: the test proves nothing.") }
  }

  private static let tables = [
    "events", "commits", "assets", "details", "collections", "identifiers", "members", "containers",
  ]

  @Test("a truncated row in any table never crashes a command, and is reported where it matters", arguments: tables)
  func rows(table: String) throws {
    let victim = try Victim()
    try inStore(of: victim) { t, database in
      var rows: [([UInt8], [UInt8])] = []
      try t.forEach(in: database(table)) { (key, value) throws(LMDBError) in
        rows.append((key.withUnsafeBytes { Array($0) }, value.withUnsafeBytes { Array($0.prefix($0.count / 2)) }))
        return .proceed
      }
      for (key, value) in rows { try t.put(key, value, in: database(table)) }
    }
    let number = Self.tables.firstIndex(of: table) ?? 0
    for words in Self.share(victim.readers, number, of: 4) {
      try victim.run(words, reads: true, "half rows of \(table)")
    }
    #expect(try victim.run(["verify"], reads: true, "half rows of \(table)") == 1)
  }

  /// All commands; at the usual dose one of so many parts of them, another part for the next number.
  private static func share(_ commands: [[String]], _ number: Int, of partCount: Int) -> [[String]] {
    Dose.isFull ? commands : commands.indices.filter { ($0 + number) % partCount == 0 }.map { commands[$0] }
  }

  @Test(
    "pages that form a loop are quickly reported as damage by look-ups, file checks and writes",
    arguments: StorePages.Loop.allCases, ["assets", "details", "events"])
  func loops(loop: StorePages.Loop, table: String) throws {
    let victim = try Victim()
    var pages = try StorePages(victim.sandbox.library + "/store")
    pages.make(loop, from: try #require(pages.root(of: table)))
    try pages.write()
    let asset = victim.asset
    let all = [["resource", "check"], ["resource", "check", asset], ["show", asset], ["caption", asset, "x"]]
    for words in Self.share(all, table == "details" ? 1 : 0, of: 2) {
      let result = try victim.sandbox.run(words)
      #expect(result.status == 1 && result.output.isEmpty, "\(words): \(result.end) \(result.output)")
      #expect(result.errors.contains("damaged") && !result.errors.contains("(SIG"), "\(words): \(result.errors)")
    }
    #expect(try victim.run(["verify"], reads: true, "\(table), \(loop.rawValue)") == 1)
  }

  /// How the pages of a table are led to.
  enum Arrangement: CaseIterable { case firstOnly, lastOnly, reversed }

  @Test(
    "pages of assets that are referenced twice, or in another order, never end a command with a fault",
    arguments: Arrangement.allCases)
  func rearranged(arrangement: Arrangement) throws {
    let victim = try Victim()
    var pages = try StorePages(victim.sandbox.library + "/store")
    let root = try #require(pages.root(of: "assets"))
    try #require(pages.branches(from: root) == [root])
    pages.rearrange(from: root) { pages in
      switch arrangement {
      case .firstOnly: pages.map { _ in pages[0] }
      case .lastOnly: pages.map { _ in pages[pages.count - 1] }
      case .reversed: pages.reversed()
      }
    }
    try pages.write()
    let number = Arrangement.allCases.firstIndex(of: arrangement) ?? 0
    for words in Self.share(victim.readers, number, of: 3) {
      let result = try victim.sandbox.run(words)
      #expect(result.status == 0 || result.status == 1, "\(words): \(result.end)")
      #expect(!result.errors.contains("(SIG"), "\(words): \(result.errors)")
    }
    #expect(try victim.run(["verify"], reads: true, "\(arrangement)") == 1)
    guard arrangement != .lastOnly else { return }
    let result = try victim.sandbox.run(["resource", "check"])
    #expect(result.status == 1 && result.errors.contains("out of order"), "\(result.errors)")
  }

  @Test("a fault while the store is read is reported with the library's name and the signal")
  func fault() throws {
    let victim = try Victim()
    // Numbers of pages and of nodes that lead out of the map.
    var told: Set<Substring> = []
    var reported = 0
    // At the usual dose it ends where two were reported.
    for page in 2..<victim.sound.count / 4096 where Dose.isFull || reported < 2 {
      var data = victim.sound
      data.replaceSubrange(page * 4096..<(page + 1) * 4096, with: Data(repeating: 0xA5, count: 4096))
      try data.write(to: victim.file)
      let result = try victim.sandbox.run(["log", "--json"])
      #expect(result.status >= 0)
      guard let signal = result.errors.firstMatch(of: #/restore one \((SIG[A-Z]+)\)\.\n$/#) else { continue }
      told.insert(signal.output.1)
      reported += 1
      #expect(result.status == 1 && result.errors.contains(victim.sandbox.library))
      #expect(result.errors.contains("its file system in memory (tmpfs) is full"), "It may be sound.")
    }
    #expect(!told.isEmpty && told.isSubset(of: ["SIGBUS", "SIGSEGV", "SIGABRT"]))
  }

  @Test("a fault is reported for the stores that a command uses, and for no other")
  func places() throws {
    func places(_ words: [String]) throws -> [String] {
      let command = try #require(Commands.all.filter { words.starts(with: $0.words) }.max { $0.name < $1.name })
      let rest = Array(words.dropFirst(command.words.count))
      return command.places(try Invocation(command, rest, output: Output(descriptor: -1)))
    }
    #expect(try places(["ls", "--library", "/l"]) == ["/l"])
    #expect(try places(["album", "move", "A", "--at", "0", "--to", "1", "--library", "/l"]) == ["/l"])
    #expect(try places(["backup", "/b", "--library", "/l"]) == ["/l", "/b"])
    #expect(try places(["restore-here", "/b", "--to", "/r", "--library", "/l"]) == ["/b", "/r"])
    #expect(try places(["import-log-here", "lines", "--to", "/i", "--library", "/l"]) == ["/i"])
    #expect(try places(["import-log-here", "lines", "--append", "--library", "/l"]) == ["/l"])
    #expect(try places(["prove", "check", "/p"]).isEmpty)
  }
}
