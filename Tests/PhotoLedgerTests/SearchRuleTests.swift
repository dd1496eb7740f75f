import Foundation
import LMDB
import PhotoLedger
import TestSupport
import Testing

@Suite("Text search")
struct SearchRuleTests {
  private static func ids(_ text: String, in library: PhotoLibrary, _ album: PhotoCollection? = nil) throws
    -> [LocalIdentifier]
  {
    try library.fetchAssets(FetchOptions(search: text), in: album).map(\.id)
  }

  /// Makes an asset with a caption.
  private static func asset(_ caption: String, _ seed: Int, in small: SmallLibrary) async throws -> LocalIdentifier {
    var creation = AssetCreation.invented(seed)
    (creation.caption, creation.keywords) = (caption, [])
    (creation.isHidden, creation.sourceType, creation.burstIdentifier) = (false, .userLibrary, nil)
    var made: LocalIdentifier?
    try await small.change { made = $0.createAsset(creation) }
    return try #require(made)
  }

  @Test(
    "a search finds what has words that begin so, whatever the case, the accents and the width, in any script",
    arguments: [
      ("Été à Zürich", "zur ete", true), ("Été à Zürich", "ZÜRICH", true), ("Zurich", "zürich", true),
      ("Zürich", "rich", false), ("Zürich", "zurichs", false), ("Straße", "strasse", true), ("STRASSE", "straße", true),
      ("İstanbul", "istanbul", true), ("Ὀδυσσεύς", "οδυσσευσ", true), ("Ёлка в Москве", "елка моск", true),
      ("東京タワーの夜景", "タワー", true), ("東京タワーの夜景", "夜", true), ("東京タワーの夜景", "京東", false),
      ("ﾀﾜｰ", "タワー", true), ("ＩＭＧ１２", "img12", true), ("한강 공원", "하", true), ("한강 공원", "한강", true),
      ("שָׁלוֹם", "שלום", true), ("مَكتَب", "مكتب", true), ("ทะเลสวย", "สวย", true), ("हिन्दी दिवस", "हिन्दी", true),
      ("birthday 🎂!", "🎂", true), ("birthday", "🎂", false), ("2024-05-31", "05 2024", true), ("rock'n'roll", "n", true),
      ("ﬁnale", "fin", true), ("a b", "!!!", false), ("a b", "  ", true), ("a b", "", true),
    ])
  func scripts(caption: String, search: String, isFound: Bool) async throws {
    let small = try SmallLibrary()
    let id = try await Self.asset(caption, 1, in: small)
    #expect(try Self.ids(search, in: small.library) == (isFound ? [id] : []), "\(caption) by '\(search)'")
    let folder = try await small.folder(caption).id
    let found = try small.library.fetchCollections(FetchOptions(search: search)).map(\.id)
    #expect(found == (isFound ? [folder] : []), "a title: \(caption) by '\(search)'")
  }

  @Test("names of files, keywords and captions are searched, and what is edited is found by its new words alone")
  func words() async throws {
    let small = try SmallLibrary()
    let id = try await Self.asset("A boat", 7, in: small)
    let before = try small.library.currentToken
    #expect(try Self.ids("boa img 7", in: small.library) == [id])
    var changes = AssetChanges()
    (changes.caption, changes.addedKeywords) = (.set("A plane"), ["Harbour"])
    try await small.change { $0.edit([id], changes) }
    #expect(try Self.ids("boat", in: small.library).isEmpty)
    #expect(try Self.ids("plan harb", in: small.library) == [id])
    #expect(try Self.ids("boat", in: small.library.at(before)) == [id])
    #expect(try Self.ids("plane", in: small.library.at(before)).isEmpty)
  }

  @Test("a live result of a search gets exactly the effects of words, rows and the trash")
  func live() async throws {
    let small = try SmallLibrary()
    let first = try await Self.asset("sea", 1, in: small)
    let second = try await Self.asset("lake", 2, in: small)
    var held = try small.library.fetchAssets(FetchOptions(search: "sea"))
    func told(_ change: LibraryChange) throws -> (removed: [Int], inserted: [Int])? {
      guard let details = try change.changeDetails(for: held) else { return nil }
      held = details.fetchResultAfterChanges
      #expect(try held.map(\.id) == small.library.fetchAssets(FetchOptions(search: "sea")).map(\.id))
      return (Array(details.removedIndexes ?? []), Array(details.insertedIndexes ?? []))
    }
    var words = AssetChanges()
    words.caption = .set("Seaside")
    let came = try told(try await small.change { $0.edit([second], words) })
    #expect(came?.inserted == [1] && came?.removed == [])
    var favourite = AssetChanges()
    favourite.isFavorite = true
    let changed = try told(try await small.change { $0.edit([first], favourite) })
    #expect(changed?.inserted == [] && changed?.removed == [])
    let trashed = try told(try await small.change { $0.deleteAssets([first]) })
    #expect(trashed?.removed == [0])
    let restored = try told(try await small.change { $0.restoreAssets([first]) })
    #expect(restored?.inserted == [0])
    words.caption = .clear
    let gone = try told(try await small.change { $0.edit([second], words) })
    #expect(gone?.removed == [1])
    #expect(try told(try await small.change { $0.edit([second], favourite) }) == nil)
  }

  @Test(
    "the first assets of a search are those of its full result, for all words, orders and limits",
    arguments: [
      "often", "seldom", "late", "once", "often seldom", "often late", "often img", "missing", "often missing",
      "half seldom", "late half", "half",
    ])
  func firstOfMany(text: String) async throws {
    let small = try SmallLibrary()
    var (made, said): ([LocalIdentifier], [LocalIdentifier: Set<String>]) = ([], [:])
    try await small.change { change in
      for index in 0..<60 {
        var creation = AssetCreation.invented(index)
        (creation.isHidden, creation.sourceType, creation.burstIdentifier) = (index % 11 == 0, .userLibrary, nil)
        creation.creationDate = Date(timeIntervalSinceReferenceDate: Double(index * 37 % 60) * 1000)
        var words = ["often"]
        if index % 2 == 0 { words.append("half") }
        if index % 7 == 0 { words.append("seldom") }
        if index >= 50 { words.append("late") }
        if index == 13 { words.append("once") }
        (creation.caption, creation.keywords) = (words.joined(separator: " "), [])
        let id = change.createAsset(creation)
        made.append(id)
        said[id] = Set(words)
      }
    }
    try await small.change { $0.deleteAssets([made[3], made[21], made[55]]) }
    let album = try await small.album("All", made.reversed())
    let client = try await small.ruleClient(.limited, made.enumerated().filter { $0.offset % 2 == 0 }.map(\.element))
    for library in [small.library, client] {
      for sort in [[], ["creationDate:asc"], ["creationDate:desc"], ["rating:desc"]] {
        for scope in library === client ? [nil] : [nil, album] {
          var options = FetchOptions()
          options.sort = try sort.map { try SortTerm($0, for: .asset) }
          let everything = try library.fetchAssets(options, in: scope).map { $0 }
          let words = Set(text.split(separator: " ").map(String.init)).subtracting(["img"])
          let expected = everything.map(\.id).filter { words.isSubset(of: said[$0] ?? []) }
          options.search = text
          #expect(try library.fetchAssets(options, in: scope).map(\.id) == expected, "\(sort)")
          for limit in [1, 2, 5, 6, 9, 30, 100] {
            options.fetchLimit = limit
            let result = try library.fetchAssets(options, in: scope)
            #expect(result.map(\.id) == Array(expected.prefix(limit)), "\(sort), \(limit) of them")
          }
        }
      }
    }
  }

  @Test("the first assets of a search stay those of their commit, in pieces too, and get what comes before them")
  func firstOfManyLater() async throws {
    let small = try SmallLibrary()
    var made: [LocalIdentifier] = []
    for index in 0..<40 { made.append(try await Self.asset("boat", index, in: small)) }
    var options = FetchOptions(search: "boat")
    options.fetchLimit = 30
    let first = try small.library.fetchAssets(options)
    let other = try small.library.fetchAssets(options)
    let change = try await small.change { $0.deleteAssets([made[0], made[29]]) }
    var pieces: [LocalIdentifier] = []
    try first.forEachPiece { pieces += $0.map(\.id) }
    #expect(pieces == Array(made[..<30]))
    let details = try #require(try change.changeDetails(for: other))
    #expect(Array(details.removedIndexes ?? []) == [0, 29] && Array(details.insertedIndexes ?? []) == [28, 29])
    #expect(try details.fetchResultAfterChanges.map(\.id) == small.library.fetchAssets(options).map(\.id))
    #expect(first.map(\.id) == pieces, "the result of the earlier commit")
  }

  @Test("a client that sees a selection finds nothing else, whatever it searches for")
  func limited() async throws {
    let small = try SmallLibrary()
    let shown = try await Self.asset("harbour at night", 1, in: small)
    _ = try await Self.asset("harbour secret", 2, in: small)
    let client = try await small.ruleClient(.limited, [shown])
    #expect(try Self.ids("harbour", in: client) == [shown])
    #expect(try Self.ids("secret", in: client).isEmpty && Self.ids("jpg", in: client) == [shown])
  }

  @Test(
    "a search that is too long is rejected with a sentence",
    arguments: [
      String(repeating: "a", count: 1025),
      (0..<33).map { "w\(Character(Unicode.Scalar(UInt8(65 + $0 % 26))))\($0)x" }
        .joined(separator: " "),
    ])
  func tooLong(text: String) throws {
    let library = try SmallLibrary().library
    let error = #expect(throws: LibraryError.self) { try library.fetchAssets(FetchOptions(search: text)) }
    #expect(error?.code == .unsupportedPredicate && error?.description.contains("at most") == true)
  }
}
