import Foundation
import LMDB
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

@Suite("Details in files of assets")
struct AssetMetadataTests {
  /// Makes an asset that ordinary fetches show.
  private static func asset(
    _ metadata: AssetMetadata?, _ seed: Int, in small: SmallLibrary, caption: String? = nil,
    keywords: Set<String> = []
  ) async throws -> LocalIdentifier {
    var creation = AssetCreation.invented(seed)
    (creation.caption, creation.keywords, creation.fileMetadata) = (caption, keywords, metadata)
    (creation.isHidden, creation.sourceType, creation.burstIdentifier) = (false, .userLibrary, nil)
    var made: LocalIdentifier?
    try await small.change { made = $0.createAsset(creation) }
    return try #require(made)
  }

  private static func said(of id: LocalIdentifier, in library: PhotoLibrary) throws -> AssetMetadata? {
    try library.extendedMetadata(of: try #require(try library.asset(id.uuidString))).fileMetadata
  }

  private static func named(_ title: String) -> AssetMetadata {
    var metadata = AssetMetadata()
    metadata.title = title
    return metadata
  }

  private static func ids(_ format: String, in library: PhotoLibrary) throws -> [LocalIdentifier] {
    var options = FetchOptions()
    options.condition = try Condition(format: format, for: .asset)
    return try library.fetchAssets(options).map(\.id)
  }

  @Test("they are preserved by every as-of state, a rebuild and a reopening")
  func kept() async throws {
    let small = try SmallLibrary()
    let id = try await Self.asset(.full, 1, in: small)
    let plain = try await Self.asset(nil, 2, in: small)
    let before = try small.library.currentToken
    #expect(try Self.said(of: id, in: small.library) == .full)
    #expect(try Self.said(of: plain, in: small.library) == nil)
    var changes = AssetChanges()
    changes.fileMetadata = .set(Self.named("Read again"))
    try await small.change { $0.edit([id], changes) }
    #expect(try Self.said(of: id, in: small.library)?.title == "Read again")
    #expect(try Self.said(of: id, in: small.library.at(before)) == .full)
    try small.library.rebuild()
    #expect(try Self.said(of: id, in: small.library)?.title == "Read again")
  }

  @Test("a read replaces the details of the file, and never what a person edited")
  func outranked() async throws {
    let small = try SmallLibrary()
    let id = try await Self.asset(.full, 1, in: small, caption: "The last ferry", keywords: ["sea"])
    var edit = AssetChanges()
    (edit.caption, edit.addedKeywords, edit.rating) = (.set("By hand"), ["mine"], .five)
    try await small.change { $0.edit([id], edit) }
    #expect(try Self.said(of: id, in: small.library) == .full, "An edit does not change what the files say.")
    var reread = AssetChanges()
    reread.fileMetadata = .set(Self.named("Read again"))
    try await small.change { $0.edit([id], reread) }
    let asset = try #require(try small.library.asset(id.uuidString))
    let words = try small.library.extendedMetadata(of: asset)
    #expect(words.caption == "By hand" && words.keywords == ["mine", "sea"] && asset.rating == .five)
    let token = try small.library.currentToken
    try await small.library.performChanges { $0.edit([id], reread) }
    #expect(try small.library.currentToken == token, "A reading that finds the same changes nothing.")
  }

  @Test("a read is undone, unless there was a later one")
  func undone() async throws {
    let small = try SmallLibrary()
    let id = try await Self.asset(.full, 1, in: small)
    var changes = AssetChanges()
    changes.fileMetadata = .set(Self.named("One"))
    let first = try await small.library.performChanges { $0.edit([id], changes) }
    try small.library.undoAndWait(.commit(first.token))
    #expect(try Self.said(of: id, in: small.library) == .full)
    let second = try await small.library.performChanges { $0.edit([id], changes) }
    changes.fileMetadata = .set(Self.named("Two"))
    try await small.change { $0.edit([id], changes) }
    _ = try? small.library.undoAndWait(.commit(second.token))
    #expect(try Self.said(of: id, in: small.library)?.title == "Two")
  }

  @Test("an erasure leaves none of them")
  func erased() async throws {
    let small = try SmallLibrary()
    let id = try await Self.asset(.full, 1, in: small)
    try await small.change { $0.deleteAssets([id]) }
    try await small.change { $0.purgeAssets([id]) }
    try small.library.eraseAssets([id])
    let environment = try Environment.store(ofLibrary: small.temporary.url.path)
    let log = try FormatDump.text(of: environment)
    #expect(!log.contains(FormatDump.hex(Array("souza".utf8))), "the index of words")
    #expect(!log.contains(FormatDump.hex(Array("NIKKOR Z 35mm".utf8))))
  }

  static let hostile: [(String, @Sendable (inout AssetMetadata) -> Void)] = [
    ("a control character", { $0.title = "a\u{1B}[31m" }), ("a zero byte", { $0.lens = "a\0b" }),
    ("a long name", { $0.cameraModel = String(repeating: "x", count: 257) }),
    ("a long caption", { $0.caption = String(repeating: "x", count: 65_537) }),
    ("too many people", { $0.people = (0..<257).map { "p\($0)" } }), ("no number", { $0.aperture = .nan }),
    ("an endless number", { $0.focalLength = .infinity }), ("a negative time", { $0.exposureTime = -1 }),
    ("a rating of nine", { $0.rating = 9 }), ("a sensitivity of 0", { $0.iso = 0 }),
    ("blanks alone", { $0.software = "  \n " }), ("a keyword twice", { $0.keywords = ["a", "a"] }),
    ("endless sources", { $0.sources = Dictionary(uniqueKeysWithValues: (0..<99).map { ("s\($0)", "x") }) }),
  ]

  @Test("details that no model accepts are rejected, and bounded metadata is accepted", arguments: hostile.indices)
  func bounds(index: Int) async throws {
    let small = try SmallLibrary()
    var metadata = AssetMetadata.full
    Self.hostile[index].1(&metadata)
    await #expect(throws: LibraryError.self, "\(Self.hostile[index].0)") {
      try await Self.asset(metadata, 1, in: small)
    }
    let bounded = metadata.bounded()
    #expect(bounded.bounded() == bounded)
    let id = try await Self.asset(bounded, 2, in: small)
    #expect(try Self.said(of: id, in: small.library) == bounded)
  }

  @Test("bounded metadata have a blank for each character that Unicode calls a control, and for no other")
  func controls() {
    for scalar in (0...0x2FFF as ClosedRange<UInt32>).compactMap({ Unicode.Scalar($0) }) {
      let isControl = scalar.properties.generalCategory == .control
      var metadata = AssetMetadata()
      metadata.title = "a\(Character(scalar))b"
      let expected = isControl ? "a b" : metadata.title
      #expect(metadata.bounded().title?.exact == expected?.exact, "\(scalar.value)")
    }
  }

  /// Each text of metadata.
  static let texts: [(String, @Sendable (inout AssetMetadata, String) -> Void)] = [
    ("title", { $0.title = $1 }), ("caption", { $0.caption = $1 }), ("keywords", { $0.keywords = ["a", $1] }),
    ("hierarchicalKeywords", { $0.hierarchicalKeywords = [$1] }), ("people", { $0.people = [$1] }),
    ("copyright", { $0.copyright = $1 }), ("creators", { $0.creators = [$1] }), ("cameraMake", { $0.cameraMake = $1 }),
    ("cameraModel", { $0.cameraModel = $1 }), ("lens", { $0.lens = $1 }), ("software", { $0.software = $1 }),
    ("a name of sources", { $0.sources = [$1: "xmp"] }), ("a source", { $0.sources = ["caption": $1] }),
  ]

  @Test("two spellings that Unicode takes for one text are two texts of metadata", arguments: texts.indices)
  func spellings(index: Int) {
    let (name, set) = Self.texts[index]
    var (composed, decomposed) = (AssetMetadata.full, AssetMetadata.full)
    set(&composed, "Z\u{FC}rich")
    set(&decomposed, "Zu\u{308}rich")
    #expect(composed != decomposed, "\(name)")
    #expect(composed == composed.bounded() && decomposed == decomposed.bounded(), "\(name)")
  }

  @Test("an edit that changes only the spelling of what the files say is an event, which a rebuild applies")
  func respelled() async throws {
    let small = try SmallLibrary()
    let id = try await Self.asset(Self.named("Z\u{FC}rich"), 1, in: small)
    var changes = AssetChanges()
    changes.fileMetadata = .set(Self.named("Zu\u{308}rich"))
    try await small.change { $0.edit([id], changes) }
    #expect(try Self.said(of: id, in: small.library) == Self.named("Zu\u{308}rich"))
    try small.library.rebuild()
    #expect(try Self.said(of: id, in: small.library) == Self.named("Zu\u{308}rich"))
  }

  @Test("an event with a number out of range is corrupted, and crashes no process")
  func hostileEvent() async throws {
    let small = try SmallLibrary()
    var metadata = AssetMetadata()
    metadata.iso = 6400
    _ = try await Self.asset(metadata, 1, in: small)
    let environment = try Environment.store(ofLibrary: small.temporary.url.path)
    let events = try environment.database("events", integerKeys: true, create: false)
    // The field of the sensitivity, and CBOR's -6401 with the same length.
    let (field, forged): ([UInt8], [UInt8]) = ([15, 0x19, 0x19, 0], [15, 0x39, 0x19, 0])
    let changed = try environment.write { t in
      var rows: [(UInt64, [UInt8])] = []
      try t.forEach(in: events, from: 0) { (key, value) throws(LMDBError) in
        var bytes = value.withUnsafeBytes { Array($0) }
        if let place = bytes.firstRange(of: field) {
          bytes.replaceSubrange(place, with: forged)
          rows.append((key, bytes))
        }
        return .proceed
      }
      for (key, value) in rows { try t.put(key, value.span.bytes, in: events) }
      return rows.count
    }
    #expect(changed == 1)
    #expect { try small.library.rebuild() } throws: { ($0 as? LibraryError)?.code == .corrupted }
  }

  @Test("an asset is found by the words of title, people, camera and lens")
  func searched() async throws {
    let small = try SmallLibrary()
    let id = try await Self.asset(.full, 1, in: small)
    _ = try await Self.asset(nil, 2, in: small)
    func found(_ text: String) throws -> [LocalIdentifier] {
      try small.library.fetchAssets(FetchOptions(search: text)).map(\.id)
    }
    for text in ["evening pier", "souza", "nikon", "z 6", "nikkor 35mm"] {
      #expect(try found(text) == [id], "\(text)")
    }
    #expect(try found("ferry").isEmpty, "The words of the file's caption are not the asset's.")
    var changes = AssetChanges()
    changes.fileMetadata = .clear
    try await small.change { $0.edit([id], changes) }
    #expect(try found("souza").isEmpty)
  }

  @Test(
    "predicates compare the details of files, beside everything else",
    arguments: [
      ("cameraModel == \"Z 6\"", true), ("cameraModel != \"Z 6\"", false), ("lens CONTAINS[c] \"nikkor\"", true),
      ("cameraMake == NULL", false), ("aperture < 2 AND iso >= 400", true), ("exposureTime > 0.01", false),
      ("focalLength == 35", true), ("people == \"Bo\"", true), ("people CONTAINS \"Souza\"", true),
      ("people != \"Bo\"", false), ("NOT people == \"Ana\"", true), ("fileTitle BEGINSWITH \"Evening\"", true),
      ("keywords == \"sea\"", true), ("keywords == \"land\"", false), ("keywords IN {\"land\", \"sea\"}", true),
      ("keywords == NULL", false), ("caption LIKE \"*hand\"", true), ("caption == NULL", false),
      ("originalFilename ENDSWITH[c] \".jpg\"", true), ("dataSize > 0", true), ("path == NULL", false),
      ("path BEGINSWITH \"/invented/\"", true),
      ("isHidden == NO AND (iso > 9000 OR lens CONTAINS \"35\")", true),
      ("isHidden == YES OR iso == 400", true), ("isHidden == YES AND iso == 400", false),
    ])
  func predicates(format: String, isFound: Bool) async throws {
    let small = try SmallLibrary()
    let id = try await Self.asset(.full, 1, in: small, caption: "By hand", keywords: ["sea", "mine"])
    #expect(try Self.ids(format, in: small.library) == (isFound ? [id] : []))
    let token = try small.library.currentToken
    try await small.change { $0.deleteAssets([id]) }
    #expect(try Self.ids(format, in: small.library).isEmpty)
    #expect(try Self.ids(format, in: small.library.at(token)) == (isFound ? [id] : []), "as of then")
  }

  @Test("a result follows the effects of an edit on the details")
  func followed() async throws {
    let small = try SmallLibrary()
    let id = try await Self.asset(.full, 1, in: small)
    var options = FetchOptions()
    options.condition = try Condition(format: "lens CONTAINS \"35\"", for: .asset)
    let before = try small.library.fetchAssets(options)
    var changes = AssetChanges()
    changes.fileMetadata = .set(Self.named("No lens"))
    let lost = try #require(try await small.change { $0.edit([id], changes) }.changeDetails(for: before))
    #expect(lost.removedIndexes.map(Array.init) == [0] && lost.fetchResultAfterChanges.isEmpty)
    changes.fileMetadata = .set(.full)
    let found = try #require(
      try await small.change { $0.edit([id], changes) }.changeDetails(for: lost.fetchResultAfterChanges))
    #expect(found.insertedIndexes.map(Array.init) == [0])
    var favourite = AssetChanges()
    favourite.isFavorite = true
    let changed = try #require(
      try await small.change { $0.edit([id], favourite) }.changeDetails(for: found.fetchResultAfterChanges))
    #expect(changed.insertedIndexes.map(Array.init) == [] && changed.removedIndexes.map(Array.init) == [])
  }

  @Test("a fetch cannot be sorted by a detail, and two lists cannot be compared")
  func refused() throws {
    #expect(throws: FetchError.self) { try SortTerm("lens", for: .asset) }
    #expect(throws: FetchError.self) {
      try Condition.pair(.keywords, .equal, .caption).check(for: .asset)
    }
  }
}
