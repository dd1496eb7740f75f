import JSONReading
import LibraryJSON

extension Command {
  static let hide = editing("hide", "hide assets from ordinary lists", [.assets], example: "hide \(exampleIdentifier)")
  {
    ["op": "asset.edit", "assets": $0.list(), "isHidden": true]
  }

  static let unhide = editing("unhide", "show hidden assets again", [.assets], example: "unhide \(exampleIdentifier)") {
    ["op": "asset.edit", "assets": $0.list(), "isHidden": false]
  }
}
