import Foundation
import LMDB

// Creation, edits, trash and purge of assets.
//
// A request states what is to hold afterwards, often of many assets at once; an event states what it replaced. The
// decision is the difference between the request and the rows, which are those after the block's earlier requests:
//
//     create ──▶ in the library ── trash ──▶ in the trash ── purge ──▶ gone; the event holds row, details and places
//                  ↺ edit      ◀── restore ──   ↺ edit
//
//     edit: wanted values − values of the row = changes, each with the value that it replaces
//
// An edit without a change records nothing, so a repeated request has no effect and no new modification date. What
// follows from a change is in the same edit: the modification date, the flag of RAW files, the shape of the chosen
// original. Edits are recorded in runs of up to `Event.objectLimit` assets, each run with the number of visible members
// that the albums of its assets gain or lose. Files whose asset is purged are removed after the commit, if no other
// asset needs them.
//
// Invariant: an event edits an asset at most once, and the row it was decided from was read since the last event.
//
// Rejected: counting the members of albums where an edit is applied. Events are applied in both directions and from any
// state, and each application would look up the places of every asset as of that state.
//
// Rejected: purging an asset that is not in the trash. A mistaken deletion would cost the files, which an undo does not
// restore.

extension Decider {
  // MARK: Creation

  mutating func create(
    _ creation: AssetCreation, as identifier: LocalIdentifier, _ t: inout WriteTransaction
  ) throws {
    try checkIsFree(identifier, t)
    var creation = creation
    let resources = try creation.resources.map { try stored($0) }.named(for: identifier, beside: [])
    try ResourceCombination.check(resources.map(\.type), of: creation.mediaType)
    try check(creation)
    if creation.isDatedByAddition, creation.creationDate == nil, creation.localCreationDate == nil {
      creation.creationDate = date
    }
    if resources.hasPairedVideo { creation.mediaSubtypes.insert(.photoLive) }
    var row = AssetRow(number: nextNumber, identifier: identifier, addedDate: date)
    row.set(creation.values)
    row.playbackStyle = creation.effectivePlaybackStyle
    row.modificationDate = date
    row.sourceType = creation.sourceType
    if resources.hasRaw { row.flags.insert(.raw) }
    var details = AssetDetails(resources: resources)
    details.caption = creation.caption?.isEmpty ?? true ? nil : creation.caption
    details.keywords = Self.keywords(creation.keywords)
    details.origin = creation.origin?.stringValue
    details.metadata = creation.fileMetadata.flatMap { $0.isEmpty ? nil : $0 }
    try checkChoice(creation.originalResourceChoice, resources)
    try join(creation.burstIdentifier, &row, &t)
    // What the other members of the burst became has taken a number.
    row.number = nextNumber
    try record(.assetCreated(AssetExistence(row: row, details: details)), &t)
    noteCreated(identifier, .asset)
    try joinSelection(row.number, &t)
  }

  /// Keywords as they are kept: each once, in the order of their bytes (AS-15).
  static func keywords(_ words: some Sequence<String>) -> [String] {
    distinct(words.filter { !$0.isEmpty }).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Only a RAW and JPEG pair has two originals to choose from (AS-16).
  func checkChoice(_ choice: OriginalResourceChoice, _ resources: [AssetResource]) throws {
    guard choice == .compressed || resources.isRawPair else {
      throw LibraryError(
        .requestNotSupportedForAsset,
        "The RAW original can be chosen only for an asset with a compressed and a RAW original.")
    }
  }

  /// The resource that staging made of a draft, before the block came to the writer.
  func stored(_ draft: ResourceDraft) throws -> AssetResource {
    guard case .stored(let resource) = draft.source else {
      preconditionFailure("A resource reached the writer before its bytes were stored.")
    }
    guard resource.originalFilename.utf8.count <= AssetResource.nameByteLimit else {
      throw invalid("a file name longer than 1,024 bytes")
    }
    guard resource.uniformTypeIdentifier.utf8.count <= AssetResource.nameByteLimit else {
      throw invalid("a type identifier longer than 1,024 bytes")
    }
    guard resource.sha256.count == 32 else {
      throw LibraryError(
        .invalidResource,
        "The resource \(resource.originalFilename) has a hash of \(resource.sha256.count) bytes, not 32.")
    }
    guard resource.sha1.map({ $0.count == 20 }) ?? true else {
      throw invalid("a SHA-1 that does not have 20 bytes")
    }
    guard resource.contentIdentifier.map({ (1...256).contains($0.utf8.count) }) ?? true else {
      throw invalid("a content identifier that is empty or longer than 256 bytes")
    }
    try AssetNumbers.check(resource)
    guard try resources.secures(resource) else { throw LibraryError.missingBytes(resource) }
    return resource
  }

  private func check(_ creation: AssetCreation) throws {
    try AssetNumbers.check(side: creation.pixelWidth)
    try AssetNumbers.check(side: creation.pixelHeight)
    try AssetNumbers.check(duration: creation.duration)
    try checkDuration(creation.duration, of: creation.mediaType)
    try check(creation.creationDate, creation.localCreationDate, creation.timeZoneOffset, creation.location)
    guard creation.burstIdentifier.map({ (1...256).contains($0.utf8.count) }) ?? true else {
      throw invalid("a burst identifier that is empty or longer than 256 bytes")
    }
    guard creation.burstIdentifier != nil || (!creation.representsBurst && creation.burstSelectionTypes == []) else {
      throw invalid("a burst selection or represent a burst without a burst identifier")
    }
    try check(caption: creation.caption, keywords: creation.keywords)
    try check(creation.fileMetadata)
  }

  private func check(caption: String?, keywords: some Sequence<String>) throws {
    if let caption, caption.utf8.count > 65_536 { throw invalid("a caption longer than 65,536 bytes") }
    var count = 0
    for keyword in keywords {
      count += 1
      guard keyword.utf8.count <= 256 else { throw invalid("a keyword longer than 256 bytes") }
    }
    guard count <= Self.keywordLimit else { throw invalid("more than 1,024 keywords") }
  }

  /// The most keywords that one request gives an asset.
  static let keywordLimit = 1024

  private func check(_ metadata: AssetMetadata?) throws {
    guard metadata?.isBounded ?? true else {
      throw invalid("metadata with control characters, impossible numbers or too many words (pass `bounded()`)")
    }
  }

  private func check(_ date: Date?, _ local: Date?, _ offset: Int?, _ location: Location?) throws {
    if let date { try AssetNumbers.check(date: date) }
    if let local { try AssetNumbers.check(date: local) }
    if let offset { try AssetNumbers.check(offset: offset) }
    if let location { try AssetNumbers.check(location) }
  }

  private func invalid(_ what: String) -> LibraryError {
    LibraryError(.invalidResource, "An asset cannot have \(what); correct the request.")
  }

  // MARK: Edits

  mutating func edit(
    _ identifiers: [LocalIdentifier], _ changes: AssetChanges, _ t: inout WriteTransaction
  ) throws {
    try check(changes)
    var edits: [(row: AssetRow, edit: AssetEdit)] = []
    for identifier in distinct(identifiers) {
      let row = try editableAsset(identifier, t)
      try checkType(changes.mediaType, of: row, t)
      try checkDuration(changes.duration ?? row.duration, of: changes.mediaType ?? row.mediaType)
      let edit = try self.edit(of: row, changes, t)
      if !edit.changes.isEmpty { edits.append((row, edit)) }
    }
    try record(edits, .edited, &t)
  }

  func check(_ changes: AssetChanges) throws {
    guard changes.dateShift == nil || changes.creationDate == nil && changes.localCreationDate == nil else {
      throw LibraryError(
        .malformedRequest,
        "An edit both sets and shifts the date of capture; use two edits, of which the later is the shift.")
    }
    try check(
      changes.creationDate?.value, changes.localCreationDate?.value, changes.timeZoneOffset?.value,
      changes.location?.value)
    if let duration = changes.duration { try AssetNumbers.check(duration: duration) }
    try check(caption: changes.caption?.value, keywords: changes.addedKeywords)
    try check(changes.fileMetadata?.value)
    for side in [changes.pixelWidth, changes.pixelHeight].compactMap({ $0 }) { try AssetNumbers.check(side: side) }
  }

  /// Photos have no duration (AS-03).
  func checkDuration(_ duration: Double, of type: MediaType) throws {
    if type == .image, duration != 0 { throw invalid("a duration of \(duration) s as a photo") }
  }

  /// Whether the resources that an asset has can be those of another media type.
  private func checkType(_ type: MediaType?, of row: AssetRow, _ t: borrowing WriteTransaction) throws {
    guard let type, type != row.mediaType else { return }
    let details = try projections.details(row.number, in: t)
    try ResourceCombination.check(details?.resources.map(\.type) ?? [], of: type)
  }

  /// An asset whose content and properties may be changed: none that another computer or a shared album put here
  /// (AS-13).
  func editableAsset(
    _ identifier: LocalIdentifier, orTrashed: Bool = false, _ t: borrowing WriteTransaction
  ) throws -> AssetRow {
    let row = try asset(identifier, orTrashed: orTrashed, t)
    guard row.isEditable else {
      throw LibraryError(
        .requestNotSupportedForAsset,
        """
        The asset \(identifier.spelled(as: .asset)) was synced from another computer or a shared album; \
        it cannot be changed or deleted here.
        """)
    }
    return row
  }

  func details(of row: AssetRow, _ t: borrowing WriteTransaction) throws -> AssetDetails {
    guard let details = try projections.details(row.number, in: t) else {
      throw projections.corruption("the details of asset \(row.number)")
    }
    return details
  }

  /// The edit that brings a row and its words to what is wanted, with a new modification date if anything differs
  /// (AS-01).
  private func edit(
    of row: AssetRow, _ wanted: AssetChanges, _ t: borrowing WriteTransaction
  ) throws -> AssetEdit {
    let wanted = wanted.settled(for: row)
    for date in [wanted.creationDate?.value, wanted.localCreationDate?.value].compactMap(\.self) {
      try AssetNumbers.check(date: date)
    }
    var edit = AssetEdit(number: row.number, changes: propertyChanges(of: row, wanted))
    if wanted.concernsDetails {
      let old = try details(of: row, t)
      var new = old
      if let caption = wanted.caption { new.caption = caption.value.flatMap { $0.isEmpty ? nil : $0 } }
      let kept = old.keywords.filter { !wanted.removedKeywords.contains($0) }
      new.keywords = Self.keywords(kept + wanted.addedKeywords)
      if let metadata = wanted.fileMetadata { new.metadata = metadata.value.flatMap { $0.isEmpty ? nil : $0 } }
      if let choice = wanted.originalResourceChoice {
        try checkChoice(choice, old.resources)
        let isSizeSet = wanted.pixelWidth != nil || wanted.pixelHeight != nil
        if let size = old.resources.size(of: choice, changing: row) {
          if let shape = new.unedited {
            new.unedited = .init(pixelWidth: size.width, pixelHeight: size.height, duration: shape.duration)
          } else if !isSizeSet {
            wantShape(Int(size.width), Int(size.height), wanted.duration ?? row.duration, of: row, in: &edit)
          }
        }
      }
      if !new.isStored(like: old) { edit.details = Replacement(old: old, new: new) }
    }
    if edit.details != nil || !edit.changes.isEmpty { noteModification(of: row, in: &edit) }
    return edit
  }

  /// Adds the new modification date to an edit.
  ///
  /// A date that stays is named where the edit has nothing beside details, and where it has a stack: after an erasure,
  /// which keeps dates and stacks, such an edit must not become one of the stack alone, which no limited client sees.
  func noteModification(of row: AssetRow, in edit: inout AssetEdit) {
    let date = FieldValue.date(modificationDate(after: row.modificationDate))
    let namesDate = edit.changes.isEmpty || edit.changes.contains { $0.field == .stack }
    guard namesDate || row[.modificationDate] != date else { return }
    edit.changes.append(AssetChange(field: .modificationDate, old: row[.modificationDate], new: date))
  }

  private func propertyChanges(of row: AssetRow, _ wanted: AssetChanges) -> [AssetChange] {
    wanted.values.entries.filter { $0.field.property.isSettable(in: row) && row[$0.field] != $0.value }.map {
      AssetChange(field: $0.field, old: row[$0.field], new: $0.value)
    }
  }

  /// The modification date of an object that had a former one: a clock that was set back must not take it back (AS-01).
  private func modificationDate(after former: Date?) -> Date { max(date, former ?? date) }

  /// The change of a collection's modification date, under the same rule.
  func modification(after former: Date) -> Replacement<Date> {
    Replacement(old: former, new: modificationDate(after: former))
  }

  mutating func add(
    _ drafts: [ResourceDraft], to identifier: LocalIdentifier, _ changes: AssetChanges,
    retyping types: [ResourceType: ResourceType], _ t: inout WriteTransaction
  ) throws {
    try check(changes)
    let row = try editableAsset(identifier, t)
    let details = try details(of: row, t)
    let retyped = details.resources.filter { types[$0.type] != nil }
    let kept = details.resources.filter { types[$0.type] == nil }
    let missing = try drafts.map { try stored($0) }.filter { !details.resources.have($0) }
    var added = missing.named(for: identifier, beside: details.resources)
    try checkDuration(changes.duration ?? row.duration, of: changes.mediaType ?? row.mediaType)
    if added.isEmpty, retyped.isEmpty { return try self.edit([identifier], changes, &t) }
    added += retyped.map { resource in
      var resource = resource
      resource.type = types[resource.type] ?? resource.type
      return resource
    }
    let resources = kept + added
    try ResourceCombination.check(resources.map(\.type), of: changes.mediaType ?? row.mediaType)
    var changes = changes
    if added.hasPairedVideo { setLive(resources, of: row, in: &changes) }
    var edit = try self.edit(of: row, changes, t)
    if edit.changes.isEmpty { noteModification(of: row, in: &edit) }
    setResources(resources, of: row, details, in: &edit)
    try record([(row, edit)], .edited, &t)
  }

  /// Adds other resources to an edit, and what follows from them.
  func setResources(_ resources: [AssetResource], of row: AssetRow, _ details: AssetDetails, in edit: inout AssetEdit) {
    var replacement = edit.details ?? Replacement(old: details, new: details)
    replacement.new.resources = resources
    edit.details = replacement
    let isRaw = FieldValue.bool(resources.hasRaw)
    if row[.isRaw] != isRaw { edit.changes.append(AssetChange(field: .isRaw, old: row[.isRaw], new: isRaw)) }
  }

  // MARK: Trash

  mutating func setTrashed(
    _ trashedDate: Date?, _ identifiers: [LocalIdentifier], _ t: inout WriteTransaction
  ) throws {
    var edits: [(row: AssetRow, edit: AssetEdit)] = []
    for identifier in distinct(identifiers) {
      let row = try editableAsset(identifier, orTrashed: true, t)
      noteTrashed(row)
      guard (row.trashedDate == nil) != (trashedDate == nil) else { continue }
      let change = AssetChange(field: .trashedDate, old: .date(row.trashedDate), new: .date(trashedDate))
      edits.append((row, AssetEdit(number: row.number, changes: [change])))
    }
    try record(edits, trashedDate == nil ? .restored : .trashed, &t)
  }

  /// - Complexity: O(k log n) for k assets, their places, and the members of the stacks and bursts concerned.
  mutating func purge(_ identifiers: [LocalIdentifier], _ t: inout WriteTransaction) throws {
    let rows = try distinct(identifiers).map { try purgeable($0, t) }
    // Before the first asset goes, so that what goes as well is not rewritten: the rows stay as they were read.
    try leaveBursts(rows, &t)
    try leaveStacks(rows, &t)
    for row in rows {
      let details = try details(of: row, t)
      let places = try projections.places(of: row.number, in: t)
      // Read before the purge removes the rows: its files, and those that edits have replaced, in this block too.
      let former = try projections.formerContents(of: row.number, in: t)
      try record(.assetPurged(AssetExistence(row: row, details: details, places: places)), &t)
      for content in distinct(details.resources.ownContents + former)
      where try !projections.needsFile(content, in: t) {
        orphans.append(content)
      }
    }
  }

  /// An asset that may be purged: one in the trash.
  private func purgeable(_ identifier: LocalIdentifier, _ t: borrowing WriteTransaction) throws -> AssetRow {
    let row = try asset(identifier, t)
    guard row.trashedDate != nil else {
      throw LibraryError(
        .changeNotSupported,
        "The asset \(row.identifier.spelled(as: .asset)) is not in the trash; move it there before purging it.")
    }
    return row
  }

  // MARK: Recording

  /// Records edits in runs, with what they mean for the counts of the albums that show the assets.
  /// - Parameter edits: at most one of each asset, and its row, read since the last event.
  mutating func record(
    _ edits: [(row: AssetRow, edit: AssetEdit)], _ verb: AssetsEdited.Verb, _ t: inout WriteTransaction
  ) throws {
    let runs = edits.inRuns(of: Event.objectLimit, upTo: Event.detailsLimit) { $0.edit.detailsByteCount }
    for run in runs {
      var shifts: [ObjectNumber: CountShift] = [:]
      var rows: [Projections.EditedRow] = []
      rows.reserveCapacity(run.count)
      precondition(
        run.count == 1 || Set(run.lazy.map(\.row.number)).count == run.count,
        "One event edits an asset once; a decision that edits it twice records two.")
      for (row, edit) in run {
        let after = try changed(row, by: edit)
        rows.append(Projections.EditedRow(before: row, after: after))
        let change = Self.change(row.isVisible, after.isVisible)
        let creatorsChange = Self.change(row.isVisibleInSelections, after.isVisibleInSelections)
        guard change != 0 || creatorsChange != 0 else { continue }
        try count(change, creatorsChange, of: row.number, in: &shifts, t)
      }
      let counted = shifts.values.filter { $0.by != 0 || $0.byCreator != 0 }.sorted { $0.album < $1.album }
      let edited = AssetsEdited(verb: verb, edits: run.map(\.edit), shifts: counted)
      try record(.assetsEdited(edited), knowing: rows, &t)
      for album in shifts.keys.sorted() { try settleCover(of: album, &t) }
    }
  }

  private static func change(_ wasVisible: Bool, _ isVisible: Bool) -> Int {
    (isVisible ? 1 : 0) - (wasVisible ? 1 : 0)
  }

  /// Counts an asset that came into view or left it in every album that holds it: the owner's view, and that of the
  /// albums' creators while they are limited to their selections.
  private func count(
    _ change: Int, _ creatorsChange: Int, of number: ObjectNumber, in shifts: inout [ObjectNumber: CountShift],
    _ t: borrowing WriteTransaction
  ) throws {
    let places = try projections.places(of: number, in: t)
    for place in places {
      guard let album = try projections.collection(place.container, in: t) else { continue }
      let isSelected = album.creator != 0 && places.contains { $0.container == album.creator }
      shifts[album.number, default: CountShift(album: album.number, by: 0)].by += change
      if isSelected { shifts[album.number]?.byCreator += creatorsChange }
    }
  }

  private func changed(_ row: AssetRow, by edit: AssetEdit) throws -> AssetRow {
    var after = row
    do throws(RowMismatch) { try edit.apply(to: &after) } catch {
      throw projections.corruption("the \(error.field) of asset \(error.number)")
    }
    return after
  }
}
