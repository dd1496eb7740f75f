import Foundation
import PhotoLedger
import TestSupport
import Testing

/// Short ways to make, edit and look at assets with files of their own.
private struct Darkroom {
  let small: SmallLibrary

  init() throws { small = try SmallLibrary() }

  static func draft(_ type: ResourceType, _ text: String, _ uniformType: String? = nil) -> ResourceDraft {
    ResourceDraft(
      type: type, source: .data(Data(text.utf8)), originalFilename: nil, uniformTypeIdentifier: uniformType)
  }

  func make(_ mediaType: MediaType, _ files: [ResourceDraft], width: Int = 400, height: Int = 300) async throws
    -> LocalIdentifier
  {
    var creation = AssetCreation(mediaType: mediaType, resources: files)
    (creation.pixelWidth, creation.pixelHeight) = (width, height)
    if mediaType == .video { creation.duration = 8 }
    let made = try await small.library.performChanges { $0.createAsset(creation) }
    return try #require(LocalIdentifier(made.created[0]))
  }

  func photo() async throws -> LocalIdentifier { try await make(.image, [Self.draft(.photo, "original")]) }

  static func edit(
    _ recipe: String, _ rendered: [ResourceDraft]? = nil, base: EditingBase = .unedited
  ) -> ContentEdit {
    ContentEdit(
      adjustmentData: AdjustmentData(
        formatIdentifier: "com.example.editor", formatVersion: "1.0", data: Data(recipe.utf8)),
      rendered: rendered ?? [draft(.fullSizePhoto, "render of \(recipe)")], base: base)
  }

  func edit(_ id: LocalIdentifier, _ edit: ContentEdit) async throws {
    try await small.library.performChanges { $0.editContent(of: id, edit) }
  }

  /// The files of an asset by their types, as text.
  func files(_ id: LocalIdentifier) throws -> [ResourceType: String] {
    let asset = try small.asset(id)
    return try Dictionary(
      uniqueKeysWithValues: small.library.resources(of: asset).map { resource in
        let bytes = try Data(contentsOf: small.library.url(of: resource, in: asset))
        return (resource.type, String(decoding: bytes, as: UTF8.self))
      })
  }
}

@Suite("Edits of content")
struct EditRuleTests {
  @Test("the size and length of an asset are those of its current version (AS-02)")
  func currentSize() async throws {
    let room = try Darkroom()
    let id = try await room.photo()
    var crop = Darkroom.edit("crop")
    (crop.pixelWidth, crop.pixelHeight) = (120, 80)
    try await room.edit(id, crop)
    #expect(try room.small.asset(id).pixelWidth == 120 && room.small.asset(id).pixelHeight == 80)
    try await room.edit(id, Darkroom.edit("colour", base: .rendered))
    #expect(try room.small.asset(id).pixelWidth == 120, "An edit that says nothing of the size leaves it.")
    let video = try await room.make(.video, [Darkroom.draft(.video, "film")])
    var trim = Darkroom.edit("trim", [Darkroom.draft(.fullSizeVideo, "shorter")])
    trim.duration = 3
    try await room.edit(video, trim)
    #expect(try room.small.asset(video).duration == 3)
    try await room.small.library.performChanges { block in
      block.revertContent(of: id)
      block.revertContent(of: video)
    }
    #expect(try room.small.asset(id).pixelWidth == 400 && room.small.asset(id).pixelHeight == 300)
    #expect(try room.small.asset(video).duration == 8)
  }

  @Test("an edit needs its rendered file and a new recipe of at least a byte (AS-04)")
  func needs() async throws {
    let room = try Darkroom()
    let id = try await room.photo()
    try await room.edit(id, Darkroom.edit("first"))
    let before = try room.files(id)
    let (photo, video) = (Darkroom.draft(.fullSizePhoto, "x"), Darkroom.draft(.fullSizeVideo, "x"))
    let recipe = Darkroom.draft(.adjustmentData, "recipe")
    let cases: [(ContentEdit, LibraryError.Code)] = [
      (Darkroom.edit("new", []), .invalidResource), (Darkroom.edit(""), .invalidResource),
      (Darkroom.edit("first"), .invalidResource), (Darkroom.edit("new", [video]), .invalidResource),
      (Darkroom.edit("new", [photo, video]), .invalidResource),
      (Darkroom.edit("new", [photo, photo]), .invalidResource),
      (Darkroom.edit("new", [photo, recipe]), .invalidResource),
      (Darkroom.edit("new", [recipe, photo]), .invalidResource),
      (Darkroom.edit("new", [recipe]), .invalidResource), (Darkroom.edit("", [photo, recipe]), .invalidResource),
    ]
    for (edit, code) in cases {
      #expect(try await room.small.refusal { $0.editContent(of: id, edit) } == code)
      #expect(try room.files(id) == before)
    }
    var nameless = Darkroom.edit("new")
    nameless.adjustmentData.formatIdentifier = ""
    #expect(try await room.small.refusal { $0.editContent(of: id, nameless) } == .invalidResource)
    let plain = try await room.photo()
    let fromRender = Darkroom.edit("new", base: .rendered)
    #expect(try await room.small.refusal { $0.editContent(of: plain, fromRender) } == .changeNotSupported)
  }

  @Test("the original, and input and output of the last edit are kept, with one recipe (AS-05, AS-06)")
  func kept() async throws {
    let room = try Darkroom()
    let id = try await room.photo()
    try await room.edit(id, Darkroom.edit("one"))
    #expect(
      try room.files(id) == [.photo: "original", .fullSizePhoto: "render of one", .adjustmentData: "one"])
    try await room.edit(id, Darkroom.edit("two", base: .rendered))
    #expect(
      try room.files(id) == [
        .photo: "original", .fullSizePhoto: "render of two", .adjustmentData: "two",
        .adjustmentBasePhoto: "render of one",
      ])
    try await room.edit(id, Darkroom.edit("three", base: .rendered))
    #expect(try room.files(id)[.adjustmentBasePhoto] == "render of two")
    // Beginning anew from the base keeps it.
    try await room.edit(id, Darkroom.edit("four"))
    #expect(
      try room.files(id) == [
        .photo: "original", .fullSizePhoto: "render of four", .adjustmentData: "four",
        .adjustmentBasePhoto: "render of two",
      ])
  }

  @Test("videos and Live Photos have counterparts of each file of an edit (AS-06, LP-01)")
  func counterparts() async throws {
    let room = try Darkroom()
    let video = try await room.make(.video, [Darkroom.draft(.video, "film")])
    try await room.edit(video, Darkroom.edit("one", [Darkroom.draft(.fullSizeVideo, "A")]))
    try await room.edit(video, Darkroom.edit("two", [Darkroom.draft(.fullSizeVideo, "B")], base: .rendered))
    #expect(
      try room.files(video) == [
        .video: "film", .fullSizeVideo: "B", .adjustmentData: "two", .adjustmentBaseVideo: "A",
      ])
    let live = try await room.make(.image, [Darkroom.draft(.photo, "still"), Darkroom.draft(.pairedVideo, "moving")])
    for half in [[Darkroom.draft(.fullSizePairedVideo, "D")], []] {
      #expect(
        try await room.small.refusal { $0.editContent(of: live, Darkroom.edit("half", half)) } == .invalidResource)
    }
    func both(_ still: String, _ moving: String) -> [ResourceDraft] {
      [Darkroom.draft(.fullSizePhoto, still), Darkroom.draft(.fullSizePairedVideo, moving)]
    }
    try await room.edit(live, Darkroom.edit("one", both("C", "D")))
    try await room.edit(live, Darkroom.edit("two", both("E", "F"), base: .rendered))
    #expect(
      try room.files(live) == [
        .photo: "still", .pairedVideo: "moving", .fullSizePhoto: "E", .fullSizePairedVideo: "F",
        .adjustmentData: "two", .adjustmentBasePhoto: "C", .adjustmentBasePairedVideo: "D",
      ])
  }

  @Test("an edit of a Live Photo's still alone makes it a still, until it is reverted or both are edited (LP-01)")
  func editedStill() async throws {
    let room = try Darkroom()
    let files = [Darkroom.draft(.photo, "still"), Darkroom.draft(.pairedVideo, "moving")]
    let live = try await room.make(.image, files)
    func shown() throws -> (MediaSubtypes, PlaybackStyle, film: ResourceType?) {
      let asset = try room.small.asset(live)
      let film = try room.small.library.resources(of: asset).shownPairedVideo(asset)
      return (asset.mediaSubtypes, asset.playbackStyle, film?.type)
    }
    let (motion, still) = ((MediaSubtypes.photoLive, PlaybackStyle.livePhoto), (MediaSubtypes(), PlaybackStyle.image))
    #expect(try shown() == (motion.0, motion.1, .pairedVideo))
    try await room.edit(live, Darkroom.edit("one"))
    #expect(try shown() == (still.0, still.1, nil))
    #expect(try room.files(live)[.pairedVideo] == "moving")
    #expect(try room.small.smartMembers(.smartAlbumLivePhotos).isEmpty)
    let again = try room.small.library.editingInput(for: room.small.asset(live)) { _ in true }
    #expect(again.resources.map(\.type) == [.photo, .pairedVideo])
    try await room.edit(live, Darkroom.edit("two", base: .rendered))
    #expect(try shown() == (still.0, still.1, nil))
    try await room.small.library.performChanges { $0.revertContent(of: live) }
    #expect(try shown() == (motion.0, motion.1, .pairedVideo))
    #expect(try room.small.smartMembers(.smartAlbumLivePhotos) == [live])
    try await room.edit(live, Darkroom.edit("three"))
    let both = [Darkroom.draft(.fullSizePhoto, "A"), Darkroom.draft(.fullSizePairedVideo, "B")]
    try await room.edit(live, Darkroom.edit("four", both))
    #expect(try shown() == (motion.0, motion.1, .fullSizePairedVideo))
    // A Live Photo whose video is elsewhere stays what it was said to be.
    var creation = AssetCreation(mediaType: .image, resources: [files[0]])
    creation.mediaSubtypes = .photoLive
    let made = try await room.small.library.performChanges { $0.createAsset(creation) }
    let alone = try #require(LocalIdentifier(made.created[0]))
    try await room.edit(alone, Darkroom.edit("five"))
    #expect(try room.small.asset(alone).mediaSubtypes == .photoLive)
  }

  @Test("a still with a paired video is a Live Photo, also when the video comes later (LP-01)")
  func livePhotos() async throws {
    let room = try Darkroom()
    let files = [Darkroom.draft(.photo, "still"), Darkroom.draft(.pairedVideo, "moving")]
    let atOnce = try await room.make(.image, files)
    let later = try await room.make(.image, [files[0]])
    #expect(try room.small.asset(later).mediaSubtypes == [] && room.small.asset(later).playbackStyle == .image)
    try await room.small.library.performChanges { $0.addResources([files[1]], to: later) }
    for id in [atOnce, later] {
      let asset = try room.small.asset(id)
      #expect(asset.mediaSubtypes == .photoLive && asset.playbackStyle == .livePhoto)
      #expect(try room.files(id) == [.photo: "still", .pairedVideo: "moving"])
    }
    #expect(try room.small.smartMembers(.smartAlbumLivePhotos) == [atOnce, later])
  }

  @Test("a film that is added after an edit of the still alone is shown once the edit is reverted (LP-01)")
  func videoAfterEdit() async throws {
    let room = try Darkroom()
    let plain = try await room.photo()
    var creation = AssetCreation(mediaType: .image, resources: [Darkroom.draft(.photo, "still")])
    creation.mediaSubtypes = .photoLive
    let made = try await room.small.library.performChanges { $0.createAsset(creation) }
    let said = try #require(LocalIdentifier(made.created[0]))
    for id in [plain, said] {
      try await room.edit(id, Darkroom.edit("one"))
      try await room.small.library.performChanges {
        $0.addResources([Darkroom.draft(.pairedVideo, "moving")], to: id)
      }
      let edited = try room.small.asset(id)
      #expect(edited.mediaSubtypes == [] && edited.playbackStyle == .image)
      #expect(try room.small.library.resources(of: edited).shownPairedVideo(edited) == nil)
      try await room.small.library.performChanges { $0.revertContent(of: id) }
      let reverted = try room.small.asset(id)
      #expect(reverted.mediaSubtypes == .photoLive && reverted.playbackStyle == .livePhoto)
      #expect(try room.small.library.resources(of: reverted).shownPairedVideo(reverted)?.type == .pairedVideo)
    }
  }

  @Test("a purge removes every file that the asset ever had, edits of its own block included", arguments: [1, 2, 3])
  func purged(blockCount: Int) async throws {
    let room = try Darkroom()
    let id = try await room.photo()
    _ = try await room.make(.image, [Darkroom.draft(.photo, "another")])
    try await room.edit(id, Darkroom.edit("one"))
    let steps: [(ChangeBlock) -> Void] = [
      { $0.editContent(of: id, Darkroom.edit("two")) }, { $0.editContent(of: id, Darkroom.edit("three")) },
      { $0.deleteAssets([id]) }, { $0.purgeAssets([id]) },
    ]
    for start in stride(from: 0, to: steps.count, by: (steps.count + blockCount - 1) / blockCount) {
      let block = steps[start..<min(start + (steps.count + blockCount - 1) / blockCount, steps.count)]
      try await room.small.library.performChanges { change in for step in block { step(change) } }
    }
    let folder = room.small.temporary.url.appending(path: "resources")
    func left() throws -> [Data] {
      let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
      // What is removed meanwhile cannot be read, and neither can folders.
      return names.compactMap { try? Data(contentsOf: folder.appending(path: $0)) }
    }
    try await waitUntil("only the other asset's file is left") { try left() == [Data("another".utf8)] }
  }

  @Test("reverting drops all edits, and fails where the original's bytes are missing (AS-07)")
  func reverts() async throws {
    let room = try Darkroom()
    let id = try await room.photo()
    try await room.edit(id, Darkroom.edit("one"))
    try await room.edit(id, Darkroom.edit("two", base: .rendered))
    try await room.small.library.performChanges { $0.revertContent(of: id) }
    #expect(try room.files(id) == [.photo: "original"])
    #expect(try !room.small.asset(id).hasAdjustments && room.small.asset(id).adjustmentTimestamp == nil)
    let token = try room.small.library.currentToken
    try await room.small.library.performChanges { $0.revertContent(of: id) }
    #expect(try room.small.library.currentToken == token, "There is nothing left to drop.")
    try await room.edit(id, Darkroom.edit("three"))
    let asset = try room.small.asset(id)
    let original = try #require(try room.small.library.resources(of: asset).first { $0.type == .photo })
    try FileManager.default.removeItem(at: room.small.library.url(of: original, in: asset))
    #expect(try await room.small.refusal { $0.revertContent(of: id) } == .missingResource)
    #expect(try room.small.asset(id).hasAdjustments)
  }

  @Test("a RAW and JPEG pair is reverted to either original, and nothing else is (AS-07, AS-16)")
  func revertsToChoice() async throws {
    let room = try Darkroom()
    let raw = Darkroom.draft(.alternatePhoto, "raw", "com.adobe.raw-image")
    let pair = try await room.make(.image, [Darkroom.draft(.photo, "jpeg", "public.jpeg"), raw])
    try await room.edit(pair, Darkroom.edit("one"))
    try await room.small.library.performChanges { $0.revertContent(of: pair, to: .raw) }
    #expect(try room.small.asset(pair).originalResourceChoice == .raw)
    #expect(try room.files(pair) == [.photo: "jpeg", .alternatePhoto: "raw"])
    let plain = try await room.photo()
    try await room.edit(plain, Darkroom.edit("one"))
    for choice in OriginalResourceChoice.allCases {
      #expect(
        try await room.small.refusal { $0.revertContent(of: plain, to: choice) } == .requestNotSupportedForAsset)
    }
  }

  @Test("an edited asset says so, and whether a person or the camera did it (AS-08)", arguments: [false, true])
  func adjustments(isAutomatic: Bool) async throws {
    let room = try Darkroom()
    let id = try await room.photo()
    let plain = try room.small.asset(id)
    #expect(!plain.hasAdjustments && plain.adjustmentsState == .none && plain.adjustmentTimestamp == nil)
    #expect(try room.small.library.extendedMetadata(of: plain).adjustmentFormatIdentifier == nil)
    var edit = Darkroom.edit("one")
    edit.isAutomatic = isAutomatic
    try await room.edit(id, edit)
    let edited = try room.small.asset(id)
    #expect(edited.hasAdjustments)
    #expect(edited.adjustmentsState == (isAutomatic ? .cameraAutoAdjusted : .userAdjusted))
    #expect(edited.adjustmentTimestamp == edited.modificationDate)
    let words = try room.small.library.extendedMetadata(of: edited)
    #expect(words.adjustmentFormatIdentifier == "com.example.editor" && words.adjustmentFormatVersion == "1.0")
    #expect(try room.small.library.fetchAssets(where: #Predicate { $0.hasAdjustments }).map(\.id) == [id])
    #expect(!plain.hasAdjustments, "A value that was fetched stays as it was.")
  }

  @Test("a client that can apply the recipe gets the unedited base, any other the render (AS-09)")
  func editingInput() async throws {
    let room = try Darkroom()
    let id = try await room.photo()
    func input(_ canHandle: Bool) throws -> (base: EditingBase, recipe: String?, files: [String]) {
      let asset = try room.small.asset(id)
      let input = try room.small.library.editingInput(for: asset) { recipe in
        recipe.formatIdentifier == "com.example.editor" && canHandle
      }
      let files = try input.resources.map {
        String(decoding: try Data(contentsOf: room.small.library.url(of: $0, in: input.asset)), as: UTF8.self)
      }
      return (input.base, input.adjustmentData.map { String(decoding: $0.data, as: UTF8.self) }, files)
    }
    #expect(try input(true) == (.unedited, nil, ["original"]))
    try await room.edit(id, Darkroom.edit("one"))
    #expect(try input(true) == (.unedited, "one", ["original"]))
    #expect(try input(false) == (.rendered, nil, ["render of one"]))
    try await room.edit(id, Darkroom.edit("two", base: .rendered))
    #expect(try input(true) == (.unedited, "two", ["render of one"]), "The base of the last edit.")
    #expect(try input(false) == (.rendered, nil, ["render of two"]))
    // An editor is given no other adjustment data than those that were recorded.
    let asset = try room.small.asset(id)
    let recipe = try #require(try room.small.library.resources(of: asset).first { $0.type == .adjustmentData })
    let file = try room.small.library.url(of: recipe, in: asset)
    #expect(chmod(file.path, 0o644) == 0)
    try Data("owt".utf8).write(to: file)
    let altered = #expect(throws: LibraryError.self) { try input(true) }
    #expect(altered?.code == .invalidResource)
    let sound = try await room.make(.audio, [Darkroom.draft(.audio, "sound")])
    let error = #expect(throws: LibraryError.self) {
      try room.small.library.editingInput(for: try room.small.asset(sound)) { _ in true }
    }
    #expect(error?.code == .requestNotSupportedForAsset)
  }

  @Test("the render is kept unchanged: its dimensions are the displayed ones, and nothing rotates it (AS-10)")
  func orientation() async throws {
    let room = try Darkroom()
    let id = try await room.photo()
    var turn = Darkroom.edit("turn", [Darkroom.draft(.fullSizePhoto, "upright pixels")])
    (turn.pixelWidth, turn.pixelHeight) = (300, 400)
    try await room.edit(id, turn)
    #expect(try room.files(id)[.fullSizePhoto] == "upright pixels")
    let asset = try room.small.asset(id)
    #expect(asset.pixelWidth == 300 && asset.pixelHeight == 400)
  }

  @Test("an edit is content: its details say so, and a result shows the asset as changed (CD-21, AS-01)")
  func isContent() async throws {
    let room = try Darkroom()
    let id = try await room.photo()
    let asset = try room.small.asset(id)
    let change = try await room.small.change { $0.editContent(of: id, Darkroom.edit("one")) }
    let details = try #require(change.changeDetails(for: asset))
    #expect(details.assetContentChanged && details.objectAfterChanges?.hasAdjustments == true)
    #expect(try #require(details.objectAfterChanges?.modificationDate) > (try #require(asset.modificationDate)))
    let reverted = try await room.small.change { $0.revertContent(of: id) }
    #expect(reverted.changeDetails(for: asset)?.assetContentChanged == true)
  }

  @Test("RAW and JPEG: the compressed file is shown unless the asset says raw (AS-16)")
  func choices() async throws {
    let room = try Darkroom()
    let files = [
      Darkroom.draft(.photo, "jpeg", "public.jpeg"), Darkroom.draft(.alternatePhoto, "raw", "com.adobe.raw-image"),
    ]
    let pair = try await room.make(.image, files)
    /// The files whose content a grid shows of an asset.
    func gridFiles(_ asset: Asset) throws -> [ResourceType] {
      let library = room.small.library
      let contents = try library.shownContents(of: [asset])
      let result = try library.fetchAssets()
      let (now, alone) = (try library.listed(0..<result.count, of: result), try library.listed([asset]))
      #expect(alone.map { $0.withSHA256 { Array($0) } } == contents && alone[0].id == asset.id)
      #expect("\(now)" == "\(try library.listed(result.objects(at: 0..<result.count)))")
      return try room.small.library.resources(of: asset).filter { contents == [$0.sha256] }.map(\.type)
    }
    func shown() throws -> [ResourceType] {
      let asset = try room.small.asset(pair)
      let types = try room.small.library.editingInput(for: asset) { _ in true }.resources.map(\.type)
      #expect(try gridFiles(asset) == types)
      return types
    }
    let before = try room.small.asset(pair)
    #expect(try before.originalResourceChoice == .compressed && shown() == [.photo])
    var changes = AssetChanges()
    changes.originalResourceChoice = .raw
    try await room.small.library.performChanges { $0.edit([pair], changes) }
    #expect(try room.small.asset(pair).originalResourceChoice == .raw && shown() == [.alternatePhoto])
    #expect(try gridFiles(before) == [.photo])
    #expect(try room.small.asset(pair).isRaw && room.small.smartMembers(.smartAlbumRAW) == [pair])
    let plain = try await room.photo()
    #expect(try await room.small.refusal { $0.edit([plain], changes) } == .requestNotSupportedForAsset)
    var creation = AssetCreation(mediaType: .image, resources: files)
    creation.originalResourceChoice = .raw
    let made = try await room.small.library.performChanges { $0.createAsset(creation) }
    #expect(try room.small.library.asset(made.created[0])?.originalResourceChoice == .raw)
  }

  @Test("a replaced content identifier finds the asset no more, also where Unicode takes the next one for the same")
  func replacedContentIdentifier() async throws {
    let room = try Darkroom()
    let library = room.small.library
    let id = try await room.photo()
    let identifiers = ["caf\u{E9}", "cafe\u{301}"]
    var tokens: [Token] = []
    for (index, identifier) in identifiers.enumerated() {
      var rendered = AssetResource.invented(index + 1, .fullSizePhoto)
      rendered.contentIdentifier = identifier
      try await room.edit(id, Darkroom.edit("recipe \(index)", [.staged(rendered)]))
      tokens.append(try library.currentToken)
    }
    #expect(try library.assets(withContentIdentifier: identifiers[0]).isEmpty)
    #expect(try library.assets(withContentIdentifier: identifiers[1]).map(\.id) == [id])
    let earlier = try library.at(tokens[0])
    #expect(try earlier.assets(withContentIdentifier: identifiers[0]).map(\.id) == [id])
    #expect(try earlier.assets(withContentIdentifier: identifiers[1]).isEmpty)
  }
}
