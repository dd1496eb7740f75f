internal import MediaImport

/// An encoded picture (stands in for UIKit's `UIImage`, which Linux lacks).
///
/// It carries bytes, and the size that they have. Nothing is decoded in the process: exiftool says whether bytes are a
/// picture, how large it is and how it is turned, and vipsthumbnail encodes it anew. Without exiftool any bytes are
/// accepted, and sizes are zero; without vipsthumbnail `jpegData` and `pngData` are nil. Standard error says so, once.
public final class UIImage: NSObject, Sendable {
  /// How the stored pixels are turned to be looked at (stands in for UIKit's enumeration).
  public enum Orientation: Int, Sendable, CaseIterable {
    /// As they are stored.
    case up = 0
    /// Turned by 180 degrees.
    case down = 1
    /// To be turned by 90 degrees to the left.
    case left = 2
    /// To be turned by 90 degrees to the right.
    case right = 3
    /// Mirrored.
    case upMirrored = 4
    /// Turned by 180 degrees and mirrored.
    case downMirrored = 5
    /// Mirrored, then turned by 90 degrees to the left.
    case leftMirrored = 6
    /// Mirrored, then turned by 90 degrees to the right.
    case rightMirrored = 7
  }

  /// The encoded bytes, such as a JPEG.
  public let data: Data
  /// Pixels for each point: 1 unless it was given.
  public let scale: CGFloat
  /// How the stored pixels are turned to be looked at.
  public let imageOrientation: Orientation
  private let storedSize: CGSize

  /// The picture in bytes; nil if they are not one.
  public convenience init?(data: Data) { self.init(data: data, scale: 1) }

  /// The picture in bytes, with a number of pixels for each point; nil if they are not a picture.
  public init?(data: Data, scale: CGFloat) {
    if data.isEmpty || !(scale > 0) { return nil }
    (self.data, self.scale) = (data, scale)
    do {
      guard let found = try InstalledRenderer().description(of: data), let size = found.storedSize else { return nil }
      storedSize = CGSize(width: size.width, height: size.height)
      imageOrientation = CGImagePropertyOrientation(rawValue: UInt32(found.orientation))?.ofImage ?? .up
    } catch {
      guard (error as? ImportError)?.code == .toolMissing else { return nil }
      Notice.exiftool.give(error)
      (storedSize, imageOrientation) = (.zero, .up)
    }
  }

  /// The picture in a file; nil if there is none.
  public convenience init?(contentsOfFile path: String) {
    guard let data = FileManager.default.contents(atPath: path) else { return nil }
    self.init(data: data)
  }

  /// A picture that stands upright, of a size in pixels; zero if it is not known. The bytes are taken as they are.
  public init(data: Data, size: CGSize) {
    (self.data, storedSize, scale, imageOrientation) = (data, size, 1, .up)
  }

  /// The stored pixels of a picture, shown as they are.
  public convenience init(cgImage: CGImage) { self.init(cgImage: cgImage, scale: 1, orientation: .up) }

  /// The stored pixels of a picture, shown turned; ``data`` are their bytes with the turn written into them, for which
  /// exiftool is waited for if they do not say so already. If it cannot be written, the picture keeps the turn that its
  /// bytes state, and standard error says why, once.
  /// - Parameters:
  ///   - cgImage: ``cgImage`` of another picture.
  ///   - scale: pixels for each point; 1 if it is not positive.
  ///   - orientation: how the pixels are turned to be looked at.
  public init(cgImage: CGImage, scale: CGFloat, orientation: Orientation) {
    self.scale = scale > 0 ? scale : 1
    storedSize = CGSize(width: cgImage.width, height: cgImage.height)
    if orientation == cgImage.orientation {
      (data, imageOrientation) = (cgImage.data, orientation)
      return
    }
    do {
      let turn = CGImagePropertyOrientation(orientation)
      data = try InstalledRenderer.programs.turned(cgImage.data, to: Int(turn.rawValue))
      imageOrientation = orientation
    } catch {
      Notice.turning.give(error)
      (data, imageOrientation) = (cgImage.data, cgImage.orientation)
    }
  }

  /// The size as the picture is looked at, points: pixels divided by ``scale``. Zero if it is not known.
  public var size: CGSize {
    let (width, height) = (storedSize.width / scale, storedSize.height / scale)
    return [.left, .right, .leftMirrored, .rightMirrored].contains(imageOrientation)
      ? CGSize(width: height, height: width) : CGSize(width: width, height: height)
  }

  /// The stored pixels, not turned; nil if their size is not known.
  public var cgImage: CGImage? {
    if storedSize == .zero { return nil }
    return CGImage(
      width: Int(storedSize.width), height: Int(storedSize.height), data: data, orientation: imageOrientation)
  }

  /// The picture as a JPEG, upright and without metadata; waits for a child process.
  /// - Parameter compressionQuality: from 0, smallest, to 1, best.
  /// - Returns: nil if it cannot be made.
  public func jpegData(compressionQuality: CGFloat) -> Data? {
    let quality = compressionQuality.isNaN ? 1 : min(1, max(0, compressionQuality))
    return encoded(as: .jpeg(quality: Int((quality * 100).rounded())))
  }

  /// The picture as a PNG, upright and without metadata; waits for a child process.
  /// - Returns: nil if it cannot be made.
  public func pngData() -> Data? { encoded(as: .png) }

  private func encoded(as format: PictureRequest.Format) -> Data? {
    do {
      return try InstalledRenderer().encoded(data, as: format)
    } catch {
      if (error as? ImportError)?.code == .toolMissing { Notice.vips.give(error) }
      return nil
    }
  }
}

/// The stored pixels of a picture: their size, and the encoded bytes that a ``UIImage`` can be made of again (stands in
/// for Core Graphics' `CGImage`). Nothing is decoded.
public final class CGImage: Sendable {
  /// Pixels from left to right.
  public let width: Int
  /// Pixels from top to bottom.
  public let height: Int

  /// The encoded picture, and the turn that its bytes state.
  let data: Data
  let orientation: UIImage.Orientation

  init(width: Int, height: Int, data: Data, orientation: UIImage.Orientation) {
    (self.width, self.height) = (width, height)
    (self.data, self.orientation) = (data, orientation)
  }
}

/// How a picture has to be turned to be looked at, as EXIF numbers it (stands in for Image I/O's enumeration).
public enum CGImagePropertyOrientation: UInt32, Sendable, CaseIterable {
  /// As it is stored.
  case up = 1
  /// Mirrored.
  case upMirrored = 2
  /// Turned by 180 degrees.
  case down = 3
  /// Turned by 180 degrees and mirrored.
  case downMirrored = 4
  /// Mirrored, then turned by 90 degrees to the left.
  case leftMirrored = 5
  /// To be turned by 90 degrees to the right.
  case right = 6
  /// Mirrored, then turned by 90 degrees to the right.
  case rightMirrored = 7
  /// To be turned by 90 degrees to the left.
  case left = 8

  /// The turn of a picture.
  public init(_ orientation: UIImage.Orientation) {
    // Both have a case of each name.
    self = Self.allCases.first { $0.ofImage == orientation } ?? .up
  }

  /// The same as pictures number it.
  var ofImage: UIImage.Orientation {
    switch self {
    case .up: .up
    case .upMirrored: .upMirrored
    case .down: .down
    case .downMirrored: .downMirrored
    case .leftMirrored: .leftMirrored
    case .right: .right
    case .rightMirrored: .rightMirrored
    case .left: .left
    }
  }
}
