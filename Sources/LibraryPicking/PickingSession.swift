import Foundation
public import PhotoLedger
import Synchronization

// A picking session has two sides. The client gets the picked assets and never the candidates; the presenter sees the
// library and acts for the user (PK-01).
//
//     client ── beginPicking(configuration) ──▶ PickingCore ◀── present(session) ── presenter
//               deselect, move, update, cancel       │          candidates, select, deselect, finish, cancel
//               results ◀────────────────────────────┤
//                                                    ▼
//                                      pick.recorded, in a commit of the owner whose cause names another presenter
//
// A result is handed out only when its items are recorded: the event is what lets the client load them, in this process
// or a later one. So a continuous session records at each tap what is new (PK-05), the others once, at the end. What
// was recorded stays given, also when the person deselects it or the session is cancelled afterwards.
//
// Preselected assets are neither recorded nor loadable (PK-04): the client has them from an earlier result. The
// presenter ignores unknown identifiers. Cancelling returns the preselection exactly as requested, including unknown
// identifiers: otherwise a client could find out by cancelling whether an asset exists.
//
// The store holds open sessions by their identifiers, so that a server can begin one in a request and continue it in
// the next. It holds cores, and a core does not retain the library: an abandoned session does not keep the store open.

/// A choice of assets that a person makes for a client (PHPickerViewController without the view, PK-01).
///
/// Any client may begin one, and needs no permission. See <doc:Picking>.
public struct PickingSession: Sendable, Identifiable {
  /// How far a session is.
  public enum State: String, Sendable, Hashable, CaseIterable, Codable {
    /// The person is choosing. Can become `finished` or `cancelled`.
    case open
    /// The person has chosen. Final.
    case finished
    /// The client, the person or the end of the library ended it. Final.
    case cancelled
  }

  let core: PickingCore
  let library: PhotoLibrary

  /// What names the session while the library is open; see ``PhotoLibrary/pickingSessions()``.
  public var id: String { core.id }
  /// The client of the session.
  public var client: String { core.client }
  /// The configuration at the beginning of the session.
  public var configuration: PickerConfiguration { core.configuration }
  /// How far the session is.
  public var state: State { core.state.withLock(\.phase) }

  /// The results: one after each tap for a continuous selection, otherwise one at the end (PK-05).
  ///
  /// The sequence ends with the session. A session that is cancelled ends with one more result, its preselection
  /// (PK-04). For one task: each result is given once.
  public var results: PickingResults { PickingResults(stream: core.results.stream) }

  /// Takes assets out of the selection (PHPickerViewController.deselectAssets(withIdentifiers:)).
  ///
  /// This is not a tap and produces no result. No effect after the session has ended.
  /// - Parameter identifiers: in any form; those that are not selected are ignored (PK-06).
  /// - Complexity: O(m·k) for m identifiers and k selected assets.
  public func deselectAssets(withIdentifiers identifiers: [String]) {
    core.adjust { state in
      for identifier in identifiers.compactMap({ LocalIdentifier($0) }) { _ = state.deselect(identifier) }
    }
  }

  /// Puts a selected asset elsewhere in the order of picking (PHPickerViewController.moveAsset(withIdentifier:
  /// afterAssetWithIdentifier:), PK-06).
  ///
  /// Nothing happens if either asset is not selected, and to a session that is over. An order that is not kept by the
  /// configuration's selection is seen by the presenter only.
  /// - Parameters:
  ///   - identifier: the asset that is moved.
  ///   - other: the asset that it comes after; nil: it comes first.
  /// - Complexity: O(k) for k selected assets.
  public func moveAsset(withIdentifier identifier: String, afterAssetWithIdentifier other: String?) {
    guard let moved = LocalIdentifier(identifier) else { return }
    let anchor = other.map { LocalIdentifier($0) }
    if case .some(nil) = anchor { return }
    core.adjust { $0.move(moved, after: anchor ?? nil) }
  }

  /// Changes the configuration (PHPickerViewController.updatePicker(using:)).
  /// - Throws: ``LibraryError`` `.changeNotSupported` for a session that has ended, `.malformedRequest` for a negative
  ///   limit.
  public func update(_ update: PickerUpdate) throws {
    try core.change { state in
      try state.checkOpen()
      try state.update(update)
    }
  }

  /// Ends the session without a choice; the last result is the preselection (PK-04). A session that is over is left
  /// alone.
  public func cancel() { core.cancel() }
}

/// The results of a picking session, each the whole selection at its time.
public struct PickingResults: AsyncSequence, Sendable {
  /// The picked items: in the order of picking if the configuration keeps it, otherwise in the library's order.
  public typealias Element = [PickedItem]

  let stream: AsyncStream<[PickedItem]>

  /// Takes the results from here on.
  public func makeAsyncIterator() -> AsyncStream<[PickedItem]>.Iterator { stream.makeAsyncIterator() }
}

/// The state of a picking session for its presenter.
public struct PickingPresentation: Sendable, Hashable {
  /// How far the session is.
  public let state: PickingSession.State
  /// The identifiers of what is selected, in the order of picking.
  public let selection: [String]
  /// The most assets that can be picked; 0: any number.
  public let selectionLimit: Int
  /// What the person leaves out of the bytes of what is given from now on.
  public let withheld: PickerMetadataOptions

  init(_ state: PickingState) {
    self.state = state.phase
    selection = state.selection.map { $0.identifier.spelled(as: .asset) }
    selectionLimit = state.limit
    withheld = state.withheld
  }
}

/// A picking session as the store holds it; both faces act on it.
///
/// `state` and `watchers` are guarded by their locks. The lock of `state` is held while a pick is recorded, so that
/// taps take effect, and are reported, one after another; no re-entrant call is made under it.
final class PickingCore: Sendable {
  let id: String
  let client: String
  let configuration: PickerConfiguration
  let state: Mutex<PickingState>
  let results = AsyncStream.makeStream(of: [PickedItem].self)
  private let watchers = Mutex<[AsyncStream<PickingPresentation>.Continuation]>([])
  private let preselected: Set<LocalIdentifier>
  /// Takes the session out of the store's list.
  private let retire: @Sendable (String) -> Void

  init(
    id: String, client: String, _ configuration: PickerConfiguration, preselected: [PickedEntry],
    retire: @escaping @Sendable (String) -> Void
  ) {
    (self.id, self.client, self.configuration) = (id, client, configuration)
    state = Mutex(PickingState(preselected: preselected, limit: configuration.selectionLimit))
    self.preselected = Set(preselected.map(\.identifier))
    self.retire = retire
  }

  // MARK: The client

  /// Changes the selection of an open session, without a result.
  func adjust(_ body: (inout PickingState) -> Void) {
    change { state in if state.phase == .open { body(&state) } }
  }

  func change<E: Error>(_ body: (inout PickingState) throws(E) -> Void) throws(E) {
    try state.withLock { (state) throws(E) in try body(&state) }
    tellWatchers()
  }

  func cancel() {
    let isOver = state.withLock { state in
      if state.phase != .open { return true }
      state.phase = .cancelled
      results.continuation.yield(given)
      return false
    }
    if !isOver { end() }
  }

  /// The preselection as the client gave it, whatever exists of it (PK-04).
  private var given: [PickedItem] {
    distinct(configuration.preselectedAssetIdentifiers.compactMap { LocalIdentifier($0) })
      .map { PickedItem(preselected: $0, configuration) }
  }

  // MARK: The presenter

  /// Executes a tap: changes a copy of the state, records new picks, and reports them.
  /// - Parameters:
  ///   - library: where picks are recorded, as the presenting client sees it.
  ///   - isChoice: whether it may change the selection.
  ///   - body: makes the change; returns whether there was one.
  func tap(in library: PhotoLibrary, isChoice: Bool = true, _ body: (inout PickingState) throws -> Bool) throws {
    let isReported = isChoice && configuration.selection.isContinuous
    try state.withLock { state in
      var next = state
      try next.checkOpen()
      guard try body(&next) else { return }
      if isReported { try record(&next, in: library) }
      state = next
      if isReported { results.continuation.yield(items(of: next)) }
    }
    tellWatchers()
  }

  func finish(in library: PhotoLibrary) throws {
    try state.withLock { state in
      var next = state
      try next.checkOpen()
      try next.checkLimit()
      if !configuration.selection.isContinuous { try record(&next, in: library) }
      next.phase = .finished
      state = next
      if !configuration.selection.isContinuous { results.continuation.yield(items(of: next)) }
    }
    end()
  }

  /// Records the selected assets that were not recorded yet; purged ones are dropped.
  private func record(_ state: inout PickingState, in library: PhotoLibrary) throws {
    // What the client asks to have taken out is recorded with what the person leaves out: the item is loaded without
    // it by its token alone, too, when there is no session any more.
    let form = ItemForm(
      configuration.preferredRepresentation,
      without: state.withheld.union(configuration.metadataOptions))
    state.settle(
      try library.store.recordPick(of: state.unsettled, for: client, in: form, presentedBy: library.client))
  }

  private func items(of state: PickingState) -> [PickedItem] {
    state.ordered(configuration.selection).map { entry in
      preselected.contains(entry.identifier)
        ? PickedItem(preselected: entry.identifier, configuration) : PickedItem(entry, configuration)
    }
  }

  // MARK: Watching

  /// The presentation now and after each change, the newest only; ends with the session.
  func presentations() -> AsyncStream<PickingPresentation> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: PickingPresentation.self, bufferingPolicy: .bufferingNewest(1))
    watchers.withLock { $0.append(continuation) }
    let now = tellWatchers()
    if now.state != .open { finishWatchers() }
    return stream
  }

  @discardableResult
  private func tellWatchers() -> PickingPresentation {
    // Taken under the watchers' lock, so that an older state is never reported after a newer one.
    watchers.withLock { watchers in
      let presentation = PickingPresentation(state.withLock { $0 })
      watchers.removeAll { if case .terminated = $0.yield(presentation) { true } else { false } }
      return presentation
    }
  }

  private func finishWatchers() {
    for watcher in watchers.withLock({ watchers in
      defer { watchers = [] }
      return watchers
    }) { watcher.finish() }
  }

  private func end() {
    results.continuation.finish()
    tellWatchers()
    finishWatchers()
    retire(id)
  }
}

/// The open picking sessions of a store.
final class PickingSessions: StorePart {
  static var closing: ClosingStage { .senders }

  private struct State {
    var open: [PickingCore] = []
    var isClosed = false
  }

  private let state = Mutex(State())

  /// Adds a session; one that begins when the library is closed already ends at once.
  func add(_ core: PickingCore) {
    let isLate = state.withLock { state in
      if !state.isClosed { state.open.append(core) }
      return state.isClosed
    }
    if isLate { core.cancel() }
  }

  func remove(_ id: String) { state.withLock { $0.open.removeAll { $0.id == id } } }

  /// In the order in which they were begun.
  var all: [PickingCore] { state.withLock { $0.open } }

  func close() {
    let open = state.withLock { state in
      state.isClosed = true
      return state.open
    }
    for core in open { core.cancel() }
  }
}

extension LibraryStore {
  /// The picking sessions that are open.
  var picking: PickingSessions { part { _ in PickingSessions() } }
}
