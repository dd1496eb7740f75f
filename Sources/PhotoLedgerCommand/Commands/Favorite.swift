import JSONReading
import LibraryJSON

extension Command {
  static let favorite = editing(
    "favorite", "mark assets as favourites", [.assets], example: "favorite \(exampleIdentifier)"
  ) {
    ["op": "asset.edit", "assets": $0.list(), "isFavorite": true]
  }

  static let unfavorite = editing(
    "unfavorite", "unmark favourites", [.assets],
    example: "unfavorite \(exampleIdentifier)"
  ) {
    ["op": "asset.edit", "assets": $0.list(), "isFavorite": false]
  }
}
