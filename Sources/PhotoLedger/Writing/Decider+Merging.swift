import Foundation
import LMDB

// Merging of duplicates: one asset takes over what the others have, and the others go to the trash.
//
//     album     … x  other₁  y  other₂ …            the first other's place, where the keeper is not a member yet
//                    ▼
//               … x  keeper (other₁)  y  (other₂) …  those in parentheses are in the trash and keep their places
//
//     favourite    any of them                     keywords   all of them
//     stars        the keeper's, else the most     caption    the keeper's, else the first other's that has one
//     date, place  the keeper's, else the first other's that has one; a date with its wall time and offset
//     cover        of an album whose cover was one of the others: the keeper, if it is shown there; the cover that only
//                  the album's creator sees likewise, if its selection has the keeper
//
// Files, hidden state, bursts, stacks and what files say stay each asset's own, and so do selections: a client that was
// granted another asset is not granted the keeper by this. Only a client whose selection follows an album that the
// keeper comes into can see the keeper then, like everything that is put there. A merge is a composition of the
// requests that a program could make, decided on the state at the commit, so that nothing that changed since a proposal
// is lost.
//
// Invariant: after a merge, each album that showed one of the assets shows the keeper, unless the keeper is hidden,
// behind its burst or beneath the top of a stack. A merge is recorded whole or not at all: what it cannot record is
// found before its first event.
//
// Rejected: one event of its own. Every reader of the log would have to know it, and an undo to take it apart, while
// edits, places and the trash say all of it.

extension Decider {
  /// Merges assets into one of them.
  /// - Complexity: O(k log n) for k places of the assets in albums.
  mutating func merge(
    _ identifiers: [LocalIdentifier], into identifier: LocalIdentifier, _ t: inout WriteTransaction
  ) throws {
    let keeper = try editableAsset(identifier, t)
    let others = try distinct(identifiers).map { try editableAsset($0, t) }
    try checkMerge(of: others, into: keeper)
    try edit([identifier], try united(others, keeper, t), &t)
    try takePlaces(of: others, for: keeper, &t)
    try setTrashed(date, others.map(\.identifier), &t)
  }

  private func checkMerge(of others: [AssetRow], into keeper: AssetRow) throws {
    let name = keeper.identifier.spelled(as: .asset)
    guard !others.isEmpty, !others.contains(where: { $0.number == keeper.number }) else {
      throw LibraryError(.changeNotSupported, "A merge into \(name) needs other assets than \(name) itself.")
    }
    for row in [keeper] + others {
      let its = row.identifier.spelled(as: .asset)
      guard row.trashedDate == nil else {
        throw LibraryError(.changeNotSupported, "The asset \(its) is in the trash; restore it before merging it.")
      }
      guard row.mediaType == keeper.mediaType else {
        throw LibraryError(
          .changeNotSupported, "The assets \(name) and \(its) are of different media types and cannot be merged.")
      }
    }
  }

  /// What the keeper takes over, as an edit of it.
  private func united(
    _ others: [AssetRow], _ keeper: AssetRow, _ t: borrowing WriteTransaction
  ) throws -> AssetChanges {
    var changes = AssetChanges()
    if others.contains(where: { $0.flags.contains(.favorite) }) { changes.isFavorite = true }
    if keeper.rating == .unset, let most = others.map(\.rating).max(by: { $0.rawValue < $1.rawValue }), most != .unset {
      changes.rating = most
    }
    if keeper.creationDate == nil, keeper.localCreationDate == nil,
      let dated = others.first(where: { $0.creationDate != nil || $0.localCreationDate != nil })
    {
      changes.creationDate = .init(dated.creationDate)
      changes.localCreationDate = .init(dated.localCreationDate)
      changes.timeZoneOffset = .init(dated.timeZoneOffset.map(Int.init))
    }
    if keeper.location == nil, let location = others.lazy.compactMap(\.location).first {
      changes.location = .set(location)
    }
    try unite(words: others, keeper, into: &changes, t)
    return changes
  }

  /// Collects the words of one asset after the other, since each may have many.
  private func unite(
    words others: [AssetRow], _ keeper: AssetRow, into changes: inout AssetChanges, _ t: borrowing WriteTransaction
  ) throws {
    let own = try details(of: keeper, t)
    let known = Set(own.keywords)
    var caption: String?
    for other in others {
      let details = try details(of: other, t)
      caption = caption ?? details.caption
      for keyword in details.keywords where !known.contains(keyword) { changes.addedKeywords.insert(keyword) }
      guard changes.addedKeywords.count <= Self.keywordLimit else {
        throw LibraryError(
          .invalidResource,
          """
          Nothing was merged: the others have more than 1,024 keywords that \
          \(keeper.identifier.spelled(as: .asset)) lacks. Remove keywords from them first, or merge fewer at a time.
          """)
      }
    }
    if own.caption == nil, let caption { changes.caption = .set(caption) }
  }

  /// Puts the keeper before the first of the others in each album that has some of them and not the keeper.
  private mutating func takePlaces(of others: [AssetRow], for keeper: AssetRow, _ t: inout WriteTransaction) throws {
    var firsts: [ObjectNumber: (child: ObjectNumber, key: OrderKey)] = [:]
    for other in others {
      for place in try projections.places(of: other.number, in: t) {
        if let first = firsts[place.container], first.key < place.key { continue }
        firsts[place.container] = (other.number, place.key)
      }
    }
    let leaving = Set(others.map(\.identifier))
    for (container, first) in firsts.sorted(by: { $0.key < $1.key }) {
      // The selections of clients are containers, too.
      guard let album = try projections.collection(container, in: t), album.kind == .album, album.deletedDate == nil
      else { continue }
      if try projections.key(of: keeper.number, in: container, t) == nil {
        let keys = try makeRoom(in: container, before: first.child, count: 1, &t)
        try arrange(container, .inserted, [.init(child: keeper.number, old: nil, new: keys[0])], &t)
      }
      try replaceCovers(leaving, of: album, by: keeper, &t)
    }
  }
}
