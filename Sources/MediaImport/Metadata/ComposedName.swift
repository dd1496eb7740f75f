internal import Foundation
internal import JSONReading

extension [UInt8] {
  /// The bytes of a name with its characters composed (é as one scalar, Unicode's form NFC), by which names are looked
  /// up that are the same text to a reader; the bytes themselves if they are not text.
  /// - Complexity: O(n) for n bytes.
  var composedName: [UInt8] {
    if allSatisfy({ $0 < 0x80 }) { return self }
    guard let text = String(validating: self, as: UTF8.self), text.isBoundedInMarks else { return self }
    return Array(text.precomposedStringWithCanonicalMapping.utf8)
  }
}
