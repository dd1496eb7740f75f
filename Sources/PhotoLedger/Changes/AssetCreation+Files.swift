public import Foundation

extension AssetCreation {
  /// Describes an image that a file is to become (PHAssetChangeRequest.creationRequestForAssetFromImage(atFileURL:)).
  ///
  /// The file is copied when the block is carried out, with all its metadata (CB-08, CB-11).
  /// - Parameter file: a file URL.
  /// - Returns: nil if the file is not there, or if its name does not say that it is an image (CB-09).
  public init?(imageAt file: URL) { self.init(file, .image, .photo) }

  /// Describes a video that a file is to become (PHAssetChangeRequest.creationRequestForAssetFromVideo(atFileURL:)).
  ///
  /// The file is copied when the block is carried out, with all its metadata (CB-08, CB-11).
  /// - Parameter file: a file URL.
  /// - Returns: nil if the file is not there, or if its name does not say that it is a video (CB-09).
  public init?(videoAt file: URL) { self.init(file, .video, .video) }

  private init?(_ file: URL, _ medium: MediaType, _ type: ResourceType) {
    var isDirectory: ObjCBool = false
    guard file.isFileURL, UniformType(filename: file.lastPathComponent)?.medium == medium,
      FileManager.default.fileExists(atPath: file.path, isDirectory: &isDirectory), !isDirectory.boolValue
    else { return nil }
    self.init(mediaType: medium, resources: [ResourceDraft(type: type, source: .file(file, shouldMove: false))])
  }
}
