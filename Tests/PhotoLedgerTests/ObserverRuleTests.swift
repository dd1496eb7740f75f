import EventLog
import Foundation
import LMDB
import Synchronization
import TestSupport
import Testing

@testable import PhotoLedger

/// Keeps the reasons for which a library became unavailable.
private final class Mourner: PhotoLibraryAvailabilityObserver {
  let reasons = Gathered<LibraryError>()
  func photoLibraryDidBecomeUnavailable(because reason: LibraryError) { reasons.append(reason) }
}

/// Observers that unregister themselves when they go.
private final class Leaver: PhotoLibraryChangeObserver, PhotoLibraryPersistentChangesObserver,
  PhotoLibraryAvailabilityObserver
{
  private let library: PhotoLibrary
  init(_ library: PhotoLibrary) { self.library = library }
  func photoLibraryDidChange(_ change: LibraryChange) {}
  func photoLibraryPersistentChangesDidUpdate(_ library: PhotoLibrary) {}
  func photoLibraryDidBecomeUnavailable(because reason: LibraryError) {}

  deinit {
    library.unregisterChangeObserver(self)
    library.unregisterPersistentChangesObserver(self)
    library.unregisterAvailabilityObserver(self)
  }
}

@Suite("Observers", .timeLimit(.minutes(60)))
struct ObserverRuleTests {
  @Test("observers may unregister in their deinitializer, from many threads at once (OB-04)")
  func leaving() throws {
    let made = try TemporaryLibrary()
    for _ in 0..<(Dose.isFull ? 6 : 2) {
      let halves = Mutex((0..<2).map { _ in (0..<400).map { _ in Leaver(made.library) } })
      for half in halves.withLock({ $0 }) {
        for leaver in half {
          try made.library.register(leaver as any PhotoLibraryChangeObserver)
          try made.library.register(leaver as any PhotoLibraryPersistentChangesObserver)
          made.library.register(leaver as any PhotoLibraryAvailabilityObserver)
        }
      }
      DispatchQueue.concurrentPerform(iterations: 2) { index in
        // Each is let go of outside the lock.
        while halves.withLock({ $0[index].popLast() }) != nil {}
      }
      try made.library.performChangesAndWait { $0.createAlbum(title: "left") }
    }
  }

  @Test("an observer that is unregistered while its next change is prepared is not called any more (OB-04)")
  func unregisteredMeanwhile() async throws {
    let small = try SmallLibrary()
    let first = try await small.change { $0.createAlbum(title: "first") }.commit
    let last = try await small.change { $0.createAlbum(title: "last") }.commit
    let keeper = ChangeKeeper()
    var count = 0
    // The second change has been prepared when this is asked again.
    let isWanted = {
      count += 1
      return count == 1
    }
    try ChangeListener(keeper, client: PhotoLibrary.owner).deliver(
      after: first - 1, through: last, small.library.store.observation, sharing: SharedSteps(), while: isWanted
    ) { _ in true }
    #expect(keeper.changes.all.map(\.commit) == [first])
  }

  @Test("a fetched result receives its changes without a further request (FR-17)")
  func implicit() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(3)
    let keeper = ChangeKeeper()
    try small.library.register(keeper)
    // The observer knows of neither result; either can be asked about.
    let all = try small.library.fetchAssets()
    let favorites = try small.library.fetchAssets(where: #Predicate { $0.isFavorite })
    try await small.change { $0.setFavorite(true, for: [a[1]]) }
    try await waitUntil("the observer is notified") { !keeper.changes.all.isEmpty }
    let change = keeper.changes.all[0]
    #expect(try change.changeDetails(for: all)?.changedIndexes == [1])
    #expect(try change.changeDetails(for: favorites)?.insertedIndexes == [0])
  }

  @Test("details are computed from the result that is held now, however late they are requested (OB-02)")
  func late() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(4)
    let keeper = ChangeKeeper()
    try small.library.register(keeper)
    let held = try small.library.fetchAssets()
    try await small.change { $0.deleteAssets([a[0]]) }
    try await small.change { $0.deleteAssets([a[2]]) }
    try await waitUntil("the observer is notified") { keeper.changes.all.count == 2 }
    // Asked late and out of step: the second change, from the result of before both.
    let both = try #require(try keeper.changes.all[1].changeDetails(for: held))
    #expect(both.removedIndexes == [0, 2] && both.fetchResultAfterChanges.map(\.id) == [a[1], a[3]])
    #expect(try keeper.changes.all[0].changeDetails(for: both.fetchResultAfterChanges) == nil, "It is past that.")
    let first = try #require(try keeper.changes.all[0].changeDetails(for: held))
    #expect(first.removedIndexes == [0])
    let second = try #require(try keeper.changes.all[1].changeDetails(for: first.fetchResultAfterChanges))
    #expect(second.removedIndexes == [1], "Counted in the result of between.")
  }

  @Test(
    "details of an object that was fetched within a composed change are about what came after it (CD-21, CD-22, OB-02)")
  func amid() async throws {
    let small = try SmallLibrary()
    let b = try await small.assets(1)[0]
    let app = try await small.ruleClient(.limited)
    try await small.change { $0.deleteAssets([b]) }
    let start = try small.library.currentToken.commit
    let a = try await small.assets(2)
    try await small.change { block in
      block.addResources([.stored(.invented(5, .alternatePhoto))], to: a[1])
      block.restoreAssets([b])
      block.grant([b], to: app.client)
    }
    let album = try await small.album("Sea")
    let renamed = try await small.album("Lake")
    let (gone, edited, again) = (try small.asset(a[0]), try small.asset(a[1]), try small.asset(b))
    let granted = try #require(try app.asset(b.uuidString))
    for round in 0..<8 { try await small.change { _ = $0.createAlbum(title: "\(round)") } }
    try await small.change { block in
      block.deleteAssets([a[0], b])
      block.deleteCollections([album.id])
      block.setTitle("Pond", of: renamed.id)
      block.withdraw([b], from: app.client)
    }
    let (store, end) = (small.library.store, try small.library.currentToken.commit)
    // One that has begun to follow has the commits in memory; the other reads them from the log.
    let cold = Observation(core: store.core, signal: store.signal, availability: store.availability)
    for observation in [store.observation, cold] {
      func change(asSeenBy client: String) throws -> LibraryChange {
        let keeper = ChangeKeeper()
        try ChangeListener(keeper, client: client).deliver(
          after: start, through: end, observation, sharing: SharedSteps(), while: { true }
        ) { _ in true }
        #expect(keeper.changes.all.count == 1)
        return try #require(keeper.changes.all.first)
      }
      let whole = try change(asSeenBy: PhotoLibrary.owner)
      if observation === cold {
        try store.core.environment.withoutReaders {
          #expect(whole.changeDetails(for: gone, showsTrash: false)?.objectWasDeleted == true)
          #expect(whole.changeDetails(for: album)?.objectWasDeleted == true)
        }
      }
      let trashed = try #require(whole.changeDetails(for: gone))
      #expect(trashed.objectAfterChanges?.isTrashed == true && !trashed.objectBeforeChanges.isTrashed)
      #expect(trashed.objectBeforeChanges.commit == gone.commit)
      #expect(whole.changeDetails(for: gone, showsTrash: false)?.objectWasDeleted == true)
      #expect(whole.changeDetails(for: again, showsTrash: false)?.objectWasDeleted == true)
      #expect(whole.changeDetails(for: edited) == nil, "It was edited before it was fetched.")
      #expect(whole.changeDetails(for: album)?.objectWasDeleted == true)
      #expect(whole.changeDetails(for: renamed)?.objectAfterChanges?.localizedTitle == "Pond")
      let seen = try change(asSeenBy: app.client)
      #expect(seen.changeDetails(for: granted)?.objectWasDeleted == true)
      #expect(seen.changeDetails(for: gone) == nil, "It was never shown to the client.")
    }
  }

  @Test("values passed between threads are Sendable; a block stays with its caller (OB-05)")
  @MainActor func isolation() async throws {
    func crossesThreads<T: Sendable>(_ type: T.Type) -> String { "\(type)" }
    let names = [
      crossesThreads(PhotoLibrary.self), crossesThreads(FetchResult<Asset>.self), crossesThreads(LibraryChange.self),
      crossesThreads(Asset.self), crossesThreads(PhotoCollection.self), crossesThreads(ChangeDetails<Asset>.self),
      crossesThreads(Token.self), crossesThreads(LocalIdentifier.self),
    ]
    #expect(names.count == 8)
    let made = try TemporaryLibrary()
    // This function's variable belongs to the main actor; the block may write to it without an await.
    var collected: [LocalIdentifier] = []
    try await made.library.performChanges { block in
      MainActor.assertIsolated()
      collected.append(block.createAsset(.invented(1)))
    }
    #expect(try made.library.fetchAssets().map(\.id) == collected)
  }

  @Test("a closed library is unavailable: observers are notified once, late ones at once (OB-04)")
  func closed() async throws {
    let made = try TemporaryLibrary()
    let (early, removed, late) = (Mourner(), Mourner(), Mourner())
    made.library.register(early)
    made.library.register(removed)
    made.library.unregisterAvailabilityObserver(removed)
    weak var forgotten: Mourner?
    do {
      let mourner = Mourner()
      forgotten = mourner
      made.library.as("com.example.app").register(mourner)
    }
    #expect(forgotten == nil && made.library.unavailabilityReason == nil)
    made.library.close()
    made.library.close()
    made.library.register(late)
    try await waitUntil("both are notified") { early.reasons.all.count == 1 && late.reasons.all.count == 1 }
    #expect(early.reasons.all.map(\.code) == [.closed] && made.library.unavailabilityReason?.code == .closed)
    #expect(removed.reasons.all.isEmpty)
  }

  @Test("a log that is found damaged makes the library unavailable, once")
  func damaged() async throws {
    let small = try SmallLibrary()
    let mourner = Mourner()
    small.library.register(mourner)
    let result = try small.library.fetchAssets()
    var changes = small.library.changes(to: result).makeAsyncIterator()
    let environment = try Environment.store(ofLibrary: small.temporary.url.path)
    let events = try environment.database("events", integerKeys: true, create: false)
    try environment.write { t in
      // A commit that another process made badly: its event is not a valid record.
      let log = small.library.store.core.log
      let head = try log.head(t)
      var appender = try log.begin(
        CommitInformation(time: 0, client: "x", cause: "", process: "y"), in: &t)
      let sequence = try appender.append(
        type: Event.nothingChanged.type, version: Event.version, payload: Event.nothingChanged.payload(),
        salt: Salt(1, 2), in: &t)
      _ = try appender.finish(in: &t)
      #expect(sequence == head.sequence + 1)
      try t.put(sequence, [0xFF, 0xFF].span.bytes, in: events)
    }
    await #expect(throws: LibraryError.self) { while try await changes.next() != nil {} }
    try await waitUntil("the observer is notified") { !mourner.reasons.all.isEmpty }
    small.library.close()
    #expect(mourner.reasons.all.map(\.code) == [.corrupted])
    #expect(small.library.unavailabilityReason?.code == .corrupted)
  }

  @Test("a library that a newer program migrates while it is open writes nothing more")
  func migratedBelowWriter() async throws {
    let made = try TemporaryLibrary()
    let mourner = Mourner()
    made.library.register(mourner)
    let before = try made.library.currentToken
    try made.migrateAsNewerProgram()
    for seed in 0..<2 {
      let error = #expect(throws: LibraryError.self) { try made.create(.invented(seed)) }
      #expect(error?.code == .newerThanProgram)
    }
    #expect(try made.library.currentToken == before && made.library.fetchAssets().isEmpty)
    try await waitUntil("the observer is notified") { !mourner.reasons.all.isEmpty }
    #expect(mourner.reasons.all.map(\.code) == [.newerThanProgram])
  }

  @Test("a lower number of the format, which a rebuild notes until it is complete, stops neither writer nor followers")
  func rebuiltBelowWriter() throws {
    let made = try TemporaryLibrary()
    let changes = made.library.changes(to: try made.library.fetchAssets()).pending
    #expect(try changes.next() == nil)
    try made.noteFormat(1)
    let asset = try made.create(.invented(1))
    try made.library.store.observation.pump()
    #expect(try changes.next()?.fetchResultAfterChanges.map(\.id) == [asset])
    #expect(made.library.unavailabilityReason == nil)
  }

  @Test("live results of a library that a newer program migrates meanwhile end with that error")
  func migratedBelowFollowers() async throws {
    let made = try TemporaryLibrary()
    let changes = made.library.changes(to: try made.library.fetchAssets()).pending
    #expect(try changes.next() == nil)
    try made.migrateAsNewerProgram()
    let error = try #require(throws: LibraryError.self) { try made.library.store.observation.pump() }
    #expect(error.code == .newerThanProgram && made.library.unavailabilityReason?.code == .newerThanProgram)
    let end = await #expect(throws: LibraryError.self) { while try await changes.wait() {} }
    #expect(end?.code == .newerThanProgram)
  }
}

@Suite("Handlers, snapshots and confirmation")
struct ConfirmationRuleTests {
  private final class Confirming: ChangeConfirmation {
    let seen = Gathered<ChangeProposal>()
    let answer: Bool
    init(_ answer: Bool) { self.answer = answer }
    func confirm(_ proposal: ChangeProposal) -> Bool {
      seen.append(proposal)
      return answer
    }
  }

  /// Needs the main queue for what it is asked, as a dialogue does.
  private final class Dialogue: ChangeConfirmation, PermissionPrompt {
    let shown = Gathered<String>()

    /// The limit is waited out only where the main queue waits for the answer.
    private func show(_ question: String) -> Bool {
      let isShown = DispatchSemaphore(value: 0)
      DispatchQueue.main.async { isShown.signal() }
      guard isShown.wait(timeout: .now() + 60) == .success else { return false }
      shown.append(question)
      return true
    }

    func confirm(_ proposal: ChangeProposal) -> Bool { show(proposal.createdCollectionTitles.joined()) }

    func decide(about client: Client, for level: AccessLevel, in library: PhotoLibrary) -> PermissionDecision? {
      show(client.name) ? .allow : nil
    }

    func offerMore(to client: Client, in library: PhotoLibrary) -> [LocalIdentifier] { [] }
  }

  @Test("completion handlers are called one at a time, each once, and not where the block was queued (CB-04)")
  func handlers() async throws {
    let made = try TemporaryLibrary()
    let (entered, order) = (Gathered<Int>(), Gathered<Int>())
    let isBusy = Gathered<Bool>()
    try await onThread {
      let caller = ObjectIdentifier(Thread.current)
      for index in 0..<30 {
        var isHere = false
        made.library.performChanges { block in
          isHere = ObjectIdentifier(Thread.current) == caller
          block.createAlbum(title: "\(index)")
        } completionHandler: { _ in
          isBusy.append(entered.all.count != order.all.count || ObjectIdentifier(Thread.current) == caller)
          entered.append(index)
          // Another handler that is called meanwhile finds this one.
          sched_yield()
          order.append(index)
        }
        #expect(isHere, "The block is called where the caller is.")
      }
    }
    try await waitUntil("all handlers have returned") { order.all.count == 30 }
    #expect(order.all == Array(0..<30) && !isBusy.all.contains(true))
  }

  @Test("a value that was fetched stays as it was when a block takes effect (CB-05)")
  func values() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(2)
    let album = try await small.album("Sea", a)
    let asset = try small.asset(a[0])
    let receipt = try await small.library.performChanges { block in
      block.setFavorite(true, for: [a[0]])
      block.setTitle("Lake", of: album.id)
      let inside = try small.asset(a[0])
      #expect(!inside.isFavorite, "Nothing takes effect before the block returns.")
    }
    #expect(try small.library.currentToken == receipt.token && small.asset(a[0]).isFavorite)
    #expect(!asset.isFavorite && album.localizedTitle == "Sea")
    let now = try small.asset(a[0])
    #expect(asset == now && !asset.hasSameProperties(as: now))
  }

  @Test("the confirmation handler sees the whole block before any of it happens, and a rejection is 3072 (CB-12)")
  func confirmation() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(3)
    let album = try await small.album("Sea", a)
    let app = try await small.ruleClient(.authorized)
    let refusing = Confirming(false)
    try small.library.setChangeConfirmation(refusing)
    let file = small.temporary.folder.place("new.jpg")
    try Data("new".utf8).write(to: file)
    let error = try await failure(of: app) { block in
      block.deleteAssets([a[0], a[1]])
      block.setFavorite(true, for: [a[2]])
      let draft = ResourceDraft(type: .photo, source: .file(file, shouldMove: true))
      block.createAsset(AssetCreation(mediaType: .image, resources: [draft]))
      block.createAlbum(title: "New")
      block.deleteCollections([album.id])
    }
    #expect(error?.code == .userCancelled && LibraryError.Code.userCancelled.rawValue == 3072)
    let proposal = try #require(refusing.seen.all.first)
    #expect(refusing.seen.all.count == 1 && proposal.client == app.client)
    #expect(proposal.deletedAssets == [a[0], a[1]] && proposal.editedAssets == [a[2]])
    #expect(proposal.createdAssetCount == 1 && proposal.createdCollectionTitles == ["New"])
    #expect(proposal.deletedCollections == [album.id])
    #expect(try small.library.fetchAssets().map(\.id) == a && small.members(album) == a)
    #expect(FileManager.default.fileExists(atPath: file.path) && small.storedFileCount() == 0)
    let agreeing = Confirming(true)
    try small.library.setChangeConfirmation(agreeing)
    try await app.performChanges { $0.deleteAssets([a[0]]) }
    #expect(agreeing.seen.all.count == 1)
    #expect(try small.library.fetchAssets().map(\.id) == [a[1], a[2]])
    #expect(throws: LibraryError.self) { try app.setChangeConfirmation(nil) }
    try small.library.setChangeConfirmation(nil)
    try await app.performChanges { $0.restoreAssets([a[0]]) }
    #expect(agreeing.seen.all.count == 1)
  }

  @Test("a dialogue may wait for the main queue about a block that is sent from there (CB-12, FR-18)")
  @MainActor
  func dialogue() async throws {
    let (made, dialogue, isMade) = (try TemporaryLibrary(), Dialogue(), Gathered<Bool>())
    try await made.library.performChanges { $0.register(client: "com.example.app", .described) }
    try made.library.setChangeConfirmation(dialogue)
    try await made.library.performChanges { $0.createAlbum(title: "One") }
    made.library.performChanges {
      $0.createAlbum(title: "Two")
    } completionHandler: {
      isMade.append((try? $0.get()) != nil)
    }
    try await waitUntil("the handler is called") { !isMade.all.isEmpty }
    #expect(isMade.all == [true] && dialogue.shown.all == ["One", "Two"])
    try made.library.setChangeConfirmation(nil)
    try made.library.setPermissionPrompt(dialogue)
    try await made.library.as("com.example.app").performChanges { $0.createAlbum(title: "Three") }
    #expect(dialogue.shown.all == ["One", "Two", "com.example.app"])
    #expect(try made.library.fetchCollections().map(\.localizedTitle) == ["One", "Two", "Three"])
  }
}

extension SmallLibrary {
  /// How many files lie below the folder of resources.
  fileprivate func storedFileCount() -> Int {
    let folder = temporary.url.appending(path: "resources")
    guard let walk = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey]) else {
      return 0
    }
    return walk.compactMap { $0 as? URL }.count { url in
      (try? url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) ?? false
    }
  }
}
