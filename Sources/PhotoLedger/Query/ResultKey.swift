// The keys of a result: the sort terms, then the number of the object, so that no two are equal.

/// The sort key of a result: comparable, and ending in the object's number.
package protocol ResultKey: Comparable, Hashable, Sendable {
  var number: ObjectNumber { get }
}

/// The key of a result that is sorted by one number, date or place, or not at all.
package struct NarrowKey: ResultKey {
  package let word: UInt64
  package let number: ObjectNumber

  @inlinable
  package init(word: UInt64, number: ObjectNumber) {
    self.word = word
    self.number = number
  }

  @inlinable
  package static func < (one: NarrowKey, other: NarrowKey) -> Bool {
    one.word != other.word ? one.word < other.word : one.number < other.number
  }
}

/// The key of a result that is sorted by several terms, or by a text.
package struct WideKey: ResultKey {
  package let bytes: [UInt8]
  package let number: ObjectNumber

  package init(bytes: [UInt8], number: ObjectNumber) {
    self.bytes = bytes
    self.number = number
  }

  package static func < (one: WideKey, other: WideKey) -> Bool {
    let shared = min(one.bytes.count, other.bytes.count)
    for index in 0..<shared where one.bytes[index] != other.bytes[index] {
      return one.bytes[index] < other.bytes[index]
    }
    if one.bytes.count != other.bytes.count { return one.bytes.count < other.bytes.count }
    return one.number < other.number
  }
}
