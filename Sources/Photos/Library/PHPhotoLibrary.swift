// The entry point: which library `shared()` means, and as whom.
//
// On Apple's systems both come from the device and the app's bundle; a server says them. Everything that an object of
// this module does goes through the core library of the `PHPhotoLibrary` it came from, so objects of different clients
// in one process do not mix.
//
//     bootstrap(library 1, as a) ──▶ shared() = 1 as a ──▶ objects of a
//     withClient(named: b) { … }     shared() = 1 as b     inside, and in the tasks begun there
//     bootstrap(library 1, as c) ──▶ shared() = 1 as c     a and b go on
//     bootstrap(library 2, as a) ──▶ shared() = 2 as a     a, b and c of 1 are relinquished: what can fail does, with
//                                                          3143; results go on being read
//
// A library has one `PHPhotoLibrary` for each client (`ClientTable`): what is registered in one scope can be
// unregistered in another, as with the one object that there is on Apple's systems.
//
// New files are examined by exiftool (MediaImport's `ExternalProbe`), unless the library's owner chose before what
// examines them: `setMediaProbe(nil)` on the core library, before it is passed to `bootstrap`, is the way to use it
// without. What was picked is converted by programs of the machine (`ExternalConverter`), unless the owner chose before
// with `setRepresentationConverter`.
//
// The store of a relinquished library stays open as long as an object of it is referred to: a result is pinned to its
// commit and `object(at:)` has no way to fail. Rejected: closing it, which would end the process at the next read.

@_exported import Foundation
@_exported import FoundationNetworking
internal import LibraryPicking
internal import LibraryUploads
internal import MediaImport
public import PhotoLedger
import Synchronization

/// A photo library as one client sees it (Apple: `PHPhotoLibrary`).
open class PHPhotoLibrary: NSObject, @unchecked Sendable {  // guarded by: `core` is immutable, the rest by mutexes
  /// The library of the core that answers for this one.
  package let core: PhotoLibrary
  let isRelinquished = Atomic(false)
  let observers = ObserverTable()
  /// The clients of the same library; nil once nothing but an object of it is left.
  private(set) weak var clients: ClientTable?

  package convenience init(core: PhotoLibrary) { self.init(core: core, among: nil) }

  init(core: PhotoLibrary, among clients: ClientTable?) {
    (self.core, self.clients) = (core, clients)
    core.setDefaultMediaProbe(ExternalProbe.shared)
    core.setDefaultRepresentationConverter(ExternalConverter())
    super.init()
    core.startUploads(over: URLSessionTransport.shared)
  }

  // MARK: Which library

  /// What ``shared()`` means to the process, and the clients of that library.
  private struct Current {
    var library: PHPhotoLibrary
    var clients: ClientTable

    init(_ core: PhotoLibrary) {
      clients = ClientTable()
      library = clients.library(core)
    }
  }

  private static let current = Mutex<Current?>(nil)

  /// Sets the process's ``shared()`` library, and its client. Apple has no such call.
  ///
  /// A later call for the same library names another client: the former one's objects and observers remain usable. A
  /// later call for another library relinquishes the former one, for all its clients: whatever of it can fail does so
  /// from then on with `PHPhotosError.switchingSystemPhotoLibrary`, and its fetch results can still be read. For
  /// several clients at a time, see `withClient(named:_:)`.
  /// - Parameters:
  ///   - url: the folder of the library.
  ///   - client: the name of the client; the owner has full access.
  ///   - createsIfMissing: creates a library if there is none. Without it a mistyped path is an error, and not an empty
  ///     library to which a backup would be synchronised.
  /// - Throws: `LibraryError` if the library cannot be opened or made.
  public static func bootstrap(
    libraryAt url: URL, client: String = PhotoLibrary.owner, createsIfMissing: Bool = false
  ) throws {
    var library: PhotoLibrary
    if createsIfMissing, !FileManager.default.fileExists(atPath: url.path) {
      library = try PhotoLibrary.create(at: url)
    } else {
      library = try PhotoLibrary(at: url)
    }
    // Another client of the same library goes on with the opening that is there: `ClientTable` keeps each of them.
    if let known = current.withLock({ $0?.library.core }), known.isOfSameLibrary(as: library),
      known.momentCommit == nil
    {
      library = known
    }
    bootstrap(client.exact == library.client.exact ? library : library.as(client))
  }

  /// Sets ``shared()`` to an open library of a client, for a program that also uses the core.
  ///
  /// New files are examined by exiftool unless ``PhotoLibrary/setMediaProbe(_:whenUnavailable:)`` chose otherwise
  /// before, and what was picked is converted by exiftool, vips and ffmpeg unless
  /// ``PhotoLibrary/setRepresentationConverter(_:)`` did.
  public static func bootstrap(_ library: PhotoLibrary) {
    let former = current.withLock { current -> ClientTable? in
      if let known = current, known.library.core.isOfSameLibrary(as: library) {
        current?.library = known.clients.library(library)
        return nil
      }
      defer { current = Current(library) }
      return current?.clients
    }
    former?.relinquish()
  }

  func relinquish() {
    isRelinquished.store(true, ordering: .sequentiallyConsistent)
    observers.close(from: self)
  }

  /// The library that ``bootstrap(libraryAt:client:createsIfMissing:)`` named, as that client or as the one of
  /// `withClient(named:_:)` around the call (Apple: `PHPhotoLibrary.shared()`).
  ///
  /// Without a call of `bootstrap` the environment variables `PHOTOLEDGER_LIBRARY` and `PHOTOLEDGER_CLIENT` name
  /// library and client; without the second one, or if it is empty, the client is the owner. Traps with a sentence if
  /// neither names a library that can be opened.
  open class func shared() -> PHPhotoLibrary {
    if let override { return override }
    return current.withLock { current in
      if let current { return current.library }
      let variables = ProcessInfo.processInfo.environment
      guard let path = variables["PHOTOLEDGER_LIBRARY"], !path.isEmpty else {
        fatalError(
          """
          PHPhotoLibrary.shared() has no library: call PHPhotoLibrary.bootstrap(libraryAt:client:) first, or set \
          PHOTOLEDGER_LIBRARY.
          """)
      }
      // An empty variable is that of a configuration that leaves it open.
      let client = variables["PHOTOLEDGER_CLIENT"].flatMap { $0.isEmpty ? nil : $0 }
      if let client, !PhotoLibrary.isClientName(client) {
        fatalError(
          "PHPhotoLibrary.shared(): PHOTOLEDGER_CLIENT must have at most 256 bytes; it has \(client.utf8.count).")
      }
      do {
        let library = try PhotoLibrary(at: URL(filePath: path))
        let made = Current(client.map { library.as($0) } ?? library)
        current = made
        return made.library
      } catch {
        fatalError("PHPhotoLibrary.shared() cannot open the library at \(path): \(error)")
      }
    }
  }

  /// What ``shared()`` means to one task, whatever was bootstrapped.
  @TaskLocal private static var override: PHPhotoLibrary?

  /// Makes ``shared()`` mean a named client of the present library while a function runs. Apple has no such call.
  ///
  /// For a server or a test that acts for several clients at once, each with its own permissions:
  ///
  /// ```swift
  /// let count = PHPhotoLibrary.withClient(named: "com.example.gallery") { PHAsset.fetchAssets(with: nil).count }
  /// ```
  ///
  /// The client is also meant in the tasks and child tasks begun inside, in the handlers of `performChanges` and
  /// `requestAuthorization` that are passed there, and, whenever they are called, in the change observers that are
  /// registered there. Fetch results, objects and resources stay with the client that fetched them, wherever they are
  /// used. A detached task, a block on a dispatch queue, and the handlers of image and resource requests run outside:
  /// there ``shared()`` means the client of the process. Keep the library in a constant for them, or begin a scope.
  ///
  /// The library keeps one object for each client that was named, until `bootstrap` names another library.
  /// - Parameters:
  ///   - client: the client's name, 1 to 256 bytes, none of them zero. It need not be known to the library: what it may
  ///     do is then undecided (FR-18).
  ///   - body: what is done as the client.
  /// - Returns: what the function returns.
  /// - Throws: what the function throws.
  /// - Complexity: O(1).
  public static func withClient<Value>(named client: String, _ body: () throws -> Value) rethrows -> Value {
    let (library, clients) = shared().client(named: client)
    return try withExtendedLifetime(clients) { try $override.withValue(library, operation: body) }
  }

  /// The same for a function that waits; it runs where the caller is.
  /// - Parameters:
  ///   - client: the client's name, 1 to 256 bytes, none of them zero.
  ///   - body: what is done as the client.
  /// - Returns: what the function returns.
  /// - Throws: what the function throws.
  /// - Complexity: O(1).
  public nonisolated(nonsending) static func withClient<Value>(
    named client: String, _ body: nonisolated(nonsending) () async throws -> Value
  ) async rethrows -> Value {
    let (library, clients) = shared().client(named: client)
    defer { withExtendedLifetime(clients) {} }
    return try await $override.withValue(library, operation: body)
  }

  /// The library as a client sees it, and the table that keeps it.
  private func client(named name: String) -> (PHPhotoLibrary, ClientTable) {
    let clients = clients ?? ClientTable()
    return (clients.library(core.as(name)), clients)
  }

  /// Makes a library the shared one for what a function does, and the tasks that it begins; other tasks see no change.
  ///
  /// Unlike `withClient(named:_:)` for any open library, which need not be that of the process.
  package static func withShared<Value>(
    _ library: PhotoLibrary, _ body: () throws -> Value
  ) rethrows -> Value {
    let clients = ClientTable()
    return try withExtendedLifetime(clients) {
      try $override.withValue(clients.library(library), operation: body)
    }
  }

  /// The same for a function that waits.
  package nonisolated(nonsending) static func withShared<Value>(
    _ library: PhotoLibrary, _ body: nonisolated(nonsending) () async throws -> Value
  ) async rethrows -> Value {
    let clients = ClientTable()
    defer { withExtendedLifetime(clients) {} }
    return try await $override.withValue(clients.library(library), operation: body)
  }

  /// Runs a function in which ``shared()`` means this library.
  func asShared<Value>(_ body: () throws -> Value) rethrows -> Value {
    try Self.$override.withValue(self, operation: body)
  }

  /// The same for a function that waits.
  nonisolated(nonsending) func asShared<Value>(
    _ body: nonisolated(nonsending) () async throws -> Value
  ) async rethrows -> Value {
    try await Self.$override.withValue(self, operation: body)
  }

  /// Runs a callback of this library's, in which ``shared()`` means it.
  func whileShared(_ body: () -> Void) {
    let present = Self.override ?? Self.current.withLock { $0?.library }
    if present === self { body() } else { Self.$override.withValue(self, operation: body) }
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

  /// The status for reading and writing, `authorized` for limited access (AU-06; Apple: deprecated).
  open class func authorizationStatus() -> PHAuthorizationStatus {
    answer("PHPhotoLibrary.authorizationStatus()") {
      try shared().core.authorizationStatus()
    }
  }

  /// Requests permission, once, through the prompt of the core (FR-18; Apple: `requestAuthorization(for:)`).
  ///
  /// Traps, as on Apple's systems, for a client that has not said why it wants the access. A library that is closed,
  /// also while the prompt is shown, records no request and no answer: the status is the one from before.
  @discardableResult
  open class func requestAuthorization(for accessLevel: PHAccessLevel) async -> PHAuthorizationStatus {
    let core = shared().core
    do {
      return try await core.requestAuthorization(for: accessLevel)
    } catch let error as LibraryError where error.code == .closed {
      return answer("PHPhotoLibrary.requestAuthorization(for:)") { try core.authorizationStatus(for: accessLevel) }
    } catch {
      unanswerable("PHPhotoLibrary.requestAuthorization(for:)", error)
    }
  }

  /// The same with a handler, which is called on an arbitrary queue (Apple: `requestAuthorization(for:handler:)`).
  @preconcurrency
  open class func requestAuthorization(
    for accessLevel: PHAccessLevel, handler: @escaping @Sendable (PHAuthorizationStatus) -> Void
  ) {
    HandlerTasks.begin { handler(await self.requestAuthorization(for: accessLevel)) }
  }

  /// Requests reading and writing, and returns `authorized` for limited access (AU-06; Apple: deprecated).
  @preconcurrency
  open class func requestAuthorization(_ handler: @escaping @Sendable (PHAuthorizationStatus) -> Void) {
    HandlerTasks.begin {
      handler(await self.requestAuthorization(for: .readWrite).withoutLimits)
    }
  }

  /// Shows the prompt for more assets of a limited client's selection (AU-05).
  ///
  /// The prompt of the core asks; Apple's forms, which take a view controller, do the same. What is added arrives
  /// through the change observers as well (AU-04).
  /// - Returns: the identifiers that this call added; none without a prompt, for a client that is not limited, and for
  ///   a library that is no longer the shared one or was closed, also while the prompt was shown.
  open func presentLimitedLibraryPicker() async -> [String] {
    guard !isRelinquished.load(ordering: .acquiring) else { return [] }
    do {
      return try await core.presentLimitedLibraryPicker()
    } catch let error as LibraryError where error.code == .closed {
      return []
    } catch {
      Self.unanswerable("PHPhotoLibrary.presentLimitedLibraryPicker()", error)
    }
  }

  /// Shows the prompt for more assets of a limited client's selection (Apple: `presentLimitedLibraryPicker(from:)`).
  /// - Parameter controller: makes no difference, as there is no screen. Kept for source compatibility.
  /// - Returns: as ``presentLimitedLibraryPicker()``.
  @discardableResult
  public func presentLimitedLibraryPicker(from controller: UIViewController) async -> [String] {
    await presentLimitedLibraryPicker()
  }

  /// The same without waiting: what is added arrives through the change observers (AU-04).
  public func presentLimitedLibraryPicker(from controller: UIViewController) {
    presentLimitedLibraryPicker(from: controller) { _ in }
  }

  /// The same with a handler, which is called once on an arbitrary thread with the identifiers that were added by it
  /// (AU-05; Apple: `presentLimitedLibraryPicker(from:completionHandler:)`).
  @preconcurrency
  public func presentLimitedLibraryPicker(
    from controller: UIViewController, completionHandler: @escaping @Sendable ([String]) -> Void
  ) {
    HandlerTasks.begin { completionHandler(await self.presentLimitedLibraryPicker()) }
  }

  /// Calls a function of the core where Apple's spelling leaves no room for an error.
  package static func answer<Value>(_ call: String, _ body: () throws -> Value) -> Value {
    do {
      return try body()
    } catch {
      unanswerable(call, error)
    }
  }

  /// The same with an answer for a library that was closed.
  static func answer<Value>(
    _ call: String, ifClosed closed: @autoclosure () -> Value, _ body: () throws -> Value
  ) -> Value {
    answer(call) {
      do { return try body() } catch let error as LibraryError where error.code == .closed { return closed() }
    }
  }

  static func unanswerable(_ call: String, _ error: any Error) -> Never { fatalError("\(call) failed: \(error)") }
}
