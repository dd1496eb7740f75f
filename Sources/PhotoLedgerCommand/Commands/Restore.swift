import JSONReading
import LibraryJSON

extension Command {
  static let restore = editing(
    "restore", "restore assets from the trash, at all their positions", [.assets],
    example: "restore \(exampleIdentifier)"
  ) {
    ["op": "asset.restore", "assets": $0.list()]
  }
}
