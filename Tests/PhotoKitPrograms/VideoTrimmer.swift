// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import AVFoundation
import CoreMedia
import Photos

/// Finds how long and large videos are, and exports parts of them.
public struct VideoTrimmer: Sendable {
  public init() {}

  public func film(of asset: PHAsset) async throws -> AVURLAsset {
    let options = PHVideoRequestOptions()
    options.version = .original
    options.deliveryMode = .automatic
    options.isNetworkAccessAllowed = true
    return try await withCheckedThrowingContinuation { continuation in
      PHImageManager.default().requestAVAsset(forVideo: asset, options: options) { film, _, info in
        guard let film = film as? AVURLAsset else {
          return continuation.resume(throwing: info?[PHImageErrorKey] as? any Error ?? CocoaError(.fileReadUnknown))
        }
        continuation.resume(returning: film)
      }
    }
  }

  /// Seconds, and pixels as the film is shown.
  public func measure(_ film: AVAsset) async throws -> (Double, CGSize) {
    let duration = try await film.load(.duration)
    guard let track = try await film.loadTracks(withMediaType: .video).first else {
      return (CMTimeGetSeconds(duration), .zero)
    }
    let (size, transform) = try await track.load(.naturalSize, .preferredTransform)
    let shown = size.applying(transform)
    return (CMTimeGetSeconds(duration), CGSize(width: abs(shown.width), height: abs(shown.height)))
  }

  /// The same by the properties of former systems.
  public func oldMeasure(_ asset: PHAsset) async -> (Double, CGSize)? {
    let item: AVPlayerItem? = await withCheckedContinuation { continuation in
      PHImageManager.default().requestPlayerItem(forVideo: asset, options: nil) { item, _ in
        continuation.resume(returning: item)
      }
    }
    guard let item, let track = item.asset.tracks(withMediaType: .video).first else { return nil }
    let size = track.naturalSize.applying(track.preferredTransform)
    return (item.asset.duration.seconds, CGSize(width: abs(size.width), height: abs(size.height)))
  }

  /// Exports two seconds from a second on.
  public func trim(_ asset: PHAsset, to url: URL, preset: String = AVAssetExportPresetLowQuality) async throws {
    let session: AVAssetExportSession = try await withCheckedThrowingContinuation { continuation in
      PHImageManager.default().requestExportSession(forVideo: asset, options: nil, exportPreset: preset) {
        session, info in
        guard let session else {
          return continuation.resume(throwing: info?[PHImageErrorKey] as? any Error ?? CocoaError(.fileReadUnknown))
        }
        continuation.resume(returning: session)
      }
    }
    session.outputURL = url
    session.outputFileType = .mp4
    session.shouldOptimizeForNetworkUse = true
    session.timeRange = CMTimeRange(
      start: CMTime(seconds: 1, preferredTimescale: 600), duration: CMTimeMake(value: 1200, timescale: 600))
    await withCheckedContinuation { continuation in session.exportAsynchronously { continuation.resume() } }
    switch session.status {
    case .completed: return
    case .cancelled: throw CancellationError()
    default: throw session.error ?? CocoaError(.fileWriteUnknown)
    }
  }
}
