import Foundation
import TestSupport
import Testing

@Suite("Watch", .blocking)
struct WatchTests {
  @Test("lines that a client applies, in either format, give what ls shows", arguments: [1, 2, 3] as [UInt64])
  func follows(seed: UInt64) throws {
    var numbers = Numbers(state: seed)
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(30)
    let fetch = ["--sort", "isFavorite:desc", "--sort", "creationDate", "--limit", "12"]
    let watch = try Running(sandbox, ["watch"] + fetch)
    let first = try jsonObject(watch.line())
    var list = try #require(first["identifiers"] as? [String])
    var token = try #require(first["token"] as? String)
    let apply = try Running(sandbox, ["apply"])
    for _ in 0..<60 {
      try apply.send(#"{"changes":[\#(change(assets, &numbers))],"cause":"seed \#(seed)"}"# + "\n")
      let answer = try jsonObject(apply.line())
      #expect(answer["error"] == nil, "\(answer)")
    }
    apply.endInput()
    #expect(try apply.finish().status == 0)
    // An edit that touches the result ends the feed at a known state.
    let shownFirst = try #require(try sandbox.identifiers(fetch).first)
    let last = try sandbox.run(["edit", shownFirst, "--location", "1,2"]).lines[0]
    while token != last {
      let line = try jsonObject(watch.line())
      #expect(line["before"] as? String == token)
      token = try #require(line["after"] as? String)
      list = try applied(line, to: list)
    }
    #expect(try watch.finish(interrupting: true).status == 0)
    let shown = try sandbox.identifiers(fetch)
    #expect(list == shown, "seed \(seed)")
  }

  private func change(_ assets: [String], _ numbers: inout Numbers) -> String {
    let chosen = (0...numbers.below(3)).map { _ in "\"\(assets[numbers.below(assets.count)])\"" }
    let list = "[\(Set(chosen).sorted().joined(separator: ","))]"
    switch numbers.below(5) {
    case 0: return #"{"op":"asset.trash","assets":\#(list)}"#
    case 1: return #"{"op":"asset.restore","assets":\#(list)}"#
    case 2:
      let day = 10 + numbers.below(20)
      return #"{"op":"asset.edit","assets":\#(list),"creationDate":"2024-05-\#(day)T12:00:00Z"}"#
    case 3: return #"{"op":"asset.edit","assets":\#(list),"isHidden":\#(numbers.below(3) == 0)}"#
    default: return #"{"op":"asset.edit","assets":\#(list),"isFavorite":\#(numbers.below(2) == 0)}"#
    }
  }

  /// Applies a line in both ways and checks that they agree.
  private func applied(_ line: [String: Any], to before: [String]) throws -> [String] {
    func positions(_ key: String) throws -> [Int] {
      try #require(line[key] as? [[Int]]).flatMap { Array($0[0]..<$0[0] + $0[1]) }
    }
    let items = try #require(line["items"] as? [String: [String: Any]])
    let (removed, inserted) = (try positions("removed"), try positions("inserted"))
    #expect(Set(items.keys) == Set((inserted + (try positions("changed"))).map(String.init)))
    let arrivals = try inserted.map { try #require(items[String($0)]?["localIdentifier"] as? String) }

    var ordered = before
    for index in removed.reversed() { ordered.remove(at: index) }
    for (index, object) in zip(inserted, arrivals) { ordered.insert(object, at: index) }
    let moves = try #require(line["moves"] as? [[Int]]).map { (to: $0[1], from: $0[0], object: ordered[$0[0]]) }
    for move in moves.sorted(by: { $0.from > $1.from }) { ordered.remove(at: move.from) }
    for move in moves.sorted(by: { $0.to < $1.to }) { ordered.insert(move.object, at: move.to) }

    let moved = try #require(line["moved"] as? [[Int]])
    var atOnce = before
    for index in (removed + moved.map { $0[0] }).sorted(by: >) { atOnce.remove(at: index) }
    let placed = Array(zip(inserted, arrivals)) + moved.map { ($0[1], before[$0[0]]) }
    for (index, object) in placed.sorted(by: { $0.0 < $1.0 }) { atOnce.insert(object, at: index) }

    #expect(ordered == atOnce)
    #expect(ordered.count == line["count"] as? Int)
    for (index, item) in items {
      let place = try #require(Int(index))
      #expect(ordered[place] == item["localIdentifier"] as? String)
    }
    return ordered
  }

  @Test("a feed ends when the state of a token has been delivered, even without a line for it")
  func until() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(2)
    let watch = try Running(sandbox, ["watch", "--where", "isFavorite == YES"])
    _ = try watch.line()
    let told = try sandbox.run(["favorite", assets[0]]).lines[0]
    #expect(try jsonObject(watch.line())["after"] as? String == told)
    #expect(try watch.finish(interrupting: true).status == 0)

    // Of the next three commits, the first two touch the result and the third does not.
    let tokens = try Self.nextTokens(3, after: told)
    let ending = try Running(sandbox, ["watch", "--where", "isFavorite == YES", "--until", tokens[2]])
    _ = try ending.line()
    #expect(try sandbox.run(["favorite", assets[1]]).lines == [tokens[0]])
    #expect(try sandbox.run(["unfavorite", assets[0]]).lines == [tokens[1]])
    #expect(try sandbox.run(["hide", assets[0]]).lines == [tokens[2]])
    let result = try ending.finish()
    #expect(result.status == 0)
    #expect(try result.objects().map { $0["after"] as? String } == [tokens[0], tokens[1]])

    // A state that has been reached already is in the first line, or lies before it.
    #expect(try sandbox.run(["watch", "--until", tokens[1]]).lines.count == 1)
  }

  @Test("a feed in a fork ends at a token from either side of the fork, whichever of the two marks is larger")
  func untilInFork() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(2)
    var orders: Set<Bool> = []
    // Marks are random. Each pair of libraries has two new ones, so that a pair of either order comes soon.
    for attempt in 1...64 where orders.count < 2 {
      let origin = sandbox.folder.appending(path: "origin-\(attempt)").path
      let fork = sandbox.folder.appending(path: "fork-\(attempt)").path
      let runInOrigin = { (words: [String]) in try sandbox.run(words + ["--library", origin]) }
      let run = { (words: [String]) in try sandbox.run(words + ["--library", fork]) }
      #expect(try sandbox.run(["fork", origin]).status == 0)
      // The states of a fork have its own mark from its first commit on.
      #expect(try runInOrigin(["album", "create", "Sky"]).status == 0)
      let before = try runInOrigin(["history", "token"]).lines[0]
      #expect(try runInOrigin(["album", "create", "Sea"]).status == 0)
      let untouched = try runInOrigin(["history", "token"]).lines[0]
      #expect(try runInOrigin(["fork", fork]).status == 0)
      let middle = try run(["favorite", assets[0]]).lines[0]
      let now = try run(["favorite", assets[1]]).lines[0]
      guard orders.insert(now < before).inserted else { continue }
      for (words, ends) in [
        (["--since", before, "--until", now], [middle, now]), (["--since", before, "--until", middle], [middle]),
        (["--since", before, "--until", untouched], []), (["--since", middle, "--until", now], [now]),
        (["--until", before], []),
      ] as [([String], [String])] {
        let result = try run(["watch"] + words)
        #expect(result.status == 0 && result.lines.count == 1 + ends.count, "\(words): \(result)")
        #expect(try result.objects().dropFirst().map { $0["after"] as? String } == ends, "\(words)")
      }
      #expect(try run(["album", "create", "Land"]).status == 0)
      // What ends the feed touches no asset, and no later line may follow it.
      let silent = try run(["history", "token"]).lines[0]
      let last = try run(["unfavorite", assets[0]]).lines[0]
      let feed = try run(["watch", "--since", untouched, "--until", silent, "--no-initial"])
      #expect(feed.status == 0, "\(feed)")
      #expect(try feed.objects().dropFirst().map { $0["after"] as? String } == [middle, now])
      #expect(try runInOrigin(["watch", "--until", last]).errors.contains(last), "A token of the fork alone.")
    }
    #expect(orders.count == 2, "No two forks had marks on either side of their origin's.")
  }

  @Test("a feed without its first list is rejected where an erasure has made that list unknown")
  func erasedSince() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(3)
    let token = try sandbox.run(["history", "token"]).lines[0]
    #expect(try sandbox.run(["erase", assets[1], "--yes"]).status == 0)
    let refused = try sandbox.run(["watch", "--no-initial", "--since", token, "--until", token])
    #expect(refused.status == 1 && refused.output.isEmpty, "\(refused)")
    #expect(refused.errors.contains("Assets were erased after the state \(token)"), "\(refused.errors)")
    let printed = try sandbox.run(["watch", "--since", token, "--until", token])
    #expect(try printed.status == 0 && printed.objects().first?["count"] as? Int == 3)
    let now = try sandbox.run(["history", "token"]).lines[0]
    let bare = try sandbox.run(["watch", "--no-initial", "--since", now, "--until", now])
    #expect(try bare.status == 0 && bare.objects().first?["count"] as? Int == 2)
  }

  /// The spellings of the tokens that will follow one.
  private static func nextTokens(_ count: Int, after token: String) throws -> [String] {
    let parts = token.split(separator: "-")
    let number = try #require(UInt64(parts[2], radix: 36))
    return (1...UInt64(count)).map { "\(parts[0])-\(parts[1])-\(String(number + $0, radix: 36))" }
  }

  @Test("commits during a held-up feed are all delivered one by one")
  func neverComposed() throws {
    let sandbox = try Sandbox()
    let asset = try sandbox.makeAssets(1)[0]
    let watch = try Running(sandbox, ["watch"])
    var token = try #require(try jsonObject(watch.line())["token"] as? String)
    kill(watch.child.identifier, SIGSTOP)
    let lines = (1...300).map { index in
      #"{"changes":[{"op":"asset.edit","assets":["\#(asset)"],"isFavorite":\#(index % 2 == 1)}],"cause":"\#(index)"}"#
    }
    let answers = try sandbox.apply(lines)
    kill(watch.child.identifier, SIGCONT)
    for (index, answer) in answers.enumerated() {
      let line = try jsonObject(watch.line())
      #expect(line["before"] as? String == token)
      token = try #require(line["after"] as? String)
      #expect(token == answer["token"] as? String)
      #expect(line["cause"] as? String == String(index + 1))
      #expect(line["changed"] as? [[Int]] == [[0, 1]])
    }
    #expect(try watch.finish(interrupting: true).status == 0)
  }

  @Test("a signal ends a feed that catches up, though much is left to deliver")
  func interruptedCatchingUp() throws {
    let sandbox = try Sandbox()
    let asset = try sandbox.makeAssets(1)[0]
    let edits = 400
    _ = try sandbox.apply(
      (1...edits).map { #"{"changes":[{"op":"asset.edit","assets":["\#(asset)"],"caption":"\#($0)"}]}"# })
    let environment = ProcessInfo.processInfo.environment.merging(["PHOTOLEDGER_LIBRARY": sandbox.library]) { $1 }
    let pipe = try NarrowPipe()
    let child = try ChildRun(
      programURL, ["watch", "--since", "2"], environment: environment, directory: sandbox.folder,
      output: .descriptor(pipe.writeEnd), errors: .null)
    // What is not read stays in the pipe, which holds a small part of it.
    _ = try pipe.line()
    kill(child.identifier, SIGTERM)
    try Self.wait(forSignalOf: child)
    let rest = try pipe.rest()
    #expect(child.end() == .status(0))
    let lines = rest.split(separator: "\n").map(String.init)
    #expect(lines.count < edits, "\(lines.count) of \(edits) were printed after the signal")
    for line in lines { _ = try jsonObject(line) }
  }

  /// Waits until a process has taken its signal.
  private static func wait(forSignalOf child: ChildRun) throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < deadline {
      let status = try String(contentsOfFile: "/proc/\(child.identifier)/status", encoding: .utf8)
      let pending = status.split(separator: "\n").first { $0.hasPrefix("ShdPnd:") }
      if let digits = pending?.split(whereSeparator: \.isWhitespace).last, UInt64(digits, radix: 16) == 0 { return }
      sched_yield()
    }
    Issue.record("The program did not take its signal within a minute.")
  }

  @Test("a long result is printed in lines of at most a thousand identifiers, or not at all on request")
  func bounded() throws {
    let sandbox = try Sandbox()
    let created = (0..<2500).map { _ in
      #"{"op":"asset.create","mediaType":"image","resources":"#
        + #"[{"type":"photo","data":"QQ==","originalFilename":"a.jpg"}]}"#
    }
    let answer = try sandbox.apply([#"{"changes":[\#(created.joined(separator: ","))]}"#])
    let assets = try #require(answer.first?["created"] as? [String])
    let token = try #require(answer.first?["token"] as? String)
    func lines(_ words: [String]) throws -> [[String: Any]] {
      try sandbox.run(["watch", "--until", token] + words).objects()
    }
    let whole = try lines([])
    #expect(whole.map { ($0["identifiers"] as? [String])?.count } == [1000, 1000, 500])
    #expect(whole.flatMap { $0["identifiers"] as? [String] ?? [] } == assets)
    #expect(whole.map { $0["count"] as? Int } == [2500, nil, nil])
    #expect(whole.map { $0["offset"] as? Int } == [nil, 1000, 2000])
    #expect(whole.allSatisfy { $0["token"] as? String == token })
    #expect(try lines(["--limit", "2000"]).map { ($0["identifiers"] as? [String])?.count } == [1000, 1000])
    #expect(try lines(["--limit", "1"]).map { $0["identifiers"] as? [String] } == [[assets[0]]])
    #expect(try lines(["--where", "isFavorite == YES"]).map { $0["identifiers"] as? [String] } == [[]])
    let bare = try lines(["--no-initial"])
    #expect(bare.count == 1 && bare[0]["count"] as? Int == 2500 && Set(bare[0].keys) == ["token", "count"])

    // The changes are of the whole result all the same.
    let watch = try Running(sandbox, ["watch", "--no-initial"])
    _ = try watch.line()
    #expect(try sandbox.run(["favorite", assets[2400]]).status == 0)
    #expect(try jsonObject(watch.line())["changed"] as? [[Int]] == [[2400, 1]])
    #expect(try watch.finish(interrupting: true).status == 0)
  }

  @Test("a feed whose reader goes away ends by itself")
  func closedOutput() throws {
    let sandbox = try Sandbox()
    _ = try sandbox.makeAssets(1)
    let watch = try Running(sandbox, ["watch"], closesOutput: true)
    #expect(watch.child.end() == .status(0))
  }

  @Test("a list whose reader goes away ends quietly")
  func closedPipe() throws {
    let sandbox = try Sandbox(LibraryCopy.of400.get())
    let line = #""$0" ls --json --library "$1" | head -n 1 > /dev/null; echo "${PIPESTATUS[0]}""#
    #expect(try ChildRun.of(["bash", "-c", line, programURL.path, sandbox.library]) == ("0\n", .status(0)))
  }
}

/// Numbers from a seed.
struct Numbers {
  var state: UInt64

  mutating func below(_ limit: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return Int((mixed ^ (mixed >> 31)) % UInt64(limit))
  }
}
