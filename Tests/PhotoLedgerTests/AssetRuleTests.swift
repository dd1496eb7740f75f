import Foundation
import TestSupport
import Testing

@testable import PhotoLedger

@Suite("Assets")
struct AssetRuleTests {
  @Test("every change of a property sets a new modification date, and a request without effect does not (AS-01)")
  func modificationDate() async throws {
    let small = try SmallLibrary()
    let id = try await small.assets(1)[0]
    let made = try #require(try small.asset(id).modificationDate)
    try await small.change { $0.setFavorite(true, for: [id]) }
    let marked = try #require(try small.asset(id).modificationDate)
    #expect(marked > made)
    let before = try small.library.currentToken
    _ = try await small.library.performChanges { $0.setFavorite(true, for: [id]) }
    #expect(try small.asset(id).modificationDate == marked)
    #expect(try small.library.currentToken == before)
    try await small.change { $0.addResources([.stored(.invented(9, .alternatePhoto))], to: id) }
    #expect(try #require(try small.asset(id).modificationDate) > marked)
  }

  @Test("an asset of bytes that were stored before, and not examined, is not dated by its addition (CB-11)")
  func undated() async throws {
    let small = try SmallLibrary()
    var creation = AssetCreation(mediaType: .image, resources: [.stored(.invented(1, .photo))])
    creation.isDatedByAddition = true
    try await small.change { [creation] in $0.createAsset(creation) }
    let asset = try #require(try small.library.fetchAssets().firstObject)
    #expect(asset.creationDate == nil)
  }

  @Test(
    "an invalid combination of files fails the block (AS-11, LP-02, CB-06)",
    arguments: [
      (MediaType.image, [ResourceType.photo, .pairedVideo], nil as LibraryError.Code?),
      (.image, [.photo, .alternatePhoto, .adjustmentData], nil), (.video, [.video], nil), (.audio, [.audio], nil),
      (.image, [], .missingResource), (.image, [.pairedVideo], .invalidResource), (.image, [.video], .invalidResource),
      (.image, [.photo, .photo], .invalidResource), (.video, [.video, .photo], .invalidResource),
      (.audio, [.photo], .invalidResource), (.unknown, [.photo], .invalidResource),
    ])
  func combinations(type: MediaType, resources: [ResourceType], code: LibraryError.Code?) async throws {
    let small = try SmallLibrary()
    let creation = AssetCreation(
      mediaType: type, resources: resources.enumerated().map { .stored(.invented($0.offset, $0.element)) })
    let found = try await small.refusal { $0.createAsset(creation) }
    #expect(found == code)
    #expect(try small.library.fetchAssets().count == (code == nil ? 1 : 0))
  }

  @Test("trash is an update, restoring restores every place, purge is final (AS-14, PH-04)")
  func trash() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(3)
    let albums = [try await small.album("A", a), try await small.album("B", a.reversed())]
    try await small.change { $0.deleteAssets([a[1]]) }
    #expect(try small.library.fetchAssets().map(\.id) == [a[0], a[2]])
    var trash = FetchOptions()
    trash.showsTrash = true
    #expect(try small.library.fetchAssets(trash).map(\.id) == [a[1]])
    #expect(try await small.refusal { $0.purgeAssets([a[0]]) } == .changeNotSupported)
    try await small.change { $0.restoreAssets([a[1]]) }
    #expect(try albums.map { try small.members($0) } == [a, a.reversed()])
    try await small.change { $0.deleteAssets([a[1]]) }
    try await small.change { $0.purgeAssets([a[1]]) }
    #expect(try small.library.asset(a[1].uuidString) == nil)
    #expect(try small.library.fetchAssets(trash).isEmpty)
    #expect(try await small.refusal { $0.restoreAssets([a[1]]) } == .identifierNotFound)
  }

  @Test(
    "an asset is found by the content identifier of each of its files, also where Unicode takes two for one text",
    arguments: [("pair", "pair"), ("caf\u{E9}", "cafe\u{301}")])
  func contentIdentifiers(still: String, movie: String) async throws {
    let small = try SmallLibrary()
    var (photo, video) = (AssetResource.invented(1), AssetResource.invented(2, .pairedVideo))
    (photo.contentIdentifier, video.contentIdentifier) = (still, movie)
    let creation = AssetCreation(mediaType: .image, resources: [.staged(photo), .staged(video)])
    let made = try await small.library.performChanges { $0.createAsset(creation) }
    let id = try #require(LocalIdentifier(made.created[0]))
    for identifier in [still, movie] {
      #expect(try small.library.assets(withContentIdentifier: identifier).map(\.id) == [id])
    }
    try await small.change { $0.deleteAssets([id]) }
    try await small.change { $0.purgeAssets([id]) }
    for identifier in [still, movie] { #expect(try small.library.assets(withContentIdentifier: identifier).isEmpty) }
  }

  @Test("names and types as long as those of any file are accepted, and longer ones fail the block (CB-06)")
  func longNames() async throws {
    let small = try SmallLibrary()
    func code(_ change: (inout AssetResource) -> Void) async throws -> LibraryError.Code? {
      var resource = AssetResource.invented(1)
      change(&resource)
      let creation = AssetCreation(mediaType: .image, resources: [.stored(resource)])
      return try await small.refusal { $0.createAsset(creation) }
    }
    func text(_ count: Int) -> String { String(repeating: "n", count: count) }
    #expect(try await code { $0.originalFilename = text(1024) } == nil)
    #expect(try await code { $0.uniformTypeIdentifier = text(1024) } == nil)
    #expect(try await code { $0.originalFilename = text(2000) } == .invalidResource)
    #expect(try await code { $0.originalFilename = String(repeating: "é", count: 513) } == .invalidResource)
    #expect(try await code { $0.uniformTypeIdentifier = text(1025) } == .invalidResource)
    let id = try await small.assets(1)[0]
    var resource = AssetResource.invented(9, .alternatePhoto)
    resource.originalFilename = text(1025)
    let draft = ResourceDraft.stored(resource)
    #expect(try await small.refusal { $0.addResources([draft], to: id) } == .invalidResource)
    // A file system has such a name, and the dynamic type of its ending is longer than the name.
    let named = ResourceDraft(type: .photo, source: .data(Data("x".utf8)), originalFilename: "a." + text(253))
    #expect(try await small.refusal { $0.createAsset(AssetCreation(mediaType: .image, resources: [named])) } == nil)
  }

  @Test("captions of the greatest length for as many assets as an event lists are one commit of several events (AS-15)")
  func longCaptions() async throws {
    let small = try SmallLibrary()
    let ids = try await small.assets(256)
    func captions() throws -> [String?] {
      try ids.map { try small.library.extendedMetadata(of: try small.asset($0)).caption }
    }
    let words = ["a", "b"].map { String(repeating: $0, count: 65_536) }
    var tokens: [Token] = []
    for word in words {
      var changes = AssetChanges()
      changes.caption = .set(word)
      let change = try await small.change { [changes] in $0.edit(ids, changes) }
      #expect(change.commits.count == 1 && change.commits[0].eventCount > 1)
      tokens.append(change.token)
    }
    let edited = try captions()
    #expect(edited.allSatisfy { $0 == words[1] })
    try small.library.undoAndWait(.commit(tokens[1]))
    let undone = try captions()
    #expect(undone.allSatisfy { $0 == words[0] })
    // Few words are in one event, as they were before there was a bound of bytes.
    var changes = AssetChanges()
    changes.caption = .clear
    changes.isFavorite = true
    let few = try await small.change { [changes] in $0.edit(Array(ids[..<8]), changes) }
    #expect(few.commits.map(\.eventCount) == [1])
  }

  @Test("runs end at a number of elements, and before the sum of their sizes exceeds a bound")
  func runs() {
    func runs(_ sizes: [Int]) -> [[Int]] { sizes.inRuns(of: 3, upTo: 10) { $0 }.map { Array($0) } }
    #expect(runs([]).isEmpty)
    #expect(runs([50]) == [[50]])
    #expect(runs([1, 2, 3, 4, 5]) == [[1, 2, 3], [4, 5]])
    #expect(runs([5, 5, 1]) == [[5, 5], [1]])
    #expect(runs([50, 1, 50, 60, 2]) == [[50], [1], [50], [60], [2]])
    #expect(runs([0, 0, 0]) == [[0, 0, 0]])
  }

  @Test("the place of an element among ascending ones is found, also before the first and after the last")
  func lowerBound() {
    for count in 0...9 {
      let even = (0..<count).map { 2 * $0 }
      for wanted in -1...20 {
        #expect(even.lowerBound { $0 < wanted } == even.count { $0 < wanted }, "\(wanted) among \(even)")
      }
    }
  }

  @Test("edits of more assets than one event lists are one commit")
  func manyAtOnce() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(700)
    let album = try await small.album("Large", a)
    let result = try small.library.fetchAssets(FetchOptions(), in: album)
    let change = try await small.change { block in
      block.setHidden(true, for: Array(a[100..<500]))
      block.album(album.id).replace(at: IndexSet(0..<300), with: Array(a[400..<700]).reversed())
    }
    #expect(change.commits.count == 1 && change.commits[0].eventCount > 3)
    let details = try #require(try change.changeDetails(for: result))
    let after = try small.library.fetchAssets(FetchOptions(), in: album).map(\.id)
    #expect(details.fetchResultAfterChanges.map(\.id) == after)
    #expect(try small.now(album.id).estimatedAssetCount == after.count)
    let changed = Set(a[100..<500])
    try ListChange(before: a, after: after, changed: changed).check(details, touched: Set(a), exactly: false)
  }

  @Test("rows, files and words that differ in a spelling are not equal: the store compares bytes")
  func spellings() {
    let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
    let changes: [(inout AssetDetails, String) -> Void] = [
      { $0.resources[0].originalFilename = $1 }, { $0.resources[0].uniformTypeIdentifier = $1 },
      { $0.resources[0].contentIdentifier = $1 }, { $0.resources[0].storage = .referenced(path: $1) },
      { $0.caption = $1 }, { $0.keywords = [$1] }, { $0.origin = $1 },
      { $0.adjustment = AssetDetails.Adjustment(formatIdentifier: $1, formatVersion: "1") },
      { $0.adjustment = AssetDetails.Adjustment(formatIdentifier: "a", formatVersion: $1) },
    ]
    for (index, change) in changes.enumerated() {
      var (one, other) = (AssetDetails(resources: [.invented(1)]), AssetDetails(resources: [.invented(1)]))
      change(&one, composed)
      change(&other, decomposed)
      #expect(one != other, "Change \(index).")
      change(&other, composed)
      #expect(one == other && Set(one.resources) == Set(other.resources))
    }
    let date = Date(timeIntervalSinceReferenceDate: 0)
    let row = AssetRow(number: 7, identifier: LocalIdentifier(high: 1, low: 2), addedDate: date)
    var (one, other) = (row, row)
    (one.burstIdentifier, other.burstIdentifier) = (composed, decomposed)
    #expect(one != other)
    other.burstIdentifier = composed
    #expect(one == other)
  }
}
