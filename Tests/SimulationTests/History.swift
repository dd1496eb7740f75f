import EventLog
import Foundation
import LMDB
import PhotoLedger
import Synchronization
import TestSupport

// A random history: one library, one model, some forty live results.
//
// Each round draws a block of requests and has the library and the model carry it out. If the model refuses, the
// library must refuse with the same code, and nothing may have happened. If it commits, every live result is compared
// with the model (`LiveWatch`). Everything is drawn from one seed, and the clock is the history's own: the same seed
// is the same history, byte for byte.

final class History {
  let seed: UInt64
  let temporary: TemporaryLibrary
  private let clock: HistoryClock
  private let reader: PhotoLibrary
  private var model = ModelLibrary()
  private var steps: HistorySteps
  private var watches: [any LiveWatching] = []
  private var commit: UInt64 = 0
  private let prompt = PromptObserver()
  private var told: AsyncStream<LibraryChange>.Iterator
  private let heldUp = HeldUpObserver()
  private var lastHeldUp: UInt64 = 0
  private var receipts: [(key: String, receipt: CommitReceipt)] = []

  /// What is being waited for.
  let progressReport: Progress

  private(set) var commits = 0
  private(set) var refusals = 0

  var library: PhotoLibrary { temporary.library }

  /// A library with a few assets, albums and folders, and nobody who watches.
  init(seed: UInt64) throws {
    self.seed = seed
    let clock = HistoryClock()
    self.clock = clock
    let chance = Mutex(SeededGenerator(seed: seed &* 31 &+ 7))
    temporary = try TemporaryLibrary(
      LibraryEnvironment(process: "seed \(seed)", now: { clock.now }, random: { chance.withLock { $0.next() } }))
    reader = try PhotoLibrary(at: temporary.url, environment: .seeded(seed))
    let cast = try Self.furnish(temporary.library, &model, clock.now, seed)
    steps = HistorySteps(seed: seed, cast)
    told = prompt.changes.makeAsyncIterator()
    progressReport = Progress(library: temporary.library, observer: prompt)
    commit = try temporary.library.currentToken.commit
  }

  deinit {
    heldUp.setOpen(true)
    reader.close()
  }

  private static func furnish(
    _ library: PhotoLibrary, _ model: inout ModelLibrary, _ date: Date, _ seed: UInt64
  ) throws -> Cast {
    var random = SeededGenerator(seed: seed)
    var draft = model
    var cast: Cast?
    try library.performChangesAndWait { block in
      var assets: [LocalIdentifier] = []
      for index in 0..<25 {
        let creation = AssetCreation.random(index, &random)
        let id = block.createAsset(creation)
        try draft.create(creation, as: id, at: date)
        assets.append(id)
      }
      let albums = ["Mixed", "Crowded", "Mortal"].map { title in
        let id = block.createAlbum(title: title)
        draft.create(.album, title, as: id, at: date)
        return id
      }
      for (index, album) in albums.enumerated() {
        let members = random.some(8 + index, of: assets)
        block.album(album).add(members)
        try draft.insert(members, into: album, at: nil, nil, at: date)
      }
      let folder = block.createFolder(title: "Folder")
      draft.create(.folder, "Folder", as: folder, at: date)
      block.folder(folder).add([albums[1]])
      try draft.insert([albums[1]], into: folder, at: nil, nil, at: date)
      cast = Cast(
        mixed: albums[0], crowded: albums[1], mortal: albums[2], folder: folder, asked: Array(assets.prefix(6)),
        albums: albums)
    }
    model = draft
    guard let cast else { throw Divergence("The first block was not carried out.") }
    return cast
  }

  /// Starts every live result and observer.
  func watch() throws {
    for query in try HistoryQueries.all(steps.cast) {
      let limit = steps.random.one(of: [0, 1, 3, 8])
      switch query.entity {
      case .asset: watches.append(try LiveWatch<Asset>(query, library, reader, model, slowLimit: limit))
      case .collection: watches.append(try LiveWatch<PhotoCollection>(query, library, reader, model, slowLimit: limit))
      }
    }
    try library.register(prompt)
    try library.register(heldUp)
    lastHeldUp = commit
  }

  // MARK: One round

  /// Carries blocks out until so many have been committed.
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
    if steps.random.chance(1, of: 60), let (key, receipt) = receipts.last { return try await repeatBlock(key, receipt) }
    let key = steps.random.chance(1, of: 20) ? "key \(commits)" : nil
    report("a block is carried out after commit \(commit)")
    var draft = model
    draft.newFiles = []
    draft.placed = []
    var refusal: ModelRefusal?
    let answer: Result<CommitReceipt, any Error>
    do {
      let bases = steps.random.chance(1, of: 3) ? self.bases() : []
      answer = .success(
        try await library.performChanges(key: key) { block in
          refusal = try draw(block, &draft, bases)
        })
    } catch {
      answer = .failure(error)
    }
    switch (answer, refusal) {
    case (.success(let receipt), nil):
      if let key { receipts.append((key, receipt)) }
      try await accept(receipt, draft)
    case (.failure(let error as LibraryError), let refusal?):
      try demand(
        error.code == refusal.code,
        "A block failed with \(error.code.rawValue) (\(error)), not \(refusal.code.rawValue).")
      try demand(library.currentToken.commit == commit, "A block that failed left a commit (CB-06).")
      refusals += 1
    case (.success, let refusal?): throw Divergence("A block succeeded that had to fail with \(refusal.code.rawValue).")
    case (.failure(let error), _): throw Divergence("A block failed that had to succeed: \(error)")
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
    return refusal
  }

  private func bases() -> [Basis] {
    // What an index past a window's end means needs the list behind it; ContentBasisTests show that.
    watches.filter { $0.query.options.fetchLimit == 0 }.flatMap { watch -> [Basis] in
      let (results, lists) = watch.bases()
      let container: LocalIdentifier?? = if case .members(let id) = watch.query.scope { .some(id) } else { nil }
      return zip(results, lists).map { Basis(result: $0, model: ModelBasis(container: container, shown: $1)) }
    }
  }

  private func repeatBlock(_ key: String, _ receipt: CommitReceipt) async throws {
    let again = try await library.performChanges(key: key) { $0.createAlbum(title: "never") }
    try demand(
      again.isRepetition && again.token == receipt.token && again.created == receipt.created,
      "A block with a known key was answered with \(again), not \(receipt).")
    try demand(library.currentToken.commit == commit, "A block with a known key made a commit.")
  }

  private func accept(_ receipt: CommitReceipt, _ after: ModelLibrary) async throws {
    let number = receipt.token.commit
    let changed = after.changed(since: model)
    if number == commit {
      return try demand(
        changed.isEmpty && after.assets == model.assets, "A block that changed something made no commit.")
    }
    try demand(number == commit + 1, "Commit \(commit) was followed by \(number).")
    defer { (model, commit, commits) = (after, number, commits + 1) }
    guard !watches.isEmpty else { return }
    report("the observer is told of commit \(number)")
    guard let change = await told.next() else { throw Divergence("The observer was told nothing more.") }
    let numbers = change.commits.map(\.number)
    try demand(numbers == [number], "The observer was told of \(numbers) instead of \(number) (CD-23).")
    try demand(change.token == receipt.token, "The change leads to another token than the receipt's.")
    let facts = CommitFacts(number: number, before: model, after: after, changed: changed, change: change)
    for watch in watches {
      report("'\(watch.query)' is told of commit \(number)")
      try await watch.step(facts, &steps.random)
    }
  }

  /// How often members were given new keys to make room.
  func spreads() throws -> Int {
    let environment = try Environment.store(ofLibrary: temporary.url.path)
    let log = try EventLog(in: environment)
    var count = 0
    try environment.read { t in
      try log.read(after: 0, in: t) { record in
        if case .arranged(let arranged) = try Event(record), arranged.verb == .spread { count += 1 }
        return .proceed
      }
    }
    return count
  }

  private func releaseHeldUp() async throws {
    guard lastHeldUp < commit else { return }
    heldUp.setOpen(true)
    try await waitUntil("the observer that was held up catches up") { heldUp.lastCommit == commit }
    heldUp.setOpen(false)
    for change in heldUp.take() {
      let numbers = change.commits.map(\.number)
      try demand(
        numbers.first == lastHeldUp + 1 && numbers == Array(numbers[0]...numbers[numbers.count - 1]),
        "After commit \(lastHeldUp) the observer was told of \(numbers) (OB-03).")
      lastHeldUp = numbers[numbers.count - 1]
      for watch in watches { try watch.tellLazily(change) }
    }
  }
}

/// A clock that stands still until it is advanced.
final class HistoryClock: Sendable {
  private let seconds = Mutex(1_750_000_000.0)

  var now: Date { Date(timeIntervalSince1970: seconds.withLock { $0 }) }

  func advance(by step: Double) { seconds.withLock { $0 += step } }
}

/// What a history is doing, for whoever watches over one that hangs.
final class Progress: Sendable {
  private let state = Mutex((doing: "beginning", steps: 0))
  private let library: PhotoLibrary
  private let observer: PromptObserver

  init(library: PhotoLibrary, observer: PromptObserver) {
    self.library = library
    self.observer = observer
  }

  var now: (doing: String, steps: Int) { state.withLock { $0 } }

  func report(_ doing: String) { state.withLock { $0 = (doing, $0.steps + 1) } }

  /// Ends whatever is waited for.
  func giveUp() {
    library.close()
    observer.finish()
  }
}
