import Foundation
import PhotoLedger
import TestSupport
import Testing

// What derives from the table of an asset's properties is proved where it is used: bytes by StorageFormatTests, queries
// by ConditionEvaluatorTests, requests and undo by histories. Here is what only the table itself could get wrong.

@Suite("The table of an asset's properties")
struct AssetPropertyTests {
  @Test("the fields of a row, set on a blank one, reproduce the row", arguments: 1...8 as ClosedRange<UInt64>)
  func copying(seed: UInt64) {
    var random = QueryRandom(seed: seed)
    for _ in 0..<100 {
      let row = random.asset()
      var copy = AssetRow(number: row.number, identifier: row.identifier, addedDate: row.addedDate)
      for field in AssetField.allCases.shuffled(using: &random) {
        let isTaken = copy.set(field, row[field])
        #expect(isTaken, "\(field.name)")
        #expect(copy[field] == row[field], "\(field.name)")
      }
      // No edit holds these.
      (copy.sourceType, copy.burstIdentifier) = (row.sourceType, row.burstIdentifier)
      #expect(copy == row)
    }
  }

  @Test(
    "a value of another type, or an invalid one, is rejected and changes nothing",
    arguments: AssetField.allCases)
  func refusing(field: AssetField) {
    var random = QueryRandom(seed: UInt64(field.rawValue))
    let values: [FieldValue] = [
      .null, .bool(true), .integer(0), .integer(1), .integer(.max), .integer(-1), .integer(64), .double(1.5),
      .place(Location(latitude: 1, longitude: 2)), .identifier(LocalIdentifier(high: 1, low: 2)),
      .identifier(LocalIdentifier(high: 0, low: 0)),
    ]
    for _ in 0..<20 {
      let row = random.asset()
      var taken: Set<String> = []
      for value in values {
        var copy = row
        if copy.set(field, value) {
          taken.insert(String("\(value)".prefix { $0 != "(" }))
        } else {
          #expect(copy == row, "\(field.name) \(value)")
        }
        if case .choice = field.form, [.integer(.max), .integer(-1), .integer(64)].contains(value) {
          #expect(copy == row, "\(field.name) \(value)")
        }
      }
      let kind = row[field] == .null ? nil : String("\(row[field])".prefix { $0 != "(" })
      #expect(taken.count == 1 || (taken.count == 2 && taken.contains("null")), "\(field.name) takes \(taken)")
      #expect(kind.map(taken.contains) ?? true, "\(field.name) holds \(row[field])")
    }
  }

  @Test("a request reads back its own values, and a later value replaces an earlier one")
  func values() {
    var changes = AssetChanges()
    #expect(changes.values.entries.isEmpty && changes.isSelfPortrait == nil && changes.location == nil)
    changes.isSelfPortrait = true
    changes.location = .clear
    changes.isFavorite = false
    changes.duration = -0.0
    changes.isSelfPortrait = false
    #expect(changes.values.entries.map(\.field) == [.isFavorite, .location, .duration, .isSelfPortrait])
    #expect(changes.values.entries.map(\.value) == [.bool(false), .null, .double(0), .bool(false)])
    #expect(changes.duration?.sign == .plus)
    if case .clear = changes.location {
    } else {
      Issue.record("the location is \(String(describing: changes.location))")
    }
    changes.location = nil
    #expect(changes.values[stored: .location] == nil && changes.values.entries.count == 3)
  }

  @Test("the page of commands lists every property of an asset's JSON, in its order")
  func printed() throws {
    let keys = try Self.rows(after: "| key of an asset | value |").flatMap { Self.codes(in: $0.first ?? "") }
    #expect(keys == AssetProperty.printed.map(\.name) + ["resources", "albums"])
  }

  @Test("a value of an enumeration has the name of its case")
  func namesOfChoices() {
    func check<Choice: NamedChoice>(_ type: Choice.Type) {
      let choices = (0..<64).compactMap(Choice.init(rawValue:))
      #expect(!choices.isEmpty)
      for choice in choices { #expect(choice.name == "\(choice)") }
    }
    check(MediaType.self)
    check(PlaybackStyle.self)
    check(PlaybackVariation.self)
    check(AdjustmentsState.self)
    check(OriginalResourceChoice.self)
    check(AssetRating.self)
    check(PhotoCollection.Kind.self)
  }

  @Test("the page of commands lists every property that a request sets")
  func settable() throws {
    let operations = try Self.rows(after: "| operation | fields |")
    func fields(_ operation: String) -> Set<String> {
      Set(operations.first { $0.first == "`\(operation)`" }.map { Self.codes(in: $0[1]) } ?? [])
    }
    let (atCreation, byEdit) = (fields("asset.create"), fields("asset.edit"))
    for property in AssetProperty.all where property.field != nil {
      #expect(atCreation.contains(property.name) == property.setting.isAtCreation, "\(property.name)")
      #expect(byEdit.contains(property.name) == property.setting.isByEdit, "\(property.name)")
    }
  }

  /// The cells of a table's rows, from the first table with a head.
  private static func rows(after head: String) throws -> [[String]] {
    let page = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources/PhotoLedger/PhotoLedger.docc/Commands.md")
    let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
    let rows = lines.drop { $0 != head }.dropFirst(2).prefix { $0.hasPrefix("|") }
    try #require(!rows.isEmpty)
    return rows.map { row in
      row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  private static func codes(in cell: String) -> [String] { cell.matches(of: #/`(\w+)`/#).map { String($0.output.1) } }
}
