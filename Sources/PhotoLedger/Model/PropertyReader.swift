import Foundation

/// A row that conditions and sort terms read.
package protocol PropertyRow: Sendable {
  /// The kind of object that the row describes.
  static var entity: Entity { get }
  /// How a property is read; `number` that is always NaN for a key that the kind has not.
  static func reader(of key: PropertyKey) -> PropertyReader<Self>
}

/// Reads one property of a row without boxing it; a missing value is a value that no row can hold.
package enum PropertyReader<Row: PropertyRow>: Sendable {
  /// Never missing.
  case bool(@Sendable (Row) -> Bool)
  /// Missing: `Int64.min`.
  case integer(@Sendable (Row) -> Int64)
  /// A double, or a date in seconds since 2001. Missing: NaN.
  case number(@Sendable (Row) -> Double)
  /// Missing: nil.
  case text(@Sendable (Row) -> String?)
  /// Several texts, of which one has to fit. Missing: none.
  case texts(@Sendable (Row) -> [String])
  /// Missing: nil.
  case identifier(@Sendable (Row) -> LocalIdentifier?, ObjectKindOf<Row>)
}

/// Tells the kind of object of a row, for the spelling of its identifier.
package typealias ObjectKindOf<Row> = @Sendable (Row) -> ObjectKind

extension AssetRow: PropertyRow {}
extension AssetView: PropertyRow {}

extension PropertyRow where Self: AssetBytes {
  package static var entity: Entity { .asset }

  package static func reader(of key: PropertyKey) -> PropertyReader<Self> {
    AssetProperty.named(key).map { reader(of: $0.form) } ?? .number { _ in .nan }
  }

  /// How a property with a form is read. Each closure holds the place alone: a scan calls it for every row.
  private static func reader(of form: AssetProperty.Form) -> PropertyReader<Self> {
    typealias Layout = AssetRow.Layout
    switch form {
    case .identifier: return .identifier({ $0.identifier }, { _ in .asset })
    case .flag(let flag):
      let bit = flag.rawValue
      return .bool { $0.word(Layout.flags) & bit != 0 }
    case .clearFlag(let flag):
      let bit = flag.rawValue
      return .bool { $0.word(Layout.flags) & bit == 0 }
    case .flags: return .integer { Int64($0.word(Layout.flags)) }
    case .choice(let place, _): return .integer { Int64($0.byte(place)) }
    case .isChosen(let place): return .bool { $0.byte(place) != 0 }
    case .bits(let place, let names):
      if !names.isWide { return .integer { Int64($0.byte(place)) } }
      return .integer { Int64($0.word(place)) }
    case .size(let place): return .integer { Int64($0.word(place)) }
    case .zoneOffset:
      return .integer { row in
        let offset = row.load(Layout.timeZoneOffset, as: Int32.self)
        return offset == Layout.noOffset ? .min : Int64(offset)
      }
    case .seconds(let place), .date(let place, _), .coordinate(let place): return .number { $0.seconds(place) }
    case .isPresent(let place): return .bool { !$0.seconds(place).isNaN }
    case .burst: return .text { $0.burstIdentifier }
    case .stack: return .identifier({ $0.stackTop }, { _ in .asset })
    case .isBeneathStack: return .bool { $0.isBeneathStack }
    // Details are missing in a row; QueryPlan asks `DescribedAsset` for them.
    case .text, .texts: return .text { _ in nil }
    case .measure: return .number { _ in .nan }
    case .location, .record: preconditionFailure("A query cannot read a location or the whole metadata record.")
    }
  }
}

extension CollectionRow: PropertyRow {
  package static var entity: Entity { .collection }

  package static func reader(of key: PropertyKey) -> PropertyReader<CollectionRow> {
    CollectionProperty.named(key)?.reader ?? .number { _ in .nan }
  }
}
