internal import PhotoLedger
import Synchronization

/// What is asked for of an asset, apart from the class that Apple's clients fill in.
struct AssetWish: Sendable {
  private let source: PHAsset
  private let version: PHImageRequestOptionsVersion
  let isSynchronous: Bool
  private let delivery: PHImageRequestOptionsDeliveryMode
  private let progress: PHAssetImageProgressHandler?
  let resizeMode: PHImageRequestOptionsResizeMode
  let cropRect: CGRect

  init(_ asset: PHAsset, _ options: PHImageRequestOptions?) {
    source = asset
    version = options?.version ?? .current
    isSynchronous = options?.isSynchronous ?? false
    delivery = options?.deliveryMode ?? .opportunistic
    // It may wait for the main queue, and so for the caller, which waits for the answer.
    progress = isSynchronous ? nil : options?.progressHandler
    resizeMode = options?.resizeMode ?? .fast
    cropRect = resizeMode == .exact ? options?.normalizedCropRect ?? .zero : .zero
  }

  /// What is asked for of a video or a Live Photo: nothing is scaled, and the handler is called later.
  init(_ asset: PHAsset, isCurrent: Bool, progress: PHAssetImageProgressHandler?) {
    (source, self.progress) = (asset, progress)
    version = isCurrent ? .current : .unadjusted
    (isSynchronous, delivery, resizeMode, cropRect) = (false, .highQualityFormat, .none, .zero)
  }

  private var isCurrent: Bool { version == .current }

  /// Whether each picture that is given has to be exact, in order; a synchronous request gives the exact one only.
  var deliveries: [Bool] {
    switch delivery {
    case .opportunistic: isSynchronous ? [true] : [false, true]
    case .highQualityFormat: [true]
    case .fastFormat: [isSynchronous]
    }
  }

  func asset() throws -> Asset {
    guard let asset = source.asset else {
      throw PHPhotosError(.missingResource, "A stand-in for an asset has no bytes.")
    }
    return asset
  }

  /// The file of the version that is asked for.
  func resource() throws -> (AssetResource, PhotoLibrary) {
    let asset = try asset()
    guard let library = try source.source?.library.present() else { throw PHPhotosError(.missingResource, "") }
    let resources = try library.resources(of: asset)
    let current = isCurrent ? resources.shown(asset) : nil
    // The original of a RAW pair is the RAW file, whichever of the two the asset shows.
    let choice = version == .original ? .raw : asset.originalResourceChoice
    if let resource = current ?? resources.original(choice) { return (resource, library) }
    throw PHPhotosError(.missingResource, "The asset \(asset.localIdentifier) has no file of that version.")
  }

  /// The still and the video of a Live Photo, in the version that is asked for.
  func pair() throws -> (still: AssetResource, video: AssetResource, library: PHPhotoLibrary) {
    let (asset, (still, core)) = (try asset(), try resource())
    let resources = try core.resources(of: asset)
    let paired = isCurrent ? resources.shownPairedVideo(asset) : resources.first { $0.type == .pairedVideo }
    guard let video = paired, let library = source.library else {
      let isStill = resources.contains { $0.type == .pairedVideo }
      throw PHPhotosError(
        .requestNotSupportedForAsset,
        """
        The asset \(asset.localIdentifier) is not a Live Photo: \
        \(isStill ? "its edit is a still; the original is one" : "it has no paired video") (LP-01).
        """)
    }
    return (still, video, library)
  }

  /// Reports progress.
  /// - Throws: `CancellationError` if the handler asks to stop.
  func report(_ share: Double, _ number: PHImageRequestID) throws {
    guard let progress else { return }
    var stop = ObjCBool(false)
    progress(share, nil, &stop, information(number))
    if stop.boolValue { throw CancellationError() }
  }

  /// All bytes of a file.
  func bytes(of resource: AssetResource, _ library: PhotoLibrary, _ number: PHImageRequestID) async throws -> Data {
    var data = Data(capacity: Int(clamping: resource.dataSize))
    func take(_ portion: Data) throws {
      data.append(portion)
      try report(resource.dataSize == 0 ? 1 : Double(data.count) / Double(resource.dataSize), number)
    }
    let portions = library.data(of: resource, in: try asset())
    if isSynchronous {
      try portions.read { portion in
        try Task.checkCancellation()
        try take(portion)
      }
    } else {
      for try await portion in portions { try take(portion) }
    }
    return data
  }

  /// How the file's picture has to be turned. What an edit rendered is upright if the renderer cannot determine it, or
  /// fails (AS-10).
  /// - Throws: for other files what the renderer throws; its cancellation for all.
  func orientation(
    of resource: AssetResource, _ library: PhotoLibrary, _ renderer: any PHImageRenderer
  ) throws -> CGImagePropertyOrientation? {
    try Self.orientation(of: resource, at: try library.url(of: resource, in: try asset()), renderer)
  }

  /// The same for a file whose place is known.
  static func orientation(
    of resource: AssetResource, at url: URL, _ renderer: any PHImageRenderer
  ) throws -> CGImagePropertyOrientation? {
    let isRendered = [.fullSizePhoto, .fullSizeVideo, .adjustmentBasePhoto].contains(resource.type)
    do {
      return try renderer.orientation(ofFileAt: url) ?? (isRendered ? .up : nil)
    } catch {
      if !isRendered || Self.isCancellation(error) { throw error }
      try Task.checkCancellation()
      return .up
    }
  }

  private static func isCancellation(_ error: any Error) -> Bool {
    error is CancellationError || (PHPhotosError.from(error) as? PHPhotosError)?.code == .userCancelled
  }

  /// The information about an answer; whatever ends a cancelled request is its cancellation, as a program that was
  /// stopped. To be called in the request's task.
  func information(
    _ number: PHImageRequestID, isDegraded: Bool = false, error: (any Error)? = nil
  ) -> [AnyHashable: Any] {
    var information: [AnyHashable: Any] = [
      // As in KeyValues.swift, flags too, so that casts to every type of numbers succeed.
      PHImageResultRequestIDKey: NSNumber(value: number), PHImageResultIsDegradedKey: NSNumber(value: isDegraded),
      PHImageResultIsInCloudKey: NSNumber(value: false),
    ]
    guard let error else { return information }
    if Task.isCancelled || Self.isCancellation(error) {
      information[PHImageCancelledKey] = NSNumber(value: true)
    } else {
      information[PHImageErrorKey] = PHPhotosError.from(error)
    }
    return information
  }
}

/// The arguments of a handler.
struct RequestAnswer<Value>: @unchecked Sendable {  // guarded by: made by the request's task, then the handler's alone
  let information: [AnyHashable: Any]
  let value: Value?

  init(_ information: [AnyHashable: Any], _ value: Value? = nil) {
    (self.information, self.value) = (information, value)
  }
}

/// The main queue, which is the main actor's.
enum MainQueue {
  private static let mark: DispatchSpecificKey<Bool> = {
    let mark = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: mark, value: true)
    return mark
  }()

  /// Whether the caller is on it.
  ///
  /// On Linux other threads than the main one serve the queue of a program with an asynchronous `main`, so the thread
  /// alone does not tell. It counts all the same: before it serves the queue nothing else distinguishes it.
  static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) == true || Thread.isMainThread }
}

/// The requests of a manager that are under way.
///
/// Their tasks run on a queue of their own: a synchronous request may block a thread of the cooperative pool, and
/// blocking all of them would be a deadlock. The caller may as well hold a thread of the concurrent queues, so each
/// synchronous request has a serial queue, which gets a thread besides them, and reads its bytes there.
///
///     a handler of ...    a request made on the main queue    one made elsewhere
///     a synchronous one   before it returns, on the caller's thread
///     a picture, bytes,
///     a Live Photo        on the main queue                   in the request's task: a server serves no main queue
///     a film, an export   in the request's task
final class ImageRequests: Sendable {
  private struct State {
    var tasks: [PHImageRequestID: Task<Void, Never>] = [:]
  }

  /// What a synchronous request was answered.
  private final class Answers<Value>: Sendable {
    let list = Mutex<[RequestAnswer<Value>]>([])
  }

  private let state = Mutex(State())
  /// The last number given: one manager does not know the requests of another.
  private static let last = Mutex<PHImageRequestID>(0)
  private static let executor = QueueExecutor(DispatchQueue(label: "photoledger.images", attributes: .concurrent))

  /// Begins a request; a synchronous one has ended when this returns, with its handlers called on the caller's thread.
  /// - Parameter returnsToMain: whether the answers to a caller on the main queue are delivered there, in order.
  func run<Value>(
    isSynchronous: Bool, returnsToMain: Bool = false, resultHandler handler: @escaping (RequestAnswer<Value>) -> Void,
    body: @escaping @Sendable (PHImageRequestID, @Sendable (RequestAnswer<Value>) -> Void) async -> Void
  ) -> PHImageRequestID {
    guard isSynchronous else {
      let isForMain = returnsToMain && MainQueue.isCurrent
      // guarded by: from now on only the request's task calls it, or only the main queue
      nonisolated(unsafe) let handler = handler
      return begin { number in
        await body(number) { answer in
          if isForMain { DispatchQueue.main.async { handler(answer) } } else { handler(answer) }
        }
      }
    }
    let (answers, done) = (Answers<Value>(), DispatchSemaphore(value: 0))
    let executor = QueueExecutor(DispatchQueue(label: "photoledger.image"))
    let number = begin(on: executor) { number in
      await body(number) { answer in answers.list.withLock { $0.append(answer) } }
      done.signal()
    }
    withExtendedLifetime(executor) { done.wait() }
    for answer in answers.list.withLock({ $0 }) { handler(answer) }
    return number
  }

  private func begin(
    on executor: QueueExecutor = ImageRequests.executor,
    _ body: @escaping @Sendable (PHImageRequestID) async -> Void
  ) -> PHImageRequestID {
    let number = Self.last.withLock { last in
      last = last == .max ? 1 : last + 1
      return last
    }
    state.withLock { state in
      // The lock is held until the task is in the table, so that its end finds it there.
      state.tasks[number] = Task.detached(executorPreference: executor) { [self] in
        await body(number)
        self.state.withLock { _ = $0.tasks.removeValue(forKey: number) }
      }
    }
    return number
  }

  func cancel(_ number: PHImageRequestID) { state.withLock { $0.tasks[number] }?.cancel() }
}
