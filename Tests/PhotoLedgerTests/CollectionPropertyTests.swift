import Foundation
import Testing

@testable import PhotoLedger

@Suite("Properties of a collection")
struct CollectionPropertyTests {
  private static let cover = LocalIdentifier(high: 1, low: 2)

  /// An edit that changes every property, and the row before it.
  private static let (edited, row) = {
    var row = CollectionRow(
      number: 7, identifier: LocalIdentifier(high: 3, low: 4), kind: .album, title: "Alps",
      date: Date(timeIntervalSinceReferenceDate: 1))
    row.creatorCover = cover
    var edited = CollectionEdited(number: 7)
    edited.title = Replacement(old: "Alps", new: nil)
    edited.modificationDate = Replacement(old: row.modificationDate, new: Date(timeIntervalSinceReferenceDate: 2))
    edited.deletedDate = Replacement(old: nil, new: Date(timeIntervalSinceReferenceDate: 3))
    edited.creatorDate = Replacement(old: row.creatorDate, new: Date(timeIntervalSinceReferenceDate: 4))
    edited.cover = Replacement(old: nil, new: cover)
    edited.creatorCover = Replacement(old: cover, new: nil)
    return (edited, row)
  }()

  @Test("each key of a query has one entry in the table of either kind of object, or one of the same values in both")
  func keys() {
    let ofAssets = AssetProperty.all.compactMap(\.propertyKey)
    let ofCollections = CollectionProperty.all.compactMap(\.key)
    #expect(Set(ofAssets).count == ofAssets.count && Set(ofCollections).count == ofCollections.count)
    #expect(Set(AssetProperty.all.map(\.name)).count == AssetProperty.all.count)
    #expect(Set(CollectionProperty.all.map(\.name.description)).count == CollectionProperty.all.count)
    for key in PropertyKey.allCases {
      let (asset, collection) = (AssetProperty.named(key), CollectionProperty.named(key))
      #expect(key.isValid(for: .asset) == ofAssets.contains(key) && (asset != nil) == ofAssets.contains(key))
      #expect(
        key.isValid(for: .collection) == ofCollections.contains(key)
          && (collection != nil) == ofCollections.contains(key))
      #expect(Set([asset?.valueKind, collection?.valueKind].compactMap(\.self)) == [key.valueKind], "\(key.rawValue)")
      if asset != nil, collection != nil { #expect(!key.isDetail && !key.hasSeveralValues, "\(key.rawValue)") }
      #expect(key.mayBeNil == [asset?.mayBeNil, collection?.mayBeNil].contains(true), "\(key.rawValue)")
    }
  }

  @Test("each property of an edit has one entry in the table, with a field of its own")
  func everyPropertyIsDeclared() {
    let declared = Mirror(reflecting: Self.edited).children.filter { $0.label != "number" }
    #expect(declared.filter { "\($0.value)" == "nil" }.isEmpty, "The edit of these tests leaves a property as it was.")
    #expect(CollectionProperty.edited.count == declared.count)
    #expect(CollectionProperty.edited.map(\.log.number) == (0..<declared.count).map { UInt64($0 + 2) })
  }

  @Test("an edit of every property is read as it was written")
  func bytes() throws {
    let event = Event.collectionEdited(Self.edited)
    let payload = event.payload()
    let read = try Event(type: event.type, version: event.version, sequence: 9, payload: payload.span.bytes)
    #expect(read == event)
  }

  @Test("a row of every property is read as it was written")
  func rowBytes() throws {
    var row = Self.row
    row.kind = .smartAlbum
    (row.modificationDate, row.deletedDate) = (row.creationDate + 1, row.creationDate + 2)
    (row.parent, row.assetCount, row.memberCount, row.creator, row.creatorCount) = (1, 2, 3, 4, 5)
    (row.creatorDate, row.cover) = (row.creationDate + 3, LocalIdentifier(high: 5, low: 6))
    row.query = SmartAlbumQuery(.smartAlbumGeneric, format: "favorite == 1")
    let usual = CollectionRow(
      number: 0, identifier: LocalIdentifier(high: 0, low: 0), kind: .album, title: nil, date: .distantPast)
    for (own, other) in zip(Mirror(reflecting: row).children, Mirror(reflecting: usual).children) {
      #expect("\(own.value)" != "\(other.value)", "The row of this test has nothing in \(own.label ?? "").")
    }
    #expect(try CollectionRow(number: 7, encoded: row.encoded()) == row)
  }

  @Test("the inverse of an edit of every property restores the row")
  func inverse() throws {
    var row = Self.row
    try Self.edited.apply(to: &row)
    #expect(row.title == nil && row.cover == Self.cover && row.creatorCover == nil)
    #expect(row.modificationDate.timeIntervalSinceReferenceDate == 2)
    #expect(row.deletedDate?.timeIntervalSinceReferenceDate == 3)
    #expect(row.creatorDate.timeIntervalSinceReferenceDate == 4)
    try Self.edited.inverse.apply(to: &row)
    #expect(row == Self.row)
    #expect(Self.edited.inverse.inverse == Self.edited)
  }

  @Test("the log describes what an edit changed, in the order of its fields, but not what only the creator sees")
  func words() {
    let names = Self.edited.changes.map { $0.name.description }
    #expect(names == ["localizedTitle", "modificationDate", "deletedDate", "cover"])
    #expect(Self.edited.logged.map { $0.name.description } == names + ["creatorCover"])
    #expect(Self.edited.changes.first?.values == Replacement<LogValue>(old: .text("Alps"), new: .null))
    var alone = CollectionEdited(number: 7)
    (alone.creatorDate, alone.creatorCover) = (Self.edited.creatorDate, Self.edited.creatorCover)
    #expect(alone.changes.isEmpty && alone.isForCreatorAlone && !Self.edited.isForCreatorAlone)
  }

  @Test("an edit is hidden from the creator that chooses a cover and changes nothing that the creator sees")
  func hiddenEdits() {
    var edited = CollectionEdited(number: 7)
    edited.modificationDate = Self.edited.modificationDate
    #expect(!edited.isHiddenFromCreator)
    edited.cover = Self.edited.cover
    #expect(edited.isHiddenFromCreator)
    let seen: [(inout CollectionEdited) -> Void] = [
      { $0.title = Self.edited.title }, { $0.deletedDate = Self.edited.deletedDate },
      { $0.creatorDate = Self.edited.creatorDate }, { $0.creatorCover = Self.edited.creatorCover },
    ]
    for change in seen {
      var other = edited
      change(&other)
      #expect(!other.isHiddenFromCreator)
    }
  }

  @Test("the log, a history and a comparison list properties in their own orders, each at a place of its own")
  func lists() {
    func names(_ properties: [CollectionProperty]) -> [String] { properties.map { $0.name.description } }
    #expect(
      names(CollectionProperty.logged) == ["kind", "localizedTitle", "parent", "creationDate", "predicate"])
    #expect(
      names(CollectionProperty.inHistory)
        == ["kind", "localizedTitle", "creationDate", "modificationDate", "predicate", "creator"])
    #expect(
      names(CollectionProperty.compared)
        == [
          "localizedTitle", "parent", "predicate", "cover", "estimatedAssetCount", "creationDate", "modificationDate",
        ])
    let places = CollectionProperty.all.map(\.places)
    for taken in [places.compactMap(\.log), places.compactMap(\.history), places.compactMap(\.comparison)] {
      #expect(taken.sorted() == Array(1...taken.count))
    }
  }

  @Test("a comparison names the values of a row, and a property that it names is one that clients see")
  func compared() {
    var other = Self.row
    (other.title, other.cover, other.assetCount) = (nil, Self.cover, 3)
    (other.creationDate, other.modificationDate) = (Self.row.creationDate + 1, Self.row.modificationDate + 1)
    other.parent = 12
    let values = CollectionProperty.compared.map { $0.value(of: other) { "folder \($0)" } }
    #expect(
      values == [
        .null, .text("folder 12"), .null, .text(Self.cover.spelled(as: .asset)), .integer(3), .date(other.creationDate),
        .date(other.modificationDate),
      ])
    // The folder is a place, and the query of a smart album does not change.
    let seen = Set(CollectionProperty.compared.map { $0.name.description }).subtracting(["parent", "predicate"])
    let visible = Mirror(reflecting: Self.row.visible).children.compactMap(\.label)
    #expect(seen == Set(visible.map { ["title": "localizedTitle", "assetCount": "estimatedAssetCount"][$0] ?? $0 }))
  }

  @Test("a comparison gives a smart album, whose members are known only by a fetch, the count 0")
  func countOfSmartAlbums() throws {
    var album = Self.row
    album.kind = .smartAlbum
    let count = try #require(CollectionProperty.compared.first { $0.name.description == "estimatedAssetCount" })
    #expect(count.value(of: album) { _ in nil } == LogValue.integer(0))
  }

  @Test("a row that holds another value than the edit replaced is a mismatch, and the property is named")
  func mismatch() {
    var row = Self.row
    row.title = "Andes"
    let error = #expect(throws: RowMismatch.self) { try Self.edited.apply(to: &row) }
    #expect(error?.field == "localizedTitle")
  }
}
