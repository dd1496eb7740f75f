import Foundation
import Testing

import LibraryPicking
@testable import PhotoLedger

@Suite("Filters of picking sessions")
struct PickerFilterTests {
  /// A filter, and what it means, in words that know nothing of conditions.
  struct Meaning: Sendable, CustomTestStringConvertible {
    let filter: PickerFilter
    let passes: @Sendable (AssetRow) -> Bool
    var testDescription: String { filter.description }

    init(_ filter: PickerFilter, _ passes: @escaping @Sendable (AssetRow) -> Bool) {
      (self.filter, self.passes) = (filter, passes)
    }

    init(_ filter: PickerFilter, _ subtype: MediaSubtypes) {
      self.init(filter) { $0.mediaSubtypes.contains(subtype) }
    }
  }

  static let simple: [Meaning] = [
    Meaning(.images) { $0.mediaType == .image }, Meaning(.videos) { $0.mediaType == .video },
    Meaning(.livePhotos, .photoLive), Meaning(.panoramas, .photoPanorama), Meaning(.screenshots, .photoScreenshot),
    Meaning(.screenRecordings, .videoScreenRecording), Meaning(.slomoVideos, .videoHighFrameRate),
    Meaning(.timelapseVideos, .videoTimelapse), Meaning(.cinematicVideos, .videoCinematic),
    Meaning(.depthEffectPhotos, .photoDepthEffect), Meaning(.spatialMedia, .spatialMedia),
    Meaning(.bursts) { $0.burstIdentifier != nil },
    Meaning(.playbackStyle(.videoLooping)) { $0.playbackStyle == .videoLooping },
  ]

  static let compound: [Meaning] = [
    Meaning(.any(of: [.images, .slomoVideos])) {
      $0.mediaType == .image || $0.mediaSubtypes.contains(.videoHighFrameRate)
    },
    Meaning(.all(of: [.images, .not(.livePhotos)])) {
      $0.mediaType == .image && !$0.mediaSubtypes.contains(.photoLive)
    },
    Meaning(.not(.any(of: [.panoramas, .bursts]))) {
      !$0.mediaSubtypes.contains(.photoPanorama) && $0.burstIdentifier == nil
    },
    Meaning(.any(of: [])) { _ in false }, Meaning(.all(of: [])) { _ in true },
    Meaning(.not(.any(of: []))) { _ in true },
  ]

  /// Rows of every type, style and subtype.
  static let rows: [AssetRow] = {
    let bits: [UInt32] = [0, 1, 4, 8, 16, 1 << 10, 1 << 17, 1 << 18, 1 << 19, 1 << 21, 9, 8 | 1 << 10]
    var number: ObjectNumber = 0
    return MediaType.allCases.flatMap { type in
      bits.flatMap { bits in
        [PlaybackStyle.image, .livePhoto, .video, .videoLooping].flatMap { style in
          [nil, "burst"].map { burst in
            number += 1
            let identifier = LocalIdentifier(high: 0, low: number)
            var row = AssetRow(number: number, identifier: identifier, addedDate: .distantPast)
            row.mediaType = type
            row.mediaSubtypes = MediaSubtypes(rawValue: bits)
            row.playbackStyle = style
            row.burstIdentifier = burst
            return row
          }
        }
      }
    }
  }()

  @Test("a filter passes what its name says, as a condition of a fetch (a.8, PK-03)", arguments: simple + compound)
  func meaning(_ meaning: Meaning) throws {
    try meaning.filter.condition.check(for: .asset)
    let test = meaning.filter.condition.evaluator(for: AssetRow.self)
    for row in Self.rows { #expect(test(row) == meaning.passes(row), "\(row)") }
  }

  @Test("the spelling of a filter reads back as the same filter", arguments: simple + compound)
  func spelling(_ meaning: Meaning) throws {
    #expect(try PickerFilter(meaning.filter.description) == meaning.filter)
    #expect(try PickerFilter(" " + meaning.filter.description.replacing(",", with: " ,\n ")) == meaning.filter)
  }

  @Test(
    "an invalid filter is rejected with the position",
    arguments: [
      ("", "needs one of images"), ("fotos", "all(…), not(…)."), ("any(images", "closing parenthesis"),
      ("images,videos", "unexpected text, after 'images'"), ("any(images,)", "after 'any(images,'"),
      ("not()", "needs one of images"), ("not(images,videos)", "closing parenthesis, after 'not(images'"),
      ("playbackStyle(loop)", "videoLooping"), ("none(images)", "needs any(…)"),
      (String(repeating: "not(", count: 100_000), "deep"),
    ])
  func mistakes(text: String, sentence: String) throws {
    let error = try #require(throws: LibraryError.self) { try PickerFilter(text) }
    #expect(error.code == .malformedRequest && error.description.contains(sentence), "\(error)")
    #expect(error.description.count < 400)
  }
}
