public import Foundation

/// One photo, video or sound recording, as of one commit (PHAsset, photokit list A1).
///
/// An asset is a value: it never changes under its holder. Two are equal when they are the same object of the library,
/// whatever their properties (PHObject); ``hasSameProperties(as:)`` compares those.
public struct Asset: Sendable, Identifiable {
  package let row: AssetRow
  /// The commit whose state this value shows.
  package let commit: UInt64

  /// The value that a client with an access gets of a row.
  package init(row: AssetRow, seenBy access: Access, commit: UInt64) {
    self.row = row.seen(by: access)
    self.commit = commit
  }

  /// The identity of the asset in its library.
  public var id: LocalIdentifier { row.identifier }
  /// The identity, spelled as PhotoKit spells it.
  public var localIdentifier: String { row.identifier.spelled(as: .asset) }
  /// The kind of medium.
  public var mediaType: MediaType { row.mediaType }
  /// What is special about the medium.
  public var mediaSubtypes: MediaSubtypes { row.mediaSubtypes }
  /// How the asset is played.
  public var playbackStyle: PlaybackStyle { row.playbackStyle }
  /// Where the asset came from.
  public var sourceType: SourceTypes { row.sourceType }
  /// The width in pixels of the current version as displayed (AS-02); 0 if unknown.
  public var pixelWidth: Int { Int(row.pixelWidth) }
  /// The height in pixels of the current version as displayed (AS-02); 0 if unknown.
  public var pixelHeight: Int { Int(row.pixelHeight) }
  /// The length in seconds; 0 for photos (AS-03).
  public var duration: TimeInterval { row.duration }
  /// The instant of capture. Where the camera wrote no offset, its wall time is read as UTC.
  public var creationDate: Date? { row.creationDate }
  /// The wall time as the camera wrote it, held as though it were UTC.
  public var localCreationDate: Date? { row.localCreationDate }
  /// The offset from UTC in seconds that the camera wrote, if it did.
  public var timeZoneOffset: Int? { row.timeZoneOffset.map(Int.init) }
  /// The instant of the commit that added the asset.
  public var addedDate: Date { row.addedDate }
  /// The instant of the last change of content or metadata (AS-01).
  public var modificationDate: Date? { row.modificationDate }
  /// The instant at which the asset was moved to the trash; nil outside it.
  public var trashedDate: Date? { row.trashedDate }
  /// The place of capture.
  public var location: Location? { row.location }
  /// Whether the asset is marked as a favourite.
  public var isFavorite: Bool { row.flags.contains(.favorite) }
  /// Whether the asset is hidden from ordinary fetches (FR-06).
  public var isHidden: Bool { row.flags.contains(.hidden) }
  /// Whether the asset lies in the trash.
  public var isTrashed: Bool { row.trashedDate != nil }
  /// What the members of one burst share (BU-01); nil outside a burst.
  public var burstIdentifier: String? { row.burstIdentifier }
  /// Whether this is the representative of its burst (BU-01).
  public var representsBurst: Bool { row.flags.contains(.representsBurst) }

  /// Who chose this member of a burst (BU-02).
  public var burstSelectionTypes: BurstSelectionTypes { row.burstSelection }
  /// The asset on top of the stack that the asset is in, which may be itself; nil outside a stack.
  ///
  /// Always nil for a client that is limited to its selection: it sees no stacks (<doc:Permissions>).
  public var stack: LocalIdentifier? { row.stack }
  /// Whether another asset is on top of its stack, so that ordinary fetches leave it out.
  public var isBeneathStack: Bool { row.isBeneathStack }
  /// How many stars it was given.
  public var rating: AssetRating { row.rating }
  /// Whether the content was edited (AS-08).
  public var hasAdjustments: Bool { row.adjustmentsState != .none }
  /// Who edited the content (AS-08).
  public var adjustmentsState: AdjustmentsState { row.adjustmentsState }
  /// The instant of the last edit of the content; nil if it was never edited.
  public var adjustmentTimestamp: Date? { row.adjustmentDate }
  /// How a Live Photo or looping video is varied when it is played.
  public var playbackVariation: PlaybackVariation { row.playbackVariation }
  /// Whether the video of a Live Photo is played; true for every other asset.
  public var isLivePhotoVideoPlaybackEnabled: Bool { !row.flags.contains(.stillPlayback) }
  /// Which original of a RAW and JPEG pair it shows (AS-16).
  public var originalResourceChoice: OriginalResourceChoice { row.originalResourceChoice }
  /// Whether some original is a RAW file.
  public var isRaw: Bool { row.flags.contains(.raw) }
  /// Whether the picture was taken with the camera on the screen's side.
  public var isSelfPortrait: Bool { row.flags.contains(.selfPortrait) }
  /// Whether the library was made to forget it: a state before its purge still has its place, and nothing else of it.
  public var isErased: Bool { row.flags.contains(.erased) }

  /// Whether every property of both values is the same.
  public func hasSameProperties(as other: Asset) -> Bool { row == other.row }
}

extension Asset: Hashable {
  /// Whether both are the same object of the library.
  public static func == (one: Asset, other: Asset) -> Bool { one.row.identifier == other.row.identifier }

  /// Hashes the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(row.identifier) }
}
