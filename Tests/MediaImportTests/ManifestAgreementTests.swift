import Foundation
import TestSupport
import Testing

import PhotoLedger
@testable import MediaImport

// The manifest was made by exiftool and ffprobe with its own program, not by this one. Where both could be wrong alike
// (they share exiftool), the offsets, orders and roundings between the tags and the facts are what is judged here.

@Suite("real files agree with their manifest", .enabled(if: Corpus.isPresent))
struct ManifestAgreementTests {
  struct Reading {
    let entry: ManifestEntry
    let content: FileContent
    let metadata: MediaMetadata?
  }

  /// Every file, at the usual dose every third one: LibraryCorpusTests compares most of it for all of them.
  static func readings() throws -> [Reading] {
    guard let folder = Corpus.folder else { return [] }
    let tool = try SharedTool.exiftool()
    let manifest = try Corpus.manifest()
    return try stride(from: 0, to: manifest.count, by: Dose.isFull ? 1 : 3).map { index in
      let entry = manifest[index]
      let path = FilePath(folder.appending(path: entry.path).path)
      return Reading(
        entry: entry, content: try FileContent(of: path),
        metadata: entry.bytes == 0 ? nil : MediaMetadata(try tool.tags(of: path)))
    }
  }

  @Test("content, kind, size, orientation, duration, time, place and identifiers are the manifest's")
  func agreement() throws {
    let readings = try Self.readings()
    #expect(readings.count > (Dose.isFull ? 400 : 130))
    var differences: [String] = []
    for reading in readings {
      differences += Self.differences(reading).map { "\(reading.entry.path): \($0)" }
    }
    differences.removeAll { Self.explained.contains($0) }
    #expect(differences.isEmpty, "\(differences.count) differences:\n\(differences.joined(separator: "\n"))")
  }

  /// Differences where this program is right by the manifest's own rules.
  static let explained: Set = [
    // The time is from a QuickTime header, which is UTC by the book, in a still image as in a movie.
    "heic/bird_burst.heic: capture time is 2018-03-09T14:16:50 UTC, not 2018-03-09T14:16:50",
    // The preferred Make is blank and a second one is not; the manifest looked at the first only.
    "dates-timezones/goexif-years-2004-2099/geodegrees_as_string.jpg: make is HTC, not absent",
    // `2020:01:05 15:04Z` has no seconds, which XMP allows; the manifest left such stamps out.
    "video/uuid540.mp4: capture time is 2020-01-05T15:04:00+00:00, not absent",
  ]

  static func differences(_ reading: Reading) -> [String] {
    var found: [String] = []
    func check<Value: Equatable>(_ name: String, _ ours: Value?, _ theirs: Value?) {
      if ours != theirs {
        found.append("\(name) is \(ours.map { "\($0)" } ?? "absent"), not \(theirs.map { "\($0)" } ?? "absent")")
      }
    }
    let entry = reading.entry
    check("bytes", reading.content.byteCount, entry.bytes)
    check("sha256", reading.content.sha256.hexadecimal, entry.sha256)
    check("taken", reading.metadata != nil, entry.isMedia)
    guard let metadata = reading.metadata, entry.isMedia else { return found }
    check("mimeType", metadata.mimeType, entry.mimeType)
    check("fileType", metadata.fileType, entry.fileType)
    check("kind", metadata.mediaType, entry.isVideo ? .video : .image)
    check("stored size", metadata.storedSize, size(entry.width, entry.height))
    check("displayed size", metadata.displayedSize, size(entry.displayWidth, entry.displayHeight))
    check("orientation", metadata.orientation, orientation(entry))
    check("duration", rounded(metadata.duration), rounded(entry.isVideo ? entry.duration ?? 0 : 0))
    check("latitude", rounded(metadata.location?.latitude), rounded(entry.gpsLatitude))
    check("longitude", rounded(metadata.location?.longitude), rounded(entry.gpsLongitude))
    if entry.gpsLatitude != nil {
      check("altitude", rounded(metadata.location?.altitude), rounded(entry.gpsAltitude))
    }
    check("make", metadata.make, entry.make.flatMap { ExifTags.trimmed($0.text) })
    check("model", metadata.model, entry.model.flatMap { ExifTags.trimmed($0.text) })
    check("content identifier", metadata.contentIdentifier, entry.contentIdentifier)
    check("burst", metadata.burstIdentifier, entry.burstId)
    check("burst primary", metadata.isBurstPrimary, entry.burstPrimary != nil)
    check("motion photo", metadata.isMotionPhoto, entry.motionPhoto)
    let time = expectedTime(entry)
    check("capture time", metadata.captureTime.map(text), time)
    return found
  }

  static func size(_ width: Int?, _ height: Int?) -> PixelSize? {
    guard let width, let height else { return nil }
    return PixelSize(width: width, height: height)
  }

  static func orientation(_ entry: ManifestEntry) -> Int {
    if entry.isVideo { return [90: 6, 180: 3, 270: 8][entry.rotation ?? 0] ?? 1 }
    return entry.orientation.flatMap { (1...8).contains($0) ? $0 : nil } ?? 1
  }

  static func rounded(_ value: Double?) -> Int? { value.map { Int(($0 * 1e7).rounded()) } }

  /// A capture time as the manifest would spell it: the clock, then the offset or `UTC`.
  static func text(_ time: CaptureTime) -> String {
    let zone = time.offsetSeconds.map { offset in
      String(format: "%@%02d:%02d", offset < 0 ? "-" : "+", abs(offset) / 3600, abs(offset) / 60 % 60)
    }
    return "\(time.reading)\(time.clock == .utc ? " UTC" : zone ?? "")"
  }

  /// What the manifest's fields say, put together by its own notes: `dateTimeOriginal` is local time, `offset` is there
  /// only when stated; QuickTime's `createDate` is UTC, its `creationDate` carries its offset.
  static func expectedTime(_ entry: ManifestEntry) -> String? {
    if let original = entry.dateTimeOriginal {
      return joined(original, fraction: entry.subSec, offset: entry.offset)
    }
    if entry.isVideo {
      if let creation = entry.creationDate { return joined(creation, fraction: nil, offset: nil) }
      return entry.createDate.map { $0 + " UTC" }
    }
    return entry.createDate.map { joined($0, fraction: nil, offset: nil) }
  }

  static func joined(_ stamp: String, fraction: String?, offset: String?) -> String {
    let stamp = stamp.replacingOccurrences(of: " DST", with: "").replacingOccurrences(of: "Z", with: "+00:00")
    let clock = String(stamp.prefix(19))
    var rest = String(stamp.dropFirst(19))
    var digits = ""
    if rest.hasPrefix(".") {
      digits = String(rest.dropFirst().prefix { $0.isNumber })
      rest = String(rest.dropFirst(digits.count + 1))
    } else {
      digits = fraction ?? ""
    }
    while digits.hasSuffix("0") { digits.removeLast() }
    return clock + (digits.isEmpty ? "" : "." + digits) + (rest.isEmpty ? offset ?? "" : rest)
  }
}
