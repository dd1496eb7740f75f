import Foundation
import LMDB
import TestSupport
import Testing

@testable import PhotoLedger

// The rows of a large block that no decision reads are gathered, and put at its end. The same requests in blocks of one
// put each row at once.

@Suite("Large blocks")
struct GatheredBlockTests {
  /// Creations, edits, moves to the trash and back, and purges, each valid after those before it; some asset is left in
  /// the trash.
  private static func requests(_ count: Int, seed: UInt64) -> [ChangeRequest] {
    var random = SeededGenerator(seed: seed)
    var (shown, trashed): ([LocalIdentifier], [LocalIdentifier]) = ([], [])
    var requests: [ChangeRequest] = []
    while requests.count < count - 1 {
      switch shown.count < 10 ? 0 : random.int(0..<12) {
      case 0...4:
        var creation = AssetCreation.random(requests.count, &random)
        // What comes from elsewhere cannot be changed.
        creation.sourceType = .userLibrary
        let identifier = LocalIdentifier(using: &random)
        shown.append(identifier)
        requests.append(.createAsset(creation, as: identifier))
      case 5, 6:
        var changes = AssetChanges()
        changes.caption = .set("words of \(requests.count % 7)")
        changes.addedKeywords = ["alp"]
        changes.removedKeywords = ["sea"]
        requests.append(.editAssets(random.some(3, of: shown), changes))
      case 7:
        var changes = AssetChanges()
        changes.creationDate = AssetChanges.Assignment(Date.drawn(&random))
        changes.isFavorite = random.chance(1, of: 2)
        changes.isHidden = random.chance(1, of: 3)
        requests.append(.editAssets(random.some(3, of: shown), changes))
      case 8, 9:
        let identifier = shown.remove(at: random.int(0..<shown.count))
        trashed.append(identifier)
        requests.append(.trashAssets([identifier]))
      case 10:
        guard let identifier = trashed.popLast() else { continue }
        shown.append(identifier)
        requests.append(.restoreAssets([identifier]))
      default:
        guard let identifier = trashed.popLast() else { continue }
        requests.append(.purgeAssets([identifier]))
      }
    }
    requests.append(.trashAssets([shown[0]]))
    return requests
  }

  /// A library at whose clock no time passes, after some blocks.
  private static func library(_ blocks: [[ChangeRequest]]) throws -> TemporaryLibrary {
    var environment = LibraryEnvironment.seeded(1)
    environment.now = { Date(timeIntervalSince1970: 1_750_000_000) }
    let made = try TemporaryLibrary(environment)
    for block in blocks {
      try made.library.performChangesAndWait { change in for request in block { change.add(request) } }
    }
    return made
  }

  @Test("a block of 200 requests leaves the rows that 200 blocks of one leave", arguments: 0..<3 as Range<UInt64>)
  func sameRows(seed: UInt64) throws {
    let requests = Self.requests(200, seed: seed)
    try #require(requests.count >= Writer.gatheringRequests && Writer.gatheringRequests > 1)
    let (large, small) = (try Self.library([requests]), try Self.library(requests.map { [$0] }))
    let dumps = try [large, small].map { made in
      try StoreDump(LMDB.Environment.store(ofLibrary: made.url.path), only: Projections.names)
    }
    #expect(dumps[0].difference(from: dumps[1]) == nil, "seed \(seed)")
    for name in ["words", "order.smartAlbumUserLibrary", "order.trashed"] {
      #expect(dumps[0].databases[name]?.isEmpty == false, "\(name)")
    }
  }

  @Test("a large block whose last request fails leaves nothing, and the next block is executed")
  func failure() throws {
    let made = try TemporaryLibrary()
    let assets = try made.create(Writer.gatheringRequests)
    let environment = try LMDB.Environment.store(ofLibrary: made.url.path)
    let before = try StoreDump(environment)
    let requests = Self.requests(Writer.gatheringRequests, seed: 4) + [.purgeAssets([assets[0]])]
    let error = #expect(throws: LibraryError.self) {
      try made.library.performChangesAndWait { change in for request in requests { change.add(request) } }
    }
    #expect(error?.code == .changeNotSupported)
    #expect(try StoreDump(environment).difference(from: before) == nil)
    try made.library.performChangesAndWait { change in
      for request in requests.dropLast() { change.add(request) }
    }
    #expect(try StoreDump(environment).difference(from: before) != nil)
  }

  @Test("what a large block gathers is gathered by a replay, too, and is what fetches search")
  func names() throws {
    let made = try TemporaryLibrary()
    let projections = made.library.store.core.projections
    let gathered = Set(projections.unreadByDecisions.map(\.name))
    #expect(gathered.isSubset(of: projections.unread.map(\.name)))
    #expect(gathered == Set(["pairing", "origins", "words"] + StoredOrder.all.map(\.name)))
  }
}
