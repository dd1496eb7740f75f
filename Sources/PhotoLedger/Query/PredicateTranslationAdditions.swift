public import Foundation

// What #Predicate lacks on Linux or altogether. The macro writes a call of `contains` as
// `PredicateExpressions.build_contains(…)`, so another overload of that name teaches it another meaning.

/// `set.contains(bits)` of an option set inside `#Predicate`: whether all the bits are set.
public struct OptionSetContains<Base: PredicateExpression, Element: PredicateExpression>: PredicateExpression
where Base.Output: OptionSet, Element.Output == Base.Output {
  /// The outcome.
  public typealias Output = Bool

  let base: Base
  let element: Element

  /// Evaluates both sides and tests the bits.
  /// - Parameter bindings: the objects to evaluate.
  /// - Throws: the errors of the operands.
  public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
    try base.evaluate(bindings).isSuperset(of: element.evaluate(bindings))
  }
}

extension OptionSetContains: Sendable where Base: Sendable, Element: Sendable {}
extension OptionSetContains: Codable where Base: Codable, Element: Codable {}
extension OptionSetContains: StandardPredicateExpression
where Base: StandardPredicateExpression, Element: StandardPredicateExpression {}

extension PredicateExpressions {
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// What `#Predicate` makes of `contains` on an option set such as ``Asset/mediaSubtypes``.
  /// - Parameters:
  ///   - base: the set.
  ///   - element: the bits, for example a captured `MediaSubtypes.photoLive`.
  public static func build_contains<Base, Element>(
    _ base: Base, _ element: Element
  ) -> OptionSetContains<Base, Element> {
    OptionSetContains(base: base, element: element)
  }
}

extension OptionSetContains: TranslatableExpression {
  func translate(_ translation: PredicateTranslation) throws(FetchError) -> PredicateTerm {
    switch (try translation.term(base), try translation.term(element)) {
    case (.key(let key), .constant(let bits)):
      guard case .integer(let mask) = try PredicateTranslation.value(bits) else { break }
      return .condition(.bits(key, mask: mask, .equal, mask))
    case (.constant(let bits), .key(let key)):
      guard case .integer(let mask) = try PredicateTranslation.value(bits) else { break }
      return .condition(.bits(key, mask: ~mask, .equal, 0))
    default: break
    }
    throw PredicateTranslation.unsupported(self)
  }
}

#if !canImport(Darwin)
  /// `localizedStandardContains` inside `#Predicate`: whether a text contains another, without case and accents.
  public struct TextContains<Base: PredicateExpression, Other: PredicateExpression>: PredicateExpression
  where Base.Output == String, Other.Output == String {
    /// The outcome.
    public typealias Output = Bool

    let base: Base
    let other: Other

    /// Evaluates both sides and searches.
    /// - Parameter bindings: the objects to evaluate.
    /// - Throws: the errors of the operands.
    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
      try TextTest(.contains, other.evaluate(bindings), [.caseInsensitive, .diacriticInsensitive])
        .holds(base.evaluate(bindings))
    }
  }

  extension TextContains: Sendable where Base: Sendable, Other: Sendable {}
  extension TextContains: Codable where Base: Codable, Other: Codable {}
  extension TextContains: StandardPredicateExpression
  where Base: StandardPredicateExpression, Other: StandardPredicateExpression {}

  extension PredicateExpressions {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// What `#Predicate` makes of `localizedStandardContains`, which Foundation has on Apple's systems only.
    /// - Parameters:
    ///   - base: the text that is searched.
    ///   - other: the text that is sought; in no locale, as everything in a library.
    public static func build_localizedStandardContains<Base, Other>(
      _ base: Base, _ other: Other
    ) -> TextContains<Base, Other> {
      TextContains(base: base, other: other)
    }
  }

  extension TextContains: TranslatableExpression {
    func translate(_ translation: PredicateTranslation) throws(FetchError) -> PredicateTerm {
      .condition(
        try translation.text(
          try translation.term(base), .contains, try translation.term(other),
          [.caseInsensitive, .diacriticInsensitive], "localizedStandardContains"))
    }
  }
#endif

// #Predicate captures only what is Codable.

extension LocalIdentifier: Codable {
  /// Reads the spelling, with or without its suffix.
  /// - Parameter decoder: holds one string.
  /// - Throws: `DecodingError` if the string is not an identifier.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let identifier = LocalIdentifier(text) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "'\(text)' is not a local identifier.")
    }
    self = identifier
  }

  /// Writes the UUID in capitals.
  /// - Parameter encoder: takes one string.
  /// - Throws: what the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(uuidString)
  }
}

extension Location: Codable {
  private enum CodingKeys: CodingKey { case latitude, longitude, altitude }

  /// Reads the three numbers.
  /// - Parameter decoder: holds `latitude`, `longitude` and perhaps `altitude`.
  /// - Throws: `DecodingError` if a number is missing.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      latitude: try container.decode(Double.self, forKey: .latitude),
      longitude: try container.decode(Double.self, forKey: .longitude),
      altitude: try container.decodeIfPresent(Double.self, forKey: .altitude))
  }

  /// Writes the three numbers; a missing altitude is left out.
  /// - Parameter encoder: takes them by name.
  /// - Throws: what the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(latitude, forKey: .latitude)
    try container.encode(longitude, forKey: .longitude)
    try container.encodeIfPresent(altitude, forKey: .altitude)
  }
}
