// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Foundation
import Photos
import UniformTypeIdentifiers

/// What an app that uploads photos sends its server about each before the bytes.
public struct UploadList: Sendable {
  public struct Entry: Equatable, Sendable {
    public var name: String
    public var byteCount: Int64
    public var mimeType: String
    public var isLocal: Bool
    public var isImage: Bool
  }

  public init() {}

  public func entries(of asset: PHAsset) -> [Entry] {
    PHAssetResource.assetResources(for: asset).map { resource in
      let type = UTType(resource.uniformTypeIdentifier) ?? .data
      return Entry(
        name: asset.value(forKey: "filename") as? String ?? resource.originalFilename,
        byteCount: resource.value(forKey: "fileSize") as? Int64 ?? 0,
        mimeType: type.preferredMIMEType ?? "application/octet-stream",
        isLocal: resource.value(forKey: "locallyAvailable") as? Bool ?? false,
        isImage: type.isSubtype(of: .image) && type.conforms(to: .image))
    }
  }

  /// The bytes, as an app that was written for iOS 8 asks for them.
  public func bytes(of asset: PHAsset) async -> (Data?, UIImage.Orientation) {
    await withCheckedContinuation { continuation in
      let options = PHImageRequestOptions()
      options.version = .current
      PHImageManager.default().requestImageData(for: asset, options: options) { data, _, orientation, _ in
        continuation.resume(returning: (data, orientation))
      }
    }
  }

  /// A square from the middle of the picture, as a JPEG.
  public func avatar(of asset: PHAsset, side: CGFloat) async -> (Data, CGSize)? {
    await withCheckedContinuation { continuation in
      let options = PHImageRequestOptions()
      options.deliveryMode = .highQualityFormat
      options.resizeMode = .exact
      let (width, height) = (CGFloat(asset.pixelWidth), CGFloat(asset.pixelHeight))
      let short = min(width, height)
      options.normalizedCropRect = CGRect(
        x: (width - short) / 2 / width, y: (height - short) / 2 / height, width: short / width, height: short / height)
      PHImageManager.default().requestImage(
        for: asset, targetSize: CGSize(width: side, height: side), contentMode: .aspectFill, options: options
      ) { image, _ in
        let data = image?.jpegData(compressionQuality: 0.8)
        continuation.resume(returning: image.flatMap { image in data.map { ($0, image.size) } })
      }
    }
  }

  /// Whether what another app gives has a picture in it.
  public func hasPicture(_ provider: NSItemProvider) -> Bool {
    provider.hasItemConformingToTypeIdentifier(UTType.image.identifier)
  }
}
