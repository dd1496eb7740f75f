// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

// Bytes and pictures of assets. The bytes are the library's; pictures come from a renderer, since nothing is decoded in
// this process: the programs of the machine (`InstalledRenderer`), or what the program installs. Where the programs are
// missing a picture is `requestNotSupportedForAsset` with a sentence that says what to install.
//
// Sizes are those of PhotoKit's header: `exact` gives exactly the target size, by enlarging, and by cutting what fills
// it; `fast` gives one that fits or fills it, and is never larger than the original; `none` gives the original's own.
//
//     opportunistic   the renderer's quick picture, marked as degraded, then the exact one, or its error; where the
//                     quick one would be the exact one, as in thumbnails, only that
//     fastFormat      the quick picture, marked as degraded if it may be smaller than the target size
//     highQuality     the exact picture
//     a synchronous request gets the exact picture in every mode
//
// A request has a task; cancelling it ends the renderer's work, and the handler receives the cancellation. Answers to a
// caller on the main queue come there, as on Apple's systems; to any other they come in the task.

internal import PhotoLedger
import Synchronization

/// Makes pictures; the programs of the machine do unless another renderer is installed. Apple has no such type.
public protocol PHImageRenderer: Sendable {
  /// The orientation of the picture in a file; nil if the renderer cannot determine it.
  func orientation(ofFileAt url: URL) throws -> CGImagePropertyOrientation?

  /// A picture of a file, turned upright, and of a video as a JPEG; called on a thread that it may hold, in a task that
  /// may be cancelled.
  func image(_ request: PHImageRendering) async throws -> UIImage
}

/// What a renderer is to make. Apple has no such type.
public struct PHImageRendering: Sendable {
  /// The file, a photo or a video.
  public let url: URL
  /// Its kind of data.
  public let type: UTType
  /// The size that is asked for, pixels; nil for the file's own.
  public let size: CGSize?
  /// Whether the picture has to fit into the size, or to fill it.
  public let contentMode: PHImageContentMode
  /// How exactly the size is met.
  public let resizeMode: PHImageRequestOptionsResizeMode
  /// The part of the upright picture that is wanted, in shares of its sides from the upper left; empty for all of it.
  public let normalizedCropRect: CGRect
  /// Whether time does not matter; otherwise a preview will do.
  public let isExact: Bool
}

/// Names a request for a picture (Apple: `PHImageRequestID`).
public typealias PHImageRequestID = Int32
/// No request (Apple: `PHInvalidImageRequestID`).
public let PHInvalidImageRequestID: PHImageRequestID = 0
/// The size that means the file's own (Apple: `PHImageManagerMaximumSize`).
public let PHImageManagerMaximumSize = CGSize(width: -1, height: -1)

/// The information about a picture: whether it is a quick one, of which a better one comes or can be requested
/// (Apple: `PHImageResultIsDegradedKey`).
public let PHImageResultIsDegradedKey = "PHImageResultIsDegradedKey"
/// The information about a picture: whether the request was cancelled (Apple: `PHImageCancelledKey`).
public let PHImageCancelledKey = "PHImageCancelledKey"
/// The information about a picture: its error (Apple: `PHImageErrorKey`).
public let PHImageErrorKey = "PHImageErrorKey"
/// The information about a picture: the request's number (Apple: `PHImageResultRequestIDKey`).
public let PHImageResultRequestIDKey = "PHImageResultRequestIDKey"
/// The information about a picture: never true, since nothing is elsewhere (Apple: `PHImageResultIsInCloudKey`).
public let PHImageResultIsInCloudKey = "PHImageResultIsInCloudKey"
/// In the information about data: true if no renderer could determine the orientation. Apple has no such key.
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
  /// Without edits; of a RAW pair the file that the asset shows.
  case unadjusted = 1
  /// The original; of a RAW pair the RAW file, whichever of the two the asset shows.
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

/// The progress handler of a request (Apple: `PHAssetImageProgressHandler`).
public typealias PHAssetImageProgressHandler =
  @Sendable (
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
  /// The part of the picture that is wanted, in shares of its sides from the upper left corner; empty for all of it.
  ///
  /// As on Apple's systems it counts with the resize mode `exact` only.
  open var normalizedCropRect = CGRect.zero
  /// Every byte is here or nowhere: it makes no difference. Kept for source compatibility.
  open var isNetworkAccessAllowed = false
  /// Whether the handler is called once, before the request returns.
  open var isSynchronous = false
  /// Called with the fraction of the bytes read, or before each picture is made and after the last one with the
  /// fraction of the pictures, on a thread of the library's; setting `stop` cancels the request.
  ///
  /// A synchronous request does not call it: it may wait for the thread that waits for the request.
  open var progressHandler: PHAssetImageProgressHandler?

  /// Options for the current version, something soon.
  public override init() {}

  /// The same options in another object.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = PHImageRequestOptions()
    (copy.version, copy.deliveryMode, copy.resizeMode) = (version, deliveryMode, resizeMode)
    (copy.isNetworkAccessAllowed, copy.isSynchronous) = (isNetworkAccessAllowed, isSynchronous)
    (copy.progressHandler, copy.normalizedCropRect) = (progressHandler, normalizedCropRect)
    return copy
  }
}

/// Gives bytes and pictures of assets (Apple: `PHImageManager`).
open class PHImageManager: NSObject, @unchecked Sendable {  // guarded by: `requests` by its mutex; the rest is constant
  private static let shared = PHImageManager()
  private static let renderer = Mutex<any PHImageRenderer>(InstalledRenderer())
  private static let turns = RenderTurns()
  let requests = ImageRequests()

  /// The one for all (Apple: `default()`).
  open class func `default`() -> PHImageManager { shared }

  /// Installs what makes pictures; nil: the programs of the machine, as at the beginning. Apple has no such call.
  public static func setRenderer(_ renderer: (any PHImageRenderer)?) {
    self.renderer.withLock { $0 = renderer ?? InstalledRenderer() }
  }

  /// What makes the pictures that a task requests, instead of what is installed for the process.
  @TaskLocal package static var rendererOfTask: (any PHImageRenderer)?

  /// What makes the pictures that are requested here and now.
  static var currentRenderer: any PHImageRenderer { rendererOfTask ?? renderer.withLock { $0 } }

  /// Gives the bytes of a version of an asset, proved against the recorded hash, with their orientation
  /// (Apple: `requestImageDataAndOrientation(for:options:resultHandler:)`).
  ///
  /// Of a video they are those of its poster, a JPEG that the installed renderer makes; for the film there are
  /// ``requestAVAsset(forVideo:options:resultHandler:)`` and ``PHAssetResourceManager``.
  ///
  /// The handler is called once: with data, kind of data, orientation and information, or without data and with an
  /// error in the information. The orientation is `.up` if no renderer can determine it, and the information says so. A
  /// synchronous request calls it before it returns, on the caller's thread. Another one calls it later: on the main
  /// queue for a request that was made there, on a thread of the library's for any other, since a server serves no main
  /// queue. A program without an asynchronous `main` has to run `dispatchMain()` or a run loop for the former.
  @discardableResult
  open func requestImageDataAndOrientation(
    for asset: PHAsset, options: PHImageRequestOptions?,
    resultHandler: @escaping (Data?, String?, CGImagePropertyOrientation, [AnyHashable: Any]?) -> Void
  ) -> PHImageRequestID {
    requestBytes(asset, options) { answer in
      resultHandler(answer.value?.data, answer.value?.type, answer.value?.orientation ?? .up, answer.information)
    }
  }

  /// The same with the orientation as pictures number it
  /// (Apple: `requestImageData(for:options:resultHandler:)`, deprecated).
  @discardableResult
  open func requestImageData(
    for asset: PHAsset, options: PHImageRequestOptions?,
    resultHandler: @escaping (Data?, String?, UIImage.Orientation, [AnyHashable: Any]?) -> Void
  ) -> PHImageRequestID {
    requestBytes(asset, options) { answer in
      let orientation = answer.value?.orientation ?? .up
      resultHandler(answer.value?.data, answer.value?.type, orientation.ofImage, answer.information)
    }
  }

  private struct Bytes {
    let data: Data
    let type: String
    let orientation: CGImagePropertyOrientation
  }

  private func requestBytes(
    _ asset: PHAsset, _ options: PHImageRequestOptions?, _ handler: @escaping (RequestAnswer<Bytes>) -> Void
  ) -> PHImageRequestID {
    let (wish, renderer) = (AssetWish(asset, options), Self.currentRenderer)
    return requests.run(isSynchronous: wish.isSynchronous, returnsToMain: true, resultHandler: handler) {
      number, deliver in
      do {
        let (resource, library) = try wish.resource()
        if try wish.asset().mediaType == .video {
          let poster = try await Self.poster(wish, resource, library, renderer)
          try wish.report(1, number)
          return deliver(RequestAnswer(wish.information(number), poster))
        }
        let data = try await wish.bytes(of: resource, library, number)
        let orientation = try wish.orientation(of: resource, library, renderer)
        var information = wish.information(number)
        if orientation == nil { information[PHImageResultOrientationIsUnknownKey] = NSNumber(value: true) }
        let bytes = Bytes(data: data, type: resource.uniformTypeIdentifier, orientation: orientation ?? .up)
        deliver(RequestAnswer(information, bytes))
      } catch {
        deliver(RequestAnswer(wish.information(number, error: error)))
      }
    }
  }

  /// The picture that stands for a video, in full size: the film itself may be larger than the memory.
  private static func poster(
    _ wish: AssetWish, _ resource: AssetResource, _ library: PhotoLibrary, _ renderer: any PHImageRenderer
  ) async throws -> Bytes {
    let url = try library.url(of: resource, in: try wish.asset())
    let rendering = PHImageRendering(
      url: url, type: UTType(importedAs: resource.uniformTypeIdentifier), size: nil, contentMode: .default,
      resizeMode: .none, normalizedCropRect: .zero, isExact: true)
    let image = try await turns.run { try await renderer.image(rendering) }
    try Task.checkCancellation()
    return Bytes(data: image.data, type: UTType.jpeg.identifier, orientation: .up)
  }

  /// Gives a picture of an asset, made by the installed renderer
  /// (Apple: `requestImage(for:targetSize:contentMode:options:resultHandler:)`).
  ///
  /// With the delivery mode `opportunistic` the handler is called with a degraded picture first, and then with the
  /// exact one, or with the error or the cancellation that came instead. The degraded picture is left out where it
  /// would be the exact one, as for a target of at most 256 pixels with the programs of the machine; an error before it
  /// is the only call. With the other modes, and for a synchronous request, the handler is called once. A synchronous
  /// request calls it before it returns, on the caller's thread, which the renderer must not need; another one where
  /// ``requestImageDataAndOrientation(for:options:resultHandler:)`` calls its own.
  @discardableResult
  open func requestImage(
    for asset: PHAsset, targetSize: CGSize, contentMode: PHImageContentMode, options: PHImageRequestOptions?,
    resultHandler: @escaping (UIImage?, [AnyHashable: Any]?) -> Void
  ) -> PHImageRequestID {
    let (wish, renderer) = (AssetWish(asset, options), Self.currentRenderer)
    let isWhole = targetSize == PHImageManagerMaximumSize || wish.resizeMode == .none || targetSize == .zero
    return requests.run(isSynchronous: wish.isSynchronous, returnsToMain: true) { (answer: RequestAnswer<UIImage>) in
      resultHandler(answer.value, answer.information)
    } body: { number, deliver in
      do {
        let (resource, library) = try wish.resource()
        let url = try library.url(of: resource, in: try wish.asset())
        let type = UTType(importedAs: resource.uniformTypeIdentifier)
        let hasPreview = isWhole || InstalledRenderer.hasPreview(for: targetSize) || !(renderer is InstalledRenderer)
        let steps = wish.deliveries.filter { $0 || hasPreview || wish.deliveries.count == 1 }
        for (index, isExact) in steps.enumerated() {
          try wish.report(Double(index) / Double(steps.count), number)
          let rendering = PHImageRendering(
            url: url, type: type, size: isWhole ? nil : targetSize, contentMode: contentMode,
            resizeMode: wish.resizeMode, normalizedCropRect: wish.cropRect, isExact: isExact)
          let image = try await Self.turns.run { try await renderer.image(rendering) }
          try Task.checkCancellation()
          if index + 1 == steps.count { try wish.report(1, number) }
          deliver(RequestAnswer(wish.information(number, isDegraded: !isExact && hasPreview), image))
        }
      } catch {
        deliver(RequestAnswer(wish.information(number, error: error)))
      }
    }
  }

  /// Gives the film of a video asset: an ``AVURLAsset`` of the library's file
  /// (Apple: `requestAVAsset(forVideo:options:resultHandler:)`).
  ///
  /// The handler is called once, on a thread of the library's; without ffprobe, and for what is not a film, with nil
  /// and the error in the information. The file is the library's own: read it and leave it where it is.
  @discardableResult
  @preconcurrency
  open func requestAVAsset(
    forVideo asset: PHAsset, options: PHVideoRequestOptions?,
    resultHandler: @escaping @Sendable (AVAsset?, AVAudioMix?, [AnyHashable: Any]?) -> Void
  ) -> PHImageRequestID {
    requestFilm(asset, options) {
      $0
    } resultHandler: {
      resultHandler($0, nil, $1)
    }
  }

  /// Gives the film of a video asset, to be played (Apple: `requestPlayerItem(forVideo:options:resultHandler:)`).
  ///
  /// As ``requestAVAsset(forVideo:options:resultHandler:)``.
  @discardableResult
  @preconcurrency
  open func requestPlayerItem(
    forVideo asset: PHAsset, options: PHVideoRequestOptions?,
    resultHandler: @escaping @Sendable (AVPlayerItem?, [AnyHashable: Any]?) -> Void
  ) -> PHImageRequestID {
    requestFilm(asset, options) {
      AVPlayerItem(asset: $0)
    } resultHandler: {
      resultHandler($0, $1)
    }
  }

  /// Gives what exports the film of a video asset
  /// (Apple: `requestExportSession(forVideo:options:exportPreset:resultHandler:)`).
  ///
  /// As ``requestAVAsset(forVideo:options:resultHandler:)``; an unknown preset is `requestNotSupportedForAsset`.
  @discardableResult
  @preconcurrency
  open func requestExportSession(
    forVideo asset: PHAsset, options: PHVideoRequestOptions?, exportPreset: String,
    resultHandler: @escaping @Sendable (AVAssetExportSession?, [AnyHashable: Any]?) -> Void
  ) -> PHImageRequestID {
    requestFilm(asset, options) { film in
      guard let session = AVAssetExportSession(asset: film, presetName: exportPreset) else {
        throw PHPhotosError(
          .requestNotSupportedForAsset,
          "There is no export preset '\(exportPreset)'; use one of \(AVAssetExportSession.allExportPresets()).")
      }
      return session
    } resultHandler: {
      resultHandler($0, $1)
    }
  }

  /// Gives the Live Photo of an asset
  /// (Apple: `requestLivePhoto(for:targetSize:contentMode:options:resultHandler:)`).
  ///
  /// The handler is called once, where ``requestImageDataAndOrientation(for:options:resultHandler:)`` calls its own:
  /// with a Live Photo whose size follows from the asset's and the mode, or with nil and the error in the information,
  /// which has the keys of pictures.
  @discardableResult
  @preconcurrency
  open func requestLivePhoto(
    for asset: PHAsset, targetSize: CGSize, contentMode: PHImageContentMode, options: PHLivePhotoRequestOptions?,
    resultHandler: @escaping @Sendable (PHLivePhoto?, [AnyHashable: Any]?) -> Void
  ) -> PHImageRequestID {
    livePhoto(of: asset, targetSize, contentMode, options, resultHandler: resultHandler)
  }

  /// Cancels a request; its handler receives the cancellation (Apple: `cancelImageRequest(_:)`).
  open func cancelImageRequest(_ requestID: PHImageRequestID) { requests.cancel(requestID) }
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
