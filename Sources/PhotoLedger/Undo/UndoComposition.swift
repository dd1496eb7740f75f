import EventLog
import Foundation
import LMDB

// What chosen commits came to, property by property.
//
// Undoing an import, a scan or a week of work must not revert its events one by one: what matters is their net effect.
// So the events are composed. For each property two values remain: `base`, its value without the chosen commits, and
// `given`, the value that they set.
//
//     log     41* title A→B     42 title B→C     43* title C→D          * chosen
//     title   base C, given D                                           43 found C, so 42 changed it in between
//
// An event says what it replaced. So a change by a commit that was not chosen shows as a value that the next chosen
// event found and no chosen event had given; `base` is then that value. Of other commits, only rekeyings and followed
// selections are read.
//
// Existence is a property like the others: a creation makes it true, a purge false. A position in an album is one too;
// rekeying (`spread`) is not a change by a client and is followed, not reverted.
//
// A selection that a chosen commit made follow an album changes with each later commit that changes the album. Without
// the chosen commit these would not have touched it. So their changes of the selection, and nothing else of them, are
// composed as if they were chosen; what is granted or withdrawn by hand after the following has ended is not:
//
//     log         41* client follows A   42 A loses w, gets x   43 client follows nothing   44 z is granted
//     selection   s w → w y              w y → x y              x y                         x y → x y z
//     undone      s w z
//
// Rejected: composing inverse events (`Event.inverse`). They name counts and dates that later commits have changed, and
// rules such as the single representative of a burst would have to be repaired afterwards.

/// What a property would be without the chosen commits, and what they left it at: their changes as one.
typealias Net = Replacement

extension Replacement {
  var base: Value { old }
  var given: Value { new }
}

/// A part of an asset's details, which is the same as another one if the same bytes are kept of both.
struct StoredPart<Value: Sendable>: Equatable, Sendable {
  let value: Value
  private let bytes: [UInt8]

  init(_ part: WritableKeyPath<AssetDetails, Value>, of details: AssetDetails) {
    value = details[keyPath: part]
    var alone = AssetDetails()
    alone[keyPath: part] = value
    bytes = alone.encoded()
  }

  static func == (one: StoredPart, other: StoredPart) -> Bool { one.bytes == other.bytes }
}

/// The files of an asset and what belongs to them: they change together or not at all.
struct AssetContent: Equatable, Sendable {
  var resources: [AssetResource]
  var adjustment: AssetDetails.Adjustment?
  var unedited: AssetDetails.Unedited?

  init(_ details: AssetDetails) {
    (resources, adjustment, unedited) = (details.resources, details.adjustment, details.unedited)
  }

  /// Whether the same bytes are kept of both: two spellings of a path by Unicode are two files.
  static func == (one: AssetContent, other: AssetContent) -> Bool { one.details.isStored(like: other.details) }

  private var details: AssetDetails {
    var details = AssetDetails(resources: resources)
    (details.adjustment, details.unedited) = (adjustment, unedited)
    return details
  }
}

/// What chosen commits came to.
struct UndoComposition: Sendable {
  struct FieldNet: Sendable {
    var field: AssetField
    var net: Net<FieldValue>
  }

  struct DetailsNet: Sendable {
    var content: Net<AssetContent>?
    var caption: Net<StoredPart<String?>>?
    var keywords: Net<StoredPart<[String]>>?
    var metadata: Net<StoredPart<AssetMetadata?>>?
  }

  struct AssetNet: Sendable {
    var exists: Net<Bool>?
    var fields: [FieldNet] = []
  }

  struct CollectionNet: Sendable {
    /// The row that the creation gave it.
    var creation: CollectionRow?
    /// The edits of chosen commits as one; each of its changes is a `Net`.
    var edits = CollectionEdited(number: 0)
    /// Where it hangs.
    var place: PlaceNet<ContainerPlace>?
  }

  /// A place with the events that the two values come from, since members may have been rekeyed after those.
  struct PlaceNet<Value: Equatable & Sendable>: Sendable {
    var base: Value?
    var given: Value?
    /// The event that found `base`.
    var found: UInt64
    /// The last event that changed it.
    var last: UInt64
  }

  struct ClientNet: Sendable {
    var statuses: [AccessLevel: Net<AuthorizationStatus>] = [:]
    var usageDescriptions: [AccessLevel: Net<String?>] = [:]
    var preventsLimitedAlert: Net<Bool>?
    var followedAlbum: Net<ObjectNumber?>?
  }

  /// What is known of a selection that the chosen commits have made follow an album.
  private struct Following: Sendable {
    /// The client's events up to this one are taken in.
    var last: UInt64
    /// Whether a chosen commit has made it follow an album by then.
    var hasBegun = false
    /// Whether it follows an album then.
    var isFollowing = false
    /// Whether another commit has made it follow an album since a chosen one did.
    var isResettled = false
  }

  private(set) var assets: [ObjectNumber: AssetNet] = [:]
  private(set) var details: [ObjectNumber: DetailsNet] = [:]
  /// What created assets were left as.
  private(set) var arrivals: [ObjectNumber: AssetExistence] = [:]
  /// What purged assets were.
  private(set) var departures: [ObjectNumber: AssetExistence] = [:]
  /// The assets that the commits left as representatives of their bursts, including those that are not wanted.
  private(set) var representatives: Set<ObjectNumber> = []
  private(set) var collections: [ObjectNumber: CollectionNet] = [:]
  /// Places of assets, in albums and in selections.
  private(set) var places: [ContainerMember: PlaceNet<OrderKey>] = [:]
  private(set) var clients: [ObjectNumber: ClientNet] = [:]
  /// By client.
  private var followings: [ObjectNumber: Following] = [:]
  private(set) var firstAvailable: Net<UInt64>?
  /// The recorded picks and clients; neither is undone.
  private(set) var picks: [PickRow] = []
  private(set) var registered: [ClientRow] = []
  /// How many assets were erased: none comes back.
  private(set) var erasedCount = 0
  /// The commits of which something was taken in, ascending.
  private(set) var commits: [UInt64] = []
  /// The rekeyings since the first chosen event.
  var rekeyings: Rekeyings
  /// Whether an event was taken in.
  private var hasBegun = false

  /// The objects that alone are wanted; nil: all.
  private let wanted: Set<ObjectNumber>?
  private var kinds: [ObjectNumber: PhotoCollection.Kind?] = [:]
  /// The folders between which each collection was moved.
  private var folders: [ObjectNumber: Set<ObjectNumber>] = [:]

  init(of wanted: Set<ObjectNumber>?, _ rekeyings: Rekeyings) { (self.wanted, self.rekeyings) = (wanted, rekeyings) }

  private func wants(_ number: ObjectNumber) -> Bool { wanted?.contains(number) ?? true }

  // MARK: Taking events in

  /// Takes an event of a chosen commit in; in the order of the log.
  ///
  /// If only some objects are wanted, representatives are noted separately, by `noteRepresentatives(of:)`: others may
  /// be in events that the wanted objects are not in.
  /// - Complexity: O(k log n) for k objects of the event.
  mutating func add<T: TransactionReading & ~Copyable>(
    _ event: Event, at sequence: UInt64, of commit: UInt64, in t: borrowing T
  ) throws {
    if case .libraryCreated = event { return }
    if case .nothingChanged = event { return }
    if !hasBegun { (hasBegun, rekeyings.start) = (true, sequence - 1) }
    if commits.last != commit, wanted.map({ !$0.isDisjoint(with: event.touched) }) ?? true { commits.append(commit) }
    if wanted == nil { noteRepresentatives(of: event) }
    switch event {
    case .assetCreated(let existence): try add(existence, arrives: true, sequence, t)
    case .assetPurged(let existence): try add(existence, arrives: false, sequence, t)
    case .assetsEdited(let edited):
      for edit in edited.edits where wants(edit.number) { add(edit) }
    case .collectionCreated(let existence) where wants(existence.row.number):
      collections[existence.row.number, default: CollectionNet()].creation = existence.row
    case .collectionEdited(let edited) where wants(edited.number): add(edited)
    case .arranged(let arranged): try add(arranged, sequence, t)
    case .clientRegistered(let row) where wants(row.number): registered.append(row)
    case .clientEdited(let edited) where wants(edited.number): add(edited)
    case .pickRecorded(let row) where wants(row.number) || wants(row.client): picks.append(row)
    case .assetErased(let erased): erasedCount += erased.numbers.count { wants($0) }
    case .historyShortened(let kept) where wanted == nil: firstAvailable.note(kept)
    case .libraryCreated, .collectionCreated, .collectionErased, .collectionEdited, .clientRegistered, .clientErased,
      .clientEdited, .pickRecorded, .pickErased, .historyShortened, .libraryForked, .nothingChanged:
      break
    }
  }

  /// Ends the taking in: collections that were moved elsewhere than the wanted folders are left out.
  ///
  /// The rekeyings of all containers are read here, and selections that follow an album, so that the writer has to read
  /// only what was committed since.
  /// - Complexity: O(c + k log n) for c containers with k events since the first chosen one.
  mutating func finish<T: TransactionReading & ~Copyable>(in t: borrowing T) throws {
    if !followings.isEmpty {
      // They are taken in anew, together with what other commits changed in between.
      places = places.filter { followings[$0.key.container] == nil }
      for client in followings.keys { followings[client] = Following(last: rekeyings.start) }
      try readSelections(in: t)
    }
    if wanted != nil {
      for (number, folders) in folders where !wants(number) && !folders.contains(where: wants) {
        collections[number]?.place = nil
      }
    }
    var containers = Set(judgedPlaces.map { $0.member.container })
    for net in collections.values where net.creation == nil {
      guard let place = net.place, place.base != place.given else { continue }
      for case let end? in [place.base, place.given] { containers.insert(end.container) }
    }
    for container in containers { try rekeyings.rekeyings(of: container, in: t) }
  }

  /// The places of assets that are judged: what was created goes with its places, or stays with them, but for those
  /// that a selection has because it followed an album.
  var judgedPlaces: [(member: ContainerMember, net: PlaceNet<OrderKey>)] {
    var judged: [(member: ContainerMember, net: PlaceNet<OrderKey>)] = []
    for (member, net) in places {
      guard net.base != net.given, collections[member.container]?.creation == nil,
        assets[member.child]?.exists?.base != false || followings[member.container] != nil
      else { continue }
      judged.append((member, net))
    }
    return judged.sorted { ($0.member.container, $0.member.child) < ($1.member.container, $1.member.child) }
  }

  private mutating func add(_ edit: AssetEdit) {
    let number = edit.number
    var net = assets[number] ?? AssetNet()
    assets[number] = nil  // So that the array of fields is changed in place.
    for change in edit.changes where change.field != .modificationDate {
      let replaced = Net(old: change.old, new: change.new)
      if let index = net.fields.firstIndex(where: { $0.field == change.field }) {
        net.fields[index].net.add(replaced)
      } else {
        net.fields.append(FieldNet(field: change.field, net: replaced))
      }
    }
    assets[number] = net
    if let replaced = edit.details { add(replaced, of: number) }
    guard arrivals[number] != nil else { return }
    for change in edit.changes { _ = arrivals[number]?.row.set(change.field, change.new) }
    if let replaced = edit.details { arrivals[number]?.details = replaced.new }
  }

  /// Notes which assets an event of a chosen commit makes representatives; in the order of the log.
  mutating func noteRepresentatives(of event: Event) {
    event.forEachRepresentation { number, _, represents in noteRepresentative(number, represents) }
  }

  private mutating func noteRepresentative(_ number: ObjectNumber, _ represents: Bool) {
    if represents { representatives.insert(number) } else { representatives.remove(number) }
  }

  private mutating func add(_ replaced: Replacement<AssetDetails>, of number: ObjectNumber) {
    var net = details[number] ?? DetailsNet()
    let content = Net(old: AssetContent(replaced.old), new: AssetContent(replaced.new))
    if !content.isNothing { net.content.note(content) }
    net.caption.note(Self.change(of: \.caption, replaced))
    net.keywords.note(Self.change(of: \.keywords, replaced))
    net.metadata.note(Self.change(of: \.metadata, replaced))
    details[number] = net
  }

  /// The change of a part of an asset's details; nil if there is none.
  private static func change<Value: Sendable>(
    of part: WritableKeyPath<AssetDetails, Value>, _ replaced: Replacement<AssetDetails>
  ) -> Net<StoredPart<Value>>? {
    let change = Net(old: StoredPart(part, of: replaced.old), new: StoredPart(part, of: replaced.new))
    return change.isNothing ? nil : change
  }

  private mutating func add<T: TransactionReading & ~Copyable>(
    _ existence: AssetExistence, arrives: Bool, _ sequence: UInt64, _ t: borrowing T
  ) throws {
    let number = existence.row.number
    if wants(number) {
      assets[number, default: AssetNet()].exists.note(Net(old: !arrives, new: arrives))
      if arrives { arrivals[number] = existence } else { departures[number] = existence }
    }
    for place in existence.places where wants(number) || wants(place.container) {
      guard try kind(of: place.container, t) != .folder else { continue }
      try add(Self.change(of: number, arrives: arrives, at: place), in: place.container, sequence, t)
    }
  }

  private static func change(of child: ObjectNumber, arrives: Bool, at place: ContainerPlace) -> Arranged.Place {
    Arranged.Place(child: child, old: arrives ? nil : place.key, new: arrives ? place.key : nil)
  }

  private mutating func add(_ edited: CollectionEdited) {
    var net = collections[edited.number] ?? CollectionNet()
    for property in CollectionProperty.edited { property.log.note(edited, &net.edits) }
    collections[edited.number] = net
  }

  private mutating func add(_ edited: ClientEdited) {
    var net = clients[edited.number] ?? ClientNet()
    for (level, status) in edited.statuses { net.statuses[level].note(status) }
    for (level, words) in edited.usageDescriptions { net.usageDescriptions[level].note(words) }
    net.preventsLimitedAlert.note(edited.preventsLimitedAlert)
    net.followedAlbum.note(edited.followedAlbum)
    clients[edited.number] = net
    if edited.followedAlbum?.new != nil { followings[edited.number] = Following(last: rekeyings.start) }
  }

  // MARK: Selections

  /// Whether a commit that was not chosen has made a selection follow an album since a chosen one did.
  func isResettled(_ client: ObjectNumber) -> Bool { followings[client]?.isResettled ?? false }

  /// Takes in the events since the last reading, of selections that the chosen commits have made follow an album.
  /// - Complexity: O(k log n) for k events of these clients.
  mutating func readSelections<T: TransactionReading & ~Copyable>(in t: borrowing T) throws {
    let (log, projections) = (rekeyings.log, rekeyings.projections)
    for (client, known) in followings {
      var following = known
      for sequence in try projections.history(of: client, after: known.last, through: rekeyings.head, in: t) {
        let record = try log.recordedEvent(at: sequence, in: t)
        let isChosen = hasChosen(record.commit)
        try add(try projections.event(record, in: t), of: client, &following, isChosen, sequence, t)
      }
      following.last = rekeyings.head
      followings[client] = following
    }
  }

  private func hasChosen(_ commit: UInt64) -> Bool {
    let place = commits.lowerBound { $0 < commit }
    return place < commits.count && commits[place] == commit
  }

  private mutating func add<T: TransactionReading & ~Copyable>(
    _ event: Event, of client: ObjectNumber, _ following: inout Following, _ isChosen: Bool, _ sequence: UInt64,
    _ t: borrowing T
  ) throws {
    switch event {
    case .clientEdited(let edited):
      guard let followed = edited.followedAlbum else { return }
      following.isFollowing = followed.new != nil
      guard followed.new != nil else { return }
      if isChosen {
        // What another following made of the selection in between does not depend on the chosen commits.
        if following.isResettled { places = places.filter { $0.key.container != client } }
        (following.hasBegun, following.isResettled) = (true, false)
      } else if following.hasBegun {
        following.isResettled = true
      }
    case .arranged(let arranged) where arranged.container == client:
      guard isChosen || following.hasBegun && following.isFollowing else { return }
      for place in arranged.places { try add(place, in: client, sequence, t) }
    case .assetCreated(let existence), .assetPurged(let existence):
      guard isChosen else { return }
      let arrives = if case .assetCreated = event { true } else { false }
      for place in existence.places where place.container == client {
        try add(Self.change(of: existence.row.number, arrives: arrives, at: place), in: client, sequence, t)
      }
    case .libraryCreated, .assetsEdited, .collectionCreated, .collectionErased, .collectionEdited, .arranged,
      .clientRegistered, .clientErased, .pickRecorded, .pickErased, .historyShortened, .assetErased, .libraryForked,
      .nothingChanged:
      break
    }
  }

  // MARK: Places

  private mutating func kind<T: TransactionReading & ~Copyable>(
    of container: ObjectNumber, _ t: borrowing T
  ) throws -> PhotoCollection.Kind? {
    if let known = kinds[container] { return known }
    let kind = try rekeyings.projections.collection(container, in: t)?.kind
    kinds[container] = .some(kind)
    return kind
  }

  private mutating func add<T: TransactionReading & ~Copyable>(
    _ arranged: Arranged, _ sequence: UInt64, _ t: borrowing T
  ) throws {
    if arranged.verb == .picked || arranged.verb == .rekeyed { return }
    let container = arranged.container
    guard try kind(of: container, t) == .folder else {
      for place in arranged.places where wants(container) || wants(place.child) {
        try add(place, in: container, sequence, t)
      }
      return
    }
    for place in arranged.places {
      folders[place.child, default: []].insert(container)
      let old = place.old.map { ContainerPlace(container: container, key: $0) }
      let new = place.new.map { ContainerPlace(container: container, key: $0) }
      var net = collections[place.child] ?? CollectionNet()
      if var known = net.place {
        let followed =
          try known.given.map { try rekeyings.follow($0, of: place.child, after: known.last, in: t) } ?? nil
        known.add(old, new, at: sequence, isContinued: followed == old || known.given == old)
        net.place = known
      } else {
        net.place = PlaceNet(base: old, given: new, found: sequence, last: sequence)
      }
      collections[place.child] = net
    }
  }

  private mutating func add<T: TransactionReading & ~Copyable>(
    _ place: Arranged.Place, in container: ObjectNumber, _ sequence: UInt64, _ t: borrowing T
  ) throws {
    let member = ContainerMember(container: container, child: place.child)
    guard var known = places[member] else {
      places[member] = PlaceNet(base: place.old, given: place.new, found: sequence, last: sequence)
      return
    }
    var isContinued = known.given == place.old
    if !isContinued, let given = known.given, place.old != nil {
      let standing = ContainerPlace(container: container, key: given)
      isContinued = try rekeyings.follow(standing, of: place.child, after: known.last, in: t).key == place.old
    }
    known.add(place.old, place.new, at: sequence, isContinued: isContinued)
    places[member] = known
  }
}

extension UndoComposition.PlaceNet {
  fileprivate mutating func add(_ old: Value?, _ new: Value?, at sequence: UInt64, isContinued: Bool) {
    if !isContinued { (base, found) = (old, sequence) }
    (given, last) = (new, sequence)
  }
}

extension Event {
  /// Whether it makes an asset the representative of its burst, or ends that.
  var movesRepresentative: Bool {
    var moves = false
    forEachRepresentation { _, before, after in
      if before != after { moves = true }
    }
    return moves
  }

  /// Gives each asset of which it says so, and whether that represents its burst before it and after it.
  fileprivate func forEachRepresentation(_ body: (_ asset: ObjectNumber, _ before: Bool, _ after: Bool) -> Void) {
    switch self {
    case .assetCreated(let existence):
      body(existence.row.number, false, existence.row.flags.contains(.representsBurst))
    case .assetPurged(let existence):
      body(existence.row.number, existence.row.flags.contains(.representsBurst), false)
    case .assetsEdited(let edited):
      for edit in edited.edits {
        for change in edit.changes where change.field == .representsBurst {
          body(edit.number, change.old == .bool(true), change.new == .bool(true))
        }
      }
    case .libraryCreated, .collectionCreated, .collectionErased, .collectionEdited, .arranged, .clientRegistered,
      .clientErased, .clientEdited, .pickRecorded, .pickErased, .historyShortened, .assetErased, .libraryForked,
      .nothingChanged:
      break
    }
  }
}
