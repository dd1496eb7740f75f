import Foundation
import PhotoLedger

/// An asset that nobody took: its properties, before it is given to a library or a peer.
struct InventedAsset {
  enum Origin { case camera, screen, messenger }

  /// Its place in the order of addition, from 0.
  var index: Int
  var origin = Origin.camera
  /// Seconds since 2001.
  var instant: Double
  var isVideo = false
  var seconds = 0.0
  var isFavorite = false
  var isHidden = false
  /// Whether it was thrown into the trash later on.
  var isTrashed = false
  var isLive = false
  var location: Location?
  var burst: String?
  var representsBurst = false

  var isScreenshot: Bool { origin == .screen && !isVideo }

  var size: (width: Int, height: Int) {
    switch origin {
    case .camera: isVideo ? (1920, 1080) : index % 4 == 0 ? (3024, 4032) : (4032, 3024)
    case .screen: (1170, 2532)
    case .messenger: (1600, 1200)
    }
  }

  var subtypes: MediaSubtypes {
    if isScreenshot { return .photoScreenshot }
    return isLive ? .photoLive : []
  }

  /// Whether an ordinary fetch shows it in the end.
  var isVisible: Bool { !isHidden && !isTrashed && (burst == nil || representsBurst) }

  /// 32 bytes that no other asset has: the number, scrambled, as a hash would be.
  func hash(of file: UInt64) -> [UInt8] {
    var random = Seeded(UInt64(index) &* 2 &+ file)
    return (0..<4).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }
  }

  /// What two halves of a Live Photo share.
  var contentIdentifier: String? { isLive ? "LIVE-\(index)" : nil }

  /// What a library is asked to create.
  var creation: AssetCreation {
    var creation = AssetCreation(mediaType: isVideo ? .video : .image, resources: files.map { .stored($0) })
    creation.creationDate = Date(timeIntervalSinceReferenceDate: instant)
    creation.mediaSubtypes = subtypes
    (creation.pixelWidth, creation.pixelHeight) = size
    creation.duration = seconds
    creation.location = location
    creation.isFavorite = isFavorite
    creation.isHidden = isHidden
    creation.burstIdentifier = burst
    creation.representsBurst = representsBurst
    return creation
  }

  private var files: [AssetResource] {
    let name = "IMG_\(index)"
    var files = [
      AssetResource(
        type: isVideo ? .video : .photo, originalFilename: isVideo ? "\(name).MOV" : "\(name).HEIC",
        uniformTypeIdentifier: isVideo ? "com.apple.quicktime-movie" : "public.heic",
        dataSize: UInt64(1_000_000 + index % 1_900_000), sha256: hash(of: 0), pixelWidth: size.width,
        pixelHeight: size.height, storage: .referenced(path: "/photos/\(name)"), contentIdentifier: contentIdentifier)
    ]
    if isLive {
      files.append(
        AssetResource(
          type: .pairedVideo, originalFilename: "\(name).MOV", uniformTypeIdentifier: "com.apple.quicktime-movie",
          dataSize: 3_000_000, sha256: hash(of: 1), storage: .referenced(path: "/photos/\(name).mov"),
          contentIdentifier: contentIdentifier))
    }
    return files
  }
}
