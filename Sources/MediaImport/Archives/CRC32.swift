// The checksum of zip (ISO/IEC 13239, polynomial 0x04C11DB7, reflected), eight bytes at a time.
//
// It does not protect against tampering; the content hash does. It detects an incomplete download, which the program
// that unpacks a zip does not report.

/// A CRC-32 in the making.
struct CRC32 {
  private var state: UInt32 = 0xFFFF_FFFF

  private static let tables: [[UInt32]] = {
    var first: [UInt32] = []
    for index in 0..<UInt32(256) {
      var value = index
      for _ in 0..<8 {
        let half = value >> 1
        value = value & 1 == 1 ? half ^ 0xEDB8_8320 : half
      }
      first.append(value)
    }
    var all: [[UInt32]] = [first]
    for step in 1..<8 {
      let table: [UInt32] = all[step - 1].map { (value: UInt32) -> UInt32 in
        (value >> 8) ^ first[Int(value & 0xFF)]
      }
      all.append(table)
    }
    return all
  }()

  /// Takes bytes in.
  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    var value = state
    let tables = Self.tables
    var index = 0
    while index + 8 <= bytes.count {
      let low = bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self).littleEndian ^ value
      let high = bytes.loadUnaligned(fromByteOffset: index + 4, as: UInt32.self).littleEndian
      value = 0
      for step in 0..<4 {
        value ^= tables[7 - step][Int(low >> UInt32(8 * step) & 0xFF)]
        value ^= tables[3 - step][Int(high >> UInt32(8 * step) & 0xFF)]
      }
      index += 8
    }
    while index < bytes.count {
      value = value >> 8 ^ tables[0][Int((value ^ UInt32(bytes[index])) & 0xFF)]
      index += 1
    }
    state = value
  }

  /// The checksum of the bytes so far.
  var value: UInt32 { ~state }
}
