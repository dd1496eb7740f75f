package import PhotoLedger
import Foundation

// What a client may do with upload jobs (PHAssetResourceUploadJob, PHAssetResourceUploadJobChangeRequest). Each rule is
// kept here; the module `Photos` translates.
//
//     enable ──▶ performChanges { addUpload… } ──▶ UploadService sends ──▶ fetch, then acknowledge or retry
//
// A client with read access may upload assets that it can see, and nothing else: that is checked when a job is created,
// and again before each request that carries bytes. Apple's framework requires full access to enable the feature; here
// a limited client may use it, since its jobs are limited to its selection.

/// A request about upload jobs, as a change block collects it.
package enum UploadRequest: BlockErrand {
  /// Sends a file of an asset; a download-only job, without a destination, looks whether its bytes are here.
  case create(identifier: String, UploadDestination?, AssetResource, Asset)
  case acknowledge(identifier: String)
  case retry(identifier: String, UploadDestination?)
  case cancel(identifier: String)

  package static func execute(_ requests: [UploadRequest], for library: PhotoLibrary) throws {
    try library.performUploads(requests)
  }

  /// Whether it makes a job send something.
  fileprivate var begins: Bool {
    switch self {
    case .create, .retry: true
    case .acknowledge, .cancel: false
    }
  }
}

extension PhotoLibrary {
  /// How many unacknowledged jobs a client may have (PHAssetResourceUploadJob.jobLimit).
  package static let uploadJobLimit = 100

  /// What the client set when it enabled uploads; nil while they are disabled, and for a client that may not read.
  /// - Throws: ``LibraryError`` if the jobs cannot be read.
  package var uploadSettings: UploadSettings? {
    get throws {
      guard try mayUpload else { return nil }
      return try store.uploads.jobs.book(of: client).client.settings
    }
  }

  /// Enables upload jobs; waiting jobs continue.
  /// - Throws: ``LibraryError`` `.accessUserDenied`, `.accessRestricted` for a client without read access; `.storage`.
  package func enableUploads(_ settings: UploadSettings = UploadSettings()) throws {
    try checkIsNow("enable uploads")
    try checkMayUpload("upload in the background")
    try store.uploads.jobs.change(client, creating: true) { $0.client.settings = settings }
    store.uploads.wake(client, of: store)
  }

  /// Stops all jobs where they are; they are kept.
  /// - Throws: ``LibraryError`` `.storage`.
  package func disableUploads() throws {
    try checkIsNow("disable uploads")
    guard store.uploads.jobs.exists else { return }
    try store.uploads.jobs.change(client) { $0.client.settings = nil }
    store.uploads.halt(client)
  }

  /// Changes the settings of enabled uploads.
  /// - Throws: ``LibraryError`` `.changeNotSupported` while they are disabled; `.storage`.
  package func setUploadSettings(_ settings: UploadSettings) throws {
    try checkIsNow("change the settings of uploads")
    try store.uploads.jobs.change(client) { book in
      try Self.checkIsEnabled(book, client)
      book.client.settings = settings
    }
    store.uploads.wake(client, of: store)
  }

  /// The client's jobs that an action applies to, in the order of their creation.
  /// - Throws: ``LibraryError`` if the jobs cannot be read.
  package func uploadJobs(_ action: UploadJob.Action) throws -> [UploadJob] {
    try store.uploads.jobs.book(of: client).ordered.filter { $0.allows(action) }
  }

  /// The job of an identifier; nil if it was acknowledged or cancelled.
  /// - Throws: ``LibraryError`` if the jobs cannot be read.
  package func uploadJob(_ identifier: String) throws -> UploadJob? {
    try store.uploads.jobs.book(of: client).job(identifier)
  }

  /// The current file of a job; nil if the asset or the file no longer exists, or is not visible to the client.
  /// - Throws: ``LibraryError`` if the store cannot be read.
  package func resource(of job: UploadJob) throws -> (AssetResource, Asset)? {
    guard try mayUpload, let asset = try asset(job.asset), asset.trashedDate == nil else { return nil }
    let found = try resources(of: asset).first { $0.type == job.type && $0.sha256Hex == job.sha256 }
    return found.map { ($0, asset) }
  }

  /// A new job's identifier.
  package func newUploadIdentifier() -> String {
    let random = store.uploads.environment.random
    let words = (random(), random())
    let bytes = withUnsafeBytes(of: (words.0.bigEndian, words.1.bigEndian)) { Array($0) }
    let uuid = UUID(
      uuid: (
        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8], bytes[9], bytes[10],
        bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
      ))
    return "\(uuid.uuidString)/L0/UploadJob"
  }

  /// Executes the requests of one block, all or none.
  /// - Throws: ``LibraryError``: `.limitExceeded` beyond ``uploadJobLimit``; `.identifierNotFound` for a file that the
  ///   client cannot see; `.malformedRequest` for an invalid destination; `.changeNotSupported` while uploads are
  ///   disabled, and for a job whose state does not allow the request.
  fileprivate func performUploads(_ requests: [UploadRequest]) throws {
    // A client that lost its permission, or disabled uploads, can still tidy up.
    let begins = requests.contains(where: \.begins)
    if begins { try checkMayUpload("create upload jobs") }
    let uploads = store.uploads
    let time = uploads.environment.now().microseconds
    for request in requests { try check(request) }
    var cancelled: [UploadJob] = []
    try uploads.jobs.change(client) { book in
      cancelled = []
      if begins { try Self.checkIsEnabled(book, client) }
      let count = book.jobs.count
      for request in requests { try Self.apply(request, to: &book, &cancelled, time) }
      guard book.jobs.count <= max(count, Self.uploadJobLimit) else {
        throw LibraryError(
          .limitExceeded,
          """
          The client '\(client)' would have \(book.jobs.count) upload jobs, more than \(Self.uploadJobLimit); \
          acknowledge jobs that succeeded or failed first.
          """)
      }
    }
    uploads.withdraw(cancelled, of: client)
    uploads.wake(client, of: store)
  }

  private func check(_ request: UploadRequest) throws {
    switch request {
    case .create(_, let destination, let resource, let asset):
      try checkMayRead(ResourceRequest(resource, in: asset))
      try Self.check(destination)
    case .retry(_, let destination): try Self.check(destination)
    case .acknowledge, .cancel: break
    }
  }

  private static func apply(
    _ request: UploadRequest, to book: inout UploadBook, _ cancelled: inout [UploadJob], _ time: Int64
  ) throws {
    switch request {
    case .create(let identifier, let destination, let resource, let asset):
      book.client.lastNumber += 1
      book.jobs[book.client.lastNumber] = UploadJob(
        identifier: identifier, number: book.client.lastNumber, kind: destination == nil ? .downloadOnly : .upload,
        destination: destination ?? UploadDestination(url: "about:blank", method: "GET", headers: [:]),
        asset: asset.localIdentifier, resource: resource, since: time)
    case .acknowledge(let identifier): _ = try change(identifier, in: &book, .acknowledge, time)
    case .retry(let identifier, let destination): _ = try change(identifier, in: &book, .retry(destination), time)
    case .cancel(let identifier): cancelled.append(try change(identifier, in: &book, .cancel, time))
    }
  }

  private static func change(
    _ identifier: String, in book: inout UploadBook, _ input: UploadJob.Input, _ time: Int64
  ) throws -> UploadJob {
    guard var job = book.job(identifier) else {
      throw LibraryError(
        .identifierNotFound, "There is no upload job \(identifier); it was acknowledged or cancelled.")
    }
    let isKept = try job.apply(input, at: time)
    book.jobs[job.number] = isKept ? job : nil
    return job
  }

  private static func check(_ destination: UploadDestination?) throws {
    guard let problem = destination?.problem else { return }
    throw LibraryError(.malformedRequest, "An upload job cannot have this destination: \(problem).")
  }

  private static func checkIsEnabled(_ book: UploadBook, _ client: String) throws {
    guard book.client.settings == nil else { return }
    throw LibraryError(
      .changeNotSupported, "Uploads of the client '\(client)' are disabled; enable the upload job extension first.")
  }

  private var mayUpload: Bool {
    get throws {
      try store.reading { t in try store.core.projections.permission(of: client, in: t).access != .none }
    }
  }

  private func checkMayUpload(_ what: String) throws {
    try askIfNeeded()
    let permission = try store.reading { t in try store.core.projections.permission(of: client, in: t) }
    try permission.checkMayRead(client, what)
  }

  // MARK: Execution

  /// Installs the transport of jobs, and continues those of an earlier process.
  /// - Parameter transport: sends requests; nil suspends jobs.
  package func startUploads(over transport: any UploadTransport, _ environment: UploadEnvironment? = nil) {
    guard moment == nil else { return }
    store.uploads.install(transport, environment)
    if store.uploads.jobs.exists { store.uploads.wake(client, of: store) }
  }

  /// Calls a handler whenever a job of the client has ended, until the handler returns false.
  package func onUploadEnd(_ handler: @escaping @Sendable () -> Bool) { store.uploads.listen(client, handler) }

  /// Sets whether the network is expensive; jobs that avoid that wait.
  package func setNetworkIsExpensive(_ answer: (@Sendable () -> Bool)?) { store.uploads.setExpensive(answer) }
}
