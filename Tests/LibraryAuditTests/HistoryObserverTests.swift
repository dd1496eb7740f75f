import Foundation
import TestSupport
import Testing

import LibraryAudit
@testable import PhotoLedger

/// Counts how often it is notified that history grew, and reads it as PhotoKit's clients do.
private final class HistoryReader: PhotoLibraryPersistentChangesObserver {
  let read = Gathered<PersistentChange>()
  let calls = Gathered<String>()
  private let token: Gathered<Token>

  init(since token: Token) {
    self.token = Gathered()
    self.token.append(token)
  }

  func photoLibraryPersistentChangesDidUpdate(_ library: PhotoLibrary) {
    calls.append(library.client)
    guard let last = token.all.last, let changes = try? library.fetchPersistentChanges(since: last) else { return }
    for change in changes { read.append(change) }
    if let newest = changes.last { token.append(newest.changeToken) }
  }
}

@Suite("Observers of the history", .timeLimit(.minutes(60)))
struct HistoryObserverTests {
  @Test("a change of the history is passed between threads")
  func isSendable() {
    func crossesThreads<T: Sendable>(_ type: T.Type) -> String { "\(type)" }
    #expect(crossesThreads(PersistentChange.self) == "PersistentChange")
  }

  @Test("the history's observer is notified that there is more, without details; it reads since its own token (PH-09)")
  func history() async throws {
    let small = try SmallLibrary()
    let start = try small.library.currentToken
    let reader = HistoryReader(since: start)
    try small.library.register(reader)
    for _ in 0..<5 { _ = try await small.assets(1) }
    try await waitUntil("everything was read") { reader.read.all.count == 5 }
    #expect(try reader.read.all == small.library.fetchPersistentChanges(since: start))
    #expect((1...5).contains(reader.calls.all.count) && Set(reader.calls.all) == [PhotoLibrary.owner])
    small.library.unregisterPersistentChangesObserver(reader)
    let other = HistoryReader(since: try small.library.currentToken)
    try small.library.register(other)
    _ = try await small.assets(1)
    try await waitUntil("the other was notified") { other.read.all.count == 1 }
    #expect(reader.read.all.count == 5, "One that was removed is not notified.")
  }

  @Test("the history's observer is not retained, and does not retain the library (PH-09, OB-04)")
  func historyIsWeak() async throws {
    let small = try SmallLibrary()
    weak var forgotten: HistoryReader?
    do {
      let reader = HistoryReader(since: try small.library.currentToken)
      forgotten = reader
      try small.library.register(reader)
    }
    #expect(forgotten == nil)
    weak var store: LibraryStore?
    let kept: HistoryReader
    do {
      let made = try TemporaryLibrary()
      store = made.library.store
      kept = HistoryReader(since: try made.library.currentToken)
      try made.library.register(kept)
    }
    try await waitUntil("the store is let go") { store == nil }
    #expect(kept.calls.all.isEmpty)
  }

  @Test("observers of a limited client are notified of commits that change its view, and of no others (PH-09, AU-01)")
  func limited() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(3)
    let app = try await small.ruleClient(.limited, [a[0]])
    let blind = try await small.ruleClient(.denied, named: "com.example.denied")
    let readers = [HistoryReader(since: try app.currentToken), HistoryReader(since: try blind.currentToken)]
    let keepers = [ChangeKeeper(), ChangeKeeper()]
    for (client, (reader, keeper)) in zip([app, blind], zip(readers, keepers)) {
      try client.register(reader)
      try client.register(keeper)
    }
    for round in 0..<20 { try await small.change { $0.setFavorite(round % 2 == 0, for: [a[1], a[2]]) } }
    try await small.change { $0.setFavorite(true, for: [a[0]]) }
    try await waitUntil("the limited client is notified") {
      readers[0].read.all.count == 1 && keepers[0].changes.all.count == 1
    }
    #expect(readers[0].calls.all == [app.client])
    #expect(keepers[0].changes.all[0].commits.count == 1 && keepers[0].changes.all[0].commits[0].client == "")
    #expect(readers[1].calls.all.isEmpty && keepers[1].changes.all.isEmpty)
  }
}
