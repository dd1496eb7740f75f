import EventLog
import Foundation
import LMDB
import PhotoLedger
import TestSupport
import Testing

@Suite("Rebuilding")
struct RebuildTests {
  /// What is done to a table of the log that is derived from the events.
  enum Damage: CaseIterable {
    case keysCleared, keyAdded, keyOfAnotherCommit, commitsCleared, commitLost, commitGarbled, commitAdded
  }

  static func inflict(_ damage: Damage, _ environment: LMDB.Environment) throws {
    let keys = try environment.database("keys")
    let commits = try environment.database("commits", integerKeys: true)
    let key = try environment.read { t in
      let cursor = try #require(try StoreDump(environment, only: ["keys"]).databases["keys"]?.first)
      return cursor.key
    }
    try environment.write { t in
      switch damage {
      case .keysCleared: try t.clear(keys)
      case .keyAdded: try t.put([0, 1, 0, 1], CBOR.unsigned(2).encoded, in: keys)
      case .keyOfAnotherCommit: try t.put(key, CBOR.unsigned(3).encoded, in: keys)
      case .commitsCleared: try t.clear(commits)
      case .commitLost: _ = try t.delete(2, in: commits)
      case .commitGarbled: try t.put(2, [0xFF, 1, 2].span.bytes, in: commits)
      case .commitAdded:
        let row = try #require(try t.bytes(for: 3, in: commits))
        try t.put(4, row.span.bytes, in: commits)
      }
    }
  }

  @Test("a damaged table of keys or commits is found by a verification and mended", arguments: Damage.allCases)
  func mends(damage: Damage) throws {
    let made = try TemporaryLibrary()
    let first = try made.library.performChangesAndWait(key: "k") { $0.createAlbum(title: "x") }
    try made.library.performChangesAndWait { $0.createAsset(.invented(1)) }
    let environment = try LMDB.Environment.store(ofLibrary: made.url.path)
    let before = try StoreDump(environment)
    try Self.inflict(damage, environment)
    #expect(try made.library.verify(scratch: made.folder.url).defect != nil)
    try made.library.rebuild()
    #expect(try made.library.verify(scratch: made.folder.url).defect == nil)
    #expect(try StoreDump(environment).difference(from: before) == nil)
    let again = try made.library.performChangesAndWait(key: "k") { $0.createAlbum(title: "x") }
    #expect(again.isRepetition && again.token == first.token && again.created == first.created)
  }

  @Test("an event that was altered stops a rebuild, also behind a damaged table", arguments: [false, true])
  func altered(behindDamage: Bool) throws {
    let made = try TemporaryLibrary()
    for title in ["a", "b", "c"] { try made.library.performChangesAndWait { $0.createAlbum(title: title) } }
    let environment = try LMDB.Environment.store(ofLibrary: made.url.path)
    let events = try environment.database("events", integerKeys: true)
    let commits = try environment.database("commits", integerKeys: true)
    try environment.write { t in
      let last = UInt64(try t.count(of: events))
      var record = try #require(try t.bytes(for: last, in: events))
      // The last byte of the payload's title: text of one letter.
      let letter = UInt8(ascii: "c")
      let title = try #require(record.indices.dropFirst().last { record[$0] == letter && record[$0 - 1] == 0x61 })
      record[title] = UInt8(ascii: "d")
      try t.put(last, record.span.bytes, in: events)
      if behindDamage { _ = try t.delete(2, in: commits) }
    }
    let before = try StoreDump(environment)
    #expect(throws: LibraryError.self) { try made.library.rebuild() }
    #expect(try StoreDump(environment).difference(from: before) == nil)
  }
}
