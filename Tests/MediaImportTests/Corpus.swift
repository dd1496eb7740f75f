import Foundation

import PhotoLedger
import TestSupport
@testable import MediaImport

/// The folder of real photos that some tests are judged by; nil where it is not at hand.
enum Corpus {
  static let folder = SamplePhotos.folder

  static var isPresent: Bool { folder != nil }

  static func manifest() throws -> [ManifestEntry] {
    struct Manifest: Decodable { let entries: [ManifestEntry] }
    guard let folder else { return [] }
    return try JSONDecoder().decode(Manifest.self, from: Data(contentsOf: folder.appending(path: "manifest.json")))
      .entries
  }

  static func expectations() throws -> Expectations? {
    guard let folder else { return nil }
    return try JSONDecoder().decode(
      Expectations.self, from: Data(contentsOf: folder.appending(path: "expectations.json")))
  }
}

/// A text that the manifest spells as a number when it looks like one.
struct Scalar: Decodable {
  let text: String

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let text = try? container.decode(String.self) { self.text = text; return }
    let number = try container.decode(Double.self)
    text = Int(exactly: number).map(String.init) ?? "\(number)"
  }
}

/// What the manifest says about one file.
struct ManifestEntry: Decodable {
  let path: String
  let bytes: Int64
  let sha256: String
  let mimeType: String?
  let fileType: String?
  let width: Int?
  let height: Int?
  let displayWidth: Int?
  let displayHeight: Int?
  let orientation: Int?
  let rotation: Double?
  let duration: Double?
  let dateTimeOriginal: String?
  let createDate: String?
  let creationDate: String?
  let offset: String?
  let subSec: String?
  let gpsLatitude: Double?
  let gpsLongitude: Double?
  let gpsAltitude: Double?
  let make: Scalar?
  let model: Scalar?
  let contentIdentifier: String?
  let burstId: String?
  let burstPrimary: Scalar?
  let motionPhoto: Bool

  var isVideo: Bool { mimeType?.hasPrefix("video/") == true }
  var isMedia: Bool { isVideo || mimeType?.hasPrefix("image/") == true }
}

/// Groups that the corpus is known to hold.
struct Expectations: Decodable {
  struct LivePhoto: Decodable {
    let contentIdentifier: String
    let stills: [String]
    let videos: [String]
    let complete: Bool
  }

  let exactDuplicates: [[String]]
  let livePhotos: [LivePhoto]
  let rawJpegStacks: [[String]]
}
