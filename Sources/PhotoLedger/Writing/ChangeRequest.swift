public import Foundation

// Changes as values, before they are decided.
//
// A block waits for its bytes, for the permission or confirmation of a person, and for the writer, which may execute it
// twice. Meanwhile the library changes. So a block is a list of values that say what is wanted, whatever the state is
// by then:
//
//     ChangeBlock ──▶ [ChangeRequest] ──▶ ChangeProposal: what a confirmation handler sees
//                            │
//                            ▼  staging: `.data` and `.file` become `.stored`, with hash and type
//                     [ChangeRequest] ──▶ Decider.handle: one case, one decision ──▶ events
//
//     AssetCreation, AssetChanges     AssetField → value; absent: the default, or unchanged; `.null`: emptied
//
// Objects are named by identifier, which a new object has as soon as the block creates it. Indexes need a state: they
// count in the result that the request carries as its `basis`, or in what the block's earlier requests left. An erasure
// names purged assets by number, since their identifiers no longer name anything.
//
// Invariant: a request can be executed again, on the same state or a later one, and every draft that reaches the
// decider is `.stored`. The decider checks every rule, so that all ways into the library have the same ones.
//
// Rejected: running the caller's closure in the writer's transaction. It would hold up all other writers for as long as
// it takes, could not be run again with its group, and a confirmation handler would have nothing to judge.

/// What a caller asks of the library, as data: a change block is a list of these.
///
/// A request names objects by identifier, because the block may run again on a newer state, and because the objects
/// that the same block creates have an identifier before they exist (CB-07).
///
/// Requests are copied from array to array on their way to the writer. Those with many fields lie in a box, which is
/// shared instead.
package enum ChangeRequest: Sendable {
  indirect case createAsset(AssetCreation, as: LocalIdentifier)
  indirect case editAssets([LocalIdentifier], AssetChanges)
  indirect case addResources(
    [ResourceDraft], to: LocalIdentifier, AssetChanges, retyping: [ResourceType: ResourceType])
  /// Names the place that a referenced file was moved to.
  indirect case relocate(FileRelocation, of: LocalIdentifier)
  case trashAssets([LocalIdentifier])
  case restoreAssets([LocalIdentifier])
  case purgeAssets([LocalIdentifier])
  /// Merges assets into one of them, and moves the others to the trash.
  case mergeAssets([LocalIdentifier], into: LocalIdentifier)
  /// Makes a stack of assets; with no others, an asset of a stack becomes its top.
  case stackAssets([LocalIdentifier], under: LocalIdentifier)
  /// Takes assets out of their stacks; a top dissolves its stack.
  case unstackAssets([LocalIdentifier])
  /// Erases the data of purged assets from the log.
  case eraseAssets([ObjectNumber])
  indirect case createCollection(PhotoCollection.Kind, title: String, SmartAlbumQuery?, as: LocalIdentifier)
  /// Renames a collection; nil is the root, which cannot be renamed (FR-13).
  case setTitle(String, of: LocalIdentifier?)
  /// Chooses an album's cover; nil takes the choice back.
  case setCover(LocalIdentifier?, of: LocalIdentifier)
  case deleteCollections([LocalIdentifier])
  /// Adds members at the end, or puts them before the one that now has the index.
  case insert([LocalIdentifier], Container, at: Int?)
  case remove([LocalIdentifier], Container)
  case removeAt([Int], Container)
  case replaceAt([Int], Container, with: [LocalIdentifier])
  case moveAt([Int], Container, to: Int)
  indirect case editContent(LocalIdentifier, ContentEditRequest)
  case revertContent(LocalIdentifier, OriginalResourceChoice?)
  /// Makes a member the representative of its burst.
  case setRepresentative(LocalIdentifier)
  /// Changes what is known of a client, or what it may see.
  case client(named: String, ClientChange)
  /// Makes the history available only from a commit on.
  case shortenHistory(to: UInt64)
  /// Undoes commits.
  case undo(UndoOrder)

  /// What happens to a client.
  package enum ClientChange: Sendable {
    case register(ClientRegistration)
    case request(AccessLevel)
    case setStatus(AuthorizationStatus, AccessLevel)
    case grant([LocalIdentifier])
    case withdraw([LocalIdentifier])
    case follow(LocalIdentifier?)
    case pick([LocalIdentifier], withholding: PickerMetadataOptions = [])
  }

  /// An album or a folder whose content is edited.
  package struct Container: Sendable {
    /// The album or folder; nil is the root (FO-04).
    package var identifier: LocalIdentifier?
    /// The result that indexes count on (AL-05), or why it cannot be read; nil: the state as the block's earlier
    /// requests left it.
    package var basis: Result<ResultCore, LibraryError>?
    /// What the indexes of the request have to name for it to be executed.
    package var expectation = ContentExpectation()
  }
}

/// What a caller expects to find at the indexes of a request, so that none acts on a member that moved there meanwhile.
///
/// It is checked in the transaction that executes the request; what differs is a conflict.
package struct ContentExpectation: Sendable {
  /// The members at indexes of the shown content.
  package var members: [Int: LocalIdentifier] = [:]
  /// The member before which others are put, or the end of the content; nil: not expected.
  package var next: Next?

  /// What follows those that are put somewhere.
  package enum Next: Sendable {
    case member(LocalIdentifier)
    case end
  }

  package init() {}

  var isEmpty: Bool { members.isEmpty && next == nil }
}

/// What is to be known of a new asset.
public struct AssetCreation: Sendable {
  /// The properties that edits can change; one that is not there has its default. Room for those that a photo has.
  package var values = AssetValues(capacity: 12)

  /// The kind of medium.
  public var mediaType: MediaType {
    get { values[.mediaType] ?? .unknown }
    set { values[.mediaType] = newValue }
  }
  /// What is special about it.
  public var mediaSubtypes: MediaSubtypes {
    get { values[.mediaSubtypes] ?? [] }
    set { values[.mediaSubtypes] = newValue }
  }
  /// How it is played; nil: as the media type and subtypes say.
  public var playbackStyle: PlaybackStyle? {
    get { values[.playbackStyle] }
    set { values[.playbackStyle] = newValue }
  }
  /// The width in pixels as displayed; 0 if unknown.
  public var pixelWidth: Int {
    get { values[.pixelWidth] ?? 0 }
    set { values[.pixelWidth] = newValue }
  }
  /// The height in pixels as displayed; 0 if unknown.
  public var pixelHeight: Int {
    get { values[.pixelHeight] ?? 0 }
    set { values[.pixelHeight] = newValue }
  }
  /// The length in seconds; 0 for photos (AS-03).
  public var duration: TimeInterval {
    get { values[.duration] ?? 0 }
    set { values[.duration] = newValue }
  }
  /// The instant of capture.
  public var creationDate: Date? {
    get { values[.creationDate] }
    set { values[.creationDate] = newValue }
  }
  /// The wall time of the camera, held as though it were UTC.
  public var localCreationDate: Date? {
    get { values[.localCreationDate] }
    set { values[.localCreationDate] = newValue }
  }
  /// The offset from UTC in seconds, if the camera wrote it.
  public var timeZoneOffset: Int? {
    get { values[.timeZoneOffset] }
    set { values[.timeZoneOffset] = newValue }
  }
  /// The place of capture.
  public var location: Location? {
    get { values[.location] }
    set { values[.location] = newValue }
  }
  /// Whether it begins as a favourite.
  public var isFavorite: Bool {
    get { values[.isFavorite] ?? false }
    set { values[.isFavorite] = newValue }
  }
  /// Whether it begins hidden.
  public var isHidden: Bool {
    get { values[.isHidden] ?? false }
    set { values[.isHidden] = newValue }
  }
  /// What the members of one burst share.
  public var burstIdentifier: String?
  /// Whether it stands for its burst; the first member does in any case (BU-01).
  public var representsBurst: Bool {
    get { values[.representsBurst] ?? false }
    set { values[.representsBurst] = newValue }
  }
  /// Who chose it among the members of its burst (BU-02).
  public var burstSelectionTypes: BurstSelectionTypes {
    get { values[.burstSelectionTypes] ?? [] }
    set { values[.burstSelectionTypes] = newValue }
  }
  /// Where it comes from; what is not of the library itself cannot be changed later (AS-13).
  public var sourceType: SourceTypes = .userLibrary
  /// How many stars it is given.
  public var rating: AssetRating {
    get { values[.rating] ?? .unset }
    set { values[.rating] = newValue }
  }
  /// How a Live Photo or looping video is varied.
  public var playbackVariation: PlaybackVariation {
    get { values[.playbackVariation] ?? .none }
    set { values[.playbackVariation] = newValue }
  }
  /// Which original of a RAW and JPEG pair is shown (AS-16).
  public var originalResourceChoice: OriginalResourceChoice {
    get { values[.originalResourceChoice] ?? .compressed }
    set { values[.originalResourceChoice] = newValue }
  }
  /// Whether the picture was taken with the camera on the screen's side.
  public var isSelfPortrait: Bool {
    get { values[.isSelfPortrait] ?? false }
    set { values[.isSelfPortrait] = newValue }
  }
  /// What is written about it; an empty caption means none.
  public var caption: String?
  /// Words to find it by.
  public var keywords: Set<String> = []
  /// The identifier it had in the library that it comes from (CI-03).
  public var origin: CloudIdentifier?
  /// What its files say about it; empty metadata means none.
  public var fileMetadata: AssetMetadata?
  /// Its files: at least one, in a combination that makes an asset (AS-11).
  public var resources: [ResourceDraft]
  /// Whether the date of its addition is its creation date if neither the request nor its files state one, as in
  /// `Photos`.
  package var isDatedByAddition = false

  /// Describes a new asset.
  /// - Parameters:
  ///   - mediaType: the kind of medium.
  ///   - resources: its files.
  public init(mediaType: MediaType, resources: [ResourceDraft]) {
    self.resources = resources
    self.mediaType = mediaType
  }

  /// Whether files of these types together can make an asset (PHAssetCreationRequest.supportsAssetResourceTypes,
  /// AS-11).
  public static func supports(_ types: [ResourceType]) -> Bool { ResourceCombination.isSupported(types) }

  /// What an asset of files of these types is: the first medium that takes them together, or that their originals are.
  package static func mediaType(of types: [ResourceType]) -> MediaType {
    let media: [(MediaType, ResourceType)] = [(.image, .photo), (.video, .video), (.audio, .audio)]
    return media.first { (try? ResourceCombination.check(types, of: $0.0)) != nil }?.0
      ?? media.first { types.contains($0.1) }?.0 ?? .unknown
  }

  var effectivePlaybackStyle: PlaybackStyle {
    if let playbackStyle { return playbackStyle }
    switch mediaType {
    case .image:
      if mediaSubtypes.contains(.photoLive) { return .livePhoto }
      return mediaSubtypes.contains(.photoAnimation) ? .imageAnimated : .image
    case .video: return .video
    case .audio, .unknown: return .unsupported
    }
  }
}

/// A file that is to become a resource of an asset (PHAssetResourceCreationOptions).
public struct ResourceDraft: Sendable {
  /// Where the bytes come from.
  public enum Source: Sendable {
    /// Bytes in memory.
    case data(Data)
    /// A file, which is copied into the library when the block is executed (CB-08).
    case file(URL, shouldMove: Bool)
    /// Bytes that are already where they belong, hashed and durable, as an import leaves them.
    indirect case stored(AssetResource)
  }

  /// The role of the file in its asset.
  public var type: ResourceType
  /// Where the bytes come from.
  public var source: Source
  /// The name to remember, at most 1,024 bytes; nil: the file's own name, or for bytes one as a camera gives it, such
  /// as `IMG_104423316607.HEIC` (AS-12).
  public var originalFilename: String?
  /// The kind of data, at most 1,024 bytes; nil: what the bytes are, or without a probe inferred from the file name,
  /// then from the type (AS-12).
  public var uniformTypeIdentifier: String?

  /// Whether the package itself stored the bytes; not accepted from any other source.
  package private(set) var isStaged = false
  /// Whether the bytes only represent pixels, so that their metadata are ignored (CB-11).
  package var isBareImage = false
  /// What the file was found to be when the request was made, so that it need not be examined again.
  var examined: ExaminedFile?

  /// Describes a file.
  /// - Parameters:
  ///   - type: its role in the asset.
  ///   - source: the source of the bytes.
  ///   - originalFilename: the original name to record.
  ///   - uniformTypeIdentifier: the type of the data.
  public init(
    type: ResourceType, source: Source, originalFilename: String? = nil, uniformTypeIdentifier: String? = nil
  ) {
    self.type = type
    self.source = source
    self.originalFilename = originalFilename
    self.uniformTypeIdentifier = uniformTypeIdentifier
  }

  /// A resource whose bytes are already in place.
  ///
  /// For a client without full access, it must be a resource of a visible asset: naming a hash neither gives access to
  /// bytes nor reveals that they exist (AU-01).
  /// - Parameter resource: the resource, with its hash.
  public static func stored(_ resource: AssetResource) -> ResourceDraft {
    ResourceDraft(
      type: resource.type, source: .stored(resource), originalFilename: resource.originalFilename,
      uniformTypeIdentifier: resource.uniformTypeIdentifier)
  }

  /// A resource whose bytes this package has just put in place, for the client that brought them.
  package static func staged(_ resource: AssetResource) -> ResourceDraft {
    var draft = stored(resource)
    draft.isStaged = true
    return draft
  }
}

/// Properties to set on existing assets; nil keeps a property.
public struct AssetChanges: Sendable {
  /// A value to set on a property that may be empty.
  public enum Assignment<Value: Sendable>: Sendable {
    /// Set the property to a value.
    case set(Value)
    /// Empty the property.
    case clear

    /// Sets a value, or clears the property if there is none.
    package init(_ value: Value?) { self = value.map { .set($0) } ?? .clear }

    package var value: Value? {
      switch self {
      case .set(let value): value
      case .clear: nil
      }
    }
  }

  /// What is set of what the log holds by field; `.null` empties the property.
  package var values = AssetValues()

  /// Mark as a favourite, or not.
  public var isFavorite: Bool? {
    get { values[.isFavorite] }
    set { values[.isFavorite] = newValue }
  }
  /// Hide, or show again.
  public var isHidden: Bool? {
    get { values[.isHidden] }
    set { values[.isHidden] = newValue }
  }
  /// The instant of capture.
  public var creationDate: Assignment<Date>? {
    get { values[.creationDate] }
    set { values[.creationDate] = newValue }
  }
  /// The wall time of the camera, held as though it were UTC.
  public var localCreationDate: Assignment<Date>? {
    get { values[.localCreationDate] }
    set { values[.localCreationDate] = newValue }
  }
  /// The offset from UTC in seconds.
  public var timeZoneOffset: Assignment<Int>? {
    get { values[.timeZoneOffset] }
    set { values[.timeZoneOffset] = newValue }
  }
  /// Seconds by which the instant of capture and the wall time move, each if the asset has it: for a clock that was
  /// wrong. The asset's dates when the block is committed count. An edit either sets the dates or moves them.
  public var dateShift: Int?
  /// The place of capture.
  public var location: Assignment<Location>? {
    get { values[.location] }
    set { values[.location] = newValue }
  }
  /// What is special about the medium.
  public var mediaSubtypes: MediaSubtypes? {
    get { values[.mediaSubtypes] }
    set { values[.mediaSubtypes] = newValue }
  }
  /// How it is played.
  public var playbackStyle: PlaybackStyle? {
    get { values[.playbackStyle] }
    set { values[.playbackStyle] = newValue }
  }
  /// The length in seconds.
  public var duration: TimeInterval? {
    get { values[.duration] }
    set { values[.duration] = newValue }
  }
  /// The width in pixels as displayed.
  public var pixelWidth: Int? {
    get { values[.pixelWidth] }
    set { values[.pixelWidth] = newValue }
  }
  /// The height in pixels as displayed.
  public var pixelHeight: Int? {
    get { values[.pixelHeight] }
    set { values[.pixelHeight] = newValue }
  }
  /// The kind of medium; it must fit the resources, as when a still joins a video that is half of a Live Photo.
  public var mediaType: MediaType? {
    get { values[.mediaType] }
    set { values[.mediaType] = newValue }
  }
  /// What is written about the asset; empty text empties it too (AS-15).
  public var caption: Assignment<String>?
  /// Words to find it by; one that it has already is passed over (AS-15).
  public var addedKeywords: Set<String> = []
  /// Words to take away; one that it has not is passed over (AS-15).
  public var removedKeywords: Set<String> = []
  /// What the files of the asset say about it, when they have been read again (AS-15).
  public var fileMetadata: Assignment<AssetMetadata>?
  /// How many stars it is given.
  public var rating: AssetRating? {
    get { values[.rating] }
    set { values[.rating] = newValue }
  }
  /// How a Live Photo or looping video is varied.
  public var playbackVariation: PlaybackVariation? {
    get { values[.playbackVariation] }
    set { values[.playbackVariation] = newValue }
  }
  /// Which original of a RAW and JPEG pair is shown (AS-16).
  public var originalResourceChoice: OriginalResourceChoice? {
    get { values[.originalResourceChoice] }
    set { values[.originalResourceChoice] = newValue }
  }
  /// Whether the picture was taken with the camera on the screen's side.
  public var isSelfPortrait: Bool? {
    get { values[.isSelfPortrait] }
    set { values[.isSelfPortrait] = newValue }
  }
  /// Who chose it among the members of its burst; passed over outside a burst (BU-02).
  public var burstSelectionTypes: BurstSelectionTypes? {
    get { values[.burstSelectionTypes] }
    set { values[.burstSelectionTypes] = newValue }
  }
  /// Whether the video of a Live Photo is played; passed over for every other asset.
  public var isLivePhotoVideoPlaybackEnabled: Bool? {
    get { values[.isLivePhotoVideoPlaybackEnabled] }
    set { values[.isLivePhotoVideoPlaybackEnabled] = newValue }
  }

  /// Whether the files or the descriptive metadata of an asset have to be read.
  var concernsDetails: Bool {
    caption != nil || !addedKeywords.isEmpty || !removedKeywords.isEmpty || originalResourceChoice != nil
      || fileMetadata != nil
  }

  /// Changes nothing yet.
  public init() {}

  /// The same changes of one asset, with the dates that a shift gives it.
  func settled(for row: AssetRow) -> AssetChanges {
    guard let dateShift else { return self }
    var changes = self
    changes.dateShift = nil
    func moved(_ date: Date) -> Assignment<Date> { .set(date.addingTimeInterval(Double(dateShift))) }
    if let date = row.creationDate { changes.creationDate = moved(date) }
    if let date = row.localCreationDate { changes.localCreationDate = moved(date) }
    return changes
  }
}

extension AssetValues {
  /// What an edit assigns to a property; nil if it leaves the property as it is.
  package subscript<Value: FieldValueConvertible & Sendable>(field: AssetField) -> AssetChanges.Assignment<Value>? {
    get { self[stored: field].map { AssetChanges.Assignment(Value($0)) } }
    set { self[stored: field] = newValue.map { $0.value?.fieldValue ?? .null } }
  }
}
