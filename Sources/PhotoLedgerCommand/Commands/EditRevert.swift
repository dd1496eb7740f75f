import JSONReading
import LibraryJSON
import PhotoLedger

extension Command {
  static let editRevert = editing(
    "edit revert", "drop all edits of an asset's content", [.asset],
    options: [Option("to", "CHOICE", "raw or compressed: which original of a RAW and JPEG pair is shown")],
    example: "edit revert \(exampleIdentifier)"
  ) {
    let choice = try $0.text("to").map { text in
      guard OriginalResourceChoice.allCases.contains(where: { "\($0)" == text }) else {
        throw UsageError("--to needs raw or compressed; got '\(text)'.")
      }
      return JSON.text(text)
    }
    let members: [JSON.Member] = [.init("op", "asset.revertContent"), .init("asset", $0.operand(0))]
    return .object(members + (choice.map { [.init("to", $0)] } ?? []))
  }
}
