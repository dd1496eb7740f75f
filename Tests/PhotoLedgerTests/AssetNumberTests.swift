import Foundation
import PhotoLedger
import TestSupport
import Testing

@Suite("Numbers of assets")
struct AssetNumberTests {
  @Test("the bounds themselves are accepted, and values just beyond them are not")
  func bounds() throws {
    let made = try TemporaryLibrary(.system)
    func code(_ change: (inout AssetCreation) -> Void) throws -> LibraryError.Code? {
      var creation = AssetCreation(
        mediaType: .video, resources: [ResourceDraft(type: .video, source: .data(Data("x".utf8)))])
      change(&creation)
      do {
        try made.library.performChangesAndWait { $0.createAsset(creation) }
        return nil
      } catch let error as LibraryError {
        return error.code
      }
    }
    for altitude in [-12_000, 10_000_000, 0, 8848.86] {
      #expect(try code { $0.location = Location(latitude: -90, longitude: 180, altitude: altitude) } == nil)
    }
    for altitude in [-12_000.5, 10_000_000.5, .nan, .infinity, -.infinity] {
      #expect(
        try code { $0.location = Location(latitude: 90, longitude: -180, altitude: altitude) } == .invalidResource)
    }
    for date in [Date.distantPast, .distantFuture, Date(timeIntervalSince1970: 253_402_300_799)] {
      #expect(try code { $0.creationDate = date } == nil, "\(date.timeIntervalSince1970)")
    }
    for seconds in [Double.nan, .infinity, 1e300, -1e300, 253_402_300_799 + 90_000, -62_167_219_200 - 90_000] {
      let date = Date(timeIntervalSince1970: seconds)
      #expect(try code { $0.creationDate = date } == .invalidResource, "\(seconds)")
      #expect(try code { $0.localCreationDate = date } == .invalidResource, "\(seconds)")
    }
    for duration in [0, 1e9] { #expect(try code { $0.duration = duration } == nil) }
    for duration in [-1, 1.1e9, .nan, .infinity] { #expect(try code { $0.duration = duration } == .invalidResource) }
    for side in [0, Int(Int32.max)] { #expect(try code { $0.pixelWidth = side } == nil) }
    for side in [-1, Int(Int32.max) + 1, .max, .min] {
      #expect(try code { $0.pixelHeight = side } == .invalidResource)
    }
    for offset in [-86_401, 86_401, .max, .min] {
      #expect(try code { $0.timeZoneOffset = offset } == .invalidResource)
    }
  }
}
