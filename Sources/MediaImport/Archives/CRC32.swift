// The checksum of zip (ISO/IEC 13239, polynomial 0x04C11DB7, reflected), eight bytes at a time.
//
// It does not protect against tampering; the content hash does. It detects an incomplete download, which the program
// that unpacks a zip does not report, and a record that was cut off.

/// A CRC-32 in the making.
package struct CRC32 {
  private var state: UInt32 = 0xFFFF_FFFF

  private static let tables: [[UInt32]] = {
    var first = [UInt32](repeating: 0, count: 256)
    for index in 0..<256 {
      first[index] = (0..<8).reduce(UInt32(index)) { value, _ in
        value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1
      }
    }
    var tables = [first]
    for _ in 1..<8 {
      let last = tables[tables.count - 1]
      tables.append(last.map { first[Int($0 & 0xFF)] ^ ($0 >> 8) })
    }
    return tables
  }()
  /// The tables after one another, so that a step has one array to look into.
  private static let flat: [UInt32] = tables.flatMap { $0 }

  /// The checksum of no bytes.
  package init() {}

  /// The checksum of the bytes so far.
  package var value: UInt32 { ~state }

  /// Takes bytes in.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    var crc = state
    Self.flat.withUnsafeBufferPointer { table in
      var index = 0
      while index + 8 <= bytes.count {
        let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) ^ UInt64(crc)
        crc = table[7 * 256 + Int(word & 0xFF)] ^ table[6 * 256 + Int(word >> 8 & 0xFF)]
        crc ^= table[5 * 256 + Int(word >> 16 & 0xFF)] ^ table[4 * 256 + Int(word >> 24 & 0xFF)]
        crc ^= table[3 * 256 + Int(word >> 32 & 0xFF)] ^ table[2 * 256 + Int(word >> 40 & 0xFF)]
        crc ^= table[256 + Int(word >> 48 & 0xFF)] ^ table[Int(word >> 56)]
        index += 8
      }
      while index < bytes.count {
        crc = table[Int((crc ^ UInt32(bytes[index])) & 0xFF)] ^ (crc >> 8)
        index += 1
      }
    }
    state = crc
  }

  /// The checksum of bytes.
  package static func of(_ bytes: [UInt8]) -> UInt32 {
    var crc = CRC32()
    bytes.withUnsafeBytes { crc.update($0) }
    return crc.value
  }
}
