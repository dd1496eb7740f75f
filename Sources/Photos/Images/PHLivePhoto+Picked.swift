// A picked Live Photo: an item of a picker that has both a still and a video. The bytes are copies in the form that the
// picker was configured with, so they need not have the content identifier any more; that they belong together is known
// from the asset they came from.

internal import LibraryPicking
internal import MediaImport
internal import PhotoLedger

extension PHLivePhoto: PickedFilesReading {
  /// A Live Photo, which is not a single sequence of bytes.
  public static var readableTypeIdentifiersForItemProvider: [String] { [UTType.livePhoto.identifier] }

  /// Always throws: a Live Photo is two files, which ``NSItemProvider/loadObject(ofClass:completionHandler:)`` loads.
  /// - Throws: `PHPhotosError.invalidResource`.
  public static func object(withItemProviderData data: Data, typeIdentifier: String) throws -> PHLivePhoto {
    throw PHPhotosError(
      .invalidResource,
      "Data of type '\(typeIdentifier)' is not a Live Photo, which consists of a photo and a video; load it with "
        + "loadObject(ofClass: PHLivePhoto.self).")
  }

  static func canBeMade(of source: PickedSource) -> Bool {
    source.type(conformingTo: .image) != nil && source.type(conformingTo: .movie) != nil
  }

  static func object(of source: PickedSource, _ progress: Progress) async throws -> PHLivePhoto {
    guard canBeMade(of: source) else {
      throw PHPhotosError(
        .requestNotSupportedForAsset,
        "The picked item is not a Live Photo: it can be loaded as "
          + "\(source.item.supportedContentTypes.joined(separator: ", ")), and not as \(UTType.livePhoto.identifier).")
    }
    let folder = try KeptFolder()
    let parts = [(PHAssetResourceType.photo, UTType.image), (.pairedVideo, .movie)]
    var files: [ResourceFile] = []
    for (index, (type, wanted)) in parts.enumerated() {
      let part = Progress(totalUnitCount: 1)
      let url = try await source.withFile(as: wanted, part) { try folder.keep($0) }
      files.append(try await offload { try folder.file(url, type, wanted) })
      progress.completedUnitCount = progress.totalUnitCount * Int64(index + 1) / Int64(parts.count)
      try Task.checkCancellation()
    }
    // Without ffprobe the Live Photo is whole; only its time is not known, as `duration` says.
    let video = files[1].url
    let duration = try await offload { (try? InstalledRenderer.programs.film(at: video).duration) ?? 0 }
    let size = CGSize(width: files[0].size.width, height: files[0].size.height)
    return PHLivePhoto(size, files.map { PHAssetResource($0) }, duration)
  }
}

/// A folder for files that last as long as something that is made of them.
final class KeptFolder: Sendable {
  private let url: URL

  init() throws {
    do { url = try FileManager.default.makeTemporaryFolder("live-photo") } catch { throw PHPhotosError.from(error) }
  }

  /// What cannot be removed is the system's to clean up.
  deinit { try? FileManager.default.removeItem(at: url) }

  /// Moves a file here; the name stays.
  func keep(_ file: URL) throws -> URL {
    let kept = url.appending(path: file.lastPathComponent, directoryHint: .notDirectory)
    try FileManager.default.moveItem(at: file, to: kept)
    return kept
  }

  /// A file of this folder, with what exiftool says of it.
  func file(_ url: URL, _ type: PHAssetResourceType, _ wanted: UTType) throws -> ResourceFile {
    var description: StillDescription?
    do {
      description = try InstalledRenderer.programs.description(of: url)
    } catch let error as ImportError where error.code == .toolMissing {
      Notice.exiftool.give(error)
    }
    let size = description?.displayedSize.map { ($0.width, $0.height) } ?? (0, 0)
    let ending = UTType(filenameExtension: url.pathExtension)?.identifier
    return ResourceFile(
      url: url, type: type, uniformTypeIdentifier: description?.uniformTypeIdentifier ?? ending ?? wanted.identifier,
      size: size, folder: self)
  }
}
