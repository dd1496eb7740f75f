import Foundation
import Glibc
import MediaImport
import PhotoLedger

/// S30 to S33: the server, as a process that clients reach over TCP.
///
/// The floor is a program of a hundred lines over libmicrohttpd ([floor.c](../FloorServer/floor.c)) that answers the
/// very same bytes, with the same head, to the same requests. `wrk` sends them; it shares the machine with the server,
/// as the floor's does.
enum Serving {
  /// What is asked for, and what part of the floor's requests a second it should reach.
  private struct Question {
    let name: String
    let path: String
    let goal: Goal?
    var connections = 32
  }

  private static let small = "S30 server, sections of everything by month"
  private static let item = "S30 server, one asset"
  private static let window = "S31 server, window of 200 as columns"
  private static let windows = "S31 server, windows of 200 as columns at random places"
  private static let smallFile = "S32 server, file of 20 KB"
  private static let largeFile = "S32 server, file of 10 MB"
  private static let rendition = "S32 server, small rendition"
  private static let idle = "S33 server, memory of an idle feed"
  private static let idleTime = "S33 server, processor time of idle feeds, a second"
  private static let delivery = "S34 server, commit to the last of the feeds"
  private static let memory = "S35 server, memory with 100 feeds of 10 fetches"

  /// The rows of windows that no floor is compared with.
  private static let windowNames = [
    "\(window), alone", "\(window), slowest of a hundred", windows, "\(windows), slowest of a hundred",
    "\(windows), alone",
  ]

  static let names =
    [item, small, window, smallFile, largeFile, rendition].flatMap { ["\($0), floor", $0] } + windowNames
    + [idle, idleTime, "\(delivery), floor", delivery, memory]

  static func measure(_ stage: Stage, into report: inout Report) throws {
    guard report.wantsAny(of: names) else { return }
    #if Gallery
      guard let wrk = ["/usr/bin/wrk", "/usr/local/bin/wrk"].first(where: FileManager.default.isExecutableFile) else {
        return print("S30 to S35 are left out: wrk is not installed; `apt-get install wrk` brings it.")
      }
      guard let program = try ChildProcess.program(beside: "photoledger"),
        let floor = try ChildProcess.program(beside: "floor-server")
      else {
        return print("S30 to S35 are left out: build with `swift build -c release --traits Gallery`.")
      }
      stage.close()
      try measureRequests(stage, wrk, program, floor, into: &report)
      try measureFiles(stage, wrk, program, floor, into: &report)
      try measureFeeds(stage, program, floor, into: &report)
    #else
      print("S30 to S35 are left out: build with `swift build -c release --traits Gallery`.")
    #endif
  }
}

#if Gallery
  extension Serving {
    private static func measureRequests(
      _ stage: Stage, _ wrk: String, _ program: String, _ floor: String, into report: inout Report
    ) throws {
      let server = try ServedLibrary(program, stage.diskFolder.path)
      defer { server.stop() }
      let newest = try server.fetch(#"{"sort":["creationDate:desc"]}"#)
      let first = try server.json("GET", "/v1/fetches/\(newest.name)/items?count=1&token=\(newest.token)")
      guard let items = first["items"] as? [[String: Any]], let id = items.first?["localIdentifier"] as? String,
        newest.count == stage.shown.count
      else { throw WrongAnswer(description: "The server shows \(newest.count) assets of \(stage.shown.count).") }
      let asset = id.prefix { $0 != "/" }
      let middle = newest.count / 2
      let questions = [
        Question(name: item, path: "/v1/assets/\(asset)", goal: .atMost(2.5)),
        Question(
          name: small, path: "/v1/fetches/\(newest.name)/sections?by=month&token=\(newest.token)", goal: .atMost(2.5)),
        Question(
          name: window,
          path: "/v1/fetches/\(newest.name)/items?form=columns&start=\(middle)&count=200&token=\(newest.token)",
          goal: nil),
      ]
      for question in questions {
        let rows = [question.name, "\(question.name), floor"] + (question.name == window ? windowNames : [])
        guard report.wantsAny(of: rows) else { continue }
        let file = stage.path("answer")
        defer { stage.remove(file) }
        try server.bytes("GET", question.path).write(to: file)
        let base = try FloorServer(floor, [file.path], fields: server.fields(question.path))
        defer { base.stop() }
        let turns = try turns(wrk, question, server, base)
        add(question.name, turns, question.goal, stage, &report)
        guard question.name == window else { continue }
        try measureWindows(stage, wrk, server, newest, into: &report)
        report.add(
          "\(window), slowest of a hundred", size: stage.size, caches: .warm, Sample(turns.map(\.own.slowest)),
          goal: .microseconds(5000))
        let alone = try (0..<3).map { _ in try Load(wrk, server.url(question.path), server.key, connections: 1).request
        }
        report.add("\(window), alone", size: stage.size, caches: .warm, Sample(alone), goal: .microseconds(500))
      }
    }

    /// Windows that begin anywhere, which the server spells for each request: it holds as bytes what it spelled lately,
    /// and of a million begins it holds few.
    private static func measureWindows(
      _ stage: Stage, _ wrk: String, _ server: ServedLibrary, _ fetch: (name: String, token: String, count: Int),
      into report: inout Report
    ) throws {
      let script = stage.path("windows.lua")
      defer { stage.remove(script) }
      let path = "/v1/fetches/\(fetch.name)/items?form=columns&count=200&token=\(fetch.token)&start="
      let line = #"return wrk.format("GET", "\#(path)" .. math.random(0, \#(max(0, fetch.count - 200))))"#
      try Data("request = function() \(line) end\n".utf8).write(to: script)
      func loads(_ connections: Int) throws -> [Load] {
        try (0..<3).map { _ in
          try Load(wrk, server.url(path + "0"), server.key, connections: connections, script: script.path)
        }
      }
      let crowded = try loads(32)
      report.add(windows, size: stage.size, caches: .warm, Sample(crowded.map(\.request)))
      report.add(
        "\(windows), slowest of a hundred", size: stage.size, caches: .warm, Sample(crowded.map(\.slowest)),
        goal: .microseconds(5000))
      let alone = try loads(1)
      report.add(
        "\(windows), alone", size: stage.size, caches: .warm, Sample(alone.map(\.request)), goal: .microseconds(500))
    }

    /// A file of the library, and the row that asks for it.
    private struct ServedFile {
      let name: String
      let filename: String
      let bytes: Data
      /// Whether its small rendition is asked for, which is in the cache by then, instead of the file.
      var isRendition = false

      func path(_ asset: Substring, _ hash: String) -> String {
        "/v1/assets/\(asset)/\(isRendition ? "renditions/\(hash)/r3/small" : "resources/\(hash)")"
      }
    }

    private static func servedFiles(_ stage: Stage, _ report: Report) throws -> [ServedFile] {
      var files = [(smallFile, 20_000), (largeFile, 10_000_000)].enumerated().map { index, file in
        let bytes = Data((0..<file.1).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ index) })
        return ServedFile(name: file.0, filename: "\(index).bin", bytes: bytes)
      }
      if MediaRenderer().makesPictures {
        let folder = stage.path("photo")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { stage.remove(folder) }
        let photo = try Data(contentsOf: Renditions.invent(0, 1600, 1200, in: folder))
        files.append(ServedFile(name: rendition, filename: "photo.jpg", bytes: photo, isRendition: true))
      } else if report.wantsAny(of: [rendition]) {
        print("\(rendition): left out, since libvips-tools is not installed.")
      }
      return files
    }

    /// Files of a library of their own: those of the invented one do not exist.
    private static func measureFiles(
      _ stage: Stage, _ wrk: String, _ program: String, _ floor: String, into report: inout Report
    ) throws {
      guard report.wantsAny(of: [smallFile, largeFile, rendition].flatMap { ["\($0), floor", $0] }) else { return }
      let folder = stage.path("served")
      defer { stage.remove(folder) }
      let files = try servedFiles(stage, report)
      do {
        let library = try PhotoLibrary.create(at: folder)
        defer { library.close() }
        for file in files {
          let draft = ResourceDraft(type: .photo, source: .data(file.bytes), originalFilename: file.filename)
          try library.performChangesAndWait { $0.createAsset(AssetCreation(mediaType: .image, resources: [draft])) }
        }
      }
      let server = try ServedLibrary(program, folder.path)
      defer { server.stop() }
      let all = try server.fetch("{}")
      let window = try server.json("GET", "/v1/fetches/\(all.name)/items?count=\(files.count)&token=\(all.token)")
      for (index, served) in files.enumerated() where report.wantsAny(of: ["\(served.name), floor", served.name]) {
        guard let items = window["items"] as? [[String: Any]], items.count == files.count,
          let id = items[index]["localIdentifier"] as? String,
          let resources = items[index]["resources"] as? [[String: Any]],
          let hash = resources.first?["sha256"] as? String
        else { throw WrongAnswer(description: "The server does not show the files: \(window)") }
        let path = served.path(id.prefix { $0 != "/" }, hash)
        let file = stage.path("answer")
        defer { stage.remove(file) }
        let answer = try server.bytes("GET", path)
        guard served.isRendition ? answer.starts(with: [0xFF, 0xD8, 0xFF]) : answer == served.bytes else {
          throw WrongAnswer(description: "\(path) answers \(answer.count) bytes, which are not those of the file.")
        }
        try answer.write(to: file)
        let base = try FloorServer(floor, [file.path], fields: server.fields(path))
        defer { base.stop() }
        let question = Question(
          name: served.name, path: path, goal: .atMost(1 / 0.85), connections: answer.count > 1 << 20 ? 8 : 32)
        add(served.name, try turns(wrk, question, server, base), question.goal, stage, &report)
      }
    }

    private typealias Turn = (own: Load, floor: Load)

    private static func turns(
      _ wrk: String, _ question: Question, _ server: ServedLibrary, _ base: FloorServer
    ) throws -> [Turn] {
      try (0..<3).map { _ in
        // The same request, but for two characters: the floor reads as long a head.
        let floor = try Load(wrk, base.url(0) + question.path, server.key, connections: question.connections)
        return (try Load(wrk, server.url(question.path), server.key, connections: question.connections), floor)
      }
    }

    private static func add(_ name: String, _ turns: [Turn], _ goal: Goal?, _ stage: Stage, _ report: inout Report) {
      let base = Sample(turns.map(\.floor.request))
      report.add("\(name), floor", size: stage.size, caches: .warm, base)
      report.add(
        name, size: stage.size, caches: .warm, Sample(turns.map(\.own.request)), comparedWith: base.quantile(0.5),
        goal: goal)
    }

    // MARK: Feeds

    private static func measureFeeds(
      _ stage: Stage, _ program: String, _ floor: String, into report: inout Report
    ) throws {
      guard report.wantsAny(of: [idle, idleTime, delivery, "\(delivery), floor", memory]) else { return }
      let isLarge = stage.size >= Goal.leastSize
      try measureIdle(stage, program, count: isLarge ? 10_000 : 50, into: &report)
      try measureDelivery(stage, program, floor, count: isLarge ? 1000 : 20, into: &report)
      let server = try ServedLibrary(program, stage.diskFolder.path)
      defer { server.stop() }
      let fetches = try (0..<10).map { number in
        try server.fetch(#"{"where":"pixelWidth > \#(number)","sort":["creationDate:desc"]}"#)
      }
      let query =
        fetches.map { "fetch=\($0.name)" }.joined(separator: "&") + "&"
        + fetches.map { "after=\($0.token)" }.joined(separator: "&")
      let feeds = try (0..<(isLarge ? 100 : 5)).map { _ in try OpenFeed(server, "/v1/feed?\(query)") }
      try waitUntilQuiet(server)
      report.add(memory, size: stage.size, bytes: try server.anonymousBytes(), goal: .bytes(256 << 20))
      for feed in feeds { feed.close() }
    }

    private static func measureIdle(
      _ stage: Stage, _ program: String, count: Int, into report: inout Report
    ) throws {
      let server = try ServedLibrary(program, stage.diskFolder.path)
      defer { server.stop() }
      let all = try server.fetch("{}")
      let path = "/v1/feed?fetch=\(all.name)&after=\(all.token)"
      let first = try OpenFeed(server, path)
      defer { first.close() }
      try waitUntilQuiet(server)
      let before = try server.anonymousBytes()
      let feeds = try (0..<count).map { _ in try OpenFeed(server, path) }
      defer { for feed in feeds { feed.close() } }
      try waitUntilQuiet(server)
      let grown = max(1, try server.anonymousBytes() - before)
      report.add(idle, size: stage.size, bytes: grown / count, goal: .bytes(20 << 10))
      let start = try server.processorSeconds()
      sleep(5)
      let spent = (try server.processorSeconds() - start) / 5
      report.add(
        idleTime, size: stage.size, caches: .warm, Sample([max(1, spent * 1e9)]), goal: .microseconds(10_000))
    }

    /// From before a commit until the last feed has the `change` that leads to it.
    ///
    /// The library publishes a commit before it returns, so a clock that starts afterwards starts too late. The floor's
    /// clock starts before the same commit, after which its connections are resumed.
    private static func measureDelivery(
      _ stage: Stage, _ program: String, _ floor: String, count: Int, into report: inout Report
    ) throws {
      let library = try PhotoLibrary(at: URL(filePath: stage.diskFolder.path))
      defer { library.close() }
      guard let asset = try library.fetchAssets().first else { throw WrongAnswer(description: "There is no asset.") }
      var isFavorite = asset.isFavorite
      func commit() throws -> String {
        isFavorite.toggle()
        return try library.performChangesAndWait { $0.setFavorite(isFavorite, for: [asset.id]) }.token.description
      }
      let floors = try measureResumed(floor, count: count) { _ = try commit() }
      let server = try ServedLibrary(program, stage.diskFolder.path)
      defer { server.stop() }
      let all = try server.fetch(#"{"sort":["creationDate:desc"]}"#)
      let feeds = try (0..<count).map { _ in try OpenFeed(server, "/v1/feed?fetch=\(all.name)&after=\(all.token)") }
      defer { for feed in feeds { feed.close() } }
      _ = try OpenFeed.awaitEvent(on: feeds) { $0.name == "feed" }
      try waitUntilQuiet(server)
      var (own, held) = ([Double](), all.token)
      for _ in 0..<5 {
        let start = ContinuousClock.now
        let token = try commit()
        let mark = Array(#""after":"\#(token)""#.utf8)
        let messages = try OpenFeed.awaitEvent(on: feeds) { $0.name == "change" && $0.holds(mark) }
        own.append((ContinuousClock.now - start).nanoseconds)
        for events in messages {
          let change = try events.last?.object() ?? [:]
          guard events.count == 1, change["before"] as? String == held, change["after"] as? String == token,
            (change["changed"] as? [[Int]])?.count == 1, change["count"] as? Int == all.count
          else { throw WrongAnswer(description: "A feed was sent \(events.map(\.name)), the last of them \(change).") }
        }
        held = token
        try waitUntilQuiet(server)
      }
      report.add("\(delivery), floor", size: stage.size, caches: .warm, floors)
      report.add(
        delivery, size: stage.size, caches: .warm, Sample(own), comparedWith: floors.quantile(0.5), goal: .atMost(3))
    }

    /// The same with suspended connections of the floor, which are resumed after the commit.
    private static func measureResumed(_ floor: String, count: Int, _ commit: () throws -> Void) throws -> Sample {
      let base = try FloorServer(floor, [])
      defer { base.stop() }
      let feeds = try (0..<count).map { _ in try OpenFeed(base.port, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n") }
      defer { for feed in feeds { feed.close() } }
      let times = try (1...5).map { round in
        try base.wait(for: count)
        let start = ContinuousClock.now
        try commit()
        let resumed = try base.number("/tell")
        let mark = Array(#""after":"\#(round)""#.utf8)
        let messages = try OpenFeed.awaitEvent(on: feeds) { $0.holds(mark) }
        let time = (ContinuousClock.now - start).nanoseconds
        guard resumed == count, messages.allSatisfy({ $0.count == 1 }) else {
          throw WrongAnswer(description: "The floor resumed \(resumed) connections of \(count).")
        }
        return time
      }
      return Sample(times)
    }

    /// Waits until the server has nothing more to do for earlier clients.
    private static func waitUntilQuiet(_ server: ServedLibrary) throws {
      var last = try server.processorSeconds()
      for _ in 0..<600 {
        usleep(200_000)
        let now = try server.processorSeconds()
        if now - last < 0.005 { return }
        last = now
      }
      throw WrongAnswer(description: "The server is still busy two minutes after the last feed was opened.")
    }
  }
#endif
