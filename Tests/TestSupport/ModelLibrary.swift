package import Foundation
package import PhotoLedger

// The library as a child would write it: arrays of things, searched from front to back.
//
// The model is what the real library is compared with, so it shares nothing with it but the names of the properties and
// the requests. It has no log, no keys and no counts: an album is a list of identifiers, a fetch goes through
// everything there is, and a block works on a copy that is thrown away when a request is refused.
//
//   ModelLibrary.swift           what there is
//   ModelLibrary+Assets.swift    creation, edits, trash, purge
//   ModelLibrary+Stacks.swift    stacks
//   ModelLibrary+Content.swift   albums and folders, and what stands in them
//   ModelLibrary+Clients.swift   clients, what they see, and which of them see a request's work
//   ModelQuery.swift             fetches
//
// It is a value: a test keeps the model of an earlier commit by keeping a copy.

/// Why the model refuses a request: the code that the library must answer with.
package struct ModelRefusal: Error, Equatable {
  package let code: LibraryError.Code
}

/// An asset with everything that a client can see of it.
package struct ModelAsset: Equatable, Sendable {
  package var id: LocalIdentifier
  package var mediaType: MediaType
  package var mediaSubtypes: MediaSubtypes
  package var playbackStyle: PlaybackStyle
  package var pixelWidth: Int
  package var pixelHeight: Int
  package var duration: TimeInterval
  package var creationDate: Date?
  package var localCreationDate: Date?
  package var timeZoneOffset: Int?
  package var addedDate: Date
  package var modificationDate: Date?
  package var trashedDate: Date?
  package var location: Location?
  package var isFavorite: Bool
  package var isHidden: Bool
  package var burstIdentifier: String?
  package var representsBurst: Bool
  package var burstSelection: BurstSelectionTypes
  /// The top of its stack, itself or another.
  package var stack: LocalIdentifier?
  package var sourceType: SourceTypes
  package var rating: AssetRating
  package var isSelfPortrait: Bool

  /// Whether ordinary fetches in an album show it.
  package var isShown: Bool { isShownInSelections && !isBeneathStack }

  /// The same for a client with a selection, which sees no stacks.
  package var isShownInSelections: Bool { trashedDate == nil && !isHidden && standsOut }

  /// Whether another asset is on top of its stack.
  package var isBeneathStack: Bool { stack != nil && stack != id }

  /// Whether it is not a member of a burst, stands for its burst, or was picked (FR-07).
  var standsOut: Bool { burstIdentifier == nil || representsBurst || burstSelection.contains(.userPick) }

  /// Whether it may be changed (AS-13).
  package var isEditable: Bool { !sourceType.contains(.cloudShared) && !sourceType.contains(.iTunesSynced) }

  /// What the library shows of an asset.
  package init(_ asset: Asset) {
    id = asset.id
    mediaType = asset.mediaType
    mediaSubtypes = asset.mediaSubtypes
    playbackStyle = asset.playbackStyle
    pixelWidth = asset.pixelWidth
    pixelHeight = asset.pixelHeight
    duration = asset.duration
    creationDate = asset.creationDate
    localCreationDate = asset.localCreationDate
    timeZoneOffset = asset.timeZoneOffset
    addedDate = asset.addedDate
    modificationDate = asset.modificationDate
    trashedDate = asset.trashedDate
    location = asset.location
    isFavorite = asset.isFavorite
    isHidden = asset.isHidden
    burstIdentifier = asset.burstIdentifier
    representsBurst = asset.representsBurst
    burstSelection = asset.burstSelectionTypes
    stack = asset.stack
    sourceType = asset.sourceType
    rating = asset.rating
    isSelfPortrait = asset.isSelfPortrait
  }

  init(_ creation: AssetCreation, _ id: LocalIdentifier, _ date: Date) {
    self.id = id
    mediaType = creation.mediaType
    mediaSubtypes = creation.mediaSubtypes
    playbackStyle = creation.mediaType == .video ? .video : creation.mediaType == .image ? .image : .unsupported
    pixelWidth = creation.pixelWidth
    pixelHeight = creation.pixelHeight
    duration = creation.duration
    creationDate = creation.creationDate
    localCreationDate = creation.localCreationDate
    timeZoneOffset = creation.timeZoneOffset
    addedDate = date
    modificationDate = date
    trashedDate = nil
    location = creation.location
    isFavorite = creation.isFavorite
    isHidden = creation.isHidden
    burstIdentifier = creation.burstIdentifier
    representsBurst = creation.representsBurst
    burstSelection = creation.burstSelectionTypes
    sourceType = creation.sourceType
    rating = creation.rating
    isSelfPortrait = creation.isSelfPortrait
  }
}

/// The words about an asset.
package struct ModelWords: Equatable, Sendable {
  package var caption: String?
  package var keywords: Set<String> = []
}

/// What a client can see of an album or folder itself.
package struct ModelCollection: Equatable, Sendable {
  package var id: LocalIdentifier
  package var kind: PhotoCollection.Kind
  package var title: String?
  package var creationDate: Date
  package var modificationDate: Date
  /// How many assets an ordinary fetch in it shows.
  package var count: Int
  /// The asset chosen to stand for it.
  package var cover: LocalIdentifier?

  /// What the library shows of a collection.
  package init(_ collection: PhotoCollection) {
    id = collection.id
    kind = collection.kind
    title = collection.localizedTitle
    creationDate = collection.creationDate
    modificationDate = collection.modificationDate
    count = collection.estimatedAssetCount
    cover = collection.cover
  }

  init(_ kind: PhotoCollection.Kind, _ title: String, _ id: LocalIdentifier, _ date: Date) {
    self.id = id
    self.kind = kind
    self.title = title
    creationDate = date
    modificationDate = date
    count = kind == .smartAlbum ? NSNotFound : 0
  }
}

/// What a smart album shows.
package struct ModelSmartAlbum: Sendable {
  package var condition: Condition
  package var sort: [SortTerm]
  package var includesHidden: Bool

  package init(condition: Condition, sort: [SortTerm], includesHidden: Bool) {
    (self.condition, self.sort, self.includesHidden) = (condition, sort, includesHidden)
  }
}

/// A library in plain arrays and dictionaries.
package struct ModelLibrary: Sendable {
  /// All assets, the trash included.
  package internal(set) var assets: [LocalIdentifier: ModelAsset] = [:]
  /// All albums and folders, the deleted ones included.
  package internal(set) var collections: [LocalIdentifier: ModelCollection] = [:]
  /// The deleted collections.
  package internal(set) var deleted: Set<LocalIdentifier> = []
  /// The members of each album and the children of each folder in their order, shown or not.
  package internal(set) var members: [LocalIdentifier: [LocalIdentifier]] = [:]
  /// The children of the root folder.
  package internal(set) var topLevel: [LocalIdentifier] = []
  /// All assets and collections in the order of their making.
  package internal(set) var order: [LocalIdentifier: Int] = [:]
  package internal(set) var assetsInOrder: [LocalIdentifier] = []
  package internal(set) var collectionsInOrder: [LocalIdentifier] = []
  /// The files of each asset.
  package internal(set) var resources: [LocalIdentifier: [AssetResource]] = [:]
  /// The words about each asset that has some.
  package internal(set) var words: [LocalIdentifier: ModelWords] = [:]
  /// The queries of smart albums that people made.
  package internal(set) var smart: [LocalIdentifier: ModelSmartAlbum] = [:]
  /// The client that made a collection; none where the owner did.
  package internal(set) var creators: [LocalIdentifier: String] = [:]
  /// When its maker last saw a collection change.
  var creatorDates: [LocalIdentifier: Date] = [:]
  /// The last choice of a cover that its maker may know of.
  var creatorCovers: [LocalIdentifier: LocalIdentifier] = [:]
  /// Every client but the owner.
  package internal(set) var clients: [String: ModelClient] = [:]
  /// Whose requests are executed.
  package var acting = PhotoLibrary.owner

  // What requests did since `begin(as:)`.

  /// The assets whose files were changed.
  var newFiles: Set<LocalIdentifier> = []
  /// The objects that were given or taken a place in a manual order.
  package internal(set) var placed: Set<LocalIdentifier> = []
  /// The objects that requests concerned, as far as each client, or the owner, could see them.
  package internal(set) var noted: [String: Set<LocalIdentifier>] = [:]
  /// The clients whose access was changed.
  package internal(set) var switched: Set<String> = []

  package init() {}

  /// What stands in a container, nil for the root, shown or not.
  package func content(of container: LocalIdentifier?) -> [LocalIdentifier] {
    container.map { members[$0] ?? [] } ?? topLevel
  }

  mutating func setContent(of container: LocalIdentifier?, _ content: [LocalIdentifier]) {
    if let container { members[container] = content } else { topLevel = content }
  }

  /// What the acting client is shown of a container: neither hidden, trashed nor deleted, and for its eyes.
  package func shown(in container: LocalIdentifier?) -> [LocalIdentifier] {
    let isFull = eyes(of: acting) == .full
    return content(of: container).filter { id in
      guard let asset = assets[id] else { return sees(id) && !deleted.contains(id) }
      return sees(id) && (isFull ? asset.isShown : asset.isShownInSelections)
    }
  }

  /// The containers that an object stands in; nil is the root.
  package func containers(of object: LocalIdentifier) -> [LocalIdentifier?] {
    let found: [LocalIdentifier?] = members.filter { $0.value.contains(object) }.map(\.key)
    return topLevel.contains(object) ? found + [nil] : found
  }

  /// The collections of the acting client's that are not deleted, oldest first.
  package func living(_ kind: PhotoCollection.Kind) -> [LocalIdentifier] {
    collectionsInOrder.filter { collections[$0]?.kind == kind && !deleted.contains($0) && sees($0) }
  }

  /// All assets of the acting client's that satisfy a condition, oldest first.
  package func assets(where condition: (ModelAsset) -> Bool) -> [LocalIdentifier] {
    assetsInOrder.filter { sees($0) && (assets[$0].map(condition) ?? false) }
  }

  /// Sets the counts of all albums by counting.
  mutating func recount() {
    defer { settleCovers() }
    for (id, content) in members where collections[id]?.kind == .album {
      let count = content.count { assets[$0]?.isShown ?? false }
      guard collections[id]?.count != count else { continue }
      collections[id]?.count = count
      noted[PhotoLibrary.owner, default: []].insert(id)
    }
  }

  /// The objects that are in both models and look different to a client, or whose files are different.
  package func changed(since earlier: ModelLibrary, for client: String) -> Set<LocalIdentifier> {
    var found = newFiles
    let (was, now) = (earlier.eyes(of: client), eyes(of: client))
    for (id, asset) in assets {
      guard let before = earlier.assets[id] else { continue }
      if before.seen(by: was) != asset.seen(by: now) { found.insert(id) }
    }
    for id in collections.keys where earlier.collections[id] != nil {
      if earlier.collection(id, was) != collection(id, now) { found.insert(id) }
    }
    return found
  }
}
