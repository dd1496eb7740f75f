import Foundation
import LibraryJSON
import PhotoLedger

/// A few hundred assets that a seed invents: journeys of some days each, with a place and a colour of their own.
struct InventedLibrary {
  static let assetCount = 300

  private struct Journey {
    let name: String
    let start: String
    let location: Location
    let hue: Int
  }

  private static let journeys = [
    Journey(
      name: "Lofoten", start: "2023-06-18T09:00:00+02:00", location: Location(latitude: 68.23, longitude: 14.56),
      hue: 200),
    Journey(
      name: "Oaxaca", start: "2023-10-30T08:00:00-06:00", location: Location(latitude: 17.06, longitude: -96.72),
      hue: 28),
    Journey(
      name: "Hokkaido", start: "2024-02-03T07:30:00+09:00", location: Location(latitude: 43.06, longitude: 141.35),
      hue: 260),
    Journey(
      name: "Amalfi", start: "2024-05-24T10:00:00+02:00", location: Location(latitude: 40.63, longitude: 14.6), hue: 180
    ),
    Journey(
      name: "Kerala", start: "2024-11-09T06:00:00+05:30", location: Location(latitude: 9.49, longitude: 76.33), hue: 130
    ),
    Journey(
      name: "Fehmarn", start: "2025-04-11T11:00:00+02:00", location: Location(latitude: 54.44, longitude: 11.19),
      hue: 215),
  ]

  /// Fills a library, some sixty assets a commit.
  /// - Parameter isStopped: whether to stop before the next commit.
  static func fill(_ library: PhotoLibrary, seed: UInt64, isStopped: () -> Bool) throws {
    var numbers = SeededNumbers(seed: seed)
    var number = 0
    let perJourney = assetCount / journeys.count
    for journey in journeys where !isStopped() {
      guard var taken = WrittenDate(journey.start) else { preconditionFailure("A journey begins at no date.") }
      try library.performChangesAndWait(cause: "demo: \(journey.name)") { change in
        for _ in 0..<perJourney {
          number += 1
          taken.date += Double(Int.random(in: 240...9000, using: &numbers))
          change.createAsset(asset(number, journey, taken, &numbers))
        }
      }
    }
  }

  private static func asset(
    _ number: Int, _ journey: Journey, _ taken: WrittenDate, _ numbers: inout SeededNumbers
  ) -> AssetCreation {
    let isPanorama = Int.random(in: 0..<20, using: &numbers) == 0
    let name = "\(journey.name)-\(number.padded(to: 3)).png"
    let picture = InventedPicture(
      hue: (journey.hue + Int.random(in: -12...12, using: &numbers) + 360) % 360, isPanorama: isPanorama,
      using: &numbers)
    let file = ResourceDraft(
      type: .photo, source: .data(picture.png), originalFilename: name, uniformTypeIdentifier: "public.png")
    var creation = AssetCreation(mediaType: .image, resources: [file])
    creation.mediaSubtypes = isPanorama ? [.photoPanorama] : []
    (creation.pixelWidth, creation.pixelHeight) = (picture.width, picture.height)
    creation.creationDate = taken.date
    creation.timeZoneOffset = taken.offset
    creation.localCreationDate = taken.wallTime
    creation.location = Location(
      latitude: journey.location.latitude + Double.random(in: -0.05...0.05, using: &numbers),
      longitude: journey.location.longitude + Double.random(in: -0.05...0.05, using: &numbers))
    return creation
  }
}
