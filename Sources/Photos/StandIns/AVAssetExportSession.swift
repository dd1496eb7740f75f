// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

// Films made of films, by ffmpeg in a child process. A preset is a largest size and a quality; `passthrough` copies the
// tracks. The file is written whole or not at all.

internal import MediaImport
import Synchronization

/// A kind of file (stands in for AVFoundation's `AVFileType`).
public struct AVFileType: RawRepresentable, Sendable, Hashable {
  /// The uniform type identifier.
  public let rawValue: String
  /// A kind by its uniform type identifier.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// A kind by its uniform type identifier.
  public init(_ rawValue: String) { self.rawValue = rawValue }

  /// QuickTime.
  public static let mov = AVFileType(rawValue: "com.apple.quicktime-movie")
  /// MPEG-4.
  public static let mp4 = AVFileType(rawValue: "public.mpeg-4")
  /// MPEG-4 with Apple's ending.
  public static let m4v = AVFileType(rawValue: "com.apple.m4v-video")
  /// Sound in MPEG-4.
  public static let m4a = AVFileType(rawValue: "com.apple.m4a-audio")

  /// ffmpeg's name of the container.
  fileprivate var container: String? {
    switch self {
    case .mov: "mov"
    case .mp4: "mp4"
    case .m4v, .m4a: "ipod"
    default: nil
    }
  }
}

/// The preset that copies the tracks (stands in for AVFoundation's constant).
public let AVAssetExportPresetPassthrough = "AVAssetExportPresetPassthrough"
/// H.264 as large as the film (stands in for AVFoundation's constant).
public let AVAssetExportPresetHighestQuality = "AVAssetExportPresetHighestQuality"
/// H.264 of at most 568 by 320 pixels (stands in for AVFoundation's constant).
public let AVAssetExportPresetMediumQuality = "AVAssetExportPresetMediumQuality"
/// H.264 of at most 224 by 128 pixels (stands in for AVFoundation's constant).
public let AVAssetExportPresetLowQuality = "AVAssetExportPresetLowQuality"
/// H.264 of at most 640 by 480 pixels (stands in for AVFoundation's constant).
public let AVAssetExportPreset640x480 = "AVAssetExportPreset640x480"
/// H.264 of at most 960 by 540 pixels (stands in for AVFoundation's constant).
public let AVAssetExportPreset960x540 = "AVAssetExportPreset960x540"
/// H.264 of at most 1280 by 720 pixels (stands in for AVFoundation's constant).
public let AVAssetExportPreset1280x720 = "AVAssetExportPreset1280x720"
/// H.264 of at most 1920 by 1080 pixels (stands in for AVFoundation's constant).
public let AVAssetExportPreset1920x1080 = "AVAssetExportPreset1920x1080"
/// H.264 of at most 3840 by 2160 pixels (stands in for AVFoundation's constant).
public let AVAssetExportPreset3840x2160 = "AVAssetExportPreset3840x2160"
/// HEVC as large as the film (stands in for AVFoundation's constant).
public let AVAssetExportPresetHEVCHighestQuality = "AVAssetExportPresetHEVCHighestQuality"
/// HEVC of at most 1920 by 1080 pixels (stands in for AVFoundation's constant).
public let AVAssetExportPresetHEVC1920x1080 = "AVAssetExportPresetHEVC1920x1080"
/// The sound alone (stands in for AVFoundation's constant).
public let AVAssetExportPresetAppleM4A = "AVAssetExportPresetAppleM4A"

/// Writes a film that is made of a film (stands in for AVFoundation's `AVAssetExportSession`, which Linux lacks).
///
/// ffmpeg does the work in a child process with limits. What is set counts when the export begins; a session exports
/// once, and traps when it is to export again, as Apple's raises.
open class AVAssetExportSession: NSObject, @unchecked Sendable {  // guarded by: `state` by its mutex
  /// How far an export is (stands in for AVFoundation's enumeration).
  public enum Status: Int, Sendable, CaseIterable {
    /// Not known; no session here has it.
    case unknown = 0
    /// Waiting for a turn; no session here has it.
    case waiting = 1
    /// Under way.
    case exporting = 2
    /// The file is there.
    case completed = 3
    /// It ended with an error.
    case failed = 4
    /// It was cancelled.
    case cancelled = 5
  }

  private struct State {
    var outputURL: URL?
    var outputFileType: AVFileType?
    var shouldOptimizeForNetworkUse = false
    var timeRange = CMTimeRange(start: .zero, duration: .positiveInfinity)
    var status = Status.unknown
    var progress: Float = 0
    var error: (any Error)?
    var isCancelled = false
  }

  private static let presets: [String: FilmExport.Pictures] = [
    AVAssetExportPresetPassthrough: .copied, AVAssetExportPresetAppleM4A: .none,
    AVAssetExportPresetHighestQuality: .encoded(isHEVC: false, quality: 18, largest: nil),
    AVAssetExportPresetMediumQuality: sized(568, 320, 23), AVAssetExportPresetLowQuality: sized(224, 128, 28),
    AVAssetExportPreset640x480: sized(640, 480), AVAssetExportPreset960x540: sized(960, 540),
    AVAssetExportPreset1280x720: sized(1280, 720), AVAssetExportPreset1920x1080: sized(1920, 1080),
    AVAssetExportPreset3840x2160: sized(3840, 2160),
    AVAssetExportPresetHEVCHighestQuality: .encoded(isHEVC: true, quality: 20, largest: nil),
    AVAssetExportPresetHEVC1920x1080: .encoded(
      isHEVC: true, quality: 23, largest: PixelSize(width: 1920, height: 1080)),
  ]

  private static func sized(_ width: Int, _ height: Int, _ quality: Int = 20) -> FilmExport.Pictures {
    .encoded(isHEVC: false, quality: quality, largest: PixelSize(width: width, height: height))
  }

  /// The film.
  public let asset: AVAsset
  /// The preset.
  public let presetName: String
  private let pictures: FilmExport.Pictures
  private let state = Mutex(State())

  /// A session with a preset; nil for one that is not known.
  public init?(asset: AVAsset, presetName: String) {
    guard let pictures = Self.presets[presetName] else { return nil }
    (self.asset, self.presetName, self.pictures) = (asset, presetName, pictures)
  }

  /// All presets, in alphabetical order.
  open class func allExportPresets() -> [String] { presets.keys.sorted() }

  /// The presets that a film can be exported with; none for one that cannot be read.
  open class func exportPresets(compatibleWith asset: AVAsset) -> [String] {
    if !asset.isExportable { return [] }
    let isSilent = asset.tracks(withMediaType: .audio).isEmpty
    let isSound = asset.tracks(withMediaType: .video).isEmpty
    return allExportPresets().filter { name in
      switch presets[name] {
      case .some(.none): !isSilent
      case .encoded: !isSound
      default: true
      }
    }
  }

  /// The kinds of files that can be written.
  open var supportedFileTypes: [AVFileType] { pictures == .none ? [.m4a] : [.mov, .mp4, .m4v] }

  /// Where the film goes; nothing may be there yet.
  open var outputURL: URL? {
    get { state.withLock(\.outputURL) }
    set { state.withLock { $0.outputURL = newValue } }
  }

  /// The kind of file.
  open var outputFileType: AVFileType? {
    get { state.withLock(\.outputFileType) }
    set { state.withLock { $0.outputFileType = newValue } }
  }

  /// Whether the file can be played while it is loaded.
  open var shouldOptimizeForNetworkUse: Bool {
    get { state.withLock(\.shouldOptimizeForNetworkUse) }
    set { state.withLock { $0.shouldOptimizeForNetworkUse = newValue } }
  }

  /// The part that is exported; all of it unless it is set.
  open var timeRange: CMTimeRange {
    get { state.withLock(\.timeRange) }
    set { state.withLock { $0.timeRange = newValue } }
  }

  /// How far the export is.
  open var status: Status { state.withLock(\.status) }
  /// The share that is done, from 0 to 1.
  open var progress: Float { state.withLock(\.progress) }
  /// Why the export failed: a `PHPhotosError` where Apple's is an `AVError`.
  open var error: (any Error)? { state.withLock(\.error) }

  /// Ends the export early; the file is removed.
  open func cancelExport() { state.withLock { $0.isCancelled = true } }

  /// Exports; the handler is called once, on a thread of the library's, and finds the outcome in ``status``.
  open func exportAsynchronously(completionHandler handler: @escaping @Sendable () -> Void) {
    DispatchQueue.global().async { [self] in
      run()
      handler()
    }
  }

  /// Exports, and finds the outcome in ``status``.
  open func export() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in exportAsynchronously { continuation.resume() } }
    } onCancel: {
      cancelExport()
    }
  }

  /// Exports to a file.
  /// - Throws: `PHPhotosError`; `CancellationError` if the task or the session was cancelled.
  open func export(to url: URL, as fileType: AVFileType) async throws {
    (outputURL, outputFileType) = (url, fileType)
    await export()
    if status == .cancelled { throw CancellationError() }
    if let error { throw error }
  }

  private func run() {
    do {
      let export = try begin()
      try InstalledRenderer.programs.export(export)
      state.withLock { ($0.status, $0.progress) = (.completed, 1) }
    } catch {
      state.withLock { state in
        state.status = state.isCancelled ? .cancelled : .failed
        state.error = PHPhotosError.photos(error)
      }
    }
  }

  private func begin() throws -> FilmExport {
    try state.withLock { state in
      guard state.status == .unknown else {
        fatalError("An AVAssetExportSession exports once; create another one for another file.")
      }
      state.status = .exporting
      guard let target = state.outputURL, target.isFileURL else {
        throw PHPhotosError(.internalError, "AVAssetExportSession.outputURL is not set to a file; set it first.")
      }
      guard !FileManager.default.fileExists(atPath: target.path) else {
        throw PHPhotosError(.internalError, "The file \(target.path) already exists; export to another path.")
      }
      guard let type = state.outputFileType, supportedFileTypes.contains(type), let container = type.container else {
        throw PHPhotosError(
          .internalError,
          "AVAssetExportSession.outputFileType is \(state.outputFileType?.rawValue ?? "not set"); use one of "
            + "\(supportedFileTypes.map(\.rawValue)).")
      }
      var export = FilmExport(source: asset.file, target: target, container: container, pictures: pictures)
      let range = state.timeRange
      if range.start > .zero || range.duration.isNumeric {
        let length = range.duration.isNumeric ? range.duration.seconds : 1e9
        export.part = (max(0, range.start.seconds), max(0, length))
      }
      export.isIndexFirst = state.shouldOptimizeForNetworkUse
      export.progress = { [weak self] share in self?.state.withLock { $0.progress = Float(share) } }
      export.isCancelled = { [weak self] in self?.state.withLock(\.isCancelled) ?? false }
      return export
    }
  }
}
