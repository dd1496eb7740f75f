package import Foundation
package import PhotoLedger

/// What a picture of a file has to be like.
package struct PictureRequest: Sendable {
  /// How a picture meets a size.
  package enum Scaling: Sendable, Hashable {
    /// All of it is inside.
    case fit
    /// It covers the size.
    case fill
  }

  /// How the result is encoded.
  package enum Format: Sendable, Hashable {
    /// JPEG with a quality from 1 to 100, on white where the picture lets shine through.
    case jpeg(quality: Int)
    /// PNG.
    case png

    var ending: String { self == .png ? ".png" : ".jpg" }

    var options: String {
      switch self {
      case .jpeg(let quality): "[Q=\(min(100, max(1, quality))),strip,background=255]"
      case .png: "[strip]"
      }
    }
  }

  /// A part of an upright picture, in shares of its sides from the upper left corner, 0 to 1.
  package struct Region: Sendable, Hashable {
    /// Shares of the width and the height.
    package let x, y, width, height: Double

    /// A part; what lies outside of the picture is left out. Nil if nothing is inside.
    package init?(x: Double, y: Double, width: Double, height: Double) {
      guard [x, y, width, height].allSatisfy(\.isFinite) else { return nil }
      let (left, top) = (min(1, max(0, x)), min(1, max(0, y)))
      (self.x, self.y) = (left, top)
      self.width = min(1, max(left, x + width)) - left
      self.height = min(1, max(top, y + height)) - top
      if self.width <= 0 || self.height <= 0 { return nil }
    }
  }

  /// The file.
  package var source: URL
  /// Its uniform type identifier, which says whether it is a film or a RAW file.
  package var sourceType: String
  /// The size that is asked for, pixels; nil: the picture's own.
  package var size: PixelSize?
  /// How the size is met.
  package var scaling = Scaling.fit
  /// Whether the size is met to the pixel, by enlarging and, to fill it, by cutting.
  package var isExact = false
  /// The part that is wanted; nil: the whole picture.
  package var region: Region?
  /// How the result is encoded.
  package var format = Format.jpeg(quality: 90)
  /// Whether the request was cancelled; then the work is abandoned.
  package var isCancelled: @Sendable () -> Bool = { false }

  /// A request for a picture of a file.
  package init(source: URL, sourceType: String) { (self.source, self.sourceType) = (source, sourceType) }
}

/// A picture that was made: upright, sRGB, without metadata.
package struct Picture: Sendable {
  /// The encoded bytes.
  package let data: Data
  /// Its size.
  package let size: PixelSize
}

/// What a photo or film says about itself, as far as showing it needs.
package struct StillDescription: Sendable, Hashable {
  /// Image, video or audio.
  package let mediaType: MediaType
  /// The type of the content.
  package let uniformTypeIdentifier: String
  /// The size of the stored pixels; nil if not stated.
  package let storedSize: PixelSize?
  /// The size as displayed; nil if not stated.
  package let displayedSize: PixelSize?
  /// EXIF orientation, 1 to 8, that turns the stored pixels into the displayed ones.
  package let orientation: Int
  /// The content identifier of a Live Photo's parts; nil if not stated.
  package let contentIdentifier: String?

  /// Whether the bytes are a RAW file. libvips reads some of them as the tiny picture in them, so the picture to show
  /// is the largest one in it.
  var isRAW: Bool { uniformTypeIdentifier.hasSuffix("raw-image") }

  init(_ metadata: MediaMetadata) {
    (mediaType, uniformTypeIdentifier) = (metadata.mediaType, metadata.uniformTypeIdentifier)
    (storedSize, displayedSize) = (metadata.storedSize, metadata.displayedSize)
    (orientation, contentIdentifier) = (metadata.orientation, metadata.contentIdentifier)
  }
}

/// The sizes on the way to a picture.
struct PictureGeometry {
  /// What the whole picture is scaled to.
  let scaled: PixelSize
  /// The corner of what is cut out of it.
  let origin: (left: Int, top: Int)
  /// The size of what is cut out of it: the result's.
  let window: PixelSize

  init(of source: PixelSize, for request: PictureRequest) {
    let region = request.region
    let wide = Double(source.width) * (region?.width ?? 1)
    let high = Double(source.height) * (region?.height ?? 1)
    var share = 1.0
    if let size = request.size {
      let (across, down) = (Double(size.width) / wide, Double(size.height) / high)
      share = request.scaling == .fit ? min(across, down) : max(across, down)
      if !request.isExact { share = min(1, share) }
    }
    func side(_ length: Double) -> Int { max(1, Int(exactly: min(1e9, length * share).rounded()) ?? 1) }
    scaled = PixelSize(width: side(Double(source.width)), height: side(Double(source.height)))
    var window = (min(side(wide), scaled.width), min(side(high), scaled.height))
    var corner = (Double(scaled.width) * (region?.x ?? 0), Double(scaled.height) * (region?.y ?? 0))
    if request.isExact, request.scaling == .fill, let size = request.size {
      let cut = (min(window.0, size.width), min(window.1, size.height))
      corner = (corner.0 + Double(window.0 - cut.0) / 2, corner.1 + Double(window.1 - cut.1) / 2)
      window = cut
    }
    self.window = PixelSize(width: window.0, height: window.1)
    origin = (min(Int(corner.0), scaled.width - window.0), min(Int(corner.1), scaled.height - window.1))
  }

  /// Whether something of the scaled picture is left out.
  var isCut: Bool { scaled != window }
}

extension PixelSize {
  /// Whether there are more pixels than a number.
  func isLarger(than count: Int) -> Bool {
    let (product, isOver) = width.multipliedReportingOverflow(by: height)
    return isOver || product > count
  }
}
