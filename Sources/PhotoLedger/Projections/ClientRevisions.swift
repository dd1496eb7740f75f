import EventLog
import LMDB

// Client revisions: the history of a client without full access.
//
// The number of a commit reveals how much happened in the library, so a client that is limited to a selection must
// never learn one. Its tokens name client revisions (`sightings` in the store) instead: the commits that
// touched its view, counted from 1.
//
//     commits of the library      41   42   43   44   45   46
//     touch client 7's view        x              x         x
//     revisions of client 7       12             13        14        "v1-…-e" is revision 14, commit 46
//
// Whether a commit touches a view is decided from the event and from the selection alone, in the transaction of the
// commit: an asset of the selection was changed, joined or left; a collection of the client was changed, or a visible
// member of it; the client's permission changed. A client with neither full nor limited access sees nothing, so only
// its permission is relevant. Invariant: two libraries that differ only outside the selection count alike. A revision
// without a visible change does no harm.
//
// Rejected: encrypted commit numbers (they still differ between two libraries that are otherwise indistinguishable to
// the client, and this project implements no ciphers), and counting when a token is requested (it would read the log).

extension Projections {
  /// Records a commit for every client whose view an event touches.
  /// - Complexity: O(1) without clients, and for an asset in no container; otherwise O(k log n) for the k objects of
  ///   the event and their containers.
  func recordRevisions(of event: Event, in commit: UInt64, _ t: inout WriteTransaction) throws {
    guard !event.isOfUnplacedAsset, try t.count(of: clients) > 0 else { return }
    for client in try viewers(of: event, t) {
      let last = try lastRevision(of: client, in: t)
      guard last.map({ $0.commit < commit }) ?? true else { continue }
      let key = pairKey(client, (last?.ordinal ?? 0) + 1)
      let value: InlineArray<1, UInt64> = [commit.bigEndian]
      try t.put(key.span.bytes, value.span.bytes, in: clientRevisions)
    }
  }

  /// The clients that see less than everything and whose view an event touches.
  private func viewers(of event: Event, _ t: borrowing WriteTransaction) throws -> Set<ObjectNumber> {
    var found: Set<ObjectNumber> = []
    func add(_ client: ObjectNumber) throws {
      guard client != 0, !found.contains(client) else { return }
      if try self.client(client, in: t)?.access.selection != nil { found.insert(client) }
    }
    func addItself(_ client: ObjectNumber) throws {
      if try self.client(client, in: t)?.hasOwnView ?? false { found.insert(client) }
    }
    func addSelections(of asset: ObjectNumber) throws {
      for place in try places(of: asset, in: t) { try add(place.container) }
    }
    switch event {
    case .assetPurged(let existence), .assetCreated(let existence):
      for place in existence.places { try add(place.container) }
    case .assetsEdited(let edited):
      for edit in edited.edits where !edit.isOfStackAlone { try addSelections(of: edit.number) }
    case .collectionCreated(let existence): try add(existence.row.creator)
    case .collectionEdited(let edited) where edited.isHiddenFromCreator: break
    case .collectionEdited(let edited): try add(try collection(edited.number, in: t)?.creator ?? 0)
    case .clientRegistered(let row): try addItself(row.number)
    case .clientEdited(let edited): try addItself(edited.number)
    case .pickRecorded(let row): try addItself(row.client)
    case .arranged(let arranged): try viewers(of: arranged, t).forEach(add)
    case .libraryCreated, .collectionErased, .clientErased, .pickErased, .historyShortened, .assetErased,
      .libraryForked, .nothingChanged:
      break
    }
    return found
  }

  /// A collection is seen to come and go at the top level and in folders of its own maker's.
  private func viewers(of arranged: Arranged, _ t: borrowing WriteTransaction) throws -> Set<ObjectNumber> {
    switch arranged.verb {
    case .rekeyed: return []
    case .granted, .withdrawn: return [arranged.container]
    case .picked: return []  // The pick itself was noted.
    case .inserted, .removed, .moved, .replaced: break
    }
    guard let container = try collection(arranged.container, in: t) else { return [] }
    if container.kind == .album {
      guard container.creator != 0 else { return [] }
      let access = container.creatorsAccess
      return try arranged.places.contains { try shows($0.child, to: access, in: t) } ? [container.creator] : []
    }
    let children = try arranged.places.compactMap { try collection($0.child, in: t) }
    return Set(
      children.filter { child in
        child.deletedDate == nil && (container.number == rootFolder || container.creator == child.creator)
      }.map(\.creator))
  }

  /// The last revision of a client; nil if no commit touched its view.
  /// - Complexity: O(log n).
  func lastRevision(
    of client: ObjectNumber, in t: borrowing some Reading
  ) throws -> (ordinal: UInt64, commit: UInt64)? {
    var last: (ordinal: UInt64, commit: UInt64)?
    let prefix: InlineArray<1, UInt64> = [client.bigEndian]
    try t.forEach(in: clientRevisions, prefix: prefix.span.bytes, reverse: true) { key, value in
      last = (try key.place(at: 8), try value.place(at: 0))
      return .stop
    }
    return last
  }

  /// The commit of a client's revision; nil if it does not exist.
  package func commit(
    ofRevision ordinal: UInt64, of client: ObjectNumber, in t: borrowing some Reading
  ) throws -> UInt64? {
    let key = pairKey(client, ordinal)
    return try t.value(for: key.span.bytes, in: clientRevisions)?.place(at: 0)
  }

  /// How many revisions a client had up to a commit.
  /// - Complexity: O(log² n).
  package func revisionCount(
    of client: ObjectNumber, through commit: UInt64, in t: borrowing some Reading
  ) throws -> UInt64 {
    guard let last = try lastRevision(of: client, in: t) else { return 0 }
    if last.commit <= commit { return last.ordinal }
    var range = (low: UInt64(0), high: last.ordinal)
    while range.high - range.low > 1 {
      let middle = range.low + (range.high - range.low) / 2
      guard let found = try self.commit(ofRevision: middle, of: client, in: t) else {
        throw corruption("client revision \(middle) of client \(client)")
      }
      if found <= commit { range.low = middle } else { range.high = middle }
    }
    return range.low
  }

  /// The commits of a client's revisions after one commit, up to another, oldest first.
  /// - Complexity: O(log² n + m) for m revisions.
  package func revisions(
    of client: ObjectNumber, after commit: UInt64, through limit: UInt64, most: Int = .max,
    in t: borrowing some Reading
  ) throws -> [(ordinal: UInt64, commit: UInt64)] {
    var found: [(ordinal: UInt64, commit: UInt64)] = []
    let first = try revisionCount(of: client, through: commit, in: t) + 1
    let prefix: InlineArray<1, UInt64> = [client.bigEndian]
    let from = pairKey(client, first)
    try t.forEach(in: clientRevisions, from: from.span.bytes, prefix: prefix.span.bytes) { key, value in
      let commit = try value.place(at: 0)
      guard commit <= limit, found.count < most else { return .stop }
      found.append((try key.place(at: 8), commit))
      return .proceed
    }
    return found
  }
}
