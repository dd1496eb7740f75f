internal import PhotoLedger

// The seam between an import and a library.
//
// The importer decides what the files are and what belongs together; the library decides what that means as events.
// Between them goes a batch of changes, recorded as one commit or not at all. Everything here is a plain value.
//
// A Live Photo's halves may come in any order and in different imports:
//
//     still and movie in one import             asset(photo + pairedVideo)
//     still known, movie comes                  pairedVideo(movie, asset: the still's)
//     movie known as a video of its own,
//       still comes                             pairedStill(photo, video: the movie's asset)
//
// In the last case the movie's asset becomes the Live Photo: it keeps its identity, albums and marks, and its video
// becomes the paired one (LP-01). A second asset beside it would show the movie twice.

/// A file that is to be a resource of an asset. Its bytes are durable already.
struct ImportedResource: Sendable, Hashable {
  /// What it is to its asset.
  var type: ResourceType
  /// Its content and where that lies.
  var stored: StoredContent
  /// The name it had, without folders.
  var originalFilename: String
  /// Where it was found.
  var source: FilePath
  /// What the file says about itself.
  var metadata: MediaMetadata
}

/// What another program's edit of a photo or video consists of.
struct ImportedAdjustment: Sendable, Hashable {
  /// The edited photo or video, with the movie of a Live Photo; empty if it was not found, and nothing shows the edit.
  var rendered: [ImportedResource]
  /// The file of adjustment data.
  var data: ImportedResource
  /// Which program's they are.
  var format: AdjustmentFormat
}

/// A new asset: a primary resource and what belongs to it.
struct ImportedAsset: Sendable, Hashable {
  /// The photo or video that the asset is; its metadata are the asset's, but for the form that pairing gives.
  var primary: ImportedResource
  /// A RAW beside the photo, a Live Photo's movie.
  var others: [ImportedResource]
  /// The edit that was made of it.
  var adjustment: ImportedAdjustment?
  /// What counts of all that is said about it.
  var facts: StatedFacts

  /// Creates an asset.
  init(
    primary: ImportedResource, others: [ImportedResource] = [], adjustment: ImportedAdjustment? = nil,
    facts: StatedFacts? = nil
  ) {
    (self.primary, self.others, self.adjustment) = (primary, others, adjustment)
    self.facts = facts ?? StatedFacts([], beside: primary.metadata, StatementWishes())
  }

  /// The primary first, the adjustment data last.
  var resources: [ImportedResource] {
    [primary] + others + (adjustment?.rendered ?? []) + (adjustment.map { [$0.data] } ?? [])
  }

  /// What it is made of before it is edited; adjustment data without a rendition are only kept.
  var created: [ImportedResource] {
    guard let adjustment, adjustment.rendered.isEmpty else { return [primary] + others }
    return [primary] + others + [adjustment.data]
  }

  private var isLive: Bool { others.contains { $0.type == .pairedVideo } }

  /// The forms of the asset: what the primary says of itself, and `photoLive` with a paired video.
  var subtypes: MediaSubtypes {
    isLive ? primary.metadata.subtypes.union(.photoLive) : primary.metadata.subtypes
  }

  /// How the asset is meant to be played.
  var playbackStyle: PlaybackStyle { isLive ? .livePhoto : primary.metadata.playbackStyle }
}

/// One thing for the library to do.
enum ImportChange: Sendable, Hashable {
  /// Make a new asset.
  case asset(ImportedAsset)
  /// Give an existing still its movie, and what is said beside the movie; the movie stands as it would alone.
  case pairedVideo(ImportedAsset, adding: StatedFacts, asset: LocalIdentifier)
  /// Give an existing video its still: that asset becomes a Live Photo.
  case pairedStill(ImportedAsset, video: LocalIdentifier)

  /// The same files without the asset that they were to complete: for the case that it is no longer there to be
  /// completed.
  var standingAlone: ImportChange {
    switch self {
    case .asset: return self
    case .pairedStill(let still, _): return .asset(still)
    case .pairedVideo(var movie, _, _):
      movie.primary.type = .video
      return .asset(movie)
    }
  }

  /// The burst that a new asset is a member of.
  var burstIdentifier: String? {
    guard case .asset(let asset) = self else { return nil }
    return asset.primary.metadata.burstIdentifier
  }

  /// The same with a new asset that is in no burst: for the case that a burst has its most members.
  var outsideBursts: ImportChange {
    guard case .asset(var asset) = self else { return self }
    asset.primary.metadata.burstIdentifier = nil
    return .asset(asset)
  }

  /// The resources that the change brings.
  var resources: [ImportedResource] {
    switch self {
    case .asset(let asset), .pairedStill(let asset, _), .pairedVideo(let asset, _, _): asset.resources
    }
  }
}

/// What is recorded as one commit.
struct ImportBatch: Sendable {
  /// In the order of the walk.
  let changes: [ImportChange]
  /// What is stacked when they are done.
  var stacks: [ImportedStack] = []

  /// The same for the same contents in the same roles, so that a batch of one run sent twice can be recorded once.
  var digest: [UInt8] {
    changes.flatMap(\.resources).flatMap { $0.stored.sha256 + [UInt8(truncatingIfNeeded: $0.type.rawValue)] }.sha256
  }

  /// The same without assets that were in the library before: for the case that they are no longer what they were.
  var standingAlone: ImportBatch {
    ImportBatch(changes: changes.map(\.standingAlone), stacks: stacks.filter { !$0.hasKnownMember })
  }

  /// The same with new assets that are in no burst.
  var outsideBursts: ImportBatch { ImportBatch(changes: changes.map(\.outsideBursts), stacks: stacks) }
}

/// A change that was recorded, and the asset that it made or completed.
struct RecordedChange: Sendable, Hashable {
  /// What was done: what was asked for, or the same files as an asset of their own.
  let change: ImportChange
  /// The asset.
  let asset: LocalIdentifier
  /// The state with the change, if the target provides it.
  var token: Token?
  /// The top of the stack that the asset was put into; nil for none.
  var stack: LocalIdentifier?
}

extension RecordedChange {
  /// The warning that a new asset is outside the burst that its file states; nil if it is not.
  /// - Parameter planned: what was asked for.
  func warning(for planned: ImportChange) -> String? {
    guard case .asset(let asset) = change, asset.primary.metadata.burstIdentifier == nil,
      planned.standingAlone.burstIdentifier != nil
    else { return nil }
    return "The burst has 1,000 members, which is the limit; imported as a single photo"
  }
}

/// What was done about the members of an album.
struct PlacedMembers: Sendable, Hashable {
  /// Whether the album was made.
  var isNew: Bool
  /// How many members were put into it; the others were there, or are gone.
  var added: Int
  /// How many commits that took.
  var commits: Int
  /// How many were removed from the library meanwhile.
  var gone = 0
}

/// An asset that is, or could be, half of a Live Photo.
struct LivePhotoHalf: Sendable, Hashable {
  /// The asset.
  let asset: LocalIdentifier
  /// Image for a still that has no movie yet, video for a movie that is an asset of its own.
  let mediaType: MediaType
}

/// A library as an import sees it.
protocol ImportTarget: Sendable {
  /// Finds the asset that has a resource with each of these contents (SHA-256): of several one outside the trash, if
  /// there is one.
  func assets(holding contents: Set<[UInt8]>) async throws -> [[UInt8]: ContentHolder]

  /// The asset that ``assets(holding:)`` finds for each content, in their order; nil where there is none.
  func firstAssets(holding contents: [[UInt8]]) async throws -> [ContentHolder?]

  /// Finds all assets that have a resource with one of these contents (SHA-256), those in the trash included.
  func holders(of contents: Set<[UInt8]>) async throws -> [[UInt8]: Set<LocalIdentifier>]

  /// Those of some contents (SHA-256) of which an asset has the library's own file, and does not refer to another.
  func copied(_ contents: Set<[UInt8]>) async throws -> Set<[UInt8]>

  /// Whether the client of the import may stack assets.
  var canStack: Bool { get throws }

  /// Finds those of some assets that nothing happened to since the commit that created them.
  func untouched(_ assets: Set<LocalIdentifier>) async throws -> [LocalIdentifier: UntouchedAsset]

  /// Finds the unpaired halves of Live Photos with these content identifiers (upper case), oldest first.
  func unpairedHalves(contentIdentifiers: [String]) async throws -> [ExactText: [LivePhotoHalf]]

  /// Appends missing assets to an album, creating the album if necessary.
  /// - Returns: the result.
  func place(_ assets: [LocalIdentifier], in album: AlbumPlace) async throws -> PlacedMembers

  /// Records a batch as one commit, durably, or throws and records nothing.
  /// - Returns: What was done for each change, in their order.
  func record(_ batch: ImportBatch) async throws -> [RecordedChange]
}

extension ImportTarget {
  func firstAssets(holding contents: [[UInt8]]) async throws -> [ContentHolder?] {
    let known = try await assets(holding: Set(contents))
    return contents.map { known[$0] }
  }
}
