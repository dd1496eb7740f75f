import JSONReading
import LibraryJSON
import PhotoLedger

extension Command {
  static let rate = editing(
    "rate", "rate assets", [.assets], syntax: "ID… --stars N",
    options: [Option("stars", "N", "0 to 5; 0 removes the rating")],
    example: "rate \(exampleIdentifier) --stars 4"
  ) {
    let stars = try $0.requiredCount("stars")
    guard AssetRating(rawValue: stars) != nil else {
      throw UsageError("--stars needs a number from 0 to 5; got '\(stars)'.")
    }
    return ["op": "asset.edit", "assets": $0.list(), "rating": .integer(Int64(stars))]
  }
}
