package import Foundation

// The facts of the domain.
//
// Everything that ever happened to a library is one of the cases below, and everything else (rows, albums, results) is
// derived from them. Two rules shape them all:
//
//   1. **An event records what it replaced.** A new title carries the old one; a purge carries the whole row. So every
//      event has an `inverse`, and the state at an earlier commit is the current state with the inverses of the later
//      events applied. Change details, values pinned to a commit, undo and as-of views all rely on this property.
//      Rejected: reading old states from copies, which costs a copy of every row at every change.
//   2. **An event records positions, not how they were chosen.** A position in an album is an order key
//      (`OrderKey.swift`) chosen once, when the event was decided, and recorded. Replay copies it; a later version with
//      a better way of choosing keys rebuilds the same bytes.
//
// Objects are named by number: the sequence of the event that created them. A list in one event is limited to
// `Event.objectLimit` objects, so that reading the history of one object never decodes a whole import.

/// One fact about a library.
///
/// An event is passed from the decision through every projection. What has many fields lies in a box, which is shared.
package enum Event: Equatable, Sendable {
  /// The library began; this event's sequence, 1, is the number of its root folder.
  case libraryCreated(identifier: LocalIdentifier, date: Date)
  /// An asset was created. Its number is this event's sequence, unless an undo restored it.
  indirect case assetCreated(AssetExistence)
  /// An asset and its memberships were removed: permanently, unless by an undo.
  indirect case assetPurged(AssetExistence)
  /// Properties or resources of assets were changed.
  case assetsEdited(AssetsEdited)
  /// An album or folder was created. Its number is this event's sequence.
  indirect case collectionCreated(CollectionExistence)
  /// The inverse of a creation; never decided, only used to compute an earlier state.
  indirect case collectionErased(CollectionExistence)
  /// Properties of a collection were changed, or it was deleted or restored.
  indirect case collectionEdited(CollectionEdited)
  /// Members of an album, a folder, a selection or a pick were added, removed or moved.
  indirect case arranged(Arranged)
  /// A client was registered. Its number, and that of its selection, is this event's sequence.
  indirect case clientRegistered(ClientRow)
  /// The inverse of a registration; never decided, only used to compute an earlier state.
  indirect case clientErased(ClientRow)
  /// A client requested permission, or its permission or registration was changed.
  indirect case clientEdited(ClientEdited)
  /// A picking session ended with a result, whose items are in the next events. Its number is this event's sequence.
  indirect case pickRecorded(PickRow)
  /// The inverse of a pick; never decided, only used to compute an earlier state.
  indirect case pickErased(PickRow)
  /// The history before a commit is no longer available to clients (PH-06); the log itself keeps it.
  case historyShortened(Replacement<UInt64>)
  /// The data of some assets were erased from the log; the event carries the replacements.
  case assetErased(AssetErased)
  /// The library was created as a fork of another one, whose history it shares up to the previous commit.
  indirect case libraryForked(LibraryFork)
  /// A block was executed and changed nothing; recorded so that its idempotency key is known.
  case nothingChanged

  /// The most objects that one event may list.
  package static let objectLimit = 256

  /// The most bytes of files and words, before and after, with which a decision edits several assets in one event: far
  /// fewer than the limit of a payload in the log.
  static let detailsLimit = 4 << 20
}

/// An asset with everything that belongs to it: what a creation adds and a purge removes.
package struct AssetExistence: Equatable, Sendable {
  package var row: AssetRow
  package var details: AssetDetails
  /// The positions of the asset; only a purge and a restoration have any.
  package var places: [ContainerPlace]
  /// Whether an undo made the event: it removed an asset whose creation it reverts, and kept its files, or restored one
  /// under its number.
  package var isByUndo = false

  package init(row: AssetRow, details: AssetDetails, places: [ContainerPlace] = []) {
    self.row = row
    self.details = details
    self.places = places
  }
}

/// A place in a container, for one member.
package struct ContainerPlace: Equatable, Sendable {
  package var container: ObjectNumber
  package var key: OrderKey
}

/// A member of a container.
package struct ContainerMember: Hashable, Sendable {
  package var container: ObjectNumber
  package var child: ObjectNumber

  package init(container: ObjectNumber, child: ObjectNumber) { (self.container, self.child) = (container, child) }
}

/// Edits of up to ``Event/objectLimit`` assets that belong to one request.
package struct AssetsEdited: Equatable, Sendable {
  /// What a person did; readers of the log filter by it. It does not change what is applied.
  package enum Verb: String, Sendable, CaseIterable {
    // The raw values are recorded in the log; the cases may be renamed, the texts never.
    case edited = "edited"
    case trashed = "trashed"
    case restored = "restored"

    var inverse: Verb {
      switch self {
      case .edited: .edited
      case .trashed: .restored
      case .restored: .trashed
      }
    }
  }

  package var verb: Verb
  package var edits: [AssetEdit]
  /// How the number of visible members of each album changed with the edits.
  package var shifts: [CountShift]
}

/// How many more visible members an album has after an event.
///
/// A selection lists every album of its client that holds a member of the event, also where both numbers are 0: what
/// the client sees of the album's content may change all the same.
package struct CountShift: Equatable, Sendable {
  package var album: ObjectNumber
  package var by: Int
  /// The same as seen by the client that created the album, while it is limited to its selection.
  package var byCreator = 0

  package init(album: ObjectNumber, by: Int, byCreator: Int = 0) {
    (self.album, self.by, self.byCreator) = (album, by, byCreator)
  }
}

/// What was changed in one asset.
package struct AssetEdit: Equatable, Sendable {
  package var number: ObjectNumber
  package var changes: [AssetChange]
  private var kept: Kept?

  /// Files and words before and after. Few edits have them, and they are ten times the size of the rest, which is
  /// copied with each edit that a walk over the log meets.
  private final class Kept: Equatable, Sendable {
    let replacement: Replacement<AssetDetails>

    init(_ replacement: Replacement<AssetDetails>) { self.replacement = replacement }

    static func == (one: Kept, other: Kept) -> Bool { one.replacement == other.replacement }
  }

  /// All files and words before and after; nil where they stay as they are.
  package var details: Replacement<AssetDetails>? {
    get { kept?.replacement }
    set { kept = newValue.map(Kept.init) }
  }

  package init(number: ObjectNumber, changes: [AssetChange]) {
    self.number = number
    self.changes = changes
  }

  /// Whether the edit concerns the asset's stack and nothing else, so that a limited client sees nothing of it.
  package var isOfStackAlone: Bool { !changesDetails && !changes.isEmpty && changes.allSatisfy { $0.field == .stack } }

  /// Whether the edit concerns the files of the asset or the words about it.
  var changesDetails: Bool { kept != nil }

  /// Whether clients see the edit of the files or of the words, also where the clock is behind the modification date,
  /// which then stays. Another path of a referenced file is the only edit that changes nothing beside them.
  var changesVisibleDetails: Bool { changesDetails && !changes.isEmpty }

  /// How many bytes of an event the files and words before and after take.
  var detailsByteCount: Int { details.map { $0.old.encoded().count + $0.new.encoded().count } ?? 0 }

  /// Whether the edit concerns the files of the asset (CD-21).
  var changesContent: Bool { details.map { !$0.old.hasSameContent(as: $0.new) } ?? false }
}

/// One property of an asset, before and after.
package struct AssetChange: Equatable, Sendable {
  package var field: AssetField
  package var old: FieldValue
  package var new: FieldValue
}

/// A collection with its place in the folder that holds it.
package struct CollectionExistence: Equatable, Sendable {
  package var row: CollectionRow
  package var key: OrderKey
}

/// An edit of what the library knows of one client.
package struct ClientEdited: Equatable, Sendable {
  package var number: ObjectNumber
  /// The requested level, if the event only records a request.
  package var requested: AccessLevel?
  package var statuses: [AccessLevel: Replacement<AuthorizationStatus>] = [:]
  package var usageDescriptions: [AccessLevel: Replacement<String?>] = [:]
  package var preventsLimitedAlert: Replacement<Bool>?
  /// The album that the selection follows; nil within for none.
  package var followedAlbum: Replacement<ObjectNumber?>?

  package init(number: ObjectNumber) { self.number = number }
}

/// Assets that were erased from the log, except that they existed.
package struct AssetErased: Equatable, Sendable {
  /// The replacement of the payload of one event.
  package struct Redaction: Equatable, Sendable {
    package var sequence: UInt64
    /// The version of the payload's format.
    package var version: UInt32
    package var payload: [UInt8]

    package init(sequence: UInt64, version: UInt32, payload: [UInt8]) {
      (self.sequence, self.version, self.payload) = (sequence, version, payload)
    }
  }

  /// At most ``Event/objectLimit``.
  package var numbers: [ObjectNumber]
  /// Ascending by sequence; all of earlier events.
  package var redactions: [Redaction]

  package init(numbers: [ObjectNumber], redactions: [Redaction]) {
    self.numbers = numbers
    self.redactions = redactions
  }
}

/// Where a library begins to be another one than that which it was forked from.
package struct LibraryFork: Equatable, Sendable {
  /// Drawn for the fork: tokens of its own commits bear a mark of it.
  package var identifier: LocalIdentifier
  package var date: Date
  /// Where the other library lay.
  package var origin: String

  package init(identifier: LocalIdentifier, date: Date, origin: String) {
    (self.identifier, self.date, self.origin) = (identifier, date, origin)
  }
}

/// Places given and taken in one container.
package struct Arranged: Equatable, Sendable {
  /// What a person did; it does not change what is applied.
  package enum Verb: String, Sendable, CaseIterable {
    // The raw values are recorded in the log; the cases may be renamed, the texts never.
    case inserted = "inserted"
    case removed = "removed"
    case moved = "moved"
    case replaced = "replaced"
    /// Not requested by a client: members were rekeyed to make room between two neighbours.
    case rekeyed = "spread"
    /// Assets joined a client's selection.
    case granted = "granted"
    /// Assets left a client's selection.
    case withdrawn = "withdrawn"
    /// Assets were given to a client by a picking session.
    case picked = "picked"

    /// Whether the container is a selection or a pick, which hold assets and have no row of a collection.
    package var isAboutAccess: Bool { self == .granted || self == .withdrawn || self == .picked }

    var inverse: Verb {
      switch self {
      case .inserted: .removed
      case .removed: .inserted
      case .granted: .withdrawn
      case .withdrawn: .granted
      case .moved, .replaced, .rekeyed, .picked: self
      }
    }
  }

  /// A member that was put in (`old` nil), taken out (`new` nil) or put elsewhere.
  package struct Place: Equatable, Sendable {
    package var child: ObjectNumber
    package var old: OrderKey?
    package var new: OrderKey?
  }

  package var verb: Verb
  package var container: ObjectNumber
  package var places: [Place]
  /// How many more visible members the album has; 0 for a folder.
  package var countShift = 0
  /// The same as seen by the client that created the album.
  package var creatorShift = 0
  /// Nil where a selection or a pick is arranged, and for a rekeying.
  package var modificationDate: Replacement<Date>?
  /// The modification date as the container's creator sees it; nil where nothing changed that it sees.
  package var creatorDate: Replacement<Date>?
  /// For a selection, the albums of its client that hold one of the members.
  package var shifts: [CountShift] = []
}

extension Event {
  /// Calls `body` with the objects whose history holds this event: those it changed, and those it put into or took out
  /// of a container.
  package func forEachTouched(_ body: (ObjectNumber) throws -> Void) rethrows {
    switch self {
    case .nothingChanged: break
    case .libraryCreated, .historyShortened, .libraryForked: try body(rootFolder)
    case .assetErased(let erased): for number in erased.numbers { try body(number) }
    case .assetCreated(let existence), .assetPurged(let existence):
      try body(existence.row.number)
      for place in existence.places { try body(place.container) }
    case .assetsEdited(let edited):
      for edit in edited.edits { try body(edit.number) }
      for shift in edited.shifts { try body(shift.album) }
    case .collectionCreated(let existence), .collectionErased(let existence):
      try body(existence.row.number)
      try body(existence.row.parent)
    case .collectionEdited(let edited): try body(edited.number)
    case .arranged(let arranged):
      try body(arranged.container)
      for place in arranged.places { try body(place.child) }
      for shift in arranged.shifts { try body(shift.album) }
    case .clientRegistered(let row), .clientErased(let row): try body(row.number)
    case .clientEdited(let edited): try body(edited.number)
    case .pickRecorded(let row), .pickErased(let row):
      try body(row.number)
      try body(row.client)
    }
  }

  /// The objects that the event names without touching them.
  package var mentioned: [ObjectNumber] {
    switch self {
    case .clientEdited(let edited): [edited.followedAlbum?.old, edited.followedAlbum?.new].compactMap(\.self)
    case .libraryCreated, .libraryForked, .assetCreated, .assetPurged, .assetsEdited, .assetErased, .collectionCreated,
      .collectionErased, .collectionEdited, .arranged, .clientRegistered, .clientErased, .pickRecorded, .pickErased,
      .historyShortened, .nothingChanged:
      []
    }
  }

  /// The identifier of the asset or collection that the event creates; nil for an asset that an undo restores.
  var createdIdentifier: String? {
    switch self {
    case .assetCreated(let existence): existence.isByUndo ? nil : existence.row.identifier.spelled(as: .asset)
    case .collectionCreated(let existence): existence.row.identifier.spelled(as: existence.row.objectKind)
    case .libraryCreated, .libraryForked, .assetPurged, .assetsEdited, .assetErased, .collectionErased,
      .collectionEdited, .arranged, .clientRegistered, .clientErased, .clientEdited, .pickRecorded, .pickErased,
      .historyShortened, .nothingChanged:
      nil
    }
  }

  /// The objects whose history holds this event, in the order of `forEachTouched`.
  package var touched: [ObjectNumber] {
    var numbers: [ObjectNumber] = []
    forEachTouched { numbers.append($0) }
    return numbers
  }
}

extension Event {
  /// Whether a type of event is of a kind: the type itself such as `assets.trashed`, its object or its action.
  package static func isType(_ type: String, ofKind kind: String) -> Bool {
    type == kind || (!kind.isEmpty && (type.hasPrefix(kind + ".") || type.hasSuffix("." + kind)))
  }
}
