import EventLog
import LMDB

// Reading deltas back from the log.
//
// The projections hold the state of the last commit only; the rows before and after each commit in between are worked
// out by walking the events backward and applying their inverses:
//
//     log        … e17 │ e18 e19 │ e20 │ e21 e22 │ head
//     rows              ←─────── ←──── ←──────── rows of the projections
//     deltas           │  40→41  │41→42│  42→43  │
//
// The walk itself is `Rewind`'s; here is what is recorded on the way. An asset that was created inside the range and
// neither edited nor purged since has the row, files and words of its creation, and its places follow from the events.
// So following an import, into albums too, reads none of its assets from the store, unless edits are composed (below).
//
// A lagging follower needs the range as one delta. Then no intermediate states are recorded: an object's row is
// recorded at its last event, and again at the beginning. The rows at both ends do not show whether a property was
// changed and changed back; so the rows before and after a commit are compared, until an object is known to have
// changed. The edits of assets, which are most of a log, need not even be kept: they are composed as they are read
// (EditComposition.swift), and reverted once.

/// Computes the effects of the commits of a log range.
struct DeltaReader {
  private let core: StoreCore
  private var rewind: Rewind
  private var notes: Notes
  /// Whether the files and words of assets are read as well.
  private let readsDetails: Bool

  init(_ core: StoreCore, readsDetails: Bool = false) {
    (self.core, self.readsDetails) = (core, readsDetails)
    // A delta has places and details on both sides, which `Notes` records, and of clients what their events say.
    rewind = Rewind(core, to: LibraryStore.now, holding: [])
    notes = Notes(projections: core.projections, readsDetails: readsDetails)
  }

  private struct LoadedCommit {
    let commit: Commit
    var events: [Event] = []
  }

  /// Those of the range that were not reverted yet, oldest first.
  private var loaded: [LoadedCommit] = []
  /// The edits of assets that are wanted as one; nil if each commit is wanted.
  private var composition: EditComposition?

  /// What each commit after one did, up to another, oldest first.
  /// - Parameters:
  ///   - commit: the commit to start from.
  ///   - limit: the last commit that is wanted; nil: the head of the transaction.
  ///   - t: a transaction that sees those commits.
  /// - Complexity: O(k log n) for k objects touched.
  mutating func deltas(
    after commit: UInt64, through limit: UInt64? = nil, in t: borrowing StoreReading
  ) throws -> [Delta] {
    let commits = try core.log.commits(after: commit, in: t)
    let head = try core.log.head(t).commit
    if head > commit { try Self.checkRows(commits, after: commit, Int(clamping: head - commit)) }
    loaded = try Self.read(commits, core, t)
    holdCreations()
    if let limit { try skip(after: limit, t) }
    var deltas: [Delta] = []
    deltas.reserveCapacity(loaded.count)
    while let one = loaded.popLast() {
      let number = one.commit.number
      var delta = Delta(from: number - 1, to: number, lastSequence: one.commit.lastSequence)
      delta.commits = [CommitSummary(one.commit)]
      delta.hasDetails = readsDetails
      try goBack(over: [one], in: &delta, t)
      deltas.append(delta)
    }
    return deltas.reversed()
  }

  /// The combined effect of all commits after one, up to another; nil if there are none.
  /// - Parameters:
  ///   - commit: the commit to start from.
  ///   - limit: the last commit to include.
  ///   - t: a transaction that sees those commits.
  /// - Complexity: O(e + k log n) for e events and k objects touched.
  mutating func composed(
    after commit: UInt64, through limit: UInt64, in t: borrowing StoreReading
  ) throws -> Delta? {
    // Edits of descriptive metadata are not composed: a reader that needs them goes back over every event.
    composition = readsDetails ? nil : EditComposition()
    let commits: [Commit]
    (commits, loaded) = try read(after: commit, composingThrough: limit, t)
    composition?.finish()
    // Edits that are composed are not among the events, so an asset cannot be known to be as its creation says.
    if composition == nil { holdCreations() }
    let wanted = commits.prefix { $0.number <= limit }
    guard let last = wanted.last, wanted.count == Int(last.number - commit) else { return nil }
    try skip(after: limit, t)
    var delta = Delta(from: commit, to: last.number, lastSequence: last.lastSequence)
    delta.commits = wanted.map { CommitSummary($0) }
    delta.hasDetails = readsDetails
    try goBack(over: loaded, in: &delta, t)
    if let composition { try revert(composition, in: &delta, t) }
    return delta
  }

  /// Reads the events of commits that follow one another.
  private static func read(
    _ commits: [Commit], _ core: StoreCore, _ t: borrowing StoreReading
  ) throws -> [LoadedCommit] {
    guard let first = commits.first, let last = commits.last else { return [] }
    var loaded: [LoadedCommit] = []
    var index = 0
    try core.log.read(after: first.firstSequence - 1, in: t) { record in
      if record.sequence > last.lastSequence { return .stop }
      if record.sequence > commits[index].lastSequence { index += 1 }
      guard index < commits.count, record.commit == commits[index].number else {
        throw LibraryError(.corrupted, "The log has no row for commit \(record.commit); run `verify`.")
      }
      if loaded.last?.commit.number != record.commit { loaded.append(LoadedCommit(commit: commits[index])) }
      loaded[loaded.count - 1].events.append(try core.projections.event(record, in: t))
      return .proceed
    }
    return loaded
  }

  /// Every commit has a row.
  private static func checkRows(_ commits: [Commit], after number: UInt64, _ count: Int) throws {
    guard commits.count == count, commits.last?.number == number + UInt64(count) else {
      throw LibraryError(.corrupted, "The log lacks a row among the commits after \(number); run `verify`.")
    }
  }

  /// How many commits a core decodes at a time, and how many such parts are kept before they are composed.
  #if DEBUG
    private static let (commitsAtOnce, partsAtOnce) = (3, 2)
  #else
    private static let (commitsAtOnce, partsAtOnce) = (256, 12)
  #endif

  /// Reads the commits after one on several cores and composes the edits of assets up to a commit; everything else in
  /// the commits is kept.
  private mutating func read(
    after commit: UInt64, composingThrough limit: UInt64, _ t: borrowing StoreReading
  ) throws -> (commits: [Commit], kept: [LoadedCommit]) {
    let (core, width) = (core, UInt64(Self.commitsAtOnce))
    var (commits, kept) = ([Commit](), [LoadedCommit]())
    let head = try core.log.head(t).commit
    var reached = commit
    while reached < head {
      // A damaged head can name any number, so no more is planned than is read next.
      let start = reached
      let partCount = min(UInt64(Self.partsAtOnce), (head - start - 1) / width + 1)
      let parts = try t.onSeveralCores(Int(partCount)) { index, t in
        let after = start + UInt64(index) * width
        let count = Int(min(width, head - after))
        let commits = try core.log.commits(after: after, limit: count, in: t)
        try Self.checkRows(commits, after: after, count)
        return (commits, try Self.read(commits, core, t))
      }
      reached = start + min(partCount * width, head - start)
      for part in parts { commits += part.0 }
      for var one in parts.lazy.flatMap(\.1) {
        let number = one.commit.number
        if number <= limit, composition != nil {
          one.events = try one.events.compactMap { event in
            try Self.checked { () throws(RowMismatch) in try composition?.add(event, of: number) }
          }
        }
        if !one.events.isEmpty { kept.append(one) }
      }
    }
    return (commits, kept)
  }

  /// Holds the assets that the range created and neither edited nor purged since, as they are at its end.
  /// - Complexity: O(k) in the objects of the events.
  private mutating func holdCreations() {
    var creations: [ObjectNumber: AssetExistence] = [:]
    for event in loaded.lazy.flatMap(\.events) {
      switch event {
      case .assetCreated(let existence): creations[existence.row.number] = existence
      case .assetPurged(let existence): creations[existence.row.number] = nil
      case .assetsEdited(let edited) where !creations.isEmpty:
        for edit in edited.edits { creations[edit.number] = nil }
      case .arranged(let arranged) where !creations.isEmpty:
        for place in arranged.places {
          creations[place.child]?.places.move(in: arranged.container, to: place.new)
        }
      case .libraryCreated, .assetsEdited, .collectionCreated, .collectionErased, .collectionEdited, .arranged,
        .clientRegistered, .clientErased, .clientEdited, .pickRecorded, .pickErased, .historyShortened, .assetErased,
        .libraryForked, .nothingChanged:
        break
      }
    }
    for existence in creations.values {
      rewind.hold(existence.row)
      notes.begin(existence)
    }
  }

  // MARK: Back over commits

  /// Reverts the commits after one without recording them.
  private mutating func skip(after limit: UInt64, _ t: borrowing StoreReading) throws {
    while let last = loaded.last, last.commit.number > limit {
      for event in last.events.reversed() { try revert(event, t) }
      loaded.removeLast()
    }
  }

  /// Goes back over commits, given oldest first, and records what they did as one.
  private mutating func goBack(
    over loaded: [LoadedCommit], in delta: inout Delta, _ t: borrowing StoreReading
  ) throws {
    notes.delta = delta
    notes.isRecording = true
    for one in loaded.reversed() {
      for event in one.events.reversed() { try revert(event, t) }
      notes.settle(rewind.overlay)
    }
    swap(&delta, &notes.delta)
    delta.assets.setEach { number, touch in touch.before = rewind.overlay.assets[number] ?? nil }
    delta.details.setEach { number, touch in touch.before = notes.details[number] ?? nil }
    delta.noteErased()
    delta.collections.setEach { number, touch in touch.before = rewind.overlay.collections[number] ?? nil }
  }

  private mutating func revert(_ event: Event, _ t: borrowing StoreReading) throws {
    try meetObjects(of: event, t)
    try Self.revert(event, &rewind, &notes, t)
    notes.add(event)
  }

  /// Notes the objects whose places an event changed; their rows may be as they were.
  private mutating func meetObjects(of event: Event, _ t: borrowing StoreReading) throws {
    guard case .arranged(let arranged) = event else { return }
    let isFolder =
      try !arranged.verb.isAboutAccess && rewind.hold(collection: arranged.container, t)?.kind == .folder
    for place in arranged.places {
      if isFolder {
        try notes.meet(collection: place.child, try rewind.hold(collection: place.child, t), t)
      } else {
        try notes.meet(asset: place.child, try rewind.hold(asset: place.child, t), t)
      }
    }
  }

  private static func revert(
    _ event: Event, _ rewind: inout Rewind, _ notes: inout Notes, _ t: borrowing StoreReading
  ) throws {
    try rewind.revert(event, t) { number, row in
      try notes.meet(asset: number, row, t)
    } details: { number, later, earlier in
      try notes.replaceDetails(of: number, later, earlier)
    } collection: { number, row in
      try notes.meet(collection: number, row, t)
    }
  }

  /// Reverts the composed edits of assets.
  private func revert(_ composition: EditComposition, in delta: inout Delta, _ t: borrowing StoreReading) throws {
    delta.assets.reserveCapacity(delta.assets.count + composition.entries.count)
    delta.context.reserveCapacity(delta.context.count + composition.entries.count)
    var untouched: [ObjectNumber] = []
    for (number, entry) in composition.entries {
      guard let row = rewind.overlay.assets[number] else {
        untouched.append(number)
        continue
      }
      let touch = delta.assets[number] ?? Delta.Touch(before: row, after: row, isVisiblyChanged: false)
      delta.assets[number] = try Self.revert(entry, of: number, touch)
      if delta.context[number] == nil { delta.context[number] = notes.places[number] }
    }
    // Nothing but edits touched these, so they are in the store as they were at the end. In the order of the store.
    untouched.sort()
    let (projections, runs) = (core.projections, untouched.inRuns(of: Self.commitsAtOnce).map(Array.init))
    let found = try t.onSeveralCores(runs.count) { index, t in
      try runs[index].compactMap { number in
        try composition.entries[number].map { entry in
          let row = try projections.asset(number, in: t)
          let touch = Delta.Touch(before: row, after: row, isVisiblyChanged: false)
          return (number, try Self.revert(entry, of: number, touch), try projections.places(of: number, in: t))
        }
      }
    }
    for (number, touch, places) in found.joined() {
      delta.assets[number] = touch
      delta.context[number] = places
    }
    delta.noteErased()
  }

  private static func revert(
    _ entry: EditComposition.Entry, of number: ObjectNumber, _ touch: Delta.Touch<AssetRow>
  ) throws -> Delta.Touch<AssetRow> {
    var touch = touch
    if var before = touch.before {
      try checked { () throws(RowMismatch) in try entry.inverse(of: number).apply(to: &before) }
      touch.before = before
    }
    touch.isVisiblyChanged = touch.isVisiblyChanged || entry.isVisiblyChanged
    touch.isChangedForLimited = touch.isChangedForLimited || entry.isChangedForLimited
    touch.isContentChanged = touch.isContentChanged || entry.isContentChanged
    return touch
  }

  private static func checked<R>(_ body: () throws(RowMismatch) -> R) throws -> R {
    do {
      return try body()
    } catch {
      throw error.corruption
    }
  }
}

/// What is recorded of the objects that a walk back meets.
private struct Notes {
  let projections: Projections
  let readsDetails: Bool
  /// Where each object stands, and the files and words of each asset.
  private(set) var places: [ObjectNumber: [ContainerPlace]] = [:]
  private(set) var details: [ObjectNumber: AssetDetails?] = [:]
  /// The delta of the commits that are reverted, unless they are skipped.
  var delta = Delta(from: 0, to: 0, lastSequence: 0)
  var isRecording = false
  /// The objects of a commit that are not known to look different, with their rows after it.
  private var unsettledAssets: [ObjectNumber: AssetRow?] = [:]
  private var unsettledCollections: [ObjectNumber: CollectionRow?] = [:]

  init(projections: Projections, readsDetails: Bool) {
    (self.projections, self.readsDetails) = (projections, readsDetails)
  }

  /// Records the places, files and words of an asset whose creation has them.
  mutating func begin(_ existence: AssetExistence) {
    places[existence.row.number] = existence.places
    if readsDetails { details.updateValue(existence.details, forKey: existence.row.number) }
  }

  /// Records an asset as it is after the event that is reverted next, unless a later event of its commit already did.
  mutating func meet(asset number: ObjectNumber, _ row: AssetRow?, _ t: borrowing StoreReading) throws {
    if places[number] == nil {
      places[number] = try projections.places(of: number, in: t)
      if readsDetails { details.updateValue(try projections.details(number, in: t), forKey: number) }
    }
    guard isRecording, unsettledAssets[number] == nil, delta.assets[number]?.isChangedForLimited != true else { return }
    unsettledAssets.updateValue(row, forKey: number)
    guard delta.assets[number] == nil else { return }
    delta.assets[number] = Delta.Touch(before: nil, after: row, isVisiblyChanged: false)
    if let words = details[number] { delta.details[number] = Delta.DetailsTouch(before: nil, after: words) }
    delta.context[number] = places[number]
  }

  /// The same for a collection.
  mutating func meet(collection number: ObjectNumber, _ row: CollectionRow?, _ t: borrowing StoreReading) throws {
    if places[number] == nil { places[number] = try projections.places(of: number, in: t) }
    guard isRecording, unsettledCollections[number] == nil else { return }
    let touch = delta.collections[number]
    if touch?.isVisiblyChanged == true, touch?.isChangedForLimited == true { return }
    unsettledCollections.updateValue(row, forKey: number)
    guard touch == nil else { return }
    delta.collections[number] = Delta.Touch(before: nil, after: row, isVisiblyChanged: false)
    delta.context[number] = places[number]
  }

  mutating func replaceDetails(of number: ObjectNumber, _ later: AssetDetails?, _ earlier: AssetDetails?) throws {
    if readsDetails { try replace(&details[number, default: nil], of: number, from: later, to: earlier) }
  }

  /// Records the places, the content and the permissions that a reverted event changed.
  mutating func add(_ event: Event) {
    event.forEachPlacement { place in
      // Events come newest first, so the first one has the final place.
      if isRecording {
        let member = ContainerMember(container: place.container, child: place.child)
        delta.places[member] = Delta.Placing(
          before: place.old, after: delta.places[member].map(\.after) ?? place.new)
      }
      places[place.child]?.move(in: place.container, to: place.old)
    }
    guard isRecording else { return }
    if let change = event.readAccessChange {
      // As above, the first one has the final status.
      delta.clients[change.client, default: change.status].old = change.status.old
    }
    switch event {
    case .assetsEdited(let edited):
      for edit in edited.edits where edit.changesVisibleDetails {
        if edit.changesContent { delta.assets[edit.number]?.isContentChanged = true }
        delta.assets[edit.number]?.isVisiblyChanged = true
        delta.assets[edit.number]?.isChangedForLimited = true
      }
    case .assetErased: delta.hasErasure = true
    case .libraryCreated, .assetCreated, .assetPurged, .collectionCreated, .collectionErased, .collectionEdited,
      .arranged, .clientRegistered, .clientErased, .clientEdited, .pickRecorded, .pickErased, .historyShortened,
      .libraryForked, .nothingChanged:
      break
    }
  }

  /// Records which objects the reverted commit changed.
  mutating func settle(_ overlay: StateOverlay) {
    // An iteration passes over the whole capacity, even if there is nothing in it.
    if !unsettledAssets.isEmpty {
      for (number, after) in unsettledAssets {
        let before = overlay.assets[number] ?? nil
        guard after != before else { continue }
        delta.assets[number]?.isVisiblyChanged = true
        if after?.unstacked != before?.unstacked { delta.assets[number]?.isChangedForLimited = true }
      }
    }
    if !unsettledCollections.isEmpty { settleCollections(overlay) }
    unsettledAssets.clear()
    unsettledCollections.clear()
  }

  private mutating func settleCollections(_ overlay: StateOverlay) {
    for (number, after) in unsettledCollections {
      let before = overlay.collections[number] ?? nil
      let creator = (after ?? before)?.creatorsAccess ?? .full
      if before?.visible != after?.visible { delta.collections[number]?.isVisiblyChanged = true }
      if before?.seen(by: creator).visible != after?.seen(by: creator).visible {
        delta.collections[number]?.isChangedForLimited = true
      }
    }
  }
}

extension [ContainerPlace] {
  /// Gives the place in one container, of which there is at most one, another key; nil takes it away.
  fileprivate mutating func move(in container: ObjectNumber, to key: OrderKey?) {
    removeAll { $0.container == container }
    if let key { append(ContainerPlace(container: container, key: key)) }
  }
}

extension Dictionary {
  /// Removes everything, and keeps no more than a small capacity: an iteration passes over all of it.
  fileprivate mutating func clear() { if !isEmpty { removeAll(keepingCapacity: capacity <= 1024) } }

  /// Sets every value in place.
  fileprivate mutating func setEach(_ body: (Key, inout Value) -> Void) {
    var index = startIndex
    while index != endIndex {
      body(keys[index], &values[index])
      formIndex(after: &index)
    }
  }
}
