// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Stand-ins as the tests of an app write them.

import AVFoundation
import Photos

/// Answers requests for films and Live Photos without a library.
public final class MockManager: PHCachingImageManager, @unchecked Sendable {  // guarded by: has no state
  public override init() {}

  public override func requestAVAsset(
    forVideo asset: PHAsset, options: PHVideoRequestOptions?,
    resultHandler: @escaping @Sendable (AVAsset?, AVAudioMix?, [AnyHashable: Any]?) -> Void
  ) -> PHImageRequestID {
    resultHandler(AVURLAsset(url: URL(fileURLWithPath: "/film.mov")), nil, nil)
    return 7
  }

  public override func requestLivePhoto(
    for asset: PHAsset, targetSize: CGSize, contentMode: PHImageContentMode, options: PHLivePhotoRequestOptions?,
    resultHandler: @escaping @Sendable (PHLivePhoto?, [AnyHashable: Any]?) -> Void
  ) -> PHImageRequestID {
    resultHandler(nil, [PHImageCancelledKey: true])
    return 8
  }
}

/// An asset that cannot be edited, and has a name.
public final class MockAsset: PHAsset, @unchecked Sendable {  // guarded by: has no state
  public override init() {}

  public override func requestContentEditingInput(
    with options: PHContentEditingInputRequestOptions?,
    completionHandler: @escaping (PHContentEditingInput?, [AnyHashable: Any]) -> Void
  ) -> PHContentEditingInputRequestID {
    completionHandler(nil, [PHContentEditingInputCancelledKey: true])
    return 9
  }

  public override func value(forKey key: String) -> Any? {
    key == "filename" ? "IMG_1.HEIC" : super.value(forKey: key)
  }
}
