public import FoundationNetworking
internal import LibraryUploads
internal import PhotoLedger

/// Makes and changes upload jobs in a change block (Apple: `PHAssetResourceUploadJobChangeRequest`).
///
/// A block has requests about jobs or about the library, not both.
open class PHAssetResourceUploadJobChangeRequest: PHChangeRequest {
  private let current: CurrentBlock
  private let identifier: String
  private let isCreation: Bool

  private init(_ current: CurrentBlock, _ identifier: String, isCreation: Bool) {
    (self.current, self.identifier, self.isCreation) = (current, identifier, isCreation)
  }

  /// Changes a job; nil if it was acknowledged or cancelled (Apple: `init(for:)`). For a library that was closed, the
  /// block fails.
  public convenience init?(for job: PHAssetResourceUploadJob) {
    let current = CurrentBlock.of("PHAssetResourceUploadJobChangeRequest(for:)")
    let identifier = job.localIdentifier
    let isThere = PHPhotoLibrary.answer("PHAssetResourceUploadJobChangeRequest(for:)", ifClosed: true) {
      try !identifier.isEmpty && current.library.core.uploadJob(identifier) != nil
    }
    guard isThere else { return nil }
    self.init(current, identifier, isCreation: false)
  }

  /// Makes a job that sends a file (Apple: `createJob(destination:resource:)`, deprecated).
  @available(*, deprecated, renamed: "creationRequestForJob(destination:resource:)")
  open class func createJob(destination: URLRequest, resource: PHAssetResource) {
    _ = made("createJob(destination:resource:)", destination, resource)
  }

  /// Makes a job that sends a file (Apple: `creationRequestForJob(destination:resource:)`).
  ///
  /// The block fails with 3307 beyond ``PHAssetResourceUploadJob/jobLimit``, and for a destination that is not http or
  /// https, or whose method is not POST, PUT or PATCH.
  @discardableResult
  open class func creationRequestForJob(destination: URLRequest, resource: PHAssetResource) -> Self {
    made("creationRequestForJob(destination:resource:)", destination, resource)
  }

  /// Makes a job that looks whether the bytes of a file are here and right; every byte is here or nowhere, so nothing
  /// is downloaded (Apple: `creationRequestForDownloadJob(resource:)`).
  @discardableResult
  open class func creationRequestForDownloadJob(resource: PHAssetResource) -> Self {
    made("creationRequestForDownloadJob(resource:)", nil, resource)
  }

  private class func made(_ call: String, _ destination: URLRequest?, _ resource: PHAssetResource) -> Self {
    let call = "PHAssetResourceUploadJobChangeRequest.\(call)"
    let current = CurrentBlock.of(call)
    guard let source = resource.source else {
      fatalError("\(call) was given a stand-in; it takes a resource of the library.")
    }
    let identifier = current.library.core.newUploadIdentifier()
    let request = PHAssetResourceUploadJobChangeRequest(current, identifier, isCreation: true)
    guard let request = request as? Self else {
      fatalError("\(call) was called on \(Self.self); call it on PHAssetResourceUploadJobChangeRequest.")
    }
    current.block.add(
      UploadRequest.create(
        identifier: identifier, destination.map(UploadDestination.init), source.resource, source.asset))
    return request
  }

  /// Stands for the job that will be; nil for a change (Apple: `placeholderForCreatedAssetResourceUploadJob`).
  open var placeholderForCreatedAssetResourceUploadJob: PHObjectPlaceholder? {
    isCreation ? PHObjectPlaceholder(uploadJob: identifier) : nil
  }

  /// Takes note of a job that succeeded or failed, which is then forgotten (Apple: `acknowledge()`).
  open func acknowledge() { current.block.add(UploadRequest.acknowledge(identifier: identifier)) }

  /// Sends the file of a failed job once more, to another place if one is given (Apple: `retry(destination:)`).
  open func retry(destination: URLRequest?) {
    current.block.add(UploadRequest.retry(identifier: identifier, destination.map(UploadDestination.init)))
  }

  /// Ends a registered or pending job, which is then forgotten (Apple: `cancel()`).
  open func cancel() { current.block.add(UploadRequest.cancel(identifier: identifier)) }
}

extension UploadDestination {
  /// What is kept of a request: its URL, method and fields. A body has no place: the file is the body.
  fileprivate init(_ request: URLRequest) {
    self.init(
      url: request.url?.absoluteString ?? "", method: request.httpMethod ?? "GET",
      headers: request.allHTTPHeaderFields ?? [:])
  }
}

/// How the jobs of a client are executed (Apple: `PHAssetResourceUploadJobOptions`).
open class PHAssetResourceUploadJobOptions: NSObject, NSCopying {
  /// Whether jobs wait while the network is expensive, which ``PHPhotoLibrary/setNetworkIsExpensive(_:)`` says.
  open var preventsExpensiveNetworkAccess = false

  /// Options without restrictions.
  public override init() {}

  /// The same options in another object.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = PHAssetResourceUploadJobOptions()
    copy.preventsExpensiveNetworkAccess = preventsExpensiveNetworkAccess
    return copy
  }
}
