import EventLog
import Foundation
import LMDB

// The plan for assets.
//
// Most of an asset is planned property by property (UndoPlan.swift). Its existence, its files, its burst and its stack
// are not independent properties: reverting one of their parts alone could give an asset that breaks a rule.
//
//     existence, base → given     row now
//     false → false               any       nothing: the chosen commits created and purged the asset
//     false → true                none      nothing: it is removed already
//     false → true                there     removed as a whole; a conflict if it was changed or added elsewhere
//     true → false                none      restored as the purge recorded it; a conflict if its bytes are gone
//     unchanged, or true → false  there     its properties; files together with the properties that follow from them
//     unchanged                   none      a conflict that cannot be forced
//
// After all assets, bursts and stacks are planned as they will be: with the assets that return, without those that go,
// and with choices that were made since. The former value of a property that the writer would settle otherwise is taken
// out of the plan, or replaced by what it will be.
//
// Invariant: each planned row obeys the rules of assets (AS-03, AS-11, AS-16), and the report lists what will hold
// after the undo, not only what the plan asks for.
//
// Rejected: planning each asset alone and leaving bursts and stacks to the writer, which settles them in any case. A
// dry run would promise tops and representatives that the undo does not restore.

extension UndoJudge {
  mutating func judgeAssets<T: TransactionReading & ~Copyable>(_ t: borrowing T) throws {
    let numbers = Set(composition.assets.keys).union(composition.details.keys)
    plan.assetEdits.reserveCapacity(numbers.count)
    for number in numbers.sorted() {
      let net = composition.assets[number] ?? UndoComposition.AssetNet()
      let row = try projections.asset(number, in: t)
      switch (net.exists?.base, net.exists?.given) {
      case (false, false): continue
      case (false, true):
        guard let row else {
          plan.report.alreadyCount += 1
          continue
        }
        try judgeCreation(of: row, t)
      case (true, false) where row == nil:
        if let returned = try judgePurge(of: number, t) { judge(net, of: returned.row, returned.details) }
      default:
        guard let row else {
          noteGone(number, net)
          continue
        }
        let isAboutFiles = net.fields.contains { $0.field.property.undoing == .withFiles }
        let needsDetails = isAboutFiles || composition.details[number] != nil
        let details = needsDetails ? try projections.details(number, in: t) : nil
        judge(net, of: row, details)
      }
    }
    try judgeRepresentatives(t)
    try judgeStacks(t)
  }

  /// Properties of an asset that was purged since.
  private mutating func noteGone(_ number: ObjectNumber, _ net: UndoComposition.AssetNet) {
    let hasFields = net.fields.contains { !$0.net.isNothing }
    guard hasFields || composition.details[number] != nil else { return }
    let change = UndoChange(.property, .library, "existence", from: .bool(false), to: .bool(true))
    _ = overrides(
      change, .goneSince, isForcible: false,
      "An asset changed by these commits (created by event \(number)) has been removed since.")
  }

  // MARK: Creation and purge

  /// A created asset is removed, if it is unchanged and in no other container.
  private mutating func judgeCreation<T: TransactionReading & ~Copyable>(of row: AssetRow, _ t: borrowing T) throws {
    let subject = UndoChange.Subject.asset(row.identifier)
    let change = UndoChange(.creation, subject, "existence", from: .bool(true), to: .bool(false))
    if let difference = try differenceSinceArrival(of: row, t) {
      guard overrides(change, .changedSince, isForcible: true, "\(difference) since \(subject.phrase) was added.")
      else { return }
    }
    plan.removals.append(row.number)
    if let burst = row.burstIdentifier { plan.bursts.insert(burst.exact) }
    if let stack = row.stack { plan.stacks.insert(stack) }
    plan.report.changes.append(change)
  }

  /// What was changed since the chosen commits in an asset that they created, as the beginning of a sentence.
  private func differenceSinceArrival<T: TransactionReading & ~Copyable>(
    of row: AssetRow, _ t: borrowing T
  ) throws -> String? {
    guard let arrival = composition.arrivals[row.number] else { return nil }
    // The date follows every change, and the representative of a burst follows from its other members.
    for field in AssetField.allCases where field.property.undoing != .follows {
      if row[field] != arrival.row[field] { return "'\(field.name)' was changed" }
    }
    guard let details = try projections.details(row.number, in: t), details.isStored(like: arrival.details) else {
      return "Its files or words were changed"
    }
    for place in try projections.places(of: row.number, in: t) {
      let member = ContainerMember(container: place.container, child: row.number)
      let isOwn =
        composition.places[member]?.given != nil || composition.picks.contains { $0.number == place.container }
      if isOwn { continue }
      if let album = try projections.collection(place.container, in: t) {
        return "It was added to '\(album.title ?? "")'"
      }
      guard let client = try projections.client(place.container, in: t) else { return "It was picked for a client" }
      // A selection that follows an album goes with the album.
      if client.followedAlbum == nil { return "It was granted to a client" }
    }
    return nil
  }

  /// A purged asset is restored unchanged, if its bytes exist.
  private mutating func judgePurge<T: TransactionReading & ~Copyable>(
    of number: ObjectNumber, _ t: borrowing T
  ) throws -> AssetExistence? {
    guard var existence = composition.departures[number] else { return nil }
    let identifier = existence.row.identifier
    let subject = UndoChange.Subject.asset(identifier)
    let change = UndoChange(.purge, subject, "existence", from: .bool(false), to: .bool(true))
    guard try projections.object(identifier, in: t) == nil else {
      _ = overrides(change, .goneSince, isForcible: false, "The identifier of \(subject.phrase) is in use by now.")
      return nil
    }
    // What was composed may be older than an erasure.
    if try existence.row.isErased || isErased(number, t) {
      _ = overrides(
        change, .goneSince, isForcible: false,
        "Nothing of \(subject.phrase) can be restored: it was erased, with its bytes and its data in the log.")
      return nil
    }
    let missing = missingFiles(of: existence.details.resources)
    if !missing.isEmpty {
      let sentence = """
        The bytes of \(missing) no longer exist: \(subject.phrase) was purged, and only its record can be restored.
        """
      guard overrides(change, .bytesGone, sentence) else { return nil }
    }
    existence.isByUndo = true
    existence.places = []  // They are judged with all places.
    plan.returns.append(existence)
    if let burst = existence.row.burstIdentifier { plan.bursts.insert(burst.exact) }
    if let stack = existence.row.stack { plan.stacks.insert(stack) }
    plan.report.changes.append(change)
    return existence
  }

  /// Whether the log says of an asset that it was erased.
  private func isErased<T: TransactionReading & ~Copyable>(_ number: ObjectNumber, _ t: borrowing T) throws -> Bool {
    guard let record = try composition.rekeyings.log.event(at: number, in: t),
      case .assetCreated(let existence) = try Event(record)
    else { return false }
    return existence.row.isErased
  }

  /// The names of the library's own files that no longer exist; empty if there are none. Referenced files are never
  /// removed.
  private func missingFiles(of files: [AssetResource]) -> String {
    files.filter { !resources.holds($0) }.map { "'\($0.originalFilename)'" }.joined(separator: ", ")
  }

  // MARK: Properties

  private mutating func judge(_ net: UndoComposition.AssetNet, of row: AssetRow, _ details: AssetDetails?) {
    let words = composition.details[row.number]
    let content = words?.content.flatMap { $0.isNothing ? nil : $0 }
    var edit = AssetEdit(number: row.number, changes: [])
    let start = (changes: plan.report.changes.count, conflicts: plan.report.conflicts.count)
    for known in net.fields where content == nil || known.field.property.undoing != .withFiles {
      judge(known, of: row, in: &edit)
    }
    if content == nil, let details { dropIncompatible(&edit, of: row, details, reportedFrom: start) }
    if let words, let old = details {
      let new = judge(words, content, net.fields, of: row, old, in: &edit)
      if !new.isStored(like: old) { edit.details = Replacement(old: old, new: new) }
    }
    guard !edit.changes.isEmpty || edit.details != nil else { return }
    plan.assetEdits.append((row, edit))
  }

  /// Keeps the properties that follow from the files where the former ones would be incompatible with the files of now.
  private mutating func dropIncompatible(
    _ edit: inout AssetEdit, of row: AssetRow, _ details: AssetDetails,
    reportedFrom start: (changes: Int, conflicts: Int)
  ) {
    let fields = edit.changes.map(\.field).filter { $0.property.undoing == .withFiles }
    guard !fields.isEmpty else { return }
    var after = row
    for change in edit.changes { _ = after.set(change.field, change.new) }
    guard let broken = Self.brokenRule(of: after, details) else { return }
    edit.changes.removeAll { fields.contains($0.field) }
    let names = Set(fields.map(\.name))
    plan.report.removeForced(from: start.conflicts) { names.contains($0.property) }
    let planned = Array(plan.report.changes[start.changes...])
    plan.report.changes.removeSubrange(start.changes...)
    for change in planned {
      guard names.contains(change.property) else {
        plan.report.changes.append(change)
        continue
      }
      let sentence = "'\(change.property)' of \(change.subject.phrase) is kept: \(broken)"
      _ = overrides(change, .forbidden, isForcible: false, sentence)
    }
  }

  private mutating func judge(_ known: UndoComposition.FieldNet, of row: AssetRow, in edit: inout AssetEdit) {
    let (field, current) = (known.field, row[known.field])
    if field == .representsBurst {
      // The representative of a burst is determined at the end; later choices are not conflicts, and stay.
      if let burst = row.burstIdentifier { plan.bursts.insert(burst.exact) }
      guard verdict(known.net, current) == .stands else { return }
    }
    if field == .stack {
      for case .identifier(let top) in [current, known.net.base, known.net.given] { plan.stacks.insert(top) }
    }
    let subject = UndoChange.Subject.asset(row.identifier)
    let value = judged(known.net, current) { value in
      let kind: UndoChange.Kind = field != .trashedDate ? .property : value == .null ? .restoration : .trash
      return UndoChange(
        kind, subject, field.name, from: LogValue(current, of: field), to: LogValue(value, of: field))
    }
    if let value { edit.changes.append(AssetChange(field: field, old: current, new: value)) }
  }

  /// Determines the representatives of bursts: a choice that was made since stays, and nothing else is restored then.
  private mutating func judgeRepresentatives<T: TransactionReading & ~Copyable>(_ t: borrowing T) throws {
    if plan.bursts.isEmpty { return }
    let removed = Set(plan.removals)
    for burst in plan.bursts {
      // Neither one that the chosen commits made the representative, nor one that goes.
      let later = try projections.assets(ofBurst: burst.text, in: t).first { number in
        guard !composition.representatives.contains(number), !removed.contains(number) else { return false }
        return try projections.asset(number, in: t)?.flags.contains(.representsBurst) ?? false
      }
      plan.representatives[burst] = later
    }
    var restored: [ObjectNumber: ExactText] = [:]
    for existence in plan.returns where existence.row.flags.contains(.representsBurst) {
      restored[existence.row.number] = existence.row.burstIdentifier?.exact
    }
    for (row, edit) in plan.assetEdits {
      guard let change = edit.changes.first(where: { $0.field == .representsBurst }) else { continue }
      restored[row.number] = change.new == .bool(true) ? row.burstIdentifier?.exact : nil
    }
    var dropped: Set<ObjectNumber> = []
    for (number, burst) in restored.sorted(by: { $0.key < $1.key }) {
      if plan.representatives[burst] == nil { plan.representatives[burst] = number }
      if plan.representatives[burst] != number { dropped.insert(number) }
    }
    for burst in plan.bursts where plan.representatives[burst] == nil {
      // None is restored, as the former one was purged: the oldest member takes over, or stays.
      let oldest = try projections.assets(ofBurst: burst.text, in: t).first { !removed.contains($0) }
      guard let oldest, try projections.asset(oldest, in: t)?.flags.contains(.representsBurst) == true else { continue }
      dropped.insert(oldest)
    }
    drop(.representsBurst, of: dropped)
  }

  /// Takes the edits of a property of some assets out of the plan, and what the report says of them.
  private mutating func drop(_ field: AssetField, of dropped: Set<ObjectNumber>) {
    if dropped.isEmpty { return }
    var subjects: Set<UndoChange.Subject> = []
    for index in plan.assetEdits.indices where dropped.contains(plan.assetEdits[index].row.number) {
      subjects.insert(.asset(plan.assetEdits[index].row.identifier))
      plan.assetEdits[index].edit.changes.removeAll { $0.field == field }
    }
    plan.assetEdits.removeAll { $0.edit.changes.isEmpty && $0.edit.details == nil }
    let isDropped = { (change: UndoChange) in change.property == field.name && subjects.contains(change.subject) }
    plan.report.changes.removeAll(where: isDropped)
    plan.report.removeForced(where: isDropped)
  }

  // MARK: Stacks

  /// The stacks as they will be.
  private struct PlannedStacks {
    /// The stack of each asset that returns, goes or is put into another one.
    private var stacks: [ObjectNumber: LocalIdentifier?] = [:]
    private var coming: [LocalIdentifier: Set<ObjectNumber>] = [:]

    mutating func put(_ number: ObjectNumber, in stack: LocalIdentifier?) {
      if case let former?? = stacks[number] { coming[former]?.remove(number) }
      stacks.updateValue(stack, forKey: number)
      if let stack { coming[stack, default: []].insert(number) }
    }

    /// The assets of a stack, oldest first.
    func members<T: TransactionReading & ~Copyable>(
      of stack: LocalIdentifier, _ projections: Projections, _ t: borrowing T
    ) throws -> [ObjectNumber] {
      let staying = try projections.assets(ofStack: stack, in: t).filter { !stacks.keys.contains($0) }
      return (staying + coming[stack, default: []]).sorted()
    }
  }

  /// Finds the stacks that are not restored as they were, since the writer would settle them at once: those to which
  /// their top does not return get the oldest asset on top, and a stack of one asset is dissolved.
  private mutating func judgeStacks<T: TransactionReading & ~Copyable>(_ t: borrowing T) throws {
    if plan.stacks.isEmpty { return }
    var stacks = PlannedStacks()
    for existence in plan.returns { stacks.put(existence.row.number, in: existence.row.stack) }
    for number in plan.removals { stacks.put(number, in: nil) }
    // The places in the plan of the edits, and of those that give another stack.
    var (places, edits) = ([ObjectNumber: Int](), [ObjectNumber: Int]())
    for index in plan.assetEdits.indices {
      let (row, edit) = plan.assetEdits[index]
      places[row.number] = index
      guard let change = edit.changes.first(where: { $0.field == .stack }) else { continue }
      let stack: LocalIdentifier? = if case .identifier(let top) = change.new { top } else { nil }
      stacks.put(row.number, in: stack)
      edits[row.number] = index
    }
    if edits.isEmpty { return }
    let all = plan.stacks.sorted { ($0.high, $0.low) < ($1.high, $1.low) }
    let returned = Dictionary(plan.returns.map { ($0.row.number, $0.row) }, uniquingKeysWith: { $1 })
    let tops = Dictionary(plan.returns.map { ($0.row.identifier, $0.row.number) }, uniquingKeysWith: { $1 })
    var kept: Set<ObjectNumber> = []
    var restored: [UndoChange.Subject: LogValue] = [:]
    for stack in all {
      let members = try stacks.members(of: stack, projections, t)
      guard members.count > 1, members.contains(where: { edits[$0] != nil }) else { continue }
      if let top = try tops[stack] ?? projections.object(stack, in: t)?.number, members.contains(top) { continue }
      var rows: [AssetRow] = []
      for number in members {
        if let row = try returned[number] ?? projections.asset(number, in: t) { rows.append(row) }
      }
      guard let oldest = rows.first?.identifier else { continue }
      for row in rows {
        stacks.put(row.number, in: oldest)
        if edits[row.number] == nil {
          // It loses its top like those that return to it; that is not reported.
          put(row, under: oldest, at: places[row.number])
        } else if row.stack == oldest {
          kept.insert(row.number)
        } else {
          put(row, under: oldest, at: places[row.number])
          restored[.asset(row.identifier)] = LogValue(.identifier(oldest), of: .stack)
        }
      }
    }
    var alone: [Int] = []
    for stack in all {
      let members = try stacks.members(of: stack, projections, t)
      if members.count == 1, let index = edits[members[0]] { alone.append(index) }
    }
    for number in kept.sorted() {
      guard let index = edits[number] else { continue }
      let subject = UndoChange.Subject.asset(plan.assetEdits[index].row.identifier)
      plan.report.kept.append("The former stack of \(subject.phrase) now has another top, so it was not restored.")
    }
    plan.report.restate(AssetField.stack.name, as: restored)
    drop(.stack, of: kept.union(leaveAlone(alone.sorted())))
  }

  /// Plans that an asset is in a stack, in place of what was planned for it.
  /// - Parameter index: the place of its edit in the plan; nil if it does not have one.
  private mutating func put(_ row: AssetRow, under top: LocalIdentifier?, at index: Int?) {
    let new: FieldValue = if let top { .identifier(top) } else { .null }
    let change = AssetChange(field: .stack, old: row[.stack], new: new)
    guard let index else {
      plan.assetEdits.append((row, AssetEdit(number: row.number, changes: [change])))
      return
    }
    plan.assetEdits[index].edit.changes.removeAll { $0.field == .stack }
    plan.assetEdits[index].edit.changes.append(change)
  }

  /// Plans that assets are in no stack instead of being given back one without other assets.
  /// - Returns: those that are in no stack already.
  private mutating func leaveAlone(_ indexes: [Int]) -> Set<ObjectNumber> {
    var unstacked: Set<ObjectNumber> = []
    var restored: [UndoChange.Subject: LogValue] = [:]
    for index in indexes {
      let row = plan.assetEdits[index].row
      let subject = UndoChange.Subject.asset(row.identifier)
      plan.report.kept.append("The former stack of \(subject.phrase) has no other asset and was not restored.")
      if row.stack == nil {
        unstacked.insert(row.number)
        continue
      }
      put(row, under: nil, at: index)
      restored[subject] = .null
    }
    plan.report.restate(AssetField.stack.name, as: restored)
    return unstacked
  }

  /// Judges words and files; gives the details as they become.
  private mutating func judge(
    _ words: UndoComposition.DetailsNet, _ content: Net<AssetContent>?, _ fields: [UndoComposition.FieldNet],
    of row: AssetRow, _ old: AssetDetails, in edit: inout AssetEdit
  ) -> AssetDetails {
    let subject = UndoChange.Subject.asset(row.identifier)
    var new = old
    let caption = judged(words.caption, StoredPart(\.caption, of: old)) { part in
      UndoChange(.property, subject, "caption", from: .words(old.caption), to: .words(part.value))
    }
    if let caption { new.caption = caption.value }
    let keywords = judged(words.keywords, StoredPart(\.keywords, of: old)) { part in
      UndoChange(
        .property, subject, "keywords", from: .list(old.keywords.map(LogValue.text)),
        to: .list(part.value.map(LogValue.text)))
    }
    if let keywords { new.keywords = keywords.value }
    let metadata = judged(words.metadata, StoredPart(\.metadata, of: old)) { part in
      UndoChange(
        .property, subject, "fileMetadata", from: old.metadata?.logValue ?? .null, to: part.value?.logValue ?? .null)
    }
    if let metadata { new.metadata = metadata.value }
    guard let content else { return new }
    return judge(content, fields.filter { $0.field.property.undoing == .withFiles }, of: row, new, in: &edit)
  }

  /// Judges the files with the properties that follow from them.
  private mutating func judge(
    _ content: Net<AssetContent>, _ fields: [UndoComposition.FieldNet], of row: AssetRow, _ old: AssetDetails,
    in edit: inout AssetEdit
  ) -> AssetDetails {
    let subject = UndoChange.Subject.asset(row.identifier)
    let names = { (content: AssetContent) in
      LogValue.list(content.resources.map { .text($0.originalFilename) })
    }
    let current = AssetContent(old)
    let change = UndoChange(.property, subject, "resources", from: names(current), to: names(content.base))
    let verdicts = [verdict(content, current)] + fields.map { verdict($0.net, row[$0.field]) }
    if verdicts.allSatisfy({ $0 == .already }) {
      plan.report.alreadyCount += 1
      return old
    }
    let start = plan.report.conflicts.count
    if verdicts.contains(.changed), !overrides(change, .changedSince) { return old }
    let missing = missingFiles(of: content.base.resources.filter { !current.resources.contains($0) })
    if !missing.isEmpty, !overrides(change, .bytesGone, "The bytes of \(missing) of \(subject.phrase) no longer exist.")
    {
      return old
    }
    var new = old
    (new.resources, new.adjustment, new.unedited) = (
      content.base.resources, content.base.adjustment, content.base.unedited
    )
    let changes = fields.filter { row[$0.field] != $0.net.base }.map {
      AssetChange(field: $0.field, old: row[$0.field], new: $0.net.base)
    }
    var after = row
    for change in edit.changes + changes { _ = after.set(change.field, change.new) }
    if let broken = Self.brokenRule(of: after, new) {
      plan.report.removeForced(from: start) { $0 == change }
      _ = overrides(change, .forbidden, isForcible: false, "The files of \(subject.phrase) are kept: \(broken)")
      return old
    }
    edit.changes += changes
    plan.report.changes.append(change)
    return new
  }

  /// Which rule files and properties would break together (AS-03, AS-11, AS-16); nil if none.
  private static func brokenRule(of row: AssetRow, _ details: AssetDetails) -> String? {
    do {
      try ResourceCombination.check(details.resources.map(\.type), of: row.mediaType)
    } catch {
      return LibraryError(error).description
    }
    if row.originalResourceChoice != .compressed, !details.resources.isRawPair {
      return "the RAW original would be chosen without a pair of originals."
    }
    return row.mediaType == .image && row.duration != 0 ? "a photo has no duration." : nil
  }
}
