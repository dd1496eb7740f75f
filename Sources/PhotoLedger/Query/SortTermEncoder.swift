// Sort keys: what the trees and indexes compare instead of rows.
//
// A key is encoded so that unsigned comparison of words, or of bytes, is the order of the terms. One term over a
// number, a date or a flag is one UInt64, which the trees keep beside the object's number:
//
//   missing    0
//   flag       0 or 1
//   integer    the sign bit turned over              (a missing one reads as Int64.min, which becomes 0)
//   double     negative: all bits turned over; else the sign bit set; -0 counts as 0
//   descending all bits of the word turned over, so missing values come last
//
// Several terms, or one over text, are bytes: 8 big-endian bytes for a number, and for text
//
//   missing    00
//   text       01  folded text  00 00  raw text 00 00          a zero byte inside becomes 00 FF
//   descending every byte of the term inverted
//
// Folded text is without case and accents, independent of the locale: "Été" sorts between "eta" and "etf"; the raw text
// decides between texts that fold alike. Both are compared by Unicode scalars. Rejected: a locale's own order; it
// depends on the machine and on the version of its tables, and a store outlives both.
//
// Invariant: a < b as keys exactly when a comes before b by the terms; equal keys mean equal values of every term.
// Ties are not broken here: a fetch appends the object's number, which is the order of addition (FR-11).

/// Writes the sort keys of rows for a list of terms.
package struct SortKeyEncoder<Row: PropertyRow>: Sendable {
  /// The terms, the first outermost.
  package let terms: [SortTerm]
  private let words: (@Sendable (Row) -> UInt64)?
  private let append: [@Sendable (Row, inout [UInt8]) -> Void]

  /// Prepares the readers of the terms.
  package init(_ terms: [SortTerm]) {
    self.terms = terms
    append = terms.map(Self.appender)
    words = terms.count == 1 ? Self.word(of: terms[0]) : nil
  }

  /// Whether one word says everything: a single term over a number, a date or a flag.
  package var isWord: Bool { words != nil }

  /// The key of a row as a word; only if ``isWord``.
  package func word(for row: Row) -> UInt64 {
    guard let words else { preconditionFailure("the terms \(terms) need bytes; ask isWord before word(for:)") }
    return words(row)
  }

  /// The key of a row as bytes; for no terms, none. A word's bytes are big-endian, so both forms order alike.
  package func bytes(for row: Row) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(append.count * 8)
    for term in append { term(row, &bytes) }
    return bytes
  }

  private static func word(of term: SortTerm) -> (@Sendable (Row) -> UInt64)? {
    let mask: UInt64 = term.ascending ? 0 : .max
    switch Row.reader(of: term.key) {
    case .bool(let read): return { (read($0) ? 1 : 0) ^ mask }
    case .integer(let read): return { (UInt64(bitPattern: read($0)) ^ (1 << 63)) ^ mask }
    case .number(let read): return { Self.word(of: read($0)) ^ mask }
    case .text, .texts, .identifier: return nil
    }
  }

  /// The word of a number or a date in ascending order; NaN is the missing one.
  static func word(of number: Double) -> UInt64 {
    if number.isNaN { return 0 }
    let bits = (number + 0).bitPattern
    return bits >> 63 == 1 ? ~bits : bits | (1 << 63)
  }

  /// The number or date that has a word; nil for the missing one.
  static func number(of word: UInt64) -> Double? {
    if word == 0 { return nil }
    return Double(bitPattern: word >> 63 == 1 ? word ^ (1 << 63) : ~word)
  }

  private static func appender(of term: SortTerm) -> @Sendable (Row, inout [UInt8]) -> Void {
    if let word = word(of: term) {
      return { row, bytes in withUnsafeBytes(of: word(row).bigEndian) { bytes.append(contentsOf: $0) } }
    }
    let mask: UInt8 = term.ascending ? 0 : .max
    switch Row.reader(of: term.key) {
    case .text(let read): return { row, bytes in Self.append(read(row), mask, to: &bytes) }
    case .identifier(let read, _):
      return { row, bytes in Self.append(read(row)?.uuidString, mask, to: &bytes) }
    case .texts: preconditionFailure("'\(term.key.rawValue)' has no order")
    case .bool, .integer, .number: preconditionFailure("'\(term.key.rawValue)' is written as a word")
    }
  }

  private static func append(_ text: String?, _ mask: UInt8, to bytes: inout [UInt8]) {
    guard let text else { return bytes.append(0 ^ mask) }
    bytes.append(1 ^ mask)
    for part in [text.folded([.caseInsensitive, .diacriticInsensitive]), text] {
      for byte in part.utf8 {
        bytes.append(byte ^ mask)
        if byte == 0 { bytes.append(0xFF ^ mask) }
      }
      bytes.append(mask)
      bytes.append(mask)
    }
  }
}
