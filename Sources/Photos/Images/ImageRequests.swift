internal import PhotoLedger
import Synchronization

/// What is asked for, apart from the class that Apple's clients fill in.
struct ImageWish: Sendable {
  private let source: PHAsset
  private let version: PHImageRequestOptionsVersion
  private let isSynchronous: Bool
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
    let originals: [ResourceType] =
      asset.originalResourceChoice == .raw ? [.alternatePhoto, .photo, .video, .audio] : [.photo, .video, .audio]
    let wanted = version == .current ? [.fullSizePhoto, .fullSizeVideo] + originals : originals
    let resources = try library.resources(of: asset)
    for type in wanted {
      if let resource = resources.first(where: { $0.type == type }) { return (resource, library) }
    }
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

/// The requests of a manager that are under way.
final class ImageRequests: Sendable {
  private struct State {
    var last: PHImageRequestID = 0
    var tasks: [PHImageRequestID: Task<Void, Never>] = [:]
  }

  private let state = Mutex(State())

  /// Begins a request; a synchronous one is over when this returns.
  func run(isSynchronous: Bool, _ body: @escaping @Sendable (PHImageRequestID) async -> Void) -> PHImageRequestID {
    let done = isSynchronous ? DispatchSemaphore(value: 0) : nil
    let number = state.withLock { state in
      state.last = state.last == .max ? 1 : state.last + 1
      let number = state.last
      // The lock is held until the task is in the table, so that its end finds it there.
      state.tasks[number] = Task.detached { [self] in
        await body(number)
        self.state.withLock { _ = $0.tasks.removeValue(forKey: number) }
        done?.signal()
      }
      return number
    }
    done?.wait()
    return number
  }

  func cancel(_ number: PHImageRequestID) { state.withLock { $0.tasks[number] }?.cancel() }
}
