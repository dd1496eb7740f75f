import EventLog
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

  @Test("new order keys that do not keep the order, or leave no room before the first or after the last, are refused")
  func disorderedRekeying() {
    let disorders: [[(old: UInt64?, new: UInt64?)]] = [
      [(10, 30_000), (20, 5000)], [(100, 1)], [(20, 5000), (10, 30_000)], [(10, 5000), (10, 30_000)],
      [(10, 5000), (20, 5000)], [(10, UInt64.max - 1)], [(10, nil)], [(nil, 5000)],
    ]
    for keys in disorders {
      let error = #expect(throws: LibraryError.self, "\(keys)") { try Self.rekeying(keys) }
      #expect(error?.code == .corrupted, "\(keys)")
    }
  }

  @Test("new order keys in the old order are read as they were written")
  func orderedRekeying() throws {
    let keys: [(old: UInt64?, new: UInt64?)] = [(10, 4096), (20, 4097), (UInt64.max - 1, UInt64.max - 4096)]
    guard case .arranged(let arranged) = try Self.rekeying(keys) else {
      Issue.record("the event is of another type")
      return
    }
    let (old, new) = (arranged.places.map { $0.old?.rawValue }, arranged.places.map { $0.new?.rawValue })
    let (givenOld, givenNew) = (keys.map { $0.old }, keys.map { $0.new })
    #expect(old == givenOld && new == givenNew)
  }

  /// A rekeying with old and new keys, as it is read.
  @discardableResult
  private static func rekeying(_ keys: [(old: UInt64?, new: UInt64?)]) throws -> Event {
    let places = keys.enumerated().map { index, key in
      let (old, new) = (key.old.map(OrderKey.init(rawValue:)), key.new.map(OrderKey.init(rawValue:)))
      return Arranged.Place(child: UInt64(index + 2), old: old, new: new)
    }
    let event = Event.arranged(Arranged(verb: .rekeyed, container: 9, places: places))
    let payload = event.payload()
    return try Event(type: event.type, version: event.version, sequence: 20, payload: payload.span.bytes)
  }

  @Test("a number that an enumeration of an asset lacks is refused with what the enumeration is")
  func unknownChoices() {
    var nouns: Set<String> = []
    for property in AssetProperty.all {
      guard case .choice(_, let names) = property.form, let key = property.rowKey else { continue }
      nouns.insert(names.noun)
      for number in [63, 64, 1 << 40, -1] as [Int64] {
        var fields = FieldWriter()
        fields.integer(key, number)
        let bytes = fields.finish()
        let error = #expect(throws: EventCodingError.self, "\(property.name) \(number)") {
          var reader = CBORReader(bytes.span.bytes)
          _ = try AssetRow(number: nil, reading: &reader)
        }
        #expect(error?.sentence == "an unknown \(names.noun).")
      }
    }
    let known = ["media type", "playback style", "rating", "adjustments state", "variation", "choice of an original"]
    #expect(nouns == Set(known))
  }

  @Test("an edit that gives an asset a number that no asset can have is a mismatch")
  func impossibleNumbers() {
    let row = AssetRow(
      number: 1, identifier: LocalIdentifier(high: 1, low: 1), addedDate: Date(timeIntervalSinceReferenceDate: 0))
    let values: [(field: AssetField, value: FieldValue)] = [
      (.creationDate, .double(.infinity)), (.creationDate, .double(-.infinity)), (.creationDate, .double(.nan)),
      (.duration, .double(.infinity)), (.duration, .double(.nan)), (.pixelWidth, .integer(-1)),
      (.pixelHeight, .integer(1 << 32)), (.timeZoneOffset, .integer(1 << 40)),
      (.timeZoneOffset, .integer(Int64(Int32.min))), (.mediaSubtypes, .integer(-1)),
    ]
    for (field, value) in values {
      let edit = AssetEdit(number: 1, changes: [AssetChange(field: field, old: row[field], new: value)])
      #expect(throws: RowMismatch.self, "\(field.name) \(value)") {
        var edited = row
        try edit.apply(to: &edited)
      }
    }
  }

  @Test("an asset with an endless duration, or one that a revert would bring back, is refused as its event is read")
  func endlessDuration() throws {
    let row = AssetRow(
      number: 7, identifier: LocalIdentifier(high: 1, low: 1), addedDate: Date(timeIntervalSinceReferenceDate: 0))
    for duration in [Double.infinity, .nan, 1] {
      var endless = row
      endless.duration = duration
      var edited = AssetDetails()
      edited.unedited = AssetDetails.Unedited(pixelWidth: 4, pixelHeight: 3, duration: duration)
      var edit = AssetEdit(number: 7, changes: [])
      edit.details = Replacement(old: AssetDetails(), new: edited)
      let events: [Event] = [
        .assetCreated(AssetExistence(row: endless, details: AssetDetails())),
        .assetCreated(AssetExistence(row: row, details: edited)),
        .assetsEdited(AssetsEdited(verb: .edited, edits: [edit], shifts: [])),
      ]
      for event in events {
        let payload = event.payload()
        var read: Event?
        do {
          read = try Event(type: event.type, version: event.version, sequence: 7, payload: payload.span.bytes)
        } catch {
          #expect((error as? LibraryError)?.code == .corrupted)
        }
        #expect((read == event) == (duration == 1), "\(event.type) \(duration)")
      }
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
