import EventLog
import LMDB

// Reading deltas back from the log.
//
// The projections hold the state of the last commit only; the rows before and after each commit in between are worked
// out by walking the events backward and carrying their inverses out:
//
//     log        … e17 │ e18 e19 │ e20 │ e21 e22 │ head
//     rows              ←─────── ←──── ←──────── rows of the projections
//     deltas           │  40→41  │41→42│  42→43  │
//
// Objects that were created inside the range are computed forward from their creation, so that following an import
// reads only its events. Both directions use the functions of RowChanges.swift.
//
// A lagging follower needs the range as one delta. Then no intermediate states are recorded: an object's row is
// recorded at its last event, and again at the beginning. The rows at both ends do not show whether a property was
// changed and changed back; so the rows before and after a commit are compared, until an object is known to have
// changed. The edits of assets, which are most of a log, need not even be kept: they are composed as they are read
// (EditComposition.swift), and reverted once.

/// Computes the effects of the commits of a log range.
struct DeltaReader {
  let log: EventLog
  let projections: Projections

  private var assets: [ObjectNumber: AssetRow?] = [:]
  private var collections: [ObjectNumber: CollectionRow?] = [:]
  private var places: [ObjectNumber: [ContainerPlace]] = [:]
  private var details: [ObjectNumber: AssetDetails?] = [:]
  /// Whether the files and words of assets are read as well.
  private let readsDetails: Bool
  /// The objects whose states are worked out forward from their creation: each event must be loaded once for them.
  private var createdHere: Set<ObjectNumber> = []

  init(log: EventLog, projections: Projections, readsDetails: Bool = false) {
    self.log = log
    self.projections = projections
    self.readsDetails = readsDetails
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
  mutating func deltas<T: TransactionReading & ~Copyable>(
    after commit: UInt64, through limit: UInt64? = nil, in t: borrowing T
  ) throws -> [Delta] {
    let commits = try log.commits(after: commit, in: t)
    let head = try log.head(t).commit
    if head > commit { try Self.checkRows(commits, after: commit, Int(clamping: head - commit)) }
    loaded = try Self.read(commits, log, projections, t)
    try loadStates(touchedBy: loaded, in: t)
    if let limit { try skip(after: limit) }
    var deltas: [Delta] = []
    deltas.reserveCapacity(loaded.count)
    while let one = loaded.popLast() {
      let number = one.commit.number
      var delta = Delta(from: number - 1, to: number, lastSequence: one.commit.lastSequence)
      delta.commits = [CommitSummary(one.commit)]
      delta.hasDetails = readsDetails
      try goBack(over: [one], in: &delta)
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
    let wanted = commits.prefix { $0.number <= limit }
    guard let last = wanted.last, wanted.count == Int(last.number - commit) else { return nil }
    try loadStates(touchedBy: loaded, in: t)
    try skip(after: limit)
    var delta = Delta(from: commit, to: last.number, lastSequence: last.lastSequence)
    delta.commits = wanted.map { CommitSummary($0) }
    delta.hasDetails = readsDetails
    try goBack(over: loaded, in: &delta)
    if let composition { try takeBack(composition, in: &delta, t) }
    return delta
  }

  /// Reads the events of commits that follow one another.
  private static func read<T: TransactionReading & ~Copyable>(
    _ commits: [Commit], _ log: EventLog, _ projections: Projections, _ t: borrowing T
  ) throws -> [LoadedCommit] {
    guard let first = commits.first, let last = commits.last else { return [] }
    var loaded: [LoadedCommit] = []
    var index = 0
    try log.read(after: first.firstSequence - 1, in: t) { record in
      if record.sequence > last.lastSequence { return .stop }
      if record.sequence > commits[index].lastSequence { index += 1 }
      guard index < commits.count, record.commit == commits[index].number else {
        throw LibraryError(.corrupted, "The log has no row for commit \(record.commit); run `verify`.")
      }
      if loaded.last?.commit.number != record.commit { loaded.append(LoadedCommit(commit: commits[index])) }
      loaded[loaded.count - 1].events.append(try projections.event(record, in: t))
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
    let (log, projections, width) = (log, projections, UInt64(Self.commitsAtOnce))
    var (commits, kept) = ([Commit](), [LoadedCommit]())
    let head = try log.head(t).commit
    var reached = commit
    while reached < head {
      // A damaged head can name any number, so no more is planned than is read next.
      let start = reached
      let partCount = min(UInt64(Self.partsAtOnce), (head - start - 1) / width + 1)
      let parts = try t.onSeveralCores(Int(partCount)) { index, t in
        let after = start + UInt64(index) * width
        let count = Int(min(width, head - after))
        let commits = try log.commits(after: after, limit: count, in: t)
        try Self.checkRows(commits, after: after, count)
        return (commits, try Self.read(commits, log, projections, t))
      }
      reached = start + min(partCount * width, head - start)
      for part in parts { commits += part.0 }
      for var one in parts.lazy.flatMap(\.1) {
        let number = one.commit.number
        if number <= limit, composition != nil {
          one.events = try one.events.compactMap { event in
            try checked { () throws(RowMismatch) in try composition?.add(event, of: number) }
          }
        }
        if !one.events.isEmpty { kept.append(one) }
      }
    }
    return (commits, kept)
  }

  // MARK: The state at the end of the range

  private mutating func loadStates<T: TransactionReading & ~Copyable>(
    touchedBy loaded: [LoadedCommit], in t: borrowing T
  ) throws {
    for one in loaded {
      for event in one.events { try load(event, in: t) }
    }
  }

  private mutating func load<T: TransactionReading & ~Copyable>(_ event: Event, in t: borrowing T) throws {
    switch event {
    case .assetCreated(let existence) where composition != nil:
      // Its edits are not among the events, so it is not worked out from its creation.
      try loadAsset(existence.row.number, event, in: t)
      for place in existence.places { try loadContainer(place.container, event, in: t) }
    case .assetCreated(let existence):
      assets.updateValue(existence.row, forKey: existence.row.number)
      if readsDetails { details.updateValue(existence.details, forKey: existence.row.number) }
      // What an undo brings back comes with its places.
      places[existence.row.number] = existence.places
      createdHere.insert(existence.row.number)
      for place in existence.places { try loadContainer(place.container, event, in: t) }
    case .collectionCreated(let existence):
      collections.updateValue(existence.row, forKey: existence.row.number)
      places[existence.row.number] = [ContainerPlace(container: existence.row.parent, key: existence.key)]
      createdHere.insert(existence.row.number)
      try loadCollection(existence.row.parent, event, in: t)
    case .assetPurged(let existence):
      try loadAsset(existence.row.number, event, in: t)
      if createdHere.contains(existence.row.number) { places[existence.row.number] = [] }
      // The albums look the same without it, but a result of its albums loses them.
      for place in existence.places { try loadContainer(place.container, event, in: t) }
    case .assetsEdited(let edited):
      for edit in edited.edits { try loadAsset(edit.number, event, in: t) }
      for shift in edited.shifts { try loadCollection(shift.album, event, in: t) }
    case .collectionEdited(let edited): try loadCollection(edited.number, event, in: t)
    case .arranged(let arranged):
      if !arranged.verb.isAboutAccess { try loadCollection(arranged.container, event, in: t) }
      for shift in arranged.shifts { try loadCollection(shift.album, event, in: t) }
      let holdsAssets = arranged.verb.isAboutAccess || kind(of: arranged.container) == .album
      for place in arranged.places {
        if holdsAssets {
          try loadAsset(place.child, event, in: t)
        } else {
          try loadCollection(place.child, event, in: t)
        }
        if createdHere.contains(place.child) { move(place.child, in: arranged.container, to: place.new) }
      }
    case .libraryCreated, .collectionErased, .nothingChanged, .clientRegistered, .clientErased, .clientEdited,
      .pickRecorded, .pickErased, .historyShortened, .assetErased, .libraryForked:
      break
    }
  }

  private mutating func loadAsset<T: TransactionReading & ~Copyable>(
    _ number: ObjectNumber, _ event: Event, in t: borrowing T
  ) throws {
    if createdHere.contains(number) {
      try checked { () throws(RowMismatch) in try apply(event, toAsset: number, &assets[number]!) }
      if details[number] != nil {
        try checked { () throws(RowMismatch) in try apply(event, toAsset: number, &details[number]!) }
      }
    } else if assets[number] == nil {
      assets.updateValue(try projections.asset(number, in: t), forKey: number)
      if readsDetails { details.updateValue(try projections.details(number, in: t), forKey: number) }
      places[number] = try projections.places(of: number, in: t)
    }
  }

  private mutating func loadCollection<T: TransactionReading & ~Copyable>(
    _ number: ObjectNumber, _ event: Event, in t: borrowing T
  ) throws {
    if createdHere.contains(number) {
      try checked { () throws(RowMismatch) in try apply(event, toCollection: number, &collections[number]!) }
    } else if collections[number] == nil {
      collections.updateValue(try projections.collection(number, in: t), forKey: number)
      places[number] = try projections.places(of: number, in: t)
    }
  }

  /// Loads a container that may be a selection or a pick, which have no row of a collection.
  private mutating func loadContainer<T: TransactionReading & ~Copyable>(
    _ number: ObjectNumber, _ event: Event, in t: borrowing T
  ) throws {
    if collections[number] == nil, try projections.collection(number, in: t) == nil { return }
    try loadCollection(number, event, in: t)
  }

  private func kind(of container: ObjectNumber) -> PhotoCollection.Kind? { collections[container]??.kind }

  private mutating func move(_ child: ObjectNumber, in container: ObjectNumber, to key: OrderKey?) {
    places[child, default: []].removeAll { $0.container == container }
    if let key { places[child, default: []].append(ContainerPlace(container: container, key: key)) }
  }

  // MARK: Back over commits

  /// Reverts the commits after one without reporting them.
  private mutating func skip(after limit: UInt64) throws {
    while let last = loaded.last, last.commit.number > limit {
      for event in last.events.reversed() { try undo(event) }
      loaded.removeLast()
    }
  }

  /// Goes back over commits, given oldest first, and notes what they did as one.
  private mutating func goBack(over loaded: [LoadedCommit], in delta: inout Delta) throws {
    for one in loaded { noteClients(of: one, in: &delta) }
    for one in loaded.reversed() {
      let unsettled = noteStates(after: one, in: &delta)
      for event in one.events.reversed() {
        notePlaces(of: event, in: &delta)
        try undo(event)
      }
      settle(unsettled, in: &delta)
    }
    delta.assets.setEach { number, touch in touch.before = assets[number] ?? nil }
    delta.details.setEach { number, touch in touch.before = details[number] ?? nil }
    delta.noteErased()
    delta.collections.setEach { number, touch in touch.before = collections[number] ?? nil }
  }

  /// Takes the composed edits of assets back.
  private func takeBack(_ composition: EditComposition, in delta: inout Delta, _ t: borrowing StoreReading) throws {
    delta.assets.reserveCapacity(delta.assets.count + composition.entries.count)
    delta.context.reserveCapacity(delta.context.count + composition.entries.count)
    var untouched: [ObjectNumber] = []
    for (number, entry) in composition.entries {
      guard let row = assets[number] else {
        untouched.append(number)
        continue
      }
      let touch = delta.assets[number] ?? Delta.Touch(before: row, after: row, isVisiblyChanged: false)
      delta.assets[number] = try Self.takeBack(entry, of: number, touch)
      if delta.context[number] == nil { delta.context[number] = places[number] }
    }
    // Nothing but edits touched these, so they are in the store as they were at the end. In the order of the store.
    untouched.sort()
    let (projections, runs) = (projections, untouched.inRuns(of: Self.commitsAtOnce).map(Array.init))
    let found = try t.onSeveralCores(runs.count) { index, t in
      try runs[index].compactMap { number in
        try composition.entries[number].map { entry in
          let row = try projections.asset(number, in: t)
          let touch = Delta.Touch(before: row, after: row, isVisiblyChanged: false)
          return (number, try Self.takeBack(entry, of: number, touch), try projections.places(of: number, in: t))
        }
      }
    }
    for (number, touch, places) in found.joined() {
      delta.assets[number] = touch
      delta.context[number] = places
    }
    delta.noteErased()
  }

  private static func takeBack(
    _ entry: EditComposition.Entry, of number: ObjectNumber, _ touch: Delta.Touch<AssetRow>
  ) throws -> Delta.Touch<AssetRow> {
    var touch = touch
    if var before = touch.before {
      try checked { () throws(RowMismatch) in try entry.inverse(of: number).apply(to: &before) }
      touch.before = before
    }
    touch.isVisiblyChanged = touch.isVisiblyChanged || entry.isVisiblyChanged
    touch.isContentChanged = touch.isContentChanged || entry.isContentChanged
    return touch
  }

  /// The objects of a commit that are not known to look different, with their rows after it.
  private struct Unsettled {
    var assets: [(number: ObjectNumber, after: AssetRow?)] = []
    var collections: [(number: ObjectNumber, after: CollectionRow?)] = []
  }

  /// Records the final positions of the objects of a commit, unless a later one already did.
  private func noteStates(after one: LoadedCommit, in delta: inout Delta) -> Unsettled {
    var unsettled = Unsettled()
    for event in one.events {
      for number in event.touched {
        if let row = assets[number] {
          let touch = delta.assets[number]
          if touch == nil {
            delta.assets[number] = Delta.Touch(before: nil, after: row, isVisiblyChanged: false)
            if let words = details[number] { delta.details[number] = Delta.DetailsTouch(before: nil, after: words) }
          }
          if touch?.isVisiblyChanged != true { unsettled.assets.append((number, row)) }
        } else if let row = collections[number] {
          let touch = delta.collections[number]
          if touch == nil { delta.collections[number] = Delta.Touch(before: nil, after: row, isVisiblyChanged: false) }
          if touch?.isVisiblyChanged != true || touch?.isChangedForCreator != true {
            unsettled.collections.append((number, row))
          }
        }
        if let standing = places[number], delta.context[number] == nil { delta.context[number] = standing }
      }
      if case .assetsEdited(let edited) = event {
        for edit in edited.edits where edit.changesContent {
          delta.assets[edit.number]?.isContentChanged = true
          delta.assets[edit.number]?.isVisiblyChanged = true
        }
      }
    }
    return unsettled
  }

  /// Records which objects the reverted commit changed.
  private func settle(_ unsettled: Unsettled, in delta: inout Delta) {
    for (number, after) in unsettled.assets where after != assets[number] ?? nil {
      delta.assets[number]?.isVisiblyChanged = true
    }
    for (number, after) in unsettled.collections {
      let before = collections[number] ?? nil
      let creator = (after ?? before).map { Access.limited($0.creator) } ?? .full
      if before?.visible != after?.visible { delta.collections[number]?.isVisiblyChanged = true }
      if before?.seen(by: creator).visible != after?.seen(by: creator).visible {
        delta.collections[number]?.isChangedForCreator = true
      }
    }
  }

  private func noteClients(of one: LoadedCommit, in delta: inout Delta) {
    for event in one.events {
      switch event {
      case .clientRegistered(let row):
        delta.clients[row.number] = Replacement(old: .notDetermined, new: row.readWrite.status)
      case .clientEdited(let edited):
        guard let status = edited.statuses[.readWrite] else { break }
        delta.clients[edited.number] = Replacement(
          old: delta.clients[edited.number]?.old ?? status.old, new: status.new)
      default: break
      }
    }
  }

  private func notePlaces(of event: Event, in delta: inout Delta) {
    event.forEachPlacement { note($0.child, in: $0.container, from: $0.old, to: $0.new, &delta) }
  }

  /// Records a change of position; events are read newest first, so the first one has the final position.
  private func note(
    _ child: ObjectNumber, in container: ObjectNumber, from old: OrderKey?, to new: OrderKey?, _ delta: inout Delta
  ) {
    let member = ContainerMember(container: container, child: child)
    delta.places[member] = Delta.Placing(before: old, after: delta.places[member].map(\.after) ?? new)
  }

  private mutating func undo(_ event: Event) throws {
    let inverse = event.inverse
    for number in event.touched {
      if assets[number] != nil {
        try checked { () throws(RowMismatch) in try apply(inverse, toAsset: number, &assets[number]!) }
        if details[number] != nil {
          try checked { () throws(RowMismatch) in try apply(inverse, toAsset: number, &details[number]!) }
        }
      } else if collections[number] != nil {
        try checked { () throws(RowMismatch) in try apply(inverse, toCollection: number, &collections[number]!) }
      }
    }
    switch event {
    case .arranged(let arranged):
      for place in arranged.places { move(place.child, in: arranged.container, to: place.old) }
    case .collectionCreated(let existence): places[existence.row.number] = []
    case .assetPurged(let existence):
      for place in existence.places { move(existence.row.number, in: place.container, to: place.key) }
    case .assetCreated(let existence):
      for place in existence.places { move(existence.row.number, in: place.container, to: nil) }
    default: break
    }
  }
}

extension Dictionary {
  /// Sets every value in place.
  fileprivate mutating func setEach(_ body: (Key, inout Value) -> Void) {
    var index = startIndex
    while index != endIndex {
      body(keys[index], &values[index])
      formIndex(after: &index)
    }
  }
}

private func checked<R>(_ body: () throws(RowMismatch) -> R) throws -> R {
  do {
    return try body()
  } catch {
    throw LibraryError(
      .corrupted,
      """
      The log and the store disagree about the \(error.field) of object \(error.number); \
      run `verify`, then `rebuild`.
      """)
  }
}
