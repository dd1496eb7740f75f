internal import Foundation
internal import Glibc
internal import PhotoLedger

/// An asset with everything that a template or a sidecar says about it.
struct ExportSubject: Sendable {
  let asset: Asset
  let details: AssetDetails
  /// The albums that it is in: the titles of their folders from the top, then its own.
  let albums: [[String]]

  /// The original that the asset is named after.
  var original: AssetResource? { details.resources.original(asset.originalResourceChoice) }

  private static let subtypes: [(MediaSubtypes, String)] = [
    (.photoScreenshot, "screenshot"), (.photoPanorama, "panorama"), (.photoDepthEffect, "portrait"),
    (.photoHDR, "hdr"), (.photoAnimation, "animation"), (.videoHighFrameRate, "slowmotion"),
    (.videoTimelapse, "timelapse"), (.videoScreenRecording, "screenrecording"), (.videoCinematic, "cinematic"),
  ]

  /// The values of a field; each is a list of the folders that it means, which for all fields but one is one.
  func values(of field: ExportTemplate.Field) -> [[String]] {
    switch field {
    case .album: return albums.map { [$0.last ?? ""] }
    case .albumPath: return albums
    case .keyword: return details.keywords.map { [$0] }
    default: return value(of: field).map { [[$0]] } ?? []
    }
  }

  private func value(of field: ExportTemplate.Field) -> String? {
    switch field {
    case .year, .month, .day, .hour, .minute, .second, .date, .time: time(field)
    case .addedYear, .addedMonth, .addedDay, .addedDate: time(field)
    case .album, .albumPath, .keyword: nil
    case .caption: details.caption
    case .rating: asset.rating == .unset ? nil : "\(asset.rating.rawValue)"
    case .favorite: asset.isFavorite ? "favorite" : nil
    case .hidden: asset.isHidden ? "hidden" : nil
    case .edited: asset.hasAdjustments ? "edited" : nil
    case .raw: asset.isRaw ? "raw" : nil
    case .live: asset.mediaSubtypes.contains(.photoLive) ? "live" : nil
    case .type: type
    case .subtype: Self.subtypes.first { asset.mediaSubtypes.contains($0.0) }?.1
    case .camera: details.metadata?.cameraModel
    case .name: original.map { SafeFileName.stem(of: $0.originalFilename) }
    case .ending: original.flatMap { SafeFileName.ending(of: $0.originalFilename) }.map { $0.dropFirst().lowercased() }
    case .width: asset.pixelWidth == 0 ? nil : "\(asset.pixelWidth)"
    case .height: asset.pixelHeight == 0 ? nil : "\(asset.pixelHeight)"
    case .id: asset.id.uuidString
    }
  }

  private var type: String? {
    switch asset.mediaType {
    case .image: "photo"
    case .video: "video"
    case .audio: "sound"
    case .unknown: nil
    }
  }

  private func time(_ field: ExportTemplate.Field) -> String? {
    switch field {
    case .addedYear, .addedMonth, .addedDay, .addedDate:
      let clock = ClockReading(asset.addedDate)
      return switch field {
      case .addedYear: clock.year
      case .addedMonth: clock.month
      case .addedDay: clock.day
      default: clock.date
      }
    default: break
    }
    guard let clock = asset.wallClock else { return nil }
    return switch field {
    case .year: clock.year
    case .month: clock.month
    case .day: clock.day
    case .hour: clock.hour
    case .minute: clock.minute
    case .second: clock.second
    case .date: clock.date
    default: "\(clock.hour).\(clock.minute).\(clock.second)"
    }
  }
}

extension Asset {
  /// What the clock showed where it was taken; in UTC where that is not known.
  var wallClock: ClockReading? {
    if let local = localCreationDate { return ClockReading(local) }
    guard let date = creationDate else { return nil }
    return ClockReading(date.addingTimeInterval(Double(timeZoneOffset ?? 0)))
  }
}

/// A date as digits.
struct ClockReading: Sendable, Hashable {
  let year, month, day, hour, minute, second: String
  /// Millionths of a second.
  let microsecond: Int

  var date: String { "\(year)-\(month)-\(day)" }

  /// - Parameter date: read in UTC; one beyond the years 0 to 9999 is read as the nearest in them.
  init(_ date: Date) {
    let bounded = min(max(date.timeIntervalSince1970, -62_167_219_200), 253_402_300_799)
    var whole = bounded.rounded(.down)
    var micros = Int(((bounded - whole) * 1e6).rounded())
    if micros >= 1_000_000 { (whole, micros) = (whole + 1, 0) }
    microsecond = micros
    var seconds = time_t(whole)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    year = (parts.tm_year + 1900).padded(to: 4)
    (month, day) = ((parts.tm_mon + 1).padded(to: 2), parts.tm_mday.padded(to: 2))
    (hour, minute, second) = (parts.tm_hour.padded(to: 2), parts.tm_min.padded(to: 2), parts.tm_sec.padded(to: 2))
  }
}
