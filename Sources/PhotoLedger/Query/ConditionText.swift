import Foundation

/// A test of text, with its constant prepared once.
package struct TextTest: Sendable {
  private let test: Condition.TextOperator
  private let text: String
  private let options: Condition.TextOptions
  private let pattern: TextPattern?

  /// Refuses a pattern that cannot be compiled as it will be, and a text that is too long to be looked for in many
  /// others: folding can make both longer.
  /// - Parameter isStored: whether the library holds the condition. It may be older than the bound of texts.
  /// - Throws: ``FetchError`` `unsupportedPredicate`, `malformedPredicate`.
  static func check(
    _ test: Condition.TextOperator, _ text: String, _ options: Condition.TextOptions, isStored: Bool
  ) throws(FetchError) {
    switch test {
    case .like, .matches: _ = try pattern(test, text, options)
    case .contains, .beginsWith, .endsWith:
      guard isStored || text.folded(options).count < TextPattern.longestProgram else {
        throw .malformed(
          String(text.prefix(80)),
          "The text of \(test.rawValue) is too long (fewer than \(TextPattern.longestProgram) characters are allowed).")
      }
    case .equals: break
    }
  }

  private static func pattern(
    _ test: Condition.TextOperator, _ text: String, _ options: Condition.TextOptions
  ) throws(FetchError) -> TextPattern? {
    switch test {
    case .like: try TextPattern(wildcards: text, options: options)
    case .matches: try TextPattern(regularExpression: text, options: options)
    case .equals, .contains, .beginsWith, .endsWith: nil
    }
  }

  /// Prepares a test; a pattern must be one that ``check(_:_:_:isStored:)`` lets pass, as `Condition.check(for:)` does.
  package init(_ test: Condition.TextOperator, _ text: String, _ options: Condition.TextOptions) {
    self.test = test
    self.options = options
    self.text = text.folded(options)
    do throws(FetchError) {
      pattern = try Self.pattern(test, text, options)
    } catch {
      preconditionFailure("A condition was evaluated before it was checked: \(error)")
    }
  }

  /// Whether a property's text passes. Texts are compared character by character, as Swift's strings are.
  package func holds(_ value: String) -> Bool {
    let folded = value.folded(options)
    switch test {
    case .equals: return folded == text
    case .contains: return folded.contains(text)
    case .beginsWith: return folded.starts(with: text)
    case .endsWith: return folded.reversed().starts(with: text.reversed())
    case .like, .matches: return pattern?.fits(folded) ?? false
    }
  }
}

extension String {
  /// The text without the differences that the options ignore; independent of any locale.
  func folded(_ options: Condition.TextOptions) -> String {
    if options.isEmpty { return self }
    var compare: CompareOptions = []
    if options.contains(.caseInsensitive) { compare.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { compare.insert(.diacriticInsensitive) }
    return folding(options: compare, locale: nil)
  }
}
