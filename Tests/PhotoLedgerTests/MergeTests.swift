import Foundation
import PhotoLedger
import TestSupport
import Testing

// Merging duplicates, against what lists and sets say: the album as an array, of which the first of the others is where
// the keeper comes in.

@Suite("Merging duplicates")
struct MergeTests {
  /// What a person can see of a small library.
  private struct Sight: Equatable {
    var albums: [[LocalIdentifier]] = []
    var covers: [LocalIdentifier?] = []
    var living: [LocalIdentifier] = []
    var words: [LocalIdentifier: Words] = [:]
  }

  private struct Words: Equatable {
    var caption: String?
    var keywords: Set<String>
    var rating: AssetRating
    var isFavorite: Bool
    var dates: [Date?]
    var offset: Int?
    var location: Location?
  }

  private static func sight(_ library: PhotoLibrary, _ albums: [LocalIdentifier]) throws -> Sight {
    var options = FetchOptions()
    (options.includeHiddenAssets, options.includeAllBurstAssets) = (true, true)
    var sight = Sight()
    for id in albums {
      let album = try #require(try library.collection(id.uuidString))
      sight.albums.append(try library.fetchAssets(options, in: album).map(\.id))
      sight.covers.append(album.cover)
    }
    for asset in try library.fetchAssets(options) {
      sight.living.append(asset.id)
      let extended = try library.extendedMetadata(of: asset)
      sight.words[asset.id] = Words(
        caption: extended.caption, keywords: Set(extended.keywords), rating: asset.rating,
        isFavorite: asset.isFavorite, dates: [asset.creationDate, asset.localCreationDate],
        offset: asset.timeZoneOffset, location: asset.location)
    }
    return sight
  }

  /// What a merge leaves of it.
  private static func merged(_ sight: Sight, _ others: [LocalIdentifier], into keeper: LocalIdentifier) -> Sight {
    var after = sight
    after.albums = sight.albums.map { members in
      var list = members
      if !list.contains(keeper), let first = list.firstIndex(where: others.contains) { list.insert(keeper, at: first) }
      return list.filter { !others.contains($0) }
    }
    after.living = sight.living.filter { !others.contains($0) }
    for other in others { after.words[other] = nil }
    guard var words = sight.words[keeper] else { return after }
    for other in others.compactMap({ sight.words[$0] }) {
      words.isFavorite = words.isFavorite || other.isFavorite
      words.keywords.formUnion(other.keywords)
      words.caption = words.caption ?? other.caption
      words.location = words.location ?? other.location
      if words.dates == [nil, nil], other.dates != [nil, nil] {
        (words.dates, words.offset) = (other.dates, other.offset)
      }
    }
    if words.rating == .unset {
      words.rating = others.compactMap { sight.words[$0]?.rating }.max { $0.rawValue < $1.rawValue } ?? .unset
    }
    after.words[keeper] = words
    return after
  }

  private static func creation(_ seed: Int, _ random: inout SeededGenerator) -> AssetCreation {
    var creation = AssetCreation.random(seed, &random)
    (creation.mediaType, creation.duration, creation.sourceType) = (.image, 0, .userLibrary)
    creation.resources = [.staged(.invented(seed, .photo))]
    (creation.burstIdentifier, creation.representsBurst, creation.burstSelectionTypes) = (nil, false, [])
    if random.chance(1, of: 3) {
      (creation.creationDate, creation.localCreationDate, creation.timeZoneOffset) = (nil, nil, nil)
    }
    if random.chance(1, of: 2) { creation.rating = .unset }
    return creation
  }

  @Test("any merge is one commit that leaves what lists and sets say, and its undo leaves what was before")
  func model() async throws {
    for seed in 1...UInt64(Dose.isFull ? Dose.of(60) : 30) {
      var random = SeededGenerator(seed: seed)
      let small = try SmallLibrary(.seeded(seed))
      let library = small.library
      var (assets, albums) = ([LocalIdentifier](), [LocalIdentifier]())
      try await small.change { block in
        for index in 0..<9 { assets.append(block.createAsset(Self.creation(index, &random))) }
        for index in 0..<5 {
          let album = block.createAlbum(title: "\(index)")
          block.album(album).add(random.some(random.int(0..<8), of: assets))
          albums.append(album)
        }
      }
      for album in albums {
        let shown = try library.fetchAssets(FetchOptions(), in: library.collection(album.uuidString)).map(\.id)
        guard let cover = random.some(1, of: shown).first else { continue }
        try await small.change { $0.setCover(cover, of: album) }
      }
      let before = try Self.sight(library, albums)
      let chosen = random.some(random.int(2..<5), of: assets)
      let (keeper, others) = (chosen[0], Array(chosen.dropFirst()))
      let receipt = try await library.performChanges { $0.merge(others, into: keeper) }
      let after = try Self.sight(library, albums)
      var expected = Self.merged(before, others, into: keeper)
      let isHidden = try #require(try library.asset(keeper.uuidString)).isHidden
      expected.covers = before.covers.map { cover in
        guard let cover, others.contains(cover) else { return cover }
        return isHidden ? nil : keeper
      }
      #expect(after == expected, "seed \(seed)")
      var trash = FetchOptions()
      (trash.showsTrash, trash.includeHiddenAssets) = (true, true)
      #expect(try Set(library.fetchAssets(trash).map(\.id)) == Set(others), "seed \(seed)")
      try library.undoAndWait(.commit(receipt.token))
      #expect(try Self.sight(library, albums) == before, "seed \(seed): an undo brings everything back.")
    }
  }

  @Test("a merge adds at most 1,024 keywords, and beyond that nothing is merged and the error says why")
  func manyKeywords() async throws {
    func words(_ numbers: Range<Int>) -> Set<String> { Set(numbers.map { "word \($0)" }) }
    let small = try SmallLibrary()
    let ids = try await small.assets(4)
    try await small.change { block in
      for (id, range) in zip(ids, [0..<600, 500..<1100, 1000..<1624, 1624..<1625]) {
        var changes = AssetChanges()
        changes.addedKeywords = words(range)
        block.edit([id], changes)
      }
    }
    let before = try small.library.currentToken
    let error = await #expect(throws: LibraryError.self) {
      try await small.library.performChanges { block in
        block.setFavorite(true, for: [ids[3]])
        block.merge(Array(ids[1...]), into: ids[0])
      }
    }
    #expect(error?.code == .invalidResource)
    #expect(error?.description.contains("Nothing was merged: the others have more than 1,024 keywords") == true)
    #expect(try small.library.currentToken == before && !(try small.asset(ids[3]).isTrashed))
    // What the keeper has already is not counted: 1,124 keywords are named here, and 1,024 added.
    try await small.library.performChanges { $0.merge(Array(ids[1...2]), into: ids[0]) }
    let merged = try small.library.extendedMetadata(of: try small.asset(ids[0]))
    #expect(Set(merged.keywords) == words(0..<1624))
  }

  @Test(
    "a merge with itself, of nothing, of the trash, of another medium or by a limited client is rejected as a whole")
  func refused() async throws {
    let small = try SmallLibrary()
    let ids = try await small.assets(4)
    var video: LocalIdentifier?
    try await small.change { video = $0.createAsset(.invented(50, .video)) }
    let film = try #require(video)
    try await small.change { $0.deleteAssets([ids[3]]) }
    let refused: [(others: [LocalIdentifier], code: LibraryError.Code)] = [
      ([], .changeNotSupported), ([ids[0]], .changeNotSupported), ([ids[1], ids[0]], .changeNotSupported),
      ([ids[3]], .changeNotSupported), ([film], .changeNotSupported),
      ([ids[1], LocalIdentifier(UUID())], .identifierNotFound),
    ]
    for (others, code) in refused {
      #expect(try await small.refusal { $0.merge(others, into: ids[0]) } == code, "\(others)")
    }
    try await small.change { block in
      block.setAuthorizationStatus(.limited, of: "com.example.limited")
      block.grant(Array(ids[..<2]), to: "com.example.limited")
    }
    let client = small.library.as("com.example.limited")
    let error = await #expect(throws: LibraryError.self) {
      try await client.performChanges { $0.merge([ids[1]], into: ids[0]) }
    }
    #expect(error?.code == .accessUserDenied && error?.description.contains("merge assets") == true)
  }
}
