package import Foundation

// The row of an asset: everything that a predicate or a sort may ask, in 144 bytes at fixed places.
//
// A fetch without an index of its own reads every row of the library, so a row must be read without parsing. What no
// predicate asks (resources, file names) lies in `AssetDetails`, so that a scan does not drag it through the cache.
//
//   offset  bytes  field                       offset  bytes  field
//        0     16  identifier, big-endian          48      8  creation date, seconds since 2001 ⎫
//       16      4  flags                           56      8  local creation date               ⎪
//       20      1  media type                      64      8  added date                        ⎬ NaN: none
//       21      1  playback style                  72      8  modification date                 ⎪
//       22      1  source type                     80      8  trashed date                      ⎭
//       23      1  burst selection                 88      8  latitude  ⎫
//       24      4  media subtypes                  96      8  longitude ⎬ NaN: none
//       28      4  pixel width                    104      8  altitude  ⎭
//       32      4  pixel height                   112      8  duration, seconds
//       36      4  offset from UTC, seconds       120      1  rating (0: unset)
//       40      8  adjustment date (NaN: none)    121      1  adjustments state
//                                                122      1  playback variation
//                                                123      1  original resource choice
//                                                124     20  reserved, zero
//      144      –  burst identifier, UTF-8
//
// Integers and the bits of doubles are little-endian. Dates are stored with every bit that the caller gave: a date read
// back equals the date written.

/// The properties of an asset that predicates and sorts ask for.
package struct AssetRow: Equatable, Sendable {
  package struct Flags: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package static let favorite = Flags(rawValue: 1)
    package static let hidden = Flags(rawValue: 2)
    package static let representsBurst = Flags(rawValue: 4)
    /// Taken with the camera on the screen's side.
    package static let selfPortrait = Flags(rawValue: 8)
    /// Some original is a RAW file; follows from the resources.
    package static let raw = Flags(rawValue: 16)
    /// A Live Photo whose video is not played.
    package static let stillPlayback = Flags(rawValue: 32)
  }

  package var number: ObjectNumber
  package var identifier: LocalIdentifier
  package var flags: Flags = []
  package var mediaType: MediaType = .unknown
  package var playbackStyle: PlaybackStyle = .unsupported
  package var sourceType: SourceTypes = .userLibrary
  package var burstSelection: BurstSelectionTypes = []
  package var mediaSubtypes: MediaSubtypes = []
  package var pixelWidth: UInt32 = 0
  package var pixelHeight: UInt32 = 0
  package var timeZoneOffset: Int32?
  package var creationDate: Date?
  package var localCreationDate: Date?
  package var addedDate: Date
  package var modificationDate: Date?
  package var trashedDate: Date?
  package var location: Location?
  package var duration: Double = 0
  package var rating: AssetRating = .unset
  package var adjustmentsState: AdjustmentsState = .none
  package var adjustmentDate: Date?
  package var playbackVariation: PlaybackVariation = .none
  package var originalResourceChoice: OriginalResourceChoice = .compressed
  package var burstIdentifier: String?

  package init(number: ObjectNumber, identifier: LocalIdentifier, addedDate: Date) {
    self.number = number
    self.identifier = identifier
    self.addedDate = addedDate
  }

  /// Whether ordinary fetches show the asset in its albums: neither hidden, nor in the trash, nor inside a burst.
  package var isVisible: Bool { trashedDate == nil && !flags.contains(.hidden) && standsOutOfBurst }

  /// Whether it may be changed and deleted here (AS-13).
  package var isEditable: Bool { sourceType.isDisjoint(with: [.cloudShared, .iTunesSynced]) }

  /// Whether the asset is no burst's member, stands for its burst, or was picked by a person (FR-07).
  package var standsOutOfBurst: Bool {
    burstIdentifier == nil || flags.contains(.representsBurst) || burstSelection.contains(.userPick)
  }
}
