import EventLog
import Foundation
import LMDB
import LibraryAudit
import PhotoLedger
import TestSupport
import Testing

@Suite("Persistent history")
struct HistoryRuleTests {
  private static func names(_ ids: [LocalIdentifier]) -> Set<String> { Set(ids.map { $0.uuidString + "/L0/001" }) }

  @Test("a token names the current state, and can be compared, kept and read back (PH-01)")
  func tokens() async throws {
    let small = try SmallLibrary()
    var tokens = [try small.library.currentToken]
    for _ in 0..<3 {
      _ = try await small.assets(1)
      tokens.append(try small.library.currentToken)
    }
    #expect(tokens == tokens.sorted() && Set(tokens).count == 4)
    #expect(try small.library.currentToken == tokens[3])
    let kept = try JSONEncoder().encode(tokens)
    #expect(try JSONDecoder().decode([Token].self, from: kept) == tokens)
    #expect(try Token(tokens[2].description) == tokens[2] && tokens[2].isComparable(to: tokens[0]))
    let other = try SmallLibrary(.seeded(2)).library.currentToken
    #expect(!other.isComparable(to: tokens[0]))
  }

  @Test("reading since a token returns every later commit, oldest first, each with a token to continue from (PH-02)")
  func oldestFirst() async throws {
    let small = try SmallLibrary()
    let start = try small.library.currentToken
    var ids: [LocalIdentifier] = []
    for _ in 0..<5 { ids += try await small.assets(1) }
    let changes = try small.library.fetchPersistentChanges(since: start)
    #expect(
      try changes.map { try $0.changeDetails(for: .asset).insertedLocalIdentifiers } == ids.map { Self.names([$0]) })
    for change in changes {
      #expect(try !change.changeDetails(for: .asset).isEmpty && change.changeDetails(for: .assetCollection).isEmpty)
    }
    #expect(changes.map(\.changeToken) == changes.map(\.changeToken).sorted())
    for (index, change) in changes.enumerated() {
      let rest = try small.library.fetchPersistentChanges(since: change.changeToken)
      #expect(rest == Array(changes[(index + 1)...]))
    }
    #expect(try small.library.fetchPersistentChanges(since: start, limit: 2) == Array(changes[..<2]))
    let head = try small.library.currentToken
    #expect(try small.library.fetchPersistentChanges(since: head).isEmpty)
  }

  @Test("within one commit the sets of a type are disjoint (PH-03)")
  func disjoint() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(3)
    let album = try await small.album("Sea", a)
    let start = try small.library.currentToken
    try await small.change { $0.deleteAssets([a[0]]) }
    var made: [LocalIdentifier] = []
    try await small.change { block in
      block.setFavorite(true, for: [a[1]])
      block.purgeAssets([a[0]])
      made.append(block.createAsset(.invented(50)))
      block.setFavorite(true, for: made)
      block.album(album.id).add(made)
      let passing = block.createAsset(.invented(51))
      block.deleteAssets([passing])
      block.purgeAssets([passing])
      block.createFolder(title: "F")
    }
    let last = try #require(try small.library.fetchPersistentChanges(since: start).last)
    let assets = try last.changeDetails(for: .asset)
    #expect(assets.insertedLocalIdentifiers == Self.names(made), "What was made and changed is inserted.")
    #expect(assets.updatedLocalIdentifiers == Self.names([a[1]]))
    #expect(assets.deletedLocalIdentifiers == Self.names([a[0]]), "What came and went leaves no trace.")
    let albums = try last.changeDetails(for: .assetCollection)
    #expect(albums.updatedLocalIdentifiers == [album.localIdentifier] && albums.insertedLocalIdentifiers.isEmpty)
    #expect(try last.changeDetails(for: .collectionList).insertedLocalIdentifiers.count == 1)
    for type in ObjectType.allCases {
      let sets = try last.changeDetails(for: type)
      #expect(sets.insertedLocalIdentifiers.isDisjoint(with: sets.updatedLocalIdentifiers))
      #expect(sets.insertedLocalIdentifiers.isDisjoint(with: sets.deletedLocalIdentifiers))
      #expect(sets.updatedLocalIdentifiers.isDisjoint(with: sets.deletedLocalIdentifiers))
    }
  }

  @Test("hiding is an update; so is the trash where it is shown, and elsewhere the deletion (PH-04, PH-05)")
  func trash() async throws {
    let small = try SmallLibrary()
    let id = try await small.assets(1)[0]
    let start = try small.library.currentToken
    try await small.change { $0.setHidden(true, for: [id]) }
    try await small.change { $0.deleteAssets([id]) }
    try await small.change { $0.restoreAssets([id]) }
    try await small.change { $0.deleteAssets([id]) }
    try await small.change { $0.purgeAssets([id]) }
    let details = try small.library.fetchPersistentChanges(since: start).map { try $0.changeDetails(for: .asset) }
    let name = Self.names([id])
    #expect(details.map(\.updatedLocalIdentifiers) == [name, name, name, name, []])
    #expect(details.map(\.deletedLocalIdentifiers) == [[], [], [], [], name])
    #expect(details.allSatisfy { $0.insertedLocalIdentifiers.isEmpty })
    let untrashed = try small.library.fetchPersistentChanges(since: start, showsTrash: false)
      .map { try $0.changeDetails(for: .asset) }
    #expect(untrashed.map(\.updatedLocalIdentifiers) == [name, [], [], [], []])
    #expect(untrashed.map(\.deletedLocalIdentifiers) == [[], name, [], name, []])
    #expect(untrashed.map(\.insertedLocalIdentifiers) == [[], [], name, [], []])
  }

  @Test("a commit of which a part was erased is listed, and its details are 3210 (PH-07)")
  func erased() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(1)
    let start = try small.library.currentToken
    try await small.change { $0.setFavorite(true, for: a) }
    let sequence = try small.lastSequence()
    try await small.change { $0.setFavorite(false, for: a) }
    try small.erase(sequence)
    let changes = try small.library.fetchPersistentChanges(since: start)
    #expect(changes.count == 2)
    for type in ObjectType.allCases {
      let error = #expect(throws: LibraryError.self) { try changes[0].changeDetails(for: type) }
      #expect(error?.code == .persistentChangeDetailsUnavailable)
    }
    #expect(LibraryError.Code.persistentChangeDetailsUnavailable.rawValue == 3210)
    #expect(try changes[1].changeDetails(for: .asset).updatedLocalIdentifiers == Self.names(a))
    #expect(try small.library.fetchPersistentChanges(since: changes[0].changeToken).count == 1)
  }

  @Test("an identifier may appear in many commits, and merging them gives the current state (PH-08)")
  func merged() async throws {
    let small = try SmallLibrary()
    let start = try small.library.currentToken
    let a = try await small.assets(3)
    for round in 0..<4 { try await small.change { $0.setFavorite(round % 2 == 0, for: a) } }
    try await small.change { $0.deleteAssets([a[1]]) }
    try await small.change { $0.purgeAssets([a[1]]) }
    var known: Set<String> = []
    var mentions = 0
    for change in try small.library.fetchPersistentChanges(since: start) {
      let details = try change.changeDetails(for: .asset)
      known.formUnion(details.insertedLocalIdentifiers)
      known.subtract(details.deletedLocalIdentifiers)
      mentions += details.updatedLocalIdentifiers.contains(a[0].uuidString + "/L0/001") ? 1 : 0
    }
    #expect(known == Self.names([a[0], a[2]]) && mentions == 4)
  }

  @Test("reading from an old token again returns the same changes again (PH-10)")
  func sameAgain() async throws {
    let small = try SmallLibrary()
    let start = try small.library.currentToken
    _ = try await small.assets(1)
    _ = try await small.assets(1)
    let first = try small.library.fetchPersistentChanges(since: start)
    #expect(try small.library.fetchPersistentChanges(since: start) == first && first.count == 2)
    #expect(try small.library.fetchPersistentChanges(since: first[1].changeToken).isEmpty)
  }

  @Test("a limited client gets a grant as an insertion and a withdrawal as a deletion (AU-04, PH-03)")
  func grants() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(3)
    let app = try await small.ruleClient(.limited, [a[0]])
    let start = try app.currentToken
    try await small.change { $0.grant([a[1]], to: app.client) }
    try await small.change { $0.setFavorite(true, for: [a[1], a[2]]) }
    try await small.change { $0.withdraw([a[0], a[1]], from: app.client) }
    try await small.change { $0.setFavorite(true, for: a) }
    let details = try app.fetchPersistentChanges(since: start).map { try $0.changeDetails(for: .asset) }
    #expect(details.map(\.insertedLocalIdentifiers) == [Self.names([a[1]]), [], []])
    #expect(details.map(\.updatedLocalIdentifiers) == [[], Self.names([a[1]]), []])
    #expect(details.map(\.deletedLocalIdentifiers) == [[], [], Self.names([a[0], a[1]])])
  }
}

extension SmallLibrary {
  /// The sequence of the log's last event.
  fileprivate func lastSequence() throws -> UInt64 {
    let environment = try Environment.store(ofLibrary: temporary.url.path)
    let log = try EventLog(in: environment)
    return try environment.read { t in try log.head(t).sequence }
  }

  /// Erases the payload of an event, as the record's format provides for.
  fileprivate func erase(_ sequence: UInt64) throws {
    let environment = try Environment.store(ofLibrary: temporary.url.path)
    let events = try environment.database("events", integerKeys: true, create: false)
    try environment.write { t in
      let record = try #require(try t.bytes(for: sequence, in: events))
      guard case .array(var items) = try CBOR(decoding: record.span.bytes) else { throw Divergence("No record.") }
      (items[2], items[3]) = (.null, .null)
      try t.put(sequence, CBOR.array(items).encoded.span.bytes, in: events)
    }
  }
}
