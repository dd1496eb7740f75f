import Foundation
import PhotoLedger

/// An invented asset: its properties, before it is given to a library or a peer.
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

  /// Whether its content is edited later on: a still picture, and as many of them as make up the share of all assets.
  var isEdited: Bool {
    guard !isVideo, !isLive, !isTrashed, burst == nil else { return false }
    var random = Seeded(UInt64(index) &+ 1 << 40)
    return Double.random(in: 0..<1, using: &random) < LibraryShape.editedShare / Self.shareOfStills
  }

  /// Stills that are neither Live Photos nor of a burst, of all assets; measured on invented libraries.
  private static let shareOfStills = 0.62

  /// What edits it.
  var edit: ContentEdit {
    let recipe = AdjustmentData(formatIdentifier: "com.example.editor", formatVersion: "1", data: Data([1]))
    let rendered = AssetResource(
      type: .fullSizePhoto, originalFilename: "FullSizeRender.jpg", uniformTypeIdentifier: "public.jpeg",
      dataSize: 900_000, sha256: hash(of: 2), pixelWidth: size.width, pixelHeight: size.height,
      storage: .referenced(path: "/photos/edits/\(index).jpg"))
    return ContentEdit(adjustmentData: recipe, rendered: [.stored(rendered)])
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
