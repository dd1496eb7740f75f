// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import AVFoundation
import CoreMedia
import Photos
import UniformTypeIdentifiers

/// Small things that an app does in many places.
public struct MediaTools: Sendable {
  public init() {}

  public func assets(from start: Date, to end: Date, of kinds: [Int]) -> PHFetchResult<PHAsset> {
    let options = PHFetchOptions()
    options.predicate = NSPredicate(
      format: "creationDate > %@ && creationDate < %@ && mediaType IN %@", start as CVarArg, end as CVarArg,
      kinds as CVarArg)
    return PHAsset.fetchAssets(with: options)
  }

  /// The middle second of a range; nil if the range is shorter.
  public func middle(of range: CMTimeRange) -> CMTimeRange? {
    let second = CMTime(seconds: 1, preferredTimescale: CMTimeScale(600))
    guard CMTimeCompare(range.duration, second) >= 0 else { return nil }
    let rest = CMTimeMultiplyByFloat64(CMTimeSubtract(range.duration, second), multiplier: 0.5)
    let middle = CMTimeRange(start: CMTimeAdd(range.start, rest), duration: second)
    return range.containsTime(middle.start) ? middle : nil
  }

  public func shape(of track: AVAssetTrack) async throws -> (CGSize, Float, CMTimeRange) {
    let (size, transform, rate) = try await track.load(.naturalSize, .preferredTransform, .nominalFrameRate)
    let turned = size.applying(transform)
    return (CGSize(width: abs(turned.width), height: abs(turned.height)), rate, try await track.load(.timeRange))
  }

  public func coordinate(_ latitude: Double, _ longitude: Double) -> CLLocationCoordinate2D {
    let place = CLLocationCoordinate2DMake(latitude, longitude)
    return CLLocationCoordinate2DIsValid(place) ? place : kCLLocationCoordinate2DInvalid
  }

  public func target(named name: String, of type: UTType, in folder: URL) -> URL {
    folder.appendingPathComponent(name, conformingTo: type)
  }
}
