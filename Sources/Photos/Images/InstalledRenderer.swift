// The default renderer: the programs of this machine, run by MediaImport's `MediaRenderer`. A client's own renderer
// takes its place by `PHImageManager.setRenderer(_:)`.

internal import MediaImport
internal import PhotoLedger
import Synchronization

/// Makes pictures with vipsthumbnail, exiftool and ffmpeg, as far as they are installed.
package struct InstalledRenderer: PHImageRenderer {
  /// The programs on `PATH`: one renderer for the process, with the exiftool that examines new files.
  static let programs = MediaRenderer(probe: .shared)

  private let renderer: MediaRenderer
  /// The longer side of a picture that will do for now.
  private static let quickSide = 256.0

  /// The programs on `PATH`.
  init() { renderer = Self.programs }

  /// The programs of other folders, for tests.
  package init(searchPath: String) { renderer = MediaRenderer(searchPath: searchPath) }

  package func orientation(ofFileAt url: URL) throws -> CGImagePropertyOrientation? {
    do {
      return try renderer.description(of: url).flatMap { CGImagePropertyOrientation(rawValue: UInt32($0.orientation)) }
    } catch let error as ImportError where error.code == .toolMissing {
      return nil
    }
  }

  package func image(_ request: PHImageRendering) async throws -> UIImage {
    var picture = PictureRequest(source: request.url, sourceType: request.type.identifier)
    picture.scaling = request.contentMode == .aspectFill ? .fill : .fit
    picture.isExact = request.resizeMode == .exact && request.isExact
    picture.size = request.size.map { size in
      let share = request.isExact ? 1 : min(1, Self.quickSide / max(size.width, size.height, 1))
      return PixelSize(width: Self.side(size.width * share), height: Self.side(size.height * share))
    }
    if picture.size == nil, !request.isExact { picture.size = PixelSize(width: 256, height: 256) }
    let crop = request.normalizedCropRect
    if !crop.isEmpty {
      picture.region = PictureRequest.Region(
        x: Double(crop.minX), y: Double(crop.minY), width: Double(crop.width), height: Double(crop.height))
    }
    if request.type == .png || request.type == .gif { picture.format = .png }
    picture.isCancelled = { Task.isCancelled }
    let made = try renderer.picture(picture)
    return UIImage(data: made.data, size: CGSize(width: made.size.width, height: made.size.height))
  }

  /// Whether a picture that will do for now is smaller than one of a size, so that it is there sooner.
  static func hasPreview(for size: CGSize) -> Bool { max(size.width, size.height) > quickSide }

  /// A side as asked for; what is not a number of pixels counts as 1.
  private static func side(_ length: CGFloat) -> Int { max(1, Int(exactly: min(1e9, length).rounded()) ?? 1) }

  // MARK: Bytes in memory

  /// What the bytes of a picture say; nil if they are not a picture.
  /// - Throws: ``ImportError`` `toolMissing` without exiftool.
  func description(of data: Data) throws -> StillDescription? {
    try withFile(data) { file in
      try renderer.description(of: file).flatMap { $0.mediaType == .image && $0.storedSize != nil ? $0 : nil }
    }
  }

  /// The bytes of a picture encoded anew, upright.
  func encoded(_ data: Data, as format: PictureRequest.Format) throws -> Data {
    try withFile(data) { file in
      let type = try renderer.description(of: file)?.uniformTypeIdentifier ?? "public.image"
      var request = PictureRequest(source: file, sourceType: type)
      request.format = format
      return try renderer.picture(request).data
    }
  }

  /// Lends a file with the bytes, which is gone afterwards.
  func withFile<Value>(_ data: Data, _ body: (URL) throws -> Value) throws -> Value {
    let folder = try FileManager.default.makeTemporaryFolder("photoledger-image")
    // What cannot be removed is the system's to clean up.
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "image", directoryHint: .notDirectory)
    try data.write(to: file)
    return try body(file)
  }
}

/// Limits concurrent rendering to the number of processors; the others wait without holding a thread.
final class RenderTurns: Sendable {
  private struct State {
    var free: Int
    var waiting: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    var next = 0
  }

  private let state = Mutex(State(free: max(1, ProcessInfo.processInfo.activeProcessorCount)))

  /// Calls a function when it is its turn; first come, first served.
  /// - Throws: `CancellationError` if the task is cancelled before; what the function throws.
  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    let number = state.withLock { state in
      state.next += 1
      return state.next
    }
    let hasTurn = await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
        let answer: Bool? = state.withLock { state in
          if Task.isCancelled { return false }
          if state.free > 0 {
            state.free -= 1
            return true
          }
          state.waiting.append((number, continuation))
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0).continuation }
      }
      waiter?.resume(returning: false)
    }
    guard hasTurn else { throw CancellationError() }
    defer { end() }
    return try await body()
  }

  private func end() {
    let next = state.withLock { state in
      if state.waiting.isEmpty {
        state.free += 1
        return nil as CheckedContinuation<Bool, Never>?
      }
      return state.waiting.removeFirst().continuation
    }
    next?.resume(returning: true)
  }
}
