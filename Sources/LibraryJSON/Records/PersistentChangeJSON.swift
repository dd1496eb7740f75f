package import JSONReading
package import LibraryAudit
import PhotoLedger

extension PersistentChange {
  /// Whether all that the commit did is still known (PH-07).
  package var isItemised: Bool {
    do {
      _ = try changeDetails(for: .asset)
      return true
    } catch {
      return false
    }
  }
}

extension JSON {
  /// A commit of the history; the details are null where some of what it did was erased.
  package init(_ change: PersistentChange) throws {
    func list(_ identifiers: Set<String>) -> JSON { .list(identifiers.sorted().map { .text($0) }) }
    let details =
      try !change.isItemised
      ? .null
      : JSON.object(
        ObjectType.allCases.map { type in
          let details = try change.changeDetails(for: type)
          return Member(
            "\(type)",
            [
              "insertedLocalIdentifiers": list(details.insertedLocalIdentifiers),
              "updatedLocalIdentifiers": list(details.updatedLocalIdentifiers),
              "deletedLocalIdentifiers": list(details.deletedLocalIdentifiers),
            ])
        })
    self = [
      "token": .text(change.changeToken.description),
      "date": .text(DateText.instant(change.commit.date)),
      "client": change.commit.client.isEmpty ? .null : .text(change.commit.client),
      "cause": JSON(change.commit.cause),
      "changeDetails": details,
    ]
  }
}
