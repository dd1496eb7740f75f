#if Gallery
  import Foundation
  import HTTPServing
  import MediaImport

  // An archive that is written while it is sent (ZIP, APPNOTE 6.3.10): stored, not compressed, since photos do not
  // shrink.
  //
  //     [local head, name][bytes][checksum, sizes]  …  [directory: an entry for each][ZIP64 end, locator][end]
  //
  // The checksum is known after the bytes, so it stands behind them (flag 3) and in the directory. Entries have the
  // ZIP64 form always: a reader that knows it reads both, and one form is tested instead of two.
  //
  // Names are UTF-8 (flag 11), without folders, and as safe as those of exports (`SafeFileName`); of equal names,
  // without regard to case, the later ones get a number.

  /// The parts of an archive, in their order.
  struct ZipWriter {
    private struct Entry {
      let name: [UInt8]
      let size: UInt64
      let offset: UInt64
      let date: (time: UInt16, day: UInt16)
      var checksum: UInt32 = 0
    }

    private var entries: [Entry] = []
    private var offset: UInt64 = 0
    private static let version: UInt16 = 45
    /// The checksum stands behind the bytes; the name is UTF-8.
    private static let flags: UInt16 = 1 << 3 | 1 << 11

    /// The head of an entry.
    mutating func begin(_ name: String, size: UInt64, date: Date?) -> [UInt8] {
      let entry = Entry(name: Array(name.utf8), size: size, offset: offset, date: Self.stamp(date))
      entries.append(entry)
      var bytes = Little()
      bytes.put(UInt32(0x0403_4B50))
      for half in [Self.version, Self.flags, 0, entry.date.time, entry.date.day] { bytes.put(half) }
      for word in [0, UInt32.max, UInt32.max] as [UInt32] { bytes.put(word) }
      bytes.put(UInt16(entry.name.count))
      bytes.put(UInt16(20))
      bytes.bytes += entry.name
      bytes.put(UInt16(1))
      bytes.put(UInt16(16))
      bytes.put(UInt64(0))
      bytes.put(UInt64(0))
      offset += UInt64(bytes.bytes.count) + size
      return bytes.bytes
    }

    /// What stands behind the bytes of an entry.
    mutating func end(checksum: UInt32) -> [UInt8] {
      entries[entries.count - 1].checksum = checksum
      let size = entries[entries.count - 1].size
      var bytes = Little()
      bytes.put(UInt32(0x0807_4B50))
      bytes.put(checksum)
      bytes.put(size)
      bytes.put(size)
      offset += UInt64(bytes.bytes.count)
      return bytes.bytes
    }

    /// The directory and the end of the archive.
    func finish() -> [UInt8] {
      var bytes = Little()
      for entry in entries { put(entry, into: &bytes) }
      let (size, count) = (UInt64(bytes.bytes.count), UInt64(entries.count))
      bytes.put(UInt32(0x0606_4B50))
      bytes.put(UInt64(44))
      bytes.put(Self.version)
      bytes.put(Self.version)
      bytes.put(UInt32(0))
      bytes.put(UInt32(0))
      for number in [count, count, size, offset] { bytes.put(number) }
      bytes.put(UInt32(0x0706_4B50))
      bytes.put(UInt32(0))
      bytes.put(offset + size)
      bytes.put(UInt32(1))
      bytes.put(UInt32(0x0605_4B50))
      for _ in 0..<2 { bytes.put(UInt16(0)) }
      for _ in 0..<2 { bytes.put(UInt16.max) }
      for _ in 0..<2 { bytes.put(UInt32.max) }
      bytes.put(UInt16(0))
      return bytes.bytes
    }

    private func put(_ entry: Entry, into bytes: inout Little) {
      bytes.put(UInt32(0x0201_4B50))
      // Made on Unix, for the access rights of the entry.
      bytes.put(Self.version | 3 << 8)
      for half in [Self.version, Self.flags, 0, entry.date.time, entry.date.day] { bytes.put(half) }
      bytes.put(entry.checksum)
      bytes.put(UInt32.max)
      bytes.put(UInt32.max)
      bytes.put(UInt16(entry.name.count))
      bytes.put(UInt16(28))
      for _ in 0..<3 { bytes.put(UInt16(0)) }
      bytes.put(UInt32(0o100644) << 16)
      bytes.put(UInt32.max)
      bytes.bytes += entry.name
      bytes.put(UInt16(1))
      bytes.put(UInt16(24))
      for number in [entry.size, entry.size, entry.offset] { bytes.put(number) }
    }

    /// A time as MS-DOS writes it, in UTC; 1980 to 2107.
    private static func stamp(_ date: Date?) -> (UInt16, UInt16) {
      let first = 315_532_800.0
      let clamped = min(4_354_819_198, max(first, date?.timeIntervalSince1970 ?? first))
      var seconds = time_t(clamped)
      var parts = tm()
      gmtime_r(&seconds, &parts)
      let time = UInt16(parts.tm_hour << 11 | parts.tm_min << 5 | parts.tm_sec / 2)
      return (time, UInt16((parts.tm_year - 80) << 9 | (parts.tm_mon + 1) << 5 | parts.tm_mday))
    }
  }

  /// Numbers in little-endian order.
  private struct Little {
    var bytes: [UInt8] = []

    mutating func put(_ number: some FixedWidthInteger) {
      withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
  }

  /// Names of files in an archive.
  struct ZipNames {
    /// The names that are taken, as other systems compare them, and for each the number to try next.
    private var used: [String: Int] = [:]

    /// A name that is safe wherever the archive is unpacked, and that no earlier one equals.
    mutating func name(for original: String) -> String {
      let ending = SafeFileName.ending(of: original) ?? ""
      var stem = SafeFileName.component(SafeFileName.stem(of: original))
      if stem.isEmpty { stem = "_" }
      let plain = SafeFileName.key(stem + ending)
      guard var number = used[plain] else {
        used[plain] = 2
        return stem + ending
      }
      while true {
        let candidate = "\(stem) (\(number))" + ending
        number += 1
        guard used[SafeFileName.key(candidate)] == nil else { continue }
        // Thousands of cameras' files have one name; each of them tries one number.
        (used[SafeFileName.key(candidate)], used[plain]) = (2, number)
        return candidate
      }
    }
  }
#endif
