package import JSONReading
package import PhotoLedger

extension JSON {
  /// A client; what concerns a level of access stands under the level's name.
  package init(_ client: Client) {
    func perLevel(_ value: (AccessLevel) -> JSON) -> JSON {
      .object(AccessLevel.allCases.reversed().map { Member("\($0)", value($0)) })
    }
    self = [
      "name": .text(client.name),
      "accessKind": .text(client.accessKind.rawValue),
      "authorizationStatus": perLevel { .text("\(client.status(for: $0))") },
      "usageDescription": perLevel { JSON(client.usageDescription(for: $0)) },
      "preventsAutomaticLimitedAccessAlert": .bool(client.preventsAutomaticLimitedAccessAlert),
      "selectionCount": .integer(Int64(client.selectionCount)),
      "followedAlbum": JSON(client.followedAlbum?.spelled(as: .album)),
      "pickCount": .integer(Int64(client.pickCount)),
      "registeredDate": .text(DateText.instant(client.registeredDate)),
    ]
  }
}
