import Foundation
import PhotoLedger
import TestSupport
import Testing

@Suite("Words, files and origins of assets")
struct WordRuleTests {
  @Test("an existing keyword to add or an absent one to remove is ignored; an empty caption clears it (AS-15)")
  func words() async throws {
    let small = try SmallLibrary()
    var creation = AssetCreation.invented(1)
    creation.caption = "A boat"
    creation.keywords = ["sea", "boat"]
    var made: LocalIdentifier?
    try await small.change { made = $0.createAsset(creation) }
    let id = try #require(made)
    func words() throws -> ExtendedMetadata { try small.library.extendedMetadata(of: try small.asset(id)) }
    #expect(try words().caption == "A boat" && words().keywords == ["boat", "sea"])
    func edit(_ set: (inout AssetChanges) -> Void) async throws {
      var changes = AssetChanges()
      set(&changes)
      _ = try await small.library.performChanges { [changes] in $0.edit([id], changes) }
    }
    let token = try small.library.currentToken
    try await edit { ($0.addedKeywords, $0.removedKeywords) = (["sea"], ["mountain"]) }
    #expect(try small.library.currentToken == token, "Nothing changed.")
    try await edit { ($0.addedKeywords, $0.removedKeywords) = (["harbour"], ["sea"]) }
    #expect(try words().keywords == ["boat", "harbour"])
    try await edit { $0.caption = .set("") }
    #expect(try words().caption == nil)
    try await edit { $0.caption = .set("Two boats") }
    try await edit { $0.caption = .clear }
    #expect(try words().caption == nil)
  }

  @Test("the words about an asset are read on request, as of the value's commit (FR-19)")
  func extendedMetadata() async throws {
    let small = try SmallLibrary()
    let id = try await small.assets(1)[0]
    let before = try small.asset(id)
    var changes = AssetChanges()
    changes.caption = .set("A boat")
    changes.addedKeywords = ["sea"]
    try await small.change { $0.edit([id], changes) }
    let after = try small.asset(id)
    #expect(try small.library.extendedMetadata(of: after).caption == "A boat")
    #expect(try small.library.extendedMetadata(of: before).caption == nil)
    #expect(try small.library.extendedMetadata(of: before).keywords.isEmpty)
    #expect(try small.library.extendedMetadata(of: after).originalFilename == "IMG_0.jpg")
  }

  @Test("assets of another computer or a shared album are neither changed nor deleted (AS-13, FR-08)")
  func synced() async throws {
    let small = try SmallLibrary()
    let own = try await small.assets(1)[0]
    var ids: [SourceTypes: LocalIdentifier] = [:]
    for (seed, source) in [(10, SourceTypes.cloudShared), (11, .iTunesSynced)] {
      var creation = AssetCreation.invented(seed)
      creation.sourceType = source
      try await small.change { ids[source] = $0.createAsset(creation) }
    }
    for id in ids.values {
      let edit = ContentEdit(
        adjustmentData: AdjustmentData(formatIdentifier: "x", formatVersion: "1", data: Data([1])),
        rendered: [ResourceDraft(type: .fullSizePhoto, source: .data(Data([2])))])
      let requests: [(AssetEditOperation, (ChangeBlock) -> Void)] = [
        (.delete, { $0.deleteAssets([id]) }), (.properties, { $0.setFavorite(true, for: [id]) }),
        (.content, { $0.editContent(of: id, edit) }), (.content, { $0.revertContent(of: id) }),
      ]
      for (operation, request) in requests {
        #expect(try await small.refusal(of: request) == .requestNotSupportedForAsset)
        #expect(try !small.asset(id).canPerform(operation))
        #expect(try !small.library.canPerform(operation, on: small.asset(id)))
      }
    }
    #expect(try AssetEditOperation.allCases.allSatisfy { try small.asset(own).canPerform($0) })
    // An album shows all of them; the library its own, unless it is asked for others.
    let album = try await small.album("Sea", [own] + ids.values)
    #expect(try small.library.fetchAssets().map(\.id) == [own])
    #expect(try small.members(album).count == 3)
    for (source, id) in ids {
      var options = FetchOptions()
      options.includeAssetSourceTypes = source
      #expect(try small.library.fetchAssets(options).map(\.id) == [id])
      #expect(try small.library.fetchAssets(options, in: album).map(\.id) == [id])
      options.includeAssetSourceTypes = [source, .userLibrary]
      #expect(try small.library.fetchAssets(options).map(\.id) == [own, id])
    }
  }

  @Test("the operations on an asset depend on the client's permission (AS-13, AU-01)")
  func permitted() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(2)
    let assets = try a.map { try small.asset($0) }
    let limited = try await small.ruleClient(.limited, [a[0]])
    let adding = try await small.ruleClient(.authorized, for: .addOnly, named: "com.example.adding")
    for operation in AssetEditOperation.allCases {
      #expect(try assets.map { try small.library.canPerform(operation, on: $0) } == [true, true])
      #expect(try assets.map { try limited.canPerform(operation, on: $0) } == [true, false])
      #expect(try assets.map { try adding.canPerform(operation, on: $0) } == [false, false])
    }
    var sound: LocalIdentifier?
    try await small.change { sound = $0.createAsset(.invented(50, .audio)) }
    let recording = try small.asset(try #require(sound))
    #expect(AssetEditOperation.allCases.map { recording.canPerform($0) } == [true, false, true])
    try await small.change { $0.deleteAssets([a[0]]) }
    try await small.change { $0.purgeAssets([a[0]]) }
    #expect(try !small.library.canPerform(.properties, on: assets[0]), "It is gone.")
  }

  @Test("a file keeps its bytes, name and kind; bytes without a name are given one (CB-11, AS-12)")
  func filesKeepWhatTheyHold() async throws {
    let small = try SmallLibrary()
    let bytes = Data("pixels, and all that the camera wrote beside them".utf8)
    let file = small.temporary.folder.place("IMG_7.HEIC")
    try bytes.write(to: file)
    let fromFile = try #require(AssetCreation(imageAt: file))
    let fromBytes = AssetCreation(mediaType: .image, resources: [ResourceDraft(type: .photo, source: .data(bytes))])
    let made = try await small.library.performChanges { block in
      block.createAsset(fromFile)
      block.createAsset(fromBytes)
    }
    let assets = try made.created.map { try #require(try small.library.asset($0)) }
    let resources = try assets.map { try #require(try small.library.resources(of: $0).first) }
    let stored = try zip(resources, assets).map { try Data(contentsOf: small.library.url(of: $0, in: $1)) }
    #expect(stored == [bytes, bytes])
    #expect(resources[0].originalFilename == "IMG_7.HEIC")
    #expect(resources[1].originalFilename.wholeMatch(of: /IMG_\d{12}/) != nil)
    #expect(resources.map(\.uniformTypeIdentifier) == ["public.heic", "public.image"])
  }

  @Test(
    "a file that is not an image or a video makes no creation (CB-09)",
    arguments: [
      ("a.jpg", true, false), ("a.DNG", true, false), ("a.mov", false, true), ("a.m4a", false, false),
      ("a.txt", false, false), ("a", false, false),
    ])
  func fromFiles(name: String, isImage: Bool, isVideo: Bool) throws {
    let folder = try TemporaryFolder()
    let file = folder.place(name)
    try Data("x".utf8).write(to: file)
    #expect((AssetCreation(imageAt: file) != nil) == isImage)
    #expect((AssetCreation(videoAt: file) != nil) == isVideo)
    #expect(AssetCreation(imageAt: folder.place("absent.jpg")) == nil)
    try FileManager.default.createDirectory(at: folder.place("folder.jpg"), withIntermediateDirectories: true)
    #expect(AssetCreation(imageAt: folder.place("folder.jpg")) == nil)
  }

  @Test(
    "a file that is known to be of another medium fails the block with 3302 (CB-06, CB-09)",
    arguments: [
      (MediaType.image, ResourceType.photo, "a.mov", nil as String?, false), (.video, .video, "a.jpg", nil, false),
      (.image, .photo, "a.jpg", "public.mpeg-4", false), (.audio, .audio, "a.heic", nil, false),
      (.audio, .audio, "a.mp4", nil, true), (.image, .photo, "a.unknown", nil, true),
      (.video, .video, "a.mp4", nil, true),
    ])
  func otherMedium(type: MediaType, role: ResourceType, name: String, given: String?, isFine: Bool) async throws {
    let small = try SmallLibrary()
    let draft = ResourceDraft(
      type: role, source: .data(Data("x".utf8)), originalFilename: name, uniformTypeIdentifier: given)
    let code = try await small.refusal { $0.createAsset(AssetCreation(mediaType: type, resources: [draft])) }
    #expect(code == (isFine ? nil : .invalidResource) && LibraryError.Code.invalidResource.rawValue == 3302)
  }
}
