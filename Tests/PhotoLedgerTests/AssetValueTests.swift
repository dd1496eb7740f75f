import Foundation
import PhotoLedger
import TestSupport
import Testing

@Suite("Values of an asset")
struct AssetValueTests {
  /// Edits that no asset can have.
  static let refusedEdits: [(String, @Sendable (inout AssetChanges) -> Void)] = [
    ("9223372036854775808 seconds", { $0.timeZoneOffset = .set(.min) }),
    ("86401 seconds", { $0.timeZoneOffset = .set(86_401) }),
    ("duration of 5.0 s as a photo", { $0.duration = 5 }), ("duration of nan s", { $0.duration = .nan }),
    ("duration of -1.0 s", { $0.duration = -1 }), ("side of -1 pixels", { $0.pixelWidth = -1 }),
    ("location at 91.0, 0.0", { $0.location = .set(Location(latitude: 91, longitude: 0)) }),
    ("a date that is not a number", { $0.creationDate = .set(Date(timeIntervalSince1970: .infinity)) }),
  ]

  @Test("the subtype of a streamed video has PhotoKit's bit and name")
  func streamed() {
    #expect(MediaSubtypes.videoStreamed.rawValue == 1 << 16)
    #expect(MediaSubtypes.videoStreamed.names == ["videoStreamed"])
  }

  @Test("an edit sets the playback variation, and one that does not name it leaves it")
  func variation() throws {
    let made = try TemporaryLibrary()
    let id = try made.create(.invented(1))
    var changes = AssetChanges()
    #expect(changes.playbackVariation == nil)
    changes.playbackVariation = .mirror
    try made.library.performChangesAndWait { $0.edit([id], changes) }
    #expect(try made.library.asset(id.uuidString)?.playbackVariation == .mirror)
    try made.library.performChangesAndWait { $0.setFavorite(true, for: [id]) }
    #expect(try made.library.asset(id.uuidString)?.playbackVariation == .mirror)
  }

  @Test("an invalid value of an asset is rejected with a sentence, at creation and in edits")
  func refused() throws {
    let made = try TemporaryLibrary()
    let id = try made.create(.invented(1))
    for (words, change) in Self.refusedEdits {
      var changes = AssetChanges()
      change(&changes)
      let error = #expect(throws: LibraryError.self) {
        try made.library.performChangesAndWait { $0.edit([id], changes) }
      }
      #expect(error?.code == .invalidResource && error?.description.contains(words) == true)
      let adding = #expect(throws: LibraryError.self) {
        try made.library.performChangesAndWait { $0.addResources([], to: id, changing: changes) }
      }
      #expect(adding?.description == error?.description)
    }
    for (words, change) in Self.refusedCreations {
      var creation = AssetCreation.invented(2)
      change(&creation)
      let error = #expect(throws: LibraryError.self) { try made.create(creation) }
      #expect(error?.code == .invalidResource && error?.description.contains(words) == true)
    }
  }

  static let refusedCreations: [(String, @Sendable (inout AssetCreation) -> Void)] = [
    ("9223372036854775808 seconds", { $0.timeZoneOffset = .min }), ("duration of 5.0 s", { $0.duration = 5 }),
    ("duration of inf s", { $0.duration = .infinity }), ("side of -1 pixels", { $0.pixelWidth = -1 }),
  ]

  @Test("a video becomes a photo only when its duration is set to 0 with it (AS-03)")
  func retyped() throws {
    let made = try TemporaryLibrary()
    var video = AssetCreation.invented(1, .video)
    video.duration = 5
    let id = try made.create(video)
    let still = [ResourceDraft.stored(.invented(2, .photo))]
    var changes = AssetChanges()
    changes.mediaType = .image
    let error = #expect(throws: LibraryError.self) {
      try made.library.performChangesAndWait {
        $0.addResources(still, to: id, changing: changes, retyping: [.video: .pairedVideo])
      }
    }
    #expect(error?.code == .invalidResource && error?.description.contains("duration of 5.0 s") == true)
    changes.duration = 0
    try made.library.performChangesAndWait {
      $0.addResources(still, to: id, changing: changes, retyping: [.video: .pairedVideo])
    }
    let asset = try #require(try made.library.asset(id.uuidString))
    #expect(asset.mediaType == .image && asset.duration == 0)
    #expect(Set(try made.library.resources(of: asset).map(\.type)) == [.photo, .pairedVideo])
  }

  @Test("adding existing files still executes the changes that came with them")
  func addsKnown() throws {
    let made = try TemporaryLibrary()
    let creation = AssetCreation.invented(1)
    let id = try made.create(creation)
    var changes = AssetChanges()
    changes.isFavorite = true
    for drafts in [creation.resources, []] {
      try made.library.performChangesAndWait { $0.addResources(drafts, to: id, changing: changes) }
      let asset = try #require(try made.library.asset(id.uuidString))
      #expect(asset.isFavorite == changes.isFavorite)
      #expect(try made.library.resources(of: asset).count == 1)
      changes.isFavorite = false
    }
  }

  @Test("the combinations of files that creation accepts, editing accepts too (AS-11, LP-02)")
  func supported() throws {
    let cases: [([ResourceType], MediaType, Bool)] = [
      ([.photo], .image, true), ([.video], .video, true), ([.audio], .audio, true),
      ([.photo, .pairedVideo], .image, true),
      ([.photo, .alternatePhoto, .adjustmentData], .image, true), ([], .image, false), ([.pairedVideo], .image, false),
      ([.photo, .photo], .image, false), ([.photo, .video], .image, false), ([.video, .pairedVideo], .video, false),
      ([.adjustmentData], .image, false), ([.audio, .video], .audio, false),
    ]
    let made = try TemporaryLibrary()
    for (types, mediaType, isSupported) in cases {
      #expect(AssetCreation.supports(types) == isSupported, "\(types.map(\.name))")
      let drafts = types.enumerated().map { ResourceDraft.stored(.invented($0, $1)) }
      let id = try? made.create(AssetCreation(mediaType: mediaType, resources: drafts))
      #expect((id != nil) == isSupported, "\(types.map(\.name))")
    }
  }
}
