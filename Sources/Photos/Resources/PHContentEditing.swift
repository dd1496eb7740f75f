// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

// Editing the content of an asset (AS-04 to AS-10): the input says what there is, the output takes a recipe and the
// rendered files, and a change request executes it. Rendered files are written to a folder of the output's own, from
// which the library takes them; the folder goes with the output.

public import PhotoLedger
import Synchronization

/// The recipe of an edit (Apple: `PHAdjustmentData`).
public final class PHAdjustmentData: NSObject, Sendable {
  /// The format of the adjustment data.
  public let formatIdentifier: String
  /// Which version of the format it is.
  public let formatVersion: String
  /// The recipe.
  public let data: Data

  /// A recipe; empty data is rejected when the edit is made (AS-04).
  public init(formatIdentifier: String, formatVersion: String, data: Data) {
    (self.formatIdentifier, self.formatVersion, self.data) = (formatIdentifier, formatVersion, data)
  }

  convenience init(_ adjustment: AdjustmentData) {
    self.init(
      formatIdentifier: adjustment.formatIdentifier, formatVersion: adjustment.formatVersion, data: adjustment.data)
  }

  var core: AdjustmentData {
    AdjustmentData(formatIdentifier: formatIdentifier, formatVersion: formatVersion, data: data)
  }
}

/// Names a request for editing input (Apple: `PHContentEditingInputRequestID`).
public typealias PHContentEditingInputRequestID = Int

/// The key of the information about an input that holds its error (Apple: `PHContentEditingInputErrorKey`).
public let PHContentEditingInputErrorKey = "PHContentEditingInputErrorKey"
/// The key of the information about an input that says it was cancelled (Apple: `PHContentEditingInputCancelledKey`).
public let PHContentEditingInputCancelledKey = "PHContentEditingInputCancelledKey"
/// The key of the information about an input that says its bytes are in the cloud; never given, since nothing is
/// elsewhere (Apple: `PHContentEditingInputResultIsInCloudKey`).
public let PHContentEditingInputResultIsInCloudKey = "PHContentEditingInputResultIsInCloudKey"

/// How editing input is asked for (Apple: `PHContentEditingInputRequestOptions`).
open class PHContentEditingInputRequestOptions: NSObject {
  /// Whether the editor can apply stored adjustment data; then it gets the unedited base (AS-09). False by default.
  open var canHandleAdjustmentData: (PHAdjustmentData) -> Bool = { _ in false }
  /// Every byte is here or nowhere: it makes no difference. Kept for source compatibility.
  open var isNetworkAccessAllowed = false
  /// Called with 1 when the input is available, as nothing is downloaded, on the caller's thread; setting `stop`
  /// cancels the request.
  ///
  /// A request from the main queue does not call it: it may wait for that queue, as Apple's are called elsewhere.
  open var progressHandler: ((Double, UnsafeMutablePointer<ObjCBool>) -> Void)?
  /// No display-size image is made either way. Kept for source compatibility.
  open var skipsDisplaySizeImage = false
}

/// What a program needs to edit an asset (Apple: `PHContentEditingInput`).
public final class PHContentEditingInput: NSObject, Sendable {
  /// What the asset is.
  public let mediaType: PHAssetMediaType
  /// What else it is.
  public let mediaSubtypes: PHAssetMediaSubtype
  /// How it is shown.
  public let playbackStyle: PHAsset.PlaybackStyle
  /// When it was taken.
  public let creationDate: Date?
  /// Where it was taken.
  public let location: CLLocation?
  /// The kind of data of the file that the edit begins with.
  public let uniformTypeIdentifier: String?
  /// The recipe of the last edit, if the program can apply it (AS-09).
  public let adjustmentData: PHAdjustmentData?
  /// The photo that the edit begins with; nil for a video.
  public let fullSizeImageURL: URL?
  /// The video that the edit begins with, also a Live Photo's; stands in for `audiovisualAsset`, which Linux lacks.
  public let videoURL: URL?
  /// How the photo has to be turned, as EXIF numbers it: what the installed renderer reads, 1 without one.
  public let fullSizeImageOrientation: Int32
  let input: EditingInput

  init(_ input: EditingInput, _ library: PhotoLibrary) throws {
    self.input = input
    let asset = input.asset
    (mediaType, playbackStyle, creationDate) = (asset.mediaType, asset.playbackStyle, asset.creationDate)
    mediaSubtypes = PHAssetMediaSubtype(rawValue: UInt(asset.mediaSubtypes.rawValue))
    location = asset.location.map { CLLocation($0, asset.creationDate) }
    adjustmentData = input.adjustmentData.map(PHAdjustmentData.init)
    uniformTypeIdentifier = input.resources.first?.uniformTypeIdentifier
    func file(_ types: Set<ResourceType>) throws -> (resource: AssetResource, url: URL)? {
      guard let resource = input.resources.first(where: { types.contains($0.type) }) else { return nil }
      return (resource, try library.url(of: resource, in: asset))
    }
    let still = try file([.photo, .alternatePhoto, .fullSizePhoto, .adjustmentBasePhoto])
    fullSizeImageURL = still?.url
    let turn = try still.flatMap { still in
      try AssetWish.orientation(of: still.resource, at: still.url, PHImageManager.currentRenderer)
    }
    fullSizeImageOrientation = Int32(turn?.rawValue ?? 1)
    videoURL = try file([
      .video, .fullSizeVideo, .adjustmentBaseVideo, .pairedVideo, .fullSizePairedVideo, .adjustmentBasePairedVideo,
    ])?.url
  }
}

/// A recipe and the rendered files of an edit (Apple: `PHContentEditingOutput`).
public final class PHContentEditingOutput: NSObject {
  /// The recipe; needed, and not empty (AS-04).
  public var adjustmentData: PHAdjustmentData?
  private let input: PHContentEditingInput?
  private let isMadeOfVideo: Bool
  let folder = RenderFolder()

  /// The output of an edit of an asset (Apple: `init(contentEditingInput:)`).
  public init(contentEditingInput: PHContentEditingInput) {
    (input, isMadeOfVideo) = (contentEditingInput, contentEditingInput.mediaType == .video)
  }

  /// The output that makes a new asset of rendered files, or edits one as it is made
  /// (Apple: `init(placeholderForCreatedAsset:)`).
  ///
  /// It takes films for an asset that its block has begun to create of a film.
  public init(placeholderForCreatedAsset: PHObjectPlaceholder) {
    (input, isMadeOfVideo) = (nil, CurrentBlock.mediaType(ofCreated: placeholderForCreatedAsset.identifier) == .video)
  }

  /// Where the rendered photo or video is to be written: a JPEG or a QuickTime film (Apple: `renderedContentURL`).
  public var renderedContentURL: URL { place(isMadeOfVideo ? .quickTimeMovie : .jpeg) }

  /// Where the rendered file is to be written in one of the supported kinds (Apple: `renderedContentURL(for:)`).
  /// - Throws: `PHPhotosError.invalidResource` for another kind.
  public func renderedContentURL(for type: UTType) throws -> URL {
    guard supportedRenderedContentTypes.contains(type) else {
      throw PHPhotosError(
        .invalidResource,
        "Rendered content of type \(type) is not supported; use \(supportedRenderedContentTypes.map(\.identifier)).")
    }
    return place(type)
  }

  /// The kind of file that is expected (Apple: `defaultRenderedContentType`).
  public var defaultRenderedContentType: UTType? { supportedRenderedContentTypes.first }

  /// The kinds of files that are taken (Apple: `supportedRenderedContentTypes`).
  public var supportedRenderedContentTypes: [UTType] {
    isMadeOfVideo ? Self.films : Self.photos + (input == nil ? Self.films : [.quickTimeMovie])
  }

  private static let photos: [UTType] = [.jpeg, .heic, .png, .tiff]
  private static let films: [UTType] = [.quickTimeMovie, .mpeg4Movie]

  private func place(_ type: UTType) -> URL {
    PHPhotoLibrary.answer("PHContentEditingOutput.renderedContentURL") { try folder.place(of: type) }
  }

  /// The files that were written, as parts of an edit or of a new asset.
  private func written(photo: ResourceType, video: ResourceType, pairedVideo: ResourceType) -> [ResourceDraft] {
    let files = supportedRenderedContentTypes.compactMap { type in folder.file(of: type).map { (type, $0) } }
    let isPaired =
      files.contains { Self.photos.contains($0.0) } || input?.mediaSubtypes.contains(.photoLive) ?? false
    return files.map { type, file in
      ResourceDraft(
        type: Self.photos.contains(type) ? photo : isPaired ? pairedVideo : video,
        source: .file(file, shouldMove: false), uniformTypeIdentifier: type.identifier)
    }
  }

  /// The edit; the core rejects one that lacks its recipe or its render (AS-04).
  func edit() -> ContentEdit {
    ContentEdit(
      adjustmentData: adjustmentData?.core ?? AdjustmentData(formatIdentifier: "", formatVersion: "", data: Data()),
      rendered: written(photo: .fullSizePhoto, video: .fullSizeVideo, pairedVideo: .fullSizePairedVideo),
      base: input?.input.base ?? .unedited)
  }

  /// The rendered files as originals of a new asset.
  func originals() -> [ResourceDraft] { written(photo: .photo, video: .video, pairedVideo: .pairedVideo) }
}

/// A folder for rendered files, made when it is needed and removed when it is needed no longer.
final class RenderFolder: Sendable {
  private let made = Mutex<URL?>(nil)

  deinit {
    guard let url = made.withLock({ $0 }) else { return }
    // What cannot be removed is the system's to clean up.
    try? FileManager.default.removeItem(at: url)
  }

  /// Where the file of a kind is to be written.
  func place(of type: UTType) throws -> URL {
    let url = try made.withLock { made in
      if let made, FileManager.default.fileExists(atPath: made.path) { return made }
      let folder = try FileManager.default.makeTemporaryFolder("photoledger-edit")
      made = folder
      return folder
    }
    return Self.place(of: type, in: url)
  }

  /// The file of a kind; nil if none was written.
  func file(of type: UTType) -> URL? {
    guard let url = made.withLock({ $0 }) else { return nil }
    let file = Self.place(of: type, in: url)
    return FileManager.default.fileExists(atPath: file.path) ? file : nil
  }

  private static func place(of type: UTType, in folder: URL) -> URL {
    folder.appending(
      path: "FullSizeRender.\(type.preferredFilenameExtension ?? "data")", directoryHint: .notDirectory)
  }
}

extension PHAsset {
  func editingInput(
    _ options: PHContentEditingInputRequestOptions?,
    _ completionHandler: (PHContentEditingInput?, [AnyHashable: Any]) -> Void
  ) -> PHContentEditingInputRequestID {
    do {
      guard let source else { throw PHPhotosError(.missingResource, "A stand-in for an asset has no content.") }
      let library = try source.library.present()
      guard try library.shown(source.asset) != nil else {
        throw PHPhotosError(
          .identifierNotFound,
          "The library has no asset with the identifier \(localIdentifier); it may have been deleted.")
      }
      let canHandle = options?.canHandleAdjustmentData
      let input = try library.editingInput(for: source.asset) { canHandle?(PHAdjustmentData($0)) ?? false }
      let made = try PHContentEditingInput(input, library)
      var stop = ObjCBool(false)
      if !MainQueue.isCurrent { options?.progressHandler?(1, &stop) }
      if stop.boolValue {
        completionHandler(nil, [PHContentEditingInputCancelledKey: NSNumber(value: true)])
      } else {
        completionHandler(made, [:])
      }
    } catch {
      completionHandler(nil, [PHContentEditingInputErrorKey: PHPhotosError.from(error)])
    }
    return 1
  }
}
