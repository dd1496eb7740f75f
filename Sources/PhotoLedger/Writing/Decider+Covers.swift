import LMDB

// Covers of albums.
//
// A person may choose one asset of an album to stand for it. The choice ends when the asset is no longer shown there:
//
//     collection.edited  album 12: cover nothing → a      the request
//     assets.trashed     a                                a later request
//     collection.edited  album 12: cover a → nothing      what follows from it, in the same commit
//
// The end is recorded and not worked out by readers. So the cover is a property of the row like any other: change
// details, feeds, as-of views and undo know nothing else of covers, and an undo of the commit that took the
// asset out brings the cover back with it.
//
// An album that a client made has a second cover, the one that this client sees while it is limited to its selection.
// It follows each choice of a selected asset, and stays when another client chooses an asset that it cannot see.
//
// Invariant: after each event of a block, a cover is a member of its album and visible; the creator's cover is a member
// in the creator's selection, and visible to it: it may lie beneath a stack, which the creator does not see.
//
// Rejected: a choice that stays recorded and counts only while the asset is shown. Each reader of a row, of a delta and
// of an as-of view would have to look up the place of another object, and a limited client would be notified of
// changes of a choice that it cannot see.

extension Decider {
  /// Chooses the cover of an album; nil takes the choice back.
  /// - Complexity: O(log n).
  mutating func setCover(
    _ asset: LocalIdentifier?, of album: LocalIdentifier, _ t: inout WriteTransaction
  ) throws {
    let row = try collection(album, t)
    guard row.kind == .album else {
      throw LibraryError(
        .changeNotSupported,
        "Only an album can be given a cover, not the \(row.word) '\(row.title ?? "")'; name an album.")
    }
    if let asset { try checkIsShown(try self.asset(asset, t), in: row, t) }
    // What a client does not see, it neither chooses again nor clears.
    guard row.seen(by: permission.access).cover != asset else { return }
    let isForeign = permission.access != .full && asset == nil && row.cover != row.creatorCover
    // An asset beneath the top of a stack is the choice of a client that sees no stacks, and of no other.
    let isForAll = try asset.map { try shownMember($0, of: row, t) != nil } ?? !isForeign
    try recordCover(isForAll ? asset : row.cover, of: row, creatorsCover: try creatorsCover(asset, of: row, t), &t)
  }

  /// Puts covers back where an undo finds their assets shown.
  /// - Parameters:
  ///   - cover: the album's; nil: it stays.
  ///   - own: the creator's; nil: the undone commits did not change it, or it was chosen again since; it stays.
  /// - Returns: whether the album has its former cover now, or its creator the one that alone was to be put back.
  mutating func restoreCovers(
    _ cover: Replacement<LocalIdentifier?>?, _ own: Replacement<LocalIdentifier?>?, of number: ObjectNumber,
    _ t: inout WriteTransaction
  ) throws -> Bool {
    guard let row = try projections.collection(number, in: t) else {
      throw projections.corruption("collection \(number)")
    }
    let former = cover.map(\.new) ?? row.cover
    let isShown = try former.map { try shownMember($0, of: row, t) != nil } ?? true
    var creators = row.creatorCover
    // A former choice that the creator cannot see now is not put back, and what was chosen since stays.
    if let own, try own.new.map({ try isShownToCreator($0, of: row, t) }) ?? true { creators = own.new }
    try recordCover(isShown ? former : row.cover, of: row, creatorsCover: creators, &t)
    return cover != nil ? isShown : creators == own?.new
  }

  /// Makes an asset the cover of an album in the place of others that are about to leave it, and the creator's own
  /// cover where that is one of them and the creator may see the asset.
  mutating func replaceCovers(
    _ leaving: Set<LocalIdentifier>, of row: CollectionRow, by asset: AssetRow, _ t: inout WriteTransaction
  ) throws {
    var (cover, creators) = (row.cover, row.creatorCover)
    if let old = cover, leaving.contains(old), try shownMember(asset.identifier, of: row, t) != nil {
      cover = asset.identifier
    }
    if let old = creators, leaving.contains(old), try isShownToCreator(asset.identifier, of: row, t) {
      creators = asset.identifier
    }
    try recordCover(cover, of: row, creatorsCover: creators, &t)
  }

  /// Ends the covers that an event took out of their albums, or out of the creator's sight.
  /// - Complexity: O(log n) for each album from which the event took a member.
  mutating func settleCovers(after event: Event, _ t: inout WriteTransaction) throws {
    switch event {
    case .arranged(let arranged) where arranged.verb == .withdrawn:
      for shift in arranged.shifts { try settleCover(of: shift.album, &t) }
    case .arranged(let arranged) where !arranged.verb.isAboutAccess:
      if arranged.places.contains(where: { $0.new == nil }) { try settleCover(of: arranged.container, &t) }
    case .assetPurged(let existence):
      for place in existence.places { try settleCover(of: place.container, &t) }
    // An edit may hide one member and show another, which its counts do not tell: Decider+Assets.swift settles them.
    case .libraryCreated, .assetCreated, .assetsEdited, .collectionCreated, .collectionErased, .collectionEdited,
      .arranged, .clientRegistered, .clientErased, .clientEdited, .pickRecorded, .pickErased, .historyShortened,
      .assetErased, .libraryForked, .nothingChanged:
      return
    }
  }

  /// Ends the covers of an album that are not shown in it any more.
  mutating func settleCover(of album: ObjectNumber, _ t: inout WriteTransaction) throws {
    guard let row = try projections.collection(album, in: t), row.cover != nil || row.creatorCover != nil else {
      return
    }
    let cover = try row.cover.flatMap { try shownMember($0, of: row, t) == nil ? nil : $0 }
    let creatorsCover = try row.creatorCover.flatMap { try isShownToCreator($0, of: row, t) ? $0 : nil }
    try recordCover(cover, of: row, creatorsCover: creatorsCover, &t)
  }

  /// The cover that the creator sees after a choice.
  private func creatorsCover(
    _ asset: LocalIdentifier?, of row: CollectionRow, _ t: borrowing WriteTransaction
  ) throws -> LocalIdentifier? {
    guard let asset, row.creator != 0 else { return nil }
    return try isShownToCreator(asset, of: row, t) ? asset : row.creatorCover
  }

  /// Whether the client that made an album sees an asset in it while it is limited to its selection.
  private func isShownToCreator(
    _ asset: LocalIdentifier, of row: CollectionRow, _ t: borrowing WriteTransaction
  ) throws -> Bool {
    guard let member = try shownMember(asset, of: row, to: row.creatorsAccess, t) else { return false }
    return try isSelected(member, byCreatorOf: row, t)
  }

  private mutating func recordCover(
    _ cover: LocalIdentifier?, of row: CollectionRow, creatorsCover: LocalIdentifier?, _ t: inout WriteTransaction
  ) throws {
    var edited = CollectionEdited(number: row.number)
    if cover != row.cover { edited.cover = Replacement(old: row.cover, new: cover) }
    if creatorsCover != row.creatorCover {
      edited.creatorCover = Replacement(old: row.creatorCover, new: creatorsCover)
    }
    if edited.namesCover { try record(.collectionEdited(edited), &t) }
  }

  private static let whyNotShown = "it is hidden, in the trash, behind its burst or beneath the top of a stack."

  private func checkIsShown(_ asset: AssetRow, in row: CollectionRow, _ t: borrowing WriteTransaction) throws {
    guard try shownMember(asset.identifier, of: row, to: permission.access, t) == nil else { return }
    let isMember = try projections.key(of: asset.number, in: row.number, t) != nil
    let why = permission.access.showsStacks ? Self.whyNotShown : "it is hidden, in the trash or behind its burst."
    throw LibraryError(
      .changeNotSupported,
      """
      The asset \(asset.identifier.uuidString) cannot be the cover of '\(row.title ?? "")': \
      \(isMember ? why : "it is not in the album; add it first.")
      """)
  }

  /// The number of an asset that an ordinary fetch in an album shows; nil for any other.
  /// - Parameter access: whose fetch it is; its selection is not considered.
  private func shownMember(
    _ asset: LocalIdentifier, of row: CollectionRow, to access: Access = .full, _ t: borrowing WriteTransaction
  ) throws -> ObjectNumber? {
    guard let object = try projections.object(asset, in: t), object.isAsset,
      try projections.key(of: object.number, in: row.number, t) != nil,
      let member = try projections.asset(object.number, in: t),
      member.isVisible(to: access)
    else { return nil }
    return object.number
  }
}
