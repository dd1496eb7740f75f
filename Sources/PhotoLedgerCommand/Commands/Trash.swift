import JSONReading
import LibraryJSON

extension Command {
  static let trash = editing(
    "trash", "move assets to the trash; they keep their positions in albums", [.assets],
    example: "trash \(exampleIdentifier)"
  ) {
    ["op": "asset.trash", "assets": $0.list()]
  }
}
