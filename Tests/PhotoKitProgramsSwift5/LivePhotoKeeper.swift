// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Photos
import PhotosUI

/// Keeps the two files of Live Photos elsewhere, and puts them together again.
@MainActor
public final class LivePhotoKeeper: NSObject, PHLivePhotoViewDelegate {
  public let view = PHLivePhotoView(frame: CGRect(x: 0, y: 0, width: 300, height: 400))
  public private(set) var events: [String] = []

  public override init() {
    super.init()
    view.delegate = self
  }

  /// Shows the Live Photo of an asset.
  public func show(_ asset: PHAsset, in size: CGSize) async throws -> CGSize {
    let options = PHLivePhotoRequestOptions()
    options.deliveryMode = .highQualityFormat
    options.isNetworkAccessAllowed = true
    let livePhoto: PHLivePhoto = try await withCheckedThrowingContinuation { continuation in
      PHImageManager.default().requestLivePhoto(
        for: asset, targetSize: size, contentMode: .aspectFit, options: options
      ) { livePhoto, info in
        if let livePhoto {
          continuation.resume(returning: livePhoto)
        } else {
          continuation.resume(throwing: info?[PHImageErrorKey] as? any Error ?? CocoaError(.fileReadUnknown))
        }
      }
    }
    view.livePhoto = livePhoto
    return livePhoto.size
  }

  /// Writes the files of what is shown into a folder.
  public func export(to folder: URL) async throws -> [URL] {
    guard let livePhoto = view.livePhoto else { return [] }
    var urls: [URL] = []
    for resource in PHAssetResource.assetResources(for: livePhoto) {
      let url = folder.appendingPathComponent(resource.originalFilename)
      try await PHAssetResourceManager.default().writeData(for: resource, toFile: url, options: nil)
      urls.append(url)
    }
    return urls
  }

  /// Puts files together again.
  public nonisolated func assemble(_ urls: [URL]) async throws -> PHLivePhoto {
    try await withCheckedThrowingContinuation { continuation in
      _ = PHLivePhoto.request(
        withResourceFileURLs: urls, placeholderImage: nil, targetSize: .zero, contentMode: .aspectFit
      ) { livePhoto, info in
        if info[PHLivePhotoInfoIsDegradedKey] as? Bool == true { return }
        if let error = info[PHLivePhotoInfoErrorKey] as? any Error {
          continuation.resume(throwing: error)
        } else if let livePhoto {
          continuation.resume(returning: livePhoto)
        } else {
          continuation.resume(throwing: CancellationError())
        }
      }
    }
  }

  public func livePhotoView(
    _ livePhotoView: PHLivePhotoView, willBeginPlaybackWith playbackStyle: PHLivePhotoViewPlaybackStyle
  ) {
    events.append("begin \(playbackStyle.rawValue)")
  }

  public func livePhotoView(
    _ livePhotoView: PHLivePhotoView, didEndPlaybackWith playbackStyle: PHLivePhotoViewPlaybackStyle
  ) {
    events.append("end \(playbackStyle.rawValue)")
  }
}
