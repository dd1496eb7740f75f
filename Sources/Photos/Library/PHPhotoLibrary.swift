// The entry point: which library `shared()` means, and as whom.
//
// On Apple's systems both come from the device and the app's bundle; a server says them. Everything that an object of
// this module does goes through the core library of the `PHPhotoLibrary` it came from, so objects of different clients
// in one process do not mix.
//
//     bootstrap(A) ──▶ shared() = A ──▶ objects of A
//     bootstrap(B) ──▶ shared() = B       A is relinquished: what can fail does, with 3143; results go on being read
//
// The store of a relinquished library stays open as long as an object of it is referred to: a result is pinned to its
// commit and `object(at:)` has no way to fail. Refused: closing it, which would end the process at the next read.

@_exported import Foundation
@_exported import FoundationNetworking
public import PhotoLedger
import Synchronization

/// A photo library as one client sees it (Apple: `PHPhotoLibrary`).
open class PHPhotoLibrary: NSObject, @unchecked Sendable {  // guarded by: `core` is immutable, the rest by mutexes
  /// The library of the core that answers for this one.
  package let core: PhotoLibrary
  let isRelinquished = Atomic(false)
  let observers = ObserverTable()

  package init(core: PhotoLibrary) {
    self.core = core
    super.init()
    core.startUploads(over: URLSessionTransport.shared)
  }

  // MARK: Which library

  private static let current = Mutex<PHPhotoLibrary?>(nil)

  /// Says which library ``shared()`` means, and as whom it is used. Apple has no such call.
  ///
  /// A later call begins afresh: the former library is relinquished, and whatever of it can fail does so from then on
  /// with `PHPhotosError.switchingSystemPhotoLibrary`. Its fetch results can still be read.
  /// - Parameters:
  ///   - url: the folder of the library.
  ///   - client: the name of the client; the owner sees everything.
  ///   - createsIfMissing: makes a library if there is none. Without it a mistyped path is an error, and not an empty
  ///     library to which a backup would be adjusted.
  /// - Throws: `LibraryError` if the library cannot be opened or made.
  public static func bootstrap(
    libraryAt url: URL, client: String = PhotoLibrary.owner, createsIfMissing: Bool = false
  ) throws {
    let library: PhotoLibrary
    if createsIfMissing, !FileManager.default.fileExists(atPath: url.path) {
      library = try PhotoLibrary.create(at: url)
    } else {
      library = try PhotoLibrary(at: url)
    }
    bootstrap(client == PhotoLibrary.owner ? library : library.as(client))
  }

  /// Says which open library, as which client, ``shared()`` means: for a program that uses the core too.
  public static func bootstrap(_ library: PhotoLibrary) {
    let next = PHPhotoLibrary(core: library)
    let former = current.withLock { current in
      defer { current = next }
      return current
    }
    former?.relinquish()
  }

  private func relinquish() {
    isRelinquished.store(true, ordering: .sequentiallyConsistent)
    observers.close(from: self)
  }

  /// The library that ``bootstrap(libraryAt:client:createsIfMissing:)`` named (Apple: `PHPhotoLibrary.shared()`).
  ///
  /// Without that call the environment variables `PHOTOLEDGER_LIBRARY` and `PHOTOLEDGER_CLIENT` name library and
  /// client. Traps with a sentence if neither names a library that can be opened.
  open class func shared() -> PHPhotoLibrary {
    if let override { return override }
    return current.withLock { current in
      if let current { return current }
      let variables = ProcessInfo.processInfo.environment
      guard let path = variables["PHOTOLEDGER_LIBRARY"], !path.isEmpty else {
        fatalError(
          """
          PHPhotoLibrary.shared() has no library: call PHPhotoLibrary.bootstrap(libraryAt:client:) first, or set \
          PHOTOLEDGER_LIBRARY.
          """)
      }
      do {
        let library = try PhotoLibrary(at: URL(filePath: path))
        let made = PHPhotoLibrary(core: variables["PHOTOLEDGER_CLIENT"].map { library.as($0) } ?? library)
        current = made
        return made
      } catch {
        fatalError("PHPhotoLibrary.shared() cannot open the library at \(path): \(error)")
      }
    }
  }

  /// What ``shared()`` means to one task, whatever was bootstrapped.
  @TaskLocal private static var override: PHPhotoLibrary?

  /// Makes a library the shared one for what a function does, and the tasks that it begins; other tasks see no change.
  ///
  /// `bootstrap` is for a whole process. This is for one part of it, such as a test beside others.
  package static func withShared<Value>(
    _ library: PhotoLibrary, _ body: () throws -> Value
  ) rethrows -> Value {
    try $override.withValue(PHPhotoLibrary(core: library), operation: body)
  }

  /// The same for a function that waits.
  package nonisolated(nonsending) static func withShared<Value>(
    _ library: PhotoLibrary, _ body: nonisolated(nonsending) () async throws -> Value
  ) async rethrows -> Value {
    try await $override.withValue(PHPhotoLibrary(core: library), operation: body)
  }

  /// The core's library, unless another one has taken its place.
  package func present() throws -> PhotoLibrary {
    if isRelinquished.load(ordering: .acquiring) {
      throw PHPhotosError(
        .switchingSystemPhotoLibrary,
        "The library at \(core.url.path) is no longer the shared one: PHPhotoLibrary.bootstrap named another since.")
    }
    return core
  }

  /// Why the library cannot be used; nil while it can (Apple: `unavailabilityReason`).
  open var unavailabilityReason: (any Error)? {
    do {
      return try present().unavailabilityReason.map(PHPhotosError.init)
    } catch {
      return error
    }
  }

  // MARK: Permission

  /// What the client may do at a level (AU-09; Apple: `authorizationStatus(for:)`).
  open class func authorizationStatus(for accessLevel: PHAccessLevel) -> PHAuthorizationStatus {
    answer("PHPhotoLibrary.authorizationStatus(for:)") {
      try shared().core.authorizationStatus(for: accessLevel)
    }
  }

  /// What the client may read and write, told as authorized when it is limited (AU-06; Apple: deprecated).
  open class func authorizationStatus() -> PHAuthorizationStatus {
    answer("PHPhotoLibrary.authorizationStatus()") {
      try shared().core.authorizationStatus()
    }
  }

  /// Asks for permission, once, through the prompt of the core (FR-18; Apple: `requestAuthorization(for:)`).
  ///
  /// Traps, as on Apple's systems, for a client that has not said why it wants the access.
  @discardableResult
  open class func requestAuthorization(for accessLevel: PHAccessLevel) async -> PHAuthorizationStatus {
    do {
      return try await shared().core.requestAuthorization(for: accessLevel)
    } catch {
      unanswerable("PHPhotoLibrary.requestAuthorization(for:)", error)
    }
  }

  /// The same with a handler, which is called on an arbitrary queue (Apple: `requestAuthorization(for:handler:)`).
  @preconcurrency
  open class func requestAuthorization(
    for accessLevel: PHAccessLevel, handler: @escaping @Sendable (PHAuthorizationStatus) -> Void
  ) {
    Task { handler(await requestAuthorization(for: accessLevel)) }
  }

  /// Asks for reading and writing, and tells authorized when it is limited (AU-06; Apple: deprecated).
  @preconcurrency
  open class func requestAuthorization(_ handler: @escaping @Sendable (PHAuthorizationStatus) -> Void) {
    Task {
      let status = await requestAuthorization(for: .readWrite)
      handler(status == .limited ? .authorized : status)
    }
  }

  /// Lets the person at the library add to a limited client's selection (AU-05).
  ///
  /// Apple's takes the view controller to present from, `presentLimitedLibraryPicker(from:)`; here the prompt of the
  /// core asks. What is added arrives through the change observers as well (AU-04).
  /// - Returns: the identifiers that this call added; none without a prompt, for a client that is not limited, and for
  ///   a library that is no longer the shared one.
  open func presentLimitedLibraryPicker() async -> [String] {
    guard !isRelinquished.load(ordering: .acquiring) else { return [] }
    do {
      return try await core.presentLimitedLibraryPicker()
    } catch {
      Self.unanswerable("PHPhotoLibrary.presentLimitedLibraryPicker()", error)
    }
  }

  /// Calls a function of the core where Apple's spelling leaves no room for an error.
  package static func answer<Value>(_ call: String, _ body: () throws -> Value) -> Value {
    do {
      return try body()
    } catch {
      unanswerable(call, error)
    }
  }

  static func unanswerable(_ call: String, _ error: any Error) -> Never { fatalError("\(call) failed: \(error)") }
}
