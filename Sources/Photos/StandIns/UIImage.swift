public import Foundation

/// An encoded picture (stands in for UIKit's `UIImage`, which Linux lacks).
///
/// It carries bytes and does not decode them: a server hands pictures on, and a renderer that the program installs
/// makes them. See ``PHImageManager/setRenderer(_:)``.
public final class UIImage: NSObject, Sendable {
  /// The encoded bytes, such as a JPEG.
  public let data: Data
  /// Pixels, as whoever made the picture says; zero if nobody did.
  public let size: CGSize

  /// A picture of unknown size; nil without bytes.
  public convenience init?(data: Data) {
    if data.isEmpty { return nil }
    self.init(data: data, size: .zero)
  }

  /// A picture of a size in pixels.
  public init(data: Data, size: CGSize) { (self.data, self.size) = (data, size) }
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
}
