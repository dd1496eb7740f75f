import Foundation

/// Why a fetch was rejected: an unknown key, a malformed or unsupported predicate, an argument of the wrong type
/// (FR-09).
public struct FetchError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was wrong; new codes may come.
  public struct Code: Hashable, Sendable {
    /// The name of the code, stable across versions.
    public let name: String

    /// A key that the fetched kind of object has not.
    public static let unknownKey = Code(name: "unknownKey")
    /// A format string that does not follow the grammar.
    public static let malformedPredicate = Code(name: "malformedPredicate")
    /// A form that PhotoKit's grammar knows and a fetch cannot answer.
    public static let unsupportedPredicate = Code(name: "unsupportedPredicate")
    /// A sort descriptor that a fetch cannot follow.
    public static let unsupportedSort = Code(name: "unsupportedSort")
    /// An argument or constant of a kind that its place does not take.
    public static let wrongArgument = Code(name: "wrongArgument")
  }

  /// What was wrong.
  public let code: Code
  /// The rejected key, word, argument or sub-expression.
  public let subject: String
  /// What was wrong and what to do, as a sentence without the place.
  public let sentence: String
  /// Where in the format string, in Unicode scalars from its start; nil if there is no format string.
  public internal(set) var offset: Int?
  /// The line of the format string and a caret below the place; nil if there is no format string.
  public internal(set) var excerpt: String?

  init(_ code: Code, _ subject: String, _ sentence: String) {
    self.code = code
    self.subject = subject
    self.sentence = sentence
  }

  /// The sentence, with the column (from 1) where a format string is at fault.
  public var description: String {
    guard let offset else { return sentence }
    // The place stands before the advice, which can be long.
    let end = sentence.range(of: "; ")?.lowerBound ?? sentence.lastIndex(of: ".") ?? sentence.endIndex
    return "\(sentence[..<end]), at column \(offset + 1)\(sentence[end...])"
  }

  /// The same error with its place in a format string, unless it has one already.
  func placed(at byte: Int, in format: [UInt8]) -> FetchError {
    guard offset == nil else { return self }
    let cut = min(byte, format.count)
    let isLineEnd = { (scalar: Unicode.Scalar) in scalar == "\n" || scalar == "\r" }
    let before = Array(String(decoding: format[..<cut], as: UTF8.self).unicodeScalars)
    let after = String(decoding: format[cut...].prefix(240), as: UTF8.self).unicodeScalars.prefix(60)
    let head = before.suffix(60).reversed().prefix { !isLineEnd($0) }.reversed()
    var line = String.UnicodeScalarView()
    line.append(contentsOf: head)
    line.append(contentsOf: after.prefix { !isLineEnd($0) })
    var copy = self
    copy.offset = before.count
    copy.excerpt = String(line) + "\n" + String(repeating: " ", count: head.count) + "^"
    return copy
  }
}

extension FetchError {
  /// A key that the kind of object has not.
  /// - Parameter isOrder: whether an order was asked for; the sentence then lists only keys that have one.
  static func unknownKey(_ key: String, for entity: Entity, isOrder: Bool = false) -> FetchError {
    let known = PropertyKey.allCases.filter { $0.isValid(for: entity) && ($0.isSortable || !isOrder) }
    let place = isOrder ? "the order of \(entity.plural)" : entity.plural
    let names = known.map(\.rawValue).sorted().joined(separator: ", ")
    return FetchError(.unknownKey, key, "Unknown key '\(key)' for \(place); the keys are \(names).")
  }

  static func unsupported(_ subject: String, _ sentence: String) -> FetchError {
    FetchError(.unsupportedPredicate, subject, sentence)
  }

  static func malformed(_ subject: String, _ sentence: String) -> FetchError {
    FetchError(.malformedPredicate, subject, sentence)
  }
}

extension PropertyKey {
  /// Finds a key by any of its spellings.
  /// - Parameters:
  ///   - spelling: case counts, as in key-value coding.
  ///   - entity: the kind of object that has the key.
  /// - Throws: ``FetchError`` `unknownKey`, which lists the keys of the entity (FR-09).
  public init(spelled spelling: String, for entity: Entity) throws(FetchError) {
    try self.init(spelled: spelling, for: entity, isOrder: false)
  }

  /// Finds a key as above.
  /// - Parameter isOrder: whether an order is asked for, of which the error then speaks.
  init(spelled spelling: String, for entity: Entity, isOrder: Bool) throws(FetchError) {
    guard let key = Self.key(spelled: spelling), key.isValid(for: entity) else {
      throw .unknownKey(spelling, for: entity, isOrder: isOrder)
    }
    self = key
  }
}
