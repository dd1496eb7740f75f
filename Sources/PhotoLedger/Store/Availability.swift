import Dispatch
import Synchronization

// Whether the library can still be used (PHPhotoLibrary.unavailabilityReason).
//
// A library becomes unavailable once and permanently: it was closed, its store was found damaged or migrated by a newer
// program, or it could not be reopened after a failed write. The first of these is the recorded reason, and every
// observer is notified once. An observer that registers later is notified at once, so that none waits for an
// unavailable library. A transient error, such as a full disk, fails only the block that met it.

/// An observer of a library's availability (PHPhotoLibraryAvailabilityObserver).
public protocol PhotoLibraryAvailabilityObserver: AnyObject, Sendable {
  /// Called once, on a serial queue of the library's; results that are held may still be read where the store allows.
  /// - Parameter reason: what ``PhotoLibrary/unavailabilityReason`` says from now on.
  func photoLibraryDidBecomeUnavailable(because reason: LibraryError)
}

/// Why a library is unavailable, and its observers; `state` is guarded by its lock. `hasEnded` is set under the lock,
/// once there is a reason.
final class Availability: Sendable {
  private final class WeakObserver: Sendable {
    weak let observer: (any PhotoLibraryAvailabilityObserver)?
    /// Where it lies, by which it is known even in its `deinit`.
    let address: ObjectIdentifier

    init(_ observer: any PhotoLibraryAvailabilityObserver) {
      self.observer = observer
      address = ObjectIdentifier(observer)
    }
  }

  private struct State {
    var reason: LibraryError?
    var observers: [WeakObserver] = []
  }

  private let state = Mutex(State())
  /// Each request of a server asks, so the answer of a library that can be used takes no lock.
  private let hasEnded = Atomic(false)
  private let queue = DispatchQueue(label: "photoledger.availability")

  var reason: LibraryError? { hasEnded.load(ordering: .acquiring) ? state.withLock { $0.reason } : nil }

  /// Marks the library as unavailable; only the first reason is kept.
  func end(_ reason: LibraryError) {
    let observers = state.withLock { state in
      guard state.reason == nil else { return [WeakObserver]() }
      state.reason = reason
      hasEnded.store(true, ordering: .releasing)
      defer { state.observers = [] }
      return state.observers
    }
    for observer in observers { notify(observer, reason) }
  }

  func add(_ observer: any PhotoLibraryAvailabilityObserver) {
    let held = WeakObserver(observer)
    // Read outside the lock: this may be the last reference to an observer, and its `deinit` may unregister it.
    let gone = Set(state.withLock { $0.observers }.filter { $0.observer == nil }.map(ObjectIdentifier.init))
    let reason = state.withLock { state in
      state.observers.removeAll { gone.contains(ObjectIdentifier($0)) }
      if state.reason == nil { state.observers.append(held) }
      return state.reason
    }
    if let reason { notify(held, reason) }
  }

  func remove(_ observer: any PhotoLibraryAvailabilityObserver) {
    state.withLock { state in state.observers.removeAll { $0.address == ObjectIdentifier(observer) } }
  }

  private func notify(_ observer: WeakObserver, _ reason: LibraryError) {
    queue.async { observer.observer?.photoLibraryDidBecomeUnavailable(because: reason) }
  }
}

extension PhotoLibrary {
  /// Why the library cannot be used any more: closed, damaged, migrated by a newer program, or lost after a failed
  /// write; nil while it can (PHPhotoLibrary.unavailabilityReason).
  public var unavailabilityReason: LibraryError? { store.availability.reason }

  /// Registers an observer of availability, which is notified at once if the library is already unavailable; it is not
  /// retained (OB-04).
  public func register(_ observer: any PhotoLibraryAvailabilityObserver) { store.availability.add(observer) }

  /// Stops waiting for the library to become unavailable.
  public func unregisterAvailabilityObserver(_ observer: any PhotoLibraryAvailabilityObserver) {
    store.availability.remove(observer)
  }
}
