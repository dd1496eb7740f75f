// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

// A Live Photo is a still and a video that belong together: two resources of one asset (LP-01), or two files that have
// the same content identifier. It has a size, and it gives its resources back; `PHLivePhotoView` plays it in time.
//
//     asset ── requestLivePhoto ───────────────────────────┐
//     IMG_1.HEIC, IMG_1.MOV ── request(withResource…) ─────┴──▶ PHLivePhoto ── assetResources(for:) ──▶ bytes

internal import MediaImport
internal import PhotoLedger
import Synchronization

/// Names a request for a Live Photo (Apple: `PHLivePhotoRequestID`).
public typealias PHLivePhotoRequestID = Int32
/// No request (Apple: `PHLivePhotoRequestIDInvalid`).
public let PHLivePhotoRequestIDInvalid: PHLivePhotoRequestID = 0

/// The information about a Live Photo: its error (Apple: `PHLivePhotoInfoErrorKey`).
public let PHLivePhotoInfoErrorKey = "PHLivePhotoInfoErrorKey"
/// The information about a Live Photo: whether a better one will come (Apple: `PHLivePhotoInfoIsDegradedKey`).
public let PHLivePhotoInfoIsDegradedKey = "PHLivePhotoInfoIsDegradedKey"
/// The information about a Live Photo: whether the request was cancelled (Apple: `PHLivePhotoInfoCancelledKey`).
public let PHLivePhotoInfoCancelledKey = "PHLivePhotoInfoCancelledKey"

/// A still with the video around it (Apple: `PHLivePhoto`).
public final class PHLivePhoto: NSObject, NSCopying, @unchecked Sendable {  // guarded by: holds constants only
  /// The size of the still as it is looked at, pixels: scaled as the request asked. Zero if it is not known.
  public let size: CGSize
  /// The still and the video; none for a placeholder.
  let resources: [PHAssetResource]
  /// How long the video lasts, seconds; 0 if it is not known.
  package let duration: TimeInterval

  init(_ size: CGSize, _ resources: [PHAssetResource], _ duration: TimeInterval) {
    (self.size, self.resources, self.duration) = (size, resources, duration)
  }

  /// The same object: it never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  private static let requests = ImageRequests()

  /// Makes a Live Photo of files, such as those that were exported
  /// (Apple: `request(withResourceFileURLs:placeholderImage:targetSize:contentMode:resultHandler:)`).
  ///
  /// The files have to be a photo and a video that exiftool finds the same content identifier in. The handler is called
  /// first with a degraded Live Photo of the placeholder's size, if there is one; then with the Live Photo, or with nil
  /// and the error in the information. It is called on the main queue for a request that was made there, on a thread of
  /// the library's for any other.
  /// - Parameters:
  ///   - fileURLs: the photo and the video, in any order.
  ///   - image: what to show meanwhile.
  ///   - targetSize: the size to show it in, pixels; zero for the photo's own.
  ///   - contentMode: whether the photo fits into the size, or fills it.
  ///   - resultHandler: is given the Live Photo and information under `PHLivePhotoInfo…` keys.
  /// - Returns: a number for ``cancelRequest(withRequestID:)``.
  @discardableResult
  @preconcurrency
  public class func request(
    withResourceFileURLs fileURLs: [URL], placeholderImage image: UIImage?, targetSize: CGSize,
    contentMode: PHImageContentMode, resultHandler: @escaping @Sendable (PHLivePhoto?, [AnyHashable: Any]) -> Void
  ) -> PHLivePhotoRequestID {
    requests.run(isSynchronous: false, returnsToMain: true) { answer in
      resultHandler(answer.value, answer.information)
    } body: { _, deliver in
      do {
        if let image {
          let placeholder = PHLivePhoto(image.size, [], 0)
          deliver(RequestAnswer([PHLivePhotoInfoIsDegradedKey: NSNumber(value: true)], placeholder))
        }
        let made = try PHLivePhoto(files: fileURLs, targetSize, contentMode)
        try Task.checkCancellation()
        deliver(RequestAnswer([PHLivePhotoInfoIsDegradedKey: NSNumber(value: false)], made))
      } catch is CancellationError {
        deliver(RequestAnswer([PHLivePhotoInfoCancelledKey: NSNumber(value: true)]))
      } catch {
        deliver(RequestAnswer([PHLivePhotoInfoErrorKey: PHPhotosError.from(error)]))
      }
    }
  }

  /// Cancels a request; its handler receives the cancellation (Apple: `cancelRequest(withRequestID:)`).
  public class func cancelRequest(withRequestID requestID: PHLivePhotoRequestID) { requests.cancel(requestID) }

  private convenience init(files: [URL], _ target: CGSize, _ mode: PHImageContentMode) throws {
    let found = try files.map { file in
      guard let description = try InstalledRenderer.programs.description(of: file) else {
        throw PHPhotosError(.invalidResource, "The file \(file.lastPathComponent) is neither a photo nor a video.")
      }
      return (file, description)
    }
    guard found.count == 2, let (still, photo) = found.first(where: { $0.1.mediaType == .image }),
      let (video, film) = found.first(where: { $0.1.mediaType == .video })
    else {
      throw PHPhotosError(
        .invalidResource,
        "A Live Photo is made of one photo and one video, not of "
          + "\(files.map(\.lastPathComponent)).")
    }
    guard let identifier = photo.contentIdentifier, identifier == film.contentIdentifier else {
      throw PHPhotosError(
        .invalidResource,
        "The files \(still.lastPathComponent) and \(video.lastPathComponent) do not have the same content identifier, "
          + "so they are no Live Photo.")
    }
    let duration = try InstalledRenderer.programs.film(at: video).duration
    let files = [
      (PHAssetResourceType.photo, still, photo.uniformTypeIdentifier, photo.displayedSize),
      (.pairedVideo, video, film.uniformTypeIdentifier, film.displayedSize),
    ]
    let resources = files.map { type, file, identifier, size in
      let size = (size?.width ?? 0, size?.height ?? 0)
      return PHAssetResource(ResourceFile(url: file, type: type, uniformTypeIdentifier: identifier, size: size))
    }
    self.init(Self.size(photo.displayedSize, target, mode), resources, duration)
  }

  /// The size of a still that meets a size; never larger than the still.
  fileprivate static func size(_ size: PixelSize?, _ target: CGSize, _ mode: PHImageContentMode) -> CGSize {
    guard let size else { return .zero }
    let own = CGSize(width: size.width, height: size.height)
    guard target.width > 0, target.height > 0 else { return own }
    let shares = [target.width / own.width, target.height / own.height]
    let share = min(1, (mode == .aspectFill ? shares.max() : shares.min()) ?? 1)
    return CGSize(width: (own.width * share).rounded(), height: (own.height * share).rounded())
  }
}

/// How a Live Photo is asked for (Apple: `PHLivePhotoRequestOptions`).
open class PHLivePhotoRequestOptions: NSObject, NSCopying {
  /// Which version; without edits for anything but the current one.
  open var version = PHImageRequestOptionsVersion.current
  /// Both files are here, so the Live Photo is given once, whole. Kept for source compatibility.
  open var deliveryMode = PHImageRequestOptionsDeliveryMode.opportunistic
  /// Every byte is here or nowhere: it makes no difference. Kept for source compatibility.
  open var isNetworkAccessAllowed = false
  /// Called with 1 when the Live Photo is available; setting `stop` cancels the request.
  open var progressHandler: PHAssetImageProgressHandler?

  /// Options for the current version.
  public override init() {}

  /// The same options in another object.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = PHLivePhotoRequestOptions()
    (copy.version, copy.deliveryMode) = (version, deliveryMode)
    (copy.isNetworkAccessAllowed, copy.progressHandler) = (isNetworkAccessAllowed, progressHandler)
    return copy
  }
}

extension PHImageManager {
  func livePhoto(
    of asset: PHAsset, _ targetSize: CGSize, _ contentMode: PHImageContentMode, _ options: PHLivePhotoRequestOptions?,
    resultHandler: @escaping @Sendable (PHLivePhoto?, [AnyHashable: Any]?) -> Void
  ) -> PHImageRequestID {
    let wish = AssetWish(
      asset, isCurrent: options?.version ?? .current == .current, progress: options?.progressHandler)
    return requests.run(isSynchronous: false, returnsToMain: true) { answer in
      resultHandler(answer.value, answer.information)
    } body: { number, deliver in
      do {
        let (still, video, library) = try wish.pair()
        let own = try wish.asset()
        let url = try library.present().url(of: video, in: own)
        // Without ffprobe the Live Photo is whole; only its time is not known, as `duration` says.
        let duration = (try? InstalledRenderer.programs.film(at: url).duration) ?? 0
        let size = try Self.size(of: still, in: own, library)
        let live = PHLivePhoto(
          PHLivePhoto.size(size, targetSize, contentMode),
          [still, video].map { PHAssetResource($0, own, library) }, duration)
        try wish.report(1, number)
        try Task.checkCancellation()
        deliver(RequestAnswer(wish.information(number), live))
      } catch {
        deliver(RequestAnswer(wish.information(number, error: error)))
      }
    }
  }

  /// The size of a still: as recorded, and by its bytes where it is not known. That of the asset is the size of what it
  /// shows (AS-02), and not that of the original of an edit.
  private static func size(of still: AssetResource, in asset: Asset, _ library: PHPhotoLibrary) throws -> PixelSize? {
    let core = try library.present()
    let isShown = try core.resources(of: asset).shown(asset) == still
    let (width, height) =
      isShown ? (asset.pixelWidth, asset.pixelHeight) : (still.pixelWidth, still.pixelHeight)
    if width > 0, height > 0 { return PixelSize(width: width, height: height) }
    let url = try core.url(of: still, in: asset)
    do {
      return try InstalledRenderer.programs.description(of: url)?.displayedSize
    } catch let error as ImportError where error.code == .toolMissing {
      return nil
    }
  }
}

extension PHAssetResource {
  /// The still and the video of a Live Photo (Apple: `assetResources(for:)`).
  public class func assetResources(for livePhoto: PHLivePhoto) -> [PHAssetResource] { livePhoto.resources }
}
