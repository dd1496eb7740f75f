import LibraryJSON
import PhotoLedger

extension Command {
  private static let word = Operand("WORD", "the keyword; write one of several words in quotation marks")

  static let keywordAdd = editing(
    "keyword add", "add a keyword to assets", [word, .assets], example: "keyword add sea \(exampleIdentifier)"
  ) {
    ["op": "asset.edit", "assets": $0.list(from: 1), "addedKeywords": .list([$0.operand(0)])]
  }

  static let keywordRemove = editing(
    "keyword remove", "remove a keyword from assets", [word, .assets],
    example: "keyword remove sea \(exampleIdentifier)"
  ) {
    ["op": "asset.edit", "assets": $0.list(from: 1), "removedKeywords": .list([$0.operand(0)])]
  }
}
