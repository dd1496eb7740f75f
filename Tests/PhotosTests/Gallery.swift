import PhotoLedger
import Photos
import TestSupport
import Testing

/// A library of a test's own, with short ways to fill it.
final class Gallery: Sendable {
  let temporary: TemporaryLibrary

  /// - Parameters:
  ///   - examinesMedia: whether new bytes are examined; most tests say text is a photo.
  ///   - folder: where the library lies; one in a folder of its own if nil.
  init(seed: UInt64 = 1, examinesMedia: Bool = false, in folder: TemporaryFolder? = nil) throws {
    temporary = try TemporaryLibrary(.seeded(seed), in: folder)
    if !examinesMedia { try library.setMediaProbe(nil) }
  }

  var library: PhotoLibrary { temporary.library }

  /// Makes it the shared library for what a function does.
  nonisolated(nonsending) func shared<Value>(
    as client: String = PhotoLibrary.owner, _ body: nonisolated(nonsending) () async throws -> Value
  ) async throws -> Value {
    try await PHPhotoLibrary.withShared(library.as(client), body)
  }

  /// Makes images without bytes, each a day younger than the one before.
  @discardableResult
  nonisolated(nonsending) func images(_ seeds: Range<Int>) async throws -> [String] {
    try await library.performChanges { block in
      for seed in seeds {
        block.createAsset(.invented(seed, date: Date(timeIntervalSince1970: Double(seed) * 86_400)))
      }
    }.created
  }

  /// Makes an image, a video or a sound without bytes, with what is passed to the core.
  @discardableResult
  nonisolated(nonsending) func make(
    _ seed: Int, _ mediaType: MediaType = .image, _ change: (inout AssetCreation) -> Void = { _ in }
  ) async throws -> String {
    var creation = AssetCreation.invented(seed, date: Date(timeIntervalSince1970: Double(seed) * 86_400), mediaType)
    change(&creation)
    return try await library.performChanges { $0.createAsset(creation) }.created[0]
  }

  /// Registers a client that says why it wants access, and decides about it.
  nonisolated(nonsending) func client(
    _ status: AuthorizationStatus, for level: AccessLevel = .readWrite, _ selection: [String] = [],
    named name: String = "com.example.app"
  ) async throws {
    var registration = ClientRegistration()
    registration.readWriteUsageDescription = "To show photos."
    registration.addOnlyUsageDescription = "To save photos."
    try await library.performChanges { block in
      block.register(client: name, registration)
      if status != .notDetermined { block.setAuthorizationStatus(status, of: name, for: level) }
      block.grant(selection.compactMap { LocalIdentifier($0) }, to: name)
    }
  }
}

/// Keeps what it receives.
final class Keeper: NSObject, PHPhotoLibraryChangeObserver {
  private let changes = Gathered<PHChange>()

  func photoLibraryDidChange(_ changeInstance: PHChange) { changes.append(changeInstance) }

  var all: [PHChange] { changes.all }

  /// Executes a block in the shared library, and gives the change that the observer receives.
  nonisolated(nonsending) func told(_ block: () throws -> Void) async throws -> PHChange {
    let count = all.count
    var failure: (any Error)?
    try await PHPhotoLibrary.shared().performChanges {
      do { try block() } catch { failure = error }
    }
    if let failure { throw failure }
    try await waitUntil("the observer is notified") { all.count > count }
    return all[count]
  }
}

/// The test's observer of the shared library.
func keeper() -> Keeper {
  let keeper = Keeper()
  PHPhotoLibrary.shared().register(keeper)
  return keeper
}

extension PHFetchResult where ObjectType: PHObject {
  /// The identifiers, in order.
  var names: [String] { (0..<count).map { object(at: $0).localIdentifier } }
}

extension PHFetchResult where ObjectType: PHCollection {
  /// The titles, in order.
  var titles: [String] { (0..<count).map { object(at: $0).localizedTitle ?? "" } }
}

/// The assets of the shared library in its order, or as options say.
func assets(_ change: (PHFetchOptions) -> Void = { _ in }) -> PHFetchResult<PHAsset> {
  let options = PHFetchOptions()
  change(options)
  return PHAsset.fetchAssets(with: options)
}

/// The asset with an identifier.
func asset(_ identifier: String) throws -> PHAsset {
  let options = PHFetchOptions()
  options.includeHiddenAssets = true
  options.includeAllBurstAssets = true
  return try #require(PHAsset.fetchAssets(withLocalIdentifiers: [identifier], options: options).firstObject)
}

/// Makes an album of the shared library.
nonisolated(nonsending) func album(_ title: String, _ members: [PHAsset] = []) async throws -> PHAssetCollection {
  var identifier = ""
  try await PHPhotoLibrary.shared().performChanges {
    let request = PHAssetCollectionChangeRequest.creationRequestForAssetCollection(withTitle: title)
    request.addAssets(members as NSArray)
    identifier = request.placeholderForCreatedAssetCollection.localIdentifier
  }
  return try #require(
    PHAssetCollection.fetchAssetCollections(withLocalIdentifiers: [identifier], options: nil).firstObject)
}

/// The code with which the shared library refuses a block, after checking that it left nothing (CB-06).
nonisolated(nonsending) func refusal(_ block: () -> Void) async -> PHPhotosError.Code? {
  let before = PHPhotoLibrary.shared().currentChangeToken
  do {
    try await PHPhotoLibrary.shared().performChanges(block)
    return nil
  } catch {
    #expect(PHPhotoLibrary.shared().currentChangeToken == before, "A block that failed left a commit (CB-06).")
    return (error as? PHPhotosError)?.code
  }
}

/// An answer to every question of a client.
final class SettledPrompt: PermissionPrompt {
  private let decision: PermissionDecision?
  private let more: [String]

  init(_ decision: PermissionDecision?, more: [String] = []) { (self.decision, self.more) = (decision, more) }

  func decide(about client: Client, for level: AccessLevel, in library: PhotoLibrary) -> PermissionDecision? {
    decision
  }

  func offerMore(to client: Client, in library: PhotoLibrary) -> [LocalIdentifier] {
    more.compactMap { LocalIdentifier($0) }
  }
}
