import EventLog
import Foundation
package import LMDB

// Applying events to the projections.
//
// This is the one place that writes them. Live commits, a rebuild and (later) every migration run through it, so its
// result may depend on the event, its sequence and the projections alone.
//
//     from the log     event ──▶ read the row ──▶ old values as in the event? ──▶ change it ──▶ put it
//     as decided       the decision read the row, compared and changed it ──────────────────▶ put it
//
// What happens to the rows of collections and clients, and to places, is what `Event.forEachChange` says to every
// reader of the log (RowChanges.swift). Here is what only the projections have: the rows of assets with their stored
// orders, the indexes, the settings.
//
// Rows that a decision passes on are those of the projections, since nothing is written between; debug builds compare.

extension Projections {
  /// The row of an asset before an edit and after it, as the decision read and changed it.
  package struct EditedRow {
    let before: AssetRow
    let after: AssetRow
  }

  /// Applies one event.
  /// - Parameters:
  ///   - event: a fact, as decided or as read from the log.
  ///   - rows: for assets edited by a decision that has read them, the rows of its edits, in their order; nil: they are
  ///     read here.
  ///   - details: for an asset created by a decision, its files and words as the payload has them; nil: they are
  ///     encoded here, since a payload from elsewhere may have another form.
  ///   - sequence: its position in the log, which is the number of an object that it creates.
  ///   - commit: the commit that it belongs to.
  /// - Throws: ``LibraryError`` `.corrupted` if the projections do not hold the old values of the event; `LMDBError` if
  ///   LMDB fails.
  /// - Complexity: O(k log n) for k objects touched.
  package func apply(
    _ event: Event, knowing rows: [EditedRow]? = nil, encoded details: ArraySlice<UInt8>? = nil, sequence: UInt64,
    commit: UInt64, in t: inout WriteTransaction
  ) throws {
    do {
      // What a purge takes away was seen until then.
      if case .assetPurged = event { try recordRevisions(of: event, in: commit, &t) }
      try changeRows(by: event, &t)
      switch event {
      case .libraryCreated(let identifier, let date): try begin(identifier, date, sequence, &t)
      case .assetCreated(let existence): try create(existence, encoded: details, &t)
      case .assetPurged(let existence): try purge(existence, &t)
      case .assetsEdited(let edited): try edit(edited, knowing: rows, &t)
      case .collectionCreated(let existence):
        try put(existence.row.identifier, existence.row.objectKind, existence.row.number, &t)
      case .collectionErased(let existence): try remove(existence.row.identifier, &t)
      case .collectionEdited, .arranged, .nothingChanged: break
      case .clientRegistered(let row): try name(row, &t)
      case .clientEdited(let edited): try noteFollowing(edited, &t)
      case .pickRecorded(let row): try t.put(row.number, row.encoded().span.bytes, in: picks, mode: .insert)
      case .historyShortened(let kept): try shorten(kept, &t)
      case .assetErased(let erased):
        for redaction in erased.redactions {
          try redactions.put(
            redaction.sequence, redaction.payload, version: redaction.version, broughtBy: sequence, in: &t)
        }
        for number in erased.numbers { try forgetFormerFiles(of: number, &t) }
      case .libraryForked(let fork): try note(fork, after: commit - 1, &t)
      case .clientErased, .pickErased: throw corruption("an event that is never logged, \(event.type)")
      }
      if case .assetPurged = event {} else { try recordRevisions(of: event, in: commit, &t) }
    } catch let mismatch as RowMismatch {
      let property = "the \(mismatch.field) of object \(mismatch.number)"
      var error = corruption("\(property), which event \(sequence) changes")
      error.subject = property
      throw error
    }
    try event.forEachTouched { number in
      let key = pairKey(number, sequence)
      try t.put(key.span.bytes, RawSpan(), in: history)
    }
  }

  private func begin(
    _ identifier: LocalIdentifier, _ date: Date, _ sequence: UInt64, _ t: inout WriteTransaction
  ) throws {
    guard sequence == rootFolder else { throw corruption("its beginning, which is at \(sequence)") }
    let root = CollectionRow(number: sequence, identifier: identifier, kind: .folder, title: nil, date: date)
    try put(root, &t)
    try put(identifier, .folder, sequence, &t)
    for row in BuiltInAlbum.all.map({ $0.row(in: identifier, made: date) }) {
      try put(row, &t)
      try put(row.identifier, .smartAlbum, row.number, &t)
    }
  }

  // MARK: Assets

  private func create(
    _ existence: AssetExistence, encoded details: ArraySlice<UInt8>?, _ t: inout WriteTransaction
  ) throws {
    let number = existence.row.number
    // Of a creation, the reader of the event has compared the number with the sequence.
    if existence.isByUndo { try checkWasPurged(existence.row, t) }
    try reorder(number, from: .absent, to: try put(existence.row, &t), &t)
    if let details {
      #if DEBUG
        precondition(existence.details.encoded().elementsEqual(details), "A decision passes on what it has encoded.")
      #endif
      try t.put(number, details.span.bytes, in: self.details)
    } else {
      try put(existence.details, number, &t)
    }
    try reindex(number, from: nil, to: existence.details, &t)
    try put(existence.row.identifier, .asset, number, &t)
    try note(existence.details.resources, of: number, &t)
    for (index, name) in indexKeys(of: existence) {
      let key = hashKey(name, number)
      try t.put(key.span.bytes, RawSpan(), in: index)
    }
    try restack(number, from: nil, to: existence.row.stack, &t)
  }

  /// Carries over to the index of stacks that an asset joined or left one.
  private func restack(
    _ number: ObjectNumber, from old: LocalIdentifier?, to new: LocalIdentifier?, _ t: inout WriteTransaction
  ) throws(LMDBError) {
    guard old != new else { return }
    if let old {
      let key = hashKey(Self.stackKey(old), number)
      try t.delete(key.span.bytes, in: bursts)
    }
    if let new {
      let key = hashKey(Self.stackKey(new), number)
      try t.put(key.span.bytes, RawSpan(), in: bursts)
    }
  }

  /// What finds an asset by something else than its content: the burst it belongs to, and where it came from.
  private func indexKeys(of existence: AssetExistence) -> [(index: Database, name: SHA256Digest)] {
    var keys: [(index: Database, name: SHA256Digest)] = []
    // Of an erased asset the row says that it was in some burst, and not in which.
    if existence.row.isErased { return [] }
    if let burst = existence.row.burstIdentifier { keys.append((bursts, Self.pairingKey(burst))) }
    if let origin = existence.details.origin.flatMap({ CloudIdentifier(archivalStringValue: $0) }) {
      keys.append((origins, Self.pairingKey(origin.record)))
    }
    return keys
  }

  /// Checks that an asset which an undo restores was purged, and was not restored since.
  private func checkWasPurged(_ row: AssetRow, _ t: borrowing WriteTransaction) throws {
    let tombstone = Self.tombstoneKey(of: row)
    let key: InlineArray<1, UInt64> = [row.number]
    guard try t.contains(tombstone.span.bytes, in: tombstones), try !t.contains(key.span.bytes, in: assets) else {
      throw RowMismatch(number: row.number, field: "existence")
    }
  }

  private static func tombstoneKey(of row: AssetRow) -> InlineArray<3, UInt64> {
    [row.identifier.high.bigEndian, row.identifier.low.bigEndian, row.number.bigEndian]
  }

  private func purge(_ existence: AssetExistence, _ t: inout WriteTransaction) throws {
    let number = existence.row.number
    guard let known = try standingAsset(number, in: t), known.row == existence.row else {
      throw RowMismatch(number: number, field: "row")
    }
    for resource in existence.details.resources { try forget(resource, of: number, keeping: [], &t) }
    if existence.isByUndo {
      try noteFormerFiles(existence.details.resources.ownContents, of: number, &t)
    } else {
      try forgetFormerFiles(of: number, &t)
    }
    for (index, name) in indexKeys(of: existence) {
      let key = hashKey(name, number)
      try t.delete(key.span.bytes, in: index)
    }
    try restack(number, from: existence.row.stack, to: nil, &t)
    try remove(existence.row.identifier, &t)
    try reorder(number, from: known.standing, to: .absent, &t)
    let tombstone = Self.tombstoneKey(of: existence.row)
    try t.put(tombstone.span.bytes, RawSpan(), in: tombstones)
    try reindex(number, from: existence.details, to: nil, &t)
    try t.delete(number, in: details)
    try t.delete(number, in: assets)
  }

  /// Replaces the rows of an asset by those of an asset without files and words, as a replay gives them once its events
  /// say no more than an erasure leaves of them.
  /// - Parameter left: what is left of its row.
  /// - Complexity: O(k log n) for k files and words of the asset.
  package func eraseRows(leaving left: AssetRow, in t: inout WriteTransaction) throws {
    let number = left.number
    guard let (row, stood) = try standingAsset(number, in: t), let known = try details(number, in: t) else {
      throw corruption("the rows of asset \(number)")
    }
    for (index, name) in indexKeys(of: AssetExistence(row: row, details: known)) {
      let key = hashKey(name, number)
      try t.delete(key.span.bytes, in: index)
    }
    try reorder(number, from: stood, to: try put(left, &t), &t)
    try restack(number, from: row.stack, to: left.stack, &t)
    for resource in known.resources { try forget(resource, of: number, keeping: [], &t) }
    try reindex(number, from: known, to: AssetDetails(), &t)
    try put(AssetDetails(), number, &t)
  }

  private func edit(_ edited: AssetsEdited, knowing rows: [EditedRow]?, _ t: inout WriteTransaction) throws {
    for (index, edit) in edited.edits.enumerated() {
      let decided = rows?[index]
      let (row, stood) = try decided.map { try known($0, by: edit, t) } ?? rowAndStanding(changedBy: edit, t)
      try reorder(edit.number, from: stood, to: try put(row.after, &t), &t)
      try restack(edit.number, from: row.before.stack, to: row.after.stack, &t)
      guard let (old, new) = edit.details.map({ ($0.old, $0.new) }) else { continue }
      if decided == nil {
        guard let known = try details(edit.number, in: t) else { continue }
        guard known == old else { throw RowMismatch(number: edit.number, field: "details") }
      }
      try reindex(edit.number, from: old, to: new, &t)
      try put(new, edit.number, &t)
      for resource in old.resources { try forget(resource, of: edit.number, keeping: new.resources, &t) }
      try note(new.resources, of: edit.number, &t)
      if old.resources != new.resources {
        let kept = Set(new.resources.ownContents)
        try noteFormerFiles(old.resources.ownContents.filter { !kept.contains($0) }, of: edit.number, &t)
      }
    }
  }

  private func rowAndStanding(
    changedBy edit: AssetEdit, _ t: borrowing WriteTransaction
  ) throws -> (row: EditedRow, stood: OrderStanding) {
    guard let (known, stood) = try standingAsset(edit.number, in: t) else {
      throw RowMismatch(number: edit.number, field: "existence")
    }
    var row = known
    try edit.apply(to: &row)
    return (EditedRow(before: known, after: row), stood)
  }

  /// The rows of a decision, with the standing of the asset before.
  private func known(
    _ row: EditedRow, by edit: AssetEdit, _ t: borrowing WriteTransaction
  ) throws -> (row: EditedRow, stood: OrderStanding) {
    #if DEBUG
      let read = try rowAndStanding(changedBy: edit, t).row
      let isKept = try edit.details == nil || details(edit.number, in: t) == edit.details?.old
      precondition(
        read.before == row.before && read.after == row.after && isKept,
        "The rows of asset \(edit.number) that a decision passes on are not those of the projections.")
    #endif
    return (row, row.before.withView { OrderStanding(of: $0) })
  }

  /// The row of an asset and its standing, from one look at its bytes; nil if there is none.
  private func standingAsset(
    _ number: ObjectNumber, in t: borrowing WriteTransaction
  ) throws -> (row: AssetRow, standing: OrderStanding)? {
    guard let value = try t.value(for: number, in: assets) else { return nil }
    let standing = try value.withUnsafeBytes { OrderStanding(of: try AssetView(number: number, bytes: $0)) }
    return (try AssetRow(number: number, bytes: value), standing)
  }

  /// Puts the row of an asset, and gives its standing, which is read off the bytes as they are put.
  private func put(_ row: AssetRow, _ t: inout WriteTransaction) throws -> OrderStanding {
    let key: InlineArray<1, UInt64> = [row.number]
    var standing: Result<OrderStanding, any Error> = .success(.absent)
    try t.put(key.span.bytes, reserving: row.byteCount, in: assets) { bytes in
      row.write(into: &bytes)
      standing = Result {
        try bytes.withUnsafeBytes { OrderStanding(of: try AssetView(number: row.number, bytes: $0)) }
      }
    }
    return try standing.get()
  }

  private func put(_ value: AssetDetails, _ number: ObjectNumber, _ t: inout WriteTransaction) throws(LMDBError) {
    try t.put(number, value.encoded().span.bytes, in: details)
  }

  private func note(
    _ resources: [AssetResource], of number: ObjectNumber, _ t: inout WriteTransaction
  ) throws(LMDBError) {
    for (index, resource) in resources.enumerated() {
      let key = hashKey(resource.sha256, number)
      try t.put(key.span.bytes, RawSpan(), in: content)
      if let sha1 = resource.sha1 {
        let key = hashKey(Self.pairingKey(sha1: sha1), number)
        try t.put(key.span.bytes, RawSpan(), in: pairing)
      }
      // Both halves of a Live Photo have the same one. The rows are of bytes, whatever Unicode takes for one text.
      guard let identifier = resource.contentIdentifier,
        !resources[..<index].contains(where: { $0.contentIdentifier?.exact == identifier.exact })
      else { continue }
      let pairingKey = hashKey(Self.pairingKey(identifier), number)
      try t.put(pairingKey.span.bytes, RawSpan(), in: pairing)
    }
  }

  private func forget(
    _ resource: AssetResource, of number: ObjectNumber, keeping others: [AssetResource], _ t: inout WriteTransaction
  ) throws(LMDBError) {
    if !others.contains(where: { $0.sha256 == resource.sha256 }) {
      let key = hashKey(resource.sha256, number)
      try t.delete(key.span.bytes, in: content)
    }
    if let sha1 = resource.sha1, !others.contains(where: { $0.sha1 == sha1 }) {
      let key = hashKey(Self.pairingKey(sha1: sha1), number)
      try t.delete(key.span.bytes, in: pairing)
    }
    guard let identifier = resource.contentIdentifier else { return }
    if !others.contains(where: { $0.contentIdentifier?.exact == identifier.exact }) {
      let key = hashKey(Self.pairingKey(identifier), number)
      try t.delete(key.span.bytes, in: pairing)
    }
  }

  // MARK: Identifiers

  private func put(
    _ identifier: LocalIdentifier, _ kind: ObjectKind, _ number: ObjectNumber, _ t: inout WriteTransaction
  ) throws(LMDBError) {
    let key = pairKey(identifier.high, identifier.low)
    // The kind, and the number with its highest byte first.
    var value = InlineArray<9, UInt8>(repeating: kind.rawValue)
    for index in 0..<8 { value[8 - index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index)) }
    try t.put(key.span.bytes, value.span.bytes, in: identifiers, mode: .insert)
  }

  private func remove(_ identifier: LocalIdentifier, _ t: inout WriteTransaction) throws(LMDBError) {
    let key = pairKey(identifier.high, identifier.low)
    try t.delete(key.span.bytes, in: identifiers)
  }

  // MARK: Collections and places

  /// Changes the rows of collections and clients, and the places, as the event says (``Event/forEachChange``). The rows
  /// of assets have indexes and stored orders beside them, and are changed with those.
  private func changeRows(by event: Event, _ t: inout WriteTransaction) throws {
    if event.isOfUnplacedAsset { return }
    var (isArranged, isFolder) = (false, false)
    if case .arranged = event { isArranged = true }
    try event.forEachChange(
      collection: { number, change in
        var row = try collection(number, in: t)
        isFolder = row?.kind == .folder
        let wasThere = row != nil
        try change(&row)
        // Put though it equals what was there: titles that differ in their normalisation are equal, of other bytes.
        if let row { try put(row, &t) } else if wasThere { try t.delete(number, in: collections) }
      },
      client: { number, change in
        var row = try client(number, in: t)
        try change(&row)
        if let row { try put(row, &t) }
      },
      // Asked about the container whose row was changed just before.
      isFolder: { _ in isFolder },
      place: { place in
        if isArranged, try key(of: place.child, in: place.container, t) != place.old {
          throw RowMismatch(number: place.child, field: "place")
        }
        if let old = place.old { try remove(place.child, from: place.container, old, &t) }
        if let new = place.new { try put(place.child, in: place.container, new, &t) }
      })
  }

  private func put(
    _ child: ObjectNumber, in container: ObjectNumber, _ key: OrderKey, _ t: inout WriteTransaction
  ) throws(LMDBError) {
    let member = pairKey(container, key.rawValue)
    let value: InlineArray<1, UInt64> = [child.bigEndian]
    try t.put(member.span.bytes, value.span.bytes, in: members)
    let place = pairKey(child, container)
    let keyValue: InlineArray<1, UInt64> = [key.rawValue.bigEndian]
    try t.put(place.span.bytes, keyValue.span.bytes, in: containers)
  }

  /// Removes a place. A member that moved before may already have been given the key, by this event or by a rekeying of
  /// several; its row stays.
  private func remove(
    _ child: ObjectNumber, from container: ObjectNumber, _ key: OrderKey, _ t: inout WriteTransaction
  ) throws {
    let member = pairKey(container, key.rawValue)
    var isOwn = false
    if let holder = try t.value(for: member.span.bytes, in: members) { isOwn = try holder.number(at: 0) == child }
    if isOwn { try t.delete(member.span.bytes, in: members) }
    let place = pairKey(child, container)
    try t.delete(place.span.bytes, in: containers)
  }

  // MARK: Clients

  private func name(_ row: ClientRow, _ t: inout WriteTransaction) throws(LMDBError) {
    let name = Array(row.name.utf8)
    let value = withUnsafeBytes(of: row.number.bigEndian) { Array($0) }
    try t.put(name.span.bytes, value.span.bytes, in: clientNames, mode: .insert)
  }

  private func put(_ row: ClientRow, _ t: inout WriteTransaction) throws(LMDBError) {
    try t.put(row.number, row.encoded().span.bytes, in: clients)
  }

  private func shorten(_ kept: Replacement<UInt64>, _ t: inout WriteTransaction) throws {
    guard try firstAvailableCommit(in: t) == kept.old else { throw RowMismatch(number: rootFolder, field: "history") }
    let value: InlineArray<1, UInt64> = [kept.new.bigEndian]
    let name = Self.firstAvailableName
    try t.put(name.span.bytes, value.span.bytes, in: settings)
  }

  private func note(_ fork: LibraryFork, after commit: UInt64, _ t: inout WriteTransaction) throws {
    let known = try forks(in: t) + [ForkPoint(commit: commit, mark: fork.identifier.high ^ fork.identifier.low)]
    let bytes = known.flatMap { point in withUnsafeBytes(of: pairKey(point.commit, point.mark)) { Array($0) } }
    try t.put(Self.forksName, bytes, in: settings)
  }

  private func put(_ row: CollectionRow, _ t: inout WriteTransaction) throws(LMDBError) {
    try t.put(row.number, row.encoded().span.bytes, in: collections)
  }
}
