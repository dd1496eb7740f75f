import EventLog
import Foundation
import LMDB
import PhotoLedger
import Synchronization
import TestSupport

// A random history: one library, one model, five clients and forty live results.
//
// Each round draws a client and a block of its requests and has the library and the model execute it. If the model
// refuses, the library must refuse with the same code, and nothing may have happened. If it commits, every live result
// is compared with what the model says its client sees (`LiveWatch`), and the observer of every client must have been
// notified, or not, as the model says. Everything is drawn from one seed, and the clock is the history's own: the same
// seed is the same history, byte for byte.
//
//   owner          has full access, decides, puts things into everybody's albums
//   full           has full access most of the time; now and then it is limited or denied
//   limited        sees a selection that grows and shrinks, and what it made
//   narrow         the same, with a selection of its own
//   adder          adds and sees nothing

final class History {
  let seed: UInt64
  let temporary: TemporaryLibrary
  private let clock: HistoryClock
  private let reader: PhotoLibrary
  private var model = ModelLibrary()
  private var steps: HistorySteps
  private var watches: [any LiveWatching] = []
  private var commit: UInt64 = 0
  /// The owner first.
  private let witnesses: [Witness]
  private var chronicle = Chronicle()
  private var receipts: [(client: String, key: String, receipt: CommitReceipt)] = []

  /// Called after each commit, with its number.
  var afterCommit: ((UInt64) throws -> Void)?
  var cast: Cast { steps.cast }
  /// The kinds of step that were drawn.
  var kinds: Set<StepKind> { steps.kinds }

  /// What is being waited for.
  let progressReport: Progress

  private(set) var commits = 0
  private(set) var refusals = 0

  var library: PhotoLibrary { temporary.library }

  /// A library with a few assets, albums and folders, and no observers.
  init(seed: UInt64) throws {
    self.seed = seed
    let clock = HistoryClock()
    self.clock = clock
    let generator = Mutex(SeededGenerator(seed: seed &* 31 &+ 7))
    temporary = try TemporaryLibrary(
      LibraryEnvironment(process: "seed \(seed)", now: { clock.now }, random: { generator.withLock { $0.next() } }))
    reader = try PhotoLibrary(at: temporary.url, environment: .seeded(seed))
    witnesses = ([PhotoLibrary.owner] + Cast.clients).map { [temporary] in Witness($0, temporary.library.as($0)) }
    var furnishing = Furnishing(temporary.library, clock.now, seed)
    let cast = try furnishing.furnish(&model)
    steps = HistorySteps(seed: seed, cast)
    progressReport = Progress(library: temporary.library, observers: witnesses.map(\.prompt))
    commit = try temporary.library.currentToken.commit
    for witness in witnesses where witness.client != PhotoLibrary.owner {
      // What was before the history begins is left out; how often each was touched by it, the library says.
      // One with full access saw itself registered before.
      let token = try witness.library.currentToken
      witness.revisions = Array(repeating: commit, count: token.view == nil ? 1 : Int(token.position))
    }
  }

  deinit {
    for witness in witnesses { witness.heldUp.setOpen(true) }
    reader.close()
  }

  /// Starts every live result and observer: those of the clients, and of the owner's some, by the seed.
  func watch() throws {
    var random = SeededGenerator(seed: seed &* 77)
    for witness in witnesses {
      let isOwner = witness.client == PhotoLibrary.owner
      let all =
        try isOwner
        ? HistoryQueries.ofTheOwner(steps.cast) : HistoryQueries.all(of: witness.client, steps.cast)
      for query in random.some(isOwner ? 12 : witness.client == Cast.full ? 6 : 9, of: all) {
        let limit = random.one(of: [0, 1, 3, 8])
        let (library, reader) = (witness.library, reader.as(witness.client))
        switch query.entity {
        case .asset: watches.append(try LiveWatch<Asset>(query, library, reader, model, slowLimit: limit))
        case .collection:
          watches.append(try LiveWatch<PhotoCollection>(query, library, reader, model, slowLimit: limit))
        }
      }
      try witness.register()
    }
  }

  // MARK: One round

  /// Executes blocks until so many have been committed.
  func run(commits wanted: Int) async throws {
    while commits < wanted {
      try await round()
      if !watches.isEmpty, steps.random.chance(1, of: 25) { try await releaseHeldUp() }
    }
    for watch in watches {
      report("'\(watch.query)' catches up")
      try await watch.drain(&steps.random)
    }
  }

  private func report(_ doing: String) { progressReport.report(doing) }

  private func round() async throws {
    if !steps.random.chance(1, of: 10) { clock.advance(by: Double(steps.random.int(1..<4))) }
    if steps.random.chance(1, of: 60), !receipts.isEmpty { return try await repeatBlock() }
    let key = steps.random.chance(1, of: 20) ? "key \(commits)" : nil
    let actor = steps.actor()
    let library = library.as(actor)
    report("a block of '\(actor)' is executed after commit \(commit)")
    var draft = model
    draft.begin(as: actor)
    var refusal: ModelRefusal?
    let answer: Result<CommitReceipt, any Error>
    do {
      let bases =
        steps.random.chance(1, of: 3) ? watches.filter { $0.query.client == actor }.flatMap { $0.bases() } : []
      answer = .success(
        try await library.performChanges(key: key) { block in
          refusal = try draw(block, &draft, bases)
        })
    } catch {
      answer = .failure(error)
    }
    switch (answer, refusal) {
    case (.success(let receipt), nil):
      if let key { receipts.append((actor, key, receipt)) }
      try await accept(receipt, draft, by: actor)
    case (.failure(let error as LibraryError), let refusal?):
      try demand(
        error.code == refusal.code,
        "A block of '\(actor)' failed with \(error.code.rawValue) (\(error)), not \(refusal.code.rawValue).")
      try demand(try self.library.currentToken.commit == commit, "A block that failed left a commit (CB-06).")
      refusals += 1
    case (.success, let refusal?):
      throw Divergence("A block of '\(actor)' succeeded that had to fail with \(refusal.code.rawValue).")
    case (.failure(let error), _): throw Divergence("A block of '\(actor)' failed that had to succeed: \(error)")
    }
  }

  /// Draws the requests of a block; what comes after a refused one must leave no trace either.
  private func draw(_ block: ChangeBlock, _ draft: inout ModelLibrary, _ bases: [Basis]) throws -> ModelRefusal? {
    var refusal: ModelRefusal?
    let count = steps.random.one(of: [1, 1, 1, 2, 3, 6])
    for _ in 0..<count {
      var next = draft
      do {
        try steps.step(block, &next, bases, at: clock.now)
      } catch let refused as ModelRefusal {
        refusal = refusal ?? refused
        continue
      }
      draft = next
    }
    // Without permission every request is refused, and so is a block that was left without any.
    if refusal == nil {
      do { try draft.checkMayAdd() } catch let refused as ModelRefusal { refusal = refused }
    }
    return refusal
  }

  private func repeatBlock() async throws {
    let (client, key, receipt) = receipts[receipts.count - 1]
    let again = try await library.as(client).performChanges(key: key) { $0.createAlbum(title: "never") }
    // A client that has got full access, or lost it, names the same state otherwise.
    let isSameState = again.token == receipt.token || (again.token.view == nil) != (receipt.token.view == nil)
    try demand(
      again.isRepetition && isSameState && again.created == receipt.created,
      "A block with a known key was answered with \(again), not \(receipt).")
    try demand(try library.currentToken.commit == commit, "A block with a known key made a commit.")
  }

  private func accept(_ receipt: CommitReceipt, _ after: ModelLibrary, by actor: String) async throws {
    let number = try library.currentToken.commit
    if number == commit {
      return try demand(
        after.noted.isEmpty && after.switched.isEmpty && after.assets == model.assets,
        "A block that changed something made no commit.")
    }
    try demand(number == commit + 1, "Commit \(commit) was followed by \(number).")
    for witness in witnesses where witness.client != PhotoLibrary.owner && after.noted[witness.client] != nil {
      witness.revisions.append(number)
    }
    let token = try witnesses.first { $0.client == actor }?.library.currentToken
    try demand(receipt.token == token, "The receipt of '\(actor)' has the token \(receipt.token), not the current one.")
    defer { (model, commit, commits) = (after, number, commits + 1) }
    try afterCommit?(number)
    guard !watches.isEmpty else { return }
    var views: [String: CommitFacts.View] = [:]
    for witness in witnesses { views[witness.client] = try await view(of: witness, number, after) }
    let facts = CommitFacts(number: number, before: model, after: after, views: views)
    for watch in watches {
      report("'\(watch.query)' receives commit \(number)")
      try await watch.step(facts, &steps.random)
    }
    chronicle.add(Chapter(number: number, actor: actor, before: model, after: after, names: views.mapValues(\.name)))
    if steps.random.chance(1, of: 12) { try chronicle.check(steps.random.one(of: witnesses), &steps.random) }
    try chronicle.note(steps.random.one(of: witnesses))
  }

  /// What a commit is to a client: it must be notified of it exactly if it can have seen anything of it.
  private func view(of witness: Witness, _ number: UInt64, _ after: ModelLibrary) async throws -> CommitFacts.View {
    let client = witness.client
    var view = CommitFacts.View(
      changed: after.changed(since: model, for: client), change: nil, name: nil,
      isSwitch: after.switched.contains(client))
    let (before, now) = (model.eyes(of: client), after.eyes(of: client))
    if now == .full {
      view.name = number
    } else if after.noted[client] != nil {
      view.name = UInt64(witness.revisions.count)
    }
    let (old, new) = (model.present(to: before), after.present(to: now))
    let isChanged =
      old != new
      || old.contains { after.assets[$0]?.seen(by: now) != model.assets[$0]?.seen(by: before) } && now != .none
      || old.contains { after.collection($0, now) != model.collection($0, before) }
    guard view.name != nil else {
      try demand(!isChanged, "The model forgot that '\(client)' saw commit \(number).")
      return view
    }
    let token = try witness.library.currentToken
    try demand(
      token.position == view.name && (token.view == nil) == (now == .full),
      "Commit \(number) is \(token.position) to '\(client)', not \(view.name ?? 0).")
    report("the observer of '\(client)' receives commit \(number)")
    let change = try await witness.next(token)
    try demand(change.token == token, "The observer of '\(client)' received \(change.token), not \(token).")
    let names = change.commits.map(\.number)
    try demand(
      names == [token.position] || now == .full && before != .full && names.last == number,
      "The observer of '\(client)' received \(names) instead of \(token.position) (CD-23).")
    witness.owed = token
    view.change = change
    return view
  }

  private func releaseHeldUp() async throws {
    for witness in witnesses {
      guard let owed = witness.owed else { continue }
      witness.heldUp.setOpen(true)
      try await waitUntil("the held up observer of '\(witness.client)' catches up") {
        witness.heldUp.lastToken == owed
      }
      witness.heldUp.setOpen(false)
      witness.owed = nil
      for change in witness.heldUp.take() {
        let through = witness.commit(of: change)
        for watch in watches where watch.query.client == witness.client {
          try watch.tellLazily(change, through: through)
        }
      }
    }
  }
}

/// A clock that stands still until it is advanced.
final class HistoryClock: Sendable {
  private let seconds = Mutex(1_750_000_000.0)

  var now: Date { Date(timeIntervalSince1970: seconds.withLock { $0 }) }

  func advance(by step: Double) { seconds.withLock { $0 += step } }
}

/// What a history is doing, for the guardian of one that hangs.
final class Progress: Sendable {
  private let state = Mutex((doing: "beginning", steps: 0))
  private let library: PhotoLibrary
  private let observers: [PromptObserver]

  init(library: PhotoLibrary, observers: [PromptObserver]) {
    self.library = library
    self.observers = observers
  }

  var now: (doing: String, steps: Int) { state.withLock { $0 } }

  func report(_ doing: String) { state.withLock { $0 = (doing, $0.steps + 1) } }

  /// Ends whatever is waited for.
  func giveUp() {
    library.close()
    for observer in observers { observer.finish() }
  }
}
