// Observers. The core tells observers of its own kind; each of Apple's kind is given one of those, which holds it
// weakly (OB-04) and lives in the library's table until it is unregistered.

internal import PhotoLedger
import Synchronization

/// Is told of each commit that concerns it (OB-01, OB-03; Apple: `PHPhotoLibraryChangeObserver`).
public protocol PHPhotoLibraryChangeObserver: NSObjectProtocol {
  /// Something has changed; called on a serial queue of the observer's.
  func photoLibraryDidChange(_ changeInstance: PHChange)
}

/// Is told when the library can no longer be used (Apple: `PHPhotoLibraryAvailabilityObserver`).
public protocol PHPhotoLibraryAvailabilityObserver: NSObjectProtocol {
  /// The library was closed, or its log was found damaged; see `unavailabilityReason`.
  func photoLibraryDidBecomeUnavailable(_ photoLibrary: PHPhotoLibrary)
}

/// Is told that the history has grown (PH-09; Apple: `PHPhotoLibraryPersistentChangesObserver`).
public protocol PHPhotoLibraryPersistentChangesObserver: NSObjectProtocol {
  /// There is more; fetch it since your token.
  func photoLibraryPersistentChangesDidUpdate(_ photoLibrary: PHPhotoLibrary)
}

/// Who is told for whom.
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

    /// Whether it tells the same observer of the same.
    func isLike(_ other: Relay) -> Bool {
      switch (self, other) {
      case (.changes, .changes), (.history, .history), (.availability, .availability): observer === other.observer
      default: false
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

  private struct State {
    var relays: [Relay] = []
    /// Another library has become the shared one: nobody is told any more.
    var isClosed = false
  }

  private let state = Mutex(State())

  /// Keeps a relay, and lets go of those whose observers are gone; not if the observer has one of its kind already.
  /// - Returns: whether it was kept.
  func add(_ relay: sending Relay, from library: PhotoLibrary) -> Bool {
    let gone = state.withLock { state -> Transfer? in
      guard !state.isClosed, !state.relays.contains(where: { $0.isLike(relay) }) else { return nil }
      let gone = state.relays.filter { $0.observer == nil }
      state.relays.removeAll { $0.observer == nil }
      state.relays.append(relay)
      return Transfer(gone)
    }
    for relay in gone?.relays ?? [] { relay.unregister(from: library) }
    return gone != nil
  }

  func remove(from library: PhotoLibrary, where condition: (Relay) -> Bool) {
    let found = state.withLock { state in
      let found = state.relays.filter(condition)
      state.relays.removeAll(where: condition)
      return Transfer(found)
    }
    for relay in found.relays { relay.unregister(from: library) }
  }

  /// Ends all telling; observers of availability are told so, on an arbitrary queue.
  func close(from library: PHPhotoLibrary) {
    let found = state.withLock { state in
      state.isClosed = true
      defer { state.relays = [] }
      return Transfer(state.relays)
    }
    for relay in found.relays {
      relay.unregister(from: library.core)
      guard case .availability(let relay) = relay else { continue }
      DispatchQueue.global().async { relay.observer?.photoLibraryDidBecomeUnavailable(library) }
    }
  }

  /// Relays on their way out of the lock.
  private struct Transfer: @unchecked Sendable {  // guarded by: each is removed from the table before it is handed out
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
    if let library { observer?.photoLibraryDidChange(PHChange(change, library)) }
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
    if let library { observer?.photoLibraryPersistentChangesDidUpdate(library) }
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
  /// Registers an observer; with a closed library, of which there is nothing to tell any more, nothing happens.
  private func whileOpen(_ register: () throws -> Void) {
    do {
      try register()
    } catch let error as LibraryError where error.code == .closed {
      // `unavailabilityReason` says so.
    } catch {
      Self.unanswerable("PHPhotoLibrary.register(_:)", error)
    }
  }

  /// Tells an observer of later changes; it is not retained, and told once though it registers twice
  /// (OB-04; Apple: `register(_:)`).
  public func register(_ observer: any PHPhotoLibraryChangeObserver) {
    let relay = ChangeRelay(observer, self)
    if observers.add(.changes(relay), from: core) { whileOpen { try core.register(relay) } }
  }

  /// Tells an observer no longer (Apple: `unregisterChangeObserver(_:)`).
  public func unregisterChangeObserver(_ observer: any PHPhotoLibraryChangeObserver) {
    observers.remove(from: core) { if case .changes(let relay) = $0 { relay.observer === observer } else { false } }
  }

  /// Tells an observer when the library becomes unavailable; it is not retained (Apple: `register(_:)`).
  public func register(_ observer: any PHPhotoLibraryAvailabilityObserver) {
    let relay = AvailabilityRelay(observer, self)
    if observers.add(.availability(relay), from: core) { core.register(relay) }
  }

  /// Tells an observer no longer (Apple: `unregisterAvailabilityObserver(_:)`).
  public func unregisterAvailabilityObserver(_ observer: any PHPhotoLibraryAvailabilityObserver) {
    observers.remove(from: core) {
      if case .availability(let relay) = $0 { relay.observer === observer } else { false }
    }
  }

  /// Tells an observer that the history has grown; it is not retained (PH-09; Apple: `register(_:)`).
  public func register(_ observer: any PHPhotoLibraryPersistentChangesObserver) {
    let relay = HistoryRelay(observer, self)
    if observers.add(.history(relay), from: core) { whileOpen { try core.register(relay) } }
  }

  /// Tells an observer no longer (Apple: `unregisterPersistentChangesObserver(_:)`).
  public func unregisterPersistentChangesObserver(_ observer: any PHPhotoLibraryPersistentChangesObserver) {
    observers.remove(from: core) { if case .history(let relay) = $0 { relay.observer === observer } else { false } }
  }
}
