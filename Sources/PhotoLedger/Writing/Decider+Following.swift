import LMDB

// A selection that is an album.
//
// A client's selection may follow an album: a visitor of a share link sees the album's current members.
//
//     content.inserted  album 12: a, b        the request
//     selection.granted client 40: a, b       what follows from it, in the same commit
//     selection.granted client 41: a, b
//
// The followed album is kept in step where events are recorded: after each event that may have given an album a member
// or taken one, the selection of each follower is given or withdrawn the difference. So a selection stays what it was,
// a container with members of its own, and deltas, client revisions, as-of views, the audit of who could see
// what, and erasure know nothing of albums.
//
// Invariant: after each event of a block the selection of a client that follows an album holds exactly the album's
// members, hidden and trashed ones included, and nothing while the album is deleted.
//
// Rejected: a query scope that looks the album up instead of the selection. It would write less (one event fewer for
// each follower), and would need a second description of client revisions, of the counts of a client's own albums and
// of each earlier state: an album that is followed, left and followed again has a membership that no container records.

extension Decider {
  /// Makes a client's selection follow an album; nil: keeps the selection.
  /// - Complexity: O((m + s) log n) for m members of the album and s of the selection.
  mutating func follow(_ identifier: LocalIdentifier?, by row: ClientRow, _ t: inout WriteTransaction) throws {
    let album = try identifier.map { identifier in
      let album = try collection(identifier, t)
      guard album.kind == .album else {
        throw LibraryError(
          .changeNotSupported,
          "A selection can follow an album, not the \(album.word) '\(album.title ?? "")'; name an album.")
      }
      return album.number
    }
    guard album != row.followedAlbum else { return }
    var edited = ClientEdited(number: row.number)
    edited.followedAlbum = Replacement(old: row.followedAlbum, new: album)
    try record(.clientEdited(edited), &t)
  }

  /// - Throws: ``LibraryError`` `.changeNotSupported` if the selection is an album.
  func checkIsMadeByHand(_ row: ClientRow, _ t: borrowing WriteTransaction) throws {
    guard let number = row.followedAlbum else { return }
    let title = try projections.collection(number, in: t)?.title ?? ""
    throw LibraryError(
      .changeNotSupported,
      """
      The selection of the client '\(row.name)' follows the album '\(title)'; change the album's content, or \
      make the client follow no album first.
      """)
  }

  /// Keeps the selections that follow an album in step with it after an event.
  /// - Complexity: O(log n) for an album without followers; otherwise O(f k log n) for f followers and k members that
  ///   came or went, and O(f m log n) when an album of m members is deleted or brought back.
  mutating func followAlbums(after event: Event, _ t: inout WriteTransaction) throws {
    switch event {
    case .arranged(let arranged) where !arranged.verb.isAboutAccess && arranged.verb != .rekeyed:
      let moved = arranged.places.filter { ($0.old == nil) != ($0.new == nil) }.map(\.child)
      guard !moved.isEmpty else { return }
      try settle(moved, followersOf: arranged.container, &t)
    case .assetCreated(let existence):
      // An undo brings an asset back into the albums and the selections in which it was; these may follow others now.
      for place in existence.places {
        if let row = try projections.client(place.container, in: t) {
          if let album = row.followedAlbum { try settle([existence.row.number], in: album, of: row, &t) }
        } else {
          try settle([existence.row.number], followersOf: place.container, &t)
        }
      }
    case .collectionEdited(let edited) where edited.deletedDate != nil:
      for client in try projections.followers(of: edited.number, in: t) {
        try settle(Array(try standing(in: edited.number, t)), in: edited.number, of: try follower(client, t), &t)
      }
    case .clientEdited(let edited):
      guard let album = edited.followedAlbum?.new else { return }
      let row = try follower(edited.number, t)
      let concerned = try standing(in: album, t).union(standing(in: row.number, t))
      try settle(Array(concerned), in: album, of: row, &t)
    case .libraryCreated, .assetPurged, .assetsEdited, .collectionCreated, .collectionErased, .collectionEdited,
      .arranged, .clientRegistered, .clientErased, .pickRecorded, .pickErased, .historyShortened, .assetErased,
      .libraryForked, .nothingChanged:
      return
    }
  }

  private mutating func settle(
    _ assets: [ObjectNumber], followersOf album: ObjectNumber, _ t: inout WriteTransaction
  ) throws {
    for client in try projections.followers(of: album, in: t) {
      try settle(assets, in: album, of: try follower(client, t), &t)
    }
  }

  /// Grants the album's members, and withdraws all others.
  private mutating func settle(
    _ assets: [ObjectNumber], in album: ObjectNumber, of row: ClientRow, _ t: inout WriteTransaction
  ) throws {
    guard let collection = try projections.collection(album, in: t) else {
      throw projections.corruption("collection \(album)")
    }
    var granted: [Arranged.Place] = []
    var withdrawn: [Arranged.Place] = []
    for asset in assets.sorted() {
      let isWanted = try collection.deletedDate == nil && projections.key(of: asset, in: album, t) != nil
      let old = try projections.key(of: asset, in: row.number, t)
      if isWanted, old == nil { granted.append(.init(child: asset, old: nil, new: OrderKey(rawValue: asset))) }
      if !isWanted, let old { withdrawn.append(.init(child: asset, old: old, new: nil)) }
    }
    try arrange(row, .withdrawn, withdrawn, &t)
    try arrange(row, .granted, granted, &t)
  }

  private func follower(_ client: ObjectNumber, _ t: borrowing WriteTransaction) throws -> ClientRow {
    guard let row = try projections.client(client, in: t) else { throw projections.corruption("client \(client)") }
    return row
  }

  private func standing(in container: ObjectNumber, _ t: borrowing WriteTransaction) throws -> Set<ObjectNumber> {
    var members: Set<ObjectNumber> = []
    try projections.forEachMember(of: container, in: t) { _, child in
      members.insert(child)
      return true
    }
    return members
  }
}
