// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Photos

/// Shows what the person at the device has chosen to share, and asks for more.
@MainActor
public final class LimitedAccessFlow: NSObject, PHPhotoLibraryChangeObserver {
  /// What the screen shows.
  public enum Screen: Equatable, Sendable {
    case explanation
    case settingsHint
    case photos(canAskForMore: Bool)
  }

  public private(set) var screen = Screen.explanation
  public private(set) var identifiers: [String] = []
  /// What arrived by the change observer, newest last.
  public private(set) var arrivals: [String] = []

  private var result = PHFetchResult<PHAsset>()

  public override nonisolated init() {
    super.init()
  }

  public func start() async {
    var status = PHPhotoLibrary.authorizationStatus(for: .readWrite)
    if status == .notDetermined {
      status = await PHPhotoLibrary.requestAuthorization(for: .readWrite)
    }
    show(status)
  }

  /// What an app written before iOS 14 believes.
  public var legacyStatus: PHAuthorizationStatus { PHPhotoLibrary.authorizationStatus() }

  public func askForMore() async -> [String] {
    guard screen == .photos(canAskForMore: true) else { return [] }
    return await PHPhotoLibrary.shared().presentLimitedLibraryPicker()
  }

  /// Makes an album of what is shared, which an app may do under limited access.
  public func makeAlbum(titled title: String) async throws -> Int {
    var identifier = ""
    let shared = result
    try await PHPhotoLibrary.shared().performChanges {
      let request = PHAssetCollectionChangeRequest.creationRequestForAssetCollection(withTitle: title)
      request.addAssets(shared)
      identifier = request.placeholderForCreatedAssetCollection.localIdentifier
    }
    let album = PHAssetCollection.fetchAssetCollections(withLocalIdentifiers: [identifier], options: nil).firstObject
    return album.map { PHAsset.fetchAssets(in: $0, options: nil).count } ?? 0
  }

  private func show(_ status: PHAuthorizationStatus) {
    switch status {
    case .authorized, .limited:
      screen = .photos(canAskForMore: status == .limited)
      result = PHAsset.fetchAssets(with: nil)
      refresh()
      PHPhotoLibrary.shared().register(self)
    case .denied, .restricted:
      screen = .settingsHint
    case .notDetermined:
      screen = .explanation
    @unknown default:
      screen = .explanation
    }
  }

  private func refresh() {
    identifiers = (0..<result.count).map { result.object(at: $0).localIdentifier }
  }

  nonisolated public func photoLibraryDidChange(_ changeInstance: PHChange) {
    Task { @MainActor in
      guard let details = changeInstance.changeDetails(for: self.result) else { return }
      self.result = details.fetchResultAfterChanges
      self.arrivals += details.insertedObjects.map(\.localIdentifier)
      self.refresh()
    }
  }
}
