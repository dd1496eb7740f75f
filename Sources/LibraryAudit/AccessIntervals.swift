import EventLog
import LMDB
public import PhotoLedger

// What a client could see, and from when to when.
//
//     status       undecided │ limited                     │ authorized      │ denied
//     selection              │   a ├───────┤   b ├───────────────────────────────── …
//     pick             c ├────────────────────────────────────────────────────────── …
//     intervals              │   a ├───────┤   b ├─────────┤ everything ├─────┤
//                      c ├────────────────────────────────────────────────────────── …
//
// A ground to see something is an interval of commits: the first is the one after which it could be seen, the last the
// one after which it could not. What was given and taken within one commit was never to be seen. "Could see" is what
// is answered: reading leaves no trace.
//
// Invariant: a client is among those that `access(to:at:)` names for an object at a state exactly if one of its
// intervals is about the object, or about everything, and holds the state's commit.

/// Why a client could see something.
public enum AccessGround: String, Sendable, Hashable, CaseIterable, Codable {
  /// Full access.
  case everything
  /// The asset is in the client's selection, and its access is limited to that.
  case selection
  /// The client made the album or folder, or the library brings it along, and access is limited to what the client was
  /// given and made.
  case ownCollection
  /// A picking session gave it the asset, whatever else it may see.
  case pick
}

/// A client with access to an object, and the ground.
public struct ObjectAccess: Sendable, Hashable {
  /// The object, spelled as PhotoKit spells identifiers.
  public let object: String
  /// The state at which it had access.
  public let token: Token
  /// The client.
  public let client: String
  /// By what.
  public let ground: AccessGround

  /// The answer as a record of the audit's export; see <doc:Audit>.
  public var record: LogValue {
    AuditSchema.record(
      "access",
      [
        .init("object", .text(object)), .init("token", .text(token.description)), .init("client", .text(client)),
        .init("ground", .text(ground.rawValue)),
      ])
  }
}

/// A time during which a client could see something.
public struct AccessInterval: Sendable, Hashable {
  /// The client.
  public let client: String
  /// By what.
  public let ground: AccessGround
  /// What it could see, spelled as PhotoKit spells identifiers; nil for everything.
  public let object: String?
  /// The commit that began it: it lasts from the state after this commit.
  public let from: AuditOrigin
  /// The commit that ended it, whose state is no longer included; nil if it lasts.
  public let to: AuditOrigin?

  /// Whether it holds in the state of a commit.
  package func holds(atCommit number: UInt64) -> Bool {
    from.commit.number <= number && (to.map { number < $0.commit.number } ?? true)
  }

  /// The interval as a record of the audit's export; see <doc:Audit>.
  public var record: LogValue {
    AuditSchema.record(
      "interval",
      [
        .init("client", .text(client)), .init("ground", .text(ground.rawValue)),
        .init("object", object.map(LogValue.text) ?? .null), .init("from", .object(from.fields)),
        .init("to", to.map { .object($0.fields) } ?? .null),
      ])
  }
}

extension PhotoLibrary {
  /// The clients with access to an asset, album or folder at a state of the library, except the owner, and on what
  /// grounds.
  /// - Parameters:
  ///   - identifier: the object, in any form, also a purged one.
  ///   - token: the state; nil: now.
  /// - Returns: clients in the order of their registration, each with its widest ground: everything, then its selection
  ///   or its own collection, then a pick. Empty for an object that did not exist at that state, and for a deleted
  ///   album.
  /// - Throws: ``LibraryError`` `.identifierNotFound` for an object that never existed, `.accessUserDenied` for any
  ///   client but the owner; the store's errors.
  /// - Complexity: O(c log n) for c clients, and one read for each later event that touched one of them or the object.
  public func access(to identifier: String, at token: Token? = nil) throws -> [ObjectAccess] {
    try checkIsOwner("read the access of clients")
    return try store.reading { t in
      var reader = AuditReader(of: store)
      let number = try reader.number(of: identifier, t)
      let object = try reader.spelling(number, t)
      let state: Token
      if let token { state = token } else { state = store.token(try store.head(at: moment, t).commit) }
      let sequence = try token.map { try store.sequence(of: $0, for: client, t) } ?? self.sequence
      guard let seers = try store.seers(of: number, at: sequence, t) else { return [] }
      var found: [ObjectAccess] = []
      for client in try store.clientNumbers(t) {
        guard let row = try store.clientRow(client, at: sequence, t) else { continue }
        if let ground = try seers.ground(of: client, Permission(row).access, store, sequence, t) {
          found.append(ObjectAccess(object: object, token: state, client: row.name, ground: ground))
        }
      }
      return found
    }
  }

  /// What a client could see, from when to when.
  /// - Parameters:
  ///   - name: the client's name.
  ///   - token: only what it could see at this state; nil: at any.
  /// - Returns: the intervals in the order in which they began.
  /// - Throws: ``LibraryError`` `.identifierNotFound` for a client that was never registered,
  ///   `.accessUserDenied` for any client but the owner; what the store throws.
  /// - Complexity: O(k + a log n) for the k events that touched the client, its selection and its picks, and the a
  ///   albums of the library.
  public func accessIntervals(of name: String, at token: Token? = nil) throws -> [AccessInterval] {
    try checkIsOwner("read the access of clients")
    return try store.reading { t in
      guard let row = try store.core.projections.client(named: name, in: t) else { throw Self.unknownClient(name) }
      var book = AccessBook(client: row, of: store)
      try book.read(t)
      guard let commit = try token.map({ try store.commit(of: $0, for: client, t) }) ?? moment?.commit else {
        return book.intervals
      }
      return book.intervals.filter { $0.holds(atCommit: commit) }
    }
  }
}

/// The access of a client to an object at a state, if it has any.
private struct Seers {
  let number: ObjectNumber
  /// Nil for an asset.
  let collection: CollectionRow?
  let pickers: Set<ObjectNumber>

  /// Why a client sees the object; nil if it does not.
  func ground(
    of client: ObjectNumber, _ access: Access, _ store: LibraryStore, _ sequence: UInt64, _ t: borrowing StoreReading
  ) throws -> AccessGround? {
    if access == .full { return .everything }
    if let collection { return access.shows(collection) ? .ownCollection : nil }
    if try store.shows(number, to: access, at: sequence, t) { return .selection }
    return pickers.contains(client) ? .pick : nil
  }
}

extension LibraryStore {
  /// Who can see an object after an event; nil if it was not there.
  fileprivate func seers(of number: ObjectNumber, at sequence: UInt64, _ t: borrowing StoreReading) throws -> Seers? {
    if try core.projections.collection(number, in: t) != nil {
      guard let row = try collectionRow(number, at: sequence, t), row.deletedDate == nil else { return nil }
      return Seers(number: number, collection: row, pickers: [])
    }
    guard try assetRow(number, at: sequence, t) != nil else { return nil }
    return Seers(number: number, collection: nil, pickers: try pickers(of: number, at: sequence, t))
  }

  /// The numbers of all clients, in the order of their registration.
  func clientNumbers(_ t: borrowing StoreReading) throws -> [ObjectNumber] {
    var numbers: [ObjectNumber] = []
    try t.forEach(in: core.projections.clients, from: 0) { number, _ in
      numbers.append(number)
      return .proceed
    }
    return numbers
  }

  /// The clients that had been given an asset by picking, up to an event.
  func pickers(of asset: ObjectNumber, at sequence: UInt64, _ t: borrowing StoreReading) throws -> Set<ObjectNumber> {
    var found: Set<ObjectNumber> = []
    for past in try core.projections.history(of: asset, in: t) where past <= sequence {
      guard let record = try core.log.event(at: past, in: t), record.type == "selection.picked",
        case .arranged(let arranged) = try Event(record),
        let pick = try core.projections.pick(arranged.container, in: t)
      else { continue }
      found.insert(pick.client)
    }
    return found
  }
}

/// Opens and ends the intervals of one client as its events are read.
private struct AccessBook {
  /// The object of an interval; nil for everything.
  private struct Matter: Hashable {
    var ground: AccessGround
    var object: ObjectNumber?
  }

  let client: ClientRow
  private var reader: AuditReader
  private let core: StoreCore
  private var access = Access.none
  private var selected: Set<ObjectNumber> = []
  private var made: Set<ObjectNumber> = []
  private var picks: Set<ObjectNumber> = []
  private var open: [Matter: AuditOrigin] = [:]
  private var closed: [(matter: Matter, from: AuditOrigin, to: AuditOrigin?)] = []
  private(set) var intervals: [AccessInterval] = []

  init(client: ClientRow, of store: LibraryStore) {
    (self.client, core) = (client, store.core)
    reader = AuditReader(of: store)
  }

  /// The client's own events, those of the collections that it may come to see, and of what it was given by picking, in
  /// the order of the log.
  mutating func read(_ t: borrowing StoreReading) throws {
    var sequences = Set(try reader.sequences(of: client.number, through: LibraryStore.now, t))
    var shown: [ObjectNumber: CollectionRow] = [:]
    try t.forEach(in: core.projections.collections, from: 0) { number, bytes in
      let row = try CollectionRow(number: number, encoded: bytes.withUnsafeBytes { Array($0) })
      if client.limitedAccess.shows(row) { shown[number] = row }
      return .proceed
    }
    for number in shown.keys { sequences.formUnion(try core.projections.history(of: number, in: t)) }
    // The built-in ones exist from the beginning, without an event.
    for row in shown.values where row.isBuiltIn { made.insert(row.number) }
    sequences.formUnion(try picked(t))
    for sequence in sequences.sorted() {
      let (origin, event, _) = try reader.event(at: sequence, t)
      guard let event else { continue }
      note(event, origin, shown)
    }
    for (matter, from) in open { closed.append((matter, from, nil)) }
    try finish(t)
  }

  /// The events of the client's picks, the returns of picked assets included, and those that purged what was picked.
  private mutating func picked(_ t: borrowing StoreReading) throws -> Set<UInt64> {
    guard client.pickCount > 0 else { return [] }
    var sequences: Set<UInt64> = []
    for sequence in try reader.sequences(of: client.number, through: LibraryStore.now, t) {
      guard case .pickRecorded(let pick) = try reader.event(at: sequence, t).event else { continue }
      picks.insert(pick.number)
      for arrangement in try core.projections.history(of: pick.number, in: t) where arrangement != sequence {
        sequences.insert(arrangement)
        guard case .arranged(let arranged) = try reader.event(at: arrangement, t).event else { continue }
        for place in arranged.places where try core.projections.asset(place.child, in: t) == nil {
          if let end = try core.projections.history(of: place.child, in: t).last { sequences.insert(end) }
        }
      }
    }
    return sequences
  }

  private mutating func note(_ event: Event, _ origin: AuditOrigin, _ shown: [ObjectNumber: CollectionRow]) {
    if let changed = event.readAccessChange, changed.client == client.number {
      change(to: Access(changed.status.new, of: client.number), origin)
    }
    event.forEachPlacement { place in
      if place.container == client.number { show(place.child, place.new != nil, by: .selection, origin) }
      // What is picked stays so until it is no more.
      if place.new != nil, picks.contains(place.container) {
        begin(Matter(ground: .pick, object: place.child), origin)
      }
    }
    if let number = event.ended {
      show(number, false, by: .selection, origin)
      end(Matter(ground: .pick, object: number), origin)
    }
    switch event {
    case .collectionCreated(let existence) where shown[existence.row.number] != nil:
      show(existence.row.number, true, by: .ownCollection, origin)
    case .collectionEdited(let edited) where shown[edited.number] != nil:
      guard let deleted = edited.deletedDate else { return }
      show(edited.number, deleted.new == nil, by: .ownCollection, origin)
    case .libraryCreated, .assetCreated, .assetPurged, .assetsEdited, .collectionCreated, .collectionErased,
      .collectionEdited, .arranged, .clientRegistered, .clientErased, .clientEdited, .pickRecorded, .pickErased,
      .historyShortened, .assetErased, .libraryForked, .nothingChanged:
      break
    }
  }

  /// Puts something into or takes it out of what the client sees while its access is limited.
  private mutating func show(
    _ object: ObjectNumber, _ isIn: Bool, by ground: AccessGround, _ origin: AuditOrigin
  ) {
    let seen = ground == .selection ? \AccessBook.selected : \.made
    if isIn { self[keyPath: seen].insert(object) } else { self[keyPath: seen].remove(object) }
    guard access.selection != nil else { return }
    let matter = Matter(ground: ground, object: object)
    if isIn { begin(matter, origin) } else { end(matter, origin) }
  }

  private mutating func change(to new: Access, _ origin: AuditOrigin) {
    guard new != access else { return }
    for matter in matters(of: access) { end(matter, origin) }
    access = new
    for matter in matters(of: access) { begin(matter, origin) }
  }

  private func matters(of access: Access) -> [Matter] {
    if access == .full { return [Matter(ground: .everything, object: nil)] }
    guard access.selection != nil else { return [] }
    return selected.map { Matter(ground: .selection, object: $0) }
      + made.map { Matter(ground: .ownCollection, object: $0) }
  }

  private mutating func begin(_ matter: Matter, _ origin: AuditOrigin) {
    if open[matter] == nil { open[matter] = origin }
  }

  private mutating func end(_ matter: Matter, _ origin: AuditOrigin) {
    guard let from = open.removeValue(forKey: matter), from.commit.number < origin.commit.number else { return }
    closed.append((matter, from, origin))
  }

  private mutating func finish(_ t: borrowing StoreReading) throws {
    let ordered = closed.sorted { one, other in
      (one.from.sequence, one.matter.object ?? 0, one.to?.sequence ?? .max)
        < (other.from.sequence, other.matter.object ?? 0, other.to?.sequence ?? .max)
    }
    intervals = try ordered.map { matter, from, to in
      AccessInterval(
        client: client.name, ground: matter.ground,
        object: try matter.object.map { try reader.spelling($0, t) }, from: from, to: to)
    }
  }
}

extension PhotoLibrary {
  /// The clients with access to an asset at a state, and on what grounds.
  public struct AssetAccess: Sendable, Hashable {
    /// The client.
    public let client: String
    /// By what: full or limited access, or a pick.
    public let kind: Client.AccessKind
  }

  /// The clients with access to an asset at a state of the library, except the owner.
  /// - Parameters:
  ///   - identifier: the asset, in any spelling.
  ///   - token: the state; nil: now, or the moment that the view shows.
  /// - Returns: clients in the order of their registration; one that was also given the asset by picking is listed by
  ///   its permission.
  /// - Throws: ``LibraryError`` `.identifierNotFound` for what never was an asset, `.accessUserDenied` for any client
  ///   but the owner; what the store throws.
  /// - Complexity: O(c log n) for c clients, and one read for each later event that touched one of them or the asset.
  public func access(toAsset identifier: String, at token: Token? = nil) throws -> [AssetAccess] {
    try checkIsOwner("read the access of clients")
    let isAsset = try store.reading { t in
      try LocalIdentifier(identifier).map { try store.core.assetNumber($0, t) != nil } ?? false
    }
    guard isAsset else {
      throw LibraryError(.identifierNotFound, "The library never had an asset with the identifier \(identifier).")
    }
    return try access(to: identifier, at: token).map { access in
      let kind: Client.AccessKind =
        switch access.ground {
        case .everything: .full
        case .selection, .ownCollection: .limited
        case .pick: .picked
        }
      return AssetAccess(client: access.client, kind: kind)
    }
  }
}
