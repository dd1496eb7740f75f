import JSONReading
import LibraryJSON
import PhotoLedger

extension Command {
  static let burstRepresent = editing(
    "burst represent", "make an asset the representative of its burst", [.asset],
    example: "burst represent \(exampleIdentifier)"
  ) {
    ["op": "burst.represent", "asset": $0.operand(0)]
  }

  static let burstPick = editing(
    "burst pick", "pick members of a burst, to be shown beside the representative", [.assets],
    example: "burst pick \(exampleIdentifier)",
    preparing: { invocation in { try picks(invocation, $0) { $0.union(.userPick) } } }
  )

  static let burstUnpick = editing(
    "burst unpick", "unpick members of a burst", [.assets], example: "burst unpick \(exampleIdentifier)",
    preparing: { invocation in { try picks(invocation, $0) { $0.subtracting(.userPick) } } })

  /// Changes a person's mark of assets; what the camera proposed stays (BU-02).
  private static func picks(
    _ invocation: Invocation, _ library: PhotoLibrary, _ change: (BurstSelectionTypes) -> BurstSelectionTypes
  ) throws -> [JSON] {
    try invocation.operands.map { name in
      let asset = try library.asset(named: name)
      guard asset.burstIdentifier != nil else {
        throw LibraryError(
          .requestNotSupportedForAsset, "The asset \(asset.localIdentifier) is not a member of a burst.")
      }
      let types = JSON.list(change(asset.burstSelectionTypes).names.map { .text($0) })
      return ["op": "asset.edit", "assets": [.text(name)], "burstSelectionTypes": types]
    }
  }
}
