// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import ExtensionFoundation
import Photos

/// Where photos are backed up to, and what has been.
public final class UploadLedger: @unchecked Sendable {  // guarded by: `lock`
  public static let shared = UploadLedger()

  private let lock = NSLock()
  private var endpoint: URL?
  private var token = ""
  private var jobs: [String: String] = [:]
  private var done: [String: String] = [:]
  private var failures: [String] = []

  public func configure(endpoint: URL, token: String) {
    lock.lock()
    defer { lock.unlock() }
    (self.endpoint, self.token, jobs, done, failures) = (endpoint, token, [:], [:], [])
  }

  public func destination(for resource: PHAssetResource) -> URLRequest? {
    lock.lock()
    defer { lock.unlock() }
    guard let endpoint else { return nil }
    var request = URLRequest(url: endpoint)
    request.httpMethod = "POST"
    request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    request.setValue(resource.originalFilename, forHTTPHeaderField: "X-Filename")
    return request
  }

  public func refreshToken(_ token: String) { lock.withLock { self.token = token } }
  public func isKnown(_ asset: String) -> Bool {
    lock.withLock { jobs.values.contains(asset) || done[asset] != nil }
  }
  public func began(_ job: String, for asset: String) { lock.withLock { jobs[job] = asset } }
  public func finished(_ job: String, serverID: String?) {
    lock.withLock {
      if let asset = jobs.removeValue(forKey: job) { done[asset] = serverID ?? "" }
    }
  }
  public func failed(_ job: String, _ error: (any Error)?) {
    lock.withLock {
      jobs[job] = nil
      failures.append(error.map { "\($0.localizedDescription)" } ?? "unknown")
    }
  }

  /// The server's identifiers by asset.
  public var backedUp: [String: String] { lock.withLock { done } }
  public var complaints: [String] { lock.withLock { failures } }
}

/// Backs up every photo as it comes, as the article on background uploads has it.
public final class BackgroundUploader: PHBackgroundResourceUploadExtension {
  private let cancelled = NSLock()
  private var isCancelled = false
  private let ledger = UploadLedger.shared

  public required init() {}

  public func process() -> PHBackgroundResourceUploadProcessingResult {
    do {
      try retryFailedJobs()
      try acknowledgeCompletedJobs()
      try createNewUploadJobs()
      let open = PHAssetResourceUploadJob.fetchJobs(action: .process, options: nil)
      return open.count == 0 && !stopped ? .completed : .processing
    } catch let error as NSError {
      if error.domain == PHPhotosErrorDomain && error.code == PHPhotosError.limitExceeded.rawValue {
        return .processing
      }
      return .failure
    }
  }

  public func notifyTermination() { cancelled.withLock { isCancelled = true } }

  private var stopped: Bool { cancelled.withLock { isCancelled } }

  private func retryFailedJobs() throws {
    let library = PHPhotoLibrary.shared()
    let retryable = PHAssetResourceUploadJob.fetchJobs(action: .retry, options: nil)
    for index in 0..<retryable.count {
      let job = retryable.object(at: index)
      if let error = job.error as? URLError, error.code == .badServerResponse { continue }
      let resource = PHAssetResource.assetResource(forUploadJob: job)
      try library.performChangesAndWait {
        guard let request = PHAssetResourceUploadJobChangeRequest(for: job) else { return }
        request.retry(destination: resource.flatMap { self.ledger.destination(for: $0) })
      }
    }
  }

  private func acknowledgeCompletedJobs() throws {
    let library = PHPhotoLibrary.shared()
    let ended = PHAssetResourceUploadJob.fetchJobs(action: .acknowledge, options: nil)
    for index in 0..<ended.count {
      let job = ended.object(at: index)
      switch job.state {
      case .succeeded:
        ledger.finished(job.localIdentifier, serverID: job.responseHeaderFields?["x-server-resource-id"])
      case .failed: ledger.failed(job.localIdentifier, job.error)
      default: continue
      }
      try library.performChangesAndWait {
        PHAssetResourceUploadJobChangeRequest(for: job)?.acknowledge()
      }
    }
  }

  private func createNewUploadJobs() throws {
    let library = PHPhotoLibrary.shared()
    let assets = PHAsset.fetchAssets(with: .image, options: nil)
    for index in 0..<assets.count where !stopped {
      let asset = assets.object(at: index)
      guard !ledger.isKnown(asset.localIdentifier),
        let resource = PHAssetResource.assetResources(for: asset).first(where: { $0.type == .photo }),
        let destination = ledger.destination(for: resource)
      else { continue }
      var job: String?
      try library.performChangesAndWait {
        let request = PHAssetResourceUploadJobChangeRequest.creationRequestForJob(
          destination: destination, resource: resource)
        job = request.placeholderForCreatedAssetResourceUploadJob?.localIdentifier
      }
      if let job { ledger.began(job, for: asset.localIdentifier) }
    }
  }
}
