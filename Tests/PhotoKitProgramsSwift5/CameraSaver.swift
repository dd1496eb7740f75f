// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Photos

/// What a camera app has taken.
public struct Capture: Sendable {
  public let photo: Data
  public let movieURL: URL?
  public let date: Date
  public let location: CLLocation?

  public init(photo: Data, movieURL: URL? = nil, date: Date, location: CLLocation? = nil) {
    self.photo = photo
    self.movieURL = movieURL
    self.date = date
    self.location = location
  }
}

/// Saves what a camera app takes; it only ever adds, and cannot look at the library.
public final class CameraSaver {
  /// What became of a capture.
  public enum Outcome: Equatable {
    case saved(String)
    case notAllowed
    case invalid
    case failed(Int)
  }

  public init() {}

  public func requestAccess() async -> Bool {
    let status = await PHPhotoLibrary.requestAuthorization(for: .addOnly)
    switch status {
    case .authorized, .limited: return true
    case .notDetermined, .restricted, .denied: return false
    @unknown default: return false
    }
  }

  /// Saves a photo, with its film if there is one.
  public func save(_ capture: Capture) async -> Outcome {
    var types: [NSNumber] = [NSNumber(value: PHAssetResourceType.photo.rawValue)]
    if capture.movieURL != nil { types.append(NSNumber(value: PHAssetResourceType.pairedVideo.rawValue)) }
    guard PHAssetCreationRequest.supportsAssetResourceTypes(types) else { return .invalid }
    var identifier = ""
    do {
      try await PHPhotoLibrary.shared().performChanges {
        let request = PHAssetCreationRequest.forAsset()
        request.creationDate = capture.date
        request.location = capture.location
        let photo = PHAssetResourceCreationOptions()
        photo.originalFilename = "IMG_0001.HEIC"
        photo.uniformTypeIdentifier = "public.heic"
        request.addResource(with: .photo, data: capture.photo, options: photo)
        if let movieURL = capture.movieURL {
          let movie = PHAssetResourceCreationOptions()
          movie.shouldMoveFile = true
          request.addResource(with: .pairedVideo, fileURL: movieURL, options: movie)
        }
        identifier = request.placeholderForCreatedAsset?.localIdentifier ?? ""
      }
      return .saved(identifier)
    } catch {
      return outcome(of: error)
    }
  }

  /// Saves a film, telling a handler in the manner of older apps.
  public func saveMovie(at url: URL, completion: @escaping @Sendable (Bool, (any Error)?) -> Void) {
    PHPhotoLibrary.shared().performChanges({
      PHAssetChangeRequest.creationRequestForAssetFromVideo(atFileURL: url)
    }) { success, error in
      completion(success, error)
    }
  }

  /// Tries to make an album, which adding alone does not allow.
  public func makeAlbum(titled title: String) async -> Outcome {
    var identifier = ""
    do {
      try await PHPhotoLibrary.shared().performChanges {
        identifier =
          PHAssetCollectionChangeRequest.creationRequestForAssetCollection(withTitle: title)
          .placeholderForCreatedAssetCollection.localIdentifier
      }
      return .saved(identifier)
    } catch {
      return outcome(of: error)
    }
  }

  /// Whether the app can see what it saved.
  public func canSee(_ identifier: String) -> Bool {
    PHAsset.fetchAssets(withLocalIdentifiers: [identifier], options: nil).count > 0
  }

  private func outcome(of error: any Error) -> Outcome {
    let error = error as NSError
    guard error.domain == PHPhotosErrorDomain else { return .failed(error.code) }
    switch PHPhotosError.Code(rawValue: error.code) {
    case .accessUserDenied?, .accessRestricted?: return .notAllowed
    case .invalidResource?, .missingResource?: return .invalid
    default: return .failed(error.code)
    }
  }
}
