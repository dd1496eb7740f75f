import EventLog
import Foundation
import LMDB
import TestSupport
import Testing

@testable import PhotoLedger

@Suite("Replays that read ahead")
struct ReplayAheadTests {
  /// A library of a few pieces, and a store to replay its log into.
  private struct Scene {
    let made: TemporaryLibrary
    let stored: LMDB.Environment
    let log: EventLog
    let environment: LMDB.Environment
    let projections: Projections

    init(assets count: Int) throws {
      made = try TemporaryLibrary()
      _ = try made.create(count)
      stored = try LMDB.Environment.store(ofLibrary: made.url.path)
      log = try EventLog(in: stored)
      var options = LMDB.Environment.Options()
      options.maxDatabases = Projections.databasesMax
      options.durability = .unsafeNoSync
      environment = try LMDB.Environment.open(path: made.folder.place("replayed").path, options: options)
      projections = try Projections(in: environment)
    }

    func head() throws -> UInt64 { try stored.read { t in try log.head(t).sequence } }

    /// Appends events of one commit, which no projection has seen.
    /// - Returns: the sequence of the last one.
    @discardableResult
    func append(_ types: [String], payload: [UInt8] = [0xA0]) throws -> UInt64 {
      try stored.write { t in
        let information = CommitInformation(time: 1_760_000_000_000_000, client: "owner", cause: "x", process: "other")
        var appender = try log.begin(information, in: &t)
        var last: UInt64 = 0
        for type in types {
          last = try appender.append(type: type, version: 1, payload: payload, salt: Salt(1, 2), in: &t)
        }
        _ = try appender.finish(in: &t)
        return last
      }
    }

    func replay(through head: UInt64, quarantining skipped: [UInt64: String] = [:]) throws {
      try stored.read { source in
        try projections.replay(log, through: head, from: source, into: environment, quarantining: skipped)
      }
    }

    /// How the rows differ from the library's; nil if they do not.
    func difference() throws -> String? {
      let own = try StoreDump(environment, only: Projections.names)
      return try own.difference(from: StoreDump(stored, only: Projections.names))
    }
  }

  @Test(
    "of two events that stop a replay, the first is named, and behind it the second, in one piece and in two",
    arguments: [0, 1, Projections.readTogether])
  func firstFailure(between count: Int) throws {
    let scene = try Scene(assets: 300)
    let unknown = try scene.append(["asset.dreamt"])
    let missing = try scene.append(Array(repeating: "nothing.changed", count: count + 1))
    let events = try scene.stored.database("events", integerKeys: true)
    try scene.stored.write { t in _ = try t.delete(missing, in: events) }
    let unreadable = #expect(throws: UnreadableEvent.self) { try scene.replay(through: missing) }
    #expect(unreadable?.sequence == unknown && unreadable?.failure.code == .newerThanProgram)
    let error = #expect(throws: LibraryError.self) {
      try scene.replay(through: missing, quarantining: [unknown: "unknown"])
    }
    #expect(error?.description == LibraryError.missingEvent(missing).description)
    try scene.replay(through: missing - 1, quarantining: [unknown: "unknown"])
    let quarantined = try scene.environment.read { t in try scene.projections.quarantined(in: t) }
    #expect(quarantined == [QuarantinedEvent(sequence: unknown, reason: "unknown")])
  }

  @Test("a replay whose snapshot is no longer the newest applies what that holds", arguments: [1, 300])
  func outdatedSnapshot(count: Int) throws {
    let scene = try Scene(assets: count)
    let head = try scene.head()
    try scene.stored.read { source in
      try scene.append(["nothing.changed"])
      let held = source.held
      let newest = try held.read { t in try scene.log.head(t).sequence }
      #expect(newest == nil, "No other thread can read the snapshot.")
      do {
        try scene.projections.replay(scene.log, through: head + 1, from: source, into: scene.environment)
        Issue.record("The snapshot does not have the last event.")
      } catch let error as LibraryError {
        #expect(error.description == LibraryError.missingEvent(head + 1).description)
      }
      try scene.projections.replay(scene.log, through: head, from: source, into: scene.environment)
    }
    #expect(try scene.difference() == nil)
  }

  @Test("a replay for whose second reader there is no slot has the same result")
  func noSlot() throws {
    let scene = try Scene(assets: 300)
    let head = try scene.head()
    try scene.stored.read { source in
      try scene.stored.withoutReaders {
        try scene.projections.replay(scene.log, through: head, from: source, into: scene.environment)
      }
    }
    #expect(try scene.difference() == nil)
  }

  @Test("a replay where the system allows no further thread has the same result")
  func noThread() throws {
    let scene = try Scene(assets: 300)
    let head = try scene.head()
    let done = try scene.stored.read { source in
      try scene.environment.write { t in
        // No stack of a PiB can be had.
        try scene.projections.replay(scene.log, 1...head, from: source, stackSize: 1 << 50, in: &t)
      }
    }
    #expect(try done == head && scene.difference() == nil)
  }

  @Test("a replay in parts, of which each ends by its weight within a piece, has the same result")
  func parts() throws {
    let scene = try Scene(assets: 300)
    let head = try scene.head()
    var ends: [UInt64] = []
    try scene.stored.read { source in
      var done: UInt64 = 0
      while done < head {
        done = try scene.environment.write { t in
          try scene.projections.replay(scene.log, (done + 1)...head, from: source, weightMax: 70, in: &t)
        }
        ends.append(done)
      }
    }
    // Each event creates one object.
    #expect(ends == [70, 140, 210, 280, head])
    #expect(try scene.difference() == nil)
  }

  @Test("no event is read behind the weight, and few large ones wait together")
  func bounds() throws {
    let scene = try Scene(assets: 600)
    let creations = try scene.head()
    let payload = [UInt8](repeating: 0, count: Projections.bytesTogether / 4)
    let head = try scene.append(Array(repeating: "asset.dreamt", count: 10), payload: payload)
    func pieces(_ sequences: ClosedRange<UInt64>, weightMax: UInt64) throws -> [[ReadEvent]] {
      try scene.stored.read { source in
        var found: [[ReadEvent]] = []
        try Projections.read(scene.log, sequences, from: source, quarantining: [:], weightMax: weightMax) { piece in
          found.append(piece)
          return true
        }
        return found
      }
    }
    #expect(try pieces(creations + 1...head, weightMax: .max).map(\.count) == [4, 4, 2])
    let all = try pieces(1...head, weightMax: .max)
    #expect(all.joined().map(\.sequence) == Array(1...head))
    for piece in all {
      #expect(piece.count <= Projections.readTogether)
      #expect(piece.dropLast().map(\.byteCount).reduce(0, +) < Projections.bytesTogether)
    }
    let light = try pieces(1...head, weightMax: 100)
    #expect(light.joined().map(\.sequence) == Array(1...100))
  }
}
