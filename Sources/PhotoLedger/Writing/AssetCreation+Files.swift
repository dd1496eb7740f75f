public import Foundation

extension AssetCreation {
  /// Describes an image that a file is to become (PHAssetChangeRequest.creationRequestForAssetFromImage(atFileURL:)).
  ///
  /// The file is copied when the block is executed, with all its metadata (CB-08, CB-11).
  /// - Parameter file: a file URL.
  /// - Returns: nil if the file does not exist, or if its name is not that of an image (CB-09).
  public init?(imageAt file: URL) { self.init(file, .image, .photo) }

  /// Describes a video that a file is to become (PHAssetChangeRequest.creationRequestForAssetFromVideo(atFileURL:)).
  ///
  /// The file is copied when the block is executed, with all its metadata (CB-08, CB-11).
  /// - Parameter file: a file URL.
  /// - Returns: nil if the file does not exist, or if its name is not that of a video (CB-09).
  public init?(videoAt file: URL) { self.init(file, .video, .video) }

  /// Describes an image that a file is to become, by what the library's probe finds in it (CB-09).
  ///
  /// The probe is called at once; the block does not call it again unless the file changed meanwhile. A file that
  /// cannot be examined fails its block.
  /// - Parameters:
  ///   - file: a file URL.
  ///   - library: the library whose probe is called.
  /// - Returns: nil if the file does not exist, or is not an image; without a probe its name decides.
  /// - Complexity: one call of the probe.
  public init?(imageAt file: URL, examinedBy library: PhotoLibrary) {
    self.init(file, .image, .photo, library)
  }

  /// Describes a video that a file is to become, by what the library's probe finds in it (CB-09).
  ///
  /// The probe is called at once; the block does not call it again unless the file changed meanwhile. A file that
  /// cannot be examined fails its block.
  /// - Parameters:
  ///   - file: a file URL.
  ///   - library: the library whose probe is called.
  /// - Returns: nil if the file does not exist, or is not a video; without a probe its name decides.
  /// - Complexity: one call of the probe.
  public init?(videoAt file: URL, examinedBy library: PhotoLibrary) {
    self.init(file, .video, .video, library)
  }

  private init?(_ file: URL, _ medium: MediaType, _ type: ResourceType, _ library: PhotoLibrary? = nil) {
    var isDirectory: ObjCBool = false
    guard file.isFileURL, FileManager.default.fileExists(atPath: file.path, isDirectory: &isDirectory),
      !isDirectory.boolValue
    else { return nil }
    var draft = ResourceDraft(type: type, source: .file(file, shouldMove: false))
    // Where a file cannot be read, the block that brings it fails and says why.
    if let library {
      draft.examined = try? ExaminedFile(FilePath(file.path), library.store.probing, for: library.client)
    }
    switch draft.examined?.outcome {
    case .success(.medium(let facts)): guard facts.mediaType == medium else { return nil }
    case .success(.noMedium): return nil
    case .failure: break
    case nil, .success(.unavailable):
      guard UniformType(filename: file.lastPathComponent)?.medium == medium else { return nil }
    }
    self.init(mediaType: medium, resources: [draft])
  }
}
