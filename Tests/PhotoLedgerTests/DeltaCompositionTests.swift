import Foundation
import LMDB
import TestSupport
import Testing

@testable import PhotoLedger

/// A delta as text, object by object, so that two can be compared.
private func text(_ delta: Delta?) -> [String] {
  guard let delta else { return [] }
  var lines = ["\(delta.from) \(delta.to) \(delta.lastSequence) \(delta.commits)"]
  lines += delta.assets.map { number, touch in "asset \(number) \(touch)" }.sorted()
  lines += delta.collections.map { number, touch in "collection \(number) \(touch)" }.sorted()
  lines += delta.places.map { member, placing in "place \(member) \(placing)" }.sorted()
  lines += delta.context.map { number, places in "context \(number) \(places.map { "\($0)" }.sorted())" }.sorted()
  lines += delta.details.map { number, touch in "details \(number) \(touch)" }.sorted()
  lines += delta.clients.map { number, status in "client \(number) \(status)" }.sorted()
  return lines
}

@Suite("Reading a range of the log as one change")
struct DeltaCompositionTests {
  /// Makes a history in which the same few objects are created, edited, put into albums, trashed and purged.
  private func makeHistory(_ made: TemporaryLibrary, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var ids = try made.create(6)
    let album = try made.album(Array(ids.prefix(3)))
    for round in 0..<80 {
      let id = ids[random.int(0..<ids.count)]
      let choice = random.int(0..<10)
      if choice == 0 { ids.append(try made.create(.invented(100 + round))) }
      do {
        // What was purged comes back, and what was created goes, and comes back.
        if round.isMultiple(of: 7) {
          let (first, last) = (try made.library.earliestToken, try made.library.currentToken)
          let commit = max(first.commit + 1, last.commit - UInt64(random.int(0..<4)))
          let token = Token(library: last.library, commit: commit)
          try made.library.undoAndWait(.commits(after: token), onConflict: .force)
        }
        try made.library.performChangesAndWait { block in
          switch choice {
          case 1: block.setFavorite(round.isMultiple(of: 2), for: [id])
          case 2:
            block.setFavorite(true, for: [id])
            block.setFavorite(false, for: [id])
          case 3: block.setHidden(round.isMultiple(of: 2), for: [id])
          case 4: block.album(album).add([id])
          case 5: block.album(album).remove([id])
          case 6: block.deleteAssets([id])
          case 7: block.restoreAssets([id])
          case 8:
            let fresh = block.createAsset(.invented(200 + round))
            block.setFavorite(true, for: [fresh])
            block.album(album).add([fresh])
            block.deleteAssets(round.isMultiple(of: 3) ? [fresh] : [id])
            block.purgeAssets(round.isMultiple(of: 3) ? [fresh] : [id])
          default: block.setTitle("\(round)", of: album)
          }
        }
      } catch is LibraryError {
        // The asset was purged before; the next round takes another.
        continue
      }
    }
    // What was changed and changed back is the case that the rows at both ends do not show.
    let last = try made.create(.invented(300))
    try made.library.performChangesAndWait { $0.deleteAssets([last]) }
    try made.library.performChangesAndWait { $0.restoreAssets([last]) }
  }

  @Test("returns the composition of its commits (OB-03)", arguments: 1...(Dose.isFull ? 4 : 2) as ClosedRange<UInt64>)
  func composed(seed: UInt64) throws {
    let made = try TemporaryLibrary()
    try makeHistory(made, seed: seed)
    let core = made.library.store.core
    let head = try made.library.store.observation.head().commit
    try made.library.store.reading { t in
      for from in stride(from: 0, to: head, by: 3) {
        for to in [from + 1, from + 2, from + 9, head] where to <= head {
          var (one, many) = (
            DeltaReader(core),
            DeltaReader(core)
          )
          let composed = try one.composed(after: from, through: to, in: t)
          let deltas = try many.deltas(after: from, through: to, in: t)
          #expect(text(composed) == text(Delta(composing: deltas)), "from \(from) to \(to)")
        }
      }
      var reader = DeltaReader(core)
      let back = try reader.composed(after: head - 2, through: head, in: t)?.assets.values.first
      #expect(back?.isVisiblyChanged == true && back?.before == back?.after && back?.after != nil)
    }
  }

  @Test("assets that the commits created and did not edit match their creation, and none is read from the store")
  func creations() throws {
    let made = try TemporaryLibrary()
    let library = made.library
    let start = try library.store.observation.head().commit
    let ids = try made.create(5)
    let album = try made.album(Array(ids.prefix(3)))
    try library.performChangesAndWait { $0.album(album).move(at: [0], to: 2) }
    try library.performChangesAndWait { $0.album(album).remove([ids[1]]) }
    try library.performChangesAndWait { block in
      block.setAuthorizationStatus(.limited, of: "com.example.app")
      block.grant([ids[0], ids[3], ids[4]], to: "com.example.app")
    }
    try library.performChangesAndWait { $0.setFavorite(true, for: [ids[4]]) }
    let core = library.store.core
    func read() throws -> [[String]] {
      try core.environment.read { t in
        var (plain, detailed) = (DeltaReader(core), DeltaReader(core, readsDetails: true))
        return try plain.deltas(after: start, in: t).map(text) + detailed.deltas(after: start, in: t).map(text)
      }
    }
    let before = try read()
    let numbers = try core.environment.read { t in
      try ids.prefix(4).compactMap { try core.projections.object($0, in: t)?.number }
    }
    #expect(numbers.count == 4)
    for name in ["assets", "details"] {
      let database = try core.environment.database(name, integerKeys: true)
      for number in numbers {
        let wasThere = try core.environment.write { t in try t.delete(number, in: database) }
        #expect(wasThere)
      }
    }
    #expect(try read() == before)
    #expect(before.joined().contains { $0.contains("context \(numbers[0])") })
    #expect(before.joined().contains { $0.contains("details \(numbers[0])") })
  }

  @Test("a commit without a row is damage wherever it lies", arguments: [1, 4, 6, 7, 12, nil] as [UInt64?])
  func missingRows(number: UInt64?) throws {
    let made = try TemporaryLibrary()
    try makeHistory(made, seed: 1)
    let core = made.library.store.core
    let head = try made.library.store.observation.head().commit
    #expect(head > 12)
    let number = number ?? head
    let commits = try core.environment.database("commits", integerKeys: true)
    let row = try #require(try core.environment.read { t in try t.bytes(for: number, in: commits) })
    _ = try core.environment.write { t in try t.delete(number, in: commits) }
    defer { try? core.environment.write { t in try t.put(number, row, in: commits) } }
    try core.environment.read { t in
      for to in [number, head] {
        var one = DeltaReader(core)
        let error = #expect(throws: LibraryError.self) { try one.composed(after: 0, through: to, in: t) }
        #expect(error?.code == .corrupted)
        var many = DeltaReader(core)
        #expect(throws: LibraryError.self) { try many.deltas(after: 0, through: to, in: t) }
      }
    }
  }
}
