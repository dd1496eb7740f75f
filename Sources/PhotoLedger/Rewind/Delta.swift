// What happened between two commits, object by object.
//
// A delta is what the log says of the commits after `from` up to `to`, gathered by object: the row before and the row
// after, the place before and the place after. It is all that a fetch result needs to become the next one, and its
// size is that of the change, never that of the library:
//
//     commit 41 ──── delta 41→42 ──── commit 42 ──── delta 42→43 ──── commit 43
//          └──────────────── composed: delta 41→43 ────────────────────┘
//
// Composition keeps the first "before" and the last "after" of each object, so a slow observer gets one exact change.
// Deltas are read back from the log (`DeltaReader`) rather than handed over by the writer: one path for commits of this
// process and of others, and nothing is collected inside the write transaction.
//
// `context` answers what rows cannot: where the objects of this delta stand, as of `to`, in containers that the delta
// did not rearrange. A result that shows an album needs it when a member was merely hidden.

/// The change of every object between two commits.
package struct Delta: Sendable {
  /// An object before and after; nil where it did not exist.
  package struct Touch<Row: Equatable & Sendable>: Sendable {
    package var before: Row?
    package var after: Row?
    /// Whether a property that a client can see was changed, even if it was changed back later.
    package var isVisiblyChanged: Bool
    /// The same for a client that is limited to its selection: the one that made a collection, or any that sees an
    /// asset.
    package var isChangedForLimited = false
    /// Whether the bytes of an asset were changed (CD-21).
    package var isContentChanged = false

    /// Whether a property that an access shows was changed.
    func isChanged(to access: Access) -> Bool { access == .full ? isVisiblyChanged : isChangedForLimited }

    func followed(by next: Touch<Row>) -> Touch<Row> {
      Touch(
        before: before, after: next.after, isVisiblyChanged: isVisiblyChanged || next.isVisiblyChanged,
        isChangedForLimited: isChangedForLimited || next.isChangedForLimited,
        isContentChanged: isContentChanged || next.isContentChanged)
    }

    var reversed: Touch<Row> {
      Touch(
        before: after, after: before, isVisiblyChanged: isVisiblyChanged, isChangedForLimited: isChangedForLimited,
        isContentChanged: isContentChanged)
    }
  }

  /// The details of an asset before and after; nil where it did not exist.
  package struct DetailsTouch: Sendable {
    package var before: AssetDetails?
    package var after: AssetDetails?
  }

  /// A place before and after; nil where there was none.
  package struct Placing: Sendable {
    package var before: OrderKey?
    package var after: OrderKey?
  }

  /// The commit that the delta starts from.
  package var from: UInt64
  /// The commit that it leads to.
  package var to: UInt64
  /// The last event of that commit.
  package var lastSequence: UInt64
  package var assets: [ObjectNumber: Touch<AssetRow>] = [:]
  package var collections: [ObjectNumber: Touch<CollectionRow>] = [:]
  package var places: [ContainerMember: Placing] = [:]
  package var context: [ObjectNumber: [ContainerPlace]] = [:]
  /// The files and words of each asset of the delta before and after, if ``hasDetails``.
  package var details: [ObjectNumber: DetailsTouch] = [:]
  /// Whether the details of assets were read: only results of a search are led on by them.
  package var hasDetails = false
  /// The clients whose permission to read was changed, or that were registered.
  package var clients: [ObjectNumber: Replacement<AuthorizationStatus>] = [:]
  /// The assets of which nothing is known any more: their rows here are not those that results were made of.
  package var erasedAssets: Set<ObjectNumber> = []
  /// Whether assets were erased, whose data earlier states no longer contain.
  package var hasErasure = false
  /// The commits it spans, oldest first.
  package var commits: [CommitSummary] = []

  package init(from: UInt64, to: UInt64, lastSequence: UInt64) {
    self.from = from
    self.to = to
    self.lastSequence = lastSequence
  }

  /// What leads from a commit to itself.
  static func none(at commit: UInt64, lastSequence: UInt64) -> Delta {
    var delta = Delta(from: commit, to: commit, lastSequence: lastSequence)
    delta.hasDetails = true
    return delta
  }

  /// How many objects it touches.
  var objectCount: Int { assets.count + collections.count }

  /// This delta and the one that follows it, as one.
  /// - Complexity: O(objects of `next`).
  package consuming func followed(by next: Delta) -> Delta {
    precondition(to == next.from, "A delta is composed with the one that follows it.")
    to = next.to
    lastSequence = next.lastSequence
    assets.merge(next.assets) { $0.followed(by: $1) }
    collections.merge(next.collections) { $0.followed(by: $1) }
    places.merge(next.places) { Placing(before: $0.before, after: $1.after) }
    context.merge(next.context) { $1 }
    details.merge(next.details) { DetailsTouch(before: $0.before, after: $1.after) }
    hasDetails = hasDetails && next.hasDetails
    clients.merge(next.clients) { Replacement(old: $0.old, new: $1.new) }
    erasedAssets.formUnion(next.erasedAssets)
    hasErasure = hasErasure || next.hasErasure
    commits.append(contentsOf: next.commits)
    return self
  }

  /// Several deltas, each of which follows the one before, as one; nil if there is none.
  /// - Complexity: O(objects of all).
  init?(composing deltas: some Sequence<Delta>) {
    var iterator = deltas.makeIterator()
    guard var composed = iterator.next() else { return nil }
    while let next = iterator.next() { composed = composed.followed(by: next) }
    self = composed
  }

  /// What leads back from where this delta leads to.
  ///
  /// The context is kept: it is used only for containers in which the delta changed no member.
  /// - Parameter sequence: the last event of the commit that this delta starts from.
  /// - Complexity: O(k) in the objects of the delta.
  func reversed(endingAt sequence: UInt64) -> Delta {
    var delta = Delta(from: to, to: from, lastSequence: sequence)
    delta.assets = assets.mapValues(\.reversed)
    delta.collections = collections.mapValues(\.reversed)
    delta.places = places.mapValues { Placing(before: $0.after, after: $0.before) }
    delta.context = context
    delta.details = details.mapValues { DetailsTouch(before: $0.after, after: $0.before) }
    delta.hasDetails = hasDetails
    delta.clients = clients.mapValues(\.inverse)
    (delta.erasedAssets, delta.hasErasure) = (erasedAssets, hasErasure)
    delta.commits = commits
    return delta
  }

  /// Records the assets whose rows were erased.
  mutating func noteErased() {
    for (number, touch) in assets where touch.before?.isErased ?? false || touch.after?.isErased ?? false {
      erasedAssets.insert(number)
    }
  }

  /// The place of a child in a container before and after, whether or not the delta rearranged it.
  func placing(of child: ObjectNumber, in container: ObjectNumber) -> Placing {
    if let placing = places[ContainerMember(container: container, child: child)] { return placing }
    let key = context[child]?.first { $0.container == container }?.key
    return Placing(before: key, after: key)
  }

  /// The access of a client before the delta.
  /// - Parameters:
  ///   - client: its number; nil for the owner and for unregistered clients, whose access does not change.
  ///   - access: the access that it has after the delta.
  func accessBefore(of client: ObjectNumber?, then access: Access) -> Access {
    client.flatMap { client in clients[client].map { Access($0.old, of: client) } } ?? access
  }

  /// Whether a client is shown an asset before and after the delta, by the access that it has at the time.
  /// - Complexity: O(1); no look-up with full access.
  @inline(__always)
  func shows(_ asset: ObjectNumber, to former: Access, then access: Access) -> (before: Bool, after: Bool) {
    // If both are limited, both are to the selection of the same client.
    let place = (access.selection ?? former.selection).map { placing(of: asset, in: $0) }
    return (former.showsAsset { _ in place?.before }, access.showsAsset { _ in place?.after })
  }
}
