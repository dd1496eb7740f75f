import Foundation
import LibraryAudit
import PhotoLedger
import Synchronization
import TestSupport

// One of two libraries that a limited client cannot tell apart.
//
// Both have the same visible history; one of them has another that the client must not know of: assets, albums and
// folders of others, grants to others, strangers in the client's own albums, commits in between. What the visible
// history draws comes from a stream of its own that begins anew with each step, and its clock is set by the step, so
// hidden work shifts nothing:
//
//     step             1        2                 3        4
//     plain library    visible                    visible
//     the other        visible  hidden, hidden    visible  hidden
//     the client       looks    looks             looks    looks         and writes down every answer
//
// The identifiers of hidden objects are known from the library that has them; in the plain one nothing ever had them.

/// A library, its limited client, and everything that the client ever received.
final class Twin {
  /// What the client is called.
  static let client = "app"

  let temporary: TemporaryLibrary
  let hasMore: Bool
  let view: PhotoLibrary
  /// Identifiers that name something in the library that has more, and nothing in the plain one, look by look.
  var probes: [[LocalIdentifier]]
  private(set) var hidden: [LocalIdentifier] = []
  private(set) var looks = 0
  private var hides = 0
  /// What the client received, in the order in which it asked.
  private(set) var transcript: [String] = []
  /// What visible steps made.
  var named: [String: LocalIdentifier] = [:]
  /// Objects, results and tokens that the client holds since it first saw them.
  var keptAssets: [String: Asset] = [:]
  var keptAlbums: [String: PhotoCollection] = [:]
  var keptResources: [AssetResource] = []
  var keptTokens: [Token] = []
  var keptResults: [FetchResult<Asset>] = []
  private let deliveries = Gathered<Delivery>()
  private let told: ToldObserver
  private let world: TwinWorld
  private var followers: [Task<Void, any Error>] = []

  var owner: PhotoLibrary { temporary.library }

  init(hasMore: Bool, probes: [[LocalIdentifier]] = []) throws {
    let world = TwinWorld()
    (self.world, self.hasMore, self.probes) = (world, hasMore, probes)
    temporary = try TemporaryLibrary(
      LibraryEnvironment(process: "twin", now: { world.now }, random: { world.next() }))
    view = temporary.library.as(Self.client)
    told = ToldObserver(deliveries)
  }

  // MARK: Steps

  /// A step that both libraries take, and that the client sees.
  @discardableResult
  func visible(as client: String = PhotoLibrary.owner, _ change: (ChangeBlock) throws -> Void) async throws
    -> CommitReceipt
  {
    world.begin(isVisible: true)
    return try await owner.as(client).performChanges(cause: "visible", change)
  }

  /// A step that only the library with more takes, and that the client must not notice.
  func hide(as client: String = PhotoLibrary.owner, _ change: (ChangeBlock) throws -> Void) async throws {
    guard hasMore else { return }
    world.begin(isVisible: false)
    hides += 1
    let made = try await owner.as(client).performChanges(cause: "hidden", key: "key \(hides)", change).created
    hidden += made.compactMap { LocalIdentifier($0) }
  }

  /// Lets the client ask everything that there is to ask, and writes the answers down.
  func look(_ name: String, _ table: [TwinQuestion]) async throws {
    if hasMore {
      probes.append(hidden)
    } else if probes.count <= looks {
      throw Divergence("The plain library looks more often than the other.")
    }
    transcript.append("LOOK \(looks): \(name)")
    world.begin(isVisible: true)
    for question in table {
      let answer: String
      do {
        answer = try await question.ask(self)
      } catch let error as LibraryError {
        answer = error.told
      } catch let error as FetchError {
        answer = "\(error)"
      }
      transcript.append("\(question.name): \(answer.replacingOccurrences(of: temporary.url.path, with: "LIBRARY"))")
    }
    looks += 1
  }

  /// The identifiers that the client must not come to know, as it would guess them at this look.
  var strangers: [LocalIdentifier] { probes[looks] }

  /// The first of them.
  var stranger: LocalIdentifier { hasMore ? hidden[0] : probes[0][0] }

  /// What an object of this library, there or not, is called across libraries.
  func cloudIdentifier(of id: LocalIdentifier) throws -> CloudIdentifier? {
    guard let known = named["a0"]?.uuidString else { return nil }
    let found = try owner.cloudIdentifierMappings(forLocalIdentifiers: [known])[known]?.get()
    let library = found?.stringValue.prefix { $0 != ":" } ?? ""
    return CloudIdentifier(archivalStringValue: "\(library):\(id.uuidString):")
  }

  // MARK: Deliveries

  func observe() throws {
    try view.register(told)
    for (index, result) in keptResults.enumerated() {
      let (changes, deliveries) = (view.changes(to: result, composingBeyond: .max), deliveries)
      followers.append(
        Task { for try await change in changes { deliveries.append(("result \(index)", change.told(\.told))) } })
    }
    for (index, result) in [try view.fetchCollections(), try view.fetchCollections(in: nil)].enumerated() {
      let (changes, deliveries) = (view.changes(to: result, composingBeyond: .max), deliveries)
      followers.append(
        Task { for try await change in changes { deliveries.append(("collections \(index)", change.told(\.told))) } })
    }
  }

  /// Waits until the client's observer has received the current state.
  func settle() async throws {
    let token = try view.currentToken
    try await waitUntil("the observer hears of \(token)") { [told] in told.last == token }
  }

  /// Ends all following; what was delivered by each, in its order.
  func end() async throws -> [String] {
    owner.close()
    for follower in followers { try await follower.value }
    let byListener = Dictionary(grouping: deliveries.all, by: \.listener)
    return byListener.sorted { $0.key < $1.key }.flatMap { listener, told in told.map { "\(listener): \($0.text)" } }
  }
}

/// The clock and the randomness of one library.
final class TwinWorld: Sendable {
  private struct State {
    var step = 0
    var generator = SeededGenerator(seed: 0)
    var now = Date(timeIntervalSince1970: 1_750_000_000)
  }

  private let state = Mutex(State())

  var now: Date { state.withLock { $0.now } }

  func next() -> UInt64 { state.withLock { $0.generator.next() } }

  /// Begins a step; only visible ones count.
  func begin(isVisible: Bool) {
    state.withLock { state in
      if isVisible {
        state.step += 1
        state.generator = SeededGenerator(seed: UInt64(state.step))
        state.now = Date(timeIntervalSince1970: 1_750_000_000 + Double(state.step) * 10)
      } else {
        state.generator = SeededGenerator(seed: state.generator.next() | 1 << 63)
        state.now += 0.125
      }
    }
  }
}

/// A listener, and what it received.
private typealias Delivery = (listener: String, text: String)

/// Records what it receives.
private final class ToldObserver: PhotoLibraryChangeObserver {
  private let deliveries: Gathered<Delivery>
  private let state = Mutex<Token?>(nil)

  init(_ deliveries: Gathered<Delivery>) { self.deliveries = deliveries }

  var last: Token? { state.withLock { $0 } }

  func photoLibraryDidChange(_ change: LibraryChange) {
    deliveries.append(("observer", "\(change.token) \(change.commits.map(\.told))"))
    state.withLock { $0 = change.token }
  }
}

// MARK: - Everything that can be read of what is answered

extension LibraryError {
  var told: String { "error \(code.rawValue): \(description) \(localIdentifiers)" }
}

extension CommitSummary {
  var told: String {
    "[\(number) \(date.timeIntervalSince1970) '\(client)' '\(process)' \(cause ?? "-") \(key ?? "-") "
      + "\(firstSequence) \(eventCount)]"
  }
}

extension CommitReceipt {
  var told: String { "\(token) \(created) \(isRepetition)" }
}

extension Asset {
  var told: String {
    "\(localIdentifier) \(ModelAsset(self)) \(hasAdjustments) \(adjustmentsState) "
      + "\(String(describing: adjustmentTimestamp)) \(playbackVariation) "
      + "\(isLivePhotoVideoPlaybackEnabled) \(originalResourceChoice) \(isRaw)"
  }
}

extension PhotoCollection {
  var told: String {
    "\(localIdentifier) \(ModelCollection(self)) \(String(describing: albumSubtype)) "
      + "\(String(describing: folderSubtype)) \(smartAlbumPredicate ?? "-") \(isTransient) \(canContainAssets)"
  }
}

extension FetchResult<Asset> {
  var told: String { "\(token) \(count) \(map(\.told))" }
}

extension FetchResult<PhotoCollection> {
  var told: String { "\(token) \(count) \(map(\.told))" }
}

extension ChangeDetails {
  /// Without the tokens of the results: how far a result is known to go on unchanged depends on how fast it was asked.
  fileprivate func told(_ text: (Element) -> String) -> String {
    let sets = [removedIndexes, insertedIndexes, changedIndexes, changedIndexesBefore].map { $0.map(Array.init) ?? [] }
    return "\(commits.map(\.told)) \(hasIncrementalChanges) \(sets) \(moves) \(moved) "
      + "\(fetchResultBeforeChanges.map(text)) \(fetchResultAfterChanges.map(text))"
  }
}

extension PersistentChange {
  var told: String {
    get throws {
      let details = try ObjectType.allCases.map { type -> String in
        let sets = try changeDetails(for: type)
        return "\(sets.insertedLocalIdentifiers.sorted()) \(sets.updatedLocalIdentifiers.sorted()) "
          + "\(sets.deletedLocalIdentifiers.sorted())"
      }
      return "\(changeToken) \(commit.told) \(details)"
    }
  }
}
