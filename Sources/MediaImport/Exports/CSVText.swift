// Comma-separated values (RFC 4180), as Apple and others write them.
//
// A field in quotation marks may hold commas, line ends and doubled quotation marks; lines end with LF or CRLF; a byte
// order mark before the first is passed over. What is malformed is read as it stands: a list of photos with one odd
// line is worth more than none.

/// The rows of a text of comma-separated values.
enum CSVText {
  /// Reads rows of fields; bytes that are not UTF-8 become U+FFFD.
  /// - Parameter limit: the most rows; further ones are left.
  static func rows(_ bytes: [UInt8], limit: Int = 10_000_000) -> [[String]] {
    var rows: [[String]] = []
    var row: [String] = []
    var field: [UInt8] = []
    var isQuoted = false
    var position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    func end() {
      row.append(String(decoding: field, as: UTF8.self))
      field = []
    }
    while position < bytes.count, rows.count < limit {
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
        if row != [""] { rows.append(row) }
        row = []
      default: field.append(byte)
      }
    }
    if !field.isEmpty || !row.isEmpty {
      end()
      rows.append(row)
    }
    return rows
  }
}
