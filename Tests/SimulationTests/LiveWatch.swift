import PhotoLedger
import TestSupport

// One live result under every kind of observer at once.
//
//   prompt    an asynchronous sequence that is asked after each commit
//   slow      an asynchronous sequence that is asked now and then, with a small backlog limit
//   told      a result that is brought forward with the details of the callback observer, commit by commit
//   lazy      the same for a callback observer that was held up
//   old       results that nobody brings forward, for FR-01
//
// Each keeps what the model says its result shows (a `Ledger`), so what it is told can be compared with what happened
// since, however much that is.

/// What one commit did to one result, by the model.
struct Fact {
  var commit: UInt64
  var after: [LocalIdentifier]
  /// The objects that look different.
  var changed: Set<LocalIdentifier>
  /// The objects whose place the commit concerned.
  var touched: Set<LocalIdentifier>
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
  let number: UInt64
  let before: ModelLibrary
  let after: ModelLibrary
  let changed: Set<LocalIdentifier>
  let change: LibraryChange
}

/// A live result of any kind of object.
protocol LiveWatching: AnyObject {
  var query: ModelQuery { get }
  /// The results that an index edit may count on, with what they show.
  func bases() -> (results: [any Sendable], lists: [[LocalIdentifier]])
  func step(_ facts: CommitFacts, _ random: inout SeededGenerator) async throws
  func drain(_ random: inout SeededGenerator) async throws
  func tellLazily(_ change: LibraryChange) throws
}

final class LiveWatch<Element: CheckedObject>: LiveWatching {
  let query: ModelQuery
  private let library: PhotoLibrary
  private let reader: PhotoLibrary
  private let fetch: Fetcher<Element>
  private var current: [LocalIdentifier]

  private var prompt: ResultChanges<Element>.Iterator
  private var promptHeld: FetchResult<Element>

  private var slow: ResultChanges<Element>.Iterator
  private var slowLedger: Ledger
  private var slowListens = false
  private let slowLimit: Int

  private var told: FetchResult<Element>
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
    (promptHeld, told, lazy) = (result, result, result)
    // Without a limit: commits that touch only what a window does not show would count towards it.
    prompt = library.changes(to: result, composingBeyond: .max).makeAsyncIterator()
    slow = library.changes(to: result, composingBeyond: slowLimit).makeAsyncIterator()
    slowLedger = Ledger(current)
    lazyLedger = Ledger(current)
    try verify(result, shows: current, in: model, whole: true)
  }

  func bases() -> (results: [any Sendable], lists: [[LocalIdentifier]]) {
    ([promptHeld] + old.map(\.result), [current] + old.map(\.list))
  }

  // MARK: One commit

  func step(_ facts: CommitFacts, _ random: inout SeededGenerator) async throws {
    do {
      let after = facts.after.fetch(query)
      let fact = Fact(
        commit: facts.number, after: after, changed: facts.changed,
        touched: facts.after.touched(query, since: facts.before, placed: facts.after.placed))
      let change = ListChange(before: current, after: after, changed: facts.changed)
      try tell(change, fact, facts)
      slowLedger.note(fact, isTouching: change.isTouched)
      lazyLedger.note(fact, isTouching: change.isTouched)
      if change.isTouched { try await follow(change, fact, facts) }
      current = after
      try look(facts, &random)
      if random.chance(1, of: 10) || slowLedger.pending.count > 30 { try await drain(&random) }
    } catch let error as Divergence {
      throw Divergence("'\(query)': \(error)")
    }
  }

  /// The details that a callback observer is given.
  private func tell(_ change: ListChange<LocalIdentifier>, _ fact: Fact, _ facts: CommitFacts) throws {
    let details = try facts.change.changeDetails(for: told)
    try demand(
      (details != nil) == change.isTouched, "The observer's details are \(details == nil ? "nil" : "there") (CD-01).")
    guard let details else { return }
    try demand(details.fetchResultBeforeChanges.numbers == told.numbers, "Before is not what was passed in (CD-02).")
    try check(details, change, fact, facts, sort: true)
    told = details.fetchResultAfterChanges
  }

  private func follow(_ change: ListChange<LocalIdentifier>, _ fact: Fact, _ facts: CommitFacts) async throws {
    guard let details = try await prompt.next() else { throw Divergence("The sequence of changes ended.") }
    let numbers = details.commits.map(\.number)
    try demand(
      numbers == [facts.number],
      "A prompt follower was told of the commits \(numbers) instead of \(facts.number) (CD-23).")
    try demand(details.fetchResultBeforeChanges.numbers == promptHeld.numbers, "Before is not what was held (CD-02).")
    try check(details, change, fact, facts, sort: true)
    promptHeld = details.fetchResultAfterChanges
  }

  private func check(
    _ details: ChangeDetails<Element>, _ change: ListChange<LocalIdentifier>, _ fact: Fact, _ facts: CommitFacts,
    sort: Bool
  ) throws {
    try change.check(details, touched: fact.touched, exactly: !query.hasManualOrder)
    try verify(details.fetchResultAfterChanges, shows: change.after, in: facts.after, whole: false)
    try demand(
      details.insertedObjects().map(\.seen)
        == change.inserted.map { Element.expected(change.after[$0], in: facts.after) },
      "The inserted objects are wrong (CD-08).")
    try demand(
      details.changedObjects().map(\.seen)
        == change.changed.map { Element.expected(change.after[$0], in: facts.after) },
      "The changed objects are wrong (CD-08).")
    try demand(
      details.removedObjects().map(\.seen)
        == change.removed.map { Element.expected(change.before[$0], in: facts.before) },
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
    for object in seen where object.seen != Element.expected(object.id, in: model) {
      throw Divergence(
        "An object of a result is \(object.seen), not \(String(describing: Element.expected(object.id, in: model))).")
    }
  }

  // MARK: Now and then

  /// Looks at the whole result, fetches it anew, and looks at results of earlier commits.
  private func look(_ facts: CommitFacts, _ random: inout SeededGenerator) throws {
    if random.chance(1, of: 16) { try verify(promptHeld, shows: current, in: facts.after, whole: true) }
    if random.chance(1, of: 16) {
      let fresh = try fetch(reader)
      try verify(fresh, shows: current, in: facts.after, whole: true)
      try demand(fresh.numbers == promptHeld.numbers, "A new fetch differs from the result that was followed (CD-03).")
      old.append(OldResult(fresh, current, facts.after))
      if old.count > 3 { old.remove(at: random.int(0..<4)) }
    }
    if random.chance(1, of: 3) {
      told = try fetch(library)
      try verify(told, shows: current, in: facts.after, whole: false)
    }
    if !old.isEmpty, random.chance(1, of: 6) {
      let all = Element.all(in: facts.after)
      let other = all.isEmpty ? nil : try Element.find(random.one(of: all), in: library)
      try random.one(of: old).check(&random, other)
    }
  }

  /// Asks the slow follower for all that it can tell.
  func drain(_ random: inout SeededGenerator) async throws {
    while let last = slowLedger.pending.last {
      // A sequence of which nothing is to come would be waited for without end.
      let isSingle = slowListens && !query.hasWindow && !query.hasManualOrder && slowLedger.pending.count <= slowLimit
      guard isSingle || slowLedger.change(through: last).change.isTouched else { return }
      guard let details = try await slow.next() else { throw Divergence("The sequence of changes ended.") }
      let through = details.commits.last?.number ?? 0
      if isSingle {
        try demand(through == slowLedger.pending[0], "A slow follower was told of \(through) too early.")
      } else if slowLedger.pending.count > slowLimit {
        try demand(through >= last, "A slow follower was told of \(through), not of all up to \(last).")
      }
      slowListens = true
      let (change, touched) = slowLedger.change(through: through)
      do {
        try change.check(details, touched: touched, exactly: false)
      } catch {
        throw Divergence(
          "'\(query)', composed \(details.commits.map(\.number)): \(error) \(change.text(touched))")
      }
      slowLedger.advance(through: through)
    }
  }

  /// The details that a held up callback observer is given.
  func tellLazily(_ facts: LibraryChange) throws {
    let through = facts.commits.last?.number ?? 0
    let details = try facts.changeDetails(for: lazy)
    let (change, touched) = lazyLedger.change(through: through)
    do {
      try demand((details != nil) == change.isTouched, "The details are \(details == nil ? "nil" : "there") (CD-01).")
      if let details {
        try change.check(details, touched: touched, exactly: false)
        lazy = details.fetchResultAfterChanges
        lazyLedger.advance(through: through)
      }
    } catch let error as Divergence {
      throw Divergence(
        "'\(query)', told late of \(facts.commits.map(\.number)): \(error) \(change.text(touched))")
    }
  }
}

/// A result that nobody brings forward, and what it showed when it was fetched.
struct OldResult<Element: CheckedObject> {
  let result: FetchResult<Element>
  let list: [LocalIdentifier]
  let objects: [Element.Model?]

  init(_ result: FetchResult<Element>, _ list: [LocalIdentifier], _ model: ModelLibrary) {
    self.result = result
    self.list = list
    objects = list.map { Element.expected($0, in: model) }
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
