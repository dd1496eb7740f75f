package import EventLog
import Foundation
package import LMDB

// The projections: the state derived from the log, stored for queries.
//
// Each is one LMDB database. They are written by `apply(_:sequence:in:)` and by nothing else, in the transaction that
// appends the event, so log and projections cannot disagree; dropping them all and applying the log again gives the
// same bytes. Integers inside composite keys are big-endian, so that LMDB's order is the numbers' order.
//
//   database      key                                    value
//   assets        number (8, native integer key)         row, 144 bytes and the burst identifier (AssetRow)
//   details       number (8, native integer key)         CBOR: files and words (AssetDetails)
//   collections   number (8, native integer key)         CBOR: the row (CollectionRow)
//   identifiers   identifier (16)                        kind (1), number (8)
//   members       container (8) order key (8)            child (8)
//   containers    child (8) container (8)                order key (8)
//   clients       number (8, native integer key)         CBOR: the row (ClientRow)
//   clientNames   name (1 … 256)                         number (8)
//   picks         number (8, native integer key)         CBOR: the row (PickRow)
//   sightings     client (8) ordinal (8)                 commit (8)
//   settings      "history" the first available commit (8)
//                 "forks"                                for each fork the last common commit (8) and a mark (8)
//                 "follows" album (8) client (8)         nothing
//   content       SHA-256 (32) asset (8)                 nothing
//   formerContent SHA-256 (32) asset (8)                 nothing
//   formerFiles   asset (8) SHA-256 (32)                 nothing
//   pairing       SHA-256 of a content identifier (32)   nothing
//                 asset (8)
//   bursts        SHA-256 of a burst identifier, or of   nothing
//                 255 and the identifier of a stack's
//                 top (32) asset (8)
//   origins       SHA-256 of an origin (32) asset (8)    nothing
//   words         folded word (1 … 64) 00 asset (8)      nothing       (Projections+Words.swift)
//   history       object (8) sequence (8)                nothing
//   departed      identifier (16) asset (8)              nothing
//   aside         sequence (8)                           why the event cannot be applied, as text
//   order.…       word of a date (8) asset (8)           nothing       (StoredOrders.swift; one for each)
//
// `redactions`, which locates the replacements of erased payloads, belongs to the log (EventLog+Erasing.swift): it is
// written here, like everything that follows from an event, and read by the log.
//
// `members` is the manual order; `containers` answers "where does this stand". They are each other's inverse. `history`
// holds every event that touched an object: the way back to the values of an earlier commit. `content` finds equal
// bytes, `pairing` the halves of a Live Photo, `bursts` the members of a burst or of a stack, `origins` what came from
// another library. A member that is hidden, trashed or deleted keeps its rows in `members` and `containers`.
//
// `formerContent` and `formerFiles`, each other's inverse, hold the files that an undo can bring back: those of the
// library's own folder that an edit replaced, or that an asset had whose creation an undo reverted, unless the asset
// was purged since (Projections+FormerFiles.swift). So whether a file is still needed is known from two look-ups.
//
// Containers are albums and folders (numbers in `collections`), selections (in `clients`) and picks (in `picks`). A
// selection has no order of its own: a member's key is its number. `sightings` holds client revisions: the commits that
// touched the view of a client without full access, counted from 1 (ClientRevisions.swift). `departed` holds tombstones
// of purged assets, so that their history is found without searching the whole log. `aside` is empty except in a
// library whose owner quarantined events that this version cannot apply (UnreadableEvents.swift).

/// The databases of the projections.
///
/// One object for a store, as a copy of some forty names for each holder has no use; and the compiler follows each of
/// a value's fields through every function of a holder that cannot be copied, of which the writer's took a minute.
package final class Projections: Sendable {
  let assets: Database
  package let details: Database
  package let collections: Database
  let identifiers: Database
  let members: Database
  package let containers: Database
  package let content: Database
  let formerContent: Database
  let formerFiles: Database
  let pairing: Database
  let bursts: Database
  let origins: Database
  let words: Database
  package let clients: Database
  let clientNames: Database
  let picks: Database
  let clientRevisions: Database
  let settings: Database
  let history: Database
  let tombstones: Database
  package let quarantine: Database
  /// The stored orders, as ``StoredOrder/all`` lists them.
  let orders: [Database]
  /// The replacements of erased payloads.
  package let redactions: RedactionTable

  /// The names of all projections' databases, in the order of the table above.
  package static let names =
    [
      "assets", "details", "collections", "identifiers", "members", "containers", "content", "formerContent",
      "formerFiles", "pairing", "bursts", "origins", "words", "clients", "clientNames", "picks", "sightings",
      "settings", "history", "departed", "aside",
    ] + StoredOrder.all.map(\.name)

  /// How many databases a store with projections has room for: theirs, the log's, and some to come.
  package static let databasesMax = 128

  /// Opens the projections of a store.
  /// - Parameter creates: whether those that are missing are made, or `notFound` is thrown.
  package init(in environment: LMDB.Environment, creates: Bool = true) throws(LMDBError) {
    assets = try environment.database("assets", integerKeys: true, create: creates)
    details = try environment.database("details", integerKeys: true, create: creates)
    collections = try environment.database("collections", integerKeys: true, create: creates)
    identifiers = try environment.database("identifiers", create: creates)
    members = try environment.database("members", create: creates)
    containers = try environment.database("containers", create: creates)
    content = try environment.database("content", create: creates)
    formerContent = try environment.database("formerContent", create: creates)
    formerFiles = try environment.database("formerFiles", create: creates)
    pairing = try environment.database("pairing", create: creates)
    bursts = try environment.database("bursts", create: creates)
    origins = try environment.database("origins", create: creates)
    words = try environment.database("words", create: creates)
    clients = try environment.database("clients", integerKeys: true, create: creates)
    clientNames = try environment.database("clientNames", create: creates)
    picks = try environment.database("picks", integerKeys: true, create: creates)
    clientRevisions = try environment.database("sightings", create: creates)
    settings = try environment.database("settings", create: creates)
    history = try environment.database("history", create: creates)
    tombstones = try environment.database("departed", create: creates)
    quarantine = try environment.database("aside", create: creates)
    var orders: [Database] = []
    for order in StoredOrder.all { orders.append(try environment.database(order.name, create: creates)) }
    self.orders = orders
    redactions = try RedactionTable(in: environment, creates: creates)
  }

  /// The databases that are written but never read when events are applied, so that a replay may collect their entries.
  /// Tombstones are read for each asset that an undo restores.
  var unread: [Database] {
    [identifiers, content, formerContent, pairing, bursts, origins, words, history] + orders
  }

  /// The databases that neither decisions nor the events that they record read, so that a large block may collect their
  /// entries. They find assets for fetches, which read in transactions of their own: by words and dates, by the hashes
  /// and content identifiers of files, and by where assets came from. Decisions read the others of ``unread``:
  /// identifiers, the contents of files, bursts and stacks, and the history of an object.
  var unreadByDecisions: [Database] { [pairing, origins, words] + orders }

  /// All databases, in the order of ``names``.
  package var all: [Database] {
    [
      assets, details, collections, identifiers, members, containers, content, formerContent, formerFiles, pairing,
      bursts, origins, words, clients, clientNames, picks, clientRevisions, settings, history, tombstones, quarantine,
    ] + orders
  }
}

/// The last commit that a fork has in common with the library it was made from, and what marks its own ones.
package struct ForkPoint: Sendable, Equatable {
  package let commit: UInt64
  package let mark: UInt64
}

/// A composite key of two numbers.
package typealias PairKey = InlineArray<2, UInt64>

package func pairKey(_ first: UInt64, _ second: UInt64) -> PairKey { [first.bigEndian, second.bigEndian] }

/// A composite key of the 32 bytes of a hash and a number.
typealias HashKey = InlineArray<5, UInt64>

func hashKey(_ hash: [UInt8], _ number: UInt64) -> HashKey { hashKey(SHA256Digest(hash.span.bytes), number) }

func hashKey(_ hash: SHA256Digest, _ number: UInt64) -> HashKey {
  var key = HashKey(repeating: number.bigEndian)
  hash.withUnsafeBytes { bytes in
    for index in 0..<4 { key[index] = bytes.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self) }
  }
  return key
}

extension RawSpan {
  /// The big-endian sequence, number of a commit or an object, or ordinal at an offset of a row or key. The library's
  /// own smart albums have numbers that no event can have.
  /// - Throws: ``LibraryError`` `.corrupted` for one that no log reaches, and if the bytes end before it does.
  @inline(__always)
  package func place(at offset: Int) throws(LibraryError) -> UInt64 {
    let place = try number(at: offset)
    guard place <= EventLog.largestSequence || place >= SmartAlbumQuery.firstBuiltIn else {
      throw Projections.corruption("the number \(place) of a row or key")
    }
    return place
  }

  /// The big-endian place in a manual order at an offset of a row or key.
  /// - Throws: ``LibraryError`` `.corrupted` for one that no member has, and if the bytes end before it does.
  func orderKey(at offset: Int) throws(LibraryError) -> OrderKey {
    guard let key = OrderKey(stored: try number(at: offset)) else {
      throw Projections.corruption("an order key, which leaves no key before or after it")
    }
    return key
  }
}

// MARK: - Reading

extension Projections {
  package typealias Reading = TransactionReading & ~Copyable

  package func asset(_ number: ObjectNumber, in t: borrowing some Reading) throws -> AssetRow? {
    guard let value = try t.value(for: number, in: assets) else { return nil }
    return try AssetRow(number: number, bytes: value)
  }

  /// Reads the row of an asset in place; does nothing if there is none.
  func withAsset(
    _ number: ObjectNumber, in t: borrowing some Reading, _ body: (AssetView) -> Void
  ) throws {
    guard let value = try t.value(for: number, in: assets) else { return }
    try value.withUnsafeBytes { body(try AssetView(number: number, bytes: $0)) }
  }

  package func details(_ number: ObjectNumber, in t: borrowing some Reading) throws -> AssetDetails? {
    guard let value = try t.value(for: number, in: details) else { return nil }
    return try AssetDetails(encoded: value)
  }

  /// The files of an asset, read in place; none if it does not exist.
  func resources(_ number: ObjectNumber, in t: borrowing some Reading) throws -> [AssetResource] {
    guard let value = try t.value(for: number, in: details) else { return [] }
    return try AssetDetails.resources(in: value)
  }

  /// Appends the role, type and hash of each of an asset's files, read in place; nothing if the asset does not exist.
  func readContents(
    of number: ObjectNumber, into contents: inout [ResourceContent], in t: borrowing some Reading
  ) throws {
    guard let value = try t.value(for: number, in: details) else { return }
    try AssetDetails.readContents(value, into: &contents)
  }

  package func collection(_ number: ObjectNumber, in t: borrowing some Reading) throws -> CollectionRow? {
    guard let value = try t.bytes(for: number, in: collections) else { return nil }
    return try CollectionRow(number: number, encoded: value)
  }

  package func client(_ number: ObjectNumber, in t: borrowing some Reading) throws -> ClientRow? {
    guard let value = try t.bytes(for: number, in: clients) else { return nil }
    return try ClientRow(number: number, encoded: value)
  }

  /// The client with a name; nil if none was registered, as for an empty name, which is not a valid key in LMDB.
  package func client(named name: String, in t: borrowing some Reading) throws -> ClientRow? {
    guard !name.isEmpty, let value = try t.bytes(for: Array(name.utf8), in: clientNames) else { return nil }
    guard value.count == 8 else { throw corruption("the client '\(name)'") }
    let number = try value.span.bytes.place(at: 0)
    guard let row = try client(number, in: t) else { throw corruption("client \(number)") }
    return row
  }

  package func pick(_ number: ObjectNumber, in t: borrowing some Reading) throws -> PickRow? {
    guard let value = try t.bytes(for: number, in: picks) else { return nil }
    do {
      return try PickRow(number: number, reading: value.span.bytes)
    } catch {
      throw corruption("pick \(number)")
    }
  }

  /// What the library shows a named client and lets it do, by the state that a transaction sees.
  /// - Complexity: O(log n), two reads.
  package func permission(of name: String, in t: borrowing some Reading) throws -> Permission {
    if name == Client.ownerName { return .owner }
    try ClientRow.check(name: name)
    return try client(named: name, in: t).map(Permission.init) ?? .stranger
  }

  /// Whether an access shows an asset, hidden and trashed ones included, by the state that a transaction sees.
  /// - Complexity: O(log n), one look-up for a limited client, none for others.
  func shows(_ asset: ObjectNumber, to access: Access, in t: borrowing some Reading) throws -> Bool {
    try access.showsAsset { client in try key(of: asset, in: client, t) }
  }

  /// Whether an access shows a collection, a deleted one included; false if there is none.
  func showsCollection(_ number: ObjectNumber, to access: Access, in t: borrowing some Reading) throws -> Bool {
    try collection(number, in: t).map(access.shows) ?? false
  }

  /// Whether an access shows an object of the kind that is known.
  func shows(
    _ object: ObjectNumber, isAsset: Bool, to access: Access, in t: borrowing some Reading
  ) throws -> Bool {
    isAsset ? try shows(object, to: access, in: t) : try showsCollection(object, to: access, in: t)
  }

  /// The number and kind of the object with an identifier.
  package func object(
    _ identifier: LocalIdentifier, in t: borrowing some Reading
  ) throws -> (number: ObjectNumber, isAsset: Bool)? {
    let key = pairKey(identifier.high, identifier.low)
    guard let value = try t.value(for: key.span.bytes, in: identifiers) else { return nil }
    guard value.byteCount == 9 else { throw corruption("the identifier \(identifier.uuidString)") }
    return (try value.place(at: 1), value.unsafeLoad(as: UInt8.self) == ObjectKind.asset.rawValue)
  }

  /// The number of the last asset with an identifier that was purged; nil if none was.
  /// - Complexity: O(log n).
  func tombstone(of identifier: LocalIdentifier, in t: borrowing some Reading) throws -> ObjectNumber? {
    var last: ObjectNumber?
    try forEachTombstone(identifier, in: t) { last = $0 }
    return last
  }

  /// Calls `body` with the number of each asset with an identifier that was purged, in their order.
  /// - Complexity: O(log n), and one step for each.
  func forEachTombstone(
    _ identifier: LocalIdentifier, in t: borrowing some Reading, _ body: (ObjectNumber) -> Void
  ) throws {
    let prefix = pairKey(identifier.high, identifier.low)
    try t.forEach(in: tombstones, prefix: prefix.span.bytes) { key, _ in
      body(try key.place(at: 16))
      return .proceed
    }
  }

  /// The place of a child in a container.
  package func key(
    of child: ObjectNumber, in container: ObjectNumber, _ t: borrowing some Reading
  ) throws -> OrderKey? {
    let key = pairKey(child, container)
    guard let value = try t.value(for: key.span.bytes, in: containers) else { return nil }
    guard value.byteCount == 8 else { throw corruption("the place of object \(child) in \(container)") }
    return try value.orderKey(at: 0)
  }

  /// Every place that a child has.
  package func places(of child: ObjectNumber, in t: borrowing some Reading) throws -> [ContainerPlace] {
    var places: [ContainerPlace] = []
    let prefix: InlineArray<1, UInt64> = [child.bigEndian]
    try t.forEach(in: containers, prefix: prefix.span.bytes) { key, value in
      places.append(
        ContainerPlace(container: try key.place(at: 8), key: try value.orderKey(at: 0)))
      return .proceed
    }
    return places
  }

  /// Goes through the members of a container in their order, or against it, from a key on.
  /// - Parameters:
  ///   - start: the first key that is wanted; nil: the first or last member.
  ///   - body: is given each member's key and number and says whether to go on.
  package func forEachMember(
    of container: ObjectNumber, from start: OrderKey? = nil, backward: Bool = false, in t: borrowing some Reading,
    _ body: (OrderKey, ObjectNumber) throws -> Bool
  ) throws {
    let prefix: InlineArray<1, UInt64> = [container.bigEndian]
    let from = pairKey(container, start?.rawValue ?? (backward ? .max : 0))
    try t.forEach(in: members, from: from.span.bytes, prefix: prefix.span.bytes, reverse: backward) { (key, value) in
      try body(try key.orderKey(at: 8), try value.place(at: 0)) ? .proceed : .stop
    }
  }

  /// The member that has a key; nil if the key is free.
  func member(at key: OrderKey, of container: ObjectNumber, in t: borrowing some Reading) throws -> ObjectNumber? {
    var found: ObjectNumber?
    try forEachMember(of: container, from: key, in: t) { standing, child in
      if standing == key { found = child }
      return false
    }
    return found
  }

  /// The assets with a resource of the given content, oldest first.
  package func assets(withContent sha256: [UInt8], in t: borrowing some Reading) throws -> [ObjectNumber] {
    try assets(under: sha256, of: content, in: t)
  }

  /// The assets with a resource that has a content identifier, oldest first.
  package func assets(withContentIdentifier text: String, in t: borrowing some Reading) throws -> [ObjectNumber] {
    try assets(under: Self.pairingKey(text), of: pairing, in: t)
  }

  /// The assets with a resource whose SHA-1 is recorded, oldest first.
  package func assets(withSHA1 sha1: [UInt8], in t: borrowing some Reading) throws -> [ObjectNumber] {
    try assets(under: Self.pairingKey(sha1: sha1), of: pairing, in: t)
  }

  /// The assets of a burst, oldest first.
  package func assets(ofBurst identifier: String, in t: borrowing some Reading) throws -> [ObjectNumber] {
    try assets(under: Self.pairingKey(identifier), of: bursts, in: t)
  }

  /// The assets of a stack, oldest first.
  /// - Parameter top: the identifier of the asset on top.
  package func assets(ofStack top: LocalIdentifier, in t: borrowing some Reading) throws -> [ObjectNumber] {
    try assets(under: Self.stackKey(top), of: bursts, in: t)
  }

  /// The assets that came with an identifier of another library, oldest first.
  func assets(withOrigin origin: String, in t: borrowing some Reading) throws -> [ObjectNumber] {
    try assets(under: Self.pairingKey(origin), of: origins, in: t)
  }

  static func pairingKey(_ contentIdentifier: String) -> SHA256Digest {
    var hash = SHA256()
    var text = contentIdentifier
    text.withUTF8 { hash.update(UnsafeRawBufferPointer($0)) }
    return hash.digest()
  }

  /// The key of a stack in `bursts`. Its first byte, 255, occurs in no UTF-8, so it equals no key of a burst.
  static func stackKey(_ top: LocalIdentifier) -> SHA256Digest { keyOfBytes(top.bytes) }

  /// A SHA-1 stands among the content identifiers under a name that is not text, since its first byte is 255.
  static func pairingKey(sha1: [UInt8]) -> SHA256Digest { keyOfBytes(sha1) }

  private static func keyOfBytes(_ bytes: [UInt8]) -> SHA256Digest {
    var hash = SHA256()
    hash.update(0xFF as UInt8)
    hash.update(bytes)
    return hash.digest()
  }

  private func assets(
    under hash: SHA256Digest, of database: Database, in t: borrowing some Reading
  ) throws -> [ObjectNumber] {
    try assets(under: hash.bytes, of: database, in: t)
  }

  func assets(
    under prefix: [UInt8], of database: Database, in t: borrowing some Reading
  ) throws -> [ObjectNumber] {
    var found: [ObjectNumber] = []
    try t.forEach(in: database, prefix: prefix.span.bytes) { key, _ in
      found.append(try key.place(at: prefix.count))
      return .proceed
    }
    return found
  }

  /// The sequences of the events that touched an object, after a sequence, up to another, oldest first, and no more
  /// than so many.
  package func history(
    of number: ObjectNumber, after sequence: UInt64 = 0, through last: UInt64 = .max, most: Int = .max,
    in t: borrowing some Reading
  ) throws -> [UInt64] {
    var sequences: [UInt64] = []
    guard sequence < .max else { return [] }
    let prefix: InlineArray<1, UInt64> = [number.bigEndian]
    let from = pairKey(number, sequence + 1)
    try t.forEach(in: history, from: from.span.bytes, prefix: prefix.span.bytes) { key, _ in
      let sequence = try key.place(at: 8)
      guard sequence <= last, sequences.count < most else { return .stop }
      sequences.append(sequence)
      return .proceed
    }
    return sequences
  }

  static let firstAvailableName = Array("history".utf8)

  /// The first commit of the history available to clients (PH-06); 0 if it was never shortened.
  func firstAvailableCommit(in t: borrowing some Reading) throws -> UInt64 {
    guard let value = try t.bytes(for: Self.firstAvailableName, in: settings) else { return 0 }
    guard value.count == 8 else { throw corruption("the start of its history") }
    return try value.span.bytes.place(at: 0)
  }

  /// The setting that an album has a follower: a key of this name and the numbers of the album and the client.
  private static let followsName = "follows"

  private func followsKey(_ numbers: ObjectNumber...) -> [UInt8] {
    numbers.reduce(into: Array(Self.followsName.utf8)) { key, number in
      withUnsafeBytes(of: number.bigEndian) { key.append(contentsOf: $0) }
    }
  }

  /// The clients whose selection is an album, ascending.
  /// - Complexity: O(log n + f) for f of them.
  func followers(of album: ObjectNumber, in t: borrowing some Reading) throws -> [ObjectNumber] {
    var clients: [ObjectNumber] = []
    let prefix = followsKey(album)
    try t.forEach(in: settings, prefix: prefix.span.bytes) { key, _ in
      clients.append(try key.place(at: prefix.count))
      return .proceed
    }
    return clients
  }

  /// Records that a client follows an album, or stops.
  func noteFollowing(_ edited: ClientEdited, _ t: inout WriteTransaction) throws {
    guard let followed = edited.followedAlbum else { return }
    if let old = followed.old { try t.delete(followsKey(old, edited.number).span.bytes, in: settings) }
    if let new = followed.new { try t.put(followsKey(new, edited.number).span.bytes, RawSpan(), in: settings) }
  }

  static let forksName = Array("forks".utf8)

  /// Where the library began to be another one than that which it was forked from, oldest first.
  package func forks(in t: borrowing some Reading) throws -> [ForkPoint] {
    guard let value = try t.bytes(for: Self.forksName, in: settings) else { return [] }
    guard value.count % 16 == 0 else { throw corruption("the library it was forked from") }
    return try stride(from: 0, to: value.count, by: 16).map { offset in
      ForkPoint(commit: try value.span.bytes.place(at: offset), mark: try value.span.bytes.number(at: offset + 8))
    }
  }

  func corruption(_ what: String) -> LibraryError { Self.corruption(what) }

  static func corruption(_ what: String) -> LibraryError { .contradiction(what) }
}
