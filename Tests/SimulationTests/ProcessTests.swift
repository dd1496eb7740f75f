import Foundation
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

@Suite("Several processes")
struct ProcessTests {
  @Test("two writing and three watching processes see one order without gaps", .timeLimit(.minutes(60)))
  func order() throws {
    let temporary = try TemporaryLibrary(.system)
    let library = temporary.library
    let watchers = try (0..<3).map { _ in try ProgramRun(["watch"], library: temporary.url) }
    let starts = try watchers.map { try Token(try #require($0.object()?["token"] as? String)) }

    let writers = try (0..<2).map { _ in try ProgramRun(["apply"], library: temporary.url) }
    for (index, writer) in writers.enumerated() {
      writer.send(
        (0..<60).map { line in
          let data = Data("\(index) \(line)".utf8).base64EncodedString()
          return #"{"cause":"writer \#(index)","changes":[{"op":"asset.create","mediaType":"image","#
            + #""resources":[{"type":"photo","data":"\#(data)","originalFilename":"a.jpg"}]}]}"#
        })
      try writer.endInput()
    }
    var tokens: [[Token]] = []
    for writer in writers {
      var own: [Token] = []
      while let answer = try writer.object() { own.append(try Token(try #require(answer["token"] as? String))) }
      #expect(writer.waitForEnd() == .status(0))
      tokens.append(own)
    }
    let all = tokens.joined().map(\.commit).sorted()
    try #require(all.count == 120, "A writer has answered too few lines: \(tokens.map(\.count)).")
    #expect(all == Array(all[0]...all[119]), "The writers' commits are one sequence.")
    for own in tokens { #expect(own.map(\.commit) == own.map(\.commit).sorted()) }

    let head = try library.currentToken
    for (watcher, start) in zip(watchers, starts) {
      var last = start
      var causes: [String] = []
      while last != head {
        let line = try #require(try watcher.object())
        let after = try Token(try #require(line["after"] as? String))
        #expect(line["before"] as? String == last.description)
        #expect(after.commit == last.commit + 1, "A commit was delivered twice, or not at all.")
        #expect(line["count"] as? Int == Int(after.commit) - 1)
        causes.append(line["cause"] as? String ?? "")
        last = after
      }
      #expect(causes.count == 120 - Int(start.commit - starts[0].commit))
      #expect(Set(causes) == ["writer 0", "writer 1"])
      watcher.stop()
      #expect(try watcher.object() == nil, "A watcher received more than there is.")
    }
    #expect(try library.verify().isSound)
  }
}
