package import Foundation

/// What a value must be, and how it is read.
extension JSON {
  package var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }

  package var textValue: String? { if case .text(let value) = self { value } else { nil } }

  /// A list of text.
  package var textsValue: [String]? {
    guard let texts = listValue?.map(\.textValue), !texts.contains(nil) else { return nil }
    return texts.compactMap(\.self)
  }

  /// A list of words that say something: none is blank, as a word from an unset variable is.
  package var wordsValue: [String]? {
    textsValue.flatMap { texts in texts.contains(where: \.isBlank) ? nil : texts }
  }

  package var listValue: [JSON]? { if case .list(let values) = self { values } else { nil } }

  package var objectValue: [Member]? { if case .object(let members) = self { members } else { nil } }

  package var wholeValue: Int? { if case .integer(let value) = self { Int(value) } else { nil } }

  package var numberValue: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    default: nil
    }
  }

  /// A whole number, 0 or more.
  package var positionValue: Int? { wholeValue.flatMap { $0 >= 0 ? $0 : nil } }

  /// Positions, each once. No index set: that has no place for the largest number there is.
  package var positionsValue: [Int]? {
    guard let values = listValue else { return nil }
    let positions = values.compactMap(\.positionValue)
    return positions.count == values.count && Set(positions).count == positions.count ? positions : nil
  }
}

extension String {
  /// Whether nothing of the text is seen: it is empty, or all white space.
  package var isBlank: Bool { allSatisfy(\.isWhitespace) }
}

extension JSON {
  /// Positions as ascending, disjoint `[start,length]`.
  package init(ranges positions: IndexSet) {
    self = .list(positions.rangeView.map { JSON([$0.lowerBound, $0.count]) })
  }
}
