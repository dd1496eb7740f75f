package import Foundation

/// A value of a property, as the log holds it.
@usableFromInline
package enum FieldValue: Equatable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case double(Double)
  case place(Location)
  case identifier(LocalIdentifier)

  package static func date(_ date: Date?) -> FieldValue {
    date.map { .double($0.timeIntervalSinceReferenceDate) } ?? .null
  }
}

/// A type whose values the log holds as values of a property.
package protocol FieldValueConvertible {
  /// The value in the log.
  var fieldValue: FieldValue { get }
  /// Reads a value of the log; nil for one that is of another kind, or that the type has not.
  init?(_ value: FieldValue)
}

extension Bool: FieldValueConvertible {
  package var fieldValue: FieldValue { .bool(self) }

  package init?(_ value: FieldValue) {
    guard case .bool(let bool) = value else { return nil }
    self = bool
  }
}

extension Int: FieldValueConvertible {
  package var fieldValue: FieldValue { .integer(Int64(self)) }

  package init?(_ value: FieldValue) {
    guard case .integer(let number) = value else { return nil }
    self.init(number)
  }
}

extension Double: FieldValueConvertible {
  /// Adding zero makes of -0.0 the one zero that the log leaves out.
  package var fieldValue: FieldValue { .double(self + 0) }

  package init?(_ value: FieldValue) {
    guard case .double(let number) = value else { return nil }
    self = number
  }
}

extension Date: FieldValueConvertible {
  package var fieldValue: FieldValue { .date(self) }

  package init?(_ value: FieldValue) {
    guard case .double(let seconds) = value else { return nil }
    self.init(timeIntervalSinceReferenceDate: seconds)
  }
}

extension Location: FieldValueConvertible {
  package var fieldValue: FieldValue { .place(self) }

  package init?(_ value: FieldValue) {
    guard case .place(let location) = value else { return nil }
    self = location
  }
}

extension FieldValueConvertible where Self: RawRepresentable, RawValue: FixedWidthInteger {
  package var fieldValue: FieldValue { .integer(Int64(rawValue)) }

  package init?(_ value: FieldValue) {
    guard case .integer(let number) = value, let raw = RawValue(exactly: number) else { return nil }
    self.init(rawValue: raw)
  }
}

extension MediaType: FieldValueConvertible {}
extension PlaybackStyle: FieldValueConvertible {}
extension PlaybackVariation: FieldValueConvertible {}
extension AdjustmentsState: FieldValueConvertible {}
extension OriginalResourceChoice: FieldValueConvertible {}
extension AssetRating: FieldValueConvertible {}
extension MediaSubtypes: FieldValueConvertible {}
extension BurstSelectionTypes: FieldValueConvertible {}

/// Values of some properties of an asset, as a request gives them.
///
/// Invariant: each property at most once, ascending by the number that it has in the log.
package struct AssetValues: Sendable {
  package private(set) var entries: [(field: AssetField, value: FieldValue)] = []
  /// A bit for each property that is given, by its number; a property's place is the count of those before it.
  private var given: UInt64 = 0

  /// - Parameter count: how many properties there is room for.
  package init(capacity count: Int = 0) { entries.reserveCapacity(count) }

  private static func bit(_ field: AssetField) -> UInt64 {
    precondition(field.rawValue < UInt64.bitWidth, "The numbers of properties are below 64.")
    return 1 &<< UInt64(field.rawValue)
  }

  /// The value of a property; nil if none is given. `.null` is a value: it empties the property.
  package subscript(stored field: AssetField) -> FieldValue? {
    get {
      let bit = Self.bit(field)
      return given & bit == 0 ? nil : entries[(given & (bit - 1)).nonzeroBitCount].value
    }
    set {
      let bit = Self.bit(field)
      let (place, isGiven) = ((given & (bit - 1)).nonzeroBitCount, given & bit != 0)
      switch newValue {
      case let value? where isGiven: entries[place].value = value
      case let value?:
        given |= bit
        if place == entries.count { entries.append((field, value)) } else { entries.insert((field, value), at: place) }
      case nil:
        guard isGiven else { return }
        given &= ~bit
        entries.remove(at: place)
      }
    }
  }

  /// The value of a property as its type; nil if none is given, or if the property is emptied.
  package subscript<Value: FieldValueConvertible>(field: AssetField) -> Value? {
    get { self[stored: field].flatMap(Value.init) }
    set { self[stored: field] = newValue.map(\.fieldValue) }
  }
}
