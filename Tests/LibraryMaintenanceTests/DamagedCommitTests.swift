import EventLog
import Foundation
import LMDB
import TestSupport
import Testing

import LibraryAudit
import LibraryMaintenance
@testable import PhotoLedger

// A program that embeds the library meets damage as an error that it can handle.

@Suite("Rows of commits that no log has")
struct DamagedCommitTests {
  @Test(
    "every call that reads the row answers, or throws `.corrupted`",
    arguments: [
      (1, .max), (.max, 1), (.max, .max), (1 << 63, 1), (2, 1 << 63), (1 << 62, 1 << 62), (0, 1), (2, 0), (3, 1),
      (2, 1 << 40),
    ] as [(UInt64, UInt64)])
  func corrupted(first: UInt64, count: UInt64) async throws {
    let made = try TemporaryLibrary()
    let ids = try made.create(3)
    let start = try made.library.at(sequence: 1).currentToken
    try await made.library.performChanges { $0.setFavorite(true, for: [ids[0]]) }
    try await made.library.performChanges { $0.deleteAssets([ids[1]]) }
    made.library.close()
    try Self.alter(commit: 2, of: made.url.path, first, count)
    let library = try PhotoLibrary(at: made.url)
    defer { library.close() }
    let questions: [(name: String, ask: () throws -> Void)] = [
      ("log", { try library.forEachLogEntry { _ in true } }),
      ("undo", { _ = try library.planUndo(.commits(after: start)) }),
      ("snapshots", { _ = try library.makeSnapshots(spacing: 1) }),
      ("at", { _ = try library.at(sequence: 2).fetchAssets().count }),
      ("details", { _ = try library.changeDetails(from: library.at(start).fetchAssets(), to: library.currentToken) }),
      ("changes", { _ = try library.fetchPersistentChanges(since: start) }),
      ("access", { _ = try library.access(to: ids[0].uuidString) }),
    ]
    var refused = 0
    for question in questions {
      do { try question.ask() } catch {
        refused += 1
        #expect((error as? LibraryError)?.code == .corrupted, "\(question.name): \(error)")
      }
    }
    #expect(refused > 0, "No question read the row.")
    var changes = library.changes(to: try library.fetchAssets()).makeAsyncIterator()
    try await library.performChanges { $0.setFavorite(true, for: [ids[2]]) }
    #expect(try await changes.next() != nil, "What is written after it is followed.")
  }

  private static func alter(commit: UInt64, of library: String, _ first: UInt64, _ count: UInt64) throws {
    let environment = try LMDB.Environment.store(ofLibrary: library)
    let commits = try environment.database("commits", integerKeys: true, create: false)
    try environment.write { t in
      let row = try #require(try t.bytes(for: commit, in: commits))
      guard case .array(var items) = try CBOR(decoding: row.span.bytes) else { throw CocoaError(.coderInvalidValue) }
      (items[0], items[1]) = (.unsigned(first), .unsigned(count))
      try t.put(commit, CBOR.array(items).encoded.span.bytes, in: commits)
    }
    try environment.close()
  }
}
