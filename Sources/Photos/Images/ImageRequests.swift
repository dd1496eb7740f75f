internal import PhotoLedger
import Synchronization

/// What is asked for, apart from the class that Apple's clients fill in.
struct ImageWish: Sendable {
  private let source: PHAsset
  private let version: PHImageRequestOptionsVersion
  let isSynchronous: Bool
  private let delivery: PHImageRequestOptionsDeliveryMode
  private let progress: PHAssetImageProgressHandler?
  let resizeMode: PHImageRequestOptionsResizeMode

  init(_ asset: PHAsset, _ options: PHImageRequestOptions?) {
    source = asset
    version = options?.version ?? .current
    isSynchronous = options?.isSynchronous ?? false
    delivery = options?.deliveryMode ?? .opportunistic
    progress = options?.progressHandler
    resizeMode = options?.resizeMode ?? .fast
  }

  /// Whether each picture that is given has to be exact, in order.
  var deliveries: [Bool] {
    switch delivery {
    case .opportunistic: isSynchronous ? [true] : [false, true]
    case .highQualityFormat: [true]
    case .fastFormat: [false]
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
    let rendered: ResourceType = asset.mediaType == .video ? .fullSizeVideo : .fullSizePhoto
    let render = version == .current ? resources.first { $0.type == rendered } : nil
    if let resource = render ?? resources.original(asset.originalResourceChoice) { return (resource, library) }
    throw PHPhotosError(.missingResource, "The asset \(asset.localIdentifier) has no file of that version.")
  }

  /// All bytes of a file.
  func bytes(of resource: AssetResource, _ library: PhotoLibrary, _ number: PHImageRequestID) async throws -> Data {
    var data = Data(capacity: Int(clamping: resource.dataSize))
    for try await portion in library.data(of: resource, in: try asset()) {
      data.append(portion)
      guard let progress else { continue }
      var stop = ObjCBool(false)
      let share = resource.dataSize == 0 ? 1 : Double(data.count) / Double(resource.dataSize)
      progress(share, nil, &stop, information(number))
      if stop.boolValue { throw CancellationError() }
    }
    return data
  }

  /// How the file's picture has to be turned; what an edit rendered stands upright (AS-10).
  func orientation(
    of resource: AssetResource, _ library: PhotoLibrary, _ renderer: (any PHImageRenderer)?
  ) throws -> CGImagePropertyOrientation? {
    if resource.type == .fullSizePhoto || resource.type == .fullSizeVideo { return .up }
    return try renderer?.orientation(ofFileAt: library.url(of: resource, in: try asset()))
  }

  func information(
    _ number: PHImageRequestID, isDegraded: Bool = false, error: (any Error)? = nil
  ) -> [AnyHashable: Any] {
    var information: [AnyHashable: Any] = [
      PHImageResultRequestIDKey: number, PHImageResultIsDegradedKey: isDegraded, PHImageResultIsInCloudKey: false,
    ]
    guard let error else { return information }
    let told = PHPhotosError.from(error)
    if error is CancellationError || (told as? PHPhotosError)?.code == .userCancelled {
      information[PHImageCancelledKey] = true
    } else {
      information[PHImageErrorKey] = told
    }
    return information
  }
}

/// What a handler is told.
struct ImageAnswer: @unchecked Sendable {  // guarded by: made by the request's task and then left to the handler
  let information: [AnyHashable: Any]
  var data: Data?
  var type: String?
  var orientation = CGImagePropertyOrientation.up
  var image: UIImage?

  init(
    _ information: [AnyHashable: Any], data: Data? = nil, type: String? = nil,
    orientation: CGImagePropertyOrientation = .up, image: UIImage? = nil
  ) {
    (self.information, self.data, self.type) = (information, data, type)
    (self.orientation, self.image) = (orientation, image)
  }
}

/// The requests of a manager that are under way.
///
/// Their tasks run on a queue of their own: whoever waits for a synchronous request may hold a thread of the
/// cooperative pool, and as many of those as there are would wait for each other for ever.
final class ImageRequests: Sendable {
  private struct State {
    var last: PHImageRequestID = 0
    var tasks: [PHImageRequestID: Task<Void, Never>] = [:]
  }

  /// What a synchronous request was answered.
  private final class Answers: Sendable {
    let list = Mutex<[ImageAnswer]>([])
  }

  private let state = Mutex(State())
  private static let executor = QueueExecutor()

  /// Begins a request; a synchronous one is over when this returns, its answers told on the caller's thread.
  func run(
    isSynchronous: Bool, told handler: @escaping (ImageAnswer) -> Void,
    body: @escaping @Sendable (PHImageRequestID, @Sendable (ImageAnswer) -> Void) async -> Void
  ) -> PHImageRequestID {
    guard isSynchronous else {
      nonisolated(unsafe) let handler = handler  // guarded by: only the request's task calls it from now on
      return begin { await body($0) { handler($0) } }
    }
    let (answers, done) = (Answers(), DispatchSemaphore(value: 0))
    let number = begin { number in
      await body(number) { answer in answers.list.withLock { $0.append(answer) } }
      done.signal()
    }
    done.wait()
    for answer in answers.list.withLock({ $0 }) { handler(answer) }
    return number
  }

  private func begin(_ body: @escaping @Sendable (PHImageRequestID) async -> Void) -> PHImageRequestID {
    state.withLock { state in
      state.last = state.last == .max ? 1 : state.last + 1
      let number = state.last
      // The lock is held until the task is in the table, so that its end finds it there.
      state.tasks[number] = Task.detached(executorPreference: Self.executor) { [self] in
        await body(number)
        self.state.withLock { _ = $0.tasks.removeValue(forKey: number) }
      }
      return number
    }
  }

  func cancel(_ number: PHImageRequestID) { state.withLock { $0.tasks[number] }?.cancel() }
}

/// Runs tasks on a concurrent queue.
private final class QueueExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "photoledger.images", attributes: .concurrent)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
