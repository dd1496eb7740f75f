// Comma-separated values (RFC 4180), as Apple and others write them.
//
// A field in quotation marks may hold commas, line ends and doubled quotation marks; lines end with LF or CRLF; a byte
// order mark before the first is passed over. What is malformed is read as it stands: a list of photos with one odd
// line is worth more than none.

import JSONReading

/// The rows of a text of comma-separated values.
enum CSVText {
  /// Reads rows of fields; bytes that are not UTF-8 become U+FFFD, and further marks of a character than
  /// `String.markLimit` are left out.
  /// - Parameters:
  ///   - limit: the most rows; further ones are left.
  ///   - fieldLimit: the rows have fewer fields together; the row that would reach it is left with all after it. A
  ///     field takes memory even if it is empty.
  static func rows(_ bytes: [UInt8], limit: Int = 10_000_000, fieldLimit: Int = 16_000_000) -> [[String]] {
    var rows: [[String]] = []
    var row: [String] = []
    var field: [UInt8] = []
    var fieldCount = 0
    var isQuoted = false
    var position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    func end() {
      row.append(String(decoding: field, as: UTF8.self).boundedInMarks)
      field = []
    }
    while position < bytes.count, rows.count < limit, fieldCount + row.count < fieldLimit {
      let byte = bytes[position]
      position += 1
      switch byte {
      case UInt8(ascii: "\"") where isQuoted:
        if position < bytes.count, bytes[position] == byte {
          field.append(byte)
          position += 1
        } else {
          isQuoted = false
        }
      case UInt8(ascii: "\"") where field.isEmpty: isQuoted = true
      case UInt8(ascii: ",") where !isQuoted: end()
      case 0x0A where !isQuoted:
        if field.last == 0x0D { field.removeLast() }
        end()
        if row != [""] {
          rows.append(row)
          fieldCount += row.count
        }
        row = []
      default: field.append(byte)
      }
    }
    guard fieldCount + row.count < fieldLimit else { return rows }
    if !field.isEmpty || !row.isEmpty {
      end()
      rows.append(row)
    }
    return rows
  }
}
