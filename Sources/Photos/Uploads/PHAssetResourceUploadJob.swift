public import FoundationNetworking
internal import LibraryUploads
internal import PhotoLedger

/// A request to send a file of an asset to a server of the app's (Apple: `PHAssetResourceUploadJob`).
///
/// Jobs are durable: they outlive the process, and one that has the library open as the same client goes on with them.
open class PHAssetResourceUploadJob: PHObject, @unchecked Sendable {  // guarded by: holds constants only
  /// The stages of a job (Apple: `PHAssetResourceUploadJob.State`).
  public enum State: Int, Sendable {
    /// It waits for its turn.
    case registered = 1
    /// It is being sent, or waits to be sent again.
    case pending
    /// It failed; see ``PHAssetResourceUploadJob/error``.
    case failed
    /// The server has the file.
    case succeeded
    /// It was cancelled; such a job is not fetched any more.
    case cancelled
  }

  /// What a job does (Apple: `PHAssetResourceUploadJob.Type`).
  public enum `Type`: Int16, Sendable {
    /// Sends the file.
    case upload
    /// Looks whether the bytes of the file are here and right: there is nothing to download.
    case downloadOnly
  }

  /// What can be done with a job (Apple: `PHAssetResourceUploadJob.Action`).
  public enum Action: Int, Sendable {
    /// Jobs that succeeded or failed.
    case acknowledge = 1
    /// Jobs that failed and were not retried before.
    case retry
    /// Jobs that are registered or pending.
    case process
  }

  let source: (job: UploadJob, library: PHPhotoLibrary)?

  init(_ job: UploadJob, _ library: PHPhotoLibrary) { source = (job, library) }

  /// A stand-in, for subclasses in tests.
  public override init() { source = nil }

  override var origin: PHPhotoLibrary? { source?.library }

  /// The most unacknowledged jobs that a client may have; a block beyond it fails with 3307 (Apple: `jobLimit`).
  open class var jobLimit: Int { PhotoLibrary.uploadJobLimit }

  /// The client's jobs that an action applies to, oldest first (Apple: `fetchJobs(action:options:)`).
  ///
  /// Of the options, `fetchLimit` is followed; a predicate or sort descriptors trap with a sentence. A library that was
  /// closed has no jobs; they are there again when it is opened.
  open class func fetchJobs(
    action: PHAssetResourceUploadJob.Action, options: PHFetchOptions?
  ) -> PHFetchResult<PHAssetResourceUploadJob> {
    if options?.predicate != nil || options?.sortDescriptors?.isEmpty == false {
      fatalError(
        """
        PHAssetResourceUploadJob.fetchJobs(action:options:) takes no predicate and no sort descriptors; \
        filter the jobs of its result.
        """)
    }
    let library = PHPhotoLibrary.shared()
    var jobs = PHPhotoLibrary.answer("PHAssetResourceUploadJob.fetchJobs(action:options:)", ifClosed: []) {
      try library.core.uploadJobs(UploadJob.Action(rawValue: action.rawValue) ?? .process)
    }
    if let limit = options?.fetchLimit, limit > 0 { jobs = Array(jobs.prefix(limit)) }
    return PHFetchResult(.jobs(jobs), library)
  }

  /// The identifier, under which the creating block saw the placeholder.
  open override var localIdentifier: String { source?.job.identifier ?? "" }
  /// What the job does.
  open var type: PHAssetResourceUploadJob.`Type` {
    source.flatMap { `Type`(rawValue: Int16($0.job.kind.rawValue)) } ?? .upload
  }
  /// How far it is, as of the fetch.
  open var state: PHAssetResourceUploadJob.State {
    source.flatMap { State(rawValue: $0.job.state.rawValue) } ?? .registered
  }

  /// Where it sends the file; `about:blank` for a job that sends nothing.
  open var destination: URLRequest {
    guard let job = source?.job, let url = URL(string: job.destination.url) else {
      return URLRequest(url: URL(filePath: "/"))
    }
    var request = URLRequest(url: url)
    request.httpMethod = job.destination.method
    request.allHTTPHeaderFields = job.destination.headers
    return request
  }

  /// The file; one without values if it is gone (Apple: deprecated).
  @available(*, deprecated, message: "Use PHAssetResource.assetResource(forUploadJob:).")
  open var resource: PHAssetResource { PHAssetResource.assetResource(forUploadJob: self) ?? PHAssetResource() }

  /// Why it failed, a `URLError` with a sentence; nil unless it did.
  open var error: (any Error)? {
    guard let problem = source?.job.problem else { return nil }
    let information = [NSLocalizedDescriptionKey: problem.sentence]
    if let code = URLError.Code(rawValue: problem.code) { return URLError(code, userInfo: information) }
    return NSError(domain: NSURLErrorDomain, code: problem.code, userInfo: information)
  }

  /// The fields of the server's last answer, names in lower case; nil before the job succeeded or failed.
  open var responseHeaderFields: [String: String]? { source?.job.responseHeaders }
}
