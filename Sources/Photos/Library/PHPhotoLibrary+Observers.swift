// Observers. The core calls observers of its own kind; each of Apple's kind gets one of those, which holds it weakly
// (OB-04) and stays in the library's table until it is unregistered.

internal import PhotoLedger
import Synchronization

/// An observer of commits (OB-01, OB-03; Apple: `PHPhotoLibraryChangeObserver`).
public protocol PHPhotoLibraryChangeObserver: NSObjectProtocol {
  /// Something has changed; called on a serial queue of the observer's.
  func photoLibraryDidChange(_ changeInstance: PHChange)
}

/// An observer of the library's availability (Apple: `PHPhotoLibraryAvailabilityObserver`).
public protocol PHPhotoLibraryAvailabilityObserver: NSObjectProtocol {
  /// The library was closed, or its log was found damaged; see `unavailabilityReason`.
  func photoLibraryDidBecomeUnavailable(_ photoLibrary: PHPhotoLibrary)
}

/// An observer of the history (PH-09; Apple: `PHPhotoLibraryPersistentChangesObserver`).
public protocol PHPhotoLibraryPersistentChangesObserver: NSObjectProtocol {
  /// There is more; fetch it since your token.
  func photoLibraryPersistentChangesDidUpdate(_ photoLibrary: PHPhotoLibrary)
}

/// The registered observers.
final class ObserverTable: Sendable {
  enum Relay {
    case changes(ChangeRelay), history(HistoryRelay), availability(AvailabilityRelay)

    var observer: AnyObject? {
      switch self {
      case .changes(let relay): relay.observer
      case .history(let relay): relay.observer
      case .availability(let relay): relay.observer
      }
    }

    /// The relay itself, as an object.
    var object: AnyObject {
      switch self {
      case .changes(let relay): relay
      case .history(let relay): relay
      case .availability(let relay): relay
      }
    }

    func unregister(from library: PhotoLibrary) {
      switch self {
      case .changes(let relay): library.unregisterChangeObserver(relay)
      case .history(let relay): library.unregisterPersistentChangesObserver(relay)
      case .availability(let relay): library.unregisterAvailabilityObserver(relay)
      }
    }
  }

  /// What an observer is registered for.
  enum Kind { case changes, history, availability }

  /// The key of a registration: an observer's address, valid even in its `deinit`, and the kind.
  private struct Entry {
    let address: ObjectIdentifier
    let kind: Kind
    let relay: Relay

    func isFor(_ observer: AnyObject, _ kind: Kind) -> Bool {
      address == ObjectIdentifier(observer) && self.kind == kind
    }
  }

  private struct State {
    var entries: [Entry] = []
    /// Another library has become the shared one: observers are no longer called.
    var isClosed = false
  }

  private let state = Mutex(State())

  /// Keeps a relay, and lets go of those whose observers are gone; not if the observer has one of its kind already.
  /// - Returns: whether it was kept.
  func add(_ relay: sending Relay, of kind: Kind, for observer: AnyObject, from library: PhotoLibrary) -> Bool {
    forgetAbandoned(from: library)
    return state.withLock { state in
      guard !state.isClosed, !state.entries.contains(where: { $0.isFor(observer, kind) }) else { return false }
      state.entries.append(Entry(address: ObjectIdentifier(observer), kind: kind, relay: relay))
      return true
    }
  }

  /// Whether an observer is called for each change.
  var observeChanges: Bool { state.withLock { $0.entries.contains { $0.kind == .changes } } }

  func remove(_ observer: AnyObject, of kind: Kind, from library: PhotoLibrary) {
    remove(from: library) { $0.isFor(observer, kind) }
  }

  /// Removes those whose observers were released, so that a new one at the same address is not taken for it.
  ///
  /// Outside the lock: reading a weak observer retains it briefly, possibly as the last reference. Its `deinit` may
  /// then call back here, for example to unregister.
  private func forgetAbandoned(from library: PhotoLibrary) {
    let all = state.withLock { Transfer($0.entries.map(\.relay)) }
    let gone = Set(all.relays.filter { $0.observer == nil }.map { ObjectIdentifier($0.object) })
    if !gone.isEmpty { remove(from: library) { gone.contains(ObjectIdentifier($0.relay.object)) } }
  }

  private func remove(from library: PhotoLibrary, where condition: (Entry) -> Bool) {
    let found = state.withLock { state in
      let found = state.entries.filter(condition)
      state.entries.removeAll(where: condition)
      return Transfer(found.map(\.relay))
    }
    for relay in found.relays { relay.unregister(from: library) }
  }

  /// Unregisters all observers; observers of availability are notified, on an arbitrary queue.
  func close(from library: PHPhotoLibrary) {
    let found = state.withLock { state in
      state.isClosed = true
      defer { state.entries = [] }
      return Transfer(state.entries.map(\.relay))
    }
    for relay in found.relays {
      relay.unregister(from: library.core)
      guard case .availability(let relay) = relay else { continue }
      DispatchQueue.global().async { relay.observer?.photoLibraryDidBecomeUnavailable(library) }
    }
  }

  /// Relays on their way out of the lock.
  private struct Transfer: @unchecked Sendable {  // guarded by: relays are constants but for their weak references
    let relays: [Relay]
    init(_ relays: [Relay]) { self.relays = relays }
  }
}

final class ChangeRelay: PhotoLibraryChangeObserver, @unchecked Sendable {
  // guarded by: `observer` is a weak constant in effect, read and zeroed by the runtime
  weak var observer: (any PHPhotoLibraryChangeObserver)?
  weak var library: PHPhotoLibrary?

  init(_ observer: any PHPhotoLibraryChangeObserver, _ library: PHPhotoLibrary) {
    (self.observer, self.library) = (observer, library)
  }

  func photoLibraryDidChange(_ change: LibraryChange) {
    if let library { library.whileShared { observer?.photoLibraryDidChange(PHChange(change, library)) } }
  }
}

final class HistoryRelay: PhotoLibraryPersistentChangesObserver, @unchecked Sendable {
  // guarded by: as ChangeRelay
  weak var observer: (any PHPhotoLibraryPersistentChangesObserver)?
  weak var library: PHPhotoLibrary?

  init(_ observer: any PHPhotoLibraryPersistentChangesObserver, _ library: PHPhotoLibrary) {
    (self.observer, self.library) = (observer, library)
  }

  func photoLibraryPersistentChangesDidUpdate(_: PhotoLibrary) {
    if let library { library.whileShared { observer?.photoLibraryPersistentChangesDidUpdate(library) } }
  }
}

final class AvailabilityRelay: PhotoLibraryAvailabilityObserver, @unchecked Sendable {
  // guarded by: as ChangeRelay
  weak var observer: (any PHPhotoLibraryAvailabilityObserver)?
  weak var library: PHPhotoLibrary?

  init(_ observer: any PHPhotoLibraryAvailabilityObserver, _ library: PHPhotoLibrary) {
    (self.observer, self.library) = (observer, library)
  }

  func photoLibraryDidBecomeUnavailable(because _: LibraryError) {
    if let library { observer?.photoLibraryDidBecomeUnavailable(library) }
  }
}

extension PHPhotoLibrary {
  /// Registers an observer; no effect for a closed library, which has no further changes.
  private func whileOpen(_ register: () throws -> Void) {
    do {
      try register()
    } catch let error as LibraryError where error.code == .closed {
      // `unavailabilityReason` says so.
    } catch {
      Self.unanswerable("PHPhotoLibrary.register(_:)", error)
    }
  }

  /// Registers an observer of later changes; it is not retained, and called once even if registered twice (OB-04;
  /// Apple: `register(_:)`).
  public func register(_ observer: any PHPhotoLibraryChangeObserver) {
    let relay = ChangeRelay(observer, self)
    let isNew = observers.add(.changes(relay), of: .changes, for: observer, from: core)
    if isNew { whileOpen { try core.register(relay) } }
    makeObservedResultsAhead()
  }

  /// Completes large results in the background if an observer will ask about their changes, so that the first of these
  /// reaches it as quickly as the later ones.
  func makeObservedResultsAhead() { if observers.observeChanges { core.makeBegunResultsAhead() } }

  /// Unregisters an observer (Apple: `unregisterChangeObserver(_:)`).
  public func unregisterChangeObserver(_ observer: any PHPhotoLibraryChangeObserver) {
    observers.remove(observer, of: .changes, from: core)
  }

  /// Registers an observer of availability; it is not retained (Apple: `register(_:)`).
  public func register(_ observer: any PHPhotoLibraryAvailabilityObserver) {
    let relay = AvailabilityRelay(observer, self)
    if observers.add(.availability(relay), of: .availability, for: observer, from: core) { core.register(relay) }
  }

  /// Unregisters an observer (Apple: `unregisterAvailabilityObserver(_:)`).
  public func unregisterAvailabilityObserver(_ observer: any PHPhotoLibraryAvailabilityObserver) {
    observers.remove(observer, of: .availability, from: core)
  }

  /// Registers an observer of the history; it is not retained (PH-09; Apple: `register(_:)`).
  public func register(_ observer: any PHPhotoLibraryPersistentChangesObserver) {
    let relay = HistoryRelay(observer, self)
    let isNew = observers.add(.history(relay), of: .history, for: observer, from: core)
    if isNew { whileOpen { try core.register(relay) } }
  }

  /// Unregisters an observer (Apple: `unregisterPersistentChangesObserver(_:)`).
  public func unregisterPersistentChangesObserver(_ observer: any PHPhotoLibraryPersistentChangesObserver) {
    observers.remove(observer, of: .history, from: core)
  }
}
