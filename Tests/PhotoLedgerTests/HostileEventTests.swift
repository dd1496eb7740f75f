import Foundation
import Testing

@testable import PhotoLedger

@Suite("Events that no library writes")
struct HostileEventTests {
  @Test("a query of a log that names no kind of album, or invalid days, is rejected when it is read")
  func strangeQueries() throws {
    for (subtype, days) in [(-1, 30), (70_000, 30), (2, -1), (.min, 30), (2, .max)] as [(Int64, Int64)] {
      var fields = FieldWriter()
      fields.integer(1, subtype)
      fields.text(2, "favorite == YES")
      fields.integer(5, days)
      let bytes = fields.finish()
      #expect(throws: (any Error).self, "\(subtype) \(days)") { try SmartAlbumQuery(bytes.span.bytes) }
    }
  }

  @Test(
    "an event that removes more from a container than it holds is a mismatch, and not a negative count",
    arguments: [true, false])
  func fewerThanNone(isAlbum: Bool) throws {
    let date = Date(timeIntervalSinceReferenceDate: 0)
    let identifier = LocalIdentifier(high: 1, low: 1)
    let row = AssetRow(number: 1, identifier: identifier, addedDate: date)
    let place = ContainerPlace(container: 9, key: OrderKey(rawValue: 1))
    let existence = AssetExistence(row: row, details: AssetDetails(), places: [place])
    let withdrawn = Arranged.Place(child: 1, old: OrderKey(rawValue: 1), new: nil)
    let events: [Event] = [
      .assetPurged(existence),
      .arranged(Arranged(verb: isAlbum ? .removed : .withdrawn, container: 9, places: [withdrawn])),
    ]
    for event in events {
      #expect(throws: RowMismatch.self) {
        try event.forEachChange(
          collection: { _, change in
            let row = CollectionRow(number: 9, identifier: identifier, kind: .album, title: "Album", date: date)
            var album = isAlbum ? row : nil
            try change(&album)
          },
          client: { _, change in
            var client: ClientRow? = isAlbum ? nil : ClientRow(number: 9, name: "app", registeredDate: date)
            try change(&client)
          }, isFolder: { _ in false })
      }
    }
  }
}
