import JSONReading
import LibraryJSON

extension Command {
  static let purge = editing(
    "purge", "permanently remove trashed assets, with their files", [.assets],
    example: "purge \(exampleIdentifier)"
  ) {
    ["op": "asset.purge", "assets": $0.list()]
  }
}
