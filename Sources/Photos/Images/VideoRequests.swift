// Videos of assets, as stand-ins for AVFoundation's objects over the library's own files. Each request reads the
// video's metadata before it answers, so that the asset has a duration and tracks.

internal import MediaImport
internal import PhotoLedger

/// Which version of a video is asked for (Apple: `PHVideoRequestOptionsVersion`).
public enum PHVideoRequestOptionsVersion: Int, Sendable, CaseIterable {
  /// With all edits.
  case current = 0
  /// Without edits.
  case original = 1
}

/// In what quality a video is asked for (Apple: `PHVideoRequestOptionsDeliveryMode`).
public enum PHVideoRequestOptionsDeliveryMode: Int, Sendable, CaseIterable {
  /// As the system thinks best.
  case automatic = 0
  /// The best there is.
  case highQualityFormat = 1
  /// Something between.
  case mediumQualityFormat = 2
  /// What is there first.
  case fastFormat = 3
}

/// The progress handler of a request for a video (Apple: `PHAssetVideoProgressHandler`).
public typealias PHAssetVideoProgressHandler = PHAssetImageProgressHandler

/// How a video is asked for (Apple: `PHVideoRequestOptions`).
open class PHVideoRequestOptions: NSObject, NSCopying {
  /// Which version.
  open var version = PHVideoRequestOptionsVersion.current
  /// The file is here in its best quality, and that is what is given. Kept for source compatibility.
  open var deliveryMode = PHVideoRequestOptionsDeliveryMode.automatic
  /// Every byte is here or nowhere: it makes no difference. Kept for source compatibility.
  open var isNetworkAccessAllowed = false
  /// Called with 1 when the video is available; setting `stop` cancels the request.
  open var progressHandler: PHAssetVideoProgressHandler?

  /// Options for the current version.
  public override init() {}

  /// The same options in another object.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = PHVideoRequestOptions()
    (copy.version, copy.deliveryMode) = (version, deliveryMode)
    (copy.isNetworkAccessAllowed, copy.progressHandler) = (isNetworkAccessAllowed, progressHandler)
    return copy
  }
}

extension PHImageManager {
  /// Requests a film, and what is made of it.
  func requestFilm<Value>(
    _ asset: PHAsset, _ options: PHVideoRequestOptions?, _ make: @escaping @Sendable (AVURLAsset) throws -> Value,
    resultHandler handler: @escaping @Sendable (Value?, [AnyHashable: Any]?) -> Void
  ) -> PHImageRequestID {
    let wish = AssetWish(
      asset, isCurrent: options?.version ?? .current == .current, progress: options?.progressHandler)
    return requests.run(isSynchronous: false) { (answer: RequestAnswer<Value>) in
      handler(answer.value, answer.information)
    } body: { number, deliver in
      do {
        let own = try wish.asset()
        guard own.mediaType == .video else {
          throw PHPhotosError(
            .requestNotSupportedForAsset, "The asset \(own.localIdentifier) is not a video; ask for its picture.")
        }
        let (resource, library) = try wish.resource()
        let url = try library.url(of: resource, in: own)
        let film = AVURLAsset(url, try InstalledRenderer.programs.film(at: url))
        let made = try make(film)
        try wish.report(1, number)
        try Task.checkCancellation()
        deliver(RequestAnswer(wish.information(number), made))
      } catch {
        deliver(RequestAnswer(wish.information(number, error: error)))
      }
    }
  }
}
