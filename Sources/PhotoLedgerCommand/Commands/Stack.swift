import JSONReading
import LibraryJSON

extension Command {
  static let stack = editing(
    "stack", "stack assets, so that lists show the one on top in place of all",
    [
      Operand("TOP", "the identifier of the asset on top"),
      Operand("OTHER", .any, "identifiers of the assets beneath it"),
    ],
    notes: """
      A TOP that has a stack already keeps it, and the others join. Assets that are in another stack leave it: if its
      top leaves, the oldest remaining asset becomes the top, and a stack of one asset is dissolved. Without OTHER, an
      asset beneath the top of its stack becomes the top. `ls --all-stacks` shows the assets beneath the top. A stack
      has at most 1,000 members; synced, shared and trashed assets, and members of bursts that do not represent them,
      cannot be stacked.
      """,
    example: "stack \(exampleIdentifier) 6FA459EA-EE8A-4CA4-894E-DB77E160355E"
  ) {
    ["op": "asset.stack", "top": $0.operand(0), "assets": $0.list(from: 1)]
  }

  static let unstack = editing(
    "unstack", "take assets out of their stacks; the top takes its whole stack apart", [.assets],
    example: "unstack \(exampleIdentifier)"
  ) {
    ["op": "asset.unstack", "assets": $0.list()]
  }
}
