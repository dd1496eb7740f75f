// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import AVFoundation
import Photos

/// Keeps the film that a screen is to play.
@MainActor
public final class FilmPlayer {
  public private(set) var item: AVPlayerItem?

  public init() {}

  /// Loads the film of an asset. The handler is called on an arbitrary thread, so it returns to the main actor.
  public func load(_ asset: PHAsset) {
    PHImageManager.default().requestPlayerItem(forVideo: asset, options: nil) { item, _ in
      Task { @MainActor in self.item = item }
    }
  }
}
