// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

internal import LibraryUploads
internal import PhotoLedger
import Synchronization

/// One file of an asset (Apple: `PHAssetResource`).
open class PHAssetResource: NSObject, @unchecked Sendable {  // guarded by: holds constants only
  let source: (resource: AssetResource, asset: Asset, library: PHPhotoLibrary)?

  /// A file that is in no library, such as the still of a Live Photo that was made of files.
  let file: ResourceFile?

  init(_ resource: AssetResource, _ asset: Asset, _ library: PHPhotoLibrary) {
    (source, file) = ((resource, asset, library), nil)
  }

  init(_ file: ResourceFile) { (source, self.file) = (nil, file) }

  /// A stand-in, for subclasses in tests.
  public override init() { (source, file) = (nil, nil) }

  /// The files of an asset, originals first (Apple: `assetResources(for:)`).
  open class func assetResources(for asset: PHAsset) -> [PHAssetResource] {
    guard let source = asset.source else { return [] }
    return asset.resources.map { PHAssetResource($0, source.asset, source.library) }
  }

  /// The file that an upload job sends; nil if it is gone, or not for the client any more
  /// (Apple: `assetResource(forUploadJob:)`).
  open class func assetResource(forUploadJob job: PHAssetResourceUploadJob) -> PHAssetResource? {
    guard let (job, library) = job.source else { return nil }
    return PHPhotoLibrary.answer("PHAssetResource.assetResource(forUploadJob:)") {
      try library.core.resource(of: job).map { PHAssetResource($0, $1, library) }
    }
  }

  /// What the file is to its asset.
  open var type: PHAssetResourceType {
    source.map { PHAssetResourceType($0.resource.type) } ?? file?.type ?? .unrecognized(0)
  }
  /// The asset it belongs to.
  open var assetLocalIdentifier: String { source?.asset.localIdentifier ?? "" }
  /// The name it came with.
  open var originalFilename: String { source?.resource.originalFilename ?? file?.url.lastPathComponent ?? "" }
  /// Its kind of data.
  open var uniformTypeIdentifier: String {
    source?.resource.uniformTypeIdentifier ?? file?.uniformTypeIdentifier ?? ""
  }
  /// Its kind of data.
  open var contentType: UTType { UTType(importedAs: uniformTypeIdentifier) }
  /// Its width, pixels; 0 if it is not known.
  open var pixelWidth: Int { source?.resource.pixelWidth ?? file?.size.width ?? 0 }
  /// Its height, pixels; 0 if it is not known.
  open var pixelHeight: Int { source?.resource.pixelHeight ?? file?.size.height ?? 0 }
  /// Its length, bytes.
  open var dataSize: Int64? {
    source.map { Int64(clamping: $0.resource.dataSize) } ?? file?.byteCount
  }

  /// A property by its name (Apple: `value(forKey:)` of `NSObject`).
  ///
  /// Besides the public properties: `filename`, the name that the file came with; `fileSize`, bytes;
  /// `locallyAvailable`, whether the bytes are here; `fileURL` and `privateFileURL`, where they are.
  /// Traps for any other name, as Apple's raises.
  open func value(forKey key: String) -> Any? { storedValue(forKey: key) }

  /// Whether another object is the same file of the same asset.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? PHAssetResource else { return false }
    return self === other
      || source != nil && source?.resource == other.source?.resource && source?.asset == other.source?.asset
      || file != nil && file?.url == other.file?.url
  }

  /// A hash of the content.
  open override var hash: Int {
    source?.resource.hashValue ?? file?.url.hashValue ?? ObjectIdentifier(self).hashValue
  }
}

/// A file that is in no library.
struct ResourceFile: Sendable {
  let url: URL
  let type: PHAssetResourceType
  let uniformTypeIdentifier: String
  let size: (width: Int, height: Int)
  /// What removes the file when nothing is made of it any more; nil for a file that is the client's.
  var folder: KeptFolder?

  /// Its length; nil if it is gone.
  var byteCount: Int64? { (try? url.resourceValues(forKeys: [.fileSizeKey]))?.fileSize.map(Int64.init) }

  /// Hands over the bytes in portions, on the calling thread.
  /// - Throws: `PHPhotosError` if it cannot be read; `userCancelled`, also if the last progress led to it.
  func read(
    _ progress: PHAssetResourceProgressHandler?, _ cancellation: Cancellation, _ handler: (Data) throws -> Void
  ) throws {
    func checkNotCancelled() throws {
      guard cancellation.isRequested else { return }
      throw PHPhotosError(.userCancelled, "The request for \(url.path) was cancelled.")
    }
    do {
      let handle = try FileHandle(forReadingFrom: url)
      defer { try? handle.close() }  // Nothing was written, so nothing can be lost.
      let count = max(1, byteCount ?? 1)
      var done: Int64 = 0
      while let portion = try handle.read(upToCount: 1 << 20), !portion.isEmpty {
        try checkNotCancelled()
        try handler(portion)
        done += Int64(portion.count)
        progress?(min(1, Double(done) / Double(count)))
      }
      try checkNotCancelled()
    } catch let error as CocoaError {
      throw PHPhotosError(.missingResource, "The file \(url.path) cannot be read: \(LibraryError.reason(of: error)).")
    }
  }

  /// Writes the bytes to a new file; nothing is left if that fails.
  func write(to target: URL, _ progress: PHAssetResourceProgressHandler?, _ cancellation: Cancellation) throws {
    guard !FileManager.default.fileExists(atPath: target.path),
      FileManager.default.createFile(atPath: target.path, contents: nil)
    else {
      throw PHPhotosError(.internalError, "The file \(target.path) cannot be created, or already exists.")
    }
    do {
      let handle = try FileHandle(forWritingTo: target)
      try read(progress, cancellation) { try handle.write(contentsOf: $0) }
      try handle.close()
    } catch {
      try? FileManager.default.removeItem(at: target)  // The first error is reported.
      throw error
    }
  }
}

/// Names a request for bytes (Apple: `PHAssetResourceDataRequestID`).
public typealias PHAssetResourceDataRequestID = Int32
/// No request (Apple: `PHInvalidAssetResourceDataRequestID`).
public let PHInvalidAssetResourceDataRequestID: PHAssetResourceDataRequestID = 0

/// Called with the fraction read, from 0 to 1 (Apple: `PHAssetResourceProgressHandler`).
public typealias PHAssetResourceProgressHandler = @Sendable (Double) -> Void

/// How bytes are read (Apple: `PHAssetResourceRequestOptions`).
open class PHAssetResourceRequestOptions: NSObject, NSCopying {
  /// Every byte is here or nowhere: it makes no difference. Kept for source compatibility.
  open var isNetworkAccessAllowed = false
  /// Called with the fraction read.
  open var progressHandler: PHAssetResourceProgressHandler?

  /// Options without a handler.
  public override init() {}

  /// The same options in another object.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = PHAssetResourceRequestOptions()
    (copy.isNetworkAccessAllowed, copy.progressHandler) = (isNetworkAccessAllowed, progressHandler)
    return copy
  }
}

/// Reads the bytes of files, proved against the recorded hash (Apple: `PHAssetResourceManager`).
open class PHAssetResourceManager: NSObject, @unchecked Sendable {  // guarded by: `requests` by its mutex
  private static let shared = PHAssetResourceManager()
  private let requests = DataRequests()

  /// The one there is (Apple: `default()`).
  open class func `default`() -> PHAssetResourceManager { shared }

  /// Hands over the bytes of a file in portions; the handlers are called one at a time on a thread of the library's
  /// (Apple: `requestData(for:options:dataReceivedHandler:completionHandler:)`).
  /// - Returns: a number for ``cancelDataRequest(_:)``.
  @discardableResult
  @preconcurrency
  open func requestData(
    for resource: PHAssetResource, options: PHAssetResourceRequestOptions?,
    dataReceivedHandler handler: @escaping @Sendable (Data) -> Void,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) -> PHAssetResourceDataRequestID {
    do {
      let progress = options?.progressHandler
      if let file = resource.file {
        return requests.begin { over in
          let cancellation = Cancellation()
          DispatchQueue.global().async {
            let outcome = Result { try file.read(progress, cancellation) { handler($0) } }
            over()
            switch outcome {
            case .success: completionHandler(nil)
            case .failure(let error): completionHandler(error)
            }
          }
          return { cancellation.request() }
        }
      }
      let (file, asset, library) = try Self.source(of: resource)
      return requests.begin { over in
        let request = library.requestData(
          for: file, in: asset, options: ResourceRequestOptions(progressHandler: progress),
          dataReceivedHandler: { handler($0) }
        ) { error in
          over()
          completionHandler(error.map(PHPhotosError.init))
        }
        return { library.cancelDataRequest(request) }
      }
    } catch {
      let error = error
      DispatchQueue.global().async { completionHandler(error) }
      return PHInvalidAssetResourceDataRequestID
    }
  }

  /// Cancels a request; its completion handler receives `userCancelled` (Apple: `cancelDataRequest(_:)`).
  open func cancelDataRequest(_ requestID: PHAssetResourceDataRequestID) { requests.cancel(requestID) }

  /// Writes the bytes to a new file (Apple: `writeData(for:toFile:options:)`).
  /// - Throws: `PHPhotosError`; nothing is left then.
  open func writeData(
    for resource: PHAssetResource, toFile fileURL: URL, options: PHAssetResourceRequestOptions?
  ) async throws {
    let progress = options?.progressHandler
    do {
      if let file = resource.file {
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
          try await offload { try file.write(to: fileURL, progress, cancellation) }
        } onCancel: {
          cancellation.request()
        }
      }
      let (file, asset, library) = try Self.source(of: resource)
      try await library.write(
        file, in: asset, to: fileURL, options: ResourceRequestOptions(progressHandler: progress))
    } catch {
      throw PHPhotosError.from(error)
    }
  }

  /// The same with a handler (Apple: `writeData(for:toFile:options:completionHandler:)`).
  @preconcurrency
  open func writeData(
    for resource: PHAssetResource, toFile fileURL: URL, options: PHAssetResourceRequestOptions?,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    let progress = options?.progressHandler
    HandlerTasks.begin {
      let options = PHAssetResourceRequestOptions()
      options.progressHandler = progress
      do {
        try await self.writeData(for: resource, toFile: fileURL, options: options)
        completionHandler(nil)
      } catch {
        completionHandler(error)
      }
    }
  }

  private static func source(of resource: PHAssetResource) throws -> (AssetResource, Asset, PhotoLibrary) {
    guard let (file, asset, library) = resource.source else {
      throw PHPhotosError(.missingResource, "A stand-in for a resource has no bytes.")
    }
    return (file, asset, try library.present())
  }
}

/// The requests for bytes that are under way, of whichever library.
final class DataRequests: Sendable {
  private struct State {
    var last: PHAssetResourceDataRequestID = 0
    /// What ends each; nil until it has begun.
    var running: [PHAssetResourceDataRequestID: (@Sendable () -> Void)?] = [:]
  }

  private let state = Mutex(State())

  /// Begins a request.
  /// - Parameter start: begins it, and returns what ends it early; what it is given is called when it is over.
  func begin(
    _ start: (_ over: @escaping @Sendable () -> Void) -> @Sendable () -> Void
  ) -> PHAssetResourceDataRequestID {
    let number = state.withLock { state in
      state.last = state.last == .max ? 1 : state.last + 1
      state.running[state.last] = .some(nil)
      return state.last
    }
    let end = start { [self] in state.withLock { _ = $0.running.removeValue(forKey: number) } }
    // It may be over already.
    state.withLock { if $0.running[number] != nil { $0.running[number] = .some(end) } }
    return number
  }

  func cancel(_ number: PHAssetResourceDataRequestID) {
    guard let running = state.withLock({ $0.running[number] }), let end = running else { return }
    end()
  }
}
