import Foundation
import LibraryAudit
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

@Suite("Covers of albums")
struct CoverTests {
  private static let name = "com.example.app"

  private static func sentences(_ library: PhotoLibrary) throws -> [String] {
    var sentences: [String] = []
    try library.forEachLogEntry(LogFilter()) { entry in
      if entry.type == "collection.edited" { sentences.append(entry.sentence) }
      return true
    }
    return sentences
  }

  @Test("a choice is a change of the album, with exact details, and earlier states keep their cover")
  func choice() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(3)
    let album = try await small.album("Shore", a)
    var result = try small.library.fetchCollections(with: .album)
    var tokens = [(try small.library.currentToken, LocalIdentifier?.none)]
    for cover in [a[1], a[2], nil] {
      let change = try await small.change { $0.setCover(cover, of: album.id) }
      let details = try #require(try change.changeDetails(for: result))
      result = details.fetchResultAfterChanges
      #expect(details.changedIndexes == [0] && details.removedIndexes?.isEmpty ?? false && !details.hasMoves)
      #expect(result.firstObject?.cover == cover)
      let first = try #require(details.fetchResultBeforeChanges.firstObject)
      let object = try #require(change.changeDetails(for: first))
      #expect(object.objectBeforeChanges.cover == tokens.last?.1)
      #expect(object.objectAfterChanges?.cover == cover)
      let now = try small.now(album.id)
      #expect(now.cover == cover && now.modificationDate == album.modificationDate)
      #expect(try small.library.fetchKeyAssets(in: now)?.map(\.id) == [cover ?? a[0]])
      tokens.append((try small.library.currentToken, cover))
    }
    for (token, cover) in tokens {
      let then = try small.library.at(token)
      #expect(try then.collection(album.localIdentifier)?.cover == cover)
      #expect(try then.fetchKeyAssets(in: album)?.map(\.id) == [cover ?? a[0]])
    }
    let spelling = a[2].spelled(as: .asset)
    #expect(try Self.sentences(small.library).contains("The cover of 'Shore' is now \(spelling)."))
    #expect(try Self.sentences(small.library).last == "'Shore' has no chosen cover any more.")
  }

  @Test("choosing the same cover again, or removing a choice that does not exist, changes nothing")
  func again() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(1)
    let album = try await small.album("Shore", a)
    let before = try small.library.currentToken
    try await small.library.performChanges { $0.setCover(nil, of: album.id) }
    #expect(try small.library.currentToken == before)
    try await small.change { $0.setCover(a[0], of: album.id) }
    let chosen = try small.library.currentToken
    try await small.library.performChanges { $0.setCover(a[0], of: album.id) }
    #expect(try small.library.currentToken == chosen)
  }

  @Test("an asset that the album shows can be its cover, and nothing else can")
  func refusals() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(4)
    let album = try await small.album("Shore", [a[0], a[1], a[2]])
    let folder = try await small.folder("Travels", [])
    var smart = a[0]
    try await small.change { block in
      smart = block.createSmartAlbum(title: "Best", where: .always)
      block.setHidden(true, for: [a[1]])
      block.deleteAssets([a[2]])
    }
    let stranger = LocalIdentifier(UUID())
    let cases: [(LocalIdentifier?, LocalIdentifier, LibraryError.Code)] = [
      (a[3], album.id, .changeNotSupported), (a[1], album.id, .changeNotSupported),
      (a[2], album.id, .changeNotSupported), (folder.id, album.id, .changeNotSupported),
      (stranger, album.id, .identifierNotFound), (a[0], folder.id, .changeNotSupported),
      (a[0], smart, .changeNotSupported), (nil, smart, .changeNotSupported), (a[0], a[0], .changeNotSupported),
      (a[0], stranger, .identifierNotFound),
    ]
    for (cover, collection, code) in cases {
      let refusal = try await small.refusal { $0.setCover(cover, of: collection) }
      #expect(refusal == code, "\(String(describing: cover)) for \(collection)")
    }
  }

  /// What takes an asset out of an album's sight.
  enum Leaving: CaseIterable {
    case removed, removedByIndex, replaced, hidden, trashed, purged, hiddenWhileAnotherIsShown

    func request(_ block: ChangeBlock, _ album: LocalIdentifier, _ a: [LocalIdentifier]) {
      switch self {
      case .removed: block.album(album).remove([a[1]])
      case .removedByIndex: block.album(album).remove(at: IndexSet(integer: 1))
      case .replaced: block.album(album).replace(at: IndexSet(integer: 1), with: [a[3]])
      case .hidden: block.setHidden(true, for: [a[1]])
      case .trashed: block.deleteAssets([a[0], a[1]])
      case .purged:
        block.deleteAssets([a[1]])
        block.purgeAssets([a[1]])
      case .hiddenWhileAnotherIsShown:
        block.setHidden(true, for: [a[1]])
        block.setHidden(false, for: [a[2]])
      }
    }
  }

  @Test("a cover that the album no longer shows is not shown, and an undo restores it", arguments: Leaving.allCases)
  func leaving(how: Leaving) async throws {
    // Seeds of their own: the seed names the folder of a verification.
    let small = try SmallLibrary(.seeded(100 + UInt64(Leaving.allCases.firstIndex(of: how) ?? 0)))
    let a = try await small.assets(4)
    let album = try await small.album("Shore", [a[0], a[1], a[2]])
    try await small.change { block in
      block.setCover(a[1], of: album.id)
      if how == .hiddenWhileAnotherIsShown { block.setHidden(true, for: [a[2]]) }
    }
    let result = try small.library.fetchCollections(with: .album)
    let change = try await small.change { how.request($0, album.id, a) }
    #expect(try small.now(album.id).cover == nil)
    #expect(try change.changeDetails(for: result)?.changedIndexes == [0])
    try await small.library.undo(.commit(change.token))
    #expect(try small.now(album.id).cover == a[1])
    let verified = try small.library.verify()
    #expect(verified.isSound, "\(verified)")
  }

  @Test("an asset that moves within the album stays the cover")
  func moving() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(3)
    let album = try await small.album("Shore", a)
    try await small.change { $0.setCover(a[1], of: album.id) }
    try await small.change { $0.album(album.id).move(at: [1], to: 0) }
    try await small.change { $0.setFavorite(true, for: [a[1]]) }
    #expect(try small.now(album.id).cover == a[1])
  }

  @Test("a choice is undone, and one made since stands against the undo of what ended the earlier one")
  func undo() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(3)
    let album = try await small.album("Shore", a)
    try await small.change { $0.setCover(a[0], of: album.id) }
    let second = try await small.change { $0.setCover(a[1], of: album.id) }
    let undone = try await small.library.undo(.commit(second.token))
    #expect(undone.changes.map(\.property) == ["cover"])
    #expect(try small.now(album.id).cover == a[0])
    let removal = try await small.change { $0.album(album.id).remove([a[0]]) }
    try await small.change { $0.setCover(a[2], of: album.id) }
    try await small.library.undo(.commit(removal.token))
    #expect(try small.now(album.id).cover == a[2])
    #expect(try small.members(album).contains(a[0]))
    // The choice was changed since.
    let token = try #require(undone.token)
    await #expect(throws: LibraryError.self) { try await small.library.undo(.commit(token)) }
  }

  @Test("the former cover of an undone choice stays away while the album does not show it")
  func undoWithoutAsset() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(3)
    let album = try await small.album("Shore", a)
    try await small.change { $0.setCover(a[0], of: album.id) }
    let second = try await small.change { $0.setCover(a[1], of: album.id) }
    try await small.change { $0.album(album.id).remove([a[0]]) }
    let report = try await small.library.undo(.commit(second.token))
    #expect(try small.now(album.id).cover == a[1])
    #expect(report.changes.isEmpty && report.kept.count == 1, "\(report.kept)")
  }

  @Test("a limited client sees the covers that it may see, and nothing of others")
  func limited() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(4)
    let app = try await small.ruleClient(.limited, [a[0], a[1]])
    var own = a[0]
    try await app.performChanges { block in
      own = block.createAlbum(title: "Ours")
      block.album(own).add([a[0], a[1]])
    }
    try await small.library.performChanges { $0.album(own).add([a[2], a[3]]) }
    func seen() throws -> LocalIdentifier? { try app.collection(own.uuidString)?.cover }
    func chosen() throws -> LocalIdentifier? { try small.now(own).cover }
    try await app.performChanges { $0.setCover(a[1], of: own) }
    #expect(try seen() == a[1] && chosen() == a[1])

    let token = try app.currentToken
    try await small.library.performChanges { $0.setCover(a[2], of: own) }
    try await small.library.performChanges { $0.setCover(a[3], of: own) }
    try await small.library.performChanges { $0.album(own).remove([a[3]]) }
    #expect(try chosen() == nil && seen() == a[1])
    try await small.library.performChanges { $0.setCover(a[2], of: own) }
    #expect(try app.currentToken == token && app.fetchPersistentChanges(since: token).isEmpty)

    // As though it were the cover already; when the client removes it, it stays for everybody else.
    try await app.performChanges { $0.setCover(a[1], of: own) }
    #expect(try chosen() == a[2])
    #expect(try app.currentToken == token)
    try await app.performChanges { $0.setCover(nil, of: own) }
    #expect(try seen() == nil && chosen() == a[2])
    let unseen = try #require(try await failure(of: app) { $0.setCover(a[2], of: own) })
    #expect(unseen.code == .identifierNotFound)
    let shown = try #require(try app.collection(own.uuidString))
    #expect(try app.fetchKeyAssets(in: shown)?.map(\.id) == [a[0]])
  }

  @Test("a cover leaves the client's view with its asset, stays for everybody else, and comes back with an undo")
  func withdrawal() async throws {
    let small = try SmallLibrary(.seeded(110))
    let a = try await small.assets(2)
    let app = try await small.ruleClient(.limited, a)
    var own = a[0]
    try await app.performChanges { block in
      own = block.createAlbum(title: "Ours")
      block.album(own).add(a)
      block.setCover(a[1], of: own)
    }
    let withdrawn = try await small.library.performChanges { $0.withdraw([a[1]], from: Self.name) }
    #expect(try app.collection(own.uuidString)?.cover == nil)
    #expect(try small.now(own).cover == a[1])
    try await small.library.undo(.commit(withdrawn.token))
    #expect(try app.collection(own.uuidString)?.cover == a[1])
    let verified = try small.library.verify()
    #expect(verified.isSound, "\(verified)")
  }

  /// An album of a limited client with two assets that it may see and two others, whose cover is one of those.
  private static func shared(_ seed: UInt64) async throws -> (
    small: SmallLibrary, app: PhotoLibrary, album: LocalIdentifier, assets: [LocalIdentifier]
  ) {
    let small = try SmallLibrary(.seeded(seed))
    let a = try await small.assets(5)
    let app = try await small.ruleClient(.limited, [a[0], a[1]])
    var own = a[0]
    try await app.performChanges { block in
      own = block.createAlbum(title: "Ours")
      block.album(own).add([a[0], a[1]])
    }
    let album = own
    try await small.library.performChanges { $0.album(album).add([a[2], a[3]]) }
    try await app.performChanges { $0.setCover(a[0], of: album) }
    try await small.library.performChanges { $0.setCover(a[2], of: album) }
    return (small, app, album, a)
  }

  @Test("an undo restores a limited creator's own former cover, beside the one that others chose")
  func undoOfCreators() async throws {
    let (small, app, album, a) = try await Self.shared(120)
    func covers() throws -> [LocalIdentifier?] {
      [try small.now(album).cover, try app.collection(album.uuidString)?.cover]
    }
    #expect(try covers() == [a[2], a[0]])
    let chosen = try await small.library.performChanges { $0.setCover(a[1], of: album) }
    #expect(try covers() == [a[1], a[1]])
    let report = try await small.library.undo(.commit(chosen.token))
    #expect(report.changes.map(\.property) == ["cover"])
    #expect(try covers() == [a[2], a[0]])

    // The creator takes its choice back, and of the album's cover nothing changes.
    try await app.performChanges { $0.setCover(nil, of: album) }
    #expect(try covers() == [a[2], nil])
    let back = try await small.library.undo(.commit(try small.library.currentToken))
    #expect(back.changes.map(\.property) == ["creatorCover"] && back.token != nil)
    #expect(try covers() == [a[2], a[0]])
    try await small.library.undo(.commit(try #require(back.token)))
    #expect(try covers() == [a[2], nil])

    // A collection without one before is without one afterwards.
    let first = try await small.library.performChanges { $0.setCover(a[1], of: album) }
    #expect(try covers() == [a[1], a[1]])
    try await small.library.undo(.commit(first.token))
    #expect(try covers() == [a[2], nil])
  }

  @Test("a creator's former cover that its selection no longer holds stays away, and the report says so")
  func undoWithoutSelection() async throws {
    let (small, app, album, a) = try await Self.shared(121)
    try await app.performChanges { $0.setCover(nil, of: album) }
    let taken = try small.library.currentToken
    try await small.library.performChanges { $0.withdraw([a[0]], from: Self.name) }
    let report = try await small.library.undo(.commit(taken))
    #expect(report.changes.isEmpty && report.kept.count == 1, "\(report.kept)")
    #expect(report.kept.first?.contains("because its creator cannot see that asset in the album") == true)
    #expect(try small.now(album).cover == a[2])
    #expect(try app.collection(album.uuidString)?.cover == nil)
  }

  @Test("a merge makes the keeper the creator's cover where that was a duplicate, if the creator may see the keeper")
  func merging() async throws {
    for isGranted in [true, false] {
      let (small, app, album, a) = try await Self.shared(isGranted ? 122 : 123)
      let keeper = isGranted ? a[1] : a[4]
      let merged = try await small.library.performChanges { $0.merge([a[0]], into: keeper) }
      #expect(try small.now(album).cover == a[2], "The album's cover was no duplicate.")
      #expect(try app.collection(album.uuidString)?.cover == (isGranted ? keeper : nil))
      try await small.library.undo(.commit(merged.token))
      #expect(try app.collection(album.uuidString)?.cover == a[0])
      // Both covers, of which the creator's is not one of the duplicates.
      try await small.library.performChanges { $0.merge([a[2]], into: a[1]) }
      #expect(try small.now(album).cover == a[1])
      #expect(try app.collection(album.uuidString)?.cover == a[0], "A merge is no choice of another cover.")
      let verified = try small.library.verify()
      #expect(verified.isSound, "\(verified)")
    }
  }

  @Test("covers survive a rebuild of the store from its log")
  func rebuild() async throws {
    let small = try SmallLibrary(.seeded(111))
    let a = try await small.assets(2)
    let album = try await small.album("Shore", a)
    try await small.change { $0.setCover(a[1], of: album.id) }
    try small.library.rebuild()
    #expect(try small.now(album.id).cover == a[1])
    let verified = try small.library.verify()
    #expect(verified.isSound, "\(verified)")
  }
}
