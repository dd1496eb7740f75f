import JSONReading
import LibraryJSON

extension Command {
  private static let word = Operand("WORD", "the keyword; write one of several words in quotation marks")

  static let keywordAdd = editing(
    "keyword add", "add a keyword to assets", [word, .assets], example: "keyword add sea \(exampleIdentifier)"
  ) {
    let keyword = try $0.keyword($0.operands[0], "WORD")
    return ["op": "asset.edit", "assets": $0.list(from: 1), "addedKeywords": .list([.text(keyword)])]
  }

  static let keywordRemove = editing(
    "keyword remove", "remove a keyword from assets", [word, .assets],
    example: "keyword remove sea \(exampleIdentifier)"
  ) {
    // A blank keyword can be there; an empty one cannot.
    guard !$0.operands[0].isEmpty else { throw UsageError("WORD needs a keyword; '' is blank.") }
    return ["op": "asset.edit", "assets": $0.list(from: 1), "removedKeywords": .list([$0.operand(0)])]
  }
}
