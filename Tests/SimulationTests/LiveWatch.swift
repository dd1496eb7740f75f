import PhotoLedger
import TestSupport

// One live result under every kind of observer at once.
//
//   prompt    an asynchronous sequence that is asked after each commit
//   slow      an asynchronous sequence that is asked now and then, with a small backlog limit
//   told      two results that are brought forward with the details of the callback observer, commit by commit
//   lazy      the same for a callback observer that was held up
//   old       results that are never brought forward, for FR-01
//
// Each keeps what the model says its result shows (a `Ledger`), so what it receives can be compared with what happened
// since, however much that is.

/// What one commit did to one result, by the model.
struct Fact {
  var commit: UInt64
  var after: [LocalIdentifier]
  /// The objects that look different.
  var changed: Set<LocalIdentifier>
  /// Those of them that look different whatever access the client has: not the assets of which only the stack was
  /// changed, and no collection.
  var certain: Set<LocalIdentifier>
  /// The objects whose place the commit concerned.
  var touched: Set<LocalIdentifier>
  /// Whether it changed how the client sees the library.
  var isSwitch: Bool
}

/// The list that somebody holds, and what happened to it since.
///
/// Once it was touched, commits that did not touch it count too: an object that left a result, was changed and came
/// back is in the list before and after, and looks different.
struct Ledger {
  private(set) var list: [LocalIdentifier]
  private var facts: [Fact] = []
  /// The commits that touched the list.
  private(set) var pending: [UInt64] = []

  init(_ list: [LocalIdentifier]) { self.list = list }

  mutating func note(_ fact: Fact, isTouching: Bool) {
    if isTouching { pending.append(fact.commit) }
    if !pending.isEmpty { facts.append(fact) }
  }

  /// Whether the client's access was changed up to a commit.
  func hasSwitch(through commit: UInt64) -> Bool { facts.contains { $0.isSwitch && $0.commit <= commit } }

  /// The objects that look different after a change of access too, up to a commit.
  func certain(through commit: UInt64) -> Set<LocalIdentifier> {
    facts.prefix { $0.commit <= commit }.reduce(into: []) { $0.formUnion($1.certain) }
  }

  /// How many commits there are up to one.
  func count(through commit: UInt64) -> Int { facts.count { $0.commit <= commit } }

  /// The change up to a commit.
  func change(through commit: UInt64) -> (change: ListChange<LocalIdentifier>, touched: Set<LocalIdentifier>) {
    let facts = facts.prefix { $0.commit <= commit }
    let change = ListChange(
      before: list, after: facts.last?.after ?? list, changed: facts.reduce(into: []) { $0.formUnion($1.changed) })
    return (change, facts.reduce(into: []) { $0.formUnion($1.touched) })
  }

  mutating func advance(through commit: UInt64) {
    let facts = facts.prefix { $0.commit <= commit }
    list = facts.last?.after ?? list
    self.facts.removeFirst(facts.count)
    pending.removeAll { $0 <= commit }
  }
}

/// One commit, as the model and the observers have it.
struct CommitFacts {
  /// The same as one client has it.
  struct View {
    /// The objects that look different to the client.
    var changed: Set<LocalIdentifier>
    /// What its observer received; nil if there was nothing to deliver.
    var change: LibraryChange?
    /// How the client names the commit.
    var name: UInt64?
    /// Whether the commit changed how the client sees the library.
    var isSwitch: Bool
  }

  let number: UInt64
  let before: ModelLibrary
  let after: ModelLibrary
  let views: [String: View]
}

/// A live result of any kind of object.
protocol LiveWatching: AnyObject {
  var query: ModelQuery { get }
  /// The results that an index edit may count on, with what they show.
  func bases() -> [Basis]
  func step(_ facts: CommitFacts, _ random: inout SeededGenerator) async throws
  func drain(_ random: inout SeededGenerator) async throws
  /// Takes what a held up observer of the client received, up to a commit.
  func tellLazily(_ change: LibraryChange, through commit: UInt64) throws
}

final class LiveWatch<Element: CheckedObject>: LiveWatching {
  let query: ModelQuery
  private let library: PhotoLibrary
  private let reader: PhotoLibrary
  private let fetch: Fetcher<Element>
  private var current: [LocalIdentifier]

  private var prompt: ResultChanges<Element>.Iterator
  private var promptHeld: FetchResult<Element>
  private var promptBeyond: [LocalIdentifier]
  private var promptEyes: ModelEyes

  private var slow: ResultChanges<Element>.Iterator
  private var slowLedger: Ledger
  private var slowListens = false
  private let slowLimit: Int
  /// Up to where the slow follower knew of so few commits that it delivers them one by one, whatever came since.
  private var slowKnown: UInt64 = 0

  private var told: [FetchResult<Element>]
  private var lazy: FetchResult<Element>
  private var lazyLedger: Ledger
  private var old: [OldResult<Element>] = []

  init(_ query: ModelQuery, _ library: PhotoLibrary, _ reader: PhotoLibrary, _ model: ModelLibrary, slowLimit: Int)
    throws
  {
    self.query = query
    self.library = library
    self.reader = reader
    self.slowLimit = slowLimit
    fetch = try Element.fetcher(query, in: library)
    let result = try fetch(library)
    current = model.fetch(query)
    promptBeyond = model.beyond(query)
    promptEyes = model.eyes(of: query.client)
    (promptHeld, told, lazy) = (result, [result, try fetch(library)], result)
    // Without a limit: commits that touch only what a window does not show would count towards it.
    prompt = library.changes(to: result, composingBeyond: .max).makeAsyncIterator()
    slow = library.changes(to: result, composingBeyond: slowLimit).makeAsyncIterator()
    slowLedger = Ledger(current)
    lazyLedger = Ledger(current)
    do {
      try verify(result, shows: current, in: model, whole: true)
    } catch {
      throw Divergence("'\(query)', at the beginning: \(error)")
    }
  }

  func bases() -> [Basis] {
    let container: LocalIdentifier?? = if case .members(let id) = query.scope { .some(id) } else { nil }
    return [Basis(promptHeld, container, shown: current, beyond: promptBeyond, eyes: promptEyes)]
      + old.map { Basis($0.result, container, shown: $0.list, beyond: $0.beyond, eyes: $0.eyes) }
  }

  // MARK: One commit

  func step(_ facts: CommitFacts, _ random: inout SeededGenerator) async throws {
    do {
      guard let view = facts.views[query.client] else { throw Divergence("What \(query.client) saw was never asked.") }
      let after = facts.after.fetch(query)
      let fact = Fact(
        commit: facts.number, after: after, changed: view.changed,
        certain: query.entity == .collection
          ? [] : view.changed.filter { facts.after.differs($0, from: facts.before, to: .none) },
        touched: facts.after.touched(query, since: facts.before, placed: facts.after.placed), isSwitch: view.isSwitch)
      let change = ListChange(before: current, after: after, changed: view.changed)
      try tell(change, fact, facts)
      slowLedger.note(fact, isTouching: change.isTouched)
      lazyLedger.note(fact, isTouching: change.isTouched)
      if change.isTouched { try await follow(change, fact, facts) }
      current = after
      try look(facts, &random)
      if random.chance(1, of: 10) || slowLedger.pending.count > 30 { try await drain(&random) }
    } catch let error as Divergence {
      throw Divergence("'\(query)', commit \(facts.number): \(error)")
    }
  }

  /// The details that a callback observer is given.
  private func tell(_ change: ListChange<LocalIdentifier>, _ fact: Fact, _ facts: CommitFacts) throws {
    guard let told = facts.views[query.client]?.change else {
      return try demand(!change.isTouched, "The observer of \(query.client) received nothing (AU-04).")
    }
    try tell(told, change, fact, facts)
  }

  private func tell(
    _ seen: LibraryChange, _ change: ListChange<LocalIdentifier>, _ fact: Fact, _ facts: CommitFacts
  ) throws {
    for (index, result) in told.enumerated() {
      let details = try seen.changeDetails(for: result)
      try demand(
        (details != nil) == change.isTouched,
        "The observer's details are \(details == nil ? "nil" : "there") (CD-01).")
      guard let details else { continue }
      try demand(
        details.fetchResultBeforeChanges.numbers == result.numbers, "Before is not what was passed in (CD-02).")
      try check(details, change, fact, facts)
      told[index] = details.fetchResultAfterChanges
    }
  }

  private func follow(_ change: ListChange<LocalIdentifier>, _ fact: Fact, _ facts: CommitFacts) async throws {
    guard let details = try await prompt.next() else { throw Divergence("The sequence of changes ended.") }
    let numbers = details.commits.map(\.number)
    let name = facts.views[query.client]?.name
    try demand(
      numbers == [name], "A prompt follower received the commits \(numbers) instead of \(name ?? 0) (CD-23).")
    try demand(details.fetchResultBeforeChanges.numbers == promptHeld.numbers, "Before is not what was held (CD-02).")
    try check(details, change, fact, facts)
    promptHeld = details.fetchResultAfterChanges
    promptBeyond = facts.after.beyond(query)
    promptEyes = facts.after.eyes(of: query.client)
  }

  private func check(
    _ details: ChangeDetails<Element>, _ change: ListChange<LocalIdentifier>, _ fact: Fact, _ facts: CommitFacts
  ) throws {
    do {
      try change.check(details, touched: fact.touched, exactly: !query.hasManualOrder)
    } catch let error as Divergence {
      throw Divergence("\(error) \(change.text(fact.touched))")
    }
    try verify(details.fetchResultAfterChanges, shows: change.after, in: facts.after, whole: false)
    try demand(
      details.insertedObjects().map(\.seen)
        == change.inserted.map { expected(change.after[$0], facts.after) },
      "The inserted objects are wrong (CD-08).")
    try demand(
      details.changedObjects().map(\.seen)
        == change.changed.map { expected(change.after[$0], facts.after) },
      "The changed objects are wrong (CD-08).")
    try demand(
      details.removedObjects().map(\.seen)
        == change.removed.map { expected(change.before[$0], facts.before) },
      "The removed objects are wrong (CD-08).")
  }

  /// Whether a result shows what it must; every object of it, or only how many.
  private func verify(
    _ result: FetchResult<Element>, shows list: [LocalIdentifier], in model: ModelLibrary, whole: Bool
  ) throws {
    try demand(result.count == list.count, "A result has \(result.count) objects, not \(list.count).")
    guard whole else { return }
    let seen = result.map { $0 }
    try demand(seen.map(\.id) == list, "A result shows \(seen.map(\.id.short)), not \(list.map(\.short)).")
    for object in seen where object.seen != expected(object.id, model) {
      throw Divergence(
        "An object of a result is \(object.seen), not \(String(describing: expected(object.id, model))).")
    }
  }

  private func expected(_ id: LocalIdentifier, _ model: ModelLibrary) -> Element.Model? {
    Element.expected(id, in: model, for: query.client)
  }

  // MARK: Now and then

  /// Looks at the whole result, fetches it anew, and looks at results of earlier commits.
  private func look(_ facts: CommitFacts, _ random: inout SeededGenerator) throws {
    if random.chance(1, of: 16) { try verify(promptHeld, shows: current, in: facts.after, whole: true) }
    if random.chance(1, of: 16) {
      let fresh = try fetch(reader)
      try verify(fresh, shows: current, in: facts.after, whole: true)
      try demand(fresh.numbers == promptHeld.numbers, "A new fetch differs from the result that was followed (CD-03).")
      old.append(OldResult(fresh, current, query, facts.after))
      if old.count > 3 { old.remove(at: random.int(0..<4)) }
    }
    if random.chance(1, of: 6) {
      let fresh = try fetch(library)
      try verify(fresh, shows: current, in: facts.after, whole: false)
      told[random.int(0..<told.count)] = fresh
    }
    if !old.isEmpty, random.chance(1, of: 6) {
      let all = Element.all(in: facts.after)
      let other = all.isEmpty ? nil : try Element.find(random.one(of: all), in: library)
      try random.one(of: old).check(&random, other)
    }
  }

  /// Asks the slow follower for all that it can deliver.
  func drain(_ random: inout SeededGenerator) async throws {
    while let last = slowLedger.pending.last {
      // A sequence of which nothing is to come would be waited for without end.
      let isSwitched = slowLedger.hasSwitch(through: last)
      let isSingle =
        slowListens && !isSwitched && !query.hasWindow && !query.hasManualOrder
        && slowLedger.pending.count <= slowLimit
      guard isSingle || isSure(slowLedger.change(through: last).change, slowLedger, last) else { return }
      guard let details = try await slow.next() else { throw Divergence("The sequence of changes ended.") }
      let through = details.fetchResultAfterChanges.commit
      if isSingle {
        let pending = slowLedger.pending
        try demand(
          through >= pending[0] && (pending.count == 1 || through < pending[1]),
          "'\(query)': a slow follower received \(through) too early.")
      } else if !isSwitched, slowLedger.pending.count > slowLimit {
        try demand(
          through >= last || through <= slowKnown,
          "'\(query)': a slow follower received \(through), not all up to \(last).")
      }
      if slowLedger.pending.count <= slowLimit { slowKnown = last }
      slowListens = true
      let (change, touched) = slowLedger.change(through: through)
      do {
        try check(details, change, touched, slowLedger, through)
      } catch {
        throw Divergence(
          "'\(query)', composed \(details.commits.map(\.number)): \(error) \(change.text(touched))")
      }
      slowLedger.advance(through: through)
    }
  }

  /// What several commits did to the result.
  ///
  /// A change of access is computed by comparing the rows before and after: what was changed and changed back behind
  /// it, or was seen in between only, does not look different.
  private func check(
    _ details: ChangeDetails<Element>, _ change: ListChange<LocalIdentifier>, _ touched: Set<LocalIdentifier>,
    _ ledger: Ledger, _ through: UInt64
  ) throws {
    guard ledger.hasSwitch(through: through), ledger.count(through: through) > 1 else {
      return try change.check(details, touched: touched, exactly: false)
    }
    let told = Set((details.changedIndexes ?? []).map { change.after[$0] })
    let all = Set(change.changed.map { change.after[$0] })
    try demand(told.isSubset(of: all), "Objects are reported to look different that were not changed.")
    try demand(
      ledger.certain(through: through).intersection(all).isSubset(of: told),
      "Objects were changed and are not reported to look different.")
    try ListChange(before: change.before, after: change.after, changed: told)
      .check(details, touched: touched, exactly: false)
  }

  /// Whether there must be something to deliver of several commits.
  private func isSure(_ change: ListChange<LocalIdentifier>, _ ledger: Ledger, _ through: UInt64) -> Bool {
    guard ledger.hasSwitch(through: through) else { return change.isTouched }
    let all = Set(change.changed.map { change.after[$0] })
    return change.before != change.after || !ledger.certain(through: through).isDisjoint(with: all)
  }

  /// The details that a held up callback observer is given.
  func tellLazily(_ seen: LibraryChange, through: UInt64) throws {
    let details = try seen.changeDetails(for: lazy)
    let (change, touched) = lazyLedger.change(through: through)
    do {
      let isSettled = details == nil && !isSure(change, lazyLedger, through)
      try demand(
        isSettled || (details != nil) == change.isTouched,
        "The details are \(details == nil ? "nil" : "there") (CD-01).")
      if let details {
        try check(details, change, touched, lazyLedger, through)
        lazy = details.fetchResultAfterChanges
        lazyLedger.advance(through: through)
      }
    } catch let error as Divergence {
      throw Divergence("'\(query)', delivered late, through \(through): \(error) \(change.text(touched))")
    }
  }
}

/// A result that is never brought forward, and what it showed when it was fetched.
struct OldResult<Element: CheckedObject> {
  let result: FetchResult<Element>
  let list: [LocalIdentifier]
  let beyond: [LocalIdentifier]
  let eyes: ModelEyes
  let objects: [Element.Model?]

  init(_ result: FetchResult<Element>, _ list: [LocalIdentifier], _ query: ModelQuery, _ model: ModelLibrary) {
    self.result = result
    self.list = list
    beyond = model.beyond(query)
    eyes = model.eyes(of: query.client)
    objects = list.map { Element.expected($0, in: model, for: query.client) }
  }

  /// FR-01: values and positions are those of the commit; and whether an object is in it.
  func check(_ random: inout SeededGenerator, _ other: Element?) throws {
    try demand(result.count == list.count, "An old result has \(result.count) objects, not \(list.count) (FR-01).")
    for position in random.positions(2, of: list.count) {
      let object = try result.object(at: position)
      try demand(
        object.seen == objects[position],
        "An old result shows \(object.seen), not \(String(describing: objects[position])) (FR-01).")
      let found = try Element.index(of: object, in: result)
      try demand(found == position, "An old result has its object \(position) at \(String(describing: found)).")
    }
    guard let other else { return }
    let found = try Element.index(of: other, in: result)
    try demand(
      found == list.firstIndex(of: other.id),
      "An old result has \(other.id.short) at \(String(describing: found)) (FR-03).")
  }
}

extension ModelQuery {
  var hasManualOrder: Bool {
    if case .members = scope { options.sort.isEmpty } else { false }
  }

  var hasWindow: Bool { options.fetchLimit > 0 || options.fetchOffset > 0 }
}

extension ListChange<LocalIdentifier> {
  /// The lists, for messages.
  func text(_ touched: Set<LocalIdentifier>) -> String {
    "Before \(before.map(\.short)), after \(after.map(\.short)), placed \(touched.map(\.short).sorted())."
  }
}

extension LocalIdentifier {
  /// The first digits, for messages.
  var short: String { String(uuidString.prefix(4)) }
}
