import JSONReading
import LibraryJSON
import PhotoLedger

extension Command {
  private static let clear = Option("clear", "remove the caption")

  static let caption = editing(
    "caption", "set the caption of assets",
    [.assets, Operand("TEXT", .optional, "the caption, unless --clear is given")],
    syntax: "ID… (TEXT | --clear)", options: [clear], example: "caption \(exampleIdentifier) 'The bay before the storm'"
  ) { try captionEdit($0) }

  @Sendable private static func captionEdit(_ invocation: Invocation) throws -> JSON {
    if invocation.has(clear) { return ["op": "asset.edit", "assets": invocation.list(), "caption": .null] }
    let text = invocation.operands[invocation.operands.count - 1]
    guard invocation.operands.count > 1, LocalIdentifier(text) == nil else {
      throw UsageError("'caption' needs TEXT after the identifiers, or --clear.")
    }
    return [
      "op": "asset.edit", "assets": .list(invocation.operands.dropLast().map { .text($0) }), "caption": .text(text),
    ]
  }
}
