// Bytes and pictures of assets. The bytes are the library's; pictures come from a renderer that the program installs,
// since this package decodes none. Without a renderer a picture is `requestNotSupportedForAsset` with a sentence that
// says how to install one.
//
//     opportunistic   the renderer's quick picture, told as degraded, then the exact one
//     fastFormat      the quick picture
//     highQuality     the exact picture
//
// A request has a task; cancelling it ends the renderer's work, and the handler is told that it was cancelled.

internal import PhotoLedger
import Synchronization

/// Makes pictures; the program that uses this module brings one. Apple has no such type.
public protocol PHImageRenderer: Sendable {
  /// How the picture in a file has to be turned to be looked at; nil if the renderer cannot tell.
  func orientation(ofFileAt url: URL) throws -> CGImagePropertyOrientation?

  /// A picture of a file, turned upright.
  /// - Parameters:
  ///   - url: the file, a photo or a video.
  ///   - type: its kind of data.
  ///   - size: the size that is asked for, pixels; zero for the file's own.
  ///   - mode: whether the picture has to fit into the size, or to fill it.
  ///   - isExact: whether time is no matter; otherwise a preview will do.
  func image(
    ofFileAt url: URL, type: UTType, size: CGSize, mode: PHImageContentMode, isExact: Bool
  ) async throws -> UIImage
}

/// Names a request for a picture (Apple: `PHImageRequestID`).
public typealias PHImageRequestID = Int32
/// No request (Apple: `PHInvalidImageRequestID`).
public let PHInvalidImageRequestID: PHImageRequestID = 0
/// The size that means the file's own (Apple: `PHImageManagerMaximumSize`).
public let PHImageManagerMaximumSize = CGSize(width: -1, height: -1)

/// The information about a picture: whether a better one will come (Apple: `PHImageResultIsDegradedKey`).
public let PHImageResultIsDegradedKey = "PHImageResultIsDegradedKey"
/// The information about a picture: whether the request was cancelled (Apple: `PHImageCancelledKey`).
public let PHImageCancelledKey = "PHImageCancelledKey"
/// The information about a picture: its error (Apple: `PHImageErrorKey`).
public let PHImageErrorKey = "PHImageErrorKey"
/// The information about a picture: the request's number (Apple: `PHImageResultRequestIDKey`).
public let PHImageResultRequestIDKey = "PHImageResultRequestIDKey"
/// The information about a picture: never true, since nothing is elsewhere (Apple: `PHImageResultIsInCloudKey`).
public let PHImageResultIsInCloudKey = "PHImageResultIsInCloudKey"
/// The information about bytes: true if no renderer could tell the orientation. Apple has no such key.
public let PHImageResultOrientationIsUnknownKey = "PHImageResultOrientationIsUnknownKey"

/// How a picture meets a size (Apple: `PHImageContentMode`).
public enum PHImageContentMode: Int, Sendable, CaseIterable {
  /// The whole picture is inside.
  case aspectFit = 0
  /// The size is filled.
  case aspectFill = 1

  /// The whole picture is inside.
  public static var `default`: PHImageContentMode { .aspectFit }
}

/// Which version of an asset is asked for (Apple: `PHImageRequestOptionsVersion`).
public enum PHImageRequestOptionsVersion: Int, Sendable, CaseIterable {
  /// With all edits.
  case current = 0
  /// Without edits.
  case unadjusted = 1
  /// The original; of a RAW pair the one that is first.
  case original = 2
}

/// What is to be had first (Apple: `PHImageRequestOptionsDeliveryMode`).
public enum PHImageRequestOptionsDeliveryMode: Int, Sendable, CaseIterable {
  /// Something soon, then the exact picture.
  case opportunistic = 0
  /// The exact picture.
  case highQualityFormat = 1
  /// Something soon.
  case fastFormat = 2
}

/// How exactly the size is met (Apple: `PHImageRequestOptionsResizeMode`).
public enum PHImageRequestOptionsResizeMode: Int, Sendable, CaseIterable {
  /// The file's own size.
  case none = 0
  /// As is quick.
  case fast = 1
  /// Exactly.
  case exact = 2
}

/// Is told how far a request is (Apple: `PHAssetImageProgressHandler`).
public typealias PHAssetImageProgressHandler = @Sendable (
  Double, (any Error)?, UnsafeMutablePointer<ObjCBool>, [AnyHashable: Any]?
) -> Void

/// How a picture or bytes are asked for (Apple: `PHImageRequestOptions`).
open class PHImageRequestOptions: NSObject, NSCopying {
  /// Which version.
  open var version = PHImageRequestOptionsVersion.current
  /// What first.
  open var deliveryMode = PHImageRequestOptionsDeliveryMode.opportunistic
  /// How exactly the size is met.
  open var resizeMode = PHImageRequestOptionsResizeMode.fast
  /// Every byte is here or nowhere: it makes no difference. Kept for source compatibility.
  open var isNetworkAccessAllowed = false
  /// Whether the handler is called once, before the request returns.
  open var isSynchronous = false
  /// Is told how much of the bytes was read; setting `stop` cancels the request.
  open var progressHandler: PHAssetImageProgressHandler?

  /// Options for the current version, something soon.
  public override init() {}

  /// The same options in another object.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = PHImageRequestOptions()
    (copy.version, copy.deliveryMode, copy.resizeMode) = (version, deliveryMode, resizeMode)
    (copy.isNetworkAccessAllowed, copy.isSynchronous) = (isNetworkAccessAllowed, isSynchronous)
    copy.progressHandler = progressHandler
    return copy
  }
}

/// Gives bytes and pictures of assets (Apple: `PHImageManager`).
open class PHImageManager: NSObject, @unchecked Sendable {  // guarded by: `requests` by its mutex; the rest is constant
  private static let shared = PHImageManager()
  private static let renderer = Mutex<(any PHImageRenderer)?>(nil)
  private let requests = ImageRequests()

  /// The one for all (Apple: `default()`).
  open class func `default`() -> PHImageManager { shared }

  /// Installs who makes pictures; nil for nobody. Apple has no such call.
  public static func setRenderer(_ renderer: (any PHImageRenderer)?) { self.renderer.withLock { $0 = renderer } }

  static var currentRenderer: (any PHImageRenderer)? { renderer.withLock { $0 } }

  /// Gives the bytes of a version of an asset, proved against the recorded hash, with their orientation
  /// (Apple: `requestImageDataAndOrientation(for:options:resultHandler:)`).
  ///
  /// The handler is called once: with data, kind of data, orientation and information, or without data and with an
  /// error in the information. The orientation is `.up` where no renderer can tell it, and the information says so.
  /// A synchronous request calls it before it returns, on the caller's thread; another one on a thread of its own.
  @discardableResult
  open func requestImageDataAndOrientation(
    for asset: PHAsset, options: PHImageRequestOptions?,
    resultHandler: @escaping (Data?, String?, CGImagePropertyOrientation, [AnyHashable: Any]?) -> Void
  ) -> PHImageRequestID {
    let wish = ImageWish(asset, options)
    return requests.run(isSynchronous: wish.isSynchronous) { answer in
      resultHandler(answer.data, answer.type, answer.orientation, answer.information)
    } body: { number, tell in
      do {
        let (resource, library) = try wish.resource()
        let data = try await wish.bytes(of: resource, library, number)
        let orientation = try wish.orientation(of: resource, library, Self.currentRenderer)
        var information = wish.information(number)
        if orientation == nil { information[PHImageResultOrientationIsUnknownKey] = true }
        tell(
          ImageAnswer(
            information, data: data, type: resource.uniformTypeIdentifier, orientation: orientation ?? .up))
      } catch {
        tell(ImageAnswer(wish.information(number, error: error)))
      }
    }
  }

  /// Gives a picture of an asset, made by the installed renderer
  /// (Apple: `requestImage(for:targetSize:contentMode:options:resultHandler:)`).
  ///
  /// With the delivery mode `opportunistic` the handler is called twice, first with a degraded picture; once with the
  /// other modes, for a synchronous request, and for an error. A synchronous request calls it before it returns, on
  /// the caller's thread, which the renderer must not need; another one on a thread of its own.
  @discardableResult
  open func requestImage(
    for asset: PHAsset, targetSize: CGSize, contentMode: PHImageContentMode, options: PHImageRequestOptions?,
    resultHandler: @escaping (UIImage?, [AnyHashable: Any]?) -> Void
  ) -> PHImageRequestID {
    let wish = ImageWish(asset, options)
    let size = targetSize == PHImageManagerMaximumSize || wish.resizeMode == .none ? .zero : targetSize
    return requests.run(isSynchronous: wish.isSynchronous) { answer in
      resultHandler(answer.image, answer.information)
    } body: { number, tell in
      do {
        guard let renderer = Self.currentRenderer else { throw Self.noRenderer(asset) }
        let (resource, library) = try wish.resource()
        let url = try library.url(of: resource, in: try wish.asset())
        let type = UTType(importedAs: resource.uniformTypeIdentifier)
        for isExact in wish.deliveries {
          let image = try await renderer.image(
            ofFileAt: url, type: type, size: size, mode: contentMode, isExact: isExact)
          try Task.checkCancellation()
          let isDegraded = !isExact && wish.deliveries.count > 1
          tell(ImageAnswer(wish.information(number, isDegraded: isDegraded), image: image))
        }
      } catch {
        tell(ImageAnswer(wish.information(number, error: error)))
      }
    }
  }

  /// Ends a request early; its handler is told that it was cancelled (Apple: `cancelImageRequest(_:)`).
  open func cancelImageRequest(_ requestID: PHImageRequestID) { requests.cancel(requestID) }

  private static func noRenderer(_ asset: PHAsset) -> PHPhotosError {
    PHPhotosError(
      .requestNotSupportedForAsset,
      """
      No picture of \(asset.localIdentifier) can be made, since no renderer is installed: give one to \
      PHImageManager.setRenderer(_:), or ask for the bytes.
      """)
  }
}

/// The same with a cache on Apple's systems; here nothing is kept, since a renderer knows best what to keep
/// (Apple: `PHCachingImageManager`).
open class PHCachingImageManager: PHImageManager, @unchecked Sendable {  // guarded by: has no state of its own
  /// Nothing is cached; kept for source compatibility.
  open var allowsCachingHighQualityImages = true

  /// A manager with requests of its own.
  public override init() {}

  /// Does nothing: pictures are made when they are asked for.
  open func startCachingImages(
    for assets: [PHAsset], targetSize: CGSize, contentMode: PHImageContentMode, options: PHImageRequestOptions?
  ) {}

  /// Does nothing: nothing is cached.
  open func stopCachingImages(
    for assets: [PHAsset], targetSize: CGSize, contentMode: PHImageContentMode, options: PHImageRequestOptions?
  ) {}

  /// Does nothing: nothing is cached.
  open func stopCachingImagesForAllAssets() {}
}
